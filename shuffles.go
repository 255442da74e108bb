package muster

import (
	"context"
	"slices"

	"muster/internal/machine"
	"muster/internal/rules"
)

// What a shfl takes from a lane that takes no part is undefined. It is followed first
// through registers, lane by lane: most such values never leave them, and one that does
// stays a warning though no poisoned run shows that it matters.

// reachShuffles raises the warnings about undefined values of shfl that matter to
// errors, and drops those of values that never leave the registers.
func (l *Launch) reachShuffles(ctx context.Context, o CheckOptions, all *merged) error {
	loose, known := l.loose(ctx, o, all)
	harmless := map[string]bool{}
	w := l.watch(ctx)
	followed := 0
	for i := range all.findings {
		f := &all.findings[i]
		if !passing(*f) {
			continue
		}
		if known && len(loose) == 0 {
			harmless[f.Key()] = true
			continue
		}
		if followed++; followed > mostReaches {
			break
		}
		harmless[f.Key()] = l.reachShuffle(ctx, w, f, o.Schedules[all.first[f.Key()]], loose, known)
	}
	all.findings = slices.DeleteFunc(all.findings, func(f rules.Finding) bool { return passing(f) && harmless[f.Key()] })
	return nil
}

// reachShuffle decides about one finding, given the schedules in which some value leaves
// the registers. It reports whether this one's never does.
func (l *Launch) reachShuffle(ctx context.Context, w *watch, f *rules.Finding, s Schedule, loose []Schedule, known bool) (harmless bool) {
	pc := f.Sites[0].PC
	into, decides := "", false
	for k := 0; k < len(loose) && !decides; k++ {
		if what, settles, _ := l.leaves(ctx, loose[k], pc); into == "" || settles {
			into, decides, s = what, settles, loose[k]
		}
	}
	if known && into == "" {
		return true
	}
	// The first run is the one without poison.
	to, _ := l.differ(w, s, machine.Poison{PC: pc}, append([]machine.Poison{{PC: -1}}, poisons[:]...))
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
	return false
}

// passing reports whether a finding is none where its value reaches nothing.
func passing(f rules.Finding) bool {
	return f.Kind == "undefined-shuffle" && f.Severity == rules.Warning
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
