package confluence

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/mbarrier"
)

// A Config is what a Prover needs to know of the launch.
type Config struct {
	machine.Shape
	// Program and its Polls, if it has any.
	Program *machine.Program
	Polls   map[int32]*machine.Poll
	// Flips are its waits for a bit; nil if the run does not stand for all orders.
	Flips map[int32]*machine.Flip
	// Ordered are the strong accesses taken in the run's own order; nil if the run
	// stands for all orders.
	Ordered map[int32]bool
	// Peeks are the tests that the run fails, with the waits that they would skip.
	Peeks map[int32]machine.Peek
	// Granted is how many clusters the requests of each cluster get, the first of them.
	Granted int
}

// A Condition is one condition of the theorem.
type Condition uint8

const (
	C0      Condition = iota // a barrier's init before its uses, these before its inval
	C1                       // what is charged to one phase before what is charged to the next
	C2                       // a phase's credits before some arrival of it
	C3Early                  // a wait after all that is charged to the phase before
	C3Late                   // a wait before something that is charged to the phase after
	C4                       // the phase left open lacks counted arrivals
	C5                       // sums of bytes and counts are in range
	C6                       // named and cluster barriers
	C7                       // setmaxnreg
	C9                       // waits for words of memory
	C10                      // columns of tensor memory
)

func (c Condition) String() string {
	return [...]string{"C0", "C1", "C2", "C3 (early)", "C3 (late)", "C4", "C5", "C6", "C7", "C9", "C10"}[c]
}

// A Failure is a condition that does not hold, and where.
type Failure struct {
	Condition Condition
	Bar       machine.BarRef // of C0 to C5
	Named     int32          // of C6; -1 for the cluster's barrier
	CTA       int32
	Phase     int64
	// PC is the instruction at which it fails, With another one involved; -1 if there
	// is none.
	PC, With int32
	// Warp, in the grid, and Lanes executed it, or issued it if it is an asynchronous
	// operation's. No lanes: no particular thread.
	Warp  int32
	Lanes uint32
	Text  string
	// Mates are lanes that took the step together with Lanes, in this run; the condition
	// holds if they do so in every schedule. Of C1, they took the step of the phase before
	// that need not have come together with a lane that took it. None: it does not hold.
	Mates uint32
	// Residency: the condition holds if all CTAs are resident together.
	Residency bool
}

// maxAlike bounds the failures kept for one condition at one pair of instructions:
// the first need not be one that a schedule can bring about.
const maxAlike = 4

// A Prover watches one run.
type Prover struct {
	cfg      Config
	ctas     []*ctaState
	bars     []*bar
	index    map[machine.BarRef]*bar // once there are many
	ops      map[int64]*issue
	spare    []*issue // of completed operations
	clusters map[int32]*generations
	failures []Failure
	seen     map[alike]int
	words    map[granule]*polled
	counters map[granule]*flipWord
	others   map[granule]bool // words of global memory with strong writes by other than counters have
	event    int64            // strong accesses so far
	earlier  bool             // a CTA waits for another cluster's
	order    map[granule]*orderedWord
	choices  map[Choice]bool
	turns    map[agent]turn
	stepped  []*group           // what step returned last
	asking   map[int32]*request // the last request for a cluster, by the cluster that makes it
	queues   map[machine.CommitQueue]*queue
}

// New returns a Prover of a run that has not begun.
func New(c Config) *Prover {
	p := &Prover{cfg: c, ctas: make([]*ctaState, c.CTAs), ops: map[int64]*issue{}, clusters: map[int32]*generations{}, seen: map[alike]int{}, queues: map[machine.CommitQueue]*queue{}}
	if len(c.Polls) > 0 {
		p.words = map[granule]*polled{}
	}
	if len(c.Flips) > 0 {
		p.counters, p.others = map[granule]*flipWord{}, map[granule]bool{}
	}
	if c.Ordered != nil {
		p.order, p.choices, p.turns = map[granule]*orderedWord{}, map[Choice]bool{}, map[agent]turn{}
	}
	return p
}

// A ctaState has the clocks of a CTA's lanes and its named barriers.
type ctaState struct {
	warps   []warpState
	named   [16]*named  // nil: not used
	groups  []warpgroup // by number; nil: no wgmma
	columns columns
	alloc   columns // its own last alloc
}

// A warpState groups a warp's lanes by what they come after.
type warpState struct {
	number int32 // in the grid
	step   uint32
	asked  stamp // where it came to what a pair does with columns
	groups []group
	regs   []regStep
	peeks  []peek
}

// A group is lanes that come after the same, and each after its own steps: lanes that
// take a step together come after each other's steps only once they have
// synchronized.
type group struct {
	mask uint32
	clk  clock
	step uint32 // its last
}

// A view is what lanes that take a step come after.
type view struct {
	clk  *clock
	warp int32
	// own are the lanes of the warp whose earlier steps precede this one, whatever
	// clk says: the lane that takes the step, if it is a single one.
	own uint32
}

// sees returns the view of lanes of a group.
func (w *warpState) sees(g *group, lanes uint32) view {
	if lanes&(lanes-1) != 0 {
		return view{&g.clk, w.number, 0} // no lane comes after all that the others did
	}
	return view{&g.clk, w.number, lanes}
}

// after returns the lanes of mask whose step a view comes after.
func (v view) after(w int32, mask, step uint32) uint32 {
	known := v.clk.after(w, mask, step)
	if w == v.warp {
		known |= mask & v.own
	}
	return known
}

// covers reports whether a view comes after all that need names.
func (v view) covers(need *clock) bool { return v.clk.coversBut(need, v.warp, v.own) }

// An issue is an asynchronous operation and what its issuer came after.
type issue struct {
	clk   clock
	pc    int32
	queue int   // of a commit: which one
	turn  int64 // its place there, from 1; 0: no commit
}

// issue returns an unused one.
func (p *Prover) issue() *issue {
	n := len(p.spare) - 1
	if n < 0 {
		return &issue{}
	}
	is := p.spare[n]
	p.spare = p.spare[:n]
	return is
}

func (p *Prover) cta(i int32) *ctaState {
	c := p.ctas[i]
	if c == nil {
		c = &ctaState{warps: make([]warpState, p.cfg.Warps)}
		groups := make([]group, len(c.warps))
		for w := range c.warps {
			groups[w].mask = ^uint32(0)
			c.warps[w] = warpState{number: i*int32(p.cfg.Warps) + int32(w), groups: groups[w : w+1 : w+1]}
		}
		p.ctas[i] = c
	}
	return c
}

// step advances lanes of a warp by one step and returns their groups, valid until the
// next call. Lanes that diverge get clocks of their own.
func (p *Prover) step(cta, warp int32, mask uint32) (w *warpState, groups []*group) {
	w = &p.cta(cta).warps[warp]
	w.step++
	w.part(mask)
	groups = p.stepped[:0]
	for i := range w.groups {
		if g := &w.groups[i]; g.mask&mask != 0 {
			g.step = w.step
			groups = append(groups, g)
		}
	}
	p.stepped = groups
	return w, groups
}

// part splits groups so that mask is a union of them.
func (w *warpState) part(mask uint32) {
	for i := range w.groups {
		g := &w.groups[i]
		if in := g.mask & mask; in != 0 && in != g.mask {
			rest := group{mask: g.mask &^ mask, clk: g.clk.clone(), step: g.step}
			g.mask = in
			w.groups = append(w.groups, rest)
		}
	}
}

// sync synchronizes lanes: they come after each other's steps so far.
func (p *Prover) sync(cta, warp int32, mask uint32) {
	w, gs := p.step(cta, warp, mask)
	if len(gs) == 1 {
		gs[0].clk.set(w.number, mask, w.step)
		return
	}
	all := gs[0].clk.clone()
	for _, g := range gs[1:] {
		all.join(&g.clk)
	}
	all.set(w.number, mask, w.step)
	w.meet(mask, all)
}

// meet makes lanes one group with the given clock.
func (w *warpState) meet(mask uint32, clk clock) {
	out := w.groups[:0]
	for _, g := range w.groups {
		if g.mask&mask == 0 {
			out = append(out, g)
		}
	}
	w.groups = append(out, group{mask: mask, clk: clk, step: w.step})
}

// learn orders lanes after what the clocks name.
func (w *warpState) learn(mask uint32, from ...*clock) {
	w.part(mask)
	for i := range w.groups {
		if g := &w.groups[i]; g.mask&mask != 0 {
			for _, clk := range from {
				g.clk.join(clk)
			}
		}
	}
	w.merge(mask)
}

// merge joins groups with equal clocks, so that lanes that diverge and reconverge
// cost no more than before. Of two groups that became equal, one has lanes of mask:
// those that learnt.
func (w *warpState) merge(mask uint32) {
	for i := 0; i < len(w.groups); i++ {
		for j := i + 1; j < len(w.groups); j++ {
			a, b := &w.groups[i], &w.groups[j]
			if (a.mask|b.mask)&mask != 0 && w.alike(a, b) {
				a.mask |= b.mask
				a.step = max(a.step, b.step)
				w.groups = append(w.groups[:j], w.groups[j+1:]...)
				j--
			}
		}
	}
}

// alike reports whether two groups have equal clocks, comparing first their own
// steps, where they mostly differ.
func (w *warpState) alike(a, b *group) bool {
	if x, y := a.clk.warps.at(int(w.number)), b.clk.warps.at(int(w.number)); x != nil && y != nil {
		for _, l := range [2]int{bits.TrailingZeros32(a.mask), bits.TrailingZeros32(b.mask)} {
			if x.at(l) != y.at(l) {
				return false
			}
		}
	}
	return a.clk.covers(&b.clk) && b.clk.covers(&a.clk)
}

// alike is the key under which failures count as the same.
type alike struct {
	condition Condition
	pc, with  int32
}

func (p *Prover) fail(f Failure) {
	key := alike{f.Condition, f.PC, f.With}
	if p.seen[key]++; p.seen[key] <= maxAlike {
		p.failures = append(p.failures, f)
	}
}

// Observe makes a Prover a machine.Observer.
func (p *Prover) Observe(m *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvWarpSync, machine.EvCollective:
		p.sync(ev.CTA, ev.Warp, ev.Mask)
	case machine.EvFence, machine.EvCommit, machine.EvGroupWait:
		if ev.Fence == machine.FenceWgmma && ev.Kind == machine.EvFence || ev.Kind != machine.EvFence && ev.Group.Aligned() {
			p.sync(ev.CTA, ev.Warp, ev.Mask) // .sync.aligned: lanes wait for each other
		}
		if ev.Kind == machine.EvGroupWait && ev.Group == machine.GroupWgmma {
			p.multiplied(ev)
		}
	case machine.EvAccess:
		if p.counters != nil {
			p.counts(m, ev)
		}
		switch {
		case p.cfg.Ordered[ev.PC]:
			p.ordered(m, ev)
		case p.cfg.Ordered != nil:
			p.elsewhere(ev)
		case len(p.cfg.Polls) > 0:
			p.access(m, ev)
		}
	case machine.EvIssue:
		for _, x := range ev.Op.Writes {
			p.overwritten(x.Mem, x.Addr, x.Len)
			if p.counters != nil {
				p.counted(x.Mem, x.Addr, x.Len, ev.PC, true)
			}
		}
		if ev.Op.Kind.ByWarp() {
			p.sync(ev.CTA, ev.Warp, ev.Mask)
		}
		w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
		is := p.issue()
		is.pc = ev.PC
		is.clk.copy(&gs[0].clk)
		is.clk.set(w.number, ev.Mask, w.step)
		p.enqueue(is, ev.Op)
		p.ops[ev.Op.ID] = is
		for _, b := range ev.Op.Bars {
			bar := p.bar(b)
			p.use(bar, view{clk: &is.clk, warp: -1}, stamp{}, ev.PC)
			bar.flying++
		}
		switch ev.Op.Kind {
		case machine.OpWgmma:
			p.multiplies(ev)
		case machine.OpCancel:
			p.requests(ev, w.sees(gs[0], ev.Mask))
		}
	case machine.EvSignal:
		if is := p.ops[ev.Op.ID]; is != nil {
			p.spare = append(p.spare, is)
			delete(p.ops, ev.Op.ID)
		}
	case machine.EvMbar:
		p.mbar(ev)
	case machine.EvMbarWait:
		switch {
		case ev.Mbar.OK:
			p.wait(ev)
		case p.cfg.Peeks[ev.PC].Waits != nil:
			p.peek(ev)
		}
	case machine.EvBarArrive:
		p.barArrive(ev)
	case machine.EvBarPass:
		p.barPass(ev)
	case machine.EvClusterArrive:
		p.clusterArrive(ev)
	case machine.EvClusterWait:
		p.clusterWait(ev)
	case machine.EvTensorAsk, machine.EvTensorRelinquish, machine.EvTensorAlloc, machine.EvTensorFree:
		p.changesColumns(m, ev)
	case machine.EvRegisters:
		p.registers(ev)
	}
}

// Finish returns the conditions that do not hold, once the run has ended.
func (p *Prover) Finish() []Failure {
	for _, b := range p.bars {
		p.endBar(b)
	}
	p.endNamed()
	p.endCounters()
	return p.failures
}

// --- mbarriers ---

// A bar is one life of an mbarrier.
type bar struct {
	ref    machine.BarRef
	number int
	init   stamp
	uses   clock  // everything that used it
	flying int    // asynchronous operations still to signal it
	due    uint32 // arrivals that complete the open phase, as of its start
	word   mbarrier.Word
	// The phases that an operation can still be charged to, or a wait compared with:
	// the last two completed, and the open one.
	prev, last, open phase
}

// A stamp is one step of lanes of a warp.
type stamp struct {
	warp int32
	mask uint32
	step uint32
	pc   int32
	all  uint32 // of a wait: the lanes that took the step, some of which mask leaves out
}

// A phase is K(b,n).
type phase struct {
	n       int64
	members clock   // their steps, which a later one must come after
	mated   []stamp // steps that members took together with others: all their lanes, the first's step
	reach   clock   // what they come after; once complete, what a wait learns
	async   bool    // some member is the asynchronous half of an operation that is no commit
	counted uint32
	credits []stamp
	waits   []stamp // waits for phase n-1 that no member comes after so far
	first   int32   // an instruction of a member

	expectedBytes, landedBytes, counts uint64
}

// fewBars is the number of barriers up to which a linear search finds one.
const fewBars = 8

func (p *Prover) bar(ref machine.BarRef) *bar {
	if len(p.bars) <= fewBars {
		for _, b := range p.bars {
			if b.ref == ref {
				return b
			}
		}
	} else if b := p.index[ref]; b != nil {
		return b
	}
	b := &bar{ref: ref, number: len(p.bars), prev: phase{n: -2, first: -1}, last: phase{n: -1, first: -1}, open: phase{first: -1}}
	if p.bars = append(p.bars, b); len(p.bars) > fewBars {
		if p.index == nil {
			p.index = map[machine.BarRef]*bar{}
			for _, b := range p.bars {
				p.index[b.ref] = b
			}
		}
		p.index[ref] = b
	}
	return b
}

// use checks that a use comes after the init, and adds it, with its own step, to the
// uses that the barrier's end must follow.
func (p *Prover) use(b *bar, at view, own stamp, pc int32) {
	if b.init.mask != 0 && at.after(b.init.warp, b.init.mask, b.init.step) != b.init.mask {
		p.fail(Failure{Condition: C0, Bar: b.ref, PC: pc, With: b.init.pc, Text: "a use that need not come after the barrier's init"})
	}
	b.uses.join(at.clk)
	if own.mask != 0 {
		b.uses.set(own.warp, own.mask, own.step)
	}
}

// who returns the warp, in the grid, and the lanes of an event, or those of its
// operation's issuer.
func (p *Prover) who(ev *machine.Event) (warp int32, lanes uint32) {
	if ev.Op != nil {
		return ev.Op.CTA*int32(p.cfg.Warps) + ev.Op.Warp, 1 << uint(ev.Op.Lane)
	}
	return ev.CTA*int32(p.cfg.Warps) + ev.Warp, ev.Mask
}

func (p *Prover) mbar(ev *machine.Event) {
	mb := &ev.Mbar
	var at view
	var own stamp
	var is *issue // nil: not of an operation
	if ev.Op != nil {
		if is = p.ops[ev.Op.ID]; is == nil {
			return
		}
		is.follow()
		at = view{clk: &is.clk, warp: -1}
		p.bar(mb.Bar).flying--
	} else {
		w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
		at = w.sees(gs[0], ev.Mask)
		own = stamp{w.number, ev.Mask, w.step, ev.PC, ev.Members}
	}
	b := p.bar(mb.Bar)
	if mb.Op == machine.MbarInit {
		b.init, b.due, b.word = own, mb.Count, mb.After
		return
	}
	p.use(b, at, own, ev.PC)
	if mb.Op == machine.MbarInval {
		warp, lanes := p.who(ev)
		if !at.covers(&b.uses) || b.flying > 0 || b.open.async || !b.last.before(b, at) || !b.prev.before(b, at) {
			p.fail(Failure{Condition: C0, Bar: mb.Bar, PC: ev.PC, With: -1, Warp: warp, Lanes: lanes, Text: "an inval that need not come after every use"})
		}
		b.word = mb.After
		return
	}
	if is != nil && is.turn > 0 {
		b.uses.arrived(is.queue, is.turn)
	}
	p.charge(b, ev, at, own, is)
	if ev.Op != nil && ev.Op.Kind == machine.OpCancel {
		p.answered(ev, b)
	}
	b.word = mb.After
	if mb.Completed {
		p.complete(b, ev)
	}
}

// charge enters an operation into the open phase.
func (p *Prover) charge(b *bar, ev *machine.Event, at view, own stamp, is *issue) {
	mb, k := &ev.Mbar, &b.open
	async := is != nil
	with := b.last.first
	if !b.last.before(b, at) {
		warp, lanes := p.who(ev)
		p.fail(Failure{Condition: C1, Bar: b.ref, Phase: k.n, PC: ev.PC, With: with, Warp: warp, Lanes: lanes, Mates: b.last.mates(b, at),
			Text: "what is charged to this phase could be charged to the one before"})
	}
	if k.first < 0 {
		k.first = ev.PC
	}
	k.reach.join(at.clk)
	switch {
	case async && is.turn > 0:
		k.members.arrived(is.queue, is.turn)
	case async:
		k.async = true
	default:
		k.members.set(own.warp, own.mask, own.step)
		k.mate(own)
	}
	arrival, credit := false, false
	switch mb.Op {
	case machine.MbarArrive, machine.MbarArriveDrop:
		arrival = true
		k.counted += mb.Count
		k.counts += uint64(mb.Count)
	case machine.MbarArriveExpectTx, machine.MbarArriveDropExpectTx:
		arrival = true
		k.counted += mb.Count
		k.counts += uint64(mb.Count)
		k.expectedBytes += uint64(mb.Bytes)
	case machine.MbarExpectTx:
		credit = true
		k.expectedBytes += uint64(mb.Bytes)
	case machine.MbarIncrement:
		credit = true
		k.counts++
	case machine.MbarCompleteTx:
		k.landedBytes += uint64(mb.Bytes)
	case machine.MbarAsyncArrive:
		if mb.NoComplete {
			arrival = true // .noinc: a counted arrival, made asynchronously
			k.counted++
		}
	}
	if arrival {
		out := k.credits[:0]
		for _, c := range k.credits {
			if at.after(c.warp, c.mask, c.step) != c.mask {
				out = append(out, c)
			}
		}
		k.credits = out
	}
	// An arrival that must not complete the phase needs a later one, like a credit.
	if credit || arrival && mb.NoComplete && !async {
		k.credits = append(k.credits, own)
	}
	k.waits = uncovered(at, k.waits)
}

// uncovered removes the lanes of waits that a view comes after.
func uncovered(at view, waits []stamp) []stamp {
	out := waits[:0]
	for _, w := range waits {
		if w.mask &^= at.after(w.warp, w.mask, w.step); w.mask != 0 {
			out = append(out, w)
		}
	}
	return out
}

// limit is 2^20: the sums of bytes and of counts in a phase must stay below it.
const limit = 1 << 20

func (p *Prover) complete(b *bar, ev *machine.Event) {
	k := &b.open
	for _, c := range k.credits {
		p.fail(Failure{Condition: C2, Bar: b.ref, Phase: k.n, PC: c.pc, With: -1, Warp: c.warp, Lanes: c.mask,
			Text: "no arrival of its phase comes after it: the phase can be complete before it is booked"})
	}
	for _, w := range k.waits {
		p.fail(Failure{Condition: C3Late, Bar: b.ref, Phase: k.n - 1, PC: w.pc, With: ev.PC, Warp: w.warp, Lanes: w.mask, Mates: w.all &^ w.mask,
			Text: "nothing that is charged to the phase after comes after this wait: that phase can be complete before it looks"})
	}
	p.ranges(b, ev.PC)
	k.reach.join(&k.members)
	k.reach.know(b.number, k.n+1)
	k.reach.freeze()
	old := b.prev // no event refers to it any more
	old.members.clear()
	old.reach.clear()
	b.prev = b.last
	b.last = phase{n: k.n, members: k.members, mated: k.mated, reach: k.reach, async: k.async, first: k.first}
	b.open = phase{n: k.n + 1, first: -1, members: old.members, mated: old.mated[:0], reach: old.reach, credits: k.credits[:0], waits: k.waits[:0]}
	b.due = ev.Mbar.After.Expected()
}

// ranges checks the sums of the open phase: some order may nearly reach them.
func (p *Prover) ranges(b *bar, pc int32) {
	if k := &b.open; k.expectedBytes >= limit || k.landedBytes >= limit || k.counts >= limit {
		p.fail(Failure{Condition: C5, Bar: b.ref, Phase: k.n, PC: pc, With: -1, Text: "bytes or counts of one phase come to 2^20 or more"})
	}
}

// wait takes a successful test of the last complete phase.
func (p *Prover) wait(ev *machine.Event) {
	n := ev.Mbar.Phase
	w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
	b := p.bar(ev.Mbar.Bar)
	for _, g := range gs {
		at := w.sees(g, g.mask)
		p.use(b, at, stamp{w.number, g.mask, w.step, ev.PC, g.mask}, ev.PC)
		if n >= 1 && !b.prev.before(b, at) {
			p.fail(Failure{Condition: C3Early, Bar: b.ref, Phase: n, PC: ev.PC, With: b.prev.first, Warp: w.number, Lanes: g.mask & ev.Mask,
				Text: "a wait that can come before the phase before is complete: it passes on that one"})
		}
	}
	p.peeked(b, w, ev)
	at := stamp{w.number, ev.Mask, w.step, ev.PC, ev.Mask}
	if n == b.open.n-1 {
		b.open.waits = waited(b.open.waits, at)
	}
	if n >= 0 && n == b.last.n {
		w.learn(ev.Mask, &b.last.reach)
	}
}

// A peek is a test that the run fails, until the wait that it stands for.
type peek struct {
	bar   *bar
	mask  uint32
	pc    int32
	open  int64    // the open phase
	after [2]bool  // it comes after all that was charged to the phase before that, and to the one before this
	first [2]int32 // an instruction of a member of each; -1 for the open phase
}

// peek takes a test whose result says later only whether a wait is still to be made.
func (p *Prover) peek(ev *machine.Event) {
	w, gs := p.step(ev.CTA, ev.Warp, ev.Mask)
	b := p.bar(ev.Mbar.Bar)
	w.forget(func(old *peek) bool { return !slices.Contains(p.cfg.Peeks[old.pc].Past, ev.PC) }, ev.Mask)
	for _, g := range gs {
		at, lanes := w.sees(g, g.mask), g.mask&ev.Mask
		p.use(b, at, stamp{w.number, lanes, w.step, ev.PC, lanes}, ev.PC)
		w.peeks = append(w.peeks, peek{bar: b, mask: lanes, pc: ev.PC, open: b.open.n,
			after: [2]bool{b.last.before(b, at), b.prev.before(b, at)}, first: [2]int32{b.last.first, b.prev.first}})
	}
}

// peeked checks the peeks that stand for a successful wait: each must have come after the
// phase before the one that is waited for, or it can pass on what that phase's parity says.
func (p *Prover) peeked(b *bar, w *warpState, ev *machine.Event) {
	n := ev.Mbar.Phase
	of := func(k *peek) bool {
		return k.bar.ref.Mem == b.ref.Mem && k.bar.ref.Addr == b.ref.Addr && slices.Contains(p.cfg.Peeks[k.pc].Waits, ev.PC)
	}
	for i := range w.peeks {
		k := &w.peeks[i]
		lanes := k.mask & ev.Mask
		if !of(k) || lanes == 0 || n < 1 && k.bar == b {
			continue
		}
		if k.bar != b {
			p.fail(Failure{Condition: C3Early, Bar: b.ref, Phase: n, PC: k.pc, With: -1, Warp: w.number, Lanes: lanes,
				Text: "a test of a barrier that was initialized again, in place of a wait: it passes on the one before"})
			continue
		}
		with := int32(-1)
		if ago := k.open - n; ago >= 0 && ago < 2 {
			if k.after[ago] {
				continue
			}
			with = k.first[ago]
		}
		p.fail(Failure{Condition: C3Early, Bar: b.ref, Phase: n, PC: k.pc, With: with, Warp: w.number, Lanes: lanes,
			Text: "a test that can come before the phase before is complete, in place of a wait: it passes on that one"})
	}
	w.forget(func(k *peek) bool { return of(k) && !p.cfg.Peeks[k.pc].Again }, ev.Mask)
}

// forget removes lanes from peeks.
func (w *warpState) forget(which func(*peek) bool, lanes uint32) {
	out := w.peeks[:0]
	for _, k := range w.peeks {
		if which(&k) {
			k.mask &^= lanes
		}
		if k.mask != 0 {
			out = append(out, k)
		}
	}
	w.peeks = out
}

// waited adds a wait. What comes after a lane's last wait comes after the earlier
// ones, so a repeated wait replaces the one before.
func waited(waits []stamp, at stamp) []stamp {
	out := waits[:0]
	for _, w := range waits {
		if w.warp == at.warp {
			w.mask &^= at.mask
		}
		if w.mask != 0 {
			out = append(out, w)
		}
	}
	return append(out, at)
}

// before reports whether a view comes after all that was charged to a phase.
func (k *phase) before(b *bar, at view) bool {
	return at.covers(&k.members) && (!k.async || at.clk.known(b.number) > k.n)
}

// mate notes a lane's step that other lanes took with it. They take theirs one after the
// other, in the order of their numbers.
func (k *phase) mate(own stamp) {
	if own.all&(own.all-1) == 0 {
		return
	}
	before := own.all & (own.mask&-own.mask - 1)
	own.step -= uint32(bits.OnesCount32(before))
	own.mask = own.all
	if n := len(k.mated); n == 0 || k.mated[n-1] != own {
		k.mated = append(k.mated, own)
	}
}

// mates returns lanes whose steps a view comes after, and that took them together with
// those charged to a phase that it need not come after: if no such steps part, it comes
// after the phase. It returns none if they do not make it so.
func (k *phase) mates(b *bar, at view) uint32 {
	if len(k.mated) == 0 {
		return 0
	}
	joint, known := at.clk.clone(), uint32(0)
	for _, m := range k.mated {
		lanes, step := m.mask, m.step
		seen := uint32(0)
		for ; lanes != 0; lanes &= lanes - 1 {
			seen |= at.after(m.warp, lanes&-lanes, step)
			step++
		}
		if seen == 0 || seen == m.mask {
			continue
		}
		known |= seen
		for lanes, step = m.mask, m.step; lanes != 0; lanes &= lanes - 1 {
			joint.set(m.warp, lanes&-lanes, step)
			step++
		}
	}
	if at.clk = &joint; known == 0 || !k.before(b, at) {
		return 0
	}
	return known
}

func (p *Prover) endBar(b *bar) {
	if b.init.mask == 0 {
		return
	}
	k := &b.open
	p.ranges(b, k.first)
	if k.counted < b.due || b.due == 0 && k.first < 0 {
		// Drops of the open phase lower what the next one asks for, not this one.
		return
	}
	if k.counted == b.due && len(k.credits) == 0 && k.expectedBytes > k.landedBytes {
		// After the last arrival all credits are in, but never all bytes. One arrival
		// too many would fault in some order.
		return
	}
	p.fail(Failure{Condition: C4, Bar: b.ref, Phase: k.n, PC: k.first, With: -1,
		Text: "all arrivals of the phase left open have come: another schedule may complete it"})
}
