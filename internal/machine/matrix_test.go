package machine_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/ptx"
)

// TestMatrixRowsDecode: every row of the warp's matrix instructions for targets
// up to sm_90a is executed, and of later ones every mma and one ldmatrix.
func TestMatrixRowsDecode(t *testing.T) {
	n := 0
	for _, f := range ptx.Forms() {
		switch f.Op {
		case "mma", "ldmatrix", "stmatrix", "movmatrix":
		default:
			continue
		}
		old := f.Op == "mma" || f.Name == "ldmatrix.unpack" || f.SM.Number <= 90 && f.Version.Before(ptx.Version{Major: 9, Minor: 4})
		if got := machine.Executes(f); got != old {
			t.Errorf("%s (sm_%d): executed %v: %s", f.Name, f.SM.Number, got, f.Example())
		}
		if old {
			n++
		}
	}
	if n != 27 {
		t.Errorf("%d rows, want 27", n)
	}
}

// matrixTile stores row t of a tile, 16 bytes of the word t, for the threads
// below rows other than skip, and leaves in %a the row's address: in lanes from
// named on, no address at all.
func matrixTile(rows, skip, named int) string {
	return fmt.Sprintf(`
	.shared .align 16 .b8 tile[512]; .reg .b32 %%a, %%r<8>; .reg .pred %%p, %%q; .reg .b64 %%g;
	mov.u32 %%a, tile;
	mad.lo.u32 %%a, %%t, 16, %%a;
	setp.lt.u32 %%p, %%t, %d;
	setp.ne.and.u32 %%q, %%t, %d, %%p;
	@%%q st.shared.v4.u32 [%%a], {%%t, %%t, %%t, %%t};
	bar.warp.sync -1;
	setp.ge.u32 %%p, %%t, %d;
	@%%p mov.u32 %%a, 0xdeadbeef;`, rows, skip, named)
}

var matrixBehaviours = []behaviour{
	{
		name: "ldmatrix", block: 32,
		body: matrixTile(32, 32, 16) + `
	ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%a];
	mad.lo.u32 %r0, %r1, 100, %r0;
	st.global.u32 [%o], %r0;`,
		want: func(i int) uint32 { return u((8+i/4)*100 + i/4) },
	},
	{
		name: "ldmatrix-trans-generic", block: 32,
		body: matrixTile(32, 32, 8) + `
	cvt.u64.u32 %g, %a;
	@!%p cvta.shared.u64 %g, %g;
	ldmatrix.sync.aligned.m8n8.x1.trans.b16 {%r0}, [%g];
	st.global.u32 [%o], %r0;`,
		// The even columns hold the row's number, the odd ones zero.
		want: func(i int) uint32 {
			if i/4%2 == 1 {
				return 0
			}
			return u(2*(i%4) | (2*(i%4)+1)<<16)
		},
	},
	{
		name: "stmatrix-movmatrix", block: 32,
		body: matrixTile(0, 0, 8) + `
	movmatrix.sync.aligned.m8n8.trans.b16 %r0, %t;
	stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [%a], {%r0};
	bar.warp.sync -1;
	mov.u32 %a, tile;
	mad.lo.u32 %a, %t, 4, %a;
	ld.shared.u32 %r1, [%a];
	st.global.u32 [%o], %r1;`,
		want: func(i int) uint32 { return u(i) },
	},
	{
		name: "mma-after-loop", block: 32,
		// Lanes come at different times, and none alone.
		body: `
	.reg .pred %p; .reg .b32 %i, %a; .reg .f32 %d<4>, %c;
	mov.u32 %i, %t;
more:
	sub.u32 %i, %i, 1;
	setp.ge.s32 %p, %i, 0;
	@%p bra more;
	mov.u32 %a, 0x3c003c00;
	mov.f32 %c, 0f3f800000;
	mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a, %a}, {%a}, {%c, %c, %c, %c};
	cvt.rzi.u32.f32 %a, %d3;
	st.global.u32 [%o], %a;`,
		want: func(int) uint32 { return 9 },
	},
	{
		name: "ldmatrix-misaligned", block: 32, stops: true, wantStop: machine.FaultAlign,
		body: matrixTile(32, 32, 8) + `
	setp.eq.u32 %p, %t, 6;
	@%p add.u32 %a, %a, 8;
	ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];`,
	},
	{
		name: "ldmatrix-out-of-bounds", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: matrixTile(32, 32, 8) + `
	setp.eq.u32 %p, %t, 6;
	@%p add.u32 %a, %a, 512;
	ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];`,
	},
	{
		name: "stmatrix-out-of-bounds", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: matrixTile(32, 32, 8) + `
	setp.eq.u32 %p, %t, 6;
	@%p add.u32 %a, %a, 512;
	stmatrix.sync.aligned.m8n8.x1.shared.b16 [%a], {%t};`,
	},
	{
		name: "ldmatrix-global", block: 32, stops: true, wantStop: machine.FaultBounds,
		body: `	.reg .b32 %r; ldmatrix.sync.aligned.m8n8.x1.b16 {%r}, [%in];`,
	},
	{
		name: "mma-shape", block: 32, stops: true, wantStop: machine.Unmodelled,
		body: `	.reg .b32 %r<4>; mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {%r0, %r1}, {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r0, %r1, %r2, %r3};`,
	},
}

func TestMatrixBehaviour(t *testing.T) {
	for i := range matrixBehaviours {
		c := &matrixBehaviours[i]
		t.Run(c.name, func(t *testing.T) {
			c.check(t, explore.Schedule{})
			r := c.rig(t)
			if !c.stops || c.wantStop == machine.Unmodelled {
				return
			}
			m := r.machine(nil)
			explore.Run(m, explore.Schedule{}, nil)
			if st := m.Stopped(); c.name != "ldmatrix-global" && st.Lane != 6 {
				t.Errorf("stopped at lane %d, want 6", st.Lane)
			}
		})
	}
}

// seenEvents keeps the events of some instructions.
type seenEvents struct {
	op   string
	list []machine.Event
	addr [][32]uint64
	vals [][][32]uint64
}

func (s *seenEvents) Observe(m *machine.Machine, ev *machine.Event) {
	in := m.Program().Inst(ev.PC)
	if in == nil || in.Op != s.op || ev.Kind != machine.EvAccess && ev.Kind != machine.EvDivergent {
		return
	}
	s.list = append(s.list, *ev)
	if ev.Kind == machine.EvAccess {
		s.addr = append(s.addr, *ev.Addr)
		s.vals = append(s.vals, append([][32]uint64(nil), ev.Values()...))
	}
}

func runSeen(t *testing.T, body, op string, poison byte) (*seenEvents, []byte) {
	t.Helper()
	c := behaviour{name: op, block: 32, body: body}
	r := c.rig(t)
	if poison != 0 {
		for pc := range r.prog.Len() {
			if in := r.prog.Inst(int32(pc)); in != nil && in.Op == op {
				r.cfg.Poison = &machine.Poison{PC: int32(pc), Value: poison}
			}
		}
	}
	s := &seenEvents{op: op}
	m := r.machine(s)
	explore.Run(m, explore.Schedule{}, nil)
	if !m.Done() {
		t.Fatalf("stopped: %+v", m.Stopped())
	}
	out := make([]byte, 128)
	m.ReadGlobal(r.layout.Buffer("out").Base, out)
	return s, out
}

// TestMatrixEvents: the lanes that give addresses access 16 bytes each.
func TestMatrixEvents(t *testing.T) {
	load := matrixTile(16, 5, 32) + `
	ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%a];
	st.global.u32 [%o], %r0;`
	s, _ := runSeen(t, load, "ldmatrix", 0)
	if len(s.list) != 1 {
		t.Fatalf("%d events, want 1", len(s.list))
	}
	ev, a := &s.list[0], &s.addr[0]
	if ev.Access != machine.Read || ev.Mask != 0xffff || ev.Size != 16 || ev.Mem != machine.SharedOf(0) || ev.Init != 0xffff&^(1<<5) ||
		ev.Sem != machine.Weak || ev.Scope != machine.NoScope || ev.Proxy != machine.Generic || ev.Row || a[15]-a[0] != 240 {
		t.Errorf("ldmatrix is shown as %+v, at %d", ev, *a)
	}
	store := matrixTile(0, 0, 32) + `
	stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a], {%t, %t, %t, %t};`
	s, _ = runSeen(t, store, "stmatrix", 0)
	ev = &s.list[0]
	if ev.Access != machine.Write || ev.Mask != 0xffffffff || ev.Size != 16 || !ev.Row {
		t.Errorf("stmatrix is shown as %+v", ev)
	}
	// Lane 9 stores row 1 of the second matrix: the words of lanes 4 to 7.
	if v := s.vals[0]; len(v) != 2 || v[0][9] != 5<<32|4 || v[1][9] != 7<<32|6 {
		t.Errorf("stmatrix stores %x", s.vals[0])
	}
}

// TestMatrixPoison: unwritten elements take the poison, others do not.
func TestMatrixPoison(t *testing.T) {
	_, out := runSeen(t, matrixTile(8, 5, 8)+`
	ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%a];
	st.global.u32 [%o], %r0;`, "ldmatrix", 0x7f)
	for l := range 32 {
		// Lane l holds rows 2(l%4) and 2(l%4)+1 of column l/4.
		want := uint32(2*(l%4) | (2*(l%4)+1)<<16)
		if l/4%2 == 1 {
			want = 0
		}
		if l%4 == 2 {
			want = want&0xffff | 0x7f7f0000
		}
		if got := binary.LittleEndian.Uint32(out[4*l:]); got != want {
			t.Errorf("lane %d reads %#x, want %#x", l, got, want)
		}
	}
}

// TestMatrixDivergence: an aligned instruction that part of a warp executes is
// told of, once a time, and the run goes on; where the warp meets, it is not.
func TestMatrixDivergence(t *testing.T) {
	const mma = `mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0, %r1, %r2, %r3}, {%t, %t}, {%t}, {%t, %t, %t, %t};`
	const regs = `.reg .pred %p; .reg .b32 %r<4>, %a; .shared .align 16 .b8 tile[512];
	mov.u32 %a, tile; mad.lo.u32 %a, %t, 16, %a;
	setp.lt.u32 %p, %t, 16;
	`
	body := func(form, instr string) string {
		return map[string]string{
			"half":   regs + "@!%p bra skip;\n" + instr + "\nskip:",
			"guard":  regs + "@%p " + instr,
			"apart":  regs + "@!%p bra other;\n" + instr + "\nbra done;\nother:\n" + instr + "\ndone:",
			"exited": regs + "@!%p exit;\n" + instr,
			// One half gets there while the other stands before a load.
			"all": regs + "@!%p bra join;\nld.global.u32 %r0, [%in];\njoin:\n" + instr,
		}[form]
	}
	for _, c := range []struct {
		form  string
		masks string
	}{{"half", "[ffff]"}, {"guard", "[ffff]"}, {"apart", "[ffff ffff0000]"}, {"exited", "[ffff]"}, {"all", "[]"}} {
		for _, instr := range []string{mma, "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %t;",
			"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];",
			"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a], {%t, %t, %t, %t};",
			"wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%r0, %r1}, [tile];",
			"wmma.store.d.sync.aligned.row.m8n8k32.shared.s32 [tile], {%t, %t};",
			"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r0, %r1}, {%t}, {%t}, {%t, %t};"} {
			op, _, _ := strings.Cut(instr, ".")
			s, _ := runSeen(t, body(c.form, instr), op, 0)
			var masks []string
			for _, ev := range s.list {
				if ev.Kind == machine.EvDivergent {
					masks = append(masks, fmt.Sprintf("%x", ev.Mask))
				}
			}
			if got := fmt.Sprint(masks); got != c.masks {
				t.Errorf("%s, %s: divergent lanes %s, want %s", op, c.form, got, c.masks)
			}
		}
	}
}
