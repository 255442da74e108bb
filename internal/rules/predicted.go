package rules

import (
	"fmt"
	"math/bits"

	"muster/internal/machine"
	"muster/mbarrier"
)

// Predicted findings. The happens-before order of a run without errors shows that
// two steps could come in the other order; a directed run executes them so. A
// Predicted has the evidence of both runs, and each kind of defect says what it
// means.

// A Predicted is an operation on a barrier, or a wait, that belongs to one phase in a run
// without errors, and to another in the directed run.
type Predicted struct {
	Program *machine.Program
	Bar     machine.BarRef
	Phase   int64 // in the run without errors
	Came    int64 // in the directed run
	Act     Site  // the operation or wait
	By      Site  // what the directed run executed before it
	// Word is the barrier at that point of the directed run, and Open its phase.
	Word mbarrier.Word
	Open int64
	// Mates are lanes of Act's warp that came to it together with Act's lanes, in the run
	// without errors, and that the directed run took before them; none: it took none so.
	Mates uint32
	// Then is how the directed run ended; empty if it went on.
	Then string
}

// line names an instruction.
func (f *Predicted) line(s *Site) string {
	name := "an instruction"
	if in := f.Program.Inst(s.PC); in != nil {
		name = short(machine.Name(in))
	}
	return fmt.Sprintf("%s at %s", name, f.Program.Line(s.PC))
}

// who names the thread or warp of a site.
func (f *Predicted) who(s *Site) string {
	if bits.OnesCount32(s.Lanes) == 1 {
		return fmt.Sprintf("lane %d of warp %d of CTA %d", bits.TrailingZeros32(s.Lanes), s.Warp, s.CTA)
	}
	return fmt.Sprintf("warp %d of CTA %d", s.Warp, s.CTA)
}

// finding builds the part that all kinds share.
func (f *Predicted) finding(k *Kind, headline, missing, fix string) Finding {
	r := Finding{Kind: k.Name, Severity: k.Severity, Headline: headline, Sites: []Site{f.By, f.Act}, Missing: missing, Fix: fix, Count: 1}
	state := mbarrier.State{Word: f.Word, Phase: uint64(f.Open)}
	r.Ledger = append(r.Ledger, barName(f.Bar)+", "+state.String())
	if f.Then != "" {
		r.Notes = append(r.Notes, "in this schedule "+f.Then)
	}
	return r
}

// phaseName names a phase; the one before the first is complete on a fresh
// barrier, by its parity.
func phaseName(n int64) string {
	if n < 0 {
		return "the phase before the first (complete from the start)"
	}
	return fmt.Sprintf("phase %d", n)
}

// Hang adds to a finding a hang that follows from it.
func (f *Finding) Hang(g *Finding) {
	f.Waiting = g.Waiting
	f.Notes = []string{"in this schedule the launch hangs then: " + g.Headline}
}

// MayFollow reports whether a finding is a hang, which may follow from a
// predicted finding about a barrier.
func MayFollow(f Finding) bool { return mayHang(f.Kind) && len(f.Waiting) > 0 }

// Hangs reports whether a finding is a hang in which a split waits for the barrier.
func Hangs(f *Finding, bar machine.BarRef) bool {
	if !mayHang(f.Kind) {
		return false
	}
	for i := range f.Waiting {
		if s := &f.Waiting[i].Site; s.Mem == bar.Mem && s.Addr == bar.Addr && s.Len != 0 {
			return true
		}
	}
	for i := range f.Sites {
		if s := &f.Sites[i]; s.Role == "waits" && s.Mem == bar.Mem && s.Addr == bar.Addr && s.Len != 0 {
			return true
		}
	}
	return false
}
