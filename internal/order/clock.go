package order

// A clock is a vector clock over the slots of CTAs. Each CTA assigns its own slots
// (slots.go): 0 for its start, then its warps, then lanes and barriers on demand. An
// unobserved CTA has no part, so in a grid of CTAs that never synchronize each clock
// holds one part.
//
// What all CTAs of a launch know from their start is one clock below theirs (freeze): a part
// of the clock itself is in place of that of the same CTA below, and never says less.
type clock struct {
	parts []part // ascending CTA
	hint  int    // where the last search ended
	below *clock // does not change, and may be shared; nil: nothing
}

type part struct {
	cta int32
	v   []uint32
}

// vec returns the slots known of a CTA, nil if none.
func (c *clock) vec(cta int32) []uint32 {
	if c.hint < len(c.parts) && c.parts[c.hint].cta == cta {
		return c.parts[c.hint].v
	}
	if i, ok := c.search(cta); ok {
		c.hint = i
		return c.parts[i].v
	}
	return c.below.frozen(cta)
}

// frozen is vec for a clock that does not change, not even in its hint.
func (c *clock) frozen(cta int32) []uint32 {
	for ; c != nil; c = c.below {
		if i, ok := c.search(cta); ok {
			return c.parts[i].v
		}
	}
	return nil
}

// contains reports whether a clock lies below c, or below that, and so on.
func (c *clock) contains(low *clock) bool {
	for b := c.below; b != nil; b = b.below {
		if b == low {
			return true
		}
	}
	return false
}

// flatten makes c say by itself what it knows.
func (c *clock) flatten() {
	for b := c.below; b != nil; b = b.below {
		for i := range b.parts {
			c.ensure(b.parts[i].cta, 0)
		}
	}
	c.below = nil
}

// lowered returns the slots of a CTA, which may then say less; nil if nothing is known of it.
func (c *clock) lowered(cta int32) []uint32 {
	if c.below.frozen(cta) != nil {
		c.flatten()
	}
	return c.vec(cta)
}

// leastShared is how many parts are worth a clock below.
const leastShared = 8

// freeze puts what c knows below it, so that clones share it. Clocks that lie below each other
// have ever more parts, so that there are few.
func (c *clock) freeze() {
	if len(c.parts) < leastShared {
		return
	}
	for c.below != nil && len(c.below.parts) < 2*len(c.parts) {
		low := c.below
		merged := make([]part, 0, len(c.parts)+len(low.parts))
		i := 0
		for k := range c.parts {
			for ; i < len(low.parts) && low.parts[i].cta < c.parts[k].cta; i++ {
				merged = append(merged, low.parts[i])
			}
			if i < len(low.parts) && low.parts[i].cta == c.parts[k].cta {
				i++
			}
			merged = append(merged, c.parts[k])
		}
		c.parts, c.below = append(merged, low.parts[i:]...), low.below
	}
	*c = clock{below: &clock{parts: c.parts, below: c.below}}
}

func (c *clock) search(cta int32) (int, bool) {
	lo, hi := 0, len(c.parts)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if c.parts[mid].cta < cta {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(c.parts) && c.parts[lo].cta == cta
}

// at returns one slot.
func (c *clock) at(cta int32, slot int) uint32 {
	v := c.vec(cta)
	if slot >= len(v) {
		return 0
	}
	return v[slot]
}

// ensure returns the part of a CTA with at least n slots.
func (c *clock) ensure(cta int32, n int) *part {
	var i int
	if c.hint < len(c.parts) && c.parts[c.hint].cta == cta {
		i = c.hint
	} else {
		var ok bool
		if i, ok = c.search(cta); !ok {
			c.insert(i, cta)
			if v := c.below.frozen(cta); v != nil {
				c.parts[i].v = append(c.parts[i].v, v...)
			}
		}
		c.hint = i
	}
	p := &c.parts[i]
	p.v = grown(p.v, n)
	return p
}

// insert makes room at i, keeping the storage of parts that reset left.
func (c *clock) insert(i int, cta int32) {
	n := len(c.parts)
	if n < cap(c.parts) {
		c.parts = c.parts[:n+1]
	} else {
		c.parts = append(c.parts, part{})
	}
	spare := c.parts[n].v[:0]
	copy(c.parts[i+1:], c.parts[i:n])
	c.parts[i] = part{cta: cta, v: spare}
}

// grown returns v with at least n slots, new ones zero.
func grown(v []uint32, n int) []uint32 {
	old := len(v)
	if n <= old {
		return v
	}
	if n <= cap(v) {
		v = v[:n]
		clear(v[old:])
		return v
	}
	w := make([]uint32, n, n+n/4+2)
	copy(w, v)
	return w
}

// raise sets a slot to at least val and reports whether that changed it.
func (c *clock) raise(cta int32, slot int, val uint32) bool {
	if c.at(cta, slot) >= val {
		return false
	}
	p := c.ensure(cta, slot+1)
	p.v[slot] = val
	return true
}

// join makes c know what src knows, and reports whether that was news.
func (c *clock) join(src *clock) bool {
	news := src.below != nil && c.joinBelow(src.below)
	for i := range src.parts {
		s := &src.parts[i]
		switch {
		case i < len(c.parts) && c.parts[i].cta == s.cta:
			news = c.parts[i].raise(s.v) || news
		case c.below == nil:
			news = c.ensure(s.cta, len(s.v)).raise(s.v) || news
		default:
			news = c.learn(s) || news
		}
	}
	return news
}

// learn makes c know a part, which it keeps only if that is news.
func (c *clock) learn(s *part) bool {
	return !reaches(c.vec(s.cta), s.v) && c.ensure(s.cta, len(s.v)).raise(s.v)
}

// joinFrom is join for the parts of CTAs from one on.
func (c *clock) joinFrom(src *clock, cta int32) {
	for b := src; b != nil && c.below != b && !c.contains(b); b = b.below {
		for i, _ := b.search(cta); i < len(b.parts); i++ {
			p := part{b.parts[i].cta, b.parts[i].v}
			if b != src {
				p.v = src.frozen(p.cta)
			}
			c.learn(&p)
		}
	}
}

// raise makes a part know what v says.
func (p *part) raise(v []uint32) (news bool) {
	p.v = grown(p.v, len(v))
	d := p.v[:len(v)]
	for j, x := range v {
		if x > d[j] {
			d[j] = x
			news = true
		}
	}
	return news
}

// joinBelow is join for a clock that does not change.
func (c *clock) joinBelow(src *clock) (news bool) {
	switch {
	case c.below == src || c.contains(src):
		return false
	case c.below == nil || (&clock{below: src}).contains(c.below):
		news = !c.coversBelow(src)
		c.below = src
	default:
		if src.below != nil {
			news = c.joinBelow(src.below)
		}
		for i := range src.parts {
			news = c.learn(&src.parts[i]) || news
		}
		return news
	}
	for i := range c.parts {
		if v := src.frozen(c.parts[i].cta); v != nil {
			news = c.parts[i].raise(v) || news
		}
	}
	return news
}

// covers reports whether c knows all that d knows.
func (c *clock) covers(d *clock) bool {
	for i := range d.parts {
		q := &d.parts[i]
		if !reaches(c.vec(q.cta), q.v) {
			return false
		}
	}
	if d.below == nil {
		return true
	}
	if c.below == d.below || c.contains(d.below) {
		return true
	}
	for b := d.below; b != nil; b = b.below {
		for i := range b.parts {
			if cta := b.parts[i].cta; !reaches(c.vec(cta), d.frozen(cta)) {
				return false
			}
		}
	}
	return true
}

// coversBelow is covers for a clock that does not change.
func (c *clock) coversBelow(d *clock) bool { return c.covers(&clock{below: d}) }

// reaches reports whether the slots v say at least what w says.
func reaches(v, w []uint32) bool {
	for j, x := range w {
		if x != 0 && (j >= len(v) || v[j] < x) {
			return false
		}
	}
	return true
}

// empty reports whether c knows nothing.
func (c *clock) empty() bool { return len(c.parts) == 0 && c.below == nil }

// reset forgets everything and keeps the storage.
func (c *clock) reset() {
	c.parts = c.parts[:0]
	c.hint, c.below = 0, nil
}

func (c *clock) clone() clock {
	d := clock{parts: make([]part, len(c.parts)), hint: c.hint, below: c.below}
	n := 0
	for i := range c.parts {
		n += len(c.parts[i].v)
	}
	buf := make([]uint32, 0, n)
	for i := range c.parts {
		at := len(buf)
		buf = append(buf, c.parts[i].v...)
		d.parts[i] = part{cta: c.parts[i].cta, v: buf[at:len(buf):len(buf)]}
	}
	return d
}
