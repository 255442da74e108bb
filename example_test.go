package muster_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"muster"
	"muster/launch"
)

// A bulk store reads what ordinary stores wrote, and no fence stands between.
func ExampleLaunch_Check() {
	f, err := launch.FromFlags(launch.Flags{
		PTX: "examples/bulk_store/broken_no_fence.ptx", Grid: "2", Block: "128",
		Buffers: []string{"in=f32[2048]:iota", "out=f32[2048]"}, Args: []string{"in", "out", "s32:8"},
	})
	if err != nil {
		log.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Verdict)
	for _, f := range r.Findings[:1] {
		fmt.Println(f.Kind)
		for _, s := range f.Sites {
			at := s.Source[len(s.Source)-1]
			fmt.Printf("%s at %v\n", s.Role, at)
		}
	}
	// Output:
	// findings
	// proxy-raw
	// writes at broken_no_fence.cu:18
	// bulk copy reads at broken_no_fence.cu:21
}

func ExampleLaunch_Run() {
	f, err := launch.FromFlags(launch.Flags{
		PTX: "examples/ring/ring.ptx", Grid: "1", Block: "160",
		Buffers: []string{"in=f32[16384]:iota", "out=f32[128]:nan"}, Args: []string{"in", "out", "s32:64"},
		Expect: []string{"out=examples/ring/out.npy"},
	})
	if err != nil {
		log.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.OK(), r.Comparisons[0])
	// Output: true 128 elements agree; worst error 0 absolute, 0 relative, 0 ulp
}

func ExampleLoad() {
	_, err := muster.Load("nowhere.json")
	fmt.Println(err, errors.Is(err, os.ErrNotExist))
	// Output: nowhere.json: no such file or directory true
}
