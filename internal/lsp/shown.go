package lsp

import (
	"slices"
	"strings"

	"muster/report"
)

// A relation is how the other ends of a wait were found.
type relation struct {
	list []int
	how  string
}

// byText says that a relation comes from the text.
const byText = "by the text: the same variable and offset, or the same mechanism"

// counterparts lists what completes an instruction's wait, or waits for what it completes: by
// what runs of the launches showed whose check read this very text, and else by the text.
func (v *view) counterparts(x *index, i int) relation {
	var r relation
	var names []string
	for _, res := range v.results {
		if res.read[x.text.path] != x.text.src || x.text.path == "" {
			continue
		}
		before := len(r.list)
		for _, c := range res.completions {
			switch {
			case x.is(i, c.Wait):
				r.list = append(r.list, x.byPlace(c.By))
			case x.is(i, c.By):
				r.list = append(r.list, x.byPlace(c.Wait))
			}
		}
		if len(r.list) > before {
			names = append(names, stemOf(res.launch))
		}
	}
	r.list = slices.DeleteFunc(r.list, func(k int) bool { return k < 0 })
	if len(r.list) > 0 {
		slices.Sort(r.list)
		r.list = slices.Compact(r.list)
		slices.Sort(names)
		r.how = "as a run of " + strings.Join(names, " and of ") + " showed"
		return r
	}
	return relation{x.counterparts(i), byText}
}

// is reports whether a place is that of an instruction.
func (x *index) is(i int, p report.Place) bool {
	pos := x.insts[i].in.Pos
	return p.Line == int(pos.Line) && p.Col == int(pos.Col) && absolute(p.File) == x.text.path
}

// byPlace returns the number of the instruction at a place; -1 for none, as in another file.
func (x *index) byPlace(p report.Place) int {
	if absolute(p.File) != x.text.path {
		return -1
	}
	return x.byPos(p.Line, p.Col)
}
