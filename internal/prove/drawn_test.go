package prove_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"muster"
	"muster/internal/axiom/flow"
	"muster/internal/executions"
	"muster/internal/machine"
	"muster/internal/prove"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/internal/undefined"
	"muster/launch"
	"muster/ptx"
)

var (
	drawn   = flag.Uint64("prove.n", 120, "how many programs with counters to draw")
	from    = flag.Uint64("prove.from", 1, "the first one's number")
	shrinks = flag.Int("prove.shrink", 0, "how many programs that differ to make small and print")
	prints  = flag.Bool("prove.print", false, "print each program")
	whole   = flag.Uint64("prove.whole", 20, "of so many programs that no proof decides one is compared")
	graphs  = flag.Int("prove.graphs", 2000, "how many executions by the axioms are gone through; of a program with more only interleavings are")
	seconds = flag.Uint64("prove.explore", 20, "every so many programs is explored without proofs, too; 0: none")
)

const (
	maxStates  = 50_000
	maxInstrs  = 100_000
	maxExplore = 20_000
	base       = 0x7f0000000000
)

// subject returns a program's launch without a check around it.
func subject(p *flow.Program) (*trial.Subject, error) {
	mod, err := ptx.Parse("p.ptx", []byte(p.PTX()))
	if err != nil {
		return nil, err
	}
	prog, err := machine.Decode(mod, "k")
	if err != nil {
		return nil, err
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
		MaxInstrs: maxInstrs,
	})
	if err != nil {
		return nil, err
	}
	return trial.NewSubject(m, trial.Limits{Instrs: maxInstrs, Memory: 1 << 33, Local: 1 << 16, Time: time.Hour}), nil
}

// check is a whole check.
func check(p *flow.Program) (*muster.Report, error) {
	text := p.PTX()
	mod, err := ptx.Parse("p.ptx", []byte(text))
	if err != nil {
		return nil, err
	}
	x := p.Launch()
	f, err := launch.FromFlags(launch.Flags{PTX: "p.ptx", Grid: x.Grid, Block: x.Block, Cluster: x.Cluster, Buffers: x.Buffers, Args: x.Args})
	if err != nil {
		return nil, err
	}
	l, err := muster.LoadModule(f, mod, []byte(text), muster.Limits{Instrs: maxInstrs, Time: 24 * time.Hour})
	if err != nil {
		return nil, err
	}
	return l.Check(context.Background(), muster.CheckOptions{Jobs: 1})
}

// kinds are the kinds of proofs.
var kinds = []struct {
	name string
	try  func(*trial.Subject, *trial.Budget) (prove.Proof, trial.Result, bool)
}{
	{"one run", prove.ByOne},
	{"places", prove.ByPlaces},
	{"classes", prove.ByClasses},
	{"tickets", prove.ByTickets},
	{"orders", prove.ByOrders},
}

// A held is what is so of a program, and what proofs and a check say of it.
type held struct {
	left    string   // why it was not compared
	cut     bool     // not all that the axioms allow was looked at
	bad     flow.Bad // by the axioms
	by      []string // the proofs that decide it
	wrong   []string // how they, or the check, differ from what is so
	verdict muster.Verdict
}

// hold compares the proofs of a program, and a check, with the axioms and with its interleavings.
// Only what a proof decides is compared, unless all.
func hold(p *flow.Program, all bool) (h held, err error) {
	l, err := subject(p)
	if err != nil {
		return h, err
	}
	proofs := decide(l)
	if len(proofs) == 0 && !all {
		h.left = "no proof"
		return h, nil
	}
	seq, err := p.InterleaveWhole(maxStates)
	if err != nil {
		return h, err
	}
	if seq.Cut {
		h.left = "more states of interleavings"
		return h, nil
	}
	var cut bool
	if h.bad, cut, err = p.Worst(seq, *graphs); err != nil {
		return h, err
	}
	if h.cut = cut; cut { // interleavings are among what the axioms allow
		h.bad = seen(seq)
	}
	finals := map[string]bool{}
	for m := range seq.Final {
		finals[m[:4*p.Words]] = true
	}
	for _, d := range proofs {
		h.by = append(h.by, d.name)
		switch q := &d.proof; {
		case h.bad != flow.None:
			h.wrong = append(h.wrong, fmt.Sprintf("%s: proven, and there is a %v", d.name, h.bad))
		case len(finals) != 1 && !q.Tickets && q.Grants == 0 && len(q.Sums) == 0:
			h.wrong = append(h.wrong, fmt.Sprintf("%s: proven to leave one memory, and there are more", d.name))
		}
	}
	r, err := check(p)
	if err != nil {
		return h, err
	}
	h.verdict = r.Verdict
	switch {
	case h.bad != flow.None && h.verdict == "clean" && !warned(r):
		h.wrong = append(h.wrong, fmt.Sprintf("clean, and there is a %v", h.bad))
	case h.bad == flow.None && !cut && h.verdict == "findings":
		h.wrong = append(h.wrong, fmt.Sprintf("%s, and nothing is wrong", r.Findings[0].Kind))
	}
	return h, nil
}

// seen is what is bad among interleavings.
func seen(seq *flow.Outcomes) flow.Bad {
	switch {
	case seq.Trap:
		return flow.Trapped
	case seq.Out:
		return flow.Outside
	case seq.Hang:
		return flow.Hung
	}
	return flow.None
}

// A decision is a proof that holds.
type decision struct {
	name  string
	proof prove.Proof
}

// decide lists the proofs that hold, each tried whatever the others say.
func decide(l *trial.Subject) (list []decision) {
	for _, k := range kinds {
		w := l.Budget(context.Background())
		q, r, ok := k.try(l, w)
		if !ok || r.Err != nil || q.Together || undefined.DropUnreached(l, w, &r) || slices.ContainsFunc(r.Findings, func(f rules.Finding) bool { return f.Severity == rules.Error }) {
			continue // where lanes stay together it says nothing about those that part
		}
		name := k.name
		switch {
		case k.name != "one run":
		case prove.Drawings(l) > 0:
			name += ", draws"
		case len(l.Program.Polls()) > 0:
			name += ", words"
		}
		if len(q.Sums) > 0 {
			name += ", sums"
		}
		if q.Residency {
			name += ", residency"
		}
		list = append(list, decision{name, q})
	}
	return list
}

func warned(r *muster.Report) bool {
	return slices.ContainsFunc(r.Findings, func(f muster.Finding) bool { return f.Severity == "warning" })
}

// explores compares the axioms with an exploration of executions without any proof.
func explores(p *flow.Program, bad flow.Bad) (wrong string, compared bool) {
	l, err := subject(p)
	if err != nil {
		return err.Error(), true
	}
	r := executions.Explore(l.Budget(context.Background()), l, executions.Options{Schedules: maxExplore})
	wrongs := slices.ContainsFunc(r.Findings, func(f executions.Found) bool { return f.Severity == rules.Error })
	switch {
	case wrongs && bad == flow.None:
		return "explored: " + r.Findings[0].Kind, true
	case !wrongs && r.Right() && r.Coverage.Complete && bad != flow.None:
		return "explored: nothing", true
	}
	return "", wrongs || r.Right() && r.Coverage.Complete
}

// TestDrawn holds the proofs to the axioms, which are enumerated, and to interleavings: what is
// proven has no data race, trap, hang, or memory that no interleaving leaves; what is proven to
// leave one memory leaves one.
func TestDrawn(t *testing.T) {
	left, by, bad := map[string]int{}, map[string]int{}, map[flow.Bad]int{}
	verdicts := map[muster.Verdict]int{}
	compared, partly, proven, explored := 0, 0, 0, 0
	for seed := *from; seed < *from+*drawn; seed++ {
		p := flow.Counters(seed)
		if *prints {
			t.Logf("%d\n%s", seed, p.PTX())
		}
		h, err := hold(p, seed%*whole == 0)
		if err != nil {
			t.Fatalf("%d: %v\n%s", seed, err, p.PTX())
		}
		if h.left != "" {
			left[h.left]++
			continue
		}
		if compared++; h.cut {
			partly++
		}
		bad[h.bad]++
		verdicts[h.verdict]++
		for _, name := range h.by {
			by[name]++
		}
		if len(h.by) > 0 {
			proven++
		}
		if len(h.wrong) == 0 && !h.cut && *seconds > 0 && seed%*seconds == 0 {
			wrong, ok := explores(p, h.bad)
			if ok {
				explored++
			}
			if wrong != "" {
				h.wrong = append(h.wrong, wrong)
			}
		}
		if len(h.wrong) > 0 {
			t.Errorf("%d: %s", seed, strings.Join(h.wrong, "; "))
			if *shrinks > 0 {
				*shrinks--
				q := small(p, h.wrong[0])
				x := q.Launch()
				t.Logf("%d: %s\n%s\n%s", seed, h.wrong[0], x.String(), q.PTX())
			}
		}
	}
	t.Logf("%d programs, %d compared, %d of them with interleavings alone, not compared: %v; by the axioms %v; verdicts %v; %d explored without proofs", *drawn, compared, partly, left, bad, verdicts, explored)
	for _, name := range slices.Sorted(maps.Keys(by)) {
		t.Logf("%6d decided by %s", by[name], name)
	}
	t.Logf("%6d decided by some proof", proven)
}

// small makes a program small of which something differs.
func small(p *flow.Program, wrong string) *flow.Program {
	tries := 0
	return p.Shrink(func(q *flow.Program) bool {
		if tries++; tries > 600 {
			return false
		}
		h, err := hold(q, true)
		return err == nil && slices.Contains(h.wrong, wrong)
	})
}
