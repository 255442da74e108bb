package kernel_test

import (
	"strings"
	"testing"

	"muster/kernel"
	"muster/ptx"
)

// TestInline runs inline PTX with nested blocks, labels, registers and calls.
// The kernel's shared memory is dynamic, so that its names become offsets.
func TestInline(t *testing.T) {
	k := kernel.New("k", kernel.Block(32))
	out := k.GlobalPtr("out", kernel.U32)
	k.Shared("before", kernel.U32, 16<<10)
	s := k.Shared("s", kernel.U32, 4)
	k.Func("double", []kernel.Type{kernel.U32}, []kernel.Type{kernel.U32}, func(args kernel.Vec) kernel.Vec {
		return kernel.Vec{args[0].Add(args[0])}
	})
	x, lane := k.Const(kernel.U32, 0), k.LaneID()
	done := k.NewLabel()
	k.PTX(`{
	.reg .pred p;
	.reg .b32 i, %t<2>;
	mov.b32 i, 0;
again:
	{
		.reg .b32 i;                // another one
		.param .b32 a, r;
		mov.b32 i, 3U;
		st.param.b32 [a], i;
		call (r), double, (a);
		ld.param.b32 %t1, [r];
	}
	add.u32 {x}, {x}, %t1;
	add.u32 i, i, 1;
	setp.lt.u32 p, i, {n};
	@p bra again;
	mov.u32 %t0, s+4;
	st.shared.u32 [%t0+4], {x};
	bra {done};
}`, kernel.Args{"x": x, "n": 5, "done": done})
	k.PTX("trap;", nil)
	k.Place(done)
	k.WarpSync()
	k.PTX("ld.shared.u32 {x}, {s};", kernel.Args{"x": x, "s": s.At(2)})
	out.At(lane).Store(x)
	got := make([]uint32, 32)
	call, err := k.Call(kernel.Grid(1), got)
	if err != nil {
		t.Fatal(err)
	}
	if err := call.Take(runCall(t, call).Buffer); err != nil {
		t.Fatal(err)
	}
	if got[0] != 30 || got[31] != 30 {
		t.Errorf("the kernel computes %d, and 30 is right", got)
	}
}

// FuzzInline checks that no inline PTX makes a kernel panic or hang, and that
// accepted text builds to a module that prints and parses to the same text.
func FuzzInline(f *testing.F) {
	for _, form := range ptx.Forms() {
		f.Add(form.Example())
	}
	for _, text := range []string{
		"add.u32 {x}, {x}, {n};",
		"{ .reg .pred p; setp.lt.u32 p, {x}, 4U; @!p bra past; add.u32 {x}, {x}, 1; past: }",
		"{ .reg .b32 %t<4>; { .reg .b32 %t<4>; mov.b32 %t3, s+4; ld.shared.u32 {x}, [%t3+-4]; } }",
		"{ .param .b32 a, r; st.param.b32 [a], {x}; call (r), f, (a); ld.param.b32 {x}, [r]; }",
		"@{p} bra {l};", "st.shared.v2.u32 {s}, {{x}, {x}};", "mov.u64 {y}, %clock64; bra.uni {l};",
		"} .func g() { ret;", "{ again: bra again; } .pragma \"nounroll\";", "fma.rn.f32 {f}, {f}, 0f3F800000, 1.5;",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k := kernel.New("k", kernel.Block(32))
		k.Func("f", []kernel.Type{kernel.U32}, []kernel.Type{kernel.U32}, func(args kernel.Vec) kernel.Vec { return args })
		l := k.NewLabel()
		args := kernel.Args{}
		for name, v := range map[string]any{
			"x": k.TidX(), "y": k.Const(kernel.U64, 1), "f": k.Const(kernel.F32, 1), "p": k.TidX().Eq(0),
			"s": k.Shared("s", kernel.U32, 16), "n": 3, "l": l,
		} {
			if strings.Contains(text, "{"+name+"}") {
				args[name] = v
			}
		}
		k.PTX(text, args)
		k.Place(l)
		m, err := k.Build()
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("a mistake of no words")
			}
			return
		}
		first := m.String()
		again, err := ptx.Parse("again", []byte(first))
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second := again.String(); second != first {
			t.Errorf("printed twice:\n%s\n%s", first, second)
		}
	})
}
