package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
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

// TestFollows: a finding follows from an error only for a reason: a barrier, a collective or an
// early operation that both have. Of two that could have led to each other, the one nearer to the
// mistake is the root; what more schedules show is not led to, unless the error holds of all.
func TestFollows(t *testing.T) {
	at := func(lines ...int) (list []Site) {
		for _, n := range lines {
			list = append(list, Site{PTX: &Place{File: "k.ptx", Line: n}})
		}
		return list
	}
	of := func(id string, seen int, t Ties) Finding {
		return Finding{ID: id, Kind: strings.TrimRight(id, "12"), Severity: SevError, Seen: seen, Ties: t}
	}
	full, empty, both := []int32{10, 12}, []int32{20}, []int32{10, 12, 20}
	excess := of("excess", 2, Ties{Class: 1, Always: true, Breaks: empty, Needs: both})
	late := of("late", 1, Ties{Class: 1, Breaks: full, Needs: full})
	slot := of("slot", 4, Ties{Class: access, Needs: empty, Early: []int32{12}, Reader: true})
	again := of("again", 4, Ties{Class: access, Needs: full, Early: []int32{12}, Again: true})
	read := of("read", 1, Ties{Class: access, Needs: full})
	mixing := of("mixing", 1, Ties{Class: timing, Breaks: full, Needs: both, Early: []int32{10, 12}})
	hang := of("hang", 4, Ties{Class: outcome, Needs: empty})
	hang.Waiting = []Waiter{{Site: at(9)[0]}}
	polled := of("polled", 4, Ties{Class: access})
	polled.Sites = at(7, 9)
	exit := of("exit", 1, Ties{Class: outcome, Needs: full})
	exit.Severity = SevWarning
	note := of("note", 1, Ties{Needs: full})
	note.Severity = SevNote
	accepted := late
	accepted.Accepted = "known"
	for _, c := range []struct {
		name     string
		findings []Finding
		want     string // in the order in which they are shown
	}{
		{"nothing in common", []Finding{late, slot}, "late slot"},
		{"its barrier", []Finding{read, late}, "late read<late"},
		{"a warning, but no note", []Finding{late, exit, note}, "late exit<late note"},
		{"an accepted error", []Finding{accepted, read}, "late read"},
		{"seen more often", []Finding{late, again}, "late again"},
		{"seen more often, and wrong in every schedule", []Finding{excess, hang}, "excess hang<excess"},
		{"a race where it waits", []Finding{hang, polled}, "polled hang<polled"},
		{"the operation that is early", []Finding{mixing, again, slot}, "slot mixing<slot again<slot"},
		{"by another", []Finding{read, mixing, slot}, "slot read<slot mixing<slot"},
		{"each of the other", []Finding{mixing, excess}, "excess mixing<excess"},
		{"two of a kind at a ring", []Finding{of("excess1", 2, excess.Ties), of("excess2", 3, excess.Ties)}, "excess1 excess2"},
	} {
		r := Report{Findings: slices.Clone(c.findings)}
		r.follow()
		var got []string
		for _, f := range r.Findings {
			id := f.ID
			if f.Follows != "" {
				id += "<" + f.Follows
			}
			got = append(got, id)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
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
