// Package files reads and writes whole files: reads are limited in size and to regular
// files, and writes are atomic.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// A WriteError is the error of output that could not be written.
type WriteError struct {
	Name string
	Err  error
}

func (e *WriteError) Error() string { return fmt.Sprintf("cannot write %s: %v", e.Name, e.Err) }
func (e *WriteError) Unwrap() error { return e.Err }

// Misnamed reports whether the path does not exist or is not permitted for this user, as
// opposed to a disk failure.
func (e *WriteError) Misnamed() bool {
	return slices.ContainsFunc([]error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.EISDIR}, func(k error) bool { return errors.Is(e.Err, k) })
}

// Write replaces a file atomically by the output of write: into a new file beside it,
// which takes the old one's name and mode once all of it is on the disk. If anything
// fails, the old file is unchanged and the new one is removed. A symbolic link stays one.
// A file that is not regular, such as a pipe, is written directly.
func Write(name string, write func(io.Writer) error) error {
	if err := replace(name, write); err != nil {
		return &WriteError{name, Cause(err)}
	}
	return nil
}

// WriteBytes is Write for given contents.
func WriteBytes(name string, data []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func replace(name string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		info = nil
	case err != nil:
		return err
	default:
		// A file that is not writable is not replaced either.
		old, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fill(old, write, false)
		}
		old.Close()
	}
	f, err := beside(name)
	if err != nil {
		return err
	}
	if info != nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err != nil {
		f.Close()
	} else {
		err = fill(f, write, true)
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// beside creates a new file in the folder of another, with the user's default mode for
// new files.
func beside(name string) (*os.File, error) {
	dir := filepath.Dir(name)
	for i := os.Getpid(); ; i++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf(".muster-%d.new", i)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// fill writes to f and closes it.
func fill(f *os.File, write func(io.Writer) error, sync bool) error {
	w := bufio.NewWriterSize(f, 1<<16)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil && sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// Read reads a regular file of at most the given bytes.
func Read(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, Cause(err))
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory", name)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, Cause(err))
	}
	defer f.Close()
	return ReadFrom(name, f, most)
}

// ReadFrom reads at most the given bytes; name is for errors.
func ReadFrom(name string, r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, Cause(err))
	case int64(len(data)) > most:
		return nil, fmt.Errorf("%s: more than %s, which is all that is read", name, size(most))
	}
	return data, nil
}

func size(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if by := int64(1) << (30 - 10*i); n >= by && n%by == 0 {
			return fmt.Sprintf("%d %s", n/by, unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Cause strips the operation and path from an I/O error.
func Cause(err error) error {
	var p *os.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return worded(p.Err)
	case errors.As(err, &l):
		return worded(l.Err)
	}
	return err
}
