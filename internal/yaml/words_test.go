package yaml

import (
	"testing"

	"muster/launch"
)

// TestWords: what slips of the pen lead to, at their places and in a launch file's words.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"grid:1\n":                       "x:1:1: a launch file is a mapping, not a string",
		"ptx: k\ngrid:1\n":               "x:2:1: want a key, a colon, a blank and a value, as grid: 1",
		"ptx: k\ngrid 1\n":               "x:2:1: want a key, a colon, a blank and a value, as grid: 1",
		"ptx: k\n\tgrid: 1\n":            "x:2:1: a tab cannot indent in YAML: write blanks",
		"grid: 1\n block: 2\n":           "x:1:7: a key cannot stand here: check the indentation, and that lists have [ ] and mappings { }",
		"a: {b: 1\nc: 2\n":               "x:2:1: want ',' or '}' before this",
		"a: [1, 2\n":                     "x:1:4: this '[' is not closed",
		"{a: 1\n":                        "x:1:1: this '{' is not closed",
		"a: [1}\n":                       "x:1:4: this '[' is not closed",
		"a: [1]]\n":                      "x:1:7: nothing more can stand here: check the brackets and the indentation",
		"a: \"b\n":                       "x:1:4: this \" is not closed",
		"a: 'b\n":                        "x:1:4: this ' is not closed",
		"a: \"\\q\"\n":                   `x:1:6: \q is no escape in double quotes; single quotes take a backslash as it is`,
		"a: @b\n":                        "x:1:4: '@' cannot begin a value in YAML: quote it",
		"a: - b\n":                       "x:1:4: a list of dashes begins on a line of its own, under its key",
		"a: 1\nb: 2\na: 3\n":             `x:3:1: duplicate key "a", first at line 1`,
		"a: %b\n":                        "x:1:4: a '%' cannot begin a value: quote it",
		"a: |0\n  b\n":                   "x:1:4: '0' cannot stand behind | or >",
		"a: 1\n...\nb\n":                 "x:3:1: nothing can stand behind the end of the document",
		"args: out, {u32: 3}\ngrid: 1\n": "x:1:7: a key cannot stand here: check the indentation, and that lists have [ ] and mappings { }",
	} {
		root, err := parse("x", []byte(text))
		if err == nil {
			_, err = launch.Parse("x", root)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}
