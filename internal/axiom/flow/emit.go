package flow

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/axiom"
)

// A Launch is the launch of a program's kernel, in the notation of launch.Flags.
type Launch struct {
	Grid, Block, Cluster string
	Buffers, Args        []string
}

func (l *Launch) String() string {
	s := fmt.Sprintf("--grid %s --block %s", l.Grid, l.Block)
	if l.Cluster != "1" {
		s += " --cluster " + l.Cluster
	}
	for _, b := range l.Buffers {
		s += " --buffer " + b
	}
	for _, a := range l.Args {
		s += " --arg " + a
	}
	return s
}

func (p *Program) warps() int {
	n := 1
	for _, w := range p.Warps {
		n = max(n, w.Index+1)
	}
	return n
}

// Launch returns the program's launch. Buffer m has the words of global memory.
func (p *Program) Launch() Launch {
	return Launch{
		Grid: fmt.Sprint(p.CTAs), Block: fmt.Sprint(32 * p.warps()), Cluster: fmt.Sprint(max(p.Cluster, 1)),
		Buffers: []string{p.buffer()}, Args: []string{"m"},
	}
}

func (p *Program) buffer() string {
	if len(p.Init) == 0 {
		return fmt.Sprintf("m=u32[%d]:zeros", max(p.Words, 1))
	}
	var words []string
	for at := range p.Words {
		words = append(words, fmt.Sprint(p.start(at)))
	}
	return `m={"type": "u32", "values": [` + strings.Join(words, ", ") + `]}`
}

type emitter struct {
	strings.Builder
	p      *Program
	first  int // lane of the role
	labels int
}

func (e *emitter) put(format string, args ...any) {
	fmt.Fprintf(e, format, args...)
	e.WriteByte('\n')
}

func (e *emitter) label() string {
	e.labels++
	return fmt.Sprintf("L%d", e.labels)
}

// PTX returns the kernel. Threads begin with zero registers, and the shared memory of
// their CTA is zeroed before a barrier.
func (p *Program) PTX() string {
	e := &emitter{p: p}
	e.put(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 m)\n{")
	if p.Shared > 0 {
		e.put("\t.shared .align 16 .b8 sm[%d];", 4*p.Shared)
	}
	e.put("\t.reg .pred %%p;\n\t.reg .b32 %%v<%d>;\n\t.reg .b32 %%t<5>;\n\t.reg .b32 %%lane;\n\t.reg .b32 %%cta;\n\t.reg .b32 %%at;\n\t.reg .b64 %%m;\n\t.reg .b64 %%a;\n\t.reg .b64 %%w<5>;", MaxRegs)
	e.put("\tld.param.u64 %%m, [m];")
	for r := range MaxRegs {
		if p.uses(r) {
			e.put("\tmov.u32 %%v%d, 0;", r)
		}
	}
	e.zero()
	e.put("\tmov.u32 %%t0, %%tid.x;\n\tand.b32 %%lane, %%t0, 31;\n\tshr.u32 %%t0, %%t0, 5;\n\tmov.u32 %%cta, %%ctaid.x;")
	if p.Alike {
		e.put("\tmov.u32 %%at, %%t0;")
	} else {
		e.put("\tmad.lo.u32 %%at, %%cta, %d, %%t0;", p.warps())
	}
	for i, w := range p.Warps {
		if p.Alike && w.CTA > 0 {
			continue
		}
		e.put("\tsetp.eq.u32 %%p, %%at, %d;\n\t@%%p bra W%d;", w.CTA*p.warps()+w.Index, i)
	}
	e.put("\texit;")
	for i := range p.Warps {
		if p.Alike && p.Warps[i].CTA > 0 {
			continue
		}
		e.put("W%d:", i)
		e.warp(&p.Warps[i])
	}
	e.put("}")
	return e.String()
}

func (p *Program) uses(r int) bool {
	found := false
	p.walk(func(in *Instr) {
		found = found || slices.Contains(in.Dst, r) || in.At.Reg == r+1 || in.Want.Reg == r+1
		for _, v := range in.Src {
			found = found || v.Reg == r+1
		}
	})
	return found
}

// walk calls f with every instruction.
func (p *Program) walk(f func(*Instr)) {
	var code func([]Instr)
	code = func(list []Instr) {
		for i := range list {
			f(&list[i])
			code(list[i].Body)
			code(list[i].Else)
		}
	}
	for w := range p.Warps {
		for s := range p.Warps[w].Steps {
			for r := range p.Warps[w].Steps[s].Roles {
				code(p.Warps[w].Steps[s].Roles[r].Code)
			}
		}
	}
}

func (e *emitter) zero() {
	if e.p.Shared == 0 {
		return
	}
	skip := e.label()
	e.put("\tmov.u32 %%t0, %%tid.x;\n\tsetp.ge.u32 %%p, %%t0, %d;\n\t@%%p bra %s;", e.p.Shared, skip)
	e.put("\tmov.u32 %%t1, sm;\n\tmad.lo.u32 %%t1, %%t0, 4, %%t1;\n\tmov.u32 %%t0, 0;\n\tst.shared.u32 [%%t1], %%t0;\n%s:\n\tbar.sync 0;", skip)
}

func (e *emitter) warp(w *Warp) {
	for _, s := range w.Steps {
		switch s.Kind {
		case Barrier:
			e.put("\tbar.sync 0;")
		case WarpSync:
			e.put("\tbar.warp.sync 0xffffffff;")
		case Segment:
			join := e.label()
			for i := range s.Roles {
				r := &s.Roles[i]
				next := e.label()
				e.first = r.First
				if r.First > 0 {
					e.put("\tsetp.lt.u32 %%p, %%lane, %d;\n\t@%%p bra %s;", r.First, next)
				}
				if r.First+r.Lanes < 32 {
					e.put("\tsetp.ge.u32 %%p, %%lane, %d;\n\t@%%p bra %s;", r.First+r.Lanes, next)
				}
				e.code(r.Code)
				if i+1 < len(s.Roles) {
					e.put("\tbra %s;", join)
				}
				e.put("%s:", next)
			}
			e.put("%s:", join)
		}
	}
	e.put("\texit;")
}

func (e *emitter) code(list []Instr) {
	for i := range list {
		e.instr(&list[i])
	}
}

// value returns an operand's text, computed into register tmp if necessary.
func (e *emitter) value(v Value, tmp string) string {
	text := fmt.Sprint(v.Const)
	own := v.Lane > 0 || v.CTA > 0
	if !own && v.Reg == 0 {
		return text
	}
	if !own && v.Const == 0 {
		return fmt.Sprintf("%%v%d", v.Reg-1)
	}
	if own {
		switch {
		case v.Lane > 0:
			e.put("\tsub.u32 %s, %%lane, %d;\n\tmad.lo.u32 %s, %s, %d, %d;", tmp, e.first, tmp, tmp, v.Lane, v.Const)
			if v.CTA > 0 {
				e.put("\tmad.lo.u32 %s, %%cta, %d, %s;", tmp, v.CTA, tmp)
			}
		default:
			e.put("\tmad.lo.u32 %s, %%cta, %d, %d;", tmp, v.CTA, v.Const)
		}
		if v.Reg > 0 {
			e.put("\tadd.u32 %s, %s, %%v%d;", tmp, tmp, v.Reg-1)
		}
		return tmp
	}
	e.put("\tadd.u32 %s, %%v%d, %d;", tmp, v.Reg-1, v.Const)
	return tmp
}

var opNames = [...]string{Add: "add", Sub: "sub", Mul: "mul.lo", And: "and", Or: "or", Xor: "xor", Min: "min", Max: "max", Inc: "inc", FAdd: "add", Exch: "exch", Cas: "cas"}
var cmpNames = [...]string{Eq: "eq", Ne: "ne", Lt: "lt", Ge: "ge"}

// typed returns an operation with its type suffix.
func typed(o Op, bits int) string {
	t := "u"
	if o == FAdd {
		t = "f"
	}
	if o == And || o == Or || o == Xor || o == Exch || o == Cas {
		t = "b"
	}
	return fmt.Sprintf("%s.%s%d", opNames[o], t, bits)
}

func (e *emitter) instr(in *Instr) {
	switch in.Kind {
	case Move:
		a, b := e.value(in.Src[0], "%t1"), e.value(in.Src[1], "%t2")
		if !strings.HasPrefix(a, "%") {
			e.put("\tmov.u32 %%t1, %s;", a)
			a = "%t1"
		}
		if in.Op >= IsEq && in.Op <= IsNotLower {
			name := map[Op]string{IsEq: "eq.u32", IsNe: "ne.u32", IsLess: "lt.s32", IsNotLess: "ge.s32", IsLower: "lt.u32", IsNotLower: "ge.u32"}[in.Op]
			e.put("\tsetp.%s %%p, %s, %s;\n\tselp.u32 %%v%d, 1, 0, %%p;", name, a, b, in.Dst[0])
			return
		}
		e.put("\t%s %%v%d, %s, %s;", typed(in.Op, 32), in.Dst[0], a, b)
	case Fence:
		e.put("\tfence%s;", sem(in.Sem, in.Scope))
	case If:
		over := e.label()
		e.branch(in.Cmp.not(), in.Src[0], in.Src[1], over)
		e.code(in.Body)
		if len(in.Else) > 0 {
			end := e.label()
			e.put("\tbra %s;\n%s:", end, over)
			e.code(in.Else)
			over = end
		}
		e.put("%s:", over)
	case Loop:
		again := e.label()
		e.put("%s:", again)
		e.code(in.Body)
		e.branch(in.Cmp, in.Src[0], in.Src[1], again)
	case Poll:
		e.poll(in)
	case Trap:
		e.put("\ttrap;")
	default:
		e.access(in, in.Kind)
	}
}

func (e *emitter) branch(c Cmp, a, b Value, to string) {
	x, y := e.value(a, "%t1"), e.value(b, "%t2")
	if !strings.HasPrefix(x, "%") {
		e.put("\tmov.u32 %%t1, %s;", x)
		x = "%t1"
	}
	e.put("\tsetp.%s.u32 %%p, %s, %s;\n\t@%%p bra %s;", cmpNames[c], x, y, to)
}

func (e *emitter) poll(in *Instr) {
	again := e.label()
	if in.Tries == 0 {
		e.put("%s:", again)
		e.access(in, in.By)
		e.branch(in.Cmp.not(), R(in.Dst[0]), in.Want, again)
		return
	}
	out := e.label()
	e.put("\tmov.u32 %%t0, 0;\n%s:", again)
	e.access(in, in.By)
	e.branch(in.Cmp, R(in.Dst[0]), in.Want, out)
	e.put("\tadd.u32 %%t0, %%t0, 1;\n\tsetp.lt.u32 %%p, %%t0, %d;\n\t@%%p bra %s;", in.Tries, again)
	if in.Traps {
		e.put("\ttrap;")
	}
	e.put("%s:", out)
}

var semNames = map[axiom.Sem]string{axiom.Relaxed: ".relaxed", axiom.Acquire: ".acquire", axiom.Release: ".release", axiom.AcqRel: ".acq_rel", axiom.SC: ".sc"}
var scopeNames = map[axiom.Scope]string{axiom.CTA: ".cta", axiom.Cluster: ".cluster", axiom.GPU: ".gpu", axiom.Sys: ".sys"}

func sem(s axiom.Sem, scope axiom.Scope) string {
	switch s {
	case axiom.Weak:
		return ""
	case axiom.Volatile:
		return ".volatile"
	}
	return semNames[s] + scopeNames[scope]
}

func (e *emitter) address(in *Instr) string {
	if in.At.Reg == 0 && in.At.Lane == 0 && in.At.CTA == 0 {
		if in.Shared {
			return fmt.Sprintf("[sm+%d]", 4*in.At.Const)
		}
		return fmt.Sprintf("[%%m+%d]", 4*in.At.Const)
	}
	at := e.value(in.At, "%at")
	if in.Shared {
		e.put("\tmov.u32 %%t1, sm;\n\tmad.lo.u32 %%at, %s, 4, %%t1;", at)
		return "[%at]"
	}
	e.put("\tmul.wide.u32 %%a, %s, 4;\n\tadd.s64 %%a, %%a, %%m;", at)
	return "[%a]"
}

func (e *emitter) access(in *Instr, kind Kind) {
	addr := e.address(in)
	space, bits := ".global", 32
	if in.Shared {
		space = ".shared"
	}
	if in.Wide {
		bits = 64
	}
	vec := ""
	if in.elements() > 1 {
		vec = fmt.Sprintf(".v%d", in.elements())
	}
	// Values and results: registers of 32 bits, or pairs packed into one of 64.
	pack := func(regs []string) []string {
		if !in.Wide {
			return regs
		}
		var out []string
		for k := 0; k+1 < len(regs); k += 2 {
			w := fmt.Sprintf("%%w%d", k/2)
			e.put("\tmov.b64 %s, {%s, %s};", w, regs[k], regs[k+1])
			out = append(out, w)
		}
		return out
	}
	var src []string
	for k, v := range in.Src {
		tmp := fmt.Sprintf("%%t%d", 1+k)
		s := e.value(v, tmp)
		if !strings.HasPrefix(s, "%") && (!e.p.Literal || in.Wide || in.Op == FAdd) {
			e.put("\tmov.u32 %s, %s;", tmp, s)
			s = tmp
		}
		src = append(src, s)
	}
	src = pack(src)
	var dst []string
	for k, d := range in.Dst {
		switch {
		case !in.Wide:
			dst = append(dst, fmt.Sprintf("%%v%d", d))
		case k%2 == 0:
			dst = append(dst, fmt.Sprintf("%%w%d", k/2))
		}
	}
	group := func(list []string) string {
		if vec == "" {
			return list[0]
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	how := sem(in.Sem, in.Scope) + space
	switch kind {
	case Load:
		e.put("\tld%s%s.u%d %s, %s;", how, vec, bits, group(dst), addr)
	case Store:
		e.put("\tst%s%s.u%d %s, %s;", how, vec, bits, addr, group(src))
	case Atom:
		e.put("\tatom%s.%s %s, %s, %s;", how, typed(in.Op, bits), dst[0], addr, strings.Join(src, ", "))
	case Red:
		e.put("\tred%s.%s %s, %s;", how, typed(in.Op, bits), addr, strings.Join(src, ", "))
	}
	if in.Wide && kind != Store && kind != Red {
		for k := 0; k+1 < len(in.Dst); k += 2 {
			e.put("\tmov.b64 {%%v%d, %%v%d}, %s;", in.Dst[k], in.Dst[k+1], dst[k/2])
		}
	}
}
