package ptx

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// modifierAnswers yields ptxas's answers from testdata/modifiers.txt: whether it
// accepts an instruction, or a module, whose text begins with ".version".
func modifierAnswers(t *testing.T, each func(taken bool, why, text string)) {
	t.Helper()
	data, err := os.ReadFile("testdata/modifiers.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		verdict, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verdict == "#" {
			continue
		}
		why := ""
		if strings.HasPrefix(text, "[") {
			why, text, _ = strings.Cut(text[1:], "] ")
		}
		each(verdict == "+", why, text)
	}
}

// refusedValues are instructions, by the beginning of their text, that match a row
// but that ptxas refuses for something the table does not state: the type or the
// value of an operand.
var refusedValues = []string{
	"alloca.u32 ", "bar.red.", "barrier.red.", "createpolicy.fractional.", "cvta.const.u32 ", "max.f32 ", "min.f32 ",
	"mbarrier.test_wait.b64 ", "mbarrier.try_wait.b64 ",
	"ld.", "st.", // .b8 registers, which the module does not declare
}

// TestSpoilt compares the table with ptxas on spoilt instructions: the machine
// would execute an instruction that matches a row although ptxas refuses it. Words
// that ptxas ignores, as in add.swizzle_mode.f64, match no row.
func TestSpoilt(t *testing.T) {
	count := map[string]int{}
	modifierAnswers(t, func(taken bool, why, text string) {
		if strings.HasPrefix(text, ".version") {
			return
		}
		in := instOf(t, text)
		count[fmt.Sprint(taken, in.Form != nil)]++
		_, sm := in.Asks()
		listed := slices.ContainsFunc(refusedValues, func(s string) bool { return strings.HasPrefix(text, s) })
		gone := in.Form != nil && in.Form.Gone != nil // ptxas was asked for later versions
		if !taken && in.Form != nil && sm.Number <= 90 && !listed && !gone {
			t.Errorf("ptxas refuses %s, which matches %s", text, in.Form.Name)
		}
	})
	if count["false false"] < 9000 || count["true true"] < 100 || count["true false"] > 170 {
		t.Errorf("taken, and matches a row: %v", count)
	}
}

// TestCheckTarget compares the check of versions and architectures with ptxas.
func TestCheckTarget(t *testing.T) {
	n := map[bool]int{}
	modifierAnswers(t, func(taken bool, why, text string) {
		if !strings.HasPrefix(text, ".version") || strings.HasPrefix(why, "ptxas info") { // it gives up on code that is cut short
			return
		}
		m, err := Parse("module", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		bad := append(CheckTarget(m), Validate(m)...)
		if n[taken]++; taken != (len(bad) == 0) {
			t.Errorf("ptxas takes it: %v (%s); we say %v: %s", taken, why, bad, text)
		}
	})
	if n[true] < 200 || n[false] < 400 {
		t.Errorf("only %v modules", n)
	}
}
