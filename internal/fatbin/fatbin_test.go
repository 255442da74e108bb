package fatbin_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"muster/internal/fatbin"
	"muster/ptx"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRead holds what is in fat binaries to the names that cuobjdump gives it.
func TestRead(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"size.fatbin", "cubin sm_90a, ptx sm_90a 9.0"}, // zstd
		{"lz4.fatbin", "cubin sm_90a, ptx sm_90a 9.0"},
		{"none.fatbin", "cubin sm_90a, ptx sm_90a 9.0"},
		{"three.fatbin", "ptx sm_80 9.0, ptx sm_90a 9.0, cubin sm_100a"},
		{"cubin.fatbin", "cubin sm_90a"},
		{"two.o", "cubin sm_90a, ptx sm_90a 9.0"},
		{"librdc.so", "cubin sm_90a, ptx sm_90a 9.0, cubin sm_90a, ptx sm_90a 9.0"},
	} {
		list, err := fatbin.Read(c.file, read(t, c.file))
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, e := range list {
			s := fmt.Sprintf("cubin sm_%d%s", e.Arch, e.Suffix)
			if e.Kind == fatbin.PTX {
				s = fmt.Sprintf("ptx sm_%d%s %d.%d", e.Arch, e.Suffix, e.Version[0], e.Version[1])
				if _, err := ptx.Parse(c.file, e.Data); err != nil {
					t.Errorf("%s: %v", c.file, err)
				}
			} else if !bytes.HasPrefix(e.Data, []byte("\x7fELF")) {
				t.Errorf("%s: machine code that is no ELF file", c.file)
			}
			got = append(got, s)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %s, want %s", c.file, s, c.want)
		}
	}
}

// TestText holds the PTX to what cuobjdump prints, but for blanks.
func TestText(t *testing.T) {
	header := regexp.MustCompile(`(?m)^(Fatbin (ptx|elf) code:|=+|arch = .*|code version = .*|host = .*|compile_size = .*|compressed|ptxasOptions = .*|identifier = .*|producer = .*|64bit)$`)
	blanks := regexp.MustCompile(`\s+`)
	comments := regexp.MustCompile(`//.*`)
	for _, file := range []string{"lz4.fatbin", "three.fatbin", "two.o", "librdc.so"} {
		list, err := fatbin.Read(file, read(t, file))
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, e := range list {
			if e.Kind == fatbin.PTX {
				all = append(all, e.Data...)
			}
		}
		got := blanks.ReplaceAllString(comments.ReplaceAllString(string(all), ""), "")
		want := blanks.ReplaceAllString(header.ReplaceAllString(string(read(t, file+".txt")), ""), "")
		if got != want || len(got) < 100 {
			t.Errorf("%s: read\n%s\nwant\n%s", file, got, want)
		}
	}
}

// TestDamaged cuts files at every length, and changes each byte.
func TestDamaged(t *testing.T) {
	for _, file := range []string{"size.fatbin", "lz4.fatbin", "two.o"} {
		whole := read(t, file)
		for i := range whole {
			if i%7 == 0 {
				fatbin.Read(file, whole[:i])
			}
			if i%7 == 0 || i < 256 {
				b := bytes.Clone(whole)
				b[i] ^= 0xff
				fatbin.Read(file, b)
			}
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", "x: at byte 0x0: this is no fat binary of CUDA, and no ELF file"},
		{"hello, world", "x: at byte 0x0: this is no fat binary of CUDA, and no ELF file"},
		{string(read(t, "none.fatbin")[:100]), "x: at byte 0x0: a fat binary of 7096 bytes, of which the file has 100"},
		{"\x7fELF", "x: at byte 0x0: an ELF file that is cut off or damaged"},
	} {
		if _, err := fatbin.Read("x", []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// bomb is a fat binary whose entries are a few bytes that become many.
func bomb(t *testing.T, kind fatbin.Kind, entries, size int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	entry := make([]byte, 64)
	le := binary.LittleEndian
	le.PutUint16(entry, uint16(kind))
	le.PutUint32(entry[4:], 64)
	le.PutUint64(entry[8:], uint64(packed.Len()))
	le.PutUint32(entry[16:], uint32(packed.Len()))
	le.PutUint32(entry[28:], 90)
	le.PutUint64(entry[40:], 1<<15)
	le.PutUint64(entry[56:], uint64(size))
	body := bytes.Repeat(append(entry, packed.Bytes()...), entries)
	head := make([]byte, 16)
	le.PutUint32(head, 0xba55ed50)
	le.PutUint16(head[4:], 1)
	le.PutUint16(head[6:], 16)
	le.PutUint64(head[8:], uint64(len(body)))
	return append(head, body...)
}

// TestBomb: what is decompressed of a file is bounded in sum, and machine code is decompressed
// only where it is asked for.
func TestBomb(t *testing.T) {
	count := func(e fatbin.Entry) error { return nil }
	if err := fatbin.Each("x", bomb(t, fatbin.PTX, 20, 60<<20), false, count); err == nil || !strings.Contains(err.Error(), "more than 1073741824 bytes are decompressed") {
		t.Errorf("20 times 60 MiB of PTX: %v", err)
	}
	if err := fatbin.Each("x", bomb(t, fatbin.PTX, 1, 65<<20), false, count); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("65 MiB of PTX: %v", err)
	}
	machine := bomb(t, fatbin.Cubin, 20, 200<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	err := fatbin.Each("x", machine, false, func(e fatbin.Entry) error {
		if n++; e.Data != nil || e.Arch != 90 {
			t.Errorf("%d bytes of machine code for %d", len(e.Data), e.Arch)
		}
		return nil
	})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err != nil || n != 20 || took > 1<<20 {
		t.Errorf("%d entries, %d bytes, %v", n, took, err)
	}
	if _, err := fatbin.Read("x", machine); err == nil {
		t.Error("20 times 200 MiB of machine code are decompressed")
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range []string{"size.fatbin", "lz4.fatbin", "none.fatbin", "three.fatbin", "two.o", "librdc.so"} {
		f.Add(read(f, file))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := fatbin.Read("x", b)
		if err != nil && len(list) > 0 {
			t.Error("entries and an error")
		}
	})
}
