package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"muster/launch"
)

// A Difference says how a buffer of the GPU and one of the machine differ, bit for
// bit.
type Difference struct {
	Buffer   string
	Elements int64
	Count    int64 // elements that differ
	// The first element that differs, if Count is not 0.
	Index        []int64
	GPU, Machine string // its values, with their bits
	// Within says that all elements are within the tolerance that the launch
	// file states for the buffer.
	Within bool
}

// OK reports whether the buffers are equal, or within the file's tolerance.
func (d Difference) OK() bool { return d.Count == 0 || d.Within }

// String is one line for a person.
func (d Difference) String() string {
	if d.Count == 0 {
		return fmt.Sprintf("%s: all %d elements are bit-equal", d.Buffer, d.Elements)
	}
	s := fmt.Sprintf("%s: %d of %d elements differ, first at %v: the GPU has %s, the machine %s", d.Buffer, d.Count, d.Elements, d.Index, d.GPU, d.Machine)
	if d.Within {
		s += "; within the tolerance of the launch file"
	}
	return s
}

// Compare compares the buffers of a result with the machine's, which the function
// returns by name; muster.RunResult.Buffer is such a function. Buffers of tensor maps
// are left out: their bytes hold addresses.
//
// A pointer that the launch file placed in a buffer is compared by the buffer and
// offset that it points to, since addresses differ.
func (r *Result) Compare(f *launch.File, machine func(name string) ([]byte, error)) ([]Difference, error) {
	plan, err := f.Layout(math.MaxInt64)
	if err != nil {
		return nil, err
	}
	var list []Difference
	for i := range r.Buffers {
		a := &r.Buffers[i]
		if a.Type == launch.TensorMapType {
			continue
		}
		want, err := machine(a.Name)
		if err != nil {
			return nil, err
		}
		if len(want) != len(a.Data) {
			return nil, fmt.Errorf("buffer %q has %d bytes on the GPU and %d on the machine", a.Name, len(a.Data), len(want))
		}
		got := r.translate(f.Buffer(a.Name), a, plan)
		d := difference(a, got, want)
		if x := expectation(f, a.Name); d.Count > 0 && x != nil && x.Tolerance != (launch.Tolerance{}) {
			d.Within = launch.Compare(a.Type, a.Shape, got, want, x.Tolerance).OK()
		}
		list = append(list, d)
	}
	return list, nil
}

func expectation(f *launch.File, buffer string) *launch.Expect {
	for i := range f.Expect {
		if f.Expect[i].Buffer == buffer {
			return &f.Expect[i]
		}
	}
	return nil
}

// translate returns a buffer's bytes, with the pointers that the file placed there
// converted to the machine's.
func (r *Result) translate(b *launch.Buffer, a *Array, plan *launch.Layout) []byte {
	data := a.Data
	for i, v := range b.Values {
		if v.Ptr == nil {
			continue
		}
		if &data[0] == &a.Data[0] {
			data = append([]byte(nil), data...)
		}
		at := data[8*i : 8*i+8]
		p := binary.LittleEndian.Uint64(at)
		if to := r.holder(p); to != nil {
			binary.LittleEndian.PutUint64(at, p-to.Base+plan.Buffer(to.Name).Base)
		}
	}
	return data
}

// holder returns the buffer that contains an address, or else the one that ends there:
// another buffer may begin where one ends. It returns nil if there is none.
func (r *Result) holder(p uint64) (ends *Array) {
	for i := range r.Buffers {
		to := &r.Buffers[i]
		switch n := uint64(len(to.Data)); {
		case p >= to.Base && p-to.Base < n:
			return to
		case p == to.Base+n:
			ends = to
		}
	}
	return ends
}

// bitsOf are the types that compare, and read, bits of each size.
var bitsOf = map[int]launch.Type{1: launch.B8, 2: launch.B16, 4: launch.B32, 8: launch.B64}

func difference(a *Array, got, want []byte) Difference {
	c := launch.Compare(bitsOf[a.Type.Size()], a.Shape, got, want, launch.Tolerance{})
	d := Difference{Buffer: a.Name, Elements: c.Elements, Count: c.Count, Index: c.Index}
	if c.Count > 0 {
		d.GPU, d.Machine = value(a.Type, c.Got), value(a.Type, c.Want)
	}
	return d
}

// value shows an element with its bits: two NaNs read the same.
func value(t launch.Type, bits string) string {
	v, err := strconv.ParseUint(bits, 0, 64)
	if err != nil {
		panic("BUG: a bit type reads " + bits)
	}
	return t.Format(v) + " (" + bits + ")"
}
