package trial

import (
	"sync"
	"sync/atomic"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/parallel"
	"muster/internal/rules"
)

// Run runs a schedule without a judge, and returns the machine at its end, with the gap
// if a limit cut it. Clusters that share nothing that is written run side by side, jobs at
// a time: whatever their interleaving, they do what they do one by one. As for judged
// runs, the parts do not depend on the number of processors.
func (s *Subject) Run(b *Budget, by Schedule, jobs int) (*machine.Machine, *rules.Gap, error) {
	if m := s.SideBySide(b, by, jobs); m != nil {
		return m, nil, nil
	}
	m := s.Machine(nil, nil)
	gap, err := s.Follow(b, m, by)
	return m, gap, err
}

// SideBySide runs a schedule in parts. It returns nil unless each comes to its end and
// they share nothing that is written; they stop when that is seen.
func (s *Subject) SideBySide(b *Budget, by Schedule, jobs int) *machine.Machine {
	n := s.Parts()
	if n == 1 || by.Prefix != nil || s.Program.Unspecified() {
		return nil
	}
	var mu sync.Mutex
	var interact atomic.Bool
	var whole *machine.Machine
	all := newTouched()
	parallel.Each(jobs, n, func(i int) {
		t := newTouched()
		m := s.Part(t, false, i, n)
		if !s.ends(b, m, by, explore.Run, &interact) {
			interact.Store(true)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case !all.join(t):
			interact.Store(true)
		case whole == nil:
			whole = m
		default:
			whole.Join(m, s.Start)
		}
	})
	if interact.Load() {
		return nil
	}
	if instrs, _ := whole.Instrs(); instrs > s.Limits.Instrs {
		return nil
	}
	return whole
}

// ends runs a part, unless others are seen to interact, and reports whether it came to its
// end without a limit, a fault or something printed.
func (s *Subject) ends(b *Budget, m *machine.Machine, by Schedule, run runner, interact *atomic.Bool) bool {
	stop, _ := b.Stop()
	halt := func() bool { return interact.Load() || stop() }
	m.StopWhen(halt)
	return !halt() && run(m, by, halt) && m.Done() && len(m.Output()) == 0
}
