package kernel

import "fmt"

// This file is cp.async (ISA 9.7.9.25.3): every thread copies a few bytes from global
// into shared memory, in the generic proxy. A thread waits for its own copies, by group
// or all, and then a barrier publishes them; or the copies arrive at an mbarrier
// (Mbarrier.CpAsyncArrive).

// CpAsync copies 4, 8 or 16 bytes; both addresses are multiples of the size.
// Options: BypassL1 (16 bytes only), CacheHint, PrefetchSize. It emits
// cp.async.ca.shared::cta.global, or .cg with BypassL1.
func (k *Kernel) CpAsync(dst, src Ptr, bytes int, opts ...CopyOption) {
	k.cpAsync("CpAsync", dst, src, bytes, nil, opts)
}

// CpAsyncZfill copies the first srcBytes, a number or a register of 32 bits, and fills
// the rest of the 4, 8 or 16 bytes with zeros. 0 reads nothing, as needed outside of an
// array's bounds. Options as for CpAsync.
func (k *Kernel) CpAsyncZfill(dst, src Ptr, bytes int, srcBytes Num, opts ...CopyOption) {
	if n, ok := toInt(srcBytes); ok && (n < 0 || n > int64(bytes)) {
		k.fail("CpAsyncZfill: %d bytes of the source for %d in all", n, bytes)
		return
	}
	k.cpAsync("CpAsyncZfill", dst, src, bytes, srcBytes, opts)
}

func (k *Kernel) cpAsync(what string, dst, src Ptr, bytes int, srcBytes Num, opts []CopyOption) {
	c, ok := k.copying(what, takesHint|takesCpAsync, opts)
	switch {
	case !ok:
		return
	case bytes != 4 && bytes != 8 && bytes != 16:
		k.fail("%s of %d bytes: it copies 4, 8 or 16", what, bytes)
		return
	case c.bypass && bytes != 16:
		k.fail("%s of %d bytes with BypassL1: that copies 16", what, bytes)
		return
	case !k.space(what, "the destination", dst, SharedCTA) || !k.space(what, "the source", src, Global) ||
		!k.aligned(what, "the destination", dst, bytes) || !k.aligned(what, "the source", src, bytes) || !k.room(what, "the destination", dst, bytes):
		return
	}
	cache := "ca"
	if c.bypass {
		cache = "cg"
	}
	op := "cp.async." + cache + ".shared::cta.global"
	operands := []any{dst, src, bytes}
	if srcBytes != nil {
		operands = append(operands, srcBytes)
	}
	op, operands = c.hint(op, operands)
	if c.prefetch != 0 {
		op += fmt.Sprintf(".L2::%dB", c.prefetch)
	}
	k.Inst(op, operands...)
}

// CpAsyncCommit closes a group of the thread's copies since the last commit
// (cp.async.commit_group, ISA 9.7.9.25.3.2).
func (k *Kernel) CpAsyncCommit() { k.Inst("cp.async.commit_group") }

// CpAsyncWait waits until at most n of the thread's latest groups are incomplete: 0 for
// all groups. It does not wait for uncommitted copies (cp.async.wait_group, ISA
// 9.7.9.25.3.3).
func (k *Kernel) CpAsyncWait(n int) {
	if n < 0 {
		k.fail("CpAsyncWait(%d): it is the number of groups that may be left, 0 or more", n)
		return
	}
	k.Inst("cp.async.wait_group", n)
}

// CpAsyncWaitAll waits for all of the thread's copies, committed or not
// (cp.async.wait_all).
func (k *Kernel) CpAsyncWaitAll() { k.Inst("cp.async.wait_all") }
