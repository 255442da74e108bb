// Package trial makes judged runs of a launch: one schedule, watched by a judge, in
// parts where clusters do not interact, within a budget of time, memory and
// instructions. Proof, prediction and exploration are built on it.
package trial

import (
	"fmt"
	"slices"
	"sync"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/ptx"
)

// A Schedule says how a run chooses among the interleavings of a launch.
type Schedule = explore.Schedule

// ProofSchedule is the schedule of the run that decides for all, where one run does.
var ProofSchedule = Schedule{Policy: explore.Latest}

// Index finds a schedule in a list; -1 if it is not there.
func Index(list []Schedule, s Schedule) int {
	return slices.IndexFunc(list, func(o Schedule) bool { return o.String() == s.String() })
}

// A Subject is a launch as runs need it. It is immutable; several goroutines may run
// it at a time.
type Subject struct {
	Program *machine.Program
	Start   *machine.Machine // never stepped; every run forks it
	Shape   machine.Shape
	Limits  Limits
	// Highest: elect.sync elects the highest lane of its mask, see Led.
	Highest bool
	// Executions: machines keep the versions of words, see Executing.
	Executions bool
	// Hands: a launch behind it begins with the memory that it leaves, so that proofs which
	// leave that open are of no use.
	Hands bool
	// Lone: it is one cluster of the launch, which gets so many others: see Granted.
	Lone bool
	Gets int

	equal  []int32 // stores at whose places judges forget nothing: see Attentive
	unused machine.OperandBytes
	skips  func() bool
}

// NewSubject returns the subject of a launch.
func NewSubject(start *machine.Machine, limits Limits) *Subject {
	return &Subject{
		Program: start.Program(), Start: start, Shape: start.Shape(), Limits: limits,
		skips: sync.OnceValue(func() bool { return start.Reaches(machine.FromMatrices) < 0 }),
	}
}

// ContentsDecide reports whether what lies in buffers may decide what runs do.
func (s *Subject) ContentsDecide() bool { return s.Start.Reaches(machine.FromBuffers) >= 0 }

// Machine returns a machine about to start, watched by o. The buffers' pages are shared
// by all until one writes to them.
func (s *Subject) Machine(o machine.Observer, p *machine.Poison) *machine.Machine {
	return s.Start.Fork(o, p)
}

// Part returns a machine for part k of n of the launch's clusters, watched by o,
// without matrix arithmetic if skip.
func (s *Subject) Part(o machine.Observer, skip bool, k, n int) *machine.Machine {
	m := s.Machine(o, nil)
	if skip {
		m.SkipMatrices()
	}
	if n > 1 {
		c := m.ClusterCount()
		m.Only(k*c/n, (k+1)*c/n-k*c/n)
	}
	return m
}

// Rules returns what a judge of the subject's runs is made of.
func (s *Subject) Rules() rules.Config {
	c := rules.Config{Shape: s.Shape, Program: s.Program, Unused: s.unused, Executions: s.Executions}
	if s.equal != nil {
		c.Equal = func(pc int32) bool { return slices.Contains(s.equal, pc) }
	}
	return c
}

// Skips reports whether matrix arithmetic cannot change the course of a run.
func (s *Subject) Skips() bool { return s.skips() }

// Overlooked returns the stores that a run showed to write what unordered stores had
// written, and at whose places its judge may have forgotten accesses.
func (s *Subject) Overlooked(j *rules.Judge) []int32 {
	return slices.DeleteFunc(slices.Clone(j.Order.EqualStores()), func(pc int32) bool { return slices.Contains(s.equal, pc) })
}

// Attentive returns the subject with judges that forget nothing at the places of
// these stores, either.
func (s *Subject) Attentive(equal []int32) *Subject {
	a := *s
	a.equal = slices.Concat(s.equal, equal)
	slices.Sort(a.equal)
	a.equal = slices.Compact(a.equal)
	return &a
}

// Without returns the subject with judges that know of bytes of operands of tcgen05.mma of which
// no result is used.
func (s *Subject) Without(unused machine.OperandBytes) *Subject {
	a := *s
	a.unused = unused
	return &a
}

// Led returns the subject in which elect.sync elects the highest lane of each mask.
//
// The ISA leaves open which lane elect.sync elects: it is the same for the same mask
// every time (9.7.13.14). On a card the lowest lane of a mask leads, and a program
// that relies on it is wrong. So a launch whose program elects leaders is checked
// with the lowest lane of every mask, and then as a launch of its own with the
// highest. Two masks that overlap have different leaders in one of the two, unless
// both have the same lowest and the same highest lane. A schedule of the second
// begins with the choice "e".
func (s *Subject) Led() *Subject {
	h := *s
	h.Highest = true
	h.Start = s.Start.Fork(nil, nil)
	h.Start.LeadHighest()
	return &h
}

// Executing returns the subject whose strong accesses may take older versions of their words, in
// schedules that say so.
func (s *Subject) Executing() *Subject {
	h := *s
	h.Executions = true
	h.Start = s.Start.Fork(nil, nil)
	h.Start.KeepVersions()
	return &h
}

// Singly returns the subject whose lanes execute activemask one by one.
func (s *Subject) Singly() *Subject {
	h := *s
	h.Start = s.Start.Fork(nil, nil)
	h.Start.LanesSingly()
	return &h
}

// Leaving returns the subject of the program without some waits for groups and wgmma.fence.
func (s *Subject) Leaving(pcs map[int32]bool) *Subject {
	h := *s
	h.Start = s.Start.Fork(nil, nil)
	h.Start.Leave(pcs)
	return &h
}

// Granted returns one cluster of a launch by itself, as it runs if its requests for clusters
// that have not started get some, in this order, and then none.
func (s *Subject) Granted(cluster int, gets []int32) *Subject {
	h := *s
	h.Lone, h.Gets = true, len(gets)
	h.Start = s.Start.Fork(nil, nil)
	h.Start.Only(cluster, 1)
	h.Start.Grant(gets)
	return &h
}

// Cluster returns one cluster of a launch by itself.
func (s *Subject) Cluster(i int) *Subject {
	h := *s
	h.Lone = true
	h.Start = s.Start.Fork(nil, nil)
	h.Start.Only(i, 1)
	return &h
}

// Numbered returns one cluster of a launch by itself, as it runs if atomic operations on a word
// find these numbers there, in their order.
func (s *Subject) Numbered(cluster int, mem machine.MemID, addr uint64, list []uint32) *Subject {
	h := s.Cluster(cluster)
	h.Start.Give(mem, addr, list)
	return h
}

// Line names a place of the program in a sentence.
func (s *Subject) Line(pc int32) string {
	if pc >= 0 && s.Program.Pos(pc) != (ptx.Pos{}) {
		return s.Program.Line(pc)
	}
	return "an instruction without a line"
}

// NameAt names an instruction and its line.
func (s *Subject) NameAt(pc int32) string {
	if in := s.Program.Inst(pc); in != nil {
		return fmt.Sprintf("%s at %s", machine.Name(in), s.Line(pc))
	}
	return s.Line(pc)
}

// Observers passes each event to several observers in turn.
type Observers []machine.Observer

// Observe makes Observers a machine.Observer.
func (o Observers) Observe(m *machine.Machine, ev *machine.Event) {
	for _, x := range o {
		x.Observe(m, ev)
	}
}
