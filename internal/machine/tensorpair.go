package machine

import "slices"

// With cta_group::2 a warp of each CTA of a pair takes part in an alloc, a dealloc and a
// relinquish_alloc_permit, and the n-th of a kind in one CTA meets the n-th in the other. The
// first to come "could block until the second warp in the peer CTA also performs the
// operation" (ISA 9.7.18.5). A dealloc and a relinquish may block or not: here they do, so
// that what hangs on some card hangs; but nothing is ordered by their meeting.

// A pairAsk is what a warp waits for one of the other CTA to join in.
type pairAsk struct {
	does     columnsDeed
	granted  bool // both came, and it is done
	n, at    uint32
	warp, pc int32
	mask     uint32
}

// peer returns the other CTA of a pair: its rank in the cluster differs in the last bit (ISA
// 9.7.18.1). It is nil if there is none, or if it has ended.
func (m *Machine) peer(t *cta) *cta {
	rank := t.rank ^ 1
	if rank >= t.g.size(t.first) {
		return nil
	}
	if p := m.ctas[t.g.clusterMember(t.first, rank)]; p != nil && !p.ended {
		return p
	}
	return nil
}

// askPair lets a warp wait for the other CTA to do the same.
func (x *ctx) askPair(a pairAsk) verdict {
	t := x.c.tensors()
	a.warp, a.pc = x.w.index, x.s.pc
	t.asks = append(t.asks, a)
	x.s.state, x.s.wait = waiting, wait{kind: waitPair}
	ev := Event{Kind: EvTensorAsk, CTA: x.c.index, Warp: x.w.index, Mask: a.mask, PC: x.s.pc}
	if a.does == allocates {
		ev.Permit = Permit(x.c.index)
	}
	if p := x.m.peer(x.c); p != nil {
		ev.Peer = &p.index
	}
	x.m.emit(ev)
	return parked
}

// askOf returns the place of what a warp asks for. It asks for one thing at a time.
func (t *tensorMemory) askOf(warp int32) int {
	return slices.IndexFunc(t.asks, func(a pairAsk) bool { return a.warp == warp })
}

// nextAsk returns the first that asks for something of a kind and whom nobody has met.
func (t *tensorMemory) nextAsk(does columnsDeed) *pairAsk {
	if t == nil {
		return nil
	}
	for i := range t.asks {
		if a := &t.asks[i]; a.does == does && !a.granted {
			return a
		}
	}
	return nil
}

// meets returns what a warp of a CTA asks for, and what in the other CTA it meets: nil if that
// has not come, or if another of its own CTA has its turn before it.
func (m *Machine) meets(t *cta, warp int32) (own, other *pairAsk) {
	own = &t.tensor.asks[t.tensor.askOf(warp)]
	if p := m.peer(t); p != nil && t.tensor.nextAsk(own.does) == own {
		other = p.tensor.nextAsk(own.does)
	}
	return own, other
}

// pairOver reports whether what a warp of a pair waits for has come: the other CTA asks for
// the same, and an alloc finds its columns.
func (m *Machine) pairOver(t *cta, warp int32) bool {
	own, other := m.meets(t, warp)
	switch {
	case own.granted:
		return true
	case other == nil:
		return false
	case own.does != allocates:
		return true
	}
	a, ok := m.freeColumns(t, own.n)
	b, also := m.freeColumns(m.peer(t), other.n)
	return ok && also && a == b
}

// resumePair lets a split pass what it asked for. The first of the two does what both asked
// for.
func (m *Machine) resumePair(x *ctx) {
	t := x.c.tensor
	own, other := m.meets(x.c, x.w.index)
	if !own.granted {
		if own.n != other.n || own.does == frees && own.at != other.at {
			x.tensorFault(FaultTensorAlloc, x.s.mask, "the two CTAs of the pair ask for different columns (ISA 9.7.18.7.1)")
			return
		}
		m.grant(x, own, other)
	}
	does, at := own.does, own.at
	i := t.askOf(x.w.index)
	t.asks = slices.Delete(t.asks, i, i+1)
	x.s.state, x.s.wait = running, wait{}
	if does != allocates || x.storeWord(&m.prog.code[x.s.pc].x.(*allocInfo).access, lowest(x.s.mask), at) != halted {
		x.s.pc++
	}
}

// grant does what two CTAs ask for, in both.
func (m *Machine) grant(x *ctx, own, other *pairAsk) {
	own.granted, other.granted = true, true
	if own.does == relinquishes {
		return
	}
	peer := m.peer(x.c)
	if own.does == allocates {
		own.at, _ = m.freeColumns(x.c, own.n)
		other.at = own.at
	}
	change := func(t *cta, a *pairAsk) Event {
		return t.tensor.change(t, a.does, tensorAlloc{first: a.at, n: a.n, warp: a.warp, pc: a.pc, mask: a.mask}, m.owner)
	}
	a, b := change(x.c, own), change(peer, other)
	first := a
	a.With, b.With, b.Second = &b, &first, true
	m.emit(a)
	m.emit(b)
}

// inspectPair describes a split that waits for the other CTA of its pair.
func (m *Machine) inspectPair(w *warp, v *WaitingSplit) {
	t := m.ctas[w.cta]
	own, other := m.meets(t, w.index)
	switch {
	case m.pairOver(t, w.index):
		v.Kind = WaitNothing
	case other != nil:
		v.Kind, v.Need, v.Free = WaitColumns, own.n, min(m.columnsFree(t.index), m.columnsFree(m.peer(t).index))
	default:
		v.Kind = WaitPair
	}
}
