package machine

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
	// Cooperative: all CTAs of the grid are resident together.
	Cooperative bool
}

// Shape returns the launch's shape.
func (m *Machine) Shape() Shape {
	return Shape{CTAs: int(m.total), Warps: int(m.warps), Threads: int(m.block), Cluster: int(m.csize), Clusters: m.clusters(), Cooperative: m.cfg.Cooperative}
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
	if m.csize == 1 || m.cfg.Grid[1]*m.cfg.Grid[2] == 1 {
		return nil
	}
	out := make([]int32, m.total)
	for i := range m.total / m.csize {
		first := m.clusterFirst(i)
		for r := range m.csize {
			out[m.clusterMember(first, r)] = i
		}
	}
	return out
}
