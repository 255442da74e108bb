package muster

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"muster/internal/machine"
	"muster/internal/timeline"
	"muster/internal/view"
)

// A ViewRun says which run a view shows.
type ViewRun struct {
	Name     string // as the page has it
	Schedule Schedule
	Finding  string // the ID of a finding that it shows; empty for none
}

// ViewOptions say what a view shows.
type ViewOptions struct {
	Runs []ViewRun // one, or two beside each other
	// Live: the page asks for registers and memory of a step (View.Detail). Otherwise it
	// holds them, for all steps of a short run, and of a long one for those about the
	// finding's places.
	Live bool
	// Steps is the most of each run; 0 for MostTraced.
	Steps int
}

// A View is runs of a launch as one page.
type View struct {
	doc   *view.Document
	shown []Traced
}

// View shows runs of a launch, with what a check reports of it. Unlike Trace it computes
// matrix products, so that registers and memory are those of the run.
func (l *Launch) View(ctx context.Context, r *Report, o ViewOptions) (*View, error) {
	doc, err := view.New(r.Filled(), &l.resolver)
	if err != nil {
		return nil, err
	}
	l.viewTexts(doc)
	v := &View{doc: doc}
	for _, run := range o.Runs {
		if err := l.viewRun(ctx, v, run, o); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// viewRun adds a run to a view.
func (l *Launch) viewRun(ctx context.Context, v *View, run ViewRun, o ViewOptions) error {
	if len(l.findings) > 0 {
		why := "the launch itself is wrong, so that there is no run"
		v.doc.AddNone(run.Name, run.Schedule.String(), run.Finding, why)
		v.shown = append(v.shown, Traced{Schedule: run.Schedule.String(), Cut: why})
		return nil
	}
	s := run.Schedule
	if with, rest, ok := l.chosen([]Schedule{s}); ok {
		l, s = with, rest[0]
	}
	w := l.subject.Budget(ctx)
	w.Meter.Stage("recording the run", "", 0)
	shown, cut, err := l.traced(ctx, w, s, TraceOptions{Finding: run.Finding, Steps: o.Steps})
	if err != nil {
		return err
	}
	stop, why := w.Stop()
	of := view.Subject{Names: &l.resolver, Run: shown.Run, Sites: l.traceSites(shown, stop), Live: o.Live,
		About: timeline.Run{Kernel: l.Name(), Schedule: l.written(shown.Schedule).String(), Cut: cut},
		Start: func(ob machine.Observer) *machine.Machine {
			m := shown.Launch.Part(ob, false, 0, 1)
			m.StopWhen(stop)
			return m
		}}
	var told *Story
	if shown.Finding != nil {
		of.About.Finding, of.Roles = run.Finding, roles(shown.Finding)
		if told, _, _, err = l.story(ctx, w, shown, len(shown.Run), false); err != nil {
			return err
		}
	}
	cut, err = v.doc.AddRun(of, run.Name, told)
	if why() != "" {
		err = cmp.Or(ctx.Err(), error(&Untold{why()}))
	}
	v.shown = append(v.shown, Traced{Schedule: of.About.Schedule, Finding: of.About.Finding, Steps: len(shown.Run), Marked: len(of.Sites) > 0, Cut: cut})
	return cmp.Or(err, ctx.Err())
}

// Runs says what the runs are.
func (v *View) Runs() []Traced { return v.shown }

// WriteHTML writes the page: one file that needs no other. A live one asks what serves it for
// "detail?run=N&step=N", which View.Detail answers.
func (v *View) WriteHTML(w io.Writer) error { return v.doc.Write(w) }

// Data returns the page's data: JSON, and the bytes that it points into. docs/view.md describes
// both.
func (v *View) Data() (about, blob []byte, err error) {
	about, err = v.doc.About()
	return about, v.doc.Blob(), err
}

// ErrNoDetail says that a view has no such run, or is not live, or the run no such step.
var ErrNoDetail = errors.New("there is no such run or step")

// Detail returns registers and memory about a step of a run of a live view, as docs/view.md
// describes them.
func (v *View) Detail(ctx context.Context, run, step int) ([]byte, error) {
	l := v.doc.Live(run)
	if l == nil || step < 1 || step > v.shown[run].Steps {
		return nil, ErrNoDetail
	}
	return l.Window(step, func() bool { return ctx.Err() != nil })
}

// viewTexts adds the PTX of all modules, and the sources that it names and that can be read.
func (l *Launch) viewTexts(doc *view.Document) {
	p := l.config.Program
	locs := map[string]map[int][3]any{}
	var sources []string
	for pc := range int32(p.Len()) {
		line := int(p.Pos(pc).Line)
		if line == 0 {
			continue
		}
		file, at := l.resolver.File(pc), [3]any{line, "", 0}
		if src := p.Source(pc); len(src) > 0 {
			s := src[len(src)-1]
			at[1], at[2] = s.File, s.Line
			if !slices.Contains(sources, s.File) {
				sources = append(sources, s.File)
			}
		}
		if locs[file] == nil {
			locs[file] = map[int][3]any{}
		}
		locs[file][line] = at
	}
	for _, t := range l.texts() {
		doc.AddText(t.file, "ptx", t.text, located(locs[t.file]))
	}
	dirs := l.folders()
	for i, name := range sources {
		if i == mostSources {
			break
		}
		if data, ok := readSource(name, dirs); ok {
			doc.AddText(name, "source", data, nil)
		}
	}
}

// located lists places by line, without those that say what the one before says.
func located(by map[int][3]any) (list [][3]any) {
	lines := make([]int, 0, len(by))
	for line := range by {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, line := range lines {
		at := by[line]
		if n := len(list); n > 0 && list[n-1][1] == at[1] && list[n-1][2] == at[2] || n == 0 && at[2] == 0 {
			continue
		}
		list = append(list, at)
	}
	return list
}

type ptxText struct {
	file string
	text []byte
}

// texts lists the texts of all modules, each once, under the names that places have.
func (l *Launch) texts() (list []ptxText) {
	add := func(file string, text []byte) {
		if text != nil && !slices.ContainsFunc(list, func(t ptxText) bool { return t.file == file }) {
			list = append(list, ptxText{file, text})
		}
	}
	for _, src := range l.sources {
		for _, u := range src.module.Units {
			add(u.Name, []byte(u.Text))
		}
		switch {
		case src.module.Units != nil:
		case len(l.sources) == 1:
			add(l.resolver.PTX, src.text)
		default:
			add(src.module.Name, src.text)
		}
	}
	return list
}

// mostSources bounds the files that a view shows, and mostSource the bytes of one.
const (
	mostSources = 64
	mostSource  = 4 << 20
)

// sourceKinds are the extensions of files that a view reads. PTX names any file, and a page is
// handed on: it is not to take along what is no source.
var sourceKinds = []string{".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".c", ".cc", ".cpp", ".cxx", ".py", ".go", ".rs", ".jl", ".mojo", ".ptx", ".cl"}

// folders are where sources may lie that are named without a folder of the root.
func (l *Launch) folders() (list []string) {
	for _, name := range append([]string{l.file.Name}, l.resolver.PTX) {
		if dir := filepath.Dir(name); name != "" && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return append(list, ".")
}

func readSource(name string, dirs []string) ([]byte, bool) {
	if !slices.Contains(sourceKinds, filepath.Ext(name)) {
		return nil, false
	}
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		full := filepath.Join(dir, name)
		info, err := os.Stat(full)
		if err != nil || !info.Mode().IsRegular() || info.Size() > mostSource {
			continue
		}
		if data, err := os.ReadFile(full); err == nil && !slices.Contains(data, 0) {
			return data, true
		}
	}
	return nil, false
}
