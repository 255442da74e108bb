package machine

import "testing"

func TestOperandBytes(t *testing.T) {
	o := OperandBytes{}
	if !o.Add(3, 60, 8) || o.Add(3, 62, 2) || !o.Add(3, 67, 2) {
		t.Error("Add does not say what is new")
	}
	for _, x := range []struct {
		pc      int32
		from, n uint64
		want    bool
	}{{3, 60, 9, true}, {3, 59, 2, false}, {3, 68, 2, false}, {3, 1000, 1, false}, {4, 60, 1, false}} {
		if got := o.Has(x.pc, x.from, x.n); got != x.want {
			t.Errorf("Has(%d, %d, %d) = %v", x.pc, x.from, x.n, got)
		}
	}
	d := o.Clone()
	d.Join(OperandBytes{3: {1}, 4: {0, 1}})
	if !d.Has(3, 0, 1) || !d.Has(3, 60, 9) || !d.Has(4, 64, 1) || d.Has(4, 0, 1) {
		t.Error("Join leaves out bytes")
	}
	if o.Has(3, 0, 1) || o.Has(4, 64, 1) {
		t.Error("a clone is not independent")
	}
	if OperandBytes(nil).Has(3, 0, 1) {
		t.Error("no set has a byte")
	}
}
