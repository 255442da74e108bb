package executions

import (
	"slices"

	"muster/internal/coherence"
	"muster/internal/explore"
	"muster/internal/machine"
)

// Dependence (ISA 8.10.4) is taken by value: a write depends on what its thread read if there is
// a value with which the thread, from the read on, would not make it, neither there nor by
// another instruction. So a branch whose ways make the same write is no dependence, nor is a value
// of which nothing is left (x ^ x, x * 0, x & 0). The text lets an implementation reason further,
// over what others write; that is not looked at.
//
// The machine tries it: a lane is run on from the read alone, while the others stand still, with
// the value that it read and with some others. What it reads later is what it read in the
// execution, but for what it wrote itself. A write that the first run makes and another one,
// which comes to its end, does not is one that depends. Where the lane cannot go on alone, or
// reads or writes something else than in the execution, nothing is known, and no dependence is
// said to be.

// maxTried bounds the steps of lanes alone, of one exploration; maxAlone those of one.
const (
	maxTried = 2_000_000
	maxAlone = 400
)

// A depending finds dependences in one execution.
type depending struct {
	x     *explorer
	words *coherence.Run
	path  []machine.Choice
	// at are the machines that stand before the reads, by node, and the choices to take.
	at    map[int]*before
	tried map[int]*alone
	rec   *recording
}

// A before is a machine that stands before a read.
type before struct {
	m *machine.Machine
	c machine.Choice
}

// An alone is what one lane does from a read on: the writes that it makes, and which of them
// another value keeps it from.
type alone struct {
	made    []made
	depends []bool
}

// A made is a write: the last of lo and hi that it made of a word is no other one.
type made struct {
	word   machine.Word
	lo, hi uint64
}

// on reports whether a write depends on a read of its lane, both nodes of the run.
func (d *depending) on(read, write int) bool {
	a := d.tried[read]
	if a == nil {
		a = d.try(read)
		d.tried[read] = a
	}
	// The lane's writes from the read on, up to this one.
	k := -1
	of := d.words.Node(read)
	for n := read; n <= write; n++ {
		if !d.words.Writes(n) || laneOf(d.words.Node(n)) != laneOf(of) {
			continue
		}
		if k++; k >= len(a.depends) || a.made[k] != d.record().nodes[n].wrote {
			return false
		}
	}
	return k >= 0 && a.depends[k]
}

// A laneID names a lane.
type laneID struct {
	cta, warp int32
	lane      int8
}

func laneOf(a coherence.Access) laneID { return laneID{a.CTA, a.Warp, a.Lane} }

func (d *depending) try(read int) *alone {
	if d.at == nil {
		d.replay()
	}
	a := &alone{}
	b := d.at[read]
	if b == nil {
		return a
	}
	of := d.words.Node(read)
	b.c.Op = int64(d.words.Took(read))
	rec := d.record()
	lo := rec.nodes[read].read
	if of.Several || of.Word.Size > 8 {
		return a
	}
	made, _, known := d.run(b, read, lo, false)
	if !known {
		return a
	}
	a.made = made
	a.depends = make([]bool, len(a.made))
	if len(a.made) == 0 {
		return a
	}
	mask := ^uint64(0)
	if of.Word.Size < 8 {
		mask = 1<<(8*uint(of.Word.Size)) - 1
	}
	for _, v := range d.values(b.m, of.Word, lo) {
		if v &= mask; v == lo {
			continue
		}
		others, ended, _ := d.run(b, read, v, false)
		if !ended {
			continue
		}
		// What came of the read must not be what makes the difference.
		apart, ended, _ := d.run(b, read, v, true)
		if ended {
			a.lacks(others, apart)
		}
	}
	return a
}

// lacks marks the writes that neither of two other runs makes: of those of one word with one value,
// as many as they have less.
func (a *alone) lacks(one, two []made) {
	one, two = slices.Clone(one), slices.Clone(two)
	took := func(list *[]made, w made) bool {
		i := slices.Index(*list, w)
		if i >= 0 {
			*list = slices.Delete(*list, i, i+1)
		}
		return i >= 0
	}
	for k, w := range a.made {
		inOne, inTwo := took(&one, w), took(&two, w)
		a.depends[k] = a.depends[k] || !inOne && !inTwo
	}
}

// values lists what is tried: what the word held, and values near to what was read and far
// from it.
func (d *depending) values(m *machine.Machine, w machine.Word, was uint64) []uint64 {
	all := append(d.held(m, w), 0, 1, was^1, was+1, ^was, was^1<<31)
	slices.Sort(all)
	return slices.Compact(all)
}

// held lists what a word held.
func (d *depending) held(m *machine.Machine, w machine.Word) (all []uint64) {
	for _, v := range m.Versions(w) {
		if lo, _, ok := m.Held(w, v); ok && !slices.Contains(all, lo) {
			all = append(all, lo)
		}
	}
	return all
}

// run has a lane go on alone from a read that returns a value, and lists the writes that it
// makes. ended reports that it makes no more with this value: it ended, or waits for another;
// known, that what it reads by weak loads is what it is in the execution.
func (d *depending) run(b *before, read int, value uint64, apart bool) (list []made, ended, known bool) {
	of := d.words.Node(read)
	o := &noting{of: of, read: read, rec: d.record(), weak: map[weakRead]int{}}
	m := b.m.Fork(o, nil)
	pc, polls := of.PC, m.Program().Polls()
	stood, had := int32(-1), 0 // the last test of memory as it is, and what was written before it
	reads := d.readsBehind(read)
	m.Supply(b.c, value)
	for steps := 0; ; steps++ {
		if d.x.tried++; m.Stopped() != nil || steps == maxAlone || d.x.tried > maxTried {
			return o.made, false, !o.unsure
		}
		o.settle(m)
		at := m.At(of.CTA, of.Warp, of.Lane)
		if at < 0 {
			return o.made, true, !o.unsure
		}
		if polls[at] != nil && (at == pc && steps == 0 || at == stood && len(o.made) == had) {
			return o.made, true, !o.unsure // it waits for another value
		}
		if c, v, ok := d.again(m, read, at, reads, o.made, apart); ok {
			m.Supply(c, v)
			continue
		}
		if polls[at] != nil {
			stood, had = at, len(o.made)
		}
		c, ok := m.Alone(of.CTA, of.Warp, of.Lane)
		if !ok {
			return o.made, false, !o.unsure
		}
		m.Step(c)
	}
}

// readsBehind lists the reads of a lane behind one of its reads, by word, in order.
func (d *depending) readsBehind(read int) map[machine.Word][]int {
	list := map[machine.Word][]int{}
	own := laneOf(d.words.Node(read))
	for n := read + 1; n < d.words.Nodes(); n++ {
		if of := d.words.Node(n); d.words.Reads(n) && laneOf(of) == own {
			list[of.Word] = append(list[of.Word], n)
		}
	}
	return list
}

// nextRead takes the next read of a word from a list: by an instruction, or where that has none, by
// another one, which stands for it on another way of a branch.
func (d *depending) nextRead(reads map[machine.Word][]int, word machine.Word, pc int32) (n int, ok bool) {
	list := reads[word]
	if len(list) == 0 {
		return 0, false
	}
	k := max(0, slices.IndexFunc(list, func(n int) bool { return d.words.Node(n).PC == pc }))
	n = list[k]
	reads[word] = slices.Delete(list, k, k+1)
	return n, true
}

// again returns what the read at which a lane stands, which has made some writes from a read on,
// returned in the execution, and by which choice. It does not where that was what the lane wrote
// itself, or what was there at the beginning, and it has written the word now; where it read a
// write of its own that it does not make now, it reads what comes before that in coherence order.
// apart: nor does it where that was written behind the read.
func (d *depending) again(m *machine.Machine, read int, pc int32, reads map[machine.Word][]int, list []made, apart bool) (c machine.Choice, v uint64, ok bool) {
	of := d.words.Node(read)
	c = machine.Choice{Kind: machine.Pick, CTA: of.CTA, Warp: of.Warp, Lane: of.Lane}
	words := m.WordsOf(c)
	if len(words) != 1 {
		return c, 0, false
	}
	n, found := d.nextRead(reads, words[0], pc)
	if !found {
		return c, 0, false
	}
	c.Op = int64(m.Last(words[0]))
	from := d.words.From(n)
	own := from >= 0 && laneOf(d.words.Node(from)) == laneOf(of)
	wrote := slices.ContainsFunc(list, func(w made) bool { return w.word == words[0] })
	switch {
	case wrote && (own || from < 0):
		return c, 0, false
	case !own && apart && from > read:
		return c, 0, false
	case !own:
		return c, d.record().nodes[n].read, true
	}
	for from > read && laneOf(d.words.Node(from)) == laneOf(of) {
		from = d.words.Before(from)
	}
	if from >= 0 {
		return c, d.record().nodes[from].wrote.lo, true
	}
	v, _, ok = m.Held(words[0], machine.Initial)
	return c, v, ok
}

// A noting notes the strong writes of a lane, and whether its weak loads find something else than
// in the execution.
type noting struct {
	of     coherence.Access
	read   int
	rec    *recording
	weak   map[weakRead]int
	unsure bool
	made   []made
	next   []machine.Version // of the last ones, whose values are not known yet
}

func (o *noting) Observe(m *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess || ev.CTA != o.of.CTA || ev.Warp != o.of.Warp || ev.Mask>>uint(o.of.Lane)&1 == 0 {
		return
	}
	lane := int(o.of.Lane)
	switch {
	case ev.Sem == machine.Weak && ev.Access&machine.Read != 0:
		k := weakOf(ev, lane)
		if list := o.rec.behind(o.read, k); o.weak[k] < len(list) && list[o.weak[k]].val != m.Contents(k.word) {
			o.unsure = true
		}
		o.weak[k]++
	case ev.Sem != machine.Weak && ev.Proxy == machine.Generic && ev.Access&machine.Write != 0:
		o.made = append(o.made, made{word: wordOf(ev, lane)})
		o.next = append(o.next, nextOf(m, ev, lane))
	}
}

// settle takes the values of what was written.
func (o *noting) settle(m *machine.Machine) {
	for k, name := range o.next {
		w := &o.made[len(o.made)-len(o.next)+k]
		w.lo, w.hi, _ = m.Held(w.word, name)
	}
	o.next = o.next[:0]
}

func wordOf(ev *machine.Event, lane int) machine.Word {
	return machine.Word{Mem: ev.Mem, Addr: ev.Addr[lane], Size: ev.Size}
}

// nextOf names the version that a lane is about to write.
func nextOf(m *machine.Machine, ev *machine.Event, lane int) machine.Version {
	name := m.NextVersion(ev.CTA, ev.Warp, lane)
	if ev.Whole > 0 {
		name += machine.Version(ev.Part / ev.Size)
	}
	return name
}

// record makes the run again, and notes what its accesses read and wrote.
func (d *depending) record() *recording {
	if d.rec == nil {
		r := &recording{weak: map[weakRead][]loaded{}}
		m := d.x.fork(r)
		for _, s := range d.path {
			r.first = append(r.first, len(r.nodes))
			m.Step(s)
			r.settle(m)
		}
		r.first = append(r.first, len(r.nodes))
		explore.GoOn(m)
		r.settle(m)
		d.rec = r
	}
	return d.rec
}

// replay makes the run again, and keeps a machine before each read.
func (d *depending) replay() {
	d.at = map[int]*before{}
	first := d.record().first
	m := d.x.fork(nil)
	for i, s := range d.path {
		for n := first[i]; n < first[i+1] && n < d.words.Nodes(); n++ {
			of := d.words.Node(n)
			if !d.words.Reads(n) || s.Kind != machine.Run && s.Kind != machine.Alone && s.Kind != machine.Pick || s.CTA != of.CTA || s.Warp != of.Warp {
				continue
			}
			if m.At(of.CTA, of.Warp, of.Lane) == of.PC {
				d.at[n] = &before{m.Clone(), machine.Choice{Kind: machine.Pick, CTA: of.CTA, Warp: of.Warp, Lane: of.Lane}}
			}
		}
		m.Step(s)
	}
}
