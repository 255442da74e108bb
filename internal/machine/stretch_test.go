package machine_test

import (
	"strings"
	"testing"
)

// TestStretches: a branch, its target, a barrier, a fence, an arrival and a wait for groups end a
// stretch; mbarrier.init, stores and sums do not.
func TestStretches(t *testing.T) {
	p, err := decodeText("k.ptx", `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k()
{
	.shared .align 8 .b64 bar;
	.shared .b32 x;
	.reg .pred %p;
	.reg .b32 %r;
	mov.u32 %r, 1;
	mbarrier.init.shared.b64 [bar], 1;
	st.shared.u32 [x], %r;
	bar.sync 0;
	st.shared.u32 [x], %r;
	fence.acq_rel.cta;
	mbarrier.arrive.shared.b64 _, [bar];
	setp.eq.u32 %p, %r, 1;
	@%p bra NEXT;
	add.u32 %r, %r, 1;
NEXT:
	cp.async.wait_all;
	st.shared.u32 [x], %r;
	ret;
}
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	parts := p.Stretches()
	for pc := range int32(p.Len()) {
		in := p.Inst(pc)
		if in == nil {
			continue
		}
		sep := " "
		if pc == 0 || parts[pc] != parts[pc-1] {
			sep = "\n"
		}
		got = append(got, sep+in.Op)
	}
	const want = `
mov mbarrier st bar
st fence
mbarrier
setp bra
add
cp
st ret`
	if got := strings.Join(got, ""); got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
}
