package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/yaml"
	"muster/launch"
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
		f, err := yaml.ReadFile(name)
		if err == nil {
			err = f.Validate()
		}
		if err == nil || strings.SplitN(err.Error(), "\n", 2)[0] != name+":"+c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestUnfilledFlags: flags fill in what they state, and nothing else.
func TestUnfilledFlags(t *testing.T) {
	const text = "ptx: k.ptx\ngrid: ???\nblock: ???\ncluster: ???\nshared: ???\nbuffers: {a: {type: f32, shape: [???], fill: zeros}}\nargs: [a, {s32: ???}]\n"
	name := filepath.Join(t.TempDir(), "k.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	fl := launch.Flags{}
	for _, step := range []struct {
		fill func()
		want string
	}{
		{func() {}, "2:7: not filled in: grid, block, cluster, shared, shape of a, argument 2"},
		{func() { fl.Grid, fl.Shared = "4", "64" }, "3:8: not filled in: block, cluster, shape of a, argument 2"},
		{func() { fl.Buffers = []string{"b=f32[4]:zeros"} }, "3:8: not filled in: block, cluster, shape of a, argument 2"},
		{func() { fl.Block, fl.Cluster, fl.Buffers = "32", "2", []string{"a=f32[4]:zeros"} }, "7:17: not filled in: argument 2"},
		{func() { fl.Args = []string{"a", "s32:3"} }, ""},
	} {
		step.fill()
		f, err := yaml.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := fl.Apply(f); err != nil {
			got = strings.TrimPrefix(strings.SplitN(err.Error(), "\n", 2)[0], name+":")
		}
		if got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
}
