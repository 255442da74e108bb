package main

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"muster/report"
)

// What report.Quote writes, a schedule file's reader and bash read as it was.
func TestQuotedWords(t *testing.T) {
	words := []string{"", "a b", "it's", "a\nb", "\x1b[31m'q.ptx", "é\xff1", `back\slash` + "\t", "$'x'", "ü ö", "'\n'"}
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, report.Quote(w))
	}
	line := strings.Join(quoted, " ")
	if got, err := shellWords(line); err != nil || !slices.Equal(got, words) {
		t.Errorf("%s: %q, %v", line, got, err)
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		out, err := exec.Command(bash, "-c", `printf '%s\0' `+line).Output()
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, words) {
			t.Errorf("bash: %q, %v", got, err)
		}
	}
	for _, bad := range []string{"$'a", `$'\4'`, `$'\777'`, `$'\n'`, `$'\`} {
		if got, err := shellWords(bad); err == nil {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

// A name of a file neither ends a line nor commands a terminal.
func TestStrangeNames(t *testing.T) {
	text, err := os.ReadFile("../../examples/found/broken_bulk_store.ptx")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	ptx, launch := "a\nb\x1b[31m.ptx", "l\n\x1b[32m.yaml"
	yaml := "ptx: \"a\\nb\\x1b[31m.ptx\"\ngrid: 1\nblock: 128\nargs: [in, out]\nbuffers:\n  in: {type: u32, shape: [128], fill: iota}\n  out: {type: u32, shape: [128], fill: zeros}\n"
	for name, text := range map[string]string{ptx: string(text), launch: yaml} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Skip(err) // not every system has such names
		}
	}
	var out, errs bytes.Buffer
	if code := doMain([]string{"check", launch, launch}, nil, &out, &errs); code != exitFindings {
		t.Fatalf("exit status %d: %s%s", code, &out, &errs)
	}
	if strings.ContainsRune(out.String(), '\x1b') || strings.Contains(out.String(), "l\n\x1b") {
		t.Errorf("%q", &out)
	}
	for _, want := range []string{`file 2 of 2, l\n\x1b[32m.yaml` + "\n", `a\nb\x1b[31m.ptx:30:2` + "\n", `muster replay $'l\012\033[32m.yaml' --schedule `, `findings: l\n\x1b[32m.yaml, `} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, &out)
		}
	}
}
