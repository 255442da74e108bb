package kernel_test

import (
	"testing"

	"muster/kernel"
)

// TestInlineMistakes is about inline PTX: errors also give the text's line.
func TestInlineMistakes(t *testing.T) {
	const own = `: the kernel has such a name itself, or PTX does`
	checkMistakes(t, "mistakes_inline_test.go", []mistake{
		{"no instruction", `PTX, line 2: unknown instruction bogus.u32`, func(k *kernel.Kernel) {
			k.PTX("membar.cta;\nbogus.u32 {a};", kernel.Args{"a": k.TidX()}) // here: no instruction
		}},
		{"text that ends", `PTX: the text ends inside of an instruction or a block`, func(k *kernel.Kernel) {
			k.PTX("membar.cta", nil) // here: text that ends
		}},
		{"comment that does not end", `PTX, line 1: comment is not closed`, func(k *kernel.Kernel) {
			k.PTX("membar.cta; /*", nil) // here: comment that does not end
		}},
		{"text that closes", `PTX: a } closes what the text did not open`, func(k *kernel.Kernel) {
			k.PTX("membar.cta; } .func f() { membar.cta;", nil) // here: text that closes
		}},
		{"operand that is not there", `PTX: operand b is not in the text as {b}`, func(k *kernel.Kernel) {
			k.PTX("mov.u32 {a}, 1;", kernel.Args{"a": k.Var(kernel.U32), "b": 1}) // here: operand that is not there
		}},
		{"operand of no name", `PTX: operand "a b": a name has letters, digits, _ and $, and does not begin with a digit`, func(k *kernel.Kernel) {
			k.PTX("membar.cta; {a b}", kernel.Args{"a b": 1}) // here: operand of no name
		}},
		{"operand of another type", `PTX, line 1: add.u32: operand b has type f32; want u32: take its bits with As, or convert it with Cvt`, func(k *kernel.Kernel) {
			k.PTX("add.u32 {a}, {a}, {b};", kernel.Args{"a": k.TidX(), "b": k.Const(kernel.F32, 1)}) // here: operand of another type
		}},
		{"own register of another type", `PTX, line 2: add.u32: operand b has type f32; want u32: take its bits with As, or convert it with Cvt`, func(k *kernel.Kernel) {
			k.PTX("{ .reg .f32 x; mov.f32 x, 0f00000000;\nadd.u32 {a}, {a}, x; }", kernel.Args{"a": k.TidX()}) // here: own register of another type
		}},
		{"address of another space", `PTX, line 1: ld.shared.u32: operand a is an address in global; want one in shared`, func(k *kernel.Kernel) {
			k.PTX("ld.shared.u32 {d}, {p};", kernel.Args{"d": k.Var(kernel.U32), "p": k.GlobalPtr("p", kernel.U32)}) // here: address of another space
		}},
		{"name of nothing", `PTX, line 1: add.u32: there is no y here`, func(k *kernel.Kernel) {
			k.PTX("add.u32 {a}, {a}, y;", kernel.Args{"a": k.TidX()}) // here: name of nothing
		}},
		{"special register of nothing", `PTX, line 1: mov.u32: there is no %tidx here`, func(k *kernel.Kernel) {
			k.PTX("mov.u32 {a}, %tidx;", kernel.Args{"a": k.Var(kernel.U32)}) // here: special register of nothing
		}},
		{"register of a block that is closed", `PTX, line 1: add.u32: there is no x here`, func(k *kernel.Kernel) {
			k.PTX("{ { .reg .u32 x; mov.u32 x, 1; } add.u32 {a}, {a}, x; }", kernel.Args{"a": k.TidX()}) // here: register of a block that is closed
		}},
		{"register before its declaration", `PTX, line 1: mov.u32: there is no x here`, func(k *kernel.Kernel) {
			k.PTX("{ mov.u32 x, 1; .reg .u32 x; }", nil) // here: register before its declaration
		}},
		{"label of an inner block", `PTX, line 1: bra: there is no in here`, func(k *kernel.Kernel) {
			k.PTX("{ bra in; { in: membar.cta; } }", nil) // here: label of an inner block
		}},
		{"label without a block", `PTX, line 1: label again: put the text in braces, so that the label is its own`, func(k *kernel.Kernel) {
			k.PTX("again: bra again;", nil) // here: label without a block
		}},
		{"register without a block", `PTX, line 1: x: put the text in braces, so that what it declares is its own`, func(k *kernel.Kernel) {
			k.PTX(".reg .u32 x; mov.u32 x, 1;", nil) // here: register without a block
		}},
		{"register of the kernel's names", `PTX, line 1: %r0` + own, func(k *kernel.Kernel) {
			k.PTX("{ .reg .b32 %r<2>; mov.b32 %r1, 1; }", nil) // here: register of the kernel's names
		}},
		{"label of an operation's name", `PTX, line 1: $end1` + own, func(k *kernel.Kernel) {
			k.PTX("{ $end1: membar.cta; }", nil) // here: label of an operation's name
		}},
		{"register of a special name", `PTX, line 1: %laneid` + own, func(k *kernel.Kernel) {
			k.PTX("{ .reg .b32 %laneid; }", nil) // here: register of a special name
		}},
		{"register of a variable's name", `PTX, line 1: s1: the name is taken since PLACE`, func(k *kernel.Kernel) {
			k.Shared("s1", kernel.U32, 4)
			k.PTX("{ .reg .b32 s<2>; }", nil) // here: register of a variable's name
		}},
		{"variable of a label's name", `shared variable "again": the name is taken since PLACE`, func(k *kernel.Kernel) {
			k.PTX("{ again: membar.cta; }", nil)
			k.Shared("again", kernel.U32, 4) // here: variable of a label's name
		}},
		{"declared twice", `PTX, line 2: x1 is declared twice`, func(k *kernel.Kernel) {
			k.PTX("{ .reg .b32 x1;\n.reg .u32 x<2>; }", nil) // here: declared twice
		}},
		{"registers without end", `PTX, line 1: x<1000000>: inline PTX declares 4096 registers at a time at most`, func(k *kernel.Kernel) {
			k.PTX("{ .reg .b32 x<1000000>; }", nil) // here: registers without end
		}},
		{"vector register", `PTX, line 1: v: inline PTX has no vector registers`, func(k *kernel.Kernel) {
			k.PTX("{ .reg .v4 .f32 v; }", nil) // here: vector register
		}},
		{"shared variable in a block", `PTX, line 1: s: inline PTX declares registers; Shared, ConstArray and GlobalArray make variables`, func(k *kernel.Kernel) {
			k.PTX("{ .shared .b32 s; }", nil) // here: shared variable in a block
		}},
		{"directive in a block", `PTX: the text has a directive; it is instructions, and blocks with registers and labels`, func(k *kernel.Kernel) {
			k.PTX("{ .loc 1 1 1; }", nil) // here: directive in a block
		}},
		{"predicate that is none", `PTX, line 1: x is no predicate`, func(k *kernel.Kernel) {
			k.PTX("{ .reg .b32 x; mov.b32 x, 1; @x membar.cta; }", nil) // here: predicate that is none
		}},
		{"block in a guard", `PTX, line 1: a block inside of Guard: only plain instructions take a predicate; use If`, func(k *kernel.Kernel) {
			k.Guard(k.TidX().Eq(0), func() {
				k.PTX("{ membar.cta; }", nil) // here: block in a guard
			})
		}},
		{"predicate in a guard", `PTX, line 1: membar.cta inside of Guard: only plain instructions without a predicate of their own take one; use If`, func(k *kernel.Kernel) {
			p := k.TidX().Eq(0)
			k.Guard(p, func() {
				k.PTX("@{p} membar.cta;", kernel.Args{"p": p}) // here: predicate in a guard
			})
		}},
		{"number that does not fit", `PTX, line 1: add.u16: operand b: 65536U does not fit type u16`, func(k *kernel.Kernel) {
			k.PTX("{ .reg .u16 h; mov.u16 h, 65535U; add.u16 h, h, 65536U; }", nil) // here: number that does not fit
		}},
	})
}
