package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"muster/internal/files"
	"muster/launch"
)

// defaultArch is what nvcc compiles for.
const defaultArch = "sm_90a"

// A compiler is how .cu files become PTX.
type compiler struct {
	arch  string
	flags []string
	// folder holds PTX that no cache could keep; it ends with the command.
	folder string
}

// A compileError is what nvcc says of a file.
type compileError struct {
	said string // its own lines
	line string
}

func (e *compileError) Error() string { return e.line }

// lines returns what nvcc said, as a terminal can show it.
func (e *compileError) lines() string {
	var out strings.Builder
	for line := range strings.Lines(e.said) {
		if line = strings.TrimRight(line, "\r\n"); printable(line) {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// sources compiles each .cu file that a launch file names in place of PTX.
func (in *input) sources(f *launch.File) error {
	for i := range f.Launches {
		if err := in.source(&f.Launches[i]); err != nil {
			return err
		}
	}
	if in.compiled == nil && (in.nvcc.arch != "" || in.nvcc.flags != nil) {
		return errors.New("--arch and --nvcc-flag are for .cu files, which nvcc compiles")
	}
	return nil
}

// source has a launch's .cu file compiled, and takes the kernel's name as the source has it.
func (in *input) source(l *launch.Launch) error {
	source := l.PTX
	switch filepath.Ext(source) {
	case ".cu":
	case ".cuh":
		return fmt.Errorf("%s: a header; name the .cu file that includes it", source)
	default:
		return nil
	}
	if in.compiled[source] == "" {
		name, err := in.compile(source)
		if err != nil {
			return err
		}
		if in.compiled == nil {
			in.compiled = map[string]string{}
		}
		in.compiled[source] = name
	}
	l.PTX = in.compiled[source]
	return sourceKernel(source, l)
}

// byHand says how a .cu file is compiled where nvcc is.
func byHand(source, arch string) string {
	base := strings.TrimSuffix(filepath.Base(source), ".cu")
	return fmt.Sprintf("where it is type nvcc -ptx -lineinfo -arch=%s %s.cu, and name %s.ptx here", arch, base, base)
}

// entries are the names of kernels in PTX.
var entries = regexp.MustCompile(`\.entry\s+([\w$.]+)`)

// sourceKernel gives a launch the name that the compiler made of its kernel's name.
func sourceKernel(source string, l *launch.Launch) error {
	if l.Kernel == "" {
		return nil
	}
	text, err := files.Read(l.PTX, maxSource)
	if err != nil {
		return err
	}
	var found []string
	for _, m := range entries.FindAllSubmatch(text, -1) {
		switch name := string(m[1]); {
		case name == l.Kernel:
			return nil
		case mangled(name, l.Kernel):
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0: // whoever looks for the kernel says that it is not there
	case 1:
		l.Kernel = found[0]
	default:
		return fmt.Errorf("%s: %d kernels are called %s; name one of %s", source, len(found), l.Kernel, strings.Join(found, ", "))
	}
	return nil
}

// mangled reports whether a name of the C++ ABI is that of a function, in whatever namespace
// and with whatever parameters.
func mangled(name, function string) bool {
	rest, ok := strings.CutPrefix(name, "_Z")
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(rest, "N")
	last := ""
	for {
		n := 0
		for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
			n++
		}
		size := 0
		if n == 0 || n > 4 {
			break
		}
		fmt.Sscan(rest[:n], &size)
		if size == 0 || size > len(rest)-n {
			break
		}
		last, rest = rest[n:n+size], rest[n+size:]
		if !strings.HasPrefix(name, "_ZN") {
			break
		}
	}
	return last == function && function != ""
}
