package kernels

import "muster/kernel"

// SameThread is the least that an mbarrier does: every thread writes, arrives,
// and waits with the token of its own arrival; then it may read what another
// thread wrote. The barrier counts 64 arrivals, and each thread makes one.
func SameThread(mistake string) (*Work, error) {
	const n = 64
	count := n
	if mistake == "one arrival too few" {
		count = n + 1
	}
	k := kernel.New("same_thread", kernel.Block(n))
	in, out := k.GlobalPtr("in", kernel.F32), k.GlobalPtr("out", kernel.F32)
	buf := k.Shared("buf", kernel.F32, n)
	bar := k.Mbarrier("bar", count)
	k.InitMbarriers(bar)

	i := k.TidX()
	buf.At(i).Store(in.At(i).Load())
	token := bar.Arrive()
	if mistake != "nobody waits" {
		bar.Wait(token)
	}
	out.At(i).Store(buf.At(i.Xor(n - 1)).Load())

	y := make([]float32, n)
	call, err := k.Call(kernel.Grid(1), iota32(n), y)
	return work(equal(y, func(i int) float32 { return float32(n - 1 - i) }), call, err)
}

// Split is the barrier in its five stages: work before the arrival, the
// arrival, independent work, the wait, and work that needs all threads'
// results. A thread does not stand still between arrival and wait. Two buffers
// take turns, so that one barrier a turn is enough: before a thread writes a
// buffer again it has waited, one turn later, for all its readers.
func Split(mistake string) (*Work, error) {
	const n, turns = 64, 4
	k := kernel.New("split", kernel.Block(n))
	in, out := k.GlobalPtr("in", kernel.F32), k.GlobalPtr("out", kernel.F32)
	buf := k.Shared("buf", kernel.F32, 2, n)
	bar := k.Mbarrier("bar", n)
	k.InitMbarriers(bar)

	i := k.TidX()
	sum := k.Const(kernel.F32, 0)
	k.For(0, turns, 1, func(turn kernel.Reg) {
		half := turn.And(1)
		if mistake == "one buffer" {
			half = k.Const(kernel.U32, 0)
		}
		buf.At(half, i).Store(in.At(turn.Mad(n, i)).Load()) // 1: before
		token := bar.Arrive()                               // 2: arrive
		sum.Set(sum.Mul(0.5))                               // 3: meanwhile
		bar.Wait(token)                                     // 4: wait
		sum.Set(sum.Add(buf.At(half, i.Xor(n-1)).Load()))   // 5: after
	})
	out.At(i).Store(sum)

	x, y := iota32(turns*n), make([]float32, n)
	call, err := k.Call(kernel.Grid(1), x, y)
	return work(equal(y, func(i int) float32 {
		sum := float32(0)
		for t := range turns {
			sum = sum*0.5 + x[t*n+n-1-i]
		}
		return sum
	}), call, err)
}

// TwoTilesByToken loads two tiles through one barrier, one phase each, and
// waits with tokens. Each thread arrives in each phase and waits for the phase
// of its own token; one of them also expects the bytes and starts the copy.
func TwoTilesByToken(mistake string) (*Work, error) {
	const n, bytes = 64, 64 * 4
	k := kernel.New("two_tiles_token", kernel.Block(n))
	in, out := k.GlobalPtr("in", kernel.F32, 16), k.GlobalPtr("out", kernel.F32)
	buf := k.Shared("buf", kernel.F32, 2, n)
	bar := k.Mbarrier("bar", n)
	k.InitMbarriers(bar)

	i := k.TidX()
	load := func(tile int) kernel.Token {
		expect := bytes
		if mistake == "the bytes of both tiles are expected at once" && tile == 0 {
			expect = 2 * bytes
		}
		k.SingleThread(func() {
			bar.ExpectTx(expect)
			k.BulkLoad(buf.At(tile), in.At(tile*n), bytes, bar)
		})
		return bar.Arrive()
	}
	first := load(0)
	bar.Wait(first)
	second := load(1)
	if mistake == "the first token is waited for twice" {
		second = first
	}
	bar.Wait(second)
	out.At(i).Store(buf.At(0, i).Load().Add(buf.At(1, i.Xor(n-1)).Load()))

	y := make([]float32, n)
	call, err := k.Call(kernel.Grid(1), iota32(2*n), y)
	return work(equal(y, func(i int) float32 { return float32(i + n + n - 1 - i) }), call, err)
}

// TwoTilesByParity is the same with one arrival a phase: that of the thread
// that starts the copy. Nobody else has a token, so all wait by parity: 0 for
// the first phase, 1 for the second. A parity tells neighbouring phases apart
// and no others: no thread may reach a wait so late that two phases have gone by,
// so a barrier keeps the second phase from completing before all have seen the
// first.
func TwoTilesByParity(mistake string) (*Work, error) {
	const n, bytes = 64, 64 * 4
	k := kernel.New("two_tiles_parity", kernel.Block(n))
	in, out := k.GlobalPtr("in", kernel.F32, 16), k.GlobalPtr("out", kernel.F32)
	buf := k.Shared("buf", kernel.F32, 2, n)
	bar := k.Mbarrier("bar", 1)
	k.InitMbarriers(bar)

	i := k.TidX()
	for tile := range 2 {
		if tile > 0 && mistake != "nothing holds the second tile back" {
			k.Sync()
		}
		k.SingleThread(func() {
			if mistake == "the arrival expects no bytes" {
				bar.Arrive()
			} else {
				bar.ArriveExpect(bytes)
			}
			k.BulkLoad(buf.At(tile), in.At(tile*n), bytes, bar)
		})
		parity := tile
		if mistake == "the parity does not flip" {
			parity = 0
		}
		bar.WaitParity(parity)
	}
	out.At(i).Store(buf.At(0, i).Load().Add(buf.At(1, i.Xor(n-1)).Load()))

	y := make([]float32, n)
	call, err := k.Call(kernel.Grid(1), iota32(2*n), y)
	return work(equal(y, func(i int) float32 { return float32(i + n + n - 1 - i) }), call, err)
}
