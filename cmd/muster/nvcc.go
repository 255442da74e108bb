package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"muster"
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

// findNVCC returns nvcc's path.
func findNVCC(source, arch string) (string, error) {
	if path, err := exec.LookPath("nvcc"); err == nil {
		return path, nil
	}
	for _, dir := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"} {
		if dir == "" {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, "bin", "nvcc")); err == nil {
			return path, nil
		}
	}
	base := strings.TrimSuffix(filepath.Base(source), ".cu")
	return "", fmt.Errorf("%s: nvcc is not found: install the CUDA toolkit or set CUDA_HOME, or where it is type nvcc -ptx -lineinfo -arch=%s %s.cu, and name %s.ptx here", source, arch, base, base)
}

// compile returns the path of the PTX that nvcc makes of a .cu file.
func (in *input) compile(source string) (string, error) {
	info, err := os.Stat(source)
	if err != nil {
		return "", fmt.Errorf("%s: %w", source, files.Cause(err))
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: not a regular file", source)
	}
	arch := in.nvcc.arch
	if arch == "" {
		arch = defaultArch
	}
	nvcc, err := findNVCC(source, arch)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "muster-nvcc-")
	if err != nil {
		return "", fmt.Errorf("no folder for PTX: %w", err)
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "out.ptx")
	named := source
	if strings.HasPrefix(named, "-") {
		named = "./" + named
	}
	in.begun.console.display.tell(muster.Progress{Stage: "compiling " + filepath.Base(source) + " with nvcc"})
	ctx, cancel := context.WithTimeout(in.begun, in.limits.Time)
	defer cancel()
	args := append([]string{"-ptx", "-lineinfo", "-arch=" + arch}, in.nvcc.flags...)
	cmd := exec.CommandContext(ctx, nvcc, append(args, "-o", out, named)...)
	cmd.Env = nvccEnvironment(os.Environ())
	cmd.WaitDelay = time.Second
	said := &bounded{most: 64 << 10}
	cmd.Stdout, cmd.Stderr = said, said
	err = cmd.Run()
	switch {
	case in.begun.Err() != nil:
		return "", in.begun.Err()
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: nvcc did not end within %v (--limit-time)", source, in.limits.Time)
	case err != nil:
		return "", &compileError{said.String(), fmt.Sprintf("%s: nvcc cannot compile it: %v", source, err)}
	}
	text, err := files.Read(out, maxSource)
	if err != nil {
		return "", &compileError{said.String(), fmt.Sprintf("%s: nvcc left no PTX that can be read", source)}
	}
	return in.keep(source, text)
}

// nvccEnvironment is an environment without the options that nvcc takes from it: they could
// change what is compiled, and where it lies.
func nvccEnvironment(from []string) (env []string) {
	for _, v := range from {
		if name, _, _ := strings.Cut(v, "="); name != "NVCC_APPEND_FLAGS" && name != "NVCC_PREPEND_FLAGS" {
			env = append(env, v)
		}
	}
	return env
}

// keep puts PTX into the user's cache, so that its lines can be looked up later; into a folder
// that ends with the command, where there is no cache.
func (in *input) keep(source string, text []byte) (string, error) {
	base := fileName(strings.TrimSuffix(filepath.Base(source), ".cu")) + ".ptx"
	sum := sha256.Sum256(text)
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "muster", "ptx", fmt.Sprintf("%x", sum[:6]))
		name := filepath.Join(dir, base)
		if os.MkdirAll(dir, 0o700) == nil && files.WriteBytes(name, text) == nil {
			return name, nil
		}
	}
	if in.nvcc.folder == "" {
		dir, err := os.MkdirTemp("", "muster-ptx-")
		if err != nil {
			return "", fmt.Errorf("no folder for PTX: %w", err)
		}
		in.nvcc.folder = dir
		in.begun.after = append(in.begun.after, func() { os.RemoveAll(dir) })
	}
	dir := filepath.Join(in.nvcc.folder, fmt.Sprintf("%x", sum[:6]))
	name := filepath.Join(dir, base)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return name, files.WriteBytes(name, text)
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

// A bounded buffer keeps what comes first.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(data []byte) (int, error) {
	b.Buffer.Write(data[:min(len(data), b.most-b.Len())])
	return len(data), nil
}
