package muster_test

import (
	"strings"
	"testing"

	"muster/internal/report"
)

// TestOwing: an arrival that names a barrier in shared::cta is owed by lanes of its
// own CTA alone, although those of a peer come to the same instruction.
func TestOwing(t *testing.T) {
	for _, c := range []struct {
		space string
		peer  bool
	}{{"shared::cta", false}, {"shared::cluster", true}} {
		r := (&claim{grid: "2", cluster: "2", block: "64", body: `INIT(2,1) barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
			setp.ne.u32 %p1, %r4, 0; @%p1 bra END;
			setp.eq.u32 %p1, %r3, 1; @%p1 bra WAIT;
			setp.ne.u32 %p1, %r5, 0; @%p1 bra WAIT1;
		WAIT0:	mbarrier.test_wait.parity.shared::cta.b64 %p2, [b1], 0; @!%p2 bra WAIT0;
		WAIT1:	mbarrier.test_wait.parity.shared::cta.b64 %p2, [b1], 0; @!%p2 bra WAIT1;
			mov.u32 %r6, b0;
			mbarrier.arrive.release.cluster.` + c.space + `.b64 _, [%r6];
			bra END;
		WAIT:	mbarrier.test_wait.parity.shared::cta.b64 %p2, [b0], 0; @!%p2 bra WAIT;
		END:`}).check(t)
		var b strings.Builder
		if err := r.WriteText(&b, report.TextOptions{All: true}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(b.String()), " ")
		_, owing, found := strings.Cut(text, "mbarrier at b0 of CTA 0: pending 2 of 2, tx 0 ")
		owing, _, _ = strings.Cut(owing, " | ")
		if !found || strings.Contains(owing, "lane 0 of warp 0 of CTA 1 should arrive") != c.peer || !strings.Contains(owing, "lane 0 of warp 0 of CTA 0 should arrive") {
			t.Errorf("%s: %s", c.space, owing)
		}
	}
}
