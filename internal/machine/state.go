package machine

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"muster/mbarrier"
)

// A Config is a launch: a decoded kernel with everything that a run depends on.
type Config struct {
	Program *Program
	Grid    [3]uint32
	Block   [3]uint32
	Cluster [3]uint32 // {1,1,1} for none
	// Preferred is Launch.Preferred.
	Preferred [3]uint32
	Shared    uint64 // dynamic shared memory, bytes
	// Registers a thread at entry, for setmaxnreg; 0 if unknown: setmaxnreg does nothing.
	Registers uint32
	Params    []byte
	Buffers   []Buffer
	// Variables are contents of the module's .global and .const variables: their first bytes.
	Variables map[string][]byte
	Observer  Observer
	// MaxInstrs bounds the warp instructions of one run; 0 for no bound.
	MaxInstrs int64
	// MaxLocal bounds a thread's local memory in bytes, call frames included.
	MaxLocal uint32
	// Poison, if set, replaces unwritten and other undefined values.
	Poison       *Poison
	skipMatrices bool
	otherColumns bool
	collectives  bool
	failing      map[int32]bool // tests that come out false
	meetings     bool
	follower     *Follower
	tally        *Tally
	parted       []bool // by instruction: Part
	without      map[int32]bool
	apart        bool // KeepApart
	singly       bool // LanesSingly
	highest      bool // LeadHighest
	grants       bool // Grant
	granted      []int32
	// MaxResident bounds how many CTAs run at a time; 0 for the default.
	MaxResident int
	// Cooperative: all CTAs are resident together, and %envreg1 and %envreg2 hold the address
	// of the grid's workspace.
	Cooperative bool
	CoResident  uint32 // Launch.CoResident
	// VectorAtomic: aligned strong loads and stores of up to 16 bytes are one
	// access, as on the card, and not one for each element.
	VectorAtomic bool
	// More are launches that run beside the first.
	More []Launch
}

// SkipMatrices makes the machine skip the arithmetic of matrix instructions:
// their destination registers keep their values. If Reaches(FromMatrices)
// is -1, only the data that it writes changes.
func (m *Machine) SkipMatrices() { m.cfg.skipMatrices = true }

// OtherColumns makes tcgen05.alloc return other columns than the lowest that are free: those
// from the top, and after a dealloc not the same again.
func (m *Machine) OtherColumns() { m.cfg.otherColumns = true }

// ShowCollectives makes the machine emit EvCollective, which it does by itself where the
// program has fence.sc, shfl or a vote.
func (m *Machine) ShowCollectives() { m.cfg.collectives = true }

// ShowMeetings makes the machine emit EvCollective also for aligned instructions that all
// lanes of a warp perform together (mma, movmatrix, ldmatrix, setmaxnreg).
func (m *Machine) ShowMeetings() { m.cfg.collectives, m.cfg.meetings = true, true }

// Leave makes the machine pass over some waits for groups, and some wgmma.fence, as a program
// without them does: such a wait returns at once, and neither has an effect or an event.
func (m *Machine) Leave(pcs map[int32]bool) { m.cfg.without = pcs }

// left reports whether the instruction at hand is left out.
func (x *ctx) left() bool { return x.m.cfg.without[x.s.pc] }

// FailPeeks makes the program's peeks come out false: see Program.Peeks.
func (m *Machine) FailPeeks() { m.cfg.failing = m.prog.Peeks() }

// A Buffer is a range of global memory.
type Buffer struct {
	Name string
	Base uint64
	Size uint64
	Data []byte // initial bytes; shorter than Size, or nil: the rest is zero
	Init bool   // the bytes past Data count as initialized
}

// A Machine is one launch in some state of its run. Its state is plain
// values: Clone copies it, Step advances it, and nothing else holds any.
type Machine struct {
	cfg       Config
	prog      *Program
	owner     uint64
	global    addressMap
	params    []region // of the grids
	grids     []*grid
	at        []progress // of the grids
	ctas      []*cta     // by linear index; nil before start and after the end
	given     givenNumbers
	goal      int32   // CTAs that must end for the run to be over
	ended     int32   // CTAs ended
	running   []int32 // resident CTAs, by index
	dead      []int32 // ended clusters whose memory something in flight may use
	resident  int32
	ops       []*Op // in flight, in order of issue
	nextOp    int64
	instrs    int64         // warp instructions executed
	lanes     int64         // lane instructions executed
	clock     int64         // virtual nanoseconds
	slept     time.Duration // by nanosleep
	stop      *Stop
	out       []byte // what vprintf printed
	unsteady  int64  // reads of clocks and the like, which differ the next time
	effects   int64  // steps that another agent could observe
	refusing  bool   // tests of barriers come out false: see Refuse
	hashed    []byte // scratch
	exhausted int32  // 1 + the PC of a test that reached the limit of GiveUps
	circleAt  int64  // instructions after which a circle is searched for: circle.go
	window    *window
	rounds    map[int32]bool // instructions in loops that may be waits: round.go
	versions  *versions      // of words, in an exploration of executions
	took      []Version      // that the access of the next step takes
	supply    *uint64        // what it finds there (Supply)

	stopNow func() bool // StopWhen's
	pace    int64       // work between two calls of it
	left    int64       // work left until the next call

	ev    Event
	addr  [32]uint64
	vals  [4][32]uint64
	done  [32]uint32
	x     ctx
	block uint32 // threads a CTA, at most
	warps int32  // warps a CTA, at most
	total int32  // CTAs
	csize int32  // CTAs a cluster of the first grid
	stack uint64 // bytes of local memory a lane, whole pages
}

// owners hands out owner numbers; machines may run side by side.
var owners atomic.Uint64

// A Stop is why a run ended before its end.
type Stop struct {
	Kind StopKind
	CTA  int32
	Warp int32
	Lane int8
	Mask uint32
	PC   int32
	Msg  string
	Mem  MemID
	Addr uint64
	Size uint64
	Acc  Access
	// Mbar is the operation that faulted, for FaultBarrier.
	Mbar *Mbar
	// Op is the asynchronous operation that faulted, or nil.
	Op *Op
	// Circle, of a Deadlock, is the set of states that the run never leaves; nil if
	// nothing can move.
	Circle *Circle
}

// A StopKind says what ended a run.
type StopKind uint8

const (
	// Deadlock: every split waits and no milestone is left.
	Deadlock StopKind = iota
	FaultBounds
	FaultAlign
	FaultBarrier
	FaultTrap
	// Expired: a trap after a wait of at least Timeout, when others could still go on. By
	// assumption no timeout strikes; so no error follows.
	Expired
	FaultAssert
	// FaultMap: a copy that its tensor map does not allow, or no valid map.
	FaultMap
	// FaultDescriptor: a descriptor of a matrix in shared memory that the ISA forbids.
	// FaultBaseOffset: one with a base offset and no swizzle. FaultMetadata: sparse metadata
	// that the ISA does not define.
	FaultDescriptor
	FaultBaseOffset
	FaultMetadata
	// FaultTensorAlloc: what tcgen05.alloc, dealloc and relinquish_alloc_permit forbid.
	FaultTensorAlloc
	// FaultTensorBounds: an access to columns of tensor memory that the CTA has not
	// allocated. FaultTensorLanes: one to lanes that its warp cannot reach.
	// FaultTensorOverlap: a multiplication whose A lies in its D.
	FaultTensorBounds
	FaultTensorLanes
	FaultTensorOverlap
	// FaultCancel: a misuse of clusterlaunchcontrol.
	FaultCancel
	// FaultOther: undefined by the ISA, and the machine cannot go on.
	FaultOther
	// Unmodelled: an instruction or a use of one that the machine does not know.
	Unmodelled
	// LimitInstrs, LimitLocal: a limit ran out. Size of LimitLocal is what the limit must at
	// least be; 0: there are MaxCalls calls under way.
	LimitInstrs
	LimitLocal
	// Interrupted: StopWhen's function returned true.
	Interrupted
)

// A cta is a running CTA.
type cta struct {
	index   int32 // linear in the grid, and counted on from grid to grid
	g       *grid
	id      [3]uint32
	rank    int32 // in its cluster
	first   int32 // index of its cluster's rank 0
	shared  region
	warps   []*warp
	bars    [16]namedBar
	mbars   []mbar // sorted by address
	tests   uint32 // how often one of them changed
	live    int32  // threads that have not exited
	pool    int32  // registers free for setmaxnreg, per SM sub-partition summed
	cluster clusterBar
	ended   bool
	// triggered: it has executed griddepcontrol.launch_dependents.
	triggered bool
	tensor    *tensorMemory // nil until a tcgen05 instruction needs it
	round     round
	completed bool // one of its barriers, in the step under way
	// refused: one of its threads has seen that a request for a cluster failed.
	refused bool
}

// A namedBar is one of the sixteen barriers of a CTA.
type namedBar struct {
	gen     uint64
	count   uint32 // threads expected in the open generation; 0 if none has arrived
	arrived uint32 // threads
	sync    bool   // a warp waits in the open generation
	counted bool   // count is the instruction's; exits do not make up for it
	ones    uint32 // true predicates of its reductions, and lanes
	lanes   uint32
}

// A clusterBar is the cluster's barrier: it completes when every thread of
// every CTA has arrived or exited.
type clusterBar struct {
	gen uint64 // completed generations; the one of rank 0 counts
}

// An mbar is the machine's barrier: the word is here and not in memory, as on
// the card, where a load of a live barrier may see either.
type mbar struct {
	addr  uint64
	life  uint32
	live  bool
	word  mbarrier.Word
	phase int64 // the phase that is open, counted from 0
}

// A warp is up to 32 lanes with their registers.
type warp struct {
	index  int32 // in its CTA
	cta    int32
	live   uint32
	r32    [][32]uint32
	r64    [][32]uint64
	p      []uint32
	splits []*split
	apart  bool             // lanes were divided (Alone), and not all have merged again
	local  region           // the lanes' local memories, one after the other
	lsize  uint64           // bytes of local memory a lane
	regs   uint32           // registers a thread, for setmaxnreg
	cp     *[32]asyncCounts // by lane; nil until it counts: they are large, and few warps do
	wgmmas []wgmmaUse
	loads  []tensorLoad // its loads from tensor memory whose registers no instruction has used
	// multiplies is the last wgmma that it has issued, multiplied the last one that has
	// written its part of D.
	multiplies, multiplied uint32
	fenced                 bool // it has executed wgmma.fence
	// Rows of r32 that instructions other than wgmma wrote, and read, since its
	// last wgmma.fence; only rows that some wgmma uses.
	written, looked []uint64
	// unset has, by bank and row, the lanes in which a register that may be read before
	// it is written is unwritten.
	unset [3][]uint32
	// heap has what each lane has had of the heap; nil until the first block.
	heap []laneHeap

	tokenRows []*tokenRow // known tokens in registers that may hold some

	carrived uint32 // lanes that arrived at the open generation of the cluster barrier

	round round
}

// asyncCounts are one lane's operation counters, by completion mechanism.
type asyncCounts struct {
	issued  [Groups]uint32   // operations
	settled [Groups]uint32   // Seq up to which a wait has shown them complete
	commits [Groups][]uint32 // Seq of the last operation of each committed group that is not known complete
	// open and unread are the Seq of its operations in flight, and of those of
	// them that have not read their source, ascending.
	open, unread [Groups][]uint32
}

// counting returns the counters of its lanes, to count with.
func (w *warp) counting() *[32]asyncCounts {
	if w.cp == nil {
		w.cp = new([32]asyncCounts)
	}
	return w.cp
}

// counts returns the counters of a lane, to read.
func (w *warp) counts(lane int) *asyncCounts {
	if w.cp == nil {
		return &countsNothing
	}
	return &w.cp[lane]
}

var countsNothing asyncCounts // nobody writes it

// A split is lanes of a warp at one program counter.
type split struct {
	pc      int32
	mask    uint32
	state   state
	base32  int32
	base64  int32
	basep   int32
	lbase   uint32 // frame base in local memory
	room    uint32 // bytes that alloca has taken beyond the frame
	frames  []frame
	wait    wait
	awaits  []await       // tests that came out false since the last visible effect
	gaveUp  int32         // how often a test failed by GiveUp since then
	waited  time.Duration // for how long at least, by these failures: see Pauses
	seen    []uint64      // hashes of the registers at those times, the first few
	turn                  // its way round its loop without an effect
	company               // how its lanes came together
	spun    bool          // it repeats a state, and sleeps until one of awaits changes
	asleep  asleep
}

// asleep is when a split's test of a barrier of its CTA was last found to have to wait: with
// these lanes, and as of this change of the CTA's barriers. No lanes: not known.
type asleep struct {
	mask, tests uint32
}

// A frame is what a return needs.
type frame struct {
	pc     int32
	fn     int32
	base32 int32
	base64 int32
	basep  int32
	lbase  uint32
	room   uint32
}

// state is what a split is doing.
type state uint8

const (
	running state = iota
	atPoint       // stands before a visible instruction
	waiting       // has done its part of a barrier, and waits
	collect       // stands before a collective, lanes are missing
	stuck         // loops for ever without a visible instruction
)

// A wait is what a split in state waiting waits for.
type wait struct {
	kind waitKind
	bar  int32
	gen  uint64
	// The generation's result, once it is complete: the barrier itself may be in
	// a later generation before this split takes it.
	ones   uint32
	lanes  uint32
	byExit bool
}

type waitKind uint8

const (
	noWait waitKind = iota
	waitBar
	waitWarpAtBar // arrived at a named barrier, other lanes of the warp did not
	waitCluster
	waitPair // for the other CTA of its pair: tensorpair.go
)

// Clone returns an independent copy that shares unchanged pages.
func (m *Machine) Clone() *Machine {
	c := *m
	m.owner, c.owner = owners.Add(1), owners.Add(1)
	c.global = m.global.clone()
	c.ctas = make([]*cta, len(m.ctas))
	for i, t := range m.ctas {
		if t != nil {
			c.ctas[i] = t.clone()
		}
	}
	c.ops = make([]*Op, len(m.ops))
	for i, op := range m.ops {
		o := *op
		c.ops[i] = &o
	}
	c.out = append([]byte(nil), m.out...)
	c.running = append([]int32(nil), m.running...)
	c.at = slices.Clone(m.at)
	c.params = slices.Clone(m.params) // an access moves its region for a moment: private
	c.dead = append([]int32(nil), m.dead...)
	c.x, c.hashed = ctx{}, nil
	c.versions = m.versions.clone()
	if m.window != nil {
		v := *m.window
		v.seen = maps.Clone(v.seen)
		c.window = &v
	}
	return &c
}

// Fork returns an independent machine in the state of m, watched by o, which
// may be nil. Unlike Clone it leaves m as it is, so that several may fork one
// machine at the same time; m must not be stepped any more.
func (m *Machine) Fork(o Observer, p *Poison) *Machine {
	proto := *m
	proto.owner = 0
	c := proto.Clone()
	c.cfg.Observer, c.cfg.Poison = o, p
	return c
}

func (t *cta) clone() *cta {
	c := *t
	c.shared = t.shared.clone()
	c.mbars = append([]mbar(nil), t.mbars...)
	c.tensor = t.tensor.clone()
	c.round = t.round.clone()
	c.warps = make([]*warp, len(t.warps))
	for i, w := range t.warps {
		c.warps[i] = w.clone()
	}
	return &c
}

func (w *warp) clone() *warp {
	c := *w
	c.r32 = append([][32]uint32(nil), w.r32...)
	c.r64 = append([][32]uint64(nil), w.r64...)
	c.p = append([]uint32(nil), w.p...)
	c.local = w.local.clone()
	c.heap = append([]laneHeap(nil), w.heap...)
	for k := range w.unset {
		c.unset[k] = append([]uint32(nil), w.unset[k]...)
	}
	c.round = w.round.clone()
	c.splits = make([]*split, len(w.splits))
	for i, s := range w.splits {
		n := *s
		n.frames = append([]frame(nil), s.frames...)
		n.awaits = append([]await(nil), s.awaits...)
		n.seen = append([]uint64(nil), s.seen...)
		n.saw = append([]await(nil), s.saw...)
		c.splits[i] = &n
	}
	c.wgmmas = append([]wgmmaUse(nil), w.wgmmas...)
	c.loads = slices.Clone(w.loads)
	c.tokenRows = make([]*tokenRow, len(w.tokenRows))
	for i, r := range w.tokenRows {
		t := *r
		c.tokenRows[i] = &t
	}
	c.written, c.looked = append([]uint64(nil), w.written...), append([]uint64(nil), w.looked...)
	if w.cp != nil {
		cp := *w.cp
		for l := range cp {
			for g := range cp[l].commits {
				cp[l].commits[g] = append([]uint32(nil), cp[l].commits[g]...)
				cp[l].open[g] = append([]uint32(nil), cp[l].open[g]...)
				cp[l].unread[g] = append([]uint32(nil), cp[l].unread[g]...)
			}
		}
		c.cp = &cp
	}
	return &c
}

var hashSeed = maphash.MakeSeed()

// Hash returns a hash of the state that decides the future of the run: memory,
// registers, barriers, splits and operations in flight. Clocks are left out, and
// counters enter as their distance from what they are compared with, so that a
// loop that returns to the same state has the same hash. It is equal for equal
// states within one process.
func (m *Machine) Hash() uint64 { return m.hashSince(nil) }

// hashSince is Hash, but leaves out the pages of memory unchanged since o, a copy of an
// earlier state, if o is not nil. Only hashes since the same state compare.
func (m *Machine) hashSince(o *Machine) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	for i := range m.global.regions {
		var old *region
		if o != nil {
			old = &o.global.regions[i]
		}
		m.global.regions[i].hashSince(&h, old)
	}
	if o != nil {
		m.global.hashHeap(&h, &o.global)
	} else {
		m.global.hashHeap(&h, nil)
	}
	for i, t := range m.ctas {
		if t != nil {
			maphash.WriteComparable(&h, i)
			var old *cta
			if o != nil {
				old = o.ctas[i]
			}
			m.hashCTA(&h, t, old)
		}
	}
	for _, op := range m.ops {
		m.hashOp(&h, op)
	}
	maphash.WriteComparable(&h, [2]int32{m.ended, m.resident})
	for _, p := range m.at {
		maphash.WriteComparable(&h, p)
	}
	maphash.WriteComparable(&h, m.stop == nil)
	return h.Sum64()
}

func (m *Machine) hashOp(h *maphash.Hash, op *Op) {
	maphash.WriteComparable(h, [6]int64{int64(op.Kind), int64(op.Stage), int64(op.CTA), int64(op.Warp), int64(op.Lane), int64(op.PC)})
	c := m.ctas[op.CTA].warps[op.Warp].counts(int(op.Lane))
	maphash.WriteComparable(h, [2]uint32{c.issued[op.Group] - op.Seq, c.issued[op.Tracks] - op.After})
	maphash.WriteComparable(h, [2]int{len(op.Reads), len(op.Writes)})
	for _, s := range op.Reads {
		maphash.WriteComparable(h, s)
	}
	for _, s := range op.Writes {
		maphash.WriteComparable(h, s)
	}
	for i, b := range op.Bars {
		maphash.WriteComparable(h, [3]uint64{uint64(b.Mem), b.Addr, uint64(op.BarBytes[i])})
	}
	maphash.WriteComparable(h, op.bytes)
	if op.wgmma != nil {
		maphash.WriteComparable(h, op.wgmma.da)
		maphash.WriteComparable(h, op.wgmma.db)
		for i := range op.frag {
			maphash.WriteComparable(h, op.frag[i])
		}
	}
	if op.tcgen05 != nil {
		op.tcgen05.hash(h)
	}
	if op.tensor != nil {
		maphash.WriteComparable(h, op.tensor.tmap)
		maphash.WriteComparable(h, op.tensor.coords)
		maphash.WriteComparable(h, op.tensor.offsets)
	}
	h.WriteString(string(op.data))
}

func (m *Machine) hashCTA(h *maphash.Hash, t, o *cta) {
	var old *region
	if o != nil {
		old = &o.shared
	}
	t.shared.hashSince(h, old)
	for i := range t.bars {
		b := &t.bars[i]
		maphash.WriteComparable(h, [4]uint32{b.count, b.arrived, b.ones, b.lanes})
		maphash.WriteComparable(h, [2]bool{b.sync, b.counted})
	}
	for i := range t.mbars {
		if b := &t.mbars[i]; b.live {
			maphash.WriteComparable(h, [2]uint64{b.addr, uint64(b.word)})
		}
	}
	maphash.WriteComparable(h, t.pool)
	t.tensor.hash(h, o)
	for _, w := range t.warps {
		m.hashWarp(h, t, w)
	}
}

func (m *Machine) hashWarp(h *maphash.Hash, t *cta, w *warp) {
	maphash.WriteComparable(h, [4]uint32{w.live, w.carrived, w.regs, uint32(len(w.splits))})
	for i := range w.r32 {
		maphash.WriteComparable(h, w.r32[i])
	}
	for i := range w.r64 {
		maphash.WriteComparable(h, w.r64[i])
	}
	for _, p := range w.p {
		maphash.WriteComparable(h, p)
	}
	for _, set := range w.unset {
		for _, lanes := range set {
			maphash.WriteComparable(h, lanes)
		}
	}
	w.local.hash(h)
	for _, had := range w.heap {
		maphash.WriteComparable(h, had)
	}
	maphash.WriteComparable(h, w.fenced)
	for _, set := range [][]uint64{w.written, w.looked} {
		maphash.WriteComparable(h, len(set))
		for _, v := range set {
			maphash.WriteComparable(h, v)
		}
	}
	for i := range w.wgmmas {
		maphash.WriteComparable(h, w.wgmmas[i].pc)
		maphash.WriteComparable(h, w.wgmmas[i].fenced)
	}
	if w.cp != nil {
		for l := range w.cp {
			w.cp[l].hash(h)
		}
	}
	for _, s := range w.splits {
		m.hashSplit(h, t, s)
	}
}

// hash adds the groups that a wait could name: which operations they close,
// counted back from the last.
func (c *asyncCounts) hash(h *maphash.Hash) {
	for g := range c.commits {
		maphash.WriteComparable(h, len(c.commits[g]))
		for _, n := range c.commits[g] {
			maphash.WriteComparable(h, c.issued[g]-n)
		}
	}
}

func (m *Machine) hashSplit(h *maphash.Hash, t *cta, s *split) {
	maphash.WriteComparable(h, [5]uint32{uint32(s.pc), s.mask, uint32(s.state), s.lbase, s.room})
	maphash.WriteComparable(h, len(s.frames))
	for _, f := range s.frames {
		maphash.WriteComparable(h, f)
	}
	if s.state == waiting {
		b := &t.bars[s.wait.bar]
		maphash.WriteComparable(h, [2]int32{int32(s.wait.kind), s.wait.bar})
		maphash.WriteComparable(h, s.wait.kind == waitBar && b.gen > s.wait.gen)
		maphash.WriteComparable(h, [2]uint32{s.wait.ones, s.wait.lanes})
	}
	maphash.WriteComparable(h, [3]int{len(s.awaits), int(s.gaveUp), len(s.seen)})
	maphash.WriteComparable(h, s.spun)
	for i := range s.awaits {
		a := s.awaits[i]
		maphash.WriteComparable(h, m.changed(&a))
		if a.size == 0 {
			a.val, a.life = 0, 0
		}
		maphash.WriteComparable(h, a)
	}
	for _, v := range s.seen {
		maphash.WriteComparable(h, v)
	}
}

// LimitInstrs bounds the warp instructions of the run.
func (m *Machine) LimitInstrs(n int64) {
	if m.cfg.MaxInstrs <= 0 || n < m.cfg.MaxInstrs {
		m.cfg.MaxInstrs = n
	}
}

// Only restricts a machine of one launch whose run has not begun to n clusters, from cluster
// first on, as if the others ran later.
func (m *Machine) Only(first, n int) {
	m.at[0].started, m.at[0].until, m.goal = int32(first), int32(first+n), m.grids[0].ctas(int32(first), int32(first+n))
}

// ClusterCount is how many clusters the launch has, or the launches.
func (m *Machine) ClusterCount() int {
	n := 0
	for _, g := range m.grids {
		n += int(g.clusters())
	}
	return n
}

// Stopped returns why the run ended early, or nil.
func (m *Machine) Stopped() *Stop { return m.stop }

// Done reports whether every CTA has ended and no operation is in flight.
func (m *Machine) Done() bool {
	return m.stop == nil && m.ended == m.goal && len(m.ops) == 0
}

// Instrs returns how many warp instructions have run, and how many lane
// instructions they make.
func (m *Machine) Instrs() (warp, lane int64) { return m.instrs, m.lanes }

// Output returns what the kernel printed by vprintf.
func (m *Machine) Output() []byte { return m.out }

// Program returns the program that the machine runs.
func (m *Machine) Program() *Program { return m.prog }

// CTAs and WarpsPerCTA count those of the launch.
func (m *Machine) CTAs() int        { return int(m.total) }
func (m *Machine) WarpsPerCTA() int { return int(m.warps) }

// Peek reads size bytes (1, 2, 4 or 8) of a memory as they are now, with
// whether they are initialized; addr is aligned to size. Memory that is gone
// or out of bounds reads as uninitialized zero.
func (m *Machine) Peek(mem MemID, addr uint64, size int) (uint64, bool) {
	r, off := m.memory(mem, addr)
	if r == nil || !r.within(off, uint64(size)) {
		return 0, false
	}
	return r.load(off, int32(size)), r.initialized(off, uint64(size))
}

// ReadGlobal copies global memory from addr on into b and reports whether
// the range lies in one buffer.
func (m *Machine) ReadGlobal(addr uint64, b []byte) bool {
	r := m.global.find(addr)
	if r == nil || !r.within(addr-r.base, uint64(len(b))) {
		return false
	}
	r.read(addr-r.base, b)
	return true
}

// memory returns the region of a memory that holds addr, and the offset in it.
func (m *Machine) memory(mem MemID, addr uint64) (*region, uint64) {
	if mem == Global {
		if r := m.global.find(addr); r != nil {
			return r, addr - r.base
		}
		return nil, 0
	}
	kind := mem.Kind()
	if kind != SharedMemory && kind != TensorMemory || int(mem.CTA()) >= len(m.ctas) || m.ctas[mem.CTA()] == nil {
		return nil, 0
	}
	r := &m.ctas[mem.CTA()].shared
	if kind == TensorMemory {
		r = &m.ctas[mem.CTA()].tensors().cells
	}
	if addr < r.base || addr-r.base >= r.size {
		return nil, 0
	}
	return r, addr - r.base
}
