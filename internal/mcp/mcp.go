// Package mcp serves the checker to agents, by the Model Context Protocol.
//
//	client ─lines─► conn ─► SDK ─► Server ─Call─► Runner ─► Do ─► Answer
//	                                         (a process of its own, or this one)
//
// A Server speaks the protocol and does no work: each call goes to a Runner, which the
// command makes of a process of its own (Process), so that a call that exhausts its memory or
// does not end takes nothing else with it. Do does the work of a call in the process where it
// runs. An Answer is a short text that a model reads first, and the same as data; both are
// bounded, and say what they leave out.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options configure a Server.
type Options struct {
	Version string
	// Run does the work of calls.
	Run Runner
	// Dir is the folder that relative paths are looked up in first; empty for the process's.
	Dir string
	// Seconds is the most time that a call may ask for, Memory what it may take in bytes, and
	// Calls how many are worked on at a time: others wait for their turn.
	Seconds float64
	Memory  int64
	Calls   int
}

// The defaults of Options.
const (
	DefaultSeconds = 600
	DefaultMemory  = 4 << 30
	DefaultCalls   = 2
)

// A Call is a tool to call, with its arguments.
type Call struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Seconds   float64         `json:"seconds"` // time for the work
	Memory    int64           `json:"memory"`  // in bytes
}

// Time is the time for the call's work.
func (c *Call) Time() time.Duration { return time.Duration(c.Seconds * float64(time.Second)) }

// An Answer is the answer to a call.
type Answer struct {
	Text string          `json:"text"`
	Data json.RawMessage `json:"data,omitempty"`
	// Failed: the call itself was wrong, as by bad input.
	Failed bool `json:"failed,omitempty"`
	// Schedules are long ones, by the names that the answer gives them.
	Schedules map[string]string `json:"schedules,omitempty"`
}

// A Runner does the work of a call in a folder, and tells what is done so far each time that
// there is more to say. When ctx ends, it returns within a second, with what was done.
type Runner func(ctx context.Context, dir string, c Call, tell func(string)) (*Answer, error)

// A Server serves the tools.
type Server struct {
	o         Options
	sdk       *mcp.Server
	turns     chan struct{} // one for each call that is worked on
	schedules schedules
	ctx       context.Context // of the connection
}

const instructions = `Muster runs a PTX kernel for NVIDIA GPUs (Hopper, Blackwell) on a model of the machine, and checks its synchronization: races, missing fences, deadlocks, mbarrier protocol, for every schedule of one launch. No GPU is needed.
Call check with the PTX and a launch; of a finding read the lines, missing and fix; mend; check again until the verdict is clean; then run, to see that the results are still right. An incomplete verdict is no clean one. explain tells of a kind of finding, and of launch files by the topic launch.`

// New makes a server.
func New(o Options) *Server {
	if o.Seconds <= 0 {
		o.Seconds = DefaultSeconds
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	if o.Calls <= 0 {
		o.Calls = DefaultCalls
	}
	s := &Server{o: o, turns: make(chan struct{}, o.Calls), ctx: context.Background()}
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: "muster", Title: "Muster", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	s.sdk.AddReceivingMiddleware(withoutNulls)
	for _, t := range tools {
		t.add(s, t)
	}
	s.sdk.AddReceivingMiddleware(knownArguments)
	return s
}

// Serve serves one client, which writes lines to in and reads lines from out, until in or ctx
// ends. Calls that are worked on then are cancelled.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	err := s.sdk.Run(ctx, &transport{in: in, out: out, ended: cancel})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Connect connects the server to a client by a transport of the SDK, as in the same process.
func (s *Server) Connect(ctx context.Context, t mcp.Transport) (*mcp.ServerSession, error) {
	return s.sdk.Connect(ctx, t, nil)
}

// beat is how often a client is told that a call is still worked on.
const beat = 5 * time.Second

// call has a call worked on in its turn.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest, c Call, path string) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	p := &progress{req: req}
	select {
	case s.turns <- struct{}{}:
	default:
		p.tell(fmt.Sprintf("waiting: %d calls are worked on", s.o.Calls))
		select {
		case s.turns <- struct{}{}:
		case <-ctx.Done():
			return result(&Answer{Text: "incomplete: cancelled before its turn", Data: failed(ctx.Err())}), nil
		}
	}
	defer func() { <-s.turns }()
	c.Memory = s.o.Memory
	stop := p.begin(c.Time())
	a, err := s.o.Run(ctx, s.folder(ctx, req.Session, path), c, p.tell)
	stop()
	if err != nil {
		a = &Answer{Text: err.Error(), Data: failed(err), Failed: true}
	}
	s.schedules.keep(a.Schedules)
	if ctx.Err() != nil {
		p.tell(firstLine(a.Text))
	}
	return result(a), nil
}

func result(a *Answer) *mcp.CallToolResult {
	r := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}, IsError: a.Failed}
	if a.Data != nil {
		r.StructuredContent = a.Data
	}
	return r
}

// A progress tells the client of a call how far it is, if the client wants to know.
type progress struct {
	req *mcp.CallToolRequest

	mu    sync.Mutex
	n     float64
	text  string
	begun time.Time
	limit time.Duration
}

// tell tells the client something new.
func (p *progress) tell(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
	p.send(text)
}

func (p *progress) send(text string) {
	token := p.req.Params.GetProgressToken()
	if token == nil || p.req.Session == nil {
		return
	}
	p.n++
	// The client may have cancelled the call, and is told the same.
	p.req.Session.NotifyProgress(context.Background(), &mcp.ProgressNotificationParams{ProgressToken: token, Progress: p.n, Message: text})
}

// begin starts telling the client from time to time that the call is worked on.
func (p *progress) begin(limit time.Duration) (stop func()) {
	p.mu.Lock()
	p.begun, p.limit = time.Now(), limit
	p.mu.Unlock()
	t := time.NewTicker(beat)
	done := make(chan struct{})
	go func() {
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				p.mu.Lock()
				p.send(fmt.Sprintf("%s (%.0f s of %.0f s)", p.text, time.Since(p.begun).Seconds(), p.limit.Seconds()))
				p.mu.Unlock()
			}
		}
	}()
	return func() { close(done) }
}
