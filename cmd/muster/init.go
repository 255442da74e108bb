package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"muster/internal/entry"
	"muster/internal/files"
	"muster/internal/skeleton"
	"muster/launch"
	"muster/ptx"
)

func initCommand(c *console) *cobra.Command {
	var kernel, out string
	cmd := &cobra.Command{
		Use:   "init K.ptx…|K.cu",
		Short: "Write a launch file to fill in, with every parameter of a kernel",
		Long: `Init writes a launch file for a kernel of which only the PTX is at hand: each
parameter with its type (pointers by what the kernel does with them, structs by
the parts that it loads, tensor maps), what the kernel declares, and a comment
wherever only the author knows: the grid, shapes, contents, numbers. A .cu file is
compiled by nvcc where that is found. Several PTX modules of one kernel (nvcc
-rdc=true) are linked.`,
		Example: "  muster init k.ptx > k.yaml\n  muster init gemm.ptx --kernel gemm_f16 -o gemm.yaml",
		Args:    atLeast(1, "a .ptx or .cu"),
		RunE: func(_ *cobra.Command, args []string) error {
			l := &launch.Launch{PTX: args[0], Kernel: kernel}
			if filepath.Ext(args[0]) == ".cu" {
				in := defaultInput()
				w, err := c.begin(in)
				if err != nil {
					return err
				}
				defer w.close()
				if err := in.source(l); err != nil {
					return err
				}
			}
			m, err := readModules(c.in, append([]string{l.PTX}, args[1:]...))
			if err != nil {
				return err
			}
			f, err := entry.Find(&launch.Launch{Kernel: l.Kernel}, m)
			if err != nil {
				return fmt.Errorf("%s: %s", args[0], strings.TrimPrefix(err.Error(), ": "))
			}
			if _, err := entry.ParamsOf(m, f); err != nil {
				return err
			}
			// A launch file names its PTX from its own folder.
			names := make([]string, len(args))
			for i, name := range args {
				names[i] = name
				if rel, err := filepath.Rel(filepath.Dir(out), name); err == nil && out != "" && !filepath.IsAbs(name) && name != "-" {
					names[i] = rel
				}
			}
			write := func(w io.Writer) error {
				return skeleton.WriteKnown(w, names[0], m, f, &skeleton.Known{Link: names[1:]})
			}
			if out == "" {
				return write(c.out)
			}
			if _, err := os.Lstat(out); err == nil {
				return fmt.Errorf("%s is there already; remove it, or name another file", out)
			}
			return files.Write(out, write)
		},
	}
	cmd.Flags().StringVar(&kernel, "kernel", "", "the kernel's name, if the module has several")
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write, which must not be there")
	return cmd
}

// readModules reads a module, or several that are linked.
func readModules(in io.Reader, names []string) (*ptx.Module, error) {
	if len(names) > launch.MaxModules {
		return nil, fmt.Errorf("%d modules; at most %d can be linked", len(names), launch.MaxModules)
	}
	var mods []*ptx.Module
	for _, name := range names {
		m, err := parseSource(in, name)
		if err != nil {
			return nil, err
		}
		mods = append(mods, m)
	}
	if len(mods) == 1 {
		return mods[0], nil
	}
	return ptx.Link(mods...)
}
