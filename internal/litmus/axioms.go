package litmus

import (
	"encoding/binary"
	"slices"

	"muster/internal/axiom"
	"muster/internal/axiom/flow"
)

// Bounds on what one engine does for one test.
const (
	maxOutcomes = 10_000
	maxGraphs   = 2_000_000
	maxStates   = 100_000 // final states of one execution
)

// An Outcome is what a test may leave: the values of its observed terms.
type Outcome struct {
	Values []uint32
	// Buffers says that only executions with a cycle of program order, reads-from, Fence-SC
	// order and barriers leave it (ISA 8.10.4).
	Buffers bool
	// Sequential says that some execution that leaves it is an interleaving.
	Sequential bool
	// Graph tells an execution that leaves it, Schedule a run of the machine.
	Graph    *Graph
	Schedule string
}

// Outcomes are what an engine finds.
type Outcomes struct {
	List []Outcome // sorted by values
	// Complete: there are no others. Otherwise Why says what prevented it.
	Complete bool
	Why      string
	// Loops: runs were left out in which a thread jumps backward more often than the bound.
	Loops bool
	// Hangs: in some run a thread waits for ever at a barrier, or in a loop.
	Hangs bool
	// Races: two accesses are in a data race (ISA 8.7.1) in some execution.
	Races bool
	// Loose, of the machine: there may be load buffering (8.10.4), which it does not have.
	Loose bool
	Count int // executions, or runs

	index map[string]int
}

func (o *Outcomes) add(v []uint32) (*Outcome, bool) {
	var key []byte
	for _, x := range v {
		key = binary.LittleEndian.AppendUint32(key, x)
	}
	if o.index == nil {
		o.index = map[string]int{}
	}
	if i, ok := o.index[string(key)]; ok {
		return &o.List[i], false
	}
	o.index[string(key)] = len(o.List)
	o.List = append(o.List, Outcome{Values: slices.Clone(v)})
	return &o.List[len(o.List)-1], true
}

// find returns an outcome, or nil.
func (o *Outcomes) find(v []uint32) *Outcome {
	i, ok := slices.BinarySearchFunc(o.List, v, func(a Outcome, b []uint32) int { return slices.Compare(a.Values, b) })
	if !ok {
		return nil
	}
	return &o.List[i]
}

func (o *Outcomes) sort() {
	slices.SortFunc(o.List, func(a, b Outcome) int { return slices.Compare(a.Values, b.Values) })
}

// Axioms enumerates what the axioms of the ISA allow. A filter leaves out what it does not
// hold for.
func (t *Test) Axioms(loops int, stop func() bool) (*Outcomes, error) {
	out := &Outcomes{}
	x := &flow.Test{Words: t.Words, Init: t.Init, Aliases: t.Aliases, Loops: loops, Without: t.without, Free: t.free}
	if len(t.Aliases) > 0 {
		x.Words = maxWords
	}
	for k := range t.Threads {
		th, err := t.lower(k)
		if err != nil {
			return nil, err
		}
		x.Threads = append(x.Threads, th)
	}
	out.Complete = true
	res, err := x.Executions(maxGraphs, stop, func(e *flow.Execution) bool {
		out.Count++
		if e.Outside() {
			out.Complete, out.Why = false, "an access is out of bounds"
			return false
		}
		out.Races = out.Races || e.Races()
		if e.Hangs() {
			out.Hangs = true
			return true
		}
		buffers := e.Buffers()
		sequential, _ := e.Sequential()
		states := 0
		t.finals(e, func(v []uint32) bool {
			if states++; states > maxStates || len(out.List) > maxOutcomes {
				out.Complete, out.Why = false, "there are more outcomes than are told apart"
				return false
			}
			if t.Filter != nil && !t.Filter.Holds(v) {
				return true
			}
			o, fresh := out.add(v)
			if fresh || o.Buffers && !buffers {
				o.Buffers, o.Graph = buffers, t.graph(e)
			}
			o.Sequential = o.Sequential || sequential
			return true
		})
		return out.Complete
	})
	if err != nil {
		return nil, &Need{File: t.File, What: "less: " + err.Error()}
	}
	if out.Loops = res.Loops; res.Cut != "" && out.Complete {
		out.Complete, out.Why = false, res.Cut
	}
	out.sort()
	return out, nil
}

// finals calls f with the values of the observed terms, until it returns false: several where
// writes of a word race and each may be the last.
func (t *Test) finals(e *flow.Execution, f func([]uint32) bool) {
	v := make([]uint32, len(t.Observed))
	last := map[int]int{} // by word: the term that chose
	var walk func(i int) bool
	walk = func(i int) bool {
		if i == len(v) {
			return f(v)
		}
		o := &t.Observed[i]
		if o.Thread >= 0 {
			v[i] = e.Reg(o.Thread, o.Reg)
			return walk(i + 1)
		}
		if j, ok := last[o.Word]; ok {
			v[i] = v[j]
			return walk(i + 1)
		}
		last[o.Word] = i
		defer delete(last, o.Word)
		for _, x := range e.Last(o.Word) {
			if v[i] = x; !walk(i + 1) {
				return false
			}
		}
		return true
	}
	walk(0)
}

var (
	axiomSems   = [...]axiom.Sem{Weak: axiom.Weak, Volatile: axiom.Volatile, Relaxed: axiom.Relaxed, Acquire: axiom.Acquire, Release: axiom.Release, AcqRel: axiom.AcqRel, SC: axiom.SC}
	axiomScopes = [...]axiom.Scope{NoScope: axiom.CTA, CTA: axiom.CTA, Cluster: axiom.Cluster, GPU: axiom.GPU, Sys: axiom.Sys}
	flowKinds   = [...]flow.Kind{Load: flow.Load, Store: flow.Store, Atom: flow.Atom, Red: flow.Red, Fence: flow.Fence, ProxyFence: flow.ProxyFence, Meet: flow.Meet, Move: flow.Move, Jump: flow.Jump}
	flowProxies = [...]flow.Proxy{Generic: flow.Generic, Texture: flow.Texture, Surface: flow.Surface, Constant: flow.Constant, Alias: flow.Alias}
	flowOps     = [...]flow.Op{Add: flow.Add, Sub: flow.Sub, Mul: flow.Mul, And: flow.And, Or: flow.Or, Xor: flow.Xor, Min: flow.Min, Max: flow.Max, Inc: flow.Inc, Exch: flow.Exch, Cas: flow.Cas,
		IsEq: flow.IsEq, IsNe: flow.IsNe, IsLess: flow.IsLess, IsNotLess: flow.IsNotLess, IsLower: flow.IsLower, IsNotLower: flow.IsNotLower}
	// A jump of package flow is one unless its comparison holds.
	flowUnless = [...]flow.Cmp{Eq: flow.Ne, Ne: flow.Eq, Less: flow.NotLess, NotLess: flow.Less, Lower: flow.Ge, NotLower: flow.Lt}
)

// lower gives a thread in the terms of package flow.
func (t *Test) lower(k int) (flow.Thread, error) {
	h := &t.Threads[k]
	out := flow.Thread{GPU: h.GPU, Cluster: h.Cluster, CTA: h.CTA}
	for reg, v := range h.Init {
		out.Code = append(out.Code, flow.Instr{Kind: flow.Move, Op: flow.Add, Dst: []int{reg}, Src: []flow.Value{flow.V(v), flow.V(0)}})
	}
	first := len(out.Code)
	for i := range h.Code {
		in := &h.Code[i]
		y := flow.Instr{Kind: flowKinds[in.Kind], Sem: axiomSems[in.Sem], Scope: axiomScopes[in.Scope], Proxy: flowProxies[in.Proxy], Op: flowOps[in.Op],
			Dst: in.Dst, At: value(in.At), Bytes: true}
		for _, v := range in.Src {
			y.Src = append(y.Src, value(v))
		}
		switch in.Kind {
		case Jump:
			y.Cmp, y.Target = flowUnless[in.Cmp], first+in.Target
		case Load:
			y.N = len(in.Dst)
		case Store:
			y.N = len(in.Src)
		case Meet:
			if err := t.meet(in, &y); err != nil {
				return out, err
			}
		}
		out.Code = append(out.Code, y)
	}
	return out, nil
}

func value(v Value) flow.Value { return flow.Value{Const: v.Const, Reg: v.Reg} }

// meet names a barrier: by its index, or, where some thread has its number in a register, by
// its instance and that number. Nobody waits then, as in Dat3M.
func (t *Test) meet(in *Instr, y *flow.Instr) error {
	y.Arrives, y.Bar = in.Arrives, in.instance
	if in.Barrier >= 0 {
		b := &t.Barriers[in.Barrier]
		if !b.Open {
			y.Bar, y.Src, y.Quorum = 1<<20+in.Barrier, nil, b.Quorum
			return nil
		}
		if b.Quorum > 0 {
			return &Need{t.File, in.Line, in.Col, "a barrier that has its number in no register, since it counts threads"}
		}
	} else if in.most >= 0 {
		return &Need{t.File, in.Line, in.Col, "a barrier that has its number in no register, since it counts threads"}
	}
	return nil
}
