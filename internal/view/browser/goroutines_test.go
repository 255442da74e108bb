package browser

import (
	"os"
	"path/filepath"
	"testing"

	"muster/examples/stuck"
	"muster/mbarrier/mbarriertest"
)

// This file looks at the page of package mbarriertest: who waits for whom at the barriers of a test.

// barriers writes the page of a report and opens it.
func barriers(t *testing.T, r *mbarriertest.Report, width, height int64) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mbarriers.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WritePage(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, file, width, height)
}

func record(t *testing.T, run func()) *mbarriertest.Report {
	return mbarriertest.Record(t, func(*testing.T) { run() })
}

// TestBarriers opens the page of each mistake.
func TestBarriers(t *testing.T) {
	for _, m := range stuck.All {
		t.Run(m.Name, func(t *testing.T) {
			p := barriers(t, record(t, m.Run), 1400, 1000)
			p.picture(t, "barriers-"+m.Name)
		})
	}
}
