// Package brute runs small programs under every schedule, as the yardstick that
// proofs are measured by. It shares no code with the machine, the order, the
// conditions or the exploration of this module, and is written from the ISA and
// from what an H200 answered.
//
// A Program is a few threads over a few barriers and memory slots. Explore visits
// every interleaving of their visible operations and of the milestones of their
// asynchronous ones, and says what can come out: final memories, states in which
// nobody moves, faults, and pairs of conflicting accesses that can be next to each
// other. Generate makes random programs, Program.PTX writes them as kernels.
//
// Not modelled: proxies, scopes and weak memory (every interleaving is sequentially
// consistent), and the contents of a slot beyond its first word.
package brute
