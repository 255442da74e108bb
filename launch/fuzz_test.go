package launch

import "testing"

// FuzzParse: no input panics. What parses has a layout with the promised
// properties, or an error refuses it.
func FuzzParse(f *testing.F) {
	f.Add([]byte(design))
	f.Add([]byte(`{"ptx": "k.ptx", "grid": [2, 1, 1], "block": 32, "buffers": {"a": {"type": "u64", "values": [{"ptr": "a", "offset": 8}], "base": "0x7f0000000100"}, "b": {"type": "f32", "shape": [3], "fill": {"random": {"high": 2}}}}, "args": ["a", {"struct": [{"f64": -0.5}, null]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseJSON("f.json", data)
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("not an *Error: %v", err)
			}
			return
		}
		for _, b := range file.Buffers {
			if b.Fill.Kind == FillFile {
				return // no files are to be opened here
			}
		}
		l, err := file.Layout(1 << 20)
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("not an *Error: %v", err)
			}
			return
		}
		checkLayout(t, file, l)
	})
}

// checkLayout asserts what the package comment promises of every layout.
func checkLayout(t *testing.T, f *File, l *Layout) {
	t.Helper()
	for i := range l.Buffers {
		b := &l.Buffers[i]
		if b.Base < MinAddress || b.End() > MaxAddress {
			t.Errorf("%s lies at %#x", b.Name, b.Base)
		}
		if b.Initialized != (b.Data != nil) || b.Initialized && uint64(len(b.Data)) != b.Size {
			t.Errorf("%s: %d bytes of data for %d", b.Name, len(b.Data), b.Size)
		}
		align := f.Buffers[i].Align
		if align == 0 && !f.Buffers[i].Fixed {
			align = DefaultAlign
		}
		if align != 0 && b.Base%align != 0 {
			t.Errorf("%s at %#x is not aligned to %d", b.Name, b.Base, align)
		}
		for j := range i {
			o := &l.Buffers[j]
			gap := uint64(GuardGap)
			if f.Buffers[i].Fixed && f.Buffers[j].Fixed {
				gap = 0
				if b.Size == 0 || o.Size == 0 {
					continue
				}
			}
			if b.Base < o.End()+gap && o.Base < b.End()+gap {
				t.Errorf("%s at %#x and %s at %#x are too close", b.Name, b.Base, o.Name, o.Base)
			}
		}
	}
}
