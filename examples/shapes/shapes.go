// Package shapes has kernels that are built like those that ship for Hopper:
// CUTLASS's two warp-specialized products, FlashAttention-3's forward pass and the
// persistent product of fast.cu. What they compute is small; who waits for whom,
// where, and with which instruction is as in the model. Each is right in every
// schedule, by proof, and each can make the mistakes of its kind, which are found.
package shapes

import (
	"fmt"

	"muster/kernel"
)

// A Shape is a kernel with the mistakes that it can make.
type Shape struct {
	Name  string
	Model string // what it is built like
	Make  func(mistake string) (*Work, error)
	Twins []Twin
	Warns []string // the kinds of warnings that it draws without a mistake
}

// A Twin is a mistake, and the kinds of findings that tell of it.
type Twin struct {
	Mistake string
	Finds   []string
}

// A Work is a call, and what to hold its results to when it has run and its slices were
// taken back.
type Work struct {
	Call   *kernel.Call
	Verify func() error
}

// All gives every shape.
func All() []Shape { return shapes }

// integers are small numbers in bf16: sums of their products are exact in f32, in any
// order.
func integers(n, period int) []uint16 {
	x := make([]uint16, n)
	for i := range x {
		x[i] = kernel.BF16Bits(float32((i+i/97)%period - period/2))
	}
	return x
}

// product is x·yᵀ, of rows that are depth long, and more, rounded once to bf16.
func product(x, y, more []uint16, depth int) []uint16 {
	xs, ys := values(x), values(y)
	m, n := len(x)/depth, len(y)/depth
	z := make([]uint16, m*n)
	for i := range m {
		for j := range n {
			z[i*n+j] = kernel.BF16Bits(dot(xs[i*depth:(i+1)*depth], ys[j*depth:]) + kernel.BF16Value(more[i*n+j]))
		}
	}
	return z
}

func dot(x, y []float32) float32 {
	sum := float32(0)
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func values(x []uint16) []float32 {
	v := make([]float32, len(x))
	for i, b := range x {
		v[i] = kernel.BF16Value(b)
	}
	return v
}

// equal compares a result of rows of n elements, bit by bit.
func equal(got, want []uint16, n int) error {
	for i, g := range got {
		if g != want[i] {
			return fmt.Errorf("row %d, column %d is %v; want %v", i/n, i%n, kernel.BF16Value(g), kernel.BF16Value(want[i]))
		}
	}
	return nil
}
