package machine_test

import (
	"fmt"
	"runtime"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// after runs n choices, the first that is enabled each time, and returns the
// machine.
func after(t *testing.T, c *behaviour, n int) *machine.Machine {
	t.Helper()
	r := c.rig(t)
	r.cfg.Registers = 168
	m := r.machine(nil)
	for range n {
		en := m.Enabled(nil)
		if len(en) == 0 {
			break
		}
		m.Step(en[0])
	}
	return m
}

// TestHashTellsApart checks that the hash includes all state that decides the
// future: pairs of kernels in states with one difference. Their code has equal
// length and their registers are equal, so that nothing else differs.
func TestHashTellsApart(t *testing.T) {
	const bulk = `
	.shared .align 16 .b8 b[64]; .reg .pred %%p;
	setp.ne.u32 %%p, %%t, 0;
	@%%p exit;
	cp.async.bulk.global.shared::cta.bulk_group [%%base%s], [b%s], %s;
	st.global.u32 [%%o], 1;`
	const groups = `
	.shared .align 16 .b8 b[64];
	cp.async.ca.shared.global [b], [%%in], 4;
	%s
	%s
	st.global.u32 [%%o], 1;
	cp.async.wait_group 1;
	st.global.u32 [%%o], 1;`
	for name, c := range map[string]struct {
		a, b  string
		steps int
	}{
		"destination of a copy": {fmt.Sprintf(bulk, "", "", "16"), fmt.Sprintf(bulk, "+16", "", "16"), 3},
		"source of a copy":      {fmt.Sprintf(bulk, "", "", "16"), fmt.Sprintf(bulk, "", "+16", "16"), 3},
		"size of a copy":        {fmt.Sprintf(bulk, "", "", "16"), fmt.Sprintf(bulk, "", "", "32"), 3},
		"groups": {fmt.Sprintf(groups, "cp.async.commit_group;", "fence.acq_rel.gpu;"),
			fmt.Sprintf(groups, "cp.async.commit_group;", "cp.async.commit_group;"), 4},
		"registers given back":              {"setmaxnreg.dec.sync.aligned.u32 24; st.global.u32 [%o], 1;", "setmaxnreg.dec.sync.aligned.u32 32; st.global.u32 [%o], 1;", 2},
		"arrivals at the cluster's barrier": {"barrier.cluster.arrive; st.global.u32 [%o], 1;", "fence.acq_rel.gpu; st.global.u32 [%o], 1;", 2},
		"which barrier a warp waits at":     {"bar.sync 1, 64; st.global.u32 [%o], 1;", "bar.sync 2, 64; st.global.u32 [%o], 1;", 2},
	} {
		t.Run(name, func(t *testing.T) {
			x := after(t, &behaviour{name: "x", block: 64, body: c.a}, c.steps)
			y := after(t, &behaviour{name: "x", block: 64, body: c.b}, c.steps)
			if x.Stopped() != nil || y.Stopped() != nil {
				t.Fatal(x.Stopped(), y.Stopped())
			}
			if x.Hash() == y.Hash() {
				t.Error("two different states hash alike")
			}
		})
	}
}

// TestHashComesRound holds that a loop which changes nothing but counters
// comes back to the same hash.
func TestHashComesRound(t *testing.T) {
	c := behaviour{name: "round", block: 64, body: `
	.reg .pred %p; .reg .b64 %s; .shared .b64 bar; .shared .align 16 .b8 b[16];
	setp.ne.u32 %p, %t, 0;
	@%p bra loop;
	mbarrier.init.shared.b64 [bar], 32;
loop:
	bar.sync 0;
	barrier.cluster.arrive; barrier.cluster.wait;
	cp.async.ca.shared.global [b], [%in], 4;
	cp.async.wait_all;
	bar.sync 0;
	bra loop;`}
	m := c.rig(t).machine(nil)
	seen := map[uint64]int{}
	for n := range 2000 {
		h := m.Hash()
		if seen[h]++; seen[h] == 3 {
			return
		}
		m.Step(m.Enabled(nil)[0])
		if m.Stopped() != nil {
			t.Fatal(n, m.Stopped())
		}
	}
	t.Error("no state came back")
}

// TestCloneOwnsTheDead holds that clones keep their own list of clusters whose
// memory waits for copies in flight.
func TestCloneOwnsTheDead(t *testing.T) {
	c := behaviour{name: "dead", block: 32, grid: "3", n: 96, body: `
	.shared .align 16 .b8 b[16]; .reg .pred %p;
	setp.ne.u32 %p, %t, 0;
	@%p exit;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [b], [%in], 16, [bar];
	exit;
	ret;`, top: `.shared .align 8 .b64 bar;`}
	m := c.rig(t).machine(nil)
	for {
		en := m.Enabled(nil)
		i := 0
		for i < len(en) && en[i].Kind == machine.Milestone {
			i++
		}
		if i == len(en) {
			break
		}
		m.Step(en[i])
	}
	if n := len(m.InFlight()); n != 3 {
		t.Fatalf("%d copies in flight", n)
	}
	k := m.Clone()
	explore.Run(k, explore.Schedule{}, nil)
	for _, op := range m.InFlight() {
		for op.Stage != machine.Signalled && m.Stopped() == nil {
			m.Step(machine.Choice{Kind: machine.Milestone, Op: op.ID})
		}
		if _, ok := m.Peek(machine.SharedOf(op.CTA), machine.SharedBase, 4); ok {
			t.Errorf("the memory of CTA %d outlives its last copy", op.CTA)
		}
	}
}

// TestResidentsAreBounded holds that a grid in which every CTA waits for ever
// ends in a deadlock before it has filled the memory of this machine.
func TestResidentsAreBounded(t *testing.T) {
	c := behaviour{name: "wait", block: 32, grid: "1000000", n: 32, body: `
	bar.sync 0, 64;`}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m := c.rig(t).machine(nil)
	explore.Run(m, explore.Schedule{}, nil)
	if st := m.Stopped(); st == nil || st.Kind != machine.Deadlock {
		t.Fatalf("stopped with %+v", st)
	}
	runtime.ReadMemStats(&now)
	if use := (int64(now.HeapAlloc) - int64(before.HeapAlloc)) >> 20; use > 400 {
		t.Errorf("%d MB for CTAs that wait", use)
	}
	runtime.KeepAlive(m)
}
