package rules

import (
	goflag "flag"
	"slices"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

var cutsEach = goflag.Int64("cuts-each", 3, "TestCut: at how many places a run is cut")

// TestCut cuts the runs of all examples. A judge's findings in a cut run must be in the
// whole run of the same schedule: of the same kind, at least as grave, at the same
// places or more.
func TestCut(t *testing.T) {
	cuts, bad := 0, 0
	list := append(examples(t, "testdata/*.txtar"), examples(t, "testdata/correct/*.txtar")...)
	for i, e := range list {
		for _, which := range []string{"wrong", "right"} {
			if e.files[which+".ptx"] == "" {
				continue
			}
			cfg := prepare(t, which+".ptx", e.files[which+".ptx"], e.launch(which))
			for _, s := range []explore.Schedule{{Policy: explore.Latest}, {Policy: explore.RoundRobin}, {Policy: explore.Random, Seed: uint64(i)}} {
				whole, looks := cutAt(t, cfg, s, 1<<62)
				for n := int64(1); n <= *cutsEach; n++ {
					at := 1 + looks*n/(*cutsEach+1)
					found, _ := cutAt(t, cfg, s, at)
					cuts++
					for k := range found {
						if f := &found[k]; !slices.ContainsFunc(whole, func(g Finding) bool { return covers(&g, f) }) {
							bad++
							t.Errorf("%s %s, %v, cut at %d of %d: %s", e.name, which, s, at, looks, show(cfg.Program, f))
						}
					}
				}
			}
		}
	}
	t.Logf("%d cuts, %d findings more", cuts, bad)
}

// cutAt is what a judge finds in a run that ends when it has been asked so often
// whether to end.
func cutAt(t *testing.T, cfg machine.Config, s explore.Schedule, most int64) ([]Finding, int64) {
	t.Helper()
	bare, err := machine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	j := NewJudge(Config{Shape: bare.Shape(), Program: cfg.Program})
	cfg.Observer = j
	m, err := machine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m.SetPace(1)
	looks := int64(0)
	if ended := explore.Run(m, s, func() bool { looks++; return looks >= most }); ended != m.Over() {
		t.Errorf("the run ended: %t; it is over: %t", ended, m.Over())
	}
	found, _ := j.Finish(m)
	return found, looks
}

// covers reports whether a finding says all that another does. A whole run sees more
// conflicts of the same two instructions, and may tell their race by another kind: that
// an elected lane published what the rest of its warp had not done, for one.
func covers(g, f *Finding) bool {
	races := map[string]bool{raceShared.Name: true, raceGlobal.Name: true, raceLanes.Name: true, readInFlight.Name: true, overwriteInFlight.Name: true}
	if f.Kind != g.Kind && !(races[f.Kind] && races[g.Kind]) || f.Severity > g.Severity {
		return false
	}
	for _, s := range f.Sites {
		if !slices.ContainsFunc(g.Sites, func(o Site) bool { return o.PC == s.PC }) {
			return false
		}
	}
	return true
}
