package muster

import (
	"context"
	"slices"

	"muster/internal/machine"
	"muster/internal/rules"
)

// An undefined value is harmless where it is thrown away, and wrong where it reaches
// an output, a branch or an address: what a load takes from shared memory that nobody
// wrote, what a shfl takes from a lane that takes no part. Which it is, a few more runs
// tell: the same schedule with what that instruction takes replaced by one pattern and
// by others. If the runs do the same and leave the same global memory, the value
// reaches nothing, as far as these patterns show. What a shfl takes is followed first
// through registers, lane by lane: most such values never leave them, and one that does
// stays a warning though no pattern shows that it matters.

// poisons are the patterns: as integers zero, large and -1, as floating point zero,
// large and NaN, and one that differs from place to place.
var poisons = [...]machine.Poison{{Value: 0x00}, {Value: 0x7f}, {Value: 0xff}, {Mixed: true}}

// mostReaches bounds how many instructions are followed in one check.
const mostReaches = 16

// follows reports whether it is followed what becomes of a finding's value.
func follows(f *rules.Finding) bool {
	return (f.Kind == "uninitialized-shared" || passing(*f)) && f.Severity == rules.Warning && len(f.Sites) > 0 && f.Sites[0].Role == "reads"
}

// passing reports whether a finding is none where its value reaches nothing.
func passing(f rules.Finding) bool {
	return f.Kind == "undefined-shuffle" && f.Severity == rules.Warning
}

// reach raises the warnings about undefined values that matter to errors, and drops
// those that are warnings for no other reason.
func (l *Launch) reach(ctx context.Context, o CheckOptions, all *merged) error {
	loose, known := l.loose(ctx, o, all)
	harmless := map[string]bool{}
	w := l.watch(ctx)
	followed := 0
	for i := range all.findings {
		f := &all.findings[i]
		if !follows(f) {
			continue
		}
		if known && len(loose) == 0 && passing(*f) {
			harmless[f.Key()] = true
			continue
		}
		if followed++; followed > mostReaches {
			break
		}
		s, pc := o.Schedules[all.first[f.Key()]], f.Sites[0].PC
		into, decides := "", false
		if passing(*f) {
			for k := 0; k < len(loose) && !decides; k++ {
				if what, settles, _ := l.leaves(ctx, loose[k], pc); into == "" || settles {
					into, decides, s = what, settles, loose[k]
				}
			}
			if harmless[f.Key()] = known && into == ""; harmless[f.Key()] {
				continue
			}
		}
		to := l.reaches(w, s, pc)
		switch {
		case to != "":
			f.Severity = rules.Error
			f.Headline += ", and the value reaches " + to
			f.Notes = append(f.Notes, "in runs of this schedule in which this instruction took other values there, "+to+" differed")
		case decides:
			f.Severity = rules.Error
			f.Headline += ", and the value reaches " + into
		case into != "":
			f.Notes = append(f.Notes, "the value goes into "+into+"; runs with a few other values did the same")
		}
	}
	all.findings = slices.DeleteFunc(all.findings, func(f rules.Finding) bool { return passing(f) && harmless[f.Key()] })
	return ctx.Err()
}

// loose lists the schedules in which a value leaves the registers that a shfl takes from
// a lane which takes no part. One schedule tells for all of a proven launch; of another
// those tell that a check runs, and not each one that exploration goes through. It is
// not known where the time ran out.
func (l *Launch) loose(ctx context.Context, o CheckOptions, all *merged) (list []Schedule, known bool) {
	if !slices.ContainsFunc(all.findings, passing) {
		return nil, true
	}
	schedules := o.Schedules
	if all.proof != nil && all.proof.All {
		schedules = []Schedule{proofSchedule}
	}
	for _, s := range schedules {
		switch into, _, known := l.leaves(ctx, s, -1); {
		case !known:
			return list, false
		case into != "":
			list = append(list, s)
		}
	}
	return list, true
}

// leaves says what a value goes into, and whether it decides there, that the shfl at pc,
// or any, takes from a lane which takes no part; empty if none leaves the registers. It
// is not known where the time ran out.
func (l *Launch) leaves(ctx context.Context, s Schedule, pc int32) (into string, decides, known bool) {
	m := l.machine(nil, nil)
	u := m.FollowUndefined(pc)
	gap, err := l.follow(l.watch(ctx), m, s)
	into, decides = u.Reaches()
	return into, decides, gap == nil && err == nil
}

// thrownAway drops from what a proof's run found the values that reach nothing: they
// are no reason to run other schedules.
func (l *Launch) thrownAway(ctx context.Context, fs []rules.Finding) []rules.Finding {
	some := slices.ContainsFunc(fs, passing)
	if !some {
		return fs
	}
	if into, _, known := l.leaves(ctx, proofSchedule, -1); !known || into != "" {
		return fs
	}
	return slices.DeleteFunc(fs, passing)
}

// reaches says what differs between a run and the same with poisons; empty if nothing
// does, or the time ran out.
func (l *Launch) reaches(w *watch, s Schedule, pc int32) (to string) {
	first, memory, ok := l.poisoned(w, s, nil)
	if !ok {
		return ""
	}
	for _, p := range poisons {
		p.PC = pc
		switch t, m, ok := l.poisoned(w, s, &p); {
		case !ok:
			return ""
		case t != first:
			return "a branch or an address"
		case m != memory:
			to = "an output"
		}
	}
	return to
}

// poisoned runs a schedule with a poison. It returns what the run did, and a hash of
// the global memory that it left; false if the time ran out.
func (l *Launch) poisoned(w *watch, s Schedule, p *machine.Poison) (t trace, memory uint64, ok bool) {
	m := l.machine(&t, p)
	gap, err := l.follow(w, m, s)
	if err != nil {
		return trace{1}, 0, true // the run cannot even follow the schedule
	}
	end := m.Stopped()
	if gap != nil && end == nil {
		return t, 0, false
	}
	if end != nil {
		t.mix(uint64(end.Kind)<<56 | uint64(uint32(end.PC)))
		t.mix(end.Addr)
	}
	return t, m.GlobalHash(), true
}

// A trace is a hash of which visible operations a run made, and where.
type trace struct{ hash uint64 }

func (t *trace) Observe(_ *machine.Machine, ev *machine.Event) {
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
	case machine.EvMbar:
		t.mix(uint64(ev.Mbar.Bar.Mem)<<32 ^ ev.Mbar.Bar.Addr)
		t.mix(uint64(ev.Mbar.After))
	case machine.EvMbarWait:
		t.mix(uint64(ev.Mbar.Bar.Mem)<<32 ^ ev.Mbar.Bar.Addr)
		t.mix(uint64(ev.Mbar.Phase))
	case machine.EvIssue:
		for _, s := range slices.Concat(ev.Op.Reads, ev.Op.Writes) {
			t.mix(uint64(s.Mem)<<32 ^ s.Addr)
			t.mix(s.Len)
		}
	case machine.EvBarArrive:
		t.mix(uint64(ev.Bar)<<32 | uint64(ev.Count))
	}
}

// mix is a round of FNV-1a on 64-bit words.
func (t *trace) mix(v uint64) { t.hash = (t.hash ^ v) * 0x100000001b3 }
