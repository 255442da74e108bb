package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"muster"
	"muster/internal/answer"
	"muster/internal/diag"
	"muster/internal/files"
	"muster/internal/picture"
	"muster/internal/script"
)

// A pictureFlag is the file that --picture draws to; empty for none.
type pictureFlag string

func (p *pictureFlag) register(fs *pflag.FlagSet, what string) {
	fs.StringVar((*string)(p), "picture", "", "draw "+what+" as SVG (`file`; docs/profile.md)")
}

// flag is what the flag is called where it is given; else empty.
func (p pictureFlag) flag() string {
	if p == "" {
		return ""
	}
	return "--picture"
}

// run draws the run of a schedule. A file that cannot be written whole is not left.
func (p pictureFlag) run(ctx context.Context, c *console, l *muster.Launch, s muster.Schedule, id string) error {
	if p == "" {
		return nil
	}
	var got muster.Traced
	var undrawn error
	err := files.Write(string(p), func(w io.Writer) error {
		to := &kept{w: w}
		got, undrawn = l.Picture(ctx, s, muster.TraceOptions{Finding: id}, to)
		if to.err != nil {
			undrawn = nil
		}
		return cmp.Or(to.err, undrawn)
	})
	var untold *muster.Untold
	switch {
	case errors.As(undrawn, &untold):
		return &undrawnError{string(p), untold}
	case undrawn != nil:
		return undrawn
	case err != nil:
		return err
	}
	fmt.Fprintf(beside{c}, "muster: %s of schedule %s in %s\n", diag.Plural(got.Steps, "step"), brief(got.Schedule), p)
	if got.Cut != "" {
		fmt.Fprintf(beside{c}, "muster: the picture ends before the run: %s\n", got.Cut)
	}
	return nil
}

// finding draws the finding that a replay shows.
func (p pictureFlag) finding(c *console, got *answer.Shown) error {
	switch {
	case p == "" || got.Absent():
		return nil
	case got.Untold != nil:
		return &undrawnError{string(p), got.Untold}
	}
	err := files.Write(string(p), func(w io.Writer) error { return picture.Finding(w, &got.Report.Findings[0], got.Story) })
	if err == nil {
		fmt.Fprintf(beside{c}, "muster: %s in %s\n", got.Report.Findings[0].ID, p)
	}
	return err
}

// script draws the run of a script.
func (p pictureFlag) script(name string, res *script.Result) error {
	if p == "" {
		return nil
	}
	if name != "-" {
		if err := spared(nil, []string{name}, []string{string(p)}); err != nil {
			return err
		}
	}
	return files.Write(string(p), func(w io.Writer) error {
		return picture.Moves(w, strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), res.Moves)
	})
}

// A kept writer keeps the error of what it writes to.
type kept struct {
	w   io.Writer
	err error
}

func (k *kept) Write(b []byte) (n int, err error) {
	n, err = k.w.Write(b)
	k.err = cmp.Or(k.err, err)
	return n, err
}

// An undrawnError says why there is no picture of a run.
type undrawnError struct {
	file string
	why  *muster.Untold
}

func (e *undrawnError) Error() string { return fmt.Sprintf("no picture %s: %s", e.file, e.why.Reason) }
func (e *undrawnError) Unwrap() error { return e.why }
