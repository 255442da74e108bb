package lsp

import (
	"context"
	"encoding/json"
	"slices"
)

// This file says which method does what, and handles those of the session and of documents.

// A handler answers a request from a view.
type handler func(ctx context.Context, v *view, params json.RawMessage) (any, error)

var requests = map[string]handler{
	"textDocument/hover":          onPlace((*view).hover),
	"textDocument/definition":     onPlace((*view).definition),
	"textDocument/declaration":    onPlace((*view).declaration),
	"textDocument/implementation": onPlace((*view).implementation),
	"textDocument/references":     references,
	"textDocument/documentSymbol": documentSymbol,
	"textDocument/formatting":     formatting,
}

var notifications = map[string]func(s *server, params json.RawMessage) error{
	"initialized":                         initialized,
	"textDocument/didOpen":                didOpen,
	"textDocument/didChange":              didChange,
	"textDocument/didClose":               didClose,
	"textDocument/didSave":                didSave,
	"workspace/didChangeWatchedFiles":     didChangeWatchedFiles,
	"workspace/didChangeConfiguration":    didChangeConfiguration,
	"workspace/didChangeWorkspaceFolders": func(*server, json.RawMessage) error { return nil },
	"$/cancelRequest":                     cancelRequest,
	"$/setTrace":                          func(*server, json.RawMessage) error { return nil },
	"window/workDoneProgress/cancel":      cancelProgress,
}

// onPlace answers a request about a place of an open document.
func onPlace[T any](f func(*view, *text, int) T) handler {
	return func(_ context.Context, v *view, params json.RawMessage) (any, error) {
		p, err := decode[positionParams](params)
		if err != nil {
			return nil, err
		}
		t, err := v.document(p.TextDocument.URI)
		if err != nil {
			return nil, err
		}
		return f(v, t, t.offset(p.Position)), nil
	}
}

// document is an open document.
func (v *view) document(uri string) (*text, error) {
	if t := v.docs[keyOf(uri)]; t != nil {
		return t, nil
	}
	return nil, errorf(invalidParams, "%.200q is not open", uri)
}

// keyOf identifies a document however its URI is escaped.
func keyOf(uri string) string {
	if path := pathOf(uri); path != "" {
		return path
	}
	return uri
}

func (s *server) initialize(params json.RawMessage) (any, error) {
	p, err := decode[initializeParams](params)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inUTF8 = slices.Contains(p.Capabilities.General.PositionEncodings, "utf-8")
	s.flat = !p.Capabilities.TextDocument.DocumentSymbol.Hierarchical
	s.progress = p.Capabilities.Window.WorkDoneProgress
	s.watches = p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	for _, f := range p.WorkspaceFolders {
		s.roots = append(s.roots, pathOf(f.URI))
	}
	if root := pathOf(p.RootURI); root != "" && len(s.roots) == 0 {
		s.roots = append(s.roots, root)
	}
	s.configure(p.InitializationOptions)
	s.state = running
	encoding := "utf-16"
	if s.inUTF8 {
		encoding = "utf-8"
	}
	return initializeResult{
		Capabilities: serverCapabilities{
			PositionEncoding: encoding, TextDocumentSync: syncOptions{OpenClose: true, Change: 2, Save: true},
			HoverProvider: true, DefinitionProvider: true, DeclarationProvider: true, ImplementationProvider: true,
			ReferencesProvider: true, DocumentSymbolProvider: true, DocumentFormattingProvider: true,
		},
		ServerInfo: serverInfo{"muster", s.o.Version},
	}, nil
}

// initialized asks the client to watch the files that checks read.
func initialized(s *server, _ json.RawMessage) error {
	s.mu.Lock()
	watches := s.watches
	s.mu.Unlock()
	if !watches {
		return nil
	}
	var watchers []map[string]string
	for _, glob := range []string{"**/*.ptx", "**/*.yaml", "**/*.yml"} {
		watchers = append(watchers, map[string]string{"globPattern": glob})
	}
	s.call("client/registerCapability", map[string]any{"registrations": []any{map[string]any{
		"id": "muster-files", "method": "workspace/didChangeWatchedFiles", "registerOptions": map[string]any{"watchers": watchers},
	}}})
	return nil
}

func didOpen(s *server, params json.RawMessage) error {
	p, err := decode[openParams](params)
	if err != nil {
		return err
	}
	d := &p.TextDocument
	s.mu.Lock()
	size := len(d.Text)
	for _, t := range s.docs {
		size += len(t.src)
	}
	utf8 := s.inUTF8
	s.mu.Unlock()
	if size > mostText {
		return errorf(requestFailed, "%s: with it more than %d bytes are open", d.URI, mostText)
	}
	t := newText(d.URI, d.Text, &d.Version, utf8)
	t.ptx = t.ptx || d.LanguageID == "ptx"
	s.changed(keyOf(d.URI), t)
	return nil
}

func didChange(s *server, params json.RawMessage) error {
	p, err := decode[changeParams](params)
	if err != nil {
		return err
	}
	t, err := s.now().document(p.TextDocument.URI)
	if err != nil {
		return err
	}
	s.changed(keyOf(p.TextDocument.URI), t.apply(p.ContentChanges, p.TextDocument.Version))
	return nil
}

func didClose(s *server, params json.RawMessage) error {
	p, err := decode[documentParams](params)
	if err != nil {
		return err
	}
	if _, err := s.now().document(p.TextDocument.URI); err != nil {
		return err
	}
	s.closed(keyOf(p.TextDocument.URI))
	return nil
}

func didSave(s *server, params json.RawMessage) error {
	p, err := decode[documentParams](params)
	if err != nil {
		return err
	}
	s.saved(pathOf(p.TextDocument.URI))
	return nil
}

func didChangeWatchedFiles(s *server, params json.RawMessage) error {
	p, err := decode[watchedParams](params)
	if err != nil {
		return err
	}
	var paths []string
	for _, c := range p.Changes {
		paths = append(paths, pathOf(c.URI))
	}
	s.touched(paths)
	return nil
}

func didChangeConfiguration(s *server, params json.RawMessage) error {
	p, err := decode[configurationParams](params)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.configure(p.Settings.Muster)
	docs := s.docs
	var stale []string
	for _, t := range s.launches { // they are checked anew, within other limits or not at all
		if t.result != nil {
			stale = append(stale, pathsOf(t.result)...)
			t.result = nil
		}
		s.schedule(t)
	}
	s.mu.Unlock()
	s.publish(stale)
	for key, t := range docs {
		s.look(key, t)
	}
	return nil
}

func cancelRequest(s *server, params json.RawMessage) error {
	p, err := decode[cancelParams](params)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.answers[string(p.ID)]; cancel != nil {
		cancel()
	}
	return nil
}

// cancelProgress ends the check whose progress a client shows.
func cancelProgress(s *server, params json.RawMessage) error {
	p, err := decode[progressCancelParams](params)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.launches {
		if t.token != "" && t.token == p.Token {
			t.stop()
		}
	}
	return nil
}
