package launch_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/yaml"
	"muster/launch"
)

const sequenceHead = "buffers:\n  x: {type: u32, shape: [8]}\n  y: {type: u32, shape: [8]}\nlaunches:\n"

func sequence(t *testing.T, entries string) *launch.File {
	t.Helper()
	f, err := parseSequence(t, entries)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func parseSequence(t *testing.T, entries string) (*launch.File, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(name, []byte(sequenceHead+entries), 0o600); err != nil {
		t.Fatal(err)
	}
	return yaml.ReadFile(name)
}

func entry(keys string) string { return "- {ptx: k.ptx, grid: 1, block: 32, " + keys + "}\n" }

// TestOrder: what each launch comes after, as "index" or, if programmatically, "index~".
func TestOrder(t *testing.T) {
	for _, c := range []struct{ entries, want string }{
		{entry("kernel: a") + entry("kernel: b") + entry("kernel: c"), "; 0; 1"},
		{entry("kernel: a") + entry("kernel: b, dependent: true") + entry("kernel: c, dependent: true"), "; 0~; 1~"},
		{entry("kernel: a, stream: s") + entry("kernel: b, stream: t") + entry("kernel: c, stream: s, after: [b]"), "; ; 0 1"},
		{entry("kernel: a, stream: s") + entry("kernel: b, stream: t") + entry("kernel: c, stream: s, after: [b], dependent: true"), "; ; 0 1"},
		{entry("kernel: a, after: []") + entry("kernel: b, after: []") + entry("kernel: c, after: [a, b], dependent: true"), "; ; 0~ 1~"},
		{entry("kernel: a, after: []") + entry("kernel: b, after: []") + entry("kernel: c, after: [a, {name: b, programmatic: true}]"), "; ; 0 1~"},
		{entry("kernel: a") + "- {fill: {to: x, bytes: 4}}\n" + entry("kernel: c, dependent: true"), "; 0; 1"},
		{entry("kernel: a, name: one") + entry("kernel: a, name: two, stream: t, after: [one]"), "; 0"},
	} {
		var lists []string
		for _, list := range sequence(t, c.entries).Order() {
			var parts []string
			for _, p := range list {
				s := string(rune('0' + p.Launch))
				if p.Programmatic {
					s += "~"
				}
				parts = append(parts, s)
			}
			lists = append(lists, strings.Join(parts, " "))
		}
		if got := strings.Join(lists, "; "); got != c.want {
			t.Errorf("%s: %s, want %s", c.entries, got, c.want)
		}
	}
}

func TestStages(t *testing.T) {
	for _, c := range []struct {
		entries string
		want    []int
	}{
		{entry("kernel: a") + entry("kernel: b") + entry("kernel: c"), []int{1, 2, 3}},
		{entry("kernel: a") + entry("kernel: b, dependent: true") + entry("kernel: c"), []int{2, 3}},
		{entry("kernel: a") + entry("kernel: b, dependent: true") + entry("kernel: c, dependent: true"), []int{3}},
		{entry("kernel: a, stream: s") + entry("kernel: b, stream: t, after: [a]") + entry("kernel: c, stream: s") + entry("kernel: d, stream: s, after: [b]"), []int{1, 3, 4}},
	} {
		got := sequence(t, c.entries).Stages()
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.entries, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", c.entries, got, c.want)
			}
		}
	}
}

// TestWriteSequence: what Write writes of several launches reads as the same.
func TestWriteSequence(t *testing.T) {
	f := sequence(t, entry("kernel: a, name: one, args: [x, {s32: 4}]")+"- {name: zero, fill: {to: {ptr: x, offset: 8}, value: 3, bytes: 4}, stream: s}\n- {copy: {to: x, from: y, bytes: 32}, after: [one, zero]}\n"+entry("kernel: b, dependent: true, after: [{name: one, programmatic: true}], cluster: 1"))
	var first, second bytes.Buffer
	dir := t.TempDir()
	if err := f.Write(&first, dir); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "again.yaml")
	if err := os.WriteFile(name, first.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := yaml.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Write(&second, dir); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() || len(g.Launches) != 4 || g.Launches[1].Args[0].Ptr.Offset != 8 || g.Launches[2].Builtin != launch.BuiltinCopy {
		t.Errorf("%s\nthen\n%s", &first, &second)
	}
}

func TestBadSequences(t *testing.T) {
	for _, c := range []struct{ entries, want string }{
		{"  []\n", "launches has 0 entries"},
		{entry("kernel: a, after: [b]"), `no launch before this one is called "b"`},
		{entry("kernel: a, after: b"), "after is a list of names"},
		{entry(`kernel: a, name: "n\nclean: all schedules"`), `bad name "n\nclean: all schedules"`},
		{entry("kernel: a, name: n") + entry("kernel: b, name: n"), `the name "n" is taken`},
		{entry("kernel: a") + entry("kernel: a") + entry("kernel: b, after: [a]"), `several launches are called "a"`},
		{entry("kernel: a, stream: s") + entry("kernel: b, stream: t, after: [{name: a, programmatic: true}]"), "an edge beside `stream` is a wait for an event, and not programmatic: leave `stream` out, or write `dependent` without `after`"},
		{"- {name: f, fill: {to: x, bytes: 4}}\n" + entry("kernel: b, after: [{name: f, programmatic: true}]"), "an edge between a kernel and a fill or a copy is not programmatic"},
		{"- {copy: {to: {ptr: x, offset: 4}, from: x, bytes: 8}}\n", "the 8 bytes that are copied overlap"},
		{"- {fill: {to: x, bytes: 0}}\n", "bytes is 0"},
		{"- {fill: {to: {s32: 3}, bytes: 4}}\n", "to is an address in a buffer"},
		{"- {fill: {to: z, bytes: 4}}\n", `no buffer is called "z"`},
		{"- {copy: {to: x, bytes: 4}}\n", `needs the key "from"`},
		{"- {fill: {to: x, bytes: 4}, grid: 1}\n", `unknown key "grid"`},
		{"- 3\n", "a launch is a mapping"},
		{entry("kernel: a, dependent: 1"), "dependent is true or false"},
		{entry("kernel: a") + "grid: 1\n", `unknown key "grid"`},
	} {
		if _, err := parseSequence(t, c.entries); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "s.yaml:") {
			t.Errorf("%s: %v, want %s", c.entries, err, c.want)
		}
	}
}

// TestFlagsOfSeveral: a flag that concerns one launch is refused for a file of several.
func TestFlagsOfSeveral(t *testing.T) {
	for _, fl := range []launch.Flags{{Grid: "4"}, {Block: "64"}, {Kernel: "a"}, {PTX: "k.ptx"}, {Link: []string{"k.ptx"}}, {Args: []string{"x"}}} {
		f := sequence(t, entry("kernel: a")+entry("kernel: b"))
		if err := fl.Apply(f); err == nil || !strings.Contains(err.Error(), "is of one launch, and the file has several") {
			t.Errorf("%+v: %v", fl, err)
		}
	}
	f := sequence(t, entry("kernel: a")+entry("kernel: b"))
	if err := (launch.Flags{Buffers: []string{"x=u32[64]"}}).Apply(f); err != nil {
		t.Error(err)
	}
}
