package kernel_test

import (
	"strconv"
	"testing"

	"muster/kernel"
)

// TestMatrixMistakes checks the whole text of each mistake, and that it is
// reported once, at the line whose comment names it.
func TestMatrixMistakes(t *testing.T) {
	a := func(k *kernel.Kernel) kernel.Tile { return k.Tile("a", kernel.F16, 64, 64, 128) }
	b := func(k *kernel.Kernel) kernel.Tile { return k.Tile("b", kernel.F16, 32, 64, 128) }
	acc := func(k *kernel.Kernel) kernel.Accumulator { return k.Accumulator(kernel.F32, 64, 32) }
	zeroed := func(k *kernel.Kernel) kernel.Accumulator {
		acc := k.Accumulator(kernel.F32, 64, 32)
		acc.Zero()
		return acc
	}
	vec := func(k *kernel.Kernel, typ kernel.Type, n int) kernel.Vec {
		v := k.Vars(typ, n)
		for _, r := range v {
			r.Set(0)
		}
		return v
	}
	// args are the operands of a product of tiles with rows of 128 bytes.
	args := func(k *kernel.Kernel, left, right kernel.Type) (kernel.MatrixA, kernel.Tile, kernel.MmaOption) {
		return k.Tile("a", left, 64, 128/left.Size(), 128), k.Tile("b", right, 64, 128/right.Size(), 128).T(), kernel.Overwrite
	}
	tests := []struct {
		name, want string
		body       func(k *kernel.Kernel)
	}{
		{"accumulator columns", `Accumulator of 100 columns: an instruction has a multiple of 8, up to 256`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.F32, 64, 100) // here: accumulator columns
			}},
		{"accumulator too wide", `Accumulator of 264 columns: an instruction has a multiple of 8, up to 256`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.F32, 64, 264) // here: accumulator too wide
			}},
		{"accumulator rows", `Accumulator of 16 rows: a warpgroup has 64 an instruction, and an accumulator a multiple of that`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.F32, 16, 64) // here: accumulator rows
			}},
		{"accumulator type", `Accumulator of type bf16: the tensor cores add up in F32, F16 or S32`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.BF16, 64, 64) // here: accumulator type
			}},
		{"accumulator too large", `Accumulator of 128 × 256 f32 takes 256 registers; a thread has 255`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.F32, 128, 256) // here: accumulator too large
			}},
		{"accumulator register", `At(2) of an accumulator that has 2 registers`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.F16, 64, 8).At(2) // here: accumulator register
			}},
		{"rows of a tile", `Tile("t"): 12 rows; the pattern has 8, and a tile a multiple of that`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 12, 64, 128) // here: rows of a tile
			}},
		{"swizzle of 16", `Tile("t"): a swizzle of 16 bytes; there are 32, 64 and 128, and 0 for none`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 64, 16) // here: swizzle of 16
			}},
		{"swizzle wider than a row", `Tile("t"): rows of 32 elements of f16, 64 bytes, are no multiple of 128 bytes: take a narrower swizzle or wider rows`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 32, 128) // here: swizzle wider than a row
			}},
		{"row of no whole chunks", `Tile("t"): rows of 24 elements of u8, 24 bytes, are no multiple of 16 bytes: take wider rows`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.U8, 64, 24, 0) // here: row of no whole chunks
			}},
		{"type of a tile", `Tile("t"): "pred" is no type of a tile's elements`,
			func(k *kernel.Kernel) {
				k.Tile("t", "pred", 64, 64, 128) // here: type of a tile
			}},
		{"no stages", `Tiles("t"): 0 stages; there is at least one`,
			func(k *kernel.Kernel) {
				k.Tiles("t", 0, kernel.F16, 64, 64, 128) // here: no stages
			}},
		{"stage too many", `At: stage 4 of 4`,
			func(k *kernel.Kernel) {
				k.Tiles("t", 4, kernel.F16, 64, 64, 128).At(4) // here: stage too many
			}},
		{"stage of one tile", `At of a tile that has no stages: Tiles makes several`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 64, 128).At(0) // here: stage of one tile
			}},
		{"stage of 64 bits", `At: the stage is a register of type u64; it is a number or an integer register of 32 bits`,
			func(k *kernel.Kernel) {
				k.Tiles("t", 4, kernel.F16, 64, 64, 128).At(k.Const(kernel.U64, 1)) // here: stage of 64 bits
			}},
		{"tile in global memory", `Tile: the address is in global; a tile is in the CTA's own shared memory`,
			func(k *kernel.Kernel) {
				k.GlobalPtr("p", kernel.F16).Tile(64, 64, 128) // here: tile in global memory
			}},
		{"tile not aligned", `Tile: it begins 0 bytes after s, which is aligned to 128; a tile with a swizzle of 128 bytes is aligned to 1024: allocate it so with SharedAlign`,
			func(k *kernel.Kernel) {
				k.SharedAlign("s", 128, kernel.F16, 64, 64).Tile(64, 64, 128) // here: tile not aligned
			}},
		{"tile inside of an array", `Tile: it begins 512 bytes after s, which is aligned to 1024; a tile with a swizzle of 128 bytes is aligned to 1024: allocate it so with SharedAlign`,
			func(k *kernel.Kernel) {
				k.SharedAlign("s", 1024, kernel.F16, 128, 64).At(4).Tile(64, 64, 128) // here: tile inside of an array
			}},
		{"rows of a part", `Rows(4, 8) of a tile of 64 rows: they are multiples of 8 within it`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 64, 128).Rows(4, 8) // here: rows of a part
			}},
		{"rows beyond", `Rows(32, 40) of a tile of 64 rows: they are multiples of 8 within it`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 64, 128).Rows(32, 40) // here: rows beyond
			}},
		{"columns across panels", `Cols(48, 32) of a tile of 128 columns of f16: they are whole panels of 64 columns, or multiples of 16 within one`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 128, 128).Cols(48, 32) // here: columns across panels
			}},
		{"columns of a transposed tile", `Cols of a transposed tile: take the part before T`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 64, 128).T().Cols(0, 16) // here: columns of a transposed tile
			}},
		{"panel too many", `Panel(2) of a tile of 2`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 128, 128).Panel(2) // here: panel too many
			}},
		{"element beyond", `Addr(64, 0) of a tile of 64 rows and 64 columns`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 64, 128).Addr(64, 0) // here: element beyond
			}},
		{"index of floats", `an index is a register of type f32; it is a number or an integer register of 32 bits`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 64, 64, 128).Addr(0, k.Const(kernel.F32, 1)) // here: index of floats
			}},
		{"product of f32", `Mma: A has elements of f32; the tensor cores take F16, BF16, TF32, E4M3, E5M2, S8 and U8; F32 goes in as TF32, which reads its upper 19 bits`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.F32, 64, 64).Mma(args(k, kernel.F32, kernel.F32)) // here: product of f32
			}},
		{"product of two types", `Mma: A has elements of f16 and B of bf16: both have one type, or are E4M3 and E5M2, or S8 and U8`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.F32, 64, 64).Mma(args(k, kernel.F16, kernel.BF16)) // here: product of two types
			}},
		{"bf16 into f16", `Mma: products of bf16 add up in f32, and the accumulator is of type f16`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.F16, 64, 64).Mma(args(k, kernel.BF16, kernel.BF16)) // here: bf16 into f16
			}},
		{"integers into f32", `Mma: products of s8 add up in s32, and the accumulator is of type f32`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.F32, 64, 64).Mma(args(k, kernel.S8, kernel.U8)) // here: integers into f32
			}},
		{"columns of integers", `Mma: 40 columns; products of integers have 8, 24, or a multiple of 16`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.S32, 64, 40).Mma(k.Tile("a", kernel.S8, 64, 128, 128), k.Tile("b", kernel.S8, 40, 128, 128).T()) // here: columns of integers
			}},
		{"rows of A", `Mma: A has 128 rows, and the accumulator 64`,
			func(k *kernel.Kernel) {
				acc(k).Mma(k.Tile("a", kernel.F16, 128, 64, 128), b(k).T()) // here: rows of A
			}},
		{"B without T", `Mma: B has 64 columns, and the accumulator 32: give b.T() of a tile that is stored with a column of B a row`,
			func(k *kernel.Kernel) {
				acc(k).Mma(a(k), k.Tile("b", kernel.F16, 32, 64, 128)) // here: B without T
			}},
		{"B too wide", `Mma: B has 64 columns, and the accumulator 32`,
			func(k *kernel.Kernel) {
				acc(k).Mma(a(k), k.Tile("b", kernel.F16, 64, 64, 128).T()) // here: B too wide
			}},
		{"K differs", `Mma: A has 32 columns and B 64 rows: both are K`,
			func(k *kernel.Kernel) {
				acc(k).Mma(a(k).Cols(0, 32), b(k).T()) // here: K differs
			}},
		{"tf32 transposed", `Mma: B of tf32 needs K along the rows of its tile, for only elements of 16 bits can be transposed: store a column of B a row, and give b.T()`,
			func(k *kernel.Kernel) {
				acc(k).Mma(k.Tile("a", kernel.TF32, 64, 32, 128), k.Tile("b", kernel.TF32, 32, 32, 128)) // here: tf32 transposed
			}},
		{"fp8 transposed", `Mma: A of e4m3 needs K along the rows of its tile, for only elements of 16 bits can be transposed: give A without T`,
			func(k *kernel.Kernel) {
				acc(k).Mma(k.Tile("a", kernel.E4M3, 128, 64, 64).T(), k.Tile("b", kernel.E5M2, 32, 128, 128).T()) // here: fp8 transposed
			}},
		{"negated integers", `Mma: NegateA and NegateB are for floating-point elements, and these are s8`,
			func(k *kernel.Kernel) {
				k.Accumulator(kernel.S32, 64, 32).Mma(k.Tile("a", kernel.S8, 64, 32, 32), k.Tile("b", kernel.S8, 32, 32, 32).T(), kernel.NegateB) // here: negated integers
			}},
		{"saturated floats", `Mma: Satfinite is for integers, and the elements are f16`,
			func(k *kernel.Kernel) {
				acc(k).Mma(a(k), b(k).T(), kernel.Satfinite) // here: saturated floats
			}},
		{"A is missing", `Mma: A is the zero Fragment; it is a Tile or a Fragment`,
			func(k *kernel.Kernel) {
				acc(k).Mma(kernel.Fragment{}, b(k).T()) // here: A is missing
			}},
		{"accumulator not set", `a register of type f32 made at mistakes_matrix_test.go:15 is read here, and on some way here nothing has set it: the first Mma of an accumulator takes Overwrite, or Zero sets it`,
			func(k *kernel.Kernel) {
				acc(k).Mma(a(k), b(k).T()) // here: accumulator not set
			}},
		{"product of one thread", `Mma is for all threads of a warpgroup together, and here are thread 0: use Warpgroup`,
			func(k *kernel.Kernel) {
				k.SingleThread(func() { acc(k).Mma(a(k), b(k).T()) }) // here: product of one thread
			}},
		{"product of each warp", `WgmmaFence is for all threads of a warpgroup together, and here are threads 0 to 31 of each warp: use Warpgroup`,
			func(k *kernel.Kernel) {
				k.EachWarp(k.WgmmaFence) // here: product of each warp
			}},
		{"product of half a warpgroup", `WgmmaCommit is for all threads of a warpgroup together, and here are threads 0 to 63: use Warpgroup`,
			func(k *kernel.Kernel) {
				k.Warps(0, 2, k.WgmmaCommit) // here: product of half a warpgroup
			}},
		{"wait for eight", `WgmmaWait(8): it takes 0 to 7`,
			func(k *kernel.Kernel) {
				k.WgmmaWait(8) // here: wait for eight
			}},
		{"wait of a warp", `WgmmaWait is for all threads of a warpgroup together, and here are threads 96 to 127: use Warpgroup`,
			func(k *kernel.Kernel) {
				k.SingleWarp(3, func() { k.WgmmaWait(0) }) // here: wait of a warp
			}},
		{"fragment of few registers", `Fragment of 64 × 32 f16 has 8 registers, and 4 are given`,
			func(k *kernel.Kernel) {
				k.Fragment(kernel.F16, 64, 32, k.Vars(kernel.B32, 4)) // here: fragment of few registers
			}},
		{"fragment of f32", `Fragment(f32) of an accumulator of type f32 with 32 columns: one of F32 converts to F16 and BF16, and its columns are a multiple of 16`,
			func(k *kernel.Kernel) {
				zeroed(k).Fragment(kernel.F32) // here: fragment of f32
			}},
		{"load of 16 rows", `Load of a tile of 16 rows: they are a multiple of 64, with K along the rows`,
			func(k *kernel.Kernel) {
				k.Tile("t", kernel.F16, 16, 64, 128).Load() // here: load of 16 rows
			}},
		{"store into f32", `Store of 32 columns of an accumulator of type f32 into a tile of f32: F32 goes into F16 and BF16, F16 into F16, and columns come by 16`,
			func(k *kernel.Kernel) {
				zeroed(k).Store(k.Tile("t", kernel.F32, 64, 32, 128)) // here: store into f32
			}},
		{"store into another size", `Store of 64 × 32 elements into a tile of 64 × 64`,
			func(k *kernel.Kernel) {
				zeroed(k).Store(k.Tile("t", kernel.F16, 64, 64, 128)) // here: store into another size
			}},
		{"strip of 64 rows", `StoreWarp of block 0 from column 0 on, 64 × 32: a warp has 16 rows of each 64 of the accumulator, which is 64 × 32, and columns come by 16`,
			func(k *kernel.Kernel) {
				zeroed(k).StoreWarp(k.Tile("t", kernel.F16, 64, 32, 64), 0, 0) // here: strip of 64 rows
			}},
		{"three matrices", `LoadMatrix of 3 matrices; there are 1, 2 and 4`,
			func(k *kernel.Kernel) {
				k.Shared("s", kernel.F16, 512).LoadMatrix(3) // here: three matrices
			}},
		{"matrices in global memory", `LoadMatrix: an address in global; matrices are in the CTA's own shared memory`,
			func(k *kernel.Kernel) {
				k.GlobalPtr("p", kernel.F16).LoadMatrix(4) // here: matrices in global memory
			}},
		{"matrices by one thread", `LoadMatrix is for all lanes of a warp together, and here are thread 0`,
			func(k *kernel.Kernel) {
				k.SingleThread(func() { k.Shared("s", kernel.F16, 512).LoadMatrix(1) }) // here: matrices by one thread
			}},
		{"matrices acquired", `LoadMatrix with [acquire]: it takes Trans`,
			func(k *kernel.Kernel) {
				k.Shared("s", kernel.F16, 512).LoadMatrix(1, kernel.Acquire) // here: matrices acquired
			}},
		{"transpose of half", `TransposeMatrix of a register of type f16: a matrix has 32 bits a lane`,
			func(k *kernel.Kernel) {
				k.Const(kernel.F16, 0).TransposeMatrix() // here: transpose of half
			}},
		{"shape of mma.sync", `MmaSync: there is no m16n16k16 of f16; there are shapes of m16n8 with k [8 16]`,
			func(k *kernel.Kernel) {
				k.MmaSync(kernel.MmaShape{M: 16, N: 16, K: 16}, kernel.F16, kernel.F16, vec(k, kernel.B32, 4), vec(k, kernel.B32, 2), vec(k, kernel.F32, 4)) // here: shape of mma.sync
			}},
		{"mma.sync into bf16", `MmaSync: products of bf16 add up in f32, and C has registers of f16x2`,
			func(k *kernel.Kernel) {
				k.MmaSync(kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.BF16, kernel.BF16, vec(k, kernel.B32, 4), vec(k, kernel.B32, 2), vec(k, kernel.F16x2, 2)) // here: mma.sync into bf16
			}},
		{"mma.sync of few registers", `MmaSync: A of m16n8k16 and f16 has 4 registers, and 2 are given`,
			func(k *kernel.Kernel) {
				k.MmaSync(kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.F16, kernel.F16, vec(k, kernel.B32, 2), vec(k, kernel.B32, 2), vec(k, kernel.F32, 4)) // here: mma.sync of few registers
			}},
		{"mma.sync of two types", `MmaSync: A has elements of f16 and B of bf16: both have one type, or are E4M3 and E5M2, or S8 and U8`,
			func(k *kernel.Kernel) {
				k.MmaSync(kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.F16, kernel.BF16, vec(k, kernel.B32, 4), vec(k, kernel.B32, 2), vec(k, kernel.F32, 4)) // here: mma.sync of two types
			}},
		{"mma.sync without C", `MmaSync: C has no registers`,
			func(k *kernel.Kernel) {
				k.MmaSync(kernel.MmaShape{M: 16, N: 8, K: 16}, kernel.F16, kernel.F16, vec(k, kernel.B32, 4), vec(k, kernel.B32, 2), nil) // here: mma.sync without C
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := mistakesOf(t, []kernel.Option{kernel.Block(128)}, test.body)
			line := strconv.Itoa(lineOf(t, "mistakes_matrix_test.go", "// here: "+test.name))
			if want := "mistakes_matrix_test.go:" + line + ": " + test.want; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
