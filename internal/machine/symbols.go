package machine

import (
	"cmp"
	"slices"
)

// A Symbol is a variable of the program with its place. The machine itself
// needs no names; reports name addresses with them.
type Symbol struct {
	Name   string
	Shared bool   // in a CTA's shared window; else in global memory
	Addr   uint64 // in that memory
	Size   uint64 // 0 for dynamic shared memory, which ends where the launch says
	Elem   uint64 // bytes an element
	Align  uint64 // as declared, or by its type: no more is guaranteed (ISA 5.4.5)
}

// Symbols returns the kernel's variables in shared and global memory, by
// address.
func (p *Program) Symbols() []Symbol { return slices.Clone(p.symbols) }

func sortSymbols(s []Symbol) {
	slices.SortFunc(s, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
}
