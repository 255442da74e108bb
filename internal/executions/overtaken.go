package executions

import (
	"slices"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
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

// DrawsDecide reports whether the order of the tickets decides that an instruction is executed by
// the lanes of a CTA that it names, or if it names none, by any: it is if that CTA draws last, and it is not if it draws first, where all
// else comes before the draws. Then no card issues it before the ticket is back.
func DrawsDecide(l *trial.Subject, tickets []int32, at rules.Site) bool {
	executes := func(last bool) bool {
		o := &executing{at: at}
		explore.Drawing(l.Machine(o, nil), tickets, at.CTA, last, 4*maxLength)
		return o.does
	}
	return executes(true) && !executes(false)
}

// An executing notes whether an instruction is executed by some lanes.
type executing struct {
	at   rules.Site
	does bool
}

// Observe makes an executing a machine.Observer.
func (e *executing) Observe(_ *machine.Machine, ev *machine.Event) {
	if ev.Kind == machine.EvAccess && ev.PC == e.at.PC && ev.CTA == e.at.CTA && (e.at.Lanes == 0 || ev.Warp == e.at.Warp && ev.Mask&e.at.Lanes != 0) {
		e.does = true
	}
}
