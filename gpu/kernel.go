package gpu

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"muster/internal/entry"
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
		if len(l.Link) > 0 {
			if mod, err = link(l, mod); err != nil {
				return nil, err
			}
			s.text = []byte(mod.String())
		}
	}
	s.text = append(s.text, 0)
	var err error
	s.kernel, err = entry.Find(l, mod)
	return s, err
}

// link links a module with the others of a launch.
func link(l *launch.Launch, first *ptx.Module) (*ptx.Module, error) {
	mods := []*ptx.Module{first}
	for _, name := range l.Link {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, &launch.Error{Pos: l.Pos, Msg: err.Error(), Err: err}
		}
		mod, err := ptx.Parse(name, text)
		if err != nil {
			return nil, err
		}
		mods = append(mods, mod)
	}
	return ptx.Link(mods...)
}

// Options of the driver's assembler (CUjit_option).
const (
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
	jitLogVerbose   = 12
)

// load assembles PTX with the driver. The log gives registers and spills, or the
// place of an error in the text.
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
