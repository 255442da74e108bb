package litmus

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/axiom/flow"
)

var (
	drawn     = flag.Uint64("litmus.drawn", 80, "how many drawn tests the engines are compared on")
	drawnFrom = flag.Uint64("litmus.drawnfrom", 1, "the first one's number")
)

// TestDrawn compares the engines on drawn tests: outcome by outcome, but for load buffering,
// which the axioms alone have.
func TestDrawn(t *testing.T) {
	for _, kind := range []kind{plain, weaker, mixed} {
		t.Run(kind.String(), func(t *testing.T) {
			c := &comparison{T: t}
			for seed := *drawnFrom; seed < *drawnFrom+*drawn; seed++ {
				c.compare(fmt.Sprintf("%s test %d", kind, seed), draw(seed, kind))
			}
			if n := int(*drawn); c.whole < n*19/20 || c.weak < n/20 || kind != plain && c.raced < n/4 {
				t.Errorf("of %d tests %d were compared, %d with races, and in %d the machine shows outcomes that no interleaving has", n, c.whole, c.raced, c.weak)
			}
			t.Logf("%d compared, %d with races, %d with outcomes that no interleaving has, %d with load buffering; %d outcomes", c.whole, c.raced, c.weak, c.buffers, c.outcomes)
		})
	}
}

// A kind of drawn tests.
type kind uint8

const (
	plain  kind = iota
	weaker      // most accesses are weak
	mixed       // with aliases, other proxies, and a second GPU
)

func (k kind) String() string { return [...]string{"plain", "weak", "mixed"}[k] }

// A comparison counts the tests that were compared.
type comparison struct {
	*testing.T
	whole, raced, weak, buffers, outcomes int
}

func (c *comparison) compare(name, text string) {
	x, err := Read(name, []byte(text))
	if err != nil {
		c.Fatalf("%v\n%s", err, text)
	}
	a, err := x.Axioms(1, nil)
	if err != nil {
		c.Fatalf("%v\n%s", err, text)
	}
	m, err := x.Machine(1, DefaultLimits, nil)
	if err != nil {
		c.Fatalf("%v\n%s", err, text)
	}
	if !a.Complete || !m.Complete {
		return
	}
	c.whole++
	c.outcomes += len(a.List)
	if a.Races {
		c.raced++
	}
	if strings.Contains(text, "beq") {
		x.free = true
		free, err := x.Axioms(1, nil)
		if err != nil {
			c.Fatal(err)
		}
		for i := range a.List {
			if free.Complete && free.find(a.List[i].Values) == nil {
				c.Errorf("%s: %v is lost where branches are no dependence\n%s", name, a.List[i].Values, text)
			}
		}
	}
	for i := range m.List {
		if a.find(m.List[i].Values) == nil {
			c.Errorf("%s: the machine shows %v, which the axioms forbid\n%s", name, m.List[i], text)
		}
	}
	stale, buffers := false, false
	for i := range a.List {
		o := &a.List[i]
		shown := m.find(o.Values) != nil
		if !o.Buffers && !shown {
			c.Errorf("%s: the machine lacks %v\n%s", name, o.Values, text)
		}
		stale = stale || shown && !o.Sequential
		buffers = buffers || o.Buffers
	}
	if stale {
		c.weak++
	}
	if buffers {
		c.buffers++
	}
}

// TestDrawnClauses leaves out the axioms, and the clauses of their definitions, one by one: the
// comparison of drawn tests then finds a difference.
func TestDrawnClauses(t *testing.T) {
	// finds reports whether the axioms without a clause have an outcome in a test that the machine,
	// which knows no axioms, lacks.
	finds := func(x *Test, m *Outcomes, c flow.Clause) bool {
		x.without = c
		a, err := x.Axioms(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.List {
			if o := &a.List[i]; !o.Buffers && m.find(o.Values) == nil {
				return true
			}
		}
		return false
	}
	open := map[flow.Clause]bool{}
	for c := flow.WithoutCoherence; c <= flow.WithoutAcquireFence; c <<= 1 {
		if c != flow.WithoutAtomicity { // what that forbids of one word, SC per Location does
			open[c] = true
		}
	}
	try := func(name, text string) {
		x, err := Read(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		m, err := x.Machine(1, DefaultLimits, nil)
		if err != nil {
			t.Fatal(err)
		}
		for c := range open {
			if m.Complete && finds(x, m, c) {
				delete(open, c)
				t.Logf("%s finds clause %014b", name, c)
			}
		}
	}
	for seed := range uint64(20) {
		for _, kind := range []kind{plain, weaker, mixed} {
			try(fmt.Sprintf("%s test %d", kind, seed), draw(seed, kind))
		}
	}
	for _, dir := range []string{"testdata", "../../docs/litmus"} {
		list, err := filepath.Glob(filepath.Join(dir, "*.litmus"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			try(file, string(src))
		}
	}
	for c := range open {
		t.Errorf("no test finds a difference without clause %014b", c)
	}
}

// draw makes a test of two to four threads, from its number.
func draw(seed uint64, kind kind) string {
	r := rand.New(rand.NewPCG(seed, 20))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	weak := func(list ...string) string { // the first is weak
		if kind != plain && r.IntN(2) == 0 {
			return list[0]
		}
		return pick(list...)
	}
	n := 2 + r.IntN(3)
	one := kind == weaker && r.IntN(3) == 0 // all of one word
	heads, columns := []string{}, [][]string{}
	bar := r.IntN(4) == 0
	const vectors = false // the machine performs the elements of a vector in one step
	for k := range n {
		cta, gpu := r.IntN(3), 0
		if bar {
			cta = 0
		} else if kind == mixed && cta == 2 {
			gpu = r.IntN(2)
		}
		heads = append(heads, fmt.Sprintf("P%d@cta %d,cluster %d,gpu %d", k, cta, cta/2, gpu))
		var code []string
		for i := range min(2+r.IntN(3), 6-n) {
			scope := pick("cta", "cluster", "gpu", "gpu", "sys")
			at, reg := pick("x", "y", "y"), fmt.Sprintf("r%d", i)
			if one {
				at = "y"
			}
			if kind == mixed {
				at = pick("x", "y", "y", "a", "b")
				if r.IntN(3) == 0 {
					code = append(code, pick("fence.proxy.alias", "fence.proxy.alias", "tld.weak "+reg+", x", "suld.weak "+reg+", y",
						"sust.weak y, "+fmt.Sprint(20+k), "cold.weak "+reg+", x", "fence.proxy.texture", "fence.proxy.surface", "fence.proxy.constant"))
					continue
				}
			}
			switch r.IntN(11) {
			case 10:
				if vectors {
					code = append(code, pick("ld.relaxed."+scope+".v2 {"+reg+", r9}, [z]", "st.relaxed."+scope+".v2 [z], {1, 2}"))
				}
			case 0, 1, 2:
				code = append(code, weak("ld.weak", "ld.volatile", "ld.relaxed."+scope, "ld.acquire."+scope)+" "+reg+", "+at)
			case 3, 4, 5:
				value := fmt.Sprint(1 + 3*k + r.IntN(3))
				if i > 0 && r.IntN(3) == 0 {
					value = fmt.Sprintf("r%d", r.IntN(i))
				}
				code = append(code, weak("st.weak", "st.volatile", "st.relaxed."+scope, "st.release."+scope)+" "+at+", "+value)
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
	aliases := ""
	if kind == mixed {
		aliases = "a @ generic aliases x; b @ generic aliases y; "
	}
	var b strings.Builder
	fmt.Fprintf(&b, "PTX drawn %d\n{ x=0; y=0; z[2]; %s}\n %s ;\n", seed, aliases, strings.Join(heads, " | "))
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
