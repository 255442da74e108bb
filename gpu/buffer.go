package gpu

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"muster/launch"
)

// Number is the set of element types. Halves are stored as bits in uint16, 8-bit
// floating point in uint8.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// elementOf is T's type in launch files.
func elementOf[T Number]() launch.Type {
	var zero T
	size := int(unsafe.Sizeof(zero))
	half := T(1) / 2 // 0 in integers
	switch {
	case half != 0 && size == 4:
		return launch.F32
	case half != 0:
		return launch.F64
	case zero-1 < 0:
		return map[int]launch.Type{1: launch.S8, 2: launch.S16, 4: launch.S32, 8: launch.S64}[size]
	}
	return map[int]launch.Type{1: launch.U8, 2: launch.U16, 4: launch.U32, 8: launch.U64}[size]
}

// A Buffer is an array in the GPU's memory. It is an argument of a kernel.Call in
// place of a slice, in MapOf too; PrepareCall prepares such a call.
type Buffer[T Number] struct {
	dev  *Device
	mem  memory
	at   uint64 // of the first element
	n    int
	part bool // of another buffer, which owns the memory: a Part
}

// Alloc makes a buffer of n zeros.
func Alloc[T Number](d *Device, n int) (*Buffer[T], error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	size := elementOf[T]().Size()
	if n < 1 || n > math.MaxInt64/size {
		return nil, fmt.Errorf("gpu: a buffer of %d elements", n)
	}
	m, err := d.alloc(uint64(n*size), driverAlign)
	if err != nil {
		return nil, err
	}
	b := &Buffer[T]{dev: d, mem: m, at: m.at, n: n}
	if err := d.fill(b.at, b.bytes(), nil); err != nil {
		d.free(m)
		return nil, err
	}
	return b, d.arrived()
}

// Upload makes a buffer that holds a copy of a slice.
func Upload[T Number](d *Device, s []T) (*Buffer[T], error) {
	b, err := Alloc[T](d, len(s))
	if err != nil {
		return nil, err
	}
	if err := b.put(s); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// arrived waits for a copy from memory that is not page-locked: the copy may
// still be in flight when the driver's call returns. The default stream has no
// other work, so the wait is short.
func (d *Device) arrived() error {
	return d.drv.call("cuStreamSynchronize", d.drv.streamSynchronize, 0)
}

func (b *Buffer[T]) bytes() uint64 { return uint64(b.n) * uint64(elementOf[T]().Size()) }

func (b *Buffer[T]) usable() error {
	if b.at == 0 {
		return closed("buffer")
	}
	return b.dev.usable()
}

// Device makes the buffer a kernel.Memory: it returns address, elements and type.
func (b *Buffer[T]) Device() (address uint64, elements int, elem launch.Type) {
	if b.dev.usable() != nil {
		return 0, 0, 0
	}
	return b.at, b.n, elementOf[T]()
}

// Len returns the number of elements.
func (b *Buffer[T]) Len() int { return b.n }

// Part returns the buffer's elements i to j-1, as b[i:j] does for a slice. It is
// valid until the buffer's Close.
func (b *Buffer[T]) Part(i, j int) (*Buffer[T], error) {
	if err := b.usable(); err != nil {
		return nil, err
	}
	if i < 0 || j <= i || j > b.n {
		return nil, fmt.Errorf("gpu: elements %d to %d of a buffer of %d", i, j, b.n)
	}
	return &Buffer[T]{dev: b.dev, mem: b.mem, at: b.at + uint64(i*elementOf[T]().Size()), n: j - i, part: true}, nil
}

// Write copies a slice of the buffer's length to the GPU, after all work put on
// the device's streams.
func (b *Buffer[T]) Write(ctx context.Context, from []T) error {
	if err := b.ready(ctx, len(from)); err != nil {
		return err
	}
	return b.put(from)
}

func (b *Buffer[T]) put(from []T) error {
	d := b.dev
	if err := d.drv.call("cuMemcpyHtoD", d.drv.memcpyHtoD, uintptr(b.at), uintptr(unsafe.Pointer(&from[0])), uintptr(b.bytes())); err != nil {
		return err
	}
	return d.arrived()
}

// Read copies the buffer to a slice of its length, after all work put on the
// device's streams.
func (b *Buffer[T]) Read(ctx context.Context, to []T) error {
	if err := b.ready(ctx, len(to)); err != nil {
		return err
	}
	d := b.dev
	return d.drv.call("cuMemcpyDtoH", d.drv.memcpyDtoH, uintptr(unsafe.Pointer(&to[0])), uintptr(b.at), uintptr(b.bytes()))
}

// Download is Read into a new slice.
func (b *Buffer[T]) Download(ctx context.Context) ([]T, error) {
	to := make([]T, b.n)
	return to, b.Read(ctx, to)
}

func (b *Buffer[T]) ready(ctx context.Context, n int) error {
	if err := b.usable(); err != nil {
		return err
	}
	if n != b.n {
		return fmt.Errorf("gpu: a slice of %d elements for a buffer of %d", n, b.n)
	}
	return b.dev.Synchronize(ctx)
}

// Close waits for the device's streams and frees the memory. A graph that uses
// the buffer must not be launched afterwards.
func (b *Buffer[T]) Close() error {
	if b.at == 0 || b.part {
		b.at = 0
		return nil
	}
	b.at = 0
	if err := b.dev.settle(); err != nil {
		return err
	}
	return b.dev.drv.call("cuMemFree", b.dev.drv.memFree, uintptr(b.mem.raw))
}

// A Host is page-locked host memory, for asynchronous copies. Its slice is
// outside Go's heap and lives until Close, so that the garbage collector neither
// moves nor frees it during a copy.
type Host[T Number] struct {
	dev   *Device
	slice []T
}

// AllocHost makes page-locked memory for n elements, zeros.
func AllocHost[T Number](d *Device, n int) (*Host[T], error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	size := elementOf[T]().Size()
	if n < 1 || n > math.MaxInt64/size {
		return nil, fmt.Errorf("gpu: host memory of %d elements", n)
	}
	var p unsafe.Pointer
	if err := d.drv.call("cuMemHostAlloc", d.drv.memHostAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n*size), 0); err != nil {
		return nil, err
	}
	h := &Host[T]{dev: d, slice: unsafe.Slice((*T)(p), n)}
	clear(h.slice)
	return h, nil
}

// Slice is the memory itself; nil after Close. Do not touch it while a copy is in
// flight.
func (h *Host[T]) Slice() []T { return h.slice }

// Close waits for the device's streams and frees the memory. Afterwards slices of
// it must not be used, nor graphs launched that copy from or to it.
func (h *Host[T]) Close() error {
	if h.slice == nil {
		return nil
	}
	p := unsafe.Pointer(&h.slice[0])
	h.slice = nil
	if err := h.dev.settle(); err != nil {
		return err
	}
	return h.dev.drv.call("cuMemFreeHost", h.dev.drv.memFreeHost, uintptr(p))
}

// CopyFrom puts a copy from the host on a stream.
func (b *Buffer[T]) CopyFrom(s *Stream, h *Host[T]) error {
	if err := b.copies(s, h); err != nil {
		return err
	}
	return s.dev.drv.call("cuMemcpyHtoDAsync", s.dev.drv.memcpyHtoDAsync, uintptr(b.at), uintptr(unsafe.Pointer(&h.slice[0])), uintptr(b.bytes()), s.handle)
}

// CopyTo puts a copy to the host on a stream. The host's slice holds the data
// once the stream has been synchronized.
func (b *Buffer[T]) CopyTo(s *Stream, h *Host[T]) error {
	if err := b.copies(s, h); err != nil {
		return err
	}
	return s.dev.drv.call("cuMemcpyDtoHAsync", s.dev.drv.memcpyDtoHAsync, uintptr(unsafe.Pointer(&h.slice[0])), uintptr(b.at), uintptr(b.bytes()), s.handle)
}

func (b *Buffer[T]) copies(s *Stream, h *Host[T]) error {
	if err := b.usable(); err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	switch {
	case h.slice == nil:
		return closed("host memory")
	case len(h.slice) != b.n:
		return fmt.Errorf("gpu: host memory of %d elements for a buffer of %d", len(h.slice), b.n)
	case b.dev != s.dev || b.dev != h.dev:
		return fmt.Errorf("gpu: a copy of several devices' memory and streams")
	}
	return nil
}
