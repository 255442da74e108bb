package machine

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"muster/ptx"
)

// TestDominators holds dominators to what the word means: without the node, no way
// leads there.
func TestDominators(t *testing.T) {
	for seed := range int64(2000) {
		rng := rand.New(rand.NewSource(seed))
		n := 1 + rng.Intn(12)
		out, in := make([][]int32, n), make([][]int32, n)
		for range rng.Intn(2 * n) {
			a, b := rng.Int31n(int32(n)), rng.Int31n(int32(n))
			out[a], in[b] = append(out[a], b), append(in[b], a)
		}
		root := rng.Int31n(int32(n))
		last := dominators(root, out, in)
		free := reachedWithout(out, root, -1)
		for i := range int32(n) {
			var want, got []int32
			for d := range int32(n) {
				if free[i] && d != i && !reachedWithout(out, root, d)[i] {
					want = append(want, d)
				}
			}
			for d := last[i]; d >= 0; d = last[d] {
				got = append(got, d)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("edges %v from %d: ways to %d all pass %v, want %v", out, root, i, got, want)
			}
		}
	}
}

func reachedWithout(out [][]int32, root, without int32) []bool {
	ok := make([]bool, len(out))
	var visit func(n int32)
	visit = func(n int32) {
		if n != without && !ok[n] {
			ok[n] = true
			for _, to := range out[n] {
				visit(to)
			}
		}
	}
	visit(root)
	return ok
}

// TestLive has both ways to find what is live agree, on random functions.
func TestLive(t *testing.T) {
	for seed := range int64(300) {
		rng := rand.New(rand.NewSource(seed))
		var b strings.Builder
		b.WriteString(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .pred %p<4>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n")
		n := 3 + rng.Intn(20)
		for i := range n {
			fmt.Fprintf(&b, "L%d: ", i)
			if rng.Intn(4) == 0 {
				fmt.Fprintf(&b, "@%%p%d ", rng.Intn(4))
			}
			x := func() int { return rng.Intn(6) }
			switch rng.Intn(5) {
			case 0:
				fmt.Fprintf(&b, "bra L%d;\n", rng.Intn(n))
			case 1:
				fmt.Fprintf(&b, "setp.eq.u32 %%p%d, %%r%d, %%r%d;\n", rng.Intn(4), x(), x())
			case 2:
				fmt.Fprintf(&b, "add.u32 %%r%d, %%r%d, %%r%d;\n", x(), x(), x())
			case 3:
				fmt.Fprintf(&b, "ld.shared.u32 %%r%d, [%%r%d];\n", x(), x())
			case 4:
				fmt.Fprintf(&b, "cvt.u64.u32 %%rd%d, %%r%d;\n", rng.Intn(3), x())
			}
		}
		b.WriteString("ret; }\n")
		m, err := ptx.Parse("k", []byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(m, "")
		if err != nil {
			t.Fatal(err)
		}
		everywhere := p.graph(0)
		for _, r := range everywhere.regs {
			for at := range int32(len(everywhere.next)) {
				g := p.control(0)
				if live, ok := g.look(at, r); !ok || live != everywhere.isLive(at, r) {
					t.Fatalf("%s\nregister %x before node %d: %v (%v), everywhere %v", b.String(), r, at, live, ok, !live)
				}
				if g.steps = 0; g.isLive(at, r) != everywhere.isLive(at, r) {
					t.Fatalf("%s\nregister %x before node %d without steps", b.String(), r, at)
				}
			}
		}
	}
}
