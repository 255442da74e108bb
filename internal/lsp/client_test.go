package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A client drives a server over pipes.
type client struct {
	t    testing.TB
	wire *wire
	in   io.WriteCloser
	got  chan message
	end  chan struct{}
	last int
	held []message // notifications that came before they were waited for

	proper bool
	err    error
}

// start begins a server, without a session.
func start(t testing.TB, o Options) *client {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	c := &client{t: t, in: fromClient, got: make(chan message, 1000), end: make(chan struct{})}
	c.wire = &wire{in: bufio.NewReader(toClient), out: fromClient}
	go func() {
		c.proper, c.err = Serve(context.Background(), toServer, fromServer, o)
		toServer.Close()
		fromServer.Close()
		close(c.end)
	}()
	go func() {
		defer close(c.got)
		for {
			body, err := c.wire.read()
			if err != nil {
				return
			}
			var m message
			if err := json.Unmarshal(body, &m); err != nil {
				panic(err)
			}
			c.got <- m
		}
	}()
	t.Cleanup(func() { fromClient.Close(); <-c.end })
	return c
}

// open begins a server and a session in which checks begin at once.
func open(t testing.TB, options string) *client {
	c := start(t, Options{})
	if options == "" {
		options = `"delay": 0`
	}
	c.request("initialize", fmt.Sprintf(`{"capabilities": {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}}}, "initializationOptions": {%s}}`, options))
	c.notify("initialized", `{}`)
	return c
}

// send writes a body in a frame.
func (c *client) send(body string) {
	fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (c *client) notify(method, params string) {
	c.send(fmt.Sprintf(`{"jsonrpc": "2.0", "method": %q, "params": %s}`, method, params))
}

// ask sends a request and returns its id.
func (c *client) ask(method, params string) string {
	c.last++
	c.send(fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": %q, "params": %s}`, c.last, method, params))
	return fmt.Sprint(c.last)
}

// next is the next message that fits, of those held back or to come.
func (c *client) next(what string, fits func(*message) bool) message {
	c.t.Helper()
	for i := range c.held {
		if fits(&c.held[i]) {
			m := c.held[i]
			c.held = slices.Delete(c.held, i, i+1)
			return m
		}
	}
	for m := range c.got {
		if fits(&m) {
			return m
		}
		c.held = append(c.held, m)
	}
	c.t.Fatalf("the server ended before %s: %v", what, c.err)
	return message{}
}

// answer is the answer of a request.
func (c *client) answer(id string) message {
	c.t.Helper()
	return c.next("the answer of "+id, func(m *message) bool { return m.Method == "" && string(m.ID) == id })
}

// request asks and returns the result.
func (c *client) request(method, params string) json.RawMessage {
	c.t.Helper()
	m := c.answer(c.ask(method, params))
	if m.Error != nil {
		c.t.Fatalf("%s: %v", method, m.Error)
	}
	return m.Result
}

// diagnostics are the next ones for a document that are as wanted.
func (c *client) diagnostics(path string, want func([]Diagnostic) bool) []Diagnostic {
	c.t.Helper()
	var p publishParams
	c.next("diagnostics of "+path, func(m *message) bool {
		if m.Method != "textDocument/publishDiagnostics" {
			return false
		}
		p = publishParams{}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Fatal(err)
		}
		return p.URI == uriOf(path) && want(p.Diagnostics)
	})
	return p.Diagnostics
}

// opens opens a document with a text.
func (c *client) opens(path, src string) {
	c.notify("textDocument/didOpen", string(raw(map[string]any{"textDocument": map[string]any{"uri": uriOf(path), "languageId": "x", "version": 1, "text": src}})))
}

// changes replaces the text of a document.
func (c *client) changes(path string, version int, changes ...change) {
	c.notify("textDocument/didChange", string(raw(map[string]any{"textDocument": map[string]any{"uri": uriOf(path), "version": version}, "contentChanges": changes})))
}

// at are parameters for a place: that of the first marks of a text, from 0 on.
func at(path, src, mark string) string {
	i := strings.Index(src, mark)
	if i < 0 {
		panic("no " + mark)
	}
	v := 0
	p := newText(uriOf(path), src, &v, false).position(i)
	return fmt.Sprintf(`{"textDocument": {"uri": %q}, "position": {"line": %d, "character": %d}, "context": {"includeDeclaration": true}}`, uriOf(path), p.Line, p.Character)
}

// folder copies files of the examples into a folder of the test's own, and returns their
// paths.
func folder(t *testing.T, names ...string) []string {
	dir := t.TempDir()
	var list []string
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("../../examples", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		list = append(list, path)
	}
	return list
}

func read(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func some(list []Diagnostic) bool { return len(list) > 0 }

func code(want string) func([]Diagnostic) bool {
	return func(list []Diagnostic) bool {
		return slices.ContainsFunc(list, func(d Diagnostic) bool { return d.Code == want })
	}
}
