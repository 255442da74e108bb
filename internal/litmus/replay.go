package litmus

import (
	"fmt"
	"math/bits"
	"strings"

	"muster/internal/coherence"
	"muster/internal/explore"
	"muster/internal/machine"
)

// Replay runs a test on the machine in one schedule, and tells its steps, and what they leave.
func (t *Test) Replay(loops int, schedule string, stop func() bool) (string, error) {
	text, all := strings.CutPrefix(schedule, versionsOfAll)
	s, err := explore.Parse(text)
	if err != nil {
		return "", err
	}
	k, err := t.labelled(loops)
	if err != nil {
		return "", err
	}
	m, err := k.machine(t)
	if err != nil {
		return "", err
	}
	x := &explorer{t: t, k: k, how: interleavings} // a watcher that follows nothing
	if all {
		if t.vectors() {
			return "", fmt.Errorf("%s: no schedule of a test that has accesses of several words", brief(schedule))
		}
		x.how = racing
		m.KeepAllVersions(t.same())
	}
	w := &teller{t: t, k: k, watcher: x.watch(m)}
	m = m.Fork(w, nil)
	explore.Run(m, s, stop)
	words, _ := w.words.(*coherence.Racing)
	out, a := &Outcomes{}, &Answer{}
	for i := range t.Observed {
		a.Observed = append(a.Observed, t.Observed[i].Name)
	}
	t.ended(m, words, out, func(v []uint32) { out.add(v) })
	out.sort()
	for i := range out.List {
		how := "in the end: "
		if i > 0 {
			how = "or, as coherence order may be: "
		}
		w.put("%s%s", how, a.values(&Row{Values: out.List[i].Values}))
	}
	switch {
	case len(out.List) > 0:
	case out.Hangs:
		w.put("then no thread can go on")
	case out.Loops:
		w.put("then a thread has jumped backward more than %s (--loops)", count(loops, "time", "times"))
	case out.Why == "":
		w.put("then no coherence order is left that the axioms allow: the schedule is no execution's")
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
	*watcher
}

func (w *teller) put(format string, args ...any) {
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

func (w *teller) Observe(m *machine.Machine, ev *machine.Event) {
	w.tell(m, ev)
	w.watcher.Observe(m, ev)
}

func (w *teller) tell(m *machine.Machine, ev *machine.Event) {
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
		what = w.reads(m, ev, len(in.Dst))
	}
	w.n++
	w.put("%3d  %s, line %d: %s%s", w.n, w.k.names[in], in.Line, in.Text, what)
}

// reads tells what a load of some words is about to read.
func (w *teller) reads(m *machine.Machine, ev *machine.Event, words int) (what string) {
	lane := bits.TrailingZeros32(ev.Mask)
	if words == 1 {
		if v, ok := m.Reads(ev, lane); ok {
			what = fmt.Sprintf(" reads %d", int32(v))
		}
		return what
	}
	for i := range words {
		if v, ok := m.Peek(ev.Mem, ev.Addr[lane]+uint64(4*i), 4); ok {
			what += fmt.Sprintf(" reads %d", int32(v))
		}
	}
	return what
}
