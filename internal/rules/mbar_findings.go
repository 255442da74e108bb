package rules

import (
	"fmt"
	"slices"

	"muster/internal/machine"
)

// The texts of the findings about mbarriers. Their sites are all instructions
// that can be part of the defect, in program order: which of several copies comes
// too early depends on the schedule.

func (j *Judge) notLive(l *ledger, ev *machine.Event, s Site) {
	bar := machine.BarRef{Mem: s.Mem, Addr: s.Addr}
	name := j.name(ev.PC)
	if l == nil {
		j.note(useBeforeInit, -1, s.PC, func() Finding {
			return Finding{
				Headline: fmt.Sprintf("%s uses %s, which no mbarrier.init has made", name, barName(bar)),
				Sites:    []Site{s},
				Missing:  "no mbarrier.init of this word comes before the operation",
				Fix:      "initialize the mbarrier and order its users after that: by bar.sync for the CTA, by a cluster barrier (with fence.mbarrier_init) for other CTAs",
			}
		})
		return
	}
	j.note(useAfterInval, l.ended.PC, s.PC, func() Finding {
		return Finding{
			Headline: fmt.Sprintf("%s uses %s after it was invalidated", name, barName(bar)),
			Sites:    []Site{l.ended, s},
			Missing:  "no mbarrier.init lies between the mbarrier.inval and the operation",
			Fix:      "invalidate only after a barrier that every user passes when it is done, or initialize the word again first",
		}
	})
}

// stillSignals reports an operation that has yet to signal a barrier that ends.
func (j *Judge) stillSignals(l *ledger, s Site) {
	j.note(useAfterInval, l.ended.PC, s.PC, func() Finding {
		return Finding{
			Headline: fmt.Sprintf("%s may signal %s after it was invalidated", j.name(s.PC), barName(l.bar)),
			Sites:    []Site{l.ended, s},
			Missing:  "nothing makes mbarrier.inval wait until the operation has signalled the mbarrier",
			Fix:      "wait for the phase that the operation is charged to before mbarrier.inval",
		}
	})
}

func reinitialized(old *ledger, ev *machine.Event) Finding {
	return Finding{
		Headline: fmt.Sprintf("mbarrier.init of %s, which is live: its phase %d is open", barName(old.bar), old.open.n),
		Sites:    []Site{old.begun, wordSite("initializes again", ev)},
		Missing:  "no mbarrier.inval lies between the two inits",
		Fix:      "invalidate the mbarrier, after its last use, before its memory becomes another; or initialize it once and go on with its phases",
		Ledger:   []string{old.line()},
	}
}

func (j *Judge) outOfRange(ev *machine.Event, what string) {
	j.note(rangeKind, -1, ev.PC, func() Finding {
		return Finding{
			Headline: fmt.Sprintf("%s: %s is out of range", barName(ev.Mbar.Bar), what),
			Sites:    []Site{wordSite("uses", ev)},
			Missing:  "counts are 1 to 2^20-1, bytes 0 to 2^20-1, the tx-count stays within 2^20-1 of zero, a parity is 0 or 1",
			Fix:      "split the work over more phases or more barriers; a parity is the phase's number, its lowest bit",
		}
	})
}

func (l *ledger) noCompleteCompleted(ev *machine.Event) Finding {
	return Finding{
		Headline: fmt.Sprintf("a .noComplete arrival completes phase %d of %s", ev.Mbar.Phase, barName(l.bar)),
		Sites:    []Site{l.begun, wordSite("arrives", ev)},
		Missing:  "a .noComplete arrival must leave at least one arrival pending",
		Fix:      "leave .noComplete out, or arrive with a smaller count",
		Ledger:   []string{fmt.Sprintf("before: %s", ev.Mbar.Before)},
	}
}

func (l *ledger) unobserved(ev *machine.Event) Finding {
	return Finding{
		Headline: fmt.Sprintf("phase %d of %s gets an arrival, and no wait has seen phase %d complete", l.open.n, barName(l.bar), l.open.n-1),
		Sites:    []Site{wordSite("arrives", ev)},
		Missing:  "no successful test_wait or try_wait for a phase comes before the arrivals of the next",
		Fix:      "let a thread wait for each phase before anyone arrives at the next, even where nothing but the count matters",
		Ledger:   []string{l.line()},
	}
}

// tooMany returns the finding arrivals-excess.
func (l *ledger) tooMany() Finding {
	e := l.excess
	all := threads(l.usual)
	return Finding{
		Headline: fmt.Sprintf("%s counts %s a phase, and more come: %s", barName(l.bar), arrivalsOf(l.count), e.text),
		Sites:    append([]Site{l.begun}, l.arrives...),
		Missing:  fmt.Sprintf("nothing keeps lane %d of warp %d of CTA %d from arriving in phase %d, whose arrivals are complete without it", lowestLane(e.site.Lanes), e.site.Warp, e.site.CTA, e.phase.n),
		Fix:      fmt.Sprintf("initialize the count to the arrivals of one phase (%d threads have arrived at this barrier in all), or let fewer arrive; let a thread arrive again only after a wait that shows the phase complete", all),
		Ledger:   []string{l.line()},
		Count:    e.count,
	}
}

// tooEarly returns the finding bytes-early.
func (j *Judge) tooEarly(l *ledger) Finding {
	f := Finding{
		Sites:   append(slices.Clone(l.expects), l.copies...),
		Missing: "the bytes expected in a phase must be the sum of the bytes of all copies that report to it",
		Fix:     "expect, before or with the arrival of the thread that issues the copies, the bytes of every copy of the phase",
		Ledger:  []string{l.line()},
		Count:   1,
	}
	if len(f.Sites) == 0 {
		f.Sites = []Site{l.begun}
	}
	switch {
	case l.early != nil:
		f.Headline = barName(l.bar) + ": " + l.early.text
		f.Count = l.early.count
	default:
		f.Headline = fmt.Sprintf("%s: %d bytes have landed that no phase expects", barName(l.bar), -l.word.Tx())
		if l.open.expected > 0 && l.open.landed > l.open.expected && len(l.flight) == 0 {
			f.Fix += fmt.Sprintf(": %d have landed in phase %d, where %d are expected", l.open.landed, l.open.n, l.open.expected) + j.origin(l.expects)
		}
	}
	return f
}

// origin says where the bytes come from that the one instruction that expects some takes from
// a register.
func (j *Judge) origin(expects []Site) string {
	if len(expects) != 1 {
		return ""
	}
	if from := j.Program.Origin(expects[0].PC); from >= 0 {
		return fmt.Sprintf(", by the value of %s", j.at(from))
	}
	return ""
}

// tooFew returns the finding bytes-missing.
func (l *ledger) tooFew() Finding {
	f := Finding{
		Headline: fmt.Sprintf("%s: phase %d expects %d bytes, %d have landed, and no copy is under way to it", barName(l.bar), l.open.n, l.open.expected, l.open.landed),
		Sites:    append(slices.Clone(l.expects), l.copies...),
		Missing:  fmt.Sprintf("%d bytes of the phase are brought by no copy", l.word.Tx()),
		Fix:      "expect the bytes that the copies of the phase really bring to this barrier: those of the part that is loaded, on each CTA that a multicast writes to",
		Ledger:   []string{l.line()},
	}
	if len(l.copies) == 0 {
		f.Notes = append(f.Notes, "no copy has reported to this barrier at all")
	}
	return f
}

// arrivalsLacking returns the finding arrivals-missing.
func (l *ledger) arrivalsLacking() Finding {
	f := Finding{
		Headline: fmt.Sprintf("%s counts %s a phase, and only %d come in phase %d", barName(l.bar), arrivalsOf(l.count), l.word.Expected()-l.word.Pending(), l.open.n),
		Sites:    append([]Site{l.begun}, l.arrives...),
		Missing:  fmt.Sprintf("%d of %d arrivals: everyone who arrives at this barrier has done so", l.word.Pending(), l.word.Expected()),
		Fix:      "initialize the count to the arrivals of one phase: the threads that execute an arrive (elected lanes count one each), every arrive.expect_tx among them",
		Ledger:   []string{l.line()},
	}
	if l.paired {
		f.Notes = append(f.Notes, "cp.async.mbarrier.arrive without .noinc raises the pending count by the arrival that it makes later: it pays for no arrival of the count")
		f.Fix = "use cp.async.mbarrier.arrive.noinc where the count includes these arrivals, or let the threads arrive besides"
	}
	return f
}

func arrivalsOf(n uint32) string {
	if n == 1 {
		return "1 arrival"
	}
	return fmt.Sprintf("%d arrivals", n)
}

// wordAgent names the thread of an mbarrier operation.
func wordAgent(ev *machine.Event) string {
	return fmt.Sprintf("lane %d of warp %d of CTA %d", ev.Lane, ev.Warp, ev.CTA)
}
