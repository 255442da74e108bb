package loops

import (
	"fmt"
	"slices"
	"sort"

	"muster/internal/machine"
)

// A Core is the part of a run that repeats, in ticks: what lies before From, or from
// To on, happens once.
type Core struct {
	From, To int32
	// Period is the length of a period in ticks. Reach is the largest distance
	// between steps whose order matters: members of neighbouring phases of a barrier
	// and the waits for them, and accesses to the same bytes from one write to the
	// next.
	Period, Reach int32
	// Events counts the events of the run, Each those of a period; Phases gives the
	// phases of each barrier in the run, and in a period.
	Events, Each int
	Phases       map[machine.BarRef][2]int64
	// Offsets are added to the ticks of each warp.
	Offsets []int32
	// Why says what keeps the core from being longer.
	Why Refusal
}

// Long reports whether the core is long enough to stand for longer ones: in a longer
// run, beside all steps whose order matters lies a whole period that can be left out.
func (c *Core) Long() bool { return c.To-c.From >= c.Need() }

// Need returns the least length of a core, in ticks.
func (c *Core) Need() int32 { return c.Period + c.Reach }

// Holds reports whether the end of a lane's last period, so many turns into its loop,
// lies in the core.
func (c *Core) Holds(lane int, turns, period int32) bool {
	t := turns*c.Period/period + c.Offsets[lane/32]
	return t >= c.From && t <= c.To
}

// A checker checks a run against its period.
type checker struct {
	*Recorder
	period func(lane int32) int32
	ticks  int32
	offset []int32   // of each warp's ticks
	at     [][]int32 // tick of each step, by warp
	core   Core
	by     []int64 // phases that each barrier completes in a period
}

// Check finds the part of a run that repeats. period returns the number of turns in a
// lane's period, 0 for a lane that does not loop; ticks is the number of ticks in
// every lane's period.
func (r *Recorder) Check(period func(lane int32) int32, ticks int32) (*Core, *Refusal) {
	c := &checker{Recorder: r, period: period, ticks: ticks, offset: make([]int32, len(r.steps))}
	c.core.Period, c.core.Events = ticks, len(r.events)
	for round := 0; c.number() && round < len(r.steps)+2; round++ {
	}
	c.bounds()
	c.forward()
	c.alike()
	if no := c.phases(); no != nil {
		return nil, no
	}
	c.reach()
	c.rewrites()
	c.core.Offsets = c.offset
	return &c.core, nil
}

// tick returns the tick of an event of a lane that loops; -1 for other lanes.
func (c *checker) tick(e *event) int32 {
	if p := c.period(e.lane); p > 0 {
		return e.turn*c.ticks/p + c.offset[e.warp]
	}
	return -1
}

// number gives every event its tick. An event of lanes that do not loop, or not yet,
// gets the tick of what it waits for. A warp that comes after later turns of another
// is shifted: number then reports that all must be numbered again.
func (c *checker) number() (moved bool) {
	c.at = make([][]int32, len(c.steps))
	carry := map[int32]int32{}
	for i := range c.events {
		e := &c.events[i]
		first := e.warp * 32
		latest := int32(-1)
		for _, p := range e.after {
			latest = max(latest, c.when(p))
		}
		if e.turn >= 0 {
			if e.tick = c.tick(e); latest > e.tick && e.turn < c.last(e.lane) && latest < c.end(e.warp) {
				c.offset[e.warp] += latest - e.tick
				e.tick = latest
				moved = true
			}
		} else {
			e.tick = latest
			for l := range int32(32) {
				if t, ok := carry[first+l]; ok && e.mask>>l&1 != 0 {
					e.tick = max(e.tick, t)
				}
			}
		}
		for l := range int32(32) {
			if e.mask>>l&1 != 0 {
				carry[first+l] = e.tick
			}
		}
		for len(c.at[e.warp]) < int(e.steps[1]) {
			c.at[e.warp] = append(c.at[e.warp], e.tick)
		}
	}
	return moved
}

// when returns the tick of a step.
func (c *checker) when(p place) int32 {
	if n := len(c.at[p.warp]); int(p.step) > n || p.step == 0 {
		return -1
	}
	return c.at[p.warp][p.step-1]
}

// last returns how many turns a lane made.
func (c *checker) last(lane int32) int32 { return c.follower.Turn(int(lane)) }

// end bounds the shift of a warp by its last turn: past that, no turns meet.
func (c *checker) end(warp int32) int32 {
	least := int32(1 << 30)
	for l := warp * 32; l < warp*32+32; l++ {
		if p := c.period(l); p > 0 {
			least = min(least, c.last(l)*c.ticks/p)
		}
	}
	return least
}

// bounds sets the core to the ticks in which every warp is inside its loop: from the
// latest first turn to the earliest end.
func (c *checker) bounds() {
	c.core.From, c.core.To = 0, 1<<30
	for i := range c.events {
		e := &c.events[i]
		if p := c.period(e.lane); e.turn >= 0 && p > 0 {
			c.core.From = max(c.core.From, c.offset[e.warp])
			c.core.To = min(c.core.To, c.last(e.lane)*c.ticks/p+c.offset[e.warp])
		}
	}
	for i := range c.events {
		if e := &c.events[i]; e.turn < 0 && e.tick >= 0 {
			c.exclude(e.tick, e.tick, e.pc, "what is done here, outside the loop, comes between turns of it")
		}
	}
}

// exclude removes one of ticks a and b, which differ, from the core: the one that
// costs less.
func (c *checker) exclude(a, b, pc int32, text string) {
	if a < c.core.From || b >= c.core.To {
		return
	}
	c.core.Why = Refusal{pc, text}
	if a+1-c.core.From <= c.core.To-b {
		c.core.From = a + 1
	} else {
		c.core.To = b
	}
}

// avoid removes from the core an event at tick lo that comes after tick hi.
func (c *checker) avoid(lo, hi, pc int32) {
	if hi < c.core.From || lo >= c.core.To {
		return
	}
	c.core.Why = Refusal{pc, "what is done here comes after a later turn of another warp's loop"}
	if hi+1-c.core.From <= c.core.To-lo {
		c.core.From = hi + 1
	} else {
		c.core.To = lo
	}
}

// forward removes from the core every event that comes after a later turn.
func (c *checker) forward() {
	for i := range c.events {
		e := &c.events[i]
		for _, p := range e.after {
			if t := c.when(p); t > e.tick {
				c.avoid(e.tick, t, e.pc)
			}
		}
	}
}

// alike removes from the core every turn that does not do what the turn a period
// before did.
func (c *checker) alike() {
	for _, s := range c.streams() {
		p := c.period(s.lane)
		if p == 0 {
			continue
		}
		for i := int32(0); i+p < int32(len(s.turns)); i++ {
			a, b := i*c.ticks/p+c.offset[s.lane/32], (i+p)*c.ticks/p+c.offset[s.lane/32]
			if a < c.core.From || b >= c.core.To {
				continue
			}
			if e := c.differ(s, int(i), int(i+p)); e >= 0 {
				c.exclude(a, b, c.events[e].pc, fmt.Sprintf("turn %d of the loop does not do what turn %d does", i+p, i))
			}
		}
	}
}

// phases checks that the phases of each barrier advance by the same number each
// period.
func (c *checker) phases() *Refusal {
	c.core.Phases = map[machine.BarRef][2]int64{}
	by := make([]int64, len(c.names))
	known, member := make([]bool, len(c.names)), make([]int32, len(c.names))
	for i := range member {
		member[i] = -1
	}
	for _, s := range c.streams() {
		p := c.period(s.lane)
		for i := int32(0); p > 0 && i+p < int32(len(s.turns)); i++ {
			a, b := i*c.ticks/p+c.offset[s.lane/32], (i+p)*c.ticks/p+c.offset[s.lane/32]
			if a < c.core.From || b >= c.core.To {
				continue
			}
			for n, k := range s.turns[i] {
				e, f := &c.events[k], &c.events[s.turns[i+p][n]]
				switch e.kind {
				case machine.EvRegisters:
					return refuse(e.pc, "setmaxnreg in the loop")
				case machine.EvTensorAsk, machine.EvTensorRelinquish, machine.EvTensorAlloc, machine.EvTensorFree:
					return refuse(e.pc, "columns of tensor memory are allocated or freed in the loop")
				}
				x, y := sorted(e.charge), sorted(f.charge)
				if len(x) != len(y) {
					return refuse(e.pc, "an operation is charged to phases in one period, and not in the next")
				}
				for m := range x {
					q := y[m].phase - x[m].phase
					bar := x[m].bar
					if known[bar] && by[bar] != q || x[m].bar != y[m].bar {
						return refuse(e.pc, "phases of %s do not go on by the same number each period", c.barName(bar))
					}
					by[bar], known[bar] = q, true
					if !x[m].wait {
						member[bar] = e.pc
					}
				}
			}
		}
	}
	for i, q := range by {
		if member[i] >= 0 && q <= 0 {
			return refuse(member[i], "%s completes no phase in a period, and what is charged to it adds up", c.barName(int32(i)))
		}
		c.core.Phases[c.names[i]] = [2]int64{0, q}
	}
	c.by = by
	return nil
}

func sorted(list []charge) []charge {
	out := append([]charge(nil), list...)
	sort.Slice(out, func(i, j int) bool {
		if out[i].bar != out[j].bar {
			return out[i].bar < out[j].bar
		}
		return out[i].phase < out[j].phase
	})
	return out
}

// An extent is the range of ticks of a phase's members, and of the waits for it.
type extent struct {
	known  [2]bool
	lo, hi [2]int32 // members, waits
}

// reach measures how far apart the steps of neighbouring phases lie.
func (c *checker) reach() {
	type id struct {
		bar int32
		n   int64
	}
	phases := map[id]*extent{}
	active := map[int32]bool{} // barriers that something is charged to in the core
	for i := range c.events {
		e := &c.events[i]
		c.counts(e)
		t := max(c.core.From-1, min(c.core.To, e.tick))
		for _, ch := range e.charge {
			x := phases[id{ch.bar, ch.phase}]
			if x == nil {
				x = &extent{}
				phases[id{ch.bar, ch.phase}] = x
			}
			k := 0
			if ch.wait {
				k = 1
			} else if t >= c.core.From && t < c.core.To {
				active[ch.bar] = true
			}
			if !x.known[k] {
				x.known[k], x.lo[k], x.hi[k] = true, t, t
			}
			x.lo[k], x.hi[k] = min(x.lo[k], t), max(x.hi[k], t)
		}
	}
	far := func(a *extent, ka int, b *extent, kb int, later int32) {
		if a != nil && b != nil && a.known[ka] && b.known[kb] {
			c.core.Reach = max(c.core.Reach, b.hi[kb]+later-a.lo[ka])
		}
	}
	for k, x := range phases {
		if !active[k.bar] {
			continue
		}
		far(x, 0, x, 0, 0)
		far(x, 0, x, 1, 0)
		// The next phase, which may be one of the period after.
		next, like := phases[id{k.bar, k.n + 1}], phases[id{k.bar, k.n + 1 - c.by[k.bar]}]
		for i, y := range []*extent{next, like} {
			later := int32(i) * c.ticks
			far(x, 0, y, 0, later)
			far(x, 0, y, 1, later)
			far(x, 1, y, 0, later)
		}
	}
}

// counts counts an event, and the phases that it is charged to.
func (c *checker) counts(e *event) {
	if e.turn >= 0 && e.tick >= c.core.From && e.tick < c.core.From+c.ticks {
		c.core.Each++
	}
	for _, ch := range e.charge {
		n := c.core.Phases[c.names[ch.bar]]
		n[0] = max(n[0], ch.phase+1)
		c.core.Phases[c.names[ch.bar]] = n
	}
}

// rewrites measures how far apart successive writes to the same bytes of shared
// memory lie, from period to period, too.
func (c *checker) rewrites() {
	for _, list := range c.writes {
		var at []int32 // ticks in the period
		for _, i := range list {
			if t := c.events[i].tick; t >= c.core.From && t < c.core.To {
				at = append(at, t%c.ticks)
			}
		}
		if len(at) == 0 {
			continue
		}
		slices.Sort(at)
		for i, t := range at {
			if i == 0 {
				c.core.Reach = max(c.core.Reach, t+c.ticks-at[len(at)-1])
			} else {
				c.core.Reach = max(c.core.Reach, t-at[i-1])
			}
		}
	}
}
