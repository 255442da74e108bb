package kernel

import "fmt"

// A TensorAccumulator is the matrix D of products, in tensor memory: a column for each of
// its columns, whatever the type; an F16 is in the lower half of its 32 bits. Row r is in
// lane r, or, of 64 rows, in lane 32(r/16) + r%16 (ISA 9.7.18.10.5, layouts D and F).
type TensorAccumulator struct {
	part   tensorPart
	typ    Type
	m, n   int
	stages int // that At can choose from; 0 for one
}

// Accumulator takes the next n columns for an accumulator of m × n elements, of type F32
// or F16. m is 64 or 128; n is a multiple of 8 up to 256, of 16 for 128 rows. In memory of a
// pair m is 256, and the CTA of even rank has the upper half of the rows, the other one the
// lower half. The first Mma overwrites it, or stores set it.
func (t *TensorMemory) Accumulator(typ Type, m, n int) TensorAccumulator {
	d := t.accumulators("Accumulator", typ, m, n, 1)
	d.stages = 0
	return d
}

// Accumulators takes columns for several accumulators, the stages of a ring, one after the
// other. At selects one; without At, the first is used.
func (t *TensorMemory) Accumulators(typ Type, m, n, stages int) TensorAccumulator {
	if stages < 1 {
		t.kernel().fail("Accumulators: %d stages; there is at least one", stages)
		stages = 1
	}
	return t.accumulators("Accumulators", typ, m, n, min(stages, tensorColumns))
}

func (t *TensorMemory) accumulators(what string, typ Type, m, n, stages int) TensorAccumulator {
	k := t.kernel()
	if typ != F32 && typ != F16 {
		k.fail("%s of type %s: these products add up in F32 or F16", what, typ)
		typ = F32
	}
	switch {
	case t.pair && m != 256:
		k.fail("%s of %d rows: a pair's product has 256, of which each CTA has half", what, m)
		m = 256
	case !t.pair && m != 64 && m != 128:
		k.fail("%s of %d rows: a CTA's product has 64 or 128", what, m)
		m = 128
	}
	if by := min(16, m/8); n < by || n%by != 0 || n > 256 {
		k.fail("%s of %d columns: with %d rows they are a multiple of %d, up to 256", what, n, m, by)
		n = min(256, max(by, n/by*by))
	}
	d := TensorAccumulator{part: tensorPart{t: t, lanes: -1}, typ: typ, m: m, n: n, stages: stages}
	size := fmt.Sprintf("%s of %d × %d", what, m, n)
	if stages > 1 {
		size = fmt.Sprintf("%s of %d times %d × %d", what, stages, m, n)
	}
	d.part.first = t.take(size, n*stages)
	return d
}

func (d TensorAccumulator) kernel() *Kernel {
	if d.part.t == nil {
		panic("kernel: the zero TensorAccumulator has no columns: it comes from TensorMemory.Accumulator")
	}
	return d.part.t.k
}

// Type gives the type of the elements.
func (d TensorAccumulator) Type() Type { return d.typ }

// Dims gives rows and columns.
func (d TensorAccumulator) Dims() (rows, cols int) { return d.m, d.n }

// Ptr gives the address of its first element, for Inst and package inst.
func (d TensorAccumulator) Ptr() Ptr { d.kernel(); return d.part.ptr(0, nil) }

// At selects a stage of several accumulators, by a number or a register of 32 bits.
func (d TensorAccumulator) At(stage Num) TensorAccumulator {
	k := d.kernel()
	n, isConst := toInt(stage)
	switch r, isReg := stage.(Reg); {
	case d.stages == 0:
		k.fail("At of an accumulator that has no stages: Accumulators makes several")
	case isConst && (n < 0 || n >= int64(d.stages)):
		k.fail("At: stage %d of %d", n, d.stages)
	case isConst:
		d.part.first += int(n) * d.n
	case isReg && r.k != nil && r.t.fits(U32, false):
		d.part.vars = append(d.part.vars[:len(d.part.vars):len(d.part.vars)], term{r, d.n})
	default:
		k.fail("At: the stage is %s; it is a number or an integer register of 32 bits", describe(stage))
	}
	d.stages = 0
	return d
}

// Cols returns n columns from first on.
func (d TensorAccumulator) Cols(first, n int) TensorAccumulator {
	k := d.kernel()
	if first < 0 || n < 1 || n > d.n-first {
		k.fail("Cols(%d, %d) of an accumulator of %d columns", first, n, d.n)
		return d
	}
	d.part.first += first
	d.n = n
	d.stages = 0
	return d
}

// Lanes returns the part in 32 lanes from first on, a multiple of 32: only warps whose
// number modulo 4 is first/32 reach it. Load and Store without it take the lanes of the
// executing warp.
func (d TensorAccumulator) Lanes(first int) TensorAccumulator {
	k := d.kernel()
	if first < 0 || first%32 != 0 || first > 96 {
		k.fail("Lanes(%d): the 32 lanes of a warp begin at 0, 32, 64 or 96", first)
		return d
	}
	d.part.lanes = first
	return d
}

// Row returns the row of the accumulator in the executing thread's lane: with 128 rows the
// thread's index modulo 128, also in the half of a pair's CTA. With 64 rows the lower 16 lanes of each warp have one each,
// and the upper ones those of the lane 16 below, whose elements they do not hold.
func (d TensorAccumulator) Row() Reg {
	k := d.kernel()
	i := k.index(false)
	if d.m == 64 {
		return i.And(96).Shr(1).Or(i.And(15))
	}
	return i.And(127)
}

// moves checks the columns of a load or a store.
func (d TensorAccumulator) moves(what string, first, n int) bool {
	k := d.kernel()
	switch {
	case n < 1 || n > 128 || n&(n-1) != 0:
		k.fail("%s of %d columns: an instruction moves a power of two of them, up to 128", what, n)
	case first < 0 || first > d.n-n:
		k.fail("%s of columns %d to %d of an accumulator of %d", what, first, first+n-1, d.n)
	default:
		return true
	}
	return false
}

// Load reads n columns from first on, a power of two up to 128, into as many registers of
// each thread, of F32, or of B32 for F16: those of its lane. Warps execute it, and each
// reaches the 32 lanes of its number modulo 4. TensorWaitLoad waits
// for it. The products in the accumulator are complete, by Commit and a wait at its
// barrier, and TensorFenceAfter follows that wait. It emits tcgen05.ld of shape 32x32b (ISA
// 9.7.18.8.3).
func (d TensorAccumulator) Load(first, n int) Vec {
	k := d.kernel()
	t := F32
	if d.typ == F16 {
		t = B32
	}
	if !d.moves("Load", first, n) {
		return k.lostVec(t, n)
	}
	at, ok := d.part.warp("Load", first)
	if !ok {
		return k.lostVec(t, n)
	}
	v := make(Vec, n)
	for i := range v {
		v[i] = k.reg(t)
	}
	k.Inst(fmt.Sprintf("tcgen05.ld.sync.aligned.32x32b.x%d.b32", n), v, at)
	return v
}

// Store writes registers to as many columns from first on, as Load reads them. They are
// there after TensorWaitStore. It emits tcgen05.st of shape 32x32b (ISA 9.7.18.8.4).
func (d TensorAccumulator) Store(first int, v Vec) {
	k := d.kernel()
	if !d.moves("Store", first, len(v)) {
		return
	}
	if at, ok := d.part.warp("Store", first); ok {
		k.Inst(fmt.Sprintf("tcgen05.st.sync.aligned.32x32b.x%d.b32", len(v)), at, v)
	}
}
