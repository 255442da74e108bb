package flow

import (
	"slices"

	"muster/ptx"
)

// doom makes instructions that nothing but a trap can follow the traps that they lead to: what
// prints or stores why a wait was given up. Whatever they do, the launch ends there. An
// instruction that waits, or reads what others write at the same time, stays what it is.
func (g *Graph) doom() {
	trap := slices.IndexFunc(g.Nodes, func(u Use) bool { return u.Does(ptx.Traps) && u.Guard == NoReg })
	if trap < 0 {
		return
	}
	// What can go on, and what can trap.
	on, traps := make([]bool, len(g.Nodes)+1), make([]bool, len(g.Nodes)+1)
	on[len(g.Nodes)] = true
	for again := true; again; {
		again = false
		for n := len(g.Nodes) - 1; n >= 0; n-- {
			u := &g.Nodes[n]
			o := u.Does(ptx.Tests) || u.ReadsStrongly() || u.In.IsOf(ptx.ClassBarrier) || slices.ContainsFunc(g.Next[n], func(to int32) bool { return on[to] })
			t := u.Does(ptx.Traps) || slices.ContainsFunc(g.Next[n], func(to int32) bool { return traps[to] })
			again = again || o != on[n] || t != traps[n]
			on[n], traps[n] = o, t
		}
	}
	own := false
	for n := range g.Nodes {
		if on[n] || !traps[n] || g.Nodes[n].Does(ptx.Traps|ptx.Branches) || g.Nodes[n].Plain && !g.Nodes[n].Does(ptx.Writes) {
			continue
		}
		if !own {
			own, g.Nodes = true, slices.Clone(g.Nodes)
		}
		pc := g.Nodes[n].PC
		g.Nodes[n] = g.Nodes[trap]
		g.Nodes[n].PC, g.Next[n] = pc, nil
	}
}
