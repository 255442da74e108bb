package lanes

// An Edge says which accesses a wgmma orders, besides its own.
type Edge uint8

const (
	// Letter: none. The ISA's memory model has no edge.
	Letter Edge = iota
	// Across: what the other warps of the warpgroup know at their issue is known behind
	// it.
	Across
	// Together: what any lane of a warp knows at an instruction of wgmma is known to all
	// lanes behind it, and at mma_async what any of the four warps knows.
	Together
	Edges
)

// A known is what happens before a thread's next step: operations of threads, those with
// a proxy fence behind them, products that have been waited for, and copies.
type known struct {
	at, fenced       [GroupThreads]uint8
	products, copies uint8
}

func (k *known) join(o *known) {
	for i := range k.at {
		k.at[i] = max(k.at[i], o.at[i])
		k.fenced[i] = max(k.fenced[i], o.fenced[i])
	}
	k.products |= o.products
	k.copies |= o.copies
}

// A groupWord is a word of shared memory: its last write, and the reads since.
type groupWord struct {
	value    uint8
	writer   uint8 // 1 + the thread; copyWriter + the copy
	when     uint8
	reads    [GroupThreads]uint8
	products uint8 // that read it
}

const copyWriter = 100

type groupBar struct {
	phase, pending, tx uint8
	arrived, complete  known
}

type groupNamed struct {
	count uint8
	known known
}

// A groupState is a map's key.
type groupState struct {
	pc      [GroupThreads]uint8
	reg     [GroupThreads]uint8
	sum     [4]uint32 // element (0, 0) of each warp's part of D
	known   [GroupThreads]known
	words   [stageWords * GroupStages]groupWord
	bars    [GroupBars]groupBar
	named   [groupBarsOf]groupNamed
	counter uint8
	counted known // what additions to the counter release
	stopped uint8 // warps that stand in a bar.sync, or in an mma_async that they have issued
	flying  uint8 // copies
}

// A groupCode is an operation as a thread has it.
type groupCode struct {
	GroupOp
	number int   // of a product or a copy
	covers uint8 // the products that a WaitGroup covers
}

// A groupRunner steps states of one program.
type groupRunner struct {
	g       *Group
	edge    Edge
	each    bool // every operation is a step of its own
	code    [2][]groupCode
	flights []groupCode      // by number
	met     map[[2]int]uint8 // the phase that an operation was charged to
	res     GroupResult
}

// A GroupResult is what can come out of a Group.
type GroupResult struct {
	Result
	// Proxy: a generic access, and behind it a copy that writes, without a proxy fence on
	// the way.
	Proxy bool
	// Unfenced: a product reads what its warp knows to be written, without a proxy fence
	// on the way.
	Unfenced bool
	Outs     [][2 * GroupThreads]uint32
}

// Bad names what is wrong, nothing if it is right.
func (r *GroupResult) Bad() string {
	x := r.Result
	x.Race = x.Race || r.Unfenced
	return x.Bad()
}

// ExploreGroup visits every interleaving of what can be ordered in more than one way:
// the operations at mbarriers and at the counter. Other operations commute, or conflict by happens-before in
// whatever order they are taken.
func ExploreGroup(g *Group, edge Edge, limit int) GroupResult {
	return exploreGroup(g, edge, limit, false)
}

func exploreGroup(g *Group, edge Edge, limit int, each bool) GroupResult {
	r := &groupRunner{g: g, edge: edge, each: each, met: map[[2]int]uint8{}}
	r.compile()
	first := groupState{}
	for b, n := range g.Counts {
		first.bars[b].pending = n
	}
	r.settle(&first)
	seen := map[groupState]struct{}{first: {}}
	outs := map[[2 * GroupThreads]uint32]struct{}{}
	todo := []groupState{first}
	for len(todo) > 0 && !r.res.Undefined && (!r.res.Race || edge == Letter && !r.res.Unfenced) {
		if len(seen) > limit {
			r.res.States = len(seen)
			return r.res
		}
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		moved, over := false, true
		next := func(n groupState) {
			moved = true
			r.settle(&n)
			if _, old := seen[n]; !old {
				seen[n] = struct{}{}
				todo = append(todo, n)
			}
		}
		for t := range GroupThreads {
			c := r.at(&s, t)
			over = over && c == nil
			if c != nil && r.enabled(&s, t, c) {
				n := s
				r.step(&n, t, c)
				next(n)
			}
		}
		for f := range r.flights {
			if s.flying>>f&1 != 0 {
				n := s
				r.land(&n, f)
				next(n)
				r.res.Loose = r.res.Loose || over
			}
		}
		switch {
		case moved:
		case !over:
			r.res.Hang = true
		default:
			if o := r.out(&s); !has(outs, o) {
				outs[o] = struct{}{}
				r.res.Outs = append(r.res.Outs, o)
			}
		}
	}
	r.res.Complete, r.res.States = true, len(seen)
	return r.res
}

func has[K comparable](m map[K]struct{}, k K) bool { _, ok := m[k]; return ok }

// compile numbers products and copies, and finds what waits cover.
func (r *groupRunner) compile() {
	products := 0
	var groups []uint8
	open := uint8(0)
	for fifth, ops := range [][]GroupOp{r.g.Ops, r.g.Fifth} {
		for _, o := range ops {
			c := groupCode{GroupOp: o}
			switch o.Kind {
			case Multiply:
				c.number = products
				open |= 1 << products
				products++
			case Commit:
				groups, open = append(groups, open), 0
			case WaitGroup:
				for _, m := range groups[:max(0, len(groups)-int(o.N))] {
					c.covers |= m
				}
			case GroupBulk:
				c.number = len(r.flights)
				r.flights = append(r.flights, c)
			}
			r.code[fifth] = append(r.code[fifth], c)
		}
	}
}

// at returns a thread's next operation, nil at its end.
func (r *groupRunner) at(s *groupState, t int) *groupCode {
	if t/2 >= r.g.Warps || t%2 >= r.g.Lanes {
		return nil
	}
	code := r.code[t/8]
	if pc := int(s.pc[t]); pc < len(code) {
		return &code[pc]
	}
	return nil
}

// settle takes what commutes with everything else.
func (r *groupRunner) settle(s *groupState) {
	for again := true; again; {
		again = false
		for t := range GroupThreads {
			for c := r.at(s, t); c != nil && (r.passes(s, t, c) || !r.each && !c.atBarrier() && !c.counts() && r.enabled(s, t, c)); c = r.at(s, t) {
				again = true
				if r.passes(s, t, c) {
					s.pc[t]++
					continue
				}
				r.step(s, t, c)
			}
		}
	}
}

// passes reports whether a thread goes on without executing an operation.
func (r *groupRunner) passes(s *groupState, t int, c *groupCode) bool {
	return c.Who>>t&1 == 0 || c.When > 0 && s.reg[t] != c.When-1
}

// enabled reports whether a thread can take its next step. What a warp's lanes execute
// together is a step of its lane 0.
func (r *groupRunner) enabled(s *groupState, t int, c *groupCode) bool {
	if r.joint(t, c) && s.pc[t] != s.pc[t^1] {
		return false
	}
	if c.Kind == GroupWait {
		return s.bars[c.Bar].phase&1 != c.N
	}
	if c.Kind == GroupPoll {
		return s.counter >= c.N
	}
	if !c.joins() {
		return true
	}
	return t%2 == 0 && s.stopped>>(t/2)&1 == 0 && (r.g.Lanes == 1 || s.pc[t] == s.pc[t+1])
}

// joint reports whether the other lane of a thread's warp takes its step with it.
func (r *groupRunner) joint(t int, c *groupCode) bool {
	acts := c.Kind == GroupWait || c.Kind == GroupArrive || c.Kind == GroupArriveTx
	return r.g.Joint && acts && c.When == 0 && c.Who>>(t&^1)&3 == 3
}

// step takes a thread's next operation.
func (r *groupRunner) step(s *groupState, t int, c *groupCode) {
	if r.joint(t, c) {
		r.take(s, t^1, c)
	}
	r.take(s, t, c)
}

func (r *groupRunner) take(s *groupState, t int, c *groupCode) {
	k := &s.known[t]
	k.at[t] = s.pc[t] + 1
	if c.joins() && r.g.Lanes == 2 {
		s.known[t+1].at[t+1] = s.pc[t+1] + 1
	}
	switch c.Kind {
	case GroupStore:
		word := &s.words[c.word(t)]
		r.write(k, word, false)
		word.value, word.writer, word.when = c.N+uint8(t), uint8(1+t), k.at[t]
	case GroupLoad:
		word := &s.words[c.word(t)]
		r.read(k, word, false)
		word.reads[t] = k.at[t]
		s.reg[t] = word.value
	case ProxyFence:
		k.fenced = k.at
	case GroupArrive, GroupArriveTx, GroupWait, GroupBulk:
		r.barrier(s, t, c)
	case GroupAdd, GroupTicket, GroupPoll:
		r.count(s, t, c)
	case GroupSync:
		r.sync(s, t, c)
		return
	case Multiply:
		r.issue(s, t, c)
		return
	case GroupWarpSync:
		r.meet(s, t)
	case Fence, Commit, WaitGroup:
		for l := range r.g.Lanes {
			s.known[t+l].products |= c.covers
		}
		if r.edge == Together {
			r.meet(s, t)
		}
	}
	if c.joins() {
		r.pass(s, t/2)
		return
	}
	s.pc[t]++
}

// pass moves a warp on.
func (r *groupRunner) pass(s *groupState, w int) {
	for l := range r.g.Lanes {
		s.pc[2*w+l]++
	}
}

// warp is what some lane of a warp knows.
func (r *groupRunner) warp(s *groupState, w int) known {
	k := s.known[2*w]
	if r.g.Lanes == 2 {
		k.join(&s.known[2*w+1])
	}
	return k
}

func (r *groupRunner) meet(s *groupState, t int) {
	k := r.warp(s, t/2)
	for l := range r.g.Lanes {
		s.known[t+l] = k
	}
}

// before reports whether a thread's operation is known.
func before(at *[GroupThreads]uint8, t int, when uint8) bool { return at[t] >= when }

// read checks a read by one who knows k: by the asynchronous proxy, or the generic one.
func (r *groupRunner) read(k *known, word *groupWord, async bool) {
	switch w := word.writer; {
	case w >= copyWriter:
		r.res.Race = r.res.Race || k.copies>>(w-copyWriter)&1 == 0
	case w > 0:
		unknown := !before(&k.at, int(w-1), word.when)
		r.res.Race = r.res.Race || unknown
		r.res.Unfenced = r.res.Unfenced || async && !unknown && !before(&k.fenced, int(w-1), word.when)
	}
}

// write checks a write, and forgets the accesses before it.
func (r *groupRunner) write(k *known, word *groupWord, async bool) {
	switch w := word.writer; {
	case w >= copyWriter:
		r.res.Race = r.res.Race || k.copies>>(w-copyWriter)&1 == 0
	case w > 0:
		r.res.Race = r.res.Race || !before(&k.at, int(w-1), word.when)
		r.res.Proxy = r.res.Proxy || async && !before(&k.fenced, int(w-1), word.when)
	}
	for t, when := range word.reads {
		r.res.Race = r.res.Race || !before(&k.at, t, when)
		r.res.Proxy = r.res.Proxy || async && !before(&k.fenced, t, when)
	}
	r.res.Race = r.res.Race || word.products&^k.products != 0
	*word = groupWord{value: word.value}
}

// barrier takes an operation at an mbarrier.
func (r *groupRunner) barrier(s *groupState, t int, c *groupCode) {
	bar := &s.bars[c.Bar]
	k := &s.known[t]
	if c.Kind != GroupBulk {
		r.charge([2]int{t, int(s.pc[t])}, bar)
	}
	switch c.Kind {
	case GroupWait:
		k.join(&bar.complete)
		return
	case GroupBulk:
		for i := range 2 {
			word := &s.words[c.word(t)+i]
			r.write(k, word, true)
			word.writer = copyWriter + uint8(c.number)
		}
		s.flying |= 1 << c.number
		return
	}
	if bar.pending == 0 {
		r.res.Undefined = true // while copies of the phase are under way
		return
	}
	if c.Kind == GroupArriveTx {
		bar.tx += c.N
	}
	bar.pending--
	bar.arrived.join(k)
	r.turn(c.Bar, bar)
}

// charge notes the phase that an operation counts for.
func (r *groupRunner) charge(by [2]int, bar *groupBar) {
	if p, ok := r.met[by]; ok && p != bar.phase {
		r.res.Phases = true
	}
	r.met[by] = bar.phase
}

// turn ends a phase that is complete.
func (r *groupRunner) turn(b uint8, bar *groupBar) {
	if bar.pending == 0 && bar.tx == 0 {
		*bar = groupBar{phase: bar.phase + 1, pending: r.g.Counts[b], complete: bar.arrived}
	}
}

// land ends a copy.
func (r *groupRunner) land(s *groupState, f int) {
	c := &r.flights[f]
	at := c.word(8) // of no warp's own
	for i := range 2 {
		s.words[at+i].value = copied(f, i)
	}
	s.flying &^= 1 << f
	bar := &s.bars[c.Bar]
	r.charge([2]int{-1, f}, bar)
	bar.tx--
	bar.arrived.copies |= 1 << f
	r.turn(c.Bar, bar)
}

// count takes an operation at the counter, whose additions release in a chain.
func (r *groupRunner) count(s *groupState, t int, c *groupCode) {
	k := &s.known[t]
	if c.Kind != GroupAdd {
		k.join(&s.counted)
	}
	if c.Kind == GroupTicket {
		s.reg[t] = s.counter
	}
	if c.Kind != GroupPoll {
		s.counter++
		s.counted.join(k)
	}
}

// sync has a warp arrive at a named barrier.
func (r *groupRunner) sync(s *groupState, t int, c *groupCode) {
	bar := &s.named[c.Bar]
	k := r.warp(s, t/2)
	bar.known.join(&k)
	bar.count++
	s.stopped |= 1 << (t / 2)
	if bar.count < c.N {
		return
	}
	for w := range r.g.Warps {
		o := r.at(s, 2*w)
		if s.stopped>>w&1 == 0 || o.Kind != GroupSync || o.Bar != c.Bar {
			continue
		}
		s.stopped &^= 1 << w
		for l := range r.g.Lanes {
			s.known[2*w+l] = bar.known
		}
		r.pass(s, w)
	}
	*bar = groupNamed{}
}

// issue has a warp issue its part of a product. The warps go on from the fourth issue.
func (r *groupRunner) issue(s *groupState, t int, c *groupCode) {
	if r.edge == Letter {
		k := r.warp(s, t/2)
		r.reads(s, t/2, c, &k)
	}
	s.stopped |= 1 << (t / 2)
	for w := range 4 {
		if s.stopped>>w&1 == 0 || r.at(s, 2*w) != c {
			return
		}
	}
	var warps [4]known
	var all known
	for w := range 4 {
		warps[w] = r.warp(s, w)
		all.join(&warps[w])
	}
	for w := range 4 {
		for i := range 2 {
			s.sum[w] += uint32(s.words[stageWords*int(c.Stage)+2*w+i].value) * uint32(s.words[stageWords*int(c.StageB)+2*int(PartB)+i].value)
		}
		if r.edge != Letter {
			r.reads(s, w, c, &all)
		}
		for l := range r.g.Lanes {
			k := &s.known[2*w+l]
			for u := range 4 {
				if r.edge == Together || r.edge == Across && u != w {
					k.join(&warps[u])
				}
			}
		}
		s.stopped &^= 1 << w
		r.pass(s, w)
	}
}

// reads begins what a warp's part of a product reads: it may read until a wait that
// covers it.
func (r *groupRunner) reads(s *groupState, w int, c *groupCode, k *known) {
	for i := range 2 {
		for _, at := range [...]int{stageWords*int(c.Stage) + 2*w, stageWords*int(c.StageB) + 2*int(PartB)} {
			word := &s.words[at+i]
			r.read(k, word, true)
			word.products |= 1 << c.number
		}
	}
}

// out returns what a final state leaves in buffer out.
func (r *groupRunner) out(s *groupState) (out [2 * GroupThreads]uint32) {
	for t := range GroupThreads {
		if t/2 < r.g.Warps && t%2 < r.g.Lanes {
			out[2*t] = uint32(s.reg[t])
		}
	}
	for w, sum := range s.sum {
		out[4*w+1] = sum
	}
	return out
}
