package kernel

// Products in tensor memory (ISA 9.7.18.10). One thread issues them; they are asynchronous,
// and Mbarrier.Commit tells of their end:
//
//	k.Elect(func() {
//	    full.WaitParity(0)
//	    k.TensorFenceAfter()
//	    d.Mma(a, b.T(), Overwrite)
//	    done.Commit()
//	})

// Mma adds A·B to the accumulator: A has its rows, B its columns, and A as many columns as
// B has rows. If a tile stores the transposed matrix, pass T: B is most often stored with K
// along its rows, hence b.T(). A may be in tensor memory too, a TensorOperand. Options:
// Overwrite, Accumulate, NegateA, NegateB.
//
// It emits a tcgen05.mma for each 32 bytes of K: 16 elements of F16 and BF16, 8 of TF32, 32
// of E4M3 and E5M2. F16 and the two of fp8 add up in F32 or F16, BF16 and TF32 in F32. One
// thread executes it. Products in one accumulator follow each other as issued; it waits for
// nothing, and until a Commit behind it has arrived the tiles must not be written, nor the
// accumulator read.
//
// In memory of a pair the thread is one of the CTA of even rank, and A and B are tiles at the
// same place in both CTAs: 128 rows of A each, and half of B's columns each, those of the CTA
// of even rank first.
func (d TensorAccumulator) Mma(left MatrixA, b Tile, opts ...MmaOption) {
	k := d.kernel()
	p := product{scale: 1, negA: 1, negB: 1}
	for _, o := range opts {
		if o.set != nil {
			o.set(&p)
		}
	}
	a, isTile := left.(Tile)
	stored, isStored := left.(TensorOperand)
	switch {
	case isTile && a.k != nil:
	case isStored && stored.part.t != nil: // A's type and dimensions alone
		a = Tile{k: k, elem: stored.elem, rows: stored.rows, cols: stored.cols}
	default:
		k.fail("Mma: A is %s; it is a Tile or a TensorOperand", describeMatrix(left))
		return
	}
	if !k.oneThread("Mma", "each would add the product") || !d.suits(a, b, p) {
		return
	}
	enable, ok := p.scale.(Pred)
	if !ok {
		enable = k.truth(!eq(p.scale, 0))
	}
	op := "tcgen05.mma." + k.ctaGroup() + ".kind::" + tensorKinds[a.elem]
	at := d.part.ptr(0, nil)
	idesc := k.fixed(d.instruction(a, b, p))
	db := b.tensorDescriptor(!b.trans)
	var da descriptor
	if isTile {
		da = a.tensorDescriptor(a.trans)
	}
	_, cols := a.Dims()
	for s := range cols * a.elem.Size() / stepBytes {
		var from any
		if isTile {
			from = da.at(0, s)
		} else {
			from = stored.part.ptr(s*stepBytes/4, nil)
		}
		k.Inst(op, at, from, db.at(0, s), idesc, enable)
		enable = k.truth(true)
	}
}

// tensorKinds are the kinds of tcgen05.mma by the elements of A.
var tensorKinds = map[Type]string{F16: "f16", BF16: "f16", TF32: "tf32", E4M3: "f8f6f4", E5M2: "f8f6f4"}

// instruction returns the instruction descriptor (ISA 9.7.18.4.2, tables of kinds f16,
// tf32 and f8f6f4).
func (d TensorAccumulator) instruction(a, b Tile, p product) uint32 {
	code := map[Type]uint32{F16: 0, BF16: 1, TF32: 2, E4M3: 0, E5M2: 1}
	i := code[a.elem]<<7 | code[b.elem]<<10 | uint32(d.n/8)<<17 | uint32(d.m/16)<<24
	for at, set := range map[int]bool{4: d.typ == F32, 13: p.negA < 0, 14: p.negB < 0, 15: a.trans, 16: !b.trans} {
		i |= uint32(bit(set)) << at
	}
	return i
}

// A fixedKey identifies a constant or a predicate at a function's beginning.
type fixedKey struct {
	in   *body
	what any
}

// fixed returns a register with a number, set at the function's beginning.
func (k *Kernel) fixed(n uint32) Reg {
	key := fixedKey{k.at, n}
	r, ok := k.state[key].(Reg)
	if !ok {
		k.prologue(func() { r = k.Const(U32, n) })
		k.state[key] = r
	}
	return r
}

// truth returns a predicate that is always true, or always false.
func (k *Kernel) truth(t bool) Pred {
	key := fixedKey{k.at, t}
	p, ok := k.state[key].(Pred)
	if !ok {
		r := k.fixed(uint32(bit(t)))
		k.prologue(func() { p = r.Ne(0) })
		k.state[key] = p
	}
	return p
}

// oneThread reports a group of several threads.
func (k *Kernel) oneThread(what, why string) bool {
	if g := k.Group(); g.Threads != 1 || g.AnyWarp {
		k.fail("%s is for one thread, and here are %s: %s; use Elect or SingleThread", what, g, why)
		return false
	}
	return true
}

// suits checks types and dimensions of a product, and reports the valid ones.
func (d TensorAccumulator) suits(a, b Tile, p product) bool {
	k := d.part.t.k
	a.kernel()
	b.kernel()
	into := map[Type][]Type{F16: {F32, F16}, BF16: {F32}, TF32: {F32}, E4M3: {F32, F16}, E5M2: {F32, F16}}[a.elem]
	errs := len(k.errs)
	rows, cols := a.Dims()
	br, bc := b.Dims()
	by, m, n, whose := min(16, d.m/8), d.m, d.n, "the accumulator"
	if d.part.t.pair {
		m, n, whose = m/2, n/2, "each CTA's half of it"
	}
	switch {
	case into == nil:
		hint := ""
		if a.elem == F32 {
			hint = "; F32 goes in as TF32, which reads its upper 19 bits"
		}
		k.fail("Mma: A has elements of %s; in tensor memory they are F16, BF16, TF32, E4M3 or E5M2%s", a.elem, hint)
	case a.elem != b.elem && !(a.elem.Size() == 1 && b.elem.Size() == 1 && b.elem.float()):
		k.fail("Mma: A has elements of %s and B of %s: both have one type, or are E4M3 and E5M2", a.elem, b.elem)
	case d.typ != into[0] && d.typ != into[len(into)-1]:
		k.fail("Mma: products of %s add up in %s, and the accumulator is of type %s", a.elem, either(into), d.typ)
	case rows != m:
		k.fail("Mma: A has %d rows, and %s %d", rows, whose, m)
	case bc != n:
		hint := ""
		if br == n {
			hint = ": give b.T() of a tile that is stored with a column of B a row"
		}
		k.fail("Mma: B has %d columns, and %s %d%s", bc, whose, n, hint)
	case cols != br:
		k.fail("Mma: A has %d columns and B %d rows: both are K", cols, br)
	case cols*a.elem.Size()%stepBytes != 0:
		k.fail("Mma: K is %d; an instruction has %d of %s, and Mma a multiple of that", cols, stepBytes/a.elem.Size(), a.elem)
	case d.n%by != 0:
		k.fail("Mma: %d columns; with %d rows they are a multiple of %d", d.n, d.m, by)
	case d.part.lanes >= 0:
		k.fail("Mma into lanes %d to %d: a product has all lanes", d.part.lanes, d.part.lanes+31)
	case a.elem == TF32 && (a.trans || !b.trans):
		k.fail("Mma: elements of tf32 need K along the rows of their tiles: give A without T, and b.T() of a tile with a column of B a row")
	case p.satfinite:
		k.fail("Mma: Satfinite is for integers, and the elements are %s", a.elem)
	}
	return len(k.errs) == errs
}

// Commit makes the barrier count one arrival when all products that this thread has issued
// are complete: then the tiles may be written again, and the accumulator be read, after
// TensorFenceAfter. One thread executes it, the one that issued the products; a plain
// Arrive does not wait for them. With Multicast the arrival is at this barrier of each CTA
// of the mask. It emits tcgen05.commit (ISA 9.7.18.12.1).
func (m Mbarrier) Commit(opts ...CopyOption) {
	k := m.one("Commit")
	if m.ptr.dims != nil || !k.oneThread("Commit", "each thread's is an arrival, and tells of its own products alone") {
		return
	}
	c, ok := k.copying("Commit", takesMulticast, opts)
	if !ok {
		return
	}
	op := "tcgen05.commit." + k.ctaGroup() + ".mbarrier::arrive::one.shared::cluster"
	if c.multicast == nil {
		k.Inst(op+".b64", m.ptr)
		return
	}
	m.set.far = true
	mask := c.multicast
	if _, ok := mask.(Reg); !ok {
		mask = k.Const(U16, mask) // ptxas takes no literal
	}
	k.Inst(op+".multicast::cluster.b64", m.ptr, mask)
}
