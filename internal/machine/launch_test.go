package machine_test

import (
	"os"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
)

// A rig is a launch ready to run, any number of times.
type rig struct {
	t      testing.TB
	file   *launch.File
	layout *launch.Layout
	prog   *machine.Program
	cfg    machine.Config
}

func newRig(t testing.TB, fl launch.Flags) *rig {
	t.Helper()
	src, err := os.ReadFile(fl.PTX)
	if err != nil {
		t.Fatal(err)
	}
	return newRigText(t, fl, src)
}

func newRigText(t testing.TB, fl launch.Flags, src []byte) *rig {
	t.Helper()
	f, err := launch.FromFlags(fl)
	if err != nil {
		t.Fatal(err)
	}
	l, err := f.Layout(0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ptx.Parse(fl.PTX, src)
	if err != nil {
		t.Fatal(err)
	}
	p, err := machine.Decode(m, fl.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, file: f, layout: l, prog: p}
	la := &f.Launches[0]
	var params []launch.Param
	for _, q := range p.Params {
		typ, _ := launch.ParseType(q.Type)
		if uint64(typ.Size()) != q.Size {
			typ = 0
		}
		params = append(params, launch.Param{Name: q.Name, Size: int(q.Size), Align: int(q.Align), Type: typ})
	}
	b, err := l.EncodeParams(la, params)
	if err != nil {
		t.Fatal(err)
	}
	r.cfg = machine.Config{Program: p, Grid: la.Grid, Block: la.Block, Cluster: la.Cluster, Shared: uint64(la.Shared), Params: b.Bytes, MaxInstrs: 1 << 31}
	for i := range l.Buffers {
		pb := &l.Buffers[i]
		r.cfg.Buffers = append(r.cfg.Buffers, machine.Buffer{Name: pb.Name, Base: pb.Base, Size: pb.Size, Data: pb.Data, Init: pb.Initialized})
	}
	return r
}

// machine returns a fresh machine.
func (r *rig) machine(obs machine.Observer) *machine.Machine {
	r.t.Helper()
	cfg := r.cfg
	cfg.Observer = obs
	m, err := machine.New(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// run runs the launch under a schedule and fails the test if it does not end well.
func (r *rig) run(s explore.Schedule, obs machine.Observer) *machine.Machine {
	r.t.Helper()
	m := r.machine(obs)
	explore.Run(m, s, nil)
	if st := m.Stopped(); st != nil {
		pos := r.prog.Pos(st.PC)
		r.t.Fatalf("%v: stopped: kind %d %s at %d:%d, CTA %d warp %d lane %d, addr %#x", s, st.Kind, st.Msg, pos.Line, pos.Col, st.CTA, st.Warp, st.Lane, st.Addr)
	}
	if !m.Done() {
		r.t.Fatalf("%v: run ended before its end", s)
	}
	return m
}

// compare checks the launch's expected arrays.
func (r *rig) compare(m *machine.Machine) {
	r.t.Helper()
	for _, x := range r.file.Expect {
		pb := r.layout.Buffer(x.Buffer)
		got := make([]byte, pb.Size)
		if !m.ReadGlobal(pb.Base, got) {
			r.t.Fatal("no buffer", x.Buffer)
		}
		c, err := r.layout.Compare(x, got)
		if err != nil {
			r.t.Fatal(err)
		}
		if c.Count > 0 {
			r.t.Errorf("%s: %d of %d differ, first at %v: got %v, want %v", x.Buffer, c.Count, c.Elements, c.Index, c.Got, c.Want)
		}
	}
}

const examples = "../../examples/"

var exampleFlags = map[string]launch.Flags{
	"ring": {PTX: examples + "ring/ring.ptx", Grid: "1", Block: "160",
		Buffers: []string{"in=f32[16384]:iota", "out=f32[128]:nan"}, Args: []string{"in", "out", "s32:64"},
		Expect: []string{"out=" + examples + "ring/out.npy"}},
}

func TestRing(t *testing.T) {
	r := newRig(t, exampleFlags["ring"])
	for _, s := range explore.Handful(8) {
		r.compare(r.run(s, nil))
	}
}
