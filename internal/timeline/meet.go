package timeline

import (
	"slices"

	"muster/internal/machine"
	"muster/report"
)

// This file records at what a step or an operation meets others: who arrives before, and who
// passes behind, the same phase of an mbarrier, generation of a named barrier or phase of a
// cluster's barrier. Arrows show the last arrival alone; a way from one step to another may
// begin at any.

// A meeting is one end of such an order: how says which.
type meeting struct {
	how   string
	where int64 // a track; of barrier.cluster the cluster's first CTA
	phase int64
}

// The ends: what comes before, and what comes behind.
const (
	arrivesAt       = "arrives_at"
	findsComplete   = "finds_complete"
	comesTo         = "comes_to"
	passes          = "passes"
	clusterArrives  = "arrives_at_cluster"
	clusterPasses   = "passes_cluster"
	meetingPhase    = "of_phase"
	syncsLanes      = "syncs_lanes" // of its warp, which pass bar.warp.sync in the step
	mostMeetings    = 8             // of one step
	mostOfOperation = 8
)

// meet records what an event that an observer of all asks for meets.
func (r *Recorder) meet(ev *machine.Event) {
	switch ev.Kind {
	case machine.EvMbar:
		r.meetMbar(ev)
	case machine.EvMbarWait:
		if id, ok := r.WordTrack(ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr); ok && ev.Mbar.OK {
			r.met(meeting{findsComplete, int64(id), ev.Mbar.Phase})
		}
	case machine.EvBarArrive, machine.EvBarPass:
		if g := r.all.named[namedBar{ev.CTA, ev.Bar}]; g != nil {
			how := comesTo
			if ev.Kind == machine.EvBarPass {
				how = passes
			}
			r.met(meeting{how, int64(g.track), int64(ev.Gen)})
		}
	case machine.EvWarpSync:
		if c := r.now.choice; c.Kind != machine.Start && c.CTA == ev.CTA && c.Warp == ev.Warp {
			r.now.synced |= ev.Mask
		}
	case machine.EvClusterArrive, machine.EvClusterWait:
		how := clusterArrives
		if ev.Kind == machine.EvClusterWait {
			how = clusterPasses
		}
		r.met(meeting{how, int64(slices.Min(append(r.m.ClusterOf(ev.CTA), ev.CTA))), int64(ev.Gen)})
	}
}

// meetMbar records an arrival, or bytes that are reported, at an mbarrier.
func (r *Recorder) meetMbar(ev *machine.Event) {
	id, ok := r.WordTrack(ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr)
	switch ev.Mbar.Op {
	case machine.MbarInit, machine.MbarInval, machine.MbarExpectTx:
		return
	}
	if !ok {
		return
	}
	x := meeting{arrivesAt, int64(id), ev.Mbar.Phase}
	if ev.Op == nil {
		r.met(x)
	} else if o := r.ops[ev.Op.ID]; o != nil && len(o.meets) < mostOfOperation && !slices.Contains(o.meets, x) {
		o.meets = append(o.meets, x)
	}
}

func (r *Recorder) met(x meeting) {
	if len(r.now.meets) < mostMeetings && !slices.Contains(r.now.meets, x) {
		r.now.meets = append(r.now.meets, x)
	}
}

// meetings adds meetings to a mark's arguments, each as two.
func meetings(args []report.TraceArg, list []meeting) []report.TraceArg {
	for _, x := range list {
		args = append(args, report.TraceArg{Name: x.how, Number: x.where}, report.TraceArg{Name: meetingPhase, Number: x.phase})
	}
	return args
}
