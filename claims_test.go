package muster_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"muster"
	"muster/internal/undecided"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

// testdata/claims/*.ptx say of small kernels what a check must say of them. Many go
// well in the schedules that usually happen and are wrong all the same; others look
// like them and are right, and the names of some of these begin with "right:". A file
// holds one module after the other, parted by lines "---". A module begins with
// comments:
//
//	// its name
//	// --grid 1 --block 64 --buffer out=u32[64]:zeros --arg out
//	// clean
//
// The second is the launch, as on the command line; without it the kernel is
// launched by two warps, with a buffer of 4 KiB of zeros as its argument. The third
// is the claim:
//
//	clean           no schedule shows an error or a warning
//	proven          clean, and one run (or one for each order) must decide
//	incomplete      some schedules are left open
//	bad input TEXT  the launch is refused by an error that contains TEXT
//
// One directive speaks of the proof, and stands beside "clean" or alone:
//
//	unproven        neither one run nor one for each order may decide
//
// Two directives speak of the lines of the report, which are its summary, the
// headlines of its findings, what each lane that waits waits for and is owed, the gaps,
// what it assumes, and "unproven" with a reason why a proof does not hold. REGEXP is a regular
// expression. A claim may have several of each:
//
//	says REGEXP     a line of the report matches REGEXP
//	never REGEXP    no line of the report matches REGEXP
//
// Findings, and what a verdict is incomplete for, are claimed at their lines,
//
//	ld.relaxed.gpu.global.u32 %r1, [%rd1]; // want "error\[race-strong\]"
//
// by a regular expression each, which matches "severity[kind] headline" or
// "incomplete: what". Every want must be met at its line, and every error, warning
// and gap must be wanted at one of its lines. A module without .version is one of
// PTX 8.8 for sm_90a.

var claimed = flag.String("claims", "", "check only the claims whose name matches")

// A ptxClaim is one module of a file of claims.
type ptxClaim struct {
	name, file string
	line       int // of its first
	text       string
	launch     string
	limits     muster.Limits
	schedules  int // 0 is as many as without the option
	verdict    string
	bad        string
	unproven   bool
	says       []*regexp.Regexp
	never      []*regexp.Regexp
	wants      []*want
}

type want struct {
	line int // in the module
	re   *regexp.Regexp
	met  bool
}

const claimLaunch = "--grid 1 --block 64 --buffer out=u32[1024]:zeros --arg out"

func readClaims(t *testing.T, file string) []*ptxClaim {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []*ptxClaim
	line := 1
	for _, text := range strings.SplitAfter(string(data), "\n---\n") {
		c := &ptxClaim{file: file, line: line, launch: claimLaunch}
		line += strings.Count(text, "\n")
		if err := c.parse(strings.TrimSuffix(text, "---\n")); err != nil {
			t.Fatalf("%s:%v", file, err)
		}
		list = append(list, c)
	}
	return list
}

var (
	claimWant   = regexp.MustCompile(`// want((?: "(?:[^"\\]|\\.)*")+)\s*$`)
	claimQuoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

func (c *ptxClaim) parse(text string) error {
	header := true
	for i, line := range strings.Split(text, "\n") {
		at := c.line + i
		comment, ok := strings.CutPrefix(line, "// ")
		if header = header && (ok || strings.TrimSpace(line) == ""); header && ok {
			switch word, rest, _ := strings.Cut(comment, " "); {
			case c.name == "":
				c.name = comment
			case strings.HasPrefix(comment, "--"):
				c.launch = comment
			case comment == "clean", comment == "proven", comment == "incomplete":
				c.verdict = comment
			case comment == "unproven":
				c.unproven = true
			case word == "bad" && strings.HasPrefix(rest, "input "):
				c.verdict, c.bad = "bad input", strings.TrimPrefix(rest, "input ")
			case word == "says", word == "never":
				re, err := regexp.Compile(rest)
				if err != nil || rest == "" {
					return fmt.Errorf("%d: %s %q: want a regular expression: %v", at, word, rest, err)
				}
				if word == "says" {
					c.says = append(c.says, re)
				} else {
					c.never = append(c.never, re)
				}
			default:
				return fmt.Errorf("%d: unknown directive %q", at, comment)
			}
		}
		m := claimWant.FindStringSubmatch(line)
		if m == nil {
			if strings.Contains(line, "// want") {
				return fmt.Errorf("%d: a want that cannot be read", at)
			}
			continue
		}
		for _, quoted := range claimQuoted.FindAllString(m[1], -1) {
			re, err := regexp.Compile(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`))
			if err != nil {
				return fmt.Errorf("%d: %v", at, err)
			}
			c.wants = append(c.wants, &want{line: i + 1, re: re})
		}
	}
	switch {
	case c.name == "":
		return fmt.Errorf("%d: a claim without a name", c.line)
	case c.verdict == "" && !c.unproven && len(c.wants) == 0:
		return fmt.Errorf("%d: nothing is claimed of %q", c.line, c.name)
	}
	if !strings.Contains(text, ".version") {
		text = ".version 8.8 .target sm_90a .address_size 64 " + text // on the first line, so that lines stay
		text = strings.Replace(text, "// "+c.name, "/* "+c.name+" */", 1)
	}
	c.text = text
	return nil
}

// flags reads a launch as the command line has it.
func (c *ptxClaim) flags() (launch.Flags, error) {
	fl := launch.Flags{PTX: c.file}
	words := strings.Fields(c.launch)
	for i := 0; i+1 < len(words); i += 2 {
		switch v := strings.Trim(words[i+1], "'"); words[i] {
		case "--grid":
			fl.Grid = v
		case "--block":
			fl.Block = v
		case "--cluster":
			fl.Cluster = v
		case "--preferred-cluster":
			fl.PreferredCluster = v
		case "--shared":
			fl.Shared = v
		case "--registers":
			fl.Registers = v
		case "--maxrregcount":
			fl.MaxRegCount = v
		case "--kernel":
			fl.Kernel = v
		case "--co-resident":
			fl.CoResident = v
		case "--cooperative":
			fl.Cooperative = v
		case "--buffer":
			fl.Buffers = append(fl.Buffers, v)
		case "--variable":
			fl.Variables = append(fl.Variables, v)
		case "--assume":
			fl.Assume = append(fl.Assume, v)
		case "--arg":
			fl.Args = append(fl.Args, v)
		case "--limit-instrs":
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return fl, fmt.Errorf("%s:%d: %v", c.file, c.line, err)
			}
			c.limits.Instrs = n
		case "--schedules":
			n, err := strconv.Atoi(v)
			if err != nil {
				return fl, fmt.Errorf("%s:%d: %v", c.file, c.line, err)
			}
			c.schedules = n
		default:
			return fl, fmt.Errorf("%s:%d: a launch with %s", c.file, c.line, words[i])
		}
	}
	return fl, nil
}

func (c *ptxClaim) load() (*muster.Launch, error) {
	fl, err := c.flags()
	if err != nil {
		return nil, err
	}
	f, err := launch.FromFlags(fl)
	if err != nil {
		return nil, err
	}
	mod, err := ptx.Parse(c.file, []byte(c.text))
	if err != nil {
		return nil, err
	}
	return muster.LoadModule(f, mod, []byte(c.text), c.limits)
}

// unshown says which errors of a report the schedules that it names do not show.
func unshown(l *muster.Launch, r *muster.Report) (wrong []string) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity != "error" || f.Schedule == "" {
			continue
		}
		s, err := muster.ParseSchedule(f.Schedule)
		if err == nil {
			_, err = l.Shrink(context.Background(), s, f.ID, muster.ShrinkOptions{Runs: 1})
		}
		if err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	return wrong
}

// meet marks the wants that a message at some lines meets, and reports whether one
// does.
func (c *ptxClaim) meet(text string, places ...*report.Place) bool {
	met := false
	for _, w := range c.wants {
		for _, p := range places {
			if p != nil && p.Line == w.line && w.re.MatchString(text) {
				w.met, met = true, true
			}
		}
	}
	return met
}

// holds says what of a claim a report does not bear out.
func (c *ptxClaim) holds(r *muster.Report) (wrong []string) {
	for i := range r.Findings {
		f := &r.Findings[i]
		var places []*report.Place
		for _, s := range f.Sites {
			places = append(places, s.PTX)
		}
		for _, w := range f.Waiting {
			places = append(places, w.Site.PTX)
		}
		text := fmt.Sprintf("%s[%s] %s", f.Severity, f.Kind, f.Headline)
		if !c.meet(text, places...) && f.Severity != "note" {
			wrong = append(wrong, "nobody wants "+text+" of "+f.ID)
		}
	}
	for _, g := range r.Gaps {
		text := "incomplete: " + g.What
		if !c.meet(text, g.Place) && c.verdict != "incomplete" {
			wrong = append(wrong, fmt.Sprintf("nobody wants %s (%v)", text, g.Place))
		}
		if undecided.Why(g.What) == nil {
			wrong = append(wrong, "no cause of internal/undecided says what to do about "+text)
		}
	}
	for _, w := range c.wants {
		if !w.met {
			wrong = append(wrong, fmt.Sprintf("line %d is not told: %s", c.line+w.line-1, w.re))
		}
	}
	proven := r.Verdict == "clean" && r.Proof != nil && r.Proof.All
	switch {
	case c.verdict == "" || c.verdict == string(r.Verdict):
	case c.verdict == "proven" && proven:
	default:
		wrong = append(wrong, fmt.Sprintf("the verdict is %q, proven: %v; want %q", r.Verdict, proven, c.verdict))
	}
	if c.unproven && proven {
		wrong = append(wrong, "a proof decides every schedule; want none")
	}
	text := lines(r)
	for _, re := range c.says {
		if !re.MatchString(text) {
			wrong = append(wrong, fmt.Sprintf("the report does not say %q:\n%s", re, text))
		}
	}
	for _, re := range c.never {
		if re.MatchString(text) {
			wrong = append(wrong, fmt.Sprintf("the report says %q:\n%s", re, text))
		}
	}
	return wrong
}

// lines are the lines of a report that "says" and "never" are about.
func lines(r *muster.Report) string {
	text := r.Summary
	for i := range r.Findings {
		f := &r.Findings[i]
		text += "\nfinding " + f.Kind + ": " + f.Headline
		for _, w := range f.Waiting {
			text += "\nwaiting for " + w.For + ": " + w.Owed
		}
	}
	for _, g := range r.Gaps {
		text += "\ngap " + g.What
	}
	for _, a := range r.Assumptions {
		text += "\nassuming " + a
	}
	if r.Proof != nil {
		for _, why := range r.Proof.Reasons {
			text += "\nunproven " + why.Condition + ": " + why.Text
		}
	}
	return text
}

func TestClaimFiles(t *testing.T) {
	t.Parallel()
	files, err := claimFiles()
	if err != nil || len(files) == 0 {
		t.Fatal("no claims", err)
	}
	only := regexp.MustCompile(*claimed)
	for _, file := range files {
		for i, c := range readClaims(t, file) {
			if !only.MatchString(c.name) || testing.Short() && i%8 != 1 {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".ptx")+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t)
			})
		}
	}
}

func (c *ptxClaim) run(t *testing.T) {
	l, err := c.load()
	var r *muster.Report
	if err == nil {
		r, err = l.Check(context.Background(), muster.CheckOptions{Explore: muster.ExploreOptions{Schedules: c.schedules}})
	}
	switch {
	case c.verdict == "bad input" && err != nil && strings.Contains(err.Error(), c.bad):
		return
	case c.verdict == "bad input":
		t.Fatalf("%s:%d: want bad input, %q, got %v", c.file, c.line, c.bad, err)
	case err != nil:
		t.Fatalf("%s:%d: %v", c.file, c.line, err)
	}
	if wrong := append(c.holds(r), unshown(l, r)...); len(wrong) > 0 {
		var text bytes.Buffer
		_ = r.WriteText(&text, muster.TextOptions{})
		t.Errorf("%s:%d: %s\n\n%s", c.file, c.line, strings.Join(wrong, "\n"), text.String())
	}
}

// claimFiles lists the files of claims: those of testdata/claims, and the pairs of wrong and
// right kernels of testdata/blackwell.
func claimFiles() ([]string, error) {
	files, err := filepath.Glob("testdata/claims/*.ptx")
	if err != nil {
		return nil, err
	}
	more, err := filepath.Glob("testdata/blackwell/*.ptx")
	return append(files, more...), err
}
