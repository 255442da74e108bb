package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"muster/internal/fatbin"
	"muster/internal/files"
	"muster/internal/skeleton"
	"muster/ptx"
)

// maxProgram bounds the size in bytes of a program that is imported.
const maxProgram = 4 << 30

func importCommand(c *console) *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Take PTX, and launch files to fill in, out of a program",
		Long: `Import lists the code for GPUs in an executable, a library, an object or a fat
binary of CUDA. With -o it writes each PTX module there, and beside it a launch
file for each kernel, as 'muster init' does. Machine code alone cannot be checked:
build with PTX, as by

  nvcc -lineinfo -gencode arch=compute_90a,code=[sm_90a,compute_90a] …`,
		Example: "  muster import ./gemm\n  muster import libattention.so -o kernels",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := files.Read(args[0], maxProgram)
			if err != nil {
				return err
			}
			list, err := fatbin.Read(args[0], data)
			if err != nil {
				return err
			}
			return (&importing{c, args[0], dir}).all(list)
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "the folder to write to; made if it is not there")
	return cmd
}

type importing struct {
	*console
	name, dir string
}

// all prints, or writes, what a program holds.
func (i *importing) all(list []fatbin.Entry) error {
	if i.dir != "" {
		if err := os.MkdirAll(i.dir, 0o777); err != nil {
			return &files.WriteError{Name: i.dir, Err: files.Cause(err)}
		}
	}
	var cubins []string
	modules := [][]byte{}
	for _, e := range list {
		arch := fmt.Sprintf("sm_%d%s", e.Arch, e.Suffix)
		switch {
		case e.Kind == fatbin.Cubin:
			cubins = append(cubins, arch)
		case !contains(modules, e.Data):
			modules = append(modules, e.Data)
			if err := i.module(len(modules), arch, &e); err != nil {
				return err
			}
		}
	}
	switch {
	case len(modules) > 0:
		return nil
	case len(cubins) > 0:
		return fmt.Errorf("%s: machine code for %s and no PTX: build it with -gencode arch=compute_90a,code=[sm_90a,compute_90a]", i.name, strings.Join(unique(cubins), ", "))
	}
	return errors.New(i.name + ": no code for a GPU")
}

// module prints, or writes, the nth PTX module.
func (i *importing) module(n int, arch string, e *fatbin.Entry) error {
	base := fmt.Sprintf("%s.%d.%s", strings.TrimSuffix(filepath.Base(i.name), filepath.Ext(i.name)), n, arch)
	path := base + ".ptx"
	m, err := ptx.Parse(path, e.Data)
	if err != nil {
		fmt.Fprintf(i.err, "muster: %v\n", err) // the next one may do
	}
	fmt.Fprintf(i.out, "%s: PTX %d.%d for %s, at byte %#x of %s\n", path, e.Version[0], e.Version[1], arch, e.Place, i.name)
	if i.dir != "" {
		if err := i.write(path, func(w io.Writer) error { _, err := w.Write(e.Data); return err }); err != nil {
			return err
		}
	}
	if m == nil {
		return nil
	}
	k := 0
	for _, item := range m.Items {
		f, ok := item.(*ptx.Func)
		if !ok || !f.Entry || f.Body == nil {
			continue
		}
		k++
		file := fmt.Sprintf("%s.%d.yaml", base, k)
		fmt.Fprintf(i.out, "  %s: kernel %s\n", file, f.Name)
		if i.dir == "" {
			continue
		}
		if err := i.write(file, func(w io.Writer) error { return skeleton.Write(w, path, m, f) }); err != nil {
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

func contains(list [][]byte, b []byte) bool {
	for _, x := range list {
		if bytes.Equal(x, b) {
			return true
		}
	}
	return false
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
