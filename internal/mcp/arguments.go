package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"muster/internal/diag"
)

// knownArguments answers calls that have an argument which their tool does not take: the SDK's
// own error does not say which it takes.
func knownArguments(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok {
			if err := unknownArgument(call.Name, call.Arguments); err != nil {
				return result(&Answer{Text: err.Error() + "\n", Data: failed(err), Failed: true}), nil
			}
		}
		return next(ctx, method, req)
	}
}

// unknownArgument says which argument a tool does not take, and those that it does; nil if it
// takes all, or the call is wrong in another way.
func unknownArgument(name string, args json.RawMessage) error {
	var given map[string]json.RawMessage
	i := slices.IndexFunc(tools, func(t *tool) bool { return t.Name == name })
	if i < 0 || json.Unmarshal(args, &given) != nil {
		return nil
	}
	known := slices.Sorted(maps.Keys(tools[i].takes().Properties))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(known, key) {
			continue
		}
		like := ""
		if n := diag.Nearest(key, known); n != "" {
			like = fmt.Sprintf(" (%s?)", n)
		}
		return fmt.Errorf("%s takes no argument %.40q%s; it takes %s", name, key, like, strings.Join(known, ", "))
	}
	return nil
}
