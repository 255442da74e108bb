package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"muster/internal/files"
	"muster/report"
)

// alone refuses what is of one launch file where there are several.
func (k *checking) alone(args []string) error {
	if len(args) < 2 {
		return nil
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"--launch", k.in.launch != ""}, {"--schedule-dir", k.schedules != ""}, {k.trace.flag(), k.trace != ""},
		{k.e.alone(), k.e.alone() != ""},
	} {
		if f.given {
			return fmt.Errorf("%s is of one launch file, and these are %d", f.name, len(args))
		}
	}
	return nil
}

// files checks several launch files, one after the other: one that cannot be read keeps no
// other from being checked.
func (k *checking) files(w *work, cmd *cobra.Command, args []string) error {
	var all report.Files
	for i, name := range args {
		if k.format == "text" {
			if i > 0 {
				fmt.Fprintln(k.c.out)
			}
			fmt.Fprintf(k.c.out, "file %d of %d, %s\n", i+1, len(args), name)
		}
		of := report.FileReport{File: name}
		if w.Err() != nil {
			of.Verdict, of.Error = report.Incomplete, &report.Failure{Text: "not looked at: interrupted", File: name}
			all.Files = append(all.Files, of)
			continue
		}
		s := k.stages(true)
		err := s.end(k.file(w, cmd, []string{name}, s, i == len(args)-1))
		var status exit
		var unwritten *files.WriteError
		var over *overwriting
		switch {
		case errors.As(err, &unwritten), errors.As(err, &over):
			return err
		case err != nil && !errors.As(err, &status):
			printError(k.c.err, err)
			f := failure(err)
			of.Verdict, of.Error = verdictOf(err), &f
		case s.many:
			of.Verdict, of.Sequence = s.all.Verdict, &s.all
		default:
			of.Verdict, of.Report = s.all.Verdict, s.only()
		}
		all.Files = append(all.Files, of)
	}
	all.Conclude()
	var err error
	switch {
	case k.format.exports():
		err = k.c.export(k.format, all.Export(), true)
	case k.format == "json":
		err = all.WriteJSON(k.c.out)
	default:
		fmt.Fprintln(k.c.out)
		err = all.WriteText(k.c.out, report.TextOptions{Color: k.c.color()})
	}
	if err != nil {
		return err
	}
	return k.reports.write(k.c, status(all.Verdict), func(c *console, format formatFlag) error {
		return emitFiles(c, &all, format, k.how)
	})
}
