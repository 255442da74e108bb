package lsp

import (
	"sync"

	"muster/ptx"
)

// This file follows addresses through a function's registers, without regard to control flow:
// a register points where all that is written to it points. Where that is nowhere, reach.go
// looks at the ways to an instruction.

// A place is an address or a number as far as the text tells it.
type place struct {
	base  any // *name of a variable, or register; nil for a number
	off   int64
	exact bool // off is known
}

// A register is one of a function.
type register struct {
	scope *scope
	name  string
}

// A flow is what the text tells of a function's registers.
type flow struct {
	index   *index
	writers map[register][]int
	values  map[register]value
	mu      sync.Mutex // of reach
	reach   *reach
	ends    func() map[int]end
}

// A value is what is known of a register: nothing yet, a place, or that it is no one place. It
// only ever goes that way, and a place only from an offset that is known to one that is not, so
// that the search for values ends.
type value struct {
	known knowledge
	place
}

type knowledge uint8

const (
	nothing knowledge = iota
	somewhere
	anywhere
)

// A step is an instruction that computes a register from others.
type step struct {
	in      *inst
	to      register
	sources []ptx.Operand
}

// newFlow finds the values of all registers of a function.
func newFlow(x *index, fn *function) *flow {
	f := &flow{index: x, writers: map[register][]int{}, values: map[register]value{}}
	var steps []step
	for i := fn.first; i < fn.last; i++ {
		in := &x.insts[i]
		to, sources := in.registers()
		for _, r := range to {
			f.writers[r] = append(f.writers[r], i)
			if computes(in.in) && len(to) == 1 {
				steps = append(steps, step{in, r, sources})
			} else {
				f.values[r] = value{known: anywhere}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range steps {
			old := f.values[steps[i].to]
			if joined := old.join(f.result(&steps[i], f.value)); joined != old {
				f.values[steps[i].to], changed = joined, true
			}
		}
	}
	f.reach = newReach(f, fn)
	return f
}

// registers are those that an instruction writes, and its other operands.
func (i *inst) registers() (to []register, sources []ptx.Operand) {
	for _, b := range ptx.Bind(i.in) {
		if b.Arg.Role != ptx.Write {
			sources = append(sources, b.X)
		}
		if r, ok := i.register(b.X); ok && (b.Arg.Role == ptx.Write || b.Arg.Role == ptx.ReadWrite) && !b.Inside {
			to = append(to, r)
		}
	}
	return to, sources
}

// step is an instruction as a step; nil if it is none.
func (f *flow) step(in *inst) *step {
	to, sources := in.registers()
	if !computes(in.in) || len(to) != 1 {
		return nil
	}
	return &step{in, to[0], sources}
}

// value is what is known of a register anywhere in the function.
func (f *flow) value(r register) value { return f.values[r] }

// computes reports whether an instruction makes its result of registers alone.
func computes(in *ptx.Inst) bool {
	eff := in.Effect()
	return eff != 0 && !eff.Has(ptx.Reads|ptx.Updates|ptx.Exchanges|ptx.Calls|ptx.Data)
}

// join is what is known of a register that may have either value.
func (v value) join(o value) value {
	switch {
	case v.known == nothing || o.known == anywhere:
		return o
	case o.known == nothing || v.known == anywhere:
		return v
	case v.base != o.base || v.base == nil && v.place != o.place:
		return value{known: anywhere}
	case v.off != o.off || !o.exact || !v.exact:
		return value{somewhere, place{base: v.base}}
	}
	return v
}

// result is what a step gives its register, by the values of others.
func (f *flow) result(s *step, of func(register) value) value {
	var at []place // of the sources that point into a variable
	var numbers []int64
	unknown := 0
	for _, x := range s.sources {
		switch v := f.operand(s.in, x, of); {
		case v.known == nothing:
			return v
		case v.known == anywhere:
			unknown++
		case v.base == nil:
			numbers = append(numbers, v.off)
		default:
			at = append(at, v.place)
		}
	}
	eff := s.in.in.Effect()
	same, adds := eff.Has(ptx.Moves|ptx.Converts), eff.Has(ptx.Adds)
	if len(at) == 0 {
		switch {
		case unknown == 0 && same && len(numbers) == 1:
			return value{somewhere, place{off: numbers[0], exact: true}}
		case unknown == 0 && adds && len(numbers) == 2:
			return value{somewhere, place{off: numbers[0] + numbers[1], exact: true}}
		}
		return value{known: anywhere}
	}
	p := at[0]
	for _, o := range at[1:] {
		if o.base != p.base {
			return value{known: anywhere}
		}
	}
	switch {
	case len(at) == 1 && unknown == 0 && same:
	case len(at) == 1 && unknown == 0 && adds && len(numbers) == 1 && p.exact:
		p.off += numbers[0]
	default:
		p = place{base: p.base} // an element that is computed
	}
	return value{somewhere, p}
}

// operand is what is known of an operand.
func (f *flow) operand(at *inst, x ptx.Operand, of func(register) value) value {
	switch x := x.(type) {
	case ptx.Int:
		return value{somewhere, place{off: int64(x.Bits), exact: true}}
	case *ptx.Mem:
		return f.operand(at, x.Base, of).plus(x.Off)
	case *ptx.Binary:
		if n, ok := x.Y.(ptx.Int); ok && x.Op == "+" {
			return f.operand(at, x.X, of).plus(int64(n.Bits))
		}
	case ptx.Name:
		if r, ok := at.register(x); ok {
			if len(f.writers[r]) == 0 {
				return value{known: anywhere}
			}
			return of(r)
		}
		if n, _ := at.scope.find(string(x)); n != nil && n.v != nil {
			return value{somewhere, place{base: n, exact: true}}
		}
	}
	return value{known: anywhere}
}

func (v value) plus(n int64) value {
	if v.known == somewhere && v.exact {
		v.off += n
	}
	return v
}

// follow is where an operand of an instruction points. A register of which that is not known
// is a place of its own.
func (f *flow) follow(i int, x ptx.Operand) place {
	in := &f.index.insts[i]
	at := func(r register) value {
		if f.reach.lost {
			return f.values[r]
		}
		return f.reach.value(use{i, r}, 0)
	}
	f.mu.Lock()
	v := f.operand(in, x, at)
	f.mu.Unlock()
	if v.known == somewhere {
		return v.place
	}
	if m, ok := x.(*ptx.Mem); ok {
		p := f.follow(i, m.Base)
		p.off += m.Off
		return p
	}
	if r, ok := in.register(x); ok {
		return place{base: r, exact: true}
	}
	return place{}
}

// register is the register that an operand names.
func (i *inst) register(x ptx.Operand) (register, bool) {
	key, ok := x.(ptx.Name)
	if !ok {
		return register{}, false
	}
	n, s := i.scope.find(string(key))
	if n == nil || n.v == nil || n.v.Space != "reg" {
		return register{}, false
	}
	return register{s, string(key)}, true
}

func isVariable(base any) bool {
	_, ok := base.(*name)
	return ok
}
