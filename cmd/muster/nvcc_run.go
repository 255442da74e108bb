//go:build !js

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"muster"
	"muster/internal/files"
)

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
	return "", fmt.Errorf("%s: nvcc is not found: install the CUDA toolkit or set CUDA_HOME, or %s", source, byHand(source, arch))
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
	arch := cmp.Or(in.nvcc.arch, defaultArch)
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

// A bounded buffer keeps what comes first.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(data []byte) (int, error) {
	b.Buffer.Write(data[:min(len(data), b.most-b.Len())])
	return len(data), nil
}
