package ptx

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestOperands compares which operands instructions take with what ptxas says.
func TestOperands(t *testing.T) {
	data, err := os.ReadFile("testdata/operands.txt")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString(".version 9.0\n.target sm_90a\n.global .align 16 .b8 glob[64];\n.func kfun() { ret; }\n.entry k()\n{\n.shared .align 16 .b8 sh[64];\n")
	for _, typ := range operandTypes {
		fmt.Fprintf(&text, ".reg .%s %%%s_<400>;\n", typ, typ)
	}
	head := strings.Count(text.String(), "\n")
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line[0] != '#' {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
			text.WriteString(line[2:])
		}
	}
	text.WriteString("}\n")
	m, err := Parse("operands.txt", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	said := map[int]string{}
	for _, e := range CheckOperands(m) {
		said[int(e.Pos.Line)-head-1] = e.Msg
	}
	body := m.Items[len(m.Items)-1].(*Func).Body
	for _, st := range body.Stmts {
		if in, ok := st.(*Inst); ok && in.Form == nil {
			said[int(in.Pos.Line)-head-1] = "no row has it"
		}
	}
	for i, line := range lines {
		switch {
		case line[0] == '+' && said[i] != "":
			t.Errorf("ptxas takes %s, but: %s", line[2:], said[i])
		case line[0] == '-' && said[i] == "":
			t.Errorf("ptxas refuses the operands of %s", line[2:])
		}
	}
	if len(lines) < 5000 {
		t.Errorf("only %d lines", len(lines))
	}
	if !testing.Short() {
		if n := len(operandTrials()); n < 130000 {
			t.Errorf("%d trials", n)
		}
	}
}

// TestUselessSat compares the conversions that cannot saturate with what ptxas says of them.
func TestUselessSat(t *testing.T) {
	data, err := os.ReadFile("testdata/ptxas.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := map[bool]int{}
	for line := range strings.Lines(string(data)) {
		verdict, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		text, _, _ = strings.Cut(text, " # ")
		if !strings.HasPrefix(text, "cvt.sat.") || verdict == "-" { // another form
			continue
		}
		in := instOf(t, text)
		if in.Form == nil || in.Form.Name != "cvt.int.int" {
			continue
		}
		why := badSat(in, nil)
		if n[why == ""]++; (why == "") != (verdict == "+") {
			t.Errorf("%s: %q", line, why)
		}
	}
	if n[true] < 4 || n[false] < 7 {
		t.Errorf("only %v", n)
	}
}

// TestNames checks the errors of CheckNames: names, initial values and calls.
func TestNames(t *testing.T) {
	const f = ".func (.param .b32 r) f (.param .b32 x) { ret; }\n"
	for _, c := range []struct{ top, body, want string }{
		{"", ".reg .b32 x; { .reg .b32 x; }", ""},
		{"", ".reg .b32 x; .reg .b64 x;", "x is defined twice in this scope"},
		{"", ".reg .b32 x; .shared .b32 x;", "x is defined twice in this scope"},
		{"", ".reg .b32 %a<5>; .reg .b32 %a4;", "%a4 is defined twice in this scope"},
		{"", ".reg .b32 %a3; .reg .b32 %a<5>;", "%a3 is defined twice in this scope"},
		{"", ".reg .b32 %a7; .reg .b32 %a<5>; .reg .b32 %a1<5>;", ""},
		{"", ".reg .b32 %a<5>; .reg .b32 %a<7>;", "%a<7> is defined twice in this scope"},
		{"", ".reg .b64 out;", "out is defined twice in this scope"},
		{"", ".reg .b32 L; L: ret;", "L is defined twice in this scope"},
		{".global .b32 g;\n", ".shared .b32 g;", ""},
		{".global .b32 g;\n.global .b32 g;\n", "", "g is defined twice in this scope"},
		{".extern .global .b32 g;\n.visible .global .b32 g;\n", "", ""},
		{".extern .shared .b8 s[];\n.extern .shared .b8 s[];\n", "", ""},
		{".func f();\n.func f();\n.func f() { ret; }\n", "", ""},
		{".func f() { ret; }\n.func f() { ret; }\n", "", "f is defined twice in this scope"},
		{"", ".shared .b32 x = 1;", "x, a variable in .shared, cannot have an initial value"},
		{"", ".reg .b64 %d; st.param.b64 [out], %d;", "out is a parameter that the function reads: it cannot be written"},
		{f, "{ .param .b32 a; .param .b32 r0; call (r0), f, (a); }", ""},
		{f, "{ .param .b64 a; .param .b32 r0; call (r0), f, (a); }", "argument a of the call of f has 8 bytes, and the parameter 4"},
		{f, "{ .param .b32 a; .param .b64 r0; call (r0), f, (a); }", "result r0 of the call of f has 8 bytes, and the parameter 4"},
		{f, "{ .param .b8 a[4]; .param .b32 r0; call (r0), f, (a); }", "argument a of the call of f is aligned to 1 bytes, and the parameter to 4"},
		{f, "{ .param .b32 r0; call (r0), f, (5); }", ""},
		{f, ".reg .b64 p; P: .callprototype (.param .b32 _) _ (.param .b32 _); { .param .b64 a; .param .b32 r0; call (r0), p, (a), P; }", "argument a of the call of p has 8 bytes, and the parameter 4"},
	} {
		m, err := Parse("k", []byte(".version 8.3\n.target sm_90a\n"+c.top+".entry k(.param .u64 out)\n{\n"+c.body+"\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if list := CheckNames(m); len(list) > 0 {
			got = list[0].Msg
		}
		if got != c.want {
			t.Errorf("%s%s: %q, want %q", c.top, c.body, got, c.want)
		}
	}
}

// TestHead checks the errors about .version, .target and directives.
func TestHead(t *testing.T) {
	for _, c := range []struct{ version, target, attrs, want string }{
		{"8.3", "sm_90a", "", ""},
		{"9.9", "sm_90a", "", ""},
		{"8.9", "sm_90a", "", ".version 8.9: PTX has no such version"},
		{"99.0", "sm_90a", "", ".version 99.0: PTX has no such version"},
		{"8.3", "sm_90a, texmode_unified", "", ""},
		{"8.3", "compute_90", "", ""},
		{"8.3", "hopper", "", ".target hopper"},
		{"8.3", "debug", "", ".target names no architecture"},
		{"8.3", "sm_91", "", ".target sm_91: PTX 8.3 has no such architecture"},
		{"8.3", "sm_85a", "", ".target sm_85a: PTX 8.3 has no such architecture"},
		{"8.3", "sm_90a", ".foo 3", "unknown directive .foo"},
		{"8.3", "sm_90a", ".maxntid 64 .reqntid 64", ".maxntid and .reqntid cannot both be given"},
		{"8.3", "sm_90a", ".reqnctapercluster 2 .maxclusterrank 2", ".maxclusterrank and .reqnctapercluster cannot both be given"},
		{"8.3", "sm_90a", ".maxntid 64 .minnctapersm 2 .maxnreg 32", ""},
		{"8.3", "sm_90a", ".noreturn", ".noreturn is for functions"},
	} {
		m, err := Parse("k", []byte(".version "+c.version+"\n.target "+c.target+"\n.entry k()\n"+c.attrs+"\n{\nret;\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if list := CheckTarget(m); len(list) > 0 {
			got = list[0].Msg
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %q", c, got)
		}
	}
	for target, want := range map[string]bool{"sm_90a": true, "sm_60": false} {
		m, err := Parse("k", []byte(".version 6.4\n.target "+target+"\n.entry k()\n{\n.reg .b32 %r<4>;\nshfl.idx.b32 %r1, %r2, 0, 31;\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		m.Version = Version{8, 3}
		if got := len(CheckTarget(m)) > 0; got != want {
			t.Errorf("shfl without .sync on %s: refused %t", target, got)
		}
	}
}
