package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"muster"
	"muster/report"
)

// A tool is one of the server's tools.
type tool struct {
	mcp.Tool
	takes func() *jsonschema.Schema // its arguments
	add   func(*Server, *tool)
	do    func(*work, json.RawMessage) (*Answer, error)
}

var tools = []*tool{
	define("check", "Check the synchronization of a kernel",
		"Find races, missing fences, deadlocks and broken mbarrier protocol in a PTX kernel, for every schedule of one launch. Clean speaks of all schedules; incomplete says what was not decided and why. Each finding has both accesses with their lines, what is missing, and a fix.",
		(*work).check, either[report.Report, report.Sequence]),
	define("explain", "Explain a kind of finding, or launch files",
		"What a kind of finding means, why it is wrong by the PTX ISA, how to mend it, with a wrong and a right kernel. The argument topic: a kind (proxy-raw), incomplete and C0 to C10 (what such a verdict leaves open, and what to do), launch (the form of launch files), sums (how tensor cores add); none lists all kinds.",
		(*work).explain, nil),
	define("run", "Run a kernel and compare its results",
		"Execute a launch under one schedule, without checks: what the kernel prints, each buffer against what the launch expects of it, and a digest of each buffer, which is the same for the same bytes. Call it before and after a mend to see that the results stay.",
		(*work).run, nil),
	define("replay", "Show a finding again, step by step",
		"Run the launch under one schedule and tell the run as a story: the steps that touch the finding's barriers and bytes, with the ledger of each barrier. Without schedule, a check looks for one that shows the finding.",
		(*work).replay, nil),
	define("reduce", "Find the smallest launch that shows a finding",
		"Make grid, block, integer arguments and schedule smaller while the finding stays. The answer has the smaller launch as text, for launch_text, and its schedule.",
		(*work).reduce, nil),
	define("mutate", "Break each synchronization of a right kernel in turn",
		"Delete or weaken each synchronizing instruction of a kernel, one at a time, and check every mutant: which finding it draws, or why nothing needs the instruction. It tells what each fence and barrier is for.",
		(*work).mutate, nil),
	define("cost", "Name fences, barriers and waits that nothing needs",
		"Check a launch, and name those fences, barriers and waits for groups of it that it could do without in every schedule, if it is proven; a notice says which can go together.",
		(*work).cost, either[report.Report, report.Sequence]),
	define("barrier", "Play with an mbarrier",
		"Run a script of mbarrier operations, one a line, and show after each the barrier's word and ledger: phase, pending arrivals, bytes owed, who wakes. For example: init full 1 / consumer: wait full parity 0 / producer: arrive.expect_tx full 1024 / copy a: 1024 bytes to full / land a.",
		(*work).barrier, nil),
	define("init", "Make a launch file for a kernel",
		"Write a launch file to fill in, with every parameter of the kernel typed by what it does with it. Fill in what is ???, and pass it as launch_text.",
		(*work).init, nil),
}

// arguments are those of any tool, as a pointer.
type arguments interface{ spends() *spent }

// define makes a tool of a method, whose arguments are an In.
func define[In any](name, title, description string, do func(*work, *In) (*Answer, error), output func() *jsonschema.Schema) *tool {
	no := false
	t := &tool{
		Tool: mcp.Tool{
			Name: name, Title: title, Description: description,
			Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
		},
		do: func(w *work, args json.RawMessage) (*Answer, error) {
			in := new(In)
			if err := json.Unmarshal(args, in); err != nil {
				return nil, err
			}
			w.chars = any(in).(arguments).spends().Chars
			return do(w, in)
		},
	}
	t.takes = sync.OnceValue(input[In])
	t.add = func(s *Server, t *tool) {
		form := t.Tool
		form.InputSchema = t.takes()
		if output != nil { // made here: other commands of this program need none
			form.OutputSchema = output()
		}
		mcp.AddTool(s.sdk, &form, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			c, path, err := s.prepare(name, &in)
			if err != nil {
				return result(&Answer{Text: err.Error() + "\n", Data: failed(err), Failed: true}), nil, nil
			}
			r, err := s.call(ctx, req, c, path)
			return r, nil, err
		})
	}
	return t
}

// withoutNulls takes null for an argument that is left out: clients that must name each
// argument, as of a strict schema, write so.
func withoutNulls(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		p, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if ok && p != nil && bytes.Contains(p.Arguments, []byte("null")) {
			var given map[string]json.RawMessage
			if json.Unmarshal(p.Arguments, &given) == nil {
				maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
				p.Arguments, _ = json.Marshal(given)
			}
		}
		return next(ctx, method, req)
	}
}

// prepare makes a call of a tool's arguments, and returns the file that its folder is found by.
func (s *Server) prepare(name string, in any) (c Call, path string, err error) {
	b := in.(arguments).spends()
	if err := b.fill(s.o.Seconds); err != nil {
		return c, "", err
	}
	if e, ok := in.(interface{ fillExplored() error }); ok {
		if err := e.fillExplored(); err != nil {
			return c, "", err
		}
	}
	if at, ok := in.(interface{ named() *string }); ok {
		if text := at.named(); len(*text) > 0 && (*text)[0] == '@' {
			known, ok := s.schedules.named(*text)
			if !ok {
				return c, "", fmt.Errorf("schedule %s is not known (any more): without schedule, replay and reduce look for one", *text)
			}
			*text = known
		}
	}
	if of, ok := in.(interface{ of() *target }); ok {
		path = of.of().path()
	}
	args, err := json.Marshal(in)
	return Call{Tool: name, Arguments: args, Seconds: b.Seconds}, path, err
}

// Do does the work of a call in this process. explain is what 'muster explain' prints. When
// ctx ends, the answer is what was done until then. An error is a mistake in muster.
func Do(ctx context.Context, c Call, explain func(topic string) (string, error), tell func(string)) (*Answer, error) {
	w := &work{ctx: ctx, explained: explain, tell: tell}
	w.limits.Time, w.limits.Memory = c.Time(), c.Memory
	w.ctx = muster.WithTime(ctx, c.Time())
	for _, t := range tools {
		if t.Name != c.Tool {
			continue
		}
		a, err := t.do(w, c.Arguments)
		var untold *muster.Untold
		switch {
		case errors.Is(err, context.Canceled):
			a = &Answer{Text: "incomplete: cancelled\n", Data: incomplete("cancelled")}
		case errors.As(err, &untold):
			a = &Answer{Text: "incomplete: " + errorText(err) + "\n", Data: incomplete(errorText(err))}
		case err != nil:
			text := errorText(err)
			if dir, e := os.Getwd(); e == nil && errors.Is(err, fs.ErrNotExist) {
				text += "; paths are relative to " + dir
			}
			a = &Answer{Text: cut(text, w.chars) + "\n", Data: failed(errors.New(firstLine(text))), Failed: true}
		}
		a.Schedules = w.schedules
		return a, nil
	}
	return nil, fmt.Errorf("BUG: no tool is called %s", c.Tool)
}

// A work is a call that is worked on.
type work struct {
	ctx       context.Context
	limits    muster.Limits
	chars     int // of the answer
	tell      func(string)
	explained func(topic string) (string, error)
	schedules map[string]string // long ones, by their names
}

// input is the schema of arguments. A list is a list: that a nil one of Go is null as JSON says
// nothing of what a client sends, and not every client takes a choice of types.
func input[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, field := range s.Properties {
		if len(field.Types) > 0 {
			field.Type, field.Types = "array", nil
		}
	}
	return s
}

// either is the schema of data that is an A, a B, or what is said in place of both.
func either[A, B any]() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object"}
	for _, t := range []reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B](), reflect.TypeFor[report.Failed]()} {
		one, err := jsonschema.ForType(t, &jsonschema.ForOptions{})
		if err != nil {
			panic("BUG: " + err.Error())
		}
		s.AnyOf = append(s.AnyOf, one)
	}
	return s
}
