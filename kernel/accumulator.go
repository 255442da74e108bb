package kernel

// An Accumulator is the matrix D of products, in the registers of a warpgroup, in blocks
// of 64 rows. In each block and each 8 columns, thread t of the warpgroup holds row
// 16(t/32) + t%32/4, and the row 8 below it, in columns 2(t%4) and 2(t%4)+1 (ISA
// 9.7.15.5.1, figure of D).
type Accumulator struct {
	k    *Kernel
	typ  Type
	m, n int
	regs Vec
}

// Accumulator allocates one of m × n elements, of type F32, F16 or S32. m is a multiple
// of 64, n a multiple of 8 up to 256. It takes m*n/128 registers per thread, or half as
// many for F16, with two columns per register. The first Mma overwrites it, or Zero sets
// it.
func (k *Kernel) Accumulator(t Type, m, n int) Accumulator {
	switch t {
	case F32, F16, S32:
	default:
		k.fail("Accumulator of type %s: the tensor cores add up in F32, F16 or S32", t)
		t = F32
	}
	const most = 248 / 2 * 64 // rows of 8 columns of F16, two registers each 64
	switch {
	case m < 64 || m%64 != 0:
		k.fail("Accumulator of %d rows: a warpgroup has 64 an instruction, and an accumulator a multiple of that", m)
		m = min(most, max(64, m/64*64))
	case m > most:
		k.fail("Accumulator of %d rows: a warpgroup has registers for %d", m, most)
		m = 64
	}
	if n < 8 || n%8 != 0 || n > 256 {
		k.fail("Accumulator of %d columns: an instruction has a multiple of 8, up to 256", n)
		n = min(256, max(8, n/8*8))
	}
	a := Accumulator{k: k, typ: t, m: m, n: n}
	if n := a.m * a.n / 128 * min(t.Size(), 4) / 4; n > 248 {
		k.fail("Accumulator of %d × %d %s takes %d registers; a thread has 255", m, a.n, t, n)
		a.m = 64
	}
	a.regs = k.Vars(a.regType(), a.m*a.n/128*t.Size()/4)
	for _, r := range a.regs {
		k.at.regs[r.id].hint = ": the first Mma of an accumulator takes Overwrite, or Zero sets it"
	}
	return a
}

func (a Accumulator) regType() Type {
	if a.typ == F16 {
		return F16x2
	}
	return a.typ
}

func (a Accumulator) kernel() *Kernel {
	if a.k == nil {
		panic("kernel: the zero Accumulator has no registers: it comes from Kernel.Accumulator")
	}
	return a.k
}

// Type gives the type of the elements.
func (a Accumulator) Type() Type { return a.typ }

// Dims gives rows and columns.
func (a Accumulator) Dims() (rows, cols int) { return a.m, a.n }

// Regs gives the registers, of F32, S32, or F16x2.
func (a Accumulator) Regs() Vec { return a.regs }

// At returns register i, from 0. Place gives its row and column.
func (a Accumulator) At(i int) Reg {
	k := a.kernel()
	if i < 0 || i >= len(a.regs) {
		k.fail("At(%d) of an accumulator that has %d registers", i, len(a.regs))
		return k.lost(a.regType())
	}
	return a.regs[i]
}

// Zero sets all elements to zero.
func (a Accumulator) Zero() {
	for _, r := range a.regs {
		r.Set(0)
	}
}

// Place returns row and column of the thread's element in register i: for F16, of the
// first of its two columns. The row is relative to the thread's warpgroup.
func (a Accumulator) Place(i int) (row, col Reg) {
	k := a.kernel()
	r, c := a.place(i)
	t := k.index(false).And(127)
	row = t.Shr(5).Mul(16).Add(t.And(31).Shr(2)).Add(r)
	return row, t.And(3).Mul(2).Add(c)
}

// place returns the part of a register's row and column that all threads share.
func (a Accumulator) place(i int) (row, col int) {
	per := 4 / a.typ.Size()
	block := len(a.regs) / (a.m / 64)
	e := i % block * per // of the block's elements, four to 8 columns
	return i/block*64 + e/2%2*8, e/4*8 + e%2
}
