// Package anycount proves a launch for every larger trip count of its loops.
//
// A proof is of the launch as it is given. Where an integer argument sets the trip
// count of loops, it can cover every launch with a larger one (docs/loops.md): a few
// launches, one for each remainder by the period, are proven as usual, found to
// repeat (package loops), and their registers found to grow evenly
// (machine.Follower). Every smaller value is checked by itself. All these runs cost
// time, so they are made only on request.
package anycount

import (
	"errors"
	"fmt"
	"slices"

	"muster/internal/confluence"
	"muster/internal/loops"
	"muster/internal/machine"
	"muster/internal/parallel"
	"muster/internal/progress"
	"muster/internal/prove"
	"muster/internal/trial"
	"muster/internal/undefined"
	"muster/report"
)

// An Argument is the scalar argument in which launches differ.
type Argument struct {
	Number int // from 1
	Name   string
	Value  int64  // that the launch is given
	Max    int64  // that its type holds
	Offset uint64 // among the parameters, in bytes
	Size   uint64
}

// A Launch is one of a family.
type Launch struct {
	*trial.Subject
	// Refused: the driver would refuse it.
	Refused bool
	// Buffer is the number of the buffer that an address lies in; others, and module
	// variables, get numbers of their own.
	Buffer func(addr uint64) int
}

// A Maker makes the launches of a family.
type Maker interface {
	// Make returns the launch with another value of the argument. If it exceeds the
	// launch's own, buffers grow with it: in the dimensions that have its value, or
	// else in the outermost. addresses are loads that give addresses that tcgen05.alloc
	// wrote, and nothing else.
	Make(k int64, addresses map[int32]bool) (*Launch, error)
	// Place returns where an instruction stands in the text.
	Place(pc int32) *report.Place
	// Buffers returns the names of the buffers.
	Buffers() []string
}

// A Family is the launches that differ in one argument.
type Family struct {
	Argument
	l     *trial.Subject
	maker Maker
	w     *trial.Budget
	meter *progress.Meter
	jobs  int
	skip  bool // with every value of the argument
	// addresses are loads that give addresses that tcgen05.alloc wrote, and nothing else, in
	// the launch as given. Each run of another one must show the same.
	addresses map[int32]bool
	known     bool // the launch as given is proven, for all contents of its buffers

	runs int // launches so far, to bound them
	last *Launch
	with int64 // the argument of last
	// unsure is a run that found registers that do not grow evenly.
	unsure *machine.Follower
	found  *plan // loops only
	shown  *shown
	guess  *guess
	bases  map[int64]*base
}

// New returns the family of a launch.
func New(l *trial.Subject, m Maker, a Argument) (*Family, error) {
	if a.Value < 1 || a.Value > maxTurns {
		return nil, fmt.Errorf("argument %d is %d: it must be from 1 to %d to count anything", a.Number, a.Value, maxTurns)
	}
	f := &Family{Argument: a, l: l, maker: m}
	f.give(nil)
	return f, nil
}

const (
	// maxTurns bounds the argument's own value, maxRuns how many launches are run.
	maxTurns = 1 << 20
	maxRuns  = 2048
	// wantTurns is the number of turns with which a run should show a period,
	// fewTurns one that mostly suffices.
	wantTurns = 64
	fewTurns  = 32
	// leastPeriods is the least number of further periods that a proof must cover.
	leastPeriods = 1024
	// maxPeriod bounds the number of remainders. Each is one more launch to run.
	maxPeriod = 64
)

// give notes loads that give addresses that tcgen05.alloc wrote, and nothing else.
func (f *Family) give(addresses map[int32]bool) {
	f.addresses = addresses
	f.skip = f.l.Program.ReachesBut(machine.FromMatrices, addresses) < 0
}

// fork returns a copy of the family, with what is known so far, for another
// goroutine.
func (f *Family) fork() *Family {
	one := *f
	one.last = nil
	return &one
}

// at returns the launch with another value of the argument.
func (f *Family) at(k int64) (*Launch, error) {
	if f.last != nil && f.with == k {
		return f.last, nil
	}
	l, err := f.make(k)
	f.last, f.with = l, k
	return l, err
}

func (f *Family) make(k int64) (*Launch, error) {
	if f.runs++; f.runs > maxRuns {
		return nil, errors.New("it takes more launches than are run for one proof")
	}
	if why := f.w.Over(); why != "" {
		return nil, errors.New(why)
	}
	return f.maker.Make(k, f.addresses)
}

// Prove tries to prove the family. known: the launch as given is proven, for all
// contents of its buffers.
func (f *Family) Prove(w *trial.Budget, jobs int, known bool) *report.AnyCount {
	f.w, f.jobs, f.known = w.Quietly(), jobs, known
	f.meter = w.Meter
	a := &report.AnyCount{Argument: f.Number, Name: f.Name, Unproven: []report.AnyException{}, Growth: []report.AnyGrowth{}, Reasons: []report.Reason{}}
	if no := f.attempt(a); no != nil {
		if why := f.w.Over(); why != "" {
			no = refuse(-1, "%s", why)
		}
		a.Holds = false
		a.Reasons = append(a.Reasons, f.reason(no))
	}
	return a
}

func (f *Family) reason(no *loops.Refusal) report.Reason {
	r := report.Reason{Condition: "loop", Text: no.Text}
	if no.PC >= 0 {
		r.Place = f.maker.Place(no.PC)
	}
	return r
}

func refuse(pc int32, format string, args ...any) *loops.Refusal {
	return &loops.Refusal{PC: pc, Text: fmt.Sprintf(format, args...)}
}

func (f *Family) attempt(a *report.AnyCount) *loops.Refusal {
	if f.l.Program.Allocates() {
		return refuse(-1, "the kernel calls malloc or free, and a larger %s may fill the heap", f.Name)
	}
	if len(f.l.Program.Flips()) > 0 {
		return refuse(-1, "the kernel waits for a bit of a counter to change")
	}
	var no *loops.Refusal
	for _, h := range strategies {
		if no = f.larger(a, h); no == nil || f.w.Over() != "" {
			break
		}
	}
	if no != nil {
		return no
	}
	f.smaller(a.Step, a)
	if why := f.w.Over(); why != "" {
		return refuse(-1, "%s", why)
	}
	a.Holds = true
	return nil
}

// A strategy says how a plan is made.
type strategy struct {
	turns int64 // that should show the period
	// inTurns: parities may turn over with each period, which may then be half as long.
	inTurns bool
	quick   bool // skip what takes more than one run for each launch
}

// strategies are tried one after the other: few turns mostly show the period; where
// they do not suffice, more are tried.
var strategies = []strategy{{fewTurns, true, true}, {fewTurns, false, true}, {wantTurns, false, false}}

// larger proves all values from some value on.
func (f *Family) larger(a *report.AnyCount, h strategy) *loops.Refusal {
	f.meter.Stage(fmt.Sprintf("any %s: looking for what its loops repeat", f.Name), "", 0)
	p, no := f.plan(h)
	if no != nil {
		return no
	}
	a.Period, a.Step = p.period, p.step
	most := f.Max
	// One launch for each remainder, from the least that is long enough.
	for from, tries := p.from, 0; ; tries++ {
		grown, done := f.remainders(p, from, &most, a)
		if done == nil {
			a.From, a.UpTo, a.Growth = from, most, grown
			return nil
		}
		if !done.short || tries == maxPeriod || from >= p.long {
			return &done.Refusal
		}
		from += max(1, done.by/p.step) * p.step
	}
}

// smaller checks every value below the bound by itself.
func (f *Family) smaller(step int64, a *report.AnyCount) {
	a.Smaller = int((a.From - 1) / step)
	if a.From%step == 0 {
		a.Smaller = int(a.From / step)
	}
	why := make([]*loops.Refusal, a.Smaller)
	f.meter.Stage(fmt.Sprintf("any %s: smaller values", f.Name), "value", a.Smaller)
	parallel.Each(f.jobs, a.Smaller, func(i int) {
		if k := a.From - int64(i+1)*step; f.w.Over() == "" && !(f.known && k == f.Value) {
			why[i] = f.fork().proven(k)
		}
		f.meter.Did(1)
	})
	for i, no := range why {
		if no != nil {
			a.Unproven = append(a.Unproven, report.AnyException{Value: a.From - int64(i+1)*step, Text: no.Text})
		}
	}
}

// A shortfall is a refusal. short: a longer run may succeed, with an argument larger
// by at least by.
type shortfall struct {
	loops.Refusal
	short bool
	by    int64
}

// remainders proves one launch for each remainder of the argument by the period.
func (f *Family) remainders(p *plan, from int64, most *int64, a *report.AnyCount) ([]report.AnyGrowth, *shortfall) {
	n := int(p.period / p.step)
	f.meter.Stage(fmt.Sprintf("any %s: larger values", f.Name), "remainder", 2*n)
	bases, short := make([]*base, n), make([]*shortfall, n)
	at := func(i int) int64 { return from + int64(i)*p.step }
	// The others use what the first one found.
	if bases[0], short[0] = f.baseAt(p, from); short[0] != nil {
		return nil, short[0]
	}
	f.meter.Did(1)
	parallel.Each(f.jobs, n-1, func(i int) {
		bases[i+1], short[i+1] = f.fork().baseAt(p, at(i+1))
		f.meter.Did(1)
	})
	f.runs += n
	for i := range bases {
		if short[i] != nil {
			return nil, short[i]
		}
		f.bases[at(i)] = bases[i]
	}
	var grown []report.AnyGrowth
	var limit *report.Reason
	least := *most
	for i, b := range bases {
		if up := at(i) + b.most*p.period; up < least {
			least = up
			if b.limit.Text != "" {
				why := f.reason(&loops.Refusal{PC: b.limit.PC, Text: b.limit.Text})
				limit = &why
			}
		}
		grown = f.growth(grown, b.growth, p)
	}
	why := make([]*loops.Refusal, n)
	parallel.Each(f.jobs, n, func(i int) {
		if !bases[i].proven {
			why[i] = f.fork().proven(at(i))
		}
		f.meter.Did(1)
	})
	for i, no := range why {
		if no != nil {
			return nil, &shortfall{Refusal: *no}
		}
		bases[i].proven = true
	}
	*most, a.Limit = least, limit
	return grown, nil
}

// baseAt is base, computed once for each value.
func (f *Family) baseAt(p *plan, k int64) (*base, *shortfall) {
	if b := f.bases[k]; b != nil {
		return b, nil
	}
	b, no := f.base(p, k)
	if no == nil {
		b.follow, b.list, b.prints = nil, nil, nil
	}
	return b, no
}

// growth merges what several launches need, per step of the argument.
func (f *Family) growth(all []report.AnyGrowth, list []loops.Growth, p *plan) []report.AnyGrowth {
	per := func(v int64) int64 { return (v*p.step + p.period - 1) / p.period }
	buffers := f.maker.Buffers()
	for _, g := range list {
		if g.Region < 0 || g.Region >= len(buffers) {
			continue
		}
		n := report.AnyGrowth{Buffer: buffers[g.Region], Bytes: per(g.Bytes)}
		for i := len(g.Coords) - 1; i >= 0; i-- {
			n.Elements = append(n.Elements, per(g.Coords[i]))
		}
		known := false
		for i := range all {
			if all[i].Buffer == n.Buffer {
				known = true
				all[i].Bytes = max(all[i].Bytes, n.Bytes)
			}
		}
		if !known {
			all = append(all, n)
		}
	}
	return all
}

// proven returns why the launch with one value is not proven by itself; nil if it is.
func (f *Family) proven(k int64) *loops.Refusal {
	l, err := f.at(k)
	if err != nil {
		return refuse(-1, "the launch with %s = %d: %v", f.Name, k, err)
	}
	if l.Refused {
		return refuse(-1, "the driver refuses the launch with %s = %d", f.Name, k)
	}
	p, r := prove.Try(l.Subject, f.w, f.jobs, f.skip)
	switch {
	case r.Err != nil:
		return refuse(-1, "%v", r.Err)
	case len(p.Reasons) > 0:
		why := p.Reasons[0]
		at := ""
		if place := f.maker.Place(why.PC); place != nil {
			at = fmt.Sprintf(" at %v", place)
		}
		return refuse(-1, "with %s = %d: %s%s: %s", f.Name, k, why.Condition, at, why.Text)
	case slices.ContainsFunc(undefined.ThrownAway(l.Subject, f.w, r.Findings), undefined.Passing):
		return refuse(-1, "with %s = %d: what a shfl takes from a lane that takes no part goes elsewhere than to registers", f.Name, k)
	case !p.Addresses.Hold(f.addresses):
		return f.otherAddress()
	case p.Contents:
		return refuse(-1, "with %s = %d: it is proven for these contents of the buffers only", f.Name, k)
	}
	if no := undefined.Matters(l.Subject, f.w, r.Findings); no != nil {
		return refuse(-1, "with %s = %d: %s: %s", f.Name, k, no.Kind, no.Headline)
	}
	return nil
}

// otherAddress refuses a run in which one of addresses gave something else.
func (f *Family) otherAddress() *loops.Refusal {
	return refuse(-1, "with %s = %d, what is loaded is not the address that an alloc wrote, as it is in the launch as given", f.Name, f.with)
}

// A run is a followed run of one launch of the family.
type run struct {
	m         *machine.Machine
	follower  *machine.Follower
	addresses prove.Addresses
}

// follow runs a launch to its end under the proof's schedule. set gets the machine
// before it runs and returns its observer.
func (f *Family) follow(l *Launch, set func(m *machine.Machine, fo *machine.Follower) machine.Observer) (*run, *loops.Refusal) {
	var see indirect
	m := l.Part(&see, f.skip, 0, 1)
	m.ShowCollectives()
	r := &run{m: m, follower: machine.NewFollower(m)}
	r.follower.Addresses = f.addresses
	see.to = r.addresses.Observed(l.Program, nil)
	if set != nil {
		if o := set(m, r.follower); o != nil {
			see.to = append(see.to, o)
		}
	}
	m.Follow(r.follower)
	gap, err := l.Follow(f.w, m, trial.ProofSchedule)
	switch {
	case err != nil:
		return nil, refuse(-1, "%v", err)
	case gap != nil:
		return nil, refuse(gap.PC, "%s", gap.What)
	case m.Stopped() != nil:
		return nil, f.stopped(m)
	case !r.addresses.Hold(f.addresses):
		return nil, f.otherAddress()
	}
	return r, nil
}

// stopped says where a launch of the family stopped before its end.
func (f *Family) stopped(m *machine.Machine) *loops.Refusal {
	s := m.Stopped()
	if s.Kind == machine.Deadlock {
		pc := s.PC
		if list := m.Waiting(); len(list) > 0 {
			pc = list[0].PC
		}
		return refuse(pc, "with %s = %d the launch hangs", f.Name, f.with)
	}
	return refuse(s.PC, "with %s = %d the launch ends here, in a fault", f.Name, f.with)
}

// indirect forwards events to observers that are set later.
type indirect struct{ to trial.Observers }

func (i *indirect) Observe(m *machine.Machine, ev *machine.Event) { i.to.Observe(m, ev) }

// record runs a launch with its loops known, and records its events.
func (f *Family) record(l *Launch, list []machine.LaneLoop) (*run, *loops.Recorder, *loops.Refusal) {
	var rec *loops.Recorder
	r, no := f.follow(l, func(m *machine.Machine, fo *machine.Follower) machine.Observer {
		fo.Loops = list
		p := confluence.New(confluence.Config{Shape: l.Shape})
		rec = loops.NewRecorder(m, fo, p)
		return trial.Observers{p, rec}
	})
	return r, rec, no
}
