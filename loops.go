package muster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"muster/internal/confluence"
	"muster/internal/loops"
	"muster/internal/machine"
	"muster/internal/parallel"
	"muster/internal/report"
	"muster/internal/rules"
	"muster/launch"
)

// A proof is of the launch as it is given. Where an integer argument says how often
// loops go round, it can be of every launch with a larger one (docs/loops.md): a
// few launches, one for each remainder by the period, are proven as usual, found
// to repeat (package loops), and their registers found to grow evenly
// (machine.Follower). Every smaller value is checked by itself. It costs as many
// runs as that, and so is done where it is asked for.

// CheckAny is Check, and where that proves all schedules it tries to prove the
// launches with other values of a scalar argument too, counted from 1. What
// became of that is the report's Proof.Any. The error is that of ctx, or says
// that the argument is none to count by.
func (l *Launch) CheckAny(ctx context.Context, o CheckOptions, argument int) (*Report, error) {
	f, err := l.family(argument)
	if err != nil {
		return nil, err
	}
	ctx = l.within(ctx, 1)
	r, err := l.Check(ctx, o)
	if err != nil || r.Proof == nil || !r.Proof.All {
		return r, err
	}
	f.w = l.watch(ctx)
	f.known = r.Proof.AnyContents
	r.Proof.Any = f.prove(o)
	if r.Proof.Any.Holds && l.config.Program.Elects() {
		g, err := l.led().family(argument)
		if err != nil {
			return nil, err
		}
		g.w, g.known = f.w, f.known
		r.Proof.Any = sameAny(r.Proof.Any, g.prove(o))
	}
	r.Conclude(report.Options{FailOnWarning: o.FailOnWarning})
	return r, ctx.Err()
}

// A family is the launches that differ in one argument.
type family struct {
	l      *Launch
	w      *watch
	arg    int // from 0
	k0     int64
	offset uint64
	size   uint64
	most   int64
	name   string
	skip   bool
	blind  bool // nothing that buffers hold decides anything
	known  bool // the launch as it is given is proven, for all that its buffers may hold

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

func (l *Launch) family(argument int) (*family, error) {
	first := &l.file.Launches[0]
	params := l.config.Program.Params
	if argument < 1 || argument > len(first.Args) || argument > len(params) {
		return nil, fmt.Errorf("argument %d: the kernel has %d", argument, len(first.Args))
	}
	a, p := &first.Args[argument-1], &params[argument-1]
	f := &family{l: l, arg: argument - 1, offset: p.Offset, size: p.Size, name: p.Name}
	switch {
	case a.Kind != launch.ArgScalar || a.Type.IsFloat() || p.Size != 4 && p.Size != 8 || int(p.Size) != a.Type.Size():
		return nil, fmt.Errorf("argument %d is %v: only a scalar of 32 or 64 bits, an integer, counts anything", argument, a)
	case p.Size == 4:
		f.k0, f.most = int64(int32(a.Bits)), math.MaxInt32
	default:
		f.k0, f.most = int64(a.Bits), 1<<60
	}
	if f.k0 < 1 || f.k0 > mostTurns {
		return nil, fmt.Errorf("argument %d is %d: it must be from 1 to %d to count anything", argument, f.k0, mostTurns)
	}
	f.skip = l.config.Program.Reaches(machine.FromMatrices) < 0
	f.blind = l.config.Program.Reaches(machine.FromBuffers) < 0
	return f, nil
}

const (
	// mostTurns bounds the argument's own value, mostRuns how many launches are run.
	mostTurns = 1 << 20
	mostRuns  = 2048
	// wantTurns is how many turns a run should have that shows a period, fewTurns how
	// many mostly do.
	wantTurns = 64
	fewTurns  = 32
	// leastPeriods is up to how many periods more a proof must hold at least.
	leastPeriods = 1024
	// mostPeriod bounds how many launches one for each remainder are.
	mostPeriod = 64
)

// fork is a family for another goroutine. It takes what is known by now.
func (f *family) fork() *family {
	one := *f
	one.last = nil
	return &one
}

// at is the launch with another value of the argument. Buffers grow with it, where
// it is greater than the launch's own: the dimensions that have its value, or
// else the outermost.
func (f *family) at(k int64) (*Launch, error) {
	if f.last != nil && f.with == k {
		return f.last, nil
	}
	l, err := f.make(k)
	f.last, f.with = l, k
	return l, err
}

func (f *family) make(k int64) (*Launch, error) {
	if f.runs++; f.runs > mostRuns {
		return nil, errors.New("it takes more launches than are run for one proof")
	}
	if why := f.w.over(); why != "" {
		return nil, errors.New(why)
	}
	if k <= f.k0 {
		l := *f.l
		l.config.Params = append([]byte(nil), l.config.Params...)
		if f.size == 4 {
			binary.LittleEndian.PutUint32(l.config.Params[f.offset:], uint32(k))
		} else {
			binary.LittleEndian.PutUint64(l.config.Params[f.offset:], uint64(k))
		}
		return &l, l.probe()
	}
	file := *f.l.file
	file.Launches = append([]launch.Launch(nil), file.Launches...)
	file.Launches[0].Args = append([]launch.Arg(nil), file.Launches[0].Args...)
	file.Launches[0].Args[f.arg].Bits = uint64(k)
	file.Expect = nil
	file.Buffers = append([]launch.Buffer(nil), file.Buffers...)
	for i := range file.Buffers {
		f.grow(&file.Buffers[i], &f.l.layout.Buffers[i], k)
	}
	l := &Launch{file: &file, limits: f.l.limits, resolver: f.l.resolver, highest: f.l.highest}
	if err := l.prepare(f.l.config.Program); err != nil {
		return nil, err
	}
	l.resolver.Regions = l.regions()
	return l, nil
}

func (f *family) grow(b *launch.Buffer, placed *launch.PlacedBuffer, k int64) {
	if b.Fill.Kind == launch.FillValues || b.Fixed {
		return
	}
	if b.Fill.Kind == launch.FillFile || f.blind && b.Fill.Kind != launch.FillUninitialized {
		b.Fill = launch.Fill{Kind: launch.FillZeros, Pos: b.Fill.Pos}
	}
	b.Shape = append([]int64(nil), placed.Shape...)
	grown := false
	for i, n := range b.Shape {
		if n == f.k0 {
			b.Shape[i], grown = k, true
		}
	}
	if !grown && len(b.Shape) > 0 {
		b.Shape[0] = (b.Shape[0]*k + f.k0 - 1) / f.k0
	}
}

// prove tries to prove the family.
func (f *family) prove(o CheckOptions) *report.AnyCount {
	a := &report.AnyCount{Argument: f.arg + 1, Name: f.name, Unproven: []report.AnyException{}, Growth: []report.AnyGrowth{}, Reasons: []report.Reason{}}
	if no := f.attempt(o, a); no != nil {
		if why := f.w.over(); why != "" {
			no = refuse(-1, "%s", why)
		}
		a.Holds = false
		a.Reasons = append(a.Reasons, f.reason(no))
	}
	return a
}

func (f *family) reason(no *loops.Refusal) report.Reason {
	r := report.Reason{Condition: "loop", Text: no.Text}
	if no.PC >= 0 {
		r.Place = f.l.resolver.Gap(rules.Gap{PC: no.PC}).Place
	}
	return r
}

func refuse(pc int32, format string, args ...any) *loops.Refusal {
	return &loops.Refusal{PC: pc, Text: fmt.Sprintf(format, args...)}
}

func (f *family) attempt(o CheckOptions, a *report.AnyCount) *loops.Refusal {
	var no *loops.Refusal
	for _, h := range hopes {
		if no = f.larger(o, a, h); no == nil || f.w.over() != "" {
			break
		}
	}
	if no != nil {
		return no
	}
	f.smaller(o, a.Step, a)
	if why := f.w.over(); why != "" {
		return refuse(-1, "%s", why)
	}
	a.Holds = true
	return nil
}

// A hope is how a plan is made.
type hope struct {
	turns int64 // how many should show the period
	// inTurns: parities may turn over with each period, which may then be half as long.
	inTurns bool
	quick   bool // what takes more than one run for each launch is not tried
}

// hopes are tried one after the other: few turns mostly show the period. Where
// what they show does not do, more.
var hopes = []hope{{fewTurns, true, true}, {fewTurns, false, true}, {wantTurns, false, false}}

// larger proves all from some value on.
func (f *family) larger(o CheckOptions, a *report.AnyCount, h hope) *loops.Refusal {
	p, no := f.plan(h)
	if no != nil {
		return no
	}
	a.Period, a.Step = p.period, p.step
	most := f.most
	// One launch for each remainder, from the least that is long enough.
	for from, tries := p.from, 0; ; tries++ {
		grown, done := f.remainders(o, p, from, &most, a)
		if done == nil {
			a.From, a.UpTo, a.Growth = from, most, grown
			return nil
		}
		if !done.short || tries == mostPeriod || from >= p.long {
			return &done.Refusal
		}
		from += max(1, done.by/p.step) * p.step
	}
}

// smaller checks every value below the bound by itself.
func (f *family) smaller(o CheckOptions, step int64, a *report.AnyCount) {
	a.Smaller = int((a.From - 1) / step)
	if a.From%step == 0 {
		a.Smaller = int(a.From / step)
	}
	why := make([]*loops.Refusal, a.Smaller)
	parallel.Each(o.Jobs, a.Smaller, func(i int) {
		if k := a.From - int64(i+1)*step; f.w.over() == "" && !(f.known && k == f.k0) {
			why[i] = f.fork().proven(o, k)
		}
	})
	for i, no := range why {
		if no != nil {
			a.Unproven = append(a.Unproven, report.AnyException{Value: a.From - int64(i+1)*step, Text: no.Text})
		}
	}
}

// A shortfall is a refusal; short: a longer run may do, by that much of the
// argument at least.
type shortfall struct {
	loops.Refusal
	short bool
	by    int64
}

// remainders proves one launch for each remainder of the argument by the period.
func (f *family) remainders(o CheckOptions, p *plan, from int64, most *int64, a *report.AnyCount) ([]report.AnyGrowth, *shortfall) {
	n := int(p.period / p.step)
	bases, short := make([]*base, n), make([]*shortfall, n)
	at := func(i int) int64 { return from + int64(i)*p.step }
	// What the first one shows is known to the others.
	if bases[0], short[0] = f.baseAt(p, from); short[0] != nil {
		return nil, short[0]
	}
	parallel.Each(o.Jobs, n-1, func(i int) { bases[i+1], short[i+1] = f.fork().baseAt(p, at(i+1)) })
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
	parallel.Each(o.Jobs, n, func(i int) {
		if !bases[i].proven {
			why[i] = f.fork().proven(o, at(i))
		}
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

// baseAt is base, once for each value.
func (f *family) baseAt(p *plan, k int64) (*base, *shortfall) {
	if b := f.bases[k]; b != nil {
		return b, nil
	}
	b, no := f.base(p, k)
	if no == nil {
		b.follow, b.list, b.prints = nil, nil, nil
	}
	return b, no
}

// growth joins what several launches need, for each step of the argument.
func (f *family) growth(all []report.AnyGrowth, list []loops.Growth, p *plan) []report.AnyGrowth {
	per := func(v int64) int64 { return (v*p.step + p.period - 1) / p.period }
	for _, g := range list {
		if g.Region < 0 || g.Region >= len(f.l.layout.Buffers) {
			continue
		}
		n := report.AnyGrowth{Buffer: f.l.layout.Buffers[g.Region].Name, Bytes: per(g.Bytes)}
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

// proven tells why the launch with one value is not proven by itself, or nil.
func (f *family) proven(o CheckOptions, k int64) *loops.Refusal {
	l, err := f.at(k)
	if err != nil {
		return refuse(-1, "the launch with %s = %d: %v", f.name, k, err)
	}
	if len(l.findings) > 0 {
		return refuse(-1, "the driver refuses the launch with %s = %d", f.name, k)
	}
	p, r := l.prove(f.w.ctx, o, f.skip)
	switch {
	case r.err != nil:
		return refuse(-1, "%v", r.err)
	case len(p.reasons) > 0:
		why := p.reasons[0]
		at := ""
		if why.Place != nil {
			at = fmt.Sprintf(" at %v", why.Place)
		}
		return refuse(-1, "with %s = %d: %s%s: %s", f.name, k, why.Condition, at, why.Text)
	case slices.ContainsFunc(l.thrownAway(f.w.ctx, r.findings), passing):
		return refuse(-1, "with %s = %d: what a shfl takes from a lane that takes no part goes elsewhere than to registers", f.name, k)
	case p.contents:
		return refuse(-1, "with %s = %d: it is proven for these contents of the buffers only", f.name, k)
	}
	return nil
}

// A run is a run of one launch of the family, followed.
type run struct {
	m        *machine.Machine
	follower *machine.Follower
}

// follow runs a launch to its end under the schedule that proves. set is given the
// machine before it runs and returns who observes it.
func (f *family) follow(l *Launch, set func(m *machine.Machine, fo *machine.Follower) machine.Observer) (*run, *loops.Refusal) {
	var see indirect
	m := l.part(&see, f.skip, 0, 1)
	m.ShowCollectives()
	fo := machine.NewFollower(m)
	if set != nil {
		see.to = set(m, fo)
	}
	m.Follow(fo)
	gap, err := l.follow(f.w, m, proofSchedule)
	switch {
	case err != nil:
		return nil, refuse(-1, "%v", err)
	case gap != nil:
		return nil, refuse(gap.PC, "%s", gap.What)
	case m.Stopped() != nil:
		return nil, f.stopped(m)
	}
	return &run{m, fo}, nil
}

// stopped says where a launch of the family ended that did not come to its end.
func (f *family) stopped(m *machine.Machine) *loops.Refusal {
	s := m.Stopped()
	if s.Kind == machine.Deadlock {
		pc := s.PC
		if list := m.Waiting(); len(list) > 0 {
			pc = list[0].PC
		}
		return refuse(pc, "with %s = %d the launch hangs", f.name, f.with)
	}
	return refuse(s.PC, "with %s = %d the launch ends here, in a fault", f.name, f.with)
}

// indirect observes by whom it is told to later.
type indirect struct{ to machine.Observer }

func (i *indirect) Observe(m *machine.Machine, ev *machine.Event) {
	if i.to != nil {
		i.to.Observe(m, ev)
	}
}

// record runs a launch with its loops known, and keeps what it did.
func (f *family) record(l *Launch, list []machine.LaneLoop) (*run, *loops.Recorder, *loops.Refusal) {
	var rec *loops.Recorder
	r, no := f.follow(l, func(m *machine.Machine, fo *machine.Follower) machine.Observer {
		fo.Loops = list
		s := l.shape
		p := confluence.New(confluence.Shape{CTAs: s.CTAs, Warps: s.Warps, Cluster: s.Cluster, Clusters: s.Clusters})
		rec = loops.NewRecorder(m, fo, p)
		return observers{p, rec}
	})
	return r, rec, no
}
