package gpu

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// closed returns the error for using something after its Close, or its device's.
func closed(what string) error { return errors.New("gpu: the " + what + " is closed") }

// errStuck is the error of a device with an abandoned kernel.
var errStuck = errors.New("gpu: a kernel of this process hangs; only the process's end ends it")

// A Stream is a queue of work on the device. Its work runs in order, concurrently
// with other streams.
type Stream struct {
	dev    *Device
	handle uintptr
}

// NewStream makes a stream. It does not wait for the driver's default stream.
func (d *Device) NewStream() (*Stream, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	s := &Stream{dev: d}
	const nonBlocking = 1 // CU_STREAM_NON_BLOCKING
	if err := d.drv.call("cuStreamCreate", d.drv.streamCreate, uintptr(unsafe.Pointer(&s.handle)), nonBlocking); err != nil {
		return nil, err
	}
	d.streams = append(d.streams, s)
	return s, nil
}

// usable returns an error if the device cannot be used.
func (d *Device) usable() error {
	switch {
	case d.closed:
		return closed("device")
	case d.stuck:
		return errStuck
	}
	return nil
}

func (s *Stream) usable() error {
	if s.handle == 0 {
		return closed("stream")
	}
	return s.dev.usable()
}

// Synchronize returns when all work put on the stream has completed or failed. A
// kernel's fault is an *Error here. If ctx ends first, this process cannot use the
// device any more, since a kernel cannot be ended.
func (s *Stream) Synchronize(ctx context.Context) error {
	if err := s.usable(); err != nil {
		return err
	}
	return s.dev.wait(ctx, s.handle)
}

// wait polls a stream, so that a kernel that hangs does not block the caller.
func (d *Device) wait(ctx context.Context, stream uintptr) error {
	return d.poll(ctx, "cuStreamQuery", d.drv.streamQuery, stream)
}

func (d *Device) poll(ctx context.Context, op string, query, handle uintptr) error {
	const spin = 200 * time.Microsecond
	args, begin := []uintptr{handle}, time.Now()
	for nap := 20 * time.Microsecond; ; {
		switch r, _, _ := purego.SyscallN(query, args...); uint32(r) {
		case success:
			return nil
		case notReady:
		default:
			return d.drv.failure(op, uint32(r))
		}
		if ctx.Err() != nil {
			d.stuck = true
			return ctx.Err()
		}
		if time.Since(begin) > spin {
			time.Sleep(nap)
			nap = min(2*nap, 2*time.Millisecond)
		}
	}
}

// Synchronize waits for all streams of the device.
func (d *Device) Synchronize(ctx context.Context) error {
	if err := d.usable(); err != nil {
		return err
	}
	if err := d.wait(ctx, d.stream); err != nil {
		return err
	}
	for _, s := range d.streams {
		if err := d.wait(ctx, s.handle); err != nil {
			return err
		}
	}
	return nil
}

// closeWait is how long a Close waits for work that uses what it frees.
const closeWait = 10 * time.Second

// settle waits before memory is freed, with a time limit, which the driver's own
// wait lacks.
func (d *Device) settle() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	return d.Synchronize(ctx)
}

// Close waits for the stream and frees it. If a kernel hangs, the stream is left,
// and the error says so.
func (s *Stream) Close() error {
	if s.handle == 0 {
		return nil
	}
	d, handle := s.dev, s.handle
	s.handle = 0
	for i, t := range d.streams {
		if t == s {
			d.streams = append(d.streams[:i:i], d.streams[i+1:]...)
			break
		}
	}
	if err := d.usable(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	return errors.Join(d.wait(ctx, handle), d.drv.call("cuStreamDestroy", d.drv.streamDestroy, handle))
}

// An Event is a point in a stream's work.
type Event struct {
	dev      *Device
	handle   uintptr
	recorded bool
}

// NewEvent makes an event, to be recorded later.
func (d *Device) NewEvent() (*Event, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	e := &Event{dev: d}
	return e, d.drv.call("cuEventCreate", d.drv.eventCreate, uintptr(unsafe.Pointer(&e.handle)), 0)
}

func (e *Event) usable() error {
	switch {
	case e.handle == 0:
		return closed("event")
	case !e.recorded:
		return errors.New("gpu: the event was not recorded")
	}
	return e.dev.usable()
}

// Record puts the event after the work that is on the stream now.
func (s *Stream) Record(e *Event) error {
	if err := s.usable(); err != nil {
		return err
	}
	if e.handle == 0 {
		return closed("event")
	}
	err := s.dev.drv.call("cuEventRecord", s.dev.drv.eventRecord, e.handle, s.handle)
	e.recorded = e.recorded || err == nil
	return err
}

// WaitFor makes work put on the stream from now on wait for the event, which another
// stream recorded. The caller does not wait.
func (s *Stream) WaitFor(e *Event) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := e.usable(); err != nil {
		return err
	}
	return s.dev.drv.call("cuStreamWaitEvent", s.dev.drv.streamWaitEvent, s.handle, e.handle, 0)
}

// Synchronize returns when the event has completed. As with a stream, the device is
// unusable if ctx ends first.
func (e *Event) Synchronize(ctx context.Context) error {
	if err := e.usable(); err != nil {
		return err
	}
	return e.dev.poll(ctx, "cuEventQuery", e.dev.drv.eventQuery, e.handle)
}

// Since returns the time between two completed events, by the GPU's clock, with a
// resolution of half a microsecond.
func (e *Event) Since(begin *Event) (time.Duration, error) {
	if err := e.usable(); err != nil {
		return 0, err
	}
	if err := begin.usable(); err != nil {
		return 0, err
	}
	var ms float32
	err := e.dev.drv.call("cuEventElapsedTime", e.dev.drv.eventElapsedTime, uintptr(unsafe.Pointer(&ms)), begin.handle, e.handle)
	if x, ok := err.(*Error); ok && x.Code == notReady {
		return 0, fmt.Errorf("gpu: an event is not over yet; Synchronize waits for it: %w", err)
	}
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// Close frees the event. Streams that wait for it still do.
func (e *Event) Close() error {
	if e.handle == 0 {
		return nil
	}
	handle := e.handle
	e.handle = 0
	if err := e.dev.usable(); err != nil {
		return err
	}
	return e.dev.drv.call("cuEventDestroy", e.dev.drv.eventDestroy, handle)
}
