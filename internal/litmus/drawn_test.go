package litmus

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var (
	drawn     = flag.Uint64("litmus.drawn", 150, "how many drawn tests the engines are compared on")
	drawnFrom = flag.Uint64("litmus.drawnfrom", 1, "the first one's number")
)

// TestDrawn compares the engines on drawn tests: the machine has no outcome that the axioms
// forbid, and each outcome of an execution that is an interleaving (and once it is whole, of each
// that is no load buffering).
func TestDrawn(t *testing.T) {
	weak, whole, races := 0, 0, 0
	for seed := *drawnFrom; seed < *drawnFrom+*drawn; seed++ {
		text := draw(seed)
		x, err := Read(fmt.Sprintf("test %d", seed), []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		a, err := x.Axioms(1, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		m, err := x.Machine(1, DefaultLimits, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !a.Complete || !m.Complete && m.Why != raced {
			continue
		}
		if m.Complete {
			whole++
		} else {
			races++ // what it shows is allowed all the same
		}
		if strings.Contains(text, "beq") {
			x.free = true
			free, err := x.Axioms(1, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range a.List {
				if free.Complete && free.find(a.List[i].Values) == nil {
					t.Errorf("test %d: %v is lost where branches are no dependence\n%s", seed, a.List[i].Values, text)
				}
			}
		}
		for i := range m.List {
			if a.find(m.List[i].Values) == nil {
				t.Errorf("test %d: the machine shows %v, which the axioms forbid\n%s", seed, m.List[i], text)
			}
		}
		stale := false
		for i := range a.List {
			o := &a.List[i]
			shown := m.find(o.Values) != nil
			if (o.Sequential || m.Complete && !o.Buffers) && !shown {
				t.Errorf("test %d: the machine lacks %v\n%s", seed, o.Values, text)
			}
			stale = stale || shown && !o.Sequential
		}
		if stale {
			weak++
		}
	}
	if n := int(*drawn); whole < n/4 || whole+races < n*9/10 || weak < n/20 {
		t.Errorf("of %d tests %d were compared, %d with races in part, and in %d the machine shows outcomes that no interleaving has", *drawn, whole, races, weak)
	}
	t.Logf("%d compared, %d with races in part, %d with outcomes that no interleaving has", whole, races, weak)
}

// draw makes a test of two to four threads, from its number.
func draw(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 20))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	n := 2 + r.IntN(3)
	heads, columns := []string{}, [][]string{}
	bar := r.IntN(4) == 0
	const vectors = false // the machine performs the elements of a vector in one step
	for k := range n {
		cta := r.IntN(3)
		if bar {
			cta = 0
		}
		heads = append(heads, fmt.Sprintf("P%d@cta %d,cluster %d,gpu 0", k, cta, cta/2))
		var code []string
		for i := range min(2+r.IntN(3), 6-n) {
			scope := pick("cta", "cluster", "gpu", "gpu", "sys")
			at, reg := pick("x", "y", "y"), fmt.Sprintf("r%d", i)
			switch r.IntN(11) {
			case 10:
				if vectors {
					code = append(code, pick("ld.relaxed."+scope+".v2 {"+reg+", r9}, [z]", "st.relaxed."+scope+".v2 [z], {1, 2}"))
				}
			case 0, 1, 2:
				code = append(code, pick("ld.weak", "ld.volatile", "ld.relaxed."+scope, "ld.acquire."+scope)+" "+reg+", "+at)
			case 3, 4, 5:
				value := fmt.Sprint(1 + 3*k + r.IntN(3))
				if i > 0 && r.IntN(3) == 0 {
					value = fmt.Sprintf("r%d", r.IntN(i))
				}
				code = append(code, pick("st.weak", "st.volatile", "st.relaxed."+scope, "st.release."+scope)+" "+at+", "+value)
			case 6:
				code = append(code, pick("atom", "atom", "red")+".relaxed."+scope+".add "+reg+", "+at+", 10")
				code[len(code)-1] = strings.Replace(code[len(code)-1], "red.relaxed."+scope+".add "+reg+", ", "red.relaxed."+scope+".add ", 1)
			case 7:
				code = append(code, "atom."+pick("acquire", "release", "acq_rel")+"."+scope+"."+pick("exch "+reg+", "+at+", 7", "cas "+reg+", "+at+", 0, 8"))
			case 8:
				code = append(code, "fence."+pick("sc", "sc", "acq_rel")+"."+scope)
			case 9:
				if i > 0 {
					code = append(code, fmt.Sprintf("beq r%d, 0, LC%d%d", r.IntN(i), k, i), "st.relaxed."+scope+" "+at+", 5", fmt.Sprintf("LC%d%d:", k, i))
				}
			}
		}
		if bar {
			code = append(code[:len(code)/2:len(code)/2], append([]string{"bar.sync 0"}, code[len(code)/2:]...)...)
		}
		columns = append(columns, code)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "PTX drawn %d\n{ x=0; y=0; z[2]; }\n %s ;\n", seed, strings.Join(heads, " | "))
	for i := range 16 {
		row, any := []string{}, false
		for _, c := range columns {
			cell := ""
			if i < len(c) {
				cell, any = c[i], true
			}
			row = append(row, cell)
		}
		if any {
			fmt.Fprintf(&b, " %s ;\n", strings.Join(row, " | "))
		}
	}
	b.WriteString("locations [x; y; z[0]; z[1];")
	for k := range n {
		fmt.Fprintf(&b, " P%d:r0; P%d:r1; P%d:r2;", k, k, k)
	}
	b.WriteString("]\nexists true\n")
	return b.String()
}
