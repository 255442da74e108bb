package flow

import (
	"testing"

	"muster/internal/axiom"
)

// at builds programs for the tests: agents by CTA, warp and lanes, each with code.
type at struct {
	cta, warp, first, lanes int
	code                    []Instr
}

func program(cluster int, list ...at) *Program {
	g := &generator{p: &Program{Words: 16, Cluster: cluster}, join: Barrier}
	for _, a := range list {
		g.agents = append(g.agents, agent{a.cta, a.warp, a.first, max(a.lanes, 1), [][]Instr{a.code}})
	}
	g.build()
	return g.p
}

func st(s axiom.Sem, sc axiom.Scope, at, v uint32) Instr {
	return Instr{Kind: Store, Sem: s, Scope: sc, At: V(at), Src: []Value{V(v)}}
}

func ld(s axiom.Sem, sc axiom.Scope, r int, at uint32) Instr {
	return Instr{Kind: Load, Sem: s, Scope: sc, Dst: []int{r}, At: V(at)}
}

func until(in Instr, c Cmp, want uint32) Instr {
	in.By, in.Kind, in.Cmp, in.Want = in.Kind, Poll, c, V(want)
	return in
}

func fn(s axiom.Sem, sc axiom.Scope) Instr { return Instr{Kind: Fence, Sem: s, Scope: sc} }

// TestShapes says of small programs what outcome is the first bad one.
func TestShapes(t *testing.T) {
	const (
		gpu     = axiom.GPU
		cta     = axiom.CTA
		relaxed = axiom.Relaxed
		weak    = axiom.Weak
	)
	trap := Instr{Kind: Trap}
	pair := func(in Instr, wide bool) Instr {
		if in.Wide = wide; !wide {
			in.N = 2
		}
		if in.Kind == Load || in.By == Load && in.Kind == Poll {
			in.Dst = []int{0, 1}
		} else {
			in.Src = append(in.Src, in.Src...)
		}
		return in
	}
	inc := Instr{Kind: Red, Sem: relaxed, Scope: cta, Op: Add, At: V(0), Src: []Value{V(1)}}
	for _, c := range []struct {
		name string
		p    *Program
		want Bad
	}{
		{"message passing, relaxed", program(0,
			at{code: []Instr{st(relaxed, gpu, 1, 1), st(relaxed, gpu, 0, 1)}},
			at{cta: 1, code: []Instr{until(ld(relaxed, gpu, 0, 0), Eq, 1), ld(relaxed, gpu, 1, 1), when(Eq, R(1), V(0), trap)}}), Trapped},
		{"message passing, right", program(0,
			at{code: []Instr{st(weak, gpu, 1, 1), st(axiom.Release, gpu, 0, 1)}},
			at{cta: 1, code: []Instr{until(ld(axiom.Acquire, gpu, 0, 0), Eq, 1), ld(weak, gpu, 1, 1), when(Eq, R(1), V(0), trap)}}), None},
		{"message passing, a scope too narrow", program(0,
			at{code: []Instr{st(weak, gpu, 1, 1), st(axiom.Release, cta, 0, 1)}},
			at{cta: 1, code: []Instr{until(ld(axiom.Acquire, gpu, 0, 0), Eq, 1), ld(weak, gpu, 1, 1)}}), Race},
		{"a stale value stored", program(0,
			at{code: []Instr{st(relaxed, gpu, 1, 1), st(relaxed, gpu, 0, 1)}},
			at{cta: 1, code: []Instr{until(ld(relaxed, gpu, 0, 0), Eq, 1), ld(relaxed, gpu, 1, 1), {Kind: Store, At: V(2), Src: []Value{R(1)}}}}), NotSequential},
		{"a stale index", program(0,
			at{code: []Instr{st(relaxed, gpu, 1, 1), st(relaxed, gpu, 0, 1)}},
			at{cta: 1, code: []Instr{until(ld(relaxed, gpu, 0, 0), Eq, 1), ld(relaxed, gpu, 1, 1), {Kind: Store, At: Value{Const: ^uint32(0), Reg: 2}, Src: []Value{V(1)}}}}), Outside},
		{"a stale count", program(0,
			at{code: []Instr{st(relaxed, gpu, 1, 1), st(relaxed, gpu, 0, 1)}},
			at{cta: 1, code: []Instr{until(ld(relaxed, gpu, 0, 0), Eq, 1), ld(relaxed, gpu, 1, 1),
				{Kind: Poll, By: Load, Sem: relaxed, Scope: gpu, Dst: []int{2}, At: V(1), Cmp: Eq, Want: R(1)},
				{Kind: Poll, By: Load, Sem: relaxed, Scope: gpu, Dst: []int{2}, At: V(3), Cmp: Eq, Want: Value{Const: ^uint32(0), Reg: 2}}}}), Hung},
		{"flag and value in one vector", program(0,
			at{code: []Instr{pair(st(relaxed, gpu, 0, 1), false)}},
			at{cta: 1, code: []Instr{pair(until(ld(relaxed, gpu, 0, 0), Eq, 1), false), when(Eq, R(1), V(0), trap)}}), Trapped},
		{"flag and value in 8 bytes", program(0,
			at{code: []Instr{pair(st(relaxed, gpu, 0, 1), true)}},
			at{cta: 1, code: []Instr{pair(until(ld(relaxed, gpu, 0, 0), Eq, 1), true), when(Eq, R(1), V(0), trap)}}), None},
		{"a counter of three lanes, seen half way", program(0,
			at{lanes: 3, code: []Instr{inc}},
			at{warp: 1, code: []Instr{until(ld(relaxed, cta, 0, 0), Ge, 2), when(Ne, R(0), V(3), trap)}}), Trapped},
		{"a counter of three lanes, all", program(0,
			at{lanes: 3, code: []Instr{inc}},
			at{warp: 1, code: []Instr{until(ld(relaxed, cta, 0, 0), Ge, 3), when(Ne, R(0), V(3), trap)}}), None},
		{"load buffering", program(0,
			at{code: []Instr{ld(relaxed, gpu, 0, 0), st(relaxed, gpu, 1, 1), when(Ne, R(0), V(0), st(weak, gpu, 2, 1))}},
			at{cta: 1, code: []Instr{ld(relaxed, gpu, 0, 1), st(relaxed, gpu, 0, 1), when(Ne, R(0), V(0), st(weak, gpu, 2, 2))}}), Race},
		{"load buffering with a dependency on each side", program(0,
			at{code: []Instr{ld(relaxed, gpu, 0, 0), {Kind: Store, Sem: relaxed, Scope: gpu, At: V(1), Src: []Value{R(0)}}, when(Ne, R(0), V(0), trap)}},
			at{cta: 1, code: []Instr{ld(relaxed, gpu, 0, 1), {Kind: Store, Sem: relaxed, Scope: gpu, At: V(0), Src: []Value{R(0)}}}}), None},
		{"store buffering, no fence", program(0,
			at{code: []Instr{st(relaxed, gpu, 0, 1), ld(relaxed, gpu, 0, 1), when(Eq, R(0), V(0), st(weak, gpu, 2, 1))}},
			at{cta: 1, code: []Instr{st(relaxed, gpu, 1, 1), ld(relaxed, gpu, 0, 0), when(Eq, R(0), V(0), st(weak, gpu, 2, 2))}}), Race},
		{"store buffering, fence.sc", program(0,
			at{code: []Instr{st(relaxed, gpu, 0, 1), fn(axiom.SC, gpu), ld(relaxed, gpu, 0, 1), when(Eq, R(0), V(0), st(weak, gpu, 2, 1))}},
			at{cta: 1, code: []Instr{st(relaxed, gpu, 1, 1), fn(axiom.SC, gpu), ld(relaxed, gpu, 0, 0), when(Eq, R(0), V(0), st(weak, gpu, 2, 2))}}), None},
		{"two tries and on", program(0,
			at{code: []Instr{st(weak, gpu, 1, 1), st(axiom.Release, gpu, 0, 1)}},
			at{cta: 1, code: []Instr{{Kind: Poll, By: Load, Sem: axiom.Acquire, Scope: gpu, Dst: []int{0}, At: V(0), Cmp: Eq, Want: V(1), Tries: 2}, ld(weak, gpu, 1, 1)}}), Race},
		{"a poll for what nobody writes", program(0,
			at{code: []Instr{st(relaxed, gpu, 0, 1)}},
			at{cta: 1, code: []Instr{until(ld(relaxed, gpu, 0, 0), Eq, 2)}}), Hung},
		{"two of one warp, and nothing between", program(0,
			at{code: []Instr{st(weak, cta, 0, 1)}},
			at{first: 1, code: []Instr{ld(weak, cta, 0, 0)}}), Race},
	} {
		seq, err := c.p.Interleave(10_000)
		if err != nil {
			t.Fatal(err)
		}
		got, cut, err := c.p.Worst(seq, 10_000)
		if got != c.want || cut || err != nil {
			t.Errorf("%s: %v, %v, %v; want %v", c.name, got, cut, err, c.want)
		}
	}
}
