// Package timeline shows a run as tracks over time, for a report.Tracer: what each warp
// executes and what it waits for, asynchronous operations from their issue to their signal,
// each mbarrier with its phases, pending arrivals and tx-count, and bytes in flight. An arrow leads from what
// completes a phase to the waits that it wakes, and from what issues an operation to the
// operation. The time is the step of the schedule.
//
// A Recorder observes a machine that it steps through a run. It keeps what is open (a phase,
// an operation in flight, a wait) and nothing else, so that a run of any length can be
// written as it goes.
package timeline

import (
	"muster/internal/machine"
	"muster/internal/resolve"
	"muster/internal/story"
	"muster/report"
)

// Categories of the marks, which queries select by.
const (
	catStep    = "step"
	catWait    = "wait"
	catOp      = "operation"
	catStage   = "stage"
	catPhase   = "phase"
	catFinding = "finding"
	catRun     = "run"
	catSlot    = "slot"
)

// A Recorder shows one run.
type Recorder struct {
	out    report.Tracer
	names  *story.Namer
	res    *resolve.Resolver
	m      *machine.Machine
	ids    uint64 // of tracks
	flows  uint64
	ctas   map[int32]*cta
	code   map[int32]*place
	sites  map[int][]Site // of the finding, by step
	buf    []machine.Lanes
	now    step
	bars   map[barrier]*phases
	ops    map[int64]*op
	closed map[groups]int64   // how many have been
	words  map[barrier]uint64 // the tracks of mbarriers, of those that are gone too
	all    *all               // what All adds; nil without
	slots  *slots             // what Slots adds; nil without
	// Before and After, unless nil, are called before and after each step.
	Before, After func(step int)
}

// A step is what the run's present step has done.
type step struct {
	n        int64 // its number; it lasts from n-1 to n
	choice   machine.Choice
	mask     uint32 // the lanes that take it, at pc
	pc       int32
	from, to []uint64
	touched  []barrier // mbarriers whose counts to show
	flown    *flight   // whose bytes to show
	meets    []meeting // what it synchronizes with
	synced   uint32    // lanes of its warp that pass bar.warp.sync in it
	op       uint64    // the track of the last operation that it issues, or whose milestone it is
}

// A Site is a step that is a place of the finding that a run shows.
type Site struct {
	Step                 int
	Site                 int // of the finding's
	Kind, Role, Headline string
	Op                   bool // it is of an asynchronous operation: the step issues it, or is a milestone
}

// A cta holds the tracks of a CTA.
type cta struct {
	track  uint64
	warps  map[int32]*warp
	bars   []barrier // that it has had
	open   bool      // it runs
	flight *flight   // nil: it has issued no copy
}

// A warp holds the tracks of a warp, and the waits of its lanes.
type warp struct {
	track uint64
	rows  map[string][]*row
	waits []*wait
}

// A place is what is known of an instruction.
type place struct {
	name, file string
	line       int
	ptx        string // where it stands in the PTX
	ptxLine    int
}

// New returns a recorder that shows a run to out, with the sites of a finding in it.
func New(out report.Tracer, names *resolve.Resolver, sites []Site) *Recorder {
	r := &Recorder{out: out, names: story.NewNamer(names), res: names, ctas: map[int32]*cta{}, code: map[int32]*place{},
		sites: map[int][]Site{}, bars: map[barrier]*phases{}, ops: map[int64]*op{}, closed: map[groups]int64{}, words: map[barrier]uint64{}}
	for _, s := range sites {
		r.sites[s.Step] = append(r.sites[s.Step], s)
	}
	return r
}

// Run says of which run a trace is.
type Run struct {
	Kernel, Schedule, Finding string
	Cut                       string // why it ends before the run does; empty if it does not
	Args                      []report.TraceArg
}

// Go steps a machine that the recorder observes through a run. It ends early if the tracer
// fails.
func (r *Recorder) Go(m *machine.Machine, run []machine.Choice, about Run) error {
	r.m = m
	all := r.track(report.TraceTrack{Name: "schedule", Text: Unit, Kind: report.TrackSchedule})
	for i, c := range run {
		if err := r.out.Err(); err != nil {
			return err
		}
		if r.Before != nil {
			r.Before(i + 1)
		}
		r.take(int64(i+1), c)
		if r.After != nil {
			r.After(i + 1)
		}
	}
	end := int64(len(run))
	if about.Cut == "" {
		m.Conclude()
	}
	r.close(end)
	args := append(about.Args, report.TraceArg{Name: "kernel", Text: about.Kernel}, report.TraceArg{Name: "schedule", Text: about.Schedule},
		report.TraceArg{Name: "steps", Number: end}, report.TraceArg{Name: "time", Text: Unit}, report.TraceArg{Name: "end", Text: r.ending(about)})
	if about.Finding != "" {
		args = append(args, report.TraceArg{Name: "finding", Text: about.Finding})
	}
	r.slice(all, 0, end, report.TraceMark{Name: about.Kernel, Category: catRun, Args: args})
	return r.out.Err()
}

// WordTrack returns the track of an mbarrier, of one that is gone too.
func (r *Recorder) WordTrack(mem machine.MemID, addr uint64) (uint64, bool) {
	id, ok := r.words[barrier{mem, addr}]
	return id, ok
}

// Unit says what the time of a trace is.
const Unit = "1 µs is 1 step of the schedule: the order of what happened, and no time of a card"

func (r *Recorder) ending(about Run) string {
	st := r.m.Stopped()
	switch {
	case about.Cut != "":
		return "the trace ends before the run: " + about.Cut
	case st == nil:
		return "every CTA has ended"
	case st.Kind == machine.Deadlock:
		return "nothing can go on"
	}
	where, _ := r.res.Where(st.PC)
	return "it stops at " + where
}

// take performs a step and shows it.
func (r *Recorder) take(n int64, c machine.Choice) {
	r.now = step{n: n, choice: c, pc: -1, from: r.now.from[:0], to: r.now.to[:0], touched: r.now.touched[:0], meets: r.now.meets[:0]}
	by := c.Kind == machine.Run || c.Kind == machine.Alone || c.Kind == machine.Subset || c.Kind == machine.GiveUp
	if by {
		r.buf = r.m.Splits(c.CTA, c.Warp, r.buf[:0])
		for _, s := range r.buf {
			if s.Mask>>c.Lane&1 != 0 {
				r.now.mask, r.now.pc = s.Mask, s.PC
			}
		}
		if c.Kind == machine.Alone {
			r.now.mask = 1 << c.Lane
		}
		if c.Kind == machine.Subset {
			r.now.mask = uint32(c.Op)
		}
	}
	r.m.Step(c)
	r.counts()
	r.flown()
	r.slots.stepped(r)
	r.all.stepped(r)
	if by {
		r.executed()
	}
	if c.Kind == machine.Start {
		r.started(r.m.ClusterOf(c.CTA))
	}
	r.finding()
}

// started shows what warps of CTAs wait for that have executed nothing yet.
func (r *Recorder) started(ctas []int32) {
	for _, i := range ctas {
		for k := int32(0); ; k++ {
			if r.buf = r.m.Splits(i, k, r.buf[:0]); len(r.buf) == 0 {
				break
			}
			r.asleep(i, k, r.warp(i, k), ^uint32(0))
		}
	}
}

// executed shows the step of a warp.
func (r *Recorder) executed() {
	c, w := r.now.choice, r.warp(r.now.choice.CTA, r.now.choice.Warp)
	r.wake(w)
	p := r.place(r.now.pc)
	mark := report.TraceMark{Name: p.name, Category: catStep, From: r.now.from, To: r.now.to, File: p.file, Line: p.line, PTX: p.ptx, PTXLine: p.ptxLine}
	if r.now.mask != ^uint32(0) {
		mark.Args = append(mark.Args, report.TraceArg{Name: "lanes", Text: r.names.Lanes(r.now.mask)})
	}
	if c.Kind == machine.GiveUp {
		mark.Args = append(mark.Args, report.TraceArg{Name: "wait", Text: "given up, as a bound or a timeout would"})
	}
	if r.now.synced&^r.now.mask != 0 {
		mark.Args = append(mark.Args, report.TraceArg{Name: syncsLanes, Text: r.names.Lanes(r.now.synced)})
	}
	mark.Args = meetings(mark.Args, r.now.meets)
	r.slice(w.track, r.now.n-1, r.now.n, mark)
	r.asleep(c.CTA, c.Warp, w, r.now.mask)
}

// finding shows which place of the finding the step is.
func (r *Recorder) finding() {
	for _, s := range r.sites[int(r.now.n)] {
		c := r.now.choice
		mark := report.TraceMark{Kind: report.TraceInstant, Time: r.now.n - 1, Name: s.Kind + ": " + s.Role, Category: catFinding,
			Args: []report.TraceArg{{Name: "finding", Text: s.Headline}, {Name: "step", Number: r.now.n}}}
		if r.all != nil {
			mark.Args = append(mark.Args, report.TraceArg{Name: "site", Number: int64(s.Site)})
		}
		switch {
		case s.Op && r.now.op != 0:
			// A step that issues an operation lies before it, and within its slice.
			mark.Track, mark.Time = r.now.op, r.now.n
		case c.Kind == machine.Milestone || c.Kind == machine.Refuse:
			mark.Track = r.now.op
		case c.Kind == machine.Start:
			mark.Track = r.cta(c.CTA).track
		default:
			mark.Track = r.warp(c.CTA, c.Warp).track
		}
		if mark.Track != 0 {
			r.out.Mark(mark)
		}
	}
}

// close ends what is open when the run ends.
func (r *Recorder) close(end int64) {
	for _, id := range sorted(r.ops) {
		r.ended(r.ops[id], end, "in flight at the end")
	}
	for _, b := range r.barriers() {
		r.closePhase(r.bars[b], end, "open at the end")
	}
	r.slots.close(r, end)
	r.all.close(r, end)
	for _, i := range sorted(r.ctas) {
		c := r.ctas[i]
		for _, k := range sorted(c.warps) {
			w := c.warps[k]
			for _, x := range w.waits {
				r.woken(x, end, "for ever")
			}
		}
		if c.open {
			r.out.Mark(report.TraceMark{Kind: report.TraceEnd, Track: c.track, Time: end})
		}
	}
}

// Observe makes a Recorder a machine.Observer.
func (r *Recorder) Observe(_ *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvStart:
		c := r.cta(ev.CTA)
		c.open = true
		r.out.Mark(report.TraceMark{Kind: report.TraceBegin, Track: c.track, Time: r.now.n - 1, Name: "runs", Category: catRun})
	case machine.EvEnd:
		r.slots.gone(r, ev.CTA) // before its CTA: a profile adds slots up then
		if c := r.cta(ev.CTA); c.open {
			c.open = false
			r.out.Mark(report.TraceMark{Kind: report.TraceEnd, Track: c.track, Time: r.now.n})
		}
		r.gone(ev.CTA)
		r.all.gone(r, ev.CTA)
	case machine.EvMbar:
		r.mbar(ev)
	case machine.EvMbarWait:
		r.tested(ev)
	case machine.EvIssue:
		r.issued(ev.Op)
	case machine.EvCommit:
		r.committed(ev)
	case machine.EvSource, machine.EvWritten, machine.EvSignal:
		r.milestone(ev)
	}
	r.slots.observe(r, ev)
	r.all.observe(r, ev)
}
