package machine

import "slices"

// Given numbers. The atomic operations on one word of a launch's part that runs by itself find
// there what the rest of the launch would have left: a run for each list shows what the part
// does with them.

// givenNumbers are what the operations on a word find, one after the other.
type givenNumbers struct {
	mem  MemID
	addr uint64
	list []uint32
}

// Give has atomic operations of 32 bits on a word find numbers there, in this order; those after
// them find what the ones before left. The run has not begun.
func (m *Machine) Give(mem MemID, addr uint64, list []uint32) {
	m.given = givenNumbers{mem, addr, slices.Clone(list)}
}

// give writes the next number to the word, if an operation on it is about to be made.
func (m *Machine) give(a *access, mem MemID, r *region, addr uint64) {
	g := &m.given
	if len(g.list) == 0 || g.mem != mem || g.addr != addr || a.elem != 4 {
		return
	}
	r.store(addr-r.base, 4, uint64(g.list[0]), m.owner)
	g.list = g.list[1:]
}
