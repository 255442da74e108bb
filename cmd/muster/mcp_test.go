package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// spin runs until a limit ends it.
const spin = `.version 8.0
.target sm_90
.address_size 64
.visible .entry spin(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
LOOP:
	atom.global.add.u32 %r1, [%rd1], 1;
	bra LOOP;
}
`

// spinning are the arguments of a check of it.
func spinning(seconds int) map[string]any {
	return map[string]any{"ptx_text": spin, "grid": "2", "block": "32", "buffers": []string{"out=u32[1]:zeros"}, "args": []string{"out"}, "seconds": seconds}
}

// TestMCP drives the command by the SDK's client.
func TestMCP(t *testing.T) {
	told := make(chan string, 1000)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params.Message },
	})
	command := exec.Command("muster", "mcp", "--dir", "../../examples/ring", "--limit-time", "1m")
	c, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call := func(tool string, args map[string]any) *mcp.CallToolResult {
		t.Helper()
		p := &mcp.CallToolParams{Name: tool, Arguments: args}
		p.SetProgressToken(tool)
		r, err := c.CallTool(t.Context(), p)
		if err != nil {
			t.Fatalf("%s %v: %v", tool, args, err)
		}
		return r
	}
	text := func(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }

	if got := c.InitializeResult().ProtocolVersion; got != "2026-07-28" {
		t.Errorf("the SDK's client speaks revision %s with the server", got)
	}
	schema := reportSchema(t)
	for launch, want := range map[string]string{"ring.yaml": "clean: all schedules", "broken_parity.yaml": "findings: "} {
		r := call("check", map[string]any{"launch": launch})
		if r.IsError || !strings.HasPrefix(text(r), want) {
			t.Errorf("%s: %s", launch, text(r))
		}
		if err := schema.Validate(r.StructuredContent); err != nil {
			t.Errorf("%s: the data is not as docs/report.schema.json has it: %v", launch, err)
		}
	}
	if len(told) == 0 {
		t.Error("no progress was told")
	}
	if r := call("explain", map[string]any{"topic": "proxy-raw"}); !strings.HasPrefix(text(r), "proxy-raw (error): ") || !strings.Contains(text(r), "Right:") {
		t.Errorf("explain: %s", text(r))
	}
	for topic, want := range map[string]string{"proxy-rwa": "did you mean", "--help": "no finding is called"} {
		if r := call("explain", map[string]any{"topic": topic}); !r.IsError || !strings.Contains(text(r), want) {
			t.Errorf("explain %s: %s", topic, text(r))
		}
	}
	if r := call("run", map[string]any{"launch": "ring.yaml", "schedule": "random:3"}); !strings.HasPrefix(text(r), "as expected in this one schedule; check says whether in all") {
		t.Errorf("run: %s", text(r))
	}
	if r := call("check", spinning(1)); r.IsError || !strings.HasPrefix(text(r), "incomplete") || !strings.Contains(text(r), "time limit of 1s ran out (seconds)") {
		t.Errorf("a limit: %s", text(r))
	}
	if r := call("check", map[string]any{"ptx_text": strings.Repeat("garbage ", 1<<18), "grid": "1", "block": "1"}); !r.IsError || len(text(r)) > 1000 {
		t.Errorf("2 MiB of garbage: %.200s", text(r))
	}
}

func reportSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	data, err := os.ReadFile("../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A lines is a client that writes and reads lines.
type lines struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func serve(t *testing.T, args ...string) *lines {
	t.Helper()
	l := &lines{t: t, cmd: exec.Command("muster", append([]string{"mcp"}, args...)...)}
	l.cmd.Stderr = os.Stderr
	var err error
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	l.out = bufio.NewReader(out)
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lines) send(line string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lines) request(id int, method string, params any) {
	l.t.Helper()
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		l.t.Fatal(err)
	}
	l.send(string(data))
}

// A reply is a line of the server.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      any             `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int
		Message string
	} `json:"error"`
}

// receive reads a line, which must be a message.
func (l *lines) receive() (r reply) {
	l.t.Helper()
	line, err := l.out.ReadBytes('\n')
	if err != nil {
		l.t.Fatal(err)
	}
	if err := json.Unmarshal(line, &r); err != nil || r.Version != "2.0" {
		l.t.Fatalf("the server wrote a line that is no message: %q", line)
	}
	return r
}

// until reads lines up to the answer to a request.
func (l *lines) until(id int) reply {
	l.t.Helper()
	for {
		if r := l.receive(); r.ID == float64(id) && r.Method == "" {
			return r
		}
	}
}

// begin initializes the session, and returns the revision that the server chose.
func (l *lines) begin(revision string) string {
	l.t.Helper()
	l.request(1, "initialize", map[string]any{"protocolVersion": revision, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "lines", "version": "1"}})
	var chosen struct{ ProtocolVersion string }
	if err := json.Unmarshal(l.until(1).Result, &chosen); err != nil {
		l.t.Fatal(err)
	}
	l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return chosen.ProtocolVersion
}

// end ends the server by the end of its input.
func (l *lines) end() {
	l.t.Helper()
	l.in.Close()
	io.Copy(io.Discard, l.out)
	if err := l.cmd.Wait(); err != nil {
		l.t.Errorf("the server ended: %v", err)
	}
}

// TestMCPRevisions: the revisions of the protocol that have a handshake are all spoken; the one
// without is spoken by the SDK's client in TestMCP.
func TestMCPRevisions(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25",
	} {
		l := serve(t)
		if got := l.begin(asked); got != want {
			t.Errorf("asked for %s: %s, want %s", asked, got, want)
		}
		l.request(2, "tools/list", map[string]any{})
		if r := l.until(2); r.Error != nil {
			t.Errorf("%s: %v", asked, r.Error)
		}
		l.end()
	}
}

// TestMCPCancel: a call that would go on for minutes ends when it is cancelled, and says what
// it did; the server, and other calls, go on.
func TestMCPCancel(t *testing.T) {
	l := serve(t)
	l.begin("2025-11-25")
	call := func(id int, args map[string]any) {
		l.request(id, "tools/call", map[string]any{"name": "check", "arguments": args, "_meta": map[string]any{"progressToken": id}})
	}
	call(2, spinning(600))
	if r := l.receive(); r.Method != "notifications/progress" {
		t.Fatalf("no progress: %+v", r)
	}
	call(3, map[string]any{"launch": "../../examples/ring/ring.yaml"})
	if r := l.until(3); !strings.Contains(string(r.Result), "clean: all schedules") {
		t.Errorf("beside it: %s", r.Result)
	}
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}`)
	r := l.until(2)
	for _, want := range []string{"incomplete in ", "the call was cancelled", `"verdict":"incomplete"`} {
		if !strings.Contains(string(r.Result), want) {
			t.Errorf("no %q in the answer of the cancelled call: %s", want, r.Result)
		}
	}
	// The end of the input ends what is worked on.
	call(4, spinning(600))
	l.receive()
	l.end()
}

// TestMCPTurns: with one call at a time the second waits, says so, and is answered.
func TestMCPTurns(t *testing.T) {
	l := serve(t, "--calls", "1")
	l.begin("2025-06-18")
	const calls = 6
	for id := 2; id < 2+calls; id++ {
		l.request(id, "tools/call", map[string]any{"name": "check", "arguments": map[string]any{"launch": "../../examples/ring/ring.yaml"}, "_meta": map[string]any{"progressToken": id}})
	}
	waited, answered := false, map[any]bool{}
	for len(answered) < calls {
		r := l.receive()
		waited = waited || strings.Contains(string(r.Params), "waiting: 1 calls are worked on")
		if r.Method == "" {
			answered[r.ID] = strings.Contains(string(r.Result), "clean: all schedules")
		}
	}
	for id, clean := range answered {
		if !clean {
			t.Errorf("call %v was not answered by a verdict", id)
		}
	}
	if !waited {
		t.Error("no call was told that it waits")
	}
	l.end()
}

// TestMCPBad sends 300 messages that are wrong: the server answers or is silent, as JSON-RPC
// has it, writes nothing but messages, and serves on.
func TestMCPBad(t *testing.T) {
	l := serve(t, "--limit-time", "2s", "--limit-memory", "256M")
	l.begin("2025-06-18")
	id := 10
	alive := func(after string) {
		t.Helper()
		id++
		l.request(id, "ping", map[string]any{})
		if r := l.until(id); r.Error != nil {
			t.Fatalf("after %.200q: %+v", after, r.Error)
		}
	}
	for _, bad := range badMessages() {
		l.send(bad)
		alive(bad)
	}
	for name, c := range map[string]struct {
		line string
		id   any
		code int
	}{
		"no JSON":      {"{nonsense", nil, -32700},
		"a batch":      {`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, nil, -32600},
		"no method":    {`{"jsonrpc":"2.0","id":901,"method":"nope"}`, 901.0, -32601},
		"no version":   {`{"id":902,"method":"ping"}`, 902.0, -32600},
		"a long line":  {`{"jsonrpc":"2.0","id":903,"method":"ping","params":{"x":"` + strings.Repeat("x", 33<<20) + `"}}`, nil, -32600},
		"no such tool": {`{"jsonrpc":"2.0","id":904,"method":"tools/call","params":{"name":"nope"}}`, 904.0, -32602},
	} {
		l.send(c.line)
		r := l.receive()
		for r.ID != c.id || r.Error == nil { // the answers to calls above may come as late as now
			r = l.receive()
		}
		if r.Error.Code != c.code {
			t.Errorf("%s: %+v, want code %d", name, r.Error, c.code)
		}
		alive(name)
	}
	l.end()
}

// badMessages are messages that are cut, spoiled, of other types, nested, and calls with
// arguments that are none.
func badMessages() []string {
	random := rand.New(rand.NewPCG(1, 2))
	good := []string{
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"check","arguments":{"launch":"x.yaml"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[],"progress":"x"}}`,
	}
	list := []string{"", "   ", "null", "7", `"x"`, "[]", "{}", "\x00", "\xff\xfe", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		strings.Repeat("[", 5000), `{"jsonrpc":"2.0","id":5,"method":"ping","params":` + strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000) + "}"}
	values := []string{"null", "7", "-1e400", `"x"`, "[]", "{}", "[[[]]]", `{"launch":7}`, `{"grid":"` + strings.Repeat("9", 400) + `"}`, `{"ptx_text":"\u0000","grid":"1","block":"1"}`,
		`{"launch_text":"&a [*a]","ptx_text":"x"}`, `{"ptx_text":".version 8.0","grid":"1x1x1x1","block":"-1"}`, `{"launch":"/dev/zero"}`, `{"launch":"."}`, `{"chars":1e99}`, `{"schedules":1.5}`,
		`{"launch":"../../examples/ring/ring.yaml","schedule":"@"}`, `{"launch":"../../examples/ring/ring.yaml","print":["memory:x[0:99999999999]"],"finding":"x"}`}
	tools := []string{"check", "run", "replay", "reduce", "mutate", "cost", "barrier", "explain", "init"}
	for i := 0; len(list) < 300; i++ {
		m := good[i%len(good)]
		switch at := random.IntN(len(m)); i % 3 {
		case 0:
			list = append(list, m[:at])
		case 1:
			b := []byte(m)
			b[at] = " \"{}[]:,x0\x01\xff"[random.IntN(12)]
			list = append(list, string(b))
		case 2:
			list = append(list, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, 1000+i, tools[i%len(tools)], values[random.IntN(len(values))]))
		}
	}
	return list
}

// TestMCPTypeScript drives the server by the TypeScript client of testdata/mcp, where node and
// that client are installed.
func TestMCPTypeScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the TypeScript client did not run: node is not installed")
	}
	dir := filepath.Join("testdata", "mcp")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Skip("the TypeScript client did not run: 'npm install' in cmd/muster/testdata/mcp installs it")
	}
	muster, err := exec.LookPath("muster")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "client.mjs", muster, examples)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || !slices.Contains(strings.Split(string(out), "\n"), "ok") {
		t.Errorf("%v\n%s", err, out)
	}
}
