package mbarrier_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	. "muster/mbarrier"
)

// The examples of docs/mbarrier.md, which quotes their bodies.

func ExampleBarrier_tourSplit() {
	bar := New(2)
	left, right := 0, 0
	var wg sync.WaitGroup
	wg.Go(func() {
		left = 20
		token := bar.Arrive()
		// Work that needs nobody else goes here.
		bar.Wait(token)
		fmt.Println("together:", left+right)
	})
	wg.Go(func() {
		right = 22
		bar.Arrive()
	})
	wg.Wait()
	// Output: together: 42
}

func ExampleBarrier_tourBytes() {
	full := New(1, WithName("full"))
	full.ArriveTx(1, 1024)
	fmt.Println(full)
	full.CompleteTx(1024)
	fmt.Println(full)
	// Output:
	// full: phase 0 (parity 0): pending 0 of 1, tx 1024
	// full: phase 1 (parity 1): pending 1 of 1, tx 0
}

func ExampleBarrier_tourParity() {
	bar := New(1)
	fmt.Println("fresh:", bar.TryWaitParity(0), bar.TryWaitParity(1))
	bar.Arrive()
	fmt.Println("phase 0 is complete:", bar.TryWaitParity(0), bar.TryWaitParity(1))
	bar.Arrive()
	fmt.Println("phase 1 is complete:", bar.TryWaitParity(0), bar.TryWaitParity(1))
	// Output:
	// fresh: false true
	// phase 0 is complete: true false
	// phase 1 is complete: false true
}

func ExampleBarrier_tourDrop() {
	bar := New(3, WithName("bar"))
	bar.ArriveAndDrop()
	bar.ArriveN(2)
	fmt.Println(bar)
	// Output: bar: phase 1 (parity 1): pending 2 of 2, tx 0
}

func ExampleBarrier_tourCompletion() {
	phases := 0
	bar := New(2, WithCompletion(func() { phases++ }))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 10 {
				bar.ArriveAndWait()
			}
		})
	}
	wg.Wait()
	fmt.Println(phases)
	// Output: 10
}

func ExampleBarrier_tourStale() {
	bar := New(1, WithName("bar"))
	old := bar.Arrive()
	bar.Arrive()
	defer func() { fmt.Println(recover()) }()
	bar.Wait(old)
	// Output: mbarrier: Wait with a stale token: it is of phase 0, 2 before the current one, and only the current phase and the one before it can be waited for; bar is at phase 2 (parity 0): pending 1 of 1, tx 0
}

func ExampleBarrier_tourTooMany() {
	bar := New(2, WithName("bar"))
	defer func() { fmt.Println(recover()) }()
	bar.ArriveN(3)
	// Output: mbarrier: ArriveN over-arrives: 3 arriving where the phase still waits for 2; bar is at phase 0 (parity 0): pending 2 of 2, tx 0
}

func ExampleDump_tour() {
	full := New(2, WithName("full"))
	full.ArriveTx(1, 512)
	Dump(os.Stdout, full)
	// Output:
	// full: phase 0 (parity 0): pending 1 of 2, tx 512
	//   phase 0 is owed 1 arrival and 512 bytes
}

func ExamplePipeline_tour() {
	ctx := context.Background()
	var slots [2]strings.Builder // what the stages stand for
	ring := NewPipeline(len(slots), 1, 1)
	producer, consumer := ring.Producer(), ring.Consumer()
	go func() {
		defer producer.Quit()
		for tile := range 5 {
			slot, err := producer.Acquire(ctx) // the slot is free
			if err != nil {
				return
			}
			text := fmt.Sprintf("tile %d", tile)
			producer.CommitTx(len(text)) // so many bytes will land
			go func() {
				slots[slot].WriteString(text)
				ring.CompleteTx(slot, len(text)) // they have landed
			}()
		}
	}()
	for {
		slot, err := consumer.Wait(ctx) // the slot is full
		if err == io.EOF {
			break
		}
		fmt.Println(slots[slot].String())
		slots[slot].Reset()
		consumer.Release()
	}
	// Output:
	// tile 0
	// tile 1
	// tile 2
	// tile 3
	// tile 4
}
