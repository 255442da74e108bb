package launch

import (
	"fmt"

	"muster/internal/diag"
)

// Unfilled stands in a launch file for what only its author knows, as 'muster init' writes it.
// Nothing can be launched before all of it is filled in.
const Unfilled = "???"

// checkFilled returns an error that names what is not filled in.
func checkFilled(file string, root *Node) error {
	u := unfilled{}
	u.walk(root, "")
	if len(u.names) == 0 {
		return nil
	}
	return errorf(at(file, u.first), "not filled in: %s", diag.Several(u.names))
}

// An unfilled is what a walk through a file finds.
type unfilled struct {
	first Pos
	names []string
}

// walk looks at a value, which what names.
func (u *unfilled) walk(n *Node, what string) {
	if n.Kind == StringNode && n.Text == Unfilled {
		if len(u.names) == 0 {
			u.first = n.Pos
		}
		if k := len(u.names); k == 0 || u.names[k-1] != what {
			u.names = append(u.names, what)
		}
	}
	for i, item := range n.Items {
		if what == "args" {
			u.walk(item, fmt.Sprintf("argument %d", i+1))
		} else {
			u.walk(item, what)
		}
	}
	for _, e := range n.Entries {
		u.walk(e.Value, within(what, e.Key))
	}
}

// within names a value by its key, and by what it is in where the key says too little.
func within(what, key string) string {
	switch {
	case what == "", what == "launches", what == "buffers", what == "variables":
		return key
	case key == "shape":
		return "shape of " + what
	}
	return what
}
