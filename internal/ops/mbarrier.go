package ops

import "muster/kernel"

// The cases of one CTA have 64 threads, a word of output for each, and leave
// what they saw there.
func cta(name string, body func(k *kernel.Kernel, out kernel.Ptr)) func() (*kernel.Call, error) {
	return grid(name, 64, 1, 1, body)
}

// clusters are two CTAs in a cluster.
func clusters(name string, body func(k *kernel.Kernel, out kernel.Ptr)) func() (*kernel.Call, error) {
	return grid(name, 64, 2, 2, body)
}

// grid makes a call of a kernel that gets its own thread's place in the output.
func grid(name string, threads, ctas, cluster int, body func(k *kernel.Kernel, out kernel.Ptr)) func() (*kernel.Call, error) {
	return func() (*kernel.Call, error) {
		opts := []kernel.Option{kernel.Block(threads)}
		if cluster > 1 {
			opts = append(opts, kernel.Clusters(cluster))
		}
		k := kernel.New(name, opts...)
		out := k.GlobalPtr("out", kernel.U32)
		body(k, out.At(k.CtaidX().Mad(threads, k.TidX())))
		return k.Call(kernel.Grid(ctas), make([]uint32, ctas*threads))
	}
}

func init() {
	add("mbarrier/arrive-wait", []string{"Kernel.Mbarrier", "Kernel.InitMbarriers", "Mbarrier.Arrive", "Mbarrier.Wait", "Kernel.TidX"},
		cta("arrive_wait", func(k *kernel.Kernel, out kernel.Ptr) {
			// Each thread reads what another one wrote.
			words := k.Shared("words", kernel.U32, 64)
			bar := k.Mbarrier("bar", 64)
			k.InitMbarriers(bar)
			t := k.TidX()
			words.At(t).Store(t.Mul(3))
			bar.Wait(bar.Arrive())
			out.Store(words.At(t.Xor(63)).Load())
		}))
	add("mbarrier/parity", []string{"Mbarrier.WaitParity", "Mbarrier.ArriveCount", "Kernel.Mbarriers", "Mbarrier.At"},
		cta("parity", func(k *kernel.Kernel, out kernel.Ptr) {
			// A thread hands a word to the others and back, through two barriers.
			word := k.Shared("word", kernel.U32)
			bars := k.Mbarriers("bars", 2, 64)
			k.InitMbarriers()
			sum := k.Const(kernel.U32, 0)
			parity := k.Const(kernel.U32, 0)
			k.For(0, 3, 1, func(i kernel.Reg) {
				k.SingleThread(func() {
					word.Store(i.Add(10))
					bars.At(0).ArriveCount(64)
				})
				bars.At(0).WaitParity(parity)
				sum.Set(sum.Mul(100).Add(word.Load()))
				bars.At(1).Arrive()
				bars.At(1).WaitParity(parity)
				parity.Set(parity.Xor(1))
			})
			out.Store(sum)
		}))
	add("mbarrier/tests", []string{"Mbarrier.TestWait", "Mbarrier.TryWait", "Mbarrier.TestWaitParity", "Mbarrier.TryWaitParity"},
		cta("tests", func(k *kernel.Kernel, out kernel.Ptr) {
			// Loops on each of the four tests, a phase each.
			words := k.Shared("words", kernel.U32, 4, 64)
			bar := k.Mbarrier("bar", 64)
			k.InitMbarriers()
			t := k.TidX()
			sum := k.Const(kernel.U32, 0)
			for phase, test := range []func(tok kernel.Token) kernel.Pred{
				func(tok kernel.Token) kernel.Pred { return bar.TestWait(tok) },
				func(tok kernel.Token) kernel.Pred { return bar.TryWait(tok) },
				func(kernel.Token) kernel.Pred { return bar.TestWaitParity(0) },
				func(kernel.Token) kernel.Pred { return bar.TryWaitParity(1) },
			} {
				words.At(phase, t).Store(t.Add(phase))
				tok := bar.Arrive()
				k.Loop(func() { k.BreakIf(test(tok)) })
				sum.Set(sum.Mul(10).Add(words.At(phase, t.Xor(32)).Load()))
			}
			out.Store(sum)
		}))
	add("mbarrier/fresh", []string{"Mbarrier.TestWaitParity", "Mbarrier.Init", "Mbarrier.Inval", "Kernel.SingleThread", "Kernel.SyncThreads"},
		cta("fresh", func(k *kernel.Kernel, out kernel.Ptr) {
			// What a test says is one thread's program order here: at a new
			// barrier, after a phase, and in a second life of the word.
			bar := k.Mbarrier("bar", 2)
			seen := k.Const(kernel.U32, 0)
			k.SingleThread(func() {
				look := func(p kernel.Pred) { seen.Set(seen.Mul(2).Add(p.Select(k.Const(kernel.U32, 1), 0))) }
				bar.Init(2)
				look(bar.TestWaitParity(0))
				look(bar.TestWaitParity(1))
				bar.ArriveCount(1)
				look(bar.TestWaitParity(0))
				bar.ArriveCount(1)
				look(bar.TestWaitParity(0))
				look(bar.TestWaitParity(1))
				bar.Inval()
				bar.Init(1)
				look(bar.TestWaitParity(0))
				bar.Arrive()
				look(bar.TestWaitParity(0))
			})
			out.Store(seen)
		}))
	add("mbarrier/no-complete", []string{"Mbarrier.ArriveNoComplete", "Token.Pending", "Mbarrier.ArriveDropNoComplete"},
		cta("no_complete", func(k *kernel.Kernel, out kernel.Ptr) {
			// One thread counts a phase of ten down, and sees what is pending.
			bar := k.Mbarrier("bar", 10)
			k.InitMbarriers()
			seen := k.Const(kernel.U32, 0)
			k.SingleThread(func() {
				look := func(tok kernel.Token) { seen.Set(seen.Mul(16).Add(tok.Pending())) }
				look(bar.ArriveNoComplete(2))
				look(bar.ArriveDropNoComplete(3))
				look(bar.ArriveNoComplete(4))
				bar.Arrive()
				bar.WaitParity(0)
				look(bar.ArriveNoComplete(1)) // 3 of 10 were dropped
				bar.ArriveCount(6)
				bar.WaitParity(1)
			})
			out.Store(seen)
		}))
	add("mbarrier/drop", []string{"Mbarrier.ArriveDrop", "Mbarrier.ArriveDropCount", "Kernel.Threads"},
		cta("drop", func(k *kernel.Kernel, out kernel.Ptr) {
			// The upper half leaves in the first phase, thread 1 with the count of
			// two others; the rest goes on alone.
			words := k.Shared("words", kernel.U32, 64)
			bar := k.Mbarrier("bar", 66)
			k.InitMbarriers()
			t := k.TidX()
			words.At(t).Store(t.Add(100))
			seen := k.Const(kernel.U32, 7)
			k.Threads(32, 32, func() { bar.ArriveDrop() })
			k.Threads(0, 32, func() {
				k.Threads(1, 1, func() { bar.ArriveDropCount(2) })
				bar.Wait(bar.Arrive())
				seen.Set(words.At(t.Add(32)).Load())
				words.At(t).Store(seen)
				bar.Wait(bar.Arrive())
				seen.Set(seen.Mul(1000).Add(words.At(t.Xor(31)).Load()))
			})
			out.Store(seen)
		}))
	add("mbarrier/bytes", []string{"Mbarrier.ArriveExpect", "Mbarrier.ExpectTx", "Mbarrier.CompleteTx", "Mbarrier.ArriveDropExpect"},
		cta("bytes", func(k *kernel.Kernel, out kernel.Ptr) {
			// Bytes that one warp announces and the other one completes.
			words := k.Shared("words", kernel.U32, 3)
			bar := k.Mbarrier("bar", 2)
			done := k.Mbarrier("done", 1)
			k.InitMbarriers()
			t := k.TidX()
			k.SingleWarp(0, func() {
				k.Elect(func() {
					words.At(0).Store(11)
					bar.ExpectTx(24)
					bar.ArriveExpect(40)
					bar.ArriveDropExpect(64)
				})
			})
			k.SingleWarp(1, func() {
				k.Elect(func() {
					done.ArriveExpect(16)
					bar.CompleteTx(100)
					bar.CompleteTx(28)
					done.CompleteTx(16)
				})
			})
			done.WaitParity(0)
			bar.WaitParity(0)
			first := words.At(0).Load()
			// One arrival is left of the two.
			k.Sync()
			k.SingleThread(func() {
				words.At(0).Store(22)
				bar.Arrive()
			})
			bar.WaitParity(1)
			out.Store(first.Mul(100).Add(words.At(0).Load()).Mul(100).Add(t))
		}))
	add("mbarrier/relaxed", []string{"Relaxed", "Acquire", "Release"},
		cta("relaxed", func(k *kernel.Kernel, out kernel.Ptr) {
			// Fences make a relaxed arrival release and a relaxed wait acquire.
			words := k.Shared("words", kernel.U32, 64)
			bar := k.Mbarrier("bar", 64)
			k.InitMbarriers()
			t := k.TidX()
			words.At(t).Store(t.Mul(5))
			k.FenceAcqRel(kernel.CTA)
			bar.Arrive(kernel.Relaxed)
			bar.WaitParity(0, kernel.Relaxed, kernel.CTA)
			k.FenceAcqRel(kernel.CTA)
			sum := words.At(t.Xor(63)).Load()
			words.At(t.Xor(63)).Store(sum.Add(1))
			bar.Wait(bar.Arrive(kernel.Release, kernel.Cluster), kernel.Acquire, kernel.Cluster)
			out.Store(sum.Mul(1000).Add(words.At(t).Load()))
		}))
	add("mbarrier/cp-async", []string{"Mbarrier.CpAsyncArrive", "Mbarrier.CpAsyncArriveNoinc"}, cpAsyncArrive)
	add("mbarrier/remote", []string{"Mbarrier.Remote", "Kernel.InitMbarriers", "Clusters"},
		clusters("remote", func(k *kernel.Kernel, out kernel.Ptr) {
			// Each CTA writes to the other one and arrives there, half of it with
			// bytes.
			words := k.Shared("words", kernel.U32, 64)
			bar := k.Mbarrier("bar", 96)
			k.InitMbarriers()
			t := k.TidX()
			peer := k.ClusterRank().Xor(1)
			words.Remote(peer).At(t).Store(t.Add(peer.Mul(1000)))
			far := bar.Remote(peer)
			far.Arrive()
			k.Threads(0, 16, func() {
				far.ArriveExpect(8)
				far.ExpectTx(4)
				far.CompleteTx(12)
				far.ArriveDrop()
			})
			bar.WaitParity(0)
			out.Store(words.At(t.Xor(63)).Load())
			k.ClusterSync()
		}))
	add("mbarrier/multicast", []string{"Mbarrier.ArriveMulticast", "Mbarrier.ArriveExpectMulticast"},
		clusters("multicast", func(k *kernel.Kernel, out kernel.Ptr) {
			// Each CTA arrives at both barriers: once by the mask of both, once
			// by a mask that the kernel computes, and once with bytes.
			words := k.Shared("words", kernel.U32, 2)
			bar := k.Mbarrier("bar", 5)
			k.InitMbarriers()
			rank := k.ClusterRank()
			k.SingleThread(func() {
				for r := range 2 {
					words.Remote(r).At(rank).Store(rank.Add(5 * (r + 1)))
				}
				bar.ArriveMulticast(3)
				bar.ArriveExpectMulticast(3, 20)
				bar.ArriveMulticast(k.Const(kernel.U32, 1).Shl(rank))
				for r := range 2 {
					bar.Remote(r).CompleteTx(20)
				}
			})
			bar.WaitParity(0)
			out.Store(words.At(0).Load().Mul(100).Add(words.At(1).Load()))
			k.ClusterSync()
		}))
}

// cpAsyncArrive copies words by cp.async, and has their completion arrive.
func cpAsyncArrive() (*kernel.Call, error) {
	k := kernel.New("cp_async_arrive", kernel.Block(64))
	in := k.GlobalPtr("in", kernel.U32)
	out := k.GlobalPtr("out", kernel.U32)
	words := k.Shared("words", kernel.U32, 2, 64)
	inc := k.Mbarrier("inc", 64)
	noinc := k.Mbarrier("noinc", 64)
	k.InitMbarriers()
	t := k.TidX()
	k.Inst("cp.async.ca.shared::cta.global", words.At(0, t), in.At(t), 4)
	inc.CpAsyncArrive()
	k.Inst("cp.async.ca.shared::cta.global", words.At(1, t), in.At(t.Add(64)), 4)
	noinc.CpAsyncArriveNoinc()
	inc.Wait(inc.Arrive())
	noinc.WaitParity(0)
	out.At(t).Store(words.At(0, t.Xor(63)).Load().Add(words.At(1, t.Xor(1)).Load().Mul(1000)))
	values := make([]uint32, 128)
	for i := range values {
		values[i] = uint32(i * i)
	}
	return k.Call(kernel.Grid(1), values, make([]uint32, 64))
}
