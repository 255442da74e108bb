package muster

import (
	"bytes"

	"muster/kernel"
)

// LoadCall prepares a call of a kernel that was written in Go. It reads the
// call's slices once, now; Call.Take copies back what a run left.
//
// Findings name lines of the Go program, and lines of the PTX that the kernel
// prints as. Their replay lines are those of the launch file that Call.Write
// writes, which is called after the kernel.
func LoadCall(c *kernel.Call, lim Limits) (*Launch, error) {
	f, err := c.Launch()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := c.Module.Print(&text); err != nil {
		return nil, err
	}
	l, err := LoadModule(f, c.Module, text.Bytes(), lim)
	if err != nil {
		return nil, err
	}
	l.unwritten = true
	return l, nil
}
