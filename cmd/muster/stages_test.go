package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"muster/report"
)

// TestWholeVerdict: for a file of several launches the last line is the verdict of the whole,
// the exit status agrees with it, and JSON is one document. A file of one launch has one report.
func TestWholeVerdict(t *testing.T) {
	for _, c := range []struct {
		file, last string
		verdict    report.Verdict
		stages     int
	}{
		{"handed-word.wrong", "incomplete: launch 2, branches (of 2 launches)", report.Incomplete, 2},
		{"handed-word.right", "clean: all schedules of all 2 launches", report.Clean, 2},
		{"chain.wrong", "", report.Findings, 1},
	} {
		file := filepath.Join("..", "..", "testdata", "sequences", c.file+".yaml")
		status, out, _ := run(t, "check", file)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if status != c.verdict.ExitCode() || c.last != "" && lines[len(lines)-1] != c.last {
			t.Errorf("%s: exit status %d, and in the end %q", c.file, status, lines[len(lines)-1])
		}
		for _, command := range []string{"check", "run"} {
			status, out, errs := run(t, command, "--format", "json", file)
			d := json.NewDecoder(strings.NewReader(out))
			var got struct {
				Version int
				Verdict report.Verdict
				Stages  []struct {
					First, Last int
					Name        string
					Report      struct{ Verdict report.Verdict }
				}
			}
			if err := d.Decode(&got); err != nil || d.More() {
				t.Fatalf("%s %s: %v, more: %v\n%s%s", command, c.file, err, d.More(), out, errs)
			}
			if status != got.Verdict.ExitCode() || command == "check" && got.Verdict != c.verdict {
				t.Errorf("%s %s: exit status %d, %s", command, c.file, status, got.Verdict)
			}
			switch {
			case c.stages == 1 && len(got.Stages) == 0: // a report by itself
			case len(got.Stages) != c.stages || got.Version != report.Version:
				t.Errorf("%s %s: %+v", command, c.file, got)
			case got.Stages[1].First != 2 || got.Stages[1].Last != 2 || got.Stages[1].Name != "branches" || got.Stages[1].Report.Verdict != got.Verdict:
				t.Errorf("%s %s: %+v", command, c.file, got)
			}
		}
	}
}

// TestStateOfSeveral: a state is of one exploration, and is refused for several.
func TestStateOfSeveral(t *testing.T) {
	file := filepath.Join("..", "..", "testdata", "sequences", "handed-word.wrong.yaml")
	state := filepath.Join(t.TempDir(), "state")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--state", state}, "--state is of one exploration"},
		{[]string{"--state", state, "--shard", "0/2"}, "--shard is of one exploration"},
	} {
		status, out, errs := run(t, append([]string{"check", file}, c.args...)...)
		if status != exitBadInput || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: %d %q %q", c.args, status, out, errs)
		}
	}
	if status, out, errs := run(t, "check", file, "--launch", "1", "--state", state); status != exitClean || errs != "" {
		t.Errorf("of one: %d %q %q", status, out, errs)
	}
}

// TestCaptureFlags: what no capture can keep to is refused before the program runs.
func TestCaptureFlags(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"--wait", "-1s", "--wait -1s: a time from 0 on"},
		{"--ptx", filepath.Join(t.TempDir(), "none"), "no such file or directory"},
	} {
		status, _, errs := run(t, "capture", "-o", filepath.Join(t.TempDir(), "o"), c.flag, c.value, "--", "true")
		if status != exitBadInput || !strings.Contains(errs, c.want) {
			t.Errorf("%s %s: %d %q", c.flag, c.value, status, errs)
		}
	}
}
