package executions_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"muster/internal/axiom/flow"
	"muster/internal/executions"
)

// Programs larger than these are not compared, and counted.
const (
	maxGraphs    = 20_000
	maxStates    = 100_000
	maxSchedules = 20_000
)

// A comparison is what the axioms and the machine say of one program.
type comparison struct {
	left  string // why it was not compared
	wrong string // how they differ
	races bool
	// buffers: the axioms have load buffering; named: it is named.
	buffers, named bool
	stale          bool
	runs, graphs   int
}

// compare compares the machine's executions of a program with those that the axioms, but for
// some clauses, allow.
func compare(t testing.TB, p *flow.Program, without flow.Clause) (c comparison) {
	want, buffers, err := p.Without(without).Built(maxGraphs)
	if err != nil {
		t.Fatal(err)
	}
	if want.Cut {
		c.left = "more executions by the axioms"
		return c
	}
	seq, err := p.Interleave(maxStates)
	if err != nil {
		t.Fatal(err)
	}
	if seq.Cut {
		c.left = "more states of interleavings"
		return c
	}
	got, r := outcomes(t, p, executions.Options{Schedules: maxSchedules})
	c.runs, c.graphs, c.buffers, c.named = r.Coverage.Schedules, want.States, buffers, len(r.Loose) > 0
	stale := false
	for _, f := range r.Findings {
		switch f.Kind {
		case "stale-value":
			stale = true
		case "same-value": // no race: a note that weak writes store the same
		default:
			c.races = true
		}
	}
	switch {
	case c.races && want.Race: // one is enough
		return c
	case !r.Coverage.Complete:
		c.left = "more runs of the machine"
		return c
	case c.races != want.Race:
		c.wrong = fmt.Sprintf("race %v, found %v", want.Race, r.Findings)
		return c
	}
	odd := false
	for f := range want.Final {
		odd = odd || !seq.Final[f]
		if !got[f] {
			c.wrong = "lacks " + words(f, 8, 24)
		}
	}
	for f := range got {
		if !want.Final[f] {
			c.wrong = "has " + words(f, 8, 24)
		}
	}
	if c.stale = odd; odd != stale && c.wrong == "" {
		c.wrong = fmt.Sprintf("a final memory that no interleaving leaves: %v, found: %v", odd, stale)
	}
	if buffers && !c.named && c.wrong == "" {
		c.wrong = "load buffering is not named"
	}
	return c
}

// TestDrawn holds the executions that are explored to the axioms, enumerated: the same races, and
// without one the same final memories, but for load buffering, which is named wherever the axioms
// have an execution that is not built. A memory that no interleaving leaves is found, and no
// other.
func TestDrawn(t *testing.T) {
	left := map[string]int{}
	compared, raced, buffers, named, stale, runs, graphs := 0, 0, 0, 0, 0, 0, 0
	for seed := *from; seed < *from+*drawn; seed++ {
		p := draw(seed)
		c := compare(t, p, 0)
		switch {
		case c.left != "":
			left[c.left]++
			continue
		case c.wrong != "":
			t.Errorf("%d: %s\n%s", seed, c.wrong, p.PTX())
		case c.races:
			raced++
			continue
		}
		compared++
		if c.stale {
			stale++
		}
		if c.buffers {
			buffers++
		}
		if c.named {
			named++
		}
		if c.named && !c.buffers && *showOver {
			t.Logf("%d: over\n%s", seed, p.PTX())
		}
		runs, graphs = runs+c.runs, graphs+c.graphs
	}
	t.Logf("%d programs, not compared: %v; %d have races; of %d without, %d have a stale value, %d load buffering, named in %d; %d runs, %d graphs", *drawn, left, raced, compared, stale, buffers, named, runs, graphs)
	if n := int(*drawn); n >= 100 && (compared+raced < n*8/10 || stale < n/50) {
		t.Errorf("too little was compared")
	}
}

// TestOverwritten holds a program to the axioms in which a read of an overwritten version puts a
// store of narrow scope in order behind it (ISA 8.9.2, 8.9.5): once a false error.
func TestOverwritten(t *testing.T) {
	p := draw(21002684)
	if c := compare(t, p, 0); c.left+c.wrong != "" {
		t.Errorf("%s%s\n%s", c.left, c.wrong, p.PTX())
	}
}

func words(mem string, from, to int) string {
	var s string
	for i := range to {
		if i < 3 || i >= from {
			s += fmt.Sprint(binary.LittleEndian.Uint32([]byte(mem)[4*i:]), " ")
		}
	}
	return s
}
