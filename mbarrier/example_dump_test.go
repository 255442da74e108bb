package mbarrier_test

import (
	"os"
	"time"

	. "muster/mbarrier"
)

// One of three has arrived with bytes that have not landed, one waits, one is missing.
func ExampleDump() {
	b := New(3, WithName("full"), WithTrace())
	loader, worker := make(chan bool), make(chan bool)
	go func() { b.ArriveTx(1, 512); close(loader) }()
	<-loader
	go func() { b.ArriveAndWait(); close(worker) }()
	for b.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	Dump(os.Stdout, b)
	b.CompleteTx(512)
	b.Arrive()
	<-worker
	// Output:
	// full: phase 0 (parity 0): pending 1 of 3, tx 512
	//   phase 0 is owed 1 arrival and 512 bytes
	//   1 goroutine waits for phase 0
	//     1 at mbarrier_test.ExampleDump.func2 (example_dump_test.go:16)
	//   arrived in phase 0
	//     1 at mbarrier_test.ExampleDump.func1 (example_dump_test.go:14)
	//     1 at mbarrier_test.ExampleDump.func2 (example_dump_test.go:16)
	//   bytes announced (+) and landed (-) in phase 0
	//     +512 at mbarrier_test.ExampleDump.func1 (example_dump_test.go:14)
}
