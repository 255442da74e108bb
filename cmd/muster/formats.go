package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"muster"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

// A formatFlag is how an answer is written: text or json and, of reports, the forms of
// report.Export.
type formatFlag string

func (f *formatFlag) Type() string   { return "format" }
func (f *formatFlag) String() string { return string(*f) }

// The formats: of every answer, and those of reports alone.
var (
	answerFormats = []string{"text", "json"}
	reportFormats = []string{"text", "json", "sarif", "github", "line"}
)

func (f *formatFlag) Set(text string) error {
	*f = formatFlag(text)
	return nil
}

// register adds --format, which is one of some formats; check says so.
func (f *formatFlag) register(fs *pflag.FlagSet) {
	*f = "text"
	fs.Var(&oneFormat{f, answerFormats}, "format", "how to write the answer")
}

// registerReport is register for commands that write reports.
func (f *formatFlag) registerReport(fs *pflag.FlagSet) {
	*f = "text"
	fs.Var(&oneFormat{f, reportFormats}, "format", "how to write the answer: text; json (docs/report.schema.json); sarif, which GitHub and others collect; github, for its workflows; line, file:line:col: severity: text")
}

// A oneFormat is a formatFlag that takes some formats.
type oneFormat struct {
	*formatFlag
	of []string
}

func (f *oneFormat) Type() string { return strings.Join(f.of, "|") }

func (f *oneFormat) Set(text string) error {
	if !slices.Contains(f.of, text) {
		return fmt.Errorf("there are %s", strings.Join(f.of[:len(f.of)-1], ", ")+" and "+f.of[len(f.of)-1])
	}
	return f.formatFlag.Set(text)
}

// exports reports whether a format is one of report.Export.
func (f formatFlag) exports() bool { return f != "text" && f != "json" }

// export writes reports in a format for other programs: of one file, whose name tells them
// from those of others, or of several.
func (c *console) export(format formatFlag, e *report.Export, several bool) error {
	e.Path, e.Rule, e.Columns = relative(), ruleOf, (&texts{}).columns
	if len(e.Reports) > 0 && e.Category == "" && !several {
		l := &e.Reports[0].Launch
		e.Category = e.Path(cmp.Or(l.File, l.PTX))
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		e.Version = strings.TrimPrefix(cmp.Or(build(), b.Main.Version), "v")
	}
	switch format {
	case "sarif":
		return e.SARIF(c.out)
	case "github":
		return e.GitHub(c.out)
	}
	return e.Lines(c.out)
}

// relative returns what makes a path relative to the working directory, where it lies below
// it: what collects results knows files by their place in a repository.
func relative() func(string) string {
	wd, err := os.Getwd()
	return func(name string) string {
		if err != nil || !filepath.IsAbs(name) {
			return filepath.ToSlash(name)
		}
		if rel, err := filepath.Rel(wd, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		return filepath.ToSlash(name)
	}
}

func ruleOf(kind string) report.Rule {
	k := rules.Lookup(kind)
	if k == nil {
		return report.Rule{Title: kind}
	}
	return report.Rule{Title: k.Title, Text: k.Text, Severity: report.Severity(k.Severity.String()), Section: k.Section + " of version " + k.Edition()}
}

// formatIn finds the format that arguments ask for, also where they are wrong otherwise.
func formatIn(args []string) (format formatFlag) {
	for i, a := range args {
		if a == "--" {
			break
		}
		if value, ok := strings.CutPrefix(a, "--format="); ok {
			format = formatFlag(value)
		} else if a == "--format" && i+1 < len(args) {
			format = formatFlag(args[i+1])
		}
	}
	return format
}

// failed writes an error that gives no answer in the format in which the answer was wanted,
// besides the line on standard error.
func (c *console) failed(format formatFlag, err error) error {
	f, v := failure(err), verdictOf(err)
	switch {
	case format == "json":
		return (&report.Failed{Verdict: v, Error: f}).WriteJSON(c.out)
	case slices.Contains(reportFormats, string(format)) && format.exports():
		return c.export(format, &report.Export{Failed: []report.Failure{f}, Verdict: v}, false)
	}
	return nil
}

// verdictOf is the verdict where an error kept a report from being made.
func verdictOf(err error) report.Verdict {
	if untold := (*muster.Untold)(nil); errors.As(err, &untold) || errors.Is(err, context.Canceled) {
		return report.Incomplete
	}
	return report.Error
}

// failure takes an error apart into its text and its place.
func failure(err error) report.Failure {
	var p *ptx.Error
	var l *launch.Error
	var d *machine.DecodeError
	f := report.Failure{Text: plainly(err)}
	switch {
	case errors.As(err, &p):
		f = report.Failure{Text: p.Msg, File: p.File, Line: int(p.Pos.Line), Col: int(p.Pos.Col)}
	case errors.As(err, &l):
		f = report.Failure{Text: l.Msg, File: l.File, Line: l.Line, Col: l.Col}
	case errors.As(err, &d):
		f = report.Failure{Text: d.Msg, File: d.File, Line: int(d.Pos.Line), Col: int(d.Pos.Col)}
	}
	if strings.HasPrefix(f.File, "--") { // a flag stands where a file would
		f = report.Failure{Text: f.File + ": " + f.Text}
	}
	f.Text = strings.Join(strings.Fields(options.Replace(f.Text)), " ")
	return f
}

// A baselineFlag is a file of findings that are known.
type baselineFlag string

func (b *baselineFlag) register(fs *pflag.FlagSet) {
	fs.StringVar((*string)(b), "baseline", "", "what an earlier check wrote by --format json or sarif: its findings are known, and do not count (`file`)")
}

func (b baselineFlag) read(o *muster.CheckOptions) error {
	if b == "" {
		return nil
	}
	f, err := os.Open(string(b))
	if err != nil {
		return err
	}
	defer f.Close()
	if o.Baseline, err = report.ReadBaseline(f, string(b)); err != nil {
		return fmt.Errorf("%s: %w", b, err)
	}
	return nil
}
