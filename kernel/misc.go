package kernel

// SetMaxNRegDec releases registers of the executing warp, down to n per thread, and
// SetMaxNRegInc waits until n are available in the CTA's pool: 24 to 256, a multiple of
// 8. All warps of a warpgroup execute it, and synchronize before the next one. It
// requires a bound on the launch's registers: MaxRegisters or MinCTAs (setmaxnreg, ISA
// 9.7.19.5).
func (k *Kernel) SetMaxNRegDec(n int) { k.setmaxnreg("SetMaxNRegDec", "dec", n) }
func (k *Kernel) SetMaxNRegInc(n int) { k.setmaxnreg("SetMaxNRegInc", "inc", n) }

func (k *Kernel) setmaxnreg(what, action string, n int) {
	if n < 24 || n > 256 || n%8 != 0 {
		k.fail("%s(%d): a thread has 24 to 256 registers, a multiple of 8", what, n)
		return
	}
	if g := k.Group(); g.AnyWarp || g.Threads != 0 && (g.First%128 != 0 || g.Threads%128 != 0) {
		k.fail("%s by %s: all warps of a warpgroup execute it; make the group one with Warpgroup", what, g)
		return
	}
	k.Inst("setmaxnreg."+action+".sync.aligned.u32", n)
}

// Nanosleep suspends the thread for about t nanoseconds, at most 1,000,000 (nanosleep,
// ISA 9.7.19.2).
func (k *Kernel) Nanosleep(t Num) {
	if n, ok := toInt(t); ok && (n < 0 || n > 1_000_000) {
		k.fail("Nanosleep(%d): it sleeps 0 to 1,000,000 nanoseconds", n)
		return
	}
	k.Inst("nanosleep.u32", t)
}

// Clock returns the lower half of the multiprocessor's cycle counter, Clock64 all of it
// (%clock, %clock64, ISA 10), and GlobalTimer nanoseconds (%globaltimer).
func (k *Kernel) Clock() Reg       { return k.Special("%clock", U32) }
func (k *Kernel) Clock64() Reg     { return k.Special("%clock64", U64) }
func (k *Kernel) GlobalTimer() Reg { return k.Special("%globaltimer", U64) }

// GridDependencyWait waits until the grids that this one depends on have completed and
// their writes are visible, if the launch lets it begin before that (griddepcontrol.wait,
// ISA 9.7.13.13). Otherwise it does nothing.
func (k *Kernel) GridDependencyWait() { k.Inst("griddepcontrol.wait") }

// LaunchDependents lets dependent grids begin, once all CTAs have executed it or exited
// (griddepcontrol.launch_dependents).
func (k *Kernel) LaunchDependents() { k.Inst("griddepcontrol.launch_dependents") }

// PrefetchL1 and PrefetchL2 hint that the line at an address, generic or in global
// memory, will be needed in that cache (prefetch, ISA 9.7.9.15).
func (p Ptr) PrefetchL1() { p.kernel().Inst("prefetch"+p.spaceMod()+".L1", p) }
func (p Ptr) PrefetchL2() { p.kernel().Inst("prefetch"+p.spaceMod()+".L2", p) }
