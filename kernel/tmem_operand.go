package kernel

import "fmt"

// A TensorOperand is the factor A of products, in tensor memory, where threads have stored
// what they computed: the probabilities of attention, say. Row r is in lane r, with K along
// the columns, each of which holds 32 bits: two elements of F16 or BF16, four of fp8, one of
// TF32, the first in the lowest bits (ISA 9.7.18.10.5).
type TensorOperand struct {
	part       tensorPart
	elem       Type
	rows, cols int
}

func (TensorOperand) matrixA() {}

// Operand takes the next columns for a matrix of rows × cols elements, of type F16, BF16,
// TF32, E4M3 or E5M2: cols times the element's bytes, over 4. There are 128 rows, in each CTA
// of a pair too, and a row is a multiple of 32 bytes, the K of an instruction.
func (t *TensorMemory) Operand(elem Type, rows, cols int) TensorOperand {
	k := t.kernel()
	if tensorKinds[elem] == "" {
		k.fail("Operand of %s: in tensor memory A has elements of F16, BF16, TF32, E4M3 or E5M2", elem)
		elem = F16
	}
	if rows != 128 {
		k.fail("Operand of %d rows: A has 128 in tensor memory", rows)
		rows = 128
	}
	if by := stepBytes / elem.Size(); cols < by || cols%by != 0 {
		k.fail("Operand of %d columns of %s: an instruction has %d, and A a multiple of that", cols, elem, by)
		cols = by
	}
	a := TensorOperand{part: tensorPart{t: t, lanes: -1}, elem: elem, rows: rows, cols: cols}
	a.part.first = t.take(fmt.Sprintf("Operand of %d × %d %s", rows, cols, elem), min(cols, 1<<20)*elem.Size()/4)
	return a
}

func (a TensorOperand) kernel() *Kernel {
	if a.part.t == nil {
		panic("kernel: the zero TensorOperand has no columns: it comes from TensorMemory.Operand")
	}
	return a.part.t.k
}

// Elem gives the type of the elements.
func (a TensorOperand) Elem() Type { return a.elem }

// Dims gives rows and columns.
func (a TensorOperand) Dims() (rows, cols int) { return a.rows, a.cols }

// Ptr gives the address of its first element, for Inst and package inst.
func (a TensorOperand) Ptr() Ptr { a.kernel(); return a.part.ptr(0, nil) }

// Cols returns n columns of A from first on: both are multiples of an instruction's K.
func (a TensorOperand) Cols(first, n int) TensorOperand {
	k := a.kernel()
	by := stepBytes / a.elem.Size()
	if first < 0 || first%by != 0 || n < by || n%by != 0 || n > a.cols-first {
		k.fail("Cols(%d, %d) of an operand of %d columns of %s: they are multiples of %d within it", first, n, a.cols, a.elem, by)
		return a
	}
	a.part.first += first * a.elem.Size() / 4
	a.cols = n
	return a
}

// Store writes a part of each thread's row, that of its lane, from column first of A on:
// registers of 32 bits with packed elements, or F32 for F16 and BF16, two to a column, rounded
// to nearest even. The columns are there after TensorWaitStore; TensorFenceBefore and a
// synchronization lead to the thread that multiplies. It emits tcgen05.st of shape 32x32b (ISA
// 9.7.18.8.4).
func (a TensorOperand) Store(first int, v Vec) {
	k := a.kernel()
	if len(v) > 0 && v[0].t == F32 && a.elem.Size() == 2 {
		if len(v)%2 != 0 {
			k.fail("Store of %d values of %s: two are in a column", len(v), a.elem)
			return
		}
		v = k.packed(v, a.elem)
	}
	per := 4 / a.elem.Size()
	switch n := len(v); {
	case n < 1 || n > 128 || n&(n-1) != 0:
		k.fail("Store of %d registers: an instruction writes a power of two of them, up to 128", n)
		return
	case first < 0 || first%per != 0 || first > a.cols-n*per:
		k.fail("Store of columns %d to %d of an operand of %d columns, of which %d are in a register", first, first+n*per-1, a.cols, per)
		return
	}
	if at, ok := a.part.warp("Store", first/per); ok {
		k.Inst(fmt.Sprintf("tcgen05.st.sync.aligned.32x32b.x%d.b32", len(v)), at, v)
	}
}
