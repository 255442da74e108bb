package prove

import (
	"maps"
	"slices"

	"muster/internal/confluence"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/parallel"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/ptx"
)

// Mutual exclusion. Threads take a lock by an atomic operation that they repeat until it finds the
// word free, and give it by a strong write: from the one to the other is a section. In which order
// the sections of a lock come is the schedule's choice. If all accesses that are in no other order
// are made in sections of one lock, follow its acquisition and are handed on by its release, then
// any order of the sections orders them; and if what they leave for each other decides nothing,
// each thread does the same in all of them.
//
//   - The word. Whoever takes it finds it free and leaves it held; whoever tries in vain leaves it as it
//     is; whoever gives it leaves it free, once in a section. No store comes between an atomic
//     operation and the write that it reads (Atomicity, ISA 8.10), and a release comes after its own
//     acquisition (Coherence). So by induction along the coherence order sections do not overlap, and
//     each acquisition reads the release before it.
//   - Who waits. A thread that tries in vain comes back to a state, having looked at the word alone, and
//     does the same once it gets the lock, however often it has tried (meets).
//   - Deadlock. Of a CTA one lane takes locks, CTAs wait for each other nowhere else, and locks that are
//     taken inside of sections of others are so in one order.

// A locking decides every schedule by some runs with the sections one after the other.
type locking struct {
	l     *trial.Subject
	w     *trial.Budget
	at    map[int32]bool          // the operations by which locks are taken, or numbers drawn
	draws map[int32]bool          // those of ticket locks, by which numbers are drawn
	looks map[int32]bool          // the loads by which they look at the turn
	stops map[int32]bool          // all of these
	turns bool                    // CTAs come in the order that the program fixes
	after bool                    // some wait for others that start before them
	polls map[int32]*machine.Poll // the program's
	most  int64                   // warp instructions of a run
	skip  bool
	plan  []lockSection
	of    map[int32][]int // sections by CTA
	by    map[int32]bool  // the operations that take a lock after so many tries
	words []*lockWord
	// guard has the locks that may guard what is accessed in no other order, by granules of 4 bytes.
	guard map[uint64][]*lockWord
	hands map[int]order.Hand // how locks are given
	// set has the guarded granules that hold the same after each section, if that is known.
	set map[uint64]uint64
}

// takers lists the atomic operations by which threads may take locks.
func takers(p *machine.Program) map[int32]bool {
	list := map[int32]bool{}
	for _, d := range p.Dependences() {
		for _, pc := range d.Roots {
			if in := p.Inst(pc); in != nil && (in.Update() == ptx.UpdateCas || in.Update() == ptx.UpdateExch) && in.Effect().Has(ptx.Reads) {
				list[pc] = true
			}
		}
	}
	return list
}

// byLocks tries to decide every schedule of a launch whose threads hold locks.
func byLocks(l *trial.Subject, w *trial.Budget, jobs int, skip bool, most int64) (p Proof, r trial.Result, ok bool) {
	d := &locking{l: l, w: w, at: takers(l.Program), polls: l.Program.Polls(), most: most, skip: skip, of: map[int32][]int{}, by: map[int32]bool{}, guard: map[uint64][]*lockWord{}}
	d.draws = drawings(l.Program)
	maps.Copy(d.at, d.draws)
	d.stopsOf(l)
	d.byTurns(l)
	if len(d.at) == 0 || !d.alone() {
		return p, r, false
	}
	decided := maps.Clone(l.Program.Peeks())
	maps.Copy(decided, loads(l.Program))
	maps.Copy(decided, d.at)
	if len(l.Program.DependencesBut(decided)) > 0 {
		return p, r, false
	}
	w.Meter.Stage("proof by mutual exclusion", "", 0)
	if !d.sections() || !d.nests() {
		return p, r, false
	}
	runs, ok := d.follows(jobs)
	if !ok {
		return p, r, false
	}
	parts, fine := make([]Part, len(runs)), make([]bool, len(runs))
	parallel.Each(jobs, len(runs), func(i int) { parts[i], fine[i] = d.judge(runs[i]) })
	for i := range parts {
		if !fine[i] {
			return p, r, false
		}
		p.Take(l, &parts[i])
		r.Add(&parts[i].Result)
	}
	p.Found(l, &r)
	p.sumsMatter(l)
	p.concludes()
	p.Contents, p.Tickets = true, !d.turns // what is handed on depends on the schedule
	p.Earlier = p.Earlier || d.after && !l.Shape.Cooperative
	return p, r, p.Holds && len(r.Findings) == 0
}

// A lockOrder is a run: which CTA comes first, -1 for any, and how often threads try in vain at most.
type lockOrder struct {
	front int32
	tries int
}

// run prepares a run.
func (d *locking) run(o lockOrder) *lockRun {
	return &lockRun{d: d, front: o.front, most: o.tries, begun: map[int32]int{}, drawing: -1, waits: -1}
}

// maxFronts bounds how many CTAs are tried as the first one.
const maxFronts = 160

// follows lists the runs that show what each thread does, and reports whether what is handed on
// decides nothing in them.
func (d *locking) follows(jobs int) (runs []lockOrder, ok bool) {
	most := 0
	for i := range d.plan {
		most = max(most, d.plan[i].tries)
	}
	for tries := range most + 1 {
		runs = append(runs, lockOrder{-1, tries})
	}
	if !d.seen(runs) {
		return nil, false
	}
	if d.turns || d.decideNothing(jobs, runs) {
		return runs, true
	}
	// What decides may be who comes first: some words are set by the first one, to what all others
	// leave there.
	// There is one lock, since of two each has its own first one; and each CTA has one section, since
	// how it waits for a later one, tried in the first run, may depend on who was first.
	if len(d.of) > maxFronts || len(d.plan) != len(d.of) || !d.oneLock() || !d.setOnce(runs[0]) {
		return nil, false
	}
	// What a thread tries in vain before its only section does not depend on who was first.
	once := len(d.by) == 1
	var fronts []lockOrder
	for _, cta := range slices.Sorted(maps.Keys(d.of)) {
		if fronts = append(fronts, lockOrder{cta, 0}); !once {
			fronts = append(fronts, lockOrder{cta, most})
		}
	}
	runs = append(runs, fronts...)
	return runs, d.seen(runs) && d.setOnce(runs[0]) && d.decideNothing(jobs, runs)
}

// seen makes the runs that show what is accessed in no order but by locks, and by which.
func (d *locking) seen(runs []lockOrder) bool {
	for _, o := range runs {
		if !d.unordered(o) {
			return false
		}
	}
	for _, o := range runs {
		if !d.guards(o) {
			return false
		}
	}
	return true
}

// oneLock reports whether there is one lock alone.
func (d *locking) oneLock() bool {
	return !slices.ContainsFunc(d.plan, func(s lockSection) bool { return s.word != d.plan[0].word })
}

// setOnce makes a run that finds the words which hold the same at the end of each section. Whoever
// comes to such a word finds what was there at first, if nobody had the lock before, or else
// that.
func (d *locking) setOnce(o lockOrder) bool {
	r := d.run(o)
	d.set = map[uint64]uint64{}
	varies := map[uint64]bool{}
	r.leaves = func(n int) {
		for g, list := range d.guard {
			if len(list) == 0 || list[0] != d.plan[n].word || varies[g] {
				continue
			}
			v, ok := r.m.Peek(machine.Global, 4*g, 4)
			if old, is := d.set[g]; !ok || is && old != v {
				varies[g] = true
				delete(d.set, g)
				continue
			}
			d.set[g] = v
		}
	}
	m := d.l.Part(r, d.skip, 0, 1)
	m.FailPeeks()
	return r.follow(m) && len(d.set) > 0
}

// alone reports whether CTAs may wait for each other by locks alone, as far as the launch says.
func (d *locking) alone() bool {
	l := d.l
	return len(l.Shape.Grids) == 0 && l.Shape.Cluster <= 1 && l.Shape.Clusters == nil && !l.Program.Allocates() && !l.Start.SharesMultiprocessors() &&
		!l.Program.AllocatesColumns() && !l.Program.Cancels() && len(l.Program.Flips()) == 0
}

// sections makes a first run, which finds the sections.
func (d *locking) sections() bool {
	r := d.run(lockOrder{front: -1})
	r.first = true
	m := d.l.Part(r, d.skip, 0, 1)
	m.FailPeeks()
	return r.follow(m) && len(d.plan) > 0
}

// nests reports whether one lane of each CTA takes locks, and those that are held together are taken in
// one order.
func (d *locking) nests() bool {
	by := map[int32]*lockSection{}
	for i := range d.plan {
		s := &d.plan[i]
		if o := by[s.cta]; o != nil && (o.warp != s.warp || o.lane != s.lane) {
			return false
		}
		by[s.cta] = s
	}
	return !slices.ContainsFunc(d.words, func(w *lockWord) bool { return d.reach(w, w, map[*lockWord]bool{}) })
}

// reach reports whether a lock is taken, by way of others, while one is held.
func (d *locking) reach(from, to *lockWord, seen map[*lockWord]bool) bool {
	seen[from] = true
	for i := range d.plan {
		s := &d.plan[i]
		if !slices.Contains(s.inside, from) {
			continue
		}
		if s.word == to || !seen[s.word] && d.reach(s.word, to, seen) {
			return true
		}
	}
	return false
}

// unordered makes a run that finds what is accessed in no order but by locks, and how locks are
// given.
func (d *locking) unordered(o lockOrder) bool {
	r := d.run(o)
	locks := &order.Locks{Op: r.op, Lock: d.lock}
	mark := func(at machine.Span) {
		if at.Mem != machine.Global || d.wordsAt(at.Addr, at.Len) {
			r.bad = true // no lock guards that
			return
		}
		for g := at.Addr / 4; g <= (at.Addr+at.Len-1)/4 && !r.bad; g++ {
			d.guard[g] = nil
			r.bad = len(d.guard) > maxOwned
		}
	}
	locks.Raced = mark
	c := d.l.Rules()
	c.MustOnly, c.Locks = true, locks
	c.Strong = func(p order.Pair) {
		if d.wordAt(p.At.Addr, p.At.Len) == nil && !d.commute(p) {
			mark(p.At)
		}
	}
	m := d.l.Part(trial.Observers{fewerFences{r, rules.NewJudge(c)}, r}, d.skip, 0, 1)
	m.ShowCollectives()
	m.FailPeeks()
	if !r.follow(m) {
		return false
	}
	hands, ok := locks.Given()
	d.hands = hands
	return ok
}

// commute reports whether two instructions leave the same in each order.
func (d *locking) commute(p order.Pair) bool {
	prog := d.l.Program
	return prog.Commutes(p.Prior) == "" && prog.Commutes(p.Cur) == "" && prog.Operation(p.Prior) == prog.Operation(p.Cur)
}

// lock numbers the lock of a section.
func (d *locking) lock(section int) int { return slices.Index(d.words, d.plan[section].word) }

// guards makes a run that finds which lock is held at each access to what locks guard.
func (d *locking) guards(o lockOrder) bool {
	if len(d.guard) == 0 {
		return true
	}
	r := d.run(o)
	m := d.l.Part(trial.Observers{guardFinder{r}, r}, d.skip, 0, 1)
	m.FailPeeks()
	return r.follow(m)
}

// A guardFinder finds the locks that are held at all accesses to bytes.
type guardFinder struct{ r *lockRun }

// Observe makes a guardFinder a machine.Observer.
func (f guardFinder) Observe(_ *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess || ev.Mem != machine.Global {
		return
	}
	d := f.r.d
	for lane := range 32 {
		if ev.Mask>>lane&1 == 0 {
			continue
		}
		addr := ev.Addr[lane]
		if ev.Row {
			addr = ev.Addr[0] + uint64(lane)*uint64(ev.Size)
		}
		for g := addr / 4; g <= (addr+uint64(ev.Size)-1)/4; g++ {
			old, is := d.guard[g]
			if !is {
				continue
			}
			var held []*lockWord
			for _, n := range f.r.open {
				if s := &d.plan[n]; s.cta == ev.CTA && (old == nil || slices.Contains(old, s.word)) {
					held = append(held, s.word)
				}
			}
			if f.r.bad = f.r.bad || len(held) == 0; len(held) > 0 {
				d.guard[g] = held
			}
		}
	}
}

// guardOf returns the lock that guards n bytes; nil: none guards all of them.
func (d *locking) guardOf(addr, n uint64) (by *lockWord, guarded bool) {
	all := true
	for g := addr / 4; g <= (addr+n-1)/4; g++ {
		list, is := d.guard[g]
		if !is {
			all = false
			continue
		}
		if len(list) == 0 || guarded && by != list[0] {
			return nil, true
		}
		by, guarded = list[0], true
	}
	if guarded && !all {
		return nil, true
	}
	return by, guarded
}

// guardsAny reports whether a lock guards any of n bytes.
func (d *locking) guardsAny(addr, n uint64) bool {
	if n > 4*uint64(len(d.guard)) {
		for g := range d.guard {
			if 4*g < addr+n && addr < 4*g+4 {
				return true
			}
		}
		return false
	}
	for g := addr / 4; n > 0 && g <= (addr+n-1)/4; g++ {
		if _, is := d.guard[g]; is {
			return true
		}
	}
	return false
}

// decideNothing makes runs in which nobody knows what is in guarded memory, but for what is set once,
// and reports whether that goes to memory alone.
func (d *locking) decideNothing(jobs int, runs []lockOrder) bool {
	fine := make([]bool, len(runs))
	parallel.Each(jobs, len(runs), func(i int) { fine[i] = d.onlyStored(runs[i]) })
	return !slices.Contains(fine, false)
}

func (d *locking) onlyStored(o lockOrder) bool {
	r := d.run(o)
	m := d.l.Machine(r, nil)
	m.FailPeeks()
	u := m.FollowUndefined()
	r.followTickets(u)
	u.FollowHanded(func(addr, n uint64) bool { return d.guardsAny(addr, n) && !d.setAt(addr, n) })
	r.leaves = func(n int) {
		for g, want := range d.set {
			v, ok := r.m.Peek(machine.Global, 4*g, 4)
			r.bad = r.bad || d.guard[g][0] == d.plan[n].word && (!ok || v != want)
		}
	}
	if !r.follow(m) {
		return false
	}
	reached, others := u.Reached(m)
	return !others && !d.numbersMatter(u) && !slices.ContainsFunc(reached, func(r machine.UndefinedReach) bool {
		return (r.From.Kind == machine.UndefinedHanded || r.From.Kind == machine.UndefinedDraw) && r.What != "an output"
	})
}

// setAt reports whether all of n bytes are set once.
func (d *locking) setAt(addr, n uint64) bool {
	for g := addr / 4; g <= (addr+n-1)/4; g++ {
		if _, is := d.set[g]; !is {
			return false
		}
	}
	return true
}

// judge makes the run that is judged.
func (d *locking) judge(o lockOrder) (part Part, ok bool) {
	l := d.l
	r := d.run(o)
	locks := &order.Locks{Op: r.op, Lock: d.lock, Guards: r.guards, Hands: d.hands}
	c := l.Rules()
	c.MustOnly, c.Locks = true, locks
	s := &Watchers{l: l, strong: &strongAccesses{prog: l.Program, settled: map[place]bool{}}}
	s.Prover = confluence.New(confluence.Config{Shape: l.Shape, Program: l.Program, Peeks: l.Program.PeekWaits(), Granted: l.Gets})
	for _, w := range d.words {
		for at := w.addr &^ 3; at < w.addr+uint64(w.size); at += 4 {
			s.strong.settled[place{machine.Global, at}] = true
		}
	}
	for g := range d.guard {
		s.strong.settled[place{machine.Global, 4 * g}] = true
	}
	if pcs := loads(l.Program); len(pcs) > 0 {
		s.loads = newLoadedWords(l.Program, pcs)
		c.Strong = func(p order.Pair) {
			if d.wordAt(p.At.Addr, p.At.Len) == nil {
				s.loads.pair(p)
			}
		}
	}
	s.judge = rules.NewJudge(c)
	watch := trial.Observers{fewerFences{r, s.judge}, s.Prover, s.strong, r}
	if s.loads != nil {
		watch = append(watch, s.loads)
	}
	m := l.Part(watch, d.skip, 0, 1)
	m.ShowCollectives()
	m.FailPeeks()
	if !r.follow(m) || d.w.Over() != "" {
		return part, false
	}
	for i := range d.words {
		if d.guarding(i) && !locks.Covered(i) {
			return part, false
		}
	}
	if _, ok := locks.Given(); !ok {
		return part, false
	}
	part.Findings, part.Gaps = s.judge.Finish(m)
	if g, ok := l.LimitGap(m.Stopped()); ok {
		part.Gaps = append(trial.WithoutLimits(part.Gaps, m.Stopped()), g)
	}
	part.failures, part.mixed, part.sums, part.joint, part.read = s.Prover.Finish(), s.strong.mixed, s.strong.sums, s.strong.joint, s.strong.sumsRead
	if s.loads != nil {
		part.unsettled = s.loads.unsettled()
	}
	part.addresses, part.contents = s.Addresses, true
	part.equalStores(l.Program, s.judge.Order.Conflicts(), nil, d.skip)
	return part, true
}

// fewerFences hides from a judge the fences of those who try in vain: others may not have tried.
type fewerFences struct {
	r     *lockRun
	judge *rules.Judge
}

// Observe makes a fewerFences a machine.Observer.
func (f fewerFences) Observe(m *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvFence || !f.r.vain {
		f.judge.Observe(m, ev)
	}
}

// guarding reports whether a lock guards anything.
func (d *locking) guarding(lock int) bool {
	for _, list := range d.guard {
		if len(list) > 0 && list[0] == d.words[lock] {
			return true
		}
	}
	return false
}
