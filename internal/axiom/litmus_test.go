package axiom_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/internal/axiom"
)

// Litmus tests in text: one thread a string, operations between semicolons,
//
//	ld|ld8|st|exch|add|red[.SEM[.SCOPE]] LOCATION [VALUE]
//	fence.SEM.SCOPE
//	alias
//	store|reduce LOCATION     a bulk copy or reduction from shared memory; wait
//	load LOCATION [BARRIER]   a bulk copy to shared memory; mwait [BARRIER]
//
// with 'if N=V:' in front of what only happens if operation N read V. x', the
// alias of x, is another virtual address of it. SCOPE may be S.
func parse(t *testing.T, name string, places []axiom.Place, clusterSize int, scope string, threads ...string) *axiom.Program {
	t.Helper()
	p := &axiom.Program{Name: name, ClusterSize: clusterSize}
	for i, text := range threads {
		th := axiom.Thread{Place: places[i]}
		p.CTAs = max(p.CTAs, th.CTA+1)
		for _, op := range strings.Split(text, ";") {
			o := parseOp(t, strings.TrimSpace(strings.ReplaceAll(op, ".S", "."+scope)))
			switch own := (axiom.Loc{Shared: true, CTA: th.CTA, N: 7}); o.Kind {
			case axiom.BulkStore, axiom.BulkReduce:
				o.Src = own
			case axiom.BulkLoad:
				o.Src, o.Loc = o.Loc, own
				o.Home = th.CTA
			case axiom.MbarWait:
				o.Home = th.CTA
			}
			th.Ops = append(th.Ops, o)
		}
		p.Threads = append(p.Threads, th)
	}
	p.CTAs += (clusterSize - p.CTAs%clusterSize) % clusterSize
	if err := p.Check(); err != nil {
		t.Fatal(name, err)
	}
	return p
}

var (
	kindsByName = map[string]axiom.Kind{"ld": axiom.Load, "st": axiom.Store, "exch": axiom.Exch, "add": axiom.Add, "red": axiom.Red, "fence": axiom.Fence, "alias": axiom.AliasFence,
		"ld8": axiom.Load, "store": axiom.BulkStore, "reduce": axiom.BulkReduce, "wait": axiom.BulkWait, "load": axiom.BulkLoad, "mwait": axiom.MbarWait}
	semsByName   = map[string]axiom.Sem{"weak": axiom.Weak, "volatile": axiom.Volatile, "relaxed": axiom.Relaxed, "acquire": axiom.Acquire, "release": axiom.Release, "acq_rel": axiom.AcqRel, "sc": axiom.SC}
	scopesByName = map[string]axiom.Scope{"cta": axiom.CTA, "cluster": axiom.Cluster, "gpu": axiom.GPU, "sys": axiom.Sys}
)

func parseOp(t *testing.T, text string) axiom.Op {
	var o axiom.Op
	if rest, ok := strings.CutPrefix(text, "if "); ok {
		cond, op, _ := strings.Cut(rest, ":")
		var g axiom.Guard
		if _, err := fmt.Sscanf(cond, "%d=%d", &g.Read, &g.Value); err != nil {
			t.Fatal(text, err)
		}
		o.Guard, text = &g, strings.TrimSpace(op)
	}
	f := strings.Fields(text)
	parts := strings.Split(f[0], ".")
	kind, ok := kindsByName[parts[0]]
	if !ok {
		t.Fatalf("no operation %q", text)
	}
	if o.Kind = kind; parts[0] == "ld8" {
		o.Size = 8
	}
	if len(parts) > 1 {
		o.Sem = semsByName[parts[1]]
	}
	if len(parts) > 2 {
		o.Scope = scopesByName[parts[2]]
	}
	if o.Kind == axiom.MbarWait && len(f) > 1 {
		o.Bar = number(t, f[1])
		return o
	}
	if len(f) > 1 {
		o.Loc.N = int(f[1][0]-'x') & 7
		o.Alias = len(f[1]) - 1
	}
	if len(f) > 2 {
		o.Value = uint32(number(t, f[2]))
		if o.Kind == axiom.BulkLoad {
			o.Bar = int(o.Value)
		}
	}
	return o
}

func number(t *testing.T, text string) int {
	v, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return v
}

// matches reports whether an outcome is 'T:N=V' and 'x=V' throughout.
func matches(t *testing.T, cond string, o *axiom.Outcome) bool {
	for _, c := range strings.Fields(cond) {
		left, right, _ := strings.Cut(c, "=")
		want, err := strconv.Atoi(right)
		if err != nil {
			t.Fatal(cond, err)
		}
		th, op, read := strings.Cut(left, ":")
		got, ok := uint32(0), false
		if read {
			a, _ := strconv.Atoi(th)
			b, _ := strconv.Atoi(op)
			got, ok = o.Read[[2]int{a, b}]
		} else {
			got = uint32(want)
			ok = slices.Contains(o.Last[axiom.Loc{N: int(th[0]-'x') & 7}], got)
		}
		if !ok || got != uint32(want) {
			return false
		}
	}
	return true
}

func possible(t *testing.T, p *axiom.Program, cond string) bool {
	t.Helper()
	found, any := false, false
	err := p.Outcomes(func(o axiom.Outcome) {
		any = true
		found = found || matches(t, cond, &o)
	})
	if err != nil || !any {
		t.Fatalf("%s: no consistent execution: %v", p.Name, err)
	}
	return found
}

var apart = []axiom.Place{{CTA: 0}, {CTA: 1}, {CTA: 2}, {CTA: 3}}

// TestISA holds the axioms to every litmus test that the ISA's chapter prints.
func TestISA(t *testing.T) {
	for _, l := range []struct {
		name    string
		threads []string
		cond    string
		allowed bool
	}{
		// 8.10.3, litmus test 1; inc with no bound wraps as add of 1.
		{"atomicity", []string{"add.relaxed.sys x 1", "add.relaxed.sys x 1"}, "x=2", true},
		{"atomicity, lost", []string{"add.relaxed.sys x 1", "add.relaxed.sys x 1"}, "0:0=0 1:0=0", false},
		// Litmus test 2.
		{"no atomicity", []string{"add.relaxed.cta x 1", "add.relaxed.gpu x 1"}, "0:0=0 1:0=0", true},
		{"no atomicity, both", []string{"add.relaxed.cta x 1", "add.relaxed.gpu x 1"}, "0:0=0 1:0=1", true},
		// 8.10.4.
		{"LB+deps", []string{"ld x; if 0=1: st y 1", "ld y; if 0=1: st x 1"}, "0:0=1", false},
		{"LB+deps, zero", []string{"ld x; if 0=1: st y 1", "ld y; if 0=1: st x 1"}, "0:0=0 1:0=0", true},
		{"LB", []string{"ld x; st y 1", "ld y; st x 1"}, "0:0=1 1:0=1", true},
		// 8.10.5.
		{"CoRR", []string{"st.relaxed.sys x 1", "ld.relaxed.sys x; ld.relaxed.sys x"}, "1:0=1 1:1=0", false},
		{"CoRR, new", []string{"st.relaxed.sys x 1", "ld.relaxed.sys x; ld.relaxed.sys x"}, "1:0=0 1:1=1", true},
		// 8.10.6.
		{"MP", []string{"st x 1; fence.acq_rel.sys; st.relaxed.sys y 1", "ld.relaxed.sys y; fence.acq_rel.sys; ld x"}, "1:0=1 1:2=0", false},
		{"MP, seen", []string{"st x 1; fence.acq_rel.sys; st.relaxed.sys y 1", "ld.relaxed.sys y; fence.acq_rel.sys; ld x"}, "1:0=1 1:2=1", true},
		{"CoWR by an alias", []string{"st x 1; alias; ld x'"}, "0:2=0", false},
		{"CoWR by an alias, no fence", []string{"st x 1; ld x'"}, "0:1=0", true},
		{"CoWR", []string{"st x 1; ld x"}, "0:1=0", false},
		{"SB", []string{"st x 1; fence.sc.sys; ld y", "st y 1; fence.sc.sys; ld x"}, "0:2=0 1:2=0", false},
		{"SB, acq_rel", []string{"st x 1; fence.acq_rel.sys; ld y", "st y 1; fence.acq_rel.sys; ld x"}, "0:2=0 1:2=0", true},
		// 8.11.1.
		{"MP with red", []string{"st x 42; st.release.gpu y 1", "red.relaxed.sys y 1; fence.acquire.gpu; ld x"}, "1:2=0 y=2", true},
		{"MP with atom", []string{"st x 42; st.release.gpu y 1", "add.relaxed.sys y 1; fence.acquire.gpu; ld x"}, "1:2=0 y=2", false},
	} {
		p := parse(t, l.name, apart, 1, "", l.threads...)
		if got := possible(t, p, l.cond); got != l.allowed {
			t.Errorf("%s: %s possible: %v, want %v", l.name, l.cond, got, l.allowed)
		}
		if l.name != "CoWR by an alias" && l.name != "CoWR by an alias, no fence" {
			agreed(t, p)
		}
	}
}

// agreed compares a litmus test's races with the Tracker's, but for what the
// Tracker is known not to have.
func agreed(t *testing.T, p *axiom.Program) {
	t.Helper()
	c := compare(t, p)
	for q, d := range c.by {
		if c.explain(t, q) == "" {
			t.Errorf("%s: %v %v\n%s", p.Name, q, d, text(p))
		}
	}
}

// classics are named after Alglave, Maranget and Tautschnig, 'Herding Cats'.
// weak says whether cond is possible with relaxed operations alone, where the
// text has no fence; F is replaced by a fence.
var classics = []struct {
	name    string
	threads []string
	cond    string
	acqrel  bool // possible with fence.acq_rel of sufficient scope
	sc      bool // with fence.sc
}{
	{"MP", []string{"st.relaxed.S x 1; F; st.relaxed.S y 1", "ld.relaxed.S y; F; ld.relaxed.S x"}, "1:0=1 1:2=0", false, false},
	{"SB", []string{"st.relaxed.S x 1; F; ld.relaxed.S y", "st.relaxed.S y 1; F; ld.relaxed.S x"}, "0:2=0 1:2=0", true, false},
	{"LB", []string{"ld.relaxed.S x; F; st.relaxed.S y 1", "ld.relaxed.S y; F; st.relaxed.S x 1"}, "0:0=1 1:0=1", false, false},
	{"S", []string{"st.relaxed.S x 2; F; st.relaxed.S y 1", "ld.relaxed.S y; F; st.relaxed.S x 1"}, "1:0=1 x=2", false, false},
	{"R", []string{"st.relaxed.S x 1; F; st.relaxed.S y 1", "st.relaxed.S y 2; F; ld.relaxed.S x"}, "y=2 1:2=0", true, false},
	{"2+2W", []string{"st.relaxed.S x 1; F; st.relaxed.S y 2", "st.relaxed.S y 1; F; st.relaxed.S x 2"}, "x=1 y=1", true, false},
	{"WRC", []string{"st.relaxed.S x 1", "ld.relaxed.S x; F; st.relaxed.S y 1", "ld.relaxed.S y; F; ld.relaxed.S x"}, "1:0=1 2:0=1 2:2=0", false, false},
	{"ISA2", []string{"st.relaxed.S x 1; F; st.relaxed.S y 1", "ld.relaxed.S y; F; st.relaxed.S z 1", "ld.relaxed.S z; F; ld.relaxed.S x"}, "1:0=1 2:0=1 2:2=0", false, false},
	{"RWC", []string{"st.relaxed.S x 1", "ld.relaxed.S x; F; ld.relaxed.S y", "st.relaxed.S y 1; F; ld.relaxed.S x"}, "1:0=1 1:2=0 2:2=0", true, false},
	{"Z6.3", []string{"st.relaxed.S x 1; F; st.relaxed.S y 1", "st.relaxed.S y 2; F; st.relaxed.S z 1", "ld.relaxed.S z; F; ld.relaxed.S x"}, "y=2 2:0=1 2:2=0", true, false},
	{"IRIW", []string{"st.relaxed.S x 1", "st.relaxed.S y 1", "ld.relaxed.S x; F; ld.relaxed.S y", "ld.relaxed.S y; F; ld.relaxed.S x"}, "2:0=1 2:2=0 3:0=1 3:2=0", true, false},
}

var placements = []struct {
	name    string
	cluster int
	need    int // 0: any scope will do; 1: cluster; 2: gpu
	at      []axiom.Place
}{
	{"lanes", 1, 0, []axiom.Place{{Lane: 0}, {Lane: 1}, {Lane: 2}, {Lane: 3}}},
	{"warps", 1, 0, []axiom.Place{{Warp: 0}, {Warp: 1}, {Warp: 2}, {Warp: 3}}},
	{"cluster", 4, 1, apart},
	{"grid", 1, 2, apart},
}

// TestClassics runs the classics in every place at every scope: they hold
// where the scope reaches, and are all possible where it does not, or where
// there is no fence.
func TestClassics(t *testing.T) {
	for _, l := range classics {
		for _, at := range placements {
			for s, scope := range []string{"cta", "cluster", "gpu", "sys"} {
				for _, f := range []string{"acq_rel", "sc", ""} {
					var threads []string
					for _, th := range l.threads {
						if f == "" {
							th = strings.ReplaceAll(th, "F", "fence.acq_rel.cta")
						} else {
							th = strings.ReplaceAll(th, "F", "fence."+f+".S")
						}
						threads = append(threads, th)
					}
					want := map[string]bool{"acq_rel": l.acqrel, "sc": l.sc, "": l.acqrel}[f]
					if s < at.need || f == "" && at.need > 0 {
						want = true
					}
					name := fmt.Sprintf("%s, %s, %s, %s", l.name, at.name, scope, f)
					p := parse(t, name, at.at, at.cluster, scope, threads...)
					if got := possible(t, p, l.cond); got != want {
						t.Errorf("%s: %s possible: %v, want %v", name, l.cond, got, want)
					}
					agreed(t, p)
				}
			}
		}
	}
}
