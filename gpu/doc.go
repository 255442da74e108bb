// Package gpu launches PTX on a real GPU through NVIDIA's driver, from the
// launch files and the calls that package muster runs without one, so that the
// two can be compared. It loads libcuda.so.1 when a device is opened and needs
// no cgo.
//
//	call, err := k.Call(kernel.Grid(8), x, y, len(x))   // Go slices
//	err = gpu.Agree(ctx, call, gpu.Options{})           // the machine and the GPU leave the same bits
//
//	d, err := gpu.Open()                                // the first GPU
//	defer d.Close()
//	r, err := d.RunCall(ctx, call, gpu.Options{})       // what it left is in x and y
//	r, err = d.Run(ctx, file, gpu.Options{})            // of a launch file: in r.Buffers
//
// Prepare and PrepareCall, Launch, Wait and Read are the steps of a run, to launch
// one kernel often: Launch costs the driver's own time plus one call from Go. A
// Buffer is an array on the GPU, and an argument of a call in place of a slice; such
// a call uses the data in place. A Stream is a queue of launches and of copies
// between Buffers and Host memory; an Event is a point in a stream, for another
// stream to wait for and for timing; a Graph is a sequence of launches and copies
// that is launched as one.
//
// # Threads
//
// A driver context is current on a thread. Open locks the calling goroutine to its
// thread; a Device and everything made from it belong to that goroutine until Close.
//
// # Kernels that hang
//
// Only ending its process ends a kernel that hangs. RunApart, RunCallApart, Agree and
// an Apart run launches in a worker, a separate process, and kill it on timeout; the
// caller's own context never sees a fault either. The worker is the caller's
// executable again: its main must call Worker first.
//
// In this process every call that waits takes a context and returns when that ends;
// then the Device is unusable, and its methods return an error. Calls that allocate,
// load a module or free may have to wait for running kernels. Freeing waits ten
// seconds at most; loading and allocating cannot be bounded, so do them before
// launching a kernel that may hang.
//
// # Memory
//
// The driver chooses the addresses of buffers, so pointers differ from those on the
// machine; launch.File.LayoutAt encodes them. Memory that a launch file leaves
// uninitialized is zero here, as on the machine, so that results are comparable. A
// file that states a buffer's base is refused.
//
// Copies from and to Go's memory block the caller. Asynchronous copies go from and to
// Host memory, which is page-locked and outside Go's heap. Close of a Buffer, Host or
// Stream waits for the device's streams, so that no copy uses freed memory. What a
// Graph uses must not be closed before it.
//
// # What is not here
//
// More than one GPU: Open opens the first. The driver encodes tensor maps. The device
// code of `printf` writes to the process's standard output; RunApart returns it.
package gpu
