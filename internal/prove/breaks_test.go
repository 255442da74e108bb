package prove_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/internal/axiom/flow"
)

var (
	breaks     = flag.String("prove.breaks", "", "build proofs with breaks whose names this matches, and see that drawn programs show each")
	list       = flag.Bool("prove.list", false, "list what is decided, and compare nothing")
	breaksMost = flag.Int("prove.breaksmost", 10_000, "how many programs may show that a proof is broken")
)

// A hole is a condition of a proof that is left out: new in place of old, which stands once in a
// file of internal.
type hole struct {
	name, file, old, new string
}

// holes are what the proofs by counters rest on, each left out by itself.
var holes = []hole{
	{"a draw sees what its block released", "prove/classes.go",
		"return n.class.rank[n.d.index[n.next(ev, lane)]], true", "return 0, false"},
	{"a block is as large as numbers differ", "prove/classes.go",
		"if first < list[i].Lo || last > list[i].Hi {", "if first > last {"},
	{"classes that no run is of", "prove/classes.go",
		"for i := range len(c.blocks) - 1 {", "for i := range 0 {"},
	{"what else writes the counter, before a draw of its thread", "prove/classes.go",
		"n.open = n.open || n.wrote", "_ = n.wrote"},
	{"what else writes the counter, in no order", "prove/classes.go",
		"n.open = n.open || meets && !(n.d.at[p.Prior] && n.d.at[p.Cur]) && !n.last(p)", "_ = meets"},
	{"memory that classes leave", "prove/classes.go",
		"c.memory != first.memory && len(c.part.sums) == 0", "false"},
	{"the scope of draws", "prove/tickets.go",
		"n.other || n.narrow", "n.other"},
	{"draws that count", "prove/tickets.go",
		"return !ok || by != 1 ||", "_ = ok || by != 1\n\t\treturn"},
	{"bytes that clusters share", "prove/tickets.go",
		"return left.Empty()", "return true"},
	{"numbers that a cluster alone can have", "prove/tickets.go",
		"if draws[i].Lo == draws[i].Hi {", "if true {"},
	{"one instruction for a counter", "prove/places.go",
		"c.over || c.by != pc || c.each != each", "c.over || c.each != each"},
	{"strong accesses that do not commute", "prove/strong.go",
		"case why != \"\":\n\t\ts.note(pc, why)\n\tcase old.name != name:\n\t\ts.note(pc, \"strong accesses of different kinds write one word\")", "case why != \"\":"},
	{"strong loads", "prove/loads.go",
		"told[pc] = told[pc] || s.open[at]", "told[pc] = told[pc] || s.open[at] && false"},
	{"memory that orders leave", "prove/orders.go",
		"} else if h != memory {", "} else if h != memory && false {"},
	{"two words with several orders", "prove/orders.go",
		"&& !words.Over && len(words.Beyond()) == 0 &&", "&&"},
	{"who has not waited for the write before", "confluence/poll.go",
		"if k.blind || k.by.lane < 0 ||", "if k.by.lane < 0 ||"},
	{"numbers that a comparison tells apart", "machine/undefined_draws.go",
		"one.Lo, one.Hi = max(one.Lo, at+from), min(one.Hi, at+to)", "_ = one"},
	{"numbers that decide something", "machine/undefined_draws.go",
		"d.Lo, d.Hi = int64(d.Old), int64(d.Old)", "_ = d"},
}

// TestBreaks sees that each hole is one that can be built: what it leaves out stands where it
// says. With -prove.breaks it builds the proofs with it, from copies of the files, and drawn
// programs must show that they are wrong: one that they decide, and the proofs without the hole
// do not, has an outcome that the proof excludes.
func TestBreaks(t *testing.T) {
	chosen, err := regexp.Compile(*breaks)
	if err != nil {
		t.Fatal(err)
	}
	right := map[uint64][]string{}
	for _, h := range holes {
		file, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(h.file)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte(h.old)); n != 1 {
			t.Errorf("%s: what it leaves out stands %d times in %s", h.name, n, h.file)
			continue
		}
		if *breaks == "" || !chosen.MatchString(h.name) {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			h.shows(t, h.build(t, file, strings.Replace(string(text), h.old, h.new, 1)), right)
		})
	}
}

// build builds the campaign with a file's text replaced.
func (h *hole) build(t *testing.T, file, text string) (bin string) {
	dir := t.TempDir()
	other := filepath.Join(dir, filepath.Base(file))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: other}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{other: []byte(text), filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bin = filepath.Join(dir, "drawn.test")
	if out, err := exec.Command("go", "test", "-overlay", filepath.Join(dir, "overlay.json"), "-c", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// chunk is how many programs are gone through at a time.
const chunk = 500

// shows looks for a program that shows that the proofs of a binary are wrong. right has what the
// proofs without the hole decide, as far as that is known.
func (h *hole) shows(t *testing.T, bin string, right map[uint64][]string) {
	tried := 0
	for begin := *from; begin < *from+uint64(*breaksMost); begin += chunk {
		out, err := exec.Command(bin, "-test.run", "TestDecided$", "-test.timeout", "0", "-prove.list", "-prove.from", fmt.Sprint(begin), "-prove.n", fmt.Sprint(chunk)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			n, name, ok := strings.Cut(strings.TrimSpace(line), ":")
			seed, err := strconv.ParseUint(n, 10, 64)
			if !ok || err != nil {
				continue
			}
			p := flow.Counters(seed)
			if right[seed] == nil {
				right[seed] = append(claims(t, p), "")
			}
			if slices.Contains(right[seed], name) {
				continue
			}
			tried++
			truth, err := outcome(p)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := truth.refutes(strings.HasSuffix(name, one)); wrong != "" {
				t.Logf("program %d shows it: by %s, and there is %s", seed, name, wrong)
				return
			}
		}
	}
	t.Errorf("%d programs do not show it, %d of which are decided in addition", *breaksMost, tried)
}

// one marks proofs that leave one memory.
const one = ", one memory"

// claims lists the proofs that decide a program.
func claims(t *testing.T, p *flow.Program) (list []string) {
	l, err := subject(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range decide(l) {
		name := d.name
		if d.one() {
			name += one
		}
		list = append(list, name)
	}
	return list
}

// TestDecided lists the proofs that decide drawn programs, with -prove.list.
func TestDecided(t *testing.T) {
	if !*list {
		t.Skip("without -prove.list")
	}
	for seed := *from; seed < *from+*drawn; seed++ {
		for _, name := range claims(t, flow.Counters(seed)) {
			fmt.Printf("%d:%s\n", seed, name)
		}
	}
}
