package machine

import (
	"math/bits"
	"slices"
	"sort"

	"muster/mbarrier"
	"muster/ptx"
)

// Read-only views of a state: which splits wait and for what, which barriers are
// live, what is in flight, and which code is reachable. They serve the
// explanation of a run that has ended; nothing here is on the path of a step.

// A WaitKind says what a split stands before or waits for.
type WaitKind uint8

const (
	// WaitNothing: the split could go on.
	WaitNothing WaitKind = iota
	// WaitMbar: a test of mbarriers, before any has completed the phase.
	WaitMbar
	// WaitMemory: a read that polls memory and has not seen it change.
	WaitMemory
	// WaitNamed: it has arrived at a named barrier whose generation is open.
	WaitNamed
	// WaitWarp: the rest of its warp has not reached the same barrier, aligned
	// instruction or collective.
	WaitWarp
	// WaitCluster: the cluster's barrier.
	WaitCluster
	// WaitRegisters: setmaxnreg.inc, more than the pool holds.
	WaitRegisters
	// WaitGroup: asynchronous operations of its own.
	WaitGroup
	// WaitSpin: a change of what it reads. It has returned to the same state, without an
	// effect on the way.
	WaitSpin
	// WaitColumns: tcgen05.alloc, more columns than are free together.
	WaitColumns
	// WaitPair: the other CTA of its pair, for an alloc, a dealloc or a relinquish.
	WaitPair
)

// A WaitingSplit is lanes of a warp at one program counter, and what they
// wait for.
type WaitingSplit struct {
	CTA  int32
	Warp int32
	Mask uint32
	PC   int32
	Kind WaitKind
	// Returns are the program counters that calls on the way here return to.
	Returns []int32
	// Tests are the conditions of WaitMbar, and the failed tests of a split that
	// gave up and then trapped.
	Tests []MbarTestState
	// Mem, Addr and Size are what WaitMemory polls, by its lowest lane, and Val what
	// is there. Until says which value ends the loop, as in "at least 3"; it is empty
	// where the text of the loop does not show it.
	Mem   MemID
	Addr  uint64
	Size  int32
	Val   uint64
	Until string
	// Looks are the reads and tests of WaitSpin: tests of mbarriers whose phase is
	// complete, and words of memory.
	Looks []Look
	// Bar, Gen, Arrived and Count are the named barrier of WaitNamed, or of
	// WaitWarp at one; Count is 0 where it is not known.
	Bar     int32
	Gen     uint64
	Arrived uint32
	Count   uint32
	// Need and Free are registers, of the warp and of the CTA's pool; or columns, that are
	// asked for and that are not allocated.
	Need uint32
	Free uint32
}

// A Look is a test or a read that did not let a split out of its loop.
type Look struct {
	PC   int32
	Bar  BarRef // of a test of an mbarrier
	Open int64  // its phase that is open
	Done bool   // the test came out true
	Mem  MemID
	Addr uint64
	Size int32 // bytes that were read; 0 for a test
	Val  uint64
}

// A MbarTestState is one test that lanes of a split stand before.
type MbarTestState struct {
	Bar    BarRef
	Live   bool
	Word   mbarrier.Word
	Phase  int64 // the one asked for
	Lanes  uint32
	Parity bool
	Token  uint64
}

// A Barrier is an mbarrier as it is now.
type Barrier struct {
	Bar   BarRef
	Live  bool
	Word  mbarrier.Word
	Phase int64 // the open phase
}

// Waiting returns every split of every running CTA, in order of CTA, warp and
// lane, with what it waits for. An observer may call it in the middle of a step:
// it restores the step's scratch.
func (m *Machine) Waiting() []WaitingSplit {
	x, addr := m.x, m.addr
	defer func() { m.x, m.addr = x, addr }()
	var all []WaitingSplit
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			from := len(all)
			for _, s := range w.splits {
				all = append(all, m.inspect(w, s))
			}
			part := all[from:]
			sort.Slice(part, func(a, b int) bool { return lowest(part[a].Mask) < lowest(part[b].Mask) })
		}
	}
	sort.SliceStable(all, func(a, b int) bool { return all[a].CTA < all[b].CTA })
	return all
}

// WaitingOf describes the split that takes a choice.
func (m *Machine) WaitingOf(c Choice) WaitingSplit {
	w := m.ctas[c.CTA].warps[c.Warp]
	return m.inspect(w, w.find(c.Lane))
}

// WaitingAt describes the split of a lane; false if there is none.
func (m *Machine) WaitingAt(cta, warp int32, lane int8) (WaitingSplit, bool) {
	t := m.ctas[cta]
	if t == nil || int(warp) >= len(t.warps) {
		return WaitingSplit{}, false
	}
	w := t.warps[warp]
	s := w.find(lane)
	if s == nil {
		return WaitingSplit{}, false
	}
	x, addr := m.x, m.addr
	defer func() { m.x, m.addr = x, addr }()
	return m.inspect(w, s), true
}

// inspect describes one split.
func (m *Machine) inspect(w *warp, s *split) WaitingSplit {
	v := WaitingSplit{CTA: w.cta, Warp: w.index, Mask: s.mask, PC: s.pc}
	for i := len(s.frames) - 1; i >= 0; i-- {
		v.Returns = append(v.Returns, s.frames[i].pc+1)
	}
	in := &m.prog.code[s.pc]
	switch {
	case s.state == atPoint && m.held(w):
		v.Kind, v.PC = WaitGroup, w.wgmmas[len(w.wgmmas)-1].pc
	case s.state == collect:
		v.Kind = WaitWarp
	case s.state == stuck:
		v.Kind = WaitSpin
	case len(m.rounds) > 0 && m.rests(w):
		v.Kind, v.Looks = WaitSpin, m.looks(m.restsFor(w))
	case s.spun:
		v.Kind, v.Looks = WaitSpin, m.looks(s.awaits)
		if m.anyAwait(s) {
			v.Kind = WaitNothing
		}
	case s.state == waiting && s.wait.kind == waitPair:
		m.inspectPair(w, &v)
	case s.state == waiting:
		b := &m.ctas[w.cta].bars[s.wait.bar]
		v.Bar, v.Gen, v.Arrived, v.Count = s.wait.bar, b.gen, b.arrived, b.count
		v.Kind = WaitNamed
		if s.wait.kind == waitWarpAtBar {
			v.Kind = WaitWarp
		} else if b.gen > s.wait.gen {
			v.Kind = WaitNothing
		}
	case s.state == atPoint:
		m.inspectPoint(w, s, in, &v)
	default:
		// It stopped inside a step: a trap after a bounded wait.
		v.Tests = m.awaited(s)
	}
	return v
}

// looks lists the reads and tests that a sleeping split waits on, once for all lanes.
func (m *Machine) looks(awaits []await) []Look {
	var list []Look
	for i := range awaits {
		a := &awaits[i]
		k := Look{PC: a.pc, Mem: a.mem, Addr: a.addr, Size: a.size, Val: a.val}
		if a.size == 0 {
			k.Bar, k.Open, k.Done, k.Val = BarRef{Mem: a.mem, Addr: a.addr, Life: a.life}, int64(a.val), a.done, 0
		}
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}

func (m *Machine) inspectPoint(w *warp, s *split, in *instr, v *WaitingSplit) {
	x := m.enter(w, s)
	if !in.test && in.ready != nil && in.ready(x, in, s.mask) {
		return
	}
	switch i := in.x.(type) {
	case *mbarInfo:
		if in.test {
			m.inspectTest(x, in, i, v)
		}
	case *barInfo:
		v.Kind = WaitWarp
	case *clusterInfo:
		v.Kind = WaitCluster
		if i.aligned && s.mask != w.live {
			v.Kind = WaitWarp
		}
	case *groupInfo:
		switch {
		case in.ready == nil: // a commit waits for nothing
		case i.group != GroupCpAsync && i.group != GroupBulk && !readyAligned(x, in, s.mask):
			v.Kind = WaitWarp
		default:
			v.Kind = WaitGroup
		}
	case *matrixInfo, *matrixAccess, *wmmaAccess, *tensorAccessInfo:
		v.Kind = WaitWarp
	case *allocInfo:
		if v.Kind = WaitWarp; s.mask != w.live {
			break
		}
		v.Kind, v.Need, v.Free = WaitColumns, x.a32(i.cols)[lowest(s.mask)], m.columnsFree(w.cta)
	case *access:
		if i.poll && m.polling(x, in) && !m.anyAwait(s) {
			v.Kind = WaitMemory
			x.addressesOf(i, &m.addr)
			v.Mem, v.Addr, _ = x.resolve(i.space, m.addr[lowest(s.mask)])
			v.Size = min(i.size, 8)
			v.Val, _ = m.Peek(v.Mem, v.Addr, int(v.Size))
			if p := m.prog.Polls()[s.pc]; p != nil {
				v.Until = p.Until(m.ComparedWith(p, lowest(s.mask)))
			}
		}
	default:
		if in.src != nil && in.src.Effect().Has(ptx.SetsRegisters) {
			v.Kind = WaitRegisters
			v.Need, v.Free = uint32(in.imm-uint64(w.regs))*32, uint32(m.ctas[w.cta].pool)
		}
	}
	if in.meet && s.mask != w.live {
		v.Kind = WaitWarp
	}
}

// inspectTest lists the barriers that the lanes test.
func (m *Machine) inspectTest(x *ctx, in *instr, mi *mbarInfo, v *WaitingSplit) {
	m.mbarAddresses(x, mi)
	addr := m.addr
	v.Kind = WaitMbar
	for k := v.Mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		mem, at, ok := x.resolve(mi.space, addr[l])
		b := m.barrier(mem, at)
		if !ok || b == nil {
			continue
		}
		op := x.testOperand(in, mi, l)
		phase, done := b.asked(mi, op)
		if done {
			v.Kind = WaitNothing
		}
		t := MbarTestState{Bar: BarRef{Mem: mem, Addr: at, Life: b.life}, Live: b.live, Word: b.word, Phase: phase,
			Lanes: 1 << l, Parity: mi.parity, Token: op}
		v.addTest(t)
	}
}

func (v *WaitingSplit) addTest(t MbarTestState) {
	for i := range v.Tests {
		o := &v.Tests[i]
		if o.Bar == t.Bar && o.Phase == t.Phase && o.Token == t.Token {
			o.Lanes |= t.Lanes
			return
		}
	}
	v.Tests = append(v.Tests, t)
}

// awaited lists the barrier tests that came out false on the way to here.
func (m *Machine) awaited(s *split) []MbarTestState {
	var v WaitingSplit
	for i := range s.awaits {
		a := &s.awaits[i]
		b := m.barrier(a.mem, a.addr)
		if a.size != 0 || b == nil || b.life != a.life {
			continue
		}
		v.addTest(MbarTestState{Bar: BarRef{Mem: a.mem, Addr: a.addr, Life: a.life}, Live: b.live, Word: b.word,
			Phase: int64(a.val), Lanes: a.lanes & s.mask, Parity: true})
	}
	return v.Tests
}

// TimedOut reports whether the run ended in the trap of a bounded wait that might have
// succeeded: other splits could still run, or what it read has changed since. A test that
// is made once is no wait.
func (m *Machine) TimedOut() bool {
	st := m.stop
	if st == nil || st.Kind != Deadlock || st.PC < 0 {
		return false
	}
	once := func(a await) bool { return a.size == 0 && !m.prog.flow.Settled(m.prog.code[a.pc].src) }
	if s := m.ctas[st.CTA].warps[st.Warp].find(int8(lowest(st.Mask))); s != nil && slices.ContainsFunc(s.awaits, once) {
		return false
	}
	if s := m.ctas[st.CTA].warps[st.Warp].find(int8(lowest(st.Mask))); s != nil && slices.ContainsFunc(s.awaits, func(a await) bool { return m.changed(&a) }) {
		return true
	}
	m.stop = nil
	list := m.Ways(nil)
	m.stop = st
	return slices.ContainsFunc(list, func(c Choice) bool {
		return c.Kind != GiveUp && (c.Kind == Milestone || c.Kind == Start || c.CTA != st.CTA || c.Warp != st.Warp || st.Mask>>uint(c.Lane)&1 == 0)
	})
}

// BarrierAt returns the mbarrier at an address of a CTA's shared memory;
// false if none was ever initialized there or the memory is gone.
func (m *Machine) BarrierAt(mem MemID, addr uint64) (Barrier, bool) {
	b := m.barrier(mem, addr)
	if b == nil {
		return Barrier{}, false
	}
	return Barrier{Bar: BarRef{Mem: mem, Addr: addr, Life: b.life}, Live: b.live, Word: b.word, Phase: b.phase}, true
}

// Barriers returns the live mbarriers, in order of CTA and address.
func (m *Machine) Barriers() []Barrier {
	var all []Barrier
	for i, t := range m.ctas {
		if t == nil {
			continue
		}
		for j := range t.mbars {
			if b := &t.mbars[j]; b.live {
				all = append(all, Barrier{Bar: BarRef{Mem: SharedOf(int32(i)), Addr: b.addr, Life: b.life}, Live: true, Word: b.word, Phase: b.phase})
			}
		}
	}
	return all
}

// Config returns the launch.
func (m *Machine) Config() Config { return m.cfg }

// NotStarted returns how many CTAs have not started, of launches that have begun or could.
func (m *Machine) NotStarted() int {
	n := int32(0)
	for i, p := range m.at {
		if g := m.grids[i]; m.released(g) {
			n += g.ctas(p.started, p.until)
		}
	}
	return int(n)
}

// ClusterOf returns the CTAs of a started CTA's cluster, by rank.
func (m *Machine) ClusterOf(cta int32) []int32 {
	g := m.gridOf(cta)
	first := g.clusterOrigin(cta)
	out := make([]int32, g.size(first))
	for r := range out {
		out[r] = g.clusterMember(first, int32(r))
	}
	return out
}

// InFlight returns the asynchronous operations that have not signalled, in
// order of issue. They belong to the machine.
func (m *Machine) InFlight() []*Op { return append([]*Op(nil), m.ops...) }

// NotArrived returns, for the warps of CTA cta's cluster that have lanes which
// have neither arrived at the cluster's barrier nor exited, those lanes.
func (m *Machine) NotArrived(cta int32) []WaitingSplit {
	t := m.ctas[cta]
	if t == nil {
		return nil
	}
	var all []WaitingSplit
	for _, v := range m.Waiting() {
		o := m.ctas[v.CTA]
		if o.first != t.first {
			continue
		}
		if v.Mask &^= o.warps[v.Warp].carrived; v.Mask != 0 {
			all = append(all, v)
		}
	}
	return all
}

// SourceUninit reports whether op, once its source is read, carries unwritten
// bytes of it.
func (op *Op) SourceUninit() bool { return op.Uninit }

// MbarOpAt returns the mbarrier operation that instruction pc performs,
// cp.async.mbarrier.arrive included; false if it performs none.
func (p *Program) MbarOpAt(pc int32) (MbarOp, bool) {
	if pc < 0 || int(pc) >= len(p.code) || p.code[pc].class != visible {
		return 0, false
	}
	mi, ok := p.code[pc].x.(*mbarInfo)
	if !ok {
		return 0, false
	}
	return mi.op, true
}

// MbarMayBeRemote reports whether an operation on an mbarrier may be on one of
// another CTA of the cluster: whether it names no barrier in shared::cta.
func (p *Program) MbarMayBeRemote(pc int32) bool {
	mi, ok := p.code[pc].x.(*mbarInfo)
	return !ok || mi.space != spShared
}

// WaitsFor returns the group whose operations, all of them, an instruction waits for.
func (p *Program) WaitsFor(pc int32) (g Group, ok bool) {
	if gi, ok := p.code[pc].x.(*groupInfo); ok && gi.all {
		return gi.group, true
	}
	return NoGroup, false
}

// Reach marks the instructions reachable from any of the given ones, these
// included. A guard may hold or fail; an indirect call may reach every function.
func (p *Program) Reach(from ...int32) []bool {
	return p.ReachWithout(func(*ptx.Inst) bool { return false }, from...)
}

// ReachWithout is Reach along ways that pass none of some instructions. Those that the ways
// come to are marked.
func (p *Program) ReachWithout(these func(in *ptx.Inst) bool, from ...int32) []bool {
	seen := make([]bool, len(p.code))
	work := append([]int32(nil), from...)
	for len(work) > 0 {
		pc := work[len(work)-1]
		work = work[:len(work)-1]
		if pc < 0 || int(pc) >= len(seen) || seen[pc] {
			continue
		}
		seen[pc] = true
		if in := p.code[pc].src; in == nil || !these(in) {
			work = p.next(pc, work)
		}
	}
	return seen
}

// Stretches numbers, for each instruction, the part of its basic block that it is in: the
// instructions that are executed one after the other wherever the first of them is, and among
// which none synchronizes. What one of them lacks before it or behind it, all of them lack.
func (p *Program) Stretches() []int32 {
	first := make([]bool, len(p.code)+1)
	var next []int32
	for pc := range p.code {
		next = p.next(int32(pc), next[:0])
		if len(next) == 1 && next[0] == int32(pc)+1 {
			first[pc+1] = first[pc+1] || p.code[pc].synchronizes()
			continue
		}
		first[pc+1] = true
		for _, to := range next {
			if to >= 0 && int(to) < len(first) {
				first[to] = true
			}
		}
	}
	parts, n := make([]int32, len(p.code)), int32(0)
	for pc := range parts {
		if first[pc] {
			n++
		}
		parts[pc] = n
	}
	return parts
}

// synchronizes reports whether an instruction can order what is before it with what is behind.
func (in *instr) synchronizes() bool {
	if _, ok := in.x.(*groupInfo); ok {
		return true
	}
	src := in.src
	return src != nil && (src.IsOf(ptx.ClassBarrier) || src.IsOf(ptx.ClassFence) || src.IsOf(ptx.ClassMbarrier) && src.Form.Barrier != "init")
}

// FenceBehind reports whether a fence may come after the instruction at pc, which makes
// an atomic operation there acquire what it reads (ISA 8.7).
func (p *Program) FenceBehind(pc int32) bool {
	f := &p.fenceBehind
	f.once.Do(func() { f.at = p.before(func(in *ptx.Inst) bool { return in.PlainFence() }) })
	return f.at[pc]
}

// before marks the instructions behind which an instruction of a kind may come. A return
// may lead behind every call.
func (p *Program) before(is func(in *ptx.Inst) bool) []bool {
	var returns []int32 // the places behind calls
	for pc := range p.code {
		if in := &p.code[pc]; in.src != nil && in.src.Effect().Has(ptx.Calls) {
			returns = append(returns, int32(pc)+1)
		}
	}
	from := make([][]int32, len(p.code))
	var next, todo []int32
	for pc := range p.code {
		in := &p.code[pc]
		next = p.next(int32(pc), next[:0])
		if in.src != nil && in.src.Effect().Has(ptx.Returns) {
			next = append(next, returns...)
		}
		for _, to := range next {
			if int(to) < len(from) {
				from[to] = append(from[to], int32(pc))
			}
		}
		if in.src != nil && is(in.src) {
			todo = append(todo, int32(pc))
		}
	}
	marked := make([]bool, len(p.code))
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, f := range from[pc] {
			if !marked[f] {
				marked[f] = true
				todo = append(todo, f)
			}
		}
	}
	return marked
}

// next appends the instructions that may follow pc.
func (p *Program) next(pc int32, to []int32) []int32 {
	in := &p.code[pc]
	if in.guard != noGuard {
		to = append(to, pc+1)
	}
	does := ptx.Exits // at the end of the body
	if in.src != nil {
		does = in.src.Effect()
	}
	switch {
	case in.class == visible && does.Has(ptx.Exits|ptx.Returns|ptx.Traps):
		return to
	case in.class != branch:
		return append(to, pc+1)
	case does.Has(ptx.Branches):
		return append(to, in.target)
	case does.Has(ptx.BranchesByTable):
		return append(to, in.x.([]int32)...)
	case does.Has(ptx.Calls):
		for i := range p.funcs {
			if ci, ok := in.x.(*callInfo); ok && ci.fn >= 0 && int(ci.fn) != i {
				continue
			}
			if entry := p.funcs[i].entry; entry >= 0 { // else a function of the system
				to = append(to, entry)
			}
		}
		return append(to, pc+1)
	}
	return to // a return: Reach's caller names the return sites
}
