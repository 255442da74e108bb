package kernels

import "muster/kernel"

// Roles gives warps different work: warp 0 copies tiles in, warps 1 to 4 use
// them. Two barriers and one buffer: full says that the tile has landed, empty
// that all have read it. The first wait of the producer is for a phase before
// the first, parity 1, which is complete from the beginning.
//
// The copy overwrites through the asynchronous proxy what threads read through
// the generic one: the readers execute a proxy fence between. (Public kernels
// leave it out; the ISA's letter asks for it, and without it Muster warns of
// proxy-war.)
func Roles(mistake string) (*Work, error) {
	const tiles, n, bytes = 5, 128, 128 * 4
	k := kernel.New("roles", kernel.Block(32+n))
	in, out := k.GlobalPtr("in", kernel.F32, 16), k.GlobalPtr("out", kernel.F32)
	buf := k.Shared("buf", kernel.F32, n)
	full, empty := k.Mbarrier("full", 1), k.Mbarrier("empty", n)
	k.InitMbarriers(full, empty)

	k.SingleWarp(0, func() {
		k.SingleThread(func() {
			for t := range tiles {
				switch mistake {
				case "nobody says that the tile is read":
				case "the producer waits for the wrong parity":
					empty.WaitParity(t & 1)
				default:
					empty.WaitParity(t&1 ^ kernel.ProducerParity)
				}
				full.ArriveExpect(bytes)
				k.BulkLoad(buf, in.At(t*n), bytes, full)
			}
		})
	})
	k.Warps(1, 4, func() {
		i := k.TidX().Sub(32)
		sum := k.Const(kernel.F32, 0)
		for t := range tiles {
			full.WaitParity(t&1 ^ kernel.ConsumerParity)
			sum.Set(sum.Add(buf.At(i).Load()))
			k.FenceProxyAsync(kernel.SharedCTA)
			empty.Arrive()
		}
		out.At(i).Store(sum)
	})

	y := make([]float32, n)
	call, err := k.Call(kernel.Grid(1), iota32(tiles*n), y)
	return work(equal(y, func(i int) float32 { return float32(tiles*i + n*tiles*(tiles-1)/2) }), call, err)
}

// Ring is Roles with several buffers, so that copies run ahead of their use.
// In turn t the stage is t % stages, and the phase of its barriers is
// t / stages: its lowest bit is the parity to wait for. Each consumer warp
// arrives once, by the lane that leads it, when all its lanes have read.
func Ring(mistake string) (*Work, error) {
	const stages, n, bytes, warps = 4, 128, 128 * 4, 4
	k := kernel.New("ring", kernel.Block(32+n))
	in, out := k.GlobalPtr("in", kernel.F32, 16), k.GlobalPtr("out", kernel.F32)
	tiles := k.Param("tiles", kernel.U32)
	buf := k.Shared("buf", kernel.F32, stages, n)
	full, empty := k.Mbarriers("full", stages, 1), k.Mbarriers("empty", stages, warps)
	k.InitMbarriers()

	parity := func(t kernel.Reg) kernel.Reg {
		if mistake == "the parity flips every turn" {
			return t.And(1)
		}
		return t.Div(stages).And(1)
	}
	k.SingleWarp(0, func() {
		k.SingleThread(func() {
			k.For(0, tiles, 1, func(t kernel.Reg) {
				stage := t.Rem(stages)
				if mistake == "the producer waits like a consumer" {
					empty.At(stage).WaitParity(parity(t))
				} else {
					empty.At(stage).WaitParity(parity(t).Xor(kernel.ProducerParity))
				}
				full.At(stage).ArriveExpect(bytes)
				k.BulkLoad(buf.At(stage), in.At(t.Mul(n)), bytes, full.At(stage))
			})
		})
	})
	k.Warps(1, warps, func() {
		i := k.TidX().Sub(32)
		sum := k.Const(kernel.F32, 0)
		k.For(0, tiles, 1, func(t kernel.Reg) {
			stage := t.Rem(stages)
			full.At(stage).WaitParity(parity(t))
			sum.Set(sum.Add(buf.At(stage, i).Load()))
			k.FenceProxyAsync(kernel.SharedCTA)
			k.EachWarp(func() {
				if mistake != "one lane releases before the warp has read" {
					k.Sync()
				}
				k.SingleThread(func() { empty.At(stage).Arrive() })
			})
		})
		out.At(i).Store(sum)
	})

	const turns = 11
	y := make([]float32, n)
	call, err := k.Call(kernel.Grid(1), iota32(turns*n), y, turns)
	return work(equal(y, func(i int) float32 { return float32(turns*i + n*turns*(turns-1)/2) }), call, err)
}
