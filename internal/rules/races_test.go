package rules

import (
	"math/bits"
	"strings"
	"testing"

	"muster/internal/machine"
	"muster/internal/order"
)

// operations are the kinds of operation that a name depends on.
var operations = []struct {
	kind  machine.OpKind
	proxy machine.Proxy
	group machine.Group
}{
	{machine.OpBulkCopy, machine.Async, machine.GroupBulk},
	{machine.OpBulkCopy, machine.TensorMap, machine.NoGroup}, // its read of the map
	{machine.OpCpAsync, machine.Generic, machine.GroupCpAsync},
	{machine.OpWgmma, machine.Async, machine.GroupWgmma},
}

// conflictsOf yields a conflict of two instructions for every one and two
// reasons that order gives, every pair of accesses and operations, and both
// memories.
func conflictsOf(first, second int32, yield func(*order.Conflict)) {
	side := func(pc int32, op int, acc machine.Access, cta, warp int32) order.AccessRef {
		r := order.AccessRef{PC: pc, CTA: cta, Warp: warp, Lanes: 1, Access: acc, Op: -1}
		if op > 0 {
			o := operations[op-1]
			r.Op, r.Kind, r.Proxy, r.Group = 7, o.kind, o.proxy, o.group
		}
		return r
	}
	reads, writes, updates := machine.Read, machine.Write, machine.Read|machine.Write|machine.Update
	causes := bits.Len(uint(order.IfTogether)) // the last of them
	for n := range causes * causes {
		why := order.Why(1)<<(n%causes) | order.Why(1)<<(n/causes)
		for _, p := range []machine.Access{reads, writes, updates} {
			for _, c := range []machine.Access{reads, writes, updates} {
				if p == reads && c == reads {
					continue
				}
				for b := range 4 * 25 {
					con := &order.Conflict{
						Prior: side(first, b/4%5, p, 0, 0),
						Cur:   side(second, b/20, c, int32(b>>1&1), 1),
						Why:   why, Count: 1,
						Span: machine.Span{Mem: machine.Global, Addr: 64, Len: 4},
					}
					if b&1 != 0 {
						con.Span.Mem = machine.SharedOf(0)
						inTensor := *con
						inTensor.Span.Mem = machine.TensorOf(0)
						yield(&inTensor)
						ofPermit := *con
						ofPermit.Span = *machine.Permit(0)
						yield(&ofPermit)
					}
					yield(con)
				}
			}
		}
	}
}

// TestEveryConflictHasOneKind: for every cause that order reports, the conflict
// has a name and a finding that says where, what is missing and how to fix it.
func TestEveryConflictHasOneKind(t *testing.T) {
	wrong, _ := Example("mixed-size-race")
	j := &Judge{
		Config: Config{Program: prepare(t, "wrong.ptx", wrong, "--grid 1 --block 64 --buffer out=u32[1] --arg out").Program, Shape: machine.Shape{Cluster: 1}},
		Order:  order.New(order.Config{Shape: machine.Shape{CTAs: 2, Warps: 2, Threads: 64}}),
	}
	first, second := int32(-1), int32(-1)
	for pc := range int32(j.Program.Len()) {
		switch j.name(pc) {
		case "st.shared.u64":
			first = pc
		case "ld.shared.u32":
			second = pc
		}
	}
	seen := make(map[*Kind]int)
	each := func(c *order.Conflict) {
		k := j.classify(c)
		if k == nil || describe[k] == nil {
			t.Fatalf("no kind, or no words, for %+v", *c)
		}
		seen[k]++
		f := describe[k](j, c)
		if f.Headline == "" || f.Missing == "" || f.Fix == "" || len(f.Sites) != 2 || strings.Contains(f.Headline+f.Missing+f.Fix, "%!") {
			t.Fatalf("%s: an incomplete finding %+v", k.Name, f)
		}
	}
	conflictsOf(first, second, each)
	// The same between the two CTAs of two launches, of which the second depends on the first,
	// or not.
	for _, awaited := range [][]int{nil, {0}} {
		j.Shape = machine.Shape{Cluster: 1, Clusters: []int32{0, 1}, Grids: []machine.GridShape{{First: 0, CTAs: 1}, {First: 1, CTAs: 1, Awaited: awaited, Triggers: awaited}}}
		conflictsOf(first, second, each)
	}
	for k := range describe {
		if seen[k] == 0 {
			t.Errorf("nothing becomes %s", k.Name)
		}
	}
}

// TestOneFindingForOneWait: many instructions touch the accumulators of a wgmma
// in flight, in four warps, and lack one and the same wait.
func TestOneFindingForOneWait(t *testing.T) {
	e := readExample(t, "testdata/register-in-flight.txtar")
	for i, fs := range check(t, "wrong.ptx", e.files["wrong.ptx"], e.launch("wrong")) {
		if len(fs) != 1 || fs[0].Count != 16 {
			t.Errorf("schedule %d: %+v", i, fs)
		}
	}
}

// TestNamesOfStores: two stores, by what is missing between them.
func TestNamesOfStores(t *testing.T) {
	j := &Judge{Config: Config{Shape: machine.Shape{Cluster: 1}}}
	for _, tt := range []struct {
		why  order.Why
		mem  machine.MemID
		want *Kind
	}{
		{order.NoEdge, machine.Global, raceGlobal},
		{order.NoEdge, machine.SharedOf(1), raceShared},
		{order.NoEdge | order.SameWarpLanes, machine.SharedOf(1), raceLanes},
		{order.IfScopeWider | order.NotMorallyStrong, machine.Global, scopeTooNarrow},
		{order.NoEdge | order.NotMorallyStrong, machine.Global, scopeTooNarrow},
		{order.IfProxyFence, machine.SharedOf(0), proxyWaw},
		{order.BothAsyncOtherCTA, machine.Global, asyncAsync},
		{order.IfNotRelaxed, machine.Global, relaxedSync},
		{order.NoEdge | order.SameValue, machine.Global, sameValue},
		{order.InFlight, machine.Global, raceGlobal},
		{order.InFlight | order.IssueKnown, machine.Global, overwriteInFlight},
		{order.InFlight, machine.SharedOf(0), overwriteInFlight},
	} {
		c := &order.Conflict{Why: tt.why, Span: machine.Span{Mem: tt.mem, Len: 4}}
		c.Prior.Access, c.Cur.Access = machine.Write, machine.Write
		if got := j.classify(c); got != tt.want {
			t.Errorf("%b in %d: %s, want %s", tt.why, tt.mem, got.Name, tt.want.Name)
		}
	}
}
