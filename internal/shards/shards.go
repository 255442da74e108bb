// Package shards explores the schedules of a launch within a budget, and spreads the work
// over processors and machines.
//
// Where one run does not decide for every schedule, schedules are explored: one of
// each kind (internal/explore), each watched by a judge, and past the budget some are
// sampled. All of it consists of independent units: the first runs, then parts of
// what is left, then batches of samples. So it can be spread, stopped and resumed,
// with the same result.
package shards

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"muster/internal/explore"
	"muster/internal/lanes"
	"muster/internal/machine"
	"muster/internal/outcome"
	"muster/internal/parallel"
	"muster/internal/progress"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/internal/undefined"
)

// Options bound an exploration.
type Options struct {
	// Schedules is how many to run, by default DefaultSchedules; less than 0 for
	// none. Up to a fifth of them are samples, where exploration does not end.
	Schedules int
	// Steps is how many steps they may have together, by default DefaultSteps.
	Steps int64
	// Preemptions, if not 0, bounds those of an explored run; less than 0 for none. A
	// switch away from lanes that could go on is a preemption, unless they stand at a
	// wait.
	Preemptions int
	// Shard of Shards has this check take only its share of the units; Shards 0
	// for all of them. Shards count from 0.
	Shard, Shards int
	// Launch names the kernel and the launch of State; it is called if State is set.
	Launch func() string
	// State, if set, is resumed from where it is not empty, and kept up to date.
	State *Exploration
	// Save is called now and then, when State has changed.
	Save func(*Exploration) error
	// SoFar is called now and then with how many schedules ran, and how many findings they
	// showed.
	SoFar func(schedules, findings int)
	// Long, if set, is called once, where the first runs did not explore everything.
	Long func()
	// Final, if set, is called with the machine of each explored run that comes to its end,
	// one at a time.
	Final func(*machine.Machine)
}

// The budget of an exploration, where none is given.
const (
	DefaultSchedules = 1000
	DefaultSteps     = 1_000_000
)

const (
	soloRuns    = 200    // made before what is left is split into units
	maxLength   = 20_000 // steps of a run that is explored
	sampleUnits = 8      // into which samples are divided
)

// A kill loses what was done since the last save: at most a sixteenth of all that was
// done and, in long explorations, a second or two, unless saving that often would
// take more than a twentieth of the time.
const (
	savePart  = 32 // of the steps made; twice, once for each job and once for all
	saveLeast = 4096
	saveEvery = time.Second
	saveCost  = 20
	tellEvery = 20 * time.Millisecond
)

// An explorer explores one launch.
type explorer struct {
	l     *trial.Subject
	o     *Options
	jobs  int
	skip  bool
	w     *trial.Budget
	state *Exploration
	mu    sync.Mutex // of what follows, and of state, while units run
	steps int64      // that were made
	had   int64      // that the state had before
	saved mark
	cost  time.Duration // of a save
	told  time.Time
	// sampling: what is left to do are samples, a stage of their own.
	sampling bool
	fail     error // of Save
}

// A mark is when something was written down.
type mark struct {
	at    time.Time
	steps int64
}

// judging watches a run that is explored.
type judging struct {
	*rules.Judge
	lanes   *lanes.Orders
	words   *outcome.Run
	decides func(pc int32) bool
	x       *explorer
	u       *unit
}

func (j judging) Observe(m *machine.Machine, ev *machine.Event) {
	j.words.Observe(m, ev)
	j.Judge.Observe(m, ev)
	j.lanes.Observe(m, ev)
}

// End records what the run showed.
func (j judging) End(m *machine.Machine, path []machine.Choice) {
	findings, gaps := j.Finish(m)
	findings = withoutTimeouts(m, findings)
	gaps = append(gaps, j.x.rows(findings, chosen(m, path), j.Order.Raced())...)
	if g, limit := j.x.l.LimitGap(m.Stopped()); limit {
		gaps = append(trial.WithoutLimits(gaps, m.Stopped()), g)
	}
	gaps = append(gaps, j.lanes.Gaps()...)
	if pc := m.Exhausted(); pc >= 0 && j.decides(pc) {
		gaps = append(gaps, rules.Gap{What: "what more failed tests in a row lead to was not looked at", PC: pc})
	}
	j.x.mu.Lock()
	defer j.x.mu.Unlock()
	for _, g := range gaps {
		j.u.gap(g)
	}
	j.u.words.Add(j.words.Summary())
	if j.x.o.Final != nil && m.Done() && !m.TimedOut() {
		j.x.o.Final(m)
	}
	if len(findings) == 0 {
		return
	}
	s := chosen(m, path)
	of := found{Schedule: s.String(), Switches: explore.Switches(path), Steps: len(path), Seen: 1}
	for _, f := range findings {
		of.Finding = f
		j.u.add(of)
	}
}

// rows follows, in a run that shows races on rows of operands of tcgen05.mma whose results no
// run before has used, whether it uses them.
func (x *explorer) rows(findings []rules.Finding, s trial.Schedule, raced machine.OperandBytes) []rules.Gap {
	if !rules.HasUnusedRows(findings) {
		return nil
	}
	used, open := undefined.Rows(x.l, x.w, []trial.Schedule{s}, raced)
	if used != "" {
		rules.RowsUsed(findings, used)
	}
	return rules.RowsOpen(findings, open)
}

// withoutTimeouts drops the hang of a run in which a timeout that traps expired:
// exploration assumes that none does.
func withoutTimeouts(m *machine.Machine, findings []rules.Finding) []rules.Finding {
	if !m.TimedOut() {
		return findings
	}
	return slices.DeleteFunc(findings, func(f rules.Finding) bool { return rules.IsHang(&f) })
}

// chosen returns the schedule of a run of m that took these choices.
func chosen(m *machine.Machine, run []machine.Choice) trial.Schedule {
	if m.KeepsApart() {
		run = slices.Insert(slices.Clone(run), 0, machine.Choice{Kind: machine.Part})
	}
	return trial.Schedule{Policy: explore.Latest, Prefix: run}
}

// space returns the runs of the launch, whose results go to a unit.
func (x *explorer) space(u *unit) *explore.Space {
	decides := lanes.Deciders(x.l.Program)
	facts := x.l.Facts(decides)
	u.stop, u.why = x.w.Stop()
	return &explore.Space{
		Fork: func(o machine.Observer) *machine.Machine {
			m := x.l.Machine(o, nil)
			if x.skip {
				m.SkipMatrices()
			}
			x.state.Detail.part(m)
			m.ShowMeetings()
			return m
		},
		Watch: func() explore.Watcher {
			u.between = true
			judge, words := trial.JudgeWords(facts, x.l.Rules())
			return judging{judge, lanes.NewOrders(x.l.Program, decides), words, decides, x, u}
		},
		Stop: u.stop,
	}
}

// Begin sets the budget of an exploration and begins its state, or checks that the
// state given is of this build, launch, budget and shard.
func (e *Options) Begin() error {
	if e.Schedules == 0 {
		e.Schedules = DefaultSchedules
	}
	if e.Steps == 0 {
		e.Steps = DefaultSteps
	}
	if e.State == nil { // and its key is never compared
		e.State = &Exploration{Version: 1, Shard: e.Shard, Shards: e.Shards, Preemptions: e.Preemptions}
		return nil
	}
	key := e.key()
	switch st := e.State; {
	case st.Key == "":
		*e.State = Exploration{Version: 1, Build: build(), Key: key, Shard: e.Shard, Shards: e.Shards, Preemptions: e.Preemptions}
	case st.Build != build():
		return &StateError{fmt.Sprintf("muster %s began it, and this is muster %s", cmp.Or(st.Build, "of another version"), build())}
	case st.Key != key || st.Shard != e.Shard || st.Shards != e.Shards:
		return &StateError{"it is of another launch, budget or shard"}
	}
	return e.State.sound()
}

// Prepare sets a machine up as those of the exploration are.
func (e *Options) Prepare(m *machine.Machine) { e.State.Detail.part(m) }

// Led returns the options of the exploration with other leaders, whose state is a
// part of this one's.
func (e *Options) Led() *Options {
	led := *e
	if st := e.State; st != nil {
		if st.Led == nil {
			st.Led = &Exploration{}
		}
		led.State = st.Led
		if e.Save != nil {
			led.Save = func(*Exploration) error { return e.Save(st) }
		}
	}
	return &led
}

// Sized returns the options of the exploration with other sizes of clusters, whose state is a
// part of this one's.
func (e *Options) Sized(choices string) *Options {
	sized := *e
	if st := e.State; st != nil {
		if st.Sized == nil {
			st.Sized = map[string]*Exploration{}
		}
		if st.Sized[choices] == nil {
			st.Sized[choices] = &Exploration{}
		}
		sized.State = st.Sized[choices]
		if e.Save != nil {
			sized.Save = func(*Exploration) error { return e.Save(st) }
		}
	}
	return &sized
}

// Decided records that there is nothing to explore.
func (e *Options) Decided() error {
	if e.State == nil || e.Save == nil {
		return nil
	}
	e.State.Decided = true
	return e.Save(e.State)
}

// Explore explores the schedules of a launch, or resumes it, from the state that
// Begin prepared, and begins again while its runs turn out to need more detail. If it
// finds an error, it explores once more with the values of matrix instructions.
func Explore(l *trial.Subject, w *trial.Budget, o *Options, jobs int, skip bool) error {
	e := o.State
	w.Meter.Stage("exploring", "", 0)
	if err := lookFirst(l, w, e, skip); err != nil {
		return err
	}
	if err := once(l, w, o, jobs, skip); err != nil {
		return err
	}
	for n := 0; n < maxBeginnings && e.Shards <= 1 && w.Over() == ""; n++ {
		missed := e.missed()
		if missed.empty() || !e.coverage().Complete || e.wrong() {
			break
		}
		e.reset(e.Values, e.Detail.join(missed))
		if err := once(l, w, o, jobs, skip); err != nil {
			return err
		}
	}
	if !e.Values && e.wrong() && w.Over() == "" {
		// Findings must be of runs that compute every value.
		e.reset(true, e.Detail)
		return once(l, w, o, jobs, false)
	}
	return nil
}

// once explores the launch with the detail of the state.
func once(l *trial.Subject, w *trial.Budget, o *Options, jobs int, skip bool) error {
	x := &explorer{l: l.Attentive(o.State.Equal), o: o, jobs: jobs, skip: skip, w: w, state: o.State}
	if x.jobs <= 0 {
		x.jobs = runtime.GOMAXPROCS(0)
	}
	x.saved.at = time.Now()
	x.had = x.state.coverage().Steps
	x.state.Decided = false
	if x.state.Values {
		x.skip = false // it was begun again with values
	}
	if !x.skip || !l.Program.Multiplies() {
		x.state.Values = true
	}
	if err := x.run(); err != nil {
		return err
	}
	x.save(true)
	return x.fail
}

func (x *explorer) run() error {
	st := x.state
	runs := int(explored(int64(x.o.Schedules)))
	solo := explore.Limits{Schedules: min(soloRuns, runs), Steps: explored(x.o.Steps), Length: maxLength, Preemptions: x.o.Preemptions}
	s, err := x.search(&st.Solo, solo, nil)
	if err != nil {
		return err
	}
	if !st.Solo.Done {
		x.pursue(&st.Solo, s)
		x.save(true)
	}
	if !st.Solo.Done || st.Solo.Coverage.Complete {
		return nil
	}
	if x.o.Long != nil {
		x.o.Long()
		x.w.Meter.Stage("exploring", "", 0)
	}
	left := solo
	left.Schedules = runs - st.Solo.Coverage.Schedules - st.Solo.Coverage.Left
	left.Steps -= st.Solo.Coverage.Steps
	if left.Schedules > 0 && left.Steps > 0 && s != nil {
		if err := x.units(s, left); err != nil {
			return err
		}
	}
	return x.samples()
}

// search returns a unit's search, new or resumed.
func (x *explorer) search(u *unit, l explore.Limits, begin *explore.Search) (*explore.Search, error) {
	switch {
	case u.At != nil:
		s, err := explore.Resume(x.space(u), l, *u.At)
		if err != nil {
			return nil, &StateError{err.Error()}
		}
		return s, nil
	case begin != nil:
		return begin.In(x.space(u)), nil
	}
	return explore.NewSearch(x.space(u), l), nil
}

// pursue runs a unit's search to its end, and saves it now and then: between runs,
// since an interrupted run is repeated.
func (x *explorer) pursue(u *unit, s *explore.Search) {
	if u.Done {
		return
	}
	x.mu.Lock()
	u.begin()
	u.kept = mark{time.Now(), u.steps}
	x.mu.Unlock()
	n, last := 0, s.Covered().Steps
	turn := func() bool {
		if n++; n%256 == 0 {
			u.stop()
		}
		due := false
		if u.between {
			u.between = false
			now := s.Covered()
			due = x.addSteps(u, now, now.Steps-last)
			last = now.Steps
		}
		return due || u.why() != ""
	}
	for {
		c := s.Run(turn)
		ended := u.why() != ""
		x.addSteps(u, c, max(0, c.Steps-last)) // less where a run was broken off
		last = c.Steps
		x.mu.Lock()
		u.Coverage = c
		u.keep()
		u.Done = c.Why != "stopped"
		if !u.Done && ended {
			u.Elapsed, u.Coverage.Why = true, u.why()
		}
		u.At = nil
		if !u.Done || u == &x.state.Solo { // it is split next
			snap := s.Snapshot()
			u.At = &snap
		}
		u.kept = mark{time.Now(), u.steps}
		over := u.Done || ended
		x.mu.Unlock()
		x.save(false)
		if over {
			return
		}
	}
}

// addSteps counts a unit's steps, of what it covers by now, tells the progress of all, and
// returns whether it is time to keep the unit's state.
func (x *explorer) addSteps(u *unit, now explore.Coverage, steps int64) (due bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.steps += steps
	u.steps += steps
	u.now = now
	x.tell()
	return x.saveDue(u.kept, u.steps, int64(x.jobs))
}

// tell tells the progress now and then.
func (x *explorer) tell() {
	if !x.w.Meter.Due() && (x.o.SoFar == nil || time.Since(x.told) < tellEvery) {
		return
	}
	x.told = time.Now()
	p := x.state.progress()
	if x.o.SoFar != nil {
		x.o.SoFar(p.Schedules, p.Findings)
	}
	if x.sampling {
		return
	}
	x.w.Meter.Set(func(of *progress.Progress) {
		of.Schedules, of.MaxSchedules = p.Schedules+p.left, int(explored(int64(x.o.Schedules)))
		of.Steps, of.MaxSteps = x.had+x.steps, explored(x.o.Steps)
		of.Units, of.UnitsDone, of.Findings = p.Units, p.UnitsDone, p.Findings
	})
}

// saveDue reports whether to save state that jobs share, after so many steps.
func (x *explorer) saveDue(last mark, steps, jobs int64) bool {
	return x.o.Save != nil && (steps-last.steps > max(saveLeast, x.steps/savePart)/jobs || time.Since(last.at) > max(saveEvery, saveCost*x.cost))
}

// save saves the state, if saveDue says so or now is set.
func (x *explorer) save(now bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.o.Save == nil || x.fail != nil || !now && !x.saveDue(x.saved, x.steps, 1) {
		return
	}
	begin := time.Now()
	x.fail = x.o.Save(x.state)
	x.saved = mark{time.Now(), x.steps}
	x.cost = x.saved.at.Sub(begin)
}

// mine reports whether unit i is this shard's.
func (x *explorer) mine(i int) bool { return x.o.Shards <= 1 || i%x.o.Shards == x.o.Shard }

// units explores what the first runs left over.
func (x *explorer) units(s *explore.Search, left explore.Limits) error {
	st := x.state
	parts := s.Split(left)
	if st.Units == nil {
		st.Units = make([]unit, len(parts))
	}
	if len(st.Units) != len(parts) {
		return &StateError{fmt.Sprintf("%d units of %d", len(st.Units), len(parts))}
	}
	for i := range parts {
		st.Units[i].Weight = parts[i].Weight()
	}
	shares := deal(left, parts)
	searches := make([]*explore.Search, len(parts))
	for i := range parts {
		if tooMany(i, len(parts), left.Schedules) {
			st.Units[i] = unit{Done: true, Weight: st.Units[i].Weight, Coverage: explore.Coverage{Why: explore.SpentSchedules, Open: 1}}
		}
		if !x.mine(i) || st.Units[i].Done {
			continue
		}
		var err error
		parts[i].Limit(shares[i])
		if searches[i], err = x.search(&st.Units[i], shares[i], parts[i]); err != nil {
			return err
		}
	}
	parallel.Each(x.jobs, len(parts), func(i int) {
		if searches[i] != nil && x.w.Over() == "" {
			x.pursue(&st.Units[i], searches[i])
			searches[i], parts[i] = nil, nil
		}
	})
	return nil
}

// tooMany reports whether part i of n gets nothing of a budget with fewer runs than
// parts.
func tooMany(i, n, runs int) bool {
	return n > runs && i > 0 && i*runs/n == (i-1)*runs/n
}

// deal divides a budget among the parts of what is left: half of it equally, and half
// by their estimated weights.
func deal(left explore.Limits, parts []*explore.Search) []explore.Limits {
	total := 0.0
	for _, p := range parts {
		total += p.Weight()
	}
	shares := make([]explore.Limits, len(parts))
	for i, p := range parts {
		of := func(n int64) int64 { return dealt(n, int64(len(parts)), p.Weight(), total) }
		shares[i] = left
		shares[i].Schedules, shares[i].Steps = int(max(1, of(int64(left.Schedules)))), max(1, of(left.Steps))
	}
	return shares
}

// dealt is the share of a part of n with this weight.
func dealt(budget, n int64, weight, total float64) int64 {
	return budget/2/n + int64(float64(budget/2)*weight/total)
}

// samples spends the rest of the budget on sampled schedules, if exploration did not
// complete. A shard whose own parts are all complete cannot know whether those of
// others are: it leaves its samples to the check after Merge.
func (x *explorer) samples() error {
	st := x.state
	if st.coverage().Complete || x.o.Shards > 1 && st.completes(x.o.Shard, x.o.Shards) {
		return nil
	}
	longest := max(st.Solo.Coverage.Longest, 1)
	n := min(x.o.Schedules/5, int(x.o.Steps/5/int64(longest)))
	list := explore.Sample(n, 1, longest)
	if st.Samples == nil {
		st.Samples = make([]unit, sampleUnits)
		for i := range st.Samples {
			st.Samples[i].Left = len(unitSamples(list, i))
		}
	}
	for i := range st.Samples {
		if st.Samples[i].Left > len(unitSamples(list, i)) {
			return &StateError{"more samples are left than there are"}
		}
	}
	x.sampling = true
	x.w.Meter.Stage("running sampled schedules", "schedule", x.samplesLeft())
	parallel.Each(x.jobs, sampleUnits, func(i int) {
		u := &st.Samples[i]
		mine := unitSamples(list, i)
		for x.mine(i) && !u.Done {
			s := mine[len(mine)-u.Left:]
			if len(s) == 0 {
				x.mu.Lock()
				u.Done = true
				x.mu.Unlock()
				break
			}
			if !x.sample(u, s[0]) {
				x.mu.Lock()
				u.Elapsed = true
				x.mu.Unlock()
				break
			}
			x.save(false)
		}
	})
	return nil
}

// samplesLeft is how many samples this shard has to run.
func (x *explorer) samplesLeft() (n int) {
	for i := range x.state.Samples {
		if x.mine(i) {
			n += x.state.Samples[i].Left
		}
	}
	return n
}

func (x *explorer) sample(u *unit, s trial.Schedule) bool {
	j := rules.NewJudge(x.l.Rules())
	m := x.l.Part(j, x.skip, 0, 1)
	x.state.Detail.part(m)
	r, _ := x.l.RunPart(x.w, j, m, s)
	if r.Err != nil || x.w.Over() != "" {
		return false // it is repeated
	}
	r.Findings = withoutTimeouts(m, r.Findings)
	r.Gaps = append(r.Gaps, x.rows(r.Findings, s, r.Raced)...)
	if len(r.Findings) > 0 && m.KeepsApart() {
		// The meaning of a seed depends on which lanes may diverge: choices say all.
		m := x.l.Part(nil, x.skip, 0, 1)
		x.state.Detail.part(m)
		if run, ok := explore.Record(m, s, nil); ok {
			s = chosen(m, run)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	u.begin()
	for _, f := range r.Findings {
		u.add(found{Finding: f, Schedule: s.String(), Switches: many, Steps: many, Seen: 1})
	}
	for _, g := range r.Gaps {
		u.gap(g)
	}
	u.keep()
	u.Left--
	u.Coverage.Schedules++
	x.steps += int64(x.state.Solo.Coverage.Longest) // or so
	x.tell()
	x.w.Meter.Did(1)
	u.Done = u.Left == 0
	return true
}

// many is the size of a sampled schedule: any other is smaller.
const many = 1 << 30

// maxBeginnings bounds how often an exploration begins again because its runs needed
// more detail.
const maxBeginnings = 4

// lookFirst finds the detail that an exploration begins with, by one run.
func lookFirst(l *trial.Subject, w *trial.Budget, e *Exploration, skip bool) error {
	if e.Solo.begun || e.Solo.At != nil || e.Solo.Done || !e.Detail.empty() {
		return nil
	}
	judge, words := trial.JudgeWords(l.Facts(lanes.Deciders(l.Program)), l.Rules())
	m := l.Part(trial.Observers{words, judge}, skip, 0, 1)
	m.ShowMeetings()
	if _, err := l.Follow(w, m, trial.ProofSchedule); err != nil {
		return err
	}
	summary := words.Summary()
	e.Detail = detail(&summary)
	return nil
}
