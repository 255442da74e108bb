package order

import (
	"maps"
	"slices"

	"muster/internal/machine"
)

// Config says what launch a Tracker is to follow.
type Config struct {
	machine.Shape
	// MustOnly leaves out what only this run's schedule decided: which write
	// a strong read saw, and Fence-SC order.
	MustOnly bool
	// Executions: the machine keeps versions of words, and strong accesses take any that the
	// axioms allow (execution.go).
	Executions bool
	// AllVersions, with Executions: the machine keeps versions of weak accesses, too, and each
	// event names the one that it takes. Weak ones hand nothing on.
	AllVersions bool
	// GPU, if set, gives the GPU that a CTA runs on.
	GPU func(cta int32) int
	// WeakFences, with Executions, takes each fence.sc for a fence.acq_rel: what is right so is
	// right with more order.
	WeakFences bool
	// Ends, with MustOnly, reports the reads that end a wait for the value that they
	// are about to see: they see it in every schedule.
	Ends func(m Memory, ev *machine.Event, lane int) bool
	// Round, with MustOnly, numbers the accesses of a counter that a barrier of the grid has:
	// all writes of a round come before the end of every wait for it, which may come after
	// writes of the next.
	Round func(ev *machine.Event, lane int) (int, bool)
	// Looks, with MustOnly, reports the atomic operations that poll a word and leave
	// it unchanged: any number of them may come at any time.
	Looks func(pc int32) bool
	// Locks, with MustOnly, are locks that guard bytes of global memory, in whichever order they are
	// held (lock.go). Nil: none.
	Locks *Locks
	// Strong, if set, is called for conflicting accesses that are unordered, but do
	// not race because they are morally strong.
	Strong func(Pair)
	// Pairs, if set, takes the instructions whose conflicting accesses meet.
	Pairs *Pairs
	// Equal reports the stores at whose places nothing is forgotten, so that
	// SameValue holds against all earlier accesses (equal.go). Nil: none.
	Equal func(pc int32) bool
	// Together: a wait for a wgmma orders all that precedes any of the four issues, as
	// it does in execution.
	Together bool
	// Invals: the program invalidates mbarriers, so that their uses are kept.
	Invals bool
	// Unused are bytes of the operands of tcgen05.mma of which no result is used.
	Unused machine.OperandBytes
	// Sink and Facts, if set, are called for each new Conflict and Fact when it is
	// found; the Tracker keeps all of them anyway.
	Sink  func(*Conflict)
	Facts func(*Fact)
}

// A Pair is two morally strong accesses, one of them a write, that causality order
// does not relate (ISA 8.9.5): which of them comes first is not settled.
type Pair struct {
	Prior, Cur int32 // instructions
	CTA, Warp  int32 // of the earlier one
	// OneWarp reports that lanes of one warp made them.
	OneWarp bool
	// Async reports that an asynchronous operation made the earlier one.
	Async bool
	// At contains the bytes that both access, and perhaps more.
	At machine.Span
}

// Memory lets a Tracker compare what a store writes with what is there.
type Memory interface {
	Peek(mem machine.MemID, addr uint64, size int) (uint64, bool)
}

// A Tracker follows one run. It is a plain value behind copy-on-write pages:
// Clone is cheap, and the clones are independent.
type Tracker struct {
	cfg     Config
	id      *identity
	ctas    []*cta
	cluster []clusterState
	// triggers are what the CTAs' griddepcontrol.launch_dependents hand on. They do not change.
	triggers map[int32]*trigger
	begins   map[int32]*trigger // what lets the CTAs begin
	exits    map[int32]*trigger // those of CTAs that end without
	begun    map[int]beginning  // of launches; lets counts what changes triggers and exits
	lets     int
	allocs   map[int32]bool // the tcgen05.alloc instructions that were executed
	global   shadow
	ops      opTable
	teams    teamTable
	locs     locTable
	found    log
	fences   []FenceNote
	fenced   bool     // fence.sc operations are noted: fencesc.go
	reds     bool     // there were reductions: unseen.go
	made     []scMade // with Config.Executions
	chosen   []Chosen
	fencesSC int

	// Scratch of the event at hand; never part of the state.
	mem  Memory
	ev   *machine.Event
	ac   access
	tmp  know
	buf  []stamp
	gone []stamp
	// raced: the write at hand races with the one before it.
	raced bool
	// reports counts the conflicts so far, each place by itself.
	reports int
	// alike caches the results of the current operation at other segments.
	alike repeats
	// over holds what the current write learned of accesses that did not see it.
	over []lesson
	set  []*stampSet // empty, for reuse
}

// An identity names the owner of a page or a CTA's state: a holder of another
// identity copies it before writing.
type identity struct{ _ byte }

// New returns a Tracker for a launch before its first event.
func New(cfg Config) *Tracker {
	if cfg.Cluster < 1 {
		cfg.Cluster = 1
	}
	if cfg.Threads == 0 {
		cfg.Threads = 32 * cfg.Warps
	}
	n := (cfg.CTAs + cfg.Cluster - 1) / cfg.Cluster
	if cfg.Clusters != nil {
		n = int(slices.Max(cfg.Clusters)) + 1
	}
	t := &Tracker{
		triggers: map[int32]*trigger{}, begins: map[int32]*trigger{}, exits: map[int32]*trigger{}, begun: map[int]beginning{},
		cfg:     cfg,
		id:      new(identity),
		ctas:    make([]*cta, cfg.CTAs),
		cluster: make([]clusterState, n),
	}
	if cfg.Locks != nil {
		cfg.Locks.begin()
	}
	return t
}

// Config returns what the Tracker was made with.
func (t *Tracker) Config() Config { return t.cfg }

// Observe takes the next event of the run.
func (t *Tracker) Observe(m *machine.Machine, ev *machine.Event) { t.Feed(m, ev) }

// Feed is Observe for any memory.
func (t *Tracker) Feed(m Memory, ev *machine.Event) {
	t.mem, t.ev = m, ev
	switch ev.Kind {
	case machine.EvAccess:
		t.onAccess(ev)
	case machine.EvBarArrive:
		t.onBarArrive(ev)
	case machine.EvBarPass:
		t.onBarPass(ev)
	case machine.EvWarpSync:
		t.onWarpSync(ev)
	case machine.EvCollective:
		t.onCollective(ev)
	case machine.EvMbar:
		t.onMbar(ev)
	case machine.EvMbarWait:
		t.onMbarWait(ev)
	case machine.EvFence:
		t.onFence(ev)
	case machine.EvIssue:
		t.onIssue(ev)
	case machine.EvSource, machine.EvWritten, machine.EvSignal:
		t.onMilestone(ev)
	case machine.EvGroupWait:
		t.onGroupWait(ev)
	case machine.EvClusterArrive:
		t.onClusterArrive(ev)
	case machine.EvClusterWait:
		t.onClusterWait(ev)
	case machine.EvStart:
		t.onStart(ev)
	case machine.EvTensorAsk:
		t.onAsk(ev)
	case machine.EvTensorRelinquish:
		t.onRelinquish(ev)
	case machine.EvTensorAlloc, machine.EvTensorFree:
		t.onColumns(ev)
	case machine.EvTensorUsed:
		t.onUsed(ev)
	case machine.EvRefused:
		t.onRefusal(ev)
	case machine.EvTrigger:
		t.onTrigger(ev)
	case machine.EvGridWait:
		t.onGridWait(ev)
	case machine.EvExit:
		t.onExit(ev)
	case machine.EvEnd:
		t.onEnd(ev)
	case machine.EvCommit, machine.EvRegisters:
		// Groups are ordered by waiting for them, not by closing them.
	}
	t.mem, t.ev = nil, nil
}

// at returns a CTA's state for writing, creating or copying it if need be.
func (t *Tracker) at(i int32) *cta {
	c := t.ctas[i]
	if c == nil {
		c = newCTA(t, i)
		t.ctas[i] = c
	} else if c.owner != t.id {
		c = c.clone(t.id)
		t.ctas[i] = c
	}
	return c
}

// Clone returns an independent copy of the state.
func (t *Tracker) Clone() *Tracker {
	d := *t
	t.id, d.id = new(identity), new(identity)
	d.ctas = append([]*cta(nil), t.ctas...)
	d.cluster = make([]clusterState, len(t.cluster))
	for i := range t.cluster {
		d.cluster[i] = t.cluster[i].clone()
	}
	d.triggers, d.begins, d.exits, d.begun = maps.Clone(t.triggers), maps.Clone(t.begins), maps.Clone(t.exits), maps.Clone(t.begun)
	d.global = t.global.clone()
	d.ops = t.ops.clone()
	d.teams = t.teams.clone()
	d.locs = t.locs.clone()
	d.found = t.found.clone()
	d.fences = append([]FenceNote(nil), t.fences...)
	t.made, t.chosen = slices.Clip(t.made), slices.Clip(t.chosen)
	d.made, d.chosen = t.made, t.chosen
	d.ac, d.tmp, d.buf, d.gone, d.set, d.over, d.alike = access{}, know{}, nil, nil, nil, nil, repeats{off: t.alike.off}
	return &d
}

// needed is the narrowest scope that holds both CTAs.
func (t *Tracker) needed(a, b int32) machine.Scope {
	switch {
	case a == b:
		return machine.ScopeCTA
	case t.cfg.ClusterOf(a) == t.cfg.ClusterOf(b):
		return machine.ScopeCluster
	case t.cfg.GPU != nil && t.cfg.GPU(a) != t.cfg.GPU(b):
		return machine.ScopeSys
	}
	return machine.ScopeGPU
}

// Needed returns the narrowest scope that holds both CTAs.
func (t *Tracker) Needed(a, b int32) machine.Scope { return t.needed(a, b) }
