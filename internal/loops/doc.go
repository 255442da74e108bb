// Package loops tells whether the run of a launch repeats: whether what its
// warps do in one period of their loops is what they do in the next, so that a
// launch with more periods does the same, only longer.
//
// A Recorder observes a run, next to a confluence.Prover, and keeps every visible
// event with the turn of the loop it belongs to and what it comes after. Repeat
// finds the period, and Check holds a run to it: the same events each period, the
// phases of every barrier further by the same number, and no event that comes
// after one of a later turn. docs/loops.md has the argument that then every
// larger number of turns is proven. How registers go on is not seen here: that is
// machine.Follower's.
//
// A turn is counted in ticks, of which each warp's period has as many.
package loops
