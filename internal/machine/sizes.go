package machine

import "fmt"

// Preferred clusters (CUDA, cudaLaunchAttributePreferredClusterDimension). A launch may have
// two sizes of clusters. Where the grid is cut into clusters of the preferred size, each of
// them runs as one cluster, or as the clusters of the regular size that cover the same CTAs:
// a choice of the device, and so of the schedule. "Each type of cluster will have its
// enumeration and coordinate setup as if the grid consists solely of its type of cluster":
// %clusterid, %nclusterid, %cluster_ctaid, %cluster_nctaid and their ranks are those of the
// CTA's own cluster.
//
// The choice is made before the run: whether a cluster gets one size or the other shows in
// what it does alone, and never in when it starts. Without a choice all clusters are
// regular.

// A clusterAt is a cluster of a grid that has two sizes of clusters.
type clusterAt struct {
	first int32
	dims  [3]uint32
}

// A mix is which CTAs are clusters where some are preferred ones and some are not: in the
// order of the preferred ones, and within one in that of the regular ones.
type mix struct {
	list []clusterAt
	of   []int32 // by CTA of the grid, its place in list
}

// clusters is how many clusters the grid has.
func (g *grid) clusters() int32 {
	if g.mix != nil {
		return int32(len(g.mix.list))
	}
	return g.total / g.csize
}

// dims are the extents of the cluster of a CTA.
func (g *grid) dims(cta int32) [3]uint32 {
	if g.mix != nil {
		return g.mix.list[g.mix.of[cta-g.first]].dims
	}
	return g.Cluster
}

// size is how many CTAs the cluster of a CTA has.
func (g *grid) size(cta int32) int32 {
	if g.mix != nil {
		return int32(volume(g.dims(cta)))
	}
	return g.csize
}

// ctas is how many CTAs the clusters from one up to another have.
func (g *grid) ctas(from, until int32) int32 {
	if g.mix == nil {
		return (until - from) * g.csize
	}
	n := int32(0)
	for _, c := range g.mix.list[from:until] {
		n += int32(volume(c.dims))
	}
	return n
}

func volume(d [3]uint32) uint64 { return uint64(d[0]) * uint64(d[1]) * uint64(d[2]) }

// prefers reports whether the launch has a second size of clusters.
func (l *Launch) prefers() bool { return l.Preferred != [3]uint32{} && l.Preferred != l.Cluster }

// checkPreferred checks the preferred size against the launch.
func (l *Launch) checkPreferred() error {
	p := l.Preferred
	if p == ([3]uint32{}) {
		return nil
	}
	if n := volume(p); n == 0 || n > 16 {
		return fmt.Errorf("preferred cluster %dx%dx%d has %d CTAs; from 1 to 16 are allowed", p[0], p[1], p[2], n)
	}
	for i := range p {
		if p[i]%l.Cluster[i] != 0 {
			return fmt.Errorf("preferred cluster %v is no multiple of cluster %v", p, l.Cluster)
		}
		if l.Grid[i]%p[i] != 0 {
			return fmt.Errorf("grid %v is no multiple of preferred cluster %v", l.Grid, p)
		}
	}
	return nil
}

// preferredGrid returns the grid as if all of its clusters were preferred ones.
func (g *grid) preferredGrid() *grid {
	p := *g
	p.Cluster, p.csize, p.mix = g.Preferred, int32(volume(g.Preferred)), nil
	return &p
}

// PreferredClusters returns the first CTAs of the clusters that a machine's launches would
// have if all had the preferred size, of the launches that have one.
func (m *Machine) PreferredClusters() []int32 {
	var list []int32
	for _, g := range m.grids {
		if !g.prefers() {
			continue
		}
		p := g.preferredGrid()
		for i := range p.clusters() {
			list = append(list, p.clusterFirst(i))
		}
	}
	return list
}

// PreferredOf returns the first CTA of the preferred cluster that would cover a CTA; of a
// launch without a preferred size, the first CTA of its cluster.
func (m *Machine) PreferredOf(cta int32) int32 {
	g := m.gridOf(cta)
	if !g.prefers() {
		return g.clusterOrigin(cta)
	}
	return g.preferredGrid().clusterOrigin(cta)
}

// PreferAll gives all clusters of a machine whose run has not begun the preferred size.
func (m *Machine) PreferAll() {
	for i, g := range m.grids {
		if g.prefers() {
			m.setGrid(i, g.preferredGrid())
		}
	}
}

// Prefer gives the preferred size to the clusters that begin at these CTAs, in a machine
// whose run has not begun. It reports whether preferred clusters begin there.
func (m *Machine) Prefer(firsts ...int32) bool {
	of := map[*grid]map[int32]bool{}
	for _, cta := range firsts {
		if cta < 0 || cta >= m.total {
			return false
		}
		g := m.gridOf(cta)
		if !g.prefers() || g.preferredGrid().clusterOrigin(cta) != cta {
			return false
		}
		if of[g] == nil {
			of[g] = map[int32]bool{}
		}
		of[g][cta] = true
	}
	for i, g := range m.grids {
		if of[g] != nil {
			m.setGrid(i, g.mixed(of[g]))
		}
	}
	return true
}

// mixed returns the grid in which the preferred clusters that begin at these CTAs run as
// such, besides those that did so before.
func (g *grid) mixed(firsts map[int32]bool) *grid {
	n, p := *g, g.preferredGrid()
	n.csize, n.mix = p.csize, &mix{of: make([]int32, g.total)}
	add := func(first int32, dims [3]uint32) {
		one := grid{Launch: Launch{Grid: g.Grid, Cluster: dims}, first: g.first}
		for r := range int32(volume(dims)) {
			n.mix.of[one.clusterMember(first, r)-g.first] = int32(len(n.mix.list))
		}
		n.mix.list = append(n.mix.list, clusterAt{first, dims})
	}
	for i := range p.clusters() {
		first := p.clusterFirst(i)
		if firsts[first] || g.mix != nil && g.dims(first) == g.Preferred {
			add(first, g.Preferred)
			continue
		}
		at := g.place(first)
		parts := [3]uint32{g.Preferred[0] / g.Cluster[0], g.Preferred[1] / g.Cluster[1], g.Preferred[2] / g.Cluster[2]}
		for k := range uint32(volume(parts)) {
			x, y, z := k%parts[0], k/parts[0]%parts[1], k/parts[0]/parts[1]
			add(g.first+int32(at[0]+x*g.Cluster[0]+g.Grid[0]*(at[1]+y*g.Cluster[1]+g.Grid[1]*(at[2]+z*g.Cluster[2]))), g.Cluster)
		}
	}
	return &n
}

// setGrid replaces a grid by one with other clusters.
func (m *Machine) setGrid(i int, g *grid) {
	grids := append([]*grid(nil), m.grids...) // forks share the list
	grids[i] = g
	m.grids = grids
	m.at[i].until = g.clusters()
	if i == 0 {
		m.csize = g.csize
	}
}
