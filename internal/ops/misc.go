package ops

import "muster/kernel"

func init() {
	add("misc/setmaxnreg", []string{"Kernel.SetMaxNRegDec", "Kernel.SetMaxNRegInc", "Kernel.Warpgroup", "MaxRegisters"}, setmaxnreg)
	add("misc/time", []string{"Kernel.Nanosleep", "Kernel.Clock", "Kernel.Clock64", "Kernel.GlobalTimer"},
		cta("time", func(k *kernel.Kernel, out kernel.Ptr) {
			// What the clocks say decides nothing, so that the launch is
			// proven.
			t := k.TidX()
			k.Clock()
			k.Nanosleep(100)
			k.Nanosleep(t)
			k.Clock64()
			k.GlobalTimer()
			out.Store(t.Mul(9))
		}))
	// griddepcontrol is not here: a launch that stands alone shows nothing of it.
	add("misc/prefetch", []string{"Ptr.PrefetchL1", "Ptr.PrefetchL2"},
		call("prefetch", 1, 1, func(k *kernel.Kernel) {
			data := k.GlobalPtr("data", kernel.U32)
			at := data.At(k.TidX())
			at.PrefetchL1()
			at.PrefetchL2()
			at.Generic().PrefetchL2()
			at.Store(at.Load().Add(1))
		}, words(64)))
}

// setmaxnreg has one warpgroup give registers that the other one takes.
func setmaxnreg() (*kernel.Call, error) {
	k := kernel.New("setmaxnreg", kernel.Block(256), kernel.MaxRegisters(128), kernel.MinCTAs(1))
	out := k.GlobalPtr("out", kernel.U32)
	t := k.TidX()
	k.Warpgroup(0, func() {
		k.SetMaxNRegDec(40)
		out.At(t).Store(t.Mul(3))
	})
	k.Warpgroup(1, func() {
		k.SetMaxNRegInc(216)
		out.At(t).Store(t.Mul(5))
	})
	return k.Call(kernel.Grid(1), make([]uint32, 256))
}
