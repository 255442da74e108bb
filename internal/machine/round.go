package machine

import (
	"hash/maphash"
	"slices"

	"muster/internal/flow"
)

// Waits of several warps, or of lanes that part and meet again. One thread of a CTA reads a lock or a
// semaphore, a barrier or shared memory tells the others, and all go round together: no split
// alone comes back to a state without an effect (circle.go), but the CTA does. A unit is a CTA,
// at the moments at which all of its warps wait at one barrier that has just been completed, or a
// warp, at those at which its lanes have met again. What a unit has done by then is the same in
// every order of the steps of others, and so is its state.
//
// A unit that comes back to a state of its own, and on the way had no effect that others could
// notice and looked at words of memory alone, has gone round: as long as these words are the
// same, it would do the same again. It sleeps until one of them changes.
//
// An exploration leaves it there for good (Machine.Round): the run in which the unit goes on from
// here is the run without the round, and in that the unit reads what it would read now. What is
// left out with the round are reads, fences and accesses to what nobody else can reach, and
// without these there is less order, not more: every race of the other steps stays. A race with
// a read of the round shows in the run that ends here, or else with the same read of the round
// that is the last: it begins in the same state, and reads the same word first. Where a round
// reads several words, or at several scopes, that need not be so; so one round stays in the run,
// and only the second one ends it.
type round struct {
	came   []came  // the states at these moments since the last effect, which is cleared
	saw    []input // since the first of them
	times  int     // how often it has come back
	parted bool    // of a warp: lanes have gone apart since the last of them
	ties   bool    // the order of its own steps may decide: it has strong accesses to its own memory
	asleep bool
	awaits []await // while it sleeps: what it has read in the round
}

// A came is a state, and how much the unit had read then.
type came struct {
	state uint64
	saw   int
}

// An input is a strong read of a word that others may write.
type input struct {
	await
	scope Scope
}

const (
	maxCame = 64
	maxSaw  = 1 << 12
)

// spoil forgets all: the unit has done something that others may notice, or that differs the next
// time.
func (r *round) spoil() {
	if r.came != nil || r.saw != nil || r.asleep {
		*r = round{parted: r.parted}
	}
}

func (r *round) clone() round {
	c := *r
	c.came, c.saw, c.awaits = slices.Clone(r.came), slices.Clone(r.saw), slices.Clone(r.awaits)
	return c
}

// wake lets a unit go on.
func (r *round) wake() { r.asleep, r.awaits = false, nil }

// reads records what a unit reads.
func (r *round) reads(in input) {
	switch {
	case len(r.came) == 0:
	case len(r.saw) > r.came[len(r.came)-1].saw && r.saw[len(r.saw)-1] == in:
	case len(r.saw) == maxSaw:
		r.spoil()
	default:
		r.saw = append(r.saw, in)
	}
}

// comes records a state, and puts the unit to sleep where it has come back to one.
func (r *round) comes(state uint64) {
	i := slices.IndexFunc(r.came, func(c came) bool { return c.state == state })
	if i < 0 {
		if len(r.came) == maxCame {
			r.spoil()
		}
		r.came = append(r.came, came{state, len(r.saw)})
		return
	}
	turn := r.saw[r.came[i].saw:]
	r.times++
	if oneWord(turn) || r.times > 1 {
		r.asleep = true
		for k := range turn {
			if a := turn[k].await; !slices.Contains(r.awaits, a) {
				r.awaits = append(r.awaits, a)
			}
		}
	}
	r.came, r.saw = append(r.came[:0], came{state, 0}), r.saw[:0]
}

// oneWord reports whether all reads are of one word, at one scope.
func oneWord(list []input) bool {
	for i := range list {
		a, b := &list[0], &list[i]
		if a.mem != b.mem || a.addr != b.addr || a.size != b.size || a.scope != b.scope {
			return false
		}
	}
	return true
}

// rounds are the program's instructions in loops that may be waits.
func (p *Program) rounds() map[int32]bool {
	p.waits.once.Do(func() { p.waits.at = p.flow.Rounds() })
	return p.waits.at
}

// liveAt lists the registers that are live before an instruction.
func (p *Program) liveAt(pc int32) []flow.Reg {
	if list, ok := p.waits.live.Load(pc); ok {
		return list.([]flow.Reg)
	}
	fn := p.code[pc].fn
	g, ok := p.waits.graphs.Load(fn)
	if !ok {
		g, _ = p.waits.graphs.LoadOrStore(fn, p.flow.Graph(fn))
	}
	list := g.(*flow.Graph).LiveAt(g.(*flow.Graph).At(pc))
	p.waits.live.Store(pc, list)
	return list
}

// single reports whether a CTA has one warp that has not exited, which is then the unit.
func (t *cta) single() bool {
	n := 0
	for _, w := range t.warps {
		if w.live != 0 {
			n++
		}
	}
	return n == 1
}

// acts notes, before a visible instruction of a warp, whether it ends the rounds of its units: what
// accesses do is noted by reaches.
func (m *Machine) acts(w *warp, in *instr) {
	t := m.ctas[w.cta]
	switch i := in.x.(type) {
	case *access:
		return
	case *fenceInfo:
		if i.fence == FenceMemory {
			return
		}
	case *barInfo:
		w.round.spoil()
		return
	}
	t.round.spoil()
	w.round.spoil()
}

// reaches notes an access of lanes in one region.
func (x *ctx) reaches(a *access, at where, changes bool) {
	if len(x.m.rounds) == 0 || at.mem == Local || a.space == spConst || a.space == spParam {
		return
	}
	t, w := x.c, x.w
	strong := a.sem != Weak
	if at.mem == SharedOf(t.index) {
		t.round.ties = t.round.ties || strong
		if changes || !strong {
			w.round.spoil()
			return
		}
	} else if changes || !strong || at.mem != Global {
		t.round.spoil()
		w.round.spoil()
		return
	}
	for l := range lanesOf(at.mask) {
		for o := int32(0); o < a.size; o += 8 {
			n := min(a.size-o, 8)
			in := input{await{pc: x.s.pc, mem: at.mem, addr: x.m.addr[l] + uint64(o), size: n, val: x.saw(a, at, l, o)}, a.scope}
			if at.mem == Global {
				t.round.reads(in)
			}
			w.round.reads(in)
		}
	}
}

// roundsOff looks, after a step of a warp, whether the warp or its CTA has come to a moment at which it
// may have gone round.
func (m *Machine) roundsOff(w *warp) {
	t := m.ctas[w.cta]
	if t == nil || m.stop != nil {
		return
	}
	if t.completed {
		t.completed = false
		if m.met(t) && m.lone(t) {
			t.round.comes(m.unitState(t, t.warps))
		}
	}
	s := w.leads()
	if !w.round.parted || s == nil {
		return
	}
	w.round.parted = false
	switch {
	case !m.rounds[s.pc] || !m.lone(t):
	case t.single():
		t.round.comes(m.unitState(t, t.warps))
	default:
		w.round.comes(m.unitState(nil, t.warps[w.index:w.index+1]))
	}
}

// leads returns the split for which all other lanes of the warp wait, at a collective that they
// perform together; nil if others may go on, too.
func (w *warp) leads() (one *split) {
	for _, s := range w.splits {
		switch {
		case s.state == collect:
		case s.state != atPoint || one != nil:
			return nil
		default:
			one = s
		}
	}
	return one
}

// met reports whether all warps of a CTA wait at a barrier that is complete.
func (m *Machine) met(t *cta) bool {
	some := false
	for _, w := range t.warps {
		for _, s := range w.splits {
			if s.state != waiting || s.wait.kind != waitBar || !m.rounds[s.pc] || t.bars[s.wait.bar].gen != s.wait.gen+1 {
				return false
			}
			some = true
		}
	}
	return some
}

// lone reports whether no other CTA can reach a CTA's shared memory, and nothing asynchronous will.
func (m *Machine) lone(t *cta) bool {
	return t.g.size(t.first) == 1 && t.tensor == nil && !slices.ContainsFunc(m.ops, func(op *Op) bool { return op.CTA == t.index })
}

// unitState hashes what the future of some warps depends on, except memory that others can reach:
// with the CTA's own if t is not nil.
func (m *Machine) unitState(t *cta, warps []*warp) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	if t != nil {
		t.shared.hash(&h)
		for i := range t.bars {
			b := &t.bars[i]
			maphash.WriteComparable(&h, [4]uint32{b.count, b.arrived, b.ones, b.lanes})
			maphash.WriteComparable(&h, [2]bool{b.sync, b.counted})
		}
		for i := range t.mbars {
			if b := &t.mbars[i]; b.live {
				maphash.WriteComparable(&h, [2]uint64{b.addr, uint64(b.word)})
			}
		}
		maphash.WriteComparable(&h, t.pool)
	}
	for _, w := range warps {
		maphash.WriteComparable(&h, [4]uint32{w.live, w.carrived, w.regs, uint32(len(w.splits))})
		if w.lsize > 0 {
			w.local.hash(&h)
		}
		list := slices.Clone(w.splits)
		slices.SortFunc(list, func(a, b *split) int { return lowest(a.mask) - lowest(b.mask) })
		for _, s := range list {
			m.splitState(&h, w, s)
		}
	}
	return h.Sum64()
}

// splitState hashes a split, and those of its registers that may be read before they are written.
func (m *Machine) splitState(h *maphash.Hash, w *warp, s *split) {
	maphash.WriteComparable(h, [5]uint32{uint32(s.pc), s.mask, uint32(s.state), s.lbase, s.room})
	maphash.WriteComparable(h, [3]uint32{uint32(s.wait.bar), s.wait.ones, s.wait.lanes})
	maphash.WriteComparable(h, s.wait.byExit)
	if len(s.frames) > 0 {
		for _, f := range s.frames {
			maphash.WriteComparable(h, f)
		}
		for i := range w.r32 {
			hashRow(h, &w.r32[i], s.mask)
		}
		for i := range w.r64 {
			hashRow(h, &w.r64[i], s.mask)
		}
		for _, p := range w.p {
			maphash.WriteComparable(h, p&s.mask)
		}
		return
	}
	pc, result := s.pc, flow.NoReg
	if s.state == waiting {
		in := &m.prog.code[pc]
		if bi := in.x.(*barInfo); bi.mode == BarRed {
			result = flow.RegOf(in.fn, flow.Word, int32(in.d))
			if bi.dpred {
				result = flow.RegOf(in.fn, flow.Predicate, int32(in.d))
			}
		}
		pc++
	}
	for _, r := range m.prog.liveAt(pc) {
		if r == result {
			continue
		}
		switch row := r.Row(); r.Class() {
		case flow.Word:
			hashRow(h, &w.r32[s.base32+row], s.mask)
		case flow.Wide:
			hashRow(h, &w.r64[s.base64+row], s.mask)
		case flow.Predicate:
			maphash.WriteComparable(h, w.p[s.basep+row]&s.mask)
		}
	}
}

func hashRow[T uint32 | uint64](h *maphash.Hash, row *[32]T, mask uint32) {
	if mask == ^uint32(0) {
		maphash.WriteComparable(h, *row)
		return
	}
	for l := range lanesOf(mask) {
		maphash.WriteComparable(h, row[l])
	}
}

// dozes reports whether a unit goes round for as long as what it has read stays the same, as it
// has. Where the order of its own steps may decide, it might leave its loop the next time.
func (m *Machine) dozes(r *round) bool {
	return r.asleep && !r.ties && !slices.ContainsFunc(r.awaits, func(a await) bool { return m.changed(&a) })
}

// rests is dozes of the units of a warp.
func (m *Machine) rests(w *warp) bool {
	return m.dozes(&w.round) || m.dozes(&m.ctas[w.cta].round)
}

// restsFor returns what a warp that rests has read.
func (m *Machine) restsFor(w *warp) []await {
	if m.dozes(&w.round) {
		return w.round.awaits
	}
	return m.ctas[w.cta].round.awaits
}

// Round reports whether the split that takes a choice belongs to a unit that has gone round.
func (m *Machine) Round(c Choice) bool {
	if len(m.rounds) == 0 || c.Kind != Run && c.Kind != Alone && c.Kind != Pick && c.Kind != GiveUp {
		return false
	}
	t := m.ctas[c.CTA]
	return t.round.asleep || t.warps[c.Warp].round.asleep
}
