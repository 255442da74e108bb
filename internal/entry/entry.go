// Package entry finds the kernel of a module, and describes its parameters for package
// launch: the steps before a launch that the machine and a GPU share. Sizes are in bytes.
package entry

import (
	"errors"
	"fmt"

	"muster/internal/diag"
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
	case len(found) > 1 && l.Kernel != "":
		return nil, &launch.Error{Pos: l.Pos, Msg: fmt.Sprintf("%d kernels are called %q", len(found), l.Kernel)}
	case len(names) == 0:
		return nil, &launch.Error{Pos: l.Pos, Msg: "the PTX has no kernel"}
	case len(found) == 0:
		at := l.Pos
		if named := l.KernelPos(); named != (launch.Pos{}) {
			at = named
		}
		return nil, &launch.Error{Pos: at, Msg: fmt.Sprintf("no kernel is called %q%s; there are %s", l.Kernel, diag.Meant(diag.NearestSymbol(l.Kernel, names)), diag.Several(names))}
	}
	return nil, &launch.Error{Pos: l.Pos, Msg: "name the kernel; there are " + diag.Several(names)}
}

// ParamsOf is Params for a kernel of a module, whose file errors name.
func ParamsOf(mod *ptx.Module, f *ptx.Func) ([]launch.Param, error) {
	list, err := Params(f)
	var of *ptx.Error
	if errors.As(err, &of) && of.File == "" {
		of.File = mod.UnitAt(of.Pos).Name
	}
	return list, err
}

// Params describes a kernel's parameters.
func Params(f *ptx.Func) ([]launch.Param, error) {
	var list []launch.Param
	seen := map[string]bool{}
	end := 0
	for _, v := range f.Params {
		fail := func(format string, args ...any) ([]launch.Param, error) {
			return nil, &ptx.Error{Pos: v.Pos, Msg: fmt.Sprintf(format, args...)}
		}
		t, ok := launch.ParseType(v.Type)
		if !ok || t == launch.TensorMapType {
			return fail("parameter %s of type .%s cannot be passed", v.Name, v.Type)
		}
		if seen[v.Name] {
			return fail("two parameters are called %s", v.Name)
		}
		seen[v.Name] = true
		p := launch.Param{Name: v.Name, Size: t.Size() * max(v.Vec, 1)}
		p.Align = p.Size
		if v.Align > 0 {
			p.Align = v.Align
		}
		for _, n := range v.Dims {
			if n < 0 || n > launch.MaxParams || p.Size > launch.MaxParams {
				return fail("parameter %s has no size that fits", v.Name)
			}
			p.Size *= int(n)
		}
		if p.Size == 0 {
			return fail("parameter %s has no bytes: none can be passed", v.Name)
		}
		if end = (end+p.Align-1)/p.Align*p.Align + p.Size; end > launch.MaxParams {
			return fail("with parameter %s there are %d bytes of parameters; a kernel has at most %d", v.Name, end, launch.MaxParams)
		}
		if len(v.Dims) == 0 && v.Vec == 0 {
			p.Type = t
		}
		list = append(list, p)
	}
	return list, nil
}
