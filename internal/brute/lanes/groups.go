package lanes

import (
	"fmt"
	"math/bits"
	"strings"
)

// A GroupKind is what an operation of a Group does.
type GroupKind uint8

const (
	GroupStore    GroupKind = iota // weak, of N + the thread
	GroupLoad                      // weak, into the register
	ProxyFence                     // fence.proxy.async
	GroupArrive                    // at mbarrier Bar
	GroupArriveTx                  // an arrival that expects N copies
	GroupWait                      // until the phase of parity N of mbarrier Bar is complete
	GroupBulk                      // a bulk copy of both words of a part, with its bytes completed at Bar
	GroupAdd                       // a release reduction, 1 to the counter
	GroupTicket                    // an addition that acquires and releases; what was there goes into the register
	GroupPoll                      // an acquire load, again and again until the counter is N or more
	GroupSync                      // bar.sync Bar for N warps
	GroupWarpSync                  // bar.warp.sync
	Fence                          // wgmma.fence
	Multiply                       // wgmma.mma_async of A in Stage and B in StageB
	Commit                         // wgmma.commit_group
	WaitGroup                      // wgmma.wait_group N
	groupKinds
)

var groupNames = [groupKinds]string{"st", "ld", "fence.proxy", "arrive", "arrive.expect", "wait", "bulk", "red", "ticket", "poll", "bar.sync", "warp.sync", "wgmma.fence", "wgmma", "wgmma.commit", "wgmma.wait"}

// Parts of a stage.
const (
	PartB   uint8 = 4 + iota // of all warps; A's rows of warps 0 to 3 are parts 0 to 3
	PartX                    // words that no wgmma reads
	PartOwn                  // A's rows of the warp
)

// Indexes of a word in its part, besides numbers.
const (
	IndexLane uint8 = 8 + iota // the lane
	IndexWarp                  // the warp, modulo 4
)

// A GroupOp is one operation. Threads that are not in Who pass it.
type GroupOp struct {
	Kind   GroupKind
	Stage  uint8
	StageB uint8
	Part   uint8
	Index  uint8
	N      uint8
	Bar    uint8
	When   uint8  // 0, or 1 + the register of threads that execute it
	Who    uint16 // bit 2*warp + lane
}

// Limits of a Group.
const (
	GroupWarps   = 5
	GroupThreads = 2 * GroupWarps
	GroupStages  = 2
	GroupBars    = 4
	stageWords   = 14 // 4 x 2 of A, 2 of B, 4 others
	groupBarsOf  = 4  // named barriers
)

// A Group is a program of a warpgroup, warps 0 to 3, and perhaps of a warp 4. The four
// warps have one text, as .aligned asks.
type Group struct {
	Lanes  int // of each warp that do more than go along, 1 or 2
	Warps  int // 4 or 5
	Ops    []GroupOp
	Fifth  []GroupOp // of warp 4
	Counts []uint8   // of mbarriers
	Branch bool      // guards are branches
	// Joint: the lanes of a warp arrive at an mbarrier, or leave a wait there, in one step.
	// It is no part of the text.
	Joint bool
}

// aligned reports whether the four warps execute an operation together, all lanes.
func (o GroupOp) aligned() bool { return o.Kind >= Fence }

// joins reports whether all lanes of a warp execute it, if one does.
func (o GroupOp) joins() bool { return o.Kind >= GroupSync }

func (o GroupOp) atBarrier() bool { return GroupArrive <= o.Kind && o.Kind <= GroupBulk }

// counts reports whether it is one at the counter.
func (o GroupOp) counts() bool { return GroupAdd <= o.Kind && o.Kind <= GroupPoll }

func (o GroupOp) touches() bool { return o.Kind <= GroupLoad || o.Kind == GroupBulk }

// all is every thread of the four warps, or of warp 4.
func (g *Group) all(fifth bool) uint16 {
	lanes := uint16(1)<<g.Lanes - 1
	if fifth {
		return lanes << 8
	}
	return lanes | lanes<<2 | lanes<<4 | lanes<<6
}

// word returns the number of the word that a thread accesses.
func (o GroupOp) word(thread int) int {
	part, index := o.Part, int(o.Index)
	if part == PartOwn {
		part = uint8(thread / 2 & 3)
	}
	switch o.Index {
	case IndexLane:
		index = thread & 1
	case IndexWarp:
		index = thread / 2 & 3
	}
	return stageWords*int(o.Stage) + 2*int(part) + index
}

// Valid reports whether this package covers a program.
func (g *Group) Valid() bool {
	products, copies := 0, 0
	for fifth, ops := range [][]GroupOp{g.Ops, g.Fifth} {
		all := g.all(fifth == 1)
		open, committed, fenced := false, false, false
		for _, o := range ops {
			switch {
			case o.Who == 0 || o.Who&^all != 0:
				return false
			case o.aligned() && (fifth == 1 || o.Who != all):
				return false
			case o.joins() && o.Who != g.whole(o.Who):
				return false
			case o.Kind == GroupSync && (o.Bar >= groupBarsOf || int(o.N) < g.warps(o.Who) || int(o.N) > g.Warps):
				return false
			case o.touches() && (o.Stage >= GroupStages || o.Part == PartOwn && fifth == 1):
				return false
			case o.touches() && o.Part != PartX && (o.Index == IndexWarp || o.Index < IndexLane && o.Index > 1), o.touches() && o.Part == PartX && o.Index < IndexLane && o.Index > 3:
				return false
			case o.When > 0 && (o.joins() || o.Kind == GroupBulk):
				return false
			case o.atBarrier() && int(o.Bar) >= len(g.Counts):
				return false
			case o.Kind == GroupBulk && (bits.OnesCount16(o.Who) != 1 || o.Index != 0 || o.Part > PartB):
				return false
			}
			switch o.Kind {
			case Multiply:
				products++
				open, committed = true, false
			case Fence:
				fenced = true
			case Commit:
				committed = true
			case WaitGroup:
				if o.N == 0 && committed {
					open, committed = false, false
				}
			case GroupBulk:
				copies++
			}
			if o.Kind == Multiply && !fenced {
				return false // its registers were written before
			}
		}
		if open {
			return false // registers are stored behind it
		}
	}
	return products <= 8 && copies <= 8 && len(g.Counts) <= GroupBars && (g.Warps == 5 || len(g.Fifth) == 0)
}

// whole returns the threads of the warps that have one of some threads.
func (g *Group) whole(who uint16) uint16 {
	w := uint16(0)
	for i := range g.Warps {
		if who>>(2*i)&3 != 0 {
			w |= (1<<g.Lanes - 1) << (2 * i)
		}
	}
	return w
}

func (g *Group) warps(who uint16) int {
	n := 0
	for i := range g.Warps {
		if who>>(2*i)&3 != 0 {
			n++
		}
	}
	return n
}

func (g *Group) clone() *Group {
	q := *g
	q.Ops = append([]GroupOp(nil), g.Ops...)
	q.Fifth = append([]GroupOp(nil), g.Fifth...)
	q.Counts = append([]uint8(nil), g.Counts...)
	return &q
}

// Size is how large a program is to a reader.
func (g *Group) Size() int {
	n := 10*g.Lanes + 5*g.Warps
	for _, ops := range [][]GroupOp{g.Ops, g.Fifth} {
		for _, o := range ops {
			n += 10 + bits.OnesCount16(o.Who)
		}
	}
	return n
}

// Smaller lists programs that are one reduction step smaller.
func (g *Group) Smaller() []*Group {
	var all []*Group
	try := func(change func(q *Group)) {
		q := g.clone()
		change(q)
		if q.Valid() {
			all = append(all, q)
		}
	}
	for i := range g.Ops {
		try(func(q *Group) { q.Ops = append(q.Ops[:i:i], q.Ops[i+1:]...) })
	}
	for i := range g.Fifth {
		try(func(q *Group) { q.Fifth = append(q.Fifth[:i:i], q.Fifth[i+1:]...) })
	}
	for i := range g.Ops { // a product without its group
		for j := i + 1; j < len(g.Ops) && g.Ops[i].Kind == Multiply; j++ {
			if g.Ops[j].Kind == Commit {
				try(func(q *Group) {
					q.Ops = append(append(q.Ops[:i:i], q.Ops[i+1:j]...), q.Ops[j+1:]...)
				})
				break
			}
		}
	}
	if g.Warps == 5 && len(g.Fifth) == 0 {
		try(func(q *Group) { q.Warps = 4 })
	}
	if g.Lanes == 2 {
		try(func(q *Group) {
			q.Lanes = 1
			for _, ops := range [][]GroupOp{q.Ops, q.Fifth} {
				for i := range ops {
					ops[i].Who &= 0x155
				}
			}
		})
	}
	for n, ops := range [][]GroupOp{g.Ops, g.Fifth} {
		for i, o := range ops {
			if o.joins() {
				continue
			}
			for b := range GroupThreads {
				if o.Who>>b&1 != 0 && o.Who != 1<<b {
					try(func(q *Group) { [2][]GroupOp{q.Ops, q.Fifth}[n][i].Who &^= 1 << b })
				}
			}
		}
	}
	for n, ops := range [][]GroupOp{g.Ops, g.Fifth} {
		for i, o := range ops {
			if o.When > 0 {
				try(func(q *Group) { [2][]GroupOp{q.Ops, q.Fifth}[n][i].When = 0 })
			}
		}
	}
	for b, n := range g.Counts {
		if n > 1 {
			try(func(q *Group) { q.Counts[b]-- })
		}
	}
	if g.Branch {
		try(func(q *Group) { q.Branch = false })
	}
	return all
}

func (g *Group) describe(o GroupOp, fifth bool) string {
	var s strings.Builder
	if o.Who != g.all(fifth) {
		fmt.Fprintf(&s, "{")
		for i := range g.Warps {
			if on := o.Who >> (2 * i) & 3; on == 1<<g.Lanes-1 {
				fmt.Fprintf(&s, " w%d", i)
			} else if on != 0 {
				fmt.Fprintf(&s, " w%d.%d", i, on>>1)
			}
		}
		s.WriteString(" } ")
	}
	s.WriteString(groupNames[o.Kind])
	if o.touches() {
		part := [...]string{"A.0", "A.1", "A.2", "A.3", "B", "X", "A.own"}[o.Part]
		index := fmt.Sprint(o.Index)
		switch {
		case o.Kind == GroupBulk:
			index = "all"
		case o.Index == IndexLane:
			index = "lane"
		case o.Index == IndexWarp:
			index = "warp"
		}
		fmt.Fprintf(&s, " %s%d[%s]", part, o.Stage, index)
	}
	if o.When > 0 {
		fmt.Fprintf(&s, " if v == %d:", o.When-1)
	}
	switch o.Kind {
	case GroupPoll:
		fmt.Fprintf(&s, " >= %d", o.N)
	case GroupStore:
		fmt.Fprintf(&s, " = %d+thread", o.N)
	case GroupArrive:
		fmt.Fprintf(&s, " b%d", o.Bar)
	case GroupArriveTx:
		fmt.Fprintf(&s, " b%d, %d", o.Bar, o.N)
	case GroupWait:
		fmt.Fprintf(&s, " b%d, p%d", o.Bar, o.N)
	case GroupBulk:
		fmt.Fprintf(&s, ", b%d", o.Bar)
	case GroupSync:
		fmt.Fprintf(&s, " %d, %d warps", o.Bar+1, o.N)
	case Multiply:
		fmt.Fprintf(&s, " A%d, B%d", o.Stage, o.StageB)
	case WaitGroup:
		fmt.Fprintf(&s, " %d", o.N)
	}
	return s.String()
}

func (g *Group) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "a warpgroup, %d lanes a warp, counts %v\n", g.Lanes, g.Counts)
	for fifth, ops := range [][]GroupOp{g.Ops, g.Fifth} {
		fmt.Fprintf(&s, "  %s:", [...]string{"W0-3", "W4"}[fifth])
		for _, o := range ops {
			fmt.Fprintf(&s, " %s;", g.describe(o, fifth == 1))
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// Shape is what a program is made of.
func (g *Group) Shape() string {
	var n [groupKinds]bool
	for _, ops := range [][]GroupOp{g.Ops, g.Fifth} {
		for _, o := range ops {
			n[o.Kind] = true
		}
	}
	var s []string
	for k, is := range n {
		if is {
			s = append(s, groupNames[k])
		}
	}
	return strings.Join(s, " ")
}
