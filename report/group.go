package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"muster/internal/diag"
)

// maxApart is how many findings between the same opcodes, in PTX without source, are
// written one by one; more of them are taken for copies that unrolling made. It is as many
// groups of a habit (see Finding.Habit).
const maxApart = 4

// groups groups findings that have one cause, as far as their places tell: the copies that
// unrolling and inlining make of the same lines of source or, in PTX without source, many
// of the same opcodes. Findings of a group are of one kind and severity. The first stands
// for the others. If all is set, each finding is a group.
func (r *Report) groups(all bool) [][]*Finding {
	keys, many := make([]cause, len(r.Findings)), map[cause]int{}
	for i := range r.Findings {
		keys[i] = r.Findings[i].cause()
		many[keys[i]]++
	}
	var groups [][]*Finding
	index := map[cause]int{}
	for i, key := range keys {
		g, ok := index[key]
		if !ok || all || key.sites == "" || !key.source && many[key] <= maxApart {
			g = len(groups)
			index[key], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], &r.Findings[i])
	}
	if all {
		return groups
	}
	return habits(stretches(groups))
}

// stretches makes one group of those whose places are the same kind of instructions of the same
// stretches, that touch the same buffer and lack the same: what mends one of them mends all.
func stretches(groups [][]*Finding) [][]*Finding {
	first := map[string]int{}
	merged := groups[:0]
	for _, g := range groups {
		key := g[0].stretch()
		if i, ok := first[key]; ok && key != "" {
			merged[i] = append(merged[i], g...)
			continue
		}
		first[key], merged = len(merged), append(merged, g)
	}
	return merged
}

// numbers are those in what is said to be missing: of lines, lanes, phases.
var numbers = regexp.MustCompile(`\d+`)

// stretch is equal for findings that stretches takes for one; empty for one of its own.
func (f *Finding) stretch() string {
	key, known := fmt.Sprint(f.Kind, f.Severity, f.Accepted, "|", numbers.ReplaceAllString(f.Missing, "#")), false
	for i := range f.Sites {
		s := &f.Sites[i]
		if s.PTX != nil && s.Stretch == 0 {
			return ""
		}
		known = known || s.PTX != nil
		key += fmt.Sprint("|", s.Role, s.opcode(), s.Stretch)
		if s.Memory != nil {
			key += s.Memory.Space + ":" + s.Memory.Symbol
		}
	}
	if !known {
		return ""
	}
	return key
}

// habits makes one group of those of a kind that tells of a kernel's habit, if there are more
// than maxApart of them: a kernel that leaves a contested fence out does so everywhere.
func habits(groups [][]*Finding) [][]*Finding {
	habit := func(f *Finding) cause { return cause{kind: f.Kind, accepted: f.Accepted, severity: f.Severity} }
	many, first := map[cause]int{}, map[cause]int{}
	for _, g := range groups {
		many[habit(g[0])]++
	}
	merged := groups[:0]
	for _, g := range groups {
		key := habit(g[0])
		i, ok := first[key]
		if ok && g[0].Habit && many[key] > maxApart {
			merged[i] = append(merged[i], g...)
			continue
		}
		first[key], merged = len(merged), append(merged, g)
	}
	return merged
}

// A cause is equal for findings of one group.
type cause struct {
	kind, accepted string
	severity       Severity
	sites          string // empty for a finding of its own
	source         bool   // sites are lines of source, and not only opcodes
}

func (f *Finding) cause() cause {
	c := cause{kind: f.Kind, severity: f.Severity, accepted: f.Accepted, source: true}
	for i := range f.Sites {
		s := &f.Sites[i]
		at := s.lines()
		if at == "" {
			at, c.source = s.opcode(), false
		}
		if at == "" {
			return cause{}
		}
		c.sites += "|" + s.Role + "|" + at
	}
	return c
}

// lines names the lines of source that a site comes from, the inlined ones too.
func (s *Site) lines() string {
	var list []string
	for _, p := range s.Source {
		list = append(list, p.String())
	}
	return strings.Join(list, " ")
}

// opcode names a site's instruction without its operands, and its function.
func (s *Site) opcode() string {
	if s.PTX == nil {
		return ""
	}
	words := strings.Fields(s.PTX.Text[min(s.PTX.Caret, len(s.PTX.Text)):])
	if len(words) > 1 && words[0][0] == '@' {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return s.PTX.Func + ":" + strings.TrimSuffix(words[0], ";")
}

// indexWidth is where lines of the index are cut.
const indexWidth = 140

// index writes a line for each group of findings, as compilers write them.
func (p *printer) index(groups [][]*Finding, indent string) {
	for _, g := range groups {
		f := g[0]
		at := ""
		if place := f.place(); place != "" {
			at = place + ": "
		}
		tag := fmt.Sprintf("%s[%s]", f.Severity, f.Kind)
		var notes []string
		if len(g) > 1 {
			notes = append(notes, diag.Plural(len(g), "place"))
		}
		if f.Follows != "" {
			notes = append(notes, "follows")
		}
		more := ""
		if len(notes) > 0 {
			more = " (" + strings.Join(notes, ", ") + ")"
		}
		rest := indexWidth - utf8.RuneCountInString(indent+at+tag+" "+more)
		text, _ := diag.Clip(f.Headline, 0, max(rest, indexWidth/3))
		p.b.WriteString(indent + at + p.paint(severityColor(f.Severity), tag) + " " + text + more + "\n")
	}
}

// place is where an index shows a finding: its last site that has a place, since the
// earlier access is mostly the one that was made in time.
func (f *Finding) place() string {
	for i := len(f.Sites) - 1; i >= 0; i-- {
		if at := f.Sites[i].short(); at != "" {
			return at
		}
	}
	return ""
}

// short is the line of a site, of the program's own text where it was inlined.
func (s *Site) short() string {
	switch n := len(s.Source); {
	case n > 0:
		return s.Source[n-1].brief()
	case s.PTX != nil:
		return fmt.Sprintf("%s:%d", s.PTX.String(), s.PTX.Col)
	}
	return ""
}
