package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A message is what a worker writes, one a line: what is done so far, and at last its answer.
type message struct {
	SoFar  string  `json:"so_far,omitempty"`
	Answer *Answer `json:"answer,omitempty"`
}

// late is the time after which a worker is ended that has not ended by itself: longer than it
// takes to end at a limit (a tenth of it) or a cancellation (a second).
func late(limit time.Duration) time.Duration { return max(limit/10, time.Second) }

// Process returns a Runner that starts a process for each call, by a command line. It writes
// the Call to the process's input, which it closes to cancel the call.
func Process(command ...string) Runner {
	return func(ctx context.Context, dir string, c Call, tell func(string)) (*Answer, error) {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		said := &tail{most: 4 << 10}
		cmd.Stderr = said
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("no process for the call: %w", err)
		}
		kill := time.AfterFunc(c.Time()+late(c.Time())+time.Second, func() { cmd.Process.Kill() })
		defer kill.Stop()
		defer context.AfterFunc(ctx, func() {
			in.Close()
			kill.Reset(late(0))
		})()
		go json.NewEncoder(in).Encode(c) // ends with the process: the pipe breaks
		a, sofar := follow(out, tell)
		err = cmd.Wait()
		if a != nil {
			return a, nil
		}
		return without(ctx, c, said.String(), sofar, cmd.ProcessState, err)
	}
}

// follow reads what a worker writes.
func follow(out io.Reader, tell func(string)) (a *Answer, sofar string) {
	from := json.NewDecoder(out)
	for {
		var m message
		if err := from.Decode(&m); err != nil {
			io.Copy(io.Discard, out)
			return a, sofar
		}
		if m.Answer != nil {
			a = m.Answer
		} else {
			sofar = m.SoFar
			tell(sofar)
		}
	}
}

// exitIncomplete is the exit status of the command whose limit ran out.
const exitIncomplete = 3

// without is the answer in place of one that a process did not give.
func without(ctx context.Context, c Call, said, sofar string, state *os.ProcessState, err error) (*Answer, error) {
	why := ""
	switch {
	case state.ExitCode() == exitIncomplete:
		_, why, _ = strings.Cut(strings.TrimSpace(said), "muster: incomplete: ")
	case ctx.Err() != nil:
		why = "cancelled"
	case state.ExitCode() < 0: // by a signal: ours at the limit, or the system's for want of memory
		why = fmt.Sprintf("the call was ended (%v): its limits are %v and %d bytes of memory", err, c.Time(), c.Memory)
	default:
		return nil, fmt.Errorf("muster failed (%v): %s", err, strings.TrimSpace(said))
	}
	if sofar != "" && !strings.Contains(why, sofar) {
		why += "; until then: " + sofar
	}
	why = names.Replace(strings.TrimSpace(why))
	return &Answer{Text: "incomplete: " + why + "\n", Data: incomplete(why)}, nil
}

// A tail keeps what comes last.
type tail struct {
	mu   sync.Mutex
	b    []byte
	most int
}

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, data...)
	if n := len(t.b) - t.most; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.b, []byte("?")))
}

// ReadCall reads the call that a worker gets. What comes behind it ends when the call is
// cancelled: rest waits for that.
func ReadCall(in io.Reader) (c Call, rest func(), err error) {
	from := json.NewDecoder(in)
	if err := from.Decode(&c); err != nil {
		return c, nil, fmt.Errorf("no call: %w", err)
	}
	return c, func() { io.Copy(io.Discard, in) }, nil
}

// Work does the work of a call in a worker, and writes its answer. tell is called, too, with
// what is done so far.
func Work(ctx context.Context, c Call, out io.Writer, explain func(topic string) (string, error), tell func(string)) error {
	to := json.NewEncoder(out)
	var mu sync.Mutex
	var last time.Time
	var failed error
	a, err := Do(ctx, c, explain, func(text string) {
		tell(text)
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) > often {
			last = now
			to.Encode(message{SoFar: text})
		}
	})
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	failed = to.Encode(message{Answer: a})
	return failed
}

// often bounds how often a worker tells what is done.
const often = 100 * time.Millisecond
