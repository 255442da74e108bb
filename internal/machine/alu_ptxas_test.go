package machine

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"muster/ptx"
)

// notExecutedHere are instructions that NVIDIA's assembler takes for sm_90a
// and the machine does not execute, by the beginning of their text.
var notExecutedHere = map[string]string{
	"addc.s16":     "not in the ISA",
	"addc.u16":     "not in the ISA",
	"subc.s16":     "not in the ISA",
	"subc.u16":     "not in the ISA",
	"madc.hi.s16":  "not in the ISA",
	"madc.hi.u16":  "not in the ISA",
	"cvt.bf16.f16": "a narrowing without rounding is not in the ISA",
	"cvt.f16.bf16": "a narrowing without rounding is not in the ISA",
}

// executedBeyond are instructions that the assembler refuses but the machine
// executes.
var executedBeyond = map[string]string{
	"cvt.sat.":             "a u8 cannot overflow: .sat means nothing",
	"mad.cc.lo":            "order of modifiers",
	"mul.s32.hi":           "order of modifiers",
	"shf.wrap.l":           "order of modifiers",
	"setp.eq.and.bf16 %p1": "p|q of a scalar",
}

func listed(list map[string]string, text string) bool {
	for prefix := range list {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// TestALUAgreesWithPtxas checks that the decoders of this package's arithmetic
// take and refuse the same instructions as the assembler.
func TestALUAgreesWithPtxas(t *testing.T) {
	file, err := os.Open("../../ptx/testdata/ptxas.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	taken, refused := 0, 0
	for sc := bufio.NewScanner(file); sc.Scan(); {
		verdict, rest, _ := strings.Cut(sc.Text(), " ")
		text, why, _ := strings.Cut(rest, " # ")
		op, _, _ := strings.Cut(strings.Fields(text)[0], ".")
		if verdict == "#" || aluDecoders[op] == nil {
			continue
		}
		in, executed := tryPtxas(t, text)
		takes := verdict == "+" || why == "ptxas takes it"
		switch {
		case takes && later(in):
			continue
		case takes && !executed && !listed(notExecutedHere, text):
			t.Errorf("not executed: %s", text)
		case !takes && executed && !listed(executedBeyond, text):
			t.Errorf("executed, but ptxas refuses it: %s", text)
		case takes:
			taken++
		default:
			refused++
		}
	}
	if taken < 1000 || refused < 1000 {
		t.Errorf("only %d instructions that ptxas takes and %d that it refuses", taken, refused)
	}
}

// later tells the instructions of later architectures.
func later(in *ptx.Inst) bool {
	_, sm := in.Needs()
	return sm.Number >= 100
}

func tryPtxas(t *testing.T, text string) (*ptx.Inst, bool) {
	t.Helper()
	m, err := ptx.Parse("ptxas", []byte(`.version 9.0
.target sm_90a
.address_size 64
.visible .entry k()
{
	.reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .b128 %rq<10>;
	.reg .f32 %f<10>; .reg .f64 %fd<10>;
	`+text+`
}
`))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	stmts := m.Items[0].(*ptx.Func).Body.Stmts
	in := stmts[len(stmts)-1].(*ptx.Inst)
	p, err := Decode(m, "k")
	if err != nil {
		return in, false
	}
	for i := range p.code {
		if p.code[i].src == in && p.code[i].class != plain {
			return in, false
		}
	}
	return in, true
}
