package muster_test

import (
	"strings"
	"testing"

	"muster"
)

// Lanes of one warp are threads, and nothing but barriers orders them. Where it shows in
// which order they come to a word, wrong kernels are found; of what is not varied a gap
// tells.
func TestLaneOrders(t *testing.T) {
	for _, c := range []struct {
		name, body, says string
	}{
		{"who of a warp gets ticket 0", `atom.relaxed.gpu.global.add.u32 %r6, [%rd1], 1;
			setp.ne.u32 %p1, %r4, 31; @%p1 bra END; setp.ne.u32 %p1, %r6, 0; @%p1 bra END; trap;
		END:`, "findings"},
		{"who of a warp wins", `atom.relaxed.gpu.global.cas.b32 %r6, [%rd1], 0, 1;
			setp.ne.u32 %p1, %r4, 7; @%p1 bra END; setp.ne.u32 %p1, %r6, 0; @%p1 bra END; trap;
		END:`, "findings"},
		{"a store and a neighbour's load, as if in lockstep", `shl.b32 %r6, %r4, 2; mov.u32 %r7, buf; add.u32 %r6, %r6, %r7; xor.b32 %r8, %r6, 4;
			st.volatile.shared.u32 [%r6], 1;
			ld.volatile.shared.u32 %r9, [%r8];
			setp.eq.u32 %p1, %r9, 1; @%p1 bra END; trap;
		END:`, "findings"},
		{"right: with a barrier between", `shl.b32 %r6, %r4, 2; mov.u32 %r7, buf; add.u32 %r6, %r6, %r7; xor.b32 %r8, %r6, 4;
			st.volatile.shared.u32 [%r6], 1;
			bar.warp.sync 0xffffffff;
			ld.volatile.shared.u32 %r9, [%r8];
			atom.relaxed.gpu.global.add.u32 %r10, [%rd1], 0;
			setp.eq.u32 %p1, %r9, 1; @%p1 bra END; trap;
		END:`, "clean"},
		{"a count of who is still to come", `setp.ne.u32 %p1, %r4, 0; @%p1 bra WAIT; mbarrier.init.shared.b64 [b0], 32;
		WAIT:	bar.warp.sync 0xffffffff;
			mbarrier.arrive.shared.b64 %rd3, [b0];
			mbarrier.pending_count.b64 %r6, %rd3;
			setp.ne.u32 %p1, %r4, 3; @%p1 bra END; setp.ne.u32 %p1, %r6, 1; @%p1 bra END; trap;
		END:`, "findings"},
		{"a test that only those after it pass", `setp.ne.u32 %p1, %r4, 0; @%p1 bra WAIT; mbarrier.init.shared.b64 [b0], 32;
		WAIT:	bar.warp.sync 0xffffffff;
			mbarrier.arrive.shared.b64 %rd3, [b0];
			mbarrier.test_wait.shared.b64 %p2, [b0], %rd3;
			@%p2 bra END; trap;
		END:`, "incomplete"},
		{"right: a test where all have waited", `setp.ne.u32 %p1, %r4, 0; @%p1 bra WAIT; mbarrier.init.shared.b64 [b0], 32;
		WAIT:	bar.warp.sync 0xffffffff;
			mbarrier.arrive.shared.b64 _, [b0];
		LOOP:	mbarrier.test_wait.parity.shared.b64 %p2, [b0], 0; @!%p2 bra LOOP;
			mbarrier.test_wait.parity.shared.b64 %p2, [b0], 0;
			@%p2 bra END; trap;
		END:`, "clean"},
		{"a sum read as if the others had added", `red.relaxed.gpu.global.add.u32 [%rd1], 1;
			ld.relaxed.gpu.global.u32 %r6, [%rd1];
			setp.eq.u32 %p1, %r6, 32; @%p1 bra END; trap;
		END:`, "findings"},
		{"right: sums that nobody looks at", `red.relaxed.gpu.global.add.u32 [%rd1], 1;
			atom.relaxed.gpu.global.add.u32 %r6, [%rd1], 1;
			setp.ne.u32 %p1, %r4, 0; @%p1 bra END;
			atom.relaxed.gpu.global.add.u32 %r6, [%rd1+64], 1;
			setp.ne.u32 %p1, %r6, 1; @%p1 bra END; trap;
		END:`, "clean"},
		{"a flag that all lanes set, of which too many orders with one look are kinds of their own", `setp.eq.u32 %p1, %r3, 1; @%p1 bra READ;
			st.relaxed.gpu.global.u32 [%rd1], 1; bra END;
		READ:	setp.ne.u32 %p1, %r4, 0; @%p1 bra END;
			ld.relaxed.gpu.global.u32 %r6, [%rd1]; st.global.u32 [%rd1+64], %r6;
		END:`, "incomplete"},
	} {
		block := "32"
		if strings.Contains(c.body, "%r3") {
			block = "64"
		}
		r := (&claim{body: c.body, block: block}).check(t)
		if string(r.Verdict) != c.says {
			t.Errorf("%s: %s (%s), want %s", c.name, r.Summary, gapsOf(r), c.says)
		}
	}
}

// How often a wait has come out false is a schedule's own, and may show.
func TestCountedWaits(t *testing.T) {
	const wait = `INIT(1) setp.ne.u32 %p1, %r4, 0; @%p1 bra END;
			setp.eq.u32 %p1, %r3, 1; @%p1 bra WAIT;
			mbarrier.arrive.shared.b64 _, [b0]; bra END;
		WAIT:	mov.u32 %r6, 0; mov.u32 %r7, b0;
		LOOP:	TURN
			mbarrier.test_wait.parity.shared.b64 %p2, [%r7], 0; @!%p2 bra LOOP;
			mov.u32 %r8, 0;
		END:`
	for _, c := range []struct{ name, turn, after, verdict, kind string }{
		{"a trap after the fifth test", "add.u32 %r6, %r6, 1;", "setp.gt.u32 %p1, %r6, 4; @%p1 trap;", "findings", "trap"},
		{"a count that is stored", "add.u32 %r6, %r6, 1;", "st.global.u32 [%rd1], %r6;", "incomplete", ""},
		{"a count that nobody reads", "add.u32 %r6, %r6, 1;", "", "clean", ""},
		{"an address that is computed again", "mov.u32 %r7, b0; add.u32 %r8, %r7, 8;", "st.global.u32 [%rd1], %r8;", "clean", ""},
	} {
		body := strings.Replace(wait, "TURN", c.turn, 1)
		body = strings.Replace(body, "mov.u32 %r8, 0;", c.after, 1)
		r := (&claim{body: body, block: "64"}).check(t)
		if string(r.Verdict) != c.verdict || c.kind != "" && (len(r.Findings) == 0 || r.Findings[0].Kind != c.kind) {
			t.Errorf("%s: %s, %v", c.name, r.Summary, r.Findings)
		}
	}
}

func gapsOf(r *muster.Report) string {
	var text []string
	for _, g := range r.Gaps {
		text = append(text, g.What)
	}
	return strings.Join(text, "; ")
}
