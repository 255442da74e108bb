// Package loops decides whether the run of a launch repeats: whether its warps do the
// same in each period of their loops, so that a launch with more periods does the
// same, only longer.
//
// A Recorder observes a run, next to a confluence.Prover, and keeps every visible
// event with the turn of the loop it belongs to and what it comes after. Repeats
// tests a period, and Check checks a run against it: the same events each period, the
// phases of every barrier advanced by the same number, and no event that comes after
// one of a later turn. docs/loops.md has the argument that then every larger number
// of turns is proven. How registers grow is left to machine.Follower.
//
// Turns are measured in ticks; every warp's period has the same number of ticks.
package loops
