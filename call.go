package muster

import (
	"bytes"
	"errors"

	"muster/internal/resolve"
	"muster/kernel"
)

// LoadCall prepares a call of a kernel that was written in Go. It reads the
// call's slices once, now; Call.Take copies back what a run left.
//
// Findings name lines of the Go program, and lines of the PTX that the kernel prints as.
// Their replay lines name the launch file that Call.Write writes, which is called after
// the kernel.
func LoadCall(c *kernel.Call, lim Limits) (*Launch, error) {
	if c == nil || c.Module == nil || c.Kernel == nil {
		return nil, errors.New("there is no kernel to call")
	}
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
	l.nameShared(c.Kernel)
	return l, nil
}

// nameShared gives the variables in dynamic shared memory their names: the module has one
// symbol for all of them.
func (l *Launch) nameShared(k *kernel.Kernel) {
	if k.SharedBytes() == 0 {
		return
	}
	for _, s := range l.config.Program.Symbols() {
		if s.Shared && s.Size == 0 {
			k.EachShared(func(name string, offset, bytes int) {
				l.resolver.Parts = append(l.resolver.Parts, resolve.Region{Name: name, Shared: true, Base: s.Addr + uint64(offset), Size: uint64(bytes)})
			})
		}
	}
	l.resolver.Regions = l.regions()
}
