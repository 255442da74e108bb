package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"muster"
	"muster/report"
)

// here works calls in this process.
func here(ctx context.Context, _ string, c Call, tell func(string)) (*Answer, error) {
	return Do(ctx, c, func(topic string) (string, error) {
		if topic == "no such" {
			return "", errors.New("no finding is called so")
		}
		return "about " + topic + "\n", nil
	}, tell)
}

// connect connects the SDK's client to a server in memory.
func connect(t *testing.T, o Options) *mcp.ClientSession {
	t.Helper()
	if o.Run == nil {
		o.Run = here
	}
	mine, theirs := mcp.NewInMemoryTransports()
	server, err := New(o).Connect(t.Context(), theirs)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), mine, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Wait()
	})
	return client
}

// ask calls a tool, and returns its text and data.
func ask(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any) (text string, data []byte, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	a, err := answerOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return a.Text, a.Data, a.Failed
}

const ring = "../../examples/ring/"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTools lists the tools: their schemas are valid, and each argument says what it is.
func TestTools(t *testing.T) {
	list, err := connect(t, Options{}).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		for what, form := range map[string]any{"input": tool.InputSchema, "output": tool.OutputSchema} {
			if form == nil {
				continue
			}
			var s jsonschema.Schema
			text, _ := json.Marshal(form)
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Resolve(nil); err != nil {
				t.Errorf("%s: the schema of its %s: %v", tool.Name, what, err)
			}
			for field, p := range s.Properties {
				if what == "input" && p.Type == "" {
					t.Errorf("%s: %s has not one type", tool.Name, field)
				}
				if p.Description == "" {
					t.Errorf("%s: nothing says what %s is", tool.Name, field)
				}
			}
		}
		if tool.Description == "" || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s: no description, or it is not said that it only reads", tool.Name)
		}
	}
	if want := []string{"barrier", "check", "cost", "explain", "init", "mutate", "reduce", "replay", "run"}; !slices.Equal(names, want) {
		t.Errorf("tools %v, want %v", names, want)
	}
}

// TestText: one who has only text gets the same as by files: a launch with PTX, a launch file
// for PTX in its place, fields alone.
func TestText(t *testing.T) {
	c := connect(t, Options{})
	ptx, yaml := read(t, ring+"broken_parity.ptx"), read(t, ring+"broken_parity.yaml")
	nameless := strings.Replace(strings.Replace(yaml, "ptx: broken_parity.ptx\n", "", 1), "out.npy", ring+"out.npy", 1)
	if nameless == yaml {
		t.Fatal("the launch file has another form")
	}
	want, _, _ := ask(t, c, "check", map[string]any{"launch": ring + "broken_parity.yaml"})
	want = firstLine(want)
	if !strings.HasPrefix(want, "findings: ") {
		t.Fatalf("%s", want)
	}
	for _, args := range []map[string]any{
		{"launch_text": nameless, "ptx_text": ptx},
		{"launch_text": nameless, "ptx": ring + "broken_parity.ptx"},
		{"launch": ring + "ring.yaml", "ptx_text": ptx, "kernel": "ring"},
		{"ptx_text": ptx, "grid": "1", "block": "160", "buffers": []string{"in=f32[16384]:iota", "out=f32[128]:nan"}, "args": []string{"in", "out", "s32:64"}},
	} {
		text, _, failed := ask(t, c, "check", args)
		if failed || firstLine(text) != want {
			t.Errorf("%.60v: %s", args, firstLine(text))
		}
		if args["ptx_text"] != nil && !strings.Contains(text, "@kernel.ptx:") {
			t.Errorf("%.60v: findings have no lines of kernel.ptx", args)
		}
	}
}

// TestMend is an agent's way: a finding, its story, the launch made smaller, and the right
// kernel in its place, which is clean and leaves the right results.
func TestMend(t *testing.T) {
	c := connect(t, Options{})
	launch := map[string]any{"launch": ring + "broken_parity.yaml"}
	with := func(more map[string]any) map[string]any {
		args := map[string]any{}
		for _, m := range []map[string]any{launch, more} {
			for k, v := range m {
				args[k] = v
			}
		}
		return args
	}
	_, data, _ := ask(t, c, "check", launch)
	var r struct {
		Verdict  string
		Findings []struct{ ID, Kind, Schedule string }
	}
	if err := json.Unmarshal(data, &r); err != nil || r.Verdict != "findings" || len(r.Findings) == 0 {
		t.Fatalf("%v: %s", err, data)
	}
	f := r.Findings[0]
	one, _, _ := ask(t, c, "check", with(map[string]any{"finding": f.ID}))
	if !strings.Contains(one, "missing:") || !strings.Contains(one, "fix:") || strings.Count(one, "replay:") != 1 {
		t.Errorf("one finding: %s", one)
	}
	for _, more := range []map[string]any{{"finding": f.ID, "schedule": f.Schedule}, {"finding": f.ID}, {"finding": f.Kind}} {
		if story, _, failed := ask(t, c, "replay", with(more)); failed || !strings.Contains(story, "story of "+f.ID) {
			t.Errorf("replay %v: %s", more, story)
		}
	}
	_, data, _ = ask(t, c, "reduce", with(map[string]any{"finding": "never-completes", "runs": 20}))
	var small smaller
	if err := json.Unmarshal(data, &small); err != nil || small.Launch == "" || small.Schedule == "" {
		t.Fatalf("%v: %s", err, data)
	}
	again, _, failed := ask(t, c, "replay", map[string]any{"launch_text": small.Launch, "finding": small.Finding, "schedule": small.Schedule})
	if failed || !strings.Contains(again, "is there again") || !strings.Contains(again, "reproduced in") {
		t.Errorf("the smaller launch: %s", again)
	}
	mended := with(map[string]any{"ptx_text": read(t, ring+"ring.ptx")})
	if text, _, _ := ask(t, c, "check", mended); !strings.HasPrefix(text, "clean: all schedules") {
		t.Errorf("the right kernel: %s", text)
	}
	text, data, _ := ask(t, c, "run", mended)
	if !strings.HasPrefix(text, "as expected in this one schedule; check says whether in all") || !strings.Contains(string(data), `"sha256"`) {
		t.Errorf("the right kernel ran: %s\n%s", text, data)
	}
}

// TestOther calls the tools that need no finding.
func TestOther(t *testing.T) {
	c := connect(t, Options{})
	launch := ring + "ring.yaml"
	for _, x := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"cost", map[string]any{"launch": launch}, "clean: all schedules"},
		{"mutate", map[string]any{"launch": launch, "list": true}, "mutants\n"},
		{"mutate", map[string]any{"launch": launch, "kinds": []string{"wait-pass"}, "runs": 2}, "found: "},
		{"barrier", map[string]any{"script": "init full 1\nproducer: arrive full\nproducer: arrive full\nproducer: arrive full\n"}, "phase 1 (parity 1)"},
		{"barrier", map[string]any{"script": "init full 1\nconsumer: wait full parity 0\n"}, "findings: never-completes"},
		{"init", map[string]any{"ptx": ring + "ring.ptx"}, "grid: ???"},
		{"init", map[string]any{"ptx_text": read(t, ring+"ring.ptx")}, "ptx: kernel.ptx"},
		{"explain", map[string]any{"topic": "proxy-raw"}, "about proxy-raw"},
		{"explain", map[string]any{"kind": "proxy-raw"}, "about proxy-raw"},
		{"check", map[string]any{"launch": launch, "finding": "proxy-war"}, "fix:"},
	} {
		if text, _, failed := ask(t, c, x.tool, x.args); failed || !strings.Contains(text, x.want) {
			t.Errorf("%s %v: no %q in: %s", x.tool, x.args, x.want, text)
		}
	}
}

// TestHang: of a run that hangs it is said that it does, where, and why there are no digests.
func TestHang(t *testing.T) {
	c := connect(t, Options{})
	text, data, failed := ask(t, c, "run", map[string]any{"launch": ring + "broken_bytes_early.yaml"})
	for _, want := range []string{"findings: the run hangs\n", "error[bytes-early] ", "no digests: ", "replay with finding \""} {
		if failed || !strings.Contains(text, want) {
			t.Errorf("no %q in: %s", want, text)
		}
	}
	if strings.Contains(text, "missing:") || !strings.Contains(string(data), `"missing"`) {
		t.Errorf("the finding is in the text, or not in the data: %s", text)
	}
}

// TestShort: where there is little room, who waits and the notes go first, and an index comes
// last of all. One finding alone says how often it was seen, and what is alike.
func TestShort(t *testing.T) {
	c := connect(t, Options{})
	launch := ring + "broken_parity.yaml"
	for _, x := range []struct {
		chars     int
		has, lack []string
	}{
		{60000, []string{"waiting at ", "ledger:", "note:", "missing:", "fix:"}, []string{"cut to"}},
		{11000, []string{"missing:", "fix:", "who waits, notes and ledgers are left out", "cut to 11000"}, []string{"waiting at ", "ledger:", "note:  ", "the index"}},
		{6000, []string{"error[race-shared] ", "missing:", "fix:", "below the index"}, []string{"waiting at ", "ledger:"}},
		{1900, []string{"error[race-shared] ", "an index alone"}, []string{"missing:"}},
	} {
		text, _, _ := ask(t, c, "check", map[string]any{"launch": launch, "chars": x.chars})
		if len(text) > x.chars {
			t.Errorf("%d characters, of %d", len(text), x.chars)
		}
		for _, want := range x.has {
			if !strings.Contains(text, want) {
				t.Errorf("%d characters: no %q in: %s", x.chars, want, text)
			}
		}
		for _, not := range x.lack {
			if strings.Contains(text, not) {
				t.Errorf("%d characters: %q is in: %s", x.chars, not, text)
			}
		}
	}
	one := map[string]any{"launch": "../../examples/gemm_fp8/broken_one_warp_waits.yaml", "finding": "exit-in-flight@broken_one_warp_waits.ptx:466"}
	text, _, _ := ask(t, c, "check", one)
	for _, want := range []string{"  seen: ", "  alike:   3 more of this cause", "  follows: it may be what divergent-barrier@"} {
		if !strings.Contains(text, want) {
			t.Errorf("one finding: no %q in: %s", want, text)
		}
	}
}

// TestSequence: of launches that come one after the other each has its verdict.
func TestSequence(t *testing.T) {
	c := connect(t, Options{})
	launch := "../../testdata/sequences/graph-edge.wrong.yaml"
	text, data, _ := ask(t, c, "check", map[string]any{"launch": launch})
	for _, want := range []string{"findings: launches 1 to 2", "error[race-launches]", "fix:", "launch 3, double\nclean: all schedules"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in: %s", want, text)
		}
	}
	var all struct{ Stages []struct{ Verdict string } }
	if err := json.Unmarshal(data, &all); err != nil || len(all.Stages) != 2 {
		t.Errorf("%v: %s", err, data)
	}
	for _, x := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"finding": "race-launches"}, "fix:"},
		{map[string]any{"only": "double"}, "clean: all schedules"},
		{map[string]any{"finding": "race-shared"}, "no finding is called race-shared"},
		{map[string]any{"only": "triple"}, "no launch is called"},
	} {
		x.args["launch"] = launch
		if text, _, _ := ask(t, c, "check", x.args); !strings.Contains(text, x.want) {
			t.Errorf("%v: no %q in: %s", x.args, x.want, text)
		}
	}
	if text, _, _ := ask(t, c, "run", map[string]any{"launch": launch}); !strings.HasPrefix(text, "launch 1, plain, never: ran to its end\nlaunch 3, double: ran to its end\n") {
		t.Errorf("run: %s", text)
	}
}

// TestShed: data of many launches keeps to its bytes, and leaves out what is clean first.
func TestShed(t *testing.T) {
	all := &report.Sequence{}
	long := strings.Repeat("x", maxData/3)
	for _, v := range []muster.Verdict{muster.Clean, muster.Findings, muster.Clean, muster.Clean} {
		all.Stages = append(all.Stages, report.Stage{Verdict: v, Report: &muster.Report{Summary: long}})
	}
	if n := shed(all); n != 2 || all.Stages[1].Report == nil || size(all) > maxData {
		t.Errorf("%d are left out, %d bytes stay", n, size(all))
	}
	many := &muster.Report{Summary: "many"}
	for i := range 200 {
		many.Findings = append(many.Findings, muster.Finding{ID: fmt.Sprint(i), Headline: long[:4000]})
	}
	r := bounded(many)
	if size(r) > maxData || len(r.Findings) == 0 || len(r.Notices) != 1 || !strings.Contains(r.Notices[0], fmt.Sprintf("%d of 200", len(r.Findings))) {
		t.Errorf("%d findings, %d bytes, %v", len(r.Findings), size(r), r.Notices)
	}
}

// TestErrors: what is wrong with a call is the answer to it, with its place.
func TestErrors(t *testing.T) {
	c := connect(t, Options{Seconds: 60})
	launch := ring + "ring.yaml"
	good := map[string]any{"grid": "1", "block": "32"}
	ptx := func(text string) map[string]any {
		return map[string]any{"ptx_text": text, "grid": good["grid"], "block": good["block"]}
	}
	for _, x := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"check", nil, "name a launch"},
		{"explain", map[string]any{"name": "proxy-raw"}, "explain takes no argument \"name\"; it takes chars, kind, seconds, topic"},
		{"explain", map[string]any{"topic": "proxy-raw", "kind": "proxy-war"}, "give one, not both"},
		{"check", map[string]any{"launch": "nowhere.yaml"}, "nowhere.yaml: no such file or directory; paths are relative to "},
		{"check", map[string]any{"launch": launch, "launch_text": "grid: 1"}, "give one, not both"},
		{"check", map[string]any{"launch": launch, "ptx": "a", "ptx_text": "b"}, "give one, not both"},
		{"check", map[string]any{"launch": launch, "seconds": 61}, "seconds is 61: from 0.001 to 60"},
		{"check", map[string]any{"launch": launch, "schedules": -1}, "schedules is -1: from 1 to 20000"},
		{"check", map[string]any{"launch": launch, "steps": 1 << 40}, "steps is"},
		{"check", map[string]any{"launch": launch, "chars": 7}, "chars is 7"},
		{"check", map[string]any{"launch": launch, "fail_on": "all"}, "fail_on"},
		{"check", map[string]any{"launch": launch, "finding": "race-shared"}, "no finding is called race-shared"},
		{"check", map[string]any{"launch": launch, "lunch": "x"}, "check takes no argument \"lunch\" (launch?); it takes accept, args, "},
		{"check", map[string]any{"launch": 7}, "launch"},
		{"check", ptx("hello"), "kernel.ptx:1:1: a module begins with .version"},
		{"check", ptx(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %r;\n\tadd.u32 %r, %q, 1;\n}\n"), "kernel.ptx:7:"},
		{"check", ptx("   "), "kernel.ptx: the file is empty"},
		{"check", map[string]any{"ptx_text": read(t, ring+"ring.ptx")}, "grid"},
		{"check", map[string]any{"launch_text": "grid: [", "ptx_text": "x"}, "launch.yaml:1:"},
		{"check", map[string]any{"launch_text": "grid: 1\nblock: 1\nnonsense: 2\n", "ptx_text": "x"}, "launch.yaml:3:1"},
		{"check", map[string]any{"launch_text": "7"}, "launch.yaml:1:1"},
		{"check", map[string]any{"ptx": "k.cu", "grid": "1", "block": "1"}, "nvcc -ptx"},
		{"check", map[string]any{"ptx": "k.ptx", "grid": "1", "block": "1", "buffers": []string{"in=f32[4"}}, "buffers in="},
		{"run", map[string]any{"launch": launch, "schedule": "sideways"}, "sideways"},
		{"replay", map[string]any{"launch": launch}, "finding"},
		{"replay", map[string]any{"launch": launch, "finding": "race-shared"}, "no finding is called race-shared"},
		{"replay", map[string]any{"launch": launch, "finding": "x", "schedule": "@0123"}, "schedule @0123 is not known"},
		{"reduce", map[string]any{"launch": launch, "finding": "race-shared", "runs": 1 << 30}, "runs is"},
		{"mutate", map[string]any{"launch": launch, "kinds": []string{"sideways"}}, "sideways"},
		{"barrier", map[string]any{"script": "init full 1\nfull 1 init\n"}, "script:2:"},
		{"barrier", map[string]any{"script": "# init full 1\n"}, "no operation"},
		{"barrier", map[string]any{"script": strings.Repeat("# \n", maxScript)}, "at most"},
		{"init", map[string]any{}, "give ptx"},
		{"init", map[string]any{"ptx_text": ".version 8.0\n.target sm_90\n.address_size 64\n"}, "the PTX has no kernel"},
		{"explain", map[string]any{"topic": "no such"}, "no finding is called so"},
	} {
		text, _, failed := ask(t, c, x.tool, x.args)
		if !failed || !strings.Contains(text, x.want) {
			t.Errorf("%s %.80v: failed %v, and no %q in: %s", x.tool, fmt.Sprint(x.args), failed, x.want, text)
		}
	}
}

// TestBounds: a text keeps to its characters and says that it is cut; data keeps to its bytes.
func TestBounds(t *testing.T) {
	c := connect(t, Options{})
	for _, chars := range []int{1000, 2000, 5000, 60000} {
		text, data, _ := ask(t, c, "check", map[string]any{"launch": ring + "broken_parity.yaml", "chars": chars})
		if len(text) > chars || !strings.HasPrefix(text, "findings: ") {
			t.Errorf("%d characters of %d: %s", len(text), chars, firstLine(text))
		}
		if cut := strings.Contains(text, "\ncut to "); cut != (chars < 60000) {
			t.Errorf("of %d characters: cut %v", chars, cut)
		}
		if len(data) == 0 {
			t.Error("no data")
		}
	}
	for _, n := range []int{50, 5000} {
		if text := cut(strings.Repeat("wörter\n", n), 1000); len(text) > 1000 {
			t.Errorf("cut to %d bytes", len(text))
		}
	}
}

// printing is a kernel whose lanes print a text.
func printing(text string) string {
	var bytes []string
	for _, b := range []byte(text + "\x00") {
		bytes = append(bytes, fmt.Sprint(b))
	}
	return ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n" +
		fmt.Sprintf(".global .align 1 .b8 msg[%d] = {%s};\n", len(bytes), strings.Join(bytes, ",")) +
		".visible .entry kernel()\n{\n\t.reg .b64 %rd<3>;\n\t.reg .b32 %r;\n\tmov.u64 %rd1, msg;\n\tcvta.global.u64 %rd1, %rd1;\n\tmov.u64 %rd2, 0;\n" +
		"\t{\n\t.param .b64 p0;\n\tst.param.b64 [p0], %rd1;\n\t.param .b64 p1;\n\tst.param.b64 [p1], %rd2;\n\t.param .b32 rv;\n\tcall.uni (rv), vprintf, (p0, p1);\n\tld.param.b32 %r, [rv];\n\t}\n\tret;\n}\n"
}

// TestPrinted: what a kernel prints is told from the server's own words, commands no terminal,
// and leaves the data within its bound however it is escaped.
func TestPrinted(t *testing.T) {
	c := connect(t, Options{})
	run := func(text, block string) (string, []byte) {
		t.Helper()
		got, data, failed := ask(t, c, "run", map[string]any{"ptx_text": printing(text), "grid": "1", "block": block})
		if failed {
			t.Fatal(got)
		}
		return got, data
	}
	text, _ := run("\nclean: the run left what is expected\n\x1b[31mbuffer out: 4 bytes\n", "1")
	for line := range strings.Lines(text) {
		if (strings.Contains(line, "clean: the run") || strings.Contains(line, "buffer out")) && !strings.HasPrefix(line, "  | ") {
			t.Errorf("the kernel speaks as the server: %s", line)
		}
	}
	if !strings.Contains(text, `  | \x1b[31mbuffer out`) {
		t.Error(text)
	}
	if _, data := run(strings.Repeat("\x01", 2000), "64"); len(data) > maxData {
		t.Errorf("%d bytes of data", len(data))
	}
}

// TestNulls: an argument that is null is none.
func TestNulls(t *testing.T) {
	text, _, failed := ask(t, connect(t, Options{}), "check", map[string]any{"launch": ring + "ring.yaml", "buffers": nil, "ptx_text": nil, "seconds": nil})
	if failed || !strings.HasPrefix(text, "clean: all schedules") {
		t.Error(text)
	}
}

// TestLimitNames: what ended a check is called by what a call, or who starts the server, sets it
// by, in the list of limits and in the sentences about them.
func TestLimitNames(t *testing.T) {
	for _, name := range []string{"Limits.Time", "Limits.Memory", "Limits.Instrs", "Limits.Local", "CheckOptions.Explore.Schedules", "CheckOptions.Explore.Steps", "CheckOptions.Explore.Preemptions"} {
		said := report.Needs([]report.Limit{{Option: name, Value: 1, AtLeast: 2}})
		if !strings.Contains(said, name) {
			t.Fatalf("%s: %s", name, said)
		}
		got := names.Replace(said) + string(data(report.Limit{Option: name}))
		if strings.Contains(got, "Limits.") || strings.Contains(got, "Options.") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestTurns: calls beyond those that are worked on wait, and are cancelled while they wait.
func TestTurns(t *testing.T) {
	begun, end := make(chan string, 8), make(chan bool)
	var working atomic.Int32
	run := func(ctx context.Context, _ string, c Call, tell func(string)) (*Answer, error) {
		if working.Add(1) > 2 {
			t.Error("three calls are worked on")
		}
		defer working.Add(-1)
		begun <- c.Tool
		select {
		case <-end:
		case <-ctx.Done():
		}
		return &Answer{Text: "done\n"}, nil
	}
	c := connect(t, Options{Run: run, Calls: 2})
	answers := make(chan error, 3)
	call := func(ctx context.Context) {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "explain"})
		answers <- err
	}
	go call(t.Context())
	<-begun
	go call(t.Context())
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	go call(ctx)
	cancel()
	if err := <-answers; !errors.Is(err, context.Canceled) {
		t.Errorf("the call that waited: %v", err)
	}
	end <- true
	end <- true
	for range 2 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

// TestSchedules: long schedules have names, and the oldest are forgotten.
func TestSchedules(t *testing.T) {
	var w work
	long := strings.Repeat("r0.0.0,", 100) + "/latest"
	name := w.brief(long)
	if name[0] != '@' || w.brief("latest") != "latest" {
		t.Fatal(name)
	}
	var s schedules
	s.keep(w.schedules)
	if got, ok := s.named(name); !ok || got != long {
		t.Errorf("%q", got)
	}
	for i := range 5 {
		s.keep(map[string]string{fmt.Sprint(i): strings.Repeat("x", maxKept/4)})
	}
	if _, ok := s.named(name); ok || s.bytes > maxKept {
		t.Errorf("%d bytes are kept", s.bytes)
	}
	if _, ok := s.named("4"); !ok {
		t.Error("the newest is forgotten")
	}
}

// TestEnd: the server ends with its input, also while it works on a call.
func TestEnd(t *testing.T) {
	begun := make(chan bool)
	s := New(Options{Run: func(ctx context.Context, _ string, _ Call, _ func(string)) (*Answer, error) {
		close(begun)
		<-ctx.Done()
		return &Answer{Text: "cancelled\n"}, nil
	}})
	in, to := io.Pipe()
	ended := make(chan error)
	go func() { ended <- s.Serve(t.Context(), in, io.Discard) }()
	fmt.Fprintln(to, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	fmt.Fprintln(to, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(to, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"explain","arguments":{}}}`)
	<-begun
	to.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
