package machine

import (
	"errors"
	"slices"

	"muster/internal/tensor"
	"muster/ptx"
)

// tcgen05.mma and tcgen05.cp: what one lane issues for the tensor cores of its CTA, or of a
// pair.

// A multiplication is what a tcgen05.mma was given when it was issued.
type multiplication struct {
	form      *tensor.TCGen05
	d, a      uint32 // addresses in tensor memory
	da, db    uint64 // descriptors
	sfa, sfb  uint32 // addresses of factors
	meta      uint32 // of metadata
	enable    bool
	disable   []uint32
	ctas      []int32   // one, or the even and the odd one of a pair
	reads     []Span    // the operation's
	parts     []mmaPart // of reads
	collector CollectorUsage
	buffer    CollectorBuffer
	zero      tensor.ZeroColumns // of .ws
}

// An mmaPart says which matrix a range of memory belongs to.
type mmaPart uint8

const (
	partA mmaPart = iota
	partB
	partD
	partSFA // factors
	partSFB
	partMeta
)

func (p mmaPart) String() string {
	return [...]string{partA: "A", partB: "B", partD: "D", partSFA: "the scale factors of A", partSFB: "the scale factors of B", partMeta: "the metadata of A"}[p]
}

// operand reports whether a range is of A or B.
func (p mmaPart) operand() bool { return p <= partB }

// compute computes D, in the order of the operation's Writes, from what its Reads hold.
func (p *multiplication) compute(in, out []byte) {
	n, shared, tensors := 0, p.fetcher(in, SharedMemory), p.fetcher(in, TensorMemory)
	call := tensor.TCGen05Call{D: p.d, A: p.da, B: p.db, SFA: p.sfa, SFB: p.sfb, Meta: p.meta, Zero: p.zero, Input: p.enable, NoLane: p.disable, ReadShared: shared, ReadTensor: tensors,
		WriteTensor: func(_ int, _ uint32, b []byte) { n += copy(out[n:], b) }}
	if p.form.ATensor {
		call.A = uint64(p.a)
	}
	p.form.Compute(&call)
}

// fetcher returns a function that copies bytes of the memory of a kind of one of the CTAs,
// which the operation has read.
func (p *multiplication) fetcher(in []byte, kind MemoryKind) func(cta int, addr uint32, b []byte) {
	i, at := 0, 0
	return func(cta int, addr uint32, b []byte) {
		for range len(p.reads) + 1 {
			if i == len(p.reads) {
				i, at = 0, 0
			}
			s := &p.reads[i]
			if s.Mem.Kind() == kind && s.Mem.CTA() == p.ctas[cta] && uint64(addr) >= s.Addr && uint64(addr)+uint64(len(b)) <= s.Addr+s.Len {
				copy(b, in[at+int(uint64(addr)-s.Addr):])
				return
			}
			i, at = i+1, at+int(s.Len)
		}
		panic("BUG: a matrix element outside its spans")
	}
}

// sameAccumulator reports whether another multiplication adds to the same elements in the
// same way.
func (p *multiplication) sameAccumulator(q *multiplication) bool {
	f, g := p.form, q.form
	return p.d == q.d && slices.Equal(p.ctas, q.ctas) && f.Kind == g.Kind && f.M == g.M && f.N == g.N && f.K == g.K && f.WS == g.WS
}

// formOf returns the form that an instruction descriptor makes of the instruction.
func (mi *mmaInfo) formOf(idesc uint32) (*tensor.TCGen05, error) {
	f := mi.form
	f.Desc = idesc
	return tensor.NewTCGen05(f)
}

func visitTensorMultiply(x *ctx, in *instr, mask uint32) verdict {
	mi := in.x.(*mmaInfo)
	if !x.ctaGroup(mask, mi.pair) {
		return halted
	}
	for l := range lanesOf(mask) {
		if !x.multiplyTensors(mi, l) {
			return halted
		}
	}
	return performed
}

// multiplyTensors issues a tcgen05.mma of one lane.
func (x *ctx) multiplyTensors(mi *mmaInfo, l int) bool {
	one := uint32(1) << l
	form, err := mi.formOf(x.a32(mi.idesc)[l])
	if err != nil {
		if errors.Is(err, tensor.ErrNotModelled) {
			x.m.halt(Stop{Kind: Unmodelled, CTA: x.w.cta, Warp: x.w.index, Lane: int8(l), Mask: one, PC: x.s.pc, Mem: Local, Msg: err.Error()})
		} else {
			x.wgmmaFault(one, err.Error())
		}
		return false
	}
	p := &multiplication{form: form, d: mi.d.of(x, l), db: x.a64(mi.b)[l], enable: x.p[mi.enable]>>l&1 != 0, collector: mi.collector, buffer: mi.buffer}
	if mi.zero >= 0 {
		p.zero = tensor.ZeroColumns(x.a64(mi.zero)[l])
	}
	if form.Factors > 0 {
		p.sfa, p.sfb = mi.sfa.of(x, l), mi.sfb.of(x, l)
	}
	if form.Sparse {
		p.meta = mi.meta.of(x, l)
	}
	if form.ATensor {
		p.a = mi.ta.of(x, l)
	} else {
		p.da = x.a64(mi.a)[l]
	}
	for _, r := range mi.disable {
		p.disable = append(p.disable, x.a32(r)[l])
	}
	if err := p.check(); err != nil {
		x.wgmmaFault(one, err.Error())
		return false
	}
	for _, d := range [...]uint64{p.da, p.db} {
		if d != 0 {
			x.doubtful(tensor.TensorDescriptor(d), one)
		}
	}
	ctas, ok := x.pairOf(one, mi.pair)
	if !ok {
		return false
	}
	op := Op{Kind: OpTensorMultiply, Group: GroupTensor, Proxy: Async, pair: x.otherOf(mi.pair), tcgen05: &tcgen05Op{mma: p, pair: mi.pair}}
	for _, t := range ctas {
		p.ctas = append(p.ctas, t.index)
		if !x.addOperands(&op, p, t, one) {
			return false
		}
	}
	p.reads = op.Reads
	x.pipeline(&op, l)
	x.issue(op, l)
	return true
}

// check says what the ISA forbids in the operands.
func (p *multiplication) check() error {
	f := p.form
	for _, err := range [...]error{f.CheckD(p.d), f.CheckDisabled(p.disable), f.CheckA(p.da), f.CheckB(p.db), f.CheckZero(p.zero), f.CheckSFA(p.sfa), f.CheckSFB(p.sfb), f.CheckMetaAt(p.meta, p.d)} {
		if err != nil {
			return err
		}
	}
	if f.ATensor {
		return f.CheckTA(p.a, p.d)
	}
	return nil
}

// addOperands adds what a multiplication reads and writes in one CTA.
func (x *ctx) addOperands(op *Op, p *multiplication, t *cta, mask uint32) bool {
	var a []Span
	if p.form.ATensor {
		var ok bool
		if a, ok = x.tensorSpans(t, p.form.SpansTA(p.a), mask); !ok {
			return false
		}
		op.Reads = append(op.Reads, a...)
	} else if !x.sharedSpans(op, t, mask, p.form.SpansA(p.da)) {
		return false
	}
	p.mark(op, partA)
	if !x.sharedSpans(op, t, mask, p.form.SpansB(p.db, p.zero)) {
		return false
	}
	p.mark(op, partB)
	var besides []Span
	for _, o := range [...]struct {
		part  mmaPart
		spans []tensor.Span
	}{{partSFA, p.form.SpansSFA(p.sfa)}, {partSFB, p.form.SpansSFB(p.sfb)}, {partMeta, p.form.SpansMeta(p.meta)}} {
		list, ok := x.tensorSpans(t, o.spans, mask)
		if !ok {
			return false
		}
		op.Reads, besides = append(op.Reads, list...), append(besides, list...)
		p.mark(op, o.part)
	}
	d, ok := x.tensorSpans(t, p.form.SpansD(p.d, len(p.ctas)-1, p.disable), mask)
	if !ok {
		return false
	}
	if overwrites(d, a) {
		// The ISA orders nothing within an operation.
		x.badOperand(FaultTensorOverlap, mask, "a matrix A in columns of D, which the instruction writes as it reads A")
	}
	if overwrites(d, besides) {
		x.badOperand(FaultTensorOverlap, mask, "scale factors or metadata in columns of D, which the instruction writes as it reads them")
	}
	if p.enable {
		op.Reads = append(op.Reads, d...)
		p.mark(op, partD)
	}
	op.Writes = append(op.Writes, d...)
	return true
}

// mark notes which matrix the last of an operation's Reads belong to.
func (p *multiplication) mark(op *Op, part mmaPart) {
	for len(p.parts) < len(op.Reads) {
		p.parts = append(p.parts, part)
	}
}

// pairOf returns the CTA of an instruction, or the two of its pair, the even one first. Both
// must run.
func (x *ctx) pairOf(mask uint32, pair bool) ([]*cta, bool) {
	if !pair {
		return []*cta{x.c}, true
	}
	p := x.m.peer(x.c)
	if p == nil {
		x.tensorFault(FaultTensorBounds, mask, "the other CTA of the pair does not run (ISA 9.7.18.5)")
		return nil, false
	}
	if x.c.rank&1 == 1 {
		return []*cta{p, x.c}, true
	}
	return []*cta{x.c, p}, true
}

// sharedSpans adds spans of an operand in a CTA's shared memory.
func (x *ctx) sharedSpans(op *Op, t *cta, mask uint32, spans []tensor.Span) bool {
	r := &t.shared
	for _, s := range spans {
		at := Span{Mem: SharedOf(t.index), Addr: uint64(s.Addr), Len: uint64(s.Len)}
		if at.Addr < r.base || !r.within(at.Addr-r.base, at.Len) {
			x.spanFault(FaultBounds, lowest(mask), at, Read, "a matrix in shared memory")
			return false
		}
		op.Reads = append(op.Reads, at)
	}
	return true
}

func spansLen(list []Span) (n uint64) {
	for _, s := range list {
		n += s.Len
	}
	return n
}

// A tensorCopyPlan is where the rows of a tcgen05.cp go.
type tensorCopyPlan struct {
	form *tensor.TensorCopy
	desc uint64
}

type tensorCpInfo struct {
	form *tensor.TensorCopy
	at   reg
	off  uint32
	desc reg
	pair bool
}

func (d *decoder) tensorCp(in *ptx.Inst) error {
	ti := &tensorCpInfo{pair: d.ctaPair()}
	var shape, multicast, format string
	for _, m := range in.Mods[1:] {
		switch m {
		case "cta_group::1", "cta_group::2":
		case "128x256b", "4x256b", "128x128b", "64x128b", "32x128b":
			shape = m
		case "warpx2::02_13", "warpx2::01_23", "warpx4":
			multicast = m
		case "b6x16_p32", "b4x16_p64":
			format = m
		case "b8x16":
		default:
			return notModelled("with ." + m)
		}
	}
	d.readAll()
	if len(in.Operands) != 2 {
		return d.errorf("%s takes an address in tensor memory and a descriptor", Name(in))
	}
	if (format != "") != slices.Contains(in.Mods, "b8x16") {
		return d.errorf("%s has the format of one side of the copy, and not of the other", Name(in))
	}
	var err error
	if ti.form, err = tensor.NewTensorCopy(shape, multicast, format); err != nil {
		return d.errorf("%v", err)
	}
	if ti.at, ti.off, err = d.tensorAddress(in.Operands[0]); err != nil {
		return err
	}
	if ti.desc, err = d.src(in.Operands[1], b64); err != nil {
		return err
	}
	d.prog.besides.copies = d.prog.besides.copies || multicast != "warpx4"
	d.emit(instr{class: visible, visit: visitTensorCp, x: ti})
	return nil
}

// doubtful reports what the ISA does not have in a descriptor and shipped kernels do.
func (x *ctx) doubtful(d tensor.TensorDescriptor, mask uint32) {
	if d.Unmarked() {
		x.badOperand(FaultDescriptor, mask, sprint("a shared memory descriptor 0x%016x with 0b000 in bits 46-48, where tcgen05 wants 0b001 (ISA 9.7.18.4.1)", uint64(d)))
	}
	if d.Idle() {
		x.badOperand(FaultBaseOffset, mask, sprint("a shared memory descriptor 0x%016x with base offset %d in bits 49-51, where only a swizzled pattern has one (ISA 9.7.18.4.1)", uint64(d), d.BaseOffset()))
	}
}

func visitTensorCp(x *ctx, in *instr, mask uint32) verdict {
	ti := in.x.(*tensorCpInfo)
	if !x.ctaGroup(mask, ti.pair) {
		return halted
	}
	for l := range lanesOf(mask) {
		one := uint32(1) << l
		at, desc := x.a32(ti.at)[l]+ti.off, x.a64(ti.desc)[l]
		for _, err := range [...]error{ti.form.CheckTensor(at), ti.form.CheckShared(desc)} {
			if err != nil {
				return x.wgmmaFault(one, err.Error())
			}
		}
		x.doubtful(tensor.TensorDescriptor(desc), one)
		ctas, ok := x.pairOf(one, ti.pair)
		if !ok {
			return halted
		}
		op := Op{Kind: OpTensorCopy, Group: GroupTensor, Proxy: Async, pair: x.otherOf(ti.pair),
			tcgen05: &tcgen05Op{at: at, copies: &tensorCopyPlan{form: ti.form, desc: desc}, pair: ti.pair}}
		for _, t := range ctas {
			to, ok := x.tensorSpans(t, ti.form.SpansTensor(at), one)
			if !ok || !x.sharedSpans(&op, t, one, ti.form.SpansShared(desc)) {
				return halted
			}
			op.Writes = append(op.Writes, to...)
		}
		x.pipeline(&op, l)
		x.issue(op, l)
	}
	return performed
}

// copyToTensorMemory writes what a tcgen05.cp has read, in each CTA.
func (m *Machine) copyToTensorMemory(op *Op) {
	t := op.tcgen05
	n := 1
	if t.pair {
		n = 2
	}
	var out []byte
	for i := range n {
		from := op.data[i*len(op.data)/n : (i+1)*len(op.data)/n]
		t.copies.form.Copy(t.at, t.copies.desc, inOrder(from), func(_ uint32, b []byte) { out = append(out, b...) })
	}
	op.data = out
	m.scatter(op)
}
