package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"syscall"
	"time"

	"muster"
)

// A work is what a command does under its limits. It ends early, with what there is
// until then, when its time is over or somebody interrupts it. If it does not end a
// moment after that (it reads a long file, or is where nobody asks), the process does.
type work struct {
	context.Context
	console *console
	limits  muster.Limits
	cancel  context.CancelCauseFunc
	signals chan os.Signal
	closed  chan struct{}

	mu     sync.Mutex
	timers []*time.Timer
	done   bool // the answer is there, and may take its time to be written
	gone   bool // the command has returned
}

// grace is how long work may take to end itself, of a limit on time. A tenth of the
// limit, or a second, is what all of it may take.
func grace(limit time.Duration) time.Duration { return max(limit/10, time.Second) * 8 / 10 }

// begin begins the work of a command whose flags have been read.
func (c *console) begin(in *input) (*work, error) {
	if err := in.checkLimits(); err != nil {
		return nil, err
	}
	w := &work{console: c, limits: in.limits, signals: make(chan os.Signal, 1), closed: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(context.Background())
	w.Context, w.cancel = muster.WithTime(ctx, in.limits.Time), cancel
	signal.Notify(w.signals, os.Interrupt, syscall.SIGTERM)
	go w.listen()
	w.endIn(in.limits.Time+grace(in.limits.Time), fmt.Sprintf("the time limit of %v ran out (--limit-time)", in.limits.Time), false)
	if c.alone {
		debug.SetMemoryLimit(max(in.limits.Memory, leastMemory))
		go w.weigh(time.NewTicker(20 * time.Millisecond))
	}
	return w, nil
}

// listen waits for a signal. The next one ends the process as if nobody listened.
func (w *work) listen() {
	select {
	case s := <-w.signals:
		signal.Stop(w.signals)
		w.interrupt(s)
	case <-w.closed:
	}
}

// An interruption is why work was cancelled.
type interruption struct{ os.Signal }

func (e interruption) Error() string { return e.String() }

func (w *work) interrupt(s os.Signal) {
	w.cancel(interruption{s})
	w.endIn(grace(time.Second), "interrupted ("+s.String()+")", true)
}

// leastMemory is what the command takes before it has done anything, and more.
// Work that asks for less is refused by what it asks for, and not from outside.
const leastMemory = 32 << 20

// weigh looks whether the process takes more memory than it may, which runs look at
// themselves.
func (w *work) weigh(t *time.Ticker) {
	defer t.Stop()
	for {
		select {
		case <-w.closed:
			return
		case <-t.C:
		}
		s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		most := uint64(max(w.limits.Memory, leastMemory))
		if s[0].Value.Uint64()-s[1].Value.Uint64() > most/100*107 && s[2].Value.Uint64() > most {
			w.end(fmt.Sprintf("the memory limit of %d bytes ran out (--limit-memory)", w.limits.Memory), false)
		}
	}
}

// endIn has the process end in a while, unless the work is done by then; where it is
// to end for certain, unless the command has returned.
func (w *work) endIn(d time.Duration, why string, certain bool) {
	if !w.console.alone {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timers = append(w.timers, time.AfterFunc(d, func() { w.end(why, certain) }))
}

func (w *work) end(why string, certain bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone || w.done && !certain {
		return
	}
	fmt.Fprintf(w.console.err, "muster: incomplete: %s, and what was done until then cannot be told\n", why)
	os.Exit(exitIncomplete)
}

// answered says that the limits have been kept: what is left is to write the answer.
func (w *work) answered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
}

// close ends the work.
func (w *work) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
	signal.Stop(w.signals)
	close(w.closed)
	w.cancel(nil)
	for _, t := range w.timers {
		t.Stop()
	}
}

// exit is the exit status of a command that says err: that of work that was
// interrupted is incomplete, whatever was found by then.
func (w *work) exit(err error) error {
	var status exit
	if w.Err() != nil && (err == nil || errors.As(err, &status)) {
		return exit(exitIncomplete)
	}
	return err
}
