package machine

import "strings"

// A collector buffer keeps a matrix for the multiplications that follow: A, or one of four B of
// tcgen05.mma.ws (ISA 9.7.18.10). Whether the card takes it from there is its own choice, so
// that the machine always computes with the matrix that the instruction names; what must hold
// for that is a rule's to check.

// A CollectorUsage is what a tcgen05.mma says of a collector buffer.
type CollectorUsage uint8

const (
	CollectorDiscard CollectorUsage = iota // what none of the others says, too
	CollectorFill
	CollectorUse
	CollectorLastUse
)

var collectorUsages = map[string]CollectorUsage{
	"discard": CollectorDiscard,
	"fill":    CollectorFill,
	"use":     CollectorUse,
	"lastuse": CollectorLastUse,
}

// A CollectorBuffer is one of a tensor core: 0 that of A, 1 to 4 those of B, b0 to b3.
type CollectorBuffer int8

// Matrix is what the buffer keeps.
func (b CollectorBuffer) Matrix() string {
	if b == 0 {
		return "A"
	}
	return "B"
}

func (b CollectorBuffer) String() string {
	if b == 0 {
		return "the collector buffer"
	}
	return "the collector buffer b" + string(rune('0'+b-1))
}

// collectorBuffer returns the buffer that a modifier names, such as collector::b2::fill.
func collectorBuffer(mod string) CollectorBuffer {
	for b := range CollectorBuffer(4) {
		if strings.HasPrefix(mod, "collector::b"+string(rune('0'+b))+"::") {
			return b + 1
		}
	}
	return 0
}

// Collector returns how a tcgen05.mma uses a collector buffer, which buffer that is, and whose it is:
// its own CTA's, or that of the CTA which leads its pair. ok: the operation is a tcgen05.mma.
func (op *Op) Collector() (u CollectorUsage, b CollectorBuffer, cta int32, ok bool) {
	if op.Kind != OpTensorMultiply {
		return 0, 0, 0, false
	}
	p := op.tcgen05.mma
	return p.collector, p.buffer, p.ctas[0], true
}

// Collected returns the memory that holds the matrix of a tcgen05.mma that its collector
// buffer keeps.
func (op *Op) Collected() (list []Span) {
	p, kept := op.tcgen05.mma, partA
	if p.buffer > 0 {
		kept = partB
	}
	for i, s := range p.reads {
		if p.parts[i] == kept {
			list = append(list, s)
		}
	}
	return list
}

// sameA and sameB are the bits of an instruction descriptor that say how a matrix is read: its
// format and its major-ness, and how far B may be shifted (ISA 9.7.18.4.2).
const (
	sameA = 7<<7 | 1<<15
	sameB = 7<<10 | 1<<16 | 3<<30
)

// SameCollected reports whether two tcgen05.mma name the same matrix for their collector
// buffer, of the same shape and format.
func (op *Op) SameCollected(o *Op) bool {
	p, q := op.tcgen05.mma, o.tcgen05.mma
	bits := p.form.Desc ^ q.form.Desc
	if p.form.Kind != q.form.Kind || len(p.ctas) != len(q.ctas) {
		return false
	}
	if p.buffer > 0 {
		return p.db == q.db && p.form.N == q.form.N && bits&sameB == 0
	}
	return p.form.ATensor == q.form.ATensor && p.a == q.a && p.da == q.da && p.form.M == q.form.M && bits&sameA == 0
}
