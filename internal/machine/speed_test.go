package machine_test

import (
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/launch"
)

// The speed of the machine, in lane instructions a second on one core, bare
// and with every rule watching. Compare with benchstat.

const benchDir = "testdata/bench/"

var speedFlags = map[string]launch.Flags{
	"alu": {PTX: benchDir + "alu.ptx", Grid: "1", Block: "256",
		Buffers: []string{"out=u32[512,2]:zeros"}, Args: []string{"out", "u32:20000"}},
	"exchange": {PTX: benchDir + "exchange.ptx", Grid: "1", Block: "256",
		Buffers: []string{"out=u32[512]:zeros"}, Args: []string{"out", "u32:20000"}},
	"vadd": {PTX: benchDir + "vadd.ptx", Grid: "1", Block: "256",
		Buffers: []string{"a=f32[131072]:iota", "b=f32[131072]:iota", "c=f32[131072]:nan"},
		Args:    []string{"a", "b", "c", "u32:131072"}},
	"shared_only": {PTX: benchDir + "shared_only.ptx", Grid: "1", Block: "256",
		Buffers: []string{"out=u32[512]:zeros"}, Args: []string{"out", "u32:2000"}},
	"named": {PTX: benchDir + "named.ptx", Grid: "1", Block: "256",
		Buffers: []string{"out=u32[256]:zeros"}, Args: []string{"out", "u32:10000"}},
	"ring": {PTX: examples + "ring/ring.ptx", Grid: "1", Block: "160",
		Buffers: []string{"in=f32[16384]:iota", "out=f32[128]:nan"}, Args: []string{"in", "out", "s32:64"}},
}

func BenchmarkSpeed(b *testing.B) {
	for _, name := range []string{"alu", "exchange", "vadd", "shared_only", "named", "ring"} {
		r := newRig(b, speedFlags[name])
		b.Run(name+"/bare", func(b *testing.B) { r.bench(b, func() machine.Observer { return nil }) })
		b.Run(name+"/checked", func(b *testing.B) {
			r.bench(b, func() machine.Observer {
				return rules.NewJudge(rules.Config{Program: r.prog, Shape: machine.Shape{CTAs: int(r.cfg.Grid[0]), Warps: int(r.cfg.Block[0]+31) / 32, Threads: int(r.cfg.Block[0])}})
			})
		})
	}
}

func (r *rig) bench(b *testing.B, obs func() machine.Observer) {
	b.ReportAllocs()
	lanes := int64(0)
	for b.Loop() {
		b.StopTimer() // making the machine copies the buffers
		r.t = b
		m := r.machine(obs())
		b.StartTimer()
		explore.Run(m, explore.Schedule{Policy: explore.Latest}, nil)
		if !m.Done() {
			b.Fatal("run ended before its end")
		}
		_, n := m.Instrs()
		lanes += n
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlane/s")
}
