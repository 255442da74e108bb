package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"muster"
	"muster/kernel"
	"muster/launch"
)

// PrepareCall prepares a call of a kernel that was written in Go. Slices are copied
// to the device now; the device's buffers are used in place.
func (d *Device) PrepareCall(c *kernel.Call, o Options) (*Prepared, error) {
	o.Module = c.Module
	return d.prepare(c.File, o, c.Device)
}

// RunCall launches a call, waits for its end, and copies the results into the call's
// slices. The device's buffers stay there, and are in the Result.
func (d *Device) RunCall(ctx context.Context, c *kernel.Call, o Options) (*Result, error) {
	p, err := d.PrepareCall(c, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	r, err := p.run(ctx, o)
	if err != nil {
		return nil, err
	}
	return r, c.Take(r.bytes)
}

// RunCallApart is RunCall in a separate process, as RunApart is for Run.
func RunCallApart(ctx context.Context, c *kernel.Call, o Options) (*Result, error) {
	f, err := c.Launch()
	if err != nil {
		return nil, err
	}
	o.Module = c.Module
	r, err := RunApart(ctx, f, o)
	if err != nil {
		return nil, err
	}
	return r, c.Take(r.bytes)
}

// bytes returns a buffer's bytes, the callback of kernel.Call.Take.
func (r *Result) bytes(name string) ([]byte, error) {
	if a := r.Buffer(name); a != nil {
		return a.Data, nil
	}
	return nil, fmt.Errorf("no buffer is called %q", name)
}

// A Disagreement is the error of a call whose results on the GPU and on the machine
// differ in bits.
type Disagreement struct {
	Differences []Difference // of the buffers that differ
}

// Error gives one line per buffer.
func (e *Disagreement) Error() string {
	var lines []string
	for _, d := range e.Differences {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// Agree runs a call on the machine and on the GPU from the same initial contents, and
// compares the results bit by bit, or within the tolerance of a buffer that has one
// (kernel.Call.Expect). If they differ, the error is a *Disagreement. If not, the
// call's slices hold the results.
//
// The GPU's run is in a separate process, as with RunApart: the program must call
// Worker first, a test in TestMain.
func Agree(ctx context.Context, c *kernel.Call, o Options) error {
	return agree(ctx, c, func(f *launch.File) (*Result, error) {
		o.Module = c.Module
		return RunApart(ctx, f, o)
	})
}

// Agree is the function Agree in this process.
func (d *Device) Agree(ctx context.Context, c *kernel.Call, o Options) error {
	return agree(ctx, c, func(f *launch.File) (*Result, error) {
		o.Module = c.Module
		return d.Run(ctx, f, o)
	})
}

func agree(ctx context.Context, c *kernel.Call, run func(*launch.File) (*Result, error)) error {
	f, err := c.Launch()
	if err != nil {
		return err
	}
	l, err := muster.LoadCall(c, muster.Limits{})
	if err != nil {
		return err
	}
	m, err := l.Run(ctx, muster.RunOptions{})
	if err != nil {
		return err
	}
	if m.Report != nil {
		text := m.Report.Summary
		for _, f := range m.Report.Findings {
			text += "\n" + f.Kind + ": " + f.Headline
		}
		return errors.New("the machine: " + text)
	}
	r, err := run(f)
	if err != nil {
		return err
	}
	all, err := r.Compare(f, m.Buffer)
	if err != nil {
		return err
	}
	results := c.Results()
	bad := slices.DeleteFunc(all, func(d Difference) bool { return d.OK() || !slices.Contains(results, d.Buffer) })
	if len(bad) > 0 {
		return &Disagreement{bad}
	}
	return c.Take(m.Buffer)
}
