package machine_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"muster/internal/machine"
	"muster/ptx"
)

// TestReaches has kernels in which what a matrix instruction computes is an address, or not,
// as the launch's parameters decide: p, a pointer, and n, a number.
func TestReaches(t *testing.T) {
	const (
		load   = "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];"
		matrix = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r8, %r9}, {%r3}, {%r4}, {%r5, %r6};"
		use    = "ld.shared.u32 %r10, [%r8];"
		null   = load + "setp.eq.s64 %p1, %rd1, 0;"
	)
	for _, c := range []struct {
		name, text string
		p          uint64
		n          uint32
		want       bool
	}{
		{"a null pointer", null + matrix + "@%p1 bra DONE;" + use, 0, 0, false},
		{"another pointer", null + matrix + "@%p1 bra DONE;" + use, 256, 0, true},
		{"a negated guard", null + matrix + "@!%p1 bra DONE;" + use, 0, 0, true},
		{"a guarded use", null + matrix + "@!%p1 " + use, 0, 0, false},
		{"a guarded use that is made", null + matrix + "@%p1 " + use, 0, 0, true},
		{"a guarded exit", null + matrix + "@%p1 exit;" + use, 0, 0, false},
		{"the product is left out", null + "@%p1 bra USE;" + matrix + "USE:" + use, 0, 0, false},
		{"arithmetic", load + "add.u32 %r2, %r1, 5; sub.u32 %r7, %r2, 1; setp.eq.u32 %p1, %r7, 11;" + matrix + "@%p1 bra DONE;" + use, 0, 7, false},
		{"arithmetic with another number", load + "add.u32 %r2, %r1, 5; sub.u32 %r7, %r2, 1; setp.eq.u32 %p1, %r7, 11;" + matrix + "@%p1 bra DONE;" + use, 0, 8, true},
		{"a pointer to parameters", "mov.b64 %rd2, p; ld.param.u32 %r1, [%rd2+8]; setp.ne.u32 %p1, %r1, 3;" + matrix + "@%p1 bra DONE;" + use, 0, 4, false},
		{"parts of a wide register", load + "mov.b64 {%r2, %r7}, %rd1; setp.eq.u32 %p1, %r7, 1;" + matrix + "@%p1 bra DONE;" + use, 1 << 32, 0, false},
		{"in a loop", null + matrix + "L: @%p1 bra DONE; setp.eq.u32 %p2, %r3, 0;" + use + "@%p2 bra L;", 0, 0, false},
		{"a thread's own number", load + "mov.u32 %r2, %tid.x; add.u32 %r2, %r2, %r1; setp.ge.u32 %p1, %r2, %r1;" + matrix + "@%p1 bra DONE;" + use, 0, 0, true},
		{"a loaded value", load + "ld.global.u32 %r2, [%rd1]; setp.ge.u32 %p1, %r2, 0;" + matrix + "@%p1 bra DONE;" + use, 256, 0, true},
		{"two instructions write it", null + "@%p2 setp.ne.s64 %p1, %rd1, 0;" + matrix + "@%p1 bra DONE;" + use, 0, 0, true},
		{"the branch may come first", load + "@%p2 bra L; setp.eq.s64 %p1, %rd1, 0; L:" + matrix + "@%p1 bra DONE;" + use, 0, 0, true},
		{"what it reads may come later", load + "L: setp.eq.u32 %p1, %r2, 0; mov.u32 %r2, %r1;" + matrix + "@%p1 bra DONE; @%p2 bra L;" + use, 0, 0, true},
		{"a guarded result", load + "@%p2 mov.u32 %r2, %r1; setp.eq.u32 %p1, %r2, 0;" + matrix + "@%p1 bra DONE;" + use, 0, 0, true},
		{"a function that is called", null + matrix + "@%p1 bra DONE; call f, (%r8);", 0, 0, false},
		{"a function that reads it", null + matrix + "@!%p1 bra DONE; call f, (%r8);", 0, 0, true},
	} {
		text := fmt.Sprintf(`.version 8.6
.target sm_90a
.address_size 64
.func f(.reg .b32 %%a) { .reg .b32 %%b; ld.shared.u32 %%b, [%%a]; ret; }
.visible .entry k(.param .u64 p, .param .u32 n) {
.reg .pred %%p<4>; .reg .b32 %%r<12>; .reg .b64 %%rd<4>;
%s
DONE: ret; }`, c.text)
		m, err := ptx.Parse(c.name, []byte(text))
		if err != nil {
			t.Fatal(c.name, err)
		}
		p, err := machine.Decode(m, "k")
		if err != nil {
			t.Fatal(c.name, err)
		}
		params := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, c.p), c.n)
		start, err := machine.New(machine.Config{Program: p, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: params})
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := start.Reaches(machine.FromMatrices) >= 0; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
