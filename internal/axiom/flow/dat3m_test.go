package flow

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var dat3m = flag.String("axiom.dat3m", "", "a directory with Dat3M's sources, whose litmus tests of PTX are to be compared")

// differences from Dat3M's results, each with its reason.
var differences = map[string]string{
	"LB+RMW-a.litmus": "an atomic operation is one operation here, two events there: doc.go, decision 3",
}

// TestDat3M holds the axioms to the results that Dat3M expects of its litmus tests.
func TestDat3M(t *testing.T) {
	if *dat3m == "" {
		t.Skip("without -axiom.dat3m")
	}
	for _, list := range []string{"PTXv6_0-expected.csv", "PTXv7_5-expected.csv"} {
		data, err := os.ReadFile(filepath.Join(*dat3m, "dartagnan/src/test/resources", list))
		if err != nil {
			t.Fatal(err)
		}
		agree, differ, unread := 0, 0, 0
		for _, line := range strings.Fields(string(data)) {
			name, want, _ := strings.Cut(line, ",")
			text, err := os.ReadFile(filepath.Join(*dat3m, name))
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			l, err := readLitmus(string(text))
			var got bool
			if err == nil {
				got, err = l.holds()
			}
			switch {
			case err != nil:
				unread++
				t.Logf("%s: %s cannot be read: %v", list, name, err)
			case got == (want == "1"):
				agree++
			case differences[filepath.Base(name)] != "":
				differ++
				t.Logf("%s: %s: %v, want %s: %s", list, name, got, want, differences[filepath.Base(name)])
			default:
				t.Errorf("%s: %s: %v, want %s", list, name, got, want)
			}
		}
		if agree < 124 {
			t.Errorf("%s: %d agree", list, agree)
		}
		t.Logf("%s: %d agree, %d differ, %d cannot be read", list, agree, differ, unread)
	}
}
