package muster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/launch"
	"muster/ptx"
)

// viewedCalls calls functions, one of which calls itself, in some lanes and not in others; it
// has registers of every width, of one name in several blocks, and lanes that exit early.
const viewedCalls = `.version 8.3
.target sm_90
.address_size 64
.func (.reg .b32 sum) down(.reg .b32 n)
{
	.reg .b32 %r<3>;
	.reg .pred %p;
	setp.eq.u32 %p, n, 0;
	mov.u32 sum, 7;
	@%p bra done;
	sub.u32 %r1, n, 1;
	call (%r2), down, (%r1);
	add.u32 sum, %r2, n;
done:
	ret;
}
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.reg .b128 %q;
	.reg .b16 %h;
	.reg .v2 .b32 v;
	.reg .f32 %f;
	.reg .pred %p, %p2;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	setp.gt.u32 %p2, %r1, 40;
	mov.b64 %rd2, 0xfedcba9876543210;
	mov.b128 %q, {%rd1, %rd2};
	cvt.u16.u32 %h, %r1;
	cvt.rn.f32.u32 %f, %r1;
	mov.u32 v.x, 3;
	mov.u32 v.y, %r1;
	mul.wide.u32 %rd3, %r1, 4;
	add.u64 %rd3, %rd1, %rd3;
	@%p2 exit;
	and.b32 %r2, %r1, 3;
	setp.eq.u32 %p, %r2, 0;
	@%p bra skip;
	call (%r3), down, (%r2);
	st.global.u32 [%rd3], %r3;
skip:
	{
		.reg .b32 t;
		add.u32 t, %r1, 1;
		st.global.u32 [%rd3], t;
	}
	{
		.reg .b32 t;
		add.u32 t, %r1, 2;
		atom.global.add.u32 %r4, [%rd3], t;
	}
	ret;
}
`

// TestViewCalls is TestViewIsTheMachine for called functions, and for registers of all kinds.
func TestViewCalls(t *testing.T) {
	t.Parallel()
	mod, err := ptx.Parse("k.ptx", []byte(viewedCalls))
	if err != nil {
		t.Fatal(err)
	}
	out := launch.Buffer{Name: "out", Type: launch.U32, Shape: []int64{64}, Fill: launch.Fill{Kind: launch.FillZeros}}
	f := &launch.File{Name: "k.yaml", Buffers: []launch.Buffer{out}, Launches: []launch.Launch{{PTX: "k.ptx", Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{64, 1, 1},
		Args: []launch.Arg{{Kind: launch.ArgPointer, Ptr: &launch.Pointer{Buffer: "out"}}}}}}
	l, err := muster.LoadModule(f, mod, []byte(viewedCalls), muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, run := firstFinding(t, l)
	v, err := l.View(context.Background(), r, muster.ViewOptions{Runs: []muster.ViewRun{run}})
	if err != nil {
		t.Fatal(err)
	}
	d := decodeView(t, v)
	c := newComparison(t, l, run, d)
	w := d.Runs[0].Detail[0]
	c.window(w[0], w[1], d.blob[w[2]:w[2]+w[3]])
	for _, name := range []string{"down: n", "down: sum", "%q.lo", "%q.hi", "%h", "%f", "v.x", "v.y", "%p2", "t@" + lineOf("t;", 1), "t@" + lineOf("t;", 2)} {
		if !slices.Contains(d.Runs[0].table, name) {
			t.Errorf("no register %s", name)
		}
	}
}

// lineOf is the line of viewedCalls that ends in some text for the nth time.
func lineOf(end string, n int) string {
	for i, line := range strings.Split(viewedCalls, "\n") {
		if strings.HasSuffix(line, end) && strings.Contains(line, ".reg") {
			if n--; n == 0 {
				return fmt.Sprint(i + 1)
			}
		}
	}
	return "?"
}
