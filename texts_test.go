package muster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/ptx"
)

// TestTexts: a text stands in for its file, which need not be there, and errors name the file.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "k.ptx")
	const launch = "ptx: k.ptx\ngrid: 1\nblock: 32\n"
	f, err := yaml.ReadText(filepath.Join(dir, "k.yaml"), []byte(launch))
	if err != nil {
		t.Fatal(err)
	}
	const right = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n"
	if _, err := muster.LoadSequenceTexts(f, muster.Limits{}, map[string][]byte{file: []byte(right)}); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte(right), 0o666); err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(right, "ret;", "ret", 1)
	_, err = muster.LoadSequenceTexts(f, muster.Limits{}, map[string][]byte{file: []byte(wrong)})
	if e, ok := err.(*ptx.Error); !ok || e.File != file || e.Pos.Line != 4 {
		t.Error(err)
	}
	if _, err := muster.LoadSequence(f, muster.Limits{}); err != nil {
		t.Error(err)
	}
}
