package executions_test

import (
	"fmt"
	"math/rand/v2"

	"muster/internal/axiom"
	"muster/internal/axiom/flow"
)

// A drawing draws programs of two to four threads, in CTAs of their own or some in one, whose
// results go to words of their own.
type drawing struct {
	*rand.Rand
	p    *flow.Program
	out  int // the word of the next result
	vars int
	regs int // of the thread at hand
	// plain: few fences, and no patterns; what is read is used.
	plain bool
}

func draw(seed uint64) *flow.Program {
	d := drawing{Rand: rand.New(rand.NewPCG(seed, 7))}
	n := 2 + d.IntN(3)
	d.vars = 1 + d.IntN(3)
	if d.plain = d.IntN(3) == 0; d.plain {
		d.vars = 2
	}
	d.p = &flow.Program{Name: fmt.Sprint(seed), Words: 32}
	d.out = 8
	ctas := 0
	for i := range n {
		w := flow.Warp{CTA: ctas}
		if i > 0 && d.IntN(4) == 0 {
			w.CTA--
			w.Index = d.p.Warps[i-1].Index + 1
		} else {
			ctas++
		}
		d.p.Warps = append(d.p.Warps, w)
	}
	if d.p.CTAs = ctas; ctas%2 == 0 && d.IntN(4) == 0 {
		d.p.Cluster = 2
	}
	budget := [...]int{2: 5, 3: 4, 4: 3}[n]
	// All warps of a CTA have the same barriers.
	halves := make([]bool, ctas)
	for i := range d.p.Warps {
		w := &d.p.Warps[i]
		if w.Index == 1 {
			halves[w.CTA] = d.IntN(2) == 0
		}
	}
	for i := range d.p.Warps {
		w := &d.p.Warps[i]
		d.regs = 0
		code := d.code(1 + d.IntN(budget))
		var after []flow.Instr
		for r := range d.regs {
			after = append(after, flow.Instr{Kind: flow.Store, Sem: axiom.Weak, At: flow.V(uint32(d.out)), Src: []flow.Value{flow.R(r)}})
			d.out++
		}
		if !halves[w.CTA] {
			w.Steps = segment(append(code, after...))
			continue
		}
		k := d.IntN(len(code) + 1)
		w.Steps = append(segment(code[:k:k]), flow.Step{Kind: flow.Barrier})
		w.Steps = append(w.Steps, segment(append(code[k:], after...))...)
	}
	return d.p
}

func segment(code []flow.Instr) []flow.Step {
	return []flow.Step{{Roles: []flow.Role{{Lanes: 1, Code: code}}}}
}

func one[T any](d *drawing, list ...T) T { return list[d.IntN(len(list))] }

func (d *drawing) scope() axiom.Scope {
	if d.IntN(12) > 0 {
		return axiom.GPU
	}
	return one(d, axiom.CTA, axiom.Cluster, axiom.Sys, axiom.Sys)
}

// value is what is stored: often what was read before.
func (d *drawing) value() flow.Value {
	if d.regs > 0 && d.IntN(3) == 0 {
		return flow.R(d.IntN(d.regs))
	}
	return flow.V(uint32(1 + d.IntN(3)))
}

func (d *drawing) reg() []int {
	d.regs++
	return []int{d.regs - 1}
}

func (d *drawing) code(n int) (code []flow.Instr) {
	for range n {
		// Another kind of instruction (vectors) goes here.
		k := d.IntN(12)
		if d.plain {
			k = one(d, 0, 0, 0, 3, 3, 3, 6, 10, 11, 11)
		}
		switch {
		case k < 3:
			code = append(code, flow.Instr{Kind: flow.Load, Sem: one(d, axiom.Relaxed, axiom.Relaxed, axiom.Acquire, axiom.Acquire, axiom.Volatile, axiom.Volatile, d.weak()), Scope: d.scope(), At: d.at(), Dst: d.reg()})
		case k < 6:
			code = append(code, d.store())
		case k == 6:
			in := flow.Instr{Kind: flow.Atom, Op: one(d, flow.Add, flow.Exch, flow.Cas), Sem: one(d, axiom.Relaxed, axiom.Acquire, axiom.Release, axiom.AcqRel), Scope: d.scope(), At: d.at(), Src: []flow.Value{d.value()}}
			if in.Op == flow.Cas {
				in.Src = []flow.Value{flow.V(uint32(d.IntN(2))), d.value()}
			}
			in.Dst = d.reg()
			code = append(code, in)
		case k == 7:
			code = append(code, flow.Instr{Kind: flow.Red, Op: flow.Add, Sem: one(d, axiom.Relaxed, axiom.Relaxed, axiom.Release), Scope: d.scope(), At: d.at(), Src: []flow.Value{d.value()}})
		case k < 10 || d.regs == 0:
			code = append(code, d.fence())
		case k == 10:
			// A value of which something is left, or nothing.
			r := flow.R(d.IntN(d.regs))
			in := flow.Instr{Kind: flow.Move, Op: one(d, flow.Xor, flow.And, flow.Add, flow.Min), Src: []flow.Value{r, one(d, r, flow.V(0), flow.V(1))}}
			in.Dst = d.reg()
			code = append(code, in)
		default:
			code = append(code, d.branch())
		}
	}
	return code
}

// weak is a weak operation, sometimes: most of them race.
func (d *drawing) weak() axiom.Sem {
	if d.IntN(8) == 0 {
		return axiom.Weak
	}
	return axiom.Relaxed
}

func (d *drawing) at() flow.Value { return flow.V(uint32(d.IntN(d.vars))) }

func (d *drawing) store() flow.Instr {
	sem := one(d, axiom.Relaxed, axiom.Relaxed, axiom.Release, axiom.Release, axiom.Volatile, axiom.Volatile, d.weak())
	if d.plain {
		sem = axiom.Relaxed
	}
	return flow.Instr{Kind: flow.Store, Sem: sem, Scope: d.scope(), At: d.at(), Src: []flow.Value{d.value()}}
}

func (d *drawing) fence() flow.Instr {
	return flow.Instr{Kind: flow.Fence, Sem: one(d, axiom.AcqRel, axiom.SC, axiom.SC), Scope: d.scope()}
}

// branch is a branch whose ways do the same, or not.
func (d *drawing) branch() flow.Instr {
	in := flow.Instr{Kind: flow.If, Cmp: one(d, flow.Eq, flow.Ne, flow.Lt), Src: []flow.Value{flow.R(d.IntN(d.regs)), flow.V(uint32(d.IntN(3)))}}
	in.Body = []flow.Instr{d.store()}
	switch d.IntN(4) {
	case 0:
		in.Body = append(in.Body, d.store())
	case 1:
		in.Body = []flow.Instr{d.fence()}
	case 2:
		in.Else = []flow.Instr{in.Body[0]}
	case 3:
		in.Else = []flow.Instr{d.store()}
	}
	return in
}
