// Package muster runs PTX kernels on any computer and checks their
// synchronization.
//
// A Launch is a kernel with its grid, memory and arguments. Run executes it under one
// schedule and compares the results with what is expected. Check watches every access and
// every synchronization, and reports what the PTX memory model does not order, what can
// hang, and what faults: in one run where that decides for every schedule, else in a
// handful, in directed ones, and in one of each equivalence class. Replay repeats a run
// under one schedule that a report names.
//
//	l, err := muster.Load("ring.json")
//	…
//	r, err := l.Check(ctx, muster.CheckOptions{})
//	fmt.Println(r.Summary) // clean: all schedules of this launch, 1 CTA, 160 threads
//
// # What an answer means
//
// A finding is a fact: its evidence is a run, and Replay shows it again. A
// clean verdict of Check speaks of every schedule of the launch, by proof or by
// exploration; one of Replay, or of OnlySchedules, of the schedules given. What the machine does not model, and a budget that runs out, makes
// the verdict incomplete, by name and line; nothing is skipped in silence.
//
// The same launch gives the same report on any machine and with any number
// of jobs, as long as no limit on time or memory runs out.
//
// # What is not here
//
// A Launch reads launch files in JSON; the command adds YAML and flags. The
// packages launch and ptx have what it takes to build a launch in Go, and
// examples/library is a program that uses it all. Schedules are interleavings: where the
// memory model of the ISA allows outcomes that no interleaving shows, the verdict is
// incomplete, and names them.
package muster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"muster/internal/entry"
	"muster/internal/files"
	"muster/internal/machine"
	"muster/internal/predict"
	"muster/internal/resolve"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

// A Report is the result of a check: Findings with their evidence, Gaps, and the
// Verdict, with Summary as its one line. Proof says how every schedule was
// decided, if it was. WriteText prints it as the command does, WriteJSON as data.
type Report = report.Report

// TextOptions say how WriteText prints a report: in Color, and with All findings in full,
// repetitions included.
type TextOptions = report.TextOptions

// A Verdict is the outcome in one word.
type Verdict = report.Verdict

// The verdicts: nothing found in all that the check covers; findings; something was not
// checked.
const (
	Clean      = report.Clean
	Findings   = report.Findings
	Incomplete = report.Incomplete
)

// A Finding is one defect with its evidence: its Kind and Severity, a Headline, the
// Sites, what is Missing, what Stands nearby, and a Fix. A site's PTX is a place in the
// module; its Source, innermost first, are places in the program that the module was made from.
type Finding = report.Finding

// DefaultRandom is how many random schedules a check runs by default.
const DefaultRandom = 4

// Limits bound the cost of a launch. Zero fields take the default.
type Limits struct {
	// Instrs bounds the warp instructions of one run. The default is 2^28:
	// some ten seconds of a kernel that does nothing but loop.
	Instrs int64
	// Memory bounds, in bytes, what the process takes while the launch runs, including
	// its buffers and the copies that runs write to. The default is
	// launch.DefaultMemoryLimit.
	Memory int64
	// Local bounds the local memory of one thread in bytes, its call stack
	// included. The default is 512 KiB, the most that a GPU gives.
	Local uint32
	// Time bounds a whole Run, Check or Replay; WithTime bounds several together. The
	// default is 10 minutes.
	Time time.Duration
}

// The default limits.
const (
	DefaultInstrs = 1 << 28
	DefaultLocal  = 512 << 10
	DefaultTime   = 10 * time.Minute
)

// WithTime returns a context whose time limit begins now: all work done with it, in
// sequence, ends when that time is over, as if Limits.Time had run out. An earlier limit
// of ctx stays in force.
func WithTime(ctx context.Context, limit time.Duration) context.Context {
	return trial.WithTime(ctx, limit)
}

// Over says why work done with ctx has to stop: it was cancelled, or its time (WithTime)
// or the memory is spent. It is empty while work may go on.
func Over(ctx context.Context, limits Limits) string {
	return trial.NewBudget(ctx, trial.Limits(limits.filled())).Over()
}

func (l Limits) filled() Limits {
	if l.Instrs <= 0 {
		l.Instrs = DefaultInstrs
	}
	if l.Memory <= 0 {
		l.Memory = launch.DefaultMemoryLimit
	}
	if l.Local == 0 {
		l.Local = DefaultLocal
	}
	if l.Time <= 0 {
		l.Time = DefaultTime
	}
	return l
}

// A Launch is a kernel, ready to run: its PTX is parsed and decoded, its
// memory is planned and filled, its arguments are encoded. It is immutable;
// several goroutines may run it at a time.
type Launch struct {
	file     *launch.File
	module   *ptx.Module
	limits   Limits
	layout   *launch.Layout
	config   machine.Config
	subject  *trial.Subject // the runnable form
	resolver resolve.Resolver
	findings []rules.Finding // of the launch itself
	// unwritten: the launch file exists only if Call.Write writes it.
	unwritten bool
	predictor *predict.Predictor
	sizes     []machine.Choice // of clusters, as schedules name them: see sizes.go

	// Of several launches that may overlap; sources has one for a launch that is alone.
	sources []*source
	order   [][]machine.Prerequisite
	entries []int            // by launch, the program's entry
	all     []*ptx.Module    // the sequence's modules, which may have variables
	memory  *machine.Machine // whose global memory the launch begins with; nil: the file's
	handing *handing         // of a stage of a sequence
	// fencedTickets: a fence stands behind each ticket, to see what it does (lastblock.go).
	fencedTickets bool
}

// Load reads a launch file in JSON and all files that it names. (The command reads YAML,
// too.) Errors carry a position: *launch.Error, *ptx.Error and errors of package os are
// among them.
func Load(path string) (*Launch, error) {
	f, err := launch.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return LoadFile(f, Limits{})
}

// LoadFile prepares a launch file that was already read or built.
func LoadFile(f *launch.File, lim Limits) (*Launch, error) {
	if len(f.Launches) > 1 {
		s, err := LoadSequence(f, lim)
		if err != nil {
			return nil, err
		}
		if n := s.Stages(); n > 1 {
			return nil, &launch.Error{Pos: f.Launches[s.ends[0]].Pos, Msg: "this launch begins when those before it have completed; muster run and muster check take such files, launch by launch"}
		}
		return s.stage(0, nil, nil)
	}
	mod, src, err := ReadModule(f)
	if err != nil {
		return nil, err
	}
	return LoadModule(f, mod, src, lim)
}

// ReadModule reads and parses the PTX that a launch names, and links it if it names several
// modules. It returns the text of the first one too.
func ReadModule(f *launch.File) (*ptx.Module, []byte, error) {
	if err := f.Validate(); err != nil {
		return nil, nil, err
	}
	if err := alone(f); err != nil {
		return nil, nil, err
	}
	if f.Launches[0].Builtin != launch.NoBuiltin {
		return builtins.module, builtins.text, nil
	}
	return readModule(&f.Launches[0], nil)
}

// readModule reads the modules of a launch, and links them if there are several. Of the files
// that texts has, it takes the text there.
func readModule(l *launch.Launch, texts map[string][]byte) (*ptx.Module, []byte, error) {
	var mods []*ptx.Module
	var first []byte
	room := maxPTX
	for i, name := range l.Modules() {
		src, given := texts[name]
		if i == 0 && l.Text != nil {
			src, given = l.Text, true
		}
		if !given {
			var err error
			if src, err = readPTX(l, name); err != nil {
				return nil, nil, err
			}
		}
		if len(bytes.TrimSpace(src)) == 0 {
			return nil, nil, &ptx.Error{File: name, Msg: "the file is empty"}
		}
		if room -= len(src); room < 0 {
			return nil, nil, &ptx.Error{File: name, Msg: fmt.Sprintf("with it there are more than %d bytes of text to link", maxPTX-1)}
		}
		mod, err := ptx.Parse(name, src)
		if err = files.Instead(name, files.AsPTX, src, err); err != nil {
			return nil, nil, err
		}
		if mods = append(mods, mod); i == 0 {
			first = src
		}
	}
	if len(mods) == 1 {
		return mods[0], first, nil
	}
	mod, err := ptx.Link(mods...)
	return mod, first, err
}

// LoadModule prepares a launch with mod in place of the module that its file names, as
// after a change, or when built in Go. Reports quote src, the text that mod's positions
// refer to; nil if there is none. A module that ptx.Link made has its own texts.
func LoadModule(f *launch.File, mod *ptx.Module, src []byte, lim Limits) (*Launch, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if err := alone(f); err != nil {
		return nil, err
	}
	if mod == nil {
		return nil, &launch.Error{Pos: f.Launches[0].Pos, Msg: "there is no module"}
	}
	l := &Launch{file: f, limits: lim.filled(), sources: []*source{{module: mod, text: src}}, order: [][]machine.Prerequisite{nil}, all: []*ptx.Module{mod}}
	return l, l.load()
}

// load prepares a launch whose sources are known.
func (l *Launch) load() error {
	l.module = l.sources[0].module
	prog, err := l.decode()
	if err != nil {
		return err
	}
	if err := l.prepare(prog); err != nil {
		return err
	}
	name := l.file.Launches[0].PTX
	if l.sources[0] == builtins {
		name = builtins.module.Name
	}
	l.resolver = resolve.Resolver{Program: prog, PTX: name, Entry: prog.Kernel.Pos, Grid: l.config.Grid, Regions: l.regions()}
	if src := l.sources[0]; src.module.Units == nil {
		l.resolver.SetText(src.text)
	} else {
		l.resolver.AddModule(src.module, nil)
	}
	for i, src := range l.sources {
		if len(l.sources) == 1 {
			break
		}
		g := resolve.Launch{Name: l.file.Launches[i].Called(), Grid: l.file.Launches[i].Grid, First: l.subject.Shape.Grids[i].First}
		if g.Name == "" {
			g.Name = prog.Entries()[l.entries[i]].Kernel.Name
		}
		l.resolver.Launches = append(l.resolver.Launches, g)
		l.resolver.AddModule(src.module, src.text)
	}
	return nil
}

// decode prepares the kernels, with variables where the file says that they lie.
func (l *Launch) decode() (*machine.Program, error) {
	at := map[string]uint64{}
	for i := range l.file.Variables {
		if b := &l.file.Variables[i].Array; b.Fixed {
			at[b.Name] = b.Base
		}
	}
	var kernels []machine.Called
	l.entries = nil
	for i, src := range l.sources {
		of := &l.file.Launches[i]
		// One of several, which its place names, or one that a launch file names.
		if l.handing != nil || len(l.sources) > 1 || of.KernelPos() != (launch.Pos{}) {
			if _, err := entry.Find(of, src.module); err != nil {
				return nil, err
			}
		}
		k := machine.Called{Module: src.module, Kernel: of.Kernel, Space: src.space}
		n := slices.Index(kernels, k)
		if n < 0 {
			n = len(kernels)
			kernels = append(kernels, k)
		}
		l.entries = append(l.entries, n)
	}
	return machine.DecodeAll(kernels, len(l.sources) > 1, at)
}

// alone refuses a file of several launches, where one module is read.
func alone(f *launch.File) error {
	if len(f.Launches) == 1 {
		return nil
	}
	return &launch.Error{Pos: f.Launches[1].Pos, Msg: fmt.Sprintf("the file has %d launches; here it must have one (run, check and replay take several)", len(f.Launches))}
}

// maxPTX exceeds the limit of ptx.Parse, so that Parse reports the error.
const maxPTX = 64<<20 + 1

func readPTX(l *launch.Launch, name string) ([]byte, error) {
	fail := func(err error) error {
		err = files.Cause(err)
		return &launch.Error{Pos: launch.Pos{File: l.Pos.String()}, Msg: fmt.Sprintf("cannot read %s: %v", name, err), Err: err}
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fail(err)
	}
	switch {
	case info.IsDir():
		return nil, fail(errors.New("this is a folder"))
	case !info.Mode().IsRegular():
		return nil, fail(errors.New("not a regular file"))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fail(err)
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, maxPTX))
	if err != nil {
		return nil, fail(err)
	}
	return src, nil
}

// prepare plans memory, encodes arguments, and checks the launch against what
// the kernel declares.
func (l *Launch) prepare(prog *machine.Program) error {
	layout, err := l.file.Layout(l.limits.Memory)
	if err != nil {
		return err
	}
	l.layout = layout
	if err := l.file.CheckExpected(layout); err != nil {
		return err
	}
	l.config = machine.Config{
		Program: prog, Buffers: machineBuffers(layout), MaxInstrs: l.limits.Instrs, MaxLocal: l.limits.Local,
		VectorAtomic: slices.Contains(l.file.Assume, launch.VectorAtomic),
	}
	entries := prog.Entries()
	var params []*launch.ParamBlock
	var declared [][3]uint32
	for i := range l.file.Launches {
		of, e := &l.file.Launches[i], entries[l.entries[i]]
		declares, err := entry.ParamsOf(l.sources[i].module, e.Kernel)
		if err != nil {
			return err
		}
		p, err := layout.EncodeParams(of, declares)
		if err != nil {
			return err
		}
		cluster := of.Cluster
		if cluster == ([3]uint32{}) {
			cluster = e.ReqCluster
		}
		if cluster == ([3]uint32{}) && of.Preferred != ([3]uint32{}) {
			return &launch.Error{Pos: of.Pos, Msg: "preferred-cluster takes effect only beside a cluster, which neither the launch nor the kernel states"}
		}
		params, declared = append(params, p), append(declared, cluster)
		for i := range cluster {
			cluster[i] = max(cluster[i], 1)
		}
		g := machine.Launch{
			Entry: l.entries[i], Grid: of.Grid, Block: of.Block, Cluster: cluster, Preferred: of.Preferred, Shared: uint64(of.Shared),
			Registers: e.EntryRegisters(of.Registers, of.MaxRegCount), Params: p.Bytes, Cooperative: of.Cooperative, CoResident: of.CoResident, After: l.order[i],
		}
		if i == 0 {
			l.config.First(g)
		} else {
			l.config.More = append(l.config.More, g)
		}
	}
	maps, err := l.setVariables()
	if err != nil {
		return err
	}
	l.launchRules(declared)
	l.refusedMaps(params, maps)
	return l.makeSubject()
}

// ContentsDecide reports whether what buffers and variables hold may decide where control
// goes, which address is accessed, or what a synchronizing instruction does. Otherwise a check
// says the same whatever they hold. It may be too cautious.
func (l *Launch) ContentsDecide() bool { return l.subject.ContentsDecide() }

// makeSubject makes what runs, and what predicts from runs, of the launch's configuration.
// It fails if the launch's shape is invalid.
func (l *Launch) makeSubject() error {
	m, err := machine.New(l.config)
	if err != nil {
		return &launch.Error{Pos: l.file.Launches[0].Pos, Msg: err.Error(), Err: err}
	}
	if l.memory != nil {
		m.Inherit(l.memory)
	}
	l.subject = trial.NewSubject(m, trial.Limits(l.limits))
	l.predictor = predict.New(l.subject)
	return nil
}

// setVariables gives the module's variables the contents that the launch file states. It
// returns the tensor maps among them, by variable.
func (l *Launch) setVariables() (map[string][]launch.PlacedMap, error) {
	var have []string
	for _, mod := range l.all {
		for _, it := range mod.Items {
			if v, ok := it.(*ptx.Var); ok && (v.Space == "global" || v.Space == "const") {
				have = append(have, v.Name)
			}
		}
	}
	size := map[string]uint64{} // of those that the kernel uses
	for _, s := range l.config.Program.Symbols() {
		if !s.Shared {
			size[s.Name] = s.Size
		}
	}
	room := l.limits.Memory
	for i := range l.layout.Buffers {
		room -= int64(l.layout.Buffers[i].Size)
	}
	l.config.Variables = map[string][]byte{}
	maps := map[string][]launch.PlacedMap{}
	for i := range l.file.Variables {
		v := &l.file.Variables[i]
		name := v.Array.Name
		if !slices.Contains(have, name) {
			return nil, v.UnknownVariable(have)
		}
		n, used := size[name]
		if !used {
			continue
		}
		block, err := l.layout.Contents(v, n, max(room, 1))
		if err != nil {
			return nil, err
		}
		room -= int64(len(block.Bytes))
		l.config.Variables[name], maps[name] = block.Bytes, block.Maps
	}
	return maps, nil
}

func machineBuffers(layout *launch.Layout) []machine.Buffer {
	var list []machine.Buffer
	for i := range layout.Buffers {
		b := &layout.Buffers[i]
		list = append(list, machine.Buffer{Name: b.Name, Base: b.Base, Size: b.Size, Data: b.Data, Init: b.Initialized})
	}
	return list
}

// regions lists the named ranges of the launch's memory, for reports.
func (l *Launch) regions() []resolve.Region {
	list := slices.Clone(l.resolver.Parts)
	for i := range l.layout.Buffers {
		b := &l.layout.Buffers[i]
		list = append(list, resolve.Region{Name: b.Name, Base: b.Base, Size: b.Size, Elem: uint64(b.Type.Size())})
	}
	symbols := l.config.Program.Symbols()
	symbols = append(slices.Clone(symbols), l.config.Workspaces()...)
	if s, ok := l.config.Program.Heap(); ok {
		symbols = append(slices.Clone(symbols), s)
	}
	for _, s := range symbols {
		r := resolve.Region{Name: s.Name, Shared: s.Shared, Base: s.Addr, Size: s.Size, Elem: s.Elem}
		if r.Elem == 1 {
			r.Elem = 0
		}
		if r.Shared && r.Size == 0 {
			r.Size = l.config.Shared
		}
		list = append(list, r)
	}
	return list
}

// HasBuffer reports whether the launch has a buffer of that name.
func (l *Launch) HasBuffer(name string) bool { return l.layout.Buffer(name) != nil }
