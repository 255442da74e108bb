package main

import (
	"context"

	"github.com/spf13/pflag"

	"muster"
)

// An anyFlag is the number of the argument for which a proof of all larger values is
// tried.
type anyFlag int

func (a *anyFlag) register(f *pflag.FlagSet) {
	f.IntVar((*int)(a), "any", 0, "prove all schedules for every larger value, too, of scalar argument `N`, by which a loop goes round more often")
}

func (a anyFlag) check(ctx context.Context, l *muster.Launch, o muster.CheckOptions) (*muster.Report, error) {
	if a == 0 {
		return l.Check(ctx, o)
	}
	return l.CheckAny(ctx, o, int(a))
}
