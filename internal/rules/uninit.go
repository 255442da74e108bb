package rules

import (
	"fmt"
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// uninitialized takes a read of which some lanes saw bytes that nobody wrote.
// It is a warning: what becomes of the value is not followed. An asynchronous
// copy of such bytes to global memory is an error, for there it is an output.
func (j *Judge) uninitialized(ev *machine.Event) {
	if ev.Mem < 0 || ev.Access&machine.Read == 0 {
		return
	}
	if j.watch.ctas == nil {
		j.begin()
	}
	j.idleReads(ev)
	j.note(uninitializedShared, -1, ev.PC, func() Finding {
		saw := ev.Mask &^ ev.Init
		s := eventSite("reads", ev)
		s.Lanes, s.Mem, s.Len = saw, ev.Mem, uint64(ev.Size)
		s.Addr = ev.Addr[bits.TrailingZeros32(saw)&31]
		return Finding{
			Headline: fmt.Sprintf("%s reads %s that nobody has written", j.at(ev.PC), place(machine.Span{Mem: s.Mem, Addr: s.Addr, Len: s.Len})),
			Sites:    []Site{s},
			Missing:  "no store, copy or atomic has written these bytes before the read",
			Fix:      "write the bytes first, or read only what was written: shared memory holds what an earlier CTA left there",
		}
	})
}

// sourceRead takes an asynchronous operation that has read its source.
func (j *Judge) sourceRead(ev *machine.Event) {
	op := ev.Op
	if !op.SourceUninit() || len(op.Reads) == 0 || op.Reads[0].Mem < 0 || len(op.Writes) == 0 {
		return
	}
	out := op.Writes[0].Mem == machine.Global
	to := int32(0)
	if out {
		to = 1
	}
	j.note(uninitializedShared, to, ev.PC, func() Finding {
		s := eventSite("copies", ev)
		s.Mem, s.Addr, s.Len = op.Reads[0].Mem, op.Reads[0].Addr, op.Reads[0].Len
		s.Op = fmt.Sprintf("operation %d", op.ID)
		f := Finding{
			Headline: fmt.Sprintf("%s copies %s, some of which nobody has written", j.at(ev.PC), place(op.Reads[0])),
			Sites:    []Site{s},
			Missing:  "no store or copy has written these bytes before the copy reads them",
			Fix:      "write the bytes, or wait for the copy that does, before this copy is issued; or copy only what was written",
		}
		if out {
			f.Severity = Error
			f.Headline += ", to global memory"
		}
		return f
	})
}

// onlyUnordered drops the warnings about reads that an error of the order of
// accesses names: the bytes are written, but not surely before. In a run that is not
// over that write may yet come.
func (j *Judge) onlyUnordered() {
	told := map[int32]bool{}
	for i := range j.findings {
		f := &j.findings[i]
		if f.Severity != Error || f.Kind == uninitializedShared.Name {
			continue
		}
		for _, s := range f.Sites {
			if s.Len > 0 && s.PC >= 0 {
				told[s.PC] = true
			}
		}
	}
	j.findings = slices.DeleteFunc(j.findings, func(f Finding) bool {
		return f.Kind == uninitializedShared.Name && f.Severity == Warning && (!j.over || told[f.Sites[0].PC])
	})
	clear(j.watch.noted) // indexes into what has moved
}
