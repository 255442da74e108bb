package brute

// Operation is operation number n, counted thread by thread.
func (p *Program) Operation(n int) Op {
	for _, ops := range p.Threads {
		if n < len(ops) {
			return ops[n]
		}
		n -= len(ops)
	}
	panic("BUG: no such operation")
}

// Writes reports whether an operation writes a slot.
func (o Op) Writes(slot uint8) bool {
	switch o.Kind {
	case Store, StoreStrong, Add, Max, Copy, CopyAsync, StoreAll, AddAll, MaxAll:
		return o.Slot == slot
	}
	return false
}

// Reads reports whether an operation reads a slot.
func (o Op) Reads(slot uint8) bool {
	switch o.Kind {
	case Load, LoadStrong:
		return o.Slot == slot
	case Copy, CopyAsync, StoreAll, AddAll, MaxAll:
		return o.Src == slot
	}
	return false
}

// Conflicts reports whether two operations touch a slot and one of them writes it.
func (o Op) Conflicts(p Op, slot uint8) bool {
	return o.Writes(slot) && (p.Writes(slot) || p.Reads(slot)) || o.Reads(slot) && p.Writes(slot)
}
