package lanes_test

import (
	"math/rand/v2"
	"testing"

	"muster"
	. "muster/internal/brute/lanes"
)

// A groupCase is a program of a warpgroup, and what is bad by the letter and on a card.
type groupCase struct {
	name         string
	g            *Group
	letter, card string
	proxy        bool
}

// group makes a program of a warpgroup whose operations all threads execute, unless they
// say otherwise.
func group(lanes int, counts []uint8, ops, fifth []GroupOp) *Group {
	g := &Group{Lanes: lanes, Warps: 4, Counts: counts}
	if fifth != nil {
		g.Warps = 5
	}
	whole := uint16(1<<lanes - 1)
	for _, o := range ops {
		if o.Who == 0 {
			o.Who = whole | whole<<2 | whole<<4 | whole<<6
		}
		g.Ops = append(g.Ops, o)
	}
	for _, o := range fifth {
		if o.Who == 0 {
			o.Who = whole << 8
		}
		g.Fifth = append(g.Fifth, o)
	}
	return g
}

// by leaves an operation to some threads: bit 2*warp + lane.
func by(who uint16, o GroupOp) GroupOp { o.Who = who; return o }

// ops joins operations.
func ops(list ...any) []GroupOp {
	var all []GroupOp
	for _, x := range list {
		switch x := x.(type) {
		case GroupOp:
			all = append(all, x)
		case []GroupOp:
			all = append(all, x...)
		}
	}
	return all
}

const (
	lane0s = 0x55 // lane 0 of each of the four warps
	w0     = 1    // lane 0 of warp 0
	w3     = 1 << 6
	w4     = 1 << 8
)

var (
	putOwn  = GroupOp{Kind: GroupStore, Part: PartOwn, N: 10}
	putB    = GroupOp{Kind: GroupStore, Part: PartB, N: 20}
	ldB     = GroupOp{Kind: GroupLoad, Part: PartB}
	ldX     = GroupOp{Kind: GroupLoad, Part: PartX}
	again   = GroupOp{Kind: GroupStore, Part: PartB, N: 40}
	proxy   = GroupOp{Kind: ProxyFence}
	sync4   = GroupOp{Kind: GroupSync, N: 4}
	sync5   = GroupOp{Kind: GroupSync, Bar: 1, N: 5}
	warp    = GroupOp{Kind: GroupWarpSync}
	fence   = GroupOp{Kind: Fence}
	product = GroupOp{Kind: Multiply}
	commit  = GroupOp{Kind: Commit}
	wait0   = GroupOp{Kind: WaitGroup}
	waitOne = GroupOp{Kind: WaitGroup, N: 1}
	mma     = ops(fence, product, commit)
	give    = GroupOp{Kind: GroupArrive}         // at mbarrier 0
	taken   = GroupOp{Kind: GroupWait}           // its first phase
	full    = GroupOp{Kind: GroupArrive, Bar: 1} // at mbarrier 1
	filled  = GroupOp{Kind: GroupWait, Bar: 1}
	expects = GroupOp{Kind: GroupArriveTx, Bar: 1, N: 1}
	copyB   = GroupOp{Kind: GroupBulk, Part: PartB, Bar: 1}
)

var groupCases = []groupCase{
	{name: "each writes its own rows", g: group(1, nil, ops(putOwn, proxy, mma, wait0), nil)},
	{name: "each writes its own rows, two lanes", g: group(2, nil, ops(GroupOp{Kind: GroupStore, Part: PartOwn, Index: IndexLane, N: 10}, proxy, mma, wait0), nil)},
	{name: "no proxy fence", g: group(1, nil, ops(putOwn, mma, wait0), nil), letter: "race", card: "race"},
	{name: "the other lane's proxy fence", g: group(2, nil, ops(by(w0, putOwn), by(2, proxy), mma, wait0), nil), letter: "race", card: "race"},
	{name: "the other lane's proxy fence, after a bar.warp.sync", g: group(2, nil, ops(by(w0, putOwn), warp, by(2, proxy), mma, wait0), nil)},
	{name: "B by one warp, and no barrier", g: group(1, nil, ops(by(w0, putB), by(w0, proxy), mma, wait0), nil), letter: "race"},
	{name: "B by one warp, and a barrier", g: group(1, nil, ops(by(w0, putB), by(w0, proxy), sync4, mma, wait0), nil)},
	{name: "B by one warp, a barrier, and the others' fences", g: group(1, nil, ops(by(w0, putB), sync4, proxy, mma, wait0), nil)},
	{name: "B by one warp, a barrier, and another's fence", g: group(1, nil, ops(by(w0, putB), sync4, by(w3, proxy), mma, wait0), nil), letter: "race"},
	{name: "overwritten behind the wait", g: group(1, nil, ops(mma, wait0, by(w0, again)), nil)},
	{name: "written, multiplied, and overwritten behind one warp's wait", g: group(1, nil, ops(putOwn, by(w0, putB), proxy, sync4, mma, wait0, by(w0, again)), nil)},
	{name: "overwritten before the wait", g: group(1, nil, ops(mma, by(w0, again), wait0), nil), letter: "race", card: "race"},
	{name: "overwritten where one group may be open", g: group(1, nil, ops(mma, waitOne, by(w0, again), wait0), nil), letter: "race", card: "race"},
	{name: "overwritten where a later group may be open", g: group(1, nil, ops(mma, fence, GroupOp{Kind: Multiply, Stage: 1, StageB: 1}, commit, waitOne, by(w0, again), wait0), nil)},
	{name: "the later group's", g: group(1, nil, ops(mma, fence, GroupOp{Kind: Multiply, Stage: 1, StageB: 1}, commit, waitOne, by(w0, GroupOp{Kind: GroupStore, Stage: 1, Part: PartB, N: 40}), wait0), nil), letter: "race", card: "race"},
	{name: "given back by one thread after its wait", g: group(1, []uint8{1}, ops(mma, wait0, by(w0, give), wait0), ops(taken, again))},
	{name: "given back before the wait", g: group(1, []uint8{1}, ops(mma, by(w0, give), wait0), ops(taken, again)), letter: "race", card: "race"},
	{name: "given back by four before the wait", g: group(1, []uint8{4}, ops(mma, by(lane0s, give), wait0), ops(taken, again)), letter: "race", card: "race"},
	{name: "given back with no wait by the producer", g: group(1, []uint8{1}, ops(mma, wait0, by(w0, give), wait0), ops(again)), letter: "race", card: "race"},
	{name: "an operand read by plain loads, given back by another warp", g: group(1, []uint8{1}, ops(mma, ldB, wait0, by(w3, give), wait0), ops(taken, again)), letter: "race", card: "race"},
	{name: "the same, loaded before the product", g: group(1, []uint8{1}, ops(ldB, mma, wait0, by(w3, give), wait0), ops(taken, again)), letter: "race"},
	{name: "the same, each gives it back", g: group(1, []uint8{4}, ops(ldB, mma, wait0, by(lane0s, give), wait0), ops(taken, again))},
	{name: "another word, loaded before the next product", g: group(1, []uint8{1}, ops(mma, ldX, mma, wait0, by(w3, give), wait0), ops(taken, GroupOp{Kind: GroupStore, Part: PartX, N: 40})), letter: "race"},
	{name: "a producer's store, which all wait for", g: group(1, []uint8{1, 1}, ops(filled, mma, wait0), ops(putB, proxy, full))},
	{name: "a producer's store, which one warp waits for", g: group(1, []uint8{1, 1}, ops(by(w0, filled), mma, wait0), ops(putB, proxy, full)), letter: "race"},
	{name: "a producer's store, without its fence", g: group(1, []uint8{1, 1}, ops(filled, mma, wait0), ops(putB, full)), letter: "race", card: "race"},
	{name: "a producer's copy", g: group(1, []uint8{1, 1}, ops(filled, mma, wait0), ops(expects, copyB))},
	{name: "a producer's copy, which one warp waits for", g: group(1, []uint8{1, 1}, ops(by(w0, filled), mma, wait0), ops(expects, copyB)), letter: "race"},
	{name: "a producer's copy, which nobody waits for", g: group(1, []uint8{1, 1}, ops(mma, wait0), ops(expects, copyB)), letter: "race", card: "race"},
	{name: "a producer's second copy", g: group(1, []uint8{1, 1}, ops(filled, mma, wait0, by(w0, give), GroupOp{Kind: GroupWait, Bar: 1, N: 1}, mma, wait0), ops(expects, copyB, taken, expects, copyB))},
	{name: "a producer's second copy, too early", g: group(1, []uint8{1, 1}, ops(filled, mma, by(w0, give), wait0, GroupOp{Kind: GroupWait, Bar: 1, N: 1}, mma, wait0), ops(expects, copyB, taken, expects, copyB)), letter: "race", card: "race"},
	{name: "a copy over what was loaded", g: group(1, []uint8{4, 1}, ops(ldB, by(lane0s, give), filled, mma, wait0), ops(taken, expects, copyB)), proxy: true},
	{name: "a barrier of 160 threads", g: group(1, nil, ops(mma, wait0, sync5, wait0), ops(sync5, again))},
	{name: "a barrier of 160 threads before the wait", g: group(1, nil, ops(mma, sync5, wait0), ops(sync5, again)), letter: "race", card: "race"},
	{name: "what a warp wrote, read by another behind the next product", g: group(1, nil, ops(by(w0, GroupOp{Kind: GroupStore, Part: PartX, N: 30}), mma, by(w3, ldX), wait0), nil), letter: "race"},
	{name: "what a lane wrote, read by its mate behind the next product", g: group(2, nil, ops(by(w0, GroupOp{Kind: GroupStore, Part: PartX, N: 30}), mma, by(2, ldX), wait0), nil), letter: "race"},
	{name: "what a lane wrote, read by its mate behind the wait", g: group(2, nil, ops(mma, by(w0, GroupOp{Kind: GroupStore, Part: PartX, N: 30}), wait0, by(2, ldX), wait0), nil), letter: "race"},
	{name: "a product that one warp cannot come to", g: group(1, []uint8{1}, ops(by(w3, taken), mma, wait0, by(w0, give), wait0), nil), letter: "hang", card: "hang"},
}

// TestExploreGroup checks ExploreGroup on programs that can be solved by hand.
func TestExploreGroup(t *testing.T) {
	for _, c := range groupCases {
		if !c.g.Valid() {
			t.Errorf("%s: not valid\n%v", c.name, c.g)
			continue
		}
		letter, card := ExploreGroup(c.g, Letter, 100_000), ExploreGroup(c.g, Together, 100_000)
		if !letter.Complete || !card.Complete || letter.Bad() != c.letter || card.Bad() != c.card || letter.Proxy != c.proxy && c.letter == "" {
			t.Errorf("%s: by the letter %q, want %q; on a card %q, want %q; proxy %v\n%v", c.name, letter.Bad(), c.letter, card.Bad(), c.card, letter.Proxy, c.g)
		}
	}
}

// TestGroupVerdicts holds verdicts to what comes out of programs that can be solved by
// hand. The right ones are proven.
func TestGroupVerdicts(t *testing.T) {
	for _, c := range groupCases {
		v := judgeGroup(c.g)
		if d := v.disagrees(); d != "" {
			t.Errorf("%s: %s\n%v%s", c.name, d, c.g, c.g.PTX())
			continue
		}
		for _, schedule := range muster.Handful(20) {
			if !fine(&v.results[Together]) {
				break
			}
			if err := v.ran(schedule); err != nil {
				t.Errorf("%s: %v\n%v%s", c.name, err, c.g, c.g.PTX())
				break
			}
		}
		if testing.Verbose() {
			t.Logf("%-60s %s; %s", c.name, v.rep.Verdict, v.kinds())
		}
		if c.letter == "" && !proven(v.rep) {
			t.Errorf("%s: not proven: %s\n%v", c.name, v.rep.Summary, c.g)
		}
	}
}

// TestGroupSteps holds ExploreGroup to an exploration in which every operation is a step of
// its own.
func TestGroupSteps(t *testing.T) {
	complete := 0
	for n := range uint64(120) {
		g := GenerateGroup(rand.New(rand.NewPCG(9, n)))
		for e := range Edges {
			each := ExploreGroupSteps(g, e, 30_000)
			if !each.Complete {
				continue
			}
			complete++
			r := ExploreGroup(g, e, 30_000)
			if !r.Complete || (r.Bad() == "") != (each.Bad() == "") || each.Bad() == "" && (r.Phases != each.Phases || r.Loose != each.Loose || r.Proxy != each.Proxy || len(r.Outs) != len(each.Outs)) {
				t.Errorf("program %d, edges %d: %q, %d results; step by step %q, %d results\n%v", n, e, r.Bad(), len(r.Outs), each.Bad(), len(each.Outs), g)
			}
		}
	}
	if complete < 100 {
		t.Errorf("only %d explorations are complete", complete)
	}
	t.Logf("%d explorations", complete)
}
