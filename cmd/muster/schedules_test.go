package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster"
	"muster/report"
)

// TestLongSchedules: a schedule that is too long for a replay line lies in a file that
// --schedule reads, in a folder that only its user can read.
func TestLongSchedules(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	long := strings.Repeat("r0.0.0,r0.1.0,", 100) + "r0.0.0/latest"
	r := &muster.Report{Launch: report.Launch{Arguments: "k.yaml --block 64"}, Findings: []muster.Finding{
		{ID: "race-shared@k.ptx:1,2", Kind: "race-shared", Schedule: "earliest"},
		{ID: "never-completes@k.ptx:3", Kind: "never-completes", Schedule: long},
	}}
	r.SetReplays()
	short := r.Findings[0].Replay
	keepSchedules(r)
	if r.Findings[0].Replay != short {
		t.Errorf("a short one: %s", r.Findings[0].Replay)
	}
	_, name, ok := strings.Cut(r.Findings[1].Replay, "--schedule @")
	name, _, _ = strings.Cut(name, " ")
	if !ok || len(r.Findings[1].Replay) > 400 {
		t.Fatalf("a long one: %s", r.Findings[1].Replay)
	}
	sf, err := readSchedule("@" + name)
	if err != nil || sf.schedule != long || sf.finding != r.Findings[1].ID || strings.Join(sf.launch, " ") != "k.yaml --block 64" {
		t.Errorf("the file has %+v, %v", sf, err)
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	t.Setenv("XDG_CACHE_HOME", os.DevNull)
	t.Setenv("HOME", os.DevNull)
	r.SetReplays()
	if keepSchedules(r); !strings.Contains(r.Findings[1].Replay, long) {
		t.Errorf("without a cache: %s", r.Findings[1].Replay)
	}
}
