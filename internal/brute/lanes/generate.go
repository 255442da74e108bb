package lanes

import (
	"math/bits"
	"math/rand/v2"
)

// Generate draws a program: one or two messages, each from the lanes of some warps to
// those of others by one of the usual means, right or nearly right, and often one
// change to the whole.
func Generate(r *rand.Rand) *Program {
	for {
		g := newGenerator(r)
		if r.IntN(10) == 0 {
			g.loop()
		} else {
			for range 1 + r.IntN(3)/2 {
				g.message()
			}
			if r.IntN(30) == 0 {
				g.p.Turns = 2
			}
		}
		g.observe()
		for range [...]int{0, 0, 0, 1, 1, 2}[r.IntN(6)] {
			g.mutate()
		}
		if p := g.p; p.valid() && p.size() {
			return p
		}
	}
}

// size reports whether a program is small enough to explore, and not empty.
func (p *Program) size() bool {
	if newRunner(p) == nil {
		return false
	}
	shared := p.shared()
	product, some := 1.0, false
	for w := range p.Warps {
		for lane := range p.Lanes {
			steps := 1.0
			for _, o := range p.code(w) {
				memory, _, _ := o.touches()
				if o.Only>>lane&1 == 0 || memory && o.At != ByReg && shared.private(int(o.Area), p.copy(int(o.Area), w), p.word(o, w, lane, 0)) {
					continue
				}
				if memory || o.Kind == Arrive || o.Kind == Wait {
					steps++
					some = true
				}
			}
			product *= steps
		}
	}
	return some && product < 300_000
}

type generator struct {
	r       *rand.Rand
	p       *Program
	careful float64 // how often it does the right thing
	weak    bool    // messages hand on weak data
	bars    uint8
	data    int // area, less than 0 for none yet
}

func newGenerator(r *rand.Rand) *generator {
	p := &Program{CTAs: 1, Turns: 1, Idle: Idle(r.IntN(2)), Share: r.IntN(2) == 0, Branch: r.IntN(2) == 0, Sleep: r.IntN(4) == 0}
	warps := 2
	switch x := r.IntN(20); {
	case x < 2:
		warps = 1
	case x < 6:
		warps = 3
	case x < 11:
		p.CTAs, p.Cluster = 2, r.IntN(2) == 0
		if x == 6 {
			warps = 4
		}
	}
	if warps == p.CTAs && r.IntN(3) == 0 {
		p.Idle = Narrow
	}
	p.Lanes = [...]int{2, 2, 2, 3, 4}[r.IntN(5)]
	if warps > 2 {
		p.Lanes = 2
	}
	p.Warps = make([][]Op, warps)
	p.Out = uint8(r.IntN(4))
	g := &generator{r: r, p: p, careful: [...]float64{0.75, 0.9, 1}[r.IntN(3)], weak: r.IntN(4) > 0, data: -1}
	p.Order = Order(r.IntN(2) * r.IntN(2))
	if !g.weak {
		p.Order = Order(r.IntN(4))
	}
	p.SC = r.IntN(10) == 0
	return g
}

func (g *generator) right() bool { return g.r.Float64() < g.careful }

// area adds an area, and returns its number.
func (g *generator) area(shared bool, first uint8) uint8 {
	g.p.Areas = append(g.p.Areas, Area{Shared: shared, Init: first})
	return uint8(len(g.p.Areas) - 1)
}

// anywhere adds an area that all warps of a message see.
func (g *generator) anywhere(first uint8) uint8 {
	return g.area(g.p.CTAs == 1 && g.r.IntN(2) == 0, first)
}

func (g *generator) add(w int, o Op) {
	if o.Only == 0 {
		o.Only = g.p.all()
	}
	g.p.Warps[w] = append(g.p.Warps[w], o)
}

// some is a set of warps, in order.
func (g *generator) some() []int {
	n := len(g.p.Warps)
	if g.r.IntN(3) == 0 {
		return g.every()
	}
	first := g.r.IntN(n)
	if n > 2 && g.r.IntN(2) == 0 {
		if first == n-1 {
			first--
		}
		return []int{first, first + 1}
	}
	return []int{first}
}

func (g *generator) every() []int {
	var all []int
	for w := range g.p.Warps {
		all = append(all, w)
	}
	return all
}

// A message goes from the lanes of some warps to those of others.
type message struct {
	from, to []int
	senders  uint8 // the lanes of each warp that send
	only     uint8 // the lanes that receive
	word     uint8 // area
	hands    bool  // data
}

// count is how many lanes send.
func (m *message) count() int { return len(m.from) * bits.OnesCount8(m.senders) }

func (g *generator) message() {
	if len(g.p.Areas) >= MaxAreas-1 {
		return
	}
	m := &message{from: g.some(), to: g.some(), senders: g.p.all(), only: g.p.all(), hands: g.weak && g.r.IntN(5) > 0}
	if g.r.IntN(2) == 0 {
		m.only = 1 << g.r.IntN(g.p.Lanes)
	}
	switch g.r.IntN(9) {
	case 0, 1, 2:
		m.senders = 1
	case 3: // some lanes of a warp send, the others receive
		m.to = m.from
		m.senders = uint8(1 + g.r.IntN(int(g.p.all())-1))
		m.only = g.p.all() &^ m.senders
	}
	means := []func(*message){g.counter, g.counter, g.counter, g.maximum, g.masks, g.flags, g.flags, g.ticket, g.ticket, g.look, g.look, g.inc, g.neighbours, g.turns, g.lock, g.exchange, g.minimum, g.slots, g.slots, g.told, g.told}
	if g.p.perCTA() == len(g.p.Warps) {
		means = append(means, g.mbarrier, g.mbarrier, g.rounds, g.named, g.named, g.laps, g.laps, g.laps, g.laps, g.laps, g.tested, g.spread, g.spread)
	}
	means[g.r.IntN(len(means))](m)
}

// produce makes the senders write their data, and meet if one signals for all.
func (g *generator) produce(m *message) {
	if m.hands && g.data < 0 {
		g.data = int(g.anywhere(0))
	}
	n := uint8(1 + g.r.IntN(3))
	for _, w := range m.from {
		if m.hands {
			g.add(w, Op{Kind: Store, Area: uint8(g.data), At: Mine, Value: Value(g.r.IntN(2)), N: n})
		}
		if m.senders == 1 && (g.right() || !m.hands) {
			g.add(w, Op{Kind: WarpSync})
		}
	}
}

// meet lets the other lanes of a warp know, if one received for all.
func (g *generator) meet(m *message) {
	if m.only != g.p.all() && g.r.IntN(2) == 0 {
		for _, w := range m.to {
			g.add(w, Op{Kind: WarpSync})
		}
		if g.right() {
			m.only = g.p.all()
		}
	}
}

// consume has the receivers read data, into register 1.
func (g *generator) consume(m *message) {
	if !m.hands {
		return
	}
	for _, w := range m.to {
		for range 1 + g.r.IntN(2) {
			from := m.from[g.r.IntN(len(m.from))]
			o := Op{Kind: Load, Area: uint8(g.data), At: Lane, Index: uint8(MaxLanes * from), Reg: 1, Only: m.only}
			if g.r.IntN(2) == 0 {
				o.At, o.Index = Fixed, o.Index+uint8(g.r.IntN(g.p.Lanes))
			}
			g.add(w, o)
		}
	}
}

// until makes the receivers wait for a value that the final total satisfies.
func (g *generator) until(m *message, total uint8) {
	cmp, k := Cmp(2*g.r.IntN(2)), total
	if !g.right() {
		switch g.r.IntN(5) {
		case 0:
			k--
		case 1:
			k -= uint8(g.p.Lanes)
		case 2:
			k = total / 2
		case 3:
			cmp, k = NE, 0
		default:
			k++
		}
		if k > 200 {
			k = 1
		}
	}
	do := Add
	if g.r.IntN(6) == 0 {
		do = Or
	}
	for _, w := range m.to {
		g.add(w, Op{Kind: Poll, Do: do, Area: m.word, Cmp: cmp, K: k, Only: m.only})
	}
	g.meet(m)
	g.consume(m)
}

func (g *generator) counter(m *message) {
	g.produce(m)
	m.word = g.anywhere(0)
	o := Op{Kind: Red, Do: Add, Area: m.word, N: 1, Only: m.senders}
	total := m.count()
	switch g.r.IntN(5) {
	case 0:
		o.N = 2
		total *= 2
	case 1:
		if m.senders == g.p.all() {
			o.Value = ByLane
			total = len(m.from) * g.p.Lanes * (g.p.Lanes + 1) / 2
		}
	case 2:
		o.Kind, o.Reg = Atom, uint8(g.r.IntN(2))
	}
	for _, w := range m.from {
		g.add(w, o)
	}
	g.until(m, uint8(total))
}

func (g *generator) maximum(m *message) {
	g.produce(m)
	m.word = g.anywhere(0)
	for _, w := range m.from {
		g.add(w, Op{Kind: Red, Do: Max, Area: m.word, Value: ByLane, N: 1, Only: m.senders})
	}
	g.until(m, uint8(bits.Len8(m.senders)))
}

func (g *generator) minimum(m *message) {
	g.produce(m)
	m.word = g.anywhere(9)
	for _, w := range m.from {
		g.add(w, Op{Kind: Red, Do: Min, Area: m.word, Value: ByLane, N: 3, Only: m.senders})
	}
	k := uint8(3 + bits.TrailingZeros8(m.senders))
	if !g.right() {
		k += uint8(1 + g.r.IntN(2))
	}
	for _, w := range m.to {
		g.add(w, Op{Kind: Poll, Area: m.word, Cmp: LT, K: k + 1, Only: m.only})
	}
	g.consume(m)
}

func (g *generator) masks(m *message) {
	g.produce(m)
	m.word = g.anywhere(0)
	for _, w := range m.from {
		g.add(w, Op{Kind: Red, Do: Or, Area: m.word, Value: LaneBit, Only: m.senders})
	}
	if g.r.IntN(4) > 0 {
		g.until(m, m.senders)
		return
	}
	for _, w := range m.to {
		g.add(w, Op{Kind: Poll, Area: m.word, Cmp: Bits, K: 1 << g.r.IntN(g.p.Lanes), Only: m.only})
	}
	g.consume(m)
}

// inc makes the senders count by atom.inc, which the last one wraps to 0.
func (g *generator) inc(m *message) {
	g.produce(m)
	m.word = g.anywhere(0)
	n := m.count()
	for _, w := range m.from {
		g.add(w, Op{Kind: Atom, Do: Inc, Area: m.word, N: uint8(n - 1), Reg: 0, Only: m.senders})
	}
	if g.r.IntN(2) == 0 {
		g.last(m, uint8(n-1))
		return
	}
	g.until(m, uint8(max(1, n-1)))
}

// flags has each sender set a word of its own.
func (g *generator) flags(m *message) {
	g.produce(m)
	m.word = g.anywhere(0)
	for _, w := range m.from {
		g.add(w, Op{Kind: StoreStrong, Area: m.word, At: Mine, Value: Value(g.r.IntN(2)), N: 1, Only: m.senders})
	}
	for _, w := range m.to {
		for _, from := range m.from {
			o := Op{Kind: Poll, Area: m.word, At: Lane, Index: uint8(MaxLanes * from), Cmp: NE, Only: m.only}
			if m.senders != g.p.all() || g.r.IntN(3) == 0 {
				o.At = Fixed
				o.Index += uint8(bits.TrailingZeros8(m.senders))
				if m.senders == g.p.all() {
					o.Index += uint8(g.r.IntN(g.p.Lanes))
				}
			}
			g.add(w, o)
		}
	}
	if m.only == g.p.all() && g.r.IntN(2) == 0 {
		for _, w := range m.to {
			g.add(w, Op{Kind: WarpSync})
		}
	}
	g.consume(m)
}

// ticket makes the last of the senders read the data.
func (g *generator) ticket(m *message) {
	g.produce(m)
	m.word = g.anywhere(0)
	do := Add
	if g.r.IntN(4) == 0 {
		do = Or
	}
	o := Op{Kind: Atom, Do: do, Area: m.word, N: 1, Reg: 0, Only: m.senders}
	total := m.count() - 1
	if do == Or {
		o.Value = LaneBit
		total = int(m.senders) &^ 1
	}
	for _, w := range m.from {
		g.add(w, o)
	}
	if !g.right() && total > 0 {
		total -= 1 + g.r.IntN(min(2, total))
	}
	g.last(m, uint8(total))
}

// last makes only the sender that drew a value go on.
func (g *generator) last(m *message, k uint8) {
	cmp := Cmp(2 * g.r.IntN(2))
	for _, w := range m.from {
		var body []Op
		for _, from := range m.from {
			if m.hands && len(body) < 2 {
				body = append(body, Op{Kind: Load, Area: uint8(g.data), At: Fixed, Index: uint8(MaxLanes*from + g.r.IntN(g.p.Lanes)), Reg: 1, Only: g.p.all()})
			}
		}
		if len(body) == 0 || g.r.IntN(2) == 0 {
			o := Op{Kind: StoreStrong, Area: m.word, At: Fixed, Index: 1, N: 7, Only: g.p.all()}
			if g.r.IntN(2) == 0 {
				o = Op{Kind: Red, Do: Add, Area: m.word, At: Fixed, Index: 1, N: 1, Only: g.p.all()}
			}
			body = append(body, o)
		}
		g.add(w, Op{Kind: Skip, Reg: 0, Cmp: cmp, K: k, N: uint8(len(body)), Only: m.senders})
		for _, o := range body {
			g.add(w, o)
		}
	}
}

// look makes the receivers read a word once and branch by its value.
func (g *generator) look(m *message) {
	g.produce(m)
	m.word = g.anywhere(0)
	o := Op{Kind: StoreStrong, Area: m.word, At: Mine, N: 1, Only: m.senders}
	if g.r.IntN(2) == 0 {
		o = Op{Kind: Red, Do: Do(g.r.IntN(4)), Area: m.word, Value: Value(g.r.IntN(3)), N: 1, Only: m.senders}
	}
	for _, w := range m.from {
		g.add(w, o)
	}
	for _, w := range m.to {
		l := Op{Kind: LoadStrong, Area: m.word, Reg: 0, Only: m.only}
		if o.At == Mine {
			l.Index = uint8(MaxLanes*m.from[0] + g.r.IntN(g.p.Lanes))
			l.At = At(2 * g.r.IntN(2))
		}
		if g.r.IntN(3) == 0 {
			l.Kind, l.Do, l.N = Atom, Or, 0
		}
		g.add(w, l)
		skip := Op{Kind: Skip, Reg: 0, Cmp: [...]Cmp{EQ, NE, GE}[g.r.IntN(3)], K: uint8(g.r.IntN(g.p.Lanes + 1)), Only: m.only}
		switch {
		case m.hands:
			skip.N = 1
			g.add(w, skip)
			g.add(w, Op{Kind: Load, Area: uint8(g.data), At: Fixed, Index: uint8(MaxLanes*m.from[0] + g.r.IntN(g.p.Lanes)), Reg: 1})
		case g.r.IntN(2) == 0:
			skip.N = 2
			g.add(w, skip)
			l.Index, l.Reg, l.Only = l.Index+1, 1, 0
			if o.At != Mine {
				l.Index = 0
			}
			g.add(w, l)
			g.add(w, Op{Kind: Trap, Reg: 1, Cmp: Cmp(g.r.IntN(2)), K: uint8(g.r.IntN(3))})
		default:
			g.add(w, Op{Kind: Trap, Reg: 0, Cmp: EQ, K: uint8(1 + g.r.IntN(g.p.Lanes+1)), Only: m.only})
		}
	}
}

// neighbours has the lanes of a warp read each other's data.
func (g *generator) neighbours(m *message) {
	m.hands, m.senders = true, g.p.all()
	if g.p.Order >= Relaxed {
		return
	}
	g.produce(m)
	for _, w := range m.from {
		l := Op{Kind: Load, Area: uint8(g.data), At: At(2 + g.r.IntN(2)), Index: uint8(MaxLanes * w), Reg: 1}
		switch {
		case g.p.Lanes > 2 && g.r.IntN(2) == 0: // a pair by itself
			pair := g.p.all() &^ (1 << g.r.IntN(g.p.Lanes))
			g.add(w, Op{Kind: WarpSync, Only: pair})
			l.At, l.Index, l.Only = Fixed, l.Index+uint8(bits.TrailingZeros8(pair)), pair
		case g.right():
			g.add(w, Op{Kind: WarpSync})
		}
		g.add(w, l)
	}
}

// turns has lanes of a warp go one after the other.
func (g *generator) turns(m *message) {
	m.word = g.anywhere(0)
	w := m.from[0]
	g.add(w, Op{Kind: Poll, Area: m.word, Cmp: EQ, KLane: true})
	if m.hands {
		if g.data < 0 {
			g.data = int(g.anywhere(0))
		}
		g.add(w, Op{Kind: Load, Area: uint8(g.data), Reg: 1})
		g.add(w, Op{Kind: Store, Area: uint8(g.data), Value: FromReg, Reg: 1, N: 1})
	}
	if g.r.IntN(2) == 0 {
		g.add(w, Op{Kind: StoreStrong, Area: m.word, Value: ByLane, N: 1})
	} else {
		g.add(w, Op{Kind: Red, Do: Add, Area: m.word, N: 1})
	}
}

func (g *generator) lock(m *message) {
	m.word = g.anywhere(0)
	if g.data < 0 {
		g.data = int(g.anywhere(0))
	}
	for _, w := range m.from {
		g.add(w, Op{Kind: Lock, Area: m.word, Only: m.senders})
		if m.hands {
			g.add(w, Op{Kind: Load, Area: uint8(g.data), Reg: 1, Only: m.senders})
			g.add(w, Op{Kind: Store, Area: uint8(g.data), Value: FromReg, Reg: 1, N: 1, Only: m.senders})
		} else {
			g.add(w, Op{Kind: Red, Area: m.word, At: Fixed, Index: 1, N: 1, Only: m.senders})
		}
		g.add(w, Op{Kind: StoreStrong, Area: m.word, N: 0, Only: m.senders})
	}
}

// exchange has one lane hand its value to another by exch or cas.
func (g *generator) exchange(m *message) {
	g.produce(m)
	m.word = g.anywhere(0)
	o := Op{Kind: Atom, Do: Exch, Area: m.word, Value: ByLane, N: 1, Reg: 0, Only: m.senders}
	if g.r.IntN(2) == 0 {
		o.Do = Cas
	}
	for _, w := range m.from {
		g.add(w, o)
	}
	switch g.r.IntN(3) {
	case 0:
		g.last(m, uint8(g.r.IntN(g.p.Lanes+1)))
	case 1:
		g.until(m, uint8(1+g.r.IntN(g.p.Lanes)))
	default:
		for _, w := range m.from {
			g.add(w, Op{Kind: Trap, Reg: 0, Cmp: GE, K: uint8(1 + g.r.IntN(g.p.Lanes)), Only: m.senders})
		}
	}
}

// loop has all lanes write, meet, read and meet again, in two turns.
func (g *generator) loop() {
	g.p.Turns = 2
	m := &message{from: g.every(), senders: g.p.all(), only: g.p.all(), hands: g.weak}
	m.to = m.from
	g.produce(m)
	for _, w := range m.from {
		for i := range g.p.Warps[w] {
			g.p.Warps[w][i].Turn = uint8(g.r.IntN(2))
		}
	}
	g.gather(m)
	g.consume(m)
	if g.right() {
		g.gather(m)
	}
}

// gather makes all lanes of all warps meet in each turn.
func (g *generator) gather(m *message) {
	n := uint8(m.count())
	if !g.right() {
		n--
	}
	grow := uint8(m.count())
	switch x := g.r.IntN(5); {
	case x == 0 && g.p.CTAs == 1 && g.bars < MaxBars:
		for _, w := range m.from {
			g.add(w, Op{Kind: Sync, Bar: g.bars, N: uint8(len(m.from))})
		}
		g.bars++
	case x < 3 && g.p.CTAs == 1 && len(g.p.Counts) < MaxBars:
		bar := uint8(len(g.p.Counts))
		g.p.Counts = append(g.p.Counts, max(1, n))
		for _, w := range m.from {
			g.add(w, Op{Kind: Arrive, Bar: bar})
			g.add(w, Op{Kind: Wait, Bar: bar, Turn: 1})
		}
	default:
		word := g.anywhere(0)
		o := Op{Kind: Red, Do: Add, Area: word, N: 1}
		elect := g.r.IntN(2) == 0
		if elect {
			o.Only = 1
			n, grow = n/uint8(g.p.Lanes), uint8(len(m.from))
		}
		for _, w := range m.from {
			if elect && g.right() {
				g.add(w, Op{Kind: WarpSync})
			}
			g.add(w, o)
			g.add(w, Op{Kind: Poll, Area: word, Cmp: GE, K: n, Turn: grow})
		}
	}
}

// slots makes the senders draw tickets and fill the slots with these numbers, which
// others may read.
func (g *generator) slots(m *message) {
	if g.p.Order >= Relaxed || g.data >= 0 {
		return
	}
	m.word = g.anywhere(0)
	g.data = int(g.anywhere(0))
	do := Add
	if g.r.IntN(6) == 0 {
		do = Or // no tickets
	}
	kind := Store
	if g.r.IntN(3) == 0 {
		kind = StoreStrong
	}
	for _, w := range m.from {
		g.add(w, Op{Kind: Atom, Do: do, Area: m.word, N: 1, Reg: 0, Only: m.senders})
		g.add(w, Op{Kind: kind, Area: uint8(g.data), At: ByReg, Reg: 0, Value: Value(g.r.IntN(2)), N: 1, Only: m.senders})
	}
	if g.r.IntN(2) == 0 {
		return
	}
	done := g.anywhere(0)
	for _, w := range m.from {
		g.add(w, Op{Kind: Red, Do: Add, Area: done, N: 1, Only: m.senders})
	}
	m.word, m.hands = done, false
	g.until(m, uint8(m.count()))
	for _, w := range m.to {
		g.add(w, Op{Kind: [...]Kind{Load, LoadStrong}[g.r.IntN(2)], Area: uint8(g.data), At: At(2 * g.r.IntN(2)), Reg: 1, Only: m.only})
	}
}

func (g *generator) named(m *message) {
	if g.bars == MaxBars {
		return
	}
	m.senders = g.p.all()
	g.produce(m)
	all := map[int]Kind{}
	for _, w := range m.from {
		all[w] = BarArrive
	}
	for _, w := range m.to {
		all[w] = Sync
	}
	for w := range g.p.Warps {
		k, ok := all[w]
		if !ok {
			continue
		}
		if len(all) == 1 || g.r.IntN(2) == 0 {
			k = Sync
		}
		g.add(w, Op{Kind: k, Bar: g.bars, N: uint8(len(all))})
	}
	g.bars++
	g.consume(m)
}

// observe may make a warp trap on the value that it read last.
func (g *generator) observe() {
	if g.r.IntN(4) > 0 {
		return
	}
	w := g.r.IntN(len(g.p.Warps))
	g.add(w, Op{Kind: Trap, Reg: uint8(g.r.IntN(Regs)), Cmp: Cmp(g.r.IntN(4)), K: uint8(g.r.IntN(6)), Only: uint8(1 + g.r.IntN(int(g.p.all())))})
}

// mutate changes one thing.
func (g *generator) mutate() {
	p, r := g.p, g.r
	w := r.IntN(len(p.Warps))
	if len(p.Warps[w]) == 0 {
		return
	}
	i := r.IntN(len(p.Warps[w]))
	o := &p.Warps[w][i]
	switch r.IntN(14) {
	case 0, 1:
		p.drop(w, i)
	case 2:
		if i+1 < len(p.Warps[w]) && o.Kind != Skip {
			p.Warps[w][i], p.Warps[w][i+1] = p.Warps[w][i+1], p.Warps[w][i]
		}
	case 3:
		o.Only = uint8(1 + r.IntN(int(p.all())))
	case 4:
		o.K = uint8(max(0, int(o.K)+1-2*r.IntN(2)))
	case 5:
		if o.Kind < Arrive {
			o.At = At(r.IntN(4))
		}
	case 6:
		if len(p.Counts) > 0 {
			b := r.IntN(len(p.Counts))
			p.Counts[b] = uint8(max(1, int(p.Counts[b])+1-2*r.IntN(2)))
		}
	case 7:
		p.insert(w, i, *o)
	case 9, 10: // some lanes first, the others behind
		if o.Kind == WarpSync && p.Lanes > 2 {
			o.Only = uint8(1 + r.IntN(int(p.all())))
		}
		if o.Kind < WarpSync && o.Kind != Inval && o.Only&(o.Only-1) != 0 {
			some := o.Only & uint8(1+r.IntN(int(p.all())))
			if some == 0 || some == o.Only {
				some = o.Only & (o.Only - 1)
			}
			first := *o
			first.Only, o.Only = some, o.Only&^some
			p.insert(w, i, first)
		}
	case 11:
		g.otherwise(o)
	case 13:
		if o.Kind == WarpSync && o.Only == p.all() || r.IntN(4) == 0 {
			g.tell(w, uint8(r.IntN(Regs)), uint8(r.IntN(3)))
			last := len(p.Warps[w]) - 1
			told := p.Warps[w][last]
			p.drop(w, last)
			p.insert(w, i, told)
		}
	case 12:
		if len(p.Counts) > 0 {
			x := Op{Kind: [...]Kind{Inval, Arrive, Arrive, Expect, Test, WaitToken}[r.IntN(6)], Bar: uint8(r.IntN(len(p.Counts))), N: uint8(r.IntN(2)), Only: 1 << r.IntN(p.Lanes)}
			p.insert(w, i, x)
		}
	case 8:
		if len(p.Areas) == 0 {
			return
		}
		x := Op{Kind: [...]Kind{StoreStrong, LoadStrong, Red, WarpSync}[r.IntN(4)], Area: uint8(r.IntN(len(p.Areas))), Reg: uint8(r.IntN(Regs)), N: 1, Only: 1 << r.IntN(p.Lanes)}
		if x.Kind == WarpSync {
			x.Only = p.all()
		}
		p.insert(w, i, x)
	}
}
