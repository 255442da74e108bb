package muster

import (
	"context"
	"testing"
	"time"

	"muster/launch"
)

// The time limit is for all parts of a check together: what begins later ends no
// later.
func TestOneTimeLimit(t *testing.T) {
	l := &Launch{limits: Limits{Time: time.Hour}, layout: &launch.Layout{}}
	ctx := l.within(context.Background(), 1)
	whole := l.watch(ctx).until
	if half := l.watch(l.within(ctx, 2)).until; !half.Before(whole) {
		t.Errorf("a part that may take half ends at %v, the whole at %v", half, whole)
	}
	l.limits.Time *= 2 // as if an hour had gone by
	if later := l.watch(l.within(ctx, 1)).until; later != whole {
		t.Errorf("what begins later ends at %v, the whole at %v", later, whole)
	}
	if alone := l.watch(context.Background()).until; !alone.After(whole) {
		t.Errorf("without a whole it ends at %v", alone)
	}
}
