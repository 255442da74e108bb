package muster_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster"
)

func TestDump(t *testing.T) {
	files, _ := filepath.Glob("internal/rules/testdata/*.txtar")
	for _, name := range files {
		src, _ := os.ReadFile(name)
		_, twins := parts(string(src))
		if twins["wrong.ptx"] == "" || !strings.Contains("x", "x") {
			continue
		}
		l := twin(t, twins, "wrong")
		r, err := l.Check(context.Background(), muster.CheckOptions{})
		if err != nil {
			continue
		}
		for _, f := range r.Findings {
			if len(f.Stands) > 0 || f.Kind == strings.Split(filepath.Base(name), ".")[0] {
				t.Logf("%s %s: %v", filepath.Base(name), f.ID, f.Stands)
			}
		}
	}
}
