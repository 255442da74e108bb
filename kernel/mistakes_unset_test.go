package kernel_test

import (
	"testing"

	"muster/kernel"
)

// TestUnset: registers that some path reads before it sets them, the kernel's and
// those of inline PTX.
func TestUnset(t *testing.T) {
	const unset = ` is read here, and on some way here nothing has set it`
	checkMistakes(t, "mistakes_unset_test.go", []mistake{
		{"read in a block", `a register of type u32 made at PLACE` + unset, func(k *kernel.Kernel) {
			x := k.Var(kernel.U32)
			k.PTX("{ { mov.u32 {x}, {x}; } }", kernel.Args{"x": x}) // here: read in a block
		}},
		{"set behind a branch", `a register of type u32 made at PLACE` + unset, func(k *kernel.Kernel) {
			x := k.Var(kernel.U32)
			k.PTX("{ @{p} bra past; mov.u32 {x}, 1; past: }", kernel.Args{"x": x, "p": k.TidX().Eq(0)})
			x.Add(1) // here: set behind a branch
		}},
		{"set past a branch out of the text", `a register of type u32 made at PLACE` + unset, func(k *kernel.Kernel) {
			x, l := k.Var(kernel.U32), k.NewLabel()
			k.PTX("{ @{p} bra {out}; mov.u32 {x}, 1; }", kernel.Args{"x": x, "p": k.TidX().Eq(0), "out": l})
			k.Place(l)
			x.Add(1) // here: set past a branch out of the text
		}},
		{"set later in a loop", `a register of type u32 made at PLACE` + unset, func(k *kernel.Kernel) {
			x := k.Var(kernel.U32)
			k.For(0, 4, 1, func(i kernel.Reg) {
				i.Add(x) // here: set later in a loop
				x.Set(i)
			})
		}},
		{"set in a loop that may not run", `a register of type u32 made at PLACE` + unset, func(k *kernel.Kernel) {
			x := k.Var(kernel.U32)
			k.For(0, k.TidX(), 1, func(i kernel.Reg) { x.Set(i) })
			x.Add(1) // here: set in a loop that may not run
		}},
		{"predicate of a block", `PTX: register p is read, and on some way there nothing has set it`, func(k *kernel.Kernel) {
			k.PTX("{ .reg .pred p; @p membar.cta; }", nil) // here: predicate of a block
		}},
		{"unset register of a block", `PTX: register x2 is read, and on some way there nothing has set it`, func(k *kernel.Kernel) {
			k.PTX("{ .reg .b32 x<3>; mov.b32 x1, 1; add.u32 x1, x1, x2; }", nil) // here: unset register of a block
		}},
		{"negated in a block", `PTX: register q is read, and on some way there nothing has set it`, func(k *kernel.Kernel) {
			k.PTX("{ .reg .pred p, q; setp.eq.and.u32 p, {x}, 0, !q; }", kernel.Args{"x": k.TidX()}) // here: negated in a block
		}},
	})
}

// TestSet: registers that every path sets are not reported.
func TestSet(t *testing.T) {
	k := kernel.New("k", kernel.Block(32))
	x, y, z, n := k.Var(kernel.U32), k.Var(kernel.U32), k.Var(kernel.U32), k.TidX()
	k.IfElse(n.Eq(0), func() { x.Set(1) }, func() {
		k.IfElse(n.Eq(1), func() { x.Set(2) }, func() { x.Set(3) })
	})
	k.For(0, n, 1, func(i kernel.Reg) {
		k.If(i.Eq(7), func() { k.Continue() })
		y.Set(i.Add(x))
		k.If(y.Eq(8), func() { k.Break() })
		y.Set(y.Add(x))
	})
	k.Loop(func() { // it exits only after z is set
		z.Set(n)
		k.BreakIf(z.Gt(x))
	})
	k.If(z.Eq(9), func() {
		k.Inst("exit")
		y.Add(1) // unreachable
	})
	k.PTX(`{
	.reg .pred p;
	.reg .b32 a, b;
	setp.eq.u32 p, {z}, 1;
	@p bra one;
	mov.b32 a, 0;
	bra both;
one:	mov.b32 a, 1;
both:	add.u32 b, a, {x};
	@!p mov.b32 a, b;
}`, kernel.Args{"z": z, "x": x})
	k.Guard(n.Eq(0), func() { y.Set(5) }) // counts as setting it
	y.Add(1)
	if _, err := k.Build(); err != nil {
		t.Error(err)
	}
}

// TestUnsetIsToldOnce: each register is reported at its first read, in program
// order.
func TestUnsetIsToldOnce(t *testing.T) {
	k := kernel.New("k", kernel.Block(32))
	x, y := k.Var(kernel.U32), k.Var(kernel.F32)
	k.If(k.TidX().Eq(0), func() { y.Add(y).Add(y) })
	x.Add(x)
	y.Add(y)
	_, err := k.Build()
	errs, _ := err.(kernel.Errors)
	if len(errs) != 2 || errs[1].Place.Line != errs[0].Place.Line+1 {
		t.Error(err)
	}
}
