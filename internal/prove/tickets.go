package prove

import (
	"math"
	"slices"

	"muster/internal/machine"
	"muster/internal/parallel"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/internal/undefined"
)

// Drawn numbers that are worked on: a dynamic scheduler, slots of a list. What a cluster does is
// decided by the numbers that it draws from the counter, if it shares nothing else with others.
// So each cluster runs by itself for each list of numbers that it may draw, in their order, as
// those of launch control do (grants.go). In a schedule each number is drawn once. So if every
// byte of global memory that some run writes is touched by runs alone that have a number or the
// cluster in common, no two that come together in a schedule touch it, and each does what its run
// did.
//
// How many numbers there are: a number is final if a cluster that draws it draws no other. Each
// cluster draws at most one final number, and each other number is drawn once. A run of the
// launch that draws as many shows that there are no more.

const (
	// maxLists bounds the lists of numbers that are gone through, maxElements the numbers and
	// clusters that these are made of.
	maxLists    = 4096
	maxElements = 512
	// maxShared bounds what it takes to find the bytes that runs share.
	maxShared = 1_000_000
)

// elements is a set of numbers and clusters.
type elements [maxElements / 64]uint64

func (e *elements) add(i int)      { e[i/64] |= 1 << (i % 64) }
func (e *elements) has(i int) bool { return e[i/64]>>(i%64)&1 != 0 }

// A ticketRun is what a cluster does that draws some numbers.
type ticketRun struct {
	cluster int
	list    []uint32 // from the first number of the counter on
	marks   elements // numbers that no other cluster can have, and the cluster
	part    Part
	likes   []int64 // up to which number each could be
	touched trial.Accesses
	unknown bool
}

// like returns up to which number the i-th could be.
func (t *ticketRun) like(i int) int64 {
	if i < 0 {
		return math.MaxInt64
	}
	return t.likes[i]
}

// A counting goes through the lists of numbers.
type counting struct {
	drawing
	first    uint32 // number
	n        int    // numbers
	clusters int
	runs     []*ticketRun
	more     elements // numbers after which a cluster draws another
	draws    int      // clusters that draw
}

// byTickets tries to decide every schedule by a run of each cluster for each list of numbers that
// it may draw.
func byTickets(l *trial.Subject, w *trial.Budget, jobs int, skip bool, most int64) (p Proof, r trial.Result, ok bool) {
	at := drawers(l.Program)
	c := &counting{drawing: drawing{l: l, w: w, at: at, most: most, skip: skip}, clusters: l.Start.ClusterCount()}
	if len(at) == 0 || !c.alone() || !c.begins() {
		return p, r, false
	}
	w.Meter.Stage("proof by the numbers that clusters may draw", "list", 0)
	for i := range c.clusters {
		if _, ok := c.lists(i, nil); !ok {
			return p, r, false
		}
	}
	final := 0
	for i := range c.n {
		if !c.more.has(i) {
			final++
		}
	}
	if c.n-final+c.draws > c.n {
		return p, r, false // another schedule may draw more
	}
	if (c.n+c.clusters)*len(c.runs) > maxShared {
		return p, r, false
	}
	parallel.Each(jobs, len(c.runs), func(i int) { c.judge(c.runs[i]) })
	for _, one := range c.runs {
		p.Take(l, &one.part)
		r.Add(&one.part.Result)
		ok = ok || one.unknown
	}
	p.Found(l, &r)
	p.sumsMatter(l)
	if ok || len(p.Reasons) > 0 || !c.apart() {
		return p, r, false
	}
	p.concludes()
	p.Contents, p.Grants = true, len(c.runs)
	return p, r, p.Holds
}

// alone reports whether clusters share nothing but memory, and nothing else depends on the
// schedule than what is drawn.
func (c *counting) alone() bool {
	l := c.l
	if len(l.Shape.Grids) > 0 || l.Program.Allocates() || l.Start.SharesMultiprocessors() || l.Program.Cancels() || c.clusters+1 > maxElements {
		return false
	}
	return len(l.Program.DependencesBut(c.decided())) == 0
}

// begins makes one run of the launch, for the number of draws.
func (c *counting) begins() bool {
	n := newDrawCount(&c.drawing, nil)
	list, ok := c.followed(c.l, n, false)
	if !ok || len(list) == 0 {
		return false
	}
	c.word = place{list[0].Mem, list[0].Addr}
	c.first, c.n = list[0].Old, len(list)
	for i := range list {
		if d := &list[i]; (place{d.Mem, d.Addr}) != c.word || d.Old != c.first+uint32(i) {
			return false
		}
	}
	if !c.count(list) {
		return false
	}
	return c.word.mem == machine.Global && c.n+c.clusters <= maxElements && int64(c.first)+int64(c.n) < 1<<32
}

// count reports whether draws count on by one, whatever number they find: a maximum may do so in
// one order alone.
func (c *counting) count(list []machine.Draw) bool {
	return !slices.ContainsFunc(list, func(d machine.Draw) bool {
		by, ok := d.Counts(c.l.Program)
		return !ok || by != 1 || !d.CountsUpTo(c.l.Program, int64(c.first)+int64(c.n))
	})
}

// followed makes a run that follows the numbers, and returns its draws, by one lane if alone.
func (c *counting) followed(l *trial.Subject, n *drawCount, alone bool) ([]machine.Draw, bool) {
	m := l.Machine(n, nil)
	m.FailPeeks()
	u := m.FollowUndefined()
	u.FollowDraws(c.at, true)
	if !c.follow(m, n, nil) || !m.Done() {
		return nil, false
	}
	list, known := u.Drawn(m)
	if len(list) != len(n.got) || alone && !known {
		return nil, false
	}
	for i := range n.got {
		if alone && (n.got[i].cta != n.got[0].cta || n.got[i].warp != n.got[0].warp || n.got[i].lane != n.got[0].lane) {
			return nil, false
		}
	}
	return list, true
}

// lists goes through the lists that a cluster may draw which begin with one. It returns up to
// which number the last of that could be, with the same runs.
func (c *counting) lists(cluster int, list []uint32) (like int64, ok bool) {
	if stop, _ := c.w.Stop(); stop() || len(c.runs) >= maxLists {
		return 0, false
	}
	n := newDrawCount(&c.drawing, nil)
	draws, ok := c.followed(c.numbered(cluster, list), n, true)
	if !ok || len(draws) < len(list) || n.other || n.narrow || !c.count(draws) {
		return 0, false
	}
	like = math.MaxInt64
	if k := len(list); k > 0 {
		like = min(draws[k-1].Hi, math.MaxInt64/2) - int64(c.first)
	}
	if len(draws) == len(list) {
		one := &ticketRun{cluster: cluster, list: slices.Clone(list)}
		one.marks.add(c.n + cluster)
		for i, k := range list {
			if draws[i].Lo == draws[i].Hi {
				one.marks.add(int(k))
			}
			one.likes = append(one.likes, min(draws[i].Hi, math.MaxInt64/2)-int64(c.first))
		}
		c.runs = append(c.runs, one)
		return like, true
	}
	next := 0
	if k := len(list); k > 0 {
		next = int(list[k-1]) + 1
		c.more.add(int(list[k-1]))
	} else {
		c.draws++
	}
	for next < c.n {
		from := len(c.runs)
		to, ok := c.lists(cluster, append(list, uint32(next)))
		if !ok {
			return 0, false
		}
		for _, one := range c.runs[from:] {
			like = min(like, one.like(len(list)-1))
		}
		for k := next + 1; k < c.n && int64(k) <= to; k++ {
			if c.more.has(next) {
				c.more.add(k) // it does the same
			}
		}
		next = int(min(max(to, int64(next)), int64(c.n))) + 1
	}
	return like, true
}

// numbered is the launch of one cluster that draws these numbers.
func (c *counting) numbered(cluster int, list []uint32) *trial.Subject {
	out := make([]uint32, len(list))
	for i, k := range list {
		out[i] = c.first + k
	}
	return c.l.Numbered(cluster, c.word.mem, c.word.addr, out)
}

// judge makes the run of a list that is judged.
func (c *counting) judge(one *ticketRun) {
	l := c.numbered(one.cluster, one.list)
	one.part = provePart(l, c.w, runOf{skip: c.skip, n: 1, beside: &one.touched})
	one.unknown = undefined.DropUnreached(l, c.w, &one.part.Result) || slices.ContainsFunc(one.part.Findings, func(f rules.Finding) bool {
		return rules.MayReach(&f) || rules.Dropped(&f)
	})
}

// apart reports whether all runs that touch a byte that some run writes have a number or the
// cluster in common. What they do to the counter, all know.
func (c *counting) apart() bool {
	var counter, written, left trial.Bytes
	counter.Add(c.word.addr, 4)
	for _, one := range c.runs {
		written.Join(&one.touched.Written)
	}
	written.Remove(&counter)
	left.Join(&written)
	for e := range c.n + c.clusters {
		var own, others trial.Bytes
		own.Join(&written)
		for _, one := range c.runs {
			if !one.marks.has(e) {
				others.Join(&one.touched.Read)
				others.Join(&one.touched.Written)
			}
		}
		own.Remove(&others)
		left.Remove(&own)
	}
	return left.Empty()
}
