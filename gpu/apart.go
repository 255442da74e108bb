package gpu

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"muster/launch"
	"muster/ptx"
)

// workerEnv, set in the environment, makes a process a worker.
const workerEnv = "MUSTER_GPU_WORKER"

// DefaultTimeout limits a launch of RunApart if Options.Timeout is 0.
const DefaultTimeout = time.Minute

// A TimeoutError is the error for a launch that did not end in time.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the kernel had not ended after %v, and was ended with its process", e.After)
}

// A request is what a worker reads on its standard input. It is JSON, because
// a nil shape differs from an empty one.
type request struct {
	File   *launch.File
	PTX    string // the module's text; "" to read the launch's file
	Memory int64
}

// A reply is what a worker writes, on file 3: standard output belongs to the kernel.
type reply struct {
	Launched bool
	Result   *Result
	Fault    *Error
	NoDevice *NoDevice
	Input    *launch.Error
	Source   *ptx.Error
	Text     string // of the error, which may wrap one of these
}

// Worker turns the process into a worker, and does not return, if RunApart or an
// Apart started it. A main that uses these calls Worker first.
func Worker() {
	if os.Getenv(workerEnv) == "" {
		return
	}
	if err := work(json.NewDecoder(os.Stdin), gob.NewEncoder(os.NewFile(3, "replies"))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work answers requests up to the last, or to a fault, which makes the context
// unusable.
func work(in *json.Decoder, out *gob.Encoder) error {
	var d *Device
	for {
		var req request
		switch err := in.Decode(&req); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		result, err := serve(&d, &req, func() { out.Encode(reply{Launched: true}) })
		r := reply{Result: result}
		if err != nil {
			r.sort(err)
		}
		if err := out.Encode(r); err != nil || r.Fault != nil {
			return err
		}
	}
}

// serve opens the device for the first request. The device stays open until the
// process ends.
func serve(d **Device, req *request, started func()) (*Result, error) {
	o := Options{Memory: req.Memory, started: started}
	var err error
	if req.PTX != "" {
		if o.Module, err = ptx.Parse(req.File.Launches[0].PTX, []byte(req.PTX)); err != nil {
			return nil, err
		}
	}
	if *d == nil {
		if *d, err = Open(); err != nil {
			return nil, err
		}
	}
	return (*d).Run(context.Background(), req.File, o)
}

// sort stores an error in the field that keeps its type on the way to the caller.
func (r *reply) sort(err error) {
	r.Text = err.Error()
	var input *launch.Error
	switch {
	case errors.As(err, &r.Fault), errors.As(err, &r.NoDevice), errors.As(err, &r.Source):
	case errors.As(err, &input):
		r.Input = &launch.Error{Pos: input.Pos, Msg: input.Msg}
	}
}

// A sent error reads as it did in the worker.
type sent struct {
	text  string
	cause error
}

func (e *sent) Error() string { return e.text }
func (e *sent) Unwrap() error { return e.cause }

func (r *reply) err() error {
	e := &sent{text: r.Text}
	switch {
	case r.Fault != nil:
		e.cause = r.Fault
	case r.NoDevice != nil:
		e.cause = r.NoDevice
	case r.Input != nil:
		e.cause = r.Input
	case r.Source != nil:
		e.cause = r.Source
	}
	return e
}

// RunApart is Open and Run in a separate process, which is killed when the launch
// takes longer than o.Timeout (a *TimeoutError) or ctx ends.
func RunApart(ctx context.Context, f *launch.File, o Options) (*Result, error) {
	var a Apart
	defer a.Close()
	return a.Run(ctx, f, o)
}

// An Apart runs launches that may hang or fault in a separate process, one after
// another. A hang or fault ends the process, and the next launch starts a new one;
// other launches share a process, which saves the driver's start-up time. The zero
// Apart is ready. It belongs to one goroutine.
type Apart struct {
	cmd     *exec.Cmd
	kill    context.CancelCauseFunc
	killed  context.Context
	in      io.WriteCloser
	replies *os.File
	decoder *gob.Decoder
	printed *os.File // standard output, which has no name
	stderr  bytes.Buffer
}

// Run is RunApart in the existing process, if there is one.
func (a *Apart) Run(ctx context.Context, f *launch.File, o Options) (*Result, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	req := request{File: withoutExpect(f), Memory: o.Memory}
	if o.Module != nil {
		req.PTX = o.Module.String()
	}
	in, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.cmd != nil && a.killed.Err() != nil {
		a.end(nil) // after the last answer
	}
	if a.cmd == nil {
		if err := a.start(); err != nil {
			a.end(err)
			return nil, err
		}
	}
	kill := a.kill
	stop := context.AfterFunc(ctx, func() { kill(context.Cause(ctx)) })
	defer stop()
	// The reply below shows whether the worker has died.
	a.in.Write(append(in, '\n'))
	last, err := follow(a.decoder, func() *time.Timer {
		return time.AfterFunc(o.Timeout, func() { kill(&TimeoutError{o.Timeout}) })
	})
	switch {
	case err != nil:
		return nil, a.end(err)
	case last.Result == nil:
		err := last.err()
		if last.Fault != nil {
			a.end(err)
		}
		return nil, err
	}
	last.Result.Output, err = a.output()
	return last.Result, err
}

// start starts the worker: this program again.
func (a *Apart) start() error {
	if os.Getenv(workerEnv) != "" {
		return errors.New("a worker was asked to start a worker: main must call gpu.Worker first")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	a.killed, a.kill = context.WithCancelCause(context.Background())
	cmd := exec.CommandContext(a.killed, self)
	cmd.Env = append(os.Environ(), workerEnv+"=1")
	cmd.WaitDelay = 5 * time.Second
	if a.printed, err = os.CreateTemp("", "muster-gpu"); err != nil {
		return err
	}
	if err := os.Remove(a.printed.Name()); err != nil {
		return err
	}
	replies, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close()
	a.replies, a.decoder = replies, gob.NewDecoder(replies)
	a.stderr.Reset()
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = a.printed, &a.stderr, []*os.File{w}
	if a.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	a.cmd = cmd
	return nil
}

// output returns what the kernel printed: the worker's standard output since the last
// launch. Both processes share the file's offset.
func (a *Apart) output() ([]byte, error) {
	n, err := a.printed.Seek(0, io.SeekCurrent)
	if err != nil || n == 0 {
		return nil, err
	}
	out := make([]byte, n)
	if _, err := a.printed.ReadAt(out, 0); err != nil {
		return nil, err
	}
	if _, err := a.printed.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return out, a.printed.Truncate(0)
}

// end ends the process, and returns why it did not answer.
func (a *Apart) end(err error) error {
	if a.in != nil {
		a.in.Close()
	}
	if a.cmd != nil {
		died := make(chan error, 1)
		go func() { died <- a.cmd.Wait() }()
		select {
		case state := <-died:
			if why := context.Cause(a.killed); why != nil {
				err = why
			} else if err != nil {
				err = fmt.Errorf("the worker ended without an answer: %v: %s", state, bytes.TrimSpace(a.stderr.Bytes()))
			}
		case <-time.After(endWait):
			a.kill(nil)
			<-died
		}
		a.cmd = nil
	}
	if a.kill != nil {
		a.kill(nil)
	}
	for _, f := range []*os.File{a.replies, a.printed} {
		if f != nil {
			f.Close()
		}
	}
	a.in, a.replies, a.printed, a.kill = nil, nil, nil, nil
	return err
}

// endWait is how long an idle worker may take to end.
const endWait = 10 * time.Second

// Close ends the process, if there is one.
func (a *Apart) Close() { a.end(nil) }

// withoutExpect removes expected contents, which the worker does not need: a tolerance
// may be infinite, which JSON cannot represent.
func withoutExpect(f *launch.File) *launch.File {
	g := *f
	g.Expect, g.Accept = nil, nil
	return &g
}

// follow reads replies up to the final one, and starts a timer when the kernel has
// been launched.
func follow(in *gob.Decoder, launched func() *time.Timer) (last reply, err error) {
	for {
		last = reply{}
		if err = in.Decode(&last); err != nil || !last.Launched {
			return last, err
		}
		t := launched()
		defer t.Stop()
	}
}
