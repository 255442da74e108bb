package machine_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"muster/internal/explore"
)

// A flowGen writes random control flow in which no lane looks at another:
// nested branches, loops, jump tables, calls and recursion, guarded stores,
// and warp barriers where all lanes come.
type flowGen struct {
	r     *rand.Rand
	b     strings.Builder
	label int
}

func (g *flowGen) next() int { g.label++; return g.label }

func (g *flowGen) stmts(depth, top int) {
	for range 1 + g.r.IntN(3) {
		g.stmt(depth, top)
	}
}

func (g *flowGen) stmt(depth, top int) {
	l := g.next()
	k := g.r.IntN(10)
	if depth == 0 {
		k = g.r.IntN(4)
	}
	switch k {
	case 0, 1:
		fmt.Fprintf(&g.b, "mad.lo.u32 %%v, %%v, %d, %d;\n", 3+2*g.r.IntN(50), g.r.IntN(1000))
	case 2:
		fmt.Fprintf(&g.b, "shr.u32 %%x, %%v, %d; xor.b32 %%v, %%v, %%x;\n", 1+g.r.IntN(20))
	case 3:
		fmt.Fprintf(&g.b, "and.b32 %%x, %%v, %d; setp.eq.u32 %%q, %%x, 0; @%%q st.global.u32 [%%o], %%v; @!%%q add.u32 %%v, %%v, 1;\n", 1+g.r.IntN(7))
	case 4, 5: // if-else, its arms in either order, one perhaps leaving
		fmt.Fprintf(&g.b, "{ .reg .pred %%b; and.b32 %%x, %%v, %d; setp.ne.u32 %%b, %%x, 0;\n@%%b bra E%d;\n", 1+g.r.IntN(15), l)
		g.stmts(depth-1, top)
		fmt.Fprintf(&g.b, "bra F%d;\nE%d:\n", l, l)
		g.stmts(depth-1, top)
		fmt.Fprintf(&g.b, "F%d: }\n", l)
	case 6, 7: // a loop with trips by lane, and a way out of its middle
		fmt.Fprintf(&g.b, "{ .reg .pred %%b; .reg .b32 %%i; and.b32 %%i, %%v, %d;\nL%d:\n", 1+g.r.IntN(7), l)
		g.stmts(depth-1, top)
		fmt.Fprintf(&g.b, "and.b32 %%x, %%v, 31; setp.eq.u32 %%b, %%x, %d;\n@%%b bra X%d;\n", g.r.IntN(32), l)
		g.stmts(depth-1, top)
		fmt.Fprintf(&g.b, "sub.u32 %%i, %%i, 1; setp.gt.s32 %%b, %%i, 0;\n@%%b bra L%d;\nX%d: }\n", l, l)
	case 8: // a jump table whose cases fall through
		fmt.Fprintf(&g.b, "{ ts: .branchtargets C%d, D%d, G%d;\nrem.u32 %%x, %%v, 3;\nbrx.idx %%x, ts;\nC%d:\n", l, l, l, l)
		g.stmts(depth-1, top)
		fmt.Fprintf(&g.b, "D%d:\n", l)
		g.stmts(depth-1, top)
		fmt.Fprintf(&g.b, "G%d: }\n", l)
	case 9: // a call, guarded by lane
		fmt.Fprintf(&g.b, "and.b32 %%x, %%v, 3; setp.ne.u32 %%q, %%x, 0; @%%q call (%%v), f%d, (%%v, %d);\n", g.r.IntN(top), 1+g.r.IntN(4))
	}
}

// kernel writes functions that call the ones before them and themselves, and
// a body.
func (g *flowGen) kernel() (top, body string) {
	const funcs = 3
	for i := range funcs {
		g.b.Reset()
		g.stmts(2, max(i, 1))
		inner := g.b.String()
		if i == 0 {
			inner = strings.ReplaceAll(inner, "call (%v), f0", "@!%q add.u32 %v, %v, 9; // f0")
			inner = strings.ReplaceAll(inner, "@%q @!%q", "@!%q")
		}
		inner = strings.ReplaceAll(inner, "st.global.u32 [%o], %v", "add.u32 %v, %v, 5")
		top += fmt.Sprintf(`.func (.reg .b32 r) f%d(.reg .b32 n, .reg .b32 d)
{
.reg .b32 %%v, %%x, %%d; .reg .pred %%q, %%z;
mov.u32 %%v, n;
setp.eq.u32 %%z, d, 0;
@%%z bra out;
sub.u32 %%d, d, 1;
%s
and.b32 %%x, %%v, 1; setp.eq.u32 %%q, %%x, 0;
@%%q ret;
call (%%v), f%d, (%%v, %%d);
out:
mov.u32 r, %%v;
ret;
}
`, i, inner, i)
	}
	g.b.Reset()
	g.stmts(4, funcs)
	g.b.WriteString("bar.warp.sync -1;\n")
	g.stmts(3, funcs)
	return top, ".reg .b32 %v, %x; .reg .pred %q;\nmad.lo.u32 %v, %c, 40503, 17;\n" + g.b.String() + "st.global.u32 [%o], %v;\n"
}

// TestLanesAreAlone holds that lanes which share a warp compute what each
// computes in a block of its own, under every schedule.
func TestLanesAreAlone(t *testing.T) {
	for seed := range few(60) {
		g := &flowGen{r: rand.New(rand.NewPCG(uint64(seed), 1))}
		top, body := g.kernel()
		alone := flow(t, top, body, 1, 64, explore.Schedule{})
		for _, s := range []explore.Schedule{{}, {Policy: explore.RoundRobin}, {Policy: explore.Random, Seed: uint64(seed)}} {
			if got := flow(t, top, body, 64, 1, s); !bytes.Equal(got, alone) {
				t.Fatalf("seed %d, %v: lanes of a warp give\n%x, alone\n%x\n%s%s", seed, s, got, alone, top, body)
			}
		}
	}
}

func flow(t *testing.T, top, body string, block, grid int, s explore.Schedule) []byte {
	t.Helper()
	c := behaviour{name: "flow", block: block, grid: fmt.Sprint(grid), n: 64, top: top, body: body}
	r := c.rig(t)
	r.cfg.MaxInstrs = 1 << 22
	m := r.run(s, nil)
	b := r.layout.Buffer("out")
	got := make([]byte, b.Size)
	m.ReadGlobal(b.Base, got)
	return got
}
