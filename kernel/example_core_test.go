package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"muster"
	"muster/kernel"
)

// printBody prints a kernel's instructions, without declarations and .loc.
func printBody(k *kernel.Kernel) {
	text, err := k.Text()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, text, _ = strings.Cut(text, "{\n")
	for line := range strings.Lines(text) {
		if s := strings.TrimSpace(line); s != "}" && s != "ret;" && !strings.HasPrefix(s, ".") {
			fmt.Println(s)
		}
	}
}

// A kernel is written, checked for every schedule, and run; its results are read.
func ExampleKernel() {
	k := kernel.New("reverse", kernel.Block(64))
	in, out := k.GlobalPtr("in", kernel.F32), k.GlobalPtr("out", kernel.F32)
	buf := k.Shared("buf", kernel.F32, 64)
	i := k.TidX()
	buf.At(i).Store(in.At(i).Load())
	k.Sync()
	out.At(i).Store(buf.At(i.Xor(63)).Load())

	x, y := make([]float32, 64), make([]float32, 64)
	for i := range x {
		x[i] = float32(i)
	}
	call, err := k.Call(kernel.Grid(1), x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Summary)
	run, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := call.Take(run.Buffer); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y[:4])
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// [63 62 61 60]
}

func ExampleOption() {
	k := kernel.New("shape", kernel.Block(128), kernel.Clusters(2), kernel.MaxRegisters(64))
	text, _ := k.Text()
	fmt.Println(text)
	// Output:
	// .version 8.0
	// .target sm_90a
	// .address_size 64
	//
	// .visible .entry shape
	// .reqntid 128, 1, 1
	// .explicitcluster
	// .reqnctapercluster 2, 1, 1
	// .maxnreg 64
	// {
	// 	ret;
	// }
}

func ExampleReg() {
	k := kernel.New("k")
	i := k.TidX()
	j := i.Mul(4).Add(1) // two instructions, two new registers
	j.Set(j.Max(i))      // a register is a variable
	f := j.Cvt(kernel.F32).Mad(0.5, 1)
	f.Set(f.Neg())
	printBody(k)
	// Output:
	// mov.u32 %r1, %tid.x;
	// mul.lo.u32 %r2, %r1, 4;
	// add.u32 %r3, %r2, 1;
	// max.u32 %r4, %r3, %r1;
	// mov.u32 %r3, %r4;
	// cvt.rn.f32.u32 %f5, %r3;
	// fma.rn.f32 %f6, %f5, 0f3F000000, 0f3F800000;
	// neg.f32 %f7, %f6;
	// mov.f32 %f6, %f7;
}

func ExamplePred() {
	k := kernel.New("k")
	i := k.TidX()
	first, even := i.Eq(0), i.And(1).Eq(0)
	x := first.And(even.Not()).Select(i, 7)
	k.Guard(even, func() { x.Set(0) }) // no branch: the instruction is predicated
	printBody(k)
	// Output:
	// mov.u32 %r1, %tid.x;
	// setp.eq.u32 %p2, %r1, 0;
	// and.b32 %r3, %r1, 1;
	// setp.eq.u32 %p4, %r3, 0;
	// not.pred %p6, %p4;
	// and.pred %p5, %p2, %p6;
	// selp.b32 %r7, %r1, 7, %p5;
	// @%p4 mov.u32 %r7, 0;
}

func ExampleVec() {
	k := kernel.New("k")
	p := k.GlobalPtr("p", kernel.F32, 16)
	v := p.LoadVec(4) // one load of 16 bytes
	p.At(4).StoreVec(kernel.Vec{v[3], v[2], v[1], v[0]})
	printBody(k)
	// Output:
	// ld.param.u64 %rd1, [p];
	// cvta.to.global.u64 %rd2, %rd1;
	// ld.global.v4.f32 {%f3, %f4, %f5, %f6}, [%rd2];
	// st.global.v4.f32 [%rd2+16], {%f6, %f5, %f4, %f3};
}

// A Num is a register or a Go number, which becomes an immediate. The halves
// have no immediates in PTX: their bits are moved to a register.
func ExampleNum() {
	k := kernel.New("k")
	i := k.TidX()
	i.Add(i)
	i.Add(3)
	h := k.Var(kernel.F16)
	h.Set(1.5)
	h.Add(2)
	printBody(k)
	// Output:
	// mov.u32 %r1, %tid.x;
	// add.u32 %r2, %r1, %r1;
	// add.u32 %r3, %r1, 3;
	// mov.b16 %rs4, 15872;
	// mov.b16 %rs6, 16384;
	// add.rn.f16 %rs5, %rs4, %rs6;
}

func ExamplePair() {
	k := kernel.New("k")
	v, inRange := k.Var(kernel.U32), k.PredVar()
	k.Inst("shfl.sync.down.b32", kernel.Pair{Reg: v, Pred: inRange}, k.LaneID(), 1, 31, -1)
	printBody(k)
	// Output:
	// mov.u32 %r3, %laneid;
	// shfl.sync.down.b32 %r1|%p2, %r3, 1, 31, -1;
}

// A Dest is a register, or a register with a predicate beside it.
func ExampleDest() {
	k := kernel.New("k")
	v := k.Var(kernel.U32)
	var d kernel.Dest = v
	k.Inst("shfl.sync.idx.b32", d, k.LaneID(), 0, 31, -1)
	printBody(k)
	// Output:
	// mov.u32 %r2, %laneid;
	// shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;
}

func ExampleDiscard() {
	k := kernel.New("k", kernel.Block(32))
	bar := k.Shared("bar", kernel.B64)
	k.Inst("mbarrier.arrive.shared::cta.b64", kernel.Discard{}, bar)
	printBody(k)
	// Output:
	// mbarrier.arrive.shared::cta.b64 _, [bar];
}

func ExampleType() {
	k := kernel.New("k")
	x := k.Const(kernel.F32, 1.5)
	fmt.Println(x.Type(), x.Type().Size(), x.Cvt(kernel.S32).Type(), x.As(kernel.B32).Type())
	printBody(k)
	// Output:
	// f32 4 s32 b32
	// mov.f32 %f1, 0f3FC00000;
	// cvt.rzi.s32.f32 %r2, %f1;
	// mov.b32 %r3, %f1;
}

func ExampleSpace() {
	k := kernel.New("k", kernel.Block(32), kernel.Clusters(2))
	own := k.Shared("tile", kernel.F32, 32)
	peer := own.Remote(1)
	fmt.Println(own.Space(), peer.Space(), own.Generic().Space())
	peer.At(3).Load()
	printBody(k)
	// Output:
	// shared::cta shared::cluster generic
	// mov.u32 %r2, tile;
	// mapa.shared::cluster.u32 %r1, %r2, 1;
	// mov.u32 %r3, tile;
	// cvt.u64.u32 %rd4, %r3;
	// cvta.shared.u64 %rd5, %rd4;
	// ld.shared::cluster.f32 %f6, [%r1+12];
}

func ExampleMod() {
	k := kernel.New("k")
	flag := k.GlobalPtr("flag", kernel.U32)
	flag.Store(1, kernel.Release, kernel.GPU)
	flag.Load(kernel.Acquire, kernel.GPU)
	printBody(k)
	// Output:
	// ld.param.u64 %rd1, [flag];
	// cvta.to.global.u64 %rd2, %rd1;
	// st.release.gpu.global.u32 [%rd2], 1;
	// ld.acquire.gpu.global.u32 %r3, [%rd2];
}

func ExamplePtr() {
	k := kernel.New("k")
	p := k.GlobalPtr("p", kernel.F32)
	tile := k.Shared("tile", kernel.F32, 4, 32)
	i := k.TidX()
	tile.At(2, i).Store(p.At(i).Load()) // row 2
	fmt.Println(tile.At(2).Dims(), tile.At(2).Size(), "bytes")
	printBody(k)
	// Output:
	// [32] 128 bytes
	// ld.param.u64 %rd1, [p];
	// cvta.to.global.u64 %rd2, %rd1;
	// mov.u32 %r3, %tid.x;
	// shl.b32 %r4, %r3, 2;
	// mov.u32 %r5, tile;
	// add.u32 %r6, %r5, %r4;
	// mul.wide.u32 %rd7, %r3, 4;
	// add.u64 %rd8, %rd2, %rd7;
	// ld.global.f32 %f9, [%rd8];
	// st.shared::cta.f32 [%r6+256], %f9;
}

// Coordinates are innermost first, in elements.
func ExampleCoords() {
	k := kernel.New("k", kernel.Block(32))
	m := k.TensorMap("m")
	tile := k.Tile("tile", kernel.F32, 32, 32, 128)
	k.SingleThread(func() {
		m.Store(kernel.Coords{k.CtaidX().Mul(32), 0}, tile.Ptr())
	})
	printBody(k)
	// Output:
	// mov.b64 %rd2, m;
	// cvta.param.u64 %rd1, %rd2;
	// mov.u32 %r3, %tid.x;
	// setp.eq.u32 %p4, %r3, 0;
	// @!%p4 bra $group1;
	// mov.u32 %r5, %ctaid.x;
	// mul.lo.u32 %r6, %r5, 32;
	// cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r6, 0}], [tile];
	// $group1:
}

func ExampleLabel() {
	k := kernel.New("k")
	i := k.Const(kernel.U32, 10)
	again := k.NewLabel()
	k.Place(again)
	i.Set(i.Sub(1))
	k.BranchIf(i.Ne(0), again)
	printBody(k)
	// Output:
	// mov.u32 %r1, 10;
	// $L1:
	// sub.u32 %r2, %r1, 1;
	// mov.u32 %r1, %r2;
	// setp.ne.u32 %p3, %r1, 0;
	// @%p3 bra $L1;
}

func ExampleFunc() {
	k := kernel.New("k")
	square := k.Func("square", []kernel.Type{kernel.F32}, []kernel.Type{kernel.F32}, func(args kernel.Vec) kernel.Vec {
		return kernel.Vec{args[0].Mul(args[0])}
	})
	p := k.GlobalPtr("p", kernel.F32)
	p.Store(square.Call(p.Load())[0])
	text, _ := k.Text()
	fmt.Println(text[strings.Index(text, ".func"):strings.Index(text, ".visible")])
	// Output:
	// .func (.param .f32 square_result0) square(
	// 	.param .f32 square_arg0
	// )
	// {
	// 	.reg .f32 %f1;
	// 	.reg .f32 %f2;
	// 	.loc 1 298 0
	// 	ld.param.f32 %f1, [square_arg0];
	// 	.loc 1 299 0
	// 	mul.rn.f32 %f2, %f1, %f1;
	// 	.loc 1 298 0
	// 	st.param.f32 [square_result0], %f2;
	// 	ret;
	// }
}

func ExampleArgs() {
	k := kernel.New("k")
	x := k.Const(kernel.F32, 2)
	y := k.Var(kernel.F32)
	k.PTX("sqrt.rn.f32 {y}, {x};", kernel.Args{"x": x, "y": y})
	printBody(k)
	// Output:
	// mov.f32 %f1, 0f40000000;
	// sqrt.rn.f32 %f2, %f1;
}

// Mistakes are collected, and Build returns them all.
func ExampleErrors() {
	k := kernel.New("k", kernel.Block(32))
	out := k.GlobalPtr("out", kernel.F32)
	out.At(k.TidX()).Store(k.TidX())
	k.Break()
	_, err := k.Build()
	fmt.Println(err)
	// Output:
	// example_core_test.go:337: Store: the value has type u32; want f32: take its bits with As, or convert it with Cvt
	// example_core_test.go:338: Break outside of a loop
}

func ExampleError() {
	k := kernel.New("k")
	sum := k.Var(kernel.F32)
	k.GlobalPtr("out", kernel.F32).Store(sum)
	_, err := k.Build()
	var mistake *kernel.Error
	if errors.As(err, &mistake) {
		fmt.Println(mistake.Msg)
	}
	// Output:
	// a register of type f32 made at example_core_test.go:348 is read here, and on some way here nothing has set it
}

// A Place is a line of the program that wrote the kernel.
func ExamplePlace() {
	k := kernel.New("k")
	k.Inst("nosuch.u32", k.TidX())
	_, err := k.Build()
	fmt.Println(err.(kernel.Errors)[0].Place)
	// Output:
	// example_core_test.go:362
}
