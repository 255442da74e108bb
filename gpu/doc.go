// Package gpu launches PTX on a real GPU through NVIDIA's driver, from the
// same launch files that package muster runs without one, so that the two can
// be compared. It loads libcuda.so.1 when a device is opened and needs no cgo.
//
//	d, err := gpu.Open()                         // the first GPU
//	defer d.Close()
//	r, err := d.Run(ctx, file, gpu.Options{})    // r.Buffers: what the launch left
//
// Prepare, Launch, Wait and Read are the steps of Run, for who launches one
// kernel often: Launch costs the driver's own time and a call from Go.
//
// # Threads
//
// A driver context is current on a thread. Open locks the calling goroutine
// to its thread, and a Device and all that comes from it belong to that
// goroutine until Close.
//
// # Kernels that hang
//
// A kernel cannot be ended but with its process. RunApart runs a launch in a
// worker, a process of its own, and kills that when the time is over; the
// caller's own context never sees a fault either. The worker is the caller's
// executable again: its main must call Worker first.
//
// # Memory
//
// Buffers lie where the driver puts them, so pointers differ from those on
// the machine; launch.File.LayoutAt encodes them. Memory that a launch file
// leaves uninitialized is zero here, as on the machine, so that a comparison
// means something. A file that states a buffer's base is refused.
//
// # What is not here
//
// One GPU, one launch at a time, no graphs. A tensor map is encoded by the
// driver. The device code of `printf` writes to the process's standard output;
// RunApart returns it.
package gpu
