package ptx

import (
	"os"
	"strings"
	"testing"
)

// forgotten are rows for architectures that ptxas 13.0 does not know by the table's
// number, with the reason.
var forgotten = map[string]string{
	"tcgen05.ld.red":           "sm_101a is sm_110a since PTX 9.0 (ISA 9.7.16.8.3)",
	"tcgen05.ld.red.int":       "as tcgen05.ld.red",
	"tcgen05.ld.red.split":     "as tcgen05.ld.red",
	"tcgen05.ld.red.int.split": "as tcgen05.ld.red",
}

// TestAsks compares the check of a module's version and target with ptxas's
// answers: it is never stricter, and refuses the previous version and architecture.
func TestAsks(t *testing.T) {
	data, err := os.ReadFile("testdata/since.txt")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for line := range strings.Lines(string(data)) {
		if line[0] == '#' {
			continue
		}
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		in := instOf(t, words[2])
		fits := func(v Version, target SM) bool {
			c := &targetCheck{mod: &Module{}, version: v, target: target, name: "sm"}
			asked, sm := in.Asks()
			c.report(Pos{}, "", asked, sm, in.Form.Family)
			return len(c.list) == 0
		}
		v := parseSince(line, ">"+strings.TrimSuffix(words[0], "-")).Version
		for target := range strings.SplitSeq(words[1], ",") {
			if sm := parseSM(line, strings.TrimSuffix(target, "-")); !fits(v, sm) && forgotten[in.Form.Name] == "" {
				t.Errorf("%s is refused for PTX %s and sm_%s, which ptxas takes", words[2], words[0], target)
			}
		}
		first := parseSM(line, strings.TrimSuffix(strings.Split(words[1], ",")[0], "-"))
		if !strings.HasSuffix(words[0], "-") && lenient[in.Form.Name] == "" {
			if fits(Version{v.Major, v.Minor - 1}, first) {
				t.Errorf("%s is taken before PTX %s", words[2], words[0])
			}
			refused++
		}
		if !strings.HasSuffix(words[1], "-") && lenient[in.Form.Name] == "" && fits(Version{99, 0}, SM{first.Number - 1, first.Suffix}) {
			t.Errorf("%s is taken before sm_%s", words[2], words[1])
		}
	}
	if refused < 1000 {
		t.Errorf("only %d", refused)
	}
}
