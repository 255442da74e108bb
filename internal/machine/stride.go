package machine

import (
	"fmt"
	"math"
)

// Strides: how what a lane's registers hold changes with the number of turns of
// its loop (docs/loops.md). A launch is one of a family: the n-th has n periods
// more. Beside every register stands its stride: by how much it grows from one
// period to the next (j), and from one launch to the next (n), as exact integers
// modulo the register's width, or why it is not known. What a register holds in
// period j of launch n is then its value in the run that is followed, plus j and
// n times its strides; the run itself is period 0 of launch 0.
//
// Strides are assumed at a period's begin, carried through it by the rules of
// stride_op.go, and must come out at its end as they went in. Every branch,
// operand of a synchronizing instruction and shared address must have no stride:
// then the period is alike for every j and n, whatever they are.

// A stride is a register's, of one lane.
type stride struct {
	j, n int64
	why  int32 // if not 0 neither is known: Causes[why]
}

var still stride

// A Cause is why something is not known, or must not change.
type Cause struct {
	PC   int32
	Text string
}

// mode is which part of the run a lane is in.
type mode uint8

const (
	before  mode = iota // up to the first period
	body                // in the first period
	between             // in one of the others: they are what the first has shown
	after               // past the last period
)

// A ParamStride says that an integer of the kernel's parameters grows from launch
// to launch.
type ParamStride struct {
	Offset, Size uint64
	By           int64
}

type strides struct {
	prog   *Program
	params []ParamStride
	uses   []*use // by instruction
	live   map[int32][]regID
	warps  []*warpStrides
	from   []laneTrack              // of the run that took the registers
	in     map[int]map[regID]stride // what a lane's registers entered the first period with
	unsure map[unsureRow]bool
	causes []Cause
	index  map[Cause]int32
	failed []Cause
	seen   map[Cause]bool
	again  bool

	// n goes up to most; mostAt is what keeps it there. It is never less than least.
	most, least int64
	mostAt      Cause
	last        []point
	idle        []uint32 // lanes of each warp that are between
}

// An unsureRow is a register of a warp that turned out to have no stride.
type unsureRow struct {
	warp int32
	id   regID
}

// A warpStrides has the strides of a warp's registers.
type warpStrides struct {
	r32, r64 [][32]stride
	p        [][32]int32
	carry    [32]int32
}

// A point is the visible instruction that a lane came to last: the addresses in
// global memory that it was given.
type point struct {
	pc   int32
	n    int
	at   [8]uint64
	by   [8]stride
	from [8]bool // a coordinate of a tensor
}

// Measure has a follower work out strides, from what another run of the same
// launch, with the same Loops, took of the registers. Launches are numbered by
// n, from 0 up to most; params says which parameters grow with n. before, if there
// is one, is an earlier attempt, and the registers that it found without strides
// have none.
func (f *Follower) Measure(m *Machine, taken, before *Follower, params []ParamStride, most, least int64) {
	s := &strides{prog: m.prog, params: params, uses: make([]*use, len(m.prog.code)), live: map[int32][]regID{},
		warps: make([]*warpStrides, int(m.total)*int(m.warps)), from: taken.lanes, in: map[int]map[regID]stride{}, unsure: map[unsureRow]bool{},
		causes: make([]Cause, 1), index: map[Cause]int32{}, seen: map[Cause]bool{}, most: most, least: least,
		last: make([]point, len(taken.lanes)), idle: make([]uint32, len(taken.lanes)/32)}
	for i := range m.prog.uses {
		s.uses[m.prog.uses[i].pc] = &m.prog.uses[i]
	}
	if before != nil {
		s.unsure = before.strides.unsure
	}
	f.strides = s
}

// Failed lists why the run does not stand for others, in the order in which it
// was met. Again: registers turned out to have no stride, and another attempt
// that knows may succeed.
func (f *Follower) Failed() (list []Cause, again bool) { return f.strides.failed, f.strides.again }

// Most is up to which n what was found holds, and what keeps it there.
func (f *Follower) Most() (int64, Cause) { return f.strides.most, f.strides.mostAt }

// A Growth is by how much an address, or a coordinate, grows.
type Growth struct {
	Known bool
	Mode  string // which part of the run
	J, N  int64
}

// Growth returns the strides of the address in global memory at which a lane's
// visible instruction accesses addr.
func (f *Follower) Growth(lane int, pc int32, addr uint64) Growth {
	t, p := &f.lanes[lane], &f.strides.last[lane]
	if t.mode == between || p.pc != pc {
		return Growth{}
	}
	best, found := uint64(math.MaxUint64), still
	for i := range p.n {
		if d := addr - p.at[i]; !p.from[i] && int64(d) >= -1<<31 && min(d, -d) < best {
			best, found = min(d, -d), p.by[i]
		}
	}
	if best == math.MaxUint64 || found.why != 0 {
		return Growth{}
	}
	return Growth{Known: true, Mode: [...]string{"before", "body", "", "after"}[t.mode], J: found.j, N: found.n}
}

// Coordinates returns by how much each coordinate of a tensor copy, a lane's last
// visible instruction, grows with the launches; nil if none grows. It is known
// in the parts of the run that are followed.
func (f *Follower) Coordinates(lane int, pc int32) (by []int64, known bool) {
	p := &f.strides.last[lane]
	if f.lanes[lane].mode == between || p.pc != pc {
		return nil, false
	}
	moves := false
	for i := range p.n {
		if p.from[i] {
			moves = moves || p.by[i] != still
			by = append(by, p.by[i].j+p.by[i].n)
		}
	}
	if !moves {
		by = nil
	}
	return by, true
}

// Agree holds what strides foretell against a run of launch n that took registers
// at the begin of period j: it counts the registers that are foretold, of all lanes,
// and those of them that hold something else. Left out are pointers to global memory,
// since buffers that grow may lie elsewhere.
func (f *Follower) Agree(taken *Follower, j, n int64) (foretold, wrong int) {
	for lane, in := range f.strides.in {
		from, to := f.strides.from[lane].begin, taken.lanes[lane].begin
		for id, v := range in {
			row := int32(uint32(id))
			if v.why != 0 || to == nil || id>>32&3 == 1 && from.r64[row] >= 1<<32 && from.r64[row] < sharedWindow {
				continue
			}
			foretold++
			by, same := j*v.j+n*v.n, false
			switch id >> 32 & 3 {
			case 0:
				same = to.r32[row] == from.r32[row]+uint32(by)
			case 1:
				same = to.r64[row] == from.r64[row]+uint64(by)
			case 2:
				same = to.p[row] == from.p[row]
			}
			if !same {
				wrong++
			}
		}
	}
	return foretold, wrong
}

func (s *strides) cause(pc int32, text string) int32 {
	c := Cause{pc, text}
	if i, ok := s.index[c]; ok {
		return i
	}
	s.causes = append(s.causes, c)
	s.index[c] = int32(len(s.causes) - 1)
	return s.index[c]
}

func (s *strides) unknown(pc int32, text string) stride { return stride{why: s.cause(pc, text)} }

// fail notes that what an instruction does changes from period to period.
func (s *strides) fail(pc int32, text string) {
	c := Cause{pc, text}
	if !s.seen[c] {
		s.seen[c] = true
		s.failed = append(s.failed, c)
	}
}

// because is what is known of an unknown value.
func (s *strides) because(why int32) string {
	c := s.causes[why]
	if l := s.prog.Pos(c.PC).Line; l > 0 {
		return fmt.Sprintf("%s (line %d)", c.Text, l)
	}
	return c.Text
}

func (s *strides) of(x *ctx) *warpStrides {
	i := int(x.w.cta*x.m.warps + x.w.index)
	ws := s.warps[i]
	if ws == nil {
		ws = &warpStrides{r32: make([][32]stride, len(x.w.r32)), r64: make([][32]stride, len(x.w.r64)), p: make([][32]int32, len(x.w.p))}
		s.warps[i] = ws
	}
	return ws
}

// get and set are the stride of a register of the kernel itself.
func (ws *warpStrides) get(r regID, l int) stride {
	row := int32(uint32(r))
	switch r >> 32 & 3 {
	case 0:
		return ws.r32[row][l]
	case 1:
		return ws.r64[row][l]
	case 2:
		return stride{why: ws.p[row][l]}
	}
	return stride{why: ws.carry[l]}
}

func (ws *warpStrides) set(r regID, l int, v stride) {
	row := int32(uint32(r))
	switch r >> 32 & 3 {
	case 0:
		ws.r32[row][l] = v
	case 1:
		ws.r64[row][l] = v
	case 2:
		ws.p[row][l] = v.why
	default:
		ws.carry[l] = v.why
	}
}

// arrive carries strides through the instruction that a split is about to
// execute.
func (s *strides) arrive(f *Follower, x *ctx, in *instr, base int) {
	pc := x.s.pc
	mask := x.s.mask &^ s.idle[base/32]
	if mask == 0 {
		return
	}
	if len(x.s.frames) > 0 {
		s.fail(pc, "a function that is called: strides are not followed into it")
		return
	}
	ws, u := s.of(x), s.uses[pc]
	if u == nil {
		s.made(ws, x, in, mask)
		return
	}
	act := x.active(in) & mask
	if u.guard != noReg {
		for l := range lanesOf(mask) {
			why := ws.get(u.guard, l).why
			if why == 0 {
				continue
			}
			if in.class != plain {
				s.fail(pc, fmt.Sprintf("%s is executed or not by %s", whatItIs(u), s.because(why)))
				continue
			}
			for _, w := range u.writes {
				ws.set(w, l, stride{why: why})
			}
			act &^= 1 << l
		}
	}
	for l := range lanesOf(act) {
		j := int64(0)
		if f.lanes[base+l].mode == body {
			j = int64(f.Loops[base+l].Periods - 1)
		}
		if in.class == plain {
			s.plain(ws, x, in, u, l, j)
		} else {
			s.point(ws, x, in, u, l, base+l, j)
		}
	}
}

func whatItIs(u *use) string {
	if u.in.Op == "bra" || u.in.Op == "brx" {
		return "the branch"
	}
	return "the " + Name(u.in)
}

// made carries strides through an instruction that the decoder made of part of
// another: constants of the launch, or a predicate the other way round.
func (s *strides) made(ws *warpStrides, x *ctx, in *instr, mask uint32) {
	for l := range lanesOf(mask) {
		switch {
		case in.class != plain:
		case sameExec(in.exec, execPredNot):
			ws.p[in.d][l] = ws.p[in.a][l]
		case sameExec(in.exec, execPredConst):
			ws.p[in.d][l] = 0
		case in.t == pred:
			ws.p[in.d][l] = 0
		case in.t.wide():
			ws.r64[in.d][l] = still
		default:
			ws.r32[in.d][l] = still
		}
	}
}

// boundary passes from one part of the run to the next.
func (s *strides) boundary(x *ctx, l int, loop *LaneLoop, t *laneTrack) {
	warp := x.w.cta*x.m.warps + x.w.index
	taken, ws, v := &s.from[int(warp)*32+l], s.of(x), t.visits
	if loop.Periods == 0 || taken.end == nil {
		return
	}
	if v == loop.First {
		s.assume(ws, x, l, loop, taken)
		t.mode = body
	}
	if v == loop.First+loop.Period {
		s.compare(ws, warp, l)
		t.mode = between
		s.idle[warp] |= 1 << l
	}
	if v == loop.First+loop.Period*loop.Periods {
		s.proceed(ws, x, l)
		t.mode = after
		s.idle[warp] &^= 1 << l
	}
}

// assume enters the first period: registers grow as they did in the run before.
func (s *strides) assume(ws *warpStrides, x *ctx, l int, loop *LaneLoop, t *laneTrack) {
	warp := x.w.cta*x.m.warps + x.w.index
	in := map[regID]stride{}
	for _, id := range s.liveAt(loop.Mark) {
		row := int32(uint32(id))
		is := ws.get(id, l)
		switch class := id >> 32 & 3; {
		case is.why != 0:
		case s.unsure[unsureRow{warp, id}] || class == 2 && t.begin.p[row] != t.end.p[row]:
			is = s.unknown(x.s.pc, "a register that at the end of a turn of the loop is neither as it was a period before nor grows by the same each period")
		case class == 0:
			is.j = int64(int32(t.end.r32[row] - t.begin.r32[row]))
		case class == 1:
			is.j = int64(t.end.r64[row] - t.begin.r64[row])
		}
		in[id] = is
	}
	s.enter(ws, x, l, in)
	s.in[int(warp)*32+l] = in
}

// enter gives a lane's registers strides; those that are not among them hold
// nothing that is used.
func (s *strides) enter(ws *warpStrides, x *ctx, l int, in map[regID]stride) {
	dead := s.unknown(x.s.pc, "a register that nothing is kept in from turn to turn").why
	for i := range ws.r32 {
		ws.r32[i][l] = stride{why: dead}
	}
	for i := range ws.r64 {
		ws.r64[i][l] = stride{why: dead}
	}
	for i := range ws.p {
		ws.p[i][l] = dead
	}
	ws.carry[l] = dead
	for id, v := range in {
		ws.set(id, l, v)
	}
}

// compare ends the first period: strides must be what they were assumed to be.
func (s *strides) compare(ws *warpStrides, warp int32, l int) {
	for id, was := range s.in[int(warp)*32+l] {
		if was.why == 0 && ws.get(id, l) != was {
			s.unsure[unsureRow{warp, id}] = true
			s.again = true
		}
	}
}

// proceed leaves the last period: from here on a launch more is a period more.
func (s *strides) proceed(ws *warpStrides, x *ctx, l int) {
	warp := x.w.cta*x.m.warps + x.w.index
	in := map[regID]stride{}
	for id, v := range s.in[int(warp)*32+l] {
		if v.why == 0 {
			v.j, v.n = 0, v.j+v.n
			if id>>32&3 == 0 {
				v.n = int64(int32(v.n))
			}
		}
		in[id] = v
	}
	s.enter(ws, x, l, in)
}

func (s *strides) liveAt(pc int32) []regID {
	if list, ok := s.live[pc]; ok {
		return list
	}
	g := s.prog.graph(s.prog.code[pc].fn)
	var list []regID
	at := g.at(pc)
	for _, r := range g.regs {
		if g.isLive(at, r) {
			list = append(list, r)
		}
	}
	s.live[pc] = list
	return list
}
