package machine

import (
	"fmt"
	"strings"

	"muster/ptx"
)

// Executes reports whether the machine executes a row of the instruction
// table, by decoding the row's own example: there is no second list of executed
// forms. A form that it refuses stops a run with its name when it is reached.
func Executes(f *ptx.Form) bool {
	for _, immediate := range []string{"1", "16", "24", "128", "0"} {
		p, err := decodeExample(f, immediate)
		if err == nil {
			return executes(p, f)
		}
	}
	return false
}

func executes(p *Program, f *ptx.Form) bool {
	found := false
	for i := range p.code {
		if c := &p.code[i]; c.src != nil && c.src.Form == f {
			if c.unmodelled {
				return false
			}
			found = true
		}
	}
	return found
}

// decodeExample decodes a kernel that holds the form's example among the
// declarations that examples refer to. It replaces an example's immediate 1,
// which not every instruction takes as a count.
func decodeExample(f *ptx.Form, immediate string) (*Program, error) {
	text := f.Example()
	if i := strings.LastIndex(text, " 1;"); i >= 0 {
		text = text[:i] + " " + immediate + ";"
	}
	top, labels := "", "L0: L1: .branchtargets L0;"
	if f.Op == "call" {
		top, labels = ".func L0() { ret; }", "L1: .callprototype _ ();"
	}
	kernel := exampleKernel
	if f.SM.Number > 90 {
		kernel = strings.Replace(kernel, "sm_90a", fmt.Sprintf("sm_%d%s", f.SM.Number, f.SM.Suffix), 1)
	}
	if f.Gone != nil { // from a time when there were no registers of 128 bits
		kernel = strings.NewReplacer("9.4", fmt.Sprintf("%d.%d", f.Version.Major, f.Version.Minor), "sm_90a", fmt.Sprintf("sm_%d", f.SM.Number), ".b128", ".b64").Replace(kernel)
	}
	m, err := ptx.Parse(f.Name, []byte(fmt.Sprintf(kernel, top, labels, text)))
	if err != nil {
		return nil, err
	}
	return Decode(m, "example")
}

var exampleKernel = strings.TrimSpace(`
.version 9.4
.target sm_90a
.address_size 64
%s
.visible .entry example()
{
	.reg .pred %%p<100>;
	.reg .b8 %%rc<100>;
	.reg .b16 %%rs<100>;
	.reg .b32 %%r<100>;
	.reg .b64 %%rd<100>;
	.reg .b128 %%rq<100>;
	.reg .f32 %%f<100>;
	.reg .f64 %%fd<100>;
	%s
	%s
	ret;
}
`)
