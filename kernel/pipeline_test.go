package kernel_test

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"muster"
	"muster/kernel"
)

const (
	ringStages = 4
	ringTile   = 256
	ringTiles  = 10
)

// A ringSide holds the steps of the ring that tests can break.
type ringSide struct {
	empties int                                               // arrivals that Empty counts
	init    func(k *kernel.Kernel, p *kernel.Pipeline)        // of the barriers
	acquire func(k *kernel.Kernel, p *kernel.Pipeline) func() // waits for a free slot
	release func(k *kernel.Kernel, c *kernel.Consumer)        // of one warp
}

// ring is a producer warp that copies tiles into a ring of four slots, and four
// consumer warps that add them up: out[t] is the sum over all tiles of elements
// t and t+128.
func ring(side ringSide) *kernel.Kernel {
	k := kernel.New("ring", kernel.Block(160))
	in := k.GlobalPtr("in", kernel.F32, 16)
	out := k.GlobalPtr("out", kernel.F32)
	tiles := k.Param("tiles", kernel.U32)
	slots := k.SharedAlign("slots", 128, kernel.F32, ringStages, ringTile)
	p := k.Pipeline("ring", ringStages, 1, side.empties)
	side.init(k, p)
	k.SingleWarp(0, func() {
		k.Elect(func() {
			prod := p.Producer()
			acquire := func() { prod.Acquire() }
			if side.acquire != nil {
				acquire = side.acquire(k, p)
			}
			k.For(0, tiles, 1, func(i kernel.Reg) {
				acquire()
				prod.Expect(4 * ringTile)
				k.BulkLoad(slots.At(prod.Stage), in.At(i.Mul(ringTile)), 4*ringTile, prod.Full())
				prod.Advance()
			})
		})
	})
	k.Warps(1, 4, func() {
		cons := p.Consumer()
		t := k.ThreadIndex()
		sum := k.Const(kernel.F32, 0)
		k.For(0, tiles, 1, func(kernel.Reg) {
			cons.Wait()
			slot := slots.At(cons.Stage)
			sum.Set(sum.Add(slot.At(t).Load().Add(slot.At(t.Add(128)).Load())))
			k.EachWarp(func() { side.release(k, cons) })
			cons.Advance()
		})
		out.At(t).Store(sum)
	})
	return k
}

func initRing(k *kernel.Kernel, _ *kernel.Pipeline) { k.InitMbarriers() }

// releaseWarp makes one lane release for its warp. The fence orders the lanes'
// reads before the copy that overwrites them.
func releaseWarp(k *kernel.Kernel, c *kernel.Consumer) {
	k.Sync()
	k.Elect(func() {
		k.FenceProxyAsync(kernel.SharedCTA)
		c.Release()
	})
}

func ringCall(t *testing.T, k *kernel.Kernel) (*kernel.Call, []float32, []float32) {
	t.Helper()
	in := make([]float32, ringTiles*ringTile)
	for i := range in {
		in[i] = float32(i)
	}
	out := make([]float32, 128)
	call, err := k.Call(kernel.Grid(1), in, kernel.Uninitialized(out), ringTiles)
	if err != nil {
		t.Fatal(err)
	}
	return call, in, out
}

func check(t *testing.T, call *kernel.Call) *muster.Report {
	t.Helper()
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRing(t *testing.T) {
	k := ring(ringSide{empties: 4, init: initRing, release: releaseWarp})
	call, in, out := ringCall(t, k)
	r := check(t, call)
	if r.Verdict != "clean" || r.Proof == nil || !r.Proof.All || len(r.Findings) > 0 {
		t.Errorf("%s", r.Summary)
		for _, f := range r.Findings {
			t.Errorf("%s %s %+v", f.Kind, f.Headline, f.Sites)
		}
	}
	run(t, call)
	for i, got := range out {
		var want float32
		for tile := range ringTiles {
			want += in[tile*ringTile+i] + in[tile*ringTile+i+128]
		}
		if got != want || math.IsNaN(float64(got)) {
			t.Fatalf("out[%d] = %v, want %v", i, got, want)
		}
	}
}

// TestRingOfAnyLength: the ring is proven for every number of tiles, not only
// for the ten of the launch.
func TestRingOfAnyLength(t *testing.T) {
	call, _, _ := ringCall(t, ring(ringSide{empties: 4, init: initRing, release: releaseWarp}))
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	const tiles = 3 // the argument
	r, err := l.CheckAny(context.Background(), muster.CheckOptions{Jobs: 1}, tiles)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "clean" || r.Proof.Any == nil || !r.Proof.Any.Holds || len(r.Proof.Any.Unproven) > 0 {
		t.Errorf("%s: %+v", r.Summary, r.Proof.Any)
	}
}

// run executes a call once and takes its results.
func run(t *testing.T, call *kernel.Call) {
	t.Helper()
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := call.Take(r.Buffer); err != nil {
		t.Fatal(err)
	}
}

// TestRingMistakes breaks the ring with common mistakes. Each is found, and the
// finding names the line of this file.
func TestRingMistakes(t *testing.T) {
	right := ringSide{empties: 4, init: initRing, release: releaseWarp}
	tests := []struct {
		name string
		edit func(s *ringSide)
		kind string
		text string // of a line here that the finding names
	}{
		{"producer begins with parity 0", func(s *ringSide) {
			s.acquire = func(k *kernel.Kernel, p *kernel.Pipeline) func() {
				at := k.Stages(ringStages, kernel.ConsumerParity)
				return func() {
					p.Empty.At(at.Index).WaitParity(at.Parity) // parity 0
					at.Advance()
				}
			}
		}, "never-completes", "// parity 0"},
		{"nobody releases", func(s *ringSide) {
			s.release = func(k *kernel.Kernel, c *kernel.Consumer) {}
		}, "never-completes", "func() { prod.Acquire() }"},
		{"too many arrivals are awaited", func(s *ringSide) {
			s.empties = 5
		}, "never-completes", "func() { prod.Acquire() }"},
		{"all lanes arrive", func(s *ringSide) {
			s.release = func(k *kernel.Kernel, c *kernel.Consumer) {
				c.Release() // each lane
			}
		}, "arrivals-excess", "// each lane"},
		{"barriers are initialized and nobody waits for it", func(s *ringSide) {
			s.init = func(k *kernel.Kernel, p *kernel.Pipeline) {
				k.SingleThread(func() {
					for i := range ringStages {
						p.Full.At(i).Init(1) // init of full
						p.Empty.At(i).Init(4)
					}
				})
			}
		}, "init-not-ordered", "// init of full"},
		{"a warp's lanes do not wait for each other before one releases", func(s *ringSide) {
			s.release = func(k *kernel.Kernel, c *kernel.Consumer) {
				k.Elect(func() {
					k.FenceProxyAsync(kernel.SharedCTA)
					c.Release()
				})
			}
		}, "race-lanes", "sum.Set(sum.Add("},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			side := right
			test.edit(&side)
			call, _, _ := ringCall(t, ring(side))
			r := check(t, call)
			if r.Verdict != "findings" {
				t.Fatalf("%s", r.Summary)
			}
			line := lineOf(t, "pipeline_test.go", test.text)
			for _, f := range r.Findings {
				t.Log(f.Kind, f.Headline)
				if f.Kind == test.kind && names(f, "pipeline_test.go", line) {
					return
				}
			}
			t.Errorf("no %s that names pipeline_test.go:%d", test.kind, line)
		})
	}
}

// names reports whether a finding names a line, by .loc.
func names(f muster.Finding, file string, line int) bool {
	sites := f.Sites
	for _, w := range f.Waiting {
		sites = append(sites, w.Site)
	}
	for _, s := range sites {
		for _, p := range s.Source {
			if p.Line == line && strings.HasSuffix(p.File, file) {
				return true
			}
		}
	}
	return false
}

// lineOf returns the number of the only line of a file that contains a text,
// other than in quotes.
func lineOf(t *testing.T, file, text string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i, line := range strings.Split(string(data), "\n") {
		if strings.Contains(line, text) && !strings.Contains(line, `"`+text) {
			if at > 0 {
				t.Fatalf("%q is in lines %d and %d", text, at, i+1)
			}
			at = i + 1
		}
	}
	if at == 0 {
		t.Fatalf("%q is not in %s", text, file)
	}
	return at
}
