package ptx

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestLengths: ptxas took the vectors of testdata/since.txt as long as they are there, so
// they are taken here, and one register more or less is not where a rule gives the length.
func TestLengths(t *testing.T) {
	data, err := os.ReadFile("testdata/since.txt")
	if err != nil {
		t.Fatal(err)
	}
	lengths := func(line string) string {
		m, err := Parse("line", []byte(".version 9.0\n.target sm_100a\n"+blackwellHead+line+"\nret;\n}\n"))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, e := range CheckOperands(m) {
			if strings.Contains(e.Msg, " registers as ") {
				return e.Msg
			}
		}
		return ""
	}
	taken, refused := 0, map[string]int{}
	for line := range strings.Lines(string(data)) {
		if line[0] == '#' {
			continue
		}
		text := strings.TrimSuffix(strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)[2], ";") + ";"
		if why := lengths(text); why != "" {
			t.Errorf("ptxas takes %s; here: %s", text, why)
		}
		taken++
		for i, x := range instOf(t, text).Operands {
			v, ok := x.(*Vector)
			if !ok {
				continue
			}
			in := instOf(t, text)
			in.Operands[i] = &Vector{Elems: append(slices.Clone(v.Elems), v.Elems[0])}
			if Match(in) != in.Form {
				continue // the row states the length
			}
			if lengths(in.String()) != "" {
				refused[in.Form.Op]++
			}
		}
	}
	for op, least := range map[string]int{"mma": 200, "wmma": 100, "wgmma": 30, "tcgen05": 20, "ldmatrix": 4, "cp": 5} {
		if refused[op] < least {
			t.Errorf("%s: only %d longer vectors are refused", op, refused[op])
		}
	}
	if taken < 1000 {
		t.Errorf("only %d instructions", taken)
	}
	t.Log(taken, refused)
}
