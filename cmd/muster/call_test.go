package main

import (
	"context"
	"strings"
	"testing"

	"muster"
	"muster/kernel"
	"muster/launch"
)

// TestWrittenCall: the files that kernel.Call.Write writes say to the command
// what the call says in Go, and the replay line of a report works on them.
func TestWrittenCall(t *testing.T) {
	k := kernel.New("written", kernel.Block(64))
	x, n := k.GlobalPtr("x", kernel.F32), k.Param("n", kernel.U32)
	s := k.Shared("s", kernel.F32, 64)
	i := k.TidX()
	s.At(i).Store(x.At(i).Load())
	k.If(i.Lt(n), func() { x.At(i).Store(s.At(i.Xor(63)).Load()) })
	data := make([]float32, 64)
	for i := range data {
		data[i] = float32(i) / 3
	}
	call, err := k.Call(kernel.Grid(1), data, 32)
	if err != nil {
		t.Fatal(err)
	}
	want := append([]float32(nil), data...)
	for i := range 32 {
		want[i] = data[63-i]
	}
	if err := call.Expect(data, want, launch.Tolerance{}); err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if name, err := call.Write("."); name != "written.yaml" || err != nil {
		t.Fatal(name, err)
	}
	status, out, errs := run(t, "check", "written.yaml")
	if status != 1 || len(r.Findings) == 0 || !strings.HasSuffix(strings.TrimSpace(out), r.Summary) {
		t.Errorf("exit %d, %s%s\nin Go: %s", status, out, errs, r.Summary)
	}
	for _, f := range r.Findings {
		line, comment, _ := strings.Cut(f.Replay, " # ")
		if comment != "Call.Write writes written.yaml" || !strings.Contains(out, line) {
			t.Errorf("%s is not in\n%s", f.Replay, out)
		}
		status, told, errs := run(t, strings.Fields(line)[1:]...)
		if status != 1 || !strings.Contains(told, "error["+f.Kind+"]") || !strings.Contains(told, "call_test.go:") {
			t.Errorf("%s: exit %d, %s%s", line, status, told, errs)
		}
	}
	// In turns, every warp writes before any reads.
	if status, out, errs := run(t, "run", "--schedule", "round-robin", "written.yaml"); !strings.Contains(out, "x: 64 elements agree") {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
}
