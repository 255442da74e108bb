package litmus

import "testing"

// published are the litmus tests that the ISA prints, in a notation of their own, with
// variants that it mentions, and a few well-known ones. A condition is about all
// executions that the axioms allow; want says whether it holds.
var published = []struct {
	name, text string
	want       bool
}{
	{"8.10.3, litmus test 1", `
{ x=0; }
 P0@cta 0,gpu 0                | P1@cta 1,gpu 0                ;
 atom.relaxed.sys.add r0, x, 1 | atom.relaxed.sys.add r0, x, 1 ;
forall (x == 2)`, true},
	{"8.10.3, litmus test 2: not morally strong", `
{ x=0; }
 P0@cta 0,gpu 0                | P1@cta 1,gpu 0                ;
 atom.relaxed.cta.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 ;
exists (x == 1)`, true},
	{"8.10.3, litmus test 2: also 2", `
{ x=0; }
 P0@cta 0,gpu 0                | P1@cta 1,gpu 0                ;
 atom.relaxed.cta.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 ;
exists (x == 2)`, true},
	{"8.10.4, load buffering with dependencies", `
{ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 ld.weak r0, x  | ld.weak r1, y  ;
 st.weak y, r0  | st.weak x, r1  ;
forall (x == 0 /\ y == 0)`, true},
	{"8.10.4, load buffering without", `
{ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 ld.weak r0, x  | ld.weak r1, y  ;
 st.weak y, 1   | st.weak x, 1   ;
exists (x == 1 /\ y == 1 /\ P0:r0 == 1 /\ P1:r1 == 1)`, true},
	{"8.10.4, a dependency on one side", `
{ x=0; y=0; }
 P0@cta 0,gpu 0          | P1@cta 1,gpu 0          ;
 ld.relaxed.gpu r0, x    | ld.relaxed.gpu r1, y    ;
 st.relaxed.gpu y, r0    | st.relaxed.gpu x, 1     ;
exists (P0:r0 == 1 /\ P1:r1 == 1)`, true},
	{"8.10.4, a branch on both sides", `
{ x=0; y=0; }
 P0@cta 0,gpu 0          | P1@cta 1,gpu 0          ;
 ld.relaxed.gpu r0, x    | ld.relaxed.gpu r1, y    ;
 bne r0, 1, LC00         | bne r1, 1, LC10         ;
 st.relaxed.gpu y, 1     | st.relaxed.gpu x, 1     ;
 LC00:                   | LC10:                   ;
exists (P0:r0 == 1)`, false},
	{"8.10.5, CoRR", `
{ x=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.relaxed.sys x, 1 | ld.relaxed.sys r0, x ;
                     | ld.relaxed.sys r1, x ;
exists (P1:r0 == 1 /\ P1:r1 == 0)`, false},
	{"8.10.5, CoRR with weak reads", `
{ x=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0 ;
 st.relaxed.sys x, 1 | ld.weak r0, x  ;
                     | ld.weak r1, x  ;
exists (P1:r0 == 1 /\ P1:r1 == 0)`, true},
	{"8.10.5, CoRR with a scope too narrow", `
{ x=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.relaxed.sys x, 1 | ld.relaxed.cta r0, x ;
                     | ld.relaxed.cta r1, x ;
exists (P1:r0 == 1 /\ P1:r1 == 0)`, true},
	{"8.10.6, message passing", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak x, 1        | ld.relaxed.sys r0, y ;
 fence.acq_rel.sys   | fence.acq_rel.sys    ;
 st.relaxed.sys y, 1 | ld.weak r1, x        ;
exists (P1:r0 == 1 /\ P1:r1 == 0)`, false},
	{"8.10.6, message passing without the consumer's fence", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.relaxed.sys x, 1 | ld.relaxed.sys r0, y ;
 fence.acq_rel.sys   | ld.relaxed.sys r1, x ;
 st.relaxed.sys y, 1 |                      ;
exists (P1:r0 == 1 /\ P1:r1 == 0)`, true},
	{"8.10.6, message passing without the producer's fence", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.relaxed.sys x, 1 | ld.acquire.sys r0, y ;
 st.relaxed.sys y, 1 | ld.relaxed.sys r1, x ;
exists (P1:r0 == 1 /\ P1:r1 == 0)`, true},
	{"8.10.6, store buffering with fence.sc", `
{ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1   | st.weak y, 1   ;
 fence.sc.sys   | fence.sc.sys   ;
 ld.weak r0, y  | ld.weak r1, x  ;
forall (P0:r0 == 1 \/ P1:r1 == 1)`, true},
	{"8.10.6, store buffering with fence.acq_rel", `
{ x=0; y=0; }
 P0@cta 0,gpu 0    | P1@cta 1,gpu 0    ;
 st.weak x, 1      | st.weak y, 1      ;
 fence.acq_rel.sys | fence.acq_rel.sys ;
 ld.weak r0, y     | ld.weak r1, x     ;
exists (P0:r0 == 0 /\ P1:r1 == 0)`, true},
	{"8.10.6, store buffering with fences that are not morally strong", `
{ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1   | st.weak y, 1   ;
 fence.sc.cta   | fence.sc.gpu   ;
 ld.weak r0, y  | ld.weak r1, x  ;
exists (P0:r0 == 0 /\ P1:r1 == 0)`, true},
	{"8.11.1, message passing with a reduction", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0            ;
 st.weak x, 42       | red.relaxed.sys.add y, 1  ;
 st.release.gpu y, 1 | fence.acq_rel.gpu         ;
                     | ld.weak r1, x             ;
exists (P1:r1 == 0 /\ y == 2)`, true},
	{"8.11.1, with an atom instead", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0                 ;
 st.weak x, 42       | atom.relaxed.sys.add r0, y, 1  ;
 st.release.gpu y, 1 | fence.acq_rel.gpu              ;
                     | ld.weak r1, x                  ;
exists (P1:r1 == 0 /\ y == 2)`, false},
	{"8.8, a release followed by a strong write", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak y, 1        | ld.acquire.gpu r0, x ;
 st.release.gpu x, 1 | ld.weak r1, y        ;
 st.relaxed.gpu x, 2 |                      ;
exists (P1:r0 == 2 /\ P1:r1 == 0)`, false},
	{"8.8, what comes between the two is not covered", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.release.gpu x, 1 | ld.acquire.gpu r0, x ;
 st.weak y, 1        | ld.weak r1, y        ;
 st.relaxed.gpu x, 2 |                      ;
exists (P1:r0 == 2 /\ P1:r1 == 0)`, true},
	{"8.9.2, observation through read-modify-writes", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0                | P2@cta 2,gpu 0       ;
 st.weak x, 1        | atom.relaxed.gpu.add r0, y, 1 | ld.acquire.gpu r1, y ;
 st.release.gpu y, 1 |                               | ld.weak r2, x        ;
exists (P1:r0 == 1 /\ P2:r1 == 2 /\ P2:r2 == 0)`, false},
	{"8.9.2, a store ends it", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       | P2@cta 2,gpu 0       ;
 st.weak x, 1        | ld.relaxed.gpu r0, y | ld.acquire.gpu r1, y ;
 st.release.gpu y, 1 | st.relaxed.gpu y, 2  | ld.weak r2, x        ;
exists (P1:r0 == 1 /\ P2:r1 == 2 /\ P2:r2 == 0)`, true},
	{"8.9.2, a compare-and-swap that fails writes nothing", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0                   ;
 st.release.gpu y, 1 | atom.acquire.gpu.cas r0, y, 5, 9 ;
forall (y == 1)`, true},
	{"independent reads of independent writes", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0      | P2@cta 2,gpu 0       | P3@cta 3,gpu 0       ;
 st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 | ld.acquire.gpu r0, x | ld.acquire.gpu r0, y ;
                     |                     | ld.acquire.gpu r1, y | ld.acquire.gpu r1, x ;
exists (P2:r0 == 1 /\ P2:r1 == 0 /\ P3:r0 == 1 /\ P3:r1 == 0)`, true},
	{"independent reads with fence.sc", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0      | P2@cta 2,gpu 0       | P3@cta 3,gpu 0       ;
 st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 | ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;
                     |                     | fence.sc.gpu         | fence.sc.gpu         ;
                     |                     | ld.relaxed.gpu r1, y | ld.relaxed.gpu r1, x ;
exists (P2:r0 == 1 /\ P2:r1 == 0 /\ P3:r0 == 1 /\ P3:r1 == 0)`, false},
	{"two writes each, in opposite orders", `
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0      ;
 st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;
 st.relaxed.gpu y, 2 | st.relaxed.gpu x, 2 ;
exists (x == 1 /\ y == 1)`, true},
	{"a spin lock", `
{ m=0; x=0; }
 P0@cta 0,gpu 0                   | P1@cta 1,gpu 0                   ;
 LC00:                            | LC10:                            ;
 atom.acquire.gpu.cas r0, m, 0, 1 | atom.acquire.gpu.cas r0, m, 0, 1 ;
 bne r0, 0, LC00                  | bne r0, 0, LC10                  ;
 ld.weak r1, x                    | ld.weak r1, x                    ;
 add r1, r1, 1                    | add r1, r1, 1                    ;
 st.weak x, r1                    | st.weak x, r1                    ;
 st.release.gpu m, 0              | st.release.gpu m, 0              ;
forall (x == 2)`, true},
	{"bar.sync", `
{ x=0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
 st.weak x, 1   | bar.cta.sync 0 ;
 bar.cta.sync 0 | ld.weak r0, x  ;
exists (P1:r0 == 0)`, false},
	// Dat3M has the read and the write of an atomic operation as two events, and
	// allows this. By the letter it is one operation (8.2), which precedes the store
	// in causality order (8.9.5), and so cannot read from it (8.10.6).
	{"an atomic operation that reads what follows it", `
{ x=0; y=0; }
 P0@cta 0,gpu 0       | P1@cta 0,gpu 0                | P2@cta 0,gpu 0       ;
 ld.acquire.gpu r0, y | atom.relaxed.gpu.add r1, x, 1 | ld.relaxed.gpu r2, x ;
 st.weak x, 1         |                               | st.release.gpu y, 1  ;
exists (P0:r0 == 1 /\ P1:r1 == 1 /\ P2:r2 == 2)`, false},
}

func TestPublished(t *testing.T) {
	for _, c := range published {
		x, err := Read(c.name, []byte("PTX "+c.name+c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		a, err := x.Answer(Options{Loops: 2, Limits: DefaultLimits})
		if err != nil || a.OK != c.want || a.Verdict == Unknown || a.Wrong {
			t.Errorf("%s: %+v, %v; want %v%s", c.name, a, err, c.want, c.text)
		}
	}
}
