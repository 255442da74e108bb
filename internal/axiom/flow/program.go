package flow

import (
	"fmt"
	"math"

	"muster/internal/axiom"
)

// A Program is a small kernel and its launch. Its memory is an array of 4-byte words in
// global memory, and one in the shared memory of each CTA.
type Program struct {
	Name    string
	CTAs    int
	Cluster int // CTAs of a cluster; 0 means 1
	Words   int // of global memory
	Shared  int // of shared memory of a CTA
	// Init are the first words of global memory initially; others are zeros.
	Init  []uint32
	Warps []Warp
	// Aliases are the words that virtual addresses from Words on stand for (ISA 8.2.2): a
	// litmus test has them.
	Aliases []int
	// Alike: all CTAs have the code of the first one, which the kernel has once.
	Alike bool
	// Literal: operands of accesses that are constants stand in the text.
	Literal bool
	without Clause
	// reasons: No-Thin-Air is by what values do (thinair.go).
	reasons bool
}

// A Warp executes its steps with all of its 32 lanes. Warps count from 0 in their CTA.
// All warps of a CTA have the same number of barriers.
type Warp struct {
	CTA, Index int
	Steps      []Step
}

// A StepKind is what a Step does.
type StepKind uint8

const (
	Segment  StepKind = iota // code for some lanes
	Barrier                  // bar.sync 0, for the whole CTA
	WarpSync                 // bar.warp.sync of all lanes
)

// A Step is a segment or a barrier.
type Step struct {
	Kind  StepKind
	Roles []Role
}

// A Role is code for some lanes, disjoint from the segment's other roles. Lanes in no
// role go on to the next step.
type Role struct {
	First, Lanes int
	Code         []Instr
}

// A Kind is what an Instr does.
type Kind uint8

const (
	Load Kind = iota
	Store
	Atom // atom with a result
	Red  // atom without a result
	Fence
	Move // registers only: Dst[0] = Src[0] Op Src[1]
	If   // Src[0] Cmp Src[1]: Body, else Else
	Loop // Body, again while Src[0] Cmp Src[1]
	Poll // Load or Atom repeated until the first of Dst compares with Want
	Trap

	// The rest is only for threads.

	Jump       // to Target, unless Src[0] Cmp Src[1]
	Meet       // at a barrier
	ProxyFence // fence.proxy of Proxy
	Halt
)

// An Op is an operation on two values.
type Op uint8

const (
	Add Op = iota
	Sub
	Mul
	And
	Or
	Xor
	Min
	Max
	Inc // 0 if the first is at least the second, else one more
	IsEq
	IsNe
	IsLess
	IsNotLess
	IsLower
	IsNotLower
	FAdd // of 32-bit floating-point numbers
	Exch // for Atom: the second
	Cas  // for Atom: Src[0] is compared, Src[1] stored
)

// A Cmp is a comparison, unsigned if its name does not say otherwise.
type Cmp uint8

const (
	Eq Cmp = iota
	Ne
	Lt
	Ge
	Less // Lt of signed values
	NotLess
)

func (c Cmp) holds(a, b uint32) bool {
	switch c {
	case Eq:
		return a == b
	case Ne:
		return a != b
	case Lt:
		return a < b
	case Less:
		return int32(a) < int32(b)
	case NotLess:
		return int32(a) >= int32(b)
	}
	return a >= b
}

// A Value is Const + Lane × the lane's index in its role + CTA × the CTA's number + the register
// Reg - 1, if Reg is not 0.
type Value struct {
	Const, Lane, CTA uint32
	Reg              int
}

// V is a constant, R a register.
func V(c uint32) Value { return Value{Const: c} }
func R(r int) Value    { return Value{Reg: r + 1} }

// MaxRegs is the number of registers per lane.
const MaxRegs = 12

// An Instr is one instruction, or a branch with its bodies.
type Instr struct {
	Kind   Kind
	Sem    axiom.Sem
	Scope  axiom.Scope
	Shared bool
	At     Value // word
	Bytes  bool  // At is in bytes
	// Wide elements have 8 bytes, and two registers or values, low before high. N is the
	// number of elements; 0 means 1.
	Wide bool
	N    int
	Dst  []int
	Src  []Value
	Op   Op
	Cmp  Cmp
	Body []Instr
	Else []Instr
	// For a Poll: the kind of the repeated instruction, the awaited value, and the number
	// of iterations before it gives up, 0 for never. Then it continues, or traps. Patient
	// iterations and more, with a trap behind them, are taken never to run out.
	By    Kind
	Want  Value
	Tries int
	Traps bool

	// Of an access, or of a ProxyFence: the method of access (ISA 8.6).
	Proxy Proxy

	Target int // of Jump
	// Of a Meet of a litmus test: its barrier, whose number in Src[0], if there is one, is
	// part of its name; after how many arrivals it opens, 0 for none that it waits for; and
	// whether it only arrives.
	Bar     int
	Quorum  int
	Arrives bool

	group   int
	members int // participants; 0: no waiting
}

// A Proxy is a method of access to memory (ISA 8.6).
type Proxy uint8

const (
	Generic Proxy = iota
	Texture
	Surface
	Constant
	Alias // of a ProxyFence: between virtual addresses of one location
)

func (i *Instr) elements() int { return max(i.N, 1) }

func (i *Instr) width() int {
	if i.Wide {
		return 2
	}
	return 1
}

// A thread is one lane with its code, straight except for jumps.
type thread struct {
	gpu, cluster, cta, warp, lane int
	code                          []Instr
}

// threads lists the lanes with code, each with its code.
func (p *Program) threads() ([]thread, error) {
	var all []thread
	for w := range p.Warps {
		warp := &p.Warps[w]
		lanes := map[int]bool{}
		for _, s := range warp.Steps {
			for _, r := range s.Roles {
				for l := range r.Lanes {
					lanes[r.First+l] = true
				}
			}
		}
		for l := range 32 {
			if lanes[l] {
				t := thread{cluster: warp.CTA / max(p.Cluster, 1), cta: warp.CTA, warp: warp.Index, lane: l}
				t.flatten(warp)
				all = append(all, t)
			}
		}
	}
	if len(all) > 16 {
		return nil, fmt.Errorf("%d lanes; at most 16 are taken", len(all))
	}
	for i := range all {
		for k := range all[i].code {
			c := &all[i].code[k]
			if c.Kind == Meet {
				c.members = 0
				for j := range all {
					if all[j].meets(&all[i], c.group) {
						c.members++
					}
				}
			}
		}
	}
	return all, nil
}

// The groups of a barrier.
const (
	ofCTA = iota
	ofWarp
	named // of a litmus test: see Meet
)

func (t *thread) meets(u *thread, group int) bool {
	return t.cta == u.cta && (group != ofWarp || t.warp == u.warp)
}

func (t *thread) flatten(w *Warp) {
	var count [2]int
	for _, s := range w.Steps {
		switch s.Kind {
		case Segment:
			for _, r := range s.Roles {
				if t.lane >= r.First && t.lane < r.First+r.Lanes {
					t.append(r.Code, uint32(t.lane-r.First))
				}
			}
		case Barrier:
			t.code = append(t.code, Instr{Kind: Meet, group: ofCTA, Bar: count[ofCTA]})
			count[ofCTA]++
		case WarpSync:
			t.code = append(t.code, Instr{Kind: Meet, group: ofWarp, Bar: count[ofWarp]})
			count[ofWarp]++
		}
	}
	t.code = append(t.code, Instr{Kind: Halt})
}

// append adds code for one lane. A poll that gives up and continues becomes that many
// loads.
func (t *thread) append(code []Instr, lane uint32) {
	own := func(v Value) Value {
		return Value{Const: v.Const + v.Lane*lane + v.CTA*uint32(t.cta), Reg: v.Reg}
	}
	for _, in := range code {
		in.At, in.Want = own(in.At), own(in.Want)
		src := make([]Value, len(in.Src))
		for i, v := range in.Src {
			src[i] = own(v)
		}
		in.Src = src
		switch {
		case in.Kind == If:
			t.branch(in, lane)
		case in.Kind == Loop:
			at := len(t.code)
			t.append(in.Body, lane)
			t.code = append(t.code, Instr{Kind: Jump, Src: in.Src, Cmp: in.Cmp.not(), Target: at})
		case in.Kind == Poll && in.Tries > 0 && !(in.Traps && in.Tries >= Patient):
			t.tries(in)
		default:
			t.code = append(t.code, in)
		}
	}
}

func (t *thread) branch(in Instr, lane uint32) {
	at := len(t.code)
	t.code = append(t.code, Instr{Kind: Jump, Src: in.Src, Cmp: in.Cmp})
	t.append(in.Body, lane)
	if len(in.Else) > 0 {
		over := len(t.code)
		t.code = append(t.code, Instr{Kind: Jump, Src: []Value{V(0), V(0)}, Cmp: Ne})
		t.code[at].Target = len(t.code)
		t.append(in.Else, lane)
		t.code[over].Target = len(t.code)
		return
	}
	t.code[at].Target = len(t.code)
}

func (t *thread) tries(in Instr) {
	one := in
	one.Kind = in.By
	var out []int
	for k := range in.Tries {
		t.code = append(t.code, one)
		if k < in.Tries-1 || in.Traps {
			out = append(out, len(t.code))
			// It jumps out if the comparison holds.
			t.code = append(t.code, Instr{Kind: Jump, Src: []Value{R(in.Dst[0]), in.Want}, Cmp: in.Cmp.not()})
		}
	}
	if in.Traps {
		t.code = append(t.code, Instr{Kind: Trap})
	}
	for _, i := range out {
		t.code[i].Target = len(t.code)
	}
}

func (c Cmp) not() Cmp {
	return [...]Cmp{Eq: Ne, Ne: Eq, Lt: Ge, Ge: Lt, Less: NotLess, NotLess: Less}[c]
}

func apply(o Op, a, b uint32) uint32 {
	switch o {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case And:
		return a & b
	case Or:
		return a | b
	case Xor:
		return a ^ b
	case Min:
		return min(a, b)
	case Max:
		return max(a, b)
	case Inc:
		if a >= b {
			return 0
		}
		return a + 1
	case FAdd:
		return math.Float32bits(math.Float32frombits(a) + math.Float32frombits(b))
	case IsEq, IsNe, IsLess, IsNotLess, IsLower, IsNotLower:
		c := [...]Cmp{Eq, Ne, Less, NotLess, Lt, Ge}[o-IsEq]
		if c.holds(a, b) {
			return 1
		}
		return 0
	}
	return b
}

// combine returns the result of an atomic operation on an old value, low word first.
// wrote is false for a failing compare-and-swap, which is no write (ISA 8.4, Table 20).
func combine(o Op, old, src []uint32) (value [2]uint32, wrote bool) {
	w := len(old)
	switch {
	case o == Cas:
		for i := range w {
			if old[i] != src[i] {
				return value, false
			}
			value[i] = src[w+i]
		}
	case w == 1:
		value[0] = apply(o, old[0], src[0])
	default:
		a, b := uint64(old[1])<<32|uint64(old[0]), uint64(src[1])<<32|uint64(src[0])
		var v uint64
		switch o {
		case Add:
			v = a + b
		case Min:
			v = min(a, b)
		case Max:
			v = max(a, b)
		case And:
			v = a & b
		case Or:
			v = a | b
		case Xor:
			v = a ^ b
		default:
			v = b
		}
		value = [2]uint32{uint32(v), uint32(v >> 32)}
	}
	return value, true
}

// size returns the number of words of a state space.
func (p *Program) size(shared bool) uint32 {
	if shared {
		return uint32(p.Shared)
	}
	return uint32(p.Words)
}

// within reports whether an access of in at a word stays in its memory.
func (p *Program) within(in *Instr, at uint32) bool {
	n := uint32(in.elements() * in.width())
	if at >= uint32(p.Words) && at-uint32(p.Words) < uint32(len(p.Aliases)) && !in.Shared {
		return n == 1
	}
	size := p.size(in.Shared)
	return at < size && size-at >= n && at%n == 0
}

// place returns the index of a word in all memory: global memory first, then that of each
// CTA.
func (p *Program) place(cta int, shared bool, word uint32) int {
	if shared {
		return p.Words + cta*p.Shared + int(word)
	}
	if i := int(word) - p.Words; i >= 0 && i < len(p.Aliases) {
		return p.Aliases[i]
	}
	return int(word)
}

func (p *Program) places() int { return p.Words + p.CTAs*p.Shared }

func acquires(s axiom.Sem) bool { return s == axiom.Acquire || s == axiom.AcqRel || s == axiom.SC }
func releases(s axiom.Sem) bool { return s == axiom.Release || s == axiom.AcqRel || s == axiom.SC }

// includes reports whether scope s of thread a includes thread b.
func (p *Program) includes(s axiom.Scope, a, b *thread) bool {
	switch s {
	case axiom.CTA:
		return a.cta == b.cta
	case axiom.Cluster:
		return a.cluster == b.cluster
	case axiom.GPU:
		return a.gpu == b.gpu
	}
	return true
}

// Patient is a number of iterations of a poll that no check takes for a short wait.
const Patient = 1000

// TimesOut reports whether some poll traps after a number of iterations.
func (p *Program) TimesOut() bool {
	found := false
	p.walk(func(in *Instr) { found = found || in.Kind == Poll && in.Traps })
	return found
}

// GivesUp reports whether some poll goes on after a number of iterations.
func (p *Program) GivesUp() bool {
	found := false
	p.walk(func(in *Instr) { found = found || in.Kind == Poll && in.Tries > 0 && !in.Traps })
	return found
}

// start returns a word's initial value.
func (p *Program) start(at int) uint32 {
	if at < min(p.Words, len(p.Init)) {
		return p.Init[at]
	}
	return 0
}
