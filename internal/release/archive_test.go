package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"time"
)

var files = []entry{{name: "b/text", data: []byte("text\n")}, {name: "a", data: []byte("program"), program: true}}

// TestSameArchive: the order of files, and where the clock stands, change no byte.
func TestSameArchive(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	for name, pack := range map[string]func(string, []entry, time.Time) ([]byte, error){"tar": tarball, "zip": zipped} {
		one, err1 := pack("dir", files, at.UTC())
		two, err2 := pack("dir", []entry{files[1], files[0]}, at.In(time.UTC))
		if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: other bytes (%v, %v)", name, err1, err2)
		}
	}
}

func TestTarball(t *testing.T) {
	data, err := tarball("dir", files, time.Unix(1_700_000_000, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	for _, want := range []struct {
		name, text string
		mode       int64
	}{{"dir/a", "program", 0o755}, {"dir/b/text", "text\n", 0o644}} {
		h, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || h.Name != want.name || h.Mode != want.mode || string(text) != want.text || h.Uname != "" || h.Uid != 0 {
			t.Errorf("%+v %q %v", h, text, err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Error(err)
	}
}

func TestZipped(t *testing.T) {
	data, err := zipped("dir", files, time.Unix(1_700_000_000, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(r.File) != 2 || r.File[0].Name != "dir/a" || r.File[0].Mode().Perm() != 0o755 {
		t.Fatalf("%v %+v", err, r)
	}
}
