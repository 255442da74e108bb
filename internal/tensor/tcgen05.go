package tensor

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotModelled is wrapped by errors about what the ISA has and this package
// does not.
var ErrNotModelled = errors.New("not modelled")

// A TCGen05Form is what the text of a tcgen05.mma says, and its instruction
// descriptor.
type TCGen05Form struct {
	Kind    string // as in "f16"
	CTAs    int    // of .cta_group
	ATensor bool   // A is in tensor memory
	Desc    uint32 // idesc
	ScaleD  int    // scale-input-d, negative where there is none
	WS      bool   // .ws
	Sparse  bool   // .sp
	AShift  bool   // .ashift
	Scales  string // as in "scale_vec::2X" or "block32"; "" where the text has none
	Arch    int    // as in 100, of sm_100a
}

// A TCGen05 is one form of tcgen05.mma with one instruction descriptor. D, A and
// B have a part in each CTA of a pair: the even CTA has the first half of A's rows
// and D's, and of B's columns; it is CTA 0 here. Each reads all of B (ISA
// 9.7.18.10, CuTe's traits of the 2x1SM atoms).
//
// A TCGen05 is immutable, and may be used by many goroutines.
type TCGen05 struct {
	TCGen05Form
	M, N, K        int
	D, A, B        Format
	NegA, NegB     bool
	TransA, TransB bool // M-major, N-major

	// Of a kind with block scales: the factors' format, how many a row of A and a
	// column of B have, and which byte of a cell of tensor memory is their first.
	Scale    ScaleFormat
	Factors  int
	SFA, SFB int

	rule   *Rule
	turn   *Rule // with A and B exchanged
	scaled *ScaledRule
	a, b   operand // in shared memory, of one CTA
}

// tcgen05Kinds has D's types and those of A and B by their codes, and K of a dense
// A (ISA 9.7.18.4.2).
var tcgen05Kinds = map[string]struct {
	d, ab map[uint32]Format
	k     int
}{
	"f16":      {map[uint32]Format{0: F16, 1: F32}, map[uint32]Format{0: F16, 1: BF16}, 16},
	"tf32":     {map[uint32]Format{1: F32}, map[uint32]Format{2: TF32}, 8},
	"f8f6f4":   {map[uint32]Format{0: F16, 1: F32}, narrowCodes, 32},
	"i8":       {map[uint32]Format{2: S32}, map[uint32]Format{0: U8, 1: S8}, 32},
	"mxf8f6f4": {nil, narrowCodes, 32},
	"mxf4":     {nil, map[uint32]Format{1: E2M1}, 64},
	"mxf4nvf4": {nil, map[uint32]Format{1: E2M1}, 64},
}

var narrowCodes = map[uint32]Format{0: E4M3, 1: E5M2, 3: E2M3, 4: E3M2, 5: E2M1}

// NewTCGen05 returns a form, or an error that says why the ISA has none, or wraps
// ErrNotModelled.
func NewTCGen05(f TCGen05Form) (*TCGen05, error) {
	t := &TCGen05{TCGen05Form: f}
	if err := t.checkForm(); err != nil {
		return nil, err
	}
	decode := t.decode
	if t.blockScaled() {
		decode = t.decodeScaled
	}
	if err := decode(); err != nil {
		if f.Arch == 107 && !errors.Is(err, ErrNotModelled) {
			return nil, fmt.Errorf("tcgen05.mma of kind %s with instruction descriptor 0x%08x on sm_107, where it has other fields, is %w", f.Kind, f.Desc, ErrNotModelled)
		}
		return nil, err
	}
	switch {
	case t.blockScaled():
		t.scaled = ScaledRuleFor(t.A, t.B, t.packed(), t.Scale, t.stored()/t.Factors)
		t.rule, t.turn = t.scaled.rule, ScaledRuleFor(t.B, t.A, t.packed(), t.Scale, t.stored()/t.Factors).rule
	case t.Kind == "i8":
		saturate := t.Desc>>3&1 != 0
		t.rule, t.turn = IntRule(t.A, t.B, saturate), IntRule(t.B, t.A, saturate)
	default:
		t.rule, t.turn = TCGen05Rule(t.D, t.A, t.B), TCGen05Rule(t.D, t.B, t.A)
	}
	t.a = t.operand(t.A, t.Rows(), t.TransA, t.stored())
	t.b = t.operand(t.B, t.N/t.CTAs, t.TransB, t.K)
	return t, nil
}

// TCGen05Rule is the rule of tcgen05.mma for C and D of format acc ([RuleFor]).
func TCGen05Rule(acc, a, b Format) *Rule {
	r, err := RuleFor(100, UnitTcgen05, acc, a, b)
	if err != nil {
		panic("BUG: no sum of tcgen05.mma: " + err.Error())
	}
	return r
}

// packed reports whether two elements of 4 bits share a byte.
func (f *TCGen05Form) packed() bool { return f.Kind == "mxf4" || f.Kind == "mxf4nvf4" }

// blockScaled reports whether blocks of A and B have factors.
func (f *TCGen05Form) blockScaled() bool { return f.Kind == "mxf8f6f4" || f.packed() }

// stored is how many elements a row of A has in memory: half of K where A is sparse.
func (t *TCGen05) stored() int {
	if t.Sparse {
		return t.K / 2
	}
	return t.K
}

// logical is K of the product for K of a dense A.
func (f *TCGen05Form) logical(k int) int {
	if f.Sparse {
		return 2 * k
	}
	return k
}

// bits is the bits of an element of a format in memory, with its padding.
func (f *TCGen05Form) bits(x Format) int {
	if f.packed() {
		return 4
	}
	return widthOf[x]
}

// operand is a matrix in shared memory. An element of 4 or 6 bits counts as 8, for
// 16 of them are followed by padding, but for the kinds of 4 bits alone, which have
// none (ISA 9.7.18.10.4).
func (t *TCGen05) operand(f Format, rows int, mn bool, k int) operand {
	o := operand{rows: rows, width: k * t.bits(f) / 8, mn: mn, elem: widthOf[f] / 8}
	switch {
	case t.packed():
	case f == E2M3 || f == E3M2:
		o.pad = 4
	case f == E2M1:
		o.pad = 8
	}
	return o
}

func (f *TCGen05Form) checkForm() error {
	_, known := tcgen05Kinds[f.Kind]
	switch {
	case f.Kind == "ti16":
		return fmt.Errorf("tcgen05.mma of kind %s is %w", f.Kind, ErrNotModelled)
	case !known:
		return fmt.Errorf("tcgen05.mma has no kind %q (ISA 9.7.18.10.10.1)", f.Kind)
	case f.WS && (f.CTAs != 1 || f.blockScaled()):
		return fmt.Errorf("tcgen05.mma.ws has neither .cta_group::2 nor block scales (ISA 9.7.18.10.10.3)")
	case f.WS && f.ScaleD >= 0:
		return fmt.Errorf("tcgen05.mma.ws has no scale-input-d (ISA 9.7.18.10.10.3)")
	case f.CTAs != 1 && f.CTAs != 2:
		return fmt.Errorf("tcgen05.mma has no .cta_group::%d, only 1 and 2 (ISA 9.7.18.10.10.1)", f.CTAs)
	case f.ScaleD >= 0 && f.Kind != "f16" && f.Kind != "tf32":
		return fmt.Errorf("tcgen05.mma of kind %s has no scale-input-d, only f16 and tf32 have (ISA 9.7.18.10.10.1)", f.Kind)
	case f.ScaleD > 15:
		return fmt.Errorf("scale-input-d is %d, where 0 to 15 are allowed (ISA 9.7.18.10.10.1)", f.ScaleD)
	}
	return nil
}

// bad is an error about a field of the instruction descriptor.
func (f *TCGen05Form) bad(section, field, bits string, value uint32, format string, args ...any) error {
	if strings.Contains(bits, "-") {
		bits = "bits " + bits
	} else {
		bits = "bit " + bits
	}
	return fmt.Errorf("instruction descriptor 0x%08x has %s %d in %s, where %s (ISA %s)", f.Desc, field, value, bits, fmt.Sprintf(format, args...), section)
}

// decode takes the instruction descriptor apart.
func (t *TCGen05) decode() error {
	d, kind := t.Desc, tcgen05Kinds[t.Kind]
	const table = "9.7.18.4.2"
	for _, z := range []struct {
		field, bits string
		value       uint32
		why         string
	}{
		{"reserved value", "6", d >> 6 & 1, "it must be 0"},
		{"reserved value", "23", d >> 23 & 1, "it must be 0"},
		{"K dimension", "29", d >> 29 & 1, "only sm_107 has another K: it must be 0"},
		{"maximum shift", "30-31", d >> 30, "only tcgen05.mma.ws shifts B: it must be 0"},
	} {
		if z.value != 0 && (!t.WS || z.field != "maximum shift") {
			return t.bad(table, z.field, z.bits, z.value, "%s", z.why)
		}
	}
	if err := t.checkSparsity(); err != nil {
		return err
	}
	if t.Kind != "i8" && d>>3&1 != 0 {
		return t.bad(table, "saturate", "3", 1, "only kind i8 saturates: it must be 0")
	}
	if t.Kind == "i8" && d>>13&3 != 0 {
		return t.bad("9.7.18.10.1", "negate A and B", "13-14", d>>13&3, "kind i8 negates nothing: they must be 0")
	}
	var ok bool
	if t.D, ok = kind.d[d>>4&3]; !ok {
		return t.bad(table, "D type", "4-5", d>>4&3, "kind %s has %s", t.Kind, codes(kind.d))
	}
	if t.A, ok = kind.ab[d>>7&7]; !ok {
		return t.bad(table, "A type", "7-9", d>>7&7, "kind %s has %s", t.Kind, codes(kind.ab))
	}
	if t.B, ok = kind.ab[d>>10&7]; !ok {
		return t.bad(table, "B type", "10-12", d>>10&7, "kind %s has %s", t.Kind, codes(kind.ab))
	}
	if t.D == F16 && (t.A == BF16 || t.B == BF16) {
		return t.bad("9.7.18.2.1", "D type", "4-5", 0, "a D of f16 goes with A and B of f16 only")
	}
	t.NegA, t.NegB = d>>13&1 != 0, d>>14&1 != 0
	t.TransA, t.TransB = d>>15&1 != 0, d>>16&1 != 0
	t.N, t.M, t.K = int(d>>17&63)<<3, int(d>>24&31)<<4, t.logical(kind.k)
	return t.checkShape()
}

// checkShape says which M and N go with a kind and its types (ISA 9.7.18.2.1).
func (t *TCGen05) checkShape() error {
	if t.WS {
		if err := t.checkWS(); err != nil {
			return err
		}
		return t.checkPlace()
	}
	m := t.Desc >> 24 & 31
	low, high := 64, 128
	if t.CTAs == 2 {
		low, high = 128, 256
	}
	if t.M != low && t.M != high {
		return t.bad("9.7.18.2.1", "M/16", "24-28", m, ".cta_group::%d has M of %d and %d, that is %d and %d", t.CTAs, low, high, low/16, high/16)
	}
	if err := t.checkN(); err != nil {
		return err
	}
	return t.checkPlace()
}

// checkN says which N go with a kind.
func (t *TCGen05) checkN() error {
	n, step := t.Desc>>17&63, 8*t.CTAs
	switch {
	case t.Kind == "i8" && t.CTAs == 1 && (t.N < 8 || t.N > 256 || t.N%8 != 0 || t.N > 32 && t.N%16 != 0):
		return t.bad("9.7.18.2.1", "N/8", "17-22", n, "kind i8 with .cta_group::1 has N of 8, 16, 24, and from 32 to 256 in steps of 16, that is 1, 2, 3, and from 4 to 32 in steps of 2")
	case t.Kind == "i8" && t.CTAs == 2 && (t.N < 32 || t.N > 256 || t.N%32 != 0):
		return t.bad("9.7.18.2.1", "N/8", "17-22", n, "kind i8 with .cta_group::2 has N from 32 to 256 in steps of 32, that is from 4 to 32 in steps of 4")
	case t.N < step || t.N > 256 || t.N%step != 0:
		return t.bad("9.7.18.2.1", "N/8", "17-22", n, ".cta_group::%d has N from %d to 256 in steps of %d, that is from %d to 32 in steps of %d", t.CTAs, step, step, step/8, step/8)
	case t.TransB && widthOf[t.B] == 8 && t.N%(2*step) != 0:
		return t.bad("9.7.18.10.1", "N/8", "17-22", n, "a transposed B of kind %s with .cta_group::%d has N in steps of %d, that is of %d", t.Kind, t.CTAs, 2*step, step/4)
	}
	return nil
}

// checkPlace says which A may lie in tensor memory.
func (t *TCGen05) checkPlace() error {
	switch {
	case t.AShift && t.M < 128:
		return t.bad("9.7.18.10.10.1", "M/16", "24-28", t.Desc>>24&31, ".ashift is allowed with M of 128 and 256 alone, that is 8 and 16")
	case t.AShift && t.Layout() == 'B':
		return fmt.Errorf("tcgen05.mma with .ashift under layout B, which has each row of A in two lanes, is %w", ErrNotModelled)
	case t.ATensor && t.TransA:
		return t.bad("9.7.18.10.2", "transpose A", "15", 1, "a matrix A in tensor memory is K-major: it must be 0")
	}
	return nil
}

// codes lists the codes of a field as in the ISA's table.
func codes(m map[uint32]Format) string {
	s := ""
	for code := range uint32(8) {
		if f, ok := m[code]; ok {
			if s != "" {
				s += ", "
			}
			s += fmt.Sprintf("%s = %d", strings.ToUpper(f.String()), code)
		}
	}
	return s
}

// Rows is how many rows of A and D a CTA has.
func (t *TCGen05) Rows() int { return t.M / t.CTAs }

// SpansA returns the bytes of shared memory that are read of A, the same in each
// CTA's window, in ascending order. None where A is in tensor memory.
func (t *TCGen05) SpansA(desc uint64) []Span {
	if t.ATensor {
		return nil
	}
	return spansOf(TensorDescriptor(desc).canonical(), &t.a)
}

// SpansB is SpansA for B.
func (t *TCGen05) SpansB(desc uint64, zero ZeroColumns) []Span {
	o := t.shiftedB(zero)
	return spansOf(TensorDescriptor(desc).canonical(), &o)
}

// CheckA says in one sentence why the ISA forbids a descriptor for A, or wraps
// ErrNotModelled.
func (t *TCGen05) CheckA(desc uint64) error {
	if t.ATensor {
		return nil
	}
	return TensorDescriptor(desc).checkFor("A", t.A, t.TransA, t.a.width)
}

// CheckB is CheckA for B.
func (t *TCGen05) CheckB(desc uint64) error {
	return TensorDescriptor(desc).checkFor("B", t.B, t.TransB, t.b.width)
}
