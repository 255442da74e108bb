package executions

import (
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/trial"
)

// Where there are too many executions to explore there may yet be few interleavings. These are
// explored by themselves, on a machine without versions, by the search that decides launches of
// which interleavings are all (package explore): then all memories that they leave are known.

// interleavings explores interleavings, and reports whether all memories that they leave are known.
// They are not where several lanes make a strong access in one step: other interleavings of these
// lanes may leave others.
func (x *explorer) interleavings(l *trial.Subject, over func() bool) bool {
	several := false
	space := &explore.Space{
		Fork: func(o machine.Observer) *machine.Machine {
			m := l.Machine(o, nil)
			if x.o.Begin != nil {
				x.o.Begin(m)
			}
			return m
		},
		Watch: func() explore.Watcher { return &leaving{x: x, several: &several} },
		Stop:  over,
	}
	limits := explore.Limits{Schedules: x.o.Interleavings, Steps: x.o.Steps, Length: maxLength}
	c := explore.NewSearch(space, limits).Run(func() bool { return over() || several })
	if !c.Complete || several {
		return false
	}
	x.Finals = len(x.plain)
	return true
}

// A leaving notes what an interleaving leaves in global memory.
type leaving struct {
	x       *explorer
	several *bool
}

// Observe makes a leaving a machine.Observer.
func (w *leaving) Observe(_ *machine.Machine, ev *machine.Event) {
	if ev.Kind == machine.EvAccess && ev.Sem != machine.Weak && ev.Mask&(ev.Mask-1) != 0 {
		*w.several = true
	}
}

// End makes a leaving an explore.Watcher.
func (w *leaving) End(m *machine.Machine, _ []machine.Choice) {
	if m.Done() {
		w.x.plain[m.GlobalHash()] = true
	}
}
