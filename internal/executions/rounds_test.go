package executions_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/executions"
	"muster/internal/machine"
	"muster/internal/trial"
	"muster/ptx"
)

var (
	rounds     = flag.Uint64("executions.rounds", 6, "how many programs with waits of whole CTAs to draw")
	roundsFrom = flag.Uint64("executions.rounds.from", 1, "the first one's number")
)

// A waiting draws programs in which whole CTAs wait: thread 0 reads, a barrier, shared memory or
// a shuffle tells the others, and all go round together.
type waiting struct {
	*rand.Rand
	b     strings.Builder
	turns int // a wait gives up after so many; 0: never
	label int
	out   int
}

// waits returns a program. Where waits give up, a word says so, from 256 on.
func waits(seed uint64, turns int) (text string, ctas, block int) {
	d := waiting{Rand: rand.New(rand.NewPCG(seed, 3)), turns: turns, out: 64}
	ctas, block = 2+d.IntN(2), 32+32*d.IntN(2)
	d.b.WriteString(`.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 m)
{
	.reg .pred %p<16>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 am[4];
	ld.param.u64 %rd1, [m];
	mov.u32 %r1, %tid.x;
	mov.u32 %r3, %ctaid.x;
	setp.eq.u32 %p5, %r1, 0;
	mov.u32 %r2, 99;
`)
	for i := range ctas {
		fmt.Fprintf(&d.b, "\tsetp.ne.u32 %%p7, %%r3, %d;\n\t@%%p7 bra N%d;\n", i, i)
		n := 1 + d.IntN(3)
		at := d.IntN(n + 1)
		for k := range n {
			if k == at {
				d.wait(i, block)
			}
			d.op()
		}
		if at == n {
			d.wait(i, block)
		}
		fmt.Fprintf(&d.b, "\tret;\nD%d:\n\t@%%p5 st.global.u32 [%%rd1+%d], 1;\n\tret;\nN%d:\n", i, 256+4*i, i)
	}
	d.b.WriteString("\tret;\n}\n")
	return d.b.String(), ctas, block
}

func (d *waiting) pick(list ...string) string { return list[d.IntN(len(list))] }

func (d *waiting) op() {
	w, v := 4*d.IntN(2), 1+d.IntN(2)
	switch d.IntN(6) {
	case 0, 1, 2:
		fmt.Fprintf(&d.b, "\t@%%p5 st.%s.global.u32 [%%rd1+%d], %d;\n", d.pick("relaxed.gpu", "release.gpu", "volatile", "relaxed.gpu"), w, v)
	case 3:
		fmt.Fprintf(&d.b, "\t@%%p5 atom.%s.gpu.global.add.u32 %%r4, [%%rd1+%d], 1;\n", d.pick("relaxed", "acq_rel"), w)
	case 4:
		fmt.Fprintf(&d.b, "\t@%%p5 ld.%s.global.u32 %%r4, [%%rd1+%d];\n\t@%%p5 st.global.u32 [%%rd1+%d], %%r4;\n", d.pick("relaxed.gpu", "acquire.gpu", "volatile"), w, d.out)
		d.out += 4
	default:
		fmt.Fprintf(&d.b, "\t@%%p5 fence.%s.gpu;\n", d.pick("acq_rel", "sc"))
	}
}

// wait has the CTA wait for a value of a word.
func (d *waiting) wait(cta, block int) {
	w, v, l := 4*d.IntN(2), 1+d.IntN(2), d.label
	d.label++
	ld := d.pick("ld.relaxed.gpu", "ld.acquire.gpu", "ld.volatile")
	kind := d.IntN(4)
	if kind == 2 && block > 32 {
		kind = 1
	}
	turn := ""
	if d.turns > 0 {
		fmt.Fprintf(&d.b, "\tmov.u32 %%r9, 0;\n")
		turn = fmt.Sprintf("\tadd.u32 %%r9, %%r9, 1;\n\tsetp.ge.u32 %%p8, %%r9, %d;\n\t@%%p8 bra D%d;\n", d.turns, cta)
	}
	switch kind {
	case 0: // a reduction
		fmt.Fprintf(&d.b, "W%d:\n\t@%%p5 %s.global.u32 %%r2, [%%rd1+%d];\n\tsetp.eq.u32 %%p1, %%r2, %d;\n\tbarrier.cta.red.or.aligned.pred %%p2, 0, %%p1;\n\t@%%p2 bra G%d;\n%s\tbra W%d;\nG%d:\n", l, ld, w, v, l, turn, l, l)
	case 1: // a lock, handed on by shared memory
		fmt.Fprintf(&d.b, "W%d:\n\t@!%%p5 bra S%d;\n\tatom.%s.gpu.global.cas.b32 %%r4, [%%rd1+%d], %d, %d;\n\tst.shared.u32 [am], %%r4;\nS%d:\n\tbar.sync 0;\n\tld.shared.u32 %%r5, [am];\n\tbar.sync 0;\n\tsetp.eq.u32 %%p2, %%r5, %d;\n\t@%%p2 bra G%d;\n%s\tbra W%d;\nG%d:\n",
			l, l, d.pick("relaxed", "acquire", "acq_rel"), w, v, 3-v, l, v, l, turn, l, l)
	case 2: // a shuffle
		fmt.Fprintf(&d.b, "W%d:\n\t@%%p5 %s.global.u32 %%r2, [%%rd1+%d];\n\tshfl.sync.idx.b32 %%r5, %%r2, 0, 31, -1;\n\tsetp.eq.u32 %%p2, %%r5, %d;\n\t@%%p2 bra G%d;\n%s\tbra W%d;\nG%d:\n", l, ld, w, v, l, turn, l, l)
	default: // two words
		fmt.Fprintf(&d.b, "W%d:\n\t@%%p5 %s.global.u32 %%r2, [%%rd1];\n\t@%%p5 ld.relaxed.gpu.global.u32 %%r6, [%%rd1+4];\n\tsetp.eq.u32 %%p1, %%r2, %d;\n\tsetp.eq.or.u32 %%p1, %%r6, %d, %%p1;\n\tand.pred %%p1, %%p1, %%p5;\n\tbarrier.cta.red.or.aligned.pred %%p2, 0, %%p1;\n\t@%%p2 bra G%d;\n%s\tbra W%d;\nG%d:\n", l, ld, v, v, l, turn, l, l)
	}
}

// finalsOf explores a text, and returns what is left where no wait gave up, and the kinds of the races.
func finalsOf(t *testing.T, text string, ctas, block int) (finals, races map[string]bool, gaveUp bool, r *executions.Result) {
	t.Helper()
	mod, err := ptx.Parse("p.ptx", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	prog, err := machine.Decode(mod, "k")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	m, err := machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{uint32(ctas), 1, 1}, Block: [3]uint32{uint32(block), 1, 1}, Cluster: [3]uint32{1, 1, 1},
		Params: []byte{0, 0, 0, 0, 0, 0x7f, 0, 0}, Buffers: []machine.Buffer{{Name: "m", Base: base, Size: 512, Init: true}},
		MaxInstrs: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	l := trial.NewSubject(m, trial.Limits{Instrs: 1 << 20, Memory: 1 << 33, Local: 1 << 16, Time: time.Hour})
	finals, races = map[string]bool{}, map[string]bool{}
	r = executions.Explore(l.Budget(context.Background()), l, executions.Options{Schedules: 30_000, Final: func(m *machine.Machine) {
		b := make([]byte, 512)
		m.ReadGlobal(base, b)
		for _, v := range b[256:] {
			if v != 0 {
				gaveUp = true
				return
			}
		}
		finals[string(b[:256])] = true
	}})
	for _, f := range r.Findings {
		if f.Kind != "stale-value" && f.Kind != "never-completes" && f.Kind != "livelock" {
			races[f.Kind] = true
		}
	}
	return finals, races, gaveUp, r
}

// TestRounds holds explorations in which waits of whole CTAs sleep to those of the same programs with
// waits that give up after some turns, and so go round as often as that in every way: they leave
// the same memories where no wait gives up, and have the same races.
func TestRounds(t *testing.T) {
	compared, raced, hung, open, finals := 0, 0, 0, 0, 0
	for seed := *roundsFrom; seed < *roundsFrom+*rounds; seed++ {
		text, ctas, block := waits(seed, 0)
		got, races, _, r := finalsOf(t, text, ctas, block)
		if !r.Coverage.Complete {
			open++
			t.Logf("%d: %s", seed, r.Coverage.Why)
			continue
		}
		bounded, _, _ := waits(seed, 4)
		want, wantRaces, gaveUp, b := finalsOf(t, bounded, ctas, block)
		if !b.Coverage.Complete {
			open++
			continue
		}
		hangs := slices.ContainsFunc(r.Findings, func(f executions.Found) bool { return f.Kind == "never-completes" })
		if hangs {
			hung++
		}
		if !maps.Equal(races, wantRaces) {
			t.Errorf("%d: races %v, with turns that are counted %v\n%s", seed, races, wantRaces, text)
			break
		}
		if hangs && !gaveUp {
			t.Errorf("%d: a hang, and no wait gives up\n%s", seed, text)
			break
		}
		if len(races) > 0 { // an execution is followed to its first race
			raced++
			continue
		}
		compared++
		finals += len(got)
		if !maps.Equal(got, want) {
			t.Errorf("%d: %d memories, with turns that are counted %d\n%s", seed, len(got), len(want), text)
			break
		}
	}
	t.Logf("%d compared, %d memories, %d with races, %d hang; %d have more", compared, finals, raced, hung, open)
	if compared < int(*rounds)/4 {
		t.Errorf("too little was compared")
	}
}
