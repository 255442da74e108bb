package brute

import (
	"fmt"
	"math/rand"
)

// An Oracle makes the programs of the oracle that came with the theorem, the same
// ones in the same order for a seed: two or three threads of one to ten operations
// over one or two mbarriers and two named barriers. Some thread waits, and one run,
// chosen at random, ends. It is ported, and so are its rules (OracleRules), so that
// shares that are measured here compare with its own.
type Oracle struct {
	r         *rand.Rand
	Generated int // programs made, those included that were thrown away
}

// NewOracle starts the sequence of one worker of the oracle: its workers have the
// seeds 1000 times the oracle's, and up.
func NewOracle(seed int64) *Oracle { return &Oracle{r: rand.New(rand.NewSource(seed))} }

// Next returns the next program that is kept.
func (o *Oracle) Next() *Program {
	for {
		p := o.program()
		o.Generated++
		if newBones(p, OracleRules).ends(o.r) && p.blocks() {
			return p
		}
	}
}

func (o *Oracle) program() *Program {
	r, p := o.r, &Program{}
	n := 1 + r.Intn(2)
	for range n {
		p.Counts = append(p.Counts, int8(1+r.Intn(2)))
	}
	for range 2 + r.Intn(2) {
		more := 1 + r.Intn(5)
		var ops []Op
		var parity [2]uint8
		for b := range n {
			parity[b] = uint8(r.Intn(4) / 3)
		}
		for range more {
			b := uint8(r.Intn(n))
			bytes := uint8(16 * (1 + r.Intn(2)))
			copied := Op{Kind: Copy, Bar: b, N: bytes, Src: FirstConst}
			switch x := r.Intn(100); {
			case x < 22:
				ops = append(ops, Op{Kind: Arrive, Bar: b})
			case x < 26:
				ops = append(ops, Op{Kind: Drop, Bar: b})
			case x < 44:
				k := ArriveExpect
				if x >= 38 {
					k = Expect
				}
				ops = append(ops, Op{Kind: k, Bar: b, N: bytes})
				if r.Intn(2) == 0 {
					ops = append(ops, copied)
				}
			case x < 52:
				ops = append(ops, copied)
			case x < 57:
				ops = append(ops, Op{Kind: Increment, Bar: b})
			case x < 60:
				ops = append(ops, Op{Kind: NoIncrement, Bar: b})
			case x < 92:
				ops = append(ops, Op{Kind: Wait, Bar: b, N: parity[b]})
				parity[b] ^= 1
			case x < 97:
				ops = append(ops, Op{Kind: Sync, Bar: uint8(r.Intn(2)), N: 2})
			default:
				ops = append(ops, Op{Kind: BarArrive, Bar: uint8(r.Intn(2)), N: 2})
			}
		}
		p.Threads = append(p.Threads, ops)
	}
	return p
}

// blocks reports whether some thread waits for another.
func (p *Program) blocks() bool {
	for _, ops := range p.Threads {
		for _, o := range ops {
			if o.Kind == Wait || o.Kind == Sync {
				return true
			}
		}
	}
	return false
}

// Rules select among the ISA, an H200 and the oracle where they differ on barriers.
type Rules struct {
	Card           bool // an increment charges the tx-count
	ExpectComplete bool // an announcement may complete a phase
	LastDrop       bool // drops may leave a count of zero
}

var (
	// OracleRules are those of the oracle.
	OracleRules = Rules{ExpectComplete: true}
	// ISARules and CardRules are those of the rest of this package.
	ISARules  = Rules{LastDrop: true}
	CardRules = Rules{LastDrop: true, Card: true}
)

// Bones are a program's barriers alone: an asynchronous operation is one step, in
// which it signals.
type bones struct {
	rules   Rules
	ops     []Op
	threads int
	first   [MaxThreads + 1]uint8
	counts  []int8
}

// bare is a state of bones. All its fields are bytes, so that it hashes fast.
type bare struct {
	pc                    [MaxThreads]uint8 // in ops
	blocked               uint8             // threads at a named barrier
	flying                [5]uint8          // operations in flight, a bit each
	phase, pend, next, tx [2]int8           // tx in units of 16 bytes
	gen, n, want, waiters [2]uint8
}

func newBones(p *Program, rules Rules) *bones {
	x := &bones{rules: rules, threads: len(p.Threads), counts: p.Counts}
	for t, ops := range p.Threads {
		x.ops = append(x.ops, ops...)
		x.first[t+1] = uint8(len(x.ops))
	}
	return x
}

func (x *bones) start() bare {
	var s bare
	copy(s.pc[:], x.first[:])
	for b, c := range x.counts {
		s.pend[b], s.next[b] = c, c
	}
	return s
}

func (x *bones) canGo(s *bare, t int) bool {
	if s.pc[t] >= x.first[t+1] || s.blocked>>t&1 != 0 {
		return false
	}
	o := x.ops[s.pc[t]]
	return o.Kind != Wait || uint8(s.phase[o.Bar]&1) != o.N
}

func (x *bones) done(s *bare) bool {
	for t := range x.threads {
		if s.pc[t] < x.first[t+1] {
			return false
		}
	}
	return s.flying == [5]uint8{}
}

// charge does what an operation does to its mbarrier; false is a fault.
func (x *bones) charge(s *bare, k Kind, b, n uint8) bool {
	switch k {
	case Arrive, Drop, ArriveExpect, NoIncrement:
		if s.pend[b] == 0 || k == Drop && (s.next[b] == 0 || s.next[b] == 1 && !x.rules.LastDrop) {
			return false
		}
		s.pend[b]--
		switch k {
		case Drop:
			s.next[b]--
		case ArriveExpect:
			s.tx[b] += int8(n / 16)
		}
	case Expect:
		s.tx[b] += int8(n / 16)
		if !x.rules.ExpectComplete && s.pend[b] == 0 && s.tx[b] == 0 {
			return false
		}
	case Copy:
		s.tx[b] -= int8(n / 16)
	case Increment: // the arrival that it announced
		if x.rules.Card {
			s.tx[b]--
		} else if s.pend[b] == 0 {
			return false
		} else {
			s.pend[b]--
		}
	}
	if s.pend[b] == 0 && s.tx[b] == 0 {
		s.phase[b]++
		s.pend[b] = s.next[b]
	}
	return true
}

// none says that a step is charged to no phase.
const none = -9

// step takes a thread's next operation and returns the phase or generation that it
// met; false is a fault.
func (x *bones) step(s *bare, t int) (int8, bool) {
	i := s.pc[t]
	o := x.ops[i]
	met := int8(none)
	switch o.Kind {
	case Wait:
		met = s.phase[o.Bar] - 1
	case Sync, BarArrive:
		b := o.Bar
		if s.n[b] > 0 && s.want[b] != o.N {
			return met, false
		}
		s.want[b] = o.N
		s.n[b]++
		met = int8(s.gen[b])
		if o.Kind == Sync {
			s.blocked |= 1 << t
			s.waiters[b] |= 1 << t
			s.pc[t]--
		}
		s.pc[t]++
		if s.n[b] == o.N {
			for k := range x.threads {
				if s.waiters[b]>>k&1 != 0 {
					s.pc[k]++
				}
			}
			s.blocked &^= s.waiters[b]
			s.waiters[b], s.n[b], s.want[b] = 0, 0, 0
			s.gen[b]++
		}
		return met, true
	case Copy, NoIncrement:
		s.flying[i/8] |= 1 << (i % 8)
	case Increment:
		s.flying[i/8] |= 1 << (i % 8)
		met = s.phase[o.Bar]
		switch {
		case !x.rules.Card:
			s.pend[o.Bar]++
		case s.pend[o.Bar] == 0 && s.tx[o.Bar] == -1:
			return met, false
		default:
			s.tx[o.Bar]++
		}
	default:
		met = s.phase[o.Bar]
		if !x.charge(s, o.Kind, o.Bar, o.N) {
			return met, false
		}
	}
	s.pc[t]++
	return met, true
}

// land makes an operation in flight signal.
func (x *bones) land(s *bare, i int) (int8, bool) {
	o := x.ops[i]
	s.flying[i/8] &^= 1 << (i % 8)
	met := s.phase[o.Bar]
	return met, x.charge(s, o.Kind, o.Bar, o.N)
}

// ends makes one random run, as the oracle does, and reports whether it ends.
func (x *bones) ends(r *rand.Rand) bool {
	s := x.start()
	var flying []int
	for {
		var moves [MaxThreads + 40]int
		n := 0
		for t := range x.threads {
			if x.canGo(&s, t) {
				moves[n] = t
				n++
			}
		}
		for k := range flying {
			moves[n] = -1 - k
			n++
		}
		if n == 0 {
			return x.done(&s)
		}
		ok := false
		if t := moves[r.Intn(n)]; t >= 0 {
			i := s.pc[t]
			_, ok = x.step(&s, t)
			if s.flying[i/8]>>(i%8)&1 != 0 {
				flying = append(flying, int(i))
			}
		} else {
			k := -1 - t
			_, ok = x.land(&s, flying[k])
			flying = append(flying[:k], flying[k+1:]...)
		}
		if !ok {
			return false
		}
	}
}

// Disagree says how two schedules of a program of barriers alone differ: one faults
// or is stuck, or an operation meets different phases or generations in them. It is
// empty if none do.
func Disagree(p *Program, rules Rules) string {
	x := newBones(p, rules)
	// The phase that each operation met first, and behind those their asynchronous
	// halves'. A schedule in which one meets another phase ends with that, or never, so
	// that the first difference decides.
	var met [2 * 40]int8
	for i := range met {
		met[i] = none
	}
	differs := func(i int, m int8) bool {
		if met[i] == none {
			met[i] = m
		}
		return met[i] != m
	}
	begin := x.start()
	seen := map[bare]struct{}{begin: {}}
	todo := []bare{begin}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		moved := false
		for k := range x.threads + len(x.ops) {
			c := s
			i, m, ok := 0, int8(none), false
			if k < x.threads {
				if !x.canGo(&s, k) {
					continue
				}
				i = int(s.pc[k])
				m, ok = x.step(&c, k)
			} else {
				i = k - x.threads
				if s.flying[i/8]>>(i%8)&1 == 0 {
					continue
				}
				m, ok = x.land(&c, i)
				i += 40
			}
			moved = true
			if !ok {
				return "fault"
			}
			if differs(i, m) {
				return fmt.Sprintf("%v meets %d, or %d", x.ops[i%40], met[i], m)
			}
			if _, old := seen[c]; !old {
				seen[c] = struct{}{}
				todo = append(todo, c)
			}
		}
		if !moved && !x.done(&s) {
			return "stuck"
		}
	}
	return ""
}
