package flow

import (
	"math/rand/v2"

	"muster/internal/axiom"
)

// A generator draws random programs: an idiom of public kernels, initially correct, with
// random places and random ways of ordering, and then possibly a mutation.
type generator struct {
	*rand.Rand
	p      *Program
	agents []agent
	shared bool
	scope  axiom.Scope // includes all agents
	regs   int
	words  int
	join   StepKind // kind of barrier between phases
}

// An agent is a set of lanes with one code, in phases separated by barriers.
type agent struct {
	cta, warp, first, lanes int
	phases                  [][]Instr
}

// Generate returns the program of a seed.
func Generate(seed uint64) *Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x6d757374))}
	g.p = &Program{Words: 32}
	g.join = Barrier
	shapes := []func(){
		g.message, g.message, g.message, g.message, g.buffering, g.buffering, g.lookBack, g.lookBack, g.lastArriver, g.lastArriver,
		g.lock, g.line, g.line, g.line, g.gate, g.gate, g.lanes, g.lanes, g.lanes, g.chaos, g.chaos, g.chaos, g.loadBuffering,
		g.gridBarrier, g.phased, g.phased, g.readers, g.ticket, g.queue, g.sequence, g.relay, g.relay,
	}
	shapes[g.IntN(len(shapes))]()
	if g.chance(15) && g.words < 10 && !g.wide() {
		// A second idiom after the first, by the same agents.
		shapes[g.IntN(len(shapes))]()
	}
	g.build()
	for range g.harms() {
		g.harm()
	}
	return g.p
}

// wide reports whether some agent has several lanes; their plain stores would race in
// other idioms.
func (g *generator) wide() bool {
	for _, a := range g.agents {
		if a.lanes > 1 {
			return true
		}
	}
	return false
}

func (g *generator) harms() int { return pick(g, 0, 0, 0, 1, 1, 1, 2) }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// reg allocates an unused register.
func (g *generator) reg() int {
	g.regs = (g.regs + 1) % MaxRegs
	return g.regs
}

// word allocates n unused words, aligned.
func (g *generator) word(n uint32) Value {
	for g.words%int(n) != 0 {
		g.words++
	}
	v := V(uint32(g.words))
	g.words += int(n)
	return v
}

// place draws the places of n agents, keeping existing ones.
func (g *generator) place(n int) {
	if len(g.agents) >= n {
		return
	}
	if len(g.agents) > 0 {
		last := g.agents[len(g.agents)-1]
		for len(g.agents) < n {
			last.warp++
			g.agents = append(g.agents, agent{cta: last.cta, warp: last.warp, lanes: 1})
		}
		return
	}
	kind := pick(g, 0, 0, 0, 1, 1, 2, 3, 4)
	for i := range n {
		a := agent{lanes: 1}
		switch kind {
		case 0: // a CTA each
			a.cta, g.scope = i, axiom.GPU
		case 1: // a warp each
			a.warp, g.scope = i, axiom.CTA
		case 2: // lanes of one warp, or of two
			a.first, g.scope = i, axiom.CTA
			if n > 2 && i == n-1 {
				a.warp, a.first = 1, 0
			}
		case 3: // a cluster of two, and more
			a.cta, g.scope = i%2, axiom.Cluster
			a.warp = i / 2
			g.p.Cluster = 2
		case 4: // two clusters, or warps of two CTAs
			a.cta, a.warp, g.scope = i%2, i/2, axiom.GPU
		}
		g.agents = append(g.agents, a)
	}
	if g.scope == axiom.CTA && g.chance(50) {
		g.shared = true
	}
}

// add puts code at the end of an agent's last phase.
func (a *agent) add(code ...Instr) {
	if len(a.phases) == 0 {
		a.phases = [][]Instr{nil}
	}
	last := len(a.phases) - 1
	a.phases[last] = append(a.phases[last], code...)
}

// build assembles warps from agents.
func (g *generator) build() {
	phases, warps := 1, 1
	for _, a := range g.agents {
		phases, warps = max(phases, len(a.phases)), max(warps, a.warp+1)
		g.p.CTAs = max(g.p.CTAs, a.cta+1)
	}
	if n := max(g.p.Cluster, 1); g.p.CTAs%n != 0 {
		g.p.CTAs += n - g.p.CTAs%n
	}
	if g.shared {
		g.p.Shared = 16
	}
	for cta := range g.p.CTAs {
		for warp := range warps {
			w := Warp{CTA: cta, Index: warp}
			some := phases > 1
			for ph := range phases {
				s := Step{}
				for _, a := range g.agents {
					if a.cta == cta && a.warp == warp && ph < len(a.phases) {
						s.Roles = append(s.Roles, Role{First: a.first, Lanes: a.lanes, Code: a.phases[ph]})
						some = true
					}
				}
				if ph > 0 {
					w.Steps = append(w.Steps, Step{Kind: g.join})
				}
				w.Steps = append(w.Steps, s)
			}
			if some {
				g.p.Warps = append(g.p.Warps, w)
			}
		}
	}
}

// Instructions.

func (g *generator) load(dst int, at Value, s axiom.Sem) Instr {
	return Instr{Kind: Load, Sem: s, Scope: g.scope, Shared: g.shared, At: at, Dst: []int{dst}}
}

func (g *generator) store(at, v Value, s axiom.Sem) Instr {
	return Instr{Kind: Store, Sem: s, Scope: g.scope, Shared: g.shared, At: at, Src: []Value{v}}
}

func (g *generator) atom(dst int, op Op, at Value, s axiom.Sem, v ...Value) Instr {
	return Instr{Kind: Atom, Sem: s, Scope: g.scope, Shared: g.shared, At: at, Dst: []int{dst}, Op: op, Src: v}
}

func (g *generator) red(op Op, at Value, s axiom.Sem, v Value) Instr {
	return Instr{Kind: Red, Sem: s, Scope: g.scope, Shared: g.shared, At: at, Op: op, Src: []Value{v}}
}

func (g *generator) fence(s axiom.Sem) Instr { return Instr{Kind: Fence, Sem: s, Scope: g.scope} }

func (g *generator) poll(dst int, at Value, s axiom.Sem, c Cmp, want Value) Instr {
	in := g.load(dst, at, s)
	in.Kind, in.By, in.Cmp, in.Want = Poll, Load, c, want
	return in
}

func when(c Cmp, a, b Value, body ...Instr) Instr {
	return Instr{Kind: If, Cmp: c, Src: []Value{a, b}, Body: body}
}

// publish returns one way to store a flag that releases earlier writes.
func (g *generator) publish(at, v Value) []Instr {
	switch g.IntN(6) {
	case 0, 1:
		return []Instr{g.store(at, v, axiom.Release)}
	case 2:
		return []Instr{g.fence(axiom.AcqRel), g.store(at, v, axiom.Relaxed)}
	case 3:
		return []Instr{g.fence(axiom.SC), g.store(at, v, pick(g, axiom.Relaxed, axiom.Volatile))}
	case 4:
		return []Instr{g.atom(g.reg(), Exch, at, pick(g, axiom.Release, axiom.AcqRel), v)}
	}
	return []Instr{g.fence(axiom.AcqRel), g.red(Add, at, axiom.Relaxed, v)}
}

// see returns one way to test a flag, or wait for it.
func (g *generator) see(r int, at Value, wait bool, c Cmp, want Value) []Instr {
	var in Instr
	var after []Instr
	switch g.IntN(5) {
	case 0, 1:
		in = g.load(r, at, axiom.Acquire)
	case 2:
		in = g.atom(r, Add, at, axiom.Acquire, V(0))
	case 3:
		in, after = g.load(r, at, axiom.Relaxed), []Instr{g.fence(axiom.AcqRel)}
	case 4:
		in, after = g.load(r, at, axiom.Volatile), []Instr{g.fence(axiom.SC)}
	}
	if wait {
		in.By, in.Kind, in.Cmp, in.Want = in.Kind, Poll, c, want
		if g.chance(25) {
			in.Tries, in.Traps = 2, g.chance(50)
			if in.Traps && g.chance(70) {
				in.Tries = Patient
			}
		}
	}
	return append([]Instr{in}, after...)
}

// data draws the semantics of an access to data.
func (g *generator) data() axiom.Sem {
	return pick(g, axiom.Weak, axiom.Weak, axiom.Relaxed, axiom.Relaxed, axiom.Volatile)
}

// use consumes a value and exposes it if it is not want.
func (g *generator) use(v Value, want uint32, common Value) []Instr {
	switch g.IntN(7) {
	case 0:
		return []Instr{g.store(g.word(1), v, axiom.Weak)}
	case 1, 2:
		return []Instr{when(Ne, v, V(want), Instr{Kind: Trap})}
	case 3:
		return []Instr{when(Ne, v, V(want), g.store(common, V(uint32(7+g.words)), axiom.Weak))}
	case 4:
		// An index that is out of bounds unless the value is want.
		t := g.reg()
		return []Instr{
			{Kind: Move, Op: Sub, Dst: []int{t}, Src: []Value{v, V(want)}},
			{Kind: Move, Op: Mul, Dst: []int{t}, Src: []Value{R(t), V(1 << 20)}},
			g.store(Value{Const: g.word(1).Const, Reg: t + 1}, V(1), axiom.Weak),
		}
	case 5:
		// An infinite wait unless the value is want.
		r := g.reg()
		return []Instr{g.poll(r, g.word(1), axiom.Relaxed, Eq, Value{Const: -want, Reg: v.Reg})}
	}
	t := g.reg()
	return []Instr{{Kind: Move, Op: pick(g, Add, Xor, Max), Dst: []int{t}, Src: []Value{v, V(5)}}, g.store(g.word(1), R(t), axiom.Relaxed)}
}
