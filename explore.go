package muster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/report"
	"muster/internal/rules"
)

// Where one run does not decide for every schedule, schedules are explored: one
// of each kind (internal/explore), each watched by a judge, within a budget; and
// past the budget some are sampled. All of it is made of units that need nothing
// of each other: the first runs, then parts of what is left, then handfuls of
// samples. So it can be spread over processors and machines, stopped and resumed,
// and comes to the same.

// ExploreOptions bound an exploration.
type ExploreOptions struct {
	// Schedules is how many to run, by default DefaultSchedules; less than 0 for
	// none. Up to a fifth of them are samples, where exploration does not end.
	Schedules int
	// Steps is how many steps they may have together, by default DefaultSteps.
	Steps int64
	// Shard of Shards has this check take only its share of the units; Shards 0
	// for all of them. Shards count from 0.
	Shard, Shards int
	// State, if set, is resumed from where it is not empty, and kept up to date.
	State *Exploration
	// Save is called now and then, when State has changed.
	Save func(*Exploration) error
	// Progress is called now and then with what has been done.
	Progress func(Progress)
}

// The budget of an exploration, where none is given.
const (
	DefaultSchedules = 1000
	DefaultSteps     = 2_000_000
)

const (
	soloRuns    = 200     // that are made before what is left is parted
	mostLength  = 20_000  // steps of a run that is explored
	sampleUnits = 8       // that samples are dealt to
	pause       = 1 << 13 // steps between looks at the clock
)

// A Progress is how far an exploration has come.
type Progress struct {
	Schedules, Left int
	Units, Done     int // parts of what the first runs left over
	Findings        int
}

// An Exploration is what an exploration has come to so far, as it is written
// down. It speaks of one launch and one budget, which Key names.
type Exploration struct {
	Version int    `json:"version"`
	Key     string `json:"key"`
	Shard   int    `json:"shard"`
	Shards  int    `json:"shards"`
	Solo    unit   `json:"solo"`
	Units   []unit `json:"units,omitempty"`
	Samples []unit `json:"samples,omitempty"`
}

// A unit is one part of an exploration.
type unit struct {
	Done     bool              `json:"done"`
	Elapsed  bool              `json:"elapsed,omitempty"` // not finished: time or memory ran out
	Coverage explore.Coverage  `json:"coverage"`
	Found    []found           `json:"found,omitempty"`
	Gaps     []rules.Gap       `json:"gaps,omitempty"`
	At       *explore.Snapshot `json:"at,omitempty"`   // of a search that is not done
	Left     int               `json:"left,omitempty"` // of samples, that have not run

	// What the runs since At have shown too.
	live  []found
	gaps  []rules.Gap
	begun bool
}

// A found is a finding with the smallest of the schedules that showed it.
type found struct {
	Finding  rules.Finding `json:"finding"`
	Schedule string        `json:"schedule"`
	Switches int           `json:"switches"`
	Steps    int           `json:"steps"`
	Seen     int           `json:"seen"`
}

// smaller orders schedules: by switches, steps, and text.
func (f *found) smaller(g *found) bool {
	return cmp.Or(cmp.Compare(f.Switches, g.Switches), cmp.Compare(f.Steps, g.Steps), cmp.Compare(f.Schedule, g.Schedule)) < 0
}

// begin goes on from what is written down.
func (u *unit) begin() {
	if !u.begun {
		u.begun, u.Elapsed = true, false
		u.live, u.gaps = slices.Clone(u.Found), slices.Clone(u.Gaps)
	}
}

// keep writes down what the runs up to now have shown.
func (u *unit) keep() { u.Found, u.Gaps = slices.Clone(u.live), slices.Clone(u.gaps) }

func (u *unit) add(f found) {
	for i := range u.live {
		g := &u.live[i]
		if g.Finding.Key() != f.Finding.Key() {
			continue
		}
		seen := g.Seen + f.Seen
		if f.Finding.Severity > g.Finding.Severity || f.Finding.Severity == g.Finding.Severity && f.smaller(g) {
			*g = f
		}
		g.Seen = seen
		return
	}
	u.live = append(u.live, f)
}

func (u *unit) gap(g rules.Gap) {
	if !slices.Contains(u.gaps, g) {
		u.gaps = append(u.gaps, g)
	}
}

// An explorer explores one launch.
type explorer struct {
	l     *Launch
	o     *ExploreOptions
	jobs  int
	skip  bool
	w     *watch
	state *Exploration
	mu    sync.Mutex // of state, while units run
	saved time.Time
	fail  error // of Save
}

// judging watches a run that is explored.
type judging struct {
	*rules.Judge
	x *explorer
	u *unit
}

// End takes what the run showed.
func (j judging) End(m *machine.Machine, path []machine.Choice) {
	findings, gaps := j.Finish(m)
	if g, limit := j.x.l.limitGap(m.Stopped()); limit {
		gaps = append(withoutLimits(gaps, m.Stopped()), g)
	}
	j.x.mu.Lock()
	defer j.x.mu.Unlock()
	for _, g := range gaps {
		j.u.gap(g)
	}
	if len(findings) == 0 {
		return
	}
	s := Schedule{Policy: explore.Latest, Prefix: path}
	of := found{Schedule: s.String(), Switches: explore.Switches(path), Steps: len(path), Seen: 1}
	for _, f := range findings {
		of.Finding = f
		j.u.add(of)
	}
}

// space is the runs of the launch, judged on behalf of a unit.
func (x *explorer) space(u *unit) *explore.Space {
	decides := x.l.deciders()
	return &explore.Space{
		Fork: func(o machine.Observer) *machine.Machine {
			m := x.l.machine(o, nil)
			if x.skip {
				m.SkipMatrices()
			}
			return m
		},
		Watch:   func() explore.Watcher { return judging{rules.NewJudge(x.l.shape), x, u} },
		Decides: func(pc int32) bool { return decides[x.l.line(pc)] },
	}
}

// deciders are the lines from which a value comes that depends on the schedule
// and decides something.
func (l *Launch) deciders() map[string]bool {
	lines := map[string]bool{}
	for _, d := range l.config.Program.Dependences() {
		lines[l.line(d.From)] = true
	}
	return lines
}

// explore explores the launch, or goes on with it. It reports what there is to
// say of it: coverage, findings, and gaps.
func (l *Launch) explore(ctx context.Context, o CheckOptions, skip bool) (*Exploration, error) {
	e := o.Explore
	if e.Schedules == 0 {
		e.Schedules = DefaultSchedules
	}
	if e.Steps == 0 {
		e.Steps = DefaultSteps
	}
	x := &explorer{l: l, o: &e, jobs: o.Jobs, skip: skip, w: l.watch(ctx), state: e.State}
	key := l.key(&e)
	switch {
	case x.state == nil:
		x.state = &Exploration{}
		fallthrough
	case x.state.Key == "":
		*x.state = Exploration{Version: 1, Key: key, Shard: e.Shard, Shards: e.Shards}
	case x.state.Key != key || x.state.Shard != e.Shard || x.state.Shards != e.Shards:
		return nil, fmt.Errorf("the state is of another launch, budget or shard")
	}
	if err := x.run(); err != nil {
		return nil, err
	}
	return x.state, x.fail
}

func (x *explorer) run() error {
	st := x.state
	runs := x.o.Schedules - x.o.Schedules/5
	solo := explore.Limits{Schedules: min(soloRuns, runs), Steps: x.o.Steps - x.o.Steps/5, Length: mostLength}
	s, err := x.search(&st.Solo, solo, nil)
	if err != nil {
		return err
	}
	x.pursue(&st.Solo, s)
	if !st.Solo.Done || st.Solo.Coverage.Complete {
		return nil
	}
	left := explore.Limits{
		Schedules: runs - st.Solo.Coverage.Schedules - st.Solo.Coverage.Left, Steps: solo.Steps - st.Solo.Coverage.Steps, Length: mostLength,
	}
	if left.Schedules > 0 && left.Steps > 0 && s != nil {
		if err := x.units(s, left); err != nil {
			return err
		}
	}
	x.samples()
	return nil
}

// search makes a unit's search, anew or from where it was.
func (x *explorer) search(u *unit, l explore.Limits, begin *explore.Search) (*explore.Search, error) {
	switch {
	case u.At != nil:
		s, err := explore.Resume(x.space(u), l, *u.At)
		if err != nil {
			return nil, fmt.Errorf("the state does not fit: %w", err)
		}
		return s, nil
	case begin != nil:
		return begin.In(x.space(u)), nil
	}
	return explore.NewSearch(x.space(u), l), nil
}

// pursue runs a unit's search to its end, saving it now and then.
func (x *explorer) pursue(u *unit, s *explore.Search) {
	if u.Done {
		return
	}
	u.begin()
	n := 0
	stop, why := x.w.stop()
	ended := false
	turn := func() bool {
		if n++; n%256 != 0 {
			return false
		}
		ended = stop()
		return ended || n%pause == 0 && x.due()
	}
	for {
		c := s.Run(turn)
		x.mu.Lock()
		u.Coverage = c
		u.keep()
		switch {
		case c.Why != "stopped":
			u.Done = true
			fallthrough
		case ended:
			if !u.Done {
				u.Elapsed, u.Coverage.Why = true, why()
			}
			snap := s.Snapshot()
			u.At = &snap
			x.mu.Unlock()
			x.save(true)
			return
		}
		snap := s.Snapshot()
		u.At = &snap
		x.mu.Unlock()
		x.save(false)
	}
}

// due reports whether it is time to save, or to tell.
func (x *explorer) due() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return time.Since(x.saved) > time.Second && (x.o.Save != nil || x.o.Progress != nil)
}

// save hands out what there is, at most once a second unless a unit is done.
func (x *explorer) save(done bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !done && time.Since(x.saved) < time.Second {
		return
	}
	x.saved = time.Now()
	if x.o.Save != nil && x.fail == nil {
		x.fail = x.o.Save(x.state)
	}
	if x.o.Progress != nil {
		x.o.Progress(x.state.progress())
	}
}

// mine reports whether unit i is this shard's.
func (x *explorer) mine(i int) bool { return x.o.Shards <= 1 || i%x.o.Shards == x.o.Shard }

// units explores what the first runs left over.
func (x *explorer) units(s *explore.Search, left explore.Limits) error {
	st := x.state
	parts := s.Split(explore.Limits{})
	if st.Units == nil {
		st.Units = make([]unit, len(parts))
	}
	if len(st.Units) != len(parts) {
		return fmt.Errorf("the state does not fit: %d units of %d", len(st.Units), len(parts))
	}
	share := explore.Limits{
		Schedules: (left.Schedules + len(parts) - 1) / max(1, len(parts)), Steps: left.Steps / int64(max(1, len(parts))), Length: left.Length,
	}
	searches := make([]*explore.Search, len(parts))
	for i := range parts {
		if !x.mine(i) || st.Units[i].Done {
			continue
		}
		var err error
		parts[i].Limit(share)
		if searches[i], err = x.search(&st.Units[i], share, parts[i]); err != nil {
			return err
		}
	}
	each(x.jobs, len(parts), func(i int) {
		if searches[i] != nil && x.w.ctx.Err() == nil {
			x.pursue(&st.Units[i], searches[i])
			searches[i] = nil
		}
	})
	return nil
}

// samples runs schedules that are like no others but by chance, where the rest of
// the budget did not do.
func (x *explorer) samples() {
	st := x.state
	if c := st.coverage(); c.Complete {
		return
	}
	longest := max(st.Solo.Coverage.Longest, 1)
	n := min(x.o.Schedules/5, int(x.o.Steps/5/int64(longest)))
	list := explore.Sample(n, 1, longest)
	if st.Samples == nil {
		st.Samples = make([]unit, sampleUnits)
		for i := range st.Samples {
			st.Samples[i].Left = len(dealt(list, i))
		}
	}
	each(x.jobs, sampleUnits, func(i int) {
		u := &st.Samples[i]
		mine := dealt(list, i)
		for x.mine(i) && !u.Done && x.w.ctx.Err() == nil {
			s := mine[len(mine)-u.Left:]
			if len(s) == 0 {
				u.Done = true
				break
			}
			if !x.sample(u, s[0]) {
				u.Elapsed = true
				break
			}
			x.save(u.Done)
		}
	})
}

// dealt are the schedules of one unit of samples.
func dealt(list []Schedule, unit int) []Schedule {
	var out []Schedule
	for i := unit; i < len(list); i += sampleUnits {
		out = append(out, list[i])
	}
	return out
}

func (x *explorer) sample(u *unit, s Schedule) bool {
	j := rules.NewJudge(x.l.shape)
	r, _ := x.l.runPart(x.w, j, x.l.part(j, x.skip, 0, 1), s)
	if r.err != nil || x.w.ctx.Err() != nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	u.begin()
	for _, f := range r.findings {
		u.add(found{Finding: f, Schedule: s.String(), Switches: many, Steps: many, Seen: 1})
	}
	for _, g := range r.gaps {
		u.gap(g)
	}
	u.keep()
	u.Left--
	u.Coverage.Schedules++
	u.Done = u.Left == 0
	return true
}

// many is the size of a schedule that chance made: any other is smaller.
const many = 1 << 30

func (e *Exploration) progress() Progress {
	c := e.coverage()
	p := Progress{Schedules: c.Schedules + c.Sampled, Left: c.Left, Units: len(e.Units)}
	keys := map[string]bool{}
	for u := range e.all() {
		for i := range u.Found {
			keys[u.Found[i].Finding.Key()] = true
		}
	}
	for i := range e.Units {
		if e.Units[i].Done {
			p.Done++
		}
	}
	p.Findings = len(keys)
	return p
}

// all goes through the units in their order.
func (e *Exploration) all() func(yield func(*unit) bool) {
	return func(yield func(*unit) bool) {
		if !yield(&e.Solo) {
			return
		}
		for _, list := range [][]unit{e.Units, e.Samples} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// coverage adds up what the units covered.
func (e *Exploration) coverage() report.Coverage {
	var c report.Coverage
	add := func(u *unit) {
		c.Schedules += u.Coverage.Schedules
		c.Left += u.Coverage.Left
		c.Steps += u.Coverage.Steps
		c.Longest = max(c.Longest, u.Coverage.Longest)
	}
	add(&e.Solo)
	c.Units = len(e.Units)
	c.Complete, c.Why = e.Solo.Coverage.Complete, e.Solo.Coverage.Why
	if len(e.Units) > 0 {
		c.Complete, c.Why = true, ""
	}
	for i := range e.Units {
		u := &e.Units[i]
		add(u)
		if !u.Done || !u.Coverage.Complete {
			c.Complete = false
			switch {
			case u.Elapsed || c.Why == "" && u.Coverage.Why != "":
				c.Why = u.Coverage.Why
			case c.Why == "":
				c.Why = "the rest is for other shards"
			}
		}
	}
	for i := range e.Samples {
		c.Sampled += e.Samples[i].Coverage.Schedules
	}
	if c.Complete {
		c.Why = ""
	}
	return c
}

// wrong reports whether an error was found.
func (e *Exploration) wrong() bool {
	for u := range e.all() {
		for i := range u.Found {
			if u.Found[i].Finding.Severity == rules.Error {
				return true
			}
		}
	}
	return false
}

// key names what an exploration is of: the kernel, the launch and the budget.
func (l *Launch) key(e *ExploreOptions) string {
	h := sha256.New()
	c := &l.config
	fmt.Fprintln(h, c.Program.Module.String(), c.Program.Kernel.Name, c.Grid, c.Block, c.Cluster, c.Shared, c.Registers, c.Params, c.MaxInstrs, c.MaxLocal)
	for i := range c.Buffers {
		b := &c.Buffers[i]
		fmt.Fprintln(h, b.Name, b.Base, b.Size, b.Init, len(b.Data))
		h.Write(b.Data)
	}
	fmt.Fprintln(h, e.Schedules, e.Steps)
	return hex.EncodeToString(h.Sum(nil))
}

// conclude adds what an exploration came to to what else is known: its findings,
// each with its schedule, what it could not look at, and what it covered.
func (l *Launch) conclude(e *Exploration, schedules []Schedule, all *merged) ([]Schedule, error) {
	c := e.coverage()
	var list []found
	var joined unit
	for u := range e.all() {
		for _, f := range u.Found {
			joined.add(f)
		}
		for _, g := range u.Gaps {
			all.addGap(g)
		}
	}
	list = joined.live
	for i := range list {
		s, err := ParseSchedule(list[i].Schedule)
		if err != nil {
			return nil, err
		}
		at := index(schedules, s)
		if at < 0 {
			at = len(schedules)
			schedules = append(schedules, s)
		}
		all.add(at, &result{findings: []rules.Finding{list[i].Finding}})
	}
	for _, g := range l.unseen(e) {
		all.addGap(g)
	}
	all.coverage = &c
	return schedules, nil
}

// unseen is what no interleaving shows: outcomes of racing strong accesses that
// only the ISA's memory model has, and values that are none of the schedule's.
func (l *Launch) unseen(e *Exploration) []rules.Gap {
	type place struct {
		mem  int32
		addr uint64
	}
	words := map[place]bool{}
	pcs := map[int32]bool{}
	for u := range e.all() {
		for _, w := range u.Coverage.Words {
			words[place{w.Mem, w.Addr}] = true
			pcs[w.PC] = true
		}
	}
	var gaps []rules.Gap
	if len(words) > 1 {
		for _, pc := range slices.Sorted(maps.Keys(pcs)) {
			gaps = append(gaps, rules.Gap{What: "a strong access that races, as others of another word do: outcomes that no interleaving has were not looked at", PC: pc})
		}
	}
	for _, d := range l.config.Program.Dependences() {
		if what := l.config.Program.Unsteady(d.From); what != "" {
			gaps = append(gaps, rules.Gap{What: what + " decides something, and was not varied", PC: d.From})
		}
	}
	return gaps
}

// Merge joins what shards came to into what one exploration of all units would
// have come to. They must be of one launch and one budget, and all there.
func Merge(shards []*Exploration) (*Exploration, error) {
	if len(shards) == 0 {
		return nil, errors.New("nothing to merge")
	}
	first := shards[0]
	all := &Exploration{Version: first.Version, Key: first.Key, Solo: first.Solo, Units: slices.Clone(first.Units), Samples: slices.Clone(first.Samples)}
	seen := make([]bool, max(first.Shards, 1))
	for _, e := range shards {
		switch {
		case e.Version != first.Version || e.Key != first.Key || e.Shards != first.Shards:
			return nil, fmt.Errorf("shard %d of %d is of another launch, budget or division", e.Shard, e.Shards)
		case e.Shard < 0 || e.Shard >= len(seen) || seen[e.Shard]:
			return nil, fmt.Errorf("shard %d of %d is there twice, or there is no such shard", e.Shard, e.Shards)
		case !e.Solo.Done || len(e.Units) != len(all.Units) || len(e.Samples) != len(all.Samples):
			return nil, fmt.Errorf("shard %d of %d is not finished", e.Shard, e.Shards)
		}
		seen[e.Shard] = true
		for _, of := range []struct{ to, from []unit }{{all.Units, e.Units}, {all.Samples, e.Samples}} {
			for i := e.Shard; i < len(of.to); i += len(seen) {
				if !of.from[i].Done {
					return nil, fmt.Errorf("shard %d of %d is not finished", e.Shard, e.Shards)
				}
				of.to[i] = of.from[i]
			}
		}
	}
	if i := slices.Index(seen, false); i >= 0 {
		return nil, fmt.Errorf("shard %d of %d is missing", i, len(seen))
	}
	return all, nil
}
