package entry

import (
	"fmt"
	"reflect"
	"testing"

	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
)

// TestParams: parameters have the sizes and alignments that the machine
// gives them, which encodes arguments by them.
func TestParams(t *testing.T) {
	mod, err := ptx.Parse("p.ptx", []byte(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .align 64 .b8 m[128], .param .f32 f, .param .align 16 .b8 s[3][4], .param .v2 .f32 v) { ret; }`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Params(mod.Items[0].(*ptx.Func))
	if err != nil {
		t.Fatal(err)
	}
	want := []launch.Param{{Name: "a", Size: 1, Align: 1, Type: launch.U8}, {Name: "b", Size: 8, Align: 8, Type: launch.U64},
		{Name: "m", Size: 128, Align: 64}, {Name: "f", Size: 4, Align: 4, Type: launch.F32}, {Name: "s", Size: 12, Align: 16},
		{Name: "v", Size: 8, Align: 8}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	prog, err := machine.Decode(mod, "k")
	if err != nil || len(prog.Params) != len(got) {
		t.Fatal(err)
	}
	for i, p := range prog.Params {
		if p.Name != got[i].Name || p.Size != uint64(got[i].Size) || p.Align != uint64(got[i].Align) {
			t.Errorf("the machine has %+v, want %+v", p, got[i])
		}
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"", ".entry a() { ret; }", "a"},
		{"b", ".entry a() { ret; } .entry b() { ret; } .func c() { ret; }", "b"},
		{"", ".entry a() { ret; } .entry b() { ret; }", "name the kernel; there are a, b"},
		{"c", ".entry a() { ret; } .entry b() { ret; } .func c() { ret; }", `no kernel is called "c"; there are a, b`},
		{"", ".func c() { ret; }", "the PTX has no kernel"},
	} {
		mod, err := ptx.Parse("p.ptx", []byte(".version 8.0\n.target sm_90\n"+tt.src))
		if err != nil {
			t.Fatal(err)
		}
		f, err := Find(&launch.Launch{Kernel: tt.name}, mod)
		got := ""
		if got = fmt.Sprint(err); err == nil {
			got = f.Name
		}
		if got != tt.want {
			t.Errorf("%q of %s: got %s, want %s", tt.name, tt.src, got, tt.want)
		}
	}
}
