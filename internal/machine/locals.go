package machine

import (
	"fmt"

	"muster/ptx"
)

// Local memory under the names of the text, for what shows a state: nothing here is on the
// path of a step.

// A LocalVar is a .local variable of a function. Where blocks of the function declare several
// of a name, the line of its declaration is a part of its name, as of a Register.
type LocalVar struct {
	Name string
	Func int32
	Size uint64
	Elem uint64 // bytes of an element
	line int
	off  uint64 // in its function's frame
}

// LocalVars lists the .local variables of a function, in the order of their declarations.
func (p *Program) LocalVars(fn int32) (list []LocalVar) {
	names := map[string]int{}
	for _, l := range p.funcs[fn].locals {
		if l.v.Space != "local" || l.size == 0 {
			continue
		}
		names[l.v.Name]++
		list = append(list, LocalVar{Name: l.v.Name, Func: fn, Size: l.size, Elem: elemSize(l.v), line: int(l.v.Pos.Line), off: l.off})
	}
	for i := range list {
		if v := &list[i]; names[v.Name] > 1 {
			v.Name = fmt.Sprintf("%s@%d", v.Name, v.line)
		}
	}
	return list
}

func elemSize(v *ptx.Var) uint64 {
	if t := elemType(v); t != otherType && t != tNone && t != pred {
		return uint64(t.size())
	}
	return 1
}

// ReadLocal copies what a lane of a frame has in a local variable into b, from the variable's
// first byte on, and into init which bytes are initialized: a bit a byte.
func (m *Machine) ReadLocal(cta, warp int32, f *Frame, v *LocalVar, lane int, b []byte, init []uint32) {
	w := m.ctas[cta].warps[warp]
	at := uint64(lane)*w.lsize + uint64(f.local) + v.off
	w.local.read(at, b)
	for i := range init {
		init[i] = w.local.initBits(at + 32*uint64(i))
	}
	if n := len(b) % 32; n > 0 {
		init[len(b)/32] &= 1<<n - 1
	}
}

// initBits returns which of the 32 bytes from off on are initialized; those behind the
// region are not.
func (r *region) initBits(off uint64) uint32 {
	low := r.initWord(off / 32)
	if off%32 == 0 {
		return low
	}
	return low>>(off%32) | r.initWord(off/32+1)<<(32-off%32)
}

func (r *region) initWord(i uint64) uint32 {
	if i*32 >= r.size {
		return 0
	}
	p := r.pages[i*32/pageBytes]
	switch {
	case p == nil && !r.born:
		return 0
	case p == nil || p.full:
		return ^uint32(0)
	}
	return p.init[i%(pageBytes/32)]
}
