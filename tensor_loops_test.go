package muster_test

import (
	"strings"
	"testing"

	"muster"
	"muster/launch"
	"muster/ptx"
)

// tensorTwins are the GEMM of one CTA a tile, broken where a count is larger than any of the
// launch's: each is proven as it is given, and for no larger K.
var tensorTwins = []struct {
	name    string
	pairs   []string
	because string // part of the reason
	at      string // the line that it names
}{
	{"an accumulator that moves on", []string{
		"bfe.u32 %word, %stage, 4, 14;", "bfe.u32 %word, %stage, 4, 14;\n\tshr.u32 %left, %i, 8;\n\tadd.u32 %to, %d, %left;",
		"[%d], %da, %db, %idesc, %add;", "[%to], %da, %db, %idesc, %add;",
	}, "an address of the tcgen05.mma.cta_group::1.kind::f16 depends on shr.u32 of what changes", "tcgen05.mma"},
	{"operands that move on", []string{
		"bfe.u32 %word, %stage, 4, 14;", "shr.u32 %left, %i, 8;\n\tadd.u32 %stage, %stage, %left;\n\tbfe.u32 %word, %stage, 4, 14;",
	}, "an operand of the tcgen05.mma.cta_group::1.kind::f16 depends on", "tcgen05.mma"},
	{"a sum that begins anew at step 137", []string{
		"tcgen05.mma.cta_group::1.kind::f16 [%d]", "setp.eq.u32 %role, %i, 137;\n\t@%role setp.ne.u32 %add, %d, %d;\n\ttcgen05.mma.cta_group::1.kind::f16 [%d]",
	}, "whether what grows is 137", "tcgen05.mma"},
	{"a commit that is left out once", []string{
		"\ttcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%to];\n\tadd.u32 %i",
		"\tsetp.ne.u32 %role, %i, 137;\n\t@%role tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%to];\n\tadd.u32 %i",
	}, "whether what grows is 137", "@%role tcgen05.commit"},
}

func TestAnyTensorBrokenLater(t *testing.T) {
	for _, x := range tensorTwins {
		t.Run(x.name, func(t *testing.T) {
			src := ""
			l := loadYAML(t, "examples/blackwell/gemm_1cta_grid.yaml", func(s string) string {
				src = edits(t, x.pairs...)(s)
				return src
			}, oneTile)
			r, a := anyOf(t, l, 6)
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

// oneTile makes a launch of the GEMM one of one tile.
func oneTile(f *launch.File) {
	f.Launches[0].Grid[0] = 1
	for i, shape := range [][]int64{{128, 512}, {256, 512}, {128, 256}} {
		f.Buffers[i].Shape = shape
	}
	f.Launches[0].Args[3].Bits, f.Launches[0].Args[4].Bits = 128, 256
}

// TestAnyTensorOneTile: the kernel itself, for every larger K; the bound is that of a ring of
// four stages, as on Hopper.
func TestAnyTensorOneTile(t *testing.T) {
	r, a := anyOf(t, loadYAML(t, "examples/blackwell/gemm_1cta_grid.yaml", nil, oneTile), 6)
	if !r.Proof.AnyContents || !a.Holds || a.From > 832 || a.Step != 64 || a.Period != 256 || a.UpTo < 1<<30 {
		t.Fatalf("%s %+v", r.Summary, a)
	}
	// With K of 0 nothing multiplies, and what is stored was never written.
	if len(a.Unproven) != 1 || a.Unproven[0].Value != 0 || !strings.Contains(a.Unproven[0].Text, "uninitialized-tensor") {
		t.Errorf("%+v", a.Unproven)
	}
}

// allocLoop allocates and frees columns in each turn of a loop.
const allocLoop = `.version 8.7
.target sm_100a
.address_size 64
.visible .entry kernel(.param .u64 out, .param .u32 n)
{
	.shared .align 4 .b32 base;
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	mov.u32 %r1, %tid.x;
	ld.param.u64 %rd1, [out];
	mad.wide.u32 %rd1, %r1, 4, %rd1;
	ld.param.u32 %r2, [n];
	mov.u32 %r3, 0;
	mov.u32 %r6, 0;
TURN:
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;
	bar.sync 0;
	ld.shared.b32 %r5, [base];
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r3};
	tcgen05.wait::st.sync.aligned;
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r7}, [%r5];
	tcgen05.wait::ld.sync.aligned;
	add.u32 %r6, %r6, %r7;
	bar.sync 0;
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, %r2;
	@%p1 bra TURN;
	st.global.b32 [%rd1], %r6;
	ret;
}
`

// counted is a launch of one warp, with a number of turns as its second argument.
func counted(t *testing.T, text string, n uint64) *muster.Launch {
	t.Helper()
	mod, err := ptx.Parse("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := launch.Buffer{Name: "out", Type: launch.U32, Shape: []int64{32}, Fill: launch.Fill{Kind: launch.FillZeros}}
	f := &launch.File{Buffers: []launch.Buffer{out}, Launches: []launch.Launch{{PTX: "k.ptx", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1},
		Args: []launch.Arg{{Kind: launch.ArgPointer, Ptr: &launch.Pointer{Buffer: "out"}}, {Kind: launch.ArgScalar, Type: launch.U32, Bits: n}}}}}
	l, err := muster.LoadModule(f, mod, []byte(text), muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestAnyAllocates: which columns an alloc finds free is not followed from turn to turn.
func TestAnyAllocates(t *testing.T) {
	r, a := anyOf(t, counted(t, allocLoop, 8), 2)
	if !r.Proof.All || a.Holds || len(a.Reasons) == 0 || a.Reasons[0].Text != "columns of tensor memory are allocated or freed in the loop" {
		t.Errorf("%s %+v", r.Summary, a)
	}
}

// TestAnyTensorReach: a column is stored to again after eight turns, so that the launch from which
// on others follow has a period of eight turns beside eight that such a pair spans.
func TestAnyTensorReach(t *testing.T) {
	loop, rest, _ := strings.Cut(allocLoop, "TURN:\n")
	alloc := "\ttcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;\n\tbar.sync 0;\n\tld.shared.b32 %r5, [base];\n"
	free := "\ttcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;\n"
	rest = edits(t, alloc, "\tand.b32 %r4, %r3, 7;\n\tadd.u32 %r4, %r4, %r5;\n", "[%r5], {%r3}", "[%r4], {%r3}", "{%r7}, [%r5]", "{%r7}, [%r4]",
		free, "", "\tret;", free+"\tret;")(rest)
	_, a := anyOf(t, counted(t, loop+alloc+"TURN:\n"+rest, 40), 2)
	if !a.Holds || a.Period != 8 || a.From < 16 {
		t.Errorf("%+v", a)
	}
}
