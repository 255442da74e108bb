package ptx

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	formsDir    = flag.String("forms", "", "a folder: write the forms for Blackwell there, for its forms.sh to ask ptxas about")
	formAnswers = flag.String("answers", "", "what forms.sh wrote of the forms in the folder of -forms: make testdata/blackwell.gz of both")
)

// A form is an instruction and the target that ptxas is asked about.
type formOfTarget struct{ target, line string }

// blackwellForms makes instructions, right and wrong, of every row that a target of Blackwell
// has or changes, and fewer of all other rows. Rows and modifiers that PTX 9.0 lacks are left
// out, as a whole: no answer to them says anything.
func blackwellForms() []formOfTarget {
	seen := map[formOfTarget]bool{}
	words := allModifiers()
	for _, f := range forms {
		switch f.Op {
		case "bra", "brx", "call", "ret", "exit", "trap", "brkpt":
			continue
		}
		if (Version{9, 0}).Before(f.Version) || f.Class == "texture" {
			continue
		}
		right, wrong := map[string]bool{}, map[string]bool{}
		f.sinceTrials(right)
		maps.DeleteFunc(right, func(line string, _ bool) bool { return newerThan9(line) })
		f.spoilEach(right, words, wrong)
		f.misuse(right, wrong)
		maps.DeleteFunc(wrong, func(line string, _ bool) bool { return right[line] || newerThan9(line) })
		few, many := 6, 8
		if f.ofBlackwell() {
			few, many = 45, 70
		}
		for _, line := range slices.Concat(sample(right, few), sample(wrong, many)) {
			seen[formOfTarget{"sm_100a", line}] = true
			if f.ofBlackwell() && hash(line)%4 == 0 || hash(line)%20 == 0 {
				seen[formOfTarget{"sm_103a", line}] = true
				seen[formOfTarget{"sm_120a", line}] = true
			}
			if f.Class == "tcgen05" && hash(line)%4 == 0 {
				seen[formOfTarget{"sm_100f", line}] = true
			}
		}
	}
	for _, f := range publicLines {
		seen[f] = true
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b formOfTarget) int { return strings.Compare(a.line+a.target, b.line+b.target) })
}

// publicLines are spellings of public code (CUTLASS, FlashInfer, TileLang, ThunderKittens)
// that the ISA does not write so: modifiers in another order, braces around one register,
// modifiers that no syntax has.
var publicLines = []formOfTarget{
	{"sm_120a", "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};"},
	{"sm_120a", "mma.sync.aligned.kind::f8f6f4.sp::ordered_metadata.m16n8k64.row.col.f32.e2m1.e3m2.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f5, %f6, %f7, %f8}, %r9, 0;"},
	{"sm_120a", "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8}, {%r7}, {%rs1, %rs2}, {%r8}, {%rs3, %rs4};"},
	{"sm_120a", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8}, {%r7}, {%rs1, %rs2}, {%r8}, {%rs3, %rs4};"},
	{"sm_120a", "mma.sync.aligned.kind::mxf4nvf4.sp::ordered_metadata.block_scale.scale_vec::4X.m16n8k128.row.col.f32.e2m1.e2m1.f32.ue4m3 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f5, %f6, %f7, %f8}, {%r9}, 0, {%r10}, {%rs1, %rs2}, {%r11}, {%rs3, %rs4};"},
	{"sm_100a", "mma.sync.aligned.row.col.m16n8k16.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};"},
	{"sm_100a", "mma.sync.aligned.m16n8k16.f32.row.col.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};"},
	{"sm_100a", "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};"},
	{"sm_100a", "mma.row.col.sync.aligned.m16n8k16.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};"},
	{"sm_100a", "tcgen05.mma.kind::f16.cta_group::1 [%r1], %rd1, %rd2, %r2, %p1;"},
	{"sm_100a", "tcgen05.mma.cta_group::1.block_scale.kind::mxf4 [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;"},
	{"sm_100a", "tcgen05.mma.cta_group::1.kind::mxf4.scale_vec::2X.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;"},
	{"sm_100a", "tcgen05.ld.sync.aligned.x1.32x32b.b32 {%r1}, [%r2];"},
	{"sm_100a", "tcgen05.ld.sync.aligned.32x32b.x1.b32 %r1, [%r2];"},
	{"sm_100a", "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], %r1;"},
	{"sm_100a", "tcgen05.cp.128x256b.cta_group::1 [%r1], %rd1;"},
	{"sm_100a", "tcgen05.commit.mbarrier::arrive::one.cta_group::1.b64 [%rd1];"},
	{"sm_100a", "mov.v4.u32 {%r1, %r2, %r3, _}, %clusterid;"},
	{"sm_100a", "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;"},
	{"sm_100a", "red.acquire.gpu.global.or.b32 [%rd1], %r1;"},
	{"sm_100a", "red.acq_rel.gpu.global.or.b32 [%rd1], %r1;"},
	{"sm_100a", "multimem.st.weak.global.bf16 [%rd1], %rs1;"},
	{"sm_100a", "multimem.st.release.sys.global.f16 [%rd1], %rs1;"},
	{"sm_100a", "multimem.red.release.sys.global.add.bf16 [%rd1], %rs1;"},
	{"sm_100a", "multimem.ld_reduce.weak.global.add.acc::f32.f16 %rs1, [%rd1];"},
	{"sm_100a", "fence.proxy.async.global::cta;"},
	{"sm_100a", "elect.one.sync %r1|%p1, %r2;"},
	{"sm_100a", "barrier.cluster.sync;"},
	{"sm_100a", "cp.async.arrive.shared.b64 [%rd1];"},
}

// ofBlackwell reports whether a row, or one of its modifiers, is of sm_100 or later.
func (f *Form) ofBlackwell() bool {
	return f.SM.Number >= 100 || slices.ContainsFunc(f.Since, func(s Since) bool { return s.SM.Number >= 100 })
}

func newerThan9(line string) bool {
	m, err := Parse("line", []byte(".version 9.4\n.target sm_100a\n.func f()\n{\n"+line+"\n}\n"))
	if err != nil {
		return true
	}
	v, _ := m.Items[0].(*Func).Body.Stmts[0].(*Inst).Asks()
	return (Version{9, 0}).Before(v)
}

// sample takes some lines of a set, always the same.
func sample(set map[string]bool, n int) []string {
	list := slices.SortedFunc(maps.Keys(set), func(a, b string) int {
		if x, y := hash(a), hash(b); x != y {
			return int(int64(x) - int64(y))
		}
		return strings.Compare(a, b)
	})
	return list[:min(n, len(list))]
}

// allModifiers are the modifiers of all rows that PTX 9.0 has.
func allModifiers() (words []string) {
	for _, f := range forms {
		if !(Version{9, 0}).Before(f.Version) {
			for _, s := range f.Slots {
				words = append(words, s.Values...)
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// spoilEach spoils some of the right instructions, a modifier or an operand of each.
func (f *Form) spoilEach(right map[string]bool, words []string, wrong map[string]bool) {
	for _, line := range sample(right, 6) {
		in := parsedLine(line)
		f.spoil(in, words, func(x *Inst) { wrong[x.String()] = true })
		for i, m := range in.Mods { // each other value that the modifier's place has in any row
			for _, g := range formsByOp[f.Op] {
				for _, s := range g.Slots {
					if !s.takes(m) {
						continue
					}
					for _, v := range s.some() {
						mods := slices.Clone(in.Mods)
						mods[i] = v
						wrong[(&Inst{Op: in.Op, Mods: mods, Operands: in.Operands}).String()] = true
					}
				}
			}
		}
	}
}

// misuse gives right instructions operands of other types and numbers.
func (f *Form) misuse(right, wrong map[string]bool) {
	for _, line := range sample(right, 5) {
		count := len(Bind(parsedLine(line)))
		for i := range count {
			for _, x := range []Operand{Name("%rs40"), Name("%r40"), Name("%rd40"), Name("%f40"), Name("%p40"), Name("%rq40"), Int{Bits: 3}, Int{Bits: 1 << 40}} {
				in := parsedLine(line)
				b := Bind(in)[i]
				if m, ok := b.X.(*Mem); ok {
					m.Base = x
				} else {
					b.Set(x)
				}
				wrong[in.String()] = true
			}
		}
		for i, x := range parsedLine(line).Operands {
			v, ok := x.(*Vector)
			if !ok {
				continue
			}
			for _, elems := range [][]Operand{v.Elems[1:], append(slices.Clone(v.Elems), v.Elems[0]), append(slices.Clone(v.Elems), v.Elems...)} {
				in := parsedLine(line)
				if in.Operands[i] = Operand(&Vector{Elems: elems}); len(elems) == 1 {
					in.Operands[i] = elems[0]
				}
				wrong[in.String()] = true
			}
		}
	}
}

func parsedLine(line string) *Inst {
	m, err := Parse("line", []byte(".version 9.0\n.target sm_100a\n.func f()\n{\n"+line+"\n}\n"))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return m.Items[0].(*Func).Body.Stmts[0].(*Inst)
}

// blackwellHead declares the registers of the forms, one declaration for each kind.
const blackwellHead = ".address_size 64\n.visible .entry k()\n{\n.reg .pred %p<300>; .reg .b8 %rc<300>; .reg .b16 %rs<300>; .reg .b32 %r<300>; .reg .b64 %rd<300>; .reg .f32 %f<300>; .reg .f64 %fd<300>; .reg .b128 %rq<300>;\n"

// tableTakes is the table's answer to a form: whether a row has it, its module's version and
// target have the row, and its operands have the row's types.
func tableTakes(t *testing.T, f formOfTarget) (ok bool, why string) {
	t.Helper()
	m, err := Parse("form", []byte(".version 9.0\n.target "+f.target+"\n"+blackwellHead+f.line+"\nret;\n}\n"))
	if err != nil {
		return false, err.Error()
	}
	for _, check := range []func(*Module) []*Error{Validate, CheckTarget, CheckNames, CheckOperands} {
		if list := check(m); len(list) > 0 {
			return false, list[0].Msg
		}
	}
	return true, ""
}

// TestGenerateBlackwell checks that there are forms. With -forms it writes them for ptxas,
// with the table's answer beside; with -answers it keeps what ptxas said of them.
func TestGenerateBlackwell(t *testing.T) {
	list := blackwellForms()
	if len(list) < 3000 {
		t.Fatalf("%d forms", len(list))
	}
	switch {
	case *formAnswers != "":
		keepAnswers(t)
	case *formsDir != "":
		writeForms(t, list)
	}
}

func writeForms(t *testing.T, list []formOfTarget) {
	var b strings.Builder
	yes := map[string]int{}
	for i, f := range list {
		answer := "-"
		if ok, _ := tableTakes(t, f); ok {
			answer = "+"
		}
		yes[f.target+answer]++
		fmt.Fprintf(&b, "%d\t%s\t%s\t%s\n", i, f.target, answer, f.line)
	}
	script, err := os.ReadFile("testdata/forms.sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"forms.txt.gz": zipped(t, b.String()), "forms.sh": script, "head.ptx": []byte(blackwellHead)} {
		if err := os.WriteFile(filepath.Join(*formsDir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d forms: %v", len(list), yes)
}

func zipped(t *testing.T, text string) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// askedForms reads the forms that were asked about: the table may have changed since.
func askedForms(t *testing.T) (list []formOfTarget) {
	data, err := os.ReadFile(filepath.Join(*formsDir, "forms.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for sc := bufio.NewScanner(z); sc.Scan(); {
		words := strings.SplitN(sc.Text(), "\t", 4)
		list = append(list, formOfTarget{words[1], words[3]})
	}
	return list
}

// keepAnswers reads lines "number<tab>+" and "number<tab>- complaint", and writes testdata.
func keepAnswers(t *testing.T) {
	list := askedForms(t)
	file, err := os.Open(*formAnswers)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	answers := map[int]string{}
	for sc := bufio.NewScanner(file); sc.Scan(); {
		var n int
		number, answer, _ := strings.Cut(sc.Text(), "\t")
		if _, err := fmt.Sscan(number, &n); err != nil || answer == "" {
			t.Fatalf("malformed answer %q", sc.Text())
		}
		answers[n] = answer
	}
	var b strings.Builder
	b.WriteString("# What ptxas 13.0 says of instructions in modules of PTX 9.0, with the target of each: \"+\" it\n# takes them, \"-\" it does not, and why. Made by testdata/forms.sh and go test -run GenerateBlackwell -answers FILE.\n")
	missing := 0
	for i, f := range list {
		if answers[i] == "" {
			missing++
			continue
		}
		verdict, why, _ := strings.Cut(answers[i], " ")
		fmt.Fprintf(&b, "%s %s %s\t%s\n", verdict, f.target, f.line, why)
	}
	if missing > 0 {
		t.Errorf("%d forms have no answer", missing)
	}
	if err := os.WriteFile("testdata/blackwell.gz", zipped(t, b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
