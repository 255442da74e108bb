package machine

// The events of a run: what another agent could observe, and nothing about what
// it means. The machine knows no rules. An Observer that keeps a pointer into an
// Event must copy what it keeps: the machine reuses events and their arrays.

import "muster/mbarrier"

// An Observer sees every visible event of a run, in the order in which the
// schedule made them happen. An access is shown before it is performed, so
// that Machine.Peek still reads the old bytes; every other event is shown
// once it has taken effect.
type Observer interface {
	Observe(m *Machine, ev *Event)
}

// A Kind says what an Event is about, and which of its fields count.
type Kind uint8

const (
	// EvStart: the CTA starts. CTA.
	EvStart Kind = iota
	// EvAccess: lanes of one warp read, write or update memory by one
	// instruction. CTA, Warp, Mask, PC, Access, Sem, Scope, Proxy, Mem, Addr,
	// Size, Row. One event for each memory that the lanes touch, and for each
	// element of a strong access (ISA 8.2.4).
	EvAccess
	// EvWarpSync: bar.warp.sync passed by the lanes in Mask, which came in Count
	// splits; PC is that of the last.
	EvWarpSync
	// EvCollective: the lanes in Mask performed a collective that orders no memory
	// (shfl, vote, elect, mma, …). Tells: it hands each lane what others gave it. Shown
	// only after Machine.ShowCollectives, or where the program has fence.sc or an
	// instruction that tells.
	EvCollective
	// EvBarArrive: a warp arrived at named barrier Bar.ID (by arrive, sync or
	// red), with Count threads expected, which the instruction gives (Counted) or
	// which are all of the CTA. Gen is the generation it joins.
	EvBarArrive
	// EvBarPass: a warp that synced passed generation Gen of barrier Bar.ID.
	EvBarPass
	// EvClusterArrive, EvClusterWait: barrier.cluster, with Sem and Gen.
	EvClusterArrive
	EvClusterWait
	// EvFence: a memory or proxy fence. Fence, Sem, Scope, Space; Addr of
	// FenceProxyTensorMapAcquire: each lane's map.
	EvFence
	// EvMbar: one lane's operation on an mbarrier. Lane, Mbar, Sem, Scope. Members: the lanes
	// that execute the instruction with it, whose events follow each other in the order of
	// their numbers; 0 for an asynchronous operation's.
	EvMbar
	// EvMbarWait: lanes in Mask tested phase Mbar.Phase and found it complete
	// (Mbar.OK), or tested and found it incomplete. Sem, Scope. Token is that of
	// lane Lane, if it is known to be of another barrier or a phase too old.
	EvMbarWait
	// EvIssue, EvSource, EvWritten, EvSignal: milestones of Op.
	EvIssue
	EvSource
	EvWritten
	EvSignal
	// EvCommit: lanes in Mask closed an async-group of mechanism Group.
	EvCommit
	// EvGroupWait: lanes in Mask waited for groups of mechanism Group; Done
	// holds, lane by lane, the highest operation number (Op.Seq) known
	// complete. Read: only the source reads are.
	EvGroupWait
	// EvExit: lanes in Mask have exited. EvEnd: the CTA has ended.
	EvExit
	EvEnd
	// EvTrigger: lanes executed griddepcontrol.launch_dependents. EvGridWait: lanes have passed
	// griddepcontrol.wait.
	EvTrigger
	EvGridWait
	// EvRegister: lanes in Mask execute an instruction that misuses a register of
	// a wgmma (Touch), or that reads an unwritten register (Unset).
	EvRegister
	// EvRegisters: a warp executed setmaxnreg: Count registers a thread now, Gen
	// before (0: unknown).
	EvRegisters
	// EvDivergent: lanes in Mask execute an aligned instruction at PC without
	// the rest of their warp.
	EvDivergent
	// EvOutside: lanes in Mask execute the collective at PC, but are not in its
	// member mask Members.
	EvOutside
	// EvUndefined: lanes in Mask take an undefined value from the lanes in Sources,
	// by the shfl at PC: those have exited, are elsewhere, or are not in the member
	// mask Members.
	EvUndefined
	// EvPendingCount: a lane takes the pending count of Token, which no .noComplete
	// arrival returned.
	EvPendingCount
	// EvParted: lanes in Mask take the .uni branch at PC, and those in Members, which
	// execute it with them, go elsewhere. Chance: they are in different turns of a loop.
	EvParted
	// EvOperand: lanes in Mask give the instruction at PC an invalid operand: Fault says
	// which rule it breaks, Why says it in words.
	EvOperand
	// EvTensorAsk: a warp waits for the other CTA of its pair to allocate or free columns
	// with it, or to relinquish the permit. EvTensorRelinquish: a warp relinquishes it: Span
	// stands for the permit. EvTensorAlloc, EvTensorFree: lanes in Mask allocated columns of tensor memory, or freed
	// them: Span. EvTensorLeft: the CTA ends with columns that the alloc at PC by Warp
	// allocated.
	EvTensorAsk
	EvTensorRelinquish
	EvTensorAlloc
	EvTensorFree
	EvTensorLeft
	// EvTensorUsed: the instruction at PC uses registers of the tcgen05.ld whose number is
	// Load, and so comes after what that read.
	EvTensorUsed
	// EvRefused: lanes in Mask observe at PC that a request of their CTA for a cluster that
	// has not started failed.
	EvRefused
	// EvHeapFull: malloc gives lanes in Mask null at PC, since the blocks of all threads
	// leave no room, or it could in a schedule in which blocks are freed later.
	EvHeapFull
)

// UnsetLocal is Event.Unset for a read of unwritten local memory.
const UnsetLocal = -1

// UnsetResult is Event.Unset for an instruction whose result the ISA leaves undefined.
const UnsetResult = -2

// A MemID names a memory: global, local, or the shared or tensor memory of one CTA.
type MemID int32

// A MemoryKind is a kind of memory.
type MemoryKind uint8

const (
	GlobalMemory MemoryKind = iota // all of a grid's
	SharedMemory                   // a CTA's
	LocalMemory                    // a thread's
	TensorMemory                   // a CTA's
	noMemory
)

// Global is global memory (module variables and buffers); addresses in it
// are the 64-bit addresses that a kernel sees.
const Global MemID = -1

// Local is a thread's own memory; no other agent sees it and no event
// carries it, but faults do.
const Local MemID = -2

// SharedOf is the shared memory of the CTA with that linear index in the
// grid; addresses in it are byte offsets in the CTA's own window.
func SharedOf(cta int32) MemID { return MemID(cta) }

// TensorOf is the tensor memory of the CTA with that linear index; addresses in it are
// offsets of bytes: the cell of lane l in column c is at 512c+4l, so that a warp's lanes lie
// together.
func TensorOf(cta int32) MemID { return firstTensor - MemID(cta) }

const firstTensor MemID = -3

// Kind returns the kind of a memory.
func (m MemID) Kind() MemoryKind {
	switch {
	case m >= 0:
		return SharedMemory
	case m <= firstTensor:
		return TensorMemory
	case m == Global:
		return GlobalMemory
	case m == Local:
		return LocalMemory
	}
	return noMemory
}

// CTA returns the CTA that a shared or tensor memory belongs to, a negative number for others.
func (m MemID) CTA() int32 {
	if m <= firstTensor {
		return int32(firstTensor - m)
	}
	return int32(m)
}

// An Access says what an access does.
type Access uint8

const (
	Read Access = 1 << iota
	Write
	// Update marks an atomic read-modify-write (with Read and Write), or a
	// red (with Write alone: it returns nothing and never acquires).
	Update
)

// Sem is the memory-ordering qualifier of an operation (ISA 8.5).
type Sem uint8

const (
	Weak Sem = iota
	Volatile
	MMIO
	Relaxed
	Acquire
	Release
	AcqRel
	SC
)

// A Scope is a set of threads (ISA 8.5); NoScope on weak operations.
type Scope uint8

const (
	NoScope Scope = iota
	ScopeCTA
	ScopeCluster
	ScopeGPU
	ScopeSys
)

// A Proxy is the path that an access takes to memory (ISA 8.3).
type Proxy uint8

const (
	Generic Proxy = iota
	Async
	TensorMap
	Constant // ld.global.nc, ld.const, ld.param: the non-coherent read path
)

// A Fence says which fence executed.
type Fence uint8

const (
	FenceMemory     Fence = iota // fence.acq_rel, fence.sc, membar, fence.acquire/.release with Sem and Scope
	FenceProxyAsync              // fence.proxy.async: both directions between generic and async
	FenceProxyAsyncGenericAcquire
	FenceProxyAsyncGenericRelease
	FenceProxyAlias
	FenceProxyTensorMapAcquire
	FenceProxyTensorMapRelease
	FenceMbarrierInit
	FenceWgmma        // wgmma.fence: registers, not memory
	FenceTensorBefore // tcgen05.fence::before_thread_sync
	FenceTensorAfter  // tcgen05.fence::after_thread_sync
)

// Spaces is a set of state spaces, for fences restricted to some.
type Spaces uint8

const (
	SpaceGlobal Spaces = 1 << iota
	SpaceSharedCTA
	SpaceSharedCluster // covers SpaceSharedCTA
	AllSpaces          = SpaceGlobal | SpaceSharedCTA | SpaceSharedCluster
)

// A BarRef names an mbarrier: the memory that holds it and its address there.
// Life counts the inits of that word in this run.
type BarRef struct {
	Mem  MemID
	Addr uint64
	Life uint32
}

// An MbarOp is an operation on an mbarrier.
type MbarOp uint8

const (
	MbarInit MbarOp = iota
	MbarInval
	MbarArrive
	MbarArriveDrop
	MbarExpectTx
	MbarArriveExpectTx
	MbarArriveDropExpectTx
	MbarCompleteTx
	MbarIncrement   // the pending-count increment of cp.async.mbarrier.arrive
	MbarAsyncArrive // the arrive-on that it triggers
	MbarTest        // test_wait
	MbarTry         // try_wait
)

// Mbar is what an operation on an mbarrier did.
type Mbar struct {
	Bar        BarRef
	Op         MbarOp
	Live       bool // the word was a live barrier before the operation
	NoComplete bool
	Count      uint32
	Bytes      uint32
	Before     mbarrier.Word
	After      mbarrier.Word
	// Phase is the barrier's phase, counted from 0 at init, before the
	// operation; a wait's is the phase that it asks for, which a parity wait
	// on a fresh barrier makes -1. Completed: the operation completed Phase.
	Phase     int64
	Completed bool
	Undefined mbarrier.Undefined
	Fault     mbarrier.Fault
	// Token is what an arrival returned, or a wait was given; a parity wait
	// (Parity) has its parity here.
	Token  uint64
	Parity bool
	OK     bool // a wait found the phase complete
	// Slept: the wait found the phase incomplete at least once.
	Slept bool
}

// A Group is a completion mechanism by groups of one thread's operations.
type Group uint8

const (
	NoGroup          Group = iota
	GroupCpAsync           // cp.async.commit_group, cp.async.wait_group, wait_all
	GroupBulk              // cp.async.bulk.commit_group, .wait_group[.read]
	GroupWgmma             // wgmma.commit_group, .wait_group
	GroupTensor            // tcgen05.mma and tcgen05.cp: tcgen05.commit
	GroupTensorLoad        // tcgen05.ld: tcgen05.wait::ld
	GroupTensorStore       // tcgen05.st: tcgen05.wait::st
	Groups                 // how many there are
)

// Aligned reports whether all lanes of a warp issue and wait for such operations together.
func (g Group) Aligned() bool {
	return g == GroupWgmma || g == GroupTensorLoad || g == GroupTensorStore
}

// A Span is a range of bytes in one memory.
type Span struct {
	Mem  MemID
	Addr uint64
	Len  uint64
}

// An OpKind says which asynchronous operation an Op is.
type OpKind uint8

const (
	OpCpAsync OpKind = iota // one lane's cp.async
	OpBulkCopy
	OpBulkReduce
	OpBulkPrefetch
	OpStAsync
	OpRedAsync
	OpMbarArrive // the arrive-on of cp.async.mbarrier.arrive, or of tcgen05.commit
	OpWgmma      // one warp's part of wgmma.mma_async: the warp issues it
	OpTensorMultiply
	OpTensorCopy  // tcgen05.cp
	OpTensorShift // tcgen05.shift
	OpTensorLoad  // tcgen05.ld: the warp issues it
	OpTensorStore // tcgen05.st: the warp issues it
	OpCancel      // clusterlaunchcontrol.try_cancel: what it reads is which clusters have started
)

// ByWarp reports whether all lanes of a warp issue the operation together.
func (k OpKind) ByWarp() bool {
	return k == OpWgmma || k == OpTensorLoad || k == OpTensorStore
}

// A Stage is how far an asynchronous operation has come.
type Stage uint8

const (
	Issued Stage = iota
	SourceRead
	Written
	Signalled
)

// An Op is an asynchronous operation. Its number ID counts issues in this
// run; Seq counts, from 1, the operations of its issuing thread under its
// Group.
type Op struct {
	ID    int64
	Kind  OpKind
	Stage Stage
	Proxy Proxy
	Group Group
	Seq   uint32
	CTA   int32
	Warp  int32
	Lane  int8
	PC    int32
	// Reads and Writes are what it reads and writes. A reduction's writes are
	// relaxed read-modify-writes at GPU scope, of Element bytes each.
	Reads   []Span
	Writes  []Span
	Element int32
	// Bars are the mbarriers that it signals, and BarBytes how many bytes it
	// brings to each; none for group completion.
	Bars     []BarRef
	BarBytes []uint32
	// Phases holds, once signalled, the phase of each of Bars that it was
	// charged to.
	Phases []int64
	// Uninit: its source held unwritten bytes.
	Uninit bool
	// Target is the range that a reduction changes, if it is shared memory with unwritten
	// bytes; else empty.
	Target Span
	// Map is the tensor map that it read when it was issued, through the
	// tensor-map proxy; empty if there is none, or none that could change.
	Map Span
	// Twin is the ID of the first operation of the same execution of its instruction, if
	// that one, like all between, has the same source and target: lanes of a warp execute
	// one bulk store, or one reduction, together. 0: none.
	Twin int64
	// MapSeq is the number of a load with such a map among its issuer's bulk
	// operations: a wait for their groups shows that the map was read, and
	// nothing else about the load (ISA 9.7.9.25.5.2). 0: no such map.
	MapSeq uint32
	// After is the highest Seq of its issuer's operations of mechanism Tracks that an
	// OpMbarArrive waits for.
	After      uint32
	Tracks     Group
	tensor     *tensorCopy
	wgmma      *wgmmaOp
	tcgen05    *tcgen05Op
	frag       [][32]uint32 // of A in registers
	meta       [32]uint32   // of a sparse A
	data       []byte
	fragShades [][32]shade
	shades     []shade // of data, or of what a matrix is computed from; nil if all is defined
	red        *reduction
	bytes      uint16 // which bytes of every 16 a masked copy writes
	masked     bool
	cached     bool // data was taken from registers at issue
	noinc      bool
	pair       int32 // of a tcgen05 operation of .cta_group::2: the other CTA, plus 1
	refused    bool  // a request that fails although there is a cluster: Refuse
	step       int64 // Machine.instrs at its issue
}

// An Event is one visible event. Kind says which fields count.
type Event struct {
	Kind   Kind
	Access Access
	Sem    Sem
	Scope  Scope
	// ScopeDefaulted, SemDefaulted: the text leaves the qualifier out.
	ScopeDefaulted bool
	SemDefaulted   bool
	Proxy          Proxy
	Lane           int8
	Group          Group
	Read           bool
	// Row: lane i of a full warp accesses Addr[0] + i*Size.
	Row   bool
	Fence Fence
	Space Spaces // a fence's restriction
	CTA   int32
	Warp  int32
	Mask  uint32
	PC    int32
	Mem   MemID
	Size  int32 // bytes a lane
	// Picks: the lane takes the version Pick of its word, and not the last (version.go); took
	// holds those of all words of its access.
	Picks bool
	Pick  Version
	took  []Version
	// Fails: a compare-and-swap that fails, where versions are kept.
	Fails bool
	Span  Span
	// Load, of EvTensorUsed, is Op.ID of the load.
	Load int64
	// Peer, of EvTensorAsk, is the other CTA, nil if it does not run; With, of what a pair
	// allocates or frees, is the other CTA's event; Second: which came before. Permit
	// is what an alloc needs, where it asks for it.
	Peer   *int32
	With   *Event
	Second bool
	Permit *Span
	Addr   *[32]uint64
	// Part is the offset of this event's bytes in those of each lane: not 0 for the later
	// elements of a strong access, which has one event for each. Whole is then the
	// instruction's bytes a lane, and 0 for other accesses.
	// First: it is the first of these events.
	Part, Whole int32
	First       bool
	// Val holds what a store writes in words of 8 bytes, low bytes first:
	// word k of lane l is Val[k][l]. It is nil for other accesses.
	Val [][32]uint64
	// storing and by let Values compute it on demand.
	storing *access
	by      *ctx
	// Init says which lanes of a read saw only initialized bytes.
	Init  uint32
	Bar   int32 // named barrier number
	Count uint32
	Gen   uint64
	Mode  BarMode
	// Forms are all forms at which lanes of the warp wait for the barrier: bit 0 is
	// BarSync, bit 1 BarArrive, the others are BarRed with one operation each.
	Forms   uint8
	Counted bool
	Done    *[32]uint32
	Mbar    Mbar
	Op      *Op
	Touch   *Touch
	// Unset numbers an entry of Program.Unset, from 1 on; or it is UnsetLocal:
	// Size bytes of the lane's local memory at Gen, in a frame that begins at
	// Count.
	Unset int32
	Fault StopKind
	Why   string
	// ByExit: the barrier opened because the threads it missed have exited.
	ByExit bool
	Tells  bool
	Chance bool
	// Again: lanes that arrive again before the generation of their last arrival
	// has completed.
	Again uint32
	// Token is what is known of a register that holds a token.
	Token Token
	// Members is a collective's member mask, or the lanes that execute an instruction
	// together; Sources are lanes that a shfl reads.
	Members, Sources uint32
}

// Values returns Val, or computes what the event's store is about to write; nil
// if that is not known.
func (ev *Event) Values() [][32]uint64 {
	if ev.Val == nil && ev.storing != nil {
		ev.Val = ev.by.storeValues(ev.storing)
		if ev.Val != nil && ev.Size < ev.storing.size {
			ev.Val = partValues(ev.Val, ev.Part, ev.Size)
		}
	}
	return ev.Val
}

// partValues returns size bytes of what is stored, from byte part on: an element,
// or aligned words of it.
func partValues(v [][32]uint64, part, size int32) [][32]uint64 {
	if size >= 8 {
		return v[part/8 : (part+size)/8]
	}
	word, shift := &v[part/8], uint(part%8*8)
	for i := range word {
		word[i] = word[i] >> shift & (1<<(8*uint(size)) - 1)
	}
	return v[part/8 : part/8+1]
}

// at sets an event's kind and place. Fields that its kind does not use keep an
// earlier event's values.
func (ev *Event) at(k Kind, x *ctx, mask uint32) {
	ev.Kind, ev.CTA, ev.Warp, ev.Mask, ev.PC = k, x.w.cta, x.w.index, mask, x.s.pc
}

// A BarMode is a form of bar / barrier.
type BarMode uint8

const (
	BarSync BarMode = iota
	BarArrive
	BarRed
)
