package trial

import (
	"context"
	"testing"
	"time"
)

// The time limit covers all parts of a check together: what begins later ends no
// later.
func TestOneTimeLimit(t *testing.T) {
	l := &Subject{Limits: Limits{Time: time.Hour}}
	ctx := l.Within(context.Background(), 1)
	whole := l.Budget(ctx).until
	if half := l.Budget(l.Within(ctx, 2)).until.at; !half.Before(whole.at) {
		t.Errorf("a part that may take half ends at %v, the whole at %v", half, whole)
	}
	l.Limits.Time *= 2 // as if an hour had gone by
	if later := l.Budget(l.Within(ctx, 1)).until; later != whole {
		t.Errorf("what begins later ends at %v, the whole at %v", later, whole)
	}
	if alone := l.Budget(context.Background()).until.at; !alone.After(whole.at) {
		t.Errorf("without a whole it ends at %v", alone)
	}
}
