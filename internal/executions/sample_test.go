package executions_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"muster/internal/executions"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/trial"
	"muster/ptx"
)

// A chain is a launch of CTAs of one thread, each of which waits for the flag of the one before
// it, all accesses relaxed. CTA 0 hands a number to CTA 1, which leaves what it reads. The others
// read the number of the one before and use it for nothing: in each of them it may be old, so that
// there are 2^(ctas-1) executions, one of which is an interleaving.
type chain struct {
	ctas  int
	fence string // on both sides of each flag
	use   string // of what CTA 1 reads, in %v
	noise string // what each does in the end
}

const words0 = 8 // words before data and flags: what is left

func (c chain) subject(t testing.TB) *trial.Subject {
	t.Helper()
	text := fmt.Sprintf(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 m)
{
	.reg .pred %%p;
	.reg .b32 %%c, %%v, %%f;
	.reg .b64 %%m, %%d;
	ld.param.u64 %%m, [m];
	mov.u32 %%c, %%ctaid.x;
	mad.wide.u32 %%d, %%c, 8, %%m;
	setp.eq.u32 %%p, %%c, 0;
	@%%p bra mine;
poll:
	ld.relaxed.gpu.global.u32 %%f, [%%d+%[1]d-4];
	setp.eq.u32 %%p, %%f, 0;
	@%%p bra poll;
	%[2]s
	ld.relaxed.gpu.global.u32 %%v, [%%d+%[1]d-8];
	setp.ne.u32 %%p, %%c, 1;
	@%%p bra mine;
	%[3]s
mine:
	st.relaxed.gpu.global.u32 [%%d+%[1]d], 7;
	%[2]s
	st.relaxed.gpu.global.u32 [%%d+%[1]d+4], 1;
	%[4]s
	ret;
}`, 4*words0, c.fence, c.use, c.noise)
	mod, err := ptx.Parse("chain.ptx", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	prog, err := machine.Decode(mod, "k")
	if err != nil {
		t.Fatal(err)
	}
	size := 4*words0 + 8*c.ctas
	m, err := machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{uint32(c.ctas), 1, 1}, Block: [3]uint32{1, 1, 1}, Cluster: [3]uint32{1, 1, 1},
		Params: binary.LittleEndian.AppendUint64(nil, base), Buffers: []machine.Buffer{{Name: "m", Base: base, Size: uint64(size), Data: make([]byte, size), Init: true}},
		MaxInstrs: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	return trial.NewSubject(m, trial.Limits{Instrs: 1 << 20, Memory: 1 << 33, Local: 1 << 16, Time: time.Hour})
}

const (
	leaves = "st.global.u32 [%m], %v;"
	traps  = "setp.ne.u32 %p, %v, 0; @%p bra mine; trap;"
	ticket = "atom.relaxed.gpu.global.add.u32 %f, [%m+4], 1;"
	number = ticket + " setp.ge.u32 %p, %f, 12; @%p trap;"
)

// TestSampled explores chains with far more executions than the budget has room for, where what
// is wrong needs an old value at the beginning, which is the last that the search changes. An
// error of a sampled execution is found; so is one that leaves a memory which no interleaving leaves
// where all of these are run, else it is in doubt. With fences nothing of it is found. What is
// found shows again.
func TestSampled(t *testing.T) {
	for _, c := range []struct {
		name  string
		chain chain
		found string
		doubt bool
		plain int // interleavings that may be run
	}{
		{"left", chain{ctas: 20, use: leaves}, "stale-value", false, 100},
		{"left, too few", chain{ctas: 20, use: leaves}, "", true, 0},
		{"trap", chain{ctas: 20, use: traps}, "trap", false, 100},
		{"tickets", chain{ctas: 12, use: leaves, noise: ticket}, "stale-value", false, 100},
		{"numbers", chain{ctas: 12, use: leaves, noise: number}, "", true, 100},
		{"tickets, trap", chain{ctas: 12, use: traps, noise: ticket}, "trap", false, 100},
		{"fenced", chain{ctas: 12, use: leaves, noise: ticket, fence: "fence.acq_rel.gpu;"}, "", false, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := c.chain.subject(t)
			r := explored(l, executions.Options{Schedules: 300, Interleavings: c.plain})
			if r.Coverage.Complete || !explore.Spent(r.Coverage.Why) || r.Sampled < 20 {
				t.Fatalf("it is explored, or not sampled: %+v, %d", r.Coverage, r.Sampled)
			}
			if c.found == "" != (len(r.Findings) == 0) || c.doubt != (len(r.Doubts) > 0) {
				t.Fatalf("found %v, in doubt %v", r.Findings, r.Doubts)
			}
			for _, f := range append(r.Findings, r.Doubts...) {
				if want := c.found; f.Kind != want && !(c.doubt && f.Kind == "stale-value") {
					t.Errorf("found %s, want %s", f.Kind, want)
				}
				replays(t, l, f)
			}
		})
	}
}

// replays runs the schedule of a finding again, from its text.
func replays(t *testing.T, l *trial.Subject, f executions.Found) {
	t.Helper()
	s, err := explore.Parse(f.Schedule.String())
	if err != nil {
		t.Fatal(err)
	}
	r, _ := l.Judge(l.Budget(t.Context()), s, false, 0, 1)
	for i := range r.Findings {
		if r.Findings[i].Key() == f.Key() {
			return
		}
	}
	t.Errorf("%s does not show %s again", f.Schedule, f.Kind)
}
