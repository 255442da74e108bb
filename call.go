package muster

import (
	"bytes"

	"muster/kernel"
)

// LoadCall prepares a call of a kernel that was written in Go.
func LoadCall(c *kernel.Call, lim Limits) (*Launch, error) {
	var text bytes.Buffer
	if err := c.Module.Print(&text); err != nil {
		return nil, err
	}
	return LoadModule(c.File, c.Module, text.Bytes(), lim)
}
