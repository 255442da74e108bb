package order

// A clock is a vector clock over the slots of CTAs. Each CTA assigns its own slots
// (slots.go): 0 for its start, then its warps, then lanes and barriers on demand. An
// unobserved CTA has no part, so in a grid of CTAs that never synchronize each clock
// holds one part.
type clock struct {
	parts []part // ascending CTA
	hint  int    // where the last search ended
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
	return nil
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
	p := c.ensure(cta, slot+1)
	if p.v[slot] >= val {
		return false
	}
	p.v[slot] = val
	return true
}

// join makes c know what src knows, and reports whether that was news.
func (c *clock) join(src *clock) bool {
	news := false
	for i := range src.parts {
		s := &src.parts[i]
		var p *part
		if i < len(c.parts) && c.parts[i].cta == s.cta {
			p = &c.parts[i]
			p.v = grown(p.v, len(s.v))
		} else {
			p = c.ensure(s.cta, len(s.v))
		}
		d := p.v[:len(s.v)]
		for j, x := range s.v {
			if x > d[j] {
				d[j] = x
				news = true
			}
		}
	}
	return news
}

// covers reports whether c knows all that d knows.
func (c *clock) covers(d *clock) bool {
	for i := range d.parts {
		q := &d.parts[i]
		v := c.vec(q.cta)
		for j, x := range q.v {
			if x != 0 && (j >= len(v) || v[j] < x) {
				return false
			}
		}
	}
	return true
}

// reset forgets everything and keeps the storage.
func (c *clock) reset() {
	c.parts = c.parts[:0]
	c.hint = 0
}

func (c *clock) clone() clock {
	d := clock{parts: make([]part, len(c.parts)), hint: c.hint}
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
