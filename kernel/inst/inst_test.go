package inst

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"muster/kernel"
	"muster/kernel/inst/internal/row"
	"muster/ptx"
)

// TestEveryRow calls every row's constructor with the operands of the row's
// example, and finds an instruction of that row in the module, with the same
// modifiers and number of operands. A row without a constructor has a reason.
func TestEveryRow(t *testing.T) {
	n := 0
	for _, f := range ptx.Forms() {
		if why := row.LeftOut(f); why != "" {
			if constructors[f.Name] != nil {
				t.Errorf("%s has a constructor though %s", f.Name, why)
			}
			continue
		}
		n++
		t.Run(f.Name, func(t *testing.T) { checkRow(t, f) })
	}
	t.Logf("%d of %d rows have constructors", n, len(ptx.Forms()))
}

func checkRow(t *testing.T, f *ptx.Form) {
	if constructors[f.Name] == nil {
		t.Fatalf("%s has no constructor: go generate ./kernel/inst", f.Name)
	}
	want := example(t, f)
	k := kernel.New("k", kernel.Target(target(f)), kernel.Version(9, 4), kernel.Block(128), kernel.Clusters(2))
	call(t, k, f, want)
	m, err := k.Build()
	if err != nil {
		t.Fatalf("%v\n%s", err, want)
	}
	var got *ptx.Inst
	for _, it := range m.Items {
		fn, ok := it.(*ptx.Func)
		if !ok {
			continue
		}
		for _, s := range fn.Body.Stmts {
			if in, ok := s.(*ptx.Inst); ok && in.Form == f {
				got = in
			}
		}
	}
	if got == nil {
		t.Fatalf("no instruction of the row in\n%s", m)
	}
	if a, b := modifiers(got), modifiers(want); a != b {
		t.Errorf("modifiers .%s, and the row's example has .%s", a, b)
	}
	if len(got.Operands) != len(want.Operands) {
		t.Errorf("%s, and the example is %s", got, want)
	}
	if dir := os.Getenv("MUSTER_INST_DIR"); dir != "" { // for an assembler to read
		if err := os.WriteFile(dir+"/"+f.Name+".ptx", []byte(m.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// modifiers joins an instruction's modifiers. Shared is another name of
// shared::cta.
func modifiers(in *ptx.Inst) string {
	return strings.ReplaceAll(strings.Join(in.Mods, ".")+".", "shared.", "shared::cta.")
}

func target(f *ptx.Form) string {
	if f.SM.Number >= 100 || f.SM.Suffix != "" {
		return "sm_" + itoa(max(90, f.SM.Number)) + strings.Replace(f.SM.Suffix, "f", "a", 1)
	}
	return "sm_90a"
}

func itoa(n int) string {
	return strings.TrimLeft(string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)}), "0")
}

// example parses the row's example.
func example(t *testing.T, f *ptx.Form) *ptx.Inst {
	text := ".version 9.4\n.target sm_90a\n.address_size 64\n.entry k() {\n" + f.Example() + "\n}\n"
	m, err := ptx.Parse("example", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Items[0].(*ptx.Func).Body.Stmts {
		if in, ok := s.(*ptx.Inst); ok {
			return in
		}
	}
	t.Fatalf("no example: %s", text)
	return nil
}

// call calls the constructor with the example's modifiers and operands.
func call(t *testing.T, k *kernel.Kernel, f *ptx.Form, want *ptx.Inst) {
	given := map[string]ptx.Bound{}
	elems := map[string]int{}
	pairs := map[string]bool{}
	for _, b := range ptx.Bind(want) {
		if b.Elem {
			elems[b.Arg.Name]++
			continue
		}
		given[b.Arg.Name] = b
	}
	for _, x := range want.Operands {
		if p, ok := x.(*ptx.Pair); ok {
			_ = p
			pairs["pair"] = true
		}
	}
	fn := reflect.ValueOf(constructors[f.Name])
	args := []reflect.Value{reflect.ValueOf(k)}
	// The example's optional modifiers; derived ones are skipped below.
	rest := map[string]bool{}
	for _, s := range f.Slots {
		if s.Optional && want.Mod(s.Name) != "" {
			rest[s.Name] = true
		}
	}
	for i, p := range row.Params(f) {
		at := fn.Type().In(i + 1)
		if p.Slot != "" {
			args = append(args, reflect.ValueOf(kernel.Mod(want.Mod(p.Slot))))
			continue
		}
		b, ok := given[p.Arg.Name]
		if !ok {
			args = append(args, reflect.Zero(at))
			continue
		}
		args = append(args, reflect.ValueOf(value(k, f, want, p, b, elems[p.Arg.Name], pairs["pair"])))
	}
	for s := range rest {
		if d := row.Derived(f)[s]; d == "" || s == "space" {
			args = append(args, reflect.ValueOf(kernel.Mod(want.Mod(s))))
		}
	}
	fn.Call(args)
}

// value makes an operand like the example's.
func value(k *kernel.Kernel, f *ptx.Form, want *ptx.Inst, p row.Param, b ptx.Bound, elems int, pair bool) any {
	a := p.Arg
	reg := func(t string) kernel.Reg { return k.Const(regType(t), 0) }
	switch p.Type {
	case "kernel.Ptr":
		return pointer(k, want, a, b.Type)
	case "kernel.Pred":
		return k.Const(kernel.U32, 0).Eq(0)
	case "kernel.Pair":
		return kernel.Pair{Reg: reg(b.Type), Pred: k.PredVar()}
	case "kernel.Vec", "kernel.Coords":
		n := max(1, elems)
		v := make(kernel.Vec, n)
		t := fragment(f, b.Type)
		if strings.HasPrefix(a.Type, "part") {
			t = map[int]string{2: "b16", 4: "b32", 8: "b64", 16: "b128"}[kernel.Type(want.Mod("type")).Size()/n]
			if kernel.Type(want.Mod("type")).Size() == 2 && n == 1 {
				t = "b16"
			}
		}
		for i := range v {
			v[i] = reg(t)
		}
		if p.Type == "kernel.Coords" {
			c := kernel.Coords{}
			for _, r := range v {
				c = append(c, r)
			}
			return c
		}
		return v
	}
	switch b.X.(type) {
	case *ptx.Vector:
		v := make(kernel.Vec, elems)
		for i := range v {
			v[i] = reg(fragment(f, b.Type))
		}
		return v
	case ptx.Int:
		return int(b.X.(ptx.Int).Bits)
	}
	if b.Type == "pred" {
		return k.Const(kernel.U32, 0).Eq(0)
	}
	if p.Type == "kernel.Dest" && pair {
		return kernel.Pair{Reg: reg(b.Type), Pred: k.PredVar()}
	}
	if a.Class == "mem" {
		return pointer(k, want, a, b.Type)
	}
	return reg(b.Type)
}

// fragment is the type of a fragment's registers: narrow elements are packed.
func fragment(f *ptx.Form, t string) string {
	if f.Class == "matrix" && kernel.Type(t).Size() < 4 && t != "u16" && t != "b16" {
		return "b32"
	}
	return t
}

func regType(t string) kernel.Type {
	if kernel.Type(t).Size() > 0 {
		return kernel.Type(t)
	}
	if t == "addr" {
		return kernel.U64
	}
	return kernel.B32
}

// pointer makes an address in the example's state space.
func pointer(k *kernel.Kernel, want *ptx.Inst, a *ptx.Arg, t string) kernel.Ptr {
	space := kernel.Generic
	names := []string{want.Mod("space")}
	switch a.Name {
	case "d":
		names = append(names, want.Mod("dst"))
	case "s":
		names = append(names, want.Mod("src"))
	case "bar":
		names = []string{"shared::cta"}
	}
	for _, n := range append(names, want.Form.Space) {
		switch n {
		case "shared", "shared::cta", "shared::cluster":
			space = kernel.SharedCTA
		case "global", "local", "const", "param":
			space = kernel.Space(n)
		default:
			continue
		}
		break
	}
	elem := kernel.Type(t)
	if elem.Size() == 0 {
		elem = kernel.B8
	}
	addr := kernel.U64
	if space == kernel.SharedCTA {
		addr = kernel.U32
	}
	return k.Pointer(space, elem, k.Const(addr, 0))
}

// TestMistakes checks that mistakes are reported at the line of the call.
func TestMistakes(t *testing.T) {
	k := kernel.New("k")
	d, f := k.Const(kernel.U32, 0), k.Const(kernel.F32, 0)
	g := k.GlobalPtr("g", kernel.U32)
	AddInt(k, f, d, d)                                // the type is no integer's
	MbarrierInit(k, g, 1)                             // the space
	Setp(k, "", kernel.Mod("u32"), k.PredVar(), d, 0) // a missing modifier
	AddInt(k, d, d, 1, kernel.Acquire)                // one that it does not take
	AddInt(k, d, f, 1)                                // the register class
	_, err := k.Build()
	if err == nil {
		t.Fatal("no mistakes")
	}
	want := []string{
		"inst_test.go:264: add.int computes in .u16, .u32, .u64, .s16, .s32, .s64, and the operands have none of these types",
		"inst_test.go:265: mbarrier.init: the address is in global; want one in shared or shared::cta",
		"inst_test.go:266: setp: modifier <cmp>: want one of .eq, .ne, .lt, .le, .gt, .ge, .lo, .ls, .hi, .hs, .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan; it is missing",
		"inst_test.go:267: add.int takes no modifier .acquire; it is add.<type:@int> d, a, b",
		"inst_test.go:268: add.u32: operand a has type f32; want u32: take its bits with As, or convert it with Cvt",
	}
	if got := err.Error(); got != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
