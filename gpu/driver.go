package gpu

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// An Error is a result of the driver other than success.
type Error struct {
	Op   string // the driver's function
	Code int    // CUresult
	Name string // CUDA_ERROR_…
	Text string
	Log  string // output of the PTX assembler, for a module that does not load
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %d %s: %s", e.Op, e.Code, e.Name, e.Text)
	if e.Log != "" {
		s += "\n" + e.Log
	}
	return s
}

// Fault reports whether the kernel failed; other errors mean that the driver
// refused a call. Any later call may return a kernel's failure, so the code
// decides.
func (e *Error) Fault() bool {
	switch e.Code {
	case 700, 702, 710, 714, 715, 716, 717, 718, 719:
		// ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, ASSERT, HARDWARE_STACK_ERROR,
		// ILLEGAL_INSTRUCTION, MISALIGNED_ADDRESS, INVALID_ADDRESS_SPACE,
		// INVALID_PC, LAUNCH_FAILED
		return true
	}
	return false
}

// A NoDevice is the error for a missing GPU or driver.
type NoDevice struct{ Reason string }

func (e *NoDevice) Error() string { return "no GPU: " + e.Reason }

// Results of the driver that are not failures here.
const (
	success  = 0
	notReady = 600
)

// A driver holds the addresses of libcuda's functions.
type driver struct {
	init, driverGetVersion, deviceGet, deviceGetName, deviceGetAttribute      uintptr
	getErrorName, getErrorString                                              uintptr
	primaryCtxRetain, primaryCtxRelease, ctxSetCurrent, ctxSynchronize        uintptr
	moduleLoadDataEx, moduleUnload, moduleGetFunction, moduleGetGlobal        uintptr
	funcGetAttribute, funcSetAttribute                                        uintptr
	memAlloc, memFree, memcpyHtoD, memcpyDtoH, memsetD8                       uintptr
	memHostAlloc, memFreeHost, memcpyHtoDAsync, memcpyDtoHAsync               uintptr
	streamCreate, streamDestroy, streamQuery, streamSynchronize               uintptr
	streamWaitEvent, streamBeginCapture, streamEndCapture                     uintptr
	eventCreate, eventDestroy, eventRecord, eventQuery, eventElapsedTime      uintptr
	graphInstantiate, graphGetNodes, graphLaunch, graphExecDestroy            uintptr
	graphDestroy                                                              uintptr
	launchKernel, launchKernelEx, tensorMapEncodeTiled, tensorMapEncodeIm2col uintptr
}

// symbols maps the names that load looks up. The suffixes are those of the
// current version of a function in cuda.h.
func (d *driver) symbols() map[string]*uintptr {
	return map[string]*uintptr{
		"cuInit": &d.init, "cuDriverGetVersion": &d.driverGetVersion,
		"cuDeviceGet": &d.deviceGet, "cuDeviceGetName": &d.deviceGetName, "cuDeviceGetAttribute": &d.deviceGetAttribute,
		"cuGetErrorName": &d.getErrorName, "cuGetErrorString": &d.getErrorString,
		"cuDevicePrimaryCtxRetain": &d.primaryCtxRetain, "cuDevicePrimaryCtxRelease_v2": &d.primaryCtxRelease,
		"cuCtxSetCurrent": &d.ctxSetCurrent, "cuCtxSynchronize": &d.ctxSynchronize,
		"cuModuleLoadDataEx": &d.moduleLoadDataEx, "cuModuleUnload": &d.moduleUnload, "cuModuleGetFunction": &d.moduleGetFunction,
		"cuModuleGetGlobal_v2": &d.moduleGetGlobal,
		"cuFuncGetAttribute":   &d.funcGetAttribute, "cuFuncSetAttribute": &d.funcSetAttribute,
		"cuMemAlloc_v2": &d.memAlloc, "cuMemFree_v2": &d.memFree, "cuMemsetD8_v2": &d.memsetD8,
		"cuMemcpyHtoD_v2": &d.memcpyHtoD, "cuMemcpyDtoH_v2": &d.memcpyDtoH,
		"cuMemHostAlloc": &d.memHostAlloc, "cuMemFreeHost": &d.memFreeHost,
		"cuMemcpyHtoDAsync_v2": &d.memcpyHtoDAsync, "cuMemcpyDtoHAsync_v2": &d.memcpyDtoHAsync,
		"cuStreamSynchronize": &d.streamSynchronize, "cuStreamWaitEvent": &d.streamWaitEvent,
		"cuStreamBeginCapture_v2": &d.streamBeginCapture, "cuStreamEndCapture": &d.streamEndCapture,
		"cuEventQuery": &d.eventQuery, "cuGraphInstantiateWithFlags": &d.graphInstantiate, "cuGraphGetNodes": &d.graphGetNodes,
		"cuGraphLaunch": &d.graphLaunch, "cuGraphExecDestroy": &d.graphExecDestroy, "cuGraphDestroy": &d.graphDestroy,
		"cuStreamCreate": &d.streamCreate, "cuStreamDestroy_v2": &d.streamDestroy, "cuStreamQuery": &d.streamQuery,
		"cuEventCreate": &d.eventCreate, "cuEventDestroy_v2": &d.eventDestroy, "cuEventRecord": &d.eventRecord,
		"cuEventElapsedTime": &d.eventElapsedTime,
		"cuLaunchKernel":     &d.launchKernel, "cuLaunchKernelEx": &d.launchKernelEx,
		"cuTensorMapEncodeTiled": &d.tensorMapEncodeTiled, "cuTensorMapEncodeIm2col": &d.tensorMapEncodeIm2col,
	}
}

// load finds the driver, once per process.
var load = sync.OnceValues(func() (*driver, error) {
	// dlerror, which says why dlopen failed, speaks of calls of its own thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	lib, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, &NoDevice{err.Error()}
	}
	d := &driver{}
	for name, to := range d.symbols() {
		if *to, err = purego.Dlsym(lib, name); err != nil {
			return nil, &NoDevice{"the driver is older than CUDA 12.0: " + err.Error()}
		}
	}
	if err := d.call("cuInit", d.init, 0); err != nil {
		return nil, &NoDevice{err.Error()}
	}
	return d, nil
})

// call calls a function of the driver. Addresses of Go memory among the
// arguments are kept alive; what such memory points to must be pinned.
//
//go:uintptrescapes
func (d *driver) call(op string, fn uintptr, args ...uintptr) error {
	r, _, _ := purego.SyscallN(fn, args...)
	if r := uint32(r); r != success {
		return d.failure(op, r)
	}
	return nil
}

func (d *driver) failure(op string, code uint32) *Error {
	return &Error{Op: op, Code: int(code), Name: d.text(d.getErrorName, code), Text: d.text(d.getErrorString, code)}
}

// text returns one of the driver's strings about an error.
func (d *driver) text(fn uintptr, code uint32) string {
	var s *byte
	if r, _, _ := purego.SyscallN(fn, uintptr(code), uintptr(unsafe.Pointer(&s))); uint32(r) != success || s == nil {
		return "unknown"
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}

// pinSlice pins memory that the driver sees through other memory and gives its
// address; 0 for an empty slice.
func pinSlice[T any](p *runtime.Pinner, s []T) uintptr {
	if len(s) == 0 {
		return 0
	}
	p.Pin(&s[0])
	return uintptr(unsafe.Pointer(&s[0]))
}
