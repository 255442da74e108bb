package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

func cta(x, y, z uint32) *[3]uint32 { return &[3]uint32{x, y, z} }

// full is a report with something in every field.
func full() *Report {
	site := func(role string, line int, text string) Site {
		return Site{
			Role: role, CTA: cta(1, 2, 3), Warp: 4, Lanes: "0-3,7",
			PTX:    &Place{File: "k.ptx", Line: line, Col: 2, Text: text},
			Source: []Place{{File: "ptx.h", Line: 20, Col: 1, Func: "_Z4copyv"}, {File: "k.cu", Line: 118, Col: 9}},
			Memory: &Memory{Space: "shared", CTA: cta(1, 2, 0), Name: "slots", Symbol: "_ZZ4ringE5slots", Offset: 512, Address: "0x600", Bytes: 128, Text: "slots+512..639"},
		}
	}
	long := "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" + strings.Repeat("%f1, ", 60) + "%f2}, %rd1, %rd2, p, 1, 1, 0, 0;"
	waiter := func(warp int32, lanes string) Waiter {
		return Waiter{Site: Site{CTA: cta(0, 0, 0), Warp: warp, Lanes: lanes, PTX: &Place{File: "k.ptx", Line: 30, Col: 2, Text: "bar.sync 1;"}}, For: "generation 2 of barrier 1: 64 of 128 threads came", Owed: "warp 3 has exited"}
	}
	race := Finding{
		Kind: "race-shared", Severity: SevError, Headline: "two accesses to slots that nothing orders",
		Sites:   []Site{site("writes", 118, "@!%p1 st.shared.f32 [%r12], %f3;"), site("reads", 130, long)},
		Missing: "no barrier between them", Fix: "bar.sync 0 after the store", Ledger: []string{"mbarrier full: phase 3, pending 1 of 5", "mbarrier empty: phase 2"},
		Notes: []string{"the card gave the right numbers", strings.Repeat("a long note that goes on ", 10)}, Section: "8.5", Schedule: "random:2", Count: 1234, Seen: 2,
	}
	twin := race
	twin.Sites = []Site{site("writes", 119, "st.shared.f32 [%r12+4], %f4;"), site("reads", 130, long)}
	hang := Finding{
		Kind: "never-completes", Severity: SevError, Headline: "4 warps wait", Schedule: "earliest", Count: 1, Seen: 3,
		Waiting: []Waiter{waiter(0, "0"), waiter(0, "1-31"), waiter(1, "0-31"), waiter(2, "0-31"), waiter(5, "4")},
	}
	taken := Finding{Kind: "proxy-war", Severity: SevWarning, Headline: "meant", Schedule: "latest", Count: 1, Seen: 1, Sites: []Site{site("reads", 7, "ld.shared.u32 %r1, [%r2];")}}
	note := Finding{Kind: "same-value", Severity: SevNote, Headline: "equal values", Schedule: "latest", Count: 2, Seen: 1}
	r := &Report{
		Version: Version,
		Launch: Launch{
			File: "k.yaml", PTX: "k.ptx", Kernel: "k", Grid: [3]uint32{2, 3, 4}, Block: [3]uint32{128, 1, 1}, Cluster: [3]uint32{1, 1, 1},
			CTAs: 24, Threads: 3072, Arguments: "k.yaml --arg 's32: 3'",
		},
		Schedules: []string{"earliest", "latest", "random:2"}, Findings: []Finding{race, twin, hang, taken, note},
		Gaps:        []Gap{{What: "wgmma.mma_async is not modelled", Place: &Place{File: "k.ptx", Line: 130, Col: 2, Text: long}}, {What: "argument 1 holds a tensor map"}},
		Assumptions: []string{"shared memory starts somewhere"},
	}
	for i := range r.Findings {
		r.Findings[i].ID = r.Findings[i].ShortID()
	}
	r.SetReplays()
	r.Accept([]Accept{{"proxy-war", "k.cu:118", "measured, and meant", "k.yaml:12:5"}, {"proxy-war", "k.cu:11", "gone", "k.yaml:13:5"}})
	r.Conclude(Options{})
	return r
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile("testdata/"+name, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := full().WriteText(&b, TextOptions{AllIs: "--all"}); err != nil {
		t.Fatal(err)
	}
	golden(t, "full.txt", b.Bytes())
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width && !strings.Contains(line, "replay:") && !strings.Contains(line, "besides:") {
			t.Errorf("%d characters: %s", n, line)
		}
		if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
			t.Errorf("blanks at the end of %q", line)
		}
	}
}

// TestColor: colours surround the text and do not change it.
func TestColor(t *testing.T) {
	var plain, color bytes.Buffer
	full().WriteText(&plain, TextOptions{AllIs: "--all"})
	full().WriteText(&color, TextOptions{Color: true, AllIs: "--all"})
	text := color.String()
	for {
		i := strings.Index(text, "\x1b[")
		if i < 0 {
			break
		}
		j := strings.IndexByte(text[i:], 'm')
		text = text[:i] + text[i+j+1:]
	}
	if diff := cmp.Diff(plain.String(), text); diff != "" || color.Len() == plain.Len() {
		t.Error(diff)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := full().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "full.json", b.Bytes())
	var back Report
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := back.WriteJSON(&again); err != nil {
		t.Fatal(err)
	}
	golden(t, "full.json", again.Bytes())
}

// TestJSONEmpty: lists are never null.
func TestJSONEmpty(t *testing.T) {
	var b bytes.Buffer
	r := &Report{}
	r.Conclude(Options{})
	if err := r.WriteJSON(&b); err != nil || strings.Contains(b.String(), "null") {
		t.Error(err, b.String())
	}
}

func TestVerdict(t *testing.T) {
	f := func(s Severity, accepted string) Finding { return Finding{Severity: s, Accepted: accepted} }
	gap := []Gap{{What: "x"}}
	for _, c := range []struct {
		name     string
		findings []Finding
		gaps     []Gap
		failWarn bool
		want     Verdict
		exit     int
		summary  string
	}{
		{"nothing", nil, nil, false, Clean, 0, "clean in 2 schedules, 1 CTA, 1,024 threads"},
		{"a note", []Finding{f(SevNote, "")}, nil, true, Clean, 0, "clean in 2 schedules, 1 CTA, 1,024 threads, 1 note"},
		{"warnings", []Finding{f(SevWarning, ""), f(SevWarning, "")}, nil, false, Clean, 0, "clean in 2 schedules, 1 CTA, 1,024 threads, 2 warnings"},
		{"fail on warnings", []Finding{f(SevWarning, "")}, nil, true, Findings, 1, "1 finding (1 warning) in 2 schedules, 1 CTA, 1,024 threads"},
		{"an error", []Finding{f(SevError, ""), f(SevNote, "")}, nil, false, Findings, 1, "2 findings (1 error, 1 note) in 2 schedules, 1 CTA, 1,024 threads"},
		{"accepted", []Finding{f(SevError, "why")}, nil, false, Clean, 0, "clean in 2 schedules, 1 CTA, 1,024 threads, 1 finding accepted"},
		{"accepted warning", []Finding{f(SevWarning, "why")}, nil, true, Clean, 0, "clean in 2 schedules, 1 CTA, 1,024 threads, 1 finding accepted"},
		{"one of two accepted", []Finding{f(SevError, "why"), f(SevError, "")}, nil, false, Findings, 1, "1 finding (1 error) in 2 schedules, 1 CTA, 1,024 threads, 1 finding accepted"},
		{"a gap", []Finding{f(SevWarning, "")}, gap, false, Incomplete, 3, "incomplete in 2 schedules, 1 CTA, 1,024 threads: 1 gap, 1 warning"},
		{"a gap and an error", []Finding{f(SevError, "")}, gap, false, Findings, 1, "1 finding (1 error) in 2 schedules, 1 CTA, 1,024 threads; incomplete besides: 1 gap"},
	} {
		r := Report{Launch: Launch{CTAs: 1, Threads: 1024}, Schedules: []string{"earliest", "latest"}, Findings: c.findings, Gaps: c.gaps}
		r.Conclude(Options{FailOnWarning: c.failWarn})
		if r.Verdict != c.want || r.Verdict.ExitCode() != c.exit || r.Summary != c.summary {
			t.Errorf("%s: %s, %d, %q; want %s, %d, %q", c.name, r.Verdict, r.Verdict.ExitCode(), r.Summary, c.want, c.exit, c.summary)
		}
	}
	if Error.ExitCode() != 2 {
		t.Error("an error exits with", Error.ExitCode())
	}
}

func TestAccept(t *testing.T) {
	f := Finding{Kind: "proxy-war", Sites: []Site{
		{PTX: &Place{File: "build/gemm.ptx", Line: 7}, Source: []Place{{File: "/usr/include/ptx.h", Line: 20}, {File: "src/gemm.cu", Line: 118}}},
		{PTX: &Place{File: "build/gemm.ptx", Line: 9}},
	}}
	for at, want := range map[string]bool{
		"gemm.cu:118": true, "src/gemm.cu:118": true, "gemm.cu": true, "ptx.h:20": true, "gemm.ptx:9": true, "build/gemm.ptx": true,
		"gemm.cu:11": false, "gemm.cu:1180": false, "mm.cu:118": false, "other.cu:118": false, "gemm.ptx:8": false, "": false, "118": false, "/gemm.cu:118": true,
	} {
		if f.at(at) != want {
			t.Errorf("at %q: %t, want %t", at, !want, want)
		}
	}
}

func TestQuoteIsOneLine(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "in=f32[4]": "'in=f32[4]'", "proxy-raw@k.ptx:1,2": "proxy-raw@k.ptx:1,2"} {
		if got := Quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestIDs: findings that share kind and lines get columns; each ID means one.
func TestIDs(t *testing.T) {
	at := func(col int) Finding {
		f := Finding{Kind: "race-shared", Schedule: "latest", Sites: []Site{{PTX: &Place{File: "d/k.ptx", Line: 7, Col: col}}}}
		f.ID = f.ShortID()
		return f
	}
	r := Report{Launch: Launch{Arguments: "k.yaml"}, Findings: []Finding{at(2), at(20)}}
	r.SetReplays()
	if a, b := r.Findings[0].ID, r.Findings[1].ID; a != "race-shared@k.ptx:7:2" || b != "race-shared@k.ptx:7:20" || !r.Findings[0].Is(a) || r.Findings[0].Is(b) {
		t.Error(a, b)
	}
	if want := "muster replay k.yaml --schedule latest --finding race-shared@k.ptx:7:2"; r.Findings[0].Replay != want {
		t.Error(r.Findings[0].Replay)
	}
	one := Report{Launch: Launch{Arguments: "k.yaml"}, Findings: []Finding{at(2)}}
	one.SetReplays()
	if one.Rename("race-shared@k.ptx:7:2"); one.Findings[0].Replay != r.Findings[0].Replay {
		t.Error(one.Findings[0].Replay)
	}
}

// An effect follows the first error that can have led to it: one that as many schedules
// show and, for an exit, a conflict at the same instruction.
func TestFollows(t *testing.T) {
	at := func(lines ...int) (list []Site) {
		for _, n := range lines {
			list = append(list, Site{PTX: &Place{File: "k.ptx", Line: n}})
		}
		return list
	}
	hang := Finding{ID: "hang", Effect: true, Seen: 4}
	exit := Finding{ID: "exit", Effect: true, Near: true, Sites: at(9), Seen: 4}
	rare := Finding{ID: "rare", Sites: at(9), Conflict: true, Seen: 1}
	proxy := Finding{ID: "proxy", Sites: at(5, 9), Seen: 4}
	far := Finding{ID: "far", Sites: at(5, 7), Conflict: true, Seen: 4}
	same := Finding{ID: "same", Sites: at(7, 9), Conflict: true, Seen: 5}
	for _, c := range []struct {
		name   string
		errors []Finding
		effect Finding
		want   string
	}{
		{"a hang that any mistake led to", []Finding{proxy, same}, hang, "proxy"},
		{"a hang that more schedules show", []Finding{rare}, hang, ""},
		{"a hang that another one explains", []Finding{rare, far}, hang, "far"},
		{"a mistake of another sort", []Finding{proxy}, exit, ""},
		{"a conflict elsewhere", []Finding{far}, exit, ""},
		{"a conflict in fewer schedules", []Finding{rare}, exit, ""},
		{"a conflict of the operation", []Finding{proxy, far, same}, exit, "same"},
	} {
		r := Report{Findings: append(c.errors, c.effect)}
		for i := range r.Findings {
			r.Findings[i].Severity = SevError
		}
		r.follow()
		if got := r.Findings[len(r.Findings)-1].Follows; got != c.want {
			t.Errorf("%s: follows %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWidth: text for a narrow terminal breaks what can be broken, and says the same.
func TestWidth(t *testing.T) {
	r := &Report{Verdict: Findings, Summary: "1 finding", Findings: []Finding{{
		ID: "race-shared@k.ptx:7", Kind: "race-shared", Severity: SevError, Headline: "4 bytes at buf of CTA 0: lane 0 of warp 1 reads what lane 0 of warp 0 writes, and nothing orders the two",
		Sites:   []Site{{Role: "writes", Source: []Place{{File: "detail.h", Line: 7}, {File: "kernel.cu", Line: 70}}, CTA: &[3]uint32{}, PTX: &Place{File: "k.ptx", Line: 7, Col: 2, Text: "st.shared.u32 [%r1], %r2; // and much that goes on to the right of it"}}},
		Missing: "no barrier between the write at line 7 and the read at line 9", Fix: "bar.sync between them", Replay: "muster replay k.yaml --schedule latest --finding race-shared@k.ptx:7",
	}}}
	words := func(o TextOptions) ([]string, string) {
		var b strings.Builder
		if err := r.WriteText(&b, o); err != nil {
			t.Fatal(err)
		}
		return strings.Fields(b.String()), b.String()
	}
	_, usual := words(TextOptions{})
	if _, wide := words(TextOptions{Width: 300}); wide != usual {
		t.Errorf("300 columns:\n%s", wide)
	}
	for _, width := range []int{1, 30, 40, 60, 80} {
		_, text := words(TextOptions{Width: width})
		for _, l := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(l); n > max(width, 30) && len(strings.Fields(l)) > 2 && !strings.Contains(l, "replay:") {
				t.Errorf("%d columns: %d characters: %s", width, n, l)
			}
		}
		// The quoted line alone is cut.
		if flat := strings.Join(strings.Fields(text), " "); !strings.Contains(flat, "writes at kernel.cu:70, inlined from detail.h:7 CTA (0,0,0)") || !strings.Contains(flat, r.Findings[0].Headline) || !strings.Contains(text, r.Findings[0].Replay+"\n") {
			t.Errorf("%d columns:\n%s", width, text)
		}
	}
}
