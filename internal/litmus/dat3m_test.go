package litmus

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var dat3m = flag.String("litmus.dat3m", "", "a directory with Dat3M's sources, whose litmus tests of PTX are to be compared")

// differences from Dat3M's results, each with its reason.
var differences = map[string]string{
	"LB+RMW-a.litmus":     "an atomic operation is one operation here, two events there: package axiom/flow, decision 3",
	"quorum1-pass.litmus": restarts,
	"quorum2-pass.litmus": restarts,
	"quorum3-pass.litmus": restarts,
	"quorum4-pass.litmus": restarts,
}

const restarts = "a barrier begins anew after each quorum (ISA 9.7.13.1), so that the third thread waits for ever; Dat3M lets it pass"

// A measure counts answers.
type measure map[string]int

// TestDat3M answers Dat3M's litmus tests, and holds the answers to the results that Dat3M
// expects where it has some.
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
			if w, ok := want[name]; ok && w != result {
				t.Errorf("%s: two results are expected", name)
			}
			want[name] = result
		}
	}
	n, slowest, slow := measure{}, time.Duration(0), ""
	start := time.Now()
	err := filepath.WalkDir(filepath.Join(*dat3m, "litmus/PTX"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".litmus" {
			return err
		}
		rel, _ := filepath.Rel(*dat3m, path)
		begin := time.Now()
		answered(t, path, filepath.ToSlash(rel), want, n)
		if took := time.Since(begin); took > slowest {
			slowest, slow = took, rel
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range slices.Sorted(maps.Keys(n)) {
		t.Logf("%4d %s", n[k], k)
	}
	t.Logf("%v, the slowest %v, %s", time.Since(start), slowest, slow)
	if n["files"] < 700 || n["answered"] < n["files"] || n["answered by both"] < 742 || n["agree with Dat3M"] < 259 {
		t.Error("fewer than there were")
	}
}

func answered(t *testing.T, path, rel string, want map[string]string, n measure) {
	n["files"]++
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Read(rel, text)
	if err != nil {
		t.Log(err)
		return
	}
	a, err := x.Answer(Options{Loops: 2, Limits: DefaultLimits})
	if err != nil {
		t.Error(err)
		return
	}
	if a.Wrong {
		t.Errorf("%s: the machine shows what the axioms forbid", rel)
	}
	if a.Verdict != Unknown {
		n["answered"]++
		n["answered by "+a.By]++
	}
	switch m := a.Machine; {
	case m.Needs != "":
		_, what, _ := strings.Cut(m.Needs, ": needs ")
		n["the machine needs "+what]++
	case !m.Complete:
		n["the machine is incomplete"]++
	default:
		n["explored by the machine whole"]++
		buffering, older := false, false
		for _, r := range a.Outcomes {
			buffering = buffering || !r.Machine && r.Buffering
			older = older || !r.Machine && !r.Buffering
		}
		switch {
		case older:
			n["the machine lacks reads of older values"]++
		case buffering:
			n["the machine lacks load buffering alone"]++
		default:
			n["the same outcomes by both"]++
		}
	}
	w, ok := want[rel]
	switch {
	case !ok:
		n["without a result to compare"]++
	case a.OK == (w == "1"):
		n["agree with Dat3M"]++
	case differences[filepath.Base(rel)] != "":
		n["differ from Dat3M with a reason"]++
		t.Logf("%s: %v, Dat3M %s: %s", rel, a.OK, w, differences[filepath.Base(rel)])
	default:
		t.Errorf("%s: %v, want %s", rel, a.OK, w)
	}
}
