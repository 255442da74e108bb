package flow

import (
	"muster/internal/axiom"
)

// The idioms of generated programs: each method adds one, with random variations, some of
// them wrong.

// message passing, with two or three agents in a chain.
func (g *generator) message() {
	n := pick(g, 2, 2, 2, 3)
	g.place(n)
	flag, data, common := g.word(1), g.word(1), g.word(1)
	d := g.data()
	a := &g.agents[0]
	v := uint32(pick(g, 1, 1, 3))
	put, take := d, d
	if d == axiom.Relaxed && g.chance(30) {
		put, take = axiom.Release, axiom.Acquire
	}
	a.add(g.store(data, V(v), put))
	if g.chance(20) {
		a.add(g.store(g.word(1), V(2), g.data()))
	}
	a.add(g.publish(flag, V(1))...)
	a.add(g.store(common, V(5), axiom.Weak))
	if g.chance(60) {
		a.phases[0] = a.phases[0][:len(a.phases[0])-1]
	}
	for i := 1; i < n; i++ {
		b := &g.agents[i]
		wait := g.chance(60)
		f, r := g.reg(), g.reg()
		seen := g.see(f, flag, wait, Ne, V(0))
		if wait && g.chance(30) {
			seen[0].Cmp, seen[0].Want = Eq, V(1)
		}
		var then []Instr
		get := g.load(r, data, take)
		if g.chance(10) {
			get = g.atom(r, pick(g, Add, Or, Max), data, axiom.Relaxed, V(0))
		}
		then = append(then, get)
		switch {
		case i < n-1:
			flag = g.word(1)
			if g.chance(50) {
				data = g.word(1)
				then = append(then, g.store(data, R(r), put))
			}
			then = append(then, g.publish(flag, V(1))...)
		default:
			then = append(then, g.use(R(r), v, common)...)
		}
		if !wait || seen[0].Tries == 2 {
			// The fence stays outside the branch or goes inside.
			then = []Instr{when(Ne, R(f), V(0), then...)}
		}
		b.add(append(seen, then...)...)
	}
}

// buffering is store buffering.
func (g *generator) buffering() {
	n := pick(g, 2, 2, 2, 3)
	g.place(n)
	out := g.word(1)
	x := make([]Value, n)
	for i := range x {
		x[i] = g.word(1)
	}
	s := pick(g, axiom.Relaxed, axiom.Relaxed, axiom.Volatile, axiom.Release)
	far := g.chance(40)
	for i := range n {
		a := &g.agents[i]
		r := g.reg()
		if g.chance(70) {
			a.add(g.store(x[i], V(1), s))
		} else {
			a.add(g.red(Add, x[i], axiom.Relaxed, V(1)))
		}
		a.add(g.fence(axiom.SC))
		q := s
		if s == axiom.Release {
			q = axiom.Acquire
		}
		a.add(g.load(r, x[(i+1)%n], q))
		switch {
		case far:
			// The first agent proceeds alone.
			a.add(when(Eq, R(r), V(0), g.store(out, V(uint32(i)+1), axiom.Weak)))
		default:
			// No agent saw the others' stores: the last one to add traps.
			t := g.reg()
			a.add(when(Eq, R(r), V(0), g.atom(t, Add, out, axiom.Relaxed, V(1)), when(Eq, R(t), V(uint32(n)-1), Instr{Kind: Trap})))
		}
	}
}

// lookBack is a chain: each agent takes the sum of the one before, adds its own, and
// passes it on; value and flag are two words, or packed into one of 8 bytes.
func (g *generator) lookBack() {
	n := pick(g, 2, 3, 3)
	g.place(n)
	packed := g.chance(40)
	vector := g.chance(30)
	d := g.data()
	if !packed && g.chance(50) {
		d = axiom.Volatile
	}
	var prev Value
	one := g.chance(30) // look once, go on if nothing is there
	for i := range n {
		a := &g.agents[i]
		f, r := g.reg(), g.reg()
		sum := V(1)
		var own, value Value
		if packed {
			own = g.word(2)
		} else {
			own, value = g.word(1), g.word(1)
		}
		var code []Instr
		if i > 0 {
			switch {
			case packed && vector:
				in := g.poll(f, prev, pick(g, axiom.Relaxed, axiom.Acquire), Ne, V(0))
				in.N, in.Dst = 2, []int{f, r}
				code = append(code, in)
			case packed:
				in := g.poll(f, prev, pick(g, axiom.Relaxed, axiom.Acquire), Ne, V(0))
				in.Wide, in.Dst = true, []int{f, r}
				code = append(code, in)
			default:
				code = append(code, g.see(f, prev, true, Ne, V(0))...)
				code[0].Tries = 0
				code = append(code, g.load(r, V(prev.Const+1), d))
			}
			sum = Value{Const: 1, Reg: r + 1}
		}
		if packed {
			st := Instr{Kind: Store, Sem: pick(g, axiom.Relaxed, axiom.Release), Scope: g.scope, Shared: g.shared, At: own, Wide: !vector, Src: []Value{V(1), sum}}
			if vector {
				st.N = 2
			}
			code = append(code, st)
		} else {
			code = append(code, g.store(value, sum, d))
			code = append(code, g.publish(own, V(1))...)
		}
		if i == n-1 {
			t := g.reg()
			code = append(code, Instr{Kind: Move, Op: Add, Dst: []int{t}, Src: []Value{sum, V(0)}})
			code = append(code, g.use(R(t), uint32(n), g.word(1))...)
		}
		if one && i == n-1 && !packed {
			code[0].Kind, code[0].Tries = code[0].By, 0
			code = []Instr{code[0], when(Ne, R(f), V(0), code[1:]...)}
		}
		a.add(code...)
		prev = own
	}
}

// lastArriver makes all agents write a part, and the last arriver add the parts.
func (g *generator) lastArriver() {
	n := pick(g, 2, 2, 3)
	g.place(n)
	count, common := g.word(1), g.word(1)
	parts := make([]Value, n)
	for i := range parts {
		parts[i] = g.word(1)
	}
	d := g.data()
	fences := g.chance(60)
	for i := range n {
		a := &g.agents[i]
		r := g.reg()
		a.add(g.store(parts[i], V(1), d))
		if fences {
			f := pick(g, axiom.AcqRel, axiom.SC)
			a.add(g.fence(f), g.atom(r, Add, count, axiom.Relaxed, V(1)), g.fence(f))
		} else {
			a.add(g.atom(r, Add, count, axiom.AcqRel, V(1)))
		}
		sum := g.reg()
		then := []Instr{{Kind: Move, Op: Add, Dst: []int{sum}, Src: []Value{V(0), V(0)}}}
		for _, q := range parts {
			t := g.reg()
			then = append(then, g.load(t, q, d), Instr{Kind: Move, Op: Add, Dst: []int{sum}, Src: []Value{R(sum), R(t)}})
		}
		then = append(then, g.use(R(sum), uint32(n), common)...)
		a.add(when(Eq, R(r), V(uint32(n)-1), then...))
	}
}

// lock is a critical section.
func (g *generator) lock() {
	n := 2
	g.place(n)
	m, x, common := g.word(1), g.word(1), g.word(1)
	d := g.data()
	for i := range n {
		a := &g.agents[i]
		o, r := g.reg(), g.reg()
		take := g.atom(o, Cas, m, pick(g, axiom.Acquire, axiom.AcqRel), V(0), V(1))
		take.By, take.Kind, take.Cmp, take.Want = Atom, Poll, Eq, V(0)
		once := g.chance(40)
		if once {
			take.Kind = Atom
		}
		var after []Instr
		if g.chance(50) {
			take.Sem = axiom.Relaxed
			after = append(after, g.fence(axiom.AcqRel))
		}
		body := append(after, g.load(r, x, d))
		if g.chance(20) {
			body = append(body, g.use(R(r), uint32(i), common)...)
		}
		body = append(body, g.store(x, Value{Const: 1, Reg: r + 1}, d))
		if g.chance(50) {
			body = append(body, g.fence(axiom.AcqRel), g.atom(g.reg(), Exch, m, axiom.Relaxed, V(0)))
		} else {
			body = append(body, g.store(m, V(0), axiom.Release))
		}
		if once {
			body = []Instr{when(Eq, R(o), V(0), body...)}
		}
		a.add(append([]Instr{take}, body...)...)
	}
}

// line puts flag and value into one access, a vector or a scalar of 8 bytes.
func (g *generator) line() {
	n := pick(g, 2, 2, 3)
	g.place(n)
	wide := g.chance(40)
	k := pick(g, 2, 2, 4)
	if wide {
		k = 2
	}
	at := g.word(uint32(k))
	common := g.word(1)
	shape := func(in *Instr) {
		if wide {
			in.Wide = true
		} else {
			in.N = k
		}
	}
	s := pick(g, axiom.Relaxed, axiom.Relaxed, axiom.Volatile)
	saying, looking := s, s
	if g.chance(30) {
		saying, looking = axiom.Release, axiom.Acquire
	}
	flag := g.IntN(k)
	if wide {
		flag = 0
	}
	for i := range n - 1 {
		st := Instr{Kind: Store, Sem: saying, Scope: g.scope, Shared: g.shared, At: at}
		shape(&st)
		for range k {
			st.Src = append(st.Src, V(uint32(i)+1))
		}
		g.agents[i].add(st)
	}
	a := &g.agents[n-1]
	ld := Instr{Kind: Load, Sem: looking, Scope: g.scope, Shared: g.shared, At: at}
	shape(&ld)
	for range k {
		ld.Dst = append(ld.Dst, g.reg())
	}
	f, v := ld.Dst[flag], ld.Dst[(flag+1)%k]
	if flag == 0 && g.chance(50) {
		ld.By, ld.Kind, ld.Cmp, ld.Want = Load, Poll, Ne, V(0)
	}
	a.add(ld)
	t := g.reg()
	body := append([]Instr{{Kind: Move, Op: Sub, Dst: []int{t}, Src: []Value{R(v), R(f)}}}, g.use(R(t), 0, common)...)
	a.add(when(Ne, R(f), V(0), body...))
	if g.chance(30) {
		g.agents[0].add(g.store(common, V(3), axiom.Weak))
	}
}

// gate places a read by control flow: one agent publishes data by a word, then opens a
// gate, with or without order; another waits at the gate, and then reads the word.
func (g *generator) gate() {
	n := pick(g, 2, 2, 3)
	g.place(n)
	gate, word, data, common := g.word(1), g.word(1), g.word(1), g.word(1)
	d := pick(g, axiom.Weak, axiom.Weak, axiom.Relaxed)
	a := &g.agents[0]
	a.add(g.store(data, V(3), d))
	if g.chance(50) {
		a.add(g.store(word, V(1), pick(g, axiom.Release, axiom.Release, axiom.Relaxed)))
	} else {
		a.add(g.publish(word, V(1))...)
	}
	for i := 1; i < n; i++ {
		b := &g.agents[i]
		open, pass := g.publish(gate, V(1)), g.see(g.reg(), gate, true, Ne, V(0))
		if g.chance(70) {
			open = []Instr{g.store(gate, V(1), pick(g, axiom.Relaxed, axiom.Relaxed, axiom.Volatile, axiom.Release))}
			pass = []Instr{g.poll(g.reg(), gate, pick(g, axiom.Relaxed, axiom.Relaxed, axiom.Volatile, axiom.Acquire), Ne, V(0))}
		}
		g.agents[i-1].add(open...)
		gate = g.word(1)
		b.add(pass...)
		if i < n-1 && g.chance(60) {
			if g.chance(50) {
				b.add(g.red(Add, word, pick(g, axiom.Relaxed, axiom.Release), V(1)))
			}
			continue
		}
		f, r := g.reg(), g.reg()
		b.add(g.see(f, word, g.chance(30), Ne, V(0))...)
		get := []Instr{g.load(r, data, d)}
		switch g.IntN(4) {
		case 0:
			get = append(get, g.use(R(f), 1, common)...)
		case 1:
			get = []Instr{when(Ne, R(f), V(0), append(get, g.use(R(r), 3, common)...)...)}
		default:
			get = append(get, g.use(R(r), 3, common)...)
		}
		b.add(get...)
	}
}

// lanes makes several lanes of a warp execute one instruction, and another warp read the
// results.
func (g *generator) lanes() {
	n := pick(g, 2, 2, 3, 4)
	if len(g.agents) > 0 {
		return
	}
	g.place(2)
	a, b := &g.agents[0], &g.agents[1]
	if a.cta == b.cta && a.warp == b.warp {
		b.warp, b.first = 1, 0
	}
	a.lanes = n
	data := g.word(4)
	own := Value{Const: data.Const, Lane: 1}
	d := g.data()
	common := g.word(1)
	r := g.reg()
	switch g.IntN(4) {
	case 0, 1:
		// Each adds to a counter, after its datum is written.
		count := g.word(1)
		op, step, all := Add, V(1), uint32(n)
		if g.chance(25) {
			op, step, all = Max, Value{Const: 1, Lane: 1}, uint32(n)
		} else if g.chance(25) {
			op, step, all = Or, Value{Const: 1, Lane: 1}, [...]uint32{0, 1, 3, 3, 7}[n]
		}
		some := g.chance(70)
		if some {
			a.add(g.store(own, V(1), d))
		}
		switch g.IntN(3) {
		case 0:
			a.add(g.red(op, count, axiom.Release, step))
		case 1:
			a.add(g.fence(axiom.AcqRel), g.red(op, count, axiom.Relaxed, step))
		case 2:
			a.add(g.atom(g.reg(), op, count, axiom.Release, step))
		}
		wait := g.chance(70)
		seen := g.see(r, count, wait, Ge, V(all))
		var then []Instr
		if g.chance(30) {
			seen[0].Want = V(all - 1)
		}
		t := g.reg()
		if some {
			then = append(then, g.load(t, V(data.Const+uint32(g.IntN(n))), d))
			then = append(then, g.use(R(t), 1, common)...)
		} else {
			then = append(then, Instr{Kind: Move, Op: Sub, Dst: []int{t}, Src: []Value{R(r), V(all - 1)}})
			then = append(then, g.use(R(t), 1, common)...)
		}
		if !wait || seen[0].Tries == 2 {
			then = []Instr{when(Ge, R(r), V(all-uint32(g.IntN(2))), then...)}
		}
		b.add(append(seen, then...)...)
	case 2:
		// Each sets its flag; another warp sees one and not the other.
		s := pick(g, axiom.Relaxed, axiom.Release, axiom.Volatile)
		a.add(g.store(own, V(1), s))
		i, j := g.IntN(n), g.IntN(n)
		t, u := g.reg(), g.reg()
		q := pick(g, axiom.Relaxed, axiom.Acquire)
		b.add(g.load(r, V(data.Const+uint32(i)), q), g.load(t, V(data.Const+uint32(j)), q))
		b.add(Instr{Kind: Move, Op: Sub, Dst: []int{u}, Src: []Value{R(r), R(t)}})
		b.add(when(Ne, R(r), V(0), g.use(R(u), 0, common)...))
	case 3:
		// Each reads another lane's write, after a barrier or not.
		a.add(g.store(own, Value{Const: 1, Lane: 1}, d))
		w := g.load(r, V(data.Const+uint32(g.IntN(n))), d)
		if g.chance(70) {
			a.phases = append(a.phases, nil)
			g.join = pick(g, Barrier, WarpSync)
		}
		a.add(w)
		out := g.word(4)
		a.add(g.store(Value{Const: out.Const, Lane: 1}, R(r), axiom.Weak))
		b.add(g.load(g.reg(), V(out.Const), pick(g, axiom.Weak, axiom.Relaxed)))
		if g.chance(50) {
			b.phases = [][]Instr{nil}
		}
	}
}

// loadBuffering has loads that later stores may overtake.
func (g *generator) loadBuffering() {
	g.place(2)
	x, y, common := g.word(1), g.word(1), g.word(1)
	r, q := g.reg(), g.reg()
	s := pick(g, axiom.Relaxed, axiom.Relaxed, axiom.Volatile)
	a, b := &g.agents[0], &g.agents[1]
	a.add(g.load(r, x, s))
	b.add(g.load(q, y, s))
	if g.chance(50) {
		a.add(g.fence(axiom.AcqRel))
		b.add(g.fence(axiom.AcqRel))
	}
	a.add(g.store(y, V(1), s))
	if g.chance(30) {
		b.add(g.store(x, R(q), s))
	} else {
		b.add(g.store(x, V(1), s))
	}
	a.add(when(Ne, R(r), V(0), g.store(common, V(1), axiom.Weak)))
	if g.chance(50) {
		b.add(when(Ne, R(q), V(0), g.store(common, V(2), axiom.Weak)))
	} else {
		t := g.reg()
		b.add(when(Ne, R(q), V(0), g.load(t, common, axiom.Weak)))
	}
}

// gridBarrier makes all agents arrive at a counter and wait for the total.
func (g *generator) gridBarrier() {
	n := pick(g, 2, 2, 3)
	g.place(n)
	count, common := g.word(1), g.word(1)
	d := g.data()
	data := make([]Value, n)
	for i := range data {
		data[i] = g.word(1)
	}
	for i := range n {
		a := &g.agents[i]
		a.add(g.store(data[i], V(1), d))
		if g.chance(50) {
			a.add(g.fence(axiom.AcqRel), g.red(Add, count, axiom.Relaxed, V(1)))
		} else {
			a.add(g.atom(g.reg(), Add, count, axiom.Release, V(1)))
		}
		seen := g.see(g.reg(), count, true, Eq, V(uint32(n)))
		seen[0].Tries = 0
		a.add(seen...)
		r := g.reg()
		a.add(g.load(r, data[(i+1)%n], d))
		if i == 0 {
			a.add(g.use(R(r), 1, common)...)
		}
	}
}

// phased puts barriers of the CTA between writes and reads.
func (g *generator) phased() {
	g.place(3)
	warp := true
	for _, a := range g.agents[:2] {
		warp = warp && a.cta == 0 && a.warp == 0
	}
	if warp && g.chance(70) || g.chance(10) {
		g.join = WarpSync
	}
	x := []Value{g.word(1), g.word(1), g.word(1)}
	d := g.data()
	common := g.word(1)
	for i := range g.agents {
		a := &g.agents[i]
		a.add(g.store(x[i], V(uint32(i)+1), d))
		a.phases = append(a.phases, nil)
		r := g.reg()
		j := (i + 1) % 3
		if b := &g.agents[j]; (b.cta != a.cta || g.join == WarpSync && b.warp != a.warp) && g.chance(80) {
			j = i
		}
		a.add(g.load(r, x[j], d))
		a.add(g.use(R(r), uint32(j)+1, common)...)
	}
}

// readers makes several agents read two words in different orders.
func (g *generator) readers() {
	n := pick(g, 2, 3)
	g.place(n)
	x, y, common := g.word(1), g.word(1), g.word(1)
	s := pick(g, axiom.Relaxed, axiom.Relaxed, axiom.Volatile)
	g.agents[0].add(g.store(x, V(1), s), g.fence(axiom.AcqRel), g.store(y, V(1), s))
	for i := 1; i < n; i++ {
		a := &g.agents[i]
		r, q, t := g.reg(), g.reg(), g.reg()
		first, second := y, x
		if g.chance(30) {
			first, second = x, x
		}
		a.add(g.load(r, first, s), g.fence(axiom.AcqRel), g.load(q, second, s))
		// Words of 0 and 1: max(q, r) - q is 1 if r is new and q old.
		a.add(Instr{Kind: Move, Op: Max, Dst: []int{t}, Src: []Value{R(q), R(r)}})
		a.add(Instr{Kind: Move, Op: Sub, Dst: []int{t}, Src: []Value{R(t), R(q)}})
		a.add(g.use(R(t), 0, common)...)
	}
}

// ticket makes agents draw tickets and proceed in their order, or use them as an index.
func (g *generator) ticket() {
	n := pick(g, 2, 2, 3)
	g.place(n)
	next, serving, x := g.word(1), g.word(1), g.word(1)
	slots := g.word(4)
	d := g.data()
	queue := g.chance(50)
	for i := range n {
		a := &g.agents[i]
		t, r := g.reg(), g.reg()
		a.add(g.atom(t, Add, next, axiom.Relaxed, V(1)))
		if queue {
			// A separate slot in an array.
			a.add(g.store(Value{Const: slots.Const, Reg: t + 1}, V(uint32(i)+1), d))
			continue
		}
		seen := g.see(g.reg(), serving, true, Eq, R(t))
		seen[0].Tries = 0
		a.add(seen...)
		a.add(g.load(r, x, d), g.store(x, Value{Const: 1, Reg: r + 1}, d))
		a.add(g.publish(serving, Value{Const: 1, Reg: t + 1})...)
	}
}

// queue makes one agent fill slots and publish their number, and another read the last.
func (g *generator) queue() {
	g.place(2)
	count, common := g.word(1), g.word(1)
	slots := g.word(4)
	d := g.data()
	n := uint32(1 + g.IntN(2))
	a, b := &g.agents[0], &g.agents[1]
	for i := range n {
		a.add(g.store(V(slots.Const+i), V(i+1), d))
		if i+1 < n && g.chance(50) {
			a.add(g.store(count, V(i+1), axiom.Release))
		}
	}
	a.add(g.store(count, V(n), axiom.Release))
	c, r, t := g.reg(), g.reg(), g.reg()
	wait := g.chance(60)
	seen := g.see(c, count, wait, Ne, V(0))
	then := []Instr{
		g.load(r, Value{Const: slots.Const - 1, Reg: c + 1}, d),
		{Kind: Move, Op: Sub, Dst: []int{t}, Src: []Value{R(r), R(c)}},
	}
	then = append(then, g.use(R(t), 0, common)...)
	if !wait || seen[0].Tries == 2 {
		then = []Instr{when(Ne, R(c), V(0), then...)}
	}
	b.add(append(seen, then...)...)
}

// sequence is a sequence lock: a reader that sees the same even number before and after
// must have read two words of one version.
func (g *generator) sequence() {
	g.place(2)
	seq, x, y, common := g.word(1), g.word(1), g.word(1), g.word(1)
	a, b := &g.agents[0], &g.agents[1]
	s := pick(g, axiom.Relaxed, axiom.Volatile)
	a.add(g.store(seq, V(1), s), g.fence(axiom.AcqRel), g.store(x, V(1), s), g.store(y, V(1), s), g.store(seq, V(2), axiom.Release))
	p, q, u, v, t := g.reg(), g.reg(), g.reg(), g.reg(), g.reg()
	b.add(g.load(p, seq, axiom.Acquire), g.load(u, x, s), g.load(v, y, s), g.fence(axiom.AcqRel), g.load(q, seq, s))
	b.add(Instr{Kind: Move, Op: And, Dst: []int{t}, Src: []Value{R(p), V(1)}})
	d := g.reg()
	body := append([]Instr{{Kind: Move, Op: Sub, Dst: []int{d}, Src: []Value{R(u), R(v)}}}, g.use(R(d), 0, common)...)
	b.add(when(Eq, R(t), V(0), when(Eq, R(p), R(q), body...)))
}

// relay makes one thread of a CTA wait for another CTA's publication, and the others read
// after a barrier.
func (g *generator) relay() {
	if len(g.agents) > 0 {
		return
	}
	g.shared, g.scope = false, axiom.GPU
	g.p.Cluster = pick(g, 0, 0, 2)
	if g.p.Cluster == 2 {
		g.scope = axiom.Cluster
	}
	flag, data, common := g.word(1), g.word(1), g.word(1)
	d := g.data()
	g.agents = []agent{{lanes: 1}, {cta: 1, lanes: 1}, {cta: 1, warp: 1, lanes: 1}}
	if g.chance(30) {
		g.agents[2].warp, g.agents[2].first = 0, 1
		g.join = pick(g, Barrier, WarpSync)
	}
	g.agents[0].add(g.store(data, V(1), d))
	g.agents[0].add(g.publish(flag, V(1))...)
	f, r := g.reg(), g.reg()
	wait := g.chance(70)
	g.agents[1].add(g.see(f, flag, wait, Ne, V(0))...)
	c := &g.agents[2]
	c.phases = [][]Instr{nil, nil}
	if !wait {
		// The observed flag is passed on to the others.
		said := g.word(1)
		g.agents[1].add(g.store(said, R(f), axiom.Weak))
		c.add(g.load(f, said, axiom.Weak), when(Ne, R(f), V(0), append([]Instr{g.load(r, data, d)}, g.use(R(r), 1, common)...)...))
		return
	}
	c.add(g.load(r, data, d))
	c.add(g.use(R(r), 1, common)...)
}

// chaos draws random accesses.
func (g *generator) chaos() {
	n := pick(g, 2, 2, 3)
	g.place(n)
	x := []Value{g.word(1), g.word(1)}
	common := g.word(1)
	weak := 5
	if g.words == 3 && g.chance(20) {
		g.p.Init = []uint32{uint32(g.IntN(2)), 1}
		g.shared = false
	}
	for i := range n {
		a := &g.agents[i]
		var last int
		read := false
		for range 1 + g.IntN(4) {
			at := x[g.IntN(2)]
			r := g.reg()
			s := pick(g, axiom.Relaxed, axiom.Relaxed, axiom.Volatile)
			v := V(uint32(1 + g.IntN(2)))
			if read && g.chance(30) {
				v = Value{Const: uint32(g.IntN(2)), Reg: last + 1}
			}
			if g.chance(weak) {
				s = axiom.Weak
			}
			var in Instr
			switch g.IntN(8) {
			case 0, 1, 2:
				if g.chance(30) {
					s = axiom.Acquire
				}
				in = g.load(r, at, s)
				last, read = r, true
			case 3, 4:
				if g.chance(30) {
					s = axiom.Release
				}
				in = g.store(at, v, s)
			case 5:
				in = g.atom(r, pick(g, Add, Exch, Max, Min, Or), at, pick(g, axiom.Relaxed, axiom.Acquire, axiom.Release, axiom.AcqRel), v)
				last, read = r, true
			case 6:
				in = g.atom(r, Cas, at, pick(g, axiom.Relaxed, axiom.AcqRel), V(uint32(g.IntN(2))), v)
				last, read = r, true
			case 7:
				if g.chance(50) {
					in = g.fence(pick(g, axiom.AcqRel, axiom.SC))
				} else {
					in = g.red(pick(g, Add, Max, Or), at, pick(g, axiom.Relaxed, axiom.Release), v)
				}
			}
			a.add(in)
		}
		if read && g.chance(70) {
			a.add(g.use(R(last), uint32(g.IntN(3)), common)...)
		}
	}
}

// harm makes one random change that may break a program.
func (g *generator) harm() {
	var all []*Instr
	g.p.walk(func(in *Instr) {
		if in.Kind != Move && in.Kind != If && in.Kind != Loop && in.Kind != Trap {
			all = append(all, in)
		}
	})
	if len(all) == 0 {
		return
	}
	in := all[g.IntN(len(all))]
	switch g.IntN(5) {
	case 0: // order
		switch {
		case in.Kind == Fence && in.Sem == axiom.SC && g.chance(50):
			in.Sem = axiom.AcqRel
		case in.Kind == Fence:
			*in = Instr{Kind: Move, Op: Add, Dst: []int{0}, Src: []Value{R(0), V(0)}}
		case in.Sem > axiom.Relaxed:
			in.Sem = axiom.Relaxed
		default:
			g.harm()
		}
	case 1: // scope
		if in.Sem == axiom.Weak || in.Sem == axiom.Volatile {
			g.harm()
			return
		}
		in.Scope = pick(g, axiom.CTA, axiom.CTA, axiom.Cluster, axiom.GPU, axiom.Sys)
	case 2: // strength
		if in.Kind == Load || in.Kind == Store || in.Kind == Poll && in.By == Load {
			in.Sem = pick(g, axiom.Weak, axiom.Volatile, axiom.Relaxed)
		} else {
			g.harm()
		}
	case 3: // a poll that tests once, or for too small a value
		switch {
		case in.Kind != Poll:
			g.harm()
		case g.chance(40):
			in.Kind = in.By
		case g.chance(50):
			in.Cmp = Ge
		default:
			in.Want.Const--
		}
	case 4: // two instructions are swapped
		g.swap()
	}
}

func (g *generator) swap() {
	w := &g.p.Warps[g.IntN(len(g.p.Warps))]
	s := &w.Steps[g.IntN(len(w.Steps))]
	if len(s.Roles) == 0 {
		return
	}
	code := s.Roles[g.IntN(len(s.Roles))].Code
	if len(code) < 2 {
		return
	}
	i := g.IntN(len(code) - 1)
	code[i], code[i+1] = code[i+1], code[i]
}
