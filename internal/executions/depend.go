package executions

import (
	"math/bits"
	"slices"

	"muster/internal/coherence"
	"muster/internal/machine"
)

// Dependence (ISA 8.10.4) is taken by value: a write depends on what its thread read if there is
// a value with which the thread, from the read on, would not make it, neither there nor by
// another instruction. So a branch whose ways make the same write is no dependence, nor is a value
// of which nothing is left (x ^ x, x * 0, x & 0). The text lets an implementation reason further,
// over what others write; that is not looked at.
//
// The machine tries it: a lane is run on from the read alone, while the others stand still, with
// the value that it read and with some others. A write that the first run makes and another one,
// which comes to its end, does not is one that depends. Where the lane cannot go on alone, or
// makes other writes than in the execution, nothing is known, and no dependence is said to be.

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
		if o := d.words.Node(n); d.words.Writes(n) && o.CTA == of.CTA && o.Warp == of.Warp && o.Lane == of.Lane {
			k++
		}
	}
	return k >= 0 && k < len(a.depends) && a.made[k].word == d.words.Node(write).Word && a.depends[k]
}

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
	version := d.words.Took(read)
	b.c.Op = int64(version)
	lo, hi, ok := b.m.Held(of.Word, version)
	if !ok && version == machine.Initial && len(b.m.Versions(of.Word)) == 0 {
		var buf [8]byte
		if of.Word.Mem != machine.Global || of.Word.Size > 8 || !b.m.ReadGlobal(of.Word.Addr, buf[:of.Word.Size]) {
			return a
		}
		for k, v := range buf {
			lo |= uint64(v) << (8 * k)
		}
	} else if !ok || hi != 0 {
		return a
	}
	a.made, _ = d.run(b, of, lo)
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
		if others, ended := d.run(b, of, v); ended {
			a.lacks(others)
		}
	}
	return a
}

// lacks marks the writes that another run does not make: of those of one word with one value, as
// many as it has less.
func (a *alone) lacks(others []made) {
	left := slices.Clone(others)
	for k, w := range a.made {
		if i := slices.Index(left, w); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			a.depends[k] = true
		}
	}
}

// values lists what is tried: what the word held, and values near to what was read and far
// from it.
func (d *depending) values(m *machine.Machine, w machine.Word, was uint64) []uint64 {
	all := []uint64{0, 1, was ^ 1, was + 1, ^was, was ^ 1<<31}
	for _, v := range m.Versions(w) {
		if lo, _, ok := m.Held(w, v); ok {
			all = append(all, lo)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// run has a lane go on alone from a read that returns a value, and lists the writes that it
// makes. ended reports that it makes no more with this value: it ended, or waits for another.
func (d *depending) run(b *before, of coherence.Access, value uint64) (list []made, ended bool) {
	o := &noting{of: of}
	m := b.m.Fork(o, nil)
	pc, polls := of.PC, m.Program().Polls()[of.PC] != nil
	m.Supply(b.c, value)
	for steps := 0; ; steps++ {
		if d.x.tried++; m.Stopped() != nil || steps == maxAlone || d.x.tried > maxTried {
			return o.made, false
		}
		o.settle(m)
		at := m.At(of.CTA, of.Warp, of.Lane)
		if at < 0 {
			return o.made, true
		}
		if polls && at == pc && steps == 0 {
			return o.made, true // it waits for another value
		}
		c, ok := m.Alone(of.CTA, of.Warp, of.Lane)
		if !ok {
			return o.made, false
		}
		m.Step(c)
	}
}

// A noting notes the strong writes of a lane.
type noting struct {
	of   coherence.Access
	made []made
	next []machine.Version // of the last ones, whose values are not known yet
}

func (o *noting) Observe(m *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess || ev.Sem == machine.Weak || ev.Proxy != machine.Generic || ev.Access&machine.Write == 0 ||
		ev.CTA != o.of.CTA || ev.Warp != o.of.Warp || ev.Mask>>uint(o.of.Lane)&1 == 0 {
		return
	}
	name := m.NextVersion(ev.CTA, ev.Warp, int(o.of.Lane))
	if ev.Whole > 0 {
		name += machine.Version(ev.Part / ev.Size)
	}
	o.made = append(o.made, made{word: machine.Word{Mem: ev.Mem, Addr: ev.Addr[o.of.Lane], Size: ev.Size}})
	o.next = append(o.next, name)
}

// settle takes the values of what was written.
func (o *noting) settle(m *machine.Machine) {
	for k, name := range o.next {
		w := &o.made[len(o.made)-len(o.next)+k]
		w.lo, w.hi, _ = m.Held(w.word, name)
	}
	o.next = o.next[:0]
}

// replay makes the run again, and keeps a machine before each read.
func (d *depending) replay() {
	d.at = map[int]*before{}
	c := &counting{}
	m := d.x.fork(c)
	base := m.Clone()
	var first []int // of each step, the nodes before it
	for _, s := range d.path {
		first = append(first, c.nodes)
		m.Step(s)
	}
	first = append(first, c.nodes)
	m = base.Fork(nil, nil)
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

// A counting counts the strong accesses of lanes, as coherence.Run does.
type counting struct{ nodes int }

func (c *counting) Observe(_ *machine.Machine, ev *machine.Event) {
	if ev.Kind == machine.EvAccess && ev.Sem != machine.Weak && ev.Proxy == machine.Generic {
		c.nodes += bits.OnesCount32(ev.Mask)
	}
}
