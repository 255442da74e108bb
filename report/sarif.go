package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"muster/internal/diag"
)

// What GitHub takes of one run, and shows of one result
// (https://docs.github.com/en/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit
// and, of a file's size, .../file-too-large). It takes 20 runs, of which this is one; 25,000 rules,
// of which there are as many as kinds of findings; 20 tags a rule; and 10,000 locations of threads
// a result, of which there are two for each site.
const (
	maxResults = 25_000
	maxRelated = 100        // locations of a result: it takes 1,000 and shows 100
	maxLinked  = 10         // of them, in the text
	maxSites   = 1_000      // of a finding
	maxPacked  = 10_000_000 // bytes of a file, compressed by gzip
	maxText    = 1_024      // of a rule's descriptions, which GitHub limits to so many characters
)

// SARIF writes the reports in the Static Analysis Results Interchange Format 2.1.0
// (OASIS), as one run: a result for each cause, with a fingerprint that stays from run to
// run, and a notification for each gap. Of more results than GitHub takes, the least severe
// are left out, and a notification says how many.
func (e *Export) SARIF(w io.Writer) error {
	results := e.results()
	n := min(len(results), maxResults)
	for {
		data, err := e.document(results, n)
		if err != nil {
			return err
		}
		if size := packed(data); size > maxPacked && n > 0 {
			n = min(n-1, int(float64(n)*0.95*maxPacked/float64(size)))
			continue
		}
		_, err = w.Write(data)
		return err
	}
}

// packed is the size of a document compressed by gzip, as GitHub takes it. A document that
// is small anyhow is not compressed.
func packed(data []byte) int {
	if len(data) < maxPacked {
		return len(data)
	}
	var n counter
	z := gzip.NewWriter(&n)
	z.Write(data)
	z.Close()
	return int(n)
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// results are the results of all reports: errors first, and what is accepted last.
func (e *Export) results() []sarifResult {
	list := []sarifResult{}
	for _, r := range e.Reports {
		for _, g := range r.groups(false) {
			list = append(list, e.result(r, g))
		}
	}
	rank := func(r *sarifResult) int {
		if r.Suppressions != nil {
			return 3
		}
		return slices.Index([]Severity{SevError, SevWarning, SevNote}, Severity(r.Level))
	}
	slices.SortStableFunc(list, func(a, b sarifResult) int { return rank(&a) - rank(&b) })
	return list
}

// document is the file with the first n results.
func (e *Export) document(results []sarifResult, n int) ([]byte, error) {
	run := sarifRun{
		Tool:    sarifTool{sarifDriver{Name: "muster", Version: e.Version, Rules: []sarifRule{}}},
		Results: results[:n],
		Bases:   map[string]sarifBase{sourceRoot: {sarifMessage{"the folder in which muster ran"}}},
		Column:  "utf16CodeUnits",
	}
	if e.Category != "" {
		run.Automation = &sarifID{"muster/" + e.Category + "/"}
	}
	told := sarifInvocation{OK: len(e.Failed) == 0, Exit: e.Verdict.ExitCode(), Verdict: string(e.Verdict)}
	for _, f := range e.Failed {
		told.notify("error", f.Text, e.location(Place{File: f.File, Line: f.Line, Col: f.Col}, ""))
	}
	gaps := 0
	for _, r := range e.Reports {
		for i := range r.Gaps {
			if gaps++; gaps <= maxSites {
				told.notify("warning", "incomplete: "+r.Gaps[i].What, e.location(r.Gaps[i].at(&r.Launch), ""))
			}
		}
	}
	if gaps > maxSites {
		told.notify("warning", fmt.Sprintf("incomplete: %s more", diag.Plural(gaps-maxSites, "gap")), nil)
	}
	if left := len(results) - n; left > 0 {
		told.notify("warning", fmt.Sprintf("%s more than the %d that are written", diag.Plural(left, "cause"), n), nil)
	}
	if e.Summary != "" {
		told.notify("note", e.Summary, nil)
	}
	run.Invocations = []sarifInvocation{told}
	run.Tool.Driver.Rules = e.rules(run.Results)
	index := map[string]int{}
	for i, r := range run.Tool.Driver.Rules {
		index[r.ID] = i
	}
	for i := range run.Results {
		run.Results[i].RuleIndex = index[run.Results[i].RuleID]
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(sarifLog{Version: "2.1.0", Schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", Runs: []sarifRun{run}})
	return b.Bytes(), err
}

// result is the result for findings of one cause.
//
// GitHub tells results apart by primaryLocationLineHash alone, which its upload action makes of
// the text of the line where it is missing. Two findings of a kind at one line would be one, and
// another choice of registers by the compiler a new one; so it is given. The action then says
// for each that its own differs, and keeps this one.
func (e *Export) result(r *Report, group []*Finding) sarifResult {
	f := group[0]
	at := f.shown(&r.Launch)
	s := sarifResult{
		RuleID:       f.Kind,
		Level:        string(f.Severity),
		Locations:    []sarifLocation{*e.location(at, "")},
		Fingerprints: map[string]string{"muster/v1": f.Fingerprint, "primaryLocationLineHash": f.Fingerprint + ":1"},
		Count:        len(group),
		Flows:        e.flows(f),
	}
	for _, g := range group[1:] {
		if s.Properties == nil {
			s.Properties = &sarifOthers{}
		}
		s.Properties.Fingerprints = append(s.Properties.Fingerprints, sarifPrint{g.Fingerprint})
	}
	if f.Accepted != "" {
		s.Suppressions = []sarifSuppression{{Kind: "external", Status: "accepted", Justification: f.Accepted}}
	}
	if r.compared {
		s.Baseline = "new"
		if f.known {
			s.Baseline = "unchanged"
		}
	}
	s.Related = e.related(group, at)
	s.Message = sarifMessage{f.message() + links(s.Related)}
	return s
}

// related are the other places of findings of one cause.
func (e *Export) related(group []*Finding, at Place) (list []sarifLocation) {
	type key struct {
		file, text string
		line       int
	}
	seen := map[key]bool{}
	for i, g := range group {
		for k := range g.Sites {
			site := &g.Sites[k]
			for _, p := range []*Place{site.at(), site.PTX} {
				if p == nil || i == 0 && p.File == at.File && p.Line == at.Line {
					continue
				}
				if len(list) == maxRelated {
					return list
				}
				if is := (key{p.File, site.does(), p.Line}); !seen[is] {
					seen[is] = true
					l := e.location(*p, site.does())
					l.ID = len(list) + 1
					list = append(list, *l)
				}
			}
		}
	}
	return list
}

// links names the first of the related places in a text: GitHub shows those alone that it
// links to (SARIF 3.11.6).
func links(list []sarifLocation) string {
	var b strings.Builder
	before := "\nalso: "
	for i := range list[:min(len(list), maxLinked)] {
		l := &list[i]
		text := strings.NewReplacer("[", "\\[", "]", "\\]").Replace(l.Message.Text)
		fmt.Fprintf(&b, "%s[%s, line %d](%d)", before, text, l.Physical.Region.Line, l.ID)
		before = ", "
	}
	return b.String()
}

// flows are the sites of a finding of several, by the threads and operations that are there.
func (e *Export) flows(f *Finding) []sarifFlow {
	var flow sarifFlow
	for i := range f.Sites[:min(len(f.Sites), maxSites)] {
		s := &f.Sites[i]
		t := sarifThread{ID: s.who()}
		for _, p := range []*Place{s.PTX, s.at()} {
			if p != nil && (len(t.Locations) == 0 || p != s.PTX) {
				t.Locations = append(t.Locations, sarifStep{*e.location(*p, s.does())})
			}
		}
		if t.Locations != nil {
			flow.Threads = append(flow.Threads, t)
		}
	}
	if len(flow.Threads) < 2 {
		return nil
	}
	return []sarifFlow{flow}
}

// rules tells of the kinds that the results are of, in order of their names.
func (e *Export) rules(results []sarifResult) []sarifRule {
	kinds := map[string]Severity{}
	for _, r := range results {
		kinds[r.RuleID] = Severity(r.Level)
	}
	list := []sarifRule{}
	for kind, severity := range kinds {
		rule := Rule{Title: kind, Severity: severity}
		if e.Rule != nil {
			rule = e.Rule(kind)
		}
		help := rule.Text
		if rule.Section != "" {
			help += "\n\nPTX ISA, section " + rule.Section + "."
		}
		list = append(list, sarifRule{
			ID: kind, Short: sarifMessage{clipped(rule.Title)}, Full: sarifMessage{clipped(rule.Title)}, Help: sarifMessage{strings.TrimSpace(help + "\n\nmuster explain " + kind)},
			Default: sarifLevel{string(rule.Severity)}, Properties: sarifTags{[]string{"synchronization", "gpu"}},
		})
	}
	slices.SortFunc(list, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// sourceRoot stands for the folder that relative names are relative to.
const sourceRoot = "%SRCROOT%"

// location is a place as SARIF has it; nil for none.
func (e *Export) location(p Place, text string) *sarifLocation {
	if p.File == "" {
		return nil
	}
	uri := fileURI(e.path(p.File))
	l := &sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{URI: uri}}}
	if !strings.HasPrefix(uri, "file:") {
		l.Physical.Artifact.Base = sourceRoot
	}
	l.Physical.Region = sarifRegion{Line: max(p.Line, 1), Column: p.Col}
	if e.Columns != nil {
		l.Physical.Region.Column, l.Physical.Region.End = e.Columns(p)
	}
	if text != "" {
		l.Message = &sarifMessage{text}
	}
	return l
}

// fileURI is the name of a file as a reference: relative if the name is.
func fileURI(name string) string {
	u := url.URL{Path: name}
	if strings.HasPrefix(name, "/") {
		u.Scheme = "file"
	}
	return u.String()
}

// clipped is a text of at most maxText characters.
func clipped(s string) string {
	if r := []rune(s); len(r) > maxText {
		return string(r[:maxText-1]) + "…"
	}
	return s
}
