package explore

import "muster/internal/machine"

// Targeted delays. The seed picks, for every warp, some of the instructions that
// it stands before, and some asynchronous operations; those are held back until
// nothing else can move. That makes late arrivals, late landings and whoever is
// late to look. Everything else goes by turns, or, as the seed has it, whoever
// moves goes on for as long as it can.
//
// What is held back is a place, not one coming to it: an arrival that is late in
// every turn of a loop is what lets another warp lap it. On the planted bugs that
// found more than steps picked one by one, or than milestones and signals alone.

// oneIn is of how many places one is held back. From 2 to 16 the planted bugs
// are all found; each of them most evenly at 3 and 4.
const oneIn = 4

// A delay is what one run under Delay keeps.
type delay struct {
	threads
	seed   uint64
	fair   bool
	step   int64
	last   map[thread]int64 // the step that it took last
	at     thread           // who moved last,
	row    int              // so many times in a row
	since  int              // steps since nothing else could move
	splits []machine.Lanes
}

func newDelay(s Schedule) *delay {
	return &delay{threads: newThreads(), seed: s.Seed, fair: luck.draw(s.Seed, 0)&1 == 0, last: map[thread]int64{}}
}

// pick returns the place of the choice to take.
func (d *delay) pick(m *machine.Machine, ways []machine.Choice) int {
	free, held := none, none
	for i, c := range ways {
		t := d.of(m, c)
		o := option{place: i, who: t, turn: d.turn(t)}
		switch {
		case d.holds(m, t, c):
			held = held.or(o)
		case t == d.at && !d.fair && d.row < quantum:
			o.turn = -1 << 63
			fallthrough
		default:
			free = free.or(o)
		}
	}
	best := free
	if d.since++; free == none || held != none && d.since > quantum {
		// Whoever can move may do no more than poll for what is held back.
		best, d.since = held, 0
	}
	if d.row++; best.who != d.at {
		d.row = 0
	}
	d.step++
	d.at, d.last[best.who] = best.who, d.step
	return best.place
}

// turn tells who comes first, the lowest: who has not moved for longest.
func (d *delay) turn(t thread) int64 {
	if last, moved := d.last[t]; moved {
		return last
	}
	return -1 - int64(t.draw(d.seed, 0)>>2)
}

// holds reports whether a thread is held back where it stands.
func (d *delay) holds(m *machine.Machine, t thread, c machine.Choice) bool {
	at := int32(0)
	if t.kind == machine.Run {
		d.splits = m.Splits(c.CTA, c.Warp, d.splits[:0])
		for _, s := range d.splits {
			if s.Mask>>uint(c.Lane)&1 != 0 {
				at = 1 + s.PC
			}
		}
	}
	return t.draw(d.seed, 1+uint64(at))%oneIn == 0
}

// An option is a choice that could be taken.
type option struct {
	place int
	who   thread
	turn  int64
}

var none = option{place: -1}

func (o option) or(p option) option {
	if o == none || p.turn < o.turn {
		return p
	}
	return o
}
