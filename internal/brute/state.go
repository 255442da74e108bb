package brute

// A bar is an mbarrier as the ISA has it (9.7.13.15): a phase, arrivals pending and
// expected, and the bytes still to land.
type bar struct {
	phase      int8
	pend, next int8
	tx         int16
}

// A named is a CTA's named barrier.
type named struct {
	gen, n, want uint8
	blocked      uint8 // threads
}

// A state is comparable, so that it can be a map's key.
type state struct {
	pc      [MaxThreads]uint8
	peeked  uint8 // threads whose last Peek came out true
	stopped uint8 // threads that wait at a named barrier
	last    [MaxThreads]uint8
	token   [MaxThreads][MaxBars]int8 // the phase of its last token of each mbarrier
	mem     [Slots]uint8
	bars    [MaxBars]bar
	named   [2 * MaxNamed]named // of each CTA
	// The cluster's barrier: threads that arrived in this generation, that may pass.
	arrived, passes uint8
	// Of each operation: its stage, the value that it carries or loaded, the phase
	// that it met and that its asynchronous half met.
	stage      [MaxOps]uint8
	value      [MaxOps]uint8
	met, async [MaxOps]int8
}

// The stages of an asynchronous operation.
const (
	idle uint8 = iota
	issued
	read
	written
	over
)

// A runner steps states of one program.
type runner struct {
	p     *Program
	first [MaxThreads]int // number of a thread's first operation
	ops   [MaxOps]Op
	by    [MaxOps]int
	n     int
	// card makes the increment of cp.async.mbarrier.arrive charge the tx-count, like
	// an H200, and not the pending count, as the ISA says.
	card bool
	// loose lets the commits of one thread arrive in any order, and not as they were issued.
	loose bool
}

func newRunner(p *Program, card bool) *runner {
	r := &runner{p: p, card: card}
	for t, ops := range p.Threads {
		r.first[t] = r.n
		for _, o := range ops {
			r.ops[r.n], r.by[r.n] = o, t
			r.n++
		}
	}
	return r
}

func (r *runner) start() state {
	var s state
	for b, c := range r.p.Counts {
		s.bars[b] = bar{pend: c, next: c}
	}
	for i := range s.met {
		s.met[i], s.async[i] = -9, -9
	}
	for i := range s.mem {
		s.mem[i] = initial(i)
	}
	for t := range r.p.Threads {
		r.skip(&s, t)
	}
	return s
}

// initial is what a slot holds at the start.
func initial(slot int) uint8 { return uint8(20 + slot) }

// skip passes operations without an effect here.
func (r *runner) skip(s *state, t int) {
	ops := r.p.Threads[t]
	for int(s.pc[t]) < len(ops) && ops[s.pc[t]].Kind == Fence {
		s.pc[t]++
	}
}

func (r *runner) exited(s *state, t int) bool { return int(s.pc[t]) >= len(r.p.Threads[t]) }

// passed reports whether the last complete phase of b has a parity; before the
// first phase that parity is 1.
func (b *bar) passed(parity uint8) bool { return uint8(b.phase&1) != parity }

// enabled reports whether a thread can take its next step.
func (r *runner) enabled(s *state, t int) bool {
	if r.exited(s, t) || s.stopped>>t&1 != 0 {
		return false
	}
	o := r.p.Threads[t][s.pc[t]]
	switch o.Kind {
	case Wait:
		return s.bars[o.Bar].passed(o.N)
	case WaitPeek:
		return s.peeked>>t&1 != 0 || s.bars[o.Bar].passed(o.N)
	case WaitToken:
		return (s.bars[o.Bar].phase-s.token[t][o.Bar])&1 != 0 // a token has one bit of its phase
	case ClusterWait:
		return s.arrived>>t&1 == 0 // not arrived at all: it faults when it steps
	case WaitGroup:
		return r.groups(s, t, o.N, written)
	case WaitRead:
		return r.groups(s, t, o.N, read)
	}
	return true
}

// groups reports whether all but the last n of a thread's bulk groups have reached
// a stage.
func (r *runner) groups(s *state, t int, n, stage uint8) bool {
	newer := uint8(0)
	for i := int(s.pc[t]) - 1; i >= 0; i-- {
		switch r.p.Threads[t][i].Kind {
		case Commit:
			newer++
		case StoreAll, AddAll, MaxAll:
			// Before any commit it is in no group yet.
			if newer > n && s.stage[r.first[t]+i] < stage {
				return false
			}
		}
	}
	return true
}

// pendingMilestone reports whether an operation's next milestone can happen.
func (r *runner) pendingMilestone(s *state, i int) bool {
	switch st := s.stage[i]; {
	case st == idle || st == over:
		return false
	case r.ops[i].Kind == Increment || r.ops[i].Kind == NoIncrement:
		for k := r.first[r.by[i]]; k < i; k++ {
			if r.ops[k].Kind == CopyAsync && s.stage[k] != over {
				return false
			}
		}
	case r.ops[i].Kind == Arrival && !r.loose:
		for k := r.first[r.by[i]]; k < i; k++ {
			if r.ops[k].Kind == Arrival && s.stage[k] == issued {
				return false
			}
		}
	}
	return true
}

// settle completes the phase if nothing is outstanding.
func (b *bar) settle() {
	if b.pend == 0 && b.tx == 0 {
		b.phase++
		b.pend = b.next
	}
}

// charge applies an arrival, an announcement or a landing; false: a fault, or
// undefined by the ISA.
func (r *runner) charge(b *bar, k Kind, n uint8) bool {
	switch k {
	case Arrive, ArriveToken:
		if b.pend == 0 {
			return false
		}
		b.pend--
	case Drop:
		if b.pend == 0 || b.next == 0 {
			return false
		}
		b.pend--
		b.next--
	case ArriveExpect:
		if b.pend == 0 {
			return false
		}
		b.tx += int16(n)
		b.pend--
	case Expect:
		b.tx += int16(n)
		return b.pend != 0 || b.tx != 0 // the ISA does not let it complete a phase
	}
	b.settle()
	return true
}

// step takes a thread's next operation; false is a fault.
func (r *runner) step(s *state, t int) bool {
	o := r.p.Threads[t][s.pc[t]]
	e := r.first[t] + int(s.pc[t])
	b := &s.bars[o.Bar%MaxBars]
	bit := uint8(1) << t
	switch o.Kind {
	case Arrive, ArriveToken, Drop, ArriveExpect, Expect:
		if r.gone(s, r.p.barHome(o.Bar)) {
			return false
		}
		s.met[e] = b.phase
		if o.Kind == ArriveToken {
			s.token[t][o.Bar] = b.phase
		}
		if !r.charge(b, o.Kind, o.N) {
			return false
		}
	case Copy, CopyAsync, NoIncrement, StoreAll, AddAll, MaxAll:
		s.stage[e] = issued
	case Arrival:
		if r.gone(s, r.p.barHome(o.Bar)) {
			return false
		}
		s.stage[e] = issued
	case Increment:
		s.stage[e] = issued
		s.met[e] = b.phase
		if r.card {
			b.tx++
			if b.pend == 0 && b.tx == 0 {
				return false
			}
		} else {
			b.pend++
		}
	case Wait, WaitToken:
		s.met[e] = b.phase - 1
	case Peek:
		s.peeked &^= bit
		if b.passed(o.N) {
			s.peeked |= bit
		}
	case WaitPeek:
		// It met the phase of its peek or its own. Both have its parity, so nothing is
		// recorded.
		if s.peeked&bit != 0 {
			s.pc[t] += uint8(r.p.skips(t, int(s.pc[t])))
		}
	case Sync, BarArrive:
		return r.bar(s, t, e, o)
	case ClusterArrive:
		if (s.arrived|s.passes)&bit != 0 {
			return false // again, without a wait
		}
		s.arrived |= bit
		s.pc[t]++
		r.skip(s, t)
		r.openCluster(s)
		return true
	case ClusterWait:
		if s.passes&bit == 0 {
			return false // it has not arrived
		}
		s.passes &^= bit
	case Load:
		s.value[e], s.last[t] = s.mem[o.Slot], s.mem[o.Slot]
	case LoadStrong:
	case Store, StoreStrong:
		v := o.N
		if v == 0 {
			v = s.last[t]
		}
		s.mem[o.Slot] = v
	case Add:
		s.mem[o.Slot] += o.N
	case Max:
		s.mem[o.Slot] = max(s.mem[o.Slot], o.N)
	}
	s.pc[t]++
	r.skip(s, t)
	if r.exited(s, t) {
		r.openCluster(s)
	}
	return true
}

// gone reports whether a CTA's threads have all exited.
func (r *runner) gone(s *state, cta int) bool {
	for t := range r.p.Threads {
		if r.p.home(t) == cta && !r.exited(s, t) {
			return false
		}
	}
	return true
}

// openCluster lets the cluster's barrier open once all threads that have not exited
// have arrived.
func (r *runner) openCluster(s *state) {
	for t := range r.p.Threads {
		if s.arrived>>t&1 == 0 && !r.exited(s, t) {
			return
		}
	}
	s.passes |= s.arrived
	s.arrived = 0
}

func (r *runner) bar(s *state, t, e int, o Op) bool {
	n := &s.named[MaxNamed*r.p.home(t)+int(o.Bar)]
	if n.n > 0 && n.want != o.N {
		return false
	}
	n.want = o.N
	n.n++
	s.met[e] = int8(n.gen)
	if o.Kind == Sync {
		s.stopped |= 1 << t
		n.blocked |= 1 << t
	} else {
		s.pc[t]++
		r.skip(s, t)
	}
	if n.n == n.want {
		for k := range r.p.Threads {
			if n.blocked>>k&1 != 0 {
				s.stopped &^= 1 << k
				s.pc[k]++
				r.skip(s, k)
			}
		}
		n.blocked, n.n = 0, 0
		n.gen++
		n.want = 0
	}
	r.openCluster(s)
	return true
}

// milestone takes an operation's next milestone; false is a fault.
func (r *runner) milestone(s *state, i int) bool {
	o := r.ops[i]
	b := &s.bars[o.Bar%MaxBars]
	switch o.Kind {
	case Arrival:
		s.stage[i] = over
		s.async[i] = b.phase
		if home := r.p.barHome(o.Bar); home != r.p.home(r.by[i]) && r.gone(s, home) {
			return false
		}
		return r.charge(b, Arrive, 1)
	case Increment, NoIncrement:
		s.stage[i] = over
		s.async[i] = b.phase
		if o.Kind == Increment && r.card {
			b.tx--
			b.settle()
			return true
		}
		return r.charge(b, Arrive, 1)
	}
	switch s.stage[i] {
	case issued:
		s.value[i] = s.mem[o.Src]
		s.stage[i] = read
	case read:
		switch o.Kind {
		case AddAll:
			s.mem[o.Slot] += s.value[i]
		case MaxAll:
			s.mem[o.Slot] = max(s.mem[o.Slot], s.value[i])
		default:
			s.mem[o.Slot] = s.value[i]
		}
		s.value[i] = 0
		s.stage[i] = written
		if o.Kind != Copy {
			s.stage[i] = over
		}
	case written:
		s.stage[i] = over
		s.async[i] = b.phase
		b.tx -= int16(o.bytes())
		b.settle()
	}
	return true
}

// An access is what a step does to a slot.
type access struct {
	slot          uint8
	write, strong bool
	async         bool // by the asynchronous proxy
}

// touches lists the access of a thread's next step, or of an operation's next
// milestone.
func (r *runner) touches(s *state, t int) (access, bool) {
	o := r.p.Threads[t][s.pc[t]]
	switch o.Kind {
	case Load:
		return access{slot: o.Slot}, true
	case LoadStrong:
		return access{slot: o.Slot, strong: true}, true
	case StoreStrong:
		return access{slot: o.Slot, write: true, strong: true}, true
	case Store:
		return access{slot: o.Slot, write: true}, true
	case Add, Max:
		return access{slot: o.Slot, write: true, strong: true}, true
	}
	return access{}, false
}

func (r *runner) touchesAsync(s *state, i int) (access, bool) {
	o := r.ops[i]
	switch o.Kind {
	case Copy, CopyAsync, StoreAll, AddAll, MaxAll:
		async := o.Kind != CopyAsync
		switch s.stage[i] {
		case issued:
			return access{slot: o.Src, async: async}, true
		case read:
			return access{slot: o.Slot, write: true, strong: o.Kind == AddAll || o.Kind == MaxAll, async: async}, true
		}
	}
	return access{}, false
}

// races reports whether two accesses conflict and are not morally strong: both
// strong, and by one proxy (ISA 8.7).
func races(a, b access) bool {
	return a.slot == b.slot && (a.write || b.write) && !(a.strong && b.strong && a.async == b.async)
}
