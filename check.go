package muster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"muster/internal/diag"
	"muster/internal/executions"
	"muster/internal/machine"
	"muster/internal/near"
	"muster/internal/patience"
	"muster/internal/progress"
	"muster/internal/prove"
	"muster/internal/redundant"
	"muster/internal/rules"
	"muster/internal/shards"
	"muster/internal/trial"
	"muster/internal/undefined"
	"muster/report"
)

// A Mode says which schedules a check covers.
type Mode int

const (
	// EverySchedule decides every schedule of the launch: by one run where a proof holds,
	// else by exploring one schedule of each equivalence class within a budget.
	EverySchedule Mode = iota
	// OnlySchedules runs the schedules of CheckOptions and claims nothing about others.
	OnlySchedules
)

// CheckOptions say how to check. The zero value decides every schedule.
type CheckOptions struct {
	// Schedules to run, in the order in which findings are credited to them;
	// by default Handful(DefaultRandom).
	Schedules []Schedule
	// Jobs is how many schedules run in parallel, by default one per processor. It does
	// not change the report.
	Jobs int
	// FailOnWarning lets warnings count towards the verdict.
	FailOnWarning bool
	// Values makes matrix instructions compute even where their results cannot reach a
	// branch, an address or a synchronization operand. Without it, they compute only in a
	// second pass, made if something was found: findings always come from runs with every
	// value.
	Values bool
	// Mode says which schedules the check covers, by default every one.
	Mode Mode
	// Explore bounds the exploration, made where one run does not decide every schedule.
	Explore ExploreOptions
	// Cost notes the fences and barriers that a proven launch could do without, at one
	// more run for each.
	Cost bool
	// Baseline lists findings that are known and do not count towards the verdict.
	Baseline *report.Baseline
	// SoFar, if set, is called with what was done so far, and what is done next, each time
	// that there is more to say: for a process that has to end without a report.
	SoFar func(text string)
	// Arguments name this launch on a command line of muster, for the replay
	// lines of findings; by default the name of the launch file.
	Arguments string

	few bool // Schedules are the default ones
}

// Check decides every schedule of the launch, or runs those of OnlySchedules, and reports
// what it found. Errors are ctx's, with a report of the work done so far, or come with no
// report: options that are invalid, a schedule that this launch cannot follow, or a
// *StateError for a state that is not this exploration's. A program with elect.sync is
// checked twice: electing the lowest lane of each mask, then the highest. So is a launch with
// a preferred size of clusters: without and with it, and where that does not decide, with
// mixes of both sizes.
func (l *Launch) Check(ctx context.Context, o CheckOptions) (*Report, error) {
	if err := o.valid(); err != nil {
		return nil, err
	}
	if len(o.Schedules) == 0 {
		o.Schedules, o.few = Handful(DefaultRandom), o.Mode == EverySchedule
	}
	ctx = l.subject.Within(ctx, 1)
	l = l.hurried(ctx)
	explore := o.Explore.options(l)
	if with, rest, ok := l.chosen(o.Schedules); ok {
		o.Schedules = rest
		return with.check(ctx, o, explore)
	}
	r, err := l.checkLeaders(ctx, o, explore)
	if err != nil || o.Mode == OnlySchedules || !l.prefers() {
		return r, err
	}
	return l.checkSizes(ctx, o, explore, r)
}

// checkLeaders is Check with one choice of the sizes of clusters.
func (l *Launch) checkLeaders(ctx context.Context, o CheckOptions, e *shards.Options) (*Report, error) {
	r, err := l.check(ctx, o, e)
	if err != nil || l.subject.Highest || !l.subject.Program.Elects() || o.Mode == OnlySchedules {
		return r, err
	}
	return l.checkLed(ctx, o, e, r)
}

// valid checks the options.
func (o *CheckOptions) valid() error {
	switch e := &o.Explore; {
	case o.Mode != EverySchedule && o.Mode != OnlySchedules:
		return fmt.Errorf("mode %d is neither EverySchedule nor OnlySchedules", o.Mode)
	case e.Shards < 0 || e.Shard < 0 || e.Shard > 0 && e.Shard >= e.Shards:
		return fmt.Errorf("shard %d of %d: shards count from 0", e.Shard, e.Shards)
	}
	return nil
}

// hurried returns the launch with each wait that traps too soon to be a timeout treated as
// the tests and reads that it makes. It returns l if there is no such wait.
func (l *Launch) hurried(ctx context.Context) *Launch {
	hasty := patience.Hasty(l.subject.Budget(ctx), l.subject)
	if len(hasty) == 0 {
		return l
	}
	prog, err := l.decode()
	if err != nil {
		return l // it was decoded before
	}
	prog.Hasten(hasty)
	h := *l
	h.config.Program, h.resolver.Program = prog, prog
	if err := h.makeSubject(); err != nil {
		return l
	}
	of := &h
	if len(l.sizes) > 0 {
		of = of.sized(l.sizes)
	}
	if l.subject.Highest {
		of = of.led()
	}
	return of
}

// Replay runs the launch under one schedule, and reports what it found there.
func (l *Launch) Replay(ctx context.Context, s Schedule) (*Report, error) {
	return l.Check(ctx, CheckOptions{Schedules: []Schedule{s}, Jobs: 1, Mode: OnlySchedules})
}

// A checking is the state of one check, with one choice of leaders and of the sizes of clusters.
type checking struct {
	*Launch
	o       CheckOptions
	list    []trial.Schedule // the schedules to run
	explore *shards.Options
	ctx     context.Context
	budget  *trial.Budget
	skip    bool        // runs skip matrix arithmetic
	alike   trial.Parts // of a proven launch
	few     bool        // nobody asked for all of the schedules
	ran     bool        // some of the schedules ran
	shown   trial.Result
	merged
	rows rowsSeen
	// Of a stage of a sequence: what is known of the memory that it leaves.
	orders bool        // proven by runs in several orders
	ticket bool        // proven although the schedule decides which lane stores where
	grants bool        // proven by runs for what each cluster may get
	summed []int32     // as prove.Proof.Sums
	finals finalStates // of the explored runs
}

// A merged holds the combined results of a check.
type merged struct {
	trial.Merged
	proof    *report.Proof
	coverage *report.Coverage
	notices  []string
	rounding bool // sums of floating-point numbers depend on the order of their additions
	// joint are instructions by which lanes of a warp add floating-point numbers to a word
	// that is read.
	joint []int32
	// inherits is what a proof leaves open of the memory that the launch begins with.
	inherits string
	// pairs are the pairs of instructions that are in order, if they were counted.
	pairs *report.Decided
	// unsettled are loads, as prove.Proof.Unsettled.
	unsettled []int32
	// contested: volatile loads are taken to return what was written last (lastblock.go).
	contested bool
	// overtaken is an execution in which a load returns an overwritten value (lastblock.go).
	overtaken *executions.Found
	// columns is what a launch takes of where tcgen05.alloc finds columns.
	columns string
}

// check is Check with one choice of leaders: a run that may prove every schedule, then
// the given schedules, then those predicted from them, then exploration of the rest.
func (l *Launch) check(ctx context.Context, o CheckOptions, e *shards.Options) (*Report, error) {
	explore := *e
	e = &explore
	c := &checking{Launch: l, o: o, list: inner(o.Schedules), few: o.few, explore: e, ctx: ctx, budget: l.subject.Budget(ctx)}
	c.skip = !o.Values && l.subject.Skips()
	if l.handing != nil {
		c.finals.from, e.Final = l.subject.Start, c.finals.add
	}
	if o.Mode == EverySchedule {
		if err := e.Begin(); err != nil {
			return nil, stateError(err)
		}
	}
	if len(l.findings) > 0 {
		// The driver would refuse it: there is nothing to run.
		return l.report(o, nil, merged{}), e.Decided()
	}
	c.tell("a run that may decide every schedule")
	wrong := c.wrongAnyhow()
	if !wrong && c.proves() {
		c.costs()
		c.columnsMatter()
		c.handsOn()
		return c.concluded([]trial.Schedule{trial.ProofSchedule}), cmp.Or(e.Decided(), ctx.Err())
	}
	c.tell("runs")
	stages := []func() error{c.runs, c.predicts, c.explores, c.masks, c.undefined, c.rowsUsed}
	switch {
	case wrong:
		c.list, stages = c.list[:1], []func() error{c.explore.Decided, c.undefined, c.rowsUsed}
	case c.representative():
		c.list, stages = c.list[:1], []func() error{c.run, c.explore.Decided, c.undefined, c.rowsUsed}
		if c.proof.Together || c.proof.Residency { // directed runs show what comes where that is not so
			stages = []func() error{c.run, c.parts, c.explore.Decided, c.undefined, c.rowsUsed}
		}
	case c.lastBlock():
		c.list, stages = c.list[:1], []func() error{c.run, c.overtakes, c.explore.Decided, c.undefined, c.rowsUsed}
	}
	for _, stage := range stages {
		if err := stage(); err != nil {
			return nil, err
		}
		c.tell("what comes after them")
	}
	if c.o.Mode == OnlySchedules {
		c.contests()
	}
	c.granted()
	c.costs()
	c.columnsMatter()
	c.unfinished()
	c.stands()
	c.handsOn()
	return c.concluded(c.list), ctx.Err()
}

// concluded is the report, with how much was decided if that is not all.
func (c *checking) concluded(ran []trial.Schedule) *Report {
	r := c.report(c.o, ran, c.merged)
	if r.Verdict == report.Incomplete && c.o.Mode == EverySchedule {
		c.counts()
		r.Decided = c.pairs
	}
	return r
}

// proves tries to decide every schedule by one run, in half of the time. It reports
// whether that settles the check: proven, with no finding and no open question.
func (c *checking) proves() bool {
	if c.o.Mode != EverySchedule {
		return false
	}
	p, r := c.tries()
	l := c.subject
	unknown := p.Decides() && undefined.DropUnreached(l, c.budget, &r)
	c.proof, c.alike = c.proved(p), p.Parts
	if c.proof.All {
		c.shown = r
	}
	c.sums(&p)
	c.unsettled = p.Unsettled
	c.joint, c.summed, c.orders, c.grants = p.Joint, p.Sums, p.Orders, p.Grants > 0
	c.ticket = p.Tickets
	return r.Err == nil && p.Holds && len(r.Findings) == 0 && !unknown
}

// sums says which sums of floating-point numbers have last bits that may depend on the
// schedule, and by how much two orders differ at most.
func (c *checking) sums(p *prove.Proof) {
	if len(p.Sums) == 0 {
		return
	}
	c.rounding = true
	text := fmt.Sprintf("sum-order: several threads add floating-point numbers to one word (%s): the last bits of the sums may depend on the schedule", c.lines(p.Sums))
	var most *machine.Sum
	known := len(p.Words) > 0
	for i := range p.Words {
		w := &p.Words[i]
		known = known && !math.IsInf(w.Bound(), 0)
		if most == nil || w.Bound() > most.Bound() {
			most = w
		}
	}
	for _, pc := range p.Sums { // asynchronous reductions are not followed
		known = known && c.subject.Program.FloatSum(pc)
	}
	if known {
		text += fmt.Sprintf("; two orders differ by at most %.2g (%s of %s, magnitudes up to %.3g)", most.Bound(), diag.Plural(most.Additions, "addition"), most.Type, most.Magnitude)
	}
	c.notices = append(c.notices, text)
}

// lines lists the lines of instructions, the first of them.
func (l *Launch) lines(pcs []int32) string {
	var lines []string
	for _, pc := range pcs {
		if l := l.subject.Line(pc); !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	const most = 4
	if n := len(lines) - most; n > 1 {
		lines = append(lines[:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(lines, ", ")
}

// representative reports whether the proof holds, and what its run found besides, all of
// it warnings and notes, is what every schedule shows: about orders, and not about values
// that nobody defined. If it holds only for lanes that stay together, a run is wanted, too.
func (c *checking) representative() bool {
	return c.proof != nil && c.proof.All && c.shown.Err == nil && (len(c.shown.Findings) > 0 || c.proof.Together || c.proof.Residency) &&
		!slices.ContainsFunc(c.shown.Findings, func(f rules.Finding) bool { return rules.MayReach(&f) || rules.Dropped(&f) }) &&
		!c.subject.Program.Unspecified()
}

// wrongAnyhow reports whether the first schedule shows an error in a launch whose leaders
// are those that no card elects. What else is wrong there is not looked for: it would be
// warnings (checkLed).
func (c *checking) wrongAnyhow() bool {
	if !c.subject.Highest || c.o.Mode != EverySchedule {
		return false
	}
	// One part that is wrong by itself will do.
	c.budget.Meter.Stage("one schedule, for errors", "", 0)
	r, _ := c.subject.Judge(c.budget, c.list[0], c.skip, 0, c.subject.Parts())
	if r.Err == nil && !r.Wrong() && c.subject.Parts() > 1 {
		r = c.subject.All(c.budget, c.list[:1], c.o.Jobs, c.skip)[0]
	}
	if r.Err != nil || !r.Wrong() || rules.OnRowsAlone(r.Findings) {
		return false
	}
	c.Add(0, &r)
	return true
}

// run runs the schedule once, one of the clusters that are alike. No value of a matrix instruction changes what it finds in a
// proven launch: a proof leaves none out that could.
func (c *checking) run() error {
	if c.alike.N > 1 {
		c.budget.Meter.Stage("running the schedule of the proof", "", 0)
		if r, ended := c.subject.Alike(c.budget, c.list[0], c.o.Jobs, c.skip, c.alike); ended {
			c.Merged, c.ran = trial.Merged{}, true
			c.Add(0, &r)
			return nil
		}
	}
	return c.runAll(c.skip)
}

// runs runs every schedule, and again with every value if a run without found something.
func (c *checking) runs() error {
	err := c.runAll(c.skip)
	if err == nil && c.skip && len(c.Findings) > 0 {
		err = c.runAll(false)
	}
	if err == nil && c.unusedRows() {
		return c.runAll(false)
	}
	return err
}

func (c *checking) runAll(skip bool) error {
	c.Merged, c.ran, c.rows.raced = trial.Merged{}, true, machine.OperandBytes{}
	budget := c.budget
	if c.few {
		budget = budget.Enough(afterError)
	}
	budget.Meter.Stage("running schedules", "schedule", len(c.list))
	first := c.subject.All(budget, c.list[:1], c.o.Jobs, skip)
	if c.few && first[0].Instrs > longRun && first[0].Wrong() {
		c.list = c.list[:min(len(c.list), fewSchedules)]
		budget.Meter.Set(func(p *progress.Progress) { p.Of = len(c.list) })
	}
	for i, r := range append(first, c.subject.All(budget, c.list[1:], c.o.Jobs, skip)...) {
		if r.Err != nil {
			return r.Err
		}
		c.Add(i, &r)
		c.rows.raced.Join(r.Raced)
	}
	return nil
}

// Where the first schedule has an error, and executes more than longRun warp instructions,
// the default schedules are no more than fewSchedules: whoever waits has a bug to mend. For
// the same reason a run ends afterError warp instructions after its first error.
const (
	longRun      = 1 << 18
	fewSchedules = 2
	afterError   = 1 << 22
)

// predicts adds directed runs for the conflicts that failed conditions of the proof name.
func (c *checking) predicts() error {
	c.list = c.predictor.Add(c.budget, c.list, c.o.Jobs, c.o.Mode == EverySchedule, &c.Merged)
	return nil
}

// granted adds what the runs of a proof for what each cluster may get showed, and the schedules
// that ran did not.
func (c *checking) granted() {
	if !c.grants || !c.proof.All {
		return
	}
	known := map[string]bool{}
	for i := range c.Findings {
		known[c.Findings[i].Key()] = true
	}
	for _, f := range c.shown.Findings {
		if !known[f.Key()] {
			f.Notes = append(slices.Clip(f.Notes), "where clusters get others by clusterlaunchcontrol.try_cancel than in the schedules that ran")
			c.Findings = append(c.Findings, f)
		}
	}
}

// parts looks for what lanes do that part where they could stay together, and for CTAs that wait
// for others which have not started. The proof holds for lanes that stay together, so that all
// errors found are of others: warnings.
func (c *checking) parts() error {
	together := slices.Clone(c.Findings)
	if err := c.predicts(); err != nil {
		return err
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		if c.proof.Together && f.Severity == rules.Error && !slices.ContainsFunc(together, func(g rules.Finding) bool { return g.Key() == f.Key() }) {
			f.Severity = rules.Warning
			f.Notes = append(f.Notes, "only if lanes of a warp that come to an mbarrier together arrive, or leave their wait, one by one: the ISA leaves that open (3.2), and no card does it")
		}
	}
	return nil
}

// explores explores the schedules not equivalent to those that ran, unless the verdict is
// already decided.
func (c *checking) explores() error {
	switch {
	case c.o.Mode != EverySchedule:
		return nil
	case c.proof.All || len(c.Gaps) > 0 || c.Wrong() && len(c.file.Accept) == 0 && c.o.Baseline == nil:
		return c.explore.Decided()
	case c.explore.Schedules < 0:
		none := shards.NotAsked()
		c.coverage = &none
		return c.explore.Decided()
	}
	if c.apart() {
		return c.explore.Decided()
	}
	c.tellsExploring()
	c.explore.Long = c.counts
	if err := shards.Explore(c.subject, c.budget, c.explore, c.o.Jobs, c.skip); err != nil {
		return stateError(err)
	}
	list, covered, err := c.explore.Conclude(c.subject, c.predictor, c.budget, c.list, &c.Merged)
	if err == nil {
		c.list, c.coverage = list, &covered
		c.executes()
	}
	return stateError(err)
}

// undefined decides which reads of unwritten or undefined values matter.
func (c *checking) undefined() error {
	undefined.Undecided(&c.shown, &c.Merged)
	undefined.Reach(c.subject, c.budget, c.list, &c.Merged, c.proof != nil && c.proof.All)
	return nil
}

// costs adds which fences and barriers of a proven launch are redundant.
func (c *checking) costs() {
	switch {
	case !c.o.Cost:
		return
	case c.ticket:
		c.notices = append(c.notices, "CheckOptions.Cost: the schedule decides which thread stores where, so that nothing is said of the fences and barriers of this launch")
		return
	case c.proof == nil || !c.proof.All || c.contested:
		c.notices = append(c.notices, "CheckOptions.Cost: this launch is not proven for all schedules, so that nothing can be said of its fences and barriers")
		return
	}
	found, notices := redundant.Find(c.subject, c.budget, c.o.Jobs, c.skip)
	c.Findings, c.notices = append(c.Findings, found...), append(c.notices, notices...)
}

// unfinished adds a gap if the time ran out, unless the coverage says so. Each part
// reports its own unfinished work; this is for parts that had not begun.
func (c *checking) unfinished() {
	if why := c.budget.Over(); why != "" && (c.coverage == nil || c.coverage.Complete) {
		c.AddGap(rules.Gap{What: why, PC: -1})
	}
}

// stands adds to the findings what the run has of the kind that each lacks.
func (c *checking) stands() {
	near.Look(c.subject, c.budget, c.list, c.Findings, func(f *rules.Finding) int {
		if n, ok := c.First[f.Key()]; ok {
			return n
		}
		return -1
	})
}

// proved converts a proof to the report's form.
func (l *Launch) proved(p prove.Proof) *report.Proof {
	r := &report.Proof{All: p.Decides(), Together: p.Together, Residency: p.Residency, Orders: p.Orders, Draws: p.Tickets || p.Grants > 0}
	r.Reasons = l.reasons(p)
	if r.All {
		r.Reasons = []report.Reason{}
		r.InOrder = p.Earlier
		r.AnyContents = !p.Contents && l.config.Program.ReachesBut(machine.FromBuffers, p.Addresses.Loads()) < 0
	}
	return r
}

// reasons converts the reasons against a proof.
func (l *Launch) reasons(p prove.Proof) (list []report.Reason) {
	for _, why := range p.Reasons {
		list = append(list, report.Reason{Condition: why.Condition, Text: why.Text, Place: l.place(why.PC)})
	}
	return list
}

// place returns an instruction's place in the PTX text; nil for a negative pc.
func (l *Launch) place(pc int32) *report.Place { return l.resolver.Gap(rules.Gap{PC: pc}).Place }
