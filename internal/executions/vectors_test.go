package executions_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"muster/internal/axiom"
	"muster/internal/axiom/flow"
	"muster/internal/executions"
)

var vectors = flag.Uint64("executions.vectors", 300, "how many programs with vectors to draw")

// A vectorDrawing draws programs whose strong accesses are of one word, of two as a vector, and of
// two as a scalar of 8 bytes (sizes).
type vectorDrawing struct {
	*rand.Rand
	p     *flow.Program
	sizes bool
	pairs int // of words that are shared
	out   int
}

func drawVectors(seed uint64, sizes bool) *flow.Program {
	d := vectorDrawing{Rand: rand.New(rand.NewPCG(seed, 11)), sizes: sizes, out: 4}
	if sizes {
		d.Rand = rand.New(rand.NewPCG(seed, 12))
	}
	d.pairs = 1 + d.IntN(2)
	d.p = &flow.Program{Name: fmt.Sprint(seed), Words: 32}
	n := 2 + d.IntN(2)
	ctas := 0
	for i := range n {
		w := flow.Warp{CTA: ctas}
		if i > 0 && d.IntN(5) == 0 {
			w.CTA--
			for k := range d.p.Warps {
				if d.p.Warps[k].CTA == w.CTA {
					w.Index = d.p.Warps[k].Index + 1
				}
			}
		} else {
			ctas++
		}
		w.Steps = []flow.Step{{Roles: []flow.Role{{Lanes: 1, Code: d.code(1 + d.IntN(6-n))}}}}
		d.p.Warps = append(d.p.Warps, w)
	}
	d.p.CTAs = ctas
	return d.p
}

func (d *vectorDrawing) code(n int) []flow.Instr {
	var code, after []flow.Instr
	reg := 0
	value := func() flow.Value {
		if reg > 0 && d.IntN(3) == 0 {
			return flow.R(d.IntN(reg))
		}
		return flow.V(uint32(1 + d.IntN(3)))
	}
	for range n {
		in := flow.Instr{Scope: axiom.GPU, At: flow.V(uint32(d.IntN(2 * d.pairs)))}
		if d.IntN(12) == 0 {
			in.Scope = axiom.CTA
		}
		words := 1
		if kind := d.IntN(5); kind < 3 {
			words, in.At = 2, flow.V(uint32(2*d.IntN(d.pairs)))
			if in.Wide = d.sizes && kind == 0; !in.Wide {
				in.N = 2
			}
		}
		switch kind := d.IntN(10); {
		case kind < 4:
			in.Kind, in.Sem = flow.Load, []axiom.Sem{axiom.Relaxed, axiom.Relaxed, axiom.Acquire, axiom.Volatile}[d.IntN(4)]
		case kind < 7:
			in.Kind, in.Sem = flow.Store, []axiom.Sem{axiom.Relaxed, axiom.Relaxed, axiom.Release, axiom.Volatile}[d.IntN(4)]
		case kind == 7:
			in.Kind, in.Op, in.Sem = flow.Atom, []flow.Op{flow.Add, flow.Exch}[d.IntN(2)], []axiom.Sem{axiom.Relaxed, axiom.Acquire, axiom.Release, axiom.AcqRel}[d.IntN(4)]
			if in.N > 0 {
				in.N, words = 0, 1
			}
		default:
			in = flow.Instr{Kind: flow.Fence, Sem: []axiom.Sem{axiom.AcqRel, axiom.SC, axiom.SC}[d.IntN(3)], Scope: axiom.GPU}
			words = 0
		}
		for range words {
			if in.Kind == flow.Store || in.Kind == flow.Atom {
				in.Src = append(in.Src, value())
			}
		}
		for range words {
			if in.Kind == flow.Load || in.Kind == flow.Atom {
				in.Dst = append(in.Dst, reg)
				after = append(after, flow.Instr{Kind: flow.Store, Sem: axiom.Weak, At: flow.V(uint32(d.out)), Src: []flow.Value{flow.R(reg)}})
				d.out++
				reg++
			}
		}
		code = append(code, in)
	}
	return append(code, after...)
}

// A vectorTally counts programs that were compared.
type vectorTally struct{ compared, raced, loose, named, stale, torn, open int }

// held compares the executions of a program with those that the axioms allow.
func (n *vectorTally) held(t *testing.T, p *flow.Program) {
	t.Helper()
	want, l, err := p.Built(40_000)
	seq, err2 := p.InterleaveWhole(100_000)
	apart, err3 := p.Interleave(100_000)
	if err != nil || err2 != nil || err3 != nil || want.Cut || seq.Cut || apart.Cut {
		n.open++
		return
	}
	got, r := outcomes(t, p, executions.Options{Schedules: 20_000})
	if !r.Coverage.Complete {
		n.open++
		return
	}
	race, found := false, false
	for _, f := range r.Findings {
		found = found || f.Kind == "stale-value"
		race = race || f.Kind != "stale-value"
	}
	if want.Race != race {
		t.Errorf("%s: race %v, found %v %v\n%s", p.Name, want.Race, race, r.Findings, p.PTX())
	}
	if race {
		n.raced++
		return
	}
	if l {
		n.loose++
	}
	if len(r.Loose) > 0 {
		n.named++
	} else if l {
		t.Errorf("%s: load buffering is not named\n%s", p.Name, p.PTX())
	}
	n.finals(t, p, want, seq, apart, got, found)
}

// finals compares the memories that are left.
func (n *vectorTally) finals(t *testing.T, p *flow.Program, want, seq, apart *flow.Outcomes, got map[string]bool, found bool) {
	t.Helper()
	odd := false
	for f := range want.Final {
		odd = odd || !seq.Final[f]
		if !got[f] {
			t.Errorf("%s: lacks %s\n%s", p.Name, words(f, 4, 4+16), p.PTX())
		}
	}
	for f := range got {
		if !want.Final[f] {
			t.Errorf("%s: has %s\n%s", p.Name, words(f, 4, 4+16), p.PTX())
		}
	}
	if odd != found {
		t.Errorf("%s: a final memory that no interleaving leaves: %v, found: %v\n%s", p.Name, odd, found, p.PTX())
	}
	if odd {
		n.stale++
	}
	for f := range apart.Final {
		if !seq.Final[f] {
			n.torn++
			break
		}
	}
	n.compared++
}

// TestDrawnVectors holds executions of programs with vectors to the axioms, which know elements
// alone: each takes a version of its own, and they are in no order. An interleaving has a whole
// load or store as one step. With scalars of 8 bytes over the same words there are races of
// different sizes, and accesses that causality order relates.
func TestDrawnVectors(t *testing.T) {
	for _, sizes := range []bool{false, true} {
		t.Run(fmt.Sprintf("sizes=%v", sizes), func(t *testing.T) {
			var n vectorTally
			for seed := *from; seed < *from+*vectors && !t.Failed(); seed++ {
				n.held(t, drawVectors(seed, sizes))
			}
			t.Logf("%d compared, %d of them with a stale value, %d with one that only elements apart leave, %d have races, load buffering in %d, named in %d; %d were too large",
				n.compared, n.stale, n.torn, n.raced, n.loose, n.named, n.open)
			if all := int(*vectors); n.compared+n.raced < all*8/10 || n.stale < all/40 || n.torn < all/40 {
				t.Errorf("too little was compared")
			}
		})
	}
}

// TestReleaseBefore: a release whose write comes before another's in coherence order is handed on
// by its lane's next strong write there, which comes after that one (ISA 8.8, second release
// pattern).
func TestReleaseBefore(t *testing.T) {
	const x, y, out = 0, 1, 4
	store := func(at, v uint32, sem axiom.Sem) flow.Instr {
		return flow.Instr{Kind: flow.Store, Sem: sem, Scope: axiom.GPU, At: flow.V(at), Src: []flow.Value{flow.V(v)}}
	}
	load := func(at uint32, sem axiom.Sem, reg int) flow.Instr {
		return flow.Instr{Kind: flow.Load, Sem: sem, Scope: axiom.GPU, At: flow.V(at), Dst: []int{reg}}
	}
	keep := func(at uint32, reg int) flow.Instr {
		return flow.Instr{Kind: flow.Store, Sem: axiom.Weak, At: flow.V(at), Src: []flow.Value{flow.R(reg)}}
	}
	p := &flow.Program{Name: "release before", Words: 32, CTAs: 3}
	for i, code := range [][]flow.Instr{
		{store(x, 1, axiom.Relaxed), store(y, 3, axiom.Relaxed)},
		{load(x, axiom.Relaxed, 0), store(y, 2, axiom.Release), store(y, 1, axiom.Relaxed), keep(out, 0)},
		{load(y, axiom.Acquire, 0), load(x, axiom.Relaxed, 1), keep(out+1, 0), keep(out+2, 1)},
	} {
		p.Warps = append(p.Warps, flow.Warp{CTA: i, Steps: []flow.Step{{Roles: []flow.Role{{Lanes: 1, Code: code}}}}})
	}
	var n vectorTally
	if n.held(t, p); n.compared != 1 {
		t.Error("the program was not compared")
	}
}
