// Package patience finds waits that trap because they give up too soon.
//
// A bounded wait with a trap behind it counts as a wait: its timeout never expires. That
// is sound for a bound that a right program never reaches, not for two tests in a row. So
// the wait is tried where a run reaches it: in a copy of the run its test fails again and
// again, until it traps or has lasted long enough to be a timeout. A lane is tried where the
// registers that bound the wait have other values than before. A wait that the run does not
// reach counts as a timeout. One with more than maxVisits bounds is not known to be a wait.
package patience

import (
	"fmt"
	"math/bits"
	"time"

	"muster/internal/explore"
	"muster/internal/flow"
	"muster/internal/machine"
	"muster/internal/progress"
	"muster/internal/trial"
)

const (
	maxVisits = 4096    // of one test that are tried, one for each bound
	maxTurns  = 1 << 16 // steps of one try
	fewSteps  = 1 << 16 // of the run, if it has reached all tests by then
	maxSteps  = 1 << 21
)

// Hasty returns the tests and reads of a launch after whose failure it can trap before
// machine.Timeout has gone by.
func Hasty(b *trial.Budget, l *trial.Subject) map[int32]bool {
	if !l.Program.Traps() {
		return nil
	}
	pauses := l.Program.Pauses()
	if len(pauses) == 0 {
		return nil
	}
	type visit struct {
		pc    int32
		bound string
	}
	hasty, visits, tried := map[int32]bool{}, map[int32]int{}, map[visit]bool{}
	varies := false
	for _, p := range pauses {
		varies = varies || p.Varies
	}
	m := l.Machine(nil, nil)
	stop, _ := b.Stop()
	m.StopWhen(stop)
	d := explore.Direct(m)
	var splits []machine.Lanes
	var values []uint64
	d.Before = func(c machine.Choice) {
		if c.Kind != machine.Run {
			return
		}
		splits = m.Splits(c.CTA, c.Warp, splits[:0])
		for _, s := range splits {
			pause, ok := pauses[s.PC]
			if !ok || int8(bits.TrailingZeros32(s.Mask)) != c.Lane || hasty[s.PC] {
				continue
			}
			lanes := uint32(0)
			for k := s.Mask; k != 0; k &= k - 1 {
				lane := bits.TrailingZeros32(k)
				values = m.Values(c.CTA, c.Warp, lane, pause.Bound, values[:0])
				if pause.Own {
					values = append(values, uint64(c.CTA), uint64(c.Warp), uint64(lane))
				}
				if v := (visit{s.PC, fmt.Sprint(values)}); pause.Memory || !tried[v] {
					tried[v] = true
					lanes |= 1 << lane
				}
			}
			if lanes == 0 {
				continue
			}
			if visits[s.PC]++; visits[s.PC] > maxVisits {
				hasty[s.PC] = true // the other bounds are not known
				continue
			}
			tests, soon := gives(m.Fork(nil, nil), c.CTA, c.Warp, lanes, pauses)
			for pc := range tests {
				visits[pc] = max(visits[pc], 1)
				if soon {
					hasty[pc] = true
				}
			}
		}
	}
	b.Meter.Stage("trying how long waits last that trap", "", 0)
	for steps := 0; d.Step(explore.Hold{}); steps++ {
		if steps%1024 == 0 {
			b.Meter.Set(func(p *progress.Progress) { p.Steps, p.MaxSteps = int64(steps), maxSteps })
		}
		if steps >= fewSteps && len(visits) == len(pauses) && !varies {
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

// gives reports whether a lane's wait ends in a trap before it has lasted machine.Timeout,
// and returns the tests and reads that the lanes of a split make until then.
func gives(m *machine.Machine, cta, warp int32, lanes uint32, pauses map[int32]machine.Pause) (tests map[int32]bool, soon bool) {
	tests = map[int32]bool{}
	var lasted, began [32]time.Duration // began: by the clock
	for l := range began {
		began[l] = m.Clock()
	}
	for range maxTurns {
		if lanes == 0 {
			break
		}
		lane := bits.TrailingZeros32(lanes)
		for l := lane + 1; l < 32; l++ {
			if lanes>>l&1 != 0 && lasted[l] < lasted[lane] {
				lane = l
			}
		}
		mask := with(m, cta, warp, lane)
		c, ready := m.Holder(machine.Choice{Kind: machine.Run, CTA: cta, Warp: warp, Lane: int8(lane)})
		limit := limitOf(m, cta, warp, lane, pauses)
		pc, refused := m.Refuse(c)
		pause, traps := pauses[pc]
		slept := m.Slept()
		switch {
		case refused && traps:
			tests[pc] = true
			took := min(max(pause.Least, limit), machine.Timeout)
			m.Pass(took)
			for l := range lasted {
				if mask>>l&1 == 0 {
					continue
				}
				if lasted[l] += took; pause.Clocked {
					lasted[l] = m.Clock() - began[l]
				}
				if lasted[l] >= machine.Timeout {
					lanes &^= 1 << l
				}
			}
		case refused || !ready: // another wait, or the end
			lanes &^= mask | 1<<lane
		default:
			m.Step(c)
			for l := range lasted {
				if mask>>l&1 != 0 {
					lasted[l] += m.Slept() - slept
				}
			}
		}
		if s := m.Stopped(); s != nil {
			return tests, s.Kind == machine.FaultTrap || s.Kind == machine.Deadlock || s.Kind == machine.Expired
		}
	}
	return tests, false
}

// limitOf returns how long the test may wait by itself that a lane makes next, where a register
// says that.
func limitOf(m *machine.Machine, cta, warp int32, lane int, pauses map[int32]machine.Pause) time.Duration {
	for _, s := range m.Splits(cta, warp, nil) {
		if p, ok := pauses[s.PC]; ok && s.Mask>>lane&1 != 0 && p.Limit != flow.NoReg {
			if v := m.Values(cta, warp, lane, []flow.Reg{p.Limit}, nil); len(v) > 0 {
				return time.Duration(v[0])
			}
		}
	}
	return 0
}

// with returns the lanes of the split that holds a lane.
func with(m *machine.Machine, cta, warp int32, lane int) uint32 {
	for _, s := range m.Splits(cta, warp, nil) {
		if s.Mask>>lane&1 != 0 {
			return s.Mask
		}
	}
	return 0
}
