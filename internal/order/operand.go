package order

import "muster/internal/machine"

// Races on the operands of tcgen05.mma. It multiplies as many rows of A and B as its shape has,
// and a tile may have fewer: the other rows belong to somebody else, who writes them at any
// time. That is harmless where no result of theirs is used. So the bytes that race are noted,
// by instruction, for a run that follows what becomes of them.

// A raced has the bytes of a tcgen05.mma's operands that race.
type raced struct {
	bytes machine.OperandBytes // of one instruction
	all   bool                 // all of A, or all of B, of one execution
}

func cloneRaced(m map[int32]*raced) map[int32]*raced {
	if m == nil {
		return nil
	}
	d := make(map[int32]*raced, len(m))
	for pc, r := range m {
		d[pc] = &raced{r.bytes.Clone(), r.all}
	}
	return d
}

// multiplies returns the tcgen05.mma that reads shared memory where another access writes, if
// one of the two is one.
func (t *Tracker) multiplies(ac *access, p *stamp) *machine.Op {
	if ac.mem.Kind() != machine.SharedMemory {
		return nil
	}
	for _, s := range [...]*stamp{p, &ac.st} {
		if s.isOp() && !s.writes() && t.ops.recs[s.op()].kind == machine.OpTensorMultiply {
			return t.ops.recs[s.op()].op
		}
	}
	return nil
}

// racesWith notes that bytes of the operands of a tcgen05.mma race, those of the row from ac.from
// to end, and reports whether no result of theirs is used.
func (t *Tracker) racesWith(op *machine.Op, ac *access, end int) (unused bool) {
	r := t.found.raced[op.PC]
	if r == nil {
		if t.found.raced == nil {
			t.found.raced = map[int32]*raced{}
		}
		r = &raced{bytes: machine.OperandBytes{}}
		t.found.raced[op.PC] = r
	}
	fresh := false
	unused = true
	op.OperandsIn(machine.Span{Mem: ac.mem, Addr: ac.rowAddr + uint64(ac.from), Len: uint64(end - ac.from)}, func(from, n uint64) {
		fresh = r.bytes.Add(op.PC, from, n) || fresh
		unused = unused && t.cfg.Unused.Has(op.PC, from, n)
	})
	if fresh && !r.all {
		r.all = r.bytes.HasAll(op)
	}
	return unused
}

// Raced returns the bytes of operands of tcgen05.mma that race.
func (t *Tracker) Raced() machine.OperandBytes {
	o := machine.OperandBytes{}
	for _, r := range t.found.raced {
		o.Join(r.bytes)
	}
	return o
}

// InPart reports whether a conflict is about operands of a tcgen05.mma of which a part has not
// raced so far, of A as well as of B: what races may then be rows that nobody uses.
func (t *Tracker) InPart(c *Conflict) bool {
	if c.Span.Mem.Kind() != machine.SharedMemory {
		return false
	}
	for _, s := range [...]*AccessRef{&c.Prior, &c.Cur} {
		if s.Op >= 0 && s.Kind == machine.OpTensorMultiply && s.Access&machine.Write == 0 {
			r := t.found.raced[s.PC]
			return r != nil && !r.all
		}
	}
	return false
}

// standsFor reports whether a read may replace an earlier one, whoever knows of it: one of the
// operands of a tcgen05.mma stands only for the same elements of the same instruction. Else a
// race on rows that nobody uses would hide one on what an earlier read needs.
func (t *Tracker) standsFor(st, old *stamp) bool {
	a := &t.ops.recs[st.op()]
	if a.kind != machine.OpTensorMultiply || t.ac.mem.Kind() != machine.SharedMemory {
		return true
	}
	return old.isOp() && t.ops.recs[old.op()].op != nil && a.op.SameOperands(t.ops.recs[old.op()].op)
}
