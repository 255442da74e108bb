//go:build !js

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"muster/internal/lsp"
	"muster/launch"
	"muster/ptx"
)

func lspCommand(c *console) *cobra.Command {
	limit, memory := 30*time.Second, sizeFlag(4<<30)
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor: findings at their lines, by the LSP",
		Long: `Lsp is a language server over standard input and output, for PTX, launch files,
and the CUDA C++, Go or Python that the PTX was compiled from with line
information. An editor starts it; docs/lsp.md says how, for some.

It shows what is wrong with the text of PTX and of launch files at once. Where a
launch file beside a document names it, a check runs in the background, and what
it finds stands at the lines of the PTX and of its source. Hover tells an
instruction's row and what a finding means; 'go to definition' leads from a wait
to what completes it, and back.

Exit status: 0 after shutdown and exit, as the protocol has it, else 1; 2 for
input that is no message of the protocol.`,
		Example: "  muster lsp\n  muster lsp --limit-time 2m",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if limit < time.Millisecond {
				return fmt.Errorf("--limit-time %v: want at least 1ms", limit)
			}
			s := lsp.Settings{LimitTime: limit.String(), LimitMemory: fmt.Sprint(int64(memory))}
			proper, err := lsp.Serve(context.Background(), c.in, c.out, lsp.Options{
				Version: version(debug.ReadBuildInfo()), Row: rowFor(), Sources: c.compileFor, Words: options.Replace, Settings: s,
			})
			if err == nil && !proper {
				return exit(exitFindings)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.DurationVar(&limit, "limit-time", limit, "time for one check, unless the editor sets it")
	f.Var(&memory, "limit-memory", "`bytes` that the process takes while a check runs, unless the editor sets it")
	return cmd
}

// rowFor returns what tells of a row of the instruction table what 'muster coverage' does. It
// runs the row's example when it is first asked for.
func rowFor() func(*ptx.Form) lsp.Row {
	var mu sync.Mutex
	known := map[*ptx.Form]lsp.Row{}
	tested := testedHow(testedForms)
	return func(f *ptx.Form) lsp.Row {
		mu.Lock()
		defer mu.Unlock()
		r, ok := known[f]
		if !ok {
			var row coverage
			row.try(f)
			r = lsp.Row{Executed: row.Executed, Checked: row.Checked, Tested: "no"}
			if how := tested[f.Name]; how != "" && row.Executed {
				r.Tested = how
			}
			known[f] = r
		}
		return r
	}
}

// compileFor has the .cu files of a launch compiled for one check.
func (c *console) compileFor(ctx context.Context, f *launch.File) (end func(), err error) {
	in := defaultInput()
	if err := in.checkLimits(); err != nil {
		return nil, err
	}
	in.begun = &work{Context: ctx, console: c}
	end = func() {
		for _, f := range in.begun.after {
			f()
		}
	}
	if err := in.sources(f); err != nil {
		end()
		var said *compileError
		if errors.As(err, &said) {
			return nil, errors.New(said.line + ": " + firstLine(said.said))
		}
		return nil, err
	}
	return end, nil
}

// firstLine is the first line of what a compiler said.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
