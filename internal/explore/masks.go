package explore

import (
	"math/bits"

	"muster/internal/machine"
)

// Runs in which lanes that come to an activemask together do not execute it together.

// A Cut says how the lanes that come to an activemask together fall into groups, and in which
// order these go on.
type Cut struct {
	Name string // of the groups, in words
	// Of gives the number of a lane's group.
	Of func(lane int) int
	// Last: the group of the highest lane goes first, not that of the lowest.
	Last bool
	// Each: a group goes on for as long as it can before the next one executes activemask.
	Each bool
	// Later: the first activemask of each warp is executed by all lanes that come to it.
	Later bool
}

// first returns which of some lanes execute an activemask first.
func (c *Cut) first(lanes uint32) uint32 {
	leader := bits.TrailingZeros32(lanes)
	if c.Last {
		leader = 31 - bits.LeadingZeros32(lanes)
	}
	some := uint32(0)
	for k := lanes; k != 0; k &= k - 1 {
		if l := bits.TrailingZeros32(k); c.Of(l) == c.Of(leader) {
			some |= 1 << l
		}
	}
	return some
}

// Cutting makes a run of at most so many steps in which lanes execute activemask in groups, and
// reports whether it came to its end.
func (d *Director) Cutting(c *Cut, most int) bool {
	first := map[[2]int32]bool{}
	for len(d.Run) < most {
		next, ok := d.next(Hold{})
		if !ok {
			d.m.Conclude()
			return true
		}
		if next.Kind == machine.Run {
			if lanes, _ := d.m.AtActivemask(next); lanes != 0 {
				if at := [2]int32{next.CTA, next.Warp}; !c.Later || first[at] {
					next = machine.Together(next, c.first(lanes))
				} else {
					first[at] = true
				}
			}
		}
		d.took(next, c)
		d.Take(next)
	}
	return false
}

// took notes which split runs on.
func (d *Director) took(next machine.Choice, c *Cut) {
	switch at := process(next); {
	case next.Kind == machine.Subset && !c.Each:
		d.at, d.ran = at, 0
	case next.Kind == machine.Run || next.Kind == machine.Subset:
		if at != d.at {
			d.ran = 0
		}
		d.at, d.ran = at, d.ran+1
	}
}
