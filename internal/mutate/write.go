package mutate

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"muster/internal/diag"
	"muster/ptx"
)

// WriteText writes the table: an instruction a paragraph, a mutant a line;
// then the survivors once more, and the counts.
func (t *Table) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.f("original: %s\n", t.Original.Summary)
	for _, b := range t.Loose {
		p.f("buffer %s depends on the schedule: a mutant's is held to what is expected of it, if anything is\n", b)
	}
	var at *ptx.Inst
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.inst != at {
			at = r.inst
			p.f("\n%s\n", r.head())
		}
		p.f("  %-20s %-32s %s\n", r.Variant, r.What, r.result())
	}
	t.notFound(p)
	p.f("\n%s\n", t.Summary())
	return p.err
}

// WriteNotFound writes the mutants alone that are not found.
func (t *Table) WriteNotFound(w io.Writer) error {
	p := &printer{w: w}
	t.notFound(p)
	return p.err
}

func (t *Table) notFound(p *printer) {
	if len(t.Rows) == t.Count(Found) {
		return
	}
	p.f("\nnot found:\n")
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Outcome != Found {
			p.f("  %s %s\n      %s\n", r.ID, r.head(), r.result())
		}
	}
}

// WriteList writes the mutations without running them.
func WriteList(w io.Writer, list []*Mutation) error {
	p := &printer{w: w}
	var at *ptx.Inst
	for _, m := range list {
		if m.inst != at {
			if at != nil {
				p.f("\n")
			}
			at = m.inst
			p.f("%s\n", m.head())
		}
		p.f("  %-20s %s\n", m.Variant, m.What)
	}
	p.f("\n%s\n", diag.Plural(len(list), "mutant"))
	return p.err
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// head names the place and gives the instruction.
func (m *Mutation) head() string {
	s := fmt.Sprintf("%s:%d:%d", path.Base(m.File), m.Pos.Line, m.Pos.Col)
	if m.Source != "" {
		s += " (" + m.Source + ")"
	}
	return s + "  " + m.Before
}

func (r *Row) result() string {
	switch {
	case r.Finding != nil:
		return fmt.Sprintf("found: %s (%s, %s)", strings.Join(append([]string{r.Finding.Kind}, r.Also...), ", "), r.Finding.Severity, r.Schedule)
	case r.Outcome == Changes:
		return fmt.Sprintf("CHANGES THE RESULT: %s (%s)", r.Why, r.Schedule)
	case r.Outcome == Survived && r.Why == "":
		return "survived: no schedule tried shows a difference"
	}
	return fmt.Sprintf("%s: %s", r.Outcome, r.Why)
}

// Summary counts the rows.
func (t *Table) Summary() string {
	s := fmt.Sprintf("%s: %d found", diag.Plural(len(t.Rows), "mutant"), t.Count(Found))
	reasons := 0
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Outcome == Survived && r.Why != "" {
			reasons++
		}
	}
	if n := t.Count(Survived); n > 0 {
		s += fmt.Sprintf(", %d survived (%d with a reason)", n, reasons)
	}
	for _, o := range []Outcome{Unproven, Changes, Unfinished, Refused} {
		if n := t.Count(o); n > 0 {
			s += fmt.Sprintf(", %d %s", n, map[Outcome]string{Unproven: "no longer proven", Changes: "CHANGED THE RESULT", Unfinished: "unfinished", Refused: "refused"}[o])
		}
	}
	return s
}

// Version is that of the table as JSON.
const Version = 1

type jsonTable struct {
	Version   int       `json:"version"`
	PTX       string    `json:"ptx"`
	Kernel    string    `json:"kernel"`
	Original  string    `json:"original"`
	Schedules []string  `json:"schedules"`
	Loose     []string  `json:"loose,omitempty"` // buffers that depend on the schedule
	Mutants   []jsonRow `json:"mutants"`
	Summary   string    `json:"summary"`
}

type jsonRow struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Variant  string   `json:"variant"`
	Line     int32    `json:"line"`
	Col      int32    `json:"col"`
	Source   string   `json:"source,omitempty"`
	Before   string   `json:"before"`
	After    string   `json:"after"`
	What     string   `json:"what"`
	Outcome  Outcome  `json:"outcome"`
	Finding  string   `json:"finding,omitempty"`
	Also     []string `json:"also,omitempty"`
	Severity string   `json:"severity,omitempty"`
	Headline string   `json:"headline,omitempty"`
	Schedule string   `json:"schedule,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// WriteJSON writes the table as data.
func (t *Table) WriteJSON(w io.Writer) error {
	l := &t.Original.Launch
	out := jsonTable{Version: Version, PTX: l.PTX, Kernel: l.Kernel, Original: t.Original.Summary, Schedules: t.Original.Schedules, Loose: t.Loose, Mutants: []jsonRow{}, Summary: t.Summary()}
	for i := range t.Rows {
		r := &t.Rows[i]
		j := jsonRow{
			ID: r.ID, Kind: r.Kind, Variant: r.Variant, Line: r.Pos.Line, Col: r.Pos.Col, Source: r.Source,
			Before: r.Before, After: r.After(), What: r.What, Outcome: r.Outcome, Also: r.Also, Schedule: r.Schedule, Why: r.Why,
		}
		if f := r.Finding; f != nil {
			j.Finding, j.Severity, j.Headline = f.Kind, string(f.Severity), f.Headline
		}
		out.Mutants = append(out.Mutants, j)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

// After returns the instructions that replace the mutated one, without
// declarations and labels.
func (m *Mutation) After() string {
	var words []string
	eachInst(m.edit.with, func(in *ptx.Inst) { words = append(words, in.String()) })
	return strings.Join(words, " ")
}
