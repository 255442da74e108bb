package lsp

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

// This file makes diagnostics of what checks say, and sends them.

// publish sends what is said of some documents and files.
func (s *server) publish(keys []string) {
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		s.publishOne(key)
	}
}

func (s *server) publishOne(key string) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.mu.Lock()
	v := s.view()
	list := append([]Diagnostic{}, s.static[key]...)
	closing := s.state == down
	s.mu.Unlock()
	slices.SortFunc(v.results, func(a, b *result) int { return strings.Compare(a.launch, b.launch) })
	for _, r := range v.results {
		list = append(list, r.diagnostics[key]...)
	}
	p := publishParams{URI: v.uri(key), Diagnostics: bounded(list)}
	if t := v.docs[key]; t != nil {
		p.URI, p.Version = t.uri, t.version
	}
	if closing || len(list) == 0 && !s.published[key] && v.docs[key] == nil {
		return
	}
	s.published[key] = len(list) > 0
	s.notify("textDocument/publishDiagnostics", p)
}

// settingNames are settings in place of the library's options.
var settingNames = strings.NewReplacer("Limits.Time", "muster.limitTime", "Limits.Memory", "muster.limitMemory")

// words makes a text name settings, and flags of the command for what is no setting.
func (s *server) words(text string) string {
	text = settingNames.Replace(text)
	if s.o.Words != nil {
		text = s.o.Words(text)
	}
	return text
}

// diagnose makes the diagnostics of a result.
func (v *view) diagnose(r *result) {
	r.diagnostics, r.shown = map[string][]Diagnostic{}, map[string]bool{}
	for _, rep := range r.reports {
		for i := range rep.Findings {
			v.finding(r, &rep.Findings[i])
		}
		for i := range rep.Gaps {
			g := &rep.Gaps[i]
			at := report.Place{File: r.launch, Line: 1}
			if g.Place != nil {
				at = *g.Place
			}
			v.add(r, at, Diagnostic{Severity: severityInformation, Code: "incomplete", Message: "incomplete: " + v.words(g.What)})
		}
		if rep.Verdict == report.Incomplete {
			v.add(r, report.Place{File: r.launch, Line: 1}, Diagnostic{Severity: severityInformation, Code: "incomplete", Message: v.words(rep.Summary)})
		}
	}
	if r.failed != nil {
		v.failure(r)
	}
}

// add adds a diagnostic at a place.
func (v *view) add(r *result, at report.Place, d Diagnostic) {
	path, err := filepath.Abs(at.File)
	if err != nil {
		return
	}
	d.Source, d.Range = "muster", v.location(path, at.Line, at.Col).Range
	r.diagnostics[path] = append(r.diagnostics[path], d)
}

// finding adds a finding: where its last place lies in the PTX, and where in the source.
func (v *view) finding(r *result, f *report.Finding) {
	d := Diagnostic{
		Severity: severityError, Code: f.Kind, Message: messageOf(f),
		Data: &DiagnosticData{ID: f.ID, Fingerprint: f.Fingerprint, Launch: r.launch, Replay: f.Replay},
	}
	switch {
	case f.Severity == report.SevNote || f.Accepted != "":
		d.Severity = severityInformation
	case f.Severity == report.SevWarning:
		d.Severity = severityWarning
	}
	last := -1
	for i := range f.Sites {
		if f.Sites[i].PTX != nil {
			last = i
		}
	}
	if last < 0 {
		v.add(r, report.Place{File: r.launch, Line: 1}, d)
		return
	}
	site := &f.Sites[last]
	inPTX := d
	inPTX.RelatedInformation = v.related(f, last, func(s *report.Site) (Location, bool) { return v.ptxLocation(s) })
	v.add(r, *site.PTX, inPTX)
	if at, path, ok := v.siteSource(site); ok {
		inSource := d
		inSource.RelatedInformation = v.related(f, last, func(s *report.Site) (Location, bool) {
			if _, path, ok := v.siteSource(s); ok {
				return v.location(path, s.Source[len(s.Source)-1].Line, s.Source[len(s.Source)-1].Col), true
			}
			return v.ptxLocation(s)
		})
		if l, ok := v.ptxLocation(site); ok {
			inSource.RelatedInformation = append(inSource.RelatedInformation, DiagnosticRelatedInformation{l, "the instruction"})
		}
		at.File = path
		if key := sourceKey(f); !r.shown[key] {
			r.shown[key] = true
			v.add(r, at, inSource)
		}
	}
}

// sourceKey is what a finding says of the source: unrolled and inlined copies of one place say
// the same.
func sourceKey(f *report.Finding) string {
	key := f.Kind
	for i := range f.Sites {
		key += "\n" + f.Sites[i].Role
		if n := len(f.Sites[i].Source); n > 0 {
			key += fmt.Sprint(" ", f.Sites[i].Source[n-1].File, f.Sites[i].Source[n-1].Line)
		}
	}
	return key
}

// siteSource is the outermost line of source of a site, in a file that is there.
func (v *view) siteSource(s *report.Site) (report.Place, string, bool) {
	if s.PTX == nil || len(s.Source) == 0 {
		return report.Place{}, "", false
	}
	at := s.Source[len(s.Source)-1]
	path := v.sourceFile(absolute(s.PTX.File), at.File)
	return at, path, path != ""
}

func (v *view) ptxLocation(s *report.Site) (Location, bool) {
	if s.PTX == nil {
		return Location{}, false
	}
	return v.location(absolute(s.PTX.File), s.PTX.Line, s.PTX.Col), true
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// mostRelated bounds the places of one finding: thousands of threads may wait.
const mostRelated = 50

// related lists a finding's other places, with what is done there.
func (v *view) related(f *report.Finding, but int, at func(*report.Site) (Location, bool)) (list []DiagnosticRelatedInformation) {
	add := func(s *report.Site, text string) {
		l, ok := at(s)
		if d := (DiagnosticRelatedInformation{l, text}); ok && !slices.Contains(list, d) && len(list) < mostRelated {
			list = append(list, d)
		}
	}
	for i := range f.Sites {
		if i != but {
			add(&f.Sites[i], f.Sites[i].Role)
		}
	}
	for i := range f.Waiting {
		w := &f.Waiting[i]
		text := "waits for " + w.For
		if w.Owed != "" {
			text += "; " + w.Owed
		}
		add(&w.Site, text)
	}
	return list
}

// messageOf is a finding in a few lines.
func messageOf(f *report.Finding) string {
	text := f.Headline
	for _, part := range []struct{ label, text string }{{"missing", f.Missing}, {"fix", f.Fix}, {"accepted", f.Accepted}} {
		if part.text != "" {
			text += "\n" + part.label + ": " + part.text
		}
	}
	return text
}

// failure adds what kept a check from beginning.
func (v *view) failure(r *result) {
	var p *ptx.Error
	var l *launch.Error
	var d *machine.DecodeError
	at, out := report.Place{File: r.launch, Line: 1}, Diagnostic{Severity: severityError, Code: "launch", Message: r.failed.Error()}
	switch {
	case unfinished(r.failed):
		out.Severity, out.Code = severityInformation, "incomplete"
	case errors.As(r.failed, &p):
		at, out.Code, out.Message = report.Place{File: p.File, Line: int(p.Pos.Line), Col: int(p.Pos.Col)}, "syntax", p.Msg
	case errors.As(r.failed, &d):
		at, out.Code, out.Message = report.Place{File: d.File, Line: int(d.Pos.Line), Col: int(d.Pos.Col)}, "decode", d.Msg
	case errors.As(r.failed, &l):
		out.Message = l.Msg
		if l.File != "" && !strings.HasPrefix(l.File, "--") {
			at = placeOf(l)
		}
	}
	out.Message = v.words(strings.Join(strings.Fields(out.Message), " "))
	v.add(r, at, out)
	if absolute(at.File) != r.launch {
		v.add(r, report.Place{File: r.launch, Line: 1}, Diagnostic{Severity: severityError, Code: "launch", Message: fmt.Sprintf("not checked: %s:%d: %s", filepath.Base(at.File), at.Line, out.Message)})
	}
}

// placeOf is where an error of a launch file lies. One without a line of its own may have it
// in its file's name, as of a file that another names.
func placeOf(l *launch.Error) report.Place {
	file, line, col := l.File, l.Line, l.Col
	if line == 0 {
		var n, c int
		if i := strings.LastIndexByte(file, ':'); i > 0 {
			if j := strings.LastIndexByte(file[:i], ':'); j > 0 {
				if k, _ := fmt.Sscanf(file[j:], ":%d:%d", &n, &c); k == 2 {
					file, line, col = file[:j], n, c
				}
			}
		}
	}
	return report.Place{File: file, Line: max(line, 1), Col: col}
}
