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
	case in.Mods[0] == "reduce":
		if has(in, "tensor") {
			return errNotModelled
		}
		return d.bulk(in, true)
	case in.Mods[1] == "bulk":
		return d.cpBulk(in)
	}
	switch in.Mods[1] {
	case "commit_group":
		return d.groupCommit(GroupCpAsync)
	case "wait_group":
		return d.groupWait(in, GroupCpAsync, false)
	case "wait_all":
		d.emit(instr{class: visible, visit: visitGroupWait, ready: readyGroupWait, x: &groupInfo{group: GroupCpAsync, all: true}})
		return nil
	case "mbarrier":
		return d.cpMbarrier(in)
	}
	return d.cpAsync(in)
}

func (d *decoder) cpBulk(in *ptx.Inst) error {
	switch {
	case has(in, "commit_group"):
		return d.groupCommit(GroupBulk)
	case has(in, "wait_group"):
		return d.groupWait(in, GroupBulk, has(in, "read"))
	case has(in, "tensor"):
		return errNotModelled
	case has(in, "prefetch"):
		return decodeNothing(d, in)
	}
	return d.bulk(in, false)
}

// --- groups ---

type groupInfo struct {
	group Group
	n     uint32
	read  bool
	all   bool
}

func (d *decoder) groupCommit(g Group) error {
	d.emit(instr{class: visible, visit: visitCommit, x: &groupInfo{group: g}})
	return nil
}

// mostGroups is how many groups a wait may leave pending.
const mostGroups = 512

func visitCommit(x *ctx, in *instr, mask uint32) verdict {
	g := in.x.(*groupInfo).group
	x.w.used = true
	for l := range lanesOf(mask) {
		c := &x.w.cp[l]
		if len(c.commits[g]) == 2*mostGroups {
			// No wait names a group so far back, and later ones cover it.
			c.commits[g] = append([]uint32(nil), c.commits[g][mostGroups:]...)
		}
		c.commits[g] = append(c.commits[g], c.issued[g])
	}
	x.m.emit(Event{Kind: EvCommit, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Group: g})
	return performed
}

func (d *decoder) groupWait(in *ptx.Inst, g Group, read bool) error {
	if len(in.Operands) != 1 {
		return d.errorf("%s takes a number of groups", Name(in))
	}
	n, ok := in.Operands[0].(ptx.Int)
	if !ok || n.Bits > 1<<31 {
		return d.errorf("%s takes a constant number of groups", Name(in))
	}
	if n.Bits >= mostGroups {
		return errNotModelled
	}
	d.emit(instr{class: visible, visit: visitGroupWait, ready: readyGroupWait, x: &groupInfo{group: g, n: uint32(n.Bits), read: read}})
	return nil
}

// target returns the highest operation number that lane l waits for: the last
// of all groups but the n most recent. wait_all waits for every operation.
func (gi *groupInfo) target(w *warp, l int) uint32 {
	c := &w.cp[l]
	if gi.all {
		return c.issued[gi.group]
	}
	k := len(c.commits[gi.group]) - int(gi.n)
	if k <= 0 {
		return c.settled[gi.group]
	}
	return c.commits[gi.group][k-1]
}

func readyGroupWait(x *ctx, in *instr, mask uint32) bool {
	gi := in.x.(*groupInfo)
	for _, op := range x.m.ops {
		if op.Group != gi.group || op.CTA != x.w.cta || op.Warp != x.w.index || mask>>uint(op.Lane)&1 == 0 {
			continue
		}
		if gi.read && op.Stage >= SourceRead {
			continue
		}
		if op.Seq <= gi.target(x.w, int(op.Lane)) {
			return false
		}
	}
	return true
}

func visitGroupWait(x *ctx, in *instr, mask uint32) verdict {
	gi := in.x.(*groupInfo)
	m := x.m
	for l := range lanesOf(mask) {
		t := gi.target(x.w, l)
		m.done[l] = t
		c := &x.w.cp[l]
		if !gi.read && gi.group != NoGroup {
			// Groups known complete need no entry of their own.
			i := 0
			for i < len(c.commits[gi.group]) && c.commits[gi.group][i] <= t {
				i++
			}
			keep := len(c.commits[gi.group]) - i
			if keep < int(gi.n) {
				i = max(0, len(c.commits[gi.group])-int(gi.n))
			}
			c.commits[gi.group] = slices.Delete(c.commits[gi.group], 0, i)
			c.settled[gi.group] = max(c.settled[gi.group], t)
		}
	}
	m.emit(Event{Kind: EvGroupWait, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Group: gi.group, Read: gi.read, Done: &m.done})
	return performed
}

// --- issue ---

// issue starts an operation of one lane.
func (x *ctx) issue(op Op, lane int) *Op {
	m, w := x.m, x.w
	m.nextOp++
	op.ID, op.CTA, op.Warp, op.Lane, op.PC = m.nextOp, w.cta, w.index, int8(lane), x.s.pc
	w.used = true
	w.cp[lane].issued[op.Group]++
	op.Seq = w.cp[lane].issued[op.Group]
	p := &op
	m.ops = append(m.ops, p)
	m.emit(Event{Kind: EvIssue, CTA: w.cta, Warp: w.index, Mask: 1 << lane, Lane: int8(lane), PC: x.s.pc, Op: p})
	return p
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

// decodes cp.async.ca/.cg [dst], [src], cp-size{, src-size | ignore-src}{, policy}.
func (d *decoder) cpAsync(in *ptx.Inst) error {
	ops := in.Operands
	if len(ops) < 3 {
		return d.errorf("cp.async takes a destination, a source and a size")
	}
	ci := &cpInfo{}
	ci.dst.space, ci.src.space = spShared, spGlobal
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
	mi := &mbarInfo{op: MbarIncrement, noComplete: has(in, "noinc")}
	mi.space, mi.elem, mi.n, mi.size = stateSpace(in), 8, 1, 8
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
// arrival follows once they are complete. Without .noinc the phase owes that
// arrival from now on.
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
			After: x.w.cp[l].issued[GroupCpAsync], noinc: mi.noComplete}, l)
	}
	return performed
}

// --- bulk copies ---

type bulkInfo struct {
	dst, src access
	bar      access
	size     reg
	mask     reg // multicast CTA mask
	bytes    reg // byte mask
	group    Group
	reduce   *reduction
	multi    bool
	byteMask bool
}

// A reduction is what a reducing copy does to each element.
type reduction struct {
	op atomOp
	t  typ
}

// bulk decodes cp.async.bulk and cp.reduce.async.bulk but tensor copies.
func (d *decoder) bulk(in *ptx.Inst, reduce bool) error {
	bi := &bulkInfo{}
	var spaces []space
	for _, m := range in.Mods {
		switch m {
		case "global":
			spaces = append(spaces, spGlobal)
		case "shared::cta":
			spaces = append(spaces, spShared)
		case "shared::cluster":
			spaces = append(spaces, spCluster)
		case "bulk_group":
			bi.group = GroupBulk
		case "multicast::cluster":
			bi.multi = true
		case "cp_mask":
			bi.byteMask = true
		case "ignore_oob":
			return errNotModelled
		}
	}
	if len(spaces) != 2 {
		return d.errorf("%s names no destination and source space", Name(in))
	}
	bi.dst.space, bi.src.space = spaces[0], spaces[1]
	if reduce {
		r := &reduction{t: lastType(in)}
		for _, m := range in.Mods {
			if o, ok := atomOps[m]; ok {
				r.op = o
			}
		}
		if n := r.t.size(); r.op == atomNone || n == 0 || n > 8 {
			return errNotModelled
		}
		bi.reduce = r
	}
	ops := in.Operands
	need := 3
	if bi.group == NoGroup {
		need = 4
	}
	if bi.multi {
		need++
	}
	if has(in, "L2::cache_hint") {
		need++
	}
	if bi.byteMask {
		need++
	}
	if len(ops) != need {
		return d.errorf("%s takes %d operands, not %d", Name(in), need, len(ops))
	}
	if err := d.mem(ops[0], &bi.dst); err != nil {
		return err
	}
	if err := d.mem(ops[1], &bi.src); err != nil {
		return err
	}
	var err error
	if bi.size, err = d.src(ops[2], u32); err != nil {
		return err
	}
	rest := ops[3:]
	if bi.group == NoGroup {
		bi.bar.space, bi.bar.size = spCluster, 8
		if err := d.mem(rest[0], &bi.bar); err != nil {
			return err
		}
		rest = rest[1:]
	}
	if bi.multi {
		if bi.mask, err = d.src(rest[0], u16); err != nil {
			return err
		}
	}
	if bi.byteMask {
		if bi.bytes, err = d.src(rest[len(rest)-1], u16); err != nil {
			return err
		}
	}
	d.emit(instr{class: visible, visit: visitBulk, x: bi})
	return nil
}

func visitBulk(x *ctx, in *instr, mask uint32) verdict {
	bi := in.x.(*bulkInfo)
	var dst, src, bar [32]uint64
	x.addressesOf(&bi.dst, &dst)
	x.addressesOf(&bi.src, &src)
	x.addressesOf(&bi.bar, &bar)
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		if !x.issueBulk(bi, l, dst[l], src[l], bar[l]) {
			return halted
		}
	}
	return performed
}

func (x *ctx) issueBulk(bi *bulkInfo, l int, dst, src, bar uint64) bool {
	n := uint64(x.a32(bi.size)[l])
	if n%16 != 0 {
		x.spanFault(FaultAlign, l, Span{Mem: Local, Len: n}, Read, sprint("size %d of a bulk copy is no multiple of 16 bytes", n))
		return false
	}
	op := Op{Kind: OpBulkCopy, Proxy: Async, Group: bi.group, red: bi.reduce}
	if bi.reduce != nil {
		op.Kind = OpBulkReduce
	}
	if bi.byteMask {
		op.bytes = uint16(x.a32(bi.bytes)[l])
		op.masked = true
	}
	from, ok := x.span(&bi.src, l, src, n, 16, Read)
	if !ok {
		return false
	}
	op.Reads = []Span{from}
	if !bi.multi {
		to, ok := x.span(&bi.dst, l, dst, n, 16, Write)
		if !ok {
			return false
		}
		op.Writes = []Span{to}
		return bi.group != NoGroup && x.issue(op, l) != nil || bi.group == NoGroup && x.issueSignal(bi, op, l, bar)
	}
	ctas := x.a32(bi.mask)[l] & 0xffff
	for r := range lanesOf(ctas) {
		to, ok := x.span(&bi.dst, l, atRank(dst, r), n, 16, Write)
		if !ok {
			return false
		}
		op.Writes = append(op.Writes, to)
		if !x.addSignal(bi, &op, l, atRank(bar, r)) {
			return false
		}
	}
	x.issue(op, l)
	return true
}

// atRank moves a shared::cluster address to the CTA of another rank.
func atRank(a uint64, rank int) uint64 {
	return a&^(0xff<<rankShift) | uint64(rank)<<rankShift
}

func (x *ctx) issueSignal(bi *bulkInfo, op Op, l int, bar uint64) bool {
	if !x.addSignal(bi, &op, l, bar) {
		return false
	}
	x.issue(op, l)
	return true
}

// addSignal adds the barrier that a copy's bytes are reported to.
func (x *ctx) addSignal(bi *bulkInfo, op *Op, l int, bar uint64) bool {
	x.m.addr[l] = bar
	mem, at, ok := x.mbarAddress(&bi.bar, l)
	if !ok {
		return false
	}
	b := x.m.barrierAt(mem, at)
	op.Bars = append(op.Bars, BarRef{Mem: mem, Addr: at, Life: b.life})
	op.BarBytes = append(op.BarBytes, uint32(op.Reads[0].Len))
	return true
}

// --- st.async, red.async ---

type stInfo struct {
	access
	bar access
}

func decodeStAsync(d *decoder, in *ptx.Inst) error {
	if has(in, "bulk") || !has(in, "mbarrier::complete_tx::bytes") {
		return errNotModelled
	}
	si := &stInfo{}
	si.space, si.t = spCluster, lastType(in)
	return d.remoteStore(in, si)
}

func decodeRedAsync(d *decoder, in *ptx.Inst) error {
	if !has(in, "mbarrier::complete_tx::bytes") {
		return errNotModelled
	}
	si := &stInfo{}
	si.space, si.t = spCluster, lastType(in)
	for _, m := range in.Mods {
		if o, ok := atomOps[m]; ok {
			si.atom = o
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
	if len(vals) != vecCount(in) {
		return d.errorf("%s takes %d elements, not %d", Name(in), vecCount(in), len(vals))
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
			op.Kind = OpRedAsync
			op.red = &reduction{op: si.atom, t: si.t}
		}
		for _, r := range si.regs {
			v := x.value(r, si.t, l)
			op.data = binary.LittleEndian.AppendUint64(op.data, v.lo)[:len(op.data)+int(si.elem)]
		}
		op.cached = true
		x.issue(op, l)
	}
	return performed
}

// --- milestones ---

// canAdvance reports whether the next milestone of op may happen.
func (m *Machine) canAdvance(op *Op) bool {
	if op.Kind != OpMbarArrive {
		return true
	}
	// The arrival follows the issuer's copies.
	for _, o := range m.ops {
		if o.Group == GroupCpAsync && o.CTA == op.CTA && o.Warp == op.Warp && o.Lane == op.Lane && o.Seq <= op.After {
			return false
		}
	}
	return true
}

// advance makes the next milestone of op happen.
func (m *Machine) advance(op *Op) {
	switch {
	case op.Kind == OpMbarArrive:
		m.signal(op)
	case op.Stage == Issued:
		m.readSource(op)
	case op.Stage == SourceRead:
		m.writeTarget(op)
	default:
		m.signal(op)
	}
}

func (m *Machine) opEvent(k Kind, op *Op) {
	m.emit(Event{Kind: k, CTA: op.CTA, Warp: op.Warp, Mask: 1 << op.Lane, Lane: op.Lane, PC: op.PC, Op: op})
}

func (m *Machine) readSource(op *Op) {
	if !op.cached {
		op.data = nil
		for _, s := range op.Reads {
			b := make([]byte, s.Len)
			if r, off := m.memory(s.Mem, s.Addr); r != nil {
				r.read(off, b)
				if !r.initialized(off, s.Len) {
					op.Uninit = true
				}
			}
			op.data = append(op.data, b...)
		}
	}
	op.Stage = SourceRead
	m.opEvent(EvSource, op)
}

func (m *Machine) writeTarget(op *Op) {
	for _, s := range op.Writes {
		r, off := m.memory(s.Mem, s.Addr)
		if r == nil {
			continue
		}
		data := op.data
		if uint64(len(data)) < s.Len { // cp.async fills with zeros
			data = append(slices.Clone(data), make([]byte, s.Len-uint64(len(data)))...)
		}
		switch {
		case op.red != nil:
			m.reduce(op.red, r, off, data, s.Mem)
		case op.masked:
			for i, v := range data {
				if op.bytes>>(i%16)&1 != 0 {
					r.put(off+uint64(i), []byte{v}, m.owner)
				}
			}
		default:
			r.put(off, data, m.owner)
		}
	}
	op.Stage = Written
	m.opEvent(EvWritten, op)
}

// reduce applies a reduction element by element, in order of address.
func (m *Machine) reduce(red *reduction, r *region, off uint64, data []byte, mem MemID) {
	n := red.t.size()
	for i := 0; i+int(n) <= len(data); i += int(n) {
		var b [8]byte
		copy(b[:], data[i:i+int(n)])
		old := r.load(off+uint64(i), n)
		v := combine(red.op, red.t, mem, old, binary.LittleEndian.Uint64(b[:]))
		r.store(off+uint64(i), n, v, m.owner)
	}
}

// signal reports an operation's completion and ends it.
func (m *Machine) signal(op *Op) {
	for i, o := range m.ops {
		if o == op {
			m.ops = append(m.ops[:i], m.ops[i+1:]...)
			break
		}
	}
	op.Stage = Signalled
	op.Phases = make([]int64, len(op.Bars))
	for i, b := range op.Bars {
		if m.ctas[b.Mem] == nil {
			continue
		}
		ev := Mbar{Op: MbarCompleteTx, NoComplete: op.noinc}
		if op.Kind == OpMbarArrive {
			ev.Op = MbarAsyncArrive
		}
		m.mbarOp(b.Mem, b.Addr, &ev, op.BarBytes[i])
		op.Phases[i] = ev.Phase
		m.emitMbar(Event{Kind: EvMbar, CTA: op.CTA, Warp: op.Warp, Mask: 1 << op.Lane, Lane: op.Lane, PC: op.PC,
			Sem: Release, Scope: ScopeCluster, Op: op}, &ev)
		if ev.Fault != mbarrier.NoFault {
			m.halt(Stop{Kind: FaultBarrier, CTA: op.CTA, Warp: op.Warp, Lane: op.Lane, Mask: 1 << op.Lane, PC: op.PC,
				Mem: b.Mem, Addr: b.Addr, Size: 8, Mbar: &ev, Op: op, Msg: ev.Fault.String()})
		}
	}
	m.opEvent(EvSignal, op)
	if len(m.dead) > 0 {
		m.reap()
	}
}
