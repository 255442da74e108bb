package gpu

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"muster/kernel"
	"muster/launch"
)

// axpy computes y = a*x + y, for tests.
func axpy(t *testing.T) *kernel.Kernel {
	t.Helper()
	k := kernel.New("axpy", kernel.Block(128))
	x, y := k.GlobalPtr("x", kernel.F32), k.GlobalPtr("y", kernel.F32)
	n, a := k.Param("n", kernel.U32), k.Param("a", kernel.F32)
	i := k.CtaidX().Mad(128, k.TidX())
	k.If(i.Lt(n), func() { y.At(i).Store(x.At(i).Load().Mad(a, y.At(i).Load())) })
	return k
}

func iota32(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(i)
	}
	return s
}

func call(t *testing.T, k *kernel.Kernel, grid [3]int, args ...any) *kernel.Call {
	t.Helper()
	c, err := k.Call(grid, args...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRunCall: slices are copied in and back, in this process and in a worker.
func TestRunCall(t *testing.T) {
	d := open(t)
	x, y := iota32(1000), make([]float32, 1000)
	c := call(t, axpy(t), kernel.Grid(8), x, y, 1000, 2)
	r, err := d.RunCall(t.Context(), c, Options{})
	if err != nil || r.Kernel != "axpy" || y[999] != 1998 || x[999] != 999 {
		t.Fatal(r, err, y[999])
	}
	if _, err := RunCallApart(t.Context(), c, Options{}); err != nil || y[999] != 2*1998 {
		t.Fatal(err, y[999])
	}
}

// TestBigShared: a kernel whose shared memory exceeds the limit for static variables
// gets it at launch, in clusters too.
func TestBigShared(t *testing.T) {
	d := open(t)
	k := kernel.New("big", kernel.Block(32), kernel.Clusters(2))
	out := k.GlobalPtr("out", kernel.U32)
	const n = 50_000
	s := k.Shared("s", kernel.U32, n)
	i := k.TidX()
	s.At(n - 32).At(i).Store(i.Add(k.CtaidX()))
	out.At(k.CtaidX().Mad(32, i)).Store(s.At(n - 32).At(i).Load())
	if k.SharedBytes() < 4*n {
		t.Fatal(k.SharedBytes())
	}
	left := make([]uint32, 4*32)
	if err := d.Agree(t.Context(), call(t, k, kernel.Grid(4), left), Options{}); err != nil || left[127] != 34 {
		t.Error(err, left)
	}
}

// TestAgree: the machine and the GPU start with the same contents and leave the same.
func TestAgree(t *testing.T) {
	d := open(t)
	x, y := iota32(1000), iota32(1000)
	c := call(t, axpy(t), kernel.Grid(8), x, y, 1000, 3)
	if err := d.Agree(t.Context(), c, Options{}); err != nil || y[999] != 4*999 {
		t.Fatal(err, y[999])
	}
	if err := Agree(t.Context(), c, Options{}); err != nil || y[999] != 7*999 {
		t.Fatal(err, y[999])
	}
	// %globaltimer differs on the machine.
	k := kernel.New("timed", kernel.Block(1))
	p := k.GlobalPtr("out", kernel.U64)
	now := k.Var(kernel.U64)
	k.PTX("mov.u64 {now}, %globaltimer;", kernel.Args{"now": now})
	p.Store(now)
	out := []uint64{7}
	var not *Disagreement
	if err := d.Agree(t.Context(), call(t, k, kernel.Grid(1), out), Options{}); !errors.As(err, &not) || len(not.Differences) != 1 || out[0] != 7 ||
		!strings.HasPrefix(err.Error(), "out: 1 of 1 elements differ, first at [0]: the GPU has ") {
		t.Error(err, out)
	}
	if err := d.Agree(t.Context(), call(t, k, kernel.Grid(1), kernel.Scratch(out)), Options{}); err != nil {
		t.Error(err)
	}
}

// TestAgreeNeedsTheMachine: if the machine finds a fault, there is nothing to
// compare.
func TestAgreeNeedsTheMachine(t *testing.T) {
	k := kernel.New("null", kernel.Block(1))
	k.GlobalPtr("x", kernel.U32).Store(1)
	err := Agree(t.Context(), call(t, k, kernel.Grid(1), nil), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "the machine: 1 finding") || !strings.Contains(err.Error(), "out-of-bounds: ") {
		t.Error(err)
	}
}

// TestAgreeCompares without a GPU: it reports a result that differs, but not
// scratch memory nor a difference within tolerance.
func TestAgreeCompares(t *testing.T) {
	x, y := iota32(4), iota32(4)
	k := axpy(t)
	c := call(t, k, kernel.Grid(1), x, y, 4, 1)
	answer := func(change float32) func(*launch.File) (*Result, error) {
		return func(f *launch.File) (*Result, error) {
			c := call(t, k, kernel.Grid(1), iota32(4), []float32{0, 2, 4, 6 + change}, 4, 0)
			g, err := c.Launch()
			if err != nil {
				return nil, err
			}
			r := &Result{}
			for _, b := range g.Buffers {
				r.Buffers = append(r.Buffers, Array{Name: b.Name, Type: b.Type, Shape: b.Shape, Data: b.Fill.Data})
			}
			return r, nil
		}
	}
	var not *Disagreement
	if err := agree(t.Context(), c, answer(0.5)); !errors.As(err, &not) || len(not.Differences) != 1 || not.Differences[0].Buffer != "y" || y[3] != 3 {
		t.Error(err, y)
	}
	if err := c.Expect(y, []float32{0, 2, 4, 6}, launch.Tolerance{Abs: 0.5}); err != nil {
		t.Fatal(err)
	}
	if err := agree(t.Context(), c, answer(0.5)); err != nil || !reflect.DeepEqual(y, []float32{0, 2, 4, 6}) {
		t.Error(err, y)
	}
	copy(y, iota32(4))
	c = call(t, k, kernel.Grid(1), x, kernel.Scratch(y), 4, 1)
	if err := agree(t.Context(), c, answer(0.5)); err != nil {
		t.Error(err)
	}
}

// TestPrepareCall: the device's buffers are used in place, in parts and by tensor
// maps too.
func TestPrepareCall(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	x := must(Upload(d, iota32(1000)))(t)
	y := must(Alloc[float32](d, 1000))(t)
	part, err := y.Part(500, 1000)
	if err != nil {
		t.Fatal(err)
	}
	c := call(t, axpy(t), kernel.Grid(4), x, part, 500, 1)
	p, err := d.PrepareCall(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := p.Launch(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := y.Download(ctx)
	if err != nil || got[499] != 0 || got[500] != 0 || got[999] != 3*499 {
		t.Error(err, got[499], got[500], got[999])
	}
	p.Close()
	if err := p.Launch(); err == nil {
		t.Error("a closed launch was launched")
	}
	if _, err := d.RunCall(ctx, c, Options{}); err != nil {
		t.Error(err)
	}
	if _, err := RunCallApart(ctx, c, Options{}); err == nil || !strings.Contains(err.Error(), "x is memory of a GPU; the machine takes Go slices") {
		t.Error(err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if _, err := axpy(t).Call(kernel.Grid(4), x, y, 1, 1); err == nil || !strings.Contains(err.Error(), "closed or empty") {
		t.Error(err)
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
