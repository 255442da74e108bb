package flow

// No-Thin-Air (ISA 8.10.4) by what values do: a write, or an arrival at a barrier, depends on a
// read of its thread if there is a value with which the thread would not make it, neither there
// nor elsewhere. The search finds the executions in which values do not need themselves
// (search.go); with Program.reasons it takes both ways of every branch first, and does not wait
// for a value of which an operation leaves nothing. thin then leaves out those in which
// a write needs itself through a branch.

// thin reports whether the dependences and reads-from of an execution have a cycle. It follows
// reads, and barriers: an atomic operation reads and writes, and the one need not depend on
// the other. That a write is made without a read must not rest on what comes of that read: so all
// that is later depends on it at first, and what does not on that assumption is taken out, until
// no more does.
func (g *graph) thin() bool {
	var dep relation
	for a := range g.ev {
		if x := &g.ev[a]; x.kind == pass || x.kind == access && x.read {
			for b := range g.ev {
				if g.po(a, b) || a == b && x.write {
					dep.add(a, b)
				}
			}
		}
	}
	for {
		r := g.leads(&dep)
		cyclic := !r.close(len(g.ev))
		next := dep
		for a := range g.ev {
			if x := &g.ev[a]; x.kind == access && x.read {
				next[a] = 0
				g.dependent(a, &next, &r)
			}
		}
		if next == dep {
			return cyclic
		}
		dep = next
	}
}

// leads adds reads-from and barriers to dependences: a read leads to the reads of what depends on
// it, and to the barriers that it lets arrive.
func (g *graph) leads(dep *relation) (r relation) {
	for a := range g.ev {
		x := &g.ev[a]
		if x.kind == arrive {
			for b := range g.ev {
				if y := &g.ev[b]; y.kind == pass && g.meet(x, y) {
					r.add(a, b)
				}
			}
		}
		for s := dep[a]; s != 0; s &= s - 1 {
			b := trailing(s)
			if g.ev[b].kind == arrive {
				r.add(a, b)
			}
			for c := range g.ev {
				if y := &g.ev[c]; y.kind == access && y.read && (y.src[0] == b || y.words > 1 && y.src[1] == b) {
					r.add(a, c)
				}
			}
		}
	}
	return r
}

// dependent adds what depends on a read, which leads to others.
func (g *graph) dependent(a int, r, leads *relation) {
	th := g.ev[a].thread
	is := g.acts(th, -1, 0, nil)
	v, _ := g.loaded(a, 0)
	open := func(b int) bool { return leads[a]>>b&1 != 0 }
	for _, other := range []uint32{0, 1, 2, 3, 4, 5, 6, 7, ^uint32(0), 1 << 31, v + 1, v ^ 1, ^v, v ^ 1<<31, v + 1000} {
		if other == v {
			continue
		}
		for _, left := range [][]act{g.acts(th, a, other, nil), g.acts(th, a, other, open)} {
			for k, x := range is {
				if x.event < 0 || !(x.event == a || g.po(a, x.event)) {
					continue
				}
				if !among(left, is[:k+1], x) {
					r.add(a, x.event)
				}
			}
		}
	}
}

// among reports whether a list has an act as often as another one does.
func among(list, up []act, x act) bool {
	n := 0
	for _, o := range up {
		if o.is(x) {
			n++
		}
	}
	for _, o := range list {
		if o.is(x) {
			n--
		}
	}
	return n <= 0
}

// An act is what a thread does that others may see: it writes a word, or arrives (at < 0).
type act struct {
	at    int
	val   uint32
	event int // -1: of no event of the execution
}

func (a act) is(b act) bool { return a.at == b.at && a.val == b.val }

// maxActs bounds the instructions of a thread.
const maxActs = 1000

// acts runs a thread alone, whose reads return what they do in the execution, but for one that
// returns another value, and for those of its own writes or of the beginning, which return what
// it has written now, as a read does that the execution does not have, or that is open.
func (g *graph) acts(th, instead int, value uint32, open func(event int) bool) (out []act) {
	code := g.th[th].code
	var regs [MaxRegs]uint32
	eval := func(v Value) uint32 {
		if v.Reg == 0 {
			return v.Const
		}
		return v.Const + regs[v.Reg-1]
	}
	count := map[int]int{} // executions of each instruction
	pc := 0
	for range maxActs {
		in := &code[pc]
		nth := count[pc]
		count[pc]++
		switch in.Kind {
		case Halt, Trap:
			return out
		case Fence, ProxyFence:
		case Move:
			regs[in.Dst[0]] = apply(in.Op, eval(in.Src[0]), eval(in.Src[1]))
		case Jump:
			if !in.Cmp.holds(eval(in.Src[0]), eval(in.Src[1])) {
				pc = in.Target
				continue
			}
		case Meet:
			out = append(out, act{-1 - in.Bar, 0, g.eventOf(th, pc, nth, 0, arrive)})
		default:
			if !g.accesses(th, pc, nth, eval, &regs, instead, value, open, &out) {
				return out
			}
		}
		pc++
	}
	return out
}

// accesses performs an access of acts. It returns false if the thread waits there for ever, or
// leaves its memory.
func (g *graph) accesses(th, pc, nth int, eval func(Value) uint32, regs *[MaxRegs]uint32, instead int, value uint32, open func(int) bool, out *[]act) bool {
	in := &g.th[th].code[pc]
	at := eval(in.At)
	if in.Bytes {
		if at%4 != 0 {
			return false
		}
		at /= 4
	}
	if !g.p.within(in, at) {
		return false
	}
	kind := in.Kind
	if kind == Poll {
		kind = in.By
	}
	w := in.width()
	first := g.p.place(g.th[th].cta, in.Shared, at)
	var src []uint32
	for _, v := range in.Src {
		src = append(src, eval(v))
	}
	for el := range in.elements() {
		place := first + el*w
		e := g.eventOf(th, pc, nth, el, access)
		if e >= 0 && g.ev[e].at != place {
			e = -1
		}
		var old [4]uint32
		for k := range w {
			if old[k] = g.p.start(place + k); e >= 0 && kind != Store {
				if w := g.ev[e].src[k]; w >= 0 && g.ev[w].thread != th && (open == nil || !open(e)) {
					old[k], _ = g.loaded(e, k)
					continue
				}
			}
			old[k] = last(*out, place+k, old[k])
		}
		if e >= 0 && e == instead {
			old[0] = value
		}
		if in.Kind == Poll && el == 0 && !in.Cmp.holds(old[0], eval(in.Want)) {
			return false
		}
		val, writes := old, false
		switch kind {
		case Store:
			copy(val[:w], src[el*w:])
			writes = true
		case Atom, Red:
			var v [2]uint32
			if v, writes = combine(in.Op, old[:w], src); writes {
				copy(val[:w], v[:w])
			}
		}
		if writes {
			for k := range w {
				*out = append(*out, act{place + k, val[k], e})
			}
		}
		if kind == Load || kind == Atom {
			for k := range w {
				regs[in.Dst[el*w+k]] = old[k]
			}
		}
	}
	return true
}

// last returns what a list of acts leaves in a place, else what was there before.
func last(list []act, at int, was uint32) uint32 {
	for _, a := range list {
		if a.at == at {
			was = a.val
		}
	}
	return was
}

// eventOf returns an element of an instruction's n-th execution by a thread, -1 if there is none.
func (g *graph) eventOf(th, pc, n, el int, kind eventKind) int {
	serial, k := 0, 0
	for i := range g.ev {
		e := &g.ev[i]
		if e.thread != th || e.pc != pc || e.kind != kind {
			continue
		}
		if e.serial != serial {
			if serial > 0 {
				n--
			}
			serial, k = e.serial, 0
		}
		if n == 0 && k == el {
			return i
		}
		k++
	}
	return -1
}

// masked evaluates an operation of which one operand is not known, where it leaves nothing of it.
func (s *state) masked(e *expr) (uint32, bool) {
	if !s.p.reasons {
		return 0, false
	}
	if e.a == e.b && (e.op == Xor || e.op == Sub) {
		return 0, true
	}
	for _, o := range []*expr{e.a, e.b} {
		if v, ok := s.know(o); ok && v == 0 && (e.op == And || e.op == Mul || e.op == Min) {
			return 0, true
		} else if ok && v == ^uint32(0) && (e.op == Or || e.op == Max) {
			return v, true
		}
	}
	return 0, false
}
