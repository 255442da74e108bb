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

// workerEnv makes a process a worker.
const workerEnv = "MUSTER_GPU_WORKER"

// DefaultTimeout is how long a launch of RunApart may take.
const DefaultTimeout = time.Minute

// A TimeoutError is a launch that had not ended when its time was over.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the kernel had not ended after %v, and was ended with its process", e.After)
}

// A request is what a worker reads on its standard input. It is JSON, because
// a shape that is nil and one that is empty are two things.
type request struct {
	File   *launch.File
	PTX    string // the module's text; "" to read the launch's file
	Memory int64
}

// A reply is what a worker writes, on file 3: standard output is the kernel's.
type reply struct {
	Launched bool
	Result   *Result
	Fault    *Error
	NoDevice *NoDevice
	Input    *launch.Error
	Source   *ptx.Error
	Text     string // of the error, which may wrap one of these
}

// Worker turns the process into a worker, and does not return, if RunApart
// started it. A main that calls RunApart calls Worker first.
func Worker() {
	if os.Getenv(workerEnv) == "" {
		return
	}
	out := gob.NewEncoder(os.NewFile(3, "replies"))
	r := reply{}
	result, err := serve(os.Stdin, func() { out.Encode(reply{Launched: true}) })
	if err != nil {
		r.sort(err)
	}
	r.Result = result
	if err := out.Encode(r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(in io.Reader, started func()) (*Result, error) {
	var req request
	if err := json.NewDecoder(in).Decode(&req); err != nil {
		return nil, err
	}
	o := Options{Memory: req.Memory, started: started}
	if req.PTX != "" {
		var err error
		if o.Module, err = ptx.Parse(req.File.Launches[0].PTX, []byte(req.PTX)); err != nil {
			return nil, err
		}
	}
	d, err := Open()
	if err != nil {
		return nil, err
	}
	// No Close: after a fault there is nothing to close, and the process ends.
	return d.Run(context.Background(), req.File, o)
}

// sort puts an error where its type survives the way to the caller.
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

// RunApart is Open and Run in a process of its own, which is killed when the
// launch takes longer than o.Timeout (a *TimeoutError) or ctx ends.
func RunApart(ctx context.Context, f *launch.File, o Options) (*Result, error) {
	if os.Getenv(workerEnv) != "" {
		return nil, errors.New("a worker was asked to start a worker: main must call gpu.Worker first")
	}
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
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), workerEnv+"=1")
	return talk(ctx, cancel, cmd, in, o.Timeout)
}

// withoutExpect leaves out what the worker has no use for: a tolerance may be
// infinite, which JSON cannot say.
func withoutExpect(f *launch.File) *launch.File {
	g := *f
	g.Expect, g.Accept = nil, nil
	return &g
}

// talk starts the worker and follows it to its end.
func talk(ctx context.Context, cancel context.CancelCauseFunc, cmd *exec.Cmd, in []byte, timeout time.Duration) (*Result, error) {
	replies, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer replies.Close()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	last, heard := follow(replies, func() *time.Timer {
		return time.AfterFunc(timeout, func() { cancel(&TimeoutError{timeout}) })
	})
	died := cmd.Wait()
	switch {
	case heard == nil && last.Result != nil:
		last.Result.Output = stdout.Bytes()
		return last.Result, nil
	case heard == nil:
		return nil, last.err()
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("the worker ended without an answer: %v: %s", died, bytes.TrimSpace(stderr.Bytes()))
}

// follow reads replies up to the one that ends the conversation, and runs a
// timer from the launch on.
func follow(from io.Reader, launched func() *time.Timer) (last reply, err error) {
	for in := gob.NewDecoder(from); ; {
		last = reply{}
		if err = in.Decode(&last); err != nil || !last.Launched {
			return last, err
		}
		t := launched()
		defer t.Stop()
	}
}
