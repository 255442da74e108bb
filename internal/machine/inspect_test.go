package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/ptx"
)

const inspected = `.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out)
{
	.shared .align 8 .b64 bar;
	.reg .pred %p<4>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, bar;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra READY;
	mbarrier.init.shared.b64 [%r2], 2;
	mbarrier.arrive.shared.b64 _, [%r2];
READY:
	bar.sync 0;
	setp.lt.u32 %p2, %r1, 32;
	@%p2 bra WAIT;
	bar.sync 1, 64;
	ret;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;
	@!%p3 bra WAIT;
	bar.sync 1, 64;
	ret;
}
`

func decode(t *testing.T, text string) *machine.Program {
	t.Helper()
	mod, err := ptx.Parse("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := machine.Decode(mod, "")
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// TestWaiting looks at a hung run: what the splits wait for, the barrier, and
// that looking changes nothing.
func TestWaiting(t *testing.T) {
	for _, s := range explore.Handful(3) {
		m, err := machine.New(machine.Config{Program: decode(t, inspected), Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{64, 1, 1}, Params: make([]byte, 8)})
		if err != nil {
			t.Fatal(err)
		}
		explore.Run(m, s, nil)
		if st := m.Stopped(); st == nil || st.Kind != machine.Deadlock {
			t.Fatalf("%s: stopped %+v, want a deadlock", s, st)
		}
		before := m.Hash()
		var got []string
		for _, v := range m.Waiting() {
			line := m.Program().Pos(v.PC).Line
			switch v.Kind {
			case machine.WaitMbar:
				got = append(got, fmt.Sprintf("warp %d %08x line %d phase %d %s", v.Warp, v.Mask, line, v.Tests[0].Phase, v.Tests[0].Word))
			case machine.WaitNamed:
				got = append(got, fmt.Sprintf("warp %d %08x line %d barrier %d: %d of %d", v.Warp, v.Mask, line, v.Bar, v.Arrived, v.Count))
			default:
				got = append(got, fmt.Sprintf("warp %d waits by kind %d", v.Warp, v.Kind))
			}
		}
		want := "warp 0 ffffffff line 23 phase 0 parity 0: pending 1 of 2, tx 0\nwarp 1 ffffffff line 20 barrier 1: 32 of 64"
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("%s: waiting:\n%s\nwant:\n%s", s, text, want)
		}
		if m.Hash() != before {
			t.Errorf("%s: looking changed the state", s)
		}
		b := m.Barriers()
		if len(b) != 1 || b[0].Bar.Mem != machine.SharedOf(0) || b[0].Word.Pending() != 1 || !b[0].Live {
			t.Errorf("%s: barriers %+v", s, b)
		}
		if at, ok := m.BarrierAt(b[0].Bar.Mem, b[0].Bar.Addr); !ok || at != b[0] {
			t.Errorf("%s: BarrierAt gives %+v, %t", s, at, ok)
		}
	}
}

// TestReach follows branches, guards and exits.
func TestReach(t *testing.T) {
	p := decode(t, inspected)
	at := func(name string, nth int) int32 {
		for pc := range int32(p.Len()) {
			if in := p.Inst(pc); in != nil && strings.HasPrefix(machine.Name(in), name) {
				if nth--; nth == 0 {
					return pc
				}
			}
		}
		t.Fatalf("no %s", name)
		return -1
	}
	init, arrive, try := at("mbarrier.init", 1), at("mbarrier.arrive", 1), at("mbarrier.try_wait", 1)
	for _, c := range []struct {
		from, to int32
		want     bool
	}{
		{0, init, true},
		{init, arrive, true},
		{at("bar.sync", 1), try, true},
		{at("bar.sync", 1), init, false},
		{at("bar.sync", 2), try, false}, // a return lies between
		{try, try, true},
		{try, at("bar.sync", 3), true},
		{try, arrive, false},
	} {
		if got := p.Reach(c.from)[c.to]; got != c.want {
			t.Errorf("from line %d to line %d: %t, want %t", p.Pos(c.from).Line, p.Pos(c.to).Line, got, c.want)
		}
	}
	if op, ok := p.MbarOpAt(arrive); !ok || op != machine.MbarArrive {
		t.Errorf("MbarOpAt(arrive) = %v, %t", op, ok)
	}
	if _, ok := p.MbarOpAt(0); ok {
		t.Error("MbarOpAt takes a mov for an mbarrier operation")
	}
}
