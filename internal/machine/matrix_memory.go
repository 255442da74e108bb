package machine

import (
	"muster/internal/tensor"
	"muster/ptx"
)

// ldmatrix and stmatrix (ISA 9.7.14.5.15, .16): weak accesses to shared memory
// by the generic proxy. Lane 8i+r gives the address of row r of matrix i, 16 bytes
// that are aligned to their size; the addresses of the other lanes are ignored. Events
// and faults name the lanes that give the rows.

// A matrixAccess is a decoded ldmatrix or stmatrix, with a register a matrix.
type matrixAccess struct {
	access
	frag *tensor.Fragment
	rows uint32 // the lanes that give addresses
	bits uint   // of the 16 elements that a row begins with and that become bytes; 0: it is taken as it is
}

const matrixRow = 16 // bytes

func decodeLdmatrix(d *decoder, in *ptx.Inst) error { return d.matrixAccess(in, Read, 0, 1, d.dst) }

func decodeStmatrix(d *decoder, in *ptx.Inst) error { return d.matrixAccess(in, Write, 1, 0, d.src) }

func (d *decoder) matrixAccess(in *ptx.Inst, acc Access, data, addr int, one func(ptx.Operand, typ) (reg, error)) error {
	unpacks := uint(0)
	switch {
	case d.has("m8n8") && d.has("b16"):
	case d.has("m8n16") && d.has("b8x16") && d.has("b4x16_p64"):
		unpacks = 4
	case d.has("m8n16") && d.has("b8x16") && d.has("b6x16_p32"):
		unpacks = 6
	default:
		return errNotModelled // matrices of bytes, whose layout is in a figure alone
	}
	n := 0
	for i, m := range []string{"x1", "x2", "", "x4"} {
		if d.has(m) {
			n = i + 1
		}
	}
	if n == 0 || len(in.Operands) != 2 {
		return d.errorf("%s takes registers and an address, and .x1, .x2 or .x4", in.Op)
	}
	a := &matrixAccess{frag: &tensor.Matrix8, rows: allLanes >> (32 - 8*n), bits: unpacks}
	a.space, a.acc, a.size, a.n, a.elem = d.ownSpace(), acc, matrixRow, int32(n), 2
	if unpacks == 4 {
		a.size = 8 // the rest of the row is padding
	}
	if a.space != spOwn && a.space != spShared {
		return errNotModelled
	}
	if d.has("trans") {
		a.frag = &tensor.Transposed8
	}
	if err := d.mem(in.Operands[addr], &a.access); err != nil {
		return err
	}
	if a.space != spOwn && a.space != spShared {
		return d.errorf("%s accesses shared memory", in.Op)
	}
	var err error
	if a.regs, err = d.matrix(in, data, n, b32, one); err != nil {
		return err
	}
	visit := visitLdmatrix
	if acc == Write {
		visit = visitStmatrix
	}
	d.emit(instr{class: visible, visit: visit, ready: readyAllLive, x: a})
	return nil
}

// locateMatrix resolves the rows' addresses, in place. A false result is a fault
// that has ended the run.
func (x *ctx) locateMatrix(a *matrixAccess, mask uint32) (where, bool) {
	addr := &x.m.addr
	row := x.addressesOf(&a.access, addr)
	lanes := a.rows & mask
	if l := misaligned(lanes, addr, matrixRow); l >= 0 {
		x.fault(FaultAlign, &a.access, l, addr[l])
		return where{}, false
	}
	given := *addr
	all := where{mask: lanes}
	for rest := lanes; rest != 0; {
		at, ok := x.locate(a.space, rest, a.size, addr)
		if !ok {
			l := lowest(rest)
			x.fault(FaultBounds, &a.access, l, given[l])
			return where{}, false
		}
		all.mem, all.r = at.mem, at.r
		rest &^= at.mask
	}
	if x.m.cfg.Observer != nil && lanes != 0 {
		ev := &x.m.ev
		ev.at(EvAccess, x, lanes)
		ev.Access, ev.Sem, ev.Scope, ev.Proxy, ev.Row = a.acc, Weak, NoScope, Generic, row && lanes == allLanes
		ev.SemDefaulted, ev.ScopeDefaulted = false, false
		ev.Mem, ev.Size, ev.Addr, ev.Init = all.mem, a.size, addr, lanes
		ev.Val, ev.storing, ev.by, ev.Part = nil, nil, x, 0
	}
	return all, true
}

func visitLdmatrix(x *ctx, in *instr, mask uint32) verdict {
	a := in.x.(*matrixAccess)
	x.quiet = true
	at, ok := x.locateMatrix(a, mask)
	if !ok {
		return halted
	}
	m := x.m
	if m.cfg.Observer != nil && at.mask != 0 {
		m.ev.Init = x.initialized(at, m.ev.Row, a.size)
		m.cfg.Observer.Observe(m, &m.ev)
	}
	for i, r := range a.regs {
		var t matrix8
		for row := range t {
			if l := 8*i + row; at.mask>>l&1 != 0 {
				off := m.addr[l] - at.r.base
				t[row][0] = at.r.load(off, 8)
				if a.size == matrixRow {
					t[row][1] = at.r.load(off+8, 8)
				}
				x.poisonRow(&t, row, at.r, off)
				t[row] = a.unpacked(t[row])
			}
		}
		t.get(a.frag, x.w32(r), mask)
		if u := m.undefined(); u != nil {
			u.matrixLoaded(x, a, at, i, r, mask)
		}
	}
	return performed
}

// unpacked makes bytes of the elements that a row begins with, in their low bits (ISA
// 9.7.18.9.1 shows it in figures; CUTLASS says so in mma_traits_sm120.hpp). It is as true of
// which bits are undefined.
func (a *matrixAccess) unpacked(row [2]uint64) (out [2]uint64) {
	if a.bits == 0 {
		return row
	}
	for i := range uint(16) {
		at := i * a.bits
		e := row[at/64] >> (at % 64)
		if at%64+a.bits > 64 {
			e |= row[1] << (64 - at%64)
		}
		out[i/8] |= e & (1<<a.bits - 1) << (i % 8 * 8)
	}
	return out
}

// poisonRow overwrites the elements of a row that hold uninitialized bytes.
func (x *ctx) poisonRow(t *matrix8, row int, r *region, off uint64) {
	p := x.m.cfg.Poison
	if !p.at(x.s.pc) {
		return
	}
	for col := range 8 {
		if at := off + 2*uint64(col); !r.initialized(at, 2) {
			t.set(row, col, uint32(p.word(r.base+at)&0xffff))
		}
	}
}

func visitStmatrix(x *ctx, in *instr, mask uint32) verdict {
	a := in.x.(*matrixAccess)
	at, ok := x.locateMatrix(a, mask)
	if !ok {
		return halted
	}
	m := x.m
	v := m.vals[:2]
	for i, r := range a.regs {
		var t matrix8
		t.put(a.frag, x.a32(r))
		for row, words := range t {
			v[0][8*i+row], v[1][8*i+row] = words[0], words[1]
		}
	}
	if m.cfg.Observer != nil && at.mask != 0 {
		m.ev.Val = v
		m.cfg.Observer.Observe(m, &m.ev)
	}
	for l := range lanesOf(at.mask) {
		off := m.addr[l] - at.r.base
		at.r.store(off, 8, v[0][l], m.owner)
		at.r.store(off+8, 8, v[1][l], m.owner)
	}
	if u := m.undefined(); u != nil {
		u.matrixStored(x, a, at)
	}
	return performed
}
