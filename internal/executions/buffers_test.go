package executions_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"muster/internal/axiom"
	"muster/internal/axiom/flow"
)

// ring draws a program of two or three threads each of which reads a word and then writes the one
// that the next thread reads: load buffering, unless something in between forbids it. That may be a
// dependence, a fence or an access of some kind, on one way of a branch or on both.
func ring(seed uint64) *flow.Program {
	d := drawing{Rand: rand.New(rand.NewPCG(seed, 11))}
	n := 2 + d.IntN(2)
	d.vars = n
	d.p = &flow.Program{Name: fmt.Sprint(seed), Words: 32, CTAs: n}
	d.out = 8
	for i := range n {
		d.regs = 0
		var code []flow.Instr
		if d.IntN(3) == 0 {
			code = append(code, d.between(n)...)
		}
		code = append(code, d.reads(i))
		for range d.IntN(3) {
			code = append(code, d.between(n)...)
		}
		code = append(code, d.writes((i+1)%n)...)
		if d.IntN(4) == 0 {
			code = append(code, d.reads(d.IntN(n)))
		}
		for r := range d.regs {
			code = append(code, flow.Instr{Kind: flow.Store, Sem: axiom.Weak, At: flow.V(uint32(d.out)), Src: []flow.Value{flow.R(r)}})
			d.out++
		}
		d.p.Warps = append(d.p.Warps, flow.Warp{CTA: i, Steps: segment(code)})
	}
	return d.p
}

func (d *drawing) reads(at int) flow.Instr {
	in := flow.Instr{Kind: flow.Load, Sem: one(d, axiom.Relaxed, axiom.Relaxed, axiom.Acquire), Scope: axiom.GPU, At: flow.V(uint32(at))}
	if d.IntN(4) == 0 {
		in.Kind, in.Op, in.Src = flow.Atom, one(d, flow.Exch, flow.Cas, flow.Add), []flow.Value{d.value()}
		if in.Op == flow.Cas {
			in.Src = []flow.Value{flow.V(uint32(d.IntN(2))), d.value()}
		}
	}
	in.Dst = d.reg()
	return in
}

// write is a write of a word, of one of several kinds.
func (d *drawing) write(at int) flow.Instr {
	in := flow.Instr{Kind: flow.Store, Sem: one(d, axiom.Relaxed, axiom.Relaxed, axiom.Release), Scope: axiom.GPU, At: flow.V(uint32(at)), Src: []flow.Value{d.value()}}
	switch d.IntN(6) {
	case 0:
		in.Kind, in.Op, in.Dst = flow.Atom, flow.Exch, d.reg()
	case 1:
		in.Kind, in.Op = flow.Red, flow.Add
	case 2:
		in.Kind, in.Op, in.Dst, in.Src = flow.Atom, flow.Cas, d.reg(), []flow.Value{flow.V(uint32(d.IntN(2))), in.Src[0]}
	}
	return in
}

// writes is a write, or a branch with one on a way or on both.
func (d *drawing) writes(at int) []flow.Instr {
	if d.IntN(2) == 0 {
		return []flow.Instr{d.write(at)}
	}
	in := d.when()
	in.Body = []flow.Instr{d.write(at)}
	if d.IntN(2) == 0 {
		in.Else = []flow.Instr{in.Body[0]}
		if s := &in.Else[0]; d.IntN(2) == 0 && s.Kind == flow.Store {
			s.Sem = one(d, axiom.Relaxed, axiom.Release)
		} else if d.IntN(2) == 0 {
			in.Else = append([]flow.Instr{d.fence()}, in.Else...)
		}
	}
	return []flow.Instr{in}
}

func (d *drawing) when() flow.Instr {
	return flow.Instr{Kind: flow.If, Cmp: one(d, flow.Eq, flow.Ne, flow.Lt), Src: []flow.Value{flow.R(d.IntN(max(d.regs, 1))), flow.V(uint32(d.IntN(3)))}}
}

// between is what a thread does in between.
func (d *drawing) between(n int) []flow.Instr {
	switch d.IntN(5) {
	case 0:
		return []flow.Instr{d.fence()}
	case 1:
		in := d.when()
		in.Body = []flow.Instr{d.fence()}
		return []flow.Instr{in}
	case 2:
		return []flow.Instr{d.reads(d.IntN(n))}
	case 3:
		return []flow.Instr{d.write(d.IntN(n))}
	}
	return nil
}

// TestBuffers holds rings in which load buffering was once missed to the axioms: the write that is
// read early has another value then, comes by another instruction, or depends on what its own
// thread wrote.
func TestBuffers(t *testing.T) {
	for _, seed := range []uint64{30013548, 30014999, 30015758, 31001934, 31009943, 32000915, 33015279, 123003132, 133013456, 153003645, 573018336, 653009314, 673000907, 7103011369, 7113012627} {
		p := ring(seed)
		if c := compare(t, p, 0); c.left+c.wrong != "" {
			t.Errorf("%d: %s%s\n%s", seed, c.left, c.wrong, p.PTX())
		}
	}
}

// TestDrawnBuffers is TestDrawn for programs many of which have load buffering.
func TestDrawnBuffers(t *testing.T) {
	compared, raced, buffers, named, left := 0, 0, 0, 0, 0
	for seed := *from; seed < *from+*drawn; seed++ {
		p := ring(seed)
		c := compare(t, p, 0)
		switch {
		case c.left != "":
			left++
			continue
		case c.wrong != "":
			t.Errorf("%d: %s\n%s", seed, c.wrong, p.PTX())
		case c.races:
			raced++
			continue
		}
		compared++
		if c.buffers {
			buffers++
		}
		if c.named {
			named++
		}
		if c.named && !c.buffers && *showOver {
			t.Logf("%d: over\n%s", seed, p.PTX())
		}
	}
	t.Logf("%d programs, %d not compared, %d have races; of %d without, %d have load buffering, named in %d", *drawn, left, raced, compared, buffers, named)
	if n := int(*drawn); n >= 100 && (compared < n*6/10 || buffers < n/20) {
		t.Errorf("too little was compared")
	}
}
