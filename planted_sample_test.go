package muster_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/internal/explore"
)

// samples is for the table of docs/exploration.md:
//
//	go test -run TestPlantedSampled -v . -samples 250
var samples = flag.Int("samples", 0, "compare so many sampled schedules of each policy on the planted bugs")

// TestPlantedSampled: a short sample shows, in a run and without prediction, each of
// the bugs that fifty random schedules do not show.
func TestPlantedSampled(t *testing.T) {
	files, err := filepath.Glob("testdata/planted/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]*sampledRow{}
	for _, file := range files {
		p := readPlanted(t, file)
		if p.by == byOrder {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		steps, _ := muster.Length(p.wrong, muster.Exactly(explore.Schedule{Policy: explore.Latest})[0])
		if first, _ := p.shows(t, muster.Exactly(explore.Sample(45, 1, steps)...)); first < 0 {
			t.Errorf("%s: 45 samples show nothing", name)
		}
		if *samples > 0 {
			t.Logf("%s, %d steps: %s", name, steps, p.compare(t, *samples, steps, table))
		}
	}
	for _, policy := range sampledPolicies {
		if r := table[policy]; r != nil {
			t.Logf("%s: %d of %d found, by %.1f%% of all runs; none took more than %d", policy, r.found, r.bugs, 100*float64(r.seen)/float64(r.bugs**samples), r.last)
		}
	}
}

// A sampledRow is the result of one policy: bugs found, runs that show them, and the
// most runs until one did.
type sampledRow struct{ bugs, found, seen, last int }

var sampledPolicies = []string{"random", "pct:1", "pct:2", "pct:3", "pct:4", "delay", "sample"}

// compare runs n schedules of each policy, and tells in how many the bug shows.
func (p *planted) compare(t *testing.T, n, steps int, table map[string]*sampledRow) string {
	var b strings.Builder
	for _, policy := range sampledPolicies {
		list := explore.Sample(n, 1, steps)
		for i := range list {
			switch name, depth, _ := strings.Cut(policy, ":"); name {
			case "random":
				list[i] = explore.Schedule{Policy: explore.Random, Seed: uint64(i + 1)}
			case "delay":
				list[i] = explore.Schedule{Policy: explore.Delay, Seed: uint64(i + 1)}
			case "pct":
				list[i] = explore.Schedule{Policy: explore.PCT, Seed: uint64(i + 1), Depth: int(depth[0] - '0'), Steps: steps}
			}
		}
		first, seen := p.shows(t, muster.Exactly(list...))
		r := table[policy]
		if r == nil {
			r = &sampledRow{}
			table[policy] = r
		}
		r.bugs++
		r.seen += seen
		if first >= 0 {
			r.found++
			r.last = max(r.last, first+1)
		}
		fmt.Fprintf(&b, " %s %d", policy, seen)
	}
	return b.String()
}

// shows returns the first of the schedules in which a judge finds the wrong twin's
// bug under one of its names, and in how many it finds it under the commonest.
func (p *planted) shows(t *testing.T, list []muster.Schedule) (first, seen int) {
	t.Helper()
	first = -1
	r := check(t, p.wrong, muster.CheckOptions{Schedules: list, Mode: muster.OnlySchedules})
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity != "error" || !slices.Contains(p.findings, f.Kind) || slices.Contains(predicted, f.Kind) {
			continue
		}
		if at := slices.Index(r.Schedules, f.Schedule); first < 0 || at < first {
			first = at
		}
		seen = max(seen, f.Seen)
	}
	return first, seen
}
