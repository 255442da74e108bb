package explore

import (
	"cmp"
	"slices"

	"muster/internal/machine"
)

// Shrinking. A schedule that shows something is rarely one that a person can
// follow: a random one changes the warp that runs at almost every step. Shrink
// looks for one that shows the same with the fewest switches, then the fewest
// steps, then the fewest choices written down. It is a search by trial, not a
// proof: what it returns shows the same, is never larger than what it was
// given, and is as small as its moves can make it.
//
// A run is cut into blocks: steps in a row of one agent. The moves leave out
// the end of the list, for a policy to take over; leave out blocks, which
// delays what they did until the agent's next block or the policy's turn; let
// a block go on for as long as its agent can; and join a block with the next
// one of its agent, at either's place. Where a block's agent cannot take a
// step, the rest of the block is left out, so that every list of blocks is a
// schedule.

// A Trial begins a run: a machine that stands at the start of a launch, and
// what to ask of the run.
type Trial func() (*machine.Machine, Question)

// A Question asks whether a run shows what is looked for.
type Question struct {
	// Bad is asked once the run is over.
	Bad func(*machine.Machine) bool
	// Shown, unless nil, is asked after every step: whether the run has already shown
	// it, however it goes on. The run is measured up to there, and trials end there.
	Shown func() bool
}

// A Size measures a schedule by the run that it makes, the part that its policy
// chooses included, up to where it has shown what is looked for, or to its end. Steps
// at the end of a hung run do not count if only splits that gave up their waits take
// them.
type Size struct {
	// Switches counts the steps whose agent differs from the previous step's:
	// another split (by CTA, warp and lowest lane) or asynchronous operation,
	// or the start of a cluster.
	Switches int
	Steps    int
	Choices  int    // explicit ones, or made at random
	Text     string // the schedule
}

// Compare orders sizes: by switches, steps, explicit choices, and then text.
func (a Size) Compare(b Size) int {
	return cmp.Or(cmp.Compare(a.Switches, b.Switches), cmp.Compare(a.Steps, b.Steps), cmp.Compare(a.Choices, b.Choices),
		cmp.Compare(len(a.Text), len(b.Text)), cmp.Compare(a.Text, b.Text))
}

// Switches counts the switches of a run.
func Switches(run []machine.Choice) int {
	n := 0
	for i := 1; i < len(run); i++ {
		if !SameAgent(run[i-1], run[i]) {
			n++
		}
	}
	return n
}

// SameAgent reports whether one agent takes both steps.
func SameAgent(a, b machine.Choice) bool {
	return process(a) == process(b)
}

// MostSteps bounds the recorded steps of a run.
const MostSteps = 1 << 22

// Record is Run, and returns every choice that was taken, in order. As explicit
// choices they make the same run again. It reports false if stop ended the run, and
// for one of more than MostSteps, which it ends there.
func Record(m *machine.Machine, s Schedule, stop func() bool) (run []machine.Choice, ok bool) {
	m.StopWhen(stop)
	r := runner{m: m}
	r.obey(s)
	r.log = func(c machine.Choice) {
		run = append(run, c)
		r.over = len(run) > MostSteps
	}
	s.ready(m)
	for _, c := range s.Prefix {
		r.take(c)
	}
	ok = r.follow(s.Policy, nil)
	return run, ok && len(run) <= MostSteps
}

// ShrinkOptions bound the work. All bounds but Stop are the same everywhere, so
// that the same schedule shrinks to the same.
type ShrinkOptions struct {
	Runs  int         // trials, at most; 0 for DefaultShrinkRuns
	Steps int         // of all trials together, at most; 0 for DefaultShrinkSteps
	Stop  func() bool // asked now and then; what is best so far is returned
	Ran   func()      // if set, called after each trial
}

// The default bounds of Shrink.
const (
	DefaultShrinkRuns  = 1000
	DefaultShrinkSteps = 2 << 20
)

// A Shrunk is what Shrink found.
type Shrunk struct {
	Schedule Schedule
	Size     Size
	From     Size // of the schedule that was given
	Runs     int  // trials made
	// Local: no move makes it smaller. It is false where a bound ran out.
	Local bool
}

// Shrink looks for the smallest schedule that shows what s shows. It reports
// false where s does not show it.
func Shrink(start Trial, s Schedule, o ShrinkOptions) (Shrunk, bool) {
	h := shrinker{start: start, runs: cmp.Or(o.Runs, DefaultShrinkRuns), steps: cmp.Or(o.Steps, DefaultShrinkSteps), stop: o.Stop, told: o.Ran}
	first, bad := h.first(s)
	if !bad && h.cut {
		h.whole = true
		first, bad = h.first(s)
	}
	if !bad {
		return Shrunk{Schedule: s, From: first.size, Size: first.size, Runs: 1}, false
	}
	h.search(first)
	if h.cut && !h.whole && !h.confirmed() {
		h.whole = true
		first, _ = h.first(s)
		h.search(first)
	}
	return Shrunk{Schedule: h.best.schedule, Size: h.best.size, From: first.size, Runs: h.ran, Local: !h.spent()}, true
}

// confirmed reports whether the best schedule shows it in its whole run.
func (h *shrinker) confirmed() bool {
	m, q := h.start()
	h.ran++
	return Run(m, h.best.schedule, h.stop) && q.Bad(m)
}

type shrinker struct {
	start   Trial
	stop    func() bool
	told    func()
	runs    int
	steps   int
	longest int // steps of a trial, at most
	ran     int // trials
	took    int // steps of all trials
	best    attempt
	stopped bool
	cut     bool // trials end where they have shown it
	whole   bool // trials must run to their end to show it
}

// An attempt is a schedule and the run that it makes.
type attempt struct {
	schedule Schedule
	blocks   []block // of the whole run
	explicit int     // blocks, whole or in part, that are explicit choices
	size     Size
}

// A block is steps in a row of one agent.
type block struct {
	who agent
	n   int
}

// An agent takes steps. An operation is named by its issuer and its number among that
// issuer's (nth): its number in the run depends on what others issued before.
type agent struct {
	kind      machine.ChoiceKind
	cta, warp int32
	lane      int8
	nth       int32
	op        int64 // the version of a Pick, the lanes of a Subset
}

// untilBlocked is the length of a block that goes on for as long as its agent can.
const untilBlocked = 1 << 30

func (h *shrinker) spent() bool {
	if !h.stopped && h.stop != nil {
		h.stopped = h.stop()
	}
	return h.stopped || h.ran >= h.runs || h.took >= h.steps
}

func (h *shrinker) search(first attempt) {
	h.best = first
	h.longest = 4*first.size.Steps + 4096
	for before := ""; before != h.best.size.Text && !h.spent(); {
		before = h.best.size.Text
		for _, p := range []Policy{Latest, Earliest, RoundRobin} {
			h.try(nil, p)
		}
		h.try(h.best.blocks, h.policy())
		h.trim()
		h.leaveOut()
		h.join()
		h.shorten()
	}
}

// try runs blocks, and a policy after them, and keeps the run if it is bad and
// smaller than the best. It reports whether it was bad, and no larger in
// switches and steps.
func (h *shrinker) try(blocks []block, p Policy) bool {
	a, bad := h.trial(blocks, p)
	return bad && a.size.Switches <= h.best.size.Switches && a.size.Steps <= h.best.size.Steps
}

// trial is try; it reports whether the run was bad, whatever its size.
func (h *shrinker) trial(blocks []block, p Policy) (a attempt, showed bool) {
	if h.spent() {
		return a, false
	}
	r, t, q := h.begin(h.longest)
	for _, b := range blocks {
		t.run(r, b)
	}
	explicit := len(t.choices)
	ended := r.follow(p, t.over)
	h.ran++
	if h.told != nil {
		h.told()
	}
	h.took += len(t.choices)
	if !ended || t.over() || !q.Bad(t.m) {
		return a, false
	}
	a = t.attempt(explicit, p)
	if a.size.Compare(h.best.size) < 0 {
		h.best = a
	}
	return a, true
}

// first runs the schedule that is given.
func (h *shrinker) first(s Schedule) (attempt, bool) {
	r, t, q := h.begin(MostSteps)
	r.obey(s)
	s.ready(t.m)
	for _, c := range s.Prefix {
		if !r.over && t.m.Offers(c) {
			r.take(c)
		}
	}
	explicit := len(t.choices)
	ok := r.follow(s.Policy, t.over)
	h.ran++
	a := t.attempt(explicit, s.Policy)
	a.schedule.Seed, a.schedule.Depth, a.schedule.Steps = s.Seed, s.Depth, s.Steps
	a.size.Text = a.schedule.String()
	if s.Policy.sampled() {
		a.size.Choices = a.size.Steps + 1 // what can be written down is preferred
	}
	return a, ok && q.Bad(t.m)
}

// begin prepares a run.
func (h *shrinker) begin(longest int) (*runner, *recording, Question) {
	m, q := h.start()
	m.StopWhen(h.stop)
	t := newRecording(m, longest)
	r := &runner{m: m, log: t.log}
	if q.Shown != nil && !h.whole {
		h.cut = true
		r.log = func(c machine.Choice) {
			if t.log(c); !r.over && q.Shown() {
				r.over, t.shown = true, len(t.choices)
			}
		}
	}
	return r, t, q
}

// policy is the one that takes over in trials.
func (h *shrinker) policy() Policy {
	if p := h.best.schedule.Policy; !p.sampled() {
		return p
	}
	return Latest
}

// trim looks for the shortest beginning of the run after which a policy still shows
// it.
func (h *shrinker) trim() {
	for _, p := range []Policy{Latest, Earliest} {
		all := h.best.blocks
		least(len(all), func(n int) bool {
			_, bad := h.trial(all[:n], p)
			return bad
		})
	}
}

// least returns the least n up to most that is good, supposing that every n above a
// good one is.
func least(most int, good func(int) bool) int {
	lo, hi := 0, most
	for lo < hi {
		if mid := (lo + hi) / 2; good(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// leaveOut leaves out blocks, many at a time and then fewer.
func (h *shrinker) leaveOut() {
	for size := max(1, len(h.best.blocks)/2); size >= 1 && !h.spent(); size /= 2 {
		for i := 0; i < len(h.best.blocks) && !h.spent(); {
			all := h.best.blocks
			rest := slices.Concat(all[:i], all[min(i+size, len(all)):])
			before := h.best.size.Text
			h.try(rest, h.policy())
			if h.best.size.Text == before {
				i += size
			}
		}
	}
}

// join lets blocks go on, and joins them with the next one of their agent.
func (h *shrinker) join() {
	for i := 0; i < len(h.best.blocks) && !h.spent(); i++ {
		all := h.best.blocks
		before := h.best.size.Text
		longer := slices.Clone(all)
		longer[i].n = untilBlocked
		h.try(longer, h.policy())
		j := i + 1
		for j < len(all) && all[j].who != all[i].who {
			j++
		}
		if h.best.size.Text == before && j < len(all) {
			early := slices.Delete(slices.Clone(all), j, j+1)
			early[i].n += all[j].n
			h.try(early, h.policy())
		}
		if h.best.size.Text == before && j < len(all) {
			late := slices.Clone(all)
			late[j].n += all[i].n
			h.try(slices.Delete(late, i, i+1), h.policy())
		}
		if h.best.size.Text != before {
			i = max(-1, i-2) // what came before may go together now
		}
	}
}

// shorten looks, with the run as small as it is, for the fewest explicit
// choices that make it: it leaves the end to a policy, and cuts every block to
// the fewest steps.
func (h *shrinker) shorten() {
	for _, p := range []Policy{Latest, Earliest} {
		all := h.best.blocks
		least(len(all), func(n int) bool { return h.try(all[:n], p) })
	}
	for i := h.best.explicit - 1; i >= 0 && !h.spent(); i-- {
		if i >= h.best.explicit {
			continue
		}
		part := slices.Clone(h.best.blocks[:h.best.explicit])
		least(part[i].n, func(n int) bool {
			part[i].n = n
			return h.try(part, h.policy())
		})
	}
}

// A recording follows a run: its choices, also grouped into blocks.
type recording struct {
	m       *machine.Machine
	longest int
	choices []machine.Choice
	blocks  []block
	ops     map[int64]agent // by number
	ids     map[agent]int64
	issued  map[agent]int32 // by the issuer: nth is 0
	seen    int64           // operations named
	shown   int             // steps after which it was shown; 0 if it was not
}

func newRecording(m *machine.Machine, longest int) *recording {
	return &recording{m: m, longest: longest, ops: map[int64]agent{}, ids: map[agent]int64{}, issued: map[agent]int32{}}
}

// over reports whether the run is longer than it may be.
func (t *recording) over() bool { return len(t.choices) > t.longest }

// log notes a step that was taken.
func (t *recording) log(c machine.Choice) {
	t.choices = append(t.choices, c)
	who := agent{kind: c.Kind, cta: c.CTA, warp: c.Warp, lane: c.Lane}
	switch {
	case ofOperation(c):
		who = t.ops[c.Op]
		who.kind = c.Kind
	case c.Kind == machine.Pick || c.Kind == machine.Subset:
		who.op = c.Op
	}
	if n := len(t.blocks); n > 0 && t.blocks[n-1].who == who {
		t.blocks[n-1].n++
	} else {
		t.blocks = append(t.blocks, block{who, 1})
	}
	if t.m.Issued() != t.seen {
		t.name()
	}
}

// name gives the operations that were just issued their names.
func (t *recording) name() {
	for _, op := range t.m.InFlight() {
		if op.ID <= t.seen {
			continue
		}
		who := agent{kind: machine.Milestone, cta: op.CTA, warp: op.Warp, lane: op.Lane}
		t.issued[who]++
		who.nth = t.issued[who]
		t.ops[op.ID], t.ids[who] = who, op.ID
	}
	t.seen = t.m.Issued()
}

// run takes the steps of a block that can be taken.
func (t *recording) run(r *runner, b block) {
	c := machine.Choice{Kind: b.who.kind, CTA: b.who.cta, Warp: b.who.warp, Lane: b.who.lane, Op: b.who.op}
	if ofOperation(c) {
		who := b.who
		who.kind = machine.Milestone
		id, ok := t.ids[who]
		if !ok {
			return
		}
		c = machine.Choice{Kind: b.who.kind, Op: id}
	}
	for n := b.n; n > 0 && !r.over && !t.over(); n-- {
		can := false
		if c.Kind == machine.Run {
			c, can = t.m.Holder(c)
		} else {
			can = t.m.Offers(c)
		}
		if !can {
			return
		}
		r.take(c)
	}
}

// attempt returns the run's schedule, and the part of the run that counts.
func (t *recording) attempt(explicit int, p Policy) attempt {
	run := t.choices
	if t.shown > 0 {
		run = run[:t.shown]
	} else if st := t.m.Stopped(); st != nil && st.Kind == machine.Deadlock {
		run = run[:len(run)-givingUp(run)]
	}
	explicit = min(explicit, len(run))
	s := Schedule{Policy: p, Prefix: run[:explicit:explicit]}
	a := attempt{schedule: s}
	for i, n := 0, 0; n < len(run); i++ {
		b := t.blocks[i]
		b.n = min(b.n, len(run)-n)
		if n < explicit {
			a.explicit++
		}
		n += b.n
		a.blocks = append(a.blocks, b)
	}
	a.size = Size{Switches: Switches(run), Steps: len(run), Choices: explicit, Text: s.String()}
	return a
}

// givingUp returns how many steps at the end of a run only give up waits, or continue
// splits that did.
func givingUp(run []machine.Choice) int {
	type split struct {
		cta, warp int32
		lane      int8
	}
	most := 0
	later := map[split]bool{} // splits that take a step that needs an earlier GiveUp
	for i := len(run) - 1; i >= 0; i-- {
		c := run[i]
		s := split{c.CTA, c.Warp, c.Lane}
		switch c.Kind {
		case machine.Run, machine.Alone, machine.Subset:
			later[s] = true
		case machine.GiveUp:
			if delete(later, s); len(later) == 0 {
				most = len(run) - i
			}
		default:
			return most
		}
	}
	return most
}
