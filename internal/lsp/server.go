package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"muster/launch"
	"muster/ptx"
)

// Options are what the command gives the server.
type Options struct {
	Version string
	// Row tells what muster can do with an instruction's row.
	Row func(*ptx.Form) Row
	// Sources has the sources compiled that a launch file names in place of PTX. What it
	// returns is called when the check is over.
	Sources func(ctx context.Context, f *launch.File) (end func(), err error)
	// Words puts the command's flags in place of the library's names of options.
	Words func(text string) string
	// Settings hold until the client says otherwise.
	Settings Settings
}

// A Row is how far a row of the instruction table is supported, in the words of 'muster
// coverage'.
type Row struct {
	Executed        bool
	Checked, Tested string
}

// A server is one session.
type server struct {
	o    Options
	wire *wire

	mu       sync.Mutex
	state    state
	inUTF8   bool
	flat     bool // documentSymbol answers with a flat list
	progress bool
	watches  bool
	roots    []string
	settings Settings
	docs     map[string]*text // by key; replaced, never changed
	lost     map[string]*text // by key, what is open with another text than is known
	answers  map[string]context.CancelFunc
	launches map[string]*tracked
	static   map[string][]Diagnostic // what is wrong with open documents by themselves
	looks    map[string]context.CancelFunc
	calls    int // requests to the client

	publishing sync.Mutex
	published  map[string]bool
	files      fileCache
	checking   chan struct{} // holds one token for each check at a time; the next two likewise
	answering  chan struct{}
	looking    chan struct{}
	work       sync.WaitGroup
	replies    sync.WaitGroup
	ctx        context.Context
}

// A state of the session.
type state int

const (
	fresh state = iota
	running
	down // after shutdown
)

// Bounds of a session.
const (
	mostAnswers    = 1024 // requests that wait or are answered
	answersAtATime = 4
	mostText       = 512 << 20 // of all open documents
	mostLaunches   = 64
)

// errExit ends a session by the notification exit.
var errExit = errors.New("exit")

// Serve holds a session until it ends, and returns whether it ended as the protocol says, by
// shutdown and then exit. The error says why not where there is more to say.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{
		o: o, wire: &wire{in: bufio.NewReader(in), out: out}, settings: o.Settings.filled(), ctx: ctx,
		docs: map[string]*text{}, answers: map[string]context.CancelFunc{}, launches: map[string]*tracked{},
		static: map[string][]Diagnostic{}, looks: map[string]context.CancelFunc{}, lost: map[string]*text{}, published: map[string]bool{},
		checking: make(chan struct{}, 1), looking: make(chan struct{}, 1), answering: make(chan struct{}, answersAtATime),
	}
	err := s.listen()
	if errors.Is(err, io.EOF) {
		s.replies.Wait()
	}
	s.mu.Lock()
	proper := s.state == down
	for _, t := range s.launches {
		t.stop()
	}
	s.mu.Unlock()
	cancel()
	s.settle()
	switch {
	case errors.Is(err, errExit), errors.Is(err, io.EOF):
		err = nil
	}
	if e := s.wire.failed(); e != nil && err == nil && !proper {
		err = e
	}
	return proper && err == nil, err
}

// settle waits for what is still going on: cancelled work ends within moments, and what does
// not ends with the process.
func (s *server) settle() {
	ended := make(chan struct{})
	go func() { s.replies.Wait(); s.work.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
	}
}

// listen reads messages until the session ends.
func (s *server) listen() error {
	for {
		body, err := s.wire.read()
		var skipped *responseError
		switch {
		case errors.As(err, &skipped):
			s.fail(nil, skipped)
			continue
		case err != nil:
			var frame *frameError
			if errors.As(err, &frame) {
				s.fail(nil, errorf(parseError, "%v", err))
			}
			return err
		case s.wire.failed() != nil:
			return s.wire.failed()
		}
		if err := s.take(body); err != nil {
			return err
		}
	}
}

// take handles one message.
func (s *server) take(body []byte) error {
	var m message
	switch err := json.Unmarshal(body, &m); {
	case err != nil && !json.Valid(body):
		s.fail(nil, errorf(parseError, "a message that is no JSON"))
		return nil
	case bytes.HasPrefix(bytes.TrimLeft(body[:min(len(body), 64)], " \t\r\n"), []byte("[")):
		s.fail(nil, errorf(invalidRequest, "the protocol has no batches of messages"))
		return nil
	case err != nil || m.Version != "2.0":
		s.fail(nil, errorf(invalidRequest, "a message that is none of JSON-RPC 2.0"))
		return nil
	case m.ID != nil && !validID(m.ID):
		s.fail(nil, errorf(invalidRequest, "an id that is neither a number nor a string"))
		return nil
	case m.Method == "" && m.ID == nil:
		s.fail(nil, errorf(invalidRequest, "a message without a method and an id"))
		return nil
	case m.Method == "":
		return nil // a response: the server's requests want no answer
	case m.ID == nil:
		return s.notified(&m)
	}
	s.request(&m)
	return nil
}

func validID(id json.RawMessage) bool {
	var v any
	if json.Unmarshal(id, &v) != nil {
		return false
	}
	switch v.(type) {
	case string, float64:
		return true
	}
	return false
}

// fail answers a request with an error; one without an id cannot be answered, and gets null.
func (s *server) fail(id json.RawMessage, err *responseError) {
	if id == nil {
		id = json.RawMessage("null")
	}
	s.wire.write(message{ID: id, Error: err})
}

// notify sends a notification.
func (s *server) notify(method string, params any) {
	s.wire.write(message{Method: method, Params: raw(params)})
}

// call sends a request whose answer does not matter.
func (s *server) call(method string, params any) {
	s.mu.Lock()
	s.calls++
	id := fmt.Sprintf("muster-%d", s.calls)
	s.mu.Unlock()
	s.wire.write(message{ID: raw(id), Method: method, Params: raw(params)})
}

// log writes to the client's log.
func (s *server) log(kind int, format string, args ...any) {
	s.notify("window/logMessage", logParams{kind, fmt.Sprintf(format, args...)})
}

// notified takes a notification. Those that do not fit are told to the log, since they have
// no answer.
func (s *server) notified(m *message) error {
	s.mu.Lock()
	now := s.state
	s.mu.Unlock()
	if m.Method == "exit" {
		return errExit
	}
	if now != running {
		return nil
	}
	handle, ok := notifications[m.Method]
	if !ok {
		return nil // those that a server does not know it may drop
	}
	defer s.recovered("the notification " + m.Method)
	if err := handle(s, m.Params); err != nil {
		s.log(logWarning, "%s: %v", m.Method, err)
	}
	return nil
}

// recovered reports a panic as what it is, and lets the session go on.
func (s *server) recovered(what string) {
	if v := recover(); v != nil {
		s.log(logError, "BUG: %s: %v\nThis is a mistake in muster. Please report it with this text.\n%s", what, v, debug.Stack())
	}
}

// request takes a request. Those of the session's life are answered at once, the others by
// goroutines.
func (s *server) request(m *message) {
	s.mu.Lock()
	now := s.state
	s.mu.Unlock()
	switch {
	case m.Method == "initialize" && now == fresh:
		s.answer(m.ID, func() (any, error) { return s.initialize(m.Params) })
		return
	case m.Method == "initialize":
		s.fail(m.ID, errorf(invalidRequest, "the session is initialized already"))
		return
	case now == fresh:
		s.fail(m.ID, errorf(notInitialized, "the session is not initialized"))
		return
	case now == down:
		s.fail(m.ID, errorf(invalidRequest, "the session is shut down"))
		return
	case m.Method == "shutdown":
		s.replies.Wait() // what was asked before is answered before
		s.mu.Lock()
		s.state = down
		for _, t := range s.launches {
			t.stop()
		}
		s.mu.Unlock()
		s.wire.write(message{ID: m.ID, Result: json.RawMessage("null")})
		return
	}
	handle, ok := requests[m.Method]
	if !ok {
		s.fail(m.ID, errorf(methodNotFound, "there is no method %.80q", m.Method))
		return
	}
	s.begin(m, handle)
}

// begin answers a request in the background, from the documents as they are now.
func (s *server) begin(m *message, handle handler) {
	key := string(m.ID)
	s.mu.Lock()
	if len(s.answers) >= mostAnswers || s.answers[key] != nil {
		again := s.answers[key] != nil
		s.mu.Unlock()
		if again {
			s.fail(m.ID, errorf(invalidRequest, "a request with this id is not answered yet"))
		} else {
			s.fail(m.ID, errorf(requestFailed, "more than %d requests wait for an answer", mostAnswers))
		}
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.answers[key] = cancel
	v := s.view()
	s.mu.Unlock()
	s.replies.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.answers, key)
			s.mu.Unlock()
			cancel()
		}()
		select {
		case s.answering <- struct{}{}:
			defer func() { <-s.answering }()
		case <-ctx.Done():
		}
		s.answer(m.ID, func() (any, error) {
			if ctx.Err() != nil {
				return nil, errorf(requestCancelled, "cancelled")
			}
			result, err := handle(ctx, v, m.Params)
			if ctx.Err() != nil {
				return nil, errorf(requestCancelled, "cancelled")
			}
			return result, err
		})
	})
}

// answer sends what f returns as the answer of a request.
func (s *server) answer(id json.RawMessage, f func() (any, error)) {
	defer func() {
		if v := recover(); v != nil {
			s.log(logError, "BUG: %v\nThis is a mistake in muster. Please report it with this text.\n%s", v, debug.Stack())
			s.fail(id, errorf(internalError, "BUG: %v", v))
		}
	}()
	result, err := f()
	var as *responseError
	switch {
	case errors.As(err, &as):
		s.fail(id, as)
	case err != nil:
		s.fail(id, errorf(requestFailed, "%v", err))
	default:
		s.wire.write(message{ID: id, Result: raw(result)})
	}
}

// A view is the state from which a request is answered.
type view struct {
	*server
	docs    map[string]*text
	results []*result
	utf8    bool
	flat    bool
	set     Settings
	roots   []string
}

// view is the state now. The caller holds the lock.
func (s *server) view() *view {
	v := &view{server: s, docs: s.docs, utf8: s.inUTF8, flat: s.flat, set: s.settings, roots: s.roots}
	for _, t := range s.launches {
		if t.result != nil {
			v.results = append(v.results, t.result)
		}
	}
	return v
}

// now is view for who does not hold the lock.
func (s *server) now() *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view()
}

// setDoc replaces a document, or removes it. The caller holds the lock.
func (s *server) setDoc(key string, t *text) {
	s.docs = maps.Clone(s.docs)
	if t == nil {
		delete(s.docs, key)
	} else {
		s.docs[key] = t
	}
}
