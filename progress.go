package muster

import (
	"context"
	"time"

	"muster/internal/progress"
)

// A Progress is how far work has come. String gives it in one line, but for Time.
type Progress struct {
	// Within says of which larger work this is a part, the largest first: "launch 2 of 5".
	Within []string
	// Stage says what is done: "proof by one run", "exploring".
	Stage string
	// Done of Of parts of the stage are done, each of which is a Part: "schedule". With AtMost
	// there may be fewer. Of is 0 where their number is not known.
	Part     string
	Done, Of int
	AtMost   bool
	// Schedules and Steps of an exploration, those that earlier processes made included, or the
	// steps of a run, and what they are limited to; 0: there is no such limit.
	Schedules, MaxSchedules int
	Steps, MaxSteps         int64
	// Instrs are the warp instructions of the run that told last, MaxInstrs their limit.
	Instrs, MaxInstrs int64
	// Units are the shares of the work that the first runs of an exploration left, UnitsDone
	// of them done.
	Units, UnitsDone int
	Findings         int // of the stage
	// Time is what is used of MaxTime, Limits.Time.
	Time, MaxTime time.Duration
	// Left estimates how long the stage still takes, at the rate so far; with LeftAtMost it may
	// end before, as at a limit that it need not reach. 0 where nothing can be said.
	Left       time.Duration
	LeftAtMost bool
}

func (p Progress) String() string { return progress.Progress(p).String() }

// WithProgress returns a context whose work tells how far it has come: Check, CheckAny, Run,
// Reduce, Shrink and Tell call tell when a stage begins, and now and then while it lasts, from
// one goroutine at a time. tell must not take long. It changes no result.
func WithProgress(ctx context.Context, tell func(Progress)) context.Context {
	return progress.With(ctx, func(p progress.Progress) { tell(Progress(p)) }, time.Now)
}

// WithProgressOf returns ctx for a piece of its work, of which its progress tells as a part
// of that: "launch 2 of 5".
func WithProgressOf(ctx context.Context, piece string) context.Context {
	return progress.In(ctx, piece)
}
