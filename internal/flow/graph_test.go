package flow

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/ptx"
)

// TestDominators checks dominators against the definition: without the dominator no
// path reaches the node.
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
				t.Fatalf("edges %v from %d: paths to %d all pass %v, want %v", out, root, i, got, want)
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
		p := &Program{Funcs: []Func{function(m)}}
		everywhere := p.Graph(0)
		for _, r := range everywhere.regs {
			for at := range int32(len(everywhere.Next)) {
				g := newGraph(&p.Funcs[0])
				if live, ok := g.look(at, r); !ok || live != everywhere.IsLive(at, r) {
					t.Fatalf("%s\nregister %x before node %d: %v (%v), everywhere %v", b.String(), r, at, live, ok, !live)
				}
				if g.steps = 0; g.IsLive(at, r) != everywhere.IsLive(at, r) {
					t.Fatalf("%s\nregister %x before node %d without steps", b.String(), r, at)
				}
			}
		}
	}
}

// function makes a function of a kernel whose instructions name registers of one class
// each by a number, and write their first operand; labels are L0, L1 and so on.
func function(m *ptx.Module) Func {
	f := Func{Rows: [...]int32{Word: 6, Wide: 3, Predicate: 4, Carry: 1}}
	labels := map[string]int32{}
	reg := func(name string) Reg {
		for _, c := range []struct {
			prefix string
			class  Class
		}{{"%rd", Wide}, {"%r", Word}, {"%p", Predicate}} {
			if digits, ok := strings.CutPrefix(name, c.prefix); ok {
				n, _ := strconv.Atoi(digits)
				return RegOf(0, c.class, int32(n))
			}
		}
		return NoReg
	}
	for _, it := range m.Items {
		k, ok := it.(*ptx.Func)
		if !ok {
			continue
		}
		for _, s := range k.Body.Stmts {
			switch s := s.(type) {
			case *ptx.Label:
				labels[s.Name] = int32(len(f.Uses))
			case *ptx.Inst:
				u := Use{PC: int32(len(f.Uses)), In: s, Guard: NoReg, Plain: !s.Effect().Has(ptx.Branches | ptx.Exits | ptx.Returns)}
				if s.Guard != nil {
					u.Guard = reg(s.Guard.Reg)
				}
				for i, op := range s.Operands {
					if mem, ok := op.(*ptx.Mem); ok {
						u.Addr = append(u.Addr, reg(string(mem.Base.(ptx.Name))))
					} else if r := reg(string(op.(ptx.Name))); r != NoReg && i == 0 {
						u.Writes = append(u.Writes, r)
					} else if r != NoReg {
						u.Reads = append(u.Reads, r)
					}
				}
				f.Uses = append(f.Uses, u)
			}
		}
	}
	for i := range f.Uses {
		if u := &f.Uses[i]; u.Does(ptx.Branches) {
			u.Target = labels[string(u.In.Operands[0].(ptx.Name))]
		}
	}
	return f
}
