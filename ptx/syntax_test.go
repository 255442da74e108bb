package ptx_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/ptx"
)

const head = ".version 9.0\n.target sm_90a\n.address_size 64\n"

// body wraps statements in a function, parses them and checks the round trip.
func body(t *testing.T, text string) []ptx.Stmt {
	t.Helper()
	m, err := ptx.Parse("t", []byte(head+".func f()\n{\n"+text+"\n}\n"))
	if err != nil {
		t.Fatalf("%s: %s", text, err.(*ptx.Error).Detail())
	}
	roundTrip(t, m)
	return m.Items[0].(*ptx.Func).Body.Stmts
}

// TestStatements gives the canonical text of each statement.
func TestStatements(t *testing.T) {
	for text, want := range map[string]string{
		"add .s32 a , b,\n\tc ;":                           "add.s32 a, b, c;",
		"@!%p1 bra.uni $L_1;":                              "@!%p1 bra.uni $L_1;",
		"@ p ret;":                                         "@p ret;",
		"setp.eq.and.s32 p|q, a, 1, !r;":                   "setp.eq.and.s32 p|q, a, 1, !r;",
		"elect.sync _|%p1, -1;":                            "elect.sync _|%p1, -1;",
		"mov.b64 {%r1, _}, %rd1;":                          "mov.b64 {%r1, _}, %rd1;",
		"mov.u32 %r1, %tid.x;":                             "mov.u32 %r1, %tid.x;",
		"mov.b32 %r1, v.y;":                                "mov.b32 %r1, v.y;",
		"mov.u32 s, a[1];":                                 "mov.u32 s, a[1];",
		"ld.global.u32 s, a[%r1+2];":                       "ld.global.u32 s, a[%r1+2];",
		"ld.global.f32 %f1, [ %rd1 + 4 * 3 ];":             "ld.global.f32 %f1, [%rd1+12];",
		"ld.global.f32 %f1, [4+%rd1-8];":                   "ld.global.f32 %f1, [%rd1+-4];",
		"ld.global.f32 %f1, [%rd1+-4];":                    "ld.global.f32 %f1, [%rd1+-4];",
		"ld.shared.b32 %r1, [16];":                         "ld.shared.b32 %r1, [16];",
		"ld.global.b32 { %r1 }, [a];":                      "ld.global.b32 {%r1}, [a];",
		"ld.global.nc.u32 %r1, [%rd1].unified;":            "ld.global.nc.u32 %r1, [%rd1].unified;",
		"st.global.v4.f32 [a], {%f1, 0f00000000, 1.0, _};": "st.global.v4.f32 [a], {%f1, 0f00000000, 0d3FF0000000000000, _};",
		"vadd.s32.u32.s32.sat d.b0, -a.h1, b.b3, c;":       "vadd.s32.u32.s32.sat d.b0, -a.h1, b.b3, c;",
		"vadd4.u32.u32.u32.add d.b3210, a.b7654, b, c;":    "vadd4.u32.u32.u32.add d.b3210, a.b7654, b, c;",
		"call.uni (r0), fn, (a, 1, 2.0);":                  "call.uni (r0), fn, (a, 1, 0d4000000000000000);",
		"call fn;":                                         "call fn;",
		"call (r), %rd1, (x), proto;":                      "call (r), %rd1, (x), proto;",
		"brx.idx %r1, ts;":                                 "brx.idx %r1, ts;",
		"tex.2d.v4.f32.f32 {a,b,c,d}|p, [t, s, {x,y}];":    "tex.2d.v4.f32.f32 {a, b, c, d}|p, [t, s, {x, y}];",
		"mov.u64 %rd1, generic(x)+4;":                      "mov.u64 %rd1, generic(x)+4;",
		"newop.from.the::future d, {a}, [b], (1);":         "newop.from.the::future d, {a}, [b], 1;",
		"and.b32 a, b, 0x7fffffff & ~1;":                   "and.b32 a, b, 2147483646U;",
		"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [d], [m, {c}], [b];": "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [d], [m, {c}], [b];",
	} {
		stmts := body(t, text)
		if len(stmts) != 1 {
			t.Errorf("%s: %d statements", text, len(stmts))
			continue
		}
		if got := stmts[0].(*ptx.Inst).String(); got != want {
			t.Errorf("%s prints as %s, want %s", text, got, want)
		}
	}
}

// TestForms checks the row of instructions that differ only in their operands
// or the order of their modifiers.
func TestForms(t *testing.T) {
	for text, want := range map[string]string{
		"mov.b64 %rd1, %rd2;":                                                    "mov",
		"mov.b64 %rd1, {%r1, %r2};":                                              "mov.pack",
		"mov.b64 {%r1, %r2}, %rd1;":                                              "mov.unpack",
		"mov.b128 {%rd1, %rd2}, %rq1;":                                           "mov.unpack.b128",
		"atom.add.release.gpu.global.u32 %r1, [%rd1], 1;":                        "atom.add",
		"atom.global.cas.b32 %r1, [%rd1], 1, 2;":                                 "atom.cas",
		"mbarrier.arrive.shared::cluster.b64 _, [%r1];":                          "mbarrier.arrive.cluster",
		"mbarrier.arrive.shared.b64 _, [%r1];":                                   "mbarrier.arrive",
		"mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [%r1], 2;":            "mbarrier.arrive",
		"cp.async.cg.shared.global [%r1], [%rd1], 16;":                           "cp.async",
		"cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd2;":      "cp.async",
		"cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %r2, %rd2;": "cp.async",
		"set.eq.u16.f16 a, b, c;":                                                "set.f16",
		"set.eq.f16.u16 a, b, c;":                                                "set.to.f16",
		"call (r), fn, (a);":                                                     "call",
		"call (r), %rd1, (a), proto;":                                            "call.indirect",
		"call %rd1, proto;":                                                      "call.indirect",
		"min.f32 a, b, c;":                                                       "min.f32",
		"min.f32 a, b, c, d;":                                                    "min3.f32",
		"cvt.rn.bf16.f32 a, b;":                                                  "cvt.bf16.f32",
		"cvt.rn.f32.s32 a, b;":                                                   "cvt.float.int",
		"bar.sync 0;":                                                            "bar.sync",
		"bar.sync 0, 64;":                                                        "bar.sync",
		"bar.red.and.pred p, 0, q;":                                              "bar.red",
		"bar.red.and.pred p, 0, 64, !q;":                                         "bar.red",
		"wgmma.wait_group.sync.aligned 0;":                                       "wgmma.wait_group",
	} {
		in := body(t, text)[0].(*ptx.Inst)
		if in.Form == nil {
			t.Errorf("%s: %s", text, ptx.Explain(in))
		} else if in.Form.Name != want {
			t.Errorf("%s matches %s, want %s", text, in.Form.Name, want)
		}
	}
}

// TestNoForm checks what Validate reports for instructions that match no row.
func TestNoForm(t *testing.T) {
	for text, want := range map[string]string{
		"frob.x a;":                           "unknown instruction frob.x",
		"add.s33 a, b, c;":                    "add.s33: unknown modifier .s33",
		"add.sat.u64 a, b, c;":                "add.sat.u64: these modifiers do not go together",
		"add.s32 a, b;":                       "operands of add.s32 do not fit",
		"add.s32 a, b, [c];":                  "operands of add.s32 do not fit",
		"ld.global.v4.f32 {a, b}, [c];":       "operands of ld.global.v4.f32 do not fit",
		"ld.global.u32 a, [b], c;":            "operands of ld.global.u32 do not fit", // a policy needs its modifier
		"ld.relaxed.u32 a, [b];":              "ld.relaxed.u32: these modifiers do not go together",
		"cvt.f16.f32 a, b;":                   "cvt.f16.f32: these modifiers do not go together",
		"mbarrier.init.shared.b32 [a], 1;":    "mbarrier.init.shared.b32: unknown modifier .b32",
		"mbarrier.arrive.release.b64 _, [a];": "mbarrier.arrive.release.b64: these modifiers do not go together",
		"elect.sync a, -1;":                   "operands of elect.sync do not fit",
		"cvt.f32.f16.rn a, b;":                "cvt.f32.f16.rn: these modifiers do not go together",
	} {
		in := body(t, text)[0].(*ptx.Inst)
		if got := ptx.Explain(in); in.Form != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q (form %v), want %q", text, got, in.Form, want)
		}
	}
}

// TestModule reads a module that uses every construct except instructions, and
// compares its canonical text.
func TestModule(t *testing.T) {
	const src = `.version 9.0 .target sm_90a, texmode_independent, debug .address_size 64
.file 1 "a \"b\" c:\\d\x.cu", 0, 17
.pragma "one", "two\n";
.visible .global .attribute(.managed, .unified(0x10, 19)) .align 8 .v2 .f32 g[2][3] = {{1.0, 2.0}, {0f3F800000}}, h = 3;
.extern .shared .align 16 .b8 smem[];
.weak .const .u64 t[] = {generic(g)+8, f, 0};
.common .global .u32 c;
.global .samplerref s = {addr_mode_0 = clamp_to_edge, filter_mode = nearest};
.func (.param .b32 r) f (.param .align 8 .b8 x[16], .reg .u32 y) .noreturn .abi_preserve 4;
.alias f2, f;
.unknown_thing 1, "x", .y;
.visible .entry k(.param .u64 .ptr .global .align 16 a, .param .texref t) .maxntid 128, 1, 1 .minnctapersm 2
 .reqnctapercluster 2 .explicitcluster .maxnreg 64 .blocksareclusters .pragma "nounroll"; {
 .reg .b32 %r<4>, x; .local .align 4 .b8 d[8];
 .loc 1 2 3
 .loc 1 2 3, function_name $L__info+4, inlined_at 1 5 6
 { .reg .pred p; p: bra p; { q: } }
 P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[12]) .noreturn;
 T: .branchtargets L<2>, M;
 C: .calltargets f, f2;
 .pragma "nounroll";
 /* a
    comment */ L: ret; // end
}
.section .debug_str { $L__info: .b8 97, 0 .b64 $L__end-$L__begin
 .b32 .debug_abbrev .b32 lab+4 }
`
	const want = `.version 9.0
.target sm_90a, texmode_independent, debug
.address_size 64
.file 1 "a \"b\" c:\\d\\x.cu", 0, 17
.pragma "one", "two\012";
.visible .global .attribute(.managed, .unified(16, 19)) .align 8 .v2 .f32 g[2][3] = {{0d3FF0000000000000, 0d4000000000000000}, {0f3F800000}};
.visible .global .attribute(.managed, .unified(16, 19)) .align 8 .v2 .f32 h = 3;
.extern .shared .align 16 .b8 smem[];
.weak .const .u64 t[] = {generic(g)+8, f, 0};
.common .global .u32 c;
.global .samplerref s = {addr_mode_0 = clamp_to_edge, filter_mode = nearest};

.func (.param .b32 r) f(
	.param .align 8 .b8 x[16],
	.reg .u32 y
)
.noreturn
.abi_preserve 4;
.alias f2, f;
.unknown_thing 1, "x", .y;

.visible .entry k(
	.param .u64 .ptr .global .align 16 a,
	.param .texref t
)
.maxntid 128, 1, 1
.minnctapersm 2
.reqnctapercluster 2
.explicitcluster
.maxnreg 64
.blocksareclusters
.pragma "nounroll";
{
	.reg .b32 %r<4>;
	.reg .b32 x;
	.local .align 4 .b8 d[8];
	.loc 1 2 3
	.loc 1 2 3, function_name $L__info+4, inlined_at 1 5 6
	{
		.reg .pred p;
p:
		bra p;
		{
q:
		}
	}
	P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[12]) .noreturn;
	T: .branchtargets L0, L1, M;
	C: .calltargets f, f2;
	.pragma "nounroll";
L:
	ret;
}
.section .debug_str {
$L__info:
	.b8 97, 0
	.b64 $L__end-$L__begin
	.b32 .debug_abbrev
	.b32 lab+4
}
`
	m, err := ptx.Parse("m.ptx", []byte(src))
	if err != nil {
		t.Fatal(err.(*ptx.Error).Detail())
	}
	if d := cmp.Diff(want, m.String()); d != "" {
		t.Fatal(d)
	}
	roundTrip(t, m)
}

// TestErrors gives the one line for each kind of bad text.
func TestErrors(t *testing.T) {
	in := func(s string) string { return head + ".entry k()\n{\n" + s + "\n}\n" }
	deep := func(open, close string) string { return strings.Repeat(open, 300) + strings.Repeat(close, 300) }
	for _, c := range []struct{ src, want string }{
		{"", "t:1:1: no PTX text: a module begins with .version"},
		{"\ufeff.version 9.0\n.version 9.0\n", "t:2:1: a second .version"},
		{"\ufeff.version 9\n", `t:1:10: expected a version such as 9.0, found "9"`},
		{".version 9.0\n\ufeff", "t:2:1: unexpected byte 0xef"},
		{"\x00\x00", "t:1:1: no PTX text: a module begins with .version"},
		{"// only a comment", "t:1:18: no PTX text: a module begins with .version"},
		{"\x7fELF\x02", "t:1:1: unexpected byte 0x7f"},
		{"hello", `t:1:1: a module begins with .version, found "hello"`},
		{".version 9\n", `t:1:10: expected a version such as 9.0, found "9"`},
		{".version 9.0\n.version 9.0\n", "t:2:1: a second .version"},
		{".version 9.0\n", "t:2:1: the module has no .target"},
		{".version 9.0 .target sm_90 .address_size 16", "t:1:28: address size is 32 or 64"},
		{head + "#include <x>", "t:4:1: preprocessor lines are not part of PTX text: run the preprocessor first"},
		{head + "@@DWARF .byte 1", "t:4:1: @@DWARF lines ended with PTX 2.0: use .section"},
		{head + "/* x", "t:4:1: comment is not closed"},
		{head + ".pragma \"x\n", "t:4:9: string is not closed"},
		{head + ".mystery {1}\n", "t:4:1: unknown directive .mystery"},
		{head + ".mystery 1\n", "t:4:1: unknown directive .mystery: cannot tell where it ends"},
		{head + ".global .f33 x;", "t:4:9: unknown type .f33"},
		{head + ".global .align 3 .b8 x;", "t:4:16: alignment 3 is no power of two"},
		{head + ".global .u32 .f32 x;", "t:4:14: a second type, .f32"},
		{head + ".global x;", `t:4:9: expected a type, found "x"`},
		{head + ".global .b8 x[-1];", "t:4:15: array extent -1 is out of range 0..1099511627776"},
		{head + ".global .b64 x[1024][1024][1024][1024];", "t:4:15: array x has more than 1099511627776 bytes"},
		{head + ".global .b8 x[2][];", "t:4:14: only the first extent of x may be left out"},
		{head + ".const[3] .b8 x;", "t:4:7: banks of .const ended with PTX 2.2"},
		{head + ".entry k() .maxntid 1,1,1,1 {}", "t:4:12: .maxntid takes 1 to 3 operands, found 4"},
		{head + ".entry k() .entry j() {}", "t:4:12: unexpected .entry between a function's parameters and its body"},
		{head + ".entry k(.reg x) {}", `t:4:15: expected a type, found "x"`},
		{head + ".entry k() {", "t:4:13: end of file in the block opened at line 4"},
		{head + ".visible .target sm_80", `t:4:10: expected a function or a variable after .visible, found ".target"`},
		{in("add.s32 a, b c;"), `t:6:14: expected ',' or ';' after an operand of "add", found "c"`},
		{in("add.s32 %r1, %r2 %r3;"), `t:6:18: expected ',' or ';' after an operand of "add", found "%r3"`},
		{in("add.s32 a, b, ;"), `t:6:15: expected an operand, found ";"`},
		{in("add. a;"), "t:6:4: unexpected character '.'"},
		{in("ld.u32 a, [b+c];"), "t:6:12: an address is one register, variable or constant, plus constants"},
		{in("ld.u32 a, [b;"), `t:6:13: expected ']' to close an address, found ";"`},
		{in("mov.b32 a, b.q5;"), "t:6:13: unknown component .q5 of b"},
		{in("%r1 = 4;"), `t:6:1: expected an instruction, found "%r1"`},
		{in(".reg .b32 %r<1048577>;"), "t:6:14: a number of variables 1048577 is out of range 0..1048576"},
		{in(".reg .b32 %r<0>;"), "t:6:15: a range of no variables"},
		{in(".reg .b32 %r<99999999999999999999>;"), `t:6:14: integer "99999999999999999999" does not fit 64 bits`},
		{in("T: .branchtargets L<1000000>, M<1000000>;"), "t:6:41: target lists of more than 1048576 names"},
		{in(".branchtargets L;"), "t:6:1: .branchtargets needs a label before it"},
		{in(".entry j() {}"), "t:6:1: .entry is not allowed within a function (is a '}' missing?)"},
		{in(".loc 1 2"), `t:7:1: expected a column, found "}"`},
		{in(deep("{", "}")), "t:6:256: nested more than 256 deep"},
		{in("mov.b32 a, " + deep("(", ")") + ";"), "t:6:139: nested more than 256 deep"},
		{in("mov.b32 a, " + strings.Repeat("-", 500) + "1;"), "t:6:266: nested more than 256 deep"},
		{in("mov.b32 " + deep("{", "}") + ", a;"), "t:6:264: nested more than 256 deep"},
		{in("mov.b32 a, b" + strings.Repeat("+c", 400) + ";"), "t:6:527: an expression of more than 256 terms over a name"},
		{head + ".global .b8 x = " + deep("{", "}") + ";", "t:4:273: nested more than 256 deep"},
	} {
		_, err := ptx.Parse("t", []byte(c.src))
		if err == nil {
			t.Errorf("%.60q: no error, want %s", c.src, c.want)
		} else if err.Error() != c.want {
			t.Errorf("%.60q: got %s\nwant %s", c.src, err, c.want)
		}
	}
}

// TestTooLong checks the limit on the text alone.
func TestTooLong(t *testing.T) {
	_, err := ptx.Parse("t", make([]byte, 64<<20+1))
	if err == nil || err.Error() != "t: 67108865 bytes of text: at most 67108864 are read" {
		t.Fatal(err)
	}
}

// TestTruncated cuts a real file at every fifth byte: an error or a module,
// never a panic, and what parses round-trips.
func TestTruncated(t *testing.T) {
	src := []byte(scale)
	for n := 0; n < len(src); n++ {
		m, err := ptx.Parse("t", src[:n])
		if err == nil {
			roundTrip(t, m)
			continue
		}
		if e := err.(*ptx.Error); e.Pos.Line < 1 || e.Pos.Col < 1 || !strings.Contains(e.Detail(), "^") && e.Src != "" {
			t.Fatalf("cut at %d: %+v", n, e)
		}
	}
}

func TestDetail(t *testing.T) {
	long := head + ".entry k()\n{\n\tadd.s32 a, b, c;" + strings.Repeat(" add.s32 a, b, c;", 40) + " add.s32 a b; " + strings.Repeat("ret;", 50) + "\n}\n"
	_, err := ptx.Parse("t", []byte(long))
	lines := strings.Split(err.(*ptx.Error).Detail(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "…") || !strings.HasSuffix(lines[1], "…") {
		t.Fatalf("%q", lines)
	}
	caret := strings.Index(lines[2], "^")
	if got := []rune(lines[1])[caret]; got != 'b' {
		t.Fatalf("the caret points at %q:\n%s\n%s", got, lines[1], lines[2])
	}
}

// TestPositions checks that line and column survive comments, tabs and CRLF.
func TestPositions(t *testing.T) {
	m, err := ptx.Parse("t", []byte(".version 9.0\r\n.target sm_90\r\n/* 1\n 2 */ .entry k() {\r\n\tret; /* x */ exit;\n}"))
	if err != nil {
		t.Fatal(err)
	}
	f := m.Items[0].(*ptx.Func)
	got := []ptx.Pos{f.Pos, f.Body.Pos, f.Body.Stmts[0].(*ptx.Inst).Pos, f.Body.Stmts[1].(*ptx.Inst).Pos, f.Body.End}
	want := []ptx.Pos{{Line: 4, Col: 14}, {Line: 4, Col: 18}, {Line: 5, Col: 2}, {Line: 5, Col: 15}, {Line: 6, Col: 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}
