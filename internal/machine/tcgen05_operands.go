package machine

import (
	"fmt"
	"strings"

	"muster/internal/flow"
	"muster/internal/tensor"
	"muster/ptx"
)

// The operands of tcgen05.mma, and what it reads besides its matrices.

type mmaInfo struct {
	form     tensor.TCGen05Form // but for the descriptor
	forms    map[uint32]*tensor.TCGen05
	d, ta    tensorReg // D, and A in tensor memory
	sfa, sfb tensorReg // the factors of block-scaled kinds
	meta     tensorReg // the metadata of a sparse A
	a, b     reg       // descriptors of 64 bits
	idesc    reg
	disable  []reg
	enable   reg
	zero     reg // the zero-column mask descriptor of .ws; below 0: none
	pair     bool
	// collector is what it says of a collector buffer, which changes no result here.
	collector CollectorUsage
	buffer    CollectorBuffer
}

// A tensorReg is an address in tensor memory: a register, and what is added to it.
type tensorReg struct {
	at  reg
	off uint32
}

func (r tensorReg) of(x *ctx, lane int) uint32 { return x.a32(r.at)[lane] + r.off }

// tensorRegs decodes addresses in tensor memory, in brackets.
func (d *decoder) tensorRegs(ops []ptx.Operand, to ...*tensorReg) error {
	for i, r := range to {
		var err error
		if r.at, r.off, err = d.tensorAddress(ops[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) tensorMultiply(in *ptx.Inst) error {
	mi := &mmaInfo{pair: d.ctaPair(), forms: map[uint32]*tensor.TCGen05{}, zero: -1}
	mi.form.CTAs, mi.form.ScaleD, mi.form.Arch = 1, -1, d.sums()
	if mi.pair {
		mi.form.CTAs = 2
	}
	if err := mi.modifiers(in.Mods[1:]); err != nil {
		return err
	}
	d.readAll()
	ops := in.Operands
	if least := 5; len(ops) < least || mi.form.Sparse && len(ops) == least {
		return d.errorf("%s has too few operands", Name(in))
	}
	err := d.tensorRegs(ops, &mi.d)
	if err != nil {
		return err
	}
	if _, ok := ops[1].(*ptx.Mem); ok {
		mi.form.ATensor = true
		err = d.tensorRegs(ops[1:], &mi.ta)
	} else {
		mi.a, err = d.src(ops[1], b64)
	}
	if err != nil {
		return err
	}
	if mi.b, err = d.src(ops[2], b64); err != nil {
		return err
	}
	if ops = ops[3:]; mi.form.Sparse {
		if err = d.tensorRegs(ops, &mi.meta); err != nil {
			return err
		}
		ops = ops[1:]
	}
	if mi.idesc, err = d.src(ops[0], b32); err != nil {
		return err
	}
	if err = d.mmaTail(in, mi, ops[1:]); err != nil {
		return err
	}
	if mi.form.AShift {
		d.assume(tensor.AShiftAssumes)
	}
	if mi.form.WS {
		d.assume(tensor.WSAssumes)
		mi.buffer = max(mi.buffer, 1) // "defaults to .collector::b0::discard"
	}
	d.prog.besides.note(mi, int32(len(d.prog.code)))
	d.emit(instr{class: visible, visit: visitTensorMultiply, x: mi})
	return nil
}

// modifiers reads the modifiers behind tcgen05.mma.
func (mi *mmaInfo) modifiers(mods []string) error {
	for _, m := range mods {
		switch {
		case m == "cta_group::1", m == "cta_group::2", m == "block_scale":
		case m == "sp":
			mi.form.Sparse = true
		case strings.HasPrefix(m, "kind::") && m != "kind::ti16":
			mi.form.Kind = m[len("kind::"):]
		case m == "block16", m == "block32", strings.HasPrefix(m, "scale_vec::"):
			mi.form.Scales = m
		case m == "ws":
			mi.form.WS = true
		case strings.HasPrefix(m, "collector::a::"), mi.form.WS && collectorBuffer(m) > 0:
			mi.buffer, mi.collector = collectorBuffer(m), collectorUsages[m[strings.LastIndex(m, ":")+1:]]
		case m == "ashift":
			mi.form.AShift = true
		default:
			return notModelled("with ." + m)
		}
	}
	if mi.form.Kind == "" {
		return errNotModelled
	}
	return nil
}

// mmaTail decodes the operands behind the instruction descriptor.
func (d *decoder) mmaTail(in *ptx.Inst, mi *mmaInfo, rest []ptx.Operand) error {
	if v, ok := rest[0].(*ptx.Vector); ok {
		if want := 4 * mi.form.CTAs; len(v.Elems) != want {
			return d.errorf("%s takes %d words that disable lanes, not %d", Name(in), want, len(v.Elems))
		}
		for _, e := range d.elems(rest[0]) {
			r, err := d.src(e, b32)
			if err != nil {
				return err
			}
			mi.disable = append(mi.disable, r)
		}
		rest = rest[1:]
	}
	if strings.HasPrefix(mi.form.Kind, "mx") && len(rest) > 2 {
		if err := d.tensorRegs(rest, &mi.sfa, &mi.sfb); err != nil {
			return err
		}
		rest = rest[2:]
	}
	if len(rest) < 1 || len(rest) > 2 {
		return d.errorf("%s has too many or too few operands", Name(in))
	}
	var err error
	if mi.enable, err = d.predSrc(rest[0]); err != nil {
		return err
	}
	if len(rest) == 2 && mi.form.WS {
		mi.zero, err = d.src(rest[1], b64)
		return err
	}
	if len(rest) == 2 {
		n, ok := rest[1].(ptx.Int)
		if !ok || n.Bits > 15 {
			return d.errorf("%s takes a constant scale of D, 0 to 15", Name(in))
		}
		mi.form.ScaleD = int(n.Bits)
	}
	return nil
}

// multiplyInTensorMemory writes D of a tcgen05.mma.
func (m *Machine) multiplyInTensorMemory(op *Op) {
	p := op.tcgen05.mma
	if err := m.checkBesides(op); err != nil {
		m.halt(Stop{Kind: FaultDescriptor, CTA: op.CTA, Warp: op.Warp, Lane: op.Lane, Mask: 1 << op.Lane, PC: op.PC,
			Mem: TensorOf(p.ctas[0]), Acc: Read, Op: op, Msg: err.Error()})
		return
	}
	if m.cfg.skipMatrices {
		for _, s := range op.Writes {
			if r, off := m.memory(s.Mem, s.Addr); r != nil {
				r.mark(off, s.Len, m.owner)
			}
		}
		return
	}
	out := make([]byte, spansLen(op.Writes))
	p.compute(op.data, out)
	op.data = out
	m.scatter(op)
}

// checkBesides says what the ISA forbids in what an operation has read besides its matrices. What
// nobody has written is said elsewhere.
func (m *Machine) checkBesides(op *Op) error {
	p := op.tcgen05.mma
	if !op.readsAlways() {
		return nil
	}
	for i, s := range op.Reads {
		if p.parts[i] > partD {
			if r, off := m.memory(s.Mem, s.Addr); r == nil || !r.initialized(off, s.Len) {
				return nil
			}
		}
	}
	read := p.fetcher(op.data, TensorMemory)
	for i, cta := range p.ctas {
		from := func(addr uint32, b []byte) { read(i, addr, b) }
		if err := p.form.CheckScales(p.sfa, p.sfb, from); err != nil {
			return fmt.Errorf("%w, in CTA %d", err, cta)
		}
		if err := p.form.CheckMeta(p.meta, from); err != nil && m.cfg.Observer != nil {
			// It is taken as it is: wgmma on an H200 does so.
			m.emit(Event{Kind: EvOperand, CTA: cta, Warp: op.Warp, Mask: 1 << op.Lane, PC: op.PC, Fault: FaultMetadata, Why: err.Error()})
		}
	}
	return nil
}

// readsAlways reports whether what an operation reads is read where matrices are not multiplied,
// too: it has to be checked.
func (op *Op) readsAlways() bool {
	return op.Kind == OpTensorMultiply && (op.tcgen05.mma.form.Factors > 0 || op.tcgen05.mma.form.Sparse)
}

// What is checked in what multiplications read besides their matrices depends on its contents:
// whether metadata is what the ISA defines, and factors the same in each 32 lanes. These always
// are where tcgen05.cp.32x128b.warpx4 alone writes them.

// A besides notes where a program has such instructions, as places and 1.
type besides struct {
	sparse, scaled int32
	stores, copies bool // tcgen05.st, and tcgen05.cp of another shape
}

// note adds an instruction of tcgen05.mma.
func (b *besides) note(mi *mmaInfo, pc int32) {
	switch {
	case mi.form.Sparse && b.sparse == 0:
		b.sparse = pc + 1
	case strings.HasPrefix(mi.form.Kind, "mx") && b.scaled == 0:
		b.scaled = pc + 1
	}
}

// orChecked returns pc, or, if it is negative, the place of an instruction that checks what values
// from the origin may be. Products get to metadata and factors by threads.
func (p *Program) orChecked(pc int32, from flow.Origin) int32 {
	b := &p.besides
	switch {
	case pc >= 0:
	case b.sparse > 0 && (from == FromBuffers || b.stores):
		return b.sparse - 1
	case b.scaled > 0 && (b.stores || b.copies && from == FromBuffers):
		return b.scaled - 1
	}
	return pc
}
