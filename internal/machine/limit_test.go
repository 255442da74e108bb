package machine_test

import (
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// TestStopWhen: a run in any kind of loop calls stop after a given amount of work, and
// ends when stop returns true.
func TestStopWhen(t *testing.T) {
	const pace, looks = 1 << 10, 20
	for _, c := range []behaviour{
		{name: "plain", block: 32, body: `.reg .b32 %i; mov.u32 %i, 0; l: add.u32 %i, %i, 1; bra l;`},
		{name: "lanes apart", block: 32, body: `.reg .pred %p; .reg .b32 %i; setp.lt.u32 %p, %t, 7; mov.u32 %i, 0; @%p bra m; l: add.u32 %i, %i, 1; bra l; m: add.u32 %i, %i, 2; bra m;`},
		{name: "calls", block: 32, top: `.func f() { ret; }`, body: `.reg .b32 %i; mov.u32 %i, 0; l: add.u32 %i, %i, 1; call f; bra l;`},
		{name: "collectives", block: 64, body: `.reg .b32 %i; mov.u32 %i, 0; l: add.u32 %i, %i, 1; bar.warp.sync -1; bra l;`},
		{name: "barriers", block: 64, body: `.reg .b32 %i; mov.u32 %i, 0; l: add.u32 %i, %i, 1; bar.sync 0; bra l;`},
		{name: "exchanges", block: 64, body: `.reg .b32 %v; l: atom.global.add.u32 %v, [%in], 1; bra l;`},
		{name: "a large grid", block: 32, grid: "1000000", n: 32, body: `exit;`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range explore.Handful(1) {
				m := c.rig(t).machine(nil)
				m.SetPace(pace)
				asked := 0
				if explore.Run(m, s, func() bool { asked++; return asked == looks }) {
					t.Fatalf("%v: it ran to its end", s)
				}
				if st := m.Stopped(); st == nil || st.Kind != machine.Interrupted || m.Over() || asked != looks {
					t.Errorf("%v: stopped with %+v after %d questions; over: %t", s, st, asked, m.Over())
				}
				// A CTA that starts counts by its warps, and may be the last of them.
				if n, _ := m.Instrs(); n > looks*(pace+64) {
					t.Errorf("%v: %d instructions in %d questions", s, n, looks)
				}
			}
		})
	}
}

// TestOver: a deadlock and a fault end a run; a limit, and abandoning it, do not.
func TestOver(t *testing.T) {
	for _, c := range []struct {
		behaviour
		over bool
	}{
		{behaviour{name: "end", block: 32, body: `exit;`}, true},
		{behaviour{name: "deadlock", block: 64, body: `bar.sync 0, 96;`}, true},
		{behaviour{name: "trap", block: 32, body: `trap;`}, true},
		{behaviour{name: "instructions", block: 32, body: `l: bra l;`}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.rig(t)
			r.cfg.MaxInstrs = 1000
			m := r.machine(nil)
			if m.Over() {
				t.Error("it is over before it began")
			}
			explore.Run(m, explore.Schedule{}, nil)
			if m.Over() != c.over {
				t.Errorf("over: %t, want %t; %+v", m.Over(), c.over, m.Stopped())
			}
		})
	}
}
