package tensor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A bitField is a field of a descriptor as CUTLASS declares it: widths from bit 0
// on.
type bitField struct {
	name  string
	width int
}

// pack writes fields one after the other.
func packFields(fields []bitField, values map[string]uint64) (x uint64) {
	at := 0
	for _, f := range fields {
		v := values[f.name]
		if v >= 1<<f.width {
			panic(fmt.Sprintf("%s = %d", f.name, v))
		}
		x |= v << at
		at += f.width
	}
	return x
}

// Of UMMA::InstrDescriptor and UMMA::SmemDescriptor, cute/arch/mma_sm100_desc.hpp.
var (
	instrFields = []bitField{{"sparse_id2", 2}, {"sparse_flag", 1}, {"saturate", 1}, {"c_format", 2}, {"", 1}, {"a_format", 3}, {"b_format", 3},
		{"a_negate", 1}, {"b_negate", 1}, {"a_major", 1}, {"b_major", 1}, {"n_dim", 6}, {"unused", 1}, {"m_dim", 5}, {"k", 1}, {"max_shift", 2}}
	smemFields = []bitField{{"start_address", 14}, {"unused1", 2}, {"leading_byte_offset", 14}, {"unused2", 2}, {"stride_byte_offset", 14}, {"version", 2},
		{"version2", 1}, {"base_offset", 3}, {"lbo_mode", 1}, {"unused3", 3}, {"unused4", 5}, {"layout_type", 3}}
)

// formatCodes are UMMA::F16F32Format and UMMA::MXF8F6F4Format; cFormatCodes
// UMMA::CFormat.
var (
	formatCodes  = map[Format]uint64{F16: 0, BF16: 1, TF32: 2, E4M3: 0, E5M2: 1, E2M3: 3, E3M2: 4, E2M1: 5}
	cFormatCodes = map[Format]uint64{F16: 0, F32: 1}
)

func idesc(d, a, b Format, m, n int) uint32 {
	return uint32(packFields(instrFields, map[string]uint64{"c_format": cFormatCodes[d], "a_format": formatCodes[a], "b_format": formatCodes[b],
		"n_dim": uint64(n / 8), "m_dim": uint64(m / 16)}))
}

var kindFormats = map[string]struct{ d, ab []Format }{
	"f16":    {[]Format{F16, F32}, []Format{F16, BF16}},
	"tf32":   {[]Format{F32}, []Format{TF32}},
	"f8f6f4": {[]Format{F16, F32}, []Format{E4M3, E5M2, E2M3, E3M2, E2M1}},
}

// TestInstructionDescriptors draws 10,000 descriptors, encodes them by CUTLASS's
// fields, and compares what is decoded.
func TestInstructionDescriptors(t *testing.T) {
	s := source{rand.New(rand.NewPCG(3, 5))}
	flag := func() bool { return s.to(2) == 1 }
	for range 10000 {
		kind := []string{"f16", "tf32", "f8f6f4"}[s.to(3)]
		k := kindFormats[kind]
		ctas := 1 + s.to(2)
		m, n := 64*ctas<<s.to(2), 8*ctas*(1+s.to(32/ctas))
		d, a, b := k.d[s.to(len(k.d))], k.ab[s.to(len(k.ab))], k.ab[s.to(len(k.ab))]
		if a == BF16 || b == BF16 {
			d = F32
		}
		f := TCGen05Form{Kind: kind, CTAs: ctas, ScaleD: -1}
		v := map[string]uint64{"c_format": cFormatCodes[d], "a_format": formatCodes[a], "b_format": formatCodes[b], "n_dim": uint64(n / 8), "m_dim": uint64(m / 16)}
		set := func(name string) bool {
			if flag() {
				v[name] = 1
			}
			return v[name] == 1
		}
		na, nb, ta, tb := set("a_negate"), set("b_negate"), set("a_major"), set("b_major")
		if tb && kind == "f8f6f4" && n%(16*ctas) != 0 {
			n += 8 * ctas
			v["n_dim"] = uint64(n / 8)
		}
		f.Desc = uint32(packFields(instrFields, v))
		g, err := NewTCGen05(f)
		if err != nil {
			t.Fatalf("%v of %v: %v", f, v, err)
		}
		type decoded struct {
			m, n, k, rows  int
			d, a, b        Format
			na, nb, ta, tb bool
		}
		want := decoded{m, n, map[string]int{"f16": 16, "tf32": 8, "f8f6f4": 32}[kind], m / ctas, d, a, b, na, nb, ta, tb}
		if got := (decoded{g.M, g.N, g.K, g.Rows(), g.D, g.A, g.B, g.NegA, g.NegB, g.TransA, g.TransB}); got != want {
			t.Fatalf("0x%08x: %+v, want %+v", f.Desc, got, want)
		}
	}
}

// TestWrongInstructionDescriptors changes each field of right descriptors to each
// value that it must not have.
func TestWrongInstructionDescriptors(t *testing.T) {
	type bad struct {
		kind  string
		ctas  int
		field string
		value uint64
		bits  string // what the error names
	}
	var all []bad
	for _, kind := range []string{"f16", "tf32", "f8f6f4"} {
		for _, ctas := range []int{1, 2} {
			add := func(field, bits string, values ...uint64) {
				for _, v := range values {
					all = append(all, bad{kind, ctas, field, v, bits})
				}
			}
			add("sparse_id2", "bits 0-1", 1, 2, 3)
			add("sparse_flag", "bit 2", 1)
			add("saturate", "bit 3", 1)
			add("", "bit 6", 1)
			add("unused", "bit 23", 1)
			add("k", "bit 29", 1)
			add("max_shift", "bits 30-31", 1, 2, 3)
			k := kindFormats[kind]
			for v := range uint64(8) {
				fits := false
				for _, f := range k.ab {
					fits = fits || formatCodes[f] == v
				}
				if !fits {
					add("a_format", "bits 7-9", v)
					add("b_format", "bits 10-12", v)
				}
				fits = false
				for _, f := range k.d {
					fits = fits || cFormatCodes[f] == v
				}
				if !fits && v < 4 {
					add("c_format", "bits 4-5", v)
				}
			}
			for v := range uint64(64) {
				if v == 0 || v > 32 || ctas == 2 && v%2 == 1 {
					add("n_dim", "bits 17-22", v)
				}
				if v < 32 && v != uint64(4*ctas) && v != uint64(8*ctas) {
					add("m_dim", "bits 24-28", v)
				}
			}
		}
	}
	for _, b := range all {
		k := kindFormats[b.kind]
		v := map[string]uint64{"c_format": 1, "a_format": formatCodes[k.ab[0]], "b_format": formatCodes[k.ab[0]], "n_dim": 16, "m_dim": 8}
		f := TCGen05Form{Kind: b.kind, CTAs: b.ctas, ScaleD: -1}
		f.Desc = uint32(packFields(instrFields, v))
		if _, err := NewTCGen05(f); err != nil {
			t.Fatal(err)
		}
		v[b.field] = b.value
		f.Desc = uint32(packFields(instrFields, v))
		_, err := NewTCGen05(f)
		if err == nil || !strings.Contains(err.Error(), b.bits+",") || !strings.Contains(err.Error(), "(ISA 9.7.18.") || errors.Is(err, ErrNotModelled) {
			t.Errorf("%+v: %v", b, err)
		}
	}
	if len(all) < 350 {
		t.Errorf("%d wrong fields", len(all))
	}
	for _, c := range []struct {
		form TCGen05Form
		want string
		not  bool // not modelled
	}{
		{TCGen05Form{Kind: "f16", Desc: idesc(F16, BF16, BF16, 128, 64)}, "a D of f16 goes with A and B of f16 only", false},
		{TCGen05Form{Kind: "f16", Desc: idesc(F16, F16, BF16, 128, 64)}, "a D of f16", false},
		{TCGen05Form{Kind: "f16", CTAs: 3, Desc: idesc(F32, F16, F16, 128, 64)}, ".cta_group::3", false},
		{TCGen05Form{Kind: "f17", Desc: idesc(F32, F16, F16, 128, 64)}, `no kind "f17"`, false},
		{TCGen05Form{Kind: "f16", ScaleD: 16, Desc: idesc(F32, F16, F16, 128, 64)}, "scale-input-d is 16", false},
		{TCGen05Form{Kind: "f8f6f4", ScaleD: 1, Desc: idesc(F32, E4M3, E4M3, 128, 64)}, "no scale-input-d", false},
		{TCGen05Form{Kind: "f8f6f4", ScaleD: -1, Desc: idesc(F32, E4M3, E4M3, 128, 24) | 1<<16}, "in steps of 16", false},
		{TCGen05Form{Kind: "f8f6f4", CTAs: 2, ScaleD: -1, Desc: idesc(F32, E4M3, E4M3, 128, 48) | 1<<16}, "in steps of 32", false},
		{TCGen05Form{Kind: "f16", ATensor: true, Desc: idesc(F32, F16, F16, 128, 64) | 1<<15}, "K-major", false},
		{TCGen05Form{Kind: "ti16", Desc: 0}, "kind ti16", true},
		{TCGen05Form{Kind: "i8", Desc: 0}, "no scale-input-d", false},
		{TCGen05Form{Kind: "mxf4", Desc: 0}, "no scale-input-d", false},
		{TCGen05Form{Kind: "f16", Arch: 107, Desc: idesc(F32, F16, F16, 128, 64) | 1<<29}, "on sm_107", true},
		{TCGen05Form{Kind: "f16", WS: true, Desc: idesc(F32, F16, F16, 128, 64)}, "tcgen05.mma.ws has no scale-input-d", false},
		{TCGen05Form{Kind: "f16", Sparse: true, Desc: idesc(F32, F16, F16, 128, 64) | 5}, "sparsity selector", true},
		{TCGen05Form{Kind: "f16", Sparse: true, Desc: idesc(F32, F16, F16, 128, 64)}, "tcgen05.mma.sp wants 1", false},
		{TCGen05Form{Kind: "f8f6f4", Sparse: true, ScaleD: -1, Desc: idesc(F32, E4M3, E4M3, 128, 64) | 6}, "kind f8f6f4 has none", false},
	} {
		if c.form.CTAs == 0 {
			c.form.CTAs = 1
		}
		_, err := NewTCGen05(c.form)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNotModelled) != c.not {
			t.Errorf("%+v: %v, want %q", c.form, err, c.want)
		}
	}
}

// TestTensorDescriptors draws 10,000 descriptors, encodes them by CUTLASS's
// fields, and compares what is decoded; one wrong field makes each of them
// refused.
func TestTensorDescriptors(t *testing.T) {
	s := source{rand.New(rand.NewPCG(7, 9))}
	widths := map[uint64]uint32{0: 16, 1: 128, 2: 128, 4: 64, 6: 32} // UMMA::LayoutType
	for range 10000 {
		v := map[string]uint64{"start_address": uint64(s.to(1 << 14)), "leading_byte_offset": uint64(s.to(1 << 14)), "stride_byte_offset": uint64(s.to(1 << 14)),
			"version": 1, "layout_type": []uint64{0, 1, 2, 4, 6}[s.to(5)]}
		if v["layout_type"] != 0 {
			v["base_offset"] = uint64(s.to(8))
		}
		d := TensorDescriptor(packFields(smemFields, v))
		if err := d.Check(); err != nil {
			t.Fatalf("%v: %v", v, err)
		}
		got := [...]uint32{d.Start(), d.Leading(), d.Stride(), d.BaseOffset(), d.Swizzle()}
		want := [...]uint32{uint32(v["start_address"]) * 16, uint32(v["leading_byte_offset"]) * 16, uint32(v["stride_byte_offset"]) * 16, uint32(v["base_offset"]), widths[v["layout_type"]]}
		if got != want || d.Wide() != (v["layout_type"] == 1) || d.Absolute() {
			t.Fatalf("%016x: %v, want %v", uint64(d), got, want)
		}
		wrong := []struct {
			field string
			value uint64
			want  string
		}{
			{"unused1", uint64(1 + s.to(3)), "reserved bits set"},
			{"unused2", uint64(1 + s.to(3)), "reserved bits set"},
			{"unused3", uint64(1 + s.to(7)), "reserved bits set"},
			{"unused4", uint64(1 + s.to(31)), "reserved bits set"},
			{"version", []uint64{2, 3}[s.to(2)], "in bits 46-48, where tcgen05 wants 0b001"},
			{"version2", 1, "in bits 46-48"},
			{"lbo_mode", 1, "in bit 52"},
			{"layout_type", []uint64{3, 5, 7}[s.to(3)], "in bits 61-63"},
		}
		w := wrong[s.to(len(wrong))]
		v[w.field] = w.value
		d = TensorDescriptor(packFields(smemFields, v))
		if err := d.checkFor("A", F16, true, 32); err == nil || !strings.Contains(err.Error(), w.want) || !strings.Contains(err.Error(), "(ISA 9.7.18.4.1)") {
			t.Fatalf("%v: %v, want %q", v, err, w.want)
		}
	}
	if d := TensorDescriptor(1<<46 | 3<<49); d.Check() != nil || !d.Idle() || (d | 2<<61).Idle() || (d &^ (7 << 49)).Idle() {
		t.Error(d.Check(), d.Idle())
	}
}

// TestTensorOperandChecks: which swizzles go with which matrices.
func TestTensorOperandChecks(t *testing.T) {
	for _, kind := range []string{"f16", "tf32", "f8f6f4"} {
		k := kindFormats[kind]
		for _, trans := range []bool{false, true} {
			f := TCGen05Form{Kind: kind, CTAs: 1, ScaleD: -1, Desc: idesc(F32, k.ab[0], k.ab[0], 128, 64)}
			if trans {
				f.Desc |= 3 << 15
			}
			g, err := NewTCGen05(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, code := range []uint64{0, 1, 2, 4, 6} {
				d := uint64(1)<<46 | code<<61
				ok := code != 1
				if trans && kind == "tf32" {
					ok = !ok
				}
				for _, err := range []error{g.CheckA(d), g.CheckB(d)} {
					if (err == nil) != ok || errors.Is(err, ErrNotModelled) != (code == 1 && !trans) {
						t.Errorf("%s transposed %v swizzle %d: %v", kind, trans, code, err)
					}
				}
			}
		}
	}
}

// TestTensorAddresses: the addresses that the ISA forbids.
func TestTensorAddresses(t *testing.T) {
	access := func(shape string, n, split int, pack bool) *TensorAccess {
		a, err := NewTensorAccess(TensorAccessForm{Shape: shape, Num: n, Split: split, Pack: pack})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		a            *TensorAccess
		lane, column int
		warp         int
		want         string // nothing: allowed
	}{
		{access("32x32b", 4, 0, false), 0, 508, 0, ""},
		{access("32x32b", 4, 0, false), 96, 0, 7, ""},
		{access("32x32b", 4, 0, false), 0, 509, 0, "columns 509 to 512"},
		{access("32x32b", 4, 0, true), 0, 505, 0, "columns 505 to 512"},
		{access("32x32b", 4, 0, false), 0, 0, 1, "of lane 0, where warp 1 reaches lanes 32 to 63"},
		{access("32x32b", 4, 0, false), 128, 0, 0, "of lane 128"},
		{access("32x32b", 4, 0, false), 16, 0, 0, "shape 32x32b of warp 0 begins at lane 0"},
		{access("16x64b", 4, 0, false), 16, 0, 0, ""},
		{access("16x64b", 4, 0, false), 48, 504, 5, ""},
		{access("16x64b", 4, 0, false), 8, 0, 0, "begins at lane 0 or 16"},
		{access("16x64b", 4, 0, false), 16, 0, 2, "warp 2 reaches lanes 64 to 95"},
		{access("16x256b", 32, 0, false), 0, 257, 0, "columns 257 to 512"},
		{access("16x32bx2", 8, 100, false), 0, 404, 0, ""},
		{access("16x32bx2", 8, 100, false), 0, 405, 0, "columns 405 to 512"},
	} {
		err := c.a.Check(TensorAddress(c.lane, c.column), c.warp)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "(ISA 9.7.18.")) {
			t.Errorf("%+v at (%d,%d): %v, want %q", c.a.TensorAccessForm, c.lane, c.column, err, c.want)
		}
	}
	for _, f := range []TensorAccessForm{{Shape: "32x64b", Num: 1}, {Shape: "32x32b"}, {Shape: "32x32b", Num: 3}, {Shape: "32x32b", Num: 256}, {Shape: "16x128b", Num: 128},
		{Shape: "16x256b", Num: 64}, {Shape: "32x32b", Num: 4, Split: 4}, {Shape: "16x32bx2", Num: 4, Split: -1}} {
		if _, err := NewTensorAccess(f); err == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
	mma := func(ctas, m, n int, ta bool) *TCGen05 {
		g, err := NewTCGen05(TCGen05Form{Kind: "f16", CTAs: ctas, ScaleD: -1, ATensor: ta, Desc: idesc(F32, F16, F16, m, n)})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{mma(1, 128, 256, false).CheckD(256), ""},
		{mma(1, 128, 256, false).CheckD(257), "columns 257 to 512"},
		{mma(1, 128, 256, false).CheckD(16 << 16), "layout D, of M = 128 with .cta_group::1, begins at lane 0"},
		{mma(1, 64, 256, false).CheckD(16<<16 | 256), ""},
		{mma(1, 64, 256, false).CheckD(32 << 16), "begins at lane 0 or 16"},
		{mma(2, 128, 256, false).CheckD(384), ""},
		{mma(2, 128, 256, false).CheckD(385), "columns 385 to 512"},
		{mma(2, 256, 256, false).CheckD(1<<16 | 256), "layout A"},
		{mma(1, 64, 64, true).CheckTA(16<<16|504, 16<<16), ""},
		{mma(1, 64, 64, true).CheckTA(504, 16<<16), "wants the same lane"},
		{mma(1, 64, 64, true).CheckTA(505, 0), "columns 505 to 512"},
		{mma(1, 64, 64, true).CheckDisabled(make([]uint32, 8)), "has 8 elements, where .cta_group::1 has 4"},
		{mma(2, 256, 64, true).CheckDisabled(make([]uint32, 8)), ""},
		{mma(2, 256, 64, true).CheckDisabled(nil), ""},
	} {
		if c.want == "" && c.err != nil || c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want) || !strings.Contains(c.err.Error(), "(ISA 9.7.18.")) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
	cp, err := NewTensorCopy("4x256b", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.CheckTensor(32 << 16); err == nil || !strings.Contains(err.Error(), "lane 128") {
		t.Error(err)
	}
	if err := cp.CheckTensor(505); err == nil || !strings.Contains(err.Error(), "columns 505 to 512") {
		t.Error(err)
	}
	if err := cp.CheckShared(1<<46 | 1<<61); !errors.Is(err, ErrNotModelled) {
		t.Error(err)
	}
	for _, bad := range [][2]string{{"64x128b", ""}, {"32x128b", "warpx2::02_13"}, {"128x256b", "warpx4"}, {"64x256b", ""}} {
		if _, err := NewTensorCopy(bad[0], bad[1], ""); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// TestTensorAccessMoves moves registers to tensor memory and back.
func TestTensorAccessMoves(t *testing.T) {
	for _, l := range accessLayouts {
		for n := 1; n <= l.most; n *= 4 {
			for _, pack := range []bool{false, true} {
				for _, split := range []int{0, n / 2, n + 5, 2*n + 3} {
					if l.shape != "16x32bx2" && split != 0 {
						continue
					}
					a, err := NewTensorAccess(TensorAccessForm{Shape: l.shape, Num: n, Split: split, Pack: pack})
					if err != nil {
						t.Fatal(err)
					}
					taddr := TensorAddress(64, max(0, TensorColumns-a.Columns()))
					if a.Columns() > TensorColumns {
						continue
					}
					if err := a.Check(taddr, 2); err != nil {
						t.Fatal(err)
					}
					mem := make([]byte, TensorBytes)
					for i := range mem {
						mem[i] = byte(mix(9, uint32(i)))
					}
					was := string(mem)
					regs := make([]*[32]uint32, a.Registers())
					for i := range regs {
						regs[i] = new([32]uint32)
					}
					var spans []Span
					a.Load(taddr, regs, func(addr uint32, b []byte) {
						spans = append(spans, Span{addr, uint32(len(b))})
						copy(b, mem[addr:])
					})
					if fmt.Sprint(spans) != fmt.Sprint(a.Spans(taddr)) {
						t.Fatalf("%+v reads %v, its spans are %v", a.TensorAccessForm, spans, a.Spans(taddr))
					}
					lane0, column0 := TensorCell(taddr)
					cells := map[uint32]bool{}
					word := func(lane, column int) uint32 {
						at := TensorOffset(lane0+lane, column0+column)
						cells[at] = true
						return uint32(was[at]) | uint32(was[at+1])<<8 | uint32(was[at+2])<<16 | uint32(was[at+3])<<24
					}
					for i, r := range regs {
						for thread, got := range r {
							lane, column := a.Cell(thread, i)
							want := word(lane, column)
							if pack {
								want = want&0xffff | word(lane, column+1)<<16
							}
							if got != want {
								t.Fatalf("%+v thread %d register %d: 0x%x, want 0x%x", a.TensorAccessForm, thread, i, got, want)
							}
						}
					}
					sameCells(t, a.Spans(taddr), cells)
					back := make([]byte, TensorBytes)
					a.Store(taddr, regs, func(addr uint32, b []byte) { copy(back[addr:], b) })
					for at := range uint32(TensorBytes) {
						want := byte(0)
						if cells[at&^3] && (!pack || at&2 == 0) {
							want = was[at]
						}
						if back[at] != want {
							t.Fatalf("%+v stores 0x%x at byte %d, want 0x%x", a.TensorAccessForm, back[at], at, want)
						}
					}
				}
			}
		}
	}
}

func BenchmarkTensorAccess(b *testing.B) {
	for _, l := range accessLayouts {
		b.Run(l.shape, func(b *testing.B) {
			a, err := NewTensorAccess(TensorAccessForm{Shape: l.shape, Num: l.most})
			if err != nil {
				b.Fatal(err)
			}
			mem := make([]byte, TensorBytes)
			regs := make([]*[32]uint32, a.Registers())
			for i := range regs {
				regs[i] = new([32]uint32)
			}
			b.SetBytes(int64(a.Registers()) * 128)
			for b.Loop() {
				a.Load(0, regs, func(addr uint32, b []byte) { copy(b, mem[addr:]) })
			}
		})
	}
}
