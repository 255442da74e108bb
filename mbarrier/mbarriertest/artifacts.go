package mbarriertest

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"muster/mbarrier/internal/page"
)

// The most goroutines and debts that a page has; a report in JSON has them all.
const mostShown = 300

// WritePage writes the report as one HTML file that needs nothing else and asks for nothing. Of very many
// goroutines, barriers and steps it shows those that matter first, and says how many it leaves out.
func (r *Report) WritePage(w io.Writer) error {
	var data bytes.Buffer
	if err := r.shown().WriteJSON(&data); err != nil {
		return err
	}
	return page.Write(w, data.Bytes())
}

// asked reports whether go test was called with -artifacts: what is written to ArtifactDir stays only then.
func asked() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// artifacts writes the page and the report, if they were asked for, and says where they are.
func (w *watch) artifacts() string {
	if !asked() {
		return "go test -artifacts leaves a page of who waits for whom\n"
	}
	name, err := w.write()
	if err != nil {
		return fmt.Sprintf("the page could not be written: %v\n", err)
	}
	return "page: " + name + "\n"
}

func (w *watch) write() (string, error) {
	r := w.report()
	dir := w.t.ArtifactDir()
	name := filepath.Join(dir, "mbarriers.html")
	for _, f := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{name, func(b *bytes.Buffer) error { return r.WritePage(b) }},
		{filepath.Join(dir, "mbarriers.json"), func(b *bytes.Buffer) error { return r.WriteJSON(b) }},
	} {
		var b bytes.Buffer
		if err := f.write(&b); err != nil {
			return "", err
		}
		if err := os.WriteFile(f.name, b.Bytes(), 0o666); err != nil {
			return "", err
		}
		w.written = append(w.written, f.name)
	}
	return name, nil
}

// refused writes the page when a barrier panics, since a panic of a goroutine ends the process. If the test
// recovers from it and passes, end takes the page away again.
func (w *watch) refused(text string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !asked() || len(w.written) > 0 {
		return ""
	}
	w.failure, w.left = text, stacks(w.log.Bubble)
	name, err := w.write()
	if err != nil {
		return fmt.Sprintf("; the page could not be written: %v", err)
	}
	return "; page: " + name
}

// end writes the page of a test that has failed otherwise, and takes away one that a recovered panic left.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.t.Failed() {
		for _, name := range w.written {
			os.Remove(name)
		}
		return
	}
	if !asked() || len(w.written) > 0 || len(w.log.Record().Barriers) == 0 {
		return
	}
	w.failure = "a check of the test failed"
	name, err := w.write()
	if err != nil {
		w.t.Logf("the page could not be written: %v", err)
		return
	}
	w.t.Logf("page: %s", name)
}

// shown is the report with what a page has room for: goroutines of circles and one of each group first, then
// those that wait and those that owe; the barriers of these; the last steps.
func (r *Report) shown() *Report {
	keep := map[int]bool{}
	add := func(g int) {
		if g >= 0 && len(keep) < mostShown {
			keep[g] = true
		}
	}
	for _, c := range r.Circles {
		for _, g := range c.Goroutines {
			add(g)
		}
	}
	for _, g := range r.Groups {
		add(g.First)
	}
	for _, d := range r.Debts {
		add(d.Goroutine)
	}
	for i, g := range r.Goroutines {
		if g.Waits != nil {
			add(i)
		}
	}
	for i := range r.Goroutines {
		add(i)
	}
	return r.only(keep)
}
