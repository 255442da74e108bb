package muster_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

var anyLong = flag.Bool("any.long", false, "TestAnyExamples: the long kernels, and them alone")

// anyOf proves a launch for every value of an argument.
func anyOf(t testing.TB, l *muster.Launch, argument int) (*muster.Report, *report.AnyCount) {
	t.Helper()
	r, err := l.CheckAny(context.Background(), muster.CheckOptions{Schedules: muster.Handful(0)[:1]}, argument)
	if err != nil {
		t.Fatal(err)
	}
	if r.Proof == nil || r.Proof.Any == nil {
		t.Fatalf("no proof of the launch itself: %s %+v", r.Summary, r.Proof)
	}
	return r, r.Proof.Any
}

// Four stages: the bound is three times as much.
func TestAnyRing(t *testing.T) {
	r, a := anyOf(t, loadYAML(t, "examples/ring/ring.yaml", nil, nil), 3)
	if !a.Holds || a.From > 12 || a.Smaller != int(a.From) || len(a.Unproven) > 0 || a.Period != 4 {
		t.Errorf("%+v", a)
	}
	if a.UpTo < 1<<22 || a.Limit == nil {
		t.Errorf("up to %d, %+v", a.UpTo, a.Limit)
	}
	if len(a.Growth) != 1 || a.Growth[0].Buffer != "in" || a.Growth[0].Bytes != 1024 {
		t.Errorf("growth %+v", a.Growth)
	}
	if !strings.Contains(r.Summary, "for every ring_param_2 (argument 3) of at least 12 (each of 0 to 11 checked by itself) up to 8,388,605, while with each 1 grows in by 1,024 bytes") {
		t.Error(r.Summary)
	}
}

// Kernels by nvcc, which unrolls, and Triton; rings, named barriers, groups.
func TestAnyExamples(t *testing.T) {
	for _, x := range []struct {
		name     string
		argument int
		from     int64
		step     int64
		values   []int64 // to hold what is predicted against
		long     bool
		unproven int // smaller values
	}{
		{"ring/ring", 3, 12, 1, []int64{50, 97, 256}, false, 0},
		{"named_barrier/named_barrier", 3, 16, 1, []int64{50, 97, 256}, false, 0},
		{"same_thread/same_thread", 3, 8, 1, []int64{50, 97, 256}, false, 0},
		{"bulk_store/bulk_store", 3, 20, 1, []int64{50, 97, 256}, false, 0},
		{"ldgsts/ldgsts", 3, 20, 1, []int64{50, 97}, true, 0},
		{"triton_matmul_tma/triton_matmul_tma", 16, 1024, 64, []int64{50 * 64, 97 * 64}, true, 0},
		{"gluon_matmul_pipelined/gluon_matmul_pipelined", 16, 1344, 64, []int64{50 * 64}, true, 2},
		{"gemm_rs/gemm_rs", 5, 1024, 64, []int64{50 * 64, 97 * 64}, true, 0},
		{"gemm_ws_multicast/gemm_ws_multicast", 5, 768, 64, []int64{50 * 64}, true, 0},
		{"blackwell/gemm_1cta_grid", 6, 832, 64, []int64{50 * 64}, true, 1},
		{"blackwell/gemm_2cta_grid", 6, 832, 64, []int64{50 * 64}, true, 1},
		{"blackwell/gemm_1cta", 4, 768, 128, []int64{32 * 128}, true, 0},
		{"blackwell/gemm_2cta", 4, 1024, 128, []int64{32 * 128}, true, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if x.long != *anyLong {
				t.Skip("runs with the other setting of -any.long")
			}
			_, a := anyOf(t, loadYAML(t, "examples/"+x.name+".yaml", nil, nil), x.argument)
			if !a.Holds || a.From > x.from || a.Step != x.step || len(a.Unproven) != x.unproven {
				t.Fatalf("%+v", a)
			}
			t.Logf("from %d by %d, period %d, up to %d, growth %+v", a.From, a.Step, a.Period, a.UpTo, a.Growth)
			if err := muster.Extrapolate(loadYAML(t, "examples/"+x.name+".yaml", nil, nil), x.argument, x.values...); err != nil {
				t.Error(err)
			}
		})
	}
}

// edits replaces texts that must be there.
func edits(t testing.TB, pairs ...string) func(string) string {
	return func(src string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(src, pairs[i]) {
				t.Fatalf("nothing reads %q", pairs[i])
			}
			src = strings.Replace(src, pairs[i], pairs[i+1], 1)
		}
		return src
	}
}

// ringTwins are the ring, broken where the tile number is larger than any of the
// launch's: each is proven as it is given, and for no other number.
var ringTwins = []struct {
	name    string
	pairs   []string
	because string // part of the reason
	at      string // the line that it names
}{
	{"a wait that is left out once", []string{
		"\n$L__BB0_6:\n", "\n\tsetp.eq.s32 %p20, %r69, 137;\n\t@%p20 bra SKIP;\n$L__BB0_6:\n",
		"@%p4 bra \t$L__BB0_6;\n", "@%p4 bra \t$L__BB0_6;\nSKIP:\n",
	}, "whether what grows is 137", "@%p20 bra SKIP"},
	{"a stage that is another from 256 on", []string{
		"and.b32  \t%r4, %r69, 3;", "shr.u32 %r80, %r69, 8;\n\tadd.s32 %r80, %r80, %r69;\n\tand.b32 %r4, %r80, 3;",
	}, "an address of the ld.shared.f32 depends on shr.u32 of what changes", "ld.shared.f32"},
	{"a parity that is another from 128 on", []string{
		"and.b32  \t%r3, %r31, 1;", "setp.gt.s32 %p20, %r69, 127;\n\tselp.b32 %r81, 1, 0, %p20;\n\txor.b32 %r3, %r31, %r81;\n\tand.b32 %r3, %r3, 1;",
	}, "an operand of the mbarrier.try_wait.parity.shared::cta.b64 depends on whether what grows is below 127", "mbarrier.try_wait"},
	{"a credit that is a byte short once", []string{
		"[%r63], %r62; // 8.", "[%r63], %r85; // 8.",
		"mov.u32 \t%r62, 1024;", "mov.u32 \t%r62, 1024;\n\tsetp.eq.s32 %p20, %r70, 141;\n\tselp.b32 %r85, 1023, 1024, %p20;",
	}, "an operand of the mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 depends on whether what grows is 141", "mbarrier.arrive.expect_tx"},
	{"a tile number that starts anew at 1004", []string{
		"shr.u32 \t%r31, %r69, 2;", "rem.u32 %r82, %r69, 1004;\n\tshr.u32 %r31, %r82, 2;",
	}, "an operand of the mbarrier.try_wait.parity.shared::cta.b64 depends on rem.u32 of what changes", "mbarrier.try_wait"},
	{"a tile number that starts anew at 100", []string{
		"shr.u32 \t%r31, %r69, 2;", "rem.u32 %r82, %r69, 100;\n\tshr.u32 %r31, %r82, 2;",
	}, "with ring_param_2 = 128 the launch hangs", "mbarrier.try_wait"},
	{"a producer that ends after 200", []string{
		"ld.param.u32 \t%r12, [ring_param_2];", "ld.param.u32 \t%r12, [ring_param_2];\n\tmin.s32 %r83, %r12, 200;",
		"setp.lt.s32 \t%p11, %r70, %r12;", "setp.lt.s32 \t%p11, %r70, %r83;",
	}, "the branch is executed or not by min.s32 of what changes", "bra"},
	{"a release by what was read", []string{
		"@%p5 bra \t$L__BB0_9;", "setp.eq.f32 %p20, %f6, 0f47C35000;\n\tor.pred %p5, %p5, %p20;\n\t@%p5 bra \t$L__BB0_9;",
	}, "the branch is executed or not by a value that is loaded", "@%p5 bra"},
	{"a slot that moves on", []string{
		"shl.b32 \t%r39, %r4, 10;", "shl.b32 \t%r39, %r4, 10;\n\tmul.hi.u32 %r84, %r69, 10000000;\n\tadd.s32 %r39, %r39, %r84;",
	}, "an address of the ld.shared.f32 depends on mul.hi.u32 of what changes", "ld.shared.f32"},
	{"a counter of 16 bits that overflows", []string{
		"shr.u32 \t%r31, %r69, 2;", "cvt.u16.u32 %rs1, %r69;\n\tmul.lo.u16 %rs1, %rs1, 257;\n\tcvt.u32.u16 %r82, %rs1;\n\tshr.u32 %r82, %r82, 15;\n\tshr.u32 %r31, %r69, 2;\n\tadd.s32 %r31, %r31, %r82;",
	}, "an operand of the mbarrier.try_wait.parity.shared::cta.b64 depends on", "mbarrier.try_wait"},
}

// The ring, its tile number taken apart in other ways that are right.
func TestAnyRight(t *testing.T) {
	for _, x := range []struct {
		name  string
		pairs []string
	}{
		{"rem and div", []string{
			"and.b32  \t%r4, %r69, 3;", "rem.u32 %r4, %r69, 4;",
			"shr.u32 \t%r31, %r69, 2;", "div.s32 %r31, %r69, 4;",
		}},
		{"a reciprocal", []string{
			"shr.u32 \t%r31, %r69, 2;", "mul.hi.u32 %r31, %r69, 0x40000001;",
		}},
		{"a counter that is set back", []string{
			"mov.u32 \t%r69, 0;", "mov.u32 %r69, 0;\n\tmov.u32 %r80, 0;\n\tmov.u32 %r81, 0;",
			"and.b32  \t%r4, %r69, 3;", "mov.b32 %r4, %r80;",
			"and.b32  \t%r3, %r31, 1;", "mov.b32 %r3, %r81;",
			"add.s32 \t%r69, %r69, 1;", "add.s32 %r69, %r69, 1;\n\tadd.s32 %r80, %r80, 1;\n\tsetp.eq.s32 %p20, %r80, 4;\n\t@%p20 xor.b32 %r81, %r81, 1;\n\tselp.b32 %r80, 0, %r80, %p20;",
		}},
		{"turns that are counted down", []string{
			"mov.u32 \t%r69, 0;", "mov.u32 %r69, 0;\n\tmov.b32 %r80, %r12;",
			"setp.lt.s32 \t%p6, %r69, %r12;", "add.s32 %r80, %r80, -1;\n\tsetp.ne.s32 %p6, %r80, 0;",
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, a := anyOf(t, loadYAML(t, "examples/ring/ring.yaml", edits(t, append(append([]string{}, ringRegisters...), x.pairs...)...), nil), 3)
			if !a.Holds || a.From > 20 || len(a.Unproven) > 0 {
				t.Errorf("%+v", a)
			}
		})
	}
}

// ringRegisters declares what twins need.
var ringRegisters = []string{".reg .pred \t%p<12>;", ".reg .pred \t%p<30>;\n\t.reg .b16 %rs<4>;", ".reg .b32 \t%r<71>;", ".reg .b32 \t%r<90>;"}

func TestAnyBrokenLater(t *testing.T) {
	for _, x := range ringTwins {
		t.Run(x.name, func(t *testing.T) {
			src := ""
			l := loadYAML(t, "examples/ring/ring.yaml", func(s string) string {
				src = edits(t, append(append([]string{}, ringRegisters...), x.pairs...)...)(s)
				return src
			}, nil)
			r, a := anyOf(t, l, 3)
			if !r.Proof.All || a.Holds || len(a.Reasons) == 0 {
				t.Fatalf("%s: %+v", r.Summary, a)
			}
			why := a.Reasons[0]
			if !strings.Contains(why.Text, x.because) || why.Place == nil {
				t.Fatalf("%q does not say %q", why.Text, x.because)
			}
			if line := strings.Split(src, "\n")[why.Place.Line-1]; !strings.Contains(line, x.at) {
				t.Errorf("line %d is %q", why.Place.Line, line)
			}
		})
	}
}

// A wait past the loop must ask for another parity where the loop is four turns
// longer: a constant one is right for a few numbers of turns, those of all launches
// that are looked at first among them.
func TestAnyParity(t *testing.T) {
	wait := func(label, parity, only string) []string {
		return []string{"$L__BB0_" + label + ":\n", "$L__BB0_" + label + ":\n\tbar.sync 1, " + map[string]string{"10": "128", "16": "160"}[label] + ";\n\tsetp.lt.s32 %p20, %r12, 4;\n\t@%p20 bra SKIP;\n" + only + "\tmov.u32 %r82, _ZZ4ringE4full;\n" +
			"\tshr.u32 %r81, %r12, 2;\n\tadd.s32 %r81, %r81, -1;\n\tand.b32 %r81, %r81, 1;\n\tmov.b32 %r83, 0;\n" +
			"AGAIN:\n\tmbarrier.try_wait.parity.shared::cta.b64 %p21, [%r82+24], " + parity + ";\n\t@!%p21 bra AGAIN;\nSKIP:\n"}
	}
	turns := func(f *launch.File) { f.Launches[0].Args[2].Bits = 60 }
	for _, x := range []struct {
		label, parity, only string
		holds               bool
	}{
		{"10", "%r81", "", true},  // past the consumers' loop
		{"10", "%r83", "", false}, // right for 12 to 15, and 60
		{"10", "0", "", false},
		{"16", "0", "", false},
		{"16", "0", "\tsetp.ne.s32 %p22, %r1, 5;\n\t@%p22 bra SKIP;\n", false}, // a lane that does not loop
	} {
		src := ""
		l := loadYAML(t, "examples/ring/ring.yaml", func(s string) string {
			src = edits(t, append(append([]string{}, ringRegisters...), wait(x.label, x.parity, x.only)...)...)(s)
			return src
		}, turns)
		r, a := anyOf(t, l, 3)
		if !r.Proof.All || a.Holds != x.holds {
			t.Errorf("%s, %s: %s: %+v", x.label, x.parity, r.Summary, a)
		}
		if x.holds {
			if a.Period != 4 || len(a.Unproven) > 0 {
				t.Errorf("%s, %s: %+v", x.label, x.parity, a)
			}
			continue
		}
		why := a.Reasons[0]
		if !strings.Contains(why.Text, "the launch hangs") || why.Place == nil {
			t.Errorf("%s, %s: %+v", x.label, x.parity, a.Reasons)
		} else if line := strings.Split(src, "\n")[why.Place.Line-1]; !strings.Contains(line, "mbarrier.try_wait") {
			t.Errorf("line %d is %q", why.Place.Line, line)
		}
	}
}

// A store that moves, and one that stays: they meet once the loop is long enough.
func TestAnyGlobal(t *testing.T) {
	moving := []string{
		".reg .b64 \t%rd<11>;", ".reg .b64 \t%rd<20>;",
		"\tbar.warp.sync \t-1;\n", "\tbar.warp.sync \t-1;\n\tadd.s32 %r80, %r1, -32;\n\tmad.lo.s32 %r80, %r69, 128, %r80;\n\tmul.wide.s32 %rd12, %r80, 4;\n\tcvta.to.global.u64 %rd13, %rd3;\n\tadd.s64 %rd13, %rd13, %rd12;\n\tst.global.f32 [%rd13], %f10;\n",
	}
	last := func(turn string) []string {
		return []string{"add.s32 \t%r48, %r1, -32;", "xor.b32 %r81, %r1, 1;\n\tmad.lo.s32 %r48, " + turn + ", 128, %r81;\n\tadd.s32 %r48, %r48, -32;"}
	}
	grow := func(f *launch.File) {
		f.Buffers[1].Shape = []int64{1 << 15} // out
		f.Buffers[1].Fill = launch.Fill{Kind: launch.FillZeros}
	}
	for _, x := range []struct {
		turn    string
		because string
	}{
		{"%r12", ""},
		{"200", "what is accessed here moves with the number of turns, and may meet what is accessed elsewhere"},
	} {
		pairs := append(append(append([]string{}, ringRegisters...), moving...), last(x.turn)...)
		_, a := anyOf(t, loadYAML(t, "examples/ring/ring.yaml", edits(t, pairs...), grow), 3)
		switch {
		case x.because == "" && (!a.Holds || len(a.Growth) != 2 || a.Growth[1].Bytes != 512):
			t.Errorf("%s: %+v", x.turn, a)
		case x.because != "" && (a.Holds || !strings.Contains(fmt.Sprint(a.Reasons), x.because)):
			t.Errorf("%s: %+v", x.turn, a)
		}
	}
}

// The k-loop of a warp-specialized GEMM, whose consumers leave out a wait, or
// release another slot, where it is longer.
func TestAnyBrokenGEMM(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds, and a minute under the race detector")
	}
	for _, x := range []struct {
		pairs   []string
		because string
	}{
		{[]string{"add.s32 \t%r68, %r124, -1;", "add.s32 \t%r68, %r124, -1;\n\tsetp.gt.s32 %p20, %r124, 299;\n\tselp.b32 %r180, 1, 0, %p20;\n\tsub.s32 %r68, %r68, %r180;"},
			"an address of the mbarrier.arrive.release.cluster.shared::cluster.b64 depends on whether what grows is below 299"},
	} {
		registers := []string{".reg .pred \t%p<14>;", ".reg .pred \t%p<30>;", ".reg .b32 \t%r<126>;", ".reg .b32 \t%r<200>;"}
		l := loadYAML(t, "examples/gemm_ws_multicast/gemm_ws_multicast.yaml", edits(t, append(registers, x.pairs...)...), nil)
		r, a := anyOf(t, l, 5)
		if !r.Proof.All || a.Holds || !strings.Contains(fmt.Sprint(a.Reasons), x.because) {
			t.Errorf("%s: %+v", r.Summary, a)
		}
	}
}

func TestAnyArguments(t *testing.T) {
	l := loadYAML(t, "examples/ring/ring.yaml", nil, nil)
	for argument, want := range map[int]string{
		0: "argument 0: the kernel has 3", 4: "argument 4: the kernel has 3", -1: "argument -1: the kernel has 3",
		1: `argument 1 is a pointer to buffer "in": only a scalar`,
	} {
		if _, err := l.CheckAny(context.Background(), muster.CheckOptions{}, argument); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("argument %d: %v", argument, err)
		}
	}
	_, a := anyOf(t, loadYAML(t, "examples/gemm_rs/gemm_rs.yaml", nil, nil), 4)
	if a.Holds || len(a.Reasons) != 1 || !strings.Contains(a.Reasons[0].Text, "no loop goes round more often") {
		t.Errorf("%+v", a)
	}
}

func BenchmarkAnyRing(b *testing.B) {
	l := loadYAML(b, "examples/ring/ring.yaml", nil, nil)
	for b.Loop() {
		if _, a := anyOf(b, l, 3); !a.Holds {
			b.Fatalf("%+v", a)
		}
	}
}

func BenchmarkAnyGEMM(b *testing.B) {
	l := loadYAML(b, "examples/gemm_ws_multicast/gemm_ws_multicast.yaml", nil, nil)
	for b.Loop() {
		if _, a := anyOf(b, l, 5); !a.Holds {
			b.Fatalf("%+v", a)
		}
	}
}

// loadYAML prepares an example, its PTX and its launch changed.
func loadYAML(t testing.TB, name string, edit func(ptx string) string, change func(*launch.File)) *muster.Launch {
	t.Helper()
	f, err := yaml.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(f)
		f.Expect = nil
	}
	mod, src, err := muster.ReadModule(f)
	if err == nil && edit != nil {
		src = []byte(edit(string(src)))
		mod, err = ptx.Parse(f.Launches[0].PTX, src)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadModule(f, mod, src, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
