package muster

import (
	"context"
	"testing"

	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/yaml"
)

// BenchmarkGEMM parts the time of checking a warp-specialized GEMM of f16,
// 256 × 256 × 1024, into what executes it, what multiplies, and what orders:
//
//	execution   one schedule, no observer, no matrix arithmetic
//	arithmetic  the same with the arithmetic
//	ordering    the same as execution, with a judge
//	proof       what check does of a right kernel
//	check       all seven schedules, with the arithmetic
func BenchmarkGEMM(b *testing.B) {
	file, err := yaml.ReadFile("examples/gemm_ws_multicast/gemm_ws_multicast_k1024.yaml")
	if err != nil {
		b.Fatal(err)
	}
	l, err := LoadFile(file, Limits{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	one := func(skip bool, o machine.Observer) {
		m := l.subject.Machine(o, nil)
		if skip {
			m.SkipMatrices()
		}
		if _, err := l.subject.Follow(l.subject.Budget(ctx), m, Schedule{}.of); err != nil || !m.Done() {
			b.Fatal("the run did not end", err)
		}
	}
	check := func(o CheckOptions) {
		r, err := l.Check(ctx, o)
		if err != nil || len(r.Findings) > 0 {
			b.Fatal("no clean check", err)
		}
	}
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"execution", func() { one(true, nil) }},
		{"arithmetic", func() { one(false, nil) }},
		{"ordering", func() { one(true, rules.NewJudge(l.subject.Rules())) }},
		{"proof", func() { check(CheckOptions{Schedules: Handful(DefaultRandom)}) }},
		{"check", func() { check(CheckOptions{Schedules: Handful(DefaultRandom), Values: true, Mode: OnlySchedules}) }},
		{"check/jobs=1", func() {
			check(CheckOptions{Schedules: Handful(DefaultRandom), Values: true, Jobs: 1, Mode: OnlySchedules})
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.run()
			}
		})
	}
}
