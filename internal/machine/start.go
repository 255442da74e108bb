package machine

import (
	"fmt"
	"sort"
)

// How a launch starts and ends: its shape, the map of global memory, and the
// start and end of CTAs, cluster by cluster.

// New prepares a launch. Errors concern the launch: sizes that no target takes,
// or that contradict the kernel's declarations.
func New(cfg Config) (*Machine, error) {
	m := &Machine{cfg: cfg, prog: cfg.Program, owner: owners.Add(1), circleAt: circleAfter}
	m.rounds = m.prog.rounds()
	m.cfg.collectives = m.cfg.collectives || m.prog.sequential || m.prog.tells
	if err := m.shape(); err != nil {
		return nil, err
	}
	if err := m.memoryMap(); err != nil {
		return nil, err
	}
	m.ctas = make([]*cta, m.total)
	m.stack = alignUp(m.prog.stack(uint64(m.cfg.MaxLocal)), pageBytes)
	return m, nil
}

// shape makes the grids and what follows from their shapes.
func (m *Machine) shape() error {
	c := &m.cfg
	for i := range c.Cluster {
		c.Cluster[i] = max(c.Cluster[i], 1)
	}
	for i, l := range c.Launches() {
		g, err := m.newGrid(l, int32(i), m.total)
		if err != nil {
			return err
		}
		m.grids = append(m.grids, g)
		m.at = append(m.at, progress{until: g.clusters()})
		m.total += g.total
		m.warps, m.block = max(m.warps, g.warps), max(m.block, g.block)
	}
	m.goal = m.total
	m.csize = m.grids[0].csize
	if c.MaxResident == 0 {
		c.MaxResident = 64
	}
	c.MaxLocal = c.localLimit()
	return nil
}

func (c *Config) localLimit() uint32 {
	if c.MaxLocal == 0 {
		return 512 << 10
	}
	return c.MaxLocal
}

// maxResident is how many CTAs the largest card holds at a time (H200: 132
// SMs with 32 CTAs each): a kernel that waits for more CTAs waits for ever.
const maxResident = 132 * 32

// MaxCTAs is the largest grid, in CTAs, that the machine takes.
const MaxCTAs = 1 << 22

func (m *Machine) memoryMap() error {
	g := &m.global
	add := func(name string, base, size uint64, data []byte, init, ro bool) {
		r := newRegion(name, base, size)
		r.born, r.fixed = init, ro
		r.put(0, data, m.owner)
		g.regions = append(g.regions, r)
	}
	for _, v := range m.prog.globals {
		data := v.data
		if first := m.cfg.Variables[v.name]; len(first) > 0 {
			if uint64(len(first)) > v.size {
				return fmt.Errorf("variable %s: %d bytes of contents for %d bytes", v.name, len(first), v.size)
			}
			data = make([]byte, max(len(first), len(v.data)))
			copy(data, v.data)
			copy(data, first)
		}
		add(v.name, v.addr, max(v.size, 1), data, v.init, v.ro)
	}
	for _, b := range m.cfg.Buffers {
		if uint64(len(b.Data)) > b.Size {
			return fmt.Errorf("buffer %s: %d bytes of data for %d bytes", b.Name, len(b.Data), b.Size)
		}
		add(b.Name, b.Base, b.Size, b.Data, b.Init, false)
	}
	for _, s := range m.cfg.Workspaces() {
		add(s.Name, s.Addr, s.Size, nil, true, false)
	}
	sortRegions(g.regions)
	for i := 1; i < len(g.regions); i++ {
		if a, b := &g.regions[i-1], &g.regions[i]; a.base+a.size > b.base {
			return fmt.Errorf("buffers %s and %s overlap at %#x", a.name, b.name, b.base)
		}
	}
	return nil
}

// Workspaces returns what the driver allots to the grids of cooperative launches, zeroed: two
// words of 32 bits each. Of these cooperative groups uses the second as the grid's barrier.
func (c *Config) Workspaces() []Symbol {
	var list []Symbol
	for i, l := range c.Launches() {
		if l.Cooperative {
			list = append(list, Symbol{Name: "grid workspace", Addr: workspace(int32(i)), Size: 8, Elem: 4, Align: 8})
		}
	}
	return list
}

func workspace(grid int32) uint64 { return workspaceAt - 256*uint64(grid) }

// workspaceHalf reads %envreg1 and %envreg2, the upper and the lower half of the workspace's
// address.
func workspaceHalf(shift uint) func(*ctx) uint64 {
	return func(x *ctx) uint64 {
		if !x.c.g.Cooperative {
			return 0
		}
		return workspace(x.c.g.index) >> shift & (1<<32 - 1)
	}
}

// startCluster starts the next cluster of a grid: its CTAs become resident together.
func (m *Machine) startCluster(g *grid) {
	p := &m.at[g.index]
	first := g.clusterFirst(p.started)
	p.started++
	for r := int32(0); r < g.size(first); r++ {
		if !m.spend(stepWork * int64(g.warps)) {
			return
		}
		m.startCTA(g, g.clusterMember(first, r), first, r)
	}
	m.resident += g.size(first)
}

func (m *Machine) startCTA(g *grid, index, first, rank int32) {
	t := &cta{index: index, first: first, rank: rank, g: g, live: int32(g.block), id: g.place(index)}
	size := g.entry.Static
	if g.Shared > 0 {
		size = g.entry.DynamicAt - SharedBase + g.Shared
	}
	t.shared = newRegion("shared", SharedBase, size)
	if g.entry.reserved {
		t.shared = newRegion("shared", 0, SharedBase+size)
		t.shared.put(0, make([]byte, smemLent), m.owner)
	}
	f := &m.prog.funcs[g.entry.fn]
	t.warps = make([]*warp, g.warps)
	for i := range t.warps {
		n := min(32, g.block-uint32(i)*32)
		w := &warp{index: int32(i), cta: index, live: uint32(1<<n - 1), regs: g.Registers}
		w.r32 = make([][32]uint32, f.n32)
		w.r64 = make([][32]uint64, f.n64)
		w.p = make([]uint32, f.np)
		w.splits = []*split{{pc: f.entry, mask: w.live}}
		w.lsize = m.stack
		w.local = newRegion("local", 0, 32*w.lsize)
		t.warps[i] = w
	}
	m.ctas[index] = t
	m.running = append(m.running, index)
	m.emit(Event{Kind: EvStart, CTA: index})
	for _, w := range t.warps {
		m.grow(w, w.splits[0], f)
		m.unsetFrame(w, w.splits[0], f, w.live)
		m.settle(w)
		if m.stop != nil {
			return
		}
	}
}

func (m *Machine) endCTA(t *cta) {
	t.ended = true
	m.ended++
	p := &m.at[t.g.index]
	p.ended++
	if !t.triggered {
		p.triggered++
	}
	for i, idx := range m.running {
		if idx == t.index {
			m.running = append(m.running[:i], m.running[i+1:]...)
			break
		}
	}
	m.leavesColumns(t)
	m.emit(Event{Kind: EvEnd, CTA: t.index})
	for r := int32(0); r < t.g.size(t.first); r++ {
		if !m.ctas[t.g.clusterMember(t.first, r)].ended {
			return
		}
	}
	// The cluster's memory is freed when its last CTA has ended and nothing in
	// flight uses it.
	m.resident -= t.g.size(t.first)
	m.dead = append(m.dead, t.first)
	m.reap()
}

// reap frees the memory of ended clusters that no operation in flight uses.
func (m *Machine) reap() {
	keep := m.dead[:0]
	for _, first := range m.dead {
		if m.inFlight(first) {
			keep = append(keep, first)
			continue
		}
		g := m.gridOf(first)
		for r := int32(0); r < g.size(first); r++ {
			m.ctas[g.clusterMember(first, r)] = nil
		}
	}
	m.dead = keep
}

func (m *Machine) inFlight(first int32) bool {
	for _, op := range m.ops {
		if t := m.ctas[op.CTA]; t != nil && t.first == first {
			return true
		}
	}
	return false
}

func sortRegions(r []region) {
	sort.Slice(r, func(i, j int) bool { return r[i].base < r[j].base })
}
