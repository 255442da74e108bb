package machine

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"muster/ptx"
)

// TestNothingUnknownIsExecuted holds all decoders to ptxas, which is asked about
// every row with each modifier, with types and orders of others, with modifiers
// misspelt, left out and of other instructions, and with too few and too many
// operands. A form that ptxas refuses is not executed; one that it takes and a row has
// is no bad input; and a form without a row is never executed.
func TestNothingUnknownIsExecuted(t *testing.T) {
	n := map[string]int{}
	for _, file := range []string{"ptxas.txt", "modifiers.txt", "since.txt"} {
		f, err := os.Open("../../ptx/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for sc := bufio.NewScanner(f); sc.Scan(); {
			verdict, text, _ := strings.Cut(sc.Text(), " ")
			text, why, _ := strings.Cut(text, " # ")
			if file == "since.txt" && verdict != "#" {
				_, text, _ = strings.Cut(text, " ")
				verdict = "+"
			}
			if verdict == "#" || strings.HasPrefix(text, "[") || strings.HasPrefix(text, ".") || testing.Short() && len(text)%7 != 0 {
				continue
			}
			version := "9.0" // which ptxas was asked about
			if file == "since.txt" {
				version = "9.4"
			}
			in, executed, err := tryForm(t, version, text)
			if in.Form != nil && in.Form.Gone != nil {
				continue // ptxas was asked for an older architecture
			}
			taken := verdict == "+" || why == "ptxas takes it"
			switch _, sm := in.Asks(); {
			case executed && in.Form == nil:
				t.Errorf("executed, and no row has it: %s", text)
			case executed && !taken && !listed(refusedOperands, text) && !listed(executedBeyond, text):
				t.Errorf("executed, and ptxas refuses it: %s", text)
			case taken && err != nil && in.Form != nil && sm.Number <= 90 && !strings.Contains(err.Error(), "takes 3 operands, not 4"): // of video instructions, in which the fourth says nothing
				t.Errorf("ptxas takes %s, but: %v", text, err)
			}
			n[verdict]++
			if executed {
				n["executed"]++
			}
		}
		f.Close()
	}
	t.Log(n)
	if !testing.Short() && (n["-"] < 14000 || n["+"] < 8000 || n["executed"] < 4000) {
		t.Errorf("only %v", n)
	}
}

// refusedOperands are instructions that ptxas refuses for an operand alone, by the
// beginning of their text.
var refusedOperands = map[string]string{
	"createpolicy.fractional.L2::evict_last.b64 %rd1, %rd1": "the fraction is no constant",
	"cvta.const.u32":                    "32-bit addresses",
	"mbarrier.try_wait.b64 %p1, [%rd2]": "the time limit in a register of 64 bits",
	"ld.L1":                             "registers of 8 bits that the asking module does not declare",
	"ld.b8":                             "the same",
	"ld.global.b8":                      "the same",
	"ld.relaxed.sys.b8":                 "the same",
	"st.b8":                             "the same",
	"st.relaxed.sys.b8":                 "the same",
}

func tryForm(t *testing.T, version, text string) (*ptx.Inst, bool, error) {
	t.Helper()
	m, err := ptx.Parse("ptxas", []byte(`.version `+version+`
.target sm_90a
.address_size 64
.visible .entry k()
{
	.reg .pred %p<300>; .reg .b8 %rc<300>; .reg .b16 %rs<300>; .reg .b32 %r<300>; .reg .b64 %rd<300>; .reg .b128 %rq<300>;
	.reg .f32 %f<300>; .reg .f64 %fd<300>;
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
		return in, false, err
	}
	executed := false
	for i := range p.code {
		if p.code[i].src == in {
			executed = !p.code[i].unmodelled
		}
	}
	return in, executed, nil
}
