package gpu

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"muster/launch"
	"muster/ptx"
)

// A source is the PTX of a launch: as text, and as a tree for its parameters.
type source struct {
	text   []byte // ends with a zero byte
	kernel *ptx.Func
}

// readSource takes the module, or reads and parses the launch's file.
func readSource(l *launch.Launch, mod *ptx.Module) (*source, error) {
	s := &source{}
	if mod != nil {
		var out bytes.Buffer
		if err := mod.Print(&out); err != nil {
			return nil, err
		}
		s.text = out.Bytes()
	} else {
		var err error
		if s.text, err = os.ReadFile(l.PTX); err != nil {
			return nil, &launch.Error{Pos: l.Pos, Msg: err.Error(), Err: err}
		}
		if mod, err = ptx.Parse(l.PTX, s.text); err != nil {
			return nil, err
		}
	}
	s.text = append(s.text, 0)
	var err error
	s.kernel, err = findKernel(l, mod)
	return s, err
}

func findKernel(l *launch.Launch, mod *ptx.Module) (*ptx.Func, error) {
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

// parameters describes a kernel's parameters as package launch wants them.
func parameters(f *ptx.Func) ([]launch.Param, error) {
	var list []launch.Param
	for _, v := range f.Params {
		t, ok := launch.ParseType(v.Type)
		if !ok || t == launch.TensorMapType || v.Vec != 0 {
			return nil, &ptx.Error{Pos: v.Pos, Msg: fmt.Sprintf("parameter %s of type .%s cannot be passed", v.Name, v.Type)}
		}
		p := launch.Param{Name: v.Name, Size: t.Size(), Align: max(t.Size(), v.Align)}
		if v.Align > 0 {
			p.Align = v.Align
		}
		for _, n := range v.Dims {
			if n < 0 || n > launch.MaxParams {
				return nil, &ptx.Error{Pos: v.Pos, Msg: fmt.Sprintf("parameter %s has no size that fits", v.Name)}
			}
			p.Size *= int(n)
		}
		if len(v.Dims) == 0 {
			p.Type = t
		}
		list = append(list, p)
	}
	return list, nil
}

// Options of the driver's assembler (CUjit_option).
const (
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
	jitLogVerbose   = 12
)

// load has the driver assemble PTX. Its log tells registers and spills, or
// where the text is wrong.
func (d *Device) load(text []byte) (module uintptr, log string, err error) {
	const size = 64 << 10
	var pin runtime.Pinner
	defer pin.Unpin()
	info, errs := make([]byte, size), make([]byte, size)
	keys := []int32{jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize, jitLogVerbose}
	values := []uintptr{pinSlice(&pin, info), size, pinSlice(&pin, errs), size, 1}
	err = d.drv.call("cuModuleLoadDataEx", d.drv.moduleLoadDataEx, uintptr(unsafe.Pointer(&module)),
		pinSlice(&pin, text), uintptr(len(keys)), pinSlice(&pin, keys), pinSlice(&pin, values))
	if e, ok := err.(*Error); ok {
		e.Log = strings.TrimSpace(cString(errs))
	}
	return module, strings.TrimSpace(cString(info)), err
}

// Attributes of a function (CUfunction_attribute).
const (
	attrSharedSize         = 1
	attrLocalSize          = 3
	attrRegisters          = 4
	attrMaxDynamicShared   = 8
	attrNonPortableCluster = 14
)

func (d *Device) attribute(fn uintptr, what int) (int, error) {
	var v int32
	err := d.drv.call("cuFuncGetAttribute", d.drv.funcGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(what), fn)
	return int(v), err
}

func (d *Device) setAttribute(fn uintptr, what, value int) error {
	return d.drv.call("cuFuncSetAttribute", d.drv.funcSetAttribute, fn, uintptr(what), uintptr(value))
}
