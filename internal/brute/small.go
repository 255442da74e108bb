package brute

import "math/rand/v2"

// SmallOps is the largest number of operations, without fences, of a program that
// Small makes.
const SmallOps = 12

// Small makes a random program like Generate, of warps of one CTA or of a cluster of
// two, in which no operation keeps a test's result. Some schedule of it ends; another
// may still be stuck, or fault.
func Small(r *rand.Rand) *Program {
	for {
		g := newGenerator(r)
		g.small = true
		g.p.Join, g.p.Spin = 0, uint8(r.IntN(2))
		switch x := r.IntN(20); {
		case x < 11:
			g.p.Place = Warps
		case x < 12:
			g.p.Place = Wide
		default:
			g.p.Place = Cluster
		}
		g.walk()
		p := g.finish()
		if p == nil {
			continue
		}
		if r.IntN(6) == 0 {
			p.mutate(r)
		}
		if p.Place == Wide && (p.has(NoIncrement) || p.has(ArriveExpect)) {
			continue // 32 operations, in any order; two instructions, with others between them
		}
		if p.visible() <= SmallOps && p.waits() && p.conflicts() && p.ends(r) {
			return p
		}
	}
}

func (p *Program) has(k Kind) bool {
	for _, ops := range p.Threads {
		for _, o := range ops {
			if o.Kind == k {
				return true
			}
		}
	}
	return false
}

// visible returns the number of operations, without fences.
func (p *Program) visible() int {
	n := 0
	for _, ops := range p.Threads {
		for _, o := range ops {
			if o.Kind != Fence {
				n++
			}
		}
	}
	return n
}
