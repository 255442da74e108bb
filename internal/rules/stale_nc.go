package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
)

var staleNC = register(Kind{
	Name:     "stale-nc",
	Severity: Error,
	Title:    "ld.global.nc of data written in the same launch",
	Section:  "9.7.9.9",
	Text: `ld.global.nc reads through the non-coherent path, for data that nobody writes
while the kernel runs. Read-only for the kernel means for the launch: where some
thread of the same launch wrote the bytes, the load may return what an SM's cache
holds from before, and no barrier and no fence changes that, since the path takes no
part in them (ISA 9.7.9.9, 8.6).

Compilers emit it for const __restrict__ pointers and for __ldg. The promise is the
programmer's: a buffer that is passed to the kernel a second time through another
pointer breaks it.

Mend it with an ordinary ld.global (drop const __restrict__ or __ldg on that
pointer), synchronized with the store; or move the store into a launch before.`,
})

func (j *Judge) staleRead(c *order.Conflict) Finding {
	store, load := &c.Prior, &c.Cur
	if load.Proxy != machine.Constant {
		store, load = load, store
	}
	f := Finding{
		Headline: fmt.Sprintf("%s: %s reads through the non-coherent path what %s writes in this launch", place(c.Span), agent(load), agent(store)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("nothing can make the write by %s visible to %s within one launch", j.instr(store), j.instr(load)),
		Fix:      fmt.Sprintf("an ordinary ld.global in place of %s, synchronized with the store", j.instr(load)),
	}
	canonical(&f)
	return f
}
