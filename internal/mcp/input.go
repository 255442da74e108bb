package mcp

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"muster"
	"muster/internal/files"
	"muster/internal/yaml"
	"muster/launch"
	"muster/ptx"
)

// A target is a launch as a call names it: by files, by text, or by fields.
type target struct {
	Launch     string `json:"launch,omitempty" jsonschema:"path of a launch file (YAML, JSON)"`
	LaunchText string `json:"launch_text,omitempty" jsonschema:"a launch file's text instead. Its key ptx may be left out where ptx_text is given. explain with topic launch has the form, init makes one to fill in"`
	PTX        string `json:"ptx,omitempty" jsonschema:"path of a PTX file, in place of the launch file's"`
	PTXText    string `json:"ptx_text,omitempty" jsonschema:"the PTX itself, in place of the launch file's; findings count its lines"`
	Only       string `json:"only,omitempty" jsonschema:"of several launches, the name or number of one, checked alone"`

	Kernel    string   `json:"kernel,omitempty" jsonschema:"name of the kernel; may be left out if there is one"`
	Grid      string   `json:"grid,omitempty" jsonschema:"CTAs, as 2x1x1. This and what follows stands in place of the launch file's keys"`
	Block     string   `json:"block,omitempty" jsonschema:"threads of a CTA, as 128"`
	Cluster   string   `json:"cluster,omitempty" jsonschema:"CTAs of a cluster, as 2"`
	Shared    string   `json:"shared,omitempty" jsonschema:"dynamic shared memory in bytes"`
	Registers string   `json:"registers,omitempty" jsonschema:"registers of a thread at entry, for setmaxnreg"`
	Buffers   []string `json:"buffers,omitempty" jsonschema:"buffers, as in=f32[1024]:iota; also zeros, ones, nan, mod=97, random=SEED,LOW,HIGH, file=a.npy"`
	Variables []string `json:"variables,omitempty" jsonschema:"contents of variables of the module, as coeff=f32[64]:iota"`
	Args      []string `json:"args,omitempty" jsonschema:"the arguments of the kernel, all in order: a buffer's name, out+256, s32:64, null"`
	Expect    []string `json:"expect,omitempty" jsonschema:"what a buffer must hold after a run, as out=out.npy"`
	Accept    []string `json:"accept,omitempty" jsonschema:"findings that are meant, as proxy-war@k.cu:118=reason"`
}

// path is a file that a call names, by which its folder is found.
func (t *target) path() string {
	if t.Launch != "" {
		return t.Launch
	}
	return t.PTX
}

func (t *target) of() *target { return t }

// The names of texts that have no file.
const (
	ptxName    = "kernel.ptx"
	launchName = "launch.yaml"
)

// file reads the launch.
func (t *target) file() (*launch.File, error) {
	switch {
	case t.Launch != "" && t.LaunchText != "":
		return nil, errors.New("launch and launch_text: give one, not both")
	case t.PTX != "" && t.PTXText != "":
		return nil, errors.New("ptx and ptx_text: give one, not both")
	case t.Launch == "" && t.LaunchText == "" && t.PTX == "" && t.PTXText == "":
		return nil, errors.New("name a launch: launch, a path, or launch_text; or ptx or ptx_text with grid, block, buffers and args")
	}
	f, err := t.read()
	if err != nil {
		return nil, err
	}
	for i := range f.Launches {
		if name := f.Launches[i].PTX; slices.Contains([]string{".cu", ".cuh"}, filepath.Ext(name)) {
			return nil, fmt.Errorf("%s: no PTX: compile it by nvcc -ptx -lineinfo, and give what comes out as ptx", name)
		}
	}
	return f, nil
}

func (t *target) read() (*launch.File, error) {
	fl := t.flags()
	if t.Launch == "" && t.LaunchText == "" {
		f, err := launch.FromFlags(fl)
		if err == nil {
			t.give(f)
		}
		return f, err
	}
	f, err := t.parse()
	if err != nil {
		return nil, err
	}
	if t.PTXText != "" {
		fl.PTX = "" // of each launch
		if err := t.replace(f); err != nil {
			return nil, err
		}
	}
	return f, fl.Apply(f)
}

// parse reads the launch file, or its text.
func (t *target) parse() (*launch.File, error) {
	if t.Launch != "" {
		return yaml.ReadFile(t.Launch)
	}
	root, err := yaml.Parse(launchName, []byte(t.LaunchText))
	if err != nil {
		return nil, err
	}
	if t.PTXText != "" || t.PTX != "" {
		named(root)
	}
	return launch.Parse(launchName, root)
}

// named gives each launch the name of the PTX that is at hand, where it has none.
func named(n *launch.Node) {
	if n.Kind != launch.MapNode {
		return
	}
	for _, e := range n.Entries {
		switch e.Key {
		case "ptx", "fill", "copy":
			return
		case "launches":
			for _, item := range e.Value.Items {
				named(item)
			}
			return
		}
	}
	n.Entries = append(n.Entries, launch.Entry{Key: "ptx", Pos: n.Pos, Value: &launch.Node{Kind: launch.StringNode, Pos: n.Pos, Text: ptxName}})
}

// replace puts the text in place of the module of the launches, which must be one.
func (t *target) replace(f *launch.File) error {
	first := ""
	for i := range f.Launches {
		l := &f.Launches[i]
		if l.Builtin != launch.NoBuiltin {
			continue
		}
		if first == "" {
			first = l.PTX
		}
		if l.PTX != first {
			return fmt.Errorf("ptx_text is one module, and the launches name %s and %s: name those in files", first, l.PTX)
		}
	}
	t.give(f)
	return nil
}

// give gives the launches the text.
func (t *target) give(f *launch.File) {
	for i := range f.Launches {
		if l := &f.Launches[i]; t.PTXText != "" && l.Builtin == launch.NoBuiltin {
			l.PTX, l.Link, l.Text = ptxName, nil, []byte(t.PTXText)
		}
	}
}

func (t *target) flags() launch.Flags {
	fl := launch.Flags{
		PTX: t.PTX, Kernel: t.Kernel, Grid: t.Grid, Block: t.Block, Cluster: t.Cluster, Shared: t.Shared, Registers: t.Registers,
		Buffers: t.Buffers, Variables: t.Variables, Args: t.Args, Expect: t.Expect, Accept: t.Accept,
	}
	if t.PTXText != "" {
		fl.PTX = ptxName
	}
	return fl
}

// words name the launch on a command line, as far as one can.
func (t *target) words() string {
	if p := t.path(); p != "" {
		return p
	}
	return ptxName
}

// text returns the PTX of a call that needs no launch.
func (t *target) text() (name string, src []byte, err error) {
	switch {
	case t.PTXText != "" && t.PTX == "":
		return ptxName, []byte(t.PTXText), nil
	case t.PTX != "" && t.PTXText == "":
		src, err := files.Read(t.PTX, maxLine)
		return t.PTX, src, err
	}
	return "", nil, errors.New("give ptx, a path, or ptx_text")
}

// fields names the fields of a call in place of the command's flags.
var fields = strings.NewReplacer("--buffer ", "buffers ", "--buffer:", "buffers:", "--variable", "variables", "--arg ", "args ", "--arg:", "args:", "--kernel", "kernel",
	"--grid", "grid", "--block", "block", "--cluster", "cluster", "--shared", "shared", "--registers", "registers", "--expect", "expect", "--accept", "accept")

// errorText is an error with the line that it is about, where the error has it.
func errorText(err error) string {
	var p *ptx.Error
	if errors.As(err, &p) {
		return p.Detail()
	}
	return fields.Replace(names.Replace(err.Error()))
}

// names replaces the library's names of options by what a call, or the server's command line,
// sets them by.
var names = strings.NewReplacer(
	"(Limits.Time)", "(seconds)", "(--limit-time)", "(seconds)", "(Limits.Memory)", "(the server's --limit-memory)", "(--limit-memory)", "(the server's --limit-memory)",
	"(Limits.Instrs)", "(of every call)", "(Limits.Local)", "(of every call)",
	"'muster explain' lists them", "explain without topic lists them",
	"Limits.Time", "seconds", "Limits.Memory", "the server's --limit-memory", "Limits.Instrs", "--limit-instrs of muster check", "Limits.Local", "--limit-local of muster check",
	"CheckOptions.Explore.Preemptions", "--preemptions of muster check", "CheckOptions.Explore.Schedules", "schedules", "CheckOptions.Explore.Steps", "steps", "CheckOptions.Cost", "cost", "TellOptions.Until", "until", "TellOptions.Print", "print", "TextOptions.All", "finding with its ID",
)

// A spent bounds the time of a call, and the length of its answer.
type spent struct {
	Seconds float64 `json:"seconds,omitempty" jsonschema:"time for the call; default 30, at most 600 or what the server was given"`
	Chars   int     `json:"chars,omitempty" jsonschema:"characters of the answer's text; default 8000, from 1000 to 60000"`
}

// An explored bounds the schedules that a call looks at.
type explored struct {
	Schedules int   `json:"schedules,omitempty" jsonschema:"schedules to explore at most, where one run does not decide, and the seven that then run do not; default 200, at most 20000"`
	Steps     int64 `json:"steps,omitempty" jsonschema:"steps of these together; default 200000, at most 20000000"`
}

// The defaults and bounds of a budget.
const (
	defaultSchedules, mostSchedules = 200, 20_000
	defaultSteps, mostSteps         = 200_000, 20_000_000
	defaultSeconds                  = 30
	defaultChars                    = 8000
	leastChars, mostChars           = 1000, 60_000
)

func (s *spent) spends() *spent { return s }

// fill sets the defaults, and holds the budget to its bounds. seconds is the server's bound.
func (s *spent) fill(seconds float64) error {
	if err := bound("seconds", &s.Seconds, min(defaultSeconds, seconds), 0.001, seconds); err != nil {
		return err
	}
	return bound("chars", &s.Chars, defaultChars, leastChars, mostChars)
}

func (e *explored) fillExplored() error {
	if err := bound("schedules", &e.Schedules, defaultSchedules, 1, mostSchedules); err != nil {
		return err
	}
	return bound("steps", &e.Steps, defaultSteps, 1, mostSteps)
}

func bound[T int | int64 | float64](name string, v *T, unset, least, most T) error {
	if *v == 0 {
		*v = unset
	}
	if *v < least || *v > most {
		return fmt.Errorf("%s is %v: from %v to %v", name, *v, least, most)
	}
	return nil
}

// A scheduled is a schedule that a call names.
type scheduled struct {
	Schedule string `json:"schedule,omitempty" jsonschema:"earliest, latest, round-robin, random:SEED, or the schedule of a finding, as the answer that has it names it"`
}

func (s *scheduled) named() *string { return &s.Schedule }

// parsed returns the schedule; nil if there is none.
func (s *scheduled) parsed() (*muster.Schedule, error) {
	if s.Schedule == "" {
		return nil, nil
	}
	got, err := muster.ParseSchedule(s.Schedule)
	if err != nil {
		return nil, err
	}
	return &got, nil
}
