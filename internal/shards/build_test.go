package shards

import (
	"runtime/debug"
	"testing"
)

// TestVersionIn: a version counts only if it identifies the files that were built.
func TestVersionIn(t *testing.T) {
	module := func(version string) *debug.Module { return &debug.Module{Path: "muster", Version: version} }
	replaced := module("v1.0.0")
	replaced.Replace = &debug.Module{Path: "../muster"}
	other := debug.Module{Path: "example.com/kernels", Version: "v2.0.0"}
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"installed", debug.BuildInfo{Main: *module("v1.2.0")}, "v1.2.0"},
		{"from a commit", debug.BuildInfo{Main: *module("v1.2.1-0.20261121113559-0123456789ab")}, "v1.2.1-0.20261121113559-0123456789ab"},
		{"from changed files", debug.BuildInfo{Main: *module("v1.2.1-0.20261121113559-0123456789ab+dirty")}, ""},
		{"from files", debug.BuildInfo{Main: *module("(devel)")}, ""},
		{"in another program", debug.BuildInfo{Main: other, Deps: []*debug.Module{module("v1.2.0")}}, "v1.2.0"},
		{"in another program, from files", debug.BuildInfo{Main: other, Deps: []*debug.Module{replaced}}, ""},
		{"nothing is known", debug.BuildInfo{}, ""},
	} {
		if got := versionIn(&c.info); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
