package machine

import (
	"errors"

	"muster/internal/tensor"
	"muster/ptx"
)

// The matrix instructions that a warp executes at once. mma.sync and movmatrix
// access only registers: they are collectives of the whole warp. ldmatrix and
// stmatrix access shared memory (matrix_memory.go). All are .aligned, and the ISA
// leaves them undefined where a thread of the warp has exited or is elsewhere
// (9.7.14.5.14 to .17). Such lanes are waited for like at other aligned
// instructions; when they cannot come, the event EvDivergent says so, and the
// lanes present perform it with whatever the others' registers hold.

var matrixDecoders = map[string]decodeFn{
	"mma":       decodeMMA,
	"movmatrix": decodeMovmatrix,
	"ldmatrix":  decodeLdmatrix,
	"stmatrix":  decodeStmatrix,
	"wmma":      decodeWMMA,
}

// A matrixInfo marks an aligned instruction of a warp, and holds the operands of
// a product: of an mma, or of a wmma.mma.
type matrixInfo struct {
	mma        *tensor.WarpMMA
	wmma       *tensor.WMMA
	d, a, b, c []reg
	apart      bool // D must be computed apart: it has registers of A or B, or of C in another place
	meta       reg
	selector   int
	scales     *scaleRegs // of block scales
}

// maxRegs is how many registers an operand of mma or wmma has at most: A of f64 in
// m16n8k16, and C of f32 in m8n8k4.
const maxRegs = tensor.MostRegs

// run computes D for a warp.
func (mi *matrixInfo) run(d, a, b, c []*[32]uint32, meta *[32]uint32) {
	if mi.wmma != nil {
		mi.wmma.Run(d, a, b, c)
		return
	}
	if mi.scales != nil {
		mi.mma.RunScaled(d, a, b, c, meta, mi.selector, &mi.scales.now)
		return
	}
	mi.mma.Run(d, a, b, c, meta, mi.selector)
}

// run64 is run for f64.
func (mi *matrixInfo) run64(d, a, b, c []*[32]uint64) {
	if mi.wmma != nil {
		mi.wmma.Run64(d, a, b, c)
		return
	}
	mi.mma.Run64(d, a, b, c)
}

// sparse reports whether A is sparse.
func (mi *matrixInfo) sparse() bool { return mi.mma != nil && mi.mma.Sparse }

// wide reports whether the registers have 64 bits.
func (mi *matrixInfo) wide() bool {
	return mi.wmma != nil && mi.wmma.Wide || mi.mma != nil && mi.mma.Wide
}

func readyAllLive(x *ctx, _ *instr, mask uint32) bool { return mask == x.w.live }

// emitAligned appends a collective of the whole warp.
func (d *decoder) emitAligned(i instr) {
	i.class, i.visit, i.ready = collects, visitAligned, readyAllLive
	d.emit(i)
}

// gatherAligned handles a split that reached an aligned collective. Lanes that
// are missing may come: until then the split waits as at a visible instruction
// that is not ready, where others can merge with it.
func (m *Machine) gatherAligned(w *warp, s *split, in *instr) bool {
	if s.mask != w.live {
		s.state = atPoint
		return false
	}
	x := m.enter(w, s)
	if in.touch != nil {
		x.touch(in, s.mask)
	}
	x.meets(in, s.mask)
	visitAligned(x, in, s.mask)
	s.met()
	s.pc++
	return true
}

func visitAligned(x *ctx, in *instr, mask uint32) verdict {
	in.exec(x, in, mask)
	x.meeting(mask)
	return performed
}

// meeting shows that the lanes of a warp performed an aligned instruction together.
func (x *ctx) meeting(mask uint32) {
	if m := x.m; m.cfg.meetings {
		m.emit(Event{Kind: EvCollective, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc})
	}
}

// sums is the architecture whose tensor cores the module runs on: Hopper's, which a module for
// an older one runs on too, or its own. Of sm_110 and sm_107 nobody published how they add.
func (d *decoder) sums() int {
	sm, ok := (&ptx.Module{Target: d.unit().Target}).Architecture()
	if !ok {
		return 90
	}
	return max(sm.Number, 90)
}

func (d *decoder) sumNotKnown() error {
	return notModelled(sprint("on sm_%d, of which nobody published how it adds,", d.sums()))
}

// --- mma.sync, mma.sp.sync ---

func decodeMMA(d *decoder, in *ptx.Inst) error {
	w, err := tensor.ParseMMA(in.Mods)
	if errors.Is(err, tensor.ErrNotMMA) {
		return errNotModelled
	}
	if w, err = w.On(d.sums()); err != nil {
		return d.sumNotKnown()
	}
	d.readAll()
	want := 4
	if w.Sparse {
		want = 6
	}
	if w.Factors > 0 {
		want += 4
	}
	if len(in.Operands) != want {
		return d.errorf("%s takes %d operands", Name(in), want)
	}
	mi := &matrixInfo{mma: w}
	t := b32
	if w.Wide {
		t = b64
	}
	if mi.d, err = d.matrix(in, 0, w.D.Regs, t, d.dst); err != nil {
		return err
	}
	for i, p := range []*[]reg{&mi.a, &mi.b, &mi.c} {
		regs := []int{w.A.Regs, w.B.Regs, w.C.Regs}[i]
		if *p, err = d.matrix(in, i+1, regs, t, d.src); err != nil {
			return err
		}
	}
	if w.Sparse {
		if err := d.sparsity(in, mi); err != nil {
			return err
		}
	}
	if w.Factors > 0 {
		if err := d.scaleOperands(in, mi, want-4); err != nil {
			return err
		}
	}
	exec := execMMA
	if w.Wide {
		exec = execMMA64
	}
	d.emitAligned(instr{exec: exec, x: mi})
	return nil
}

// matrix decodes a fragment of n registers.
func (d *decoder) matrix(in *ptx.Inst, at, n int, t typ, one func(ptx.Operand, typ) (reg, error)) ([]reg, error) {
	list := d.elems(in.Operands[at])
	if len(list) != n {
		return nil, d.errorf("%s takes %d registers as operand %d, not %d", Name(in), n, at+1, len(list))
	}
	regs := make([]reg, n)
	for i, op := range list {
		r, err := one(op, t)
		if err != nil {
			return nil, err
		}
		regs[i] = r
	}
	return regs, nil
}

func (d *decoder) sparsity(in *ptx.Inst, mi *matrixInfo) error {
	var err error
	if mi.meta, err = d.src(in.Operands[4], b32); err != nil {
		return err
	}
	f, ok := in.Operands[5].(ptx.Int)
	if !ok || f.Bits >= uint64(mi.mma.Selectors) {
		return d.errorf("the sparsity selector of %s is a constant below %d", Name(in), mi.mma.Selectors)
	}
	mi.selector = int(f.Bits)
	return nil
}

// rows32 points to an operand's registers.
func (x *ctx) rows32(buf *[maxRegs]*[32]uint32, regs []reg) []*[32]uint32 {
	for i, r := range regs {
		buf[i] = x.a32(r)
	}
	return buf[:len(regs)]
}

func (x *ctx) rows64(buf *[maxRegs]*[32]uint64, regs []reg) []*[32]uint64 {
	for i, r := range regs {
		buf[i] = x.a64(r)
	}
	return buf[:len(regs)]
}

func execMMA(x *ctx, in *instr, mask uint32) {
	mi := in.x.(*matrixInfo)
	if mi.scales != nil {
		var ok bool
		if mi, ok = mi.scaledFor(x, mask); !ok {
			return
		}
	}
	if mi.sparse() && mi.mma.Ordered && x.m.cfg.Observer != nil {
		if err := mi.mma.CheckOrder(x.a32(mi.meta), mi.selector); err != nil {
			x.badOperand(FaultMetadata, mask, err.Error())
		}
	}
	if x.m.cfg.skipMatrices {
		return
	}
	var db, ab, bb, cb [maxRegs]*[32]uint32
	d, a, b, c := x.rows32(&db, mi.d), x.rows32(&ab, mi.a), x.rows32(&bb, mi.b), x.rows32(&cb, mi.c)
	var meta *[32]uint32
	if mi.sparse() {
		meta = x.a32(mi.meta)
	}
	if mask == allLanes && !mi.apart {
		mi.run(d, a, b, c, meta)
		return
	}
	var out [maxRegs][32]uint32
	var ob [maxRegs]*[32]uint32
	for i := range d {
		ob[i] = &out[i]
	}
	mi.run(ob[:len(d)], a, b, c, meta)
	for i, r := range d {
		for l := range lanesOf(mask) {
			r[l] = out[i][l]
		}
	}
}

func execMMA64(x *ctx, in *instr, mask uint32) {
	if x.m.cfg.skipMatrices {
		return
	}
	mi := in.x.(*matrixInfo)
	var db, ab, bb, cb [maxRegs]*[32]uint64
	d, a, b, c := x.rows64(&db, mi.d), x.rows64(&ab, mi.a), x.rows64(&bb, mi.b), x.rows64(&cb, mi.c)
	var out [maxRegs][32]uint64
	var ob [maxRegs]*[32]uint64
	for i := range d {
		ob[i] = &out[i]
	}
	mi.run64(ob[:len(d)], a, b, c)
	for i, r := range d {
		for l := range lanesOf(mask) {
			r[l] = out[i][l]
		}
	}
}

// --- movmatrix ---

func decodeMovmatrix(d *decoder, in *ptx.Inst) error {
	if !d.has("m8n8") || !d.has("trans") || !d.has("b16") {
		return errNotModelled
	}
	if len(in.Operands) != 2 {
		return d.errorf("%s takes a destination and a source", Name(in))
	}
	to, err := d.dst(in.Operands[0], b32)
	if err != nil {
		return err
	}
	from, err := d.src(in.Operands[1], b32)
	if err != nil {
		return err
	}
	d.emitAligned(instr{exec: execMovmatrix, d: to, a: from, x: &matrixInfo{}})
	return nil
}

func execMovmatrix(x *ctx, in *instr, mask uint32) {
	var m matrix8
	m.put(&tensor.Matrix8, x.a32(in.a))
	m.get(&tensor.Transposed8, x.w32(in.d), mask)
}

// A matrix8 is an 8×8 matrix of 16-bit elements, its rows in two words each,
// low bits first.
type matrix8 [8][2]uint64

func (m *matrix8) at(row, col int) uint32 { return uint32(m[row][col>>2]>>(col&3*16)) & 0xffff }

func (m *matrix8) set(row, col int, v uint32) {
	w, sh := &m[row][col>>2], col&3*16
	*w = *w&^(0xffff<<sh) | uint64(v&0xffff)<<sh
}

// put fills the matrix from a register with layout f.
func (m *matrix8) put(f *tensor.Fragment, from *[32]uint32) {
	for l, v := range from {
		r, c := f.At(l, 0)
		m.set(r, c, v)
		if f.Down {
			r++
		} else {
			c++
		}
		m.set(r, c, v>>16)
	}
}

// get writes the matrix to a register of the lanes in mask, with layout f.
func (m *matrix8) get(f *tensor.Fragment, to *[32]uint32, mask uint32) {
	for l := range lanesOf(mask) {
		r, c := f.At(l, 0)
		v := m.at(r, c)
		if f.Down {
			r++
		} else {
			c++
		}
		to[l] = v | m.at(r, c)<<16
	}
}
