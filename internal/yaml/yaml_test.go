package yaml

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/launch"
)

// show writes a tree with the place of every node.
func show(n *launch.Node) string {
	at := fmt.Sprintf("@%d:%d", n.Pos.Line, n.Pos.Col)
	switch n.Kind {
	case launch.SeqNode:
		var parts []string
		for _, i := range n.Items {
			parts = append(parts, show(i))
		}
		return "[" + strings.Join(parts, " ") + "]" + at
	case launch.MapNode:
		var parts []string
		for _, e := range n.Entries {
			parts = append(parts, fmt.Sprintf("%s@%d:%d=%s", e.Key, e.Pos.Line, e.Pos.Col, show(e.Value)))
		}
		return "{" + strings.Join(parts, " ") + "}" + at
	}
	return fmt.Sprintf("%d(%s)%s", n.Kind, n.Text, at)
}

func TestYAML(t *testing.T) {
	const (
		null = launch.NullNode
		i    = launch.IntNode
		f    = launch.FloatNode
		s    = launch.StringNode
		b    = launch.BoolNode
	)
	scalar := func(k launch.NodeKind, text string) string { return fmt.Sprintf("{a@1:1=%d(%s)@1:4}@1:1", k, text) }
	for text, want := range map[string]string{
		"a: 1":                          scalar(i, "1"),
		"a: -7":                         scalar(i, "-7"),
		"a: 0x3f800000":                 scalar(i, "0x3f800000"), // the token, not the number
		"a: 1_000":                      scalar(i, "1_000"),
		"a: 18446744073709551615":       scalar(i, "18446744073709551615"),
		"a: 1.5e3":                      scalar(f, "1.5e3"),
		"a: 1e-05":                      scalar(f, "1e-05"),
		"{\"a\": -2E+9}":                "{a@1:2=3(-2E+9)@1:7}@1:1",
		`a: "1e-05"`:                    scalar(s, "1e-05"),
		"a: .nan":                       scalar(s, ".nan"),
		"a: -.inf":                      scalar(s, "-.inf"),
		"a: nan":                        scalar(s, "nan"),
		`a: "0x10"`:                     scalar(s, "0x10"),
		"a: 'it''s'":                    scalar(s, "it's"),
		"a: true":                       scalar(b, "true"),
		"a: null":                       scalar(null, "null"),
		"a: 128B":                       scalar(s, "128B"),
		"a: ring.ptx # a comment":       scalar(s, "ring.ptx"),
		"# only\na: 1":                  "{a@2:1=2(1)@2:4}@2:1",
		"a: [1, {b: 2}]":                "{a@1:1=[2(1)@1:5 {b@1:9=2(2)@1:12}@1:8]@1:4}@1:1",
		"a:\n  - 1\n  - b: 2\n    c: 3": "{a@1:1=[2(1)@2:5 {b@3:5=2(2)@3:8 c@4:5=2(3)@4:8}@3:5]@2:3}@1:1",
		"{\"a\": 1}":                    "{a@1:2=2(1)@1:7}@1:1",
		"größe: 1\nb: {ä: x}":           "{größe@1:1=2(1)@1:10 b@2:1={ä@2:5=4(x)@2:9}@2:4}@1:1", // columns count bytes
		"a: &x [1]\nb: *x":              "{a@1:1=[2(1)@1:8]@1:7 b@2:1=[2(1)@1:8]@1:7}@1:1",
	} {
		n, err := parse("x.yaml", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := show(n); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestYAMLIsJSON: a launch file in JSON is the same file through either
// parser, places included.
func TestYAMLIsJSON(t *testing.T) {
	const text = `{
  "ptx": "ring.ptx", "grid": [2, 1], "block": 160,
  "buffers": {"in": {"type": "f32", "shape": [16384], "fill": {"random": {"seed": 1, "low": -1, "high": 1}}}},
  "args": ["in", {"ptr": "in", "offset": 8}, {"f32": "0x3f800000"}, {"struct": [{"s32": -3}, {"pad": 4}]}, null],
  "accept": [{"finding": "proxy-war", "at": "a:1", "reason": "x"}]
}
`
	want, err := launch.ParseJSON("x.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	root, err := parse("x.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := launch.Parse("x.json", root)
	if err != nil {
		t.Fatal(err)
	}
	if g, w := fmt.Sprintf("%+v", got.Buffers), fmt.Sprintf("%+v", want.Buffers); g != w {
		t.Errorf("buffers\n got %s\nwant %s", g, w)
	}
	if g, w := fmt.Sprintf("%+v", got.Accept), fmt.Sprintf("%+v", want.Accept); g != w {
		t.Errorf("accept\n got %s\nwant %s", g, w)
	}
	for i, a := range want.Launches[0].Args {
		if g := got.Launches[0].Args[i]; g.Pos != a.Pos || g.Kind != a.Kind || g.Bits != a.Bits {
			t.Errorf("argument %d: %+v, want %+v", i, g, a)
		}
	}
}

// FuzzYAML: any text is a launch file or one error with a place in this file.
func FuzzYAML(f *testing.F) {
	files, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{"", "a: &a [*a]", "? [1]\n: 2", "<<: {a: 1}", "a: |\n  text\n b", "- - - 1", "a: !!str 1", "--- 1\n--- 2", "\t", "a: \"\\x", "{", "a: >-\n", "%YAML 1.2\n---\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		root, err := parse("x.yaml", text)
		if err == nil {
			_, err = launch.Parse("x.yaml", root)
		}
		var e *launch.Error
		if err != nil && (!errors.As(err, &e) || e.File != "x.yaml" && !strings.HasPrefix(e.File, "x.yaml")) {
			t.Fatalf("no place: %v", err)
		}
	})
}
