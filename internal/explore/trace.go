package explore

import (
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/mbarrier"
)

// The order of a run's steps that holds in every run equivalent to it, and the pairs
// of steps that can be reversed.

// A set is a set of steps, by number.
type set []uint64

func (s set) has(i int) bool { return i>>6 < len(s) && s[i>>6]>>(i&63)&1 != 0 }

func (s *set) add(i int) {
	for len(*s) <= i>>6 {
		*s = append(*s, 0)
	}
	(*s)[i>>6] |= 1 << (i & 63)
}

func (s *set) join(o set) {
	for len(*s) < len(o) {
		*s = append(*s, 0)
	}
	for i, v := range o {
		(*s)[i] |= v
	}
}

func (s set) overlaps(o set) bool {
	for i := range min(len(s), len(o)) {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// A race is two steps, first before second, that nothing keeps in that order.
type race struct{ first, second int }

// A trace is the order of one run's steps so far.
type trace struct {
	steps   []*step
	before  []set                    // by step: all that it comes after
	lanes   map[warpKey]*[32][]int32 // what comes before a lane's next step: its last, mostly
	ops     map[int64]int            // the last step of an operation
	issued  map[groupKey][]opSteps
	commits map[machine.CommitQueue]int64 // the last one of each queue
	behind  map[int64]int64               // by commit: the one before it in its queue
	lines   map[lineKey][]toucher
	wrote   map[lineKey][]toucher // all writes, where a word is or may be waited for
	bars    map[placeKey]*barTrace
	named   map[placeKey]*generations
	grids   map[int32]*generations
	exits   map[int32][]exit
	ends    map[int32][]int // by launch: the ends and launch_dependents of its CTAs
	lives   map[int32][]toucher
	starts  map[int32][]toucher
	starter map[machine.Choice]int // the last step of what starts clusters
	columns map[int32][]toucher
	pools   map[int32][]toucher
	sc      []int
	enable  map[machine.Choice]int // the step that enabled it
	polls   bool                   // words of memory are waited for
	begins  map[int]*beginning     // by step
	first   []machine.Choice       // scratch
}

type warpKey struct{ cta, warp int32 }

type groupKey struct {
	cta, warp int32
	lane      int8
	group     machine.Group
}

// opSteps are an operation's steps so far: issued, read its source, complete; -1 before.
type opSteps struct {
	id               int64
	seq              uint32
	issue, read, end int
}

type lineKey struct {
	mem  int32
	line uint64
}

type placeKey struct {
	mem int32
	lo  uint64
}

type toucher struct {
	step  int
	touch *touch
	over  bool // it stands for earlier reads and stores of other values, too
}

// dependent reports whether x depends on what t touched, or on what that stands for.
func (t *toucher) dependent(x *touch) bool {
	return t.touch.dependent(x) || t.over && x.role == writes && t.touch.lo < x.hi && x.lo < t.touch.hi
}

// A barTrace is an mbarrier's history.
type barTrace struct {
	phases []phaseTrace // the last is open
	tests  []toucher    // that may still matter
	strict []int        // the last strict operation, which all later ones come after
}

type phaseTrace struct {
	n       int64
	members []int
	by      int           // the step that completed it; -1 while open
	word    mbarrier.Word // the word that this step found
}

// generations are a named or a cluster barrier's arrivals.
type generations struct {
	all []generation
}

type generation struct {
	label   int64
	members []toucher
}

type exit struct {
	step int
	warp int32
	mask uint32
}

func newTrace(polls bool) *trace {
	return &trace{polls: polls, lanes: map[warpKey]*[32][]int32{}, ops: map[int64]int{}, issued: map[groupKey][]opSteps{},
		commits: map[machine.CommitQueue]int64{}, behind: map[int64]int64{},
		lines: map[lineKey][]toucher{}, wrote: map[lineKey][]toucher{}, bars: map[placeKey]*barTrace{}, named: map[placeKey]*generations{}, grids: map[int32]*generations{},
		exits: map[int32][]exit{}, ends: map[int32][]int{}, lives: map[int32][]toucher{}, columns: map[int32][]toucher{}, starts: map[int32][]toucher{}, starter: map[machine.Choice]int{}, pools: map[int32][]toucher{}, enable: map[machine.Choice]int{}, begins: map[int]*beginning{}}
}

// An arrow collects what a step comes after.
type arrow struct {
	t    *trace
	at   int
	own  set   // the program's order, what enabled it, what it waited for
	meet []int // steps that it depends on
	far  []int // that disabled it, with others in between
	// must: steps that it depends on and could not have come before.
	must []int
}

func (a *arrow) after(i int) {
	if i >= 0 {
		a.own.join(a.t.before[i])
		a.own.add(i)
	}
}

// order finds what a step would come after as the next one, and its races with
// earlier ones.
func (t *trace) order(s *step) (before set, races []race) {
	a := t.arrow(s)
	for k := range s.accesses {
		a.depend(&s.accesses[k])
	}
	races = a.close()
	return a.own, races
}

// add enters a step, and returns its races with earlier ones.
func (t *trace) add(s *step) []race {
	before, races := t.order(s)
	t.steps, t.before = append(t.steps, s), append(t.before, before)
	t.enter(s)
	return races
}

func (t *trace) arrow(s *step) *arrow {
	a := &arrow{t: t, at: len(t.before)}
	for _, w := range s.lanes {
		if last := t.lanes[warpKey{w.cta, w.warp}]; last != nil {
			for k := w.mask & s.takers(); k != 0; k &= k - 1 {
				for _, i := range last[bits.TrailingZeros32(k)&31] {
					if !a.own.has(int(i)) {
						a.after(int(i))
					}
				}
			}
		}
	}
	switch s.choice.Kind {
	case machine.Milestone, machine.Refuse:
		if i, ok := t.ops[s.choice.Op]; ok {
			a.after(i)
		}
	case machine.Start:
		if i, ok := t.starter[process(s.choice)]; ok {
			a.after(i)
		}
	case machine.Run, machine.GiveUp, machine.Alone, machine.Subset:
		a.held(s.choice)
	}
	if i, ok := t.enable[process(s.choice)]; ok && !s.polls {
		if s.idle() || s.roused(t.steps[i]) {
			// A wait that was woken and goes on waiting: nothing has happened. Or it
			// was woken by an unrelated step, and what it waits for came later.
		} else if s.contends { // it may have been enabled before, then disabled
			a.must = append(a.must, i)
		} else {
			a.after(i)
		}
	}
	for i := range s.groups {
		a.group(&s.groups[i])
	}
	for i := range s.ops {
		switch o := &s.ops[i]; {
		case o.kind == machine.EvSource && o.of.group == machine.GroupWgmma:
			a.warpgroup(o.of, o.seq)
		case o.kind == machine.EvSignal && (o.upto > 0 || o.commit):
			a.arrival(o)
		}
	}
	return a
}

// warpgroup orders a step after the issue of the seq-th wgmma by each of the four warps.
func (a *arrow) warpgroup(of groupKey, seq uint32) {
	first := of.warp - of.warp%machine.WarpgroupSize
	for of.warp = first; of.warp < first+machine.WarpgroupSize; of.warp++ {
		parts := a.t.issued[of]
		for i := len(parts) - 1; i >= 0 && parts[i].seq >= seq; i-- {
			if parts[i].seq == seq {
				a.after(parts[i].issue)
			}
		}
	}
}

// arrival orders the arrival of an arrive-on after the operations that it tracks, and after the
// commit before it.
func (a *arrow) arrival(o *opStep) {
	if before, ok := a.t.behind[o.id]; ok {
		a.after(a.t.ops[before]) // its arrival
	}
	for _, x := range a.t.issued[o.tracks] {
		if x.seq > o.upto {
			break
		}
		if x.end >= 0 && !a.own.has(x.end) {
			a.after(x.end)
		}
	}
}

// held orders a step of a warp after the return of its last mma_async, which is the
// fourth warp's issue.
func (a *arrow) held(c machine.Choice) {
	of := groupKey{c.CTA, c.Warp, 0, machine.GroupWgmma}
	if own := a.t.issued[of]; len(own) > 0 && own[len(own)-1].end < 0 {
		a.warpgroup(of, own[len(own)-1].seq)
	}
}

// process names the agent that takes a choice, whatever the outcome.
func process(c machine.Choice) machine.Choice {
	switch c.Kind {
	case machine.GiveUp, machine.Alone, machine.Run, machine.Pick, machine.Subset:
		c.Kind, c.Op, c.Rest = machine.Run, 0, ""
	}
	return c
}

// group orders a wait for groups after what it found complete.
func (a *arrow) group(g *groupDone) {
	for k := g.mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		for _, o := range a.t.issued[groupKey{g.cta, g.warp, int8(l), g.group}] {
			if o.seq > g.done[l] {
				break
			}
			if g.read {
				a.after(o.read)
			} else {
				a.after(o.end)
			}
		}
		if g.group == machine.GroupWgmma {
			a.readByAll(groupKey{g.cta, g.warp, int8(l), g.group}, g.done[l])
		}
	}
}

// readByAll orders a wait after what the four warps' parts of wgmmas up to the seq-th read.
func (a *arrow) readByAll(of groupKey, seq uint32) {
	first := of.warp - of.warp%machine.WarpgroupSize
	for of.warp = first; of.warp < first+machine.WarpgroupSize; of.warp++ {
		for _, o := range a.t.issued[of] {
			if o.seq > seq {
				break
			}
			a.after(o.read)
		}
	}
}

// depend finds the steps that one touch depends on.
func (a *arrow) depend(x *touch) {
	t := a.t
	switch x.object {
	case bytes:
		for line := x.lo >> x.lineBits(); line <= (x.hi-1)>>x.lineBits(); line++ {
			list := t.lines[lineKey{x.mem, line}]
			for i := len(list) - 1; i >= 0; i-- {
				if x.word && list[i].touch.word {
					a.word(x, &list[i])
				} else if list[i].dependent(x) {
					a.meet = append(a.meet, list[i].step)
				}
			}
		}
		if x.poll != nil {
			a.poll(x)
		}
	case phases:
		a.barrier(x)
	case named:
		a.named(x)
	case clustered:
		a.clustered(x)
	case life:
		a.all(t.lives[x.mem], x)
	case columns:
		a.columns(x)
	case unstarted:
		a.all(t.starts[x.mem], x)
	case registers:
		a.pool(x)
	case fences:
		if n := len(t.sc); n > 0 {
			a.meet = append(a.meet, t.sc[n-1])
		}
	case launched:
		if x.role == passes {
			for _, i := range t.ends[x.mem] {
				a.after(i)
			}
		}
	}
}

// poll finds the writes of a word before which a wait for it could have ended. The
// wait may have been enabled then, and disabled later: steps in between do not keep
// the two in their order. The other writes it needs.
func (a *arrow) poll(x *touch) {
	var writes []toucher // of x's word, the last first, the first of each step
	list := a.t.wrote[lineKey{x.mem, x.lo >> lineBits}]
	for i := len(list) - 1; i >= 0; i-- {
		if o := list[i].touch; o.hi <= x.lo || x.hi <= o.lo {
			continue
		}
		if n := len(writes); n > 0 && writes[n-1].step == list[i].step {
			if writes[n-1].touch.held(x) {
				writes[n-1] = list[i]
			}
			continue
		}
		writes = append(writes, list[i])
	}
	for i := range writes {
		switch w := &writes[i]; {
		case a.own.has(w.step):
		case a.t.mayEnd(x, writes[:i], w):
			a.far = append(a.far, w.step)
		default:
			a.must = append(a.must, w.step)
		}
	}
}

// held reports whether the value of x's word before a write of all of it is known.
func (o *touch) held(x *touch) bool { return o.known && o.lo == x.lo && o.hi == x.hi }

// mayEnd reports whether a wait may end before a write and what comes after that: with
// the word's value then, or with that value changed by some of the later writes that
// commute with this one.
func (t *trace) mayEnd(x *touch, later []toucher, w *toucher) bool {
	if !w.touch.held(x) {
		return true
	}
	value, after := w.touch.was, x.was
	top := uint64(1) << (8*(x.hi-x.lo) - 1) // from which signed and unsigned numbers differ
	for i := range later {
		o := &later[i]
		if t.before[o.step].has(w.step) {
			after = o.touch.was
			continue
		}
		if !o.touch.sums || !o.touch.held(x) || o.touch.was >= after || after >= top || !x.poll.Upward() && !x.poll.Exactly() {
			return true
		}
		value += after - o.touch.was
		after = o.touch.was
	}
	return x.poll.Ends(value, x.operand) || value > w.touch.was && x.poll.Exactly() && value > x.operand
}

// pool orders an increase after what it had to wait for. It may have been enabled
// before another increase, which took the registers that it needs: the reverse order
// ends alike, unless the decrease that served it comes after that other one.
func (a *arrow) pool(x *touch) {
	if x.role != writes {
		return
	}
	list := a.t.pools[x.mem]
	for i := range list {
		o := &list[i]
		a.must = append(a.must, o.step)
		if o.touch.role != writes || o.touch.lo >= uint64(x.count) || uint64(x.count) > o.touch.hi {
			continue
		}
		for _, d := range list[i+1:] {
			if d.touch.role == adds && a.t.before[d.step].has(o.step) {
				a.far = append(a.far, o.step)
				break
			}
		}
	}
}

// columns orders an alloc of tensor memory after the allocs and deallocs before it. It could
// have come before a dealloc only if the columns sufficed without; and it could have come
// before an alloc whose columns it waited for.
func (a *arrow) columns(x *touch) {
	list := a.t.columns[x.mem]
	for i := len(list) - 1; i >= 0; i-- {
		o := &list[i]
		switch {
		case !o.touch.dependent(x):
		case x.role == writes && o.touch.role == adds && x.lo < uint64(x.count)+uint64(o.touch.count):
			a.must = append(a.must, o.step)
		case x.role == writes && o.touch.role == writes:
			a.far = append(a.far, o.step)
			a.meet = append(a.meet, o.step)
		default:
			a.meet = append(a.meet, o.step)
		}
	}
}

const lineBits = 7

// lineBits is log2 of the bytes of a line: more in tensor memory, of which most operations
// touch much at a time.
func (x *touch) lineBits() uint {
	if machine.MemID(x.mem).Kind() == machine.TensorMemory {
		return lineBits + 5
	}
	return lineBits
}

func (a *arrow) all(list []toucher, x *touch) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].touch.dependent(x) {
			a.meet = append(a.meet, list[i].step)
		}
	}
}

// barrier orders an operation on an mbarrier.
func (a *arrow) barrier(x *touch) {
	b := a.t.bars[placeKey{x.mem, x.lo}]
	if b == nil {
		return
	}
	a.meet = append(a.meet, b.strict...)
	switch x.role {
	case writes:
		for i := max(0, len(b.phases)-2); i < len(b.phases); i++ {
			a.meet = append(a.meet, b.phases[i].members...)
		}
		for _, w := range b.tests {
			a.meet = append(a.meet, w.step)
		}
	case adds:
		a.meet = append(a.meet, b.phase(x.label-1)...)
		if x.done {
			a.completes(b, x)
		}
	case tests:
		a.test(b, x)
	}
}

// completes orders the completion of a phase after the tests whose result it would
// change, except those that precede a charge to the phase.
func (a *arrow) completes(b *barTrace, x *touch) {
	members := b.phase(x.label)
	for _, w := range b.tests {
		if of := w.touch.label; w.touch.done && of != x.label-1 || !w.touch.done && of != x.label {
			continue
		}
		covered := a.own.has(w.step)
		for _, m := range members {
			covered = covered || a.t.before[m].has(w.step)
		}
		if !covered {
			a.meet = append(a.meet, w.step)
		}
	}
}

// phase returns what was charged to phase n so far.
func (b *barTrace) phase(n int64) []int {
	for i := len(b.phases) - 1; i >= 0; i-- {
		if b.phases[i].n == n {
			return b.phases[i].members
		}
	}
	return nil
}

// test orders a test of a barrier after all that is charged to the phase that it
// found complete. It races with a charge to an earlier phase if, before that phase
// completed, it would have had another outcome, or passed on another phase.
func (a *arrow) test(b *barTrace, x *touch) {
	for i := len(b.phases) - 1; i >= 0; i-- {
		p := &b.phases[i]
		if p.by < 0 {
			continue
		}
		would := p.word.TestWaitParity(uint32(x.operand))
		if !x.parity {
			would = p.word.TestWait(mbarrier.Token(x.operand))
		}
		if !would && (!x.done || x.await) {
			continue
		}
		// Any charge to that phase that need not precede the test would keep it open.
		n := len(a.far)
		for _, m := range p.members {
			if !a.own.has(m) {
				a.far = append(a.far, m)
			}
		}
		if n == len(a.far) {
			break // all precede it, and so do those of earlier phases
		}
	}
	if x.done {
		a.must = append(a.must, b.phase(x.label)...)
	} else {
		a.must = append(a.must, b.phase(x.label-1)...)
	}
}

func (a *arrow) named(x *touch) {
	t := a.t
	g := t.named[placeKey{x.mem, x.lo}]
	switch x.role {
	case adds:
		if g == nil {
			return
		}
		for i := range g.all {
			of := &g.all[i]
			if of.label == x.label-1 {
				arrived := uint32(0)
				for _, m := range of.members {
					a.meet = append(a.meet, m.step)
					arrived += 32
				}
				if len(of.members) > 0 && arrived < of.members[0].touch.count {
					for _, e := range t.exits[x.mem] {
						a.meet = append(a.meet, e.step)
					}
				}
			}
			for _, m := range of.members {
				if of.label == x.label && m.touch.count != x.count {
					a.meet = append(a.meet, m.step)
				}
			}
		}
	case passes:
		if g != nil {
			for i := range g.all {
				if g.all[i].label == x.label {
					for _, m := range g.all[i].members {
						a.after(m.step)
					}
				}
			}
		}
		if x.done {
			for _, e := range t.exits[x.mem] {
				a.after(e.step)
			}
		}
	}
}

func (a *arrow) clustered(x *touch) {
	g := a.t.grids[x.mem]
	if g == nil {
		return
	}
	for i := range g.all {
		of := &g.all[i]
		switch {
		case x.role == adds && of.label == x.label-1:
			for _, m := range of.members {
				a.meet = append(a.meet, m.step)
			}
		case x.role == passes && of.label == x.label:
			came := map[int32]uint32{}
			for _, m := range of.members {
				a.after(m.step)
				came[m.touch.warpOnly] |= m.touch.lanes
			}
			for _, e := range a.t.exits[^x.mem] {
				if e.mask&^came[e.warp] != 0 {
					a.after(e.step)
				}
			}
		}
	}
}

// close settles what the step comes after, and returns its races.
func (a *arrow) close() []race {
	var races []race
	for _, i := range a.far {
		if !a.own.has(i) {
			races = append(races, race{i, a.at})
		}
	}
	for _, i := range a.must {
		a.after(i)
	}
	slices.Sort(a.meet)
	for k := len(a.meet) - 1; k >= 0; k-- {
		i := a.meet[k]
		if a.own.has(i) {
			continue
		}
		races = append(races, race{i, a.at})
		a.after(i)
	}
	return races
}

// takers are the lanes that took a step of lanes.
func (s *step) takers() uint32 {
	if s.by != 0 {
		return s.by
	}
	return ^uint32(0)
}

// enter records a step, so that later ones find what they depend on.
func (t *trace) enter(s *step) {
	at := len(t.before) - 1
	for _, w := range s.lanes {
		key := warpKey{w.cta, w.warp}
		if t.lanes[key] == nil {
			t.lanes[key] = &[32][]int32{}
		}
		last := t.lanes[key]
		after := []int32{int32(at)}
		for k := w.mask &^ s.takers(); k != 0; k &= k - 1 {
			for _, i := range last[bits.TrailingZeros32(k)&31] {
				if !slices.Contains(after, i) {
					after = append(after, i)
				}
			}
		}
		for k := w.mask; k != 0; k &= k - 1 {
			last[bits.TrailingZeros32(k)&31] = after
		}
	}
	for i := range s.ops {
		t.moved(at, &s.ops[i])
	}
	delete(t.enable, process(s.choice))
	if s.choice.Kind == machine.Start {
		t.starter[process(s.choice)] = at
	}
	for k := range s.accesses {
		t.keep(at, &s.accesses[k])
	}
}

// moved notes a milestone of an operation.
func (t *trace) moved(at int, o *opStep) {
	t.ops[o.id] = at
	list := t.issued[o.of]
	if o.kind == machine.EvIssue {
		if before, ok := t.commits[o.queue]; ok && o.commit {
			t.behind[o.id] = before
		}
		if o.commit {
			t.commits[o.queue] = o.id
		}
		t.issued[o.of] = append(list, opSteps{o.id, o.seq, at, -1, -1})
		return
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].id != o.id {
			continue
		}
		switch o.kind {
		case machine.EvSource:
			list[i].read = at
		case machine.EvSignal:
			list[i].end = at
		}
		return
	}
}

func (t *trace) keep(at int, x *touch) {
	who := toucher{step: at, touch: x}
	switch x.object {
	case bytes:
		for line := x.lo >> x.lineBits(); line <= (x.hi-1)>>x.lineBits(); line++ {
			key := lineKey{x.mem, line}
			t.lines[key] = append(t.uncovered(t.lines[key], &who), who)
			if x.role != reads && x.poll == nil && t.polls {
				t.wrote[key] = append(t.wrote[key], who)
			}
		}
	case phases:
		t.keepBarrier(at, x)
	case named:
		if x.role == leaves {
			t.exits[x.mem] = append(t.exits[x.mem], exit{step: at, mask: x.lanes})
		} else if x.role == adds {
			key := placeKey{x.mem, x.lo}
			if t.named[key] == nil {
				t.named[key] = &generations{}
			}
			t.named[key].keep(who)
		}
	case clustered:
		if x.role == leaves {
			t.exits[^x.mem] = append(t.exits[^x.mem], exit{at, x.warpOnly, x.lanes})
		} else if x.role == adds {
			if t.grids[x.mem] == nil {
				t.grids[x.mem] = &generations{}
			}
			t.grids[x.mem].keep(who)
		}
	case life:
		t.lives[x.mem] = append(t.lives[x.mem], who)
	case columns:
		t.columns[x.mem] = append(t.columns[x.mem], who)
	case unstarted:
		t.starts[x.mem] = append(t.starts[x.mem], who)
	case registers:
		t.pools[x.mem] = append(t.pools[x.mem], who)
	case fences:
		t.sc = append(t.sc, at)
	case launched:
		if x.role == adds {
			t.ends[x.mem] = append(t.ends[x.mem], at)
		}
	}
}

// uncovered drops accesses that a later one to the same bytes stands for: a write
// stands for all accesses that it comes after, a read for reads.
func (t *trace) uncovered(list []toucher, by *toucher) []toucher {
	x := by.touch
	if x.role == adds || x.word {
		return list
	}
	out := list[:0]
	for _, o := range list {
		inside := x.lo <= o.touch.lo && o.touch.hi <= x.hi
		if o.touch.word || !inside || x.role == reads && o.touch.role != reads || !t.before[by.step].has(o.step) {
			out = append(out, o)
			continue
		}
		if x.role == writes {
			by.over = by.over || o.over || o.touch.role != writes || o.touch.label != x.label
		}
	}
	return out
}

// keep adds an arrival, and drops generations before the last two.
func (g *generations) keep(who toucher) {
	n := len(g.all)
	if n == 0 || g.all[n-1].label != who.touch.label {
		g.all = append(g.all, generation{label: who.touch.label})
		n++
	}
	g.all[n-1].members = append(g.all[n-1].members, who)
	if n > 2 {
		g.all = g.all[n-2:]
	}
}

func (t *trace) keepBarrier(at int, x *touch) {
	key := placeKey{x.mem, x.lo}
	b := t.bars[key]
	if b == nil {
		b = &barTrace{}
		t.bars[key] = b
	}
	switch x.role {
	case tests:
		b.tests = append(b.tests, toucher{step: at, touch: x})
		return
	case writes:
		b.strict = []int{at}
	}
	if n := len(b.phases); n == 0 || b.phases[n-1].by >= 0 || b.phases[n-1].n != x.label {
		b.phases = append(b.phases, phaseTrace{n: x.label, by: -1})
	}
	p := &b.phases[len(b.phases)-1]
	p.members = append(p.members, at)
	if x.done {
		p.by, p.word = at, x.before
		// Tests of earlier phases precede all that is to come.
		out := b.tests[:0]
		for _, w := range b.tests {
			if w.touch.done && w.touch.label >= x.label {
				out = append(out, w)
			}
		}
		b.tests = out
	}
}

// appeared returns the processes of is that are not in was. Both list them in
// one order, and differ in few places.
func appeared(was, is []machine.Choice) []machine.Choice {
	for len(was) > 0 && len(is) > 0 && process(was[0]) == process(is[0]) {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && process(was[len(was)-1]) == process(is[len(is)-1]) {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	var out []machine.Choice
	for _, c := range is {
		if !slices.ContainsFunc(was, func(o machine.Choice) bool { return process(o) == process(c) }) {
			out = append(out, process(c))
		}
	}
	return out
}

// initials returns the processes that can begin a race's reversal: the steps after the
// first that do not come after it, and then the second, which last takes and which comes
// after before. The result is valid until the next call.
func (t *trace) initials(r race, last machine.Choice, before set) []machine.Choice {
	b := t.begins[r.first]
	if b == nil || b.upto > r.second {
		b = &beginning{upto: r.first + 1}
		t.begins[r.first] = b
	}
	for ; b.upto < r.second; b.upto++ {
		i := b.upto
		if t.before[i].has(r.first) {
			continue
		}
		if p := process(t.steps[i].choice); !t.before[i].overlaps(b.rest) && !slices.Contains(b.initials, p) {
			b.initials = append(b.initials, p)
		}
		b.rest.add(i)
	}
	t.first = append(t.first[:0], b.initials...)
	if !before.overlaps(b.rest) {
		t.first = append(t.first, process(last))
	}
	return t.first
}

// A beginning is what a step's races have in common: the steps up to one that do not
// come after it, and the processes that can take the first of them.
type beginning struct {
	upto     int
	rest     set
	initials []machine.Choice
}

// idle reports whether a step only returned to its wait.
func (s *step) idle() bool {
	looked := false
	for i := range s.accesses {
		x := &s.accesses[i]
		if x.role == tests && (x.done || !x.await) || x.role != tests && x.role != reads {
			return false
		}
		looked = looked || x.role == tests
	}
	return looked
}

// roused reports whether a test was enabled by an unrelated step: a change of what
// the split tested earlier, on its way here.
func (s *step) roused(by *step) bool {
	for _, w := range by.lanes {
		if w.cta == s.choice.CTA && w.warp == s.choice.Warp {
			return false // the warp's lanes wait for each other
		}
	}
	return len(s.groups) == 0 && looks(s) && !by.accesses.dependent(s.accesses)
}
