// Command alike compares what two builds of muster say, for a change that is to leave
// every verdict as it is:
//
//	go run ./internal/alike [-sentences FILE] [-except FILE] OLD NEW [DIRECTORY...]
//
// OLD and NEW are built commands. Each is run with each command on every launch file of
// the directories (default examples/*), and with what takes no launch. The exit status
// must be equal, and so must every field of the JSON that is not prose. Text, and prose in
// the JSON, must be equal after the sentences of a file are put in place:
//
//	-an old sentence
//	+its new form
//
// A sentence may have several lines, of its old and of its new form. One that is never
// used is an error. In a file of exceptions, each line is a part of a command line, and
// after a colon the reason why its answer differs; one that is never used is an error.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
)

func main() {
	sentences := flag.String("sentences", "", "a file of old sentences and new ones")
	except := flag.String("except", "", "a file of command lines whose answers differ, with reasons")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: alike [-sentences FILE] [-except FILE] OLD NEW [DIRECTORY...]")
		os.Exit(2)
	}
	c := comparison{old: flag.Arg(0), new: flag.Arg(1)}
	dirs := flag.Args()[2:]
	if len(dirs) == 0 {
		dirs, _ = filepath.Glob("examples/*")
	}
	var err error
	if c.pairs, err = readPairs(*sentences); err == nil {
		c.excepted, err = readExceptions(*except)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "alike:", err)
		os.Exit(2)
	}
	if !c.run(commands(dirs)) {
		os.Exit(1)
	}
}

// longPTX is the PTX size, in bytes, above which a kernel runs fewer schedules.
const longPTX = 16 << 10

// commands lists the command lines to compare. None has a time limit: two runs of one
// build would differ by it.
func commands(dirs []string) [][]string {
	list := [][]string{{"--help"}, {"explain"}, {"coverage"}, {"check", "no.yaml"}, {"frob"}}
	for _, c := range []string{"barrier", "check", "coverage", "explain", "fmt", "merge", "mutate", "reduce", "replay", "run"} {
		list = append(list, []string{c, "--help"})
	}
	add := func(args ...string) { list = append(list, args) }
	for _, dir := range dirs {
		launches, _ := filepath.Glob(dir + "/*.yaml")
		for _, f := range launches {
			n := "30"
			long := slices.ContainsFunc(ptxFiles(dir), func(p string) bool {
				i, err := os.Stat(p)
				return err == nil && i.Size() > longPTX
			})
			if long {
				n = "6"
			}
			add("check", f, "--format", "json", "--schedules", n)
			add("check", f, "--all", "--schedules", n)
			add("run", f)
			add("run", f, "--format", "json")
			if !long {
				add("check", f, "--cost", "--schedules", "8")
				add("check", f, "--grid", "0", "--arg", "nobody")
			}
		}
		for _, f := range ptxFiles(dir) {
			add("fmt", f)
			add("check", f)
		}
	}
	return list
}

func ptxFiles(dir string) []string {
	files, _ := filepath.Glob(dir + "/*.ptx")
	return files
}

// A pair is a sentence, before and after.
type pair struct {
	old, new string
	used     bool
}

// An exception is a part of a command line whose answer differs, with the reason.
type exception struct {
	part, reason string
	used         bool
}

type comparison struct {
	old, new string // the builds
	pairs    []pair
	excepted []exception
	mu       sync.Mutex
	differ   int
}

// run compares all commands, and reports whether the builds are alike.
func (c *comparison) run(list [][]string) bool {
	work := make(chan []string)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for args := range work {
				more := c.compare(args)
				for _, args := range more {
					c.compare(args)
				}
			}
		})
	}
	for _, args := range list {
		work <- args
	}
	close(work)
	group.Wait()
	unused := 0
	for _, p := range c.pairs {
		if !p.used {
			unused++
			fmt.Printf("unused sentence:\n%s", diff(p.old, p.new))
		}
	}
	for _, e := range c.excepted {
		if !e.used {
			unused++
			fmt.Printf("unused exception: %s\n", e.part)
		}
	}
	fmt.Printf("%d command lines, %d differ, %d sentences or exceptions unused\n", len(list), c.differ, unused)
	return c.differ == 0 && unused == 0
}

// An answer is what a command wrote, and how it ended.
type answer struct {
	status   int
	out, err string
}

func ask(binary string, args []string) answer {
	cmd := exec.Command(binary, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return answer{-1, "", err.Error()}
	}
	return answer{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// compare runs one command line, and returns the replays of the findings in its answer.
func (c *comparison) compare(args []string) (replays [][]string) {
	a, b := ask(c.old, args), ask(c.new, args)
	c.mu.Lock()
	defer c.mu.Unlock()
	var why string
	facts, old := readFacts(a.out)
	facts2, new := readFacts(b.out)
	switch {
	case a.status != b.status:
		why = fmt.Sprintf("exit status %d, then %d", a.status, b.status)
	case !reflect.DeepEqual(facts, facts2):
		why = "fields that are no prose"
	case c.reword(old) != new:
		why = "text"
	case c.reword(a.err) != b.err:
		why = "standard error"
	}
	if why != "" {
		line := strings.Join(args, " ")
		for i := range c.excepted {
			if e := &c.excepted[i]; strings.Contains(line, e.part) {
				e.used = true
				return nil
			}
		}
		c.differ++
		fmt.Printf("muster %s: %s\n%s", line, why, diff(c.reword(old)+c.reword(a.err), new+b.err))
		return nil
	}
	if facts != nil && args[0] == "check" {
		replays = replaysIn(args[1], b.out)
	}
	return replays
}

// readFacts parts the JSON of an answer into fields that are no prose and prose. A string
// with a blank is prose. Other text is prose.
func readFacts(out string) (facts any, prose string) {
	if json.Unmarshal([]byte(out), &facts) != nil {
		return nil, out
	}
	var text strings.Builder
	var part func(v any) any
	part = func(v any) any {
		switch v := v.(type) {
		case string:
			if strings.Contains(v, " ") {
				text.WriteString(v + "\n")
				return ""
			}
		case []any:
			for i := range v {
				v[i] = part(v[i])
			}
		case map[string]any:
			keys := make([]string, 0, len(v))
			for k := range v {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range keys {
				v[k] = part(v[k])
			}
		}
		return v
	}
	facts = part(facts)
	return facts, text.String()
}

// replaysIn returns the command lines that replay the first findings of a check.
func replaysIn(launch, out string) (list [][]string) {
	var r struct {
		Findings []struct{ ID, Schedule string }
	}
	if json.Unmarshal([]byte(out), &r) != nil {
		return nil
	}
	for _, f := range r.Findings[:min(2, len(r.Findings))] {
		if f.Schedule != "" {
			list = append(list, []string{"replay", launch, "--schedule", f.Schedule, "--finding", f.ID})
		}
	}
	return list
}

// reword puts the new sentences in the place of the old ones, in the order of the file.
func (c *comparison) reword(s string) string {
	for i := range c.pairs {
		p := &c.pairs[i]
		if strings.Contains(s, p.old) {
			p.used = true
			s = strings.ReplaceAll(s, p.old, p.new)
		}
	}
	return s
}

func readPairs(file string) (pairs []pair, err error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	last := byte(0)
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		switch {
		case line == "" || line[0] == '#':
			last = 0
			continue
		case line[0] == '-' && last != '-':
			pairs = append(pairs, pair{old: line[1:]})
		case line[0] == '-':
			pairs[len(pairs)-1].old += "\n" + line[1:]
		case line[0] == '+' && last == '-':
			pairs[len(pairs)-1].new = line[1:]
		case line[0] == '+' && last == '+':
			pairs[len(pairs)-1].new += "\n" + line[1:]
		default:
			return nil, fmt.Errorf("%s:%d: want a line with -, then one with +", file, i+1)
		}
		last = line[0]
	}
	return pairs, nil
}

func readExceptions(file string) (list []exception, err error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		part, reason, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("%s:%d: want a part of a command line, a colon and the reason", file, i+1)
		}
		list = append(list, exception{part: part, reason: reason})
	}
	return list, nil
}

// maxDiff bounds how many lines of a difference are shown.
const maxDiff = 24

// diff shows the lines that are in one text only.
func diff(a, b string) string {
	var out strings.Builder
	shown := 0
	only := func(sign string, a, b string) {
		in := map[string]bool{}
		for _, l := range strings.Split(b, "\n") {
			in[l] = true
		}
		for _, l := range strings.Split(strings.TrimSuffix(a, "\n"), "\n") {
			if !in[l] && shown < maxDiff {
				shown++
				fmt.Fprintf(&out, "%s%s\n", sign, l)
			}
		}
	}
	only("-", a, b)
	shown = 0
	only("+", b, a)
	return out.String()
}
