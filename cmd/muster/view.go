package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/diag"
	"muster/internal/files"
)

// A viewing holds the flags of one view.
type viewing struct {
	in       input
	html     string
	schedule string
	beside   string
	id       string
	browser  bool
	summary  string // of the check
}

func viewCommand(c *console) *cobra.Command {
	var v viewing
	cmd := &cobra.Command{
		Use:   "view LAUNCH|FILE.ptx|FILE.cu",
		Short: "Show a run in a page, step by step",
		Long: `View checks the launch and shows a run of it in a page for a browser: what each
warp, copy and barrier does, step by step, with the PTX and its source, registers
and memory. It begins at the first finding, or at the one that --finding names; of a
launch that is clean it shows schedule earliest. --beside shows a second run.

With --html it writes the page as one file that needs nothing else: no server and no
network. Of a long run that file has registers and memory near the finding's places
alone. Without --html, view serves the page on the loopback address of this machine,
with registers and memory of every step, until it is interrupted (Ctrl-C). It prints
the address, which others cannot guess.

Exit status 0: there is a page, whatever the check found. It is 3 if there is none
since a limit ran out, or an interrupt came before it was made.
` + launchHelp,
		Example: `  muster view examples/ring/broken_bytes.yaml
  muster view examples/ring/broken_bytes.yaml --html bytes.html
  muster view examples/ring/ring.yaml --schedule earliest --beside latest --html two.html`,
		Args: atMost(1, aLaunch),
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(c, cmd, args) },
	}
	f := cmd.Flags()
	v.in.register(f)
	f.StringVar(&v.html, "html", "", "write the page to a `file`")
	f.StringVar(&v.schedule, "schedule", "", "show the run of this `schedule`, or @FILE; default: that of the finding")
	f.StringVar(&v.id, "finding", "", "begin at this finding, `kind@file.ptx:lines`; default: the first")
	f.StringVar(&v.beside, "beside", "", "show the run of this `schedule` too, or @FILE")
	f.BoolVar(&v.browser, "browser", false, "show the page in a browser")
	return cmd
}

func (v *viewing) run(c *console, cmd *cobra.Command, args []string) error {
	if v.browser && v.html != "" {
		return errors.New("--browser shows a page that is served; --html FILE writes one: show that one")
	}
	if cmd.Flags().Changed("html") && v.html == "" {
		return errors.New("--html: name a file")
	}
	if err := v.served(); err != nil {
		return err
	}
	runs, args, err := v.runs(args)
	if err != nil {
		return err
	}
	v.in.outputs = []string{v.html}
	w, err := c.begin(&v.in)
	if err != nil {
		return err
	}
	defer w.close()
	l, words, err := v.in.load(w, cmd, args)
	if err != nil {
		return err
	}
	page, err := v.page(w, l, words, runs)
	var untold *muster.Untold
	if errors.As(err, &untold) {
		err = &unseenError{untold}
	}
	if err != nil {
		return w.exit(err)
	}
	w.answered()
	if v.html == "" {
		return v.serve(w, c, page)
	}
	if err := files.Write(v.html, func(to io.Writer) error { return page.WriteHTML(to) }); err != nil {
		return w.exit(err)
	}
	v.told(c, page, v.html)
	return w.exit(nil)
}

// An unseenError says why there is no page.
type unseenError struct{ why *muster.Untold }

func (e *unseenError) Error() string { return "no page: " + e.why.Reason }
func (e *unseenError) Unwrap() error { return e.why }

// runs reads which runs to show: the first has no schedule yet if the flags do not say which.
func (v *viewing) runs(args []string) ([]muster.ViewRun, []string, error) {
	var runs []muster.ViewRun
	for i, text := range []string{v.schedule, v.beside} {
		if text == "" {
			if i == 0 {
				runs = append(runs, muster.ViewRun{})
			}
			continue
		}
		file, err := readSchedule(text)
		if err != nil {
			return nil, nil, err
		}
		s, err := muster.ParseSchedule(file.schedule)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			if v.id == "" {
				v.id = file.finding
			}
			if args, err = file.takeLaunch(&v.in, args); err != nil {
				return nil, nil, err
			}
		}
		runs = append(runs, muster.ViewRun{Name: brief(file.schedule), Schedule: s})
	}
	return runs, args, checkFindingID(v.id)
}

// page checks the launch and records the runs.
func (v *viewing) page(w *work, l *muster.Launch, words string, runs []muster.ViewRun) (*muster.View, error) {
	// What the check leaves of the time is for the runs.
	r, err := l.Check(muster.WithTime(w, v.in.limits.Time*3/4), muster.CheckOptions{Arguments: words, SoFar: w.tell})
	if err != nil {
		return nil, err
	}
	if err := v.begin(&runs[0], r); err != nil {
		return nil, err
	}
	r = inFlags(r)
	v.summary = r.Summary
	return l.View(w, r, muster.ViewOptions{Runs: runs, Live: v.html == "", Words: options.Replace})
}

// begin says which run comes first, and at which finding it begins.
func (v *viewing) begin(run *muster.ViewRun, r *muster.Report) error {
	given := v.schedule != ""
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case v.id != "" && !f.Is(v.id):
			continue
		case v.id == "" && given && f.Schedule != run.Schedule.String():
			continue
		}
		run.Finding = f.ID
		if !given && f.Schedule != "" { // it has none if the launch itself is wrong
			s, err := muster.ParseSchedule(f.Schedule)
			if err != nil {
				return err
			}
			run.Schedule, run.Name = s, brief(f.Schedule)
		} else if !given {
			run.Name = run.Schedule.String()
		}
		return nil
	}
	if v.id != "" {
		if err := notOne(v.id, r.Findings); err != nil {
			return err
		}
		if !given {
			return fmt.Errorf("--finding %s: the check has no such finding; 'muster check' lists them", v.id)
		}
		run.Finding = v.id
	}
	if !given {
		run.Name = run.Schedule.String()
	}
	return nil
}

// told says what the check found, and what the page shows.
func (v *viewing) told(c *console, page *muster.View, where string) {
	where = diag.Printable(where)
	fmt.Fprintf(beside{c}, "muster: %s\n", v.summary)
	for _, r := range page.Runs() {
		if r.Steps == 0 && r.Cut != "" {
			fmt.Fprintf(beside{c}, "muster: no run in %s: %s\n", where, r.Cut)
			continue
		}
		schedule, shows := "schedule "+r.Schedule, ""
		if len(schedule) > 60 {
			schedule = "this schedule"
		}
		if r.Marked {
			shows = ", which shows " + r.Finding + ","
		}
		fmt.Fprintf(beside{c}, "muster: %s of %s%s in %s\n", diag.Plural(r.Steps, "step"), schedule, shows, where)
		if r.Cut != "" {
			fmt.Fprintf(beside{c}, "muster: the run is not shown to its end: %s\n", r.Cut)
		}
	}
}
