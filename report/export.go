package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"muster/internal/diag"
)

// An Export writes reports for other programs: compilers' lines for editors, workflow
// commands for GitHub, SARIF for what collects results. Findings of one cause are one.
type Export struct {
	Reports []*Report
	Summary string // of the whole, in one line
	// Failed is what kept reports from being made, for example bad input.
	Failed []Failure
	// Path turns the name of a file into the one that is written; nil leaves it.
	Path func(file string) string
	// Rule tells of a kind of finding; nil for nothing.
	Rule func(kind string) Rule
	// Columns gives a place's column, and the one behind its end, in UTF-16 code units; 0 for
	// what is not known. If it is nil, the place's own column is taken.
	Columns  func(Place) (start, end int)
	Version  string // of muster
	Category string // tells results of this launch from those of others; empty for none
	Verdict  Verdict
}

// A Rule is what is told of a kind of finding, once.
type Rule struct {
	Title, Text string
	Severity    Severity
	Section     string // of the PTX ISA
}

// A Failure is an error that gives no report, at a place or at none.
type Failure struct {
	Text string `json:"text"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

func (e *Export) path(file string) string {
	if e.Path == nil {
		return file
	}
	return e.Path(file)
}

// shown is the place by which a finding is shown: that of its last site that has one, of source
// before PTX, and the launch file if there is none.
func (f *Finding) shown(l *Launch) Place {
	for i := len(f.Sites) - 1; i >= 0; i-- {
		if p := f.Sites[i].at(); p != nil {
			return *p
		}
	}
	return Place{File: cmp.Or(l.File, l.PTX), Line: 1, Col: 1}
}

// at is the outermost line of source that a site comes from, or else its line of PTX.
func (s *Site) at() *Place {
	if n := len(s.Source); n > 0 {
		return &s.Source[n-1]
	}
	return s.PTX
}

// does says what a site's instruction does there.
func (s *Site) does() string {
	if _, op, ok := strings.Cut(s.opcode(), ":"); ok {
		return op + ": " + s.Role
	}
	return s.Role
}

// message is a finding in a few lines: what is wrong, what is missing and what mends it.
func (f *Finding) message() string {
	text := f.Headline
	for _, part := range []struct{ label, text string }{{"missing", f.Missing}, {"stands", strings.Join(f.Stands, "; ")}, {"fix", f.Fix}, {"accepted", f.Accepted}, {"replay", f.Replay}} {
		if part.text != "" {
			text += "\n" + part.label + ": " + part.text
		}
	}
	return text
}

// Lines writes a line for each cause, as compilers do, one for each of its other places and
// one for each gap, and the summary.
func (e *Export) Lines(w io.Writer) error {
	var b strings.Builder
	line := func(p Place, severity, text string) {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s\n", oneLine(e.path(p.File)), max(p.Line, 1), max(p.Col, 1), severity, oneLine(text))
	}
	for _, r := range e.Reports {
		for _, g := range r.groups(false) {
			f := g[0]
			at, severity := f.shown(&r.Launch), string(f.Severity)
			if f.Accepted != "" {
				severity = "note"
			}
			line(at, severity, f.Headline+" ["+f.Kind+"]")
			for i := range f.Sites {
				if p := f.Sites[i].at(); p != nil && (p.File != at.File || p.Line != at.Line) {
					line(*p, "note", f.Sites[i].does())
				}
			}
		}
		for i := range r.Gaps {
			line(r.Gaps[i].at(&r.Launch), "note", "incomplete: "+r.Gaps[i].What)
		}
	}
	for _, f := range e.Failed {
		if f.File != "" {
			line(Place{File: f.File, Line: f.Line, Col: f.Col}, "error", f.Text)
		} else {
			fmt.Fprintf(&b, "muster: error: %s\n", oneLine(f.Text))
		}
	}
	if e.Summary != "" {
		fmt.Fprintf(&b, "muster: %s\n", oneLine(e.Summary))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (g *Gap) at(l *Launch) Place {
	if g.Place != nil {
		return *g.Place
	}
	return Place{File: cmp.Or(l.File, l.PTX), Line: 1, Col: 1}
}

func oneLine(s string) string { return diag.Printable(strings.Join(strings.Fields(s), " ")) }

// GitHub writes workflow commands, which GitHub shows at the lines of a change
// (https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions).
// It shows ten errors, ten warnings and ten notices of a step, so errors come first.
func (e *Export) GitHub(w io.Writer) error {
	var b strings.Builder
	command := func(name string, p Place, title, text string) {
		fmt.Fprintf(&b, "::%s ", name)
		if p.File != "" {
			fmt.Fprintf(&b, "file=%s,line=%d,", property.Replace(e.path(p.File)), max(p.Line, 1))
			col := p.Col
			if e.Columns != nil {
				col, _ = e.Columns(p)
			}
			if col > 0 {
				fmt.Fprintf(&b, "col=%d,", col)
			}
		}
		fmt.Fprintf(&b, "title=%s::%s\n", property.Replace(title), data.Replace(text))
	}
	for _, f := range e.Failed {
		command("error", Place{File: f.File, Line: f.Line, Col: f.Col}, "muster", f.Text)
	}
	for _, severity := range []Severity{SevError, SevWarning, SevNote} {
		for _, r := range e.Reports {
			for _, g := range r.groups(false) {
				f := g[0]
				if f.Severity != severity || f.Accepted != "" {
					continue
				}
				name := string(severity)
				if severity == SevNote {
					name = "notice"
				}
				command(name, f.shown(&r.Launch), "muster: "+f.Kind, f.message())
			}
		}
	}
	for _, r := range e.Reports {
		for i := range r.Gaps {
			command("warning", r.Gaps[i].at(&r.Launch), "muster: incomplete", r.Gaps[i].What)
		}
	}
	if e.Summary != "" {
		command("notice", Place{}, "muster", e.Summary)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// What a workflow command takes as a property, and as its text.
var (
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
)
