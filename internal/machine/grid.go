package machine

import (
	"fmt"
	"slices"
)

// Launches that run side by side. Each has a kernel of the program, a shape and parameters;
// all share global memory. The first is given by the fields of Config itself. What orders
// them is stated as prerequisites: a launch may begin when its prerequisites have completed,
// or, if it depends on one programmatically, when each CTA of that one has executed
// griddepcontrol.launch_dependents or has ended. griddepcontrol.wait waits until all
// prerequisites have completed (ISA 9.7.13.13). A launch has completed when its CTAs have
// ended, its asynchronous operations are done, and its prerequisites have completed: so it is
// on an H200 where a launch never waits (testdata/card/dependent.txt).

// A Launch is one of the launches of a machine.
type Launch struct {
	Entry       int // of Program.Entries
	Grid        [3]uint32
	Block       [3]uint32
	Cluster     [3]uint32
	Preferred   [3]uint32 // of clusters, zero for none: see sizes.go
	Shared      uint64
	Registers   uint32
	Params      []byte
	Cooperative bool
	// CoResident is how many CTAs share a multiprocessor and its tensor memory; 0 for one.
	CoResident uint32
	After      []Prerequisite
}

// A Prerequisite is a launch that another comes after.
type Prerequisite struct {
	Launch int // its number; the first is 0
	// Programmatic: the dependent launch may begin before this one has completed.
	Programmatic bool
}

// A grid is a launch as the machine runs it. It does not change.
type grid struct {
	Launch
	entry *Entry
	index int32
	block uint32 // threads a CTA
	warps int32  // warps a CTA
	total int32  // CTAs
	csize int32  // CTAs a cluster; of a mix, of its largest
	first int32  // its first CTA
	mix   *mix   // nil: all clusters have one size
}

// A progress is how far a grid is.
type progress struct {
	started   int32 // the next cluster to start
	until     int32 // the first cluster that does not start
	ended     int32 // CTAs ended
	triggered int32 // CTAs that have executed launch_dependents or ended
	granted   int32 // how many of the clusters of Grant were given
}

// First sets the first launch, which comes after none.
func (c *Config) First(l Launch) {
	c.Grid, c.Block, c.Cluster, c.Preferred, c.Shared, c.Registers, c.Params, c.Cooperative, c.CoResident = l.Grid, l.Block, l.Cluster, l.Preferred, l.Shared, l.Registers, l.Params, l.Cooperative, l.CoResident
}

// Launches returns the configuration's launches.
func (c *Config) Launches() []Launch {
	first := Launch{Grid: c.Grid, Block: c.Block, Cluster: c.Cluster, Preferred: c.Preferred, Shared: c.Shared, Registers: c.Registers, Params: c.Params, Cooperative: c.Cooperative, CoResident: c.CoResident}
	return append([]Launch{first}, c.More...)
}

// newGrid checks a launch's shape and makes its grid, which begins at CTA first.
func (m *Machine) newGrid(l Launch, index, first int32) (*grid, error) {
	for i := range l.Cluster {
		if l.Cluster[i] == 0 {
			l.Cluster[i] = 1
		}
	}
	e := m.prog.Entries()[l.Entry]
	if n := volume(l.Cluster); n > 16 {
		return nil, fmt.Errorf("cluster %dx%dx%d has %d CTAs; at most 16 are allowed", l.Cluster[0], l.Cluster[1], l.Cluster[2], n)
	}
	n := volume(l.Block)
	if n == 0 || n > 1024 || l.Block[2] > 64 {
		return nil, fmt.Errorf("block %dx%dx%d: a block has 1 to 1024 threads, at most 64 in z", l.Block[0], l.Block[1], l.Block[2])
	}
	if l.Grid[0] == 0 || l.Grid[1] == 0 || l.Grid[2] == 0 || l.Grid[0] > 1<<31-1 || l.Grid[1] > 65535 || l.Grid[2] > 65535 {
		return nil, fmt.Errorf("grid %dx%dx%d: extents are 1 to 2147483647, 65535, 65535", l.Grid[0], l.Grid[1], l.Grid[2])
	}
	g := uint64(l.Grid[0]) * uint64(l.Grid[1]*l.Grid[2])
	if g > MaxCTAs {
		return nil, fmt.Errorf("grid %dx%dx%d has %d CTAs; this machine takes at most %d", l.Grid[0], l.Grid[1], l.Grid[2], g, MaxCTAs)
	}
	if uint64(first)+g > MaxCTAs {
		return nil, fmt.Errorf("the launches have more than %d CTAs; this machine takes no more", MaxCTAs)
	}
	for i := range l.Cluster {
		if l.Grid[i]%l.Cluster[i] != 0 {
			return nil, fmt.Errorf("grid %v is no multiple of cluster %v", l.Grid, l.Cluster)
		}
	}
	if err := l.checkPreferred(); err != nil {
		return nil, err
	}
	if SharedBase+e.Static+l.Shared > maxShared {
		return nil, fmt.Errorf("shared memory: %d static and %d dynamic bytes are more than an address can reach", e.Static, l.Shared)
	}
	if f := &m.prog.funcs[e.fn]; uint64(f.local) > uint64(m.cfg.localLimit()) {
		return nil, fmt.Errorf("kernel %s takes %d bytes of local memory a thread; the limit is %d", f.name, f.local, m.cfg.localLimit())
	}
	for _, a := range l.After {
		if a.Launch < 0 || a.Launch >= int(index) {
			return nil, fmt.Errorf("launch %d comes after launch %d, which is not before it", index, a.Launch)
		}
	}
	r := &grid{Launch: l, entry: e, index: index, block: uint32(n), warps: int32(n+31) / 32, total: int32(g), csize: int32(volume(l.Cluster)), first: first}
	params := newRegion("parameters", paramWindow, max(uint64(len(l.Params)), 1))
	params.born, params.fixed = true, true
	params.put(0, l.Params, m.owner)
	m.params = append(m.params, params)
	return r, nil
}

// clusterFirst returns the linear index of the first CTA of cluster i:
// clusters tile the grid, x fastest.
func (g *grid) clusterFirst(i int32) int32 {
	if g.mix != nil {
		return g.mix.list[i].first
	}
	k := g.Cluster
	nx, ny := int32(g.Grid[0]/k[0]), int32(g.Grid[1]/k[1])
	x, y, z := i%nx, i/nx%ny, i/nx/ny
	return g.first + x*int32(k[0]) + int32(g.Grid[0])*(y*int32(k[1])+int32(g.Grid[1])*z*int32(k[2]))
}

// clusterMember returns the linear index of the CTA of that rank in the cluster whose first
// CTA is given.
func (g *grid) clusterMember(first, rank int32) int32 {
	k := g.dims(first)
	x, y, z := rank%int32(k[0]), rank/int32(k[0])%int32(k[1]), rank/int32(k[0]*k[1])
	return first + x + int32(g.Grid[0])*(y+int32(g.Grid[1])*z)
}

// place returns where in its grid a CTA lies.
func (g *grid) place(cta int32) [3]uint32 {
	i := uint32(cta - g.first)
	return [3]uint32{i % g.Grid[0], i / g.Grid[0] % g.Grid[1], i / g.Grid[0] / g.Grid[1]}
}

// clusterOrigin returns the first CTA of a CTA's cluster.
func (g *grid) clusterOrigin(cta int32) int32 {
	if g.mix != nil {
		return g.mix.list[g.mix.of[cta-g.first]].first
	}
	p, k := g.place(cta), g.Cluster
	return g.first + int32(p[0]-p[0]%k[0]+g.Grid[0]*(p[1]-p[1]%k[1]+g.Grid[1]*(p[2]-p[2]%k[2])))
}

// params are the parameters of the CTA's launch.
func (x *ctx) params() *region { return &x.m.params[x.c.g.index] }

// gridOf returns the grid of a CTA.
func (m *Machine) gridOf(cta int32) *grid {
	lo, hi := 0, len(m.grids)
	for lo+1 < hi {
		if mid := (lo + hi) / 2; m.grids[mid].first <= cta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return m.grids[lo]
}

// Launches is how many launches run.
func (m *Machine) Launches() int { return len(m.grids) }

// FirstCTA returns the first CTA of the launch to which a CTA belongs.
func (m *Machine) FirstCTA(cta int32) int32 { return m.gridOf(cta).first }

// GridOf returns the number of the launch to which a CTA belongs.
func (m *Machine) GridOf(cta int32) int { return int(m.gridOf(cta).index) }

// waits reports whether clusters of some grid have not started.
func (m *Machine) waits() bool {
	return slices.ContainsFunc(m.at, func(p progress) bool { return p.started < p.until })
}

// mayStart reports whether the next cluster of a grid can start, if as many CTAs are resident
// together as limit allows.
func (m *Machine) mayStart(g *grid, limit int32) bool {
	p := &m.at[g.index]
	return p.started < p.until && (m.resident+g.size(g.clusterFirst(p.started)) <= limit || m.resident == 0) && m.released(g)
}

// released reports whether what a grid comes after lets it begin.
func (m *Machine) released(g *grid) bool {
	for _, a := range g.After {
		before := m.grids[a.Launch]
		if a.Programmatic && m.at[a.Launch].triggered == before.total {
			continue
		}
		if !m.completed(before) {
			return false
		}
	}
	return true
}

// completed reports whether a grid has completed, and all that it comes after.
func (m *Machine) completed(g *grid) bool {
	if m.at[g.index].ended != g.total {
		return false
	}
	for _, op := range m.ops {
		if op.CTA >= g.first && op.CTA < g.first+g.total {
			return false
		}
	}
	return m.prerequisites(g)
}

// prerequisites reports whether all that a grid comes after has completed.
func (m *Machine) prerequisites(g *grid) bool {
	for _, a := range g.After {
		if !m.completed(m.grids[a.Launch]) {
			return false
		}
	}
	return true
}

// visitDependents performs griddepcontrol.launch_dependents.
func visitDependents(x *ctx, in *instr, mask uint32) verdict {
	m, t := x.m, x.c
	m.emit(Event{Kind: EvTrigger, CTA: t.index, Warp: x.w.index, Mask: mask, PC: x.s.pc})
	if !t.triggered {
		t.triggered = true
		m.at[t.g.index].triggered++
	}
	return performed
}

func readyGridWait(x *ctx, in *instr, mask uint32) bool { return x.m.prerequisites(x.c.g) }

// visitGridWait performs griddepcontrol.wait.
func visitGridWait(x *ctx, in *instr, mask uint32) verdict {
	x.m.emit(Event{Kind: EvGridWait, CTA: x.c.index, Warp: x.w.index, Mask: mask, PC: x.s.pc})
	return performed
}

// Inherit gives a machine that has not started the global memory that another left, which
// must not be stepped any more: what both have, and what only the other has.
func (m *Machine) Inherit(o *Machine) {
	for _, r := range o.global.clone().regions {
		i := slices.IndexFunc(m.global.regions, func(have region) bool { return have.base == r.base && have.size == r.size })
		if i < 0 {
			m.global.regions = append(m.global.regions, r)
		} else {
			m.global.regions[i] = r
		}
	}
	sortRegions(m.global.regions)
}

// Prerequisites returns the numbers of the launches that the launch of a CTA comes after, in
// any number of steps.
func (m *Machine) Prerequisites(cta int32) []int {
	var list []int
	var add func(g *grid)
	add = func(g *grid) {
		for _, a := range g.After {
			if !slices.Contains(list, a.Launch) {
				list = append(list, a.Launch)
				add(m.grids[a.Launch])
			}
		}
	}
	add(m.gridOf(cta))
	return list
}
