package mbarrier

import "muster/mbarrier/internal/history"

// This file tells the log of a bubble, if there is one, what a traced barrier does. Each function does nothing
// without it. Those that are called where time counts are not inlined, so that their callers stay as small as
// they can be.

func after(p uint64, w Word, completed bool) history.State {
	if completed {
		p++
	}
	return history.State{Phase: int64(p), Pending: int(w.Pending()), Expected: int(w.Expected()), Tx: int(w.Tx())}
}

// ring tells which barriers are a pipeline's.
func ring(all []*Barrier) {
	if t := all[0].trace; t == nil || t.log == nil {
		return
	}
	ids := make([]int, len(all))
	for i, b := range all {
		ids[i] = b.trace.id
	}
	all[0].trace.log.Ring(ids)
}

func (t *trace) add(e history.Event) int {
	if t.log == nil {
		return 0
	}
	e.Barrier = t.id
	return t.log.Add(e, history.Site(here()))
}

// passed is a wait for phase p that had nothing to wait for; p may be the one before the first.
//
//go:noinline
func (t *trace) passed(p uint64) { t.add(history.Event{Kind: history.Passed, Phase: int64(p)}) }

//go:noinline
func (t *trace) polled(p uint64, over bool) {
	t.add(history.Event{Kind: history.Polled, Phase: int64(p), Completed: over})
}

// asked is a test or a wait by parity in phase p. If it is true it was for the phase before.
//
//go:noinline
func (t *trace) asked(op string, p uint64, over bool) {
	if over {
		p--
	}
	switch {
	case op == "TryWaitParity":
		t.polled(p, over)
	case over:
		t.passed(p)
	}
}

// resumed is the end of a wait, with its phase or without it.
func (t *trace) resumed(s *sleeper, over bool) {
	if t.log == nil || s.step == 0 {
		return
	}
	kind := history.GaveUp
	if over {
		kind = history.Resumed
	}
	t.log.Add(history.Event{Kind: kind, Barrier: t.id, Phase: int64(s.phase), Begin: s.step}, history.Site(s.at))
}

// dropped are drops that had been put off until phase p.
func (t *trace) dropped(p uint64, n uint32, next Word, completed bool) {
	t.add(history.Event{Kind: history.Dropped, Phase: int64(p), Count: int(n), Drop: int(n), Completed: completed, After: after(p, next, completed)})
}

func (t *trace) leaving(p uint64) { t.add(history.Event{Kind: history.Leaving, Phase: int64(p)}) }

func (t *trace) broke() { t.add(history.Event{Kind: history.Broke}) }

// refused is an operation that panics. It returns what the panic is to say beyond that.
func (t *trace) refused(text string) string {
	t.add(history.Event{Kind: history.Refused, Text: history.Cut(text, 1000)})
	if t.log == nil || t.log.Refuse == nil {
		return ""
	}
	return t.log.Refuse(text)
}
