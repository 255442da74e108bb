package lanes

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// A Launch is the launch of a program's kernel, in the notation of launch.Flags.
type Launch struct {
	Grid, Block, Cluster string
	Buffers, Args        []string
}

// Launch returns the program's launch. Buffer data has the areas in global memory,
// buffer out each thread's registers.
func (p *Program) Launch() Launch {
	threads := 32 * p.perCTA()
	if p.Idle == Narrow {
		threads = p.Lanes
	}
	if p.Idle == Apart {
		threads *= p.Lanes
	}
	cluster := 1
	if p.Cluster {
		cluster = p.CTAs
	}
	var data []string
	for _, a := range p.Areas {
		for range Words {
			data = append(data, fmt.Sprint(a.Init))
		}
	}
	if len(data) == 0 {
		data = []string{"0"}
	}
	return Launch{
		Grid: fmt.Sprint(p.CTAs), Block: fmt.Sprint(threads), Cluster: fmt.Sprint(cluster), Args: []string{"data", "out"},
		Buffers: []string{`data={"type": "u32", "values": [` + strings.Join(data, ", ") + `]}`, fmt.Sprintf("out=u32[%d]:zeros", Words*Regs)},
	}
}

type emitter struct {
	strings.Builder
	p      *Program
	labels int
	parts  int // joins of some lanes, where each lane is a warp by itself
}

func (e *emitter) line(format string, args ...any) { fmt.Fprintf(e, "\t"+format+"\n", args...) }

func (e *emitter) label() string {
	e.labels++
	return fmt.Sprint("L", e.labels)
}

// PTX writes the program as a kernel. %r5 is the lane, %r6 the warp among all warps,
// %r7 the thread's own word.
func (p *Program) PTX() string {
	e := &emitter{p: p}
	e.WriteString(`.version 8.6
.target sm_90a
.address_size 64

`)
	if p.copies() {
		e.source()
	}
	e.WriteString(`
.visible .entry kernel(.param .u64 data, .param .u64 out)
{
	.shared .align 128 .b8 words[256];
	.shared .align 8 .b64 bars[2];
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .b32 %v<2>;
	.reg .b64 %t<2>;
	.reg .b64 %rd<8>;
	.reg .b64 %token<2>;
	ld.param.u64 %rd1, [data];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, words;
	mov.u32 %r3, bars;
	mov.u32 %r4, %ctaid.x;
`)
	e.prologue()
	starts := e.dispatch()
	for w, ops := range p.Warps {
		if starts[w] != w {
			continue
		}
		fmt.Fprintf(e, "W%d:\n", w)
		if p.Turns > 1 {
			e.line("mov.u32 %%r14, 0;")
			fmt.Fprintf(e, "TURN%d:\n", w)
		}
		labels := map[int]string{}
		for i, o := range ops {
			if l := labels[i]; l != "" {
				e.WriteString(l + ":\n")
			}
			if o.Kind == Skip {
				e.skip(i, o, labels)
				continue
			}
			e.op(w, o)
		}
		if l := labels[len(ops)]; l != "" {
			e.WriteString(l + ":\n")
		}
		if p.Turns > 1 {
			e.line("add.u32 %%r14, %%r14, 1;")
			e.line("setp.lt.u32 %%p7, %%r14, %d;", p.Turns)
			e.line("@%%p7 bra TURN%d;", w)
		}
		e.results()
		e.line("bra END;")
	}
	e.WriteString("END:\n\tret;\n}\n")
	return e.String()
}

// prologue initializes shared memory, and computes each lane's numbers.
func (e *emitter) prologue() {
	p := e.p
	if used := slices.ContainsFunc(p.Areas, func(a Area) bool { return a.Shared }) || len(p.Counts) > 0; used {
		e.line("setp.ne.u32 %%p1, %%r1, 0;")
		e.line("@%%p1 bra READY;")
		for b, n := range p.Counts {
			e.line("mbarrier.init.shared::cta.b64 [%%r3+%d], %d;", 8*b, n)
		}
		for a, area := range p.Areas {
			for i := range Words {
				if area.Shared {
					e.line("st.shared.u32 [%%r2+%d], %d;", 4*(Words*a+i), area.Init)
				}
			}
		}
		if p.copies() {
			e.line("fence.proxy.async;")
		}
		e.WriteString("READY:\n")
		e.line("bar.sync 0;")
	}
	e.line("and.b32 %%r5, %%r1, 31;")
	e.line("setp.ge.u32 %%p2, %%r5, %d;", p.Lanes)
	if p.Idle == Exit {
		e.line("@%%p2 exit;")
	}
	e.line("shr.u32 %%r6, %%r1, 5;")
	if p.Idle == Apart {
		e.line("setp.ne.u32 %%p2, %%r5, 0;")
		e.line("@%%p2 exit;")
		e.line("rem.u32 %%r5, %%r6, %d;", p.Lanes)
		e.line("div.u32 %%r6, %%r6, %d;", p.Lanes)
	}
	if p.CTAs > 1 {
		e.line("mad.lo.u32 %%r6, %%r4, %d, %%r6;", p.perCTA())
	}
	e.line("shl.b32 %%r7, %%r6, 2;")
	e.line("add.u32 %%r7, %%r7, %%r5;")
	for n := range Regs {
		e.line("mov.u32 %%v%d, 0;", n)
	}
	if p.Asynchronous() {
		e.line("mov.u64 %%token0, 0;")
	}
}

// dispatch branches to each warp's code, and returns, for each warp, the first warp
// with the same code.
func (e *emitter) dispatch() []int {
	p := e.p
	starts := make([]int, len(p.Warps))
	for w := range p.Warps {
		starts[w] = w
		for u := range w {
			if p.Share && p.Idle != Apart && slices.Equal(p.Warps[u], p.Warps[w]) {
				starts[w] = u
				break
			}
		}
		if w > 0 && slices.Max(starts) == 0 && w == len(p.Warps)-1 {
			return starts // one code for all
		}
	}
	for w := range p.Warps[1:] {
		e.line("setp.eq.u32 %%p3, %%r6, %d;", w+1)
		e.line("@%%p3 bra W%d;", starts[w+1])
	}
	return starts
}

// guarded reports whether some lanes that reach an operation do not execute it.
func (e *emitter) guarded(o Op) bool { return o.Only != e.p.all() || e.p.Idle == Along }

// guard sets %p4 for the lanes of an operation.
func (e *emitter) guard(o Op) {
	if o.Only&(o.Only-1) == 0 {
		lane := 0
		for o.Only>>lane != 1 {
			lane++
		}
		e.line("setp.eq.u32 %%p4, %%r5, %d;", lane)
		return
	}
	if o.Only == e.p.all() {
		e.line("setp.lt.u32 %%p4, %%r5, %d;", e.p.Lanes)
		return
	}
	e.line("shl.b32 %%r8, 1, %%r5;") // 0 beyond lane 31 does not happen
	e.line("and.b32 %%r8, %%r8, %d;", o.Only)
	e.line("setp.ne.u32 %%p4, %%r8, 0;")
}

func (e *emitter) space(o Op) string {
	if e.p.Areas[o.Area].Shared {
		return "shared"
	}
	return "global"
}

func (e *emitter) scope(o Op) string {
	if e.p.Areas[o.Area].Shared {
		return "cta"
	}
	return "gpu"
}

// address computes the address of an operation's word.
func (e *emitter) address(o Op) string {
	base := 4 * Words * int(o.Area)
	at := base
	switch o.At {
	case Fixed:
		at += 4 * (int(o.Index) % Words)
		if e.p.Areas[o.Area].Shared {
			return fmt.Sprintf("[%%r2+%d]", at)
		}
		return fmt.Sprintf("[%%rd1+%d]", at)
	case Mine:
		e.line("mov.u32 %%r9, %%r7;")
	case Lane:
		e.line("add.u32 %%r9, %%r5, %d;", o.Index)
		e.line("and.b32 %%r9, %%r9, %d;", Words-1)
	case Next:
		e.line("add.u32 %%r9, %%r5, 1;")
		e.line("rem.u32 %%r9, %%r9, %d;", e.p.Lanes)
		e.line("mad.lo.u32 %%r9, %%r6, 4, %%r9;")
	case ByReg:
		e.line("add.u32 %%r9, %%v%d, %d;", o.Reg, o.Index)
		e.line("and.b32 %%r9, %%r9, %d;", Indexed-1)
	}
	if e.p.Areas[o.Area].Shared {
		e.line("mad.lo.u32 %%r9, %%r9, 4, %%r2;")
		return fmt.Sprintf("[%%r9+%d]", base)
	}
	e.line("mul.wide.u32 %%rd3, %%r9, 4;")
	e.line("add.u64 %%rd3, %%rd1, %%rd3;")
	return fmt.Sprintf("[%%rd3+%d]", base)
}

// grows reports whether an operation differs in each turn.
func (e *emitter) grows(o Op) bool { return e.p.Turns > 1 && o.Turn > 0 }

// operand returns the value that an operation writes.
func (e *emitter) operand(o Op) string {
	n := fmt.Sprint(o.N)
	if e.grows(o) {
		e.line("mad.lo.u32 %%r10, %%r14, %d, %d;", o.Turn, o.N)
		n = "%r10"
	}
	switch o.Value {
	case ByLane:
		e.line("add.u32 %%r10, %%r5, %s;", n)
	case LaneBit:
		e.line("shl.b32 %%r10, 1, %%r5;")
	case FromReg:
		e.line("add.u32 %%r10, %%v%d, %s;", o.Reg, n)
	default:
		return n
	}
	return "%r10"
}

// constant returns the value that an operation compares with.
func (e *emitter) constant(o Op) string {
	k := fmt.Sprint(o.K)
	if e.grows(o) && o.Kind != Atom {
		e.line("mad.lo.u32 %%r11, %%r14, %d, %d;", o.Turn, o.K)
		k = "%r11"
	}
	if o.KLane {
		e.line("add.u32 %%r11, %%r5, %s;", k)
		k = "%r11"
	}
	return k
}

// compare sets %p5 in lanes where the comparison of a register holds.
func (e *emitter) compare(o Op, k string) {
	if o.Cmp == Bits {
		e.line("and.b32 %%r12, %%v%d, %s;", o.Reg, k)
		e.line("setp.ne.u32 %%p5, %%r12, 0;")
		return
	}
	e.line("setp.%s.u32 %%p5, %%v%d, %s;", [...]string{"eq", "ne", "ge", "lt"}[o.Cmp], o.Reg, k)
}

func (e *emitter) skip(i int, o Op, labels map[int]string) {
	l := labels[i+int(o.N)+1]
	if l == "" {
		l = e.label()
		labels[i+int(o.N)+1] = l
	}
	e.compare(o, e.constant(o))
	if e.guarded(o) {
		e.guard(o)
		e.line("and.pred %%p5, %%p5, %%p4;")
	}
	e.line("@!%%p5 bra %s;", l)
}

// op writes one operation. A branch guards operations that wait, and all operations of
// a program in that style; a predicate guards the rest.
func (e *emitter) op(warp int, o Op) {
	if o.joins() {
		e.join(warp, o)
		return
	}
	only, end := "", ""
	if e.guarded(o) {
		e.guard(o)
		_, _, strong := o.touches()
		if only = "@%%p4 "; e.p.Branch || o.Kind == Wait || o.Kind == WaitToken || o.Kind == Poll || o.Kind == Lock || strong && (e.p.SC || e.p.Order == Fenced) {
			only, end = "", e.label()
			e.line("@!%%p4 bra %s;", end)
		}
	}
	switch o.Kind {
	case Trap:
		e.compare(o, e.constant(o))
		if only != "" {
			e.line("and.pred %%p5, %%p5, %%p4;")
		}
		e.line("@%%p5 trap;")
	default:
		if o.atBarrier() || o.Kind == CopyAsync || o.Kind == Drain {
			e.mbarrier(o, only)
		} else {
			e.access(o, only)
		}
	}
	if end != "" {
		e.WriteString(end + ":\n")
	}
}

// again ends a loop that waits.
func (e *emitter) again(guard, label string) {
	if e.p.Sleep {
		e.line("%s nanosleep.u32 20;", guard)
	}
	e.line("%s bra %s;", guard, label)
}

// tell writes a vote or a shfl.
func (e *emitter) tell(o Op) {
	end := ""
	if e.guarded(o) {
		end = e.label()
		e.guard(o)
		e.line("@!%%p4 bra %s;", end)
	}
	switch {
	case o.Kind == Shuffle:
		e.line("shfl.sync.idx.b32 %%v%d, %%v%d, %d, 31, %d;", o.Reg, o.Reg, o.N, o.Only)
	case o.N == Ballot:
		e.compare(o, e.constant(o))
		e.line("vote.sync.ballot.b32 %%v%d, %%p5, %d;", o.Reg, o.Only)
	default:
		e.compare(o, e.constant(o))
		e.line("vote.sync.%s.pred %%p6, %%p5, %d;", voteNames[o.N], o.Only)
		e.line("selp.u32 %%v%d, 1, 0, %%p6;", o.Reg)
	}
	if end != "" {
		e.WriteString(end + ":\n")
	}
}

func (e *emitter) join(warp int, o Op) {
	if o.tells() {
		e.tell(o)
		return
	}
	threads := 32
	if e.p.Idle == Apart {
		threads *= e.p.Lanes
	}
	switch o.Kind {
	case Sync:
		e.line("bar.sync %d, %d;", o.Bar+1, threads*int(o.N))
		return
	case BarArrive:
		e.line("bar.arrive %d, %d;", o.Bar+1, threads*int(o.N))
	}
	some := o.Kind == WarpSync && o.Only != e.p.all()
	if e.p.Idle == Apart {
		if some {
			e.part(warp, o)
			return
		}
		e.line("bar.sync %d, %d;", 1+MaxBars+warp%e.p.perCTA(), threads)
		return
	}
	if some {
		end := e.label()
		e.guard(o)
		e.line("@!%%p4 bra %s;", end)
		e.line("bar.warp.sync %d;", o.Only)
		e.WriteString(end + ":\n")
		return
	}
	mask := int64(e.p.all())
	if e.p.Idle == Along {
		mask = -1
	}
	e.line("bar.warp.sync %d;", mask)
}

// part joins some lanes of a warp, where each is a warp by itself. Each such join has
// a barrier of its own; those of one warp may be under way at the same time.
func (e *emitter) part(warp int, o Op) {
	end := e.label()
	e.guard(o)
	e.line("@!%%p4 bra %s;", end)
	e.line("bar.sync %d, %d;", 1+MaxBars+e.p.perCTA()+e.parts, 32*bits.OnesCount8(o.Only))
	e.parts++
	e.WriteString(end + ":\n")
}

// access writes an access to memory.
func (e *emitter) access(o Op, only string) {
	at, space, scope := e.address(o), e.space(o), e.scope(o)
	_, _, strong := o.touches()
	load, store, atom := "acquire."+scope, "release."+scope, "acq_rel."+scope
	switch e.p.Order {
	case Fenced, Relaxed:
		load, store, atom = "relaxed."+scope, "relaxed."+scope, "relaxed."+scope
	case Volatile:
		load, store, atom = "volatile", "volatile", "relaxed."+scope
	}
	red := store
	if e.p.Order != Released {
		red = atom
	}
	value := e.operand(o)
	fence := e.p.Order == Fenced && strong
	if e.p.SC && strong {
		e.line(only + "fence.sc.gpu;")
	} else if fence && o.Kind != LoadStrong && o.Kind != Poll && o.Kind != Lock {
		e.line(only + "fence.acq_rel.gpu;")
	}
	switch o.Kind {
	case Store:
		e.line(only+"st.%s.u32 %s, %s;", space, at, value)
	case Load:
		e.line(only+"ld.%s.u32 %%v%d, %s;", space, o.Reg, at)
	case StoreStrong:
		e.line(only+"st.%s.%s.u32 %s, %s;", store, space, at, value)
	case LoadStrong:
		e.line(only+"ld.%s.%s.u32 %%v%d, %s;", load, space, o.Reg, at)
	case Red:
		e.line(only+"red.%s.%s.%s %s, %s;", red, space, o.Do.typed(), at, value)
	case Atom:
		if o.Do == Cas {
			value = e.constant(o) + ", " + value
		}
		e.line(only+"atom.%s.%s.%s %%v%d, %s, %s;", atom, space, o.Do.typed(), o.Reg, at, value)
	case Poll:
		k, l := e.constant(o), e.label()
		e.WriteString(l + ":\n")
		if o.Do == Or {
			e.line("atom.%s.%s.or.b32 %%v%d, %s, 0;", atom, space, o.Reg, at)
		} else {
			e.line("ld.%s.%s.u32 %%v%d, %s;", load, space, o.Reg, at)
		}
		e.compare(o, k)
		e.again("@!%p5", l)
	case Lock:
		l := e.label()
		e.WriteString(l + ":\n")
		e.line("atom.%s.%s.cas.b32 %%r13, %s, 0, 1;", atom, space, at)
		e.line("setp.ne.u32 %%p5, %%r13, 0;")
		e.again("@%p5", l)
	}
	if fence && o.Kind != StoreStrong && o.Kind != Red {
		e.line(only + "fence.acq_rel.gpu;")
	}
}

// typed returns an operation with its type suffix.
func (d Do) typed() string {
	if d == Or || d == Exch || d == Cas {
		return doNames[d] + ".b32"
	}
	return doNames[d] + ".u32"
}

// results stores the registers that the program leaves.
func (e *emitter) results() {
	if e.p.Out == 0 {
		return
	}
	only := ""
	if e.p.Idle == Along {
		e.line("setp.lt.u32 %%p4, %%r5, %d;", e.p.Lanes)
		only = "@%%p4 "
	}
	e.line("mul.wide.u32 %%rd4, %%r7, 8;")
	e.line("add.u64 %%rd4, %%rd2, %%rd4;")
	for n := range Regs {
		if e.p.Out>>n&1 != 0 {
			e.line(only+"st.global.u32 [%%rd4+%d], %%v%d;", 4*n, n)
		}
	}
}
