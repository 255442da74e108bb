package machine

import "slices"

// A version that is read before it is written: package executions asks so whether a read could
// return a write that comes after it (load buffering, ISA 8.10.4).

// Promised is the name of a version that a lane is yet to write: none of its own has it.
func Promised(cta, warp int32, lane int8) Version {
	return version(cta, warp, int(lane), 1<<turnBits-1)
}

// Promise adds a version of a word of at most 8 bytes behind another one, as if it were written
// already. The write itself is to come right before it in coherence order.
func (m *Machine) Promise(w Word, after, name Version, value uint64) bool {
	list := m.current(w)
	if len(list) == 0 {
		lo, hi := m.contents(w)
		list = []written{{name: Initial, lo: lo, hi: hi}}
	}
	at := slices.IndexFunc(list, func(v written) bool { return v.name == after }) + 1
	if at == 0 || at < len(list) && list[at].update {
		return false // a read-modify-write follows what it reads at once
	}
	if at == len(list) {
		r, off := m.memory(w.Mem, w.Addr)
		r.store(off, w.Size, value, m.owner)
	}
	m.versions.words[w] = slices.Insert(list, at, written{name: name, lo: value})
	return true
}

// Loosen lets other writes come between a version and what the read-modify-write that made it read,
// as if it had read one of these.
func (m *Machine) Loosen(w Word, name Version) {
	for i := range m.current(w) {
		if v := &m.versions.words[w][i]; v.name == name {
			v.update = false
		}
	}
}
