package brute

import (
	"math/rand/v2"
	"slices"
)

// Generate makes a random program together with one run of it: each operation is
// appended to that run, so that it ends. Most operations are ordered in this run:
// they use data that the thread knows of, and phases that it has seen complete.
// Other schedules may still go wrong.
func Generate(r *rand.Rand) *Program {
	for {
		g := newGenerator(r)
		g.walk()
		p := g.finish()
		if p == nil {
			continue
		}
		if r.IntN(6) == 0 {
			p.mutate(r)
		}
		return p
	}
}

// mutate removes an operation, duplicates it, or swaps it with the next. Perhaps
// no run of the program ends then.
func (p *Program) mutate(r *rand.Rand) {
	t := r.IntN(len(p.Threads))
	ops := p.Threads[t]
	if len(ops) == 0 {
		return
	}
	i := r.IntN(len(ops))
	switch k := r.IntN(3); {
	case k == 0:
		p.Threads[t] = append(ops[:i:i], ops[i+1:]...)
	case k == 1 && p.Size() < MaxOps:
		p.Threads[t] = append(ops[:i+1:i+1], ops[i:]...)
	case i+1 < len(ops):
		ops[i], ops[i+1] = ops[i+1], ops[i]
	}
}

type vector [MaxThreads + MaxOps + 8]uint8

func (v *vector) join(o *vector) {
	for i := range v {
		v[i] = max(v[i], o[i])
	}
}

// A touched is the last access to a slot: its agent and time.
type touched struct {
	agent int
	at    uint8
	write bool
}

type generator struct {
	r        *rand.Rand
	p        *Program
	careful  float64 // how often it keeps to what the run orders
	know     [MaxThreads]vector
	seen     [MaxThreads][MaxBars]int8 // phases that a thread knows complete
	filling  [MaxBars]vector
	full     [MaxBars]vector
	bars     [MaxBars]bar
	agents   int
	slots    [Slots][]touched
	flights  []flight
	owed     [MaxBars]int // bytes expected and not copied yet
	groups   [MaxThreads]int
	open     [MaxThreads]bool // a bulk store is not committed
	loaded   [MaxThreads]bool
	token    [MaxThreads]bool // it has one, of this barrier and phase
	tokenBar [MaxThreads]uint8
	tokens   [MaxThreads]int8
	ops      int
	value    uint8
	small    bool
	commits  bool // draw them
	// By thread: of how many phases of each barrier, from the first on, its commits were the
	// only arrivals; and by barrier: those of the thread whose commit completed the last phase.
	made  [MaxThreads][MaxBars]int8
	shows [MaxBars][MaxBars]int8
}

// A flight is an asynchronous operation that has not signalled.
type flight struct {
	kind  Kind
	bar   uint8
	clk   vector
	agent int
	by    int
}

func newGenerator(r *rand.Rand) *generator {
	g := &generator{r: r, p: &Program{}, careful: []float64{0, 0.7, 0.95, 1}[r.IntN(4)], agents: MaxThreads}
	switch x := r.IntN(10); {
	case x < 4:
		g.p.Place = Warps
	case x < 5:
		g.p.Place = Wide
	case x < 6:
		g.p.Place = Grid
	case x < 8:
		g.p.Place = Lanes
	default:
		g.p.Place = Cluster
	}
	n := 2 + r.IntN(3)
	g.p.Threads = make([][]Op, n)
	for range 1 + r.IntN(MaxBars) {
		g.p.Counts = append(g.p.Counts, int8(1+r.IntN(min(2, n))))
	}
	for b, c := range g.p.Counts {
		g.bars[b] = bar{pend: c, next: c}
	}
	if g.p.Place == Lanes && r.IntN(2) == 0 {
		g.p.Join = uint8(1 + r.IntN(3))
	}
	g.p.Spin = uint8(r.IntN(3))
	return g
}

func (g *generator) keep() bool { return g.r.Float64() < g.careful }

func (g *generator) walk() {
	most := 3 + g.r.IntN(10)
	for tries := 0; tries < 400 && g.ops < most; tries++ {
		g.add()
		for len(g.flights) > 0 && g.r.IntN(3) > 0 {
			g.land(g.r.IntN(len(g.flights)))
		}
	}
}

// add tries one operation.
func (g *generator) add() {
	t := g.r.IntN(len(g.p.Threads))
	b := uint8(g.r.IntN(len(g.p.Counts)))
	if g.commits && g.r.IntN(4) == 0 {
		if g.commit(t, b); g.r.IntN(2) == 0 {
			g.wait(t, b)
		}
		return
	}
	switch x := g.r.IntN(100); {
	case x < 18:
		g.arrive(t, b)
	case x < 40:
		g.wait(t, b)
	case x < 68:
		g.access(t)
	case x < 78:
		g.copy(t, b)
	case x < 81:
		g.asyncCopy(t, b)
	case x < 89:
		g.meet()
	case x < 93:
		g.bulkStore(t)
	case x < 95:
		g.red(t)
	default:
		g.emit(t, Op{Kind: Fence})
	}
}

func (g *generator) emit(t int, o Op) {
	if o.Kind != Fence {
		g.ops++
		g.know[t][t]++
	}
	g.p.Threads[t] = append(g.p.Threads[t], o)
}

// mine reports whether a thread reaches a barrier with forms of its own CTA.
func (g *generator) mine(t int, b uint8) bool { return g.p.home(t) == g.p.barHome(b) }

func (g *generator) arrive(t int, b uint8) {
	k := []Kind{Arrive, Arrive, Arrive, Arrive, ArriveExpect, Drop}[g.r.IntN(6)]
	x := &g.bars[b]
	if x.pend == 0 || k == Drop && x.next <= 1 || !g.mine(t, b) && (k != Arrive || g.p.Place == Grid) {
		return
	}
	if g.keep() && g.seen[t][b] != x.phase {
		return
	}
	o := Op{Kind: k, Bar: b}
	if k == Arrive && g.mine(t, b) && g.r.IntN(3) == 0 {
		o.Kind = ArriveToken
		g.tokens[t], g.tokenBar[t] = x.phase, b
		g.token[t] = true
	}
	switch k {
	case Drop:
		x.next--
	case ArriveExpect:
		o.N = 16
		if g.owed[b] < 0 && g.r.IntN(2) == 0 {
			o.N = 0
		}
		x.tx += int16(o.N)
		g.owed[b] += int(o.N)
	}
	g.emit(t, o)
	g.charged(b, &g.know[t])
	x.pend--
	g.settle(b)
}

func (g *generator) charged(b uint8, v *vector) { g.filling[b].join(v) }

func (g *generator) settle(b uint8) {
	x := &g.bars[b]
	if x.pend == 0 && x.tx == 0 {
		x.phase++
		x.pend = x.next
		g.full[b] = g.filling[b]
		g.shows[b] = [MaxBars]int8{}
	}
}

func (g *generator) wait(t int, b uint8) {
	if c := g.tokenBar[t]; g.token[t] && g.bars[c].phase == g.tokens[t]+1 && g.r.IntN(2) == 0 {
		g.emit(t, Op{Kind: WaitToken, Bar: c})
		g.know[t].join(&g.full[c])
		g.seen[t][c] = g.bars[c].phase
		g.token[t] = false
		return
	}
	x := &g.bars[b]
	if !g.mine(t, b) || g.keep() && g.seen[t][b] == x.phase && g.r.IntN(6) > 0 {
		return
	}
	if g.keep() && x.phase > 0 && g.seen[t][b] < x.phase-1 {
		return
	}
	o := Op{Kind: Wait, Bar: b, N: uint8(x.phase-1) & 1}
	again := func(o2 Op) bool { return o2.Kind == Peek && o2.Bar == b && o2.N == o.N }
	switch {
	case g.small:
	case g.r.IntN(4) == 0 && slices.ContainsFunc(g.p.Threads[t], again): // the result of the last peek once more
		o.Kind = WaitPeek
	case g.r.IntN(4) == 0:
		g.emit(t, Op{Kind: Peek, Bar: b, N: o.N})
		g.early(t)
		if g.r.IntN(4) == 0 {
			g.access(t)
		}
		o.Kind = WaitPeek
		if g.p.Place != Lanes && g.p.Place != Wide && g.r.IntN(2) == 0 {
			o.Skips = uint8(1 + g.r.IntN(2))
		}
	}
	g.emit(t, o)
	g.know[t].join(&g.full[b])
	g.seen[t][b] = x.phase
	for c, n := range g.shows[b] {
		g.seen[t][c] = max(g.seen[t][c], n)
	}
}

// early moves a thread's last operation, a peek, before some of those before it, where
// the phase before may still be open.
func (g *generator) early(t int) {
	ops := g.p.Threads[t]
	for i := len(ops) - 1; i > 0 && g.r.IntN(6) > 0; i-- {
		if k := ops[i-1].Kind; k == Peek || k == WaitPeek {
			return // there is one result
		}
		ops[i-1], ops[i] = ops[i], ops[i-1]
	}
}

// ordered reports whether an agent that knows v follows all conflicting accesses.
func (g *generator) ordered(v *vector, slot uint8, write bool) bool {
	for _, x := range g.slots[slot] {
		if (write || x.write) && v[x.agent] < x.at {
			return false
		}
	}
	return true
}

func (g *generator) touch(v *vector, agent int, slot uint8, write bool) {
	g.slots[slot] = append(g.slots[slot], touched{agent, v[agent], write})
}

func (g *generator) near(t int, slot uint8) bool {
	return slot >= FirstGlob || g.p.home(t) == g.p.slotHome(slot)
}

func (g *generator) access(t int) {
	slot, write := uint8(g.r.IntN(FirstConst)), g.r.IntN(2) == 0
	if !g.near(t, slot) || g.keep() && !g.ordered(&g.know[t], slot, write) {
		return
	}
	o := Op{Kind: Load, Slot: slot}
	if write {
		g.value++
		o.Kind, o.N = Store, g.value
		if g.r.IntN(4) == 0 {
			o.N = 1 // perhaps the value already there
		}
		if g.loaded[t] && g.r.IntN(3) == 0 {
			o.N = 0
		}
	} else {
		g.loaded[t] = true
	}
	if o.N != 0 && g.r.IntN(12) == 0 {
		o.Kind = StoreStrong
	}
	if !write && g.r.IntN(12) == 0 {
		o.Kind, g.loaded[t] = LoadStrong, false
	}
	g.emit(t, o)
	g.touch(&g.know[t], t, slot, write)
}

func (g *generator) red(t int) {
	slot := uint8(FirstGlob + g.r.IntN(2))
	if g.keep() && !g.ordered(&g.know[t], slot, true) && g.r.IntN(2) == 0 {
		return
	}
	k := Add
	if g.r.IntN(4) == 0 {
		k = Max
	}
	g.emit(t, Op{Kind: k, Slot: slot, N: uint8(1 + g.r.IntN(9))})
	g.touch(&g.know[t], t, slot, true)
}

// fence adds, mostly, the fence that an asynchronous access needs after ordinary ones.
func (g *generator) fence(t int) {
	if g.keep() {
		g.emit(t, Op{Kind: Fence})
	}
}

func (g *generator) agent() int {
	g.agents++
	return g.agents - 1
}

func (g *generator) copy(t int, b uint8) {
	src, dst := uint8(FirstConst+g.r.IntN(2)), uint8(g.r.IntN(FirstGlob))
	if g.r.IntN(6) == 0 {
		src = uint8(FirstGlob + g.r.IntN(2))
	}
	if !g.near(t, dst) || !g.mine(t, b) || g.agents >= len(vector{}) {
		return
	}
	if g.keep() && (!g.ordered(&g.know[t], dst, true) || !g.ordered(&g.know[t], src, false)) {
		return
	}
	if g.keep() && g.seen[t][b] != g.bars[b].phase {
		return
	}
	if g.keep() && g.owed[b] <= 0 && g.bars[b].pend > 0 {
		// Book it first.
		k := []Kind{ArriveExpect, ArriveExpect, Expect}[g.r.IntN(3)]
		g.emit(t, Op{Kind: k, Bar: b, N: 16})
		g.bars[b].tx += 16
		g.owed[b] += 16
		g.charged(b, &g.know[t])
		if k == ArriveExpect {
			g.bars[b].pend--
		}
	}
	g.fence(t)
	g.emit(t, Op{Kind: Copy, Bar: b, Slot: dst, Src: src})
	g.owed[b] -= 16
	f := flight{kind: Copy, bar: b, clk: g.know[t], agent: g.agent(), by: t}
	f.clk[f.agent] = 1
	g.touch(&f.clk, f.agent, dst, true)
	g.touch(&f.clk, f.agent, src, false)
	g.flights = append(g.flights, f)
}

func (g *generator) asyncCopy(t int, b uint8) {
	dst := uint8(g.r.IntN(FirstGlob))
	if !g.near(t, dst) || !g.mine(t, b) || g.agents+1 >= len(vector{}) || g.bars[b].pend == 0 {
		return
	}
	if g.keep() && (!g.ordered(&g.know[t], dst, true) || g.seen[t][b] != g.bars[b].phase) {
		return
	}
	f := flight{kind: Increment, bar: b, clk: g.know[t], by: t}
	if g.r.IntN(4) > 0 {
		g.emit(t, Op{Kind: CopyAsync, Slot: dst, Src: uint8(FirstConst + g.r.IntN(2))})
		f.agent = g.agent()
		f.clk = g.know[t]
		f.clk[f.agent] = 1
		g.touch(&f.clk, f.agent, dst, true)
	}
	if g.r.IntN(2) == 0 {
		f.kind = NoIncrement
	}
	g.emit(t, Op{Kind: f.kind, Bar: b})
	f.clk[t] = g.know[t][t]
	if f.kind == Increment {
		g.bars[b].pend++
		g.charged(b, &g.know[t])
	}
	g.flights = append(g.flights, f)
}

// land signals a flight; one that would fault stays.
func (g *generator) land(i int) {
	f := g.flights[i]
	x := &g.bars[f.bar]
	for k := 0; k < i && f.kind == Arrival; k++ {
		if g.flights[k].kind == Arrival && g.flights[k].by == f.by {
			return // it comes after that one
		}
	}
	if f.kind != Copy {
		if x.pend == 0 {
			return
		}
		x.pend--
	} else {
		x.tx -= 16
	}
	g.flights = append(g.flights[:i:i], g.flights[i+1:]...)
	g.charged(f.bar, &f.clk)
	was := x.phase
	g.settle(f.bar)
	if made := &g.made[f.by]; f.kind == Arrival && x.phase > was {
		if x.next == 1 && made[f.bar] == was {
			made[f.bar] = x.phase
		}
		g.shows[f.bar] = *made
	}
}

// meet adds a named barrier, or the cluster's, with all its threads at once.
func (g *generator) meet() {
	n := len(g.p.Threads)
	if g.p.Place == Cluster && g.r.IntN(2) == 0 {
		var all vector
		for t := range n {
			g.emit(t, Op{Kind: ClusterArrive})
			all.join(&g.know[t])
		}
		for t := range n {
			if g.r.IntN(3) == 0 {
				g.access(t)
			}
			g.emit(t, Op{Kind: ClusterWait})
			g.know[t].join(&all)
		}
		return
	}
	if g.p.Place == Lanes {
		return
	}
	var who []int
	first := g.r.IntN(n)
	for i := range n {
		t := (first + i) % n
		if g.p.home(t) == g.p.home(first) && (len(who) < 2 || g.r.IntN(2) == 0) {
			who = append(who, t)
		}
	}
	if len(who) < 2 && g.r.IntN(4) > 0 {
		return
	}
	id := uint8(g.r.IntN(MaxNamed))
	var all vector
	syncs := false
	for i, t := range who {
		k := Sync
		if g.r.IntN(4) == 0 && (syncs || i < len(who)-1) {
			k = BarArrive
		}
		syncs = syncs || k == Sync
		g.emit(t, Op{Kind: k, Bar: id, N: uint8(len(who))})
		all.join(&g.know[t])
	}
	for _, t := range who {
		if ops := g.p.Threads[t]; ops[len(ops)-1].Kind == Sync {
			g.know[t].join(&all)
		}
	}
}

func (g *generator) bulkStore(t int) {
	switch {
	case g.open[t]:
		g.emit(t, Op{Kind: Commit})
		g.open[t] = false
		g.groups[t]++
	case g.groups[t] > 0 && g.r.IntN(2) == 0:
		k := WaitGroup
		if g.r.IntN(2) == 0 {
			k = WaitRead
		}
		g.emit(t, Op{Kind: k, N: uint8(g.r.IntN(5) / 4)})
	default:
		src, dst := uint8(g.r.IntN(FirstGlob)), uint8(FirstGlob+g.r.IntN(2))
		if !g.near(t, src) || g.agents >= len(vector{}) || g.keep() && (!g.ordered(&g.know[t], src, false) || !g.ordered(&g.know[t], dst, true) && g.r.IntN(6) > 0) {
			return
		}
		g.fence(t)
		k := StoreAll
		if g.r.IntN(3) == 0 {
			k = AddAll
			if g.r.IntN(4) == 0 {
				k = MaxAll
			}
		}
		g.emit(t, Op{Kind: k, Slot: dst, Src: src})
		var v vector
		a := g.agent()
		v[a] = 1
		g.touch(&v, a, src, false)
		g.touch(&v, a, dst, true)
		g.open[t] = true
	}
}

// finish closes what is open, and refuses a program that is too large, or has no
// wait or no conflict.
func (g *generator) finish() *Program {
	p := g.p
	for len(g.flights) > 0 {
		n := len(g.flights)
		for i := n - 1; i >= 0; i-- {
			g.land(i)
		}
		if len(g.flights) == n {
			return nil
		}
	}
	g.collect()
	for t := range p.Threads {
		if g.open[t] {
			g.emit(t, Op{Kind: Commit})
			g.groups[t]++
		}
		if g.groups[t] > 0 {
			g.emit(t, Op{Kind: WaitGroup})
		}
	}
	if p.Place == Cluster && g.r.IntN(5) > 0 {
		for t := range p.Threads {
			g.emit(t, Op{Kind: ClusterArrive})
			g.emit(t, Op{Kind: ClusterWait})
		}
	}
	if p.Size() > MaxOps || g.agents > len(vector{}) || !p.waits() || !p.conflicts() {
		return nil
	}
	return p
}

// collect makes threads wait for their copies, so that none is in flight when they
// exit.
func (g *generator) collect() {
	for t, ops := range g.p.Threads {
		copied := [MaxBars]bool{}
		for _, o := range ops {
			copied[o.Bar] = copied[o.Bar] || o.Kind == Copy || o.Kind == Increment || o.Kind == NoIncrement || o.Kind == Arrival && g.mine(t, o.Bar)
		}
		for b := range g.p.Counts {
			x := &g.bars[b]
			if !copied[b] || !g.keep() {
				continue
			}
			for x.tx == 0 && x.pend > 0 && g.seen[t][b] == x.phase {
				g.emit(t, Op{Kind: Arrive, Bar: uint8(b)})
				g.charged(uint8(b), &g.know[t])
				x.pend--
				g.settle(uint8(b))
			}
			if g.seen[t][b] < x.phase {
				g.emit(t, Op{Kind: Wait, Bar: uint8(b), N: uint8(x.phase-1) & 1})
				g.know[t].join(&g.full[b])
				g.seen[t][b] = x.phase
			}
		}
	}
}

func (p *Program) waits() bool {
	for _, ops := range p.Threads {
		for _, o := range ops {
			switch o.Kind {
			case Wait, WaitPeek, WaitToken, Sync, ClusterWait, WaitGroup, WaitRead:
				return true
			}
		}
	}
	return false
}

// conflicts reports whether two agents touch one slot and one of them writes.
func (p *Program) conflicts() bool {
	var users, writers [Slots]map[int]bool
	for i := range users {
		users[i], writers[i] = map[int]bool{}, map[int]bool{}
	}
	agent := len(p.Threads)
	for t, ops := range p.Threads {
		for _, o := range ops {
			switch o.Kind {
			case Load, LoadStrong:
				users[o.Slot][t] = true
			case Store, StoreStrong, Add, Max:
				users[o.Slot][t], writers[o.Slot][t] = true, true
			case Copy, CopyAsync, StoreAll, AddAll, MaxAll:
				users[o.Slot][agent], writers[o.Slot][agent] = true, true
				users[o.Src][agent] = true
				agent++
			}
		}
	}
	for s := range users {
		if len(writers[s]) > 0 && len(users[s]) > 1 {
			return true
		}
	}
	return false
}
