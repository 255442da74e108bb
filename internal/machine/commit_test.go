package machine_test

import (
	"slices"
	"testing"

	"muster/internal/machine"
)

// TestCommitsArriveInOrder goes all ways through the arrivals of three threads' commits: those
// of one thread and .cta_group come in the order of their issue, and nothing else is ordered.
func TestCommitsArriveInOrder(t *testing.T) {
	const commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
	c := &behaviour{name: "commits", target: "sm_100a", block: 32, body: `
	.shared .b64 first; .shared .b64 second; .shared .b64 third; .reg .pred %lead, %p;
	setp.ne.u32 %lead, %t, 0;
	@!%lead mbarrier.init.shared.b64 [first], 2;
	@!%lead mbarrier.init.shared.b64 [second], 1;
	@!%lead mbarrier.init.shared.b64 [third], 1;
	bar.warp.sync -1;
	setp.gt.u32 %p, %t, 1;
	@%p bra WAIT;
	` + commit + `[first]; // threads 0 and 1
	@%lead bra WAIT;
	` + commit + `[second];
	` + commit + `[third];
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p, [third], 0;
	@!%p bra WAIT;`}
	m := c.rig(t).machine(nil)
	arrivals := func(m *machine.Machine) (ops []machine.Choice) {
		for _, x := range m.Enabled(nil) {
			if x.Kind == machine.Milestone {
				ops = append(ops, x)
			}
		}
		return ops
	}
	for {
		en := m.Enabled(nil)
		i := slices.IndexFunc(en, func(x machine.Choice) bool { return x.Kind != machine.Milestone })
		if i < 0 {
			break
		}
		m.Step(en[i])
	}
	orders, hashes := map[[4]int64]bool{}, map[uint64]bool{}
	var walk func(m *machine.Machine, order []int64)
	walk = func(m *machine.Machine, order []int64) {
		if len(order) == 4 {
			orders[[4]int64(order)] = true
			hashes[m.Hash()] = true
			return
		}
		for _, x := range arrivals(m) {
			next := m.Clone()
			next.Step(x)
			walk(next, append(slices.Clone(order), x.Op))
		}
	}
	walk(m, nil)
	if len(orders) != 4 || len(hashes) != 1 {
		t.Errorf("%d orders that leave %d states: %v; want 4 that leave one", len(orders), len(hashes), orders)
	}
	for o := range orders { // operations 1, 3 and 4 are thread 0's
		if a, b, c := slices.Index(o[:], 1), slices.Index(o[:], 3), slices.Index(o[:], 4); a < 0 || a > b || b > c {
			t.Errorf("commits arrive in the order %v", o)
		}
	}
}
