package flow

import (
	"slices"
	"strings"
	"time"

	"muster/ptx"
)

// The least time of a failed test of a wait, measured on an H100 where each test decides
// what comes next (testdata/pause.cu): the latency of the barrier, of the second level
// cache, or of shared memory; and the time that try_wait waits by itself, which a time
// limit in its text does not make longer there, but may elsewhere.
const (
	pauseTest   = 31 * time.Nanosecond
	pauseTry    = 3900 * time.Nanosecond
	pauseGlobal = 140 * time.Nanosecond
	pauseShared = 24 * time.Nanosecond
)

// A Pause is what lies between a test of a barrier, or a strong read, and a trap that may
// come before anything that another agent could notice.
type Pause struct {
	Least time.Duration // of one failed test; a nanosleep takes the time of its operand besides
	Limit Reg           // a time that the test may wait by itself; or NoReg
	// Clocked: a clock that is read behind the test takes part in deciding when the trap comes.
	Clocked bool
	// Bound are the registers whose values at the test decide when the trap comes, if the test
	// fails each time. They vary unless the launch alone decides what they are when the wait
	// begins.
	Bound  []Reg
	Varies bool
	// Own: special registers of the thread take part in deciding it; Memory: memory does.
	Own, Memory bool
}

// Pauses lists the tests and reads that have a pause.
func (p *Program) Pauses() map[*ptx.Inst]Pause {
	all := map[*ptx.Inst]Pause{}
	for f := range p.Funcs {
		g := p.Graph(int32(f))
		if g == nil {
			continue
		}
		for i := range g.Nodes {
			u := &g.Nodes[i]
			if !u.Does(ptx.Tests) && !u.ReadsStrongly() {
				continue
			}
			if to, region, traps := g.pause(int32(i)); traps {
				g.bound(&to, int32(i), region)
				to.Varies = to.Own || to.Memory || slices.ContainsFunc(to.Bound, func(r Reg) bool { return !g.begins(r, region) })
				all[u.In] = to
			}
		}
	}
	return all
}

// bound finds what decides which way control goes in the region behind a test, as far as a
// trap can follow: registers that are live before the test, and what is read on the way.
func (g *Graph) bound(p *Pause, test int32, region []bool) {
	// The nodes of the region from which a trap can be reached in it.
	leads := make([]bool, len(g.Nodes))
	for again := true; again; {
		again = false
		for n := range g.Nodes {
			if leads[n] || !region[n] {
				continue
			}
			if leads[n] = g.Nodes[n].Does(ptx.Traps) || slices.ContainsFunc(g.Next[n], func(to int32) bool {
				return int(to) < len(g.Nodes) && leads[to]
			}); leads[n] {
				again = true
			}
		}
	}
	var decide RegSet
	for again := true; again; {
		again = false
		add := func(r Reg) {
			if r != NoReg && !decide.Has(r) {
				decide.Add(r)
				again = true
			}
		}
		for n := range g.Nodes {
			u := &g.Nodes[n]
			if !leads[n] {
				continue
			}
			if !u.Plain {
				add(u.Guard)
			} else if slices.ContainsFunc(u.Writes, decide.Has) {
				add(u.Guard)
				for _, list := range [...][]Reg{u.Reads, u.Addr} {
					for _, r := range list {
						add(r)
					}
				}
			}
		}
	}
	for n := range g.Nodes {
		u := &g.Nodes[n]
		if int32(n) == test || !leads[n] || !slices.ContainsFunc(u.Writes, decide.Has) {
			continue
		}
		p.Clocked = p.Clocked || u.Clock
		p.Own = p.Own || u.Special
		p.Memory = p.Memory || u.Does(ptx.Reads) && !u.Launched
	}
	for k, r := range g.regs {
		if inSet(g.liveAt(test), k) && decide.Has(r) && !slices.Contains(g.Nodes[test].Writes, r) {
			p.Bound = append(p.Bound, r)
		}
	}
}

// begins reports whether a register has one value whenever control comes into a region:
// only one instruction outside writes it, which the launch fixes.
func (g *Graph) begins(r Reg, region []bool) bool {
	outside := 0
	for n := range g.Nodes {
		u := &g.Nodes[n]
		if region[n] || !slices.Contains(u.Writes, r) {
			continue
		}
		if outside++; !u.fixable() || len(u.Reads)+len(u.Addr) > 0 || u.Does(ptx.Reads) && g.f.Index != 0 {
			return false
		}
	}
	return outside == 1
}

// Hasten marks tests and reads that are no waits: a trap comes behind them before they
// have lasted long enough to call that a timeout. It must precede all other queries.
func (p *Program) Hasten(hasty func(in *ptx.Inst) bool) {
	for u := range p.Uses() {
		u.Hasty = u.Hasty || hasty(u.In)
	}
}

// pause follows the paths from a test through steps that no other agent could notice.
// The region is the test and these steps.
func (g *Graph) pause(test int32) (p Pause, region []bool, traps bool) {
	u := &g.Nodes[test]
	p.Least, p.Limit = pauseGlobal, NoReg
	switch {
	case u.Does(ptx.Tests) && u.In.Mods[0] != "try_wait":
		p.Least = pauseTest
	case u.Does(ptx.Tests):
		p.Least = pauseTry
		if k := len(u.In.Operands); k == 4 { // with a time
			if t, ok := u.In.Operands[3].(ptx.Int); ok && t.Bits < 1<<32 {
				p.Least = max(p.Least, time.Duration(t.Bits))
			} else if len(u.Time) > 0 {
				p.Limit = u.Time[0]
			}
		}
	case slices.ContainsFunc(u.In.Mods, func(m string) bool { return strings.HasPrefix(m, "shared") }):
		p.Least = pauseShared
	}
	region = make([]bool, len(g.Nodes))
	region[test] = true
	todo := append([]int32(nil), g.Next[test]...)
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int(n) == len(g.Nodes) || region[n] {
			continue
		}
		u := &g.Nodes[n]
		region[n] = true
		switch {
		case u.Does(ptx.Traps):
			traps = true
		case u.Does(ptx.Branches | ptx.Tests | ptx.Sleeps), u.ReadsStrongly(), u.Clock, u.Plain && !u.Does(ptx.Writes):
		default:
			region[n] = false
			continue
		}
		todo = append(todo, g.Next[n]...)
	}
	return p, region, traps
}
