package kernel_test

import (
	"math/rand/v2"
	"testing"

	"muster/kernel"
)

// TestUnsetAgainstWalks compares the analysis with walks through small random
// programs, each of four registers. A walk's state is a place in the program and
// the set of registers that are set.
func TestUnsetAgainstWalks(t *testing.T) {
	const set, use, branch, branchIf, label, exit = 0, 1, 2, 3, 4, 5
	type step struct{ op, arg int }
	r := rand.New(rand.NewPCG(1, 2))
	some := 0
	for n := range 400 {
		k := kernel.New("k", kernel.Block(32))
		cond := k.TidX().Eq(0)
		regs, labels := k.Vars(kernel.U32, 4), make([]*kernel.Label, 5)
		prog := make([]step, 30)
		for i := range prog {
			prog[i] = step{[]int{set, set, use, use, branch, branchIf, branchIf, exit}[r.IntN(8)], r.IntN(4)}
			if prog[i].op >= branch {
				prog[i].arg = r.IntN(5)
			}
		}
		at := map[int]int{}
		for i, p := range r.Perm(len(prog))[:len(labels)] {
			labels[i], prog[p], at[i] = k.NewLabel(), step{label, i}, p
		}
		for _, s := range prog {
			switch s.op {
			case set:
				regs[s.arg].Set(1)
			case use:
				regs[s.arg].Add(1)
			case branch:
				k.PTX("{ bra {l}; }", kernel.Args{"l": labels[s.arg]})
			case branchIf:
				k.BranchIf(cond, labels[s.arg])
			case label:
				k.Place(labels[s.arg])
			case exit:
				k.Guard(cond, func() { k.Inst("exit") })
			}
		}
		type state struct{ at, set int }
		seen, list, want := map[state]bool{}, []state{{}}, map[int]bool{}
		for len(list) > 0 {
			s := list[len(list)-1]
			list = list[:len(list)-1]
			if seen[s] || s.at == len(prog) {
				continue
			}
			seen[s] = true
			next := state{s.at + 1, s.set}
			switch p := prog[s.at]; p.op {
			case set:
				next.set |= 1 << p.arg
			case use:
				if s.set&(1<<p.arg) == 0 {
					want[p.arg] = true
				}
			case branch:
				next.at = at[p.arg]
			case branchIf:
				list = append(list, state{at[p.arg], s.set})
			}
			list = append(list, next)
		}
		_, err := k.Build()
		errs, _ := err.(kernel.Errors)
		if len(errs) != len(want) {
			t.Fatalf("program %d, %v: %d registers are reported, and %v need not be set:\n%v", n, prog, len(errs), want, err)
		}
		some += len(errs)
	}
	if some < 100 {
		t.Errorf("only %d registers need not be set", some)
	}
}
