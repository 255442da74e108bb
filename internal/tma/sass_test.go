package tma

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
)

// sassOfReplace is the machine code of one tensormap.replace, without loads and stores.
type sassOfReplace struct {
	arch    Arch
	field   Field
	value   uint64
	code    []string
	refused bool
}

func readSass(t *testing.T) (list []sassOfReplace) {
	data, err := os.ReadFile("testdata/replace.sass")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line[0] == '#':
		case strings.HasPrefix(line, "error "):
			list[len(list)-1].refused = true
		case line[0] == '\t':
			list[len(list)-1].code = append(list[len(list)-1].code, line[1:])
		default:
			var s sassOfReplace
			var field string
			if _, err := fmt.Sscanf(line, "sm_%da %s %d", &s.arch, &field, &s.value); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			var ok bool
			if s.field, ok = ParseField(field); !ok {
				t.Fatalf("%s: no such field", line)
			}
			list = append(list, s)
		}
	}
	return list
}

// run gives R0 after the code. A register that the code does not set is the field's mask.
func (s *sassOfReplace) run(t *testing.T, r0, mask uint32) uint32 {
	regs := map[string]uint32{"RZ": 0}
	for _, line := range s.code {
		var r, c string
		var b, lut uint32
		if n, _ := fmt.Sscanf(line, "IMAD.MOV.U32 %2s, RZ, RZ, 0x%x", &r, &b); n == 2 {
			regs[r] = b
			continue
		}
		if _, err := fmt.Sscanf(line, "LOP3.LUT R0, R0, 0x%x, %2s, 0x%x", &b, &c, &lut); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		x, ok := regs[c]
		if !ok {
			x = mask
		}
		r0 = lop3(r0, b, x, lut)
	}
	return r0
}

// lop3 looks each bit up: 4, 2 and 1 are those of a, b and c.
func lop3(a, b, c, lut uint32) (d uint32) {
	for i := range 32 {
		d |= lut >> (a>>i&1<<2 | b>>i&1<<1 | c>>i&1) & 1 << i
	}
	return d
}

// TestReplaceIsPtxas compares Replace with the machine code of ptxas for the fields of the
// kinds, which are all in the 32 bits at byte 8.
func TestReplaceIsPtxas(t *testing.T) {
	masks, count := map[Field]uint32{}, map[Field]int{}
	for _, s := range readSass(t) {
		if s.value == 0 {
			masks[s.field] = ^s.run(t, ^uint32(0), 0)
		}
		for _, before := range []uint32{0, ^uint32(0), 0x5a5a5a5a, 0xa5a5a5a5} {
			var b [Size]byte
			binary.LittleEndian.PutUint32(b[8:], before)
			err := Replace(&b, s.arch, s.field, 0, s.value)
			if s.refused != (err != nil) {
				t.Errorf("sm_%d, %s %d: %v, ptxas refuses it: %v", s.arch, s.field, s.value, err, s.refused)
			}
			if s.refused {
				continue
			}
			count[s.field]++
			if got, want := binary.LittleEndian.Uint32(b[8:]), s.run(t, before, masks[s.field]); got != want {
				t.Errorf("sm_%d, %s %d: %#08x becomes %#08x, of ptxas %#08x", s.arch, s.field, s.value, before, got, want)
			}
		}
	}
	for f, n := range map[Field]int{FieldAtomicity: 32, FieldSwizzle: 20, FieldType: 48} {
		if count[f] != n {
			t.Errorf("%s: %d cases, want %d", f, count[f], n)
		}
	}
	for i, row := range swizzles {
		if b := (&Map{Swizzle: Swizzle(i), Rank: 1, Dims: [5]uint64{1}, Box: [5]uint32{1}, ElementStrides: [5]uint32{1}}).pack(); row.atom != 0 {
			if got := uint64(binary.LittleEndian.Uint32(b[8:])) & uint64(masks[FieldAtomicity]); got != row.atom<<19 {
				t.Errorf("%s: the atomicity of its map is %#x", row.name, got)
			}
		}
	}
}
