package litmus

import (
	"fmt"
	"strings"
)

// A Kernel is a litmus test as PTX, with its launch: each thread is lane 0 of a warp of its
// own. Buffer m has the words of memory, and buffer out, in the order of Test.Observed, the
// registers that an outcome tells, and then a word for each thread: 1 if it gave up a loop.
type Kernel struct {
	PTX                       string
	Grid, Block, Cluster, Out int

	lines map[int]*Instr // by line of PTX: what the instruction there stands for
	names map[*Instr]string
}

// kernelName is the entry of a kernel.
const kernelName = "litmus"

// emitter writes a kernel.
type emitter struct {
	strings.Builder
	t     *Test
	loops int
	line  int // the last one that is written
	k     Kernel
}

func (e *emitter) put(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	e.WriteString(text)
	e.WriteByte('\n')
	e.line += 1 + strings.Count(text, "\n")
}

// Kernel writes a test as PTX, with loops unrolled to a bound: a thread that jumps backward
// more often gives up. It fails if a kernel cannot say what the test does.
func (t *Test) Kernel(loops int) (*Kernel, error) {
	if err := t.asKernel(); err != nil {
		return nil, err
	}
	return t.labelled(loops)
}

// labelled writes a test as PTX in which labels (Kernel.lines, Thread.GPU) say what a kernel
// cannot: accesses by other proxies, and what runs on another GPU. Virtual aliases are further
// words of m.
func (t *Test) labelled(loops int) (*Kernel, error) {
	if err := t.onMachine(); err != nil {
		return nil, err
	}
	ctas, grid, size := t.ctas()
	e := &emitter{t: t, loops: loops, k: Kernel{lines: map[int]*Instr{}, names: map[*Instr]string{}}}
	warps, most := make([]int, len(t.Threads)), 1
	count := map[int]int{}
	for k := range t.Threads {
		cta := ctas[t.Threads[k].CTA]
		warps[k] = count[cta]
		count[cta]++
		most = max(most, count[cta])
	}
	e.put(".version 8.6\n.target sm_90a\n.address_size 64\n\n.visible .entry %s(.param .u64 m, .param .u64 out)\n{", kernelName)
	e.put("\t.reg .pred %%p;\n\t.reg .b32 %%v<%d>;\n\t.reg .b32 %%t<6>;\n\t.reg .b32 %%n;\n\t.reg .b64 %%m;\n\t.reg .b64 %%out;\n\t.reg .b64 %%a;", maxRegs)
	e.put("\tld.param.u64 %%m, [m];\n\tld.param.u64 %%out, [out];")
	e.put("\tmov.u32 %%t0, %%tid.x;\n\tand.b32 %%t1, %%t0, 31;\n\tsetp.ne.u32 %%p, %%t1, 0;\n\t@%%p exit;")
	e.put("\tshr.u32 %%t0, %%t0, 5;\n\tmov.u32 %%t1, %%ctaid.x;\n\tmad.lo.u32 %%t0, %%t1, %d, %%t0;", most)
	for k := range t.Threads {
		e.put("\tsetp.eq.u32 %%p, %%t0, %d;\n\t@%%p bra %s_0;", ctas[t.Threads[k].CTA]*most+warps[k], t.Threads[k].Name)
	}
	e.put("\texit;")
	for k := range t.Threads {
		e.thread(k)
	}
	e.put("}")
	k := &e.k
	k.PTX, k.Grid, k.Block, k.Cluster, k.Out = e.String(), grid, 32*most, size, t.registers()+len(t.Threads)
	return k, nil
}

// registers counts the registers among what is observed.
func (t *Test) registers() (n int) {
	for i := range t.Observed {
		if t.Observed[i].Thread >= 0 {
			n++
		}
	}
	return n
}

// ctas numbers the CTAs of the grid so that those of a cluster lie side by side.
func (t *Test) ctas() (number map[int]int, grid, size int) {
	within := map[int][]int{} // by cluster: its CTAs
	var order []int
	number = map[int]int{}
	for k := range t.Threads {
		h := &t.Threads[k]
		if _, ok := number[h.CTA]; ok {
			continue
		}
		if within[h.Cluster] == nil {
			order = append(order, h.Cluster)
		}
		number[h.CTA] = 0
		within[h.Cluster] = append(within[h.Cluster], h.CTA)
		size = max(size, len(within[h.Cluster]))
	}
	for i, c := range order {
		for k, cta := range within[c] {
			number[cta] = i*size + k
		}
	}
	return number, len(order) * size, size
}

// onMachine says what the machine lacks for a test.
func (t *Test) onMachine() error {
	need := func(line, col int, what string) error { return &Need{t.File, line, col, what} }
	barriers := map[int]int{}
	for i := range t.Barriers {
		b := &t.Barriers[i]
		if barriers[b.CTA]++; barriers[b.CTA] > 16 {
			return need(0, 0, "more than the 16 barriers of a CTA")
		}
	}
	for k := range t.Threads {
		h := &t.Threads[k]
		for i := range h.Code {
			if in := &h.Code[i]; in.Kind == Meet && (in.Barrier < 0 || t.Barriers[in.Barrier].Open) {
				return need(in.Line, in.Col, "a barrier whose threads the text tells, not a register")
			}
		}
	}
	return t.mixesVectors()
}

// asKernel says what a kernel of its own lacks for a test.
func (t *Test) asKernel() error {
	need := func(line, col int, what string) error { return &Need{t.File, line, col, what} }
	if len(t.Aliases) > 0 {
		return need(0, 0, "virtual aliases, which no kernel has by itself")
	}
	for k := range t.Threads {
		h := &t.Threads[k]
		if h.GPU != t.Threads[0].GPU {
			return need(h.line, h.col, "a second GPU, which a launch does not have")
		}
		for i := range h.Code {
			if in := &h.Code[i]; in.Proxy != Generic || in.Kind == ProxyFence {
				return need(in.Line, in.Col, "textures, surfaces or constants, which have no instructions of that form")
			}
		}
	}
	return nil
}

// barrier returns the number of a barrier in its CTA.
func (t *Test) barrier(n int) int {
	k := 0
	for i := range n {
		if t.Barriers[i].CTA == t.Barriers[n].CTA {
			k++
		}
	}
	return k
}

func (e *emitter) thread(k int) {
	h := &e.t.Threads[k]
	e.put("%s_0:\t// %s", h.Name, h.Name)
	for reg := range h.Regs {
		e.put("\tmov.u32 %%v%d, %d;", reg, h.Init[reg])
	}
	e.put("\tmov.u32 %%n, 0;")
	targets := map[int]bool{}
	for i := range h.Code {
		if h.Code[i].Kind == Jump {
			targets[h.Code[i].Target] = true
		}
	}
	for i := range h.Code {
		if targets[i] {
			e.put("%s_at%d:", h.Name, i)
		}
		e.instr(h, i)
		if in := &h.Code[i]; in.Kind != Jump && in.Kind != Move {
			e.k.lines[e.line], e.k.names[in] = in, h.Name
		}
	}
	if targets[len(h.Code)] {
		e.put("%s_at%d:", h.Name, len(h.Code))
	}
	out := 0
	for i := range e.t.Observed {
		o := &e.t.Observed[i]
		if o.Thread < 0 {
			continue
		}
		if o.Thread == k {
			e.put("\tst.global.u32 [%%out+%d], %%v%d;", 4*out, o.Reg)
		}
		out++
	}
	e.put("\texit;")
	for i, in := range h.Code {
		if in.Kind == Jump && in.Target <= i {
			e.put("%s_over:\n\tst.global.u32 [%%out+%d], 1;\n\texit;", h.Name, 4*(out+k))
			break
		}
	}
}

var (
	ptxSems   = [...]string{Weak: "", Volatile: ".volatile", Relaxed: ".relaxed", Acquire: ".acquire", Release: ".release", AcqRel: ".acq_rel", SC: ".sc"}
	ptxScopes = [...]string{NoScope: "", CTA: ".cta", Cluster: ".cluster", GPU: ".gpu", Sys: ".sys"}
	ptxOps    = [...]string{Add: "add.u32", Sub: "sub.u32", Mul: "mul.lo.u32", And: "and.b32", Or: "or.b32", Xor: "xor.b32", Min: "min.u32", Max: "max.u32", Inc: "inc.u32", Exch: "exch.b32", Cas: "cas.b32"}
	ptxTests  = [...]string{Eq: "eq.u32", Ne: "ne.u32", Less: "lt.s32", NotLess: "ge.s32", Lower: "lt.u32", NotLower: "ge.u32"}
)

// register returns a register that holds a value, tmp if it is a constant or a sum.
func (e *emitter) register(v Value, tmp string) string {
	switch {
	case v.Reg == 0:
		e.put("\tmov.u32 %s, %d;", tmp, v.Const)
	case v.Const == 0:
		return fmt.Sprintf("%%v%d", v.Reg-1)
	default:
		e.put("\tadd.u32 %s, %%v%d, %d;", tmp, v.Reg-1, v.Const)
	}
	return tmp
}

func (e *emitter) address(v Value) string {
	if v.Reg == 0 {
		return fmt.Sprintf("[%%m+%d]", v.Const)
	}
	e.put("\tcvt.u64.u32 %%a, %s;\n\tadd.s64 %%a, %%a, %%m;", e.register(v, "%t5"))
	return "[%a]"
}

func (e *emitter) instr(h *Thread, at int) {
	in := &h.Code[at]
	e.put("\t// line %d: %s", in.Line, strings.ReplaceAll(in.Text, "\n", " "))
	sem := in.Sem
	if in.Kind == Red { // a reduction's read acquires nothing (ISA 8.11.1), and red has no such form
		switch sem {
		case AcqRel:
			sem = Release
		case Acquire:
			sem = Relaxed
		}
	}
	how := ptxSems[sem] + ptxScopes[in.Scope]
	switch in.Kind {
	case Fence:
		e.put("\tfence%s;", how)
	case ProxyFence:
		e.put("\tfence.proxy.alias;")
	case Meet:
		kind := "sync"
		if in.Arrives {
			kind = "arrive"
		}
		e.put("\tbarrier.%s %d, %d;", kind, e.t.barrier(in.Barrier), 32*e.t.Barriers[in.Barrier].Quorum)
	case Jump:
		e.jump(h, at)
	case Move:
		x, y := e.register(in.Src[0], "%t1"), e.register(in.Src[1], "%t2")
		if in.Op >= IsEq {
			e.put("\tsetp.%s %%p, %s, %s;\n\tselp.u32 %%v%d, 1, 0, %%p;", ptxTests[in.Op-IsEq], x, y, in.Dst[0])
			return
		}
		e.put("\t%s %%v%d, %s, %s;", ptxOps[in.Op], in.Dst[0], x, y)
	default:
		e.access(in, how+".global")
	}
}

// jump writes a branch. One that leads backward counts.
func (e *emitter) jump(h *Thread, at int) {
	in := &h.Code[at]
	back := in.Target <= at
	a, b := in.Src[0], in.Src[1]
	always := a.Reg == 0 && b.Reg == 0 && in.Cmp == Eq && a == b
	switch {
	case always && !back:
		e.put("\tbra %s_at%d;", h.Name, in.Target)
		return
	case !always:
		x, y := e.register(a, "%t1"), e.register(b, "%t2")
		e.put("\tsetp.%s %%p, %s, %s;", ptxTests[in.Cmp], x, y)
		if !back {
			e.put("\t@%%p bra %s_at%d;", h.Name, in.Target)
			return
		}
		e.put("\t@!%%p bra %s_on%d;", h.Name, at)
	}
	e.put("\tadd.u32 %%n, %%n, 1;\n\tsetp.gt.u32 %%p, %%n, %d;\n\t@%%p bra %s_over;\n\tbra %s_at%d;", e.loops, h.Name, h.Name, in.Target)
	e.put("%s_on%d:", h.Name, at)
}

func (e *emitter) access(in *Instr, how string) {
	var src, dst []string
	for i, v := range in.Src {
		src = append(src, e.register(v, fmt.Sprintf("%%t%d", 1+i)))
	}
	for _, d := range in.Dst {
		dst = append(dst, fmt.Sprintf("%%v%d", d))
	}
	group := func(list []string) (vec, text string) {
		if len(list) == 1 {
			return "", list[0]
		}
		return fmt.Sprintf(".v%d", len(list)), "{" + strings.Join(list, ", ") + "}"
	}
	at, op := e.address(in.At), in.Op
	if op == Sub && (in.Kind == Atom || in.Kind == Red) { // PTX has none
		e.put("\tneg.s32 %%t1, %s;", src[0])
		src[0], op = "%t1", Add
	}
	switch in.Kind {
	case Load:
		vec, text := group(dst)
		e.put("\tld%s%s.u32 %s, %s;", how, vec, text, at)
	case Store:
		vec, text := group(src)
		e.put("\tst%s%s.u32 %s, %s;", how, vec, at, text)
	case Atom:
		e.put("\tatom%s.%s %s, %s, %s;", how, ptxOps[op], dst[0], at, strings.Join(src, ", "))
	case Red:
		e.put("\tred%s.%s %s, %s;", how, ptxOps[op], at, strings.Join(src, ", "))
	}
}

// Launch writes the launch file of a kernel whose PTX has a name.
func (k *Kernel) Launch(t *Test, ptx string) string {
	var init []string
	for _, v := range t.Init {
		init = append(init, fmt.Sprint(v))
	}
	if init == nil {
		init = []string{"0"}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# A litmus test as a kernel: each thread is lane 0 of a warp. m has its memory; out has\n# what it observes of registers, and then for each thread whether it gave up a loop.\n")
	fmt.Fprintf(&b, "ptx: %q\nkernel: %s\ngrid: %d\nblock: %d\n", ptx, kernelName, k.Grid, k.Block)
	if k.Cluster > 1 {
		fmt.Fprintf(&b, "cluster: %d\n", k.Cluster)
	}
	fmt.Fprintf(&b, "buffers:\n  m: {type: u32, values: [%s]}\n  out: {type: u32, shape: [%d], fill: zeros}\nargs: [m, out]\n", strings.Join(init, ", "), k.Out)
	return b.String()
}
