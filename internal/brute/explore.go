package brute

// A Result is what can come out of a program.
type Result struct {
	States   int
	Complete bool // every schedule was visited
	Memories int  // different final memories, up to MostMemories
	Stuck    bool // some schedule deadlocks
	Stands   []Stand
	Fault    bool
	Race     bool // some pair races, and not only by plain stores of equal values
	// Phases: some operation meets different phases or generations in different
	// schedules that end.
	Phases bool
	Pairs  [][2]int // operations that race, with equal values too
	Final  []Memory
}

// Independent reports whether every schedule ends, without a fault or a race, with
// the same memory.
func (r *Result) Independent() bool {
	return r.Complete && r.Memories == 1 && !r.Stuck && !r.Fault && !r.Race
}

// A Memory is what a run leaves: the slots of global memory, and what each thread's
// loads saw. Shared memory is gone by then.
type Memory struct {
	Slots [Slots]uint8
	Seen  [MaxOps]uint8
}

// A Stand is a state in which threads are stuck: the next operation of each, -1 for
// those that have ended, and the contents of the slots.
type Stand struct {
	At    [MaxThreads]int8
	Slots [Slots]uint8
}

// MostMemories is how many final memories are kept.
const MostMemories = 4096

// Explore visits every schedule, up to limit states. With card, barriers behave like
// an H200's where that and the ISA differ.
func Explore(p *Program, card bool, limit int) Result { return newRunner(p, card).explore(limit) }

// ExploreLoose is Explore if the commits of one thread could arrive in any order.
func ExploreLoose(p *Program, limit int) Result {
	r := newRunner(p, false)
	r.loose = true
	return r.explore(limit)
}

func (r *runner) explore(limit int) Result {
	p := r.p
	var out Result
	begin := r.start()
	seen := map[state]struct{}{begin: {}}
	todo := []state{begin}
	memories := map[Memory]bool{}
	type phases [2][MaxOps]int8
	ends := map[phases]bool{}
	stands := map[Stand]bool{}
	pairs := map[[2]int]bool{} // true: not by equal stores alone
	push := func(s state, ok bool) {
		if !ok {
			out.Fault = true
			return
		}
		if _, old := seen[s]; !old {
			seen[s] = struct{}{}
			todo = append(todo, s)
		}
	}
	for len(todo) > 0 {
		if len(seen) > limit {
			out.States = len(seen)
			return out
		}
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		r.findRaces(&s, pairs)
		moved := false
		for t := range p.Threads {
			if r.enabled(&s, t) {
				moved = true
				c := s
				ok := r.step(&c, t)
				push(c, ok)
			}
		}
		for i := range r.n {
			if r.pendingMilestone(&s, i) {
				moved = true
				c := s
				ok := r.milestone(&c, i)
				push(c, ok)
			}
		}
		if moved {
			continue
		}
		if !r.done(&s) {
			out.Stuck = true
			stands[r.stand(&s)] = true
			continue
		}
		if len(memories) < MostMemories {
			memories[r.memory(&s)] = true
		}
		if len(ends) < 2 {
			ends[phases{s.met, s.async}] = true
		}
	}
	out.Complete, out.States = true, len(seen)
	out.Memories, out.Phases = len(memories), len(ends) > 1
	for k, apart := range pairs {
		out.Race = out.Race || apart
		out.Pairs = append(out.Pairs, k)
	}
	for st := range stands {
		out.Stands = append(out.Stands, st)
	}
	for m := range memories {
		out.Final = append(out.Final, m)
	}
	return out
}

func (r *runner) memory(s *state) Memory {
	m := Memory{Slots: s.mem}
	clear(m.Slots[:FirstGlob])
	for i := range r.n {
		if r.ops[i].Kind == Load {
			m.Seen[i] = s.value[i]
		}
	}
	return m
}

func (r *runner) stand(s *state) Stand {
	st := Stand{Slots: s.mem}
	for t := range st.At {
		st.At[t] = -1
		if t < len(r.p.Threads) && !r.exited(s, t) {
			st.At[t] = int8(r.first[t] + int(s.pc[t]))
		}
	}
	return st
}

func (r *runner) done(s *state) bool {
	for t := range r.p.Threads {
		if !r.exited(s, t) {
			return false
		}
	}
	return true // milestones are always possible, so none is left
}

// equal reports whether two threads are about to store equal values.
func (r *runner) equal(s *state, a, b int) bool {
	var v [2]uint8
	for i, n := range []int{a, b} {
		o := r.ops[n]
		if o.Kind != Store {
			return false
		}
		if v[i] = o.N; o.N == 0 {
			v[i] = s.last[r.by[n]]
		}
	}
	return v[0] == v[1]
}

// findRaces collects the pairs of conflicting operations that are both enabled.
func (r *runner) findRaces(s *state, pairs map[[2]int]bool) {
	var acc [MaxThreads + MaxOps]access
	var who [MaxThreads + MaxOps]int
	n := 0
	for t := range r.p.Threads {
		if r.enabled(s, t) {
			if a, ok := r.touches(s, t); ok {
				acc[n], who[n] = a, r.first[t]+int(s.pc[t])
				n++
			}
		}
	}
	for i := range r.n {
		if r.pendingMilestone(s, i) {
			if a, ok := r.touchesAsync(s, i); ok {
				acc[n], who[n] = a, i
				n++
			}
		}
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if races(acc[i], acc[j]) {
				k := [2]int{min(who[i], who[j]), max(who[i], who[j])}
				pairs[k] = pairs[k] || !r.equal(s, who[i], who[j])
			}
		}
	}
}
