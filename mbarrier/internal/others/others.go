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

// Each is a type with a method, as programs have it, so that the calls between the goroutine and the scheduler
// are as many for each kind as for package mbarrier.

type condBarrier struct {
	mu             sync.Mutex
	cond           sync.Cond
	n              int
	arrived, phase int
}

func cond(n int) func(rank, k int) {
	b := &condBarrier{n: n}
	b.cond.L = &b.mu
	return func(int, int) { b.pass() }
}

func (b *condBarrier) pass() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.arrived++; b.arrived == b.n {
		b.arrived = 0
		b.phase++
		b.cond.Broadcast()
		return
	}
	for p := b.phase; p == b.phase; {
		b.cond.Wait()
	}
}

// A closedBarrier closes one channel per phase.
type closedBarrier struct {
	mu         sync.Mutex
	n, arrived int
	gate       chan struct{}
}

func closed(n int) func(rank, k int) {
	b := &closedBarrier{n: n, gate: make(chan struct{})}
	return func(int, int) { b.pass() }
}

func (b *closedBarrier) pass() {
	b.mu.Lock()
	mine := b.gate
	if b.arrived++; b.arrived == b.n {
		b.arrived = 0
		b.gate = make(chan struct{})
		close(mine)
	}
	b.mu.Unlock()
	<-mine
}

// A messageBarrier collects a message from each and answers each; it allocates nothing. Successive phases answer
// on different channels, or a fast goroutine would take the answer of a slow one.
type messageBarrier struct {
	n       int
	arrive  chan struct{}
	release [2]chan struct{}
}

func messages(n int) func(rank, k int) {
	b := &messageBarrier{n, make(chan struct{}, n), [2]chan struct{}{make(chan struct{}, n), make(chan struct{}, n)}}
	return func(rank, k int) { b.pass(rank, k) }
}

func (b *messageBarrier) pass(rank, k int) {
	if rank != 0 {
		b.arrive <- struct{}{}
		<-b.release[k%2]
		return
	}
	for range b.n - 1 {
		<-b.arrive
	}
	for range b.n - 1 {
		b.release[k%2] <- struct{}{}
	}
}

// A groupBarrier has a WaitGroup for each phase, three in rotation: when phase k+1 is complete, every goroutine
// has returned from the Wait of phase k.
type groupBarrier struct {
	n  int
	wg [3]sync.WaitGroup
}

func group(n int) func(rank, k int) {
	b := &groupBarrier{n: n}
	for i := range b.wg {
		b.wg[i].Add(n)
	}
	return func(rank, k int) { b.pass(rank, k) }
}

func (b *groupBarrier) pass(rank, k int) {
	g := &b.wg[k%3]
	g.Done()
	g.Wait()
	if rank == 0 && k > 0 {
		b.wg[(k-1)%3].Add(b.n)
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
