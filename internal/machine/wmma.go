package machine

import (
	"fmt"
	"math/bits"
	"slices"

	"muster/internal/flow"
	"muster/internal/tensor"
	"muster/ptx"
)

// wmma.load, wmma.store and wmma.mma (ISA 9.7.14.4). Loads and stores are weak accesses
// by the generic proxy, in which each lane accesses the elements of its own registers: the
// ISA leaves open which those are, and package tensor has them as an H100 does. Registers
// of f16 that repeat others load nothing.

// A wmmaAccess is a decoded wmma.load or wmma.store.
type wmmaAccess struct {
	access
	frag   *tensor.WarpMatrix
	pieces []wmmaPiece
	stride reg // in elements; where the text has none, a constant
	least  int32
	// The address of the matrix must be a multiple of align bytes, and so must the
	// distance of its rows (or columns) be of apart bytes.
	align, apart int32
}

// A wmmaPiece is bytes that each lane accesses at one address: whole registers, or one
// element of a register.
type wmmaPiece struct {
	reg, regs int
	shift     uint  // of the element in its register
	size      int32 // bytes
	// The first element: which row (or column) it is in, and which element of that.
	major, minor [32]int32
}

func decodeWMMA(d *decoder, in *ptx.Inst) error {
	if in.Form == nil {
		return d.errorf("%s: %s", Name(in), ptx.Misfit(in))
	}
	d.readAll()
	switch {
	case has(in, "load"):
		return d.wmmaAccess(in, Read, 0, 1, d.dst)
	case has(in, "store"):
		return d.wmmaAccess(in, Write, 1, 0, d.src)
	}
	w, err := tensor.ParseWMMA(in.Mods)
	if err != nil {
		return errNotModelled
	}
	if w, err = w.On(d.sums()); err != nil {
		return d.sumNotKnown()
	}
	return d.product(in, &matrixInfo{wmma: w}, &w.D, &w.A, &w.B, &w.C, w.Wide)
}

// product decodes the operands of a wmma.mma.
func (d *decoder) product(in *ptx.Inst, mi *matrixInfo, md, ma, mb, mc *tensor.WarpMatrix, wide bool) (err error) {
	t, exec := b32, execMMA
	if wide {
		t, exec = b64, execMMA64
	}
	if mi.d, err = d.matrix(in, 0, md.Regs, t, d.dst); err != nil {
		return err
	}
	for i, m := range []*tensor.WarpMatrix{ma, mb, mc} {
		if *[]*[]reg{&mi.a, &mi.b, &mi.c}[i], err = d.matrix(in, i+1, m.Regs, t, d.src); err != nil {
			return err
		}
	}
	for i, r := range mi.d {
		mi.apart = mi.apart || slices.Contains(mi.a, r) || slices.Contains(mi.b, r) || slices.Contains(mi.c, r) && (i >= len(mi.c) || mi.c[i] != r)
	}
	d.emitAligned(instr{exec: exec, x: mi})
	return nil
}

// wmmaMatrix gives the fragment of a wmma.load or wmma.store, and whether the matrix lies
// in memory row by row.
func wmmaMatrix(in *ptx.Inst) (w *tensor.WarpMatrix, rows bool, err error) {
	which := slices.IndexFunc(in.Mods, func(m string) bool { return len(m) == 1 })
	if which < 0 {
		return nil, false, tensor.ErrNotWMMA
	}
	w, err = tensor.ParseWarpMatrix(in.Mod("shape"), in.Mods[which], in.Mod("type"))
	return w, in.Mod("layout") == "row", err
}

func (d *decoder) wmmaAccess(in *ptx.Inst, acc Access, data, addr int, one func(ptx.Operand, typ) (reg, error)) error {
	w, rows, err := wmmaMatrix(in)
	if err != nil {
		return errNotModelled
	}
	a := &wmmaAccess{frag: w, pieces: wmmaPieces(w, rows), least: int32(w.Cols)}
	if !rows {
		a.least = int32(w.Rows)
	}
	word, t := int32(4), b32
	if w.Bits == 64 {
		word, t = 8, b64
	}
	a.align = int32(w.Regs) * word
	a.apart = min(a.align, wmmaApart)
	a.space, a.acc, a.size = d.stateSpace(), acc, a.align
	if err := d.mem(in.Operands[addr], &a.access); err != nil {
		return err
	}
	if a.space != spGeneric && a.space != spGlobal && a.space != spShared {
		return d.errorf("%s accesses global or shared memory", Name(in))
	}
	if a.regs, err = d.matrix(in, data, w.Regs, t, one); err != nil {
		return err
	}
	a.stride = d.k(uint64(a.least), u32)
	if len(in.Operands) > 2 {
		if a.stride, err = d.src(in.Operands[2], u32); err != nil {
			return err
		}
	}
	d.emit(instr{class: visible, visit: visitWMMA, ready: readyAllLive, x: a})
	return nil
}

// wmmaApart is what the distance of rows is a multiple of, in bytes: the CUDA C++ guide
// permits it, and compilers make wmma of that. The ISA asks for the size of the fragment
// (9.7.14.4.2), which is up to 32.
const wmmaApart = 16

// wmmaPieces lists what each lane accesses. Registers that repeat others are left out.
func wmmaPieces(w *tensor.WarpMatrix, rows bool) (list []wmmaPiece) {
	piece := func(reg, regs, elem int, size int32) *wmmaPiece {
		list = append(list, wmmaPiece{reg: reg, regs: regs, shift: uint(elem * w.Bits), size: size})
		p := &list[len(list)-1]
		for l := range 32 {
			row, col := w.At(l, reg)
			if w.Down {
				row += elem
			} else {
				col += elem
			}
			if !rows {
				row, col = col, row
			}
			p.major[l], p.minor[l] = int32(row), int32(col)
		}
		return p
	}
	word := int32(w.Per * w.Bits / 8)
	for r := range w.Own {
		if w.Per > 1 && w.Down == rows {
			for i := range w.Per {
				piece(r, 1, i, int32(w.Bits/8))
			}
			continue
		}
		n := len(list)
		now := piece(r, 1, 0, word)
		if n == 0 || word != 4 {
			continue
		}
		// Two registers that lie side by side are one access.
		before := &list[n-1]
		side := before.regs == 1
		for l := range 32 {
			side = side && now.major[l] == before.major[l] && now.minor[l] == before.minor[l]+int32(w.Per) && before.minor[l]*int32(w.Bits)%64 == 0
		}
		if side {
			before.regs, before.size = 2, 8
			list = list[:n]
		}
	}
	return list
}

// visitWMMA performs a wmma.load or a wmma.store.
func visitWMMA(x *ctx, in *instr, mask uint32) verdict {
	a := in.x.(*wmmaAccess)
	x.quiet = a.acc == Read
	x.idle = x.quiet
	var base [32]uint64
	x.addressesOf(&a.access, &base)
	stride := *x.a32(a.stride)
	if x.checkWMMA(a, mask, &base, &stride) == halted {
		return halted
	}
	var words [32][tensor.MostRegs]uint64
	if a.acc == Write {
		x.gatherWMMA(a, &words)
	}
	for i := range a.pieces {
		p := &a.pieces[i]
		at := a.access
		at.size = p.size
		addr := &x.m.addr
		for l := range addr {
			addr[l] = base[l] + uint64((int64(p.major[l])*int64(int32(stride[l]))+int64(p.minor[l]))*int64(a.frag.Bits)>>3)
		}
		given := *addr
		if l := a.leaves(mask, addr, p.size); l >= 0 {
			return x.fault(FaultBounds, &at, l, given[l])
		}
		for rest := mask; rest != 0; {
			to, ok := x.locate(a.space, rest, p.size, addr)
			if !ok || a.acc == Write && to.r.fixed {
				l := lowest(rest)
				return x.fault(FaultBounds, &at, l, given[l])
			}
			x.transferWMMA(a, &at, p, to, &words)
			rest &^= to.mask
		}
	}
	if a.acc == Read {
		x.scatterWMMA(a, mask, &words)
	}
	return performed
}

// stridesBy reports whether a register is the stride of a matrix that the instruction
// accesses.
func (in *instr) stridesBy(r flow.Reg) bool {
	a, ok := in.x.(*wmmaAccess)
	return ok && r.Class() == flow.Word && reg(r.Row()) == a.stride
}

// leaves returns a lane of mask whose bytes lie outside of the variable that the text
// names, or -1.
func (a *wmmaAccess) leaves(mask uint32, addr *[32]uint64, size int32) int {
	if a.base == baseImm && a.to > a.from {
		for l := range lanesOf(mask) {
			if at := int64(addr[l]); at < a.from || at+int64(size) > a.to {
				return l
			}
		}
	}
	return -1
}

// checkWMMA checks address and stride (ISA 9.7.14.4.2, .3).
func (x *ctx) checkWMMA(a *wmmaAccess, mask uint32, base *[32]uint64, stride *[32]uint32) verdict {
	first := lowest(mask)
	elsewhere, small := uint32(0), uint32(0)
	for l := range lanesOf(mask) {
		switch step := int64(int32(stride[l])) * int64(a.frag.Bits); {
		case base[l]&uint64(a.align-1) != 0:
			return x.fault(FaultAlign, &a.access, l, base[l])
		case step%(8*int64(a.apart)) != 0:
			at := a.access
			at.size = a.apart
			return x.fault(FaultAlign, &at, l, base[l]+uint64(step>>3))
		}
		if base[l] != base[first] || stride[l] != stride[first] {
			elsewhere |= 1 << l
		}
		if int32(stride[l]) < a.least {
			small |= 1 << l
		}
	}
	if elsewhere != 0 {
		x.badOperand(FaultOther, elsewhere, fmt.Sprintf("an address or a stride other than those of lane %d", first))
	}
	if small != 0 {
		x.badOperand(FaultOther, small, fmt.Sprintf("a stride below %d, the length of a row or column", a.least))
	}
	return performed
}

// transferWMMA shows one piece's access within a region, and does it.
func (x *ctx) transferWMMA(a *wmmaAccess, at *access, p *wmmaPiece, to where, words *[32][tensor.MostRegs]uint64) {
	m := x.m
	addr, u := &m.addr, m.undefined()
	val := m.vals[:1]
	if a.acc == Write {
		for l := range lanesOf(to.mask) {
			val[0][l] = p.value(&words[l])
		}
	}
	if m.cfg.Observer != nil {
		ev := &m.ev
		ev.at(EvAccess, x, to.mask)
		ev.Access, ev.Sem, ev.Scope, ev.Proxy, ev.Row = a.acc, Weak, NoScope, Generic, false
		ev.SemDefaulted, ev.ScopeDefaulted = false, false
		ev.Mem, ev.Size, ev.Addr, ev.Init = to.mem, p.size, addr, to.mask
		ev.Val, ev.storing, ev.by, ev.Part, ev.Whole = nil, nil, x, 0, 0
		if a.acc == Write {
			ev.Val = val
		} else {
			ev.Init = x.initialized(to, false, p.size)
		}
		m.cfg.Observer.Observe(m, ev)
	}
	for l := range lanesOf(to.mask) {
		off := addr[l] - to.r.base
		if a.acc == Write {
			to.r.store(off, p.size, val[0][l], m.owner)
			continue
		}
		v := to.r.load(off, p.size)
		if q := m.cfg.Poison; q.at(x.s.pc) && to.mem != Global {
			v = q.over(to.r, off, p.size, v)
		}
		p.put(&words[l], v)
	}
	switch {
	case u != nil && a.acc == Write:
		u.wmmaStored(x, a, p, to)
	case u != nil:
		u.wmmaLoaded(x, a, p, to)
	}
	if a.acc == Read {
		x.look(at, to)
	}
}

// over returns what a read of n bytes at off gave, with the unwritten ones poisoned.
func (p *Poison) over(r *region, off uint64, n int32, v uint64) uint64 {
	if r.initialized(off, uint64(n)) {
		return v
	}
	var b [8]byte
	r.read(off, b[:n])
	p.fill(r, off, b[:n])
	v = 0
	for i, c := range b[:n] {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// value and put take a piece from a lane's registers, and put it there.
func (p *wmmaPiece) value(words *[tensor.MostRegs]uint64) uint64 {
	if p.regs == 2 {
		return words[p.reg] | words[p.reg+1]<<32
	}
	return words[p.reg] >> p.shift & ones(uint(8*p.size))
}

func (p *wmmaPiece) put(words *[tensor.MostRegs]uint64, v uint64) {
	if p.regs == 2 {
		words[p.reg], words[p.reg+1] = v&ones(32), v>>32
		return
	}
	words[p.reg] |= v << p.shift
}

// gatherWMMA reads the registers that a wmma.store stores.
func (x *ctx) gatherWMMA(a *wmmaAccess, words *[32][tensor.MostRegs]uint64) {
	for i, r := range a.regs {
		for l := range words {
			if a.frag.Bits == 64 {
				words[l][i] = x.a64(r)[l]
			} else {
				words[l][i] = uint64(x.a32(r)[l])
			}
		}
	}
}

// scatterWMMA writes what a wmma.load has loaded to registers.
func (x *ctx) scatterWMMA(a *wmmaAccess, mask uint32, words *[32][tensor.MostRegs]uint64) {
	for i, r := range a.regs {
		for k := mask; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			if v := words[l][i%a.frag.Own]; a.frag.Bits == 64 {
				x.w64(r)[l] = v
			} else {
				x.w32(r)[l] = uint32(v)
			}
		}
	}
}

// --- undefined values ---

// wmmaLoaded sets the shades of what a piece has brought; before the first piece, the
// registers are defined.
func (u *Undefined) wmmaLoaded(x *ctx, a *wmmaAccess, p *wmmaPiece, at where) {
	missing := u.missing(at.mem, x.s.pc)
	for l := range lanesOf(at.mask) {
		s := u.bytes(at.r, x.m.addr[l]-at.r.base, uint64(p.size), missing)
		if s.bits == 0 {
			continue
		}
		var words [tensor.MostRegs]uint64
		p.put(&words, s.bits)
		for i, r := range a.regs {
			if own := i % a.frag.Own; own < p.reg || own >= p.reg+p.regs {
				continue
			} else if more := words[own]; more != 0 {
				k := u.row(x, r, a.frag.Bits == 64)
				old := shade{}
				if row := u.regs[k]; row != nil {
					old = row[l]
				}
				u.put(k, l, shade{old.bits | more, old.from | s.from})
			}
		}
	}
}

// wmmaStored sets the shades of a piece that was stored.
func (u *Undefined) wmmaStored(x *ctx, a *wmmaAccess, p *wmmaPiece, at where) {
	if len(u.regs) == 0 {
		return
	}
	for l := range lanesOf(at.mask) {
		var words [tensor.MostRegs]uint64
		from := uint64(0)
		for i := p.reg; i < p.reg+p.regs; i++ {
			if r := a.regs[i]; r >= 0 {
				s := u.value(x, r, b32, a.frag.Bits == 64, l)[0]
				words[i] = s.bits
				from |= s.from
			}
		}
		u.store(x, at.r, x.m.addr[l]-at.r.base, [2]shade{{p.value(&words), from}}, uint64(p.size))
	}
}

// --- the table's examples ---
