package launch

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/diag"
)

// Unfilled stands in a launch file for what only its author knows, as 'muster init' writes it.
// Nothing can be launched before all of it is filled in.
const Unfilled = "???"

// A Missing is a value that is not filled in.
type Missing struct {
	Pos  Pos
	Name string
}

// takeUnfilled puts a number in the place of each value that is not filled in, so that the rest
// can be read, and returns what they are.
func takeUnfilled(file string, root *Node) []Missing {
	u := unfilled{file: file}
	u.walk(root, "")
	return u.list
}

// checkFilled returns an error that names what is not filled in.
func (f *File) checkFilled() error {
	if len(f.Missing) == 0 {
		return nil
	}
	var names []string
	for _, m := range f.Missing {
		names = append(names, m.Name)
	}
	return errorf(f.Missing[0].Pos, "not filled in: %s", diag.Several(names))
}

// fill forgets what flags have filled in.
func (f *File) fill(fl *Flags) {
	f.Missing = slices.DeleteFunc(slices.Clone(f.Missing), func(m Missing) bool {
		buffer, ofShape := strings.CutPrefix(m.Name, shapeOf)
		switch {
		case ofShape:
			return slices.ContainsFunc(slices.Concat(fl.Buffers, fl.Variables), func(text string) bool { return strings.HasPrefix(text, buffer+"=") })
		case strings.HasPrefix(m.Name, argument):
			return len(fl.Args) > 0
		}
		return map[string]string{"grid": fl.Grid, "block": fl.Block, "cluster": fl.Cluster, "shared": fl.Shared, "registers": fl.Registers}[m.Name] != ""
	})
}

const (
	shapeOf  = "shape of "
	argument = "argument "
)

// An unfilled is a walk through a file.
type unfilled struct {
	file string
	list []Missing
}

// walk looks at a value, which what names.
func (u *unfilled) walk(n *Node, what string) {
	if n.Kind == StringNode && n.Text == Unfilled {
		if k := len(u.list); k == 0 || u.list[k-1].Name != what {
			u.list = append(u.list, Missing{at(u.file, n.Pos), what})
		}
		n.Kind, n.Text = IntNode, "1"
	}
	for i, item := range n.Items {
		if what == "args" {
			u.walk(item, fmt.Sprint(argument, i+1))
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
		return shapeOf + what
	}
	return what
}
