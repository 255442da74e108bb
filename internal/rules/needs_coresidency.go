package rules

import (
	"fmt"

	"muster/internal/machine"
)

var needsCoresidency = register(Kind{
	Name:     "needs-coresidency",
	Severity: Warning,
	Title:    "CTAs that wait on each other, and nothing makes them resident together",
	Section:  "2.2.3",
	Text: `A CTA spins on global memory for what another CTA writes. CTAs of one cluster run
at the same time (ISA 2.2.2); those of different clusters execute independently, and
nothing says that one starts before another has ended (2.2.3). Where more CTAs wait
than the GPU holds at a time, those that have started wait for ever for those that
have not. A launch that fits today hangs on a smaller GPU, beside another kernel, or
with a larger grid.

It is shown by a run in which no further cluster starts until those that have can
go no further. A CTA that only waits for ones of lower number, which start first,
does not show it.

The usual shapes: a grid barrier by an atomic counter, a split-K semaphore on which
lower tiles wait for higher ones, a persistent kernel whose CTAs hand work on.

Mend it with a cooperative launch, which is refused if not all CTAs fit, or with one
cluster; or let every CTA wait only for CTAs of lower number, as a look-back scan
does, best with numbers that an atomic hands out as CTAs start. Where the launch
is cooperative, say so in the launch file: cooperative: true.`,
})

// A Stuck is a state in which no started CTA can go on, and one of them waits for
// another value in global memory.
type Stuck struct {
	Program *machine.Program
	At      machine.WaitingSplit
	Started int  // CTAs
	All     int  // of the grid
	Several bool // launches
}

// NeedsCoresidency is the finding for a Stuck.
func NeedsCoresidency(s Stuck) Finding {
	at := Site{Role: "waits", PC: s.At.PC, CTA: s.At.CTA, Warp: s.At.Warp, Lanes: s.At.Mask, Mem: s.At.Mem, Addr: s.At.Addr, Len: 4}
	f := Predicted{Program: s.Program}
	fix := "launch cooperatively, which is refused if not all CTAs fit, or as one cluster; or wait only for CTAs of lower number"
	if s.Several {
		fix = "let the launch that waits come after the one that ends the wait: in one stream, behind an event or an edge"
	}
	return Finding{
		Kind: needsCoresidency.Name, Severity: needsCoresidency.Severity, Count: 1,
		Headline: fmt.Sprintf("CTA %d waits for what a CTA writes that need not be resident: with %d of %d CTAs started, none can go on", s.At.CTA, s.Started, s.All),
		Sites:    []Site{at},
		Missing:  fmt.Sprintf("nothing makes the CTA that ends the wait of %s start before this one ends", f.line(&at)),
		Fix:      fix,
	}
}
