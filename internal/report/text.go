package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// TextOptions say how text looks.
type TextOptions struct {
	Color bool // ANSI colours
}

// The layout: labels in one column, everything else in another, wrapped so
// that it can be pasted into an issue as it is.
const (
	width  = 100
	indent = 11 // of the second column
	deep   = 6  // of what belongs to a place
)

// A printer writes text. Colours are escape sequences around words, so that
// the text without them is the same.
type printer struct {
	b     strings.Builder
	color bool
	sev   string // the colour of the finding's severity
}

const (
	bold   = "1"
	red    = "1;31"
	yellow = "1;33"
	cyan   = "1;36"
	green  = "1;32"
	dim    = "2"
)

func (p *printer) paint(code, s string) string {
	if !p.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func severityColor(s Severity) string {
	switch s {
	case SevError:
		return red
	case SevWarning:
		return yellow
	}
	return cyan
}

// WriteText writes the report: each finding, the gaps, and last the verdict.
func (r *Report) WriteText(w io.Writer, o TextOptions) error {
	p := &printer{color: o.Color}
	for i := range r.Findings {
		p.finding(&r.Findings[i])
		p.seen(&r.Findings[i], len(r.Schedules))
		p.b.WriteByte('\n')
	}
	for i := range r.Gaps {
		p.gap(&r.Gaps[i])
	}
	for _, a := range r.Assumptions {
		p.row("assuming", bold, a)
	}
	for _, n := range r.Notices {
		p.row("notice:", bold, n)
	}
	p.b.WriteString(p.paint(verdictColor(r.Verdict), r.Summary) + "\n")
	_, err := io.WriteString(w, p.b.String())
	return err
}

func verdictColor(v Verdict) string {
	switch v {
	case Clean:
		return green
	case Findings:
		return red
	}
	return yellow
}

// WriteEvidence writes one finding as WriteText does, without what only the
// whole report knows.
func (f *Finding) WriteEvidence(w io.Writer, o TextOptions) error {
	p := &printer{color: o.Color}
	p.finding(f)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *printer) finding(f *Finding) {
	p.sev = severityColor(f.Severity)
	tag := fmt.Sprintf("%s[%s]", f.Severity, f.Kind)
	lines := wrap(tag+" "+f.Headline, width, width-2)
	lines[0] = p.paint(p.sev, tag) + p.paint(bold, strings.TrimPrefix(lines[0], tag))
	for i, l := range lines {
		if i > 0 {
			l = "  " + p.paint(bold, l)
		}
		p.b.WriteString(l + "\n")
	}
	for i := range f.Sites {
		p.site(&f.Sites[i])
	}
	p.optional("missing:", f.Missing)
	p.list("ledger:", f.Ledger)
	p.waiting(f.Waiting)
	p.optional("fix:", f.Fix)
	p.list("note:", f.Notes)
	if f.Count > 1 {
		p.row("count:", bold, fmt.Sprintf("%s times in this schedule", group(int64(f.Count))))
	}
	p.optional("accepted:", f.Accepted)
	p.raw("replay:", bold, f.Replay, indent)
}

// seen ends a finding in a report of several schedules.
func (p *printer) seen(f *Finding, of int) {
	if of > 1 {
		p.row("seen:", dim, fmt.Sprintf("in %d of %s, first in %s", f.Seen, plural(of, "schedule"), f.Schedule))
	}
}

// site writes a place: what was done where, by whom to which bytes, and the
// instruction.
func (p *printer) site(s *Site) {
	p.b.WriteString("  " + p.paint(p.sev, s.Role))
	if at := s.where(); at != "" {
		p.b.WriteString(" at " + p.paint(bold, at))
	}
	p.b.WriteByte('\n')
	p.who(s)
	p.quote(s.PTX, len(s.Source) > 0)
}

// who is the site's second line.
func (p *printer) who(s *Site) {
	for _, l := range wrap(s.who(), width-deep, width-deep) {
		p.b.WriteString(strings.Repeat(" ", deep) + l + "\n")
	}
}

// where is the place in the program as its author knows it: the outermost
// source line, and what was inlined there.
func (s *Site) where() string {
	n := len(s.Source)
	switch {
	case n == 0 && s.PTX == nil:
		return ""
	case n == 0:
		return fmt.Sprintf("%s:%d", s.PTX.String(), s.PTX.Col)
	}
	text := s.Source[n-1].String()
	for i := n - 2; i >= 0; i-- {
		text += ", inlined from " + s.Source[i].String()
	}
	return text
}

// who did it, and to which bytes.
func (s *Site) who() string {
	text := fmt.Sprintf("CTA (%d,%d,%d)", s.CTA[0], s.CTA[1], s.CTA[2])
	if s.Warp >= 0 {
		text += fmt.Sprintf(", warp %d", s.Warp)
	}
	switch {
	case s.Lanes == "":
	case strings.ContainsAny(s.Lanes, "-,"):
		text += ", lanes " + s.Lanes
	default:
		text += ", lane " + s.Lanes
	}
	if s.Operation != "" {
		text += ", " + s.Operation
	}
	if m := s.Memory; m != nil {
		text += fmt.Sprintf(": %s of %s memory", plural(int(m.Bytes), "byte"), m.Space)
		if m.CTA != nil && *m.CTA != s.CTA {
			text += fmt.Sprintf(" of CTA (%d,%d,%d)", m.CTA[0], m.CTA[1], m.CTA[2])
		}
		text += ", " + m.Text
	}
	return text
}

// quote shows a PTX line with carets under the instruction, and its place
// unless that has been said.
func (p *printer) quote(at *Place, place bool) {
	if at == nil {
		return
	}
	pad := strings.Repeat(" ", deep)
	if place {
		p.b.WriteString(fmt.Sprintf("%s%s:%d:%d\n", pad, at.File, at.Line, at.Col))
	}
	if at.Text == "" {
		return
	}
	num := fmt.Sprintf("%5d | ", at.Line)
	text, room := at.Text, width-deep-len(num)
	if utf8.RuneCountInString(text) > room {
		text = string([]rune(text)[:room-1]) + "…"
	}
	p.b.WriteString(pad + p.paint(dim, num) + text + "\n")
	p.b.WriteString(pad + p.paint(dim, strings.Repeat(" ", len(num)-2)+"| ") + p.paint(p.sev, carets(text)) + "\n")
}

// carets underlines the instruction: guard and opcode.
func carets(text string) string {
	n := strings.IndexByte(text+" ", ' ')
	if strings.HasPrefix(text, "@") {
		if m := strings.IndexByte(text[min(n+1, len(text)):]+" ", ' '); m > 0 {
			n += 1 + m
		}
	}
	return strings.Repeat("^", max(1, utf8.RuneCountInString(strings.TrimSuffix(text[:min(n, len(text))], ";"))))
}

func (p *printer) waiting(list []Waiter) {
	for i := range list {
		w := &list[i]
		p.b.WriteString("  " + p.paint(bold, "waiting"))
		if at := w.Site.where(); at != "" {
			p.b.WriteString(" at " + p.paint(bold, at))
		}
		p.b.WriteByte('\n')
		p.who(&w.Site)
		for _, t := range []string{"for " + w.For, w.Owed} {
			if t != "" {
				p.raw("", "", strings.Join(wrap(t, width-deep, width-deep), "\n"+strings.Repeat(" ", deep)), deep)
			}
		}
		p.quote(w.Site.PTX, len(w.Site.Source) > 0)
	}
}

func (p *printer) gap(g *Gap) {
	tag := "incomplete:"
	p.b.WriteString(p.paint(yellow, tag) + strings.TrimPrefix(strings.Join(wrap(tag+" "+g.What, width, width-2), "\n  "), tag) + "\n")
	p.sev = yellow
	if g.Place != nil {
		p.quote(g.Place, true)
	}
}

func (p *printer) optional(label, text string) {
	if text != "" {
		p.row(label, bold, text)
	}
}

// list writes one label and a row for each text.
func (p *printer) list(label string, texts []string) {
	for _, t := range texts {
		p.row(label, bold, t)
		label = ""
	}
}

// row writes a label and text wrapped in the second column.
func (p *printer) row(label, code, text string) {
	lines := wrap(text, width-indent, width-indent)
	for i, l := range lines {
		if i > 0 {
			label = ""
		}
		p.raw(label, code, l, indent)
	}
}

// raw is row for what must stay on one line, in column col.
func (p *printer) raw(label, code, text string, col int) {
	gap := strings.Repeat(" ", max(1, col-2-utf8.RuneCountInString(label)))
	p.b.WriteString("  " + p.paint(code, label) + gap + text + "\n")
}

// wrap breaks text at blanks into lines of at most n characters, the first of
// at most first. A word that is longer stands alone.
func wrap(text string, first, n int) []string {
	var lines []string
	cur, room := "", first
	for _, word := range strings.Fields(text) {
		switch {
		case cur == "":
			cur = word
		case utf8.RuneCountInString(cur)+1+utf8.RuneCountInString(word) <= room:
			cur += " " + word
		default:
			lines = append(lines, cur)
			cur, room = word, n
		}
	}
	return append(lines, cur)
}
