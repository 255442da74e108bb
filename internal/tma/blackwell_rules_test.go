package tma

import (
	"errors"
	"testing"
)

// sub is a map that Blackwell takes, of a type and a swizzle, for rows of n elements.
func sub(t Type, s Swizzle, n uint32) Map {
	return Map{Type: t, Rank: 2, Address: 4096, Dims: [5]uint64{uint64(n), 64}, Strides: [4]uint64{256}, Box: [5]uint32{n, 1}, ElementStrides: [5]uint32{1, 1}, Swizzle: s}
}

// alongW is a map for im2col::w.
func alongW() Map {
	return Map{Mode: Im2colW, Type: F16, Rank: 3, Address: 4096, Dims: [5]uint64{64, 9, 9}, Strides: [4]uint64{128, 1152}, Channels: 64, Pixels: 32, ElementStrides: [5]uint32{1, 1, 1}, Swizzle: Swizzle128}
}

func with(m Map, change func(*Map)) Map { change(&m); return m }

// TestRefusedBlackwell: what the driver's and the ISA's text refuse of the new types,
// modes and swizzles (cuTensorMapEncodeTiled, ISA 9.7.10.28.5.1, 5.5.5, 5.5.6).
func TestRefusedBlackwell(t *testing.T) {
	padded, w := sub(B6x16P32, Swizzle128, 128), alongW()
	for _, tt := range []struct {
		m    Map
		want string
	}{
		{padded, ""}, {w, ""}, {sub(B4x16, Swizzle32, 64), ""}, {sub(B4x16P64, Swizzle128Atom32, 128), ""}, {sub(F16, Swizzle96, 48), ""},
		{sub(16, 0, 128), "a map has no type 16"},
		{sub(F16, 8, 64), "no such mode, interleave, swizzle, L2 promotion or fill"},
		{with(padded, func(m *Map) { m.Mode = 4 }), "no such mode, interleave, swizzle, L2 promotion or fill"},
		{with(padded, func(m *Map) { m.Fill = FillNaN }), "type b6x16_p32 cannot be filled with NaN"},
		{with(padded, func(m *Map) { m.Address += 16 }), "address 0x1010 is not a multiple of 32 below 2^57"},
		{with(padded, func(m *Map) { m.Strides[0] = 240 }), "the stride of dimension 1 from the innermost is 240 bytes, not a multiple of 32 below 2^40"},
		{with(padded, func(m *Map) { m.Dims[0] = 192 }), "the innermost dimension has 192 elements of type b6x16_p32, not a multiple of 128"},
		{with(padded, func(m *Map) { m.Box[0] = 64 }), "the box is 64 elements of type b6x16_p32 wide, not 128"},
		{with(padded, func(m *Map) { m.Rank, m.Interleave = 3, Interleave16 }), "type b6x16_p32 has no interleaved layout"},
		{sub(B6x16P32, Swizzle64, 128), "type b6x16_p32 has no swizzle 64B"},
		{sub(B6x16P32, Swizzle128Atom32Flip8, 128), "type b6x16_p32 has no swizzle 128B_ATOM_32B_FLIP_8B"},
		{sub(B4x16P64, Swizzle128Atom64, 128), "type b4x16_p64 has no swizzle 128B_ATOM_64B"},
		{sub(B4x16P64, Swizzle96, 128), "swizzle 96B goes with no interleaved layout, no type b4x16_p64 and b6x16_p32, and no mode im2col::w::128"},
		{sub(F16, Swizzle96, 64), "the box is 128 bytes wide, more than the 96 of its swizzle"},
		{sub(F16, Swizzle128Atom64, 72), "the box is 144 bytes wide, more than the 128 of its swizzle"},
		{with(sub(B4x16, 0, 64), func(m *Map) { m.Dims[0] = 63 }), "the innermost dimension has 63 elements of type b4x16, not a multiple of 2"},
		{sub(B4x16, 0, 48), "the box is 24 bytes wide, not a multiple of 16"},
		{with(sub(B4x16, 0, 64), func(m *Map) { m.Box[0] = 33 }), "the box is 16.5 bytes wide, not a multiple of 16"},
		{with(w, func(m *Map) { m.Swizzle = SwizzleNone }), "mode im2col::w has no swizzle none"},
		{with(w, func(m *Map) { m.Swizzle = Swizzle128Atom32Flip8 }), "mode im2col::w has no swizzle 128B_ATOM_32B_FLIP_8B"},
		{with(w, func(m *Map) { m.Interleave = Interleave16 }), "mode im2col::w has no interleaved layout"},
		{with(w, func(m *Map) { m.Rank = 2 }), "rank 2 is below 3, which im2col mode needs"},
		{with(w, func(m *Map) { m.Pixels = 1025 }), "1025 pixels per column is not in 1 to 1024"},
		{with(w, func(m *Map) { m.Mode, m.Pixels = Im2colW128, 1025 }), ""}, // ignored
		{with(w, func(m *Map) { m.Mode, m.Swizzle, m.Channels = Im2colW128, Swizzle96, 48 }), "swizzle 96B goes with no interleaved layout, no type b4x16_p64 and b6x16_p32, and no mode im2col::w::128"},
		{with(w, func(m *Map) { m.Upper[0] = -9 }), "the bounding box is empty: W has 9, the corners are 0 and -9"},
		{with(w, func(m *Map) { m.Lower[0] = -32769 }), "corners -32769 and 0 are not both in -32768 to 32767, which rank 3 asks for"},
		{with(w, func(m *Map) { m.Rank, m.Dims[3], m.Strides[2], m.ElementStrides[3], m.Lower[0] = 4, 3, 9216, 1, -300 }), ""}, // 16 bits whatever the rank
	} {
		got := ""
		if err := tt.m.Check(); err != nil {
			if got = err.Error(); !errors.As(err, new(*RefusedError)) {
				t.Errorf("%T", err)
			}
		}
		if got != tt.want {
			t.Errorf("%+v\n got %q\nwant %q", tt.m, got, tt.want)
		}
	}
}

// TestFaultsBlackwell: what a copy of the new modes does not take.
func TestFaultsBlackwell(t *testing.T) {
	rows := func(c ...int32) Access { return Access{Coords: c, Four: true} }
	at := func(c ...int32) Access { return Access{Coords: c} }
	halo := func(h, o uint16, c ...int32) Access { return Access{Coords: c, Offsets: []uint16{h, o}} }
	f16, w, w128 := sub(F16, Swizzle128, 64), alongW(), with(alongW(), func(m *Map) { m.Mode = Im2colW128 })
	flip, b4, p64, p32 := sub(F16, Swizzle128Atom32Flip8, 64), sub(B4x16, 0, 64), sub(B4x16P64, 0, 128), sub(B6x16P32, 0, 128)
	for _, tt := range []struct {
		m           Map
		a           Access
		load, store string
	}{
		{f16, rows(8, 0, 5, 5, 63), "", ""},
		{f16, rows(8, 0, -5, 5, 99), "", "a store at coordinate -5 of dimension 1 from the innermost"},
		{f16, rows(-8, 0, 1, 2, 3), "", "a store at coordinate -8 of the innermost dimension"},
		{f16, rows(4, 0, 1, 2, 3), "innermost coordinate 4 is at byte 8, not a multiple of 16", "innermost coordinate 4 is at byte 8, not a multiple of 16"},
		{with(f16, func(m *Map) { m.Box[1] = 4 }), rows(8, 0, 1, 2, 3), "four rows through a map whose box has 4 rows, not 1", "four rows through a map whose box has 4 rows, not 1"},
		{with(f16, func(m *Map) { m.Rank = 3 }), rows(8, 0, 1, 2, 3), "four rows through a map that is not tiled or not of 2 dimensions", "four rows through a map that is not tiled or not of 2 dimensions"},
		{flip, at(0, 0), "", "a store with swizzle 128B_ATOM_32B_FLIP_8B, which only loads have"},
		{b4, at(32, 0), "", ""},
		{b4, at(16, 0), "innermost coordinate 16 is at byte 8, not a multiple of 16", "innermost coordinate 16 is at byte 8, not a multiple of 16"},
		{b4, at(33, 0), "innermost coordinate 33 is at byte 16.5, not a multiple of 16", "innermost coordinate 33 is at byte 16.5, not a multiple of 16"},
		{p64, at(-128, 0), "", "a store of type b4x16_p64, which only loads have"},
		{p64, at(64, 0), "innermost coordinate 64 is not a multiple of 128, which type b4x16_p64 asks for", "a store of type b4x16_p64, which only loads have"},
		{p32, at(128, 0), "", ""},
		{p32, at(32, 0), "innermost coordinate 32 is not a multiple of 128, which type b6x16_p32 asks for", "innermost coordinate 32 is not a multiple of 128, which type b6x16_p32 asks for"},
		{sub(B6x16P32, Swizzle128Atom64, 128), at(0, 0), "a load of type b6x16_p32 with swizzle 128B_ATOM_64B, which only stores have", ""},
		{w, halo(511, 31, 0, 8, 0), "", "a store through a map of mode im2col::w, which only loads have"},
		{w, halo(0, 0, 0, -100, 99), "", "a store through a map of mode im2col::w, which only loads have"},
		{w, halo(0, 0, 0, 9, 0), "W coordinate 9 is beyond the bounding box, 0 to 8", "a store through a map of mode im2col::w, which only loads have"},
		{w, halo(512, 0, 0, 0, 0), "wHalo is 512, not below 512", "a store through a map of mode im2col::w, which only loads have"},
		{w, halo(0, 32, 0, 0, 0), "wOffset is 32, not below 32", "a store through a map of mode im2col::w, which only loads have"},
		{w128, halo(31, 0, 0, 0, 0), "", "a store through a map of mode im2col::w, which only loads have"},
		{w128, halo(32, 0, 0, 0, 0), "wHalo is 32, not below 32", "a store through a map of mode im2col::w, which only loads have"},
	} {
		for i, err := range []error{tt.m.CheckLoad(tt.a), tt.m.CheckStore(tt.a)} {
			got, want := "", []string{tt.load, tt.store}[i]
			if err != nil {
				if got = err.Error(); !errors.As(err, new(*FaultError)) {
					t.Errorf("%T", err)
				}
			}
			if got != want {
				t.Errorf("%+v, %+v\n got %q\nwant %q", tt.m, tt.a, got, want)
			}
		}
	}
	for _, m := range []Map{b4, p64, p32} {
		for op := OpAdd; op <= OpXor; op++ {
			if m.CheckReduce(op) == nil {
				t.Errorf("%s of type %s", op, m.Type)
			}
		}
	}
}

func TestArchitectures(t *testing.T) {
	for _, tt := range []struct {
		m          Map
		a          Arch
		on, onCopy string
	}{
		{sub(F16, Swizzle128, 64), 90, "", ""},
		{sub(F16, Swizzle128Atom32, 64), 90, "a map of sm_90 has no swizzle 128B_ATOM_32B", ""},
		{sub(F16, Swizzle128Atom32, 64), 100, "", ""},
		{sub(F16, Swizzle128Atom32, 64), 120, "", "a load with swizzle 128B_ATOM_32B to .shared::cluster, which sm_120 does not have"},
		{sub(B4x16, 0, 64), 90, "a map of sm_90 has no type b4x16", ""},
		{sub(B4x16, 0, 64), 121, "", "a load of type b4x16 to .shared::cluster, which sm_121 does not have"},
		{alongW(), 90, "a map of sm_90 has no mode im2col::w", ""},
		{alongW(), 110, "", ""},
		{sub(F16, Swizzle96, 48), 90, "a map of sm_90 has no swizzle 96B", ""},
		{sub(F16, Swizzle96, 48), 100, "a map of sm_100 has no swizzle 96B", ""},
		{sub(F16, Swizzle96, 48), 103, "", ""},
	} {
		for i, err := range []error{tt.m.CheckOn(tt.a), tt.m.CheckCluster(tt.a)} {
			got := ""
			if err != nil {
				got = err.Error()
			}
			if want := []string{tt.on, tt.onCopy}[i]; got != want {
				t.Errorf("%+v on sm_%d\n got %q\nwant %q", tt.m, tt.a, got, want)
			}
		}
	}
}

// TestReplaceBlackwell: tensormap.replace makes of one map another one, which reads as
// that of the encoder, and only on the architectures that have it.
func TestReplaceBlackwell(t *testing.T) {
	for s := SwizzleNone; s <= Swizzle96; s++ {
		from, to := sub(F16, Swizzle128, 48), sub(F16, s, 48)
		b, err := from.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if s == SwizzleNone || s == Swizzle32 || s == Swizzle64 {
			to.Box[0] = 16
		}
		for _, f := range []struct {
			f Field
			v uint64
		}{{FieldBox, uint64(to.Box[0])}, {FieldSwizzle, swizzles[s].mode}, {FieldAtomicity, swizzles[s].atom}} {
			if err := Replace(&b, 103, f.f, 0, f.v); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Read(b, 103); err != nil || got != to {
			t.Errorf("%s: %v, %+v", s, err, got)
		}
	}
	for v, want := range map[uint64]Type{13: B4x16, 14: B4x16P64, 15: B6x16P32} {
		from, to := sub(F16, Swizzle128, 64), sub(want, Swizzle128, 128)
		b, err := from.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{Replace(&b, 100, FieldType, 0, v), Replace(&b, 100, FieldDim, 0, 128), Replace(&b, 100, FieldBox, 0, 128)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Read(b, 100); err != nil || got != to {
			t.Errorf("%s: %v, %+v", want, err, got)
		}
		if _, err := Read(b, Hopper); err == nil {
			t.Errorf("%s: a card of Hopper reads it", want)
		}
	}
	for _, tt := range []struct {
		a    Arch
		f    Field
		v    uint64
		want string
	}{
		{100, FieldSwizzle, 4, "swizzle_mode has no value 4 on sm_100"}, {103, FieldSwizzle, 4, ""}, {103, FieldSwizzle, 5, "swizzle_mode has no value 5 on sm_103"},
		{100, FieldAtomicity, 4, "swizzle_atomicity has no value 4 on sm_100"}, {100, FieldType, 16, "elemtype has no value 16 on sm_100"},
	} {
		err := tt.f.Check(tt.a, 0, tt.v)
		if got := map[bool]string{true: ""}[err == nil]; err != nil && err.Error() != tt.want || err == nil && got != tt.want {
			t.Errorf("sm_%d: %s %d: %v, want %q", tt.a, tt.f, tt.v, err, tt.want)
		}
	}
}

// TestRoundTripBlackwell: Decode reads what Encode wrote, and no pair of maps shares bytes.
func TestRoundTripBlackwell(t *testing.T) {
	seen := map[[Size]byte]Map{}
	n := 0
	for ty := U8; ty <= B6x16P32; ty++ {
		for s := SwizzleNone; s <= Swizzle96; s++ {
			for mode := Tiled; mode <= Im2colW128; mode++ {
				m := Map{Mode: mode, Type: ty, Rank: 4, Address: 1 << 20, Dims: [5]uint64{256, 9, 9, 4}, Strides: [4]uint64{2048, 1 << 15, 1 << 19}, ElementStrides: [5]uint32{1, 2, 1, 1}, Swizzle: s}
				width := uint32(128)
				if !ty.padded() {
					width = uint32(256 / bitsPer(ty))
				}
				if mode == Tiled {
					m.Box = [5]uint32{width, 2, 1, 1}
				} else {
					m.Channels, m.Lower[0], m.Upper[0] = width, -3, 2
					if mode != Im2colW128 {
						m.Pixels = 77
					}
				}
				b, err := m.Encode()
				if err != nil {
					continue
				}
				n++
				if got, err := Decode(b); err != nil || got != m {
					t.Errorf("%v: %+v\n%+v", err, got, m)
				}
				if other, ok := seen[b]; ok {
					t.Errorf("the same bytes:\n%+v\n%+v", m, other)
				}
				seen[b] = m
				if at := Unnamed(b); at >= 0 {
					t.Errorf("bit %d has no name: %+v", at, m)
				}
			}
		}
	}
	if n < 250 {
		t.Error("only", n)
	}
	m := sub(F16, Swizzle128, 64)
	b, _ := m.Encode()
	b[87/8] |= 1 << (87 % 8)
	if Unnamed(b) != 87 {
		t.Error("bit 87 has no name")
	}
}

func bitsPer(t Type) int { return types[t].bits }
