package ptx

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestGenerateSince checks that there are trials and, with -ptxas, asks the
// assembler which versions and architectures accept each instruction, and
// records a sample of the answers.
func TestGenerateSince(t *testing.T) {
	lines := sinceTrials()
	if len(lines) < 8000 {
		t.Fatalf("%d lines", len(lines))
	}
	if *ptxasPath == "" {
		return
	}
	answers := askSince(lines)
	var b strings.Builder
	b.WriteString(sinceHead)
	seen := map[string]bool{}
	for _, l := range lines {
		if a := answers[l]; a != nil {
			kind := fmt.Sprint(a, cellsMet(t, l))
			if !seen[kind] || hash(l)%10 == 0 && len(l) < 200 {
				fmt.Fprintf(&b, "%s %s %s\n", a.version, a.target, l)
			}
			seen[kind] = true
		}
	}
	if err := os.WriteFile("testdata/since.txt", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

const sinceHead = `# The first version of PTX and the first architecture for which ptxas 13.0 takes
# instructions made from the table; "4.0-": or one before it, which cannot be
# asked for. Where an architecture has a suffix, all that take it are here. Of
# 10,000 answers here is one of each row, cells that hold and answer, and a tenth
# of the others. Made with go test -run GenerateSince -ptxas PATH.
`

// cellsMet names the row of an instruction and those of its cells that apply.
func cellsMet(t *testing.T, line string) (kind []string) {
	in := instOf(t, line)
	kind = append(kind, in.Form.Name)
	for i := range in.Form.Since {
		if s := &in.Form.Since[i]; s.met(in, in.fill()) {
			kind = append(kind, s.String())
		}
	}
	return kind
}

// The versions and targets of ptxas 13.0, including pairs that it does not
// accept together. Targets without a suffix come first.
var (
	sinceVersions = strings.Fields("9.0 8.8 8.7 8.6 8.5 8.4 8.3 8.2 8.1 8.0 7.8 7.7 7.6 7.5 7.4 7.3 7.2 7.1 7.0 6.5 6.4 6.3 6.2 6.1 6.0 5.0 4.3 4.2 4.1 4.0")
	sinceTargets  = strings.Fields("50 52 53 60 61 70 72 75 80 86 87 89 90 100 103 110 120 121 90a 100a 100f 103a 103f 110a 110f 120a 120f 121a 121f")
)

type sinceAnswer struct{ version, target string }

func askSince(lines []string) map[string]*sinceAnswer {
	takers := map[string][]string{}
	for _, target := range sinceTargets {
		left := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { // later ones take it too
			return takers[l] != nil && !strings.ContainsAny(takers[l][0], "af")
		})
		for _, l := range taken("9.0", target, left) {
			takers[l] = append(takers[l], target)
		}
	}
	answers, byFirst := map[string]*sinceAnswer{}, map[string][]string{}
	for _, l := range lines {
		if list := takers[l]; list != nil {
			a := &sinceAnswer{target: list[0]}
			switch {
			case list[0] == sinceTargets[0]:
				a.target += "-"
			case strings.ContainsAny(list[0], "af"):
				a.target = strings.Join(list, ",")
			}
			answers[l] = a
			byFirst[list[0]] = append(byFirst[list[0]], l)
		}
	}
	for target, live := range byFirst {
		for i, version := range sinceVersions {
			next := taken(version, target, live)
			for _, l := range live {
				if i > 0 && !slices.Contains(next, l) {
					answers[l].version = sinceVersions[i-1]
				}
			}
			if live = next; len(live) == 0 {
				break
			}
		}
		for _, l := range live {
			answers[l].version = sinceVersions[len(sinceVersions)-1] + "-"
		}
	}
	return answers
}

// taken returns the lines that ptxas accepts for a version and an architecture.
// It asks separately about lines with registers that are themselves new (%rq).
func taken(version, target string, lines []string) (list []string) {
	head := ".version " + version + "\n.target sm_" + target + "\n.address_size 64\n.visible .entry k() { .reg .pred %p<300>; .reg .b8 %rc<300>; .reg .b16 %rs<300>; .reg .b32 %r<300>; .reg .b64 %rd<300>; .reg .f32 %f<300>; .reg .f64 %fd<300>;"
	wide := func(l string) bool { return strings.Contains(l, "%rq") }
	var mu sync.Mutex
	var wg sync.WaitGroup
	ask := func(head string, lines []string) {
		if assemble(head, target, []string{""}) == nil {
			return // ptxas does not know the version or the architecture
		}
		for chunk := range slices.Chunk(lines, 80) {
			wg.Go(func() {
				took := assemble(head, target, chunk)
				mu.Lock()
				list = append(list, took...)
				mu.Unlock()
			})
		}
	}
	ask(head+"\n", slices.DeleteFunc(slices.Clone(lines), wide))
	ask(head+" .reg .b128 %rq<300>;\n", slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !wide(l) }))
	wg.Wait()
	return list
}

var assemblers = make(chan struct{}, runtime.NumCPU())

// assemble returns the lines that ptxas accepts after a head. ptxas stops at a
// syntax error, so assemble asks again without the lines that it reports, or
// about halves if it reports none.
func assemble(head, target string, lines []string) []string {
	if n, _ := strconv.Atoi(target); n > 0 && n < 75 {
		target = "75" // the oldest that it generates code for
	}
	assemblers <- struct{}{}
	cmd := exec.Command("sh", "-c", `f=$(mktemp) && cat >$f && "$0" -O0 -arch sm_"$1" $f -o /dev/null 2>&1; r=$?; rm $f; exit $r`, *ptxasPath, target)
	cmd.Stdin = strings.NewReader(head + strings.Join(lines, "\n") + "\nret;\n}\n")
	out, err := cmd.Output()
	<-assemblers
	if err == nil {
		return lines
	}
	bad := map[int]bool{}
	for _, m := range complaint.FindAllStringSubmatch(string(out), -1) {
		n, _ := strconv.Atoi(m[1])
		n -= strings.Count(head, "\n") + 1
		if n < 0 { // the error is in the version, the architecture, or a declaration
			return nil
		}
		bad[n] = true
	}
	var rest []string
	for i, l := range lines {
		if !bad[i] {
			rest = append(rest, l)
		}
	}
	switch {
	case len(rest) == 0, len(lines) == 1:
		return nil
	case len(rest) < len(lines):
		return assemble(head, target, rest)
	}
	half := len(lines) / 2
	return slices.Concat(assemble(head, target, lines[:half]), assemble(head, target, lines[half:]))
}
