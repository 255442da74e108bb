package machine

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"muster/internal/tma"
	"muster/ptx"
)

// Copies and reductions through tensor maps (cp.async.bulk.tensor,
// cp.reduce.async.bulk.tensor). Package tma says which bytes a box is; here
// it becomes an operation in flight. The map is read when the instruction is
// issued: what a copy does with a map that changes under it is undefined, and
// Op.Map shows that read to the observer.

type tensorInfo struct {
	arch    tma.Arch
	dim     int
	mode    tma.Mode
	four    bool // .tile::gather4 or .tile::scatter4: a column and four rows
	load    bool
	fetch   bool   // a prefetch: it moves nothing, and faults as a load does
	shared  access // the box in shared memory
	tmap    access
	coords  []reg
	offsets []reg // im2col, of W, H, D; im2col::w: wHalo, wOffset
	bar     access
	mask    reg
	multi   bool
	pair    bool // .cta_group::2: its mbarrier may lie in the other CTA of the pair
	reduce  atomOp
}

// A tensorCopy is what an operation through a tensor map needs in addition to its
// spans. It does not change.
type tensorCopy struct {
	tmap    tma.Map
	coords  [5]int32
	offsets [3]uint16
	n       int // of coordinates
	four    bool
	box     uint32 // offset of the box in its CTA's window
	op      tma.Op // of a reduction
}

func (tc *tensorCopy) access() tma.Access {
	return tma.Access{Coords: tc.coords[:tc.n], Offsets: tc.offsets[:], Four: tc.four}
}

// cpTensor decodes cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
func (d *decoder) cpTensor(in *ptx.Inst) error {
	ti := &tensorInfo{arch: d.arch(), shared: access{space: spShared}, bar: access{space: spCluster, size: 8}}
	var spaces []string
	for _, m := range in.Mods {
		known := true
		switch m {
		case "1d", "2d", "3d", "4d", "5d":
			ti.dim = int(m[0] - '0')
		case "global", "shared::cta", "shared::cluster":
			spaces = append(spaces, m)
		case "tile::gather4", "tile::scatter4":
			ti.four = true
		case "im2col", "im2col_no_offs":
			ti.mode = tma.Im2col
		case "im2col::w":
			ti.mode = tma.Im2colW
		case "im2col::w::128":
			ti.mode = tma.Im2colW128
		case "multicast::cluster", "multicast::cluster::16b":
			ti.multi = true
		case "cta_group::1":
		case "cta_group::2":
			ti.pair = true
		case "mbarrier::complete_tx::bytes", "bulk_group": // the direction says which
		default:
			known = false
		}
		if o := ptx.LookupUpdate(m); o != atomNone && in.Mods[0] == "reduce" {
			ti.reduce, known = o, true
		}
		if known {
			d.read(m)
		}
	}
	if d.has("prefetch") {
		return d.tensorPrefetch(in, ti)
	}
	if len(spaces) < 2 || ti.dim == 0 {
		return d.errorf("%s names no dimension or no two spaces", Name(in))
	}
	ti.load = spaces[1] == "global"
	if spaces[0] == "shared::cluster" {
		ti.shared.space = spCluster
	}
	ops := in.Operands
	if d.has("L2::cache_hint") && len(ops) > 0 {
		ops = ops[:len(ops)-1]
	}
	if len(ops) < 2 {
		return d.errorf("%s takes a tensor map and an address in shared memory", Name(in))
	}
	box, tmap, rest := ops[1], ops[0], ops[2:]
	if ti.load {
		box, tmap = ops[0], ops[1]
	}
	if err := d.mem(box, &ti.shared); err != nil {
		return err
	}
	if err := d.tensorOperand(tmap, ti); err != nil {
		return err
	}
	if ti.load {
		return d.tensorLoad(in, ti, rest)
	}
	if len(rest) > 0 {
		return d.errorf("%s has too many operands", Name(in))
	}
	d.emit(instr{class: visible, visit: visitTensor, x: ti})
	return nil
}

// tensorPrefetch decodes cp.async.bulk.prefetch.tensor: [map, {coordinates}]
// and, in im2col mode, offsets.
func (d *decoder) tensorPrefetch(in *ptx.Inst, ti *tensorInfo) error {
	ti.fetch, ti.load = true, true
	d.read("L2")
	if len(in.Operands) == 0 || ti.dim == 0 {
		return d.errorf("%s takes a tensor map", Name(in))
	}
	if err := d.tensorOperand(in.Operands[0], ti); err != nil {
		return err
	}
	if _, err := d.im2colInfo(in, ti, in.Operands[1:]); err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitTensor, x: ti})
	return nil
}

// im2colInfo decodes the offsets that the im2col modes have, and returns what follows.
func (d *decoder) im2colInfo(in *ptx.Inst, ti *tensorInfo, rest []ptx.Operand) ([]ptx.Operand, error) {
	n, what := ti.dim-2, "im2col offsets"
	switch ti.mode {
	case tma.Tiled:
		return rest, nil
	case tma.Im2colW, tma.Im2colW128:
		n, what = 2, "numbers, wHalo and wOffset"
	}
	if len(rest) == 0 {
		return nil, d.errorf("%s takes %s", Name(in), what)
	}
	for _, op := range d.elems(rest[0]) {
		r, err := d.src(op, u16)
		if err != nil {
			return nil, err
		}
		ti.offsets = append(ti.offsets, r)
	}
	if len(ti.offsets) != n {
		return nil, d.errorf("%s takes %d %s, not %d", Name(in), n, what, len(ti.offsets))
	}
	return rest[1:], nil
}

// tensorLoad decodes what only loads have: barrier, im2col offsets and mask.
func (d *decoder) tensorLoad(in *ptx.Inst, ti *tensorInfo, rest []ptx.Operand) error {
	if len(rest) == 0 {
		return d.errorf("%s takes an mbarrier", Name(in))
	}
	if err := d.mem(rest[0], &ti.bar); err != nil {
		return err
	}
	rest, err := d.im2colInfo(in, ti, rest[1:])
	if err != nil {
		return err
	}
	if ti.multi {
		if len(rest) == 0 {
			return d.errorf("%s takes a mask of CTAs", Name(in))
		}
		if ti.mask, err = d.src(rest[0], u16); err != nil {
			return err
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return d.errorf("%s has too many operands", Name(in))
	}
	d.emit(instr{class: visible, visit: visitTensor, x: ti})
	return nil
}

// tensorOperand decodes [map, {coordinates}].
func (d *decoder) tensorOperand(op ptx.Operand, ti *tensorInfo) error {
	m, ok := op.(*ptx.Mem)
	if !ok || len(m.Rest) != 1 {
		return d.errorf("operand must be [tensor map, {coordinates}]")
	}
	if err := d.mem(&ptx.Mem{Base: m.Base, Off: m.Off}, &ti.tmap); err != nil {
		return err
	}
	for _, c := range d.elems(m.Rest[0]) {
		r, err := d.src(c, s32)
		if err != nil {
			return err
		}
		ti.coords = append(ti.coords, r)
	}
	switch n := len(ti.coords); {
	case ti.four && (ti.dim != 2 || n != 5):
		return d.errorf("a copy of four rows is .2d and takes 5 coordinates, a column and four rows, not %d", n)
	case !ti.four && n != ti.dim:
		return d.errorf("a .%dd copy takes %d coordinates, not %d", ti.dim, ti.dim, n)
	}
	return nil
}

func visitTensor(x *ctx, in *instr, mask uint32) verdict {
	ti := in.x.(*tensorInfo)
	var box, tmap, bar [32]uint64
	x.addressesOf(&ti.shared, &box)
	x.addressesOf(&ti.tmap, &tmap)
	x.addressesOf(&ti.bar, &bar)
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		if !x.issueTensor(ti, l, box[l], tmap[l], bar[l]) {
			return halted
		}
	}
	return performed
}

func (x *ctx) issueTensor(ti *tensorInfo, l int, box, tmap, bar uint64) bool {
	tc := &tensorCopy{n: len(ti.coords), four: ti.four}
	op := Op{Kind: OpBulkCopy, Proxy: Async, Group: GroupBulk, tensor: tc}
	if !x.tensorMap(ti, l, tmap, &tc.tmap, &op.Map) {
		return false
	}
	for i, r := range ti.coords {
		tc.coords[i] = int32(x.a32(r)[l])
	}
	for i, r := range ti.offsets {
		tc.offsets[i] = uint16(x.a32(r)[l])
	}
	var err error
	if ti.load {
		err = tc.tmap.CheckLoad(tc.access())
	} else {
		err = tc.tmap.CheckStore(tc.access())
	}
	if err == nil && ti.shared.space == spCluster {
		err = tc.tmap.CheckCluster(ti.arch)
	}
	if err != nil {
		x.mapFault(l, op.Map, err.Error())
		return false
	}
	if ti.fetch {
		x.quiet = true
		return true
	}
	if !ti.load {
		return x.issueTensorStore(ti, l, op, box)
	}
	op.Group = NoGroup
	for r := range lanesOf(x.targets(ti, l)) {
		to, b := box, bar
		if ti.multi {
			to, b = atRank(box, r), atRank(bar, x.signalled(ti, bar, r))
		}
		s, ok := x.boxAt(ti, l, tc, to, Write)
		n := tc.tmap.TxBytes(tc.access())
		if !ok || !x.addTensorSignal(ti, &op, l, b, uint32(n)) {
			return false
		}
		x.checkSignal(ti, l, s.Mem, op.Bars[len(op.Bars)-1].Mem)
		if s.Len == uint64(n) {
			op.Writes = append(op.Writes, s)
		} else { // a swizzle leaves gaps between short rows
			op.Writes = append(op.Writes, sharedSpans(s.Mem, tc.tmap.Load(tc.box, tc.access()))...)
		}
	}
	if !x.globalSpans(l, tc, tc.tmap.Load(tc.box, tc.access()), Read, &op.Reads) {
		return false
	}
	x.issue(op, l)
	return true
}

// signalled returns the rank of the CTA whose mbarrier a multicast to a CTA signals: the
// same, or with .cta_group::2 that of its pair with the parity of the mbarrier's (ISA
// 9.7.10.28.5.2).
func (x *ctx) signalled(ti *tensorInfo, bar uint64, rank int) int {
	if !ti.pair {
		return rank
	}
	mem, _, ok := x.resolve(spCluster, bar&(1<<32-1))
	if !ok {
		return rank
	}
	return rank&^1 | int(x.m.ctas[mem.CTA()].rank&1)
}

// checkSignal checks that the mbarrier of a load is where it may be: in the CTA of the box,
// or with .cta_group::2 in its pair (ISA 9.7.10.28.5.3, which has it with .cta_group, so
// from sm_100 on).
func (x *ctx) checkSignal(ti *tensorInfo, l int, box, bar MemID) {
	to, at := x.m.ctas[box.CTA()].rank, x.m.ctas[bar.CTA()].rank
	switch {
	case ti.arch < tma.Blackwell || to == at || ti.pair && to^1 == at:
	case ti.pair:
		x.badOperand(FaultOther, 1<<l, sprint("an mbarrier in the CTA of rank %d, for a box in that of rank %d, which is no pair of it", at, to))
	default:
		x.badOperand(FaultOther, 1<<l, sprint("an mbarrier in the CTA of rank %d, for a box in that of rank %d, without .cta_group::2", at, to))
	}
}

// targets returns the mask of ranks that a load writes to; 1 if it is no
// multicast.
func (x *ctx) targets(ti *tensorInfo, l int) uint32 {
	if !ti.multi {
		return 1
	}
	return x.a32(ti.mask)[l] & 0xffff
}

func (x *ctx) issueTensorStore(ti *tensorInfo, l int, op Op, box uint64) bool {
	tc := op.tensor
	if ti.reduce != atomNone {
		tc.op = tensorOps[ti.reduce]
		if err := tc.tmap.CheckReduce(tc.op); err != nil {
			x.mapFault(l, op.Map, err.Error())
			return false
		}
		op.Kind, op.Element = OpBulkReduce, int32(tc.tmap.Type.Size())
	}
	s, ok := x.boxAt(ti, l, tc, box, Read)
	if !ok {
		return false
	}
	runs := tc.tmap.Store(tc.box, tc.access())
	op.Reads = sharedSpans(s.Mem, runs)
	if !x.globalSpans(l, tc, runs, Write, &op.Writes) {
		return false
	}
	x.issue(op, l)
	return true
}

var tensorOps = map[atomOp]tma.Op{atomAdd: tma.OpAdd, atomMin: tma.OpMin, atomMax: tma.OpMax, atomInc: tma.OpInc, atomDec: tma.OpDec,
	atomAnd: tma.OpAnd, atomOr: tma.OpOr, atomXor: tma.OpXor}

// mapFault ends the run at a copy that its tensor map does not allow.
func (x *ctx) mapFault(l int, at Span, msg string) {
	x.spanFault(FaultMap, l, at, Read, msg)
}

// mapAlign is the alignment of a tensor map in bytes.
const mapAlign = 64

// tensorMap reads and checks the map at a generic address.
func (x *ctx) tensorMap(ti *tensorInfo, l int, addr uint64, m *tma.Map, at *Span) bool {
	s := Span{Mem: Global, Addr: addr, Len: tma.Size}
	r, off := x.params(), addr-paramWindow
	if ti.tmap.space == spParam && addr < windowSize {
		off = addr
	}
	if off >= windowSize {
		if ti.tmap.space == spShared || addr-sharedWindow < windowSize || addr-localWindow < windowSize {
			x.mapFault(l, Span{Mem: Local, Addr: addr, Len: tma.Size}, "a tensor map must lie in global memory, in a parameter or in constant memory")
			return false
		}
		if r = x.m.global.find(addr); r != nil {
			off = addr - r.base
			*at = s
		}
	} else {
		s.Mem = Local
	}
	switch {
	case r == nil || !r.within(off, tma.Size):
		x.spanFault(FaultBounds, l, s, Read, "tensor map")
		return false
	case addr%mapAlign != 0:
		x.spanFault(FaultAlign, l, s, Read, sprint("the address of a tensor map must be a multiple of %d bytes", mapAlign))
		return false
	}
	var b [tma.Size]byte
	r.read(off, b[:])
	var err error
	if *m, err = tma.Read(b, tma.Blackwell); err == nil { // Decode rejects what tensormap.replace wrote
		err = cmp.Or(m.CheckOn(ti.arch), m.Check())
	}
	if at := tma.Unnamed(b); err == nil && at >= 0 && ti.arch >= tma.Blackwell {
		err = fmt.Errorf("its encoding is not known: bit %d is set", at)
	}
	switch {
	case err != nil:
		x.mapFault(l, s, "no valid tensor map: "+err.Error())
	case m.Rank != ti.dim:
		x.mapFault(l, s, sprint("a .%dd copy through a tensor map of %d dimensions", ti.dim, m.Rank))
	case m.Mode != ti.mode && m.Mode < tma.Im2colW && ti.mode < tma.Im2colW:
		x.mapFault(l, s, "a copy in im2col mode needs a map in im2col mode, and one in tiled mode a tiled map")
	case m.Mode != ti.mode:
		x.mapFault(l, s, sprint("a copy in mode %s through a map of mode %s", ti.mode, m.Mode))
	default:
		return true
	}
	return false
}

// boxAt resolves the place of a box in shared memory, and sets tc.box.
func (x *ctx) boxAt(ti *tensorInfo, l int, tc *tensorCopy, addr uint64, acc Access) (Span, bool) {
	s, ok := x.span(&ti.shared, l, addr, uint64(tc.tmap.SharedBytes(tc.access())), tma.BoxAlign, acc)
	tc.box = uint32(s.Addr)
	return s, ok
}

// sharedSpans lists the bytes of a CTA's shared memory that runs touch.
func sharedSpans(mem MemID, runs iter.Seq[tma.Run]) []Span {
	var parts []Span
	for r := range runs {
		parts = append(parts, Span{Mem: mem, Addr: uint64(r.Shared), Len: uint64(r.Span)})
	}
	slices.SortFunc(parts, func(a, b Span) int { return cmp.Compare(a.Addr, b.Addr) })
	return joinSpans(parts)
}

// joinSpans joins neighbours in a sorted list.
func joinSpans(s []Span) []Span {
	out := s[:0]
	for _, p := range s {
		if n := len(out) - 1; n >= 0 && out[n].Mem == p.Mem && out[n].Addr+out[n].Len == p.Addr {
			out[n].Len += p.Len
		} else {
			out = append(out, p)
		}
	}
	return out
}

// globalSpans appends the bytes of global memory that the runs touch.
func (x *ctx) globalSpans(l int, tc *tensorCopy, runs iter.Seq[tma.Run], acc Access, to *[]Span) bool {
	var spans []Span
	for r := range runs {
		if r.Fill {
			continue
		}
		if n := len(spans) - 1; n >= 0 && spans[n].Addr+spans[n].Len == r.Global {
			spans[n].Len += uint64(r.Len)
		} else {
			spans = append(spans, Span{Mem: Global, Addr: r.Global, Len: uint64(r.Len)})
		}
	}
	for _, s := range spans {
		r := x.m.global.find(s.Addr)
		if r == nil || !r.within(s.Addr-r.base, s.Len) || acc == Write && r.fixed {
			x.spanFault(FaultBounds, l, s, acc, "a box of a tensor map")
			return false
		}
	}
	*to = append(*to, spans...)
	return true
}

func (x *ctx) addTensorSignal(ti *tensorInfo, op *Op, l int, bar uint64, bytes uint32) bool {
	x.m.addr[l] = bar
	mem, at, ok := x.mbarAddress(&ti.bar, l)
	if !ok {
		return false
	}
	op.Bars = append(op.Bars, BarRef{Mem: mem, Addr: at, Life: x.m.barrierAt(mem, at).life})
	op.BarBytes = append(op.BarBytes, bytes)
	return true
}
