package explore

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/mbarrier"
)

// The footprint of a step: what it touches, where that can matter for its order with
// other steps. Two adjacent steps that do not depend on each other can be swapped,
// and lead to the same state, the agents' knowledge included.
//
// Charges to one phase of an mbarrier commute, whichever of them completes it: the
// pending count reaches zero only with the last arrival, and by then all bytes are
// announced, so that the tx-count reaches zero only with the last landing. Operations
// for which that need not hold are strict, and commute with nothing on their barrier:
// init, inval, an expect_tx or an increment without an arrival, an operation that
// leaves more bytes landed than announced with no arrival pending, arrivals without
// completion, and all that is undefined. Arrivals at one generation of a named or a
// cluster barrier commute too.

type object uint8

const (
	bytes     object = iota // lo to hi of memory mem
	phases                  // the mbarrier at lo of mem
	named                   // named barrier lo of CTA mem
	clustered               // the barrier of the cluster whose first CTA is mem
	life                    // start and end of CTA mem
	registers               // the pool of CTA mem: an increase by count leaves lo of hi
	fences                  // the order of fence.sc
	columns                 // tensor memory of the CTAs that share it, of which mem is the first
	unstarted               // which clusters of launch mem have started
	launched                // launch mem, of several: ends and launch_dependents of its CTAs
)

type role uint8

const (
	reads  role = iota
	writes      // of an mbarrier: a strict operation
	adds        // commutes with others of its label: a charge, an arrival, a reduction
	tests       // tests whether a phase is complete
	passes      // goes on from a generation that is complete
	leaves      // a thread's exit, which some barriers count
)

type touch struct {
	object   object
	role     role
	done     bool // adds: completed its phase; tests: it was complete
	await    bool // tests: a failed one has no effect
	parity   bool
	mem      int32
	lo, hi   uint64
	label    int64 // phase, generation, kind of reduction, or what a store writes
	count    uint32
	operand  uint64        // of tests: the token or the parity; of polls: what they compare with
	before   mbarrier.Word // of what completed a phase: the word it found
	lanes    uint32        // of named, clustered and life: the lanes
	warpOnly int32

	// In a program that polls: poll is what the access waits for, which compares with
	// operand, and was what the word held.
	poll  *machine.Poll
	was   uint64
	known bool // was is valid
	sums  bool // a reduction that adds

	// In an exploration of executions: a strong access to a word takes a version of it
	// (machine.Version), whatever the order of the steps. gets: it reads the version from;
	// puts: it writes the version made.
	// may: it might write, if it read another version.
	word, gets, puts, may bool
	from, made            machine.Version
}

// A footprint is what one step touches.
type footprint []touch

// dependent reports whether a step with footprint a depends on one with footprint b, both
// taken from the same state, neither having waited for the other.
func (a footprint) dependent(b footprint) bool {
	for i := range a {
		for j := range b {
			if a[i].dependent(&b[j]) {
				return true
			}
		}
	}
	return false
}

func (a *touch) dependent(b *touch) bool {
	if a.object != b.object || a.mem != b.mem {
		return false
	}
	switch a.object {
	case bytes:
		if a.word && b.word {
			return false // see execution.go
		}
		return a.lo < b.hi && b.lo < a.hi && (a.role != reads || b.role != reads) && !a.commutes(b)
	case phases:
		// One of them may have been taken from an earlier state, and more was charged
		// since: an operation that did not complete the phase then would do so now,
		// or be one too many.
		return a.lo == b.lo && (a.role != tests || b.role != tests)
	case named:
		if a.role == leaves || b.role == leaves {
			return a.role != b.role
		}
		return a.lo == b.lo && a.role == adds && b.role == adds
	case clustered:
		if a.role == leaves || b.role == leaves {
			return a.role == adds || b.role == adds
		}
		return a.role == adds && b.role == adds && a.label != b.label
	case registers:
		return a.role == writes && b.role == writes
	case columns:
		return a.role == writes || b.role == writes
	case launched:
		return false // what comes after needs all of these, in any order
	}
	return a.role != reads || b.role != reads
}

// commutes reports whether two accesses that write leave the same value in both
// orders: reductions of one kind, ordinary stores of equal values.
func (a *touch) commutes(b *touch) bool {
	if a.role == adds && b.role == adds {
		return a.label == b.label
	}
	return a.role == writes && b.role == writes && a.label != 0 && a.label == b.label && a.lo == b.lo && a.hi == b.hi
}

// A step is one choice that was taken, with its footprint and its effects.
type step struct {
	choice   machine.Choice
	accesses footprint
	// lanes: the lanes of warps that took part, for program order.
	lanes []warpLanes
	// by is the lanes that took the step, if it only changed the split of other
	// lanes: it need not come after these lanes' steps, but their next steps come
	// after it.
	by  uint32
	ops []opStep // issued, or moved on, here
	// groups: operations of lanes that this step found complete.
	groups []groupDone
	// contends: the step may be enabled, then disabled, and then enabled again.
	contends bool
	// polls: it is enabled only while the word that it reads would end the wait,
	// which any of several writes may bring about.
	polls bool
	met   []machine.Choice // splits of the warp that joined the one that ran
	first int32            // of a start: the first CTA that starts
	// woken: of a step that sleeps, the versions of its word that came since it was tried.
	woken []machine.Version
}

type warpLanes struct {
	cta, warp int32
	mask      uint32
}

// An opStep is a milestone of an asynchronous operation.
type opStep struct {
	id     int64
	kind   machine.Kind
	of     groupKey
	seq    uint32
	tracks groupKey // of an arrive-on: whose operations it follows
	upto   uint32   // and the last of them; 0: none
	queue  machine.CommitQueue
	commit bool // of a queue
}

type groupDone struct {
	cta, warp int32
	group     machine.Group
	read      bool
	mask      uint32
	done      [32]uint32
}

// A collector is the Observer that records what the step under way touches.
type collector struct {
	next machine.Observer
	prog *machine.Program
	bits bool // the program uses what arrivals return, which shows their order
	// fences: the program has fences, so that relaxed stores may release.
	fences  bool
	weak    bool // Space.WeakFences
	polls   bool // words of memory are waited for
	several bool // launches
	step    *step
}

// start readies the collector for a machine.
func (c *collector) start(m *machine.Machine) {
	c.prog = m.Program()
	c.several = m.Launches() > 1
	c.bits, c.fences, c.polls = c.prog.CountsArrivals(), c.prog.HasFences(), len(c.prog.Polls()) > 0
}

// take1 makes m take a choice, and returns it as a step.
func (c *collector) take1(m *machine.Machine, choice machine.Choice) *step {
	st := &step{choice: choice}
	c.step = st
	switch choice.Kind {
	case machine.Milestone, machine.Refuse:
		m.Step(choice)
	case machine.Start:
		m.Step(choice)
		for i := range st.accesses {
			if st.accesses[i].object == life {
				if len(st.lanes) == 0 {
					st.first = st.accesses[i].mem
				}
				for w := range m.WarpsPerCTA() {
					st.lanes = append(st.lanes, warpLanes{st.accesses[i].mem, int32(w), ^uint32(0)})
				}
			}
		}
	default:
		was := m.Splits(choice.CTA, choice.Warp, nil)
		var at machine.WaitingSplit
		if choice.Kind == machine.GiveUp {
			if at = m.WaitingOf(choice); !m.Program().CountsFailures(at.PC) {
				at.Tests = nil
			}
		}
		if choice.Kind == machine.Alone || choice.Kind == machine.Pick {
			was = apart(was, choice.Lane)
		}
		m.Step(choice)
		c.again(m, &at)
		is := m.Splits(choice.CTA, choice.Warp, nil)
		st.lanes = []warpLanes{{choice.CTA, choice.Warp, touched(choice, was, is)}}
		st.by = takes(choice, was)
		st.met = met(m, choice, was, is)
	}
	c.step = nil
	return st
}

// apart separates a lane from its split: a step of the lane does not touch the other
// lanes.
func apart(was []machine.Lanes, lane int8) []machine.Lanes {
	for i, s := range was {
		if one := uint32(1) << uint(lane); s.Mask&one != 0 && s.Mask != one {
			rest := s
			was[i].Mask, rest.Mask = one, s.Mask&^one
			return slices.Insert(was, i+1, rest)
		}
	}
	return was
}

// takes returns the lanes that take a step: the split of one of them.
func takes(c machine.Choice, was []machine.Lanes) uint32 {
	for _, s := range was {
		if s.Mask>>uint(c.Lane)&1 != 0 {
			return s.Mask
		}
	}
	return 0
}

// touched returns the lanes that a step of one of them moved, or whose split it
// changed.
func touched(c machine.Choice, was, is []machine.Lanes) uint32 {
	mask := uint32(0)
	for _, s := range was {
		if s.Mask>>uint(c.Lane)&1 != 0 {
			mask |= s.Mask
		}
	}
	for _, s := range is {
		if s.Mask&mask != 0 || !slices.Contains(was, s) {
			mask |= s.Mask
		}
	}
	return mask
}

// met returns the splits that merged with the one that took a step. The merged lanes
// could have gone on before that step, which matters only where others notice it: a
// cluster's barrier counts an exit, and lanes of a warp wait for each other at a
// named barrier.
func met(m *machine.Machine, c machine.Choice, was, is []machine.Lanes) []machine.Choice {
	var out []machine.Choice
	for _, s := range was {
		if s.Mask>>uint(c.Lane)&1 != 0 {
			continue
		}
		for _, o := range is {
			if o.Mask&s.Mask == s.Mask && o.Mask != s.Mask && m.Program().ObservableApart(s.PC) {
				out = append(out, machine.Choice{CTA: c.CTA, Warp: c.Warp, Lane: int8(bits.TrailingZeros32(s.Mask))})
			}
		}
	}
	return out
}

func (c *collector) Observe(m *machine.Machine, ev *machine.Event) {
	if c.next != nil {
		c.next.Observe(m, ev)
	}
	if c.step != nil {
		c.take(m, ev)
	}
}

func (c *collector) add(t touch) { c.step.accesses = append(c.step.accesses, t) }

func (c *collector) span(s machine.Span, r role) {
	c.add(touch{object: bytes, role: r, mem: int32(s.Mem), lo: s.Addr, hi: s.Addr + s.Len})
}

// grid notes what a launch does for those that come after it, of several.
func (c *collector) grid(launch int, r role) {
	if !c.several {
		return
	}
	c.add(touch{object: launched, role: r, mem: int32(launch)})
}

// starts notes that a cluster of a CTA's launch starts, or is asked for. Requests that get none
// do not depend on each other.
func (c *collector) starts(m *machine.Machine, cta int32, r role) {
	if c.prog.Cancels() {
		c.step.contends = true
		c.add(touch{object: unstarted, role: r, mem: int32(m.GridOf(cta))})
	}
}

// after notes that a CTA goes on because of what its launch comes after.
func (c *collector) after(m *machine.Machine, cta int32) {
	for _, before := range m.Prerequisites(cta) {
		c.grid(before, passes)
	}
}

func (c *collector) take(m *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvStart:
		c.add(touch{object: life, role: writes, mem: ev.CTA})
		c.starts(m, ev.CTA, writes)
		c.after(m, ev.CTA)
	case machine.EvAccess:
		c.access(m, ev)
	case machine.EvBarArrive:
		c.add(touch{object: named, role: adds, mem: ev.CTA, lo: uint64(ev.Bar), label: int64(ev.Gen), count: ev.Count})
	case machine.EvBarPass:
		c.add(touch{object: named, role: passes, mem: ev.CTA, lo: uint64(ev.Bar), label: int64(ev.Gen), done: ev.ByExit})
	case machine.EvClusterArrive:
		c.add(touch{object: clustered, role: adds, mem: c.first(m, ev.CTA), label: int64(ev.Gen), lanes: ev.Mask, warpOnly: ev.CTA<<8 | ev.Warp})
	case machine.EvClusterWait:
		c.add(touch{object: clustered, role: passes, mem: c.first(m, ev.CTA), label: int64(ev.Gen)})
	case machine.EvFence:
		if ev.Fence == machine.FenceMemory && ev.Sem == machine.SC && !c.weak {
			c.add(touch{object: fences, role: writes})
		}
	case machine.EvMbar:
		c.mbar(m, ev)
	case machine.EvMbarWait:
		c.test(m, ev)
	case machine.EvIssue, machine.EvSource, machine.EvWritten, machine.EvSignal:
		c.milestone(m, ev)
	case machine.EvGroupWait:
		c.step.groups = append(c.step.groups, groupDone{ev.CTA, ev.Warp, ev.Group, ev.Read, ev.Mask, *ev.Done})
	case machine.EvExit:
		c.add(touch{object: named, role: leaves, mem: ev.CTA, lanes: ev.Mask})
		c.add(touch{object: clustered, role: leaves, mem: c.first(m, ev.CTA), lanes: ev.Mask, warpOnly: ev.CTA<<8 | ev.Warp})
	case machine.EvTensorAsk, machine.EvTensorAlloc, machine.EvTensorFree:
		c.step.contends = c.step.contends || ev.Kind == machine.EvTensorAlloc
		t := touch{object: columns, role: writes, count: uint32(ev.Span.Len / machine.TensorColumnBytes)}
		if ev.Kind == machine.EvTensorFree {
			t.role = adds
		} else if t.lo = math.MaxUint64; ev.Kind == machine.EvTensorAlloc {
			t.lo = uint64(m.FreeColumns(ev.CTA) + t.count) // before it
		}
		for _, cta := range m.SharesColumns(ev.CTA) {
			t.mem = m.Multiprocessor(cta)
			c.add(t)
		}
		if ev.Kind != machine.EvTensorAsk {
			c.span(ev.Span, writes)
		}
		if ev.Permit != nil {
			c.span(*ev.Permit, reads)
		}
	case machine.EvTensorRelinquish:
		c.span(ev.Span, writes)
	case machine.EvTrigger:
		c.grid(m.GridOf(ev.CTA), adds)
	case machine.EvGridWait:
		c.after(m, ev.CTA)
	case machine.EvEnd:
		c.add(touch{object: life, role: writes, mem: ev.CTA})
		c.grid(m.GridOf(ev.CTA), adds)
	case machine.EvRegisters:
		t := touch{object: registers, role: adds, mem: ev.CTA}
		if uint64(ev.Count) > ev.Gen {
			t.role, c.step.contends = writes, true
			t.count = 32 * (ev.Count - uint32(ev.Gen))
			t.lo = uint64(m.FreeRegisters(ev.CTA))
			t.hi = t.lo + uint64(t.count)
		}
		c.add(t)
	}
}

func (c *collector) first(m *machine.Machine, cta int32) int32 { return m.ClusterFirst(cta) }

// access takes an access of lanes, in as few ranges as it makes.
func (c *collector) access(m *machine.Machine, ev *machine.Event) {
	if m.KeepsVersions() && ev.Sem != machine.Weak && ev.Proxy == machine.Generic {
		c.words(m, ev)
		return
	}
	poll := c.prog.Polls()[ev.PC]
	c.step.polls = c.step.polls || poll != nil
	r, label := reads, int64(0)
	if ev.Access&machine.Write != 0 {
		r = writes
		if ev.Access&machine.Update != 0 && (ev.Access&machine.Read == 0 || c.resultUnused(ev.PC)) && c.prog.Commutes(ev.PC) == "" {
			switch ev.Sem {
			case machine.Relaxed:
				r, label = adds, c.operation(ev.PC)
			case machine.Release:
				// A read of one acquires what the other released, too, by the chain
				// of both, if their scopes are equal (ISA 8.8, observation order).
				r, label = adds, c.operation(ev.PC)+int64(ev.Sem)<<8+int64(ev.Scope)
			}
		}
	}
	if ev.Row && ev.Sem == machine.Weak {
		c.add(touch{object: bytes, role: r, mem: int32(ev.Mem), lo: ev.Addr[0], hi: ev.Addr[0] + 32*uint64(ev.Size), label: label})
	} else {
		from := len(c.step.accesses)
		for k := ev.Mask; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			at := ev.Addr[l]
			if n := len(c.step.accesses); n > from && r != writes && ev.Sem == machine.Weak && c.step.accesses[n-1].hi == at {
				c.step.accesses[n-1].hi += uint64(ev.Size)
				continue
			}
			t := touch{object: bytes, role: r, mem: int32(ev.Mem), lo: at, hi: at + uint64(ev.Size), label: label}
			if r == writes && ev.Access == machine.Write && (ev.Sem == machine.Weak || c.plain(ev.Sem)) {
				t.label = stored(ev, l)
			}
			if c.polls && (r != reads || poll != nil) && ev.Size <= 8 {
				t.was, t.known = m.Peek(ev.Mem, at, int(ev.Size))
				if t.poll = poll; poll != nil {
					t.operand = m.ComparedWith(poll, l)
				}
				_, _, t.sums = c.prog.Adds(ev.PC)
			}
			if n := len(c.step.accesses); n > from && c.step.accesses[n-1] == t {
				continue // several lanes store the same
			}
			c.add(t)
		}
	}
	c.remote(ev.CTA, ev.Mem)
}

// resultUnused reports whether no thread learns from an atomic what came before it:
// neither from its result, nor through a later fence that makes it acquire.
func (c *collector) resultUnused(pc int32) bool {
	return c.prog.ResultUnused(pc) && !c.prog.FenceBehind(pc)
}

// plain reports whether strong stores of equal values are interchangeable: no thread
// learns from one what came before it.
func (c *collector) plain(sem machine.Sem) bool {
	return (sem == machine.Relaxed || sem == machine.Volatile) && !c.fences
}

// stored labels what a lane stores, by its value.
func stored(ev *machine.Event, lane int) int64 {
	h := fnv.New64a()
	for _, v := range ev.Values() {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v[lane])
		h.Write(b[:])
	}
	return int64(h.Sum64() | 1)
}

// remote makes an access to another CTA's memory depend on that CTA's start and end.
func (c *collector) remote(cta int32, mem machine.MemID) {
	if mem != machine.Global && mem.CTA() != cta {
		c.add(touch{object: life, role: reads, mem: mem.CTA()})
	}
}

func (c *collector) operation(pc int32) int64 { return labelOf(c.prog.Operation(pc)) }

func labelOf(operation string) int64 {
	h := fnv.New64a()
	h.Write([]byte(operation))
	return int64(h.Sum64())
}

func (c *collector) mbar(_ *machine.Machine, ev *machine.Event) {
	mb := &ev.Mbar
	t := touch{object: phases, role: adds, mem: int32(mb.Bar.Mem), lo: mb.Bar.Addr, label: mb.Phase, done: mb.Completed, before: mb.Before}
	word := reads
	switch mb.Op {
	case machine.MbarInit, machine.MbarInval:
		t.role, word = writes, writes
	case machine.MbarExpectTx, machine.MbarIncrement:
		t.role = writes
	case machine.MbarArrive, machine.MbarArriveDrop, machine.MbarArriveExpectTx, machine.MbarArriveDropExpectTx:
		if mb.NoComplete || c.bits {
			t.role = writes
		}
	}
	if !mb.Completed && mb.After.Pending() == 0 && mb.After.Tx() < 0 || mb.Op == machine.MbarCompleteTx && mb.Bytes == 0 {
		t.role = writes
	}
	if !mb.Live || mb.Fault != mbarrier.NoFault || mb.Undefined != 0 {
		t.role = writes
	}
	c.add(t)
	c.add(touch{object: bytes, role: word, mem: int32(mb.Bar.Mem), lo: mb.Bar.Addr, hi: mb.Bar.Addr + 8})
	c.remote(ev.CTA, mb.Bar.Mem)
}

func (c *collector) test(m *machine.Machine, ev *machine.Event) {
	mb := &ev.Mbar
	c.look(mb.Bar, touch{label: mb.Phase, done: mb.OK, await: m.Program().Awaits(ev.PC), parity: mb.Parity, operand: mb.Token})
}

// look adds a test of a barrier.
func (c *collector) look(at machine.BarRef, t touch) {
	c.step.contends = true
	t.object, t.role, t.mem, t.lo = phases, tests, int32(at.Mem), at.Addr
	c.add(t)
	c.add(touch{object: bytes, role: reads, mem: t.mem, lo: t.lo, hi: t.lo + 8})
}

// again adds the failed tests at which a split stands: the machine has reported them
// to observers before and does not repeat that.
func (c *collector) again(m *machine.Machine, at *machine.WaitingSplit) {
	for i := range at.Tests {
		t := &at.Tests[i]
		if !slices.ContainsFunc(c.step.accesses, func(f touch) bool {
			return f.object == phases && f.mem == int32(t.Bar.Mem) && f.lo == t.Bar.Addr
		}) {
			c.look(t.Bar, touch{label: t.Phase, parity: t.Parity, operand: t.Token, await: m.Program().Awaits(at.PC)})
		}
	}
}

func (c *collector) milestone(m *machine.Machine, ev *machine.Event) {
	op := ev.Op
	switch ev.Kind {
	case machine.EvIssue:
		if op.Map.Len > 0 {
			c.span(op.Map, reads)
		}
	case machine.EvSource:
		switch {
		case op.Kind != machine.OpCancel:
		case op.Granted():
			c.starts(m, op.CTA, writes)
		default:
			c.starts(m, op.CTA, reads)
		}
		for _, s := range op.Reads {
			c.span(s, reads)
			c.remote(op.CTA, s.Mem)
		}
	case machine.EvWritten:
		r, label := writes, op.Twin // twins write the same bytes
		if label == 0 {
			label = op.ID
		}
		if (op.Kind == machine.OpBulkReduce || op.Kind == machine.OpRedAsync) && c.prog.OpCommutes(op) == "" {
			// By two proxies they race in either order: a judge that keeps only the
			// last one of a proxy must see both orders.
			r, label = adds, labelOf(c.prog.OpOperation(op))^int64(op.Proxy)
		}
		for _, s := range op.Writes {
			c.add(touch{object: bytes, role: r, mem: int32(s.Mem), lo: s.Addr, hi: s.Addr + s.Len, label: label})
			c.remote(op.CTA, s.Mem)
		}
	}
	if ev.Kind == machine.EvSignal {
		c.grid(m.GridOf(op.CTA), adds)
	}
	st := opStep{id: op.ID, kind: ev.Kind, of: groupKey{op.CTA, op.Warp, op.Lane, op.Group}, seq: op.Seq}
	if op.Kind == machine.OpMbarArrive {
		st.tracks, st.upto = groupKey{op.CTA, op.Warp, op.Lane, op.Tracks}, op.After
		st.queue, st.commit = op.CommitQueue()
	}
	c.step.ops = append(c.step.ops, st)
}
