package flow

import (
	"slices"

	"muster/ptx"
)

// A Use is what an instruction does with registers.
type Use struct {
	PC int32
	// Target is where a branch leads; Table where one by a table may lead.
	Target int32
	Table  []int32
	In     *ptx.Inst
	// Test is the same number, other than 0, for tests of an mbarrier that name one
	// barrier and one phase by the same operands.
	Test int32
	// Form is the same number, other than 0, for tests that name a barrier and a phase in
	// the same way, but for the registers.
	Form int32
	// Symbol numbers the variable that an operand names; 0: none.
	Symbol   int32
	Plain    bool // it touches registers and local memory alone, and control goes on
	Launched bool // a load of a parameter of the kernel, or of a constant
	Param    bool // an operand is the address of a parameter of the kernel
	Hasty    bool // a test or a read behind which a trap comes too soon: see Hasten
	Special  bool // an operand is a special register
	Clock    bool // an operand is a special register that varies
	Compares bool // it compares its first source, a register, with its second, and no more

	Guard               Reg
	Writes, Reads, Addr []Reg
	Coords              []Reg // coordinates of a tensor, which are among Addr
	Map                 []Reg // the address of its tensor map, which is among Addr
	Time                []Reg // the time limit of a test, which is among Reads
	Args                []Reg // of the sources, those that are registers; NoReg of others
}

// Does reports whether the instruction's effect has any of the parts.
func (u *Use) Does(parts ptx.Effect) bool { return u.In.Effect().Has(parts) }

// Accumulates reports whether an instruction also reads what it writes.
func (u *Use) Accumulates() bool {
	f := u.In.Form
	return f == nil || len(f.Operands) > 0 && f.Operands[0].Role == ptx.ReadWrite
}

// ReadsStrongly reports whether an instruction returns a value of memory that others may
// write at the same time.
func (u *Use) ReadsStrongly() bool { return u.Does(ptx.Reads) && u.In.Sem().Strong() }

// Commands lists the registers that tell an instruction what to do: those that it reads,
// except addresses and data. All: no register that it reads is data.
func (u *Use) Commands() (regs []Reg, all bool) {
	switch {
	case u.Does(ptx.Data):
		return nil, false
	case u.Does(ptx.Warpgroup): // the fragments of A are data
		return u.Reads[min(u.Fragments(), len(u.Reads)):], false
	case u.Does(ptx.Exchanges): // the member mask
		if n := len(u.In.Operands); n > 0 && len(u.Reads) > 0 {
			if _, ok := u.In.Operands[n-1].(ptx.Name); ok {
				return u.Reads[len(u.Reads)-1:], false
			}
		}
		return nil, false
	}
	return u.Reads, true
}

// Asks lists the registers that say which phase a test asks for: those that it reads,
// except addresses and its time limit.
func (u *Use) Asks() []Reg {
	if len(u.Time) == 0 {
		return u.Reads
	}
	return slices.DeleteFunc(slices.Clone(u.Reads), func(r Reg) bool { return slices.Contains(u.Time, r) })
}

// Fragments is how many registers a wgmma takes A from; 0 if A lies in memory.
func (u *Use) Fragments() int {
	if len(u.In.Operands) > 1 {
		if v, ok := u.In.Operands[1].(*ptx.Vector); ok {
			return len(v.Elems)
		}
	}
	return 0
}

// each yields the registers of a use: all that it reads, then those that it writes.
func (u *Use) each(yield func(r Reg, writes bool)) {
	if u.Guard != NoReg {
		yield(u.Guard, false)
	}
	for _, list := range [...][]Reg{u.Reads, u.Addr} {
		for _, r := range list {
			yield(r, false)
		}
	}
	keeps := u.Accumulates()
	for _, r := range u.Writes {
		if keeps {
			yield(r, false)
		}
		yield(r, true)
	}
}

// Special looks up the special register that an operand is, if it is one.
func Special(op ptx.Operand) (s ptx.Special, ok bool) {
	if n, isName := op.(ptx.Name); isName {
		s, ok = ptx.LookupSpecial(string(n))
	}
	return s, ok
}

// Varies reports whether an operand is a special register that shows time, or where the
// CTA runs.
func Varies(op ptx.Operand) bool {
	s, _ := Special(op)
	return s.Varies
}

// A Reg is a register of the program: its function, class and row.
type Reg uint64

// NoReg is no register.
const NoReg = ^Reg(0)

// A Class says what a register is.
type Class uint8

// The classes.
const (
	Word      Class = iota // of at most 32 bits
	Wide                   // of 64 bits; one of 128 bits is two
	Predicate              // of one bit
	Carry                  // the carry flag of a function, which has no name
	classes
)

// RegOf returns the register of a function at a row of a class.
func RegOf(fn int32, c Class, row int32) Reg { return Reg(fn)<<34 | Reg(c)<<32 | Reg(uint32(row)) }

// Class returns the register's class.
func (r Reg) Class() Class { return Class(r >> 32 & 3) }

// Row returns the register's row among those of its class.
func (r Reg) Row() int32 { return int32(uint32(r)) }

// A RegSet is a set of registers: bits by row, for each class of each function.
type RegSet [][]uint64

// Has reports whether a register is in the set.
func (s RegSet) Has(r Reg) bool {
	k, row := int(r>>32), int(uint32(r))
	return k < len(s) && row/64 < len(s[k]) && s[k][row/64]>>(row%64)&1 != 0
}

// HasAny reports whether any of some registers is in the set.
func (s RegSet) HasAny(regs []Reg) bool {
	for _, r := range regs {
		if s.Has(r) {
			return true
		}
	}
	return false
}

// Add adds a register.
func (s *RegSet) Add(r Reg) {
	k, row := int(r>>32), int(uint32(r))
	if k >= len(*s) {
		*s = append(*s, make([][]uint64, k+1-len(*s))...)
	}
	if rows := &(*s)[k]; row/64 >= len(*rows) {
		*rows = append(*rows, make([]uint64, row/64+1-len(*rows))...)
	}
	(*s)[k][row/64] |= 1 << (row % 64)
}
