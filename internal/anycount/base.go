package anycount

import (
	"slices"

	"muster/internal/loops"
	"muster/internal/machine"
	"muster/internal/prove"
	"muster/internal/undefined"
)

// A base is a launch whose proof covers those with 1, 2 and more further periods.
type base struct {
	most   int64 // further periods that it covers
	limit  machine.Cause
	growth []loops.Growth
	list   []machine.LaneLoop
	core   *loops.Core
	fixed  bool // a place in global memory is written each period
	follow *machine.Follower
	prints *loops.Footprint
	proven bool
}

// A guess is how registers are assumed to grow: as they did in a run of one launch of
// the family, with a margin.
type guess struct {
	by    margin
	taken *machine.Follower
}

// base checks that the launch with k stands for the longer ones.
func (f *Family) base(p *plan, k int64) (*base, *shortfall) {
	l, err := f.at(k)
	if err != nil {
		return nil, &shortfall{Refusal: *refuse(-1, "the launch with %s = %d: %v", f.Name, k, err)}
	}
	switch b, no := f.atOnce(p, l, k); {
	case b != nil || no != nil:
		return b, no
	case p.quick:
		return nil, &shortfall{Refusal: *refuse(-1, "few turns do not show what repeats")}
	}
	r, rec, no := f.record(l, p.taking(margin{}))
	if no != nil {
		return nil, &shortfall{Refusal: *no}
	}
	rec.InTurns = p.inTurns
	core, short := f.core(p, rec)
	if short != nil {
		return nil, short
	}
	turns := func(lane int) int32 { return r.follower.Turn(lane) }
	b, short := f.strides(p, k, turns, r)
	if short != nil {
		return nil, short
	}
	if short := b.within(core); short != nil {
		return nil, short
	}
	return b, nil
}

// core returns what repeats in a run, if that is long enough.
func (f *Family) core(p *plan, rec *loops.Recorder) (*loops.Core, *shortfall) {
	core, no := rec.Check(p.of, p.ticks)
	if no != nil {
		return nil, &shortfall{Refusal: *no, short: true}
	}
	if !core.Long() {
		why := core.Why
		if why.Text == "" {
			why = *refuse(-1, "too few turns to see that they repeat")
		}
		return nil, &shortfall{Refusal: why, short: true, by: int64(core.Need()-core.To+core.From) * p.period / int64(p.ticks)}
	}
	return core, nil
}

// within checks that the periods measured for registers lie in the core.
func (b *base) within(core *loops.Core) *shortfall {
	b.core = core
	if no := b.prints.Parities(core); no != nil {
		return &shortfall{Refusal: *no}
	}
	if b.fixed && core.To-core.From < 2*core.Period {
		return &shortfall{Refusal: *refuse(-1, "too few turns to see that what is written to global memory repeats"), short: true}
	}
	for i, loop := range b.list {
		if loop.Mark >= 0 && !core.Holds(i, loop.First+loop.Periods*loop.Period+1, loop.Period) {
			return &shortfall{Refusal: *refuse(loop.Mark, "registers repeat where what is done does not"), short: true}
		}
	}
	return nil
}

// atOnce is base in one run, which proves the launch, too. It is for launches in
// which nothing fails; otherwise it returns nothing, and base makes more runs.
func (f *Family) atOnce(p *plan, l *Launch, k int64) (*base, *shortfall) {
	prog := l.Program
	if l.Refused || len(prog.Polls()) > 0 || len(prog.Dependences()) > 0 {
		return nil, nil
	}
	if f.guess == nil {
		by := margin{}
		r, no := f.follow(l, func(_ *machine.Machine, fo *machine.Follower) machine.Observer {
			fo.Loops = p.taking(by)
			return nil
		})
		if no != nil {
			return nil, nil
		}
		f.guess = &guess{by, r.follower}
	}
	turns := func(lane int) int32 { return p.made[lane] - int32((p.long-k)*p.turns[lane]/p.by) }
	list, periods, short := p.parted(f.guess.by, turns)
	if short != nil {
		return nil, nil
	}
	unsure := f.unsure
	for range maxMeasured {
		var see indirect
		m := l.Part(&see, f.skip, 0, 1)
		m.ShowCollectives()
		fo := machine.NewFollower(m)
		prints := f.measure(p, l, m, fo, list, k, f.guess.taken, unsure)
		s := prove.Watch(l.Subject, nil)
		rec := loops.NewRecorder(m, fo, s.Prover)
		rec.InTurns = p.inTurns
		see.to = append(s.Observers(), rec, prints)
		m.Follow(fo)
		part, equal := s.Follow(f.w, m, f.skip, false)
		var pr prove.Proof
		if pr.Take(l.Subject, &part); part.Err != nil || len(equal) > 0 || pr.Contents || slices.ContainsFunc(part.Findings, undefined.Passing) {
			return nil, nil
		}
		if pr.Found(l.Subject, &part.Result); len(pr.Reasons) > 0 || !pr.Addresses.Hold(f.addresses) || undefined.Matters(l.Subject, f.w, part.Findings) != nil {
			return nil, nil
		}
		for lane, loop := range list {
			if loop.Mark >= 0 && fo.Turn(lane) != turns(lane) {
				return nil, nil
			}
		}
		core, short := f.core(p, rec)
		if short != nil {
			return nil, short
		}
		failed, again := fo.Failed()
		if again {
			unsure = fo
			continue
		}
		if len(failed) > 0 {
			return nil, nil
		}
		b, short := measured(fo, prints, list, periods)
		if short == nil {
			short = b.within(core)
		}
		if short != nil {
			return nil, nil
		}
		b.proven, f.unsure = true, unsure
		return b, nil
	}
	return nil, nil
}

// strides measures how registers grow, in the launch with k, with the first margin
// that works.
func (f *Family) strides(p *plan, k int64, turns func(int) int32, taken *run) (*base, *shortfall) {
	var no *shortfall
	for _, by := range p.margins() {
		if by.first > 0 {
			taken = nil
		}
		b, why := f.measureWith(p, by, k, turns, taken)
		switch {
		case why == nil:
			return b, nil
		case !why.short:
			no = why
		case no == nil:
			return nil, why
		default:
			return nil, &shortfall{Refusal: no.Refusal, short: true}
		}
	}
	return nil, no
}

func (f *Family) measureWith(p *plan, by margin, k int64, turns func(int) int32, taken *run) (*base, *shortfall) {
	list, periods, short := p.parted(by, turns)
	if short != nil {
		return nil, short
	}
	l, err := f.at(k)
	if err != nil {
		return nil, &shortfall{Refusal: *refuse(-1, "%v", err)}
	}
	if taken == nil {
		var no *loops.Refusal
		taken, no = f.follow(l, func(_ *machine.Machine, fo *machine.Follower) machine.Observer {
			fo.Loops = list
			return nil
		})
		if no != nil {
			return nil, &shortfall{Refusal: *no}
		}
	}
	for range maxMeasured {
		var prints *loops.Footprint
		r, no := f.follow(l, func(m *machine.Machine, fo *machine.Follower) machine.Observer {
			prints = f.measure(p, l, m, fo, list, k, taken.follower, f.unsure)
			return prints
		})
		if no != nil {
			return nil, &shortfall{Refusal: *no}
		}
		failed, again := r.follower.Failed()
		if again {
			f.unsure = r.follower
			continue
		}
		if len(failed) > 0 {
			return nil, &shortfall{Refusal: loops.Refusal{PC: failed[0].PC, Text: failed[0].Text}}
		}
		b, short := measured(r.follower, prints, list, periods)
		if short == nil {
			f.guess = &guess{by, taken.follower}
		}
		return b, short
	}
	return nil, &shortfall{Refusal: *refuse(-1, "registers whose growth does not settle")}
}

// parted divides each lane's loop into periods, in a run in which lanes make so many
// turns; periods is the largest number of them.
func (p *plan) parted(by margin, turns func(int) int32) (list []machine.LaneLoop, periods int64, short *shortfall) {
	list = p.loops(by, turns)
	for i := range list {
		if list[i].Mark >= 0 {
			if list[i].Periods == 0 {
				return nil, 0, &shortfall{Refusal: *refuse(list[i].Mark, "too few turns of the loop"), short: true}
			}
			periods = max(periods, int64(list[i].Periods))
		}
	}
	return list, periods, nil
}

// measure has a follower measure strides in the launch with k.
func (f *Family) measure(p *plan, l *Launch, m *machine.Machine, fo *machine.Follower, list []machine.LaneLoop, k int64, taken, unsure *machine.Follower) *loops.Footprint {
	most := (f.Max - k) / p.period
	fo.Loops, fo.Addresses = list, f.addresses
	fo.Measure(m, taken, unsure, []machine.ParamStride{{Offset: f.Offset, Size: f.Size, By: p.period}}, most, min(leastPeriods, most))
	return loops.NewFootprint(fo, l.Buffer)
}

// measured returns what a run showed of strides.
func measured(fo *machine.Follower, prints *loops.Footprint, list []machine.LaneLoop, periods int64) (*base, *shortfall) {
	b := &base{list: list, prints: prints, fixed: prints.Fixed(), follow: fo}
	b.most, b.limit = fo.Most()
	growth, refused := prints.Finish(periods, b.most)
	if len(refused) > 0 {
		return nil, &shortfall{Refusal: refused[0]}
	}
	b.growth = growth
	return b, nil
}

// maxMeasured bounds how often registers may turn out less regular than assumed.
const maxMeasured = 8
