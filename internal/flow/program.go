package flow

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"muster/ptx"
)

// A Program is a kernel's functions: the kernel itself, and those that it may call.
type Program struct {
	Funcs []Func

	schedule schedule
	tests    tests
	peeks    struct {
		once  sync.Once
		at    map[int32]bool
		waits map[int32]Peek
	}
}

// A Func is a function as it was decoded.
type Func struct {
	Index   int32          // among the program's
	Uses    []Use          // by PC
	Results []Reg          // that it returns
	Rows    [classes]int32 // how many registers it has, by class
}

// Uses yields the uses of all functions, by PC.
func (p *Program) Uses() iter.Seq[*Use] {
	return func(yield func(*Use) bool) {
		for f := range p.Funcs {
			uses := p.Funcs[f].Uses
			for i := range uses {
				if !yield(&uses[i]) {
					return
				}
			}
		}
	}
}

// any reports whether something holds of some use.
func (p *Program) any(holds func(u *Use) bool) bool {
	for u := range p.Uses() {
		if holds(u) {
			return true
		}
	}
	return false
}

// Does reports whether the effect of some instruction has any of the parts.
func (p *Program) Does(parts ptx.Effect) bool {
	return p.any(func(u *Use) bool { return u.Does(parts) })
}

// UsesTensorMemory reports whether the program has instructions of the family tcgen05.
func (p *Program) UsesTensorMemory() bool {
	return p.any(func(u *Use) bool { return u.In.IsOf(ptx.ClassTcgen05) })
}

// HasFences reports whether the program has fences of memory.
func (p *Program) HasFences() bool {
	return p.any(func(u *Use) bool { return u.In.IsOf(ptx.ClassFence) })
}

// FencesSC reports whether the program has fence.sc, or membar, which is one (ISA 9.7.13.4).
func (p *Program) FencesSC() bool {
	return p.any(func(u *Use) bool {
		return u.In.IsOf(ptx.ClassFence) && u.In.Sem() == ptx.SC
	})
}

// HasStrongGlobalAccess reports whether the program has strong reads, or atomics, of
// memory that may be global. Through these a CTA can observe other CTAs.
func (p *Program) HasStrongGlobalAccess() bool {
	return p.any(func(u *Use) bool {
		in := u.In
		shared := slices.ContainsFunc(in.Mods, func(m string) bool { return strings.HasPrefix(m, "shared") })
		return !shared && (u.Does(ptx.Updates) || u.Does(ptx.Reads) && in.Sem().Strong())
	})
}

// Points lists the strong accesses of a program by lanes, by place. The schedule decides
// their order on one word of memory unless something else does.
func (p *Program) Points() map[int32]bool {
	all := map[int32]bool{}
	for u := range p.Uses() {
		if u.Does(ptx.Reads|ptx.Writes) && u.In.Sem().Strong() && u.In.Form.Async == "none" {
			all[u.PC] = true
		}
	}
	return all
}

// schedule holds what the text alone shows about schedules. It is made once.
type schedule struct {
	once        sync.Once
	dependences []Dependence
	polls       map[int32]*Poll
	flips       map[int32]*Flip
}

func (p *Program) ofSchedules() *schedule {
	s := &p.schedule
	s.once.Do(func() {
		s.polls, s.flips = map[int32]*Poll{}, map[int32]*Flip{}
		for f := range p.Funcs {
			if !p.Funcs[f].mayVary() {
				continue
			}
			if g := newGraph(&p.Funcs[f]); g != nil {
				s.dependences = append(s.dependences, g.dependences()...)
				for _, l := range g.polls {
					s.polls[l.PC] = l
				}
				for _, l := range g.flips {
					s.flips[l.PC] = l
				}
			}
		}
	})
	return s
}

// Dependences lists the program's dependences, by place. None: condition C9
// holds, if all Polls end with one value in every schedule.
func (p *Program) Dependences() []Dependence { return p.ofSchedules().dependences }

// Polls lists the program's polls, by the place of their loads.
func (p *Program) Polls() map[int32]*Poll { return p.ofSchedules().polls }

// Flips lists the program's waits for a bit of a counter, by the place of their loads. They
// are among the dependences.
func (p *Program) Flips() map[int32]*Flip { return p.ofSchedules().flips }

// DependencesBut lists the dependences that remain if the results of some instructions
// do not depend on the schedule.
func (p *Program) DependencesBut(decided map[int32]bool) []Dependence {
	if len(decided) == 0 {
		return p.Dependences()
	}
	var all []Dependence
	for f := range p.Funcs {
		if g := newGraph(&p.Funcs[f]); g != nil {
			g.decided = decided
			all = append(all, g.dependences()...)
		}
	}
	return all
}

// Peeks lists the tests of barriers that are peeks, by place: see peek.go.
func (p *Program) Peeks() map[int32]bool {
	p.findPeeks()
	return p.peeks.at
}

// PeekWaits gives for each of the peeks the waits that it stands for.
func (p *Program) PeekWaits() map[int32]Peek {
	p.findPeeks()
	return p.peeks.waits
}

func (p *Program) findPeeks() {
	p.peeks.once.Do(func() {
		p.peeks.at, p.peeks.waits = map[int32]bool{}, map[int32]Peek{}
		if len(p.Dependences()) == 0 {
			return
		}
		roots := map[int32]bool{} // a test with a wait right behind it may be one, too
		for _, d := range p.Dependences() {
			for _, pc := range d.Roots {
				roots[pc] = true
			}
		}
		for f := range p.Funcs {
			if !p.Funcs[f].mayVary() {
				continue
			}
			g := newGraph(&p.Funcs[f])
			if g == nil {
				continue
			}
			for i := range g.Nodes {
				u := &g.Nodes[i]
				if !u.Does(ptx.Tests) || !roots[u.PC] && g.unsettled(int32(i)) == "" {
					continue
				}
				if waits, ok := g.peek(int32(i)); ok {
					p.peeks.at[u.PC], p.peeks.waits[u.PC] = true, waits
				}
			}
		}
	})
}

// mayVary reports whether a function has instructions with schedule-dependent results,
// as source and findPolls define them.
func (f *Func) mayVary() bool {
	for i := range f.Uses {
		u := &f.Uses[i]
		switch {
		case u.Does(ptx.Tests):
			return true
		case len(u.Writes) == 0:
		case u.Does(ptx.GivesToken | ptx.CountsPending | ptx.ShowsLanes), u.ReadsStrongly(), u.Clock:
			return true
		}
	}
	return false
}

// tests holds what the text alone shows about single instructions: tests of a barrier
// and updates. It is made once.
type tests struct {
	once      sync.Once
	of        map[*ptx.Inst]told
	clustered bool // a barrier of the cluster counts exits
}

// told is what the text shows about an instruction.
type told struct {
	counted      bool // of a test: the number of its failures may show
	settled      bool // of a test: what follows waits for it, but for a trap
	decides      bool // of a test: control flow, or another effect, depends on it
	resultUnused bool // of an update: nothing reads what it returns
}

func (p *Program) ofTests() *tests {
	t := &p.tests
	t.once.Do(func() {
		t.of = map[*ptx.Inst]told{}
		roots := map[int32]bool{}
		for _, d := range p.Dependences() {
			for _, pc := range d.Roots {
				roots[pc] = true
			}
		}
		for f := range p.Funcs {
			if g := p.Graph(int32(f)); g != nil {
				g.tell(t, roots)
			}
		}
	})
	return t
}

func (g *Graph) tell(t *tests, roots map[int32]bool) {
	for i := range g.Nodes {
		u := &g.Nodes[i]
		switch {
		case u.Does(ptx.Tests):
			t.of[u.In] = told{counted: g.counts(int32(i)), settled: g.unsettled(int32(i)) == "", decides: roots[u.PC]}
		case u.In.IsOf(ptx.ClassBarrier):
			t.clustered = t.clustered || u.In.Form.Scope == "cluster"
		case u.Does(ptx.Reads) && u.Does(ptx.Updates):
			t.of[u.In] = told{resultUnused: !slices.ContainsFunc(u.Writes, func(r Reg) bool {
				return slices.ContainsFunc(g.Next[i], func(to int32) bool { return g.IsLive(to, r) })
			})}
		}
	}
}

// Awaits reports whether a test of a barrier is part of a wait that only its phase ends,
// and no lane and no agent can observe how often it failed, or which test of several
// succeeded: see wait.go, and depend.go for what depends on a test.
func (p *Program) Awaits(in *ptx.Inst) bool {
	t := p.ofTests().of[in]
	return t.settled && !t.counted && !t.decides
}

// Settled reports whether what follows a test of a barrier waits for it, or traps.
func (p *Program) Settled(in *ptx.Inst) bool { return p.ofTests().of[in].settled }

// CountsFailures reports whether the number of failures of a test of a barrier may show.
func (p *Program) CountsFailures(in *ptx.Inst) bool { return p.ofTests().of[in].counted }

// ResultUnused reports whether nothing reads the result of an update.
func (p *Program) ResultUnused(in *ptx.Inst) bool { return p.ofTests().of[in].resultUnused }

// ClusterBarrier reports whether the program has a barrier of the cluster, which counts
// the threads that exit.
func (p *Program) ClusterBarrier() bool { return p.ofTests().clustered }
