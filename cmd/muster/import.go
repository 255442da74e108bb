//go:build !js

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"muster/internal/entry"
	"muster/internal/fatbin"
	"muster/internal/files"
	"muster/internal/skeleton"
	"muster/internal/tritonlog"
	"muster/launch"
	"muster/ptx"
)

// maxProgram bounds the size in bytes of a program that is imported.
const maxProgram = 4 << 30

func importCommand(c *console) *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use:   "import FILE|FOLDER",
		Short: "Take PTX, and launch files, out of a program, a log or a cache",
		Long: `Import lists the code for GPUs in an executable, a library, an object or a fat
binary of CUDA; in a log of tritonparse (.ndjson, as it is or compressed by gzip or
zstd); in a cache folder of Triton or of torch.compile, or a parent of such folders.

With -o it writes each PTX module there, and beside it launch files: for each kernel
one to fill in, as 'muster init' does (modules of nvcc -rdc=true that refer to each
other are linked), and for each launch in a log of tritonparse one
with its grid, block, cluster, shared memory and arguments. Tensors become buffers of
their shapes; those that lie in each other become one. Contents come from the tensors
that tritonparse saved. What a log does not tell is a comment in the file.

  TRITON_TRACE=logs TRITON_TRACE_LAUNCH=1 python -c \
    'import tritonparse.structured_logging as t; t.init_with_env(); import train'

Of launches that differ in nothing but addresses and contents the first is taken, and
64 of one kernel. Machine code alone cannot be checked: build with PTX, as by

  nvcc -lineinfo -gencode arch=compute_90a,code=[sm_90a,compute_90a] …`,
		Example: "  muster import ./gemm\n  muster import libattention.so -o kernels\n  muster import logs/trace.ndjson -o kernels\n  muster import ~/.triton/cache",
		Args:    exactly(1, "one program, library, log or folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			return (&importing{console: c, name: args[0], dir: dir}).any()
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "the folder to write to; made if it is not there")
	return cmd
}

type importing struct {
	*console
	name, dir string
	failed    bool // some of it cannot be read; printed already
}

// any imports a program, a log or a folder.
func (i *importing) any() error {
	info, err := os.Stat(i.name)
	if err != nil {
		return fmt.Errorf("%s: %w", i.name, files.Cause(err))
	}
	if info.IsDir() {
		log, err := tritonlog.ReadFolder(i.name)
		return i.triton(log, err)
	}
	if strings.HasSuffix(i.name, ".ptx") {
		return fmt.Errorf("%s: PTX already; muster init writes a launch file for it", i.name)
	}
	if from, is, err := openLog(i.name, info); is || err != nil {
		if err != nil {
			return err
		}
		defer from.Close()
		log, err := tritonlog.Read(i.name, from)
		return i.triton(log, err)
	}
	data, err := files.Read(i.name, maxProgram)
	if err != nil {
		return err
	}
	if e := files.Binary(i.name, files.AsImport, data); e != nil {
		return e
	}
	var program *fatbin.Error
	if err := i.all(data); errors.As(err, &program) && program.Place == 0 {
		return files.Instead(i.name, files.AsImport, data, err)
	} else if err != nil {
		return err
	}
	return i.end()
}

// end is how an import ends that has written what it can.
func (i *importing) end() error {
	if i.failed {
		return exit(exitBadInput)
	}
	return nil
}

// all prints, or writes, what a program holds.
func (i *importing) all(program []byte) error {
	var cubins []string
	seen := map[[sha256.Size]byte]bool{}
	var modules []*imported
	err := fatbin.Each(i.name, program, false, func(e fatbin.Entry) error {
		arch := fmt.Sprintf("sm_%d%s", e.Arch, e.Suffix)
		if e.Kind == fatbin.Cubin {
			cubins = append(cubins, arch)
			return nil
		}
		hash := sha256.Sum256(e.Data)
		if seen[hash] {
			return nil
		}
		seen[hash] = true
		if len(seen) == 1 && i.dir != "" {
			if err := os.MkdirAll(i.dir, 0o777); err != nil {
				return &files.WriteError{Name: i.dir, Err: files.Cause(err)}
			}
		}
		m := i.parse(len(seen), arch, &e)
		modules = append(modules, m)
		if i.dir == "" {
			return nil
		}
		err := i.write(m.path(), func(w io.Writer) error { _, err := w.Write(e.Data); return err })
		m.entry.Data = nil // it may be large
		return err
	})
	if err != nil {
		return err
	}
	byArch, names := map[string][]*ptx.Module{}, map[*ptx.Module]string{}
	for _, m := range modules {
		if m.mod != nil {
			byArch[m.arch], names[m.mod] = append(byArch[m.arch], m.mod), m.path()
		}
	}
	sets := map[string]*ptx.LinkSet{}
	for arch, mods := range byArch {
		sets[arch] = ptx.NewLinkSet(mods)
	}
	for _, m := range modules {
		if err := i.module(m, sets[m.arch], names); err != nil {
			return err
		}
	}
	switch {
	case len(seen) > 0:
		return nil
	case len(cubins) > 0:
		return fmt.Errorf("%s: machine code for %s and no PTX: build it with -gencode arch=compute_90a,code=[sm_90a,compute_90a]", i.name, strings.Join(unique(cubins), ", "))
	}
	return errors.New(i.name + ": no code for a GPU")
}

// An imported is a PTX module of a program.
type imported struct {
	entry      fatbin.Entry
	base, arch string
	mod        *ptx.Module // nil if it does not parse
}

func (m *imported) path() string { return m.base + ".ptx" }

// parse reads the nth PTX module.
func (i *importing) parse(n int, arch string, e *fatbin.Entry) *imported {
	m := &imported{entry: *e, arch: arch}
	m.base = fmt.Sprintf("%s.%d.%s", strings.TrimSuffix(filepath.Base(i.name), filepath.Ext(i.name)), n, arch)
	var err error
	if m.mod, err = ptx.Parse(m.path(), e.Data); err != nil {
		fmt.Fprintf(i.err, "muster: %v\n", err) // the next one may do
		i.failed = true
	}
	return m
}

// linked returns a module with those of its architecture that it refers to, directly or
// through others, and what the linker makes of them: the module alone if it refuses.
func (i *importing) linked(m *imported, set *ptx.LinkSet, path map[*ptx.Module]string) ([]string, *ptx.Module) {
	mods := set.With(m.mod)
	var names []string
	for _, o := range mods {
		names = append(names, path[o])
	}
	if len(mods) == 1 {
		return names, m.mod
	}
	whole, err := ptx.Link(mods...)
	if err != nil {
		fmt.Fprintf(i.err, "muster: %v\n", err)
		i.failed = true
		return names[:1], m.mod
	}
	return names, whole
}

// module prints, or writes, a PTX module.
func (i *importing) module(m *imported, set *ptx.LinkSet, path map[*ptx.Module]string) error {
	e := &m.entry
	fmt.Fprintf(i.out, "%s: PTX %d.%d for %s, at byte %#x of %s\n", m.path(), e.Version[0], e.Version[1], m.arch, e.Place, i.name)
	if m.mod == nil {
		return nil
	}
	paths, whole := []string(nil), (*ptx.Module)(nil)
	k := 0
	for _, item := range m.mod.Items {
		f, ok := item.(*ptx.Func)
		if !ok || !f.Entry || f.Body == nil {
			continue
		}
		if whole == nil {
			paths, whole = i.linked(m, set, path)
		}
		k++
		file := fmt.Sprintf("%s.%d.yaml", m.base, k)
		with := ""
		if len(paths) > 1 {
			with = ", linked with " + strings.Join(paths[1:], ", ")
		}
		fmt.Fprintf(i.out, "  %s: kernel %s%s\n", file, f.Name, with)
		if i.dir == "" {
			continue
		}
		kernel, err := entry.Find(&launch.Launch{Kernel: f.Name}, whole)
		if err != nil {
			return err
		}
		if _, err := entry.ParamsOf(whole, kernel); err != nil {
			fmt.Fprintf(i.err, "muster: %v\n", err)
			i.failed = true
			continue
		}
		if err := i.write(file, func(w io.Writer) error {
			return skeleton.WriteKnown(w, paths[0], whole, kernel, &skeleton.Known{Link: paths[1:]})
		}); err != nil {
			return err
		}
	}
	return nil
}

// write makes a file, and replaces none.
func (i *importing) write(name string, write func(io.Writer) error) error {
	name = filepath.Join(i.dir, name)
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s is there already; remove it, or name another folder", name)
	}
	return files.Write(name, write)
}

func unique(list []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s], out = true, append(out, s)
		}
	}
	return out
}
