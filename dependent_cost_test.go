package muster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/report"
)

// TestDependentCost: what a check of dependent launches allocates grows with their CTAs, and not
// with their square: what all CTAs of a launch know from its start, they share.
func TestDependentCost(t *testing.T) {
	ptx, err := filepath.Abs("testdata/sequences/k.ptx")
	if err != nil {
		t.Fatal(err)
	}
	for _, kernels := range [][2]string{{"produce", "waits"}, {"produce", "early"}} {
		cost := func(ctas int) float64 {
			text := fmt.Sprintf("buffers:\n  x: {type: u32, shape: [%d], fill: zeros}\n  y: {type: u32, shape: [%[1]d], fill: zeros}\nlaunches:\n", 32*ctas)
			text += fmt.Sprintf("- {ptx: %s, kernel: %s, grid: %d, block: 32, args: [x]}\n", ptx, kernels[0], ctas)
			text += fmt.Sprintf("- {ptx: %s, kernel: %s, grid: %d, block: 32, args: [x, y], dependent: true}\n", ptx, kernels[1], ctas)
			file := filepath.Join(t.TempDir(), "launch.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := yaml.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			l, err := muster.LoadFile(f, muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1, Schedules: muster.Handful(0)})
			runtime.ReadMemStats(&after)
			if err != nil || (r.Verdict == report.Clean) != (kernels[1] == "waits") {
				t.Fatalf("%s: %v, %v", kernels[1], r.Summary, err)
			}
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		const few, many = 64, 512
		if by := cost(many) / cost(few); by > 2*many/few {
			t.Errorf("%s: %d times the CTAs take %.0f times the memory", kernels[1], many/few, by)
		}
	}
}
