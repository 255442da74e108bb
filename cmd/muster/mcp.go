//go:build !js

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"muster"
	"muster/internal/files"
	"muster/internal/mcp"
)

// An mcpServer holds the flags of the server for agents.
type mcpServer struct {
	dir    string
	time   time.Duration
	memory sizeFlag
	calls  int
}

func mcpCommand(c *console) *cobra.Command {
	s := mcpServer{memory: mcp.DefaultMemory}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the checker to agents, by the Model Context Protocol",
		Long: `Mcp is a server of the Model Context Protocol on standard input and output, for
agents that write kernels: check, explain, run, replay, reduce, mutate, cost,
barrier and init are its tools. An agent's configuration names the command muster
with the argument mcp; docs/mcp.md has the forms.

Each call is worked on in a process of its own, within the limits that the call asks
for; the flags bound what it may ask for. Paths are relative to --dir, and to the
client's roots. Nothing is written. The server ends when its standard input does.

'muster mcp call' calls one tool, and prints what an agent would read.`,
		Example: `  muster mcp --dir ~/project --limit-time 2m
  muster mcp call check launch=examples/ring/broken_parity.yaml seconds=10`,
		Args: atMost(0, ""),
		RunE: func(*cobra.Command, []string) error {
			server, err := s.server()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return server.Serve(ctx, io.NopCloser(c.in), c.out)
		},
	}
	f := cmd.PersistentFlags()
	f.StringVar(&s.dir, "dir", "", "the `folder` that paths are relative to; default: the working directory")
	f.DurationVar(&s.time, "limit-time", mcp.DefaultSeconds*time.Second, "the most time that a call may ask for")
	f.Var(&s.memory, "limit-memory", "`bytes` that a call may take; as 512M, 8G")
	f.IntVar(&s.calls, "calls", mcp.DefaultCalls, "how many calls are worked on at a time; others wait")
	cmd.AddCommand(s.callCommand(c), mcpWorkCommand(c))
	return cmd
}

// server makes the server, whose calls are processes of this command.
func (s *mcpServer) server() (*mcp.Server, error) {
	if s.time < time.Second || s.calls < 1 {
		return nil, errors.New("--limit-time is at least a second, and --calls at least 1")
	}
	if s.dir != "" {
		if info, err := os.Stat(s.dir); err != nil {
			return nil, fmt.Errorf("--dir %s: %w", s.dir, files.Cause(err))
		} else if !info.IsDir() {
			return nil, fmt.Errorf("--dir %s: not a folder", s.dir)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return mcp.New(mcp.Options{
		Version: build(), Run: mcp.Process(self, "mcp", "work"), Dir: s.dir, Seconds: s.time.Seconds(), Memory: int64(s.memory), Calls: s.calls,
	}), nil
}

func (s *mcpServer) callCommand(c *console) *cobra.Command {
	data := false
	cmd := &cobra.Command{
		Use:   "call TOOL [FIELD=VALUE…]",
		Short: "Call one tool, and print what an agent would read",
		Long: `Call starts the server, calls one of its tools, and prints the text of the answer,
or with --data its structured content. FIELD=@FILE takes a file's text; a list's field
comes once for each item. How far the call is goes to standard error.

Exit status 2 if the answer is an error.`,
		Example: `  muster mcp call check launch=examples/ring/broken_parity.yaml seconds=10
  muster mcp call check ptx_text=@k.ptx grid=1 block=128 buffers=out=f32[128]:zeros args=out
  muster mcp call explain topic=proxy-raw`,
		Args: atLeast(1, "a tool, and its fields as name=value"),
		RunE: func(_ *cobra.Command, args []string) error {
			server, err := s.server()
			if err != nil {
				return err
			}
			words, err := withFiles(args[1:])
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			a, err := server.Ask(ctx, args[0], words, func(text string) { fmt.Fprintln(c.err, "muster:", text) })
			if err != nil {
				return err
			}
			text := a.Text
			if data {
				text = string(a.Data) + "\n"
			}
			if _, err := io.WriteString(c.out, text); err != nil {
				return err
			}
			if a.Failed {
				return exit(exitBadInput)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&data, "data", false, "print the structured content")
	return cmd
}

// withFiles replaces FIELD=@FILE by the file's text. A schedule's name begins with @, too.
func withFiles(words []string) ([]string, error) {
	var list []string
	for _, w := range words {
		if field, name, ok := strings.Cut(w, "=@"); ok && field != "schedule" {
			text, err := files.Read(name, maxSource)
			if err != nil {
				return nil, err
			}
			w = field + "=" + string(text)
		}
		list = append(list, w)
	}
	return list, nil
}

// mcpWorkCommand does the work of one call, which it reads from standard input.
func mcpWorkCommand(c *console) *cobra.Command {
	return &cobra.Command{
		Use:    "work",
		Hidden: true,
		Args:   atMost(0, ""),
		RunE: func(*cobra.Command, []string) error {
			call, rest, err := mcp.ReadCall(c.in)
			if err != nil {
				return err
			}
			in := &input{memory: sizeFlag(call.Memory), local: muster.DefaultLocal}
			in.limits = muster.Limits{Instrs: muster.DefaultInstrs, Time: call.Time()}
			w, err := c.begin(in)
			if err != nil {
				return err
			}
			defer w.close()
			go func() {
				rest()
				w.interrupt(cancelled{})
			}()
			return mcp.Work(w, call, c.out, explained, w.tell)
		},
	}
}

// A cancelled call is interrupted, and says so.
type cancelled struct{}

func (cancelled) Signal()        {}
func (cancelled) String() string { return "the call was cancelled" }

// explained is what 'muster explain' prints.
func explained(topic string) (string, error) {
	args := []string{"explain"}
	if topic != "" {
		args = append(args, "--", topic)
	}
	var out, errs bytes.Buffer
	if doMain(args, strings.NewReader(""), &out, &errs) != exitClean {
		return "", errors.New(strings.TrimPrefix(strings.TrimSpace(errs.String()), "muster: "))
	}
	return out.String(), nil
}
