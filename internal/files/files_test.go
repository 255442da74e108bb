package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// holds fails unless a folder holds these files, by name and contents.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if got := string(data); err != nil || got != want[e.Name()] {
			t.Errorf("%s holds %q, %v; want %q", e.Name(), got, err, want[e.Name()])
		}
	}
	if len(list) != len(want) {
		t.Errorf("%v: want %d files", list, len(want))
	}
}

func put(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	put(t, a, "old", 0o640)
	for name, text := range map[string]string{a: "new", b: "fresh"} {
		if err := WriteBytes(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, dir, map[string]string{"a": "new", "b": "fresh"})
	if info, err := os.Stat(a); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode became %v, %v", info.Mode(), err)
	}
}

// A disk that is full after some bytes, at whatever byte, leaves the old file.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	put(t, a, "old", 0o600)
	for _, n := range []int{0, 1, 1 << 17} {
		err := Write(a, func(w io.Writer) error {
			if _, err := w.Write(make([]byte, n)); err != nil {
				return err
			}
			return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
		})
		var failed *WriteError
		if !errors.As(err, &failed) || !errors.Is(err, syscall.ENOSPC) || err.Error() != "cannot write "+a+": no space left on device" {
			t.Errorf("after %d bytes: %v", n, err)
		}
		holds(t, dir, map[string]string{"a": "old"})
	}
}

func TestWriteThroughLink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	a, link := filepath.Join(other, "a"), filepath.Join(dir, "link")
	put(t, a, "old", 0o600)
	if err := os.Symlink(a, link); err != nil {
		t.Skip(err)
	}
	if err := WriteBytes(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v, %v", info, err)
	}
	holds(t, other, map[string]string{"a": "new"})
}

// A device is written to, and not replaced by a file.
func TestWriteDevice(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	if err := WriteBytes(full, []byte("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if info, err := os.Stat(full); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	put(t, a, "1234", 0o600)
	if data, err := Read(a, 4); err != nil || string(data) != "1234" {
		t.Errorf("%q, %v", data, err)
	}
	for name, want := range map[string]string{a: "more than 3 bytes", dir: "is a directory", a + "x": "no such file", os.DevNull: "not a regular file"} {
		if _, err := Read(name, 3); err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", name, err, want)
		}
	}
	if _, err := ReadFrom("-", strings.NewReader(strings.Repeat("x", 1<<10+1)), 1<<10); err == nil || err.Error() != "-: more than 1 KiB, which is all that is read" {
		t.Error(err)
	}
}
