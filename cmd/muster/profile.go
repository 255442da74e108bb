package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"muster"
	"muster/report"
)

// A profileFlag is --profile, and the profile that it asks for.
type profileFlag struct {
	asked bool
	of    *report.Profile
}

func (p *profileFlag) register(fs *pflag.FlagSet) {
	fs.BoolVar(&p.asked, "profile", false, "say what the steps went into: by warp, instruction, wait and CTA, with copies, matrix products and rings (docs/profile.md)")
}

// flag is what the flag is called where it is given; else empty.
func (p *profileFlag) flag() string {
	if !p.asked {
		return ""
	}
	return "--profile"
}

// make makes the profile of a run under a schedule.
func (p *profileFlag) make(ctx context.Context, l *muster.Launch, s muster.Schedule) (err error) {
	if p.asked {
		p.of, err = l.Profile(ctx, s, muster.ProfileOptions{})
	}
	return err
}

// write writes the profile below what a run says, unless that is JSON, which has it; or says why
// there is none.
func (p *profileFlag) write(c *console, format formatFlag, err error) error {
	var untold *muster.Untold
	switch {
	case errors.As(err, &untold):
		return &unprofiledError{untold}
	case err != nil || p.of == nil || format == "json":
		return err
	}
	fmt.Fprintln(c.out)
	return p.of.WriteText(c.out, c.look(report.TextOptions{}))
}

// An unprofiledError says why there is no profile of a run.
type unprofiledError struct{ why *muster.Untold }

func (e *unprofiledError) Error() string { return "no profile: " + e.why.Reason }
func (e *unprofiledError) Unwrap() error { return e.why }
