package gpu

import (
	"fmt"
	"runtime"
	"unsafe"
)

// A Device is a GPU with its context current on the calling thread.
type Device struct {
	Name   string // "NVIDIA H200"
	SM     int    // 90 for sm_90
	Driver int    // the newest CUDA version that the driver supports: 13000 for 13.0

	drv     *driver
	ordinal int32
	stream  uintptr
	streams []*Stream
	stuck   bool // a kernel was abandoned: calls that wait would hang
	closed  bool
}

// Attributes of a device (CUdevice_attribute).
const (
	computeCapabilityMajor = 75
	computeCapabilityMinor = 76
)

// Open opens the first GPU that CUDA_VISIBLE_DEVICES allows and locks the
// calling goroutine to its thread until Close. Without a driver or a GPU the
// error is a *NoDevice.
func Open() (*Device, error) {
	drv, err := load()
	if err != nil {
		return nil, err
	}
	d := &Device{drv: drv}
	if err := drv.call("cuDeviceGet", drv.deviceGet, uintptr(unsafe.Pointer(&d.ordinal)), 0); err != nil {
		return nil, &NoDevice{err.Error()}
	}
	runtime.LockOSThread()
	if err := d.open(); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return d, nil
}

func (d *Device) open() error {
	if err := d.describe(); err != nil {
		return err
	}
	var ctx uintptr
	if err := d.drv.call("cuDevicePrimaryCtxRetain", d.drv.primaryCtxRetain, uintptr(unsafe.Pointer(&ctx)), uintptr(d.ordinal)); err != nil {
		return err
	}
	if err := d.drv.call("cuCtxSetCurrent", d.drv.ctxSetCurrent, ctx); err != nil {
		return err
	}
	const nonBlocking = 1 // CU_STREAM_NON_BLOCKING
	return d.drv.call("cuStreamCreate", d.drv.streamCreate, uintptr(unsafe.Pointer(&d.stream)), nonBlocking)
}

func (d *Device) describe() error {
	var name [256]byte
	var version, major, minor int32
	dev := uintptr(d.ordinal)
	if err := d.drv.call("cuDeviceGetName", d.drv.deviceGetName, uintptr(unsafe.Pointer(&name)), uintptr(len(name)), dev); err != nil {
		return err
	}
	if err := d.drv.call("cuDriverGetVersion", d.drv.driverGetVersion, uintptr(unsafe.Pointer(&version))); err != nil {
		return err
	}
	if err := d.drv.call("cuDeviceGetAttribute", d.drv.deviceGetAttribute, uintptr(unsafe.Pointer(&major)), computeCapabilityMajor, dev); err != nil {
		return err
	}
	if err := d.drv.call("cuDeviceGetAttribute", d.drv.deviceGetAttribute, uintptr(unsafe.Pointer(&minor)), computeCapabilityMinor, dev); err != nil {
		return err
	}
	d.Name, d.Driver, d.SM = cString(name[:]), int(version), int(10*major+minor)
	return nil
}

func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// String is one line: "NVIDIA H200, sm_90, CUDA 13.0".
func (d *Device) String() string {
	return fmt.Sprintf("%s, sm_%d, CUDA %d.%d", d.Name, d.SM, d.Driver/1000, d.Driver%1000/10)
}

// Close releases the context, and with it everything made from the device. An
// abandoned kernel is left behind: it ends with the process.
func (d *Device) Close() error {
	if d.closed {
		return nil
	}
	defer runtime.UnlockOSThread()
	defer func() { d.closed = true }()
	if d.stuck {
		return nil
	}
	if err := d.settle(); d.stuck {
		return err
	}
	d.drv.call("cuStreamDestroy", d.drv.streamDestroy, d.stream)
	return d.drv.call("cuDevicePrimaryCtxRelease", d.drv.primaryCtxRelease, uintptr(d.ordinal))
}

// A memory is an allocation on the device; at is aligned inside it.
type memory struct{ raw, at uint64 }

// driverAlign is the alignment that cuMemAlloc guarantees.
const driverAlign = 256

func (d *Device) alloc(size, align uint64) (memory, error) {
	var m memory
	n := max(size, 1)
	if align > driverAlign {
		n += align
	}
	if err := d.drv.call("cuMemAlloc", d.drv.memAlloc, uintptr(unsafe.Pointer(&m.raw)), uintptr(n)); err != nil {
		return m, err
	}
	m.at = m.raw
	if align > driverAlign {
		m.at = (m.raw + align - 1) &^ (align - 1)
	}
	return m, nil
}

func (d *Device) free(m memory) { d.drv.call("cuMemFree", d.drv.memFree, uintptr(m.raw)) }

// fill writes data to the device; nil writes zeros.
func (d *Device) fill(at, size uint64, data []byte) error {
	switch {
	case size == 0:
		return nil
	case data == nil:
		return d.drv.call("cuMemsetD8", d.drv.memsetD8, uintptr(at), 0, uintptr(size))
	}
	return d.drv.call("cuMemcpyHtoD", d.drv.memcpyHtoD, uintptr(at), uintptr(unsafe.Pointer(&data[0])), uintptr(size))
}

func (d *Device) read(at uint64, to []byte) error {
	if len(to) == 0 {
		return nil
	}
	return d.drv.call("cuMemcpyDtoH", d.drv.memcpyDtoH, uintptr(unsafe.Pointer(&to[0])), uintptr(at), uintptr(len(to)))
}
