package launch

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestFloatFormats walks every number of the small formats: it must survive
// decoding and encoding, the midpoint to its successor must go to the even one,
// and the numbers next to the midpoint to the nearer one.
func TestFloatFormats(t *testing.T) {
	for _, typ := range []Type{F16, BF16, E4M3, E5M2} {
		f := typ.info().float
		for bits := uint64(0); bits <= f.maxFinite; bits++ {
			v := f.decode(bits)
			if got := f.encode(v); got != bits {
				t.Fatalf("%s %#x: %v encodes as %#x", typ, bits, v, got)
			}
			if got := f.encode(-v); got != bits|f.sign() {
				t.Fatalf("%s -%#x: encodes as %#x", typ, bits, got)
			}
			next := math.Ldexp(1, f.bias()+1) // where infinity would be
			if bits < f.maxFinite {
				next = f.decode(bits + 1)
			} else if f.inf == 0 {
				next = 480 // e4m3's next number, were it not NaN
			}
			mid := (v + next) / 2
			want := bits + bits&1
			if want > f.maxFinite && f.inf == 0 {
				want = f.nan
			}
			if got := f.encode(mid); got != want {
				t.Fatalf("%s: %v, between %#x and its successor, encodes as %#x, want %#x", typ, mid, bits, got, want)
			}
			if got := f.encode(math.Nextafter(mid, 0)); got != bits {
				t.Fatalf("%s: below %v encodes as %#x, want %#x", typ, mid, got, bits)
			}
		}
	}
}

// TestFloatFormatsWide compares the generic conversion with the processor's.
func TestFloatFormatsWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Float64frombits(rapid.Uint64().Draw(t, "v"))
		if math.IsNaN(v) {
			return
		}
		if got, want := F32.info().float.round(v), uint64(math.Float32bits(float32(v))); got != want {
			t.Fatalf("f32 %v: %#x, want %#x", v, got, want)
		}
		if got, want := F64.info().float.round(v), math.Float64bits(v); got != want {
			t.Fatalf("f64 %v: %#x, want %#x", v, got, want)
		}
		w := math.Float32frombits(rapid.Uint32().Draw(t, "w"))
		if got := F32.info().float.decode(uint64(math.Float32bits(w))); got != float64(w) && !math.IsNaN(got) {
			t.Fatalf("f32 %v decodes as %v", w, got)
		}
		if got := F64.info().float.decode(math.Float64bits(v)); got != v {
			t.Fatalf("f64 %v decodes as %v", v, got)
		}
	})
}

func TestFormatElement(t *testing.T) {
	for _, tt := range []struct {
		typ  Type
		bits uint64
		want string
	}{
		{S8, 0x80, "-128"}, {U8, 0x80, "128"}, {B16, 0xff, "0x00ff"}, {S64, math.MaxUint64, "-1"},
		{F32, 0x3dcccccd, "0.1"}, {F32, 0x7fffffff, "nan (0x7fffffff)"}, {F32, 0xff800000, "-inf"}, {F16, 0x7c00, "inf"},
		{BF16, 0x3f80, "1"}, {E4M3, 0x7e, "448"}, {E4M3, 0xff, "nan (0xff)"}, {E5M2, 0x7c, "inf"}, {F64, 0x3fb999999999999a, "0.1"},
	} {
		if got := tt.typ.Format(tt.bits); got != tt.want {
			t.Errorf("%s %#x: %s, want %s", tt.typ, tt.bits, got, tt.want)
		}
	}
}

// TestTypeTable: every type has a name that finds it, a size, and a NumPy type
// that can fill it.
func TestTypeTable(t *testing.T) {
	for typ := U8; typ <= TensorMapType; typ++ {
		if got, ok := ParseType(typ.String()); !ok || got != typ {
			t.Errorf("%s: ParseType gives %s", typ, got)
		}
		if typ.Size() == 0 || !typ.holds(typ.NpyDescr()) {
			t.Errorf("%s: size %d, descr %s", typ, typ.Size(), typ.NpyDescr())
		}
		if size, err := descrSize(typ.NpyDescr()); err != nil || typ != TensorMapType && size != int64(typ.Size()) {
			t.Errorf("%s: %s has %d bytes, %v", typ, typ.NpyDescr(), size, err)
		}
		if e := defaultElement(typ); typ != TensorMapType && e.Size() != int64(typ.Size()) {
			t.Errorf("%s: tensor maps take it as %s", typ, e)
		}
	}
	if _, ok := ParseType(""); ok {
		t.Error("the empty name is a type")
	}
}
