package story

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"muster/internal/diag"
	"muster/internal/machine"
	"muster/mbarrier"
)

// This file puts events into words.

// Observe makes a Teller a machine.Observer.
func (t *Teller) Observe(m *machine.Machine, ev *machine.Event) {
	t.event(ev)
	if !t.telling {
		return
	}
	switch ev.Kind {
	case machine.EvStart:
		t.say(0, false, "%sstarts", iff(t.cta(ev.CTA) == t.who, "", t.cta(ev.CTA)+" "))
	case machine.EvAccess:
		t.access(ev)
	case machine.EvMbar:
		t.mbar(ev)
	case machine.EvMbarWait:
		t.wait(ev)
	case machine.EvIssue, machine.EvSource, machine.EvWritten, machine.EvSignal:
		t.milestone(ev)
	case machine.EvBarArrive:
		word := "arrives at"
		if ev.Mode != machine.BarArrive {
			word = "comes to"
		}
		t.say(ev.Mask, false, "%s barrier %d", word, ev.Bar)
		b := barrier{mem: machine.SharedOf(ev.CTA), addr: uint64(ev.Bar), named: true}
		if _, arrived, _ := m.NamedBarrier(ev.CTA, ev.Bar); arrived+32 >= ev.Count {
			t.passed = append(t.passed, fmt.Sprintf("barrier %d: generation %d complete, %d of %d threads", ev.Bar, ev.Gen, arrived+32, ev.Count))
			return
		}
		t.use(b)
	case machine.EvBarPass:
		t.say(ev.Mask, false, "passes barrier %d, generation %d%s", ev.Bar, ev.Gen, iff(ev.ByExit, ", which exits opened", ""))
	case machine.EvTensorAsk, machine.EvTensorRelinquish, machine.EvTensorAlloc, machine.EvTensorFree, machine.EvTensorLeft:
		t.allocation(ev)
	case machine.EvExit:
		t.say(ev.Mask, false, "%s", plural(ev.Mask, "exits", "exit"))
	case machine.EvEnd:
		t.say(0, false, "%s has ended", t.cta(ev.CTA))
	default:
		t.other(ev)
	}
}

func iff(c bool, a, b string) string {
	if c {
		return a
	}
	return b
}

func plural(mask uint32, one, many string) string {
	n := bits.OnesCount32(mask)
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d lanes %s", n, many)
}

// other tells an event by its instruction alone.
func (t *Teller) other(ev *machine.Event) {
	word := "executes"
	switch ev.Kind {
	case machine.EvClusterWait, machine.EvWarpSync, machine.EvGroupWait:
		word = "passes"
	case machine.EvRegister, machine.EvDivergent, machine.EvCollective, machine.EvOutside, machine.EvParted, machine.EvOperand, machine.EvUndefined, machine.EvPendingCount, machine.EvHeapFull:
		return // the step's other events, or its instruction, say it
	}
	if in := t.names.Program.Inst(ev.PC); in != nil {
		t.say(ev.Mask, false, "%s %s", word, machine.Name(in))
	}
}

// access tells which bytes lanes read or write.
func (t *Teller) access(ev *machine.Event) {
	word := "reads"
	switch {
	case ev.Access&machine.Update != 0:
		word = "updates"
	case ev.Access&machine.Write != 0:
		word = "writes"
	}
	if ev.Addr == nil || ev.Mask == 0 {
		return
	}
	lo, hi, n := ^uint64(0), uint64(0), uint64(0)
	seen := map[uint64]bool{}
	for l := range 32 {
		if a := ev.Addr[l]; ev.Mask>>l&1 != 0 {
			lo, hi = min(lo, a), max(hi, a+uint64(ev.Size))
			if !seen[a] {
				seen[a] = true
				n += uint64(ev.Size)
			}
		}
	}
	where := t.bytes(machine.Span{Mem: ev.Mem, Addr: lo, Len: hi - lo}, ev.CTA)
	if ev.Picks && ev.Access&machine.Write == 0 {
		where += ": an overwritten value"
	}
	if n >= hi-lo {
		t.say(ev.Mask, false, "%s %s of %s", word, diag.Bytes(hi-lo), where)
	} else {
		t.say(ev.Mask, false, "%s %s here and there in %s", word, diag.Bytes(n), where)
	}
}

// mbar tells one lane's, or an operation's, part of an mbarrier instruction.
func (t *Teller) mbar(ev *machine.Event) {
	b := &ev.Mbar
	bar := barrier{mem: b.Bar.Mem, addr: b.Bar.Addr}
	name := t.mbarName(b.Bar.Mem, b.Bar.Addr, ev.CTA)
	t.use(bar)
	text := ""
	times := ""
	if b.Count > 1 {
		times = fmt.Sprintf(" with a count of %d", b.Count)
	}
	switch b.Op {
	case machine.MbarInit:
		text = fmt.Sprintf("initializes %s for %s", name, arrivals(b.After.Expected()))
	case machine.MbarInval:
		text = "invalidates " + name
	case machine.MbarArrive:
		text = "arrives at " + name + times
	case machine.MbarArriveDrop:
		text = "arrives at " + name + times + " for the last time (drop)"
	case machine.MbarExpectTx:
		text = fmt.Sprintf("expects %s more at %s", diag.Bytes(uint64(b.Bytes)), name)
	case machine.MbarArriveExpectTx:
		text = fmt.Sprintf("arrives at %s and expects %s there", name, diag.Bytes(uint64(b.Bytes)))
	case machine.MbarArriveDropExpectTx:
		text = fmt.Sprintf("arrives at %s for the last time (drop) and expects %s there", name, diag.Bytes(uint64(b.Bytes)))
	case machine.MbarCompleteTx:
		text = fmt.Sprintf("reports %s to %s", diag.Bytes(uint64(b.Bytes)), name)
	case machine.MbarIncrement:
		text = "lets " + name + " wait for its copies too"
	case machine.MbarAsyncArrive:
		text = "arrives at " + name + ", its copies being complete"
		if ev.Op != nil && ev.Op.Tracks == machine.GroupTensor {
			text = "arrives at " + name + ", what it tracks being complete"
		}
	}
	switch {
	case b.Fault != mbarrier.NoFault:
		text += ", which faults"
	case !b.Live && b.Op != machine.MbarInit:
		text += ", which is no live barrier"
	case b.Completed:
		text += fmt.Sprintf(", which completes phase %d", b.Phase)
	}
	t.say(1, true, "%s", text)
}

func arrivals(n uint32) string {
	if n == 1 {
		return "1 arrival"
	}
	return fmt.Sprintf("%d arrivals", n)
}

// wait tells a test of a barrier.
func (t *Teller) wait(ev *machine.Event) {
	b := &ev.Mbar
	t.use(barrier{mem: b.Bar.Mem, addr: b.Bar.Addr})
	name := t.mbarName(b.Bar.Mem, b.Bar.Addr, ev.CTA)
	if b.OK {
		t.say(ev.Mask, false, "finds phase %d of %s complete%s, and goes on", b.Phase, name, iff(b.Phase < 0, " (it is fresh)", ""))
		return
	}
	t.say(ev.Mask, false, "finds phase %d of %s incomplete", b.Phase, name)
}

// milestone tells what an asynchronous operation does.
func (t *Teller) milestone(ev *machine.Event) {
	op := ev.Op
	switch ev.Kind {
	case machine.EvIssue:
		t.issue(op)
	case machine.EvSource:
		if len(op.Reads) == 0 {
			t.say(1, false, "has its source")
			return
		}
		t.say(1, false, "reads its source, %s", t.spans(op.Reads, op.CTA))
	case machine.EvWritten:
		if len(op.Writes) == 0 {
			t.say(1, false, "has its result")
			return
		}
		t.say(1, false, "writes %s", t.spans(op.Writes, op.CTA))
	case machine.EvSignal:
		if len(op.Bars) == 0 {
			t.say(1, false, "is complete")
		}
	}
}

// An issue is operations alike that a step issues.
type issue struct {
	word          string
	kind          machine.OpKind
	first, last   int64
	cta           int32
	reads, writes []machine.Span
	bars          []machine.BarRef
}

// issue records an operation that the step issues; those of its lanes together.
func (t *Teller) issue(op *machine.Op) {
	for _, b := range op.Bars {
		t.use(barrier{mem: b.Mem, addr: b.Addr})
	}
	if n := len(t.issues); n > 0 {
		if u := &t.issues[n-1]; u.kind == op.Kind && u.last+1 == op.ID && slices.Equal(u.bars, op.Bars) {
			u.last = op.ID
			u.reads, u.writes = append(u.reads, op.Reads...), append(u.writes, op.Writes...)
			return
		}
	}
	t.issues = append(t.issues, issue{word: opWord(op), kind: op.Kind, first: op.ID, last: op.ID, cta: op.CTA,
		reads: slices.Clone(op.Reads), writes: slices.Clone(op.Writes), bars: slices.Clone(op.Bars)})
}

func (t *Teller) issued(u *issue) string {
	text := fmt.Sprintf("issues %s %d", u.word, u.first)
	if u.last > u.first {
		text += fmt.Sprintf(" to %d", u.last)
	}
	if len(u.writes) > 0 && u.kind != machine.OpWgmma {
		text += ", " + t.spans(u.writes, u.cta)
	}
	if len(u.reads) > 0 {
		text += " from " + t.ranges(u.reads, u.cta)
	}
	for i, b := range u.bars {
		if i == 2 {
			return text + " and others"
		}
		text += iff(i == 0, ", to be reported to ", " and ") + t.mbarName(b.Mem, b.Addr, u.cta)
	}
	return text
}

// spans names ranges with their number of bytes.
func (t *Teller) spans(list []machine.Span, cta int32) string {
	n := uint64(0)
	for _, s := range list {
		n += s.Len
	}
	return diag.Bytes(n) + " of " + t.ranges(list, cta)
}

// ranges names the first few ranges, adjacent ones as one.
func (t *Teller) ranges(list []machine.Span, cta int32) string {
	var parts []string
	for i := 0; i < len(list); {
		s := list[i]
		last := block(list[i:])
		if i += last; last == 1 {
			for ; i < len(list) && list[i].Mem == s.Mem && list[i].Addr == s.Addr+s.Len; i++ {
				s.Len += list[i].Len
			}
		}
		if len(parts) == 2 {
			parts = append(parts, "…")
			break
		}
		if last > 1 {
			parts = append(parts, t.lanes(s, last, cta))
			continue
		}
		parts = append(parts, t.bytes(s, cta))
	}
	return strings.Join(parts, ", ")
}
