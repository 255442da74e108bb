package muster

import (
	"context"

	"muster/internal/machine"
	"muster/internal/rules"
)

// A load of shared memory that nobody wrote is harmless where its value is
// thrown away, and wrong where it reaches an output, a branch or an address.
// Which it is, a few more runs tell: the same schedule with what that load takes
// from unwritten bytes replaced by one pattern and by others. If the runs do the
// same and leave the same global memory, the value reaches nothing. No flow through registers has to be followed.

// poisons are the patterns: as integers zero, large and -1, as floating point
// zero, large and NaN.
var poisons = [...]byte{0x00, 0x7f, 0xff}

// mostReaches bounds how many loads are followed in one check.
const mostReaches = 16

// reach raises the warnings about uninitialized shared memory whose values
// matter to errors.
func (l *Launch) reach(ctx context.Context, o CheckOptions, all *merged) error {
	w := l.watch(ctx)
	followed := 0
	for i := range all.findings {
		f := &all.findings[i]
		if f.Kind != "uninitialized-shared" || f.Severity != rules.Warning || len(f.Sites) == 0 || f.Sites[0].Role != "reads" {
			continue
		}
		if followed++; followed > mostReaches {
			return nil
		}
		to, gap, err := l.reaches(w, o.Schedules[all.first[f.Key()]], f.Sites[0].PC)
		if err != nil {
			return err
		}
		if gap != nil {
			all.addGap(*gap)
		}
		if to == "" {
			continue
		}
		f.Severity = rules.Error
		f.Headline += ", and the value reaches " + to
		f.Notes = append(f.Notes, "in runs of this schedule in which this load took other values from those bytes, "+to+" differed")
	}
	return nil
}

// reaches says what differs between the poisoned runs; empty if nothing does. A run
// that does not come to its end decides nothing, and is a gap.
func (l *Launch) reaches(w *watch, s Schedule, pc int32) (string, *rules.Gap, error) {
	var traces [len(poisons)]trace
	var memory [len(poisons)]uint64
	for i, v := range poisons {
		m := l.machine(&traces[i], &machine.Poison{PC: pc, Value: v})
		if gap, err := l.follow(w, m, s); err != nil || gap != nil {
			return "", gap, err
		}
		memory[i] = m.GlobalHash()
	}
	to := ""
	for i := range poisons {
		switch {
		case traces[i] != traces[0]:
			return "a branch or an address", nil, nil
		case memory[i] != memory[0]:
			to = "an output"
		}
	}
	return to, nil, nil
}

// A trace is a hash of which visible operations a run made, and where.
type trace struct{ hash uint64 }

func (t *trace) Observe(_ *machine.Machine, ev *machine.Event) {
	t.mix(uint64(ev.Kind)<<56 | uint64(uint32(ev.PC)))
	t.mix(uint64(uint32(ev.CTA))<<32 | uint64(uint32(ev.Warp)))
	t.mix(uint64(ev.Mask))
	if ev.Kind != machine.EvAccess {
		return
	}
	for lane, a := range ev.Addr {
		if ev.Mask>>lane&1 != 0 {
			t.mix(a)
		}
	}
}

// mix is a round of FNV-1a on 64-bit words.
func (t *trace) mix(v uint64) { t.hash = (t.hash ^ v) * 0x100000001b3 }
