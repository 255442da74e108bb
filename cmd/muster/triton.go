//go:build !js

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"

	"muster/internal/files"
	"muster/internal/skeleton"
	"muster/internal/tritonlog"
	"muster/launch"
	"muster/ptx"
)

// A logFile is an open log.
type logFile struct {
	io.Reader
	file  *os.File
	close func()
}

func (l *logFile) Close() error {
	if l.close != nil {
		l.close()
	}
	return l.file.Close()
}

// logNames are the ends of names that logs of tritonparse have.
var logNames = []string{".ndjson", ".ndjson.gz", ".ndjson.zst", ".jsonl", ".jsonl.gz", ".clp"}

// openLog opens a log of tritonparse and decompresses it. It reports whether the file is one:
// by its name, or by how it begins.
func openLog(name string, info os.FileInfo) (*logFile, bool, error) {
	named := false
	for _, end := range logNames {
		named = named || strings.HasSuffix(name, end)
	}
	if !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%s: not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", name, files.Cause(err))
	}
	l := &logFile{file: f}
	fail := func(is bool, err error) (*logFile, bool, error) {
		f.Close()
		return nil, is, err
	}
	buffered := bufio.NewReaderSize(f, 1<<16)
	head, err := buffered.Peek(4)
	if err != nil && err != io.EOF {
		return fail(false, fmt.Errorf("%s: %w", name, files.Cause(err)))
	}
	switch {
	case strings.HasSuffix(name, ".clp"):
		return fail(true, fmt.Errorf("%s: compressed by CLP, which is not read; TRITON_TRACE_COMPRESSION=gzip makes logs that are", name))
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(buffered) // one member after the other
		if err != nil {
			return fail(true, fmt.Errorf("%s: %w", name, files.ErrDamaged))
		}
		l.Reader = files.Decompressed{From: z}
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
		if err != nil {
			return fail(true, fmt.Errorf("%s: %w", name, files.ErrDamaged))
		}
		l.Reader, l.close = files.Decompressed{From: z}, z.Close
	case named || len(bytes.TrimSpace(head)) > 0 && bytes.TrimSpace(head)[0] == '{':
		l.Reader = buffered
	default:
		return fail(false, nil)
	}
	return l, true, nil
}

// triton prints, or writes, what a log or a cache holds: all that comes before an error, too.
func (i *importing) triton(log *tritonlog.Log, err error) error {
	if log == nil {
		return err
	}
	if i.dir != "" && len(log.Kernels) > 0 {
		if err := os.MkdirAll(i.dir, 0o777); err != nil {
			return &files.WriteError{Name: i.dir, Err: files.Cause(err)}
		}
	}
	for n, k := range log.Kernels {
		if err := i.kernel(n+1, k); err != nil {
			return err
		}
	}
	for _, e := range log.Errs {
		i.failed = true
		fmt.Fprintf(i.err, "muster: %v\n", e)
	}
	if err != nil {
		return err
	}
	for _, text := range log.Lines {
		fmt.Fprintf(i.err, "muster: %s\n", text)
	}
	return i.end()
}

// target is the architecture that PTX names.
var target = regexp.MustCompile(`(?m)^\s*\.target\s+(sm_[0-9]+[a-z]?)`)

// kernel prints, or writes, the nth kernel of a log or a cache.
func (i *importing) kernel(n int, k *tritonlog.Kernel) error {
	base := fmt.Sprintf("%s.%d", kernelFile(k.Name), n)
	if t := target.FindSubmatch(k.PTX[:min(len(k.PTX), 1<<16)]); t != nil {
		base += "." + string(t[1])
	}
	path := base + ".ptx"
	m, err := ptx.Parse(path, k.PTX)
	if err != nil {
		i.failed = true
		fmt.Fprintf(i.err, "muster: %s: the PTX there, %v\n", k.Place, err)
	}
	fmt.Fprintf(i.out, "%s: from %s\n", path, k.Place)
	if i.dir != "" {
		if err := i.write(path, func(w io.Writer) error { _, err := w.Write(k.PTX); return err }); err != nil {
			return err
		}
	}
	if m == nil {
		return nil
	}
	f := k.Find(m)
	if f == nil {
		i.failed = true
		fmt.Fprintf(i.err, "muster: %s: its PTX has no kernel %s\n", k.Place, kernelFile(k.Name))
		return nil
	}
	launches := k.Launches
	if len(launches) == 0 {
		launches = []*tritonlog.Launch{nil}
	}
	for j, l := range launches {
		if err := i.launch(fmt.Sprintf("%s.%d", base, j+1), path, m, f, k, l); err != nil {
			return err
		}
	}
	return nil
}

// launch prints, or writes, one launch of a kernel; none, if l is nil.
func (i *importing) launch(base, path string, m *ptx.Module, f *ptx.Func, k *tritonlog.Kernel, l *tritonlog.Launch) error {
	what := "kernel " + f.Name
	if l != nil {
		what += ", launched at " + l.Place
	}
	fmt.Fprintf(i.out, "  %s.yaml: %s\n", base, what)
	if i.dir == "" {
		return nil
	}
	known, err := k.Known(f, l, tritonlog.Options{Blob: i.blob, Keep: func(a *tritonlog.Array) (string, error) {
		name := base + "." + a.Name + ".npy"
		return name, i.write(name, func(w io.Writer) error {
			return launch.WriteNpy(w, &launch.Array{Descr: a.Type.NpyDescr(), Shape: a.Shape, Data: a.Data})
		})
	}})
	if err != nil {
		i.failed = true
		fmt.Fprintf(i.err, "muster: %v\n", err)
		return nil
	}
	return i.write(base+".yaml", func(w io.Writer) error { return skeleton.WriteKnown(w, path, m, f, known) })
}

// kernelFile makes a part of a file's name of a kernel's name.
func kernelFile(name string) string {
	const most = 100
	out := strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			return c
		}
		return '_'
	}, name)
	if out == "" || out[0] == '-' {
		out = "kernel" + out
	}
	return out[:min(len(out), most)]
}

// blobName is where tritonparse keeps a tensor, below the folder of its logs.
var blobName = regexp.MustCompile(`(?:^|/)(saved_tensors/[0-9a-f]{2}/[0-9a-f]{16,128}\.bin(?:\.gz)?)$`)

// maxBlob bounds the size of a saved tensor in bytes, decompressed.
const maxBlob = 1<<30 + 1<<20

// blob reads a tensor that tritonparse saved: where the log says, or beside the log, which may
// have come from another machine.
func (i *importing) blob(path string) ([]byte, error) {
	name := blobName.FindStringSubmatch(filepath.ToSlash(path))
	if name == nil {
		return nil, fmt.Errorf("%q is no file of saved_tensors", path)
	}
	beside := filepath.Join(filepath.Dir(i.name), filepath.FromSlash(name[1]))
	data, err := files.Read(beside, maxBlob)
	if err != nil && filepath.IsAbs(path) {
		var other error
		if data, other = files.Read(path, maxBlob); other == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(path, ".gz") {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("not compressed by gzip")
	}
	return files.ReadFrom(beside, z, maxBlob)
}
