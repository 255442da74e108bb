package machine

// What becomes of undefined values: a run in which every register knows which lanes of
// it hold one. It is followed exactly along the way that the run takes, lane by lane,
// as long as it stays in registers; where it goes anywhere else, it may matter. A
// selection passes on what it chose. A machine that does not follow them runs as ever.

// An Undefined follows the undefined values of one run: those that shfl takes from
// lanes that take no part.
type Undefined struct {
	prog  *Program
	uses  []*use // by program counter
	lanes map[undefinedReg]uint32
	// pc is the shfl whose values are followed; -1: those of all.
	pc int32
	// what a value that left the registers went into; "" if none did. decides: it
	// decided what others could notice.
	what    string
	decides bool
}

// An undefinedReg is a register of a warp: its class and row.
type undefinedReg struct {
	cta, warp int32
	class     regID
	row       int32
}

// FollowUndefined has the run of m, which has not begun, follow the undefined values
// that the shfl at pc takes; -1: that any takes.
func (m *Machine) FollowUndefined(pc int32) *Undefined {
	u := &Undefined{pc: pc, prog: m.prog, uses: make([]*use, len(m.prog.code)), lanes: map[undefinedReg]uint32{}}
	for i := range m.prog.uses {
		u.uses[m.prog.uses[i].pc] = &m.prog.uses[i]
	}
	f := NewFollower(m)
	f.undefined = u
	m.Follow(f)
	return u
}

// Reaches says what undefined values went into, other than registers: "a branch", "an
// address", "memory" and so on; empty if nothing. They decide, whatever they are,
// where it is an address, or what else a visible instruction does. A branch may have
// two sides that come to the same, and memory may be read by nobody.
func (u *Undefined) Reaches() (what string, decides bool) { return u.what, u.decides }

// undefined returns what follows undefined values, or nil.
func (m *Machine) undefined() *Undefined {
	if m.cfg.follower == nil {
		return nil
	}
	return m.cfg.follower.undefined
}

func (u *Undefined) reg(x *ctx, id regID) undefinedReg {
	r := undefinedReg{cta: x.w.cta, warp: x.w.index, class: id >> 32 & 3, row: int32(uint32(id))}
	switch r.class {
	case 0:
		r.row += x.s.base32
	case 1:
		r.row += x.s.base64
	case 2:
		r.row += x.s.basep
	}
	return r
}

// of returns the lanes of a mask in which one of some registers is undefined.
func (u *Undefined) of(x *ctx, mask uint32, regs ...regID) (lanes uint32) {
	for _, r := range regs {
		lanes |= u.lanes[u.reg(x, r)]
	}
	return lanes & mask
}

// set makes registers undefined in some lanes, and defined in the others of mask.
func (u *Undefined) set(x *ctx, regs []regID, mask, lanes uint32) {
	for _, id := range regs {
		r := u.reg(x, id)
		if now := u.lanes[r]&^mask | lanes; now != 0 {
			u.lanes[r] = now
		} else {
			delete(u.lanes, r)
		}
	}
}

func (u *Undefined) goesInto(lanes uint32, what string) {
	if lanes != 0 && u.what == "" {
		u.what = what
	}
}

// settles is goesInto, for what decides.
func (u *Undefined) settles(lanes uint32, what string) {
	if lanes != 0 && !u.decides {
		u.what, u.decides = what, true
	}
}

// taken returns those lanes to which a shfl gave an undefined value that is followed.
func (u *Undefined) taken(pc int32, lanes uint32) uint32 {
	if u.pc >= 0 && u.pc != pc {
		return 0
	}
	return lanes
}

// arrive takes an instruction that a split is about to execute, or to wait before.
func (u *Undefined) arrive(x *ctx, in *instr) {
	n := u.uses[x.s.pc]
	if len(u.lanes) == 0 {
		return
	}
	if in.class == branch && (n == nil || n.in.Op == "ret") {
		u.goesInto(u.of(x, x.s.mask, u.prog.results(in.fn)...), "a function's result")
	}
	if n == nil {
		return
	}
	mask, guard := x.active(in), uint32(0)
	if n.guard != noReg {
		guard = u.of(x, x.s.mask, n.guard)
	}
	u.settles(u.of(x, mask, n.addr...), "an address")
	reads := u.of(x, mask, n.reads...)
	c, exchanges := in.x.(*collective)
	switch {
	case in.class == branch:
		u.goesInto(guard|reads, "a branch")
	case in.class == visible:
		u.settles(guard, "whether "+n.in.Op+" is executed")
		switch {
		case writesMemory(n.in):
			u.goesInto(reads, "memory")
		case n.in.Op == "wgmma":
			u.goesInto(reads, "a matrix")
		default:
			u.settles(reads, "an operand of "+n.in.Op)
		}
		u.set(x, n.writes, mask, 0)
	case exchanges: // the rest when it is performed
		if c.members >= 0 {
			u.settles(u.of(x, mask, regID(c.members)), "a member mask")
		}
		u.settles(guard, "whether "+n.in.Op+" is executed")
	case in.class == collects: // of the whole warp
		u.settles(guard, "whether "+n.in.Op+" is executed")
		if reads != 0 {
			reads = mask
		}
		u.set(x, n.writes, mask, reads)
	default:
		if writesMemory(n.in) {
			u.goesInto(guard|reads, "memory")
		}
		if n.in.Op == "selp" {
			reads = u.chosen(x, in, n, mask)
		}
		u.set(x, n.writes, mask|guard, reads|guard)
	}
}

// put takes one split's operands of a collective, and returns the lanes whose value
// is undefined.
func (u *Undefined) put(x *ctx, in *instr) uint32 {
	n := u.uses[x.s.pc]
	if n.in.Op == "shfl" {
		if in.a < 0 {
			return 0
		}
		return u.of(x, x.s.mask, regID(in.a))
	}
	return u.of(x, x.s.mask, n.reads...)
}

// get takes one split's results of a collective: lanes are those whose result is
// undefined.
func (u *Undefined) get(x *ctx, in *instr, lanes uint32) {
	n := u.uses[x.s.pc]
	if n.in.Op == "shfl" {
		for _, r := range []reg{in.b, in.c} {
			if r >= 0 {
				lanes |= u.of(x, x.s.mask, regID(r))
			}
		}
	}
	u.set(x, n.writes, x.s.mask, lanes)
}

// chosen returns the lanes in which what a selp chooses is undefined.
func (u *Undefined) chosen(x *ctx, in *instr, n *use, mask uint32) uint32 {
	p, rest := x.p[in.c], n.reads
	lanes := u.of(x, mask, rest[len(rest)-1])
	if in.a >= 0 {
		lanes |= u.of(x, mask&p, rest[0])
		rest = rest[1:]
	}
	if in.b >= 0 {
		lanes |= u.of(x, mask&^p, rest[0])
	}
	return lanes
}
