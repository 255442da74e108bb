package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
)

var scopeDefaulted = register(Kind{
	Name:     "scope-defaulted",
	Severity: Warning,
	Title:    "synchronization between CTAs that relies on a scope left out",
	Habit:    true,
	Section:  "9.7.13.15.13",
	Text: `One CTA arrives at an mbarrier of another CTA of its cluster, or waits for
such an arrival, with the scope qualifier left out. What they synchronize is
relied upon between CTAs.

Who disagrees. The ISA says that a missing scope of mbarrier.arrive, test_wait and
try_wait is .cta; between CTAs such a release and acquire do not synchronize by
the letter. Public pipelines, libraries of the vendor among them, arrive remotely
with the scope left out and rely on it as if it were .cluster, and we know of no
failure on a card. So it is honoured here, with this warning; a scope that is written
as .cta is not, and is an error by the name scope-too-narrow.

Mend it by writing .release.cluster on the remote arrive and .acquire.cluster on
the wait that meets it. A tcgen05.commit has no scope to write: there the wait alone
names it.`,
})

func (j *Judge) defaultedScope(f *order.Fact) Finding {
	a, b := &f.A, &f.B
	missing := fmt.Sprintf("%s and %s are in different CTAs; .cluster is written on neither, or on one alone", j.at(a.PC), j.at(b.PC))
	fix := fmt.Sprintf(".release.cluster on %s, .acquire.cluster on %s", j.at(a.PC), j.at(b.PC))
	if a.Scope == machine.ScopeSys { // a commit's arrival, which has no scope to write
		missing = fmt.Sprintf("%s and %s are in different CTAs, and %s does not name .cluster", j.at(a.PC), j.at(b.PC), j.at(b.PC))
		fix = ".acquire.cluster on " + j.at(b.PC)
	}
	return Finding{
		Headline: fmt.Sprintf("CTA %d acquires what CTA %d released, and a scope that is left out counts as .cta by the letter", b.CTA, a.CTA),
		Sites:    []Site{j.opSite("releases", a), j.opSite("acquires", b)},
		Missing:  missing,
		Fix:      fix,
		Notes:    []string{"contested: the ISA's default is .cta; public pipelines rely on .cluster, and the check goes on as if it were written"},
	}
}
