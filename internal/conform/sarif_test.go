package conform

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // has the schema of OASIS in it
	"github.com/santhosh-tekuri/jsonschema/v6"

	"muster/report"
)

// sarifSchema compiles the schema of OASIS, which package sarif of go-sarif has as a constant.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(out)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	ast.Inspect(source, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, err = strconv.Unquote(l.Value)
		}
		return true
	})
	if err != nil || !strings.Contains(text, "(SARIF) Version 2.1.0 JSON Schema") {
		t.Fatalf("no schema, %v", err)
	}
	return schema(t, []byte(text))
}

func schema(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, data []byte) any {
	t.Helper()
	doc := parsed(t, data)
	if err := s.Validate(doc); err != nil {
		t.Errorf("%#v in %.2000s", err, data)
	}
	return doc
}

// The schema takes what it should not: a test of the test.
func TestSchemaRefuses(t *testing.T) {
	s := sarifSchema(t)
	for _, text := range []string{`{}`, `{"version": "2.1.0", "runs": [{}]}`, `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"message": {"text": "x"}, "level": "bad"}]}]}`} {
		if s.Validate(parsed(t, []byte(text))) == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// What the command writes as SARIF is SARIF, and within what GitHub takes.
func TestSARIF(t *testing.T) {
	s := sarifSchema(t)
	list := jobs(t)
	known, _ := muster(t, "check", "examples/found/broken_bulk_store.yaml", "--format", "sarif")
	list = append(list, job{"known", []string{"check", "examples/found/broken_bulk_store.yaml", "--baseline", file(t, "known.sarif", string(known))}, 0},
		job{"new", []string{"check", "examples/ring/broken_count.yaml", "--baseline", file(t, "known.sarif", string(known))}, 1})
	for _, j := range list {
		t.Run(j.name, func(t *testing.T) {
			data, status := muster(t, append(j.args, "--format", "sarif")...)
			if status != j.status {
				t.Errorf("exit status %d, want %d", status, j.status)
			}
			doc := valid(t, s, data)
			limits(t, doc)
			run := at(doc, "runs", 0)
			inv := at(run, "invocations", 0)
			if at(inv, "exitCode") != json.Number(strconv.Itoa(status)) || at(inv, "executionSuccessful") != (status != 2) {
				t.Errorf("invocation %v", inv)
			}
			if n := len(at(run, "results").([]any)); n == 0 && (status == 1 || j.name == "accepted" || j.name == "known") {
				t.Errorf("%d results", n)
			}
			switch j.name {
			case "known":
				if at(run, "results", 0, "baselineState") != "unchanged" || at(run, "results", 0, "suppressions", 0, "kind") != "external" {
					t.Errorf("%v", at(run, "results", 0))
				}
			case "new":
				if at(run, "results", 0, "baselineState") != "new" || at(run, "results", 0, "suppressions") != nil {
					t.Errorf("%v", at(run, "results", 0))
				}
			case "accented": // a tab, 10 characters of which one takes two units, and a blank
				region := at(run, "results", 0, "locations", 0, "physicalLocation", "region")
				if at(region, "startColumn") != json.Number("13") || at(region, "endColumn") != json.Number("78") {
					t.Errorf("%v", region)
				}
			}
		})
	}
}

// at follows names and indexes into a document; nil for what is not there.
func at(doc any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := doc.(map[string]any)
			doc = m[p]
		case int:
			l, _ := doc.([]any)
			if p >= len(l) {
				return nil
			}
			doc = l[p]
		}
	}
	return doc
}

func list(doc any, path ...any) []any {
	l, _ := at(doc, path...).([]any)
	return l
}

// limits holds a document to what GitHub documents
// (https://docs.github.com/en/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit and
// https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning).
func limits(t *testing.T, doc any) {
	t.Helper()
	most := func(what string, n, limit int) {
		t.Helper()
		if n > limit {
			t.Errorf("%d %s, and GitHub takes %d", n, what, limit)
		}
	}
	most("runs", len(list(doc, "runs")), 20)
	for _, run := range list(doc, "runs") {
		most("results", len(list(run, "results")), 25_000)
		rules := list(run, "tool", "driver", "rules")
		most("rules", len(rules), 25_000)
		for _, r := range rules {
			most("tags", len(list(r, "properties", "tags")), 20)
			for _, text := range []string{"shortDescription", "fullDescription"} {
				s, _ := at(r, text, "text").(string)
				most("characters of "+text, len([]rune(s)), 1024)
			}
			if id, _ := at(r, "id").(string); id == "" || at(r, "help", "text") == "" {
				t.Errorf("rule %v", r)
			}
		}
		for _, r := range list(run, "results") {
			places := append(list(r, "locations"), list(r, "relatedLocations")...)
			most("locations", len(places), 1_000)
			if len(list(r, "locations")) != 1 {
				t.Errorf("result %v: GitHub shows the first location alone", r)
			}
			n := 0
			for _, f := range list(r, "codeFlows") {
				for _, th := range list(f, "threadFlows") {
					n += len(list(th, "locations"))
				}
			}
			most("locations of threads", n, 10_000)
			if print, _ := at(r, "partialFingerprints", "primaryLocationLineHash").(string); print == "" {
				t.Errorf("result %v has no fingerprint that GitHub takes", r)
			}
			for _, p := range places {
				if uri, _ := at(p, "physicalLocation", "artifactLocation", "uri").(string); uri == "" {
					t.Errorf("%v: no file", p)
				}
			}
		}
	}
}

// many returns reports of many large findings, of which every tenth is an error; words makes
// texts that compress badly.
func many(n, bytes int) *report.Export {
	r := &report.Report{Launch: report.Launch{File: "k.yaml", Kernel: "k"}}
	state := uint64(1)
	word := func() string {
		state = state*6364136223846793005 + 1442695040888963407
		return strconv.FormatUint(state, 36)
	}
	for i := range n {
		f := report.Finding{Kind: "race-shared", ID: fmt.Sprint("race-shared@k.cu:", i), Severity: report.SevWarning, Schedule: "latest"}
		if i%10 == 9 {
			f.Severity = report.SevError
		}
		for len(f.Headline) < bytes {
			f.Headline += word() + " "
		}
		for k := range 2 {
			f.Sites = append(f.Sites, report.Site{Role: "writes", Warp: int32(k), CTA: &[3]uint32{}, Source: []report.Place{{File: "k.cu", Line: 10*i + k + 1, Col: 3}}})
		}
		r.Findings = append(r.Findings, f)
	}
	r.Conclude(report.Options{})
	return &report.Export{Reports: []*report.Report{r}, Summary: r.Summary, Verdict: r.Verdict}
}

// More than 25,000 large findings: the file stays within GitHub's limits, with errors before
// warnings, and says what it leaves out.
func TestSARIFMany(t *testing.T) {
	s := sarifSchema(t)
	for _, c := range []struct {
		n, bytes int
		all      bool // of 25,000
	}{{30_000, 100, true}, {30_000, 2_000, false}} {
		var out bytes.Buffer
		if err := many(c.n, c.bytes).SARIF(&out); err != nil {
			t.Fatal(err)
		}
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		z.Write(out.Bytes())
		z.Close()
		doc := valid(t, s, out.Bytes())
		limits(t, doc)
		results := list(doc, "runs", 0, "results")
		t.Logf("%d findings with texts of %d bytes: %d results, %d bytes, %d compressed", c.n, c.bytes, len(results), out.Len(), zipped.Len())
		if zipped.Len() > 10_000_000 || (len(results) == 25_000) != c.all || len(results) < 1_000 {
			t.Errorf("%d results, %d bytes compressed", len(results), zipped.Len())
		}
		errors := 0
		for i, r := range results {
			if at(r, "level") == "error" {
				if errors++; errors != i+1 {
					t.Fatalf("result %d is an error behind a warning", i)
				}
			}
		}
		if errors != min(c.n/10, len(results)) {
			t.Errorf("%d errors of %d", errors, c.n/10)
		}
		want := fmt.Sprintf("%d causes more than the %d that are written", c.n-len(results), len(results))
		if got := at(doc, "runs", 0, "invocations", 0, "toolExecutionNotifications", 0, "message", "text"); strings.ReplaceAll(fmt.Sprint(got), ",", "") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
