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

func (m *Machine) shape() error {
	c := &m.cfg
	vol := func(d [3]uint32) uint64 { return uint64(d[0]) * uint64(d[1]) * uint64(d[2]) }
	for i := range c.Cluster {
		if c.Cluster[i] == 0 {
			c.Cluster[i] = 1
		}
	}
	if n := vol(c.Cluster); n > 16 {
		return fmt.Errorf("cluster %dx%dx%d has %d CTAs; at most 16 are allowed", c.Cluster[0], c.Cluster[1], c.Cluster[2], n)
	}
	n := vol(c.Block)
	if n == 0 || n > 1024 || c.Block[2] > 64 {
		return fmt.Errorf("block %dx%dx%d: a block has 1 to 1024 threads, at most 64 in z", c.Block[0], c.Block[1], c.Block[2])
	}
	if c.Grid[0] == 0 || c.Grid[1] == 0 || c.Grid[2] == 0 || c.Grid[0] > 1<<31-1 || c.Grid[1] > 65535 || c.Grid[2] > 65535 {
		return fmt.Errorf("grid %dx%dx%d: extents are 1 to 2147483647, 65535, 65535", c.Grid[0], c.Grid[1], c.Grid[2])
	}
	g := uint64(c.Grid[0]) * uint64(c.Grid[1]*c.Grid[2])
	if g > MaxCTAs {
		return fmt.Errorf("grid %dx%dx%d has %d CTAs; this machine takes at most %d", c.Grid[0], c.Grid[1], c.Grid[2], g, MaxCTAs)
	}
	for i := range c.Cluster {
		if c.Grid[i]%c.Cluster[i] != 0 {
			return fmt.Errorf("grid %v is no multiple of cluster %v", c.Grid, c.Cluster)
		}
	}
	if SharedBase+m.prog.Static+c.Shared > maxShared {
		return fmt.Errorf("shared memory: %d static and %d dynamic bytes are more than an address can reach", m.prog.Static, c.Shared)
	}
	if f := &m.prog.funcs[0]; uint64(f.local) > uint64(c.localLimit()) {
		return fmt.Errorf("kernel %s takes %d bytes of local memory a thread; the limit is %d", f.name, f.local, c.localLimit())
	}
	m.block, m.warps, m.total = uint32(n), int32(n+31)/32, int32(g)
	m.csize = int32(vol(c.Cluster))
	m.until, m.goal = m.total/m.csize, m.total
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
	if s, ok := m.cfg.Workspace(); ok {
		add(s.Name, s.Addr, s.Size, nil, true, false)
	}
	sortRegions(g.regions)
	for i := 1; i < len(g.regions); i++ {
		if a, b := &g.regions[i-1], &g.regions[i]; a.base+a.size > b.base {
			return fmt.Errorf("buffers %s and %s overlap at %#x", a.name, b.name, b.base)
		}
	}
	m.params = newRegion("parameters", paramWindow, max(uint64(len(m.cfg.Params)), 1))
	m.params.born, m.params.fixed = true, true
	m.params.put(0, m.cfg.Params, m.owner)
	return nil
}

// Workspace returns what the driver allots to the grid of a cooperative launch, zeroed: two
// words of 32 bits. Of these cooperative groups uses the second as the grid's barrier.
func (c *Config) Workspace() (Symbol, bool) {
	return Symbol{Name: "grid workspace", Addr: workspaceAt, Size: 8, Elem: 4, Align: 8}, c.Cooperative
}

// workspaceHalf reads %envreg1 and %envreg2, the upper and the lower half of the workspace's
// address.
func workspaceHalf(shift uint) func(*ctx) uint64 {
	return func(x *ctx) uint64 {
		s, ok := x.m.cfg.Workspace()
		if !ok {
			return 0
		}
		return s.Addr >> shift & (1<<32 - 1)
	}
}

// startCluster starts the next cluster: its CTAs become resident together.
func (m *Machine) startCluster() {
	first := m.clusterFirst(m.started)
	m.started++
	for r := int32(0); r < m.csize; r++ {
		if !m.spend(stepWork * int64(m.warps)) {
			return
		}
		m.startCTA(m.clusterMember(first, r), first, r)
	}
	m.resident += m.csize
}

// clusterFirst returns the linear index of the first CTA of cluster i:
// clusters tile the grid, x fastest.
func (m *Machine) clusterFirst(i int32) int32 {
	g, k := m.cfg.Grid, m.cfg.Cluster
	nx, ny := int32(g[0]/k[0]), int32(g[1]/k[1])
	x, y, z := i%nx, i/nx%ny, i/nx/ny
	return x*int32(k[0]) + int32(g[0])*(y*int32(k[1])+int32(g[1])*z*int32(k[2]))
}

// clusterMember returns the linear index of the CTA of that rank.
func (m *Machine) clusterMember(first, rank int32) int32 {
	g, k := m.cfg.Grid, m.cfg.Cluster
	x, y, z := rank%int32(k[0]), rank/int32(k[0])%int32(k[1]), rank/int32(k[0]*k[1])
	return first + x + int32(g[0])*(y+int32(g[1])*z)
}

func (m *Machine) startCTA(index, first, rank int32) {
	g := m.cfg.Grid
	t := &cta{index: index, first: first, rank: rank, live: int32(m.block)}
	t.id = [3]uint32{uint32(index) % g[0], uint32(index) / g[0] % g[1], uint32(index) / g[0] / g[1]}
	size := m.prog.Static
	if m.cfg.Shared > 0 {
		size = m.prog.DynamicAt - SharedBase + m.cfg.Shared
	}
	t.shared = newRegion("shared", SharedBase, size)
	if m.prog.reserved {
		t.shared = newRegion("shared", 0, SharedBase+size)
		t.shared.put(0, make([]byte, smemLent), m.owner)
	}
	f := &m.prog.funcs[0]
	t.warps = make([]*warp, m.warps)
	for i := range t.warps {
		n := min(32, m.block-uint32(i)*32)
		w := &warp{index: int32(i), cta: index, live: uint32(1<<n - 1), regs: m.cfg.Registers}
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
	for i, idx := range m.running {
		if idx == t.index {
			m.running = append(m.running[:i], m.running[i+1:]...)
			break
		}
	}
	m.emit(Event{Kind: EvEnd, CTA: t.index})
	for r := int32(0); r < m.csize; r++ {
		if !m.ctas[m.clusterMember(t.first, r)].ended {
			return
		}
	}
	// The cluster's memory is freed when its last CTA has ended and nothing in
	// flight uses it.
	m.resident -= m.csize
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
		for r := int32(0); r < m.csize; r++ {
			m.ctas[m.clusterMember(first, r)] = nil
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
