package muster

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"muster/internal/machine"
	"muster/internal/progress"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/report"
)

// What a stage of a sequence hands on. The next one is checked with the memory that one run of
// it left. That is what every schedule leaves where a proof says so: by one run, since then
// every schedule stores the same values at the same places; or by a run for each order of what
// decides, which all leave the same memory; or where all that exploration came to does. What a
// drawn number, a poll, a flip or a store of an equal value leaves is the same in these proofs.
// Sums of floating-point numbers are not: their bytes are open.
//
// A stage that begins with open bytes is decided for every schedule of those before it if its
// proof holds for every content of the buffers, or if it is by one run and that reads none of
// these bytes: no other content of theirs can make it do anything else; or if it is clean from
// each of a few memories that an exploration came to. Otherwise its findings stand, since they
// are of a run, and a clean verdict becomes incomplete.

// An open is which bytes of memory may hold something else in another schedule of a stage.
type open struct {
	launch string // the stage
	why    string // what is said of it
	all    bool   // any byte may
	bytes  trial.Bytes
	// unset are bytes that one schedule may have written, and another not.
	unset trial.Bytes
	// each are the memories that the stage may leave, if they are known: no others are.
	each []*machine.Machine
}

// A handing is what a check of a stage is told of the memory that it begins with, and tells of
// the memory that it leaves.
type handing struct {
	before *open // nil: every schedule leaves what the one run has left
	// given: no check was made of the stages before.
	given bool
	// from makes the stage with another memory to begin with.
	from func(*machine.Machine) (*Launch, error)

	mu      sync.Mutex
	checked bool
	after   *open
}

// leaves returns what is open of the memory that a stage leaves. Without a check, everything is.
func (h *handing) leaves(l *Launch) *open {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.checked {
		return l.anything("was not decided for all schedules")
	}
	return h.after
}

// anything says that any memory may be left.
func (l *Launch) anything(why string) *open {
	o := &open{launch: l.Name(), why: why, all: true}
	l.addUnset(o)
	return o
}

// addUnset adds the bytes that may be written or not, where it is not known which are.
func (l *Launch) addUnset(o *open) {
	for i := range l.subject.Start.Regions() {
		if base, size, written := l.subject.Start.Initialized(i); !written {
			o.unset.Add(base, size)
		}
	}
}

// handsOn adds a gap if what the launch begins with may be something else that matters, and
// notes what it leaves.
func (c *checking) handsOn() {
	h := c.handing
	if h == nil {
		return
	}
	rest, holds := c.rest(h.before)
	if !holds && c.o.Mode == EverySchedule {
		switch {
		case h.given:
			c.inherits = h.before.text() + ": what is said of it is said for that"
		case c.Wrong():
		case c.fromEach(h):
		default:
			c.AddGap(rules.Gap{What: h.before.text() + "; what is there may decide something", PC: -1})
		}
	}
	after := c.open().with(rest)
	if c.subject.Highest || len(c.sizes) > 0 {
		return // no card elects them; openSizes speaks of sizes
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checked, h.after = true, after
}

// openSizes says that a stage with two sizes of clusters may leave another memory where they
// have others. What it returns takes that back.
func (l *Launch) openSizes() (restore func()) {
	h := l.handing
	if h == nil {
		return func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.after
	h.after = l.anything("may be another one where its clusters have other sizes")
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.after = was
	}
}

// sums is what is open behind a sum that nobody reads.
const sums = "has sums of floating-point numbers whose last bits depend on the schedule"

// maxEach bounds the memories from each of which a stage is checked.
const maxEach = 4

// fromEach checks the launch from each memory that the stage before may leave, if these are
// known and few, and reports whether that decides all. What it finds there is a gap with its
// words, since replays begin with the memory of one run.
func (c *checking) fromEach(h *handing) bool {
	if n := len(h.before.each); n == 0 || n > maxEach || !c.decided() {
		return false
	}
	o := c.o
	o.Explore.State, o.Explore.Save = nil, nil
	for i, memory := range h.before.each {
		l, err := h.from(memory)
		if err != nil {
			return false
		}
		l.handing = nil
		if l = l.hurried(c.ctx); len(c.sizes) > 0 {
			l = l.sized(c.sizes)
		}
		if c.subject.Highest {
			l = l.led()
		}
		r, err := l.check(progress.In(c.ctx, fmt.Sprintf("from memory %d of %d", i+1, len(h.before.each))), o, o.Explore.options(l))
		if err != nil || r.Verdict == report.Incomplete {
			return false
		}
		if r.Verdict == report.Findings {
			f := &r.Findings[0]
			c.AddGap(rules.Gap{What: fmt.Sprintf("%s; from another one there is %s[%s]: %s", h.before.text(), f.Severity, f.Kind, f.Headline), PC: -1})
			return true
		}
	}
	c.notices = append(c.notices, fmt.Sprintf("the memory behind launch %s %s: this launch was checked from each", h.before.launch, h.before.why))
	return true
}

// text says what is open.
func (o *open) text() string {
	return fmt.Sprintf("the memory behind launch %s %s, and this launch begins with that of one run", o.launch, o.why)
}

// decided reports whether the check decides every schedule without an error.
func (c *checking) decided() bool {
	return c.o.Mode == EverySchedule && !c.Wrong() && len(c.Gaps) == 0 && len(c.findings) == 0 &&
		(c.proof != nil && c.proof.All || c.coverage != nil && c.coverage.Complete && c.o.Explore.Preemptions == 0)
}

// open returns what is open of the memory that the launch leaves, given what it begins with.
func (c *checking) open() *open {
	switch {
	case !c.decided():
		return c.anything("was not decided for all schedules")
	case !c.proof.All:
		return c.explored()
	case c.grants:
		return c.anything("may be another one where other clusters do the work")
	case c.ticket:
		return c.anything("may be another one in another schedule")
	case len(c.summed) == 0:
		return nil
	case c.orders:
		return c.anything(sums)
	}
	a, ok := c.subject.Accesses(c.budget, func(pc int32) bool { return slices.Contains(c.summed, pc) })
	if !ok {
		return c.anything(sums)
	}
	o := &open{launch: c.Name(), bytes: a.By}
	o.why = sums + c.in(&a.By)
	return o
}

// explored returns what is open after an exploration: nothing, if all runs left the same.
func (c *checking) explored() *open {
	const depends = "may be another one in another schedule"
	prog := c.subject.Program
	for pc := range int32(prog.Len()) {
		if prog.FloatSum(pc) {
			return c.anything(depends) // one of these orders was explored
		}
	}
	list, many := c.finals.list, c.finals.many
	switch {
	case len(list) == 1 && !many && !(c.skip && prog.Multiplies()):
		return nil
	case many || len(list) == 0 || c.skip && prog.Multiplies():
		return c.anything(depends)
	}
	o := &open{launch: c.Name(), each: list}
	for i := range list[0].Regions() {
		base, size, _ := list[0].Initialized(i)
		was := make([]byte, size)
		list[0].ReadGlobal(base, was)
		is := make([]byte, size)
		for _, m := range list[1:] {
			m.ReadGlobal(base, is)
			for k := range was {
				if was[k] != is[k] {
					o.bytes.Add(base+uint64(k), 1)
				}
			}
		}
	}
	c.addUnset(o)
	o.why = fmt.Sprintf("is one of %d, by the schedule", len(list)) + c.in(&o.bytes)
	return o
}

// in names the buffers and variables of some bytes.
func (l *Launch) in(b *trial.Bytes) string {
	var names []string
	for _, r := range l.resolver.Regions {
		if !r.Shared && r.Size > 0 && b.Within(r.Base, r.Size) {
			names = append(names, r.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	const most = 4
	if n := len(names) - most; n > 1 {
		names = append(names[:most], fmt.Sprintf("%d more", n))
	}
	return " (in " + strings.Join(names, ", ") + ")"
}

// rest returns what stays open of the bytes with which the launch begins, and reports whether
// what its check says holds whatever they are.
func (c *checking) rest(before *open) (rest *open, holds bool) {
	if before == nil {
		return nil, true
	}
	if c.decided() && c.proof.All && !c.orders && !c.ticket {
		a, ok := c.subject.Accesses(c.budget, nil)
		blind := ok && !a.Read.Meets(&before.unset)
		switch {
		case blind && !before.all && !a.Read.Meets(&before.bytes):
			return before.without(&a.Written), true // every schedule writes these, with the same values
		case blind && c.proof.AnyContents:
			return before.with(&open{bytes: a.Written}), true
		}
	}
	return before.with(c.anything("")), false
}

// with joins what is open.
func (o *open) with(p *open) *open {
	switch {
	case o == nil:
		return p
	case p == nil:
		return o
	}
	q := &open{launch: o.launch, why: o.why, all: o.all || p.all}
	for _, from := range []*open{o, p} {
		q.bytes.Join(&from.bytes)
		q.unset.Join(&from.unset)
	}
	return q
}

// without is what is open once some bytes were written.
func (o *open) without(b *trial.Bytes) *open {
	q := o.with(&open{})
	q.bytes.Remove(b)
	q.unset.Remove(b)
	if q.bytes.Empty() && q.unset.Empty() {
		return nil
	}
	return q
}

// finalStates are the distinct memories that explored runs left, a few of them.
type finalStates struct {
	from *machine.Machine // that they began with
	seen map[uint64]bool
	list []*machine.Machine
	many bool
}

// maxFinals bounds the memories that are kept.
const maxFinals = 16

func (f *finalStates) add(m *machine.Machine) {
	h := m.HashSince(f.from)
	if f.seen[h] || f.many {
		return
	}
	if f.seen == nil {
		f.seen = map[uint64]bool{}
	}
	f.seen[h] = true
	if f.many = len(f.list) == maxFinals; f.many {
		f.list = nil
		return
	}
	f.list = append(f.list, m.Clone())
}
