package ptx_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/ptx"
)

var ignorePos = cmp.FilterPath(func(p cmp.Path) bool {
	return p.Last().Type() == reflect.TypeFor[ptx.Pos]() || p.Last().String() == ".Text" && p.Index(-2).Type() == reflect.TypeFor[ptx.Module]()
}, cmp.Ignore())

func ptxFiles(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"testdata/kernels/*.ptx", "testdata/corpus/*.ptx", "testdata/corpus/*/*.ptx", "testdata/hand/*.ptx"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	return files
}

func parseFile(t testing.TB, file string) *ptx.Module {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ptx.Parse(file, src)
	if err != nil {
		t.Fatal(err.(*ptx.Error).Detail())
	}
	return m
}

func roundTrip(t testing.TB, m *ptx.Module) {
	t.Helper()
	text := m.String()
	again, err := ptx.Parse(m.Name, []byte(text))
	if err != nil {
		t.Fatalf("printed text does not parse: %s", err.(*ptx.Error).Detail())
	}
	if d := cmp.Diff(m, again, ignorePos); d != "" {
		t.Fatalf("print and parse changed the tree (-first +second):\n%s", d)
	}
	if again.String() != text {
		t.Fatal("printing is not canonical: the second text differs from the first")
	}
}

// TestCorpus fails if the compiler output kept as test data is not there.
func TestCorpus(t *testing.T) {
	kernels := 0
	for _, file := range ptxFiles(t) {
		if !strings.Contains(file, "corpus") {
			continue
		}
		for _, it := range parseFile(t, file).Items {
			if f, ok := it.(*ptx.Func); ok && f.Entry {
				kernels++
			}
		}
	}
	if kernels < 40 {
		t.Errorf("%d kernels in testdata/corpus, want 40 or more", kernels)
	}
}

// TestRoundTrip parses, prints and parses every file of compiler output.
func TestRoundTrip(t *testing.T) {
	for _, file := range ptxFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) { roundTrip(t, parseFile(t, file)) })
	}
}
