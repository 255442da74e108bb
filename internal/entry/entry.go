// Package entry finds the kernel of a module, and describes its parameters for package
// launch: the steps before a launch that the machine and a GPU share. Sizes are in bytes.
package entry

import (
	"fmt"
	"strings"

	"muster/launch"
	"muster/ptx"
)

// Find returns the kernel that a launch names, or the module's only one.
func Find(l *launch.Launch, mod *ptx.Module) (*ptx.Func, error) {
	var found []*ptx.Func
	var names []string
	for _, item := range mod.Items {
		f, ok := item.(*ptx.Func)
		if !ok || !f.Entry || f.Body == nil {
			continue
		}
		names = append(names, f.Name)
		if l.Kernel == "" || f.Name == l.Kernel {
			found = append(found, f)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && l.Kernel != "":
		return nil, &launch.Error{Pos: l.Pos, Msg: fmt.Sprintf("no kernel is called %q; there are %s", l.Kernel, strings.Join(names, ", "))}
	case len(found) == 0:
		return nil, &launch.Error{Pos: l.Pos, Msg: "the PTX has no kernel"}
	}
	return nil, &launch.Error{Pos: l.Pos, Msg: "name the kernel; there are " + strings.Join(names, ", ")}
}

// Params describes a kernel's parameters.
func Params(f *ptx.Func) ([]launch.Param, error) {
	var list []launch.Param
	for _, v := range f.Params {
		t, ok := launch.ParseType(v.Type)
		if !ok || t == launch.TensorMapType {
			return nil, &ptx.Error{Pos: v.Pos, Msg: fmt.Sprintf("parameter %s of type .%s cannot be passed", v.Name, v.Type)}
		}
		p := launch.Param{Name: v.Name, Size: t.Size() * max(v.Vec, 1)}
		p.Align = p.Size
		if v.Align > 0 {
			p.Align = v.Align
		}
		for _, n := range v.Dims {
			if n < 0 || n > launch.MaxParams {
				return nil, &ptx.Error{Pos: v.Pos, Msg: fmt.Sprintf("parameter %s has no size that fits", v.Name)}
			}
			p.Size *= int(n)
		}
		if len(v.Dims) == 0 && v.Vec == 0 {
			p.Type = t
		}
		list = append(list, p)
	}
	return list, nil
}
