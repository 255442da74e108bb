package lanes

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind is what an operation does.
type Kind uint8

const (
	Store       Kind = iota // weak, of the value
	Load                    // weak, into the register
	StoreStrong             // release, or as Order says
	LoadStrong              // acquire
	Red                     // a reduction: Do
	Atom                    // an atomic operation: Do; what was there goes into the register
	Poll                    // a strong load (atom.or of 0 where Do is Or), again and again until the word compares; into the register
	Lock                    // atom.cas from 0 to 1, again and again until it was 0
	Arrive                  // at mbarrier Bar, N times or once; Keep keeps the token
	ArriveTx                // an arrival that expects N copies
	NoComplete              // an arrival that must not complete its phase
	Drop                    // arrive_drop: an arrival, and later phases have one less
	Expect                  // expect_tx: the bytes of N copies
	Wait                    // until the phase of parity N of mbarrier Bar is complete
	WaitToken               // until the phase of the token is complete
	Test                    // whether the phase of parity N is complete, into the register
	Inval                   // ends mbarrier Bar
	Init                    // begins it, with N arrivals
	Bulk                    // a bulk copy of Box words into an area, with its bytes completed at Bar
	CopyAsync               // cp.async of one word
	ArriveAsync             // cp.async.mbarrier.arrive; with .noinc where N is 1
	Drain                   // cp.async.wait_all
	WarpSync                // bar.warp.sync of the lanes that execute it
	Vote                    // vote.sync of them, whether the register compares: N is a Votes; the result goes into the register
	Shuffle                 // shfl.sync of them: lane N's register
	Sync                    // bar.sync Bar for N warps
	BarArrive               // bar.arrive Bar for N warps, and then bar.warp.sync
	Skip                    // passes the next N operations, but for lanes of Only whose register compares
	Trap                    // where the register compares
	kinds
)

var kindNames = [kinds]string{"st", "ld", "st.strong", "ld.strong", "red", "atom", "poll", "lock", "arrive", "arrive.expect", "arrive.no-complete", "arrive-drop", "expect", "wait", "wait-token", "test", "inval", "init", "bulk", "cp.async", "cp.async.arrive", "cp.async.wait", "warp.sync", "vote", "shfl", "bar.sync", "bar.arrive", "skip-unless", "trap-if"}

// A Do is what a read-modify-write does.
type Do uint8

const (
	Add  Do = iota
	Min     // unsigned
	Max     // unsigned
	Or      // bitwise
	Exch    // Atom only
	Inc     // up to the value, then 0
	Cas     // Atom only: the value, where the word is K
)

var doNames = [...]string{"add", "min", "max", "or", "exch", "inc", "cas"}

// What a Vote asks of its lanes, as its N.
const (
	Any    uint8 = iota // 1 where one compares
	All                 // 1 where all do
	Ballot              // the lanes that do
)

var voteNames = [...]string{"any", "all", "ballot"}

// An At says which word of an area a lane accesses.
type At uint8

const (
	Fixed At = iota // Index
	Mine            // the thread's own: 4 for each warp, and the lane
	Lane            // Index + the lane
	Next            // that of the next lane of its warp
	ByReg           // Index + the register, of the first Indexed words
)

// A Value says what a lane writes.
type Value uint8

const (
	Const   Value = iota // N
	ByLane               // N + the lane
	LaneBit              // 1 << the lane
	FromReg              // the register + N
)

// A Cmp compares a register, or what a poll read, with K.
type Cmp uint8

const (
	EQ Cmp = iota
	NE
	GE
	LT
	Bits // some bit of K is set
)

var cmpNames = [...]string{"==", "!=", ">=", "<", "&"}

func (c Cmp) holds(v, k uint8) bool {
	switch c {
	case EQ:
		return v == k
	case NE:
		return v != k
	case GE:
		return v >= k
	case LT:
		return v < k
	}
	return v&k != 0
}

// An Op is one operation of a warp's lanes.
type Op struct {
	Kind  Kind
	Do    Do
	Area  uint8
	At    At
	Index uint8
	Value Value
	N     uint8
	Reg   uint8
	Cmp   Cmp
	K     uint8
	KLane bool  // K + the lane
	Turn  uint8 // how much K, of what does not compare N, grows each turn; of Wait the parity
	Only  uint8 // the lanes that execute it
	Bar   uint8
	Keep  bool // of arrivals: the token
	// Spread: of operations at an mbarrier, odd lanes perform theirs at mbarrier Bar^1.
	Spread bool
}

// joins reports whether an operation makes lanes wait for each other.
func (o Op) joins() bool { return o.meets() || o.Kind == Sync || o.Kind == BarArrive }

// meets reports whether it does so for lanes of one warp alone.
func (o Op) meets() bool { return WarpSync <= o.Kind && o.Kind <= Shuffle }

// tells reports whether lanes take values of other lanes by an operation. It has them
// wait for each other and orders no memory (9.7.9.6, 9.7.13.4).
func (o Op) tells() bool { return o.Kind == Vote || o.Kind == Shuffle }

// touches says whether an operation accesses memory, writes it, and strongly.
func (o Op) touches() (memory, writes, strong bool) {
	switch o.Kind {
	case Store:
		return true, true, false
	case Load:
		return true, false, false
	case LoadStrong, Poll:
		return true, o.Do == Or, true
	case StoreStrong, Red, Atom, Lock:
		return true, true, true
	case Bulk, CopyAsync:
		return true, true, false
	}
	return false, false, false
}

// copies reports whether an operation begins a copy, which writes memory by itself later.
func (o Op) copies() bool { return o.Kind == Bulk || o.Kind == CopyAsync }

// flies reports whether part of an operation is asynchronous.
func (o Op) flies() bool { return o.copies() || o.Kind == ArriveAsync }

// arrives reports whether an operation is an arrival at an mbarrier by its lane.
func (o Op) arrives() bool { return Arrive <= o.Kind && o.Kind <= Drop }

// bar returns the mbarrier at which a lane performs an operation.
func (o Op) bar(lane int) uint8 {
	if o.Spread {
		return o.Bar ^ uint8(lane&1)
	}
	return o.Bar
}

// acts reports whether the lanes of a warp perform an operation at an mbarrier, or leave a
// wait at one, in one step where they are Joint.
func (o Op) acts() bool {
	return o.arrives() || o.Kind == Expect || o.Kind == Wait || o.Kind == WaitToken
}

// atBarrier reports whether an operation is one of an mbarrier.
func (o Op) atBarrier() bool { return Arrive <= o.Kind && o.Kind <= ArriveAsync && o.Kind != CopyAsync }

// Limits of a Program.
const (
	MaxWarps = 4
	MaxLanes = 4
	MaxAreas = 4
	Words    = MaxWarps * MaxLanes // of an area
	Regs     = 2
	MaxBars  = 2 // mbarriers, and named barriers other than 0, of a CTA
	Indexed  = 8
	Box      = 4  // words of a bulk copy
	Source   = 16 // what a copy brings is this and the index in the source
)

// An Area is Words words with one initial value.
type Area struct {
	Shared bool // a CTA has its own
	Init   uint8
}

// An Idle says what a warp's other lanes do.
type Idle uint8

const (
	Exit   Idle = iota // exit at once
	Along              // execute everything, guarded
	Narrow             // do not exist: a CTA is one warp with fewer lanes
	Apart              // exit, and each active lane is lane 0 of a warp by itself
)

var idleNames = [...]string{"exit", "go along", "do not exist", "exit, each lane in a warp of its own"}

// An Order says how strong accesses are written.
type Order uint8

const (
	Released Order = iota // .release, .acquire, .acq_rel
	Fenced                // relaxed, with fence.acq_rel
	Relaxed
	Volatile // loads and stores; the rest is relaxed
)

var orderNames = [...]string{"release/acquire", "relaxed with fences", "relaxed", "volatile"}

// A Program is what the warps do.
type Program struct {
	CTAs    int // 1 or 2
	Cluster bool
	Lanes   int // of each warp
	Warps   [][]Op
	Turns   int // how often each warp does its operations, 1 or 2
	Areas   []Area
	Counts  []uint8 // of mbarriers; a CTA has its own
	Idle    Idle
	Order   Order
	SC      bool  // a fence.sc before each strong access
	Out     uint8 // registers that are stored at the end
	Share   bool  // warps with the same operations have the same text
	Branch  bool  // guards are branches
	Sleep   bool  // in loops that wait
	// Joint: the lanes of a warp arrive at an mbarrier, or leave a wait there, in one step.
	// It is no part of the text.
	Joint bool
}

// Skips reports whether some operations are executed by part of the lanes, as values
// decide.
func (p *Program) Skips() bool {
	for _, ops := range p.Warps {
		if slices.ContainsFunc(ops, func(o Op) bool { return o.Kind == Skip }) {
			return true
		}
	}
	return false
}

// perCTA is how many warps a CTA has.
func (p *Program) perCTA() int { return len(p.Warps) / p.CTAs }

func (p *Program) all() uint8 { return 1<<p.Lanes - 1 }

// Size is how large a program is to a reader.
func (p *Program) Size() int {
	n := 2*p.CTAs + 20*p.Turns
	for _, ops := range p.Warps {
		n += 2 + len(ops)*(4+p.Lanes)
		for _, o := range ops {
			if o.Only != p.all() {
				n++
			}
		}
	}
	return n
}

// word is the index in its area that a lane accesses, by the value of the register.
func (p *Program) word(o Op, warp, lane int, reg uint8) int {
	i := int(o.Index)
	if o.Kind == Bulk {
		return (i + Box*lane) % Words
	}
	switch o.At {
	case Mine:
		i = MaxLanes*warp + lane
	case Lane:
		i += lane
	case Next:
		i = MaxLanes*warp + (lane+1)%p.Lanes
	case ByReg:
		return (i + int(reg)) % Indexed
	}
	return i % Words
}

// words lists the indexes that a lane may access.
func (p *Program) words(o Op, warp, lane int) []int {
	var list []int
	if o.Kind == Bulk {
		for i := range Box {
			list = append(list, p.word(o, warp, lane, 0)+i)
		}
		return list
	}
	for reg := range uint8(Indexed) {
		if i := p.word(o, warp, lane, reg); !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	return list
}

// valid reports whether this package covers a program.
func (p *Program) valid() bool {
	if p.Idle == Narrow && p.perCTA() != 1 {
		return false
	}
	if !p.validCopies() {
		return false
	}
	want := map[[2]int]uint8{}
	for w, ops := range p.Warps {
		inside := 0
		for i, o := range ops {
			switch {
			case o.joins() && (inside > 0 || o.Only != p.all() && !o.meets()):
				return false
			case o.tells() && (p.Idle == Apart || o.Kind == Vote && o.N > Ballot || o.Kind == Shuffle && o.Only>>o.N&1 == 0):
				return false
			case (o.Kind == Sync || o.Kind == BarArrive):
				key := [2]int{w / p.perCTA(), int(o.Bar)}
				if n, ok := want[key]; ok && n != o.N || int(o.N) > p.perCTA() || o.N == 0 {
					return false
				}
				want[key] = o.N
			case o.Kind == BarArrive && o.N == 1:
				return false
			case o.Kind == Skip && i+int(o.N) >= len(ops):
				return false
			case o.At == ByReg && (o.Kind == Poll || o.copies()):
				return false // its address would change while it waits
			case o.Kind == Inval && p.Order >= Relaxed:
				return false // earlier uses must happen before it
			case o.atBarrier() && (int(o.Bar) >= len(p.Counts) || o.Spread && len(p.Counts) < MaxBars):
				return false
			}
			inside--
			if o.Kind == Skip {
				inside = max(inside, int(o.N))
			}
		}
	}
	shared := p.shared()
	return p.Order < Relaxed || !shared.weak
}

// validCopies reports whether copies go where they may: into shared memory, and bulk
// copies, which are of another proxy, to where nothing else writes.
func (p *Program) validCopies() bool {
	var bulk, other [MaxAreas]bool
	for _, ops := range p.Warps {
		for _, o := range ops {
			memory, _, _ := o.touches()
			switch {
			case o.copies() && !p.Areas[o.Area].Shared:
				return false
			case o.Kind == Bulk:
				if o.Index%Box != 0 {
					return false
				}
				bulk[o.Area] = true
			case memory && o.Kind != Load:
				other[o.Area] = true
			}
		}
	}
	for a := range bulk {
		if bulk[a] && other[a] {
			return false
		}
	}
	return true
}

// A sharing says what the lanes of a program share.
type sharing struct {
	private func(area, cta, word int) bool
	weak    bool // a word with a weak access
	stored  bool // a word with a weak access, which a lane writes itself
	strong  int  // words with strong accesses, at least one a write
}

// shared finds the words that more than one lane accesses, one of them to write.
func (p *Program) shared() sharing {
	type use struct {
		by           uint32
		writes, own  bool // own: not by a copy
		weak, strong bool
	}
	var uses [MaxAreas][2][Words]use
	for w, ops := range p.Warps {
		for lane := range p.Lanes {
			for _, o := range ops {
				memory, writes, strong := o.touches()
				if !memory || o.Only>>lane&1 == 0 {
					continue
				}
				for _, i := range p.words(o, w, lane) {
					u := &uses[o.Area][p.copy(int(o.Area), w)][i]
					u.by |= 1 << (MaxLanes*w + lane)
					if o.copies() {
						u.by |= 1 << 31 // the copy is an agent of its own
					}
					u.writes = u.writes || writes
					u.own = u.own || writes && !o.copies()
					u.weak = u.weak || !strong
					u.strong = u.strong || strong
				}
			}
		}
	}
	private := func(u *use) bool { return u.by&(u.by-1) == 0 || !u.writes }
	s := sharing{private: func(area, cta, word int) bool { return private(&uses[area][cta][word]) }}
	for a := range uses {
		for c := range uses[a] {
			for i := range uses[a][c] {
				if u := &uses[a][c][i]; !private(u) {
					s.weak = s.weak || u.weak
					s.stored = s.stored || u.weak && u.own
					if u.strong {
						s.strong++
					}
				}
			}
		}
	}
	return s
}

// copy returns which of an area's copies a warp accesses.
func (p *Program) copy(area, warp int) int {
	if p.Areas[area].Shared {
		return warp / p.perCTA()
	}
	return 0
}

// Tells reports whether lanes of a program take values of other lanes by a vote or a
// shfl. These make lanes wait for each other and order no memory, so that two accesses
// may race without ever being adjacent.
func (p *Program) Tells() bool {
	for _, ops := range p.Warps {
		for _, o := range ops {
			if o.tells() {
				return true
			}
		}
	}
	return false
}

// Robust reports whether every execution of a program without races is an interleaving.
// A single test of an mbarrier counts as a read of a word without a fence.sc before it.
// A copy, and the arrival of a cp.async.mbarrier.arrive, publishes what was copied, and
// none of its thread's own accesses.
func (p *Program) Robust() bool {
	tested := map[uint8]bool{}
	shared := p.shared()
	for _, ops := range p.Warps {
		for _, o := range ops {
			switch o.Kind {
			case Test:
				tested[o.Bar] = true
			case Bulk, ArriveAsync:
				if shared.stored || shared.strong > 0 {
					return false
				}
			}
		}
	}
	if p.Tells() {
		return false
	}
	strong := shared.strong
	return p.SC && len(tested) == 0 || strong+len(tested) <= 1
}

// Asynchronous reports whether a program does more at mbarriers than arrive and wait.
func (p *Program) Asynchronous() bool {
	for _, ops := range p.Warps {
		for _, o := range ops {
			if Arrive < o.Kind && o.Kind <= Drain && o.Kind != Wait || o.Kind == Arrive && (o.Keep || o.N > 1) {
				return true
			}
		}
	}
	return false
}

// ComesTwice reports whether a warp may arrive twice in one generation of a named
// barrier. The count is then no number of threads (ISA 9.7.13.1), without a deadlock.
func (p *Program) ComesTwice() bool {
	for w := range p.Warps {
		arrived := map[uint8]bool{}
		for _, o := range p.code(w) {
			if arrived[o.Bar] && (o.Kind == Sync || o.Kind == BarArrive) {
				return true
			}
			if o.Kind == BarArrive {
				arrived[o.Bar] = true
			}
		}
	}
	return false
}

func (p *Program) clone() *Program {
	q := *p
	q.Counts = append([]uint8(nil), p.Counts...)
	q.Areas = append([]Area(nil), p.Areas...)
	q.Warps = make([][]Op, len(p.Warps))
	for i, ops := range p.Warps {
		q.Warps[i] = append([]Op(nil), ops...)
	}
	return &q
}

// drop leaves out operation i of a warp.
func (p *Program) drop(w, i int) {
	ops := p.Warps[w]
	for j := range i {
		if ops[j].Kind == Skip && j+int(ops[j].N) >= i {
			ops[j].N--
		}
	}
	p.Warps[w] = append(ops[:i:i], ops[i+1:]...)
}

// insert adds an operation before operation i of a warp.
func (p *Program) insert(w, i int, o Op) {
	ops := append([]Op(nil), p.Warps[w]...)
	for j := range i {
		if ops[j].Kind == Skip && j+int(ops[j].N) >= i {
			ops[j].N++
		}
	}
	p.Warps[w] = append(ops[:i:i], append([]Op{o}, ops[i:]...)...)
}

// Smaller lists programs that are one reduction step smaller.
func (p *Program) Smaller() []*Program {
	var all []*Program
	try := func(change func(q *Program)) {
		q := p.clone()
		change(q)
		if q.valid() {
			all = append(all, q)
		}
	}
	if p.CTAs == 2 {
		try(func(q *Program) { q.CTAs, q.Cluster = 1, false })
	}
	if n := len(p.Warps); n > p.CTAs && p.CTAs == 1 && len(p.Warps[n-1]) == 0 {
		try(func(q *Program) { q.Warps = q.Warps[:n-1] })
	}
	for w := range p.Warps {
		for i := range p.Warps[w] {
			try(func(q *Program) { q.drop(w, i) })
		}
	}
	if p.Turns > 1 {
		try(func(q *Program) { q.Turns = 1 })
	}
	if p.Lanes > 1 {
		try(func(q *Program) {
			q.Lanes--
			for _, ops := range q.Warps {
				for i := range ops {
					if ops[i].Only &= q.all(); ops[i].Only == 0 {
						ops[i].Only = 1
					}
				}
			}
		})
	}
	for b, n := range p.Counts {
		if n > 1 {
			try(func(q *Program) { q.Counts[b]-- })
		}
	}
	for w := range p.Warps {
		for i, o := range p.Warps[w] {
			if o.Only != p.all() {
				try(func(q *Program) { q.Warps[w][i].Only = q.all() })
			}
			if o.Kind == Poll && o.Do == Or {
				try(func(q *Program) { q.Warps[w][i].Do = Add })
			}
			if o.Kind == Poll && o.K > 1 {
				try(func(q *Program) { q.Warps[w][i].K-- })
			}
			if o.arrives() && (o.Kind != Arrive || o.Keep || o.N > 1) {
				try(func(q *Program) {
					a := &q.Warps[w][i]
					a.Kind, a.Keep, a.N = Arrive, false, 0
				})
			}
			if o.tells() {
				try(func(q *Program) { q.Warps[w][i] = Op{Kind: WarpSync, Only: o.Only} })
			}
			if o.Kind == WaitToken {
				try(func(q *Program) { q.Warps[w][i].Kind = Wait })
			}
			if (o.Kind == Sync || o.Kind == BarArrive) && o.N > 1 {
				try(func(q *Program) {
					for _, ops := range q.Warps {
						for j := range ops {
							if (ops[j].Kind == Sync || ops[j].Kind == BarArrive) && ops[j].Bar == o.Bar {
								ops[j].N--
							}
						}
					}
				})
			}
		}
	}
	if p.Idle != Exit && p.Idle != Apart {
		try(func(q *Program) { q.Idle = Exit })
	}
	if p.SC {
		try(func(q *Program) { q.SC = false })
	}
	if p.Order != Released {
		try(func(q *Program) { q.Order = Released })
	}
	if p.Out != 0 {
		try(func(q *Program) { q.Out = 0 })
	}
	if p.Share {
		try(func(q *Program) { q.Share = false })
	}
	if p.Branch {
		try(func(q *Program) { q.Branch = false })
	}
	if p.Sleep {
		try(func(q *Program) { q.Sleep = false })
	}
	for a := range p.Areas {
		if p.Areas[a].Shared {
			try(func(q *Program) { q.Areas[a].Shared = false })
		}
	}
	return all
}

// Name returns the name of an operation, without its operands.
func (p *Program) Name(o Op) string {
	switch o.Kind {
	case Red, Atom:
		return kindNames[o.Kind] + "." + doNames[o.Do]
	case Poll:
		return kindNames[o.Kind] + cmpNames[o.Cmp]
	}
	return kindNames[o.Kind]
}

func (p *Program) describe(o Op) string {
	var s strings.Builder
	if o.Only != p.all() {
		fmt.Fprintf(&s, "{%0*b} ", p.Lanes, o.Only)
	}
	s.WriteString(kindNames[o.Kind])
	value := [...]string{fmt.Sprint(o.N), fmt.Sprintf("%d+lane", o.N), "1<<lane", fmt.Sprintf("v%d+%d", o.Reg, o.N)}[o.Value]
	k := fmt.Sprint(o.K)
	if o.KLane {
		k += "+lane"
	}
	if o.Turn > 0 {
		turn := fmt.Sprintf("+%d*turn", o.Turn)
		value += turn
		k += turn
	}
	at := ""
	if memory, _, _ := o.touches(); memory {
		space := "g"
		if p.Areas[o.Area].Shared {
			space = "s"
		}
		at = fmt.Sprintf("%s%d[%s]", space, o.Area, [...]string{fmt.Sprint(o.Index), "mine", fmt.Sprintf("%d+lane", o.Index), "next", fmt.Sprintf("v%d+%d", o.Reg, o.Index)}[o.At])
	}
	switch o.Kind {
	case Store, StoreStrong:
		fmt.Fprintf(&s, " %s = %s", at, value)
	case Load, LoadStrong:
		fmt.Fprintf(&s, " v%d = %s", o.Reg, at)
	case Red:
		fmt.Fprintf(&s, ".%s %s, %s", doNames[o.Do], at, value)
	case Atom:
		fmt.Fprintf(&s, ".%s v%d = %s, ", doNames[o.Do], o.Reg, at)
		if o.Do == Cas {
			s.WriteString(k + " -> ")
		}
		s.WriteString(value)
	case Poll:
		if o.Do == Or {
			s.WriteString(".atom")
		}
		fmt.Fprintf(&s, " v%d = %s %s %s", o.Reg, at, cmpNames[o.Cmp], k)
	case Lock:
		s.WriteString(" " + at)
	case Arrive, ArriveTx, NoComplete, Drop, Expect, WaitToken, Inval, Init, ArriveAsync:
		if o.Keep {
			s.WriteString(" token =")
		}
		fmt.Fprintf(&s, " b%d%s", o.Bar, o.spread())
		if o.N > 0 {
			fmt.Fprintf(&s, ", %d", o.N)
		}
	case Bulk:
		fmt.Fprintf(&s, " %s, b%d", at, o.Bar)
	case CopyAsync:
		fmt.Fprintf(&s, " %s", at)
	case Wait, Test:
		fmt.Fprintf(&s, " b%d%s, p%d", o.Bar, o.spread(), o.N)
		if o.Turn > 0 {
			s.WriteString("+turn")
		}
	case Vote:
		fmt.Fprintf(&s, ".%s v%d %s %s", voteNames[o.N], o.Reg, cmpNames[o.Cmp], k)
	case Shuffle:
		fmt.Fprintf(&s, " v%d of lane %d", o.Reg, o.N)
	case Sync, BarArrive:
		fmt.Fprintf(&s, " %d, %d warps", o.Bar+1, o.N)
	case Skip:
		fmt.Fprintf(&s, " v%d %s %s: %d", o.Reg, cmpNames[o.Cmp], k, o.N)
	case Trap:
		fmt.Fprintf(&s, " v%d %s %s", o.Reg, cmpNames[o.Cmp], k)
	}
	return s.String()
}

func (p *Program) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d CTAs", p.CTAs)
	if p.Cluster {
		s.WriteString(" of a cluster")
	}
	fmt.Fprintf(&s, ", %d lanes a warp, others %s, %s", p.Lanes, idleNames[p.Idle], orderNames[p.Order])
	if p.SC {
		s.WriteString(", fence.sc before each")
	}
	for a, area := range p.Areas {
		if area.Init != 0 {
			fmt.Fprintf(&s, ", area %d of %d", a, area.Init)
		}
	}
	if len(p.Counts) > 0 {
		fmt.Fprintf(&s, ", counts %v", p.Counts)
	}
	if p.Turns > 1 {
		fmt.Fprintf(&s, ", %d turns", p.Turns)
	}
	if p.Out > 0 {
		fmt.Fprintf(&s, ", out %02b", p.Out)
	}
	s.WriteByte('\n')
	for w, ops := range p.Warps {
		fmt.Fprintf(&s, "  W%d:", w)
		for _, o := range ops {
			fmt.Fprintf(&s, " %s;", p.describe(o))
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// spread says that odd lanes act at the other mbarrier.
func (o Op) spread() string {
	if o.Spread {
		return "^lane"
	}
	return ""
}
