package anycount

import (
	"muster/internal/loops"
	"muster/internal/machine"
)

// How the loops of a family are found: which back edge is each lane's, how many turns
// a larger argument adds to it, and after how many turns everything repeats.

// A plan is what the launches of a family have in common.
type plan struct {
	strategy
	marks []machine.LaneLoop // Mark and Head of each lane
	turns []int64            // turns that by more of the argument adds to each lane's loop
	by    int64
	long  int64   // the argument of the run that showed the period
	made  []int32 // turns that lanes made in it
	// period is the increase of the argument after which everything repeats; ticks is
	// the least common multiple of the lanes' turns in it.
	period int64
	ticks  int32
	step   int64 // distance of the argument values covered
	from   int64 // the least that may stand for longer ones
}

// A shown is the run in which a period is looked for.
type shown struct {
	k        int64
	follower *machine.Follower
	rec      *loops.Recorder
}

// A margin is how many turns come before the periods, and how many at least come
// after them.
type margin struct{ first, slack int32 }

// margins returns those to try: a comparison may have another outcome in the first
// turns, or the last, such as that of a load ahead.
func (p *plan) margins() []margin {
	return []margin{{0, 0}, {1, 0}, {1, 1}, {1, 3}, {2, 6}, {p.ticks, p.ticks}}
}

// of returns the number of turns in a lane's period.
func (p *plan) of(lane int32) int32 { return int32(p.turns[lane] * p.period / p.by) }

// loops returns each lane's loop in a run in which it makes so many turns.
func (p *plan) loops(by margin, turns func(lane int) int32) []machine.LaneLoop {
	list := append([]machine.LaneLoop(nil), p.marks...)
	for i := range list {
		if list[i].Mark < 0 {
			continue
		}
		list[i].First, list[i].Period = by.first, p.of(int32(i))
		list[i].Periods = max(0, (turns(i)-2-by.first-by.slack)/list[i].Period)
	}
	return list
}

// taking returns each lane's loop in a run that takes registers at the start of the
// first two periods.
func (p *plan) taking(by margin) []machine.LaneLoop {
	list := append([]machine.LaneLoop(nil), p.marks...)
	for i := range list {
		if list[i].Mark >= 0 {
			list[i].First, list[i].Period = by.first, p.of(int32(i))
		}
	}
	return list
}

// plan finds loops and period.
func (f *Family) plan(h strategy) (*plan, *loops.Refusal) {
	f.bases, f.guess, f.unsure = map[int64]*base{}, nil, nil
	if f.found == nil {
		p := &plan{by: 64 * ((f.Value + 63) / 64)}
		if no := f.findLoops(p); no != nil {
			return nil, no
		}
		f.found = p
	}
	loops := *f.found
	p := &loops
	p.strategy = h
	unit, most := int64(1), int64(0)
	for _, t := range p.turns {
		if t > 0 {
			unit = lcm(unit, p.by/gcd(p.by, t))
			most = max(most, t)
		}
	}
	rec, turns, no := f.findPeriod(p, unit, most, h.turns)
	if no != nil && no.PC < 0 && !h.quick {
		rec, turns, no = f.findPeriod(p, unit, most, 4*wantTurns)
	}
	if no != nil {
		return nil, no
	}
	p.step = 1
	if p.period > maxPeriod {
		p.step = unit
	}
	if p.period/p.step > maxPeriod {
		return nil, refuse(-1, "the loops repeat only after %d of the argument: too many launches to prove one for each remainder", p.period)
	}
	if !p.quick {
		// What does not grow evenly shows here, before many launches are run.
		if _, no := f.strides(p, p.long, turns, nil); no != nil {
			return nil, &no.Refusal
		}
	}
	core, no := rec.Check(p.of, p.ticks)
	if no != nil {
		return nil, no
	}
	if !core.Long() {
		why := core.Why
		return nil, &why
	}
	// A shorter run has fewer ticks, in proportion to the argument.
	spare := int64(core.To-core.From-core.Need()) * p.period / int64(p.ticks)
	for lane, t := range p.turns {
		if t > 0 {
			extra := turns(lane) - 2 - p.of(int32(lane))
			spare = min(spare, int64(extra)*p.by/t)
		}
	}
	p.from = p.long - spare
	p.from += ((f.Value-p.from)%p.step + p.step) % p.step
	return p, nil
}

// findLoops compares two launches: a lane's loop is the outermost one that makes more
// turns where the argument is greater.
func (f *Family) findLoops(p *plan) *loops.Refusal {
	var visits [2]map[int32][]int32
	for i, k := range []int64{f.Value, f.Value + p.by} {
		l, err := f.at(k)
		if err != nil {
			return refuse(-1, "the launch with %s = %d: %v", f.Name, k, err)
		}
		r, no := f.follow(l, nil)
		if no != nil {
			return no
		}
		visits[i] = r.follower.Visits()
		if i == 0 {
			f.give(r.addresses.Loads())
		}
		if p.marks == nil {
			n := r.m.CTAs() * r.m.WarpsPerCTA() * 32
			p.marks, p.turns = make([]machine.LaneLoop, n), make([]int64, n)
			for i := range p.marks {
				p.marks[i] = machine.NoLoop
			}
		}
	}
	prog, found := f.l.Program, false
	for pc, more := range visits[1] {
		less, head := visits[0][pc], prog.Target(pc)
		for lane, n := range more {
			if less != nil {
				n -= less[lane]
			}
			m := &p.marks[lane]
			if n <= 0 || m.Mark >= 0 && (m.Head < head || m.Head == head && m.Mark > pc) {
				continue
			}
			m.Mark, m.Head, p.turns[lane] = pc, head, int64(n)
			found = true
		}
	}
	if !found {
		return refuse(-1, "no loop goes round more often where %s is greater", f.Name)
	}
	return nil
}

// findPeriod finds after how many turns lanes do the same again, in a run of at least
// want turns. The run's argument is the launch's own plus a multiple of unit; raising it
// by p.by adds most turns.
func (f *Family) findPeriod(p *plan, unit, most, want int64) (*loops.Recorder, func(int) int32, *loops.Refusal) {
	p.long = f.Value
	if need := want * p.by / most; p.long < need {
		p.long += unit * ((need - p.long + unit - 1) / unit)
	}
	if p.long > maxTurns {
		return nil, nil, refuse(-1, "turns come so seldom that no run shows a period")
	}
	if f.shown == nil || f.shown.k != p.long {
		l, err := f.at(p.long)
		if err != nil {
			return nil, nil, refuse(-1, "the launch with %s = %d: %v", f.Name, p.long, err)
		}
		r, rec, no := f.record(l, p.marks)
		if no != nil {
			return nil, nil, no
		}
		f.shown = &shown{p.long, r.follower, rec}
	}
	rec := f.shown.rec
	turns := func(lane int) int32 { return f.shown.follower.Turn(lane) }
	rec.InTurns = p.inTurns
	var first *loops.Refusal
	for p.period = unit; ; p.period += unit {
		same, why := rec.Repeats(p.of)
		if same {
			break
		}
		if why.PC < 0 {
			if want > wantTurns && first != nil {
				why = first
			}
			return nil, nil, why
		}
		first = why
	}
	if p.inTurns {
		rec.InTurns = false
		if same, _ := rec.Repeats(p.of); same {
			return nil, nil, refuse(-1, "no parity turns over with each period")
		}
		rec.InTurns = true
	}
	p.made = make([]int32, len(p.turns))
	for lane := range p.made {
		p.made[lane] = turns(lane)
	}
	p.ticks = 1
	for lane, t := range p.turns {
		if t > 0 {
			p.ticks = int32(lcm(int64(p.ticks), int64(p.of(int32(lane)))))
		}
	}
	return rec, turns, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func lcm(a, b int64) int64 { return a / gcd(a, b) * b }
