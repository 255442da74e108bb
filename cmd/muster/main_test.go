package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"muster/internal/garbage"
	"muster/report"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	os.Setenv("XDG_CACHE_HOME", os.DevNull) // no test writes to the user's cache
	garbage.Gather()                        // runs in this process collect as those of the command do
	testscript.Main(m, map[string]func(){"muster": main, followed: mainFollowed})
}

// TestScripts runs testdata/script. Beside testscript's own commands there
// are
//
//	exit N command …           the command must exit with status N
//	repeat FILE N BEFORE A AFTER    write BEFORE, N times A, AFTER
//	head FILE N OUT            write the first N bytes of FILE
//	junk OUT                   write bytes that are no text
//
// examples/ is the project's folder of examples, and fatbins/ what nvcc made for the tests
// of package fatbin.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	fatbins, err := filepath.Abs("../../internal/fatbin/testdata")
	if err != nil {
		t.Fatal(err)
	}
	litmus, err := filepath.Abs("../../docs/litmus")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			if testing.Short() && longScripts[strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")] {
				e.T().Skip("explores for long, as others do")
			}
			if err := os.Symlink(fatbins, filepath.Join(e.WorkDir, "fatbins")); err != nil {
				return err
			}
			if err := os.Symlink(litmus, filepath.Join(e.WorkDir, "tests")); err != nil {
				return err
			}
			return os.Symlink(examples, filepath.Join(e.WorkDir, "examples"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit": scriptExit, "repeat": scriptRepeat, "head": scriptHead, "junk": scriptJunk,
		},
	})
}

func scriptExit(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || neg {
		ts.Fatalf("usage: exit N command")
	}
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var status *exec.ExitError
	if errors.As(err, &status) {
		got = status.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func scriptRepeat(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := args[2] + strings.Repeat(args[3], n) + args[4]
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

func scriptHead(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[0])[:n]), 0o666))
}

// longScripts are left out under the race detector: what they print takes long explorations, whose
// goroutines are those of others, or has none.
var longScripts = map[string]bool{"reduce": true, "brief": true, "incomplete": true, "sampled": true, "litmus": true, "explain": true, "completion": true}

func scriptJunk(ts *testscript.TestScript, neg bool, args []string) {
	b := make([]byte, 4096)
	for i := range b {
		b[i] = byte(i*i>>3 ^ i*7)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o666))
}

// run runs the command in this process.
func run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	status = doMain(args, strings.NewReader(""), &out, &err)
	return status, out.String(), err.String()
}

// TestSameBytes: the same launch gives the same bytes, in every run and with any
// number of jobs.
func TestSameBytes(t *testing.T) {
	for i, file := range exampleFiles(t) {
		t.Run(filepath.ToSlash(file), func(t *testing.T) {
			t.Parallel()
			large, schedules := slow(t, file), "10"
			if large {
				schedules = "4"
			}
			if large != *long {
				t.Skip("long kernels are the gate's")
			}
			if testing.Short() && strings.HasPrefix(filepath.Base(file), "broken_") {
				t.Skip("as long as its right twin, which runs")
			}
			format := []string{"text", "json"}[i%2] // two forms of one report
			var first string
			for _, n := range []string{"1", "8"} {
				_, out, stderr := run(t, "check", file, "--format", format, "--jobs", n, "--schedules", schedules)
				if first == "" {
					first = out
				} else if out != first {
					t.Errorf("%s with --jobs %s says something else than before\n%s", format, n, stderr)
				}
			}
			if first == "" {
				t.Error("nothing is written")
			}
		})
	}
}

// slow reports whether a launch is of a kernel so long that checking it takes
// a while.
func slow(t *testing.T, file string) bool {
	return kernelSize(t, file) > 16<<10 || filepath.Base(file) == "last_block.yaml" // its executions have 512 threads
}

// kernelSize returns how many bytes the PTX of a launch file has, 0 if it names none.
func kernelSize(t *testing.T, file string) int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^ptx: (\S+)`).FindSubmatch(text)
	if name == nil {
		return 0
	}
	st, err := os.Stat(filepath.Join(filepath.Dir(file), string(name[1])))
	if err != nil {
		return 0
	}
	return st.Size()
}

// TestReplay replays every finding of every example by its own replay line, or
// of a slow one the first of each kind: the evidence must come out as check
// printed it, byte for byte.
func TestReplay(t *testing.T) {
	var replayed atomic.Int64
	t.Run("", func(t *testing.T) {
		for _, file := range exampleFiles(t) {
			t.Run(filepath.ToSlash(file), func(t *testing.T) {
				t.Parallel()
				_, text := checkedExample(t, file)
				seen := map[string]bool{}
				for _, block := range strings.Split(text, "\n\n") {
					kind, _, _ := strings.Cut(block, "]")
					if seen[kind] || len(seen) == 1 && (slow(t, file) || testing.Short()) {
						continue // one of each kind
					}
					seen[kind] = true
					if replay(t, block) {
						replayed.Add(1)
					}
				}
			})
		}
	})
	if n := replayed.Load(); n < 20 && !testing.Short() && !*long {
		t.Errorf("only %d findings replayed", n)
	}
}

func TestReplayOfAnotherKernel(t *testing.T) {
	status, out, _ := run(t, "replay", "../../examples/ring/ring.yaml", "--schedule", "latest", "--finding", "race-shared@ring.ptx:1,2")
	if status != exitIncomplete || !strings.HasPrefix(out, "schedule latest does not show race-shared@ring.ptx:1,2: ") {
		t.Errorf("exit %d: %s", status, out)
	}
}

func TestSizeFlag(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "4K": 4096, "4KiB": 4096, "512M": 512 << 20, "8G": 8 << 30, "2t": 2 << 40} {
		var s sizeFlag
		if err := s.Set(text); err != nil || int64(s) != want {
			t.Errorf("%s: %d, %v; want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "K", "-1", "0", "1X", "1 K K", "99999999999T", "1.5G"} {
		var s sizeFlag
		if s.Set(text) == nil {
			t.Errorf("%q is taken as %d", text, s)
		}
	}
}

// TestHelpTeaches: every command has a long text and an example that parses.
func TestHelpTeaches(t *testing.T) {
	for _, cmd := range newRoot(&console{}).Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		if len(cmd.Long) < 100 || !strings.Contains(cmd.Example, "muster "+cmd.Name()) {
			t.Errorf("%s: help without a text or an example", cmd.Name())
		}
	}
	status, out, _ := run(t, "check", "--help")
	for _, want := range []string{"--buffer in=f32", "--limit-instrs", "muster check examples/ring/ring.yaml"} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("check --help lacks %s", want)
		}
	}
}

// TestHelpFits: the help of every command fits 80 columns, but for examples and tables that stand
// in it as they are; commands and flags come in groups.
func TestHelpFits(t *testing.T) {
	for _, cmd := range newRoot(&console{}).Commands() {
		_, out, _ := run(t, cmd.Name(), "--help")
		for line := range strings.Lines(out) {
			if len([]rune(line)) > helpWidth+1 && !strings.HasPrefix(line, "  ") {
				t.Errorf("%s --help: a line of %d columns: %s", cmd.Name(), len([]rune(line))-1, line)
			}
		}
	}
	_, out, _ := run(t, "--help")
	for line := range strings.Lines(out) {
		if len([]rune(line)) > helpWidth+1 {
			t.Errorf("--help: a line of %d columns: %s", len([]rune(line))-1, line)
		}
	}
	at := 0
	for _, g := range commandGroups {
		i := strings.Index(out, "\n"+g.title+":\n  "+g.names[0])
		if i < at {
			t.Errorf("--help has %q at %d, behind %d", g.title, i, at)
		}
		at = i
	}
	_, out, _ = run(t, "check", "--help")
	own, rest, _ := strings.Cut(out[strings.Index(out, "\nFlags:\n"):], "\nThe launch,")
	if n := strings.Count(own, "--"); n > 6 {
		t.Errorf("check has %d flags of no group in help.go:%s", n, own)
	}
	for _, want := range []string{"      --grid ", "\nExploring:\n", "\nLimits:\n", "\nThe answer:\n"} {
		if !strings.Contains(rest, want) {
			t.Errorf("check --help lacks %q", want)
		}
	}
}

func TestShellQuoting(t *testing.T) {
	// A quoted argument of a replay line must be read back as one word.
	list := []string{"a b", "it's", `{"ptr": "in"}`, "$x`y`", "in=f32[4]:iota", "*"}
	line := "printf '%s\\n'"
	for _, w := range list {
		line += " " + report.Quote(w)
	}
	out, err := exec.Command("sh", "-c", line).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); fmt.Sprint(got) != fmt.Sprint(list) || fmt.Sprint(words(line[len("printf '%s\\n' "):])) != fmt.Sprint(list) {
		t.Errorf("%q came back as %q", list, got)
	}
}
