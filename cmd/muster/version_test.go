package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	built := debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "muster", Version: "(devel)"}}
	if got, want := version(&built, true), "muster (devel), revision unknown, go1.26.0"; got != want {
		t.Errorf("without a revision: %q, want %q", got, want)
	}
	built.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.modified", Value: "true"}}
	if got, want := version(&built, true), "muster (devel), revision 0123abcd, with changes, go1.26.0"; got != want {
		t.Errorf("of changed files: %q, want %q", got, want)
	}
	if got, want := version(nil, false), "muster unknown, revision unknown, an unknown Go"; got != want {
		t.Errorf("of nothing: %q, want %q", got, want)
	}
	code, command := command("version")
	status, flag, _ := run(t, "--version")
	if code != 0 || status != 0 || command != flag || !strings.HasPrefix(flag, "muster ") {
		t.Errorf("muster version: exit %d, %q; muster --version: exit %d, %q", code, command, status, flag)
	}
}
