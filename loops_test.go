package muster_test

import (
	"context"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/ptx"
)

func BenchmarkAnyRing(b *testing.B) {
	l := loadYAML(b, "examples/ring/ring.yaml", nil)
	for b.Loop() {
		r, err := l.CheckAny(context.Background(), muster.CheckOptions{}, 3)
		if err != nil || r.Proof == nil || r.Proof.Any == nil || !r.Proof.Any.Holds {
			b.Fatal(err, r.Proof)
		}
		b.ReportMetric(float64(r.Proof.Any.From), "from")
	}
}

// loadYAML prepares an example, its PTX changed by edit.
func loadYAML(t testing.TB, name string, edit func(ptx string) string) *muster.Launch {
	t.Helper()
	f, err := yaml.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	mod, src, err := muster.ReadModule(f)
	if err == nil && edit != nil {
		src = []byte(edit(string(src)))
		mod, err = ptx.Parse(f.Launches[0].PTX, src)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadModule(f, mod, src, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
