package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/internal/diag"
)

// The layout: step number, agent and place, effects; the ledgers below.
const (
	number = 9 // width of the first column

	longest = 300 // characters shown of a schedule
)

// WriteText writes the story.
func (s *Story) WriteText(w io.Writer) error {
	var b strings.Builder
	of := ""
	if s.Finding != "" {
		of = " of " + s.Finding
	}
	schedule := s.Schedule
	if n := len(schedule); n > longest {
		schedule = fmt.Sprintf("%s … %s (%d characters)", schedule[:longest*2/3], schedule[n-longest/3:], n)
	}
	line(&b, 0, fmt.Sprintf("story%s in schedule %s", of, schedule))
	line(&b, 0, fmt.Sprintf("%s, %s", diag.Plural(s.Total, "step"), strings.Replace(diag.Plural(s.Switches, "switch"), "switchs", "switches", 1)))
	file := s.file()
	if file != "" {
		line(&b, 0, "places are lines of "+file)
	}
	cta := s.cta()
	if cta != "" {
		line(&b, 0, "warps are those of "+cta)
	}
	b.WriteByte('\n')
	steps := s.without(cta)
	who, where := columns(steps, file)
	for i := range steps {
		steps[i].write(&b, who, where, file)
	}
	switch {
	case s.End != "":
		end := s.End
		if file != "" {
			end = strings.ReplaceAll(end, " "+file+":", " :")
		}
		label(&b, "end", end)
	case s.Until > 0:
		label(&b, "here", fmt.Sprintf("after step %d of %d", s.Until, s.Total))
	}
	if s.State != nil {
		s.State.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// file returns the one file that contains all places; empty if there are several.
func (s *Story) file() string {
	file := ""
	for i := range s.Steps {
		name, _, ok := strings.Cut(s.Steps[i].Where, ":")
		switch {
		case !ok:
		case file == "":
			file = name
		case file != name:
			return ""
		}
	}
	return file
}

// cta returns the CTA of every warp; empty if there are several, or none is named.
func (s *Story) cta() string {
	cta := ""
	for i := range s.Steps {
		p := &s.Steps[i]
		name, _, ok := strings.Cut(p.Who, "), ")
		if p.Choice == "" || !ok || !strings.HasPrefix(name, "CTA (") {
			continue
		}
		if name += ")"; cta != "" && cta != name {
			return ""
		}
		cta = name
	}
	return cta
}

// without returns the steps without the name of a CTA that the heading gives.
func (s *Story) without(cta string) []Step {
	if cta == "" {
		return s.Steps
	}
	steps := slices.Clone(s.Steps)
	for i := range steps {
		steps[i].Who = strings.ReplaceAll(steps[i].Who, cta+", ", "")
	}
	return steps
}

// columns returns the widths for agents and places.
func columns(steps []Step, file string) (who, where int) {
	for i := range steps {
		if p := &steps[i]; p.Choice != "" {
			who = max(who, utf8.RuneCountInString(p.Who))
			where = max(where, utf8.RuneCountInString(strings.TrimPrefix(p.Where, file)))
		}
	}
	return min(who, 30), min(where, 26)
}

func (p *Step) write(b *strings.Builder, who, where int, file string) {
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
		for i, l := range diag.Wrap("("+p.Who+")", width-number-1, width-number-1) {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", number+2))
			}
			b.WriteString(l + "\n")
		}
		return
	}
	place := strings.TrimPrefix(p.Where, file)
	fmt.Fprintf(b, "%-*s  %-*s  ", who, p.Who, where, place)
	at := number + 1 + max(who, utf8.RuneCountInString(p.Who)) + 2 + max(where, utf8.RuneCountInString(place)) + 2
	text := strings.Join(p.Does, "; ")
	if file != "" {
		text = strings.ReplaceAll(text, " "+file+":", " :")
	}
	for i, l := range diag.Wrap(text, max(30, width-at), max(30, width-at)) {
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
	for i, l := range diag.Wrap(text, width-indent-2, width-indent-2) {
		if i > 0 {
			b.WriteString("  ")
		}
		b.WriteString(strings.Repeat(" ", indent) + l + "\n")
	}
}

// label writes a word in the number column and text beside it.
func label(b *strings.Builder, word, text string) {
	for i, l := range diag.Wrap(text, width-number-1, width-number-1) {
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
	}{{"where each split stands", s.Splits}, {"barriers", s.Barriers}, {"operations in flight", s.Ops}, {"columns of tensor memory", s.Columns}, {"memory", s.Memory}} {
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
