package machine

import (
	"math/bits"

	"muster/internal/tensor"
	"muster/ptx"
)

// wgmma: matrix multiplications that run beside the warps that issue them. The k-th
// mma_async of each of a warpgroup's four warps is one operation in four parts: a warp's
// part computes 16 rows of D, and reads its rows of A and all of B. No part begins before
// all four warps have issued theirs, and a warp's wait is for its own part of D and for what
// all four parts read (testdata/card/wgmma_operands.txt: what a card does).

var wgmmaDecoders = map[string]decodeFn{"wgmma": decodeWgmma}

type wgmmaInfo struct {
	form   *tensor.WGMMA
	acc, a []reg
	da, db reg // descriptors; da only if A is not in registers
	meta   reg
	scale  reg // predicate
	fixed  bool
	scaleD bool     // if fixed
	names  []string // of acc, then of a
}

// A wgmmaOp is what an operation of wgmma needs in addition to its spans. It does
// not change.
type wgmmaOp struct {
	info   *wgmmaInfo
	base32 int32
	da, db uint64
	scaleD bool
}

// A wgmmaUse is a wgmma whose registers are in use: its warp has not waited for it.
type wgmmaUse struct {
	op     int64
	seq    uint32
	pc     int32
	info   *wgmmaInfo
	base32 int32
	fenced bool // a wgmma.fence followed
}

func decodeWgmma(d *decoder, in *ptx.Inst) error {
	if len(in.Mods) == 0 {
		return errNotModelled
	}
	switch d.read(in.Mods[0]); in.Mods[0] {
	case "fence":
		d.emit(instr{class: visible, visit: visitWgmmaFence, ready: readyAligned})
		return nil
	case "commit_group":
		d.emit(instr{class: visible, visit: visitCommit, ready: readyAligned, x: &groupInfo{group: GroupWgmma}})
		return nil
	case "wait_group":
		return d.wgmmaWait(in)
	case "mma_async":
		return d.wgmma(in)
	}
	return errNotModelled
}

// wgmmaWait decodes wgmma.wait_group N.
func (d *decoder) wgmmaWait(in *ptx.Inst) error {
	if len(in.Operands) != 1 {
		return d.errorf("%s takes a number of groups", Name(in))
	}
	n, ok := in.Operands[0].(ptx.Int)
	if !ok || n.Bits > 7 {
		return d.errorf("%s takes a constant number of groups, 0 to 7", Name(in))
	}
	d.emit(instr{class: visible, visit: visitWgmmaWait, ready: readyWgmmaWait, x: &groupInfo{group: GroupWgmma, n: uint32(n.Bits)}})
	return nil
}

func readyWgmmaWait(x *ctx, in *instr, mask uint32) bool {
	return mask == x.w.live && readyGroupWait(x, in, mask) && (x.left() || x.m.readByAll(x.w, in.x.(*groupInfo).target(x.w, lowest(mask))))
}

func visitWgmmaWait(x *ctx, in *instr, mask uint32) verdict {
	v := visitGroupWait(x, in, mask)
	if x.left() {
		return v
	}
	w := x.w
	n := 0
	for n < len(w.wgmmas) && w.wgmmas[n].seq <= x.m.done[lowest(mask)] {
		n++
	}
	w.wgmmas = append(w.wgmmas[:0], w.wgmmas[n:]...)
	return v
}

func visitWgmmaFence(x *ctx, in *instr, mask uint32) verdict {
	w := x.w
	if x.left() {
		x.quiet = true
		return performed
	}
	w.fenced = true
	clear(w.written)
	clear(w.looked)
	for i := range w.wgmmas {
		w.wgmmas[i].fenced = true
	}
	x.quiet = true
	x.m.emit(Event{Kind: EvFence, CTA: w.cta, Warp: w.index, Mask: mask, PC: x.s.pc, Fence: FenceWgmma})
	return performed
}

// wgmma decodes wgmma.mma_async and .sp.
func (d *decoder) wgmma(in *ptx.Inst) error {
	text, ok := wgmmaText(in)
	if !ok {
		return errNotModelled
	}
	d.readAll()
	ops := in.Operands
	need := 4
	if text.Sparse {
		need = 6
	}
	if len(ops) < need {
		return d.errorf("%s has too few operands", Name(in))
	}
	_, text.ARegs = ops[1].(*ptx.Vector)
	rest := ops[3:]
	if text.Sparse {
		n, ok := rest[1].(ptx.Int)
		if !ok || n.Bits > 1 {
			return d.errorf("the selector of %s is 0 or 1", Name(in))
		}
		text.Selector = int(n.Bits)
		rest = rest[2:]
	}
	if err := d.wgmmaImmediates(in, &text, rest[1:]); err != nil {
		return err
	}
	form, err := tensor.NewWGMMA(text)
	if err != nil {
		return d.errorf("%v", err)
	}
	wi := &wgmmaInfo{form: form}
	list := func(op ptx.Operand, n int, what string) ([]reg, error) {
		elems := d.elems(op)
		if len(elems) != n {
			return nil, d.errorf("%s takes %d registers of %s, not %d", Name(in), n, what, len(elems))
		}
		var regs []reg
		for _, e := range elems {
			r, t, err := d.register(e)
			if err != nil {
				return nil, err
			}
			if t.size() != 4 || t == pred {
				return nil, d.errorf("%s takes registers of 32 bits", Name(in))
			}
			regs = append(regs, r)
			wi.names = append(wi.names, string(e.(ptx.Name)))
		}
		return regs, nil
	}
	if wi.acc, err = list(ops[0], form.AccRegs(), "D"); err != nil {
		return err
	}
	if form.ARegs {
		wi.a, err = list(ops[1], form.FragRegs(), "A")
	} else {
		wi.da, err = d.src(ops[1], b64)
	}
	if err != nil {
		return err
	}
	if wi.db, err = d.src(ops[2], b64); err != nil {
		return err
	}
	if form.Sparse {
		if wi.meta, err = d.src(ops[3], b32); err != nil {
			return err
		}
	}
	if s, ok := rest[0].(ptx.Int); ok {
		wi.fixed, wi.scaleD = true, s.Bits != 0
	} else if wi.scale, err = d.predSrc(rest[0]); err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitWgmma, ready: readyAligned, x: wi})
	return nil
}

// wgmmaText reads the modifiers of wgmma.mma_async, and reports whether it knows
// them all.
func wgmmaText(in *ptx.Inst) (t tensor.WGMMAForm, ok bool) {
	types := []*string{&t.Shape, &t.D, &t.A, &t.B}
	for _, m := range in.Mods[1:] {
		switch m {
		case "sync", "aligned", "and", "popc":
		case "sp":
			t.Sparse = true
		case "satfinite":
			t.Satfinite = true
		default:
			if len(types) == 0 {
				return t, false
			}
			*types[0] = m
			types = types[1:]
		}
	}
	return t, len(types) == 0
}

// wgmmaImmediates decodes the factors of A and B, 1 or -1, and which of them
// are transposed.
func (d *decoder) wgmmaImmediates(in *ptx.Inst, form *tensor.WGMMAForm, ops []ptx.Operand) error {
	var v []int64
	for _, op := range ops {
		n, ok := op.(ptx.Int)
		if !ok {
			return d.errorf("the last operands of %s are constants", Name(in))
		}
		v = append(v, int64(n.Bits))
	}
	if len(v) == 0 {
		return nil
	}
	if len(v) < 2 || len(v) > 4 {
		return d.errorf("%s has too many or too few operands", Name(in))
	}
	for _, f := range v[:2] {
		if f != 1 && f != -1 {
			return d.errorf("A and B of %s are multiplied by 1 or -1", Name(in))
		}
	}
	form.NegA, form.NegB = v[0] < 0, v[1] < 0
	for _, t := range v[2:] {
		if t != 0 && t != 1 {
			return d.errorf("0 or 1 says whether an operand of %s is transposed", Name(in))
		}
	}
	switch tr := v[2:]; {
	case len(tr) == 2 && form.ARegs:
		return d.errorf("%s: A in registers cannot be transposed", Name(in))
	case len(tr) == 2:
		form.TransA, form.TransB = tr[0] == 1, tr[1] == 1
	case len(tr) == 1 && form.ARegs:
		form.TransB = tr[0] == 1
	case len(tr) == 1:
		return d.errorf("%s has too few operands", Name(in))
	}
	return nil
}

func visitWgmma(x *ctx, in *instr, mask uint32) verdict {
	wi := in.x.(*wgmmaInfo)
	m, w, l := x.m, x.w, lowest(mask)
	wo := &wgmmaOp{info: wi, base32: x.s.base32, scaleD: wi.scaleD}
	if !wi.fixed {
		wo.scaleD = x.p[wi.scale]>>l&1 != 0
		if p := x.p[wi.scale] & mask; p != 0 && p != mask {
			return x.wgmmaFault(mask, "lanes disagree about scale-d")
		}
	}
	if !uniform64(x.a64(wi.db), mask) || len(wi.a) == 0 && !uniform64(x.a64(wi.da), mask) {
		return x.wgmmaFault(mask, "lanes disagree about a descriptor")
	}
	op := Op{Kind: OpWgmma, Proxy: Async, Group: GroupWgmma, wgmma: wo}
	wo.db = x.a64(wi.db)[l]
	err := wi.form.CheckB(wo.db)
	if err == nil && len(wi.a) == 0 {
		wo.da = x.a64(wi.da)[l]
		err = wi.form.CheckA(wo.da)
	}
	if err != nil {
		return x.wgmmaFault(mask, err.Error())
	}
	a, b := wi.form.SpansA(wo.da, int(w.index%4)), wi.form.SpansB(wo.db)
	op.Reads = make([]Span, 0, len(a)+len(b))
	if !x.matrixSpans(&op, mask, a) || !x.matrixSpans(&op, mask, b) {
		return halted
	}
	x.checkFragments(wi, mask)
	x.multipliesUnset(in, mask, wo.scaleD)
	p := x.issueBy(op, l, mask)
	w.multiplies = max(w.multiplies, p.Seq)
	w.wgmmas = append(w.wgmmas, wgmmaUse{op: p.ID, seq: p.Seq, pc: p.PC, info: wi, base32: wo.base32})
	m.lanes += int64(bits.OnesCount32(mask))
	return performed
}

// WarpgroupSize is the number of warps in a warpgroup.
const WarpgroupSize = 4

// issuedByAll reports whether every warp of a warp's warpgroup that still runs has issued
// its part of the seq-th wgmma. (A warp that exits without is divergent: ISA 9.7.15.5.2.)
func (m *Machine) issuedByAll(cta, warp int32, seq uint32) bool {
	warps := m.ctas[cta].warps
	first := warp - warp%WarpgroupSize
	for _, w := range warps[first:min(int(first)+WarpgroupSize, len(warps))] {
		if w.live != 0 && w.multiplies < seq {
			return false
		}
	}
	return true
}

// readByAll reports whether the parts of a warpgroup's wgmmas up to the seq-th have read
// their operands.
func (m *Machine) readByAll(w *warp, seq uint32) bool {
	warps := m.ctas[w.cta].warps
	first := w.index - w.index%WarpgroupSize
	for _, v := range warps[first:min(int(first)+WarpgroupSize, len(warps))] {
		for l := range 32 {
			c := v.counts(l)
			if list := c.unread[GroupWgmma]; len(list) > 0 && list[0] <= seq {
				return false
			}
			if c.issued[GroupWgmma] > 0 {
				break // the lane that counts for its warp
			}
		}
	}
	return true
}

// held reports whether a warp is still in its last mma_async, which returns once every
// warp of the warpgroup has issued its part (testdata/card/wgmma_operands.txt). What the
// warp does next waits for that.
func (m *Machine) held(w *warp) bool {
	return w.multiplies > w.multiplied && !m.issuedByAll(w.cta, w.index, w.multiplies)
}

// Descriptors are those of a wgmma's matrices; that of A is 0 if A is in
// registers.
func (op *Op) Descriptors() (a, b uint64) { return op.wgmma.da, op.wgmma.db }

func uniform64(row *[32]uint64, mask uint32) bool {
	v := row[lowest(mask)]
	for l := range lanesOf(mask) {
		if row[l] != v {
			return false
		}
	}
	return true
}

func (x *ctx) wgmmaFault(mask uint32, msg string) verdict {
	return x.m.halt(Stop{Kind: FaultDescriptor, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lowest(mask)), Mask: mask, PC: x.s.pc,
		Mem: SharedOf(x.w.cta), Acc: Read, Msg: msg})
}

// matrixSpans adds the spans of an operand in shared memory.
func (x *ctx) matrixSpans(op *Op, mask uint32, spans []tensor.Span) bool {
	r := &x.c.shared
	for _, s := range spans {
		at := Span{Mem: SharedOf(x.c.index), Addr: uint64(s.Addr), Len: uint64(s.Len)}
		if at.Addr < r.base || !r.within(at.Addr-r.base, at.Len) {
			x.spanFault(FaultBounds, lowest(mask), at, Read, "a matrix in shared memory")
			return false
		}
		op.Reads = append(op.Reads, at)
	}
	return true
}

// readMatrices copies a wgmma's operands.
func (m *Machine) readMatrices(op *Op) {
	wi, w := op.wgmma.info, m.ctas[op.CTA].warps[op.Warp]
	op.frag = nil
	for _, r := range wi.a {
		op.frag = append(op.frag, w.r32[op.wgmma.base32+int32(r)])
	}
	if wi.form.Sparse {
		op.meta = w.r32[op.wgmma.base32+int32(wi.meta)]
	}
	m.readSpans(op)
}

// multiply writes a warp's part of D.
func (m *Machine) multiply(op *Op) {
	wo := op.wgmma
	wi, w := wo.info, m.ctas[op.CTA].warps[op.Warp]
	w.multiplied = op.Seq
	if m.cfg.skipMatrices {
		return
	}
	acc := make([]*[32]uint32, len(wi.acc))
	for i, r := range wi.acc {
		acc[i] = &w.r32[wo.base32+int32(r)]
	}
	frag := make([]*[32]uint32, len(op.frag))
	for i := range op.frag {
		frag[i] = &op.frag[i]
	}
	wi.form.Compute(int(op.Warp%4), acc, frag, wo.da, wo.db, &op.meta, wo.scaleD, op.fetcher())
}

// fetcher returns a function that copies operand bytes which the source milestone
// took. The function must be called span by span, in order.
func (op *Op) fetcher() func(addr uint32, b []byte) {
	i, at := 0, 0
	return func(addr uint32, b []byte) {
		for range len(op.Reads) + 1 {
			if i == len(op.Reads) {
				i, at = 0, 0
			}
			s := &op.Reads[i]
			if uint64(addr) >= s.Addr && uint64(addr)+uint64(len(b)) <= s.Addr+s.Len {
				copy(b, op.data[at+int(uint64(addr)-s.Addr):])
				return
			}
			i, at = i+1, at+int(s.Len)
		}
		panic("BUG: a matrix element outside its spans")
	}
}
