package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func exported(findings ...Finding) *Export {
	r := &Report{Findings: findings, Launch: Launch{File: "k.yaml", Kernel: "k"}}
	r.Conclude(Options{})
	return &Export{Reports: []*Report{r}, Summary: r.Summary}
}

// TestExportEscapes: a name with what commands, lines and references use breaks out of none.
func TestExportEscapes(t *testing.T) {
	f := Finding{Kind: "race", Severity: SevError, Headline: "a%0A\n::error::b\r", Sites: []Site{{Role: "reads", PTX: &Place{File: "a,b: c%\n.ptx", Line: 3, Col: 1, Text: "ld.u32 %r1, [x];", Func: "k"}}}}
	e := exported(f)
	var b bytes.Buffer
	if err := e.GitHub(&b); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a%2Cb%3A c%25%0A.ptx,line=3,col=1,title=muster%3A race::a%250A%0A::error::b%0D\n"
	if got, _, _ := strings.Cut(b.String(), "::notice"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Reset()
	if err := e.SARIF(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"uri": "a,b:%20c%25%0A.ptx"`) && !strings.Contains(b.String(), `"uri": "./a,b:%20c%25%0A.ptx"`) {
		t.Errorf("no reference in %s", b.String())
	}
	b.Reset()
	e.Reports[0].Findings[0].Sites[0].PTX.File += "\x1b[2J\xff"
	if err := e.Lines(&b); err != nil || strings.Count(b.String(), "\n") != 2 || strings.Contains(b.String(), "\x1b") || !utf8.ValidString(b.String()) {
		t.Errorf("%d lines of %q, %v", strings.Count(b.String(), "\n"), b.String(), err)
	}
}

// TestTextEscapes: the name of a source file, which PTX gives, is one line of the text.
func TestTextEscapes(t *testing.T) {
	site := Site{Role: "reads", Source: []Place{{File: "detail.h", Line: 7}, {File: "a\n\x1b[31mclean.cu", Line: 3}}, PTX: &Place{File: "k.ptx", Line: 3, Col: 1, Text: "ld.u32 %r1, [x];", Func: "k"}}
	e := exported(Finding{Kind: "race", Severity: SevError, Headline: "both", Sites: []Site{site}})
	var b bytes.Buffer
	for _, o := range []TextOptions{{}, {Brief: true}} {
		b.Reset()
		if err := e.Reports[0].WriteText(&b, o); err != nil || !strings.Contains(b.String(), `a\n\x1b[31mclean.cu:3`) || strings.Contains(b.String(), "\x1b") {
			t.Errorf("%v: %q", err, &b)
		}
	}
}

// TestSARIFMost: of more causes than GitHub takes, so many are written, and how many are not.
func TestSARIFMost(t *testing.T) {
	var list []Finding
	for i := range maxResults + 3 {
		list = append(list, Finding{Kind: "race", Severity: SevError, Sites: []Site{{Source: []Place{{File: "k.cu", Line: i + 1}}}}})
	}
	var b bytes.Buffer
	if err := exported(list...).SARIF(&b); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if len(run.Results) != maxResults || run.Invocations[0].Notifications[0].Message.Text != "3 causes more than the 25000 that are written" {
		t.Errorf("%d results, %+v", len(run.Results), run.Invocations[0].Notifications)
	}
}

// TestFingerprint: it depends on what a finding is about, not on lines, threads or schedules;
// and it tells findings apart that are alike.
func TestFingerprint(t *testing.T) {
	of := func(kernel string, findings ...Finding) (list []string) {
		r := Report{Findings: findings, Launch: Launch{Kernel: kernel}}
		r.fingerprint()
		for _, f := range r.Findings {
			list = append(list, f.Fingerprint)
		}
		return list
	}
	at := func(line int, warp int32, op, name string) Finding {
		return Finding{ID: fmt.Sprint("race-shared@k.ptx:", line), Kind: "race-shared", Schedule: fmt.Sprint("random:", line), Sites: []Site{{Role: "reads", Warp: warp,
			PTX: &Place{File: "k.ptx", Line: line, Text: op + " %r1, [x];", Func: "k"}, Memory: &Memory{Space: "shared", Name: name}}}}
	}
	base := of("k", at(10, 0, "ld.u32", "tile"))[0]
	if got := of("k", at(12, 3, "ld.u32", "tile"))[0]; got != base {
		t.Errorf("lines or threads change it: %s and %s", base, got)
	}
	beside := func(f Finding, around string) Finding { f.Sites[0].Around = around; return f }
	elsewhere := func(f Finding) Finding { f.Sites[0].PTX.File = "dir/other.ptx"; return f }
	for _, other := range [][]string{of("k", beside(at(10, 0, "ld.u32", "tile"), "bar.sync;ret")), of("k", elsewhere(at(10, 0, "ld.u32", "tile"))), of("k2", at(10, 0, "ld.u32", "tile")), of("k", at(10, 0, "ld.u64", "tile")), of("k", at(10, 0, "ld.u32", "other"))} {
		if other[0] == base {
			t.Errorf("another finding has it, too: %s", base)
		}
	}
	if two := of("k", at(20, 0, "ld.u32", "tile"), at(10, 0, "ld.u32", "tile")); two[1] != base || two[0] == base {
		t.Errorf("the order of a report numbers them: %v", two)
	}
	if two := of("k", at(10, 0, "ld.u32", "tile"), at(20, 0, "ld.u32", "tile")); two[0] != base || two[1] == base {
		t.Errorf("two alike: %v", two)
	}
}
