// Package others has what Go has in place of package mbarrier: barriers and rings built from package sync
// and from channels. They are what the barrier's speed is measured against.
package others

import "sync"

// A Barrier is a kind of barrier. Make returns the function with which goroutine rank of n passes its k-th
// phase.
type Barrier struct {
	Name string
	Make func(n int) func(rank, k int)
}

// Barriers are the kinds that there are.
var Barriers = []Barrier{
	{"mutex+cond", cond},
	{"chan-close", closed},
	{"chan-messages", messages},
	{"waitgroup", group},
}

func cond(n int) func(rank, k int) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	arrived, phase := 0, 0
	return func(int, int) {
		mu.Lock()
		defer mu.Unlock()
		if arrived++; arrived == n {
			arrived = 0
			phase++
			cond.Broadcast()
			return
		}
		for p := phase; p == phase; {
			cond.Wait()
		}
	}
}

// closed closes one channel per phase.
func closed(n int) func(rank, k int) {
	var mu sync.Mutex
	arrived, gate := 0, make(chan struct{})
	return func(int, int) {
		mu.Lock()
		mine := gate
		if arrived++; arrived == n {
			arrived = 0
			gate = make(chan struct{})
			close(mine)
		}
		mu.Unlock()
		<-mine
	}
}

// messages collects a message from each and answers each; it allocates nothing. Successive phases answer
// on different channels, or a fast goroutine would take the answer of a slow one.
func messages(n int) func(rank, k int) {
	arrive := make(chan struct{}, n)
	release := [2]chan struct{}{make(chan struct{}, n), make(chan struct{}, n)}
	return func(rank, k int) {
		if rank != 0 {
			arrive <- struct{}{}
			<-release[k%2]
			return
		}
		for range n - 1 {
			<-arrive
		}
		for range n - 1 {
			release[k%2] <- struct{}{}
		}
	}
}

// group has a WaitGroup for each phase, three in rotation: when phase k+1 is complete, every goroutine has
// returned from the Wait of phase k.
func group(n int) func(rank, k int) {
	var wg [3]sync.WaitGroup
	for i := range wg {
		wg[i].Add(n)
	}
	return func(rank, k int) {
		g := &wg[k%3]
		g.Done()
		g.Wait()
		if rank == 0 && k > 0 {
			wg[(k-1)%3].Add(n)
		}
	}
}

// A Ring is a kind of ring between one producer and one consumer. Make returns the two functions: put
// sends the k-th item, take receives an item.
type Ring struct {
	Name string
	Make func(depth int) (put func(k int), take func() int)
}

// Rings are the kinds that there are.
var Rings = []Ring{
	{"two-channels", twoChannels},
	{"channel", channel},
}

// twoChannels is a ring of slots that are filled in place, with a channel for each direction: what a
// Pipeline does.
func twoChannels(depth int) (func(k int), func() int) {
	free, full := make(chan int, depth), make(chan int, depth)
	slots := make([]int, depth)
	for s := range depth {
		free <- s
	}
	put := func(k int) {
		s := <-free
		slots[s] = k
		full <- s
	}
	take := func() int {
		s := <-full
		k := slots[s]
		free <- s
		return k
	}
	return put, take
}

// channel copies the items through one buffered channel.
func channel(depth int) (func(k int), func() int) {
	ch := make(chan int, depth)
	return func(k int) { ch <- k }, func() int { return <-ch }
}
