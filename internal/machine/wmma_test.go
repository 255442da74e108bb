package machine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
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

// A wmmaBytes records who accesses which bytes of the buffers.
type wmmaBytes struct {
	t     *testing.T
	base  []uint64 // of a, b, c and d
	lanes []map[uint64]int
}

func (b *wmmaBytes) Observe(m *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess {
		return
	}
	i := 0
	for i+1 < len(b.base) && ev.Addr[0] >= b.base[i+1] {
		i++
	}
	if want := map[bool]machine.Access{false: machine.Read, true: machine.Write}[i == 3]; ev.Access != want || ev.Sem != machine.Weak || ev.Proxy != machine.Generic || ev.Mem != machine.Global {
		b.t.Errorf("%+v", ev)
	}
	for l := range 32 {
		for k := range uint64(ev.Size) {
			at := ev.Addr[l] + k - b.base[i]
			if old, twice := b.lanes[i][at]; twice {
				b.t.Errorf("lane %d accesses byte %d of %c, as lane %d does", l, at, "abcd"[i], old)
			}
			b.lanes[i][at] = l
		}
		if i == 3 && ev.Values() == nil {
			b.t.Errorf("a store of no values")
		}
	}
}

// TestWMMAEvents: each byte of a matrix, and none beside it, is accessed once, by the lane
// whose register holds it.
func TestWMMAEvents(t *testing.T) {
	var forms []wmmacard.Form
	if err := wmmacard.Read(wmmaCard, "forms.json", &forms); err != nil {
		t.Fatal(err)
	}
	for _, f := range forms {
		if f.Error != "" {
			continue
		}
		p, err := tensor.ParseWMMA(f.Mods("row.col"))
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range []wmmaWay{{"row", "col", "col", "row", "", 1, false}, {"col", "row", "row", "col", ".global", 2, false}} {
			if i == 1 && wmmacard.Bits[f.AB] < 8 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", f.Name, i), func(t *testing.T) {
				text, strides, sizes := w.kernel(&f, p)
				fl := launch.Flags{PTX: "wmma.ptx", Kernel: "k", Grid: "1", Block: "32", Args: []string{"a", "b", "c", "d"}}
				for i, name := range fl.Args {
					fl.Buffers = append(fl.Buffers, fmt.Sprintf("%s=u8[%d]:zeros", name, sizes[i]))
				}
				r := newRigText(t, fl, []byte(text))
				seen := &wmmaBytes{t: t}
				for _, name := range fl.Args {
					seen.base = append(seen.base, r.layout.Buffer(name).Base)
					seen.lanes = append(seen.lanes, map[uint64]int{})
				}
				run := r.machine(seen)
				explore.Run(run, explore.Schedule{}, nil)
				if !run.Done() {
					t.Fatalf("stopped: %+v", run.Stopped())
				}
				for i, m := range []*tensor.WarpMatrix{&p.A, &p.B, &p.C, &p.D} {
					if n := len(seen.lanes[i]) * 8; n != m.Rows*m.Cols*m.Bits {
						t.Errorf("%d bits of %c are accessed, want %d", n, "abcd"[i], m.Rows*m.Cols*m.Bits)
					}
					layout := []string{w.a, w.b, w.c, w.d}[i]
					for l := range 32 {
						for reg := range m.Own {
							row, col := m.At(l, reg)
							if layout == "col" {
								row, col = col, row
							}
							if got := seen.lanes[i][uint64((row*strides[i]+col)*m.Bits/8)]; got != l {
								t.Errorf("register %d of lane %d in %c is accessed by lane %d", reg, l, "abcd"[i], got)
							}
						}
					}
				}
			})
		}
	}
}

// wmmaTile stores word t of a tile for each thread t, 8 words apart from the others, and
// leaves out one.
const wmmaTile = `
	.shared .align 32 .b8 tile[1024]; .reg .b32 %a, %r<16>; .reg .f32 %f<8>; .reg .pred %p, %q; .reg .b64 %g;
	mov.u32 %a, tile;
	mad.lo.u32 %a, %t, 32, %a;
	cvt.rn.f32.u32 %f0, %t;
	setp.ne.u32 %p, %t, 9;
	@%p st.shared.v4.f32 [%a], {%f0, %f0, %f0, %f0};
	@%p st.shared.v4.f32 [%a+16], {%f0, %f0, %f0, %f0};
	bar.warp.sync -1;
	mov.u32 %a, tile;
	cvt.u64.u32 %g, %a;
	cvta.shared.u64 %g, %g;`

const wmmaC = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}"

var wmmaBehaviours = []behaviour{
	{
		name: "wmma-load-generic", block: 32,
		// Register 6 of lane l is at row 8+l/4, column 8+2(l%4): half a row is a thread's.
		body: wmmaTile + `
	wmma.load.c.sync.aligned.m16n16k16.row.f32 ` + wmmaC + `, [%g];
	cvt.rzi.u32.f32 %r6, %r6;
	st.global.u32 [%o], %r6;`,
		want: func(i int) uint32 { return u(2*(8+i/4) + 1) },
	},
	{
		name: "wmma-store-shared-col", block: 32,
		// Element (row, col) is at col*20+row.
		body: wmmaTile + `
	.shared .align 32 .b8 to[1280];
	wmma.store.d.sync.aligned.m16n16k16.col.shared::cta.s32 [to], {%t, %t, %t, %t, %t, %t, %t, %t}, 20;
	bar.warp.sync -1;
	mov.u32 %a, to;
	mad.lo.u32 %a, %t, 4, %a;
	setp.lt.u32 %p, %t, 16;
	mov.u32 %r0, 0;
	@%p ld.shared.u32 %r0, [%a+80];
	st.global.u32 [%o], %r0;`,
		want: func(i int) uint32 {
			if i >= 16 {
				return 0
			}
			return u(i % 8 * 4) // column 1
		},
	},
	{
		name: "wmma-over-its-operands", block: 32,
		body: wmmaTile + `
	mad.lo.u32 %r0, %t, 0x01030507, 99; xor.b32 %r1, %r0, 0x12345678; add.u32 %r2, %r0, 0x55;
	.reg .b32 %d<8>, %x, %y;
	wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%r0, %r1}, {%r2, %r0}, {%t, %t, %t, %t, %t, %t, %t, %t};
	mov.u32 %x, %d4; mov.u32 %y, %d7;
	mov.u32 %d0, %r0; mov.u32 %d3, %r1; mov.u32 %d1, %r2;
	wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%d0, %d3}, {%d1, %r0}, {%t, %t, %t, %t, %t, %t, %t, %t};
	xor.b32 %x, %x, %d4; xor.b32 %y, %y, %d7; or.b32 %x, %x, %y;
	st.global.u32 [%o], %x;`,
		want: func(i int) uint32 { return 0 },
	},
	{
		name: "wmma-over-its-tf32", block: 32,
		// Two steps of K: the first must not write what the second reads.
		body: wmmaTile + `
	mad.lo.u32 %r0, %t, 0x01030000, 0x3f800000; xor.b32 %r1, %r0, 0x00340000; add.u32 %r2, %r0, 0x550000;
	.reg .b32 %d<8>, %z; .reg .b32 %x, %y;
	mov.f32 %z, 0f00000000;
	wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%r0, %r1, %r2, %r0}, {%r2, %r0, %r1, %r1}, {%z, %z, %z, %z, %z, %z, %z, %z};
	mov.b32 %x, %d0; mov.b32 %y, %d7;
	mov.b32 %d2, %r2; mov.b32 %d3, %r0; mov.b32 %d1, %r1;
	wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%r0, %r1, %d2, %d3}, {%r2, %r0, %d1, %d1}, {%z, %z, %z, %z, %z, %z, %z, %z};
	mov.b32 %r3, %d0; mov.b32 %r4, %d7;
	xor.b32 %x, %x, %r3; xor.b32 %y, %y, %r4; or.b32 %x, %x, %y;
	st.global.u32 [%o], %x;`,
		want: func(i int) uint32 { return 0 },
	},
	{
		name: "wmma-misaligned", block: 32, stops: true, wantStop: machine.FaultAlign,
		body: wmmaTile + "wmma.load.c.sync.aligned.m16n16k16.row.shared.f32 " + wmmaC + ", [%a+16];",
	},
	{
		name: "wmma-misaligned-stride", block: 32, stops: true, wantStop: machine.FaultAlign,
		body: wmmaTile + "wmma.load.c.sync.aligned.m16n16k16.row.shared.f32 " + wmmaC + ", [%a], 18;",
	},
	{
		name: "wmma-out-of-bounds", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: wmmaTile + "wmma.load.c.sync.aligned.m16n16k16.row.f32 " + wmmaC + ", [%g], 20;",
	},
	{
		name: "wmma-beyond-its-variable", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: wmmaTile + ".shared .align 32 .b8 more[1024];\nwmma.load.c.sync.aligned.m16n16k16.row.shared.f32 " + wmmaC + ", [tile], 20;",
	},
	{
		name: "wmma-local", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: wmmaTile + ".local .align 32 .b8 own[1024]; cvta.local.u64 %g, own;\nwmma.load.c.sync.aligned.m16n16k16.row.f32 " + wmmaC + ", [%g];",
	},
}

func TestWMMABehaviour(t *testing.T) {
	for i := range wmmaBehaviours {
		c := &wmmaBehaviours[i]
		t.Run(c.name, func(t *testing.T) { c.check(t, explore.Schedule{}) })
	}
}

// TestWMMAPoison: unwritten elements take the poison, others do not.
func TestWMMAPoison(t *testing.T) {
	_, out := runSeen(t, wmmaTile+`
	wmma.load.c.sync.aligned.m16n16k16.row.f32 `+wmmaC+`, [%g];
	st.global.u32 [%o], %r4;`, "wmma", 0x7f)
	for l := range 32 {
		// Register 4 of lane l is at row l/4, column 8+2(l%4): that half of row 4 is unwritten.
		want := math.Float32bits(float32(2*(l/4) + 1))
		if l/4 == 4 {
			want = 0x7f7f7f7f
		}
		if got := binary.LittleEndian.Uint32(out[4*l:]); got != want {
			t.Errorf("lane %d reads %#x, want %#x", l, got, want)
		}
	}
}
