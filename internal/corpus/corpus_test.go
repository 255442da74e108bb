package corpus

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"muster"
	"muster/internal/mutate"
	"muster/launch"
	"muster/report"
)

var (
	all     = flag.Bool("corpus.all", false, "check every kernel of the corpus, and every twin, and print the tables")
	limit   = flag.Duration("corpus.limit", 30*time.Second, "time for one check, with -corpus.all")
	only    = flag.String("corpus.only", "", "check only kernels whose names contain this, with -corpus.all")
	twins   = flag.String("corpus.twin", "", "check only twins whose mutation contains this, with -corpus.all")
	size    = flag.String("corpus.size", "", "check at this size, GRIDxBLOCK, in place of each kernel's own")
	jobs    = flag.Int("corpus.jobs", 1, "processors for one check")
	replays = flag.Bool("corpus.replay", true, "replay the schedule of the first error of each twin")
)

func kernels(t *testing.T) []Kernel {
	t.Helper()
	list, err := Kernels()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(k Kernel) bool { return !strings.Contains(k.Name, *only) })
}

// TestCorpus: there are ten kernels or more of each kind, and a hundred that are right.
func TestCorpus(t *testing.T) {
	list, err := Kernels()
	if err != nil {
		t.Fatal(err)
	}
	count, right := map[string]int{}, 0
	names := map[string]bool{}
	for i := range list {
		k := &list[i]
		if names[k.Name] {
			t.Errorf("two kernels are called %s", k.Name)
		}
		names[k.Name] = true
		if !k.Wrong {
			right++
			count[k.Kind]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		if count[kind] < 10 {
			t.Errorf("%d kernels of kind %s, want 10", count[kind], kind)
		}
	}
	if right < 100 || len(count) != 10 {
		t.Errorf("%d right kernels of %d kinds, want 100 of 10", right, len(count))
	}
}

// TestValues: each right kernel leaves what it should, in some schedules.
func TestValues(t *testing.T) {
	for _, k := range kernels(t) {
		if k.Wrong || len(k.Wants) == 0 {
			continue
		}
		f, l := file(t, &k, k.Size), load(t, &k, k.Size)
		for _, s := range muster.Handful(1) {
			r, err := l.Run(context.Background(), muster.RunOptions{Schedule: s})
			if err != nil {
				t.Fatalf("%s: %v", k.Name, err)
			}
			for _, w := range k.Wants {
				if err := w.holds(f, r); err != nil {
					t.Errorf("%s, schedule %s: %v", k.Name, s, err)
				}
			}
		}
	}
}

func file(t *testing.T, k *Kernel, s Size) *launch.File {
	t.Helper()
	f, err := k.Launch(s)
	if err != nil {
		t.Fatalf("%s: %v", k.Name, err)
	}
	return f
}

func load(t *testing.T, k *Kernel, s Size) *muster.Launch {
	t.Helper()
	l, err := muster.LoadFile(file(t, k, s), muster.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", k.Name, err)
	}
	return l
}

// holds reports what a buffer has in place of what it should have.
func (w *Want) holds(f *launch.File, r *muster.RunResult) error {
	data, err := r.Buffer(w.Buffer)
	if err != nil {
		return err
	}
	b := f.Buffer(w.Buffer)
	got := numbers(b.Type.String(), data)
	if w.How == "sorted" {
		slices.Sort(got)
	}
	if len(got) != len(w.Values) {
		return fmt.Errorf("%s has %d elements, not %d", w.Buffer, len(got), len(w.Values))
	}
	for i, v := range got {
		near := 0.0
		if w.How == "near" {
			near = 1e-5 * math.Abs(w.Values[i])
		}
		if math.Abs(v-w.Values[i]) > near {
			return fmt.Errorf("%s[%d] is %v, not %v", w.Buffer, i, v, w.Values[i])
		}
	}
	return nil
}

func numbers(typ string, data []byte) (list []float64) {
	n := 4
	if strings.HasSuffix(typ, "64") {
		n = 8
	}
	for ; len(data) > 0; data = data[n:] {
		var v float64
		switch typ {
		case "f32":
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
		case "f64":
			v = math.Float64frombits(binary.LittleEndian.Uint64(data))
		case "s32":
			v = float64(int32(binary.LittleEndian.Uint32(data)))
		case "u64":
			v = float64(binary.LittleEndian.Uint64(data))
		default:
			v = float64(binary.LittleEndian.Uint32(data))
		}
		list = append(list, v)
	}
	return list
}

// check checks a launch within the limit.
func check(l *muster.Launch) (*muster.Report, time.Duration) {
	start := time.Now()
	ctx := muster.WithTime(context.Background(), *limit)
	r, err := l.Check(ctx, muster.CheckOptions{Jobs: *jobs})
	if r == nil {
		return &muster.Report{Verdict: report.Incomplete, Summary: err.Error()}, time.Since(start)
	}
	return r, time.Since(start)
}

// A mark is a kernel that is decided at once: the test without a flag checks one of each kind.
var quick = []string{"sem_streamk_fixup", "lock_ticket", "ticket_scheduler", "grid_counter", "last_acq_rel", "look_packed", "ring_pipeline", "fsum_splitk", "elect_call_once", "dekker_flags", "dekker_turn", "lock_readers", "ring_credits"}

// TestRight: no right kernel has an error, and a wrong one is not clean. It prints the table of the
// corpus with -corpus.all.
func TestRight(t *testing.T) {
	count := map[string]map[report.Verdict]int{}
	for _, k := range kernels(t) {
		if !*all && !slices.Contains(quick, k.Name) {
			continue
		}
		s := sized(t, k.Size)
		r, took := check(load(t, &k, s))
		n := 0
		if r.Explored != nil {
			n = r.Explored.Schedules
		}
		t.Logf("%-10s %-24s %3dx%-3d %-10s %8.2fs %7d explored  %s", k.Kind, k.Name, s.Grid, s.Block, r.Verdict, took.Seconds(), n, why(r))
		if (r.Verdict == report.Findings) != k.Wrong && r.Verdict != report.Incomplete {
			t.Errorf("%s: %s", k.Name, r.Summary)
		}
		if !k.Wrong {
			if count[k.Kind] == nil {
				count[k.Kind] = map[report.Verdict]int{}
			}
			count[k.Kind][r.Verdict]++
		}
		if !*all && r.Verdict == report.Incomplete {
			t.Errorf("%s is not decided: %s", k.Name, r.Summary)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%-10s %v", kind, count[kind])
	}
}

// sized is the size that -corpus.size names, or s.
func sized(t *testing.T, s Size) Size {
	if *size != "" {
		if _, err := fmt.Sscanf(*size, "%dx%d", &s.Grid, &s.Block); err != nil {
			t.Fatalf("%q is no size", *size)
		}
	}
	return s
}

// why says in a few words what a report says.
func why(r *muster.Report) string {
	for _, f := range r.Findings {
		if f.Severity == report.SevError {
			return f.Kind
		}
	}
	for _, g := range r.Gaps {
		return g.What
	}
	return ""
}

// contested is the verdict on a kernel that is right on every card, and not by the letter: clean,
// with a warning.
const contested report.Verdict = "contested"

// verdict is the verdict of a report, or contested.
func verdict(r *muster.Report) report.Verdict {
	if r.Verdict == report.Clean && slices.ContainsFunc(r.Findings, func(f muster.Finding) bool { return f.Kind == "stale-value" }) {
		return contested
	}
	return r.Verdict
}

// weakens reports whether a mutation leaves out order alone: a fence, an order, a scope, a
// volatile.
func weakens(m *mutate.Mutation) bool {
	return m.Kind == "fence" || m.Kind == "scope" || m.Kind == "order"
}

// twinsOf names kernels whose twins the test without a flag checks.
var twinsOf = []string{"sem_row_ready", "lock_exch_ptx", "last_acq_rel", "look_pair", "ring_mailbox", "elect_call_once", "dekker_flags"}

// TestTwins checks kernels in which one fence, order, scope or volatile is left out. An error
// must replay. It prints the table of the twins with -corpus.all.
func TestTwins(t *testing.T) {
	count := map[report.Verdict]int{}
	for _, k := range kernels(t) {
		if k.Wrong || !*all && !slices.Contains(twinsOf, k.Name) {
			continue
		}
		f := file(t, &k, sized(t, k.Small))
		mod, src, err := muster.ReadModule(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mutate.List(mod, k.Name) {
			if !weakens(m) || !strings.Contains(m.ID, *twins) {
				continue
			}
			twin, ok := mutate.Apply(mod, m)
			if !ok {
				t.Fatalf("%s: %s cannot be made", k.Name, m.ID)
			}
			l, err := muster.LoadModule(f, twin, src, muster.Limits{})
			if err != nil {
				t.Fatalf("%s %s: %v", k.Name, m.ID, err)
			}
			r, took := check(l)
			count[verdict(r)]++
			t.Logf("%-10s %-24s %-28s %-44s %-10s %7.2fs  %s", k.Kind, k.Name, m.ID, m.Before+" "+m.What, verdict(r), took.Seconds(), why(r))
			if (r.Verdict == report.Findings || verdict(r) == contested) && *replays {
				replay(t, k.Name+" "+m.ID, l, r)
			}
		}
	}
	t.Logf("%v", count)
	if !*all && count[report.Findings] == 0 {
		t.Errorf("no twin is found")
	}
}

// replay runs the schedule of the first error again, which must show it, or of the stale value of
// what is contested.
func replay(t *testing.T, name string, l *muster.Launch, r *muster.Report) {
	t.Helper()
	i := slices.IndexFunc(r.Findings, func(f muster.Finding) bool {
		return f.Severity == report.SevError || verdict(r) == contested && f.Kind == "stale-value"
	})
	if i < 0 {
		return
	}
	f := &r.Findings[i]
	s, err := muster.ParseSchedule(f.Schedule)
	if err != nil {
		t.Errorf("%s: %s: %v", name, f.Kind, err)
		return
	}
	again, err := l.Check(context.Background(), muster.CheckOptions{Schedules: []muster.Schedule{s}, Mode: muster.OnlySchedules})
	if again == nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if !slices.ContainsFunc(again.Findings, func(g muster.Finding) bool { return g.Kind == f.Kind && g.ID == f.ID && g.Severity == f.Severity }) {
		t.Errorf("%s: %s does not replay by %s", name, f.Kind, f.Schedule)
	}
}
