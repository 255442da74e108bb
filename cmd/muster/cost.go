package main

import (
	"github.com/spf13/pflag"

	"muster"
)

// costFlag registers --cost: which fences and barriers of a proven launch are redundant.
func costFlag(f *pflag.FlagSet, o *muster.CheckOptions) {
	f.BoolVar(&o.Cost, "cost", false, "note the fences and barriers that a launch proven for all schedules could do without: one more run for each")
}
