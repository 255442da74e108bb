package flow

import "muster/ptx"

// Rounds marks the instructions, by place, that lie in a loop with a strong read: its turns may
// be a wait for what others write. A loop that calls may read in what it calls.
func (p *Program) Rounds() map[int32]bool {
	all := map[int32]bool{}
	calls := p.Does(ptx.Calls)
	if !p.any((*Use).ReadsStrongly) {
		return all
	}
	for f := range p.Funcs {
		g := &Graph{f: &p.Funcs[f], Nodes: p.Funcs[f].Uses}
		g.link()
		for _, loop := range g.cycles() {
			waits := false
			for _, n := range loop {
				u := &g.Nodes[n]
				waits = waits || u.ReadsStrongly() || u.Does(ptx.Calls)
			}
			if !waits {
				continue
			}
			for _, n := range loop {
				all[g.Nodes[n].PC] = true
			}
		}
		if calls && f > 0 { // its calls may be in a loop
			for i := range g.Nodes {
				all[g.Nodes[i].PC] = true
			}
		}
	}
	return all
}

// cycles lists the sets of nodes that each lead to all of their set, itself included (Tarjan,
// Depth-first search and linear graph algorithms, 1972).
func (g *Graph) cycles() (sets [][]int32) {
	type visit struct{ n, next int32 }
	number, low := make([]int32, len(g.Next)), make([]int32, len(g.Next)) // from 1 on
	open := make([]bool, len(g.Next))
	var stack []int32
	count := int32(0)
	for root := range g.Nodes {
		if number[root] != 0 {
			continue
		}
		var path []visit
		enter := func(n int32) {
			count++
			number[n], low[n], open[n] = count, count, true
			stack, path = append(stack, n), append(path, visit{n: n})
		}
		for enter(int32(root)); len(path) > 0; {
			v := &path[len(path)-1]
			if int(v.next) < len(g.Next[v.n]) {
				to := g.Next[v.n][v.next]
				v.next++
				switch {
				case number[to] == 0:
					enter(to)
				case open[to]:
					low[v.n] = min(low[v.n], number[to])
				}
				continue
			}
			n := v.n
			if path = path[:len(path)-1]; len(path) > 0 {
				up := path[len(path)-1].n
				low[up] = min(low[up], low[n])
			}
			if low[n] != number[n] {
				continue
			}
			at := len(stack) - 1
			for stack[at] != n {
				at--
			}
			for _, k := range stack[at:] {
				open[k] = false
			}
			if len(stack)-at > 1 || g.leadsTo(n, n) {
				sets = append(sets, append([]int32(nil), stack[at:]...))
			}
			stack = stack[:at]
		}
	}
	return sets
}

// leadsTo reports whether an edge leads from one node to another.
func (g *Graph) leadsTo(from, to int32) bool {
	for _, n := range g.Next[from] {
		if n == to {
			return true
		}
	}
	return false
}
