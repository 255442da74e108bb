// Package near looks, where a finding says that a wait, a fence or a barrier is missing, for
// the nearest thing of that kind that a run has, and says why it does not suffice: it comes
// too late or too early, others execute it, a branch leads around it, or its number, its space
// or its scope is too narrow. It says only what the run shows.
package near

import (
	"slices"

	"muster/internal/rules"
	"muster/internal/trial"
)

// Bounds of the work for one check: findings that are looked at, schedules that are run again
// for them, warp instructions of each of those runs, and what is noted of each. All are
// counts, so that a report does not depend on time.
const (
	mostFindings  = 64
	mostSchedules = 4
	mostInstrs    = 1 << 21
	mostBehind    = 1 << 17 // once all places have been seen
	mostNoted     = 1 << 17
)

// Look runs again the schedules that first showed findings, and adds to each finding what
// stands near the thing that it lacks. first gives the number of a finding's schedule in
// list; -1 for none.
func Look(l *trial.Subject, b *trial.Budget, list []trial.Schedule, fs []rules.Finding, first func(*rules.Finding) int) {
	by := map[int][]*rules.Finding{}
	var order []int
	n := 0
	for i := range fs {
		f := &fs[i]
		k := first(f)
		if f.Need.Lack == rules.LacksNothing || k < 0 || k >= len(list) || n == mostFindings {
			continue
		}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], f)
		n++
	}
	slices.Sort(order)
	for _, k := range order[:min(len(order), mostSchedules)] {
		look(l, b, list[k], by[k])
	}
}

// look runs a schedule as the check did: clusters by themselves where it could, and all
// together for findings whose places did not show so.
func look(l *trial.Subject, b *trial.Budget, s trial.Schedule, fs []*rules.Finding) {
	parts := l.Parts()
	if s.Prefix != nil {
		parts = 1
	}
	if parts > 1 {
		of := map[int][]*rules.Finding{}
		for _, f := range fs {
			cluster := clusterOf(l, f.Need.First.CTA)
			if cluster == clusterOf(l, f.Need.Then.CTA) {
				k := partOf(int(cluster), parts, l.Start.ClusterCount())
				of[k] = append(of[k], f)
			}
		}
		fs = slices.DeleteFunc(fs, func(f *rules.Finding) bool {
			return clusterOf(l, f.Need.First.CTA) == clusterOf(l, f.Need.Then.CTA)
		})
		for k := range parts {
			if len(of[k]) > 0 {
				fs = append(fs, run(l, b, s, of[k], k, parts)...)
			}
		}
	}
	if len(fs) > 0 {
		run(l, b, s, fs, 0, 1)
	}
}

// clusterOf returns the number of a CTA's cluster.
func clusterOf(l *trial.Subject, cta int32) int32 { return l.Shape.ClusterOf(cta) }

// partOf returns which part of n a cluster is in.
func partOf(cluster, n, clusters int) int {
	for k := range n {
		if cluster < (k+1)*clusters/n {
			return k
		}
	}
	return 0
}

// run runs part k of n and lets a watch say what it saw. It returns the findings whose places
// it did not see.
func run(l *trial.Subject, b *trial.Budget, s trial.Schedule, fs []*rules.Finding, k, n int) (unseen []*rules.Finding) {
	w := newWatch(l.Program, l.Shape, fs)
	m := l.Part(w, l.Skips(), k, n)
	seen := int64(-1)
	_, err := l.FollowUntil(b, m, s, func() bool {
		done, _ := m.Instrs()
		if seen < 0 && !slices.ContainsFunc(w.sought, func(s sought) bool { return !s.found() }) {
			seen = done
		}
		return done > mostInstrs || seen >= 0 && done > seen+mostBehind || len(w.log) >= mostNoted
	})
	if err != nil || b.Over() != "" {
		return nil
	}
	for i, f := range fs {
		if !w.sought[i].found() {
			unseen = append(unseen, f)
		} else if text := w.say(&w.sought[i]); text != "" {
			f.Stands = append(f.Stands, text)
		}
	}
	return unseen
}
