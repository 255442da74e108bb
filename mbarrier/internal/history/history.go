// Package history records what goroutines do at traced barriers, in one order: the steps of a test. It knows
// words' counts and phases as numbers, and nothing of what they mean.
package history

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// What a log keeps. A test may run for ever, so older steps give way; what is refused is counted.
const (
	MaxEvents     = 20_000
	MaxGoroutines = 20_000
	MaxBarriers   = 20_000
	maxSites      = 20_000
	maxArrivals   = 100_000
	maxName       = 400 // bytes of a name
)

// A Kind says what happened in a step.
type Kind uint8

const (
	Made    Kind = iota // the barrier was made
	Changed             // arrivals, drops, bytes
	Dropped             // drops that were put off until this phase
	Leaving             // a drop that is put off until its phase
	Waits               // a wait begins
	Passed              // a wait that had nothing to wait for
	Resumed             // a wait ends
	GaveUp              // a wait ends without its phase
	Polled              // a test, with its answer
	Refused             // an operation that panics
	Broke               // a completion function did not return
)

// A Site is the call stack of a call: the innermost return addresses.
type Site [12]uintptr

// A State is a barrier after a step.
type State struct {
	Phase             int64
	Pending, Expected int
	Tx                int
}

// An Event is one step. Barrier, Goroutine and Site count from 0; -1 is one more than were kept.
type Event struct {
	Step      int
	Kind      Kind
	Barrier   int
	Goroutine int
	Site      int
	Phase     int64 // in which it took effect, or that it waits for; -1 is the one before the first
	Count     int   // arrivals
	Drop      int   // of them, for good
	Bytes     int   // expected (+) or landed (-)
	Completed bool  // its phase, or the answer of a poll
	Begin     int   // Resumed, GaveUp: the step in which the wait began
	Times     int   // Polled: so often, one after the other
	Text      string
	After     State

	By string // the goroutine's number, if the caller has asked for it already
}

// A Barrier is what the log keeps of a barrier.
type Barrier struct {
	Name  string
	Owner any // the barrier, weakly
	Ring  int // the pipeline that it belongs to, -1 if none
	Slot  int // its stage there
	Empty bool
	State State
	Made  Event
}

// A Place is a line of source code.
type Place struct {
	Function, File string
	Line           int
}

// A Goroutine is what the log keeps of a goroutine.
type Goroutine struct {
	ID      string // the runtime's number
	Label   string
	Root    string // the outermost function that is not the runtime's or testing's
	File    string
	Line    int
	Begins  bool  // Line is the function's first; not so if the function was inlined
	Started Place // its go statement, if a function of the program has it
	Steps   int   // in how many steps it was
	Wait    Event // that has not ended; its Step is 0 if there is none
}

// A Log is the history of one bubble of package testing/synctest.
type Log struct {
	// Refuse, if it is set, is told of operations that panic, and may add words to the panic.
	Refuse func(text string) string
	Bubble string // by its number

	mu         sync.Mutex
	steps      int
	events     []Event // a ring, once it is full
	barriers   []Barrier
	goroutines []Goroutine
	numbers    map[string]int
	sites      []Site
	known      map[Site]int
	arrivals   map[[2]int]Event // the last of each goroutine at each barrier, whatever else is forgotten
	rings      int
	lost       [2]int // barriers and goroutines that were not kept
	closed     bool
}

var (
	open   atomic.Int32
	logsMu sync.Mutex
	logs   = map[string]*Log{}
)

// Open makes a log for barriers that are made from now on in the caller's bubble. The caller, whose name is
// given, is its first goroutine.
func Open(l *Log, name string) {
	l.numbers, l.known, l.arrivals = map[string]int{}, map[Site]int{}, map[[2]int]Event{}
	l.Bubble = Self().Bubble
	logsMu.Lock()
	defer logsMu.Unlock()
	if logs[l.Bubble] == nil {
		open.Add(1)
	}
	logs[l.Bubble] = l
	l.Name(name)
}

// Close ends a log: nothing is recorded any more.
func Close(l *Log) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	logsMu.Lock()
	defer logsMu.Unlock()
	for bubble, o := range logs {
		if o == l {
			delete(logs, bubble)
			open.Add(-1)
		}
	}
}

// Mine returns the log of the caller's bubble, nil if it has none.
func Mine() *Log {
	if open.Load() == 0 {
		return nil
	}
	bubble := Self().Bubble
	logsMu.Lock()
	defer logsMu.Unlock()
	return logs[bubble]
}

// Make records a new barrier and returns its number.
func (l *Log) Make(name string, owner any, s State, at Site) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.barriers) == MaxBarriers || l.closed {
		l.lost[0]++
		return -1
	}
	b := len(l.barriers)
	l.barriers = append(l.barriers, Barrier{Name: Cut(name, maxName), Owner: owner, Ring: -1})
	l.add(Event{Kind: Made, Barrier: b, After: s}, at)
	l.barriers[b].Made = l.last()
	return b
}

// Ring records which barriers are a pipeline's: full and empty of each stage in turn.
func (l *Log) Ring(barriers []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, b := range barriers {
		if b >= 0 {
			l.barriers[b].Ring, l.barriers[b].Slot, l.barriers[b].Empty = l.rings, i/2, i%2 == 1
		}
	}
	l.rings++
}

// Add records a step of the calling goroutine and returns its number. The numbers begin with 1.
func (l *Log) Add(e Event, at Site) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Barrier < 0 || l.closed {
		return 0
	}
	return l.add(e, at)
}

func (l *Log) add(e Event, at Site) int {
	e.Goroutine, e.Site, e.By = l.goroutine(e.By), l.site(at), ""
	if e.changes() {
		l.barriers[e.Barrier].State = e.After
	} else {
		e.After = l.barriers[e.Barrier].State
	}
	if e.Kind == Polled {
		e.Times = 1
		if p := l.last(); l.steps > 0 && p.same(e) {
			l.events[(l.steps-1)%MaxEvents].Times++
			return l.steps
		}
	}
	l.steps++
	e.Step = l.steps
	if e.Goroutine >= 0 {
		l.goroutines[e.Goroutine].did(e)
		l.arrives(e)
	}
	if len(l.events) < MaxEvents {
		l.events = append(l.events, e)
	} else {
		l.events[(l.steps-1)%MaxEvents] = e
	}
	return e.Step
}

func (g *Goroutine) did(e Event) {
	g.Steps++
	switch e.Kind {
	case Waits:
		g.Wait = e
	case Resumed, GaveUp:
		g.Wait = Event{}
	}
}

func (l *Log) arrives(e Event) {
	if e.Count == 0 && e.Bytes >= 0 && e.Kind != Leaving {
		return
	}
	k := [2]int{e.Barrier, e.Goroutine}
	if _, ok := l.arrivals[k]; ok || len(l.arrivals) < maxArrivals {
		l.arrivals[k] = e
	}
}

func (l *Log) last() Event {
	if l.steps == 0 {
		return Event{}
	}
	return l.events[(l.steps-1)%MaxEvents]
}

func (e Event) changes() bool {
	return e.Kind == Made || e.Kind == Changed || e.Kind == Dropped
}

func (e Event) same(o Event) bool {
	return e.Kind == o.Kind && e.Barrier == o.Barrier && e.Goroutine == o.Goroutine && e.Site == o.Site && e.Phase == o.Phase && e.Completed == o.Completed
}

func (l *Log) site(at Site) int {
	i, ok := l.known[at]
	if !ok {
		if len(l.sites) == maxSites {
			return -1
		}
		i = len(l.sites)
		l.sites, l.known[at] = append(l.sites, at), i
	}
	return i
}

// goroutine numbers the calling goroutine, whose number of the runtime may be given.
func (l *Log) goroutine(id string) int {
	self := Head{ID: id}
	if id == "" {
		self = Self()
	}
	i, ok := l.numbers[self.ID]
	if !ok {
		if len(l.goroutines) == MaxGoroutines {
			l.lost[1]++
			return -1
		}
		i = len(l.goroutines)
		l.goroutines, l.numbers[self.ID] = append(l.goroutines, Born(Self())), i
	}
	return i
}

// Name names the calling goroutine.
func (l *Log) Name(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.goroutine(""); i >= 0 && !l.closed {
		l.goroutines[i].Label = Cut(name, maxName)
	}
}

// A Record is a copy of a log.
type Record struct {
	Events           []Event // the oldest first
	Arrivals         []Event // before these: each goroutine's last at each barrier
	Steps            int
	Barriers         []Barrier
	Goroutines       []Goroutine
	Sites            []Site
	LostBarriers     int
	LostByGoroutines int // steps
}

// Record copies the log.
func (l *Log) Record() Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := Record{Steps: l.steps, LostBarriers: l.lost[0], LostByGoroutines: l.lost[1]}
	if l.steps > MaxEvents {
		r.Events = append(r.Events, l.events[l.steps%MaxEvents:]...)
		r.Events = append(r.Events, l.events[:l.steps%MaxEvents]...)
	} else {
		r.Events = append(r.Events, l.events...)
	}
	if forgotten := l.steps - len(r.Events); forgotten > 0 {
		for _, e := range l.arrivals {
			if e.Step <= forgotten {
				r.Arrivals = append(r.Arrivals, e)
			}
		}
		slices.SortFunc(r.Arrivals, func(a, b Event) int { return a.Step - b.Step })
	}
	r.Barriers = append(r.Barriers, l.barriers...)
	r.Goroutines = append(r.Goroutines, l.goroutines...)
	r.Sites = append(r.Sites, l.sites...)
	return r
}

// Cut shortens a text to at most so many bytes.
func Cut(s string, most int) string {
	if len(s) > most {
		s = strings.Clone(s[:most]) // not the whole
		s += "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
