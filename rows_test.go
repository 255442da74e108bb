package muster_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/ptx"
)

// compareRows holds the classes that runs for whole rows give against those of a run for
// each cluster. It returns the numbers of clusters and of those that ran.
func compareRows(t *testing.T, name string, l *muster.Launch) (clusters, ran int) {
	t.Helper()
	if muster.Refused(l) {
		return 0, 0
	}
	by, ran := muster.CompareClusters(l, true)
	each, _ := muster.CompareClusters(l, false)
	if by.N != each.N {
		t.Errorf("%s: %d parts by rows, %d by themselves", name, by.N, each.N)
		return 0, 0
	}
	for i, c := range by.Class {
		if each.Class[i] != each.Class[c] {
			t.Errorf("%s: cluster %d counts as %d by rows, as %d by itself", name, i, c, each.Class[i])
			break
		}
	}
	return by.N, ran
}

var (
	rowPrograms = flag.Int("rows.n", 300, "how many kernels")
	rowSeed     = flag.Uint64("rows.seed", 1, "the first kernel's")
)

// TestRowsOfExamples: by rows, no clusters of an example are alike that are not.
func TestRowsOfExamples(t *testing.T) {
	files, err := filepath.Glob("examples/*/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, f := range files {
		n, ran := compareRows(t, f, loadYAML(t, f, nil, nil))
		if n > 1 && testing.Verbose() {
			t.Logf("%s: %d clusters, %d ran", f, n, ran)
		}
	}
}

// TestRowsOfGenerated: nor are those of small random kernels.
func TestRowsOfGenerated(t *testing.T) {
	n, seed := *rowPrograms, *rowSeed
	dir := t.TempDir()
	apart, fewer, some := 0, 0, 0
	for k := range uint64(n) {
		g := &rowGenerator{Rand: rand.New(rand.NewPCG(seed+k, 0))}
		g.kernel()
		name := fmt.Sprintf("seed %d", seed+k)
		clusters, ran := compareRows(t, name, g.load(t, dir))
		if clusters > 1 {
			apart++
		}
		if clusters > ran {
			fewer++
			if ran > 1 {
				some++
			}
		}
		if t.Failed() {
			t.Fatalf("%s\n%s%s", name, g.yaml, g.ptx)
		}
	}
	t.Logf("seeds %d to %d: clusters of %d launches run apart, of %d not all ran, of %d several", seed, seed+uint64(n)-1, apart, fewer, some)
	if n >= 300 && (apart < n/4 || fewer < n/8 || some < n/50) {
		t.Error("too few")
	}
}

// TestRowsOfOperations: nor are clusters alike to which an instruction of the table, of what
// grows evenly, gives what decides where they write.
func TestRowsOfOperations(t *testing.T) {
	n, seed := 4**rowPrograms, *rowSeed
	dir := t.TempDir()
	fewer := 0
	for k := range uint64(n) {
		g := &rowGenerator{Rand: rand.New(rand.NewPCG(seed+k, 1))}
		g.operation()
		name := fmt.Sprintf("seed %d", seed+k)
		clusters, ran := compareRows(t, name, g.load(t, dir))
		if clusters > ran {
			fewer++
		}
		if t.Failed() {
			t.Fatalf("%s\n%s%s", name, g.yaml, g.ptx)
		}
	}
	t.Logf("seeds %d to %d: of %d launches not all clusters ran", seed, seed+uint64(n)-1, fewer)
	if n >= 300 && fewer < n/20 {
		t.Error("too few")
	}
}

// operation makes a kernel with one instruction of the table.
func (g *rowGenerator) operation() {
	g.grid, g.cluster, g.block = [2]int{6 + g.IntN(8), 1}, 1, 32
	const words = 4096
	g.yaml = fmt.Sprintf("ptx: k.ptx\nkernel: k\ngrid: [%d]\nblock: 32\nbuffers:\n  out: {type: u32, shape: [%d], fill: zeros}\n  tile: {type: u32, shape: [64, 16], fill: iota}\nargs: [out, {ptr: out}, {tensormap: {of: tile, box: [4, 8]}}]\n", g.grid[0], 2*words)
	g.line("ld.param.u64 %%out, [out]; mov.u32 %%t, %%tid.x;")
	g.regs = 4
	for i := range g.regs - 1 {
		by := [...]int{0, 0, 0, 1, 1, -1, 2, 8, -16, 1 << 14, -1 << 16, 1 << 16, 1<<16 + 1, 1 << 28, g.IntN(64)}[g.IntN(15)]
		g.line("mov.u32 %%v, %%ctaid.x; mad.lo.s32 %%r%d, %%v, %d, %d;", i, by, -by*g.IntN(g.grid[0])+[...]int{0, 1, -1, 5, 1 << 15, g.IntN(128) - 64}[g.IntN(6)])
		if g.IntN(8) == 0 {
			g.line("add.u32 %%r%d, %%r%d, %%t;", i, i)
		}
	}
	g.drawn("%r3", []string{"%r0", "%r1", "%r2"})
	g.line("mov.u32 %%v, %%ctaid.x; mad.lo.u32 %%v, %%v, 32, %%t; mul.wide.u32 %%a, %%v, 4;")
	switch g.IntN(4) {
	case 0: // it decides an address
		g.line("add.s32 %%j, %%r3, %d;", words/64)
		g.line("setp.lt.u32 %%ok, %%j, %d; mad.lo.u32 %%j, %%j, 32, %%t; mad.wide.u32 %%b, %%j, 4, %%out; @%%ok st.global.u32 [%%b], %%t;", words/32)
	case 1:
		g.line("shl.b32 %%j, %%r3, %d; mul.wide.u32 %%b, %%j, 4; add.u64 %%b, %%b, %%a; add.u64 %%b, %%b, %%out; st.global.u32 [%%b], %%t;", 2+g.IntN(8))
	default: // whether a word is written
		g.line("setp.%s.s32 %%p0, %%r3, %d; add.u64 %%b, %%out, %%a; @%%p0 st.global.u32 [%%b], %%t;", g.of("lt", "eq", "ge"), []int{0, 1, 4, 1 << 15, g.IntN(64)}[g.IntN(5)])
	}
	g.finish()
}

// A rowGenerator makes kernels whose work depends on the places of their CTAs, in ways
// that strides follow and in ways that they do not.
type rowGenerator struct {
	*rand.Rand
	ptx, yaml   string
	body        strings.Builder
	regs, preds int // set so far
	labels      int
	grid        [2]int
	cluster     int
	block       int
	size        int // of the buffers, in words
	strange     int // how often it does what is not affine, of 16
}

const rowRegs, rowPreds = 10, 4

func (g *rowGenerator) load(t *testing.T, dir string) *muster.Launch {
	if err := os.WriteFile(filepath.Join(dir, "k.ptx"), []byte(g.ptx), 0o666); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "k.yaml")
	if err := os.WriteFile(name, []byte(g.yaml), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := yaml.ReadFile(name)
	if err != nil {
		t.Fatal(err, g.yaml)
	}
	l, err := muster.LoadFile(f, muster.Limits{Instrs: 1 << 20})
	if err != nil {
		t.Fatal(err, g.ptx)
	}
	return l
}

func (g *rowGenerator) kernel() {
	g.grid = [2]int{4 + g.IntN(9), 1}
	if g.IntN(4) == 0 {
		g.grid[1] = 1 + g.IntN(6)
	}
	g.cluster, g.block, g.strange = 1, 32*(1+g.IntN(2)), g.IntN(6)
	if g.IntN(4) == 0 {
		g.grid[0], g.cluster = 8+4*g.IntN(2), 2
	}
	g.size = g.grid[0]*g.grid[1]*g.block + [...]int{0, 0, 0, 0, -1, 1, -g.block, 64}[g.IntN(8)]
	fill := [...]string{"iota", "ones", "zeros", "iota"}[g.IntN(4)]
	if g.IntN(12) == 0 {
		fill = "uninitialized"
	}
	rows := g.grid[0]*g.grid[1]*4 + g.IntN(3)*2 - 2
	g.yaml = fmt.Sprintf("ptx: k.ptx\nkernel: k\ngrid: [%d, %d]\nblock: %d\ncluster: %d\nbuffers:\n  in:  {type: u32, shape: [%d], fill: %s}\n  out: {type: u32, shape: [%d], fill: zeros}\n  tile: {type: u32, shape: [%d, 16], fill: iota}\nargs:\n  - in\n  - {ptr: out}\n  - {tensormap: {of: tile, box: [4, 8]}}\n",
		g.grid[0], g.grid[1], g.block, g.cluster, g.size, fill, g.size, rows)
	g.line("mov.u32 %%t, %%tid.x; mad.lo.u32 %%i, %%ctaid.x, %d, %%t;", g.block)
	if g.grid[1] > 1 {
		g.line("mad.lo.u32 %%i, %%ctaid.y, %d, %%i;", g.block*g.grid[0])
	}
	g.line("ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%sh, sm; mov.u32 %%bar, mb;")
	g.line("setp.eq.u32 %%lead, %%t, 0; @%%lead mbarrier.init.shared.b64 [%%bar], 1; fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;")
	for g.regs < 4 {
		g.arith()
	}
	phase := 0
	for range 4 + g.IntN(12) {
		g.statement(&phase, 0)
	}
	g.finish()
}

func (g *rowGenerator) finish() {
	g.ptx = fmt.Sprintf(`.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128])
{
	.reg .pred %%lead, %%done, %%ok, %%p<%d>, %%q<10>; .reg .b16 %%h<10>; .reg .f32 %%e<10>; .reg .f64 %%g<10>; .reg .b32 %%c<10>, %%t, %%i, %%j, %%sh, %%bar, %%v, %%w, %%r<%d>; .reg .b64 %%in, %%out, %%a, %%b, %%s, %%d<10>;
	.shared .align 128 .b8 sm[1024]; .shared .align 8 .b64 mb;
%s	ret;
}
`, rowPreds, rowRegs, g.body.String())
}

func (g *rowGenerator) line(format string, args ...any) {
	fmt.Fprintf(&g.body, "\t"+format+"\n", args...)
}

func (g *rowGenerator) odd() bool { return g.IntN(16) < g.strange }

func (g *rowGenerator) of(list ...string) string { return list[g.IntN(len(list))] }

// source is an operand of 32 bits.
func (g *rowGenerator) source() string {
	switch k := g.IntN(10); {
	case k < 5 && g.regs > 0:
		return fmt.Sprintf("%%r%d", g.IntN(g.regs))
	case k < 6:
		return fmt.Sprint(g.IntN(9))
	case k < 7:
		return fmt.Sprint(1 << g.IntN(9))
	case k < 8:
		return g.of("%t", "%i")
	}
	return g.of("%ctaid.x", "%ctaid.x", "%clusterid.x", "%ctaid.y", "%laneid", "%nctaid.x", "%cluster_ctarank", "%cluster_ctaid.x")
}

// to is a register that is written.
func (g *rowGenerator) to() string {
	if g.regs < rowRegs && g.IntN(2) == 0 {
		g.regs++
		return fmt.Sprintf("%%r%d", g.regs-1)
	}
	return fmt.Sprintf("%%r%d", g.IntN(max(g.regs, 1)))
}

func (g *rowGenerator) arith() {
	a, b, c := g.source(), g.source(), g.source()
	if g.regs == 0 {
		g.regs = 1
		g.line("mov.u32 %%r0, %%ctaid.x;")
		return
	}
	d := g.to()
	if d == fmt.Sprintf("%%r%d", g.regs-1) && (a == d || b == d || c == d) {
		a, b, c = "%i", "%t", "3"
	}
	if g.odd() && g.IntN(3) == 0 {
		g.drawn(d, []string{a, b, c})
		return
	}
	types := g.of("u32", "s32")
	if !g.odd() {
		switch g.IntN(9) {
		case 0:
			g.line("mov.u32 %s, %s;", d, a)
		case 1, 2:
			g.line("%s.%s %s, %s, %s;", g.of("add", "sub"), types, d, a, b)
		case 3:
			g.line("mul.lo.%s %s, %s, %d;", types, d, a, g.IntN(40))
		case 4, 5:
			g.line("mad.lo.%s %s, %s, %d, %s;", types, d, a, g.IntN(40), b)
		case 6:
			g.line("shl.b32 %s, %s, %d;", d, a, g.IntN(6))
		case 7:
			g.line("mul.wide.%s %%a, %s, %d; cvt.u32.u64 %s, %%a;", types, a, g.IntN(64), d)
		case 8:
			g.line("cvt.%s.%s %%a, %s; add.u64 %%a, %%a, %d; cvt.u32.u64 %s, %%a;", g.of("u64", "s64"), types, a, g.IntN(99), d)
		}
		return
	}
	switch g.IntN(20) {
	case 0, 1:
		g.line("%s.b32 %s, %s, %s;", g.of("and", "or", "xor"), d, a, g.of("1", "3", "7", "255", "-4", "4096", b))
	case 2:
		g.line("shr.%s %s, %s, %d;", types, d, a, g.IntN(5))
	case 3:
		g.line("%s.%s %s, %s, %d;", g.of("div", "rem"), types, d, a, 1+g.IntN(9))
	case 4:
		g.line("or.b32 %%v, %s, 1; %s.u32 %s, %s, %%v;", b, g.of("div", "rem"), d, a)
	case 5, 6:
		g.line("%s.%s %s, %s, %s;", g.of("min", "max"), types, d, a, b)
	case 7:
		g.line("mul.lo.%s %s, %s, %s;", types, d, a, b)
	case 8:
		g.line("mul.hi.%s %s, %s, %s;", types, d, a, g.of("-1431655765", "7", b))
	case 9:
		g.line("bfe.u32 %s, %s, %d, %d;", d, a, g.IntN(6), 1+g.IntN(8))
	case 10:
		g.line("cvt.u16.u32 %%h0, %s; cvt.u32.u16 %s, %%h0;", a, d)
	case 11:
		g.line("prmt.b32 %s, %s, %s, 0x%x;", d, a, b, g.IntN(1<<12))
	case 12:
		g.line("lop3.b32 %s, %s, %s, %s, %d;", d, a, b, c, g.IntN(256))
	case 13:
		g.line("cvt.rn.f32.u32 %%v, %s; cvt.rzi.u32.f32 %s, %%v;", a, d)
	case 14:
		g.line("mov.b64 %%a, {%s, %s}; shr.u64 %%a, %%a, %d; mov.b64 {%s, %%v}, %%a;", g.reg(), g.reg(), g.IntN(40), d)
	case 15:
		g.line("%s.b32 %s, %s;", g.of("popc", "clz", "brev", "not"), d, a)
	case 16:
		g.line("mov.u32 %s, %s;", d, g.of("%smid", "%clock"))
	case 17:
		g.line("shf.l.wrap.b32 %s, %s, %s, %d;", d, a, b, g.IntN(32))
	case 18:
		g.line("set.lt.u32.u32 %s, %s, %s;", d, a, b)
	case 19:
		g.line("add.cc.u32 %%v, %s, %s; addc.u32 %s, %s, 0;", a, b, d, c)
	}
}

// operations holds the instructions on registers that ptxas takes for sm_90a, among those
// that were made from the instruction table, by opcode: their operands are registers whose
// names say what they hold.
var operations = sync.OnceValues(func() (of map[string][]string, opcodes []string) {
	text, err := os.ReadFile("ptx/testdata/ptxas.txt")
	if err != nil {
		panic(err)
	}
	of = map[string][]string{}
	for line := range strings.Lines(string(text)) {
		inst, ok := strings.CutPrefix(strings.TrimSpace(line), "+ ")
		m, err := ptx.Parse("ptxas", fmt.Appendf(nil, ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n"+
			".reg .pred %%p<10>; .reg .b16 %%rs<10>; .reg .b32 %%r<10>; .reg .b64 %%rd<10>; .reg .f32 %%f<10>; .reg .f64 %%fd<10>;\n%s\n}", inst))
		if !ok || err != nil {
			continue
		}
		stmts := m.Items[0].(*ptx.Func).Body.Stmts
		in := stmts[len(stmts)-1].(*ptx.Inst)
		_, sm := in.Needs()
		if in.Effect().Has(ptx.Computes|ptx.Selects|ptx.Compares|ptx.ComparesToNumber|ptx.Inverts|ptx.Ands|ptx.Ors|ptx.Adds|ptx.Subtracts|ptx.Xors|ptx.Converts|ptx.Divides) &&
			sm.Number <= 90 && drawable.MatchString(inst) {
			op := strings.Split(in.Opcode(), ".")[0]
			of[op] = append(of[op], inst)
		}
	}
	return of, slices.Sorted(maps.Keys(of))
})

var drawable = regexp.MustCompile(`^[a-z0-9_.:]+ %(r|rs|rd|f|fd|p)[0-9](, (%(r|rs|rd|f|fd|p)[0-9]|[0-9]+))*;$`)

// drawn puts the result of an instruction of the table in d, with sources made of from.
func (g *rowGenerator) drawn(d string, from []string) {
	of, opcodes := operations()
	inst := g.of(of[g.of(opcodes...)]...)
	op, operands, _ := strings.Cut(strings.TrimSuffix(inst, ";"), " ")
	list := strings.Split(operands, ", ")
	for i, name := range list[1:] {
		source := from[i%len(from)]
		to := "%" + strings.TrimLeft(name, "%rsdfp")
		switch strings.TrimRight(name, "0123456789") {
		case "%r":
			if source[0] != '%' { // no literal has a packed type
				to = "%c" + to[1:]
				g.line("mov.b32 %s, %s;", to, source)
			} else {
				to = source
			}
		case "%f":
			to = "%e" + to[1:]
			g.line("mov.b32 %s, %s;", to, source)
		case "%rs":
			to = "%h" + to[1:]
			g.line("cvt.u16.u32 %s, %s;", to, source)
		case "%rd":
			to = "%d" + to[1:]
			g.line("cvt.u64.%s %s, %s;", g.of("u32", "s32"), to, source)
		case "%fd":
			to = "%g" + to[1:]
			g.line("cvt.u64.u32 %%a, %s; mov.b64 %s, %%a;", source, to)
		case "%p":
			to = "%q" + to[1:]
			g.line("setp.lt.u32 %s, %s, %s;", to, source, from[(i+1)%len(from)])
		default:
			to = name
		}
		list[i+1] = to
	}
	switch into := strings.TrimRight(list[0], "0123456789"); into {
	case "%r":
		g.line("%s %s, %s;", op, d, strings.Join(list[1:], ", "))
	case "%f":
		g.line("%s %%e0, %s; mov.b32 %s, %%e0;", op, strings.Join(list[1:], ", "), d)
	case "%rs":
		g.line("%s %%h0, %s; cvt.u32.u16 %s, %%h0;", op, strings.Join(list[1:], ", "), d)
	case "%rd":
		g.line("%s %%d0, %s; shr.u64 %%d0, %%d0, %d; cvt.u32.u64 %s, %%d0;", op, strings.Join(list[1:], ", "), g.of2(0, 0, 8, 32), d)
	case "%fd":
		g.line("%s %%g0, %s; mov.b64 %%d0, %%g0; cvt.u32.u64 %s, %%d0;", op, strings.Join(list[1:], ", "), d)
	case "%p":
		g.line("%s %%q0, %s; selp.u32 %s, 1, 0, %%q0;", op, strings.Join(list[1:], ", "), d)
	}
}

// reg is a register that was written.
func (g *rowGenerator) reg() string { return fmt.Sprintf("%%r%d", g.IntN(g.regs)) }

// index puts the number of a word of the buffers in %j.
func (g *rowGenerator) index() {
	switch {
	case !g.odd():
		g.line("mov.u32 %%j, %%i;")
		if g.IntN(8) == 0 {
			g.line("add.u32 %%j, %%j, %d;", g.IntN(3)*32)
		}
	case g.IntN(3) == 0:
		g.line("min.u32 %%j, %s, %d;", g.source(), g.size-1)
	case g.IntN(3) == 0:
		g.line("sub.u32 %%j, %d, %%i;", g.size-1)
	case g.IntN(2) == 0:
		g.line("shl.b32 %%j, %s, 5; add.u32 %%j, %%j, %%t;", g.of("%ctaid.x", "%ctaid.y", "%clusterid.x"))
	default:
		g.line("and.b32 %%j, %s, 127;", g.source())
	}
	g.line("mul.wide.u32 %%a, %%j, 4;")
}

func (g *rowGenerator) predicate() string {
	if g.preds == 0 || g.IntN(3) == 0 {
		k := g.IntN(rowPreds)
		if g.preds < rowPreds {
			k = g.preds
			g.preds++
		}
		a, b := g.source(), g.of(g.source(), fmt.Sprint(g.IntN(12)), fmt.Sprint(g.size), fmt.Sprint(g.size/2))
		if !g.odd() {
			a, b = g.of("%t", "%i"), fmt.Sprint(g.size-g.IntN(40))
		}
		g.line("setp.%s.%s %%p%d, %s, %s;", g.of("lt", "le", "gt", "ge", "eq", "ne"), g.of("u32", "s32"), k, a, b)
		if g.IntN(6) == 0 {
			g.line("setp.%s.%s.u32 %%p%d, %s, %s, %%p%d;", g.of("lt", "eq"), g.of("and", "or"), k, g.source(), g.source(), k)
		}
		return fmt.Sprintf("%s%%p%d", g.of("", "!"), k)
	}
	return fmt.Sprintf("%s%%p%d", g.of("", "!"), g.IntN(g.preds))
}

func (g *rowGenerator) wait(phase *int) {
	g.labels++
	g.line("W%d: mbarrier.try_wait.parity.shared.b64 %%done, [%%bar], %d; @!%%done bra W%d;", g.labels, *phase&1, g.labels)
	*phase++
}

func (g *rowGenerator) statement(phase *int, depth int) {
	switch k := g.IntN(24); {
	case k < 5:
		g.arith()
	case k < 8:
		g.index()
		guard := ""
		if g.IntN(2) == 0 {
			g.line("setp.lt.u32 %%ok, %%j, %d;", g.size)
			guard = "@%ok "
		}
		g.line("add.u64 %%b, %%in, %%a; mov.u32 %%v, 0; %sld.global.u32 %%v, [%%b];", guard)
		switch g.IntN(8) {
		case 0:
			g.line("mov.u32 %s, %%v;", g.reg())
		case 1: // it decides
			g.line("mul.wide.u32 %%a, %%i, 4; add.u64 %%b, %%out, %%a; setp.lt.u32 %%ok, %%v, %d; @%%ok st.global.u32 [%%b], %%v;", g.IntN(g.size))
		}
	case k < 11:
		g.index()
		guard := ""
		if g.IntN(2) == 0 {
			g.line("setp.lt.u32 %%ok, %%j, %d;", g.size)
			guard = "@%ok "
		}
		g.line("add.u64 %%b, %%out, %%a; %sst.global.u32 [%%b], %s;", guard, g.reg())
	case k < 13:
		if g.IntN(8) == 0 {
			g.line("and.b32 %%v, %%t, 31; add.u32 %%v, %%v, %s; mad.lo.u32 %%v, %%v, 4, %%sh;", g.of("%ctaid.x", "%ctaid.y"))
		} else {
			g.line("and.b32 %%v, %s, 124; add.u32 %%v, %%v, %%sh;", g.of("%t", "%i", g.source()))
		}
		g.line("st.shared.u32 [%%v], %s; bar.sync 0; ld.shared.u32 %%w, [%%v]; bar.sync 0;", g.reg())
		if g.odd() {
			g.line("mov.u32 %s, %%w;", g.reg())
		}
	case k < 14:
		g.line("shfl.sync.%s.b32 %s, %s, %s, 31, -1;", g.of("idx", "bfly", "down"), g.reg(), g.reg(), g.of("0", "1", g.reg()))
	case k < 15:
		p := g.predicate()
		g.line("%s %s, %s, -1;", g.of("vote.sync.ballot.b32", "vote.sync.ballot.b32"), g.reg(), p)
	case k < 16:
		g.line("@%%lead mbarrier.arrive.shared.b64 %%s, [%%bar];")
		g.wait(phase)
	case k < 17:
		if g.odd() {
			g.line("atom.shared.add.u32 %%v, [%%sh], 1; mov.u32 %s, %%v;", g.reg())
		} else {
			g.line("red.shared.add.u32 [%%sh], %s;", g.reg())
		}
	case k < 18: // a bulk copy
		g.line("mul.lo.u32 %%v, %s, %d; mul.wide.u32 %%a, %%v, 4; add.u64 %%b, %%in, %%a;", g.of("%ctaid.x", "%ctaid.x", "%clusterid.x", "%ctaid.y", g.reg()), g.of2(g.block, 4, 3))
		n := fmt.Sprint(16 * (1 + g.IntN(4)))
		if g.odd() {
			g.line("shl.b32 %%w, %s, 4; and.b32 %%w, %%w, 48; add.u32 %%w, %%w, 16;", g.source())
			n = "%w"
		}
		g.line("@%%lead mbarrier.arrive.expect_tx.shared.b64 %%s, [%%bar], %s; @%%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%sh], [%%b], %s, [%%bar];", n, n)
		g.wait(phase)
	case k < 19: // a tile
		x, y := g.of("0", "4", "12"), "%v"
		g.line("mul.lo.u32 %%v, %s, 4; add.u32 %%v, %%v, %d; mov.u32 %%w, %s;", g.of("%ctaid.x", "%ctaid.x", "%clusterid.x", g.reg()), g.IntN(3)*4-g.IntN(2)*4, x)
		if g.odd() {
			g.line("shl.b32 %%w, %s, %d;", g.of("%ctaid.x", "%ctaid.y", g.reg()), g.IntN(4))
		}
		g.line("@%%lead mbarrier.arrive.expect_tx.shared.b64 %%s, [%%bar], 128; @%%lead cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%%sh], [map, {%%w, %s}], [%%bar];", y)
		g.wait(phase)
	case k < 20:
		g.index()
		g.line("add.u64 %%b, %%in, %%a; and.b32 %%v, %%t, 63; mad.lo.u32 %%v, %%v, 4, %%sh; cp.async.ca.shared.global [%%v], [%%b], 4%s; cp.async.wait_all;", g.of("", ", 4", ", 0", ", 2"))
	case k < 21:
		if g.cluster > 1 {
			g.line("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;")
		}
		g.line("bar.sync 0;")
	case depth < 2: // a branch, by warps or CTAs if there is a barrier within
		g.labels++
		at := g.labels
		g.line("@%s bra L%d;", g.predicate(), at)
		regs, preds := g.regs, g.preds
		for range 1 + g.IntN(3) {
			g.arith()
			g.index()
			g.line("setp.lt.u32 %%ok, %%j, %d; add.u64 %%b, %%out, %%a; @%%ok st.global.u32 [%%b], %s;", g.size, g.reg())
		}
		g.line("L%d:", at)
		g.regs, g.preds = regs, preds
	default: // a loop
		g.labels++
		g.line("mov.u32 %%w, 0;\nM%d:", g.labels)
		at := g.labels
		g.line("add.u32 %s, %s, %s; add.u32 %%w, %%w, 1; setp.lt.u32 %%ok, %%w, %s; @%%ok bra M%d;", g.reg(), g.reg(), g.source(), g.of("3", "%nctaid.x", "%ctaid.x"), at)
	}
}

func (g *rowGenerator) of2(list ...int) int { return list[g.IntN(len(list))] }
