package litmus

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var dat3m = flag.String("litmus.dat3m", "", "a directory with Dat3M's sources, whose litmus tests of PTX are to be compared")

// TestDat3M holds the engines to the results that Dat3M expects of its litmus tests.
func TestDat3M(t *testing.T) {
	if *dat3m == "" {
		t.Skip("without -litmus.dat3m")
	}
	want := map[string]string{}
	for _, list := range []string{"PTXv6_0-expected.csv", "PTXv7_5-expected.csv"} {
		data, err := os.ReadFile(filepath.Join(*dat3m, "dartagnan/src/test/resources", list))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Fields(string(data)) {
			name, result, _ := strings.Cut(line, ",")
			want[name] = result
		}
	}
	agree, unread := 0, 0
	start := time.Now()
	filepath.WalkDir(filepath.Join(*dat3m, "litmus/PTX"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".litmus" {
			return err
		}
		rel, _ := filepath.Rel(*dat3m, path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Read(rel, text)
		if err != nil {
			unread++
			t.Logf("%v", err)
			return nil
		}
		begin := time.Now()
		o, err := x.Axioms(2, nil)
		if err != nil {
			unread++
			t.Logf("%v", err)
			return nil
		}
		holds, sure := x.holds(o)
		if took := time.Since(begin); took > time.Second {
			t.Logf("%s: %v, %d graphs", rel, took, o.Count)
		}
		if w, ok := want[rel]; ok {
			if !sure || holds != (w == "1") {
				t.Logf("%s: %v %v, want %s", rel, holds, sure, w)
			} else {
				agree++
			}
		} else if !sure || !holds {
			t.Logf("%s: %v %v, without expectation", rel, holds, sure)
		}
		return nil
	})
	t.Logf("%d agree, %d cannot be read, %v", agree, unread, time.Since(start))
}
