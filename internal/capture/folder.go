package capture

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"muster/internal/entry"
	"muster/internal/skeleton"
	"muster/launch"
	"muster/ptx"
)

// LaunchFile is the name of the launch file in each folder.
const LaunchFile = "launch.yaml"

// A converter turns the record of a program into folders.
type converter struct {
	*Options
	sources  *sources
	launches int
	kept     int64 // bytes of contents
	left     int64 // bytes of which the shape alone is kept
	lines    []string
	without  []lacking
	written  map[*module][]string // where the PTX of a module was written
}

func (o *Options) convert(s *sources, record string) error {
	c := &converter{Options: o, sources: s, written: map[*module][]string{}}
	dirs, err := os.ReadDir(record)
	if err != nil {
		return err
	}
	var list []*process
	for _, d := range dirs {
		o.tell(filepath.Join(record, d.Name(), "why"))
		p, err := readRecord(filepath.Join(record, d.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // of a process that could write nothing
			continue
		case err != nil:
			return err
		}
		if len(p.list) > 0 || len(p.without) > 0 || p.graphs > 0 {
			list = append(list, p)
		}
	}
	several := 0
	for _, p := range list {
		several += min(len(p.list), 1)
	}
	for _, p := range list {
		dir := o.Dir
		if several > 1 {
			dir = filepath.Join(dir, p.name())
		}
		if err := c.process(p, dir); err != nil {
			return err
		}
	}
	c.summary()
	return os.RemoveAll(record)
}

// tell says why a process gave up, if it could not say so itself.
func (o *Options) tell(why string) {
	if line, err := os.ReadFile(why); err == nil {
		_, _ = o.Log.Write(line)
	}
}

// name is that of a process's folder, where there are several.
func (p *process) name() string {
	if p.about.Rank != "" {
		return "rank-" + p.about.Rank
	}
	return "process-" + filepath.Base(p.dir)
}

func (c *converter) process(p *process, dir string) error {
	for _, e := range p.without {
		if e.Module != nil {
			e.Why = c.sources.why(filepath.Join(p.dir, p.images[*e.Module].File), e.Without)
		}
		c.lack(e.Without, e.Why)
	}
	if p.graphs > 0 && !slices.ContainsFunc(p.list, func(l *recorded) bool { return l.Nodes != nil }) {
		c.lines = append(c.lines, fmt.Sprintf("%d launches into CUDA graphs are not captured", p.graphs))
	}
	var places []string // device and context of each launch
	for _, l := range p.list {
		places = append(places, fmt.Sprintf("device-%d-context-%s", l.Device, l.Context))
	}
	distinct := slices.Clone(places)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	for i, l := range p.list {
		at := dir
		if len(distinct) > 1 {
			at = filepath.Join(dir, fmt.Sprintf("device-%d-context-%d", l.Device, slices.Index(distinct, places[i])))
		}
		if err := c.launch(p, l, filepath.Join(at, fmt.Sprintf("%03d-%s", *l.Launch, short(l.Kernel)))); err != nil {
			return err
		}
	}
	return nil
}

// there is the compute capability of the process's card, as 90.
func (e *event) there() int { return 10*e.Capability[0] + e.Capability[1] }

// A lacking is kernels that cannot be captured for one reason.
type lacking struct {
	why     string
	kernels []string
}

// lack notes why a kernel cannot be captured.
func (c *converter) lack(kernel, why string) {
	i := slices.IndexFunc(c.without, func(l lacking) bool { return l.why == why })
	if i < 0 {
		i = len(c.without)
		c.without = append(c.without, lacking{why: why})
	}
	if l := &c.without[i]; !slices.Contains(l.kernels, short(kernel)) {
		l.kernels = append(l.kernels, short(kernel))
	}
}

// line says it.
func (l *lacking) line() string {
	const most = 3
	names, verb := strings.Join(l.kernels[:min(len(l.kernels), most)], ", "), "is"
	if n := len(l.kernels); n > most {
		names = fmt.Sprintf("%s and %d more", names, n-most)
	}
	if len(l.kernels) > 1 {
		verb = "are"
	}
	return fmt.Sprintf("%s %s not captured: %s", names, verb, l.why)
}

// short is a kernel's name without what C++ adds to it.
func short(name string) string {
	rest, mangled := strings.CutPrefix(name, "_Z")
	if !mangled {
		return cut(name)
	}
	rest, nested := strings.CutPrefix(rest, "N")
	last := ""
	for rest != "" && '0' <= rest[0] && rest[0] <= '9' && (nested || last == "") {
		end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		n, err := strconv.Atoi(rest[:max(end, 0)])
		if err != nil || n > len(rest)-end {
			break
		}
		last, rest = rest[end:end+n], rest[end+n:]
	}
	if last == "" {
		return cut(name)
	}
	return cut(last)
}

const maxShort = 60

func cut(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, name)
	return name[:min(len(name), maxShort)]
}

// launch writes the folder of a launch.
func (c *converter) launch(p *process, l *recorded, dir string) error {
	if l.Nodes != nil {
		return c.graph(p, l, dir)
	}
	if all := p.chain(l); all != nil {
		return c.graph(p, all, dir)
	}
	m, f := c.sources.find(filepath.Join(p.dir, p.images[l.Module()].File), l.Kernel, p.about.there())
	if m == nil {
		c.lack(l.Kernel, "no PTX")
		return nil
	}
	w := &writer{converter: c, from: p, recorded: l, dir: dir, module: m, kernel: f, types: map[int]launch.Type{}}
	return w.into(w.write)
}

// An unfitError says that the PTX of a kernel is not that of the code which was launched.
type unfitError struct{ why string }

func (e *unfitError) Error() string { return e.why }

// into makes the folder, and calls what writes it.
func (w *writer) into(write func() error) error {
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	err := write()
	if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
		w.lack(w.recorded.Kernel, unfit.why)
		return os.RemoveAll(w.dir)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.dir, err)
	}
	w.launches++
	return nil
}

// Module returns the number of the launch's module.
func (r *recorded) Module() int { return *r.event.Module }

// A writer writes one folder.
type writer struct {
	*converter
	from *process
	*recorded
	dir    string
	module *module
	ptxs   []namedModule // modules whose PTX the folder has
	kernel *ptx.Func
	file   launch.File
	types  map[int]launch.Type // of buffers, by what the kernels access
	notes  []string
}

// namedModule is a module whose PTX is in a folder, under a name.
type namedModule struct {
	*module
	as string
}

func (w *writer) path(name string) string { return filepath.Join(w.dir, name) }

func (w *writer) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// The attributes of a launch (CUlaunchAttributeID).
const (
	attrCooperative      = 2
	attrCluster          = 4
	attrDependent        = 6
	attrDependentEvent   = 7
	attrPreferredCluster = 11
)

func (w *writer) write() error {
	paths, err := w.ptx("kernel")
	if err != nil {
		return err
	}
	l := launch.Launch{PTX: paths[0], Link: paths[1:], Kernel: w.recorded.Kernel, Grid: w.Grid, Block: w.Block, Shared: w.Shared, Registers: w.registers(w.recorded.Registers)}
	w.attributes(&l, w.Attributes)
	if err := w.arguments(&l, w.kernel, w.Params, w.Args, "p"); err != nil {
		return err
	}
	for _, m := range w.Maps {
		w.note("the tensor map at byte %d of the parameters is not one of sm_%d%d: %s; %s", m.At, w.from.about.Capability[0], w.from.about.Capability[1], m.Text, m.bytes())
	}
	w.notes = append(w.notes, w.module.notes(w.recorded.Kernel, w.Heap)...)
	w.file.Version, w.file.Launches = 1, []launch.Launch{l}
	w.buffers()
	if err := w.contents(); err != nil {
		return err
	}
	return w.launchFile()
}

// registers are those of a thread, where the driver compiled the kernel itself.
func (w *writer) registers(n uint32) uint32 {
	if w.As != 0 {
		return 0
	}
	return n
}

// attributes takes over the attributes of a launch.
func (w *writer) attributes(l *launch.Launch, list [][4]uint32) {
	for _, a := range list {
		switch a[0] {
		case attrCooperative:
			l.Cooperative = a[1] != 0
		case attrCluster:
			l.Cluster = [3]uint32(a[1:])
		case attrDependent:
			if a[1] != 0 {
				w.note("launched as dependent (programmatic stream serialization); here it is alone, as if what came before it had completed")
			}
		case attrDependentEvent:
			w.note("other launches depend on an event of this one")
		case attrPreferredCluster:
			l.Preferred = [3]uint32(a[1:])
		}
	}
}

// ptx writes the module, and returns the files. Folders of one module share them: a program's
// module may be large, and launched often.
func (w *writer) ptx(as string) (paths []string, err error) {
	for i := range w.module.texts {
		name := w.path(as + ".ptx")
		if i > 0 {
			name = w.path(fmt.Sprintf("%s.%d.ptx", as, i))
		}
		paths = append(paths, name)
	}
	w.ptxs = append(w.ptxs, namedModule{w.module, as})
	first := w.written[w.module]
	for i, name := range paths {
		if first != nil && os.Link(first[i], name) == nil {
			continue
		}
		if err := os.WriteFile(name, w.module.texts[i], 0o600); err != nil {
			return nil, err
		}
	}
	if first == nil {
		w.written[w.module] = paths
	}
	return paths, nil
}

// arguments turns the parameters' bytes into arguments: numbers, pointers into buffers, and
// raw bytes for what has parts.
func (w *writer) arguments(l *launch.Launch, kernel *ptx.Func, places [][2]int, args, prefix string) error {
	block, err := os.ReadFile(filepath.Join(w.from.dir, args))
	if err != nil {
		return err
	}
	if args == w.Args {
		w.translate(block)
	}
	params, err := entry.Params(kernel)
	if err != nil {
		return err
	}
	if len(params) != len(places) {
		return &unfitError{fmt.Sprintf("its PTX and its code have %d and %d parameters", len(params), len(places))}
	}
	elements := skeleton.Elements(kernel)
	for i, p := range params {
		at, size := places[i][0], places[i][1]
		if size != p.Size || at+size > len(block) {
			return &unfitError{fmt.Sprintf("parameter %s has %d bytes in its PTX and %d in its code", p.Name, p.Size, size)}
		}
		data := block[at : at+size]
		if p.Type == 0 {
			name := w.path(fmt.Sprintf("%s%d.bin", prefix, i))
			if err := os.WriteFile(name, data, 0o600); err != nil {
				return err
			}
			l.Args = append(l.Args, launch.Arg{Kind: launch.ArgBytes, Path: name})
			continue
		}
		var wide [8]byte
		copy(wide[:], data)
		bits := binary.LittleEndian.Uint64(wide[:])
		arg := launch.Arg{Kind: launch.ArgScalar, Type: p.Type, Bits: bits}
		if b := w.bufferAt(bits); size == 8 && b >= 0 && elements[i] != 0 {
			arg = launch.Arg{Kind: launch.ArgPointer, Ptr: &launch.Pointer{Buffer: bufferName(b), Offset: int64(bits - uint64(w.Buffers[b].Base))}}
			w.types[b] = merge(w.types, b, elements[i], arg.Ptr.Offset, w.Buffers[b].Size)
		}
		l.Args = append(l.Args, arg)
	}
	return nil
}

// buffers lists the buffers, with the types that their kernels access.
func (w *writer) buffers() {
	for i, b := range w.Buffers {
		if b.Variable != "" {
			continue
		}
		t := launch.U8
		if w.types[i] != 0 {
			t = w.types[i]
		}
		w.file.Buffers = append(w.file.Buffers, launch.Buffer{Name: bufferName(i), Type: t, Shape: []int64{b.Size / int64(t.Size())}, Base: uint64(b.Base), Fixed: true})
	}
}

// merge is the type of a buffer that is accessed as t, too.
func merge(types map[int]launch.Type, b int, t launch.Type, offset, size int64) launch.Type {
	if old, ok := types[b]; ok && old != t || offset%int64(t.Size()) != 0 || size%int64(t.Size()) != 0 {
		return launch.U8
	}
	return t
}

func bufferName(i int) string { return fmt.Sprintf("b%d", i) }

// bufferAt returns the buffer that an address lies in; -1 for none.
func (w *writer) bufferAt(a uint64) int {
	return slices.IndexFunc(w.Buffers, func(b buffer) bool {
		return b.Variable == "" && a-uint64(b.Base) < uint64(b.Size)
	})
}

// contents writes what buffers hold, or leaves it out.
func (w *writer) contents() error {
	keep := w.Contents == All
	if w.Contents == Needed {
		var err error
		for i := range w.file.Buffers {
			w.fill(&w.file.Buffers[i], i)
		}
		if keep, err = w.Decides(&w.file); err != nil {
			w.note("contents are kept: %v", err)
			keep = true
		}
	}
	ended := w.after != nil && w.after.Ended
	for i, b := range w.Buffers {
		if err := w.buffer(i, b, keep, ended); err != nil {
			return err
		}
	}
	switch {
	case w.Early:
		w.note("launched before what came before it had ended: its buffers are not kept")
	case w.again:
		w.note("what memory held before the first of these launches is not known: it is as the last one found it, and what it held after is left out")
	case w.As != 0:
	case w.after == nil:
		w.note("the program ended before it did")
	case w.after.Result != 0:
		w.note("the launch failed with CUDA's error %d", w.after.Result)
	case !ended:
		w.note("it did not end within %v: what it left is not kept", w.Wait)
		c := w.converter
		c.lines = append(c.lines, fmt.Sprintf("%s did not end within %v: what it left is not kept", filepath.Base(w.dir), w.Wait))
	}
	return nil
}

// fill describes contents that are not kept.
func (w *writer) fill(b *launch.Buffer, i int) {
	b.Fill = launch.Fill{Kind: launch.FillRandom, Random: launch.Random{Seed: uint64(i), High: 255}}
	if b.Type.Size() > 1 || b.Type.IsFloat() {
		b.Fill.Random.High = 1
	}
}

func (w *writer) buffer(i int, b buffer, keep, ended bool) error {
	v := launch.Variable{Array: launch.Buffer{Name: b.Variable, Type: launch.U8, Shape: []int64{b.Size}, Base: uint64(b.Base), Fixed: true}}
	to := &v.Array
	if b.Variable == "" {
		to = &w.file.Buffers[slices.IndexFunc(w.file.Buffers, func(x launch.Buffer) bool { return x.Name == bufferName(i) })]
	}
	if b.Kind == "peer" {
		w.note("buffer %s belongs to another GPU: its contents are not kept", bufferName(i))
	}
	switch {
	case b.File == "" || !keep && b.Variable == "":
		w.fill(to, i)
		w.left += b.Size
	default:
		name := w.path(bufferName(i) + ".npy.zst")
		if err := compress(name, filepath.Join(w.from.dir, b.File), to); err != nil {
			return err
		}
		to.Fill = launch.Fill{Kind: launch.FillFile, File: name}
		w.kept += b.Size
	}
	if b.Variable != "" {
		if to.Fill.Kind == launch.FillFile {
			w.file.Variables = append(w.file.Variables, v)
		}
		return nil
	}
	if b.File == "" || !keep || !ended || w.again {
		return nil
	}
	left := filepath.Join(w.from.dir, cmp.Or(b.after, afterOf(b.File)))
	same, err := equal(filepath.Join(w.from.dir, b.File), left)
	if err != nil || same {
		return err
	}
	name := w.path(bufferName(i) + ".after.npy.zst")
	w.file.Expect = append(w.file.Expect, launch.Expect{Buffer: to.Name, File: name})
	return compress(name, left, to)
}

// compress writes raw bytes as an .npy of a buffer's type and shape, by Zstandard.
func compress(to, from string, b *launch.Buffer) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	err = launch.WriteNpyHeader(z, b.Type.NpyDescr(), b.Shape)
	if err == nil {
		_, err = io.Copy(z, in)
	}
	return errors.Join(err, z.Close(), out.Close())
}

// equal reports whether two files hold the same.
func equal(a, b string) (bool, error) {
	f, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer g.Close()
	var x, y [64 << 10]byte
	for {
		n, err := io.ReadFull(f, x[:])
		m, err2 := io.ReadFull(g, y[:])
		if n != m || !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		if err != nil || err2 != nil {
			return true, nil // both end here: a dump has the buffer's size
		}
	}
}

// launchFile writes the launch file, with where it comes from.
func (w *writer) launchFile() error {
	var b bytes.Buffer
	about := &w.from.about
	fmt.Fprintf(&b, "# Captured on %s (sm_%d%d, driver for CUDA %d.%d): launch %d, in stream %s of process %d.\n",
		about.GPU, about.Capability[0], about.Capability[1], about.Driver/1000, about.Driver%1000/10, w.Ordinal, w.Stream, *about.Process)
	if w.As != 0 {
		fmt.Fprintf(&b, "# The capture was dry, as if on %s (sm_%d): no kernel ran, and buffers hold what the host and other copies left there.\n", cards[w.As].name, w.As)
	}
	for _, m := range w.ptxs {
		which := "Its PTX"
		if len(w.ptxs) > 1 {
			which = m.as + ".ptx"
		}
		if m.name != "" && !strings.HasPrefix(m.name, w.sources.record) {
			fmt.Fprintf(&b, "# %s was found %s, in %s.\n", which, m.how, m.name)
		}
		h := sha256.New()
		for _, text := range m.texts {
			h.Write(text)
		}
		fmt.Fprintf(&b, "# SHA-256 of %s: %x.\n", strings.Replace(which, "Its", "the", 1), h.Sum(nil))
	}
	if w.times > 0 {
		fmt.Fprintf(&b, "# %d later launches had the same parameters.\n", w.times)
	}
	for _, n := range w.notes {
		fmt.Fprintf(&b, "# %s.\n", strings.ToUpper(n[:1])+n[1:])
	}
	if err := w.file.Write(&b, w.dir); err != nil {
		return err
	}
	return os.WriteFile(w.path(LaunchFile), b.Bytes(), 0o600)
}

// summary says what was captured.
func (c *converter) summary() {
	say := func(format string, args ...any) { fmt.Fprintf(c.Log, "muster capture: "+format+"\n", args...) }
	const maxLines = 10
	lines := c.lines
	for i := range c.without {
		lines = append(lines, c.without[i].line())
	}
	for i, line := range lines {
		if i == maxLines {
			say("and %d more", len(lines)-i)
			break
		}
		say("%s", line)
	}
	if c.launches == 0 {
		say("no launch of a kernel with PTX was seen")
		return
	}
	noun := "launches"
	if c.launches == 1 {
		noun = "launch"
	}
	alone := ""
	if c.left > 0 {
		alone = fmt.Sprintf("; of buffers of %s there is the shape alone", bytesOf(c.left))
	}
	say("%d %s in %s, with contents of %s%s", c.launches, noun, c.Dir, bytesOf(c.kept), alone)
}

// bytesOf writes a size for people.
func bytesOf(n int64) string {
	v, unit := float64(n), 0
	for ; v >= 999.5 && unit < 4; unit++ {
		v /= 1000
	}
	return fmt.Sprintf("%.3g %s", v, []string{"bytes", "kB", "MB", "GB", "TB"}[unit])
}
