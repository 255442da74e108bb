package predict

import (
	"cmp"
	"math/bits"
	"slices"

	"muster/internal/confluence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/progress"
	"muster/internal/rules"
	"muster/internal/trial"
)

// A searcher looks for steps that could come in another order.
type searcher struct {
	l        *trial.Subject
	stop     func() bool
	meter    *progress.Meter
	run      []machine.Choice // the first run
	schedule trial.Schedule   // that makes it
	history  history
	spent    int64 // warp instructions of directed runs
	most     int64
	attempts int
	found    []prediction
}

func (d *searcher) all() []prediction {
	failures, ok := d.first()
	if !ok {
		return nil
	}
	d.complete(d.resident)
	if len(failures) == 0 {
		return d.found
	}
	// What needs no lanes that part has the stronger name: it comes first.
	slices.SortStableFunc(failures, func(a, b confluence.Failure) int { return cmp.Compare(min(a.Mates, 1), min(b.Mates, 1)) })
	d.remember(failures)
	for i := range failures {
		if d.over() {
			break
		}
		d.complete(func() { d.failure(&failures[i]) })
	}
	return d.found
}

// complete discards what f finds if a limit ends it: with more time the result might
// have had another name, and another schedule.
func (d *searcher) complete(f func()) {
	n := len(d.found)
	if f(); d.stop() {
		d.found = d.found[:n]
	}
}

// tries counts one more directed run.
func (d *searcher) tries() {
	if d.attempts == 0 {
		d.meter.StageAtMost("directed runs", "run", maxAttempts)
	} else {
		d.meter.Did(1)
	}
	d.attempts++
}

func (d *searcher) over() bool { return d.attempts >= maxAttempts || d.spent > d.most || d.stop() }

// first finds a run that completes, and returns the conditions that fail in it. If the
// usual one deadlocks, it tries others, for example the one in which every arrival
// waits until nothing else can happen, so that no waiter misses its phase.
func (d *searcher) first() ([]confluence.Failure, bool) {
	for _, s := range []*trial.Schedule{&trial.ProofSchedule, nil, {Policy: explore.RoundRobin}, {Policy: explore.Earliest}} {
		p := confluence.New(confluence.Config{Shape: d.l.Shape})
		m := d.machine(p)
		m.ShowCollectives()
		run, ok := d.log(m, s)
		if !ok {
			return nil, false
		}
		if m.Done() {
			n, _ := m.Instrs()
			d.run, d.most = run, 8*n+1<<20
			if d.schedule = (trial.Schedule{Prefix: run}); s != nil {
				d.schedule = *s
			}
			return p.Finish(), true
		}
		if stop := m.Stopped(); stop == nil || stop.Kind != machine.Deadlock {
			return nil, false // it faulted, or reached a limit
		}
	}
	return nil, false
}

// log makes a run under a schedule; without one, the careful run.
func (d *searcher) log(m *machine.Machine, s *trial.Schedule) ([]machine.Choice, bool) {
	if s == nil {
		return d.careful(m)
	}
	return explore.Log(m, *s, maxLogged, d.stop)
}

// careful makes the run in which arrivals come last.
func (d *searcher) careful(m *machine.Machine) ([]machine.Choice, bool) {
	prog := d.l.Program
	to := explore.Direct(m)
	to.Last = func(pc int32) bool {
		switch op, ok := prog.MbarOpAt(pc); op {
		case machine.MbarArrive, machine.MbarArriveDrop, machine.MbarArriveExpectTx, machine.MbarArriveDropExpectTx:
			return ok
		}
		return false
	}
	for n := 1; to.Step(explore.Hold{}); n++ {
		if n > maxLogged || n%1024 == 0 && d.stop() {
			return nil, false
		}
	}
	m.Conclude()
	return to.Run, true
}

func (d *searcher) machine(o machine.Observer) *machine.Machine {
	m := d.l.Machine(o, nil)
	if d.l.Skips() {
		m.SkipMatrices()
	}
	m.StopWhen(d.stop)
	return m
}

// resident makes a run in which a cluster starts only once the started ones cannot go
// on. All CTAs of a cooperative launch start.
func (d *searcher) resident() {
	if d.l.Shape.Cooperative || d.l.Start.ClusterCount() < 2 || !d.l.Program.HasStrongGlobalAccess() {
		return
	}
	d.tries()
	a := target{condition: residency}
	s := a.monitor()
	m := d.machine(s)
	to := explore.Direct(m)
	starts := explore.Hold{Starts: true}
	for n := 1; s.hit == nil; n++ {
		if !to.Step(starts) && !to.Step(explore.Hold{}) {
			break
		}
		if i, _ := m.Instrs(); i > d.most || n%1024 == 0 && d.stop() {
			break
		}
	}
	if s.hit == nil || len(to.Run) > maxWritten {
		return
	}
	run := len(to.Run)
	for n := 1; to.Step(explore.Hold{}); n++ {
		if i, _ := m.Instrs(); i > d.most || n%1024 == 0 && d.stop() {
			return
		}
	}
	if !m.Done() {
		return // it hangs also with all CTAs started: that has another name
	}
	p := prediction{target: a, schedule: trial.Schedule{Policy: explore.Latest, Prefix: to.Run[:run]}}
	p.schedule = d.shorten(&p)
	d.found = append(d.found, p)
}

// A charge is an operation on a barrier in the first run, or a wait that found its
// phase complete.
type charge struct {
	step
	at    int // the choice that did it
	bar   machine.BarRef
	named int32
	phase int64
	lanes uint32
	joint uint32 // that executed the instruction together, if the machine says so
	mates uint32 // of joint, that are to make it without them
	op    int64  // of an asynchronous operation
	what  machine.MbarOp
	wait  bool
	site  rules.Site
}

// maxCharges bounds what is kept of the first run.
const maxCharges = 1 << 20

// A history is the charges to the barriers at which conditions fail.
type history struct {
	director *explore.Director
	bars     map[machine.BarRef]bool
	named    map[[2]int32]bool // CTA, number
	trails   []*laneHash
	issued   map[int64]trial.Hash
	charges  []charge
}

// remember repeats the first run and keeps the charges to the barriers of failures.
func (d *searcher) remember(failures []confluence.Failure) {
	h := &d.history
	h.bars, h.named, h.issued = map[machine.BarRef]bool{}, map[[2]int32]bool{}, map[int64]trial.Hash{}
	for i := range failures {
		f := &failures[i]
		switch {
		case f.Condition == confluence.C6:
			h.named[[2]int32{f.CTA, f.Named}] = true
		case f.Condition != confluence.C7 && f.Condition != confluence.C10:
			h.bars[f.Bar] = true
		}
		if f.Lanes != 0 {
			h.follow(d.lane(f.Warp, f.Lanes))
		}
	}
	h.director = explore.Direct(d.machine(h))
	h.director.Take(d.run...)
	// Lanes that credit or land late are known only now: follow them in another run.
	for _, c := range slices.Clone(h.charges) {
		if !c.wait && (c.async || c.what == machine.MbarExpectTx) {
			h.follow(c.lane)
		}
	}
	h.charges, h.issued = nil, map[int64]trial.Hash{}
	for _, t := range h.trails {
		t.hash = 0
	}
	h.director = explore.Direct(d.machine(h))
	h.director.Take(d.run...)
}

// lane returns the first of some lanes of a warp of the grid.
func (d *searcher) lane(warp int32, lanes uint32) lane {
	n := int32(d.l.Shape.Warps)
	return lane{warp / n, warp % n, int8(bits.TrailingZeros32(lanes))}
}

// maxTrails bounds how many lanes are followed.
const maxTrails = 256

func (h *history) follow(l lane) {
	for _, t := range h.trails {
		if t.lane == l {
			return
		}
	}
	if len(h.trails) < maxTrails {
		h.trails = append(h.trails, &laneHash{lane: l})
	}
}

func (h *history) trailOf(l lane) *laneHash {
	for _, t := range h.trails {
		if t.lane == l {
			return t
		}
	}
	return &laneHash{lane: l}
}

// Observe makes a history a machine.Observer.
func (h *history) Observe(_ *machine.Machine, ev *machine.Event) {
	switch ev.Kind {
	case machine.EvIssue:
		if len(ev.Op.Bars) > 0 {
			h.issued[ev.Op.ID] = h.trailOf(lane{ev.CTA, ev.Warp, ev.Op.Lane}).hash
		}
	case machine.EvMbar:
		if h.bars[ev.Mbar.Bar] && ev.Mbar.Op != machine.MbarInit && ev.Mbar.Op != machine.MbarInval {
			h.mbar(ev)
		}
	case machine.EvMbarWait:
		if h.bars[ev.Mbar.Bar] && ev.Mbar.OK {
			h.enter(ev, charge{bar: ev.Mbar.Bar, phase: ev.Mbar.Phase, wait: true, site: rules.Site{Role: "waits", PC: ev.PC, CTA: ev.CTA, Warp: ev.Warp, Lanes: ev.Mask}})
		}
	case machine.EvRegisters:
		h.enter(ev, charge{what: setmaxnreg, named: -2})
	case machine.EvBarArrive:
		if h.named[[2]int32{ev.CTA, ev.Bar}] {
			h.enter(ev, charge{named: ev.Bar, phase: int64(ev.Gen), site: rules.Site{Role: "arrives", PC: ev.PC, CTA: ev.CTA, Warp: ev.Warp, Lanes: ev.Mask}})
		}
	}
	for _, t := range h.trails {
		if t.takes(ev) {
			t.observe(ev)
		}
	}
}

func (h *history) mbar(ev *machine.Event) {
	c := charge{bar: ev.Mbar.Bar, phase: ev.Mbar.Phase, what: ev.Mbar.Op, joint: ev.Members, site: barSite(ev)}
	if ev.Op != nil {
		c.op, c.async = ev.Op.ID, true
	}
	h.enter(ev, c)
	if c.async {
		h.charges[len(h.charges)-1].trail = h.issued[c.op]
	}
}

func (h *history) enter(ev *machine.Event, c charge) {
	if len(h.charges) == maxCharges {
		h.charges = h.charges[:0] // too long a run: only its end
	}
	l := int8(bits.TrailingZeros32(ev.Mask))
	if ev.Op != nil {
		l = ev.Op.Lane
	}
	c.lane, c.pc, c.lanes = lane{ev.CTA, ev.Warp, l}, ev.PC, ev.Mask
	for _, t := range h.trails {
		// Any of several lanes will do: take the one that is followed.
		if t.cta == ev.CTA && t.warp == ev.Warp && ev.Mask>>uint(t.lane.lane)&1 != 0 && !c.async {
			c.lane, c.trail = t.lane, t.hash
			break
		}
	}
	c.at = len(h.director.Run) - 1
	h.charges = append(h.charges, c)
}

// failure tries to bring about what a failure warns of.
func (d *searcher) failure(f *confluence.Failure) {
	switch f.Condition {
	case confluence.C0:
		d.outlive(f)
	case confluence.C1:
		d.swap(f, f.Phase, f.Phase-1)
	case confluence.C3Early:
		d.swap(f, f.Phase, f.Phase-1)
	case confluence.C2, confluence.C3Late:
		d.delay(f)
	case confluence.C4:
		d.open(f)
	case confluence.C5:
		d.heap(f)
	case confluence.C6:
		d.swap(f, f.Phase, f.Phase-1)
	case confluence.C7:
		d.starve(f)
	}
}

// heap holds back completions of bytes in a phase, one by one, so that the announced
// bytes pile up.
func (d *searcher) heap(f *confluence.Failure) {
	holds := 0
	for i := range d.history.charges {
		c := &d.history.charges[i]
		if !c.isOf(f) || c.wait || c.phase != f.Phase || !c.async && c.what != machine.MbarCompleteTx {
			continue
		}
		if holds++; holds > maxHolds || d.breaks(c, c.hold(), f) {
			return
		}
	}
}

// outlive holds back operations that signal a barrier, one by one and the last first, until
// the barrier is invalidated, or initialized anew.
func (d *searcher) outlive(f *confluence.Failure) {
	holds := 0
	for i := len(d.history.charges) - 1; i >= 0; i-- {
		c := &d.history.charges[i]
		if !c.isOf(f) || !c.async || c.op == 0 {
			continue
		}
		if holds++; holds > maxHolds || d.late(c, f) {
			return
		}
	}
}

// late makes a directed run that holds an operation back until nothing else can move, and
// keeps it if a judge then finds that its barrier is used after its end.
func (d *searcher) late(c *charge, f *confluence.Failure) bool {
	if d.known(f.Condition, f.PC) {
		return true
	}
	if d.over() || c.at > maxWritten {
		return false
	}
	d.tries()
	shows := func(list []rules.Finding) bool {
		return slices.ContainsFunc(list, func(g rules.Finding) bool { return g.Kind == "use-after-inval" && g.Severity == rules.Error })
	}
	j := rules.NewJudge(d.l.Rules())
	m := d.machine(j)
	to := explore.Direct(m)
	to.Take(d.run[:c.at]...)
	for n := 1; to.Step(c.hold()); n++ {
		if n%1024 == 0 && d.stop() {
			return false
		}
	}
	done := explore.Run(m, trial.ProofSchedule, d.stop)
	n, _ := m.Instrs()
	d.spent += n
	if found, _ := j.Finish(m); !done || !shows(found) || len(to.Run) > maxWritten {
		return false
	}
	// It is not made shorter: only whole runs show the finding.
	p := prediction{target: target{step: c.step, condition: f.Condition}, schedule: trial.Schedule{Policy: explore.Latest, Prefix: to.Run}}
	p.pc = f.PC
	d.found = append(d.found, p)
	return true
}

// starve holds back a warpgroup that asks for registers, so that others take them.
func (d *searcher) starve(f *confluence.Failure) {
	n := int32(d.l.Shape.Warps)
	for _, c := range d.history.charges {
		if c.what != setmaxnreg || c.pc != f.PC || c.cta*n+c.warp != f.Warp {
			continue
		}
		hold := explore.Hold{CTA: c.cta, Warp: c.warp &^ 3, Warps: 3, Lanes: ^uint32(0)}
		if d.breaks(&c, hold, f) {
			return
		}
	}
}

// setmaxnreg marks a charge that is a setmaxnreg.
const setmaxnreg machine.MbarOp = 255

// breaks makes a directed run that holds something back until nothing else can
// move, and keeps it if the launch then hangs or faults: a judge names the defect.
func (d *searcher) breaks(c *charge, hold explore.Hold, f *confluence.Failure) bool {
	if d.known(f.Condition, f.PC) {
		return true
	}
	if d.over() || c.at > maxWritten {
		return false
	}
	d.tries()
	m := d.machine(nil)
	to := explore.Direct(m)
	to.Take(d.run[:c.at]...)
	for n := 1; to.Step(hold); n++ {
		if n%1024 == 0 && d.stop() {
			return false
		}
	}
	done := explore.Run(m, trial.ProofSchedule, d.stop)
	n, _ := m.Instrs()
	d.spent += n
	stop := m.Stopped()
	if !done || stop == nil || stop.Kind != machine.Deadlock && stop.Kind != machine.FaultBarrier || len(to.Run) > maxWritten {
		return false
	}
	p := prediction{target: target{step: c.step, condition: f.Condition}, schedule: trial.Schedule{Policy: explore.Latest, Prefix: to.Run}}
	small, ok := explore.Shrink(func() (*machine.Machine, explore.Question) {
		return d.machine(nil), explore.Question{Bad: func(m *machine.Machine) bool { return m.Stopped() != nil && m.Stopped().Kind == stop.Kind }}
	}, p.schedule, explore.ShrinkOptions{Runs: MaxShrinks, Steps: MaxShrunk, Stop: d.stop})
	if ok {
		p.schedule = small.Schedule
	}
	d.found = append(d.found, p)
	return true
}

// known reports whether there is a prediction for an instruction already.
func (d *searcher) known(c confluence.Condition, pc int32) bool {
	return slices.ContainsFunc(d.found, func(p prediction) bool { return p.condition == c && p.pc == pc })
}

// hold returns the Hold that keeps a charge from happening.
func (c *charge) hold() explore.Hold {
	if c.async {
		return explore.Hold{Op: c.op}
	}
	return explore.Hold{CTA: c.cta, Warp: c.warp, Lanes: c.lanes}
}

// isOf reports whether a charge is at the barrier of a failure.
func (c *charge) isOf(f *confluence.Failure) bool {
	if f.Condition == confluence.C6 {
		return c.cta == f.CTA && c.named == f.Named && c.bar == (machine.BarRef{}) && c.what != setmaxnreg
	}
	return c.bar == f.Bar
}

// victims returns the charges that a failure is about.
func (d *searcher) victims(f *confluence.Failure) []charge {
	var list []charge
	n := int32(d.l.Shape.Warps)
	for _, c := range d.history.charges {
		wait := f.Condition == confluence.C3Early || f.Condition == confluence.C3Late
		if c.isOf(f) && c.phase == f.Phase && c.pc == f.PC && c.wait == wait && c.cta*n+c.warp == f.Warp && f.Lanes>>uint(c.lane.lane)&1 != 0 {
			list = append(list, c)
		}
	}
	return list
}

func (c *charge) target(f *confluence.Failure) target {
	return target{step: c.step, condition: f.Condition, bar: f.Bar, named: f.Named, phase: c.phase, lanes: c.lanes, mates: c.mates}
}

// awaits reports whether a charge, if it is a wait, ends only by its phase.
func (d *searcher) awaits(c *charge) bool { return !c.wait || d.l.Program.Awaits(c.pc) }

// delay holds a step back until its phase, or the one after, is complete.
func (d *searcher) delay(f *confluence.Failure) {
	for _, c := range d.victims(f) {
		if f.Mates != 0 {
			c.lanes, c.mates = f.Lanes, f.Mates
		}
		if d.awaits(&c) && d.attempt(&c, c.target(f)) {
			return
		}
	}
}

// swap delays the charges to an earlier phase, one by one, until a step of the later
// phase has come.
func (d *searcher) swap(f *confluence.Failure, phase, before int64) {
	for _, v := range d.victims(f) {
		if !d.awaits(&v) {
			continue
		}
		holds := 0
		var seen []step
		for i := len(d.history.charges) - 1; i >= 0 && holds < maxHolds; i-- {
			c := &d.history.charges[i]
			who := c.step
			who.trail, who.pc = 0, 0
			if c.async {
				who.trail = trial.Hash(c.op)
			}
			if c.wait || !c.isOf(f) || c.phase != before || c.at >= v.at || slices.Contains(seen, who) {
				continue
			}
			seen = append(seen, who)
			held, a := *c, v.target(f)
			if f.Mates != 0 {
				held.mates = c.joint &^ c.lanes
				if a.mates = held.mates; a.mates == 0 {
					continue
				}
			}
			holds++
			if d.attempt(&held, a) {
				return
			}
		}
	}
}

// open holds back the bytes of the phase that is left open.
func (d *searcher) open(f *confluence.Failure) {
	holds := 0
	for i := range d.history.charges {
		c := &d.history.charges[i]
		if !c.isOf(f) || c.wait || c.phase != f.Phase || !c.async && c.what != machine.MbarExpectTx && c.what != machine.MbarCompleteTx {
			continue
		}
		if holds++; holds > maxHolds || d.attempt(c, c.target(f)) {
			return
		}
	}
}

// attempt makes a directed run that holds c back, and keeps it if it meets the target.
func (d *searcher) attempt(c *charge, a target) bool {
	if d.known(a.condition, a.pc) {
		return true
	}
	if d.over() || c.at > maxWritten {
		return false
	}
	d.tries()
	s := a.monitor()
	m := d.machine(s)
	to := explore.Direct(m)
	to.Take(d.run[:c.at]...)
	to.Part(c.cta, c.warp, c.mates)
	for n := 1; s.hit == nil && to.Step(c.hold()); n++ {
		if n%1024 == 0 && d.stop() {
			break
		}
	}
	n, _ := m.Instrs()
	d.spent += n
	if s.hit == nil || len(to.Run) > maxWritten {
		return false
	}
	p := prediction{target: a, held: c.site, schedule: trial.Schedule{Policy: explore.Latest, Prefix: to.Run}}
	p.schedule = d.shorten(&p)
	if a.condition == confluence.C3Late {
		d.meant(&p)
	}
	d.found = append(d.found, p)
	return true
}

// meant decides which phase a wait is meant for that passes on one in the first run
// and on another where it is lapped. If the first run has errors and the other has
// none, it is meant for the later phase: the defect is the early wait in the first
// run.
func (d *searcher) meant(p *prediction) {
	late, s := d.errors(p, p.schedule)
	if s.hit == nil || s.hit.then == "" || late {
		return
	}
	if wrong, _ := d.errors(p, d.schedule); !wrong {
		return
	}
	p.condition, p.phase, p.held, p.schedule = confluence.C3Early, s.hit.on, s.hit.by, d.schedule
	p.schedule = d.shorten(p)
}

// errors reports whether a judge finds errors in a run, or the run does not complete.
func (d *searcher) errors(p *prediction, s trial.Schedule) (bool, *monitor) {
	j, x := rules.NewJudge(d.l.Rules()), p.monitor()
	m := d.machine(trial.Observers{j, x})
	explore.Run(m, s, d.stop)
	list, _ := j.Finish(m)
	return !m.Done() || slices.ContainsFunc(list, func(f rules.Finding) bool { return f.Severity == rules.Error }), x
}

// shorten looks for a smaller schedule that meets the same target.
func (d *searcher) shorten(p *prediction) trial.Schedule {
	trial := func() (*machine.Machine, explore.Question) {
		s := p.monitor()
		shown := func() bool { return s.hit != nil }
		return d.machine(s), explore.Question{Bad: func(*machine.Machine) bool { return shown() }, Shown: shown}
	}
	small, ok := explore.Shrink(trial, p.schedule, explore.ShrinkOptions{Runs: MaxShrinks, Steps: MaxShrunk, Stop: d.stop})
	if !ok {
		return p.schedule // a bound ran out
	}
	return small.Schedule
}

// kinds are the kinds of findings that no judge makes.
var kinds = []string{"early-wait", "expect-late", "lapped-lanes", "lapped-wait", "mixed-lanes", "needs-coresidency", "phase-mixing"}
