package lanes

import "math/rand/v2"

type groupGenerator struct {
	r      *rand.Rand
	g      *Group
	stores uint8
	stages int
	tiles  int
	fill   int // who fills stages, of the fills
	give   int // how stages are given back
	giver  uint16
}

// Who fills stages.
const (
	fillNone   = iota
	fillOwn    // each warp its rows, and one warp B
	fillOne    // one thread of the warpgroup
	fillStores // a thread of warp 4, by stores
	fillCopies // by copies
	fills
)

// How stages are given back to warp 4.
const (
	giveOne   = iota // by one thread
	giveWarps        // by one of each warp
	giveAll
	giveSync // by a barrier of 160 threads
	giveLast // by the thread that counts last
	givePoll // by one thread, at the counter
	gives
)

// GenerateGroup draws a program of a warpgroup: a pipeline of one to three products, and in
// half of them a mistake or two.
func GenerateGroup(r *rand.Rand) *Group {
	x := &groupGenerator{r: r}
	g := x.draw()
	if r.IntN(2) == 0 {
		for range 1 + r.IntN(2) {
			g = x.mistake(g)
		}
	}
	return g
}

func (x *groupGenerator) draw() *Group {
	r := x.r
	x.g = &Group{Lanes: 1 + r.IntN(2), Warps: 4, Branch: r.IntN(2) == 0}
	x.tiles, x.stages = 1+r.IntN(3), 1+r.IntN(2)
	x.fill, x.give = r.IntN(fills), r.IntN(gives)
	if x.fill >= fillStores {
		x.g.Warps = 5
		n := [gives]uint8{1, 4, uint8(4 * x.g.Lanes), 1, 1, 1}[x.give]
		x.g.Counts = []uint8{n, n, 1, 1}
	}
	for tile := range x.tiles {
		x.tile(tile)
	}
	x.add(false, GroupOp{Kind: WaitGroup})
	for range r.IntN(3) {
		x.extra()
	}
	return x.g
}

// add appends an operation. Who is all where it says nothing.
func (x *groupGenerator) add(fifth bool, o GroupOp) {
	if o.Who == 0 {
		o.Who = x.g.all(fifth)
	}
	if o.Kind == GroupStore {
		o.N = x.value()
	}
	if fifth {
		x.g.Fifth = append(x.g.Fifth, o)
		return
	}
	x.g.Ops = append(x.g.Ops, o)
}

// value returns one that no other store writes.
func (x *groupGenerator) value() uint8 {
	x.stores = x.stores%18 + 1
	return 10 * x.stores
}

// thread draws one of the warpgroup's threads.
func (x *groupGenerator) thread() uint16 {
	return 1 << (2*x.r.IntN(4) + x.r.IntN(x.g.Lanes))
}

// warpsLane draws one lane, of each of the four warps.
func (x *groupGenerator) warpsLane() uint16 { return 0x55 << x.r.IntN(x.g.Lanes) }

func (x *groupGenerator) tile(tile int) {
	r := x.r
	stage := uint8(tile % x.stages)
	round := tile / x.stages
	sync4 := GroupOp{Kind: GroupSync, N: 4}
	switch x.fill {
	case fillOwn:
		x.add(false, GroupOp{Kind: GroupStore, Stage: stage, Part: PartOwn, Index: IndexLane})
		if r.IntN(2) == 0 {
			x.add(false, GroupOp{Kind: GroupStore, Stage: stage, Part: PartB, Who: x.thread()})
		}
		x.add(false, GroupOp{Kind: ProxyFence})
		if r.IntN(4) > 0 {
			x.add(false, sync4)
		}
	case fillOne:
		who := x.thread()
		x.add(false, GroupOp{Kind: GroupStore, Stage: stage, Part: PartB, Who: who})
		if r.IntN(2) == 0 {
			x.add(false, GroupOp{Kind: GroupStore, Stage: stage, Part: uint8(r.IntN(4)), Index: uint8(r.IntN(2)), Who: who})
		}
		if r.IntN(2) == 0 {
			x.add(false, GroupOp{Kind: ProxyFence, Who: who})
			x.add(false, sync4)
		} else {
			x.add(false, sync4)
			x.add(false, GroupOp{Kind: ProxyFence})
		}
	case fillStores, fillCopies:
		x.produce(stage, tile)
		wait := GroupOp{Kind: GroupWait, Bar: 2 + stage, N: uint8(round & 1)}
		switch r.IntN(4) {
		case 0: // one of each warp
			wait.Who = x.warpsLane()
			x.add(false, wait)
			x.add(false, GroupOp{Kind: GroupWarpSync})
		case 1: // one warp, and a barrier
			wait.Who = x.thread()
			x.add(false, wait)
			x.add(false, sync4)
		default:
			x.add(false, wait)
		}
	}
	if r.IntN(3) == 0 {
		x.add(false, GroupOp{Kind: GroupLoad, Stage: stage, Part: PartB, Who: x.who(false)})
	}
	if tile == 0 || r.IntN(2) == 0 {
		x.add(false, GroupOp{Kind: Fence})
	}
	x.add(false, GroupOp{Kind: Multiply, Stage: stage, StageB: stage})
	x.add(false, GroupOp{Kind: Commit})
	if r.IntN(4) == 0 {
		x.add(false, GroupOp{Kind: GroupLoad, Stage: stage, Part: PartB, Who: x.who(false)})
	}
	if x.stages == 2 && r.IntN(2) == 0 {
		x.add(false, GroupOp{Kind: WaitGroup, N: 1})
		if tile > 0 {
			x.release(tile - 1)
		}
		if tile+1 < x.tiles {
			return
		}
	}
	x.add(false, GroupOp{Kind: WaitGroup})
	x.release(tile)
}

// produce has warp 4 fill a stage, once it is given back.
func (x *groupGenerator) produce(stage uint8, tile int) {
	r := x.r
	round := tile / x.stages
	who := uint16(1) << (8 + r.IntN(x.g.Lanes))
	switch {
	case round == 0:
	case x.give == giveSync:
		x.add(true, GroupOp{Kind: GroupSync, Bar: 1 + stage, N: 5})
	case x.give == givePoll:
		x.add(true, GroupOp{Kind: GroupPoll, N: uint8(tile - x.stages + 1), Who: who})
	default:
		x.add(true, GroupOp{Kind: GroupWait, Bar: stage, N: uint8(round-1) & 1, Who: who})
	}
	parts := []uint8{PartB}
	if r.IntN(2) == 0 {
		parts = append(parts, uint8(r.IntN(4)))
	}
	if x.fill == fillCopies {
		x.add(true, GroupOp{Kind: GroupArriveTx, Bar: 2 + stage, N: uint8(len(parts)), Who: who})
	}
	for _, part := range parts {
		o := GroupOp{Kind: GroupStore, Stage: stage, Part: part, Who: who}
		if x.fill == fillCopies {
			o.Kind, o.Bar = GroupBulk, 2+stage
		}
		x.add(true, o)
	}
	if x.fill == fillStores {
		x.add(true, GroupOp{Kind: ProxyFence, Who: who})
		x.add(true, GroupOp{Kind: GroupArrive, Bar: 2 + stage, Who: who})
	}
}

// release gives a tile's stage back, if another one comes into it.
func (x *groupGenerator) release(tile int) {
	if x.fill < fillStores || tile+x.stages >= x.tiles {
		return
	}
	stage := uint8(tile % x.stages)
	switch x.give {
	case giveSync:
		x.add(false, GroupOp{Kind: GroupSync, Bar: 1 + stage, N: 5})
	case giveOne:
		x.add(false, GroupOp{Kind: GroupArrive, Bar: stage, Who: x.thread()})
	case giveWarps:
		x.add(false, GroupOp{Kind: GroupArrive, Bar: stage, Who: x.warpsLane()})
	case giveAll:
		x.add(false, GroupOp{Kind: GroupArrive, Bar: stage})
	case giveLast:
		who := x.warpsLane()
		x.add(false, GroupOp{Kind: GroupTicket, Who: who})
		x.add(false, GroupOp{Kind: GroupArrive, Bar: stage, Who: who, When: uint8(4*tile + 4)})
	case givePoll:
		if x.giver == 0 {
			x.giver = x.thread()
		}
		x.add(false, GroupOp{Kind: GroupAdd, Who: x.giver})
	}
}

// who draws threads of the warpgroup, or of warp 4.
func (x *groupGenerator) who(fifth bool) uint16 {
	all := x.g.all(fifth)
	switch {
	case fifth && x.r.IntN(2) == 0:
		return 1 << 8
	case fifth:
		return all
	}
	switch x.r.IntN(4) {
	case 0:
		return all
	case 1:
		return x.warpsLane()
	}
	return x.thread()
}

// access draws one.
func (x *groupGenerator) access(fifth bool) GroupOp {
	r := x.r
	o := GroupOp{Kind: GroupKind(r.IntN(2)), Stage: uint8(r.IntN(x.stages)), Part: PartX, Index: uint8(r.IntN(4)), Who: x.who(fifth)}
	switch r.IntN(4) {
	case 0:
		o.Part, o.Index = PartB, uint8(r.IntN(2))
	case 1:
		o.Part, o.Index = uint8(r.IntN(4)), uint8(r.IntN(2))
	case 2:
		if !fifth {
			o.Part, o.Index = PartOwn, IndexLane
		}
	default:
		if r.IntN(2) == 0 {
			o.Index = IndexWarp
		}
	}
	if o.Kind == GroupStore {
		o.N = x.value()
	}
	return o
}

// extra inserts an access somewhere, and perhaps a proxy fence behind it.
func (x *groupGenerator) extra() {
	fifth := len(x.g.Fifth) > 0 && x.r.IntN(4) == 0
	o := x.access(fifth)
	if x.r.IntN(2) == 0 {
		o.Kind, o.N = GroupLoad, 0
	}
	if o.Kind == GroupLoad || o.Part == PartX {
		insertGroup(x.g, fifth, x.r.IntN(1+len(*list(x.g, fifth))), o)
		return
	}
	at := x.r.IntN(1 + len(*list(x.g, fifth)))
	insertGroup(x.g, fifth, at, o)
	if x.r.IntN(4) > 0 {
		insertGroup(x.g, fifth, at+1, GroupOp{Kind: ProxyFence, Who: o.Who})
	}
}

func list(g *Group, fifth bool) *[]GroupOp {
	if fifth {
		return &g.Fifth
	}
	return &g.Ops
}

func insertGroup(g *Group, fifth bool, at int, o GroupOp) {
	ops := list(g, fifth)
	*ops = append((*ops)[:at:at], append([]GroupOp{o}, (*ops)[at:]...)...)
}

// mistake changes something.
func (x *groupGenerator) mistake(g *Group) *Group {
	r := x.r
	for range 50 {
		q := g.clone()
		fifth := len(q.Fifth) > 0 && r.IntN(3) == 0
		ops := list(q, fifth)
		i := r.IntN(len(*ops))
		o := &(*ops)[i]
		switch r.IntN(8) {
		case 0, 1:
			*ops = append((*ops)[:i:i], (*ops)[i+1:]...)
		case 2, 3:
			j := r.IntN(len(*ops))
			moved := *o
			*ops = append((*ops)[:i:i], (*ops)[i+1:]...)
			insertGroup(q, fifth, j, moved)
		case 4:
			if o.joins() && o.Kind != GroupWarpSync {
				continue
			}
			o.Who = x.who(fifth)
			if o.joins() {
				o.Who = q.whole(o.Who)
			}
		case 5:
			switch {
			case o.Kind == WaitGroup:
				o.N ^= 1
			case o.Kind == Multiply && r.IntN(2) == 0:
				o.Stage ^= 1
			case o.Kind == Multiply:
				o.StageB ^= 1
			case o.Kind == GroupWait:
				o.N ^= 1
			case o.atBarrier() && o.Kind != GroupBulk:
				o.Bar ^= 1
			case o.touches():
				o.Stage ^= 1
			case o.Kind == GroupPoll:
				o.N = uint8(r.IntN(4))
			case o.Kind == GroupTicket:
				o.Kind = GroupAdd
			default:
				continue
			}
		case 6:
			insertGroup(q, fifth, i, x.access(fifth))
		case 7:
			if len(q.Counts) == 0 {
				continue
			}
			b := r.IntN(len(q.Counts))
			q.Counts[b] = uint8(max(1, int(q.Counts[b])+2*r.IntN(2)-1))
		}
		if q.Valid() {
			return q
		}
	}
	return g
}
