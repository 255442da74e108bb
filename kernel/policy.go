package kernel

import "fmt"

// An Eviction is an eviction priority of lines in the L2 cache (ISA 9.7.9.1). It affects
// only performance, never results.
type Eviction string

// The eviction priorities. EvictUnchanged keeps a line's current priority.
const (
	EvictNormal    Eviction = "L2::evict_normal"
	EvictFirst     Eviction = "L2::evict_first"
	EvictLast      Eviction = "L2::evict_last"
	EvictUnchanged Eviction = "L2::evict_unchanged"
)

// CachePolicy makes a cache policy, for CacheHint, that gives every access the primary
// priority (createpolicy.fractional, ISA 9.7.9.18).
func (k *Kernel) CachePolicy(primary Eviction) Reg {
	d := k.reg(B64)
	k.Inst("createpolicy.fractional."+string(primary)+".b64", d)
	return d
}

// CachePolicyFraction gives the primary priority to a fraction of the accesses,
// more than 0 and at most 1, and the secondary one, EvictFirst or
// EvictUnchanged, to the others (createpolicy.fractional).
func (k *Kernel) CachePolicyFraction(primary Eviction, fraction float64, secondary Eviction) Reg {
	if !(fraction > 0 && fraction <= 1) {
		k.fail("CachePolicyFraction: a fraction of %v; it is more than 0 and at most 1", fraction)
		return k.lost(B64)
	}
	if !k.second("CachePolicyFraction", secondary) {
		return k.lost(B64)
	}
	d := k.reg(B64)
	k.Inst(fmt.Sprintf("createpolicy.fractional.%s.%s.b64", primary, secondary), d, fraction)
	return d
}

// CachePolicyRange gives the primary priority to accesses of the first primaryBytes from
// an address in global memory, and the secondary one, EvictFirst or EvictUnchanged, to
// the rest of total bytes. Both sizes are numbers or registers of 32 bits, and
// primaryBytes is at most total (createpolicy.range).
func (k *Kernel) CachePolicyRange(at Ptr, primary Eviction, primaryBytes Num, secondary Eviction, total Num) Reg {
	if !k.second("CachePolicyRange", secondary) {
		return k.lost(B64)
	}
	a, aok := toInt(primaryBytes)
	t, tok := toInt(total)
	if aok && tok && a > t {
		k.fail("CachePolicyRange: %d primary bytes of %d in all", a, t)
		return k.lost(B64)
	}
	d := k.reg(B64)
	k.Inst(fmt.Sprintf("createpolicy.range%s.%s.%s.b64", at.spaceMod(), primary, secondary), d, at, primaryBytes, total)
	return d
}

func (k *Kernel) second(what string, e Eviction) bool {
	if e != EvictFirst && e != EvictUnchanged {
		k.fail("%s: the secondary priority is %s; it is EvictFirst or EvictUnchanged", what, e)
		return false
	}
	return true
}

// A CopyOption is an option of an asynchronous copy: Multicast, CacheHint, BypassL1,
// PrefetchSize, PairBarrier. Each copy documents its options.
type CopyOption struct{ set func(*copying) }

// A copying holds the options of a copy.
type copying struct {
	multicast Num
	policy    Reg
	bypass    bool
	prefetch  int
	pair      bool
}

// Multicast makes a copy into shared memory write to each CTA of the cluster whose bit is
// set in the mask, of 16 bits: the data at the same offset, and the bytes at the same
// barrier, of each (ISA 9.7.9.25.4.1). The kernel needs Clusters.
func Multicast(mask Num) CopyOption { return CopyOption{func(c *copying) { c.multicast = mask }} }

// CacheHint applies a policy made by CachePolicy or a related call to a copy
// (.L2::cache_hint).
func CacheHint(policy Reg) CopyOption { return CopyOption{func(c *copying) { c.policy = policy }} }

// BypassL1 makes a cp.async of 16 bytes cache only in L2 (.cg).
func BypassL1() CopyOption { return CopyOption{func(c *copying) { c.bypass = true }} }

// PrefetchSize hints the number of bytes for cp.async to fetch into L2: 64, 128 or 256
// (.L2::128B).
func PrefetchSize(bytes int) CopyOption { return CopyOption{func(c *copying) { c.prefetch = bytes }} }

// PairBarrier lets a tensor load complete at a barrier of either CTA of the pair, of whichever the
// destination is: Remote of the barrier of the CTA that multiplies for both. It needs
// sm_100a (.cta_group::2, ISA 9.7.9.25.5.2).
func PairBarrier() CopyOption { return CopyOption{func(c *copying) { c.pair = true }} }

// The options that a copy accepts.
const (
	takesHint      = 1 << iota
	takesMulticast // with clusters
	takesCpAsync   // BypassL1, PrefetchSize
	takesPair
)

// copying applies options to a copy that accepts some of them. It reports whether they
// are valid, and converts the mask to the instruction's form.
func (k *Kernel) copying(what string, takes int, opts []CopyOption) (copying, bool) {
	var c copying
	for _, o := range opts {
		if o.set != nil {
			o.set(&c)
		}
	}
	n := len(k.errs)
	switch {
	case c.multicast != nil && takes&takesMulticast == 0:
		k.fail("%s takes no Multicast: only loads from global memory into shared memory reach several CTAs", what)
	case !c.policy.IsZero() && takes&takesHint == 0:
		k.fail("%s takes no CacheHint", what)
	case c.pair && takes&takesPair == 0:
		k.fail("%s takes no PairBarrier: it is for tensor loads", what)
	case c.pair && k.CTAs()%2 != 0:
		k.fail("%s: PairBarrier: the kernel has clusters of %d; pairs need an even number", what, k.CTAs())
	case (c.bypass || c.prefetch != 0) && takes&takesCpAsync == 0:
		k.fail("%s takes neither BypassL1 nor PrefetchSize: they are of CpAsync", what)
	case c.prefetch != 0 && c.prefetch != 64 && c.prefetch != 128 && c.prefetch != 256:
		k.fail("PrefetchSize(%d): it is 64, 128 or 256 bytes", c.prefetch)
	}
	if c.multicast != nil && len(k.errs) == n {
		c.multicast = k.ctaMask(what+": Multicast", c.multicast)
	}
	return c, len(k.errs) == n
}

// hint adds the policy, if any, to an instruction and its operands.
func (c *copying) hint(op string, operands []any) (string, []any) {
	if c.policy.IsZero() {
		return op, operands
	}
	return op + ".L2::cache_hint", append(operands, c.policy)
}

// ctaMask checks a mask of CTAs against the kernel's clusters and returns it as an
// operand of 16 bits.
func (k *Kernel) ctaMask(what string, mask Num) Num {
	if !k.clustered(what) {
		return 1
	}
	if r, ok := mask.(Reg); ok && r.k != nil && r.t.integer() && r.t.Size() == 4 {
		return r.Cvt(U16)
	}
	n, ok := toInt(mask)
	if !ok {
		return mask
	}
	switch ctas := k.CTAs(); {
	case n <= 0:
		k.fail("%s: the mask is %d and names no CTA", what, n)
	case n>>ctas != 0:
		top := 0
		for n>>(top+1) != 0 {
			top++
		}
		k.fail("%s: the mask %#x names CTA %d, and the cluster has CTAs 0 to %d", what, n, top, ctas-1)
	}
	return mask
}

// clustered reports a kernel without clusters.
func (k *Kernel) clustered(what string) bool {
	if k.cluster == [3]int{} {
		k.fail("%s: the kernel has no clusters; give New the option Clusters", what)
		return false
	}
	return true
}
