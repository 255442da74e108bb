package loops

import (
	"fmt"
	"math/bits"
	"sort"

	"muster/internal/machine"
)

// A Footprint observes the run whose strides are measured, for its accesses to global
// memory: in every launch of the family, a place that is written must be apart from
// all other accesses, or always be the same place.
type Footprint struct {
	follower *machine.Follower
	region   func(addr uint64) int
	regions  map[int]*region
	refused  []Refusal
	parities map[parity]bool
}

// A parity is a wait by parity, in a part of the run: whether the parity that it asks
// for flips with each period inserted before it.
type parity struct {
	bar   machine.BarRef
	pc    int32
	part  string
	turns bool
	loops bool // of a lane that loops
}

type region struct {
	written bool
	groups  map[shape]*group
	// tensor is the growth of the coordinates of tensor copies, innermost first.
	tensor []int64
	moving int32 // PC of such a copy, or -1
}

// A shape is which part of the run an access is in, and how its address grows.
type shape struct {
	part string
	j, n int64
}

// A group is the accesses of one shape.
type group struct {
	list  []span
	wrote bool
	pc    int32
}

type span struct {
	at, len uint64
	wrote   bool
}

// NewFootprint returns a Footprint; region tells the buffers apart.
func NewFootprint(f *machine.Follower, regionOf func(addr uint64) int) *Footprint {
	return &Footprint{follower: f, region: regionOf, regions: map[int]*region{}, parities: map[parity]bool{}}
}

// Observe makes a Footprint a machine.Observer.
func (p *Footprint) Observe(m *machine.Machine, ev *machine.Event) {
	base := p.follower.Lane(ev.CTA, ev.Warp, 0)
	switch {
	case ev.Kind == machine.EvMbarWait && ev.Mbar.OK && ev.Mbar.Parity:
		mask := ev.Mask
		if mask == 0 {
			mask = 1 << ev.Lane
		}
		for ; mask != 0; mask &= mask - 1 {
			lane := base + bits.TrailingZeros32(mask)
			if turns, part, known := p.follower.Turns(lane, ev.PC); known {
				loops := len(p.follower.Loops) > 0 && p.follower.Loops[lane].Mark >= 0
				p.parities[parity{ev.Mbar.Bar, ev.PC, part, turns, loops}] = true
			}
		}
	case ev.Kind == machine.EvAccess && ev.Mem == machine.Global:
		for rest := ev.Mask; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			p.access(base+l, ev.PC, ev.Addr[l], uint64(ev.Size), ev.Access&machine.Write != 0, uint64(ev.Size))
		}
	case ev.Kind == machine.EvIssue:
		lane := base + max(0, int(ev.Op.Lane))
		moves, known := p.follower.Coordinates(lane, ev.PC)
		for k, list := range [2][]machine.Span{ev.Op.Reads, ev.Op.Writes} {
			for _, s := range list {
				switch {
				case s.Mem != machine.Global || s.Len == 0:
				case known && moves != nil:
					p.copy(s.Addr, ev.PC, k == 1, moves)
				default:
					p.access(lane, ev.PC, s.Addr, s.Len, k == 1, 16)
				}
			}
		}
	}
}

// Parities checks that waits, with one period more before them, ask for the parity of
// the phase that they then wait for.
func (p *Footprint) Parities(c *Core) *Refusal {
	var no *Refusal
	for w := range p.parities {
		odd := c.Phases[w.bar][1]&1 != 0
		text := ""
		switch {
		case !w.loops && odd:
			text = "waits for one parity, outside the loops, of a barrier that completes an odd number of phases each period"
		case w.loops && w.part != "before" && odd != w.turns:
			text = "the parity that is waited for does not turn over as the barrier's phases do"
		}
		if text != "" && (no == nil || w.pc < no.PC) {
			no = &Refusal{w.pc, text}
		}
	}
	return no
}

func (p *Footprint) at(addr uint64) *region {
	i := p.region(addr)
	r := p.regions[i]
	if r == nil {
		r = &region{groups: map[shape]*group{}, moving: -1}
		p.regions[i] = r
	}
	return r
}

func (p *Footprint) refuse(pc int32, text string) {
	if len(p.refused) < 8 {
		p.refused = append(p.refused, Refusal{pc, text})
	}
}

// access enters an access of a lane, or of an operation that it issued.
func (p *Footprint) access(lane int, pc int32, addr, size uint64, wrote bool, align uint64) {
	r := p.at(addr)
	r.written = r.written || wrote
	g := p.follower.Growth(lane, pc, addr)
	if !g.Known {
		return // of a period that the first stands for
	}
	if align > 16 || align&(align-1) != 0 {
		align = 16
	}
	if g.J%int64(align) != 0 || g.N%int64(align) != 0 {
		p.refuse(pc, fmt.Sprintf("the address grows by %d bytes a period, and loses its alignment to %d", g.J, align))
	}
	s := shape{g.Mode, g.J, g.N}
	k := r.groups[s]
	if k == nil {
		k = &group{pc: pc}
		r.groups[s] = k
	}
	if wrote && !k.wrote {
		k.wrote, k.pc = true, pc
	}
	k.list = append(k.list, span{addr, size, wrote})
}

// copy enters a tensor copy whose coordinates grow.
func (p *Footprint) copy(addr uint64, pc int32, wrote bool, by []int64) {
	r := p.at(addr)
	r.written = r.written || wrote
	r.moving = pc
	for i, v := range by {
		if i >= len(r.tensor) {
			r.tensor = append(r.tensor, 0)
		}
		r.tensor[i] = max(r.tensor[i], v)
	}
}

// A Growth says how a buffer grows from one launch of the family to the next: by
// bytes, or by elements along dimensions of its tensor map, innermost first.
type Growth struct {
	Region int
	Bytes  int64
	Coords []int64
}

// Finish returns how buffers grow, and which accesses may overlap. periods is how
// many periods launch 0 has, most the number of the last launch.
func (p *Footprint) Finish(periods, most int64) ([]Growth, []Refusal) {
	var all []Growth
	for i, r := range p.regions {
		g := Growth{Region: i, Coords: r.tensor}
		for s := range r.groups {
			g.Bytes = max(g.Bytes, s.j+s.n)
		}
		if g.Bytes > 0 || len(g.Coords) > 0 {
			all = append(all, g)
		}
		if r.written {
			p.apart(r, periods, most)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Region < all[j].Region })
	return all, p.refused
}

// Fixed reports whether some place in global memory is written again each period.
func (p *Footprint) Fixed() bool {
	for _, r := range p.regions {
		for s, g := range r.groups {
			if s.part == "body" && s.j == 0 && g.wrote {
				return true
			}
		}
	}
	return false
}

// apart checks that accesses whose relative position changes never overlap, if one of
// them writes.
func (p *Footprint) apart(r *region, periods, most int64) {
	if r.moving >= 0 {
		p.refuse(r.moving, "a tensor copy with coordinates that grow, of a buffer that is written")
		return
	}
	shapes := make([]shape, 0, len(r.groups))
	for s := range r.groups {
		shapes = append(shapes, s)
	}
	sort.Slice(shapes, func(a, b int) bool {
		x, y := shapes[a], shapes[b]
		if x.part != y.part {
			return x.part < y.part
		}
		return x.j < y.j || x.j == y.j && x.n < y.n
	})
	for i, s := range shapes {
		g := r.groups[s]
		if s.j != 0 && g.wrote && !g.periodic(s.j) {
			p.refuse(g.pc, fmt.Sprintf("what is written here moves by %d bytes a period, and may meet what another period touches", s.j))
		}
		for _, t := range shapes[i+1:] {
			h := r.groups[t]
			if (g.wrote || h.wrote) && (s.j != 0 || t.j != 0 || s.n != t.n) && !separate(s, g, t, h, periods, most) {
				p.refuse(g.pc, "what is accessed here moves with the number of turns, and may meet what is accessed elsewhere, by another rule")
			}
		}
	}
}

// periodic reports whether the accesses of different periods, each moved by j, are
// apart: modulo j, only accesses with one multiple of j overlap.
func (g *group) periodic(j int64) bool {
	step := uint64(j)
	if j < 0 {
		step = uint64(-j)
	}
	type piece struct {
		at, end, turn uint64
		wrote         bool
	}
	var list []piece
	for _, s := range g.list {
		for at, left := s.at, s.len; left > 0; {
			n := min(left, step-at%step)
			list = append(list, piece{at % step, at%step + n, at / step, s.wrote})
			at, left = at+n, left-n
		}
	}
	sort.Slice(list, func(a, b int) bool { return list[a].at < list[b].at })
	end, turn, wrote := uint64(0), uint64(0), false
	mixed := false
	for i, s := range list {
		if i == 0 || s.at >= end {
			end, turn, wrote, mixed = s.end, s.turn, s.wrote, false
			continue
		}
		end, wrote, mixed = max(end, s.end), wrote || s.wrote, mixed || s.turn != turn
		if mixed && wrote {
			return false
		}
	}
	return true
}

func (g *group) hull() (lo, hi int64) {
	lo, hi = int64(g.list[0].at), int64(g.list[0].at)
	for _, s := range g.list {
		lo, hi = min(lo, int64(s.at)), max(hi, int64(s.at+s.len))
	}
	return lo, hi
}

// separate reports whether two groups lie apart in every period and launch: the
// lowest address of one is above the highest of the other, at every corner.
func separate(s shape, g *group, t shape, h *group, periods, most int64) bool {
	glo, ghi := g.hull()
	hlo, hhi := h.hull()
	above, below := true, true
	for _, n := range []int64{0, most} {
		for c := range 4 {
			j, k := int64(c&1)*(periods-1+n), int64(c>>1)*(periods-1+n)
			move, ok := sum(product(s.j, j), product(s.n, n), -product(t.j, k), -product(t.n, n))
			if !ok {
				return false
			}
			above = above && glo+move >= hhi
			below = below && ghi+move <= hlo
		}
	}
	return above || below
}

const far = 1 << 60

func product(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	if p := a * b; p/b == a && p < far && p > -far {
		return p
	}
	return far
}

// sum adds numbers; it is not ok if one of them, or the total, is too large.
func sum(list ...int64) (int64, bool) {
	total := int64(0)
	for _, v := range list {
		if v >= far || v <= -far {
			return 0, false
		}
		total += v
	}
	return total, total < far && total > -far
}
