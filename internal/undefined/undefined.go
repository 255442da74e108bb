// Package undefined tells which undefined values matter.
//
// A value that was never written, or that the ISA leaves undefined, is harmless where
// it is discarded, and wrong where it reaches an output, a branch or an address. One
// more run of the same schedule tells which: it follows, bit by bit, what is defined
// and what is not (machine.Undefined). Where such a value goes through an instruction
// that is not followed, such as those of the tensor cores, a few runs with other
// bytes in its place show that it matters, or leave open whether it does.
package undefined

import (
	"fmt"
	"slices"

	"muster/internal/diag"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/trial"
)

// substitutes replace unwritten bytes: as integers zero, large and -1, as floating
// point zero, large and NaN; and bytes that differ from place to place, for
// comparisons of two unwritten values.
var substitutes = [...]machine.Poison{{Value: 0x00}, {Value: 0x7f}, {Value: 0xff}, {Mixed: true}}

// maxCompared bounds the runs in which unwritten places hold values that the program
// compares with: each place has another of them in each run.
const maxCompared = 8

func poisons(l *trial.Subject) []machine.Poison {
	list := slices.Clone(substitutes[:])
	among := l.Program.Compared()
	for turn := range min(len(among), maxCompared) {
		list = append(list, machine.Poison{Among: among, Turn: uint64(turn)})
	}
	return list
}

// maxFollowed bounds the schedules of a check in which undefined values are
// followed.
const maxFollowed = 8

// maxVague bounds how many reads are decided by runs with other values.
const maxVague = 16

// maxNamed is how many registers of one instruction have a finding each.
const maxNamed = 3

// A followed is what a run told of undefined values.
type followed struct {
	reached []machine.UndefinedReach
	others  bool
	seen    func(machine.UndefinedFrom) bool
	why     string // if not empty, why it tells nothing
}

// none reports whether no undefined value decided anything.
func (r *followed) none() bool { return r.why == "" && len(r.reached) == 0 && !r.others }

// follow follows the undefined values of a schedule.
func follow(l *trial.Subject, w *trial.Budget, s trial.Schedule) *followed {
	return followWith(l, w, s, nil)
}

// followWith is follow with bytes of operands of tcgen05.mma that count as undefined, too.
func followWith(l *trial.Subject, w *trial.Budget, s trial.Schedule, raced machine.OperandBytes) *followed {
	// A run that follows them does not notice that it loops for ever.
	e, why := poisoned(l, w, s, machine.Poison{PC: -1}, 0)
	if why != "" {
		return &followed{why: why}
	}
	if e.end == machine.LimitInstrs {
		return &followed{why: fmt.Sprintf("a limit of %d warp instructions ran out (Limits.Instrs)", l.Limits.Instrs)}
	}
	r, _ := followWithin(l, w, s, e.instrs+1<<8, raced)
	return r
}

// followProof follows the undefined values of the schedule of a proof, whose runs took so many
// warp instructions.
func followProof(l *trial.Subject, w *trial.Budget, took int64) *followed {
	if took > 0 {
		if r, over := followWithin(l, w, trial.ProofSchedule, 2*took+1<<16, nil); !over {
			return r
		}
	}
	return follow(l, w, trial.ProofSchedule)
}

// followWithin follows the undefined values of a schedule for so many warp instructions, and
// reports whether it has more.
func followWithin(l *trial.Subject, w *trial.Budget, s trial.Schedule, most int64, raced machine.OperandBytes) (r *followed, over bool) {
	m := l.Machine(nil, nil)
	u := m.FollowUndefined()
	u.Raced(raced)
	m.LimitInstrs(most)
	if err := trial.Begin(m, s); err != nil {
		return &followed{why: err.Error()}, false
	}
	s.Prefix = nil
	stop, reason := w.Stop()
	if !explore.Run(m, s, stop) {
		return &followed{why: reason()}, false
	}
	r = &followed{seen: u.Seen}
	r.reached, r.others = u.Reached(m)
	return r, m.Stopped() != nil && m.Stopped().Kind == machine.LimitInstrs
}

// undefinedKinds are the kinds of findings about undefined values.
var undefinedKinds = map[string]machine.UndefinedKind{
	"uninitialized-register": machine.UndefinedRegister,
	"uninitialized-local":    machine.UndefinedLocal,
	"uninitialized-shared":   machine.UndefinedShared,
	"uninitialized-tensor":   machine.UndefinedTensor,
	"uninitialized-global":   machine.UndefinedGlobal,
	"undefined-shuffle":      machine.UndefinedShuffle,
	"undefined-value":        machine.UndefinedResult,
}

// originOf returns the origin of the value that a finding is about.
func originOf(f *rules.Finding) machine.UndefinedFrom {
	return machine.UndefinedFrom{Kind: undefinedKinds[f.Kind], PC: f.Sites[0].PC, Register: f.Register}
}

// Reach decides which undefined values that schedules showed matter. The findings
// about those that do become errors. Of the others, those about shared memory stay
// warnings, and the rest are dropped: compilers make them. If proven, one schedule
// stands for all.
func Reach(l *trial.Subject, w *trial.Budget, schedules []trial.Schedule, all *trial.Merged, proven bool) {
	open := map[machine.UndefinedFrom]*rules.Finding{}
	for i := range all.Findings {
		if f := &all.Findings[i]; rules.MayReach(f) {
			open[originOf(f)] = f
		}
	}
	if len(open) == 0 && !l.Program.Unspecified() {
		return
	}
	cut := len(all.Gaps) > 0 // the verdict is incomplete already
	gap := func(g rules.Gap) {
		if !cut {
			all.AddGap(g)
		}
	}
	vague := map[machine.UndefinedFrom]machine.UndefinedReach{}
	settled, tracked := true, map[machine.UndefinedFrom]bool{}
	why := ""
	follows := schedulesToFollow(len(schedules), all, open, proven)
	w.Meter.Stage("following undefined values", "schedule", len(follows))
	for _, n := range follows {
		r := follow(l, w, schedules[n])
		w.Meter.Did(1)
		if r.why != "" {
			settled, why = false, r.why
			break
		}
		if r.others {
			settled, why = false, "more such values are read than are told apart"
		}
		for from := range open {
			tracked[from] = tracked[from] || r.seen(from)
		}
		for _, to := range r.reached {
			f := open[to.From]
			switch {
			case to.From.Kind == machine.UnknownResult:
				gap(rules.Gap{What: fmt.Sprintf("the driver or the part decides the value that is read here, and it reaches %s at %s", to.What, l.NameAt(to.PC)), PC: to.From.PC})
			case f == nil || f.Severity == rules.Error:
			case to.Vague:
				if _, ok := vague[to.From]; !ok {
					vague[to.From] = to
				}
			default:
				matters(f, to.What)
				f.Notes = append(f.Notes, fmt.Sprintf("the value, or a part of it that nobody defined, goes into %s at %s", to.What, l.NameAt(to.PC)))
				all.First[f.Key()] = n
			}
		}
	}
	left := maxVague
	if len(vague) > 0 {
		w.Meter.Stage("other values in place of undefined ones", "value", min(len(vague), maxVague))
	}
	drop := map[string]bool{}
	errorsAt := map[int32]*rules.Finding{}
	named, more := map[int32]int{}, map[int32]int{}
	for i := range all.Findings {
		f := &all.Findings[i]
		from := openOrigin(f, open)
		if from == nil {
			continue
		}
		if f.Severity == rules.Error {
			if pc := f.Sites[0].PC; f.Register > 0 {
				if errorsAt[pc] == nil {
					errorsAt[pc] = f
				}
				named[pc]++
			}
			continue
		}
		to, isVague := vague[*from]
		switch {
		case isVague && left > 0:
			left--
			what, not := reaches(l, w, schedules[all.First[f.Key()]], poisonOf(f))
			w.Meter.Did(1)
			if what != "" {
				matters(f, what)
				f.Notes = append(f.Notes, "in runs of this schedule with other values in its place, "+what+" differed")
				continue
			}
			if not == "" {
				not = "it goes through an instruction that is not followed bit by bit, and reaches " + to.What + " at " + l.NameAt(to.PC) + "; a few other values in its place made no difference"
			}
			gap(undecidedRead(f, not))
		case isVague:
			gap(undecidedRead(f, fmt.Sprintf("more than %d such reads are not followed one by one", maxVague)))
		case !settled && rules.Dropped(f):
			gap(undecidedRead(f, why))
		}
		if rules.Dropped(f) && (f.Kind != "undefined-shuffle" || settled && !isVague) {
			drop[f.Key()] = true
		}
	}
	for i := range all.Findings {
		f := &all.Findings[i]
		if pc := int32(0); f.Register > 0 && f.Severity == rules.Error {
			if pc = f.Sites[0].PC; named[pc] > maxNamed && f != errorsAt[pc] {
				more[pc]++
				drop[f.Key()] = true
			}
		}
	}
	for pc, n := range more {
		errorsAt[pc].Notes = append(errorsAt[pc].Notes, fmt.Sprintf("it reads %s besides that nobody has written", diag.Plural(n, "register")))
	}
	all.Findings = slices.DeleteFunc(all.Findings, func(f rules.Finding) bool { return drop[f.Key()] })
}

// openOrigin returns the origin of a finding that is among the open ones, or was.
func openOrigin(f *rules.Finding, open map[machine.UndefinedFrom]*rules.Finding) *machine.UndefinedFrom {
	if _, ok := undefinedKinds[f.Kind]; !ok || len(f.Sites) == 0 {
		return nil
	}
	from := originOf(f)
	if open[from] != f {
		return nil
	}
	return &from
}

// schedulesToFollow lists, by number, the schedules in which undefined values are
// followed: those that first showed an open finding and, unless one stands for all
// (proven), some more; if there are none, the first.
func schedulesToFollow(schedules int, all *trial.Merged, open map[machine.UndefinedFrom]*rules.Finding, proven bool) (list []int) {
	for _, f := range open {
		if n := all.First[f.Key()]; !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	if proven && len(list) > 0 {
		return list
	}
	for n := range schedules {
		if len(list) >= maxFollowed {
			break
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
		if proven {
			break
		}
	}
	return list
}

// matters turns a finding whose value reaches something into an error.
func matters(f *rules.Finding, to string) {
	f.Severity = rules.Error
	f.Headline += ", and the value reaches " + to
}

// undecidedRead returns the gap for a value that may or may not matter.
func undecidedRead(f *rules.Finding, why string) rules.Gap {
	return rules.Gap{What: "whether an undefined value that is read here matters: " + why, PC: f.Sites[0].PC}
}

// DropUnreached drops findings about reads that do not matter from a proof's runs, so
// that they do not refute the proof. If some matter, all stay, as do those that only
// runs of another order showed: Reach decides about them with other schedules. It
// reports whether values that the driver or the part decides matter.
func DropUnreached(l *trial.Subject, w *trial.Budget, r *trial.Result) (unknown bool) {
	if r.Err != nil {
		return false
	}
	some := slices.ContainsFunc(r.Findings, func(f rules.Finding) bool { return rules.Dropped(&f) })
	if !some && !l.Program.Unspecified() {
		return false
	}
	run := followProof(l, w, r.Instrs)
	if !run.none() {
		return !some || slices.ContainsFunc(run.reached, func(to machine.UndefinedReach) bool { return to.From.Kind == machine.UnknownResult })
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f rules.Finding) bool { return rules.Dropped(&f) && run.seen(originOf(&f)) })
	return false
}

// Matters returns a finding of a proof's run about an unwritten or undefined value, if one that
// the run read reaches something, or may.
func Matters(l *trial.Subject, w *trial.Budget, findings []rules.Finding) *rules.Finding {
	i := slices.IndexFunc(findings, func(f rules.Finding) bool { return rules.MayReach(&f) })
	if i < 0 {
		return nil
	}
	if run := follow(l, w, trial.ProofSchedule); run.none() {
		return nil
	}
	return &findings[i]
}

// Undecided adds gaps for the reads that a proof's runs showed and no schedule run
// since did, so that nothing tells whether they matter.
func Undecided(r *trial.Result, all *trial.Merged) {
	if len(all.Gaps) > 0 {
		return
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; rules.Dropped(f) && all.Seen[f.Key()] == 0 {
			all.AddGap(undecidedRead(f, "no schedule that ran comes to it"))
		}
	}
}

// poisonOf returns the Poison that replaces the value that a finding is about.
func poisonOf(f *rules.Finding) machine.Poison {
	if f.Register > 0 {
		return machine.Poison{PC: -1, Register: f.Register}
	}
	return machine.Poison{PC: f.Sites[0].PC}
}

// reaches returns what differs between the poisoned runs, empty if nothing does; or
// why that cannot be said.
func reaches(l *trial.Subject, w *trial.Budget, s trial.Schedule, p machine.Poison) (to, why string) {
	return differ(l, w, s, p, poisons(l))
}

// differ is reaches for given poisons. One with the PC -1 replaces nothing.
func differ(l *trial.Subject, w *trial.Budget, s trial.Schedule, p machine.Poison, list []machine.Poison) (to, why string) {
	var first effects
	at := p.PC
	for i, with := range list {
		p.Value, p.Mixed, p.Among, p.Turn = with.Value, with.Mixed, with.Among, with.Turn
		if p.PC = at; with.PC < 0 {
			p.PC = with.PC
		}
		e, why := poisoned(l, w, s, p, first.instrs)
		switch {
		case why != "":
			return "", why
		case i == 0:
			if e.end == machine.LimitInstrs {
				return "", fmt.Sprintf("a limit of %d warp instructions ran out (Limits.Instrs)", l.Limits.Instrs)
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

// poisoned makes one run. instrs is the length of other runs: a run that is much
// longer does something else.
func poisoned(l *trial.Subject, w *trial.Budget, s trial.Schedule, p machine.Poison, instrs int64) (e effects, why string) {
	m := l.Machine(&e, &p)
	if instrs > 0 {
		m.LimitInstrs(4*instrs + 1<<16)
	}
	if err := trial.Begin(m, s); err != nil {
		e.end = impossible
		return e, ""
	}
	s.Prefix = nil
	stop, reason := w.Stop()
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

// Further ends of a run: it came to its end; its schedule named a choice that it did
// not have.
const (
	ended      = machine.StopKind(0xfe)
	impossible = machine.StopKind(0xff)
)

// effects are what is visible of a run from outside.
type effects struct {
	seen   trial.Hash // which visible operations, and where
	memory uint64
	end    machine.StopKind
	instrs int64
}

func (e *effects) Observe(_ *machine.Machine, ev *machine.Event) {
	t := &e.seen
	if ev.Kind == machine.EvRegister { // visible to no other thread
		return
	}
	t.Mix(uint64(ev.Kind)<<56 | uint64(uint32(ev.PC)))
	t.Mix(uint64(uint32(ev.CTA))<<32 | uint64(uint32(ev.Warp)))
	t.Mix(uint64(ev.Mask))
	switch ev.Kind {
	case machine.EvAccess:
		for lane, a := range ev.Addr {
			if ev.Mask>>lane&1 != 0 {
				t.Mix(a)
			}
		}
	case machine.EvMbar, machine.EvMbarWait:
		b := &ev.Mbar
		t.Mix(uint64(uint32(b.Bar.Mem))<<32 ^ b.Bar.Addr)
		t.Mix(uint64(b.Op)<<56 ^ uint64(b.Count)<<32 ^ uint64(b.Bytes))
		t.Mix(uint64(b.Phase))
	case machine.EvBarArrive, machine.EvBarPass:
		t.Mix(uint64(uint32(ev.Bar))<<32 ^ uint64(ev.Count))
	case machine.EvRegisters:
		t.Mix(uint64(ev.Count))
	case machine.EvIssue:
		for _, list := range [...][]machine.Span{ev.Op.Reads, ev.Op.Writes} {
			for _, s := range list {
				t.Mix(uint64(uint32(s.Mem))<<32 ^ s.Addr)
				t.Mix(s.Len)
			}
		}
		for i, b := range ev.Op.Bars {
			t.Mix(uint64(uint32(b.Mem))<<32 ^ b.Addr)
			t.Mix(uint64(ev.Op.BarBytes[i]))
		}
	}
}
