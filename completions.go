package muster

import (
	"context"

	"muster/internal/story"
	"muster/internal/trial"
	"muster/report"
)

// A Completion is a wait and an instruction that completes it, or a part of it: an arrival,
// an expectation, a copy, a commit.
type Completion struct{ Wait, By report.Place }

// Completions runs the launch once, as early as asynchronous operations may be, and lists
// which instructions completed which waits in that run, or would have, where it hangs. A run
// that a limit ends gives what it has shown until then.
func (l *Launch) Completions(ctx context.Context) ([]Completion, error) {
	ctx = l.subject.Within(ctx, 1)
	seen := story.NewCompletions()
	m := l.subject.Part(seen, l.subject.Skips(), 0, 1)
	if _, err := l.subject.Follow(l.subject.Budget(ctx), m, trial.Schedule{}); err != nil {
		return nil, err
	}
	var list []Completion
	for _, p := range seen.Pairs() {
		_, wait := l.resolver.Where(p.Wait)
		_, by := l.resolver.Where(p.By)
		if wait != nil && by != nil {
			list = append(list, Completion{*wait, *by})
		}
	}
	return list, ctx.Err()
}
