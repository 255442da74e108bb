package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/gpu"
)

func TestMain(m *testing.M) {
	gpu.Worker()
	os.Exit(m.Run())
}

func invoke(args ...string) (int, string) {
	var out, errs bytes.Buffer
	status := doMain(args, &out, &errs)
	return status, out.String() + errs.String()
}

func TestBadInput(t *testing.T) {
	kernels := filepath.Join("..", "..", "testdata", "kernels.ptx")
	for _, tt := range []struct {
		args string
		want string
	}{
		{"", "usage:"},
		{"launch", "usage:"},
		{"run", "name one launch file or .ptx, not 0"},
		{"run a.json b.json", "name one launch file or .ptx, not 2"},
		{"run a.yaml", "a.yaml: no such file"},
		{"run none.json", "none.json: no such file"},
		{"run --nonsense", "flag provided but not defined"},
		{"run " + kernels, "a launch without a file needs --grid and --block"},
		{"run " + kernels + " --grid 1 --block 1 --kernel nobody", "nobody"},
		{"run " + kernels + " --grid 1 --block 1 --kernel fault --out x=y.npy", "--out x=y.npy: want name=file.npy"},
		{"time " + kernels + " --grid 1 --block 1 --kernel fault --rounds 0", "must be positive"},
	} {
		status, out := invoke(strings.Fields(tt.args)...)
		if status != exitBadInput || !strings.Contains(out, tt.want) {
			t.Errorf("muster-gpu %s: exit %d: %s", tt.args, status, out)
		}
	}
}

// TestYAML: muster-gpu reads a launch file in YAML as muster does, and errors
// in it have positions.
func TestYAML(t *testing.T) {
	kernels, err := filepath.Abs(filepath.Join("..", "..", "testdata", "kernels.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ranks.yaml")
	text := "ptx: " + kernels + "\nkernel: ranks\ngrid: 8\nblock: 32\nbuffers:\n  out: {type: u32, shape: [8, 2]}\nargs: [out]\n"
	for _, tt := range []struct{ text, flag, want string }{
		{text, "--out=out", "--out out: want name=file.npy with the name of a buffer"},
		{text, "--arg=in", `no buffer is called "in"`},
		{text + "speed: 9\n", "--times=1", "ranks.yaml:8:1: "},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if status, out := invoke("run", file, tt.flag); status != exitBadInput || !strings.Contains(out, tt.want) {
			t.Errorf("%s: exit %d: %s", tt.flag, status, out)
		}
	}
}

// TestRun compares one kernel with the machine if there is a GPU; without one
// the command reports that.
func TestRun(t *testing.T) {
	args := []string{"run", filepath.Join("..", "..", "testdata", "kernels.ptx"), "--kernel", "ranks", "--grid", "8", "--block", "32", "--cluster", "2",
		"--buffer", "out=u32[8,2]:zeros", "--arg", "out"}
	status, out := invoke(args...)
	_, err := gpu.Open()
	var none *gpu.NoDevice
	switch {
	case errors.As(err, &none):
		t.Log(err)
		if status != exitBadInput || !strings.Contains(out, "no GPU: ") {
			t.Errorf("exit %d: %s", status, out)
		}
	case status != exitEqual || !strings.Contains(out, "out: all 16 elements are bit-equal"):
		t.Errorf("exit %d: %s", status, out)
	}
}
