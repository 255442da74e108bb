package rules

import (
	"fmt"
	"math/bits"

	"muster/internal/machine"
)

var repeatedCopy = register(Kind{
	Name:     "repeated-copy",
	Severity: Note,
	Order:    Conflict,
	Title:    "one bulk store or reduction, executed by several lanes with the same operands",
	Section:  "9.7.9.25.4",
	Text: `A bulk copy is an operation of one thread: an instruction that several lanes
of a warp execute makes as many operations (ISA 9.7.9.25.4). Here their source and
target are the same. A store writes the same bytes several times: nothing comes out
wrong, as each lane has a group of its own to wait for. A reduction adds several times:
an H200 adds 32 times for 32 lanes, and 5 times for 5.

Libraries guard a tensor store by the warp, and not by the lane, where the compiler
elects a lane anyway. That is why this is a note.

To be rid of it, elect a lane (elect.sync) before the instruction, as for every
operation of the bulk copy engine.`,
})

// A repeated is an execution of a bulk store or reduction by several lanes.
type repeated struct {
	site  Site
	twin  int64 // machine.Op.Twin of the one at hand
	now   int
	most  int // operations of one execution
	times int // executions
	adds  bool
}

// repeats notes operations of one execution with the same source and target.
func (j *Judge) repeats(ev *machine.Event) {
	op := ev.Op
	if op.Twin == 0 {
		return
	}
	r := j.watch.repeats[op.PC]
	if r == nil {
		if j.watch.repeats == nil {
			j.watch.repeats = map[int32]*repeated{}
		}
		r = &repeated{site: eventSite("copies", ev), adds: op.Kind == machine.OpBulkReduce}
		if r.adds {
			r.site.Role = "reduces"
		}
		j.watch.repeats[op.PC] = r
	}
	if r.twin != op.Twin {
		r.twin, r.now = op.Twin, 1
		r.times++
	}
	if r.now++; r.times == 1 {
		r.site.Lanes |= 1 << uint(op.Lane)
	}
	r.most = max(r.most, r.now)
}

// repeatedCopies reports them at the end of the run.
func (j *Judge) repeatedCopies() {
	for pc, r := range j.watch.repeats {
		f := Finding{
			Headline: fmt.Sprintf("%s is executed by %d lanes of warp %d of CTA %d: it writes the same bytes %d times", j.at(pc), r.most, r.site.Warp, r.site.CTA, r.most),
			Sites:    []Site{r.site},
			Missing:  "nothing elects one lane of the warp for it",
			Fix:      "let one lane execute it (elect.sync), unless that many are meant",
			Count:    r.times,
		}
		if r.adds {
			f.Headline = fmt.Sprintf("%s is executed by %d lanes of warp %d of CTA %d: it reduces %d times", j.at(pc), r.most, r.site.Warp, r.site.CTA, r.most)
		}
		if bits.OnesCount32(r.site.Lanes) < r.most {
			f.Sites[0].Lanes = ^uint32(0)
		}
		j.add(repeatedCopy, f)
	}
}
