package machine

import (
	"fmt"
	"maps"
	"math"

	"muster/internal/flow"
	"muster/ptx"
)

// Strides: how a lane's registers change with the number of iterations of its
// loop (docs/loops.md). A launch is one of a family: the n-th has n periods more.
// Every register has a stride: its growth from one period to the next (j), and
// from one launch to the next (n), as exact integers modulo the register's width,
// or the reason why it is not known. A register's value in period j of launch n
// is its value in the run that is followed, plus j and n times its strides; the
// run itself is period 0 of launch 0.
//
// Strides are assumed at a period's begin, carried through it by the rules of
// stride_op.go, and must be the same at its end. No branch, operand of a
// synchronizing instruction or shared address may have a stride: then the period
// is alike for every j and n.

// A stride is that of one register in one lane. If the register holds one bit of a
// growing value, its stride is not known, but j and n may be known modulo 2. Only callers
// of bit read j and n where why is not 0.
type stride struct {
	j, n int64
	why  int32 // if not 0, j and n are unknown: Causes[why]
}

// bit reports whether v is the stride of a register that holds 0 or 1, and flips
// with each period if j is 1, with each launch if n is.
func (v stride) bit() bool { return v.why != 0 && v.j|v.n != 0 }

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
	between             // in a later period, which is like the first
	after               // past the last period
)

var modeNames = [...]string{before: "before", body: "body", after: "after"}

// A ParamStride says that an integer of the kernel's parameters grows from launch
// to launch.
type ParamStride struct {
	Offset, Size uint64
	By           int64
}

type strides struct {
	prog   *Program
	params []ParamStride
	// addresses is Follower.Addresses.
	addresses map[int32]bool
	uses      []*flow.Use // by instruction
	told      [][]flow.Reg
	warps     []*warpStrides
	from      []laneTrack // of the run that recorded the registers
	in        [][]stride  // strides of a lane's live registers at the first period
	held      []laneRegs  // their values then
	unsure    map[unsureRow]bool
	causes    []Cause
	index     map[Cause]int32
	failed    []Cause
	seen      map[Cause]bool
	again     bool

	// The strides hold for n up to most, which maxAt limits. most is never less than
	// least.
	most, least int64
	maxAt       Cause
	last        []point
	idle        []uint32 // lanes of each warp in mode between
	lanes       []int64  // of each lane in its first period: the number of later periods
	modes       []laneTrack
	row         *row // of clusters; nil for launches
}

// An unsureRow is a register of a warp that turned out to have no stride.
type unsureRow struct {
	warp int32
	id   flow.Reg
}

// A warpStrides has the strides of a warp's registers.
type warpStrides struct {
	r32, r64, p []strideRow
	carry       strideRow
}

// A strideRow is the strides of one register. Most are still, and the others are
// mostly the same in all lanes.
type strideRow struct {
	moves uint32 // lanes whose stride is not still
	alike uint32 // lanes of moves whose stride is one
	one   stride
	of    *[32]stride // the others
}

func (r *strideRow) at(l int) stride {
	switch bit := uint32(1) << (l & 31); {
	case r.moves&bit == 0:
		return still
	case r.alike&bit != 0:
		return r.one
	}
	return r.of[l&31]
}

// put gives lanes a stride.
func (r *strideRow) put(mask uint32, v stride) {
	if v == still {
		r.moves &^= mask
		r.alike &^= mask
		return
	}
	r.moves |= mask
	switch {
	case r.alike&^mask == 0:
		r.one, r.alike = v, mask
	case r.one == v:
		r.alike |= mask
	default:
		if r.of == nil {
			r.of = new([32]stride)
		}
		r.alike &^= mask
		for l := range lanesOf(mask) {
			r.of[l] = v
		}
	}
}

// A point is a lane's last visible instruction, with the addresses in global
// memory and the coordinates that it was given.
type point struct {
	pc   int32
	n    int
	at   [8]uint64
	by   [8]stride
	from [8]bool // a coordinate of a tensor
	// turns: the parity that it tests a barrier for flips with each period; past the
	// periods, with each launch.
	turns bool
}

// Measure makes a follower derive strides, from the registers that another run of the
// same launch, with the same Loops, recorded. Launches are numbered by n, from 0 up to
// most; params says which parameters grow with n. before, if not nil, is an earlier
// attempt: registers that it found to have no stride get none.
func (f *Follower) Measure(m *Machine, taken, before *Follower, params []ParamStride, most, least int64) {
	s := f.newStrides(m, most, least)
	s.params, s.from, s.in, s.held = params, taken.lanes, make([][]stride, len(f.lanes)), make([]laneRegs, len(f.lanes))
	s.addresses = f.Addresses
	maps.Copy(f.live, taken.live)
	if before != nil {
		maps.Copy(s.unsure, before.strides.unsure)
	}
}

func (f *Follower) newStrides(m *Machine, most, least int64) *strides {
	s := &strides{prog: m.prog, uses: make([]*flow.Use, len(m.prog.code)),
		warps: make([]*warpStrides, len(f.lanes)/32), unsure: map[unsureRow]bool{},
		told: make([][]flow.Reg, len(m.prog.code)), lanes: make([]int64, len(f.lanes)), modes: f.lanes,
		causes: make([]Cause, 1), index: map[Cause]int32{}, seen: map[Cause]bool{}, most: most, least: least,
		last: make([]point, len(f.lanes)), idle: make([]uint32, len(f.lanes)/32)}
	for u := range m.prog.flow.Uses() {
		s.uses[u.PC] = u
		if !u.Plain {
			s.told[u.PC] = told(u)
		}
	}
	f.strides = s
	return s
}

// Failed lists why the run does not represent the other launches, in the order
// found. Again: registers turned out to have no stride, and another attempt that
// knows this may succeed.
func (f *Follower) Failed() (list []Cause, again bool) { return f.strides.failed, f.strides.again }

// Most returns the largest n for which the strides hold, and what limits it.
func (f *Follower) Most() (int64, Cause) { return f.strides.most, f.strides.maxAt }

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
	return Growth{Known: true, Mode: modeNames[t.mode], J: found.j, N: found.n}
}

// Coordinates returns the growth, per launch, of each coordinate of a tensor copy, a
// lane's last visible instruction; nil if none grows. It is known in the parts of the
// run that are followed.
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

// Turns reports whether the parity for which a lane's last visible instruction
// tested a barrier flips with each period added, and in which part of the run the
// lane is.
func (f *Follower) Turns(lane int, pc int32) (turns bool, mode string, known bool) {
	t, p := &f.lanes[lane], &f.strides.last[lane]
	if t.mode == between || p.pc != pc {
		return false, "", false
	}
	return p.turns, modeNames[t.mode], true
}

// Agree compares the registers predicted by strides with a run of launch n that recorded
// them at the begin of period j: it counts the predicted registers of all lanes, and the
// wrong ones. Pointers to global memory are left out, since buffers that grow may lie
// elsewhere.
func (f *Follower) Agree(taken *Follower, j, n int64) (predicted, wrong int) {
	for lane, in := range f.strides.in {
		held, to := f.strides.held[lane], taken.lanes[lane].begin
		if in == nil || to == nil {
			continue
		}
		for i, id := range f.live[f.Loops[lane].Mark] {
			v := in[i]
			if v.why != 0 || id.Class() == flow.Wide && held[i] >= 1<<32 && held[i] < sharedWindow {
				continue
			}
			predicted++
			by := uint64(j*v.j + n*v.n)
			switch id >> 32 & 3 {
			case 0:
				by = uint64(uint32(held[i]) + uint32(by))
			case 1:
				by += held[i]
			case 2:
				by = held[i]
			}
			if to[i] != by {
				wrong++
			}
		}
	}
	return predicted, wrong
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

// fail records that the effect of an instruction changes from period to period.
func (s *strides) fail(pc int32, text string) {
	c := Cause{pc, text}
	if !s.seen[c] {
		s.seen[c] = true
		s.failed = append(s.failed, c)
	}
}

// because returns the cause of an unknown value, with its line.
func (s *strides) because(why int32) string {
	c := s.causes[why]
	if p := s.prog.Pos(c.PC); p.Line > 0 {
		return fmt.Sprintf("%s (%s)", c.Text, s.prog.Line(c.PC))
	}
	return c.Text
}

func (s *strides) of(x *ctx, i int) *warpStrides {
	ws := s.warps[i]
	if ws == nil {
		ws = &warpStrides{r32: make([]strideRow, len(x.w.r32)), r64: make([]strideRow, len(x.w.r64)), p: make([]strideRow, len(x.w.p))}
		s.warps[i] = ws
	}
	return ws
}

// row returns the strides of a register of the kernel itself. Predicates, and the carry,
// are still or have no known stride.
func (ws *warpStrides) row(r flow.Reg) *strideRow {
	row := r.Row()
	switch r >> 32 & 3 {
	case 0:
		return &ws.r32[row]
	case 1:
		return &ws.r64[row]
	case 2:
		return &ws.p[row]
	}
	return &ws.carry
}

func (ws *warpStrides) get(r flow.Reg, l int) stride { return ws.row(r).at(l) }

func (ws *warpStrides) put(r flow.Reg, mask uint32, v stride) {
	if r.Class() >= flow.Predicate {
		v.j, v.n = 0, 0
	}
	ws.row(r).put(mask, v)
}

// moving returns the lanes in which some of the registers are not still.
func (ws *warpStrides) moving(regs []flow.Reg) (mask uint32) {
	for _, r := range regs {
		mask |= ws.row(r).moves
	}
	return mask
}

// arrive carries strides through the instruction that a split is about to
// execute.
func (s *strides) arrive(f *Follower, x *ctx, in *instr, base int) {
	pc := x.s.pc
	mask := x.s.mask &^ s.idle[base/32]
	if mask == 0 || s.row != nil && len(s.failed) > 0 {
		return
	}
	if len(x.s.frames) > 0 {
		s.fail(pc, "a function that is called: strides are not followed into it")
		return
	}
	ws, u := s.of(x, base/32), s.uses[pc]
	if u == nil {
		s.made(ws, x, in, mask)
		return
	}
	act := x.active(in) & mask
	if u.Guard != flow.NoReg {
		for l := range lanesOf(mask & ws.row(u.Guard).moves) {
			why := ws.get(u.Guard, l).why
			if in.class != plain || s.row != nil {
				s.fail(pc, fmt.Sprintf("%s is executed or not by %s", whatItIs(u), s.because(why)))
				continue
			}
			for _, w := range u.Writes {
				ws.put(w, 1<<l, stride{why: why})
			}
			act &^= 1 << l
		}
	}
	if act == 0 {
		return
	}
	switch {
	case s.row == nil:
	case in.class == plain:
		s.risky(ws, x, in, u, act)
	default:
		s.visible(ws, x, in, u, act)
	}
	if in.class == plain {
		s.plain(ws, x, in, u, act, base)
	} else {
		s.point(ws, x, in, u, act, base)
	}
}

func whatItIs(u *flow.Use) string {
	if u.Does(ptx.Branches | ptx.BranchesByTable) {
		return "the branch"
	}
	return "the " + Name(u.In)
}

// made carries strides through an instruction that the decoder generated for an
// operand: constants of the launch, or a negated predicate.
func (s *strides) made(ws *warpStrides, x *ctx, in *instr, mask uint32) {
	switch {
	case in.class != plain:
	case s.row != nil && s.row.refused[x.s.pc]:
		s.fail(x.s.pc, "a special register of another width")
	case s.row != nil && s.row.special[x.s.pc] != still:
		ws.rowOf(in.d, in.t).put(mask, s.row.special[x.s.pc])
	case sameExec(in.exec, execPredNot):
		for l := range lanesOf(mask) {
			ws.p[in.d].put(1<<l, ws.p[in.a].at(l))
		}
	case sameExec(in.exec, execPredConst), in.t == pred:
		ws.p[in.d].put(mask, still)
	case in.t.wide():
		ws.r64[in.d].put(mask, still)
	default:
		ws.r32[in.d].put(mask, still)
	}
}

// cross moves lanes, which are at their loops' Mark, to the next part of the run.
// A loop of one period is left where the period ends.
func (s *strides) cross(f *Follower, x *ctx, mask uint32, base int) {
	begin, left := uint32(0), uint32(0)
	ws, warp := s.of(x, base/32), x.w.cta*x.m.warps+x.w.index
	live := f.liveAt(s.prog, x.s.pc)
	for l := range lanesOf(mask) {
		loop, t := &f.Loops[base+l], &f.lanes[base+l]
		taken, v := &s.from[base+l], t.visits
		switch {
		case loop.Periods == 0:
			continue
		case taken.end == nil:
			s.fail(x.s.pc, "the loop goes round too seldom to see what grows")
			continue
		}
		if v == loop.First {
			s.assume(ws, x, l, live, taken)
			s.lanes[base+l] = int64(loop.Periods - 1)
			t.mode = body
			begin |= 1 << l
		}
		if v == loop.First+loop.Period {
			s.compare(ws, warp, l, live)
			s.lanes[base+l] = 0
			t.mode = between
			s.idle[warp] |= 1 << l
		}
		if v == loop.First+loop.Period*loop.Periods {
			t.mode = after
			s.idle[warp] &^= 1 << l
			left |= 1 << l
		}
	}
	if begin|left == 0 {
		return
	}
	// The values of registers that are not live are not used.
	dead := s.unknown(x.s.pc, "a register that nothing is kept in from turn to turn")
	for _, rows := range [][]strideRow{ws.r32, ws.r64, ws.p} {
		for i := range rows {
			rows[i].put(begin|left, dead)
		}
	}
	ws.carry.put(begin|left, dead)
	for l := range lanesOf(begin) {
		for i, id := range live {
			ws.put(id, 1<<l, s.in[base+l][i])
		}
	}
	for l := range lanesOf(left) {
		for i, id := range live {
			ws.put(id, 1<<l, afterwards(id, s.in[base+l][i]))
		}
	}
}

// assume begins the first period: registers grow as in the earlier run.
func (s *strides) assume(ws *warpStrides, x *ctx, l int, live []flow.Reg, t *laneTrack) {
	warp := x.w.cta*x.m.warps + x.w.index
	in := make([]stride, len(live))
	for i, id := range live {
		is := ws.get(id, l)
		switch class := id >> 32 & 3; {
		case is.why != 0:
			is.j, is.n = 0, 0
		case s.unsure[unsureRow{warp, id}] || class == 2 && t.begin[i] != t.end[i]:
			is = s.unknown(x.s.pc, "a register that at the end of a turn of the loop is neither as it was a period before nor grows by the same each period")
		case class == 0:
			is.j = int64(int32(t.end[i] - t.begin[i]))
		case class == 1:
			is.j = int64(t.end[i] - t.begin[i])
		}
		in[i] = is
	}
	lane := int(warp)*32 + l
	s.in[lane], s.held[lane] = in, takeRegs(x, l, live)
}

// compare ends the first period: strides must equal those assumed at its begin.
func (s *strides) compare(ws *warpStrides, warp int32, l int, live []flow.Reg) {
	for i, was := range s.in[int(warp)*32+l] {
		if was.why == 0 && ws.get(live[i], l) != was {
			s.unsure[unsureRow{warp, live[i]}] = true
			s.again = true
		}
	}
}

// afterwards returns a register's stride past the last period: there, one more launch
// adds one more period.
func afterwards(id flow.Reg, v stride) stride {
	if v.why == 0 {
		v.j, v.n = 0, v.j+v.n
		if id.Class() == flow.Word {
			v.n = int64(int32(v.n))
		}
	}
	return v
}
