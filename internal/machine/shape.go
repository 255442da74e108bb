package machine

import "slices"

// A Shape says how many CTAs, warps and threads a launch has, and which CTAs share a
// cluster.
type Shape struct {
	CTAs    int // in the grid
	Warps   int // a CTA
	Threads int // a CTA; 0 means 32 a warp
	Cluster int // CTAs a cluster; 0 means 1
	// Clusters gives each CTA's cluster, counted from 0 in the order in which clusters
	// start; nil where clusters are consecutive CTAs, as in a grid of one dimension.
	Clusters []int32
	// Grids are the launches, nil if there is one.
	Grids []GridShape
	// Cooperative: all CTAs of the grid are resident together.
	Cooperative bool
}

// A GridShape is one launch of several.
type GridShape struct {
	First, CTAs int // its CTAs
	Threads     int // a CTA
	// Before and Awaited are the launches that have completed when it begins, and when its
	// griddepcontrol.wait is over.
	Before, Awaited []int
	// Triggers are those whose CTAs have executed griddepcontrol.launch_dependents, or ended,
	// when it begins.
	Triggers []int
}

// Shape returns the launch's shape. Of several, Warps, Threads and Cluster are the largest.
func (m *Machine) Shape() Shape {
	s := Shape{CTAs: int(m.total), Warps: int(m.warps), Threads: int(m.block), Clusters: m.clusters()}
	for _, g := range m.grids {
		s.Cluster = max(s.Cluster, int(g.csize))
		s.Cooperative = s.Cooperative || g.Cooperative
		if len(m.grids) == 1 {
			break
		}
		shape := GridShape{First: int(g.first), CTAs: int(g.total), Threads: int(g.block)}
		for _, a := range g.After {
			before := &s.Grids[a.Launch]
			shape.Awaited = append(append(shape.Awaited, a.Launch), before.Awaited...)
			shape.Before = append(shape.Before, before.Before...)
			if a.Programmatic {
				shape.Triggers = append(shape.Triggers, a.Launch)
			} else {
				shape.Before = append(append(shape.Before, a.Launch), before.Awaited...)
			}
		}
		for _, list := range []*[]int{&shape.Before, &shape.Awaited} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
		s.Grids = append(s.Grids, shape)
	}
	return s
}

// GridOf returns the number of the launch of a CTA.
func (s *Shape) GridOf(cta int32) int {
	lo, hi := 0, len(s.Grids)
	for lo+1 < hi {
		if mid := (lo + hi) / 2; int(cta) >= s.Grids[mid].First {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// ClusterOf returns the number of a CTA's cluster.
func (s *Shape) ClusterOf(cta int32) int32 {
	if s.Clusters != nil {
		return s.Clusters[cta]
	}
	return cta / int32(max(s.Cluster, 1))
}

// clusters gives each CTA's cluster, nil where clusters are consecutive CTAs.
func (m *Machine) clusters() []int32 {
	if len(m.grids) == 1 && m.grids[0].mix == nil && (m.csize == 1 || m.cfg.Grid[1]*m.cfg.Grid[2] == 1) {
		return nil
	}
	out, n := make([]int32, m.total), int32(0)
	for _, g := range m.grids {
		for i := range g.clusters() {
			first := g.clusterFirst(i)
			for r := range g.size(first) {
				out[g.clusterMember(first, r)] = n
			}
			n++
		}
	}
	return out
}
