package order

import (
	"math/rand/v2"
	"testing"
)

// TestClocksBelow: clocks that share what lies below them know what clocks know that hold it all
// by themselves.
func TestClocksBelow(t *testing.T) {
	const ctas, slots = 40, 3
	type pair struct{ shared, flat clock }
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		list := make([]pair, 6)
		for step := range 200 {
			a, b := r.IntN(len(list)), r.IntN(len(list))
			x, y := &list[a], &list[b]
			switch r.IntN(8) {
			case 0, 1:
				cta, slot, v := int32(r.IntN(ctas)), r.IntN(slots), uint32(r.IntN(9))
				if got, want := x.shared.raise(cta, slot, v), x.flat.raise(cta, slot, v); got != want {
					t.Fatalf("seed %d, step %d: raise is news: %v, want %v", seed, step, got, want)
				}
			case 2:
				for k := range int32(12) {
					cta := int32(r.IntN(ctas-12)) + k
					x.shared.raise(cta, 0, 1+uint32(k))
					x.flat.raise(cta, 0, 1+uint32(k))
				}
				x.shared.freeze()
			case 3:
				if a != b {
					if got, want := x.shared.join(&y.shared), x.flat.join(&y.flat); got != want {
						t.Fatalf("seed %d, step %d: join is news: %v, want %v", seed, step, got, want)
					}
				}
			case 4:
				*x = pair{y.shared.clone(), y.flat.clone()}
			case 5:
				if got, want := x.shared.covers(&y.shared), x.flat.covers(&y.flat); got != want {
					t.Fatalf("seed %d, step %d: covers: %v, want %v", seed, step, got, want)
				}
			case 6:
				x.shared.freeze()
			case 7: // what a lane forgets of its own CTA
				cta := int32(r.IntN(ctas))
				for _, c := range []*clock{&x.shared, &x.flat} {
					clear(c.lowered(cta))
				}
			}
			if got, want := x.shared.empty(), x.flat.empty(); got && !want {
				t.Fatalf("seed %d, step %d: empty: %v, want %v", seed, step, got, want)
			}
			for cta := range int32(ctas) {
				for slot := range slots {
					if got, want := x.shared.at(cta, slot), x.flat.at(cta, slot); got != want {
						t.Fatalf("seed %d, step %d: slot %d of CTA %d is %d, want %d", seed, step, slot, cta, got, want)
					}
				}
			}
			meet := pair{x.shared.clone(), x.flat.clone()}
			other := pair{y.shared.clone(), y.flat.clone()}
			var tr Tracker
			tr.meetClocks(&meet.shared, &other.shared)
			tr.meetClocks(&meet.flat, &other.flat)
			for cta := range int32(ctas) {
				if got, want := meet.shared.at(cta, 0), meet.flat.at(cta, 0); got != want {
					t.Fatalf("seed %d, step %d: of both, CTA %d is %d, want %d", seed, step, cta, got, want)
				}
			}
			from := pair{x.shared.clone(), x.flat.clone()}
			from.shared.joinFrom(&y.shared, ctas/2)
			for cta := range int32(ctas) {
				want := x.flat.at(cta, 0)
				if cta >= ctas/2 {
					want = max(want, y.flat.at(cta, 0))
				}
				if got := from.shared.at(cta, 0); cta >= ctas/2 && got < want && x.shared.below != y.shared.below || cta < ctas/2 && got != want {
					t.Fatalf("seed %d, step %d: from the middle on, CTA %d is %d, want %d", seed, step, cta, got, want)
				}
			}
		}
	}
}
