package rules

import (
	"fmt"

	"muster/internal/order"
)

var barrierOverwritten = register(Kind{
	Name:     "barrier-overwritten",
	Severity: Error,
	Order:    Conflict,
	Title:    "an ordinary or bulk access touches the word of a live mbarrier",
	Section:  "9.7.13.15.3",
	Text: `Between mbarrier.init and mbarrier.inval the eight bytes of the object belong
to mbarrier operations alone; any other access to them is undefined (ISA
9.7.13.15.3). A store or a bulk copy that lands there destroys the counts, or is
lost; a load sees either the word or what was stored before the init.

On an H200 the word need not be in memory at all while the barrier lives: with few
live barriers a load returns what was there before, and inval writes the word back,
over whatever was stored meanwhile.

The usual causes are a copy one tile too long, or a shared-memory layout whose
buffers overlap the barriers; reading a barrier's word to debug is another.

Mend it by keeping data and barriers apart, or by mbarrier.inval before the bytes
are used for something else.`,
})

func (j *Judge) touchedBarrier(f *order.Fact) Finding {
	a, b := &f.A, &f.B
	from := j.opSite("initializes", a)
	from.Mem, from.Addr, from.Len = f.Span.Mem, f.Span.Addr, f.Span.Len
	return Finding{
		Headline: fmt.Sprintf("%s %s the word of the live mbarrier at shared+%d of CTA %d", agent(b), verb(b), f.Span.Addr, f.Span.Mem.CTA()),
		Sites:    []Site{from, j.site(b, f.Span)},
		Missing:  fmt.Sprintf("no mbarrier.inval between %s and %s", j.at(a.PC), j.at(b.PC)),
		Fix:      fmt.Sprintf("keep what %s accesses off the barrier's eight bytes, or mbarrier.inval before it", j.at(b.PC)),
	}
}
