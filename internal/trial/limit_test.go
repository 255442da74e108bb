package trial_test

import (
	"context"
	"testing"
	"time"

	"muster/internal/machine"
	"muster/internal/trial"
)

// TestLimitIn: what Over and LimitGap say ran out is found in their words, and only there.
func TestLimitIn(t *testing.T) {
	limits := trial.Limits{Instrs: 7, Memory: 1 << 50, Local: 8, Time: time.Hour}
	small := limits
	small.Memory = 1
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	local, _ := (&trial.Subject{Limits: limits}).LimitGap(&machine.Stop{Kind: machine.LimitLocal, Size: 9})
	calls, _ := (&trial.Subject{Limits: limits}).LimitGap(&machine.Stop{Kind: machine.LimitLocal})
	instrs, _ := (&trial.Subject{Limits: limits}).LimitGap(&machine.Stop{Kind: machine.LimitInstrs})
	for _, c := range []struct {
		text, want string
		interrupts bool
	}{
		{trial.NewBudget(trial.Tripping(context.Background(), func() bool { return true }), limits).Over(), "Limits.Time", false},
		{trial.NewBudget(context.Background(), small).Over(), "Limits.Memory", false},
		{local.What, "Limits.Local", false},
		{instrs.What, "Limits.Instrs", false},
		{calls.What, "", false},
		{trial.NewBudget(ctx, limits).Over(), "", true},
		{"multimem.red is not modelled", "", false},
	} {
		if got := trial.LimitIn(c.text); got != c.want || trial.Interrupted(c.text) != c.interrupts || c.text == "" {
			t.Errorf("%q: %q, %v; want %q, %v", c.text, got, trial.Interrupted(c.text), c.want, c.interrupts)
		}
	}
	if local.AtLeast != 9 || calls.AtLeast != 0 {
		t.Errorf("%d and %d", local.AtLeast, calls.AtLeast)
	}
}
