package report

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/internal/diag"
)

// TextOptions control the text form.
type TextOptions struct {
	Color bool // ANSI colours
	// All writes every finding in full. Otherwise, of those with one cause (the same kind
	// between the same source lines, as from unrolled loops), the first is written and the
	// others are listed.
	All bool
	// Brief writes one line for each cause, and no evidence.
	Brief bool
	// Short leaves out of findings who waits, ledgers and notes.
	Short bool
	// First, if not 0, is how many causes are written in full, of those that the index
	// lists.
	First int
	// AllIs is the setting for All that the text names; by default TextOptions.All.
	AllIs string
	// Width is where lines are broken, in characters, if the text is for a terminal narrower
	// than the 100 of a text to keep. What must stay whole, as a replay line, does.
	Width int
}

// width returns where lines are broken.
func (o TextOptions) width() int {
	const least = 30 // the columns need room
	if o.Width <= 0 || o.Width > width {
		return width
	}
	return max(o.Width, least)
}

func (o TextOptions) printer() *printer {
	return &printer{color: o.Color, short: o.Short, all: cmp.Or(o.AllIs, "TextOptions.All"), width: o.width()}
}

// The layout: labels in one column, everything else in another, wrapped so
// that it can be pasted into an issue as it is.
const (
	width  = 100
	indent = 11 // column of the text after a label
	deep   = 6  // indent of the details of a site
)

// A printer writes text. Colours are escape sequences around words: without them the text
// is the same.
type printer struct {
	b     strings.Builder
	color bool
	short bool   // TextOptions.Short
	sev   string // the colour of the finding's severity
	all   string // TextOptions.AllIs
	width int
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
	p := o.printer()
	groups := r.groups(o.All)
	switch {
	case o.Brief:
		p.index(groups, "")
		groups = nil
	case len(groups) > 1:
		p.b.WriteString(p.paint(bold, r.count(groups).findings()) + "\n")
		p.index(groups, "  ")
		p.b.WriteByte('\n')
	}
	for i, group := range groups {
		if i == o.First && i > 0 {
			break
		}
		p.finding(group[0])
		p.seen(group[0], len(r.Schedules))
		p.others(group[1:])
		p.b.WriteByte('\n')
	}
	for i := range r.Gaps {
		p.gap(&r.Gaps[i])
	}
	for _, a := range r.Assumptions {
		p.row("assuming", bold, a)
	}
	p.unproven(r)
	p.anyCount(r)
	if r.partial() && r.Verdict == Incomplete {
		p.optional("needs:", r.Explored.Needs)
	}
	if r.Decided != nil {
		p.row("decided:", bold, r.Decided.text())
	}
	for _, n := range r.Notices {
		p.row("notice:", bold, n)
	}
	p.b.WriteString(p.paint(verdictColor(r.Verdict), r.Summary) + "\n")
	_, err := io.WriteString(w, p.b.String())
	return err
}

// maxReasons bounds the reasons against a proof that the text gives.
const maxReasons = 3

// unproven says why no proof covers every schedule.
func (p *printer) unproven(r *Report) {
	if r.Proof == nil || r.Proof.All || r.Verdict == Findings || r.Explored != nil && r.Explored.Complete {
		return
	}
	for i, why := range r.Proof.Reasons {
		if i == maxReasons {
			p.row("unproven", bold, fmt.Sprintf("and %d reasons more", len(r.Proof.Reasons)-i))
			return
		}
		text := why.Condition + ": " + why.Text
		if why.Place != nil {
			text = fmt.Sprintf("%s at %v: %s", why.Condition, why.Place, why.Text)
		}
		p.row("unproven", bold, text)
	}
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

// WriteFinding writes the finding of an ID as WriteText does, with what depends on the whole
// report: how many schedules show it, what it follows from, and which others are alike. It writes
// nothing if there is none.
func (r *Report) WriteFinding(w io.Writer, id string, o TextOptions) error {
	p := o.printer()
	for _, group := range r.groups(false) {
		for i, f := range group {
			if f.ID == id {
				p.finding(f)
				p.seen(f, len(r.Schedules))
				p.others(slices.Concat(group[:i], group[i+1:]))
			}
		}
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// WriteEvidence writes one finding as WriteText does, without what depends on the whole
// report.
func (f *Finding) WriteEvidence(w io.Writer, o TextOptions) error {
	p := o.printer()
	p.finding(f)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *printer) finding(f *Finding) {
	p.sev = severityColor(f.Severity)
	tag := fmt.Sprintf("%s[%s]", f.Severity, f.Kind)
	lines := diag.Wrap(tag+" "+f.Headline, p.width, p.width-2)
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
	p.list("stands:", f.Stands)
	if !p.short {
		p.list("ledger:", f.Ledger)
		p.waiting(f.Waiting)
	}
	p.optional("fix:", f.Fix)
	if !p.short {
		p.list("note:", f.Notes)
	}
	if f.Count > 1 {
		p.row("count:", bold, fmt.Sprintf("%s times in this schedule", diag.Group(int64(f.Count))))
	}
	p.optional("accepted:", f.Accepted)
	p.raw("replay:", bold, f.Replay, indent)
}

// others lists findings similar to the one above.
func (p *printer) others(fs []*Finding) {
	const most = 8
	if len(fs) == 0 {
		return
	}
	var ids []string
	for i, f := range fs {
		if i == most {
			ids = append(ids, fmt.Sprintf("and %d others", len(fs)-most))
			break
		}
		_, lines, _ := strings.Cut(f.ID, ":")
		ids = append(ids, lines)
	}
	p.row("alike:", bold, fmt.Sprintf("%d more of this cause (%s shows them), at PTX lines %s", len(fs), p.all, strings.Join(ids, "; ")))
}

// seen writes what depends on the whole report: in how many schedules a finding was seen,
// and what it may follow from.
func (p *printer) seen(f *Finding, of int) {
	if of > 1 && f.Seen > 0 {
		p.row("seen:", dim, fmt.Sprintf("in %d of %s, first in %s", f.Seen, diag.Plural(of, "schedule"), f.Schedule))
	}
	if f.Follows != "" {
		p.row("follows:", dim, "it may be what "+f.Follows+" led to")
	}
}

// site writes a site: role and place, the agent and the bytes accessed, and the
// instruction.
func (p *printer) site(s *Site) {
	p.place(p.sev, s.Role, s.where())
	p.deep(s.who())
	p.quote(s.PTX, len(s.Source) > 0)
}

// place writes a role and its place, on one line as a compiler does where there is room.
func (p *printer) place(code, role, at string) {
	p.b.WriteString("  " + p.paint(code, role))
	if at != "" {
		const before = " at "
		lines := []string{at}
		if p.width < width {
			lines = diag.Wrap(at, p.width-len("  "+before)-utf8.RuneCountInString(role), p.width-deep)
		}
		for i, l := range lines {
			lines[i] = p.paint(bold, l)
		}
		p.b.WriteString(before + strings.Join(lines, "\n"+strings.Repeat(" ", deep)))
	}
	p.b.WriteByte('\n')
}

// where returns the place in the source program: the outermost line, and what was inlined
// there; the PTX place if there is no source.
func (s *Site) where() string {
	n := len(s.Source)
	switch {
	case n == 0 && s.PTX == nil:
		return ""
	case n == 0:
		return fmt.Sprintf("%s:%d", s.PTX.String(), s.PTX.Col)
	}
	text := s.Source[n-1].brief()
	for i := n - 2; i >= 0; i-- {
		text += ", inlined from " + s.Source[i].brief()
	}
	return text
}

// maxPath is the longest path of a source file that the text shows whole.
const maxPath = 40

// brief is a place with the last two parts of a long path: those of headers of libraries.
func (p Place) brief() string {
	if dir, file := path.Split(p.File); len(p.File) > maxPath {
		p.File = "…/" + path.Base(dir) + "/" + file
	}
	return p.String()
}

// who names the agent and the bytes that it accessed.
func (s *Site) who() string {
	if s.CTA == nil {
		return ""
	}
	text := diag.CTA(*s.CTA)
	if s.Launch != "" {
		text += " of " + s.Launch
	}
	if s.Warp >= 0 {
		text += ", " + warpText(s.Warp, s.Warp)
	}
	text += lanesText(s.Lanes)
	if s.Operation != "" {
		text += ", " + s.Operation
	}
	if m := s.Memory; m != nil {
		text += fmt.Sprintf(": %s of %s memory", diag.Plural(int(m.Bytes), "byte"), m.Space)
		if m.CTA != nil && *m.CTA != *s.CTA {
			text += " of " + diag.CTA(*m.CTA)
		}
		text += ", " + m.Text
	}
	return text
}

// quote shows a PTX line with carets under the instruction, and its place if place is
// set.
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
	text, caret := diag.Clip(at.Text, at.Caret, p.width-deep-len(num))
	p.b.WriteString(pad + p.paint(dim, num) + text + "\n")
	p.b.WriteString(pad + p.paint(dim, strings.Repeat(" ", len(num)-2)+"| ") + strings.Repeat(" ", utf8.RuneCountInString(text[:caret])) + p.paint(p.sev, diag.Carets(text[caret:])) + "\n")
}

// maxWaiting bounds the groups of waiters shown; JSON lists them all.
const maxWaiting = 12

// waiting lists the waiters, grouped by the place and the condition of their wait.
func (p *printer) waiting(list []Waiter) {
	groups := groupWaiters(list)
	for i, g := range groups {
		if i == maxWaiting {
			p.row("", "", fmt.Sprintf("and at %s more", diag.Plural(len(groups)-i, "place")))
			break
		}
		w := &g[0]
		p.place(bold, "waiting", w.Site.where())
		p.deep(whoAll(g))
		p.deep("for " + w.For)
		p.deep(w.Owed)
		p.quote(w.Site.PTX, len(w.Site.Source) > 0)
	}
}

// groupWaiters groups waiters by place, condition and what is owed.
func groupWaiters(list []Waiter) [][]Waiter {
	var groups [][]Waiter
	index := map[string]int{}
	for _, w := range list {
		key := w.Site.where() + "|" + w.For + "|" + w.Owed
		if w.Site.PTX != nil {
			key += fmt.Sprintf("|%s:%d", w.Site.PTX.String(), w.Site.PTX.Col)
		}
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], w)
	}
	return groups
}

// whoAll names the waiters of a group: a CTA once, the lanes of a warp
// together, and warps in a row that wait with the same lanes as a range.
func whoAll(g []Waiter) string {
	type warps struct {
		cta         [3]uint32
		first, last int32
		mask        uint32
	}
	var list []warps
	for i := range g {
		s := &g[i].Site
		n, cta := len(list)-1, [3]uint32{}
		if s.CTA != nil {
			cta = *s.CTA
		}
		if n >= 0 && list[n].cta == cta && list[n].last == s.Warp {
			list[n].mask |= diag.LaneMask(s.Lanes)
			continue
		}
		list = append(list, warps{cta, s.Warp, s.Warp, diag.LaneMask(s.Lanes)})
	}
	text, shown := "", 0
	for i := 0; i < len(list); i++ {
		w := list[i]
		for i+1 < len(list) && list[i+1].cta == w.cta && list[i+1].mask == w.mask && list[i+1].first == w.last+1 {
			i++
			w.last++
		}
		if shown++; shown > maxWaiting {
			return text + "; and more"
		}
		switch {
		case text == "":
			text = diag.CTA(w.cta) + ", "
		case list[i-1-int(w.last-w.first)].cta != w.cta:
			text += "; " + diag.CTA(w.cta) + ", "
		default:
			text += "; "
		}
		text += warpText(w.first, w.last) + lanesText(diag.Lanes(w.mask))
	}
	return text
}

func warpText(first, last int32) string {
	switch {
	case first < 0:
		return ""
	case first == last:
		return fmt.Sprintf("warp %d", first)
	}
	return fmt.Sprintf("warps %d-%d", first, last)
}

func lanesText(lanes string) string {
	switch {
	case lanes == "":
		return ""
	case strings.ContainsAny(lanes, "-,"):
		return ", lanes " + lanes
	}
	return ", lane " + lanes
}

// deep writes details of a site.
func (p *printer) deep(text string) {
	if text == "" {
		return
	}
	for _, l := range diag.Wrap(text, p.width-deep, p.width-deep) {
		p.b.WriteString(strings.Repeat(" ", deep) + l + "\n")
	}
}

func (p *printer) gap(g *Gap) {
	tag := "incomplete:"
	p.b.WriteString(p.paint(yellow, tag) + strings.TrimPrefix(strings.Join(diag.Wrap(tag+" "+g.What, p.width, p.width-2), "\n  "), tag) + "\n")
	p.sev = yellow
	if g.Place != nil {
		p.quote(g.Place, true)
	}
	p.optional("needs:", g.Needs)
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
	lines := diag.Wrap(text, p.width-indent, p.width-indent)
	for i, l := range lines {
		if i > 0 {
			label = ""
		}
		p.raw(label, code, l, indent)
	}
}

// raw is row for text that must stay on one line, in column col.
func (p *printer) raw(label, code, text string, col int) {
	gap := strings.Repeat(" ", max(1, col-2-utf8.RuneCountInString(label)))
	p.b.WriteString("  " + p.paint(code, label) + gap + text + "\n")
}
