package kernel

import "fmt"

// This file is bulk copies (ISA 9.7.9.25.4): asynchronous copies of contiguous bytes that
// one thread issues and the asynchronous proxy performs. Sizes are bytes and multiples of
// 16; both addresses are multiples of 16. Each thread that executes an operation copies:
// use SingleThread or Elect for one copy.
//
// A load completes at an mbarrier: a thread expects its bytes there, with ArriveExpect or
// ExpectTx, and threads wait for the phase. A store completes in a bulk async-group of
// its thread: BulkCommit closes a group, and BulkWait waits. A store sees what threads
// wrote to shared memory only after FenceProxyAsync.

const completes = ".mbarrier::complete_tx::bytes"

// BulkLoad copies bytes from global into shared memory and then completes them at bar.
// Options: Multicast, CacheHint. It emits cp.async.bulk.shared::cluster.global (PTX 8.0).
func (k *Kernel) BulkLoad(dst, src Ptr, bytes Num, bar Mbarrier, opts ...CopyOption) {
	const what = "BulkLoad"
	c, ok := k.copying(what, takesHint|takesMulticast, opts)
	ok = k.bulk(what, dst, src, bytes) && ok
	if !ok || !k.space(what, "the destination", dst, SharedCTA, SharedCluster) || !k.space(what, "the source", src, Global) || !k.counts(what, dst, bar, false) {
		return
	}
	op := "cp.async.bulk.shared::cluster.global" + completes
	operands := []any{dst, src, bytes, bar.Ptr()}
	if c.multicast != nil {
		op += ".multicast::cluster"
		operands = append(operands, c.multicast)
	}
	op, operands = c.hint(op, operands)
	k.Inst(op, operands...)
}

// BulkStore copies bytes from this CTA's shared memory into global memory, as
// part of the thread's current bulk async-group. Option: CacheHint. It emits
// cp.async.bulk.global.shared::cta.bulk_group.
func (k *Kernel) BulkStore(dst, src Ptr, bytes Num, opts ...CopyOption) {
	const what = "BulkStore"
	c, ok := k.copying(what, takesHint, opts)
	ok = k.bulk(what, dst, src, bytes) && ok
	if !ok || !k.space(what, "the destination", dst, Global) || !k.space(what, "the source", src, SharedCTA) {
		return
	}
	op, operands := c.hint("cp.async.bulk.global.shared::cta.bulk_group", []any{dst, src, bytes})
	k.Inst(op, operands...)
}

// BulkToCluster copies bytes from this CTA's shared memory into that of a CTA of the
// cluster, and completes them at bar, which is in the same CTA as dst. It emits
// cp.async.bulk.shared::cluster.shared::cta.
func (k *Kernel) BulkToCluster(dst, src Ptr, bytes Num, bar Mbarrier) {
	if k.toCluster("BulkToCluster", dst, src, bytes, bar) {
		k.Inst("cp.async.bulk.shared::cluster.shared::cta"+completes, dst, src, bytes, bar.Ptr())
	}
}

// BulkReduce combines each element of global memory with one of this CTA's shared memory,
// as part of the thread's current bulk async-group. The type is that of dst's elements:
// Add of u32, s32, u64, f16, bf16, f32, f64; Min and Max of u32, s32, u64, s64, f16,
// bf16; Inc and Dec of u32; And, Or and Xor of b32, b64. Each element is a relaxed
// read-modify-write at GPU scope. Option: CacheHint. It emits
// cp.reduce.async.bulk.global.shared::cta.bulk_group (ISA 9.7.9.25.4.2).
func (k *Kernel) BulkReduce(op Op, dst, src Ptr, bytes Num, opts ...CopyOption) {
	const what = "BulkReduce"
	c, ok := k.copying(what, takesHint, opts)
	ok = k.bulk(what, dst, src, bytes) && ok
	if !ok || !k.space(what, "the destination", dst, Global) || !k.space(what, "the source", src, SharedCTA) {
		return
	}
	t := dst.elem
	if t == S64 && op == Add {
		t = U64
	}
	if op.bits() {
		t = untyped(t)
	}
	types := map[Op]string{Add: "u32 s32 u64 f16 bf16 f32 f64", Min: "u32 s32 u64 s64 f16 bf16", Max: "u32 s32 u64 s64 f16 bf16", Inc: "u32", Dec: "u32", And: "b32 b64", Or: "b32 b64", Xor: "b32 b64"}
	if !k.reduces(what, op, t, types) {
		return
	}
	name, operands := c.hint("cp.reduce.async.bulk.global.shared::cta.bulk_group", []any{dst, src, bytes})
	k.Inst(name+"."+string(op)+noftz(op, t)+"."+string(t), operands...)
}

// BulkReduceToCluster combines each element of a cluster CTA's shared memory with one of
// this CTA's, and completes the bytes at bar, which is in the same CTA as dst: Add of
// u32, s32, u64; Min and Max of u32, s32; Inc and Dec of u32; And, Or and Xor of b32. It
// emits cp.reduce.async.bulk.shared::cluster.shared::cta.
func (k *Kernel) BulkReduceToCluster(op Op, dst, src Ptr, bytes Num, bar Mbarrier) {
	const what = "BulkReduceToCluster"
	t := dst.elem
	if t == S64 && op == Add {
		t = U64
	}
	if op.bits() {
		t = untyped(t)
	}
	if k.toCluster(what, dst, src, bytes, bar) && k.reduces(what, op, t, clusterReductions) {
		k.Inst("cp.reduce.async.bulk.shared::cluster.shared::cta"+completes+"."+string(op)+"."+string(t), dst, src, bytes, bar.Ptr())
	}
}

// clusterReductions are the reductions into distributed shared memory.
var clusterReductions = map[Op]string{Add: "u32 s32 u64", Min: "u32 s32", Max: "u32 s32", Inc: "u32", Dec: "u32", And: "b32", Or: "b32", Xor: "b32"}

func (k *Kernel) toCluster(what string, dst, src Ptr, bytes Num, bar Mbarrier) bool {
	return k.bulk(what, dst, src, bytes) && k.clustered(what) && k.space(what, "the destination", dst, SharedCTA, SharedCluster) &&
		k.space(what, "the source", src, SharedCTA) && k.counts(what, dst, bar, false)
}

// BulkPrefetch hints that bytes of global memory will be needed in L2 (ISA 9.7.9.25.4.3).
// Option: CacheHint. It emits cp.async.bulk.prefetch.L2.global and has no completion.
func (k *Kernel) BulkPrefetch(src Ptr, bytes Num, opts ...CopyOption) {
	const what = "BulkPrefetch"
	c, ok := k.copying(what, takesHint, opts)
	if !ok || !k.size16(what, bytes) || !k.aligned(what, "the source", src, 16) || !k.space(what, "the source", src, Global) {
		return
	}
	op, operands := c.hint("cp.async.bulk.prefetch.L2.global", []any{src, bytes})
	k.Inst(op, operands...)
}

// BulkCommit closes the thread's bulk async-group: the stores and reductions issued since
// the last commit (cp.async.bulk.commit_group, ISA 9.7.9.25.6.1).
func (k *Kernel) BulkCommit() { k.Inst("cp.async.bulk.commit_group") }

// BulkWait waits until at most n of the thread's latest bulk async-groups are incomplete:
// 0 for all of them. Writes of the complete groups are then visible to the thread
// (cp.async.bulk.wait_group, ISA 9.7.9.25.6.2).
func (k *Kernel) BulkWait(n int) { k.bulkWait("BulkWait", "", n) }

// BulkWaitRead waits until all but the n latest groups have read their sources, which may
// then be overwritten; the groups' writes may be incomplete
// (cp.async.bulk.wait_group.read).
func (k *Kernel) BulkWaitRead(n int) { k.bulkWait("BulkWaitRead", ".read", n) }

func (k *Kernel) bulkWait(what, mod string, n int) {
	if n < 0 {
		k.fail("%s(%d): it is the number of groups that may be left, 0 or more", what, n)
		return
	}
	k.Inst("cp.async.bulk.wait_group"+mod, n)
}

// bulk checks sizes and addresses of a bulk copy.
func (k *Kernel) bulk(what string, dst, src Ptr, bytes Num) bool {
	return k.size16(what, bytes) && k.aligned(what, "the destination", dst, 16) && k.aligned(what, "the source", src, 16) &&
		k.room(what, "the destination", dst, bytes) && k.room(what, "the source", src, bytes)
}

func (k *Kernel) size16(what string, bytes Num) bool {
	n, ok := toInt(bytes)
	switch {
	case !ok:
	case n <= 0:
		k.fail("%s of %d bytes: it copies 16 at least", what, n)
		return false
	case n%16 != 0:
		k.fail("%s of %d bytes: the size is no multiple of 16; the next is %d", what, n, (n+15)&^15)
		return false
	}
	return true
}

// aligned reports an address that is known not to be a multiple of n, or whose variable
// does not guarantee it.
func (k *Kernel) aligned(what, which string, p Ptr, n int) bool {
	p.kernel()
	switch {
	case p.sym != nil && p.sym.align < n:
		hint := ""
		if p.space == SharedCTA {
			hint = fmt.Sprintf(": allocate it with SharedAlign(%q, %d, …)", p.sym.name, n)
		}
		k.fail("%s: %s, %s, is aligned to %d bytes; want a multiple of %d%s", what, which, p.sym.name, p.sym.align, n, hint)
		return false
	case p.sym != nil && p.off%int64(n) != 0:
		k.fail("%s: %s is byte %d of %s; want a multiple of %d bytes", what, which, p.off, p.sym.name, n)
		return false
	}
	return true
}

// room reports an access beyond the end of a variable.
func (k *Kernel) room(what, which string, p Ptr, bytes Num) bool {
	n, ok := toInt(bytes)
	if !ok || p.sym == nil || p.sym.size == 0 || p.off+n <= p.sym.size {
		return true
	}
	k.fail("%s of %d bytes: %s, %s, has %d from byte %d on", what, n, which, p.sym.name, p.sym.size-p.off, p.off)
	return false
}

// space reports an address in none of the spaces.
func (k *Kernel) space(what, which string, p Ptr, spaces ...Space) bool {
	p.kernel()
	for _, s := range spaces {
		if p.space == s {
			return true
		}
	}
	hint := ""
	if p.space == Generic {
		hint = fmt.Sprintf(": take it there with To(kernel.%s)", map[Space]string{Global: "Global", SharedCTA: "SharedCTA"}[spaces[0]])
	}
	k.fail("%s: %s is an address in %s; want one in %s%s", what, which, p.space, spaces[len(spaces)-1], hint)
	return false
}

// counts checks the barrier at which a copy into shared memory completes, which may be in
// the other CTA of a pair.
func (k *Kernel) counts(what string, dst Ptr, bar Mbarrier, pair bool) bool {
	switch {
	case bar.kernel() != k:
		k.fail("%s: the barrier is one of another kernel", what)
	case bar.Len() > 1:
		k.fail("%s: %s is an array of %d barriers; take one of them with At", what, bar, bar.Len())
	case !pair && dst.space == SharedCTA && bar.Ptr().space == SharedCluster:
		k.fail("%s: the barrier is in another CTA, and the destination in this one; bytes are counted in the CTA where they land", what)
	case !pair && dst.space == SharedCluster && bar.Ptr().space == SharedCTA:
		k.fail("%s: the destination is in another CTA, and the barrier in this one; bytes are counted in the CTA where they land: use Remote of the barrier", what)
	default:
		return true
	}
	return false
}
