package kernels_test

import (
	"context"
	"fmt"
	"regexp"

	"muster"
	"muster/examples/kernels"
)

// say checks a kernel and prints what the check says: its verdict, and of the
// first error of each kind the lines of Go that it names, and the headline.
func say(make func(mistake string) (*kernels.Work, error), mistake string) {
	w, err := make(mistake)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := muster.LoadCall(w.Call, muster.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Summary)
	told := map[string]bool{}
	for _, f := range r.Findings {
		if f.Severity != "error" || told[f.Kind] {
			continue
		}
		told[f.Kind] = true
		at := ""
		for _, s := range f.Sites {
			if len(s.Source) > 0 {
				at += fmt.Sprintf(" %s:%d", s.Source[0].File, s.Source[0].Line)
			}
		}
		fmt.Printf("%s%s: %s\n", f.Kind, at, lineOfPTX.ReplaceAllString(f.Headline, ""))
	}
}

// lineOfPTX is what a headline says of the module's text, which changes with
// package kernel; the lines of Go stand before it.
var lineOfPTX = regexp.MustCompile(` at line \d+`)

func ExampleSameThread() {
	say(kernels.SameThread, "")
	say(kernels.SameThread, "nobody waits")
	say(kernels.SameThread, "one arrival too few")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// 1 finding (1 error) in 7 schedules, 1 CTA, 64 threads
	// race-shared barrier.go:21 barrier.go:26: 4 bytes at buf+128 of CTA 0: lane 31 of warp 0 of CTA 0 reads and lane 0 of warp 1 of CTA 0 writes, in no order
	// 1 finding (1 error) in 7 schedules, 1 CTA, 64 threads
	// arrivals-missing barrier.go:18 barrier.go:22: the mbarrier at bar of CTA 0 counts 65 arrivals a phase, and only 64 come in phase 0
}

func ExampleSplit() {
	say(kernels.Split, "")
	say(kernels.Split, "one buffer")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// 1 finding (1 error) in 7 schedules, 1 CTA, 64 threads
	// race-shared barrier.go:53 barrier.go:57: 4 bytes at buf+128 of CTA 0: lane 0 of warp 1 of CTA 0 writes and lane 31 of warp 0 of CTA 0 reads, in no order
}

func ExampleTwoTilesByToken() {
	say(kernels.TwoTilesByToken, "")
	say(kernels.TwoTilesByToken, "the first token is waited for twice")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// 5 findings (4 errors, 1 warning) in 8 schedules, 1 CTA, 64 threads
	// lapped-wait barrier.go:93 barrier.go:101: lane 0 of warp 0 of CTA 0 waits for phase 0 of the mbarrier at bar of CTA 0, and phase 1 can be complete before it looks
	// stale-token barrier.go:93 barrier.go:101: a wait at the mbarrier at bar of CTA 0 uses a token of phase 0 while phase 2 is open
	// race-shared barrier.go:91 barrier.go:102: 4 bytes at buf+256 of CTA 0: lane 31 of warp 1 of CTA 0 reads and bulk copy of warp 0 of CTA 0 writes, in no order
	// read-in-flight barrier.go:91 barrier.go:102: 4 bytes at buf+380 of CTA 0: lane 0 of warp 1 of CTA 0 reads what bulk copy of warp 0 of CTA 0 writes, before its completion was waited for
}

func ExampleTwoTilesByParity() {
	say(kernels.TwoTilesByParity, "")
	say(kernels.TwoTilesByParity, "nothing holds the second tile back")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// 1 finding (1 error) in 8 schedules, 1 CTA, 64 threads
	// lapped-wait barrier.go:134 barrier.go:140: warp 1 of CTA 0 waits for phase 0 of the mbarrier at bar of CTA 0, and phase 1 can be complete before it looks
}

func ExampleRoles() {
	say(kernels.Roles, "")
	say(kernels.Roles, "nobody says that the tile is read")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 160 threads, for every content of the buffers
	// 4 findings (3 errors, 1 warning) at 13 places in 7 schedules, 1 CTA, 160 threads
	// race-shared ring.go:33 ring.go:42: 4 bytes at buf of CTA 0: lane 0 of warp 1 of CTA 0 reads and bulk copy of warp 0 of CTA 0 writes, in no order
	// arrivals-excess ring.go:20 ring.go:32 ring.go:32: the mbarrier at full of CTA 0 counts 1 arrival a phase, and more come: lane 0 of warp 0 of CTA 0 arrives in phase 0, where 0 are pending, and the card ends the launch
	// overwrite-in-flight ring.go:33 ring.go:33: 128 bytes at buf of CTA 0: bulk copy of warp 0 of CTA 0 overwrites what bulk copy of warp 0 of CTA 0 may still be writing
}

func ExampleRing() {
	say(kernels.Ring, "")
	say(kernels.Ring, "one lane releases before the warp has read")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 160 threads, for every content of the buffers
	// 2 findings (1 error, 1 warning) in 8 schedules, 1 CTA, 160 threads
	// race-lanes ring.go:83 ring.go:93: 4 bytes at buf+4 of CTA 0: bulk copy of warp 0 of CTA 0 writes what lane 1 of warp 1 of CTA 0 read; another lane of that warp published it
}

func ExampleBulkStore() {
	say(kernels.BulkStore, "")
	say(kernels.BulkStore, "no proxy fence")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 128 threads, for every content of the buffers
	// 1 finding (1 error) in 7 schedules, 1 CTA, 128 threads
	// proxy-raw copies.go:23 copies.go:29: 4 bytes at buf of CTA 0: bulk copy of warp 0 of CTA 0 reads through the asynchronous proxy what lane 0 of warp 0 of CTA 0 wrote through the generic one
}

func ExampleLDGSTS() {
	say(kernels.LDGSTS, "")
	say(kernels.LDGSTS, "the last turn waits for all but one group")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 64 threads, for every content of the buffers
	// 2 findings (1 error, 1 warning) at 5 places in 7 schedules, 1 CTA, 64 threads
	// read-in-flight copies.go:53 copies.go:72: 4 bytes at buf+1028 of CTA 0: lane 1 of warp 0 of CTA 0 reads what cp.async of warp 0 of CTA 0 writes, before its completion was waited for
}

func ExamplePingPong() {
	say(kernels.PingPong, "")
	say(kernels.PingPong, "both begin")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 128 threads, for every content of the buffers
	// 4 findings (4 errors) at 12 places in 12 schedules, 1 CTA, 128 threads
	// named-barrier-mismatch copies.go:106 copies.go:110: named barrier 1 of CTA 0: warp 3 comes to generation 1 without knowing that generation 0 is complete: it may fill that one instead
	// race-shared copies.go:114 copies.go:114: 4 bytes at buf+128 of CTA 0: lane 0 of warp 1 of CTA 0 writes and lane 0 of warp 3 of CTA 0 writes, in no order
}

func ExampleClusterReduce() {
	say(kernels.ClusterReduce, "")
	say(kernels.ClusterReduce, "a CTA exits while others read it")
	// Output:
	// clean: all schedules of this launch, 8 CTAs, 512 threads, for every content of the buffers
	// 1 finding (1 error) at 3 places in 7 schedules, 8 CTAs, 512 threads
	// exit-before-remote copies.go:175: CTA 1 may have ended when lane 0 of warp 0 of CTA 0 reads there
}

func ExampleTensorCopy() {
	say(kernels.TensorCopy, "")
	say(kernels.TensorCopy, "only the tensor's own bytes are expected")
	// Output:
	// clean: all schedules of this launch, 2 CTAs, 128 threads, for every content of the buffers
	// 1 finding (1 error) in 7 schedules, 2 CTAs, 128 threads
	// bytes-early tensor.go:25 tensor.go:26: the mbarrier at full of CTA 0: 1792 bytes have landed that no phase expects
}

func ExampleProduct() {
	say(kernels.Product, "")
	say(kernels.Product, "the sums are read in flight")
	// Output:
	// clean: all schedules of this launch, 1 CTA, 128 threads, for every content of the buffers
	// 2 findings (2 errors) at 5 places in 7 schedules, 1 CTA, 128 threads
	// register-in-flight tensor.go:73 tensor.go:82: st.global.f32: warp 1 of CTA 0 touches register %f11, accumulator of wgmma.mma_async, which it has not waited for
	// exit-in-flight tensor.go:73: CTA 0 may end while wgmma of warp 1 of CTA 0 is still reading from its shared memory
}

func ExampleMulticast() {
	say(kernels.Multicast, "")
	say(kernels.Multicast, "releases reach only the own CTA")
	say(kernels.Multicast, "a CTA exits early")
	// Output:
	// clean: all schedules of this launch, 2 CTAs, 320 threads, for every content of the buffers
	// 3 findings (3 errors) at 6 places in 8 schedules, 2 CTAs, 320 threads
	// overwrite-in-flight multicast.go:64 multicast.go:52: 32 bytes at b_tile of CTA 1: bulk copy of warp 4 of CTA 0 overwrites what wgmma of warp 0 of CTA 1 may still be reading
	// phase-mixing multicast.go:51 multicast.go:52: cp.async.bulk.tensor by lane 0 of warp 4 of CTA 0 is charged to phase 0 or to phase 1 of the mbarrier at ring_full of CTA 1, as the schedule decides
	// 2 findings (2 errors) in 7 schedules, 2 CTAs, 320 threads
	// exit-before-remote multicast.go:67: CTA 0 may have ended when lane 0 of warp 0 of CTA 1 arrives there
}

func ExampleGrouped() {
	say(kernels.Grouped, "")
	say(kernels.Grouped, "a map is used without an acquire")
	say(kernels.Grouped, "the next problem's maps are written while copies run")
	// Output:
	// clean: all schedules of this launch, 2 CTAs, 320 threads
	// 2 findings (2 errors) in 7 schedules, 2 CTAs, 320 threads
	// tensormap-stale grouped.go:67 grouped.go:82: 128 bytes at maps+128 of global memory: bulk copy of warp 4 of CTA 0 reads the tensor map that lane 0 of warp 4 of CTA 0 wrote, through the tensor-map proxy
	// 2 findings (2 errors) in 7 schedules, 2 CTAs, 320 threads
	// tensormap-in-flight grouped.go:81 grouped.go:67: 128 bytes at maps of global memory: lane 0 of warp 4 of CTA 0 changes the tensor map of bulk copy of warp 4 of CTA 0, which may be in flight
}
