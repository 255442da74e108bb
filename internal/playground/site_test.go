package playground

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// root is the repository's.
const root = "../.."

// made makes the site, and the command of this machine, once for all tests.
var made = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "muster-playground-"); err != nil {
		return "", err
	}
	temporary = dir
	if err := Write(root, dir); err != nil {
		return "", err
	}
	// Node takes a .js file for a module if it is told so.
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o666); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "muster"), "./cmd/muster")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return dir, nil
})

var temporary string

func TestMain(m *testing.M) {
	code := m.Run()
	if temporary != "" {
		os.RemoveAll(temporary)
	}
	os.Exit(code)
}

// site returns the folder of the site.
func site(t testing.TB) string {
	t.Helper()
	dir, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSize: what a browser loads before the first verdict.
func TestSize(t *testing.T) {
	info, err := os.Stat(filepath.Join(site(t), "muster.bin"))
	if err != nil {
		t.Fatal(err)
	}
	const most = 5_000_000
	if info.Size() > most {
		t.Errorf("the program takes %d bytes, compressed; at most %d", info.Size(), most)
	}
}

// TestPacked: unpack.js makes of the shipped bytes what the compiler made, but that segments of
// data are joined; and those say the same.
func TestPacked(t *testing.T) {
	node(t)
	module, err := Compile(root)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := join(module)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := pack(module)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(memory(t, module), memory(t, joined)) {
		t.Error("the memory that the joined segments make is another")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "packed"), packed, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := nodeCommand(t, "--input-type=module", "-e", `
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { unpack } from "`+filepath.ToSlash(site(t))+`/unpack.js";
const bytes = unpack(new Uint8Array(gunzipSync(readFileSync("packed"))));
await WebAssembly.compile(bytes);
writeFileSync("module", bytes);
const other = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
if (unpack(other) !== other) throw new Error("a module that is not packed is not left alone");
`, dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(dir, "module"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, joined) {
		t.Errorf("unpacked: %d bytes, other than the %d that were packed", len(got), len(joined))
	}
}

// memory is what a module's data makes of memory.
func memory(t *testing.T, module []byte) []byte {
	t.Helper()
	s := &splitter{b: module}
	s.take(8)
	for s.at < len(module) {
		id, size := s.next(), s.number()
		if id != 11 {
			s.take(size)
			continue
		}
		list, err := s.segments()
		if err != nil {
			t.Fatal(err)
		}
		last := list[len(list)-1]
		all := make([]byte, last.at+len(last.data))
		for _, g := range list {
			copy(all[g.at:], g.data)
		}
		return all
	}
	t.Fatal("no data")
	return nil
}

// TestDamagedModules: what is no module, or is cut anywhere, gives an error.
func TestDamagedModules(t *testing.T) {
	// A function with a loop, a table, constants and a load; a segment of data.
	body := []byte{1, 2, 0x7f, 0x20, 0, 0x41, 0x80, 1, 0x28, 2, 4, 0x0e, 1, 0, 0, 0x42, 3, 0x44, 0, 0, 0, 0, 0, 0, 0, 0, 0xfc, 10, 0, 0, 0x0b}
	code := append([]byte{1, byte(len(body))}, body...)
	module := append([]byte{0, 'a', 's', 'm', 1, 0, 0, 0, 10, byte(len(code))}, code...)
	module = append(module, 11, 8, 1, 0, 0x41, 16, 0x0b, 2, 'h', 'i')
	if _, err := pack(module); err != nil {
		t.Fatal(err)
	}
	for n := range len(module) {
		if n == 8 || n == len(module)-10 { // between two sections
			continue
		}
		if _, err := pack(module[:n]); err == nil {
			t.Errorf("cut at byte %d of %d: no error", n, len(module))
		}
	}
	bad := bytes.Clone(module)
	bad[bytes.Index(bad, []byte{0x28, 2, 4})+1] = 0
	if _, err := pack(bad); err == nil {
		t.Error("an alignment that is not natural: no error")
	}
}
