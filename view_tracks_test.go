package muster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/internal/machine"
	"muster/internal/resolve"
	"muster/internal/yaml"
	"muster/report"
)

// This file tests what a view shows over time, how large it is, and what ends it.

// nests checks that the slices of each track nest and lie within the run, and returns how many
// there are of a category.
func nests(t *testing.T, marks []report.TraceMark, tracks []report.TraceTrack, steps int) map[string]int {
	t.Helper()
	of := map[uint64][]report.TraceMark{}
	known := map[uint64]report.TraceTrack{}
	for _, k := range tracks {
		known[k.ID] = k
		if k.Kind == "" {
			t.Errorf("track %s has no kind", k.Name)
		}
	}
	n := map[string]int{}
	for _, m := range marks {
		if m.Time < 0 || m.Time > int64(steps) {
			t.Errorf("a mark at %d of %d steps: %+v", m.Time, steps, m)
		}
		if known[m.Track].Counter != (m.Kind == report.TraceValue) {
			t.Errorf("track %q has %+v", known[m.Track].Name, m)
		}
		if m.Kind == report.TraceBegin {
			n[m.Category]++
		}
		of[m.Track] = append(of[m.Track], m)
	}
	for id, list := range of {
		slices.SortStableFunc(list, func(a, b report.TraceMark) int { return int(a.Time - b.Time) })
		depth := 0
		for _, m := range list {
			switch m.Kind {
			case report.TraceBegin:
				depth++
			case report.TraceEnd:
				depth--
			}
			if depth < 0 {
				t.Fatalf("track %s: an end without a beginning at %d", known[id].Name, m.Time)
			}
		}
		if depth != 0 {
			t.Errorf("track %s: %d slices without an end", known[id].Name, depth)
		}
	}
	return n
}

// A happened counts what tracks are to show: buffers that a step accesses, generations of named
// barriers, columns.
type happened struct {
	names    *resolve.Resolver
	accesses map[string]bool // step, buffer and who
	step     int
	arrived  map[string]bool // generations
	columns  int
}

func (h *happened) Observe(_ *machine.Machine, ev *machine.Event) {
	touch := func(mem machine.MemID, addr uint64) {
		h.accesses[fmt.Sprint(h.step, mem, h.names.RegionAt(mem, addr), ev.PC)] = true
	}
	switch ev.Kind {
	case machine.EvAccess:
		for k := ev.Mask; k != 0; k &= k - 1 {
			touch(ev.Mem, ev.Addr[bits.TrailingZeros32(k)])
		}
	case machine.EvSource:
		for _, s := range ev.Op.Reads {
			touch(s.Mem, s.Addr)
		}
	case machine.EvWritten:
		for _, s := range ev.Op.Writes {
			touch(s.Mem, s.Addr)
		}
	case machine.EvBarArrive:
		h.arrived[fmt.Sprint(ev.CTA, ev.Bar, ev.Gen)] = true
	case machine.EvTensorAlloc:
		h.columns++
	}
}

// TestViewTracks: each access to a buffer, each generation of a named barrier and each
// allocation of columns is shown, once.
func TestViewTracks(t *testing.T) {
	for _, name := range viewedExamples {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			l := example(t, name)
			r, run := firstFinding(t, l)
			v, err := l.View(context.Background(), r, muster.ViewOptions{Runs: []muster.ViewRun{run}})
			if err != nil {
				t.Fatal(err)
			}
			d := decodeView(t, v)
			of, err := muster.ViewedRun(l, run)
			if err != nil {
				t.Fatal(err)
			}
			h := &happened{names: of.Names, accesses: map[string]bool{}, arrived: map[string]bool{}}
			m := of.Start(h)
			for i, c := range of.Run {
				h.step = i + 1
				m.Step(c)
			}
			n := nests(t, d.marks(t, d.Runs[0]), d.Runs[0].tracks, d.Runs[0].Steps)
			if n["access"] != len(h.accesses) || n["generation"] != len(h.arrived) || n["columns"] != h.columns || n["step"] == 0 {
				t.Errorf("shown: %v; there are %d accesses, %d generations, %d allocations", n, len(h.accesses), len(h.arrived), h.columns)
			}
		})
	}
}

// TestViewSize: the marks of a long run take few bytes a step, so that a page of a million
// steps has at most 20 MB, of which registers and memory may take 8 (6 and base64).
func TestViewSize(t *testing.T) {
	t.Parallel()
	const turns = 4000
	f, err := yaml.ReadFile("examples/ring/ring.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f.Expect = nil
	f.Buffers[0].Shape = []int64{256 * turns}
	f.Launches[0].Args[2].Bits = turns
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, run := firstFinding(t, l)
	v, err := l.View(context.Background(), r, muster.ViewOptions{Runs: []muster.ViewRun{run}, Live: true})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := v.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if steps := v.Runs()[0].Steps; steps < 50_000 || page.Len() > 12*steps+512<<10 {
		t.Errorf("%d bytes for %d steps", page.Len(), steps)
	}
}

// TestViewLimits: a view whose limit runs out, wherever that is, says so.
func TestViewLimits(t *testing.T) {
	t.Parallel()
	l := example(t, "ring/broken_bytes")
	r, run := firstFinding(t, l)
	muster.SetPace(l, 8)
	cut, whole := 0, 0
	for n := int64(1); n < 400 && whole < 2; n += 1 + n/8 {
		ctx, looks := muster.Tripping(context.Background(), n)
		v, err := l.View(ctx, r, muster.ViewOptions{Runs: []muster.ViewRun{run}})
		var untold *muster.Untold
		switch {
		case err == nil && v != nil && looks() < n:
			whole++
		case errors.As(err, &untold) && strings.Contains(untold.Reason, "Limits.Time"):
			cut++
		default:
			t.Errorf("cut at look %d of %d: %v", n, looks(), err)
		}
	}
	if cut < 3 || whole == 0 {
		t.Errorf("%d are cut, %d whole", cut, whole)
	}
}
