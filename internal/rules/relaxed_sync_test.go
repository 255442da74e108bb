package rules

import (
	"regexp"
	"strings"
	"testing"

	"muster/internal/explore"
)

// messages is a kernel of two CTAs of one warp in which lane 0 of CTA 0, and of the
// second warp of CTA 0 where it has one, sends a value to the lanes of CTA 1.
const messages = `.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 data, .param .u64 flag)
{
	.reg .pred %p<8>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [data];
	ld.param.u64 %rd2, [flag];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	setp.ne.u32 %p2, %r2, 0;
	and.b32 %r3, %r1, 31;
	setp.ne.u32 %p1, %r3, 0;
	setp.ge.u32 %p3, %r1, 32;
	@%p2 bra READER;
	@%p1 ret;
	@%p3 bra SECOND;
	st.global.u32 [%rd1], 1; // first store
	FIRST
	red.relaxed.gpu.global.add.u32 [%rd2], 1; // first red
	ret;
SECOND:
	st.global.u32 [%rd1+4], 1; // second store
	OTHER
	red.relaxed.gpu.global.add.u32 [%rd2], 1; // second red
	ret;
READER:
	@%p1 bra MEET;
	@%p3 bra MEET;
POLL:
	ld.relaxed.gpu.global.u32 %r4, [%rd2];
	setp.lt.u32 %p4, %r4, 2;
	@%p4 bra POLL;
	BEFORE
MEET:
	bar.sync 0;
	AFTER
	setp.eq.u32 %p5, %r1, 1;
	@%p5 ld.global.u32 %r5, [%rd1];
	@%p5 ld.global.u32 %r5, [%rd1+4];
	ret;
}
`

const everyFence = "fence.acq_rel.gpu;"

// TestWhoseFence holds that relaxed-sync names the side whose fence is missing, and
// not those that have one.
func TestWhoseFence(t *testing.T) {
	for _, c := range []struct {
		name, first, other, before, after string
		want                              []string // of each finding: missing
		never                             string
	}{
		{"all there", everyFence, everyFence, everyFence, "", nil, ""},
		{"the first writer has none", "", everyFence, everyFence, "",
			[]string{`^a release on the writing side: red\.relaxed\.gpu\.global\.add\.u32 at line 22, by .* comes between st\.global\.u32 at line 20 of lane 0 of warp 0 of CTA 0 and it$`}, `acquire`},
		{"the second writer has none", everyFence, "", everyFence, "",
			[]string{`^a release on the writing side: red\.relaxed\.gpu\.global\.add\.u32 at line 27, by .* comes between st\.global\.u32 at line 25 of lane 0 of warp 1 of CTA 0 and it$`}, `acquire`},
		{"the reader has none", everyFence, everyFence, "", "",
			[]string{`^an acquire on the reading side: st\.global\.u32 at line 20 is released, but lane 0 of warp 0 of CTA 1, which sees that by ld\.relaxed\.gpu\.global\.u32 at line 33`,
				`^an acquire on the reading side: st\.global\.u32 at line 25 is released`}, `before st`},
		{"the reader's comes after the barrier", everyFence, everyFence, "", everyFence,
			[]string{`^an acquire on the reading side: st\.global\.u32 at line 20 is released, but (lane 0 of warp 0|a thread) of CTA 1, .* and before it goes on to tell lane 1`, `^an acquire on the reading side`}, `before st`},
		{"nobody has one", "", "", "", "",
			[]string{`^a release on the writing side: .* at line 22.* nor does ld\.relaxed\.gpu\.global\.u32 at line 33 acquire$`, `^a release on the writing side: .* at line 27`}, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.NewReplacer("FIRST\n", c.first+"\n", "OTHER\n", c.other+"\n", "BEFORE\n", c.before+"\n", "AFTER\n", c.after+"\n").Replace(messages)
			for _, s := range explore.Handful(4) {
				cfg := prepare(t, "messages.ptx", text, "--grid 2 --block 64 --cluster 2 --buffer data=u32[2]:zeros --buffer flag=u32[1]:zeros --arg data --arg flag")
				var got []Finding
				found, _, _ := judge(t, cfg, s)
				for _, f := range found {
					if f.Kind == "relaxed-sync" {
						got = append(got, f)
					}
				}
				if len(got) != len(c.want) {
					t.Fatalf("%s: %d findings, want %d", s, len(got), len(c.want))
				}
				for i, f := range got {
					if !regexp.MustCompile(c.want[i]).MatchString(f.Missing) {
						t.Errorf("%s: missing: %s\nwant %s", s, f.Missing, c.want[i])
					}
					if c.never != "" && regexp.MustCompile(c.never).MatchString(f.Missing) {
						t.Errorf("%s: missing: %s\nnames a fence that is there", s, f.Missing)
					}
				}
			}
		})
	}
}
