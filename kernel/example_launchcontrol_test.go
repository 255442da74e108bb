package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// Each CTA does its own work, and then that of CTAs that are given up to it.
func ExampleLaunchControl() {
	k := kernel.New("work", kernel.Block(64), kernel.Target("sm_100a"))
	out := k.GlobalPtr("out", kernel.U32)
	w := k.LaunchControl("work_left", 1, 64)
	k.InitMbarriers()
	x := k.CtaidX().Copy()
	k.Loop(func() {
		k.SingleThread(w.Try)
		out.At(x.Mad(64, k.TidX())).Store(x.Add(1))
		g := w.Wait()
		w.Release()
		k.BreakIf(g.Valid.Not())
		x.Set(g.X)
	})

	z := make([]uint32, 3*64)
	fmt.Println(verdictOf(k.Call(kernel.Grid(3), z)))
	fmt.Println(z[0], z[64], z[3*64-1])
	// Output:
	// clean: all schedules of this launch, 3 CTAs, 192 threads
	// 1 2 3
}

// A grant's position is two-dimensional where the grid is.
func ExampleGrant() {
	k := kernel.New("work", kernel.Block(32), kernel.Target("sm_100a"))
	out := k.GlobalPtr("out", kernel.U32)
	w := k.LaunchControl("work_left", 2, 32)
	k.InitMbarriers()
	x, y := k.CtaidX().Copy(), k.CtaidY().Copy()
	k.Loop(func() {
		k.SingleThread(w.Try)
		out.At(y.Mad(2, x).Mad(32, k.TidX())).Store(y.Mad(10, x))
		g := w.Wait()
		w.Release()
		k.BreakIf(g.Valid.Not())
		x.Set(g.X)
		y.Set(g.Y)
	})

	z := make([]uint32, 4*32)
	fmt.Println(verdictOf(k.Call(kernel.Grid(2, 2), z)))
	fmt.Println(z[0], z[32], z[64], z[96])
	// Output:
	// clean: all schedules of this launch, 4 CTAs, 128 threads
	// 0 1 10 11
}
