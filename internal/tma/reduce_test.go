package tma

import (
	"encoding/hex"
	"testing"
)

// reduced is a row of reduce.jsonl.gz: operands, or a result.
type reduced struct {
	Pattern int // type + 1
	A, B    string
	Type    Type
	Op      int // 2 for add, as probe.cu counts; 11 for add without a map
	Out     string
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestReduceIsTheCards: every pair of special values and some at random, for
// every reduction that there is. cp.reduce.async.bulk, the form without a map,
// adds likewise: in f32 it keeps subnormals, unlike atom and red.
func TestReduceIsTheCards(t *testing.T) {
	operands := map[Type][2][]byte{}
	seen := 0
	for _, r := range readRows[reduced](t, "reduce.jsonl.gz") {
		if r.Pattern > 0 {
			operands[Type(r.Pattern-1)] = [2][]byte{unhex(t, r.A), unhex(t, r.B)}
			continue
		}
		m, op := Map{Type: r.Type}, Op(r.Op-2)
		if r.Op == 11 {
			op = OpAdd
		} else {
			seen++
		}
		if err := m.CheckReduce(op); err != nil {
			t.Errorf("the card does it: %v", err)
			continue
		}
		a, b, want := operands[r.Type][0], operands[r.Type][1], unhex(t, r.Out)
		got := append([]byte{}, a...)
		m.Reduce(op, got, b)
		wrong := 0
		for i, n := 0, r.Type.Size(); i < len(got); i += n {
			if g, w := got[i:i+n], want[i:i+n]; string(g) != string(w) {
				if wrong++; wrong <= 5 {
					t.Errorf("%s.%s of %x and %x: %x, not %x (bytes as in memory)", op, r.Type, a[i:i+n], b[i:i+n], g, w)
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%s.%s: %d of %d differ", op, r.Type, wrong, len(got)/r.Type.Size())
		}
	}
	all := 0
	for _, ops := range reductions {
		for op := OpAdd; op <= OpXor; op++ {
			all += int(ops >> op & 1)
		}
	}
	if seen != all {
		t.Errorf("%d reductions tested of %d", seen, all)
	}
}
