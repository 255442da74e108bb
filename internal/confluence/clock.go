package confluence

import "math/bits"

// A clock is what an agent comes after: for each warp of the launch, up to
// which of its steps, lane by lane; and for each barrier, how many of its
// phases it has seen complete.
type clock struct {
	warps  []entry
	phases []int64 // by barrier number; how many are known complete
}

// An entry is one warp's: all lanes up to a step, or each lane up to its own.
type entry struct {
	all   uint32
	lanes *[32]uint32 // nil: all
}

func (e *entry) at(lane int) uint32 {
	if e.lanes != nil {
		return e.lanes[lane]
	}
	return e.all
}

// set raises lanes of a warp.
func (c *clock) set(w int32, mask, step uint32) {
	e := c.entry(w)
	if mask == ^uint32(0) {
		*e = entry{all: max(step, e.most())}
		return
	}
	e.split()
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		e.lanes[l] = max(e.lanes[l], step)
	}
}

// most is only asked where no lane can be ahead of the step that is set.
func (e *entry) most() uint32 {
	n := e.all
	if e.lanes != nil {
		for _, v := range e.lanes {
			n = max(n, v)
		}
	}
	return n
}

func (e *entry) split() {
	l := new([32]uint32)
	for i := range l {
		l[i] = e.at(i)
	}
	e.lanes = l
}

func (c *clock) entry(w int32) *entry {
	for int(w) >= len(c.warps) {
		c.warps = append(c.warps, entry{})
	}
	return &c.warps[w]
}

// join makes c come after all that o comes after.
func (c *clock) join(o *clock) {
	for i := range o.warps {
		src := &o.warps[i]
		if src.lanes == nil && src.all == 0 {
			continue
		}
		dst := c.entry(int32(i))
		if src.lanes == nil && dst.lanes == nil {
			dst.all = max(dst.all, src.all)
			continue
		}
		if src.lanes == dst.lanes {
			continue
		}
		dst.split()
		for l := range dst.lanes {
			dst.lanes[l] = max(dst.lanes[l], src.at(l))
		}
	}
	for i, n := range o.phases {
		c.know(i, n)
	}
}

// know notes that n phases of a barrier have completed.
func (c *clock) know(bar int, n int64) {
	for bar >= len(c.phases) {
		c.phases = append(c.phases, 0)
	}
	c.phases[bar] = max(c.phases[bar], n)
}

func (c *clock) known(bar int) int64 {
	if bar < len(c.phases) {
		return c.phases[bar]
	}
	return 0
}

// covers reports whether c comes after all that need names.
func (c *clock) covers(need *clock) bool {
	for i := range need.warps {
		n := &need.warps[i]
		if n.lanes == nil && n.all == 0 {
			continue
		}
		if i >= len(c.warps) {
			return false
		}
		h := &c.warps[i]
		if n.lanes == nil && h.lanes == nil {
			if h.all < n.all {
				return false
			}
			continue
		}
		for l := range 32 {
			if h.at(l) < n.at(l) {
				return false
			}
		}
	}
	for i, n := range need.phases {
		if c.known(i) < n {
			return false
		}
	}
	return true
}

// after returns the lanes of mask whose step c comes after.
func (c *clock) after(w int32, mask, step uint32) uint32 {
	if int(w) >= len(c.warps) {
		return 0
	}
	e := &c.warps[w]
	if e.lanes == nil {
		if e.all >= step {
			return mask
		}
		return 0
	}
	known := uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); e.lanes[l] >= step {
			known |= m & -m
		}
	}
	return known
}

func (c *clock) clone() clock {
	d := clock{warps: append([]entry(nil), c.warps...), phases: append([]int64(nil), c.phases...)}
	return d // lanes are never written in place: split copies them first
}
