package mcp

import (
	"errors"
	"fmt"
	"strings"

	"muster"
	"muster/launch"
	"muster/report"
)

// The arguments of check and cost.
type checkArguments struct {
	target
	Finding string `json:"finding,omitempty" jsonschema:"write this finding alone, in full: its ID or its kind"`
	FailOn  string `json:"fail_on,omitempty" jsonschema:"warning lets warnings count as findings; default error"`
	explored
	spent
}

func (w *work) check(in *checkArguments) (*Answer, error) { return w.checks(in, false) }
func (w *work) cost(in *checkArguments) (*Answer, error)  { return w.checks(in, true) }

func (w *work) checks(in *checkArguments, cost bool) (*Answer, error) {
	if in.FailOn != "" && in.FailOn != "error" && in.FailOn != "warning" {
		return nil, fmt.Errorf("fail_on is %q: there are error and warning", in.FailOn)
	}
	o := muster.CheckOptions{
		Cost: cost, FailOnWarning: in.FailOn == "warning", SoFar: w.tell, Arguments: in.words(),
		Explore: muster.ExploreOptions{Schedules: in.Schedules, Steps: in.Steps},
	}
	file, err := in.file()
	if err != nil {
		return nil, err
	}
	one := func(l *muster.Launch) (*muster.Report, error) {
		r, err := l.Check(w.ctx, o)
		if r == nil {
			return nil, err
		}
		w.name(r)
		return r, nil
	}
	if len(file.Launches) == 1 || in.Only != "" {
		l, err := w.load(file, in.Only)
		if err != nil {
			return nil, err
		}
		r, err := one(l)
		if err != nil {
			return nil, err
		}
		return w.reported(r, in.Finding)
	}
	return w.stages(file, in, one)
}

// load prepares a launch: the only one of the file, or one of several.
func (w *work) load(f *launch.File, only string) (*muster.Launch, error) {
	if only == "" {
		return muster.LoadFile(f, w.limits)
	}
	s, err := muster.LoadSequence(f, w.limits)
	if err != nil {
		return nil, err
	}
	return s.Only(w.ctx, only)
}

// reported is the answer that is a report, or one finding of it.
func (w *work) reported(r *muster.Report, id string) (*Answer, error) {
	if id == "" {
		return &Answer{Text: names.Replace(reportText(r, w.chars)), Data: data(bounded(r))}, nil
	}
	c := *r
	if c.Findings = called(r, id); len(c.Findings) == 0 {
		return nil, absent(id, r.Summary, r)
	}
	text := shown(r, &c, report.TextOptions{})
	if len(text) > w.chars {
		if short := shown(r, &c, report.TextOptions{Short: true}); len(short)+noteRoom <= w.chars {
			text = short + fmt.Sprintf("\ncut to %d characters: %s; chars allows more, up to %d.\n", w.chars, leftOut, mostChars)
		}
	}
	return &Answer{Text: names.Replace(cut(text, w.chars)), Data: data(bounded(&c))}, nil
}

// called are the findings of a report with an ID, or of a kind.
func called(r *muster.Report, id string) (list []muster.Finding) {
	for _, f := range r.Findings {
		if f.Is(id) || f.Kind == id || f.Fingerprint == id {
			list = append(list, f)
		}
	}
	return list
}

// absent is the error that no finding is called so.
func absent(id, summary string, reports ...*muster.Report) error {
	var ids []string
	for _, r := range reports {
		for i := range r.Findings {
			ids = append(ids, r.Findings[i].ID)
		}
	}
	there := "nothing is found"
	if len(ids) > 0 {
		there = "there are: " + strings.Join(most(ids, 20), ", ")
	}
	return fmt.Errorf("no finding is called %s (%s); %s", id, summary, there)
}

// shown are some findings of a report, behind its verdict.
func shown(r, some *muster.Report, o report.TextOptions) string {
	var b strings.Builder
	b.WriteString(verdict(r.Verdict, r.Summary))
	for i := range some.Findings {
		b.WriteByte('\n')
		r.WriteFinding(&b, some.Findings[i].ID, o)
	}
	return b.String()
}

// stages checks launches that come one after the other.
func (w *work) stages(file *launch.File, in *checkArguments, one func(*muster.Launch) (*muster.Report, error)) (*Answer, error) {
	q, err := muster.LoadSequence(file, w.limits)
	if err != nil {
		return nil, err
	}
	all := report.Sequence{Version: report.Version, File: file.Name, Launches: len(file.Launches), Stages: []report.Stage{}}
	err = q.Each(w.ctx, func(i int, l *muster.Launch) (*muster.RunResult, error) {
		r, err := one(l)
		if r != nil {
			all.Stages = append(all.Stages, stage(q, i, l, r.Verdict, r))
		}
		return nil, err
	})
	var unfinished *muster.UnfinishedError
	if errors.As(err, &unfinished) {
		all.Unfinished, err = unfinished.Error(), nil
	}
	if err != nil {
		return nil, err
	}
	if q.Stages() == 1 {
		return w.reported(all.Stages[0].Report.(*muster.Report), in.Finding)
	}
	all.Conclude("all schedules of all %d launches")
	if in.Finding == "" {
		return w.staged(&all)
	}
	var reports []*muster.Report
	for i := range all.Stages {
		r := all.Stages[i].Report.(*muster.Report)
		if len(called(r, in.Finding)) > 0 {
			return w.reported(r, in.Finding)
		}
		reports = append(reports, r)
	}
	return nil, absent(in.Finding, all.Summary, reports...)
}

func stage(q *muster.Sequence, i int, l *muster.Launch, v muster.Verdict, form any) report.Stage {
	first, last := q.Numbers(i)
	return report.Stage{First: first, Last: last, Name: l.Name(), Verdict: v, Report: form}
}

// staged is the answer that is several reports. Those that are not clean share the characters.
func (w *work) staged(all *report.Sequence) (*Answer, error) {
	open := 0
	for i := range all.Stages {
		if all.Stages[i].Verdict != muster.Clean {
			open++
		}
	}
	share := max((w.chars-noteRoom*(len(all.Stages)-open))/max(open, 1), leastChars)
	text := verdict(all.Verdict, all.Summary)
	for i := range all.Stages {
		s := &all.Stages[i]
		r := s.Report.(*muster.Report)
		text += fmt.Sprintf("\nlaunch %d, %s\n%s", s.First, s.Name, reportText(r, share))
		s.Report = bounded(r)
	}
	text = cut(text, w.chars-100)
	if n := shed(all); n > 0 {
		text += fmt.Sprintf("\nthe data leaves out the reports of %d launches; only gives one\n", n)
	}
	return &Answer{Text: names.Replace(text), Data: data(all)}, nil
}

// shed leaves out reports until the data is not too much, those of clean launches first. It
// returns how many.
func shed(all *report.Sequence) (n int) {
	for _, clean := range []bool{true, false} {
		for i := len(all.Stages) - 1; i >= 0; i-- {
			s := &all.Stages[i]
			if s.Report != nil && (!clean || s.Verdict == muster.Clean) && size(all) > maxData {
				s.Report = nil
				n++
			}
		}
	}
	return n
}
