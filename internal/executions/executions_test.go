package executions_test

import (
	"context"
	"encoding/binary"
	"flag"
	"testing"
	"time"

	"muster/internal/axiom/flow"
	"muster/internal/executions"
	"muster/internal/machine"
	"muster/internal/trial"
	"muster/ptx"
)

var (
	drawn = flag.Uint64("executions.n", 300, "how many programs to draw")
	from  = flag.Uint64("executions.from", 1, "the first one's number")

	showOver = flag.Bool("executions.over", false, "print the programs of which load buffering is named and the axioms have none")
)

const base = 0x7f0000000000

// subject returns a program's launch.
func subject(t testing.TB, p *flow.Program) *trial.Subject {
	t.Helper()
	mod, err := ptx.Parse("p.ptx", []byte(p.PTX()))
	if err != nil {
		t.Fatalf("%v\n%s", err, p.PTX())
	}
	prog, err := machine.Decode(mod, "k")
	if err != nil {
		t.Fatalf("%v\n%s", err, p.PTX())
	}
	warps := 1
	for _, w := range p.Warps {
		warps = max(warps, w.Index+1)
	}
	data := make([]byte, 4*p.Words)
	for i, v := range p.Init {
		binary.LittleEndian.PutUint32(data[4*i:], v)
	}
	m, err := machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{uint32(p.CTAs), 1, 1}, Block: [3]uint32{uint32(32 * warps), 1, 1}, Cluster: [3]uint32{uint32(max(p.Cluster, 1)), 1, 1},
		Params: binary.LittleEndian.AppendUint64(nil, base), Buffers: []machine.Buffer{{Name: "m", Base: base, Size: uint64(4 * p.Words), Data: data, Init: true}},
		MaxInstrs: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	return trial.NewSubject(m, trial.Limits{Instrs: 1 << 20, Memory: 1 << 33, Local: 1 << 16, Time: time.Hour})
}

// outcomes explores a program, and returns what is left in global memory.
func outcomes(t testing.TB, p *flow.Program, o executions.Options) (map[string]bool, *executions.Result) {
	t.Helper()
	finals := map[string]bool{}
	o.Final = func(m *machine.Machine) {
		b := make([]byte, 4*p.Words)
		m.ReadGlobal(base, b)
		finals[string(b)] = true
	}
	r := explored(subject(t, p), o)
	return finals, r
}

func explored(l *trial.Subject, o executions.Options) *executions.Result {
	return executions.Explore(l.Budget(context.Background()), l, o)
}
