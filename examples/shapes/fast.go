package shapes

import "muster/kernel"

// Fast is the persistent product of fast.cu: C = A·Bᵀ, a cluster of two CTAs that lie
// below each other and need the same tile of B. Which tiles a cluster takes, in which
// order, stands in a list that the host has written.
//
// The consumers release every stage once before they begin, so that producer and
// consumers wait for the same parities. A stage is given back by the threads of each
// consumer whose numbers are those of the CTAs, one for each.
//
// In fast.cu the first CTA loads B for both, and nothing that the others do waits for the
// empty barriers of the second: releases of one turn may come there before those of the
// turn before, unless the two threads that release to the two CTAs, by one instruction, do
// so together. With leads the first CTA loads; without, each loads half, so that a full
// stage says that it was empty in both.
func Fast(leads bool, mistake string) (*Work, error) {
	const (
		ctas, stages, consumers = 2, 4, 2
		rows, cols, deep        = 128, 64, 64 // of a CTA's tile, and of a stage
		m, n, depth             = 2 * ctas * rows, 2 * cols, 5 * deep
		clusters, most          = 2, 8
	)
	k := kernel.New("fast", kernel.Block(128*(1+consumers)), kernel.Clusters(ctas), kernel.MinCTAs(1))
	mapC, mapA, mapB := k.TensorMap("map_c"), k.TensorMap("map_a"), k.TensorMap("map_b")
	lists := k.GlobalPtr("lists", kernel.S32)
	a := k.Tiles("a", stages, kernel.BF16, rows, deep, 128)
	b := k.Tiles("b", stages, kernel.BF16, cols, deep, 128)
	c := k.Tiles("c", consumers, kernel.BF16, rows/consumers, cols, 128)
	releases := consumers * ctas
	if mistake == "the empty barriers count one CTA" {
		releases = consumers
	}
	part := cols / ctas // of B that a CTA loads
	if leads {
		part = cols
	}
	full, empty := k.Mbarriers("full", stages, 1), k.Mbarriers("empty", stages, releases)
	list := k.Shared("list", kernel.S32, most)

	k.Threads(0, most, func() {
		list.At(k.TidX()).Store(lists.At(k.ClusteridX().Mad(most, k.TidX())).Load())
	})
	k.SingleThread(func() {
		for s := range stages {
			full.At(s).Init(1)
			empty.At(s).Init(releases)
		}
	})
	k.ClusterSync()

	rank := k.ClusterRank()
	tiles := func(body func(row, col kernel.Reg)) {
		i := k.Const(kernel.U32, 0)
		k.Loop(func() {
			tile := list.At(i).Load()
			k.BreakIf(tile.Lt(0))
			body(tile.Shr(16).As(kernel.U32).Mad(ctas, rank).Mul(rows), tile.And(0xffff).As(kernel.U32).Mul(cols))
			i.Set(i.Add(1))
		})
	}
	k.Warpgroup(0, func() {
		k.SetMaxNRegDec(24)
		k.SingleThread(func() {
			at := k.Stages(stages, kernel.ConsumerParity)
			tiles(func(row, col kernel.Reg) {
				k.For(0, depth, deep, func(d kernel.Reg) {
					empty.At(at.Index).WaitParity(at.Parity)
					bar := full.At(at.Index)
					bar.ArriveExpect(a.Size() + b.Size())
					mapA.Load(a.At(at.Index).Ptr(), bar, kernel.Coords{d, row})
					if part == cols {
						k.If(rank.Eq(0), func() {
							mapB.Load(b.At(at.Index).Ptr(), bar, kernel.Coords{d, col}, kernel.Multicast(1<<ctas-1))
						})
					} else {
						mine := rank.Mul(part)
						mapB.Load(b.At(at.Index).Rows(mine, part).Ptr(), bar, kernel.Coords{d, col.Add(mine)}, kernel.Multicast(1<<ctas-1))
					}
					at.Advance()
				})
			})
		})
	})
	k.Threads(128, 128*consumers, func() {
		k.SetMaxNRegInc(240)
		i := k.TidX().And(127)
		wg := k.TidX().Shr(7).Sub(1)
		turn := k.NamedBarrier(128).ID()
		if second := k.NamedBarrier(128).ID(); second != turn+1 {
			k.Errorf("barriers %d and %d are not next to each other", turn, second)
		}
		meet := func() { k.Inst("bar.sync", wg.Add(turn), 128) }
		release := func(stage kernel.Num) {
			bar := empty.At(stage)
			if mistake == "one thread releases to both" {
				k.If(i.Eq(0), func() { bar.ArriveMulticast(1<<ctas - 1) })
				return
			}
			k.If(i.Lt(ctas), func() {
				switch to := bar.Remote(i); mistake {
				case "a release has no scope":
					k.Inst("mbarrier.arrive.shared::cluster.b64", kernel.Discard{}, to.Ptr())
				case "both releases go to the own CTA":
					bar.Remote(rank).Arrive()
				default:
					to.Arrive()
				}
			})
		}
		if mistake != "nobody releases the stages first" {
			for s := range stages {
				release(s)
			}
		}
		at := k.Stages(stages, kernel.ConsumerParity)
		acc := k.Accumulator(kernel.F32, rows/consumers, cols)
		multiply := func(opts ...kernel.MmaOption) {
			parity := at.Parity
			if mistake == "the parity flips a stage early" {
				parity = at.Index.Eq(stages-1).Select(parity.Xor(1), parity)
			}
			full.At(at.Index).WaitParity(parity)
			k.WgmmaFence()
			acc.Mma(a.At(at.Index).Rows(wg.Mul(rows/consumers), rows/consumers), b.At(at.Index).T(), opts...)
			k.WgmmaCommit()
			if mistake == "a stage is released before the wait" {
				release(at.Index)
				k.WgmmaWait(0)
			} else {
				k.WgmmaWait(0)
				release(at.Index)
			}
			at.Advance()
		}
		tiles(func(row, col kernel.Reg) {
			multiply(kernel.Overwrite)
			k.For(deep, depth, deep, func(kernel.Reg) { multiply() })
			// The thread that issued the last store waits for it, and tells the others.
			switch mistake {
			case "each thread waits for its own stores":
				k.BulkWaitRead(0)
			case "nobody waits for the last store":
			default:
				k.If(i.Eq(0), func() { k.BulkWaitRead(0) })
				meet()
			}
			acc.Store(c.At(wg))
			if mistake != "no proxy fence" {
				k.FenceProxyAsync(kernel.SharedCTA)
			}
			meet()
			k.If(i.Eq(0), func() {
				mapC.Store(kernel.Coords{col, row.Add(wg.Mul(rows / consumers))}, c.At(wg).Ptr())
				k.BulkCommit()
			})
		})
		if mistake != "a CTA exits while its tile is stored" {
			k.If(i.Eq(0), func() { k.BulkWaitRead(0) })
		}
	})
	if mistake != "a CTA exits before the other releases" {
		k.ClusterSync()
	}

	// A curve through the tiles, dealt out to the clusters in turn.
	orders := make([]int32, clusters*most)
	for i := range orders {
		orders[i] = -1
	}
	for i, t := range [][2]int32{{0, 0}, {0, 1}, {1, 1}, {1, 0}} {
		orders[i%clusters*most+i/clusters] = t[0]<<16 | t[1]
	}
	x, y, z := integers(m*depth, 7), integers(n*depth, 5), make([]uint16, m*n)
	call, err := k.Call(kernel.Grid(clusters*ctas),
		c.MapOf(z, []int{m, n}), a.MapOf(x, []int{m, depth}), b.Rows(0, part).MapOf(y, []int{n, depth}), orders)
	if err != nil {
		return nil, err
	}
	return &Work{call, func() error { return equal(z, product(x, y, make([]uint16, m*n), depth), n) }}, nil
}
