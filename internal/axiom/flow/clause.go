package flow

// A Clause is a set of axioms, or of clauses of their definitions, that a search leaves out.
// Tests leave them out one by one, to see that something depends on each.
type Clause uint32

const (
	WithoutCoherence   Clause = 1 << iota // 8.10.1
	WithoutFenceSC                        // 8.9.3, 8.10.2
	WithoutAtomicity                      // 8.10.3
	WithoutPerLocation                    // 8.10.5
	WithoutCausality                      // 8.10.6
	WithoutChains                         // 8.9.2: observation through atomic operations
	WithoutObservation                    // 8.9.5: observation before base causality order
	WithoutBarriers                       // 8.9.4
	// The forms of release and acquire patterns (8.8): the access alone, with another one
	// behind or before it, and a fence.
	WithoutRelease
	WithoutReleaseBefore
	WithoutReleaseFence
	WithoutAcquire
	WithoutAcquireBehind
	WithoutAcquireFence
	// Moral strength (8.7): of the write and the read of an observation (8.9.2), of the first and
	// the last operation of synchronizing patterns (8.9.4), of fence.sc (8.9.3).
	WithoutStrongObservation
	WithoutStrongPatterns
	WithoutStrongFences
	// A barrier orders the threads of a CTA alone (8.9.4): those of a warp of another CTA too.
	WithoutBarrierScope
	// A reduction's read forms no acquire pattern (8.11.1).
	WithoutReductions
)

// lacks reports whether a clause is left out.
func (g *graph) lacks(c Clause) bool { return g.p.without&c != 0 }

// Without returns a program whose executions are enumerated without some clauses.
func (p *Program) Without(c Clause) *Program {
	q := *p
	q.without |= c
	return &q
}
