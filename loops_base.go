package muster

import (
	"math"

	"muster/internal/loops"
	"muster/internal/machine"
)

// A base is a launch that stands for all with a period more, two, and so on.
type base struct {
	most   int64 // periods more
	limit  machine.Cause
	growth []loops.Growth
	list   []machine.LaneLoop
	core   *loops.Core
	fixed  bool // a place in global memory is written each period
	follow *machine.Follower
}

// base holds the launch with k to what its longer ones need.
func (f *family) base(p *plan, k int64) (*base, *shortfall) {
	l, err := f.at(k)
	if err != nil {
		return nil, &shortfall{Refusal: *refuse(-1, "the launch with %s = %d: %v", f.name, k, err)}
	}
	r, rec, no := f.record(l, p.taking(margin{}))
	if no != nil {
		return nil, &shortfall{Refusal: *no}
	}
	core, no := rec.Check(p.of, p.ticks)
	if no != nil {
		return nil, &shortfall{Refusal: *no, short: true}
	}
	turns := func(lane int) int32 { return r.follower.Turn(lane) }
	if !core.Long() {
		why := core.Why
		if why.Text == "" {
			why = *refuse(-1, "too few turns to see that they repeat")
		}
		return nil, &shortfall{Refusal: why, short: true, by: int64(core.Need()-core.To+core.From) * p.period / int64(p.ticks)}
	}
	b, short := f.strides(p, k, turns, r)
	if short != nil {
		return nil, short
	}
	b.core = core
	if b.fixed && core.To-core.From < 2*core.Period {
		return nil, &shortfall{Refusal: *refuse(-1, "too few turns to see that what is written to global memory repeats"), short: true}
	}
	for i, loop := range b.list {
		if loop.Mark >= 0 && !core.Holds(i, loop.First+loop.Periods*loop.Period+1, loop.Period) {
			return nil, &shortfall{Refusal: *refuse(loop.Mark, "registers repeat where what is done does not"), short: true}
		}
	}
	return b, nil
}

// strides measures how registers go on, in the launch with k, with the first
// margin that does.
func (f *family) strides(p *plan, k int64, turns func(int) int32, taken *run) (*base, *shortfall) {
	var no *shortfall
	for _, by := range p.margins() {
		if by.first > 0 {
			taken = nil
		}
		b, why := f.measure(p, by, k, turns, taken)
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

func (f *family) measure(p *plan, by margin, k int64, turns func(int) int32, taken *run) (*base, *shortfall) {
	list := p.loops(by, turns)
	periods := int64(0)
	for i := range list {
		if list[i].Mark >= 0 {
			if list[i].Periods == 0 {
				return nil, &shortfall{Refusal: *refuse(list[i].Mark, "too few turns of the loop"), short: true}
			}
			periods = max(periods, int64(list[i].Periods))
		}
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
	most := (f.most - k) / p.period
	param := machine.ParamStride{Offset: f.offset, Size: f.size, By: p.period}
	for range mostMeasured {
		var prints *loops.Footprint
		r, no := f.follow(l, func(m *machine.Machine, fo *machine.Follower) machine.Observer {
			fo.Loops = list
			fo.Measure(m, taken.follower, f.unsure, []machine.ParamStride{param}, most, min(leastPeriods, most))
			prints = loops.NewFootprint(fo, l.bufferAt)
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
		b := &base{list: list}
		b.most, b.limit = r.follower.Most()
		growth, refused := prints.Finish(periods, b.most)
		if len(refused) > 0 {
			return nil, &shortfall{Refusal: refused[0]}
		}
		b.growth, b.fixed, b.follow = growth, prints.Fixed(), r.follower
		return b, nil
	}
	return nil, &shortfall{Refusal: *refuse(-1, "registers whose growth does not settle")}
}

// mostMeasured bounds how often registers are found to be less regular than was
// assumed.
const mostMeasured = 8

// bufferAt is the number of the buffer that an address lies in; others, and
// module variables, get numbers of their own.
func (l *Launch) bufferAt(addr uint64) int {
	for i := range l.layout.Buffers {
		if b := &l.layout.Buffers[i]; addr >= b.Base && addr < b.End() {
			return i
		}
	}
	return math.MaxInt
}
