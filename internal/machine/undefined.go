package machine

import (
	"math/bits"
	"slices"

	"muster/internal/flow"
	"muster/ptx"
)

// Tracking undefined values: a run knows of every bit of registers and memory whether it
// is defined. Unwritten bits are undefined, and instructions propagate undefined bits
// from operands to results (transfer.go). An undefined value is harmless if it is
// discarded, and an error if it decides something: a branch, an address, an operand of
// synchronization, or the contents of global memory at the end. A machine that does not
// track them pays nothing.

// A shade says which bits of a value are undefined, and their origins: from is a set of
// indices of Undefined.from, and of these flags.
type shade struct{ bits, from uint64 }

const (
	throughVague = 1 << 62 // it passed an instruction without a precise rule
	fromOthers   = 1 << 63 // some of its origins are beyond the mostOrigins told apart
	mostOrigins  = 62
)

// An UndefinedKind says why a value is not defined.
type UndefinedKind uint8

const (
	// UndefinedRegister: an unwritten register; UndefinedFrom.Register is its number.
	UndefinedRegister UndefinedKind = iota
	UndefinedLocal
	UndefinedShared
	UndefinedGlobal
	// UndefinedShuffle: a shfl takes it from a lane that takes no part.
	UndefinedShuffle
	// UndefinedResult: the ISA leaves the result of the instruction undefined.
	UndefinedResult
	// UnknownResult: the driver or the chip decides the result of the instruction.
	UnknownResult
)

// An UndefinedFrom is an instruction that reads, or makes, an undefined value.
type UndefinedFrom struct {
	Kind     UndefinedKind
	PC       int32
	Register int32 // numbers an entry of Program.Unset, from 1 on
}

// An UndefinedReach says what an undefined value decided first: "an output", "a branch",
// "an address" and so on, and at which instruction. Vague: on the way it passed an
// instruction without a precise rule for which results depend on which operands.
type UndefinedReach struct {
	From  UndefinedFrom
	What  string
	PC    int32
	Vague bool
}

// An Undefined tracks the undefined values of one run.
type Undefined struct {
	prog    *Program
	uses    []*flow.Use // by program counter
	regs    map[undefinedReg]*[32]shade
	from    []UndefinedFrom
	index   map[UndefinedFrom]int
	reached map[UndefinedFrom]UndefinedReach
	// others: a value with origins that are not told apart has decided something.
	others  bool
	pending []pendingBranch
	graphs  map[int32]*flow.Graph
	memory  bool // some memory holds undefined values that were written
}

// An undefinedReg is a register of a warp: its class and row.
type undefinedReg struct {
	cta, warp int32
	class     flow.Class
	row       int32
}

// A pendingBranch was decided by an undefined value, and both its sides only write
// registers: those are undefined where the sides join.
type pendingBranch struct {
	cta, warp int32
	depth     int
	join      int32 // instruction
	lanes     uint32
	regs      []flow.Reg
	from      uint64
}

// FollowUndefined makes the run of m, which has not begun, track undefined values.
func (m *Machine) FollowUndefined() *Undefined {
	u := &Undefined{prog: m.prog, uses: make([]*flow.Use, len(m.prog.code)), regs: map[undefinedReg]*[32]shade{},
		index: map[UndefinedFrom]int{}, reached: map[UndefinedFrom]UndefinedReach{}, graphs: map[int32]*flow.Graph{}}
	for n := range m.prog.flow.Uses() {
		u.uses[n.PC] = n
	}
	f := NewFollower(m)
	f.undefined = u
	m.Follow(f)
	return u
}

// Seen reports whether the run met an undefined value of that origin.
func (u *Undefined) Seen(f UndefinedFrom) bool { _, ok := u.index[f]; return ok }

// Reached lists what undefined values decided, by origin in the order in which they were
// met. Others: so did values of unknown origin.
func (u *Undefined) Reached(m *Machine) (list []UndefinedReach, others bool) {
	u.outputs(m)
	for _, f := range u.from {
		if r, ok := u.reached[f]; ok {
			list = append(list, r)
		}
	}
	return list, u.others
}

// undefined returns the tracker of undefined values, or nil.
func (m *Machine) undefined() *Undefined {
	if m.cfg.follower == nil {
		return nil
	}
	return m.cfg.follower.undefined
}

// origin returns the bit of an origin.
func (u *Undefined) origin(f UndefinedFrom) uint64 {
	n, ok := u.index[f]
	if !ok {
		if n = len(u.from); n >= mostOrigins {
			u.index[f] = -1
			return fromOthers
		}
		u.index[f] = n
		u.from = append(u.from, f)
	}
	if n < 0 {
		return fromOthers
	}
	return 1 << n
}

// decides records that values from some origins decide something.
func (u *Undefined) decides(from uint64, what string, pc int32) {
	if from == 0 {
		return
	}
	u.others = u.others || from&fromOthers != 0
	vague := from&throughVague != 0
	for k := from &^ (throughVague | fromOthers); k != 0; k &= k - 1 {
		f := u.from[bits.TrailingZeros64(k)]
		if old, ok := u.reached[f]; !ok || old.Vague && !vague {
			u.reached[f] = UndefinedReach{f, what, pc, vague}
		}
	}
}

// vague marks origins of a value that passed an instruction without a precise rule for
// which results depend on which operands.
func vague(from uint64) uint64 {
	if from != 0 {
		from |= throughVague
	}
	return from
}

// --- registers ---

func (u *Undefined) key(x *ctx, id flow.Reg) undefinedReg {
	r := undefinedReg{cta: x.w.cta, warp: x.w.index, class: id.Class(), row: id.Row()}
	switch r.class {
	case flow.Word:
		r.row += x.s.base32
	case flow.Wide:
		r.row += x.s.base64
	case flow.Predicate:
		r.row += x.s.basep
	}
	return r
}

func widthOf(class flow.Class) uint64 {
	switch class {
	case flow.Word:
		return 1<<32 - 1
	case flow.Wide:
		return ^uint64(0)
	}
	return 1
}

// at returns the shade of a register in a lane.
func (u *Undefined) at(x *ctx, id flow.Reg, l int) shade {
	if row := u.regs[u.key(x, id)]; row != nil {
		return row[l]
	}
	return shade{}
}

// lanes returns the lanes of mask in which one of some registers is not all defined, and
// where that comes from.
func (u *Undefined) lanes(x *ctx, mask uint32, regs []flow.Reg) (lanes uint32, from uint64) {
	for _, id := range regs {
		row := u.regs[u.key(x, id)]
		if row == nil {
			continue
		}
		for l := range lanesOf(mask) {
			if row[l].bits != 0 {
				lanes |= 1 << l
				from |= row[l].from
			}
		}
	}
	return lanes, from
}

// put gives a register a shade in a lane.
func (u *Undefined) put(k undefinedReg, l int, s shade) {
	s.bits &= widthOf(k.class)
	row := u.regs[k]
	switch {
	case s.bits == 0:
		if row != nil {
			row[l] = shade{}
		}
		return
	case row == nil:
		row = new([32]shade)
		u.regs[k] = row
	}
	row[l] = s
}

// clear makes registers defined in some lanes.
func (u *Undefined) clear(x *ctx, regs []flow.Reg, mask uint32) {
	if len(u.regs) == 0 {
		return
	}
	for _, id := range regs {
		u.clearRow(u.key(x, id), mask)
	}
}

func (u *Undefined) clearRow(k undefinedReg, mask uint32) {
	row := u.regs[k]
	if row == nil {
		return
	}
	some := false
	for l := range row {
		if mask>>l&1 != 0 {
			row[l] = shade{}
		}
		some = some || row[l].bits != 0
	}
	if !some {
		delete(u.regs, k)
	}
}

// all makes registers undefined in some lanes.
func (u *Undefined) all(x *ctx, regs []flow.Reg, mask uint32, from uint64) {
	if from == 0 {
		return
	}
	for _, id := range regs {
		k := u.key(x, id)
		for l := range lanesOf(mask) {
			u.put(k, l, shade{^uint64(0), from})
		}
	}
}

// unwritten makes a register undefined in the lanes that read it unwritten.
func (u *Undefined) unwritten(x *ctx, n int32, mask uint32) {
	saw := *x.unwrittenLanes(n) & mask
	if saw == 0 {
		return
	}
	r := &u.prog.unset[n]
	from := u.origin(UndefinedFrom{UndefinedRegister, x.s.pc, n + 1})
	class := flow.Class(r.bank)
	if r.carry {
		u.all(x, []flow.Reg{flow.RegOf(0, flow.Carry, 0)}, saw, from)
		return
	}
	for k := range r.rows {
		u.all(x, []flow.Reg{flow.RegOf(0, class, r.row+k)}, saw, from)
	}
}

// rowsOf lists registers with the second row of those of 128 bits.
func rowsOf(n *flow.Use, regs []flow.Reg) []flow.Reg {
	if !has(n.In, "b128") {
		return regs
	}
	var all []flow.Reg
	for _, r := range regs {
		if all = append(all, r); r.Class() == flow.Wide {
			all = append(all, r+1)
		}
	}
	return all
}

// --- the run ---

// arrive processes an instruction that a split is about to execute, or to wait before.
func (u *Undefined) arrive(x *ctx, in *instr) {
	if len(u.pending) > 0 {
		u.join(x)
	}
	n := u.uses[x.s.pc]
	if n == nil {
		return
	}
	mask := x.active(in)
	if in.unset != nil {
		if in.unset.guard >= 0 {
			u.unwritten(x, in.unset.guard, x.s.mask)
		}
		for _, r := range in.unset.reads {
			u.unwritten(x, r, mask)
		}
	}
	if len(u.regs) == 0 && in.gives == nothingElse {
		return
	}
	pc := x.s.pc
	guard, guarded := uint32(0), uint64(0)
	if n.Guard != flow.NoReg {
		guard, guarded = u.lanes(x, x.s.mask, []flow.Reg{n.Guard})
	}
	op := n.In.Op
	if _, from := u.lanes(x, mask, n.Addr); from != 0 {
		if n.Does(ptx.Calls) {
			u.decides(from, "a branch", pc)
		} else {
			u.decides(u.addressing(from), "an address", pc)
		}
	}
	c, exchanges := in.x.(*collective)
	switch {
	case in.class == branch:
		u.branches(x, in, n, mask, guard, guarded)
	case in.class == visible:
		u.decides(guarded, "whether "+op+" is executed", pc)
		u.operands(x, n, mask)
		u.clear(x, rowsOf(n, n.Writes), mask)
	case exchanges: // the rest when it is performed
		if c.members >= 0 {
			_, from := u.lanes(x, mask, []flow.Reg{flow.RegOf(0, flow.Word, int32(c.members))})
			u.decides(from, "a member mask", pc)
		}
		u.decides(guarded, "whether "+op+" is executed", pc)
	case in.class == collects: // a matrix, of the whole warp
		u.decides(guarded, "whether "+op+" is executed", pc)
		_, from := u.lanes(x, mask, n.Reads)
		if n.Accumulates() {
			_, more := u.lanes(x, mask, n.Writes)
			from |= more
		}
		if from != 0 && u.multiplies32(x, in, n) {
			return
		}
		u.clear(x, n.Writes, mask)
		u.all(x, n.Writes, mask, vague(from))
	case n.Does(ptx.Reads | ptx.Writes):
		u.decides(guarded, "whether "+op+" is executed", pc)
		u.clear(x, rowsOf(n, n.Writes), mask)
	default:
		if len(n.Writes) == 0 {
			u.decides(guarded, "whether "+op+" is executed", pc)
			if !n.Does(ptx.Hints) {
				_, from := u.lanes(x, mask, u.hint(x, n, mask))
				if n.Does(ptx.RestoresStack) {
					from = u.without(from, ptx.SavesStack)
				}
				u.decides(from, "an operand of "+op, pc)
			}
			return
		}
		alike, same := u.alike(x, n, guard)
		u.transfer(x, in, n, mask)
		if alike {
			guard &^= same
		}
		if guard != 0 {
			u.all(x, rowsOf(n, n.Writes), guard, guarded)
		}
	}
}

// alike returns the lanes in which a mov gives a register what it holds.
func (u *Undefined) alike(x *ctx, n *flow.Use, lanes uint32) (ok bool, same uint32) {
	if lanes == 0 || !n.Does(ptx.Moves) || len(n.Writes) != 1 || len(n.Args) != 1 || n.Writes[0].Class() > flow.Wide || has(n.In, "b128") {
		return false, 0
	}
	row := uint32(n.Writes[0])
	for l := range lanesOf(lanes) {
		b := u.operand(x, n, 0, l)
		old := uint64(0)
		if n.Writes[0].Class() == flow.Wide {
			old = x.r64[row][l]
		} else {
			old = uint64(x.r32[row][l])
		}
		if b.known && b.bits == 0 && u.at(x, n.Writes[0], l).bits == 0 && (b.v^old)&maskOf(lastType(n.In)) == 0 {
			same |= 1 << l
		}
	}
	return true, same
}

// addressing leaves out origins of values whose purpose is to be part of addresses.
func (u *Undefined) addressing(from uint64) uint64 {
	for k := from &^ (throughVague | fromOthers); k != 0; k &= k - 1 {
		if n := bits.TrailingZeros64(k); u.from[n].Kind == UnknownResult && u.prog.code[u.from[n].PC].gives == unknownAddress {
			from &^= 1 << n
		}
	}
	if from == throughVague {
		return 0
	}
	return from
}

// operands takes the operands of a visible instruction that are no addresses.
func (u *Undefined) operands(x *ctx, n *flow.Use, mask uint32) {
	reads := u.hint(x, n, mask)
	switch {
	case n.In.Form.Barrier == "try": // it may be given a time, which is a hint
		if k := len(n.In.Operands); k == 4 && len(reads) > 0 {
			if _, register := n.In.Operands[3].(ptx.Name); register {
				reads = reads[:len(reads)-1]
			}
		}
	case n.Does(ptx.Reads | ptx.Writes):
		return // data, when it is performed
	case n.Does(ptx.Warpgroup):
		reads = reads[min(n.Fragments(), len(reads)):]
	}
	_, from := u.lanes(x, mask, reads)
	u.decides(from, "an operand of "+n.In.Op, x.s.pc)
}

// hint processes the cache policy of an instruction that has one, and returns the other
// registers that it reads.
func (u *Undefined) hint(x *ctx, n *flow.Use, mask uint32) []flow.Reg {
	k := len(n.Reads)
	if k == 0 || !has(n.In, "L2::cache_hint") {
		return n.Reads
	}
	_, from := u.lanes(x, mask, n.Reads[k-1:])
	u.decides(u.without(from, ptx.GivesPolicy), "a cache policy", x.s.pc)
	return n.Reads[:k-1]
}

// without leaves out the results of instructions with an effect, which make values for
// one purpose only.
func (u *Undefined) without(from uint64, by ptx.Effect) uint64 {
	for k := from &^ (throughVague | fromOthers); k != 0; k &= k - 1 {
		if n := bits.TrailingZeros64(k); u.from[n].Kind == UnknownResult && u.uses[u.from[n].PC].Does(by) {
			from &^= 1 << n
		}
	}
	if from == throughVague {
		return 0
	}
	return from
}

// branches takes a branch, a call or a return.
func (u *Undefined) branches(x *ctx, in *instr, n *flow.Use, mask, guard uint32, guarded uint64) {
	pc := x.s.pc
	switch {
	case n.Does(ptx.Calls):
		u.decides(guarded, "a branch", pc)
		if ci := in.x.(*callInfo); ci.fn >= 0 && u.prog.funcs[ci.fn].builtin != nil {
			_, from := u.lanes(x, mask, n.Reads)
			u.decides(from, "an output", pc)
			u.clear(x, n.Writes, mask)
		}
	case n.Does(ptx.Branches):
		if guard != 0 && !u.eitherWay(x, n, guard, guarded) {
			u.decides(guarded, "a branch", pc)
		}
	default:
		_, from := u.lanes(x, mask, n.Reads)
		u.decides(guarded|from, "a branch", pc)
	}
}

// eitherWay reports whether both sides of a branch do nothing but write registers, and
// meet: then those registers are undefined from there on.
func (u *Undefined) eitherWay(x *ctx, n *flow.Use, lanes uint32, from uint64) bool {
	fn := u.prog.code[n.PC].fn
	g := u.graphs[fn]
	if g == nil {
		g = u.prog.flow.Graph(fn)
		u.graphs[fn] = g
	}
	at := g.At(n.PC)
	join := g.Meeting(at)
	if join <= at || int(join) >= len(g.Nodes) {
		return false
	}
	var regs []flow.Reg
	for _, k := range g.Region(at, join) {
		b := &g.Nodes[k]
		branches := u.prog.code[b.PC].class == branch
		if branches && !b.Does(ptx.Branches) || !b.Plain && !branches || b.Does(ptx.Writes) || b.Plain && len(b.Writes) == 0 ||
			slices.ContainsFunc(g.Next[k], func(to int32) bool { return to <= k }) {
			return false
		}
		for _, r := range rowsOf(b, b.Writes) {
			if !slices.Contains(regs, r) && g.IsLive(join, r) {
				regs = append(regs, r)
			}
		}
	}
	if len(regs) > 0 {
		u.pending = append(u.pending, pendingBranch{x.w.cta, x.w.index, len(x.s.frames), g.Nodes[join].PC, lanes, regs, from})
	}
	return true
}

// join processes a split that may stand where the sides of a branch join.
func (u *Undefined) join(x *ctx) {
	for i := 0; i < len(u.pending); i++ {
		p := &u.pending[i]
		if p.join != x.s.pc || p.cta != x.w.cta || p.warp != x.w.index || p.depth != len(x.s.frames) {
			continue
		}
		u.all(x, p.regs, p.lanes&x.s.mask, p.from)
		if p.lanes &^= x.s.mask; p.lanes == 0 {
			u.pending = slices.Delete(u.pending, i, i+1)
			i--
		}
	}
}

// --- collectives ---

// putOperands records the shades of one split's operands of a collective.
func (u *Undefined) putOperands(x *ctx, b *exchange) {
	n := u.uses[x.s.pc]
	if len(n.Args) == 0 || len(u.regs) == 0 || n.Args[0] == flow.NoReg {
		return
	}
	for l := range lanesOf(x.s.mask) {
		if s := u.at(x, n.Args[0], l); s.bits != 0 {
			b.shades[l] = s
			b.shaded |= 1 << l
		}
	}
}

// getResults sets the shades of one split's results of a collective.
func (u *Undefined) getResults(x *ctx, in *instr, b *exchange) {
	n := u.uses[x.s.pc]
	if n.In.Op == "shfl" {
		u.getShuffle(x, in, n, b)
		return
	}
	u.clear(x, n.Writes, x.s.mask)
	if b.shaded == 0 || n.Does(ptx.Elects) {
		return
	}
	from := uint64(0)
	for l := range lanesOf(b.shaded) {
		from |= b.shades[l].from
	}
	all := ^uint64(0)
	if n.In.Op == "vote" {
		sure := b.mask &^ b.shaded
		switch ones, zeros := b.p&sure, sure&^b.p; {
		case has(n.In, "ballot"):
			all = uint64(b.shaded)
		case has(n.In, "any") && ones != 0, has(n.In, "all") && zeros != 0, has(n.In, "uni") && ones != 0 && zeros != 0:
			return
		}
	}
	for _, id := range n.Writes {
		k := u.key(x, id)
		for l := range lanesOf(x.s.mask) {
			u.put(k, l, shade{all, from})
		}
	}
}

func (u *Undefined) getShuffle(x *ctx, in *instr, n *flow.Use, b *exchange) {
	d := u.key(x, flow.Reg(uint32(in.d)))
	u.clear(x, n.Writes, x.s.mask)
	for l := range lanesOf(x.s.mask) {
		s := b.shades[b.sources[l]&31]
		if b.sources[l] < 0 {
			s = shade{^uint64(0), u.origin(UndefinedFrom{UndefinedShuffle, x.s.pc, 0})}
		}
		lost := uint64(0)
		for _, r := range []reg{in.b, in.c} {
			if r >= 0 {
				if c := u.at(x, flow.RegOf(0, flow.Word, int32(r)), l); c.bits != 0 {
					lost |= c.from
				}
			}
		}
		if lost != 0 {
			s = shade{^uint64(0), s.from | lost}
			if mode := shflMode(in.op); in.target >= 0 && !(in.c < 0 && x.a32(in.c)[l]&0x1f1f == 0x1f && (mode == shflIdx || mode == shflBfly)) {
				u.put(u.key(x, flow.RegOf(0, flow.Predicate, in.target)), l, shade{1, lost})
			}
		}
		u.put(d, l, s)
	}
}

// --- memory ---

// A pageShade has the bits of a page that are written but undefined, and for each word
// their origins and the PC of the writer.
type pageShade struct {
	bits [pageBytes]byte
	from [pageWords]uint64
	pc   [pageWords]int32
}

// clean makes bytes of a page defined.
func (p *page) clean(off, n uint64) {
	if p.shade != nil {
		clear(p.shade.bits[off:min(off+n, pageBytes)])
	}
}

// shaded returns the shade of a byte; missing returns the origin of an unwritten one.
func (r *region) shaded(off uint64, missing func() uint64) (s shade) {
	if !r.initialized(off, 1) {
		return shade{0xff, missing()}
	}
	p := r.pages[off/pageBytes]
	if p == nil || p.shade == nil || p.shade.bits[off%pageBytes] == 0 {
		return shade{}
	}
	return shade{uint64(p.shade.bits[off%pageBytes]), p.shade.from[off%pageBytes/4]}
}

// setShade gives a byte that was just written a shade.
func (u *Undefined) setShade(r *region, off uint64, s shade, pc int32, owner uint64) {
	if s.bits&0xff == 0 {
		return
	}
	u.memory = true
	p := r.write(off, owner)
	if p.shade == nil {
		p.shade = new(pageShade)
	}
	at := off % pageBytes
	word := at / 4
	if bytes := p.shade.bits[word*4:][:4]; bytes[0]|bytes[1]|bytes[2]|bytes[3] == 0 {
		p.shade.from[word] = 0
	}
	p.shade.bits[at] = byte(s.bits)
	p.shade.from[word] |= s.from
	p.shade.pc[word] = pc
}

// untouched reports whether bytes of a region are all written and defined.
func (u *Undefined) untouched(r *region, off, n uint64) bool {
	return !u.memory && r.initialized(off, n)
}

// missing returns the origin of unwritten bytes that the instruction at pc reads.
func (u *Undefined) missing(mem MemID, pc int32) func() uint64 {
	kind := UndefinedShared
	switch mem {
	case Global:
		kind = UndefinedGlobal
	case Local:
		kind = UndefinedLocal
	}
	return func() uint64 { return u.origin(UndefinedFrom{kind, pc, 0}) }
}

// bytes returns the shade of up to 8 bytes.
func (u *Undefined) bytes(r *region, off, n uint64, missing func() uint64) (s shade) {
	if u.untouched(r, off, n) {
		return s
	}
	for i := range n {
		b := r.shaded(off+i, missing)
		s.bits |= b.bits << (8 * i)
		s.from |= b.from
	}
	return s
}

// row is a data register of an access: its class is told by its width.
func (u *Undefined) row(x *ctx, r reg, wide bool) undefinedReg {
	class := flow.Word
	if wide {
		class = flow.Wide
	}
	return u.key(x, flow.RegOf(0, class, int32(r)))
}

// loaded sets the shades of what an access has loaded.
func (u *Undefined) loaded(x *ctx, a *access, at where) {
	missing := u.missing(at.mem, x.s.pc)
	for l := range lanesOf(at.mask) {
		for e := int32(0); e < a.n; e++ {
			if a.skip[e] {
				continue
			}
			off := x.m.addr[l] - at.r.base + uint64(e*a.elem)
			if a.t == b128 {
				k := u.row(x, a.regs[e], true)
				u.put(k, l, u.bytes(at.r, off, 8, missing))
				k.row++
				u.put(k, l, u.bytes(at.r, off+8, 8, missing))
				continue
			}
			s := u.bytes(at.r, off, uint64(a.elem), missing)
			if s.bits != 0 && a.sext {
				s.bits = extend(s.bits, uint(8*a.elem))
			}
			u.put(u.row(x, a.regs[e], a.wide[e]), l, s)
		}
	}
}

// extend copies bit w-1 to those above it.
func extend(v uint64, w uint) uint64 {
	if w >= 64 {
		return v
	}
	return uint64(int64(v<<(64-w)) >> (64 - w))
}

// stored sets the shades of what an access has stored.
func (u *Undefined) stored(x *ctx, a *access, at where) {
	if len(u.regs) == 0 {
		return
	}
	for l := range lanesOf(at.mask) {
		off := x.m.addr[l] - at.r.base
		for e := int32(0); e < a.n; e, off = e+1, off+uint64(a.elem) {
			if a.skip[e] || a.regs[e] < 0 {
				continue
			}
			u.store(x, at.r, off, u.value(x, a.regs[e], a.t, a.wide[e], l), uint64(a.elem))
		}
	}
}

// value returns the shade of a data register, of up to 16 bytes.
func (u *Undefined) value(x *ctx, r reg, t typ, wide bool, l int) (s [2]shade) {
	if r < 0 {
		return s
	}
	k := u.row(x, r, wide || t == b128)
	if row := u.regs[k]; row != nil {
		s[0] = row[l]
	}
	if t == b128 {
		k.row++
		if row := u.regs[k]; row != nil {
			s[1] = row[l]
		}
	}
	return s
}

func (u *Undefined) store(x *ctx, r *region, off uint64, s [2]shade, n uint64) {
	for i := range n {
		u.setShade(r, off+i, shade{s[i/8].bits >> (i % 8 * 8), s[i/8].from}, x.s.pc, x.m.owner)
	}
}

// updated sets the shade of an element after an atomic of one lane on it; was is the
// shade that the element had.
func (u *Undefined) updated(x *ctx, in *instr, a *access, r *region, off uint64, e int32, l int, was [2]shade, old, operand wideValue) {
	isWide := a.t.wide()
	b := u.value(x, a.regs[e], a.t, isWide, l)
	now := b
	if a.atom != atomExch {
		from := uint64(0)
		for _, s := range [...]shade{was[0], was[1], b[0], b[1]} {
			if s.bits != 0 {
				from |= s.from
			}
		}
		swapped := [2]shade{}
		if a.atom == atomCas {
			swapped = u.value(x, in.c, a.t, isWide, l)
			for _, s := range u.value(x, in.c, a.t, isWide, l) {
				if s.bits != 0 {
					from |= s.from
				}
			}
		}
		now = [2]shade{}
		known := was[0].bits|was[1].bits|b[0].bits|b[1].bits == 0
		switch {
		case from == 0:
		case a.atom == atomCas && known && old == operand:
			now = swapped
		case a.atom == atomCas && known:
		case a.atom == atomAnd && a.t.size() <= 8:
			now[0] = shade{was[0].bits&(operand.lo|b[0].bits) | b[0].bits&(old.lo|was[0].bits), from}
		case a.atom == atomOr && a.t.size() <= 8:
			now[0] = shade{was[0].bits&(^operand.lo|b[0].bits) | b[0].bits&(^old.lo|was[0].bits), from}
		case a.atom == atomXor && a.t.size() <= 8:
			now[0] = shade{was[0].bits | b[0].bits, from}
		default:
			now = [2]shade{{^uint64(0), from}, {^uint64(0), from}}
		}
	}
	u.store(x, r, off, now, uint64(a.elem))
	if a.acc&Read != 0 {
		k := u.row(x, a.regs[a.n+e], isWide || a.t == b128)
		u.put(k, l, was[0])
		if a.t == b128 {
			k.row++
			u.put(k, l, was[1])
		}
	}
}

// element returns the shade of an element of memory of up to 16 bytes.
func (u *Undefined) element(x *ctx, mem MemID, r *region, off uint64, n int32) (s [2]shade) {
	missing := u.missing(mem, x.s.pc)
	s[0] = u.bytes(r, off, uint64(min(n, 8)), missing)
	if n > 8 {
		s[1] = u.bytes(r, off+8, uint64(n-8), missing)
	}
	return s
}

// matrixLoaded sets the shades of the register to which an ldmatrix has loaded matrix i.
func (u *Undefined) matrixLoaded(x *ctx, a *matrixAccess, at where, i int, r reg, mask uint32) {
	var t matrix8
	from := uint64(0)
	missing := u.missing(at.mem, x.s.pc)
	for row := range t {
		if l := 8*i + row; at.mask>>l&1 != 0 {
			off := x.m.addr[l] - at.r.base
			for k := range uint64(2) {
				s := u.bytes(at.r, off+8*k, 8, missing)
				t[row][k] = s.bits
				from |= s.from
			}
		}
	}
	var to [32]uint32
	t.get(a.frag, &to, mask)
	k := u.row(x, r, false)
	for l := range lanesOf(mask) {
		u.put(k, l, shade{uint64(to[l]), from})
	}
}

// matrixStored sets the shades of the matrices that an stmatrix has stored.
func (u *Undefined) matrixStored(x *ctx, a *matrixAccess, at where) {
	if len(u.regs) == 0 {
		return
	}
	for i, r := range a.regs {
		if r < 0 {
			continue
		}
		row := u.regs[u.row(x, r, false)]
		if row == nil {
			continue
		}
		var t matrix8
		var bits32 [32]uint32
		from := uint64(0)
		for l := range row {
			bits32[l] = uint32(row[l].bits)
			from |= row[l].from
		}
		t.put(a.frag, &bits32)
		for k, words := range t {
			if l := 8*i + k; at.mask>>l&1 != 0 {
				u.store(x, at.r, x.m.addr[l]-at.r.base, [2]shade{{words[0], from}, {words[1], from}}, matrixRow)
			}
		}
	}
}

// outputs processes the undefined values that global memory holds at the end.
func (u *Undefined) outputs(m *Machine) {
	if !u.memory {
		return
	}
	for i := range m.global.regions {
		for _, p := range m.global.regions[i].pages {
			if p == nil || p.shade == nil {
				continue
			}
			for at, b := range p.shade.bits {
				if b != 0 {
					u.decides(p.shade.from[at/4], "an output", p.shade.pc[at/4])
				}
			}
		}
	}
}

// --- calls ---

// passed copies the shade of a value that was copied from a place in one frame to a place
// in another.
func (u *Undefined) passed(x *ctx, from place, s *split, to place, n *split, l int) {
	var b [16]shade
	size := min(from.bytes(), to.bytes())
	if from.inReg {
		if from.reg < 0 {
			size = 0
		}
		k := u.placed(x, from, s)
		for i := range size {
			if row := u.regs[k.plus(i/8)]; row != nil {
				b[i&15] = shade{row[l].bits >> (i % 8 * 8) & 0xff, row[l].from}
			}
		}
	}
	local := func(p place, f *split) uint64 { return uint64(l)*x.w.lsize + uint64(f.lbase+p.off) }
	if to.inReg {
		k := u.placed(x, to, n)
		missing := u.missing(Local, x.s.pc)
		var v [2]shade
		for i := range min(size, 16) {
			if !from.inReg {
				b[i] = x.w.local.shaded(local(from, s)+uint64(i), missing)
			}
			v[i/8].bits |= b[i].bits << (i % 8 * 8)
			v[i/8].from |= b[i].from
		}
		u.put(k, l, v[0])
		if to.typ == b128 {
			u.put(k.plus(1), l, v[1])
		}
		return
	}
	for i := range size {
		at := local(to, n) + uint64(i)
		if !x.w.local.initialized(at, 1) {
			continue // not written there either
		}
		v := b[i&15]
		if !from.inReg {
			v = x.w.local.shaded(local(from, s)+uint64(i), func() uint64 { return 0 })
		}
		u.setShade(&x.w.local, at, v, x.s.pc, x.m.owner)
	}
}

func (p place) bytes() int {
	if !p.inReg {
		return int(p.size)
	}
	if p.typ == pred {
		return 1
	}
	return max(int(p.typ.size()), 1)
}

func (u *Undefined) placed(x *ctx, p place, s *split) undefinedReg {
	k := undefinedReg{cta: x.w.cta, warp: x.w.index, row: int32(p.reg)}
	switch {
	case p.typ == pred:
		k.class, k.row = flow.Predicate, k.row+s.basep
	case p.typ.wide() || p.typ == b128:
		k.class, k.row = flow.Wide, k.row+s.base64
	default:
		k.row += s.base32
	}
	return k
}

func (k undefinedReg) plus(n int) undefinedReg {
	k.row += int32(n)
	return k
}

// --- operations in flight ---

// read records the shades of an operation's source, which it has read.
func (u *Undefined) read(m *Machine, op *Op) {
	op.shades = nil
	n := uint64(0)
	for _, s := range op.Reads {
		n += s.Len
	}
	at := uint64(0)
	for _, s := range op.Reads {
		if r, off := m.memory(s.Mem, s.Addr); r != nil && !u.untouched(r, off, s.Len) {
			missing := u.missing(s.Mem, op.PC)
			for i := range s.Len {
				if b := r.shaded(off+i, missing); b.bits != 0 {
					if op.shades == nil {
						op.shades = make([]shade, n)
					}
					op.shades[at+i] = b
				}
			}
		}
		at += s.Len
	}
	if op.wgmma != nil {
		op.fragShades = nil
		for _, r := range op.wgmma.info.a {
			op.fragShades = append(op.fragShades, u.warpRow(op, op.wgmma.base32+int32(r)))
		}
	}
}

func (u *Undefined) warpRow(op *Op, row int32) (none [32]shade) {
	if r := u.regs[undefinedReg{op.CTA, op.Warp, 0, row}]; r != nil {
		return *r
	}
	return none
}

// wrote sets the shades of an operation's target, which it has written.
func (u *Undefined) wrote(m *Machine, op *Op) {
	from := uint64(0)
	for _, s := range op.shades {
		if s.bits != 0 {
			from |= s.from
		}
	}
	switch {
	case op.wgmma != nil:
		u.multiplied(m, op)
	case from == 0 && op.red == nil:
	case op.tensor != nil:
		for _, s := range op.Writes {
			if s.Mem == Global {
				u.decides(from, "an output", op.PC)
				continue
			}
			if r, off := m.memory(s.Mem, s.Addr); r != nil {
				for i := range s.Len {
					u.setShade(r, off+i, shade{0xff, from | throughVague}, op.PC, m.owner)
				}
			}
		}
	default:
		for _, s := range op.Writes {
			r, off := m.memory(s.Mem, s.Addr)
			if r == nil {
				continue
			}
			for i := range min(s.Len, uint64(len(op.shades))) {
				v := op.shades[i]
				if op.masked && op.bytes>>(i%16)&1 == 0 {
					continue
				}
				if op.red != nil {
					size := uint64(op.red.t.size())
					v = shade{}
					for _, b := range op.shades[i/size*size : min(i/size*size+size, uint64(len(op.shades)))] {
						if b.bits != 0 {
							v = shade{0xff, v.from | b.from}
						}
					}
				}
				u.setShade(r, off+i, v, op.PC, m.owner)
			}
		}
	}
}

// reduces processes an operation that is about to change its target: undefined bits of
// the target stay undefined.
func (u *Undefined) reduces(m *Machine, op *Op, r *region, off uint64, s Span) {
	if u.untouched(r, off, s.Len) {
		return
	}
	missing := u.missing(s.Mem, op.PC)
	for i := range s.Len {
		if b := r.shaded(off+i, missing); b.bits != 0 {
			for uint64(len(op.shades)) < s.Len {
				op.shades = append(op.shades, shade{})
			}
			op.shades[i].bits |= b.bits
			op.shades[i].from |= b.from
		}
	}
}
