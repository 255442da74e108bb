package machine_test

import (
	"os"
	"strings"
	"testing"

	"muster/internal/machine"
	"muster/ptx"
)

// TestEntryRegisters: the blocks of 256, 384 and 512 threads are what ptxas 13.0 gives a
// kernel of that launch bound, with a minimum of one block, that asks for that many.
func TestEntryRegisters(t *testing.T) {
	for _, c := range []struct {
		stated, max, inc, block, want uint32
	}{
		{168, 64, 240, 128, 168}, {0, 64, 240, 128, 64}, {0, 0, 0, 128, 248}, {0, 0, 0, 160, 248}, {0, 0, 0, 384, 168}, {0, 0, 0, 1024, 64}, {0, 0, 0, 1, 248},
		{0, 0, 232, 256, 232}, {0, 0, 200, 256, 200}, {0, 0, 240, 256, 240}, {0, 0, 240, 384, 168}, {0, 0, 160, 384, 160}, {0, 0, 160, 512, 128},
	} {
		p := machine.Entry{MaxRegs: c.max, MostRegs: c.inc, MaxThreads: c.block, MinCTAs: 1}
		if got := p.EntryRegisters(c.stated, 0); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if p := (&machine.Entry{ReqBlock: [3]uint32{256, 1, 1}, MinCTAs: 2, MostRegs: 240}); p.EntryRegisters(0, 0) != 128 {
		t.Errorf("two CTAs of 256 threads: %d", p.EntryRegisters(0, 0))
	}
}

// TestKeptSetmaxnreg holds EntryRegisters to what ptxas keeps (testdata/card/setmaxnreg.txt),
// whether or not the launch states what the kernel was compiled to.
func TestKeptSetmaxnreg(t *testing.T) {
	text, err := os.ReadFile("testdata/card/setmaxnreg.txt")
	if err != nil {
		t.Fatal(err)
	}
	kept, lines := 0, strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for _, line := range lines {
		count, directives, _ := strings.Cut(line, " ")
		directives, option := strings.TrimSuffix(directives, "-maxrregcount=128"), uint32(0)
		if strings.HasSuffix(line, "-maxrregcount=128") {
			option = 128
		}
		mod, err := ptx.Parse("k.ptx", []byte(".version 8.6\n.target sm_90a\n.address_size 64\n.entry k()\n"+directives+"\n{ ret; }\n"))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		prog, err := machine.Decode(mod, "k")
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if count != "0" {
			kept++
		}
		for _, stated := range []uint32{0, 58, 168} {
			got := prog.EntryRegisters(stated, option)
			if (got != 0) != (count != "0") {
				t.Errorf("%s, %d registers stated: %d at entry, and ptxas keeps %s setmaxnreg", line, stated, got, count)
			}
			if got != 0 && stated != 0 && got != stated {
				t.Errorf("%s, %d registers stated: %d at entry", line, stated, got)
			}
		}
	}
	if kept == 0 || kept == len(lines) {
		t.Fatalf("%d of %d kept", kept, len(lines))
	}
}
