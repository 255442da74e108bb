// Package muster runs PTX kernels on any computer and checks their
// synchronization.
//
// A Launch is a kernel with its grid, memory and arguments. Run executes it
// under one schedule and compares what it leaves behind with what is
// expected. Check watches every access and every synchronization, and reports
// what is not ordered by the rules of the PTX memory model, what can hang, and
// what faults: in one run where that decides for every schedule, else in a
// handful, in directed ones, and in one of each kind. Replay does a run again
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
// clean verdict speaks of every schedule of the launch, by proof or by
// exploration. What the machine does not model, and a budget that runs out, makes
// the verdict incomplete, by name and line; nothing is skipped in silence.
//
// The same launch gives the same report on any machine and with any number
// of jobs, as long as no limit on time or memory runs out.
//
// # What is not here
//
// A Launch reads launch files in JSON; the command adds YAML and flags. The
// packages launch and ptx have what it takes to build a launch in Go, and
// examples/library is a program that uses it all. Schedules are interleavings: where
// the memory model of the ISA has outcomes that none of them shows, the verdict is
// incomplete, by name.
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
	"muster/internal/machine"
	"muster/internal/predict"
	"muster/internal/resolve"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

// A Report is what a check found: Findings with their evidence, Gaps, and the
// Verdict, of which Summary is one line. Proof says how every schedule was
// decided, if it was. WriteText prints it as the command does, WriteJSON as data.
type Report = report.Report

// TextOptions say how WriteText prints a report: in Color, and with All findings
// in full, those that are alike too.
type TextOptions = report.TextOptions

// A Verdict is the outcome in one word.
type Verdict = report.Verdict

// The verdicts: nothing was found in all that a check speaks of; findings; something was
// not looked at.
const (
	Clean      = report.Clean
	Findings   = report.Findings
	Incomplete = report.Incomplete
)

// A Finding is one defect with its evidence: its Kind and Severity, a Headline,
// and the Sites, whose PTX is a place in the module and whose Source, innermost
// first, in the program that it was made from; what is Missing, and a Fix.
type Finding = report.Finding

// DefaultRandom is how many random schedules a check runs by default.
const DefaultRandom = 4

// Limits bound what a launch may cost. Zero fields take the default.
type Limits struct {
	// Instrs bounds the warp instructions of one run. The default is 2^28:
	// some ten seconds of a kernel that does nothing but loop.
	Instrs int64
	// Memory bounds, in bytes, what the process takes while the launch runs, its
	// buffers and the copies of those that runs write to included. The default is
	// launch.DefaultMemoryLimit.
	Memory int64
	// Local bounds the local memory of one thread in bytes, its call stack
	// included. The default is 512 KiB, the most that a GPU gives.
	Local uint32
	// Time bounds a whole Run, Check or Replay, and what WithTime is asked for. The
	// default is 10 minutes.
	Time time.Duration
}

// The default limits.
const (
	DefaultInstrs = 1 << 28
	DefaultLocal  = 512 << 10
	DefaultTime   = 10 * time.Minute
)

// WithTime returns a context for which a time limit begins now: all that is done
// with it, one thing after the other, ends when that time is over, as if
// Limits.Time had run out. A moment that ctx has already counts if it is earlier.
func WithTime(ctx context.Context, limit time.Duration) context.Context {
	return trial.WithTime(ctx, limit)
}

// Over says why what is done with a context has to end now: it was cancelled, its
// time (WithTime) or the memory is spent. It is empty while it may go on.
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
	limits   Limits
	layout   *launch.Layout
	config   machine.Config
	subject  *trial.Subject // what runs
	resolver resolve.Resolver
	findings []rules.Finding // of the launch itself
	// unwritten: the launch file is one that Call.Write would write.
	unwritten bool
	predictor *predict.Predictor
}

// Load reads a launch file in JSON and everything that it names. Errors have
// the place: *launch.Error, *ptx.Error and errors of package os are among
// them.
func Load(path string) (*Launch, error) {
	f, err := launch.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return LoadFile(f, Limits{})
}

// LoadFile prepares a launch that was read or built already.
func LoadFile(f *launch.File, lim Limits) (*Launch, error) {
	mod, src, err := ReadModule(f)
	if err != nil {
		return nil, err
	}
	return LoadModule(f, mod, src, lim)
}

// ReadModule reads and parses the PTX that a launch names. It returns the text
// too.
func ReadModule(f *launch.File) (*ptx.Module, []byte, error) {
	name := f.Launches[0].PTX
	src, err := readPTX(f, name)
	if err != nil {
		return nil, nil, err
	}
	mod, err := ptx.Parse(name, src)
	return mod, src, err
}

// LoadModule prepares a launch of a module other than the one in its file: one
// that was changed, or built in Go. Reports quote src, the text that the
// module's positions speak of; nil if it has none.
func LoadModule(f *launch.File, mod *ptx.Module, src []byte, lim Limits) (*Launch, error) {
	prog, err := machine.Decode(mod, f.Launches[0].Kernel)
	if err != nil {
		return nil, err
	}
	l := &Launch{file: f, limits: lim.filled()}
	if err := l.prepare(prog); err != nil {
		return nil, err
	}
	l.resolver = resolve.Resolver{Program: prog, PTX: f.Launches[0].PTX, Entry: prog.Kernel.Pos, Grid: l.config.Grid, Regions: l.regions()}
	l.resolver.SetText(src)
	return l, nil
}

// maxPTX is more than ptx.Parse takes, so that it is Parse that says so.
const maxPTX = 64<<20 + 1

func readPTX(f *launch.File, name string) ([]byte, error) {
	fail := func(err error) error {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return &launch.Error{Pos: launch.Pos{File: f.Launches[0].Pos.String()}, Msg: fmt.Sprintf("cannot read %s: %v", name, err), Err: err}
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fail(err)
	}
	if !info.Mode().IsRegular() {
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
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, &ptx.Error{File: name, Msg: "the file is empty"}
	}
	return src, nil
}

// prepare plans memory, encodes arguments, and checks the launch against what
// the kernel declares.
func (l *Launch) prepare(prog *machine.Program) error {
	first := &l.file.Launches[0]
	layout, err := l.file.Layout(l.limits.Memory)
	if err != nil {
		return err
	}
	l.layout = layout
	if err := l.file.CheckExpected(layout); err != nil {
		return err
	}
	declares, err := entry.Params(prog.Kernel)
	if err != nil {
		return err
	}
	params, err := layout.EncodeParams(first, declares)
	if err != nil {
		return err
	}
	cluster := first.Cluster
	if cluster == ([3]uint32{}) {
		cluster = prog.ReqCluster
	}
	declared := cluster
	for i := range cluster {
		cluster[i] = max(cluster[i], 1)
	}
	l.config = machine.Config{
		Program: prog, Grid: first.Grid, Block: first.Block, Cluster: cluster, Shared: uint64(first.Shared),
		Registers: registers(first, prog), Params: params.Bytes, Buffers: machineBuffers(layout),
		MaxInstrs: l.limits.Instrs, MaxLocal: l.limits.Local,
		VectorAtomic: slices.Contains(l.file.Assume, launch.VectorAtomic),
	}
	l.launchRules(declared)
	l.refusedMaps(params)
	return l.probe()
}

// probe makes a machine, to see that the launch has a shape that one takes.
func (l *Launch) probe() error {
	m, err := machine.New(l.config)
	if err != nil {
		return &launch.Error{Pos: l.file.Launches[0].Pos, Msg: err.Error(), Err: err}
	}
	shape := rules.Shape{Program: l.config.Program, CTAs: m.CTAs(), Warps: m.WarpsPerCTA(), Cluster: m.ClusterSize(), Clusters: m.Clusters(), Threads: volume(l.config.Block)}
	l.subject = &trial.Subject{Program: l.config.Program, Start: m, Shape: shape, Limits: trial.Limits(l.limits)}
	l.predictor = predict.New(l.subject)
	return nil
}

func volume(d [3]uint32) int { return int(d[0]) * int(d[1]) * int(d[2]) }

func machineBuffers(layout *launch.Layout) []machine.Buffer {
	var list []machine.Buffer
	for i := range layout.Buffers {
		b := &layout.Buffers[i]
		list = append(list, machine.Buffer{Name: b.Name, Base: b.Base, Size: b.Size, Data: b.Data, Init: b.Initialized})
	}
	return list
}

// registers is how many registers a thread has at entry: what setmaxnreg
// starts from. Without a word in the launch file or the kernel it is what a
// compiler may use at most for this block: the register file is shared by its
// threads, a warpgroup at a time, in units of eight. A kernel that asks for
// more later starts with no more than it asks for, as ptxas 13.0 has it.
func registers(first *launch.Launch, prog *machine.Program) uint32 {
	if first.Registers != 0 {
		return first.Registers
	}
	if prog.MaxRegs != 0 {
		return prog.MaxRegs
	}
	threads := (uint32(volume(first.Block)) + 127) &^ 127
	most := min(255, 65536/threads) &^ 7
	if prog.MostRegs != 0 {
		most = min(most, prog.MostRegs)
	}
	return most
}

// regions names the launch's memory for reports.
func (l *Launch) regions() []resolve.Region {
	list := slices.Clone(l.resolver.Parts)
	for i := range l.layout.Buffers {
		b := &l.layout.Buffers[i]
		list = append(list, resolve.Region{Name: b.Name, Base: b.Base, Size: b.Size, Elem: uint64(b.Type.Size())})
	}
	for _, s := range l.config.Program.Symbols() {
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
