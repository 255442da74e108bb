package prove

import (
	"maps"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/parallel"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/ptx"
)

// Classes of orders. Threads draw numbers from a counter, and what the numbers decide is little:
// who comes last, or first. Then a run decides for more orders than its own. It is followed with
// the numbers as undefined values (draws.go), so that it is known for which other numbers each
// thread does the same. Neighbours that may come in any order without leaving these are a block,
// and the run stands for all orders of its class: block after block, in any order within one. For
// that, no draw may see what others of its block have released.
//
// The classes of some runs are all orders if none leads out of them: orders are connected by
// exchanges of neighbours, one that leads out exchanges the last of a block with the first of the
// next, and for each such pair the orders behind it are in one class. A last arriver of n has n
// classes, of n! orders.

// A drawKey is an atomic operation whose result is followed: a lane's n-th.
type drawKey struct {
	cta, warp int32
	lane, n   int
}

// A class is the orders of draws that come block after block.
type class struct {
	blocks [][]int
	rank   []int // by draw: its block
}

func newClass(n int, blocks [][]int) *class {
	c := &class{blocks: blocks, rank: make([]int, n)}
	for i, b := range blocks {
		for _, d := range b {
			c.rank[d] = i
		}
	}
	return c
}

// contains reports whether all orders of q are among those of c: the blocks of c are joined
// ones of q.
func (c *class) contains(q [][]int) bool {
	at, left := 0, len(c.blocks[0])
	for _, b := range q {
		if left == 0 {
			at++
			left = len(c.blocks[at])
		}
		for _, d := range b {
			if c.rank[d] != at {
				return false
			}
		}
		left -= len(b)
	}
	return true
}

// neighbours lists what the exchanges of neighbours that lead out of a class lead to.
func (c *class) neighbours() (list [][][]int) {
	for i := range len(c.blocks) - 1 {
		for _, a := range c.blocks[i] {
			for _, b := range c.blocks[i+1] {
				q := slices.Clone(c.blocks[:i])
				q = append(q, without(c.blocks[i], a), []int{b}, []int{a}, without(c.blocks[i+1], b))
				q = append(q, c.blocks[i+2:]...)
				list = append(list, slices.DeleteFunc(q, func(b []int) bool { return len(b) == 0 }))
			}
		}
	}
	return list
}

func without(list []int, x int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(y int) bool { return x == y })
}

// A drawing decides every schedule by a run for each class.
type drawing struct {
	l     *trial.Subject
	w     *trial.Budget
	at    map[int32]bool // the atomic operations
	most  int64          // warp instructions of a run
	skip  bool
	keys  []drawKey
	index map[drawKey]int
	word  place
}

// drawers lists the atomic operations on counters whose results matter.
func drawers(p *machine.Program) map[int32]bool {
	list, tickets := map[int32]bool{}, map[int32]bool{}
	for _, f := range p.Flips() {
		tickets[f.Ticket] = true
	}
	for _, d := range p.Dependences() {
		for _, pc := range d.Roots {
			if in := p.Inst(pc); in != nil && in.Effect().Has(ptx.Reads) && in.Effect().Has(ptx.Updates) && !p.FloatSum(pc) && !tickets[pc] {
				if _, size := in.LastType(); size == 4 {
					list[pc] = true
				}
			}
		}
	}
	return list
}

// byClasses tries to decide every schedule by one run for each class of orders in which threads
// draw from a counter.
func byClasses(l *trial.Subject, w *trial.Budget, jobs int, skip bool, most int64) (p Proof, r trial.Result, ok bool) {
	at := drawers(l.Program)
	if len(at) == 0 || grantsMatter(l) {
		return p, r, false
	}
	d := &drawing{l: l, w: w, at: at, most: most, skip: skip}
	flips := l.Program.Flips()
	for _, dep := range l.Program.DependencesBut(d.decided()) {
		if !covered(flips, &dep) {
			return p, r, false
		}
	}
	w.Meter.Stage("proof by the classes of orders in which numbers are drawn", "class", 0)
	return d.all(jobs)
}

// decided lists the instructions whose results the runs show.
func (d *drawing) decided() map[int32]bool {
	list := maps.Clone(d.l.Program.Peeks())
	maps.Copy(list, loads(d.l.Program))
	maps.Copy(list, d.at)
	return list
}

// A classRun is what the runs for a class showed.
type classRun struct {
	class  *class
	part   Part
	memory uint64
	// followed tracked what the run does not know; decides: a sum of floating-point numbers
	// decided something.
	followed *machine.Undefined
	decides  bool
	ok       bool
}

// atOnce is how many classes are gone through side by side, whatever the processors.
const atOnce = 8

// all goes through the classes.
func (d *drawing) all(jobs int) (p Proof, r trial.Result, ok bool) {
	first := d.run(nil)
	if !first.ok {
		return p, r, false
	}
	n := len(d.keys)
	most := 2*n + 64
	if len(first.class.blocks) == n && n > 5 {
		return p, r, false // each order decides something else
	}
	found := []*classRun{first}
	for todo := first.class.neighbours(); len(todo) > 0; {
		todo = slices.DeleteFunc(todo, func(q [][]int) bool {
			return slices.ContainsFunc(found, func(c *classRun) bool { return c.class.contains(q) })
		})
		now := todo[:min(atOnce, len(todo))]
		runs := make([]*classRun, len(now))
		parallel.Each(jobs, len(now), func(i int) { runs[i] = d.run(now[i]) })
		for i, c := range runs {
			if !c.ok || c.memory != first.memory && len(c.part.sums) == 0 || !c.class.contains(now[i]) || len(found) > most {
				return p, r, false
			}
			if !slices.ContainsFunc(found, func(o *classRun) bool { return slices.EqualFunc(o.class.blocks, c.class.blocks, sameBlock) }) {
				found = append(found, c)
				todo = append(todo, c.class.neighbours()...)
			}
		}
	}
	decides := false
	for _, c := range found {
		decides = decides || c.decides
		p.Take(d.l, &c.part)
		r.Add(&c.part.Result)
	}
	p.Found(d.l, &r)
	p.concludes()
	p.Contents, p.Orders = true, true // the numbers may depend on the contents of the buffers
	p.words(first.followed)
	if decides {
		p.sumsMatter(d.l)
	}
	return p, r, p.Decides()
}

func sameBlock(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

// run makes the runs for a class: one that finds it, with draws in an order of q, and one that
// is judged. Nil: any order, the first.
func (d *drawing) run(q [][]int) *classRun {
	c := &classRun{}
	var want []drawKey
	for _, b := range q {
		for _, i := range b {
			want = append(want, d.keys[i])
		}
	}
	n := newDrawCount(d, nil)
	m := d.l.Machine(n, nil)
	m.FailPeeks()
	u := m.FollowUndefined()
	u.FollowDraws(d.at, true)
	followSums(d.l.Program, u)
	if !d.follow(m, n, want) || !m.Done() {
		return c
	}
	got := n.got
	list, known := u.Drawn(m)
	if !known || len(list) != len(got) || len(list) == 0 || !d.names(list, got) {
		return c
	}
	var ok bool
	if c.class, ok = d.classOf(list, got); !ok {
		return c
	}
	c.memory, c.followed, c.decides = m.GlobalHash(), u, !onlyRound(m, u)
	c.part, c.ok = d.judge(c.class, got)
	return c
}

// names names the draws, and reports whether they are those of the first run.
func (d *drawing) names(list []machine.Draw, got []drawKey) bool {
	if d.keys == nil {
		d.keys, d.index = got, map[drawKey]int{}
		for i, k := range got {
			d.index[k] = i
		}
		d.word = place{list[0].Mem, list[0].Addr}
	}
	for i := range list {
		if l := &list[i]; (place{l.Mem, l.Addr}) != d.word || l.CTA != got[i].cta || l.Warp != got[i].warp || l.Lane != got[i].lane {
			return false
		}
		if _, ok := d.index[got[i]]; !ok {
			return false
		}
	}
	return len(got) == len(d.keys)
}

// classOf divides a run's draws into blocks, each as large as it can be.
func (d *drawing) classOf(list []machine.Draw, got []drawKey) (*class, bool) {
	var blocks [][]int
	for i := 0; i < len(list); {
		if i > 0 && list[i].Old != list[i-1].New {
			return nil, false // something else wrote the counter
		}
		j := i + 1
		for j < len(list) && list[j].Old == list[j-1].New && d.oneBlock(list[i:j+1]) {
			j++
		}
		var b []int
		for _, k := range got[i:j] {
			b = append(b, d.index[k])
		}
		blocks = append(blocks, b)
		i = j
	}
	return newClass(len(d.keys), blocks), true
}

// oneBlock reports whether some draws do the same in any order.
func (d *drawing) oneBlock(list []machine.Draw) bool {
	first := int64(list[0].Old)
	keeps, counts, sum := true, true, int64(0)
	for i := range list {
		keeps = keeps && list[i].Keeps()
		n, ok := list[i].Counts(d.l.Program)
		counts, sum = counts && ok, sum+int64(n)
	}
	for i := range list {
		n, _ := list[i].Counts(d.l.Program)
		last := first
		switch {
		case keeps:
		case counts:
			if last += sum - int64(n); !list[i].CountsUpTo(d.l.Program, last) {
				return false
			}
		default:
			return false
		}
		if first < list[i].Lo || last > list[i].Hi {
			return false
		}
	}
	return keeps || first+sum < 1<<32
}

// follow runs a machine with draws in an order, and reports whether they can come in it. All
// else goes before a draw.
func (d *drawing) follow(m *machine.Machine, n *drawCount, want []drawKey) bool {
	over, _ := d.w.Stop()
	stop := func() bool {
		n, _ := m.Instrs()
		return n > d.most || over()
	}
	m.StopWhen(stop)
	o := orders{points: d.at}
	var buf []machine.Choice
	for steps := 0; ; steps++ {
		if steps%1024 == 0 && stop() {
			return false
		}
		buf = m.Enabled(buf[:0])
		if len(buf) == 0 || buf[0].Kind == machine.GiveUp {
			m.Conclude() // waiting splits would have to give up: the run does not complete
			return len(n.got) >= len(want)
		}
		if c, ok := o.other(m, buf); ok {
			m.Step(c)
			continue
		}
		i, before := 0, len(n.got)
		if before < len(want) {
			i = slices.IndexFunc(buf, func(c machine.Choice) bool { return want[before].of(m, c) })
		}
		if i < 0 {
			return false
		}
		m.Step(buf[i])
		for k := before; k < min(len(n.got), len(want)); k++ {
			if n.got[k] != want[k] {
				return false
			}
		}
	}
}

// of reports whether the lane is one of those that a choice runs.
func (k drawKey) of(m *machine.Machine, c machine.Choice) bool {
	return c.CTA == k.cta && c.Warp == k.warp && slices.Contains(m.LanesOf(c), k.lane)
}

// judge makes the run for a class that is judged.
func (d *drawing) judge(c *class, order []drawKey) (part Part, ok bool) {
	l, w := d.l, d.w
	n := newDrawCount(d, c)
	s := watch(l, nil, n.configure)
	s.strong.settled = map[place]bool{d.word: true} // drawCount watches it
	m := l.Part(slices.Concat(trial.Observers{drawNow{n}}, s.Observers(), trial.Observers{n}), d.skip, 0, 1)
	m.ShowCollectives()
	m.FailPeeks()
	if !d.follow(m, n, order) || !slices.Equal(n.got, order) || n.open {
		return part, false
	}
	part.Findings, part.Gaps = s.judge.Finish(m)
	if g, ok := l.LimitGap(m.Stopped()); ok {
		part.Gaps = append(trial.WithoutLimits(part.Gaps, m.Stopped()), g)
	}
	if !m.Done() || w.Over() != "" {
		part.Gaps = append(part.Gaps, rules.Gap{What: "the run did not come to its end", PC: -1})
	}
	part.failures, part.mixed, part.sums, part.joint, part.read = s.Prover.Finish(), s.strong.mixed, s.strong.sums, s.strong.joint, s.strong.sumsRead
	if s.loads != nil {
		part.unsettled = s.loads.unsettled()
	}
	part.addresses, part.contents, part.earlier = s.Addresses, true, s.Prover.WaitsForEarlier()
	part.equalStores(l.Program, s.judge.Order.Conflicts(), nil, d.skip)
	return part, part.Err == nil
}

// A drawCount names the draws of a run, tells its judge to which block each belongs, and watches
// what else accesses the counter.
type drawCount struct {
	d     *drawing
	class *class
	got   []drawKey
	drawn map[drawKey]int // by lane
	open  bool            // something else accesses the counter, in no order with a draw
	other bool            // something else accesses it
	wrote bool            // something else wrote it
	// narrow: a draw is not morally strong with those of other clusters (ISA 8.7), which a run of
	// one cluster does not show.
	narrow bool
	now    *machine.Event
}

func newDrawCount(d *drawing, c *class) *drawCount {
	return &drawCount{d: d, class: c, drawn: map[drawKey]int{}}
}

// next names the next draw of a lane.
func (n *drawCount) next(ev *machine.Event, lane int) drawKey {
	k := drawKey{ev.CTA, ev.Warp, lane, 0}
	k.n = n.drawn[k]
	return k
}

func (n *drawCount) configure(c *rules.Config) {
	ends, round, strong := c.Ends, c.Round, c.Strong
	c.Ends = func(m order.Memory, ev *machine.Event, lane int) bool {
		return n.d.at[ev.PC] || ends != nil && ends(m, ev, lane)
	}
	c.Round = func(ev *machine.Event, lane int) (int, bool) {
		switch {
		case n.d.at[ev.PC]:
			return n.class.rank[n.d.index[n.next(ev, lane)]], true
		case round != nil:
			return round(ev, lane)
		}
		return 0, false
	}
	c.Strong = func(p order.Pair) {
		if strong != nil {
			strong(p)
		}
		at := place{p.At.Mem, n.d.word.addr}
		meets := at == n.d.word && p.At.Addr < at.addr+4 && at.addr < p.At.Addr+p.At.Len
		n.open = n.open || meets && !(n.d.at[p.Prior] && n.d.at[p.Cur]) && !n.last(p)
	}
}

// last reports whether the later one of a pair of accesses to the counter is by the lane whose
// draw is the last in every order of the class. Then it comes after all of them in coherence
// order, as its own draw does (SC per Location, ISA 8.10.6).
func (n *drawCount) last(p order.Pair) bool {
	ev, b := n.now, n.class.blocks
	if ev == nil || ev.PC != p.Cur || !n.d.at[p.Prior] || len(n.got) < len(n.d.keys) || len(b[len(b)-1]) > 1 || ev.Mask&(ev.Mask-1) != 0 {
		return false
	}
	k := n.got[len(n.got)-1]
	return k.cta == ev.CTA && k.warp == ev.Warp && ev.Mask>>k.lane&1 != 0
}

// A drawNow tells a drawCount of events before the judge sees them.
type drawNow struct{ n *drawCount }

func (o drawNow) Observe(_ *machine.Machine, ev *machine.Event) { o.n.now = ev }

// touches reports whether bytes are the counter's.
func (n *drawCount) touches(s machine.Span) bool {
	return s.Mem == n.d.word.mem && s.Addr < n.d.word.addr+4 && n.d.word.addr < s.Addr+s.Len
}

// Observe makes a drawCount a machine.Observer. It comes after the judge.
func (n *drawCount) Observe(_ *machine.Machine, ev *machine.Event) {
	elsewhere(ev, n.meets)
	if ev.Kind != machine.EvAccess {
		return
	}
	if !n.d.at[ev.PC] {
		for lane := range 32 {
			if ev.Mask>>lane&1 != 0 {
				n.meets(machine.Span{Mem: ev.Mem, Addr: ev.Addr[lane], Len: uint64(ev.Size)}, ev.Access&(machine.Write|machine.Update) != 0)
			}
		}
		return
	}
	// What is not in order with this draw need not come before it. No pair shows that if who wrote
	// has drawn since: of a lane's accesses order keeps the last.
	n.open = n.open || n.wrote
	n.narrow = n.narrow || ev.Scope < machine.ScopeGPU
	for lane := range 32 {
		if ev.Mask>>lane&1 != 0 {
			n.got = append(n.got, n.next(ev, lane))
			n.drawn[drawKey{ev.CTA, ev.Warp, lane, 0}]++
		}
	}
}

// meets takes what else is accessed than by draws.
func (n *drawCount) meets(s machine.Span, updates bool) {
	if n.touches(s) {
		n.other, n.wrote = true, n.wrote || updates
	}
}
