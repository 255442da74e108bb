package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster"
	"muster/internal/yaml"
	"muster/launch"
	"muster/report"
)

// An input holds the flags that check, run and replay share: a launch file or a .ptx, the
// keys of a launch file as flags, and limits.
type input struct {
	flags  launch.Flags
	limits muster.Limits
	local  int64
	memory sizeFlag
	launch string   // of several
	given  []string // the words of a schedule file that named the launch
	// outputs are files that the command writes besides its answer.
	outputs []string

	nvcc     compiler
	compiled map[string]string // .cu files to the PTX that nvcc made of them
	begun    *work             // of the command
	quiet    bool
}

// defaultInput is an input of a command without its flags.
func defaultInput() *input {
	in := &input{memory: defaultMemory, local: muster.DefaultLocal}
	in.limits.Instrs, in.limits.Time = muster.DefaultInstrs, muster.DefaultTime
	return in
}

// launchHelp ends the help of every command that takes a launch.
const launchHelp = `
LAUNCH is a launch file in YAML or JSON. With a bare .ptx, or over the keys of
a file, flags say the same. A .cu file, bare or as a launch file's ptx, is compiled
by nvcc -ptx -lineinfo -arch=sm_90a first:

  --grid 2x1x1  --block 128  --cluster 2  --shared 1024  --registers 168
  --cooperative true
  --buffer in=f32[16384]:iota      also zeros, ones, nan, uninitialized, mod=97,
                                   random=SEED,LOW,HIGH, file=a.npy
  --arg in  --arg out+256  --arg s32:64  --arg null  --arg bytes:param.bin
  --expect out=out.npy,atol=1e-3   or ,rtol=… or ,ulp=…; ,type=f16 compares the
                                   bytes as f16
  --accept 'proxy-war@gemm.cu:118=why this is meant'

What has no short form is written as JSON: --arg '{"struct": [{"ptr": "in"}, {"s32": 3}]}'.`

func (in *input) register(f *pflag.FlagSet) {
	l := &in.flags
	f.StringVar(&in.launch, "launch", "", "of several launches, the one of that `name` or number alone, with those that it may overlap, behind those before it")
	f.StringVar(&l.PTX, "ptx", "", "PTX `file` to run, in place of the launch file's")
	f.StringArrayVar(&l.Link, "link", nil, "a PTX `file` that is linked with the launch's, as of nvcc -rdc=true; added")
	f.StringVar(&l.Kernel, "kernel", "", "`name` of the kernel; may be left out if there is one")
	f.StringVar(&in.nvcc.arch, "arch", "", "the `architecture` that nvcc compiles a .cu file for; default: "+defaultArch)
	f.StringArrayVar(&in.nvcc.flags, "nvcc-flag", nil, "an `option` for nvcc, as -DN=3; more by more flags")
	f.StringVar(&l.Grid, "grid", "", "CTAs, `XxYxZ`")
	f.StringVar(&l.Block, "block", "", "threads a CTA, `XxYxZ`")
	f.StringVar(&l.Cluster, "cluster", "", "CTAs a cluster, `XxYxZ`; default: what the kernel declares")
	f.StringVar(&l.Shared, "shared", "", "dynamic shared memory in `bytes`")
	f.StringVar(&l.Registers, "registers", "", "registers a thread at entry, for setmaxnreg; default: .maxnreg, else by the block")
	f.StringVar(&l.MaxRegCount, "maxrregcount", "", "the compiler's -maxrregcount, which keeps setmaxnreg in a kernel without .maxntid and .reqntid")
	f.StringVar(&l.PreferredCluster, "preferred-cluster", "", "preferred size of clusters, `XxYxZ`, a multiple of the cluster; default: none")
	f.StringVar(&l.CoResident, "co-resident", "", "how many CTAs of the grid share a multiprocessor and its tensor memory: `N`")
	f.StringVar(&l.Cooperative, "cooperative", "", "`true` for a cooperative launch: all CTAs are resident together, and %envreg1 and %envreg2 give the grid's workspace")
	f.StringArrayVar(&l.Buffers, "buffer", nil, "a buffer, `name=type[shape]:fill`; added, or in place of that name's")
	f.StringArrayVar(&l.Variables, "variable", nil, "contents of a module `variable`, name=type[shape]:fill; added, or in place of that name's")
	f.StringArrayVar(&l.Args, "arg", nil, "an `argument` of the kernel; all of them, in order")
	f.StringArrayVar(&l.Expect, "expect", nil, "what a buffer must hold, `name=file.npy`")
	f.StringArrayVar(&l.Accept, "accept", nil, "a finding that is meant, `kind@file:line=reason`")
	f.StringArrayVar(&l.Assume, "assume", nil, "`vector-atomic`: an aligned vector access of up to 16 bytes is one access, as on the card")
	f.Int64Var(&in.limits.Instrs, "limit-instrs", muster.DefaultInstrs, "warp instructions a schedule")
	in.memory = defaultMemory
	f.Var(&in.memory, "limit-memory", "`bytes` that the process takes, buffers included; as 512M, 8G")
	f.Int64Var(&in.local, "limit-local", muster.DefaultLocal, "`bytes` of local memory a thread, call stack included")
	f.BoolVar(&in.quiet, "quiet", false, "show nothing of the progress on standard error")
	f.DurationVar(&in.limits.Time, "limit-time", muster.DefaultTime, "time for the whole command")
}

// load reads the launch. It also returns the launch's words on a command line, for replay
// lines.
func (in *input) load(ctx context.Context, cmd *cobra.Command, args []string) (*muster.Launch, string, error) {
	file, err := in.limited(args)
	if err != nil {
		return nil, "", err
	}
	words := in.words(cmd, args)
	if in.launch == "" {
		l, err := muster.LoadFile(file, in.limits)
		return l, words, err
	}
	s, err := muster.LoadSequence(file, in.limits)
	if err != nil {
		return nil, "", err
	}
	l, err := s.Only(ctx, in.launch)
	return l, words, err
}

// limited reads the launch file under the limits.
func (in *input) limited(args []string) (*launch.File, error) {
	if err := in.checkLimits(); err != nil {
		return nil, err
	}
	return in.file(args)
}

func (in *input) checkLimits() error {
	switch {
	case in.limits.Instrs <= 0:
		return fmt.Errorf("--limit-instrs %d: a limit must be positive", in.limits.Instrs)
	case in.memory <= 0:
		return fmt.Errorf("--limit-memory %d: a limit must be positive", in.memory)
	case in.local <= 0 || in.local > 1<<30:
		return fmt.Errorf("--limit-local %d: it must be from 1 to 2^30", in.local)
	case in.limits.Time < time.Millisecond:
		return fmt.Errorf("--limit-time %v: it must be at least 1ms", in.limits.Time)
	}
	in.limits.Memory, in.limits.Local = int64(in.memory), uint32(in.local)
	return nil
}

// alone reads a file of one launch, for a command that takes no others.
func (in *input) alone(args []string) (*launch.File, error) {
	if in.launch != "" {
		return nil, fmt.Errorf("--launch %s: here the file has one launch; check, run and replay take several", brief(in.launch))
	}
	return in.file(args)
}

// file reads the launch, and has its sources compiled.
func (in *input) file(args []string) (*launch.File, error) {
	f, err := in.read(args)
	if err == nil {
		err = checkAccepted(f)
	}
	if err == nil {
		err = spared(f, args, in.outputs)
	}
	if err == nil {
		err = in.sources(f)
	}
	return f, err
}

// An overwriting is the error of an output that is a file which is read.
type overwriting struct{ file string }

func (e *overwriting) Error() string {
	return e.file + ": this is what is checked, and would be overwritten; name another file to write"
}

// spared refuses to write one of the outputs over the launch file, its PTX or its arrays: those
// are read, and would be lost. Before the launch file is read, f is nil.
func spared(f *launch.File, args, outputs []string) error {
	read := slices.Clone(args)
	if f != nil {
		for i := range f.Launches {
			l := &f.Launches[i]
			read = append(append(read, l.PTX), l.Link...)
			for k := range l.Args {
				read = append(read, l.Args[k].Path)
			}
		}
		for i := range f.Buffers {
			read = append(read, f.Buffers[i].Fill.File)
		}
		for i := range f.Variables {
			read = append(read, f.Variables[i].Array.Fill.File)
		}
		for i := range f.Expect {
			read = append(read, f.Expect[i].File)
		}
	}
	for _, out := range outputs {
		at, err := os.Stat(out)
		if err != nil {
			continue
		}
		for _, name := range read {
			if of, err := os.Stat(name); err == nil && os.SameFile(at, of) {
				return &overwriting{out}
			}
		}
	}
	return nil
}

func (in *input) read(args []string) (*launch.File, error) {
	switch {
	case len(args) == 0 && in.flags.PTX == "":
		return nil, fmt.Errorf("name a launch file, or a .ptx with --grid and --block; see --help")
	case len(args) == 0:
		return in.fromFlags(in.flags)
	case args[0] == "" || args[0] == "-":
		return nil, fmt.Errorf("%q: a launch is read from a file; name one", args[0])
	case slices.Contains([]string{".ptx", ".cu", ".cuh"}, filepath.Ext(args[0])):
		if in.flags.PTX != "" {
			return nil, fmt.Errorf("%s and --ptx %s: give one, not both", args[0], in.flags.PTX)
		}
		fl := in.flags
		fl.PTX = args[0]
		return in.fromFlags(fl)
	}
	f, err := yaml.ReadFile(args[0])
	if err != nil {
		return nil, missingFile(args[0], err)
	}
	return f, in.flags.Apply(f)
}

// words returns the command-line words that name the launch.
func (in *input) words(cmd *cobra.Command, args []string) string {
	var words []string
	if in.given != nil {
		for _, a := range in.given {
			words = append(words, report.Quote(a))
		}
		return strings.Join(words, " ")
	}
	for _, a := range args {
		words = append(words, report.Quote(a))
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	(&input{}).register(own)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if own.Lookup(f.Name) == nil || f.Name == "quiet" {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			words = append(words, "--"+f.Name+" "+report.Quote(v))
		}
	})
	return strings.Join(words, " ")
}

// A sizeFlag is a number of bytes, written like 8G.
type sizeFlag int64

func (s *sizeFlag) Type() string { return "bytes" }

func (s *sizeFlag) String() string {
	if n := int64(*s); n > 0 && n%(1<<30) == 0 {
		return fmt.Sprintf("%dG", n>>30)
	}
	return fmt.Sprint(int64(*s))
}

func (s *sizeFlag) Set(text string) error {
	digits := strings.TrimRight(text, "KMGTkmgtiB")
	by, ok := map[string]int{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[strings.ToUpper(strings.TrimSuffix(text[len(digits):], "iB"))]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n <= 0 || n > 1<<62>>by {
		return fmt.Errorf("want a number of bytes, as 512M or 8G")
	}
	*s = sizeFlag(n << by)
	return nil
}

// jobsFlag registers --jobs.
func jobsFlag(f *pflag.FlagSet, to *int, usage string) { f.Var((*jobsValue)(to), "jobs", usage) }

// A jobsValue is how many things are done at a time; 0 is the default.
type jobsValue int

func (j *jobsValue) Type() string   { return "int" }
func (j *jobsValue) String() string { return strconv.Itoa(int(*j)) }

func (j *jobsValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	if n < 0 {
		return fmt.Errorf("want a number from 1 on")
	}
	*j = jobsValue(n)
	return nil
}
