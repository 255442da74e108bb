package launch

import (
	"fmt"
	"strings"
)

// maxListed bounds the parameters that an error lists: a kernel may have thousands.
const maxListed = 64

// MissingArgs names every parameter for which a launch of the file has no argument, and what
// would give it: "" if there is none.
func (f *File) MissingArgs(l *Launch, params []Param) string {
	return missing(l, params, len(f.Buffers))
}

func missing(launch *Launch, params []Param, buffers int) string {
	n := len(launch.Args)
	if n >= len(params) {
		return ""
	}
	var list []string
	for i := n; i < len(params); i++ {
		if len(list) == maxListed {
			list = append(list, fmt.Sprintf("and %d more", len(params)-i))
			break
		}
		list = append(list, fmt.Sprintf("%d %s (%s)", i+1, params[i], params[i].given(launch.byFlags)))
	}
	out := "missing argument: "
	if len(params)-n > 1 {
		out = "missing arguments: "
	}
	out += strings.Join(list, ", ")
	if launch.byFlags && buffers == 0 {
		out += "; --buffer NAME=f32[N]:iota makes a buffer"
	}
	return out
}

// given says how an argument for the parameter is written.
func (p Param) given(flags bool) string {
	address := p.Type == U64 || p.Type == S64 || p.Type == B64
	switch {
	case address && flags:
		return fmt.Sprintf("--arg BUFFER or --arg %s:N", p.Type)
	case address:
		return fmt.Sprintf("BUFFER or {%s: N}", p.Type)
	case p.Type != 0 && flags:
		return fmt.Sprintf("--arg %s:N", p.Type)
	case p.Type != 0:
		return fmt.Sprintf("{%s: N}", p.Type)
	case p.Size == TensorMapType.Size() && p.Align >= tensorMapAlign && flags:
		return `--arg '{"tensormap": {"of": "BUFFER", "box": [N]}}'`
	case p.Size == TensorMapType.Size() && p.Align >= tensorMapAlign:
		return "{tensormap: {of: BUFFER, box: [N]}}"
	case flags:
		return `--arg bytes:FILE or --arg '{"struct": [{"ptr": "BUFFER"}, {"u32": N}]}'`
	}
	return "{bytes: FILE} or {struct: [{ptr: BUFFER}, {u32: N}]}"
}

// swapped says which other argument suits the parameter, if the two would do in each other's
// place.
func swapped(args []Arg, params []Param, i int) string {
	for j := range params {
		if j != i && args[j].fits(params[i]) && args[i].fits(params[j]) && !args[j].fits(params[j]) {
			return fmt.Sprintf("; arguments %d and %d may be swapped", min(i, j)+1, max(i, j)+1)
		}
	}
	return ""
}

// fits reports whether an argument suits a parameter in kind and size; a struct and raw bytes
// are not measured.
func (a Arg) fits(p Param) bool {
	size := p.Size
	switch a.Kind {
	case ArgPointer, ArgNull:
		size = 8
	case ArgScalar:
		size = a.Type.Size()
	case ArgTensorMap:
		size = TensorMapType.Size()
	}
	return a.suits(p) && size == p.Size
}
