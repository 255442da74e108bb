package kernel

import "math"

// A Stage is a position in a ring: the index of one of n stages, and the parity of the
// phase to wait for at that stage's barrier. Both are variables of each thread.
type Stage struct {
	Index  Reg
	Parity Reg
	n      int
}

// Stages starts at stage 0 of a ring of n, with ProducerParity or ConsumerParity:
// producers find the stages free at first, consumers wait.
func (k *Kernel) Stages(n int, parity int) *Stage {
	switch {
	case n < 1:
		k.fail("Stages(%d): a ring has at least one stage", n)
		n = 1
	case n > math.MaxInt32:
		k.fail("Stages(%d): a ring has fewer than 2^31 stages", n)
		n = 1
	}
	if parity != 0 && parity != 1 {
		k.fail("Stages: a parity of %d; it is ProducerParity, 1, or ConsumerParity, 0", parity)
		parity = 0
	}
	return &Stage{k.Const(U32, 0), k.Const(U32, parity), n}
}

// Advance goes to the next stage: the index increases by one, and after the last stage it
// returns to 0 and the parity flips.
func (s *Stage) Advance() {
	if s.n == 1 {
		s.Parity.Set(s.Parity.Xor(1))
		return
	}
	next := s.Index.Add(1)
	wraps := next.Eq(s.n)
	s.Index.Set(wraps.Select(0, next))
	s.Parity.Set(wraps.Select(s.Parity.Xor(1), s.Parity))
}
