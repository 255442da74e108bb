package flow

import (
	"fmt"
	"slices"
)

// A Test is a litmus test: threads in given places, with branches and labels, over words of
// global memory. An address is the number of a word, or from Words on of an alias.
type Test struct {
	Words   int
	Init    []uint32
	Aliases []int // the words that the addresses after the words' stand for
	Threads []Thread
	// Loops bounds a thread's jumps backward: executions with more are left out.
	Loops int
	// Free makes branches no dependence: code behind one may be executed before its condition is
	// known. That is more than the axioms allow, unless what both ways do is the same.
	Free bool
	// Without leaves out axioms.
	Without Clause
}

// A Thread is the code of one thread, and where it runs: threads of one CTA have one number
// there, those of one cluster and one GPU too. Labels are positions of Code.
type Thread struct {
	GPU, Cluster, CTA int
	Code              []Instr
}

// A Result says how a search ended.
type Result struct {
	Graphs int
	// Cut says what ended the search early: a limit, or Stopped. Loops: some executions were
	// left out for a thread that jumps backward more often than allowed.
	Cut   string
	Loops bool
}

// Stopped is the Cut of a search that stop ended.
const Stopped = "stopped"

// An Execution is one that the axioms allow, with a coherence order. It is valid until the
// function that gets it returns.
type Execution struct{ g *graph }

// Executions calls f with each execution that the axioms allow, until f returns false or
// stop, which is asked now and then, reports true, or more than most graphs were looked at.
func (t *Test) Executions(most int, stop func() bool, f func(*Execution) bool) (Result, error) {
	p := &Program{Words: t.Words, Init: t.Init, Aliases: t.Aliases, without: t.Without}
	x := &search{p: p, most: most, loops: t.Loops, stop: stop, free: t.Free}
	for i := range t.Threads {
		h := &t.Threads[i]
		y := thread{gpu: h.GPU, cluster: h.Cluster, cta: h.CTA, warp: i, code: slices.Clone(h.Code)}
		for k := range y.code {
			if in := &y.code[k]; in.Kind == Meet {
				in.group = named
			}
			if to := y.code[k].Target; to < 0 || to > len(y.code) {
				return Result{}, fmt.Errorf("a jump out of the code")
			}
		}
		y.code = append(y.code, Instr{Kind: Halt})
		x.th = append(x.th, y)
	}
	x.found = func(g *graph) bool { return f(&Execution{g}) }
	x.run()
	return Result{Graphs: x.graph, Cut: x.why, Loops: x.looped}, x.err
}

// Hangs reports whether some thread never ends: it waits at a barrier.
func (e *Execution) Hangs() bool { return e.g.hangs() }

// Outside reports whether some access is out of bounds.
func (e *Execution) Outside() bool { return e.g.out }

// Races reports whether two accesses are in a data race (ISA 8.7.1).
func (e *Execution) Races() bool {
	_, _, race := e.g.races()
	return race
}

// Reg returns the last value of a register.
func (e *Execution) Reg(thread, reg int) uint32 {
	v, _ := e.g.know(e.g.state.th[thread].regs[reg])
	return v
}

// Last lists the values that a word may have in the end, each once: where writes race,
// coherence order may have several that are last (ISA 8.9.6).
func (e *Execution) Last(at int) []uint32 {
	var last []uint32
	for _, w := range e.g.newest(at) {
		v, _ := e.g.know(e.g.ev[w].val[at-e.g.ev[w].at])
		last = append(last, v)
	}
	if last == nil {
		return []uint32{e.g.p.start(at)}
	}
	slices.Sort(last)
	return slices.Compact(last)
}

// newest lists the writes of a word that no other follows in coherence order.
func (g *graph) newest(at int) (last []int) {
	for w := range g.ev {
		if !g.writesWord(w, at) {
			continue
		}
		newest := true
		for u := range g.ev {
			newest = newest && !(g.co[w].has(u) && g.writesWord(u, at))
		}
		if newest {
			last = append(last, w)
		}
	}
	return last
}

func (g *graph) writesWord(w, at int) bool {
	v := &g.ev[w]
	return v.writes() && at >= v.at && at < v.at+v.words
}

// Buffers reports whether program order, reads-from, Fence-SC order and the order of barriers have
// a cycle together: load buffering (ISA 8.10.4). No machine that executes one step after the other
// has such an execution, whatever its reads return.
func (e *Execution) Buffers() bool { return !e.g.built() }

// Sequential reports whether the execution is an interleaving: whether its steps can be in one
// order in which each read returns what was written last. It is unknown where coherence order
// leaves two writes of a word unordered.
func (e *Execution) Sequential() (is, known bool) {
	g := e.g
	r := e.steps()
	for a := range g.ev {
		for b := range g.ev {
			x, y := &g.ev[a], &g.ev[b]
			if a == b || !g.overlap(a, b) {
				continue
			}
			if x.writes() && y.writes() && !g.co[a].has(b) && !g.co[b].has(a) {
				return false, false
			}
			if g.communicates(a, b) {
				r.add(a, b)
			}
		}
	}
	return r.close(len(g.ev)), true
}

// steps is program order with reads-from and the order of barriers.
func (e *Execution) steps() *relation {
	g := e.g
	var r relation
	for a := range g.ev {
		for b := range g.ev {
			x, y := &g.ev[a], &g.ev[b]
			if g.po(a, b) || x.kind == arrive && y.kind == pass && g.meet(x, y) {
				r.add(a, b)
			}
		}
		x := &g.ev[a]
		if x.kind != access || !x.read {
			continue
		}
		for k := range x.words {
			if w := x.src[k]; w >= 0 {
				r.add(w, a)
			}
		}
	}
	return &r
}

// A Read is a read of an execution: the instructions by their positions in the threads' code.
type Read struct {
	Thread, PC int
	Word       int
	Value      uint32
	// From is the thread of the write that it takes its value from, less than 0 for the
	// initial value, and FromPC that write's position.
	From, FromPC int
}

// Reads lists the reads of an execution, thread by thread.
func (e *Execution) Reads() []Read {
	var list []Read
	g := e.g
	for i := range g.ev {
		v := &g.ev[i]
		if v.kind != access || !v.read {
			continue
		}
		for k := range v.words {
			r := Read{Thread: v.thread, PC: v.pc, Word: v.at + k, From: -1}
			r.Value, _ = g.loaded(i, k)
			if w := v.src[k]; w >= 0 {
				r.From, r.FromPC = g.ev[w].thread, g.ev[w].pc
			}
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b Read) int { return a.Thread - b.Thread })
	return list
}

// A Write is a write of an execution.
type Write struct {
	Thread, PC int
	Value      uint32
}

// Coherence lists the writes of a word in coherence order. Where it orders two of them in
// neither way they race, and whole is false.
func (e *Execution) Coherence(at int) (list []Write, whole bool) {
	g := e.g
	var all []int
	for w := range g.ev {
		if g.writesWord(w, at) {
			all = append(all, w)
		}
	}
	whole = true
	for i, a := range all {
		for _, b := range all[:i] {
			whole = whole && (g.co[a].has(b) || g.co[b].has(a))
		}
	}
	// The relation is transitive: what has more predecessors among all comes later.
	before := func(w int) (n int) {
		for _, u := range all {
			if g.co[u].has(w) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b int) int { return before(a) - before(b) })
	for _, w := range all {
		v, _ := g.know(g.ev[w].val[at-g.ev[w].at])
		list = append(list, Write{g.ev[w].thread, g.ev[w].pc, v})
	}
	return list, whole
}
