package shards

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"muster/internal/diag"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/outcome"
	"muster/internal/progress"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/report"
)

// An Exploration is the state of an exploration, in serializable form. It belongs to
// one launch and one budget, which Key names, and only the build of muster that began
// it, which Build names, may resume it.
type Exploration struct {
	Version int    `json:"version"`
	Build   string `json:"build"`
	Key     string `json:"key"`
	Shard   int    `json:"shard"`
	Shards  int    `json:"shards"`
	// Preemptions is the bound on them, as ExploreOptions has it.
	Preemptions int `json:"preemptions,omitempty"`
	// Decided: there was nothing to explore, since one run decided, or an error
	// was found before.
	Decided bool `json:"decided,omitempty"`
	// Values: matrix instructions computed.
	Values bool `json:"values,omitempty"`
	Detail
	Solo    unit   `json:"solo"`
	Units   []unit `json:"units,omitempty"`
	Samples []unit `json:"samples,omitempty"`
	// Led is the exploration with other leaders, where the program elects any.
	Led *Exploration `json:"led,omitempty"`
	// Sized are the explorations with other sizes of clusters, by the choices that a schedule
	// begins with.
	Sized map[string]*Exploration `json:"sized,omitempty"`
}

// A unit is one part of an exploration.
type unit struct {
	Done     bool              `json:"done"`
	Elapsed  bool              `json:"elapsed,omitempty"` // not finished: time or memory ran out
	Coverage explore.Coverage  `json:"coverage"`
	Found    []found           `json:"found,omitempty"`
	Gaps     []rules.Gap       `json:"gaps,omitempty"`
	Words    outcome.Summary   `json:"words"`            // words with strong accesses
	At       *explore.Snapshot `json:"at,omitempty"`     // of a search that is not done
	Left     int               `json:"left,omitempty"`   // samples that have not run
	Weight   float64           `json:"weight,omitempty"` // by which a part of the budget is dealt

	// The same results, with those of the runs since At.
	live     []found
	liveGaps []rules.Gap
	words    outcome.Summary
	begun    bool
	between  bool        // a run is about to begin
	stop     func() bool // whether a limit has run out
	why      func() string
	steps    int64
	now      explore.Coverage // by what has run, kept or not
	kept     mark
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

// begin loads the saved results, once.
func (u *unit) begin() {
	if !u.begun {
		u.begun, u.Elapsed = true, false
		u.live, u.liveGaps = slices.Clone(u.Found), slices.Clone(u.Gaps)
		u.words.Add(u.Words)
	}
}

// keep saves what the runs so far have shown.
func (u *unit) keep() {
	u.Found, u.Gaps = slices.Clone(u.live), slices.Clone(u.liveGaps)
	u.Words = outcome.Summary{}
	u.Words.Add(u.words)
}

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
	u.liveGaps = trial.AddGap(u.liveGaps, g)
}

// A StateError says why an exploration cannot resume from a state.
type StateError struct{ Text string }

func (e *StateError) Error() string { return "the state does not fit: " + e.Text }

// sound checks a state, which may have been altered, for consistency.
func (e *Exploration) sound() error {
	if e.Led != nil {
		if err := e.Led.sound(); err != nil {
			return err
		}
	}
	for _, s := range e.Sized {
		if s == nil {
			return &StateError{"a part is missing"}
		}
		if err := s.sound(); err != nil {
			return err
		}
	}
	if n := len(e.Samples); n != 0 && n != sampleUnits {
		return &StateError{fmt.Sprintf("%d lots of samples of %d", n, sampleUnits)}
	}
	for u := range e.all() {
		if u.Left < 0 || u.At != nil && (u.At.Fresh < 0 || u.At.Fresh > len(u.At.Nodes)) {
			return &StateError{"a part is not where it can be"}
		}
	}
	return nil
}

// reset restarts the state, for runs with other values or detail.
func (e *Exploration) reset(values bool, d Detail) {
	*e = Exploration{Version: e.Version, Build: e.Build, Key: e.Key, Shard: e.Shard, Shards: e.Shards, Preemptions: e.Preemptions, Values: values, Detail: d}
}

// words joins what all units showed of the words of the launch.
func (e *Exploration) words() outcome.Summary {
	var all outcome.Summary
	for u := range e.all() {
		all.Add(u.Words)
	}
	return all
}

// A Detail is how closely an exploration looks at its runs. It begins with what one
// run needs, and begins again when others need more.
type Detail struct {
	// Parted are the instructions that the lanes of a warp executed one by one, in
	// any order.
	Parted []int32 `json:"parted,omitempty"`
	// Apart: diverged lanes did not wait for each other where they need not.
	Apart bool `json:"apart,omitempty"`
	// Equal are the stores at whose places nothing was forgotten: they are unordered,
	// and store what others do.
	Equal []int32 `json:"equal,omitempty"`
}

// detail returns the detail that runs which showed these words need.
func detail(words *outcome.Summary) Detail {
	return Detail{words.Parts(), words.Apart(), words.Equal}
}

// minus returns what d has and o lacks.
func (d Detail) minus(o Detail) Detail {
	return Detail{without(d.Parted, o.Parted), d.Apart && !o.Apart && len(o.Parted) == 0, without(d.Equal, o.Equal)}
}

func (d Detail) empty() bool { return len(d.Parted) == 0 && !d.Apart && len(d.Equal) == 0 }

func (d Detail) join(o Detail) Detail {
	return Detail{join(d.Parted, o.Parted), d.Apart || o.Apart, join(d.Equal, o.Equal)}
}

func (d Detail) same(o Detail) bool { return d.minus(o).empty() && o.minus(d).empty() }

// part sets a machine up to separate lanes as the detail says.
func (d Detail) part(m *machine.Machine) {
	m.Part(d.Parted)
	if d.Apart {
		m.KeepApart()
	}
}

// without returns what is in a and not in b.
func without(a, b []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(a), func(pc int32) bool { return slices.Contains(b, pc) })
}

// join joins two sorted lists.
func join(a, b []int32) []int32 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// missed returns the detail that the units' words ask for and this exploration did not
// record.
func (e *Exploration) missed() Detail {
	words := e.words()
	return detail(&words).minus(e.Detail)
}

// completes reports whether a shard has units, and all of them are complete.
func (e *Exploration) completes(shard, shards int) bool {
	if len(e.Units) == 0 {
		return false
	}
	for i := shard; i < len(e.Units); i += shards {
		if u := &e.Units[i]; !u.Done || !u.Coverage.Complete {
			return false
		}
	}
	return true
}

// unitSamples returns the schedules of one unit of samples.
func unitSamples(list []trial.Schedule, unit int) []trial.Schedule {
	var out []trial.Schedule
	for i := unit; i < len(list); i += sampleUnits {
		out = append(out, list[i])
	}
	return out
}

// An advance is how far an exploration has come.
type advance struct {
	progress.Progress
	left int // schedules that were abandoned as equivalent to others
}

// progress returns how far the exploration has come, what was not kept yet included.
func (e *Exploration) progress() (p advance) {
	keys := map[string]bool{}
	for u := range e.all() {
		p.Schedules += max(u.Coverage.Schedules, u.now.Schedules)
		p.left += max(u.Coverage.Left, u.now.Left)
		list := u.Found
		if u.begun {
			list = u.live
		}
		for i := range list {
			keys[list[i].Finding.Key()] = true
		}
	}
	p.Units, p.Findings = len(e.Units), len(keys)
	for i := range e.Units {
		if e.Units[i].Done {
			p.UnitsDone++
		}
	}
	return p
}

// all iterates over the units in their order.
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
		c.Complete, c.Why = !e.Solo.Coverage.Cut, ""
	}
	for i := range e.Units {
		u := &e.Units[i]
		add(u)
		if !u.Done || !u.Coverage.Complete {
			c.Complete = false
			switch {
			case u.Elapsed || c.Why == "" && u.Coverage.Why != "":
				c.Why = u.Coverage.Why
			case c.Why == "" && !u.Done:
				c.Why = otherShards
			}
		}
	}
	for i := range e.Samples {
		c.Sampled += e.Samples[i].Coverage.Schedules
	}
	switch {
	case c.Complete:
		c.Why = ""
	case c.Why == "":
		c.Why = "that is all with " + atMost(e.Preemptions)
	}
	return c
}

// atMost phrases a bound on preemptions.
func atMost(preemptions int) string {
	if preemptions < 0 {
		return "no preemption"
	}
	return "at most " + diag.Plural(preemptions, "preemption")
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
func (e *Options) key() string {
	h := sha256.New()
	fmt.Fprintln(h, e.Launch(), e.Schedules, e.Steps, e.Preemptions)
	return hex.EncodeToString(h.Sum(nil))
}

// mergeLed merges the shards' explorations with other leaders. Where some have none,
// as they had found an error before, it returns nil.
func mergeLed(shards []*Exploration) (*Exploration, error) {
	var led []*Exploration
	for _, e := range shards {
		if e.Led == nil {
			return nil, nil
		}
		led = append(led, e.Led)
	}
	return Merge(led)
}

// mergeSized is mergeLed for the explorations with other sizes of clusters.
func mergeSized(shards []*Exploration) (map[string]*Exploration, error) {
	var sized map[string]*Exploration
	for name := range shards[0].Sized {
		var list []*Exploration
		for _, e := range shards {
			if e.Sized[name] != nil {
				list = append(list, e.Sized[name])
			}
		}
		if len(list) < len(shards) {
			continue
		}
		all, err := Merge(list)
		if err != nil {
			return nil, err
		}
		if sized == nil {
			sized = map[string]*Exploration{}
		}
		sized[name] = all
	}
	return sized, nil
}

// Merge joins the states of shards into the state that one exploration of all units
// would have, except for samples that shards left: a check with the result runs
// those. The shards must be of one build, one launch and one budget, and none may be
// missing.
func Merge(shards []*Exploration) (*Exploration, error) {
	if len(shards) == 0 {
		return nil, errors.New("nothing to merge")
	}
	first := shards[0]
	n := max(first.Shards, 1)
	if n > len(shards) {
		return nil, fmt.Errorf("%d shards are there of %d", len(shards), n)
	}
	all := &Exploration{
		Version: first.Version, Build: first.Build, Key: first.Key, Preemptions: first.Preemptions, Decided: first.Decided, Values: true, Detail: first.Detail,
		Solo: first.Solo, Units: slices.Clone(first.Units),
	}
	var err error
	if all.Led, err = mergeLed(shards); err != nil {
		return nil, err
	}
	if all.Sized, err = mergeSized(shards); err != nil {
		return nil, err
	}
	seen := make([]bool, n)
	for _, e := range shards {
		switch {
		case e.Build != first.Build:
			return nil, fmt.Errorf("shard %d of %d is by another build of muster", e.Shard, e.Shards)
		case e.Version != first.Version || e.Key != first.Key || e.Shards != first.Shards || !e.Detail.same(first.Detail):
			return nil, fmt.Errorf("shard %d of %d is of another launch, budget or division", e.Shard, e.Shards)
		case e.Shard < 0 || e.Shard >= n || seen[e.Shard]:
			return nil, fmt.Errorf("shard %d of %d is there twice, or there is no such shard", e.Shard, n)
		case e.Decided != first.Decided || !e.Decided && !e.Solo.Done || len(e.Units) != len(all.Units):
			return nil, unfinished(e)
		}
		seen[e.Shard] = true
		all.Values = all.Values && e.Values
		for i := e.Shard; i < len(all.Units); i += n {
			if !e.Units[i].Done {
				return nil, unfinished(e)
			}
			all.Units[i] = e.Units[i]
		}
		if all.Samples == nil {
			all.Samples = slices.Clone(e.Samples) // its own, and the others yet to be taken
		}
	}
	if all.Decided || all.coverage().Complete {
		all.Samples = nil
		return all, nil
	}
	for _, e := range shards {
		if e.completes(e.Shard, n) {
			continue
		}
		if len(e.Samples) != len(all.Samples) {
			return nil, unfinished(e)
		}
		for i := e.Shard; i < len(all.Samples); i += n {
			if !e.Samples[i].Done {
				return nil, unfinished(e)
			}
			all.Samples[i] = e.Samples[i]
		}
	}
	return all, nil
}

func unfinished(e *Exploration) error {
	return fmt.Errorf("shard %d of %d is not finished", e.Shard, e.Shards)
}
