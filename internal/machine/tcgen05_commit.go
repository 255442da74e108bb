package machine

import "muster/ptx"

// tcgen05.commit (ISA 9.7.18.12.1), and the order in which commits arrive.
//
// The ISA counts commit among the synchronous instructions of tcgen05, which "are inherently
// ordered with respect to other tcgen05 operations in the same order" (9.7.18.6.1). So what the
// commits of one thread signal comes in the order of their issue, to each of their targets, also
// where a later one tracks nothing more. Of other threads' commits it says nothing, nor of those
// with another .cta_group, which no kernel may have (9.7.18).

type commitInfo struct {
	bar   access
	mask  reg
	multi bool
	pair  bool
}

func (d *decoder) tensorCommit(in *ptx.Inst) error {
	ci := &commitInfo{pair: d.ctaPair()}
	d.read("mbarrier::arrive::one")
	if d.has("sync_restrict::shared::read::mma::a") {
		return notModelled("with .sync_restrict")
	}
	d.has("shared::cluster")
	ci.multi = d.has("multicast::cluster") || d.has("multicast::cluster::16b")
	if d.has("multicast::cluster::32b") {
		return notModelled("with a multicast mask of 32 bits")
	}
	n := 1
	if ci.multi {
		n = 2
	}
	if len(in.Operands) != n {
		return d.errorf("%s takes %d operands, not %d", Name(in), n, len(in.Operands))
	}
	d.stateSpace()
	ci.bar.space, ci.bar.size = spCluster, 8
	if err := d.mem(in.Operands[0], &ci.bar); err != nil {
		return err
	}
	if ci.multi {
		var err error
		if ci.mask, err = d.src(in.Operands[1], u16); err != nil {
			return err
		}
	}
	d.emit(instr{class: visible, visit: visitTensorCommit, x: ci})
	return nil
}

// sharedBits is the address in shared::cluster of an operand of alloc or commit. The
// instructions behind them take 32 bits, and a generic address of shared memory has those in
// its lower half. So compilers and libraries pass what the ISA does not have: Triton an address
// of shared::cta where commit has a generic one, ThunderKittens a generic one where alloc has
// one of shared::cta (9.7.18.7.1, 9.7.18.12.1).
func sharedBits(addr uint64) uint64 {
	if addr-sharedWindow < windowSize {
		return addr - sharedWindow
	}
	return addr
}

// MaskNames begins Stop.Msg where a mask names a CTA that the cluster does not have.
const MaskNames = "the mask names"

func visitTensorCommit(x *ctx, in *instr, mask uint32) verdict {
	m, ci := x.m, in.x.(*commitInfo)
	var bar [32]uint64
	x.addressesOf(&ci.bar, &bar)
	if !x.ctaGroup(mask, ci.pair) {
		return halted
	}
	for l := range lanesOf(mask) {
		op := Op{Kind: OpMbarArrive, After: x.w.counts(l).issued[GroupTensor], Tracks: GroupTensor, noinc: true, pair: x.otherOf(ci.pair)}
		add := func(a uint64) bool {
			m.addr[l] = sharedBits(a)
			mem, at, ok := x.mbarAddress(&ci.bar, l)
			if ok {
				op.Bars = append(op.Bars, BarRef{Mem: mem, Addr: at, Life: m.barrierAt(mem, at).life})
				op.BarBytes = append(op.BarBytes, 0)
			}
			return ok
		}
		if !ci.multi {
			if !add(bar[l]) {
				return halted
			}
		} else {
			for r := range lanesOf(x.a32(ci.mask)[l] & 0xffff) {
				if !add(atRank(bar[l], r)) {
					if n := int(x.c.g.size(x.c.first)); r >= n {
						m.stop.Msg = sprint("%s CTA %d of the cluster, which has %d", MaskNames, r, n)
					}
					return halted
				}
			}
		}
		x.issue(op, l)
	}
	return performed
}

// A CommitQueue names the commits that arrive in the order of their issue: those of one thread,
// with one .cta_group.
type CommitQueue struct {
	CTA, Warp int32
	Lane      int8
	Pair      bool // .cta_group::2
}

// CommitQueue returns the queue of a tcgen05.commit; ok: the operation is one.
func (op *Op) CommitQueue() (q CommitQueue, ok bool) {
	return CommitQueue{op.CTA, op.Warp, op.Lane, op.pair != 0}, op.Kind == OpMbarArrive && op.Tracks == GroupTensor
}

// queued reports whether an earlier commit of an operation's queue has still to arrive.
func (m *Machine) queued(op *Op) bool {
	q, ok := op.CommitQueue()
	if !ok {
		return false
	}
	for _, o := range m.ops { // in order of issue
		if o.ID >= op.ID {
			break
		}
		if before, ok := o.CommitQueue(); ok && before == q {
			return true
		}
	}
	return false
}
