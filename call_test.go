package muster_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/kernel"
)

// racing returns a call of a kernel in which two warps store to one word without
// synchronization, and the line of that store.
func racing(t *testing.T) (*kernel.Call, string) {
	t.Helper()
	k := kernel.New("racing", kernel.Block(64))
	x := k.GlobalPtr("x", kernel.U32)
	x.Store(k.TidX())
	_, file, line, _ := runtime.Caller(0)
	c, err := k.Call(kernel.Grid(1), make([]uint32, 4))
	if err != nil {
		t.Fatal(err)
	}
	return c, fmt.Sprintf("%s:%d", file[strings.LastIndex(file, "/")+1:], line-1)
}

// TestCallFindings: findings have the line of the Go program and that of the
// PTX, and a replay line for the files that Call.Write writes.
func TestCallFindings(t *testing.T) {
	c, line := racing(t)
	l, err := muster.LoadCall(c, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	if err := r.WriteText(&told, muster.TextOptions{}); err != nil || !strings.Contains(told.String(), "writes at "+line+"\n") {
		t.Errorf("%v\n%s", err, &told)
	}
	f := r.Findings[0]
	text := strings.Split(c.Module.String(), "\n")
	for _, s := range f.Sites {
		if len(s.Source) != 1 || s.Source[0].String() != line || s.PTX == nil || s.PTX.File != "racing.ptx" || !strings.Contains(text[s.PTX.Line-1], "st.global.u32") {
			t.Errorf("%v at %v", s.Source, s.PTX)
		}
		if s.Memory == nil || !strings.HasPrefix(s.Memory.Name, "x") {
			t.Errorf("%+v", s.Memory)
		}
	}
	if want := "muster replay racing.yaml --schedule earliest --finding " + f.ID + " # Call.Write writes racing.yaml"; f.Replay != want {
		t.Error(f.Replay)
	}
	r.Findings = r.Findings[:1]
	if r.Rename("asked"); r.Findings[0].Replay != "muster replay racing.yaml --schedule earliest --finding asked # Call.Write writes racing.yaml" {
		t.Error(r.Findings[0].Replay)
	}
	s, err := l.Tell(context.Background(), muster.Schedule{}, muster.TellOptions{Finding: f.ID})
	if err != nil || len(s.Steps) == 0 {
		t.Error(s, err)
	}
	if again, err := l.Replay(context.Background(), muster.Schedule{}); err != nil || len(again.Findings) == 0 || again.Findings[0].ID != f.ID {
		t.Error(again, err)
	}
}

// TestCallShape: what the machine refuses of a launch is at the line of the call.
func TestCallShape(t *testing.T) {
	k := kernel.New("many", kernel.Block(32))
	c, err := k.Call(kernel.Grid(1<<31-1, 65535))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := muster.LoadCall(c, muster.Limits{}); err == nil || !strings.HasPrefix(err.Error(), "call_test.go:") {
		t.Error(err)
	}
}

// A kernel in Go, checked where it is written. The line of each finding is one of
// this file.
func ExampleLoadCall() {
	k := kernel.New("reverse", kernel.Block(64))
	x := k.GlobalPtr("x", kernel.U32)
	s := k.Shared("s", kernel.U32, 64)
	i := k.TidX()
	s.At(i).Store(x.At(i).Load())
	// k.SyncThreads() is missing.
	x.At(i).Store(s.At(i.Xor(63)).Load())

	call, err := k.Call(kernel.Grid(1), make([]uint32, 64))
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Verdict, report.Findings[0].Kind)
	// Output: findings race-shared
}

// TestCallNames: variables keep their names where there are so many that shared
// memory is dynamic.
func TestCallNames(t *testing.T) {
	for _, n := range []int{64, 16 << 10} {
		k := kernel.New("names", kernel.Block(64))
		k.SharedAlign("first", 64, kernel.U32, 3)
		other := k.SharedAlign("other", 64, kernel.U32, n)
		k.Mbarrier("bar", 1)
		k.InitMbarriers()
		other.At(2).Store(k.TidX())
		c, err := k.Call(kernel.Grid(1))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		k.EachShared(func(name string, offset, bytes int) { got = append(got, fmt.Sprint(name, " ", offset, " ", bytes)) })
		want := []string{"first 0 12", "other 0 256", "bar 0 8"}
		if n > 64 {
			want = []string{"first 0 12", "other 64 65536", "bar 65600 8"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		l, err := muster.LoadCall(c, muster.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Check(t.Context(), muster.CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) != 1 || !strings.HasPrefix(r.Findings[0].Headline, "4 bytes at other+8 of CTA 0: ") || !strings.HasPrefix(r.Findings[0].Sites[0].Memory.Name, "other") {
			t.Errorf("%+v", r.Findings)
		}
	}
}
