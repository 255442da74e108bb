package muster

import (
	"context"
	"fmt"

	"muster/internal/confluence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/parallel"
	"muster/internal/report"
	"muster/internal/rules"
)

// One run decides for every schedule where the conditions of docs/schedules.md
// hold: C0 to C7 are watched by a confluence.Prover, C8 by a judge that takes
// nothing from what the run happened to observe, C9 is the program's own.

// A proof is what became of the attempt.
type proof struct {
	holds   bool
	reasons []report.Reason // why it does not hold
	// contents: what buffers hold may decide, though no register shows it.
	contents bool
	// earlier: CTAs wait for others, which start before them.
	earlier bool
}

// proofSchedule is the one that decides for all.
var proofSchedule = Schedule{Policy: explore.Latest}

// prove tries to decide every schedule by one run, or else by one for each order of
// the accesses whose order decides. What the runs show of findings and gaps comes
// with it.
func (l *Launch) prove(ctx context.Context, o CheckOptions, skip bool) (proof, result) {
	w := l.watch(ctx)
	p, r := l.proveOnce(w, o, skip)
	if p.holds || ctx.Err() != nil {
		return p, r
	}
	if q, s, ok := l.proveOrders(w); ok {
		return q, s
	}
	return p, r
}

func (l *Launch) proveOnce(w *watch, o CheckOptions, skip bool) (proof, result) {
	var p proof
	prog := l.config.Program
	for _, d := range prog.Dependences() {
		p.because(l, "C9", d.PC, fmt.Sprintf("%s depends on the schedule, by %s", d.Why, "what "+l.line(d.From)+" gives"))
	}
	if len(p.reasons) > 0 {
		return p, result{}
	}
	return l.proveParts(w, o.Jobs, skip, nil)
}

// A view is what an observer of a proof's run is let see of it; nil: everything.
type view func(machine.Observer) machine.Observer

// proveParts tries to decide by one run, parted where clusters do not interact.
func (l *Launch) proveParts(w *watch, jobs int, skip bool, v view) (p proof, r result) {
	n := l.parts()
	parts := make([]proofPart, n)
	parallel.Each(jobs, n, func(i int) { parts[i] = l.provePart(w, skip, i, n, v) })
	for i := range parts {
		if i > 0 && (parts[i].print == nil || parts[0].print == nil || !parts[0].print.Add(parts[i].print)) {
			// Clusters interact: all of them in one run.
			parts = []proofPart{l.provePart(w, skip, 0, 1, v)}
			break
		}
	}
	for i := range parts {
		r.add(&parts[i].result)
		p.take(l, &parts[i])
	}
	p.found(l, &r)
	p.holds = len(p.reasons) == 0
	return p, r
}

// take adds what stands against a part's proof.
func (p *proof) take(l *Launch, part *proofPart) {
	p.contents = p.contents || part.contents
	p.earlier = p.earlier || part.earlier
	for _, f := range part.failures {
		p.because(l, f.Condition.String(), f.PC, f.Text)
	}
	for _, f := range part.mixed {
		p.because(l, "C8", f.pc, f.why)
	}
}

// found adds what was found, of which nobody can say that it is all.
func (p *proof) found(l *Launch, r *result) {
	for i := range r.findings {
		if f := &r.findings[i]; f.Severity == rules.Error {
			p.because(l, "C8", f.Sites[len(f.Sites)-1].PC, f.Kind+", where only what holds in every schedule counts")
		}
	}
	for _, g := range r.gaps {
		p.because(l, report.CutShort, g.PC, g.What)
	}
}

func (p *proof) because(l *Launch, condition string, pc int32, text string) {
	r := report.Reason{Condition: condition, Text: text}
	if pc >= 0 {
		r.Place = l.resolver.Gap(rules.Gap{PC: pc}).Place
	}
	for _, old := range p.reasons {
		if old.Condition == r.Condition && old.Text == r.Text && (old.Place == nil || r.Place == nil || *old.Place == *r.Place) {
			return
		}
	}
	p.reasons = append(p.reasons, r)
}

// proved is the proof as a report has it.
func (l *Launch) proved(p proof) *report.Proof {
	r := &report.Proof{All: p.holds, Reasons: p.reasons}
	if r.All {
		r.Reasons = []report.Reason{}
		r.InOrder = p.earlier
		r.AnyContents = !p.contents && l.config.Program.Reaches(machine.FromBuffers) < 0
	}
	return r
}

// line names a place of the program in a sentence.
func (l *Launch) line(pc int32) string {
	if p := l.resolver.Gap(rules.Gap{PC: pc}).Place; p != nil {
		return fmt.Sprintf("line %d", p.Line)
	}
	return "an instruction without a line"
}

// A proofPart is what one part of the run showed.
type proofPart struct {
	result
	print    *order.Footprint
	failures []confluence.Failure
	mixed    []mixture
	contents bool // as in proof
	earlier  bool
}

// provePart watches one run of a part. Where stores of equal values show that
// nothing orders, it watches once more, and has nothing forgotten at their places.
func (l *Launch) provePart(w *watch, skip bool, k, n int, v view) proofPart {
	r, equal := l.proveRun(w, skip, k, n, v, nil)
	if len(equal) > 0 {
		r, _ = l.proveRun(w, skip, k, n, v, equal)
	}
	return r
}

// proveRun watches one run, given which stores are known to bring the same as
// others. It returns those that turn out to besides.
func (l *Launch) proveRun(w *watch, skip bool, k, n int, v view, known map[int32]bool) (r proofPart, equal map[int32]bool) {
	if why := w.over(); why != "" {
		r.gaps = []rules.Gap{{What: why, PC: -1}}
		return r, nil
	}
	s := l.provers(known)
	m := l.part(v.of(s.observers()), skip, k, n)
	m.ShowCollectives()
	return s.follow(w, m, skip)
}

// provers watch one run for a proof.
type provers struct {
	l      *Launch
	known  map[int32]bool
	judge  *rules.Judge
	prover *confluence.Prover
	strong *strongAccesses
}

func (l *Launch) provers(known map[int32]bool) *provers {
	polls := l.config.Program.Polls()
	shape := l.shape
	shape.MustOnly = true
	if len(polls) > 0 {
		shape.Looks = func(pc int32) bool { return polls[pc] != nil }
		shape.Ends = func(m order.Memory, ev *machine.Event, lane int) bool {
			poll := polls[ev.PC]
			if poll == nil {
				return false
			}
			now, ok := m.Peek(ev.Mem, ev.Addr[lane], int(min(ev.Size, 8)))
			return ok && poll.Ends(now, poll.With(m.(*machine.Machine), lane))
		}
	}
	if known != nil {
		shape.Equal = func(pc int32) bool { return known[pc] }
	}
	return &provers{l: l, known: known, judge: rules.NewJudge(shape),
		prover: confluence.New(confluence.Shape{CTAs: shape.CTAs, Warps: shape.Warps, Cluster: shape.Cluster, Clusters: shape.Clusters,
			Program: l.config.Program, Polls: polls}),
		strong: &strongAccesses{prog: l.config.Program, polls: polls}}
}

func (s *provers) observers() observers { return observers{s.judge, s.prover, s.strong} }

// follow runs a machine that they watch to its end, and tells what that showed.
func (s *provers) follow(w *watch, m *machine.Machine, skip bool) (r proofPart, equal map[int32]bool) {
	if r.result, r.print = s.l.runPart(w, s.judge, m, proofSchedule); r.err != nil {
		return r, nil
	}
	if r.print == nil && len(r.gaps) == 0 {
		r.gaps = append(r.gaps, rules.Gap{What: "the run did not come to its end", PC: -1})
	}
	r.failures, r.mixed, r.contents, r.earlier = s.prover.Finish(), s.strong.mixed, s.strong.maps, s.prover.WaitsForEarlier()
	return r, r.equalStores(s.l.config.Program, s.judge.Order.Conflicts(), s.known, skip)
}

func (v view) of(o machine.Observer) machine.Observer {
	if v == nil {
		return o
	}
	return v(o)
}

// equalStores judges stores of equal values that nothing orders. Those of lanes
// that one clock stands for, by one instruction, come as one. Others must be known,
// so that nothing was forgotten at their places. Values are then the same in every
// schedule, but not for other contents of the buffers, nor if they were left out
// of the run. It returns what is not known.
func (r *proofPart) equalStores(prog *machine.Program, conflicts []order.Conflict, known map[int32]bool, skip bool) (equal map[int32]bool) {
	for i := range conflicts {
		c := &conflicts[i]
		pc := c.Cur.PC
		if c.Why&order.SameValue == 0 {
			continue
		}
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

// observers show a run to several.
type observers []machine.Observer

func (o observers) Observe(m *machine.Machine, ev *machine.Event) {
	for _, x := range o {
		x.Observe(m, ev)
	}
}

// strongAccesses watches for what commutes in no schedule: strong accesses are no
// data race, but two that write one word, other than by one kind of
// read-modify-write that commutes exactly, leave what the schedule decides.
type strongAccesses struct {
	prog  *machine.Program
	words map[place]writer
	mixed []mixture
	maps  bool // a tensor map that lies in memory was read
	// ordered are the accesses that come in the run's own order.
	ordered map[int32]bool
	polls   map[int32]*machine.Poll
}

type place struct {
	mem  machine.MemID
	addr uint64
}

type writer struct {
	by   int64 // lane in the grid, or several
	name string
	pc   int32
}

type mixture struct {
	pc  int32
	why string
}

func (s *strongAccesses) Observe(m *machine.Machine, ev *machine.Event) {
	switch {
	case ev.Kind == machine.EvIssue:
		s.maps = s.maps || ev.Op.Map.Len > 0
		if ev.Op.Kind == machine.OpBulkReduce || ev.Op.Kind == machine.OpRedAsync {
			s.reduce(ev)
		}
	case ev.Kind == machine.EvAccess && s.polls[ev.PC] != nil:
		// What it writes was there.
	case ev.Kind == machine.EvAccess && s.ordered[ev.PC]:
		if ev.Access&machine.Write != 0 {
			for lane := range 32 {
				if ev.Mask>>lane&1 != 0 {
					s.write(place{ev.Mem, ev.Addr[lane] &^ 3}, inOrder, ev.PC)
				}
			}
		}
	case ev.Kind == machine.EvAccess && ev.Access&machine.Write != 0 && ev.Sem != machine.Weak:
		for lane := range 32 {
			if ev.Mask>>lane&1 != 0 {
				s.write(place{ev.Mem, ev.Addr[lane] &^ 3}, (int64(ev.CTA)<<20|int64(ev.Warp))<<5|int64(lane), ev.PC)
			}
		}
	}
}

// reduce takes an asynchronous reduction, which is nobody's in particular: two
// of one thread are in no order either.
func (s *strongAccesses) reduce(ev *machine.Event) {
	if why := s.prog.Commutes(ev.PC); why != "" {
		s.note(ev.PC, why)
		return
	}
	for _, w := range ev.Op.Writes {
		for at := w.Addr &^ 3; at < w.Addr+w.Len; at += 4 {
			s.write(place{w.Mem, at}, several, ev.PC)
		}
	}
}

// several stands for a writer that is not one lane, inOrder for those that come in
// the run's own order.
const (
	several = -1
	inOrder = -2
)

func (s *strongAccesses) write(at place, by int64, pc int32) {
	if s.words == nil {
		s.words = map[place]writer{}
	}
	name, why := s.prog.Operation(pc), s.prog.Commutes(pc)
	old, known := s.words[at]
	switch {
	case !known:
		s.words[at] = writer{by, name, pc}
	case old.by == inOrder && by == inOrder:
	case old.by == by && by != several:
		if old.name != name {
			old.name = "several" // what commutes with none
			s.words[at] = old
		}
	case why != "":
		s.note(pc, why)
	case old.name != name:
		s.note(pc, "strong accesses of different kinds write one word")
	default:
		old.by = several
		s.words[at] = old
	}
}

func (s *strongAccesses) note(pc int32, why string) {
	for _, f := range s.mixed {
		if f.pc == pc {
			return
		}
	}
	s.mixed = append(s.mixed, mixture{pc, why})
}
