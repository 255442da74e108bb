package prove

import (
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
)

// Runs of a proof by mutual exclusion (locks.go). Sections come one after the other: a thread takes
// a lock when nobody holds one, other than its own CTA. Before it gets it, it tries in vain, in one run
// not at all, in another one once, and so on, as often as it takes to come back to a state: then it has
// done all that it ever does while it waits. The fewer tries, the fewer fences, and the less order.

// A lockWord is a word of global memory that holds one value while the lock is free, and another
// one while somebody has it.
type lockWord struct {
	addr       uint64
	size       int32
	free, held uint64
	// A ticket lock's is the turn, and next is where numbers are drawn (lockdraws.go).
	ticket bool
	next   uint64
	turn   bool // it takes values in one order (lockturns.go)
}

// A lockSection is what a thread does from an acquisition to the release: who it is, of which lock,
// and how often it tries in vain before.
type lockSection struct {
	cta, warp int32
	lane      int
	word      *lockWord
	tries     int
	inside    []*lockWord // locks that the lane has already
	// Of turns: what the word holds when it comes and when it is given, and what it has held before.
	free, left uint64
	vain       []uint64
}

// frees returns what the word of a section holds when the section may begin, and held what it holds
// in tries in vain. None: nobody tries in vain.
func (r *lockRun) frees(s *lockSection) (free, held uint64, tries bool) {
	switch {
	case s.word.ticket:
		return r.number, uint64(uint32(r.number - 1)), true
	case !s.word.turn:
		return s.word.free, s.word.held, true
	case len(s.vain) == 0:
		return s.free, 0, false
	}
	return s.free, s.vain[len(s.vain)-1], true
}

// gives returns what the word of a section holds when it has been given.
func (r *lockRun) gives(s *lockSection) uint64 {
	switch {
	case s.word.ticket:
		return uint64(uint32(r.number + 1))
	case s.word.turn:
		return s.left
	}
	return s.word.free
}

// looked reports whether a thread that takes the lock only looks at its word.
func (w *lockWord) looked() bool { return w.ticket || w.turn }

// A lockRun makes one run, and watches it.
type lockRun struct {
	d     *locking
	m     *machine.Machine
	first bool          // nothing is known yet
	front int32         // the CTA that takes a lock first, if it can; -1: any
	taken int           // sections begun
	begun map[int32]int // of each CTA
	open  []int
	gave  *lockWord // in the step at hand
	given int       // the section
	// leaves, if set, is called at the end of each section.
	leaves func(section int)
	most   int  // how often threads try in vain at most
	vain   bool // what is tried now is in vain
	bad    bool
	buf    []machine.Choice
	// Of ticket locks: the section whose number is being drawn and that which waits, -1 for none;
	// the number; who gave the turn by which instruction; and, in a run that follows values, which
	// draw each section has made.
	drawing, waits int
	number         uint64
	gavePC         int32
	follows        *machine.Undefined
	serial         map[int]int
}

// maxTries bounds how often a thread tries until it has come back to a state.
const maxTries = 12

// maxSections bounds the sections of a launch.
const maxSections = 1 << 12

// follow makes the run. It reports whether all locks were free in the end, and nothing else was
// seen of them than threads that take and give them.
func (r *lockRun) follow(m *machine.Machine) bool {
	r.m = m
	over, _ := r.d.w.Stop()
	stop := func() bool {
		n, _ := m.Instrs()
		return n > r.d.most || over()
	}
	m.StopWhen(stop)
	if r.front >= 0 {
		m.ResidentUpTo(maxFronts) // any may be the first one
	}
	o := orders{points: r.d.at}
	for steps := 0; !r.bad && m.Stopped() == nil; steps++ {
		if steps%1024 == 0 && stop() {
			return false
		}
		r.buf = m.Enabled(r.buf[:0])
		if len(r.buf) == 0 || r.buf[0].Kind == machine.GiveUp {
			m.Conclude()
			break
		}
		if c, ok := o.other(m, r.buf); ok {
			if r.step(c); c.Kind == machine.Run {
				goesOn(m, c.CTA, r.d.at, r.step)
			}
			continue
		}
		c := r.buf[0]
		if i := slices.IndexFunc(r.buf, func(c machine.Choice) bool { return c.CTA == r.front }); i >= 0 && r.taken == 0 {
			c = r.buf[i]
		}
		if n := len(r.open); n > 0 {
			cta := r.d.plan[r.open[n-1]].cta
			i := slices.IndexFunc(r.buf, func(c machine.Choice) bool { return c.CTA == cta })
			if i < 0 {
				return false
			}
			c = r.buf[i]
		}
		if r.d.turns {
			var ok bool
			if c, ok = r.whose(r.buf); !ok {
				return false
			}
		}
		if !r.acquires(c) {
			return false
		}
	}
	return !r.bad && m.Done() && len(r.open) == 0 && r.taken == len(r.d.plan)
}

// step takes a choice. Whoever gives a lock leaves what was there when it was free.
func (r *lockRun) step(c machine.Choice) {
	r.gave = nil
	r.m.Step(c)
	if w := r.gave; w != nil {
		v, ok := r.m.Peek(machine.Global, w.addr, int(w.size))
		s := &r.d.plan[r.given]
		if w.turn && r.first {
			s.left = v
		}
		if r.bad = r.bad || !ok || v != r.gives(s) || w.ticket && !r.handsOn(w, r.given); r.leaves != nil && !r.bad {
			r.leaves(r.given)
		}
	}
}

// acquires has a CTA take a lock, for which one of its threads stands before an atomic operation,
// after it has tried in vain.
func (r *lockRun) acquires(c machine.Choice) bool {
	pc, _ := r.m.Standing(c)
	draws := r.d.draws[pc]
	if r.first && !r.d.turns && (draws && !r.d.drawsTicket(r.m, c) || !draws && !r.d.meets(r.m, c)) {
		return false
	}
	next := r.next(c.CTA)
	if next < 0 || r.taken == 0 && r.front >= 0 && r.front != c.CTA {
		return false
	}
	s := &r.d.plan[next]
	if r.first {
		for _, n := range r.open {
			s.inside = append(s.inside, r.d.plan[n].word)
		}
	}
	w := s.word
	if draws != w.ticket || draws && !r.draws(c, next) {
		return false
	}
	at := r.d.at
	if w.looked() {
		at, r.waits = r.d.stops, next
	}
	free, held, tries := r.frees(s)
	r.vain = r.most > 0 && tries
	if v, ok := r.m.Peek(machine.Global, w.addr, int(w.size)); !ok || v != free || r.vain && !r.m.Poke(w.addr, w.size, held) {
		return false
	}
	for range min(s.tries, r.most) {
		if !r.vain {
			break
		}
		c, ok := wakes(r.m, c.CTA, at, r.step)
		if !ok {
			break // it waits for the word to change
		}
		if r.step(c); r.bad {
			return false
		}
	}
	if r.vain {
		goesOn(r.m, c.CTA, at, r.step)
		if v, ok := r.m.Peek(machine.Global, w.addr, int(w.size)); !ok || v != held || !r.m.Poke(w.addr, w.size, free) {
			return false
		}
	}
	r.vain = false
	c, ok := goesOn(r.m, c.CTA, at, r.step)
	if !ok {
		return false
	}
	n := r.taken
	r.step(c)
	if v, ok := r.m.Peek(machine.Global, w.addr, int(w.size)); !ok || v != w.takes(free) || r.taken != n+1 {
		return false
	}
	r.waits = -1
	goesOn(r.m, c.CTA, r.d.at, r.step)
	return true
}

// next returns the section that a CTA begins next; -1: none is known.
func (r *lockRun) next(cta int32) int {
	if of := r.d.of[cta]; r.begun[cta] < len(of) {
		return of[r.begun[cta]]
	}
	return -1
}

// known returns the lock with a word, which may be a new one; nil: it has some of another lock's.
func (d *locking) known(w lockWord) *lockWord {
	for _, o := range d.words {
		if *o == w {
			return o
		}
	}
	if d.wordsAt(w.addr, uint64(w.size)) || w.ticket && d.wordsAt(w.next, 4) {
		return nil
	}
	d.words = append(d.words, &w)
	return &w
}

// wordAt returns the lock whose word has some of n bytes of global memory; nil: none.
func (d *locking) wordAt(addr, n uint64) *lockWord {
	for _, w := range d.words {
		if w.addr < addr+n && addr < w.addr+uint64(w.size) {
			return w
		}
	}
	return nil
}

// op serves as order.Locks.Op.
func (r *lockRun) op(ev *machine.Event, lane int) (order.LockOp, int) {
	if ev.Mem != machine.Global {
		return order.NoLock, 0
	}
	w := r.d.wordAt(ev.Addr[lane], uint64(ev.Size))
	if w == nil || ev.Addr[lane] != w.addr || ev.Size != w.size || ev.Sem == machine.Weak {
		return order.NoLock, 0
	}
	holder := -1
	for _, n := range r.open {
		if r.d.plan[n].word == w {
			holder = n
		}
	}
	if w.looked() {
		return r.lookOp(ev, lane, holder)
	}
	next := r.next(ev.CTA)
	switch {
	case r.d.at[ev.PC] && r.vain, ev.Access&machine.Write == 0 && r.d.polls[ev.PC] != nil:
		return order.LockTried, 0
	case r.d.at[ev.PC] && holder < 0 && next >= 0 && r.d.plan[next].is(ev, lane) && r.d.plan[next].word == w:
		return order.LockTaken, next
	case !r.d.at[ev.PC] && ev.Access&machine.Write != 0 && holder >= 0 && r.d.plan[holder].is(ev, lane):
		return order.LockGiven, holder
	}
	return order.NoLock, 0
}

func (s *lockSection) is(ev *machine.Event, lane int) bool {
	return s.cta == ev.CTA && s.warp == ev.Warp && s.lane == lane
}

// Observe makes a lockRun a machine.Observer, which comes after the judge.
func (r *lockRun) Observe(_ *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvAccess:
		if poll := r.d.polls[ev.PC]; ev.Mem != machine.Global {
			r.bad = r.bad || poll != nil
			return
		}
		for l := range 32 {
			if ev.Mask>>l&1 != 0 {
				r.access(ev, l)
			}
		}
	case machine.EvIssue:
		for _, s := range slices.Concat(ev.Op.Reads, ev.Op.Writes, []machine.Span{ev.Op.Map}) {
			r.bad = r.bad || s.Mem == machine.Global && s.Len > 0 && (r.d.wordsAt(s.Addr, s.Len) || r.d.guardsAny(s.Addr, s.Len))
		}
	case machine.EvClusterArrive, machine.EvClusterWait, machine.EvTrigger, machine.EvGridWait, machine.EvRefused:
		r.bad = true
	default:
		if s := ev.Span; ev.Kind == machine.EvMbar && ev.Mbar.Bar.Mem != machine.SharedOf(ev.CTA) || s.Mem == machine.Global && s.Len > 0 && r.d.wordsAt(s.Addr, s.Len) {
			r.bad = true
		}
	}
}

// access takes a lane's access to global memory.
func (r *lockRun) access(ev *machine.Event, lane int) {
	addr := ev.Addr[lane]
	if ev.Row {
		addr = ev.Addr[0] + uint64(lane)*uint64(ev.Size)
	}
	w := r.d.wordAt(addr, uint64(ev.Size))
	if t := r.d.nextAt(addr, uint64(ev.Size)); t != nil {
		r.bad = r.bad || w != nil || ev.Row || ev.Whole > 0 || !r.drew(ev, lane, t)
		return
	}
	if w == nil {
		r.bad = r.bad || r.d.polls[ev.PC] != nil && !r.first || r.d.at[ev.PC]
		return
	}
	switch op, n := r.op(ev, lane); {
	case ev.Row || ev.Whole > 0:
		r.bad = true
	case op == order.LockTaken:
		r.open = append(r.open, n)
		r.begun[ev.CTA]++
		r.taken++
	case op == order.LockGiven:
		r.given = n
		r.open = slices.DeleteFunc(r.open, func(o int) bool { return o == n })
		r.gave, r.gavePC = w, ev.PC
	case op == order.NoLock:
		r.bad = true
	}
}

// guards serves as order.Locks.Guards.
func (r *lockRun) guards(cta int32, addr, n uint64) (section int, guarded, inside bool) {
	by, guarded := r.d.guardOf(addr, n)
	if !guarded {
		return 0, false, false
	}
	for _, o := range r.open {
		if s := &r.d.plan[o]; s.cta == cta && s.word == by {
			return o, true, true
		}
	}
	return 0, true, false
}
