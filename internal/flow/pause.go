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
	pauseSleep  = time.Microsecond // nanosleep takes the time of its operand
)

// Timed is the pause of a wait that looks at a clock, or gives the card a time that the text
// does not show.
const Timed = time.Duration(1<<63 - 1)

// A Pause is what lies between a test of a barrier, or a strong read, and a trap that may
// come before anything that another agent could notice.
type Pause struct {
	Least time.Duration // that one turn of the wait takes
	// Bound are the registers whose values at the test, and nothing else, decide when the trap
	// comes, if the test fails each time. They vary unless the launch alone decides what they
	// are when the wait begins.
	Bound  []Reg
	Varies bool
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
				if to.Least != Timed { // else one turn is a timeout
					to.Bound = g.bound(int32(i), region)
					to.Varies = slices.ContainsFunc(to.Bound, func(r Reg) bool { return !g.begins(r, region) })
				}
				all[u.In] = to
			}
		}
	}
	return all
}

// bound returns the registers, live before a test, that decide which way control goes in the
// region behind it, as far as a trap can follow.
func (g *Graph) bound(test int32, region []bool) []Reg {
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
	var list []Reg
	for k, r := range g.regs {
		if inSet(g.liveAt(test), k) && decide.Has(r) && !slices.Contains(g.Nodes[test].Writes, r) {
			list = append(list, r)
		}
	}
	return list
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
	p.Least = pauseGlobal
	switch {
	case u.Does(ptx.Tests) && u.In.Mods[0] != "try_wait":
		p.Least = pauseTest
	case u.Does(ptx.Tests):
		p.Least = pauseTry
		if k := len(u.In.Operands); k == 4 { // with a time
			if t, ok := u.In.Operands[3].(ptx.Int); !ok {
				p.Least = Timed
			} else if t.Bits < 1<<32 {
				p.Least = max(p.Least, time.Duration(t.Bits))
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
		case u.Does(ptx.Sleeps):
			p.Least = max(p.Least, pauseSleep)
		case u.Clock:
			p.Least = Timed
		case u.Does(ptx.Branches | ptx.Tests), u.ReadsStrongly(), u.Plain && !u.Does(ptx.Writes):
		default:
			region[n] = false
			continue
		}
		todo = append(todo, g.Next[n]...)
	}
	return p, region, traps
}
