package rules

import (
	"fmt"
	"math/bits"

	"muster/internal/machine"
)

var idleWait = register(Kind{
	Name:     "idle-wait",
	Severity: Warning,
	Title:    "a wait for data that passes at once, on a phase that was complete all along",
	Section:  "9.7.13.15.16",
	Text: `A wait by parity passes on the immediately preceding phase (ISA 9.7.13.15.16).
Here a thread waits at a barrier that brings data, and the phase that its parity
names is one that it has seen complete already, or the one before the first, which a
fresh barrier shows complete; and the next one begins only after that. So the wait
waits in no schedule, and the thread goes on to read what a later phase of that
barrier brings, before it has come.

For a producer that is right: its first wait, with parity 1, is for a slot that is
free from the start. It is wrong for a consumer, which needs what the phase brings. On
an H200 such a kernel reads what an earlier turn, or an earlier kernel, left there.

The usual causes: the producer's first parity (1) used by the consumer; a parity that
is not toggled after the first wait; a wait for the turn before.

Mend it by beginning with parity 0 where data is awaited, and toggling each time the
ring wraps. It is found where a thread reads shared memory
that nobody has written, and a copy of this barrier that is issued later brings it.
Where the copy need not come later, the wait is an early-wait or a lapped-wait.`,
})

// An idle is a wait that passed on a phase which its thread knew to be complete
// already, and the thread's first read of unwritten bytes after it.
type idle struct {
	bar   machine.BarRef
	site  Site
	phase int64
	read  Site  // Len 0: nothing
	at    int64 // when it was read
}

// maxIdles bounds the number kept.
const maxIdles = 256

// idled records a wait that was over before it began.
func (j *Judge) idled(l *ledger, ev *machine.Event) {
	b := &ev.Mbar
	who := agentID{ev.CTA, ev.Warp, ev.Lane}
	if l.passed == nil {
		l.passed = map[agentID]int64{}
	}
	last, before := l.passed[who]
	l.passed[who] = b.Phase
	if !b.Parity || b.Slept || b.Phase >= 0 && (!before || last != b.Phase) || len(j.watch.idles) == maxIdles {
		return
	}
	for i := range j.watch.idles {
		if o := &j.watch.idles[i]; o.bar == b.Bar && o.site.PC == ev.PC && o.site.CTA == ev.CTA && o.site.Warp == ev.Warp {
			return
		}
	}
	j.watch.idles = append(j.watch.idles, idle{bar: b.Bar, site: wordSite("waits", ev), phase: b.Phase})
}

// idleReads records a thread's read of unwritten bytes after an idle wait.
func (j *Judge) idleReads(ev *machine.Event) {
	saw := ev.Mask &^ ev.Init
	for i := range j.watch.idles {
		w := &j.watch.idles[i]
		if l := j.ledgerOf(w.bar); l == nil || w.read.Len > 0 || w.site.CTA != ev.CTA || w.site.Warp != ev.Warp || w.site.Lanes&saw == 0 ||
			l.passed[agentID{ev.CTA, ev.Warp, int8(bits.TrailingZeros32(w.site.Lanes))}] != w.phase {
			continue
		}
		w.at, w.read = j.watch.now, eventSite("reads", ev)
		w.read.Lanes, w.read.Mem, w.read.Len = saw, ev.Mem, uint64(ev.Size)
		w.read.Addr = ev.Addr[bits.TrailingZeros32(saw)&31]
	}
}

// idleBrings checks whether a copy writes what was read too early. If the copy
// need not be issued after the read, the wait is early or lapped instead.
func (j *Judge) idleBrings(ev *machine.Event, bar machine.BarRef) {
	for i := range j.watch.idles {
		w := &j.watch.idles[i]
		if w.bar != bar || w.read.Len == 0 {
			continue
		}
		if op := ev.Op; (op.CTA != w.read.CTA || op.Warp != w.read.Warp) && j.warp(op.CTA, op.Warp).knows(op.Lane) <= w.at {
			continue
		}
		for _, s := range ev.Op.Writes {
			if s.Mem == w.read.Mem && s.Addr <= w.read.Addr && w.read.Addr < s.Addr+s.Len {
				j.idle(w, w.read, ev.PC)
				w.read.Len = 0
			}
		}
	}
}

func (j *Judge) idle(w *idle, read Site, brings int32) {
	who := fmt.Sprintf("warp %d of CTA %d", w.site.Warp, w.site.CTA)
	j.add(idleWait, Finding{
		Headline: fmt.Sprintf("%s waits at %s and passes at once, on %s; then it reads what a later phase brings", who, barName(w.bar), phaseName(w.phase)),
		Sites:    []Site{w.site, read},
		Missing:  fmt.Sprintf("the parity of %s is not that of the phase in which %s brings what %s reads", j.at(w.site.PC), j.at(brings), j.at(read.PC)),
		Fix:      "begin with parity 0 where data is awaited (1 is for a slot that is free from the start), and toggle it each time the ring wraps",
	})
}
