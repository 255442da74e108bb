package ptx

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// elsewhere are parts of complaints of ptxas about what no table of instructions states: they
// say nothing of the form.
var elsewhere []string

// beyondTable are forms on which table and ptxas differ, by the beginning of their text, with
// the reason.
var beyondTable = map[string]string{}

// TestBlackwell compares the table with what ptxas 13.0 said of testdata/blackwell.gz: a form
// is taken if a row has it, the target has the row, and the operands have the row's types.
func TestBlackwell(t *testing.T) {
	data, err := os.ReadFile("testdata/blackwell.gz")
	if os.IsNotExist(err) {
		t.Skip("ptxas has not been asked: testdata/forms.sh")
	}
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	count, differ := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			continue
		}
		said, complaint, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words := strings.SplitN(said, " ", 3)
		f := formOfTarget{words[1], words[2]}
		if slices.ContainsFunc(elsewhere, func(w string) bool { return strings.Contains(complaint, w) }) {
			count["elsewhere"]++
			continue
		}
		ok, why := tableTakes(t, f)
		count[words[0]+" "+f.target]++
		if ok == (words[0] == "+") {
			continue
		}
		if known := prefixOf(f.line, beyondTable); known != "" {
			differ[known] = true
			continue
		}
		t.Errorf("%s, %s: ptxas %s %s; the table %v %s", f.target, f.line, words[0], complaint, ok, why)
	}
	for known, why := range beyondTable {
		if !differ[known] {
			t.Errorf("%s does not differ any more: %s", known, why)
		}
	}
	if n := count["+ sm_100a"] + count["- sm_100a"]; n < 3000 || count["+ sm_100a"] < 1000 || count["- sm_100a"] < 1000 {
		t.Errorf("only %v", count)
	}
	t.Log(count)
}

func prefixOf(line string, list map[string]string) (longest string) {
	for p := range maps.Keys(list) {
		if strings.HasPrefix(line, p) && len(p) > len(longest) {
			longest = p
		}
	}
	return longest
}

// TestUnasked lists the rows that ptxas 13.0 cannot be asked about, since they are newer.
func TestUnasked(t *testing.T) {
	rows, cells := 0, 0
	for _, f := range forms {
		if (Version{9, 0}).Before(f.Version) {
			rows++
			t.Logf("unasked: %s (PTX %d.%d)", f.Name, f.Version.Major, f.Version.Minor)
			continue
		}
		for _, s := range f.Since {
			if (Version{9, 0}).Before(s.Version) {
				cells++
				t.Logf("unasked: %s: %s", f.Name, s)
			}
		}
	}
	if rows < 60 || cells < 30 {
		t.Errorf("%d rows and %d modifiers", rows, cells)
	}
}
