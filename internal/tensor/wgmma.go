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

// A WGMMA is one form of wgmma.mma_async, of which a warp does rows 16w to
// 16w+15 of the 64 of D. It is not written to after NewWGMMA and may be used by
// many goroutines.
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

// NewWGMMA says what the ISA forbids, in one sentence.
func NewWGMMA(f WGMMAForm) (*WGMMA, error) {
	w := &WGMMA{WGMMAForm: f}
	bad := func(format string, args ...any) (*WGMMA, error) {
		return nil, fmt.Errorf("wgmma %s.%s.%s.%s: %s", f.Shape, f.D, f.A, f.B, fmt.Sprintf(format, args...))
	}
	if !w.typesMatch() {
		return bad("no such combination of types")
	}
	w.bits = widthOf[operandFormats[f.A]]
	var m int
	if n, err := fmt.Sscanf(f.Shape, "m%dn%dk%d", &m, &w.N, &w.K); n != 3 || err != nil || fmt.Sprintf("m%dn%dk%d", m, w.N, w.K) != f.Shape {
		return bad("no such shape")
	}
	k := 256 / w.bits
	if f.Sparse {
		k *= 2
	}
	if m != 64 || w.K != k || w.N < 8 || w.N > 256 || w.N%8 != 0 || f.D == "s32" && w.N > 32 && w.N%16 != 0 {
		return bad("no such shape")
	}
	switch {
	case f.Sparse && f.A == "b1":
		return bad("no sparse form")
	case (f.TransA || f.TransB) && w.bits != 16:
		return bad("only 16-bit types can be transposed")
	case f.TransA && f.ARegs:
		return bad("a matrix A in registers cannot be transposed")
	case (f.NegA || f.NegB) && f.D == "s32":
		return bad("integers cannot be negated")
	case f.Satfinite && w.bits != 8 || f.Satfinite && f.D != "s32":
		return bad("no .satfinite form")
	case f.Selector < 0 || f.Selector > 1 || f.Selector == 1 && (!f.Sparse || w.bits == 8):
		return bad("sparsity selector %d", f.Selector)
	}
	switch f.D {
	case "f16":
		w.rule = WGMMARule(F16, operandFormats[f.A], operandFormats[f.B])
	case "f32":
		w.rule = WGMMARule(F32, operandFormats[f.A], operandFormats[f.B])
	default:
		w.rule = IntRule(operandFormats[f.A], operandFormats[f.B], f.Satfinite)
		if f.A == "b1" {
			w.rule = BitRule(false)
		}
	}
	w.b = operand{rows: w.N, width: 32, mn: f.TransB}
	if f.Sparse {
		w.b.width = 64
	}
	for i := range w.a {
		w.a[i] = operand{first: 16 * i, rows: 16, width: 32, mn: f.TransA}
	}
	return w, nil
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

// SpansA are the bytes of shared memory that one warp's part reads of A: its
// own 16 rows, in ascending order. None where A is in registers. The caller
// must not write to the slice.
func (w *WGMMA) SpansA(desc uint64, warp int) []Span {
	if w.ARegs {
		return nil
	}
	return spansOf(Descriptor(desc), &w.a[warp])
}

// SpansB are the bytes of shared memory that every warp's part reads of B: all
// of it, in ascending order.
func (w *WGMMA) SpansB(desc uint64) []Span { return spansOf(Descriptor(desc), &w.b) }

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
