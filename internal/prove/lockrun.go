package prove

import (
	"hash/maphash"
	"math/bits"
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
}

// A lockSection is what a thread does from an acquisition to the release: who it is, of which lock,
// and how often it tries in vain before.
type lockSection struct {
	cta, warp int32
	lane      int
	word      *lockWord
	tries     int
	inside    []*lockWord // locks that the lane has already
}

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
		if r.bad = r.bad || !ok || v != w.free; r.leaves != nil && !r.bad {
			r.leaves(r.given)
		}
	}
}

// acquires has a CTA take a lock, for which one of its threads stands before an atomic operation,
// after it has tried in vain.
func (r *lockRun) acquires(c machine.Choice) bool {
	if r.first && !r.d.meets(r.m, c) {
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
	if v, ok := r.m.Peek(machine.Global, w.addr, int(w.size)); !ok || v != w.free || r.most > 0 && !r.m.Poke(w.addr, w.size, w.held) {
		return false
	}
	r.vain = r.most > 0
	for range min(s.tries, r.most) {
		c, ok := goesOn(r.m, c.CTA, r.d.at, r.step)
		if !ok {
			break // it waits for the word to change
		}
		if r.step(c); r.bad {
			return false
		}
	}
	if r.vain {
		goesOn(r.m, c.CTA, r.d.at, r.step)
		if v, ok := r.m.Peek(machine.Global, w.addr, int(w.size)); !ok || v != w.held || !r.m.Poke(w.addr, w.size, w.free) {
			return false
		}
	}
	r.vain = false
	c, ok := goesOn(r.m, c.CTA, r.d.at, r.step)
	if !ok {
		return false
	}
	n := r.taken
	r.step(c)
	if v, ok := r.m.Peek(machine.Global, w.addr, int(w.size)); !ok || v != w.held || r.taken != n+1 {
		return false
	}
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

// goesOn has a CTA do all that it does before some instructions, and returns a choice for one of
// these; false if it waits.
func goesOn(m *machine.Machine, cta int32, at map[int32]bool, step func(machine.Choice)) (machine.Choice, bool) {
	var buf []machine.Choice
	for range maxAlone {
		buf = m.RunsOf(cta, buf[:0])
		then, next := machine.Choice{CTA: -1}, machine.Choice{CTA: -1}
		for _, c := range buf {
			if pc, performs := m.Standing(c); performs && at[pc] {
				if then.CTA < 0 {
					then = c
				}
			} else if next.CTA < 0 {
				next = c
			}
		}
		if next.CTA < 0 {
			return then, then.CTA >= 0
		}
		step(next)
	}
	return machine.Choice{}, false
}

// maxAlone bounds the steps of a CTA between two tries.
const maxAlone = 1 << 14

// meets finds out what lock a CTA is about to take, and how often it tries in vain until it has come
// back to a state. It reports whether all that it does meanwhile is to look at the lock, and it does
// the same afterwards, however often it has tried.
func (d *locking) meets(m *machine.Machine, c machine.Choice) bool {
	a := &alone{cta: c.CTA}
	probe := m.Beside(a, c.CTA)
	probe.Step(c)
	if a.n != 1 || a.ev.Kind != machine.EvAccess || a.ev.Mem != machine.Global || a.ev.Mask&(a.ev.Mask-1) != 0 || a.ev.Whole > 0 || a.ev.Size > 8 || len(d.plan) == maxSections {
		return false
	}
	lane := bits.TrailingZeros32(a.ev.Mask)
	w := lockWord{addr: a.addr[lane], size: a.ev.Size}
	var ok, okay bool
	w.free, ok = m.Peek(machine.Global, w.addr, int(w.size))
	w.held, okay = probe.Peek(machine.Global, w.addr, int(w.size))
	if !ok || !okay || w.free == w.held {
		return false
	}
	i := slices.IndexFunc(d.words, func(o *lockWord) bool { return o.addr < w.addr+uint64(w.size) && w.addr < o.addr+uint64(o.size) })
	if i < 0 {
		i = len(d.words)
		d.words = append(d.words, &w)
	}
	if *d.words[i] != w {
		return false
	}
	s := lockSection{cta: c.CTA, warp: a.ev.Warp, lane: lane, word: d.words[i]}
	got, ok := d.gets(m, c.CTA, s.word)
	if !ok {
		return false
	}
	a = &alone{cta: c.CTA, word: s.word}
	vain := m.Beside(a, c.CTA)
	if !vain.Poke(w.addr, w.size, w.held) {
		return false
	}
	seen := map[uint64]bool{}
	for {
		next, goes := goesOn(vain, c.CTA, d.at, vain.Step)
		h, ok := vain.StateOf(c.CTA)
		now, is := vain.Peek(machine.Global, w.addr, int(w.size))
		if !ok || !is || now != w.held || a.bad || vain.Stopped() != nil || s.tries > maxTries {
			return false
		}
		if again, ok := d.gets(vain, c.CTA, s.word); !ok || again != got {
			return false
		}
		if seen[h] || !goes {
			break
		}
		seen[h] = true
		s.tries++
		vain.Step(next)
	}
	s.tries++
	d.of[s.cta] = append(d.of[s.cta], len(d.plan))
	d.plan = append(d.plan, s)
	return true
}

// gets has a CTA take a lock in a copy of the machine, and returns a hash of the state in which it
// then comes to memory that others may reach, and of what it does there.
func (d *locking) gets(of *machine.Machine, cta int32, w *lockWord) (hash uint64, ok bool) {
	a := &alone{cta: cta, word: w, deaf: true}
	m := of.Beside(a, cta)
	if !m.Poke(w.addr, w.size, w.free) {
		return 0, false
	}
	c, ok := goesOn(m, cta, d.at, m.Step)
	if !ok {
		return 0, false
	}
	pc, _ := m.Standing(c)
	d.by[pc] = true
	m.Step(c)
	if v, ok := m.Peek(machine.Global, w.addr, int(w.size)); !ok || v != w.held {
		return 0, false
	}
	a.deaf = false
	var buf []machine.Choice
	for range maxAlone {
		if buf = m.RunsOf(cta, buf[:0]); len(buf) == 0 {
			return 0, false
		}
		if pc, performs := m.Standing(buf[0]); performs && d.at[pc] {
			break
		}
		if m.Step(buf[0]); a.bad {
			break
		}
	}
	state, ok := m.StateOf(cta)
	return maphash.Comparable(hashSeed, [3]uint64{state, uint64(a.ev.PC), uint64(a.ev.Mask)}) ^ maphash.Comparable(hashSeed, a.addr), ok && m.Stopped() == nil
}

var hashSeed = maphash.MakeSeed()

// An alone watches a CTA that runs beside the run: whether it does anything else that others could
// notice than to look at a word.
type alone struct {
	cta  int32
	word *lockWord
	n    int
	ev   machine.Event // the first that others could notice
	addr [32]uint64    // of an access
	bad  bool
	deaf bool
}

// Observe makes an alone a machine.Observer.
func (a *alone) Observe(_ *machine.Machine, ev *machine.Event) {
	switch {
	case ev.CTA != a.cta || a.bad || a.deaf:
		return
	case ev.Kind == machine.EvBarArrive, ev.Kind == machine.EvBarPass, ev.Kind == machine.EvWarpSync, ev.Kind == machine.EvCollective:
		return
	case ev.Kind == machine.EvFence && ev.Fence == machine.FenceMemory:
		return
	case ev.Kind == machine.EvAccess && (ev.Mem == machine.SharedOf(a.cta) || a.looks(ev)):
		return
	}
	if a.n++; a.n == 1 {
		a.ev = *ev
		for l := range 32 {
			if ev.Kind == machine.EvAccess && ev.Mask>>l&1 != 0 {
				a.addr[l] = ev.Addr[0] + uint64(l)*uint64(ev.Size)
				if !ev.Row {
					a.addr[l] = ev.Addr[l]
				}
			}
		}
	}
	a.bad = a.word != nil
}

// looks reports whether lanes look at the word, or try in vain to take it.
func (a *alone) looks(ev *machine.Event) bool {
	if a.word == nil || ev.Mem != machine.Global || ev.Sem == machine.Weak || ev.Size != a.word.size || ev.Row || ev.Whole > 0 {
		return false
	}
	for m := ev.Mask; m != 0; m &= m - 1 {
		if ev.Addr[bits.TrailingZeros32(m)] != a.word.addr {
			return false
		}
	}
	return ev.Access&machine.Write == 0 || ev.Access&machine.Update != 0
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
			r.bad = r.bad || s.Mem == machine.Global && s.Len > 0 && (r.d.wordAt(s.Addr, s.Len) != nil || r.d.guardsAny(s.Addr, s.Len))
		}
	case machine.EvClusterArrive, machine.EvClusterWait, machine.EvTrigger, machine.EvGridWait, machine.EvRefused:
		r.bad = true
	default:
		if s := ev.Span; ev.Kind == machine.EvMbar && ev.Mbar.Bar.Mem != machine.SharedOf(ev.CTA) || s.Mem == machine.Global && s.Len > 0 && r.d.wordAt(s.Addr, s.Len) != nil {
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
		r.gave = w
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
