package executions

import (
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/trial"
)

// Where there are more executions than the budget has room for, some are sampled. An error of one of
// them is an error. That an execution leaves what no interleaving leaves is known only if all
// interleavings are (finals.go): else it is in doubt.

// sampledOf is how many executions are explored for each that is sampled.
const sampledOf = 10

// Sample samples executions of a launch, and explores none, as Explore does where there are more
// than the budget has room for.
func Sample(w *trial.Budget, l *trial.Subject, o Options) *Result {
	x := newExplorer(l, o)
	over, _ := w.Stop()
	x.sample(l, x.spaceOf(l.Executing(), over), explore.Limits{Schedules: o.Schedules, Steps: o.Steps, Length: maxLength}, over)
	return &x.Result
}

// sample samples executions of a space.
func (x *explorer) sample(l *trial.Subject, space *explore.Space, most explore.Limits, over func() bool) {
	x.samples = true
	steps := int64(0)
	for seed := range uint64(max(most.Schedules/sampledOf, 1)) {
		if over() || most.Steps > 0 && steps >= most.Steps/sampledOf {
			break
		}
		n, ok := space.Stroll(seed, most.Length)
		if steps += int64(n); ok {
			x.Sampled++
		}
	}
	x.stale = fewest(x.stale)
	x.settle(len(x.stale) > 0 && x.o.Interleavings > 0 && x.interleavings(l, over))
}

// fewest keeps of executions that leave the same memory the one with the fewest accesses that take
// an older version: a sample has some that change nothing.
func fewest(list []staleRun) (out []staleRun) {
	at, least := map[uint64]int{}, map[uint64]int{}
	for _, r := range list {
		n := 0
		for _, c := range r.schedule.Prefix {
			if c.Kind == machine.Pick {
				n++
			}
		}
		switch i, ok := at[r.left]; {
		case !ok:
			at[r.left], least[r.left] = len(out), n
			out = append(out, r)
		case n < least[r.left]:
			out[i], least[r.left] = r, n
		}
	}
	return out
}
