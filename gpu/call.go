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

// PrepareCall prepares a call of a kernel that was written in Go. Slices are
// copied to the device now; buffers of the device are used where they are.
func (d *Device) PrepareCall(c *kernel.Call, o Options) (*Prepared, error) {
	o.Module = c.Module
	return d.prepare(c.File, o, c.Device)
}

// RunCall launches a call, waits for its end, and copies the results into the
// call's slices. Buffers of the device stay there, and are in the Result.
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

// RunCallApart is RunCall in a process of its own, as RunApart is Run.
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

// bytes gives a buffer's bytes, as kernel.Call.Take asks for them.
func (r *Result) bytes(name string) ([]byte, error) {
	if a := r.Buffer(name); a != nil {
		return a.Data, nil
	}
	return nil, fmt.Errorf("no buffer is called %q", name)
}

// A Disagreement is a call whose results on the GPU and on the machine differ in
// bits.
type Disagreement struct {
	Differences []Difference // of the buffers that differ
}

// Error gives a line a buffer.
func (e *Disagreement) Error() string {
	var lines []string
	for _, d := range e.Differences {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// Agree runs a call on the machine and on the GPU from the same first contents,
// and compares the results bit by bit, a buffer with a tolerance (kernel.Call.Expect)
// up to that. If they differ, the error is a *Disagreement. If not, the call's slices
// hold the results.
//
// The GPU's run is in a process of its own, as RunApart has it: the program
// calls Worker first, a test in TestMain.
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
