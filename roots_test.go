package muster_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"muster"
)

// TestRoots checks which findings follow from none, in kernels in which one mistake was planted:
// the mistake itself, and what has nothing to do with it.
func TestRoots(t *testing.T) {
	for _, c := range []struct{ name, roots string }{
		{"examples/conv_im2col/broken_bytes.yaml", "bytes-early"},
		{"examples/gemm_fp8/broken_bytes.yaml", "bytes-early bytes-early"},
		{"examples/gemm_ws_multicast/broken_bytes.yaml", "bytes-early"},
		{"examples/gemm_ws_multicast/broken_count.yaml", "arrivals-excess arrivals-excess arrivals-excess arrivals-excess"}, // of one cause
		{"examples/gemm_fp8/broken_one_warp_waits.yaml", "divergent-barrier"},
		{"examples/conv_im2col/broken_wait_one.yaml", "register-in-flight"},
		{"arrivals-excess", "arrivals-excess arrivals-excess proxy-war"}, // of one cause, and a fence that is missing besides
		{"bytes-early.2", "bytes-early proxy-war"},
		{"expect-late", "expect-late"},
		{"named-barrier-mismatch.2", "named-barrier-mismatch"},
		{"early-wait", "early-wait"},
		{"lapped-wait", "lapped-wait"},
		{"race-global.2", "race-global race-global"},
		{"stale-token.3", "stale-token stale-token"},
		{"scope-too-narrow.4", "scope-too-narrow scope-too-narrow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := check(t, plantedLaunch(t, c.name), muster.CheckOptions{})
			var roots []string
			behind := false
			for i := range r.Findings {
				f := &r.Findings[i]
				if f.Follows == "" {
					roots = append(roots, f.Kind)
				} else if !slices.ContainsFunc(r.Findings, func(g muster.Finding) bool { return g.ID == f.Follows && g.Follows == "" }) {
					t.Errorf("%s follows from %s, which is no root", f.ID, f.Follows)
				}
				if f.Severity == "error" {
					if f.Follows == "" && behind {
						t.Errorf("%s, a root, stands behind what follows", f.ID)
					}
					behind = f.Follows != ""
				}
			}
			if got := strings.Join(roots, " "); got != c.roots {
				t.Errorf("%s follow from none, want %s", got, c.roots)
			}
		})
	}
}

// plantedLaunch loads a launch file of the examples, or the wrong twin of a kind.
func plantedLaunch(t *testing.T, name string) *muster.Launch {
	t.Helper()
	if strings.HasSuffix(name, ".yaml") {
		return readLaunch(t, name)
	}
	src, err := os.ReadFile("internal/rules/testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, twins := parts(string(src))
	return twin(t, twins, "wrong")
}
