package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"muster/examples/kernels"
	"muster/gpu"
	"muster/internal/ops"
	"muster/kernel"
)

// A wrong is an example with one of its mistakes, and the result of each run.
type wrong struct {
	example kernels.Example
	mistake kernels.Mistake
	said    []string
}

// mistakes runs every example of examples/kernels with each of its mistakes on
// the GPU, and says what a programmer would have seen: mostly nothing.
func mistakes(o *options, stdout io.Writer) error {
	if _, err := device(); err != nil {
		return err
	}
	var list []*wrong
	for _, e := range kernels.All() {
		for _, m := range e.Mistakes {
			if o.only.MatchString(e.Name) {
				list = append(list, &wrong{example: e, mistake: m})
			}
		}
	}
	next := make(chan *wrong, len(list))
	for _, w := range list {
		next <- w
	}
	close(next)
	var wg sync.WaitGroup
	for range o.jobs {
		wg.Go(func() {
			var a gpu.Apart
			defer a.Close()
			for w := range next {
				for range o.times {
					w.said = append(w.said, w.run(&a, o))
				}
			}
		})
	}
	wg.Wait()
	for _, w := range list {
		fmt.Fprintf(stdout, "%s, %s (%s): %s\n", w.example.Name, w.mistake.Name, strings.Join(w.mistake.Finds, ", "), tally(w.said))
	}
	return nil
}

// tally counts equal texts, in order of their first occurrence.
func tally(said []string) string {
	count := map[string]int{}
	var order []string
	for _, s := range said {
		if count[s]++; count[s] == 1 {
			order = append(order, s)
		}
	}
	for i, s := range order {
		order[i] = fmt.Sprintf("%s in %d of %d", s, count[s], len(said))
	}
	return strings.Join(order, ", ")
}

// run returns what one run showed.
func (w *wrong) run(a *gpu.Apart, o *options) string {
	want, err := w.left(a, "", o)
	if err != nil {
		return "the example without it: " + err.Error()
	}
	got, err := w.left(a, w.mistake.Name, o)
	var late *gpu.TimeoutError
	var fault *gpu.Error
	switch {
	case errors.As(err, &late):
		return "hangs"
	case errors.As(err, &fault) && fault.Fault():
		return "faults with " + fault.Name
	case errors.As(err, &fault):
		return "refused with " + fault.Name
	case err != nil:
		return err.Error()
	}
	want.PTX = got.PTX
	if got.String() == want.String() {
		return "right"
	}
	return "wrong"
}

// left runs an example with a mistake and returns the contents that it left.
func (w *wrong) left(a *gpu.Apart, mistake string, o *options) (ops.Golden, error) {
	work, err := w.example.Make(mistake)
	if err != nil {
		return ops.Golden{}, err
	}
	return left(a, w.example.Name, work.Call, o)
}

func left(a *gpu.Apart, name string, call *kernel.Call, o *options) (ops.Golden, error) {
	f, err := call.Launch()
	if err != nil {
		return ops.Golden{}, err
	}
	r, err := a.Run(context.Background(), f, gpu.Options{Module: call.Module, Timeout: o.timeout})
	if err != nil {
		return ops.Golden{}, err
	}
	return ops.Record(name, call, func(name string) ([]byte, error) { return r.Buffer(name).Data, nil })
}
