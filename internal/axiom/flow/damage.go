package flow

import (
	"math"

	"muster/internal/axiom"
)

// A spot is an instruction of a program, in the code that has it.
type spot struct {
	code *[]Instr
	i    int
}

func (s spot) in() *Instr { return &(*s.code)[s.i] }

// spots lists the instructions of a program.
func (p *Program) spots(is func(*Instr) bool) (all []spot) {
	var walk func(code *[]Instr)
	walk = func(code *[]Instr) {
		for i := range *code {
			in := &(*code)[i]
			if is(in) {
				all = append(all, spot{code, i})
			}
			walk(&in.Body)
			walk(&in.Else)
		}
	}
	for w := range p.Warps {
		for s := range p.Warps[w].Steps {
			for r := range p.Warps[w].Steps[s].Roles {
				walk(&p.Warps[w].Steps[s].Roles[r].Code)
			}
		}
	}
	return all
}

func (s spot) insert(code ...Instr) {
	list := *s.code
	*s.code = append(append(append([]Instr(nil), list[:s.i]...), code...), list[s.i:]...)
}

func (s spot) remove() {
	list := *s.code
	*s.code = append(append([]Instr(nil), list[:s.i]...), list[s.i+1:]...)
}

// damage makes one change of a program with counters that may break it.
func (c *counting) damage() {
	one := func(is func(*Instr) bool) (spot, bool) {
		list := c.p.spots(is)
		if len(list) == 0 {
			return spot{}, false
		}
		return list[c.IntN(len(list))], true
	}
	accesses := func(in *Instr) bool { return in.Kind <= Red || in.Kind == Poll }
	atom := func(in *Instr) bool { return in.Kind == Atom }
	any := func(*Instr) bool { return true }
	near := func(v uint32) uint32 { return pick(c.generator, v-1, v+1, v+1) }
	switch c.IntN(15) {
	case 0, 1, 2:
		c.harm()
	case 3: // a comparison with another number
		if s, ok := one(func(in *Instr) bool { return in.Kind == If || in.Kind == Loop }); ok {
			v := &s.in().Src[1]
			v.Const = near(v.Const)
		}
	case 4: // another place
		if s, ok := one(accesses); ok {
			at := &s.in().At
			at.Const = near(at.Const) % uint32(c.p.Words)
		}
	case 5: // one place for all
		if s, ok := one(func(in *Instr) bool { return accesses(in) && in.At.CTA > 0 }); ok {
			s.in().At.CTA = 0
		}
	case 6: // another operand
		if s, ok := one(func(in *Instr) bool { return accesses(in) && len(in.Src) > 0 }); ok {
			v := &s.in().Src[c.IntN(len(s.in().Src))]
			v.Const = near(v.Const)
		}
	case 7: // another operation
		if s, ok := one(func(in *Instr) bool { return in.Kind == Atom && in.Op != Cas }); ok {
			s.in().Op = pick(c.generator, Add, Inc, Exch, Max, Min, Or, Xor, And)
		}
	case 8:
		if s, ok := one(any); ok {
			s.remove()
		}
	case 9: // moved to elsewhere in its code
		if s, ok := one(any); ok {
			in := *s.in()
			s.remove()
			spot{s.code, c.IntN(len(*s.code) + 1)}.insert(in)
		}
	case 10, 11, 12: // a number decides something else
		if s, ok := one(atom); ok {
			c.leak(spot{s.code, s.i + 1 + c.IntN(len(*s.code)-s.i)}, s.in().Dst[0])
		}
	case 13: // another access to the counter, or to data
		if s, ok := one(accesses); ok {
			in := c.read(c.reg(), s.in().At, pick(c.generator, axiom.Weak, axiom.Relaxed, axiom.Acquire))
			if c.chance(40) {
				in = c.write(s.in().At, V(uint32(c.IntN(3))), pick(c.generator, axiom.Weak, axiom.Relaxed))
			}
			in.Shared = s.in().Shared
			list := []Instr{in}
			if in.Kind == Load && c.chance(50) {
				list = append(list, c.write(Value{Const: 24, CTA: 1}, R(in.Dst[0]), axiom.Weak))
			}
			spot{s.code, c.IntN(len(*s.code) + 1)}.insert(list...)
		}
	case 14: // done twice
		if s, ok := one(accesses); ok {
			s.insert(*s.in())
		}
	}
}

// leak has a number decide something.
func (c *counting) leak(s spot, r int) {
	own := Value{Const: 24, CTA: 1}
	t := c.reg()
	switch c.IntN(13) {
	case 10: // as a number that wraps
		k := uint32(1 + c.IntN(3))
		s.insert(move(Add, t, R(r), V(-k)), when(pick(c.generator, Lt, Ge), R(t), V(pick(c.generator, 1, math.MaxUint32, -k)), c.write(own, V(1), axiom.Weak)))
	case 11: // two numbers
		q := c.reg()
		s.insert(c.update(Atom, Add, V(28), axiom.Relaxed, V(1)), move(Sub, q, R(c.regs-1), R(r)), when(Eq, R(q), V(0), c.write(own, V(1), axiom.Weak)))
	case 12: // what is stored at last
		s.insert(c.write(own, R(r), axiom.Weak), c.write(own, V(4), axiom.Weak))
	case 0:
		s.insert(c.write(own, R(r), axiom.Weak))
	case 1:
		s.insert(c.update(pick(c.generator, Red, Atom), pick(c.generator, Add, Max, Exch), V(30), axiom.Relaxed, R(r)))
	case 2:
		s.insert(when(pick(c.generator, Eq, Ne, Lt, Ge), R(r), V(uint32(c.IntN(3))), c.write(own, V(1), axiom.Weak)))
	case 3:
		s.insert(c.read(t, Value{Const: 8, Reg: r + 1}, axiom.Weak))
	case 4: // a bit of it
		s.insert(move(And, t, R(r), V(1)), when(Eq, R(t), V(0), c.write(own, V(1), axiom.Weak)))
	case 5: // nothing of it
		s.insert(move(pick(c.generator, Xor, Sub), t, R(r), R(r)), c.write(own, R(t), axiom.Weak))
	case 6: // through memory
		s.insert(c.write(own, R(r), axiom.Weak), c.read(t, own, axiom.Weak), c.write(own, V(0), axiom.Weak),
			when(Eq, R(t), V(1), c.write(V(29), V(1), pick(c.generator, axiom.Weak, axiom.Relaxed))))
	case 7: // how often a loop goes round
		q := c.reg()
		s.insert(move(Min, t, R(r), V(2)), move(Add, q, V(0), V(0)), Instr{Kind: Loop, Cmp: Lt, Src: []Value{R(q), R(t)},
			Body: []Instr{move(Add, q, R(q), V(1)), c.update(Red, Add, V(29), axiom.Relaxed, V(1))}})
	case 8: // a limit
		s.insert(move(pick(c.generator, Min, Max), t, R(r), V(uint32(c.IntN(3)))), c.write(own, R(t), axiom.Weak))
	case 9: // what a second draw adds
		s.insert(move(And, t, R(r), V(1)), c.update(Atom, Add, V(28), axiom.Relaxed, R(t)))
	}
}
