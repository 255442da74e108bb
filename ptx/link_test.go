package ptx_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/ptx"
)

// linkTexts parses and links texts, which are named a.ptx, b.ptx, …; a text without .version
// gets one.
func linkTexts(t testing.TB, texts ...string) (*ptx.Module, error) {
	t.Helper()
	var mods []*ptx.Module
	for i, text := range texts {
		if !strings.HasPrefix(text, ".version") {
			text = ".version 8.0 .target sm_90 .address_size 64\n" + text
		}
		m, err := ptx.Parse(fmt.Sprintf("%c.ptx", 'a'+i), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		mods = append(mods, m)
	}
	return ptx.Link(mods...)
}

// Calls of f, in a kernel of its own.
const callsF = `.entry k() { call f; ret; }`

// badLinks are modules that cannot be linked, separated by "---", and the error.
var badLinks = []struct{ text, want string }{
	{".visible .global .b32 x;---.visible .global .b32 x;", "b.ptx:2:23: x is defined .visible here and at a.ptx:2:23"},
	{".visible .func f() { ret; }---.visible .func f() { ret; }", "b.ptx:2:16: f is defined .visible here and at a.ptx:2:16"},
	{".visible .entry k() { ret; }---.visible .entry k() { ret; }", "b.ptx:2:17: k is defined .visible here and at a.ptx:2:17"},
	{".visible .global .b32 f;---.visible .func f() { ret; }", "b.ptx:2:16: f is defined .visible here and at a.ptx:2:23"},
	{".extern .func f();" + callsF + "---", "a.ptx:2:15: f is declared .extern, and no module defines it"},
	{".extern .func f();" + callsF + "---.func f() { ret; }", "a.ptx:2:15: f is declared .extern, and no module defines it"},
	{".visible .func f();" + callsF + "---", "a.ptx:2:16: f is declared without a body, and no module defines it"},
	{".func f();" + callsF + "---.visible .func f() { ret; }", "a.ptx:2:7: f is declared without .extern, and its module does not define it"},
	{".extern .global .b32 x; .global .u64 p = x;---", "a.ptx:2:22: x is declared .extern, and no module defines it"},
	{".extern .shared .b32 x; .entry k() { .reg .b32 a; ld.shared.b32 a, [x]; }---", "a.ptx:2:22: x is declared .extern, and no module defines it"},
	{".extern .global .b32 x;---.visible .const .b32 x;", "a.ptx:2:22: x is defined otherwise at b.ptx:2:22: in .global here, in .const there"},
	{".extern .global .b64 x;---.visible .global .b32 x;", "a.ptx:2:22: x is defined otherwise at b.ptx:2:23: elements of 8 bytes here, of 4 bytes there"},
	{".extern .global .b32 x[4];---.visible .global .b32 x[8];", "a.ptx:2:22: x is defined otherwise at b.ptx:2:23: 16 bytes here, 32 bytes there"},
	{".extern .global .b32 x[4];---.visible .global .b32 x[] = {1, 2};", "a.ptx:2:22: x is defined otherwise at b.ptx:2:23: 16 bytes here, 8 bytes there"},
	{".extern .global .b8 x[];---.visible .global .b32 x[8];", "a.ptx:2:21: x is defined otherwise at b.ptx:2:23: elements of 1 byte here, of 4 bytes there"},
	{".extern .global .align 16 .b32 x;---.visible .global .b32 x;", "a.ptx:2:32: x is defined otherwise at b.ptx:2:23: aligned to 16 bytes here, to 4 bytes there"},
	{".extern .global .texref x;---.visible .global .b64 x;", "a.ptx:2:25: x is defined otherwise at b.ptx:2:23: of type .texref here, .b64 there"},
	{".extern .global .b32 f;---.visible .func f() { ret; }", "a.ptx:2:22: f is defined otherwise at b.ptx:2:16: a variable here, a function there"},
	{".extern .func f();---.visible .entry f() { ret; }", "a.ptx:2:15: f is defined otherwise at b.ptx:2:17: a function here, a kernel there"},
	{".extern .func f(.param .b32 a);---.visible .func f() { ret; }", "a.ptx:2:15: f is defined otherwise at b.ptx:2:16: 1 parameters here, 0 there"},
	{".extern .func (.param .b32 r) f();---.visible .func f() { ret; }", "a.ptx:2:31: f is defined otherwise at b.ptx:2:16: 1 results here, 0 there"},
	{".extern .func f(.param .b32 a);---.visible .func f(.param .b64 a) { ret; }", "a.ptx:2:15: f is defined otherwise at b.ptx:2:16: parameter 1 of 4 bytes here, of 8 bytes there"},
	{".extern .func f(.param .b32 a);---.visible .func f(.reg .b32 a) { ret; }", "a.ptx:2:15: f is defined otherwise at b.ptx:2:16: parameter 1 in .param here, in .reg there"},
	{".extern .func f(.param .align 8 .b8 a[8]);---.visible .func f(.param .align 4 .b8 a[8]) { ret; }", "a.ptx:2:15: f is defined otherwise at b.ptx:2:16: parameter 1 aligned to 8 bytes here, to 4 bytes there"},
	{".weak .func f() { ret; }---.weak .func f(.param .b32 a) { ret; }", "b.ptx:2:13: f is defined otherwise at a.ptx:2:13: 1 parameters here, 0 there"},
	{".weak .global .b32 x;---.visible .global .b32 x[2];", "a.ptx:2:20: x is defined otherwise at b.ptx:2:23: 4 bytes here, 8 bytes there"},
	{".extern .func vprintf(.param .b64 a);---.extern .func vprintf(.param .b64 a, .param .b64 b);", "b.ptx:2:15: vprintf is declared otherwise at a.ptx:2:15: 2 parameters here, 1 there"},
	{".common .global .b32 x = 1;---.common .global .b32 x[2];", "a.ptx:2:22: x has initial values and 4 bytes here, and 8 bytes at b.ptx:2:22: the largest definition of a .common variable may have them"},
	{".common .global .b32 x = 1;---.common .global .b32 x = 2;", "b.ptx:2:22: x has initial values here and at a.ptx:2:22: one definition of a .common variable may"},
	{".common .global .b32 x[4];---.visible .global .b32 x;", "a.ptx:2:22: x is defined otherwise at b.ptx:2:23: 16 bytes here, 4 bytes there"},
	{".common .shared .b32 x;---", "a.ptx:2:22: .common is for variables in .global without opaque types, and x is not one"},
	{".common .func f() { ret; }---", "a.ptx:2:15: .common is for variables in .global, and f is a function"},
	{".common .global .b32 x[2]; .entry k() { .reg .b64 a; mov.u64 a, x[1]; }---.common .global .b64 x[4];", "a.ptx:2:54: x[1] counts elements of 4 bytes, and those of b.ptx:2:22, which was chosen, have 8 bytes"},
	{"---.global .b32 x; .global .b32 x;", "b.ptx:2:30: x is defined twice in this module: first at b.ptx:2:14"},
	{"---.extern .global .b32 x; .visible .global .b64 x;", "b.ptx:2:22: x is declared otherwise at b.ptx:2:47: elements of 4 bytes here, of 8 bytes there"},
	{"---.alias g, f; .visible .func f() { ret; }", "b.ptx:2:1: alias g is declared as no function of this module"},
	{"---.visible .func g(); .alias g, f; .extern .func f();", "b.ptx:2:21: alias g stands for f, which this module does not define as a function"},
	{"---.version 8.0 .target sm_90 .address_size 32\n", "b.ptx:1:1: addresses have 32 bits here, and 64 in a.ptx"},
	{"---.version 8.0 .target sm_90\n", "b.ptx:1:1: addresses have 32 bits here, and 64 in a.ptx"},
	{"---.version 8.0 .target sm_90, texmode_independent .address_size 64\n", "b.ptx:1:1: the texture mode is texmode_independent here, and texmode_unified in a.ptx"},
	{".version 8.6 .target sm_90a .address_size 64\n---.version 8.6 .target sm_100 .address_size 64\n", "b.ptx:1:1: no architecture runs both sm_100 and sm_90a of a.ptx"},
	{".version 8.8 .target sm_100f .address_size 64\n---.version 8.8 .target sm_120f .address_size 64\n", "b.ptx:1:1: no architecture runs both sm_120f and sm_100f of a.ptx"},
	{".version 1.4 .target sm_13\n---.version 1.4 .target sm_13\n", "a.ptx:1:1: modules for sm_13 cannot be linked: that takes sm_20 or higher"},
}

func TestBadLinks(t *testing.T) {
	for _, c := range badLinks {
		_, err := linkTexts(t, strings.Split(c.text, "---")...)
		if err == nil {
			t.Errorf("%s: linked, want %s", c.text, c.want)
		} else if err.Error() != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.text, err, c.want)
		}
	}
	if _, err := ptx.Link(); err == nil {
		t.Error("nothing was linked")
	}
}

// linked are modules that are linked, and words that the text of the whole has, or, after a
// "!", has not.
var linked = []struct{ text, want string }{
	// Local names are kept apart, and a name inside a function is the function's.
	{".global .b32 x = 1; .global .u64 p = x;---.global .b32 x = 2; .entry k() { .reg .b64 a; mov.u64 a, x; } .entry l() { .reg .b64 x; mov.u64 x, 0; }",
		"x = 1;|p = x;|x$unit2 = 2;|mov.u64 a, x$unit2;|mov.u64 x, 0;"},
	{".global .b32 x;---.visible .global .b32 x;", "global .b32 x$unit1;|.visible .global .b32 x;"},
	// A new name meets none that is there, inside functions too.
	{".global .b32 x;---.global .b32 x; .global .b32 x$unit2; .entry k() { .reg .b64 x$unit2_2, x$unit2_3_<4>; mov.u64 x$unit2_2, x; }", "mov.u64 x$unit2_2, x$unit2_3;"},
	// A label, a parameter and a target are not the variable of their name.
	{".global .b32 x;---.global .b32 x; .entry k(.param .b32 x) { .reg .b32 a; ld.param.b32 a, [x]; } .entry l() { bra x; x: ret; }", "ld.param.b32 a, [x];|bra x;|x:"},
	// Definitions stand for declarations, before they are used.
	{".extern .global .b32 x; .global .u64 p = x;---.visible .global .b32 x = 7;", "!.extern|.visible .global .b32 x = 7;\n.global .u64 p = x;"},
	{".extern .func f();" + callsF + "---.visible .func f() { ret; }", "!.extern|.visible .func f;\n\n.entry k"},
	{".extern .func f(); .visible .global .u64 p = f;---.weak .func f() { ret; }", ".weak .func f;\n.visible .global .u64 p = f;"},
	// .visible comes before .weak, and the first .weak before others.
	{".weak .global .b32 x = 1;---.visible .global .b32 x = 2;---.weak .global .b32 x = 3;", "!x = 1|x = 2;|!x = 3"},
	{".weak .global .b32 x = 1;---.weak .global .b32 x = 3;", "x = 1;|!x = 3"},
	{".weak .func f() { bar.sync 1; ret; }---.weak .func f() { bar.sync 2; ret; }", "bar.sync 1;|!bar.sync 2;"},
	// What only a dropped function uses need not be there.
	{".weak .func f() { ret; }---.extern .func g(); .weak .func f() { call g; ret; }", "!call|!extern"},
	// The largest .common, before .weak and behind .visible.
	{".common .global .b32 x;---.common .global .b64 x[4];---.common .global .b8 x[3];---.weak .global .b64 x[2];", "!.b32 x|.common .global .b64 x[4];|!.weak"},
	{".common .global .b32 x;---.common .global .b32 x = 5;", "x = 5;"},
	{".common .global .b32 x;---.visible .global .b64 x;", "!.common|.visible .global .b64 x;"},
	// The system's functions, and dynamic shared memory, which is aligned for all.
	{".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b); .entry k() { call (r), vprintf, (a, b); }---.extern .func (.param .b32 r) vprintf(.param .b64 c, .param .b64 d);",
		".extern .func (.param .b32 r) vprintf("},
	{".extern .shared .align 16 .b8 s[];---.extern .shared .align 128 .f32 s[];", ".extern .shared .align 128 .b8 s[];"},
	// An alias of another module.
	{".extern .func g(); .entry k() { call g; }---.visible .func f() { ret; } .visible .func g(); .alias g, f;", ".visible .func g;|.alias g, f;|!.extern"},
	// Versions and targets.
	{".version 8.0 .target sm_80 .address_size 64\n---.version 8.4 .target sm_90a, debug .address_size 64\n", ".version 8.4\n.target sm_90a\n"},
	{".version 8.8 .target sm_100f .address_size 64\n---.version 8.8 .target sm_103 .address_size 64\n", ".target sm_103f\n"},
	{".version 8.8 .target sm_103a .address_size 64\n---.version 8.8 .target sm_100f .address_size 64\n", ".target sm_103a\n"},
	// Numbers of files, and labels of their names.
	{".entry k() { .loc 1 2 3 ret; } .file 1 \"a.cu\" .file 7 \"s.h\"---.entry l() { .loc 1 5 6, function_name n, inlined_at 2 7 8 ret; } .file 1 \"s.h\" .file 2 \"b.cu\" .section .debug_str { n: .b8 65 } .section .debug_info { .b8 1 }---.section .debug_str { n: .b8 66 }",
		".loc 1 2 3|.file 1 \"a.cu\"|.file 2 \"s.h\"|.file 3 \"b.cu\"|.loc 2 5 6, function_name n, inlined_at 3 7 8|n$unit3:|!debug_info"},
}

func TestLink(t *testing.T) {
	for _, c := range linked {
		m, err := linkTexts(t, strings.Split(c.text, "---")...)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		text := m.String()
		for _, want := range strings.Split(c.want, "|") {
			if not, absent := strings.CutPrefix(want, "!"); absent == strings.Contains(text, not) {
				t.Errorf("%s: %q, in\n%s", c.text, want, text)
			}
		}
		again, err := ptx.Parse("whole", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if again.String() != text {
			t.Errorf("%s: printed otherwise after it was parsed", c.text)
		}
	}
}

func parseText(t *testing.T, name, text string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLinkUnits holds each module to its own version, and positions to their text.
func TestLinkUnits(t *testing.T) {
	m, err := linkTexts(t, ".version 6.0 .target sm_30 .address_size 64\n.entry k() { .reg .b32 a; shfl.up.b32 a, a, 1, 0; }",
		".version 8.0 .target sm_90 .address_size 64\n.visible .func f() { .reg .b32 a;\n shfl.up.b32 a, a, 1, 0; }")
	if err != nil {
		t.Fatal(err)
	}
	bad := ptx.CheckTarget(m)
	if len(bad) != 1 || !strings.HasPrefix(bad[0].Error(), "b.ptx:3:2: shfl.up.b32: from PTX ISA .version") {
		t.Errorf("%v", bad)
	}
	again, err := ptx.Link(m, parseText(t, "c.ptx", ".version 8.0 .target sm_90 .address_size 64\n"))
	if err != nil || len(again.Units) != 3 {
		t.Fatalf("%v, %v", again, err)
	}
	if bad := ptx.CheckTarget(again); len(bad) != 1 || bad[0].Pos.Unit != 1 {
		t.Errorf("%v", bad)
	}
	if got := ptx.Written("x$unit2") + ptx.Written("x$unit2_3") + ptx.Written("x$unit") + ptx.Written("$unit2") + ptx.Written("x$units2"); got != "xxx$unit$unit2x$units2" {
		t.Error(got)
	}
}

// FuzzLink checks that no modules make Link and Refers panic, and that what is linked
// prints, and can be linked again.
func FuzzLink(f *testing.F) {
	for _, list := range [][]struct{ text, want string }{badLinks, linked} {
		for _, c := range list {
			a, b, _ := strings.Cut(c.text, "---")
			f.Add(head+a, head+b)
		}
	}
	for _, file := range ptxFiles(f) {
		if src, err := os.ReadFile(file); err == nil && len(src) < 1<<12 && filepath.Ext(file) == ".ptx" {
			f.Add(string(src), string(src))
		}
	}
	f.Fuzz(func(t *testing.T, x, y string) {
		a, err := ptx.Parse("a", []byte(x))
		if err != nil {
			return
		}
		b, err := ptx.Parse("b", []byte(y))
		if err != nil {
			return
		}
		before := a.String() + b.String()
		ptx.Refers(a)
		m, err := ptx.Link(a, b)
		if a.String()+b.String() != before {
			t.Fatal("the modules were changed")
		}
		if err != nil {
			_ = err.(*ptx.Error).Detail()
			return
		}
		checkAll(m)
		if _, err := ptx.Parse("whole", []byte(m.String())); err != nil {
			t.Fatalf("%v in\n%s", err, m)
		}
		if _, err := ptx.Link(m); err != nil {
			t.Fatalf("%v in\n%s", err, m)
		}
	})
}

func checkAll(m *ptx.Module) {
	ptx.CheckTarget(m)
	ptx.CheckNames(m)
	ptx.CheckOperands(m)
	ptx.Validate(m)
	ptx.RaiseVersion(m)
}
