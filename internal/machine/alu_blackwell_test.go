package machine

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// checkBlackwell is checkAll for sm_100a.
func checkBlackwell(t *testing.T, cases []caseOf) {
	t.Helper()
	for _, c := range cases {
		checkOf(t, "9.2", "sm_100a", c.code+";", c.in, c.want)
	}
}

// TestBlackwellArithmetic holds the operands and qualifiers of what sm_100 adds; package num
// has the oracles of the values.
func TestBlackwellArithmetic(t *testing.T) {
	checkBlackwell(t, []caseOf{
		{"add.f32x2 %d0, %d1, %d2", "d1=3f80000040000000 d2=4040000040800000", "d0=4080000040c00000"},
		{"add.rz.f32x2 %d0, %d1, %d2", "d1=3f80000000000000 d2=3380000100000000", "d0=3f80000000000000"},
		{"add.rp.ftz.f32x2 %d0, %d1, %d2", "d1=3f80000000000001 d2=3300000000000001", "d0=3f80000100000000"},
		{"sub.rn.f32x2 %d0, %d1, %d2", "d1=3f80000040000000 d2=4040000040800000", "d0=c0000000c0000000"},
		{"mul.f32x2 %d0, %d1, %d2", "d1=3f80000040000000 d2=4040000040800000", "d0=4040000041000000"},
		{"fma.rn.f32x2 %d0, %d1, %d2, %d3", "d1=4000000040400000 d2=4040000040800000 d3=3f800000bf800000", "d0=40e0000041300000"},
		{"fma.rm.ftz.f32x2 %d0, %d0, %d0, %d0", "d0=3f8000003f800000", "d0=4000000040000000"},
		{"min.f32 %f0, %f1, %f2, %f3", "f1=40000000 f2=3f800000 f3=bf800000", "f0=bf800000"},
		{"min.abs.f32 %f0, %f1, %f2, %f3", "f1=40000000 f2=40400000 f3=bf800000", "f0=3f800000"},
		{"max.NaN.f32 %f0, %f1, %f2, %f3", "f1=40000000 f2=7fc00000 f3=bf800000", "f0=7fffffff"},
		{"max.f32 %f0, %f1, %f2, %f3", "f1=40000000 f2=7fc00000 f3=bf800000", "f0=40000000"},
		{"max.ftz.abs.f32 %f0, %f1, %f2, %f3", "f1=80000000 f2=00000001 f3=80000001", "f0=0"},
		{"add.f32.f16 %f0, %h1, %f2", "h1=3c00 f2=40000000", "f0=40400000"},
		{"add.rz.f32.bf16 %f0, %h1, %f2", "h1=3f80 f2=33ffffff", "f0=3f800000"},
		{"add.rp.f32.bf16 %f0, %h1, %f2", "h1=3f80 f2=33ffffff", "f0=3f800001"},
		{"add.sat.f32.f16 %f0, %h1, %f2", "h1=3c00 f2=40000000", "f0=3f800000"},
		{"sub.f32.f16 %f0, %h1, %f2", "h1=3c00 f2=40000000", "f0=bf800000"},
		{"fma.rn.f32.bf16 %f0, %h1, %h2, %f3", "h1=4000 h2=4040 f3=3f800000", "f0=40e00000"},
		{"fma.rn.sat.f32.f16 %f0, %h1, %h2, %f3", "h1=bc00 h2=3c00 f3=3f000000", "f0=0"},
	})
}

// TestBlackwellConversions holds which source goes to which element.
func TestBlackwellConversions(t *testing.T) {
	checkBlackwell(t, []caseOf{
		{"cvt.rn.satfinite.e2m1x2.f32 %b0, %f1, %f2", "f1=3f800000 f2=c0000000", "b0=2c"},
		{"cvt.rn.satfinite.relu.e2m1x2.f32 %b0, %f1, %f2", "f1=3f800000 f2=c0000000", "b0=20"},
		{"cvt.rn.satfinite.e2m3x2.f32 %h0, %f1, %f2", "f1=3f800000 f2=c0000000", "h0=830"},
		{"cvt.rn.satfinite.e3m2x2.f32 %h0, %f1, %f2", "f1=3f800000 f2=c0000000", "h0=c30"},
		{"cvt.rn.satfinite.e2m1x2.f16x2 %b0, %r1", "r1=3c00c000", "b0=2c"},
		{"cvt.rn.satfinite.e2m1x2.bf16x2 %b0, %r1", "r1=3f80c000", "b0=2c"},
		{"cvt.rn.satfinite.e3m2x2.bf16x2 %h0, %r1", "r1=3f80c000", "h0=c30"},
		{"cvt.rn.satfinite.e4m3x2.bf16x2 %h0, %r1", "r1=3f804000", "h0=3840"},
		{"cvt.rn.satfinite.relu.e5m2x2.bf16x2 %h0, %r1", "r1=3f80c000", "h0=3c00"},
		{"cvt.rn.f16x2.e2m1x2 %r0, %b1", "b1=2c", "r0=3c00c000"},
		{"cvt.rn.relu.f16x2.e2m3x2 %r0, %h1", "h1=830", "r0=3c000000"},
		{"cvt.rn.f16x2.e3m2x2 %r0, %h1", "h1=c30", "r0=3c00c000"},
		{"cvt.rn.bf16x2.e4m3x2 %r0, %h1", "h1=3840", "r0=3f804000"},
		{"cvt.rn.bf16x2.e5m2x2 %r0, %h1", "h1=3cc0", "r0=3f80c000"},
		{"cvt.rn.relu.bf16x2.e2m1x2 %r0, %b1", "b1=2c", "r0=3f800000"},
		{"cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2 %r0, %b1, %h2", "b1=2c h2=807e", "r0=4000bf80"},
		{"cvt.rn.relu.satfinite.scaled::n2::ue8m0.bf16x2.e4m3x2 %r0, %h1, %h2", "h1=7e38 h2=fe7f", "r0=7f7f3f80"},
		{"cvt.rz.ue8m0x2.f32 %h0, %f1, %f2", "f1=40400000 f2=3f800000", "h0=807f"},
		{"cvt.rp.satfinite.ue8m0x2.f32 %h0, %f1, %f2", "f1=40400000 f2=7f7fffff", "h0=81fe"},
		{"cvt.rp.ue8m0x2.bf16x2 %h0, %r1", "r1=40403f80", "h0=817f"},
		{"cvt.rn.bf16x2.ue8m0x2 %r0, %h1", "h1=817f", "r0=40803f80"},
		{"cvt.rs.f16x2.f32 %r0, %f1, %f2, %r3", "f1=3f800001 f2=3f801fff r3=1fff0000", "r0=3c013c00"},
		{"cvt.rs.relu.satfinite.bf16x2.f32 %r0, %f1, %f2, %r3", "f1=7f7fffff f2=bf80ffff r3=ffffffff", "r0=7f7f0000"},
	})
	for _, code := range []string{ // by name: what each says is open
		"cvt.rs.satfinite.e4m3x4.f32 %r0, {%f1, %f2, %f3, %f4}, %r1",
		"cvt.rn.satfinite.s2f6x2.f32 %h0, %f1, %f2",
		"cvt.rn.bf16x2.s2f6x2 %r0, %h1",
	} {
		s := newSnippetOf(t, "9.2", "sm_100a", code+";")
		if name := s.run(1); name == "" {
			t.Errorf("%s is executed", code)
		}
	}
}

// TestPairsStayApart: an undefined element of a source leaves the other element of the result
// defined.
func TestPairsStayApart(t *testing.T) {
	for _, c := range []struct {
		code string
		o    [3]uint64
		want uint64
	}{
		{"cvt.rn.satfinite.e2m1x2.f32 %b0, %f1, %f2;", [3]uint64{1, 0, 0}, 0xf0},
		{"cvt.rn.satfinite.e2m3x2.f32 %h0, %f1, %f2;", [3]uint64{0, 1 << 31, 0}, 0x3f},
		{"cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1;", [3]uint64{0x10000, 0, 0}, 0xff00},
		{"cvt.rn.f16x2.e2m1x2 %r0, %b1;", [3]uint64{0x01, 0, 0}, 0xffff},
		{"cvt.rn.f16x2.e2m1x2 %r0, %b1;", [3]uint64{0x10, 0, 0}, 0xffff0000},
		{"cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r0, %h1, %h2;", [3]uint64{0, 0x100, 0}, 0xffff0000},
		{"cvt.rs.f16x2.f32 %r0, %f1, %f2, %r3;", [3]uint64{0, 0, 1}, 0xffff},
		{"cvt.rn.bf16x2.f32 %r0, %f1, %f2;", [3]uint64{1, 0, 0}, 0xffff0000},
	} {
		p, err := decodeSnippetOf("9.2", "sm_100a", c.code)
		if err != nil {
			t.Fatal(err)
		}
		in := p.code[0].src
		pairs, ok := pairsOf(in)
		if !ok {
			t.Errorf("%s does not work on pairs", c.code)
			continue
		}
		o := []bitsOf{{}, {}, {}, {}}
		for i, v := range c.o {
			o[i].bits = v
		}
		if got := pairs.undefined(o); got != c.want {
			t.Errorf("%s of %x: %x is undefined, want %x", c.code, c.o, got, c.want)
		}
	}
	for _, code := range []string{"cvt.u32.u16 %r0, %h1;", "cvt.rn.f16.f32 %h0, %f1;", "cvt.rn.f32.bf16 %f0, %h1;"} {
		p, err := decodeSnippet(code)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := pairsOf(p.code[0].src); ok {
			t.Errorf("%s works on pairs", code)
		}
	}
}

// TestCancelResponses: what a granted request says comes back, coordinate by coordinate.
func TestCancelResponses(t *testing.T) {
	words := func(r [16]byte) (lo, hi uint64) {
		return binary.LittleEndian.Uint64(r[:]), binary.LittleEndian.Uint64(r[8:])
	}
	for _, id := range [][3]uint32{{}, {1, 2, 3}, {0x7fffffff, 0xffff, 0xfffe}, {0, 0, 1}, {1 << 30, 0, 0}} {
		if got, ok := parseCancel(words(cancelled(id))); !ok || got != id {
			t.Errorf("%v comes back as %v, %v", id, got, ok)
		}
		lo, hi := words(cancelled(id))
		s := newSnippetOf(t, "9.2", "sm_100a", `
			clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q0;
			clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r1, %r2, _}, %q0;
			clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q0;
			clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r4, %q0;
			clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r5, %q0;`)
		s.set("q0", 7, lo)
		s.set("q1", 7, hi)
		if name := s.run(1 << 7); name != "" {
			t.Fatalf("%s is not modelled", name)
		}
		for i := range 6 {
			name := "r" + string(rune('0'+i))
			if got := uint32(s.get(name, 7)); got != id[i%3] {
				t.Errorf("%v: %s = %d", id, name, got)
			}
		}
		if s.get("p1", 7) != 1 || s.get("p1", 6) != 0 {
			t.Errorf("%v: is_canceled is %d, and %d in a lane that does not ask", id, s.get("p1", 7), s.get("p1", 6))
		}
	}
	lo, hi := words(notCancelled())
	if _, ok := parseCancel(lo, hi); ok {
		t.Error("a request that fails grants a cluster")
	}
	for _, junk := range []uint64{0xffffffff_00000000, 2 << 32, ^uint64(0)} {
		if _, ok := parseCancel(0, junk); ok {
			t.Errorf("%x grants a cluster", junk)
		}
	}
}

// TestCancelQueryOfFailure: coordinates of a request that failed are reported as undefined.
func TestCancelQueryOfFailure(t *testing.T) {
	var lanes []uint32
	s := newSnippetOf(t, "9.2", "sm_100a", "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q0;")
	s.x.m.cfg.Observer = observerFunc(func(_ *Machine, ev *Event) {
		if ev.Kind == EvOperand && ev.Fault == FaultCancel {
			lanes = append(lanes, ev.Mask)
		}
	})
	granted := cancelled([3]uint32{5, 0, 0})
	s.set("q0", 1, binary.LittleEndian.Uint64(granted[:]))
	s.set("q1", 1, binary.LittleEndian.Uint64(granted[8:]))
	s.run(0b111)
	if len(lanes) != 1 || lanes[0] != 0b101 {
		t.Errorf("undefined in lanes %b, want 101", lanes)
	}
}

// TestBlackwellRefused: forms that no row has are not executed, and wrong registers are
// refused.
func TestBlackwellRefused(t *testing.T) {
	for _, code := range []string{
		"add.sat.f32x2 %d0, %d1, %d2", "fma.f32x2 %d0, %d1, %d2, %d3", "add.f32x2 %d0, %d1, 0f3F800000",
		"min.xorsign.abs.f32 %f0, %f1, %f2, %f3", "min.f64 %g0, %g1, %g2, %g3", "fma.f32.f16 %f0, %h1, %h2, %f3",
		"cvt.rz.satfinite.e2m1x2.f32 %b0, %f1, %f2", "cvt.rn.ue8m0x2.f32 %h0, %f1, %f2", "cvt.rn.f16x2.ue8m0x2 %r0, %h1",
		"cvt.rn.satfinite.f16x2.e2m1x2 %r0, %b1", "cvt.rn.rs.f16x2.f32 %r0, %f1, %f2, %r3", "cvt.rs.f16.f32 %h0, %f1, %r3",
		"cvt.rn.scaled::n2::ue8m0.f16x2.e2m1x2 %r0, %b1, %h2",
	} {
		p, err := decodeSnippetOf("9.2", "sm_100a", code+";")
		if err == nil && !p.code[0].unmodelled {
			t.Errorf("%s is executed", code)
		}
	}
	_, err := decodeSnippetOf("9.2", "sm_100a", "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %d0;")
	if err == nil || !strings.Contains(err.Error(), "128") {
		t.Errorf("a response in a register of 64 bits: %v", err)
	}
}

type observerFunc func(m *Machine, ev *Event)

func (f observerFunc) Observe(m *Machine, ev *Event) { f(m, ev) }

// TestSumsOfTargets: mma adds as the tensor cores of the module's target do. sm_120 has fp8 as
// one sum, sm_90 and sm_100 widen it; of sm_110 nobody published how it adds.
func TestSumsOfTargets(t *testing.T) {
	const code = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f4,%f5,%f6,%f7};"
	sums := map[string]string{}
	for _, target := range []string{"sm_89", "sm_90a", "sm_100a", "sm_120a"} {
		p, err := decodeSnippetOf("9.0", target, code)
		if err != nil || p.code[0].unmodelled {
			t.Fatalf("%s: %v", target, err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		rows := make([]*[32]uint32, 14) // A, B, C, D
		for r := range rows {
			rows[r] = new([32]uint32)
			for l := range 32 {
				if rows[r][l] = rng.Uint32() & 0x77777777; r >= 6 { // A and B: no NaN
					rows[r][l] = math.Float32bits(float32(rng.NormFloat64() * 1e6))
				}
			}
		}
		p.code[0].x.(*matrixInfo).mma.Run(rows[10:], rows[:4], rows[4:6], rows[6:10], nil, 0)
		for _, d := range rows[10:] {
			sums[target] += fmt.Sprintf("%x ", *d)
		}
	}
	if sums["sm_90a"] != sums["sm_100a"] || sums["sm_89"] != sums["sm_90a"] {
		t.Error("sm_89, which runs on Hopper here, sm_90 and sm_100 do not add alike")
	}
	if sums["sm_120a"] == sums["sm_100a"] {
		t.Error("sm_120 adds fp8 as sm_100 does, which widens it")
	}
	p, err := decodeSnippetOf("9.0", "sm_110a", code)
	if err != nil || !p.code[0].unmodelled {
		t.Errorf("sums of sm_110 are executed (%v)", err)
	}
}
