package muster_test

import (
	"context"
	"strings"
	"testing"

	"muster"
)

// TestLongBound: a wait whose bound is longer than any number of failed tests in a row
// that is gone through is left open, however large the budget is.
func TestLongBound(t *testing.T) {
	l := twin(t, map[string]string{"launch": "--grid 1 --block 64 --buffer out=u32[1024]:zeros --arg out", "some.ptx": `.version 8.8
.target sm_90a
.address_size 64
// a timeout that goes on
.visible .entry k(.param .u64 out)
{
	.reg .pred %p<10>; .reg .b32 %r<11>; .reg .b64 %rd<7>;
	.shared .align 128 .b8 buf[4096]; .shared .align 8 .b64 b0;
	ld.param.u64 %rd1, [out];
	mov.u32 %r2, %tid.x; shr.u32 %r3, %r2, 5; and.b32 %r4, %r2, 31;
	setp.ne.u32 %p9, %tid.x, 0; @%p9 bra INITED;
	mbarrier.init.shared.b64 [b0], 1;
	fence.mbarrier_init.release.cluster;
INITED:	bar.sync 0;
	setp.ne.u32 %p1, %r3, 0; @%p1 bra CONS;
	setp.ne.u32 %p1, %r4, 0; @%p1 bra DONE;
	st.shared.u32 [buf], 7;
	mbarrier.arrive.shared.b64 _, [b0];
	bra DONE;
CONS:	mov.u32 %r9, 0;
L:	mbarrier.try_wait.parity.shared.b64 %p2, [b0], 0; @%p2 bra GO;
	add.u32 %r9, %r9, 1;
	setp.lt.u32 %p3, %r9, 3000; @%p3 bra L;
GO:	ld.shared.u32 %r10, [buf];
	mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;
	st.global.u32 [%rd3], %r10;
DONE:	ret;
}
`}, "some")
	r, err := l.Check(context.Background(), muster.CheckOptions{Explore: muster.ExploreOptions{Schedules: 20_000, Steps: 1 << 31}})
	if err != nil {
		t.Fatal(err)
	}
	// The lanes of the warp test in one step, which is a gap of its own.
	if r.Verdict != muster.Incomplete || len(r.Gaps) != 2 || !strings.Contains(r.Gaps[0].What, "in one step") || !strings.Contains(r.Gaps[1].What, "failed tests in a row") || !r.Explored.Complete {
		t.Errorf("%s: %v", r.Summary, r.Gaps)
	}
}
