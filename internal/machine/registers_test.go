package machine_test

import (
	"testing"

	"muster/internal/machine"
)

// TestEntryRegisters: the blocks of 256, 384 and 512 threads are what ptxas 13.0 gives a
// kernel of that launch bound, with a minimum of one block, that asks for that many; which
// directives bound the registers at all is in testdata/card/setmaxnreg.txt.
func TestEntryRegisters(t *testing.T) {
	for _, c := range []struct {
		stated, max, inc, block, want uint32
	}{
		{168, 64, 240, 128, 168}, {0, 64, 240, 128, 64}, {0, 0, 0, 128, 248}, {0, 0, 0, 160, 248}, {0, 0, 0, 384, 168}, {0, 0, 0, 1024, 64}, {0, 0, 0, 1, 248},
		{0, 0, 232, 256, 232}, {0, 0, 200, 256, 200}, {0, 0, 240, 256, 240}, {0, 0, 240, 384, 168}, {0, 0, 160, 384, 160}, {0, 0, 160, 512, 128},
	} {
		p := machine.Program{MaxRegs: c.max, MostRegs: c.inc, MaxThreads: c.block, MinCTAs: 1}
		if got := p.EntryRegisters(c.stated); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	for _, p := range []*machine.Program{{}, {MaxThreads: 256}, {ReqBlock: [3]uint32{256, 1, 1}}, {MinCTAs: 1}} {
		if got := p.EntryRegisters(0); got != 0 {
			t.Errorf("%d threads: %d; ptxas drops setmaxnreg", p.MaxThreads, got)
		}
	}
	if p := (&machine.Program{ReqBlock: [3]uint32{256, 1, 1}, MinCTAs: 2, MostRegs: 240}); p.EntryRegisters(0) != 128 {
		t.Errorf("two CTAs of 256 threads: %d", p.EntryRegisters(0))
	}
}
