package lsp

import (
	"slices"
	"sort"

	"muster/ptx"
)

// This file follows a register that points to several variables, one after the other, as in
// PTX by hand: what counts at an instruction is what was written last on each way there.

// A reach finds the last writers of registers of one function.
type reach struct {
	flow  *flow
	fn    *function
	from  map[int][]int // the branches that lead to an instruction
	known map[use]value
	lost  bool // control goes where the text does not say
}

// A use is a register before an instruction.
type use struct {
	at int
	r  register
}

// farthest bounds how many instructions a value is followed through, and most how many are
// looked at for the last writers.
const (
	farthest   = 16
	mostLooked = 20000
)

func newReach(f *flow, fn *function) *reach {
	w := &reach{flow: f, fn: fn, from: map[int][]int{}, known: map[use]value{}}
	x := f.index
	for i := fn.first; i < fn.last; i++ {
		in := &x.insts[i]
		eff := in.in.Effect()
		w.lost = w.lost || eff.Has(ptx.BranchesByTable)
		if !eff.Has(ptx.Branches) || len(in.in.Operands) == 0 {
			continue
		}
		key, _ := in.in.Operands[0].(ptx.Name)
		label, _ := in.scope.find(string(key))
		if label == nil || !label.label {
			w.lost = true
			continue
		}
		to := fn.first + sort.Search(fn.last-fn.first, func(k int) bool { return x.insts[fn.first+k].from > label.at })
		w.from[to] = append(w.from[to], i)
	}
	return w
}

// writers lists the instructions that may have written a register last before one; ok is false
// if that is not known.
func (w *reach) writers(u use) (list []int, ok bool) {
	all := w.flow.writers[u.r]
	if len(all) == 1 {
		return all, true
	}
	seen := map[int]bool{}
	looked := 0
	for work := []int{u.at}; len(work) > 0; {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		for { // back from before instruction i
			if looked++; looked > mostLooked {
				return nil, false
			}
			if seen[i] {
				break
			}
			seen[i] = true
			for _, b := range w.from[i] {
				if !w.writes(all, b, &list) {
					work = append(work, b)
				}
			}
			if i--; i < w.fn.first || w.ends(i) || w.writes(all, i, &list) {
				break
			}
		}
	}
	return list, len(list) > 0
}

// writes notes an instruction that writes the register, and reports whether it always does.
func (w *reach) writes(all []int, i int, list *[]int) bool {
	if !slices.Contains(all, i) {
		return false
	}
	if !slices.Contains(*list, i) {
		*list = append(*list, i)
	}
	return w.flow.index.insts[i].in.Guard == nil
}

// ends reports whether control never goes from an instruction to the next.
func (w *reach) ends(i int) bool {
	in := w.flow.index.insts[i].in
	return in.Guard == nil && in.Effect().Has(ptx.Branches|ptx.Returns|ptx.Exits|ptx.Traps)
}

// value is what is known of a register before an instruction.
func (w *reach) value(u use, deep int) value {
	if v := w.flow.values[u.r]; v.known == somewhere {
		return v
	}
	if v, ok := w.known[u]; ok {
		return v
	}
	w.known[u] = value{known: anywhere} // where a loop leads back here
	writers, ok := w.writers(u)
	v := value{}
	for _, i := range writers {
		in := &w.flow.index.insts[i]
		s := w.flow.step(in)
		if !ok || deep == farthest || s == nil {
			v = value{known: anywhere}
			break
		}
		v = v.join(w.flow.result(s, func(r register) value { return w.value(use{i, r}, deep+1) }))
	}
	if v.known == nothing {
		v.known = anywhere
	}
	w.known[u] = v
	return v
}
