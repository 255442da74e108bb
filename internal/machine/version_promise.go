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

// Withdraw takes a version of a word away, as if it were not written yet.
func (m *Machine) Withdraw(w Word, name Version) {
	list := m.current(w)
	at := slices.IndexFunc(list, func(v written) bool { return v.name == name })
	if at <= 0 {
		return
	}
	if at == len(list)-1 {
		r, off := m.memory(w.Mem, w.Addr)
		r.store(off, w.Size, list[at-1].lo, m.owner)
	}
	m.versions.words[w] = slices.Delete(list, at, at+1)
}
