// Package client drives 'muster lsp' by a public client of the Language Server Protocol,
// go.lsp.dev/protocol. It is a module of its own, so that muster does not have that module's
// dependencies.
package client

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"
)

// An editor is a client's side of a session.
type editor struct {
	protocol.Client // what the server asks besides fails
	published       chan *protocol.PublishDiagnosticsParams
	held            []*protocol.PublishDiagnosticsParams // that came before they were waited for
	progress        chan string
}

func (e *editor) PublishDiagnostics(_ context.Context, p *protocol.PublishDiagnosticsParams) error {
	e.published <- p
	return nil
}

func (e *editor) LogMessage(context.Context, *protocol.LogMessageParams) error { return nil }

func (e *editor) RegisterCapability(context.Context, *protocol.RegistrationParams) error { return nil }

func (e *editor) WorkDoneProgressCreate(context.Context, *protocol.WorkDoneProgressCreateParams) error {
	return nil
}

func (e *editor) Progress(_ context.Context, p *protocol.ProgressParams) error {
	if value, ok := p.Value.(map[string]any); ok {
		kind, _ := value["kind"].(string)
		e.progress <- kind
	}
	return nil
}

// pipes are a process's output and input as one connection.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(data []byte) (int, error) { return p.in.Write(data) }
func (p pipes) Close() error                   { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }

// build makes the command, and a folder with an example.
func build(t *testing.T) (command, dir string) {
	dir = t.TempDir()
	command = filepath.Join(dir, "muster")
	cmd := exec.Command("go", "build", "-o", command, "./cmd/muster")
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"broken_no_fence.ptx", "broken_no_fence.yaml", "broken_no_fence.cu", "out.npy"} {
		data, err := os.ReadFile(filepath.Join("../../../examples/bulk_store", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return command, dir
}

// diagnostics waits for those of a document that fit.
func (e *editor) diagnostics(of uri.URI, fits func([]protocol.Diagnostic) bool) []protocol.Diagnostic {
	for i, p := range e.held {
		if p.URI == of && fits(p.Diagnostics) {
			e.held = slices.Delete(e.held, i, i+1)
			return p.Diagnostics
		}
	}
	for p := range e.published {
		if p.URI == of && fits(p.Diagnostics) {
			return p.Diagnostics
		}
		e.held = append(e.held, p)
	}
	return nil
}

// TestClient edits a kernel that lacks a fence, sees the finding in PTX and in CUDA C++, asks
// what it means, jumps, breaks the text and restores it, and leaves.
func TestClient(t *testing.T) {
	command, dir := build(t)
	process := exec.Command(command, "lsp")
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	e := &editor{published: make(chan *protocol.PublishDiagnosticsParams, 100), progress: make(chan string, 1000)}
	ctx, conn, server := protocol.NewClient(context.Background(), e, jsonrpc2.NewStream(pipes{out, in}), zap.NewNop())
	defer conn.Close()

	init, err := server.Initialize(ctx, &protocol.InitializeParams{
		Capabilities: protocol.ClientCapabilities{
			Window:       &protocol.WindowClientCapabilities{WorkDoneProgress: true},
			TextDocument: &protocol.TextDocumentClientCapabilities{DocumentSymbol: &protocol.DocumentSymbolClientCapabilities{HierarchicalDocumentSymbolSupport: true}},
		},
		InitializationOptions: map[string]any{"delay": 0},
	})
	if err != nil {
		t.Fatal(err)
	}
	if init.ServerInfo == nil || init.ServerInfo.Name != "muster" {
		t.Errorf("%+v", init.ServerInfo)
	}
	if err := server.Initialized(ctx, &protocol.InitializedParams{}); err != nil {
		t.Fatal(err)
	}

	ptx, cu := uri.File(filepath.Join(dir, "broken_no_fence.ptx")), uri.File(filepath.Join(dir, "broken_no_fence.cu"))
	data, err := os.ReadFile(ptx.Filename())
	if err != nil {
		t.Fatal(err)
	}
	src := string(data)
	if err := server.DidOpen(ctx, &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{URI: ptx, LanguageID: "ptx", Version: 1, Text: src}}); err != nil {
		t.Fatal(err)
	}
	raw := func(list []protocol.Diagnostic) bool {
		return slices.ContainsFunc(list, func(d protocol.Diagnostic) bool { return d.Code == "proxy-raw" })
	}
	found := e.diagnostics(ptx, raw)
	if d := found[0]; d.Range.Start.Line != 98 || d.Severity != protocol.DiagnosticSeverityError || len(d.RelatedInformation) != 1 {
		t.Errorf("%+v", d)
	}
	if d := e.diagnostics(cu, raw)[0]; d.Range.Start.Line != 20 {
		t.Errorf("%+v", d)
	}
	for kind := range e.progress {
		if kind == "end" {
			break
		}
	}

	at := protocol.TextDocumentPositionParams{TextDocument: protocol.TextDocumentIdentifier{URI: ptx}, Position: found[0].Range.Start}
	hover, err := server.Hover(ctx, &protocol.HoverParams{TextDocumentPositionParams: at})
	if err != nil || hover == nil || !strings.Contains(hover.Contents.Value, "cp.async.bulk") || !strings.Contains(hover.Contents.Value, "muster explain proxy-raw") {
		t.Errorf("hover: %+v, %v", hover, err)
	}
	jump, err := server.Definition(ctx, &protocol.DefinitionParams{TextDocumentPositionParams: at})
	if err != nil || len(jump) == 0 {
		t.Errorf("definition: %v, %v", jump, err)
	}
	for _, l := range jump {
		line := strings.Split(src, "\n")[l.Range.Start.Line]
		if !strings.Contains(line, "cp.async.bulk.wait_group") {
			t.Errorf("the bulk copy's definition is %q", line)
		}
	}
	symbols, err := server.DocumentSymbol(ctx, &protocol.DocumentSymbolParams{TextDocument: at.TextDocument})
	if err != nil || len(symbols) == 0 {
		t.Errorf("symbols: %v, %v", symbols, err)
	}

	// A line that is no PTX is an error at its place, and the finding is gone until it goes.
	line := found[0].Range.Start.Line
	change := func(version int32, from, to uint32, text string) {
		t.Helper()
		e.held = nil
		if err := server.DidChange(ctx, &protocol.DidChangeTextDocumentParams{
			TextDocument: protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: at.TextDocument, Version: version},
			ContentChanges: []protocol.TextDocumentContentChangeEvent{{
				Range: protocol.Range{Start: protocol.Position{Line: from}, End: protocol.Position{Line: to}}, Text: text,
			}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	change(2, line, line, "\tnot ] PTX;\n")
	e.diagnostics(ptx, func(list []protocol.Diagnostic) bool {
		return len(list) == 1 && list[0].Code == "syntax" && list[0].Range.Start.Line == line
	})
	change(3, line, line+1, "")
	if d := e.diagnostics(ptx, raw)[0]; d.Range.Start.Line != line {
		t.Errorf("%+v", d)
	}

	if err := server.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if err := server.Exit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := process.Wait(); err != nil {
		t.Errorf("after shutdown and exit: %v", err)
	}
}
