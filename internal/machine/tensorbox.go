package machine

// The bytes of a box on their way: from and to global memory as package tma says.

// readBox copies an operation's data from global memory, laid out as the box will
// be in shared memory.
func (m *Machine) readBox(op *Op) {
	tc := op.tensor
	op.data = make([]byte, tc.tmap.SharedBytes(tc.access()))
	var r *region
	for run := range tc.tmap.Load(tc.box, tc.access()) {
		b := op.data[run.Shared-tc.box:][:run.Len]
		if run.Fill {
			tc.tmap.WriteFill(b)
			continue
		}
		if r == nil || run.Global-r.base >= r.size {
			r = m.global.find(run.Global)
		}
		r.read(run.Global-r.base, b)
		if !r.initialized(run.Global-r.base, uint64(run.Len)) {
			op.Uninit = true
		}
		tc.tmap.Convert(b)
	}
}

// writeBox writes a box to shared memory. What pads elements of 4 and 6 bits is written
// with it, and undefined after (ISA 5.5.1.1.1): as if nobody had written it.
func (m *Machine) writeBox(op *Op) {
	n := uint64(op.tensor.tmap.Padding())
	for _, s := range op.Writes {
		r, off := m.memory(s.Mem, s.Addr)
		if r == nil {
			continue
		}
		r.put(off, op.data[s.Addr-uint64(op.tensor.box):][:s.Len], m.owner)
		for at := off; n < 16 && at < off+s.Len; at += 16 {
			r.forget(at+n, 16-n, m.owner)
		}
	}
}

// storeBox writes a box, or a reduction's results, to global memory.
func (m *Machine) storeBox(op *Op) {
	tc := op.tensor
	var r *region
	for run := range tc.tmap.Store(tc.box, tc.access()) {
		if r == nil || run.Global-r.base >= r.size {
			r = m.global.find(run.Global)
		}
		b := tc.tmap.Pack(op.data[run.Shared-tc.box:][:run.Span])
		if op.Kind == OpBulkReduce {
			old := make([]byte, len(b))
			r.read(run.Global-r.base, old)
			tc.tmap.Reduce(tc.op, old, b)
			r.put(run.Global-r.base, old, m.owner)
		} else {
			r.put(run.Global-r.base, b, m.owner)
		}
	}
}

// readShared copies the data of a store from shared memory.
func (m *Machine) readShared(op *Op) {
	op.data = make([]byte, op.tensor.tmap.SharedBytes(op.tensor.access()))
	for _, s := range op.Reads {
		if r, off := m.memory(s.Mem, s.Addr); r != nil {
			b := op.data[s.Addr-uint64(op.tensor.box):][:s.Len]
			r.read(off, b)
			if !r.initialized(off, s.Len) {
				op.Uninit = true
				if p := m.cfg.Poison; p.at(op.PC) {
					p.fill(r, off, b)
				}
			}
		}
	}
}
