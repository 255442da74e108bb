package kernel_test

import (
	"context"
	"fmt"

	"muster"
	"muster/kernel"
	"muster/launch"
)

// double is x[i] = 2*x[i].
func double() *kernel.Kernel {
	k := kernel.New("double", kernel.Block(32))
	x := k.GlobalPtr("x", kernel.F32)
	n := k.Param("n", kernel.U32)
	i := k.TidX()
	k.If(i.Lt(n), func() { x.At(i).Store(x.At(i).Load().Mul(2)) })
	return k
}

// A call runs on the machine with slices as arguments.
func ExampleCall() {
	x := []float32{1, 2, 3}
	call, err := double().Call(kernel.Grid(1), x, len(x))
	if err != nil {
		fmt.Println(err)
		return
	}
	launch, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := launch.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := call.Take(run.Buffer); err != nil {
		fmt.Println(err)
	}
	fmt.Println(x)
	// Output: [2 4 6]
}

// A run reports how its results differ from the expected contents.
func ExampleCall_Expect() {
	x := []float32{1, 2, 3}
	call, err := double().Call(kernel.Grid(1), x, len(x))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := call.Expect(x, []float32{2, 4, 7}, launch.Tolerance{Abs: 0.5}); err != nil {
		fmt.Println(err)
	}
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range run.Comparisons {
		fmt.Println(c.Buffer, c)
	}
	// Output: x 1 of 3 elements differ, first at [2]: got 6, want 7; worst error 1 absolute, 0.143 relative, 2097152 ulp
}

// Errors describe wrong arguments.
func ExampleKernel_Call_mistakes() {
	_, err := double().Call(kernel.Grid(1), []int32{1, 2, 3}, 3.5)
	for _, e := range err.(kernel.Errors) {
		fmt.Println(e.Msg)
	}
	// Output:
	// kernel double: argument 1, x: the kernel has elements of type f32 there, and it is a []int32
	// kernel double: argument 2, n: want an integer of type u32, got 3.5
}

// A tensor map of a matrix of 64 rows of 32 halves, for boxes of 8 rows.
func ExampleMap() {
	k := kernel.New("mapped", kernel.Block(32))
	k.TensorMap("map")
	x := make([]uint16, 64*32)
	call, err := k.Call(kernel.Grid(1), kernel.MapOf(x, kernel.F16, []int{64, 32}, []int{8, 32}, kernel.Swizzled(64)))
	if err != nil {
		fmt.Println(err)
		return
	}
	m := call.File.Launches[0].Args[0].Map
	fmt.Println(m.Of, m.Type, m.Shape, m.Box)
	// Output: map f16 [64 32] [8 32]
}

// Options of a tensor map: columns of every other row, NaN outside.
func ExampleMapOption() {
	x := make([]float32, 64*64)
	rows := kernel.MapOf(x, kernel.F32, []int{32, 64}, []int{8, 16}, kernel.Strided(2*64*4), kernel.FilledWithNaN(), kernel.PromotedL2(128))
	k := kernel.New("mapped", kernel.Block(32))
	k.TensorMap("map")
	call, err := k.Call(kernel.Grid(1), rows)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(call.File.Launches[0].Args[0].Map.Strides)
	// Output: [512]
}

// Memory of a GPU, such as a buffer of package gpu, takes the place of a slice.
func ExampleMemory() {
	var onCard kernel.Memory = place{0x7f0000000000, 3}
	call, err := double().Call(kernel.Grid(1), onCard, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = muster.LoadCall(call, muster.Limits{})
	fmt.Println(err.(*kernel.Error).Msg)
	// Output: kernel double: x is memory of a GPU; the machine takes Go slices
}

// place is a stub for an array elsewhere.
type place struct {
	at uint64
	n  int
}

func (p place) Device() (address uint64, elements int, elem launch.Type) {
	return p.at, p.n, launch.F32
}
