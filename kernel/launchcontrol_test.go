package kernel_test

import (
	"fmt"
	"slices"
	"testing"

	"muster"
	"muster/kernel"
)

// TestLaunchControlMistakes: mistakes with launch control, when the kernel is built and when
// it is checked.
func TestLaunchControlMistakes(t *testing.T) {
	const file = "launchcontrol_test.go"
	got := mistakesOf(t, []kernel.Option{kernel.Block(32), kernel.Clusters(2), kernel.Target("sm_100a")}, func(k *kernel.Kernel) {
		w := k.LaunchControl("work", 1, 32) // here: clusters
		k.InitMbarriers()
		w.Try() // here: asked by a warp
	})
	want := fmt.Sprintf("%s:%d: LaunchControl(\"work\"): the kernel has clusters of 2, all of whose CTAs take an answer: use inst.ClusterlaunchcontrolTryCancel with multicast::cluster::all\n", file, lineOf(t, file, "// here: clusters")) +
		fmt.Sprintf("%s:%d: Try is for one thread, and here are threads 0 to 31: each would take a CTA; use Elect or SingleThread", file, lineOf(t, file, "// here: asked by a warp"))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	k := kernel.New("work", kernel.Block(32), kernel.Target("sm_100a"))
	w := k.LaunchControl("work_left", 1, 32)
	k.InitMbarriers()
	k.For(0, 3, 1, func(kernel.Reg) { // whatever the answers are
		k.SingleThread(w.Try)
		w.Wait()
		w.Release()
	})
	call, err := k.Call(kernel.Grid(2))
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(t.Context(), muster.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Findings, func(f muster.Finding) bool { return f.Kind == "cancel-misuse" }) {
		t.Errorf("no cancel-misuse: %s", r.Summary)
	}
}
