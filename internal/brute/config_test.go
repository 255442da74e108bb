package brute_test

import (
	"sync"

	"muster/internal/brute"
	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
)

// A shape is what a program's launch depends on, apart from its kernel.
type shape struct {
	place   brute.Place
	threads int
}

var shapes sync.Map // of shape to machine.Config without a Program

// config is the launch of a program's kernel, by way of its PTX. The rest of a
// launch is the same for all programs of one shape, and made once.
func config(p *brute.Program) (machine.Config, error) { return configText(p, p.PTX()) }

func configText(p *brute.Program, text string) (machine.Config, error) {
	mod, err := ptx.Parse("p.ptx", []byte(text))
	if err != nil {
		return machine.Config{}, err
	}
	prog, err := machine.Decode(mod, "")
	if err != nil {
		return machine.Config{}, err
	}
	key := shape{p.Place, len(p.Threads)}
	known, ok := shapes.Load(key)
	if !ok {
		cfg, err := plan(p, prog)
		if err != nil {
			return cfg, err
		}
		known, _ = shapes.LoadOrStore(key, cfg)
	}
	cfg := known.(machine.Config)
	cfg.Program = prog
	return cfg, nil
}

func plan(p *brute.Program, prog *machine.Program) (machine.Config, error) {
	x := p.Launch()
	f, err := launch.FromFlags(launch.Flags{PTX: "p.ptx", Grid: x.Grid, Block: x.Block, Cluster: x.Cluster, Buffers: x.Buffers, Args: x.Args})
	if err != nil {
		return machine.Config{}, err
	}
	layout, err := f.Layout(0)
	if err != nil {
		return machine.Config{}, err
	}
	var params []launch.Param
	for _, q := range prog.Params {
		params = append(params, launch.Param{Name: q.Name, Size: int(q.Size), Align: int(q.Align)})
	}
	l := &f.Launches[0]
	block, err := layout.EncodeParams(l, params)
	if err != nil {
		return machine.Config{}, err
	}
	cfg := machine.Config{Grid: l.Grid, Block: l.Block, Cluster: l.Cluster, Params: block.Bytes}
	for i := range layout.Buffers {
		b := &layout.Buffers[i]
		cfg.Buffers = append(cfg.Buffers, machine.Buffer{Name: b.Name, Base: b.Base, Size: b.Size, Data: b.Data, Init: b.Initialized})
	}
	return cfg, nil
}
