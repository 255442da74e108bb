package rules

import (
	"fmt"
	"math/bits"
	"slices"

	"muster/internal/diag"
	"muster/internal/machine"
)

// MayReach reports whether a finding is about an unwritten or undefined value that is not
// known to reach anything: a run that tracks the value decides.
func MayReach(f *Finding) bool {
	if f.Severity != Warning || len(f.Sites) == 0 {
		return false
	}
	switch f.Kind {
	case uninitializedShared.Name, uninitializedTensor.Name, uninitializedRegister.Name, uninitializedLocal.Name, uninitializedGlobal.Name, undefinedShuffle.Name, undefinedValue.Name:
		return true
	}
	return false
}

// Dropped reports whether a finding for which MayReach holds is dropped if the value
// reaches nothing.
func Dropped(f *Finding) bool {
	return MayReach(f) && f.Kind != uninitializedShared.Name
}

// uninitialized reports a read of unwritten bytes by some lanes. It is a
// warning: the value is not tracked here. An asynchronous copy of unwritten bytes
// to global memory is an error, since it is an output.
func (j *Judge) uninitialized(ev *machine.Event) {
	if ev.Access&(machine.Read|machine.Update) == 0 {
		return
	}
	if ev.Mem.Kind() != machine.SharedMemory {
		j.unwrittenGlobal(ev)
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

// sourceRead reports an asynchronous operation that has read unwritten bytes.
func (j *Judge) sourceRead(m *machine.Machine, ev *machine.Event) {
	op := ev.Op
	if !op.SourceUninit() || len(op.Reads) == 0 {
		return
	}
	if op.Tensor() {
		j.readsUnwrittenTensor(m, ev)
		return
	}
	if op.Reads[0].Mem.Kind() != machine.SharedMemory {
		j.copiesUnwrittenGlobal(ev)
		return
	}
	if op.Kind == machine.OpWgmma {
		j.note(uninitializedShared, -1, ev.PC, func() Finding { return j.multipliesUnwritten(m, ev) })
		return
	}
	if len(op.Writes) == 0 {
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

// multipliesUnwritten is the finding for a wgmma whose matrices are unwritten, at least
// in part.
func (j *Judge) multipliesUnwritten(m *machine.Machine, ev *machine.Event) Finding {
	list := m.Unwritten(ev.Op)
	if len(list) == 0 {
		panic("BUG: an unwritten operand without unwritten bytes")
	}
	total := uint64(0)
	for _, u := range list {
		total += u.Len
	}
	first := list[0]
	s := eventSite("reads", ev)
	s.Mem, s.Addr, s.Len = first.Mem, first.Addr, first.Len
	s.Op = fmt.Sprintf("operation %d", ev.Op.ID)
	f := Finding{
		Headline: fmt.Sprintf("%s reads %s of its %s that nobody has written", j.at(ev.PC), place(first.Span), first.Operand),
		Sites:    []Site{s},
		Missing:  "no store or copy has written these bytes before " + short(j.name(ev.PC)) + " reads them",
		Fix:      "compare the descriptor's address, offsets and swizzle with where the tile was written; or write the bytes first (zeros for padding)",
	}
	if len(list) > 1 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s in %d ranges of its operands were never written", diag.Bytes(total), len(list)))
	}
	return f
}

// reduced reports an asynchronous reduction that has changed unwritten shared memory.
func (j *Judge) reduced(ev *machine.Event) {
	to := ev.Op.Target
	if to.Len == 0 {
		return
	}
	j.note(uninitializedShared, -1, ev.PC, func() Finding {
		s := eventSite("reduces into", ev)
		s.Mem, s.Addr, s.Len = to.Mem, to.Addr, to.Len
		s.Op = fmt.Sprintf("operation %d", ev.Op.ID)
		return Finding{
			Headline: fmt.Sprintf("%s reduces into %s, some of which nobody has written", j.at(ev.PC), place(to)),
			Sites:    []Site{s},
			Missing:  "no store or copy has written these bytes before the reduction",
			Fix:      "write the first value before the reduction is issued: shared memory holds what an earlier CTA left there",
		}
	})
}

// onlyUnordered drops the warnings about reads that an ordering error names too: the
// bytes are written, but not ordered before the read. In a run that is not over that
// write may yet come.
func (j *Judge) onlyUnordered() {
	told := map[int32]bool{}
	for i := range j.findings {
		f := &j.findings[i]
		if f.Severity != Error || f.Kind == uninitializedShared.Name || f.Kind == uninitializedTensor.Name {
			continue
		}
		for _, s := range f.Sites {
			if (s.Len > 0 || f.Kind == tensorLanes.Name) && s.PC >= 0 {
				told[s.PC] = true
			}
		}
	}
	j.keys = nil
	j.findings = slices.DeleteFunc(j.findings, func(f Finding) bool {
		return (f.Kind == uninitializedShared.Name || f.Kind == uninitializedTensor.Name) && f.Severity == Warning && (!j.over || told[f.Sites[0].PC])
	})
	clear(j.watch.noted) // indexes into what has moved
}
