package trial

import (
	"math"
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// Most clusters of a large grid do the same as others at other places of global memory.
// A run of each cluster without a judge shows which: two parts are alike if they have the
// same events in the same order, with the same shared addresses, barriers, counts and
// bytes, where CTAs are counted as they start, and addresses in a buffer from the
// first of the part's accesses to it. What a judge of orders says of one of them, it says
// of the other. It may say another thing where it compares values, which the events leave
// out (Parts.Class).

// maxClusters bounds the parts that are compared.
const maxClusters = 1024

// Parts are runs of all clusters, a few in each, that interact with no other.
type Parts struct {
	N int
	// Class is, for each part, the first part that it is like. The judge of an unlike
	// part may find another thing than that of the first: where stores write equal values,
	// and where a program polls.
	Class []int
}

// Clusters compares the clusters under ProofSchedule, jobs at a time. It runs each by
// itself, except where the run of one shows what others of its row do (stretch.go). It
// returns one part for all if a run does not come to its end, or if they share what one
// of them writes.
func (s *Subject) Clusters(b *Budget, jobs int, skip bool) Parts {
	least := leastRow
	if len(s.Program.Polls()) > 0 { // no two count as alike
		least = math.MaxInt
	}
	p, _ := s.Compare(b, jobs, skip, least)
	return p
}

// Compare is Clusters, where a run may stand for others of a row of at least so many. It
// also returns how many parts ran.
func (s *Subject) Compare(b *Budget, jobs int, skip bool, least int) (p Parts, ran int) {
	whole := Parts{N: 1, Class: []int{0}}
	if s.Parts() == 1 {
		return whole, 0
	}
	c := &comparer{s: s, b: b, skip: skip, n: min(maxClusters, s.Start.ClusterCount())}
	list := c.all(jobs, least)
	if c.interact.Load() || !disjoint(list) {
		return whole, len(list)
	}
	p = Parts{N: c.n, Class: make([]int, c.n)}
	traces := make([]*trace, c.n)
	for _, t := range list {
		for k := range t.n {
			traces[t.from+k*t.step] = t.trace
		}
	}
	polls := len(s.Program.Polls()) > 0
	first := map[[2]Hash]int{}
	for i, t := range traces {
		p.Class[i] = i
		if k, ok := first[t.hash]; ok {
			p.Class[i] = k
		} else if !t.odd && !polls {
			first[t.hash] = i
		}
	}
	return p, len(list)
}

// A trace is a hash of the events of a part.
type trace struct {
	hash  [2]Hash
	ctas  []int32 // in the order in which they start
	bases []base
	odd   bool // an event is not followed
	*touched
}

// A base is the first address at which a part touched a region of global memory.
type base struct {
	region int
	addr   uint64
}

func (t *trace) mix(v uint64) {
	t.hash[0].Mix(v)
	t.hash[1].Mix(bits.RotateLeft64(v, 29) + 0x9e3779b97f4a7c15)
}

// mixAll mixes numbers that fit in 32 bits, two at a time.
func (t *trace) mixAll(v ...uint32) {
	for len(v) > 1 {
		t.mix(uint64(v[0])<<32 | uint64(v[1]))
		v = v[2:]
	}
	if len(v) > 0 {
		t.mix(uint64(v[0]))
	}
}

// cta numbers a CTA within the part.
func (t *trace) cta(c int32) uint32 {
	i := slices.Index(t.ctas, c)
	if i < 0 {
		i, t.ctas = len(t.ctas), append(t.ctas, c)
	}
	return uint32(i)
}

// at mixes an address.
func (t *trace) at(m *machine.Machine, mem machine.MemID, addr uint64) {
	switch mem.Kind() {
	case machine.GlobalMemory:
		r := m.RegionOf(addr)
		t.mix(uint64(r))
		for i := range t.bases {
			if t.bases[i].region == r {
				t.mix(addr - t.bases[i].addr)
				return
			}
		}
		t.bases = append(t.bases, base{r, addr})
		t.mix(0)
	case machine.SharedMemory:
		t.mix(uint64(t.cta(mem.CTA())))
		t.mix(addr)
	default:
		t.mix(uint64(uint32(mem)))
		t.mix(addr)
	}
}

func (t *trace) spans(m *machine.Machine, list []machine.Span) {
	t.mix(uint64(len(list)))
	for _, s := range list {
		t.mix(s.Len)
		if s.Len > 0 {
			t.at(m, s.Mem, s.Addr)
		}
	}
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Observe makes a trace a machine.Observer.
func (t *trace) Observe(m *machine.Machine, ev *machine.Event) {
	t.touched.Observe(m, ev)
	t.mixAll(uint32(ev.Kind)<<24|uint32(ev.Warp), t.cta(ev.CTA), ev.Mask, uint32(ev.PC))
	qualifiers := uint32(ev.Sem)<<24 | uint32(ev.Scope)<<16 | bit(ev.ScopeDefaulted)<<1 | bit(ev.SemDefaulted)
	switch ev.Kind {
	case machine.EvStart, machine.EvExit, machine.EvEnd, machine.EvWarpSync, machine.EvCollective:
		t.mixAll(ev.Count, bit(ev.Tells), ev.Members, ev.Sources)
	case machine.EvAccess:
		t.mixAll(qualifiers, uint32(ev.Access)<<16|uint32(ev.Proxy)<<8|bit(ev.Row), uint32(ev.Size), uint32(ev.Part), uint32(ev.Whole), ev.Init)
		if ev.Row && ev.Mask == 1<<32-1 {
			t.at(m, ev.Mem, ev.Addr[0])
			return
		}
		for mask := ev.Mask; mask != 0; mask &= mask - 1 {
			t.at(m, ev.Mem, ev.Addr[bits.TrailingZeros32(mask)])
		}
	case machine.EvBarArrive, machine.EvBarPass:
		t.mixAll(uint32(ev.Bar), ev.Count, uint32(ev.Gen), uint32(ev.Mode)<<16|uint32(ev.Forms)<<8|bit(ev.Counted)<<1|bit(ev.ByExit), ev.Again)
	case machine.EvClusterArrive, machine.EvClusterWait:
		t.mixAll(qualifiers, uint32(ev.Gen))
	case machine.EvFence:
		t.mixAll(qualifiers, uint32(ev.Fence)<<16|uint32(ev.Space))
		if ev.Fence == machine.FenceProxyTensorMapAcquire {
			for mask := ev.Mask; mask != 0; mask &= mask - 1 {
				t.at(m, machine.Global, ev.Addr[bits.TrailingZeros32(mask)])
			}
		}
	case machine.EvMbar, machine.EvMbarWait:
		b := &ev.Mbar
		t.mixAll(qualifiers, uint32(ev.Lane), uint32(b.Op)<<8|bit(b.Live)<<7|bit(b.NoComplete)<<6|bit(b.Completed)<<5|bit(b.Parity)<<4|bit(b.OK)<<3|bit(b.Slept)<<2|bit(ev.Token.Known)<<1|bit(ev.Token.NoComplete),
			ev.Members, b.Count, b.Bytes, uint32(b.Phase), b.Bar.Life, uint32(b.Undefined)<<8|uint32(b.Fault), uint32(ev.Token.Phase), uint32(ev.Token.PC))
		t.mix(uint64(b.Before))
		t.mix(uint64(b.After))
		t.mix(b.Token)
		t.at(m, b.Bar.Mem, b.Bar.Addr)
		if of := ev.Token.Bar; ev.Token.Known {
			t.mixAll(of.Life)
			t.at(m, of.Mem, of.Addr)
		}
	case machine.EvIssue:
		o := ev.Op
		t.mix(uint64(o.ID))
		t.mix(uint64(o.Twin))
		t.mixAll(uint32(o.Kind)<<24|uint32(o.Proxy)<<16|uint32(o.Group)<<8|bit(o.Uninit), o.Seq, uint32(o.Warp), uint32(o.Lane), uint32(o.Element), o.MapSeq, o.After)
		t.spans(m, o.Reads)
		t.spans(m, o.Writes)
		t.spans(m, []machine.Span{o.Target, o.Map})
		for i, b := range o.Bars {
			t.mixAll(b.Life, o.BarBytes[i])
			t.at(m, b.Mem, b.Addr)
		}
	case machine.EvSource, machine.EvWritten, machine.EvSignal:
		t.mix(uint64(ev.Op.ID))
		for _, phase := range ev.Op.Phases {
			t.mix(uint64(phase))
		}
	case machine.EvCommit:
		t.mixAll(uint32(ev.Group))
	case machine.EvGroupWait:
		t.mixAll(uint32(ev.Group), bit(ev.Read))
		for mask := ev.Mask; mask != 0; mask &= mask - 1 {
			t.mix(uint64(ev.Done[bits.TrailingZeros32(mask)]))
		}
	case machine.EvRegisters:
		t.mixAll(ev.Count, uint32(ev.Gen))
	default:
		t.odd = true
	}
}
