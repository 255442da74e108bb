package machine

import (
	"fmt"
	"maps"
	"slices"

	"muster/ptx"
)

// Executions that are no interleavings. A strong read may return a value that has been
// overwritten, and a strong write may come before others in coherence order (ISA 8.9.6), where
// the axioms of 8.10 leave that open. A machine that keeps versions holds, beside memory, what
// strong operations wrote to each word, in coherence order; the last of them is what memory
// holds. The choice Pick names the version that an access reads, or that it follows: any other
// access takes the last. An access to several words takes a version of each (version_words.go).
// The machine offers all versions; which of them the axioms allow is for others to say (package
// coherence).

// A Version names one write of a word: the lane that made it, and which one of that lane's
// strong writes it is. Initial is what strong operations found: the contents at the beginning,
// or what a weak write left.
type Version int64

// Initial is the version that no strong operation wrote.
const Initial Version = 0

const (
	turnBits = 24
	laneBits = 5
	warpBits = 6
)

func version(cta, warp int32, lane int, turn uint32) Version {
	who := (int64(cta)<<warpBits|int64(warp))<<laneBits | int64(lane)
	return Version(isWrite | who<<turnBits | int64(turn))
}

// isWrite marks a version that is not Initial.
const isWrite = 1 << 62

// By returns the lane that made a version, and how many strong writes it had made before.
func (v Version) By() (cta, warp int32, lane int8, turn int32) {
	n := int64(v) &^ isWrite
	turn = int32(n & (1<<turnBits - 1))
	n >>= turnBits
	lane = int8(n & (1<<laneBits - 1))
	n >>= laneBits
	return int32(n >> warpBits), int32(n & (1<<warpBits - 1)), lane, turn
}

func (v Version) String() string {
	if v == Initial {
		return "i"
	}
	cta, warp, lane, turn := v.By()
	return fmt.Sprintf("%d.%d.%d:%d", cta, warp, lane, turn)
}

func parseVersion(text string) (v Version, err error) {
	if text == "i" {
		return Initial, nil
	}
	var cta, warp, turn int32
	var lane int8
	if _, err = fmt.Sscanf(text, "%d.%d.%d:%d", &cta, &warp, &lane, &turn); err != nil {
		return 0, err
	}
	if cta < 0 || warp < 0 || warp >= 1<<warpBits || lane < 0 || lane > 31 || turn < 0 || turn >= 1<<turnBits {
		return 0, fmt.Errorf("%q names no write", text)
	}
	return version(cta, warp, int(lane), uint32(turn)), nil
}

// A Word is what one strong access of the memory model touches: a scalar, an element of a
// vector (ISA 8.2.4), or half of a packed value (8.2.5).
type Word struct {
	Mem  MemID
	Addr uint64
	Size int32
}

// A written is a value of a word.
type written struct {
	name   Version
	lo, hi uint64
	update bool // by a read-modify-write, which read the one before it
}

// versions is what a machine keeps of words.
type versions struct {
	words map[Word][]written // in coherence order
	turns map[lanePlace]uint32
	// shuffled are the words of which some write came before others that were there.
	shuffled map[Word]bool
	// all: of weak accesses too, in the order of the steps (allversions.go).
	all  bool
	same func(Word) Word
}

type lanePlace struct {
	cta, warp int32
	lane      int
}

func (v *versions) clone() *versions {
	if v == nil {
		return nil
	}
	c := &versions{words: make(map[Word][]written, len(v.words)), turns: maps.Clone(v.turns), shuffled: maps.Clone(v.shuffled), all: v.all, same: v.same}
	for w, list := range v.words {
		c.words[w] = slices.Clone(list)
	}
	return c
}

// KeepVersions makes the machine, which has not begun, keep the versions of words.
func (m *Machine) KeepVersions() {
	if m.versions != nil {
		return
	}
	m.versions = &versions{words: map[Word][]written{}, turns: map[lanePlace]uint32{}, shuffled: map[Word]bool{}}
}

// KeepsVersions reports whether KeepVersions was called.
func (m *Machine) KeepsVersions() bool { return m.versions != nil }

// NextVersion returns the name of the next strong write of a lane.
func (m *Machine) NextVersion(cta, warp int32, lane int) Version {
	return version(cta, warp, lane, m.versions.turns[lanePlace{cta, warp, lane}])
}

// Last returns the version of a word that memory holds.
func (m *Machine) Last(w Word) Version {
	list := m.current(w)
	if len(list) == 0 {
		return Initial
	}
	return list[len(list)-1].name
}

// Shuffled reports whether some write of a word came before one that was there: turns are not in
// coherence order then. A read that takes an older version leaves them so.
func (m *Machine) Shuffled(w Word) bool { return m.versions != nil && m.versions.shuffled[w] }

// current returns the versions of a word. Where memory holds something else than the last, a
// weak operation wrote it since; it ends them: without a race, all that comes later follows it.
func (m *Machine) current(w Word) []written {
	list := m.versions.words[w]
	if n := len(list); n > 0 {
		if lo, hi := m.contents(w); lo != list[n-1].lo || hi != list[n-1].hi {
			delete(m.versions.words, w)
			return nil
		}
	}
	return list
}

// contents returns what memory holds of a word.
func (m *Machine) contents(w Word) (lo, hi uint64) {
	r, off := m.memory(w.Mem, w.Addr)
	if w.Size == 16 {
		return r.load(off, 8), r.load(off+8, 8)
	}
	return r.load(off, w.Size), 0
}

// versioned reports whether an access is one of those whose versions are kept.
func (m *Machine) versioned(a *access) bool {
	return m.versions != nil && (a.sem != Weak || m.versions.all) && a.proxy == Generic && a.space != spLocal && a.space != spConst && a.space != spParam
}

// addVersion adds a version of word n of a lane's access, last or after the one that it takes, and
// reports whether memory holds it now.
func (x *ctx) addVersion(w Word, n int32, l int, v wideValue, update bool) (last bool) {
	m := x.m
	list := m.current(w)
	if len(list) == 0 {
		was, wasHi := m.contents(w)
		list = []written{{name: Initial, lo: was, hi: wasHi}}
	}
	who := lanePlace{x.w.cta, x.w.index, l}
	at := len(list)
	if took, ok := x.takes(n); ok && !m.versions.all {
		for i := range list {
			if list[i].name == took {
				at = i + 1
			}
		}
	}
	if last = at == len(list); !last {
		m.versions.shuffled[w] = true
	}
	name := version(who.cta, who.warp, l, m.versions.turns[who]+uint32(n))
	m.versions.words[w] = slices.Insert(list, at, written{name, v.lo, v.hi, update})
	return last
}

// wrote ends a lane's strong write of n words, whose versions have their names in the order of the
// words.
func (x *ctx) wrote(l int, n int32) {
	x.m.versions.turns[lanePlace{x.w.cta, x.w.index, l}] += uint32(n)
}

// takes returns the version that the access takes of word n; false: the last.
func (x *ctx) takes(n int32) (Version, bool) {
	if int(n) >= len(x.took) {
		return Initial, false
	}
	return x.took[n], true
}

// picked returns the value of the version that a read takes of word n, if it names one.
func (x *ctx) picked(w Word, n int32) (v wideValue, ok bool) {
	took, ok := x.takes(n)
	if !ok {
		return v, false
	}
	if x.m.supply != nil {
		return wideValue{*x.m.supply, 0}, true
	}
	list := x.m.current(w)
	for i := range list {
		if list[i].name == took {
			return wideValue{list[i].lo, list[i].hi}, true
		}
	}
	return v, false
}

// picks appends the choices of the lanes of a split that stands before a strong access: the
// versions of the word other than the last that it could read, or follow. A read-modify-write
// follows the one that it reads at once, so none that another one has read; and no write comes
// between such a pair. Of a wait in a loop, those that end it.
func (m *Machine) picks(w *warp, s *split, buf []Choice) []Choice {
	if m.versions == nil || s.state != atPoint {
		return buf
	}
	in := &m.prog.code[s.pc]
	a, ok := in.x.(*access)
	if !ok || in.class != visible || !m.versioned(a) || m.versions.all && a.acc == Write {
		return buf
	}
	x := m.enter(w, s)
	if x.part(a) < a.size {
		for l := range lanesOf(s.mask) {
			buf = m.picksOfWords(Choice{Kind: Pick, CTA: w.cta, Warp: w.index, Lane: int8(l)}, buf)
		}
		return buf
	}
	x.addressesOf(a, &m.addr)
	addr := m.addr
	poll := m.prog.Polls()[s.pc]
	regs := m.stateHash(x)
	for l := range lanesOf(s.mask) {
		mem, at, ok := x.resolve(a.space, addr[l])
		if !ok {
			continue
		}
		list := m.current(m.word(Word{mem, at, a.size}))
		took := s.tookHere(mem, at)
		for i := len(list) - 2; i >= 0; i-- {
			v := &list[i]
			if took != nil && took.regs == regs && v.lo == took.val && (v.name == took.ver || v.by(w, l)) {
				continue
			}
			writes := a.acc&Write != 0 && !(a.atom == atomCas && x.comparesUnequal(in, a, v, l))
			if writes && list[i+1].update && !m.versions.all || poll != nil && !poll.Ends(v.lo, m.ComparedWith(poll, l)) {
				continue
			}
			buf = append(buf, Choice{Kind: Pick, CTA: w.cta, Warp: w.index, Lane: int8(l), Op: int64(v.name)})
		}
	}
	return buf
}

// failsToSwap reports whether the access is a compare-and-swap, by one lane, that fails: a read
// (ISA 8.4, Table 20). Where versions are kept, lanes swap one by one.
func (x *ctx) failsToSwap(a *access, at where) bool {
	if a.atom != atomCas || !x.m.versioned(a) || at.mask&(at.mask-1) != 0 || a.n != 1 {
		return false
	}
	l := lowest(at.mask)
	w := x.m.word(Word{at.mem, x.m.addr[l], a.elem})
	v, ok := x.picked(w, 0)
	if !ok {
		v.lo, v.hi = x.m.contents(w)
	}
	return x.value(a.regs[0], a.t, l) != v
}

// by reports whether a lane wrote a version: an update that leaves what it finds, in a loop, reads
// its own.
func (v *written) by(w *warp, l int) bool {
	cta, index, lane, _ := v.name.By()
	return v.name != Initial && cta == w.cta && index == w.index && int(lane) == l
}

// tookHere returns what a split read of a word at its PC since its last effect, nil if it did not:
// to read that version again, with the same registers, is no step.
func (s *split) tookHere(mem MemID, addr uint64) *await {
	for i := range s.awaits {
		if a := &s.awaits[i]; a.pc == s.pc && a.mem == mem && a.addr == addr {
			return a
		}
	}
	return nil
}

// comparesUnequal reports whether a compare-and-swap that reads a version fails.
func (x *ctx) comparesUnequal(in *instr, a *access, v *written, l int) bool {
	return x.value(a.regs[0], a.t, l) != wideValue{v.lo, v.hi}
}

// Versions returns the names of a word's versions, in coherence order.
func (m *Machine) Versions(w Word) []Version {
	var out []Version
	for _, v := range m.current(w) {
		out = append(out, v.name)
	}
	return out
}

// severalWords reports whether a split stands before a strong access whose versions are kept and
// that its lanes make one by one: they are threads, and may take different versions.
func (m *Machine) severalWords(s *split) bool {
	if m.versions == nil || s.state != atPoint || s.mask&(s.mask-1) == 0 {
		return false
	}
	a, ok := m.prog.code[s.pc].x.(*access)
	return ok && m.prog.code[s.pc].class == visible && m.versioned(a)
}

// HasBarriers reports whether a program has barriers of CTAs.
func (p *Program) HasBarriers() bool {
	for i := range p.code {
		if in := p.Inst(int32(i)); in != nil && in.IsOf(ptx.ClassBarrier) {
			return true
		}
	}
	return false
}
