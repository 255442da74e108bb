package machine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"muster/ptx"
)

// The registers of a snippet. Rows go out in order of declaration, class by
// class, which is how file finds them.
const snippetRegs = `
	.reg .b32 %r<8>;
	.reg .b16 %h<8>;
	.reg .f32 %f<8>;
	.reg .b8 %b<8>;
	.reg .b64 %d<8>;
	.reg .f64 %g<8>;
	.reg .b128 %q<2>;
	.reg .pred %p<8>;
`

// file is where a snippet's registers lie.
func file(name string) (class byte, r reg) {
	n, err := strconv.Atoi(name[1:])
	if err != nil {
		panic("BUG: register " + name)
	}
	i := reg(n)
	switch name[0] {
	case 'r':
		return '3', i
	case 'h':
		return '3', 8 + i
	case 'f':
		return '3', 16 + i
	case 'b':
		return '3', 24 + i
	case 'd':
		return '6', i
	case 'g':
		return '6', 8 + i
	case 'q': // q0 and q1 are the halves of %q0
		return '6', 16 + i
	}
	return 'p', i
}

func decodeSnippet(code string) (*Program, error) { return decodeSnippetOf("8.5", "sm_90a", code) }

func decodeSnippetOf(version, target, code string) (*Program, error) {
	snippetRegs := snippetRegs
	if version < "8" { // which has no registers of 128 bits
		snippetRegs = strings.ReplaceAll(snippetRegs, ".b128", ".b64")
	}
	text := ".version " + version + "\n.target " + target + "\n.address_size 64\n.shared .align 16 .b32 table[4];\n.visible .entry k()\n{" + snippetRegs + code + "\n}\n"
	m, err := ptx.Parse("snippet.ptx", []byte(text))
	if err != nil {
		return nil, err
	}
	return Decode(m, "k")
}

// snippet is a decoded snippet with a warp to run it on.
type snippet struct {
	prog *Program
	x    *ctx
}

func newSnippet(tb testing.TB, code string) *snippet {
	tb.Helper()
	return newSnippetOf(tb, "8.5", "sm_90a", code)
}

func newSnippetOf(tb testing.TB, version, target, code string) *snippet {
	tb.Helper()
	p, err := decodeSnippetOf(version, target, code)
	if err != nil {
		tb.Fatalf("%s: %v", code, err)
	}
	m := &Machine{prog: p, cfg: Config{Program: p, Grid: [3]uint32{6, 4, 2}, Block: [3]uint32{8, 4, 4}, Cluster: [3]uint32{2, 2, 1}, Shared: 300}, csize: 4}
	f := &p.funcs[0]
	w := &warp{index: 3, cta: 0, r32: make([][32]uint32, f.n32), r64: make([][32]uint64, f.n64), p: make([]uint32, f.np)}
	g := &grid{Launch: m.cfg.Launches()[0], entry: &p.Entry, csize: 4}
	c := &cta{index: 140, g: g, id: [3]uint32{5, 2, 1}, rank: 1, warps: []*warp{w}}
	m.ctas = []*cta{c}
	m.unsetFrame(w, &split{}, f, 0)
	return &snippet{prog: p, x: m.enter(w, &split{})}
}

// run executes the snippet for the lanes of mask. It reports the name of an
// instruction that the machine does not model.
func (s *snippet) run(mask uint32) string {
	s.x.s.mask = mask
	for i := range s.prog.code {
		in := &s.prog.code[i]
		if in.class != plain {
			if in.src != nil {
				return Name(in.src)
			}
			break
		}
		if m := s.x.active(in); m != 0 {
			in.exec(s.x, in, m)
		}
	}
	return ""
}

func (s *snippet) set(name string, lane int, v uint64) {
	switch class, r := file(name); class {
	case '3':
		s.x.r32[r][lane] = uint32(v)
	case '6':
		s.x.r64[r][lane] = v
	default:
		s.x.p[r] = s.x.p[r]&^(1<<lane) | uint32(v&1)<<lane
	}
}

func (s *snippet) get(name string, lane int) uint64 {
	switch class, r := file(name); class {
	case '3':
		return uint64(s.x.r32[r][lane])
	case '6':
		return s.x.r64[r][lane]
	default:
		return uint64(s.x.p[r] >> lane & 1)
	}
}

type assign struct {
	name string
	v    uint64
}

// assigns parses "r1=ff p0=1": registers with values in hexadecimal.
func assigns(t *testing.T, text string) (out []assign) {
	for _, w := range strings.Fields(text) {
		name, hex, ok := strings.Cut(w, "=")
		v, err := strconv.ParseUint(hex, 16, 64)
		if !ok || err != nil {
			t.Fatalf("malformed %q", w)
		}
		out = append(out, assign{name, v})
	}
	return out
}

// masks that a snippet runs under: full, one lane, runs, single lanes.
var testMasks = []uint32{allLanes, 1, 1 << 31, 0x0ff0_00f1, 0x5555_5555, 0xffff_0000}

// check runs code on in under several masks and compares with want, in the
// lanes of the mask; the others must keep what they had.
func check(t *testing.T, code, in, want string) {
	t.Helper()
	checkOf(t, "8.5", "sm_90a", code, in, want)
}

func checkOf(t *testing.T, version, target, code, in, want string) {
	t.Helper()
	ins, wants := assigns(t, in), assigns(t, want)
	for _, mask := range testMasks {
		s := newSnippetOf(t, version, target, code)
		for lane := range 32 {
			for _, a := range wants {
				s.set(a.name, lane, 0xa5a5_a5a5_a5a5_a5a5)
			}
			for _, a := range ins {
				s.set(a.name, lane, a.v)
			}
		}
		old := make([]uint64, len(wants))
		for i, a := range wants {
			old[i] = s.get(a.name, 0)
		}
		if name := s.run(mask); name != "" {
			t.Errorf("%s: %s is not modelled", code, name)
			return
		}
		for lane := range 32 {
			for i, a := range wants {
				w := a.v
				if mask>>lane&1 == 0 {
					w = old[i]
				}
				if got := s.get(a.name, lane); got != w {
					t.Errorf("%s  with %s, mask %08x, lane %d: %s = %x, want %x", code, in, mask, lane, a.name, got, w)
					return
				}
			}
		}
	}
}

type caseOf struct{ code, in, want string }

func checkAll(t *testing.T, cases []caseOf) {
	t.Helper()
	for _, c := range cases {
		check(t, c.code+";", c.in, c.want)
	}
}

func TestIntegerInstructions(t *testing.T) {
	checkAll(t, []caseOf{
		{"add.u16 %h0, %h1, %h2", "h1=ffff h2=2", "h0=1"},
		{"add.s16 %h0, %h1, -3", "h1=1", "h0=fffe"},
		{"add.u32 %r0, %r1, %r2", "r1=ffffffff r2=2", "r0=1"},
		{"add.s32 %r1, %r1, %r1", "r1=80000001", "r1=2"},
		{"add.s64 %d0, %d1, -1", "d1=0", "d0=ffffffffffffffff"},
		{"add.u64 %d0, %d1, %d2", "d1=ffffffff d2=1", "d0=100000000"},
		{"add.sat.s32 %r0, %r1, %r2", "r1=7fffffff r2=1", "r0=7fffffff"},
		{"add.sat.s32 %r0, %r1, %r2", "r1=80000000 r2=ffffffff", "r0=80000000"},
		{"add.u16x2 %r0, %r1, %r2", "r1=ffff0001 r2=10001", "r0=2"},
		{"add.s16x2 %r0, %r1, %r2", "r1=0001ffff r2=10002", "r0=20001"},
		{"sub.u16 %h0, %h1, %h2", "h1=0 h2=1", "h0=ffff"},
		{"sub.s32 %r0, %r1, %r2", "r1=0 r2=1", "r0=ffffffff"},
		{"sub.s64 %d0, %d1, %d2", "d1=0 d2=1", "d0=ffffffffffffffff"},
		{"sub.sat.s32 %r0, %r1, %r2", "r1=80000000 r2=1", "r0=80000000"},
		{"mul.lo.u16 %h0, %h1, %h2", "h1=ffff h2=ffff", "h0=1"},
		{"mul.hi.u16 %h0, %h1, %h2", "h1=ffff h2=ffff", "h0=fffe"},
		{"mul.hi.s16 %h0, %h1, %h2", "h1=8000 h2=2", "h0=ffff"},
		{"mul.wide.u16 %r0, %h1, %h2", "h1=ffff h2=ffff", "r0=fffe0001"},
		{"mul.wide.s16 %r0, %h1, %h2", "h1=ffff h2=2", "r0=fffffffe"},
		{"mul.lo.s32 %r0, %r1, %r2", "r1=10001 r2=10001", "r0=20001"},
		{"mul.hi.u32 %r0, %r1, %r2", "r1=ffffffff r2=ffffffff", "r0=fffffffe"},
		{"mul.hi.s32 %r0, %r1, %r2", "r1=ffffffff r2=2", "r0=ffffffff"},
		{"mul.wide.u32 %d0, %r1, %r2", "r1=ffffffff r2=ffffffff", "d0=fffffffe00000001"},
		{"mul.wide.s32 %d0, %r1, 4", "r1=ffffffff", "d0=fffffffffffffffc"},
		{"mul.lo.s64 %d0, %d1, %d2", "d1=ffffffffffffffff d2=5", "d0=fffffffffffffffb"},
		{"mul.hi.u64 %d0, %d1, %d2", "d1=ffffffffffffffff d2=ffffffffffffffff", "d0=fffffffffffffffe"},
		{"mul.hi.s64 %d0, %d1, %d2", "d1=ffffffffffffffff d2=ffffffffffffffff", "d0=0"},
		{"mad.lo.s32 %r0, %r1, %r2, %r3", "r1=3 r2=fffffffe r3=7", "r0=1"},
		{"mad.lo.u16 %h0, %h1, %h2, %h3", "h1=100 h2=100 h3=7", "h0=7"},
		{"mad.lo.u64 %d0, %d1, %d2, %d3", "d1=100000000 d2=100000000 d3=9", "d0=9"},
		{"mad.hi.u32 %r0, %r1, %r2, %r3", "r1=80000000 r2=4 r3=5", "r0=7"},
		{"mad.hi.s32 %r0, %r1, %r2, %r3", "r1=80000000 r2=4 r3=5", "r0=3"},
		{"mad.hi.sat.s32 %r0, %r1, %r2, %r3", "r1=7fffffff r2=7fffffff r3=7fffffff", "r0=7fffffff"},
		{"mad.hi.u16 %h0, %h1, %h2, %h3", "h1=8000 h2=4 h3=5", "h0=7"},
		{"mad.hi.s16 %h0, %h1, %h2, %h3", "h1=8000 h2=4 h3=5", "h0=3"},
		{"mad.hi.s64 %d0, %d1, %d2, %d3", "d1=8000000000000000 d2=4 d3=5", "d0=3"},
		{"mad.wide.u16 %r0, %h1, %h2, %r3", "h1=ffff h2=ffff r3=10", "r0=fffe0011"},
		{"mad.wide.s16 %r0, %h1, %h2, %r3", "h1=ffff h2=2 r3=3", "r0=1"},
		{"mad.wide.u32 %d0, %r1, %r2, %d3", "r1=ffffffff r2=2 d3=1", "d0=1ffffffff"},
		{"mad.wide.s32 %d0, %r1, %r2, %d3", "r1=ffffffff r2=2 d3=1", "d0=ffffffffffffffff"},
		{"mul24.lo.u32 %r0, %r1, %r2", "r1=ffffff r2=ffffff", "r0=fe000001"},
		{"mul24.hi.u32 %r0, %r1, %r2", "r1=ffffff r2=ffffff", "r0=fffffe00"},
		{"mul24.lo.s32 %r0, %r1, %r2", "r1=ffffffff r2=3", "r0=fffffffd"},
		{"mad24.lo.s32 %r0, %r1, %r2, %r3", "r1=ffffffff r2=3 r3=4", "r0=1"},
		{"mad24.hi.u32 %r0, %r1, %r2, %r3", "r1=800000 r2=2 r3=1", "r0=101"},
		{"mad24.hi.sat.s32 %r0, %r1, %r2, %r3", "r1=7fffff r2=7fffff r3=7fffffff", "r0=7fffffff"},
		{"sad.u16 %h0, %h1, %h2, %h3", "h1=1 h2=ffff h3=3", "h0=1"},
		{"sad.s16 %h0, %h1, %h2, %h3", "h1=1 h2=ffff h3=3", "h0=5"},
		{"sad.u32 %r0, %r1, %r2, %r3", "r1=5 r2=9 r3=100", "r0=104"},
		{"sad.s32 %r0, %r1, %r2, %r3", "r1=ffffffff r2=2 r3=100", "r0=103"},
		{"sad.s64 %d0, %d1, %d2, %d3", "d1=ffffffffffffffff d2=2 d3=100", "d0=103"},
		{"div.u32 %r0, %r1, %r2", "r1=64 r2=7", "r0=e"},
		{"div.s32 %r0, %r1, %r2", "r1=ffffff9c r2=7", "r0=fffffff2"},
		{"div.s16 %h0, %h1, %h2", "h1=ff9c h2=7", "h0=fff2"},
		{"div.u16 %h0, %h1, %h2", "h1=ff9c h2=7", "h0=2484"},
		{"div.s64 %d0, %d1, %d2", "d1=ffffffffffffff9c d2=7", "d0=fffffffffffffff2"},
		{"div.u64 %d0, %d1, %d2", "d1=ffffffffffffff9c d2=10", "d0=ffffffffffffff9"},
		{"rem.s32 %r0, %r1, %r2", "r1=ffffff9c r2=7", "r0=fffffffe"},
		{"rem.u32 %r0, %r1, %r2", "r1=64 r2=7", "r0=2"},
		{"rem.s16 %h0, %h1, %h2", "h1=ff9c h2=7", "h0=fffe"},
		{"rem.s64 %d0, %d1, %d2", "d1=ffffffffffffff9c d2=7", "d0=fffffffffffffffe"},
		{"rem.u64 %d0, %d1, %d2", "d1=64 d2=7", "d0=2"},
		{"abs.s32 %r0, %r1", "r1=80000000", "r0=80000000"},
		{"abs.s16 %h0, %h1", "h1=fffb", "h0=5"},
		{"abs.s64 %d0, %d1", "d1=fffffffffffffffb", "d0=5"},
		{"neg.s16 %h0, %h1", "h1=1", "h0=ffff"},
		{"neg.s32 %r0, %r1", "r1=1", "r0=ffffffff"},
		{"neg.s64 %d0, %d1", "d1=1", "d0=ffffffffffffffff"},
		{"min.u32 %r0, %r1, %r2", "r1=ffffffff r2=1", "r0=1"},
		{"min.s32 %r0, %r1, %r2", "r1=ffffffff r2=1", "r0=ffffffff"},
		{"max.s32 %r0, %r1, %r2", "r1=ffffffff r2=1", "r0=1"},
		{"max.u64 %d0, %d1, %d2", "d1=ffffffffffffffff d2=1", "d0=ffffffffffffffff"},
		{"min.s64 %d0, %d1, %d2", "d1=ffffffffffffffff d2=1", "d0=ffffffffffffffff"},
		{"max.s64 %d0, %d1, %d2", "d1=ffffffffffffffff d2=1", "d0=1"},
		{"min.s16 %h0, %h1, %h2", "h1=ffff h2=1", "h0=ffff"},
		{"max.u16 %h0, %h1, %h2", "h1=ffff h2=1", "h0=ffff"},
		{"min.u16x2 %r0, %r1, %r2", "r1=ffff0001 r2=0001ffff", "r0=10001"},
		{"max.s16x2 %r0, %r1, %r2", "r1=ffff0001 r2=0001ffff", "r0=10001"},
		{"min.relu.s16x2 %r0, %r1, %r2", "r1=ffff0005 r2=00010007", "r0=5"},
		{"min.relu.s32 %r0, %r1, %r2", "r1=ffffffff r2=5", "r0=0"},
		{"max.relu.s32 %r0, %r1, %r2", "r1=ffffffff r2=fffffff5", "r0=0"},
		{"popc.b32 %r0, %r1", "r1=f0f0", "r0=8"},
		{"popc.b64 %r0, %d1", "d1=ffffffffffffffff", "r0=40"},
		{"clz.b32 %r0, %r1", "r1=0", "r0=20"},
		{"clz.b64 %r0, %d1", "d1=1", "r0=3f"},
		{"brev.b32 %r0, %r1", "r1=1", "r0=80000000"},
		{"brev.b64 %d0, %d1", "d1=3", "d0=c000000000000000"},
		{"bfind.u32 %r0, %r1", "r1=80000000", "r0=1f"},
		{"bfind.s32 %r0, %r1", "r1=ffffffff", "r0=ffffffff"},
		{"bfind.s32 %r0, %r1", "r1=fffffffe", "r0=0"},
		{"bfind.shiftamt.u32 %r0, %r1", "r1=1", "r0=1f"},
		{"bfind.u64 %r0, %d1", "d1=100000000", "r0=20"},
		{"bfind.shiftamt.s64 %r0, %d1", "d1=0", "r0=ffffffff"},
		{"bfe.u32 %r0, %r1, 8, 8", "r1=12345678", "r0=56"},
		{"bfe.s32 %r0, %r1, 28, 8", "r1=90000000", "r0=fffffff9"},
		{"bfe.s32 %r0, %r1, 4, 4", "r1=80", "r0=fffffff8"},
		{"bfe.u64 %d0, %d1, 60, 20", "d1=a000000000000000", "d0=a"},
		{"bfe.s64 %d0, %d1, 60, 2", "d1=a000000000000000", "d0=fffffffffffffffe"},
		{"bfi.b32 %r0, %r1, %r2, 8, 4", "r1=ff r2=12345678", "r0=12345f78"},
		{"bfi.b64 %d0, %d1, %d2, 60, 20", "d1=ff d2=1", "d0=f000000000000001"},
		{"fns.b32 %r0, %r1, 0, 2", "r1=b0", "r0=5"},
		{"fns.b32 %r0, %r1, %r2, %r3", "r1=b0 r2=6 r3=ffffffff", "r0=5"},
		{"szext.clamp.s32 %r0, %r1, 8", "r1=180", "r0=ffffff80"},
		{"szext.wrap.u32 %r0, %r1, 36", "r1=ff", "r0=f"},
		{"bmsk.clamp.b32 %r0, %r1, %r2", "r1=4 r2=8", "r0=ff0"},
		{"bmsk.wrap.b32 %r0, %r1, %r2", "r1=24 r2=21", "r0=10"},
		{"dp4a.u32.u32 %r0, %r1, %r2, %r3", "r1=01020304 r2=01010101 r3=5", "r0=f"},
		{"dp4a.s32.u32 %r0, %r1, %r2, %r3", "r1=ff r2=ff r3=0", "r0=ffffff01"},
		{"dp2a.lo.s32.s32 %r0, %r1, %r2, %r3", "r1=fffe0003 r2=00000502 r3=1", "r0=fffffffd"},
		{"dp2a.hi.u32.u32 %r0, %r1, %r2, %r3", "r1=00020003 r2=05020000 r3=1", "r0=11"},
	})
}

func TestExtendedPrecision(t *testing.T) {
	checkAll(t, []caseOf{
		{"add.cc.u32 %r0, %r1, %r2; addc.u32 %r3, %r4, %r5", "r1=ffffffff r2=1 r4=1 r5=1", "r0=0 r3=3"},
		{"add.cc.u32 %r1, %r1, %r1; addc.cc.u32 %r2, %r2, %r2; addc.u32 %r0, 0, 0", "r1=80000000 r2=ffffffff", "r1=0 r2=ffffffff r0=1"},
		{"sub.cc.s32 %r0, %r1, %r2; subc.s32 %r3, %r4, %r5", "r1=0 r2=1 r4=5 r5=2", "r0=ffffffff r3=2"},
		{"sub.cc.u64 %d0, %d1, %d2; subc.cc.u64 %d3, %d4, %d5; subc.u32 %r0, 0, 0", "d1=0 d2=1 d4=0 d5=0", "d0=ffffffffffffffff d3=ffffffffffffffff r0=ffffffff"},
		{"add.cc.u64 %d0, %d1, %d2; addc.u64 %d3, %d4, %d5", "d1=ffffffffffffffff d2=1 d4=1 d5=1", "d0=0 d3=3"},
		{"mad.lo.cc.u32 %r0, %r1, %r2, %r3; madc.hi.u32 %r4, %r1, %r2, %r5", "r1=ffffffff r2=ffffffff r3=ffffffff r5=0", "r0=0 r4=ffffffff"},
		{"mad.hi.cc.s32 %r0, %r1, %r2, %r3; addc.u32 %r4, 0, 0", "r1=ffffffff r2=2 r3=1", "r0=0 r4=1"},
		{"mad.lo.cc.u64 %d0, %d1, %d2, %d3; madc.hi.cc.u64 %d4, %d1, %d2, %d5", "d1=ffffffffffffffff d2=ffffffffffffffff d3=1 d5=0", "d0=2 d4=fffffffffffffffe"},
		// An instruction without .cc leaves the flag alone.
		{"add.cc.u32 %r0, %r1, %r1; add.u32 %r2, %r3, %r3; addc.u32 %r4, %r4, 0", "r1=80000000 r3=1 r4=7", "r0=0 r2=2 r4=8"},
	})
}

func TestLogicInstructions(t *testing.T) {
	checkAll(t, []caseOf{
		{"and.b16 %h0, %h1, %h2", "h1=ff0f h2=f0ff", "h0=f00f"},
		{"and.b32 %r0, %r1, 0xff", "r1=1234", "r0=34"},
		{"and.b64 %d0, %d1, %d2", "d1=ffffffff00000000 d2=ff00000000f", "d0=ff000000000"},
		{"or.b32 %r0, %r1, %r2", "r1=f0 r2=f", "r0=ff"},
		{"or.b64 %d0, %d1, %d2", "d1=f000000000000000 d2=f", "d0=f00000000000000f"},
		{"xor.b32 %r0, %r1, -1", "r1=0", "r0=ffffffff"},
		{"xor.b16 %h0, %h1, -1", "h1=0", "h0=ffff"},
		{"not.b16 %h0, %h1", "h1=0", "h0=ffff"},
		{"not.b32 %r0, %r1", "r1=f", "r0=fffffff0"},
		{"not.b64 %d0, %d1", "d1=f", "d0=fffffffffffffff0"},
		{"cnot.b16 %h0, %h1", "h1=0", "h0=1"},
		{"cnot.b32 %r0, %r1", "r1=80000000", "r0=0"},
		{"cnot.b64 %d0, %d1", "d1=0", "d0=1"},
		{"and.pred %p0, %p1, %p2", "p1=1 p2=0", "p0=0"},
		{"or.pred %p0, %p1, %p2", "p1=1 p2=0", "p0=1"},
		{"xor.pred %p0, %p1, %p2", "p1=1 p2=1", "p0=0"},
		{"not.pred %p0, %p1", "p1=0", "p0=1"},
		{"mov.pred %p0, %p1", "p1=1", "p0=1"},
		{"mov.pred %p0, 1", "", "p0=1"},
		{"lop3.b32 %r0, %r1, %r2, %r3, 0x96", "r1=f0 r2=cc r3=aa", "r0=96"},
		{"lop3.b32 %r0, %r1, %r2, %r3, 0x1a", "r1=f0 r2=cc r3=aa", "r0=1a"},
		{"lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x80, %p1", "r1=f0 r2=0 r3=aa p1=0", "r0=0 p0=0"},
		{"lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0xc0, %p1", "r1=f0 r2=30 r3=aa p1=0", "r0=30 p0=1"},
		{"lop3.and.b32 _|%p0, %r1, %r2, %r3, 0xfe, %p1", "r1=1 r2=0 r3=0 p1=1", "p0=1"},
		{"lop3.and.b32 _|%p0, %r1, %r2, %r3, 0xfe, !%p1", "r1=1 r2=0 r3=0 p1=1", "p0=0"},
		{"shf.l.wrap.b32 %r0, %r1, %r2, 40", "r1=12345678 r2=9abcdef0", "r0=bcdef012"},
		{"shf.r.wrap.b32 %r0, %r1, %r2, 8", "r1=12345678 r2=9abcdef0", "r0=f0123456"},
		{"shf.l.clamp.b32 %r0, %r1, %r2, 40", "r1=12345678 r2=9abcdef0", "r0=12345678"},
		{"shf.r.clamp.b32 %r0, %r1, %r2, 40", "r1=12345678 r2=9abcdef0", "r0=9abcdef0"},
		{"shf.l.wrap.b32 %r0, %r1, %r2, 0", "r1=12345678 r2=9abcdef0", "r0=9abcdef0"},
		{"shl.b32 %r0, %r1, 31", "r1=3", "r0=80000000"},
		{"shl.b32 %r0, %r1, 32", "r1=3", "r0=0"},
		{"shl.b32 %r0, %r1, %r2", "r1=3 r2=ffffffff", "r0=0"},
		{"shl.b16 %h0, %h1, 15", "h1=3", "h0=8000"},
		{"shl.b64 %d0, %d1, 63", "d1=3", "d0=8000000000000000"},
		{"shl.b64 %d0, %d1, %r2", "d1=3 r2=40", "d0=0"},
		{"shr.u32 %r0, %r1, 4", "r1=80000000", "r0=8000000"},
		{"shr.s32 %r0, %r1, 4", "r1=80000000", "r0=f8000000"},
		{"shr.s32 %r0, %r1, %r2", "r1=80000000 r2=64", "r0=ffffffff"},
		{"shr.u32 %r0, %r1, %r2", "r1=80000000 r2=20", "r0=0"},
		{"shr.b32 %r0, %r1, 1", "r1=80000000", "r0=40000000"},
		{"shr.s16 %h0, %h1, 3", "h1=8000", "h0=f000"},
		{"shr.u16 %h0, %h1, 3", "h1=8000", "h0=1000"},
		{"shr.s64 %d0, %d1, 60", "d1=8000000000000000", "d0=fffffffffffffff8"},
		{"shr.u64 %d0, %d1, 60", "d1=8000000000000000", "d0=8"},
		{"shr.s64 %d0, %d1, %r2", "d1=8000000000000000 r2=ff", "d0=ffffffffffffffff"},
		{"prmt.b32 %r0, %r1, %r2, 0x7531", "r1=44332211 r2=88776655", "r0=88664422"},
		{"prmt.b32 %r0, %r1, %r2, 0xc0f8", "r1=44332280 r2=88776655", "r0=0080ffff"},
		{"prmt.b32.f4e %r0, %r1, %r2, 1", "r1=44332211 r2=88776655", "r0=55443322"},
		{"prmt.b32.b4e %r0, %r1, %r2, 1", "r1=44332211 r2=88776655", "r0=77881122"},
		{"prmt.b32.rc8 %r0, %r1, %r2, 2", "r1=44332211 r2=88776655", "r0=33333333"},
		{"prmt.b32.ecl %r0, %r1, %r2, 1", "r1=44332211 r2=88776655", "r0=44332222"},
		{"prmt.b32.ecr %r0, %r1, %r2, 1", "r1=44332211 r2=88776655", "r0=22222211"},
		{"prmt.b32.rc16 %r0, %r1, %r2, 1", "r1=44332211 r2=88776655", "r0=44334433"},
	})
}

func TestMoves(t *testing.T) {
	checkAll(t, []caseOf{
		{"mov.u32 %r0, %r1", "r1=deadbeef", "r0=deadbeef"},
		{"mov.b16 %h0, %h1", "h1=beef", "h0=beef"},
		{"mov.f32 %f0, 0f3F800000", "", "f0=3f800000"},
		{"mov.f32 %f0, 0.5", "", "f0=3f000000"},
		{"mov.f64 %g0, 0.5", "", "g0=3fe0000000000000"},
		{"mov.s64 %d0, -2", "", "d0=fffffffffffffffe"},
		{"mov.b64 %d0, {%r1, %r2}", "r1=11111111 r2=22222222", "d0=2222222211111111"},
		{"mov.b64 %d0, {%r1, 7}", "r1=11111111", "d0=711111111"},
		{"mov.b64 {%r0, %r1}, %d2", "d2=2222222211111111", "r0=11111111 r1=22222222"},
		{"mov.b64 {_, %r1}, %d2", "d2=2222222211111111", "r1=22222222"},
		{"mov.b64 {%h0, %h1, %h2, %h3}, %d2", "d2=4444333322221111", "h0=1111 h1=2222 h2=3333 h3=4444"},
		{"mov.b64 %d0, {%h0, %h1, %h2, %h3}", "h0=1111 h1=2222 h2=3333 h3=4444", "d0=4444333322221111"},
		{"mov.b32 %r0, {%h0, %h1}", "h0=1111 h1=2222", "r0=22221111"},
		{"mov.b32 {%h0, %h1}, %r0", "r0=22221111", "h0=1111 h1=2222"},
		{"mov.b32 {%b0, %b1, %b2, %b3}, %r0", "r0=44332211", "b0=11 b1=22 b2=33 b3=44"},
		{"mov.b32 %r0, {%b0, %b1, %b2, %b3}", "b0=11 b1=22 b2=33 b3=44", "r0=44332211"},
		{"mov.b16 %h0, {%b0, %b1}", "b0=11 b1=22", "h0=2211"},
		{"mov.b16 {%b0, %b1}, %h0", "h0=2211", "b0=11 b1=22"},
		{"mov.b128 %q0, {%d0, %d1}", "d0=1 d1=2", "q0=1 q1=2"},
		{"mov.b128 {%d0, %d1}, %q0", "q0=1 q1=2", "d0=1 d1=2"},
		{"mov.b128 {%r0, %r1, %r2, %r3}, %q0", "q0=200000001 q1=400000003", "r0=1 r1=2 r2=3 r3=4"},
		{"mov.b128 %q0, {%r0, %r1, %r2, %r3}", "r0=1 r1=2 r2=3 r3=4", "q0=200000001 q1=400000003"},
		{"mov.u32 %r0, table; mov.u32 %r1, table[3]; sub.u32 %r2, %r1, %r0", "", "r2=c"},
		{"mov.u64 %d0, table; mov.u64 %d1, table+8; sub.u64 %d2, %d1, %d0", "", "d2=8"},
		{"mov.b128 %q1, %q0", "q0=5 q1=6", "q2=5 q3=6"},
	})
}

func TestConversions(t *testing.T) {
	checkAll(t, []caseOf{
		{"cvt.u64.u32 %d0, %r1", "r1=ffffffff", "d0=ffffffff"},
		{"cvt.s64.s32 %d0, %r1", "r1=ffffffff", "d0=ffffffffffffffff"},
		{"cvt.u32.u64 %r0, %d1", "d1=123456789abcdef0", "r0=9abcdef0"},
		{"cvt.u16.u64 %h0, %d1", "d1=123456789abcdef0", "h0=def0"},
		{"cvt.u32.u16 %r0, %h1", "h1=ffff", "r0=ffff"},
		{"cvt.s32.s16 %r0, %h1", "h1=ffff", "r0=ffffffff"},
		{"cvt.s32.s8 %r0, %r1", "r1=12ff", "r0=ffffffff"},
		{"cvt.u32.u8 %r0, %r1", "r1=12ff", "r0=ff"},
		{"cvt.u32.u16 %r0, %r1", "r1=12345678", "r0=5678"},
		{"cvt.u32.u8 %r0, %d1", "d1=1234", "r0=34"},
		{"cvt.s16.s32 %h0, %r1", "r1=ffff8001", "h0=8001"},
		// The destination register is wider than the type: extended by it.
		{"cvt.s8.s32 %r0, %r1", "r1=80", "r0=ffffff80"},
		{"cvt.u8.s32 %r0, %r1", "r1=180", "r0=80"},
		{"cvt.s16.u32 %r0, %r1", "r1=8000", "r0=ffff8000"},
		{"cvt.s8.s32 %h0, %r1", "r1=80", "h0=ff80"},
		{"cvt.s32.s16 %d0, %h1", "h1=8000", "d0=ffffffffffff8000"},
		{"cvt.sat.s8.s32 %r0, %r1", "r1=1000", "r0=7f"},
		{"cvt.sat.u8.s32 %r0, %r1", "r1=ffffffff", "r0=0"},
		{"cvt.sat.u32.s64 %r0, %d1", "d1=100000000", "r0=ffffffff"},
		{"cvt.rn.f32.s32 %f0, %r1", "r1=ffffffff", "f0=bf800000"},
		{"cvt.rn.f32.u32 %f0, %r1", "r1=ffffffff", "f0=4f800000"},
		{"cvt.rz.f32.u32 %f0, %r1", "r1=ffffffff", "f0=4f7fffff"},
		{"cvt.rn.f64.u64 %g0, %d1", "d1=ffffffffffffffff", "g0=43f0000000000000"},
		{"cvt.rn.f16.s32 %h0, %r1", "r1=2", "h0=4000"},
		{"cvt.rzi.s32.f32 %r0, %f1", "f1=c0200000", "r0=fffffffe"},
		{"cvt.rni.s32.f32 %r0, %f1", "f1=40200000", "r0=2"},
		{"cvt.rpi.u32.f32 %r0, %f1", "f1=40200000", "r0=3"},
		{"cvt.rzi.u32.f32 %r0, %f1", "f1=bf800000", "r0=0"},
		{"cvt.rzi.s32.f32 %r0, %f1", "f1=7fc00000", "r0=0"},
		{"cvt.rzi.s64.f32 %d0, %f1", "f1=7fc00000", "d0=8000000000000000"},
		{"cvt.rzi.u16.f32 %h0, %f1", "f1=47800000", "h0=ffff"},
		{"cvt.rzi.s8.f32 %r0, %f1", "f1=c0000000", "r0=fffffffe"},
		{"cvt.rzi.u8.f32 %r0, %f1", "f1=43c80000", "r0=ff"},
		{"cvt.rn.f16.f32 %h0, 0f3F800000", "", "h0=3c00"},
		{"cvt.rn.bf16.f16 %h0, %h1", "h1=3c00", "h0=3f80"},
		{"cvt.rni.bf16.bf16 %h0, %h1", "h1=4020", "h0=4000"},
		{"cvt.f64.f32 %g0, %f1", "f1=3fc00000", "g0=3ff8000000000000"},
		{"cvt.rn.f32.f64 %f0, %g1", "g1=3ff0000010000000", "f0=3f800000"},
		{"cvt.rp.f32.f64 %f0, %g1", "g1=3ff0000010000000", "f0=3f800001"},
		{"cvt.f32.f16 %f0, %h1", "h1=3c00", "f0=3f800000"},
		{"cvt.rn.f16.f32 %h0, %f1", "f1=477fe000", "h0=7bff"},
		{"cvt.rn.bf16.f32 %h0, %f1", "f1=3f808000", "h0=3f80"},
		{"cvt.f32.bf16 %f0, %h1", "h1=3f80", "f0=3f800000"},
		{"cvt.rn.relu.f16.f32 %h0, %f1", "f1=bf800000", "h0=0"},
		{"cvt.rn.satfinite.f16.f32 %h0, %f1", "f1=7f000000", "h0=7bff"},
		{"cvt.rni.f32.f32 %f0, %f1", "f1=40200000", "f0=40000000"},
		{"cvt.ftz.f32.f32 %f0, %f1", "f1=80000001", "f0=80000000"},
		{"cvt.sat.f32.f32 %f0, %f1", "f1=40000000", "f0=3f800000"},
		{"cvt.rn.f16x2.f32 %r0, %f1, %f2", "f1=3f800000 f2=40000000", "r0=3c004000"},
		{"cvt.rz.bf16x2.f32 %r0, %f1, %f2", "f1=3f80ffff f2=40000000", "r0=3f804000"},
		{"cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2", "f1=3f800000 f2=43e00000", "h0=387e"},
		{"cvt.rn.satfinite.e5m2x2.f32 %h0, %f1, %f2", "f1=3f800000 f2=c0000000", "h0=3cc0"},
		{"cvt.rn.satfinite.relu.e5m2x2.f32 %h0, %f1, %f2", "f1=3f800000 f2=c0000000", "h0=3c00"},
		{"cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1", "r1=3c004000", "h0=3840"},
		{"cvt.rn.f16x2.e4m3x2 %r0, %h1", "h1=3840", "r0=3c004000"},
		{"cvt.rn.f16x2.e5m2x2 %r0, %h1", "h1=3cc0", "r0=3c00c000"},
		{"cvt.rna.tf32.f32 %r0, %f1", "f1=3f801000", "r0=3f802000"},
		{"cvt.rz.tf32.f32 %r0, %f1", "f1=3f801fff", "r0=3f800000"},
		{"cvt.pack.sat.s16.s32 %r0, %r1, %r2", "r1=10000 r2=ffff0000", "r0=7fff8000"},
		{"cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3", "r1=1ff r2=ffffffff r3=abcd", "r0=abcdff00"},
		{"cvt.pack.sat.s4.s32.b32 %r0, %r1, %r2, %r3", "r1=ff r2=ffffff00 r3=1", "r0=178"},
	})
}

func TestPredicates(t *testing.T) {
	nan := "7fc00000"
	checkAll(t, []caseOf{
		{"setp.lt.s32 %p0, %r1, %r2", "r1=ffffffff r2=1", "p0=1"},
		{"setp.lt.u32 %p0, %r1, %r2", "r1=ffffffff r2=1", "p0=0"},
		{"setp.hs.u32 %p0, %r1, %r2", "r1=ffffffff r2=1", "p0=1"},
		{"setp.le.s32 %p0, %r1, %r2", "r1=1 r2=1", "p0=1"},
		{"setp.gt.s32 %p0, %r1, %r2", "r1=7fffffff r2=80000000", "p0=1"},
		{"setp.ge.s32 %p0, %r1, %r2", "r1=80000000 r2=7fffffff", "p0=0"},
		{"setp.eq.b32 %p0, %r1, %r2", "r1=5 r2=5", "p0=1"},
		{"setp.ne.s64 %p0, %d1, %d2", "d1=100000000 d2=0", "p0=1"},
		{"setp.lt.s64 %p0, %d1, %d2", "d1=ffffffffffffffff d2=0", "p0=1"},
		{"setp.lt.u64 %p0, %d1, %d2", "d1=ffffffffffffffff d2=0", "p0=0"},
		{"setp.gt.u64 %p0, %d1, 5", "d1=6", "p0=1"},
		{"setp.lt.s16 %p0, %h1, %h2", "h1=ffff h2=1", "p0=1"},
		{"setp.lo.u16 %p0, %h1, %h2", "h1=ffff h2=1", "p0=0"},
		{"setp.eq.u32 %p0|%p1, %r1, %r2", "r1=5 r2=5", "p0=1 p1=0"},
		{"setp.eq.u32 _|%p1, %r1, %r2", "r1=5 r2=6", "p1=1"},
		{"setp.lt.and.s32 %p0|%p1, %r1, %r2, %p2", "r1=1 r2=2 p2=0", "p0=0 p1=0"},
		{"setp.lt.or.s32 %p0|%p1, %r1, %r2, !%p2", "r1=2 r2=2 p2=0", "p0=1 p1=1"},
		{"setp.lt.xor.s32 %p0|%p1, %r1, %r2, %p2", "r1=1 r2=2 p2=1", "p0=0 p1=1"},
		{"setp.lt.and.s32 %p0|%p1, %r1, %r2, %p0", "r1=1 r2=2 p0=1", "p0=1 p1=0"},
		{"setp.lt.f32 %p0, %f1, %f2", "f1=80000000 f2=0", "p0=0"},
		{"setp.eq.f32 %p0, %f1, %f2", "f1=80000000 f2=0", "p0=1"},
		{"setp.ne.f32 %p0, %f1, %f2", "f2=0 f1=" + nan, "p0=0"},
		{"setp.neu.f32 %p0, %f1, %f2", "f2=0 f1=" + nan, "p0=1"},
		{"setp.equ.f32 %p0, %f1, %f2", "f2=0 f1=" + nan, "p0=1"},
		{"setp.ltu.f32 %p0, %f1, %f2", "f2=0 f1=" + nan, "p0=1"},
		{"setp.leu.f32 %p0, %f1, %f2", "f1=40000000 f2=3f800000", "p0=0"},
		{"setp.gtu.f32 %p0, %f1, %f2", "f1=40000000 f2=3f800000", "p0=1"},
		{"setp.geu.f32 %p0, %f1, %f2", "f2=0 f1=" + nan, "p0=1"},
		{"setp.ge.f32 %p0, %f1, %f2", "f2=0 f1=" + nan, "p0=0"},
		{"setp.num.f32 %p0, %f1, %f2", "f2=0 f1=" + nan, "p0=0"},
		{"setp.nan.f32 %p0, %f1, %f2", "f2=0 f1=" + nan, "p0=1"},
		{"setp.eq.ftz.f32 %p0, %f1, %f2", "f1=1 f2=80000000", "p0=1"},
		{"setp.gt.f64 %p0, %g1, %g2", "g1=3ff0000000000000 g2=0", "p0=1"},
		{"setp.lt.f16 %p0, %h1, %h2", "h1=3c00 h2=4000", "p0=1"},
		{"setp.gt.bf16 %p0, %h1, %h2", "h1=4000 h2=3f80", "p0=1"},
		{"setp.lt.f16x2 %p0|%p1, %r1, %r2", "r1=40003c00 r2=40004000", "p0=1 p1=0"},
		{"setp.le.and.bf16x2 %p0|%p1, %r1, %r2, %p2", "r1=40003f80 r2=40004000 p2=1", "p0=1 p1=1"},
		{"set.lt.u32.s32 %r0, %r1, %r2", "r1=ffffffff r2=0", "r0=ffffffff"},
		{"set.lt.f32.s32 %f0, %r1, %r2", "r1=ffffffff r2=0", "f0=3f800000"},
		{"set.lt.and.u32.f32 %r0, %f1, %f2, %p0", "f1=0 f2=3f800000 p0=0", "r0=0"},
		{"set.eq.u16.f16 %h0, %h1, %h2", "h1=0 h2=8000", "h0=ffff"},
		{"set.eq.f16.f16 %h0, %h1, %h2", "h1=0 h2=8000", "h0=3c00"},
		{"set.lt.f16x2.f16x2 %r0, %r1, %r2", "r1=40003c00 r2=40004000", "r0=3c00"},
		{"set.lt.u32.f16x2 %r0, %r1, %r2", "r1=3c004000 r2=40004000", "r0=ffff0000"},
		{"set.gt.bf16x2.bf16x2 %r0, %r1, %r2", "r1=40003f80 r2=3f804000", "r0=3f800000"},
		{"selp.b32 %r0, %r1, %r2, %p0", "r1=1 r2=2 p0=1", "r0=1"},
		{"selp.b32 %r0, %r1, %r2, %p0", "r1=1 r2=2 p0=0", "r0=2"},
		{"selp.f64 %g0, %g1, %g2, %p0", "g1=1 g2=2 p0=0", "g0=2"},
		{"selp.u16 %h0, 7, %h2, %p0", "h2=2 p0=1", "h0=7"},
		{"slct.u32.s32 %r0, %r1, %r2, %r3", "r1=1 r2=2 r3=ffffffff", "r0=2"},
		{"slct.u64.f32 %d0, %d1, %d2, %f3", "d1=1 d2=2 f3=80000000", "d0=1"},
		{"slct.ftz.u64.f32 %d0, %d1, %d2, %f3", "d1=1 d2=2 f3=80000001", "d0=1"},
		{"slct.b16.f32 %h0, %h1, %h2, %f3", "h1=1 h2=2 f3=" + nan, "h0=2"},
		{"testp.finite.f32 %p0, %f1", "f1=7f800000", "p0=0"},
		{"testp.infinite.f32 %p0, %f1", "f1=ff800000", "p0=1"},
		{"testp.notanumber.f64 %p0, %g1", "g1=7ff0000000000001", "p0=1"},
		{"testp.subnormal.f32 %p0, %f1", "f1=1", "p0=1"},
		{"testp.normal.f32 %p0, %f1", "f1=0", "p0=1"},
	})
}

func TestFloatInstructions(t *testing.T) {
	checkAll(t, []caseOf{
		{"add.f32 %f0, %f1, %f2", "f1=3f800000 f2=33800000", "f0=3f800000"},
		{"add.rp.f32 %f0, %f1, %f2", "f1=3f800000 f2=33800000", "f0=3f800001"},
		{"add.f32 %f0, %f1, %f2", "f1=7f800000 f2=ff800000", "f0=7fffffff"},
		{"add.f32 %f0, %f1, %f2", "f1=ffc12345 f2=3f800000", "f0=7fffffff"},
		{"add.ftz.f32 %f0, %f1, %f2", "f1=1 f2=2", "f0=0"},
		{"add.f32 %f0, %f1, %f2", "f1=1 f2=2", "f0=3"},
		{"add.sat.f32 %f0, %f1, %f2", "f1=3f800000 f2=3f800000", "f0=3f800000"},
		{"sub.f32 %f0, %f1, %f2", "f1=3f800000 f2=3f800000", "f0=0"},
		{"sub.rm.f32 %f0, %f1, %f2", "f1=3f800000 f2=3f800000", "f0=80000000"},
		{"mul.f32 %f0, %f1, %f2", "f1=3f800001 f2=3f800001", "f0=3f800002"},
		{"mul.rp.ftz.sat.f32 %f0, %f1, %f2", "f1=bf800000 f2=3f800000", "f0=0"},
		{"fma.rn.f32 %f0, %f1, %f2, %f3", "f1=3f800001 f2=3f800001 f3=bf800002", "f0=28800000"},
		{"fma.rz.f32 %f0, %f1, %f2, %f3", "f1=3f800000 f2=3f800000 f3=33ffffff", "f0=3f800000"},
		{"mad.rn.f32 %f0, %f1, %f2, %f3", "f1=40000000 f2=40400000 f3=3f800000", "f0=40e00000"},
		{"mad.rn.ftz.f32 %f0, %f1, %f2, %f3", "f1=40000000 f2=40400000 f3=1", "f0=40c00000"},
		{"add.f64 %g0, %g1, %g2", "g1=3ff0000000000000 g2=3ff0000000000000", "g0=4000000000000000"},
		{"sub.rn.f64 %g0, %g1, %g2", "g1=3ff0000000000000 g2=3ff0000000000000", "g0=0"},
		{"mul.rp.f64 %g0, %g1, %g2", "g1=3ff0000000000001 g2=3ff0000000000001", "g0=3ff0000000000003"},
		{"fma.rn.f64 %g0, %g1, %g2, %g3", "g1=3ff0000000000001 g2=3ff0000000000001 g3=bff0000000000002", "g0=3970000000000000"},
		{"div.rn.f32 %f0, %f1, %f2", "f1=3f800000 f2=40400000", "f0=3eaaaaab"},
		{"div.rz.f32 %f0, %f1, %f2", "f1=3f800000 f2=40400000", "f0=3eaaaaaa"},
		{"div.rn.f64 %g0, %g1, %g2", "g1=3ff0000000000000 g2=4008000000000000", "g0=3fd5555555555555"},
		{"div.approx.f32 %f0, %f1, %f2", "f1=40c00000 f2=40000000", "f0=40400000"},
		{"div.full.ftz.f32 %f0, %f1, %f2", "f1=40c00000 f2=40000000", "f0=40400000"},
		{"rcp.rn.f32 %f0, %f1", "f1=40400000", "f0=3eaaaaab"},
		{"rcp.approx.ftz.f32 %f0, %f1", "f1=40000000", "f0=3f000000"},
		{"rcp.rn.f64 %g0, %g1", "g1=4000000000000000", "g0=3fe0000000000000"},
		{"rcp.approx.ftz.f64 %g0, %g1", "g1=4000000000000000", "g0=3fe0000000000000"},
		{"sqrt.rn.f32 %f0, %f1", "f1=40000000", "f0=3fb504f3"},
		{"sqrt.rp.f64 %g0, %g1", "g1=4000000000000000", "g0=3ff6a09e667f3bcd"},
		{"sqrt.approx.f32 %f0, %f1", "f1=40800000", "f0=40000000"},
		{"rsqrt.approx.f32 %f0, %f1", "f1=40800000", "f0=3f000000"},
		{"rsqrt.approx.f64 %g0, %g1", "g1=4010000000000000", "g0=3fe0000000000000"},
		{"rsqrt.approx.ftz.f64 %g0, %g1", "g1=4010000000000000", "g0=3fe0000000000000"},
		{"ex2.approx.ftz.f32 %f0, %f1", "f1=40400000", "f0=41000000"},
		{"lg2.approx.f32 %f0, %f1", "f1=41000000", "f0=40400000"},
		{"sin.approx.f32 %f0, %f1", "f1=0", "f0=0"},
		{"cos.approx.f32 %f0, %f1", "f1=0", "f0=3f800000"},
		{"tanh.approx.f32 %f0, %f1", "f1=0", "f0=0"},
		{"abs.f32 %f0, %f1", "f1=bf800000", "f0=3f800000"},
		{"abs.ftz.f32 %f0, %f1", "f1=80000001", "f0=0"},
		{"neg.f32 %f0, %f1", "f1=3f800000", "f0=bf800000"},
		{"neg.f64 %g0, %g1", "g1=0", "g0=8000000000000000"},
		{"abs.f64 %g0, %g1", "g1=bff0000000000000", "g0=3ff0000000000000"},
		{"min.f32 %f0, %f1, %f2", "f1=0 f2=80000000", "f0=80000000"},
		{"max.f32 %f0, %f1, %f2", "f1=80000000 f2=0", "f0=0"},
		{"max.f32 %f0, %f1, %f2", "f1=7fc00000 f2=bf800000", "f0=bf800000"},
		{"max.NaN.f32 %f0, %f1, %f2", "f1=7fc00000 f2=bf800000", "f0=7fffffff"},
		{"min.xorsign.abs.f32 %f0, %f1, %f2", "f1=bf800000 f2=40000000", "f0=bf800000"},
		{"min.ftz.NaN.xorsign.abs.f32 %f0, %f1, %f2", "f1=bf800000 f2=c0000000", "f0=3f800000"},
		{"min.f64 %g0, %g1, %g2", "g1=3ff0000000000000 g2=bff0000000000000", "g0=bff0000000000000"},
		{"copysign.f32 %f0, %f1, %f2", "f1=80000000 f2=3f800000", "f0=bf800000"},
		{"copysign.f64 %g0, %g1, %g2", "g1=8000000000000000 g2=3ff0000000000000", "g0=bff0000000000000"},
	})
}

func TestHalfInstructions(t *testing.T) {
	checkAll(t, []caseOf{
		{"add.f16 %h0, %h1, %h2", "h1=3c00 h2=3c00", "h0=4000"},
		{"add.rn.sat.f16 %h0, %h1, %h2", "h1=3c00 h2=3c00", "h0=3c00"},
		{"add.ftz.f16x2 %r0, %r1, %r2", "r1=3c000001 r2=3c000001", "r0=40000000"},
		{"add.f16x2 %r0, %r1, %r2", "r1=3c000001 r2=3c000001", "r0=40000002"},
		{"add.bf16 %h0, %h1, %h2", "h1=3f80 h2=3f80", "h0=4000"},
		{"add.rn.bf16x2 %r0, %r1, %r2", "r1=3f803f80 r2=3f80bf80", "r0=40000000"},
		{"sub.f16 %h0, %h1, %h2", "h1=3c00 h2=4000", "h0=bc00"},
		{"mul.f16 %h0, %h1, %h2", "h1=7bff h2=4000", "h0=7c00"},
		{"mul.bf16x2 %r0, %r1, %r2", "r1=40003f80 r2=40004000", "r0=40804000"},
		{"fma.rn.f16 %h0, %h1, %h2, %h3", "h1=3c01 h2=3c01 h3=bc02", "h0=10"},
		{"fma.rn.relu.f16x2 %r0, %r1, %r2, %r3", "r1=3c003c00 r2=3c00bc00 r3=0", "r0=3c000000"},
		{"fma.rn.bf16 %h0, %h1, %h2, %h3", "h1=3f80 h2=4000 h3=3f80", "h0=4040"},
		{"fma.rn.relu.bf16x2 %r0, %r1, %r2, %r3", "r1=3f80bf80 r2=3f803f80 r3=0", "r0=3f800000"},
		{"neg.f16 %h0, %h1", "h1=3c00", "h0=bc00"},
		{"neg.bf16x2 %r0, %r1", "r1=3f80bf80", "r0=bf803f80"},
		{"abs.f16x2 %r0, %r1", "r1=bc00c000", "r0=3c004000"},
		{"abs.bf16 %h0, %h1", "h1=bf80", "h0=3f80"},
		{"min.f16 %h0, %h1, %h2", "h1=3c00 h2=bc00", "h0=bc00"},
		{"max.NaN.f16x2 %r0, %r1, %r2", "r1=7e003c00 r2=3c004000", "r0=7fff4000"},
		{"max.bf16x2 %r0, %r1, %r2", "r1=7fc03f80 r2=3f804000", "r0=3f804000"},
		{"min.xorsign.abs.bf16 %h0, %h1, %h2", "h1=bf80 h2=4000", "h0=bf80"},
		{"ex2.approx.f16 %h0, %h1", "h1=4000", "h0=4400"},
		{"ex2.approx.f16x2 %r0, %r1", "r1=40003c00", "r0=44004000"},
		{"ex2.approx.ftz.bf16 %h0, %h1", "h1=4000", "h0=4080"},
		{"ex2.approx.ftz.bf16x2 %r0, %r1", "r1=40003f80", "r0=40804000"},
		{"tanh.approx.f16 %h0, %h1", "h1=0", "h0=0"},
		{"tanh.approx.bf16x2 %r0, %r1", "r1=00007f80", "r0=3f80"},
	})
}

func TestVideoInstructions(t *testing.T) {
	checkAll(t, []caseOf{
		{"vadd.s32.u32.s32.sat %r0, %r1.b0, %r2.h0", "r1=ff r2=ffff", "r0=fe"},
		{"vsub.s32.s32.u32.sat %r0, %r1.h1, %r2.h1", "r1=80000000 r2=00010000", "r0=ffff7fff"},
		{"vabsdiff.s32.s32.s32.sat %r0.h0, %r1.b0, %r2.b2, %r3", "r1=80 r2=7f0000 r3=12345678", "r0=123400ff"},
		{"vmin.s32.s32.s32.sat.add %r0, %r1, %r2, %r3", "r1=5 r2=ffffffff r3=10", "r0=f"},
		{"vmax.u32.u32.u32 %r0, %r1, %r2", "r1=5 r2=ffffffff", "r0=ffffffff"},
		{"vshl.s32.u32.u32.clamp %r0, %r1, %r2", "r1=1 r2=1f", "r0=80000000"},
		{"vshr.u32.u32.u32.wrap %r0, %r1, %r2.h1", "r1=100 r2=240000", "r0=10"},
		{"vmad.s32.s32.u32.sat %r0, %r1, %r2, -%r3", "r1=5 r2=6 r3=7", "r0=17"},
		{"vmad.u32.u32.u32.shr15 %r0, %r1.h0, %r2.h0, %r3", "r1=8000 r2=8000 r3=0", "r0=8000"},
		{"vmad.u32.u32.u32.po %r0, %r1, %r2, %r3", "r1=2 r2=3 r3=4", "r0=b"},
		{"vset.s32.u32.lt %r0, %r1, %r2", "r1=ffffffff r2=0", "r0=1"},
		{"vset.u32.u32.ne.add %r0, %r1, %r2.h1, %r3", "r1=5 r2=40000 r3=9", "r0=a"},
		{"vadd2.s32.s32.u32.sat %r0, %r1, %r2, %r3", "r1=7fff0001 r2=00010002 r3=0", "r0=7fff0003"},
		{"vsub2.s32.s32.s32.sat %r0.h0, %r1.h10, %r2.h32, %r3", "r1=00050005 r2=00010002 r3=aaaabbbb", "r0=aaaa0003"},
		{"vmin2.s32.u32.u32.add %r0, %r1.h00, %r2.h22, %r3", "r1=7 r2=3 r3=1", "r0=7"},
		{"vavrg4.u32.u32.u32 %r0, %r1, %r2, %r3", "r1=01020304 r2=03040506 r3=0", "r0=02030405"},
		{"vset4.u32.u32.ne.add %r0, %r1, %r2, %r3", "r1=01020304 r2=01020305 r3=10", "r0=11"},
		{"vabsdiff4.u32.u32.u32.add %r0.b210, %r1, %r2, %r3", "r1=10000003 r2=00000001 r3=5", "r0=7"},
		{"vmax4.u32.u32.u32 %r0.b3, %r1.b0000, %r2.b7654, %r3", "r1=9 r2=01010101 r3=11223344", "r0=09223344"},
	})
}

// A guard restricts an instruction, and one register may be both source and
// destination.
func TestGuardsAndAliases(t *testing.T) {
	checkAll(t, []caseOf{
		{"@%p0 add.s32 %r0, %r0, %r0", "p0=1 r0=5", "r0=a"},
		{"@!%p0 add.s32 %r0, %r0, %r0", "p0=1 r0=5", "r0=5"},
		{"@%p0 setp.eq.s32 %p0, %r1, 6", "p0=1 r1=5", "p0=0"},
		{"mad.lo.s32 %r0, %r0, %r0, %r0", "r0=5", "r0=1e"},
		{"mov.b32 {%h0, %h1}, %r0; mov.b32 %r0, {%h1, %h0}", "r0=12345678", "r0=56781234"},
		{"mov.b128 {%d1, %d0}, %q0; mov.b128 %q0, {%d1, %d0}", "q0=1 q1=2", "q0=1 q1=2"},
		{"lop3.or.b32 %r1|%p1, %r1, %r1, %r1, 0xff, %p1", "r1=0 p1=0", "r1=ffffffff p1=1"},
	})
}

// TestOldModules: what modules of old versions and for old architectures leave out.
func TestOldModules(t *testing.T) {
	const (
		x    = "f1=3f800001 f2=3f7fffff f3=bf800000" // its product rounds to one, and x·y-1 is not zero
		tiny = "f1=00400000 f2=3f800000 f3=00000001"
	)
	for _, c := range []struct{ version, target, code, set, want string }{
		{"3.0", "sm_20", "mad.f32 %f0, %f1, %f2, %f3", x, "f0=337ffffe"},
		{"3.1", "sm_30", "mad.ftz.f32 %f0, %f1, %f2, %f3", tiny, "f0=0"},
		{"3.1", "sm_30", "mad.f32 %f0, %f1, %f2, %f3", tiny, "f0=400001"},
		{"2.3", "sm_20", "mad.sat.f32 %f0, %f1, %f2, %f3", "f1=40000000 f2=40000000 f3=0", "f0=3f800000"},
		{"1.4", "sm_13", "mad.f32 %f0, %f1, %f2, %f3", x, "f0=337ffffe"},
		{"1.4", "sm_13", "mad.f32 %f0, %f1, %f2, %f3", tiny, "f0=0"},
		{"1.4", "sm_13", "add.f32 %f0, %f1, %f3", tiny, "f0=0"},
		{"2.0", "sm_20", "add.f32 %f0, %f1, %f3", tiny, "f0=400001"},
		{"1.4", "sm_10", "setp.gt.f32 %p0, %f1, %f4", tiny, "p0=0"},
		{"2.0", "sm_20", "setp.gt.f32 %p0, %f1, %f4", tiny, "p0=1"},
		{"1.4", "sm_13", "cvt.f64.f32 %g0, %f1", tiny, "g0=3800000000000000"},
		{"1.5", "sm_13", "cvt.f64.f32 %g0, %f1", tiny, "g0=0"},
		{"1.4", "sm_13", "cvt.rni.f32.f32 %f0, %f1", tiny, "f0=0"},
		{"1.4", "sm_13", "mul.f64 %g0, %g1, %g2", "g1=0008000000000000 g2=3ff0000000000000", "g0=8000000000000"},
	} {
		s := newSnippetOf(t, c.version, c.target, c.code+";")
		for _, a := range assigns(t, c.set) {
			s.set(a.name, 0, a.v)
		}
		if name := s.run(1); name != "" {
			t.Errorf("%s %s: %s is not modelled", c.version, c.target, name)
			continue
		}
		for _, a := range assigns(t, c.want) {
			if got := s.get(a.name, 0); got != a.v {
				t.Errorf("%s %s: %s: %s is %x, want %x", c.version, c.target, c.code, a.name, got, a.v)
			}
		}
	}
	for _, c := range []struct{ version, target, code, err string }{
		{"3.2", "sm_20", "mad.f32 %f0, %f1, %f2, %f3", "mad.f32: from PTX ISA .version 3.2 on a rounding modifier is required; this module has 3.2"},
		{"9.0", "sm_90a", "mad.f32 %f0, %f1, %f2, %f3", "mad.f32: from PTX ISA .version 3.2 on"},
		{"6.4", "sm_70", "vote.any.pred %p1, %p0", "vote.any.pred: from PTX ISA .version 6.4 on, sm_70 and later have vote.sync in its place"},
	} {
		m, err := ptx.Parse("old.ptx", []byte(".version "+c.version+"\n.target "+c.target+"\n.address_size 64\n.visible .entry k()\n{"+strings.ReplaceAll(snippetRegs, ".b128", ".b64")+c.code+";\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if list := ptx.CheckTarget(m); len(list) != 1 || !strings.Contains(list[0].Msg, c.err) {
			t.Errorf("%s %s: %s: %v, want %s", c.version, c.target, c.code, list, c.err)
		}
	}
}

func TestSpecialRegisters(t *testing.T) {
	// The warp is number 3 of a block of 8×4×4 in CTA (5,2,1) of a grid of
	// 6×4×2 in clusters of 2×2×1: see newSnippet.
	lane := func(f func(l uint64) uint64) func(uint64) uint64 { return f }
	all := func(v uint64) func(uint64) uint64 { return func(uint64) uint64 { return v } }
	for _, c := range []struct {
		name string
		want func(lane uint64) uint64
	}{
		{"%tid.x", lane(func(l uint64) uint64 { return l % 8 })},
		{"%tid.y", lane(func(l uint64) uint64 { return l / 8 })},
		{"%tid.z", all(3)},
		{"%ntid.x", all(8)}, {"%ntid.y", all(4)}, {"%ntid.z", all(4)},
		{"%ctaid.x", all(5)}, {"%ctaid.y", all(2)}, {"%ctaid.z", all(1)},
		{"%nctaid.x", all(6)}, {"%nctaid.y", all(4)}, {"%nctaid.z", all(2)},
		{"%clusterid.x", all(2)}, {"%clusterid.y", all(1)}, {"%nclusterid.x", all(3)},
		{"%cluster_ctaid.x", all(1)}, {"%cluster_ctaid.y", all(0)}, {"%cluster_nctaid.x", all(2)},
		{"%cluster_ctarank", all(1)}, {"%cluster_nctarank", all(4)},
		{"%laneid", lane(func(l uint64) uint64 { return l })},
		{"%warpid", all(3)}, {"%nwarpid", all(64)}, {"%smid", all(8)}, {"%nsmid", all(132)},
		{"%lanemask_eq", lane(func(l uint64) uint64 { return 1 << l })},
		{"%lanemask_lt", lane(func(l uint64) uint64 { return 1<<l - 1 })},
		{"%lanemask_le", lane(func(l uint64) uint64 { return 1<<(l+1) - 1 })},
		{"%lanemask_gt", lane(func(l uint64) uint64 { return (1<<32 - 1) &^ (1<<(l+1) - 1) })},
		{"%lanemask_ge", lane(func(l uint64) uint64 { return (1<<32 - 1) &^ (1<<l - 1) })},
		{"%dynamic_smem_size", all(300)},
		{"%envreg31", all(0)}, {"%pm7", all(0)}, {"%gridid", all(1)},
	} {
		for _, code := range []string{
			fmt.Sprintf("mov.u32 %%r0, %s;", c.name),
			fmt.Sprintf("add.u32 %%r0, %s, 0;", c.name),
			fmt.Sprintf("cvt.u64.u32 %%d0, %s; cvt.u32.u64 %%r0, %%d0;", c.name),
		} {
			s := newSnippet(t, code)
			if name := s.run(allLanes); name != "" {
				t.Fatalf("%s: %s not modelled", code, name)
			}
			for l := range 32 {
				if got, want := s.get("r0", l), c.want(uint64(l)); got != want {
					t.Errorf("%s: lane %d has %x, want %x", code, l, got, want)
					break
				}
			}
		}
	}
	check(t, "mov.pred %p0, %is_explicit_cluster;", "", "p0=1")
	check(t, "mov.v4.u32 {%r0, %r1, %r2, %r3}, %ctaid;", "r3=9", "r0=5 r1=2 r2=1 r3=0")
	check(t, "mov.v4.b32 {%r0, _, %r2, _}, %ntid;", "r1=7 r3=9", "r0=8 r1=7 r2=4 r3=9")
	check(t, "mov.v4.u32 {%r0, %r1, %r2, _}, %clusterid;", "", "r0=2 r1=1 r2=1")
	check(t, "mov.v4.u32 {%r0, %r1, %r2, _}, %nclusterid;", "", "r0=3 r1=2 r2=2")
	check(t, "mov.v4.u32 {%r0, %r1, %r2, _}, %cluster_ctaid;", "", "r0=1 r1=0 r2=0")
	check(t, "mov.v4.u32 {%r0, %r1, %r2, _}, %cluster_nctaid;", "", "r0=2 r1=2 r2=1")
	check(t, "mov.v4.u32 {%r0, %r1, %r2, %r3}, {%r1, %r0, %r0, 4};", "r0=1 r1=2", "r0=2 r1=1 r2=1 r3=4")
	check(t, "{ .reg .v4 .f32 %v; mov.v4.f32 %v, {%f0, %f1, %f2, %f3}; mov.v4.f32 {%f3, %f2, %f1, %f0}, %v; }", "f0=1 f1=2 f2=3 f3=4", "f0=4 f1=3 f2=2 f3=1")
	tid := newSnippet(t, "mov.v4.u32 {%r0, %r1, %r2, %r3}, %tid;")
	tid.run(allLanes)
	for l := range 32 {
		if x, y, z, w := tid.get("r0", l), tid.get("r1", l), tid.get("r2", l), tid.get("r3", l); x != uint64(l%8) || y != uint64(l/8) || z != 3 || w != 0 {
			t.Errorf("mov.v4 of %%tid: lane %d has %d, %d, %d, %d", l, x, y, z, w)
		}
	}
	check(t, "mov.u64 %d0, %gridid;", "", "d0=1")
	s := newSnippet(t, "mov.u64 %d0, %clock64; mov.u64 %d1, %clock64; mov.u32 %r0, %clock_hi;")
	s.run(allLanes)
	if a, b := s.get("d0", 0), s.get("d1", 0); b <= a {
		t.Errorf("clock read %d and then %d", a, b)
	}
}

// TestRefusedInstructions: a malformed instruction is an error with a position; one
// that is only unknown is reported by the run that reaches it.
func TestRefusedInstructions(t *testing.T) {
	for _, code := range []string{
		"add.s32 %r0, %r1;",
		"add.s32 %d0, %r1, %r2;",
		"add.s32 5, %r1, %r2;",
		"setp.eq.s32 %r0, %r1, %r2;",
		"selp.b32 %r0, %r1, %r2, %r3;",
		"lop3.b32 %r0, %r1, %r2, %r3, %r4;",
		"lop3.or.b32 %r0, %r1, %r2, %r3, 0x80, %p1;",
		"mov.b64 %d0, {%r0, %r1, %r2};",
		"mov.b128 %q0, %d0;",
		"cvt.u64.u32 %r0, %r1;",
		"vadd4.u32.u32.u32 %r0.b8, %r1, %r2, %r3;",
		"vadd2.u32.u32.u32 %r0, %r1.h01, %r2.b3210, %r3;",
		"mov.u32 %r0, %nosuch;",
		"mov.v4.u32 {%r0, %r1}, %tid;",
		"mov.v4.u32 {%r0, %r1, %r2, %r3}, %laneid;",
		"mov.v4.u32 {%r0, %r1, %r2, %r3}, %tid.x;",
		"mov.v4.u32 %r0, %tid;",
		"mov.v4.f32 {%f0, %f1, %f2, %f3}, %tid;",
		"add.sat.u32 %r0, %r1, %r2;",                 // of PTX 9.2
		"cvt.rn.satfinite.e2m1x2.f32 %b0, %f1, %f2;", // of sm_100a
	} {
		if _, err := decodeSnippet(code); err == nil {
			t.Errorf("%s: no error", code)
		} else if !strings.Contains(err.Error(), ":") {
			t.Errorf("%s: error %q has no position", code, err)
		}
	}
	for _, code := range []string{
		"add.rna.f32 %f0, %f1, %f2;",
		"fma.f32 %f0, %f1, %f2, %f3;",
		"fma.rn.oob.f32 %f0, %f1, %f2, %f3;",
		"cvt.s32.f32 %r0, %f1;",
		"cvt.rn.s32.f32 %r0, %f1;",
		"cvt.f32.s32 %f0, %r1;",
		"setp.lo.s32 %p0, %r1, %r2;",
		"setp.lt.b32 %p0, %r1, %r2;",
		"setp.num.s32 %p0, %r1, %r2;",
		"mul.s32 %r0, %r1, %r2;",
	} {
		if name := newSnippet(t, code).run(allLanes); name == "" {
			t.Errorf("%s: ran", code)
		}
	}
}
