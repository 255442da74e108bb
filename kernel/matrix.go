package kernel

import (
	"fmt"
	"slices"
)

// Trans is the modifier of LoadMatrix and StoreMatrix that transposes each 8×8 matrix of
// 16-bit elements.
const Trans Mod = "trans"

// LoadMatrix reads n matrices of 8 rows of 16 bytes from shared memory, n = 1, 2 or 4,
// into one register each (ldmatrix, ISA 9.7.14.5.15). Each lane's address is that of one
// row: lanes 0 to 7 give the rows of the first matrix, lanes 8 to 15 of the second, and
// so on. Lane t gets the 4 bytes from 4(t%4) on of row t/4; with Trans, the 16-bit
// elements of rows 2(t%4) and 2(t%4)+1 in column t/4. All lanes of the warp execute it.
func (p Ptr) LoadMatrix(n int, mods ...Mod) Vec {
	k := p.kernel()
	if !k.matrices("LoadMatrix", p, n, mods) {
		return k.lostVec(B32, n)
	}
	d := k.Vars(B32, n)
	k.Inst(fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x%d%s%s.b16", n, join(mods), p.spaceMod()), d, p)
	return d
}

// StoreMatrix writes 1, 2 or 4 matrices, one per register, to shared memory: the inverse
// of LoadMatrix (stmatrix, ISA 9.7.14.5.16).
func (p Ptr) StoreMatrix(v Vec, mods ...Mod) {
	k := p.kernel()
	if k.matrices("StoreMatrix", p, len(v), mods) {
		k.Inst(fmt.Sprintf("stmatrix.sync.aligned.m8n8.x%d%s%s.b16", len(v), join(mods), p.spaceMod()), p, v)
	}
}

func (k *Kernel) matrices(what string, p Ptr, n int, mods []Mod) bool {
	ok := k.wholeWarp(what)
	switch {
	case n != 1 && n != 2 && n != 4:
		k.fail("%s of %d matrices; there are 1, 2 and 4", what, n)
	case p.space != SharedCTA:
		k.fail("%s: an address in %s; matrices are in the CTA's own shared memory", what, p.space)
	case len(mods) > 1 || len(mods) == 1 && mods[0] != Trans:
		k.fail("%s with %v: it takes Trans", what, mods)
	default:
		return ok
	}
	return false
}

// wholeWarp reports a group that does not consist of whole warps.
func (k *Kernel) wholeWarp(what string) bool {
	if g := k.Group(); g.First%32 != 0 || g.Threads%32 != 0 {
		k.fail("%s is for all lanes of a warp together, and here are %s", what, g)
		return false
	}
	return true
}

// TransposeMatrix transposes an 8×8 matrix of 16-bit elements in one register per lane,
// in the layout of LoadMatrix (movmatrix, ISA 9.7.14.5.17).
func (r Reg) TransposeMatrix() Reg {
	k := r.kernel()
	d := k.reg(r.t)
	if !k.wholeWarp("TransposeMatrix") || r.t.Size() != 4 {
		k.fail("TransposeMatrix of a register of type %s: a matrix has 32 bits a lane", r.t)
		return k.lost(r.t)
	}
	k.Inst("movmatrix.sync.aligned.m8n8.trans.b16", d, r)
	return d
}

// LoadA reads 16 rows of 32 bytes of a tile, from that row and column on, in the layout
// of A for MmaSync and Fragment: one LoadMatrix of four. row and col are numbers or
// registers, uniform over the warp.
func (t Tile) LoadA(row, col Num) Vec {
	return t.load(row, col, 4, func(lane Reg) (r, c Reg) { return lane.And(15), lane.Shr(4) })
}

// LoadB reads 8 rows of 32 bytes, in the layout of B for MmaSync, from a tile that stores
// each column of B as a row: one LoadMatrix of two.
func (t Tile) LoadB(row, col Num) Vec {
	return t.load(row, col, 2, func(lane Reg) (r, c Reg) { return lane.And(7), lane.Shr(3).And(1) })
}

// load reads n matrices. place returns row and 16-byte column of a lane's address.
func (t Tile) load(row, col Num, n int, place func(lane Reg) (r, c Reg)) Vec {
	k := t.kernel()
	r, c := place(k.index(true))
	r = r.Add(row)
	c = c.Mul(16 / t.elem.Size()).Add(col)
	return t.Addr(r, c).LoadMatrix(n)
}

// An MmaShape is the m, n and k of mma.sync.
type MmaShape struct{ M, N, K int }

// MmaSync multiplies matrices in the registers of a warp: D = A·B + C
// (mma.sync.aligned.row.col, ISA 9.7.14.5.14). The shape is m16n8 with a k that depends
// on the type: F16 and BF16 8 or 16, TF32 4 or 8, E4M3 and E5M2 16 or 32, S8 and U8 16 or
// 32; F64 has m8n8k4 and m16n8 of 4, 8 and 16. a and b are the types of the elements; C
// and D have type F32, F16, S32 or F64, in registers of F32, F16x2, S32 and F64.
func (k *Kernel) MmaSync(shape MmaShape, a, b Type, av, bv, cv Vec) Vec {
	if len(cv) == 0 || cv[0].k == nil {
		k.fail("MmaSync: C has no registers")
		return nil
	}
	t := cv[0].t
	d := k.Vars(t, len(cv))
	if !k.wholeWarp("MmaSync") || !k.fits(shape, a, b, t, [3]Vec{av, bv, cv}) {
		k.assume([]any{d})
		return d
	}
	k.Inst(fmt.Sprintf("mma.sync.aligned.%s.row.col.%[2]s.%[3]s.%[4]s.%[2]s", shape, sumType(t), a, b), d, av, bv, cv)
	return d
}

// sumType returns the element type of C from its register type.
func sumType(t Type) Type {
	if t == F16x2 {
		return F16
	}
	return t
}

// String gives the shape as PTX writes it: m16n8k16.
func (s MmaShape) String() string { return fmt.Sprintf("m%dn%dk%d", s.M, s.N, s.K) }

// An mmaForm lists, for an element type, the k of shapes m16n8 and the accumulator types.
var mmaForms = map[Type]struct {
	k    []int
	into []Type
}{
	F16: {[]int{8, 16}, []Type{F32, F16}}, BF16: {[]int{8, 16}, []Type{F32}}, TF32: {[]int{4, 8}, []Type{F32}},
	E4M3: {[]int{16, 32}, []Type{F32, F16}}, E5M2: {[]int{16, 32}, []Type{F32, F16}},
	S8: {[]int{16, 32}, []Type{S32}}, U8: {[]int{16, 32}, []Type{S32}}, F64: {[]int{4, 8, 16}, []Type{F64}},
}

// fits checks a product against its form: types, shape, and the number of registers of
// each matrix.
func (k *Kernel) fits(s MmaShape, a, b, c Type, v [3]Vec) bool {
	f, ok := mmaForms[a]
	shaped := s.M == 16 && s.N == 8 && slices.Contains(f.k, s.K) || a == F64 && s == MmaShape{8, 8, 4}
	switch {
	case !ok:
		k.fail("MmaSync: A has elements of %s; it takes F16, BF16, TF32, E4M3, E5M2, S8, U8 and F64", a)
	case a != b && !(a.Size() == 1 && b.Size() == 1 && a.float() == b.float()):
		k.fail("MmaSync: A has elements of %s and B of %s: both have one type, or are E4M3 and E5M2, or S8 and U8", a, b)
	case !slices.Contains(f.into, sumType(c)):
		k.fail("MmaSync: products of %s add up in %s, and C has registers of %s", a, either(f.into), c)
	case !shaped:
		k.fail("MmaSync: there is no %s of %s; there are shapes of m16n8 with k %v", s, a, f.k)
	default:
		for i, m := range []struct {
			name string
			t    Type
			n    int
		}{{"A", a, s.M * s.K}, {"B", b, s.K * s.N}, {"C", sumType(c), s.M * s.N}} {
			if n := m.n * m.t.Size() / 32 / max(4, m.t.Size()); n != len(v[i]) {
				k.fail("MmaSync: %s of %s and %s has %d registers, and %d are given", m.name, s, m.t, n, len(v[i]))
				return false
			}
		}
		if fp8 := a.Size() == 1 && a.float(); fp8 && (s.K == 16 || sumType(c) == F16) {
			return k.since(8, 7, "MmaSync of fp8 with a k of 16, or sums in F16,")
		}
		return true
	}
	return false
}
