package corpus

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"muster"
	"muster/internal/axiom"
	"muster/internal/axiom/flow"
	"muster/internal/mutate"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

// The oracle: each thread's PTX is written as code of package flow, which enumerates the
// executions that the axioms allow and shares nothing with exploration. What is constant for a
// thread, its numbers and parameters and what follows from them, is computed on the way, so
// that loops that count are unrolled and both ways of other branches are followed. A turn of
// a loop that changes no constant is a failed turn of a wait: executions with one are left out,
// since they allow nothing more (choice 5 of package flow).

// maxCode bounds the code of a thread, maxTurns the turns of one loop on a path.
const maxCode, maxTurns = 400, 6

// A word is a value of a thread: a constant, or a register and a constant.
type word struct {
	known bool
	c     uint64
	reg   int // with c added, if not known
}

// A writer writes the code of one thread.
type writer struct {
	in        *input
	cta, tid  int
	fn        []ptx.Stmt
	labels    map[string]int
	code      []flow.Instr
	next      int // register
	err       error
	backwards []int // jumps to be dropped: to the code's begin
}

// An input is what all threads have in common.
type input struct {
	size   Size
	params map[string]uint64
	shared map[string]int // offset in bytes, in each CTA's
	each   int            // bytes of shared memory of a CTA
	global int            // bytes of global memory
	long   bool           // some way has more turns than are written
}

// A way is where a thread is.
type way struct {
	pc    int
	regs  map[string]word
	seen  map[int]map[string]word
	turns map[int]int
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *writer) fresh() int { w.next++; return w.next - 1 }

func (v word) value() flow.Value {
	if v.known {
		return flow.V(uint32(v.c))
	}
	return flow.Value{Const: uint32(v.c), Reg: v.reg + 1}
}

func (w *writer) move(op flow.Op, a, b word) word {
	r := w.fresh()
	w.code = append(w.code, flow.Instr{Kind: flow.Move, Op: op, Dst: []int{r}, Src: []flow.Value{a.value(), b.value()}})
	return word{reg: r}
}

func constant(c uint64) word { return word{known: true, c: c} }

func (w *writer) operand(p *way, x ptx.Operand) word {
	switch x := x.(type) {
	case *ptx.Not:
		v := w.operand(p, x.X)
		if v.known {
			return constant(v.c ^ 1)
		}
		return w.move(flow.Xor, v, constant(1))
	case ptx.Int:
		return constant(x.Bits)
	case ptx.Float:
		return constant(x.Bits)
	case ptx.Name:
		n := string(x)
		switch n {
		case "%tid.x":
			return constant(uint64(w.tid))
		case "%ctaid.x":
			return constant(uint64(w.cta))
		case "%ntid.x":
			return constant(uint64(w.in.size.Block))
		case "%nctaid.x":
			return constant(uint64(w.in.size.Grid))
		case "%tid.y", "%tid.z", "%ctaid.y", "%ctaid.z":
			return constant(0)
		}
		if at, ok := w.in.shared[n]; ok {
			return constant(uint64(at))
		}
		if v, ok := p.regs[n]; ok {
			return v
		}
	}
	w.fail("operand %v", ptx.FormatOperand(x))
	return word{}
}

func dest(in *ptx.Inst) string {
	n, _ := in.Operands[0].(ptx.Name)
	return string(n)
}

// run writes the code from a place on, until the thread's end.
func (w *writer) run(p *way) {
	for w.err == nil {
		if len(w.code) > maxCode {
			w.fail("too much code")
			return
		}
		if p.pc >= len(w.fn) {
			w.code = append(w.code, flow.Instr{Kind: flow.Halt})
			return
		}
		in, ok := w.fn[p.pc].(*ptx.Inst)
		if !ok {
			p.pc++
			continue
		}
		p.pc++
		guard := constant(1)
		if in.Guard != nil {
			guard = w.operand(p, ptx.Name(in.Guard.Reg))
			if in.Guard.Not {
				if guard.known {
					guard.c ^= 1
				} else {
					guard = w.move(flow.Xor, guard, constant(1))
				}
			}
			if guard.known && guard.c&1 == 0 {
				continue
			}
		}
		switch in.Op {
		case "bra":
			to := w.labels[dest(in)]
			if guard.known {
				if !w.turn(p, to) {
					return
				}
				p.pc = to
				continue
			}
			// Jumps where the guard is false; the code of the way taken comes first.
			at := len(w.code)
			w.code = append(w.code, flow.Instr{Kind: flow.Jump, Src: []flow.Value{guard.value(), flow.V(0)}, Cmp: flow.Ne})
			q := p.clone()
			if w.turn(q, to) {
				q.pc = to
				w.run(q)
			}
			w.code[at].Target = len(w.code)
		case "ret", "exit":
			w.code = append(w.code, flow.Instr{Kind: flow.Halt})
			return
		default:
			if !guard.known {
				w.fail("guarded %s", in.Op)
				return
			}
			w.inst(p, in)
		}
	}
}

func (p *way) clone() *way {
	q := &way{pc: p.pc, regs: maps.Clone(p.regs), seen: maps.Clone(p.seen), turns: maps.Clone(p.turns)}
	return q
}

// turn reports whether a jump to a place goes on. A turn that changes nothing is dropped.
func (w *writer) turn(p *way, to int) bool {
	if to >= p.pc {
		return true
	}
	changed := p.seen[to] == nil
	for r, v := range p.seen[to] {
		if v.known && p.regs[r] != v {
			changed = true
		}
	}
	if p.turns[to]++; p.turns[to] > maxTurns {
		// Most such ways are taken by no execution. One that is makes an access out of bounds.
		w.in.long = true
		w.code = append(w.code, flow.Instr{Kind: flow.Load, Bytes: true, At: flow.V(1 << 30), Dst: []int{w.fresh()}})
		return false
	}
	if !changed {
		w.backwards = append(w.backwards, len(w.code))
		w.code = append(w.code, flow.Instr{Kind: flow.Jump, Src: []flow.Value{flow.V(0), flow.V(0)}, Cmp: flow.Ne})
		return false
	}
	p.seen[to] = maps.Clone(p.regs)
	return true
}

var binary3 = map[string]flow.Op{"add": flow.Add, "sub": flow.Sub, "mul": flow.Mul, "and": flow.And, "or": flow.Or, "xor": flow.Xor, "min": flow.Min, "max": flow.Max}

func (w *writer) inst(p *way, in *ptx.Inst) {
	_, bytes := in.LastType()
	op := func(i int) word { return w.operand(p, in.Operands[i]) }
	set := func(v word) {
		if v.known && bytes == 4 && in.Op != "mul" && in.Op != "cvt" {
			v.c = uint64(uint32(v.c))
		}
		p.regs[dest(in)] = v
	}
	switch in.Op {
	case "ld", "st", "atom", "red":
		w.access(p, in)
	case "mov", "cvta", "cvt":
		set(op(len(in.Operands) - 1))
	case "nanosleep":
	case "fence", "membar":
		w.fence(in)
	case "bar", "barrier":
		if w.in.size.Block > 1 {
			if !slices.Contains(in.Mods, "sync") || slices.Contains(in.Mods, "warp") {
				w.fail("%s", in)
				return
			}
			w.code = append(w.code, flow.Instr{Kind: flow.Meet, Quorum: w.in.size.Block})
		} else if slices.Contains(in.Mods, "red") {
			if in.Mods[len(in.Mods)-1] != "pred" {
				w.fail("%s", in)
				return
			}
			set(op(len(in.Operands) - 1))
		}
	case "add", "sub", "mul", "and", "or", "xor", "min", "max":
		set(w.compute(in, op(1), op(2)))
	case "mad", "fma":
		set(w.compute(&ptx.Inst{Op: "add", Mods: in.Mods}, w.compute(&ptx.Inst{Op: "mul", Mods: in.Mods}, op(1), op(2)), op(3)))
	case "shl":
		a, b := op(1), op(2)
		switch {
		case a.known && b.known:
			set(constant(a.c << b.c))
		case b.known:
			set(w.move(flow.Mul, a, constant(1<<b.c)))
		default:
			w.fail("%s", in)
		}
	case "rem":
		a, b := op(1), op(2)
		if !a.known || !b.known || b.c == 0 {
			w.fail("%s", in)
			b.c = 1
		}
		set(constant(a.c % b.c))
	case "shr":
		a, b := op(1), op(2)
		if !a.known || !b.known {
			w.fail("%s", in)
		}
		set(constant(a.c >> b.c))
	case "not":
		if a := op(1); a.known {
			set(constant(^a.c))
		} else if in.Mods[0] == "pred" {
			set(w.move(flow.Xor, a, constant(1)))
		} else {
			set(w.move(flow.Xor, a, constant(0xffffffff)))
		}
	case "setp":
		if len(in.Operands) > 3 {
			w.fail("%s", in)
			return
		}
		p.regs[dest(in)] = w.compare(in.Mods[0], strings.HasPrefix(in.Mods[len(in.Mods)-1], "s"), op(1), op(2))
	case "selp":
		a, b, c := op(1), op(2), op(3)
		switch {
		case c.known && c.c&1 == 1:
			set(a)
		case c.known:
			set(b)
		case a.known && b.known:
			set(w.move(flow.Add, w.move(flow.Mul, c, constant(a.c-b.c)), b))
		default:
			w.fail("%s", in)
		}
	default:
		w.fail("%s", in.Op)
	}
}

func (w *writer) compute(in *ptx.Inst, a, b word) word {
	if !a.known || !b.known {
		o := binary3[in.Op]
		if slices.Contains(in.Mods, "hi") {
			w.fail("%s", in)
		}
		if (o == flow.Min || o == flow.Max) && in.Mods[len(in.Mods)-1] == "s32" {
			w.fail("signed %s", in.Op)
		}
		switch {
		case in.Op == "add" && a.known:
			return word{reg: b.reg, c: b.c + a.c}
		case in.Op == "add" && b.known:
			return word{reg: a.reg, c: a.c + b.c}
		case in.Op == "sub" && b.known:
			return word{reg: a.reg, c: a.c - b.c}
		}
		return w.move(o, a, b)
	}
	switch in.Op {
	case "add":
		return constant(a.c + b.c)
	case "sub":
		return constant(a.c - b.c)
	case "mul":
		if slices.Contains(in.Mods, "wide") && strings.HasPrefix(in.Mods[len(in.Mods)-1], "s") {
			return constant(uint64(int64(int32(a.c)) * int64(int32(b.c))))
		}
		if slices.Contains(in.Mods, "wide") {
			return constant(uint64(uint32(a.c)) * uint64(uint32(b.c)))
		}
		if slices.Contains(in.Mods, "hi") {
			if in.Mods[len(in.Mods)-1] != "u32" {
				w.fail("%s", in)
			}
			return constant(uint64(uint32(a.c)) * uint64(uint32(b.c)) >> 32)
		}
		return constant(a.c * b.c)
	case "and":
		return constant(a.c & b.c)
	case "or":
		return constant(a.c | b.c)
	case "xor":
		return constant(a.c ^ b.c)
	case "min":
		return constant(min(a.c, b.c))
	}
	return constant(max(a.c, b.c))
}

// compare returns 1 or 0.
func (w *writer) compare(cmp string, signed bool, a, b word) word {
	switch cmp {
	case "le", "ls":
		a, b, cmp = b, a, "ge"
	case "gt", "hi":
		a, b, cmp = b, a, "lt"
	case "lo":
		cmp = "lt"
	case "hs":
		cmp = "ge"
	}
	ops := map[string]flow.Op{"eq": flow.IsEq, "ne": flow.IsNe, "lt": flow.IsLower, "ge": flow.IsNotLower}
	o, ok := ops[cmp]
	if !ok {
		w.fail("setp.%s", cmp)
	}
	if signed && cmp == "lt" {
		o = flow.IsLess
	} else if signed && cmp == "ge" {
		o = flow.IsNotLess
	}
	if !a.known || !b.known {
		return w.move(o, a, b)
	}
	x, y := uint32(a.c), uint32(b.c)
	is := map[flow.Op]bool{flow.IsEq: x == y, flow.IsNe: x != y, flow.IsLower: x < y, flow.IsNotLower: x >= y, flow.IsLess: int32(x) < int32(y), flow.IsNotLess: int32(x) >= int32(y)}[o]
	if is {
		return constant(1)
	}
	return constant(0)
}

var scopes = map[string]axiom.Scope{"cta": axiom.CTA, "cluster": axiom.Cluster, "gpu": axiom.GPU, "gl": axiom.GPU, "sys": axiom.Sys}

func scopeOf(in *ptx.Inst) axiom.Scope {
	for _, m := range in.Mods {
		if s, ok := scopes[m]; ok {
			return s
		}
	}
	return axiom.GPU
}

func (w *writer) fence(in *ptx.Inst) {
	s := axiom.SC
	if slices.Contains(in.Mods, "acq_rel") {
		s = axiom.AcqRel
	}
	w.code = append(w.code, flow.Instr{Kind: flow.Fence, Sem: s, Scope: scopeOf(in)})
}

func (w *writer) access(p *way, in *ptx.Inst) {
	shared := slices.Contains(in.Mods, "shared")
	typ, bytes := in.LastType()
	if slices.Contains(in.Mods, "param") {
		p.regs[dest(in)] = constant(w.in.params[ptx.FormatOperand(in.Operands[1].(*ptx.Mem).Base)])
		return
	}
	if bytes > 4 || bytes < 4 && !shared || slices.Contains(in.Mods, "v2") || slices.Contains(in.Mods, "v4") {
		w.fail("an access of type %s", typ)
		return
	}
	mem := slices.IndexFunc(in.Operands, func(x ptx.Operand) bool { _, ok := x.(*ptx.Mem); return ok })
	m := in.Operands[mem].(*ptx.Mem)
	at := w.operand(p, m.Base)
	at.c += uint64(m.Off)
	if shared {
		at.c += uint64(w.in.global + w.cta*w.in.each)
	}
	x := flow.Instr{Bytes: true, At: at.value(), Scope: scopeOf(in), Sem: axiom.Weak}
	sems := map[string]axiom.Sem{"relaxed": axiom.Relaxed, "acquire": axiom.Acquire, "release": axiom.Release, "acq_rel": axiom.AcqRel, "volatile": axiom.Volatile}
	for _, s := range in.Mods {
		if v, ok := sems[s]; ok {
			x.Sem = v
		}
	}
	if in.Op == "atom" || in.Op == "red" {
		if x.Sem == axiom.Weak {
			x.Sem = axiom.Relaxed
		}
		ops := map[string]flow.Op{"add": flow.Add, "inc": flow.Inc, "exch": flow.Exch, "cas": flow.Cas, "max": flow.Max, "or": flow.Or, "min": flow.Min}
		found := false
		for _, s := range in.Mods {
			if o, ok := ops[s]; ok {
				x.Op, found = o, true
			}
		}
		if !found {
			w.fail("%s", in)
		}
	}
	for _, o := range in.Operands[mem+1:] {
		x.Src = append(x.Src, w.operand(p, o).value())
	}
	x.Kind = map[string]flow.Kind{"ld": flow.Load, "st": flow.Store, "atom": flow.Atom, "red": flow.Red}[in.Op]
	if mem > 0 {
		r := w.fresh()
		x.Dst = []int{r}
		p.regs[dest(in)] = word{reg: r}
	}
	w.code = append(w.code, x)
}

// registers gives the registers numbers below flow.MaxRegs, those of values that are no longer
// used again and again. Jumps go forward but those that are dropped.
func (w *writer) registers() {
	last := map[int]int{}
	each := func(f func(at int, r *int, write bool)) {
		for i := range w.code {
			c := &w.code[i]
			read := func(v *flow.Value) {
				if v.Reg > 0 {
					r := v.Reg - 1
					f(i, &r, false)
					v.Reg = r + 1
				}
			}
			read(&c.At)
			for k := range c.Src {
				read(&c.Src[k])
			}
			for k := range c.Dst {
				f(i, &c.Dst[k], true)
			}
		}
	}
	each(func(at int, r *int, _ bool) { last[*r] = at })
	holds := make([]int, flow.MaxRegs) // until when
	for i := range holds {
		holds[i] = -1
	}
	to := map[int]int{}
	each(func(at int, r *int, write bool) {
		if write {
			i := slices.IndexFunc(holds, func(until int) bool { return until <= at })
			if i < 0 {
				w.fail("too many registers")
				i = 0
			}
			to[*r], holds[i] = i, max(last[*r], at+1)
		}
		*r = to[*r]
	})
	for _, j := range w.backwards {
		w.code[j].Target = 0
	}
}

// A scope gives the registers that blocks declare names of their own: they hide those of the same
// names outside.
type scope map[ptx.Name]ptx.Name

func (s scope) inner(b *ptx.Block, n int) scope {
	in := maps.Clone(s)
	if in == nil {
		in = scope{}
	}
	for _, st := range b.Stmts {
		if v, ok := st.(*ptx.Var); ok && v.Space == "reg" {
			own := func(name string) { in[ptx.Name(name)] = ptx.Name(fmt.Sprintf("%s in block %d", name, n)) }
			if own(v.Name); v.Count > 0 {
				for i := range v.Count {
					own(fmt.Sprint(v.Name, i))
				}
			}
		}
	}
	return in
}

func (s scope) rename(in *ptx.Inst) *ptx.Inst {
	if len(s) == 0 {
		return in
	}
	out := *in
	out.Operands = nil
	for _, x := range in.Operands {
		out.Operands = append(out.Operands, s.operand(x))
	}
	if own, ok := s[ptx.Name(reg(in))]; ok {
		g := *in.Guard
		g.Reg, out.Guard = string(own), &g
	}
	return &out
}

func reg(in *ptx.Inst) string {
	if in.Guard == nil {
		return ""
	}
	return in.Guard.Reg
}

func (s scope) operand(x ptx.Operand) ptx.Operand {
	switch x := x.(type) {
	case ptx.Name:
		if own, ok := s[x]; ok {
			return own
		}
	case *ptx.Not:
		return &ptx.Not{X: s.operand(x.X)}
	case *ptx.Mem:
		m := *x
		m.Base = s.operand(x.Base)
		return &m
	case *ptx.Vector:
		v := &ptx.Vector{}
		for _, e := range x.Elems {
			v.Elems = append(v.Elems, s.operand(e))
		}
		return v
	}
	return x
}

// test writes a launch as a test of package flow.
// It reports whether an access out of bounds may be a loop of too many turns.
func test(mod *ptx.Module, k *Kernel, f *launch.File, s Size) (*flow.Test, bool, error) {
	var fn *ptx.Func
	for _, it := range mod.Items {
		if g, ok := it.(*ptx.Func); ok && g.Name == k.Name {
			fn = g
		}
	}
	l, err := f.Layout(1 << 30)
	if err != nil {
		return nil, false, err
	}
	in := &input{size: s, params: map[string]uint64{}, shared: map[string]int{}}
	x := &flow.Test{}
	base := map[string]int{}
	// Package flow takes 64 words: of a long buffer, the beginning is taken, which is all that a
	// small launch uses.
	for _, b := range l.Buffers {
		base[b.Name] = in.global
		data := b.Data[:min(len(b.Data), 4*10)]
		for ; len(data) >= 4; data = data[4:] {
			x.Init = append(x.Init, binary.LittleEndian.Uint32(data))
		}
		in.global = 4 * len(x.Init)
	}
	for i, a := range k.args {
		var v int
		if _, err := fmt.Sscanf(a, `{"u32": %d}`, &v); err != nil {
			v = base[strings.Trim(a, `"`)]
		}
		in.params[fn.Params[i].Name] = uint64(v)
	}
	var body []ptx.Stmt
	labels := map[string]int{}
	blocks := 0
	var flat func(list []ptx.Stmt, own scope)
	flat = func(list []ptx.Stmt, own scope) {
		for _, st := range list {
			switch st := st.(type) {
			case *ptx.Block:
				blocks++
				flat(st.Stmts, own.inner(st, blocks))
			case *ptx.Label:
				labels[st.Name] = len(body)
			case *ptx.Var:
				if st.Space == "shared" {
					n := 1
					for _, d := range st.Dims {
						n *= int(d)
					}
					in.shared[st.Name] = in.each
					in.each += (4*n + 3) / 4 * 4
				}
			case *ptx.Inst:
				body = append(body, own.rename(st))
			}
		}
	}
	flat(fn.Body.Stmts, nil)
	x.Words = (in.global + s.Grid*in.each) / 4
	for cta := range s.Grid {
		for tid := range s.Block {
			w := &writer{in: in, cta: cta, tid: tid, fn: body, labels: labels}
			w.run(&way{regs: map[string]word{}, seen: map[int]map[string]word{}, turns: map[int]int{}})
			w.registers()
			if w.err != nil {
				return nil, false, w.err
			}
			x.Threads = append(x.Threads, flow.Thread{CTA: cta, Code: w.code})
		}
	}
	return x, in.long, nil
}

// ask asks the axioms: race, hang, out of bounds, stale; buffers, where only executions with load
// buffering are bad; right.
func ask(x *flow.Test, within time.Duration) (string, int, error) {
	until := time.Now().Add(within)
	stop := func() bool { return time.Now().After(until) }
	bad, buffered := "", ""
	plain, other := map[string]bool{}, map[string]bool{}
	res, err := x.Executions(3_000_000, stop, func(e *flow.Execution) bool {
		what := ""
		switch {
		case e.Races():
			what = "race"
		case e.Outside():
			what = "outside"
		case e.Hangs():
			what = "hang"
		}
		if what != "" {
			if e.Buffers() {
				buffered = "buffers: " + what
				return true
			}
			bad = what
			return false
		}
		var final strings.Builder
		for at := range x.Words {
			fmt.Fprint(&final, e.Last(at), " ")
		}
		if is, known := e.Sequential(); is && known {
			plain[final.String()] = true
		} else if e.Buffers() {
			buffered = "buffers"
		} else {
			other[final.String()] = true
		}
		return true
	})
	switch {
	case err != nil:
		return "", res.Graphs, err
	case bad != "":
		return bad, res.Graphs, nil
	case res.Cut != "":
		return "", res.Graphs, fmt.Errorf("cut: %s", res.Cut)
	}
	for f := range other {
		if !plain[f] {
			return "stale", res.Graphs, nil
		}
	}
	if buffered != "" {
		return buffered, res.Graphs, nil
	}
	return "right", res.Graphs, nil
}

// TestOracle compares the verdict on kernels and twins with the axioms, where their code can be
// written for these.
func TestOracle(t *testing.T) {
	count := map[string]int{}
	within := time.Second
	if *all {
		within = 5 * time.Second
	}
	for _, k := range kernels(t) {
		if !*all && !slices.Contains(twinsOf, k.Name) {
			continue
		}
		s := sized(t, k.Small)
		f := file(t, &k, s)
		mod, src, err := muster.ReadModule(f)
		if err != nil {
			t.Fatal(err)
		}
		one := func(name string, twin *ptx.Module) {
			x, long, err := test(twin, &k, f, s)
			says, graphs := "", 0
			if err == nil {
				says, graphs, err = ask(x, within)
			}
			if err == nil && long && says == "outside" {
				err = fmt.Errorf("a loop of more turns")
			}
			if err != nil {
				count["not asked"]++
				t.Logf("%-24s %-26s not asked: %v", k.Name, name, err)
				return
			}
			l, err := muster.LoadModule(f, twin, src, muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r, _ := check(l)
			if w := why(r); says == "right" && r.Verdict == report.Findings && (w == "never-completes" || w == "livelock") {
				// Waits that never end are not among the executions that were asked for.
				says = "no race"
			}
			count[says+", "+string(verdict(r))]++
			t.Logf("%-24s %-26s axioms: %-14s %7d graphs; verdict: %s %s", k.Name, name, says, graphs, verdict(r), why(r))
			if (says == "right") != (verdict(r) == report.Clean) && says != "no race" && r.Verdict != report.Incomplete && !strings.HasPrefix(says, "buffers") || strings.HasPrefix(says, "buffers") && r.Verdict == report.Clean {
				t.Errorf("%s %s: by the axioms %s, by the verdict %s", k.Name, name, says, r.Summary)
			}
		}
		if k.Name == "fsum_splitk" {
			continue // it needs more words of its buffers than package flow takes
		}
		one("as it is", mod)
		for _, m := range mutate.List(mod, k.Name) {
			if weakens(m) {
				if twin, ok := mutate.Apply(mod, m); ok {
					one(m.ID, twin)
				}
			}
		}
	}
	t.Logf("%v", count)
}
