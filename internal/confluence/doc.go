// Package confluence tells whether one finished run decides for every schedule
// of its launch.
//
// A Prover observes a run and checks conditions C0 to C7 of the theorem in
// docs/schedules.md, each by itself. They are about ≺, the order that every
// schedule keeps: program order of each lane, what is charged to a phase of a
// barrier before every wait that saw it complete, generations of named and
// cluster barriers, warp barriers, an operation's issue before its milestones.
// It is an order of control, not of memory: scopes, relaxed forms and proxies
// have no part in it, and what this run happened to observe (who took a lock,
// which write a read saw) is not in it. Memory is the business of package order
// (C8), values of the program's own text (C9).
//
// Agents are lanes. Lanes that never part have one clock.
package confluence
