package story

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"muster/internal/report"
)

// The layout: the step's number, who and where, what; the ledgers below.
const (
	width  = 100
	number = 9 // of the first column
)

// WriteText writes the story.
func (s *Story) WriteText(w io.Writer) error {
	var b strings.Builder
	of := ""
	if s.Finding != "" {
		of = " of " + s.Finding
	}
	line(&b, 0, fmt.Sprintf("story%s in schedule %s", of, s.Schedule))
	line(&b, 0, fmt.Sprintf("%s, %s", report.Plural(s.Total, "step"), strings.Replace(report.Plural(s.Switches, "switch"), "switchs", "switches", 1)))
	b.WriteByte('\n')
	who, where := s.columns()
	for i := range s.Steps {
		s.Steps[i].write(&b, who, where)
	}
	switch {
	case s.End != "":
		label(&b, "end", s.End)
	case s.Until > 0:
		label(&b, "here", fmt.Sprintf("after step %d of %d", s.Until, s.Total))
	}
	if s.State != nil {
		s.State.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// columns is how wide the names of agents and places are.
func (s *Story) columns() (who, where int) {
	for i := range s.Steps {
		if p := &s.Steps[i]; p.Choice != "" {
			who = max(who, utf8.RuneCountInString(p.Who))
			where = max(where, utf8.RuneCountInString(p.Where))
		}
	}
	return min(who, 30), min(where, 26)
}

func (p *Step) write(b *strings.Builder, who, where int) {
	n := fmt.Sprint(p.First)
	if p.Last > p.First {
		n += fmt.Sprintf("-%d", p.Last)
	}
	mark := " "
	if p.Role != "" {
		mark = ">"
	}
	fmt.Fprintf(b, "%*s %s ", number-2, n, mark)
	if p.Choice == "" {
		fmt.Fprintf(b, "(%s)\n", p.Who)
		return
	}
	fmt.Fprintf(b, "%-*s  %-*s  ", who, p.Who, where, p.Where)
	at := number + 1 + max(who, utf8.RuneCountInString(p.Who)) + 2 + max(where, utf8.RuneCountInString(p.Where)) + 2
	for i, l := range report.Wrap(strings.Join(p.Does, "; "), max(30, width-at)) {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", at))
		}
		b.WriteString(l + "\n")
	}
	for _, l := range p.Ledger {
		b.WriteString(strings.Repeat(" ", at) + "| " + l + "\n")
	}
}

// line writes text at an indent, wrapped.
func line(b *strings.Builder, indent int, text string) {
	for i, l := range report.Wrap(text, width-indent-2) {
		if i > 0 {
			b.WriteString("  ")
		}
		b.WriteString(strings.Repeat(" ", indent) + l + "\n")
	}
}

// label writes a word in the column of the numbers and text beside it.
func label(b *strings.Builder, word, text string) {
	for i, l := range report.Wrap(text, width-number-1) {
		if i > 0 {
			word = ""
		}
		fmt.Fprintf(b, "%*s   %s\n", number-2, word, l)
	}
}

func (s *State) write(b *strings.Builder) {
	for _, part := range []struct {
		name string
		list []string
	}{{"where each split stands", s.Splits}, {"barriers", s.Barriers}, {"operations in flight", s.Ops}, {"memory", s.Memory}} {
		if part.list == nil {
			continue
		}
		b.WriteString("\n" + part.name + "\n")
		for _, l := range part.list {
			line(b, 2, l)
		}
		if len(part.list) == 0 {
			b.WriteString("  none\n")
		}
	}
}
