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

// Timed is the pause of a wait that looks at a clock, or gives the card a time.
const Timed = time.Duration(1<<63 - 1)

// Pauses lists the tests of barriers and the strong reads behind which a trap may come
// before anything that another agent could notice, each with the least time that one
// turn of its wait takes.
func (p *Program) Pauses() map[*ptx.Inst]time.Duration {
	all := map[*ptx.Inst]time.Duration{}
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
			if pause, traps := g.pause(int32(i)); traps {
				all[u.In] = pause
			}
		}
	}
	return all
}

// Hasten marks tests and reads that are no waits: a trap comes behind them before they
// have lasted long enough to call that a timeout. It must precede all other queries.
func (p *Program) Hasten(hasty func(in *ptx.Inst) bool) {
	for u := range p.Uses() {
		u.Hasty = u.Hasty || hasty(u.In)
	}
}

// pause follows the paths from a test through steps that no other agent could notice.
func (g *Graph) pause(test int32) (least time.Duration, traps bool) {
	u := &g.Nodes[test]
	least = pauseGlobal
	switch {
	case u.Does(ptx.Tests) && u.In.Mods[0] != "try_wait":
		least = pauseTest
	case u.Does(ptx.Tests):
		least = pauseTry
		if len(u.In.Operands) == 4 { // with a time
			least = Timed
		}
	case slices.ContainsFunc(u.In.Mods, func(m string) bool { return strings.HasPrefix(m, "shared") }):
		least = pauseShared
	}
	seen := make([]bool, len(g.Nodes))
	todo := append([]int32(nil), g.Next[test]...)
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int(n) == len(g.Nodes) || seen[n] {
			continue
		}
		seen[n] = true
		u := &g.Nodes[n]
		switch {
		case u.Does(ptx.Traps):
			traps = true
		case u.Does(ptx.Sleeps):
			least = max(least, pauseSleep)
		case u.Clock:
			least = Timed
		case u.Does(ptx.Branches | ptx.Tests), u.ReadsStrongly(), u.Plain && !u.Does(ptx.Writes):
		default:
			continue
		}
		todo = append(todo, g.Next[n]...)
	}
	return least, traps
}
