package ptx

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A difference is why the table and ptxas differ on some forms: those whose text and ptxas's
// complaint match, and which ptxas takes or not.
type difference struct {
	taken      bool
	form, said string
	why        string
}

// junk are modifiers of other instructions that ptxas 13.0 ignores wherever they stand.
const junk = `\.(number|notanumber|finite|infinite|elemtype|swizzle_mode|swizzle_atomicity|interleave_layout|fill_mode|box_dim|global_dim|global_stride|` +
	`surfref|pred|b2|b8x16|b6x16_p32|b4x16_p64|acc::f32|cluster\.global|mbarrier_init)\b`

var differences = []difference{
	{false, `\[\d+[],]`, `Immediate addresses allowed only for \.local|Parsing error near ','`, "the ISA has immediate addresses in all state spaces (6.4.1), ptxas in .local alone"},
	{false, ``, `which is conflicting with \.address_size 64`, "the width of an address is not held to .address_size"},
	{false, ``, `^$`, "ptxas ended without a word: it gave no answer"},
	{false, `^st\.bulk.*\], %r40, 0;`, `for instruction 'mov'`, "from PTX 9.0 on the size may have 32 bits (ISA 9.7.9.13)"},
	{false, `^(cp|tcgen05)\.`, `unexpected value '3', expected to be multiple of|out of range, expected to be in range \[32\.\.512\]`, "the machine finds a wrong size when it executes it: misaligned, tensor-alloc"},
	{true, `%p40\b|, %p6, %p6;`, ``, "ptxas does not tell predicates from registers of 32 bits in vectors and packed values"},
	{true, `^(cp|fence)\..*\[%(f|rq)40[],]`, ``, "ptxas does not look at the register that points to a tensor map"},
	{true, junk, ``, "ptxas ignores some modifiers of other instructions"},
	{true, `\.sync\b.*\.sync\b`, ``, "ptxas takes .sync twice"},
	{true, `^red\.async\.relaxed\.`, ``, "ptxas takes .relaxed without a barrier, which the ISA has for .release alone (9.7.13.7)"},
	{true, `^mov\.b\d+ %\w+, \{\d+,`, ``, "ptxas does not count the bits of a vector that begins with a literal"},
	{true, `^atom.*\.exch\.b128 .*, %rq3, %rq3;`, ``, "ptxas takes an operand too many"},
	{true, `^cvt\.rp\.f32\.bf16 `, ``, "ptxas takes any rounding of a conversion that is exact"},
}

// TestBlackwell compares the table with what ptxas 13.0 said of testdata/blackwell.gz: a form
// is taken if a row has it, the target has the row, and the operands have the row's types.
func TestBlackwell(t *testing.T) {
	data, err := os.ReadFile("testdata/blackwell.gz")
	if os.IsNotExist(err) {
		t.Skip("ptxas has not been asked: testdata/forms.sh")
	}
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	count, differ := map[string]int{}, make([]int, len(differences))
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			continue
		}
		said, complaint, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words := strings.SplitN(said, " ", 3)
		f := formOfTarget{words[1], words[2]}
		ok, why := tableTakes(t, f)
		count[words[0]+" "+f.target]++
		if ok == (words[0] == "+") {
			continue
		}
		taken := words[0] == "+"
		if i := slices.IndexFunc(differences, func(d difference) bool {
			return d.taken == taken && matches(d.form, f.line) && matches(d.said, complaint)
		}); i >= 0 {
			differ[i]++
			continue
		}
		t.Errorf("%s, %s: ptxas %s %s; the table %v %s", f.target, f.line, words[0], complaint, ok, why)
	}
	for i, d := range differences {
		if differ[i] == 0 {
			t.Errorf("no form differs any more, since %s", d.why)
		}
		t.Logf("%d forms: %s", differ[i], d.why)
	}
	if n := count["+ sm_100a"] + count["- sm_100a"]; n < 3000 || count["+ sm_100a"] < 1000 || count["- sm_100a"] < 1000 {
		t.Errorf("only %v", count)
	}
	t.Log(count)
}

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// TestUnasked lists the rows that ptxas 13.0 cannot be asked about, since they are newer.
func TestUnasked(t *testing.T) {
	rows, cells := 0, 0
	for _, f := range forms {
		if (Version{9, 0}).Before(f.Version) {
			rows++
			t.Logf("unasked: %s (PTX %d.%d)", f.Name, f.Version.Major, f.Version.Minor)
			continue
		}
		for _, s := range f.Since {
			if (Version{9, 0}).Before(s.Version) {
				cells++
				t.Logf("unasked: %s: %s", f.Name, s)
			}
		}
	}
	if rows < 60 || cells < 30 {
		t.Errorf("%d rows and %d modifiers", rows, cells)
	}
}
