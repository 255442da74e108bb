package rules

import (
	"fmt"
	"slices"

	"muster/internal/coherence"
	"muster/internal/machine"
)

var staleValue = register(Kind{
	Name:     "stale-value",
	Severity: Error,
	Order:    Conflict,
	Title:    "a strong access returns an overwritten value, and the result is one that no interleaving has",
	Section:  "8.10",
	Text: `Strong accesses of morally strong threads do not race, but by themselves they order
nothing else: a thread may read a flag and still see an older value of another word,
two threads may store one word each and then read the other's old value, and two
stores may reach others in the opposite order (ISA 8.9.5, 8.9.6, 8.10). Here such an
execution ends with a memory that no interleaving of the threads leaves.

The elements of a vector access are accesses of their own, in no order (ISA 8.2.4): one may
return the new value and another the old one, whether or not the store wrote both by one
instruction, and no fence orders the elements of one instruction. Cards deliver an aligned
load or store of up to 16 bytes at once, and libraries such as NCCL (protocol LL) rely on that: a
launch file that assumes it says assume: [vector-atomic].

The usual causes: a flag that is written or read by .relaxed or volatile without a
fence (volatile is .relaxed with .sys scope, ISA 8.4.2), an acquire without its release, and
threads that each write one word and then read another's, which only fence.sc
between the two accesses in each of them makes come out as expected.

One case is a warning, since it is contested: the last block as the CUDA Programming Guide
has it (memory fence functions), which draws a ticket by an atomic operation without a fence
behind it, and then reads what the others wrote by volatile loads, where that fence is all
that is lacking.

A card shows it rarely: the value must be in flight at that moment. It may never show on
one, and the ISA does not promise that.

Mend it where a flag is handed on by a release (st.release, or fence.acq_rel before a
strong store) and an acquire that reads it (ld.acquire, or fence.acq_rel after a
strong load), both of a scope that holds the two threads; where threads look at each
other's words by fence.sc between the store and the load. Put a flag and its value into one
scalar of 8 bytes, or of 16 (.b128), not into two elements of a vector.`,
})

// staleWords adds the finding of an execution that is no interleaving and comes to its end with no
// other error. Whether some interleaving leaves the same memory is for others to say
// (package executions).
func (j *Judge) staleWords() {
	if j.Words == nil || !j.over || Erred(j.findings) {
		return
	}
	if s := j.Words.Stale(); s != nil {
		j.add(staleValue, j.staleValue(s))
	}
}

// behindErrors says of the errors of an execution that is no interleaving which access of it takes
// an overwritten value. Where an interleaving has the error too, it is told by that one.
func (j *Judge) behindErrors() {
	if j.Words == nil || !Erred(j.findings) {
		return
	}
	s := j.Words.Stale()
	if s == nil {
		return
	}
	stale := j.staleValue(s)
	for i := range j.findings {
		if f := &j.findings[i]; f.Severity == Error && !IsStale(f) {
			f.Behind = stale.Sites
			f.Missing = together(fmt.Sprintf("before it, %s: %s", j.overwrittenValue(s), stale.Missing), "and ", f.Missing)
			f.Fix = together(stale.Fix, "or, where no more than that access is as it is meant to be, ", f.Fix)
		}
	}
}

// overwrittenValue says which overwritten value an access takes.
func (j *Judge) overwrittenValue(s *coherence.Stale) string {
	span := machine.Span{Mem: s.Word.Mem, Addr: s.Word.Addr, Len: uint64(s.Word.Size)}
	if s.Writes {
		return fmt.Sprintf("the store of %s by %s to %s comes before that of %s by %s in coherence order, though it came later",
			lane(&s.Access), j.at(s.PC), place(span), lane(&s.Over), j.at(s.Over.PC))
	}
	return fmt.Sprintf("%s reads by %s %s in %s, which %s had overwritten by %s", lane(&s.Access), j.at(s.PC), j.took(s), place(span), lane(&s.Over), j.at(s.Over.PC))
}

// took says whose value an access takes.
func (j *Judge) took(s *coherence.Stale) string {
	if s.Took.PC < 0 {
		return "what was there at the beginning"
	}
	return fmt.Sprintf("what %s wrote by %s", lane(&s.Took), j.at(s.Took.PC))
}

func lane(a *coherence.Access) string {
	return fmt.Sprintf("lane %d of warp %d of CTA %d", a.Lane, a.Warp, a.CTA)
}

// together joins two things that are said, of which either may be missing.
func together(first, by, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "; " + by + second
}

// Erred reports whether some finding is an error.
func Erred(list []Finding) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Severity == Error })
}

// IsStale reports whether a finding is of an execution that is no interleaving.
func IsStale(f *Finding) bool { return f.Kind == staleValue.Name }

func (j *Judge) staleValue(s *coherence.Stale) Finding {
	span := machine.Span{Mem: s.Word.Mem, Addr: s.Word.Addr, Len: uint64(s.Word.Size)}
	site := func(role string, a *coherence.Access) Site {
		return Site{Role: role, PC: a.PC, CTA: a.CTA, Warp: a.Warp, Lanes: 1 << a.Lane, Mem: span.Mem, Addr: span.Addr, Len: span.Len}
	}
	scope := ".gpu"
	if s.CTA == s.Over.CTA {
		scope = ".cta"
	}
	f := Finding{
		Sites:   []Site{site("overwrites", &s.Over), site("reads", &s.Access)},
		Missing: fmt.Sprintf("causality order does not say that %s comes before %s, and so not that its value is seen", j.at(s.Over.PC), j.at(s.PC)),
		Fix: fmt.Sprintf("a release behind the store and an acquire before the load that reads it, in the threads that hand on a flag; or fence.sc%s between the store of one word "+
			"and the load of another, in each thread that does both", scope),
	}
	if s.Torn {
		f.Missing = fmt.Sprintf("the elements of %s are accesses of their own, in no order (ISA 8.2.4)", j.vector(s))
		f.Fix = "one scalar of 8 bytes, or of 16 (.b128), for what belongs together; or a flag of its own with a release and an acquire. Cards deliver an aligned vector of up to 16 bytes at once: a launch file that relies on that says assume: [vector-atomic]"
	}
	f.Headline = fmt.Sprintf("%s: %s reads %s, which %s had overwritten; no interleaving leaves this result", place(span), lane(&s.Access), j.took(s), lane(&s.Over))
	if s.Writes {
		f.Sites[1].Role = "writes"
		f.Headline = fmt.Sprintf("%s: the store of %s comes before that of %s in coherence order, though it came later; no interleaving leaves this result", place(span), lane(&s.Access), lane(&s.Over))
		if !s.Torn {
			f.Missing = fmt.Sprintf("causality order does not say that %s comes before %s", j.at(s.Over.PC), j.at(s.PC))
		}
	}
	return f
}

// vector names the one of the two accesses that has several elements.
func (j *Judge) vector(s *coherence.Stale) string {
	switch {
	case s.Several:
		return j.at(s.PC)
	case s.Over.Several:
		return j.at(s.Over.PC)
	}
	return "a vector access"
}
