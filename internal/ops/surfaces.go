package ops

import (
	"strings"

	"muster/kernel"
	"muster/kernel/inst"
)

// The cases of this file are what other libraries have as one call and we as
// one or a few: docs/tables/kernel.md says which.

func init() {
	add("surfaces/arrive-and-wait", []string{"Mbarrier.ArriveAndWait"},
		cta("arrive_and_wait", func(k *kernel.Kernel, out kernel.Ptr) {
			words := k.Shared("words", kernel.U32, 64)
			bar := k.Mbarrier("bar", 64)
			k.InitMbarriers()
			t := k.TidX()
			sum := k.Const(kernel.U32, 0)
			for i := range 3 {
				words.At(t).Store(t.Add(i))
				bar.ArriveAndWait()
				sum.Set(sum.Mul(100).Add(words.At(t.Xor(40)).Load()))
				bar.ArriveAndWait(kernel.CTA)
			}
			out.Store(sum)
		}))
	add("surfaces/try-wait-for", []string{"Mbarrier.TryWaitFor", "Mbarrier.TryWaitParityFor"},
		cta("try_wait_for", func(k *kernel.Kernel, out kernel.Ptr) {
			// A test of a phase that never completes takes its time limit and returns
			// false; of a complete one it returns true at once. After a timeout a
			// thread waits without a limit.
			never, bar := k.Mbarrier("never", 65), k.Mbarrier("bar", 64)
			words := k.Shared("words", kernel.U32, 64)
			k.InitMbarriers()
			t := k.TidX()
			words.At(t).Store(t.Mul(5))
			seen := k.Const(kernel.U32, 0)
			look := func(p kernel.Pred) { seen.Set(seen.Mul(2).Add(p.Select(k.Const(kernel.U32, 1), 0))) }
			look(never.TryWaitFor(never.Arrive(), 100))
			look(never.TryWaitParityFor(0, 0))
			look(never.TryWaitParityFor(1, k.Const(kernel.U32, 1000)))
			tok := bar.Arrive()
			k.If(bar.TryWaitFor(tok, 1_000_000).Not(), func() { bar.Wait(tok) })
			look(bar.TryWaitParityFor(0, 1_000_000))
			out.Store(seen.Mul(1000).Add(words.At(t.Xor(33)).Load()))
		}))
	add("surfaces/remote-all", []string{"Mbarrier.Remote", "Mbarrier.Len", "Mbarrier.ArriveCount"},
		clusters("remote_all", func(k *kernel.Kernel, out kernel.Ptr) {
			// One arrival at each barrier of an array in the other CTA: a loop of Go.
			bars := k.Mbarriers("bars", 3, 2)
			k.InitMbarriers()
			k.SingleThread(func() {
				other := k.ClusterRank().Xor(1)
				for i := range bars.Len() {
					bars.At(i).Remote(other).ArriveCount(2)
				}
			})
			for i := range bars.Len() {
				bars.At(i).WaitParity(0)
			}
			out.Store(k.ClusterRank().Add(10))
			k.ClusterSync()
		}))
	add("surfaces/pipeline-quit", []string{"Pipeline.Stages", "Mbarrier.Inval", "Mbarrier.Ptr"},
		cta("pipeline_quit", func(k *kernel.Kernel, out kernel.Ptr) {
			// When all threads are done with a pipeline its barriers end, and their
			// words are memory as before.
			slot := k.Shared("slot", kernel.U32, 2, 32)
			p := k.Pipeline("p", 2, 32, 32)
			k.InitMbarriers()
			k.SingleWarp(0, func() {
				prod := p.Producer()
				k.For(0, 4, 1, func(i kernel.Reg) {
					prod.Acquire()
					slot.At(prod.Stage, k.ThreadIndex()).Store(i.Mul(32).Add(k.ThreadIndex()))
					prod.Commit()
					prod.Advance()
				})
				prod.Tail()
			})
			sum := k.Const(kernel.U32, 0)
			k.SingleWarp(1, func() {
				cons := p.Consumer()
				k.For(0, 4, 1, func(kernel.Reg) {
					cons.Wait()
					sum.Set(sum.Mul(3).Add(slot.At(cons.Stage, k.ThreadIndex()).Load()))
					cons.Release()
					cons.Advance()
				})
			})
			k.Sync()
			k.SingleThread(func() {
				for i := range p.Stages() {
					p.Full.At(i).Inval()
					p.Empty.At(i).Inval()
				}
				p.Full.At(0).Ptr().Store(k.Const(kernel.U64, 77))
			})
			k.Sync()
			out.Store(sum.Add(p.Full.At(0).Ptr().Load().Cvt(kernel.U32)))
		}))
	add("surfaces/bits", []string{"inst.Bfind", "inst.Bmsk", "inst.Prmt"},
		cta("bits", func(k *kernel.Kernel, out kernel.Ptr) {
			t := k.TidX()
			x := t.Mul(0x01030507).Xor(0x00f0_1234)
			sum := k.Const(kernel.U32, 0)
			see := func(d kernel.Reg) { sum.Set(sum.Mul(31).Add(d.As(kernel.U32))) }
			for _, mods := range [][]kernel.Mod{nil, {"shiftamt"}} {
				d := k.Var(kernel.U32)
				inst.Bfind(k, "u32", d, x, mods...)
				see(d)
			}
			for _, mode := range []kernel.Mod{"clamp", "wrap"} {
				d := k.Var(kernel.B32)
				inst.Bmsk(k, mode, d, t.And(31), t.Shr(2))
				see(d)
			}
			for _, mods := range [][]kernel.Mod{nil, {"f4e"}, {"b4e"}, {"rc8"}, {"ecl"}, {"ecr"}, {"rc16"}} {
				d := k.Var(kernel.B32)
				inst.Prmt(k, d, x, t.Not(), t, mods...)
				see(d)
			}
			out.Store(sum.Shl(t.And(7)).Add(sum.Shr(t.And(3))))
		}))
	add("surfaces/special-registers", []string{"Kernel.Special"},
		clusters("special_registers", func(k *kernel.Kernel, out kernel.Ptr) {
			// What every run has the same.
			sum := k.Const(kernel.U32, 1)
			see := func(r kernel.Reg) { sum.Set(sum.Mul(31).Add(r)) }
			for _, name := range []string{
				"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%laneid",
				"%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z",
				"%clusterid.x", "%clusterid.y", "%clusterid.z", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z",
				"%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z",
				"%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%cluster_ctarank", "%cluster_nctarank",
				"%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
			} {
				see(k.Special(name, kernel.U32))
			}
			explicit := k.PredVar()
			k.PTX("mov.pred {p}, %is_explicit_cluster;", kernel.Args{"p": explicit})
			see(explicit.Select(k.Const(kernel.U32, 1), 0))
			out.Store(sum)
		}))
	add("surfaces/special-registers-of-a-run", []string{"Kernel.Special"},
		cta("special_registers_of_a_run", func(k *kernel.Kernel, out kernel.Ptr) {
			// What differs from run to run is read and decides nothing.
			for _, name := range strings.Fields("%smid %nsmid %warpid %clock %clock_hi %globaltimer_lo %globaltimer_hi") {
				k.Special(name, kernel.U32)
			}
			k.Special("%clock64", kernel.U64)
			k.Special("%globaltimer", kernel.U64)
			// The rest is the same in every run of one driver.
			always := func(p kernel.Pred) { out.Store(p.Select(k.Const(kernel.U32, 1), 0)) }
			always(k.Special("%nwarpid", kernel.U32).Gt(0))
			always(k.Special("%dynamic_smem_size", kernel.U32).Eq(0))
			always(k.Special("%total_smem_size", kernel.U32).Le(k.Special("%aggr_smem_size", kernel.U32)))
			k.Special("%gridid", kernel.U64)
			k.Special("%current_graph_exec", kernel.U64)
		}))
	add("surfaces/cp-async-pipeline", []string{"Producer.CommitCopies", "Kernel.CpAsync"}, func() (*kernel.Call, error) {
		// A warp fills stages by cp.async and never waits for its copies.
		const stages, rounds = 2, 5
		k := kernel.New("cp_async_pipeline", kernel.Block(64))
		in := k.GlobalPtr("in", kernel.U32, 16)
		out := k.GlobalPtr("out", kernel.U32)
		slots := k.SharedAlign("slots", 16, kernel.U32, stages, 128)
		p := k.Pipeline("p", stages, 32, 32)
		k.InitMbarriers()
		k.SingleWarp(0, func() {
			prod := p.Producer()
			at := k.ThreadIndex().Mul(4)
			k.For(0, rounds, 1, func(i kernel.Reg) {
				prod.Acquire()
				k.CpAsync(slots.At(prod.Stage, at), in.At(i.Mad(128, at)), 16)
				prod.CommitCopies()
				prod.Advance()
			})
			prod.Tail()
		})
		k.SingleWarp(1, func() {
			cons := p.Consumer()
			t := k.ThreadIndex()
			sum := k.Const(kernel.U32, 0)
			k.For(0, rounds, 1, func(kernel.Reg) {
				cons.Wait()
				slot := slots.At(cons.Stage)
				sum.Set(sum.Mul(3).Add(slot.At(t).Load()).Add(slot.At(t.Add(96)).Load()))
				cons.Release()
				cons.Advance()
			})
			out.At(t).Store(sum)
		})
		data := make([]uint32, rounds*128)
		for i := range data {
			data[i] = uint32(i*i + 7)
		}
		return k.Call(kernel.Grid(1), data, make([]uint32, 32))
	})
	add("surfaces/pipeline-wait-for", []string{"Consumer.WaitFor"},
		cta("pipeline_wait_for", func(k *kernel.Kernel, out kernel.Ptr) {
			// A stage is waited for a time, and then for good.
			slot := k.Shared("slot", kernel.U32)
			p := k.Pipeline("p", 1, 1, 1)
			k.InitMbarriers()
			k.Threads(32, 1, func() {
				slot.Store(k.Const(kernel.U32, 41))
				p.Producer().Commit()
			})
			seen := k.Const(kernel.U32, 0)
			k.SingleThread(func() {
				cons := p.Consumer()
				k.If(cons.WaitFor(100_000).Not(), func() { cons.Wait() })
				seen.Set(slot.Load())
			})
			out.Store(seen)
		}))
	add("surfaces/places", []string{"Kernel.CtaidX", "Kernel.CtaidY", "Kernel.CtaidZ", "Kernel.NctaidX", "Kernel.Exit", "Kernel.Trap", "Ptr.To", "Ptr.Generic"},
		func() (*kernel.Call, error) {
			// A grid of three dimensions. Half of the threads leave early, by way of
			// an address that becomes generic and is shared again.
			k := kernel.New("places", kernel.Block(32))
			out := k.GlobalPtr("out", kernel.U32)
			word := k.Shared("word", kernel.U32, 32).At(k.TidX())
			place := k.CtaidZ().Mad(k.Special("%nctaid.y", kernel.U32), k.CtaidY()).Mad(k.NctaidX(), k.CtaidX())
			k.If(place.Ge(12), func() { k.Trap() })
			word.Generic().Store(place.Mul(100))
			at := out.At(place.Mad(32, k.TidX()))
			at.Store(word.Generic().To(kernel.SharedCTA).Load())
			k.If(k.TidX().Lt(16), func() { k.Exit() })
			at.Store(word.Load().Add(1))
			return k.Call(kernel.Grid(2, 3, 2), make([]uint32, 12*32))
		})
	add("surfaces/semaphore", []string{"Ptr.Load", "Ptr.Store", "Acquire", "Release", "GPU"}, func() (*kernel.Call, error) {
		// The CTAs of a cluster take turns by a word in global memory.
		const ctas = 4
		k := kernel.New("semaphore", kernel.Block(32), kernel.Clusters(ctas))
		turn := k.GlobalPtr("turn", kernel.U32)
		sum := k.GlobalPtr("sum", kernel.U32)
		k.SingleThread(func() {
			mine := k.ClusterRank()
			k.Loop(func() { k.BreakIf(turn.Load(kernel.Acquire, kernel.GPU).Eq(mine)) })
			sum.Store(sum.Load().Mul(10).Add(mine).Add(1))
			turn.Store(mine.Add(1), kernel.Release, kernel.GPU)
		})
		return k.Call(kernel.Grid(ctas), make([]uint32, 1), make([]uint32, 1))
	})
	add("surfaces/cache-hints", []string{"inst.Ld", "inst.LdEvict", "inst.LdNc", "inst.LdNcEvict", "inst.St", "inst.StEvict"}, func() (*kernel.Call, error) {
		// Hints for the caches change no value, with a policy and without.
		k := kernel.New("cache_hints", kernel.Block(32))
		in := k.GlobalPtr("in", kernel.U32, 16)
		out := k.GlobalPtr("out", kernel.U32, 16)
		first := k.CachePolicy(kernel.EvictFirst)
		t := k.TidX()
		v := k.Vars(kernel.U32, 6)
		inst.Ld(k, v[0:1], in.At(t), first, "L2::cache_hint")
		inst.LdEvict(k, v[1:2], in.At(t.Add(32)), nil, "L1::evict_last")
		inst.LdNc(k, v[2:4], in.At(t.Mul(2)), nil, "L2::128B")
		inst.LdNcEvict(k, v[4:6], in.At(t.Mul(2).Add(64)), first, "L1::no_allocate", "L2::cache_hint")
		sum := k.Const(kernel.U32, 0)
		for _, r := range v {
			sum.Set(sum.Mul(7).Add(r))
		}
		inst.St(k, out.At(t), kernel.Vec{sum}, first, "L2::cache_hint")
		inst.StEvict(k, out.At(t.Add(32)), kernel.Vec{sum.Not()}, nil, "L1::evict_first")
		data := make([]uint32, 128)
		for i := range data {
			data[i] = uint32(i * i)
		}
		return k.Call(kernel.Grid(1), data, make([]uint32, 64))
	})
	add("surfaces/try-wait-hint", []string{"inst.MbarrierTryWait", "inst.MbarrierTryWaitParity"},
		cta("try_wait_hint", func(k *kernel.Kernel, out kernel.Ptr) {
			// The instructions themselves, with how long they may suspend.
			words := k.Shared("words", kernel.U32, 64)
			bar := k.Mbarrier("bar", 64)
			k.InitMbarriers()
			t := k.TidX()
			words.At(t).Store(t.Mul(9))
			tok := bar.Arrive()
			k.Loop(func() {
				p := k.PredVar()
				inst.MbarrierTryWait(k, p, bar.Ptr(), tok.Reg, 500)
				k.BreakIf(p)
			})
			p := k.PredVar()
			inst.MbarrierTryWaitParity(k, p, bar.Ptr(), 0, 500)
			out.Store(p.Select(words.At(t.Xor(61)).Load(), 0))
		}))
}
