package order_test

import (
	"testing"

	"muster/internal/machine"
	"muster/internal/order"
)

const allLanes = ^uint32(0)

// A bench feeds synthetic events, built once.
type bench struct {
	tr   *order.Tracker
	ev   machine.Event
	addr [32]uint64
	mem  fakeMemory
}

func newBench(cfg order.Config) *bench {
	b := &bench{tr: order.New(cfg)}
	return b
}

func (b *bench) row(w int32, what machine.Access, mem machine.MemID, addr uint64) {
	for l := range b.addr {
		b.addr[l] = addr + uint64(l)*4
	}
	b.ev = machine.Event{Kind: machine.EvAccess, Warp: w, Mask: allLanes, PC: int32(what), Access: what, Mem: mem, Size: 4, Row: true, Addr: &b.addr}
	b.tr.Feed(b.mem, &b.ev)
}

func (b *bench) feed(ev machine.Event) {
	b.ev = ev
	b.tr.Feed(b.mem, &b.ev)
}

// BenchmarkExchange is two shared accesses and two bar.sync a warp: 8 of 8
// instructions' visible part. One operation is one warp's turn.
func BenchmarkExchange(b *testing.B) {
	const warps = 8
	x := newBench(order.Config{Shape: machine.Shape{CTAs: 1, Warps: warps}})
	shared := machine.SharedOf(0)
	gen := uint64(0)
	sync := func() {
		for w := int32(0); w < warps; w++ {
			x.feed(machine.Event{Kind: machine.EvBarArrive, Warp: w, Mask: allLanes, Gen: gen})
		}
		for w := int32(0); w < warps; w++ {
			x.feed(machine.Event{Kind: machine.EvBarPass, Warp: w, Mask: allLanes, Gen: gen})
		}
		gen++
	}
	b.ReportAllocs()
	for i := 0; i < b.N; i += warps {
		for w := int32(0); w < warps; w++ {
			x.row(w, machine.Write, shared, uint64(w)*128)
		}
		sync()
		for w := int32(0); w < warps; w++ {
			x.row(w, machine.Read, shared, uint64(w^1)*128)
		}
		sync()
	}
	check(b, x)
}

// BenchmarkVectorAdd is three global row accesses a warp's turn.
func BenchmarkVectorAdd(b *testing.B) {
	const warps = 8
	x := newBench(order.Config{Shape: machine.Shape{CTAs: 1, Warps: warps}})
	b.ReportAllocs()
	const size = 1 << 20
	for i := 0; i < b.N; i++ {
		at, w := uint64(i)*128%size, int32(i)%warps
		x.row(w, machine.Read, machine.Global, 1<<24+at)
		x.row(w, machine.Read, machine.Global, 2<<24+at)
		x.row(w, machine.Write, machine.Global, 3<<24+at)
	}
	check(b, x)
}

// BenchmarkHalves is a store and a load of 16-bit elements.
func BenchmarkHalves(b *testing.B) {
	x := newBench(order.Config{Shape: machine.Shape{CTAs: 1, Warps: 1}})
	b.ReportAllocs()
	for l := range x.addr {
		x.addr[l] = uint64(l) * 2
	}
	for i := 0; i < b.N; i++ {
		x.feed(machine.Event{Kind: machine.EvAccess, Mask: allLanes, Access: machine.Write, Size: 2, Row: true, Addr: &x.addr})
		x.feed(machine.Event{Kind: machine.EvAccess, Mask: allLanes, Access: machine.Read, Size: 2, Row: true, Addr: &x.addr})
	}
	check(b, x)
}

// BenchmarkAtomics is a warp's 32 relaxed atomics on words that all warps
// update.
func BenchmarkAtomics(b *testing.B) {
	const warps = 8
	x := newBench(order.Config{Shape: machine.Shape{CTAs: 1, Warps: warps}})
	b.ReportAllocs()
	for l := range x.addr {
		x.addr[l] = uint64(l*7%32) * 4
	}
	for i := 0; i < b.N; i++ {
		x.feed(machine.Event{Kind: machine.EvAccess, Warp: int32(i % warps), Mask: allLanes, Access: machine.Write | machine.Update,
			Sem: machine.Relaxed, Scope: machine.ScopeGPU, Size: 4, Addr: &x.addr})
	}
	check(b, x)
}

// BenchmarkStrided is a store whose lanes are 128 bytes apart.
func BenchmarkStrided(b *testing.B) {
	x := newBench(order.Config{Shape: machine.Shape{CTAs: 1, Warps: 1}})
	b.ReportAllocs()
	for l := range x.addr {
		x.addr[l] = uint64(l) * 128
	}
	for i := 0; i < b.N; i++ {
		x.feed(machine.Event{Kind: machine.EvAccess, Mask: allLanes, Access: machine.Write, Size: 4, Addr: &x.addr})
	}
	check(b, x)
}

// ringStages and ringTile shape the ring that the ring benchmark and the
// memory test run.
const (
	ringStages = 4
	ringTile   = 4096
	ringWarps  = 5
)

func ringBar(i int) machine.BarRef {
	return machine.BarRef{Mem: machine.SharedOf(0), Addr: 65536 + uint64(i)*8}
}

func newRing() *bench {
	x := newBench(order.Config{Shape: machine.Shape{CTAs: 1, Warps: ringWarps}})
	for i := 0; i < 2*ringStages; i++ {
		x.feed(machine.Event{Kind: machine.EvMbar, Mask: 1, Mbar: machine.Mbar{Bar: ringBar(i), Op: machine.MbarInit}})
	}
	x.sync(ringWarps, 0)
	return x
}

func (b *bench) sync(warps int32, gen uint64) {
	for w := int32(0); w < warps; w++ {
		b.feed(machine.Event{Kind: machine.EvBarArrive, Warp: w, Mask: allLanes, Gen: gen})
	}
	for w := int32(0); w < warps; w++ {
		b.feed(machine.Event{Kind: machine.EvBarPass, Warp: w, Mask: allLanes, Gen: gen})
	}
}

// tile is one tile of a four-stage ring: a producer's wait, fence, arrive and
// bulk load of 4 KB, and four consumer warps that wait, read eight rows each,
// sync and arrive by an elected lane.
func (x *bench) tile(i int, op *machine.Op) {
	s, n := i%ringStages, int64(i/ringStages)
	full, empty, shared := ringBar(s), ringBar(ringStages+s), machine.SharedOf(0)
	x.feed(machine.Event{Kind: machine.EvMbarWait, Mask: 1, Sem: machine.Acquire, Scope: machine.ScopeCTA, Mbar: machine.Mbar{Bar: empty, Phase: n - 1, OK: true}})
	x.feed(machine.Event{Kind: machine.EvFence, Mask: 1, Fence: machine.FenceProxyAsync, Space: machine.SpaceSharedCTA, PC: 1})
	x.feed(machine.Event{Kind: machine.EvMbar, Mask: 1, Sem: machine.Release, Scope: machine.ScopeCTA, Mbar: machine.Mbar{Bar: full, Op: machine.MbarArriveExpectTx, Phase: n}})
	*op = machine.Op{
		ID: int64(i), Kind: machine.OpBulkCopy, Proxy: machine.Async,
		Reads:  append(op.Reads[:0], machine.Span{Mem: machine.Global, Addr: 1<<32 + uint64(i%256)*ringTile, Len: ringTile}),
		Writes: append(op.Writes[:0], machine.Span{Mem: shared, Addr: uint64(s) * ringTile, Len: ringTile}),
		Bars:   append(op.Bars[:0], full), Phases: append(op.Phases[:0], n),
	}
	x.feed(machine.Event{Kind: machine.EvIssue, Op: op})
	op.Stage = machine.Signalled
	x.feed(machine.Event{Kind: machine.EvSignal, Op: op})
	for w := int32(1); w < ringWarps; w++ {
		x.feed(machine.Event{Kind: machine.EvMbarWait, Warp: w, Mask: allLanes, Sem: machine.Acquire, Scope: machine.ScopeCTA, Mbar: machine.Mbar{Bar: full, Phase: n, OK: true}})
		for r := uint64(0); r < 8; r++ {
			x.row(w, machine.Read, shared, uint64(s)*ringTile+(r*4+uint64(w-1))*128)
		}
		x.feed(machine.Event{Kind: machine.EvWarpSync, Warp: w, Mask: allLanes})
		x.feed(machine.Event{Kind: machine.EvMbar, Warp: w, Mask: 1, Sem: machine.Release, Scope: machine.ScopeCTA, Mbar: machine.Mbar{Bar: empty, Op: machine.MbarArrive, Phase: n}})
	}
}

// BenchmarkRing is one tile an operation: 45 events, 64 rows copied, 32 read.
func BenchmarkRing(b *testing.B) {
	x := newRing()
	var op machine.Op
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		x.tile(i, &op)
	}
	check(b, x)
}

// BenchmarkGrid is one CTA of a large grid that never synchronizes: start,
// eight warps of a vector add, exit, end.
func BenchmarkGrid(b *testing.B) {
	const warps = 8
	x := newBench(order.Config{Shape: machine.Shape{CTAs: b.N, Warps: warps}})
	b.ReportAllocs()
	for c := int32(0); c < int32(b.N); c++ {
		x.feed(machine.Event{Kind: machine.EvStart, CTA: c})
		for w := int32(0); w < warps; w++ {
			at := uint64(c%1024*warps+w) * 128
			for k := uint64(1); k <= 2; k++ {
				for l := range x.addr {
					x.addr[l] = k<<24 + at + uint64(l)*4
				}
				x.feed(machine.Event{Kind: machine.EvAccess, CTA: c, Warp: w, Mask: allLanes, Access: machine.Read, Mem: machine.Global, Size: 4, Row: true, Addr: &x.addr})
			}
			x.feed(machine.Event{Kind: machine.EvExit, CTA: c, Warp: w, Mask: allLanes})
		}
		x.feed(machine.Event{Kind: machine.EvEnd, CTA: c})
	}
	check(b, x)
}

// BenchmarkArriveAll is a barrier that every thread arrives at and waits for:
// one operation is one warp's turn.
func BenchmarkArriveAll(b *testing.B) {
	const warps = 8
	x := newBench(order.Config{Shape: machine.Shape{CTAs: 1, Warps: warps}})
	shared := machine.SharedOf(0)
	bar := machine.BarRef{Mem: shared, Addr: 4096}
	x.feed(machine.Event{Kind: machine.EvMbar, Mask: 1, Mbar: machine.Mbar{Bar: bar, Op: machine.MbarInit}})
	for w := int32(0); w < warps; w++ {
		x.feed(machine.Event{Kind: machine.EvBarArrive, Warp: w, Mask: allLanes})
	}
	for w := int32(0); w < warps; w++ {
		x.feed(machine.Event{Kind: machine.EvBarPass, Warp: w, Mask: allLanes})
	}
	b.ReportAllocs()
	for i := 0; i < b.N; i += warps {
		n := int64(i / warps)
		for w := int32(0); w < warps; w++ {
			x.row(w, machine.Write, shared, uint64(w)*128)
			for l := int8(0); l < 32; l++ {
				x.feed(machine.Event{Kind: machine.EvMbar, Warp: w, Lane: l, Mask: 1 << l, Sem: machine.Release, Scope: machine.ScopeCTA, Mbar: machine.Mbar{Bar: bar, Op: machine.MbarArrive, Phase: n}})
			}
		}
		for w := int32(0); w < warps; w++ {
			x.feed(machine.Event{Kind: machine.EvMbarWait, Warp: w, Mask: allLanes, Sem: machine.Acquire, Scope: machine.ScopeCTA, Mbar: machine.Mbar{Bar: bar, Phase: n, OK: true}})
		}
	}
	check(b, x)
}

func check(b *testing.B, x *bench) {
	if c := x.tr.Conflicts(); len(c) != 0 {
		b.Fatalf("conflicts in a clean kernel: %+v", c[0])
	}
	if f := x.tr.FactList(); len(f) != 0 {
		b.Fatalf("facts in a clean kernel: %+v", f[0])
	}
}

// BenchmarkVolatile is the store and load of a warp-synchronous exchange by
// volatile accesses.
func BenchmarkVolatile(b *testing.B) {
	x := newBench(order.Config{Shape: machine.Shape{CTAs: 1, Warps: 1}})
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		for l := range x.addr {
			x.addr[l] = uint64(l) * 4
		}
		x.feed(machine.Event{Kind: machine.EvAccess, Mask: allLanes, Access: machine.Write, Sem: machine.Volatile, Size: 4, Row: true, Addr: &x.addr})
		for l := range x.addr {
			x.addr[l] = uint64(l^16) * 4
		}
		x.feed(machine.Event{Kind: machine.EvAccess, Mask: allLanes, Access: machine.Read, Sem: machine.Volatile, Size: 4, Addr: &x.addr})
	}
	check(b, x)
}
