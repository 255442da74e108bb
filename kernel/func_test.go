package kernel_test

import (
	"context"
	"slices"
	"testing"

	"muster"
	"muster/kernel"
)

// runKernel runs a call on the machine and takes its results.
func runKernel(t *testing.T, k *kernel.Kernel, grid [3]int, args ...any) {
	t.Helper()
	c, err := k.Call(grid, args...)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadCall(c, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() {
		t.Fatalf("%+v", r.Report)
	}
	if err := c.Take(r.Buffer); err != nil {
		t.Fatal(err)
	}
}

func TestFunc(t *testing.T) {
	k := kernel.New("calls", kernel.Block(32))
	table := k.ConstArray("table", kernel.F16, 0.5, 1.5, -2)
	count := k.GlobalArray("count", kernel.U32, 4, 7, 8)
	divmod := k.Func("divmod", []kernel.Type{kernel.U32, kernel.U32}, []kernel.Type{kernel.U32, kernel.U32}, func(a kernel.Vec) kernel.Vec {
		return kernel.Vec{a[0].Div(a[1]), a[0].Rem(a[1])}
	})
	out := k.GlobalPtr("out", kernel.U32)
	half := k.GlobalPtr("half", kernel.F16)
	i := k.TidX()
	r := divmod.Call(i, 5)
	out.At(i).Store(r[0].Mul(100).Add(r[1]).Add(count.At(1).Load()))
	half.At(i).Store(table.At(i.Rem(3)).Load().Add(1))
	o, h := make([]uint32, 32), make([]uint16, 32)
	runKernel(t, k, kernel.Grid(1), o, h)
	for i := range o {
		if want := uint32(i/5*100 + i%5 + 8); o[i] != want {
			t.Errorf("out[%d] is %d, not %d", i, o[i], want)
		}
		if want := kernel.F16Bits([]float32{1.5, 2.5, -1}[i%3]); h[i] != want {
			t.Errorf("half[%d] is %#x, not %#x", i, h[i], want)
		}
	}
}

// TestFlow compares loops, branches and predicates with the same code in Go.
func TestFlow(t *testing.T) {
	k := kernel.New("flow", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.S32)
	n := k.Param("n", kernel.S32)
	i := k.TidX().As(kernel.S32)
	sum := k.Const(kernel.S32, 0)
	k.For(0, n, 1, func(j kernel.Reg) {
		k.ContinueIf(j.Rem(3).Eq(1))
		k.BreakIf(j.Gt(i))
		k.IfElse(j.And(1).Eq(0), func() { sum.Set(sum.Add(j)) }, func() { sum.Set(sum.Sub(2)) })
	})
	x := i.Copy()
	k.While(func() kernel.Pred { return x.Gt(1) }, func() {
		x.Set(x.And(1).Eq(0).Select(x.Shr(1), x.Mul(3).Add(1)))
		sum.Set(sum.Add(1))
	})
	k.Guard(i.Lt(7).Not(), func() { sum.Set(sum.Neg()) })
	out.At(i).Store(sum)
	o := make([]int32, 64)
	runKernel(t, k, kernel.Grid(1), o, 20)
	var want []int32
	for i := range int32(64) {
		sum := int32(0)
		for j := range int32(20) {
			if j%3 == 1 {
				continue
			}
			if j > i {
				break
			}
			if j&1 == 0 {
				sum += j
			} else {
				sum -= 2
			}
		}
		for x := i; x > 1; sum++ {
			if x&1 == 0 {
				x >>= 1
			} else {
				x = 3*x + 1
			}
		}
		if i >= 7 {
			sum = -sum
		}
		want = append(want, sum)
	}
	if !slices.Equal(o, want) {
		t.Errorf("%v\nwant %v", o, want)
	}
}
