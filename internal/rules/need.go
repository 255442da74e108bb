package rules

import (
	"fmt"
	"math/bits"

	"muster/internal/machine"
	"muster/internal/order"
)

// A Lack says what stands between two places of a finding in no form that suffices.
type Lack uint8

// The lacks. Package near looks in a run for the nearest thing of the kind.
const (
	LacksNothing     Lack = iota
	LacksGroupWait        // a wait for an async-group, by the thread that issued First
	LacksPhase            // a wait for the phase of Bar that First is charged to
	LacksFence            // a fence.proxy.async of Space
	LacksSync             // synchronization between agents that are Apart
	LacksScope            // a release or an acquire of a scope that agents so far Apart share
	LacksMatrixFence      // a wgmma.fence before Then, by its warp
	LacksArrival          // an arrival at Bar behind Then, by the thread of Then
)

// Behind reports whether the lack is one of Then alone.
func (l Lack) Behind() bool { return l == LacksArrival || l == LacksMatrixFence }

// A Need is what a finding lacks, in terms of a run.
type Need struct {
	Lack Lack
	// First and Then are the two places, in the order that the text of the finding gives
	// them. FirstOp and ThenOp are numbers of asynchronous operations (machine.Op.ID), -1
	// for what threads do.
	First, Then     Site
	FirstOp, ThenOp int64
	Group           machine.Group
	All             bool // a wait for the result, not only for the source to be read
	Bar             machine.BarRef
	Phase           int64 // of Bar, for LacksArrival
	Space           machine.Spaces
	Apart           order.Distance
	// Known: First is issued before Then in every schedule.
	Known bool
}

// need returns what a conflict lacks.
func (j *Judge) need(lack Lack, c *order.Conflict) Need {
	a, b := &c.Prior, &c.Cur
	return Need{
		Lack: lack, First: j.site(a, c.Span), Then: j.site(b, c.Span), FirstOp: a.Op, ThenOp: b.Op,
		Group: a.Group, All: writes(a), Bar: a.Bar, Space: spaces(c), Apart: c.Apart, Known: c.Why&order.IssueKnown != 0,
	}
}

// completionNeed is the wait that a conflict with an operation in flight lacks.
func (j *Judge) completionNeed(c *order.Conflict) Need {
	switch {
	case c.Prior.Barrier:
		return j.need(LacksPhase, c)
	case commitName(&c.Prior) != "":
		return j.need(LacksGroupWait, c)
	}
	return Need{}
}

// spaces is the state space that a proxy fence has to cover for a conflict.
func spaces(c *order.Conflict) machine.Spaces {
	switch {
	case c.Span.Mem == machine.Global:
		return machine.SpaceGlobal
	case c.Away:
		return machine.SpaceSharedCluster
	}
	return machine.SpaceSharedCTA
}

// Scope is the narrowest scope that includes the agents of a need.
func (n *Need) Scope() machine.Scope {
	return [...]machine.Scope{machine.ScopeCTA, machine.ScopeCTA, machine.ScopeCTA, machine.ScopeCluster, machine.ScopeGPU}[n.Apart]
}

// At names an instruction and its line as findings do.
func At(p *machine.Program, pc int32) string {
	if in := p.Inst(pc); in != nil {
		return fmt.Sprintf("%s at %s", short(machine.Name(in)), p.Line(pc))
	}
	return "an unnamed instruction"
}

// Who names lanes of a warp as findings do.
func Who(cta, warp int32, lanes uint32) string {
	if bits.OnesCount32(lanes) == 1 {
		return fmt.Sprintf("lane %d of warp %d of CTA %d", bits.TrailingZeros32(lanes), warp, cta)
	}
	return fmt.Sprintf("warp %d of CTA %d", warp, cta)
}

// GroupWait is the instruction that waits for operations of a group, or with all for their
// results too.
func GroupWait(g machine.Group, all bool) string {
	a := order.AccessRef{Group: g}
	return waitName(&a, all)
}
