package machine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/tensor"
	"muster/internal/tensor/wmmacard"
	"muster/launch"
	"muster/ptx"
)

// What an H100 answered.
const wmmaCard = "testdata/card/wmma"

// A wmmaWay is how a kernel brings matrices to a product.
type wmmaWay struct {
	a, b, c, d string // layouts in memory
	space      string
	pad        int  // of rows, in units of 16 bytes
	inPlace    bool // D has the registers of C
}

// tile puts a matrix into memory: rows or columns one after the other, stride elements
// apart.
func tile(m []uint64, rows, cols int, layout string, stride, bits int) []byte {
	if layout == "col" {
		t := make([]uint64, len(m))
		for i, v := range m {
			t[i%cols*rows+i/cols] = v
		}
		m, rows, cols = t, cols, rows
	}
	out := make([]byte, rows*stride*bits/8)
	for i, v := range m {
		at := (i/cols*stride + i%cols) * bits
		for k := 0; k < bits; k += min(bits, 8) {
			out[(at+k)/8] |= byte(v >> k << (at % 8))
		}
	}
	return out
}

// kernel is the text of a kernel in which CTA i computes tile i.
func (w *wmmaWay) kernel(f *wmmacard.Form, p *tensor.WMMA) (text string, strides, sizes [4]int) {
	var t strings.Builder
	fmt.Fprintf(&t, ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 A, .param .u64 B, .param .u64 C, .param .u64 D)\n{\n.reg .b64 %%p<4>, %%q; .reg .b32 %%t, %%s<4>;\nmov.u32 %%t, %%ctaid.x;\n")
	class := func(typ string) string {
		switch typ {
		case "f32", "f64":
			return typ
		}
		return "b32"
	}
	layouts := [4]string{w.a, w.b, w.c, w.d}
	types := [4]string{f.AB, f.AB, f.C, f.D}
	lists := [4]string{}
	for i, m := range []*tensor.WarpMatrix{&p.A, &p.B, &p.C, &p.D} {
		name := "abcd"[i : i+1]
		fmt.Fprintf(&t, ".reg .%s %%%s<%d>;\n", class(types[i]), name, m.Regs)
		if i == 3 && w.inPlace && f.C == f.D {
			name = "c"
		}
		var regs []string
		for r := range m.Regs {
			regs = append(regs, fmt.Sprintf("%%%s%d", name, r))
		}
		lists[i] = "{" + strings.Join(regs, ", ") + "}"
		rows, cols := m.Rows, m.Cols
		if layouts[i] == "col" {
			rows, cols = cols, rows
		}
		strides[i] = cols + w.pad*128/m.Bits
		sizes[i] = rows * strides[i] * m.Bits / 8
		fmt.Fprintf(&t, "ld.param.u64 %%p%d, [%c]; mul.wide.u32 %%q, %%t, %d; add.s64 %%p%d, %%p%d, %%q; mov.u32 %%s%d, %d;\n", i, "ABCD"[i], sizes[i], i, i, i, strides[i])
	}
	stride := func(i int) string {
		if w.pad == 0 {
			return ""
		}
		return fmt.Sprintf(", %%s%d", i)
	}
	for i := range 3 {
		fmt.Fprintf(&t, "wmma.load.%c.sync.aligned.%s.%s%s.%s %s, [%%p%d]%s;\n", "abc"[i], layouts[i], f.Shape, w.space, types[i], lists[i], i, stride(i))
	}
	fmt.Fprintf(&t, "wmma.%s %s, %s, %s, %s;\n", strings.Join(f.Mods(w.a+"."+w.b), "."), lists[3], lists[0], lists[1], lists[2])
	fmt.Fprintf(&t, "wmma.store.d.sync.aligned.%s.%s%s.%s [%%p3], %s%s;\nret;\n}\n", w.d, f.Shape, w.space, f.D, lists[3], stride(3))
	return t.String(), strides, sizes
}

// TestWMMACard runs every form of wmma.mma, with loads and stores in every layout, on what
// an H100 was given, and compares every bit with what it stored.
func TestWMMACard(t *testing.T) {
	var forms []wmmacard.Form
	if err := wmmacard.Read(wmmaCard, "forms.json", &forms); err != nil {
		t.Fatal(err)
	}
	ways := []wmmaWay{
		{"row", "col", "row", "row", ".global", 0, false},
		{"row", "col", "col", "col", "", 1, true},
		{"col", "row", "col", "row", "", 0, true},
		{"row", "row", "row", "col", ".global", 2, true},
		{"col", "col", "row", "row", ".global", 1, false},
	}
	ran := 0
	for _, f := range forms {
		if f.Error != "" {
			continue
		}
		for i, w := range ways {
			if wmmacard.Bits[f.AB] < 8 && (w.a != "row" || w.b != "col") || testing.Short() && i > 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", f.Name, i), func(t *testing.T) { w.compare(t, &f) })
			ran++
		}
	}
	if !testing.Short() && ran != 33*5+6*2 {
		t.Errorf("%d kernels", ran)
	}
}

func (w *wmmaWay) compare(t *testing.T, f *wmmacard.Form) {
	p, err := tensor.ParseWMMA(f.Mods("row.col"))
	if err != nil {
		t.Fatal(err)
	}
	card, err := f.Answer(wmmaCard)
	if err != nil {
		t.Fatal(err)
	}
	text, strides, sizes := w.kernel(f, p)
	m, n, k := f.Size()
	var in [3][]byte
	var want []byte
	bits := [4]int{int(wmmacard.Bits[f.AB]), int(wmmacard.Bits[f.AB]), int(wmmacard.Bits[f.C]), int(wmmacard.Bits[f.D])}
	tiles := 0
	for kind := range f.Kinds {
		for i := range f.Tiles {
			a, b, c := f.Inputs(kind, i)
			in[0] = append(in[0], tile(a, m, k, w.a, strides[0], bits[0])...)
			in[1] = append(in[1], tile(b, k, n, w.b, strides[1], bits[1])...)
			in[2] = append(in[2], tile(c, m, n, w.c, strides[2], bits[2])...)
			d := make([]uint64, m*n)
			for j := range d {
				for l := range bits[3] / 8 {
					d[j] |= uint64(card[((tiles*m*n)+j)*bits[3]/8+l]) << (8 * l)
				}
			}
			want = append(want, tile(d, m, n, w.d, strides[3], bits[3])...)
			tiles++
		}
	}
	fl := launch.Flags{PTX: "wmma.ptx", Kernel: "k", Grid: fmt.Sprint(tiles), Block: "32", Args: []string{"a", "b", "c", "d"}}
	for i, name := range fl.Args {
		fl.Buffers = append(fl.Buffers, fmt.Sprintf("%s=u8[%d]:zeros", name, tiles*sizes[i]))
	}
	r := newRigText(t, fl, []byte(text))
	for i := range in {
		r.cfg.Buffers[i].Data = in[i]
	}
	run := r.machine(nil)
	explore.Run(run, explore.Schedule{}, nil)
	if !run.Done() {
		t.Fatalf("stopped: %+v\n%s", run.Stopped(), text)
	}
	got := make([]byte, len(want))
	run.ReadGlobal(r.layout.Buffer("d").Base, got)
	if !bytes.Equal(got, want) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		t.Errorf("byte %d is %#x, want %#x\n%s", i, got[i], want[i], text)
	}
}

// TestWMMAWrong: ptxas and the machine refuse the same texts.
func TestWMMAWrong(t *testing.T) {
	var trials []struct {
		Body   string
		Status int
		Says   string
	}
	if err := wmmacard.Read(wmmaCard, "wrong.json", &trials); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, c := range trials {
		text := ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 P)\n{\n.reg .b32 %r<8>, %t; .reg .f32 %f<8>; .reg .s32 %s<8>; .reg .f64 %d<4>; .reg .b64 %p; .reg .pred %pp;\nld.param.u64 %p, [P];\n" + c.Body + "\nret;\n}\n"
		m, err := ptx.Parse("wmma.ptx", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		why := ""
		if list := append(ptx.CheckOperands(m), ptx.CheckTarget(m)...); len(list) > 0 {
			why = list[0].Error()
		} else if _, err := machine.Decode(m, "k"); err != nil {
			why = err.Error()
		} else {
			fl := launch.Flags{PTX: "wmma.ptx", Kernel: "k", Grid: "1", Block: "32", Buffers: []string{"b=u8[8192]:zeros"}, Args: []string{"b"}}
			run := newRigText(t, fl, []byte(text)).machine(nil)
			explore.Run(run, explore.Schedule{}, nil)
			if s := run.Stopped(); s != nil && s.Kind == machine.Unmodelled {
				why = s.Msg
			}
		}
		if (why != "") != (c.Status != 0) {
			t.Errorf("%s: %q; ptxas says %q", c.Body, why, c.Says)
		}
		if why != "" {
			refused++
			if !strings.Contains(why, "wmma") || strings.Contains(why, "\n") {
				t.Errorf("%s: %q", c.Body, why)
			}
		}
	}
	if refused != 39 {
		t.Errorf("%d refused", refused)
	}
}
