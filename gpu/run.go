package gpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"muster/internal/entry"
	"muster/launch"
	"muster/ptx"
)

// Options say how to launch.
type Options struct {
	Module *ptx.Module // replaces the file that the launch names
	Memory int64       // limit on the bytes of all buffers; 0: launch.DefaultMemoryLimit
	// Timeout bounds, in RunApart, the time from the launch to its end; 0: a
	// minute. Only the context bounds the steps before it, mainly the assembler.
	Timeout time.Duration

	started func() // called when the kernel has been launched
}

// A Result is what a launch left behind.
type Result struct {
	Device, Kernel string
	Time           time.Duration // of the launch, by the device's events
	Registers      int           // per thread
	Shared, Local  int           // static bytes per CTA, and per thread
	Log            string        // output of the assembler
	Output         []byte        // what the kernel printed; set by RunApart only
	Buffers        []Array       // in the file's order
}

// An Array is a buffer as the launch left it.
type Array struct {
	Name  string
	Type  launch.Type
	Shape []int64
	Base  uint64 // address on the device
	Data  []byte
}

// Buffer finds a buffer by name; nil if there is none.
func (r *Result) Buffer(name string) *Array {
	for i := range r.Buffers {
		if r.Buffers[i].Name == name {
			return &r.Buffers[i]
		}
	}
	return nil
}

// Run launches a file's kernel on fresh buffers, waits for its end and reads the
// buffers back. If ctx ends first, Run returns its error and this process cannot
// use the device any more: see RunApart.
func (d *Device) Run(ctx context.Context, f *launch.File, o Options) (*Result, error) {
	p, err := d.Prepare(f, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.run(ctx, o)
}

func (p *Prepared) run(ctx context.Context, o Options) (*Result, error) {
	took, err := p.timed(ctx, o.started)
	if err != nil {
		return nil, err
	}
	r, err := p.Read()
	if r != nil {
		r.Time = took
	}
	return r, err
}

// A Prepared is a launch with its module loaded, its buffers filled and its
// arguments in the driver's form.
type Prepared struct {
	dev    *Device
	layout *launch.Layout
	owned  []memory
	module uintptr
	fn     uintptr
	about  Result

	given func(buffer string) (uint64, bool) // the address of a buffer that is already on the device

	op     string
	call   uintptr   // cuLaunchKernel or …Ex
	args   []uintptr // of call
	stream *uintptr  // the element of args that holds the stream
	// What args points to.
	params   []byte
	pointers []uintptr
	config   *launchConfig
	pin      *runtime.Pinner
}

// Prepare loads the kernel, fills its buffers and encodes its arguments.
func (d *Device) Prepare(f *launch.File, o Options) (*Prepared, error) {
	return d.prepare(f, o, func(string) (uint64, bool) { return 0, false })
}

func (d *Device) prepare(f *launch.File, o Options, given func(string) (uint64, bool)) (*Prepared, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	p := newPrepared(d)
	p.given = given
	if err := p.prepare(f, o); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// newPrepared returns a Prepared that unpins its memory when it is collected, also
// without Close.
func newPrepared(d *Device) *Prepared {
	p := &Prepared{dev: d, pin: new(runtime.Pinner)}
	runtime.AddCleanup(p, (*runtime.Pinner).Unpin, p.pin)
	return p
}

func (p *Prepared) prepare(f *launch.File, o Options) error {
	if n := len(f.Launches); n != 1 || f.Launches[0].Builtin != launch.NoBuiltin {
		return fmt.Errorf("%s has %d launches; on a GPU one kernel is launched", f.Name, n)
	}
	l := &f.Launches[0]
	src, err := readSource(l, o.Module)
	if err != nil {
		return err
	}
	params, err := entry.Params(src.kernel)
	if err != nil {
		return err
	}
	if p.layout, err = f.LayoutAt(o.Memory, p.place); err != nil {
		return err
	}
	block, err := p.layout.EncodeParams(l, params)
	if err != nil {
		return err
	}
	if err := p.dev.encodeMaps(block.Maps, block.Bytes); err != nil {
		return err
	}
	if err := p.fill(); err != nil {
		return err
	}
	if err := p.load(src, l); err != nil {
		return err
	}
	if err := p.set(f.Variables, o.Memory); err != nil {
		return err
	}
	p.arguments(l, block)
	return p.dev.arrived()
}

// place returns a buffer's address: new memory, or the memory that it already has.
func (p *Prepared) place(name string, size, align uint64) (uint64, error) {
	if at, ok := p.given(name); ok {
		return at, nil
	}
	m, err := p.dev.alloc(size, align)
	if err == nil {
		p.owned = append(p.owned, m)
	}
	return m.at, err
}

// fill writes the buffers' initial contents.
func (p *Prepared) fill() error {
	for i := range p.layout.Buffers {
		b := &p.layout.Buffers[i]
		if _, ok := p.given(b.Name); ok {
			continue
		}
		if err := p.dev.encodeMaps(b.Maps, b.Data); err != nil {
			return err
		}
		if err := p.dev.fill(b.Base, b.Size, b.Data); err != nil {
			return err
		}
	}
	return nil
}

// set writes the contents of the module's variables.
func (p *Prepared) set(variables []launch.Variable, limit int64) error {
	d := p.dev
	for i := range variables {
		v := &variables[i]
		if v.Array.Fixed {
			return fmt.Errorf("variable %q states its base, %#x; here the driver chooses addresses", v.Array.Name, v.Array.Base)
		}
		var at, size uint64
		name := append([]byte(v.Array.Name), 0)
		if err := d.drv.call("cuModuleGetGlobal", d.drv.moduleGetGlobal, uintptr(unsafe.Pointer(&at)), uintptr(unsafe.Pointer(&size)), p.module, uintptr(unsafe.Pointer(&name[0]))); err != nil {
			return fmt.Errorf("variable %q: %w", v.Array.Name, err)
		}
		block, err := p.layout.Contents(v, size, limit)
		if err != nil {
			return err
		}
		if len(block.Bytes) == 0 {
			continue
		}
		if err := d.encodeMaps(block.Maps, block.Bytes); err != nil {
			return err
		}
		if err := d.fill(at, uint64(len(block.Bytes)), block.Bytes); err != nil {
			return err
		}
	}
	return nil
}

func (p *Prepared) load(src *source, l *launch.Launch) error {
	d := p.dev
	var err error
	if p.module, p.about.Log, err = d.load(src.text); err != nil {
		return err
	}
	name := append([]byte(src.kernel.Name), 0)
	if err := d.drv.call("cuModuleGetFunction", d.drv.moduleGetFunction, uintptr(unsafe.Pointer(&p.fn)), p.module, uintptr(unsafe.Pointer(&name[0]))); err != nil {
		return err
	}
	p.about.Device, p.about.Kernel = d.String(), src.kernel.Name
	for what, to := range map[int]*int{attrRegisters: &p.about.Registers, attrSharedSize: &p.about.Shared, attrLocalSize: &p.about.Local} {
		if *to, err = d.attribute(p.fn, what); err != nil {
			return err
		}
	}
	if l.Shared > 0 {
		if err := d.setAttribute(p.fn, attrMaxDynamicShared, int(l.Shared)); err != nil {
			return err
		}
	}
	const portable = 8
	if l.Cluster[0]*l.Cluster[1]*l.Cluster[2] > portable || l.Preferred[0]*l.Preferred[1]*l.Preferred[2] > portable {
		return d.setAttribute(p.fn, attrNonPortableCluster, 1)
	}
	return nil
}

// arguments encodes the driver call's arguments once, so that a launch does not
// allocate.
func (p *Prepared) arguments(l *launch.Launch, b *launch.ParamBlock) {
	p.params = append(b.Bytes, 0) // so that the last, empty parameter has an address
	base := pinSlice(p.pin, p.params)
	for _, off := range b.Offsets {
		p.pointers = append(p.pointers, base+uintptr(off))
	}
	pointers := pinSlice(p.pin, p.pointers)
	dims := [7]uintptr{uintptr(l.Grid[0]), uintptr(l.Grid[1]), uintptr(l.Grid[2]),
		uintptr(l.Block[0]), uintptr(l.Block[1]), uintptr(l.Block[2]), uintptr(l.Shared)}
	attributes := launchAttributes(l)
	if len(attributes) == 0 {
		p.op, p.call = "cuLaunchKernel", p.dev.drv.launchKernel
		p.args = append(append([]uintptr{p.fn}, dims[:]...), p.dev.stream, pointers, 0)
		p.stream = &p.args[1+len(dims)]
		return
	}
	p.op, p.call = "cuLaunchKernelEx", p.dev.drv.launchKernelEx
	p.config = &launchConfig{grid: l.Grid, block: l.Block, shared: l.Shared, stream: p.dev.stream,
		attributes: &attributes[0], numAttributes: uint32(len(attributes))}
	p.pin.Pin(p.config)
	p.stream = &p.config.stream
	p.pin.Pin(p.config.attributes)
	p.args = []uintptr{uintptr(unsafe.Pointer(p.config)), p.fn, pointers, 0}
}

// Launch puts the launch on the device's stream and does not wait.
func (p *Prepared) Launch() error {
	if err := p.usable(); err != nil {
		return err
	}
	err := p.dev.drv.call(p.op, p.call, p.args...)
	runtime.KeepAlive(p)
	return err
}

func (p *Prepared) usable() error {
	if p.stream == nil {
		return closed("launch")
	}
	return p.dev.usable()
}

// LaunchOn puts the launch on a stream and does not wait.
func (p *Prepared) LaunchOn(s *Stream) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := p.usable(); err != nil {
		return err
	}
	if s.dev != p.dev {
		return errors.New("gpu: the launch was prepared on another device than the stream's")
	}
	own := *p.stream
	*p.stream = s.handle
	err := p.Launch()
	*p.stream = own
	return err
}

// Wait returns when all launches by Launch have completed or failed, or ctx ends.
func (p *Prepared) Wait(ctx context.Context) error {
	if err := p.usable(); err != nil {
		return err
	}
	return p.dev.wait(ctx, p.dev.stream)
}

// timed launches between two events.
func (p *Prepared) timed(ctx context.Context, started func()) (time.Duration, error) {
	d := p.dev
	var events [2]uintptr
	for i := range events {
		if err := d.drv.call("cuEventCreate", d.drv.eventCreate, uintptr(unsafe.Pointer(&events[i])), 0); err != nil {
			return 0, err
		}
	}
	defer func() {
		for _, e := range events {
			if !d.stuck {
				d.drv.call("cuEventDestroy", d.drv.eventDestroy, e)
			}
		}
	}()
	record := func(i int) error { return d.drv.call("cuEventRecord", d.drv.eventRecord, events[i], d.stream) }
	if err := record(0); err != nil {
		return 0, err
	}
	if err := p.Launch(); err != nil {
		return 0, err
	}
	if err := record(1); err != nil {
		return 0, err
	}
	if started != nil {
		started()
	}
	if err := p.Wait(ctx); err != nil {
		return 0, err
	}
	var ms float32
	err := d.drv.call("cuEventElapsedTime", d.drv.eventElapsedTime, uintptr(unsafe.Pointer(&ms)), events[0], events[1])
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// Read copies the buffers back. Call it after Wait.
func (p *Prepared) Read() (*Result, error) {
	d := p.dev
	if p.stream == nil {
		return nil, closed("launch")
	}
	if err := d.settle(); err != nil {
		return nil, err
	}
	// The driver flushes the kernel's printf at a synchronization of the context.
	if err := d.drv.call("cuCtxSynchronize", d.drv.ctxSynchronize); err != nil {
		return nil, err
	}
	r := p.about
	for i := range p.layout.Buffers {
		b := &p.layout.Buffers[i]
		a := Array{Name: b.Name, Type: b.Type, Shape: b.Shape, Base: b.Base, Data: make([]byte, b.Size)}
		if err := d.read(b.Base, a.Data); err != nil {
			return nil, err
		}
		r.Buffers = append(r.Buffers, a)
	}
	return &r, nil
}

// Close frees what Prepare allocated, once no launch uses it.
func (p *Prepared) Close() {
	if p.stream != nil {
		p.args, p.stream = nil, nil
	}
	p.pin.Unpin() // launches have copies
	if p.dev.settle() != nil && p.dev.stuck || p.dev.closed {
		return
	}
	for _, m := range p.owned {
		p.dev.free(m)
	}
	if p.module != 0 {
		p.dev.drv.call("cuModuleUnload", p.dev.drv.moduleUnload, p.module)
	}
	p.owned, p.module = nil, 0
}
