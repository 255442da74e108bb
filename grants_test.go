package muster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/launch"
)

// grantKernel does the work of its own CTA, and then that of those that it gets.
const grantKernel = `
.version 8.7
.target sm_100a
.address_size 64
.visible .entry kernel(.param .u64 out)
{
	.shared .align 16 .b8 resp[32];
	.shared .align 8 .b64 got;
	.reg .pred %p<9>;
	.reg .b32 %r<20>;
	.reg .b64 %rd<3>;
	.reg .b128 %q<3>;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
	setp.eq.u32 %p2, %r1, %r1;
	mov.u32 %r12, %ctaid.x;
	mov.u32 %r13, 0; // parity
	mov.u32 %r16, 0; // how many it got
	@!%p1 mbarrier.init.shared::cta.b64 [got], 1;
	bar.sync 0;
WORK:
	@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [got], BYTES;
	@!%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [resp], [got];
	//TWICE
	ld.param.u64 %rd1, [out]; // the work on CTA %r12: one line of it
	mad.lo.u32 %r14, %r12, LINE, %r1;
	mul.wide.u32 %rd2, %r14, 4;
	add.s64 %rd2, %rd1, %rd2;
	st.global.u32 [%rd2], VALUE;
	//EXTRA
	//EARLY
GOT:
	mbarrier.try_wait.parity.shared::cta.b64 %p4, [got], %r13;
	@!%p4 bra GOT;
	//READ
	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q1;
	@!%p2 bra DONE;
	clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r12, %q1;
	add.u32 %r16, %r16, 1;
	//SYNC
	//FLIP
	bra WORK;
DONE:
	//AGAIN
	ret;
}
`

const (
	grantRead = "ld.shared.b128 %q1, [resp];"
	grantSync = `fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
	bar.sync 0;
	fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;`
	grantFlip = "xor.b32 %r13, %r13, 1;"
)

// A grantTwist changes the kernel. Wrong says from how many CTAs on that is an error.
type grantTwist struct {
	name  string
	wrong int
	with  []string // as strings.NewReplacer takes them
}

var grantTwists = []grantTwist{
	{"right", 99, nil},
	{"lines that overlap those of the next CTA", 2, []string{"LINE", "16"}},
	{"a parity that stays", 2, []string{"//FLIP", ""}},
	{"an answer that is read early", 1, []string{"//EARLY", grantRead, "//READ", ""}},
	{"no barrier before the next request", 2, []string{"//SYNC", ""}},
	{"two requests at a time", 99, []string{"BYTES", "32", "//TWICE", "@!%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [resp+16], [got];"}},
	{"a request after one that got none", 1, []string{"//AGAIN", grantSync + `
	xor.b32 %r13, %r13, 1;
	@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [got], 16;
	@!%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [resp], [got];
LAST:
	mbarrier.try_wait.parity.shared::cta.b64 %p4, [got], %r13;
	@!%p4 bra LAST;`}},
	{"the second that it got stores to the line of CTA 0", 4, []string{"//EXTRA", `setp.eq.u32 %p5, %r16, 2;
	mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
	@%p5 st.global.u32 [%rd2], 7;`}},
	// With two CTAs, whoever gets CTA 1 has done CTA 0's work itself.
	{"one that it got reads the line before", 3, []string{"//EXTRA", `setp.ne.u32 %p5, %r16, 0;
	@%p5 sub.u32 %r14, %r14, 32;
	mul.wide.u32 %rd2, %r14, 4; add.s64 %rd2, %rd1, %rd2;
	@%p5 ld.global.u32 %r17, [%rd2];`}},
	{"each stores who it is", 99, []string{"VALUE", "%r18"}},
}

func grantLaunch(t *testing.T, ctas int, twists ...*grantTwist) *muster.Launch {
	t.Helper()
	text := grantKernel
	for _, w := range append(slices.Clone(twists), &grantTwist{with: []string{"LINE", "32", "BYTES", "16", "//READ", grantRead, "//SYNC", grantSync, "//FLIP", grantFlip, "VALUE", "%r12"}}) {
		text = strings.NewReplacer(w.with...).Replace(text)
	}
	text = strings.ReplaceAll(text, "mov.u32 %r13, 0; // parity", "mov.u32 %r13, 0; mov.u32 %r18, %ctaid.x;")
	name := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := launch.FromFlags(launch.Flags{PTX: name, Grid: fmt.Sprint(ctas), Block: "32", Buffers: []string{"out=u32[1024]:zeros"}, Args: []string{"out"}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return l
}

// TestGrants holds proofs by what clusters get against exploration, which knows nothing of
// them: of kernels with one twist and with two, on grids of one to three CTAs, and four where it
// takes four to be wrong.
func TestGrants(t *testing.T) {
	t.Parallel()
	proven, explored := 0, 0
	for i := range grantTwists {
		for k := range i + 1 {
			most := 3
			if k == i && grantTwists[i].wrong == 4 {
				most = 4
			}
			for n := 1; n <= most; n++ {
				twists := []*grantTwist{&grantTwists[i], &grantTwists[k]}
				name := fmt.Sprintf("%d CTAs: %s; %s", n, twists[0].name, twists[1].name)
				l := grantLaunch(t, n, twists...)
				p, r := muster.Attempt(l), muster.ExploreAlone(l, 2000)
				wrong := slices.ContainsFunc(r.Findings, func(f muster.Finding) bool { return f.Severity == "error" })
				if complete := r.Explored != nil && r.Explored.Complete; !wrong && !complete {
					t.Logf("%s: not explored: %s", name, r.Summary)
				}
				explored++
				if p.All {
					proven++
				}
				if p.All && wrong {
					t.Errorf("%s: proven, and exploration finds %s", name, r.Findings[0].Headline)
				}
				if i == k || twists[1].with == nil {
					if wrong != (n >= twists[0].wrong) {
						t.Errorf("%s: wrong is %v: %s", name, wrong, r.Summary)
					}
					if twists[0].name != "two requests at a time" && p.All == wrong {
						t.Errorf("%s: wrong is %v, and proven %v: %v", name, wrong, p.All, p.Reasons)
					}
				}
				if got, err := l.Check(context.Background(), muster.CheckOptions{}); err != nil || (got.Verdict == "findings") != wrong {
					t.Errorf("%s: a check says %s, %v; exploration %s", name, got.Summary, err, r.Summary)
				}
			}
		}
	}
	t.Logf("%d kernels, %d of them proven", explored, proven)
}

// TestGrantsElsewhere: that answers are gone through says nothing of a request whose place, or
// whether it is made, the schedule decides otherwise.
func TestGrantsElsewhere(t *testing.T) {
	const ask = "@!%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
	atom := "ld.param.u64 %rd1, [out]; @!%p1 atom.relaxed.gpu.global.exch.b32 %r19, [%rd1+4000], %r1;\n"
	for _, c := range []struct {
		name, now string
		all       bool
	}{
		{"as it is", ask + "[resp], [got];", true},
		{"behind an atomic", atom + "\t" + ask + "[resp], [got];", true},
		{"at a place that an atomic gives", atom + "\tand.b32 %r19, %r19, 16; mov.u32 %r10, resp; add.u32 %r19, %r10, %r19;\n\t" + ask + "[%r19], [got];", false},
	} {
		l := grantLaunch(t, 1, &grantTwist{with: []string{ask + "[resp], [got];", c.now}})
		if p := muster.Attempt(l); p.All != c.all {
			t.Errorf("%s: proven is %v, want %v: %v", c.name, p.All, c.all, p.Reasons)
		}
	}
}
