package ptx_test

import (
	"errors"
	"fmt"
	"os"

	"muster/ptx"
)

const scale = `
.version 9.0
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 p) .reqntid 32 {
	.reg .b64 %rd<2>; .reg .f32 %f<3>;
	ld.param.u64 %rd1, [p];
	ld.global.f32 %f1, [%rd1+4*2]; // constants are folded
	fma.rn.ftz.f32 %f2, %f1, 2.0, 0f3F800000;
	st.global.f32 [%rd1+8], %f2;
	ret;
}`

func ExampleParse() {
	m, err := ptx.Parse("scale.ptx", []byte(scale))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, it := range m.Items {
		f, ok := it.(*ptx.Func)
		if !ok {
			continue
		}
		for _, s := range f.Body.Stmts {
			if in, ok := s.(*ptx.Inst); ok {
				fmt.Printf("%d: %s space=%q type=%q\n", in.Pos.Line, in.Form.Name, in.Mod("space"), in.Mod("type"))
			}
		}
	}
	// Output:
	// 7: ld space="param" type="u64"
	// 8: ld space="global" type="f32"
	// 9: fma.f32 space="" type="f32"
	// 10: st space="global" type="f32"
	// 11: ret space="" type=""
}

func ExampleModule_Print() {
	m, err := ptx.Parse("scale.ptx", []byte(scale))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Print(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// .version 9.0
	// .target sm_90
	// .address_size 64
	//
	// .visible .entry scale(
	// 	.param .u64 p
	// )
	// .reqntid 32
	// {
	// 	.reg .b64 %rd<2>;
	// 	.reg .f32 %f<3>;
	// 	ld.param.u64 %rd1, [p];
	// 	ld.global.f32 %f1, [%rd1+8];
	// 	fma.rn.ftz.f32 %f2, %f1, 0d4000000000000000, 0f3F800000;
	// 	st.global.f32 [%rd1+8], %f2;
	// 	ret;
	// }
}

func ExampleError_Detail() {
	_, err := ptx.Parse("bad.ptx", []byte(".version 9.0\n.target sm_90\n.entry k()\n{\n\tadd.s32 %r1, %r2 %r3;\n}\n"))
	var e *ptx.Error
	if errors.As(err, &e) {
		fmt.Println(e.Detail())
	}
	// Output:
	// bad.ptx:5:19: expected ',' or ';' after an operand of "add", found "%r3"
	// 	add.s32 %r1, %r2 %r3;
	// 	                 ^
}

func ExampleValidate() {
	m, err := ptx.Parse("odd.ptx", []byte(".version 9.0\n.target sm_90\n.entry k()\n{\n\tadd.s33 %r1, %r2, %r3;\n\tshl.b32 %r1, %r2;\n}\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range ptx.Validate(m) {
		fmt.Println(e)
	}
	// Output:
	// odd.ptx:5:2: add.s33: unknown modifier .s33; the nearest form is add.<type:@int> d, a, b
	// odd.ptx:6:2: operands of shl.b32 do not fit: the form is shl.<type:@bits> d, a, b:u32
}

func ExampleLookupForm() {
	f := ptx.LookupForm("mbarrier.arrive.expect_tx")
	sem, _ := f.Slot("sem")
	fmt.Println(f.Class, f.Barrier, f.Section, sem.Values, sem.Default)
	fmt.Println(f.Example())
	// Output:
	// mbarrier arrive.expect-tx 9.7.13.15.13 [release relaxed] release
	// mbarrier.arrive.expect_tx.b64 %rd1, [%rd2], %r3;
}
