package machine

import (
	"math/bits"

	"muster/ptx"
)

// Bulk copies and bulk reductions, except those through tensor maps.

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

// bulk decodes cp.async.bulk and cp.reduce.async.bulk, except tensor copies.
func (d *decoder) bulk(in *ptx.Inst, reduce bool) error {
	bi := &bulkInfo{}
	var spaces []space
	for _, m := range in.Mods {
		known := true
		switch m {
		case "global":
			spaces = append(spaces, spGlobal)
		case "shared::cta":
			spaces = append(spaces, spShared)
		case "shared::cluster":
			spaces = append(spaces, spCluster)
		case "bulk_group":
			bi.group = GroupBulk
		case "multicast::cluster", "multicast::cluster::16b":
			bi.multi = true
		case "cp_mask":
			bi.byteMask = true
		case "ignore_oob":
			return errNotModelled
		case "mbarrier::complete_tx::bytes": // the mechanism if not a bulk group
		default:
			known = false
		}
		if known {
			d.read(m)
		}
	}
	if len(spaces) != 2 {
		return d.errorf("%s names no destination and source space", Name(in))
	}
	bi.dst.space, bi.src.space = spaces[0], spaces[1]
	if reduce {
		r := &reduction{t: d.lastType()}
		for _, m := range in.Mods {
			if o := ptx.LookupUpdate(m); o != atomNone {
				r.op = o
				d.read(m)
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
	if d.has("L2::cache_hint") {
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
		op.Kind, op.Element = OpBulkReduce, bi.reduce.t.size()
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

// --- st.bulk ---

// A bulkStore is a decoded st.bulk [a], size, 0: a weak store of zeros to shared memory by
// the generic proxy (ISA 9.7.9.13). It completes as other stores do; nothing waits for it.
type bulkStore struct {
	access
	bytes reg
	wide  bool // the size is of 64 bits
}

// maxBulkStore is the largest size, in bytes.
const maxBulkStore = 16 << 20

func decodeStBulk(d *decoder, in *ptx.Inst) error {
	d.read("bulk")
	if err := d.count(in, 3); err != nil {
		return err
	}
	if zero, ok := in.Operands[2].(ptx.Int); !ok || zero.Bits != 0 {
		return d.errorf("st.bulk takes 0 as its value (ISA 9.7.9.13)")
	}
	s := &bulkStore{access: access{acc: Write, size: 8}}
	s.space = d.ownSpace()
	if err := d.mem(in.Operands[0], &s.access); err != nil {
		return err
	}
	t := u64
	if n, ok := in.Operands[1].(ptx.Name); ok {
		if y := d.symbol(n); y != nil && y.kind == symReg && !y.typ.wide() {
			t = u32
		}
	}
	var err error
	if s.bytes, err = d.src(in.Operands[1], t); err != nil {
		return err
	}
	s.wide = t.wide()
	d.emit(instr{class: visible, visit: visitStBulk, x: s})
	return nil
}

func visitStBulk(x *ctx, in *instr, mask uint32) verdict {
	s := in.x.(*bulkStore)
	var addr [32]uint64
	x.addressesOf(&s.access, &addr)
	if u := x.m.undefined(); u != nil {
		u.sizes(x, s, mask)
	}
	for l := range lanesOf(mask) {
		n := uint64(0)
		if s.wide {
			n = x.a64(s.bytes)[l]
		} else {
			n = uint64(x.a32(s.bytes)[l])
		}
		if n%8 != 0 || n > maxBulkStore {
			x.spanFault(FaultAlign, l, Span{Mem: Local, Len: n}, Write, sprint("size %d of st.bulk is no multiple of 8 bytes up to %d", n, maxBulkStore))
			return halted
		}
		to, ok := x.span(&s.access, l, addr[l], n, 8, Write)
		if !ok {
			return halted
		}
		x.storeZeros(l, to)
	}
	return performed
}

// storeZeros shows one lane's weak store of zeros, in parts whose sizes are powers of two,
// and does it.
func (x *ctx) storeZeros(lane int, to Span) {
	const width = 32
	m := x.m
	r, off := m.memory(to.Mem, to.Addr)
	var zeros [width]byte
	v := m.vals[:width/8]
	clear(v)
	for done := uint64(0); done < to.Len; {
		n := uint64(width)
		for done+n > to.Len {
			n /= 2
		}
		if m.cfg.Observer != nil {
			ev := &m.ev
			ev.at(EvAccess, x, 1<<lane)
			ev.Access, ev.Sem, ev.Scope, ev.Proxy, ev.Row = Write, Weak, NoScope, Generic, false
			ev.SemDefaulted, ev.ScopeDefaulted = false, false
			ev.Mem, ev.Size, ev.Addr, ev.Init = to.Mem, int32(n), &m.addr, 1<<lane
			ev.Val, ev.storing, ev.by, ev.Part, ev.Whole = v[:n/8], nil, x, 0, 0
			m.addr[lane] = to.Addr + done
			m.cfg.Observer.Observe(m, ev)
		}
		r.put(off+done, zeros[:n], m.owner)
		done += n
	}
}
