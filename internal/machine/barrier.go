package machine

import (
	"math/bits"

	"muster/ptx"
)

// Named barriers, cluster barriers and warp-level collectives: everything
// that makes lanes wait for lanes other than by mbarriers.

var syncDecoders = map[string]decodeFn{
	"bar":            decodeBar,
	"barrier":        decodeBarrier,
	"fence":          decodeFence,
	"membar":         decodeFence,
	"mbarrier":       decodeMbarrier,
	"shfl":           decodeShfl,
	"vote":           decodeVote,
	"match":          decodeMatch,
	"redux":          decodeRedux,
	"elect":          decodeElect,
	"activemask":     decodeActivemask,
	"setmaxnreg":     decodeSetmaxnreg,
	"griddepcontrol": decodeGriddepcontrol,
}

// decodeGriddepcontrol decodes griddepcontrol.wait and .launch_dependents. A launch that is
// alone has no prerequisite grids to wait for, and no dependent ones to let begin (ISA
// 9.7.13.13). Neither orders anything within the grid.
func decodeGriddepcontrol(d *decoder, in *ptx.Inst) error {
	if !d.has("wait") && !d.has("launch_dependents") {
		return errNotModelled
	}
	switch {
	case !d.prog.grids:
		return decodeNothing(d, in)
	case d.has("wait"):
		d.emit(instr{class: visible, visit: visitGridWait, ready: readyGridWait})
	default:
		d.emit(instr{class: visible, visit: visitDependents})
	}
	return nil
}

// A barInfo is a decoded bar or barrier instruction.
type barInfo struct {
	mode    BarMode
	aligned bool
	count   bool // the count is given, in b
	op      redOp
	pred    reg
	dpred   bool // the result is a predicate
}

type redOp uint8

const (
	redNone redOp = iota
	redPopc
	redAnd
	redOr
)

func decodeBar(d *decoder, in *ptx.Inst) error { return d.bar(in, true) }

func decodeBarrier(d *decoder, in *ptx.Inst) error {
	if d.has("cluster") {
		return d.clusterBarrier(in)
	}
	return d.bar(in, d.has("aligned"))
}

func (d *decoder) bar(in *ptx.Inst, aligned bool) error {
	if d.has("warp") {
		return d.warpSync(in)
	}
	bi := &barInfo{aligned: aligned}
	ops := in.Operands
	i := instr{class: visible, visit: visitBar, ready: readyAligned, x: bi}
	var err error
	switch {
	case d.has("arrive"):
		bi.mode = BarArrive
	case d.has("red"):
		bi.mode = BarRed
		if ops, err = d.barRed(in, bi, &i); err != nil {
			return err
		}
	case !d.has("sync"):
		return errNotModelled
	}
	if len(ops) < 1 || len(ops) > 2 || bi.mode == BarArrive && len(ops) != 2 {
		return d.errorf("%s takes a barrier number and a thread count", Name(in))
	}
	if i.a, err = d.src(ops[0], u32); err != nil {
		return err
	}
	if len(ops) == 2 {
		bi.count = true
		if i.b, err = d.src(ops[1], u32); err != nil {
			return err
		}
	}
	d.emit(i)
	return nil
}

// barRed takes a reduction's destination and predicate off the operands.
func (d *decoder) barRed(in *ptx.Inst, bi *barInfo, i *instr) ([]ptx.Operand, error) {
	ops := in.Operands
	if len(ops) < 3 {
		return nil, d.errorf("%s takes a destination, a barrier and a predicate", Name(in))
	}
	t := pred
	switch {
	case d.has("popc"):
		bi.op, t = redPopc, u32
	case d.has("and"):
		bi.op = redAnd
	case d.has("or"):
		bi.op = redOr
	}
	bi.dpred = t == pred
	var err error
	if i.d, err = d.dst(ops[0], t); err != nil {
		return nil, err
	}
	if bi.pred, err = d.predSrc(ops[len(ops)-1]); err != nil {
		return nil, err
	}
	return ops[1 : len(ops)-1], nil
}

// readyAligned reports whether an aligned instruction may execute: all lanes of
// the warp that have not exited stand before it, as they do in a program that
// converges.
func readyAligned(x *ctx, in *instr, mask uint32) bool {
	bi, ok := in.x.(*barInfo)
	return ok && !bi.aligned || mask == x.w.live
}

func visitBar(x *ctx, in *instr, mask uint32) verdict {
	bi := in.x.(*barInfo)
	m, w, t, me := x.m, x.w, x.c, x.s
	id := x.a32(in.a)[lowest(mask)]
	if in.a >= 0 && !uniform(x.a32(in.a), mask) {
		// A barrier is for whole warps: these lanes would wait for each other.
		return m.halt(Stop{Kind: FaultOther, CTA: w.cta, Warp: w.index, Mask: mask, PC: x.s.pc, Mem: Local, Msg: "lanes of one warp name different barriers"})
	}
	if id > 15 {
		return m.halt(Stop{Kind: FaultOther, CTA: w.cta, Warp: w.index, Mask: mask, PC: x.s.pc, Mem: Local, Msg: sprint("barrier %d of 16", id)})
	}
	x.s.state = waiting
	x.s.wait = wait{kind: waitWarpAtBar, bar: int32(id)}
	if !w.together(int32(id)) {
		return parked
	}
	b := &t.bars[id]
	count := uint32(len(x.c.warps)) * 32
	if bi.count {
		count = x.a32(in.b)[lowest(mask)]
	}
	if count == 0 || count%32 != 0 {
		return m.halt(Stop{Kind: FaultOther, CTA: w.cta, Warp: w.index, Mask: mask, PC: x.s.pc, Mem: Local, Msg: sprint("barrier count %d is no positive multiple of 32", count)})
	}
	gen := b.gen
	if m.cfg.Observer != nil {
		ev := &m.ev
		ev.at(EvBarArrive, x, w.live)
		ev.Bar, ev.Count, ev.Counted, ev.Gen, ev.Mode, ev.Forms = int32(id), count, bi.count, gen, bi.mode, m.barForms(w, int32(id))
		m.cfg.Observer.Observe(m, ev)
	}
	if b.arrived == 0 {
		b.count, b.counted = count, bi.count
	}
	b.arrived += 32
	for _, s := range w.splits {
		if s.state == waiting && s.wait.kind == waitWarpAtBar && s.wait.bar == int32(id) {
			m.arriveAt(b, w, s, gen)
		}
	}
	if b.arrived >= b.count {
		t.complete(int32(id), false)
	} else {
		m.exitRelease(t)
	}
	// Passing is a separate step, also for the last arriver, so that it makes no
	// difference who arrives last.
	m.enter(w, me)
	if me.state == running {
		return jumped
	}
	return parked
}

// barForms returns the forms of bar at which the lanes of a warp wait for a barrier.
func (m *Machine) barForms(w *warp, id int32) (forms uint8) {
	for _, s := range w.splits {
		if s.state == waiting && s.wait.kind == waitWarpAtBar && s.wait.bar == id {
			if bi := m.prog.code[s.pc].x.(*barInfo); bi.mode == BarRed {
				forms |= 1 << uint8(BarRed) << uint8(bi.op)
			} else {
				forms |= 1 << uint8(bi.mode)
			}
		}
	}
	return forms
}

// uniform reports whether a row holds one value in all lanes of mask.
func uniform(row *[32]uint32, mask uint32) bool {
	v := row[lowest(mask)]
	for k := mask; k != 0; k &= k - 1 {
		if row[bits.TrailingZeros32(k)&31] != v {
			return false
		}
	}
	return true
}

// arriveAt makes one split's arrival part of generation gen: an arrive goes
// on, a sync waits, a reduction adds its predicate.
func (m *Machine) arriveAt(b *namedBar, w *warp, s *split, gen uint64) {
	in := &m.prog.code[s.pc]
	bi := in.x.(*barInfo)
	if bi.mode == BarArrive {
		s.state, s.wait = running, wait{}
		s.pc++
		return
	}
	if bi.mode == BarRed {
		b.ones += uint32(bits.OnesCount32(w.p[s.basep+int32(bi.pred)] & s.mask))
		b.lanes += uint32(bits.OnesCount32(s.mask))
	}
	b.sync = true
	s.wait = wait{kind: waitBar, bar: s.wait.bar, gen: gen}
}

// together reports whether every lane of the warp that has not exited stands at
// barrier id.
func (w *warp) together(id int32) bool {
	there := uint32(0)
	for _, s := range w.splits {
		if s.state == waiting && s.wait.kind == waitWarpAtBar && s.wait.bar == id {
			there |= s.mask
		}
	}
	return there == w.live && there != 0
}

// complete closes the open generation of barrier id, and hands its result to the
// waiting splits.
func (t *cta) complete(id int32, byExit bool) {
	b := &t.bars[id]
	if byExit || b.lanes > 0 {
		for _, w := range t.warps {
			for _, s := range w.splits {
				if s.state == waiting && s.wait.kind == waitBar && s.wait.bar == id && s.wait.gen == b.gen {
					s.wait.ones, s.wait.lanes, s.wait.byExit = b.ones, b.lanes, byExit
				}
			}
		}
	}
	*b = namedBar{gen: b.gen + 1}
	t.completed = true
}

// exitRelease completes the barriers that wait only on exited threads: every
// warp that has not exited waits at the barrier, and exited ones make up the
// missing count. A barrier whose instruction gives a count is never released this
// way, even if it is the whole CTA's: an H200 hangs there.
func (m *Machine) exitRelease(t *cta) {
	for id := range t.bars {
		b := &t.bars[id]
		if !b.sync || b.counted {
			continue
		}
		gone, others := uint32(0), false
		for _, w := range t.warps {
			if w.live == 0 {
				gone += 32
				continue
			}
			if !w.waitsAt(int32(id), b.gen) {
				others = true
			}
		}
		if !others && gone > 0 && b.arrived+gone >= b.count {
			t.complete(int32(id), true)
		}
	}
}

// waitsAt reports whether all of the warp waits for generation gen. A warp that
// has not been woken yet from the generation before can still arrive.
func (w *warp) waitsAt(id int32, gen uint64) bool {
	for _, s := range w.splits {
		if s.state != waiting || s.wait.kind != waitBar || s.wait.bar != id || s.wait.gen != gen {
			return false
		}
	}
	return true
}

// waitOver reports whether the generation that a split waits for has completed.
func (m *Machine) waitOver(w *warp, s *split) bool {
	switch s.wait.kind {
	case waitBar:
		return m.ctas[w.cta].bars[s.wait.bar].gen > s.wait.gen
	case waitPair:
		return m.pairOver(m.ctas[w.cta], w.index)
	}
	return false
}

// resume lets the split in x pass the barrier that it waited at.
func (m *Machine) resume(x *ctx) {
	s := x.s
	if s.wait.kind == waitPair {
		m.resumePair(x)
		return
	}
	in := &m.prog.code[s.pc]
	bi := in.x.(*barInfo)
	if m.cfg.Observer != nil {
		ev := &m.ev
		ev.at(EvBarPass, x, s.mask)
		ev.Bar, ev.Gen, ev.Mode, ev.ByExit = s.wait.bar, s.wait.gen, bi.mode, s.wait.byExit
		m.cfg.Observer.Observe(m, ev)
	}
	if bi.mode == BarRed {
		x.barResult(&s.wait, bi, in)
	}
	s.state, s.wait = running, wait{}
	s.met()
	s.pc++
}

func (x *ctx) barResult(b *wait, bi *barInfo, in *instr) {
	ok := false
	switch bi.op {
	case redPopc:
		x.fill32(in.d, x.s.mask, b.ones)
		return
	case redAnd:
		ok = b.ones == b.lanes
	case redOr:
		ok = b.ones > 0
	}
	x.p[in.d] &^= x.s.mask
	if ok {
		x.p[in.d] |= x.s.mask
	}
}

// laneGone applies a thread's exit to waiting splits: barriers that wait only for
// exited threads open, and collectives stop waiting for them.
func (m *Machine) laneGone(t *cta, w *warp) {
	for _, s := range w.splits {
		if s.state == collect {
			s.state = running
		}
		if s.state == waiting && s.wait.kind == waitWarpAtBar && w.together(s.wait.bar) {
			// The rest of the warp stands there: the warp can arrive.
			s.state, s.wait = atPoint, wait{}
		}
	}
	m.exitRelease(t)
	m.clusterCheck(t)
}

// --- cluster barriers ---

// A clusterInfo is a decoded barrier.cluster instruction.
type clusterInfo struct {
	sem     Sem
	aligned bool
}

func (d *decoder) clusterBarrier(in *ptx.Inst) error {
	ci := &clusterInfo{aligned: d.has("aligned")}
	i := instr{class: visible, x: ci}
	switch {
	case d.has("arrive"):
		ci.sem = Release
		d.read("release")
		if d.has("relaxed") {
			ci.sem = Relaxed
		}
		i.visit, i.ready = visitClusterArrive, readyClusterArrive
	case d.has("wait"):
		ci.sem = Acquire
		d.read("acquire")
		i.visit, i.ready = visitClusterWait, readyClusterWait
	default:
		return errNotModelled
	}
	d.emit(i)
	return nil
}

func readyClusterArrive(x *ctx, in *instr, mask uint32) bool {
	return !in.x.(*clusterInfo).aligned || mask == x.w.live
}

func visitClusterArrive(x *ctx, in *instr, mask uint32) verdict {
	m, w := x.m, x.w
	ci := in.x.(*clusterInfo)
	gen := m.ctas[x.c.first].cluster.gen
	m.emit(Event{Kind: EvClusterArrive, CTA: w.cta, Warp: w.index, Mask: mask, PC: x.s.pc, Sem: ci.sem, Scope: ScopeCluster, Gen: gen, Again: w.carrived & mask})
	w.carrived |= mask
	m.clusterCheck(x.c)
	return performed
}

// clusterCheck completes the cluster's barrier when every thread that has not
// exited has arrived.
func (m *Machine) clusterCheck(t *cta) {
	some := false
	for r := int32(0); r < t.g.size(t.first); r++ {
		c := m.ctas[t.g.clusterMember(t.first, r)]
		if c == nil {
			return
		}
		for _, w := range c.warps {
			if w.live&^w.carrived != 0 {
				return
			}
			some = some || w.carrived != 0
		}
	}
	if !some {
		return
	}
	for r := int32(0); r < t.g.size(t.first); r++ {
		for _, w := range m.ctas[t.g.clusterMember(t.first, r)].warps {
			w.carrived = 0
		}
	}
	m.ctas[t.first].cluster.gen++
}

func readyClusterWait(x *ctx, in *instr, mask uint32) bool {
	if in.x.(*clusterInfo).aligned && mask != x.w.live {
		return false
	}
	return x.w.carrived&mask == 0
}

// visitClusterWait lets lanes pass whose last arrival belongs to a completed
// generation. It is the last completed one: the next needs their arrival.
func visitClusterWait(x *ctx, in *instr, mask uint32) verdict {
	w := x.w
	ci := in.x.(*clusterInfo)
	if ci.aligned && mask != w.live && w.carrived&mask != 0 {
		x.s.state = atPoint
		return parked
	}
	gen := max(x.m.ctas[x.c.first].cluster.gen, 1) - 1
	x.m.emit(Event{Kind: EvClusterWait, CTA: w.cta, Warp: w.index, Mask: mask, PC: x.s.pc, Sem: ci.sem, Scope: ScopeCluster, Gen: gen})
	return performed
}

// --- setmaxnreg ---

func decodeSetmaxnreg(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 1 {
		return d.errorf("setmaxnreg takes a register count")
	}
	n, ok := in.Operands[0].(ptx.Int)
	if !ok || n.Bits < 24 || n.Bits > 256 || n.Bits%8 != 0 {
		return d.errorf("setmaxnreg takes a constant multiple of 8 from 24 to 256")
	}
	d.entry.SetsRegisters = true
	if d.has("inc") {
		d.entry.MostRegs = max(d.entry.MostRegs, uint32(n.Bits))
	}
	if !d.has("inc") && !d.has("dec") {
		return errNotModelled
	}
	d.emit(instr{class: visible, visit: visitSetmaxnreg, ready: readySetmaxnreg, imm: n.Bits, op: boolOp(d.has("inc"))})
	return nil
}

// setmaxnreg does nothing where the registers at entry are not known (Config.Registers).

// The pool of a CTA holds the registers that its warps have given back; an
// increase waits until the pool covers it.
func readySetmaxnreg(x *ctx, in *instr, mask uint32) bool {
	if mask != x.w.live {
		return false
	}
	need := int32(in.imm) - int32(x.w.regs)
	return in.op == 0 || x.c.g.Registers == 0 || need <= 0 || x.c.pool >= need*32
}

func visitSetmaxnreg(x *ctx, in *instr, mask uint32) verdict {
	w := x.w
	before := w.regs
	if x.c.g.Registers == 0 {
		return performed
	}
	x.c.pool += (int32(before) - int32(in.imm)) * 32
	w.regs = uint32(in.imm)
	x.m.emit(Event{Kind: EvRegisters, CTA: w.cta, Warp: w.index, Mask: mask, PC: x.s.pc, Count: uint32(in.imm), Gen: uint64(before)})
	return performed
}
