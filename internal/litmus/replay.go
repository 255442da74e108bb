package litmus

import (
	"fmt"
	"math/bits"
	"strings"

	"muster/internal/explore"
	"muster/internal/machine"
)

// Replay runs a test on the machine in one schedule, and tells its steps, and what they leave.
func (t *Test) Replay(loops int, schedule string, stop func() bool) (string, error) {
	s, err := explore.Parse(schedule)
	if err != nil {
		return "", err
	}
	k, err := t.Kernel(loops)
	if err != nil {
		return "", err
	}
	m, err := k.machine(t)
	if err != nil {
		return "", err
	}
	w := &teller{t: t, k: k}
	m = m.Fork(w, nil)
	explore.Run(m, s, stop)
	out := &Outcomes{}
	v, ended := t.ended(m, out)
	switch {
	case ended:
		a := &Answer{}
		for i := range t.Observed {
			a.Observed = append(a.Observed, t.Observed[i].Name)
		}
		w.put("in the end: %s", a.values(&Row{Values: v}))
	case out.Hangs:
		w.put("then no thread can go on")
	case out.Loops:
		w.put("then a thread has jumped backward more than %s (--loops)", count(loops, "time", "times"))
	default:
		w.put("then the run ends: %s", out.Why)
	}
	return w.String(), nil
}

// A teller tells the accesses, fences and barriers of a run.
type teller struct {
	strings.Builder
	t *Test
	k *Kernel
	n int
}

func (w *teller) put(format string, args ...any) {
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

func (w *teller) Observe(m *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvAccess, machine.EvFence, machine.EvBarPass, machine.EvBarArrive:
	default:
		return
	}
	in := w.k.lines[int(m.Program().Pos(ev.PC).Line)]
	if in == nil || ev.Part > 0 {
		return
	}
	what := ""
	switch {
	case ev.Kind == machine.EvBarPass:
		what = ": passes"
	case ev.Kind == machine.EvAccess && in.Kind == Load:
		at := ev.Addr[bits.TrailingZeros32(ev.Mask)]
		for i := range in.Dst {
			if v, ok := m.Peek(ev.Mem, at+uint64(4*i), 4); ok {
				what += fmt.Sprintf(" reads %d", int32(v))
			}
		}
	}
	w.n++
	w.put("%3d  %s, line %d: %s%s", w.n, w.k.names[in], in.Line, in.Text, what)
}
