package trial

import (
	"fmt"
	"slices"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
)

// A Result is what one schedule showed.
type Result struct {
	Findings []rules.Finding
	Gaps     []rules.Gap
	Instrs   int64 // warp instructions that were executed
	Cut      bool  // it was ended because an error was known: see Budget.Enough
	// Raced are the bytes of the operands of tcgen05.mma that race.
	Raced machine.OperandBytes
	Err   error
}

// Wrong reports whether an error was found.
func (r *Result) Wrong() bool {
	return slices.ContainsFunc(r.Findings, func(f rules.Finding) bool { return f.Severity == rules.Error })
}

// Covers reports whether o shows nothing that r does not, and nothing more often.
func (r *Result) Covers(o *Result) bool {
	for i := range o.Findings {
		g := &o.Findings[i]
		if !slices.ContainsFunc(r.Findings, func(f rules.Finding) bool { return f.Key() == g.Key() && f.Count >= g.Count }) {
			return false
		}
	}
	return o.Err == nil && len(o.Gaps) == 0
}

// Follow runs m under a schedule to its end, or to a limit, which is a gap.
func (s *Subject) Follow(b *Budget, m *machine.Machine, by Schedule) (*rules.Gap, error) {
	return s.follow(b, m, by, explore.Run, func() bool { return false })
}

// FollowUntil is Follow that ends where cut says so, too.
func (s *Subject) FollowUntil(b *Budget, m *machine.Machine, by Schedule, cut func() bool) (*rules.Gap, error) {
	return s.follow(b, m, by, explore.Run, cut)
}

// A runner runs a machine to its end under a schedule: explore.Run or explore.RunAlike.
type runner func(m *machine.Machine, by Schedule, stop func() bool) bool

// follow is Follow with a runner, and with what else ends the run.
func (s *Subject) follow(b *Budget, m *machine.Machine, by Schedule, run runner, cut func() bool) (*rules.Gap, error) {
	over, why := b.Stop()
	stop := func() bool {
		if b.Meter != nil {
			n, _ := m.Instrs()
			b.Meter.Ran(n, s.Limits.Instrs)
		}
		return over() || cut()
	}
	if stop() {
		return &rules.Gap{What: why(), PC: -1}, nil
	}
	m.StopWhen(stop)
	if err := Begin(m, by); err != nil {
		return nil, err
	}
	by.Prefix = nil
	if !run(m, by, stop) {
		return &rules.Gap{What: why(), PC: -1}, nil
	}
	if g, ok := s.LimitGap(m.Stopped()); ok {
		return &g, nil
	}
	return nil, nil
}

// Offers returns an error for the first explicit choice of a schedule that is
// impossible.
func (s *Subject) Offers(by Schedule, stop func() bool) error {
	m := s.Machine(nil, nil)
	m.StopWhen(stop)
	return Begin(m, by)
}

// Begin takes the explicit choices of a schedule. They may come from a person, or from
// another version of the kernel, and so may not be possible.
func Begin(m *machine.Machine, by Schedule) error {
	if by.Picks() {
		m.KeepVersions()
	}
	for i, c := range by.Prefix {
		if m.Stopped() != nil && m.Stopped().Kind == machine.Interrupted {
			return nil
		}
		if !m.Offers(c) {
			return fmt.Errorf("schedule: choice %d, %v, is not possible there; this launch or its kernel is another", i+1, c)
		}
		m.Step(c)
	}
	return nil
}

// WithoutLimits drops the judge's gaps for a stop that LimitGap names: limits belong
// to this package, and so do their names.
func WithoutLimits(gaps []rules.Gap, stop *machine.Stop) []rules.Gap {
	var out []rules.Gap
	for _, g := range gaps {
		if stop == nil || g.PC != stop.PC {
			out = append(out, g)
		}
	}
	return out
}

// LimitGap returns the gap for the limit that a run ran out of, if it did.
func (s *Subject) LimitGap(stop *machine.Stop) (rules.Gap, bool) {
	if stop == nil {
		return rules.Gap{}, false
	}
	switch stop.Kind {
	case machine.LimitInstrs:
		return rules.Gap{What: fmt.Sprintf("the limit of %d warp instructions ran out here (Limits.Instrs)", s.Limits.Instrs), PC: stop.PC}, true
	case machine.LimitLocal:
		if stop.Size == 0 {
			return rules.Gap{What: fmt.Sprintf("a thread has %d calls under way here, which is all that are followed", machine.MaxCalls), PC: stop.PC}, true
		}
		return rules.Gap{What: fmt.Sprintf("the limit of %d bytes of local memory a thread, call stack included, ran out here (Limits.Local)", s.Limits.Local), PC: stop.PC, AtLeast: int64(stop.Size)}, true
	case machine.Unmodelled:
		return rules.Gap{What: stop.Msg + " is not modelled", PC: stop.PC}, true
	}
	return rules.Gap{}, false
}
