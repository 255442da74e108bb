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
