// Package confluence checks whether one finished run decides for every schedule of
// its launch.
//
// A Prover observes a run and checks conditions C0 to C7 and C10 of the theorem in
// docs/schedules.md, each by itself. They concern ≺, the order that every schedule
// keeps: program order of each lane, what is charged to a phase of a barrier before
// every wait that saw it complete, generations of named and cluster barriers, warp
// barriers, an operation's issue before its milestones. ≺ is an order of control, not
// of memory: scopes, relaxed forms and proxies do not affect it, and it excludes what
// only this run observed (which thread took a lock, which write a read saw). Memory
// is left to package order (C8), values to the program's own text (C9).
//
// Of C9 it checks what only a run shows: waits for words of memory, and that requests for
// clusters come one after the other.
//
// Agents are lanes. Lanes that never diverge share one clock.
package confluence
