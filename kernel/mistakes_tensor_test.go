package kernel_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"muster/kernel"
)

// TestTensorMistakes checks the whole text of each mistake with tensor memory, and that it
// is reported once, at the line whose comment names it.
func TestTensorMistakes(t *testing.T) {
	type memory = *kernel.TensorMemory
	f16, f32 := kernel.F16, kernel.F32
	// whole gives memory with all but what body does: allocated before, freed after.
	whole := func(columns int, body func(k *kernel.Kernel, t memory)) func(k *kernel.Kernel) {
		return func(k *kernel.Kernel) {
			t := k.TensorMemory("tmem", columns)
			k.SingleWarp(0, t.Alloc)
			k.Sync()
			body(k, t)
			k.Sync()
			k.SingleWarp(0, t.Free)
		}
	}
	// product makes one thread multiply a tile of A, 128 × 64, by one of B.
	product := func(d func(t memory) kernel.TensorAccumulator, a, b func(k *kernel.Kernel) kernel.Tile, opts ...kernel.MmaOption) func(k *kernel.Kernel) {
		return whole(512, func(k *kernel.Kernel, t memory) {
			k.SingleThread(func() {
				d(t).Mma(a(k), b(k), opts...) // here: the product itself
			})
		})
	}
	sum := func(typ kernel.Type, m, n int) func(t memory) kernel.TensorAccumulator {
		return func(t memory) kernel.TensorAccumulator { return t.Accumulator(typ, m, n) }
	}
	tile := func(name string, elem kernel.Type, rows, cols, swizzle int, trans bool) func(k *kernel.Kernel) kernel.Tile {
		return func(k *kernel.Kernel) kernel.Tile {
			t := k.Tile(name, elem, rows, cols, swizzle)
			if trans {
				return t.T()
			}
			return t
		}
	}
	a, b := tile("a", f16, 128, 64, 128, false), tile("b", f16, 32, 64, 128, true)
	tests := []struct {
		name, want string
		body       func(k *kernel.Kernel)
	}{
		{"columns not a power of two", `TensorMemory("t"): 96 columns; they are allocated by powers of two from 32 on: the next is 128`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 96) // here: columns not a power of two
				k.SingleWarp(0, t.Alloc)
				k.SingleWarp(0, t.Free)
			}},
		{"few columns", `TensorMemory("t"): 8 columns; they are allocated by powers of two from 32 on: the next is 32`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 8) // here: few columns
				k.SingleWarp(0, t.Alloc)
				k.SingleWarp(0, t.Free)
			}},
		{"too many columns", `TensorMemory("t"): 1024 columns; a CTA has 512`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 1024) // here: too many columns
				k.SingleWarp(0, t.Alloc)
				k.SingleWarp(0, t.Free)
			}},
		{"more than there are", `TensorMemory("t"): 256 columns, and tmem has 512; a CTA has 512, and Alloc would wait for ever`,
			whole(512, func(k *kernel.Kernel, _ memory) {
				t := k.TensorMemory("t", 256) // here: more than there are
				k.SingleWarp(0, t.Alloc)
				k.SingleWarp(0, t.Free)
			})},
		{"never allocated", `tensor memory t is never allocated: one warp calls Alloc`,
			func(k *kernel.Kernel) {
				k.TensorMemory("t", 32) // here: never allocated
			}},
		{"never freed", `tensor memory t is allocated and never freed: one warp calls Free when everything in it is complete, for a kernel must not end with it`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 32)
				k.SingleWarp(0, t.Alloc) // here: never freed
			}},
		{"allocated by all", `Alloc of tensor memory t is for one warp, all its threads together, and here are threads 0 to 127: use SingleWarp`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 32)
				t.Alloc() // here: allocated by all
				k.SingleWarp(0, t.Free)
			}},
		{"allocated by each warp", `Alloc of tensor memory t is for one warp, all its threads together, and here are threads 0 to 31 of each warp: use SingleWarp`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 32)
				k.EachWarp(t.Alloc) // here: allocated by each warp
				k.SingleWarp(0, t.Free)
			}},
		{"freed by one thread", `Free of tensor memory t is for one warp, all its threads together, and here are thread 0: use SingleWarp`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 32)
				k.SingleWarp(0, t.Alloc)
				k.SingleThread(t.Free) // here: freed by one thread
			}},
		{"allocated twice", `Alloc of tensor memory tmem, which is allocated already, at PLACE`,
			whole(32, func(k *kernel.Kernel, t memory) {
				k.SingleWarp(1, t.Alloc) // here: allocated twice
			})},
		{"freed twice", `Free of tensor memory t, which is freed already, at PLACE`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 32)
				k.SingleWarp(0, t.Alloc)
				k.SingleWarp(0, t.Free)
				k.SingleWarp(0, t.Free) // here: freed twice
			}},
		{"freed before it is allocated", `Free of tensor memory t before its Alloc`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 32)
				k.SingleWarp(0, t.Free) // here: freed before it is allocated
				k.SingleWarp(0, t.Alloc)
			}},
		{"permit given up too early", `Alloc of tensor memory t: the CTA has given its permit up, at PLACE; Relinquish comes after the last Alloc`,
			whole(32, func(k *kernel.Kernel, tmem memory) {
				t := k.TensorMemory("t", 64)
				k.SingleWarp(0, tmem.Relinquish)
				k.SingleWarp(0, t.Alloc) // here: permit given up too early
				k.SingleWarp(0, t.Free)
			})},
		{"permit given up before alloc", `Relinquish before Alloc of tensor memory t: without the permit nothing can be allocated`,
			func(k *kernel.Kernel) {
				t := k.TensorMemory("t", 64)
				k.SingleWarp(0, t.Relinquish) // here: permit given up before alloc
				k.SingleWarp(0, t.Alloc)
				k.SingleWarp(0, t.Free)
			}},
		{"permit given up twice", `Relinquish: the CTA has given its permit up already, at PLACE`,
			whole(32, func(k *kernel.Kernel, t memory) {
				k.SingleWarp(0, t.Relinquish)
				k.SingleWarp(0, t.Relinquish) // here: permit given up twice
			})},
		{"permit given up by one thread", `Relinquish of tensor memory tmem is for one warp, all its threads together, and here are thread 0: use SingleWarp`,
			whole(32, func(k *kernel.Kernel, t memory) {
				k.SingleThread(t.Relinquish) // here: permit given up by one thread
			})},
		{"no columns left", `Accumulator of 128 × 32 takes 32 columns of tensor memory tmem, which has 64, of which are taken: 48 by Accumulator of 128 × 48 at PLACE`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 48)
				t.Accumulator(f32, 128, 32) // here: no columns left
			})},
		{"no columns for a ring", `Accumulators of 3 times 128 × 256 takes 768 columns of tensor memory tmem, which has 512`,
			whole(512, func(k *kernel.Kernel, t memory) {
				t.Accumulators(f32, 128, 256, 3) // here: no columns for a ring
			})},
		{"no stages in tensor memory", `Accumulators: 0 stages; there is at least one`,
			whole(512, func(k *kernel.Kernel, t memory) {
				t.Accumulators(f32, 128, 256, 0) // here: no stages in tensor memory
			})},
		{"sums of bf16", `Accumulator of type bf16: these products add up in F32 or F16`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Accumulator(kernel.BF16, 128, 32) // here: sums of bf16
			})},
		{"256 rows", `Accumulator of 256 rows: a CTA's product has 64 or 128`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 256, 32) // here: 256 rows
			})},
		{"24 columns of 128 rows", `Accumulator of 24 columns: with 128 rows they are a multiple of 16, up to 256`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 24) // here: 24 columns of 128 rows
			})},
		{"stage too many in tensor memory", `At: stage 2 of 2`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Accumulators(f32, 128, 32, 2).At(2) // here: stage too many in tensor memory
			})},
		{"stage of one accumulator", `At of an accumulator that has no stages: Accumulators makes several`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 32).At(0) // here: stage of one accumulator
			})},
		{"stage by 64 bits", `At: the stage is a register of type u64; it is a number or an integer register of 32 bits`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Accumulators(f32, 128, 32, 2).At(k.Const(kernel.U64, 0)) // here: stage by 64 bits
			})},
		{"columns beyond", `Cols(24, 16) of an accumulator of 32 columns`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 32).Cols(24, 16) // here: columns beyond
			})},
		{"lanes at 16", `Lanes(16): the 32 lanes of a warp begin at 0, 32, 64 or 96`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 32).Lanes(16) // here: lanes at 16
			})},
		{"wrong warp for a lane", `Load of lanes 32 to 63 by threads 64 to 95: a warp reaches the 32 lanes of its number modulo 4, and these are those of warp 1`,
			whole(32, func(k *kernel.Kernel, t memory) {
				d := t.Accumulator(f32, 128, 32)
				k.SingleWarp(2, func() { d.Lanes(32).Load(0, 1) }) // here: wrong warp for a lane
			})},
		{"one warp's lanes by all", `Store of lanes 0 to 31 by threads 0 to 127: a warp reaches the 32 lanes of its number modulo 4, and these are those of warp 0`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 32).Lanes(0).Store(0, kernel.Vec{k.Const(f32, 0)}) // here: one warp's lanes by all
			})},
		{"loaded by one thread", `Load is for all threads of a warp together, and here are thread 0`,
			whole(32, func(k *kernel.Kernel, t memory) {
				d := t.Accumulator(f32, 128, 32)
				k.SingleThread(func() { d.Load(0, 1) }) // here: loaded by one thread
			})},
		{"waits by one thread", `TensorWaitLoad is for all threads of a warp together, and here are thread 0`,
			whole(32, func(k *kernel.Kernel, t memory) {
				k.SingleThread(k.TensorWaitLoad) // here: waits by one thread
			})},
		{"stores awaited by one thread", `TensorWaitStore is for all threads of a warp together, and here are thread 0`,
			whole(32, func(k *kernel.Kernel, t memory) {
				k.SingleThread(k.TensorWaitStore) // here: stores awaited by one thread
			})},
		{"24 columns loaded", `Load of 24 columns: an instruction moves a power of two of them, up to 128`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 32).Load(0, 24) // here: 24 columns loaded
			})},
		{"columns loaded beyond", `Load of columns 16 to 47 of an accumulator of 32`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 32).Load(16, 32) // here: columns loaded beyond
			})},
		{"columns loaded far beyond", `Load of columns 9223372036854775807 to 9223372036854775807 of an accumulator of 32`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 32).Load(math.MaxInt, 1) // here: columns loaded far beyond
			})},
		{"operand without end", `Operand of 128 × 4611686018427387904 f16 takes 524288 columns of tensor memory tmem, which has 32`,
			whole(32, func(k *kernel.Kernel, t memory) {
				t.Operand(f16, 128, 1<<62) // here: operand without end
			})},
		{"commit by a warp", `Commit is for one thread, and here are threads 0 to 31: each thread's is an arrival, and tells of its own products alone; use Elect or SingleThread`,
			whole(32, func(k *kernel.Kernel, t memory) {
				bar := k.Mbarrier("bar", 1)
				k.InitMbarriers()
				k.SingleWarp(0, func() { bar.Commit() }) // here: commit by a warp
			})},
		{"commit at an array", `Commit of bars, which is an array of 2 barriers: say which with At`,
			whole(32, func(k *kernel.Kernel, t memory) {
				bars := k.Mbarriers("bars", 2, 1)
				k.InitMbarriers()
				k.SingleThread(func() { bars.Commit() }) // here: commit at an array
			})},
		{"commit to no cluster", `Commit: Multicast: the kernel has no clusters; give New the option Clusters`,
			whole(32, func(k *kernel.Kernel, t memory) {
				bar := k.Mbarrier("bar", 1)
				k.InitMbarriers()
				k.SingleThread(func() { bar.Commit(kernel.Multicast(1)) }) // here: commit to no cluster
			})},
		{"product by a warp", `Mma is for one thread, and here are threads 0 to 31: each would add the product; use Elect or SingleThread`,
			whole(32, func(k *kernel.Kernel, t memory) {
				d := t.Accumulator(f32, 128, 32)
				k.SingleWarp(0, func() { d.Mma(a(k), b(k)) }) // here: product by a warp
			})},
		{"product by a thread of each warp", `Mma is for one thread, and here are thread 0 of each warp: each would add the product; use Elect or SingleThread`,
			whole(32, func(k *kernel.Kernel, t memory) {
				d := t.Accumulator(f32, 128, 32)
				k.EachWarp(func() { k.Elect(func() { d.Mma(a(k), b(k)) }) }) // here: product by a thread of each warp
			})},
		{"the product itself", `Mma: A has elements of f32; in tensor memory they are F16, BF16, TF32, E4M3 or E5M2; F32 goes in as TF32, which reads its upper 19 bits`,
			product(sum(f32, 128, 32), tile("a", f32, 128, 32, 128, false), tile("b", f32, 32, 32, 128, true))},
		{"the product itself", `Mma: A has elements of f16 and B of bf16: both have one type, or are E4M3 and E5M2`,
			product(sum(f32, 128, 32), a, tile("b", kernel.BF16, 32, 64, 128, true))},
		{"the product itself", `Mma: products of bf16 add up in f32, and the accumulator is of type f16`,
			product(sum(f16, 128, 32), tile("a", kernel.BF16, 128, 64, 128, false), tile("b", kernel.BF16, 32, 64, 128, true))},
		{"the product itself", `Mma: A has 128 rows, and the accumulator 64`,
			product(sum(f32, 64, 32), a, b)},
		{"the product itself", `Mma: B has 64 columns, and the accumulator 32: give b.T() of a tile that is stored with a column of B a row`,
			product(sum(f32, 128, 32), a, tile("b", f16, 32, 64, 128, false))},
		{"the product itself", `Mma: A has 64 columns and B 128 rows: both are K`,
			product(sum(f32, 128, 32), a, tile("b", f16, 32, 128, 128, true))},
		{"the product itself", `Mma: K is 8; an instruction has 16 of f16, and Mma a multiple of that`,
			product(sum(f32, 128, 32), tile("a", f16, 128, 8, 0, false), tile("b", f16, 32, 8, 0, true))},
		{"the product itself", `Mma: 24 columns; with 128 rows they are a multiple of 16`,
			product(func(t memory) kernel.TensorAccumulator { return t.Accumulator(f32, 128, 32).Cols(0, 24) }, a, tile("b", f16, 24, 64, 128, true))},
		{"the product itself", `Mma into lanes 32 to 63: a product has all lanes`,
			product(func(t memory) kernel.TensorAccumulator { return t.Accumulator(f32, 128, 32).Lanes(32) }, a, b)},
		{"the product itself", `Mma: elements of tf32 need K along the rows of their tiles: give A without T, and b.T() of a tile with a column of B a row`,
			product(sum(f32, 128, 32), tile("a", kernel.TF32, 128, 32, 128, false), tile("b", kernel.TF32, 32, 32, 128, false))},
		{"the product itself", `Mma: Satfinite is for integers, and the elements are f16`,
			product(sum(f32, 128, 32), a, b, kernel.Satfinite)},
		{"operand of integers", `Operand of s8: in tensor memory A has elements of F16, BF16, TF32, E4M3 or E5M2`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Operand(kernel.S8, 128, 64) // here: operand of integers
			})},
		{"operand of 64 rows", `Operand of 64 rows: A has 128 in tensor memory`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Operand(f16, 64, 64) // here: operand of 64 rows
			})},
		{"operand of 24 columns", `Operand of 24 columns of f16: an instruction has 16, and A a multiple of that`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Operand(f16, 128, 24) // here: operand of 24 columns
			})},
		{"no columns for an operand", `Operand of 128 × 128 f16 takes 64 columns of tensor memory tmem, which has 64, of which are taken: 16 by Accumulator of 128 × 16 at PLACE`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Accumulator(f32, 128, 16)
				t.Operand(f16, 128, 128) // here: no columns for an operand
			})},
		{"part of an instruction", `Cols(8, 16) of an operand of 64 columns of f16: they are multiples of 16 within it`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Operand(f16, 128, 64).Cols(8, 16) // here: part of an instruction
			})},
		{"three registers", `Store of 3 registers: an instruction writes a power of two of them, up to 128`,
			whole(64, func(k *kernel.Kernel, t memory) {
				x := k.Const(kernel.B32, 0)
				t.Operand(f16, 128, 64).Store(0, kernel.Vec{x, x, x}) // here: three registers
			})},
		{"half a register", `Store of 1 values of f16: two are in a column`,
			whole(64, func(k *kernel.Kernel, t memory) {
				t.Operand(f16, 128, 64).Store(0, kernel.Vec{k.Const(f32, 0)}) // here: half a register
			})},
		{"stored beyond", `Store of columns 62 to 65 of an operand of 64 columns, of which 2 are in a register`,
			whole(64, func(k *kernel.Kernel, t memory) {
				x := k.Const(kernel.B32, 0)
				t.Operand(f16, 128, 64).Store(62, kernel.Vec{x, x}) // here: stored beyond
			})},
		{"fragment in tensor memory", `Mma: A is a Fragment in registers; it is a Tile or a TensorOperand`,
			whole(64, func(k *kernel.Kernel, t memory) {
				d, x := t.Accumulator(f32, 128, 32), k.Const(kernel.B32, 0)
				k.SingleThread(func() { d.Mma(k.Fragment(f16, 64, 16, kernel.Vec{x, x, x, x}), b(k)) }) // here: fragment in tensor memory
			})},
		{"operand of wgmma", `Mma: A is in tensor memory; it is a Tile or a Fragment`,
			whole(64, func(k *kernel.Kernel, t memory) {
				k.Accumulator(f32, 64, 32).Mma(t.Operand(f16, 128, 64), b(k)) // here: operand of wgmma
			})},
	}
	place := regexp.MustCompile(`mistakes_tensor_test\.go:\d+`)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := mistakesOf(t, []kernel.Option{kernel.Block(128), kernel.Target("sm_100a")}, test.body)
			at := "mistakes_tensor_test.go:" + strconv.Itoa(lineOf(t, "mistakes_tensor_test.go", "// here: "+test.name)) + ": "
			msg, ok := strings.CutPrefix(got, at)
			if msg = place.ReplaceAllString(msg, "PLACE"); !ok || msg != test.want {
				t.Errorf("got\n%s\nwant\n%s%s", got, at, test.want)
			}
		})
	}
	t.Run("no tensor memory on Hopper", func(t *testing.T) {
		got := mistakesOf(t, []kernel.Option{kernel.Block(128)}, func(k *kernel.Kernel) {
			k.TensorMemory("t", 32) // here: no tensor memory on Hopper
		})
		line := strconv.Itoa(lineOf(t, "mistakes_tensor_test.go", "// here: no tensor memory on Hopper"))
		if want := "mistakes_tensor_test.go:" + line + `: TensorMemory("t"): the kernel is for sm_90a, which has no tensor memory; give New the option Target("sm_100a")`; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}
