package lanes

import "math/bits"

func (g *generator) mbarrier(m *message) {
	if len(g.p.Counts) == MaxBars {
		return
	}
	g.produce(m)
	n := m.count()
	if !g.right() {
		n = max(1, n+g.r.IntN(3)-1)
	}
	bar := uint8(len(g.p.Counts))
	g.p.Counts = append(g.p.Counts, uint8(n))
	for _, w := range m.from {
		g.add(w, Op{Kind: Arrive, Bar: bar, Only: m.senders})
	}
	for _, w := range m.to {
		g.add(w, Op{Kind: Wait, Bar: bar, Only: m.only})
	}
	g.meet(m)
	g.consume(m)
}

// rounds has lanes meet at an mbarrier twice.
func (g *generator) rounds(m *message) {
	if len(g.p.Counts) == MaxBars {
		return
	}
	bar := uint8(len(g.p.Counts))
	m.senders = g.p.all()
	n := m.count()
	if !g.right() {
		n--
	}
	g.p.Counts = append(g.p.Counts, uint8(n))
	g.produce(m)
	for round := range uint8(2) {
		for _, w := range m.from {
			g.add(w, Op{Kind: Arrive, Bar: bar})
			g.add(w, Op{Kind: Wait, Bar: bar, N: round})
		}
		if round == 0 && m.hands {
			from := m.from[g.r.IntN(len(m.from))]
			for _, w := range m.from {
				g.add(w, Op{Kind: Load, Area: uint8(g.data), At: At(2 + g.r.IntN(2)), Index: uint8(MaxLanes * from), Reg: 1})
			}
		}
	}
	if m.hands {
		for _, w := range m.from {
			g.add(w, Op{Kind: Store, Area: uint8(g.data), At: Mine, Value: ByLane, N: 5})
		}
	}
}

// bar adds an mbarrier, and returns its number.
func (g *generator) bar(n int) uint8 {
	g.p.Counts = append(g.p.Counts, uint8(max(1, n)))
	return uint8(len(g.p.Counts) - 1)
}

// A signal completes a phase of an mbarrier: by arrivals of lanes, by copies, or both.
type signal struct {
	who  uint8 // the lanes that arrive, of each warp that sends
	how  int   // a number below signals
	area uint8 // where copies go
	keep bool  // the lane keeps the token
}

const signals = 9

// arrivals returns how many arrivals a lane's signal makes.
func (s signal) arrivals() int {
	switch s.how {
	case 1, 6:
		return 2
	}
	return 1
}

// copies reports whether a signal copies, in bulk or not.
func (s signal) copies() (bulk, async bool) {
	return 2 <= s.how && s.how <= 4, s.how == 5 || s.how == 6
}

// send has a warp give a signal.
func (g *generator) send(w int, bar uint8, s signal) {
	lanes := bits.OnesCount8(s.who)
	all := uint8(g.p.Lanes)
	add := func(k Kind, n uint8, only uint8, keep bool) {
		g.add(w, Op{Kind: k, Bar: bar, N: n, Only: only, Area: s.area, Keep: keep && s.keep})
	}
	meet := func() {
		if g.right() {
			g.add(w, Op{Kind: WarpSync})
		}
	}
	switch s.how {
	case 0:
		add(Arrive, 0, s.who, true)
	case 1: // two arrivals; the .noComplete one must not complete the phase
		add(NoComplete, 0, s.who, g.r.IntN(2) == 0)
		if lanes > 1 {
			meet()
		}
		add(Arrive, 0, s.who, true)
	case 2: // each for itself
		add(ArriveTx, 1, s.who, true)
		add(Bulk, 0, s.who, false)
	case 3: // one expects what all copy
		if n := all / uint8(lanes); g.right() && n*uint8(lanes) == all {
			add(ArriveTx, n, s.who, true)
		} else {
			add(ArriveTx, 1, s.who, true)
		}
		if g.r.IntN(2) == 0 {
			meet()
		}
		add(Bulk, 0, g.p.all(), false)
	case 4: // each expects its own, and some arrive
		add(Expect, 1, g.p.all(), false)
		if g.r.IntN(2) == 0 {
			add(Bulk, 0, g.p.all(), false)
			meet()
			add(Arrive, 0, s.who, true)
		} else {
			meet()
			add(Arrive, 0, s.who, true)
			add(Bulk, 0, g.p.all(), false)
		}
	case 5:
		g.add(w, Op{Kind: CopyAsync, Area: s.area, At: Mine, Only: s.who})
		add(ArriveAsync, 1, s.who, false)
	case 6:
		g.add(w, Op{Kind: CopyAsync, Area: s.area, At: Mine, Only: s.who})
		add(ArriveAsync, 0, s.who, false)
		add(Arrive, 2, s.who, true)
	case 7: // the arrivals of some lanes must not complete the phase
		first := s.who & -s.who
		if lanes == 1 && w%2 == 1 {
			first = 0
		}
		if first != 0 {
			add(NoComplete, 0, first, true)
		}
		if first != 0 && first != s.who {
			meet()
		}
		if first != s.who {
			add(Arrive, 0, s.who&^first, true)
		}
	default:
		add(Drop, 0, s.who, true)
	}
}

// laps has lanes signal and wait at one mbarrier, phase after phase, and end it.
func (g *generator) laps(m *message) {
	if len(g.p.Counts) == MaxBars {
		return
	}
	g.produce(m)
	who := m.senders
	if g.r.IntN(3) > 0 {
		who = 1 << g.r.IntN(g.p.Lanes)
	}
	first := signal{who: who, how: g.r.IntN(signals), area: g.area(true, 0)}
	n := len(m.from) * bits.OnesCount8(who) * first.arrivals()
	if !g.right() {
		n += g.r.IntN(3) - 1
	}
	bar := g.bar(n)
	both := m.from
	for _, w := range m.to {
		if w != both[0] && w != both[len(both)-1] {
			both = append(both[:len(both):len(both)], w)
		}
	}
	rounds, stale := 1+g.r.IntN(3), g.r.IntN(8) == 0
	if stale {
		rounds += 2
	}
	for round := range rounds {
		s := first
		if round > 0 && g.r.IntN(2) == 0 {
			s = g.another(m, first, n)
		}
		s.keep = !stale && g.r.IntN(3) == 0 || stale && round == 0
		for _, w := range m.from {
			g.send(w, bar, s)
		}
		if round == rounds-1 && g.r.IntN(4) == 0 {
			break
		}
		for _, w := range both {
			g.await(w, bar, uint8(round), s, m)
			if g.right() && g.r.IntN(3) > 0 {
				g.add(w, Op{Kind: WarpSync})
			}
		}
		if round == 0 {
			g.consume(m)
			g.copied(m, s)
		}
	}
	if stale {
		g.add(both[0], Op{Kind: WaitToken, Bar: bar, Only: who})
	}
	if g.r.IntN(3) == 0 {
		g.end(both, bar)
	}
}

// spread has lanes of a warp signal at two mbarriers by one instruction, and each warp
// wait for one of them, phase after phase.
func (g *generator) spread(m *message) {
	if len(g.p.Counts) > 0 {
		return
	}
	g.produce(m)
	who := uint8(3)
	if g.r.IntN(4) == 0 {
		who = g.p.all()
	}
	for odd := range 2 {
		n := len(m.from) * bits.OnesCount8(who&(0x55<<odd))
		if !g.right() {
			n += g.r.IntN(3) - 1
		}
		g.bar(n)
	}
	both := m.from
	if g.r.IntN(2) == 0 {
		both = g.every()
	}
	apart := g.r.IntN(3) > 0 // a warp waits for one of them
	for round := range 1 + g.r.IntN(3) {
		for _, w := range m.from {
			o := Op{Kind: Arrive, Spread: true, Only: who}
			if g.r.IntN(8) == 0 {
				o.Kind = [...]Kind{NoComplete, Drop, Expect}[g.r.IntN(3)]
			}
			g.add(w, o)
		}
		for _, w := range both {
			o := Op{Kind: Wait, Bar: uint8(w & 1), N: uint8(round & 1)}
			switch x := g.r.IntN(6); {
			case !apart && x < 2:
				o.Spread = true
			case !apart:
				g.add(w, Op{Kind: Wait, Bar: 1 - o.Bar, N: o.N})
			case x == 0:
				o.Only = m.only
			}
			g.add(w, o)
			if g.r.IntN(2) == 0 {
				g.add(w, Op{Kind: WarpSync})
			}
		}
		if round == 0 {
			g.consume(m)
		}
	}
}

// another returns a signal of as many arrivals, by other lanes if possible.
func (g *generator) another(m *message, first signal, n int) signal {
	for range 4 {
		s := signal{who: uint8(1 + g.r.IntN(int(g.p.all()))), how: g.r.IntN(signals - 1), area: first.area}
		bulk, async := s.copies()
		was, wasAsync := first.copies()
		if (bulk && wasAsync || async && was) || len(m.from)*bits.OnesCount8(s.who)*s.arrivals() != n && g.right() {
			continue
		}
		return s
	}
	return first
}

// await makes a warp's lanes wait for a phase, or test it once.
func (g *generator) await(w int, bar, round uint8, s signal, m *message) {
	o := Op{Kind: Wait, Bar: bar, N: round & 1}
	switch x := g.r.IntN(12); {
	case x < 2 && s.keep || x == 0 && !g.right():
		o.Kind, o.N = WaitToken, 0
		if g.right() {
			o.Only = s.who
		}
	case x == 2:
		o.Only = m.only
	case x == 3:
		g.add(w, Op{Kind: Test, Bar: bar, N: round & 1, Reg: 0})
		if g.r.IntN(2) == 0 {
			g.add(w, Op{Kind: Skip, Reg: 0, Cmp: EQ, K: 0, N: 1})
		}
	}
	g.add(w, o)
}

// copied has the receivers read what was copied.
func (g *generator) copied(m *message, s signal) {
	bulk, async := s.copies()
	if !bulk && !async {
		return
	}
	for _, w := range m.to {
		o := Op{Kind: Load, Area: s.area, At: Fixed, Reg: 1, Only: m.only, Index: uint8(g.r.IntN(Box * g.p.Lanes))}
		if async {
			o.Index = uint8(MaxLanes*m.from[0] + g.r.IntN(g.p.Lanes))
			if w == m.from[0] && g.r.IntN(2) == 0 {
				g.add(w, Op{Kind: Drain})
			}
		}
		g.add(w, o)
	}
}

// end has one lane end an mbarrier behind its last use, and perhaps begin it anew.
func (g *generator) end(all []int, bar uint8) {
	if g.p.Order >= Relaxed {
		return
	}
	one := uint8(1) << g.r.IntN(g.p.Lanes)
	meet := func() {
		for _, w := range all {
			switch {
			case len(all) == 1 && g.right():
				g.add(w, Op{Kind: WarpSync})
			case g.bars < MaxBars && g.right():
				g.add(w, Op{Kind: Sync, Bar: g.bars, N: uint8(len(all))})
			}
		}
	}
	meet()
	w := all[g.r.IntN(len(all))]
	g.add(w, Op{Kind: Inval, Bar: bar, Only: one})
	if g.r.IntN(2) == 0 {
		g.add(w, Op{Kind: Init, Bar: bar, N: uint8(len(all) * g.p.Lanes), Only: one})
		meet()
		for _, w := range all {
			g.add(w, Op{Kind: Arrive, Bar: bar})
			g.add(w, Op{Kind: Wait, Bar: bar})
		}
	}
	if len(all) > 1 {
		g.bars++
	}
}

// otherwise replaces an operation at an mbarrier by a variant.
func (g *generator) otherwise(o *Op) {
	switch {
	case o.arrives():
		o.Kind = Arrive + Kind(g.r.IntN(4))
		o.N = uint8(g.r.IntN(3))
		o.Keep = g.r.IntN(2) == 0
	case o.Kind == Wait || o.Kind == WaitToken:
		o.Kind = [...]Kind{Wait, WaitToken, Test}[g.r.IntN(3)]
		o.N = uint8(g.r.IntN(2))
	case o.Kind == ArriveAsync:
		o.N ^= 1
	case o.Kind == CopyAsync:
		o.At = At(g.r.IntN(4))
	}
}
