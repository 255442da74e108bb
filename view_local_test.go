package muster_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"muster"
	"muster/launch"
	"muster/ptx"
)

// viewedLocals has variables of local memory in a kernel and in a function that calls itself,
// which writes one of the caller's through a generic address; some lanes take other turns, and
// a variable is in two blocks.
const viewedLocals = `.version 8.3
.target sm_90
.address_size 64
.func down(.reg .b32 n, .reg .b64 to)
{
	.local .align 8 .b8 own[24];
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	.reg .pred %p;
	st.local.u32 [own+4], n;
	st.u32 [to], n;
	setp.eq.u32 %p, n, 0;
	@%p bra done;
	sub.u32 %r1, n, 1;
	add.u64 %rd1, to, 4;
	call down, (%r1, %rd1);
	ld.local.u32 %r2, [own+4];
	st.local.u16 [own+8], %r2;
done:
	ret;
}
.visible .entry k(.param .u64 out)
{
	.local .align 16 .u32 depot[1100];
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mov.u64 %rd2, depot;
	cvta.local.u64 %rd3, %rd2;
	and.b32 %r2, %r1, 3;
	call down, (%r2, %rd3);
	mul.wide.u32 %rd4, %r2, 4;
	add.u64 %rd5, %rd2, %rd4;
	st.local.u32 [%rd5+100], %r1;
	{
		.local .u32 t;
		st.local.u32 [t], %r1;
		ld.local.u32 %r3, [t];
		st.global.u32 [%rd1], %r3;
	}
	{
		.local .u32 t;
		st.local.u32 [t], %r2;
		ld.local.u32 %r3, [t];
		st.global.u32 [%rd1], %r3;
	}
	ld.local.u32 %r4, [depot];
	st.global.u32 [%rd1], %r4;
	ret;
}
`

// TestViewLocals: local memory of a page is the machine's after each step, and what the
// program says: each thread its own.
func TestViewLocals(t *testing.T) {
	t.Parallel()
	mod, err := ptx.Parse("k.ptx", []byte(viewedLocals))
	if err != nil {
		t.Fatal(err)
	}
	out := launch.Buffer{Name: "out", Type: launch.U32, Shape: []int64{64}, Fill: launch.Fill{Kind: launch.FillZeros}}
	f := &launch.File{Name: "k.yaml", Buffers: []launch.Buffer{out}, Launches: []launch.Launch{{PTX: "k.ptx", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{64, 1, 1},
		Args: []launch.Arg{{Kind: launch.ArgPointer, Ptr: &launch.Pointer{Buffer: "out"}}}}}}
	l, err := muster.LoadModule(f, mod, []byte(viewedLocals), muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, run := firstFinding(t, l)
	v, err := l.View(context.Background(), r, muster.ViewOptions{Runs: []muster.ViewRun{run}})
	if err != nil {
		t.Fatal(err)
	}
	d := decodeView(t, v)
	w := d.Runs[0].Detail[0]
	c := newComparison(t, l, run, d)
	c.shown = 4096 - 8 // of depot, which has 4400 bytes, beside two smaller ones
	c.window(w[0], w[1], d.blob[w[2]:w[2]+w[3]])
	if c.locals < 100_000 {
		t.Errorf("%d bytes of local memory were compared", c.locals)
	}
	// As the program says, at the end.
	s, bytes := newShown(), &bytesReader{t, d.blob[w[2] : w[2]+w[3]]}
	for range w[1] - w[0] + 1 {
		s.apply(bytes, d.Runs[0].table)
	}
	word := func(lane, off int) uint32 {
		var b [4]byte
		of := s.locals[regKey(0, uint64(lane/32), "depot")+fmt.Sprint(" of lane ", lane%32)]
		for i := range b {
			b[i] = of[uint64(off+i)]
		}
		return binary.LittleEndian.Uint32(b[:])
	}
	for lane := range 64 {
		if got := word(lane, 0); got != uint32(lane%4) {
			t.Errorf("depot[0] of thread %d is %d", lane, got)
		}
		if got := word(lane, 100+lane%4*4); got != uint32(lane) {
			t.Errorf("depot+%d of thread %d is %d", 100+lane%4*4, lane, got)
		}
		if n := len(s.locals[regKey(0, uint64(lane/32), "down: own")+fmt.Sprint(" of lane ", lane%32)]); n != 0 {
			t.Errorf("thread %d still has %d bytes of a function that has returned", lane, n)
		}
	}
}
