package flow

import (
	"slices"

	"muster/ptx"
)

// What values can reach: a static, flow-insensitive analysis over registers.
// A register is tainted if any instruction of the program may put a tainted
// value into it; memory is one cell. So the answer 'reaches nothing' holds for
// every run of every launch of the kernel, and 'reaches' may be too cautious.

// An Origin says which values Reaches follows.
type Origin uint8

const (
	// FromMatrices: what mma and wgmma compute.
	FromMatrices Origin = iota
	// FromBuffers: what lies in memory that the launch, or the kernel, filled.
	FromBuffers
)

// Reaches returns the place of an instruction at which a value from the
// origin may decide where control goes, which address is accessed or what a
// synchronizing instruction does; -1 if there is none.
func (p *Program) Reaches(from Origin) int32 { return p.ReachesIf(from, nil, nil) }

// ReachesIf is Reaches for launches in which guards of the kernel's instructions are known
// to hold, or not to, and in which some loads give what no value from an origin ever was:
// addresses that tcgen05.alloc wrote.
func (p *Program) ReachesIf(from Origin, guards, addresses map[int32]bool) int32 {
	never := p.never(guards)
	t := p.taint(from, never, addresses)
	params := p.paramAddresses()
	for u := range p.Uses() {
		// A tensor map outside the parameters may have been stored.
		stored := (t.memory || from == FromBuffers) && slices.ContainsFunc(u.Map, func(r Reg) bool { return !params.Has(r) })
		if !never[u.PC] && (stored || t.sink(u)) {
			return u.PC
		}
	}
	return -1
}

// paramAddresses returns the registers that hold nothing but addresses of the kernel's
// parameters, and constants.
func (p *Program) paramAddresses() *RegSet {
	var others, set RegSet
	for again := true; again; {
		again = false
		for u := range p.Uses() {
			if u.Plain && !u.Does(ptx.Reads) && (u.Param || len(u.Reads) > 0) && !slices.ContainsFunc(u.Reads, others.Has) {
				continue
			}
			for _, r := range u.Writes {
				if !others.Has(r) {
					others.Add(r)
					again = true
				}
			}
		}
	}
	for u := range p.Uses() {
		for _, r := range u.Writes {
			if !others.Has(r) {
				set.Add(r)
			}
		}
	}
	return &set
}

// Stores reports whether a store at pc may write a value from the origin.
func (p *Program) Stores(from Origin, pc int32) bool {
	t := p.taint(from, nil, nil)
	return p.any(func(u *Use) bool { return u.PC == pc && t.regs.HasAny(u.Reads) })
}

// taint follows values through all instructions but those that never execute.
func (p *Program) taint(from Origin, never, addresses map[int32]bool) *taint {
	t := &taint{from: from, addresses: addresses}
	for again := true; again; {
		again = false
		for u := range p.Uses() {
			again = !never[u.PC] && t.step(u) || again
		}
	}
	return t
}

// taint says which registers, and whether memory, may hold a value from an origin.
type taint struct {
	from   Origin
	regs   RegSet
	memory bool // a tainted value may have been stored
	// addresses are loads that give addresses that tcgen05.alloc wrote, and nothing else.
	addresses map[int32]bool
}

// step takes an instruction's effect and reports whether it changed anything.
func (t *taint) step(u *Use) bool {
	tainted := t.regs.HasAny(u.Reads) || u.Guard != NoReg && t.regs.Has(u.Guard)
	news := false
	// A product that goes to memory: tensor memory counts as the rest of it.
	product := u.Does(ptx.Multiplies) && u.Does(ptx.CopiesMemory)
	if (tainted && u.Does(ptx.Writes) || product) && !t.memory {
		t.memory, news = true, true
	}
	switch {
	case u.Does(ptx.Calls | ptx.Multiplies):
		tainted = true
	case u.Launched, t.addresses[u.PC]:
	case u.Does(ptx.Reads):
		tainted = tainted || t.memory || t.from == FromBuffers
	}
	if !tainted {
		return news
	}
	for _, r := range u.Writes {
		if !t.regs.Has(r) {
			t.regs.Add(r)
			news = true
		}
	}
	return news
}

// sink reports whether a tainted value decides something.
func (t *taint) sink(u *Use) bool {
	if t.regs.HasAny(u.Addr) || !u.Plain && u.Guard != NoReg && t.regs.Has(u.Guard) {
		return true
	}
	if u.Does(ptx.Calls) {
		return t.regs.HasAny(u.Reads) // into registers of the function called
	}
	regs, all := u.Commands()
	return (!all || !u.Plain) && t.regs.HasAny(regs)
}
