package muster

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"muster/internal/evidence"
	"muster/internal/explore"
	"muster/internal/rules"
	"muster/internal/trial"
)

// A Shrunk is the smallest schedule that Shrink found.
type Shrunk struct {
	Schedule Schedule
	Size     Size
	From     Size // the given schedule's
	Runs     int  // made to find it
	// Local: no single move makes it smaller. It is false where a bound ran out.
	Local bool
}

// A Size measures a schedule: its switches from one split or operation to another, its
// steps, and the choices that it names.
type Size struct{ Switches, Steps, Choices int }

// ShrinkOptions bound the work of Shrink. The zero value takes the defaults, and so does
// any number less than 1.
type ShrinkOptions struct {
	Runs  int         // at most; by default 1,000
	Steps int         // of all runs together, at most; by default 2,097,152
	Stop  func() bool // polled; when true, the best so far is returned
}

// A NotShown is the error for a schedule that does not show a finding.
type NotShown struct {
	Schedule Schedule
	ID       string
}

func (e *NotShown) Error() string {
	return fmt.Sprintf("schedule %v does not show %s: the kernel, the launch or muster is another than when it was found", brief(e.Schedule.String()), e.ID)
}

// brief abbreviates a schedule for an error message.
func brief(text string) string {
	if len(text) > 120 {
		return text[:60] + "…" + text[len(text)-50:]
	}
	return text
}

// Shrink looks for the smallest schedule that shows a finding: the fewest switches from
// one split or operation to another, then the fewest steps. id is the finding's ID in a
// report of this launch, and s must show it. The result shows it too, and is the same on
// every machine, unless ctx or a limit on time ends the search early.
func (l *Launch) Shrink(ctx context.Context, s Schedule, id string, o ShrinkOptions) (Shrunk, error) {
	if with, rest, ok := l.chosen([]Schedule{s}); ok {
		got, err := with.Shrink(ctx, rest[0], id, o)
		got.Schedule.of = with.written(got.Schedule.of)
		return got, err
	}
	w := l.subject.Budget(ctx)
	shown, err := l.shown(w, s, id)
	if err != nil {
		return Shrunk{}, err
	}
	w.Meter.StageAtMost("making the schedule short", "run", cmp.Or(max(o.Runs, 0), explore.DefaultShrinkRuns))
	stop, _ := w.Stop()
	if o.Stop != nil {
		given := o.Stop
		limit := stop
		stop = func() bool { return given() || limit() }
	}
	found, ok := explore.Shrink(evidence.Trial(ctx, shown.Launch, l.predictor, shown.Finding), shown.Schedule, explore.ShrinkOptions{Runs: max(o.Runs, 0), Steps: max(o.Steps, 0), Stop: stop, Ran: func() { w.Meter.Did(1) }})
	got := Shrunk{Schedule{found.Schedule}, size(found.Size), size(found.From), found.Runs, found.Local}
	if err := ctx.Err(); err != nil {
		return got, err
	}
	if !ok {
		return got, &NotShown{s, id}
	}
	return got, nil
}

func size(s explore.Size) Size { return Size{s.Switches, s.Steps, s.Choices} }

// shown returns a run of the whole launch that shows the finding with that ID.
func (l *Launch) shown(w *trial.Budget, s Schedule, id string) (evidence.Shown, error) {
	is := func(f *rules.Finding) bool {
		found := l.resolver.Finding(f)
		return found.Is(id)
	}
	got, err := evidence.Whole(l.subject, l.predictor, w, s.of, evidence.Sought{ID: id, Is: is})
	var cut *evidence.Cut
	switch {
	case errors.As(err, &cut):
		return got, untold(cut.Steps, cut.Why)
	case err == nil && got.Finding == nil:
		return got, &NotShown{s, id}
	}
	return got, err
}
