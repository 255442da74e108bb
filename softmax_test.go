package muster_test

import (
	"context"
	"testing"

	"muster"
	"muster/internal/num"
	"muster/launch"
)

// TestSoftmaxBound holds Triton's softmax to what an H200 computed, within a
// bound that follows from the ISA's bounds for its approximate instructions.
//
// y = e/S with e = ex2.approx(z), S a sum of such terms, / div.full. The
// arguments z are equal on both sides, bit for bit: max, sub and mul are exact
// in that sense. In units of u = 2^-24, half an ulp of the result at most and
// so its relative rounding error, to first order:
//
//	e        2 u for each ulp that ex2.approx may be off
//	S        the same, its terms being positive, and u for each of the ten
//	         additions that a term passes: three in its thread, five in its warp,
//	         two among the warps
//	e / S    both, and 2 u for each ulp that div.full may be off
//
// The card and the machine are each that far from the exact quotient at most.
func TestSoftmaxBound(t *testing.T) {
	const (
		u    = 0x1p-24
		adds = 3 + 5 + 2
	)
	e := 2.0 * num.BoundEx2F32
	bound := 2 * (e + (e + adds) + 2*num.BoundDivF32) * u

	f, err := launch.FromFlags(launch.Flags{PTX: "examples/triton_softmax/triton_softmax.ptx", Grid: "4", Block: "128", Shared: "16",
		Buffers: []string{"x=f32[4,500]:file=examples/triton_softmax/x.npy", "y=f32[4,500]:nan"},
		Args:    []string{"x", "y", "s32:500", "null", "null"},
		Expect:  []string{"y=examples/triton_softmax/y.npy"}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Comparisons) != 1 {
		t.Fatal("nothing was compared")
	}
	c := &r.Comparisons[0]
	t.Logf("%d elements: worst error %.3g relative, %d ulp; bound %.3g", c.Elements, c.MaxRel, c.MaxULP, bound)
	if !(c.MaxRel <= bound) {
		t.Errorf("worst relative error %g exceeds the bound %g", c.MaxRel, bound)
	}
}
