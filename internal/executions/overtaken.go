package executions

import (
	"slices"

	"muster/internal/machine"
	"muster/internal/trial"
)

// Overtaken looks for one execution in which a load at one of some places returns an overwritten
// value, with nothing else wrong, that leaves another memory than the same run does in which all
// loads return the newest. The CTA that comes first to a ticket draws it last.
func Overtaken(w *trial.Budget, l *trial.Subject, tickets, loads []int32) (f Found, ok bool) {
	of := func(places []int32) *explorer {
		x := newExplorer(l, Options{})
		over, _ := w.Stop()
		if !x.spaceOf(l.Executing(), over).Overtaken(tickets, places, maxLength) || len(x.Findings)+len(x.Gaps) > 0 {
			return nil
		}
		return x
	}
	stale, plain := of(loads), of(nil)
	if stale == nil || plain == nil || len(stale.stale) != 1 || len(plain.stale) > 0 || plain.plain[stale.stale[0].left] {
		return f, false
	}
	r := &stale.stale[0]
	at := r.finding.Sites[len(r.finding.Sites)-1].PC
	return Found{r.finding, r.schedule}, slices.Contains(loads, at) && slices.ContainsFunc(r.schedule.Prefix, func(c machine.Choice) bool { return c.Kind == machine.Pick })
}
