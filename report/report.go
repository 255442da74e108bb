// Package report is what a check says, as data, as text and as JSON.
//
// A Report is finished: places are resolved to files and lines, addresses to
// names, the verdict is drawn. Renderers only lay it out, so that text and
// JSON cannot disagree, and equal reports give equal bytes: nothing in one
// depends on time, on the machine, or on how many workers made it. A Resolver
// makes a Finding from one of package rules.
//
// # The verdict
//
// "findings" if at least one finding counts towards it (an error that is not
// accepted; with FailOn a warning, too), whether or not something is missing
// besides; else "incomplete" if there is a gap; else "clean". A clean verdict
// speaks of the schedules that ran, and of no others unless Proof says so.
//
// # JSON
//
// JSON writes the Report as it is, under the names in the struct tags. Within
// one Version fields are added, never renamed, removed or given another
// meaning. Lists are never null. Addresses are strings in hexadecimal, because
// many readers of JSON hold numbers as doubles.
package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"muster/internal/diag"
)

// Version is the version of the JSON form.
const Version = 1

// A Report is what one check found.
type Report struct {
	Version int    `json:"version"`
	Launch  Launch `json:"launch"`
	// Schedules that ran, in order, as `muster replay --schedule` takes them.
	Schedules []string `json:"schedules"`
	// Proof is what became of the attempt to decide every schedule by one run;
	// nil if there was none, or the verdict is not clean.
	Proof *Proof `json:"proof,omitempty"`
	// Explored is what an exploration of the schedules covered; nil if there was
	// none.
	Explored    *Coverage `json:"explored,omitempty"`
	Verdict     Verdict   `json:"verdict"`
	Summary     string    `json:"summary"` // the verdict with what it covers, one line
	Findings    []Finding `json:"findings"`
	Gaps        []Gap     `json:"gaps"`
	Assumptions []string  `json:"assumptions"`
	// Assuming are the assumptions that were asked for, by name. The summary has them.
	Assuming []string `json:"assuming,omitempty"`
	// Notices are about the input and not about the kernel: an accept entry
	// that met no finding, a question that has no answer.
	Notices []string `json:"notices"`
}

// A Launch says what was checked.
type Launch struct {
	File    string    `json:"file"` // the launch file; empty where flags made the launch
	PTX     string    `json:"ptx"`
	Kernel  string    `json:"kernel"`
	Grid    [3]uint32 `json:"grid"`
	Block   [3]uint32 `json:"block"`
	Cluster [3]uint32 `json:"cluster"`
	Shared  uint64    `json:"shared"`  // dynamic shared memory of a CTA, bytes
	CTAs    int       `json:"ctas"`    // of the grid
	Threads int       `json:"threads"` // of the grid
	// Arguments name this launch on a command line of muster, already quoted
	// for a shell.
	Arguments string `json:"arguments"`
	// Note stands behind a replay line, as a comment of the shell.
	Note string `json:"-"`
}

// A Proof says whether one run decided for every schedule of the launch, by the
// conditions of docs/schedules.md.
type Proof struct {
	All bool `json:"all"`
	// AnyContents: nor does the outcome depend on what the buffers hold.
	AnyContents bool     `json:"any_contents"`
	Reasons     []Reason `json:"reasons"` // why not all
	// InOrder: it takes for granted that clusters start in order.
	InOrder bool `json:"-"`
	// Any is what became of the attempt to prove other values of an argument too;
	// nil if none was asked for.
	Any *AnyCount `json:"any,omitempty"`
}

// A Reason is a condition that does not hold, and where.
type Reason struct {
	Condition string `json:"condition"` // "C1"
	Place     *Place `json:"place,omitempty"`
	Text      string `json:"text"`
}

// CutShort is the condition that the proof's run comes to its end: no limit ran out,
// and everything in it is modelled.
const CutShort = "the run"

// A Verdict is the outcome in one word.
type Verdict string

// The verdicts. Error is for bad input, which makes no report.
const (
	Clean      Verdict = "clean"
	Findings   Verdict = "findings"
	Incomplete Verdict = "incomplete"
	Error      Verdict = "error"
)

// ExitCode is the exit status that says the verdict.
func (v Verdict) ExitCode() int {
	switch v {
	case Clean:
		return 0
	case Findings:
		return 1
	case Incomplete:
		return 3
	}
	return 2
}

// A Finding is one defect with its evidence.
type Finding struct {
	// ID tells the finding from the others of this launch, in every schedule:
	// kind@file.ptx:line,line.
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Severity Severity `json:"severity"`
	Headline string   `json:"headline"`
	Sites    []Site   `json:"sites"`
	Missing  string   `json:"missing,omitempty"`
	Fix      string   `json:"fix,omitempty"`
	Ledger   []string `json:"ledger,omitempty"`
	Waiting  []Waiter `json:"waiting,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Section  string   `json:"section"` // of the PTX ISA
	// Schedule is the first that shows it, and everything above is as it was
	// there; Count is how often the same instructions met like this in it.
	Schedule string `json:"schedule"`
	Count    int    `json:"count"`
	// Seen is how many of the report's schedules show it.
	Seen int `json:"seen"`
	// Accepted is the reason that the launch file gives; such a finding does
	// not count towards the verdict.
	Accepted string `json:"accepted,omitempty"`
	Replay   string `json:"replay"` // a command line
}

// A Severity is "error", "warning" or "note".
type Severity string

// The severities.
const (
	SevError   Severity = "error"
	SevWarning Severity = "warning"
	SevNote    Severity = "note"
)

// A Site is one place in a finding.
type Site struct {
	Role string `json:"role"`
	// PTX is the instruction; nil if the site is none.
	PTX *Place `json:"ptx,omitempty"`
	// Source holds the places that .loc gives: the innermost first, then
	// where that was inlined.
	Source []Place `json:"source,omitempty"`
	// CTA is nil for a site that is the launch's and no thread's.
	CTA   *[3]uint32 `json:"cta,omitempty"`
	Warp  int32      `json:"warp"` // in its CTA; -1 if no warp is meant
	Lanes string     `json:"lanes,omitempty"`
	// Operation is the asynchronous operation that did it, if one did.
	Operation string  `json:"operation,omitempty"`
	Memory    *Memory `json:"memory,omitempty"`
}

// A Place is a line of a text. Col counts bytes from 1; 0 if it is not known.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col,omitempty"`
	Text string `json:"text,omitempty"` // the line, trimmed; of PTX alone
	Func string `json:"function,omitempty"`

	Caret int `json:"-"` // where Col is in Text, in bytes
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Memory is a range of bytes.
type Memory struct {
	Space   string     `json:"space"`         // "shared" or "global"
	CTA     *[3]uint32 `json:"cta,omitempty"` // whose shared memory
	Name    string     `json:"name,omitempty"`
	Symbol  string     `json:"symbol,omitempty"` // Name as the linker has it
	Offset  uint64     `json:"offset"`           // of the range in what Name names
	Address string     `json:"address"`          // in the CTA's window, or global
	Bytes   uint64     `json:"bytes"`
	// Text names the range as a person would: slots+512..1023, in[0..127].
	Text string `json:"text"`
}

// A Waiter waits in a deadlock.
type Waiter struct {
	Site Site   `json:"site"`
	For  string `json:"for"`
	Owed string `json:"owed,omitempty"`
}

// A Gap is what makes a verdict incomplete.
type Gap struct {
	What  string `json:"what"`
	Place *Place `json:"place,omitempty"`
}

// Options say what counts.
type Options struct {
	FailOnWarning bool
}

// Conclude draws the verdict and writes the summary.
func (r *Report) Conclude(o Options) {
	c := r.count()
	bad := c.errors > 0 || o.FailOnWarning && c.warnings > 0
	switch {
	case bad:
		r.Verdict, r.Proof = Findings, nil
		r.Summary = c.findings() + r.scope() + c.rest(false)
		if len(r.Gaps) > 0 {
			r.Summary += "; incomplete besides: " + diag.Plural(len(r.Gaps), "gap")
		}
	case len(r.Gaps) > 0:
		r.Verdict, r.Proof = Incomplete, nil
		r.Summary = "incomplete" + r.scope() + ": " + diag.Plural(len(r.Gaps), "gap") + c.rest(true)
	case r.partial():
		r.Verdict = Incomplete
		r.Summary = "incomplete" + r.scope() + c.rest(true)
	default:
		r.Verdict = Clean
		r.Summary = "clean" + r.scope() + c.rest(true)
	}
	if len(r.Assuming) > 0 {
		r.Summary += ", assuming " + strings.Join(r.Assuming, ", ")
	}
}

// scope says what the verdict covers: the schedules that ran, unless one of them
// decided for all.
func (r *Report) scope() string {
	if r.Proof != nil && r.Proof.All && r.Verdict == Clean {
		s := fmt.Sprintf(": all schedules of this launch, %s, %s", diag.Plural(r.Launch.CTAs, "CTA"), diag.Plural(r.Launch.Threads, "thread"))
		if r.Proof.AnyContents {
			s += ", for every content of the buffers"
		}
		s += r.Proof.Any.text()
		return s
	}
	if len(r.Schedules) == 0 {
		return ", nothing was run"
	}
	if r.Explored != nil {
		return r.Explored.scope(r.Verdict != Findings, len(r.Schedules)) + fmt.Sprintf(", %s, %s", diag.Plural(r.Launch.CTAs, "CTA"), diag.Plural(r.Launch.Threads, "thread"))
	}
	return fmt.Sprintf(" in %s, %s, %s", diag.Plural(len(r.Schedules), "schedule"),
		diag.Plural(r.Launch.CTAs, "CTA"), diag.Plural(r.Launch.Threads, "thread"))
}

type counts struct{ errors, warnings, notes, accepted int }

func (r *Report) count() counts {
	var c counts
	for _, f := range r.Findings {
		switch {
		case f.Accepted != "":
			c.accepted++
		case f.Severity == SevError:
			c.errors++
		case f.Severity == SevWarning:
			c.warnings++
		default:
			c.notes++
		}
	}
	return c
}

func (c counts) findings() string {
	var by []string
	for _, p := range []struct {
		n    int
		word string
	}{{c.errors, "error"}, {c.warnings, "warning"}, {c.notes, "note"}} {
		if p.n > 0 {
			by = append(by, diag.Plural(p.n, p.word))
		}
	}
	return fmt.Sprintf("%s (%s)", diag.Plural(c.errors+c.warnings+c.notes, "finding"), strings.Join(by, ", "))
}

// rest counts what did not decide the verdict.
func (c counts) rest(open bool) string {
	s := ""
	add := func(n int, text string) {
		if n > 0 {
			s += ", " + text
		}
	}
	if open {
		add(c.warnings, diag.Plural(c.warnings, "warning"))
		add(c.notes, diag.Plural(c.notes, "note"))
	}
	add(c.accepted, diag.Plural(c.accepted, "finding")+" accepted")
	return s
}

// SetReplays gives every finding its replay line. Findings whose IDs are
// alike, because several instructions share a line, get columns.
func (r *Report) SetReplays() {
	alike := map[string]int{}
	for i := range r.Findings {
		alike[r.Findings[i].ID]++
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if alike[f.ID] > 1 {
			f.ID = f.longID()
		}
		if strings.HasPrefix(f.Kind, "redundant-") { // no one run shows it
			f.Replay = "muster check " + r.Launch.Arguments + " --cost" + r.note()
			continue
		}
		f.Replay = "muster replay " + r.Launch.Arguments
		if f.Schedule != "" {
			f.Replay += " --schedule " + Quote(f.Schedule)
		}
		f.Replay += " --finding " + Quote(f.ID) + r.note()
	}
}

func (r *Report) note() string {
	if r.Launch.Note == "" {
		return ""
	}
	return " # " + r.Launch.Note
}

// ShortID names a finding by its kind and its PTX lines.
func (f *Finding) ShortID() string {
	file, lines := "", []string{}
	for _, s := range f.Sites {
		if s.PTX != nil {
			file, lines = path.Base(s.PTX.File), append(lines, fmt.Sprint(s.PTX.Line))
		}
	}
	if len(lines) == 0 {
		return f.Kind
	}
	return f.Kind + "@" + file + ":" + strings.Join(slices.Compact(lines), ",")
}

// longID is the ID with columns.
func (f *Finding) longID() string {
	id, sep := f.Kind, "@"
	for _, s := range f.Sites {
		if s.PTX != nil {
			id += fmt.Sprintf("%s%s:%d:%d", sep, path.Base(s.PTX.File), s.PTX.Line, s.PTX.Col)
			sep = ","
		}
	}
	return id
}

// Is reports whether id, of this report or another of the same launch, means
// this finding.
func (f *Finding) Is(id string) bool {
	return f.ID == id || f.longID() == id || f.ShortID() == id
}

// Quote writes a word as a shell takes it.
func Quote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,@=+%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Rename gives every finding the ID that was asked for, of the several that
// mean it, so that its replay line is the one that asked.
func (r *Report) Rename(id string) {
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Replay = strings.TrimSuffix(f.Replay, Quote(f.ID)+r.note()) + Quote(id) + r.note()
		f.ID = id
	}
}
