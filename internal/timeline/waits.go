package timeline

import (
	"fmt"
	"slices"

	"muster/internal/machine"
	"muster/report"
)

// This file shows what lanes of a warp wait for.

// A wait is lanes of a warp that wait for one thing. At an mbarrier it lasts from the first
// test that fails to the end of the one that does not; else from the end of the step that
// brought the lanes there to the step with which they go on.
type wait struct {
	mask  uint32
	begin int64
	name  string
	until string
	pc    int32
	row   *row
	test  bool // of an mbarrier: bar and phase
	seen  int64
	bar   barrier
	phase int64
	flow  uint64 // of the arrow from what completed the phase; 0 for none so far
	by    string // what did
	at    int64  // the step in which it did
}

const waitsText = "what lanes of the warp wait for: at an mbarrier from the first test that fails to the one that does not"

// tested records a test of an mbarrier.
func (r *Recorder) tested(ev *machine.Event) {
	b := barrier{ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr}
	w := r.warp(ev.CTA, ev.Warp)
	i := slices.IndexFunc(w.waits, func(x *wait) bool {
		return x.test && x.bar == b && x.phase == ev.Mbar.Phase && x.mask&ev.Mask != 0
	})
	switch {
	case !ev.Mbar.OK && i >= 0:
		w.waits[i].mask |= ev.Mask
		w.waits[i].seen = r.now.n
	case !ev.Mbar.OK:
		w.waits = append(w.waits, &wait{mask: ev.Mask, begin: r.now.n - 1, name: r.names.Mbar(ev.Mbar.Bar, -1), pc: ev.PC,
			row: r.row(w, "waits", waitsText, r.now.n-1), test: true, seen: r.now.n, bar: b, phase: ev.Mbar.Phase})
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
		if x.test {
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

// asleep records what the lanes of the step wait for after it; tests of mbarriers say so
// themselves.
func (r *Recorder) asleep(w *warp) {
	c := r.now.choice
	v, ok := r.m.WaitingAt(c.CTA, c.Warp, c.Lane)
	if !ok || v.Kind == machine.WaitNothing || v.Kind == machine.WaitMbar {
		return
	}
	if i := slices.IndexFunc(w.waits, func(x *wait) bool { return !x.test && x.mask&v.Mask != 0 }); i >= 0 {
		w.waits[i].mask |= v.Mask
		return
	}
	name := waitWords[v.Kind]
	if v.Kind == machine.WaitNamed {
		name = fmt.Sprintf("barrier %d", v.Bar)
	}
	w.waits = append(w.waits, &wait{mask: v.Mask, begin: r.now.n, name: name, until: r.names.WaitsFor(&v), pc: v.PC, row: r.row(w, "waits", waitsText, r.now.n)})
}

// woken shows a wait that has ended; how says so if not by what it waited for.
func (r *Recorder) woken(x *wait, end int64, how string) {
	x.row.free(end)
	if end <= x.begin {
		return
	}
	p := r.place(x.pc)
	mark := report.TraceMark{Name: "wait: " + x.name, Category: catWait, File: p.file, Line: p.line, Args: []report.TraceArg{{Name: "instruction", Text: p.name}}}
	if x.test {
		mark.Args = append(mark.Args, report.TraceArg{Name: "barrier", Text: x.name}, report.TraceArg{Name: "phase", Number: x.phase})
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
