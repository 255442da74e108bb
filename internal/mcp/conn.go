package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message in bytes. PTX is JSON-escaped in it.
const maxLine = 32 << 20

// A transport is a client at two ends of a stream of lines. The SDK's own ends the session at
// the first line that is no message; JSON-RPC has an answer to such a line (5.1).
type transport struct {
	in    io.ReadCloser
	out   io.Writer
	ended func() // called when in ends
}

func (t *transport) Connect(context.Context) (mcp.Connection, error) {
	c := &conn{transport: t, lines: make(chan line), closed: make(chan struct{})}
	go c.read()
	return c, nil
}

type conn struct {
	*transport
	lines  chan line
	once   sync.Once
	closed chan struct{}
	mu     sync.Mutex // of out
}

type line struct {
	msg jsonrpc.Message
	err error
}

func (c *conn) SessionID() string { return "" }

// read reads messages, and answers the lines that are none.
func (c *conn) read() {
	in := bufio.NewReaderSize(c.in, 64<<10)
	for {
		text, long, err := readLine(in)
		if len(bytes.TrimSpace(text)) > 0 || long {
			msg, bad := c.decode(text, long)
			switch {
			case bad == nil:
				select {
				case c.lines <- line{msg: msg}:
				case <-c.closed:
					return
				}
			default:
				c.refuse(text, bad)
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				err = fmt.Errorf("reading the client's messages: %w", err)
			}
			c.ended()
			select {
			case c.lines <- line{err: err}:
			case <-c.closed:
			}
			return
		}
	}
}

// readLine reads a line, of a long one only that it is long.
func readLine(in *bufio.Reader) (text []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxLine; !long {
			text = append(text, part...)
		}
		if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

// decode reads one message.
func (c *conn) decode(text []byte, long bool) (jsonrpc.Message, *jsonrpc.Error) {
	switch {
	case long:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("a message of more than %d bytes", maxLine)}
	case !json.Valid(text):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON"}
	case bytes.TrimSpace(text)[0] == '[':
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "batches are not served: one message a line"}
	}
	if why := wrongID(text); why != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: why}
	}
	msg, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "no message of JSON-RPC 2.0: " + err.Error()}
	}
	return msg, nil
}

// wrongID says what is wrong with the id of a request: the SDK takes null for none, and cuts
// numbers to what fits, so that an answer would carry another one (JSON-RPC 2.0, 4).
func wrongID(text []byte) string {
	id, ok := idOf(text)
	if !ok {
		return ""
	}
	if string(id) == "null" {
		return "the id is null: a request has a string or a number, and a notification none"
	}
	const most = 1 << 53 // a double holds every integer up to it
	var n float64
	if number(id) && (json.Unmarshal(id, &n) != nil || n != math.Trunc(n) || math.Abs(n) >= most) {
		return fmt.Sprintf("the id %.40s is no integer below %d", id, int64(most))
	}
	return ""
}

// number reports whether a value is a number.
func number(v json.RawMessage) bool { return v[0] == '-' || v[0] >= '0' && v[0] <= '9' }

// idOf is the id of a message as it is written.
func idOf(text []byte) (json.RawMessage, bool) {
	var of map[string]json.RawMessage
	if json.Unmarshal(text, &of) != nil {
		return nil, false
	}
	id, ok := of["id"]
	return bytes.TrimSpace(id), ok
}

// refuse answers a line that is no message, with its id if it has one.
func (c *conn) refuse(text []byte, why *jsonrpc.Error) {
	id := json.RawMessage("null")
	if of, ok := idOf(text); ok && (of[0] == '"' || number(of)) {
		id = of
	}
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, why})
	if err == nil {
		c.send(data)
	}
}

func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	case l := <-c.lines:
		return l.msg, l.err
	}
}

func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return c.send(data)
}

func (c *conn) send(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(data, '\n'))
	return err
}

func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.in.Close()
	})
	return nil
}
