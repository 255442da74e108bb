package machine

import (
	"math/bits"

	"muster/internal/flow"
	"muster/ptx"
)

// A Follower observes a run instruction by instruction, and counts the iterations
// of each lane's loop. With strides (stride.go) it also derives how every
// register changes from one period of the loop to the next. A machine without one
// pays nothing: only with one, splits are run by a separate interpreter loop
// (runFollowed).

// A LaneLoop says which loop of a lane is counted, and how it is divided into periods.
type LaneLoop struct {
	// Mark is the back branch, where iterations are counted; -1 for no loop. Head
	// is its target.
	Mark, Head int32
	// First is the visit of Mark at which the first period begins, Period its number of
	// iterations, Periods how many periods are alike.
	First, Period, Periods int32
}

// NoLoop is the loop of a lane that has none.
var NoLoop = LaneLoop{Mark: -1, Head: -1}

// A Follower is made by NewFollower and given to one machine by Follow.
type Follower struct {
	// Loops has each lane's loop, by its number in the grid (Lane); empty: none.
	Loops []LaneLoop
	// Addresses are loads that give addresses that tcgen05.alloc wrote, and nothing else:
	// those have no stride.
	Addresses map[int32]bool
	lanes     []laneTrack
	warps     int32
	// cluster: lanes are numbered within the one cluster that runs.
	cluster bool
	back    map[int32]*[]int32   // visits of every branch back, by lane
	stops   []bool               // instructions that are some lane's Head or Mark
	live    map[int32][]flow.Reg // registers that are live at a Mark
	*strides
	undefined *Undefined
}

// A laneTrack is a lane's progress in its loop.
type laneTrack struct {
	entered bool // it has been at Head
	visits  int32
	mode    mode
	// begin and end are the registers at the first and second period's begin.
	begin, end laneRegs
}

// A laneRegs has the values of a lane's live registers (liveAt).
type laneRegs []uint64

// NewFollower returns a follower for runs of launches of m's shape.
func NewFollower(m *Machine) *Follower {
	n := int(m.total) * int(m.warps) * 32
	return &Follower{lanes: make([]laneTrack, n), warps: m.warps, back: map[int32]*[]int32{}, live: map[int32][]flow.Reg{}}
}

// Follow attaches f, whose Loops are set, to m, whose run has not begun.
func (m *Machine) Follow(f *Follower) {
	m.cfg.follower = f
	f.stops = make([]bool, len(m.prog.code))
	for _, l := range f.Loops {
		if l.Mark >= 0 {
			f.stops[l.Mark], f.stops[l.Head] = true, true
		}
	}
}

// Lane is the number of a lane in the grid.
func (f *Follower) Lane(cta, warp int32, lane int) int { return int(cta*f.warps+warp)*32 + lane }

// Turn returns how often a lane has reached its loop's Mark; -1 before it reaches Head.
func (f *Follower) Turn(lane int) int32 {
	if t := &f.lanes[lane]; t.entered {
		return t.visits
	}
	return -1
}

// Visits returns how often each lane reached each back branch, in a run without Loops.
func (f *Follower) Visits() map[int32][]int32 {
	all := map[int32][]int32{}
	for pc, v := range f.back {
		all[pc] = *v
	}
	return all
}

// Target returns the target of the direct branch at pc; -1 for other instructions.
func (p *Program) Target(pc int32) int32 {
	if in := &p.code[pc]; in.class == branch && in.src != nil && in.src.Effect().Has(ptx.Branches) {
		return in.target
	}
	return -1
}

// runFollowed is runAmong, with a follower.
func (m *Machine) runFollowed(w *warp, s *split) {
	f := m.cfg.follower
	x := m.enter(w, s)
	code := m.prog.code
	stop := w.meets(s)
	n, lanes := int64(0), int64(0)
	limit := m.budget()
loop:
	for {
		if s.pc >= stop {
			if m.merge(w, s) || s.pc > stop {
				break
			}
			stop = w.meets(s)
		}
		in := &code[s.pc]
		mask := x.active(in)
		f.arrive(x, in)
		switch in.class {
		case plain:
			if mask != 0 {
				in.exec(x, in, mask)
			}
			s.pc++
		case branch:
			if n > limit {
				m.account(n, lanes)
				if n, lanes = 0, 0; !m.goesOn(w, s) {
					break loop
				}
				limit = m.budget()
			}
			if mask == 0 {
				s.pc++
				break
			}
			k, depth := len(w.splits), len(s.frames)
			in.exec(x, in, mask)
			if len(w.splits) != k || s.state != running || len(s.frames) != depth || m.stop != nil {
				n++
				break loop
			}
			stop = w.meets(s)
		default:
			if !m.point(w, s, in, mask) {
				break loop
			}
			// A collective of all lanes: x may be at another split now.
			x = m.enter(w, s)
		}
		n++
		lanes += int64(bits.OnesCount32(mask))
	}
	m.account(n, lanes)
}

// arrive is called before an instruction is executed, or a visible one waits
// for its turn.
func (f *Follower) arrive(x *ctx, in *instr) {
	if f.undefined != nil {
		f.undefined.arrive(x, in)
		return
	}
	pc, base := x.s.pc, f.Lane(x.w.cta, x.w.index, 0)
	if f.cluster {
		base = f.Lane(x.c.rank, x.w.index, 0)
	}
	if f.strides != nil {
		f.strides.arrive(f, x, in, base)
	}
	if len(f.Loops) == 0 && in.class == branch && in.target <= pc && x.m.prog.Target(pc) >= 0 {
		v := f.back[pc]
		if v == nil {
			list := make([]int32, len(f.lanes))
			v = &list
			f.back[pc] = v
		}
		for l := range lanesOf(x.s.mask) {
			(*v)[base+l]++
		}
	}
	if len(f.Loops) == 0 || !f.stops[pc] {
		return
	}
	crossed := uint32(0)
	for l := range lanesOf(x.s.mask) {
		loop, t := &f.Loops[base+l], &f.lanes[base+l]
		if loop.Mark == pc && loop.Period != 0 {
			crossed |= f.visit(x, l, loop, t)
		}
		if loop.Head == pc {
			t.entered = true
		}
	}
	if crossed != 0 {
		f.strides.cross(f, x, crossed, base)
	}
	for l := range lanesOf(x.s.mask) {
		if f.Loops[base+l].Mark == pc {
			f.lanes[base+l].visits++
		}
	}
}

// visit records registers where the first two periods begin. With strides it only
// returns the lane's bit at these two visits, and where the alike periods end.
func (f *Follower) visit(x *ctx, l int, loop *LaneLoop, t *laneTrack) uint32 {
	switch v := t.visits; {
	case f.strides != nil:
		if v == loop.First || v == loop.First+loop.Period || v == loop.First+loop.Period*loop.Periods {
			return 1 << l
		}
	case v == loop.First:
		t.begin = takeRegs(x, l, f.liveAt(x.m.prog, loop.Mark))
	case v == loop.First+loop.Period:
		t.end = takeRegs(x, l, f.liveAt(x.m.prog, loop.Mark))
	}
	return 0
}

func takeRegs(x *ctx, l int, live []flow.Reg) laneRegs {
	r := make(laneRegs, len(live))
	for i, id := range live {
		switch row := id.Row(); id.Class() {
		case flow.Word:
			r[i] = uint64(x.w.r32[row][l])
		case flow.Wide:
			r[i] = x.w.r64[row][l]
		case flow.Predicate:
			r[i] = uint64(x.w.p[row] >> l & 1)
		}
	}
	return r
}

// liveAt lists the registers that are live before an instruction.
func (f *Follower) liveAt(p *Program, pc int32) []flow.Reg {
	list, ok := f.live[pc]
	if ok {
		return list
	}
	g := p.flow.Graph(p.code[pc].fn)
	list = g.LiveAt(g.At(pc))
	f.live[pc] = list
	return list
}
