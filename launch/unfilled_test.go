package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/yaml"
)

// TestUnfilled: what is not filled in is named, with the place of the first of it.
func TestUnfilled(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"ptx: k.ptx\ngrid: ???\nblock: [32, ???]\nbuffers: {a: {type: f32, shape: [???, 2], fill: zeros}}\nargs: [a, {s32: ???}, {struct: [{s32: ???}, {s64: ???}]}]\n",
			"2:7: not filled in: grid, block, shape of a, argument 2, argument 3"},
		{"buffers:\n  a: {type: u8, shape: [4], fill: zeros}\nlaunches:\n- {ptx: k.ptx, grid: 1, block: 1, args: [a]}\n- {ptx: k.ptx, grid: 1, block: ???, args: [{ptr: a, offset: ???}]}\n",
			"5:32: not filled in: block, argument 1"},
		{"ptx: k.ptx\ngrid: 1\nblock: 1\nargs: [\"???\", ???, ???, ???, ???, ???, ???, ???, ???, ???, ???, ???]\n",
			"4:8: not filled in: argument 1, argument 2, argument 3, argument 4, argument 5, argument 6, argument 7, argument 8, and 4 more"},
	} {
		name := filepath.Join(t.TempDir(), "k.yaml")
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := yaml.ReadFile(name); err == nil || strings.SplitN(err.Error(), "\n", 2)[0] != name+":"+c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
