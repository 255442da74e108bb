package rules

import (
	"fmt"
	"math/bits"
	"strings"

	"muster/internal/machine"
	"muster/internal/order"
)

// lifetimes turns order's facts about barriers, scopes and the lives of CTAs
// into findings.
func (j *Judge) lifetimes() {
	facts := j.Order.FactList()
	widenedFacts(facts)
	for i := range facts {
		fact := &facts[i]
		if fact.Kind == order.GroupLeft && (!j.over || alsoInFlight(fact, facts)) {
			continue // the error ExitInFlight says more, or may once the CTA ends
		}
		k := factKinds[fact.Kind]
		f := describeFact[k](j, fact)
		f.Count = fact.Count
		j.add(k, f)
	}
}

var factKinds = map[order.FactKind]*Kind{
	order.ScopeDefaulted:    scopeDefaulted,
	order.InitNotOrdered:    initNotOrdered,
	order.InvalNotOrdered:   useAfterInval,
	order.BarrierTouched:    barrierOverwritten,
	order.ExitInFlight:      exitInFlight,
	order.ExitBeforeRemote:  exitBeforeRemote,
	order.RemoteBeforeStart: remoteBeforeStart,
	order.GroupLeft:         groupLeft,
	order.AskUnordered:      cancelMisuse,
}

var describeFact map[*Kind]func(*Judge, *order.Fact) Finding

func init() {
	describeFact = map[*Kind]func(*Judge, *order.Fact) Finding{
		scopeDefaulted:     (*Judge).defaultedScope,
		initNotOrdered:     (*Judge).unorderedInit,
		useAfterInval:      (*Judge).unorderedInval,
		barrierOverwritten: (*Judge).touchedBarrier,
		exitInFlight:       (*Judge).leftInFlight,
		exitBeforeRemote:   (*Judge).leftEarly,
		remoteBeforeStart:  (*Judge).cameEarly,
		groupLeft:          (*Judge).leftGroup,
		cancelMisuse:       (*Judge).unorderedRequest,
	}
}

// alsoInFlight reports whether the group's operation, or another of the same
// instruction, outlives its CTA according to a fact.
func alsoInFlight(f *order.Fact, all []order.Fact) bool {
	for i := range all {
		if all[i].Kind == order.ExitInFlight && all[i].A.PC == f.A.PC {
			return true
		}
	}
	return false
}

// ctaSite is a site that is a CTA's start or end.
func ctaSite(role string, cta int32) Site {
	return Site{Role: role, PC: -1, CTA: cta, Mem: machine.SharedOf(cta)}
}

// opSite is a site of an operation or of a thread, without a place in memory.
func (j *Judge) opSite(role string, r *order.AccessRef) Site {
	return Site{Role: role, PC: r.PC, CTA: r.CTA, Warp: r.Warp, Lanes: r.Lanes, Op: opName(r)}
}

// deed is a verb for what an instruction does with a barrier or a peer's memory.
func (j *Judge) deed(pc int32) string {
	name := j.name(pc)
	for _, d := range deeds {
		if strings.HasPrefix(name, d.prefix) {
			return d.verb
		}
	}
	return "accesses"
}

var deeds = []struct{ prefix, verb string }{
	{"mbarrier.init", "initializes"},
	{"mbarrier.inval", "invalidates"},
	{"mbarrier.arrive", "arrives"},
	{"mbarrier.expect_tx", "expects bytes"},
	{"mbarrier.complete_tx", "completes bytes"},
	{"mbarrier.test_wait", "waits"},
	{"mbarrier.try_wait", "waits"},
	{"mbarrier.pending_count", "reads a token"},
	{"cp.async.mbarrier", "arrives when its copies are done"},
	{"cp.async.bulk", "issues a bulk copy"},
	{"cp.reduce", "issues a bulk reduction"},
	{"cp.async", "issues a copy"},
	{"st.async", "issues a store"},
	{"red.async", "issues a reduction"},
	{"tcgen05.commit", "signals"},
	{"st", "writes"},
	{"red", "updates"},
	{"atom", "updates"},
	{"ld", "reads"},
}

func lanesText(r *order.AccessRef) string {
	if n := bits.OnesCount32(r.Lanes); n != 1 {
		return fmt.Sprintf("warp %d of CTA %d", r.Warp, r.CTA)
	}
	return fmt.Sprintf("lane %d of warp %d of CTA %d", bits.TrailingZeros32(r.Lanes), r.Warp, r.CTA)
}
