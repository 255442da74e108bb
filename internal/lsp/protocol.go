package lsp

import "encoding/json"

// This file has the structures of the Language Server Protocol, 3.17, that the server uses,
// under the protocol's own names
// (https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/).

// A Position counts lines, and characters in the encoding that the session agreed on, from 0.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// A Range ends before End.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// A Location is a range in a document.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// A Diagnostic is what is said of a range.
type Diagnostic struct {
	Range              Range                          `json:"range"`
	Severity           int                            `json:"severity"`
	Code               string                         `json:"code,omitempty"`
	Source             string                         `json:"source"`
	Message            string                         `json:"message"`
	RelatedInformation []DiagnosticRelatedInformation `json:"relatedInformation,omitempty"`
	Data               *DiagnosticData                `json:"data,omitempty"`
}

// Severities.
const (
	severityError       = 1
	severityWarning     = 2
	severityInformation = 3
)

// DiagnosticRelatedInformation is another place of a diagnostic.
type DiagnosticRelatedInformation struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// DiagnosticData says which finding of which launch a diagnostic is.
type DiagnosticData struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"`
	Launch      string `json:"launch"`
	Replay      string `json:"replay,omitempty"`
}

type textDocument struct {
	URI string `json:"uri"`
}

type positionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     Position     `json:"position"`
}

type referenceParams struct {
	positionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type documentParams struct {
	TextDocument textDocument `json:"textDocument"`
}

type openParams struct {
	TextDocument struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    int    `json:"version"`
		Text       string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	ContentChanges []change `json:"contentChanges"`
}

// A change replaces a range, or the whole text if there is none.
type change struct {
	Range *Range `json:"range"`
	Text  string `json:"text"`
}

type watchedParams struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

type cancelParams struct {
	ID json.RawMessage `json:"id"`
}

type progressCancelParams struct {
	Token string `json:"token"`
}

type configurationParams struct {
	Settings struct {
		Muster json.RawMessage `json:"muster"`
	} `json:"settings"`
}

// initializeParams has what the server asks of a client.
type initializeParams struct {
	RootURI          string `json:"rootUri"`
	WorkspaceFolders []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
	InitializationOptions json.RawMessage `json:"initializationOptions"`
	Capabilities          struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		Window struct {
			WorkDoneProgress bool `json:"workDoneProgress"`
		} `json:"window"`
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
		TextDocument struct {
			DocumentSymbol struct {
				Hierarchical bool `json:"hierarchicalDocumentSymbolSupport"`
			} `json:"documentSymbol"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type initializeResult struct {
	Capabilities serverCapabilities `json:"capabilities"`
	ServerInfo   serverInfo         `json:"serverInfo"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type serverCapabilities struct {
	PositionEncoding           string      `json:"positionEncoding"`
	TextDocumentSync           syncOptions `json:"textDocumentSync"`
	HoverProvider              bool        `json:"hoverProvider"`
	DefinitionProvider         bool        `json:"definitionProvider"`
	DeclarationProvider        bool        `json:"declarationProvider"`
	ImplementationProvider     bool        `json:"implementationProvider"`
	ReferencesProvider         bool        `json:"referencesProvider"`
	DocumentSymbolProvider     bool        `json:"documentSymbolProvider"`
	DocumentFormattingProvider bool        `json:"documentFormattingProvider"`
}

// syncOptions: documents are sent when they are opened, then their changes (Change 2).
type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
	Save      bool `json:"save"`
}

// A Hover is text about a place.
type Hover struct {
	Contents markupContent `json:"contents"`
	Range    *Range        `json:"range,omitempty"`
}

type markupContent struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// A DocumentSymbol is a name that a document declares, with those inside it.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children,omitempty"`
}

// A SymbolInformation is a DocumentSymbol for clients that take a flat list.
type SymbolInformation struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      Location `json:"location"`
	ContainerName string   `json:"containerName,omitempty"`
}

// Kinds of symbols.
const (
	symbolFunction = 12
	symbolVariable = 13
	symbolKey      = 20
)

// A TextEdit replaces a range.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

type logParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// Types of messages.
const (
	logError   = 1
	logWarning = 2
	logInfo    = 3
)

type progressParams struct {
	Token string           `json:"token"`
	Value workDoneProgress `json:"value"`
}

type workDoneProgress struct {
	Kind        string `json:"kind"` // begin, report or end
	Title       string `json:"title,omitempty"`
	Message     string `json:"message,omitempty"`
	Cancellable bool   `json:"cancellable,omitempty"`
}
