package lsp

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"muster/internal/rules"
	"muster/ptx"
)

// sectionTitles has the ISA's sections that rows of the table name, with their titles: a
// number, a tab, a title. The numbers are those of the table (ptx/table.go).
//
//go:embed sections.txt
var sectionTitles string

var sections = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(sectionTitles) {
		number, title, _ := strings.Cut(strings.TrimSpace(line), "\t")
		m[number] = title
	}
	return m
})

// hover says what stands at a place.
func (v *view) hover(t *text, off int) *Hover {
	var parts []string
	var at *Range
	for _, d := range v.said(t, off) {
		if text := explain(d); text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	switch {
	case t.ptx:
		text, where := v.hoverPTX(t, off)
		if text != "" {
			parts, at = append([]string{text}, parts...), where
		}
	case !isLaunch(t):
		if text := v.hoverSource(t, off); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return &Hover{markupContent{"markdown", strings.Join(parts, "\n\n---\n\n")}, at}
}

// said lists the findings on a place's line.
func (v *view) said(t *text, off int) (list []Diagnostic) {
	line := t.position(off).Line
	for _, r := range v.results {
		for _, d := range r.diagnostics[keyOf(t.uri)] {
			if d.Range.Start.Line <= line && line <= d.Range.End.Line && d.Data != nil {
				list = append(list, d)
			}
		}
	}
	return list
}

// explain tells what a finding means, in the words of 'muster explain'.
func explain(d Diagnostic) string {
	k := rules.Lookup(d.Code)
	if k == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** (%s): %s\n\n%s\n", k.Name, k.Severity, k.Title, fence("text", d.Message))
	fmt.Fprintf(&b, "\n%s\n\nPTX ISA (version %s) %s. `muster explain %s` has a wrong and a right kernel.", escape(strings.TrimSpace(k.Text)), k.Edition(), k.Section, k.Name)
	if d.Data.Replay != "" {
		fmt.Fprintf(&b, "\n\n%s", fence("sh", d.Data.Replay))
	}
	return b.String()
}

// hoverPTX says what stands at a place of PTX.
func (v *view) hoverPTX(t *text, off int) (string, *Range) {
	p := t.spot(off)
	if text := p.describeName(); text != "" {
		r := t.span(p.at, p.at+len(p.word))
		return text, &r
	}
	if p.inst < 0 || p.word != "" && !isName(t.src[min(off, len(t.src)-1)]) {
		return "", nil
	}
	in := &p.x.insts[p.inst]
	r := t.span(p.x.guardStart(in), in.to)
	return v.instruction(p.x, p.inst), &r
}

// instruction describes an instruction: its row, how far muster supports it, what it waits for
// and where it comes from.
func (v *view) instruction(x *index, i int) string {
	in := x.insts[i].in
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", escape(in.Opcode()))
	if in.Form == nil {
		return b.String() + escape(ptx.Explain(in))
	}
	f := in.Form
	b.WriteString(fence("text", f.String()))
	edition := "9.0" // whose numbers the table has; the fabric came later
	if f.Class == "fabric" {
		edition = "9.4"
	}
	fmt.Fprintf(&b, "\n\nPTX ISA (version %s) %s", edition, f.Section)
	if title := sections()[f.Section]; title != "" {
		fmt.Fprintf(&b, ", %s", escape(title))
	}
	version, sm := in.Needs()
	fmt.Fprintf(&b, "\n\nfrom PTX %d.%d and sm_%d%s on; class %s", version.Major, version.Minor, sm.Number, sm.Suffix, f.Class)
	if v.o.Row != nil {
		row := v.o.Row(f)
		executed := "yes"
		if !row.Executed {
			executed = "no: it makes a verdict incomplete where a kernel reaches it"
		}
		fmt.Fprintf(&b, "; executed: %s; checked: %s; tested: %s", executed, row.Checked, row.Tested)
	}
	b.WriteString(v.others(x, i))
	for n, p := range x.sources(i) {
		word := "from"
		if n > 0 {
			word = "inlined at"
		}
		text := fmt.Sprintf("%s:%d", filepath.Base(p.file), p.line)
		if path := v.sourceFile(x.text.path, p.file); path != "" {
			text = fmt.Sprintf("[%s](%s#L%d)", text, v.uri(path), p.line)
		}
		fmt.Fprintf(&b, "\n\n%s %s", word, text)
	}
	return b.String()
}

// mostOthers is how many other ends of a wait a hover lists.
const mostOthers = 12

// others lists what completes an instruction's wait, or waits for what it completes.
func (v *view) others(x *index, i int) string {
	r := v.counterparts(x, i)
	if len(r.list) == 0 {
		return ""
	}
	e := x.flowOf(x.insts[i].fn).ends()[i]
	word := "completes what waits at"
	if e.waits {
		word = "is completed by"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n%s, %s:\n", word, escape(r.how))
	for n, k := range r.list {
		if n == mostOthers {
			fmt.Fprintf(&b, "- and %d more\n", len(r.list)-n)
			break
		}
		in := x.insts[k].in
		fmt.Fprintf(&b, "- [line %d](%s#L%d) `%s`\n", in.Pos.Line, x.text.uri, in.Pos.Line, in.Opcode())
	}
	return strings.TrimRight(b.String(), "\n")
}

// hoverSource says which instructions of synchronization come from a line of source.
func (v *view) hoverSource(t *text, off int) string {
	if t.path == "" {
		return ""
	}
	line := int(t.position(off).Line) + 1
	var b strings.Builder
	for _, m := range v.compiled(t.path) {
		x := m.module().index()
		n := 0
		for _, i := range v.from(x, t.path, line) {
			in := x.insts[i].in
			if _, ok := x.flowOf(x.insts[i].fn).ends()[i]; !ok && !in.IsOf(ptx.ClassFence) {
				continue
			}
			if n++; n > mostOthers {
				break
			}
			fmt.Fprintf(&b, "- [%s:%d](%s#L%d) `%s`\n", filepath.Base(m.path), in.Pos.Line, m.uri, in.Pos.Line, in.Opcode())
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "synchronizes by\n" + strings.TrimRight(b.String(), "\n")
}

// fence puts text into a block of code, which no text of it can end.
func fence(info, text string) string {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + info + "\n" + text + "\n" + marks
}

// escape keeps Markdown from reading marks in plain text.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", "&lt;", "[", `\[`, "`", "\\`").Replace(text)
}
