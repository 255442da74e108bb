package flow

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"muster/internal/axiom"
)

// outcomes collects the registers of all executions, and their final memory where
// nothing races.
func outcomes(x *search, run func()) map[string]bool {
	all := map[string]bool{}
	x.most = 1 << 30
	x.found = func(g *graph) bool {
		text := ""
		for t := range g.state.th {
			for r := range 4 {
				v, _ := g.know(g.state.th[t].regs[r])
				text += fmt.Sprint(v, " ")
			}
		}
		if _, _, race := g.races(); !race {
			text += fmt.Sprint(g.final())
		}
		all[text] = true
		return true
	}
	run()
	return all
}

// naive tries every source of every read, without a thought of what comes first.
func naive(p *Program) map[string]bool {
	th, _ := p.threads()
	x := &search{p: p, th: th}
	return outcomes(x, func() {
		x.prepare()
		s := &state{p: p, th: make([]runner, len(th)), clock: 1}
		x.advance(s)
		x.every(s, 0)
	})
}

func (x *search) every(s *state, r int) {
	for ; r < len(s.ev); r++ {
		e := &s.ev[r]
		if e.kind != access || !e.read || e.src[0] != open {
			continue
		}
		for w := initial; w < len(s.ev); w++ {
			if w >= 0 && (w == r || s.ev[w].kind != access || !s.ev[w].write || s.ev[w].at != e.at) {
				continue
			}
			t := s.clone()
			t.ev[r].src[0] = w
			x.every(t, r+1)
		}
		return
	}
	if !s.circular() {
		s.settle()
		for i := range s.ev {
			e := &s.ev[i]
			if e.kind == access && (e.write && e.ready == 0 || e.read && e.src[0] >= 0 && !s.ev[e.src[0]].write) {
				return
			}
		}
		x.judge(s)
	}
}

// circular reports whether some value is its own cause: following sources and
// arguments for more steps than there are events.
func (s *state) circular() bool {
	var depth func(e *expr, left int) bool
	event := func(i, left int) bool { return false }
	depth = func(e *expr, left int) bool {
		switch {
		case e == nil:
			return false
		case e.b != nil:
			return depth(e.a, left) || depth(e.b, left)
		case e.event == 0:
			return false
		}
		return event(e.event-1, left)
	}
	event = func(i, left int) bool {
		if left == 0 {
			return true
		}
		w := s.ev[i].src[0]
		if w < 0 {
			return false
		}
		v := &s.ev[w]
		if v.rmw {
			for _, a := range v.args {
				if depth(a, left-1) {
					return true
				}
			}
			return (v.op != Exch) && event(w, left-1)
		}
		return depth(v.val[0], left-1)
	}
	for i := range s.ev {
		if s.ev[i].kind == access && s.ev[i].read && event(i, 2*len(s.ev)) {
			return true
		}
	}
	return false
}

// drawLine draws two or three straight lines of accesses to two words.
func drawLine(seed uint64) *Program {
	g := rand.New(rand.NewPCG(seed, 11))
	p := &Program{Words: 4, CTAs: 3}
	apart := g.IntN(3) > 0
	for i := range 2 + g.IntN(2) {
		w := Warp{Index: i}
		if apart {
			w.CTA = i
		}
		var code []Instr
		regs := 0
		for range 1 + g.IntN(3) {
			in := Instr{At: V(uint32(g.IntN(2))), Scope: []axiom.Scope{axiom.CTA, axiom.GPU, axiom.GPU}[g.IntN(3)]}
			v := V(uint32(1 + g.IntN(2)))
			if regs > 0 && g.IntN(2) == 0 {
				v = Value{Const: uint32(g.IntN(2)), Reg: 1 + g.IntN(regs)}
			}
			sems := func(s ...axiom.Sem) { in.Sem = s[g.IntN(len(s))] }
			switch g.IntN(8) {
			case 0, 1, 2:
				in.Kind, in.Dst = Load, []int{regs}
				sems(axiom.Weak, axiom.Relaxed, axiom.Acquire)
			case 3, 4, 5:
				in.Kind, in.Src = Store, []Value{v}
				sems(axiom.Weak, axiom.Relaxed, axiom.Release)
			case 6:
				in.Kind, in.Dst, in.Op, in.Src = Atom, []int{regs}, []Op{Add, Exch, Cas}[g.IntN(3)], []Value{v}
				if in.Op == Cas {
					in.Src = []Value{V(uint32(g.IntN(2))), v}
				}
				sems(axiom.Relaxed, axiom.AcqRel)
			case 7:
				in.Kind = Fence
				sems(axiom.AcqRel, axiom.SC)
			}
			if len(in.Dst) > 0 {
				regs++
			}
			code = append(code, in)
		}
		w.Steps = []Step{{Roles: []Role{{Lanes: 1, Code: code}}}}
		p.Warps = append(p.Warps, w)
	}
	return p
}

// TestSearchIsWhole holds the search to one that tries everything.
func TestSearchIsWhole(t *testing.T) {
	t.Parallel()
	many := 0
	for s := range uint64(500) {
		p := drawLine(s)
		want := naive(p)
		th, _ := p.threads()
		x := &search{p: p, th: th}
		got := outcomes(x, x.run)
		if !maps.Equal(got, want) {
			t.Errorf("program %d: %d outcomes, %d by trying everything\n%v\n%v\n%s", s, len(got), len(want), got, want, p.PTX())
		}
		many += len(want)
	}
	t.Logf("%d outcomes", many)
}
