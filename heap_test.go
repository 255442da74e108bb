package muster_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"muster"
	"muster/launch"
	"muster/ptx"
)

// TestHeap: what nvcc makes of malloc and free runs and is checked.
func TestHeap(t *testing.T) {
	for _, name := range []string{"print_sm90.ptx", "print_debug.ptx"} {
		f, err := launch.FromFlags(launch.Flags{
			PTX: "ptx/testdata/corpus/" + name, Kernel: "heap", Grid: "1", Block: "1",
			Buffers: []string{`blocks={"type": "u64", "values": [{"ptr": "copy"}]}`, "copy=u32[4]:ones"}, Args: []string{"blocks", "s32:4"},
		})
		if err != nil {
			t.Fatal(err)
		}
		l, err := muster.LoadFile(f, muster.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Check(context.Background(), muster.CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if text := reportText(r); r.Verdict != muster.Clean || !strings.Contains(text, "assuming malloc finds a heap of 8 MiB") {
			t.Errorf("%s: %s", name, text)
		}
		ran, err := l.Run(context.Background(), muster.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ran.Buffer("copy"); err != nil || !bytes.Equal(got, make([]byte, 16)) {
			t.Errorf("%s: the copy of the block is % x, %v", name, got, err)
		}
	}
}

// TestHeapAnyCount: a proof for one trip count does not speak of larger ones, which may fill
// the heap.
func TestHeapAnyCount(t *testing.T) {
	const text = `.version 8.8
.target sm_90a
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.visible .entry k(.param .u32 n)
{
	.reg .pred %p; .reg .b32 %i, %n; .reg .b64 %size, %block;
	ld.param.u32 %n, [n]; mov.u32 %i, 0; mov.u64 %size, 16;
L:	{ .param .b64 p; .param .b64 q; st.param.b64 [p], %size; call.uni (q), malloc, (p); ld.param.b64 %block, [q]; }
	st.u32 [%block], %i;
	add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;
	ret;
}
`
	m, err := ptx.Parse("any.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := launch.FromFlags(launch.Flags{PTX: "any.ptx", Grid: "1", Block: "32", Args: []string{"s32:16"}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadModule(f, m, []byte(text), muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.CheckAny(context.Background(), muster.CheckOptions{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != muster.Clean || r.Proof == nil || !r.Proof.All {
		t.Fatal(reportText(r))
	}
	if any := r.Proof.Any; any == nil || any.Holds || len(any.Reasons) != 1 || !strings.Contains(any.Reasons[0].Text, "heap") {
		t.Errorf("%+v", any)
	}
}
