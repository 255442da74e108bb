package muster

import (
	"context"
	"fmt"
	"slices"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/report"
	"muster/internal/rules"
)

// A value that nobody wrote is harmless where it is thrown away, and wrong where it
// reaches an output, a branch or an address. A few more runs of the same schedule
// tell which: each has other bytes in place of what nobody wrote. If the runs do the
// same and leave the same global memory, the value reaches nothing. No flow through
// registers has to be followed.

// poisons are what stands in place of what nobody wrote: as integers zero, large and
// -1, as floating point zero, large and NaN; and bytes that differ from place to
// place, for what compares two unwritten values.
var poisons = [...]machine.Poison{{Value: 0x00}, {Value: 0x7f}, {Value: 0xff}, {Mixed: true}}

// mostCompared bounds the runs in which what nobody wrote has values that the program
// compares with: each place has another of them in each run.
const mostCompared = 8

func (l *Launch) poisons() []machine.Poison {
	list := slices.Clone(poisons[:])
	among := l.config.Program.Compared()
	for turn := range min(len(among), mostCompared) {
		list = append(list, machine.Poison{Among: among, Turn: uint64(turn)})
	}
	return list
}

// mostReaches bounds how many reads are followed in one check.
const mostReaches = 16

// reach decides which reads of what nobody wrote matter. Those that do become errors.
// Of the others, reads of shared memory stay warnings, and reads of registers and of
// local memory are dropped: compilers make them.
func (l *Launch) reach(ctx context.Context, o CheckOptions, all *merged) error {
	if err := l.reachShuffles(ctx, o, all); err != nil {
		return err
	}
	bySchedule := map[int][]*rules.Finding{}
	var order []int
	for i := range all.findings {
		f := &all.findings[i]
		if !rules.MayReach(f) {
			continue
		}
		n := all.first[f.Key()]
		if bySchedule[n] == nil {
			order = append(order, n)
		}
		bySchedule[n] = append(bySchedule[n], f)
	}
	if len(order) == 0 {
		return nil
	}
	w := l.watch(ctx)
	left := mostReaches
	cut := len(all.gaps) > 0 // the verdict is incomplete already
	for _, n := range order {
		for _, g := range l.reachAll(w, o.Schedules[n], bySchedule[n], &left) {
			if !cut {
				all.addGap(g)
			}
		}
	}
	kept := all.findings[:0]
	for _, f := range all.findings {
		if !rules.Dropped(&f) {
			kept = append(kept, f)
		}
	}
	all.findings = kept
	return nil
}

// dropUnreached drops what a proof's runs showed of reads that do not matter, so that
// they do not stand against the proof. Where some matter, or were in runs of another
// order, all of them stay: what other schedules show of them is decided by reach.
func (l *Launch) dropUnreached(ctx context.Context, p *proof, r *result) {
	if !p.holds || r.err != nil || len(r.findings) == 0 || slices.ContainsFunc(r.findings, func(f rules.Finding) bool { return !rules.Dropped(&f) }) {
		return
	}
	all := machine.Poison{PC: -1, Everything: true}
	w := l.watch(ctx)
	e, why := l.poisoned(w, proofSchedule, all, 0)
	if why != "" || slices.ContainsFunc(r.findings, func(f rules.Finding) bool { return !e.unset[unsetRead{f.Register, f.Sites[0].PC}] }) {
		return
	}
	if to, why := l.reaches(w, proofSchedule, all); to == "" && why == "" {
		r.findings = nil
	}
}

// undecidedReads are gaps for the reads that a proof's runs showed and no run of all
// did, so that nothing tells whether they matter.
func (r *result) undecidedReads(all *merged) {
	if len(all.gaps) > 0 {
		return
	}
	for i := range r.findings {
		if f := &r.findings[i]; rules.Dropped(f) && all.seen[f.Key()] == 0 {
			for _, g := range undecided([]*rules.Finding{f}, "no schedule that ran comes to it") {
				all.addGap(g)
			}
		}
	}
}

// reachAll decides the reads that one schedule showed: first all together, for they
// mostly matter not at all, and two that hide each other show; then each alone.
func (l *Launch) reachAll(w *watch, s Schedule, list []*rules.Finding, left *int) (gaps []rules.Gap) {
	together, why := l.reaches(w, s, machine.Poison{PC: -1, Everything: true})
	if why != "" {
		return undecided(list, why)
	}
	if together == "" {
		return nil
	}
	some := false
	var rest []*rules.Finding
	at, more := map[int32]*rules.Finding{}, map[int32]int{} // of registers, by the instruction
	for _, f := range list {
		if at[f.Sites[0].PC] != nil && f.Register > 0 {
			more[f.Sites[0].PC]++ // one finding an instruction will do
			continue
		}
		if *left == 0 {
			rest = append(rest, f)
			continue
		}
		*left--
		to, why := l.reaches(w, s, poisonOf(f))
		if why != "" {
			gaps = append(gaps, undecided([]*rules.Finding{f}, why)...)
			continue
		}
		if to != "" {
			some = true
			if matters(f, to); f.Register > 0 {
				at[f.Sites[0].PC] = f
			}
		}
	}
	for pc, n := range more {
		at[pc].Notes = append(at[pc].Notes, fmt.Sprintf("it reads %s besides that nobody has written", report.Plural(n, "register")))
	}
	switch {
	case some || len(gaps) > 0:
	case len(rest) > 0:
		gaps = undecided(rest, fmt.Sprintf("more than %d such reads are not followed one by one", mostReaches))
	default:
		for _, f := range list {
			matters(f, together)
			f.Notes = append(f.Notes, "it shows only if what else nobody wrote changes with it")
		}
	}
	return gaps
}

// matters makes an error of a read whose value reaches something.
func matters(f *rules.Finding, to string) {
	f.Severity = rules.Error
	f.Headline += ", and the value reaches " + to
	f.Notes = append(f.Notes, "in runs of this schedule with other values in place of what nobody wrote, "+to+" differed")
}

// undecided is the gap of reads of registers and local memory that could not be
// followed.
func undecided(list []*rules.Finding, why string) (gaps []rules.Gap) {
	for _, f := range list {
		if rules.Dropped(f) {
			gaps = append(gaps, rules.Gap{What: "whether an unwritten value that is read here matters: " + why, PC: f.Sites[0].PC})
		}
	}
	return gaps
}

func poisonOf(f *rules.Finding) machine.Poison {
	if f.Register > 0 {
		return machine.Poison{PC: -1, Register: f.Register}
	}
	return machine.Poison{PC: f.Sites[0].PC}
}

// reaches says what differs between the poisoned runs, which is empty if nothing
// does; or why that cannot be said.
func (l *Launch) reaches(w *watch, s Schedule, p machine.Poison) (to, why string) {
	return l.differ(w, s, p, l.poisons())
}

// differ is reaches for some poisons. One with the PC -1 replaces nothing.
func (l *Launch) differ(w *watch, s Schedule, p machine.Poison, list []machine.Poison) (to, why string) {
	var first effects
	at := p.PC
	for i, with := range list {
		p.Value, p.Mixed, p.Among, p.Turn = with.Value, with.Mixed, with.Among, with.Turn
		if p.PC = at; with.PC < 0 {
			p.PC = with.PC
		}
		e, why := l.poisoned(w, s, p, first.instrs)
		switch {
		case why != "":
			return "", why
		case i == 0:
			if e.end == machine.LimitInstrs {
				return "", fmt.Sprintf("a limit of %d warp instructions ran out (--limit-instrs)", l.limits.Instrs)
			}
			if first = e; e.end == impossible {
				return "a branch or an address", ""
			}
		case e.end != first.end || e.seen != first.seen:
			return "a branch or an address", ""
		case e.memory != first.memory:
			to = "an output"
		}
	}
	return to, ""
}

// poisoned makes one run. Other runs had so many instructions: one that has many
// more does something else.
func (l *Launch) poisoned(w *watch, s Schedule, p machine.Poison, instrs int64) (e effects, why string) {
	m := l.machine(&e, &p)
	if instrs > 0 {
		m.LimitInstrs(4*instrs + 1<<16)
	}
	if err := prefix(m, s); err != nil {
		e.end = impossible
		return e, ""
	}
	s.Prefix = nil
	stop, reason := w.stop()
	if !explore.Run(m, s, stop) {
		return e, reason()
	}
	if e.end = ended; m.Stopped() != nil {
		e.end = m.Stopped().Kind
	}
	e.instrs, _ = m.Instrs()
	e.memory = m.GlobalHash()
	for _, b := range m.Output() {
		e.memory = e.memory*31 + uint64(b)
	}
	return e, ""
}

// Ends of a run, besides those that stop one: it came to its end; its schedule named
// a choice that it did not have.
const (
	ended      = machine.StopKind(0xfe)
	impossible = machine.StopKind(0xff)
)

// effects are what a run did that others can notice.
type effects struct {
	seen   trace // which visible operations, and where
	memory uint64
	end    machine.StopKind
	instrs int64
	unset  map[unsetRead]bool
}

// An unsetRead is a read of a register that nobody wrote, or of local memory (0).
type unsetRead struct{ register, pc int32 }

func (e *effects) Observe(_ *machine.Machine, ev *machine.Event) {
	t := &e.seen
	if ev.Kind == machine.EvRegister { // visible to nobody
		if ev.Unset != 0 {
			if e.unset == nil {
				e.unset = map[unsetRead]bool{}
			}
			e.unset[unsetRead{max(ev.Unset, 0), ev.PC}] = true
		}
		return
	}
	t.mix(uint64(ev.Kind)<<56 | uint64(uint32(ev.PC)))
	t.mix(uint64(uint32(ev.CTA))<<32 | uint64(uint32(ev.Warp)))
	t.mix(uint64(ev.Mask))
	switch ev.Kind {
	case machine.EvAccess:
		for lane, a := range ev.Addr {
			if ev.Mask>>lane&1 != 0 {
				t.mix(a)
			}
		}
	case machine.EvMbar, machine.EvMbarWait:
		b := &ev.Mbar
		t.mix(uint64(uint32(b.Bar.Mem))<<32 ^ b.Bar.Addr)
		t.mix(uint64(b.Op)<<56 ^ uint64(b.Count)<<32 ^ uint64(b.Bytes))
		t.mix(uint64(b.Phase))
	case machine.EvBarArrive, machine.EvBarPass:
		t.mix(uint64(uint32(ev.Bar))<<32 ^ uint64(ev.Count))
	case machine.EvRegisters:
		t.mix(uint64(ev.Count))
	case machine.EvIssue:
		for _, list := range [...][]machine.Span{ev.Op.Reads, ev.Op.Writes} {
			for _, s := range list {
				t.mix(uint64(uint32(s.Mem))<<32 ^ s.Addr)
				t.mix(s.Len)
			}
		}
		for i, b := range ev.Op.Bars {
			t.mix(uint64(uint32(b.Mem))<<32 ^ b.Addr)
			t.mix(uint64(ev.Op.BarBytes[i]))
		}
	}
}

// A trace is a hash of what a run did.
type trace struct{ hash uint64 }

// mix is a round of FNV-1a on 64-bit words.
func (t *trace) mix(v uint64) { t.hash = (t.hash ^ v) * 0x100000001b3 }
