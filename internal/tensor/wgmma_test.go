package tensor

import (
	"slices"
	"strings"
	"testing"
)

// TestWGMMASpans compares the spans with what Compute reads, for every case of
// the campaign, and looks that they are sorted and coalesced.
func TestWGMMASpans(t *testing.T) {
	for _, c := range wgPlan() {
		w, err := NewWGMMA(c.form)
		if err != nil {
			t.Fatal(err)
		}
		acc, a := make([]*[32]uint32, w.AccRegs()), make([]*[32]uint32, w.FragRegs())
		for i := range acc {
			acc[i] = new([32]uint32)
		}
		for i := range a {
			a[i] = new([32]uint32)
		}
		var got []Span
		w.Compute(2, acc, a, uint64(c.a), uint64(c.b), new([32]uint32), true, func(addr uint32, b []byte) {
			clear(b)
			got = append(got, Span{addr, uint32(len(b))})
		})
		spans := [][]Span{w.SpansA(uint64(c.a), 2), w.SpansB(uint64(c.b))}
		if want := slices.Concat(spans...); !slices.Equal(got, want) {
			t.Fatalf("%s reads %v, its spans are %v", c.form.name(), got, want)
		}
		for _, s := range spans {
			for i := 1; i < len(s); i++ {
				if s[i].Addr <= s[i-1].Addr+s[i-1].Len {
					t.Fatalf("%s: %v and %v", c.form.name(), s[i-1], s[i])
				}
			}
		}
	}
}

// TestWGMMAKnownSpans has layouts that can be checked by hand.
func TestWGMMAKnownSpans(t *testing.T) {
	w, err := NewWGMMA(WGMMAForm{Shape: "m64n16k16", D: "f32", A: "f16", B: "f16"})
	if err != nil {
		t.Fatal(err)
	}
	// The third K step of a tile of 64 columns under the 128-byte swizzle: of row
	// r, columns 4^r and 5^r. Those of rows 3 and 4 are neighbours.
	got := w.SpansB(uint64(makeDescriptor(1024+64, 16, 1024, 0, 1)))
	want := []Span{{1088, 32}, {1216, 32}, {1376, 32}, {1504, 64}, {1664, 32}, {1824, 32}, {1952, 32}}
	for _, s := range want[:7] {
		want = append(want, Span{1024 + s.Addr, s.Len})
	}
	if !slices.Equal(got, want) {
		t.Errorf("128-byte swizzle: %v, want %v", got, want)
	}
	// Without swizzle, packed, warp 1's rows of A are one range.
	if got, want := w.SpansA(uint64(makeDescriptor(2048, 128, 256, 0, 0)), 1), []Span{{2560, 512}}; !slices.Equal(got, want) {
		t.Errorf("no swizzle: %v, want %v", got, want)
	}
}

func TestWGMMARefuses(t *testing.T) {
	for _, c := range []struct {
		form WGMMAForm
		want string
	}{
		{WGMMAForm{Shape: "m64n128k32", D: "f32", A: "f16", B: "f16"}, "shape"},
		{WGMMAForm{Shape: "m64n12k16", D: "f32", A: "f16", B: "f16"}, "shape"},
		{WGMMAForm{Shape: "m64n264k16", D: "f32", A: "f16", B: "f16"}, "shape"},
		{WGMMAForm{Shape: "m64n128k16x", D: "f32", A: "f16", B: "f16"}, "shape"},
		{WGMMAForm{Shape: "m64n40k32", D: "s32", A: "s8", B: "s8"}, "shape"},
		{WGMMAForm{Shape: "", D: "s32", A: "s8", B: "s8"}, "shape"},
		{WGMMAForm{Shape: "m64n128k16", D: "f32", A: "f16", B: "bf16"}, "types"},
		{WGMMAForm{Shape: "m64n128k16", D: "f16", A: "bf16", B: "bf16"}, "types"},
		{WGMMAForm{Shape: "m64n128k16", D: "f32"}, "types"},
		{WGMMAForm{Shape: "m64n128k32", D: "f32", A: "e4m3", B: "e4m3", TransB: true}, "transposed"},
		{WGMMAForm{Shape: "m64n128k16", D: "f32", A: "f16", B: "f16", TransA: true, ARegs: true}, "transposed"},
		{WGMMAForm{Shape: "m64n128k512", D: "s32", A: "b1", B: "b1", Sparse: true}, "sparse"},
		{WGMMAForm{Shape: "m64n128k32", D: "s32", A: "s8", B: "s8", NegA: true}, "negated"},
		{WGMMAForm{Shape: "m64n128k64", D: "f32", A: "e4m3", B: "e4m3", Sparse: true, Selector: 1}, "selector"},
		{WGMMAForm{Shape: "m64n128k256", D: "s32", A: "b1", B: "b1", Satfinite: true}, "satfinite"},
	} {
		if _, err := NewWGMMA(c.form); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want a word on %s", c.form, err, c.want)
		}
	}
}

func TestDescriptorCheck(t *testing.T) {
	w, err := NewWGMMA(WGMMAForm{Shape: "m64n16k16", D: "f32", A: "f16", B: "f16"})
	if err != nil {
		t.Fatal(err)
	}
	good := makeDescriptor(1024, 16, 1024, 0, 1)
	for _, c := range []struct {
		d    Descriptor
		want string // nothing: allowed
	}{
		{good, ""},
		{good | 1<<49, ""},
		{makeDescriptor(1024, 128, 256, 0, 0), ""},
		{makeDescriptor(1024, 128, 256, 3, 0), "base offset 3"},
		{good | 1<<14, "reserved bits set: 0x4000"},
		{good | 1<<48, "reserved bits set: 0x1000000000000"},
	} {
		for _, err := range []error{w.CheckA(uint64(c.d)), w.CheckB(uint64(c.d))} {
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%016x: %v, want %q", uint64(c.d), err, c.want)
			}
		}
	}
}

// TestWGMMAMeta: the metadata that the ISA allows.
func TestWGMMAMeta(t *testing.T) {
	fill := func(x uint32) *[32]uint32 {
		var m [32]uint32
		for i := range m {
			m[i] = x
		}
		return &m
	}
	for _, c := range []struct {
		shape, typ string
		meta       *[32]uint32
		ok         bool
	}{
		{"m64n8k32", "f16", fill(0x44444444), true},
		{"m64n8k32", "f16", fill(0x1236789b), true},
		{"m64n8k32", "f16", fill(0x44444454), false},
		{"m64n8k16", "tf32", fill(0x4e4e4e44), true},
		{"m64n8k16", "tf32", fill(0x44444494), false},
		{"m64n8k64", "e4m3", fill(0x4444444e), true},
		{"m64n8k64", "e4m3", fill(0xf4444444), false},
	} {
		w, err := NewWGMMA(WGMMAForm{Shape: c.shape, D: "f32", A: c.typ, B: c.typ, Sparse: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.CheckMeta(c.meta); (err == nil) != c.ok {
			t.Errorf("%s %s %08x: %v", c.shape, c.typ, c.meta[0], err)
		}
	}
	// Only the lanes that the selector names count.
	w, err := NewWGMMA(WGMMAForm{Shape: "m64n8k32", D: "f32", A: "f16", B: "f16", Sparse: true, Selector: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := fill(0x44444444)
	m[4], m[5] = 0, 0
	if err := w.CheckMeta(m); err != nil {
		t.Error(err)
	}
	m[7] = 0
	if err := w.CheckMeta(m); err == nil || !strings.Contains(err.Error(), "lane 7") {
		t.Error(err)
	}
}
