package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestLocale(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want bool
	}{
		{nil, true},
		{map[string]string{"LANG": "de_DE.UTF-8"}, true},
		{map[string]string{"LANG": "C.utf8"}, true},
		{map[string]string{"LANG": "C"}, false},
		{map[string]string{"LANG": "de_DE.ISO-8859-1"}, false},
		{map[string]string{"LANG": "C.UTF-8", "LC_ALL": "POSIX"}, false},
		{map[string]string{"LANG": "C.UTF-8", "LC_CTYPE": "ja_JP.eucJP"}, false},
		{map[string]string{"LANG": "C", "LC_ALL": "en_US.UTF-8"}, true},
	} {
		if got := isUTF8(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v: %t", tt.env, got)
		}
	}
	var out bytes.Buffer
	a := &ascii{&out}
	const text = "a name… → 2×3, Grüße\n"
	if n, err := a.Write([]byte(text)); n != len(text) || err != nil || out.String() != "a name... -> 2x3, Grüße\n" {
		t.Errorf("%d, %v, %q", n, err, out.String())
	}
}

// TestPiped: through a pipe there are no colours, whatever the terminal is called, the bytes are
// UTF-8 in any locale, and the lines as wide as ever.
func TestPiped(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for _, env := range [][]string{{"LC_ALL=C"}, {"LANG=C.UTF-8"}, {"TERM=xterm-256color"}, {"COLUMNS=40"}, {"NO_COLOR=1"}, {"CLICOLOR_FORCE=1"}} {
		cmd := exec.Cmd{Path: self, Args: []string{"muster", "check", "../../examples/ring/broken_count.yaml"}, Env: append(os.Environ(), env...)}
		out, _ := cmd.Output()
		if first == "" {
			first = string(out)
		}
		if string(out) != first || strings.Contains(first, "\x1b") || !strings.Contains(first, "error[arrivals-missing]") {
			t.Errorf("%v: %s", env, out)
		}
	}
}

// TestFullDisk: every command that writes says so where it cannot, and has a status of its own.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is of Linux")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const k, yaml = "../../examples/ring/ring.ptx", "../../examples/ring/ring.yaml"
	for _, args := range [][]string{
		{}, {"--version"}, {"version"}, {"--help"}, {"help", "check"}, {"check", "--help"}, {"check", yaml}, {"check", yaml, "--format", "json"}, {"run", yaml}, {"mutate", yaml, "--list"}, {"replay", yaml, "--schedule", "latest"}, {"replay", yaml, "--until", "3"},
		{"explain"}, {"explain", "race"}, {"explain", "proxy-raw"}, {"explain", "launch"}, {"explain", "launch", "--schema"}, {"explain", "sums"}, {"coverage"}, {"fmt", k}, {"init", k}, {"import", "../../internal/fatbin/testdata/two.o"}, {"completion", "bash"}, {"completion", "zsh"}, {"completion"}, {"__complete", "ex"},
		{"barrier", "../../examples/barrier/two_debts.txt"},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		var stderr bytes.Buffer
		cmd := exec.Cmd{Path: self, Args: append([]string{"muster"}, args...), Stdout: full, Stderr: &stderr}
		cmd.Run()
		full.Close()
		if got := cmd.ProcessState.ExitCode(); got != exitFailed || !strings.Contains(stderr.String(), "muster: cannot write the output: no space left on device\n") {
			t.Errorf("%q: status %d, %s", args, got, stderr.String())
		}
	}
}

// TestPlainly: errors of the system are a path and a cause.
func TestPlainly(t *testing.T) {
	_, path := os.Open("gone")
	_, program := exec.LookPath("gone-program")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{path, "gone: no such file or directory"},
		{fmt.Errorf("k.yaml: %w", path), "k.yaml: gone: no such file or directory"},
		{os.Rename("gone", "there"), "there: no such file or directory"},
		{program, "gone-program: executable file not found in $PATH"},
		{os.NewSyscallError("fsync", syscall.EIO), "input/output error"},
		{errors.New("else"), "else"},
	} {
		if got := plainly(tt.err); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
