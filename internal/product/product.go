package product

import (
	"encoding/binary"
	"fmt"
	"math"

	"muster/internal/tensor"
)

// A Matrix lies in bytes: element (i, j) is at Offset + i·Row + j·Column. Of A the
// rows are D's and the columns are K's; of B the rows are K's.
type Matrix struct {
	Format              *Format
	Offset, Row, Column int64
	// Every and Part say that K comes in parts: column k of A or row k of B is number
	// k mod Every of part k / Every, and parts are Part bytes apart. 0: in one.
	Every int
	Part  int64
}

// at is the place of an element, of which k counts along K.
func (m *Matrix) at(i, k int) int64 {
	if m.Every > 0 {
		return m.Offset + int64(i)*m.Row + int64(k%m.Every)*m.Column + int64(k/m.Every)*m.Part
	}
	return m.Offset + int64(i)*m.Row + int64(k)*m.Column
}

func (m *Matrix) load(b []byte, at int64) uint32 {
	var x [4]byte
	copy(x[:], b[at:at+int64(m.Format.Bytes)])
	return binary.LittleEndian.Uint32(x[:])
}

// A Product is D = A·B, of M×K and K×N. A's Row steps M and its Column K; B's Row steps
// N and its Column K.
type Product struct {
	M, N, K int
	A, B, D Matrix
	// C, of f32, is what the accumulator begins with; or, if Late, what an addition of f32
	// adds in the end. nil: zero.
	C    *Matrix
	Late bool
	// In is the format that the instruction has, where A or B are converted to it first,
	// which is exact. nil: that of A.
	In *Format
	// Relu: negative results become zero in the end.
	Relu bool
	// Split is how many parts of K are summed for themselves, and added by additions of f32
	// in the end; two at most, or one and a late C, whose order plays no part.
	Split int
}

// Data are the bytes of the buffers in which the matrices lie: of A, B and C before, of D
// after the launch.
type Data struct{ A, B, C, D []byte }

// Check reports whether all elements lie within the buffers' bytes.
func (p *Product) Check(x *Data) error {
	list := []struct {
		name    string
		m       *Matrix
		data    []byte
		rows, k int
	}{{"a", &p.A, x.A, p.M, p.K}, {"b", &p.B, x.B, p.N, p.K}, {"d", &p.D, x.D, p.M, p.N}, {"c", p.C, x.C, p.M, p.N}}
	for _, x := range list {
		if x.m == nil {
			continue
		}
		if last := x.m.at(x.rows-1, x.k-1); last < 0 || last+int64(x.m.Format.Bytes) > int64(len(x.data)) {
			return fmt.Errorf("element (%d, %d) of %s is at %d, in a buffer of %d bytes", x.rows-1, x.k-1, x.name, last, len(x.data))
		}
	}
	return nil
}

// SumOf is the sum of tcgen05.mma on an architecture for the product's operands.
func (p *Product) SumOf(arch int) (Sum, error) {
	a, b := p.A.Format, p.B.Format
	if p.In != nil {
		a, b = p.In, p.In
	}
	s, err := tensor.SumOf(arch, tensor.UnitTcgen05, a.of, b.of)
	if err != nil {
		return Sum{}, err
	}
	step := s.Step
	if step == 0 {
		step = 32 / a.Bytes
	}
	return Sum{Bits: int(s.Bits), Step: step}, nil
}

// A Change is one thing that is wrong in a reference, by which a comparison shows that it
// would see it.
type Change struct {
	Bits int  // F is more by so many
	Drop bool // the last step of K is left out
	Swap bool // columns 0 and 1 of B are exchanged
}

// A Result is how D compares with the reference.
type Result struct {
	Elements int
	// Exact is how many are the exact sum in D's format: cut where that is f32, rounded
	// to nearest otherwise.
	Exact int
	// Outside is how many are outside of the bound.
	Outside int
	// Worst is the largest distance from the exact sum, as a fraction of what the bound
	// allows on that side, with half a unit of D's format where that is not f32.
	Worst float64
	// Width is the mean width of the bound, in units of f32 of the sum.
	Width float64
	// First says of the first that is outside what it is.
	First string
}

// Compare holds D to the product.
func (p *Product) Compare(s Sum, data *Data, c Change) Result {
	s.Bits += c.Bits
	k := p.K
	if c.Drop {
		k -= s.Step
	}
	rows := p.numbers(&p.A, data.A, p.M)
	columns := p.numbers(&p.B, data.B, p.N)
	if c.Swap {
		columns[0], columns[1] = columns[1], columns[0]
	}
	r := Result{Elements: p.M * p.N}
	for i, x := range rows {
		for j, y := range columns {
			start := 0.0
			if p.C != nil {
				start = F32.Value(p.C.load(data.C, p.C.at(i, j)))
			}
			exact, within := p.element(s, start, x[:k], y[:k])
			r.add(p.D.Format, i, j, p.D.Format.Value(p.D.load(data.D, p.D.at(i, j))), exact, within)
		}
	}
	r.Width /= float64(r.Elements)
	return r
}

func (p *Product) numbers(m *Matrix, data []byte, rows int) [][]number {
	all := make([][]number, rows)
	for i := range all {
		all[i] = make([]number, p.K)
		for k := range all[i] {
			all[i][k] = m.Format.number(m.load(data, m.at(i, k)))
		}
	}
	return all
}

// element is the exact sum, and what encloses the result of f32.
func (p *Product) element(s Sum, start float64, a, b []number) (exact float64, within span) {
	exact = start
	for i := range a {
		exact += a[i].v * b[i].v
	}
	var c span
	if p.Late {
		within = span{start, start}
	} else {
		c = span{start, start}
	}
	parts := max(p.Split, 1)
	size := (p.K + parts - 1) / parts
	for from := 0; from < len(a); from += size {
		to := min(from+size, len(a))
		for k := from; k < to; k += s.Step {
			end := min(k+s.Step, to)
			c = s.step(c, a[k:end], b[k:end])
		}
		within = span{F32.Nearest(within.lo + c.lo), F32.Nearest(within.hi + c.hi)}
		c = span{}
	}
	if p.Relu {
		exact, within = max(exact, 0), span{max(within.lo, 0), max(within.hi, 0)}
	}
	return exact, within
}

func (r *Result) add(f *Format, i, j int, x, exact float64, within span) {
	lo, hi, want, half := within.lo, within.hi, F32.Cut(exact), 0.0
	if exact != 0 {
		r.Width += (hi - lo) / F32.unit(exact)
	}
	if f != F32 {
		lo, hi, want, half = f.Nearest(lo), f.Nearest(hi), f.Nearest(exact), max(f.unit(exact), f.unit(x))/2
	}
	if x == want {
		r.Exact++
	}
	if !(x >= lo && x <= hi) {
		if r.Outside++; r.First == "" {
			r.First = fmt.Sprintf("D[%d, %d] is %g, and not %g to %g, for the exact sum %g", i, j, x, lo, hi, exact)
		}
	}
	switch {
	case math.IsNaN(x):
		r.Worst = math.Inf(1)
	case math.IsInf(x, 0):
	case x < exact:
		r.Worst = max(r.Worst, (exact-x)/(exact-within.lo+half))
	case x > exact:
		r.Worst = max(r.Worst, (x-exact)/(within.hi-exact+half))
	}
}
