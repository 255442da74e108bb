package confluence

import "muster/internal/machine"

// Named barriers, the cluster's barrier, and setmaxnreg.

// A named is one of a CTA's sixteen barriers: the last complete generation and
// the open one.
type named struct {
	used       bool
	counted    bool  // some instruction gave the count
	byExit     int32 // an instruction that passed because threads have exited, plus 1
	exitGen    uint64
	last, open generation
}

// A generation is what arrived at a barrier between two openings.
type generation struct {
	n       uint64
	members clock // the steps of its arrivals
	reach   clock // what these come after
	count   uint32
	red     bool
	syncs   int // arrivals that wait
	passed  int
	pc      int32
}

func (c *ctaState) bar(id int32) *named {
	b := &c.named[id&15]
	if *b == nil {
		*b = &named{}
	}
	return *b
}

func (p *Prover) barArrive(ev *machine.Event) {
	w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
	b := p.cta(ev.CTA).bar(ev.Bar)
	k := &b.open
	if !b.used || ev.Gen != k.n {
		b.last, b.open = b.open, generation{n: ev.Gen, count: ev.Count, red: ev.Mode == machine.BarRed, pc: ev.PC}
		if !b.used {
			b.last = generation{pc: -1}
		}
		b.used = true
	}
	bad := func(text string, with int32) {
		p.fail(Failure{Condition: C6, CTA: ev.CTA, Named: ev.Bar, Phase: int64(ev.Gen), PC: ev.PC, With: with, Warp: w.number, Lanes: ev.Mask, Text: text})
	}
	aligned := p.cfg.aligned(ev.PC)
	for _, g := range gs {
		at := w.sees(g, g.mask)
		if aligned {
			at.own = ^uint32(0) // aligned: the warp arrives as one
		}
		if !at.covers(&b.last.members) {
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
	b.counted = b.counted || ev.Counted
	if ev.Mode != machine.BarArrive {
		k.syncs++
	}
}

func (p *Prover) barPass(ev *machine.Event) {
	w, _ := p.step(ev.CTA, ev.Warp, ev.Mask)
	b := p.cta(ev.CTA).bar(ev.Bar)
	if ev.ByExit {
		b.byExit, b.exitGen = ev.PC+1, ev.Gen
	}
	for _, k := range []*generation{&b.open, &b.last} {
		if k.n == ev.Gen {
			k.passed++
			k.reach.freeze()
			k.members.freeze()
			w.learn(ev.Mask, &k.reach, &k.members)
			return
		}
	}
}

func (p *Prover) endNamed() {
	for i, c := range p.ctas {
		if c == nil {
			continue
		}
		p.endRegisters(c)
		for id := range c.named {
			b := c.named[id]
			if b == nil {
				continue
			}
			if b.byExit > 0 && b.counted {
				// If no instruction gives a count, all participants wait, so that a
				// thread exits after the generations that it takes part in, and its
				// exit counts in all later ones. If the first arrival gives the
				// count, exits do not make up for it, and which arrival is first may
				// differ.
				p.fail(Failure{Condition: C6, CTA: int32(i), Named: int32(id), Phase: int64(b.exitGen), PC: b.byExit - 1, With: -1,
					Text: "the barrier opened because threads that it counts have exited, and some instruction gives it a count"})
			}
			if k := &b.open; k.syncs > k.passed {
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
	n := p.cfg.ClusterOf(cta)
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
			k.reach.freeze()
			k.members.freeze()
			w.learn(ev.Mask, &k.reach, &k.members)
			return
		}
	}
}

// A regStep is one setmaxnreg of a warp.
type regStep struct {
	from, to uint32 // registers a thread
	warp     int32  // in the grid
	step     uint32
	pc       int32
	clk      clock
}

func (p *Prover) registers(ev *machine.Event) {
	w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
	clk := gs[0].clk.clone()
	clk.set(w.number, ev.Mask, w.step)
	w.regs = append(w.regs, regStep{from: uint32(ev.Gen), to: ev.Count, warp: w.number, step: w.step, pc: ev.PC, clk: clk})
}

// upTo reports whether s is t, or comes after it.
func (s *regStep) upTo(t *regStep) bool {
	return s == t || s.clk.after(t.warp, ^uint32(0), t.step) != 0
}

// maxRegSteps bounds the setmaxnreg steps of a CTA that are compared with each
// other.
const maxRegSteps = 256

// endRegisters checks that no schedule is stuck at an increase. In a stuck state
// everything has happened except some increases and what follows them. So an increase
// is always served if the pool holds enough for it wherever the other warps may be
// stuck; an increase known to be served narrows where they may be stuck for the
// others.
func (p *Prover) endRegisters(c *ctaState) {
	var stuck []*regStep
	n := 0
	for i := range c.warps {
		regs := c.warps[i].regs
		n += len(regs)
		for k := range regs {
			if regs[k].to > regs[k].from {
				stuck = append(stuck, &regs[k])
			}
		}
	}
	text := "an increase that may wait for ever for registers"
	if n > maxRegSteps && len(stuck) > 0 {
		text = "too many changes of registers to compare"
	} else {
		for again := true; again; {
			again = false
			for k := 0; k < len(stuck); k++ {
				if c.pool(stuck[k], stuck) >= int(stuck[k].to)-int(stuck[k].from) {
					stuck = append(stuck[:k:k], stuck[k+1:]...)
					again = true
				}
			}
		}
	}
	for _, s := range stuck {
		p.fail(Failure{Condition: C7, CTA: s.warp / int32(p.cfg.Warps), PC: s.pc, With: -1, Warp: s.warp, Lanes: ^uint32(0), Text: text})
	}
}

// pool returns the least number of registers per thread in the pool where s is stuck
// and the steps in stuck may be.
func (c *ctaState) pool(s *regStep, stuck []*regStep) int {
	n := 0
	for i := range c.warps {
		regs := c.warps[i].regs
		if len(regs) == 0 {
			continue
		}
		if c.warps[i].number == s.warp {
			n += int(regs[0].from) - int(s.from)
			continue
		}
		most := uint32(0)
		for k := 0; k <= len(regs); k++ {
			if stops(regs, k, s, stuck) {
				level := regs[0].from
				if k > 0 {
					level = regs[k-1].to
				}
				most = max(most, level)
			}
		}
		n += int(regs[0].from) - int(most)
	}
	return n
}

// stops reports whether a warp may have made exactly its first k changes where s is
// stuck.
func stops(regs []regStep, k int, s *regStep, stuck []*regStep) bool {
	if k > 0 && regs[k-1].upTo(s) {
		return false
	}
	if k == len(regs) {
		return true
	}
	if s.upTo(&regs[k]) {
		return false
	}
	for _, t := range stuck {
		if regs[k].upTo(t) && (k == 0 || !regs[k-1].upTo(t)) {
			return true
		}
	}
	return false
}

// aligned reports whether all lanes of a warp execute the instruction at pc together.
func (s *Config) aligned(pc int32) bool {
	if s.Program == nil || pc < 0 {
		return false
	}
	in := s.Program.Inst(pc)
	return in != nil && in.Aligned()
}
