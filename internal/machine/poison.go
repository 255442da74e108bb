package machine

import (
	"maps"
	"slices"

	"muster/ptx"
)

// Unwritten memory and registers have no value. A Poison gives them one, so that
// runs of one schedule with different poisons show whether it reaches an output,
// a branch or an address.

// A Poison replaces unwritten values: shared and local memory that the
// instruction at PC reads (each element with an uninitialized byte), or one
// register; and the value that the shfl at PC takes from a lane that takes no
// part.
type Poison struct {
	PC int32 // -1: no instruction
	// Register numbers an entry of Program.Unset, from 1 on.
	Register int32
	// Everything: all unwritten values, whichever instruction reads them.
	Everything bool
	// Value stands in every byte, unless Mixed: then every lane, register and
	// address has bytes of its own, so that two unwritten values differ.
	Value byte
	Mixed bool
	// Each place takes one value of Among, if there are any; Turn shifts which.
	Among []uint64
	Turn  uint64
}

// at reports whether a poison replaces what the instruction at pc reads.
func (p *Poison) at(pc int32) bool { return p != nil && (p.Everything || p.PC == pc) }

// takes reports whether a poison replaces what the shfl at pc takes from a lane that
// takes no part.
func (p *Poison) takes(pc int32) bool { return p != nil && p.PC == pc }

// word returns the value of a place.
func (p *Poison) word(place uint64) uint64 {
	if !p.Mixed && len(p.Among) == 0 {
		return uint64(p.Value) * 0x0101010101010101
	}
	// The finalizer of SplitMix64.
	z := place + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	if n := uint64(len(p.Among)); n > 0 {
		return p.Among[(z%n+p.Turn)%n]
	}
	return z
}

// Compared lists the constants that the program compares values with, or moves to
// registers: an unwritten value equal to one can decide a branch as no other value does.
func (p *Program) Compared() []uint64 {
	compares, moves := map[uint64]bool{}, map[uint64]bool{}
	for u := range p.flow.Uses() {
		to := compares
		switch {
		case u.Does(ptx.Compares | ptx.ComparesToNumber), u.Does(ptx.Reads) && u.Does(ptx.Updates):
		case u.Does(ptx.Moves):
			to = moves
		default:
			continue
		}
		for _, op := range u.In.Operands {
			switch v := op.(type) {
			case ptx.Int:
				to[v.Bits] = true
			case ptx.Float:
				to[v.Bits] = true
			}
		}
	}
	all := slices.Sorted(maps.Keys(compares))
	for _, v := range slices.Sorted(maps.Keys(moves)) {
		if len(all) < maxMoved && !compares[v] {
			all = append(all, v)
		}
	}
	return all
}

// maxMoved is the length up to which Compared adds constants that are only moved
// to registers.
const maxMoved = 16

// fill overwrites the unwritten ones of the bytes b, which were read at off in a region.
func (p *Poison) fill(r *region, off uint64, b []byte) {
	for i := range b {
		if at := off + uint64(i); !r.initialized(at, 1) {
			b[i] = byte(p.word(r.base+at&^7) >> (at & 7 * 8))
		}
	}
}

// poisonMemory poisons the unwritten bytes of one lane's access in memory, before
// an instruction that reads and writes them.
func (x *ctx) poisonMemory(r *region, off, n uint64) {
	if p := x.m.cfg.Poison; p.at(x.s.pc) && !r.initialized(off, n) {
		b := make([]byte, n)
		r.read(off, b)
		p.fill(r, off, b)
		r.put(off, b, x.m.owner)
	}
}

// An Unwritten is a range of unwritten bytes that an operation reads.
type Unwritten struct {
	Span
	Operand string // of a matrix instruction: A, B, or what else it reads
}

// Unwritten lists the unwritten ranges of shared memory that op reads, by
// address.
func (m *Machine) Unwritten(op *Op) []Unwritten {
	var all []Unwritten
	inA := 0
	if op.wgmma != nil && len(op.wgmma.info.a) == 0 {
		inA = len(op.wgmma.info.form.SpansA(op.wgmma.da, int(op.Warp%4)))
	}
	for i, s := range op.Reads {
		operand := ""
		switch {
		case op.tcgen05 != nil && op.tcgen05.mma != nil:
			operand = op.tcgen05.mma.parts[i].String()
		case op.wgmma == nil:
		case i < inA:
			operand = "A"
		default:
			operand = "B"
		}
		all = append(all, m.unwritten(s, operand)...)
	}
	slices.SortStableFunc(all, func(a, b Unwritten) int { return int(int64(a.Addr) - int64(b.Addr)) })
	joined := all[:0]
	for _, u := range all {
		if n := len(joined) - 1; n >= 0 && joined[n].Mem == u.Mem && joined[n].Operand == u.Operand && u.Addr <= joined[n].Addr+joined[n].Len {
			joined[n].Len = max(joined[n].Len, u.Addr+u.Len-joined[n].Addr)
			continue
		}
		joined = append(joined, u)
	}
	return joined
}

func (m *Machine) unwritten(s Span, operand string) (all []Unwritten) {
	r, off := m.memory(s.Mem, s.Addr)
	if r == nil || s.Mem == Global {
		return nil
	}
	for i := uint64(0); i < s.Len; i++ {
		if r.initialized(off+i, 1) {
			continue
		}
		from := i
		for i < s.Len && !r.initialized(off+i, 1) {
			i++
		}
		all = append(all, Unwritten{Span{s.Mem, s.Addr + from, i - from}, operand})
	}
	return all
}
