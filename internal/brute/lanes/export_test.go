package lanes

import "math/rand/v2"

// Walk reports whether one of some interleavings at random races by happens-before. It
// takes no program that is Asynchronous. With told, a vote or a shfl tells its lanes what
// one of them knows of other warps.
func Walk(p *Program, r *rand.Rand, times int, told bool) bool { return walk(p, r, times, told) }

// ExploreGroupSteps is ExploreGroup with every operation as a step of its own.
func ExploreGroupSteps(g *Group, edge Edge, limit int) GroupResult {
	return exploreGroup(g, edge, limit, true)
}
