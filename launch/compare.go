package launch

import (
	"fmt"
	"io"
	"math"
)

// Tolerance bounds the difference of an element from the expected one. The zero value
// asks for equal numbers: bits may differ only between the two zeros and between NaNs.
// Otherwise, as in NumPy, |got-want| ≤ Abs + Rel·|want|, or with ByULP at most ULP steps
// in the type's order of numbers. A NaN equals only NaNs; an infinity equals only itself,
// unless ULP steps reach it. Bit types compare as unsigned integers.
type Tolerance struct {
	Abs, Rel float64
	ULP      uint64
	ByULP    bool
}

// A Comparison is how two arrays of one type differ.
type Comparison struct {
	Elements int64 // compared
	Count    int64 // out of tolerance
	// The first element out of tolerance, if Count is not 0.
	Index     []int64
	Got, Want string
	// The worst over all elements, within tolerance or not. A NaN or infinity against
	// another number counts as +Inf in MaxAbs and MaxRel, a NaN as the largest uint64 in
	// MaxULP. MaxULP is for floating point only.
	MaxAbs, MaxRel float64
	MaxULP         uint64
}

// OK reports whether every element was within tolerance.
func (c Comparison) OK() bool { return c.Count == 0 }

// String returns one readable line.
func (c Comparison) String() string {
	if c.OK() {
		return fmt.Sprintf("%d elements agree; worst error %.3g absolute, %.3g relative, %d ulp", c.Elements, c.MaxAbs, c.MaxRel, c.MaxULP)
	}
	return fmt.Sprintf("%d of %d elements differ, first at %s: got %s, want %s; worst error %.3g absolute, %.3g relative, %d ulp",
		c.Count, c.Elements, formatShape(c.Index), c.Got, c.Want, c.MaxAbs, c.MaxRel, c.MaxULP)
}

// Compare compares two arrays of the same type and shape, whose lengths must match the
// shape.
func Compare(t Type, shape []int64, got, want []byte, tol Tolerance) Comparison {
	size := t.Size()
	n, ok := elements(shape)
	if !ok || size == 0 || size > 8 || int64(len(got)) != n*int64(size) || len(want) != len(got) {
		panic(fmt.Sprintf("BUG: comparing %d and %d bytes as %s%s", len(got), len(want), t, formatShape(shape)))
	}
	c := Comparison{Elements: n}
	for i := range int(n) {
		g, w := getBits(got[i*size:], size), getBits(want[i*size:], size)
		if g == w {
			continue
		}
		abs, rel, ulp, within := t.difference(g, w, tol)
		c.MaxAbs, c.MaxRel, c.MaxULP = max(c.MaxAbs, abs), max(c.MaxRel, rel), max(c.MaxULP, ulp)
		if within {
			continue
		}
		if c.Count == 0 {
			c.Index, c.Got, c.Want = unravel(int64(i), shape), t.Format(g), t.Format(w)
		}
		c.Count++
	}
	return c
}

// unravel turns a flat index into one index per dimension.
func unravel(flat int64, shape []int64) []int64 {
	index := make([]int64, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		index[i] = flat % shape[i]
		flat /= shape[i]
	}
	return index
}

// difference measures two elements whose bits differ.
func (t Type) difference(g, w uint64, tol Tolerance) (abs, rel float64, ulp uint64, within bool) {
	if t.IsFloat() {
		return t.floatDifference(g, w, tol)
	}
	var wide uint64
	mag := float64(w)
	if t.info().class == signedClass {
		a, b := t.signExtend(g), t.signExtend(w)
		wide, mag = uint64(max(a, b))-uint64(min(a, b)), math.Abs(float64(b))
	} else {
		wide = max(g, w) - min(g, w)
	}
	abs = float64(wide)
	return abs, relative(abs, mag), 0, closeTo(abs, mag, tol)
}

func (t Type) floatDifference(g, w uint64, tol Tolerance) (abs, rel float64, ulp uint64, within bool) {
	f := t.info().float
	a, b := f.decode(g), f.decode(w)
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0, 0, 0, true
	case math.IsNaN(a) || math.IsNaN(b):
		return math.Inf(1), math.Inf(1), math.MaxUint64, false
	}
	ulp = f.steps(g, w)
	abs = math.Abs(a - b)
	rel = relative(abs, math.Abs(b))
	if tol.ByULP {
		return abs, rel, ulp, ulp <= tol.ULP
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return math.Inf(1), math.Inf(1), ulp, false
	}
	return abs, rel, ulp, closeTo(abs, math.Abs(b), tol)
}

// closeTo rounds product and sum one by one: the compiler must not fuse them,
// or the verdict would depend on the machine.
func closeTo(abs, mag float64, tol Tolerance) bool {
	return abs <= tol.Abs+float64(tol.Rel*mag)
}

func relative(abs, mag float64) float64 {
	switch {
	case abs == 0:
		return 0
	case math.IsInf(abs, 0) || mag == 0:
		return math.Inf(1)
	}
	return abs / mag
}

// steps counts the representable numbers from a to b; the two zeros count as one.
func (f floatFormat) steps(a, b uint64) uint64 {
	magA, magB := a&(f.sign()-1), b&(f.sign()-1)
	if (a^b)&f.sign() != 0 {
		return magA + magB
	}
	return max(magA, magB) - min(magA, magB)
}

// Compare checks a buffer's final bytes against what the file expects of it.
func (l *Layout) Compare(x Expect, final []byte) (Comparison, error) {
	b := l.Buffer(x.Buffer)
	if b == nil {
		return Comparison{}, errorf(x.Pos, "no buffer is called %s", quote(x.Buffer))
	}
	if as := x.as(b.Type); b.Size%uint64(as.Size()) != 0 {
		return Comparison{}, errorf(x.Pos, "buffer %q has %d bytes, no whole number of %s", x.Buffer, b.Size, as)
	}
	if x.Data != nil {
		if err := x.checkData(b); err != nil {
			return Comparison{}, err
		}
		return x.compare(b, final, x.Data), nil
	}
	f, h, err := x.open(b)
	if err != nil {
		return Comparison{}, err
	}
	want, err := readArray(x.Pos, x.File, f, h)
	if err != nil {
		return Comparison{}, err
	}
	return x.compare(b, final, want), nil
}

// compare compares the bytes as elements of the expected type. Those of another size than the
// buffer's own have no shape, but their number.
func (x *Expect) compare(b *PlacedBuffer, final, want []byte) Comparison {
	as, shape := x.as(b.Type), b.Shape
	if as.Size() != b.Type.Size() {
		shape = []int64{int64(len(final) / as.Size())}
	}
	return Compare(as, shape, final, want, x.Tolerance)
}

// CheckExpected opens every expected array and checks type, shape and length, to report a
// mistake before the kernel runs.
func (f *File) CheckExpected(l *Layout) error {
	for _, x := range f.Expect {
		b := l.Buffer(x.Buffer)
		if b == nil {
			return errorf(x.Pos, "no buffer is called %s", quote(x.Buffer))
		}
		if as := x.as(b.Type); b.Size%uint64(as.Size()) != 0 {
			return errorf(x.Pos, "buffer %q has %d bytes, no whole number of %s", x.Buffer, b.Size, as)
		}
		if x.Data != nil {
			if err := x.checkData(b); err != nil {
				return err
			}
			continue
		}
		file, _, err := x.open(b)
		if err != nil {
			return err
		}
		file.Close()
	}
	return nil
}

// open opens the expected array: one of the buffer's type and shape, or with As one of that type,
// of as many bytes.
func (x *Expect) open(b *PlacedBuffer) (io.ReadCloser, NpyHeader, error) {
	if x.As != 0 {
		f, h, err := openArrayFile(x.Pos, x.File, x.As, nil, b.Name)
		if err == nil && uint64(h.Size) == b.Size {
			return f, h, nil
		}
		if err == nil {
			f.Close()
		}
	}
	return openArrayFile(x.Pos, x.File, b.Type, b.Shape, b.Name)
}

func (x *Expect) checkData(b *PlacedBuffer) error {
	if uint64(len(x.Data)) != b.Size {
		return errorf(x.Pos, "buffer %q of %d bytes is expected to hold %d", b.Name, b.Size, len(x.Data))
	}
	return nil
}
