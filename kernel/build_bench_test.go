package kernel_test

import (
	"testing"

	"muster/kernel"
)

// BenchmarkBuild builds kernels of about 100,000 instructions: straight-line, in
// branches that each read what the previous one set, in nested loops, and with
// many registers that are set at the beginning and read at the end.
func BenchmarkBuild(b *testing.B) {
	for _, c := range []struct {
		name string
		body func(k *kernel.Kernel, x, n kernel.Reg)
	}{
		{"row", func(k *kernel.Kernel, x, n kernel.Reg) {
			for range 33_000 {
				x.Set(x.Add(1).Xor(n))
			}
		}},
		{"branches", func(k *kernel.Kernel, x, n kernel.Reg) {
			for i := range 16_000 {
				a := k.Var(kernel.U32)
				k.IfElse(n.Gt(i), func() { a.Set(1) }, func() { a.Set(x) })
				x.Set(a)
			}
		}},
		{"loops", func(k *kernel.Kernel, x, n kernel.Reg) {
			for i := range 9_000 {
				a := x.Add(1)
				k.For(0, n, 1, func(j kernel.Reg) {
					k.If(j.Gt(i), func() { k.For(0, j, 1, func(j kernel.Reg) { x.Set(a) }) })
				})
			}
		}},
		{"long lives", func(k *kernel.Kernel, x, n kernel.Reg) {
			live := make(kernel.Vec, 1_000)
			for i := range live {
				live[i] = n.Add(i)
			}
			for i := range 12_000 {
				k.If(n.Gt(i), func() { x.Set(x.Add(live[i%1_000]).Xor(live[i*7%1_000])) })
			}
			for _, r := range live {
				x.Set(x.Add(r))
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				k := kernel.New("k", kernel.Block(128))
				out := k.GlobalPtr("out", kernel.U32)
				x, n := k.Const(kernel.U32, 0), k.TidX()
				c.body(k, x, n)
				out.At(0).Store(x)
				b.StartTimer()
				m, err := k.Build()
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if len(m.String()) < 1<<20 {
					b.Fatal("the kernel is small")
				}
				b.StartTimer()
			}
		})
	}
}
