package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/mutate"
)

func mutateCommand(c *console) *cobra.Command {
	var in input
	var format formatFlag
	var o mutate.Options
	var random int
	var list bool
	cmd := &cobra.Command{
		Use:   "mutate LAUNCH|FILE.ptx",
		Short: "Break each synchronization in turn, and see what finds it",
		Long: `Mutate takes a kernel that is right, deletes or weakens each instruction that
synchronizes, one at a time, and checks every mutant under the schedules of a
check. Its table says under which name a mutant is found: an error or a warning
that the kernel itself does not draw.

A mutant that is not found is run for its results. If they differ from those of
the kernel in the same schedule, muster has missed a defect, and says so. Else
the instruction is not missed in this launch, and the table gives the reason
where one can be had: nobody comes to it, another survivor gives the same order
(without both, something is found), the launch has one CTA.

The kinds: ` + strings.Join(mutate.Kinds(), ", ") + `.
--only takes a kind, a variant (wait-pass) or one mutant (wait-pass@118:2).

--limit-time is for all of them together: mutants that it does not do for are
unfinished.

Exit status: 0 every mutant is found or changes nothing, 1 a survivor changes a
result, 2 bad input, 3 a run did not come to its end and nothing was found.
` + launchHelp,
		Example: `  muster mutate examples/ring/ring.yaml
  muster mutate examples/ring/ring.yaml --only fence --only wait
  muster mutate examples/ring/ring.yaml --list`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if random < 1 {
				return fmt.Errorf("--schedules %d: at least one", random)
			}
			w, err := c.begin(&in)
			if err != nil {
				return err
			}
			defer w.close()
			f, err := in.file(args)
			if err != nil {
				return err
			}
			if list {
				if format == "json" {
					return errors.New("--list is text: leave --format out")
				}
				ms, err := mutate.ListLaunch(f, o.Only)
				if err != nil {
					return err
				}
				return mutate.WriteList(c.out, ms)
			}
			o.Limits = in.limits
			o.Schedules = muster.Handful(max(0, random-3))[:random]
			if o.Jobs <= 0 {
				o.Jobs = runtime.GOMAXPROCS(0)
			}
			t, err := mutate.Run(w, f, o)
			if t == nil {
				return err
			}
			w.answered()
			tableInFlags(t)
			if format == "json" {
				err = t.WriteJSON(c.out)
			} else {
				err = t.WriteText(c.out)
			}
			if err != nil {
				return err
			}
			return w.exit(mutateStatus(t))
		},
	}
	f := cmd.Flags()
	in.register(f)
	format.register(f)
	f.IntVar(&o.Jobs, "jobs", 0, "mutants to run at a time; default: one a processor")
	f.IntVar(&random, "schedules", 3+muster.DefaultRandom, "how many schedules to run, `N`")
	f.StringArrayVar(&o.Only, "only", nil, "a `kind` of mutations, a variant, or one")
	f.BoolVar(&list, "list", false, "list the mutants and run none")
	return cmd
}

// mutateStatus converts a table to an exit status.
func mutateStatus(t *mutate.Table) error {
	switch {
	case t.Count(mutate.Changes) > 0:
		return exit(exitFindings)
	case t.Count(mutate.Unfinished) > 0 || len(t.Original.Gaps) > 0:
		return exit(exitIncomplete)
	}
	return nil
}
