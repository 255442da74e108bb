package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
)

var tensorUnallocated = register(Kind{
	Name:     "tensor-unallocated",
	Severity: Error,
	Order:    Conflict,
	Title:    "an access to columns of tensor memory that are not allocated then",
	Section:  "9.7.18.7",
	Text: `A tcgen05 instruction accesses columns of tensor memory that its CTA has not allocated,
or whose tcgen05.dealloc nothing orders after it. Another CTA on the multiprocessor may own
them.

tcgen05.alloc writes the address to shared memory, by an ordinary store of its warp: other
warps read it after a barrier. Before tcgen05.dealloc each access must be complete
(tcgen05.wait::ld, tcgen05.wait::st, or a commit that was waited for), and each thread that
made one must have synchronized with the warp that frees: with cta_group::2 that of each CTA,
with the accesses of both. That the two may wait for each other in dealloc orders nothing.
An address has the lane in its upper half and the column in its lower half.`,
})

// outlivedColumns is the finding for an access that no synchronization puts into the life of
// its columns.
func (j *Judge) outlivedColumns(c *order.Conflict) Finding {
	a, b := &c.Prior, &c.Cur
	f := Finding{
		Headline: fmt.Sprintf("%s: %s %s and %s %s, in no order", place(c.Span), agent(a), j.columnDeed(a), agent(b), j.columnDeed(b)),
		Sites:    j.pair(c),
		Missing:  fmt.Sprintf("no synchronization leads from %s to %s, or back", j.instr(a), j.instr(b)),
		Fix:      "let every warp that accesses the columns wait for its operations and reach a barrier before the warp that frees them",
	}
	if a.Op >= 0 && c.Why&order.IssueKnown != 0 {
		f.Missing = fmt.Sprintf("%s comes after the issue of %s, and not after its completion", j.instr(b), j.instr(a))
		f.Fix = completion(a, j.instr(a), j.instr(b))
	}
	return f
}

// columnDeed is a verb for what a side does with columns.
func (j *Judge) columnDeed(r *order.AccessRef) string {
	if r.Op >= 0 {
		return verb(r)
	}
	return "allocates or frees"
}

// tensorStop reports an access to tensor memory that ends the run.
func (j *Judge) tensorStop(k *Kind, s *machine.Stop, role, missing, fix string) {
	site := stopSite(role, s)
	site.Lanes = s.Mask
	sites := []Site{site}
	if f := j.freedAt(s); f != nil && k == tensorUnallocated {
		sites = []Site{*f, site}
	}
	j.add(k, Finding{
		Headline: fmt.Sprintf("%s, warp %d of CTA %d: %s", j.at(s.PC), s.Warp, s.CTA, s.Msg),
		Sites:    sites,
		Missing:  missing,
		Fix:      fix,
	})
}

// freedAt returns where the columns of an access were freed last, or nil.
func (j *Judge) freedAt(s *machine.Stop) (by *Site) {
	for i := range j.watch.freed {
		if f := &j.watch.freed[i]; s.Size > 0 && f.at.Mem == s.Mem && f.at.Addr <= s.Addr && s.Addr < f.at.Addr+f.at.Len {
			by = &f.by
		}
	}
	return by
}

// freedColumns are columns of tensor memory that a dealloc freed.
type freedColumns struct {
	at machine.Span
	by Site
}

// maxFreed bounds the deallocs that are kept for reports.
const maxFreed = 256
