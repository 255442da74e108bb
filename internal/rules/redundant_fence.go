package rules

import (
	"fmt"
	"strings"

	"muster/internal/machine"
)

var redundantFence = register(Kind{
	Name:     "redundant-fence",
	Severity: Note,
	Title:    "a fence that orders nothing that is not ordered without it",
	Section:  "9.7.13.4",
	Text: `A memory fence makes what its thread did, or saw, pass to whom it synchronizes
with; a proxy fence makes what was done through one proxy known to the other (ISA
9.7.13.4); tcgen05.fence makes what is known of tcgen05 operations pass from thread to
thread (9.7.18.6.3). The thread waits for each. Here none makes a difference: this launch
is proven for all schedules (ISA 8, and docs/schedules.md), and the proof stands, with
no race and nothing found, where this fence is left out of everything that it looks
at.

That costs time and breaks nothing. It is said on request (muster check --cost), and
of this launch alone: another grid, another number of turns or another path through
the kernel may need the fence. Not judged are fences that other agents than this
launch may rely on (system scope), those that directly follow an mbarrier.init, which
libraries add by habit, and those of the tensor-map proxy. wgmma.fence is: it orders
registers, and is needed where the warp's own instructions accessed those that a wgmma
uses. ptxas may then put it in, or serialize, where it cannot see that it is not needed.

The usual causes: an arrive that releases, or a wait that acquires, beside a
__threadfence; fence.proxy.async where the data was written by the asynchronous proxy
to begin with, or by both writer and issuer; a fence in every turn of a loop for data
that is written once; a tcgen05.fence around a barrier behind which columns are freed and
not accessed, or before an mma that only waits for copies into shared memory.

Mend it by removing it, or by moving it to the path that needs it. Then check again:
of two fences of which either would do, both are named, and a note on the second says so.`,
})

// A Redundant is one fence, or the instructions of one barrier, without which the
// launch is still proven.
type Redundant struct {
	Program *machine.Program
	Sites   []Site // the first execution of each instruction
	Count   int    // of executions
	// Unless are others that can be removed together, but not with this.
	Unless []int32
}

// maxUnless is how many of Unless are named.
const maxUnless = 4

// RedundantFence is a fence that orders nothing.
func RedundantFence(r Redundant) Finding {
	return r.finding(redundantFence,
		"remove it: without it this launch is proven for all schedules just so")
}

func (r *Redundant) finding(k *Kind, fix string) Finding {
	f := Finding{Kind: k.Name, Severity: k.Severity, Sites: r.Sites, Count: r.Count, Fix: fix}
	var names []string
	for i := range r.Sites {
		names = append(names, r.line(r.Sites[i].PC))
	}
	f.Headline = names[0] + " orders nothing that is not ordered without it"
	if len(names) > 1 {
		f.Headline = strings.Join(names, ", ") + ", which meet at one barrier, order nothing that is not ordered without them"
	}
	if len(r.Unless) > 0 {
		f.Notes = append(f.Notes, "needed once "+r.few(r.Unless)+" are gone, which are named too")
	}
	return f
}

// few names some instructions.
func (r *Redundant) few(pcs []int32) string {
	var names []string
	for _, pc := range pcs[:min(len(pcs), maxUnless)] {
		names = append(names, r.line(pc))
	}
	if n := len(pcs) - maxUnless; n > 0 {
		names = append(names, fmt.Sprintf("%d others", n))
	}
	return strings.Join(names, ", ")
}

func (r *Redundant) line(pc int32) string {
	name := "an instruction"
	if in := r.Program.Inst(pc); in != nil {
		if name = machine.Name(in); !strings.Contains(name, "wait") {
			name = short(name)
		}
	}
	return fmt.Sprintf("%s at %s", name, r.Program.Line(pc))
}
