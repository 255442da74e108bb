package machine

import (
	"fmt"
	"math/bits"
)

// This file advances the machine. Between visible operations a split runs
// undisturbed, so that a state in which a choice is due has every split
// standing before a visible instruction, waiting, or gone. Step performs one
// visible operation of one split, or one milestone, or starts a cluster, and
// then settles: every split of that warp that can run runs on to its next
// visible instruction, the one furthest behind first, and splits that meet
// at one program counter merge.

// A Choice is one alternative of a schedule.
type Choice struct {
	Kind ChoiceKind
	CTA  int32
	Warp int32
	Lane int8  // lowest lane of the split
	Op   int64 // the operation, for Milestone
}

// A ChoiceKind says what a Choice does.
type ChoiceKind uint8

const (
	// Run performs the visible operation that a split stands before.
	Run ChoiceKind = iota
	// GiveUp lets a waiting split's test come out false, as a timeout or a
	// bound would, so that what follows a failed test runs.
	GiveUp
	// Milestone advances an asynchronous operation by one stage.
	Milestone
	// Start starts the next cluster; CTA is its first.
	Start
)

func (c Choice) String() string {
	switch c.Kind {
	case Run:
		return fmt.Sprintf("r%d.%d.%d", c.CTA, c.Warp, c.Lane)
	case GiveUp:
		return fmt.Sprintf("g%d.%d.%d", c.CTA, c.Warp, c.Lane)
	case Milestone:
		return fmt.Sprintf("m%d", c.Op)
	}
	return fmt.Sprintf("s%d", c.CTA)
}

// A verdict is what performing a visible instruction came to.
type verdict uint8

const (
	performed verdict = iota // go on with the next instruction
	jumped                   // the instruction set the program counter itself
	parked                   // it has done its part; the split is waiting
	halted                   // the run has stopped, or the split is gone
)

// A visitFn performs a visible instruction for the lanes in mask.
type visitFn func(x *ctx, in *instr, mask uint32) verdict

// ctx is where an instruction finds its operands: the running split's frame.
type ctx struct {
	m   *Machine
	c   *cta
	w   *warp
	s   *split
	r32 [][32]uint32
	r64 [][32]uint64
	p   []uint32
	k32 [][32]uint32
	k64 [][32]uint64
	// giveUp: a test that would wait comes out false.
	giveUp bool
	// quiet: the visible instruction has no effect that another agent, or a
	// later test of this split, could see.
	quiet bool
}

// w32 and w64 return a register's row, a32 and a64 a source's: a register or
// a constant.
func (x *ctx) w32(r reg) *[32]uint32 { return &x.r32[r] }
func (x *ctx) w64(r reg) *[32]uint64 { return &x.r64[r] }

func (x *ctx) a32(r reg) *[32]uint32 {
	if r >= 0 {
		return &x.r32[r]
	}
	return &x.k32[^r]
}

func (x *ctx) a64(r reg) *[32]uint64 {
	if r >= 0 {
		return &x.r64[r]
	}
	return &x.k64[^r]
}

// active returns the lanes of the split for which in's guard holds.
func (x *ctx) active(in *instr) uint32 {
	if in.guard == noGuard {
		return x.s.mask
	}
	if in.not {
		return x.s.mask &^ x.p[in.guard]
	}
	return x.s.mask & x.p[in.guard]
}

// enter points x at a split.
func (m *Machine) enter(w *warp, s *split) *ctx {
	x := &m.x
	x.m, x.c, x.w, x.s = m, m.ctas[w.cta], w, s
	x.r32, x.r64, x.p = w.r32[s.base32:], w.r64[s.base64:], w.p[s.basep:]
	x.k32, x.k64 = m.prog.k32, m.prog.k64
	x.giveUp, x.quiet = false, false
	return x
}

// New prepares a launch. Errors are of the launch: sizes that no target
// takes, or that do not fit what the kernel declares.
func New(cfg Config) (*Machine, error) {
	m := &Machine{cfg: cfg, prog: cfg.Program, owner: owners.Add(1)}
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

// mostResident is how many CTAs the largest card holds at a time (H200: 132
// SMs with 32 CTAs each): a kernel that waits for more waits for ever.
const mostResident = 132 * 32

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
		add(v.name, v.addr, max(v.size, 1), v.data, v.init, v.ro)
	}
	for _, b := range m.cfg.Buffers {
		if uint64(len(b.Data)) > b.Size {
			return fmt.Errorf("buffer %s: %d bytes of data for %d bytes", b.Name, len(b.Data), b.Size)
		}
		add(b.Name, b.Base, b.Size, b.Data, b.Init, false)
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

// startCluster starts the next cluster: its CTAs become resident together.
func (m *Machine) startCluster() {
	first := m.clusterFirst(m.started)
	m.started++
	for r := int32(0); r < m.csize; r++ {
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
		m.settle(w)
		if m.stop != nil {
			return
		}
	}
}

// emit shows an event to the observer.
func (m *Machine) emit(ev Event) {
	if m.cfg.Observer != nil {
		m.ev = ev
		m.cfg.Observer.Observe(m, &m.ev)
	}
}

// halt ends the run.
func (m *Machine) halt(s Stop) verdict {
	if m.stop == nil {
		m.stop = &s
	}
	return halted
}

// settle runs the splits of w until each stands before a visible
// instruction, waits, or is gone.
func (m *Machine) settle(w *warp) {
	for m.stop == nil {
		i := w.behind()
		if i < 0 {
			return
		}
		if len(w.splits) == 1 {
			m.runAlone(w, w.splits[i])
			continue
		}
		m.runAmong(w, w.splits[i])
	}
}

// behind returns the running split to run next: the deepest call first, then
// the lowest program counter; -1 if none runs.
func (w *warp) behind() int {
	best := -1
	for i, s := range w.splits {
		if s.state != running {
			continue
		}
		if best < 0 || s.before(w.splits[best]) {
			best = i
		}
	}
	return best
}

func (s *split) before(o *split) bool {
	if len(s.frames) != len(o.frames) {
		return len(s.frames) > len(o.frames)
	}
	return s.pc < o.pc
}

// runAlone runs the warp's only split to its next visible instruction.
func (m *Machine) runAlone(w *warp, s *split) {
	x := m.enter(w, s)
	code := m.prog.code
	n, lanes := int64(0), int64(0)
	limit := m.budget()
	for {
		in := &code[s.pc]
		mask := s.mask
		if in.guard != noGuard {
			mask = x.active(in)
		}
		switch in.class {
		case plain:
			if mask != 0 {
				in.exec(x, in, mask)
			}
			s.pc++
		case branch:
			if n > limit {
				m.account(n, lanes)
				m.halt(Stop{Kind: LimitInstrs, CTA: w.cta, Warp: w.index, Mask: s.mask, PC: s.pc})
				return
			}
			if mask == 0 {
				s.pc++
				break
			}
			in.exec(x, in, mask)
			if len(w.splits) != 1 || s.state != running || m.stop != nil {
				m.account(n+1, lanes+int64(bits.OnesCount32(mask)))
				return
			}
		default:
			if !m.point(w, s, in, mask) {
				m.account(n, lanes)
				return
			}
		}
		n++
		lanes += int64(bits.OnesCount32(mask))
	}
}

// runAmong runs s, which is furthest behind, until it meets or passes
// another split.
func (m *Machine) runAmong(w *warp, s *split) {
	x := m.enter(w, s)
	code := m.prog.code
	stop := w.meets(s)
	n, lanes := int64(0), int64(0)
	limit := m.budget()
	for {
		if s.pc >= stop {
			if w.merge(s) || s.pc > stop {
				break
			}
			stop = w.meets(s)
		}
		in := &code[s.pc]
		mask := x.active(in)
		if in.class == plain {
			if mask != 0 {
				in.exec(x, in, mask)
			}
			s.pc++
		} else if in.class == branch {
			if n > limit {
				m.halt(Stop{Kind: LimitInstrs, CTA: w.cta, Warp: w.index, Mask: s.mask, PC: s.pc})
				break
			}
			if mask == 0 {
				s.pc++
			} else {
				k, depth := len(w.splits), len(s.frames)
				in.exec(x, in, mask)
				if len(w.splits) != k || s.state != running || len(s.frames) != depth || m.stop != nil {
					n++
					break
				}
				// A jump back may lead to where another split waits.
				stop = w.meets(s)
			}
		} else if !m.point(w, s, in, mask) {
			break
		}
		n++
		lanes += int64(bits.OnesCount32(mask))
	}
	m.account(n, lanes)
}

// meets returns the lowest program counter at or above s's at which another
// split of the same depth stands.
func (w *warp) meets(s *split) int32 {
	stop := int32(1<<31 - 1)
	for _, o := range w.splits {
		if o != s && o.pc >= s.pc && o.pc < stop && len(o.frames) == len(s.frames) && o.state != waiting {
			stop = o.pc
		}
	}
	return stop
}

// merge joins to s every split that stands where s stands, and reports
// whether s ceased to run. Splits that stand before a collective stay apart
// until it is performed: their member masks may differ.
func (w *warp) merge(s *split) bool {
	for i := 0; i < len(w.splits); i++ {
		o := w.splits[i]
		if o == s || o.pc != s.pc || o.state == waiting || o.state == collect || !sameFrames(s, o) {
			continue
		}
		s.mask |= o.mask
		s.awaits, s.gaveUp = nil, 0
		w.splits = append(w.splits[:i], w.splits[i+1:]...)
		i--
	}
	return s.state != running
}

func sameFrames(a, b *split) bool {
	if len(a.frames) != len(b.frames) || a.base32 != b.base32 || a.base64 != b.base64 || a.basep != b.basep || a.lbase != b.lbase {
		return false
	}
	for i := range a.frames {
		if a.frames[i] != b.frames[i] {
			return false
		}
	}
	return true
}

func (m *Machine) account(n, lanes int64) {
	m.instrs += n
	m.lanes += lanes
	m.clock += n
}

// budget returns how many more instructions may run.
func (m *Machine) budget() int64 {
	if m.cfg.MaxInstrs <= 0 {
		return 1<<63 - 1
	}
	return m.cfg.MaxInstrs - m.instrs
}

// point handles a split that reached a visible or collective instruction. It
// reports whether the split runs on.
func (m *Machine) point(w *warp, s *split, in *instr, mask uint32) bool {
	if mask == 0 {
		// No lane's guard holds: nothing happens, visibly or otherwise.
		s.pc++
		return true
	}
	if mask != s.mask {
		// Lanes whose guard fails do not wait for the others.
		w.divide(s, s.mask&^mask).pc++
		return false
	}
	if in.class == visible {
		s.state = atPoint
		return false
	}
	return m.gather(w, s, in)
}

// divide splits off the lanes in away; s keeps the rest. The new split
// stands where s stands.
func (w *warp) divide(s *split, away uint32) *split {
	n := *s
	n.mask = away
	n.state = running
	n.frames = append([]frame(nil), s.frames...)
	n.awaits = append([]await(nil), s.awaits...)
	s.mask &^= away
	w.splits = append(w.splits, &n)
	return &n
}

// find returns the split of w that holds lane, or nil.
func (w *warp) find(lane int8) *split {
	for _, s := range w.splits {
		if s.mask>>uint(lane)&1 != 0 {
			return s
		}
	}
	return nil
}

// drop removes a split that has no lanes left.
func (w *warp) drop(s *split) {
	for i, o := range w.splits {
		if o == s {
			w.splits = append(w.splits[:i], w.splits[i+1:]...)
			return
		}
	}
}

// Step takes one choice, which must be enabled.
func (m *Machine) Step(c Choice) {
	if m.stop != nil {
		return
	}
	m.clock++
	switch c.Kind {
	case Start:
		m.startCluster()
	case Milestone:
		for _, op := range m.ops {
			if op.ID == c.Op {
				m.advance(op)
				return
			}
		}
		panic("BUG: no such operation in flight")
	default:
		w := m.ctas[c.CTA].warps[c.Warp]
		s := w.find(c.Lane)
		if c.Kind == GiveUp && (s == nil || s.state != atPoint || !m.mayGiveUp(w, s)) {
			return // it was offered before another split of the warp gave up, and met this one
		}
		m.step(w, s, c.Kind == GiveUp)
	}
}

// step performs the visible instruction of s, or lets it pass a wait that
// has ended, and settles the warp.
func (m *Machine) step(w *warp, s *split, giveUp bool) {
	x := m.enter(w, s)
	x.giveUp = giveUp
	if s.state == waiting {
		m.resume(x)
		if len(w.splits) > 1 {
			w.mergeRunning(s)
		}
		m.settle(w)
		return
	}
	pc, in := s.pc, &m.prog.code[s.pc]
	mask := s.mask
	m.instrs++
	m.lanes += int64(bits.OnesCount32(mask))
	if m.cfg.MaxInstrs > 0 && m.instrs > m.cfg.MaxInstrs {
		m.halt(Stop{Kind: LimitInstrs, CTA: w.cta, Warp: w.index, Mask: s.mask, PC: s.pc})
		return
	}
	if giveUp {
		m.letGo(w, s)
	}
	s.state = running
	switch in.visit(x, in, mask) {
	case performed:
		s.pc++
	case halted, parked:
	}
	if !giveUp && !x.quiet {
		s.awaits, s.gaveUp = s.awaits[:0], 0
	}
	if len(s.awaits) > 0 {
		m.woken(s, pc)
	}
	m.settle(w)
}

// mergeRunning joins running splits that stand together.
func (w *warp) mergeRunning(s *split) {
	if s.state == running {
		w.merge(s)
	}
}

// Ready reports whether the split that holds lane can take a Run choice.
func (m *Machine) ready(w *warp, s *split) bool {
	switch s.state {
	case waiting:
		return m.waitOver(w, s)
	case atPoint:
		in := &m.prog.code[s.pc]
		if in.ready == nil && len(s.awaits) == 0 {
			return true
		}
		x := m.enter(w, s)
		if in.ready != nil && !in.ready(x, in, s.mask) {
			return m.anyAwait(s)
		}
		return len(s.awaits) == 0 || !m.polling(x, in) || m.anyAwait(s)
	}
	return false
}

// Enabled appends the choices that the state offers to buf: splits in order
// of CTA, warp and lane, then milestones in order of issue, then the start of
// the next cluster. Where nothing else is left it offers GiveUp for splits
// whose waits have an other side that has not been run. None left: the run is
// over, and Conclude says how.
func (m *Machine) Enabled(buf []Choice) []Choice {
	if m.stop != nil {
		return buf
	}
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			for _, s := range w.splits {
				if m.ready(w, s) {
					buf = append(buf, Choice{Kind: Run, CTA: i, Warp: w.index, Lane: int8(lowest(s.mask))})
				}
			}
		}
	}
	for _, op := range m.ops {
		if m.canAdvance(op) {
			buf = append(buf, Choice{Kind: Milestone, Op: op.ID})
		}
	}
	if m.canStart() {
		buf = append(buf, Choice{Kind: Start, CTA: m.clusterFirst(m.started)})
	}
	if len(buf) == 0 && m.started*m.csize < m.total && m.resident < mostResident {
		// Everyone waits, perhaps for CTAs that have not started: the limit on
		// residents is this machine's, not the card's, which has one too.
		buf = append(buf, Choice{Kind: Start, CTA: m.clusterFirst(m.started)})
	}
	if len(buf) > 0 {
		return buf
	}
	return m.exits(buf)
}

func (m *Machine) canStart() bool {
	return m.started*m.csize < m.total && (m.resident+m.csize <= int32(m.cfg.MaxResident) || m.resident == 0)
}

// exits offers GiveUp to the waiting splits that might have somewhere else to
// go.
func (m *Machine) exits(buf []Choice) []Choice {
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			for _, s := range w.splits {
				if s.state == atPoint && m.mayGiveUp(w, s) {
					buf = append(buf, Choice{Kind: GiveUp, CTA: i, Warp: w.index, Lane: int8(lowest(s.mask))})
				}
			}
		}
	}
	return buf
}

// Conclude ends a run that has no choice left: unless every CTA has ended, it
// is deadlocked.
func (m *Machine) Conclude() {
	if m.stop == nil && m.ended < m.total && len(m.Enabled(nil)) == 0 {
		m.halt(Stop{Kind: Deadlock, PC: -1, Mem: Local})
	}
}

// Go takes the Run choice c, and then the same split's next ones for as long
// as it can and at most n in all. It returns how many it took.
func (m *Machine) Go(c Choice, n int) int {
	w := m.ctas[c.CTA].warps[c.Warp]
	took := 0
	for took < n && m.stop == nil {
		s := w.find(c.Lane)
		if s == nil || took > 0 && !m.ready(w, s) {
			break
		}
		m.clock++
		m.step(w, s, false)
		took++
	}
	return took
}

// Next returns the first split after the place that c names, in cyclic order
// of CTA, warp and lane, that can run.
func (m *Machine) Next(c Choice) (Choice, bool) {
	if m.stop != nil || len(m.running) == 0 {
		return Choice{}, false
	}
	start := 0
	for i, idx := range m.running {
		if idx >= c.CTA {
			start = i
			break
		}
	}
	n := len(m.running)
	for k := 0; k <= n; k++ {
		i := m.running[(start+k)%n]
		for _, w := range m.ctas[i].warps {
			if k == 0 && i == c.CTA && w.index < c.Warp {
				continue
			}
			if k == n && (i != m.running[start] || w.index > c.Warp) {
				continue
			}
			for _, s := range w.splits {
				l := int8(lowest(s.mask))
				if k == 0 && i == c.CTA && w.index == c.Warp && l <= c.Lane {
					continue
				}
				if m.ready(w, s) {
					return Choice{Kind: Run, CTA: i, Warp: w.index, Lane: l}, true
				}
			}
		}
	}
	return Choice{}, false
}

// MilestoneChoice returns the oldest milestone that is due, if any.
func (m *Machine) MilestoneChoice() (Choice, bool) {
	for _, op := range m.ops {
		if m.canAdvance(op) {
			return Choice{Kind: Milestone, Op: op.ID}, true
		}
	}
	return Choice{}, false
}

// StartChoice returns the start of the next cluster, if it is enabled.
func (m *Machine) StartChoice() (Choice, bool) {
	if m.stop == nil && m.canStart() {
		return Choice{Kind: Start, CTA: m.clusterFirst(m.started)}, true
	}
	return Choice{}, false
}

// GoUntilIssue is Go, but stops after a step that issued an asynchronous
// operation, so that its milestones can come at once.
func (m *Machine) GoUntilIssue(c Choice, n int) int {
	w := m.ctas[c.CTA].warps[c.Warp]
	took := 0
	for before := m.nextOp; took < n && m.stop == nil && m.nextOp == before; took++ {
		s := w.find(c.Lane)
		if s == nil || took > 0 && !m.ready(w, s) {
			break
		}
		m.clock++
		m.step(w, s, false)
	}
	return took
}

// ParseChoice reads what Choice.String writes.
func ParseChoice(text string) (Choice, error) {
	var c Choice
	bad := fmt.Errorf("%q is no choice", text)
	if text == "" {
		return c, bad
	}
	rest := text[1:]
	var err error
	switch text[0] {
	case 'r', 'g':
		if text[0] == 'g' {
			c.Kind = GiveUp
		}
		_, err = fmt.Sscanf(rest, "%d.%d.%d", &c.CTA, &c.Warp, &c.Lane)
	case 'm':
		c.Kind = Milestone
		_, err = fmt.Sscanf(rest, "%d", &c.Op)
	case 's':
		c.Kind = Start
		_, err = fmt.Sscanf(rest, "%d", &c.CTA)
	default:
		return c, bad
	}
	if err != nil || c.String() != text {
		return c, bad
	}
	return c, nil
}

// Clusters returns the number of each CTA's cluster, or nil where clusters are
// consecutive CTAs.
func (m *Machine) Clusters() []int32 {
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
