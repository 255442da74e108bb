package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Ask calls a tool of the server as a client in the same process does, with words like
// seconds=10 for its arguments, each a field of the tool's, a list's again for each item. It
// tells how far the call is.
func (s *Server) Ask(ctx context.Context, name string, words []string, tell func(string)) (*Answer, error) {
	here, there := mcp.NewInMemoryTransports()
	server, err := s.Connect(ctx, there)
	if err != nil {
		return nil, err
	}
	defer server.Wait()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "muster mcp call", Version: s.o.Version}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { tell(r.Params.Message) },
	}).Connect(ctx, here, nil)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	list, err := client.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
		if t.Name != name {
			continue
		}
		args, err := argumentsOf(t, words)
		if err != nil {
			return nil, err
		}
		p := &mcp.CallToolParams{Name: name, Arguments: args}
		p.SetProgressToken("call")
		r, err := client.CallTool(ctx, p)
		if err != nil {
			return nil, err
		}
		return answerOf(r)
	}
	return nil, fmt.Errorf("no tool is called %q; there are %s", name, strings.Join(names, ", "))
}

// answerOf takes a result apart.
func answerOf(r *mcp.CallToolResult) (*Answer, error) {
	a := &Answer{Failed: r.IsError}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			a.Text += t.Text
		}
	}
	if r.StructuredContent == nil {
		return a, nil
	}
	var err error
	a.Data, err = json.MarshalIndent(r.StructuredContent, "", "  ")
	return a, err
}

// argumentsOf reads words by the schema of the tool's input.
func argumentsOf(t *mcp.Tool, words []string) (map[string]any, error) {
	schema, _ := t.InputSchema.(map[string]any)
	fields, _ := schema["properties"].(map[string]any)
	args := map[string]any{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		field, known := fields[key].(map[string]any)
		if !ok || !known {
			return nil, fmt.Errorf("%q: want FIELD=VALUE; %s has %s", word, t.Name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		types := fmt.Sprint(field["type"])
		switch {
		case strings.Contains(types, "array"):
			list, _ := args[key].([]any)
			args[key] = append(list, value)
		case types == "string":
			args[key] = value
		default:
			var v any
			if err := json.Unmarshal([]byte(value), &v); err != nil {
				return nil, fmt.Errorf("%q: %s is a %s", word, key, types)
			}
			args[key] = v
		}
	}
	return args, nil
}
