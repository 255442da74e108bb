package brute_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	. "muster/internal/brute"
)

// TestCases are programs on which a proof and brute force once disagreed, or on
// which a condition asked for too much.
func TestCases(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      Program
		proven bool
		says   string // in a reason, or a finding
	}{
		{"1: a test whose outcome nobody looks at orders nothing", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Peek}, {Kind: Store, Slot: 3, N: 2}},
			{{Kind: Store, Slot: 3, N: 1}, {Kind: Arrive}},
		}}, false, "C8"},
		{"2: one arrival too many, made asynchronously, in the phase left open", Program{Counts: []int8{1}, Threads: [][]Op{
			{},
			{{Kind: NoIncrement}, {Kind: ArriveExpect, N: 32}},
		}}, false, "arrivals-excess"},
		{"3: a drop lowers the count of the next phase, not of this one", Program{Counts: []int8{2}, Threads: [][]Op{
			{{Kind: Drop}},
			{{Kind: Load, Slot: 3}},
		}}, true, ""},
		{"4: bytes that never land keep a phase open", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Wait, N: 1}},
			{{Kind: ArriveExpect, N: 32}},
		}}, true, ""},
		{"6: equal stores, and one more behind them", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Store, Slot: 3, N: 1}},
			{{Kind: Store, Slot: 3, N: 1}, {Kind: Store, Slot: 3, N: 2}},
		}}, false, "race"},
		{"5: unless they may come after the arrival", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Arrive}},
			{{Kind: Expect, N: 32}},
		}}, false, "phase-mixing"},
	} {
		rep, _, err := check(&c.p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		r := all(&c.p)
		proven := rep.Proof != nil && rep.Proof.All && rep.Verdict == "clean"
		if proven != c.proven || proven && !r.Independent() {
			t.Errorf("%s: proven %v, want %v; independent %v: %s", c.name, proven, c.proven, r.Independent(), reasons(rep))
		}
		if !strings.Contains(reasons(rep), c.says) {
			t.Errorf("%s: %s, and %s is not among the reasons", c.name, reasons(rep), c.says)
		}
	}
}

// TestExplore checks brute force itself on programs that can be solved by hand.
func TestExplore(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Program
		want Result // of Stuck, Fault, Race, Phases and Memories
	}{
		{"a message", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Store, Slot: 0, N: 1}, {Kind: Arrive}},
			{{Kind: Wait}, {Kind: Load, Slot: 0}},
		}}, Result{Memories: 1}},
		{"phases swap", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Arrive}, {Kind: Wait, N: 1}, {Kind: Load, Slot: 0}},
			{{Kind: Store, Slot: 0, N: 1}, {Kind: Arrive}},
		}}, Result{Memories: 1, Phases: true, Stuck: false}},
		{"early, or lapped", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Wait, N: 1}},
			{{Kind: Arrive}},
		}}, Result{Memories: 1, Stuck: true}},
		{"a race", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Store, Slot: 3, N: 1}},
			{{Kind: Store, Slot: 3, N: 2}},
		}}, Result{Memories: 2, Race: true}},
		{"additions", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Add, Slot: 3, N: 1}},
			{{Kind: Add, Slot: 3, N: 2}},
		}}, Result{Memories: 1}},
		{"an addition and a maximum", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Add, Slot: 3, N: 1}},
			{{Kind: Max, Slot: 3, N: 99}},
		}}, Result{Memories: 2}},
		{"one arrival too many", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: ArriveExpect, N: 16}},
			{{Kind: Arrive}},
		}}, Result{Memories: 1, Fault: true}},
		{"a copy read in flight", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: ArriveExpect, N: 16}, {Kind: Copy, Slot: 0, Src: 5}, {Kind: Load, Slot: 0}, {Kind: Wait}},
			{},
		}}, Result{Memories: 2, Race: true}},
		{"a generation filled alone", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: BarArrive, N: 2}, {Kind: BarArrive, N: 2}},
			{{Kind: Sync, N: 2}},
		}}, Result{Memories: 1, Stuck: true}},
		{"a bulk store before it is waited for", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: StoreAll, Slot: 3, Src: 0}, {Kind: Commit}, {Kind: WaitRead}, {Kind: Store, Slot: 0, N: 1}, {Kind: WaitGroup}, {Kind: Load, Slot: 3}},
			{},
		}}, Result{Memories: 1}},
	} {
		r := Explore(&c.p, false, 1<<20)
		if !r.Complete || r.Memories != c.want.Memories || r.Stuck != c.want.Stuck || r.Fault != c.want.Fault || r.Race != c.want.Race || r.Phases != c.want.Phases {
			t.Errorf("%s: memories %d, stuck %v, fault %v, race %v, phases differ %v", c.name, r.Memories, r.Stuck, r.Fault, r.Race, r.Phases)
		}
	}
}

// TestUnordered checks Unordered against Explore, whose races must be among its pairs,
// and on programs that can be solved by hand.
func TestUnordered(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Program
		want [][2]int
	}{
		{"a message", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Store, Slot: 0, N: 1}, {Kind: Arrive}},
			{{Kind: Wait}, {Kind: Load, Slot: 0}},
		}}, nil},
		{"a copy that tells only of itself", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: ArriveExpect, N: 16}, {Kind: Store, Slot: 3, N: 1}, {Kind: Copy, Slot: 0, Src: 5}},
			{{Kind: Wait}, {Kind: Load, Slot: 3}, {Kind: Load, Slot: 0}},
		}}, [][2]int{{1, 4}}},
		{"an arrival of the phase before", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Load, Slot: 0}, {Kind: Arrive}},
			{{Kind: Arrive}, {Kind: Wait, N: 1}, {Kind: Store, Slot: 0, N: 2}},
		}}, [][2]int{{0, 4}}},
		{"a read that is waited for", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: StoreAll, Slot: 3, Src: 0}, {Kind: Commit}, {Kind: WaitRead}, {Kind: Store, Slot: 0, N: 1}, {Kind: Load, Slot: 3}},
			{},
		}}, [][2]int{{0, 4}}},
		{"a named barrier", Program{Counts: []int8{1}, Threads: [][]Op{
			{{Kind: Store, Slot: 0, N: 1}, {Kind: BarArrive, N: 2}, {Kind: Load, Slot: 1}},
			{{Kind: Sync, N: 2}, {Kind: Load, Slot: 0}, {Kind: Store, Slot: 1, N: 1}},
		}}, [][2]int{{2, 5}}},
	} {
		got, complete := Unordered(&c.p, false, 1<<16)
		if !complete || len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		for _, k := range c.want {
			if !got[k] {
				t.Errorf("%s: %v is not among %v", c.name, k, got)
			}
		}
	}
	for i := range uint64(300) {
		p := Small(rand.New(rand.NewPCG(3, i)))
		r := Explore(p, true, 2000)
		if !r.Complete || r.Fault {
			continue
		}
		all, complete := Unordered(p, true, 1<<19)
		for _, k := range r.Pairs {
			if complete && !all[k] {
				t.Errorf("%v races, and is in some order\n%v", k, p)
			}
		}
	}
}

// TestSearched runs programs for which a search of schedules once missed something.
func TestSearched(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Program
	}{
		{"a reduction that sleeps, woken by the exit of its warp's other lanes, and a wait that is lapped before it", Program{Counts: []int8{1}, Spin: 1, Threads: [][]Op{
			{{Kind: Wait}, {Kind: Arrive}},
			{{Kind: Sync, N: 2}, {Kind: Store, Slot: 4, N: 3}},
			{{Kind: Wait}, {Kind: BarArrive, N: 2}},
			{{Kind: Arrive}, {Kind: Add, Slot: 4, N: 1}},
		}}},
		{"a reduction that another one of its thread hides, of the proxy that the third is of", Program{Counts: []int8{1, 1}, Threads: [][]Op{
			{{Kind: AddAll, Slot: 4, Src: 1}},
			{{Kind: Add, Slot: 4, N: 2}, {Kind: AddAll, Slot: 4, Src: 1}},
		}}},
		{"a source that was read before the barrier, and of which the issuer waits for the rest behind it", Program{Counts: []int8{1, 1}, Threads: [][]Op{
			{{Kind: Sync, Bar: 1, N: 2}, {Kind: Copy, Slot: 2, Src: 4, Bar: 1}},
			{{Kind: StoreAll, Slot: 3, Src: 2}, {Kind: Commit}, {Kind: WaitRead}, {Kind: Sync, Bar: 1, N: 2}, {Kind: WaitGroup}},
		}}},
		{"a wait woken by a change of what its thread had looked at before, on its way there", Program{Counts: []int8{1, 1, 2}, Threads: [][]Op{
			{{Kind: Store, Slot: 2, N: 1}, {Kind: ArriveToken, Bar: 2}},
			{{Kind: StoreAll, Slot: 3, Src: 2}, {Kind: ArriveToken, Bar: 2}, {Kind: LoadStrong, Slot: 3}, {Kind: WaitToken, Bar: 2}, {Kind: Store, Slot: 3, N: 1}},
		}}},
		{"tokens of two barriers", Program{Counts: []int8{1, 1}, Threads: [][]Op{
			{{Kind: ArriveToken}, {Kind: ArriveToken, Bar: 1}, {Kind: WaitToken}, {Kind: Store, Slot: 4, N: 1}},
			{{Kind: Arrive, Bar: 1}, {Kind: Store, Slot: 4, N: 2}},
		}}},
	} {
		if v := judge(&c.p, largeStates); v.skip != "" || v.differ != "" {
			t.Errorf("%s: %s%s\n%v", c.name, v.skip, v.differ, &c.p)
		}
	}
}
