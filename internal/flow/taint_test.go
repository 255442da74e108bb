package flow_test

import (
	"fmt"
	"testing"

	"muster/internal/machine"
	"muster/ptx"
)

// TestReaches follows values of memory and of matrices to what they decide.
func TestReaches(t *testing.T) {
	const load, mma = "ld.global.u32 %r1, [%rd1];", "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};"
	for _, c := range []struct {
		name, text        string
		matrices, buffers bool
	}{
		{"a load goes nowhere", load + "st.global.u32 [%rd1], %r1;", false, false},
		{"a load decides a branch", load + "setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;", false, true},
		{"a load decides an exit", load + "setp.eq.u32 %p1, %r1, 0; @%p1 exit;", false, true},
		{"a load guards a store", load + "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1], %r2;", false, true},
		{"a load guards a move", load + "setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r2, 1; st.global.u32 [%rd1], %r2;", false, false},
		{"a guarded move becomes an address", load + "setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r2, 1; ld.shared.u32 %r3, [%r2];", false, true},
		{"a load is an address", load + "ld.shared.u32 %r2, [%r1];", false, true},
		{"a load is a barrier's number", load + "bar.sync %r1;", false, true},
		{"a load is a count", load + "mbarrier.init.shared.b64 [%r9], %r1;", false, true},
		{"a parameter is an address", "ld.param.u64 %rd2, [p]; ld.global.u32 %r1, [%rd2];", false, false},
		{"matrices go nowhere", mma + "st.global.u32 [%rd1], %r1;", false, false},
		{"a matrix decides a branch", mma + "setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;", true, true},
		{"a matrix goes through memory", mma + "st.shared.u32 [%r9], %r1; ld.shared.u32 %r7, [%r9]; ld.shared.u32 %r8, [%r7];", true, true},
		{"a load is a matrix, which decides", load + "mov.u32 %r3, %r1;" + mma + "ld.shared.u32 %r8, [%r2];", true, true},
		{"an atomic's result decides", "atom.global.add.u32 %r1, [%rd1], 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;", false, true},
		{"a shuffled value decides", load + "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; ld.shared.u32 %r3, [%r2];", false, true},
		{"a shuffled value is stored", load + "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; st.global.u32 [%rd1], %r2;", false, false},
	} {
		text := fmt.Sprintf(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .pred %%p<4>; .reg .b32 %%r<12>; .reg .b64 %%rd<4>;\n%s\nDONE: ret; }", c.text)
		m, err := ptx.Parse(c.name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p, err := machine.Decode(m, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Reaches(machine.FromMatrices) >= 0; got != c.matrices {
			t.Errorf("%s: matrices decide something: %v, want %v", c.name, got, c.matrices)
		}
		if got := p.Reaches(machine.FromBuffers) >= 0; got != c.buffers {
			t.Errorf("%s: buffers decide something: %v, want %v", c.name, got, c.buffers)
		}
	}
}
