package order_test

import (
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"muster/internal/machine"
	"muster/internal/order"
)

var seeds = flag.Uint64("seeds", 400, "random runs of each model test")

// dice are uniform random choices, determined by the number of a run.
type dice struct{ *rand.Rand }

func (d dice) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

// eachSeed calls f with the same runs every time.
func eachSeed(t *testing.T, f func(t *testing.T, d dice)) {
	for seed := uint64(0); seed < *seeds; seed++ {
		f(t, dice{rand.New(rand.NewPCG(seed, 1))})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// model is the plainest happens-before: a full vector clock for each lane, every
// access of every byte kept for ever. It supports weak accesses, bar.warp.sync, named
// barriers and mbarriers; the Tracker must find the first race of a run at the same
// event.
type model struct {
	clocks [][]int // by lane, over lanes
	bytes  map[modelByte][]modelAccess
	bars   map[int][]int // released into an mbarrier's phase
}

type modelByte struct {
	mem  machine.MemID
	addr uint64
}

type modelAccess struct {
	lane, time int
	write      bool
}

func newModel(lanes int) *model {
	m := &model{bytes: map[modelByte][]modelAccess{}, bars: map[int][]int{}}
	for i := 0; i < lanes; i++ {
		c := make([]int, lanes)
		c[i] = 1
		m.clocks = append(m.clocks, c)
	}
	return m
}

// access reports whether the lanes' accesses, made together, race. It enters them if
// they do not race, or if racy is set.
func (m *model) access(ev *machine.Event, racy bool) bool {
	race := false
	type one struct {
		b modelByte
		a modelAccess
	}
	var fresh []one
	for mask := ev.Mask; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		lane := int(ev.Warp)*32 + l
		for i := int32(0); i < ev.Size; i++ {
			b := modelByte{ev.Mem, ev.Addr[l] + uint64(i)}
			a := modelAccess{lane, m.clocks[lane][lane], ev.Access == machine.Write}
			for _, p := range m.bytes[b] {
				if (p.write || a.write) && m.clocks[lane][p.lane] < p.time {
					race = true
				}
			}
			for _, f := range fresh {
				if f.b == b && f.a.lane != lane && (f.a.write || a.write) {
					race = true
				}
			}
			fresh = append(fresh, one{b, a})
		}
	}
	for _, f := range fresh {
		if race && !racy {
			break
		}
		m.bytes[f.b] = append(m.bytes[f.b], f.a)
	}
	return race
}

func join(into, from []int) {
	for i, v := range from {
		into[i] = max(into[i], v)
	}
}

// sync makes lanes know what any of them knows.
func (m *model) sync(lanes []int) {
	all := make([]int, len(m.clocks))
	for _, l := range lanes {
		join(all, m.clocks[l])
	}
	for _, l := range lanes {
		copy(m.clocks[l], all)
		m.clocks[l][l]++
	}
}

func (m *model) arrive(bar, lane int) {
	if m.bars[bar] == nil {
		m.bars[bar] = make([]int, len(m.clocks))
	}
	join(m.bars[bar], m.clocks[lane])
	m.clocks[lane][lane]++
}

func (m *model) wait(bar, lane int) {
	if c := m.bars[bar]; c != nil {
		join(m.clocks[lane], c)
	}
}

func lanesOf(w int32, mask uint32) []int {
	var out []int
	for ; mask != 0; mask &= mask - 1 {
		out = append(out, int(w)*32+bits.TrailingZeros32(mask))
	}
	return out
}

// TestModel compares the Tracker with the model on random runs.
func TestModel(t *testing.T) {
	eachSeed(t, func(t *testing.T, d dice) {
		const warps = 2
		tr := order.New(order.Config{Shape: machine.Shape{CTAs: 1, Warps: warps}})
		m := newModel(32 * warps)
		masks := []uint32{^uint32(0), ^uint32(0), 1, 2, 0xffff, 0xff00ff00, 1 << 31, 0x7fffffff}
		gen := uint64(0)
		phases := [2]int64{}
		trace := ""
		for i := 0; i < 80; i++ {
			w := int32(d.between(0, warps-1))
			mask := pick(d, masks)
			ev := machine.Event{Warp: w, Mask: mask, PC: int32(i), Lane: int8(bits.TrailingZeros32(mask))}
			race, found := false, len(tr.Conflicts())
			switch d.between(0, 9) {
			case 0, 1, 2, 3, 4:
				drawAccess(d, &ev)
				// Most races are left out, so that runs get long.
				racy := d.between(0, 40) == 0
				if race = m.access(&ev, racy); race && !racy {
					race = false
					continue
				}
				tr.Feed(nil, &ev)
			case 5, 6:
				ev.Kind = machine.EvWarpSync
				m.sync(lanesOf(w, mask))
				tr.Feed(nil, &ev)
			case 7:
				var all []int
				for k := int32(0); k < warps; k++ {
					tr.Feed(nil, &machine.Event{Kind: machine.EvBarArrive, Warp: k, Mask: ^uint32(0), Gen: gen})
					all = append(all, lanesOf(k, ^uint32(0))...)
				}
				for k := int32(0); k < warps; k++ {
					tr.Feed(nil, &machine.Event{Kind: machine.EvBarPass, Warp: k, Mask: ^uint32(0), Gen: gen})
				}
				m.sync(all)
				gen++
			case 8:
				b := d.between(0, 1)
				for _, l := range lanesOf(w, mask) {
					m.arrive(b*100+int(phases[b]), l)
					e := machine.Event{Kind: machine.EvMbar, Warp: w, Mask: 1 << (l % 32), Lane: int8(l % 32), Sem: machine.Release, Scope: machine.ScopeCTA}
					e.Mbar = machine.Mbar{Bar: machine.BarRef{Addr: 65536 + 8*uint64(b)}, Op: machine.MbarArrive, Phase: phases[b]}
					tr.Feed(nil, &e)
				}
				ev.Kind = machine.EvMbar
			case 9:
				// The phase completes for both the Tracker and the model.
				b := d.between(0, 1)
				for _, l := range lanesOf(w, mask) {
					m.wait(b*100+int(phases[b]), l)
				}
				ev.Kind, ev.Sem, ev.Scope = machine.EvMbarWait, machine.Acquire, machine.ScopeCTA
				ev.Mbar = machine.Mbar{Bar: machine.BarRef{Addr: 65536 + 8*uint64(b)}, OK: true, Phase: phases[b]}
				tr.Feed(nil, &ev)
				phases[b]++
			}
			trace += fmt.Sprintf("%d: kind %d w%d %#x %v %d bytes at %d\n", i, ev.Kind, w, mask, ev.Access, ev.Size, first(&ev))
			if got := len(tr.Conflicts()) > found; got != race {
				t.Fatalf("tracker says race %v, model %v, at the last event of\n%s%+v", got, race, trace, tr.Conflicts())
			}
			if race {
				return
			}
		}
	})
}

func first(ev *machine.Event) uint64 {
	if ev.Addr == nil {
		return 0
	}
	return ev.Addr[bits.TrailingZeros32(ev.Mask)]
}

// drawAccess draws an access of any width and one of the usual shapes, over few bytes
// so that accesses overlap.
func drawAccess(d dice, ev *machine.Event) {
	ev.Kind, ev.Mem, ev.Addr = machine.EvAccess, machine.SharedOf(0), new([32]uint64)
	ev.Access = pick(d, []machine.Access{machine.Read, machine.Write})
	ev.Size = pick(d, []int32{1, 2, 4, 8, 16})
	size := uint64(ev.Size)
	base := uint64(d.between(0, 40)) * size
	shape := d.between(0, 4)
	for l := range ev.Addr {
		at := uint64(l)
		switch shape {
		case 1:
			at = 31 - at
		case 2:
			at *= 2
		case 3:
			at = at / 4
		}
		ev.Addr[l] = base + at*size
	}
	ev.Row = (shape == 0 || shape == 4) && ev.Mask == ^uint32(0)
}
