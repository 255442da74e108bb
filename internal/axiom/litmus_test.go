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
//	fence.SEM.SCOPE; shared.acquire|release; alias
//	bar N; bararrive N; syncwarp N; carrive[.relaxed]; cwait
//	marrive[.SEM.SCOPE] BARRIER; mwait[.SEM.SCOPE] [BARRIER]
//	proxy[.global|cta|cluster|acquire|release]
//	copy|tcopy FROM>TO [BARRIER] [MASK]  a bulk copy, through the map, multicast
//	load FROM [BARRIER]                  a bulk copy to shared memory
//	store|reduce [FROM>]TO; wait[.read]  from shared memory
//	cpasync FROM>TO; cparrive BARRIER; cpwait
//	replace; maprelease.SCOPE; mapacquire.SCOPE
//
// with 'if N=V:' in front of what only happens if operation N read V. LOCATION is
// w, x, y or z; x', the alias of x, is another virtual address of it; sx is in
// the shared memory of the own CTA, sx@1 in that of CTA 1. BARRIER is a number,
// or 0@1 in CTA 1. SCOPE may be S.
func parse(t *testing.T, name string, places []axiom.Place, clusterSize int, scope string, threads ...string) *axiom.Program {
	t.Helper()
	p := &axiom.Program{Name: name, ClusterSize: clusterSize}
	for i, text := range threads {
		th := axiom.Thread{Place: places[i]}
		p.CTAs = max(p.CTAs, th.CTA+1)
		for _, op := range strings.Split(text, ";") {
			th.Ops = append(th.Ops, parseOp(t, strings.TrimSpace(strings.ReplaceAll(op, ".S", "."+scope)), th.CTA))
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
		"ld8": axiom.Load, "store": axiom.BulkStore, "reduce": axiom.BulkReduce, "wait": axiom.BulkWait, "load": axiom.BulkLoad, "copy": axiom.BulkLoad, "tcopy": axiom.BulkLoad,
		"mwait": axiom.MbarWait, "marrive": axiom.MbarArrive, "bar": axiom.BarSync, "bararrive": axiom.BarArrive, "syncwarp": axiom.WarpSync, "carrive": axiom.ClusterArrive,
		"cwait": axiom.ClusterWait, "proxy": axiom.ProxyFence, "shared": axiom.SharedFence, "cpasync": axiom.CpAsync, "cparrive": axiom.CpAsyncArrive, "cpwait": axiom.CpAsyncWait,
		"replace": axiom.MapReplace, "maprelease": axiom.MapRelease, "mapacquire": axiom.MapAcquire}
	semsByName   = map[string]axiom.Sem{"weak": axiom.Weak, "volatile": axiom.Volatile, "relaxed": axiom.Relaxed, "acquire": axiom.Acquire, "release": axiom.Release, "acq_rel": axiom.AcqRel, "sc": axiom.SC}
	scopesByName = map[string]axiom.Scope{"cta": axiom.CTA, "cluster": axiom.Cluster, "gpu": axiom.GPU, "sys": axiom.Sys}
	spacesByName = map[string]axiom.Space{"global": axiom.SpaceGlobal, "cta": axiom.SpaceSharedCTA, "cluster": axiom.SpaceSharedCluster}
)

func parseOp(t *testing.T, text string, cta int) axiom.Op {
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
	o.Kind, o.Home = kind, cta
	f = append(f, "", "", "", "")[1:]
	for _, q := range parts[1:] {
		if s, ok := semsByName[q]; ok {
			o.Sem = s
		} else if s, ok := spacesByName[q]; ok && kind == axiom.ProxyFence {
			o.Space = s
		} else if s, ok := scopesByName[q]; ok {
			o.Scope = s
		} else if o.Read = q == "read"; !o.Read {
			t.Fatalf("no qualifier %q in %q", q, text)
		}
	}
	switch kind {
	case axiom.Load, axiom.Store, axiom.Exch, axiom.Add, axiom.Red:
		o.Loc, o.Alias = place(t, f[0], cta)
		o.Value = uint32(number(t, f[1]))
		if parts[0] == "ld8" {
			o.Size = 8
		}
	case axiom.BarSync, axiom.BarArrive, axiom.WarpSync:
		o.Bar = number(t, f[0])
	case axiom.ClusterArrive:
		if o.Sem == axiom.Weak {
			o.Sem = axiom.Release
		}
	case axiom.MbarArrive, axiom.MbarWait, axiom.CpAsyncArrive:
		o.Bar, o.Home = barrier(t, f[0], cta)
	case axiom.BulkLoad, axiom.BulkStore, axiom.BulkReduce, axiom.CpAsync:
		from, to, ok := strings.Cut(f[0], ">")
		switch {
		case !ok && kind == axiom.BulkLoad:
			to = "sw"
		case !ok:
			from, to = "sw", from
		}
		o.Src, _ = place(t, from, cta)
		o.Loc, _ = place(t, to, cta)
		o.Bar, o.Home = barrier(t, f[1], cta)
		o.Mask = number(t, f[2])
		o.Map = parts[0] == "tcopy"
	}
	return o
}

// place reads a location, and which alias of it is meant.
func place(t *testing.T, text string, cta int) (axiom.Loc, int) {
	name, at, remote := strings.Cut(text, "@")
	name, shared := strings.CutPrefix(name, "s")
	if name == "" || name[0] < 'w' || name[0] > 'z' {
		t.Fatalf("no location %q", text)
	}
	l := axiom.Loc{Shared: shared, N: int(name[0]-'x') & 7}
	if shared {
		l.CTA = cta
	}
	if remote {
		l.CTA = number(t, at)
	}
	return l, len(name) - 1
}

func barrier(t *testing.T, text string, cta int) (bar, home int) {
	n, at, remote := strings.Cut(text, "@")
	if remote {
		cta = number(t, at)
	}
	return number(t, n), cta
}

// number reads a number, 0 if there is none.
func number(t *testing.T, text string) int {
	if text == "" {
		return 0
	}
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

// agreed compares a litmus test's races with the Tracker's, except for known
// differences.
func agreed(t *testing.T, p *axiom.Program) {
	t.Helper()
	c := compare(t, p)
	for q, d := range c.by {
		if c.explain(t, q) == "" {
			t.Errorf("%s: %v %v\n%s", p.Name, q, d, text(p))
		}
	}
}

// TestCoherence runs the tests of one location, morally strong and not (ISA
// 8.10.3, 8.10.5).
func TestCoherence(t *testing.T) {
	for _, l := range []struct {
		name    string
		threads []string
		cond    string
	}{
		{"CoRR", []string{"st.relaxed.S x 1", "ld.relaxed.S x; ld.relaxed.S x"}, "1:0=1 1:1=0"},
		{"CoWW", []string{"st.relaxed.S x 1; st.relaxed.S x 2"}, "x=1"},
		{"CoWR", []string{"st.relaxed.S x 1; ld.relaxed.S x", "st.relaxed.S x 2"}, "0:1=0"},
		{"CoRW1", []string{"ld.relaxed.S x; st.relaxed.S x 1"}, "0:0=1"},
		{"CoRW2", []string{"ld.relaxed.S x; st.relaxed.S x 1", "st.relaxed.S x 2"}, "0:0=2 x=2"},
		{"atomicity", []string{"add.relaxed.S x 1", "add.relaxed.S x 1"}, "0:0=0 1:0=0"},
		{"exchange and store", []string{"exch.relaxed.S x 1", "st.relaxed.S x 2"}, "0:0=2 x=2"},
	} {
		for _, at := range placements {
			for s, scope := range []string{"cta", "cluster", "gpu", "sys"} {
				name := fmt.Sprintf("%s, %s, %s", l.name, at.name, scope)
				p := parse(t, name, at.at, at.cluster, scope, l.threads...)
				// One thread's accesses are morally strong at any scope, and
				// program order already forbids the outcomes of CoWR and CoRW1.
				always := len(l.threads) == 1 || l.name == "CoWR"
				if got := possible(t, p, l.cond); got != (s < at.need && !always) {
					t.Errorf("%s: %s possible: %v", name, l.cond, got)
				}
				agreed(t, p)
			}
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
