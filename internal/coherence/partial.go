package coherence

import (
	"slices"

	"muster/internal/machine"
)

// A place is a word with its accesses, in the order of the steps, and a coherence order.
type place struct {
	r      *Racing
	ops    []*op
	causal [][]bool // causality order (8.9.5)
	after  [][]bool // coherence order, transitive
}

// orders calls f with each coherence order of a word that the axioms allow, until f returns
// false; all reports that it was called with all of them.
func (r *Racing) orders(ops []*op, f func(*place) bool) (all bool) {
	p := &place{r: r, ops: ops}
	p.causal, p.after = square(len(ops)), square(len(ops))
	for j, b := range ops {
		for i, a := range ops[:j] {
			p.causal[i][j] = r.preserved(a, b)
			for _, z := range ops[i+1 : j] {
				p.causal[i][j] = p.causal[i][j] || z.reads && r.preserved(z, b) && r.observes(z, a)
			}
		}
	}
	for j, b := range ops {
		for i, a := range ops[:j] {
			if a.writes && b.writes && p.causal[i][j] {
				p.add(i, j)
			}
		}
	}
	return p.extend(0, 0, f)
}

func square(n int) [][]bool {
	m, all := make([][]bool, n), make([]bool, n*n)
	for i := range m {
		m[i] = all[i*n : (i+1)*n]
	}
	return m
}

// add adds a pair to coherence order, and what follows from it.
func (p *place) add(i, j int) {
	for a := range p.ops {
		if a != i && !p.after[a][i] {
			continue
		}
		for b := range p.ops {
			if b == j || p.after[j][b] {
				p.after[a][b] = true
			}
		}
	}
}

// extend orders each two morally strong writes from a pair on, in either way.
func (p *place) extend(i, j int, f func(*place) bool) bool {
	if !p.consistent() {
		return true
	}
	for ; j < len(p.ops); i, j = 0, j+1 {
		for ; i < j; i++ {
			a, b := p.ops[i], p.ops[j]
			if !a.writes || !b.writes || p.after[i][j] || p.after[j][i] || !p.r.strong(a, b) {
				continue
			}
			old := p.after
			for _, way := range [2][2]int{{i, j}, {j, i}} {
				p.after = square(len(p.ops))
				for k := range old {
					copy(p.after[k], old[k])
				}
				if p.add(way[0], way[1]); !p.extend(i+1, j, f) {
					return false
				}
			}
			p.after = old
			return true
		}
	}
	return f(p)
}

// older reports whether the write that a read takes its value from comes before another one: what
// was there at the beginning comes before all.
func (p *place) older(read *op, w int) bool {
	if read.from == nil {
		return true
	}
	for i, o := range p.ops {
		if o == read.from {
			return p.after[i][w]
		}
	}
	return false
}

// consistent reports whether the known part of coherence order satisfies the axioms of 8.10.
func (p *place) consistent() bool {
	for i := range p.ops {
		if p.after[i][i] {
			return false
		}
	}
	for k, read := range p.ops {
		if !read.reads {
			continue
		}
		for w, o := range p.ops {
			if w == k || !o.writes || o == read.from || !p.older(read, w) {
				continue
			}
			if p.causal[w][k] || // Causality (8.10.6)
				read.updates && read.writes && p.after[w][k] && p.r.strong(o, read) { // Atomicity (8.10.3)
				return false
			}
		}
	}
	return p.perLocation()
}

// perLocation is Sequential Consistency per Location (8.10.5): among accesses that are pairwise
// morally strong, program order and communication order (8.9.7) have no cycle.
func (p *place) perLocation() bool {
	next := make([][]int, len(p.ops))
	for i, a := range p.ops {
		for j, b := range p.ops {
			if i != j && p.r.strong(a, b) && (a.sameThread(b) && i < j || p.communicates(i, j)) {
				next[i] = append(next[i], j)
			}
		}
	}
	var path []int
	var walk func(i int) bool
	walk = func(i int) bool {
		for _, o := range path {
			if !p.r.strong(p.ops[o], p.ops[i]) {
				return false
			}
		}
		path = append(path, i)
		defer func() { path = path[:len(path)-1] }()
		for _, j := range next[i] {
			if j == path[0] {
				return true
			}
			if j > path[0] && !slices.Contains(path, j) && walk(j) { // a cycle is found from its first one
				return true
			}
		}
		return false
	}
	for i := range p.ops {
		if walk(i) {
			return false
		}
	}
	return true
}

func (p *place) communicates(i, j int) bool {
	a, b := p.ops[i], p.ops[j]
	return b.reads && b.from == a || a.writes && b.writes && p.after[i][j] || a.reads && b.writes && a.from != b && p.older(a, j)
}

// newest lists the versions that none follows.
func (p *place) newest() (names []machine.Version) {
	for i, o := range p.ops {
		last := o.writes
		for j := range p.ops {
			last = last && !p.after[i][j]
		}
		if last {
			names = append(names, o.name)
		}
	}
	if names == nil {
		names = []machine.Version{machine.Initial}
	}
	return names
}
