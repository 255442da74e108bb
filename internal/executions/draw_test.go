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
	var shape func(i, n int) []flow.Instr
	switch d.IntN(4) {
	case 0:
		d.plain, d.vars = true, 2
	case 1:
		shape = d.message
	case 2:
		if d.IntN(3) == 0 {
			shape = d.buffer
		}
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
		var code []flow.Instr
		if shape != nil {
			code = shape(i, n)
		} else {
			code = d.code(1 + d.IntN(budget))
		}
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

// message is the code of a thread of n that pass messages: word 0 is sent by word 1, in patterns
// of release and acquire of all forms, some without effect.
func (d *drawing) message(i, n int) (code []flow.Instr) {
	flag := flow.V(1)
	store := func(sem axiom.Sem, v uint32) flow.Instr {
		return flow.Instr{Kind: flow.Store, Sem: sem, Scope: d.scope(), At: flag, Src: []flow.Value{flow.V(v)}}
	}
	load := func(sem axiom.Sem) flow.Instr {
		return flow.Instr{Kind: flow.Load, Sem: sem, Scope: d.scope(), At: flag, Dst: d.reg()}
	}
	data := one(d, axiom.Weak, axiom.Relaxed)
	switch {
	case i == 0:
		code = append(code, flow.Instr{Kind: flow.Store, Sem: data, Scope: d.scope(), At: flow.V(0), Src: []flow.Value{flow.V(1)}})
		switch d.IntN(4) {
		case 0:
			return append(code, store(axiom.Release, 1))
		case 1:
			return append(code, store(axiom.Release, 3), store(axiom.Relaxed, 1))
		case 2:
			return append(code, d.fence(), store(axiom.Relaxed, 1))
		}
		return append(code, store(axiom.Relaxed, 3), store(axiom.Release, 1))
	case i < n-1:
		switch d.IntN(3) {
		case 0:
			return []flow.Instr{{Kind: flow.Red, Op: flow.Add, Sem: axiom.Relaxed, Scope: d.scope(), At: flag, Src: []flow.Value{flow.V(1)}}}
		case 1:
			return []flow.Instr{{Kind: flow.Atom, Op: flow.Exch, Sem: one(d, axiom.Relaxed, axiom.AcqRel), Scope: d.scope(), At: flag, Src: []flow.Value{flow.V(2)}, Dst: d.reg()}}
		}
		return d.code(1 + d.IntN(2))
	}
	switch d.IntN(5) {
	case 0:
		code = append(code, load(axiom.Acquire))
	case 1:
		code = append(code, load(axiom.Relaxed), d.fence())
	case 2:
		code = append(code, load(axiom.Relaxed), load(axiom.Acquire))
	case 3:
		code = append(code, flow.Instr{Kind: flow.Atom, Op: flow.Add, Sem: one(d, axiom.Acquire, axiom.AcqRel, axiom.Relaxed), Scope: d.scope(), At: flag, Src: []flow.Value{flow.V(1)}, Dst: d.reg()})
	default:
		// Its read forms no acquire pattern.
		code = append(code, flow.Instr{Kind: flow.Red, Op: flow.Add, Sem: axiom.Relaxed, Scope: d.scope(), At: flag, Src: []flow.Value{flow.V(4)}}, d.fence(), load(axiom.Relaxed))
	}
	read := flow.Instr{Kind: flow.Load, Sem: data, Scope: d.scope(), At: flow.V(0)}
	cond := flow.R(d.regs - 1)
	if d.IntN(2) == 0 {
		cond = flow.R(0)
	}
	read.Dst = d.reg()
	return append(code, flow.Instr{Kind: flow.If, Cmp: one(d, flow.Eq, flow.Ge), Src: []flow.Value{cond, flow.V(one(d, uint32(1), 1, 2, 5))}, Body: []flow.Instr{read}})
}

// buffer is the code of a thread of n that store and then load, with fences in between.
func (d *drawing) buffer(i, n int) []flow.Instr {
	access := func(kind flow.Kind, at int) flow.Instr {
		return flow.Instr{Kind: kind, Sem: axiom.Relaxed, Scope: axiom.GPU, At: flow.V(uint32(at))}
	}
	st, ld := access(flow.Store, i), access(flow.Load, (i+1)%n)
	st.Src, ld.Dst = []flow.Value{flow.V(1)}, d.reg()
	return []flow.Instr{st, {Kind: flow.Fence, Sem: one(d, axiom.SC, axiom.SC, axiom.SC, axiom.AcqRel), Scope: one(d, axiom.GPU, axiom.GPU, axiom.CTA, axiom.Cluster)}, ld}
}
