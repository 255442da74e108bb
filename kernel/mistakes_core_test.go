package kernel_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"muster/kernel"
)

// A mistake is a wrong kernel with the whole text of Build's error, at the line
// whose comment names the test; other places in the text are compared as PLACE.
type mistake struct {
	name, want string
	body       func(k *kernel.Kernel)
}

func checkMistakes(t *testing.T, file string, tests []mistake) {
	place := regexp.MustCompile(`mistakes_\w+_test\.go:\d+`)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := mistakesOf(t, []kernel.Option{kernel.Block(128)}, test.body)
			at := file + ":" + strconv.Itoa(lineOf(t, file, "// here: "+test.name)) + ": "
			msg, ok := strings.CutPrefix(got, at)
			if msg = place.ReplaceAllString(msg, "PLACE"); !ok || msg != test.want {
				t.Errorf("got\n%s\nwant\n%s%s", got, at, test.want)
			}
		})
	}
}

// TestValueMistakes is about invalid operands, and operands of other kernels.
func TestValueMistakes(t *testing.T) {
	checkMistakes(t, "mistakes_core_test.go", []mistake{
		{"label of nothing", `the label is not from NewLabel`,
			func(k *kernel.Kernel) {
				k.Branch(new(kernel.Label)) // here: label of nothing
			}},
		{"nil label", `the label is not from NewLabel`,
			func(k *kernel.Kernel) {
				k.Place(nil) // here: nil label
			}},
		{"label of another kernel", `a label of another function is used here`,
			func(k *kernel.Kernel) {
				other := kernel.New("other").NewLabel()
				k.Branch(other) // here: label of another kernel
			}},
		{"placed label of another kernel", `a label of another function is used here`,
			func(k *kernel.Kernel) {
				other := kernel.New("other").NewLabel()
				k.Place(other) // here: placed label of another kernel
			}},
		{"address of another kernel", `an address of kernel other is used in kernel bad`,
			func(k *kernel.Kernel) {
				other := kernel.New("other").Shared("s", kernel.U32, 4)
				k.Inst("st.shared.u32", other, 1) // here: address of another kernel
			}},
		{"pointer of another kernel", `a register of kernel other is used in kernel bad`,
			func(k *kernel.Kernel) {
				other := kernel.New("other").Const(kernel.U64, 0)
				k.Pointer(kernel.Global, kernel.U32, other).Load() // here: pointer of another kernel
			}},
		{"argument of another kernel", `a register of kernel other is used in kernel bad`,
			func(k *kernel.Kernel) {
				f := k.Func("f", nil, []kernel.Type{kernel.U32}, func(kernel.Vec) kernel.Vec { return nil })
				other := kernel.New("other").Const(kernel.U32, 0)
				f.Call(other) // here: argument of another kernel
			}},
		{"result of nothing", `Func("f"): result 0 is the zero Reg, which is no register`,
			func(k *kernel.Kernel) {
				k.Func("f", []kernel.Type{kernel.U32}, nil, func(kernel.Vec) kernel.Vec { return make(kernel.Vec, 1) }) // here: result of nothing
			}},
		{"parameter of no type", `Func("f"): "u128" is no type of a parameter or a result`,
			func(k *kernel.Kernel) {
				k.Func("f", nil, []kernel.Type{"u128"}, func(kernel.Vec) kernel.Vec { return nil }) // here: parameter of no type
			}},
		{"pack of one too few", `Pack of 1 registers, 32 bits together, into one of type b64: it takes two or more that fill it`,
			func(k *kernel.Kernel) {
				k.Pack(kernel.B64, k.TidX()) // here: pack of one too few
			}},
		{"unpack of none", `Unpack of a register of type u32 into -1 of type b16: the widths differ`,
			func(k *kernel.Kernel) {
				k.TidX().Unpack(kernel.B16, -1) // here: unpack of none
			}},
		{"special register that is none", `Special("%tidx"): there is no such register; they are written as in PTX, %tid.x`,
			func(k *kernel.Kernel) {
				k.Special("%tidx", kernel.U32) // here: special register that is none
			}},
		{"special register without a part", `Special("%tid"): there is no such register; they are written as in PTX, %tid.x`,
			func(k *kernel.Kernel) {
				k.Special("%tid", kernel.U32) // here: special register without a part
			}},
		{"special register of 64 bits", `Special("%clock64") has type u64; want u32: convert it with Cvt`,
			func(k *kernel.Kernel) {
				k.Special("%clock64", kernel.U32) // here: special register of 64 bits
			}},
		{"special predicate", `Special("%is_explicit_cluster") has type pred; want u32: make it a number with Select`,
			func(k *kernel.Kernel) {
				k.Special("%is_explicit_cluster", kernel.U32) // here: special predicate
			}},
		{"number too large for f32", `add.rn.f32: operand b: 1e+40 is too large for type f32`,
			func(k *kernel.Kernel) {
				k.Const(kernel.F32, 1).Add(1e40) // here: number too large for f32
			}},
	})
}

// TestBodyMistakes is about bodies that are nil or not closed.
func TestBodyMistakes(t *testing.T) {
	const isNil = `: the body is nil; it is a function that writes what the kernel does there`
	checkMistakes(t, "mistakes_core_test.go", []mistake{
		{"nil If", `If` + isNil, func(k *kernel.Kernel) {
			k.If(k.TidX().Eq(0), nil) // here: nil If
		}},
		{"nil else", `IfElse` + isNil, func(k *kernel.Kernel) {
			k.IfElse(k.TidX().Eq(0), func() {}, nil) // here: nil else
		}},
		{"nil Guard", `Guard` + isNil, func(k *kernel.Kernel) {
			k.Guard(k.TidX().Eq(0), nil) // here: nil Guard
		}},
		{"nil For", `For` + isNil, func(k *kernel.Kernel) {
			k.For(0, 4, 1, nil) // here: nil For
		}},
		{"nil While", `While` + isNil, func(k *kernel.Kernel) {
			k.While(nil, func() {}) // here: nil While
		}},
		{"nil Loop", `Loop` + isNil, func(k *kernel.Kernel) {
			k.Loop(nil) // here: nil Loop
		}},
		{"nil Unroll", `Unroll` + isNil, func(k *kernel.Kernel) {
			k.Unroll(4, nil) // here: nil Unroll
		}},
		{"nil Func", `Func` + isNil, func(k *kernel.Kernel) {
			k.Func("f", nil, nil, nil) // here: nil Func
		}},
		{"nil group", `SingleThread` + isNil, func(k *kernel.Kernel) {
			k.SingleThread(nil) // here: nil group
		}},
		{"nil Warps", `Warps(0, 4)` + isNil, func(k *kernel.Kernel) {
			k.Warps(0, 4, nil) // here: nil Warps
		}},
		{"nil EachWarp", `EachWarp` + isNil, func(k *kernel.Kernel) {
			k.EachWarp(nil) // here: nil EachWarp
		}},
		{"nil Elect", `Elect` + isNil, func(k *kernel.Kernel) {
			k.SingleWarp(0, func() {
				k.Elect(nil) // here: nil Elect
			})
		}},
		{"unrolled too often", `Unroll(1099511627776): it makes the body 0 to 262144 times; For makes a loop of the kernel`, func(k *kernel.Kernel) {
			k.Unroll(1<<40, func(int) {}) // here: unrolled too often
		}},
		{"unrolled less than never", `Unroll(-1): it makes the body 0 to 262144 times; For makes a loop of the kernel`, func(k *kernel.Kernel) {
			k.Unroll(-1, func(int) {}) // here: unrolled less than never
		}},
		{"built in a group", `Build is called inside of a group, thread 0`, func(k *kernel.Kernel) {
			k.SingleThread(func() {
				k.Build() // here: built in a group
			})
		}},
		{"built in an If", `the If is not closed: Build is called inside of its body`, func(k *kernel.Kernel) {
			k.If(k.TidX().Eq(0), func() { // here: built in an If
				k.Build()
			})
		}},
		{"built in an else", `the IfElse is not closed: Build is called inside of its body`, func(k *kernel.Kernel) {
			k.IfElse(k.TidX().Eq(0), func() {}, func() { // here: built in an else
				k.Build()
			})
		}},
		{"built in a guard", `Build is called inside of Guard`, func(k *kernel.Kernel) {
			k.Guard(k.TidX().Eq(0), func() {
				k.Build() // here: built in a guard
			})
		}},
	})
}

// TestElementMistakes is about an array's address in place of an element's.
func TestElementMistakes(t *testing.T) {
	const one, two = " at s, which has 1 dimensions left: say which element with At", " at s, which has 2 dimensions left: say which element with At"
	checkMistakes(t, "mistakes_core_test.go", []mistake{
		{"load of an array", "Load" + two, func(k *kernel.Kernel) {
			k.Shared("s", kernel.F32, 4, 4).Load() // here: load of an array
		}},
		{"store to a row", "Store" + one, func(k *kernel.Kernel) {
			k.Shared("s", kernel.F32, 4, 4).At(1).Store(1) // here: store to a row
		}},
		{"atomic of an array", "Red" + one, func(k *kernel.Kernel) {
			k.Shared("s", kernel.U32, 4).Red(kernel.Add, 1) // here: atomic of an array
		}},
		{"exchange in an array", "CAS" + one, func(k *kernel.Kernel) {
			k.Shared("s", kernel.U32, 4).CAS(0, 1) // here: exchange in an array
		}},
	})
	k := kernel.New("right", kernel.Block(32))
	s := k.Shared("s", kernel.F32, 4, 4)
	k.Shared("one", kernel.F32, 1).Store(1)
	s.At(1).StoreVec(s.At(0).LoadVec(4))
	s.At(2).Cast(kernel.U32).Load()
	s.Bytes(20).Load()
	s.At(1, 2).Store(s.At(3, 3).Load())
	if _, err := k.Build(); err != nil {
		t.Error(err)
	}
}

// TestNumberMistakes is about numbers that an operation cannot take.
func TestNumberMistakes(t *testing.T) {
	large := "it would be taken for a large unsigned number; give the register a signed type, with As"
	checkMistakes(t, "mistakes_core_test.go", []mistake{
		{"below zero", "setp.lt of u32 with -1: " + large, func(k *kernel.Kernel) {
			k.TidX().Lt(-1) // here: below zero
		}},
		{"at most a negative", "min of b64 with -3: " + large, func(k *kernel.Kernel) {
			k.Const(kernel.B64, 7).Min(-3) // here: at most a negative
		}},
		{"half backwards", "div of u32 with -2: " + large, func(k *kernel.Kernel) {
			k.TidX().Div(-2) // here: half backwards
		}},
		{"wide and negative", "mul.wide of u32 with -2: " + large, func(k *kernel.Kernel) {
			k.TidX().MulWide(-2) // here: wide and negative
		}},
		{"by zero", "rem of s32 by 0, which PTX leaves undefined", func(k *kernel.Kernel) {
			k.Const(kernel.S32, 7).Rem(0) // here: by zero
		}},
		{"one mistake many times", "BulkWait(-1): it is the number of groups that may be left, 0 or more", func(k *kernel.Kernel) {
			for range 20 {
				k.BulkWait(-1) // here: one mistake many times
			}
		}},
	})
	k := kernel.New("right", kernel.Block(32))
	x, s := k.TidX(), k.TidX().As(kernel.S32)
	x.Add(-1).Mul(-3).And(-8).Eq(-1)
	x.Mad(-1, -1).Sub(-1).Min(0)
	s.Lt(-1)
	s.Div(-2)
	k.Const(kernel.F32, 1).Div(0)
	k.Const(kernel.F32, 1).Max(-1)
	if _, err := k.Build(); err != nil {
		t.Error(err)
	}
}

// TestCountMistakes is about counts that are too large or negative.
func TestCountMistakes(t *testing.T) {
	checkMistakes(t, "mistakes_core_test.go", []mistake{
		{"registers beyond number", `Vars of 1099511627776 registers; they are 0 to 262144`, func(k *kernel.Kernel) {
			k.Vars(kernel.U32, 1<<40) // here: registers beyond number
		}},
		{"fewer registers than none", `Vars of -1 registers; they are 0 to 262144`, func(k *kernel.Kernel) {
			k.Vars(kernel.U32, -1) // here: fewer registers than none
		}},
		{"barriers beyond number", `Mbarriers("full"): an array of 1099511627776 barriers; shared memory has room for 29056`, func(k *kernel.Kernel) {
			k.Mbarriers("full", 1<<40, 1) // here: barriers beyond number
			k.InitMbarriers()
		}},
		{"stages of a pipeline beyond number", `Pipeline("ring"): 1099511627776 stages; shared memory has room for the barriers of 14528`, func(k *kernel.Kernel) {
			k.Pipeline("ring", 1<<40, 1, 1) // here: stages of a pipeline beyond number
			k.InitMbarriers()
		}},
		{"stages of a ring beyond number", `Stages(2147483648): a ring has fewer than 2^31 stages`, func(k *kernel.Kernel) {
			k.Stages(1<<31, kernel.ProducerParity) // here: stages of a ring beyond number
		}},
		{"warps beyond number", `Warps(1, 288230376151711744) is outside of the current group, which has 128 threads`, func(k *kernel.Kernel) {
			k.Warps(1, 1<<58, func() {}) // here: warps beyond number
		}},
		{"threads beyond number", `Threads(4611686018427387904, 4611686018427387904) is outside of the current group, which has 128 threads`, func(k *kernel.Kernel) {
			k.Threads(1<<62, 1<<62, func() {}) // here: threads beyond number
		}},
		{"warpgroups beyond number", `Warpgroup(144115188075855872) is outside of the current group, which has 128 threads`, func(k *kernel.Kernel) {
			k.Warpgroup(1<<57, func() {}) // here: warpgroups beyond number
		}},
		{"warp before the first", `SingleWarp(-576460752303423488): a group has at least one thread, and begins at 0 or later`, func(k *kernel.Kernel) {
			k.SingleWarp(-1<<59, func() {}) // here: warp before the first
		}},
		{"rows of an accumulator beyond number", `Accumulator of 4611686018427387904 rows: a warpgroup has registers for 7936`, func(k *kernel.Kernel) {
			k.Accumulator(kernel.F32, 1<<62, 8) // here: rows of an accumulator beyond number
		}},
		{"rows of a fragment beyond number", `Fragment of 1099511627776 × 64 f16 has 274877906944 registers, and 0 are given`, func(k *kernel.Kernel) {
			k.Fragment(kernel.F16, 1<<40, 64, nil) // here: rows of a fragment beyond number
		}},
		{"vector of fewer than none", `LoadVec of -1 elements; it reads 2, 4 or 8`, func(k *kernel.Kernel) {
			k.GlobalPtr("p", kernel.U32).LoadVec(-1) // here: vector of fewer than none
		}},
		{"vector of three", `StoreVec of 3 elements; it writes 2, 4 or 8`, func(k *kernel.Kernel) {
			k.GlobalPtr("p", kernel.U32).StoreVec(k.Vars(kernel.U32, 3)) // here: vector of three
		}},
		{"matrices of fewer than none", `LoadMatrix of -1 matrices; there are 1, 2 and 4`, func(k *kernel.Kernel) {
			k.Shared("s", kernel.F16, 512).LoadMatrix(-1) // here: matrices of fewer than none
		}},
		{"shared memory beyond number", `Shared("s"): dimensions [4611686018427387904]; each is at least 1, and a CTA has 227 KiB`, func(k *kernel.Kernel) {
			k.Shared("s", kernel.U32, 1<<62) // here: shared memory beyond number
		}},
		{"array beyond number", `"a": an array of 2305843009213693952 elements of type "u64" with 0 values`, func(k *kernel.Kernel) {
			k.GlobalArray("a", kernel.U64, 1<<61) // here: array beyond number
		}},
	})
}

// TestOptionMistakes is about invalid options of a kernel.
func TestOptionMistakes(t *testing.T) {
	for _, test := range []struct {
		opt  kernel.Option
		want string
	}{
		{kernel.Block(1<<32, 1<<32), "Block(4294967296, 4294967296, 1): a CTA has 1,024 threads at most, and 64 in z"},
		{kernel.Block(1, 1, 65), "Block(1, 1, 65): a CTA has 1,024 threads at most, and 64 in z"},
		{kernel.Clusters(1<<32, 1<<32), "Clusters(4294967296, 4294967296, 1): a cluster has 16 CTAs at most, and 8 where it must be portable"},
		{kernel.MinCTAs(0), "MinCTAs(0): an SM has room for 1 to 32 CTAs"},
		{kernel.Version(8, -1), "Version(8, -1): no version of PTX; one is written as 8, 0"},
	} {
		k := kernel.New("bad", test.opt, nil) // here: options
		want := "mistakes_core_test.go:" + strconv.Itoa(lineOf(t, "mistakes_core_test.go", "// here: options")) + ": " + test.want
		if _, err := k.Build(); err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
	}
}

// TestAfterBuild: a kernel is built once, and later additions are reported.
func TestAfterBuild(t *testing.T) {
	for _, add := range []func(k *kernel.Kernel){
		func(k *kernel.Kernel) { k.TidX() },
		func(k *kernel.Kernel) { k.NewLabel() },
		func(k *kernel.Kernel) { k.Shared("s", kernel.U32, 4) },
		func(k *kernel.Kernel) { k.Param("p", kernel.U32) },
		func(k *kernel.Kernel) { k.Func("f", nil, nil, func(kernel.Vec) kernel.Vec { return nil }) },
		func(k *kernel.Kernel) { k.PTX("{ membar.cta; }", nil) },
	} {
		k := kernel.New("k", kernel.Block(32))
		l := k.NewLabel()
		k.Place(l)
		first, err := k.Build()
		if again, err2 := k.Build(); err != nil || err2 != nil || again != first {
			t.Fatalf("built twice: %v, %v, %v", err, err2, again == first)
		}
		place := regexp.MustCompile(`mistakes_core_test\.go:\d+: `)
		add(k)
		_, err = k.Build()
		if err == nil || place.ReplaceAllString(err.Error(), "") != "Build has ended the kernel: nothing can be added" {
			t.Errorf("%v", err)
		}
	}
}

// TestMistakesAreBuiltOnce: a mistake of the whole kernel is reported once.
func TestMistakesAreBuiltOnce(t *testing.T) {
	k := kernel.New("k", kernel.Block(32))
	k.Mbarrier("bar", 1)
	_, err := k.Build()
	if _, again := k.Build(); err == nil || again == nil || again.Error() != err.Error() {
		t.Errorf("%v, and again %v", err, again)
	}
}

// TestEndlessGoLoop: a loop in Go that adds too much is a mistake at its line,
// and one that never ends panics with a message.
func TestEndlessGoLoop(t *testing.T) {
	for _, test := range []struct {
		name, want string
		loop       func(k *kernel.Kernel)
	}{
		{"labels", "the kernel has more than 262144 instructions, labels and variables", func(k *kernel.Kernel) {
			for {
				k.NewLabel() // here: endless labels
			}
		}},
		{"variables", "the kernel has more than 262144 instructions, labels and variables", func(k *kernel.Kernel) {
			for i := 0; ; i++ {
				k.Shared("s"+strconv.Itoa(i), kernel.U32) // here: endless variables
			}
		}},
		{"registers", "the kernel has more than 262144 registers", func(k *kernel.Kernel) {
			for {
				k.Var(kernel.U32) // here: endless registers
			}
		}},
		{"mistakes", "the kernel has 10000 mistakes; no more are kept", func(k *kernel.Kernel) {
			for {
				k.Break() // here: endless mistakes
			}
		}},
	} {
		k := kernel.New("k", kernel.Block(32))
		k.Func("f", nil, nil, func(kernel.Vec) kernel.Vec {
			defer func() {
				at := "mistakes_core_test.go:" + strconv.Itoa(lineOf(t, "mistakes_core_test.go", "// here: endless "+test.name)) + ": "
				want := "kernel: a loop of Go does not end, at " + at + at + test.want
				if got := recover(); got != want {
					t.Errorf("got\n%v\nwant\n%s", got, want)
				}
				errs, _ := k.Err().(kernel.Errors)
				if len(errs) == 0 || errs[len(errs)-1].Error() != at+test.want {
					t.Errorf("%s: %v", test.name, errs)
				}
			}()
			test.loop(k)
			return nil
		})
		if _, err := k.Build(); err == nil {
			t.Errorf("%s: the kernel is built", test.name)
		}
	}
}

// TestTooManyMistakes: only a limited number of mistakes is recorded.
func TestTooManyMistakes(t *testing.T) {
	k := kernel.New("k", kernel.Block(32))
	for range 20_000 {
		k.Break()
	}
	errs, _ := k.Err().(kernel.Errors)
	if len(errs) != 10_001 || errs[10_000].Msg != "the kernel has 10000 mistakes; no more are kept" {
		t.Errorf("%d mistakes are kept", len(errs))
	}
}

// TestZeroFunc: a zero Func panics: it has no kernel to record a mistake.
func TestZeroFunc(t *testing.T) {
	defer func() {
		want := "kernel: the zero Func is no function: it comes from Kernel.Func, which returns when the function is written, so that it cannot call itself"
		if got := recover(); got != want {
			t.Errorf("%v", got)
		}
	}()
	var f *kernel.Func
	f.Call()
}

// TestPlaceInAPanic: after a body has panicked, later instructions do not go
// into its function or loop.
func TestPlaceInAPanic(t *testing.T) {
	k := kernel.New("k", kernel.Block(32))
	for _, in := range []func(body func()){
		k.Loop,
		func(body func()) { k.For(0, 1, 1, func(kernel.Reg) { body() }) },
		func(body func()) { k.Func("f", nil, nil, func(kernel.Vec) kernel.Vec { body(); return nil }) },
	} {
		func() {
			defer func() { _ = recover() }()
			in(func() { panic("stop") })
		}()
	}
	if _, err := k.Build(); err != nil {
		t.Error(err)
	}
}

// TestNameMistakes is about names that are taken or reserved.
func TestNameMistakes(t *testing.T) {
	const own = `: the kernel has such a name itself, or PTX does`
	checkMistakes(t, "mistakes_core_test.go", []mistake{
		{"shared variable twice", `shared variable "s": the name is taken since PLACE`, func(k *kernel.Kernel) {
			k.Shared("s", kernel.U32, 4)
			k.Shared("s", kernel.U32, 4) // here: shared variable twice
		}},
		{"parameter of a shared variable's name", `parameter "s": the name is taken since PLACE`, func(k *kernel.Kernel) {
			k.Shared("s", kernel.U32, 4)
			k.Param("s", kernel.U32) // here: parameter of a shared variable's name
		}},
		{"function of the kernel's name", `function "bad": the name is taken since PLACE`, func(k *kernel.Kernel) {
			k.Func("bad", nil, nil, func(kernel.Vec) kernel.Vec { return nil }) // here: function of the kernel's name
		}},
		{"map of a pointer's name", `parameter "m": the name is taken since PLACE`, func(k *kernel.Kernel) {
			k.GlobalPtr("m", kernel.U32)
			k.TensorMap("m") // here: map of a pointer's name
		}},
		{"array of a parameter's name", `variable "n": the name is taken since PLACE`, func(k *kernel.Kernel) {
			k.Param("n", kernel.U32)
			k.ConstArray("n", kernel.U32, 1) // here: array of a parameter's name
		}},
		{"name of a label", `shared variable "$end12"` + own, func(k *kernel.Kernel) {
			k.Shared("$end12", kernel.U32, 4) // here: name of a label
		}},
		{"name of dynamic memory", `shared variable "dynamic_shared"` + own, func(k *kernel.Kernel) {
			k.Shared("dynamic_shared", kernel.U32, 4) // here: name of dynamic memory
		}},
		{"name of a constant", `parameter "WARP_SZ"` + own, func(k *kernel.Kernel) {
			k.Param("WARP_SZ", kernel.U32) // here: name of a constant
		}},
		{"name of a special register", `parameter "%tid": a name has letters, digits, _ and $, and does not begin with a digit`, func(k *kernel.Kernel) {
			k.Param("%tid", kernel.U32) // here: name of a special register
		}},
		{"no name", `shared variable "": a name has letters, digits, _ and $, and does not begin with a digit`, func(k *kernel.Kernel) {
			k.Shared("", kernel.U32, 4) // here: no name
		}},
	})
}

// TestNamesOfOperations: the names of operations' own variables avoid the
// program's names.
func TestNamesOfOperations(t *testing.T) {
	k := kernel.New("k", kernel.Block(128))
	for _, name := range []string{"f_arg0", "f_result0", "call1_arg0", "call1_result0"} {
		k.Shared(name, kernel.U32, 1).At(0).Store(0)
	}
	f := k.Func("f", []kernel.Type{kernel.U32}, []kernel.Type{kernel.U32}, func(args kernel.Vec) kernel.Vec { return args })
	f.Call(k.CTAReduce(kernel.Add, f.Call(1)[0]))
	m, err := k.Build()
	if err != nil {
		t.Fatal(err)
	}
	params := regexp.MustCompile(`\.param \.b32 (f_arg0|f_result0|call1_arg0|call1_result0)\b`)
	if got := params.FindAllString(m.String(), -1); got != nil {
		t.Errorf("the function and its calls have %q, as shared variables are called", got)
	}
}
