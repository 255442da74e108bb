package script_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/internal/rules"
	. "muster/internal/script"
)

var update = flag.Bool("update", false, "rewrite the output in examples/barrier")

const examples = "../../examples/barrier"

func run(t testing.TB, name, src string) (*Script, *Result) {
	t.Helper()
	s, err := Parse(name, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// commands are the lines of a script that are commands.
func commands(text string) []string {
	var out []string
	due := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "----":
			due = true
		case line == "":
			due = false
		case !due && line[0] != '#':
			out = append(out, line)
		}
	}
	return out
}

// longest is how many commands somebody reads aloud.
const longest = 24

// TestExamples runs examples/barrier: each script has its expected output, opens with a comment, is
// short, and printed without its output and run again it is the same.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(examples + "/*.txt")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			s, r := run(t, f, string(src))
			if *update {
				if err := os.WriteFile(f, []byte(r.Text), 0o666); err != nil {
					t.Fatal(err)
				}
			} else if diff := r.Diff(f); diff != "" || !s.Checked() {
				t.Errorf("%s", diff)
			} else if r.Text != string(src) {
				t.Errorf("printed, it is not the same text:\n%s", r.Text)
			}
			if !strings.HasPrefix(string(src), "# ") {
				t.Error("it does not begin with a comment that says what it shows")
			}
			if n := len(commands(string(src))); n > longest {
				t.Errorf("%d commands: too long to read aloud", n)
			}
		})
	}
}

// TestFaultsOfTheHardware holds a script to each sequence that ended a launch on the H200: the
// same operations, and the launch ends.
func TestFaultsOfTheHardware(t *testing.T) {
	f, err := os.Open("../../mbarrier/testdata/mbarrier-h200.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	faults := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct {
			Case, Fault string
			Ops         []struct {
				Op  string
				Arg uint32
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Fault == "" {
			continue
		}
		faults++
		text, err := os.ReadFile(filepath.Join(examples, "fault_"+c.Case+".txt"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(text), "the launch ends here, "+c.Fault) {
			t.Errorf("%s: the launch does not end", c.Case)
		}
		got := commands(string(text))
		got = got[:len(got)-1] // end
		for i, line := range got {
			words := strings.Fields(regexp.MustCompile(`^\w+: `).ReplaceAllString(line, ""))
			if want := c.Ops[i]; words[0] != want.Op || words[2] != fmt.Sprint(want.Arg) {
				t.Errorf("%s: %q, and the H200 did %s %d", c.Case, line, want.Op, want.Arg)
			}
		}
	}
	if faults != 9 {
		t.Errorf("%d cases with a fault", faults)
	}
}

// TestKinds holds every kind that a script can name to the catalogue, and to an example.
func TestKinds(t *testing.T) {
	var shown strings.Builder
	files, _ := filepath.Glob(examples + "/*.txt")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(text)
	}
	source, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, f := range source {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.find\("([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
			named = append(named, m[1])
		}
	}
	slices.Sort(named)
	named = slices.Compact(named)
	if len(named) < 14 {
		t.Errorf("%d kinds: %v", len(named), named)
	}
	for _, n := range named {
		k := rules.Lookup(n)
		if !strings.Contains(shown.String(), "["+n+"]: ") {
			t.Errorf("no script in examples/barrier shows %s", n)
		}
		if k != nil && !strings.Contains(shown.String(), fmt.Sprintf("%s[%s]: %s\n", k.Severity, n, k.Title)) {
			t.Errorf("%s is not told in the catalogue's words", n)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"arive bar", `x:1:1: no command "arive"`},
		{"init bar", "x:1:9: usage: init BAR COUNT"},
		{"init bar two", `x:1:10: "two" is no number of 32 bits`},
		{"init bar 2^33", `x:1:10: "2^33" is no number of 32 bits`},
		{"init bar 2^99", `x:1:10: "2^99" is no number of 32 bits`},
		{"init bar 1 1", `x:1:12: "1" is one word too many: init BAR COUNT`},
		{"init 9 1", `x:1:6: "9" is no name`},
		{"init bar 1\narrive baz", `x:2:8: no line here initializes a barrier "baz"`},
		{"init bar 1\nwait bar parity 0", "x:2:1: somebody has to wait: NAME: wait …"},
		{"init bar 1\na: wait bar t", `x:2:13: no line above keeps a token "t"; a wait is by token, parity P or phase N`},
		{"init bar 1\na: wait bar parity 0\n  a: arrive bar", "x:3:3: a waits for phase 0 of bar since line 2"},
		{"init bar 1\nt = expect_tx bar 1", "x:2:1: expect_tx returns no token"},
		{"init bar 1\ncopy a 1 bytes to bar", "x:2:6: usage: copy NAME: BYTES bytes to BAR"},
		{"init bar 1\ncopy a: 16 bytes to bar\ncopy a: 16 bytes to bar", "x:3:6: a is under way already"},
		{"land a", `x:1:6: no copy "a" is under way`},
		{"timeout a", "x:1:9: a waits for nothing"},
		{"pending_count t", `x:1:15: no line above keeps a token "t"`},
		{"----", "x:1:1: output without a command before it"},
		{"a:", "x:1:3: a command is missing"},
		{"3 = b: end", `x:1:1: "3" is no name`},
		{"init bar 1\x00", "x:1:11: not text"},
		{"end\n\xff", "x:2:1: not text"},
	} {
		s, err := Parse("x", []byte(c.src))
		if err == nil {
			_, err = s.Run()
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.src, err, c.want)
		}
	}
}

func TestTooLong(t *testing.T) {
	if _, err := Parse("x", make([]byte, MaxSize+1)); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
}

// TestNumbers reads every way to write a number.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{"12": "12", "0x20": "32", "2^10": "1024", "2^20-1": "1048575", "2^4+1": "17"} {
		if _, r := run(t, "x", "init bar "+text); !strings.Contains(r.Text, "pending "+want+" of "+want) {
			t.Errorf("%s: %s", text, r.Text)
		}
	}
}

// TestDiff shows a difference with the line where it stands.
func TestDiff(t *testing.T) {
	src := "# c\ninit bar 1\n----\nbar 0x0000000000000000  phase 0\n\nb: wait bar parity 0\n----\nb waits for phase 0 of bar\n"
	_, r := run(t, "x", src)
	want := `x:4: output differs
  init bar 1
- bar 0x0000000000000000  phase 0
+ bar 0x7ffff800001ffffe  phase 0 (parity 0): pending 1 of 1, tx 0
x:7: output differs
  end
+ b still waits for phase 0 of bar: pending 1 of 1, tx 0
+   error[never-completes]: a wait that nothing left to run can end
+     nothing of phase 0 has come, no arrival and no byte
`
	if got := r.Diff("x"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestCommandsShareOutput keeps commands together that share one output.
func TestCommandsShareOutput(t *testing.T) {
	src := "init bar 2\n# both\na: arrive bar\nb: arrive bar\n----\n"
	_, r := run(t, "x", src)
	if !strings.HasPrefix(r.Text, "init bar 2\n# both\na: arrive bar\nb: arrive bar\n----\nbar 0x") || strings.Count(r.Text, "----") != 1 {
		t.Errorf("%s", r.Text)
	}
}

// FuzzScript looks for scripts that break the runner, or whose printed form is not a test that
// they pass.
func FuzzScript(f *testing.F) {
	files, _ := filepath.Glob(examples + "/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(strings.Join(commands(string(text)), "\n"))
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, src string) {
		s, err := Parse("x", []byte(src))
		if err != nil {
			return
		}
		r, err := s.Run()
		if err != nil {
			return
		}
		_, again := run(t, "x", r.Text)
		if diff := again.Diff("x"); diff != "" {
			t.Fatalf("printed form fails:\n%s\n%s", r.Text, diff)
		}
		if again.Text != r.Text {
			t.Fatalf("not a fixed point:\n%s\nthen\n%s", r.Text, again.Text)
		}
	})
}

// An h200Step is one operation of the golden data and what the card answered after it.
type h200Step struct {
	Op              string
	Arg             uint32
	Parity0Complete *bool `json:"parity0_complete"`
	Parity1Complete *bool `json:"parity1_complete"`
	TokenComplete   *bool `json:"token_complete"`
	Token, Word     string
	PendingCount    uint32 `json:"pending_count"`
}

// lines are the commands for a step, with what each must say.
func (s h200Step) lines(n int) (cmds, want []string) {
	cmd := fmt.Sprintf("%s bar %d", s.Op, s.Arg)
	if s.Op == "inval" {
		cmd = "inval bar"
	}
	if s.Token != "" {
		cmd = fmt.Sprintf("t%d = a: %s", n, cmd)
	}
	add := func(cmd, due string) { cmds, want = append(cmds, cmd), append(want, due) }
	switch {
	case s.Token != "":
		add(cmd, fmt.Sprintf("t%d = %s,", n, s.Token))
	case s.Word != "":
		add(cmd, "bar "+s.Word)
	default:
		add(cmd, "bar 0x")
	}
	for p, complete := range []*bool{s.Parity0Complete, s.Parity1Complete} {
		if complete != nil {
			add(fmt.Sprintf("test bar parity %d", p), fmt.Sprint(*complete))
		}
	}
	if s.Token != "" {
		add(fmt.Sprintf("test bar t%d", n), fmt.Sprint(*s.TokenComplete))
		add(fmt.Sprintf("pending_count t%d", n), fmt.Sprint(s.PendingCount))
	}
	return cmds, want
}

// TestAnswersOfTheHardware runs the measured sequences that did not fault as scripts: every token,
// every answer of a test and every word that came back is the card's.
func TestAnswersOfTheHardware(t *testing.T) {
	text, err := os.ReadFile("../../mbarrier/testdata/mbarrier-h200.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for line := range strings.Lines(string(text)) {
		var c struct {
			Case, Fault string
			Steps       []h200Step
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if c.Fault != "" {
			continue
		}
		cases++
		var cmds, want []string
		for n, s := range c.Steps {
			cc, ww := s.lines(n)
			cmds, want = append(cmds, cc...), append(want, ww...)
		}
		_, r := run(t, c.Case, strings.Join(cmds, "\n"))
		said := strings.Split(r.Text, "\n\n")
		for i := range cmds {
			if _, out, _ := strings.Cut(said[i], "----\n"); !strings.Contains("\n"+out, "\n"+want[i]) {
				t.Errorf("%s: %s: %q, the card %s", c.Case, cmds[i], out, want[i])
			}
		}
	}
	if cases != 33 {
		t.Errorf("%d cases without a fault", cases)
	}
}

// TestMoves: a run keeps its moves only if it is asked to.
func TestMoves(t *testing.T) {
	for _, asked := range []bool{false, true} {
		s, err := Parse("moves.txt", []byte("init bar 1\np: arrive bar\n"))
		if err != nil {
			t.Fatal(err)
		}
		s.Moves = asked
		res, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 2}[asked]; len(res.Moves) != want {
			t.Errorf("asked: %v: %d moves, want %d", asked, len(res.Moves), want)
		}
	}
}
