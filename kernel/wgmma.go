package kernel

import "fmt"

// Products of a warpgroup (ISA 9.7.15). The usual order is
//
//	k.WgmmaFence()
//	acc.Mma(a, b.T())
//	k.WgmmaCommit()
//	k.WgmmaWait(0)
//
// executed by all threads of one or more warpgroups. Between Mma and the wait, the
// accumulator's registers must not be accessed, and the tiles not written.

// WgmmaFence orders earlier register accesses before the following products: it is needed
// before the first Mma, and wherever the program itself has written an accumulator or a
// fragment (wgmma.fence, ISA 9.7.15.7.1). It does not order memory: tiles stored by
// threads need fence.proxy.async.
func (k *Kernel) WgmmaFence() {
	if k.warpgroup("WgmmaFence") {
		k.Inst("wgmma.fence.sync.aligned")
	}
}

// WgmmaCommit closes a group of the products since the last commit (wgmma.commit_group).
func (k *Kernel) WgmmaCommit() {
	if k.warpgroup("WgmmaCommit") {
		k.Inst("wgmma.commit_group.sync.aligned")
	}
}

// WgmmaWait waits until at most n of the latest groups are incomplete: then accumulators
// of the others may be read and their tiles written (wgmma.wait_group). n is 0 to 7.
func (k *Kernel) WgmmaWait(n int) {
	switch {
	case n < 0 || n > 7:
		k.fail("WgmmaWait(%d): it takes 0 to 7", n)
	case k.warpgroup("WgmmaWait"):
		k.Inst("wgmma.wait_group.sync.aligned", n)
	}
}

// warpgroup reports a group that does not consist of whole warpgroups.
func (k *Kernel) warpgroup(what string) bool {
	if g := k.Group(); g.AnyWarp || g.First%128 != 0 || g.Threads%128 != 0 {
		k.fail("%s is for all threads of a warpgroup together, and here are %s: use Warpgroup", what, g)
		return false
	}
	return true
}

// A MatrixA is the left factor of Mma: a Tile, or a Fragment in registers, or for products in
// tensor memory a TensorOperand.
type MatrixA interface{ matrixA() }

func (Tile) matrixA()     {}
func (Fragment) matrixA() {}

// A product holds the options of an Mma.
type product struct {
	scale     any // the predicate: 0, 1 or a Pred
	negA      int
	negB      int
	satfinite bool
}

// An MmaOption changes the computation of Mma: Overwrite, Accumulate(p), NegateA, NegateB
// or Satfinite. All but Accumulate are values: acc.Mma(a, b, Overwrite).
type MmaOption struct{ set func(*product) }

// Overwrite makes Mma compute D = A·B instead of D + A·B.
var Overwrite = MmaOption{func(p *product) { p.scale = 0 }}

// Accumulate makes Mma compute D + A·B if p is true, and A·B if it is false. p must be
// uniform over the warpgroup.
func Accumulate(p Pred) MmaOption { return MmaOption{func(m *product) { m.scale = p }} }

// NegateA makes Mma negate the elements of A, which must be floating point.
var NegateA = MmaOption{func(p *product) { p.negA = -1 }}

// NegateB makes Mma negate the elements of B.
var NegateB = MmaOption{func(p *product) { p.negB = -1 }}

// Satfinite makes Mma clamp integer sums instead of wrapping.
var Satfinite = MmaOption{func(p *product) { p.satfinite = true }}

// stepBytes is the K of one instruction in bytes: 16 elements of 16 bits, 8 of 32, 32 of
// 8 (ISA 9.7.15.2).
const stepBytes = 32

// Mma adds A·B to the accumulator: A has its rows, B its columns, and A as many columns
// as B has rows. If a tile stores the transposed matrix, pass T: B is most often stored
// with K along its rows, hence b.T().
//
// It emits a wgmma.mma_async for each 64 rows and each 32 bytes of K: 16 elements of F16
// and BF16, 8 of TF32, 32 of E4M3, E5M2, S8 and U8. The types must match: F16 or the two
// of fp8 with F32 or F16, BF16 and TF32 with F32, S8 and U8 with S32. The tensor cores
// transpose only tiles with elements of 16 bits. A may be in registers instead. It waits
// for nothing and commits nothing.
func (a Accumulator) Mma(left MatrixA, right Tile, opts ...MmaOption) {
	k := a.kernel()
	p := product{scale: 1, negA: 1, negB: 1}
	for _, o := range opts {
		if o.set != nil {
			o.set(&p)
		}
	}
	tile, isTile := left.(Tile)
	frag, isFragment := left.(Fragment)
	var elem Type
	var rows, cols int
	switch {
	case isTile && tile.k != nil:
		elem = tile.elem
		rows, cols = tile.Dims()
	case isFragment && frag.k != nil:
		elem, rows, cols = frag.elem, frag.rows, frag.cols
	default:
		k.fail("Mma: A is %s; it is a Tile or a Fragment", describeMatrix(left))
		return
	}
	if !k.warpgroup("Mma") || !a.suits(elem, rows, cols, right, p) {
		return
	}
	if isTile && !tile.operand("A", tile.trans) || !right.operand("B", !right.trans) {
		return
	}
	if !elem.float() && elem != right.elem && !k.since(8, 4, "Mma of U8 and S8") {
		return
	}
	if !eq(p.scale, 1) {
		k.assume([]any{a.regs}) // the product sets it
	}
	op := a.opcode(elem, right.elem, p)
	b := right.descriptor(!right.trans)
	var da descriptor
	if isTile {
		da = tile.descriptor(tile.trans)
	}
	steps := cols * elem.Size() / stepBytes
	block := len(a.regs) / (a.m / 64)
	for i := range a.m / 64 {
		q := p
		for s := range steps {
			args := []any{a.regs[i*block : (i+1)*block]}
			if isTile {
				args = append(args, da.at(i*64, s))
			} else {
				args = append(args, frag.regs[4*(i*steps+s):4*(i*steps+s)+4])
			}
			args = append(args, b.at(0, s), q.scale)
			if elem.float() {
				args = append(args, p.negA, p.negB)
			}
			if elem.Size() == 2 {
				if isTile {
					args = append(args, bit(tile.trans))
				}
				args = append(args, bit(!right.trans))
			}
			k.Inst(op, args...)
			q.scale = 1
		}
	}
}

func eq(x any, n int) bool { i, ok := x.(int); return ok && i == n }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func describeMatrix(m MatrixA) string {
	switch m := m.(type) {
	case Tile:
		return "the zero Tile"
	case Fragment:
		if m.k != nil {
			return "a Fragment in registers"
		}
		return "the zero Fragment"
	case TensorOperand:
		if m.part.t != nil {
			return "in tensor memory"
		}
		return "the zero TensorOperand"
	}
	return "nil"
}

func (a Accumulator) opcode(left, right Type, p product) string {
	k := 32 / left.Size()
	sat := ""
	if p.satfinite {
		sat = ".satfinite"
	}
	return fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d%s.%s.%s.%s", a.n, k, sat, a.typ, left, right)
}

// suits checks types and dimensions of a product, and reports the valid ones.
func (a Accumulator) suits(elem Type, rows, cols int, b Tile, p product) bool {
	k := a.k
	b.kernel()
	into := map[Type][]Type{F16: {F32, F16}, BF16: {F32}, TF32: {F32}, E4M3: {F32, F16}, E5M2: {F32, F16}, S8: {S32}, U8: {S32}}[elem]
	eight := elem.Size() == 1 && b.elem.Size() == 1 && elem.float() == b.elem.float()
	n := len(k.errs)
	br, bc := b.Dims()
	switch {
	case into == nil:
		hint := ""
		if elem == F32 {
			hint = "; F32 goes in as TF32, which reads its upper 19 bits"
		}
		k.fail("Mma: A has elements of %s; the tensor cores take F16, BF16, TF32, E4M3, E5M2, S8 and U8%s", elem, hint)
	case elem != b.elem && !eight:
		k.fail("Mma: A has elements of %s and B of %s: both have one type, or are E4M3 and E5M2, or S8 and U8", elem, b.elem)
	case a.typ != into[0] && a.typ != into[len(into)-1]:
		k.fail("Mma: products of %s add up in %s, and the accumulator is of type %s", elem, either(into), a.typ)
	case rows != a.m:
		k.fail("Mma: A has %d rows, and the accumulator %d", rows, a.m)
	case bc != a.n:
		hint := ""
		if br == a.n {
			hint = ": give b.T() of a tile that is stored with a column of B a row"
		}
		k.fail("Mma: B has %d columns, and the accumulator %d%s", bc, a.n, hint)
	case cols != br:
		k.fail("Mma: A has %d columns and B %d rows: both are K", cols, br)
	case cols*elem.Size()%stepBytes != 0:
		k.fail("Mma: K is %d; an instruction has %d of %s, and Mma a multiple of that", cols, stepBytes/elem.Size(), elem)
	case a.typ == S32 && a.n > 24 && a.n%16 != 0:
		k.fail("Mma: %d columns; products of integers have 8, 24, or a multiple of 16", a.n)
	case !elem.float() && (p.negA < 0 || p.negB < 0):
		k.fail("Mma: NegateA and NegateB are for floating-point elements, and these are %s", elem)
	case elem.float() && p.satfinite:
		k.fail("Mma: Satfinite is for integers, and the elements are %s", elem)
	}
	return len(k.errs) == n
}

func either(t []Type) string {
	if len(t) == 1 {
		return string(t[0])
	}
	return string(t[0]) + " or " + string(t[1])
}

// operand checks a tile as a factor: mn says that M or N, and not K, is along its rows.
func (t Tile) operand(which string, mn bool) bool {
	k := t.k
	if !mn || t.elem.Size() == 2 {
		return true
	}
	how := "give A without T"
	if which == "B" {
		how = "store a column of B a row, and give b.T()"
	}
	k.fail("Mma: %s of %s needs K along the rows of its tile, for only elements of 16 bits can be transposed: %s", which, t.elem, how)
	return false
}
