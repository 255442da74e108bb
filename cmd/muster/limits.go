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
	"muster/internal/garbage"
)

// A work is a command's work under its limits. When its time is over or it is
// interrupted, it ends early with a partial result. If it does not end a moment after
// that (reading a long file, or in code that does not poll), the process does.
type work struct {
	context.Context
	console *console
	limits  muster.Limits
	cancel  context.CancelCauseFunc
	signals chan os.Signal
	closed  chan struct{}
	after   []func() // what close does last

	mu     sync.Mutex
	timers []*time.Timer
	done   bool // the result is there; writing it may take time
	gone   bool // the command has returned
	sofar  string
}

// grace is the time that work has to stop after a time limit: 8/10 of a tenth of the
// limit, or of a second if that is longer.
func grace(limit time.Duration) time.Duration { return max(limit/10, time.Second) * 8 / 10 }

// begin starts the work of a command, after its flags are parsed.
func (c *console) begin(in *input) (*work, error) {
	if err := in.checkLimits(); err != nil {
		return nil, err
	}
	w := &work{console: c, limits: in.limits, signals: make(chan os.Signal, 1), closed: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(context.Background())
	w.Context, w.cancel = muster.WithTime(ctx, in.limits.Time), cancel
	switch {
	case c.follow != nil:
		w.Context = muster.WithProgress(w.Context, c.follow)
	case !in.quiet:
		c.display = c.show(in.limits.Time)
		w.Context = muster.WithProgress(w.Context, c.display.tell)
	}
	signal.Notify(w.signals, os.Interrupt, syscall.SIGTERM)
	in.begun = w
	go w.listen()
	w.endIn(in.limits.Time+grace(in.limits.Time), fmt.Sprintf("the time limit of %v ran out (--limit-time)", in.limits.Time), false)
	if c.alone {
		debug.SetMemoryLimit(max(in.limits.Memory, leastMemory))
		garbage.Gather()
		go w.weigh(time.NewTicker(20 * time.Millisecond))
	}
	return w, nil
}

// listen waits for a signal. A second signal has its default effect.
func (w *work) listen() {
	select {
	case s := <-w.signals:
		signal.Stop(w.signals)
		w.interrupt(s)
	case <-w.closed:
	}
}

// An interruption is the cause of a cancellation by a signal.
type interruption struct{ os.Signal }

func (e interruption) Error() string { return e.String() }

func (w *work) interrupt(s os.Signal) {
	w.cancel(interruption{s})
	w.endIn(grace(time.Second), "interrupted ("+s.String()+")", true)
}

// leastMemory exceeds what the command itself takes. Below it, the limit is enforced only
// on the memory that runs ask for, not on the process.
const leastMemory = 32 << 20

// weigh ends the process if it exceeds its memory limit; runs check the limit themselves.
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

// endIn ends the process after d, unless the work is done by then; if certain, unless the
// command has returned.
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
	fmt.Fprintf(beside{w.console}, "muster: incomplete: %s, and %s\n", why, w.until())
	os.Exit(exitIncomplete)
}

// tell keeps what the work has done so far.
func (w *work) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sofar = text
}

// until says what was done, of work that ends without a result.
func (w *work) until() string {
	if w.sofar == "" {
		return "what was done until then cannot be told"
	}
	return "there is no report; until then: " + w.sofar
}

// answered says that the work kept its limits: only writing the result is left.
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
	w.console.display.end()
	signal.Stop(w.signals)
	close(w.closed)
	w.cancel(nil)
	for _, t := range w.timers {
		t.Stop()
	}
	for _, f := range w.after {
		f()
	}
}

// exit returns the exit status for err: interrupted work is incomplete, whatever it
// found.
func (w *work) exit(err error) error {
	var status exit
	if w.Err() != nil && (err == nil || errors.As(err, &status)) {
		return exit(exitIncomplete)
	}
	return err
}
