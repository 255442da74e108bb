package kernel

import "fmt"

// Trans is the modifier of LoadMatrix and StoreMatrix that transposes each 8×8
// matrix of 16-bit elements on its way.
const Trans Mod = "trans"

// LoadMatrix reads n matrices of 8 rows of 16 bytes from shared memory, 1, 2 or
// 4 of them, one register each (ldmatrix, ISA 9.7.14.5.15). The address is that
// of one row in each lane: lanes 0 to 7 have the rows of the first matrix,
// lanes 8 to 15 of the second, and so on. Lane t gets the 4 bytes from 4(t%4) on
// of row t/4; with Trans, of 16-bit elements, rows 2(t%4) and the next of column
// t/4. All lanes of the warp execute it.
func (p Ptr) LoadMatrix(n int, mods ...Mod) Vec {
	k := p.kernel()
	d := k.Vars(B32, max(1, n))
	if !k.matrices("LoadMatrix", p, n, mods) {
		k.assume([]any{d})
		return d
	}
	k.Inst(fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x%d%s%s.b16", n, join(mods), p.spaceMod()), d, p)
	return d
}

// StoreMatrix writes as many matrices as there are registers, 1, 2 or 4, to
// shared memory: the other way of LoadMatrix (stmatrix, ISA 9.7.14.5.16).
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

// wholeWarp reports a group that cuts a warp.
func (k *Kernel) wholeWarp(what string) bool {
	if g := k.Group(); g.First%32 != 0 || g.Threads%32 != 0 {
		k.fail("%s is for all lanes of a warp together, and here are %s", what, g)
		return false
	}
	return true
}

// TransposeMatrix transposes an 8×8 matrix of 16-bit elements that a warp holds
// in one register a lane, as LoadMatrix gives it (movmatrix, ISA 9.7.14.5.17).
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

// LoadA reads 16 rows of 32 bytes of a tile, from that row and column on, as
// MmaSync and a Fragment take A: one LoadMatrix of four. row and col are numbers
// or registers, and the same for all lanes of the warp.
func (t Tile) LoadA(row, col Num) Vec {
	return t.load(row, col, 4, func(lane Reg) (r, c Reg) { return lane.And(15), lane.Shr(4) })
}

// LoadB reads 8 rows of 32 bytes, as MmaSync takes B, of a tile that is stored
// with a column of B a row: one LoadMatrix of two.
func (t Tile) LoadB(row, col Num) Vec {
	return t.load(row, col, 2, func(lane Reg) (r, c Reg) { return lane.And(7), lane.Shr(3).And(1) })
}

// load reads n matrices. place gives row and 16-byte column of a lane's address.
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
// (mma.sync.aligned.row.col, ISA 9.7.14.5.14). The shape is m16n8 with the k
// that the types have: F16 and BF16 8 or 16, TF32 4 or 8, E4M3 and E5M2 16 or
// 32, S8 and U8 16 or 32; F64 has m8n8k4 and m16n8 of 4, 8 and 16. a and b are
// the types of the elements; C and D have type F32, F16, S32 or F64, in
// registers of F32, F16x2, S32 and F64.
func (k *Kernel) MmaSync(shape MmaShape, a, b Type, av, bv, cv Vec) Vec {
	if len(cv) == 0 || cv[0].k == nil {
		k.fail("MmaSync: C has no registers")
		return nil
	}
	t := cv[0].t
	d := k.Vars(t, len(cv))
	if !k.wholeWarp("MmaSync") {
		k.assume([]any{d})
		return d
	}
	name := t
	if t == F16x2 {
		name = F16
	}
	k.Inst(fmt.Sprintf("mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s", shape.M, shape.N, shape.K, name, a, b, name), d, av, bv, cv)
	return d
}
