package kernel

// This file is fences (ISA 9.7.13.4): each orders its thread's earlier accesses before
// its later ones, for threads of a scope or between proxies.

// FenceAcqRel orders memory accesses for threads of the scope, CTA, Cluster, GPU or Sys:
// followed by a strong write it releases, and preceded by a strong read it acquires. It
// emits fence.acq_rel.
func (k *Kernel) FenceAcqRel(scope Mod) { k.fence("FenceAcqRel", "fence.acq_rel", scope) }

// FenceSC is FenceAcqRel that also takes part in a single order of all FenceSC of the
// scope. It emits fence.sc and is slower.
func (k *Kernel) FenceSC(scope Mod) { k.fence("FenceSC", "fence.sc", scope) }

// FenceAcquire is the acquiring half of FenceAcqRel: fence.acquire, PTX 8.6.
func (k *Kernel) FenceAcquire(scope Mod) {
	if k.since(8, 6, "fence.acquire") {
		k.fence("FenceAcquire", "fence.acquire", scope)
	}
}

// FenceRelease is the releasing half of FenceAcqRel: fence.release, PTX 8.6.
func (k *Kernel) FenceRelease(scope Mod) {
	if k.since(8, 6, "fence.release") {
		k.fence("FenceRelease", "fence.release", scope)
	}
}

// FenceAcquireSync is an acquire fence at cluster scope, restricted to the shared memory
// of the cluster's CTAs: fence.acquire.sync_restrict::shared::cluster.cluster, PTX 8.6.
func (k *Kernel) FenceAcquireSync() {
	k.Inst("fence.acquire.sync_restrict::shared::cluster.cluster")
}

// FenceReleaseSync is a release fence at cluster scope, restricted to this CTA's shared
// memory: fence.release.sync_restrict::shared::cta.cluster, PTX 8.6.
func (k *Kernel) FenceReleaseSync() { k.Inst("fence.release.sync_restrict::shared::cta.cluster") }

// FenceMbarrierInit makes the thread's initializations of mbarriers visible to the
// cluster, before a cluster barrier lets others use them:
// fence.mbarrier_init.release.cluster. InitMbarriers emits it where needed.
func (k *Kernel) FenceMbarrierInit() { k.Inst("fence.mbarrier_init.release.cluster") }

// FenceProxyAsync orders accesses of the generic proxy (loads and stores of threads) with
// those of the asynchronous proxy (bulk and tensor copies, wgmma) in both directions:
// after threads wrote the source of a copy, and after they read its destination. Each
// thread that wrote needs it before the barrier with the issuer, or the issuer after it.
// Spaces restrict it to Global, SharedCTA or SharedCluster, which includes SharedCTA;
// without any it covers all memory. It emits fence.proxy.async, one for each space.
func (k *Kernel) FenceProxyAsync(spaces ...Space) {
	if len(spaces) == 0 {
		k.Inst("fence.proxy.async")
	}
	for _, s := range spaces {
		switch s {
		case Global, SharedCTA, SharedCluster:
			k.Inst("fence.proxy.async." + string(s))
		default:
			k.fail("FenceProxyAsync: the asynchronous proxy does not access %s; it takes Global, SharedCTA and SharedCluster", s)
		}
	}
}

// FenceProxyAsyncAcquire is the acquire half of FenceProxyAsync, from the generic to the
// asynchronous proxy, for the shared memory of the cluster's CTAs:
// fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster, PTX 8.6.
func (k *Kernel) FenceProxyAsyncAcquire() {
	k.Inst("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster")
}

// FenceProxyAsyncRelease is the release half, for this CTA's shared memory:
// fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster, PTX 8.6.
func (k *Kernel) FenceProxyAsyncRelease() {
	k.Inst("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster")
}

// FenceProxyAlias orders accesses to one location through several virtual addresses:
// fence.proxy.alias.
func (k *Kernel) FenceProxyAlias() { k.Inst("fence.proxy.alias") }

// FenceTensormapRelease releases the thread's changes of tensor maps in global memory to
// threads of the scope: fence.proxy.tensormap::generic.release, PTX 8.3.
func (k *Kernel) FenceTensormapRelease(scope Mod) {
	k.fence("FenceTensormapRelease", "fence.proxy.tensormap::generic.release", scope)
}

// FenceTensormapAcquire makes a released version of the tensor map, 128 bytes at an
// address in global memory, visible to the thread's tensor copies, by synchronization
// with threads of the scope: fence.proxy.tensormap::generic.acquire, PTX 8.3.
func (k *Kernel) FenceTensormapAcquire(tensormap Ptr, scope Mod) {
	const what = "FenceTensormapAcquire"
	if k.space(what, "the map", tensormap, Generic, Global) {
		k.fence(what, "fence.proxy.tensormap::generic.acquire", scope, tensormap.Generic(), tensorMapBytes)
	}
}

func (k *Kernel) fence(what, op string, scope Mod, operands ...any) {
	if !scoped(scope) {
		k.fail("%s(%q): a scope is CTA, Cluster, GPU or Sys", what, string(scope))
		return
	}
	k.Inst(op+"."+string(scope), operands...)
}

func scoped(m Mod) bool { return m == CTA || m == Cluster || m == GPU || m == Sys }

// since raises the kernel's version of PTX to at least this one, and reports a kernel
// whose stated version is older. The instruction table covers most instructions, but not
// all modifiers that are newer than their instruction.
func (k *Kernel) since(major, minor int, what string) bool {
	v, has := k.version, func(a, b int) bool { return a > major || a == major && b >= minor }
	if v.Major != 0 && !has(v.Major, v.Minor) {
		k.fail("%s needs PTX %d.%d, and the kernel is for %d.%d", what, major, minor, v.Major, v.Minor)
		return false
	}
	if !has(k.least.Major, k.least.Minor) {
		k.least.Major, k.least.Minor = major, minor
	}
	return true
}
