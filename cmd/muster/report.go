package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"muster/internal/files"
	"muster/report"
)

// A reportFlag is files that what a check says is written to besides, each in a format.
type reportFlag []struct {
	format formatFlag
	file   string
}

func (r *reportFlag) register(fs *pflag.FlagSet) {
	fs.Var(r, "report", "write the answer to a file too, in a format of its own, `format=file`, as sarif=muster.sarif; more by more flags")
}

func (r *reportFlag) Type() string { return "format=file" }

func (r *reportFlag) String() string {
	var list []string
	for _, f := range *r {
		list = append(list, string(f.format)+"="+f.file)
	}
	return strings.Join(list, ",")
}

func (r *reportFlag) Set(text string) error {
	format, file, ok := strings.Cut(text, "=")
	if !ok || file == "" {
		return errors.New("want format=file, as sarif=muster.sarif")
	}
	if !slices.Contains(reportFormats, format) {
		return fmt.Errorf("there are %s", strings.Join(reportFormats, ", "))
	}
	*r = append(*r, struct {
		format formatFlag
		file   string
	}{formatFlag(format), file})
	return nil
}

// write writes the files, of an answer that emit writes in a format to a console, or of the
// error that kept it from being made. It returns err, or what kept a file from being written:
// the others are written all the same.
func (r reportFlag) write(c *console, err error, emit func(c *console, format formatFlag) error) error {
	var status exit
	var unwritten error
	if over := (*overwriting)(nil); errors.As(err, &over) {
		return err // nor is the error written over it
	}
	for _, f := range r {
		e := files.Write(f.file, func(w io.Writer) error {
			to := *c
			to.out = w
			if err != nil && !errors.As(err, &status) {
				return to.failed(f.format, err)
			}
			return emit(&to, f.format)
		})
		unwritten = cmp.Or(unwritten, e)
	}
	return cmp.Or(unwritten, err)
}

// emit writes what is said of the stages of one file.
func (s *stages) emit(c *console, format formatFlag, how report.TextOptions) error {
	switch {
	case format.exports():
		return c.export(format, s.exported(), false)
	case format == "json" && s.many:
		return s.all.WriteJSON(c.out)
	}
	if err := c.writeAll(s.exported().Reports, format, how); err != nil || !s.many {
		return err
	}
	return s.all.WriteText(c.out, report.TextOptions{})
}

// writeAll writes reports one after the other.
func (c *console) writeAll(list []*report.Report, format formatFlag, how report.TextOptions) error {
	for i, r := range list {
		if i > 0 {
			fmt.Fprintln(c.out)
		}
		if err := c.write(r, format, how); err != nil {
			return err
		}
	}
	return nil
}

// emitFiles writes what is said of several files.
func emitFiles(c *console, all *report.Files, format formatFlag, how report.TextOptions) error {
	switch {
	case format.exports():
		return c.export(format, all.Export(), true)
	case format == "json":
		return all.WriteJSON(c.out)
	}
	if err := c.writeAll(all.Export().Reports, format, how); err != nil {
		return err
	}
	return all.WriteText(c.out, report.TextOptions{})
}
