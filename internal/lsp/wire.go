package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// This file carries messages: JSON-RPC 2.0 in the frames of the base protocol, a header with
// Content-Length before each body.

// Bounds of what is read. A text of 64 MiB, the most that ptx.Parse reads, fits with its
// escapes.
const (
	maxHeader  = 8 << 10
	maxMessage = 192 << 20
)

// A message is a request (method and id), a notification (method alone) or a response.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *responseError  `json:"error,omitempty"`
}

// A responseError is an error as a response carries it.
type responseError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *responseError) Error() string { return e.Message }

// Codes of JSON-RPC and of the protocol.
const (
	parseError       = -32700
	invalidRequest   = -32600
	methodNotFound   = -32601
	invalidParams    = -32602
	internalError    = -32603
	notInitialized   = -32002
	requestFailed    = -32803
	requestCancelled = -32800
)

func errorf(code int, format string, args ...any) *responseError {
	return &responseError{code, fmt.Sprintf(format, args...)}
}

// A wire reads and writes messages. Several goroutines may write.
type wire struct {
	in *bufio.Reader

	mu  sync.Mutex
	out io.Writer
	err error // of writing
}

// A frameError is a header from which the length of the body cannot be told: what follows
// cannot be read.
type frameError struct{ why string }

func (e *frameError) Error() string { return "the input is no message of the protocol: " + e.why }

// read returns the body of the next message. The error is io.EOF at the end of the input, a
// *responseError for a message that was skipped, or else final.
func (w *wire) read() ([]byte, error) {
	length, err := w.header()
	if err != nil {
		return nil, err
	}
	if length > maxMessage {
		if _, err := io.CopyN(io.Discard, w.in, length); err != nil {
			return nil, err
		}
		return nil, errorf(invalidRequest, "a message of %d bytes: at most %d are read", length, maxMessage)
	}
	// The buffer grows with what comes, not with what the header promises.
	var body bytes.Buffer
	if n, err := io.CopyN(&body, w.in, length); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &frameError{fmt.Sprintf("it ends %d bytes into a message of %d", n, length)}
		}
		return nil, err
	}
	return body.Bytes(), nil
}

// header reads the fields before a body and returns its length.
func (w *wire) header() (length int64, err error) {
	length = -1
	for size := 0; ; {
		line, err := w.line(maxHeader - size)
		if err != nil {
			if errors.Is(err, io.EOF) && size == 0 && len(line) == 0 {
				return 0, io.EOF
			}
			return 0, err
		}
		size += len(line)
		text := strings.TrimRight(line, "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, &frameError{fmt.Sprintf("%.60q stands where a header is due", text)}
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil || length < 0 {
				return 0, &frameError{fmt.Sprintf("%.60q is no length", text)}
			}
		}
	}
	if length < 0 {
		return 0, &frameError{"a header without Content-Length"}
	}
	return length, nil
}

// line reads a line of at most room bytes.
func (w *wire) line(room int) (string, error) {
	var b strings.Builder
	for {
		c, err := w.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && b.Len() > 0:
			return b.String(), &frameError{"it ends in a header"}
		case err != nil:
			return "", err
		case b.Len() >= room:
			return "", &frameError{fmt.Sprintf("a header of more than %d bytes", maxHeader)}
		}
		b.WriteByte(c)
		if c == '\n' {
			return b.String(), nil
		}
	}
}

// write sends a message. An error is kept: nobody reads any more.
func (w *wire) write(m message) {
	m.Version = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		panic("BUG: a message that is no JSON: " + err.Error())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
}

// failed returns the error of writing, if there was one.
func (w *wire) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// raw encodes a value of this package's own types, which always can be.
func raw(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("BUG: a value that is no JSON: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// decode reads parameters.
func decode[T any](params json.RawMessage) (v T, err error) {
	if len(params) == 0 {
		return v, errorf(invalidParams, "the parameters are missing")
	}
	if err := json.Unmarshal(params, &v); err != nil {
		return v, errorf(invalidParams, "the parameters do not fit: %v", err)
	}
	return v, nil
}
