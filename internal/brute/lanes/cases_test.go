package lanes_test

import (
	"testing"

	. "muster/internal/brute/lanes"
)

// A lanesCase is a program that is wrong, and perhaps the right one beside it.
type lanesCase struct {
	name  string
	p     *Program
	bad   string
	final int // how many memories it can leave, where nothing is bad
	right *Program
	open  bool // a check may leave the right one incomplete: lanes of one warp meet at a word, and it decides
}

// of makes a program of warps whose operations all lanes execute, unless they say
// otherwise. Area 0 is data, areas 1 and 2 are words.
func of(lanes int, warps ...[]Op) *Program {
	p := &Program{CTAs: 1, Turns: 1, Lanes: lanes, Warps: warps, Areas: make([]Area, 3)}
	for _, ops := range warps {
		for i := range ops {
			if ops[i].Only == 0 {
				ops[i].Only = 1<<lanes - 1
			}
		}
	}
	return p
}

func (p program) counts(n ...uint8) *Program { p.Counts = n; return p.Program }

type program struct{ *Program }

func out(p *Program) *Program { p.Out = 3; return p }

// The operations that the cases have in common.
var (
	put     = Op{Kind: Store, At: Mine, N: 1}
	one     = Op{Kind: Red, Do: Add, Area: 1, N: 1}
	lane0   = Op{Kind: Load, At: Fixed, Reg: 1}
	lane1   = Op{Kind: Load, At: Fixed, Index: 1, Reg: 1}
	meet    = Op{Kind: WarpSync}
	arrive  = Op{Kind: Arrive}
	barrier = Op{Kind: Sync, N: 2}
	expect  = Op{Kind: Expect, N: 1}
	bulk    = Op{Kind: Bulk}
	async   = Op{Kind: CopyAsync, At: Mine}
	asyncly = Op{Kind: ArriveAsync, N: 1}
	wait    = Op{Kind: Wait}
	end     = Op{Kind: Inval}
	box1    = Op{Kind: Load, At: Fixed, Index: Box, Reg: 1}
	tells   = Op{Kind: StoreStrong, Area: 1, At: Mine, N: 1}
	keep    = Op{Kind: Arrive, Keep: true}
	token   = Op{Kind: WaitToken}
)

// boxed has the data in shared memory.
func boxed(p *Program) *Program { p.Areas[0].Shared = true; return p }

// fenced has a fence.sc before each strong access, which is relaxed.
func fenced(p *Program) *Program { p.Order, p.SC = Fenced, true; return p }

// once is a program of one warp, and an mbarrier of some arrivals.
func once(n uint8, ops ...Op) *Program { return boxed(program{of(2, ops)}.counts(n)) }

var (
	wait1 = Op{Kind: Wait, N: 1}
)

func until(cmp Cmp, k uint8) Op { return Op{Kind: Poll, Area: 1, Cmp: cmp, K: k} }

func reduce(do Do, v Value) Op { return Op{Kind: Red, Do: do, Area: 1, Value: v, N: 1} }

// only leaves an operation to some lanes.
func only(lanes uint8, o Op) Op { o.Only = lanes; return o }

var lanesCases = []lanesCase{
	{"a wait for all additions but one", of(2, []Op{put, one}, []Op{until(GE, 1), lane1}), "race", 0,
		of(2, []Op{put, one}, []Op{until(GE, 2), lane1}), false},
	{"a maximum between", of(2, []Op{put, reduce(Max, ByLane)}, []Op{until(NE, 0), lane1}), "race", 0, nil, false},
	{"the largest of a warp's, and the others are behind it", of(2, []Op{put, reduce(Max, ByLane)}, []Op{until(EQ, 2), lane0}), "race", 0,
		of(2, []Op{put, meet, reduce(Max, ByLane)}, []Op{until(EQ, 2), lane0}), false},
	{"one lane's bit, and another's data", of(2, []Op{put, reduce(Or, LaneBit)}, []Op{{Kind: Poll, Area: 1, Cmp: Bits, K: 1}, lane1}), "race", 0,
		of(2, []Op{put, reduce(Or, LaneBit)}, []Op{{Kind: Poll, Area: 1, Cmp: EQ, K: 3}, lane1}), false},
	{"flags of two lanes, one set and one not", of(2, []Op{{Kind: StoreStrong, Area: 1, At: Mine, N: 1}},
		[]Op{{Kind: LoadStrong, Area: 1, Reg: 0}, {Kind: LoadStrong, Area: 1, Index: 1, Reg: 1}, {Kind: Skip, Reg: 0, Cmp: EQ, K: 1, N: 1}, {Kind: Trap, Reg: 1, Cmp: EQ}}), "trap", 0,
		of(2, []Op{{Kind: StoreStrong, Area: 1, At: Mine, N: 1}, barrier},
			[]Op{barrier, {Kind: LoadStrong, Area: 1, Reg: 0}, {Kind: LoadStrong, Area: 1, Index: 1, Reg: 1}, {Kind: Skip, Reg: 0, Cmp: EQ, K: 1, N: 1}, {Kind: Trap, Reg: 1, Cmp: EQ}}), false},
	{"one look that sees half", of(2, []Op{one}, []Op{{Kind: LoadStrong, Area: 1}, {Kind: Trap, Cmp: EQ, K: 1}}), "trap", 0,
		of(2, []Op{one}, []Op{{Kind: LoadStrong, Area: 1}, {Kind: Trap, Cmp: EQ, K: 3}}), false},
	{"a neighbour's data by a word of the warp's own", of(2, []Op{put, {Kind: Atom, Do: Add, Area: 1, N: 1}, lane0}), "race", 0,
		of(2, []Op{put, {Kind: Atom, Do: Add, Area: 1, N: 1}, meet, lane0}), false},
	{"a neighbour's data with nothing between", of(2, []Op{put, {Kind: Load, At: Next, Reg: 1}}), "race", 0,
		of(2, []Op{put, meet, {Kind: Load, At: Next, Reg: 1}}), false},
	{"a phase of two lanes' two arrivals, the third still to come", program{of(3, []Op{put, arrive, arrive}, []Op{{Kind: Wait}, lane1})}.counts(4), "race", 0,
		program{of(3, []Op{put, arrive}, []Op{{Kind: Wait}, lane1})}.counts(3), false},
	{"an arrival too few", program{of(2, []Op{arrive}, []Op{{Kind: Wait}})}.counts(3), "hang", 0,
		program{of(2, []Op{arrive}, []Op{{Kind: Wait}})}.counts(2), false},
	{"a wait that a lane of its own warp laps", program{of(2, []Op{arrive, {Kind: Wait}, arrive, arrive})}.counts(2), "hang", 0,
		program{of(2, []Op{arrive, {Kind: Wait}, arrive, {Kind: Wait, N: 1}})}.counts(2), false},
	{"a wait that a mate's copy laps", once(1, only(1, arrive), wait, only(1, Op{Kind: ArriveTx, N: 1}), only(1, bulk)), "hang", 0,
		once(1, only(1, arrive), wait, meet, only(1, Op{Kind: ArriveTx, N: 1}), only(1, bulk), wait1), false},
	{"a wait that a mate's cp.async laps", once(1, only(1, arrive), wait, only(1, async), only(1, asyncly)), "hang", 0,
		once(1, only(1, arrive), wait, meet, only(1, async), only(1, asyncly), wait1), false},
	{"an end before a mate has waited", once(1, only(1, arrive), wait, only(1, end)), "undefined", 0,
		once(1, only(1, arrive), wait, meet, only(1, end)), false},
	{"an end before an arrival by cp.async", once(2, only(1, async), only(1, asyncly), only(1, end)), "undefined", 0,
		once(1, only(1, async), only(1, asyncly), only(1, wait), only(1, end)), false},
	{"credits of all, and an arrival of one", once(1, expect, only(1, arrive), bulk, wait, box1), "race", 0,
		once(1, expect, meet, only(1, arrive), bulk, wait, box1), false},
	{"an arrival that must not be the last, and may be", once(2, only(1, Op{Kind: NoComplete}), only(2, arrive)), "undefined", 0,
		once(2, only(1, Op{Kind: NoComplete}), meet, only(2, arrive)), false},
	{"a token of two phases ago", once(2, keep, wait, meet, arrive, wait1, token), "undefined", 0,
		once(2, keep, token, meet, arrive, wait1), false},
	{"a token of three phases ago", once(1, only(1, keep), only(1, wait), only(1, arrive), only(1, wait1), only(1, arrive), only(1, wait), only(1, token)), "undefined", 0,
		once(1, only(1, keep), only(1, wait), only(1, token), only(1, arrive), only(1, wait1), only(1, arrive), only(1, wait)), false},
	{"two warps' arrivals, one of which must not be the last", boxed(program{of(1, []Op{{Kind: NoComplete}}, []Op{arrive})}.counts(2)), "undefined", 0,
		boxed(program{of(1, []Op{{Kind: NoComplete}, barrier}, []Op{barrier, arrive})}.counts(2)), false},
	{"a test that the wait behind it makes again", boxed(program{of(1, []Op{arrive}, []Op{{Kind: Test}, wait, {Kind: Trap, Cmp: EQ}})}.counts(1)), "trap", 0,
		boxed(program{of(1, []Op{arrive}, []Op{wait, {Kind: Test}, {Kind: Trap, Cmp: EQ}})}.counts(1)), false},
	{"a test, and the wait only if it came out false", boxed(program{of(1, []Op{arrive}, []Op{{Kind: Test}, {Kind: Skip, Cmp: EQ, N: 1}, wait, {Kind: Trap, Cmp: NE, K: 1}})}.counts(1)), "trap", 0,
		boxed(program{of(1, []Op{arrive}, []Op{{Kind: Test}, {Kind: Skip, Cmp: EQ, N: 1}, wait})}.counts(1)), false},
	{"two flags of two lanes, and fence.sc by both", fenced(of(2, []Op{put, tells}, []Op{{Kind: Poll, Area: 1, At: Lane, Cmp: NE}, {Kind: LoadStrong, Area: 1, At: Mine}, lane1})), "race", 0,
		fenced(of(2, []Op{put, tells}, []Op{{Kind: Poll, Area: 1, At: Lane, Cmp: NE}, {Kind: LoadStrong, Area: 1, At: Mine}, meet, lane1})), false},
	{"tests in one step, of which one comes out true", boxed(program{of(2, []Op{only(1, arrive)}, []Op{{Kind: Test}, {Kind: Vote, N: Ballot, Cmp: NE}, {Kind: Trap, K: 1}})}.counts(1)), "trap", 0,
		boxed(program{of(2, []Op{only(1, arrive)}, []Op{wait, {Kind: Test}, {Kind: Vote, N: Ballot, Cmp: NE}, {Kind: Trap, K: 1}})}.counts(1)), false},
	{"a flag that lanes of one step see, and one does not", of(2, []Op{only(1, tells)}, []Op{{Kind: LoadStrong, Area: 1, At: Fixed}, {Kind: Vote, N: Ballot, Cmp: NE}, {Kind: Trap, K: 1}}), "trap", 0,
		of(2, []Op{only(1, tells)}, []Op{{Kind: LoadStrong, Area: 1, At: Fixed, Only: 1}, {Kind: Shuffle}, {Kind: Vote, N: Ballot, Cmp: NE}, {Kind: Trap, K: 1}}), false},
	{"an arrival too many, while a copy is under way", once(1, only(1, Op{Kind: ArriveTx, N: 1}), only(2, arrive), only(1, bulk)), "undefined", 0, nil, false},
	{"a copy that another lane knows by an mbarrier and its own by a wait", once(1, async, only(2, asyncly), Op{Kind: Drain}, lane1), "race", 0,
		once(1, async, only(2, asyncly), only(1, wait), Op{Kind: Drain}, lane1), false},
	{"a copy that its own lane does not wait for", once(1, async, lane0), "race", 0,
		once(1, async, Op{Kind: Drain}, meet, lane0), false},
	{"an addition that sets a bit before it is", of(2, []Op{reduce(Or, LaneBit)}, []Op{one, until(GE, 3)}), "hang", 0, nil, false},
	{"a value that comes and goes", of(2, []Op{one}, []Op{until(EQ, 1)}), "hang", 0, nil, false},
	{"a lane that waits for the next one of its warp", of(2, []Op{only(1, until(NE, 0)), only(2, one)}), "", 1, nil, false},
	{"a value between, kept", out(of(2, []Op{one}, []Op{until(NE, 0)})), "", 4, nil, false},
	{"slots by ticket", of(2, []Op{{Kind: Atom, Do: Add, Area: 1, N: 1}, {Kind: Store, At: ByReg, Value: ByLane, N: 1}}), "", 2, nil, false},
	{"the winner of a cas", of(2, []Op{{Kind: Atom, Do: Cas, Area: 1, N: 1}, {Kind: Skip, Cmp: EQ, N: 1}, {Kind: Store, Value: ByLane, N: 1}}), "", 2, nil, false},
	{"the last one in reads all", of(2, []Op{put, {Kind: Atom, Do: Add, Area: 1, N: 1}, {Kind: Skip, Cmp: EQ, K: 0, N: 1}, lane1}), "race", 0,
		of(2, []Op{put, {Kind: Atom, Do: Add, Area: 1, N: 1}, {Kind: Skip, Cmp: EQ, K: 1, N: 1}, lane1}), true},
	{"a lock, left out by one lane", of(2, []Op{only(1, Op{Kind: Lock, Area: 1}), lane0, {Kind: Store, Value: FromReg, Reg: 1, N: 1}, only(1, Op{Kind: StoreStrong, Area: 1})}), "race", 0,
		of(2, []Op{{Kind: Lock, Area: 1}, lane0, {Kind: Store, Value: FromReg, Reg: 1, N: 1}, {Kind: StoreStrong, Area: 1}}), true},
	{"the second turn's data", turns(of(2, []Op{put, barrier}, []Op{barrier, lane1})), "race", 0,
		turns(of(2, []Op{put, barrier, barrier}, []Op{barrier, lane1, barrier})), false},
}

func turns(p *Program) *Program {
	p.Turns = 2
	for _, ops := range p.Warps {
		for i := range ops {
			if ops[i].Kind == Store {
				ops[i].Turn = 1
			}
		}
	}
	return p
}

// TestExplore checks Explore on programs that can be solved by hand.
func TestExplore(t *testing.T) {
	for _, c := range lanesCases {
		r := Explore(c.p, 100_000)
		if !r.Complete || r.Bad() != c.bad || c.bad == "" && len(r.Finals) != c.final {
			t.Errorf("%s: bad %q, want %q; %d final memories, want %d", c.name, r.Bad(), c.bad, len(r.Finals), c.final)
		}
		if c.right == nil {
			continue
		}
		if r := Explore(c.right, 100_000); !r.Complete || r.Bad() != "" {
			t.Errorf("%s: the right one: %q", c.name, r.Bad())
		}
	}
}

// TestVerdicts are kinds of programs that a check once called clean, or proved, and
// the right ones beside them.
func TestVerdicts(t *testing.T) {
	for _, c := range lanesCases {
		if d := disagrees(c.p); d != "" {
			t.Errorf("%s: %s\n%v%s", c.name, d, c.p, c.p.PTX())
		}
		if c.right == nil {
			continue
		}
		if d := disagrees(c.right); d != "" {
			t.Errorf("%s: the right one: %s\n%v%s", c.name, d, c.right, c.right.PTX())
		}
		l, err := load(c.right)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		switch rep, err := check(l); {
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case rep.Verdict != "clean" && !c.open:
			t.Errorf("%s: the right one is not clean: %s\n%v%s", c.name, rep.Summary, c.right, c.right.PTX())
		}
	}
}
