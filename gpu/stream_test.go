package gpu

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"testing"
	"time"

	"muster/kernel"
	"muster/launch"
)

func TestElements(t *testing.T) {
	type half uint16
	got := []launch.Type{elementOf[int8](), elementOf[int16](), elementOf[int32](), elementOf[int64](), elementOf[uint8](), elementOf[half](),
		elementOf[uint32](), elementOf[uint64](), elementOf[float32](), elementOf[float64]()}
	want := []launch.Type{launch.S8, launch.S16, launch.S32, launch.S64, launch.U8, launch.U16, launch.U32, launch.U64, launch.F32, launch.F64}
	if !reflect.DeepEqual(got, want) {
		t.Error(got)
	}
}

// TestClosed: using a closed object is an error, and closing it again is not.
func TestClosed(t *testing.T) {
	d := &Device{closed: true}
	s, e, b, h, g := &Stream{dev: d}, &Event{dev: d}, &Buffer[int32]{dev: d}, &Host[int32]{dev: d}, &Graph{dev: d}
	ctx := t.Context()
	_, since := e.Since(e)
	_, nodes := g.Nodes()
	_, part := b.Part(0, 1)
	_, down := b.Download(ctx)
	_, alloc := Alloc[int32](d, 1)
	_, host := AllocHost[int32](d, 1)
	_, captured := s.Capture(func() error { return nil })
	_, stream := d.NewStream()
	_, event := d.NewEvent()
	_, prepared := d.Prepare(nil, Options{})
	for i, err := range []error{s.Synchronize(ctx), s.Record(e), s.WaitFor(e), e.Synchronize(ctx), since, b.Write(ctx, nil), b.Read(ctx, nil), part, down,
		b.CopyFrom(s, h), b.CopyTo(s, h), nodes, g.Launch(s), captured, alloc, host, stream, event, prepared, d.Synchronize(ctx), (&Prepared{dev: d}).Launch(), (&Prepared{dev: d}).LaunchOn(s), (&Prepared{dev: d}).Wait(ctx)} {
		if err == nil {
			t.Error(i, "worked")
		}
	}
	for i, err := range []error{s.Close(), e.Close(), b.Close(), h.Close(), g.Close(), d.Close()} {
		if err != nil {
			t.Error(i, err)
		}
	}
	if at, n, _ := b.Device(); at != 0 || n != 0 || h.Slice() != nil {
		t.Error(at, n)
	}
}

// TestBuffers: every element type is copied to the GPU and back.
func TestBuffers(t *testing.T) {
	d := open(t)
	there(t, d, []int8{-1, 2})
	there(t, d, []uint16{1, 65535, 3})
	there(t, d, []int64{-1 << 62, 5})
	there(t, d, []float32{1.5})
	there(t, d, []float64{-0.25, 1e300})
	b := must(Alloc[int32](d, 3))(t)
	if got, err := b.Download(t.Context()); err != nil || !reflect.DeepEqual(got, make([]int32, 3)) {
		t.Error(got, err)
	}
	if b.Write(t.Context(), []int32{1}) == nil || b.Read(t.Context(), make([]int32, 4)) == nil {
		t.Error("other lengths were copied")
	}
	for _, ends := range [][2]int{{-1, 2}, {0, 4}, {2, 2}} {
		if _, err := b.Part(ends[0], ends[1]); err == nil {
			t.Error(ends)
		}
	}
	for _, n := range []int{0, -1, 1 << 61, 1 << 45} {
		if _, err := Alloc[int32](d, n); err == nil {
			t.Error(n, "elements were allocated")
		}
	}
}

func there[T Number](t *testing.T, d *Device, s []T) {
	t.Helper()
	b := must(Upload(d, s))(t)
	if got, err := b.Download(t.Context()); err != nil || !reflect.DeepEqual(got, s) {
		t.Error(got, err)
	}
	part := must(b.Part(len(s)-1, len(s)))(t)
	if got, err := part.Download(t.Context()); err != nil || got[0] != s[len(s)-1] {
		t.Error(got, err)
	}
	if err := errors.Join(part.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if _, err := b.Download(t.Context()); err == nil {
		t.Error("a closed buffer was read")
	}
}

// TestStreams: two streams, one waiting for an event of the other, with asynchronous
// copies; and a time between two events.
func TestStreams(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	const n = 1 << 20
	s1, s2 := must(d.NewStream())(t), must(d.NewStream())(t)
	in, out := must(AllocHost[float32](d, n))(t), must(AllocHost[float32](d, n))(t)
	copy(in.Slice(), iota32(n))
	x, y := must(Alloc[float32](d, n))(t), must(Alloc[float32](d, n))(t)
	p := must(d.PrepareCall(call(t, axpy(t), kernel.Grid(n/128), x, y, n, 1), Options{}))(t)
	defer p.Close()
	begin, copied, end := must(d.NewEvent())(t), must(d.NewEvent())(t), must(d.NewEvent())(t)
	if _, err := end.Since(begin); err == nil {
		t.Error("events that were not recorded have a time")
	}
	do(t, s1.Record(begin), x.CopyFrom(s1, in), s1.Record(copied))
	do(t, s2.WaitFor(copied), p.LaunchOn(s2), p.LaunchOn(s2), y.CopyTo(s2, out), s2.Record(end))
	do(t, end.Synchronize(ctx), s2.Synchronize(ctx))
	for i, v := range out.Slice() {
		if v != 2*float32(i) {
			t.Fatal(i, v)
		}
	}
	took, err := end.Since(begin)
	if err != nil || took <= 0 || took > time.Minute {
		t.Error(took, err)
	}
	if other := must(AllocHost[float32](d, 3))(t); x.CopyFrom(s1, other) == nil {
		t.Error("another length was copied")
	}
	do(t, s1.Close(), s2.Close(), in.Close(), out.Close(), x.Close(), y.Close(), begin.Close(), end.Close(), copied.Close())
	if s1.Record(begin) == nil || p.LaunchOn(s1) == nil {
		t.Error("a closed stream was used")
	}
}

func do(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestGraph: copies and launches on two streams become one graph, and each launch of
// it reads the current host memory. Clusters go through cuLaunchKernelEx.
func TestGraph(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	s, side := must(d.NewStream())(t), must(d.NewStream())(t)
	k := kernel.New("ranks", kernel.Block(32), kernel.Clusters(2))
	p := k.GlobalPtr("out", kernel.U32)
	k.If(k.TidX().Eq(0), func() { p.At(k.CtaidX()).Store(p.At(k.CtaidX()).Load().Add(k.CtaidX().And(1)).Add(1)) })
	const n = 8
	in, out := must(AllocHost[uint32](d, n))(t), must(AllocHost[uint32](d, n))(t)
	b := must(Alloc[uint32](d, n))(t)
	r := must(d.PrepareCall(call(t, k, kernel.Grid(n), b), Options{}))(t)
	defer r.Close()
	fork, join := must(d.NewEvent())(t), must(d.NewEvent())(t)
	g, err := s.Capture(func() error {
		return errors.Join(b.CopyFrom(s, in), s.Record(fork), side.WaitFor(fork), r.LaunchOn(side), r.LaunchOn(side), side.Record(join), s.WaitFor(join), b.CopyTo(s, out))
	})
	if err != nil {
		t.Fatal(err)
	}
	if nodes, err := g.Nodes(); nodes != 4 || err != nil {
		t.Error(nodes, err)
	}
	for round := range uint32(3) {
		for i := range in.Slice() {
			in.Slice()[i] = 100 * round
		}
		do(t, g.Launch(s), s.Synchronize(ctx))
		for i, v := range out.Slice() {
			if want := 100*round + 2 + 2*uint32(i&1); v != want {
				t.Fatal(round, out.Slice())
			}
		}
	}
	do(t, g.Close(), g.Close())
	if g.Launch(s) == nil {
		t.Error("a closed graph was launched")
	}
	mine := errors.New("mine")
	if _, err := s.Capture(func() error { return mine }); !errors.Is(err, mine) {
		t.Error(err)
	}
	// A wait inside a capture is an error, not a hang; the device stays usable.
	if _, err := s.Capture(func() error { return s.Synchronize(ctx) }); err == nil {
		t.Error("a capture waited")
	}
	do(t, r.LaunchOn(s), s.Synchronize(ctx))
}

// TestHangOnStream: if a kernel hangs, a call that waits returns when its context
// ends, and later calls report the hang.
func TestHangOnStream(t *testing.T) {
	if os.Getenv("MUSTER_GPU_HANG") == "" {
		open(t)
		// The kernel ends only with its process, so the test uses another process.
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHangOnStream$", "-test.v")
		cmd.Env = append(os.Environ(), "MUSTER_GPU_HANG=1")
		begin := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Log("another process ended after", time.Since(begin))
		return
	}
	d := open(t)
	s := must(d.NewStream())(t)
	b := must(Alloc[uint32](d, 1))(t)
	k := kernel.New("spin", kernel.Block(1))
	p := k.GlobalPtr("flag", kernel.U32)
	k.Loop(func() {
		v := k.Var(kernel.U32)
		k.Inst("ld.volatile.global.u32", v, p)
		k.BreakIf(v.Ne(0))
	})
	r := must(d.PrepareCall(call(t, k, kernel.Grid(1), b), Options{}))(t)
	do(t, r.LaunchOn(s))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := s.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for i, err := range []error{s.Synchronize(t.Context()), r.LaunchOn(s), b.Close(), s.Close()} {
		if !errors.Is(err, errStuck) {
			t.Error(i, err)
		}
	}
	r.Close()
	do(t, d.Close())
}

// BenchmarkLaunch times a launch of an empty kernel, on a stream and in a graph.
func BenchmarkLaunch(b *testing.B) {
	d, err := Open()
	if err != nil {
		b.Skip(err)
	}
	defer d.Close()
	s, err := d.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	k := kernel.New("empty", kernel.Block(32))
	c, err := k.Call(kernel.Grid(1))
	if err != nil {
		b.Fatal(err)
	}
	p, err := d.PrepareCall(c, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	const many = 100
	launches := func() error {
		for range many {
			if err := p.LaunchOn(s); err != nil {
				return err
			}
		}
		return nil
	}
	g, err := s.Capture(launches)
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	for _, way := range []struct {
		name string
		do   func() error
	}{{"stream", launches}, {"graph", func() error { return g.Launch(s) }}} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			var put time.Duration
			for b.Loop() {
				begin := time.Now()
				if err := way.do(); err != nil {
					b.Fatal(err)
				}
				put += time.Since(begin)
				if err := s.Synchronize(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(put.Nanoseconds())/float64(b.N*many), "ns-put/launch")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*many), "ns-done/launch")
		})
	}
}
