package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"muster"
	"muster/launch"
	"muster/report"
)

// This file runs checks in the background: a while after the last change, one at a time, each
// ended by the next change of what it reads.

// A tracked launch is one that open documents want checked.
type tracked struct {
	path   string
	wants  map[string]bool // keys of the documents
	cancel context.CancelFunc
	token  string // of its progress, while a check runs
	result *result
}

// stop ends what is going on for the launch. The caller holds the lock.
func (t *tracked) stop() {
	if t.cancel != nil {
		t.cancel()
		t.cancel = nil
	}
}

// A result is what a check of a launch file said.
type result struct {
	launch  string
	read    map[string]string // texts that it read, by path
	names   map[string]bool   // files that it reads, whether or not they are there
	reports []*report.Report
	// failed is what kept the check from beginning, or from its end.
	failed error
	// completions are what a run showed, stage by stage.
	completions []muster.Completion
	diagnostics map[string][]Diagnostic // by path
	shown       map[string]bool         // what they say of source
}

// want has a launch checked for a document. The caller holds the lock.
func (s *server) want(path, key string) {
	t := s.launches[path]
	if t == nil {
		if len(s.launches) == mostLaunches {
			return
		}
		t = &tracked{path: path, wants: map[string]bool{}}
		s.launches[path] = t
	}
	t.wants[key] = true
	if t.result == nil && t.cancel == nil {
		s.schedule(t)
	}
}

// schedule begins a check after the delay, in place of one that is going on. The caller holds
// the lock.
func (s *server) schedule(t *tracked) {
	t.stop()
	if s.state != running || !s.settings.checks() {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	t.cancel = cancel
	delay := time.Duration(*s.settings.Delay) * time.Millisecond
	s.work.Go(func() {
		defer cancel()
		defer s.recovered("the check of " + t.path)
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
		select {
		case s.checking <- struct{}{}:
			defer func() { <-s.checking }()
		case <-ctx.Done():
			return
		}
		v := s.now()
		r := v.check(ctx, t)
		if r != nil {
			s.finish(ctx, v, t, r)
		}
	})
}

// finish keeps a result, unless what it read has changed since, and publishes it.
func (s *server) finish(ctx context.Context, v *view, t *tracked, r *result) {
	v.diagnose(r)
	s.mu.Lock()
	if ctx.Err() != nil || s.launches[t.path] != t {
		s.mu.Unlock()
		return
	}
	now := s.view()
	for path := range r.names {
		if !now.same(r, path) {
			s.schedule(t)
			s.mu.Unlock()
			return
		}
	}
	t.result, t.cancel = r, nil
	s.mu.Unlock()
	if r.failed != nil {
		s.log(logWarning, "%s is not checked: %s", filepath.Base(t.path), s.words(r.failed.Error()))
	}
	for _, rep := range r.reports {
		s.log(logInfo, "%s: %s", filepath.Base(t.path), s.words(rep.Summary))
	}
	s.publish(pathsOf(r))
}

func pathsOf(r *result) []string {
	var list []string
	for path := range r.diagnostics {
		list = append(list, path)
	}
	slices.Sort(list)
	return list
}

// check checks a launch; nil if it was ended.
func (v *view) check(ctx context.Context, t *tracked) (r *result) {
	r = &result{launch: t.path, read: map[string]string{}, names: map[string]bool{t.path: true}}
	defer v.begins(ctx, t)()
	defer func() {
		if p := recover(); p != nil {
			r.failed = fmt.Errorf("BUG: %v; please report it", p)
			v.log(logError, "%s: %v", t.path, r.failed)
		}
		if ctx.Err() != nil {
			r = nil
		}
	}()
	r.failed = v.stages(ctx, t, r)
	return r
}

// stages loads a launch from the documents as they are, and checks each of its stages.
func (v *view) stages(ctx context.Context, t *tracked, r *result) error {
	l := v.text(t.path)
	if l == nil {
		return nil // it was deleted: there is nothing to say
	}
	r.read[t.path] = l.src
	f, err := v.readLaunch(t.path)
	if err != nil {
		return err
	}
	v.reads(r, f) // sources too, before they are compiled
	if end, err := v.compile(ctx, f); err != nil {
		return err
	} else if end != nil {
		defer end()
	}
	v.reads(r, f)
	texts := map[string][]byte{}
	for path := range r.names {
		if d := v.docs[path]; d != nil {
			texts[path] = []byte(d.src)
		}
	}
	limits := muster.Limits{Time: v.set.limit, Memory: v.set.memory}
	seq, err := muster.LoadSequenceTexts(f, limits, texts)
	if err != nil {
		return err
	}
	within := muster.WithTime(ctx, v.set.limit)
	return seq.Each(within, func(i int, l *muster.Launch) (*muster.RunResult, error) {
		return nil, v.stage(within, t, r, l, seq, i)
	})
}

// reads notes the files that a launch names, as they are.
func (v *view) reads(r *result, f *launch.File) {
	for _, path := range modulesOf(f) {
		r.names[path] = true
		if d := v.text(path); d != nil {
			r.read[path] = d.src
		}
	}
}

// stage checks one stage. What completes what is asked first, with a part of the time: an
// editor is of use with that alone.
func (v *view) stage(ctx context.Context, t *tracked, r *result, l *muster.Launch, seq *muster.Sequence, i int) error {
	pairs, err := l.Completions(muster.WithTime(ctx, v.set.limit/8))
	if err != nil {
		return err
	}
	r.completions = append(r.completions, pairs...)
	words := report.Quote(t.path)
	if seq.Stages() > 1 {
		first, _ := seq.Numbers(i)
		words = fmt.Sprintf("%s --launch %d", words, first)
	}
	ctx = muster.WithProgress(ctx, func(p muster.Progress) { v.progressed(t, "report", p.String()) })
	rep, err := l.Check(ctx, muster.CheckOptions{Jobs: max(1, runtime.GOMAXPROCS(0)/2), Arguments: words})
	if err != nil {
		return err
	}
	r.reports = append(r.reports, rep)
	return nil
}

// compile has sources compiled that the launch names in place of PTX.
func (v *view) compile(ctx context.Context, f *launch.File) (end func(), err error) {
	for i := range f.Launches {
		if filepath.Ext(f.Launches[i].PTX) == ".cu" && v.o.Sources != nil {
			return v.o.Sources(ctx, f)
		}
	}
	return nil, nil
}

// begins shows that a check runs, to a client that can, and returns what ends that.
func (v *view) begins(ctx context.Context, t *tracked) func() {
	v.mu.Lock()
	shows := v.progress
	v.calls++
	token := fmt.Sprintf("muster-check-%d", v.calls)
	if shows && ctx.Err() == nil {
		t.token = token
	}
	v.mu.Unlock()
	if !shows {
		return func() {}
	}
	v.call("window/workDoneProgress/create", map[string]string{"token": token})
	v.notify("$/progress", progressParams{token, workDoneProgress{Kind: "begin", Title: "muster: " + filepath.Base(t.path), Cancellable: true}})
	return func() {
		v.progressed(t, "end", "")
		v.mu.Lock()
		t.token = ""
		v.mu.Unlock()
	}
}

// progressed tells a client how far a check is.
func (v *view) progressed(t *tracked, kind, text string) {
	v.mu.Lock()
	token := t.token
	v.mu.Unlock()
	if token != "" {
		v.notify("$/progress", progressParams{token, workDoneProgress{Kind: kind, Message: v.words(text)}})
	}
}

// unfinished says whether an error only says that later launches were not looked at.
func unfinished(err error) bool {
	var u *muster.UnfinishedError
	return errors.As(err, &u)
}
