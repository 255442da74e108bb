package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"muster"
	"muster/gpu"
	"muster/launch"
)

// One launch, on the GPU and on the machine.
func Example() {
	gpu.Worker() // first in main: RunApart starts this program again
	ctx := context.Background()
	file, err := launch.ReadFile("ring.json")
	if err != nil {
		log.Fatal(err)
	}
	r, err := gpu.RunApart(ctx, file, gpu.Options{Timeout: 5 * time.Second})
	var late *gpu.TimeoutError
	if errors.As(err, &late) {
		log.Fatal("it hangs: ", late)
	} else if err != nil {
		log.Fatal(err)
	}
	l, err := muster.LoadFile(file, muster.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	m, err := l.Run(ctx, muster.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	differences, err := r.Compare(file, m.Buffer)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range differences {
		fmt.Println(d)
	}
}

// A kernel that is launched many times.
func ExampleDevice_Prepare() {
	file, err := launch.FromFlags(launch.Flags{PTX: "k.ptx", Grid: "132", Block: "128", Buffers: []string{"out=f32[1024]:zeros"}, Args: []string{"out"}})
	if err != nil {
		log.Fatal(err)
	}
	d, err := gpu.Open()
	if err != nil {
		log.Fatal(err) // no GPU: …
	}
	defer d.Close()
	p, err := d.Prepare(file, gpu.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for range 100 {
		if err := p.Launch(); err != nil {
			log.Fatal(err)
		}
	}
	if err := p.Wait(context.Background()); err != nil {
		log.Fatal(err)
	}
	r, err := p.Read()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(r.Buffer("out").Data))
}
