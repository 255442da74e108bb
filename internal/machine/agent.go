package machine

import "slices"

// This file answers questions about one choice of a state, without listing all,
// for callers that record schedules.

// Offers reports whether Enabled lists c, or c is a test that may fail (GiveUp), or
// possible in every state (Part, Lead).
func (m *Machine) Offers(c Choice) bool {
	switch c.Kind {
	case Run:
		e, ok := m.Holder(c)
		return ok && e == c
	case Alone:
		h, ok := m.Holder(c)
		return ok && m.mayPart(h)
	case Subset:
		return m.offersSubset(c)
	case Pick:
		h, _ := m.Holder(c)
		if m.stop != nil || m.versions == nil || c.CTA < 0 || int(c.CTA) >= len(m.ctas) || m.ctas[c.CTA] == nil || c.Warp < 0 || int(c.Warp) >= len(m.ctas[c.CTA].warps) || h.Kind != Run {
			return false
		}
		w := m.ctas[c.CTA].warps[c.Warp]
		s := w.find(c.Lane)
		if s != nil && c.Rest != "" {
			return m.mayPick(c)
		}
		return s != nil && slices.Contains(m.picks(w, s, nil), c)
	case Part, Lead:
		return m.stop == nil
	case Milestone, Refuse:
		if m.stop != nil {
			return false
		}
		for _, op := range m.ops {
			if op.ID == c.Op {
				return m.canAdvance(op) && (c.Kind == Milestone || m.mayRefuse(op))
			}
		}
		return false
	}
	return slices.Contains(m.Enabled(nil), c) || c.Kind == GiveUp && m.MayFail(c)
}

// Holder returns the Run choice of the split that now holds c's lane (its lowest
// lane may have changed), and whether it is enabled.
func (m *Machine) Holder(c Choice) (Choice, bool) {
	if m.stop != nil || c.CTA < 0 || int(c.CTA) >= len(m.ctas) || c.Lane < 0 || c.Lane > 31 {
		return c, false
	}
	t := m.ctas[c.CTA]
	if t == nil || c.Warp < 0 || int(c.Warp) >= len(t.warps) {
		return c, false
	}
	w := t.warps[c.Warp]
	s := w.find(c.Lane)
	if s == nil {
		return c, false
	}
	return Choice{Kind: Run, CTA: c.CTA, Warp: c.Warp, Lane: int8(lowest(s.mask))}, m.ready(w, s)
}

// Issued returns how many asynchronous operations have been issued, which is
// the ID of the last.
func (m *Machine) Issued() int64 { return m.nextOp }

// NamedBarrier returns the open generation of named barrier id of a running CTA,
// the threads arrived and the threads expected; 0 and 0 if none has arrived.
func (m *Machine) NamedBarrier(cta, id int32) (gen uint64, arrived, count uint32) {
	if cta < 0 || int(cta) >= len(m.ctas) || m.ctas[cta] == nil || id < 0 || id > 15 {
		return 0, 0, 0
	}
	b := &m.ctas[cta].bars[id]
	return b.gen, b.arrived, b.count
}
