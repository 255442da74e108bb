package machine

import (
	"encoding/binary"
	"math/bits"
)

// How an access is performed: the lanes' addresses, the memories that they fall
// in, bounds and alignment, the event, and the transfer.

// addressesOf computes the addresses that a names, for every lane, and
// reports whether they form a row: lane i at out[0] + i*size.
func (x *ctx) addressesOf(a *access, out *[32]uint64) bool {
	step := uint64(a.size)
	diff := uint64(0)
	switch a.base {
	case base32:
		row, off := x.a32(a.breg), uint32(a.off)
		want := uint64(row[0] + off)
		for i := range out {
			v := uint64(row[i] + off)
			out[i] = v
			diff |= v ^ want
			want += step
		}
	case base64:
		row, off := x.a64(a.breg), uint64(a.off)
		want := row[0] + off
		for i := range out {
			v := row[i] + off
			out[i] = v
			diff |= v ^ want
			want += step
		}
	default:
		v := uint64(a.off)
		if a.frame {
			v += uint64(x.s.lbase)
		}
		for i := range out {
			out[i] = v
		}
		return false
	}
	return diff == 0
}

// resolve maps an address in a space to a memory and an address there.
func (x *ctx) resolve(sp space, addr uint64) (MemID, uint64, bool) {
	m := x.m
	if sp == spOwn {
		mem, at, ok := x.resolve(spGeneric, addr)
		return mem, at, ok && mem == SharedOf(x.c.index)
	}
	if sp == spGeneric {
		switch {
		case addr-sharedWindow < windowSize:
			sp, addr = spCluster, addr-sharedWindow
		case addr-localWindow < windowSize, addr-paramWindow < windowSize:
			return Local, addr, false
		default:
			sp = spGlobal
		}
	}
	switch sp {
	case spGlobal, spConst:
		return Global, addr, m.global.find(addr) != nil
	case spShared, spCluster:
		cta, ok := x.sharedCTA(sp, addr)
		if !ok {
			return Local, addr, false
		}
		off := addr & (1<<rankShift - 1)
		r := &m.ctas[cta].shared
		return SharedOf(cta), off, off-r.base < r.size
	}
	return Local, addr, false
}

// sharedCTA returns the CTA whose shared memory a shared address points to: the
// top byte of a shared::cluster address is the CTA's rank.
func (x *ctx) sharedCTA(sp space, addr uint64) (int32, bool) {
	if addr>>32 != 0 {
		return 0, false
	}
	rank := int32(addr >> rankShift)
	if rank == x.c.rank || rank == 0 && sp == spShared {
		return x.c.index, true
	}
	if sp == spShared || rank >= x.c.g.size(x.c.first) {
		return 0, false
	}
	cta := x.c.g.clusterMember(x.c.first, rank)
	return cta, x.m.ctas[cta] != nil
}

// A where is one memory region of an access, and the lanes that access it.
type where struct {
	mem  MemID
	r    *region
	mask uint32
}

// locate resolves the addresses of the lanes in mask, in place: on return
// m.addr holds addresses in the lanes' memories. It returns the memory of the
// first lane and the lanes that share it.
func (x *ctx) locate(sp space, mask uint32, size int32, addr *[32]uint64) (where, bool) {
	first := lowest(mask)
	mem, a0, ok := x.resolve(sp, addr[first])
	if !ok {
		return where{}, false
	}
	var r *region
	var delta uint64
	if mem == Global {
		r = x.m.global.find(a0)
	} else {
		r = &x.m.ctas[mem.CTA()].shared
	}
	delta = addr[first] - a0
	// The lanes whose bytes all lie in the same region share it.
	lo, n := r.base+delta, r.size-uint64(size)
	if r.size < uint64(size) {
		return where{}, false
	}
	same := uint32(0)
	if mask == ^uint32(0) {
		for i := range addr {
			if addr[i]-lo <= n {
				same |= 1 << i
			}
		}
	} else {
		for k := mask; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			if addr[i]-lo <= n {
				same |= 1 << i
			}
		}
	}
	if same>>first&1 == 0 {
		return where{}, false
	}
	if delta != 0 {
		for k := same; k != 0; k &= k - 1 {
			addr[bits.TrailingZeros32(k)&31] -= delta
		}
	}
	return where{mem: mem, r: r, mask: same}, true
}

// fault ends the run at the first lane of mask whose access is bad.
func (x *ctx) fault(kind StopKind, a *access, lane int, addr uint64) verdict {
	mem, at, _ := x.resolve(a.space, addr)
	return x.m.halt(Stop{Kind: kind, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lane), Mask: x.s.mask, PC: x.s.pc,
		Mem: mem, Addr: at, Size: uint64(a.size), Acc: a.acc, Msg: a.space.String()})
}

// misaligned returns a lane of mask whose address is no multiple of size,
// a power of two, or -1.
func misaligned(mask uint32, addr *[32]uint64, size int32) int {
	low := uint64(size) - 1
	if mask == ^uint32(0) {
		or := uint64(0)
		for i := range addr {
			or |= addr[i]
		}
		if or&low == 0 {
			return -1
		}
	}
	for k := mask; k != 0; k &= k - 1 {
		if i := bits.TrailingZeros32(k) & 31; addr[i]&low != 0 {
			return i
		}
	}
	return -1
}

// wideAccess is the size of .v8 of 32 bits and .v4 of 64 bits, which .global alone has, and
// generic addresses that point there (ISA 9.7.9.8, 9.7.9.11).
const wideAccess = 32

// nearLane returns a lane whose wide access has a generic address in shared or local memory,
// or -1.
func nearLane(a *access, mask uint32, addr *[32]uint64) int {
	if a.size != wideAccess {
		return -1
	}
	for k := mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		if addr[i]-sharedWindow < windowSize || addr[i]-localWindow < windowSize {
			return i
		}
	}
	return -1
}

// spaceFault ends the run at a generic address in a state space that the access may not have.
func (x *ctx) spaceFault(a *access, lane int, addr uint64) verdict {
	v := x.fault(FaultBounds, a, lane, addr)
	x.m.stop.Msg = GlobalOnly
	return v
}

// visitAccess performs a load or a store.
func visitAccess(x *ctx, in *instr, mask uint32) verdict {
	a := in.x.(*access)
	m := x.m
	addr := &m.addr
	x.quiet = a.acc&Write == 0
	x.idle = x.quiet
	if x.addressesOf(a, addr) && mask == ^uint32(0) && addr[0]&uint64(a.size-1) == 0 {
		if at, ok := x.locateRow(a, addr); ok {
			x.perform(a, at, true)
			return performed
		}
	}
	if l := misaligned(mask, addr, a.size); l >= 0 {
		return x.fault(FaultAlign, a, l, addr[l])
	}
	if a.space == spGeneric {
		if l := nearLane(a, mask, addr); l >= 0 {
			return x.spaceFault(a, l, addr[l])
		}
		mask = x.localLanes(in, a, mask)
	}
	for mask != 0 {
		at, ok := x.locate(a.space, mask, a.size, addr)
		if !ok && a.space == spGlobal && addr[lowest(mask)]-paramWindow < windowSize {
			// A kernel parameter by its global address.
			mask = x.localLanes(in, a, mask)
			continue
		}
		if !ok || a.acc&Write != 0 && at.r.fixed {
			l := lowest(mask)
			return x.fault(FaultBounds, a, l, addr[l])
		}
		x.perform(a, at, false)
		mask &^= at.mask
	}
	return performed
}

// perform shows an access that lies within one region and does it.
func (x *ctx) perform(a *access, at where, row bool) {
	if x.m.cfg.Observer != nil {
		x.accessEvent(a, at, row)
	}
	if a.acc&Write != 0 {
		if x.m.versioned(a) {
			x.storeVersions(a, at)
		} else {
			x.store(a, at, row)
		}
		if u := x.m.undefined(); u != nil {
			u.stored(x, a, at)
		}
		x.reaches(a, at, true)
		return
	}
	if x.took != nil || x.m.aliases(a) {
		x.loadVersions(a, at)
	} else {
		x.load(a, at, row)
	}
	if u := x.m.undefined(); u != nil {
		u.loaded(x, a, at)
	}
	if p := x.m.cfg.Poison; p.at(x.s.pc) && at.mem != Global {
		x.poison(a, at, p)
	}
	if a.poll {
		x.polled(a, at)
	}
	x.look(a, at)
	x.reaches(a, at, false)
}

// poison overwrites what the lanes loaded from uninitialized bytes.
func (x *ctx) poison(a *access, at where, p *Poison) {
	for l := range lanesOf(at.mask) {
		for e := int32(0); e < a.n; e++ {
			off := x.m.addr[l] - at.r.base + uint64(e*a.elem)
			if a.skip[e] || at.r.initialized(off, uint64(a.elem)) {
				continue
			}
			var b [16]byte
			at.r.read(off, b[:a.elem])
			p.fill(at.r, off, b[:a.elem])
			word := binary.LittleEndian.Uint64(b[:])
			if a.sext {
				word = extend(word, uint(8*a.elem))
			}
			switch {
			case a.t == b128:
				x.w64(a.regs[e])[l], x.w64(a.regs[e] + 1)[l] = word, binary.LittleEndian.Uint64(b[8:])
			case a.wide[e]:
				x.w64(a.regs[e])[l] = word
			case a.half[e]:
				x.w32(a.regs[e])[l] = uint32(word & 0xffff)
			default:
				x.w32(a.regs[e])[l] = uint32(word)
			}
		}
	}
}

// locateRow is locate for a full warp that accesses a row: one range check covers
// all lanes.
func (x *ctx) locateRow(a *access, addr *[32]uint64) (where, bool) {
	mem, a0, ok := x.resolve(a.space, addr[0])
	if !ok {
		return where{}, false
	}
	var r *region
	if mem == Global {
		r = x.m.global.find(a0)
	} else {
		r = &x.m.ctas[mem.CTA()].shared
	}
	if !r.within(a0-r.base, 32*uint64(a.size)) || a.acc&Write != 0 && r.fixed || a.size == wideAccess && mem != Global {
		return where{}, false
	}
	if delta := addr[0] - a0; delta != 0 {
		for i := range addr {
			addr[i] -= delta
		}
	}
	return where{mem: mem, r: r, mask: ^uint32(0)}, true
}

// accessEvent shows an access to the observer. A strong access of several elements
// is one access for each of them, in no order (ISA 8.2.4), and so are the halves of
// a packed type (8.2.5): each has an event of its own.
func (x *ctx) accessEvent(a *access, at where, row bool) {
	m := x.m
	ev := &m.ev
	ev.at(EvAccess, x, at.mask)
	ev.Access, ev.Sem, ev.Scope, ev.Proxy, ev.Row = a.acc, a.sem, a.scope, a.proxy, row
	ev.SemDefaulted, ev.ScopeDefaulted = a.semDefaulted, a.scopeDefaulted
	ev.Mem, ev.Size, ev.Addr, ev.Init = at.mem, a.size, &m.addr, at.mask
	ev.Val, ev.storing, ev.by, ev.Part, ev.Whole = nil, nil, x, 0, 0
	ev.took, ev.First = x.took, false
	ev.Pick, ev.Picks = x.takes(0)
	if !ev.Picks && m.keepsAll(a) {
		ev.Picks, ev.Pick = true, m.Last(m.word(Word{at.mem, m.addr[lowest(at.mask)], a.size}))
	}
	if ev.Fails = x.failsToSwap(a, at); ev.Fails {
		ev.Access = Read
	}
	if a.acc == Write && a.atom == atomNone {
		ev.storing = a
	}
	if part := x.part(a); part < a.size {
		x.partEvents(a, at, part)
		return
	}
	if a.acc&(Read|Update) != 0 {
		ev.Init = x.initialized(at, row, a.size)
	}
	m.cfg.Observer.Observe(m, ev)
}

// wholeVector is how many bytes of an aligned load or store the card delivers at
// once.
const wholeVector = 16

// part returns how many bytes form one access in the memory model. For weak
// accesses it does not matter: they stay whole.
func (x *ctx) part(a *access) int32 {
	part := a.elem
	switch {
	case a.sem == Weak:
		return a.size
	case a.atom == atomNone && x.m.cfg.VectorAtomic:
		part = min(a.size, wholeVector)
	case a.t.packed():
		part /= 2
	}
	return part
}

// partEvents shows the observer one event for each part of an access.
func (x *ctx) partEvents(a *access, at where, part int32) {
	m := x.m
	whole := m.addr
	ev := &m.ev
	ev.Size, ev.Whole, ev.Row = part, a.size, false
	ev.First = true
	for n := int32(0); n < a.size/part; n++ {
		if a.sinks(n*part, part) {
			for i := range m.addr {
				m.addr[i] += uint64(part)
			}
			continue
		}
		ev.Part = n * part
		ev.Pick, ev.Picks = x.takes(n)
		if a.acc&(Read|Update) != 0 {
			ev.Init = x.initialized(at, false, part)
		}
		ev.Val = nil
		m.cfg.Observer.Observe(m, ev)
		ev.First = false
		for i := range m.addr {
			m.addr[i] += uint64(part)
		}
	}
	m.addr = whole
}

// storeValues gathers what a store writes, lane by lane, in words of 8 bytes.
func (x *ctx) storeValues(a *access) [][32]uint64 {
	v := x.m.vals[:(a.size+7)/8]
	if a.n > 1 {
		clear(v)
	}
	for e := int32(0); e < a.n; e++ {
		word, shift := e*a.elem/8, uint(e*a.elem%8*8)
		switch r := a.regs[e]; {
		case a.skip[e]:
			return nil
		case a.t == b128:
			v[word], v[word+1] = *x.a64(r), *x.a64(r + 1)
		case a.n > 1:
			x.packValue(&v[word], a, e, shift)
		case a.wide[e]:
			v[0] = *x.a64(r)
			mask := ^uint64(0) >> (64 - 8*uint(a.elem))
			for i := range v[0] {
				v[0][i] &= mask
			}
		default:
			row, mask := x.a32(r), ^uint32(0)>>(32-8*uint(a.elem))
			for i := range v[0] {
				v[0][i] = uint64(row[i] & mask)
			}
		}
	}
	return v
}

// packValue puts one element of a vector store at its place in a word.
func (x *ctx) packValue(v *[32]uint64, a *access, e int32, shift uint) {
	mask := ^uint64(0) >> (64 - 8*uint(a.elem))
	if a.wide[e] {
		for i, y := range x.a64(a.regs[e]) {
			v[i] |= y & mask << shift
		}
		return
	}
	for i, y := range x.a32(a.regs[e]) {
		v[i] |= uint64(y) & mask << shift
	}
}

// initialized returns the lanes whose bytes have all been written.
func (x *ctx) initialized(at where, row bool, size int32) uint32 {
	addr := &x.m.addr
	if row && at.r.initialized(addr[0]-at.r.base, 32*uint64(size)) {
		return at.mask
	}
	ok := uint32(0)
	for k := at.mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		if at.r.initialized(addr[i]-at.r.base, uint64(size)) {
			ok |= 1 << i
		}
	}
	return ok
}

func (x *ctx) load(a *access, at where, row bool) {
	addr, r := &x.m.addr, at.r
	if row && a.n == 1 && a.elem == 4 && !a.wide[0] && !a.skip[0] {
		off := addr[0] - r.base
		if o := off % pageBytes / 4; o <= pageWords-32 {
			d := x.w32(a.regs[0])
			if p := r.pages[off/pageBytes]; p != nil {
				copy(d[:], p.words[o:o+32])
			} else {
				*d = [32]uint32{}
			}
			return
		}
	}
	for e := int32(0); e < a.n; e++ {
		if !a.skip[e] {
			x.loadElem(a, r, at.mask, e)
		}
	}
}

func (x *ctx) loadElem(a *access, r *region, mask uint32, e int32) {
	addr := &x.m.addr
	shift := uint64(e*a.elem) - r.base
	if a.t == b128 {
		lo, hi := x.w64(a.regs[e]), x.w64(a.regs[e]+1)
		for k := mask; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			lo[i], hi[i] = r.load(addr[i]+shift, 8), r.load(addr[i]+shift+8, 8)
		}
		return
	}
	if a.wide[e] {
		d := x.w64(a.regs[e])
		for k := mask; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			v := r.load(addr[i]+shift, a.elem)
			if a.sext {
				sh := 64 - 8*uint(a.elem)
				v = uint64(int64(v<<sh) >> sh)
			}
			d[i] = v
		}
		return
	}
	d := x.w32(a.regs[e])
	if a.elem == 4 {
		for k := mask; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			d[i] = r.load32(addr[i] + shift)
		}
		return
	}
	for k := mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		v := uint32(r.load(addr[i]+shift, a.elem))
		if a.sext {
			sh := 32 - 8*uint(a.elem)
			v = uint32(int32(v<<sh) >> sh)
			if a.half[e] {
				v &= 0xffff
			}
		}
		d[i] = v
	}
}

func (x *ctx) store(a *access, at where, row bool) {
	addr, r, owner := &x.m.addr, at.r, x.m.owner
	if row && a.n == 1 && a.elem == 4 && !a.wide[0] {
		off := addr[0] - r.base
		if o := off % pageBytes / 4; o <= pageWords-32 {
			p := r.write(off, owner)
			copy(p.words[o:o+32], x.a32(a.regs[0])[:])
			p.clean(off%pageBytes, 128)
			if !p.full {
				p.mark(uint32(off%pageBytes), 128)
			}
			return
		}
	}
	for k := at.mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		off := addr[i] - r.base
		for e := int32(0); e < a.n; e++ {
			if a.skip[e] {
				continue
			}
			if a.t == b128 {
				r.store(off, 8, x.a64(a.regs[e])[i], owner)
				r.store(off+8, 8, x.a64(a.regs[e] + 1)[i], owner)
			} else if a.wide[e] {
				r.store(off, a.elem, x.a64(a.regs[e])[i], owner)
			} else {
				r.store(off, a.elem, uint64(x.a32(a.regs[e])[i]), owner)
			}
			off += uint64(a.elem)
		}
	}
}

// polled remembers what a strong read saw, for a loop that waits for it to
// change.
func (x *ctx) polled(a *access, at where) {
	regs := uint64(0)
	if x.m.versions != nil {
		regs = x.m.stateHash(x)
	}
	n := x.grain(a)
	for k := at.mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		for o := int32(0); o < a.size; o += n {
			adr := x.m.addr[i] + uint64(o)
			x.s.note(await{pc: x.s.pc, mem: at.mem, addr: adr, size: min(a.size-o, n), val: x.saw(a, at, i, o), ver: x.sawVersion(a, at, i, o), regs: regs, lanes: at.mask})
		}
	}
}

func (x *ctx) fill32(r reg, mask uint32, v uint32) {
	d := x.w32(r)
	for k := mask; k != 0; k &= k - 1 {
		d[bits.TrailingZeros32(k)&31] = v
	}
}

func (x *ctx) fill64(r reg, mask uint32, v uint64) {
	d := x.w64(r)
	for k := mask; k != 0; k &= k - 1 {
		d[bits.TrailingZeros32(k)&31] = v
	}
}
