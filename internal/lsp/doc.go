// Package lsp is a server of the Language Server Protocol for 'muster lsp': what a check
// finds at the lines of PTX, of launch files, and of the CUDA C++, Go or Python that the PTX
// was compiled from, while they are edited.
//
// # Parts
//
//	wire.go, protocol.go   messages of JSON-RPC, and the structures of the protocol
//	server.go, calls.go    the life of a session, and which method does what
//	text.go                a document: lines, and places in UTF-8 and UTF-16
//	module.go, index.go    PTX parsed: its errors; functions, scopes, instructions, names
//	waits.go, flow.go, reach.go   which instructions wait and which complete, by the text
//	shown.go               the same by what a run of the launch showed
//	hover.go, jump.go, symbols.go   answers about a place
//	launches.go            which launch files speak of a document
//	check.go, publish.go   checks in the background, and diagnostics
//	source.go              places of source by .loc, and back
//
// # Concurrency
//
// One goroutine reads messages and applies changes of documents in order. A document is
// immutable; a change makes another. A request is answered by a goroutine of its own, from
// the documents as they were when it came, so that no answer mixes two states. What a check
// found belongs to the texts that it read, and is dropped when one of them changes.
package lsp
