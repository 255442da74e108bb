package lanes

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var walks = flag.Int("brute.laneswalks", 300, "how many programs' races are held to happens-before")

// A clock says of each thread how many of its steps are known.
type clock [MaxWarps * MaxLanes]int

func (c *clock) join(d *clock) {
	for i := range c {
		c[i] = max(c[i], d[i])
	}
}

// A walker takes one interleaving, and finds its races by happens-before: what an
// acquire learns from the release that it reads, or from any in the chain of
// read-modify-writes before that (ISA 8.8, 8.9.1). It is another way to find races than
// Explore's, and holds that to it.
type walker struct {
	*runner
	knows    [MaxWarps * MaxLanes]clock
	released map[int]clock // of words
	arrived  map[int]clock // of mbarriers' open phases, and named barriers' generations
	complete map[int]clock // of the phases that are
	last     map[int][]walked
	told     bool // votes and shfl tell of other warps
	raced    bool
}

type walked struct {
	thread, at     int
	writes, strong bool
	store          bool
	value          uint8
}

// took is told of a step before it is taken.
func (w *walker) took(s *state, t int, c *code) {
	w.knows[t][t]++
	if c.word < 0 {
		w.barrier(s, t, c)
		return
	}
	at := w.word(s, t, c)
	a := walked{t, w.knows[t][t], c.writes, c.strong, c.Kind == Store, w.stores(s, t, c)}
	for _, b := range w.last[at] {
		if b.thread == t || !a.writes && !b.writes || a.strong && b.strong || w.knows[t][b.thread] >= b.at || a.store && b.store && a.value == b.value {
			continue
		}
		w.raced = true
	}
	w.last[at] = append(w.last[at], a)
	if !c.strong {
		delete(w.released, at) // a chain ends
		return
	}
	was := w.released[at]
	if c.Kind != StoreStrong && c.Kind != Red {
		w.knows[t].join(&was)
	}
	if c.writes {
		now := w.knows[t]
		if c.Kind != StoreStrong {
			now.join(&was)
		}
		w.released[at] = now
	}
}

func (w *walker) barrier(s *state, t int, c *code) {
	switch c.Kind {
	case Arrive:
		all := w.arrived[c.bar]
		all.join(&w.knows[t])
		w.arrived[c.bar] = all
		if s[c.bar+1] == 1 {
			w.complete[c.bar] = all
			delete(w.arrived, c.bar)
		}
	case Wait:
		all := w.complete[c.bar]
		w.knows[t].join(&all)
	case Sync, BarArrive:
		all := w.arrived[c.bar]
		for i := range w.p.Lanes {
			all.join(&w.knows[t+i])
		}
		w.arrived[c.bar] = all
	}
}

// meets joins the knowledge of lanes that went on from a join: a step of another
// thread, or a join, moved their program counters.
func (w *walker) meets(before, after *state, t int, c *code) {
	if c.Kind == Sync || c.Kind == BarArrive {
		all := w.arrived[c.bar]
		for u := range w.threads {
			if x := w.at(before, u); x != nil && x.bar == c.bar && x.Kind == Sync && after[u] != before[u] {
				w.knows[u].join(&all)
			}
		}
		if after[c.bar] == 0 {
			delete(w.arrived, c.bar)
		}
	}
}

// joined has the lanes of a warp know of each other that pass a bar.warp.sync between
// two states.
func (w *walker) joined(before, after *state) {
	for first := 0; first < len(w.threads); first += w.p.Lanes {
		for pc, c := range w.threads[first].code {
			tells := w.told && c.tells()
			if c.Kind != WarpSync && c.Kind != BarArrive && !tells {
				continue
			}
			if !w.behind(before, after, first, c.Only, pc) {
				continue
			}
			var all clock
			for i := range w.p.Lanes {
				if c.Only>>i&1 != 0 {
					all.join(&w.knows[first+i])
				}
			}
			for i := range w.p.Lanes {
				if c.Only>>i&1 == 0 {
					continue
				}
				own := w.knows[first+i]
				w.knows[first+i] = all
				if tells {
					copy(w.knows[first+i][first:first+w.p.Lanes], own[first:])
				}
			}
		}
	}
}

// behind reports whether the last of some lanes comes past a program counter between
// two states.
func (w *walker) behind(before, after *state, first int, only uint8, pc int) bool {
	least := func(s *state) int {
		n := 256
		for i := range w.p.Lanes {
			if only>>i&1 != 0 {
				n = min(n, int(s[first+i]))
			}
		}
		return n
	}
	return least(before) <= pc && least(after) > pc
}

// walk takes interleavings at random and reports whether one races.
func walk(p *Program, r *rand.Rand, times int, told bool) bool {
	for range times {
		x := newRunner(p)
		s, ok := x.start()
		w := &walker{runner: x, released: map[int]clock{}, arrived: map[int]clock{}, complete: map[int]clock{}, last: map[int][]walked{}, told: told}
		for ok {
			var can []int
			for t := range x.threads {
				if x.enabled(&s, t) {
					can = append(can, t)
				}
			}
			if len(can) == 0 {
				break
			}
			t := can[r.IntN(len(can))]
			c := x.at(&s, t)
			before := s
			w.took(&before, t, c)
			ok = x.step(&s, t)
			w.meets(&before, &s, t, c)
			w.joined(&before, &s)
		}
		if w.raced {
			return true
		}
	}
	return false
}

// TestRaces compares the races that Explore finds with those of happens-before, in
// random interleavings. Explore finds all races of a walk, except in programs whose
// arrivals meet different phases; and walks find most races of Explore.
func TestRaces(t *testing.T) {
	both, explored := 0, 0
	for n := range uint64(*walks) {
		p := Generate(rand.New(rand.NewPCG(7, n)))
		res := Explore(p, 20_000)
		if !res.Complete || res.Phases || p.Asynchronous() || p.Tells() {
			continue
		}
		walked := walk(p, rand.New(rand.NewPCG(8, n)), 50, false)
		switch {
		case walked && !res.Race:
			t.Errorf("a walk of program %d races, and no two accesses are ever next to each other\n%v", n, p)
		case walked:
			both++
			explored++
		case res.Race:
			explored++
			if testing.Verbose() {
				t.Logf("walks miss the race of program %d\n%v", n, p)
			}
		}
	}
	t.Logf("%d programs race, walks find %d of them", explored, both)
	if both < explored*4/5 || explored < *walks/10 {
		t.Errorf("walks find the races of %d programs, Explore those of %d", both, explored)
	}
}
