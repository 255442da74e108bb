package rules

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/ptx"
)

// A watch is the state of the protocol rules: for each mbarrier a ledger of its
// phases (ledger.go), for each named barrier the arrivals by generation
// (named.go), for each warp what it can know of others, the exits of its lanes,
// and its setmaxnreg instructions. Everything is bounded by the launch, not by
// the length of the run.
//
// Times decide whether an arrival may come before the completion of the phase
// before it: events are numbered, and known bounds what a warp can have learnt of
// the others, by the number of the last event that anything it waited for depends
// on. Later events elsewhere are certainly unordered with the warp's next
// operation. The converse is not concluded.
type watch struct {
	now   int64
	ctas  []*ctaWatch // nil before the start, gone after the end of the cluster
	words map[word]*ledger
	noted map[flag]int
	// tokens: the program waits by token. strong: it has strong reads, through
	// which a warp may learn anything. together: it has warp collectives other
	// than bar.warp.sync: lanes wait for each other there, so that all may depend
	// on what one knows.
	tokens   bool
	strong   bool
	together bool
	// registers: it has setmaxnreg.
	registers bool
	// waiting lists the waiting splits of a hung run.
	waiting []Waiter
	idles   []idle // waits that did not wait
	parted  []parted
	place   placement
	repeats map[int32]*repeated // by program counter
	freed   []freedColumns      // of tensor memory, the first few
	// collectors by the first CTA of those that a tcgen05.mma works for, and the buffer.
	collectors map[collectorKey]*collectorWatch
	rings      map[servedAt]*served
	guarded    map[int32]guard                  // by operation: what its warp had waited for
	filled     map[collectorKey]*collectorWatch // those that hold a matrix
}

// A word is the place of an mbarrier.
type word struct {
	mem  machine.MemID
	addr uint64
}

// A flag identifies a finding that events can repeat.
type flag struct {
	kind *Kind
	a, b int32 // program counters
}

type ctaWatch struct {
	warps  []warpWatch
	groups []groupWatch // warpgroups, if they execute wgmma
	named  [16]namedWatch
	// cluster propagates the counts of setmaxnreg by the cluster's barrier.
	cluster handing
	bars    []uint64 // addresses of its mbarriers
	ended   bool
}

// gone stands for every CTA whose cluster has ended: its findings are made.
var gone = &ctaWatch{ended: true}

type warpWatch struct {
	level   int64     // what every lane knows
	known   [32]int64 // what a lane knows, where that is more
	ahead   int64     // the maximum of known
	burst   int64     // when the mbarrier instruction at hand began
	burstPC int32
	burstAt int64 // the last event of it
	lane    int8
	exits   []exit
	cluster uint32 // lanes that arrived at the cluster's barrier and have not waited
	arrived int32  // program counter of that arrival
	steps   []regStep
	counts  counts // of setmaxnreg that happen before the warp's next step

	guard guard

	diverged bool // part of the warp has executed an aligned instruction
}

// An exit is where lanes of a warp exited.
type exit struct {
	mask uint32
	pc   int32
}

// begin prepares the watch for a launch.
func (j *Judge) begin() {
	w := &j.watch
	w.ctas = make([]*ctaWatch, j.CTAs)
	w.words = map[word]*ledger{}
	w.noted = map[flag]int{}
	w.place.begin(j.Program)
	for pc := range int32(j.Program.Len()) {
		in := j.Program.Inst(pc)
		if in == nil {
			continue
		}
		does := in.Effect()
		w.strong = w.strong || does.Has(ptx.Reads) && in.Sem().Strong()
		w.together = w.together || does.Has(ptx.Exchanges|ptx.Elects)
		w.registers = w.registers || does.Has(ptx.SetsRegisters)
		w.tokens = w.tokens || does.Has(ptx.Tests) && !slices.Contains(in.Mods, "parity")
	}
}

// cta returns the record of a CTA that runs.
func (j *Judge) cta(i int32) *ctaWatch {
	c := j.watch.ctas[i]
	if c == nil || c == gone {
		c = &ctaWatch{warps: make([]warpWatch, j.Warps)}
		j.watch.ctas[i] = c
	}
	return c
}

// isGone reports whether the CTA that a memory belongs to is gone.
func (j *Judge) isGone(mem machine.MemID) bool {
	return mem.Kind() == machine.SharedMemory && j.watch.ctas[mem.CTA()] == gone
}

// warp returns the record of a warp.
func (j *Judge) warp(cta, warp int32) *warpWatch { return &j.cta(cta).warps[warp] }

// protocol processes an event that is no access.
func (j *Judge) protocol(m *machine.Machine, ev *machine.Event) {
	w := &j.watch
	if w.ctas == nil {
		j.begin()
	}
	w.now++
	j.setsRegisters(ev)
	switch ev.Kind {
	case machine.EvMbar:
		if !j.isGone(ev.Mbar.Bar.Mem) {
			if ev.Mbar.Op == machine.MbarInit {
				j.placedAt(ev, ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr, barrierUnit)
			}
			j.mbarEvent(ev)
		}
	case machine.EvMbarWait:
		j.mbarWait(ev)
	case machine.EvIssue:
		j.guards(ev.CTA, ev.Warp, ev.PC)
		if ev.Op.Kind == machine.OpWgmma {
			j.aligned(m, ev)
		}
		j.placedCopy(ev)
		j.asyncOperands(ev)
		j.repeats(ev)
		j.collectsMatrix(ev)
		j.issued(m, ev)
	case machine.EvCommit, machine.EvGroupWait:
		if ev.Group == machine.GroupWgmma {
			j.aligned(m, ev)
		}
	case machine.EvFence:
		if ev.Fence == machine.FenceWgmma {
			j.aligned(m, ev)
		}
	case machine.EvSource:
		j.sourceRead(m, ev)
	case machine.EvWritten:
		j.collectedWrite(ev)
		j.reduced(ev)
	case machine.EvBarArrive:
		j.afterExit(ev)
		j.namedArrive(ev)
		j.joins(ev, false)
	case machine.EvBarPass:
		j.joins(ev, true)
		j.namedPass(ev)
	case machine.EvWarpSync:
		x := j.warp(ev.CTA, ev.Warp)
		j.learn(x, ev.Mask, max(x.most(ev.Mask), x.burstAt))
	case machine.EvClusterArrive:
		j.afterExit(ev)
		j.clusterArrive(ev)
	case machine.EvClusterWait:
		j.afterExit(ev)
		j.clusterWait(ev)
	case machine.EvDivergent:
		j.divergent(m, ev)
	case machine.EvOutside:
		j.outside(ev)
	case machine.EvParted:
		j.parted(ev)
	case machine.EvOperand:
		j.operand(ev)
	case machine.EvUndefined:
		j.undefinedSource(ev)
	case machine.EvPendingCount:
		j.pendingCount(ev)
	case machine.EvHeapFull:
		j.heapFull(ev)
	case machine.EvRegister:
		j.touched(ev)
	case machine.EvTensorFree:
		w.freed = append(w.freed[:min(len(w.freed), maxFreed)], freedColumns{ev.Span, eventSite("frees", ev)})
	case machine.EvTensorLeft:
		j.columnsLeft(ev)
	case machine.EvRegisters:
		j.registers(ev)
	case machine.EvExit:
		x := j.warp(ev.CTA, ev.Warp)
		x.exits = append(x.exits, exit{mask: ev.Mask, pc: ev.PC})
	case machine.EvEnd:
		j.ended(m, ev.CTA)
	}
}

// learn records that lanes may know all events up to a time.
func (j *Judge) learn(x *warpWatch, mask uint32, at int64) {
	if mask == ^uint32(0) || j.watch.together {
		x.level = max(x.level, at)
		return
	}
	for ; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask) & 31
		x.known[l] = max(x.known[l], at)
	}
	x.ahead = max(x.ahead, at)
}

// knows returns the time up to which a lane may know events.
func (x *warpWatch) knows(lane int8) int64 { return max(x.level, x.known[lane&31]) }

// most is knows for the lane of mask that knows most.
func (x *warpWatch) most(mask uint32) int64 {
	at := x.level
	if x.ahead <= at {
		return at
	}
	for ; mask != 0; mask &= mask - 1 {
		at = max(at, x.known[bits.TrailingZeros32(mask)&31])
	}
	return at
}

// step records one lane's part of an mbarrier instruction, and when the
// instruction began: its lanes are unordered.
func (x *warpWatch) step(now int64, pc int32, lane int8) {
	if x.burstPC != pc || x.burstAt != now-1 || lane <= x.lane {
		x.burst = now
	}
	x.burstPC, x.burstAt, x.lane = pc, now, lane
}

// ended settles a CTA's barriers once its cluster has ended: until then other
// CTAs can use them.
func (j *Judge) ended(m *machine.Machine, cta int32) {
	j.cta(cta).ended = true
	peers := m.ClusterOf(cta)
	for _, p := range peers {
		if c := j.watch.ctas[p]; c == nil || !c.ended {
			return
		}
	}
	for _, p := range peers {
		j.leave(p, ended)
	}
}

// A parting is why the watch forgets a CTA.
type parting uint8

const (
	ended   parting = iota // its cluster has ended
	stopped                // the run is over, and the CTA has not ended
	cut                    // it might have gone on
)

// leave makes the findings of a CTA and forgets it.
func (j *Judge) leave(i int32, how parting) {
	c := j.watch.ctas[i]
	slices.Sort(c.bars)
	for _, at := range c.bars {
		key := word{machine.SharedOf(i), at}
		if l := j.watch.words[key]; l != nil {
			j.settle(l, how)
		}
		delete(j.watch.words, key)
	}
	j.namedFindings(i, how)
	if how == ended {
		j.registerSteps(i, func(int) bool { return false })
		j.groupSteps(i)
	}
	j.watch.ctas[i] = gone
}

// atEnd settles what is left after the run.
func (j *Judge) atEnd(m *machine.Machine) {
	w := &j.watch
	cfg := m.Config()
	for _, l := range cfg.Launches() {
		for _, f := range LaunchConfig(j.Program, &l) {
			j.add(Lookup(f.Kind), f)
		}
	}
	if w.ctas == nil {
		return
	}
	how := stopped
	if !j.over {
		how = cut
	}
	for i, c := range w.ctas {
		if c != nil && c != gone {
			j.leave(int32(i), how)
		}
	}
	if len(w.waiting) > 0 {
		j.hung()
	}
	j.onlyUnordered()
}

// hung adds the waiting splits to the findings that may be the cause of a hang.
func (j *Judge) hung() {
	for i := range j.findings {
		f := &j.findings[i]
		if mayHang(f.Kind) && f.Severity == Error {
			f.Waiting = j.watch.waiting
		}
	}
}

// note adds a finding, or counts it if the same instructions gave it before.
func (j *Judge) note(k *Kind, a, b int32, finding func() Finding) {
	w := &j.watch
	key := flag{k, a, b}
	if i, ok := w.noted[key]; ok {
		j.findings[i].Count++
		return
	}
	f := finding()
	f.Kind = k.Name
	id := f.Key()
	j.add(k, f)
	w.noted[key] = j.find(id)
}

// lanes records lanes of one warp and their operations on a barrier.
type lanes struct {
	cta, warp int32
	mask      uint32
	count     uint32
	pc        int32
	first     int64
	last      int64
	again     bool // a lane did it twice
}

// join adds lanes of a warp to a list.
func join(list []lanes, e lanes) []lanes {
	for i := range list {
		o := &list[i]
		if o.cta == e.cta && o.warp == e.warp {
			o.again = o.again || o.mask&e.mask != 0
			o.mask |= e.mask
			o.count += e.count
			o.last, o.pc = e.last, e.pc
			return list
		}
	}
	return append(list, e)
}

// find returns a warp's entry, or nil.
func find(list []lanes, cta, warp int32) *lanes {
	for i := range list {
		if list[i].cta == cta && list[i].warp == warp {
			return &list[i]
		}
	}
	return nil
}

// total sums up the counts of a list.
func total(list []lanes) (n uint32) {
	for i := range list {
		n += list[i].count
	}
	return n
}

// threads counts the lanes of a list.
func threads(list []lanes) (n int) {
	for i := range list {
		n += bits.OnesCount32(list[i].mask)
	}
	return n
}

// maxSites bounds how many places a finding lists in one role.
const maxSites = 8

// enter adds a place to a list unless it is there, in program order, so that it
// does not depend on the schedule.
func enter(list []Site, s Site) []Site {
	at := len(list)
	for i := range list {
		if list[i].PC == s.PC && list[i].Role == s.Role {
			return list
		}
		if at == len(list) && list[i].PC > s.PC {
			at = i
		}
	}
	if len(list) >= maxSites {
		return list
	}
	list = append(list, Site{})
	copy(list[at+1:], list[at:])
	list[at] = s
	return list
}

// eventSite is the place of an event, in a role.
func eventSite(role string, ev *machine.Event) Site {
	return Site{Role: role, PC: ev.PC, CTA: ev.CTA, Warp: ev.Warp, Lanes: ev.Mask}
}
