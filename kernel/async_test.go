package kernel_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/kernel"
)

// finds checks a call and requires a finding of a kind, or a proof of every
// schedule if the kind is "".
func finds(t *testing.T, kind string, call *kernel.Call, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, f := range r.Findings {
		kinds = append(kinds, f.Kind)
	}
	switch {
	case kind == "" && !strings.HasPrefix(r.Summary, "clean: all schedules"):
		t.Errorf("%s %v", r.Summary, kinds)
	case kind != "" && !slices.Contains(kinds, kind):
		t.Errorf("want %s: %s %v", kind, r.Summary, kinds)
	}
}

// A part is a step of a kernel that a test leaves out or changes.
type part struct {
	without string // the step's name in the kernel
	kind    string // the finding that results
}

// broken checks a kernel whole, and without each of its steps. The kernel has a
// parameter for 64 words out and one for 64 words in, and clusters if ctas is
// above 1.
func broken(t *testing.T, ctas int, parts []part, body func(k *kernel.Kernel, out, in kernel.Ptr, has func(step string) bool)) {
	t.Helper()
	for _, p := range append([]part{{"nothing", ""}}, parts...) {
		t.Run("without "+p.without, func(t *testing.T) {
			opts := []kernel.Option{kernel.Block(64)}
			if ctas > 1 {
				opts = append(opts, kernel.Clusters(ctas))
			}
			k := kernel.New("broken", opts...)
			out, in := k.GlobalPtr("out", kernel.U32, 16), k.GlobalPtr("in", kernel.U32, 16)
			asked := p.without == "nothing"
			body(k, out, in, func(step string) bool {
				asked = asked || step == p.without
				return step != p.without
			})
			if !asked {
				t.Errorf("the kernel has no step %q", p.without)
			}
			call, err := k.Call(kernel.Grid(ctas), make([]uint32, 64*ctas), make([]uint32, 64*ctas))
			finds(t, p.kind, call, err)
		})
	}
}

func TestBulkSteps(t *testing.T) {
	broken(t, 1, []part{
		{"wait for the load", "read-in-flight"},
		{"bytes of the second load", "bytes-early"},
		{"proxy fence", "proxy-raw"},
		{"sync before the store", "race-shared"},
		{"wait for the read", "overwrite-in-flight"},
	}, func(k *kernel.Kernel, out, in kernel.Ptr, has func(string) bool) {
		s := k.Shared("s", kernel.U32, 64)
		bar := k.Mbarrier("bar", 1)
		k.InitMbarriers()
		t := k.TidX()
		k.SingleThread(func() {
			bytes := 256
			if !has("bytes of the second load") {
				bytes = 128
			}
			bar.ArriveExpect(bytes)
			k.BulkLoad(s, in, 128, bar)
			k.BulkLoad(s.At(32), in.At(32), 128, bar)
		})
		if has("wait for the load") {
			bar.WaitParity(0)
		}
		v := s.At(t).Load()
		k.Sync()
		s.At(t).Store(v.Mul(2))
		if has("proxy fence") {
			k.FenceProxyAsync(kernel.SharedCTA)
		}
		if has("sync before the store") {
			k.Sync()
		}
		k.SingleThread(func() {
			k.BulkStore(out, s, 256)
			k.BulkCommit()
			if has("wait for the read") {
				k.BulkWaitRead(0)
			}
			s.At(0).Store(1)
		})
	})
}

func TestCpAsyncSteps(t *testing.T) {
	broken(t, 1, []part{
		{"wait", "read-in-flight"},
		{"commit", "read-in-flight"},
		{"sync", "read-in-flight"},
	}, func(k *kernel.Kernel, out, in kernel.Ptr, has func(string) bool) {
		s := k.Shared("s", kernel.U32, 64)
		t := k.TidX()
		k.CpAsync(s.At(t), in.At(t), 4)
		if has("commit") {
			k.CpAsyncCommit()
		}
		if has("wait") {
			k.CpAsyncWait(0)
		}
		if has("sync") {
			k.Sync()
		}
		out.At(t).Store(s.At(t.Xor(33)).Load())
	})
}

// TestTensorMapSteps leaves out each step between the change of a map and its use.
func TestTensorMapSteps(t *testing.T) {
	for _, p := range []part{{"nothing", ""}, {"acquire", "tensormap-stale"}, {"release", "tensormap-stale"}, {"wait", "read-in-flight"}} {
		t.Run("without "+p.without, func(t *testing.T) {
			k := kernel.New("map", kernel.Block(64))
			given, other := k.TensorMap("given"), k.GlobalPtr("other", kernel.U32, 16)
			out, memory := k.GlobalPtr("out", kernel.U32), k.GlobalPtr("memory", kernel.B8, 128)
			tile := k.SharedAlign("tile", 128, kernel.U32, 64)
			bar := k.Mbarrier("bar", 1)
			k.InitMbarriers()
			m := k.TensorMapAt(memory)
			k.SingleThread(func() {
				given.Copy(memory)
				m.ReplaceAddress(other)
				if p.without != "release" {
					k.FenceTensormapRelease(kernel.CTA)
				}
			})
			k.Sync()
			k.Threads(32, 1, func() {
				if p.without != "acquire" {
					k.FenceTensormapAcquire(memory, kernel.CTA)
				}
				bar.ArriveExpect(256)
				m.Load(tile, bar, kernel.Coords{0})
			})
			if p.without != "wait" {
				bar.WaitParity(0)
			}
			i := k.TidX()
			out.At(i).Store(tile.At(i).Load())
			words := make([]uint32, 64)
			call, err := k.Call(kernel.Grid(1), kernel.MapOf(words, kernel.U32, []int{64}, []int{64}), make([]uint32, 64), make([]uint32, 64), make([]uint8, 128))
			finds(t, p.kind, call, err)
		})
	}
}

// TestVersions: a kernel's PTX version is the lowest that its operations need.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		name, version string
		body          func(k *kernel.Kernel)
	}{
		{"tensor copies", ".version 8.0", func(k *kernel.Kernel) {
			tile, m, bar := tensor(k)
			m.Load(tile, bar, kernel.Coords{0}, kernel.Multicast(3), kernel.CacheHint(k.CachePolicy(kernel.EvictLast)))
			m.Store(kernel.Coords{0}, tile)
			m.Reduce(kernel.Add, kernel.Coords{0}, tile)
			k.FenceProxyAsync()
		}},
		{"asynchronous stores", ".version 8.1", func(k *kernel.Kernel) {
			s, _, bar := fixture(k)
			s.Remote(1).Cast(kernel.U32).StoreAsync(1, bar.Remote(1))
		}},
		{"changed maps", ".version 8.3", func(k *kernel.Kernel) {
			tile, _, _ := tensor(k)
			k.TensorMapAt(tile).ReplaceDim(0, 8)
		}},
		{"half fences", ".version 8.6", func(k *kernel.Kernel) { k.FenceRelease(kernel.GPU) }},
		{"restricted fences", ".version 8.6", func(k *kernel.Kernel) { k.FenceAcquireSync() }},
	} {
		k := kernel.New("version", kernel.Block(64), kernel.Clusters(2))
		c.body(k)
		text, err := k.Text()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if first, _, _ := strings.Cut(text, "\n"); first != c.version {
			t.Errorf("%s: %s, want %s", c.name, first, c.version)
		}
	}
}
