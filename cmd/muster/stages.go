package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"muster"
	"muster/report"
)

// stages are what a command says of the launches of one file, stage by stage: of several
// launches that do not all overlap, each in turn and then the whole; of one, only that.
type stages struct {
	c      *console
	format formatFlag
	clean  string // as for report.Sequence.Conclude
	part   bool   // the file is one of several: what is said of it in one document is written by others
	keep   bool   // the reports are wanted after all
	all    report.Sequence
	alone  string       // what several stages are refused for; empty: nothing
	single string       // what shows one run alone, and so is refused for several stages; empty: nothing
	many   bool         // there are several stages
	at     report.Stage // the one that is looked at
}

// each calls do for each launch of the file in turn, or with those that it may overlap, and
// with its words on a command line. Of several, it writes a line with the launch's name
// before.
func (s *stages) each(ctx context.Context, in *input, cmd *cobra.Command, args []string, do func(ctx context.Context, l *muster.Launch, words string, last bool) (*muster.RunResult, error)) error {
	file, err := in.limited(args)
	if err != nil {
		return err
	}
	s.all.File, s.all.Launches = file.Name, len(file.Launches)
	if in.launch != "" || len(file.Launches) == 1 {
		l, words, err := in.load(ctx, cmd, args)
		if err != nil {
			return err
		}
		_, err = do(ctx, l, words, true)
		return err
	}
	q, err := muster.LoadSequence(file, in.limits)
	if err != nil {
		return err
	}
	words := in.words(cmd, args)
	if s.many = q.Stages() > 1; s.many && s.alone != "" {
		return fmt.Errorf("%s is of one exploration, and these %d launches are explored one after the other: --launch N takes one of them", s.alone, len(file.Launches))
	}
	if s.many && s.single != "" {
		return fmt.Errorf("%s shows one run, and these %d launches run one after the other: --launch N takes one of them", s.single, len(file.Launches))
	}
	return q.Each(ctx, func(i int, l *muster.Launch) (*muster.RunResult, error) {
		if !s.many {
			return do(ctx, l, words, true)
		}
		first, last := q.Numbers(i)
		s.at = report.Stage{First: first, Last: last, Name: l.Name()}
		s.title(i, len(file.Launches))
		of := muster.WithProgressOf(ctx, fmt.Sprintf("launch %d of %d", first, len(file.Launches)))
		return do(of, l, fmt.Sprintf("%s --launch %d", words, first), last == len(file.Launches))
	})
}

// title writes the line before a stage.
func (s *stages) title(i, of int) {
	if s.together() {
		return
	}
	if i > 0 {
		fmt.Fprintln(s.c.out)
	}
	if s.at.First == s.at.Last {
		fmt.Fprintf(s.c.out, "launch %d of %d, %s\n", s.at.First, of, s.at.Name)
	} else {
		fmt.Fprintf(s.c.out, "launches %d to %d of %d, which may overlap: %s\n", s.at.First, s.at.Last, of, s.at.Name)
	}
}

// together reports whether what is said of all stages is written as one document.
func (s *stages) together() bool { return (s.many || s.part) && s.format != "text" }

// add notes what is said of a stage.
func (s *stages) add(v muster.Verdict, form any) {
	s.at.Verdict, s.at.Report = v, form
	if !s.together() && !s.format.exports() && !s.keep {
		s.at.Report = nil
	}
	s.all.Stages = append(s.all.Stages, s.at)
}

// end writes what is said of the whole, and returns its exit status, or an error that came
// between.
func (s *stages) end(err error) error {
	var unfinished *muster.UnfinishedError
	if errors.As(err, &unfinished) {
		fmt.Fprintf(beside{s.c}, "muster: %s\n", err)
		s.all.Unfinished, err = unfinished.Error(), nil
	}
	if err != nil {
		return err
	}
	s.all.Conclude(s.clean)
	switch {
	case s.part && s.format != "text":
	case s.format.exports():
		err = s.c.export(s.format, s.exported(), false)
	case s.together():
		err = s.all.WriteJSON(s.c.out)
	case s.many:
		fmt.Fprintln(s.c.out)
		err = s.all.WriteText(s.c.out, s.c.look(report.TextOptions{}))
	}
	if err != nil {
		return err
	}
	return status(s.all.Verdict)
}

// only is the report of a file with one stage; nil in text, where it is written.
func (s *stages) only() *report.Report {
	for i := range s.all.Stages {
		if r, ok := s.all.Stages[i].Report.(*report.Report); ok {
			return r
		}
	}
	return nil
}

// exported is what is said of all stages, for other programs.
func (s *stages) exported() *report.Export {
	e := &report.Export{Summary: s.all.Summary, Verdict: s.all.Verdict}
	for i := range s.all.Stages {
		if r, ok := s.all.Stages[i].Report.(*muster.Report); ok {
			e.Reports = append(e.Reports, r)
			if !s.many {
				e.Summary = r.Summary
			}
		}
	}
	return e
}
