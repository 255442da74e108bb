package machine

import (
	"math/bits"

	"muster/internal/num"
	"muster/ptx"
)

// Collectives of a warp: instructions with a member mask. A split that stands
// before one waits until every lane of the mask that has not exited stands
// before the same instruction, or a copy of it elsewhere in the program; then
// all of them perform it together. They synchronize control only, except bar.warp.sync,
// which also orders memory. What lanes outside its mask do, the ISA leaves undefined
// (EvOutside); like an H200, the machine lets them take part if their split has a member,
// else pass alone. Only members are ordered.

// A collective is a decoded collective instruction: members is the row of the
// mask; put hands in one split's operands, get takes its results out.
type collective struct {
	name    string
	members reg
	put     func(x *ctx, in *instr, b *exchange)
	get     func(x *ctx, in *instr, b *exchange)
	sync    bool // bar.warp.sync
}

// An exchange holds the values that the lanes of a collective exchange: those in
// mask perform it, members is its member mask.
type exchange struct {
	mask, members uint32
	v             [32]uint64
	p             uint32
	// In a run that tracks undefined values: the lanes whose value is partly undefined,
	// its undefined bits, and the source lane of each lane, -1 for none.
	shaded  uint32
	shades  [32]shade
	sources [32]int8
	drawn   map[int]drawn // by lane: numbers with which the value moves
}

func (d *decoder) collective(in *ptx.Inst, i instr, c *collective, members ptx.Operand) error {
	r, err := d.src(members, b32)
	if err != nil {
		return err
	}
	c.name, c.members = Name(in), r
	d.prog.tells = d.prog.tells || c.put != nil
	i.class, i.x = collects, c
	d.emit(i)
	return nil
}

// gather handles a split that reached a collective. It reports whether the
// split runs on.
func (m *Machine) gather(w *warp, s *split, in *instr) bool {
	c, ok := in.x.(*collective)
	if !ok {
		return m.gatherAligned(w, s, in)
	}
	x := m.enter(w, s)
	row := x.a32(c.members)
	members := row[lowest(s.mask)]
	same := uint32(0)
	for l := range lanesOf(s.mask) {
		if row[l] == members {
			same |= 1 << l
		}
	}
	if same != s.mask {
		// Lanes with another mask make a collective of their own: a tile each.
		w.divide(s, s.mask&^same)
	}
	need := members & w.live
	if out := s.mask &^ members; out != 0 {
		m.emit(Event{Kind: EvOutside, CTA: w.cta, Warp: w.index, Mask: out, PC: s.pc, Members: members})
	}
	alone := s.mask&members == 0
	if alone {
		need = 0
	}
	s.state = collect
	takesPart := func(o *split) bool { return o == s || !alone && m.sameCollective(w, o, c, members) }
	there, splits := uint32(0), uint32(0)
	for _, o := range w.splits {
		if takesPart(o) {
			there |= o.mask
			splits++
		}
	}
	if there&need != need {
		return false
	}
	b := exchange{mask: there, members: members}
	for _, o := range w.splits {
		if takesPart(o) && c.put != nil {
			oin := &m.prog.code[o.pc]
			ox := m.enter(w, o)
			if oin.touch != nil {
				ox.touch(oin, o.mask)
			}
			oin.x.(*collective).put(ox, oin, &b)
			if u := m.undefined(); u != nil {
				u.putOperands(ox, &b)
			}
		}
	}
	if ordered := there & members; ordered != 0 {
		if m.cfg.collectives && !c.sync {
			m.emit(Event{Kind: EvCollective, CTA: w.cta, Warp: w.index, Mask: ordered, PC: s.pc, Tells: c.put != nil})
		}
		if c.sync {
			m.emit(Event{Kind: EvWarpSync, CTA: w.cta, Warp: w.index, Mask: ordered, PC: s.pc, Count: splits})
		}
	}
	for _, o := range w.splits {
		if !takesPart(o) {
			continue
		}
		oin := &m.prog.code[o.pc]
		if g := oin.x.(*collective).get; g != nil {
			g(m.enter(w, o), oin, &b)
			if u := m.undefined(); u != nil {
				u.getResults(&m.x, oin, &b)
			}
		}
		o.pc++
		o.state = running
		if c.sync {
			o.met()
		}
	}
	m.enter(w, s)
	return len(w.splits) == 1
}

// sameCollective reports whether split o waits before collective c with the
// same members.
func (m *Machine) sameCollective(w *warp, o *split, c *collective, members uint32) bool {
	if o.state != collect {
		return false
	}
	oc := m.prog.code[o.pc].x.(*collective)
	if oc.name != c.name {
		return false
	}
	if oc.members < 0 {
		return m.prog.k32[^oc.members][0] == members
	}
	return w.r32[o.base32+int32(oc.members)][lowest(o.mask)] == members
}

func (d *decoder) warpSync(in *ptx.Inst) error {
	if !d.has("sync") {
		return errNotModelled
	}
	if len(in.Operands) != 1 {
		return d.errorf("bar.warp.sync takes a member mask")
	}
	return d.collective(in, instr{}, &collective{sync: true}, in.Operands[0])
}

func put32(x *ctx, in *instr, b *exchange) {
	row := x.a32(in.a)
	for l := range lanesOf(x.s.mask) {
		b.v[l] = uint64(row[l])
	}
}

func put64(x *ctx, in *instr, b *exchange) {
	row := x.a64(in.a)
	for l := range lanesOf(x.s.mask) {
		b.v[l] = row[l]
	}
}

func putPred(x *ctx, in *instr, b *exchange) {
	b.p |= x.p[in.a] & x.s.mask
}

// --- shfl ---

type shflMode uint8

const (
	shflUp shflMode = iota
	shflDown
	shflBfly
	shflIdx
)

// decodeShfl decodes shfl.sync.mode.b32 d[|p], a, b, c, membermask, and the
// form without .sync of old targets.
func decodeShfl(d *decoder, in *ptx.Inst) error {
	sync := d.has("sync")
	want := 4
	if sync {
		want = 5
	}
	if len(in.Operands) != want {
		return d.errorf("%s takes %d operands", Name(in), want)
	}
	i := instr{}
	for n, m := range map[string]shflMode{"up": shflUp, "down": shflDown, "bfly": shflBfly, "idx": shflIdx} {
		if d.has(n) {
			i.op = uint8(m)
		}
	}
	var err error
	dst, p := in.Operands[0], ptx.Operand(nil)
	if pr, ok := dst.(*ptx.Pair); ok {
		dst, p = pr.A, pr.B
	}
	if i.d, err = d.dst(dst, b32); err != nil {
		return err
	}
	i.target = -1
	if p != nil {
		r, err := d.dst(p, pred)
		if err != nil {
			return err
		}
		i.target = int32(r)
	}
	rs, err := d.srcs(in, 1, b32, b32, b32)
	if err != nil {
		return err
	}
	i.a, i.b, i.c = rs[0], rs[1], rs[2]
	members := ptx.Operand(ptx.Int{Bits: 0xffffffff})
	if sync {
		members = in.Operands[4]
	}
	return d.collective(in, i, &collective{put: put32, get: getShfl}, members)
}

// getShfl computes the source lane as the ISA's pseudo-code does (9.7.9.6).
func getShfl(x *ctx, in *instr, b *exchange) {
	d, bs, cs := x.w32(in.d), x.a32(in.b), x.a32(in.c)
	own := *x.a32(in.a)
	out := uint32(0)
	known := b.mask & b.members
	undefined, sources := uint32(0), uint32(0)
	for l := range lanesOf(x.s.mask) {
		bval, clamp, seg := int(bs[l]&0x1f), int(cs[l]&0x1f), int(cs[l]>>8&0x1f)
		maxLane := l&seg | clamp&^seg
		minLane := l & seg
		j, ok := 0, false
		switch shflMode(in.op) {
		case shflUp:
			j = l - bval
			ok = j >= maxLane
		case shflDown:
			j = l + bval
			ok = j <= maxLane
		case shflBfly:
			j = l ^ bval
			ok = j <= maxLane
		default:
			j = minLane | bval&^seg
			ok = j <= maxLane
		}
		v := own[l]
		if ok {
			out |= 1 << l
			// A source lane that takes no part gives an undefined value: here the
			// reader's own, or a poison that shows where it goes.
			switch p := x.m.cfg.Poison; {
			case b.mask>>j&1 != 0:
				v = uint32(b.v[j])
			case p.takes(x.s.pc):
				v = uint32(p.word(uint64(x.s.pc)<<5 | uint64(l)))
			}
			if known>>j&1 == 0 {
				undefined |= 1 << l
				sources |= 1 << j
			}
		}
		switch b.sources[l] = int8(j); {
		case !ok:
			b.sources[l] = int8(l)
		case undefined>>l&1 != 0:
			b.sources[l] = -1
		}
		d[l] = v
	}
	if in.target >= 0 {
		x.p[in.target] = x.p[in.target]&^x.s.mask | out
	}
	if undefined != 0 {
		x.m.emit(Event{Kind: EvUndefined, CTA: x.w.cta, Warp: x.w.index, Mask: undefined, PC: x.s.pc, Members: b.members, Sources: sources})
	}
}

// --- vote, match, redux, elect ---

func decodeVote(d *decoder, in *ptx.Inst) error {
	sync := d.has("sync")
	want := 2
	if sync {
		want = 3
	}
	if len(in.Operands) != want {
		return d.errorf("%s takes %d operands", Name(in), want)
	}
	i := instr{}
	var err error
	t := pred
	get := getVote
	switch {
	case d.has("ballot"):
		t, get = b32, getBallot
	case d.has("all"):
		i.op = 0
	case d.has("any"):
		i.op = 1
	case d.has("uni"):
		i.op = 2
	default:
		return errNotModelled
	}
	if i.d, err = d.dst(in.Operands[0], t); err != nil {
		return err
	}
	if i.a, err = d.predSrc(in.Operands[1]); err != nil {
		return err
	}
	members := ptx.Operand(ptx.Int{Bits: 0xffffffff})
	if sync {
		members = in.Operands[2]
	}
	return d.collective(in, i, &collective{put: putPred, get: get}, members)
}

func getVote(x *ctx, in *instr, b *exchange) {
	ok := false
	switch in.op {
	case 0:
		ok = b.p == b.mask
	case 1:
		ok = b.p != 0
	default:
		ok = b.p == b.mask || b.p == 0
	}
	x.p[in.d] &^= x.s.mask
	if ok {
		x.p[in.d] |= x.s.mask
	}
}

func getBallot(x *ctx, in *instr, b *exchange) { x.fill32(in.d, x.s.mask, b.p) }

func decodeMatch(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 3 {
		return d.errorf("%s takes three operands", Name(in))
	}
	t := d.lastType()
	if d.has("sync") && (t != b32 && t != b64) {
		return d.errorf("match.sync needs .b32 or .b64")
	}
	i := instr{t: t, target: -1}
	var err error
	dst, p := in.Operands[0], ptx.Operand(nil)
	if pr, ok := dst.(*ptx.Pair); ok {
		dst, p = pr.A, pr.B
	}
	if i.d, err = d.dst(dst, b32); err != nil {
		return err
	}
	if p != nil {
		r, err := d.dst(p, pred)
		if err != nil {
			return err
		}
		i.target = int32(r)
	}
	if i.a, err = d.src(in.Operands[1], t); err != nil {
		return err
	}
	put := put32
	if t == b64 {
		put = put64
	}
	i.op = boolOp(d.has("all"))
	if i.op == 0 && !d.has("any") {
		return errNotModelled
	}
	return d.collective(in, i, &collective{put: put, get: getMatch}, in.Operands[2])
}

func getMatch(x *ctx, in *instr, b *exchange) {
	d := x.w32(in.d)
	first := b.v[lowest(b.mask)]
	all := true
	for l := range lanesOf(b.mask) {
		all = all && b.v[l] == first
	}
	for l := range lanesOf(x.s.mask) {
		if in.op == 1 {
			d[l] = 0
			if all {
				d[l] = b.mask
			}
			continue
		}
		same := uint32(0)
		for j := range lanesOf(b.mask) {
			if b.v[j] == b.v[l] {
				same |= 1 << j
			}
		}
		d[l] = same
	}
	if in.target >= 0 {
		x.p[in.target] &^= x.s.mask
		if all {
			x.p[in.target] |= x.s.mask
		}
	}
}

func decodeRedux(d *decoder, in *ptx.Inst) error {
	if !d.has("sync") {
		return errNotModelled
	}
	if len(in.Operands) != 3 {
		return d.errorf("%s takes three operands", Name(in))
	}
	t := d.lastType()
	if t != u32 && t != s32 && t != b32 && t != f32 {
		return errNotModelled
	}
	i := instr{t: t}
	var err error
	if i.d, err = d.dst(in.Operands[0], t); err != nil {
		return err
	}
	if i.a, err = d.src(in.Operands[1], t); err != nil {
		return err
	}
	op := atomNone
	for _, m := range in.Mods {
		if o := ptx.LookupUpdate(m); o != atomNone {
			op = o
			d.read(m)
		}
	}
	if op == atomNone {
		return errNotModelled
	}
	i.op = uint8(op)
	get := getRedux
	if t == f32 {
		get = d.reduxF32(op == atomMax)
	}
	return d.collective(in, i, &collective{put: put32, get: get}, in.Operands[2])
}

// reduxF32 makes redux.sync.min and .max{.abs}{.NaN}.f32. In no order do they differ; the
// first value meets itself, so that of a single lane a NaN is canonical, too.
func (d *decoder) reduxF32(max bool) func(*ctx, *instr, *exchange) {
	abs, m := d.has("abs"), num.Mod(0)
	if d.has("NaN") {
		m = num.NaN
	}
	return func(x *ctx, in *instr, b *exchange) {
		acc := uint32(b.v[lowest(b.mask)])
		for l := range lanesOf(b.mask) {
			acc = num.ReduxF32(m, abs, max, acc, uint32(b.v[l]))
		}
		x.fill32(in.d, x.s.mask, acc)
	}
}

func getRedux(x *ctx, in *instr, b *exchange) {
	first := lowest(b.mask)
	acc := b.v[first]
	for l := range lanesOf(b.mask &^ (1 << first)) {
		acc = combine(atomOp(in.op), in.t, Global, acc, b.v[l])
	}
	x.fill32(in.d, x.s.mask, uint32(acc))
}

// LeadHighest has elect.sync elect the highest lane of its mask. Without it the lowest
// lane leads, as on an H200. The ISA says only that the leader is the same for the same
// mask every time (9.7.13.14).
func (m *Machine) LeadHighest() { m.cfg.highest = true }

// leader returns the lane of a mask that elect.sync elects.
func (m *Machine) leader(mask uint32) int {
	if m.cfg.highest {
		return bits.Len32(mask) - 1
	}
	return lowest(mask)
}

// decodeElect decodes elect.sync d|p, membermask.
func decodeElect(d *decoder, in *ptx.Inst) error {
	if !d.has("sync") {
		return errNotModelled
	}
	if len(in.Operands) != 2 {
		return d.errorf("elect.sync takes d|p and a member mask")
	}
	pr, ok := in.Operands[0].(*ptx.Pair)
	if !ok {
		return d.errorf("elect.sync takes d|p")
	}
	i := instr{}
	var err error
	if i.d, err = d.dst(pr.A, b32); err != nil {
		return err
	}
	p, err := d.dst(pr.B, pred)
	if err != nil {
		return err
	}
	i.target = int32(p)
	return d.collective(in, i, &collective{get: getElect}, in.Operands[1])
}

func getElect(x *ctx, in *instr, b *exchange) {
	leader := x.m.leader(b.mask)
	x.fill32(in.d, x.s.mask, uint32(leader))
	x.p[in.target] = x.p[in.target]&^x.s.mask | 1<<leader&x.s.mask
}
