package prove

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync"

	"muster/internal/flow"
	"muster/internal/machine"
	"muster/internal/trial"
)

// Tickets. Who gets which number from a counter depends on the schedule. Where numbers decide
// nothing but where each lane stores something, and what (flow.Tickets), one run shows at which
// places all lanes together store. If no place belongs to two tickets, and nobody else comes
// there, then it is so in every schedule, and what the lanes store nobody sees.

// byPlaces tries to decide every schedule by one run in a program that draws tickets. Lanes that
// draw them as a group do so one by one in that run: then each makes the addition itself, so that
// what is in no order with any lane's addition, as the leader of whatever group, is found.
func byPlaces(l *trial.Subject, w *trial.Budget, jobs int, skip bool) (p Proof, r trial.Result, ok bool) {
	t := l.Program.Tickets()
	if len(t.Adds)+len(t.Masks) == 0 || grantsMatter(l) {
		return p, r, false
	}
	decided := t.Decided()
	maps.Copy(decided, l.Program.Peeks())
	maps.Copy(decided, loads(l.Program))
	for _, d := range l.Program.DependencesBut(decided) {
		if !covered(l.Program.Flips(), &d) {
			return p, r, false
		}
	}
	if len(t.Masks) > 0 {
		l = l.Singly()
	}
	var mu sync.Mutex
	var runs []*placesRun
	p, r = One(l, w, jobs, skip, func(o machine.Observer) machine.Observer {
		run := newPlacesRun(t)
		mu.Lock()
		runs = append(runs, run)
		mu.Unlock()
		return trial.Observers{o, run}
	})
	for _, run := range runs {
		if run.shared {
			return p, r, false
		}
	}
	p.Tickets, p.Contents = true, true // where the counter begins
	return p, r, p.Holds && len(r.Findings) == 0
}

// A placesRun watches what a run does with tickets.
type placesRun struct {
	t *flow.Tickets
	// shared: a place may belong to two tickets, or to others.
	shared   bool
	words    map[counterOf]place
	counters map[place]*counter
	drawn    map[laneOf]map[int32]int // how many, by addition
	apart    map[int32]bool           // additions of which some were to no memory of the lane's own CTA
	owners   map[place]owner          // by byte
	others   map[machine.MemID]*trial.Bytes
	updates  map[machine.MemID]*trial.Bytes // by atomic operations, among others
	touched  int                            // bytes of these, about
}

// A counterOf is an addition to memory.
type counterOf struct {
	pc  int32
	mem machine.MemID
}

// A counter is a word to which lanes add.
type counter struct {
	size int32
	each uint64 // what each adds
	by   int32  // the instruction
	over bool   // something else accessed it, after additions
}

type laneOf struct {
	cta, warp int32
	lane      int
}

// anyShared stands for the shared memory of whichever CTA draws a number, and anyTensor for its
// tensor memory: what a number from a counter of the grid places there lies, in another schedule,
// at the same address of another CTA's.
const (
	anyShared = machine.MemID(math.MaxInt32)
	anyTensor = machine.MemID(math.MinInt32)
)

// ofAny is the place at the same address in the memory of whichever CTA.
func (p place) ofAny() place {
	switch p.mem.Kind() {
	case machine.SharedMemory:
		p.mem = anyShared
	case machine.TensorMemory:
		p.mem = anyTensor
	}
	return p
}

// An owner is a draw.
type owner struct {
	laneOf
	pc int32 // an addition by which
	of int   // so many had been drawn
}

// maxTouched and maxOwned bound what is remembered of memory.
const (
	maxTouched = 1 << 30
	maxOwned   = 1 << 20
)

func newPlacesRun(t *flow.Tickets) *placesRun {
	return &placesRun{t: t, words: map[counterOf]place{}, counters: map[place]*counter{}, drawn: map[laneOf]map[int32]int{}, apart: map[int32]bool{}, owners: map[place]owner{}, others: map[machine.MemID]*trial.Bytes{}, updates: map[machine.MemID]*trial.Bytes{}}
}

// Observe makes a placesRun a machine.Observer.
func (t *placesRun) Observe(_ *machine.Machine, ev *machine.Event) {
	if t.shared {
		return
	}
	switch ev.Kind {
	case machine.EvAccess:
		each, adds := t.t.Adds[ev.PC]
		by := t.t.Stores[ev.PC]
		for k := ev.Mask; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k)
			at := place{ev.Mem, ev.Addr[l]}
			if ev.Row {
				at.addr = ev.Addr[0] + uint64(l)*uint64(ev.Size)
			}
			switch who := (laneOf{ev.CTA, ev.Warp, l}); {
			case adds:
				t.add(ev.PC, at, ev.Size, each, who)
			case len(by) > 0:
				t.store(at, ev.Size, owner{who, by[0], t.draws(who, by)}, by)
			default:
				t.other(at, uint64(ev.Size), ev.Access&machine.Update != 0)
			}
		}
	default:
		elsewhere(ev, t.span)
	}
}

func (t *placesRun) span(s machine.Span, updates bool) {
	t.other(place{s.Mem, s.Addr}, s.Len, updates)
}

// elsewhere visits the memory that an event is about which is no access of a lane, and says what
// may write there: what an asynchronous operation reads and writes, a barrier, and whatever else
// has a range.
func elsewhere(ev *machine.Event, visit func(s machine.Span, updates bool)) {
	switch ev.Kind {
	case machine.EvAccess:
	case machine.EvIssue:
		for _, s := range ev.Op.Reads {
			visit(s, false)
		}
		for _, s := range ev.Op.Writes {
			visit(s, true)
		}
		visit(ev.Op.Map, false)
	case machine.EvMbar:
		visit(machine.Span{Mem: ev.Mbar.Bar.Mem, Addr: ev.Mbar.Bar.Addr, Len: 8}, true)
	default:
		if ev.Span.Len > 0 {
			visit(ev.Span, true)
		}
	}
}

// draws returns how many tickets a lane has drawn.
func (t *placesRun) draws(who laneOf, by []int32) (n int) {
	for _, pc := range by {
		n += t.drawn[who][pc]
	}
	return n
}

// add takes a lane's addition: each instruction has one counter in each memory, to which each
// adds the same, and nothing else comes between.
func (t *placesRun) add(pc int32, at place, size int32, each uint64, who laneOf) {
	if word, is := t.words[counterOf{pc, at.mem}]; is && word != at {
		t.shared = true
		return
	}
	t.words[counterOf{pc, at.mem}] = at
	t.apart[pc] = t.apart[pc] || at.mem != machine.SharedOf(who.cta)
	c := t.counters[at]
	if c == nil {
		c = &counter{size: size, each: each, by: pc}
		t.counters[at] = c
		b := t.updates[at.mem]
		t.shared = t.shared || b != nil && b.Within(at.addr, uint64(size))
	}
	// Two instructions may do different things with one number.
	if c.over || c.by != pc || c.each != each || c.size != size || len(t.owners) > 0 && t.owned(at, uint64(size)) {
		t.shared = true
	}
	if t.drawn[who] == nil {
		t.drawn[who] = map[int32]int{}
	}
	t.drawn[who][pc]++
}

// owned reports whether some byte belongs to a ticket.
func (t *placesRun) owned(at place, n uint64) bool {
	for k := range n {
		if _, is := t.owners[place{at.mem, at.addr + k}]; is {
			return true
		}
	}
	return false
}

// store takes a lane's store at a place that its ticket says. Where only the lanes of a CTA draw
// from a counter, in its shared memory, their places in memory of their CTA stay there; the places
// of other tickets are at that address in the memory of every CTA.
func (t *placesRun) store(at place, size int32, by owner, draws []int32) {
	for w, c := range t.counters {
		w = w.ofAny()
		t.shared = t.shared || w.mem == at.ofAny().mem && w.addr < at.addr+uint64(size) && at.addr < w.addr+uint64(c.size)
	}
	if slices.ContainsFunc(draws, func(pc int32) bool { return t.apart[pc] }) {
		at = at.ofAny()
	} else if at.ofAny() != at {
		t.shared = t.shared || t.owned(at.ofAny(), uint64(size))
		t.touch(at.ofAny(), uint64(size))
	}
	if b := t.others[at.mem]; b != nil && b.Within(at.addr, uint64(size)) || by.of == 0 || len(t.owners) > maxOwned {
		t.shared = true
		return
	}
	for k := range uint64(size) {
		b := place{at.mem, at.addr + k}
		if old, is := t.owners[b]; is && old != by {
			t.shared = true
		}
		t.owners[b] = by
	}
}

// other takes any other access. An atomic operation on a counter, which may come between draws in
// another schedule, changes what they give, though it is in no data race with them.
func (t *placesRun) other(at place, n uint64, updates bool) {
	if n == 0 {
		return
	}
	for w, c := range t.counters {
		if w.mem == at.mem && w.addr < at.addr+n && at.addr < w.addr+uint64(c.size) {
			c.over = true
			t.shared = t.shared || updates
		}
	}
	if updates {
		if t.updates[at.mem] == nil {
			t.updates[at.mem] = &trial.Bytes{}
		}
		t.updates[at.mem].Add(at.addr, n)
	}
	for _, at := range []place{at, at.ofAny()} {
		t.touch(at, n)
		if len(t.owners) > 0 && (n > maxOwned || t.owned(at, n)) {
			t.shared = true
		}
	}
}

// touch remembers that something other than the holder of a ticket comes to some bytes.
func (t *placesRun) touch(at place, n uint64) {
	b := t.others[at.mem]
	if b == nil {
		b = &trial.Bytes{}
		t.others[at.mem] = b
	}
	b.Add(at.addr, n)
	if t.touched += int(min(n, maxTouched)); t.touched > maxTouched {
		t.shared = true
	}
}
