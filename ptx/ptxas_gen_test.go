package ptx

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var ptxasPath = flag.String("ptxas", "", "path of NVIDIA's ptxas: make testdata/ptxas.txt and since.txt again with it")

// TestGeneratePtxas checks the generator's output and, with -ptxas, asks the
// assembler about every line and records the answers.
func TestGeneratePtxas(t *testing.T) {
	lines := trials()
	if len(lines) < 20000 || !slices.IsSorted(lines) {
		t.Fatalf("%d lines", len(lines))
	}
	if *ptxasPath == "" {
		return
	}
	refused := map[string]string{}
	left := lines
	for _, arch := range []string{"sm_90a", "sm_100a", "sm_120a"} {
		next := map[string]string{}
		for chunk := range slices.Chunk(left, 150) {
			askPtxas(t, arch, chunk, next)
		}
		left = left[:0:0]
		for _, l := range lines {
			if why, ok := next[l]; ok {
				left = append(left, l)
				if refused[l] == "" {
					refused[l] = why
				}
			}
		}
		for l := range refused {
			if _, ok := next[l]; !ok {
				delete(refused, l)
			}
		}
	}
	if err := os.WriteFile("testdata/ptxas.txt", []byte(verdicts(t, lines, refused)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tried reports whether instructions of the form can stand alone in a kernel:
// no labels, calls, or fragments whose size the table leaves open.
func tried(f *Form) bool {
	switch f.Op {
	case "wmma", "mma", "tcgen05", "wgmma", "bra", "brx", "call", "ret", "exit", "trap", "brkpt":
		return false
	}
	return true
}

var trialTypes = strings.Fields("b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f32x2 f64 u16x2 s16x2 u8x4 s8x4 pred tf32 e4m3x2 e5m2x2 e4m3x4 e2m1x2 ue8m0x2")

// trials makes instructions of every form: pairs of modifiers, each type
// substituted for every type, and some modifiers out of order.
func trials() []string {
	seen := map[string]bool{}
	for _, f := range forms {
		if tried(f) {
			f.trials(seen)
		}
	}
	list := make([]string, 0, len(seen))
	for s := range seen {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

func (f *Form) trials(seen map[string]bool) {
	base := make([]string, len(f.Slots))
	for i, s := range f.Slots {
		if !s.Optional {
			base[i] = s.Values[0]
		}
	}
	f.trial(base, seen)
	pairs := 0
	for i, s := range f.Slots {
		list := s.Values
		if strings.HasSuffix(s.Name, "type") {
			list = slices.Concat(list, trialTypes)
		}
		for _, v := range list {
			one := slices.Clone(base)
			one[i] = v
			f.trial(one, seen)
			for j := i + 1; j < len(f.Slots) && pairs < 400; j++ {
				for _, w := range f.Slots[j].Values {
					two := slices.Clone(one)
					two[j] = w
					f.trial(two, seen)
					pairs++
				}
			}
		}
	}
}

// trial adds one instruction, and for some each swap of adjacent modifiers.
func (f *Form) trial(vals []string, seen map[string]bool) {
	vals = slices.Clone(vals)
	for i, s := range f.Slots {
		if s.Tied && (vals[i] == "") != (vals[i-1] == "") {
			vals[i] = map[bool]string{true: s.Values[0]}[vals[i-1] != ""]
		}
	}
	in := f.instruction(vals)
	text := in.String()
	if seen[text] {
		return
	}
	seen[text] = true
	if hash(text)%9 != 0 {
		return
	}
	for i := range len(in.Mods) - 1 {
		swapped := *in
		swapped.Mods = slices.Clone(in.Mods)
		swapped.Mods[i], swapped.Mods[i+1] = swapped.Mods[i+1], swapped.Mods[i]
		seen[swapped.String()] = true
	}
}

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}

const trialHead = `.address_size 64
.visible .entry k()
{
.reg .pred %p<140>; .reg .b16 %rs<140>; .reg .b32 %r<140>; .reg .b64 %rd<140>; .reg .f32 %f<140>; .reg .f64 %fd<140>; .reg .b128 %rq<140>;
`

var complaint = regexp.MustCompile(`line (\d+); (?:error|fatal)\s*: (.*)`)

// askPtxas assembles lines together, removes those that ptxas reports, and
// repeats until it reports none. ptxas stops at a syntax error, so this may
// take many runs.
func askPtxas(t *testing.T, arch string, lines []string, refused map[string]string) {
	head := ".version 9.0\n.target " + arch + "\n" + trialHead
	file := t.TempDir() + "/k.ptx"
	for live := lines; len(live) > 0; {
		if err := os.WriteFile(file, []byte(head+strings.Join(live, "\n")+"\nret;\n}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(*ptxasPath, "-O0", "-arch", arch, file, "-o", os.DevNull).CombinedOutput()
		if err == nil {
			return
		}
		bad := map[string]string{}
		for _, m := range complaint.FindAllStringSubmatch(string(out), -1) {
			n, _ := strconv.Atoi(m[1])
			if n -= strings.Count(head, "\n") + 1; n >= 0 && n < len(live) && bad[live[n]] == "" {
				bad[live[n]] = m[2]
			}
		}
		if len(bad) == 0 { // refused as a whole, for a reason outside the table
			for _, l := range live {
				refused[l] = "?"
			}
			return
		}
		rest := live[:0:0]
		for _, l := range live {
			if why, ok := bad[l]; ok {
				refused[l] = why
			} else {
				rest = append(rest, l)
			}
		}
		live = rest
	}
}

// beside matches refusals for reasons that the table does not state: values,
// register widths, vector sizes and architectures.
var beside = regexp.MustCompile(`^\?|unexpected value|not supported on|vector size|Vector of size 1|requires .target|Array index|Arguments mismatch`)

// verdicts formats a sample of the answers, and every difference.
func verdicts(t *testing.T, lines []string, refused map[string]string) string {
	var b strings.Builder
	b.WriteString("# What ptxas (PTX 9.0) says of instructions made from the table, for sm_90a,\n# sm_100a and sm_120a: \"+\" one of them takes it, \"-\" none does, \"!\" the table\n# says otherwise, and why ptxas refuses it, or that it does not. Left out are\n# refusals of values, register widths and architectures, and rows newer than 9.0.\n")
	for _, l := range lines {
		why, no := refused[l]
		f := formOf(t, l)
		switch {
		case no && beside.MatchString(why), f != nil && f.Version == (Version{9, 1}), f != nil && f.Version == (Version{9, 2}):
		case no && f != nil:
			fmt.Fprintf(&b, "! %s # ptxas: %s\n", l, why)
		case !no && f == nil:
			fmt.Fprintf(&b, "! %s # ptxas takes it\n", l)
		case no && hash(l)%4 == 0:
			fmt.Fprintf(&b, "- %s\n", l)
		case !no && hash(l)%5 < 3:
			fmt.Fprintf(&b, "+ %s\n", l)
		}
	}
	return b.String()
}

func formOf(t *testing.T, line string) *Form { return instOf(t, line).Form }

func instOf(t *testing.T, line string) *Inst {
	m, err := Parse("line", []byte(".version 9.0\n.target sm_90a\n.func f()\n{\n"+line+"\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return m.Items[0].(*Func).Body.Stmts[0].(*Inst)
}
