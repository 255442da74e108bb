package capture

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed shim/shim.c
var shimFirst []byte

//go:embed shim/graph.c
var shimGraphs []byte

//go:embed shim/dry.c
var shimDry []byte

//go:embed shim/order.c
var shimOrder []byte

//go:embed shim/link.c
var shimLinks []byte

// shimSource is one text for the compiler.
var shimSource = slices.Concat(shimFirst, shimGraphs, shimDry, shimOrder, shimLinks)

// compilers are tried in order. Users of PyTorch and of Triton have one, since those need it.
var compilers = [][]string{
	{"cc", "-shared", "-fPIC"},
	{"gcc", "-shared", "-fPIC"},
	{"clang", "-shared", "-fPIC"},
	{"nvcc", "-shared", "-x", "c", "-Xcompiler", "-fPIC,-fvisibility=hidden"},
}

// library returns the path of the shim, compiled, and what removes it if it is for one run. It
// is kept in the user's cache; without one, as in a container that has no home, it is made anew.
func library() (name string, remove func(), err error) {
	if runtime.GOOS != "linux" {
		return "", nil, errors.New("capture runs on Linux alone, where the GPU is; 'muster check' reads the result anywhere")
	}
	remove = func() {}
	dir, err := cache()
	if err != nil {
		if dir, err = temporary("muster-shim-"); err != nil {
			return "", nil, err
		}
		remove = func() { os.RemoveAll(dir) }
	}
	name = filepath.Join(dir, fmt.Sprintf("%x-%s.so", sha256.Sum256(shimSource), runtime.GOARCH))
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
		return name, remove, nil
	}
	if err := compile(dir, name); err != nil {
		remove()
		return "", nil, err
	}
	return name, remove, nil
}

// cache makes a folder of the user's cache that only the user can write to.
func cache() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "muster", "shim")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("%s is not a folder of this user: %w", dir, err)
	}
	probe, err := os.CreateTemp(dir, "probe-")
	if err != nil {
		return "", err
	}
	probe.Close()
	return dir, os.Remove(probe.Name())
}

// temporary makes a folder for this run, where $TMPDIR says, or else in /tmp: since a socket's
// path has at most 108 bytes, its own has no more than 80.
func temporary(prefix string) (string, error) {
	const most = 80
	dir, err := os.MkdirTemp("", prefix)
	if err == nil && len(dir) <= most {
		return dir, nil
	}
	if err == nil {
		os.RemoveAll(dir)
	}
	return os.MkdirTemp("/tmp", prefix)
}

// compile makes the shim, beside its place and then there.
func compile(dir, name string) error {
	src, err := os.CreateTemp(dir, "*.c")
	if err != nil {
		return err
	}
	defer os.Remove(src.Name())
	_, err = src.Write(shimSource)
	if e := src.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	out := src.Name() + ".so"
	defer os.Remove(out)
	for _, c := range compilers {
		path, err := exec.LookPath(c[0])
		if err != nil {
			continue
		}
		flags := append(c[1:len(c):len(c)], "-O2")
		if c[0] != "nvcc" {
			flags = append(flags, "-fvisibility=hidden")
		}
		cmd := exec.Command(path, append(flags, "-o", out, src.Name(), "-ldl", "-lpthread")...)
		if said, err := cmd.CombinedOutput(); err != nil {
			line, _, _ := strings.Cut(string(bytes.TrimSpace(said)), "\n")
			return fmt.Errorf("%s cannot compile the part that is preloaded: %w: %s", path, err, line)
		}
		return os.Rename(out, name)
	}
	return errors.New("capture needs a C compiler for the part that is preloaded into the program: install gcc or clang (Debian: apt install gcc)")
}
