package explore

import "muster/internal/machine"

// Targeted delays. For every warp the seed picks some of the instructions at which it
// may stand, and some asynchronous operations; those are held back until nothing else
// can move. So arrivals, copies and tests come late. Everything else moves in turns
// or, if the seed says so, one thread goes on for as long as it can.
//
// A place is held back, not one visit to it: an arrival that is late in every
// iteration of a loop lets another warp lap it. On the planted bugs this found more
// than steps picked one by one, or than milestones and signals alone.

// One place in oneIn is held back. From 2 to 16 the planted bugs are all found; each
// of them most evenly at 3 and 4.
const oneIn = 4

// fewFails is how often threads fail tests, with nothing else to do, before one that is
// held back moves.
const fewFails = 4

// A delay is the state of one run under Delay.
type delay struct {
	threads
	fair   bool
	step   int64
	at     *thread // the thread that moved last,
	row    int     // so many times in a row
	since  int     // steps since nothing else could move
	splits []machine.Lanes
}

func newDelay(s Schedule) *delay {
	return &delay{threads: newThreads(s.Seed), fair: ofRun.draw(s.Seed, 0)&1 == 0}
}

// pick returns the index of the choice to take: of the thread that has not moved for
// longest.
func (d *delay) pick(m *machine.Machine, ways []machine.Choice) int {
	var free, held option
	idle := true // all that can move freely fail a test once more
	for i, c := range ways {
		t := d.of(m, c)
		switch {
		case d.holds(m, t):
			held.or(i, t, t.last)
			continue
		case t == d.at && !d.fair && d.row < quantum:
			free.or(i, t, -1<<63)
		default:
			free.or(i, t, t.last)
		}
		idle = idle && c.Kind == machine.GiveUp
	}
	if d.since++; free.who == nil || held.who != nil && (d.since > quantum || idle && d.since > fewFails) {
		// The threads that can move may only be polling for what is held back.
		free, d.since = held, 0
	}
	if d.row++; free.who != d.at {
		d.row = 0
	}
	d.step++
	d.at, free.who.last = free.who, d.step
	return free.place
}

// holds reports whether a thread is held back where it stands.
func (d *delay) holds(m *machine.Machine, t *thread) bool {
	if t.kind != machine.Run {
		return t.held
	}
	d.splits = m.Splits(t.cta, t.warp, d.splits[:0])
	for _, s := range d.splits {
		if s.Mask>>uint(t.lane)&1 != 0 {
			return t.draw(d.seed, 2+uint64(s.PC))%oneIn == 0
		}
	}
	return false
}

// An option is the choice with the lowest turn so far.
type option struct {
	place int
	who   *thread
	turn  int64
}

func (o *option) or(place int, who *thread, turn int64) {
	if o.who == nil || turn < o.turn {
		*o = option{place, who, turn}
	}
}
