package explore

import (
	"math/bits"
	"slices"
	"strings"

	"muster/internal/machine"
)

// A Search runs a launch under one schedule of each kind: schedules that differ only
// in the order of independent steps are of one kind, since they lead to the same
// state, the agents' knowledge included. The algorithm is source-DPOR with sleep sets
// (Abdulla, Aronsson, Jonsson and Sagonas, Optimal dynamic partial order reduction,
// POPL 2014), stateless: each run begins at the start, takes the choices of its
// prefix, and then goes on freely. touch.go defines which steps depend on each other,
// trace.go which pairs of a run's steps are races that can be reversed.
//
// Only interleavings are explored, unless Space.Allows is set: whether the memory model of
// the ISA has outcomes that no interleaving shows is the question of package outcome.
type Search struct {
	space  *Space
	limits Limits
	nodes  []*node
	steps  []*step // of the run under way, one a node
	fresh  int     // nodes from here on have not been run yet
	count  Coverage
	ended  bool
	// above and before are the nodes and steps on the way to a unit that has not begun: see
	// begin.
	above  []*node
	before []*step
}

// A Space makes the runs of a launch.
type Space struct {
	// Fork returns a machine that is about to begin, watched by o.
	Fork func(o machine.Observer) *machine.Machine
	// Watch returns the watcher of the next run.
	Watch func() Watcher
	// Allows, if set, makes the search one of executions (execution.go): it reports whether
	// the axioms allow a choice in the run that a Watcher follows. Machines keep versions.
	Allows func(w Watcher, m *machine.Machine, c machine.Choice) bool
	// Joint: what one process reads may rule out what Allows left to another one.
	Joint bool
	// WeakFences: the order of fence.sc does not matter.
	WeakFences bool
	// Stop, if set, is asked in the middle of steps, too; a run that it ends is
	// discarded.
	Stop func() bool
}

// A Watcher watches one run. At its end End is called with the choices that reproduce
// it, without the last ones, which the policy Latest makes; a run that proves
// equivalent to another one is abandoned without End.
type Watcher interface {
	machine.Observer
	End(m *machine.Machine, path []machine.Choice)
}

// Limits bound a search.
type Limits struct {
	Schedules int   // runs, abandoned ones included
	Steps     int64 // of all runs together, those of their prefixes included
	Length    int   // steps of one run
	// Preemptions, if not 0, is how many a run may have; less than 0 for none. See
	// bound.go.
	Preemptions int
}

// Coverage is what a search has done.
type Coverage struct {
	Schedules int   `json:"schedules"` // that ran to their end
	Left      int   `json:"left"`      // that were abandoned as equivalent to others
	Steps     int64 `json:"steps"`
	Longest   int   `json:"longest"` // steps of the longest run
	// Complete: every schedule is equivalent to one that ran. Otherwise Why says what
	// prevented it.
	Complete bool   `json:"complete"`
	Why      string `json:"why,omitempty"`
	// Cut: schedules were left out for their preemptions. Without a Why all others
	// are equivalent to one that ran.
	Cut bool `json:"cut,omitempty"`
	// Long is how many runs were cut short for their length, and set aside: what they and the
	// runs that begin like them lead to was not looked at.
	Long int `json:"long,omitempty"`
	// Open is how many runs are left at least, and OpenSteps how many steps these have at
	// least, the longest one's not counted.
	Open      int   `json:"open,omitempty"`
	OpenSteps int64 `json:"open_steps,omitempty"`
}

// A node is a state of the run under way.
type node struct {
	ways  []machine.Choice // enabled there
	since []machine.Choice // processes not enabled in the state before
	taken machine.Choice
	alts  []machine.Choice // the other choices of the process that is taken
	todo  []machine.Choice // processes still to be tried
	done  []*step          // that were tried, in order
	sleep []*step          // the sleep set: equivalent runs were made already
	later []*step          // that other units try, after what is tried here

	// The preemption state: the split that ran last, if any, whether leaving it is a
	// preemption, and how many there were on the way here.
	ran, busy   bool
	on          machine.Choice
	preemptions int
}

// NewSearch prepares a search.
func NewSearch(s *Space, l Limits) *Search { return &Search{space: s, limits: l} }

// Run goes on until everything is explored, or a limit is reached, or stop, which it
// asks now and then, reports true. Run can then be called again.
func (s *Search) Run(stop func() bool) Coverage {
	s.begin()
	why := ""
	for !s.ended && why == "" {
		switch {
		case s.allLong():
			why = s.cutShort()
		case s.spent() != "":
			why = s.spent()
		case !s.run(stop):
			why = "stopped"
		default:
			s.ended = !s.next()
		}
	}
	if why == "" {
		why = s.cutShort()
	}
	c := s.Covered()
	if why != "" {
		c.Why = why
	}
	c.Complete = c.Why == "" && !c.Cut
	c.Open, c.OpenSteps = s.open()
	return c
}

// open returns how many runs are left at least, and how many steps all of them but the longest
// have at least: one run for each process that is left to try, since none of these is asleep,
// with the steps to its state and its own.
func (s *Search) open() (runs int, steps int64) {
	if s.ended {
		return 0, 0
	}
	longest := 0
	add := func(depth int) {
		runs, steps, longest = runs+1, steps+int64(depth)+1, max(longest, depth+1)
	}
	add(s.fresh) // that is next
	for d, n := range s.nodes {
		for i, p := range n.todo {
			if p != process(n.taken) && !n.tried(p) && !n.asleep(p) && !slices.Contains(n.todo[:i], p) {
				add(len(s.above) + d)
			}
		}
	}
	return runs, steps - int64(longest)
}

// In moves the search to another space of the same launch.
func (s *Search) In(space *Space) *Search {
	s.space = space
	return s
}

// Limit gives the search other limits.
func (s *Search) Limit(l Limits) { s.limits = l }

// Covered returns what has been explored so far.
func (s *Search) Covered() Coverage { return s.count }

// The Why of a search whose budget ran out.
const (
	SpentSchedules = "the budget of schedules ran out"
	SpentSteps     = "the budget of steps ran out"
)

func (s *Search) spent() string {
	switch {
	case s.limits.Schedules > 0 && s.count.Schedules+s.count.Left >= s.limits.Schedules:
		return SpentSchedules
	case s.limits.Steps > 0 && s.count.Steps >= s.limits.Steps:
		return SpentSteps
	}
	return ""
}

// Spent reports whether a Why says that a budget ran out.
func Spent(why string) bool {
	return strings.HasPrefix(why, SpentSchedules) || strings.HasPrefix(why, SpentSteps)
}

// next goes back to the last state at which a process is left to try.
func (s *Search) next() bool {
	for n := len(s.nodes); n > 0; n-- {
		at := s.nodes[n-1]
		at.done = append(at.done, s.steps[n-1])
		if len(at.alts) > 0 {
			at.taken, at.alts = at.alts[0], at.alts[1:]
			s.nodes, s.steps, s.fresh = s.nodes[:n], s.steps[:n-1], n-1
			return true
		}
		for len(at.todo) > 0 {
			p := at.todo[0]
			at.todo = at.todo[1:]
			if at.tried(p) || at.asleep(p) {
				continue
			}
			// What other units try counts as tried before it.
			at.done, at.later = append(at.done, at.later...), nil
			at.take(at.way(p))
			s.nodes, s.steps, s.fresh = s.nodes[:n], s.steps[:n-1], n-1
			return true
		}
	}
	return false
}

// way returns the choice of a process at the state.
func (n *node) way(p machine.Choice) machine.Choice {
	for _, c := range n.ways {
		if process(c) == p && n.open(c) {
			return c
		}
	}
	panic("BUG: a process is tried where it cannot go on")
}

func (n *node) can(p machine.Choice) bool {
	return slices.ContainsFunc(n.ways, func(c machine.Choice) bool { return process(c) == p })
}

func (n *node) tried(p machine.Choice) bool { return holds(n.done, p) || holds(n.later, p) }

// asleep reports whether all that begins with a process was tried before: none of its choices
// is open.
func (n *node) asleep(p machine.Choice) bool {
	return holds(n.sleep, p) && !slices.ContainsFunc(n.ways, func(c machine.Choice) bool { return process(c) == p && n.open(c) })
}

func holds(list []*step, p machine.Choice) bool {
	return slices.ContainsFunc(list, func(s *step) bool { return process(s.choice) == p })
}

// run makes one run: the choices of the nodes, and then on to the end. It
// reports false if stop ended it.
func (s *Search) run(stop func() bool) bool {
	w := s.space.Watch()
	c := &collector{next: w, weak: s.space.WeakFences}
	m := s.space.Fork(c)
	m.StopWhen(s.space.Stop)
	c.start(m)
	for d := range s.fresh {
		m.Step(s.nodes[d].taken)
	}
	if interrupted(m) {
		return false
	}
	nodes, steps := len(s.nodes), s.count.Steps
	s.count.Steps += int64(s.fresh)
	left, long := false, false
	var hangs [][]machine.Choice
	for d := s.fresh; ; d++ {
		if d == len(s.nodes) {
			n, more := s.arrive(m, w)
			if n == nil {
				left = more
				break
			}
			if s.space.Allows != nil && !s.space.Joint && n.waits() {
				hangs = append(hangs, s.path())
			}
			s.nodes = append(s.nodes, n)
		}
		st := c.take1(m, s.nodes[d].taken)
		s.steps = append(s.steps, st)
		s.count.Steps++
		if interrupted(m) || stop != nil && stop() {
			// As if it had not begun.
			s.nodes, s.steps, s.count.Steps = s.nodes[:nodes], s.steps[:s.fresh], steps
			return false
		}
		if s.limits.Length > 0 && d >= s.limits.Length {
			long = true
			break
		}
	}
	for _, path := range hangs {
		s.hang(path)
	}
	s.count.Longest = max(s.count.Longest, len(s.steps))
	s.backtrack(m)
	s.fresh = len(s.nodes)
	if left {
		s.count.Left++
		return true
	}
	s.count.Schedules++
	path := s.path()
	c.step = nil
	GoOn(m)
	m.Conclude()
	w.End(m, path)
	if long {
		s.setAside()
	}
	return true
}

// path returns the choices of the run, as they replay.
func (s *Search) path() []machine.Choice {
	path := make([]machine.Choice, len(s.nodes))
	for i, n := range s.nodes {
		switch path[i] = n.taken; n.taken.Kind {
		case machine.Start:
			path[i].CTA = s.steps[i].first
		case machine.Run, machine.Alone:
			path[i].Op, path[i].Rest = 0, ""
		}
	}
	return path
}

// GoOn takes a run on behind the choices that a search made, to its end.
func GoOn(m *machine.Machine) {
	r := runner{m: m}
	for m.Stopped() == nil && !m.Done() && r.step(Latest) {
	}
}

// arrive makes the node of the state that m is in. It returns none at the end of a
// run, and (left) where every enabled process is asleep.
func (s *Search) arrive(m *machine.Machine, w Watcher) (n *node, left bool) {
	n = &node{ways: s.ways(m, w)}
	if len(n.ways) == 0 {
		return nil, false
	}
	var last machine.Choice
	if d := len(s.nodes); d > 0 {
		before, by := s.nodes[d-1], s.steps[d-1]
		last = process(by.choice)
		n.since = appeared(before.ways, n.ways)
		n.follow(before, by, m)
		for _, p := range slices.Concat(by.met, unstartable(before, by, n)) {
			if before.can(p) && !before.asleep(p) {
				s.offer(before, p)
			}
		}
		if s.space.Joint {
			for _, p := range ruledOut(before, by, n) {
				s.offer(before, p)
			}
		}
		for _, p := range before.instead(by.choice) {
			if !before.asleep(p) {
				s.offer(before, p)
			}
		}
		if s.limits.Preemptions == 0 { // else a sleeping one may have cost less
			n.sleep = stillAsleep(slices.Concat(before.sleep, before.done), by)
		}
	}
	pick := -1
	for i, c := range n.ways {
		switch p := process(c); {
		case !n.open(c):
		case (p == last || s.limits.Preemptions != 0 && n.goesOn(p)) && c.Kind != machine.GiveUp:
			n.take(c)
			return n, false
		case pick < 0 || reluctance(c) < reluctance(n.ways[pick]):
			pick = i
		}
	}
	if pick < 0 {
		return nil, true
	}
	n.take(n.ways[pick])
	return n, false
}

// ways lists the choices of a state. Where clusters may be cancelled, the next to start is not
// always the same: then one process starts all of a launch, and is named by its first CTA.
func ways(m *machine.Machine) []machine.Choice {
	list := m.Ways(nil)
	if m.Program().Cancels() {
		for i := range list {
			if c := &list[i]; c.Kind == machine.Start {
				c.CTA = m.FirstCTA(c.CTA)
			}
		}
	}
	return list
}

// unstartable lists the starts that a request made impossible: it got the last cluster. No
// later step of the run shows that another order was possible.
func unstartable(before *node, by *step, is *node) (list []machine.Choice) {
	if by.choice.Kind != machine.Milestone {
		return nil
	}
	for _, c := range before.ways {
		if c.Kind == machine.Start && !is.can(process(c)) {
			list = append(list, process(c))
		}
	}
	return list
}

// dependent reports whether two steps that were both enabled in one state depend on each
// other.
func (s *step) dependent(o *step) bool {
	for _, a := range s.lanes {
		for _, b := range o.lanes {
			if a.cta == b.cta && a.warp == b.warp && a.mask&b.mask != 0 {
				return true
			}
		}
	}
	if ofOperation(s.choice) && ofOperation(o.choice) && s.choice.Op == o.choice.Op {
		return true
	}
	return s.accesses.dependent(o.accesses)
}

// instead returns the refusal of a request that gets a cluster, which no race tells.
func (n *node) instead(c machine.Choice) []machine.Choice {
	no := machine.Choice{Kind: machine.Refuse, Op: c.Op}
	if c.Kind != machine.Milestone || !n.can(no) {
		return nil
	}
	return []machine.Choice{no}
}

// reluctance orders choices by how soon a run takes them freely.
func reluctance(c machine.Choice) int {
	switch c.Kind {
	case machine.GiveUp:
		return 2
	case machine.Refuse:
		return 1
	}
	return 0
}

// ofOperation reports whether a choice is a milestone, or a refusal in place of one.
func ofOperation(c machine.Choice) bool {
	return c.Kind == machine.Milestone || c.Kind == machine.Refuse
}

// backtrack finds the races of the run's new steps, and adds backtrack points for
// their reversals.
func (s *Search) backtrack(m *machine.Machine) {
	t := newTrace(len(m.Program().Polls()) > 0)
	for d, st := range s.steps {
		races := t.add(st)
		if d+1 < len(s.nodes) {
			for _, p := range s.nodes[d+1].since {
				t.enable[p] = d
			}
		}
		if d >= s.fresh {
			for _, r := range races {
				s.reverse(t, r, st.choice, t.before[d])
			}
		}
	}
	for _, p := range blocked(m) {
		before, races := t.order(p)
		for _, r := range races {
			s.reverse(t, r, p.choice, before)
		}
	}
}

// reverse adds a backtrack point for a race's reversal, unless it is tried already.
func (s *Search) reverse(t *trace, r race, last machine.Choice, before set) {
	if s.limits.Preemptions != 0 {
		s.reverseBounded(r, process(last), before)
		return
	}
	n := s.nodes[r.first]
	first := t.initials(r, last, before)
	pick, found := machine.Choice{}, false
	asleep := false
	for _, p := range first {
		switch {
		case n.tried(p) || process(n.taken) == p || slices.Contains(n.todo, p):
			return
		case n.asleep(p):
			// It ran nevertheless, woken by a step on which it only may depend. Runs
			// that begin with it are covered, and the reversal need not contain it.
			asleep = true
		case (!found || p == process(last)) && n.can(p):
			pick, found = p, true
		}
	}
	switch {
	case found:
		s.offer(n, pick)
		return
	case asleep:
		return
	case len(first) == 1 && first[0] == process(last):
		return // nothing else can come before it, and it is not enabled there
	}
	for _, c := range n.ways {
		s.offer(n, process(c))
	}
}

// offer adds a process to those to try at a state, unless it is tried already, or the
// bound forbids it.
func (s *Search) offer(n *node, p machine.Choice) {
	switch {
	case n.tried(p) || process(n.taken) == p || slices.Contains(n.todo, p):
	case s.tooMany(n, p):
		s.count.Cut = true
	default:
		n.todo = append(n.todo, p)
	}
}

// blocked returns the tests of barriers and of memory at which splits wait at the end
// of a run, an abandoned one included: its sleep sets say nothing of them.
func blocked(m *machine.Machine) []*step {
	if m.Stopped() != nil || m.Done() {
		return nil
	}
	var out []*step
	for _, v := range m.Waiting() {
		if v.Kind != machine.WaitMbar && v.Kind != machine.WaitMemory && !m.PollWaits(&v) {
			continue
		}
		c := machine.Choice{Kind: machine.GiveUp, CTA: v.CTA, Warp: v.Warp, Lane: int8(bits.TrailingZeros32(v.Mask))}
		col := &collector{}
		f := m.Clone().Fork(col, nil)
		f.StopWhen(nil)
		col.start(f)
		st := col.take1(f, c)
		if looks(st) {
			st.choice = process(c)
			out = append(out, st)
		}
	}
	return out
}

// looks reports whether a step only reads or tests: an atomic operation that polls
// leaves what it found.
func looks(s *step) bool {
	for i := range s.accesses {
		if x := &s.accesses[i]; x.role != reads && x.role != tests && x.poll == nil && !x.word {
			return false
		}
	}
	return len(s.accesses) > 0
}
