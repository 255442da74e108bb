package report

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/internal/diag"
)

// profileRows is how many rows of each table the text of a profile has, unless all are asked for.
const profileRows = 16

// WriteText writes the profile as tables, with the heaviest rows of each.
func (p *Profile) WriteText(w io.Writer, o TextOptions) error {
	t := &tables{width: o.width()}
	t.text(fmt.Sprintf("profile of %s in schedule %s, %s by warps", diag.Plural(int(p.Steps), "step"), clippedTo(p.Schedule, min(60, t.width-2)), diag.Plural(int(p.Instructions), "instruction")))
	t.text("A step is one visible operation of a warp or one stage of a copy: what follows what, and no time of a card. Instructions between such operations take no step. A wait takes none while it stands: it counts the steps of the others.")
	if t.file = p.file(); t.file != "" {
		t.text("places are lines of " + t.file)
	}
	if p.Cut != "" {
		t.text("the profile ends before the run: " + p.Cut)
	}
	p.writeWarps(t)
	p.writeCTAs(t)
	p.writeSums(t)
	p.writeWaits(t)
	p.writeOperations(t)
	p.writeLines(t)
	_, err := io.WriteString(w, t.b.String())
	return err
}

// file returns the file that most of the kernel's instructions come from.
func (p *Profile) file() string {
	lines := map[string]int{}
	for i := range p.Lines {
		lines[fileOf(p.Lines[i].PTX, p.Lines[i].Source)]++
	}
	most := ""
	for name, n := range lines {
		if n > lines[most] || n == lines[most] && name < most {
			most = name
		}
	}
	return most
}

// fileOf is the file of a place in the source, or without one of that in the PTX.
func fileOf(ptx Place, source *Place) string {
	if source != nil && source.Line > 0 {
		ptx = *source
	}
	return diag.Printable(filepath.Base(ptx.File))
}

// clippedTo cuts a schedule that is long.
func clippedTo(schedule string, n int) string {
	schedule, _ = diag.Clip(schedule, 0, n)
	return schedule
}

func (p *Profile) writeWarps(t *tables) {
	t.begin("warps", "steps", "instructions", "waits", "stood", "failed tests", "operations", "bytes copied")
	for i := range p.Warps {
		w := &p.Warps[i]
		name := fmt.Sprint(w.First)
		if w.Last > w.First {
			name += fmt.Sprintf("-%d", w.Last)
		}
		t.row(name, w.Steps, w.Instructions, w.Waits, w.Stood, w.Failed, w.Operations, w.Bytes)
	}
	t.end("rows")
}

func (p *Profile) writeCTAs(t *tables) {
	if len(p.CTAs) < 2 {
		return
	}
	t.begin("CTA", "steps", "waits", "stood", "failed tests", "operations", "bytes copied", "products")
	for _, c := range alikeCTAs(p.CTAs) {
		t.row(c.Name, c.Steps, c.Waits, c.Stood, c.Failed, c.Operations, c.Bytes, c.Products)
	}
	t.end("CTAs")
}

// alikeCTAs returns one of all CTAs whose numbers are the same, with a name that says how many.
func alikeCTAs(all []CTAProfile) (list []CTAProfile) {
	index, count := map[CTAProfile]int{}, []int64{}
	for _, c := range all {
		numbers := c
		numbers.Name = ""
		i, ok := index[numbers]
		if !ok {
			i = len(list)
			index[numbers] = i
			list, count = append(list, c), append(count, 0)
		}
		count[i]++
	}
	for i, n := range count {
		if n > 1 {
			list[i].Name += fmt.Sprintf(", %s alike", diag.Group(n))
		}
	}
	return list
}

// writeSums writes what matrices, copies and slots of all CTAs came to.
func (p *Profile) writeSums(t *tables) {
	if n := p.Products; n.Instructions > 0 {
		text := fmt.Sprintf("tensor cores: %s by warps", diag.Plural(int(n.Instructions), "matrix instruction"))
		if n.MultiplyAdds > 0 {
			text += fmt.Sprintf(", %s multiply-adds", diag.Group(n.MultiplyAdds))
		}
		if n.Unknown > 0 {
			text += fmt.Sprintf("; the shape of %s is in registers, and not counted", diag.Group(n.Unknown))
		}
		t.blank()
		t.text(text)
	}
	if p.InFlight.Most > 0 && p.Steps > 0 {
		t.blank()
		t.text(fmt.Sprintf("bytes in flight: %s at most, after step %s; %s on average", diag.Group(p.InFlight.Most), diag.Group(p.InFlight.After), diag.Group(p.InFlight.ByteSteps/p.Steps)))
	}
	if s := p.Slots; s.Slots > 0 {
		all := max(1, s.Filling+s.Full+s.Read+s.Empty)
		share := func(n int64) string { return fmt.Sprintf("%d %%", (n*100+all/2)/all) }
		t.blank()
		text := fmt.Sprintf("%s that copies fill: of their steps %s filling, %s full, %s being read, %s empty", diag.Plural(int(s.Slots), "slot"), share(s.Filling), share(s.Full), share(s.Read), share(s.Empty))
		if s.Early > 0 {
			text += fmt.Sprintf("; %s read what a copy in flight writes", diag.Plural(int(s.Early), "step"))
		}
		t.text(text)
	}
}

func (p *Profile) writeWaits(t *tables) {
	rows := together(p.Waits, func(w *WaitProfile) (string, Place, *Place, string) { return w.For, w.PTX, w.Source, w.Name }, func(w, o *WaitProfile) {
		w.Waits, w.Stood, w.Failed, w.Longest = w.Waits+o.Waits, w.Stood+o.Stood, w.Failed+o.Failed, max(w.Longest, o.Longest)
	})
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b spot[WaitProfile]) int { return cmp.Compare(b.of.Stood, a.of.Stood) })
	t.begin("waits for", "times", "stood", "longest", "failed tests", "at")
	for i := range rows {
		w := &rows[i].of
		t.row(w.For, w.Waits, w.Stood, w.Longest, w.Failed, rows[i].text(t.file))
	}
	t.end("waits")
}

func (p *Profile) writeOperations(t *tables) {
	rows := together(p.Operations, func(o *OperationProfile) (string, Place, *Place, string) { return o.Kind, o.PTX, o.Source, o.Name }, func(o, x *OperationProfile) {
		o.Operations, o.Bytes, o.InFlight, o.Longest = o.Operations+x.Operations, o.Bytes+x.Bytes, o.InFlight+x.InFlight, max(o.Longest, x.Longest)
	})
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b spot[OperationProfile]) int {
		return cmp.Or(cmp.Compare(b.of.Bytes, a.of.Bytes), cmp.Compare(b.of.Operations, a.of.Operations))
	})
	t.begin("operations", "times", "bytes", "in flight", "longest", "at")
	for i := range rows {
		o := &rows[i].of
		t.row(o.Kind, o.Operations, o.Bytes, o.InFlight, o.Longest, rows[i].text(t.file))
	}
	t.end("operations")
}

func (p *Profile) writeLines(t *tables) {
	place := func(l *InstructionProfile) (string, Place, *Place, string) { return l.Warps, l.PTX, l.Source, l.Name }
	rows := together(p.Lines, place, func(l, x *InstructionProfile) {
		l.Instructions, l.Steps = l.Instructions+x.Instructions, l.Steps+x.Steps
	})
	for _, by := range []struct {
		head string
		of   func(*InstructionProfile) int64
	}{
		{"most steps", func(l *InstructionProfile) int64 { return l.Steps }},
		{"most executed", func(l *InstructionProfile) int64 { return l.Instructions }},
	} {
		slices.SortStableFunc(rows, func(a, b spot[InstructionProfile]) int { return cmp.Compare(by.of(&b.of), by.of(&a.of)) })
		t.begin(by.head, "steps", "executed", "at")
		for i := range rows {
			if l := &rows[i].of; by.of(l) > 0 {
				t.row("warps "+l.Warps, l.Steps, l.Instructions, rows[i].text(t.file))
			}
		}
		t.end("instructions")
	}
}

// A spot is what is at one line of the source, by one name: of several instructions where a loop
// is unrolled, or a function is called in several places.
type spot[T any] struct {
	of    T
	where string
	ptx   int // line of the only one
	n     int
	name  string
}

// text is the place in few words, without the name of the file that most are of.
func (s *spot[T]) text(file string) string {
	where := s.where
	if line, ok := strings.CutPrefix(where, file+":"); ok {
		where = ":" + line
	}
	switch {
	case s.n > 1:
		return fmt.Sprintf("%s  %d × %s", where, s.n, s.name)
	case s.ptx > 0:
		return fmt.Sprintf("%s, PTX %d  %s", where, s.ptx, s.name)
	}
	return where + "  " + s.name
}

// together adds up what is at one line of the source by one name.
func together[T any](list []T, place func(*T) (what string, ptx Place, source *Place, name string), add func(sum, x *T)) (rows []spot[T]) {
	type key struct{ what, where, name string }
	index := map[key]int{}
	for i := range list {
		what, ptx, source, name := place(&list[i])
		s := spot[T]{of: list[i], n: 1, name: name, where: fmt.Sprintf("%s:%d", fileOf(ptx, source), ptx.Line)}
		if source != nil && source.Line > 0 {
			s.where, s.ptx = fmt.Sprintf("%s:%d", fileOf(ptx, source), source.Line), ptx.Line
		}
		k := key{what, s.where, name}
		if at, ok := index[k]; ok {
			rows[at].n++
			add(&rows[at].of, &list[i])
			continue
		}
		index[k] = len(rows)
		rows = append(rows, s)
	}
	return rows
}

// tables writes tables: a name, numbers, and where the last heading is of a text, that.
type tables struct {
	b     strings.Builder
	width int
	file  string // that most places are of
	head  []string
	rows  [][]string
}

func (t *tables) blank() { t.b.WriteByte('\n') }

// text writes a paragraph.
func (t *tables) text(text string) {
	for _, l := range diag.Wrap(text, t.width, t.width) {
		t.b.WriteString(l + "\n")
	}
}

func (t *tables) begin(head ...string) { t.head, t.rows = head, nil }

func (t *tables) row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case int64:
			row[i] = diag.Group(c)
		case string:
			row[i] = diag.Printable(c)
		}
	}
	t.rows = append(t.rows, row)
}

// end writes the table, whose rows are called what: the first of them, if they are many.
func (t *tables) end(what string) {
	rows, more := t.rows, 0
	if len(rows) > profileRows {
		rows, more = rows[:profileRows], len(rows)-profileRows
	}
	wide := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, rows...) {
		for i, c := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	wide[0] = min(wide[0], 32)
	t.blank()
	for _, row := range append([][]string{t.head}, rows...) {
		t.b.WriteString(t.line(row, wide) + "\n")
	}
	if more > 0 {
		t.text(fmt.Sprintf("… and %s %s more (JSON has all)", diag.Group(int64(more)), what))
	}
}

// line lays out a row. On a narrow terminal numbers go on below the name, and a text is cut.
func (t *tables) line(row []string, wide []int) string {
	name, _ := diag.Clip(row[0], 0, wide[0])
	line := name + strings.Repeat(" ", wide[0]-utf8.RuneCountInString(name))
	at := wide[0]
	for i, c := range row[1:] {
		i++
		if i == len(t.head)-1 && textual[t.head[i]] {
			room := t.width - at - 2
			if room < 24 {
				line, at, room = line+"\n    ", 4, t.width-6
			}
			c, _ = diag.Clip(c, 0, room)
			return strings.TrimRight(line+"  "+c, " ")
		}
		if at+2+wide[i] > t.width {
			line, at = strings.TrimRight(line, " ")+"\n    ", 4
		}
		line += "  " + strings.Repeat(" ", wide[i]-utf8.RuneCountInString(c)) + c
		at += 2 + wide[i]
	}
	return strings.TrimRight(line, " ")
}

// textual are headings of texts, which stand last.
var textual = map[string]bool{"at": true}
