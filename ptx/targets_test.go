package ptx

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// otherTargets are rows whose targets differ from those of ptxas 13.0, with the reason.
var otherTargets = map[string]string{}

// TestTargets compares the targets that have an instruction with those for which ptxas takes
// it: testdata/since.txt names all where one with a suffix is the first.
func TestTargets(t *testing.T) {
	data, err := os.ReadFile("testdata/since.txt")
	if err != nil {
		t.Fatal(err)
	}
	asked, differ := 0, map[string]bool{}
	for line := range strings.Lines(string(data)) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if line[0] == '#' || !strings.ContainsAny(words[1], "af") {
			continue
		}
		in := instOf(t, words[2])
		takers := strings.Split(words[1], ",")
		var wrong []string
		for _, target := range sinceTargets {
			c := &targetCheck{mod: &Module{}, version: Version{9, 0}, target: parseSM(line, target), name: "sm_" + target}
			_, sm := in.Asks()
			c.report(Pos{}, "it", Version{}, sm, in.Form.Family, in.on()...)
			if got := len(c.list) == 0; got != slices.Contains(takers, target) {
				wrong = append(wrong, fmt.Sprintf("sm_%s: %v", target, got))
			}
			asked++
		}
		switch {
		case wrong == nil:
		case otherTargets[in.Form.Name] == "":
			t.Errorf("%s: ptxas takes it for %s; taken here %s", words[2], words[1], strings.Join(wrong, ", "))
		default:
			differ[in.Form.Name] = true
		}
	}
	for row, why := range otherTargets {
		if !differ[row] {
			t.Errorf("%s does not differ any more: %s", row, why)
		}
	}
	if asked < 7000 {
		t.Errorf("only %d targets", asked)
	}
}

// TestTargetNames: what the messages say of lists of targets.
func TestTargetNames(t *testing.T) {
	for _, c := range []struct{ version, target, text, want string }{
		{"9.0", "sm_100a", "tcgen05.shift.cta_group::1.down [%r1];", ""},
		{"9.0", "sm_100f", "tcgen05.shift.cta_group::1.down [%r1];", "tcgen05.shift.cta_group::1.down is not supported on .target sm_100f; it requires sm_100a or sm_101a or sm_103a or sm_107a or sm_110a"},
		{"9.4", "sm_107a", "tcgen05.mma.cta_group::1.kind::ti16 [%r1], %rd2, %rd3, %r4, %p5;", ""},
		{"9.4", "sm_103a", "tcgen05.mma.cta_group::1.kind::ti16 [%r1], %rd2, %rd3, %r4, %p5;", "tcgen05.mma.cta_group::1.kind::ti16 is not supported on .target sm_103a; it requires sm_107f"},
		{"9.0", "sm_100a", "tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd2, %rd3, %r4, %p5;", ""},
		{"9.0", "sm_103a", "tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd2, %rd3, %r4, %p5;", "tcgen05.mma.cta_group::1.kind::i8 is not supported on .target sm_103a; it requires sm_100a or sm_101a or sm_110a"},
		{"9.0", "sm_100a", "tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 {%r1, %r2}, %r3, [%r4];", "tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 is not supported on .target sm_100a; it requires sm_101f or sm_110f"},
		{"9.0", "sm_103f", "tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 {%r1, %r2}, %r3, [%r4];", ""},
		{"9.4", "sm_100a", "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.b32 [%rd1], 64;", ""},
		{"9.0", "sm_100a", "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.b32 [%rd1], 64;", "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.b32 requires PTX ISA .version 9.4 or later; this module has 9.0"},
	} {
		m, err := Parse("k", []byte(".version "+c.version+"\n.target "+c.target+"\n.entry k()\n{\n.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"+c.text+"\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if list := CheckTarget(m); len(list) > 0 {
			got = list[0].Msg
		}
		if got != c.want {
			t.Errorf("%s for %s: %q, want %q", c.text, c.target, got, c.want)
		}
	}
}
