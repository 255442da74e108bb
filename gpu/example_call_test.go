package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"muster/gpu"
	"muster/kernel"
	"muster/launch"
)

// scale multiplies n numbers by a.
func scale() *kernel.Kernel {
	k := kernel.New("scale", kernel.Block(128))
	x := k.GlobalPtr("x", kernel.F32)
	n, a := k.Param("n", kernel.U32), k.Param("a", kernel.F32)
	i := k.CtaidX().Mad(128, k.TidX())
	k.If(i.Lt(n), func() { x.At(i).Store(x.At(i).Load().Mul(a)) })
	return k
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// One line asserts that the machine and the GPU leave the same bits.
func ExampleAgree() {
	gpu.Worker() // first in main, or in TestMain
	x := []float32{1, 2, 3}
	call, err := scale().Call(kernel.Grid(1), x, len(x), 10)
	check(err)
	err = gpu.Agree(context.Background(), call, gpu.Options{Timeout: 5 * time.Second})
	var differ *gpu.Disagreement
	if errors.As(err, &differ) {
		log.Fatal("not the same: ", differ.Differences[0])
	}
	check(err)
	fmt.Println(x) // [10 20 30]
}

// The text of a Disagreement: one line per buffer, with the first difference.
func ExampleDisagreement() {
	err := &gpu.Disagreement{Differences: []gpu.Difference{
		{Buffer: "y", Elements: 1024, Count: 3, Index: []int64{17}, GPU: "0.5 (0x3f000000)", Machine: "0.25 (0x3e800000)"},
	}}
	fmt.Println(err)
	// Output: y: 3 of 1024 elements differ, first at [17]: the GPU has 0.5 (0x3f000000), the machine 0.25 (0x3e800000)
}

func ExampleDevice_RunCall() {
	d, err := gpu.Open()
	check(err)
	defer d.Close()
	x := []float32{1, 2, 3}
	call, err := scale().Call(kernel.Grid(1), x, len(x), 10)
	check(err)
	r, err := d.RunCall(context.Background(), call, gpu.Options{})
	check(err)
	fmt.Println(x, r.Time, r.Registers)
}

// A worker process for launches that may hang or fault.
func ExampleApart() {
	gpu.Worker() // first in main
	var apart gpu.Apart
	defer apart.Close()
	for _, name := range []string{"ring.json", "hangs.json", "faults.json"} {
		file, err := launch.ReadFile(name)
		check(err)
		r, err := apart.Run(context.Background(), file, gpu.Options{Timeout: time.Second})
		fmt.Println(name, r, err)
	}
}

// The data stay on the GPU: a Buffer is an argument like a slice.
func ExampleBuffer() {
	ctx := context.Background()
	d, err := gpu.Open()
	check(err)
	defer d.Close()
	x, err := gpu.Upload(d, []float32{1, 2, 3})
	check(err)
	defer x.Close()
	call, err := scale().Call(kernel.Grid(1), x, x.Len(), 10)
	check(err)
	p, err := d.PrepareCall(call, gpu.Options{})
	check(err)
	defer p.Close()
	for range 3 {
		check(p.Launch())
	}
	y, err := x.Download(ctx)
	check(err)
	fmt.Println(y) // [1000 2000 3000]
}

// Asynchronous copies and launches, in the order of a stream.
func ExampleStream() {
	ctx := context.Background()
	d, err := gpu.Open()
	check(err)
	defer d.Close()
	s, err := d.NewStream()
	check(err)
	x, err := gpu.Alloc[float32](d, 1024)
	check(err)
	h, err := gpu.AllocHost[float32](d, 1024)
	check(err)
	call, err := scale().Call(kernel.Grid(8), x, x.Len(), 2)
	check(err)
	p, err := d.PrepareCall(call, gpu.Options{})
	check(err)
	h.Slice()[0] = 21
	check(x.CopyFrom(s, h))
	check(p.LaunchOn(s))
	check(x.CopyTo(s, h))
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	check(s.Synchronize(ctx)) // returns an error when ctx ends, if the kernel hangs
	fmt.Println(h.Slice()[0]) // 42
}

// Copies between host memory and the GPU proceed while the program runs.
func ExampleHost() {
	d, err := gpu.Open()
	check(err)
	defer d.Close()
	h, err := gpu.AllocHost[uint16](d, 1<<20)
	check(err)
	defer h.Close()
	for i := range h.Slice() {
		h.Slice()[i] = kernel.F16Bits(float32(i))
	}
	s, err := d.NewStream()
	check(err)
	x, err := gpu.Alloc[uint16](d, len(h.Slice()))
	check(err)
	check(x.CopyFrom(s, h))
	check(s.Synchronize(context.Background()))
}

// One stream waits for another, and the GPU's clock measures the time.
func ExampleEvent() {
	ctx := context.Background()
	d, err := gpu.Open()
	check(err)
	defer d.Close()
	first, err := d.NewStream()
	check(err)
	second, err := d.NewStream()
	check(err)
	begin, err := d.NewEvent()
	check(err)
	end, err := d.NewEvent()
	check(err)
	x := make([]float32, 1000)
	call, err := scale().Call(kernel.Grid(8), x, len(x), 10)
	check(err)
	p, err := d.PrepareCall(call, gpu.Options{})
	check(err)
	check(first.Record(begin))
	check(p.LaunchOn(first))
	check(first.Record(end))
	check(second.WaitFor(end))
	check(p.LaunchOn(second))
	check(second.Synchronize(ctx))
	took, err := end.Since(begin)
	check(err)
	fmt.Println("the first launch took", took)
}

// A sequence of work is launched as one, repeatedly.
func ExampleGraph() {
	ctx := context.Background()
	d, err := gpu.Open()
	check(err)
	defer d.Close()
	s, err := d.NewStream()
	check(err)
	x, err := gpu.Upload(d, []float32{1, 2, 3})
	check(err)
	call, err := scale().Call(kernel.Grid(1), x, x.Len(), 2)
	check(err)
	p, err := d.PrepareCall(call, gpu.Options{})
	check(err)
	defer p.Close()
	g, err := s.Capture(func() error {
		for range 10 {
			if err := p.LaunchOn(s); err != nil {
				return err
			}
		}
		return nil
	})
	check(err)
	defer g.Close()
	for range 100 {
		check(g.Launch(s))
	}
	check(s.Synchronize(ctx))
}
