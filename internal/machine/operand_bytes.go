package machine

import (
	"maps"
	"slices"
)

// Bytes of the matrices A and B of tcgen05.mma in shared memory. An instruction multiplies as
// many rows as its shape has, and a tile may have fewer: then what the other rows read is left
// to chance, and nobody uses what becomes of it.

// OperandBytes are, by instruction, bytes of what a tcgen05.mma reads of A and B, as bits. They
// count from the first byte of the first CTA's A on, in the order of Op.Reads.
type OperandBytes map[int32][]uint64

// Add adds n bytes of the operands of the instruction at pc, and reports whether one is new.
func (o OperandBytes) Add(pc int32, from, n uint64) (fresh bool) {
	set := o[pc]
	for uint64(len(set))*64 < from+n {
		set = append(set, 0)
	}
	for i := from; i < from+n; i++ {
		fresh = fresh || set[i/64]>>(i%64)&1 == 0
		set[i/64] |= 1 << (i % 64)
	}
	o[pc] = set
	return fresh
}

// Has reports whether all of n bytes are in the set.
func (o OperandBytes) Has(pc int32, from, n uint64) bool {
	set := o[pc]
	for i := from; i < from+n; i++ {
		if i/64 >= uint64(len(set)) || set[i/64]>>(i%64)&1 == 0 {
			return false
		}
	}
	return true
}

// Join adds the bytes of q.
func (o OperandBytes) Join(q OperandBytes) {
	for pc, more := range q {
		set := o[pc]
		for len(set) < len(more) {
			set = append(set, 0)
		}
		for i, w := range more {
			set[i] |= w
		}
		o[pc] = set
	}
}

// Clone copies the set.
func (o OperandBytes) Clone() OperandBytes {
	d := maps.Clone(o)
	for pc := range d {
		d[pc] = slices.Clone(d[pc])
	}
	return d
}

// operands visits the spans of A and of B of a multiplication, with the number of the first
// byte of each.
func (p *multiplication) operands(visit func(part mmaPart, s Span, first uint64)) {
	at := uint64(0)
	for i, s := range p.reads {
		if p.parts[i].operand() {
			visit(p.parts[i], s, at)
			at += s.Len
		}
	}
}

// OperandsIn visits the bytes of A and B that a tcgen05.mma reads within a range of memory.
func (op *Op) OperandsIn(r Span, visit func(from, n uint64)) {
	op.tcgen05.mma.operands(func(_ mmaPart, s Span, first uint64) {
		if a, b := max(s.Addr, r.Addr), min(s.Addr+s.Len, r.Addr+r.Len); s.Mem == r.Mem && a < b {
			visit(first+a-s.Addr, b-a)
		}
	})
}

// HasAll reports whether the set has all bytes of A of a tcgen05.mma, or all of B: then no
// element of the product is without one.
func (o OperandBytes) HasAll(op *Op) bool {
	lacks, some := [2]bool{}, [2]bool{}
	op.tcgen05.mma.operands(func(part mmaPart, s Span, first uint64) {
		some[part] = true
		lacks[part] = lacks[part] || !o.Has(op.PC, first, s.Len)
	})
	return some[partA] && !lacks[partA] || some[partB] && !lacks[partB]
}

// SameOperands reports whether two operations are executions of one tcgen05.mma that read the
// same bytes as the same elements of A and B.
func (op *Op) SameOperands(o *Op) bool {
	if op.PC != o.PC || op.tcgen05 == nil || o.tcgen05 == nil || op.tcgen05.mma == nil || o.tcgen05.mma == nil {
		return false
	}
	p, q := op.tcgen05.mma, o.tcgen05.mma
	return p.da == q.da && p.db == q.db && p.a == q.a && p.sfa == q.sfa && p.sfb == q.sfb && p.meta == q.meta && p.form.Desc == q.form.Desc && slices.Equal(p.ctas, q.ctas)
}
