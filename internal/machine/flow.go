package machine

import (
	"slices"
	"strings"

	"muster/ptx"
)

// What values can reach: a static, flow-insensitive analysis over registers.
// A register is tainted if any instruction of the program may put a tainted
// value into it; memory is one cell. So the answer 'reaches nothing' holds for
// every run of every launch of the kernel, and 'reaches' may be too cautious.

// A use is what an instruction does with registers.
type use struct {
	pc                  int32
	in                  *ptx.Inst
	class               class
	writes, reads, addr []regID
	guard               regID
	launched            bool    // a load of a parameter of the kernel, or of a constant
	coords              []regID // coordinates of a tensor, which are among addr
	args                []regID // of its sources, those that are registers; noReg of others
	gives               gives
	clock               bool // an operand is a special register that varies
}

// does reports whether the instruction's effect has any of the parts.
func (u *use) does(parts ptx.Effect) bool { return u.in.Effect().Has(parts) }

// A regID is a register of the program: its function, class and row.
type regID uint64

const noReg = ^regID(0)

func (d *decoder) regID(y *symbol, component int) regID { return regIDOf(d.index, y, component) }

func regIDOf(fn int32, y *symbol, component int) regID {
	class := regID(0)
	switch {
	case y.typ == pred:
		class = 2
	case y.typ.size() > 4:
		class = 1
	}
	return regID(fn)<<34 | class<<32 | regID(uint32(y.reg+reg(component)*regsPer(y.typ)))
}

// row32 returns the row of a 32-bit register; false of any other.
func (r regID) row32() (reg, bool) { return reg(int32(uint32(r))), r>>32&3 == 0 }

// A regSet is a set of registers: bits by row, for each class of each function.
type regSet [][]uint64

func (s regSet) has(r regID) bool {
	k, row := int(r>>32), int(uint32(r))
	return k < len(s) && row/64 < len(s[k]) && s[k][row/64]>>(row%64)&1 != 0
}

func (s *regSet) add(r regID) {
	k, row := int(r>>32), int(uint32(r))
	if k >= len(*s) {
		*s = append(*s, make([][]uint64, k+1-len(*s))...)
	}
	if rows := &(*s)[k]; row/64 >= len(*rows) {
		*rows = append(*rows, make([]uint64, row/64+1-len(*rows))...)
	}
	(*s)[k][row/64] |= 1 << (row % 64)
}

// use keeps what the instruction just decoded does with registers.
func (d *decoder) use(in *ptx.Inst, pc int32) {
	u := use{pc: pc, in: in, class: d.prog.code[pc].class, guard: noReg}
	if in.Guard != nil {
		if y := d.scope.find(in.Guard.Reg); y != nil {
			u.guard = d.regID(y, 0)
		}
	}
	for i, op := range in.Operands {
		to := &u.reads
		if _, list := op.(*ptx.List); u.does(ptx.Calls) && !list {
			// the function: an address, if it is a register
			d.registersOf(op, &u.addr, &u.addr)
			continue
		}
		if _, list := op.(*ptx.List); u.does(ptx.Calls) && list && i == 0 && len(in.Operands) > 1 {
			if _, one := in.Operands[1].(*ptx.List); !one {
				to = &u.writes // what it returns
			}
		} else if i == 0 && (in.Form == nil || len(in.Form.Operands) > 0 && (in.Form.Operands[0].Role == ptx.Write || in.Form.Operands[0].Role == ptx.ReadWrite)) {
			to = &u.writes
		}
		d.registersOf(op, to, &u.addr)
		if m, ok := op.(*ptx.Mem); ok {
			for _, e := range m.Rest {
				d.registersOf(e, &u.coords, &u.coords)
			}
		}
		u.launched = u.launched || u.does(ptx.Reads) && d.launched(in, op)
	}
	carry := regID(d.index)<<34 | 3<<32 // the carry flag, which has no name
	if has(in, "cc") {
		u.writes = append(u.writes, carry)
	}
	if u.does(ptx.ReadsCarry) {
		u.reads = append(u.reads, carry)
	}
	u.clock = slices.ContainsFunc(in.Operands, isClock)
	if u.class == plain || u.class == collects {
		u.args = d.operandRegs(in)
	}
	d.watchResult(&u)
	d.prog.uses = append(d.prog.uses, u)
}

// launched reports whether a load reads what belongs to the launch.
func (d *decoder) launched(in *ptx.Inst, op ptx.Operand) bool {
	m, ok := op.(*ptx.Mem)
	if !ok {
		return false
	}
	if slices.Contains(in.Mods, "const") {
		return true
	}
	name, ok := m.Base.(ptx.Name)
	y := (*symbol)(nil)
	if ok {
		y = d.symbol(name)
	}
	return y != nil && y.kind == symParam
}

// registersOf appends the registers of an operand: those of an address to addr.
func (d *decoder) registersOf(op ptx.Operand, to, addr *[]regID) {
	switch op := op.(type) {
	case ptx.Name:
		if y := d.symbol(op); y != nil && y.kind == symReg {
			for i := range max(y.vec, 1) {
				*to = append(*to, d.regID(y, i))
			}
		}
	case *ptx.Vector:
		for _, e := range op.Elems {
			d.registersOf(e, to, addr)
		}
	case *ptx.List: // of a call
		for _, e := range op.Elems {
			d.registersOf(e, to, addr)
		}
	case *ptx.Pair:
		d.registersOf(op.A, to, addr)
		d.registersOf(op.B, to, addr)
	case *ptx.Not:
		d.registersOf(op.X, to, addr)
	case *ptx.Select:
		d.registersOf(op.X, to, addr)
	case *ptx.Mem:
		if op.Base != nil {
			d.registersOf(op.Base, addr, addr)
		}
		for _, e := range op.Rest {
			d.registersOf(e, addr, addr)
		}
	}
}

// An Origin says whose values Reaches follows.
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
func (p *Program) Reaches(from Origin) int32 {
	t := p.taint(from)
	for i := range p.uses {
		if t.sink(&p.uses[i]) {
			return p.uses[i].pc
		}
	}
	return -1
}

// Stores reports whether a store at pc may write a value from the origin.
func (p *Program) Stores(from Origin, pc int32) bool {
	t := p.taint(from)
	return slices.ContainsFunc(p.uses, func(u use) bool { return u.pc == pc && t.any(u.reads) })
}

func (p *Program) taint(from Origin) *taint {
	t := &taint{from: from}
	for again := true; again; {
		again = false
		for i := range p.uses {
			again = t.step(&p.uses[i]) || again
		}
	}
	return t
}

type taint struct {
	from   Origin
	regs   regSet
	memory bool // a tainted value may have been stored
}

func (t *taint) any(regs []regID) bool {
	return slices.ContainsFunc(regs, func(r regID) bool { return t.regs.has(r) })
}

// step takes an instruction's effect and reports whether it changed anything.
func (t *taint) step(u *use) bool {
	tainted := t.any(u.reads) || u.guard != noReg && t.regs.has(u.guard)
	news := false
	if tainted && u.does(ptx.Writes) && !t.memory {
		t.memory, news = true, true
	}
	switch {
	case u.does(ptx.Calls):
		tainted = true
	case u.does(ptx.Multiplies):
		tainted = tainted || t.from == FromMatrices
		tainted = tainted || t.from == FromBuffers
	case u.launched:
	case u.does(ptx.Reads):
		tainted = tainted || t.memory || t.from == FromBuffers
	}
	if !tainted {
		return news
	}
	for _, r := range u.writes {
		if !t.regs.has(r) {
			t.regs.add(r)
			news = true
		}
	}
	return news
}

// sink reports whether a tainted value decides something.
func (t *taint) sink(u *use) bool {
	if t.any(u.addr) || u.class != plain && u.guard != noReg && t.regs.has(u.guard) {
		return true
	}
	if u.does(ptx.Calls) {
		return t.any(u.reads) // into registers of the function called
	}
	regs, all := u.commands()
	return (!all || u.class != plain) && t.any(regs)
}

// commands lists the registers that tell an instruction what to do: those that it reads,
// but for addresses and data. All: none of them is data.
func (u *use) commands() (regs []regID, all bool) {
	switch {
	case u.does(ptx.Data):
		return nil, false
	case u.does(ptx.Warpgroup): // the fragments of A are data
		return u.reads[min(u.fragments(), len(u.reads)):], false
	case u.does(ptx.Exchanges): // the member mask
		if n := len(u.in.Operands); n > 0 && len(u.reads) > 0 {
			if _, ok := u.in.Operands[n-1].(ptx.Name); ok {
				return u.reads[len(u.reads)-1:], false
			}
		}
		return nil, false
	}
	return u.reads, true
}

// fragments is how many registers a wgmma takes A from; 0 if A lies in memory.
func (u *use) fragments() int {
	if len(u.in.Operands) > 1 {
		if v, ok := u.in.Operands[1].(*ptx.Vector); ok {
			return len(v.Elems)
		}
	}
	return 0
}

// HasStrongGlobalAccess reports whether the program has strong reads, or atomics, of
// memory that may be global: by which a CTA can learn of others.
func (p *Program) HasStrongGlobalAccess() bool {
	return slices.ContainsFunc(p.uses, func(u use) bool {
		in := u.in
		shared := slices.ContainsFunc(in.Mods, func(m string) bool { return strings.HasPrefix(m, "shared") })
		return !shared && (u.does(ptx.Updates) || u.does(ptx.Reads) && in.Sem().Strong())
	})
}
