package executions_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"muster/internal/axiom"
	"muster/internal/axiom/flow"
	"muster/internal/executions"
	"muster/internal/machine"
	"muster/internal/trial"
	"muster/ptx"
)

var (
	drawn = flag.Uint64("executions.n", 300, "how many programs to draw")
	from  = flag.Uint64("executions.from", 1, "the first one's number")

	showOver = flag.Bool("executions.over", false, "print the programs of which load buffering is named and the axioms have none")
)

const base = 0x7f0000000000

// subject returns a program's launch.
func subject(t testing.TB, p *flow.Program) *trial.Subject {
	t.Helper()
	mod, err := ptx.Parse("p.ptx", []byte(p.PTX()))
	if err != nil {
		t.Fatalf("%v\n%s", err, p.PTX())
	}
	prog, err := machine.Decode(mod, "k")
	if err != nil {
		t.Fatalf("%v\n%s", err, p.PTX())
	}
	warps := 1
	for _, w := range p.Warps {
		warps = max(warps, w.Index+1)
	}
	data := make([]byte, 4*p.Words)
	for i, v := range p.Init {
		binary.LittleEndian.PutUint32(data[4*i:], v)
	}
	m, err := machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{uint32(p.CTAs), 1, 1}, Block: [3]uint32{uint32(32 * warps), 1, 1}, Cluster: [3]uint32{uint32(max(p.Cluster, 1)), 1, 1},
		Params: binary.LittleEndian.AppendUint64(nil, base), Buffers: []machine.Buffer{{Name: "m", Base: base, Size: uint64(4 * p.Words), Data: data, Init: true}},
		MaxInstrs: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	return trial.NewSubject(m, trial.Limits{Instrs: 1 << 20, Memory: 1 << 33, Local: 1 << 16, Time: time.Hour})
}

// outcomes explores a program, and returns what is left in global memory.
func outcomes(t testing.TB, p *flow.Program, o executions.Options) (map[string]bool, *executions.Result) {
	t.Helper()
	finals := map[string]bool{}
	o.Final = func(m *machine.Machine) {
		b := make([]byte, 4*p.Words)
		m.ReadGlobal(base, b)
		finals[string(b)] = true
	}
	r := explored(subject(t, p), o)
	return finals, r
}

func explored(l *trial.Subject, o executions.Options) *executions.Result {
	return executions.Explore(l.Budget(context.Background()), l, o)
}

// A drawing draws programs of strong accesses: threads in CTAs of their own, or some in one,
// whose results go to words of their own.
type drawing struct {
	*rand.Rand
	p    *flow.Program
	out  int
	vars int
}

func draw(seed uint64) *flow.Program {
	d := drawing{Rand: rand.New(rand.NewPCG(seed, 7))}
	n := 2 + d.IntN(3)
	d.vars = 1 + d.IntN(3)
	d.p = &flow.Program{Name: fmt.Sprint(seed), Words: 32}
	d.out = 8
	ctas := 0
	for i := range n {
		w := flow.Warp{CTA: ctas}
		if i > 0 && d.IntN(4) == 0 {
			w.CTA--
			w.Index = 1
			for k := range d.p.Warps {
				if d.p.Warps[k].CTA == w.CTA {
					w.Index = d.p.Warps[k].Index + 1
				}
			}
		} else {
			ctas++
		}
		budget := 4
		if n == 2 {
			budget = 5
		} else if n == 4 {
			budget = 3
		}
		w.Steps = []flow.Step{{Roles: []flow.Role{{Lanes: 1, Code: d.code(1 + d.IntN(budget))}}}}
		d.p.Warps = append(d.p.Warps, w)
	}
	d.p.CTAs = ctas
	return d.p
}

func one[T any](d *drawing, list ...T) T { return list[d.IntN(len(list))] }

func (d *drawing) code(n int) []flow.Instr {
	var code, after []flow.Instr
	reg := 0
	scope := func() axiom.Scope {
		return one(d, axiom.GPU, axiom.GPU, axiom.GPU, axiom.GPU, axiom.GPU, axiom.GPU, axiom.GPU, axiom.GPU, axiom.GPU, axiom.CTA, axiom.Sys)
	}
	for range n {
		at := flow.V(uint32(d.IntN(d.vars)))
		v := flow.V(uint32(1 + d.IntN(3)))
		var in flow.Instr
		switch d.IntN(10) {
		case 0, 1, 2:
			in = flow.Instr{Kind: flow.Load, Sem: one(d, axiom.Relaxed, axiom.Relaxed, axiom.Acquire, axiom.Volatile), Scope: scope(), At: at, Dst: []int{reg}}
		case 3, 4, 5:
			in = flow.Instr{Kind: flow.Store, Sem: one(d, axiom.Relaxed, axiom.Relaxed, axiom.Release, axiom.Volatile), Scope: scope(), At: at, Src: []flow.Value{v}}
			if reg > 0 && d.IntN(3) == 0 {
				in.Src[0] = flow.R(d.IntN(reg))
			}
		case 6:
			in = flow.Instr{Kind: flow.Atom, Op: one(d, flow.Add, flow.Exch, flow.Cas), Sem: one(d, axiom.Relaxed, axiom.Acquire, axiom.Release, axiom.AcqRel), Scope: scope(), At: at, Dst: []int{reg}, Src: []flow.Value{v}}
			if in.Op == flow.Cas {
				in.Src = []flow.Value{flow.V(uint32(d.IntN(2))), v}
			}
		case 7:
			in = flow.Instr{Kind: flow.Red, Op: flow.Add, Sem: axiom.Relaxed, Scope: scope(), At: at, Src: []flow.Value{v}}
		default:
			in = flow.Instr{Kind: flow.Fence, Sem: one(d, axiom.AcqRel, axiom.SC, axiom.SC), Scope: scope()}
		}
		if len(in.Dst) > 0 {
			after = append(after, flow.Instr{Kind: flow.Store, Sem: axiom.Weak, At: flow.V(uint32(d.out)), Src: []flow.Value{flow.R(reg)}})
			d.out++
			reg++
		}
		code = append(code, in)
	}
	return append(code, after...)
}

// TestDrawn holds the executions that are explored to the axioms, enumerated: the same races, and
// without one the same final memories, but for load buffering, which is named wherever the axioms
// have an execution that is not built. A memory that no interleaving leaves is found, and no
// other.
func TestDrawn(t *testing.T) {
	compared, raced, loose, named, stale := 0, 0, 0, 0, 0
	runs, left, graphs, open := 0, 0, 0, 0
	for seed := *from; seed < *from+*drawn; seed++ {
		p := draw(seed)
		want, l, err := p.Built(20_000)
		seq, err2 := p.Interleave(100_000)
		if err != nil || err2 != nil || want.Cut || seq.Cut {
			continue
		}
		got, r := outcomes(t, p, executions.Options{Schedules: 20_000})
		race, found := false, false
		for _, f := range r.Findings {
			if f.Kind == "stale-value" {
				found = true
			} else {
				race = true
			}
		}
		if !r.Coverage.Complete {
			open++ // a dozen writes of one word have half a million orders
			continue
		}
		if want.Race != race {
			t.Errorf("%d: race %v, found %v %v\n%s", seed, want.Race, race, r.Findings, p.PTX())
			break
		}
		if race {
			raced++
			continue
		}
		if l {
			loose++
		}
		if len(r.Loose) > 0 {
			named++
			if !l && *showOver {
				t.Logf("%d: over %v\n%s", seed, r.Loose, p.PTX())
			}
		} else if l {
			t.Errorf("%d: load buffering is not named\n%s", seed, p.PTX())
		}
		odd := false
		for f := range want.Final {
			odd = odd || !seq.Final[f]
			if !got[f] {
				t.Errorf("%d: lacks %s\n%s", seed, words(f, 8, 8+16), p.PTX())
			}
		}
		for f := range got {
			if !want.Final[f] {
				t.Errorf("%d: has %s\n%s", seed, words(f, 8, 8+16), p.PTX())
			}
		}
		if odd {
			stale++
		}
		if odd != found {
			t.Errorf("%d: a final memory that no interleaving leaves: %v, found: %v\n%s", seed, odd, found, p.PTX())
		}
		compared++
		runs, left, graphs = runs+r.Coverage.Schedules, left+r.Coverage.Left, graphs+want.States
		if t.Failed() {
			break
		}
	}
	t.Logf("%d compared, %d of them with a stale value, %d have races, load buffering in %d, named in %d; %d runs, %d left, %d graphs; %d have more", compared, stale, raced, loose, named, runs, left, graphs, open)
	if n := int(*drawn); compared+raced < n*8/10 || stale < n/40 {
		t.Errorf("too little was compared")
	}
}

func words(mem string, from, to int) string {
	var s string
	for i := range to {
		if i < 3 || i >= from {
			s += fmt.Sprint(binary.LittleEndian.Uint32([]byte(mem)[4*i:]), " ")
		}
	}
	return s
}
