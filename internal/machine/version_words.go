package machine

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Accesses to several words. A vector access is one access for each element, in no order (ISA
// 8.2.4), and one of a packed type is one for each half (8.2.5): each takes a version of its own
// word. They are performed in one step. That leaves out nothing for loads, of which nothing comes
// before the instruction is over, and for stores, which take nothing from others; an element of an
// atomic operation could read what comes after another one's write, which is load buffering
// (package coherence).

// maxWords is the most words of a lane's access: v8, and v4 of a packed type.
const maxWords = 8

// Picked returns the versions that a Pick takes, word by word.
func (c Choice) Picked() []Version {
	list := make([]Version, 1, 1+len(c.Rest)/8)
	list[0] = Version(c.Op)
	for rest := []byte(c.Rest); len(rest) >= 8; rest = rest[8:] {
		list = append(list, Version(binary.LittleEndian.Uint64(rest)))
	}
	return list
}

// taking returns the choice with these versions.
func (c Choice) taking(list []Version) Choice {
	c.Op, c.Rest = int64(list[0]), ""
	if len(list) > 1 {
		b := make([]byte, 0, 8*maxWords)
		for _, v := range list[1:] {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		c.Rest = string(b)
	}
	return c
}

// TakesAny reports whether a choice that names its versions has one of some.
func (c Choice) TakesAny(of []Version) bool {
	return len(of) > 0 && slices.ContainsFunc(c.Picked(), func(v Version) bool { return slices.Contains(of, v) })
}

// PickAt returns the version that a lane of an access picks of its word at an address; false: the
// last.
func (ev *Event) PickAt(lane int, addr uint64) (Version, bool) {
	if ev.Whole == 0 {
		return ev.Pick, ev.Picks
	}
	n := int64(addr-(ev.Addr[lane]-uint64(ev.Part))) / int64(ev.Size)
	if n < 0 || n >= int64(len(ev.took)) {
		return Initial, false
	}
	return ev.took[n], true
}

func pickText(list []Version) string {
	text := make([]string, len(list))
	for i, v := range list {
		text[i] = v.String()
	}
	return strings.Join(text, "+")
}

func parsePicks(text string) ([]Version, error) {
	parts := strings.Split(text, "+")
	if len(parts) > maxWords {
		return nil, fmt.Errorf("an access has at most %d words", maxWords)
	}
	list := make([]Version, len(parts))
	for i, t := range parts {
		var err error
		if list[i], err = parseVersion(t); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// A stand is a split before a strong access whose versions are kept, and the words of one lane.
type stand struct {
	a     *access
	w     *warp
	s     *split
	words []Word
}

// stand returns where the lane of a choice stands; false: before another instruction.
func (m *Machine) stand(c Choice) (at stand, ok bool) {
	if m.versions == nil || c.Kind != Run && c.Kind != Alone && c.Kind != Pick {
		return at, false
	}
	at.w = m.ctas[c.CTA].warps[c.Warp]
	if at.s = at.w.find(c.Lane); at.s == nil || at.s.state != atPoint {
		return at, false
	}
	in := &m.prog.code[at.s.pc]
	if at.a, ok = in.x.(*access); !ok || in.class != visible || !m.versioned(at.a) {
		return at, false
	}
	x := m.enter(at.w, at.s)
	x.addressesOf(at.a, &m.addr)
	mem, addr, ok := x.resolve(at.a.space, m.addr[c.Lane])
	size := x.part(at.a)
	for o := int32(0); o < at.a.size; o += size {
		at.words = append(at.words, m.word(Word{mem, addr + uint64(o), size}))
	}
	return at, ok
}

// WordsOf returns the words that the lane of a choice is about to access by a strong operation
// whose versions are kept, nil if there is none.
func (m *Machine) WordsOf(c Choice) []Word {
	at, ok := m.stand(c)
	if !ok {
		return nil
	}
	return at.words
}

// Named returns a choice that takes the last version of each word with their names, where a Pick
// has those that it takes.
func (m *Machine) Named(c Choice) Choice {
	if at, ok := m.stand(c); ok {
		return c.taking(m.lasts(at.words))
	}
	return c
}

func (m *Machine) lasts(words []Word) []Version {
	list := make([]Version, len(words))
	for i, w := range words {
		list[i] = m.Last(w)
	}
	return list
}

// picksOfWords is picks for a lane's access to several words: those that take another version than
// the last of one word alone. Mixed combines them.
func (m *Machine) picksOfWords(c Choice, buf []Choice) []Choice {
	at, ok := m.stand(c)
	if !ok {
		return buf
	}
	last := m.lasts(at.words)
	for n, word := range at.words {
		list := m.current(word)
		for i := len(list) - 2; i >= 0; i-- {
			took := slices.Clone(last)
			if took[n] = list[i].name; m.mayTake(at.a, word, took[n]) && !m.repeats(&at, took) {
				buf = append(buf, c.taking(took))
			}
		}
	}
	return buf
}

// mayTake reports whether an access may take a version of a word: a write may not come between
// the two halves of a read-modify-write.
func (m *Machine) mayTake(a *access, word Word, v Version) bool {
	list := m.current(word)
	i := slices.IndexFunc(list, func(o written) bool { return o.name == v })
	if i < 0 {
		return len(list) == 0 && v == Initial
	}
	return i == len(list)-1 || a.acc&Write == 0 || !list[i+1].update
}

// repeats reports whether a split would read what it read at its PC before, with the same
// registers and no effect in between: that is no step.
func (m *Machine) repeats(at *stand, took []Version) bool {
	if len(at.s.awaits) == 0 {
		return false
	}
	regs := m.stateHash(m.enter(at.w, at.s))
	for n, word := range at.words {
		before := at.s.tookHere(word.Mem, word.Addr)
		if before == nil || before.regs != regs || before.ver != took[n] {
			return false
		}
	}
	return true
}

// mayPick reports whether a Pick of an access to several words is possible.
func (m *Machine) mayPick(c Choice) bool {
	at, ok := m.stand(c)
	took := c.Picked()
	if !ok || len(took) != len(at.words) {
		return false
	}
	for n, word := range at.words {
		if !m.mayTake(at.a, word, took[n]) {
			return false
		}
	}
	return !slices.Equal(took, m.lasts(at.words)) && !m.repeats(&at, took)
}

// Mixed returns the Picks that take other versions than the last of several words, of those that
// list has for one word each; false: of some lane there are more than most.
func (m *Machine) Mixed(list []Choice, most int) (out []Choice, ok bool) {
	for len(list) > 0 {
		first, n := list[0], 1
		for n < len(list) && list[n].Kind == first.Kind && list[n].CTA == first.CTA && list[n].Warp == first.Warp && list[n].Lane == first.Lane {
			n++
		}
		if first.Kind == Pick && first.Rest != "" && n > 1 {
			if out, ok = m.mixed(list[:n], most, out); !ok {
				return out, false
			}
		}
		list = list[n:]
	}
	return out, true
}

// mixed appends the combinations of a lane's Picks.
func (m *Machine) mixed(list []Choice, most int, out []Choice) ([]Choice, bool) {
	at, ok := m.stand(list[0])
	if !ok {
		return out, true
	}
	ways := make([][]Version, len(at.words)) // by word, the last first
	for n, last := range m.lasts(at.words) {
		ways[n] = []Version{last}
		for _, c := range list {
			if v := c.Picked()[n]; v != last {
				ways[n] = append(ways[n], v)
			}
		}
	}
	all := 1
	for _, of := range ways {
		if all *= len(of); all > most {
			return out, false
		}
	}
	for i := range all {
		took, older, rest := make([]Version, len(ways)), 0, i
		for n, of := range ways {
			took[n] = of[rest%len(of)]
			if rest%len(of) > 0 {
				older++
			}
			rest /= len(of)
		}
		if older > 1 && !m.repeats(&at, took) {
			out = append(out, list[0].taking(took))
		}
	}
	return out, true
}

// grain is how many bytes of an access are remembered as one read.
func (x *ctx) grain(a *access) int32 {
	if x.m.versioned(a) {
		return min(x.part(a), 8)
	}
	return 8
}

// saw returns what a lane read from byte o of its access on, grain bytes at most. If that is of an
// older version, the lane may read the newer one when it comes here again.
func (x *ctx) saw(a *access, at where, l int, o int32) uint64 {
	if x.took != nil {
		size := x.part(a)
		if v, ok := x.picked(x.word(a, at, l, o/size), o/size); ok && o%size == 0 {
			return v.lo
		} else if ok {
			return v.hi
		}
	}
	return at.r.load(x.m.addr[l]+uint64(o)-at.r.base, min(a.size-o, x.grain(a)))
}

// sawVersion returns the version of which a lane read byte o of its access. Of an access to one
// word that counts only if it was picked.
func (x *ctx) sawVersion(a *access, at where, l int, o int32) Version {
	if !x.m.versioned(a) {
		return Initial
	}
	size := x.part(a)
	if v, ok := x.takes(o / size); ok || size == a.size {
		return v
	}
	return x.m.Last(x.word(a, at, l, o/size))
}

// word returns word n of a lane's access.
func (x *ctx) word(a *access, at where, l int, n int32) Word {
	size := x.part(a)
	return x.m.word(Word{at.mem, x.m.addr[l] + uint64(n*size), size})
}

// sinks reports whether all of some bytes of a store have a sink, so that nothing is written there
// (ISA 9.7.9.12).
func (a *access) sinks(from, size int32) bool {
	if a.acc != Write || a.atom != atomNone {
		return false
	}
	for e := from / a.elem; e*a.elem < from+size; e++ {
		if !a.skip[e] {
			return false
		}
	}
	return true
}

// storeVersions performs a strong store lane by lane, and adds its versions.
func (x *ctx) storeVersions(a *access, at where) {
	size := x.part(a)
	var b [wideAccess]byte
	for l := range lanesOf(at.mask) {
		at.r.read(x.m.addr[l]-at.r.base, b[:a.size]) // sinks among others keep it
		for e := range a.n {
			if !a.skip[e] {
				putValue(b[e*a.elem:(e+1)*a.elem], x.stored(a, e, l))
			}
		}
		for n := range a.size / size {
			if !a.sinks(n*size, size) {
				x.writeWord(a, at, l, n, valueOf(b[n*size:(n+1)*size]), false)
			}
		}
		x.wrote(l, a.size/size)
	}
}

// writeWord adds a version of word n of a lane's access, and stores it unless memory holds a later
// one.
func (x *ctx) writeWord(a *access, at where, l int, n int32, v wideValue, update bool) {
	w := x.word(a, at, l, n)
	if !x.addVersion(w, n, l, v, update) {
		return
	}
	off := w.Addr - at.r.base
	at.r.store(off, min(w.Size, 8), v.lo, x.m.owner)
	if w.Size == 16 {
		at.r.store(off+8, 8, v.hi, x.m.owner)
	}
}

func putValue(b []byte, v wideValue) {
	var w [16]byte
	binary.LittleEndian.PutUint64(w[:], v.lo)
	binary.LittleEndian.PutUint64(w[8:], v.hi)
	copy(b, w[:])
}

func valueOf(b []byte) wideValue {
	var w [16]byte
	copy(w[:], b)
	return wideValue{binary.LittleEndian.Uint64(w[:]), binary.LittleEndian.Uint64(w[8:])}
}

// stored returns what a lane stores in an element.
func (x *ctx) stored(a *access, e int32, l int) wideValue {
	switch {
	case a.t == b128:
		return wideValue{x.a64(a.regs[e])[l], x.a64(a.regs[e] + 1)[l]}
	case a.wide[e]:
		return wideValue{lo: x.a64(a.regs[e])[l]}
	}
	return wideValue{lo: uint64(x.a32(a.regs[e])[l])}
}

// readWords puts what the access of a lane takes of the words from byte o on in place of what
// memory holds, b.
func (x *ctx) readWords(a *access, at where, l int, o int32, b []byte) {
	size := x.part(a)
	for n := o / size; n*size < o+int32(len(b)); n++ {
		w := x.word(a, at, l, n)
		v, ok := x.picked(w, n)
		if !ok && x.m.aliases(a) {
			v.lo, v.hi = x.m.contents(w)
			ok = true
		}
		if ok {
			putValue(b[n*size-o:(n+1)*size-o], v)
		}
	}
}

// loadVersions loads the versions that the access of one lane takes.
func (x *ctx) loadVersions(a *access, at where) {
	l := lowest(at.mask)
	var b [wideAccess]byte
	at.r.read(x.m.addr[l]-at.r.base, b[:a.size])
	x.readWords(a, at, l, 0, b[:a.size])
	for e := range a.n {
		if !a.skip[e] {
			x.deliver(a, e, l, valueOf(b[e*a.elem:(e+1)*a.elem]))
		}
	}
}

// deliver gives a lane the value of an element that it loads.
func (x *ctx) deliver(a *access, e int32, l int, v wideValue) {
	if a.sext {
		sh := 64 - 8*uint(a.elem)
		v.lo = uint64(int64(v.lo<<sh) >> sh)
	}
	switch {
	case a.t == b128:
		x.w64(a.regs[e])[l], x.w64(a.regs[e] + 1)[l] = v.lo, v.hi
	case a.wide[e]:
		x.w64(a.regs[e])[l] = v.lo
	case a.half[e]:
		x.w32(a.regs[e])[l] = uint32(v.lo & 0xffff)
	default:
		x.w32(a.regs[e])[l] = uint32(v.lo)
	}
}

// taken returns what an atomic operation of a lane reads of an element, of which memory holds old.
func (x *ctx) taken(a *access, at where, l int, e int32, old wideValue) wideValue {
	if x.took == nil {
		return old
	}
	var b [16]byte
	putValue(b[:], old)
	x.readWords(a, at, l, e*a.elem, b[:a.elem])
	return valueOf(b[:a.elem])
}

// updateWords adds the versions of an element that an atomic operation of a lane writes.
func (x *ctx) updateWords(a *access, at where, l int, e int32, v wideValue) {
	var b [16]byte
	putValue(b[:], v)
	size := x.part(a)
	for o := int32(0); o < a.elem; o += size {
		x.writeWord(a, at, l, (e*a.elem+o)/size, valueOf(b[o:o+size]), true)
	}
}
