package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// root is the repository.
const root = "../.."

// command is the built command.
var command string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "conform")
	if err != nil {
		panic(err)
	}
	command = filepath.Join(dir, "muster")
	build := exec.Command("go", "build", "-o", command, "./cmd/muster")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// muster runs the command in the repository, and returns what it wrote and its exit status.
func muster(t *testing.T, args ...string) ([]byte, int) {
	t.Helper()
	c := exec.Command(command, args...)
	c.Dir = root
	var out bytes.Buffer
	c.Stdout = &out
	err := c.Run()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	return out.Bytes(), c.ProcessState.ExitCode()
}

// file writes a file of the test.
func file(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func parsed(t *testing.T, data []byte) any {
	t.Helper()
	var doc any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v in %.300s", err, data)
	}
	if d.More() {
		t.Fatalf("more than one document: %.300s", data)
	}
	return doc
}

// A job is a command line, its exit status, and what is special about it.
type job struct {
	name   string
	args   []string
	status int
}

// jobs are command lines of all kinds of answers.
func jobs(t *testing.T) []job {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.yaml")
	bad := file(t, "bad.yaml", "ptx: k.ptx\ngrid: many\n")
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	both := "launches:\n"
	for _, name := range []string{"broken_bulk_store", "bulk_store"} {
		both += "  - {name: " + name + ", ptx: " + filepath.Join(abs, "examples/found", name+".ptx") + ", grid: 1, block: 128, args: [in, out]}\n"
	}
	both = file(t, "both.yaml", both+"buffers:\n  in: {type: u32, shape: [128], fill: iota}\n  out: {type: u32, shape: [128], fill: zeros}\n")
	lone := file(t, "lone.yaml", "ptx: "+filepath.Join(abs, "examples/found/bulk_store.ptx")+"\ngrid: 1000000\nblock: 128\ncooperative: true\nargs: [in, out]\nbuffers:\n  in: {type: u32, shape: [128], fill: iota}\n  out: {type: u32, shape: [128], fill: zeros}\n")
	text, err := os.ReadFile(filepath.Join(root, "examples/found/broken_bulk_store.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	accented := bytes.ReplaceAll(text, []byte("\tcp.async.bulk.global"), []byte("\t/* ä 𝄞 */ cp.async.bulk.global"))
	if bytes.Equal(accented, text) {
		t.Fatal("the example has changed")
	}
	ptx := file(t, "accented.ptx", string(accented))
	return []job{
		{"findings", []string{"check", "examples/found/broken_bulk_store.yaml"}, 1},
		{"clean", []string{"check", "examples/ring/ring.yaml"}, 0},
		{"any", []string{"check", "examples/ring/ring.yaml", "--any", "3"}, 0},
		{"cost", []string{"check", "examples/ring/ring.yaml", "--cost"}, 0},
		{"hang", []string{"check", "examples/ring/broken_count.yaml"}, 1},
		{"incomplete", []string{"check", "examples/ring/ring.yaml", "--limit-instrs", "100"}, 3},
		{"sequence", []string{"check", both}, 1},
		{"files", []string{"check", both, "examples/found/broken_bulk_store.yaml", "examples/ring/ring.yaml"}, 1},
		{"bad file", []string{"check", "examples/found/bulk_store.yaml", bad, both}, 2},
		{"launch", []string{"check", lone}, 1},
		{"missing", []string{"check", missing}, 2},
		{"bad", []string{"check", bad}, 2},
		{"flag", []string{"check", "examples/ring/ring.yaml", "--cluster", "0"}, 2},
		{"accepted", []string{"check", "examples/found/broken_bulk_store.yaml", "--accept", "proxy-raw@broken_bulk_store.ptx:37=meant [so](1)"}, 0},
		{"accented", []string{"check", ptx, "--grid", "1", "--block", "128", "--buffer", "in=u32[128]:iota", "--buffer", "out=u32[128]:zeros", "--arg", "in", "--arg", "out"}, 1},
		{"cluster", []string{"check", "examples/gemm_ws_multicast/broken_count.yaml"}, 1},
		{"blackwell", []string{"check", "examples/blackwell/gemm_1cta.yaml"}, 0},
	}
}
