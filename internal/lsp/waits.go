package lsp

import (
	"strings"
	"sync"

	"muster/ptx"
)

// This file finds, by the text alone, which instructions wait and which complete what they
// wait for: operations on an mbarrier at the same address, on a barrier of the same number,
// of the same mechanism of groups. An address is followed from the register back to a
// variable and an offset; where the offset is computed, the variable alone decides. A run of
// the launch knows better: see shown.go.

// An end is one side of a wait: it waits, or it completes, or, as bar.sync, both.
type end struct {
	waits, completes bool
	by               string // the mechanism
	where            place  // of the barrier, or its number
}

// A place is an address or a number as far as the text tells it.
type place struct {
	base  any // *name of a variable, or register; nil for a number
	off   int64
	exact bool // off is known
}

// A register is one of a function.
type register struct {
	scope *scope
	name  string
}

// meets reports whether two ends may belong together: one waits and the other completes.
func (e end) meets(o end) bool {
	if e.by != o.by || !(e.waits && o.completes || e.completes && o.waits) {
		return false
	}
	return e.where.base == o.where.base && (!e.where.exact || !o.where.exact || e.where.off == o.where.off)
}

// A flow is what the text tells of a function's registers.
type flow struct {
	index   *index
	writers map[register][]int
	ends    func() map[int]end
}

// flowOf returns the flow of a function.
func (x *index) flowOf(fn *function) *flow {
	fn.once.Do(func() {
		f := &flow{index: x, writers: map[register][]int{}}
		for i := fn.first; i < fn.last; i++ {
			in := &x.insts[i]
			for _, b := range ptx.Bind(in.in) {
				if r, ok := in.register(b.X); ok && (b.Arg.Role == ptx.Write || b.Arg.Role == ptx.ReadWrite) && !b.Inside {
					f.writers[r] = append(f.writers[r], i)
				}
			}
		}
		f.ends = sync.OnceValue(func() map[int]end {
			ends := map[int]end{}
			for i := fn.first; i < fn.last; i++ {
				if e, ok := f.end(i); ok {
					ends[i] = e
				}
			}
			return ends
		})
		fn.flow = f
	})
	return fn.flow
}

// register is the register that an operand names.
func (i *inst) register(x ptx.Operand) (register, bool) {
	key, ok := x.(ptx.Name)
	if !ok {
		return register{}, false
	}
	n, s := i.scope.find(string(key))
	if n == nil || n.v == nil || n.v.Space != "reg" {
		return register{}, false
	}
	return register{s, string(key)}, true
}

// groups are mechanisms by which a thread waits for its own operations.
var groups = []string{"async-group", "bulk-group", "wgmma-group", "tcgen05-wait"}

// end classifies an instruction by its row.
func (f *flow) end(i int) (e end, ok bool) {
	in := &f.index.insts[i]
	form := in.in.Form
	if form == nil {
		return e, false
	}
	for _, g := range groups {
		if form.Async == g {
			return groupEnd(in.in), true
		}
	}
	switch form.Barrier {
	case "test", "try":
		e = end{waits: true, by: "mbarrier"}
	case "arrive", "arrive-drop", "arrive.expect-tx", "arrive-drop.expect-tx", "arrive.no-complete", "arrive-drop.no-complete", "expect-tx", "complete-tx":
		e = end{completes: true, by: "mbarrier"}
	case "cta-sync", "cta-red":
		e = end{waits: true, completes: true, by: "barrier"}
	case "cta-arrive":
		e = end{completes: true, by: "barrier"}
	case "cluster-wait":
		return end{waits: true, by: "cluster"}, true
	case "cluster-arrive":
		return end{completes: true, by: "cluster"}, true
	default:
		return e, false
	}
	if e.by == "barrier" {
		e.where = f.follow(in, in.in.Operands[0], nil)
	} else {
		e.where = f.follow(in, barrierOf(in.in), nil)
	}
	return e, true
}

// groupEnd classifies an instruction of a mechanism of groups.
func groupEnd(in *ptx.Inst) end {
	e := end{completes: true, by: in.Form.Async}
	for _, m := range in.Mods {
		if strings.HasPrefix(m, "wait") {
			e.waits, e.completes = true, false
		}
	}
	if e.by == "tcgen05-wait" { // wait::ld and wait::st wait for loads and for stores
		if in.Mod("wait") == "wait::ld" || e.completes && in.Effect().Has(ptx.Reads) {
			e.by += " ld"
		}
	}
	return e
}

// barrierOf is the operand that names an instruction's mbarrier.
func barrierOf(in *ptx.Inst) ptx.Operand {
	var first ptx.Operand
	for _, b := range ptx.Bind(in) {
		if _, ok := b.X.(*ptx.Mem); !ok {
			continue
		}
		if b.Arg.Name == "bar" {
			return b.X
		}
		if first == nil {
			first = b.X
		}
	}
	return first
}

// deepest bounds how far a register is followed.
const deepest = 64

// follow finds where an operand points. A register that cannot be followed is its own base.
func (f *flow) follow(at *inst, x ptx.Operand, seen []register) place {
	switch x := x.(type) {
	case ptx.Int:
		return place{off: int64(x.Bits), exact: true}
	case *ptx.Mem:
		p := f.follow(at, x.Base, seen)
		p.off += x.Off
		return p
	case *ptx.Binary:
		if n, ok := x.Y.(ptx.Int); ok && x.Op == "+" {
			p := f.follow(at, x.X, seen)
			p.off += int64(n.Bits)
			return p
		}
	case ptx.Name:
		if r, ok := at.register(x); ok {
			return f.followRegister(r, seen)
		}
		if n, _ := at.scope.find(string(x)); n != nil && n.v != nil {
			return place{base: n, exact: true}
		}
	}
	return place{base: x}
}

// followRegister joins what the writers of a register give it: their common base, and the
// offset if it is the same.
func (f *flow) followRegister(r register, seen []register) place {
	own := place{base: r, exact: true}
	if len(seen) == deepest {
		return own
	}
	for _, s := range seen {
		if s == r {
			return own
		}
	}
	seen = append(seen, r)
	var joined *place
	moves := false // on from itself, as in a loop
	for _, i := range f.writers[r] {
		p, ok := f.written(&f.index.insts[i], seen)
		switch {
		case !ok:
			return own
		case p.base == any(r):
			moves = true
		case joined == nil:
			joined = &p
		case joined.base != p.base:
			return own
		case joined.off != p.off:
			joined.exact = false
		}
	}
	if joined == nil {
		return own
	}
	joined.exact = joined.exact && !moves
	return *joined
}

// written is what an instruction computes, if that is an address or a number.
func (f *flow) written(in *inst, seen []register) (place, bool) {
	eff := in.in.Effect()
	if eff.Has(ptx.Reads|ptx.Updates|ptx.Exchanges|ptx.Calls|ptx.Data) || eff == 0 {
		return place{}, false
	}
	var at []place // of the sources that have a base
	var numbers []int64
	known := true
	for _, b := range ptx.Bind(in.in) {
		if b.Arg.Role == ptx.Write {
			continue
		}
		switch p := f.follow(in, b.X, seen); {
		case p.base == nil && p.exact:
			numbers = append(numbers, p.off)
		case isVariable(p.base):
			at = append(at, p)
		case p.base == any(seen[len(seen)-1]):
			return place{base: p.base}, true
		default:
			known = false
		}
	}
	same := eff.Has(ptx.Moves | ptx.Converts)
	switch {
	case len(at) == 0 && known && len(numbers) == 1 && same:
		return place{off: numbers[0], exact: true}, true
	case len(at) == 0 && known && len(numbers) == 2 && eff.Has(ptx.Adds):
		return place{off: numbers[0] + numbers[1], exact: true}, true
	case len(at) != 1:
		return place{}, false
	}
	p := at[0]
	switch {
	case known && same:
	case known && eff.Has(ptx.Adds) && len(numbers) == 1:
		p.off += numbers[0]
	default:
		p.exact = false
	}
	return p, true
}

func isVariable(base any) bool {
	_, ok := base.(*name)
	return ok
}

// counterparts lists the instructions that complete what one waits for, or wait for what it
// completes, by the text.
func (x *index) counterparts(i int) []int {
	fn := x.insts[i].fn
	ends := x.flowOf(fn).ends()
	e, ok := ends[i]
	if !ok {
		return nil
	}
	var list []int
	for k := fn.first; k < fn.last; k++ {
		if o, ok := ends[k]; ok && e.meets(o) {
			list = append(list, k)
		}
	}
	return list
}
