package tma

import (
	"encoding/hex"
	"testing"
)

// replaced is a golden row of replace.jsonl.gz.
type replaced struct {
	ID    int // 1000 more if the map lay in global memory
	Value uint64
	Map   string
	Out   string
}

// instruction gives what an ID stands for: replace.py numbers them.
func (r *replaced) instruction() (f Field, ord int, v uint64) {
	id := r.ID % 1000
	switch {
	case id == 1:
		return FieldAddress, 0, r.Value
	case id == 2:
		return FieldRank, 0, r.Value
	case id < 100:
		return FieldBox + Field((id-11)/10), (id - 11) % 10, r.Value
	}
	return FieldType + Field((id-101)/20), 0, uint64((id - 101) % 20)
}

func TestReplaceIsTheCards(t *testing.T) {
	seen := map[Field]int{}
	for i, r := range readRows[replaced](t, "replace.jsonl.gz") {
		f, ord, v := r.instruction()
		var b [Size]byte
		if _, err := hex.Decode(b[:], []byte(r.Map)); err != nil {
			t.Fatal(err)
		}
		if err := Replace(&b, Hopper, f, ord, v); err != nil {
			t.Errorf("%d: ptxas takes it: %v", i, err)
		} else if got := hex.EncodeToString(b[:]); got != r.Out {
			t.Errorf("%d: %s %d, %#x:\n%s\n%s\n%s", i, f, ord, v, r.Map, got, r.Out)
		}
		seen[f]++
	}
	for f := FieldAddress; f <= FieldFill; f++ {
		if (seen[f] == 0) != (f == FieldAtomicity) {
			t.Errorf("%s: %d cases", f, seen[f])
		}
	}
}

func TestReplaceRefused(t *testing.T) {
	for _, tt := range []struct {
		f    Field
		ord  int
		v    uint64
		want string
	}{
		{FieldBox, 5, 1, "ordinal 5 of box_dim is not in 0 to 4"},
		{FieldStride, -1, 1, "ordinal -1 of global_stride is not in 0 to 4"},
		{FieldType, 0, 13, "elemtype has no value 13 on sm_90"},
		{FieldSwizzle, 0, 4, "swizzle_mode has no value 4 on sm_90"},
		{FieldInterleave, 0, 1 << 63, "interleave_layout has no value 9223372036854775808 on sm_90"},
		{FieldAtomicity, 0, 0, "swizzle_atomicity is of sm_100 and later"},
	} {
		b := [Size]byte{1, 2, 3}
		if err := Replace(&b, Hopper, tt.f, tt.ord, tt.v); err == nil || err.Error() != tt.want || b != [Size]byte{1, 2, 3} {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestParseField(t *testing.T) {
	for f := FieldAddress; f <= FieldFill; f++ {
		if got, ok := ParseField(f.String()); !ok || got != f {
			t.Errorf("%s: %v, %v", f, got, ok)
		}
	}
	if _, ok := ParseField("box"); ok {
		t.Error("box")
	}
}
