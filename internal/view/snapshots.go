package view

import (
	"context"
	"encoding/binary"
	"fmt"

	"muster/internal/machine"
)

// Snapshots of a run, from which registers and memory of any of its steps are made again:
// a copy every so many steps, and of a long run as many steps that there are not too many.

const (
	mostSnapshots = 64
	firstInterval = 1024
)

type snapshots struct {
	every int
	list  []snapshot
}

type snapshot struct {
	step int // that it is about to take
	m    *machine.Machine
}

// offer keeps a copy of the machine, which is about to take a step, if it is time.
func (s *snapshots) offer(m *machine.Machine, step int) {
	if s.every == 0 {
		s.every = firstInterval
	}
	if (step-1)%s.every != 0 {
		return
	}
	if len(s.list) == mostSnapshots {
		s.every *= 2
		kept := s.list[:0]
		for _, x := range s.list {
			if (x.step-1)%s.every == 0 {
				kept = append(kept, x)
			}
		}
		clear(s.list[len(kept):])
		s.list = kept
		if (step-1)%s.every != 0 {
			return
		}
	}
	s.list = append(s.list, snapshot{step, m.Clone()})
}

// A Live makes registers and memory of any step of a run.
type Live struct {
	turn  chan struct{} // full while a window is made
	run   []machine.Choice
	d     *details
	shots snapshots
}

// liveSteps is how many steps a window has that is asked for.
const liveSteps = 256

// Window returns the window of a step: its first step and the one behind its last, as
// unsigned LEB128, and then its encoding. It makes one at a time; the end of the context ends
// the wait for the turn, and the work.
func (l *Live) Window(ctx context.Context, step int) ([]byte, error) {
	if step < 1 || step > len(l.run) {
		return nil, fmt.Errorf("step %d: the run has steps 1 to %d", step, len(l.run))
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, errStopped
	}
	defer func() { <-l.turn }()
	stop := func() bool { return ctx.Err() != nil }
	from := (step-1)/liveSteps*liveSteps + 1
	i := len(l.shots.list) - 1
	for i > 0 && l.shots.list[i].step > from {
		i--
	}
	at := l.shots.list[i]
	m := at.m.Fork(l.d, nil)
	m.StopWhen(stop)
	for n := at.step; n < from; n++ {
		if stop() {
			return nil, errStopped
		}
		m.Step(l.run[n-1])
	}
	l.d.begin(m, from)
	n := from
	for ; n < from+liveSteps && n <= len(l.run) && (n <= step || l.d.size() < windowBytes); n++ {
		if stop() {
			l.d.w = nil
			return nil, errStopped
		}
		m.Step(l.run[n-1])
		l.d.step(m, l.run[n-1])
	}
	out := binary.AppendUvarint(nil, uint64(from))
	out = binary.AppendUvarint(out, uint64(n))
	return append(out, l.d.finish()...), nil
}

var errStopped = fmt.Errorf("the limit on time or memory ran out, or the answer is not waited for")
