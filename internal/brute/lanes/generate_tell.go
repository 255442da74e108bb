package lanes

// told makes lanes of a warp learn by a vote or a shfl what other lanes read.
func (g *generator) told(m *message) {
	g.produce(m)
	m.word = g.anywhere(0)
	own := g.r.IntN(2) == 0 // each sender has a flag of its own
	for _, w := range m.from {
		if own {
			g.add(w, Op{Kind: StoreStrong, Area: m.word, At: Mine, N: 1, Only: m.senders})
		} else {
			g.add(w, Op{Kind: Red, Do: Add, Area: m.word, N: 1, Only: m.senders})
		}
	}
	for _, w := range m.to {
		o := Op{Kind: [...]Kind{LoadStrong, LoadStrong, Poll}[g.r.IntN(3)], Area: m.word, Cmp: GE, K: uint8(m.count()), Reg: 0, Only: m.only}
		if own {
			o.At, o.Index, o.K = At(2*g.r.IntN(2)), uint8(MaxLanes*m.from[0]), 1
		}
		g.add(w, o)
		g.tell(w, 0, o.K)
		g.decide(w, m)
	}
}

// tested makes the lanes of some warps test an mbarrier, and branch by their combined
// results.
func (g *generator) tested(m *message) {
	if len(g.p.Counts) == MaxBars {
		return
	}
	g.produce(m)
	n := m.count()
	if !g.right() {
		n += g.r.IntN(3) - 1
	}
	bar := g.bar(n)
	for _, w := range m.from {
		g.add(w, Op{Kind: Arrive, Bar: bar, Only: m.senders})
	}
	for _, w := range m.to {
		g.add(w, Op{Kind: [...]Kind{Test, Test, Wait}[g.r.IntN(3)], Bar: bar, Reg: 0, Only: m.only})
		g.tell(w, 0, 1)
		g.decide(w, m)
	}
}

// tell makes all lanes of a warp vote on a register, or take one lane's by shfl.
func (g *generator) tell(w int, reg, k uint8) {
	o := Op{Kind: Vote, Reg: reg, Cmp: [...]Cmp{GE, NE, EQ}[g.r.IntN(3)], K: k, N: uint8(g.r.IntN(int(Ballot) + 1)), Only: g.p.all()}
	switch {
	case g.r.IntN(3) == 0:
		o = Op{Kind: Shuffle, Reg: reg, N: uint8(g.r.IntN(g.p.Lanes)), Only: g.p.all()}
	case o.Cmp == NE:
		o.K = 0
	}
	g.add(w, o)
}

// decide makes a warp's lanes read the data, or trap, depending on register 0.
func (g *generator) decide(w int, m *message) {
	by := Op{Kind: Skip, Reg: 0, Cmp: [...]Cmp{NE, EQ, GE}[g.r.IntN(3)], K: uint8(g.r.IntN(3)), N: 1}
	data := Op{Kind: Load, Area: uint8(max(0, g.data)), At: Fixed, Index: uint8(MaxLanes*m.from[0] + g.r.IntN(g.p.Lanes)), Reg: 1}
	switch last := g.p.Warps[w][len(g.p.Warps[w])-1]; {
	case last.Kind == Vote && last.N == Ballot && g.r.IntN(3) > 0:
		by.Cmp, by.K = Cmp(g.r.IntN(2)), uint8(1+g.r.IntN(int(g.p.all())))
	case g.r.IntN(2) == 0:
		by.Cmp, by.K = NE, 0
	}
	switch {
	case m.hands:
		if g.right() || g.r.IntN(2) == 0 {
			g.add(w, by)
		}
		g.add(w, data)
	default:
		by.Kind, by.N, by.Only = Trap, 0, uint8(1+g.r.IntN(int(g.p.all())))
		g.add(w, by)
	}
}
