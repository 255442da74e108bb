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

// meets reports whether two ends may belong together: one waits and the other completes.
func (e end) meets(o end) bool {
	if e.by != o.by || !(e.waits && o.completes || e.completes && o.waits) {
		return false
	}
	return e.where.base == o.where.base && (!e.where.exact || !o.where.exact || e.where.off == o.where.off)
}

// flowOf returns the flow of a function.
func (x *index) flowOf(fn *function) *flow {
	fn.once.Do(func() {
		f := newFlow(x, fn)
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
		e.where = f.follow(i, in.in.Operands[0])
	} else {
		e.where = f.follow(i, barrierOf(in.in))
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
