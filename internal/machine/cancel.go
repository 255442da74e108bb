package machine

import (
	"math/bits"

	"muster/ptx"
)

// clusterlaunchcontrol.try_cancel (ISA 9.7.15.18): an asynchronous request for a cluster that
// has not started, which then never starts. Its response, 16 bytes, is written to shared memory
// through the asynchronous proxy, and the bytes are reported to an mbarrier. Which requests get
// a cluster depends on how many have started: a choice of the schedule. A request fails where
// none is left, and for other reasons too, as when a kernel of higher priority waits (CUDA
// Programming Guide 4.12): that is another choice, Refuse. The clusters that are left then start
// as any others.

type cancelInfo struct {
	to, bar access
	all     bool // to every CTA of the cluster
}

// responseBytes is the size of a response.
const responseBytes = 16

func (d *decoder) tryCancel(in *ptx.Inst) error {
	for _, m := range [...]string{"async", "mbarrier::complete_tx::bytes", "b128"} {
		d.read(m)
	}
	ci := &cancelInfo{all: d.has("multicast::cluster::all")}
	if len(in.Operands) != 2 {
		return d.errorf("%s takes an address and an mbarrier", Name(in))
	}
	ci.to.space, ci.to.size, ci.bar.space, ci.bar.size = d.ownSpace(), responseBytes, spCluster, 8
	if err := d.mem(in.Operands[0], &ci.to); err != nil {
		return err
	}
	if err := d.mem(in.Operands[1], &ci.bar); err != nil {
		return err
	}
	d.prog.cancels = true
	d.emit(instr{class: visible, visit: visitTryCancel, x: ci})
	return nil
}

func visitTryCancel(x *ctx, in *instr, mask uint32) verdict {
	ci := in.x.(*cancelInfo)
	var to, bar [32]uint64
	x.addressesOf(&ci.to, &to)
	x.addressesOf(&ci.bar, &bar)
	if x.c.refused {
		x.badOperand(FaultCancel, mask, "a request after the answer to one was that nothing is cancelled, which is undefined (ISA 9.7.15.18.1)")
	}
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		op := Op{Kind: OpCancel, Proxy: Async}
		add := func(to, bar uint64) bool {
			s, ok := x.span(&ci.to, l, to, responseBytes, responseBytes, Write)
			if !ok {
				return false
			}
			op.Writes = append(op.Writes, s)
			x.m.addr[l] = bar
			mem, at, ok := x.mbarAddress(&ci.bar, l)
			if !ok {
				return false
			}
			op.Bars = append(op.Bars, BarRef{Mem: mem, Addr: at, Life: x.m.barrierAt(mem, at).life})
			op.BarBytes = append(op.BarBytes, responseBytes)
			return true
		}
		if !ci.all {
			if !add(to[l], bar[l]) {
				return halted
			}
		} else {
			ci.to.space = spCluster
			for r := range int(x.c.g.size(x.c.first)) {
				if !add(atRank(to[l], r), atRank(bar[l], r)) {
					return halted
				}
			}
		}
		x.issue(op, l)
	}
	return performed
}

// decide takes a cluster that has not started, if there is one, and makes the response.
func (m *Machine) decide(op *Op) {
	g := m.gridOf(op.CTA)
	p := &m.at[g.index]
	r := notCancelled()
	switch given := m.cfg.granted; {
	case m.cfg.grants:
		if int(p.granted) < len(given) {
			r = cancelled(g.place(g.clusterFirst(given[p.granted])))
			p.granted++
		}
	case p.started < p.until && !op.refused:
		first := g.clusterFirst(p.started)
		r = cancelled(g.place(first))
		n := g.size(first)
		p.started++
		p.ended += n
		p.triggered += n
		m.ended += n
	}
	op.data = r[:]
}

// mayRefuse reports whether an operation is a request that could get a cluster.
func (m *Machine) mayRefuse(op *Op) bool {
	if op.Kind != OpCancel || op.Stage != Issued {
		return false
	}
	p := &m.at[m.gridOf(op.CTA).index]
	return p.started < p.until && !m.cfg.grants
}

// Granted reports whether a request got a cluster, once its source was read.
func (op *Op) Granted() bool { return len(op.data) == responseBytes && op.data[responseBytes-4] == 1 }

// Grant fixes the answers to requests for clusters: the first requests get these clusters, and
// those after them none. Clusters that are given so do not count as ended. The run of the
// machine, which has one launch, must not have begun.
func (m *Machine) Grant(clusters []int32) { m.cfg.grants, m.cfg.granted = true, clusters }

// Cancels reports whether the program has requests for clusters that have not started.
func (p *Program) Cancels() bool { return p.cancels }
