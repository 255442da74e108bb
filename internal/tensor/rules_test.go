package tensor

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"muster/internal/num"
)

// The oracle: a sum by its definition, on exact integers. A number is an integer
// in units of 2^-unit, which no truncation goes below.
const unit = 700

// An addend is a finite number and the exponent it counts with, or a special one.
type addend struct {
	n    *big.Int
	exp  int
	odd  float64 // NaN or an infinity
	zero bool
}

// encodings are the formats as their standards give them: exponent and fraction
// bits, bias, and whether the largest exponent is of specials.
var encodings = map[Format]struct {
	exp, frac, bias int
	ieee            bool
}{
	F16: {5, 10, 15, true}, BF16: {8, 7, 127, true}, TF32: {8, 10, 127, true}, F32: {8, 23, 127, true},
	E4M3: {4, 3, 7, false}, E5M2: {5, 2, 15, true}, E2M3: {2, 3, 1, false}, E3M2: {3, 2, 3, false}, E2M1: {2, 1, 1, false},
}

func exactly(f Format, b uint32) addend {
	if f == TF32 {
		b >>= 13
	}
	l := encodings[f]
	frac, e := int64(b)&(1<<l.frac-1), int(b)>>l.frac&(1<<l.exp-1)
	neg := b>>(l.frac+l.exp)&1 != 0
	switch {
	case l.ieee && e == 1<<l.exp-1 && frac == 0:
		return addend{odd: math.Inf(1 - 2*int(b>>(l.frac+l.exp)&1))}
	case l.ieee && e == 1<<l.exp-1, f == E4M3 && b&0x7f == 0x7f:
		return addend{odd: math.NaN()}
	}
	if e > 0 {
		frac += 1 << l.frac
	}
	e = max(e, 1) - l.bias
	if neg {
		frac = -frac
	}
	n := big.NewInt(frac)
	return addend{n: n.Lsh(n, uint(unit+e-l.frac)), exp: e, zero: frac == 0}
}

// widen is what an fp8 number counts with in f16, where all of e4m3 are normal.
func (x addend) widen() addend {
	if x.odd == 0 && !x.zero {
		x.exp = max(new(big.Int).Abs(x.n).BitLen()-1-unit, -14)
	}
	return x
}

func (x addend) times(y addend) addend {
	if x.odd != 0 || y.odd != 0 {
		return addend{odd: x.float() * y.float()}
	}
	n := new(big.Int).Mul(x.n, y.n)
	return addend{n: n.Rsh(n, unit), exp: x.exp + y.exp, zero: x.zero || y.zero}
}

func (x addend) float() float64 {
	if x.odd != 0 {
		return x.odd
	}
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(x.n), -unit).Float64()
	return f
}

// fused is one step.
func (s Sum) fused(acc Format, l []addend) uint32 {
	odd, top := 0.0, math.MinInt
	for _, x := range l {
		odd += x.odd
		if x.odd == 0 && !x.zero {
			top = max(top, x.exp)
		}
	}
	switch {
	case odd != odd:
		return map[Format]uint32{F32: 0x7fffffff, F16: 0x7fff}[acc]
	case odd != 0 && acc == F32:
		return math.Float32bits(float32(odd))
	case odd != 0:
		return uint32(num.F32ToF16(math.Float32bits(float32(odd))))
	case top == math.MinInt:
		return 0
	}
	if s.Floor != 0 {
		top = max(top, int(s.Floor))
	}
	last := new(big.Int).Lsh(big.NewInt(1), uint(unit+top-int(s.Bits)))
	sum := new(big.Int)
	for _, x := range l {
		if x.odd == 0 {
			sum.Add(sum, new(big.Int).Quo(x.n, last)) // toward zero
		}
	}
	return s.deliver(acc, sum.Mul(sum, last))
}

// deliver rounds to D's format.
func (s Sum) deliver(acc Format, n *big.Int) uint32 {
	l := encodings[acc]
	mag := new(big.Int).Abs(n)
	e := max(mag.BitLen()-1-unit, 1-l.bias)
	ulp := new(big.Int).Lsh(big.NewInt(1), uint(unit+e-l.frac))
	q, rest := new(big.Int).QuoRem(mag, ulp, new(big.Int))
	bits := q.Uint64()
	if acc == F16 {
		if c := rest.Lsh(rest, 1).Cmp(ulp); c > 0 || c == 0 && bits&1 != 0 {
			bits++
		}
	}
	// The implicit bit and a carry add to the exponent.
	out := uint32(e+l.bias-1)<<l.frac + uint32(bits)
	if out >= uint32(1<<l.exp-1)<<l.frac {
		out = uint32(1<<l.exp-1) << l.frac
	} else if acc == F32 {
		out &^= 1<<(23-s.Keep) - 1
	}
	if out != 0 && n.Sign() < 0 {
		out |= 1 << (l.exp + l.frac)
	}
	return out
}

// oracle is an element of D.
func (s Sum) oracle(acc, fa, fb Format, c uint32, a, b []uint32) uint32 {
	var products []addend
	for i := range a {
		x, y := exactly(fa, a[i]), exactly(fb, b[i])
		if s.Widened {
			x, y = x.widen(), y.widen()
		}
		products = append(products, x.times(y))
	}
	var steps [][]addend
	switch {
	case s.Widened:
		steps = make([][]addend, 2)
		for i, p := range products {
			steps[i%4/2] = append(steps[i%4/2], p)
		}
	case s.Step == 0:
		steps = [][]addend{products}
	default:
		steps = slices.Collect(slices.Chunk(products, s.Step))
	}
	d := c
	if s.Last {
		d = 0
	}
	for _, l := range steps {
		d = s.fused(acc, append(l, exactly(acc, d)))
	}
	switch {
	case !s.Last:
		return d
	case acc == F16:
		return uint32(num.AddF16(0, uint16(c), uint16(d)))
	}
	return num.AddRN(c, d)
}

// TestRules compares Dot, Tile and TileSparse with the oracle, for every row of the
// table of architectures, on elements of every kind.
func TestRules(t *testing.T) {
	type sum struct {
		Sum
		acc, a, b Format
	}
	var done []sum
	try := func(s Sum, acc, a, b Format) {
		one := sum{s.on(Measured), acc, a, b}
		if !slices.Contains(done, one) {
			done = append(done, one)
			compareSum(t, one.Sum, acc, a, b, uint64(len(done)))
		}
	}
	for _, row := range sums {
		var of []Format
		for _, f := range allFormats {
			if slices.Contains(strings.Fields(row.operands), f.String()) {
				of = append(of, f)
			}
		}
		for i, fa := range of {
			fb := of[(i+1)%len(of)]
			if widthOf[fb] != widthOf[fa] {
				fb = fa
			}
			try(row.Sum, F32, fa, fb)
			if fa == F16 || fa == E4M3 || fa == E2M1 {
				try(row.Sum, F16, fa, fa)
			}
		}
	}
	// Parameters that no row has yet, or that none has together.
	for _, s := range []Sum{{Bits: 25, Floor: -133, Keep: 23}, {Bits: 25, Floor: -21, Keep: 23, Step: 8}, {Bits: 20, Step: 4, Keep: 10, Last: true}, {Bits: 25, Keep: 23, Last: true}} {
		for _, f := range []Format{F16, BF16, E5M2} {
			try(s, F32, f, f)
		}
		try(s, F16, F16, F16)
	}
	// A column with an infinity has the seven beside it computed one by one.
	for _, f := range []Format{E2M3, E3M2, E2M1} {
		try(wholeSum, F32, f, E5M2)
		try(Sum{Bits: 13, Keep: 23}, F32, f, E5M2)
	}
}

var allFormats = []Format{F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1}

// compareSum compares one sum with the oracle.
func compareSum(t *testing.T, s Sum, acc, fa, fb Format, seed uint64) {
	t.Helper()
	r, src := NewRule(acc, fa, fb, s), source{rand.New(rand.NewPCG(11, seed))}
	mixes := append(slices.Clone(blends), blend{"tiny", func(s source, f Format) uint32 {
		l := layouts[f]
		return uint32(s.Uint64())&(1<<(l.frac+1)-1) | uint32(s.to(2))<<(l.exp+l.frac)
	}})
	for n, m := range mixes {
		for nc, mc := range mixes {
			if testing.Short() && (n+nc)%4 != 0 {
				continue
			}
			k := []int{8, 16, 32}[src.to(3)]
			const rows, cols = 2, 9
			draw := func(f Format, n int) []uint32 {
				l := make([]uint32, n)
				for i := range l {
					l[i] = m.draw(src, f) & (1<<(layouts[f].exp+layouts[f].frac+1) - 1)
				}
				return l
			}
			as, bs, c := draw(fa, rows*k), draw(fb, cols*k), make([]uint32, rows*cols)
			for i := range c {
				c[i] = mc.draw(src, acc)
			}
			var a, b, wide Panel
			a.ResetA(r, k)
			b.ResetB(r, k)
			wide.ResetB(r, 2*k)
			var at []uint8
			for i := range k {
				at = append(at, uint8(2*i+src.to(2)))
			}
			for i := range rows {
				a.Add(as[i*k:][:k])
			}
			for j := range cols {
				b.Add(bs[j*k:][:k])
				spread := draw(fb, 2*k)
				for i, to := range at {
					spread[to] = bs[j*k+i]
				}
				wide.Add(spread)
			}
			tile, sparse := slices.Clone(c), slices.Clone(c)
			r.Tile(tile, &a, &b)
			r.TileSparse(sparse, &a, &wide, slices.Concat(at, at))
			for i, got := range tile {
				var x, y Vector
				ar, br := as[i/cols*k:][:k], bs[i%cols*k:][:k]
				for e := range k {
					r.AppendA(&x, ar[e])
					r.AppendB(&y, br[e])
				}
				want := s.oracle(acc, fa, fb, c[i], ar, br)
				if dot := r.Dot(c[i], &x, &y); dot != want || got != want || sparse[i] != want {
					t.Fatalf("%+v of %s and %s to %s, %s, C %s, k %d: Dot %#x, Tile %#x, TileSparse %#x, oracle %#x: A %#x B %#x C %#x", s, fa, fb, acc, m.name, mc.name, k, dot, got, sparse[i], want, ar, br, c[i])
				}
			}
		}
	}
}

// TestRuleFor: what is known for whom.
func TestRuleFor(t *testing.T) {
	for _, c := range []struct {
		arch  int
		unit  Unit
		a, b  Format
		basis Basis
		sum   Sum
	}{
		{90, UnitMMA, F16, F16, Measured, wholeSum},
		{90, UnitMMA, E4M3, E5M2, Measured, widenedSum},
		{90, UnitWGMMA, E4M3, E5M2, Measured, shortSum},
		{90, UnitWMMA, TF32, TF32, Measured, wholeSum},
		{100, UnitWMMA, TF32, TF32, Modelled, wholeSum},
		{100, UnitMMA, E5M2, E5M2, Measured, widenedSum},
		{86, UnitMMA, BF16, BF16, Modelled, Sum{Bits: 24, Step: 8, Keep: 23}},
		{100, UnitTcgen05, E5M2, E4M3, Modelled, wholeSum},
		{100, UnitTcgen05, E5M2, E2M1, Assumed, wholeSum},
		{100, UnitTcgen05, E5M2, E3M2, Assumed, wholeSum},
		{100, UnitTcgen05, F16, BF16, Modelled, wholeSum},
		{103, UnitTcgen05, TF32, TF32, Assumed, wholeSum},
		{120, UnitMMA, E4M3, E4M3, Modelled, wholeSum},
	} {
		s, err := SumOf(c.arch, c.unit, c.a, c.b)
		if err != nil || s != c.sum.on(c.basis) {
			t.Errorf("sm_%d %s %s %s: %+v, %v", c.arch, c.unit, c.a, c.b, s, err)
		}
		if r, err := RuleFor(c.arch, c.unit, F32, c.a, c.b); err != nil || r.Basis() != c.basis {
			t.Errorf("sm_%d %s %s %s: %v", c.arch, c.unit, c.a, c.b, err)
		}
	}
	for _, c := range []struct {
		arch int
		unit Unit
		a, b Format
		want string
	}{
		{100, UnitWGMMA, F16, F16, "wgmma.mma_async with operands of f16 and f16 on sm_100"},
		{100, UnitMMA, E2M1, E4M3, "mma.sync with operands of e2m1 and e4m3 on sm_100"},
		{100, UnitTcgen05, F16, TF32, "tcgen05.mma with operands of f16 and tf32 on sm_100"},
		{80, UnitMMA, E4M3, E4M3, "mma.sync with operands of e4m3 and e4m3 on sm_80"},
		{75, UnitMMA, F16, F16, "mma.sync with operands of f16 and f16 on sm_75"},
		{89, UnitWMMA, E4M3, E4M3, "wmma.mma with operands of e4m3 and e4m3 on sm_89"},
	} {
		_, err := RuleFor(c.arch, c.unit, F32, c.a, c.b)
		if !errors.Is(err, ErrSumNotKnown) || err.Error() != c.want+": how it adds is not known" {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestOn: an f32 result of fp8 operands is another on each architecture. The
// products are 2^14, 2^-1, -2^14 and 2^-13, and C is 2^-14. sm_90 adds two and two,
// each with 25 bits below 2^14, and C at the end; sm_120 adds C at once, sm_89 with
// 13 bits.
func TestOn(t *testing.T) {
	w, err := ParseMMA(strings.Split("sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "."))
	if err != nil {
		t.Fatal(err)
	}
	element := func(w *WarpMMA, a, b []float64, c float64) float64 {
		var x, y Vector
		for i := range 32 {
			var p, q uint32
			if i < len(a) {
				p, q = bitsOf(E4M3, a[i]), bitsOf(E4M3, b[i])
			}
			w.rule.AppendA(&x, p)
			w.rule.AppendB(&y, q)
		}
		return float64(math.Float32frombits(w.rule.Dot(math.Float32bits(float32(c)), &x, &y)))
	}
	a, b := []float64{128, 0.5, -128, 0x1p-7}, []float64{128, 1, 128, 0x1p-6}
	for arch, want := range map[int]float64{90: 0.5 + 0x1p-14, 100: 0.5 + 0x1p-14, 120: 0.5, 89: 0} {
		on, err := w.On(arch)
		if err != nil {
			t.Fatal(err)
		}
		if got := element(on, a, b, 0x1p-14); got != want {
			t.Errorf("sm_%d: %g, want %g", arch, got, want)
		}
	}
	if _, err := w.On(80); !errors.Is(err, ErrSumNotKnown) {
		t.Errorf("sm_80 has no fp8: %v", err)
	}
	ints, err := ParseMMA(strings.Split("sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "."))
	if err != nil {
		t.Fatal(err)
	}
	if on, err := ints.On(80); err != nil || on != ints {
		t.Errorf("integers: %v", err)
	}
	wm, err := ParseWMMA(strings.Split("mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", "."))
	if err != nil {
		t.Fatal(err)
	}
	if on, err := wm.On(80); err != nil || on.mma.rule.bits != 24 || wm.mma.rule.bits != 25 {
		t.Errorf("wmma on sm_80: %v", err)
	}
}

// TestTable: the table that people read names each unit's row with what it rests on.
func TestTable(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(Table()), "\n")[1:]
	for _, row := range sums {
		n := 0
		for _, line := range lines {
			f := strings.Fields(line)
			if strings.Contains(line, row.operands) && strings.Contains(line, strings.Fields(row.archNames())[0]) && f[len(f)-1] == row.Basis.String() && strings.Contains(line, row.unitNames()) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s of %v for %s is in %d lines", row.unitNames(), row.archs, row.operands, n)
		}
	}
}
