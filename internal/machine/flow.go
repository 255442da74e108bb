package machine

import (
	"strings"

	"slices"

	"muster/internal/flow"
	"muster/ptx"
)

// The interface to package flow: the decoder describes a program to it, and callers
// query it.

// regID is a component of a register of the function being decoded.
func (d *decoder) regID(y *symbol, component int) flow.Reg {
	return flow.RegOf(d.index, classOf(y.typ), int32(y.reg+reg(component)*regsPer(y.typ)))
}

// classOf is the class of registers that hold a type.
func classOf(t typ) flow.Class {
	switch {
	case t == pred:
		return flow.Predicate
	case t.size() > 4:
		return flow.Wide
	}
	return flow.Word
}

// writesOperand reports whether an instruction writes the register of an operand: the first, or
// the second of tcgen05.ld.red. No row has an operand that may be left out before one that is
// written.
func writesOperand(in *ptx.Inst, i int) bool {
	if in.Form == nil {
		return i == 0
	}
	return i < len(in.Form.Operands) && (in.Form.Operands[i].Role == ptx.Write || in.Form.Operands[i].Role == ptx.ReadWrite)
}

// use keeps what the instruction just decoded does with registers.
func (d *decoder) use(in *ptx.Inst, pc int32) {
	made := &d.prog.code[pc]
	u := flow.Use{PC: pc, In: in, Plain: made.class == plain || made.showsLanes(), Guard: flow.NoReg}
	if in.Guard != nil {
		if y := d.scope.find(in.Guard.Reg); y != nil {
			u.Guard = d.regID(y, 0)
		}
	}
	for i, op := range in.Operands {
		to := &u.Reads
		if _, list := op.(*ptx.List); u.Does(ptx.Calls) && !list {
			// the callee: an address, if it is a register
			d.registersOf(op, &u.Addr, &u.Addr)
			continue
		}
		if _, list := op.(*ptx.List); u.Does(ptx.Calls) && list && i == 0 && len(in.Operands) > 1 {
			if _, one := in.Operands[1].(*ptx.List); !one {
				to = &u.Writes // what it returns
			}
		} else if writesOperand(in, i) {
			to = &u.Writes
		}
		if in.Form != nil && i < len(in.Form.Operands) && in.Form.Operands[i].Strides() {
			to = &u.Addr
		}
		d.registersOf(op, to, &u.Addr)
		if i == timeOperand && u.Does(ptx.Tests) {
			d.registersOf(op, &u.Time, &u.Time)
		}
		if y := d.variable(op); y != nil {
			u.Symbol = d.symbolNumber(y)
			u.Param = y.kind == symParam
		}
		if m, ok := op.(*ptx.Mem); ok && len(m.Rest) > 0 {
			d.registersOf(m.Base, &u.Map, &u.Map)
			for _, e := range m.Rest {
				d.registersOf(e, &u.Coords, &u.Coords)
			}
		}
		u.Launched = u.Launched || u.Does(ptx.Reads) && d.launched(in, op)
	}
	carry := flow.RegOf(d.index, flow.Carry, 0)
	if has(in, "cc") {
		u.Writes = append(u.Writes, carry)
	}
	if u.Does(ptx.ReadsCarry) {
		u.Reads = append(u.Reads, carry)
	}
	u.Clock = slices.ContainsFunc(in.Operands, flow.Varies)
	u.Special = slices.ContainsFunc(in.Operands, func(op ptx.Operand) bool { _, ok := flow.Special(op); return ok })
	if made.class == plain || made.class == collects {
		u.Args = d.operandRegs(in)
	}
	switch {
	case u.Does(ptx.Compares):
		u.Compares = made.x == nil && made.a >= 0
	case u.Does(ptx.Tests):
		u.Test, u.Form = d.testNumber(made, &u)
	case u.Does(ptx.BranchesByTable):
		u.Table = made.x.([]int32) // filled when its labels are known
	}
	d.watchResult(made)
	f := d.flow()
	f.Uses = append(f.Uses, u)
}

// timeOperand is the place of a test's time limit among its operands.
const timeOperand = 3

// flow returns package flow's record of the function being decoded.
func (d *decoder) flow() *flow.Func { return &d.prog.flow.Funcs[d.index] }

// tellFlow completes that record once labels and registers are known.
func (d *decoder) tellFlow() {
	f := d.flow()
	f.Index = d.index
	f.Rows = [...]int32{flow.Word: d.fn.n32, flow.Wide: d.fn.n64, flow.Predicate: d.fn.np, flow.Carry: 1}
	for _, r := range d.fn.rets {
		if r.inReg {
			f.Results = append(f.Results, flow.RegOf(d.index, classOf(r.typ), int32(r.reg)))
		}
	}
	for i := range f.Uses {
		if u := &f.Uses[i]; u.Does(ptx.Branches) {
			u.Target = d.prog.code[u.PC].target
		}
	}
	f.DropGuards()
}

// A testedPhase is the barrier and the phase that a test of an mbarrier names, by its
// operands' rows. Names would be ambiguous: each scope has its own.
type testedPhase struct {
	space  space
	base   baseKind
	breg   reg
	off    int64
	frame  bool
	parity bool
	phase  reg
}

// testNumber numbers the barriers and phases that tests name, from 1 on: with their
// registers, and without.
func (d *decoder) testNumber(in *instr, u *flow.Use) (named, form int32) {
	mi, ok := in.x.(*mbarInfo)
	if !ok {
		return 0, 0
	}
	t := testedPhase{mi.space, mi.base, mi.breg, mi.off, mi.frame, mi.parity, in.b}
	number := func(t testedPhase) int32 {
		if d.tests[t] == 0 {
			d.tests[t] = int32(len(d.tests) + 1)
		}
		return d.tests[t]
	}
	named = number(t)
	if len(u.Addr) > 0 {
		t.breg = -1
	}
	if len(u.Asks()) > 0 {
		t.phase = -1
	}
	return named, number(t)
}

// variable returns the variable of which an operand takes the address; nil for none.
func (d *decoder) variable(op ptx.Operand) *symbol {
	if sum, ok := op.(*ptx.Binary); ok {
		if y := d.variable(sum.X); y != nil {
			return y
		}
		return d.variable(sum.Y)
	}
	n, ok := op.(ptx.Name)
	if !ok {
		return nil
	}
	if y := d.symbol(n); y != nil && y.kind != symReg {
		return y
	}
	return nil
}

// symbolNumber numbers variables, from 1 on.
func (d *decoder) symbolNumber(y *symbol) int32 {
	if d.symbols[y] == 0 {
		d.symbols[y] = int32(len(d.symbols) + 1)
	}
	return d.symbols[y]
}

// launched reports whether a load reads a parameter or a constant of the launch.
func (d *decoder) launched(in *ptx.Inst, op ptx.Operand) bool {
	m, ok := op.(*ptx.Mem)
	if !ok {
		return false
	}
	if slices.Contains(in.Mods, "const") {
		return true
	}
	y := (*symbol)(nil)
	if name, ok := m.Base.(ptx.Name); ok {
		y = d.symbol(name)
	}
	switch {
	case y == nil:
		return false
	case y.kind == symReg: // of a pointer to them
		return slices.Contains(in.Mods, "param::entry") || d.index == d.entry.fn && slices.Contains(in.Mods, "param")
	}
	return y.kind == symParam
}

// registersOf appends the registers of an operand: those of an address to addr.
func (d *decoder) registersOf(op ptx.Operand, to, addr *[]flow.Reg) {
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

// Properties of a program's text. The result for an instruction depends on its syntax
// alone, so all instructions that the decoder makes of one have the same.

// Origin returns the one instruction that computes the register that pc takes as a value, such
// as the bytes that it expects; -1 if it takes none, or several instructions may.
func (p *Program) Origin(pc int32) int32 { return p.flow.Origin(pc) }

// Peeks lists the tests of barriers whose results only say whether a wait is still to be
// made: where they fail, the program waits (package flow, peek.go).
func (p *Program) Peeks() map[int32]bool { return p.flow.Peeks() }

// A Peek says which waits a peek stands for.
type Peek = flow.Peek

// PeekWaits gives for each of the peeks the waits that it stands for.
func (p *Program) PeekWaits() map[int32]Peek { return p.flow.PeekWaits() }

// A Dependence is a place where a schedule-dependent value decides something.
type Dependence = flow.Dependence

// A Poll is a loop that waits for a word of memory.
type Poll = flow.Poll

// A Pause is what lies between a test and a trap.
type Pause = flow.Pause

// A Flip is a loop that waits for a bit of a counter to change.
type Flip = flow.Flip

// The origins of values that Reaches follows.
const (
	FromMatrices = flow.FromMatrices
	FromBuffers  = flow.FromBuffers
)

// Dependences lists the program's dependences, by place. None: condition C9
// holds, if all Polls end with one value in every schedule.
func (p *Program) Dependences() []Dependence { return p.flow.Dependences() }

// DependencesBut lists the dependences that remain if the results of some instructions
// do not depend on the schedule.
func (p *Program) DependencesBut(decided map[int32]bool) []Dependence {
	return p.flow.DependencesBut(decided)
}

// Tickets finds what a program draws tickets by.
func (p *Program) Tickets() *flow.Tickets { return p.flow.Tickets() }

// Polls lists the program's polls, by the place of their loads.
func (p *Program) Polls() map[int32]*Poll { return p.flow.Polls() }

// Flips lists the program's waits for a bit of a counter, by the place of their loads.
func (p *Program) Flips() map[int32]*Flip { return p.flow.Flips() }

// Points lists the strong accesses of a program by lanes, by place.
func (p *Program) Points() map[int32]bool { return p.flow.Points() }

// Reaches returns the place of an instruction at which a value from the
// origin may decide where control goes, which address is accessed or what a
// synchronizing instruction does; -1 if there is none.
func (p *Program) Reaches(from flow.Origin) int32 {
	return p.orChecked(p.flow.Reaches(from), from)
}

// Fixed reports whether no value that is loaded decides which accesses a program makes.
func (p *Program) Fixed() bool {
	p.fixed.once.Do(func() { p.fixed.is = p.Reaches(flow.FromBuffers) < 0 })
	return p.fixed.is
}

// OrderVaries reports whether values of memory may decide what orders the accesses of a thread.
func (p *Program) OrderVaries() bool {
	p.varies.once.Do(func() { p.varies.is = p.flow.OrderVaries() })
	return p.varies.is
}

// ReachesBut is Reaches for launches in which some loads give addresses that tcgen05.alloc
// wrote, and nothing else.
func (p *Program) ReachesBut(from flow.Origin, addresses map[int32]bool) int32 {
	return p.orChecked(p.flow.ReachesIf(from, nil, addresses), from)
}

// Reaches is Program.Reaches for this launch, whose parameters may decide that instructions
// are never executed. The machine must not have started.
func (m *Machine) Reaches(from flow.Origin) int32 {
	if pc := m.prog.Reaches(from); pc < 0 {
		return pc
	}
	return m.prog.orChecked(m.prog.flow.ReachesIf(from, m.fixedGuards(), nil), from)
}

// fixedGuards returns whether the guards hold that the launch's parameters decide, by
// instruction. What decides them is executed here, in a thread of no CTA.
func (m *Machine) fixedGuards() map[int32]bool {
	list, guarded := m.prog.flow.Fixed()
	if len(guarded) == 0 || m.prog.Unspecified() || len(m.grids) > 1 {
		return nil
	}
	m = m.Fork(nil, nil)
	f := &m.prog.funcs[0]
	w, s := &warp{live: 1}, &split{pc: f.entry, mask: 1}
	w.splits = []*split{s}
	m.grow(w, s, f)
	m.ctas[0] = &cta{warps: []*warp{w}, g: m.grids[0]}
	m.unsetFrame(w, s, f, 1)
	x := m.enter(w, s)
	for _, s.pc = range list {
		in := &m.prog.code[s.pc]
		in.exec(x, in, 1)
	}
	if m.stop != nil {
		return nil
	}
	guards := map[int32]bool{}
	for _, pc := range guarded {
		guards[pc] = x.active(&m.prog.code[pc]) != 0
	}
	return guards
}

// Stores reports whether a store at pc may write a value from the origin.
func (p *Program) Stores(from flow.Origin, pc int32) bool { return p.flow.Stores(from, pc) }

// HasStrongGlobalAccess reports whether the program has strong reads, or atomics, of
// memory that may be global. Through these a CTA can observe other CTAs.
func (p *Program) HasStrongGlobalAccess() bool { return p.flow.HasStrongGlobalAccess() }

// HasFences reports whether the program has fences of memory.
func (p *Program) HasFences() bool { return p.flow.HasFences() }

// FencesSC reports whether the program has fence.sc, or membar, which is one (9.7.13.4).
func (p *Program) FencesSC() bool { return p.flow.FencesSC() }

// Traps reports whether the program can end the launch by itself.
func (p *Program) Traps() bool { return p.flow.Does(ptx.Traps) }

// OrdersGrids reports whether the program waits for other grids, or lets them begin.
func (p *Program) OrdersGrids() bool { return p.flow.Does(ptx.OrdersGrids) }

// UsesTensorMemory reports whether the program has instructions of the family tcgen05.
func (p *Program) UsesTensorMemory() bool { return p.flow.UsesTensorMemory() }

// Pauses gives the places of tests and strong reads behind which a trap may come before
// anything that another agent could notice.
func (p *Program) Pauses() map[int32]Pause {
	p.pauses.once.Do(func() {
		of := p.flow.Pauses()
		p.pauses.at = map[int32]Pause{}
		for pc := range p.code {
			if pause, ok := of[p.code[pc].src]; ok && p.code[pc].src != nil {
				p.pauses.at[int32(pc)] = pause
			}
		}
	})
	return p.pauses.at
}

// Hasten marks tests and reads, by place, that are no waits. It must precede all
// other queries.
func (p *Program) Hasten(hasty map[int32]bool) {
	of := map[*ptx.Inst]bool{}
	for pc := range hasty {
		of[p.code[pc].src] = true
	}
	p.flow.Hasten(func(in *ptx.Inst) bool { return of[in] })
}

// Elects reports whether the program has an elect.sync.
func (p *Program) Elects() bool { return p.flow.Does(ptx.Elects) }

// CountsArrivals reports whether the program takes pending counts from tokens: they
// show the order of arrivals at one phase.
func (p *Program) CountsArrivals() bool { return p.flow.Does(ptx.CountsPending) }

// Awaits reports whether the test of a barrier at pc is part of a wait that only its
// phase ends, and the number of its failures is unobservable.
func (p *Program) Awaits(pc int32) bool { return p.flow.Awaits(p.code[pc].src) }

// CountsFailures reports whether the number of failures of the test of a barrier at pc
// may show.
func (p *Program) CountsFailures(pc int32) bool { return p.flow.CountsFailures(p.code[pc].src) }

// ResultUnused reports whether nothing reads the result of the instruction at pc.
func (p *Program) ResultUnused(pc int32) bool { return p.flow.ResultUnused(p.code[pc].src) }

// ObservableApart reports whether other agents could notice that lanes at the instruction
// at pc perform it separately from lanes that reach it later.
func (p *Program) ObservableApart(pc int32) bool {
	in := p.code[pc].src
	switch {
	case in == nil || in.Effect().Has(ptx.Exits|ptx.Returns):
		return p.flow.ClusterBarrier()
	case in.IsOf(ptx.ClassBarrier):
		return in.Form.Scope == "cluster"
	}
	return true
}

// Operation names what an instruction does to memory, its type included.
func (p *Program) Operation(pc int32) string { return flow.Operation(p.code[pc].src) }

// FloatSum reports whether an instruction adds floating-point numbers to a word.
func (p *Program) FloatSum(pc int32) bool { return flow.FloatSum(p.code[pc].src) }

// OpOperation is Operation for what an asynchronous reduction does.
func (p *Program) OpOperation(op *Op) string {
	return flow.OperationOn(p.code[op.PC].src, op.elements())
}

// OpCommutes is Commutes for an asynchronous reduction.
func (p *Program) OpCommutes(op *Op) string {
	return flow.CommutesOn(p.code[op.PC].src, op.elements())
}

// OpFloatSum is FloatSum for an asynchronous reduction.
func (p *Program) OpFloatSum(op *Op) bool {
	return flow.FloatSumOf(p.code[op.PC].src, op.elements())
}

// elements is the type that the tensor map of a reduction gives its elements; empty for
// operations without one.
func (o *Op) elements() string {
	if o.tensor == nil {
		return ""
	}
	return strings.TrimSuffix(o.tensor.tmap.Type.String(), ".ftz")
}

// Commutes says why the order of such an instruction with others of its kind,
// on one word, shows in memory; empty if it does not.
func (p *Program) Commutes(pc int32) string { return flow.Commutes(p.code[pc].src) }

// Adds returns what an atomic addition adds to a word, if it does and its text
// says how much; increments add 1.
func (p *Program) Adds(pc int32) (n uint64, says, adds bool) { return flow.Adds(p.code[pc].src) }

// Nondeterministic names what an instruction reads that the schedule does not determine:
// a clock, which lanes happen to run together, where the CTA runs; empty for any other.
func (p *Program) Nondeterministic(pc int32) string { return flow.Nondeterministic(p.code[pc].src) }
