package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"muster/internal/diag"
)

// What GitHub takes of one run, and shows of one result
// (https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning).
const (
	maxResults = 25_000
	maxRelated = 1_000
)

// SARIF writes the reports in the Static Analysis Results Interchange Format 2.1.0
// (OASIS), as one run: a result for each cause, with a fingerprint that stays from run to
// run, and a notification for each gap.
func (e *Export) SARIF(w io.Writer) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "muster", Version: e.Version, Rules: []sarifRule{}}},
		Results:     []sarifResult{},
		Invocations: []sarifInvocation{{OK: e.Failed == nil}},
		Column:      "utf16CodeUnits",
	}
	told := &run.Invocations[0]
	if f := e.Failed; f != nil {
		told.notify("error", f.Text, e.location(Place{File: f.File, Line: f.Line, Col: f.Col}, ""))
	}
	left := 0
	for _, r := range e.Reports {
		for _, g := range r.groups(false) {
			if len(run.Results) == maxResults {
				left++
				continue
			}
			run.Results = append(run.Results, e.result(r, g))
		}
		for i := range r.Gaps {
			told.notify("warning", "incomplete: "+r.Gaps[i].What, e.location(r.Gaps[i].at(&r.Launch), ""))
		}
	}
	if left > 0 {
		told.notify("warning", fmt.Sprintf("%s more than the %d that are written", diag.Plural(left, "cause"), maxResults), nil)
	}
	if e.Summary != "" {
		told.notify("note", e.Summary, nil)
	}
	run.Tool.Driver.Rules = e.rules(run.Results)
	for i := range run.Results {
		run.Results[i].RuleIndex = slices.IndexFunc(run.Tool.Driver.Rules, func(s sarifRule) bool { return s.ID == run.Results[i].RuleID })
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{Version: "2.1.0", Schema: "https://json.schemastore.org/sarif-2.1.0.json", Runs: []sarifRun{run}})
}

// result is the result for findings of one cause.
func (e *Export) result(r *Report, group []*Finding) sarifResult {
	f := group[0]
	at := f.shown(&r.Launch)
	s := sarifResult{
		RuleID:       f.Kind,
		Level:        string(f.Severity),
		Message:      sarifMessage{f.message()},
		Locations:    []sarifLocation{*e.location(at, "")},
		Fingerprints: map[string]string{"muster/v1": f.Fingerprint},
		Count:        len(group),
	}
	for _, g := range group[1:] {
		if s.Properties == nil {
			s.Properties = &sarifOthers{}
		}
		s.Properties.Fingerprints = append(s.Properties.Fingerprints, sarifPrint{g.Fingerprint})
	}
	if f.Accepted != "" {
		s.Suppressions = []sarifSuppression{{Kind: "external", Justification: f.Accepted}}
	}
	for i, g := range group {
		for k := range g.Sites {
			site := &g.Sites[k]
			for _, p := range []*Place{site.at(), site.PTX} {
				if p == nil || i == 0 && p.File == at.File && p.Line == at.Line || len(s.Related) == maxRelated {
					continue
				}
				l := e.location(*p, site.does())
				if l.ID = len(s.Related) + 1; !slices.ContainsFunc(s.Related, func(o sarifLocation) bool { return o.same(l) }) {
					s.Related = append(s.Related, *l)
				}
			}
		}
	}
	return s
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
			ID: kind, Short: sarifMessage{rule.Title}, Full: sarifMessage{rule.Title}, Help: sarifMessage{strings.TrimSpace(help + "\n\nmuster explain " + kind)},
			Default: sarifLevel{string(rule.Severity)}, Properties: sarifTags{[]string{"synchronization", "gpu"}},
		})
	}
	slices.SortFunc(list, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// location is a place as SARIF has it; nil for none.
func (e *Export) location(p Place, text string) *sarifLocation {
	if p.File == "" {
		return nil
	}
	l := &sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(e.path(p.File))}}}
	l.Physical.Region = sarifRegion{Line: max(p.Line, 1), Column: p.Col}
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

type (
	sarifLog struct {
		Version string     `json:"version"`
		Schema  string     `json:"$schema"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		Column      string            `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string       `json:"id"`
		Short      sarifMessage `json:"shortDescription"`
		Full       sarifMessage `json:"fullDescription"`
		Help       sarifMessage `json:"help"`
		Default    sarifLevel   `json:"defaultConfiguration"`
		Properties sarifTags    `json:"properties"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifTags struct {
		Tags []string `json:"tags"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		OK            bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Count        int                `json:"occurrenceCount"`
		Properties   *sarifOthers       `json:"properties,omitempty"`
	}
	// sarifOthers are the fingerprints of a cause's other findings, for ReadBaseline.
	sarifOthers struct {
		Fingerprints []sarifPrint `json:"others"`
	}
	sarifPrint struct {
		Print string `json:"fingerprint"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifMessage `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

func (l *sarifLocation) same(o *sarifLocation) bool {
	return l.Physical == o.Physical && l.Message.equal(o.Message)
}

func (m *sarifMessage) equal(o *sarifMessage) bool {
	if m == nil || o == nil {
		return m == o
	}
	return *m == *o
}

func (i *sarifInvocation) notify(level, text string, at *sarifLocation) {
	n := sarifNotification{Level: level, Message: sarifMessage{text}}
	if at != nil {
		n.Locations = []sarifLocation{*at}
	}
	i.Notifications = append(i.Notifications, n)
}
