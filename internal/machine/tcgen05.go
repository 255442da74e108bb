package machine

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"

	"muster/internal/tensor"
	"muster/ptx"
)

// tcgen05 (ISA 9.7.18): matrix multiplications and copies that run beside the threads, with
// their accumulators in tensor memory. A multiplication or a copy is one lane's, and
// tcgen05.commit makes an mbarrier track those that the lane has issued. A load or a store is
// a warp's, which waits for it by tcgen05.wait.

var tcgen05Decoders = map[string]decodeFn{"tcgen05": decodeTcgen05}

// A tcgen05Op is what an operation of tcgen05 needs in addition to its spans. It does not
// change, but for pipe.
type tcgen05Op struct {
	access *tensor.TensorAccess // of a load or store
	reduce *tensor.Reduction    // of ld.red
	at     uint32
	base32 int32
	regs   []reg
	mma    *multiplication
	copies *tensorCopyPlan
	shift  bool
	// pipe are operations before it that execute before it does (ISA 9.7.18.6.2).
	pipe []int64
	pair bool
}

func decodeTcgen05(d *decoder, in *ptx.Inst) error {
	if len(in.Mods) == 0 {
		return errNotModelled
	}
	switch d.read(in.Mods[0]); in.Mods[0] {
	case "alloc":
		return d.tensorAlloc(in)
	case "dealloc":
		return d.tensorDealloc(in)
	case "relinquish_alloc_permit":
		return d.tensorRelinquish(in)
	case "ld", "st":
		return d.tensorAccess(in, in.Mods[0] == "st")
	case "wait::ld":
		return d.tensorWait(GroupTensorLoad)
	case "wait::st":
		return d.tensorWait(GroupTensorStore)
	case "fence::before_thread_sync":
		return d.tensorFence(FenceTensorBefore)
	case "fence::after_thread_sync":
		return d.tensorFence(FenceTensorAfter)
	case "commit":
		return d.tensorCommit(in)
	case "cp":
		return d.tensorCp(in)
	case "mma":
		return d.tensorMultiply(in)
	case "shift":
		return d.tensorShift(in)
	}
	return errNotModelled
}

// --- fences and waits ---

func (d *decoder) tensorFence(f Fence) error {
	d.emit(instr{class: visible, visit: visitTensorFence, x: f})
	return nil
}

func visitTensorFence(x *ctx, in *instr, mask uint32) verdict {
	x.quiet = true
	x.m.emit(Event{Kind: EvFence, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Fence: in.x.(Fence)})
	return performed
}

func (d *decoder) tensorWait(g Group) error {
	d.emit(instr{class: visible, visit: visitTensorWait, ready: readyTensorWait, x: &groupInfo{group: g, all: true}})
	return nil
}

func readyTensorWait(x *ctx, in *instr, mask uint32) bool {
	return mask == x.w.live && readyGroupWait(x, in, mask)
}

// visitTensorWait waits for the loads, or stores, of the warp. They are counted by the lane
// that issued them for it, which may have exited since.
func visitTensorWait(x *ctx, in *instr, mask uint32) verdict {
	return visitGroupWait(x, in, mask)
}

// --- loads and stores ---

type tensorAccessInfo struct {
	form   *tensor.TensorAccess
	reduce *tensor.Reduction // of ld.red; its register is the last of regs
	at     reg
	off    uint32
	regs   []reg
	st     bool
}

// tensorAddress decodes an address in tensor memory, of 32 bits, in brackets.
func (d *decoder) tensorAddress(op ptx.Operand) (at reg, off uint32, err error) {
	m, ok := op.(*ptx.Mem)
	if !ok {
		return 0, 0, d.errorf("%s takes an address in tensor memory in brackets", Name(d.cur))
	}
	if m.Base == nil {
		at, err = d.src(ptx.Int{}, u32)
	} else {
		at, err = d.src(m.Base, u32)
	}
	return at, uint32(m.Off), err
}

func (d *decoder) tensorAccess(in *ptx.Inst, st bool) error {
	var form tensor.TensorAccessForm
	reduce := d.reductionOf(in)
	for _, m := range in.Mods[1:] {
		switch m {
		case "sync", "aligned", "b32":
		case "pack::16b", "unpack::16b":
			form.Pack = true
		case "16x64b", "16x128b", "16x256b", "32x32b", "16x32bx2":
			form.Shape = m
		case "x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128":
			form.Num, _ = strconv.Atoi(m[1:])
		case "red", "min", "max", "abs", "NaN", "f32", "u32", "s32":
			if reduce == nil {
				return errNotModelled
			}
		default:
			return errNotModelled
		}
	}
	d.readAll()
	ops, result := in.Operands, ptx.Operand(nil)
	if reduce != nil && len(ops) > 2 {
		result, ops = ops[1], slices.Delete(slices.Clone(ops), 1, 2)
	}
	need := 2
	if form.Shape == "16x32bx2" {
		need = 3
	}
	if len(ops) != need || (reduce != nil) != (result != nil) {
		return d.errorf("%s does not take %d operands", Name(in), len(in.Operands))
	}
	regs, addr := ops[0], ops[1]
	if st {
		regs, addr = ops[need-1], ops[0]
	}
	if need == 3 {
		split := ops[1]
		if !st {
			split = ops[2]
		}
		n, ok := split.(ptx.Int)
		if !ok {
			return d.errorf("%s takes a constant distance between the halves", Name(in))
		}
		form.Split = int(min(n.Bits, tensor.TensorColumns))
	}
	ti := &tensorAccessInfo{st: st, reduce: reduce}
	var err error
	if ti.form, err = tensor.NewTensorAccess(form); err != nil {
		return d.errorf("%v", err)
	}
	if ti.at, ti.off, err = d.tensorAddress(addr); err != nil {
		return err
	}
	elems := d.elems(regs)
	if len(elems) != ti.form.Registers() {
		return d.errorf("%s takes %d registers, not %d", Name(in), ti.form.Registers(), len(elems))
	}
	if result != nil {
		elems = append(slices.Clip(elems), result)
	}
	for _, e := range elems {
		r := reg(0)
		if st {
			r, err = d.src(e, b32)
		} else {
			r, err = d.dst(e, b32)
		}
		if err != nil {
			return err
		}
		ti.regs = append(ti.regs, r)
	}
	d.prog.besides.stores = d.prog.besides.stores || st
	d.emit(instr{class: visible, visit: visitTensorAccess, ready: readyAligned, x: ti})
	return nil
}

// tensorAt returns the address in tensor memory that the lanes of a warp give.
func (x *ctx) tensorAt(r reg, off uint32, mask uint32) (uint32, bool) {
	if !uniform(x.a32(r), mask) {
		x.tensorFault(FaultTensorBounds, mask, "lanes of the warp give different addresses in tensor memory (ISA 9.7.18.8)")
		return 0, false
	}
	return x.a32(r)[lowest(mask)] + off, true
}

func visitTensorAccess(x *ctx, in *instr, mask uint32) verdict {
	ti := in.x.(*tensorAccessInfo)
	taddr, ok := x.tensorAt(ti.at, ti.off, mask)
	if !ok {
		return halted
	}
	if own := uint32(x.w.index%4) * 32 << 16; own != 0 && taddr>>21 == 0 {
		// DeepGEMM's epilogues give lane 0 in all warps, and are right on a card.
		x.badOperand(FaultTensorLanes, mask, sprint("lane 0 of tensor memory in its address, where its warp reaches lanes %d to %d (ISA 9.7.18.8.1)", own>>16, own>>16+31))
		taddr |= own
	}
	if err := ti.form.Check(taddr, int(x.w.index)); err != nil {
		kind := FaultTensorLanes
		if _, column := tensor.TensorCell(taddr); column+ti.form.Columns() > tensor.TensorColumns {
			kind = FaultTensorBounds
		}
		return x.tensorFault(kind, mask, err.Error())
	}
	spans, ok := x.tensorSpans(x.c, ti.form.Spans(taddr), mask)
	if !ok {
		return halted
	}
	op := Op{Kind: OpTensorLoad, Group: GroupTensorLoad, Proxy: Async, Reads: spans,
		tcgen05: &tcgen05Op{access: ti.form, reduce: ti.reduce, at: taddr, base32: x.s.base32, regs: ti.regs}}
	if ti.st {
		op.Kind, op.Group, op.Reads, op.Writes = OpTensorStore, GroupTensorStore, nil, spans
		op.cached = true
		rows := make([]*[32]uint32, len(ti.regs))
		for i, r := range ti.regs {
			rows[i] = x.a32(r)
		}
		ti.form.Store(taddr, rows, func(_ uint32, b []byte) { op.data = append(op.data, b...) })
		if u := x.m.undefined(); u != nil {
			u.storedTensor(x, &op)
		}
	}
	p := x.issueBy(op, lowest(mask), mask)
	if !ti.st {
		x.w.loads = append(x.w.loads, tensorLoad{id: p.ID, base32: x.s.base32, regs: ti.regs})
	}
	return performed
}

// tensorSpans places spans of tensor memory in a CTA's. They must lie in columns that it has
// allocated.
func (x *ctx) tensorSpans(t *cta, spans []tensor.Span, mask uint32) ([]Span, bool) {
	list := make([]Span, len(spans))
	for i, s := range spans {
		list[i] = Span{Mem: TensorOf(t.index), Addr: uint64(s.Addr), Len: uint64(s.Len)}
		first, last := s.Addr/TensorColumn, (s.Addr+s.Len-1)/TensorColumn
		if !t.allocated(first, last+1-first) {
			x.m.halt(Stop{Kind: FaultTensorBounds, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lowest(mask)), Mask: mask, PC: x.s.pc,
				Mem: list[i].Mem, Addr: list[i].Addr, Size: list[i].Len, Acc: Read,
				Msg: sprint("column %d of CTA %d is not allocated (ISA 9.7.18.7)", x.firstFree(t, first, last), t.index)})
			return nil, false
		}
	}
	return list, true
}

// firstFree returns the first of some columns that is not allocated, or their first.
func (x *ctx) firstFree(t *cta, first, last uint32) uint32 {
	for c := first; c <= last; c++ {
		if !t.allocated(c, 1) {
			return c
		}
	}
	return first
}

// deliver writes what a load has read to its warp's registers.
func (m *Machine) deliver(op *Op) {
	t := op.tcgen05
	w := m.ctas[op.CTA].warps[op.Warp]
	rows := make([]*[32]uint32, len(t.regs))
	for i, r := range t.regs {
		rows[i] = &w.r32[t.base32+int32(r)]
	}
	t.access.Load(t.at, rows, inOrder(op.data))
	if t.reduce != nil {
		n := t.access.Registers()
		t.reduce.Reduce(rows[n], rows[:n])
	}
}

// inOrder returns a function that copies bytes from data, each time those that follow.
func inOrder(data []byte) func(uint32, []byte) {
	return func(_ uint32, b []byte) {
		n := copy(b, data)
		data = data[n:]
	}
}

// A tensorLoad is a load whose registers no instruction has used.
type tensorLoad struct {
	id     int64
	base32 int32
	regs   []reg
}

// finishLoads makes the loads of a warp happen whose registers an instruction uses: it has to
// wait for them by its registers, whatever else it waits for (ISA 9.7.18.6.4.5).
func (x *ctx) finishLoads(t *touching) {
	m, w, base := x.m, x.w, x.s.base32
	for i := 0; i < len(w.loads); {
		l := &w.loads[i]
		if !slices.ContainsFunc(l.regs, func(r reg) bool { return t.has(l.base32 + int32(r) - base) }) {
			i++
			continue
		}
		if op, ok := m.find(l.id); ok {
			for op.Stage < Written {
				m.advance(op)
			}
		}
		if m.cfg.Observer != nil {
			m.emit(Event{Kind: EvTensorUsed, CTA: x.c.index, Warp: w.index, Mask: x.s.mask, PC: x.s.pc, Load: l.id})
		}
		w.loads = slices.Delete(w.loads, i, i+1)
	}
}

// find returns an operation in flight.
func (m *Machine) find(id int64) (*Op, bool) {
	i, ok := slices.BinarySearchFunc(m.ops, id, func(o *Op, id int64) int { return cmp.Compare(o.ID, id) })
	if !ok {
		return nil, false
	}
	return m.ops[i], true
}

// scatter writes an operation's data to its targets, one after the other.
func (m *Machine) scatter(op *Op) {
	n := uint64(0)
	for _, s := range op.Writes {
		if r, off := m.memory(s.Mem, s.Addr); r != nil {
			r.put(off, op.data[n:][:s.Len], m.owner)
		}
		n += s.Len
	}
}

// piped reports whether what an operation follows in a pipeline has executed.
func (m *Machine) piped(op *Op) bool {
	for _, id := range op.tcgen05.pipe {
		if before, ok := m.find(id); ok && before.Stage < Written {
			return false
		}
	}
	return true
}

// pipeline sets what an operation that a lane is about to issue follows: each multiplication
// the one before with the same accumulator and shape, copies and shifts; each shift the
// multiplications before it; a copy of 4x256b the shifts (ISA 9.7.18.6.2); and what it
// overwrites the sources of (QueuedBehind).
func (x *ctx) pipeline(op *Op, l int) {
	t := op.tcgen05
	for _, o := range x.m.ops {
		b := o.tcgen05
		if b == nil || o.Stage >= Written {
			continue
		}
		own := o.CTA == x.w.cta && o.Warp == x.w.index && int(o.Lane) == l
		if b.precedes(t) || own && op.QueuedBehind(o) && overwrites(op.Writes, o.Reads) {
			t.pipe = append(t.pipe, o.ID)
		}
	}
}

// overwrites reports whether writes touch tensor memory that is read.
func overwrites(writes, reads []Span) bool {
	for _, w := range writes {
		for _, r := range reads {
			if w.Mem.Kind() == TensorMemory && w.Mem == r.Mem && w.Addr < r.Addr+r.Len && r.Addr < w.Addr+w.Len {
				return true
			}
		}
	}
	return false
}

// precedes reports whether two operations, the first issued before the second, form a
// pipeline.
func (b *tcgen05Op) precedes(t *tcgen05Op) bool {
	switch {
	case b.pair != t.pair:
		return false
	case t.shift:
		return b.mma != nil
	case t.copies != nil:
		return b.shift && t.copies.form.Shape == "4x256b"
	}
	return t.mma != nil && (b.copies != nil || b.shift || b.mma != nil && b.mma.sameAccumulator(t.mma))
}

// PipelinedBefore reports whether op, if it is issued after before, executes after it without
// any other order (ISA 9.7.18.6.2).
func (op *Op) PipelinedBefore(before *Op) bool {
	return op.tcgen05 != nil && before.tcgen05 != nil && before.tcgen05.precedes(op.tcgen05)
}

// QueuedBehind reports whether op, if the thread that issued before issues it, is no pipeline
// with it by the letter, but writes after it has read where shipped kernels are right to rely on
// the order of issue: before is a multiplication, op a multiplication or a copy. CUTLASS's and
// FlashAttention's attention overwrite P in that way, Triton's scales are copied so.
func (op *Op) QueuedBehind(before *Op) bool {
	b, t := before.tcgen05, op.tcgen05
	return b != nil && t != nil && b.mma != nil && (t.mma != nil || t.copies != nil) && b.pair == t.pair
}

// writeTensors writes the target of an operation of tcgen05.
func (m *Machine) writeTensors(op *Op) {
	switch op.Kind {
	case OpTensorLoad:
		m.deliver(op)
	case OpTensorStore, OpTensorShift:
		m.scatter(op)
	case OpTensorCopy:
		m.copyToTensorMemory(op)
	case OpTensorMultiply:
		m.multiplyInTensorMemory(op)
	}
}

func (t *tcgen05Op) hash(h *maphash.Hash) {
	maphash.WriteComparable(h, t.base32)
	if p := t.mma; p != nil {
		maphash.WriteComparable(h, [2]uint64{p.da, p.db})
		maphash.WriteComparable(h, [6]uint32{p.form.Desc, p.d, p.a, p.sfa, p.sfb, p.meta})
		maphash.WriteComparable(h, p.enable)
	}
	if t.copies != nil {
		maphash.WriteComparable(h, t.copies.desc)
	}
}

// Tensor reports whether an operation is of tcgen05 and accesses tensor memory.
func (op *Op) Tensor() bool { return op.tcgen05 != nil }

// Issued returns an operation as it was issued, without what it has read. It does not change.
func (op *Op) Issued() *Op {
	return &Op{ID: op.ID, Kind: op.Kind, PC: op.PC, Writes: op.Writes, tcgen05: op.tcgen05}
}

// Overwrites reports whether an operation writes tensor memory that a multiplication reads.
func (op *Op) Overwrites(m *Op) bool {
	return m.tcgen05 != nil && m.tcgen05.mma != nil && overwrites(op.Writes, m.tcgen05.mma.reads)
}
