package confluence

import "muster/internal/machine"

// Named barriers, the cluster's barrier, and setmaxnreg.

// A named is one of a CTA's sixteen barriers: the last complete generation and
// the open one.
type named struct {
	used       bool
	last, open generation
}

// A generation is what came to a barrier between two openings.
type generation struct {
	n       uint64
	members clock // their steps
	reach   clock // what they come after
	count   uint32
	red     bool
	syncs   int // arrivals that wait
	passed  int
	pc      int32
}

func (p *Prover) barArrive(ev *machine.Event) {
	w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
	b := &p.cta(ev.CTA).named[ev.Bar&15]
	k := &b.open
	if !b.used || ev.Gen != k.n {
		b.last, b.open = b.open, generation{n: ev.Gen, count: ev.Count, red: ev.Mode == machine.BarRed, pc: ev.PC}
		if !b.used {
			b.last = generation{pc: -1}
		}
		b.used = true
	}
	bad := func(text string, with int32) {
		p.fail(Failure{Condition: C6, CTA: ev.CTA, Named: ev.Bar, Phase: int64(ev.Gen), PC: ev.PC, With: with, Text: text})
	}
	for _, g := range gs {
		if !g.clk.covers(&b.last.members) {
			bad("it need not come after the generation before is complete, and could join that one", b.last.pc)
		}
		k.reach.join(&g.clk)
	}
	switch {
	case ev.Count != k.count:
		bad("participants of one generation disagree on the count", k.pc)
	case k.red != (ev.Mode == machine.BarRed):
		bad("reductions and other forms meet in one generation", k.pc)
	case ev.Again != 0:
		bad("a lane arrives twice in one generation", k.pc)
	}
	k.members.set(w.number, ev.Mask, w.step)
	if ev.Mode != machine.BarArrive {
		k.syncs++
	}
}

func (p *Prover) barPass(ev *machine.Event) {
	w, _ := p.step(ev.CTA, ev.Warp, ev.Mask)
	b := &p.cta(ev.CTA).named[ev.Bar&15]
	if ev.ByExit {
		p.fail(Failure{Condition: C6, CTA: ev.CTA, Named: ev.Bar, Phase: int64(ev.Gen), PC: ev.PC, With: -1,
			Text: "the barrier opened because threads that it counts have exited"})
	}
	for _, k := range []*generation{&b.open, &b.last} {
		if k.n == ev.Gen {
			k.passed++
			learnt := k.reach.clone()
			learnt.join(&k.members)
			w.learn(ev.Mask, &learnt)
			return
		}
	}
}

func (p *Prover) endNamed() {
	for i, c := range p.ctas {
		if c == nil {
			continue
		}
		for id := range c.named {
			if k := &c.named[id].open; k.syncs > k.passed {
				p.fail(Failure{Condition: C6, CTA: int32(i), Named: int32(id), Phase: int64(k.n), PC: k.pc, With: -1,
					Text: "a sync is left over in a generation that nothing completes"})
			}
		}
	}
}

// generations is a cluster's barrier: the last complete generation and the
// open one.
type generations struct {
	last, open generation
	arrived    map[[2]int32]uint32 // lanes that have arrived and not waited, by CTA and warp
}

func (p *Prover) clusterOf(cta int32) *generations {
	n := cta / int32(max(p.shape.Cluster, 1))
	if p.shape.Clusters != nil {
		n = p.shape.Clusters[cta]
	}
	c := p.clusters[n]
	if c == nil {
		c = &generations{arrived: map[[2]int32]uint32{}}
		p.clusters[n] = c
	}
	return c
}

func (p *Prover) clusterArrive(ev *machine.Event) {
	w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
	c := p.clusterOf(ev.CTA)
	if ev.Gen != c.open.n {
		c.last, c.open = c.open, generation{n: ev.Gen}
	}
	who := [2]int32{ev.CTA, ev.Warp}
	if c.arrived[who]&ev.Mask != 0 {
		p.fail(Failure{Condition: C6, CTA: ev.CTA, Named: -1, Phase: int64(ev.Gen), PC: ev.PC, With: -1,
			Text: "a thread arrives at the cluster's barrier again without having waited"})
	}
	c.arrived[who] |= ev.Mask
	for _, g := range gs {
		c.open.reach.join(&g.clk)
	}
	c.open.members.set(w.number, ev.Mask, w.step)
}

func (p *Prover) clusterWait(ev *machine.Event) {
	w, _ := p.step(ev.CTA, ev.Warp, ev.Mask)
	c := p.clusterOf(ev.CTA)
	who := [2]int32{ev.CTA, ev.Warp}
	if ev.Mask&^c.arrived[who] != 0 {
		p.fail(Failure{Condition: C6, CTA: ev.CTA, Named: -1, Phase: int64(ev.Gen), PC: ev.PC, With: -1,
			Text: "a thread waits for the cluster's barrier without having arrived"})
	}
	c.arrived[who] &^= ev.Mask
	for _, k := range []*generation{&c.open, &c.last} {
		if k.n == ev.Gen {
			learnt := k.reach.clone()
			learnt.join(&k.members)
			w.learn(ev.Mask, &learnt)
			return
		}
	}
}

// A regStep is one setmaxnreg of a warp.
type regStep struct {
	from, to uint32
	step     uint32
	pc       int32
	clk      clock
}

// registers keeps the steps of a CTA; a decrease must not have to wait for an
// increase of another warp, which could be waiting for it.
func (p *Prover) registers(ev *machine.Event) {
	w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
	s := regStep{from: uint32(ev.Gen), to: ev.Count, step: w.step, pc: ev.PC, clk: gs[0].clk.clone()}
	if s.to < s.from {
		for i := range p.cta(ev.CTA).warps {
			o := &p.cta(ev.CTA).warps[i]
			for _, inc := range o.regs {
				if o != w && inc.to > inc.from && gs[0].clk.after(o.number, ^uint32(0), inc.step) != 0 {
					p.fail(Failure{Condition: C7, CTA: ev.CTA, PC: ev.PC, With: inc.pc,
						Text: "a decrease that comes after an increase, which may need it"})
				}
			}
		}
	}
	w.regs = append(w.regs, s)
}
