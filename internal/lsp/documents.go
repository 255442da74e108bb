package lsp

import (
	"context"
	"errors"
	"slices"

	"muster/launch"
)

// This file is what happens when documents and files change.

// changed takes a new state of a document. A change of source code means nothing before it is
// saved and compiled.
func (s *server) changed(key string, t *text) {
	s.mu.Lock()
	again := s.docs[key] != nil
	s.setDoc(key, t)
	if again && !t.ptx && !isLaunch(t) {
		s.mu.Unlock()
		return
	}
	delete(s.static, key)
	stale := s.drop([]string{key})
	s.mu.Unlock()
	s.publish(stale)
	s.look(key, t)
}

// closed forgets a document. A launch that no other document wants is forgotten too, and of one
// that read it, the file counts again.
func (s *server) closed(key string) {
	s.mu.Lock()
	s.setDoc(key, nil)
	delete(s.static, key)
	if cancel := s.looks[key]; cancel != nil {
		cancel()
		delete(s.looks, key)
	}
	stale := s.drop([]string{key})
	for path, t := range s.launches {
		delete(t.wants, key)
		if len(t.wants) == 0 {
			t.stop()
			if t.result != nil {
				stale = append(stale, pathsOf(t.result)...)
			}
			delete(s.launches, path)
		}
	}
	s.mu.Unlock()
	s.publish(append(stale, key))
}

// touched takes note that files have changed: what was said of them is said anew, and what they
// mean for open documents is looked at again.
func (s *server) touched(paths []string) {
	s.mu.Lock()
	stale := s.drop(paths)
	docs := s.docs
	s.mu.Unlock()
	s.publish(stale)
	for key, t := range docs {
		s.look(key, t)
	}
}

// saved takes note that a document was saved, and that other programs, as a compiler, may have
// written what the results at hand read: not every client watches files.
func (s *server) saved(path string) {
	paths := []string{path}
	s.mu.Lock()
	for _, t := range s.launches {
		if t.result == nil {
			continue // its check has yet to begin, or compares what it read at its end
		}
		paths = append(paths, t.path)
		for name := range t.result.names {
			paths = append(paths, name)
		}
	}
	s.mu.Unlock()
	s.touched(paths)
}

// drop forgets the results that read one of some files in another state, has their checks made
// again, and returns the files of which they said something. The caller holds the lock.
func (s *server) drop(paths []string) (stale []string) {
	v := s.view()
	for _, t := range s.launches {
		if !slices.ContainsFunc(paths, func(p string) bool { return v.stale(t, p) }) {
			continue
		}
		if t.result != nil {
			stale = append(stale, pathsOf(t.result)...)
			t.result = nil
		}
		s.schedule(t)
	}
	return stale
}

// stale reports whether the change of a file concerns a launch. What a check reads that has not
// ended is compared at its end: see finish.
func (v *view) stale(t *tracked, path string) bool {
	if path == t.path || t.wants[path] {
		return t.result == nil || !v.same(t.result, path)
	}
	return t.result != nil && t.result.names[path] && !v.same(t.result, path)
}

// same reports whether a result read a file as it is now.
func (v *view) same(r *result, path string) bool {
	src, ok := r.read[path]
	switch now := v.text(path); {
	case now == nil:
		return !ok
	case !ok:
		return !r.names[path]
	default:
		return now.src == src
	}
}

// look finds, in the background, what is wrong with a document by itself, and which launches
// speak of it.
func (s *server) look(key string, t *text) {
	s.mu.Lock()
	if cancel := s.looks[key]; cancel != nil {
		cancel()
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.looks[key] = cancel
	s.mu.Unlock()
	s.work.Go(func() {
		defer cancel()
		defer s.recovered("reading " + t.name())
		select { // the states that a typist goes through are not all parsed
		case s.looking <- struct{}{}:
			defer func() { <-s.looking }()
		case <-ctx.Done():
			return
		}
		list, ok := s.now().alone(ctx, t)
		s.mu.Lock()
		if !ok || ctx.Err() != nil || s.docs[key] != t {
			s.mu.Unlock()
			return
		}
		s.static[key] = list
		v := s.view()
		s.mu.Unlock()
		s.publish([]string{key})
		launches := v.concerned(t)
		s.mu.Lock()
		defer s.mu.Unlock()
		if ctx.Err() != nil || s.docs[key] != t {
			return
		}
		for _, path := range launches {
			s.want(path, key)
		}
	})
}

// alone is what is wrong with a document by itself.
func (v *view) alone(ctx context.Context, t *text) ([]Diagnostic, bool) {
	switch {
	case t.ptx:
		return t.module().problems(ctx)
	case isLaunch(t):
		f, err := v.readLaunch(t.path)
		if err == nil {
			err = f.Validate()
		}
		var e *launch.Error
		if errors.As(err, &e) {
			line, col := 1, 0
			if e.File == t.path {
				line, col = e.Line, e.Col
			}
			return []Diagnostic{{Range: t.rest(max(line, 1), col), Severity: severityError, Code: "launch", Source: "muster", Message: e.Msg}}, true
		}
	}
	return nil, true
}

// concerned lists the launches that speak of a document.
func (v *view) concerned(t *text) []string {
	switch {
	case t.path == "":
		return nil
	case isLaunch(t):
		if _, err := v.readLaunch(t.path); err != nil {
			return nil
		}
		return []string{t.path}
	case t.ptx:
		return v.launchesOf([]string{t.path})
	}
	files := []string{t.path}
	for _, m := range v.compiled(t.path) {
		files = append(files, m.path)
	}
	return v.launchesOf(files)
}
