package machine

import (
	"cmp"
	"encoding/binary"
	"slices"

	"muster/mbarrier"
)

// The milestones of operations in flight.

// --- milestones ---

// canAdvance reports whether the next milestone of op may happen.
func (m *Machine) canAdvance(op *Op) bool {
	switch {
	case op.Kind == OpWgmma && op.Stage == Issued:
		return m.issuedByAll(op.CTA, op.Warp, op.Seq)
	case op.Kind == OpWgmma && op.Stage == SourceRead:
		// A warp's wgmmas write D in the order of their issue.
		return op.Seq == m.ctas[op.CTA].warps[op.Warp].multiplied+1
	case op.tcgen05 != nil && op.Stage == Issued:
		return m.piped(op)
	case op.Kind == OpMbarArrive:
		// The arrival follows the issuer's operations, and that of its commit before.
		open := m.ctas[op.CTA].warps[op.Warp].counts(int(op.Lane)).open[op.Tracks]
		return (len(open) == 0 || open[0] > op.After) && !m.queued(op)
	}
	return true
}

// advance makes the next milestone of op happen.
func (m *Machine) advance(op *Op) {
	switch {
	case op.Kind == OpMbarArrive:
		m.signal(op)
	case op.Stage == Issued:
		m.readSource(op)
	case op.Stage == SourceRead:
		m.writeTarget(op)
	default:
		m.signal(op)
	}
}

func (m *Machine) opEvent(k Kind, op *Op) {
	m.emit(Event{Kind: k, CTA: op.CTA, Warp: op.Warp, Mask: 1 << op.Lane, Lane: op.Lane, PC: op.PC, Op: op})
}

func (m *Machine) readSource(op *Op) {
	switch {
	case op.cached:
	case op.Kind == OpCancel:
		m.decide(op)
	case op.tensor != nil && op.Group == GroupBulk:
		m.readShared(op)
	case op.tensor != nil:
		m.readBox(op)
	case op.wgmma != nil:
		m.readMatrices(op)
	default:
		m.readSpans(op)
	}
	if u := m.undefined(); u != nil && !op.cached {
		u.read(m, op)
	}
	op.Stage = SourceRead
	if c := m.counts(op); c != nil {
		finish(&c.unread[op.Group], op.Seq)
	}
	m.opEvent(EvSource, op)
}

// readSpans copies an operation's source ranges into its data.
func (m *Machine) readSpans(op *Op) {
	n := uint64(0)
	for _, s := range op.Reads {
		n += s.Len
	}
	skip := (op.wgmma != nil || op.Kind == OpTensorMultiply && !op.readsAlways()) && m.cfg.skipMatrices
	if !skip {
		op.data = make([]byte, n)
	}
	n = 0
	for _, s := range op.Reads {
		if r, off := m.memory(s.Mem, s.Addr); r != nil {
			if !skip {
				r.read(off, op.data[n:][:s.Len])
			}
			if !r.initialized(off, s.Len) {
				op.Uninit = true
				if p := m.cfg.Poison; p.at(op.PC) && s.Mem != Global && !skip {
					p.fill(r, off, op.data[n:][:s.Len])
				}
			}
		}
		n += s.Len
	}
}

func (m *Machine) writeTarget(op *Op) {
	switch {
	case op.wgmma != nil:
		m.multiply(op)
	case op.tcgen05 != nil:
		m.writeTensors(op)
	case op.tensor == nil:
		m.writeSpans(op)
	case op.Group == GroupBulk:
		m.storeBox(op)
	default:
		m.writeBox(op)
	}
	if u := m.undefined(); u != nil {
		u.wrote(m, op)
	}
	op.Stage = Written
	m.opEvent(EvWritten, op)
}

// writeSpans writes an operation's data to each of its targets.
func (m *Machine) writeSpans(op *Op) {
	for _, s := range op.Writes {
		r, off := m.memory(s.Mem, s.Addr)
		if r == nil {
			continue
		}
		data := op.data
		if uint64(len(data)) < s.Len { // cp.async fills with zeros
			data = append(slices.Clone(data), make([]byte, s.Len-uint64(len(data)))...)
		}
		switch {
		case op.red != nil:
			if u := m.undefined(); u != nil {
				u.reduces(m, op, r, off, s)
			}
			m.reducesUnwritten(op, r, off, s)
			m.reduce(op.red, r, off, data, s.Mem)
		case op.masked:
			for i, v := range data {
				if op.bytes>>(i%16)&1 != 0 {
					r.put(off+uint64(i), []byte{v}, m.owner)
				}
			}
		default:
			r.put(off, data, m.owner)
		}
	}
}

// reducesUnwritten records that a reduction reads unwritten shared memory.
func (m *Machine) reducesUnwritten(op *Op, r *region, off uint64, s Span) {
	if s.Mem == Global || r.initialized(off, s.Len) {
		return
	}
	op.Target = s
	if p := m.cfg.Poison; p.at(op.PC) {
		b := make([]byte, s.Len)
		r.read(off, b)
		p.fill(r, off, b)
		r.put(off, b, m.owner)
	}
}

// reduce applies a reduction element by element, in order of address.
func (m *Machine) reduce(red *reduction, r *region, off uint64, data []byte, mem MemID) {
	n := red.t.size()
	if red.t == f32 {
		// Unlike red.global.add.f32, and unlike the ISA's text (9.7.9.25.4.2), an
		// H200 flushes no subnormals here.
		mem = SharedOf(0)
	}
	for i := 0; i+int(n) <= len(data); i += int(n) {
		var b [8]byte
		copy(b[:], data[i:i+int(n)])
		old := r.load(off+uint64(i), n)
		v := combine(red.op, red.t, mem, old, binary.LittleEndian.Uint64(b[:]))
		r.store(off+uint64(i), n, v, m.owner)
	}
}

// signal reports an operation's completion and ends it.
func (m *Machine) signal(op *Op) {
	i := m.opIndex(op.ID)
	m.ops = slices.Delete(m.ops, i, i+1)
	if c := m.counts(op); c != nil {
		finish(&c.open[op.Group], op.Seq)
		finish(&c.unread[op.Group], op.Seq)
	}
	op.Stage = Signalled
	op.Phases = make([]int64, len(op.Bars))
	for i, b := range op.Bars {
		if m.ctas[b.Mem.CTA()] == nil {
			continue
		}
		ev := Mbar{Op: MbarCompleteTx, NoComplete: op.noinc}
		if op.Kind == OpMbarArrive {
			ev.Op = MbarAsyncArrive
		}
		m.mbarOp(b.Mem, b.Addr, &ev, op.BarBytes[i])
		op.Phases[i] = ev.Phase
		m.emitMbar(Event{Kind: EvMbar, CTA: op.CTA, Warp: op.Warp, Mask: 1 << op.Lane, Lane: op.Lane, PC: op.PC,
			Sem: Release, Scope: ScopeCluster, Op: op}, &ev)
		if ev.Fault != mbarrier.NoFault {
			m.halt(Stop{Kind: FaultBarrier, CTA: op.CTA, Warp: op.Warp, Lane: op.Lane, Mask: 1 << op.Lane, PC: op.PC,
				Mem: b.Mem, Addr: b.Addr, Size: 8, Mbar: &ev, Op: op, Msg: ev.Fault.String()})
		}
	}
	m.opEvent(EvSignal, op)
	if len(m.dead) > 0 {
		m.reap()
	}
}

// counts returns the counters of an operation's issuer, nil if its CTA is gone.
func (m *Machine) counts(op *Op) *asyncCounts {
	if t := m.ctas[op.CTA]; t != nil {
		return t.warps[op.Warp].counts(int(op.Lane))
	}
	return nil
}

// opIndex returns the place of an operation among those in flight, which stand
// in order of issue.
func (m *Machine) opIndex(id int64) int {
	i, ok := slices.BinarySearchFunc(m.ops, id, func(o *Op, id int64) int { return cmp.Compare(o.ID, id) })
	if !ok {
		panic("BUG: no such operation in flight")
	}
	return i
}
