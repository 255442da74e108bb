package machine

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"muster/mbarrier"
	"muster/ptx"
)

// Asynchronous operations. Issue makes an Op; the schedule then moves it
// through its milestones: its source is read, its destination written, its
// completion signalled. Nothing else ties these to the issuing thread, so
// that a value read too soon is really the stale one and a source rewritten
// too soon really arrives changed.

var asyncDecoders = map[string]decodeFn{
	"cp": decodeCp,
}

func decodeCp(d *decoder, in *ptx.Inst) error {
	switch {
	case len(in.Mods) < 2:
		return errNotModelled
	case d.reads(in, 0, "reduce"):
		d.read("async")
		d.read("bulk")
		if d.has("tensor") {
			return d.cpTensor(in)
		}
		return d.bulk(in, true)
	case !d.reads(in, 0, "async"):
		return errNotModelled
	case d.reads(in, 1, "bulk"):
		return d.cpBulk(in)
	}
	switch in.Mods[1] {
	case "commit_group":
		d.read("commit_group")
		return d.groupCommit(GroupCpAsync)
	case "wait_group":
		d.read("wait_group")
		return d.groupWait(in, GroupCpAsync, false)
	case "wait_all":
		d.read("wait_all")
		d.emit(instr{class: visible, visit: visitGroupWait, ready: readyGroupWait, x: &groupInfo{group: GroupCpAsync, all: true}})
		return nil
	case "mbarrier":
		d.read("mbarrier")
		d.read("arrive")
		return d.cpMbarrier(in)
	}
	if !d.has("ca") && !d.has("cg") {
		return errNotModelled
	}
	return d.cpAsync(in)
}

func (d *decoder) cpBulk(in *ptx.Inst) error {
	switch {
	case d.has("commit_group"):
		return d.groupCommit(GroupBulk)
	case d.has("wait_group"):
		return d.groupWait(in, GroupBulk, d.has("read"))
	case d.has("tensor"):
		return d.cpTensor(in)
	case d.has("prefetch"):
		return d.bulkPrefetch(in)
	}
	return d.bulk(in, false)
}

// --- issue ---

// issue starts an operation of one lane.
func (x *ctx) issue(op Op, lane int) *Op { return x.issueBy(op, lane, 1<<lane) }

// issueBy starts an operation of the lanes in mask; the counters of lane count it.
func (x *ctx) issueBy(op Op, lane int, mask uint32) *Op {
	m, w := x.m, x.w
	m.nextOp++
	op.ID, op.CTA, op.Warp, op.Lane, op.PC = m.nextOp, w.cta, w.index, int8(lane), x.s.pc
	c := &w.counting()[lane]
	c.issued[op.Group]++
	op.Seq = c.issued[op.Group]
	c.open[op.Group] = append(c.open[op.Group], op.Seq)
	c.unread[op.Group] = append(c.unread[op.Group], op.Seq)
	if op.Map.Len != 0 && op.Group == NoGroup {
		// The map is read at issue, so no wait for its group blocks on it.
		c.issued[GroupBulk]++
		op.MapSeq = c.issued[GroupBulk]
	}
	p := &op
	if p.step = m.instrs; p.Group == GroupBulk && len(m.ops) > 0 {
		p.Twin = p.twinOf(m.ops[len(m.ops)-1])
	}
	m.ops = append(m.ops, p)
	m.emit(Event{Kind: EvIssue, CTA: w.cta, Warp: w.index, Mask: mask, Lane: int8(lane), PC: x.s.pc, Op: p})
	return p
}

// twinOf is Op.Twin, given the operation before.
func (op *Op) twinOf(last *Op) int64 {
	if last.step != op.step || last.Group != op.Group || !slices.Equal(last.Reads, op.Reads) || !slices.Equal(last.Writes, op.Writes) {
		return 0
	}
	if last.Twin != 0 {
		return last.Twin
	}
	return last.ID
}

// spanFault ends the run at an operation whose range is bad.
func (x *ctx) spanFault(kind StopKind, lane int, s Span, acc Access, msg string) verdict {
	return x.m.halt(Stop{Kind: kind, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lane), Mask: 1 << lane, PC: x.s.pc,
		Mem: s.Mem, Addr: s.Addr, Size: s.Len, Acc: acc, Msg: msg})
}

// span resolves a range that an operation reads or writes.
func (x *ctx) span(a *access, lane int, addr, n, align uint64, acc Access) (Span, bool) {
	mem, at, ok := x.resolve(a.space, addr)
	s := Span{Mem: mem, Addr: at, Len: n}
	if !ok {
		s.Addr = addr
		x.spanFault(FaultBounds, lane, s, acc, a.space.String())
		return s, false
	}
	r, off := x.m.memory(mem, at)
	switch {
	case r == nil || !r.within(off, n) || acc == Write && r.fixed:
		x.spanFault(FaultBounds, lane, s, acc, a.space.String())
	case at%align != 0:
		x.spanFault(FaultAlign, lane, s, acc, sprint("address must be a multiple of %d bytes", align))
	default:
		return s, true
	}
	return s, false
}

// --- cp.async ---

type cpInfo struct {
	dst, src access
	size     uint32
	srcSize  bool // src-size is given, in b
	ignore   bool // ignore-src is given, in b
}

// cpAsync decodes cp.async.ca/.cg [dst], [src], cp-size{, src-size | ignore-src}{,
// policy}.
func (d *decoder) cpAsync(in *ptx.Inst) error {
	ops := in.Operands
	if len(ops) < 3 {
		return d.errorf("cp.async takes a destination, a source and a size")
	}
	ci := &cpInfo{}
	ci.dst.space, ci.src.space = spShared, spGlobal
	if !d.has("shared") && !d.has("shared::cta") || !d.has("global") {
		return errNotModelled
	}
	if err := d.mem(ops[0], &ci.dst); err != nil {
		return err
	}
	if err := d.mem(ops[1], &ci.src); err != nil {
		return err
	}
	n, ok := ops[2].(ptx.Int)
	if !ok || n.Bits != 4 && n.Bits != 8 && n.Bits != 16 {
		return d.errorf("cp.async copies 4, 8 or 16 bytes")
	}
	ci.size = uint32(n.Bits)
	i := instr{class: visible, visit: visitCpAsync, x: ci}
	extra := ops[3:]
	for _, m := range in.Mods {
		if len(m) > 3 && m[:4] == "L2::" && m == "L2::cache_hint" && len(extra) > 0 {
			extra = extra[:len(extra)-1]
		}
	}
	if len(extra) > 0 {
		if name, isName := extra[0].(ptx.Name); isName {
			if y := d.symbol(name); y != nil && y.kind == symReg && y.typ == pred {
				ci.ignore = true
				i.b = y.reg
				d.emit(i)
				return nil
			}
		}
		ci.srcSize = true
		var err error
		if i.b, err = d.src(extra[0], u32); err != nil {
			return err
		}
	}
	d.emit(i)
	return nil
}

func visitCpAsync(x *ctx, in *instr, mask uint32) verdict {
	ci := in.x.(*cpInfo)
	var dst, src [32]uint64
	x.addressesOf(&ci.dst, &dst)
	x.addressesOf(&ci.src, &src)
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		n := ci.size
		if ci.srcSize {
			n = x.a32(in.b)[l]
		} else if ci.ignore && x.p[in.b]>>l&1 != 0 {
			n = 0
		}
		if n > ci.size {
			return x.spanFault(FaultOther, l, Span{Mem: Local}, Read, sprint("cp.async src-size %d is larger than cp-size %d", n, ci.size))
		}
		to, ok := x.span(&ci.dst, l, dst[l], uint64(ci.size), uint64(ci.size), Write)
		if !ok {
			return halted
		}
		op := Op{Kind: OpCpAsync, Group: GroupCpAsync, Writes: []Span{to}}
		if n > 0 {
			from, ok := x.span(&ci.src, l, src[l], uint64(n), uint64(ci.size), Read)
			if !ok {
				return halted
			}
			op.Reads = []Span{from}
		}
		x.issue(op, l)
	}
	return performed
}

// cpMbarrier decodes cp.async.mbarrier.arrive{.noinc}.
func (d *decoder) cpMbarrier(in *ptx.Inst) error {
	mi := &mbarInfo{op: MbarIncrement, noComplete: d.has("noinc")}
	mi.space, mi.elem, mi.n, mi.size = d.ownSpace(), 8, 1, 8
	if len(in.Operands) != 1 {
		return d.errorf("%s takes an address", Name(in))
	}
	if err := d.mem(in.Operands[0], &mi.access); err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitCpMbarrier, x: mi})
	return nil
}

// visitCpMbarrier makes the barrier track the lane's cp.async operations: an
// arrival follows once they are complete. Without .noinc the open phase cannot
// complete before that arrival.
func visitCpMbarrier(x *ctx, in *instr, mask uint32) verdict {
	m, mi := x.m, in.x.(*mbarInfo)
	x.addressesOf(&mi.access, &m.addr)
	addr := m.addr
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		m.addr[l] = addr[l]
		mem, at, ok := x.mbarAddress(&mi.access, l)
		if !ok {
			return halted
		}
		if !mi.noComplete {
			ev := Mbar{Op: MbarIncrement}
			m.mbarOp(mem, at, &ev, 0)
			m.emitMbar(Event{Kind: EvMbar, CTA: x.w.cta, Warp: x.w.index, Mask: 1 << l, Lane: int8(l), PC: x.s.pc, Sem: Relaxed, Scope: ScopeCTA}, &ev)
			if ev.Fault != mbarrier.NoFault {
				return m.halt(Stop{Kind: FaultBarrier, CTA: x.w.cta, Warp: x.w.index, Lane: int8(l), Mask: 1 << l, PC: x.s.pc,
					Mem: mem, Addr: at, Size: 8, Mbar: &ev, Msg: ev.Fault.String()})
			}
		}
		b := m.barrierAt(mem, at)
		x.issue(Op{Kind: OpMbarArrive, Bars: []BarRef{{Mem: mem, Addr: at, Life: b.life}}, BarBytes: []uint32{0},
			After: x.w.counts(l).issued[GroupCpAsync], Tracks: GroupCpAsync, noinc: mi.noComplete}, l)
	}
	return performed
}

// --- st.async, red.async ---

type stInfo struct {
	access
	bar access
}

func decodeStAsync(d *decoder, in *ptx.Inst) error {
	if d.has("bulk") || !d.has("mbarrier::complete_tx::bytes") {
		return errNotModelled
	}
	d.read("cluster") // the scope in any case
	si := &stInfo{}
	if sp := d.stateSpace(); sp != spGeneric && sp != spCluster {
		return errNotModelled
	}
	si.space, si.t = spCluster, d.lastType()
	return d.remoteStore(in, si)
}

func decodeRedAsync(d *decoder, in *ptx.Inst) error {
	if !d.has("mbarrier::complete_tx::bytes") {
		return errNotModelled
	}
	d.read("relaxed") // always, and at this scope
	d.read("cluster")
	si := &stInfo{}
	if sp := d.stateSpace(); sp != spGeneric && sp != spCluster {
		return errNotModelled
	}
	si.space, si.t = spCluster, d.lastType()
	for _, m := range in.Mods {
		if o := ptx.LookupUpdate(m); o != atomNone {
			si.atom = o
			d.read(m)
		}
	}
	if si.atom == atomNone {
		return errNotModelled
	}
	return d.remoteStore(in, si)
}

func (d *decoder) remoteStore(in *ptx.Inst, si *stInfo) error {
	if n := si.t.size(); len(in.Operands) != 3 || n != 4 && n != 8 {
		return d.errorf("%s takes an address, values of 32 or 64 bits and a barrier", Name(in))
	}
	if err := d.mem(in.Operands[0], &si.access); err != nil {
		return err
	}
	si.bar.space, si.bar.size = spCluster, 8
	if err := d.mem(in.Operands[2], &si.bar); err != nil {
		return err
	}
	vals := d.elems(in.Operands[1])
	if len(vals) != d.vecCount() {
		return d.errorf("%s takes %d elements, not %d", Name(in), d.vecCount(), len(vals))
	}
	for _, op := range vals {
		r, err := d.src(op, si.t)
		if err != nil {
			return err
		}
		si.regs = append(si.regs, r)
	}
	si.elem, si.n = si.t.size(), int32(len(vals))
	si.size = si.elem * si.n
	d.emit(instr{class: visible, visit: visitStAsync, x: si})
	return nil
}

func visitStAsync(x *ctx, in *instr, mask uint32) verdict {
	si := in.x.(*stInfo)
	var dst, bar [32]uint64
	x.addressesOf(&si.access, &dst)
	x.addressesOf(&si.bar, &bar)
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		to, ok := x.span(&si.access, l, dst[l], uint64(si.size), uint64(si.size), Write)
		if !ok {
			return halted
		}
		x.m.addr[l] = bar[l]
		mem, at, ok := x.mbarAddress(&si.bar, l)
		if !ok {
			return halted
		}
		op := Op{Kind: OpStAsync, Writes: []Span{to}, BarBytes: []uint32{uint32(si.size)}}
		op.Bars = []BarRef{{Mem: mem, Addr: at, Life: x.m.barrierAt(mem, at).life}}
		if si.atom != atomNone {
			op.Kind, op.Element = OpRedAsync, si.t.size()
			op.red = &reduction{op: si.atom, t: si.t}
		}
		for _, r := range si.regs {
			v := x.value(r, si.t, l)
			op.data = binary.LittleEndian.AppendUint64(op.data, v.lo)[:len(op.data)+int(si.elem)]
		}
		op.cached = true
		if u := x.m.undefined(); u != nil {
			for _, r := range si.regs {
				s := u.value(x, r, si.t, si.t.wide(), l)
				for i := range si.elem {
					op.shades = append(op.shades, shade{s[0].bits >> (8 * i) & 0xff, s[0].from})
				}
			}
		}
		x.issue(op, l)
	}
	return performed
}
