package machine

import (
	"math"

	"muster/internal/num"
)

// Sums of floating-point numbers. What atomics add to a word in no order is known but for its
// last bits. A run that tracks undefined values takes the word, and what an addition returns, for
// such: it then shows whether they decide anything, or only go to outputs.

// UndefinedSum: a sum of floating-point numbers, by an instruction.
const UndefinedSum UndefinedKind = 101

// A Sum is what several additions to a word come to, the first of them by one lane.
type Sum struct {
	PC        int32
	CTA, Warp int32
	Lane      int
	Mem       MemID
	Addr      uint64
	Size      int32
	Type      string
	Additions int
	// Magnitude is the sum of the absolute values of what was there and of all that was added.
	Magnitude float64
}

type sums struct {
	at    map[int32]bool
	words map[counterWord]int
	list  []Sum
}

// FollowSums makes a run that tracks undefined values take the sums of some additions of
// floating-point numbers for such.
func (u *Undefined) FollowSums(at map[int32]bool) {
	u.sums = &sums{at: at, words: map[counterWord]int{}}
}

// Sums lists the words to which they add, in the order of the first additions.
func (u *Undefined) Sums() []Sum { return u.sums.list }

// Bound returns by how much the sums of two orders differ at most: twice what an order differs
// from the exact sum (Higham, Accuracy and Stability of Numerical Algorithms, 2002, 4.2). Where
// additions flush subnormal numbers, as those of f32 to global memory do (ISA 9.7.13.6), each
// loses as much as the least normal number besides. Infinite: no bound is known.
func (s *Sum) Bound() float64 {
	unit, lost := map[string]float64{"f32": 0x1p-24, "f64": 0x1p-53, "f16": 0x1p-11, "bf16": 0x1p-8}[s.Type], 0.0
	if s.Type == "f32" && s.Mem == Global {
		lost = 0x1p-126
	}
	n := float64(s.Additions)
	if unit == 0 || n*unit >= 1 || math.IsInf(s.Magnitude, 0) || math.IsNaN(s.Magnitude) {
		return math.Inf(1)
	}
	return 2 * (n*unit/(1-n*unit)*s.Magnitude + n*lost)
}

// summed enters an addition of one lane, and reports whether it is one of those followed.
func (u *Undefined) summed(x *ctx, a *access, mem MemID, addr uint64, l int, old, operand uint64) bool {
	s := u.sums
	if s == nil || !s.at[x.s.pc] || a.atom != atomAdd {
		return false
	}
	switch a.t {
	case f32:
		s.add(x, "f32", mem, addr, 4, l, float64(math.Float32frombits(uint32(old))), float64(math.Float32frombits(uint32(operand))))
	case f64:
		s.add(x, "f64", mem, addr, 8, l, math.Float64frombits(old), math.Float64frombits(operand))
	case f16, f16x2:
		for i := uint64(0); i < uint64(a.t.size()); i += 2 {
			s.add(x, "f16", mem, addr+i, 2, l, half(old>>(8*i)), half(operand>>(8*i)))
		}
	case bf16, bf16x2:
		for i := uint64(0); i < uint64(a.t.size()); i += 2 {
			s.add(x, "bf16", mem, addr+i, 2, l, brain(old>>(8*i)), brain(operand>>(8*i)))
		}
	default:
		return false
	}
	return true
}

func half(v uint64) float64 { return float64(math.Float32frombits(num.F16ToF32(uint16(v)))) }

func brain(v uint64) float64 { return float64(math.Float32frombits(uint32(uint16(v)) << 16)) }

func (s *sums) add(x *ctx, name string, mem MemID, addr uint64, size int32, l int, old, v float64) {
	k := counterWord{mem, addr}
	i, ok := s.words[k]
	if !ok {
		i = len(s.list)
		s.words[k] = i
		s.list = append(s.list, Sum{PC: x.s.pc, CTA: x.w.cta, Warp: x.w.index, Lane: l, Mem: mem, Addr: addr, Size: size, Type: name, Magnitude: math.Abs(old)})
	}
	s.list[i].Additions++
	s.list[i].Magnitude += math.Abs(v)
}
