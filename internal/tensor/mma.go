package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"muster/internal/num"
)

// A WarpMMA is one form of mma.sync, mma.sp.sync or
// mma.sp::ordered_metadata.sync: its shape, where its operands lie in the
// registers of a warp, and its arithmetic. [ParseMMA] makes it from an
// instruction's qualifiers, once; it is immutable then. Those with a kind, of
// sm_120, are in mma_kind.go.
type WarpMMA struct {
	M, N, K int
	// A has the stored columns, half as many as K if Sparse. The elements of b1
	// operands are words of 32 of them.
	A, B, C, D Fragment
	Sparse     bool
	// Ordered: the indices of its metadata must ascend (sp::ordered_metadata).
	Ordered bool
	// Wide: the registers have 64 bits (f64), and Run64 must be called.
	Wide bool
	// Selectors is how many values the sparsity selector has.
	Selectors int
	// Factors is how many factors a row of A and a column of B have: 0 without block scales,
	// else RunScaled must be called.
	Factors int

	scale        ScaleFormat
	scaled       *ScaledRule
	fromA, fromB container
	math         mathKind
	rule         *Rule
	a, b         elem
	cbits        uint
	dbits        uint
	columns      int // of A that are stored
	rounding     num.Rounding
	rowsInLane   bool // a lane's metadata is of two rows, see mma_sparse.go
}

type mathKind uint8

const (
	mathTile mathKind = iota
	mathChain
	mathF64
)

// An elem is an operand's type.
type elem struct {
	bits   uint
	float  bool
	format Format
}

var elems = map[string]elem{
	"f16": {bits: 16, float: true, format: F16}, "bf16": {bits: 16, float: true, format: BF16}, "tf32": {bits: 32, float: true, format: TF32},
	"e4m3": {bits: 8, float: true, format: E4M3}, "e5m2": {bits: 8, float: true, format: E5M2}, "f64": {bits: 64, float: true},
	"s8": {bits: 8, format: S8}, "u8": {bits: 8, format: U8}, "s4": {bits: 4, format: S4}, "u4": {bits: 4, format: U4}, "b1": {bits: 1, format: B1},
}

// depths gives the values of K that a type has, by the sparsity of A and M.
var depths = []struct {
	types  string
	sparse bool
	m      int
	k      []int
}{
	{"f16", false, 8, []int{4}},
	{"f16 bf16", false, 16, []int{8, 16}},
	{"tf32", false, 16, []int{4, 8}},
	{"e4m3 e5m2", false, 16, []int{16, 32}},
	{"f64", false, 8, []int{4}},
	{"f64", false, 16, []int{4, 8, 16}},
	{"s8 u8", false, 8, []int{16}},
	{"s8 u8", false, 16, []int{16, 32}},
	{"s4 u4", false, 8, []int{32}},
	{"s4 u4", false, 16, []int{32, 64}},
	{"b1", false, 8, []int{128}},
	{"b1", false, 16, []int{128, 256}},
	{"f16 bf16", true, 16, []int{16, 32}},
	{"tf32", true, 16, []int{8, 16}},
	{"e4m3 e5m2", true, 16, []int{64}},
	{"s8 u8", true, 16, []int{32, 64}},
	{"s4 u4", true, 16, []int{64, 128}},
}

// ErrNotMMA says that WarpMMA covers no form with these qualifiers.
var ErrNotMMA = errors.New("no form of mma")

// ParseMMA reads the qualifiers that follow "mma" (ISA 9.7.14.5.14, 9.7.14.6.3).
func ParseMMA(mods []string) (*WarpMMA, error) {
	w := &WarpMMA{}
	var types, layouts []string
	var satfinite, xor, shaped bool
	var kind kindText
	for _, m := range mods {
		switch m {
		case "sync", "aligned", "popc", "and", "rn":
		case "sp", "sp::ordered_metadata":
			w.Sparse, w.Ordered = true, m != "sp"
		case "row", "col":
			layouts = append(layouts, m)
		case "satfinite":
			satfinite = true
		case "xor":
			xor = true
		case "rz":
			w.rounding = num.RZ
		case "rm":
			w.rounding = num.RM
		case "rp":
			w.rounding = num.RP
		case "block_scale":
			kind.blocks = true
		case "ue8m0", "ue4m3":
			kind.stype = m
		default:
			if k, ok := strings.CutPrefix(m, "kind::"); ok {
				kind.kind = k
				continue
			}
			if v, ok := strings.CutPrefix(m, "scale_vec::"); ok {
				kind.scale = v
				continue
			}
			if strings.HasPrefix(m, "m") {
				fmt.Sscanf(m, "m%dn%dk%d", &w.M, &w.N, &w.K)
				shaped = m == fmt.Sprintf("m%dn%dk%d", w.M, w.N, w.K)
				continue
			}
			types = append(types, m)
		}
	}
	if len(types) != 4 || len(layouts) != 2 || !shaped {
		return nil, ErrNotMMA
	}
	if kind.kind != "" {
		return w, w.kinds(kind, types, layouts)
	}
	if err := w.operands(types, layouts); err != nil {
		return nil, err
	}
	switch {
	case w.a.bits == 1:
		w.rule = BitRule(xor)
	case !w.a.float:
		w.rule = IntRule(w.a.format, w.b.format, satfinite)
	case w.math == mathTile && types[0] == "f16":
		w.rule = MMA(F16, w.a.format, w.b.format)
	case w.math == mathTile:
		w.rule = MMA(F32, w.a.format, w.b.format)
	}
	return w, nil
}

// operands sets what follows from the types of D, A, B and C and the layouts of
// A and B.
func (w *WarpMMA) operands(types, layouts []string) error {
	var ok, okB bool
	w.a, ok = elems[types[1]]
	w.b, okB = elems[types[2]]
	if !ok || !okB || !w.possible(types[1]) || !w.possible(types[2]) || w.N != 8 {
		return ErrNotMMA
	}
	if err := w.accumulators(types[0], types[3]); err != nil {
		return err
	}
	if w.math != mathChain && (layouts[0] != "row" || layouts[1] != "col") {
		return ErrNotMMA
	}
	w.fragments(layouts)
	return nil
}

// fragments sets where the operands lie.
func (w *WarpMMA) fragments(layouts []string) {
	w.columns = w.K
	if w.Sparse {
		w.columns = w.K / 2
		w.metadata()
	}
	lane := uint(32)
	if w.Wide {
		lane = 64
	}
	ka, kb, per := w.columns, w.K, int(lane/w.a.bits)
	if w.a.bits == 1 {
		// A word is an element.
		ka, kb, per, w.columns = ka/32, kb/32, 1, w.columns/32
	}
	w.A = Fragment{Regs: max(1, w.M*ka/32/per), Per: per, place: placeA}
	w.B = Fragment{Regs: max(1, 8*kb/32/per), Per: per, Down: true, place: placeB}
	w.C = Fragment{Regs: w.M * 8 / 32, Per: 1, place: placeC}
	w.D = w.C
	if w.math == mathChain {
		w.quads(layouts)
	}
	if w.cbits == 16 {
		w.C.Regs, w.C.Per = w.C.Regs/2, 2
	}
	if w.dbits == 16 {
		w.D.Regs, w.D.Per = w.D.Regs/2, 2
	}
}

// possible reports whether the type has the shape.
func (w *WarpMMA) possible(typ string) bool {
	for _, d := range depths {
		if d.sparse == w.Sparse && d.m == w.M && slices.Contains(d.k, w.K) && slices.Contains(strings.Fields(d.types), typ) {
			return true
		}
	}
	return false
}

// accumulators picks the arithmetic by the types of C and D.
func (w *WarpMMA) accumulators(d, c string) error {
	sizes := map[string]uint{"f16": 16, "f32": 32, "s32": 32, "f64": 64}
	w.cbits, w.dbits = sizes[c], sizes[d]
	a, fine := w.a, false
	switch {
	case a.bits == 64:
		w.math, w.Wide, fine = mathF64, true, d == "f64" && c == "f64"
	case !a.float:
		fine = d == "s32" && c == "s32"
	case w.M == 8:
		// An f32 C is not narrowed to an f16 D.
		w.math, fine = mathChain, c == "f16" && (d == "f16" || d == "f32") || c == "f32" && d == "f32"
	default:
		fine = c == d && (d == "f32" || d == "f16" && (a.format == F16 || a.bits == 8 && !w.Sparse))
	}
	sameType := a == w.b || a.bits == w.b.bits && a.bits <= 8 && a.float == w.b.float
	if !fine || !sameType {
		return ErrNotMMA
	}
	return nil
}

// quads are the fragments of m8n8k4 with f16: four computations a warp.
func (w *WarpMMA) quads(layouts []string) {
	w.A = Fragment{Regs: 2, Per: 2, place: placeLaneRow}
	w.B = Fragment{Regs: 2, Per: 2, Down: true, place: placeLaneColumn}
	if layouts[0] == "col" {
		w.A.place, w.A.Down = placeColumnA, true
	}
	if layouts[1] == "row" {
		w.B.place, w.B.Down = placeRowB, false
	}
	quadC := func(bits uint) Fragment {
		if bits == 16 {
			return Fragment{Regs: 8, Per: 1, place: placeLaneRow}
		}
		return Fragment{Regs: 8, Per: 1, place: placeQuadC}
	}
	w.C, w.D = quadC(w.cbits), quadC(w.dbits)
}

// A scratch is the matrices of one run, unpacked: A by rows, B by columns, C
// and then D by rows.
type scratch struct {
	a, b   [1024]uint32
	c      [128]uint32
	pa, pb Panel
	met    [1024]uint8
	va, vb Vector
	wide   wide
}

type wide struct {
	a [256]uint64
	b [128]uint64
	c [128]uint64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// team returns the lanes of computation i of m8n8k4 with f16, and all lanes for other
// forms.
func (w *WarpMMA) team(i int) uint32 {
	if w.math != mathChain {
		return ^uint32(0)
	}
	return 0x000f000f << (4 * i)
}

// Run computes D for a warp. Each operand is its registers in order, a row of
// 32 lanes each: as many as the fragments say. For a sparse form, meta is the
// metadata operand and selector the sparsity selector, less than Selectors;
// others ignore them. D's rows may be C's, or any other's.
func (w *WarpMMA) Run(d, a, b, c []*[32]uint32, meta *[32]uint32, selector int) {
	s := scratches.Get().(*scratch)
	if w.math == mathChain {
		w.runChains(s, d, a, b, c)
		scratches.Put(s)
		return
	}
	kb := w.unpack(s, a, b, c)
	if !w.Sparse || w.meets(s.met[:], meta, selector) {
		w.runTile(s, kb)
	} else {
		w.runHalves(s, meta, selector)
	}
	pack(d, &w.D, w.dbits, s.c[:], 8)
	scratches.Put(s)
}

// unpack fills the matrices of s, and returns how many numbers a column of B has there.
func (w *WarpMMA) unpack(s *scratch, a, b, c []*[32]uint32) (kb int) {
	kb = w.K
	abits, bbits := w.a.bits, w.b.bits
	if abits == 1 {
		kb, abits, bbits = kb/32, 32, 32
	}
	unpack(s.a[:], w.columns, 1, &w.A, abits, a)
	unpack(s.b[:], 1, kb, &w.B, bbits, b)
	unpack(s.c[:], 8, 1, &w.C, w.cbits, c)
	w.fromA.open(s.a[:w.M*w.columns])
	w.fromB.open(s.b[:8*kb])
	return kb
}

// runTile runs all forms except m8n8k4 with f16; kb is how many numbers a column
// of B has in s.
func (w *WarpMMA) runTile(s *scratch, kb int) {
	k := w.columns
	if w.a.bits == 1 {
		k = w.K
	}
	s.pa.ResetA(w.rule, k)
	for i := range w.M {
		s.pa.Add(s.a[i*w.columns:][:w.columns])
	}
	s.pb.ResetB(w.rule, w.K)
	for j := range 8 {
		s.pb.Add(s.b[j*kb:][:kb])
	}
	if w.Sparse {
		w.rule.TileSparse(s.c[:8*w.M], &s.pa, &s.pb, s.met[:])
		return
	}
	w.rule.Tile(s.c[:8*w.M], &s.pa, &s.pb)
}

// runChains runs m8n8k4 with f16, four computations by eight lanes each.
func (w *WarpMMA) runChains(s *scratch, d, a, b, c []*[32]uint32) {
	for i := range 4 {
		team := w.team(i)
		unpackTeam(s.a[:], 4, 1, &w.A, 16, a, team)
		unpackTeam(s.b[:], 1, 4, &w.B, 16, b, team)
		unpackTeam(s.c[:], 8, 1, &w.C, w.cbits, c, team)
		for n := range s.c[:64] {
			s.c[n] = w.chain(s.c[n], s.a[n/8*4:], s.b[n%8*4:])
		}
		packTeam(d, &w.D, w.dbits, s.c[:], team)
	}
}

// chain computes one element of D of m8n8k4.
func (w *WarpMMA) chain(c uint32, a, b []uint32) uint32 {
	var x, y [4]uint16
	for k := range x {
		x[k], y[k] = uint16(a[k]), uint16(b[k])
	}
	switch {
	case w.dbits == 16:
		return uint32(ChainF16(uint16(c), x[:], y[:]))
	case w.cbits == 16:
		c = num.F16ToF32(uint16(c))
	}
	return Chain(c, x[:], y[:])
}

// Run64 is Run for f64.
func (w *WarpMMA) Run64(d, a, b, c []*[32]uint64) {
	p := scratches.Get().(*scratch)
	s, k := &p.wide, w.K
	unpack(s.a[:], k, 1, &w.A, 64, a)
	unpack(s.b[:], 1, k, &w.B, 64, b)
	unpack(s.c[:], 8, 1, &w.C, 64, c)
	for i := range w.M {
		for j := range 8 {
			e, x, y := &s.c[8*i+j], s.a[i*k:i*k+k], s.b[j*k:j*k+k]
			if w.rounding == num.RN {
				*e = ChainF64(*e, x, y)
				continue
			}
			for n := range x {
				*e = num.FmaF64(w.rounding, x[n], y[n], *e)
			}
		}
	}
	pack(d, &w.D, 64, s.c[:], 8)
	scratches.Put(p)
}
