package confluence

import (
	"math/bits"
	"slices"
)

// A clock is what an agent comes after: for each warp of the launch, up to which of
// its steps, lane by lane; for each barrier, how many completed phases it has seen; and
// for each queue of commits, how many have arrived.
type clock struct {
	warps   window[entry]
	phases  window[int64] // by barrier number; how many are known complete
	commits window[int64] // by queue number
}

// A window holds the nonzero range of a long row: a CTA mostly knows its own warps
// and barriers, wherever it is in the grid.
type window[T any] struct {
	first int
	of    []T
}

// at returns a pointer to element i, nil outside the range held.
func (w *window[T]) at(i int) *T {
	if i -= w.first; i >= 0 && i < len(w.of) {
		return &w.of[i]
	}
	return nil
}

// span makes room for elements from..to-1.
func (w *window[T]) span(from, to int) {
	switch {
	case from >= to:
	case len(w.of) == 0:
		w.first, w.of = from, zeros(w.of, to-from)
	case from < w.first:
		of := make([]T, max(to, w.first+len(w.of))-from)
		copy(of[w.first-from:], w.of)
		w.first, w.of = from, of
	case to > w.first+len(w.of):
		w.of = zeros(w.of, to-w.first-len(w.of))
	}
}

// zeros appends n zeros.
func zeros[T any](s []T, n int) []T {
	from := len(s)
	s = slices.Grow(s, n)[:from+n]
	clear(s[from:])
	return s
}

func (w *window[T]) clone() window[T] { return window[T]{w.first, append([]T(nil), w.of...)} }

// An entry is one warp's: lanes in mask up to one step and the others up to another,
// as where one lane is elected, or each lane up to its own. Clocks share rows of
// lanes; an entry writes a row only if it owns it.
type entry struct {
	lanes *[32]uint32 // nil: those of mask are up to high, the others up to low
	low   uint32      // lower bound of all lanes
	high  uint32      // the maximum
	mask  uint32
	own   bool
}

func (e *entry) at(lane int) uint32 {
	switch {
	case e.lanes != nil:
		return e.lanes[lane]
	case e.mask>>lane&1 != 0:
		return e.high
	}
	return e.low
}

// row returns the step of each lane, if need be in room.
func (e *entry) row(room *[32]uint32) *[32]uint32 {
	if e.lanes != nil {
		return e.lanes
	}
	for l := range room {
		room[l] = e.low
	}
	for m := e.mask; m != 0; m &= m - 1 {
		room[bits.TrailingZeros32(m)] = e.high
	}
	return room
}

// even reports whether all lanes are at one step.
func (e *entry) even() bool { return e.lanes == nil && e.low == e.high }

// set raises lanes of a warp to a step.
func (c *clock) set(w int32, mask, step uint32) {
	if mask == 0 {
		return
	}
	e := c.entry(w)
	switch {
	case mask == ^uint32(0): // no lane is ahead of the step that is set
		high := max(step, e.high)
		*e = entry{low: high, high: high}
		return
	case e.lanes != nil || step < e.high:
	case e.low == e.high || e.mask&^mask == 0:
		*e = entry{low: e.low, high: step, mask: mask}
		return
	case e.mask|mask == ^uint32(0):
		*e = entry{low: e.high, high: step, mask: mask}
		return
	}
	e.split()
	e.high = max(step, e.high)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		e.lanes[l] = max(e.lanes[l], step)
	}
}

// split gives the entry a row of its own, for writing.
func (e *entry) split() {
	if e.own {
		return
	}
	l := new([32]uint32)
	if row := e.row(l); row != l {
		*l = *row
	}
	e.lanes, e.own = l, true
}

func (c *clock) entry(w int32) *entry {
	c.warps.span(int(w), int(w)+1)
	return c.warps.at(int(w))
}

// join adds to c all that o comes after.
func (c *clock) join(o *clock) {
	if from := o.warps.first; len(o.warps.of) > 0 {
		c.warps.span(from, from+len(o.warps.of))
		to := c.warps.of[from-c.warps.first:]
		for i := range o.warps.of {
			to[i].join(&o.warps.of[i])
		}
	}
	raise(&c.phases, &o.phases)
	raise(&c.commits, &o.commits)
}

// raise makes a count at least what it is in o, each.
func raise(c, o *window[int64]) {
	if from := o.first; len(o.of) > 0 {
		c.span(from, from+len(o.of))
		to := c.of[from-c.first:]
		for i, n := range o.of {
			to[i] = max(to[i], n)
		}
	}
}

func (e *entry) join(o *entry) {
	switch {
	case o.high <= e.low:
		return
	case e.high <= o.low:
		e.take(o)
		return
	case o.lanes != nil && o.lanes == e.lanes:
		return
	case o.lanes == nil && e.lanes == nil && e.blend(o):
		return
	}
	switch less, more := e.compare(o); {
	case less && (!more || !o.own): // if they are equal, one row will do
		e.take(o)
	case !more:
		e.split()
		var room [32]uint32
		row := o.row(&room)
		for l := range e.lanes {
			e.lanes[l] = max(e.lanes[l], row[l])
		}
		e.low, e.high = max(e.low, o.low), max(e.high, o.high)
	}
}

// blend joins two entries without rows if the result needs none; otherwise it is
// false.
func (e *entry) blend(o *entry) bool {
	if e.mask == o.mask {
		e.low, e.high = max(e.low, o.low), max(e.high, o.high)
		return true
	}
	parts := [4]struct{ mask, step uint32 }{
		{e.mask & o.mask, max(e.high, o.high)},
		{e.mask &^ o.mask, max(e.high, o.low)},
		{o.mask &^ e.mask, max(e.low, o.high)},
		{^(e.mask | o.mask), max(e.low, o.low)},
	}
	low, high, mask := ^uint32(0), uint32(0), uint32(0)
	for _, p := range parts {
		if p.mask != 0 {
			low, high = min(low, p.step), max(high, p.step)
		}
	}
	for _, p := range parts {
		switch {
		case p.mask == 0:
		case p.step == high:
			mask |= p.mask
		case p.step != low:
			return false
		}
	}
	*e = entry{low: low, high: high, mask: mask}
	return true
}

// compare reports whether every lane of e is at most o's, and whether every one is at
// least o's.
func (e *entry) compare(o *entry) (less, more bool) {
	switch {
	case e.even():
		o.tighten()
		return e.high <= o.low, e.low >= o.high
	case o.even():
		e.tighten()
		return e.high <= o.low, e.low >= o.high
	}
	var x, y [32]uint32
	a, b := e.row(&x), o.row(&y)
	less, more = true, true
	for l := 0; l < 32 && (less || more); l++ {
		less = less && a[l] <= b[l]
		more = more && a[l] >= b[l]
	}
	return less, more
}

// tighten makes low the minimum of the row.
func (e *entry) tighten() {
	if e.lanes != nil {
		e.low = slices.Min(e.lanes[:])
	}
}

// take makes e equal to o. A row that o owns is copied, so that o need not copy it
// before its next write.
func (e *entry) take(o *entry) {
	switch {
	case !o.own:
		*e = *o
		return
	case e.own:
		*e.lanes = *o.lanes
	default:
		l := *o.lanes
		e.lanes, e.own = &l, true
	}
	e.low, e.high = o.low, o.high
}

// freeze gives up ownership of c's rows, so that others may share them.
func (c *clock) freeze() {
	for i := range c.warps.of {
		c.warps.of[i].own = false
	}
}

// know notes that n phases of a barrier have completed.
func (c *clock) know(bar int, n int64) {
	c.phases.span(bar, bar+1)
	k := c.phases.at(bar)
	*k = max(*k, n)
}

func (c *clock) known(bar int) int64 { return count(&c.phases, bar) }

// arrived notes that n commits of a queue have arrived.
func (c *clock) arrived(queue int, n int64) {
	c.commits.span(queue, queue+1)
	k := c.commits.at(queue)
	*k = max(*k, n)
}

func count(w *window[int64], i int) int64 {
	if n := w.at(i); n != nil {
		return *n
	}
	return 0
}

// covers reports whether c comes after all that need names.
func (c *clock) covers(need *clock) bool { return c.coversBut(need, -1, 0) }

// coversBut is covers except for the given lanes of a warp.
func (c *clock) coversBut(need *clock, but int32, lanes uint32) bool {
	for i := range need.warps.of {
		n, h := &need.warps.of[i], c.warps.at(need.warps.first+i)
		if !h.covers(n) && (need.warps.first+i != int(but) || !h.coversBut(n, lanes)) {
			return false
		}
	}
	return reaches(&c.phases, &need.phases) && reaches(&c.commits, &need.commits)
}

// reaches reports whether each count is at least what it is in need.
func reaches(c, need *window[int64]) bool {
	for i, n := range need.of {
		if count(c, need.first+i) < n {
			return false
		}
	}
	return true
}

// covers reports whether every lane of h, which may be nil, is at least n's.
func (h *entry) covers(n *entry) bool {
	switch {
	case n.high == 0:
		return true
	case h == nil || h.high < n.high:
		return false
	case n.high <= h.low || h.lanes != nil && h.lanes == n.lanes:
		return true
	case h.lanes == nil && n.lanes == nil:
		// h.low is less than n.high, which h.high is not.
		return n.mask&^h.mask == 0 && (h.low >= n.low || n.mask|h.mask == ^uint32(0))
	}
	return h.coversBut(n, 0)
}

// coversBut is covers for the lanes not in but.
func (h *entry) coversBut(n *entry, but uint32) bool {
	var x, y [32]uint32
	b := n.row(&y)
	a := &x
	if h != nil {
		a = h.row(&x)
	}
	for l := range a {
		if a[l] < b[l] && but>>l&1 == 0 {
			return false
		}
	}
	return true
}

// after returns the lanes of mask whose step c comes after.
func (c *clock) after(w int32, mask, step uint32) uint32 {
	e := c.warps.at(int(w))
	if e == nil {
		return 0
	}
	switch {
	case e.low >= step:
		return mask
	case e.high < step:
		return 0
	case e.lanes == nil:
		return mask & e.mask
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
	c.freeze()
	return clock{c.warps.clone(), c.phases.clone(), c.commits.clone()}
}

// copy makes c equal to o, reusing c's storage.
func (c *clock) copy(o *clock) {
	o.freeze()
	c.warps = window[entry]{o.warps.first, append(c.warps.of[:0], o.warps.of...)}
	c.phases = window[int64]{o.phases.first, append(c.phases.of[:0], o.phases.of...)}
	c.commits = window[int64]{o.commits.first, append(c.commits.of[:0], o.commits.of...)}
}

// clear makes c come after nothing.
func (c *clock) clear() {
	c.warps.of, c.phases.of, c.commits.of = c.warps.of[:0], c.phases.of[:0], c.commits.of[:0]
}
