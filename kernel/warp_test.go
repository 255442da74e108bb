package kernel_test

import (
	"strings"
	"testing"

	"muster/kernel"
)

// TestWarpSteps: shuffles and votes order no memory, WarpSync does.
func TestWarpSteps(t *testing.T) {
	broken(t, 1, []part{{"warp sync", "race-lanes"}, {"reduction's barrier", "race-shared"}}, func(k *kernel.Kernel, out, in kernel.Ptr, has func(string) bool) {
		s := k.Shared("s", kernel.U32, 64)
		t := k.TidX()
		s.At(t).Store(in.At(t).Load())
		all := k.VoteBallot(t.Lt(40))
		if has("warp sync") {
			k.WarpSync()
		}
		v := k.ShflBfly(s.At(t.Xor(1)).Load(), 2).Add(all)
		if has("reduction's barrier") {
			v = k.CTAReduce(kernel.Add, v)
		} else {
			s.At(t.Xor(32)).Store(v)
		}
		out.At(t).Store(v)
	})
}

// TestWarpText checks the instructions of shuffles of segments and of 64 bits, and
// of reductions.
func TestWarpText(t *testing.T) {
	for _, c := range []struct {
		name string
		body func(k *kernel.Kernel)
		want []string
	}{
		{"segment", func(k *kernel.Kernel) { k.ShflDown(k.TidX(), 2, kernel.Width(8)) }, []string{"shfl.sync.down.b32 %r2, %r1, 2, 6175, 4294967295;"}},
		{"up", func(k *kernel.Kernel) { k.ShflUp(k.TidX(), 2, kernel.Width(16)) }, []string{"shfl.sync.up.b32 %r2, %r1, 2, 4096, 4294967295;"}},
		{"64 bits", func(k *kernel.Kernel) { k.ShflBfly(k.Const(kernel.F64, 1), 4) }, []string{
			"mov.b64 {%r2, %r3}, %fd1;", "shfl.sync.bfly.b32 %r4, %r2, 4, 31, 4294967295;", "shfl.sync.bfly.b32 %r5, %r3, 4, 31, 4294967295;", "mov.b64 %fd6, {%r4, %r5};"}},
		{"one instruction", func(k *kernel.Kernel) { k.WarpReduce(kernel.Max, k.Special("%tid.x", kernel.S32)) }, []string{"redux.sync.max.s32 %r2, %r1, 4294967295;"}},
		{"members", func(k *kernel.Kernel) { k.VoteAny(k.TidX().Eq(0), kernel.Members(0xf0)) }, []string{"vote.sync.any.pred %p3, %p2, 240;"}},
		{"aligned", func(k *kernel.Kernel) { k.ClusterSync(kernel.Aligned) }, []string{"barrier.cluster.arrive.release.aligned;", "barrier.cluster.wait.acquire.aligned;"}},
		{"grids", func(k *kernel.Kernel) { k.GridDependencyWait(); k.LaunchDependents() }, []string{"griddepcontrol.wait;", "griddepcontrol.launch_dependents;"}},
	} {
		k := kernel.New("text", kernel.Block(64), kernel.Clusters(2))
		c.body(k)
		text, err := k.Text()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(text, "\t"+w+"\n") {
				t.Errorf("%s: no %s in\n%s", c.name, w, text)
			}
		}
	}
}
