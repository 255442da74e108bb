package kernel_test

import (
	"fmt"

	"muster/kernel"
)

// Warps take roles; Sync waits for the threads of the role.
func ExampleGroup() {
	k := kernel.New("roles", kernel.Block(160))
	k.SingleWarp(0, func() {
		fmt.Println(k.Group(), "-", k.Sync())
		k.Elect(func() { fmt.Println("one thread -", k.Sync()) })
	})
	k.Warps(1, 4, func() {
		fmt.Println(k.Group(), "-", k.Sync())
		k.EachWarp(func() { fmt.Println(k.Group(), "-", k.Sync()) })
	})
	fmt.Println(k.Group(), "-", k.Sync())
	// Output:
	// threads 0 to 31 - bar.warp.sync 0xffffffff
	// one thread - nothing
	// threads 32 to 159 - bar.sync 1, 128
	// threads 0 to 31 of each warp - bar.warp.sync 0xffffffff
	// threads 0 to 159 - bar.sync 0
}

// A named barrier counts 64 of the CTA's 96 threads.
func ExampleSyncKind() {
	k := kernel.New("pair", kernel.Block(96))
	k.Warps(0, 2, func() {
		s := k.Sync()
		fmt.Println(s.Op, s.Barrier, s.Threads)
	})
	// Output:
	// bar.sync 1 64
}
