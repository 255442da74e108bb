package kernel_test

import (
	"slices"
	"strings"
	"testing"

	"muster/kernel"
)

// TestSyncKind checks what Sync emits for each kind of group.
func TestSyncKind(t *testing.T) {
	k := kernel.New("kinds", kernel.Block(160))
	var got []string
	sync := func() { got = append(got, k.Sync().String()) }
	sync()
	k.SingleThread(sync)
	k.SingleWarp(2, sync)
	k.Threads(40, 8, sync)
	k.Warps(0, 4, func() {
		sync()
		k.Warps(2, 2, sync)
	})
	k.Threads(64, 64, sync)
	k.Threads(30, 4, func() { k.Threads(0, 2, sync) })
	k.Warps(1, 4, func() { k.EachWarp(sync) })
	k.EachWarp(func() {
		k.Threads(8, 8, sync)
		k.Elect(sync)
	})
	want := []string{"bar.sync 0", "nothing", "bar.warp.sync 0xffffffff", "bar.warp.sync 0xff00",
		"bar.sync 1, 128", "bar.sync 2, 64", "bar.sync 2, 64", "bar.warp.sync 0xc0000000",
		"bar.warp.sync 0xffffffff", "bar.warp.sync 0xff00", "nothing"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	text, err := k.Text()
	if err != nil {
		t.Fatal(err)
	}
	for op, n := range map[string]int{"bar.sync \t": 0, "bar.sync ": 4, "bar.warp.sync ": 5, "elect.sync ": 1} {
		if strings.Count(text, op) != n {
			t.Errorf("%q %d times, want %d:\n%s", op, strings.Count(text, op), n, text)
		}
	}
}

// TestPartialWarp synchronizes groups of a CTA whose last warp is not full.
func TestPartialWarp(t *testing.T) {
	tests := []struct {
		threads int
		in      func(k *kernel.Kernel, body func())
		want    string
	}{
		{80, func(k *kernel.Kernel, body func()) { body() }, "bar.sync 0"},
		{80, func(k *kernel.Kernel, body func()) { k.Warps(1, 2, body) }, "bar.sync 1, 64"},
		{80, func(k *kernel.Kernel, body func()) { k.SingleWarp(2, body) }, "bar.warp.sync 0xffff"},
		{16, func(k *kernel.Kernel, body func()) { body() }, "bar.warp.sync 0xffff"},
		{32, func(k *kernel.Kernel, body func()) { body() }, "bar.warp.sync 0xffffffff"},
		{1, func(k *kernel.Kernel, body func()) { body() }, "nothing"},
	}
	for _, test := range tests {
		k := kernel.New("partial", kernel.Block(test.threads))
		out := k.GlobalPtr("out", kernel.U32)
		words := k.Shared("words", kernel.U32, test.threads)
		i := k.TidX()
		words.At(i).Store(i)
		kind := ""
		test.in(k, func() {
			kind = k.Sync().String()
			g := k.Group()
			other := k.Const(kernel.U32, 2*g.First+g.Threads-1).Sub(i)
			out.At(i).Store(words.At(other).Load())
		})
		if kind != test.want {
			t.Errorf("%d threads: %s, want %s", test.threads, kind, test.want)
		}
		call, err := k.Call(kernel.Grid(1), make([]uint32, test.threads))
		if err != nil {
			t.Fatal(err)
		}
		if r := check(t, call); r.Verdict != "clean" || !r.Proof.All {
			t.Errorf("%d threads, %s: %s", test.threads, kind, r.Summary)
		}
	}
}

// TestGroupRanges makes threads record their index in a group, and compares with
// the ranges computed in Go.
func TestGroupRanges(t *testing.T) {
	type span struct{ first, n int }
	for _, block := range [][]int{{192}, {16, 12}, {4, 6, 8}} {
		for _, outer := range []span{{0, 192}, {32, 128}, {1, 1}, {17, 90}, {191, 1}, {0, 96}, {96, 96}} {
			for _, inner := range []span{{0, 1}, {0, outer.n}, {outer.n - 1, 1}, {outer.n / 3, (outer.n + 1) / 2}} {
				k := kernel.New("ranges", kernel.Block(block[0], block[1:]...))
				out := k.GlobalPtr("out", kernel.U32)
				i := k.ThreadIndex()
				mark := k.Const(kernel.U32, 0)
				k.Threads(outer.first, outer.n, func() {
					k.Threads(inner.first, inner.n, func() { mark.Set(k.ThreadIndex().Add(1)) })
				})
				out.At(i).Store(mark)
				got := make([]uint32, 192)
				call, err := k.Call(kernel.Grid(1), got)
				if err != nil {
					t.Fatal(err)
				}
				run(t, call)
				for i := range got {
					want := 0
					if at := i - outer.first - inner.first; at >= 0 && at < inner.n {
						want = at + 1
					}
					if int(got[i]) != want {
						t.Fatalf("block %v, %v in %v: thread %d has %d, want %d", block, inner, outer, i, got[i], want)
					}
				}
			}
		}
	}
}

// TestIndexOfOne: the only thread of a group has index 0, elected or not.
func TestIndexOfOne(t *testing.T) {
	k := kernel.New("one", kernel.Block(64))
	out := k.GlobalPtr("out", kernel.U32)
	k.SingleWarp(1, func() {
		k.Elect(func() { out.At(0).Store(k.ThreadIndex().Add(1)) })
		k.Threads(5, 1, func() { out.At(1).Store(k.ThreadIndex().Add(1)) })
	})
	got := make([]uint32, 2)
	call, err := k.Call(kernel.Grid(1), got)
	if err != nil {
		t.Fatal(err)
	}
	run(t, call)
	if got[0] != 1 || got[1] != 1 {
		t.Error(got)
	}
}

// TestDivergentSync: only some threads of a group reach its Sync. Build cannot
// detect that; a check has a finding at the line.
func TestDivergentSync(t *testing.T) {
	k := kernel.New("divergent", kernel.Block(128))
	k.Warps(0, 2, func() {
		k.If(k.ThreadIndex().Lt(40), func() {
			k.Sync() // not all threads
		})
	})
	k.Sync()
	call, err := k.Call(kernel.Grid(1))
	if err != nil {
		t.Fatal(err)
	}
	r := check(t, call)
	line := lineOf(t, "group_test.go", "// not all threads")
	for _, f := range r.Findings {
		if f.Severity == "error" && names(f, "group_test.go", line) {
			return
		}
	}
	t.Errorf("no finding names line %d: %s %+v", line, r.Summary, r.Findings)
}
