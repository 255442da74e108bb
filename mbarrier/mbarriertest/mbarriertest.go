// Package mbarriertest runs tests of code that waits at barriers, and reports on a test that is stuck: who
// waits for whom, as text, as JSON and as a page.
//
// A test that calls [Test] and fails says so in its failure. With go test -artifacts it also leaves a page
// (mbarriers.html) and the same as JSON (mbarriers.json) in [testing.T.ArtifactDir], and names the page in its
// failure. The page is one file that needs nothing else: it shows who waits for whom, each barrier, and what
// every goroutine did, step by step.
package mbarriertest

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"weak"

	"muster/mbarrier"
	"muster/mbarrier/internal/history"
)

// Test runs f in a bubble, as [synctest.Test] does, and records what is done with every barrier made in it. If
// all goroutines in the bubble are blocked, or f has returned and left goroutines that wait, the test fails
// with [mbarrier.Dump]'s report on the barriers with waiters, where synctest would panic. The goroutines of
// that bubble never end.
//
// With go test -artifacts a test that fails, for whatever reason, leaves a page, and the failure names it; so
// does a barrier's panic.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	w := &watch{t: t}
	w.log.Refuse = w.refused
	defer w.end()
	if text := w.run(f); text != "" {
		t.Fatal(text + w.hints() + w.artifacts())
	}
}

// Deadlock is Test for a test that expects the deadlock: it returns the report, or "" if f ends normally.
func Deadlock(t *testing.T, f func(*testing.T)) (report string) {
	t.Helper()
	return (&watch{t: t}).run(f)
}

// Record is Test for a program that reads the report: it returns it as data, whether f ends normally or in a
// deadlock. The report's Failure is empty if it ends normally.
func Record(t *testing.T, f func(*testing.T)) *Report {
	t.Helper()
	w := &watch{t: t}
	w.run(f)
	return w.report()
}

// Name names the calling goroutine in reports, from here on. Without it a goroutine has the name of the
// function that it began with, or the line of its literal. Outside of a test of this package it does nothing.
func Name(name string) {
	if l := history.Mine(); l != nil {
		l.Name(name)
	}
}

// A watch is one run of a test.
type watch struct {
	t       *testing.T
	log     history.Log
	failure string
	left    []stack
	written []string // files
	mu      sync.Mutex
}

// run runs f and returns the text of the deadlock that it ends in, or "".
func (w *watch) run(f func(*testing.T)) (text string) {
	w.t.Helper()
	defer history.Close(&w.log)
	defer func() {
		e := recover()
		if e == nil {
			return
		}
		err, ok := e.(error)
		if !ok || !strings.HasPrefix(err.Error(), "deadlock") {
			panic(e)
		}
		w.failure, w.left = err.Error(), stacks(w.log.Bubble)
		text = w.dump()
	}()
	synctest.Test(w.t, func(t *testing.T) {
		history.Open(&w.log, "the test")
		f(t)
	})
	return ""
}

// dump is the report as text.
func (w *watch) dump() string {
	var out strings.Builder
	out.WriteString(w.failure + "\n")
	for _, r := range w.log.Record().Barriers {
		if p, ok := r.Owner.(weak.Pointer[mbarrier.Barrier]); ok {
			if b := p.Value(); b != nil && b.Waiting() > 0 {
				mbarrier.Dump(&out, b)
			}
		}
	}
	return out.String()
}

// hints are the circles and the mistakes that the history shows, some of them.
func (w *watch) hints() (text string) {
	all := w.report().hints
	for _, h := range all[:min(len(all), 8)] {
		text += h + "\n"
	}
	return text
}

func (w *watch) report() *Report {
	return build(w.t.Name(), w.failure, w.log.Record(), w.left)
}
