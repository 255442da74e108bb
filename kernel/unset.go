package kernel

import (
	"cmp"
	"slices"

	"muster/ptx"
)

// unset reports registers that may be read before they are set: on some path from the
// function's beginning to the read no instruction sets them. A predicated instruction
// counts as setting its results, since the analysis does not know whether the predicate
// of a later read implies its own.
//
// It walks back from each read until every path sets the register, or one reaches the
// function's beginning. Most registers are set where they are read, or shortly before.
func (k *Kernel) unset(b *body) {
	f := &flow{b: b, regs: slices.Clone(b.regs)}
	f.flatten(slices.Concat(b.prologue, b.stmts), nil)
	f.split()
	told := -1 // the step for which a vector's register was reported
	for _, r := range f.find() {
		s, reg := &f.steps[r.step], &f.regs[r.reg]
		elem := r.operand >= s.elem
		switch {
		case reg.inner:
			k.failAt(b.where[s.in], "PTX: register %s is read, and on some way there nothing has set it", reg.name)
		case !elem || told != r.step:
			k.failAt(b.where[s.in], "a register of type %s made at %s is read here, and on some way here nothing has set it%s", reg.typ, reg.at, reg.hint)
			if elem {
				told = r.step
			}
		}
	}
}

// A flow is a function's instructions in one list, including those in blocks of inline
// PTX.
type flow struct {
	b     *body
	regs  []register // including those of inline PTX blocks
	steps []step
	parts []part
}

// A step is a label or an instruction.
type step struct {
	in            *ptx.Inst // nil for a label
	scope         *scope
	reads, writes []int // registers
	elem          int   // reads from here on are elements of vectors
}

// A part is a basic block, a range of steps: only the first may be a label, only the last
// may branch.
type part struct {
	from, to int   // steps
	before   []int // predecessors
}

// A read is a register that a part reads before setting it.
type read struct {
	reg, part, step, operand int
}

// A scope is the names that a block declares.
type scope struct {
	outer  *scope
	labels map[string]int // steps
	regs   map[string]int
}

func (s *scope) label(name string) (int, bool) {
	for ; s != nil; s = s.outer {
		if i, ok := s.labels[name]; ok {
			return i, true
		}
	}
	return 0, false
}

// register returns the index of a register, or -1.
func (f *flow) register(x ptx.Operand, s *scope) int {
	switch y := x.(type) {
	case *ptx.Not:
		x = y.X
	case *ptx.Select:
		x = y.X
	}
	n, ok := x.(ptx.Name)
	if !ok {
		return -1
	}
	for ; s != nil; s = s.outer {
		if i, ok := s.regs[string(n)]; ok {
			return i
		}
	}
	return f.b.find(string(n))
}

func (f *flow) flatten(stmts []ptx.Stmt, outer *scope) {
	s := &scope{outer: outer, labels: map[string]int{}, regs: map[string]int{}}
	for _, x := range stmts {
		switch x := x.(type) {
		case *ptx.Label:
			s.labels[x.Name] = len(f.steps)
			f.steps = append(f.steps, step{})
		case *ptx.Var:
			if x.Space == "reg" {
				for _, name := range declared(x) {
					s.regs[name] = len(f.regs)
					f.regs = append(f.regs, register{name: name, inner: true})
				}
			}
		case *ptx.Block:
			f.flatten(x.Stmts, s)
		case *ptx.Inst:
			f.steps = append(f.steps, f.step(x, s))
		}
	}
}

// step returns the registers that an instruction reads and writes.
func (f *flow) step(in *ptx.Inst, s *scope) step {
	st := step{in: in, scope: s}
	var elems []int
	read := func(x ptx.Operand, elem bool) {
		switch i := f.register(x, s); {
		case i < 0:
		case elem:
			elems = append(elems, i)
		default:
			st.reads = append(st.reads, i)
		}
	}
	write := func(x ptx.Operand) {
		if i := f.register(x, s); i >= 0 {
			st.writes = append(st.writes, i)
		}
	}
	if in.Guard != nil {
		read(ptx.Name(in.Guard.Reg), false)
	}
	for _, bd := range ptx.Bind(in) {
		if m, ok := bd.X.(*ptx.Mem); ok {
			read(m.Base, false)
			continue
		}
		switch {
		case bd.Arg.Role == ptx.Write:
			write(bd.X)
		case bd.Arg.Role != ptx.ReadWrite || bd.Arg.Class != "mem":
			read(bd.X, bd.Elem)
		}
	}
	st.elem = len(st.reads)
	st.reads = append(st.reads, elems...)
	if in.Form == nil || in.Op == "call" { // calls bind lists: results are set
		for _, x := range in.Operands {
			if l, ok := x.(*ptx.List); ok {
				for _, e := range l.Elems {
					write(e)
				}
			}
		}
	}
	return st
}

// split divides the steps into parts.
func (f *flow) split() {
	at := make([]int, len(f.steps)) // the part of each step
	for i := range f.steps {
		if i == 0 || f.steps[i].in == nil || f.steps[i-1].leaves() {
			f.parts = append(f.parts, part{from: i})
		}
		at[i] = len(f.parts) - 1
		f.parts[at[i]].to = i + 1
	}
	lead := func(from, to int) { f.parts[to].before = append(f.parts[to].before, from) }
	for i, p := range f.parts {
		last := &f.steps[p.to-1]
		if last.leaves() && last.in.Op == "bra" {
			if to, ok := last.target(); ok {
				lead(i, at[to])
			}
		}
		if i+1 < len(f.parts) && (!last.leaves() || last.in.Guard != nil) {
			lead(i, i+1)
		}
	}
}

// leaves reports whether execution may not continue with the next step.
func (s *step) leaves() bool {
	if s.in == nil {
		return false
	}
	switch s.in.Op {
	case "bra", "ret", "exit", "trap":
		return true
	}
	return false
}

// target returns the step that a branch goes to.
func (s *step) target() (int, bool) {
	n, _ := s.in.Operands[0].(ptx.Name)
	return s.scope.label(string(n))
}

// find returns the first read of each register that may be unset, in the order of the
// instructions.
func (f *flow) find() (found []read) {
	reads := make([][]read, len(f.regs)) // by register
	sets := make([][]int, len(f.regs))   // the parts that set it
	last := make([]int, len(f.regs))     // the part, from 1, that read or set it last
	for i, p := range f.parts {
		for j := p.from; j < p.to; j++ {
			for o, r := range f.steps[j].reads {
				if last[r] != i+1 {
					last[r] = i + 1
					reads[r] = append(reads[r], read{r, i, j, o})
				}
			}
			for _, r := range f.steps[j].writes {
				last[r] = i + 1
				if n := len(sets[r]); n == 0 || sets[r][n-1] != i {
					sets[r] = append(sets[r], i)
				}
			}
		}
	}
	done := make([]int, len(f.parts)) // the register, from 1, for which a part was last visited
	for r := range f.regs {
		if f.regs[r].given {
			continue
		}
		if len(sets[r]) > 0 && sets[r][0] == 0 && (len(reads[r]) == 0 || reads[r][0].part > 0) {
			continue // the first part, which all paths begin with, sets it
		}
		for _, i := range sets[r] {
			done[i] = r + 1
		}
		for _, x := range reads[r] {
			if f.fromBeginning(x.part, done, r+1) {
				found = append(found, x)
				break
			}
		}
	}
	slices.SortFunc(found, func(a, b read) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.operand, b.operand))
	})
	return found
}

// fromBeginning reports whether a path leads from the function's beginning to the part
// through parts that are not done; it marks the parts it visits as done.
func (f *flow) fromBeginning(part int, done []int, mark int) bool {
	if part == 0 {
		return true
	}
	for list := []int{part}; len(list) > 0; {
		p := list[len(list)-1]
		list = list[:len(list)-1]
		for _, q := range f.parts[p].before {
			if done[q] == mark {
				continue
			}
			if q == 0 {
				return true
			}
			done[q] = mark
			list = append(list, q)
		}
	}
	return false
}
