package flow

// A Clause is a set of axioms, or of clauses of their definitions, that a search leaves out.
// Tests leave them out one by one, to see that something depends on each.
type Clause uint16

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
)

// lacks reports whether a clause is left out.
func (g *graph) lacks(c Clause) bool { return g.p.without&c != 0 }
