package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"muster/launch"
)

// serve runs a whole session and returns what the server wrote.
func serve(in string) (out []message, proper bool, err error) {
	var b bytes.Buffer
	proper, err = Serve(context.Background(), strings.NewReader(in), &b, Options{})
	for w := (&wire{in: bufio.NewReader(&b)}); ; {
		body, e := w.read()
		if e == io.EOF {
			return out, proper, err
		}
		var m message
		if e = errors.Join(e, json.Unmarshal(body, &m)); e != nil {
			panic(fmt.Sprintf("%v: %q", e, body))
		}
		out = append(out, m)
	}
}

func frame(bodies ...string) (text string) {
	for _, b := range bodies {
		text += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(b), b)
	}
	return text
}

const (
	hello   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}`
	bye     = `{"jsonrpc":"2.0","id":99,"method":"shutdown"}`
	leaving = `{"jsonrpc":"2.0","method":"exit"}`
)

// TestLife: a session begins and ends as the protocol says.
func TestLife(t *testing.T) {
	hover := `{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///x"},"position":{"line":0,"character":0}}}`
	for _, s := range []struct {
		name   string
		in     string
		codes  []int // of the answers; 0 for a result
		proper bool
	}{
		{"whole", frame(hello, bye, leaving), []int{0, 0}, true},
		{"no shutdown", frame(hello, leaving), []int{0}, false},
		{"the input ends", frame(hello), []int{0}, false},
		{"it ends after shutdown", frame(hello, bye), []int{0, 0}, true},
		{"nothing", "", nil, false},
		{"exit alone", frame(leaving), nil, false},
		{"too early", frame(hover, hello, bye, leaving), []int{notInitialized, 0, 0}, true},
		{"too late", frame(hello, bye, hover, leaving), []int{0, 0, invalidRequest}, true},
		{"twice", frame(hello, hello, bye, leaving), []int{0, invalidRequest, 0}, true},
		{"not open", frame(hello, hover), []int{0, invalidParams}, false},
		{"unknown", frame(hello, `{"jsonrpc":"2.0","id":"a","method":"x/y"}`, `{"jsonrpc":"2.0","method":"x/y"}`, `{"jsonrpc":"2.0","method":"$/x"}`, bye, leaving), []int{0, methodNotFound, 0}, true},
		{"a response", frame(hello, `{"jsonrpc":"2.0","id":7,"result":null}`, bye, leaving), []int{0, 0}, true},
		{"no JSON", frame(hello, `{"jsonrpc"`, bye, leaving), []int{0, parseError, 0}, true},
		{"a batch", frame(hello, `[`+bye+`]`, bye, leaving), []int{0, invalidRequest, 0}, true},
		{"empty", frame(hello, ``, bye, leaving), []int{0, parseError, 0}, true},
		{"other versions", frame(hello, `{"jsonrpc":"1.0","id":1,"method":"shutdown"}`, bye, leaving), []int{0, invalidRequest, 0}, true},
		{"ids", frame(hello, `{"jsonrpc":"2.0","id":{},"method":"shutdown"}`, `{"jsonrpc":"2.0","id":true,"method":"shutdown"}`, `{"jsonrpc":"2.0"}`, bye, leaving), []int{0, invalidRequest, invalidRequest, invalidRequest, 0}, true},
	} {
		out, proper, err := serve(s.in)
		var codes []int
		for _, m := range out {
			switch {
			case m.Method != "":
			case m.Error != nil:
				codes = append(codes, m.Error.Code)
			default:
				codes = append(codes, 0)
			}
		}
		if !slices.Equal(codes, s.codes) || proper != s.proper || err != nil {
			t.Errorf("%s: answers %v, proper %v, %v; want %v, %v", s.name, codes, proper, err, s.codes, s.proper)
		}
	}
}

// TestFrames: what is no frame ends the session with one line, after an error.
func TestFrames(t *testing.T) {
	for _, in := range []string{
		"hello\r\n\r\n", "Content-Length: x\r\n\r\n{}", "Content-Length: -1\r\n\r\n{}", "Content-Length: 99999999999999999999\r\n\r\n",
		"Content-Type: x\r\n\r\n{}", "\r\n\r\n", "Content-Length: 5\r\n\r\n{}", "Content-Length: 5", "Content-Length",
		strings.Repeat("x", 3*maxHeader), "A: " + strings.Repeat("x\r\nA: ", maxHeader), "\x00\xff\xfe", "GET / HTTP/1.1\r\n\r\n",
	} {
		out, proper, err := serve(in)
		var frame *frameError
		if proper || !errors.As(err, &frame) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, %v", in, proper, err)
		}
		if len(out) != 1 || out[0].Error == nil || out[0].Error.Code != parseError || string(out[0].ID) != "null" {
			t.Errorf("%.40q: %+v", in, out)
		}
	}
	// A message too long to be read is skipped.
	long := io.MultiReader(strings.NewReader(frame(hello)+fmt.Sprintf("Content-Length: %d\r\n\r\n", maxMessage+1)),
		io.LimitReader(zeros{}, maxMessage+1), strings.NewReader(frame(bye, leaving)))
	var b bytes.Buffer
	if proper, err := Serve(context.Background(), long, &b, Options{}); !proper || err != nil || !strings.Contains(b.String(), "at most") {
		t.Errorf("%v %v %s", proper, err, b.String())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// variants are a value with one part replaced, or left out, in every way.
func variants(v any, visit func(any)) {
	for _, other := range []any{nil, true, -1, 1e300, 1 << 40, "x", []any{}, map[string]any{}, strings.Repeat("y", 5000)} {
		visit(other)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, old := range v {
			variants(old, func(other any) { v[key] = other; visit(v) })
			delete(v, key)
			visit(v)
			v[key] = old
		}
	case []any:
		for i, old := range v {
			variants(old, func(other any) { v[i] = other; visit(v) })
			v[i] = old
		}
	}
}

// TestBadMessages sends every message that the server knows with each part of it replaced by
// what does not belong there. Whatever comes, the next request is answered, and nothing is a
// BUG.
func TestBadMessages(t *testing.T) {
	const src = ".version 9.0 .target sm_90a .address_size 64\n.visible .entry k() { bar.sync 0; ret; }\n"
	place := `{"textDocument": {"uri": "file:///bad.ptx"}, "position": {"line": 1, "character": 24}, "context": {"includeDeclaration": true}}`
	params := map[string]string{
		"textDocument/didOpen":             `{"textDocument": {"uri": "file:///bad.ptx", "languageId": "ptx", "version": 1, "text": "x"}}`,
		"textDocument/didChange":           `{"textDocument": {"uri": "file:///bad.ptx", "version": 2}, "contentChanges": [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "text": "."}]}`,
		"workspace/didChangeWatchedFiles":  `{"changes": [{"uri": "file:///bad.ptx", "type": 2}]}`,
		"workspace/didChangeConfiguration": `{"settings": {"muster": {"launch": ["x"], "check": true, "delay": 0, "limitTime": "1s", "limitMemory": "1G", "formatDropsComments": true}}}`,
		"$/cancelRequest":                  `{"id": 1}`,
		"window/workDoneProgress/cancel":   `{"token": "x"}`,
		"initialize":                       `{"capabilities": {"general": {"positionEncodings": ["utf-8"]}}, "rootUri": "file:///x", "workspaceFolders": [{"uri": "file:///x"}], "initializationOptions": {"delay": 0}}`,
	}
	for method := range requests {
		params[method] = place
	}
	for method := range notifications {
		if params[method] == "" {
			params[method] = place
		}
	}
	c := open(t, `"check": false`)
	c.opens("/good.ptx", src)
	good := strings.ReplaceAll(place, "bad", "good")
	n := 0
	for method, text := range params {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		variants(v, func(bad any) {
			n++
			if _, isRequest := requests[method]; isRequest || method == "initialize" {
				c.answer(c.ask(method, string(raw(bad))))
			} else {
				c.notify(method, string(raw(bad)))
			}
		})
		if !strings.Contains(c.hover(good), "bar.sync") {
			t.Errorf("after %s nothing is known of a good document", method)
		}
	}
	if n < 300 {
		t.Errorf("%d bad messages", n)
	}
	for _, m := range c.held {
		if strings.Contains(string(m.Params), "BUG") {
			t.Errorf("%s", m.Params)
		}
	}
}

// TestCancel: a request that is cancelled before its turn is answered as such.
func TestCancel(t *testing.T) {
	s := &server{wire: &wire{out: io.Discard}, ctx: t.Context(), answers: map[string]context.CancelFunc{}, answering: make(chan struct{}, 1)}
	var b bytes.Buffer
	s.wire.out = &b
	s.answering <- struct{}{} // nobody else is answered
	s.begin(&message{ID: json.RawMessage("5")}, func(context.Context, *view, json.RawMessage) (any, error) { return "an answer", nil })
	if err := cancelRequest(s, json.RawMessage(`{"id": 5}`)); err != nil {
		t.Fatal(err)
	}
	s.replies.Wait()
	if !strings.Contains(b.String(), fmt.Sprint(requestCancelled)) {
		t.Error(b.String())
	}
}

// TestPanic: a mistake of the server's own is told and does not end the session.
func TestPanic(t *testing.T) {
	var b bytes.Buffer
	s := &server{wire: &wire{out: &b}, ctx: t.Context(), answers: map[string]context.CancelFunc{}, answering: make(chan struct{}, 1)}
	s.begin(&message{ID: json.RawMessage("5")}, func(context.Context, *view, json.RawMessage) (any, error) { panic("oh") })
	s.replies.Wait()
	if !strings.Contains(b.String(), fmt.Sprint(internalError)) || !strings.Contains(b.String(), "BUG: oh") {
		t.Error(b.String())
	}
}

// TestProgress: a client that shows progress is told of each check, and its end.
func TestProgress(t *testing.T) {
	files := folder(t, "ring/ring.ptx", "ring/ring.yaml", "ring/out.npy")
	c := start(t, Options{})
	c.request("initialize", `{"capabilities": {"window": {"workDoneProgress": true}}, "initializationOptions": {"delay": 0}}`)
	c.opens(files[0], read(t, files[0]))
	for _, kind := range []string{`"begin"`, `"end"`} {
		c.next(kind, func(m *message) bool { return m.Method == "$/progress" && strings.Contains(string(m.Params), kind) })
	}
}

// TestProgressCancel: a check that the client ends says nothing.
func TestProgressCancel(t *testing.T) {
	files := folder(t, "ring/ring.ptx", "ring/ring.yaml", "ring/out.npy")
	release := make(chan struct{})
	c := start(t, Options{Sources: func(ctx context.Context, _ *launch.File) (func(), error) {
		close(release)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if err := os.WriteFile(files[1], []byte(strings.Replace(read(t, files[1]), "ring.ptx", "ring.cu", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	c.request("initialize", `{"capabilities": {"window": {"workDoneProgress": true}}, "initializationOptions": {"delay": 0}}`)
	c.opens(files[1], read(t, files[1]))
	begin := c.next("begin", func(m *message) bool {
		return m.Method == "$/progress" && strings.Contains(string(m.Params), `"begin"`)
	})
	<-release
	var p progressParams
	if err := json.Unmarshal(begin.Params, &p); err != nil {
		t.Fatal(err)
	}
	c.notify("window/workDoneProgress/cancel", fmt.Sprintf(`{"token": %q}`, p.Token))
	c.next("end", func(m *message) bool { return m.Method == "$/progress" && strings.Contains(string(m.Params), `"end"`) })
	c.request("shutdown", "null")
	for _, m := range c.held {
		if m.Method == "window/logMessage" || strings.Contains(string(m.Params), `"code":"launch"`) {
			t.Errorf("%s", m.Params)
		}
	}
}

// TestLimit: what a check's time does not cover is said, in the words of the settings.
func TestLimit(t *testing.T) {
	files := folder(t, "gemm_rs/gemm_rs.ptx", "gemm_rs/gemm_rs.yaml", "gemm_rs/c.npy")
	c := open(t, `"delay": 0, "limitTime": "1ms"`)
	c.opens(files[0], read(t, files[0]))
	list := c.diagnostics(files[1], code("incomplete"))
	text := fmt.Sprint(list)
	if !strings.Contains(text, "muster.limitTime") || strings.Contains(text, "Limits.") {
		t.Error(text)
	}
}

// FuzzServe: no input makes the server fail.
func FuzzServe(f *testing.F) {
	f.Add(frame(hello, bye, leaving))
	f.Add(frame(hello, `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:x","languageId":"ptx","version":1,"text":".version 9.0"}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"untitled:x","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}},"text":"é"}]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"untitled:x"},"position":{"line":0,"character":3}}}`))
	f.Fuzz(func(t *testing.T, in string) {
		var b bytes.Buffer
		Serve(context.Background(), strings.NewReader(in), &b, Options{Settings: Settings{Check: new(bool)}})
		if strings.Contains(b.String(), "BUG") && !strings.Contains(in, "BUG") {
			t.Error(b.String())
		}
	})
}
