// Package prove decides every schedule of a launch by one run, or by one for each
// order of the accesses whose order matters, or for each list of clusters that one may
// get by launch control.
//
// One run decides for every schedule where the conditions of docs/schedules.md hold:
// a confluence.Prover watches C0 to C7 and C10, a judge that ignores what only this run
// observed watches C8, and the program itself decides C9.
package prove

import (
	"fmt"
	"maps"
	"slices"

	"muster/internal/confluence"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/parallel"
	"muster/internal/rules"
	"muster/internal/trial"
)

// A Proof is the result of the attempt.
type Proof struct {
	Holds   bool
	Reasons []Reason // why it does not hold
	// Contents: buffer contents may matter, though no register shows it.
	Contents bool
	// Earlier: CTAs wait for others, of clusters that start before theirs.
	Earlier bool
	// Together: it would hold if lanes of a warp that take a step together in the run did
	// so in every schedule, as on a card.
	Together bool
	// Residency: it would hold if all CTAs were resident together.
	Residency bool
	// Sums are instructions by which several threads add floating-point numbers to a word
	// that nobody reads: the last bits of the sum may depend on the schedule.
	Sums []int32
	// Words are the words to which they add, of a run of the proof.
	Words []machine.Sum
	read  []mixture // loads of sums
	// Joint are instructions by which lanes of a warp add floating-point numbers to a word
	// that is read: a run takes them in the order of the lanes' numbers.
	Joint []int32
	// Addresses are loads that give addresses that tcgen05.alloc wrote, and nothing else.
	Addresses Addresses
	// Parts are the clusters that were proven one by one.
	Parts trial.Parts
	// Orders: it is by a run for each order of some accesses. One run then does not show
	// which bytes every schedule accesses.
	Orders bool
	// Tickets: lanes draw numbers that decide where each stores something. Which lane stores
	// where, and so what memory holds in the end, depends on the schedule.
	Tickets bool
	// Unsettled are strong loads whose values may depend on the schedule, where a proof by the
	// classes of orders lacks nothing else.
	Unsettled []int32
	// refuted: a run has an error, so that no proof holds.
	refuted bool
	// Grants is how many runs it is by, one for each list of clusters that a cluster may get
	// instead of their starting, or of numbers that it may draw; 0: it is by other runs.
	Grants int
}

// A Reason is why a proof does not hold: a condition of docs/schedules.md, or
// CutShort, and where; PC is -1 if it has no place.
type Reason struct {
	Condition string
	Text      string
	PC        int32
	together  bool // it holds if lanes stay together
	residency bool // it holds if all CTAs are resident together
	load      bool // of a strong load alone: its value may depend on the schedule
}

// CutShort is the condition of a proof whose run was cut short.
const CutShort = "the run"

// Try tries to decide every schedule by one run, or else by one for each order of the
// accesses whose order matters. It also returns the findings and gaps of the runs.
// Runs leave matrix arithmetic out if skip.
func Try(l *trial.Subject, w *trial.Budget, jobs int, skip bool) (Proof, trial.Result) {
	p, r := one(l, w, jobs, skip)
	if p.Decides() || p.refuted || w.Context.Err() != nil {
		return p, r
	}
	if !l.Hands {
		if q, s, ok := byPlaces(l, w, jobs, skip); ok {
			return q, s
		}
	}
	if !l.Hands {
		if q, s, ok := byLocks(l, w, jobs, skip, max(8*r.Instrs, longOrder)); ok {
			return q, s
		}
	}
	if q, s, ok := byClasses(l, w, jobs, skip, max(8*r.Instrs, longOrder)); ok {
		return q, s
	} else {
		p.Unsettled = unsettledIn(&q, &s)
	}
	if !l.Hands {
		if q, s, ok := byTickets(l, w, jobs, skip, max(8*r.Instrs, longOrder)); ok {
			return q, s
		}
	}
	if q, s, ok := byOrders(l, w, max(8*r.Instrs, longOrder)); ok {
		return q, s
	}
	return p, r
}

func one(l *trial.Subject, w *trial.Budget, jobs int, skip bool) (Proof, trial.Result) {
	var p Proof
	flips := l.Program.Flips()
	decided := maps.Clone(l.Program.Peeks())
	maps.Copy(decided, loads(l.Program))
	draws := drawings(l.Program)
	maps.Copy(decided, draws)
	for _, d := range l.Program.DependencesBut(decided) {
		if covered(flips, &d) || asks(l.Program, &d) {
			continue // which the run judges, or runs for each answer
		}
		p.because(l, Reason{Condition: "C9", Text: fmt.Sprintf("%s depends on the schedule, by %s", d.Why, "what "+l.Line(d.From)+" gives"), PC: d.PC})
	}
	if len(draws)+len(p.Reasons) > 0 {
		if r := p.refutes(l, w, skip); p.refuted {
			return p, r
		}
	}
	if len(draws) > 0 && len(p.Reasons) == 0 {
		w.Meter.Stage("following the numbers that atomic operations give", "", 0)
		p.drawn(l, w, draws)
	}
	if len(p.Reasons) > 0 {
		return p, trial.Result{}
	}
	contents := p.Contents
	if grantsMatter(l) {
		return byGrants(l, w, jobs, skip)
	}
	p, r := One(l, w, jobs, skip, nil)
	p.Contents = p.Contents || contents
	return p, r
}

// covered reports whether a dependence is only that a wait for a bit ends, which the run judges.
func covered(flips map[int32]*machine.Flip, d *machine.Dependence) bool {
	for _, f := range flips {
		if f.Covers(d) {
			return true
		}
	}
	return false
}

// A View limits what an observer of a proof's run sees of it; nil: everything.
type View func(machine.Observer) machine.Observer

// One tries to decide by one run, split into parts where clusters do not interact. Of
// parts that are alike, one is judged.
func One(l *trial.Subject, w *trial.Budget, jobs int, skip bool, v View) (p Proof, r trial.Result) {
	if grantsMatter(l) {
		p.because(l, Reason{Condition: "C9", Text: grantsDecide, PC: -1})
		return p, r
	}
	w.Meter.Stage("proof by one run", "", 0)
	of := l.Clusters(w, jobs, skip)
	p.Parts = of
	parts := make([]Part, of.N)
	judge := func(k []int) {
		if len(k) > 1 {
			w.Meter.Stage("proof by one run", "cluster", len(k))
		}
		parallel.Each(jobs, len(k), func(i int) {
			parts[k[i]] = provePart(l, w, runOf{skip: skip, k: k[i], n: of.N, view: v})
			w.Meter.Did(1)
		})
	}
	var first, unlike []int
	for i, c := range of.Class {
		if c == i {
			first = append(first, i)
		}
	}
	judge(first)
	for i, c := range of.Class {
		if c != i && parts[c].values {
			unlike = append(unlike, i)
		}
	}
	judge(unlike)
	for i, c := range of.Class {
		if c != i && !parts[c].values {
			parts[i] = parts[c]
		}
		r.Add(&parts[i].Result)
		p.Take(l, &parts[i])
	}
	p.Found(l, &r)
	p.concludes()
	p.rounds(l, w)
	return p, r
}

// Decides reports whether the proof holds, if need be where lanes stay together, or all CTAs
// are resident together.
func (p *Proof) Decides() bool { return p.Holds || p.Together || p.Residency }

// concludes decides whether the proof holds, and given what.
func (p *Proof) concludes() {
	p.Holds, p.Together, p.Residency = len(p.Reasons) == 0, false, false
	if p.onlyAssumed() {
		p.Together = slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.together })
		p.Residency = slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.residency })
	}
}

// onlyAssumed reports whether there is no reason against the proof for lanes that stay
// together, and CTAs that are resident together.
func (p *Proof) onlyAssumed() bool {
	return !slices.ContainsFunc(p.Reasons, func(r Reason) bool { return !r.together && !r.residency })
}

// Take adds the reasons against a part's proof.
func (p *Proof) Take(l *trial.Subject, part *Part) {
	p.Contents = p.Contents || part.contents
	p.Earlier = p.Earlier || part.earlier
	p.Sums, p.Joint = union(p.Sums, part.sums), union(p.Joint, part.joint)
	p.read = append(p.read, part.read...)
	p.Addresses.add(&part.addresses)
	for _, f := range part.failures {
		p.because(l, Reason{Condition: f.Condition.String(), Text: f.Text, PC: f.PC, together: f.Mates != 0, residency: f.Residency})
	}
	for _, f := range part.mixed {
		p.because(l, Reason{Condition: "C8", Text: f.why, PC: f.pc})
	}
	for _, f := range part.unsettled {
		p.because(l, Reason{Condition: "C9", Text: f.why, PC: f.pc, load: true})
	}
}

// union adds to a list what it lacks.
func union(list, more []int32) []int32 {
	for _, pc := range more {
		if !slices.Contains(list, pc) {
			list = append(list, pc)
		}
	}
	return list
}

// Found adds the errors that a run found: they refute the proof. The list may be
// incomplete.
func (p *Proof) Found(l *trial.Subject, r *trial.Result) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity == rules.Error {
			p.because(l, Reason{Condition: "C8", Text: f.Kind + ", where only what holds in every schedule counts", PC: f.Sites[len(f.Sites)-1].PC})
		}
	}
	for _, g := range r.Gaps {
		p.because(l, Reason{Condition: CutShort, Text: g.What, PC: g.PC})
	}
}

func (p *Proof) because(l *trial.Subject, r Reason) {
	same := func(old Reason) bool {
		return old.Condition == r.Condition && old.Text == r.Text && old.together == r.together && old.residency == r.residency &&
			(old.PC < 0 || r.PC < 0 || l.Program.Pos(old.PC) == l.Program.Pos(r.PC))
	}
	if !slices.ContainsFunc(p.Reasons, same) {
		p.Reasons = append(p.Reasons, r)
	}
}

// A Part is what one part of the run showed.
type Part struct {
	trial.Result
	failures []confluence.Failure
	mixed    []mixture
	// unsettled are the loads whose values the schedule decides.
	unsettled []mixture
	sums      []int32
	read      []mixture // loads of sums
	joint     []int32
	addresses Addresses
	contents  bool // as in Proof
	earlier   bool
	values    bool // stores write equal values: a part that is alike may write others
}

// A runOf says which run is watched: of which part, without matrix arithmetic if skip.
type runOf struct {
	skip bool
	k, n int // part k of n
	view View
	// beside watches it, too.
	beside machine.Observer
}

// provePart watches one run of a part. If that shows unordered stores of equal
// values, it watches a second one that forgets nothing at their places.
func provePart(l *trial.Subject, w *trial.Budget, of runOf) Part {
	r, equal := proveRun(l, w.Enough(refuted), of, nil)
	if r.Cut && !r.Wrong() {
		r, equal = proveRun(l, w, of, nil)
	}
	if len(equal) > 0 {
		r, _ = proveRun(l, w, of, equal)
	}
	return r
}

// refuted is how many warp instructions a proof's run goes on once it is refuted.
const refuted = 1 << 18

// proveRun watches one run, given the stores known to write what unordered others do.
// It returns those found in addition.
func proveRun(l *trial.Subject, w *trial.Budget, of runOf, known map[int32]bool) (r Part, equal map[int32]bool) {
	if why := w.Over(); why != "" {
		r.Gaps = []rules.Gap{{What: why, PC: -1}}
		return r, nil
	}
	s := Watch(l, known)
	o := s.Observers()
	if of.beside != nil {
		o = append(o, of.beside)
	}
	m := l.Part(of.view.of(o), of.skip, of.k, of.n)
	m.ShowCollectives()
	m.FailPeeks()
	return s.Follow(w, m, of.skip, of.n > 1)
}

// Watchers watch one run for a proof.
type Watchers struct {
	l      *trial.Subject
	known  map[int32]bool
	judge  *rules.Judge
	Prover *confluence.Prover
	strong *strongAccesses
	loads  *loadedWords
	// Addresses are the loads of addresses that tcgen05.alloc wrote.
	Addresses Addresses
}

// Watch returns the watchers of a run, given the stores known to write what unordered
// others do.
func Watch(l *trial.Subject, known map[int32]bool) *Watchers { return watch(l, known, nil) }

// watch is Watch for a judge with more settings.
func watch(l *trial.Subject, known map[int32]bool, more func(*rules.Config)) *Watchers {
	polls := l.Program.Polls()
	c := l.Rules()
	c.MustOnly = true
	flips := l.Program.Flips()
	prover := confluence.New(confluence.Config{Shape: l.Shape, Program: l.Program, Polls: polls, Flips: flips, Peeks: l.Program.PeekWaits(), Granted: l.Gets})
	if len(flips) > 0 {
		c.Round = prover.Round
	}
	if len(polls)+len(flips) > 0 {
		c.Looks = func(pc int32) bool { return polls[pc] != nil }
		c.Ends = func(m order.Memory, ev *machine.Event, lane int) bool {
			if flip := flips[ev.PC]; flip != nil {
				now, ok := m.Peek(ev.Mem, ev.Addr[lane], 4)
				return ok && flip.Ends(uint32(now), m.(*machine.Machine).Ticket(flip, lane))
			}
			poll := polls[ev.PC]
			if poll == nil {
				return false
			}
			now, ok := m.Peek(ev.Mem, ev.Addr[lane], int(min(ev.Size, 8)))
			return ok && poll.Ends(now, m.(*machine.Machine).ComparedWith(poll, lane))
		}
	}
	if known != nil {
		c.Equal = func(pc int32) bool { return known[pc] }
	}
	s := &Watchers{l: l, known: known, Prover: prover, strong: &strongAccesses{prog: l.Program, polls: polls}}
	if pcs := loads(l.Program); len(pcs) > 0 {
		s.loads = newLoadedWords(l.Program, pcs)
		c.Strong = s.loads.pair
	}
	if len(polls) > 0 { // what is handed on by a word is written by several, one after the other
		s.strong.open = map[place]bool{}
		loaded := c.Strong
		c.Strong = func(p order.Pair) {
			if s.strong.pair(p); loaded != nil {
				loaded(p)
			}
		}
	}
	if more != nil {
		more(&c)
	}
	s.judge = rules.NewJudge(c)
	return s
}

// Observers returns the observers that the run needs.
func (s *Watchers) Observers() trial.Observers {
	o := s.Addresses.Observed(s.l.Program, trial.Observers{s.judge, s.Prover, s.strong})
	if s.loads != nil {
		o = append(o, s.loads)
	}
	return o
}

// Follow runs a machine with these observers to its end, and returns what that
// showed. The machine is one part of the launch, or all of it.
func (s *Watchers) Follow(w *trial.Budget, m *machine.Machine, skip, part bool) (r Part, equal map[int32]bool) {
	var ended bool
	if r.Result, ended = s.l.RunProof(w, s.judge, m, part); r.Err != nil {
		return r, nil
	}
	if !ended && len(r.Gaps) == 0 {
		r.Gaps = append(r.Gaps, rules.Gap{What: "the run did not come to its end", PC: -1})
	}
	r.failures, r.mixed, r.sums, r.joint, r.read = s.Prover.Finish(), s.strong.mixed, s.strong.sums, s.strong.joint, s.strong.sumsRead
	if s.loads != nil {
		r.unsettled = s.loads.unsettled()
	}
	r.addresses = s.Addresses
	r.contents, r.earlier = s.strong.maps, s.Prover.WaitsForEarlier()
	return r, r.equalStores(s.l.Program, s.judge.Order.Conflicts(), s.known, skip)
}

func (v View) of(o machine.Observer) machine.Observer {
	if v == nil {
		return o
	}
	return v(o)
}

// equalStores judges unordered stores of equal values. Those by lanes of one
// instruction, which share a clock, count as one. Others must be known, so that
// nothing was forgotten at their places. Values are then the same in every schedule,
// but not for other contents of the buffers, nor if the run left their computation
// out. It returns the unknown ones.
func (r *Part) equalStores(prog *machine.Program, conflicts []order.Conflict, known map[int32]bool, skip bool) (equal map[int32]bool) {
	for i := range conflicts {
		c := &conflicts[i]
		pc := c.Cur.PC
		if c.Why&order.SameValue == 0 {
			continue
		}
		r.values = true
		if c.Why&order.OneInstruction == 0 && !(known[c.Prior.PC] && known[pc]) {
			if equal == nil {
				equal = map[int32]bool{}
			}
			equal[c.Prior.PC], equal[pc] = true, true
			r.mixed = append(r.mixed, mixture{pc, "same-value, where only what holds in every schedule counts"})
		}
		if skip && prog.Stores(machine.FromMatrices, pc) {
			r.mixed = append(r.mixed, mixture{pc, "same-value, of what matrix instructions compute, which the proof leaves out"})
		}
		r.contents = r.contents || prog.Stores(machine.FromBuffers, pc)
	}
	return equal
}
