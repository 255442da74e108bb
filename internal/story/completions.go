package story

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// Completions observes a run and notes which instructions completed what others wait for:
// the arrivals, expectations and copies of an mbarrier's phase for the tests of that phase,
// with what an arrival of tcgen05.commit or cp.async.mbarrier.arrive tracks,
// the operations and the commits of an async-group for its wait, the arrivals of a named
// barrier's or a cluster barrier's generation for those that pass it. A wait for a word of
// memory is not among them.
type Completions struct {
	pairs  map[Completion]bool
	phases map[phaseOf]*meeting
	latest map[machine.BarRef]int64
	named  map[generation]*meeting
	groups map[issuer][]issuedAt
	// tracked is up to which operation each arrival by a commit, or by
	// cp.async.mbarrier.arrive, has told before.
	tracked map[tracker]uint32
}

// A Completion is a wait and an instruction that completed it, or a part of it.
type Completion struct{ Wait, By int32 }

// phaseOf is one phase of an mbarrier in one of its lives.
type phaseOf struct {
	bar   machine.BarRef
	phase int64
}

// generation is one of a named barrier; those of the cluster barrier have number -1 and no
// CTA, since clusters that run the same code meet in the same places.
type generation struct {
	cta, number int32
	gen         uint64
}

// A meeting is who waits for one phase or generation, and who completes it.
type meeting struct{ waits, by []int32 }

// issuer is a thread under one mechanism of groups.
type issuer struct {
	cta, warp int32
	lane      int8
	group     machine.Group
}

// tracker is an instruction that lets an mbarrier track operations of a thread.
type tracker struct {
	issuer
	pc int32
}

// issuedAt is an operation, or a commit behind it.
type issuedAt struct {
	seq uint32
	pc  int32
}

// maxIssued bounds what is kept of one thread: no wait names operations so far back.
const maxIssued = 1024

// clusterBarrier is the number of the cluster's barrier, beside those of named ones.
const clusterBarrier = -1

// NewCompletions returns an observer for one run.
func NewCompletions() *Completions {
	return &Completions{
		pairs: map[Completion]bool{}, phases: map[phaseOf]*meeting{}, latest: map[machine.BarRef]int64{},
		named: map[generation]*meeting{}, groups: map[issuer][]issuedAt{}, tracked: map[tracker]uint32{},
	}
}

// Pairs lists what the run has shown, in order of their instructions.
func (c *Completions) Pairs() []Completion {
	for _, m := range c.phases {
		c.conclude(m)
	}
	list := make([]Completion, 0, len(c.pairs))
	for p := range c.pairs {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Completion) int {
		if a.Wait != b.Wait {
			return int(a.Wait - b.Wait)
		}
		return int(a.By - b.By)
	})
	return list
}

// conclude notes the pairs of a meeting.
func (c *Completions) conclude(m *meeting) {
	for _, w := range m.waits {
		for _, by := range m.by {
			c.pairs[Completion{w, by}] = true
		}
	}
}

func add(list *[]int32, pc int32) {
	if !slices.Contains(*list, pc) {
		*list = append(*list, pc)
	}
}

// Observe makes Completions a machine.Observer.
func (c *Completions) Observe(_ *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvMbar:
		c.operation(ev)
	case machine.EvMbarWait:
		add(&c.phase(ev.Mbar.Bar, ev.Mbar.Phase).waits, ev.PC)
	case machine.EvBarArrive:
		add(&c.generation(ev.CTA, ev.Bar, ev.Gen).by, ev.PC)
	case machine.EvBarPass:
		c.conclude(&meeting{waits: []int32{ev.PC}, by: c.generation(ev.CTA, ev.Bar, ev.Gen).by})
	case machine.EvClusterArrive:
		add(&c.generation(clusterBarrier, clusterBarrier, ev.Gen).by, ev.PC)
	case machine.EvClusterWait:
		c.conclude(&meeting{waits: []int32{ev.PC}, by: c.generation(clusterBarrier, clusterBarrier, ev.Gen).by})
	case machine.EvIssue:
		if op := ev.Op; op.Group != machine.NoGroup {
			c.issue(issuer{op.CTA, op.Warp, op.Lane, op.Group}, issuedAt{seq: op.Seq, pc: op.PC})
		}
	case machine.EvCommit:
		c.commit(ev)
	case machine.EvGroupWait:
		c.groupWait(ev)
	}
}

// operation notes what is done to an mbarrier, under the phase that it counts for.
func (c *Completions) operation(ev *machine.Event) {
	pc := ev.PC
	if ev.Op != nil {
		pc = ev.Op.PC
	}
	switch ev.Mbar.Op {
	case machine.MbarInit:
		add(&c.phase(ev.Mbar.Bar, -1).by, pc) // a parity test of a fresh barrier succeeds (ISA 9.7.13.15.16)
	case machine.MbarInval:
	default:
		m := c.phase(ev.Mbar.Bar, ev.Mbar.Phase)
		add(&m.by, pc)
		if ev.Mbar.Op == machine.MbarAsyncArrive && ev.Op != nil {
			c.arrivesFor(m, ev.Op)
		}
	}
}

// arrivesFor notes the operations whose completion an asynchronous arrival reports: those since
// the last arrival by the same instruction.
func (c *Completions) arrivesFor(m *meeting, op *machine.Op) {
	by := issuer{op.CTA, op.Warp, op.Lane, op.Tracks}
	from := c.tracked[tracker{by, op.PC}]
	for _, at := range slices.Backward(c.groups[by]) {
		if at.seq <= from {
			break
		}
		if at.seq <= op.After {
			add(&m.by, at.pc)
		}
	}
	c.tracked[tracker{by, op.PC}] = op.After
}

// phase returns the meeting of a phase. Of one mbarrier only the last two are kept: a test
// names the current phase or the one before (9.7.13.15.16).
func (c *Completions) phase(bar machine.BarRef, phase int64) *meeting {
	key := phaseOf{bar, phase}
	if m := c.phases[key]; m != nil {
		return m
	}
	if last, ok := c.latest[bar]; !ok || phase > last {
		c.latest[bar] = phase
		old := phaseOf{bar, phase - 2}
		if m := c.phases[old]; m != nil {
			c.conclude(m)
			delete(c.phases, old)
		}
	}
	m := &meeting{}
	c.phases[key] = m
	return m
}

// generation returns the meeting of a generation. Nobody passes one when the next but one has
// begun.
func (c *Completions) generation(cta, number int32, gen uint64) *meeting {
	key := generation{cta, number, gen}
	m := c.named[key]
	if m == nil {
		m = &meeting{}
		c.named[key] = m
		delete(c.named, generation{cta, number, gen - 2})
	}
	return m
}

func (c *Completions) issue(by issuer, at issuedAt) {
	list := append(c.groups[by], at)
	if len(list) > maxIssued {
		list = append([]issuedAt(nil), list[maxIssued/2:]...)
	}
	c.groups[by] = list
}

func (c *Completions) commit(ev *machine.Event) {
	for mask := ev.Mask; mask != 0; mask &= mask - 1 {
		by := issuer{ev.CTA, ev.Warp, int8(bits.TrailingZeros32(mask)), ev.Group}
		if list := c.groups[by]; len(list) > 0 {
			c.issue(by, issuedAt{seq: list[len(list)-1].seq, pc: ev.PC})
		}
	}
}

// groupWait notes the operations that a wait found complete, with their commits. A wait for
// reads alone leaves them for a later one.
func (c *Completions) groupWait(ev *machine.Event) {
	for mask := ev.Mask; mask != 0; mask &= mask - 1 {
		lane := bits.TrailingZeros32(mask)
		by := issuer{ev.CTA, ev.Warp, int8(lane), ev.Group}
		list := c.groups[by]
		n := 0
		for n < len(list) && list[n].seq <= ev.Done[lane] {
			c.pairs[Completion{ev.PC, list[n].pc}] = true
			n++
		}
		if !ev.Read {
			c.groups[by] = list[n:]
		}
	}
}
