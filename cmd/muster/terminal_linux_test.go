package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
	"unsafe"
)

// inTerminal runs the command in a terminal of so many columns, and returns what it shows.
func inTerminal(t *testing.T, columns int, env []string, args ...string) string {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer control.Close()
	ioctl := func(request uintptr, arg unsafe.Pointer) {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, control.Fd(), request, uintptr(arg)); e != 0 {
			t.Skip(e)
		}
	}
	var locked, number int32
	ioctl(syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	ioctl(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{24, uint16(columns)}
	ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Cmd{Path: self, Args: append([]string{"muster"}, args...), Env: append([]string{"PATH=" + os.Getenv("PATH"), "TERM=xterm"}, env...), Stdin: tty, Stdout: tty, Stderr: tty}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	var out bytes.Buffer
	io.Copy(&out, control) // until no process has the terminal
	cmd.Wait()
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestTerminal: 40 columns break what can be broken, and carets stand where they point; NO_COLOR
// leaves colours out and nothing else; a locale without UTF-8 shows ASCII.
func TestTerminal(t *testing.T) {
	const file = "../../examples/ring/broken_count.yaml"
	colored := inTerminal(t, 40, nil, "check", file)
	plain := inTerminal(t, 40, []string{"NO_COLOR=1"}, "check", file)
	if !strings.Contains(colored, "\x1b[1;31merror[arrivals-missing]\x1b[0m") || strings.Contains(plain, "\x1b[1;31m") {
		t.Errorf("colours:\n%s\n%s", colored, plain)
	}
	if escapes.ReplaceAllString(colored, "") != escapes.ReplaceAllString(plain, "") {
		t.Errorf("colours change the text:\n%s\n%s", colored, plain)
	}
	if again := inTerminal(t, 40, []string{"TERM=dumb"}, "check", file); again != plain {
		t.Errorf("TERM=dumb: %s", again)
	}
	lines := strings.Split(plain, "\n")
	for i, l := range lines {
		words := strings.Fields(l)
		// A word that is longer than a line, a command to copy and the verdict stand as they
		// are.
		if utf8.RuneCountInString(l) > 40 && len(words) > 2 && words[0] != "replay:" && !strings.HasPrefix(l, "1 finding ") {
			t.Errorf("a line of %d characters: %s", utf8.RuneCountInString(l), l)
		}
		if at := strings.Index(l, "| ^"); at >= 0 && i > 0 {
			if above := []rune(lines[i-1]); len(above) <= at+2 || above[at+2] == ' ' {
				t.Errorf("a caret under nothing:\n%s\n%s", lines[i-1], l)
			}
		}
	}
	wide := inTerminal(t, 200, []string{"NO_COLOR=1"}, "check", file)
	if _, piped, _ := run(t, "check", file); wide != piped {
		t.Errorf("in a wide terminal:\n%s\nin a pipe:\n%s", wide, piped)
	}

	for locale, want := range map[string]string{"C": "as proxy-war@gemm.cu:118=...", "C.UTF-8": "as proxy-war@gemm.cu:118=…"} {
		if out := inTerminal(t, 80, []string{"LC_ALL=" + locale}, "check", file, "--accept", "x"); !strings.Contains(out, want) {
			t.Errorf("LC_ALL=%s: %s", locale, out)
		}
	}
	// An error's line is cut around its caret.
	out := inTerminal(t, 40, nil, "check", "../../examples/ring/ring.yaml", "--ptx", longLine(t))
	lines = strings.Split(strings.TrimSpace(out), "\n")
	if n := len(lines); n < 3 || len(lines[n-2]) > 40 || !strings.HasPrefix(lines[n-2][strings.Index(lines[n-1], "^"):], "?") {
		t.Errorf("%s", out)
	}
}

// longLine is a file of PTX with a mistake far to the right.
func longLine(t *testing.T) string {
	t.Helper()
	name := t.TempDir() + "/long.ptx"
	text := ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { " + strings.Repeat("ret; ", 30) + "?; ret; ret; ret; ret; ret; ret; ret; }\n"
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}
