package lanes

import "math/rand/v2"

// Walk reports whether one of some interleavings at random races by happens-before. It
// takes no program that is Asynchronous.
func Walk(p *Program, r *rand.Rand, times int) bool { return walk(p, r, times) }
