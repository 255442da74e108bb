package campaign

import (
	"fmt"
	"strings"

	"muster/internal/tensor"
	"muster/ptx"
)

// The matrix instructions of a warp: ldmatrix, stmatrix, movmatrix, mma.sync and
// mma.sp.sync, every combination of shape, types and qualifiers that the
// assembler takes for sm_90a, with every value of the sparsity selector. Each runs
// with several families of fragments; each of the 32 warps of a case has its own.
// They have golden data of their own, testdata/matrix.gz.

// A family is how the fragments of a case are drawn.
type family string

const (
	// places: one element of A or B is one, all others are zero, and the other
	// operand's and C's are all different: D shows where each element lies.
	places family = "places"
	near   family = "near" // magnitudes near one another
	spread family = "wide" // the whole range, products that cancel
	edge   family = "edge" // subnormals, the largest, infinities, NaNs, limits
	noise  family = "bits" // random bits
	// wild: as near, with metadata of random bits, which the ISA leaves
	// undefined for the most part. Of sparse forms alone.
	wild family = "wild"
)

var families = []family{places, near, spread, edge, noise, wild}

// wholeWarps is how many warps a case has.
const wholeWarps = threads / 32

// keepMatrix is how many lanes' results the golden data holds in full.
const keepMatrix = 4

// MatrixCases gives the cases of the matrix instructions, in the order of the
// table.
func MatrixCases() []Case {
	var list []Case
	for _, f := range ptx.Forms() {
		maker := matrixMakers[f.Op]
		if maker == nil || f.Class != "matrix" || f.SM.Number > 90 || assembler.Before(f.Version) {
			continue
		}
		for _, ch := range product(f) {
			for _, fam := range families {
				for _, c := range maker(f, f.Op+ch.mods(), fam) {
					c.Name, c.keep = nameOf(c.Form+" | "+c.Text+" | "+string(fam)), keepMatrix
					list = append(list, c)
				}
			}
		}
	}
	return list
}

var matrixMakers = map[string]func(*ptx.Form, string, family) []Case{
	"mma": mmas, "ldmatrix": matrixLoads, "stmatrix": matrixStores, "movmatrix": matrixMoves,
}

// --- mma ---

// An operandKind is what an array of a case holds: registers of A, B or C, or
// metadata.
type operandKind struct {
	role  byte // 'a', 'b', 'c', 'e'
	typ   string
	reg   int
	regs  int
	sp    bool // 'e': indices in any order
	typeA string
}

// typesOf gives the types among an mma's qualifiers, of D, A, B and C.
func typesOf(name string) (types []string) {
	for _, m := range strings.Split(name, ".") {
		if _, ok := matrixTypes[m]; ok {
			types = append(types, m)
		}
	}
	return types
}

func mmas(f *ptx.Form, name string, fam family) (list []Case) {
	w, err := tensor.ParseMMA(strings.Split(name, ".")[1:])
	if err != nil || fam == wild && !w.Sparse {
		return nil
	}
	for sel := range w.Selectors {
		list = append(list, mmaCase(f, w, name, fam, sel))
	}
	if !w.Sparse {
		list = append(list, mmaCase(f, w, name, fam, 0))
	}
	return list
}

func mmaCase(f *ptx.Form, w *tensor.WarpMMA, name string, fam family, sel int) Case {
	p := newProgram(f.Name)
	types := typesOf(name)
	word := "b32"
	if w.Wide {
		word = "b64"
	}
	var kinds []operandKind
	take := func(role byte, typ string, regs int) string {
		var rs []string
		for r := range regs {
			rs = append(rs, p.in(kind(role), word))
			kinds = append(kinds, operandKind{role: role, typ: typ, reg: r, regs: regs})
		}
		return vector(rs)
	}
	a, b, c := take('a', types[1], w.A.Regs), take('b', types[2], w.B.Regs), take('c', types[3], w.C.Regs)
	more := ""
	if w.Sparse {
		more = fmt.Sprintf(", %s, %d", p.in("e", word), sel)
		kinds = append(kinds, operandKind{role: 'e', sp: !strings.Contains(name, "ordered"), typeA: types[1]})
	}
	var d []string
	for range w.D.Regs {
		d = append(d, p.result(word))
	}
	text := fmt.Sprintf("%s D, A, B, C%s;", name, more)
	p.emit("%s %s, %s, %s, %s%s;", name, vector(d), a, b, c, more)
	k := p.finish(text)
	k.fill = func(c *Case) []byte { return fillMMA(c, fam, kinds) }
	return k
}

// --- ldmatrix, stmatrix, movmatrix ---

// A warp has 64 rows of 16 bytes.
const (
	matrixRows  = 64
	matrixBytes = 16 * matrixRows
)

// vector is a fragment's registers: in braces, also if it is one.
func vector(regs []string) string { return "{" + strings.Join(regs, ", ") + "}" }

// openMatrix reserves the warp's rows, fills them from the input and leaves in
// %addr the address of the row that the lane names; a lane that names no row gets
// an invalid address.
func (p *program) openMatrix(name, num string) (base string) {
	p.regs = append(p.regs, fmt.Sprintf(".shared .align 16 .b8 tile[%d];", Block/32*matrixBytes),
		".reg .b32 %warp, %lane, %base, %own, %addr;", ".reg .b64 %wide64;", ".reg .pred %names;")
	p.emit("shr.u32 %%warp, %%tx, 5;")
	p.emit("and.b32 %%lane, %%tx, 31;")
	p.emit("mov.u32 %%base, tile;")
	p.emit("mad.lo.u32 %%base, %%warp, %d, %%base;", matrixBytes)
	p.emit("mad.lo.u32 %%own, %%lane, 32, %%base;")
	for i := range 8 {
		p.emit("st.shared.b32 [%%own+%d], %s;", 4*i, p.in("m", "b32"))
	}
	p.emit("bar.warp.sync -1;")
	row := p.in("row", "b32")
	lanes := map[string]int{"x1": 8, "x2": 16, "x4": 32}[num]
	p.emit("setp.lt.u32 %%names, %%lane, %d;", lanes)
	p.emit("mov.b32 %%addr, %s;", row)
	p.emit("@%%names mad.lo.u32 %%addr, %s, 16, %%base;", row)
	if strings.Contains(name, "shared") {
		return "%addr"
	}
	p.emit("cvt.u64.u32 %%wide64, %%addr;")
	p.emit("@%%names cvta.shared.u64 %%wide64, %%wide64;")
	return "%wide64"
}

func numOf(name string) string {
	for _, m := range strings.Split(name, ".") {
		if m == "x1" || m == "x2" || m == "x4" {
			return m
		}
	}
	return ""
}

func matrixLoads(f *ptx.Form, name string, fam family) []Case {
	if fam == wild {
		return nil
	}
	p := newProgram(f.Name)
	num := numOf(name)
	addr := p.openMatrix(name, num)
	var d []string
	for range num[1] - '0' {
		d = append(d, p.result("b32"))
	}
	p.emit("%s %s, [%s];", name, vector(d), addr)
	return []Case{p.finishMatrix(name+" D, [a];", fam)}
}

func matrixStores(f *ptx.Form, name string, fam family) []Case {
	if fam == wild {
		return nil
	}
	p := newProgram(f.Name)
	num := numOf(name)
	addr := p.openMatrix(name, num)
	var r []string
	for range num[1] - '0' {
		r = append(r, p.in("m", "b32"))
	}
	p.emit("%s [%s], %s;", name, addr, vector(r))
	p.emit("bar.warp.sync -1;")
	for i := range 8 {
		p.emit("ld.shared.b32 %s, [%%own+%d];", p.result("b32"), 4*i)
	}
	return []Case{p.finishMatrix(name+" [a], R;", fam)}
}

func matrixMoves(f *ptx.Form, name string, fam family) []Case {
	if fam == wild {
		return nil
	}
	p := newProgram(f.Name)
	p.emit("%s %s, %s;", name, p.result("b32"), p.in("m", "b32"))
	return []Case{p.finishMatrix(name+" D, A;", fam)}
}

func (p *program) finishMatrix(text string, fam family) Case {
	k := p.finish(text)
	k.fill = func(c *Case) []byte { return fillRows(c, fam) }
	return k
}
