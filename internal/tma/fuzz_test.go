package tma

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

// FuzzDecode: no 128 bytes panic. What Decode takes encodes to the same bytes,
// and the card takes it too, unless a dimension is beyond 2^31. A map that Read
// takes moves as many bytes as it counts.
func FuzzDecode(f *testing.F) {
	for _, g := range readGolden(f, "maps.jsonl.gz")[:200] {
		if b, err := hex.DecodeString(g.Hex); err == nil && len(b) == Size {
			f.Add(b, int32(0), uint16(0))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, coord int32, off uint16) {
		if len(data) < Size {
			return
		}
		b := [Size]byte(data)
		m, err := Read(b, Blackwell)
		if d, derr := Decode(b); derr == nil {
			again, rerr := d.Encode()
			if rerr != nil || again != b {
				t.Fatalf("%+v: %v, encoded %x", d, rerr, again)
			}
			if d != m {
				t.Fatalf("Decode %+v\nRead %+v", d, m)
			}
		}
		coords, offsets := make([]int32, max(m.Rank, 1)), []uint16{off, off, off}
		for i := range coords {
			coords[i] = coord
		}
		a := Access{Coords: coords, Offsets: offsets}
		if err != nil || m.SharedBytes(a) > MaxBoxBytes || m.CheckLoad(a) != nil {
			return
		}
		n, lo, hi := 0, m.SharedBytes(a), 0
		for r := range m.Load(0, a) {
			n += r.Len
			lo, hi = min(lo, int(r.Shared)), max(hi, int(r.Shared)+r.Span)
		}
		if n != m.TxBytes(a) || lo < 0 || hi > (m.SharedBytes(a)+127)&^127 {
			t.Fatalf("%+v: %d bytes of %d, from %d to %d of %d", m, n, m.TxBytes(a), lo, hi, m.SharedBytes(a))
		}
	})
}

// TestReadAfterReplace: a map made by tensormap.replace has stale derived
// fields; Decode says so, and the card reads it all the same.
func TestReadAfterReplace(t *testing.T) {
	m := Map{Type: F16, Rank: 2, Address: 1 << 20, Dims: [5]uint64{64, 64}, Strides: [4]uint64{128}, Box: [5]uint32{64, 32}, ElementStrides: [5]uint32{1, 1}, Swizzle: Swizzle128}
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		f   Field
		ord int
		v   uint64
	}{
		{FieldAddress, 0, 1 << 21}, {FieldBox, 0, 32}, {FieldBox, 1, 8}, {FieldDim, 1, 1 << 31}, {FieldStride, 0, 1 << 38},
		{FieldElementStride, 1, 2}, {FieldSwizzle, 0, 2}, {FieldFill, 0, 1}, {FieldType, 0, 10},
	} {
		if err := Replace(&b, Hopper, s.f, s.ord, s.v); err != nil {
			t.Fatal(err)
		}
	}
	want := Map{Type: BF16, Rank: 2, Address: 1 << 21, Dims: [5]uint64{64, 1 << 31}, Strides: [4]uint64{1 << 38}, Box: [5]uint32{32, 8}, ElementStrides: [5]uint32{1, 2}, Swizzle: Swizzle64, Fill: FillNaN}
	if got, err := Read(b, Hopper); err != nil || got != want {
		t.Errorf("%v: %+v", err, got)
	}
	if _, err := Decode(b); err != ErrNotAMap {
		t.Errorf("Decode: %v", err)
	}
	if err := Replace(&b, Hopper, FieldDim, 1, 0); err != nil { // 0 is 2^32
		t.Fatal(err)
	}
	if _, err := Read(b, Hopper); err == nil || err.Error() != "dimension 1 from the innermost is 4294967296, more than the 2^31 that a copy takes" {
		t.Error(err)
	}
}

// TestRandomMaps: 1,000 maps of each mode that the driver made, drawn by plan.py,
// survive decoding and encoding; and no bit of one can change unnoticed.
func TestRandomMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	counts := [2]int{}
	for _, g := range readGolden(t, "maps.jsonl.gz") {
		if g.Hex == "" || counts[g.In[0]] == 1000 {
			continue
		}
		counts[g.In[0]]++
		b := [Size]byte(unhex(t, g.Hex))
		m, err := Decode(b)
		if err != nil {
			t.Fatalf("%s: %v", g.Hex, err)
		}
		if again, err := m.Encode(); err != nil || again != b {
			t.Fatalf("%s: %v, %x", g.Hex, err, again)
		}
		bit := r.IntN(8 * Size)
		b[bit/8] ^= 1 << (bit % 8)
		if other, err := Decode(b); err == nil && other == m {
			t.Errorf("%s: bit %d means nothing", g.Hex, bit)
		}
	}
	if counts[Tiled] < 1000 || counts[Im2col] < 1000 {
		t.Error("only", counts)
	}
}
