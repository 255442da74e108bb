package tensor

import (
	"fmt"
)

// A WGMMAForm is what the text of a wgmma.mma_async instruction says.
type WGMMAForm struct {
	Shape          string // as in "m64n128k16"
	D, A, B        string // types, as in "f32", "f16", "e4m3", "s8", "b1", "s32"
	ARegs          bool   // A is in registers
	Sparse         bool   // wgmma.mma_async.sp
	Satfinite      bool
	NegA, NegB     bool // imm-scale-a, imm-scale-b are -1
	TransA, TransB bool // imm-trans-a, imm-trans-b are 1: M-major, N-major
	Selector       int  // sparsity selector
}

// A WGMMA is one form of wgmma.mma_async; warp w computes rows 16w to 16w+15 of
// the 64 of D. It is immutable, and may be used by many goroutines.
type WGMMA struct {
	WGMMAForm
	N, K int
	bits int // of an element of A and B
	rule *Rule
	b    operand
	a    [4]operand // by warp
}

// operandFormats are the formats that A and B may have.
var operandFormats = map[string]Format{"f16": F16, "bf16": BF16, "tf32": TF32, "e4m3": E4M3, "e5m2": E5M2, "s8": S8, "u8": U8, "b1": B1}

// NewWGMMA returns a form, or an error that says why the ISA has none (ISA
// 9.7.15.5.2, 9.7.15.6.3).
func NewWGMMA(f WGMMAForm) (*WGMMA, error) {
	w := &WGMMA{WGMMAForm: f}
	if why := w.setup(); why != "" {
		return nil, fmt.Errorf("wgmma %s.%s.%s.%s: %s", f.Shape, f.D, f.A, f.B, why)
	}
	a, b := operandFormats[f.A], operandFormats[f.B]
	switch {
	case f.D == "f16":
		w.rule = WGMMARule(F16, a, b)
	case f.D == "f32":
		w.rule = WGMMARule(F32, a, b)
	case f.A == "b1":
		w.rule = BitRule(false)
	default:
		w.rule = IntRule(a, b, f.Satfinite)
	}
	w.b = operand{rows: w.N, width: w.K * w.bits / 8, mn: f.TransB, elem: 2}
	for i := range w.a {
		w.a[i] = operand{first: 16 * i, rows: 16, width: 32, mn: f.TransA, elem: 2}
	}
	return w, nil
}

// setup parses the form, and returns what the ISA forbids in it.
func (w *WGMMA) setup() string {
	if !w.typesMatch() {
		return "no such combination of types"
	}
	w.bits = widthOf[operandFormats[w.A]]
	if !w.shapeMatches() {
		return "no such shape"
	}
	integer := w.D == "s32"
	switch {
	case w.Sparse && w.A == "b1":
		return "no sparse form"
	case (w.TransA || w.TransB) && w.bits != 16:
		return "only 16-bit types can be transposed"
	case w.TransA && w.ARegs:
		return "a matrix A in registers cannot be transposed"
	case (w.NegA || w.NegB) && integer:
		return "integers cannot be negated"
	case w.Satfinite && (!integer || w.A == "b1"):
		return "no .satfinite form"
	case w.Selector < 0 || w.Selector > 1 || w.Selector == 1 && (!w.Sparse || w.bits == 8):
		return fmt.Sprintf("no sparsity selector %d", w.Selector)
	}
	return ""
}

// shapeMatches parses the shape, and reports whether the ISA has it. K is 256
// bits of a row of A, stored or, of a sparse A, half of them. The ISA's syntax
// stops at N of 224 for dense integers, its table of shapes at 256, as do ptxas
// and the card.
func (w *WGMMA) shapeMatches() bool {
	if _, err := fmt.Sscanf(w.Shape, "m64n%dk%d", &w.N, &w.K); err != nil || fmt.Sprintf("m64n%dk%d", w.N, w.K) != w.Shape {
		return false
	}
	k := 256 / w.bits
	if w.Sparse {
		k *= 2
	}
	step := 8
	if w.D == "s32" && w.N > 32 {
		step = 16
	}
	return w.K == k && w.N >= 8 && w.N <= 256 && w.N%step == 0
}

func (f *WGMMAForm) typesMatch() bool {
	switch f.A {
	case "f16":
		return f.B == f.A && (f.D == "f16" || f.D == "f32")
	case "bf16", "tf32":
		return f.B == f.A && f.D == "f32"
	case "e4m3", "e5m2":
		return (f.B == "e4m3" || f.B == "e5m2") && (f.D == "f16" || f.D == "f32")
	case "s8", "u8":
		return (f.B == "s8" || f.B == "u8") && f.D == "s32"
	}
	return f.B == "b1" && f.D == "s32"
}

// AccRegs is the number of registers of D a thread.
func (w *WGMMA) AccRegs() int {
	if w.D == "f16" {
		return w.N / 4
	}
	return w.N / 2
}

// FragRegs is the number of registers of A a thread: four, or none where A is
// in shared memory.
func (w *WGMMA) FragRegs() int {
	if w.ARegs {
		return 4
	}
	return 0
}

// SpansA returns the bytes of shared memory that one warp's part reads of A: its
// own 16 rows, in ascending order. None where A is in registers.
func (w *WGMMA) SpansA(desc uint64, warp int) []Span {
	if w.ARegs {
		return nil
	}
	return spansOf(Descriptor(desc).canonical(), &w.a[warp])
}

// SpansB returns the bytes of shared memory that every warp's part reads of B:
// all of it, in ascending order.
func (w *WGMMA) SpansB(desc uint64) []Span { return spansOf(Descriptor(desc).canonical(), &w.b) }

// CheckA says in one sentence why the ISA forbids a descriptor for A.
func (w *WGMMA) CheckA(desc uint64) error {
	if w.ARegs {
		return nil
	}
	return Descriptor(desc).check()
}

// CheckB says in one sentence why the ISA forbids a descriptor for B.
func (w *WGMMA) CheckB(desc uint64) error { return Descriptor(desc).check() }

// SameShape says whether two forms have the same shape and type of D, so
// that they may follow each other on the same registers without a wgmma.fence
// (ISA 9.7.15.7.1).
func (w *WGMMA) SameShape(v *WGMMA) bool { return w.Shape == v.Shape && w.D == v.D }
