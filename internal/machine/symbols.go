package machine

import (
	"cmp"
	"slices"

	"muster/ptx"
)

// A Symbol is a variable of the program with its place.
type Symbol struct {
	Name   string
	Shared bool   // in a CTA's shared window; else in global memory
	Addr   uint64 // in that memory
	Size   uint64 // 0 for dynamic shared memory, which ends where the launch says
	Elem   uint64 // bytes an element
}

// Symbols returns the kernel's variables in shared and global memory, by
// address. Reports name addresses with it; the machine itself needs no names,
// so that the layout is made again here rather than kept.
func (p *Program) Symbols() []Symbol {
	d := &decoder{
		mod:   p.Module,
		prog:  &Program{Module: p.Module, Kernel: p.Kernel, files: map[int]string{}, strs: map[string]string{}},
		fns:   map[string]int32{},
		root:  &scope{names: map[string]*symbol{}},
		decls: map[string]*ptx.Func{},
	}
	for _, it := range p.Module.Items {
		if f, ok := it.(*ptx.Func); ok {
			if old := d.decls[f.Name]; old == nil || old.Body == nil {
				d.decls[f.Name] = f
			}
		}
	}
	reach, names := d.reachable(p.Kernel)
	if d.layout(reach, names) != nil {
		return nil // Decode has reported it
	}
	var out []Symbol
	for _, y := range d.root.names {
		if y.kind == symShared || y.kind == symDynamic || y.kind == symGlobal {
			out = append(out, Symbol{Name: y.v.Name, Shared: y.kind != symGlobal, Addr: y.addr, Size: y.size, Elem: uint64(y.typ.size())})
		}
	}
	for v, addr := range d.shares {
		size, _, _ := d.varSize(v)
		out = append(out, Symbol{Name: v.Name, Shared: true, Addr: addr, Size: size, Elem: uint64(elemType(v).size())})
	}
	slices.SortFunc(out, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	return out
}
