package confluence

import (
	"math/rand/v2"
	"testing"
)

// plainClock is a clock without sharing: a step for each lane of each warp.
type plainClock [4][32]uint32

func (p *plainClock) join(o *plainClock) {
	for w := range p {
		for l := range p[w] {
			p[w][l] = max(p[w][l], o[w][l])
		}
	}
}

func (p *plainClock) covers(o *plainClock) bool {
	for w := range p {
		for l := range p[w] {
			if p[w][l] < o[w][l] {
				return false
			}
		}
	}
	return true
}

// TestClock compares clocks that share rows with ones that do not.
func TestClock(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var clocks [6]clock
	var plain [6]plainClock
	step := uint32(0)
	for n := range 100_000 {
		i, j := r.IntN(len(clocks)), r.IntN(len(clocks))
		switch r.IntN(10) {
		case 0, 1, 2:
			step++
			w, mask := r.IntN(4), [...]uint32{^uint32(0), 1, ^uint32(1), 1 << r.IntN(32), r.Uint32()}[r.IntN(5)]
			clocks[i].set(int32(w), mask, step)
			for l := range 32 {
				if mask == ^uint32(0) || mask>>l&1 != 0 {
					plain[i][w][l] = step
				}
			}
		case 3, 4, 5:
			if i != j {
				clocks[i].join(&clocks[j])
				plain[i].join(&plain[j])
			}
		case 6:
			if i != j {
				clocks[i], plain[i] = clocks[j].clone(), plain[j]
			}
		case 7:
			if i != j {
				clocks[i].copy(&clocks[j])
				plain[i] = plain[j]
			}
		case 8:
			clocks[i].freeze()
		case 9:
			if r.IntN(4) == 0 {
				clocks[i].clear()
				plain[i] = plainClock{}
			}
		}
		for w := range 4 {
			for l := range 32 {
				at := uint32(0)
				if e := clocks[i].warps.at(w); e != nil {
					at = e.at(l)
				}
				if at != plain[i][w][l] {
					t.Fatalf("after %d: clock %d, warp %d, lane %d: %d, want %d", n, i, w, l, at, plain[i][w][l])
				}
			}
			s := 1 + uint32(r.IntN(int(step)+1))
			for l := range 32 {
				if got := clocks[i].after(int32(w), 1<<l, s) != 0; got != (plain[i][w][l] >= s) {
					t.Fatalf("after %d: clock %d, warp %d, lane %d: after step %d is %v", n, i, w, l, s, got)
				}
			}
		}
		if got, want := clocks[i].covers(&clocks[j]), plain[i].covers(&plain[j]); got != want {
			t.Fatalf("after %d: clock %d covers clock %d: %v, want %v", n, i, j, got, want)
		}
	}
}
