package executions_test

import (
	"testing"

	"muster/internal/axiom"
	"muster/internal/axiom/flow"
)

// TestThinAir holds No-Thin-Air (8.10.4) to what its text says: load buffering is named where the
// ways from the reads to the writes are no dependences, and where they are it is not.
func TestThinAir(t *testing.T) {
	load := func(at uint32) flow.Instr {
		return flow.Instr{Kind: flow.Load, Sem: axiom.Relaxed, Scope: axiom.GPU, At: flow.V(at), Dst: []int{0}}
	}
	store := func(at uint32, v flow.Value) flow.Instr {
		return flow.Instr{Kind: flow.Store, Sem: axiom.Relaxed, Scope: axiom.GPU, At: flow.V(at), Src: []flow.Value{v}}
	}
	atom := func(op flow.Op, at uint32) flow.Instr {
		return flow.Instr{Kind: flow.Atom, Op: op, Sem: axiom.Relaxed, Scope: axiom.GPU, At: flow.V(at), Dst: []int{1}, Src: []flow.Value{flow.V(1)}}
	}
	move := func(op flow.Op, b flow.Value) flow.Instr {
		return flow.Instr{Kind: flow.Move, Op: op, Dst: []int{1}, Src: []flow.Value{flow.R(0), b}}
	}
	when := func(body, other []flow.Instr) flow.Instr {
		return flow.Instr{Kind: flow.If, Cmp: flow.Ne, Src: []flow.Value{flow.R(0), flow.V(0)}, Body: body, Else: other}
	}
	// A compare-and-swap puts what was read in place of 0; what an increment of that leaves is read
	// and written again.
	swap := flow.Instr{Kind: flow.Atom, Op: flow.Cas, Sem: axiom.Relaxed, Scope: axiom.GPU, At: flow.V(1), Dst: []int{1}, Src: []flow.Value{flow.V(0), flow.R(0)}}
	count := flow.Instr{Kind: flow.Red, Op: flow.Add, Sem: axiom.Relaxed, Scope: axiom.GPU, At: flow.V(1), Src: []flow.Value{flow.V(1)}}
	sum, swapped := count, swap
	sum.At, swapped.At, swapped.Src = flow.V(0), flow.V(0), []flow.Value{flow.V(0), flow.V(1)}
	fence := flow.Instr{Kind: flow.Fence, Sem: axiom.AcqRel, Scope: axiom.GPU}
	take := load(1)
	take.Sem = axiom.Acquire
	give, back, look, sc := store(1, flow.V(1)), store(0, flow.V(0)), load(0), fence
	give.Sem, back.Sem, look.Sem, sc.Sem = axiom.Release, axiom.Release, axiom.Acquire, axiom.SC
	one := flow.V(1)
	list := func(in ...flow.Instr) []flow.Instr { return in }
	plain := list(load(1), store(0, one))
	data := list(load(1), store(0, flow.R(0)))
	for _, c := range []struct {
		name  string
		a, b  []flow.Instr
		named bool
	}{
		{"no dependence", list(load(0), store(1, one)), plain, true},
		{"data", list(load(0), store(1, flow.R(0))), data, false},
		{"data in one thread", list(load(0), store(1, flow.R(0))), plain, true},
		{"control", list(load(0), when(list(store(1, one)), nil)), data, false},
		{"control in one thread", list(load(0), when(list(store(1, one)), nil)), plain, true},
		{"ways that do the same", list(load(0), when(list(store(1, one)), list(store(1, one)))), data, true},
		{"ways that store something else", list(load(0), when(list(store(1, one)), list(store(1, flow.V(2))))), data, false},
		{"behind the branch", list(load(0), when(list(store(2, one)), nil), store(1, one)), data, true},
		{"x ^ x", list(load(0), move(flow.Xor, flow.R(0)), store(1, flow.Value{Const: 1, Reg: 2})), data, true},
		{"x & 0", list(load(0), move(flow.And, flow.V(0)), store(1, flow.Value{Const: 1, Reg: 2})), data, true},
		{"x * 0", list(load(0), move(flow.Mul, flow.V(0)), store(1, flow.Value{Const: 1, Reg: 2})), data, true},
		{"x & 1", list(load(0), move(flow.And, flow.V(1)), store(1, flow.Value{Const: 1, Reg: 2})), data, false},
		{"x + 1", list(load(0), move(flow.Add, flow.V(1)), store(1, flow.R(1))), data, false},
		{"address", list(load(0), flow.Instr{Kind: flow.Store, Sem: axiom.Relaxed, Scope: axiom.GPU, At: flow.Value{Const: 1, Reg: 1}, Src: []flow.Value{one}}), data, false},
		// In a run that is built, the exchange is in the way of what comes before it in this execution.
		{"an exchange before a sum", list(atom(flow.Exch, 0), store(1, one)), list(load(1), when(list(sum), nil)), true},
		{"an exchange before a swap", list(atom(flow.Exch, 0), store(1, one)), list(load(1), when(list(swapped), nil)), true},
		{"a fence on one way", list(load(0), when(nil, list(fence)), store(1, one)), list(take, when(list(store(0, one)), nil)), true},
		{"a release on one way", list(load(0), when(list(store(1, one)), list(give))), list(take, when(list(store(0, one)), nil)), true},
		// Lamport's bakery: a thread looks at a ticket, leaves, and gives its own back; the other one draws
		// by what was given back the ticket that was looked at.
		{"a ticket by one given back", list(store(0, one), sc, take, back), list(sc, load(0), store(1, flow.Value{Const: 1, Reg: 1})), true},
		{"a ticket by one given back, acquired", list(store(0, one), sc, take, back), list(sc, look, store(1, flow.Value{Const: 1, Reg: 1})), false},
		{"counters in two orders", list(atom(flow.Add, 0), atom(flow.Add, 1)), list(atom(flow.Add, 1), atom(flow.Add, 0)), true},
		{"release and acquire", list(load(0), give), list(take, when(list(store(0, one)), nil)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &flow.Program{Words: 32, CTAs: 2, Warps: []flow.Warp{{CTA: 0, Steps: segment(c.a)}, {CTA: 1, Steps: segment(c.b)}}}
			got := compare(t, p, 0)
			if got.wrong != "" || got.left != "" {
				t.Errorf("%s%s", got.wrong, got.left)
			}
			if got.races || got.buffers != c.named || got.named != c.named {
				t.Errorf("races %v, by the axioms %v, named %v", got.races, got.buffers, got.named)
			}
		})
	}
	t.Run("an atomic operation in between", func(t *testing.T) {
		for op, named := range map[flow.Op]bool{flow.Add: false, flow.Exch: true} {
			p := &flow.Program{Words: 32, CTAs: 3, Warps: []flow.Warp{
				{CTA: 0, Steps: segment(list(load(0), store(1, flow.R(0))))},
				{CTA: 1, Steps: segment(list(atom(op, 1)))},
				{CTA: 2, Steps: segment(data)},
			}}
			if got := compare(t, p, 0); got.wrong != "" || got.buffers != named || got.named != named {
				t.Errorf("%v: by the axioms %v, named %v: %s", op, got.buffers, got.named, got.wrong)
			}
		}
	})
	t.Run("its own write again", func(t *testing.T) {
		// It is named all the same: where the swap fails, what it would write is not known.
		p := &flow.Program{Words: 32, CTAs: 2, Warps: []flow.Warp{
			{CTA: 0, Steps: segment(list(load(0), swap))},
			{CTA: 1, Steps: segment(list(count, load(1), store(1, flow.R(0)), when(list(store(0, flow.V(3))), nil)))},
		}}
		if got := compare(t, p, 0); got.wrong != "" || got.buffers {
			t.Errorf("by the axioms %v: %s", got.buffers, got.wrong)
		}
	})
	t.Run("an exchange that a sum follows", func(t *testing.T) {
		// The sum is made since the exchange is, and the exchange reads it.
		p := &flow.Program{Words: 32, CTAs: 3, Warps: []flow.Warp{
			{CTA: 0, Steps: segment(list(atom(flow.Exch, 0)))},
			{CTA: 1, Steps: segment(list(load(0), store(1, flow.R(0))))},
			{CTA: 2, Steps: segment(list(load(1), when(list(sum), nil)))},
		}}
		if got := compare(t, p, 0); got.wrong != "" || !got.buffers || !got.named {
			t.Errorf("by the axioms %v, named %v: %s", got.buffers, got.named, got.wrong)
		}
	})
	t.Run("what is read in between", func(t *testing.T) {
		// Thread 0 stores 1 if it reads 1 of word 2, else what it read before; thread 1 writes word 2.
		second := load(2)
		second.Dst = []int{1}
		either := flow.Instr{Kind: flow.If, Cmp: flow.Ne, Src: []flow.Value{flow.R(1), flow.V(0)}, Body: list(store(1, one)), Else: list(store(1, flow.R(0)))}
		p := &flow.Program{Words: 32, CTAs: 3, Warps: []flow.Warp{
			{CTA: 0, Steps: segment(list(load(0), second, either))},
			{CTA: 1, Steps: segment(list(store(2, one)))},
			{CTA: 2, Steps: segment(data)},
		}}
		if got := compare(t, p, 0); got.wrong != "" || !got.buffers || !got.named {
			t.Errorf("by the axioms %v, named %v: %s", got.buffers, got.named, got.wrong)
		}
	})
}
