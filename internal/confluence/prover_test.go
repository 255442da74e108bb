package confluence

import (
	"os"
	"path/filepath"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
)

func proveFlags(t *testing.T, dir string, fl launch.Flags) []Failure {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, fl.PTX))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := ptx.Parse(fl.PTX, text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := launch.FromFlags(fl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := machine.Decode(mod, fl.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := f.Layout(0)
	if err != nil {
		t.Fatal(err)
	}
	var params []launch.Param
	for _, p := range prog.Params {
		params = append(params, launch.Param{Name: p.Name, Size: int(p.Size), Align: int(p.Align)})
	}
	l := &f.Launches[0]
	block, err := layout.EncodeParams(l, params)
	if err != nil {
		t.Fatal(err)
	}
	cfg := machine.Config{Program: prog, Grid: l.Grid, Block: l.Block, Cluster: [3]uint32{1, 1, 1}, Params: block.Bytes}
	for i := range layout.Buffers {
		b := &layout.Buffers[i]
		cfg.Buffers = append(cfg.Buffers, machine.Buffer{Name: b.Name, Base: b.Base, Size: b.Size, Data: b.Data, Init: b.Initialized})
	}
	m, err := machine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Config{Shape: m.Shape()})
	m = m.Fork(p, nil)
	explore.Run(m, explore.Schedule{Policy: explore.Latest}, nil)
	if !m.Done() {
		t.Fatal("the run did not end")
	}
	return p.Finish()
}

func TestRing(t *testing.T) {
	for _, f := range proveFlags(t, "../../examples/ring", launch.Flags{PTX: "ring.ptx", Grid: "1", Block: "160",
		Buffers: []string{"in=f32[16384]:iota", "out=f32[128]:nan"}, Args: []string{"in", "out", "s32:64"}}) {
		t.Errorf("%v at %d, %d: %s (phase %d)", f.Condition, f.PC, f.With, f.Text, f.Phase)
	}
}
