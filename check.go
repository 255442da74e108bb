package muster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/report"
	"muster/internal/rules"
)

// CheckOptions say how to check.
type CheckOptions struct {
	// Schedules to run, in the order in which findings are credited to them;
	// by default Handful(DefaultRandom).
	Schedules []Schedule
	// Jobs is how many schedules run at a time, by default one a processor.
	// It does not change the report.
	Jobs int
	// FailOnWarning lets warnings count towards the verdict.
	FailOnWarning bool
	// Values has the matrix instructions compute even where nothing that they
	// compute can reach a branch, an address or a synchronization operand.
	// Without it that is done only if something was found, so that findings
	// are always of runs with every value.
	Values bool
	// Prove first tries to decide every schedule by one run. Where that succeeds
	// and nothing was found, the schedules are not run.
	Prove bool
	// Explore bounds what is explored where one run does not decide, if Prove is
	// set.
	Explore ExploreOptions
	// Cost notes the fences and barriers that a proven launch could do without. It
	// takes a run for each.
	Cost bool
	// Arguments name this launch on a command line of muster, for the replay
	// lines of findings; by default the name of the launch file.
	Arguments string
}

// Check runs the launch under each schedule, and reports what it found. The
// error is that of ctx, and comes with a report of what was done until then, or a
// schedule that this launch cannot follow. Where the program elects leaders, it looks
// twice: see led.
func (l *Launch) Check(ctx context.Context, o CheckOptions) (*Report, error) {
	ctx = l.within(ctx, 1)
	if with, rest, ok := l.leads(o.Schedules); ok {
		o.Schedules = rest
		return with.check(ctx, o)
	}
	r, err := l.check(ctx, o)
	if err != nil || l.highest || !l.config.Program.Elects() || o.Schedules != nil && !o.Prove {
		return r, err
	}
	return l.checkLed(ctx, o, r)
}

// check is Check with one leader for each mask.
func (l *Launch) check(ctx context.Context, o CheckOptions) (*Report, error) {
	if o.Schedules == nil {
		o.Schedules, o.Prove = Handful(DefaultRandom), true
	}
	if o.Prove {
		if err := l.begin(&o.Explore); err != nil {
			return nil, err
		}
	}
	if len(l.findings) > 0 {
		// The driver would refuse it: there is nothing to run.
		return l.report(o, nil, merged{}), o.Explore.decided()
	}
	ctx = l.within(ctx, 1)
	skip := !o.Values && l.config.Program.Reaches(machine.FromMatrices) < 0
	var proved *report.Proof
	var shown result // by the runs of a proof
	if o.Prove {
		// Half the time is left for runs.
		p, r := l.prove(l.within(ctx, 2), o, skip)
		unknown := l.dropUnreached(ctx, &p, &r)
		if r.err == nil && p.holds && len(r.findings) == 0 && !unknown {
			all := merged{proof: l.proved(p)}
			l.cost(ctx, o, skip, &all)
			return l.report(o, []Schedule{proofSchedule}, all), cmp.Or(o.Explore.decided(), ctx.Err())
		}
		if proved = l.proved(p); p.holds {
			shown = r
		}
	}
	all, err := l.all(ctx, o, skip)
	if err == nil && skip && len(all.findings) > 0 {
		all, err = l.all(ctx, o, false)
	}
	if err != nil {
		return nil, err
	}
	all.proof = proved
	o.Schedules = l.predict(ctx, o, &all)
	switch {
	case !o.Prove:
	case proved.All || len(all.gaps) > 0 || all.wrong() && len(l.file.Accept) == 0:
		// The verdict is known.
		if err := o.Explore.decided(); err != nil {
			return nil, err
		}
	case o.Explore.Schedules < 0:
		all.coverage = &report.Coverage{Why: "exploring was not asked for"}
		if err := o.Explore.decided(); err != nil {
			return nil, err
		}
	default:
		if err := l.beyond(ctx, &o, skip, &all); err != nil {
			return nil, err
		}
	}
	shown.undecidedReads(&all)
	if err := l.reach(ctx, o, &all); err != nil {
		return nil, err
	}
	l.cost(ctx, o, skip, &all)
	l.unfinished(ctx, &all)
	return l.report(o, o.Schedules, all), ctx.Err()
}

// unfinished says that a check had no more time, unless its coverage does. Each part
// says so itself where it left something; this is for what was about to begin.
func (l *Launch) unfinished(ctx context.Context, all *merged) {
	if why := l.watch(ctx).over(); why != "" && (all.coverage == nil || all.coverage.Complete) {
		all.addGap(rules.Gap{What: why, PC: -1})
	}
}

// wrong reports whether an error was found.
func (a *merged) wrong() bool {
	return slices.ContainsFunc(a.findings, func(f rules.Finding) bool { return f.Severity == rules.Error })
}

// beyond explores the schedules that are not like those that ran.
func (l *Launch) beyond(ctx context.Context, o *CheckOptions, skip bool, all *merged) error {
	e := o.Explore.State
	if err := l.lookFirst(ctx, o, skip); err != nil {
		return err
	}
	if err := l.explore(ctx, *o, skip); err != nil {
		return err
	}
	for n := 0; n < mostBeginnings && e.Shards <= 1 && l.watch(ctx).over() == ""; n++ {
		missed := e.missed()
		if missed.empty() || !e.coverage().Complete || e.wrong() {
			break
		}
		e.again(e.Values, e.Detail.join(missed))
		if err := l.explore(ctx, *o, skip); err != nil {
			return err
		}
	}
	if !e.Values && e.wrong() && l.watch(ctx).over() == "" {
		// Findings are of runs with every value.
		e.again(true, e.Detail)
		if err := l.explore(ctx, *o, false); err != nil {
			return err
		}
	}
	var err error
	o.Schedules, err = l.conclude(ctx, o.Explore.State, o.Schedules, all)
	return err
}

// all runs every schedule, without matrix arithmetic if skip.
func (l *Launch) all(ctx context.Context, o CheckOptions, skip bool) (merged, error) {
	results := l.schedules(ctx, o, skip)
	var all merged
	for i := range results {
		if results[i].err != nil {
			return all, results[i].err
		}
		all.add(i, &results[i])
	}
	return all, nil
}

// Replay runs the launch under one schedule, and reports what it found there.
func (l *Launch) Replay(ctx context.Context, s Schedule) (*Report, error) {
	return l.Check(ctx, CheckOptions{Schedules: []Schedule{s}, Jobs: 1})
}

// A result is what one schedule showed.
type result struct {
	findings []rules.Finding
	gaps     []rules.Gap
	err      error
}

// withoutLimits drops what a judge says of the stop that follow speaks of
// itself: a limit is this package's, and so is its name.
func withoutLimits(gaps []rules.Gap, s *machine.Stop) []rules.Gap {
	var out []rules.Gap
	for _, g := range gaps {
		if s == nil || g.PC != s.PC {
			out = append(out, g)
		}
	}
	return out
}

// follow runs m under s to its end, or to a limit, which is a gap.
func (l *Launch) follow(w *watch, m *machine.Machine, s Schedule) (*rules.Gap, error) {
	stop, why := w.stop()
	if stop() {
		return &rules.Gap{What: why(), PC: -1}, nil
	}
	if err := offered(m, s, stop); err != nil {
		return nil, err
	}
	s.Prefix = nil
	if !explore.Run(m, s, stop) {
		return &rules.Gap{What: why(), PC: -1}, nil
	}
	if g, ok := l.limitGap(m.Stopped()); ok {
		return &g, nil
	}
	return nil, nil
}

// prefix takes the explicit choices of s. They may come from a person, or
// from another version of the kernel, and so may not be possible.
func prefix(m *machine.Machine, s Schedule) error {
	for i, c := range s.Prefix {
		if m.Stopped() != nil && m.Stopped().Kind == machine.Interrupted {
			return nil
		}
		if !m.Offers(c) {
			return fmt.Errorf("schedule: choice %d, %v, is not possible there; this launch or its kernel is another", i+1, c)
		}
		m.Step(c)
	}
	return nil
}

// merged is what several schedules showed. Each finding is kept as the first
// schedule had it that shows it at its gravest.
type merged struct {
	findings []rules.Finding
	first    map[string]int // schedule
	seen     map[string]int
	gaps     []rules.Gap
	proof    *report.Proof
	coverage *report.Coverage
	notices  []string
}

func (a *merged) add(schedule int, r *result) {
	if a.first == nil {
		a.first, a.seen = map[string]int{}, map[string]int{}
	}
	for _, f := range r.findings {
		key := f.Key()
		a.seen[key]++
		if a.seen[key] == 1 {
			a.findings = append(a.findings, f)
			a.first[key] = schedule
			continue
		}
		for i := range a.findings {
			if a.findings[i].Key() == key && a.findings[i].Severity < f.Severity {
				a.findings[i], a.first[key] = f, schedule
			}
		}
	}
	for _, g := range r.gaps {
		a.addGap(g)
	}
}

func (a *merged) addGap(g rules.Gap) {
	for _, old := range a.gaps {
		if old == g {
			return
		}
	}
	a.gaps = append(a.gaps, g)
}

// report resolves what was found and draws the verdict.
func (l *Launch) report(o CheckOptions, ran []Schedule, all merged) *Report {
	c := &l.config
	first := &l.file.Launches[0]
	r := &Report{
		Version: report.Version,
		Launch: report.Launch{
			File: l.file.Name, PTX: first.PTX, Kernel: c.Program.Kernel.Name, Grid: c.Grid, Block: c.Block, Cluster: c.Cluster,
			Shared: c.Shared, CTAs: l.shape.CTAs, Threads: l.shape.CTAs * l.shape.Threads, Arguments: o.Arguments,
		},
	}
	r.Proof, r.Explored, r.Notices = all.proof, all.coverage, all.notices
	if r.Launch.Arguments == "" {
		r.Launch.Arguments = report.Quote(l.file.Name)
		if l.unwritten {
			r.Launch.Note = "Call.Write writes " + l.file.Name
		}
	}
	for _, s := range ran {
		r.Schedules = append(r.Schedules, l.written(s).String())
	}
	l.resolve(r, all)
	for _, g := range all.gaps {
		r.Gaps = append(r.Gaps, l.resolver.Gap(g))
	}
	if c.Program.Static+c.Shared > 0 {
		r.Assumptions = append(r.Assumptions, "shared memory of a CTA starts at a multiple of 1,024 bytes, as it does on the card")
	}
	if (r.Proof != nil && r.Proof.All || r.Explored != nil && r.Explored.Complete && len(c.Program.Polls()) > 0) && c.Program.Traps() {
		r.Assumptions = append(r.Assumptions, "no timeout strikes that ends in a trap")
	}
	if r.Proof != nil && r.Proof.All && r.Proof.InOrder {
		r.Assumptions = append(r.Assumptions, "clusters start in the order of their numbers: some wait for what others write, which start before them")
	}
	if l.highest {
		r.Assumptions = append(r.Assumptions, "elect.sync elects the highest lane of its mask; the ISA lets it be any (9.7.13.14)")
	}
	if c.VectorAtomic {
		r.Assumptions = append(r.Assumptions, "an aligned load or store of up to 16 bytes is one access, as on the card; the ISA has one for each element (8.2.4)")
	}
	r.Assuming = l.file.Assume
	r.Accept(l.accepts())
	r.Conclude(report.Options{FailOnWarning: o.FailOnWarning})
	return r
}

func (l *Launch) resolve(r *Report, all merged) {
	fs := append(append([]rules.Finding{}, l.findings...), all.findings...)
	rules.Sort(fs)
	for i := range fs {
		f := l.resolver.Finding(&fs[i])
		key := fs[i].Key()
		if n, ran := all.first[key]; ran {
			f.Schedule, f.Seen = r.Schedules[n], all.seen[key]
		}
		r.Findings = append(r.Findings, f)
	}
	r.SetReplays()
}

func (l *Launch) accepts() []report.Accept {
	var list []report.Accept
	for _, a := range l.file.Accept {
		list = append(list, report.Accept{Kind: a.Finding, At: a.At, Reason: a.Reason, Where: a.Pos.String()})
	}
	return list
}
