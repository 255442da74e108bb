package timeline

import (
	"fmt"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/report"
)

// This file shows what lanes of a warp wait for.

// A wait is lanes of a warp that wait for one thing, from the end of the step that brought
// them to where they cannot go on. At an mbarrier it lasts to the end of the test that finds
// the phase complete; a test that is made before, and fails, is a part of it. Other waits
// last to the step with which the lanes go on.
type wait struct {
	mask  uint32
	begin int64
	name  string
	until string
	pc    int32
	row   *row
	tests []test // of mbarriers; nil for others
	fails int64  // tests of theirs that found the phase incomplete
	seen  int64  // the last step that tested one of them
	flow  uint64 // of the arrow from what completed the phase; 0 for none so far
	by    string // what did
	at    int64  // the step in which it did
	lap   string // how a test of a later phase found that complete, by its parity; empty for none
}

// A test is a phase of an mbarrier that lanes ask for.
type test struct {
	bar   barrier
	phase int64
}

const waitsText = "what lanes of the warp wait for: at an mbarrier until they find the phase complete"

// tested records a test of an mbarrier.
func (r *Recorder) tested(ev *machine.Event) {
	t := test{barrier{ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr}, ev.Mbar.Phase}
	w := r.warp(ev.CTA, ev.Warp)
	i := slices.IndexFunc(w.waits, func(x *wait) bool { return x.mask&ev.Mask != 0 && slices.Contains(x.tests, t) })
	if ev.Mbar.OK && i < 0 {
		r.lapped(w, ev.Mask, t)
	}
	switch {
	case !ev.Mbar.OK && i >= 0:
		w.waits[i].mask |= ev.Mask
		w.waits[i].seen = r.now.n
		w.waits[i].fails++
	case !ev.Mbar.OK:
		w.waits = append(w.waits, &wait{mask: ev.Mask, begin: r.now.n - 1, name: r.names.Mbar(ev.Mbar.Bar, -1), pc: ev.PC,
			row: r.row(w, report.TrackWait, "waits", waitsText, r.now.n-1), seen: r.now.n, fails: 1, tests: []test{t}})
	case i >= 0:
		x := w.waits[i]
		x.seen = r.now.n
		if x.flow != 0 {
			r.now.to = append(r.now.to, x.flow)
			x.flow = 0
		}
		if x.mask &^= ev.Mask; x.mask == 0 {
			w.waits = slices.Delete(w.waits, i, i+1)
			r.woken(x, r.now.n, "")
		}
	}
}

// lapped notes that lanes which slept for a phase find a later one complete: their test asks for
// a parity, and the phase that they meant was over before they looked.
func (r *Recorder) lapped(w *warp, mask uint32, t test) {
	for _, x := range w.waits {
		for _, slept := range x.tests {
			if x.mask&mask != 0 && slept.bar == t.bar && slept.phase < t.phase && (t.phase-slept.phase)%2 == 0 {
				x.lap = fmt.Sprintf("lapped: it finds phase %d complete, of the same parity; phase %d was complete before it looked", t.phase, slept.phase)
			}
		}
	}
}

// wake ends waits of lanes that take a step: they go on, or have given up a test.
func (r *Recorder) wake(w *warp) {
	w.waits = slices.DeleteFunc(w.waits, func(x *wait) bool {
		if x.mask&r.now.mask == 0 || x.seen == r.now.n {
			return false
		}
		if x.mask &^= r.now.mask; x.mask != 0 {
			return false
		}
		how := ""
		switch {
		case x.lap != "":
			how = x.lap
		case x.tests != nil:
			how = "given up"
		}
		r.woken(x, r.now.n-1, how)
		return true
	})
}

var waitWords = map[machine.WaitKind]string{
	machine.WaitMemory: "memory", machine.WaitWarp: "the other lanes of its warp", machine.WaitCluster: "barrier.cluster",
	machine.WaitRegisters: "registers", machine.WaitGroup: "its asynchronous operations", machine.WaitSpin: "a change of what it reads",
	machine.WaitColumns: "columns of tensor memory", machine.WaitPair: "the other CTA of its pair",
}

// asleep records what lanes of a warp that the step concerned wait for after it.
func (r *Recorder) asleep(i, k int32, w *warp, lanes uint32) {
	r.buf = r.m.Splits(i, k, r.buf[:0])
	for _, s := range r.buf {
		if s.Mask&lanes == 0 {
			continue
		}
		v, ok := r.m.WaitingAt(i, k, int8(bits.TrailingZeros32(s.Mask)))
		if !ok || v.Kind == machine.WaitNothing || slices.ContainsFunc(w.waits, func(x *wait) bool { return r.joins(x, &v) }) {
			continue
		}
		x := &wait{mask: v.Mask, begin: r.now.n, name: waitWords[v.Kind], pc: v.PC, row: r.row(w, report.TrackWait, "waits", waitsText, r.now.n)}
		switch v.Kind {
		case machine.WaitMbar:
			for _, t := range v.Tests {
				x.tests = append(x.tests, test{barrier{t.Bar.Mem, t.Bar.Addr}, t.Phase})
			}
			if len(v.Tests) > 0 {
				x.name = r.names.Mbar(v.Tests[0].Bar, -1)
			}
		case machine.WaitNamed:
			x.name, x.until = fmt.Sprintf("barrier %d", v.Bar), r.names.WaitsFor(&v)
		default:
			x.until = r.names.WaitsFor(&v)
		}
		w.waits = append(w.waits, x)
	}
}

// joins reports whether a split waits for what lanes of it are known to wait for, and then
// adds its other lanes to them.
func (r *Recorder) joins(x *wait, v *machine.WaitingSplit) bool {
	if x.mask&v.Mask == 0 || (x.tests != nil) != (v.Kind == machine.WaitMbar) {
		return false
	}
	if x.tests != nil && !slices.ContainsFunc(v.Tests, func(t machine.MbarTestState) bool {
		return slices.Contains(x.tests, test{barrier{t.Bar.Mem, t.Bar.Addr}, t.Phase})
	}) {
		return false
	}
	x.mask |= v.Mask
	return true
}

// woken shows a wait that has ended; how says so if not by what it waited for.
func (r *Recorder) woken(x *wait, end int64, how string) {
	x.row.free(end)
	if end <= x.begin {
		return
	}
	p := r.place(x.pc)
	mark := report.TraceMark{Name: "wait: " + x.name, Category: catWait, File: p.file, Line: p.line, PTX: p.ptx, PTXLine: p.ptxLine, Args: []report.TraceArg{{Name: "instruction", Text: p.name}}}
	if len(x.tests) > 0 {
		mark.Args = append(mark.Args, report.TraceArg{Name: "barrier", Text: x.name}, report.TraceArg{Name: "phase", Number: x.tests[0].phase},
			report.TraceArg{Name: "failed_tests", Number: x.fails})
	}
	for _, a := range []report.TraceArg{{Name: "until", Text: x.until}, {Name: "completed_by", Text: x.by}, {Name: "ended", Text: how}} {
		if a.Text != "" {
			mark.Args = append(mark.Args, a)
		}
	}
	if x.at > 0 {
		mark.Args = append(mark.Args, report.TraceArg{Name: "completed_in_step", Number: x.at})
	}
	r.slice(x.row.track, x.begin, end, mark)
}
