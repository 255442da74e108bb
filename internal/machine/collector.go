package machine

// The collector buffer keeps a matrix A for the multiplications that follow (ISA 9.7.18.10).
// Whether the card takes A from there is its own choice, so that the machine always computes
// with the A that the instruction names; what must hold for that is a rule's to check.

// A CollectorUsage is what a tcgen05.mma says of the collector buffer for A.
type CollectorUsage uint8

const (
	CollectorDiscard CollectorUsage = iota // what none of the others says, too
	CollectorFill
	CollectorUse
	CollectorLastUse
)

var collectorUsages = map[string]CollectorUsage{
	"collector::a::discard": CollectorDiscard,
	"collector::a::fill":    CollectorFill,
	"collector::a::use":     CollectorUse,
	"collector::a::lastuse": CollectorLastUse,
}

// Collector returns what a tcgen05.mma says of the collector buffer, and the CTA that stands
// for its own, or for its pair; ok: the operation is one.
func (op *Op) Collector() (u CollectorUsage, cta int32, ok bool) {
	if op.Kind != OpTensorMultiply {
		return 0, 0, false
	}
	p := op.tcgen05.mma
	return p.collector, p.ctas[0], true
}

// MatrixA returns the memory that holds A of a tcgen05.mma.
func (op *Op) MatrixA() (list []Span) {
	p := op.tcgen05.mma
	for i, s := range p.reads {
		if p.parts[i] == partA {
			list = append(list, s)
		}
	}
	return list
}

// sameA are the bits of an instruction descriptor that say how A is read: its format and its
// major-ness (ISA 9.7.18.4.2).
const sameA = 7<<7 | 1<<15

// SameA reports whether two tcgen05.mma name the same A, of the same shape and format.
func (op *Op) SameA(o *Op) bool {
	p, q := op.tcgen05.mma, o.tcgen05.mma
	return p.form.ATensor == q.form.ATensor && p.a == q.a && p.da == q.da && len(p.ctas) == len(q.ctas) &&
		p.form.Kind == q.form.Kind && p.form.M == q.form.M && (p.form.Desc^q.form.Desc)&sameA == 0
}
