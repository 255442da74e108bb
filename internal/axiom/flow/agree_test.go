package flow_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"muster/internal/axiom"
	"muster/internal/axiom/flow"
)

var agree = flag.Uint64("axiom.agree", 200, "how many programs to compare the oracles on")

// TestSequentialIsAllowed holds that the axioms allow whatever an interleaving
// shows: the two enumerations share no semantics but that of a value's operation.
func TestSequentialIsAllowed(t *testing.T) {
	t.Parallel()
	finals, odd, free := 0, 0, 0
	for s := range *agree {
		p := flow.Generate(s)
		seq, err := p.Interleave(20_000)
		if err != nil {
			t.Fatal(err)
		}
		if race, _, _ := p.Races(20_000); race {
			continue // the other test has these
		}
		free++
		all, err := p.Allowed(20_000)
		if err != nil {
			t.Fatal(err)
		}
		if all.Cut {
			continue
		}
		if seq.Trap && !all.Trap || seq.Out && !all.Out || seq.Hang && !all.Hang {
			t.Errorf("program %d: interleavings %v %v %v, axioms %v %v %v", s, seq.Trap, seq.Out, seq.Hang, all.Trap, all.Out, all.Hang)
		}
		for m := range seq.Final {
			if finals++; !all.Final[m] {
				t.Errorf("program %d: the axioms do not allow the memory %x", s, m)
			}
		}
		odd += max(0, len(all.Final)-len(seq.Final))
	}
	t.Logf("%d programs without a race, %d final memories by interleavings, %d more by the axioms", free, finals, odd)
	if finals < int(*agree)/4 || odd == 0 {
		t.Errorf("%d final memories, %d that no interleaving leaves", finals, odd)
	}
}

// A twin is one straight line of accesses as a program of this package and as one
// of package axiom.
type twin struct {
	*rand.Rand
	flow *flow.Program
	ax   axiom.Program
}

func drawTwin(seed uint64) *twin {
	g := &twin{Rand: rand.New(rand.NewPCG(seed, 7))}
	n := 2 + g.IntN(2)
	cluster := 1 + g.IntN(2)
	g.flow = &flow.Program{Words: 8, CTAs: 4, Cluster: cluster}
	g.ax = axiom.Program{CTAs: 4, ClusterSize: cluster}
	cta := g.IntN(3)
	barrier := cta == 0 && g.IntN(3) == 0
	for i := range n {
		place := axiom.Place{CTA: min(i*cta, 3), Warp: i}
		th := axiom.Thread{Place: place}
		w := flow.Warp{CTA: place.CTA, Index: place.Warp}
		for phase := range 2 {
			if phase == 1 {
				if !barrier {
					break
				}
				th.Ops = append(th.Ops, axiom.Op{Kind: axiom.BarSync, Bar: 1})
				w.Steps = append(w.Steps, flow.Step{Kind: flow.Barrier})
			}
			w.Steps = append(w.Steps, flow.Step{Roles: []flow.Role{{Lanes: 1, Code: g.code(&th)}}})
		}
		g.ax.Threads = append(g.ax.Threads, th)
		g.flow.Warps = append(g.flow.Warps, w)
	}
	return g
}

func (g *twin) accesses() int {
	n := 0
	for _, th := range g.ax.Threads {
		n += len(th.Ops)
	}
	return n
}

func (g *twin) code(th *axiom.Thread) []flow.Instr {
	var code []flow.Instr
	var guard *axiom.Guard
	body := &code
	for range 1 + g.IntN(3) {
		at := g.IntN(2)
		o := axiom.Op{Loc: axiom.Loc{N: at}, Guard: guard, Scope: []axiom.Scope{axiom.CTA, axiom.Cluster, axiom.GPU, axiom.GPU}[g.IntN(4)], Value: uint32(1 + 2*len(g.ax.Threads) + g.IntN(2))}
		in := flow.Instr{Scope: o.Scope, At: flow.V(uint32(4 * at)), Src: []flow.Value{flow.V(o.Value)}}
		pick := func(s ...axiom.Sem) { o.Sem = s[g.IntN(len(s))] }
		r := len(th.Ops)
		switch g.IntN(7) {
		case 0, 1:
			o.Kind, in.Kind, in.Src, in.Dst = axiom.Load, flow.Load, nil, []int{r}
			pick(axiom.Weak, axiom.Relaxed, axiom.Acquire, axiom.Volatile)
		case 2, 3:
			o.Kind, in.Kind = axiom.Store, flow.Store
			pick(axiom.Weak, axiom.Relaxed, axiom.Release, axiom.Volatile)
		case 4:
			o.Kind, in.Kind, in.Dst, in.Op = axiom.Exch, flow.Atom, []int{r}, flow.Exch
			pick(axiom.Relaxed, axiom.Acquire, axiom.Release, axiom.AcqRel)
		case 5:
			o.Kind, in.Kind, in.Dst, in.Op = axiom.Add, flow.Atom, []int{r}, flow.Add
			if g.IntN(2) == 0 {
				o.Kind, in.Kind, in.Dst = axiom.Red, flow.Red, nil
				pick(axiom.Relaxed, axiom.Release)
			} else {
				pick(axiom.Relaxed, axiom.Acquire, axiom.Release, axiom.AcqRel)
			}
		case 6:
			o.Kind, in.Kind, in.Src = axiom.Fence, flow.Fence, nil
			o.Guard = nil
			pick(axiom.AcqRel, axiom.SC)
		}
		in.Sem = o.Sem
		if o.Kind == axiom.Fence && guard != nil {
			continue // a fence has no guard there
		}
		th.Ops = append(th.Ops, o)
		*body = append(*body, in)
		if guard == nil && len(in.Dst) > 0 && g.IntN(3) == 0 {
			// What follows is guarded by what was read.
			guard = &axiom.Guard{Read: r, Value: uint32(g.IntN(7))}
			*body = append(*body, flow.Instr{Kind: flow.If, Cmp: flow.Eq, Src: []flow.Value{flow.R(r), flow.V(guard.Value)}})
			body = &(*body)[len(*body)-1].Body
		}
	}
	return code
}

// TestAgreesWithAxiom compares races with those of package axiom.
func TestAgreesWithAxiom(t *testing.T) {
	t.Parallel()
	racy, free := 0, 0
	for s := range *agree {
		g := drawTwin(s)
		if g.ax.Check() != nil || g.accesses() > 6 {
			continue // package axiom takes long
		}
		want, err := g.ax.Races()
		if err != nil {
			continue
		}
		race, cut, err := g.flow.Races(100_000)
		if err != nil || cut {
			t.Fatal(err, cut)
		}
		if race != (len(want) > 0) {
			t.Errorf("program %d: race %v, package axiom has %v\n%s", s, race, want, g.flow.PTX())
		}
		if race {
			racy++
		} else {
			free++
		}
	}
	if racy < int(*agree)/10 || free < int(*agree)/10 {
		t.Errorf("%d race, %d do not", racy, free)
	}
	t.Logf("%d race, %d do not", racy, free)
}
