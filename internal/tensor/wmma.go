package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"muster/internal/num"
)

// The wmma instructions. The ISA leaves fragments to the architecture. Here they are those
// of an H100 (internal/machine/testdata/card/wmma): each form is one or two mma.sync
// instructions, whose fragments lie one after the other. m8n32k16 computes the transposed
// product. A fragment of f16 for A and B has eight registers in every shape; those beyond
// the matrix repeat it. All layouts in memory have the same fragments.

// MostRegs is how many registers of a lane a matrix of mma or wmma has at most.
const MostRegs = 8

// A WarpMatrix is how a warp holds a matrix of wmma in registers, which are 32 bits wide,
// or 64 for f64.
type WarpMatrix struct {
	Rows, Cols int
	Bits       int // of an element
	Regs       int // of a lane
	// Own is how many registers hold elements that no earlier register holds: register i
	// holds what register i%Own does.
	Own int
	// Per is how many elements a register holds, the first in its low bits. They follow
	// each other along a row, or if Down along a column.
	Per  int
	Down bool

	frag  Fragment // of one block
	unit  int      // elements in one of frag's
	block int      // rows of a block, or columns if right
	right bool     // blocks lie side by side, not one below the other
	flip  bool     // frag has rows and columns exchanged
}

// At returns row and column of the first element in a register of a lane.
func (w *WarpMatrix) At(lane, reg int) (row, col int) {
	reg %= w.Own
	block := reg / w.frag.Regs
	row, col = w.frag.At(lane, reg%w.frag.Regs)
	if w.frag.Down {
		row *= w.unit
	} else {
		col *= w.unit
	}
	if w.right {
		col += block * w.block
	} else {
		row += block * w.block
	}
	if w.flip {
		row, col = col, row
	}
	return row, col
}

// A WMMA is one form of wmma.mma: its fragments and its arithmetic. [ParseWMMA] makes it
// from an instruction's qualifiers, once; it is immutable then.
type WMMA struct {
	A, B, C, D WarpMatrix
	Wide       bool // the registers have 64 bits (f64), and Run64 must be called

	mma           *WarpMMA
	shape         *wmmaShape
	steps         int  // mma.sync for each block, each with its part of K
	widen, narrow bool // C is f16 and D f32, or the other way round
}

// ErrNotWMMA says that no form of wmma has these qualifiers.
var ErrNotWMMA = errors.New("no form of wmma")

// A wmmaShape is how a shape is made of an mma's.
type wmmaShape struct {
	name    string
	m, n, k int
	rows    int    // M of the mma, whose N is 8
	step    int    // K of the mma
	flip    bool   // A and B are exchanged: the product is transposed
	tall    bool   // the blocks of D lie one below the other, before it is transposed
	blocks  int    // of mma.sync
	types   string // of A and B
	sums    string // of C and D
}

var wmmaShapes = []wmmaShape{
	{"m16n16k16", 16, 16, 16, 16, 16, false, false, 2, "f16 bf16 s8 u8", "f16 f32 s32"},
	{"m32n8k16", 32, 8, 16, 16, 16, false, true, 2, "f16 bf16 s8 u8", "f16 f32 s32"},
	{"m8n32k16", 8, 32, 16, 16, 16, true, true, 2, "f16 bf16 s8 u8", "f16 f32 s32"},
	{"m16n16k8", 16, 16, 8, 16, 4, false, false, 2, "tf32", "f32"},
	{"m8n8k4", 8, 8, 4, 8, 4, false, false, 1, "f64", "f64"},
	{"m8n8k32", 8, 8, 32, 8, 32, false, false, 1, "s4 u4", "s32"},
	{"m8n8k128", 8, 8, 128, 8, 128, false, false, 1, "b1", "s32"},
}

// ParseWMMA reads the qualifiers that follow "wmma" in an instruction wmma.mma (ISA
// 9.7.14.4.5). They may be in any order, as ptxas takes them, except for the types.
func ParseWMMA(mods []string) (*WMMA, error) {
	var shape *wmmaShape
	var types, layouts, rest []string
	satfinite := false
	for _, m := range mods {
		i := slices.IndexFunc(wmmaShapes, func(s wmmaShape) bool { return s.name == m })
		switch {
		case i >= 0:
			shape = &wmmaShapes[i]
		case m == "mma" || m == "sync" || m == "aligned" || m == "popc":
		case m == "row" || m == "col":
			layouts = append(layouts, m)
		case m == "satfinite":
			satfinite = true
			rest = append(rest, m)
		case slices.Contains([]string{"rn", "rz", "rm", "rp", "xor", "and"}, m):
			rest = append(rest, m)
		default:
			types = append(types, m)
		}
	}
	if len(types) == 2 {
		types = []string{types[0], "f16", "f16", types[1]}
	}
	if shape == nil || len(types) != 4 || len(layouts) != 2 || types[1] != types[2] || !shape.takes(types[1]) || satfinite && elems[types[1]].float {
		return nil, ErrNotWMMA
	}
	return shape.form(types[0], types[1], types[3], rest)
}

func (s *wmmaShape) takes(typ string) bool { return slices.Contains(strings.Fields(s.types), typ) }

// form makes a WMMA with the types of D, of A and B, and of C. Where one of C and D is f16
// and the other f32, the product is that of f32: C is widened, D is rounded once more.
func (s *wmmaShape) form(d, ab, c string, mods []string) (*WMMA, error) {
	inner := d
	if d != c {
		if ab != "f16" {
			return nil, ErrNotWMMA
		}
		inner = "f32"
	}
	mma, err := ParseMMA(append([]string{fmt.Sprintf("m%dn8k%d", s.rows, s.step), "row", "col", inner, ab, ab, inner}, mods...))
	if err != nil || !isAccumulator(c) || !isAccumulator(d) {
		return nil, ErrNotWMMA
	}
	return &WMMA{
		A: s.matrix('a', ab), B: s.matrix('b', ab), C: s.matrix('c', c), D: s.matrix('c', d),
		Wide: mma.Wide, mma: mma, shape: s, steps: s.k / s.step, widen: d != c && c == "f16", narrow: d != c && d == "f16",
	}, nil
}

var accumulators = map[string]int{"f16": 16, "f32": 32, "s32": 32, "f64": 64}

func isAccumulator(typ string) bool { return accumulators[typ] != 0 }

// ParseWarpMatrix gives the fragment that wmma.load and wmma.store name by a shape, a
// matrix, which is a, b, c or d, and a type (ISA 9.7.14.4.1).
func ParseWarpMatrix(shape, matrix, typ string) (*WarpMatrix, error) {
	i := slices.IndexFunc(wmmaShapes, func(s wmmaShape) bool { return s.name == shape })
	if i < 0 {
		return nil, ErrNotWMMA
	}
	s := &wmmaShapes[i]
	fine := false
	switch matrix {
	case "a", "b":
		fine = s.takes(typ)
	case "c", "d":
		matrix = "c"
		fine = slices.Contains(strings.Fields(s.sums), typ)
	}
	if !fine {
		return nil, ErrNotWMMA
	}
	w := s.matrix(matrix[0], typ)
	return &w, nil
}

// matrix is the fragment of A, B, or C and D.
func (s *wmmaShape) matrix(which byte, typ string) WarpMatrix {
	w := WarpMatrix{Rows: s.m, Cols: s.n, Bits: accumulators[typ], flip: s.flip, unit: 1}
	if which != 'c' {
		w.Bits = int(elems[typ].bits)
	}
	switch which {
	case 'a':
		w.Cols = s.k
	case 'b':
		w.Rows = s.k
	}
	word := 32
	if w.Bits == 64 {
		word = 64
	}
	w.Per = word / w.Bits
	per, k := w.Per, s.k
	if w.Bits == 1 {
		// A word is an element of the mma's fragment.
		w.unit, per, k = 32, 1, s.k/32
	}
	if s.flip && which != 'c' {
		which ^= 'a' ^ 'b'
	}
	blocks := s.blocks
	switch which {
	case 'a':
		w.frag = Fragment{Regs: s.rows * k / 32 / per, Per: per, place: placeA}
		w.block = s.rows
		if !s.tall {
			blocks = 1
		}
	case 'b':
		w.frag = Fragment{Regs: 8 * k / 32 / per, Per: per, Down: true, place: placeB}
		w.block, w.right = 8, true
		if s.tall {
			blocks = 1
		}
	default:
		w.frag = Fragment{Regs: s.rows * 8 / 32 / per, Per: per, place: placeC}
		if w.block = s.rows; !s.tall {
			w.block, w.right = 8, true
		}
	}
	w.Own = w.frag.Regs * blocks
	w.Regs = w.Own
	if typ == "f16" && which != 'c' {
		w.Regs = 8
	}
	w.Down = w.frag.Down != w.flip
	return w
}

// A spare holds what lies between an mma's C and the forms whose C or D has another type.
type spare [8][32]uint32

var spares = sync.Pool{New: func() any { return new(spare) }}

// Run computes D for a warp. Each operand is its registers in order, a row of 32 lanes
// each. D's rows may be C's, but no others.
func (w *WMMA) Run(d, a, b, c []*[32]uint32) {
	if !w.widen && !w.narrow {
		w.products(d, a, b, c)
		return
	}
	s := spares.Get().(*spare)
	defer spares.Put(s)
	var rows [8]*[32]uint32
	for i := range rows {
		rows[i] = &s[i]
	}
	if w.widen {
		for i, r := range c {
			for l, v := range r {
				s[2*i][l], s[2*i+1][l] = num.F16ToF32(uint16(v)), num.F16ToF32(uint16(v>>16))
			}
		}
		w.products(d, a, b, rows[:])
		return
	}
	w.products(rows[:], a, b, c)
	for i, r := range d {
		for l := range r {
			r[l] = uint32(num.F32ToF16(s[2*i][l])) | uint32(num.F32ToF16(s[2*i+1][l]))<<16
		}
	}
}

// products computes D where C has its type.
func (w *WMMA) products(d, a, b, c []*[32]uint32) {
	s := w.shape
	if s.flip {
		a, b = b, a
	}
	na, nb, nc := w.mma.A.Regs, w.mma.B.Regs, w.mma.C.Regs
	for i := range s.blocks {
		di, ci := d[i*nc:][:nc], c[i*nc:][:nc]
		ai, bi := 0, i
		if s.tall {
			ai, bi = i, 0
		}
		for k := range w.steps {
			w.mma.Run(di, a[(ai*w.steps+k)*na:][:na], b[(bi*w.steps+k)*nb:][:nb], ci, nil, 0)
			ci = di
		}
	}
}

// Run64 is Run for f64.
func (w *WMMA) Run64(d, a, b, c []*[32]uint64) { w.mma.Run64(d, a, b, c) }
