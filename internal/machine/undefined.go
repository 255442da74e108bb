package machine

import (
	"math/bits"

	"muster/internal/flow"
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
	fromOthers   = 1 << 63 // some of its origins are beyond the maxOrigins told apart
	maxOrigins   = 62
)

// An UndefinedKind says why a value is not defined.
type UndefinedKind uint8

const (
	// UndefinedRegister: an unwritten register; UndefinedFrom.Register is its number.
	UndefinedRegister UndefinedKind = iota
	UndefinedLocal
	UndefinedShared
	UndefinedTensor
	UndefinedGlobal
	// UndefinedShuffle: a shfl takes it from a lane that takes no part.
	UndefinedShuffle
	// UndefinedResult: the ISA leaves the result of the instruction undefined.
	UndefinedResult
	// UnknownResult: the driver or the chip decides the result of the instruction.
	UnknownResult
	// UndefinedOperand: bytes of A or B that a tcgen05.mma reads in a race.
	UndefinedOperand
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
	raced   OperandBytes
	draws   *draws
	sums    *sums
	// handed reports the bytes of global memory of which nobody knows what they hold.
	handed func(addr, n uint64) bool
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

// Raced makes bytes of operands of tcgen05.mma undefined to those that read them.
func (u *Undefined) Raced(o OperandBytes) { u.raced = o }

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
		if n = len(u.from); n >= maxOrigins {
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
	if u.draws != nil && len(u.draws.regs) > 0 {
		delete(u.draws.regs, drawnReg{k, l})
	}
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
