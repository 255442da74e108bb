// Package patience finds waits that trap because they give up too soon.
//
// A wait with a bound, and a trap behind it, is taken for a wait: no timeout strikes. That
// is fair of a bound that a right program never meets, and not of two tests in a row. So
// such a wait is tried where a run comes to it: a copy of the run refuses it what it waits
// for, again and again, until it traps or has lasted long enough to be a timeout. A wait
// that the run does not come to is taken for one.
package patience

import (
	"math/bits"
	"time"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/trial"
)

const (
	maxVisits = 4       // of one test that are tried
	maxTurns  = 1 << 14 // steps of one try
	fewSteps  = 1 << 16 // of the run, where it came to all tests by then
	maxSteps  = 1 << 21
)

// Hasty returns the tests and reads of a launch that trap before they have lasted
// machine.Timeout.
func Hasty(b *trial.Budget, l *trial.Subject) map[int32]bool {
	if !l.Program.Traps() {
		return nil
	}
	pauses := l.Program.Pauses()
	if len(pauses) == 0 {
		return nil
	}
	hasty, visits := map[int32]bool{}, map[int32]int{}
	m := l.Machine(nil, nil)
	stop, _ := b.Stop()
	m.StopWhen(stop)
	d := explore.Direct(m)
	var splits []machine.Lanes
	d.Before = func(c machine.Choice) {
		if c.Kind != machine.Run {
			return
		}
		splits = m.Splits(c.CTA, c.Warp, splits[:0])
		for _, s := range splits {
			if _, ok := pauses[s.PC]; !ok || int8(bits.TrailingZeros32(s.Mask)) != c.Lane || visits[s.PC] == maxVisits {
				continue
			}
			visits[s.PC]++
			tests, soon := gives(m.Fork(nil, nil), c, pauses)
			for pc := range tests {
				visits[pc] = max(visits[pc], 1)
				if soon {
					hasty[pc] = true
				}
			}
		}
	}
	for steps := 0; d.Step(explore.Hold{}); steps++ {
		if steps >= fewSteps && len(visits) == len(pauses) {
			break
		}
		if steps == maxSteps {
			for pc := range pauses {
				if visits[pc] == 0 {
					hasty[pc] = true // it is not known to be a wait
				}
			}
			break
		}
	}
	return hasty
}

// gives reports whether a wait ends in a trap before it has lasted machine.Timeout, and
// of which tests and reads it consists.
func gives(m *machine.Machine, c machine.Choice, pauses map[int32]time.Duration) (tests map[int32]bool, soon bool) {
	tests = map[int32]bool{}
	lasted := time.Duration(0)
	for range maxTurns {
		pc, refused := m.Refuse(c)
		pause, traps := pauses[pc]
		switch {
		case refused && !traps:
			return tests, false // another wait
		case refused:
			tests[pc] = true
			if lasted += min(pause, machine.Timeout); lasted >= machine.Timeout {
				return tests, false
			}
		default:
			h, ready := m.Holder(c)
			if !ready {
				return tests, false
			}
			m.Step(h)
		}
		if s := m.Stopped(); s != nil {
			return tests, s.Kind == machine.FaultTrap || s.Kind == machine.Deadlock
		}
	}
	return tests, false
}
