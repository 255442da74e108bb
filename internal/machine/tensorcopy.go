package machine

import (
	"cmp"
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
	dim     int
	im2col  bool
	load    bool
	fetch   bool   // a prefetch: it moves nothing, and faults as a load does
	shared  access // the box in shared memory
	tmap    access
	coords  []reg
	offsets []reg // im2col, of W, H, D
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
	offsets []uint16
	box     uint32 // offset of the box in its CTA's window
	op      tma.Op // of a reduction
}

// cpTensor decodes cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
func (d *decoder) cpTensor(in *ptx.Inst) error {
	ti := &tensorInfo{shared: access{space: spShared}, bar: access{space: spCluster, size: 8}}
	var spaces []string
	for _, m := range in.Mods {
		known := true
		switch m {
		case "1d", "2d", "3d", "4d", "5d":
			ti.dim = int(m[0] - '0')
		case "global", "shared::cta", "shared::cluster":
			spaces = append(spaces, m)
		case "im2col", "im2col_no_offs":
			ti.im2col = true
		case "multicast::cluster", "multicast::cluster::16b":
			ti.multi = true
		case "cta_group::1":
		case "cta_group::2":
			ti.pair = true
		case "tile::gather4", "tile::scatter4", "im2col::w", "im2col::w::128":
			return errNotModelled // sm_100
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
	d.emit(instr{class: visible, visit: visitTensor, x: ti})
	return nil
}

// tensorLoad decodes what only loads have: barrier, im2col offsets and mask.
func (d *decoder) tensorLoad(in *ptx.Inst, ti *tensorInfo, rest []ptx.Operand) error {
	if len(rest) == 0 {
		return d.errorf("%s takes an mbarrier", Name(in))
	}
	if err := d.mem(rest[0], &ti.bar); err != nil {
		return err
	}
	rest = rest[1:]
	if ti.im2col {
		if len(rest) == 0 {
			return d.errorf("%s takes im2col offsets", Name(in))
		}
		for _, op := range d.elems(rest[0]) {
			r, err := d.src(op, u16)
			if err != nil {
				return err
			}
			ti.offsets = append(ti.offsets, r)
		}
		if len(ti.offsets) != ti.dim-2 {
			return d.errorf("%s takes %d im2col offsets, not %d", Name(in), ti.dim-2, len(ti.offsets))
		}
		rest = rest[1:]
	}
	if ti.multi {
		if len(rest) == 0 {
			return d.errorf("%s takes a mask of CTAs", Name(in))
		}
		var err error
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
	if len(ti.coords) != ti.dim {
		return d.errorf("a .%dd copy takes %d coordinates, not %d", ti.dim, ti.dim, len(ti.coords))
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
	tc := &tensorCopy{}
	op := Op{Kind: OpBulkCopy, Proxy: Async, Group: GroupBulk, tensor: tc}
	if !x.tensorMap(ti, l, tmap, &tc.tmap, &op.Map) {
		return false
	}
	for i, r := range ti.coords {
		tc.coords[i] = int32(x.a32(r)[l])
	}
	for _, r := range ti.offsets {
		tc.offsets = append(tc.offsets, uint16(x.a32(r)[l]))
	}
	coords := tc.coords[:ti.dim]
	var err error
	if ti.load {
		err = tc.tmap.CheckLoad(coords)
	} else {
		err = tc.tmap.CheckStore(coords)
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
		if !ok || !x.addTensorSignal(ti, &op, l, b, uint32(tc.tmap.TxBytes())) {
			return false
		}
		x.otherBarrier(ti, l, s.Mem, op.Bars[len(op.Bars)-1].Mem)
		if s.Len == uint64(tc.tmap.TxBytes()) {
			op.Writes = append(op.Writes, s)
		} else { // a swizzle leaves gaps between short rows
			op.Writes = append(op.Writes, sharedSpans(s.Mem, tc.tmap.Load(tc.box, coords, tc.offsets))...)
		}
	}
	if !x.globalSpans(l, tc, tc.tmap.Load(tc.box, coords, tc.offsets), Read, &op.Reads) {
		return false
	}
	x.issue(op, l)
	return true
}

// otherBarrier reports a copy whose mbarrier is not where it must be: in the CTA of the copy's
// destination, or with .cta_group::2 in that or the other one of its pair (ISA 9.7.10.28.5.3).
func (x *ctx) otherBarrier(ti *tensorInfo, l int, dst, bar MemID) {
	ranks := x.m.ctas[dst.CTA()].rank ^ x.m.ctas[bar.CTA()].rank
	switch {
	case dst == bar, ti.pair && ranks == 1:
	case ti.pair:
		x.badOperand(FaultOther, 1<<l, "an mbarrier that is neither in the CTA of the destination nor in the other one of its pair")
	default:
		x.badOperand(FaultOther, 1<<l, "an mbarrier in another CTA than the destination, which takes .cta_group::2")
	}
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
	runs := tc.tmap.Store(tc.box, tc.coords[:ti.dim])
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
	if *m, err = tma.Read(b); err == nil { // Decode rejects what tensormap.replace wrote
		err = m.Check()
	}
	switch {
	case err != nil:
		x.mapFault(l, s, "no valid tensor map: "+err.Error())
	case m.Rank != ti.dim:
		x.mapFault(l, s, sprint("a .%dd copy through a tensor map of %d dimensions", ti.dim, m.Rank))
	case (m.Mode == tma.Im2col) != ti.im2col:
		x.mapFault(l, s, "a copy in im2col mode needs a map in im2col mode, and one in tiled mode a tiled map")
	default:
		return true
	}
	return false
}

// boxAt resolves the place of a box in shared memory, and sets tc.box.
func (x *ctx) boxAt(ti *tensorInfo, l int, tc *tensorCopy, addr uint64, acc Access) (Span, bool) {
	s, ok := x.span(&ti.shared, l, addr, uint64(tc.tmap.SharedBytes()), 128, acc)
	tc.box = uint32(s.Addr)
	return s, ok
}

// sharedSpans lists the bytes of a CTA's shared memory that runs touch.
func sharedSpans(mem MemID, runs iter.Seq[tma.Run]) []Span {
	var parts []Span
	for r := range runs {
		parts = append(parts, Span{Mem: mem, Addr: uint64(r.Shared), Len: uint64(r.Len)})
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

// readBox copies an operation's data from global memory, laid out as the box will
// be in shared memory.
func (m *Machine) readBox(op *Op) {
	tc := op.tensor
	op.data = make([]byte, tc.tmap.SharedBytes())
	var r *region
	for run := range tc.tmap.Load(tc.box, tc.coords[:tc.tmap.Rank], tc.offsets) {
		b := op.data[run.Shared-tc.box:][:run.Len]
		if run.Fill {
			tc.tmap.WriteFill(b)
			continue
		}
		if r == nil || run.Global-r.base >= r.size {
			r = m.global.find(run.Global)
		}
		r.read(run.Global-r.base, b)
		if !r.initialized(run.Global-r.base, uint64(run.Len)) {
			op.Uninit = true
		}
		tc.tmap.Convert(b)
	}
}

// writeBox writes a box to shared memory.
func (m *Machine) writeBox(op *Op) {
	for _, s := range op.Writes {
		if r, off := m.memory(s.Mem, s.Addr); r != nil {
			r.put(off, op.data[s.Addr-uint64(op.tensor.box):][:s.Len], m.owner)
		}
	}
}

// storeBox writes a box, or a reduction's results, to global memory.
func (m *Machine) storeBox(op *Op) {
	tc := op.tensor
	var r *region
	for run := range tc.tmap.Store(tc.box, tc.coords[:tc.tmap.Rank]) {
		if r == nil || run.Global-r.base >= r.size {
			r = m.global.find(run.Global)
		}
		b := op.data[run.Shared-tc.box:][:run.Len]
		if op.Kind == OpBulkReduce {
			old := make([]byte, len(b))
			r.read(run.Global-r.base, old)
			tc.tmap.Reduce(tc.op, old, b)
			r.put(run.Global-r.base, old, m.owner)
		} else {
			r.put(run.Global-r.base, b, m.owner)
		}
	}
}

// readShared copies the data of a store from shared memory.
func (m *Machine) readShared(op *Op) {
	op.data = make([]byte, op.tensor.tmap.SharedBytes())
	for _, s := range op.Reads {
		if r, off := m.memory(s.Mem, s.Addr); r != nil {
			b := op.data[s.Addr-uint64(op.tensor.box):][:s.Len]
			r.read(off, b)
			if !r.initialized(off, s.Len) {
				op.Uninit = true
				if p := m.cfg.Poison; p.at(op.PC) {
					p.fill(r, off, b)
				}
			}
		}
	}
}

// --- maps that the device changes ---

var tensormapDecoders = map[string]decodeFn{"tensormap": decodeTensormap}

func decodeTensormap(d *decoder, in *ptx.Inst) error {
	switch {
	case d.reads(in, 0, "cp_fenceproxy"):
		return d.cpFenceproxy(in)
	case !d.reads(in, 0, "replace"):
		return errNotModelled
	}
	return d.replaceMap(in)
}

type mapFieldInfo struct {
	at    access
	field tma.Field
	ord   int
}

// replaceMap decodes tensormap.replace: a weak access to the whole map, by
// ordinary loads and stores of the lane.
func (d *decoder) replaceMap(in *ptx.Inst) error {
	ri := &mapFieldInfo{at: access{space: d.stateSpace(), size: tma.Size}, ord: -1}
	found := false
	for _, m := range in.Mods {
		if f, ok := tma.ParseField(m); ok {
			ri.field, found = f, true
			d.read(m)
		}
	}
	ops := in.Operands
	if want := map[bool]int{false: 2, true: 3}[ri.field.Indexed()]; !found || len(ops) != want {
		return d.errorf("%s takes an address, an ordinal if its field has several, and a value", Name(in))
	}
	if err := d.mem(ops[0], &ri.at); err != nil {
		return err
	}
	if ri.field.Indexed() {
		n, ok := ops[1].(ptx.Int)
		if !ok || n.Bits > 1<<16 {
			return d.errorf("%s takes an immediate ordinal", Name(in))
		}
		ri.ord = int(n.Bits)
	}
	value := ops[len(ops)-1]
	known := uint64(0)
	if n, ok := value.(ptx.Int); ok {
		known = n.Bits
	} else if ri.field.Immediate() {
		return d.errorf("%s takes an immediate value", Name(in))
	}
	if err := ri.field.Check(ri.ord, known); err != nil {
		return d.errorf("%v", err)
	}
	t, name := b32, "b32"
	if ri.field.Wide() {
		t, name = b64, "b64"
	}
	if !d.has("b1024") || !d.has(name) {
		return errNotModelled
	}
	v, err := d.src(value, t)
	if err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitReplaceMap, a: v, x: ri})
	return nil
}

func visitReplaceMap(x *ctx, in *instr, mask uint32) verdict {
	ri := in.x.(*mapFieldInfo)
	var addr [32]uint64
	x.addressesOf(&ri.at, &addr)
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		at, ok := x.span(&ri.at, l, addr[l], tma.Size, tma.Size, Write)
		if !ok {
			return halted
		}
		v := uint64(x.a32(in.a)[l])
		if ri.field.Wide() {
			v = x.a64(in.a)[l]
		}
		var b [tma.Size]byte
		r, off := x.m.memory(at.Mem, at.Addr)
		x.spanEvent(l, at, Read)
		r.read(off, b[:])
		if err := tma.Replace(&b, ri.field, ri.ord, v); err != nil {
			panic("BUG: " + err.Error()) // replaceMap has checked it
		}
		x.spanEvent(l, at, Write)
		r, off = x.m.memory(at.Mem, at.Addr)
		r.put(off, b[:], x.m.owner)
	}
	return performed
}

type mapCopyInfo struct {
	dst, src access
	scope    Scope
}

// cpFenceproxy decodes tensormap.cp_fenceproxy: the warp copies a map from
// shared to global memory, and releases it to the tensor-map proxy.
func (d *decoder) cpFenceproxy(in *ptx.Inst) error {
	if len(in.Operands) != 3 {
		return d.errorf("%s takes two addresses and a size", Name(in))
	}
	if n, ok := in.Operands[2].(ptx.Int); !ok || n.Bits != tma.Size {
		return d.errorf("%s copies %d bytes", Name(in), tma.Size)
	}
	for _, m := range []string{"global", "shared::cta", "tensormap::generic", "release"} {
		if !d.has(m) {
			return errNotModelled
		}
	}
	ci := &mapCopyInfo{dst: access{space: spGlobal, size: tma.Size}, src: access{space: spShared, size: tma.Size}}
	for _, m := range in.Mods {
		if s, ok := scopes[m]; ok {
			ci.scope = s
			d.read(m)
		}
	}
	if err := d.mem(in.Operands[0], &ci.dst); err != nil {
		return err
	}
	if err := d.mem(in.Operands[1], &ci.src); err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitMapCopy, ready: readyAligned, x: ci})
	return nil
}

// visitMapCopy performs tensormap.cp_fenceproxy for the warp. In shipped code (Triton,
// CUTLASS), one lane writes the map in shared memory and another uses the copy, with only
// the .sync of this instruction between them. So it orders the lanes here, though the ISA
// does not say so explicitly.
func visitMapCopy(x *ctx, in *instr, mask uint32) verdict {
	ci := in.x.(*mapCopyInfo)
	var dst, src [32]uint64
	x.addressesOf(&ci.dst, &dst)
	x.addressesOf(&ci.src, &src)
	l := lowest(mask)
	meet := Event{Kind: EvWarpSync, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Count: 1}
	x.m.emit(meet)
	from, ok := x.span(&ci.src, l, src[l], tma.Size, tma.Size, Read)
	if !ok {
		return halted
	}
	to, ok := x.span(&ci.dst, l, dst[l], tma.Size, tma.Size, Write)
	if !ok {
		return halted
	}
	b := make([]byte, tma.Size)
	r, off := x.m.memory(from.Mem, from.Addr)
	x.spanEvent(l, from, Read)
	r.read(off, b)
	x.spanEvent(l, to, Write)
	r, off = x.m.memory(to.Mem, to.Addr)
	r.put(off, b, x.m.owner)
	x.m.emit(meet)
	x.m.emit(Event{Kind: EvFence, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc,
		Fence: FenceProxyTensorMapRelease, Sem: Release, Scope: ci.scope, Space: AllSpaces})
	return performed
}

// spanEvent shows one lane's weak access to a range whose size is a power of
// two.
func (x *ctx) spanEvent(lane int, s Span, acc Access) {
	m := x.m
	m.addr[lane] = s.Addr
	ev := Event{Access: acc, Mem: s.Mem, Size: int32(s.Len), Addr: &m.addr}
	ev.at(EvAccess, x, 1<<lane)
	if r, off := m.memory(s.Mem, s.Addr); acc&Read != 0 && r.initialized(off, s.Len) {
		ev.Init = 1 << lane
	}
	m.emit(ev)
}
