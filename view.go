package muster

import (
	"cmp"
	"context"
	"errors"
	"io"

	"muster/internal/machine"
	"muster/internal/story"
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
	// Words, if set, says why a run is cut in the caller's words, for the library's names of
	// limits.
	Words func(string) string
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
		About: timeline.Run{Kernel: l.Name(), Schedule: l.written(shown.Schedule).String(), Cut: o.words(cut)},
		Start: func(ob machine.Observer) *machine.Machine {
			m := shown.Launch.Part(ob, false, 0, 1)
			m.StopWhen(stop)
			return m
		},
		Ended: func(m *machine.Machine) (string, string) {
			if cut := l.cutShort(m); cut != "" {
				return "", o.words(cut)
			}
			return story.NewTeller(&l.resolver, nil).End(m), ""
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

func (o *ViewOptions) words(text string) string {
	if o.Words == nil {
		return text
	}
	return o.Words(text)
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
	return l.Window(ctx, step)
}
