package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Unit is a family of instructions with arithmetic of its own.
type Unit uint8

// The units. wmma.mma is made of mma.sync on every architecture; it is a unit
// because it has fewer formats.
const (
	UnitMMA Unit = 1 << iota
	UnitWMMA
	UnitWGMMA
	UnitTcgen05
)

// String is the instruction's name.
func (u Unit) String() string {
	switch u {
	case UnitMMA:
		return "mma.sync"
	case UnitWMMA:
		return "wmma.mma"
	case UnitWGMMA:
		return "wgmma.mma_async"
	case UnitTcgen05:
		return "tcgen05.mma"
	}
	return fmt.Sprintf("Unit(%d)", uint8(u))
}

// A Basis is what the belief in a [Sum] rests on.
type Basis uint8

// The bases, the strongest first. The package's documentation has more.
const (
	// Measured: results of cards equal the rule's bit for bit.
	Measured Basis = iota
	// Modelled: a published model that its authors held to the card says so; the
	// results that there are do not show all of it.
	Modelled
	// Assumed: no model covers the format or the architecture; its neighbours do.
	Assumed
)

func (b Basis) String() string { return [...]string{"measured", "modelled", "assumed"}[b] }

// A Sum is how a unit of an architecture adds C and the products of one
// instruction. The rule of the package's documentation has these parameters.
type Sum struct {
	// Bits is F, how many fraction bits are kept below the largest exponent.
	Bits int32
	// Step is how many products are added at once, in the order of k; the result
	// of a step is the C of the next. 0: all of an instruction's.
	Step int
	// Floor is an exponent that the largest one counts as where it is below it. 0:
	// there is none.
	Floor int32
	// Keep is how many fraction bits an f32 result has.
	Keep int
	// Widened: operands of fp8 are converted to f16; elements 0 and 1 of each four
	// are a step, and elements 2 and 3 the next.
	Widened bool
	// Last: the first step begins with zero, and C is added by an ordinary addition
	// at the end.
	Last  bool
	Basis Basis
}

// NewRule is the rule of a sum for operands of formats a and b and C and D of
// format acc, F32 or F16.
func NewRule(acc, a, b Format, s Sum) *Rule {
	if s.Floor == 0 {
		s.Floor = lowestFloor
	}
	return &Rule{
		a: a, b: b, acc: acc, bits: s.Bits, mask: ^uint32(1<<(23-s.Keep) - 1), floor: s.Floor,
		step: s.Step, halves: s.Widened, last: s.Last, basis: s.Basis,
	}
}

// lowestFloor is below every exponent of a product.
const lowestFloor = -600

// Basis is what the belief in the rule rests on.
func (r *Rule) Basis() Basis { return r.basis }

// ErrSumNotKnown says that nobody published how an instruction adds.
var ErrSumNotKnown = errors.New("how it adds is not known")

// A sumRow is how units of architectures add.
type sumRow struct {
	archs    []int
	units    Unit
	operands string // formats of A and B, in any mix of the same width
	Sum
}

// sums has the architectures' floating-point units: the first row that fits is
// it. doc.go says what each rests on.
var sums = []sumRow{
	{[]int{70}, UnitMMA | UnitWMMA, "f16", Sum{Bits: 23, Step: 4, Keep: 23, Basis: Modelled}},
	{[]int{80, 86, 89}, UnitMMA | UnitWMMA, "f16 bf16", Sum{Bits: 24, Step: 8, Keep: 23, Basis: Modelled}},
	{[]int{80, 86, 89}, UnitMMA | UnitWMMA, "tf32", Sum{Bits: 24, Step: 4, Keep: 23, Basis: Modelled}},
	{[]int{89}, UnitMMA, "e4m3 e5m2", Sum{Bits: 13, Step: 16, Keep: 13}},
	{[]int{90, 100}, UnitMMA | UnitWMMA, "f16 bf16", wholeSum},
	{[]int{90}, UnitMMA | UnitWMMA, "tf32", wholeSum},
	{[]int{100}, UnitMMA | UnitWMMA, "tf32", wholeSum.on(Modelled)},
	{[]int{90, 100}, UnitMMA, "e4m3 e5m2", widenedSum},
	{[]int{90}, UnitWGMMA, "f16 bf16 tf32", wholeSum},
	{[]int{90}, UnitWGMMA, "e4m3 e5m2", shortSum},
	{[]int{100}, UnitTcgen05, "f16 bf16 tf32 e4m3 e5m2", wholeSum.on(Modelled)},
	{[]int{100}, UnitTcgen05, "e2m3 e3m2 e2m1", wholeSum.on(Assumed)},
	{[]int{103}, UnitMMA | UnitWMMA, "f16 bf16 tf32", wholeSum.on(Assumed)},
	{[]int{103}, UnitMMA, "e4m3 e5m2", widenedSum.on(Assumed)},
	{[]int{103}, UnitTcgen05, "f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1", wholeSum.on(Assumed)},
	{[]int{120}, UnitMMA | UnitWMMA, "f16 bf16 tf32", wholeSum.on(Modelled)},
	{[]int{120}, UnitMMA, "e4m3 e5m2", wholeSum.on(Modelled)},
	{[]int{120}, UnitMMA, "e2m3 e3m2 e2m1", wholeSum.on(Assumed)},
	{[]int{121}, UnitMMA | UnitWMMA, "f16 bf16 tf32", wholeSum.on(Assumed)},
	{[]int{121}, UnitMMA, "e4m3 e5m2 e2m3 e3m2 e2m1", wholeSum.on(Assumed)},
}

var (
	// wholeSum is the unit of Hopper and Blackwell.
	wholeSum = Sum{Bits: 25, Keep: 23}
	// widenedSum is what ptxas makes of mma.sync with fp8 operands where the chip
	// has no such instruction.
	widenedSum = Sum{Bits: 25, Keep: 23, Widened: true, Last: true}
	// shortSum is Hopper's for fp8.
	shortSum = Sum{Bits: 13, Keep: 13}
)

// on is the sum with another basis.
func (s Sum) on(b Basis) Sum {
	s.Basis = b
	return s
}

// SumOf returns how a unit of an architecture, 100 for sm_100, adds products of
// operands of formats a and b. The error is [ErrSumNotKnown], with what it is
// about.
func SumOf(arch int, unit Unit, a, b Format) (Sum, error) {
	var found [2]*Sum
	for i, f := range []Format{a, b} {
		for n := range sums {
			row := &sums[n]
			if row.units&unit != 0 && slices.Contains(row.archs, arch) && slices.Contains(strings.Fields(row.operands), f.String()) {
				found[i] = &row.Sum
				break
			}
		}
	}
	if found[0] == nil || found[1] == nil || found[0].on(Assumed) != found[1].on(Assumed) || widthOf[a] != widthOf[b] {
		return Sum{}, fmt.Errorf("%s with operands of %s and %s on sm_%d: %w", unit, a, b, arch, ErrSumNotKnown)
	}
	return found[0].on(max(found[0].Basis, found[1].Basis)), nil
}

// RuleFor is the rule of a unit of an architecture, for C and D of format acc,
// F32 or F16. It is not asked for m8n8k4 with f16, which is [Chain] from sm_80 on.
// The error is [ErrSumNotKnown], with what it is about.
func RuleFor(arch int, unit Unit, acc, a, b Format) (*Rule, error) {
	s, err := SumOf(arch, unit, a, b)
	if err != nil {
		return nil, err
	}
	return NewRule(acc, a, b, s), nil
}

// On is the form on another architecture than sm_90, if it is known there. The
// forms of f64 and of integers are the same on all.
func (w *WarpMMA) On(arch int) (*WarpMMA, error) {
	if w.rule == nil || w.rule.integer() {
		return w, nil
	}
	if w.scaled != nil {
		if arch != 120 && arch != 121 {
			return nil, fmt.Errorf("mma with block scales on sm_%d: %w", arch, ErrSumNotKnown)
		}
		return w, nil
	}
	r, err := RuleFor(arch, UnitMMA, w.rule.acc, w.rule.a, w.rule.b)
	if err != nil {
		return nil, err
	}
	other := *w
	other.rule = r
	return &other, nil
}

// On is the form on another architecture than sm_90, if it is known there.
func (w *WMMA) On(arch int) (*WMMA, error) {
	mma, err := w.mma.On(arch)
	if err != nil {
		return nil, err
	}
	other := *w
	other.mma = mma
	return &other, nil
}
