package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"muster"
)

// A full is a disk with room for some bytes.
type full struct{ room int }

func (f *full) Write(data []byte) (int, error) {
	n := min(len(data), f.room)
	if f.room -= n; n < len(data) {
		return n, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	}
	return n, nil
}

// TestFullOutput: what cannot be written is never exit 0, nor a verdict.
func TestFullOutput(t *testing.T) {
	ring := "../../examples/ring/ring.yaml"
	broken := "../../examples/ring/broken_count.yaml"
	for _, args := range [][]string{
		{"check", ring}, {"check", broken, "--format", "json"}, {"run", ring}, {"run", ring, "--format", "json"},
		{"replay", broken}, {"replay", broken, "--steps"}, {"reduce", broken, "--finding", "arrivals-missing", "--budget", "1", "--dir", t.TempDir()},
		{"mutate", ring, "--list"}, {"mutate", ring, "--only", "order"}, {"explain"}, {"explain", "proxy-raw"}, {"explain", "sums"}, {"coverage"},
		{"fmt", "../../examples/ring/ring.ptx"}, {"barrier", "../../examples/barrier/two_debts.txt"}, {"help"}, {"check", "--help"}, {"completion", "bash"},
	} {
		for _, room := range []int{0, 20} {
			var stderr strings.Builder
			status := doMain(args, strings.NewReader(""), &full{room}, &stderr)
			if status != exitFailed || !strings.HasSuffix(stderr.String(), "muster: cannot write the output: no space left on device\n") {
				t.Errorf("%v, room for %d bytes: exit %d, %q", args, room, status, stderr.String())
			}
		}
	}
}

// TestNothingLost: a file that cannot be written leaves the one that was there.
func TestNothingLost(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 && !canForbid(t) {
		t.Skip("folders cannot be made read-only")
	}
	dir := t.TempDir()
	ptx, script := filepath.Join(dir, "k.ptx"), filepath.Join(dir, "s.txt")
	for name, text := range map[string]string{ptx: ".version 8.0\n.target sm_90a\n.address_size 64\n.entry  k() { ret; }\n", script: "init bar 2\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o777)
	for _, args := range [][]string{{"fmt", "-w", ptx}, {"barrier", "--update", script}} {
		name := args[len(args)-1]
		before, _ := os.ReadFile(name)
		status, _, stderr := run(t, args...)
		after, err := os.ReadFile(name)
		if status == exitClean || strings.Count(stderr, "\n") != 1 || err != nil || string(after) != string(before) {
			t.Errorf("%v: exit %d, %q; the file holds %q", args, status, stderr, after)
		}
	}
}

// canForbid reports whether a read-only folder takes no new files from this user.
func canForbid(t *testing.T) bool {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	return os.WriteFile(filepath.Join(dir, "x"), nil, 0o666) != nil
}

// endless is a file that has no end.
type endless struct{}

func (endless) Read(data []byte) (int, error) { return len(data), nil }

func TestReadsNoMore(t *testing.T) {
	for _, args := range [][]string{{"fmt", "-"}, {"barrier", "-"}} {
		var stderr strings.Builder
		if status := doMain(args, endless{}, io.Discard, &stderr); status != exitBadInput || stderr.String() != "muster: standard input: more than 64 MiB, which is all that is read\n" {
			t.Errorf("%v: exit %d, %q", args, status, stderr.String())
		}
	}
	for _, args := range [][]string{{"fmt", os.DevNull}, {"barrier", os.DevNull}, {"fmt", "-w", "-"}} {
		if status, _, stderr := run(t, args...); status != exitBadInput || !strings.Contains(stderr, "not a regular file") && !strings.Contains(stderr, "name one") {
			t.Errorf("%v: exit %d, %q", args, status, stderr)
		}
	}
}

// TestBug: a panic, of a goroutine too, is one line and a status of its own.
func TestBug(t *testing.T) {
	var stderr strings.Builder
	c := &console{in: strings.NewReader(""), out: io.Discard, err: &stderr, follow: func(p muster.Progress) {
		if p.MaxSchedules > 0 {
			panic("BUG: told")
		}
	}}
	status := c.main(cmdline("check", ticketLaunch(t, 6, 1), "--schedules", "2000", "--jobs", "2"))
	if line, _, _ := strings.Cut(stderr.String(), "\n"); status != exitFailed || line != "muster: BUG: told" || !strings.Contains(stderr.String(), "failures_test.go") {
		t.Errorf("exit %d, %q", status, stderr.String())
	}
}

// TestInterrupted interrupts an exploration: it says what it has done until then.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can be interrupted")
	}
	launch := append(ticketLaunch(t, 7, 1), "--schedules", "1000000", "--steps", "1000000000")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		var out strings.Builder
		cmd := exec.Cmd{Path: self, Args: append([]string{followed}, cmdline("check", launch)...), Stdout: &out}
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stderr)
		if !lines.Scan() {
			t.Fatal("it tells nothing")
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
		}
		var status *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != exitIncomplete || !strings.Contains(out.String(), "interrupted ("+s.String()+")") {
			t.Errorf("%v: %v\n%s", s, err, out.String())
		}
	}
}

// TestInterruptedWork: work ends, and its status is that of what is incomplete.
func TestInterruptedWork(t *testing.T) {
	in := &input{memory: 1 << 30, local: 1 << 16, limits: muster.Limits{Instrs: 1, Time: muster.DefaultTime}}
	w, err := (&console{}).begin(in)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if w.exit(nil) != nil || w.exit(exit(exitFindings)) != exit(exitFindings) {
		t.Error("work that goes on has another status than its own")
	}
	w.signals <- os.Interrupt
	<-w.Done()
	if w.exit(nil) != exit(exitIncomplete) || w.exit(exit(exitFindings)) != exit(exitIncomplete) || w.exit(io.EOF) != io.EOF {
		t.Error("work that was interrupted is not incomplete")
	}
}
