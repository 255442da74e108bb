package muster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/internal/machine"
	"muster/internal/timeline"
)

// A meetingWatch notes, of each step, where its warp meets others.
type meetingWatch struct {
	step int
	at   map[int][]string
}

func (w *meetingWatch) Observe(_ *machine.Machine, ev *machine.Event) {
	how, phase := "", ev.Mbar.Phase
	switch ev.Kind {
	case machine.EvMbar:
		switch ev.Mbar.Op {
		case machine.MbarInit, machine.MbarInval, machine.MbarExpectTx:
			return
		}
		if ev.Op != nil {
			return
		}
		how = "arrives_at"
	case machine.EvMbarWait:
		if !ev.Mbar.OK {
			return
		}
		how = "finds_complete"
	case machine.EvBarArrive:
		how, phase = "comes_to", int64(ev.Gen)
	case machine.EvBarPass:
		how, phase = "passes", int64(ev.Gen)
	case machine.EvClusterArrive:
		how, phase = "arrives_at_cluster", int64(ev.Gen)
	case machine.EvClusterWait:
		how, phase = "passes_cluster", int64(ev.Gen)
	default:
		return
	}
	if text := fmt.Sprint(how, " ", phase); !slices.Contains(w.at[w.step], text) {
		w.at[w.step] = append(w.at[w.step], text)
	}
}

// TestViewMeetings: a step says at which phases and generations it meets others, as the
// machine's events do.
func TestViewMeetings(t *testing.T) {
	for _, name := range []string{"ring/broken_bytes", "bulk_store/broken_no_fence", "cluster_exchange/broken_exit", "found/broken_lapped_tile"} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			l := example(t, name)
			_, run := firstFinding(t, l)
			of, err := muster.ViewedRun(l, run)
			if err != nil {
				t.Fatal(err)
			}
			want := &meetingWatch{at: map[int][]string{}}
			m := of.Start(want)
			for i, c := range of.Run {
				want.step = i + 1
				m.Step(c)
			}
			var marks collector
			rec := timeline.New(&marks, of.Names, of.Sites)
			rec.All()
			if err := rec.Go(of.Start(rec), of.Run, timeline.Run{}); err != nil {
				t.Fatal(err)
			}
			got := map[int][]string{}
			for i := range marks.marks {
				x := &marks.marks[i]
				if x.Category != "step" {
					continue
				}
				for k := 1; k < len(x.Args); k++ {
					if x.Args[k].Name == "of_phase" {
						step := int(x.Time) + 1
						got[step] = append(got[step], fmt.Sprint(x.Args[k-1].Name, " ", x.Args[k].Number))
					}
				}
			}
			if len(want.at) == 0 {
				t.Fatal("nothing meets in this run")
			}
			for step := 1; step <= len(of.Run); step++ {
				slices.Sort(got[step])
				slices.Sort(want.at[step])
				if !slices.Equal(got[step], want.at[step]) {
					t.Errorf("step %d: %q, want %q", step, got[step], want.at[step])
				}
			}
		})
	}
}

// TestViewLapped: a wait that a later phase of the same parity ends is said to be lapped, and
// the words of a finding's kind are those of the catalogue.
func TestViewLapped(t *testing.T) {
	t.Parallel()
	l := example(t, "found/broken_lapped_tile")
	r, run := firstFinding(t, l)
	v, err := l.View(context.Background(), r, muster.ViewOptions{Runs: []muster.ViewRun{run}})
	if err != nil {
		t.Fatal(err)
	}
	d := decodeView(t, v)
	if d.Kinds["lapped-wait"].Edge != -1 || !strings.HasPrefix(d.Kinds["lapped-wait"].Text, "A wait by parity tells two phases apart") {
		t.Errorf("the kinds are %+v", d.Kinds)
	}
	lapped := 0
	for _, m := range d.marks(t, d.Runs[0]) {
		for _, a := range m.Args {
			if a.Name == "ended" && strings.HasPrefix(a.Text, "lapped: it finds phase 2 complete, of the same parity; phase 0 was complete") {
				lapped++
			}
		}
	}
	if lapped == 0 {
		t.Error("no wait is lapped")
	}
}
