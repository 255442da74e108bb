package rules

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"muster/internal/machine"
	"muster/ptx"
)

// A deadlock gets the name of its cause. Each wait is examined separately: for
// bytes that no copy will bring, a count greater than all arrivals, generations
// that do not match. The rest, a cycle of waits or a missing arrival, is
// never-completes.

// A stuck is a run in which every split waits.
type stuck struct {
	j    *Judge
	m    *machine.Machine
	all  []machine.WaitingSplit
	ran  map[int32]bool // arrive and copy instructions that some barrier saw
	told bool           // the cause has a name
	// reached is what Program.Reach gave for splits without calls, by place.
	reached map[int32][]bool
}

// IsHang reports whether a finding's kind can be the cause of a hang.
func IsHang(f *Finding) bool {
	return slices.ContainsFunc(deadlockKinds, func(k **Kind) bool { return (*k).Name == f.Kind })
}

// deadlockKinds are the kinds that can be why a run hangs.
var deadlockKinds = []**Kind{&neverCompletes, &livelock, &bytesMissing, &bytesEarly, &arrivalsMissing, &arrivalsExcess, &namedBarrierMismatch,
	&divergentBarrier, &clusterBarrierMismatch, &registerBudget, &useBeforeInit, &useAfterInval, &reinitWithoutInval,
	&staleToken, &rangeKind, &noCompleteCompletes, &outsideMask}

func mayHang(kind string) bool {
	return slices.ContainsFunc(deadlockKinds, func(k **Kind) bool { return (*k).Name == kind })
}

func (j *Judge) deadlock(m *machine.Machine) {
	d := &stuck{j: j, m: m, all: m.Waiting(), ran: map[int32]bool{}}
	circle := m.Stopped().Circle
	for i := range d.all {
		if v := &d.all[i]; circle != nil && v.Kind == machine.WaitNothing {
			v.Tests = nil // it runs
		}
	}
	j.dropApart(d.all, m.Stopped())
	for _, l := range j.watch.words {
		for _, list := range [][]Site{l.arrives, l.copies} {
			for i := range list {
				d.ran[list[i].PC] = true
			}
		}
		d.told = d.told || l.excess != nil || l.early != nil
	}
	for _, c := range j.watch.ctas {
		for i := 0; c != nil && i < len(c.named); i++ {
			d.told = d.told || c.named[i].bad != "" || c.named[i].lapped != ""
		}
	}
	for i := range j.findings {
		d.told = d.told || j.findings[i].Severity == Error && mayHang(j.findings[i].Kind)
	}
	d.phases()
	d.generations()
	d.splits()
	if !d.told {
		d.clusters()
	}
	if n := m.NotStarted(); !d.told && n > 0 && slices.ContainsFunc(d.all, polls) {
		// Whether the waiting CTAs leave room for the others depends on the
		// device; the number resident here is the machine's limit.
		j.gaps = append(j.gaps, Gap{What: fmt.Sprintf("CTAs that run wait on global memory while %d CTAs have not started: residency is not modelled", n), PC: d.firstPoll()})
	} else if !d.told && circle != nil {
		j.add(livelock, d.roundAndRound(circle))
	} else if !d.told {
		j.add(neverCompletes, d.never())
	}
	j.watch.waiting = d.waiters()
}

// polls reports whether a split waits for a change of global memory.
func polls(v machine.WaitingSplit) bool {
	return v.Kind == machine.WaitMemory && v.Mem == machine.Global ||
		slices.ContainsFunc(v.Looks, func(k machine.Look) bool { return k.Size > 0 && k.Mem == machine.Global })
}

func (d *stuck) firstPoll() int32 { return d.all[slices.IndexFunc(d.all, polls)].PC }

// phases examines every phase that a split waits for.
func (d *stuck) phases() {
	seen := map[word]bool{}
	for i := range d.all {
		v := &d.all[i]
		for _, t := range v.Tests {
			l := d.j.ledgerOf(t.Bar)
			site := Site{Role: "waits", PC: v.PC, CTA: v.CTA, Warp: v.Warp, Lanes: t.Lanes, Mem: t.Bar.Mem, Addr: t.Bar.Addr, Len: 8}
			if l == nil || !t.Live {
				d.j.notLive(l, &machine.Event{PC: v.PC}, site)
				d.told = true
				continue
			}
			if !t.Parity {
				if o := l.origin(t.Token, v.CTA, v.Warp, t.Lanes); !o.set || o.phase < l.open.n-1 {
					d.j.stale(l, o, site, l.open.n)
					d.told = true
				}
			}
			if at := (word{t.Bar.Mem, t.Bar.Addr}); !seen[at] {
				seen[at] = true
				d.phase(l)
			}
		}
	}
}

// phase reports what a barrier's open phase lacks, if the barrier's state alone shows it.
func (d *stuck) phase(l *ledger) {
	w := l.word
	switch {
	case w.Pending() == 0 && w.Tx() < 0:
		d.told = true
		d.j.settle(l, ended)
	case w.Pending() == 0 && w.Tx() > 0:
		if !d.copiesToCome(l) {
			d.told = true
			d.j.add(bytesMissing, l.tooFew())
		}
	case l.excess != nil || l.early != nil:
	case slices.ContainsFunc(d.all, spins): // it might arrive after its loop
	case (len(l.open.who) > 0 || l.paired) && len(d.owing(l)) == 0:
		d.told = true
		d.j.add(arrivalsMissing, l.arrivalsLacking())
	}
}

// A debtor is a set of lanes that should arrive at a barrier, and their place.
type debtor struct {
	lanes
	left bool // they have exited
	pc   int32
}

// owing returns the threads that are expected to arrive at the open phase and
// have not: those that arrived in other phases, those that arrive at other
// barriers of the CTA together with threads that arrived here, and those that can
// still reach an arrive on it.
func (d *stuck) owing(l *ledger) []debtor {
	var due []lanes
	need := func(list []lanes) {
		for _, e := range list {
			if a := find(l.open.who, e.cta, e.warp); a != nil {
				e.mask &^= a.mask
			}
			if e.mask != 0 {
				due = join(due, e)
			}
		}
	}
	need(l.usual)
	for _, at := range sortedWords(d.j.watch.words) {
		if o := d.j.watch.words[at]; o != l && at.mem == l.bar.Mem && sharesArrive(o, l) && meets(o.usual, l.open.who) {
			need(o.usual)
		}
	}
	for i := range d.all {
		if v := &d.all[i]; d.mayArrive(v, l) {
			due = join(due, lanes{cta: v.CTA, warp: v.Warp, mask: v.Mask})
		}
	}
	var out []debtor
	for _, e := range due {
		out = append(out, d.whereabouts(e)...)
	}
	return out
}

func sharesArrive(a, b *ledger) bool {
	for i := range a.arrives {
		for k := range b.arrives {
			if a.arrives[i].PC == b.arrives[k].PC {
				return true
			}
		}
	}
	return false
}

func meets(a, b []lanes) bool {
	for _, e := range a {
		if o := find(b, e.cta, e.warp); o != nil && o.mask&e.mask != 0 {
			return true
		}
	}
	return false
}

// mayArrive reports whether a split can still reach an arrive on the barrier.
// Lanes in one split with a lane that has arrived are past it.
func (d *stuck) mayArrive(v *machine.WaitingSplit, l *ledger) bool {
	if !d.j.oneCluster(v.CTA, l.bar.Mem.CTA()) {
		return false
	}
	if a := find(l.open.who, v.CTA, v.Warp); a != nil && a.mask&v.Mask != 0 {
		return false
	}
	here := d.waitsFor(v, l)
	own := v.CTA == l.bar.Mem.CTA()
	reach := d.reach(v)
	for _, s := range l.arrives {
		if reach[s.PC] && (own || d.j.Program.MbarMayBeRemote(s.PC)) {
			return true
		}
	}
	for pc, ok := range reach {
		op, is := d.j.Program.MbarOpAt(int32(pc))
		if ok && is && !here && arriving(op) && !d.ran[int32(pc)] && (own || d.j.Program.MbarMayBeRemote(int32(pc))) {
			return true
		}
	}
	return false
}

func arriving(op machine.MbarOp) bool {
	switch op {
	case machine.MbarArrive, machine.MbarArriveDrop, machine.MbarArriveExpectTx, machine.MbarArriveDropExpectTx, machine.MbarIncrement:
		return true
	}
	return false
}

// waitsFor reports whether a split waits at the barrier.
func (d *stuck) waitsFor(v *machine.WaitingSplit, l *ledger) bool {
	return slices.ContainsFunc(v.Tests, func(t machine.MbarTestState) bool { return t.Bar == l.bar })
}

// reach marks the instructions that a split can still reach.
func (d *stuck) reach(v *machine.WaitingSplit) []bool {
	if len(v.Returns) > 0 {
		return d.j.Program.Reach(append([]int32{v.PC}, v.Returns...)...)
	}
	r := d.reached[v.PC]
	if r == nil {
		if d.reached == nil {
			d.reached = map[int32][]bool{}
		}
		r = d.j.Program.Reach(v.PC)
		d.reached[v.PC] = r
	}
	return r
}

// copiesToCome reports whether a thread waits elsewhere before the copies that would
// bring the bytes: the one that expects them, or one that brought bytes in earlier phases.
func (d *stuck) copiesToCome(l *ledger) bool {
	for _, e := range l.brings {
		if o := find(l.open.brought, e.cta, e.warp); o != nil {
			e.mask &^= o.mask
		}
		for i := range d.all {
			v := &d.all[i]
			if v.CTA != e.cta || v.Warp != e.warp || v.Mask&e.mask == 0 || d.waitsFor(v, l) {
				continue
			}
			reach := d.reach(v)
			if slices.ContainsFunc(l.copies, func(s Site) bool { return reach[s.PC] }) {
				return true
			}
		}
	}
	if l.open.landed != 0 {
		return false
	}
	for i := range d.all {
		v := &d.all[i]
		if v.CTA != l.open.by.CTA || v.Warp != l.open.by.Warp || d.waitsFor(v, l) {
			continue
		}
		for pc, ok := range d.reach(v) {
			if in := d.j.Program.Inst(int32(pc)); ok && in != nil && slices.Contains(in.Mods, "mbarrier::complete_tx::bytes") {
				if !d.ran[int32(pc)] || slices.ContainsFunc(l.copies, func(s Site) bool { return s.PC == int32(pc) }) {
					return true
				}
			}
		}
	}
	return false
}

// whereabouts returns the places of lanes.
func (d *stuck) whereabouts(e lanes) []debtor {
	var out []debtor
	for i := range d.all {
		v := &d.all[i]
		if v.CTA == e.cta && v.Warp == e.warp && v.Mask&e.mask != 0 {
			part := e
			part.mask &= v.Mask
			out = append(out, debtor{lanes: part, pc: v.PC})
		}
	}
	for _, x := range d.j.warp(e.cta, e.warp).exits {
		if x.mask&e.mask != 0 {
			part := e
			part.mask &= x.mask
			out = append(out, debtor{lanes: part, left: true, pc: x.pc})
		}
	}
	return out
}

// generations examines the named barriers at which warps wait.
func (d *stuck) generations() {
	for i := range d.all {
		v := &d.all[i]
		if v.Kind != machine.WaitNamed {
			continue
		}
		b := &d.j.cta(v.CTA).named[v.Bar]
		if b.bad == "" && uint32(len(b.usual))*32 > v.Count && !d.moreCome(v.CTA, b) {
			b.wrong(fmt.Sprintf("generation %d has %d of %d threads, and the other warps that use it do not come again: more came than it counts", v.Gen, v.Arrived, v.Count))
		}
		d.told = d.told || b.bad != ""
	}
}

// moreCome reports whether a warp that is not in the open generation can still
// reach an instruction of the barrier.
func (d *stuck) moreCome(cta int32, b *namedWatch) bool {
	for i := range d.all {
		v := &d.all[i]
		if v.CTA != cta || find(b.who, v.CTA, v.Warp) != nil {
			continue
		}
		reach := d.reach(v)
		for _, pc := range b.pcs {
			if reach[pc] {
				return true
			}
		}
	}
	return false
}

// splits examines waits within a warp and waits for registers.
func (d *stuck) splits() {
	for i := range d.all {
		v := &d.all[i]
		switch v.Kind {
		case machine.WaitRegisters:
			d.told = true
			d.keptRegisters(v.CTA)
			d.j.add(registerBudget, d.noRegisters(v))
		case machine.WaitWarp:
			if sites := d.apart(v); len(sites) > 1 && !d.j.warp(v.CTA, v.Warp).diverged {
				d.told, d.j.warp(v.CTA, v.Warp).diverged = true, true
				d.j.add(divergentBarrier, Finding{
					Headline: fmt.Sprintf("lanes of warp %d of CTA %d wait for each other at different instructions", v.Warp, v.CTA),
					Sites:    sites,
					Missing:  "the lanes that an instruction names, or all of the warp, must come to the same one",
					Fix:      "let all lanes of the member mask execute the instruction, or name only those that do",
				})
			}
		}
	}
}

// apart returns where the lanes of a split's warp stand, if all of them wait
// for one another.
func (d *stuck) apart(v *machine.WaitingSplit) []Site {
	var sites []Site
	for i := range d.all {
		o := &d.all[i]
		if o.CTA != v.CTA || o.Warp != v.Warp {
			continue
		}
		if o.Kind != machine.WaitWarp && o.Kind != machine.WaitNamed {
			return nil
		}
		sites = enter(sites, Site{Role: "reaches", PC: o.PC, CTA: o.CTA, Warp: o.Warp, Lanes: o.Mask})
	}
	return sites
}

// clusters reports a cluster barrier at which threads wait while others of the
// cluster wait at barriers of their CTA.
func (d *stuck) clusters() {
	for i := range d.all {
		v := &d.all[i]
		if v.Kind != machine.WaitCluster {
			continue
		}
		sites := []Site{{Role: "waits", PC: v.PC, CTA: v.CTA, Warp: v.Warp, Lanes: v.Mask}}
		var where []string
		for _, o := range d.m.NotArrived(v.CTA) {
			if o.Kind != machine.WaitNamed && o.Kind != machine.WaitWarp {
				return
			}
			sites = enter(sites, Site{Role: "does not arrive", PC: o.PC, CTA: o.CTA, Warp: o.Warp, Lanes: o.Mask})
			where = append(where, fmt.Sprintf("warp %d of CTA %d", o.Warp, o.CTA))
		}
		if len(where) == 0 {
			return
		}
		d.told = true
		d.j.add(clusterBarrierMismatch, Finding{
			Headline: fmt.Sprintf("warp %d of CTA %d waits at the cluster's barrier, and %s does not arrive at it", v.Warp, v.CTA, few(where)),
			Sites:    sites,
			Missing:  "every thread of the cluster that has not exited must arrive",
			Fix:      "let all threads of all CTAs of the cluster execute the same sequence of barrier.cluster.arrive and barrier.cluster.wait",
		})
		return
	}
}

// reachesFar reports whether a wait is for other agents' work, not only for other
// threads to arrive: if there are both kinds, the former cause the latter.
func reachesFar(v machine.WaitingSplit) bool {
	return v.Kind == machine.WaitMbar || v.Kind == machine.WaitMemory || spins(v) || len(v.Tests) > 0
}

func spins(v machine.WaitingSplit) bool { return v.Kind == machine.WaitSpin }

// never returns the finding never-completes.
func (d *stuck) never() Finding {
	f := Finding{
		Missing: "no split can run, no operation is in flight, and each wait is for something that only a waiting or exited thread could do",
		Fix:     "let whoever is named as owing an arrival come to it: check trip counts, which slot's barrier each role uses, and the order of the waits",
	}
	far := slices.ContainsFunc(d.all, reachesFar)
	for i := range d.all {
		if v := &d.all[i]; !far || reachesFar(*v) {
			f.Sites = enter(f.Sites, waitSite(v))
		}
	}
	lines := map[word]bool{}
	root := ""
	for i := range d.all {
		v := &d.all[i]
		for _, t := range v.Tests {
			l := d.j.ledgerOf(t.Bar)
			at := word{t.Bar.Mem, t.Bar.Addr}
			if l == nil || lines[at] {
				continue
			}
			lines[at] = true
			f.Ledger = append(f.Ledger, l.line())
			owing := d.owing(l)
			gone := slices.ContainsFunc(owing, func(o debtor) bool { return o.left })
			if root == "" && l.word.Pending() > 0 && (gone || len(owing) == 0) {
				root = fmt.Sprintf("phase %d of %s never completes: %d of %d arrivals are missing, and nobody is left to make them", l.open.n, barName(l.bar), l.word.Pending(), l.word.Expected())
				if gone {
					root = fmt.Sprintf("phase %d of %s never completes: %s", l.open.n, barName(l.bar), d.owed(owing))
				}
			}
		}
	}
	f.Ledger = append(f.Ledger, d.columns()...)
	f.Notes = d.passedBy()
	if f.Headline = root; root == "" && !d.spinning(&f) && !d.polling(&f) {
		f.Headline = "threads wait for one another: " + d.cycle()
	}
	return f
}

// columns lists who holds columns of tensor memory that a split waits for, once for each CTA.
func (d *stuck) columns() (lines []string) {
	told := map[int32]bool{}
	for i := range d.all {
		v := &d.all[i]
		if v.Kind != machine.WaitColumns || told[v.CTA] {
			continue
		}
		told[v.CTA] = true
		for _, h := range d.m.Columns(v.CTA) {
			lines = append(lines, fmt.Sprintf("columns %d to %d of tensor memory are those of CTA %d, which warp %d allocated at %s",
				h.First, h.First+h.Count-1, h.CTA, h.Warp, d.j.Program.Line(h.PC)))
		}
	}
	return lines
}

// waitSite returns the place where a split waits, and the memory that it waits on.
func waitSite(v *machine.WaitingSplit) Site {
	s := Site{Role: "waits", PC: v.PC, CTA: v.CTA, Warp: v.Warp, Lanes: v.Mask}
	switch {
	case len(v.Tests) > 0:
		s.Mem, s.Addr, s.Len = v.Tests[0].Bar.Mem, v.Tests[0].Bar.Addr, 8
	case v.Kind == machine.WaitMemory:
		s.Role, s.Mem, s.Addr, s.Len = "polls", v.Mem, v.Addr, uint64(v.Size)
	case spins(*v):
		s.Role = "goes round"
		if len(v.Looks) > 0 {
			k := &v.Looks[0]
			s.Mem, s.Addr, s.Len = k.Mem, k.Addr, uint64(max(k.Size, 8))
			if k.Size > 0 {
				s.Len = uint64(k.Size)
			}
		}
	}
	return s
}

// spinning reports a loop that is never left although no arrival is missing: what
// the other splits wait for may come after it.
func (d *stuck) spinning(f *Finding) bool {
	i := slices.IndexFunc(d.all, spins)
	if i < 0 {
		return false
	}
	v := &d.all[i]
	who := lanesOfWarp(v.Mask, v.Warp, v.CTA)
	f.Headline = fmt.Sprintf("%s goes round at %s for ever: its registers come back to the same values, and %s", who, d.j.Program.Line(v.PC), seen(v.Looks))
	f.Missing = "nothing that the loop does or looks at changes any more, so that its condition is the same each time"
	f.Fix = "give the loop a condition that comes true"
	if k := slices.IndexFunc(v.Looks, func(k machine.Look) bool { return k.Done }); k >= 0 {
		at := d.j.at(v.Looks[k].PC)
		f.Missing = fmt.Sprintf("%s gives true each time, and the loop goes on: it would give false only once phase %d is complete, and nothing completes that", at, v.Looks[k].Open)
		f.Fix = fmt.Sprintf("leave the loop where %s gives true: the branch back belongs on its false (@!p bra)", at)
	}
	return true
}

// seen describes what a loop reads and tests.
func seen(looks []machine.Look) string {
	var parts []string
	for _, k := range looks {
		text := fmt.Sprintf("phase %d of %s is not complete", k.Open, barName(k.Bar))
		switch {
		case k.Size > 0:
			text = fmt.Sprintf("%s is %d", location(k.Mem, k.Addr), k.Val)
		case k.Done && k.Open == 0:
			text = fmt.Sprintf("the phase before the first of %s counts as complete", barName(k.Bar))
		case k.Done:
			text = fmt.Sprintf("phase %d of %s is complete", k.Open-1, barName(k.Bar))
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "it looks at nothing that others could change"
	}
	return "what it looks at stays the same: " + few(parts)
}

// polling reports a loop that waits for a value in memory that is never written.
// Other splits that wait for the polling lanes are a consequence.
func (d *stuck) polling(f *Finding) bool {
	first := slices.IndexFunc(d.all, func(v machine.WaitingSplit) bool { return v.Kind == machine.WaitMemory })
	if first < 0 {
		return false
	}
	v := &d.all[first]
	at := location(v.Mem, v.Addr)
	wanted := "another value"
	if v.Until != "" {
		wanted = v.Until
	}
	f.Headline = fmt.Sprintf("%s polls %s for ever: it is %d, and the loop waits for %s", lanesOfWarp(v.Mask, v.Warp, v.CTA), at, v.Val, wanted)
	f.Missing = fmt.Sprintf("no split can run, and no operation is in flight: nothing writes %s any more", at)
	if w, ok := d.j.Order.LastWrite(v.Mem, v.Addr); ok {
		f.Missing += fmt.Sprintf("; the last to write it was %s, by %s", agent(&w), d.j.instr(&w))
	} else {
		f.Missing += "; nobody wrote it in this launch"
	}
	f.Fix = fmt.Sprintf("wait for a value that the writers of %s really leave there: compare with how many of them there are and what each adds; or let the one that is missing write", at)
	return true
}

func lanesOfWarp(mask uint32, warp, cta int32) string {
	if bits.OnesCount32(mask) == 1 {
		return fmt.Sprintf("lane %d of warp %d of CTA %d", lowestLane(mask), warp, cta)
	}
	return fmt.Sprintf("warp %d of CTA %d", warp, cta)
}

// location names an address for a report.
func location(mem machine.MemID, addr uint64) string {
	if mem == machine.Global {
		return fmt.Sprintf("global+%#x of global memory", addr)
	}
	return where(mem, addr)
}

// waiters lists the waiting splits and what each waits for.
func (d *stuck) waiters() []Waiter {
	var out []Waiter
	for i := range d.all {
		v := &d.all[i]
		if v.Kind == machine.WaitNothing && len(v.Tests) == 0 {
			continue
		}
		w := Waiter{Site: Site{Role: "waits", PC: v.PC, CTA: v.CTA, Warp: v.Warp, Lanes: v.Mask}, For: d.what(v)}
		for _, t := range v.Tests {
			if l := d.j.ledgerOf(t.Bar); l != nil && l.live && l.word.Pending() > 0 {
				w.Owed = d.owed(d.owing(l))
			}
		}
		if v.Kind == machine.WaitNamed {
			w.Owed = d.absent(v)
		}
		out = append(out, w)
	}
	return out
}

// what describes what a split waits for.
func (d *stuck) what(v *machine.WaitingSplit) string {
	switch v.Kind {
	case machine.WaitMbar:
		var parts []string
		for _, t := range v.Tests {
			text := fmt.Sprintf("phase %d (parity %d) of %s: pending %d of %d, tx %d", t.Phase, t.Phase&1, barName(t.Bar), t.Word.Pending(), t.Word.Expected(), t.Word.Tx())
			if !t.Live {
				text = barName(t.Bar) + ", which is not live"
			}
			parts = append(parts, text)
		}
		return few(parts)
	case machine.WaitMemory:
		at := location(v.Mem, v.Addr)
		if v.Until == "" {
			return fmt.Sprintf("another value at %s, which is %d", at, v.Val)
		}
		return fmt.Sprintf("%s at %s, which is %d", v.Until, at, v.Val)
	case machine.WaitSpin:
		return "a way out of its loop: " + seen(v.Looks)
	case machine.WaitNamed:
		return fmt.Sprintf("named barrier %d, generation %d: %d of %d threads have come", v.Bar, v.Gen, v.Arrived, v.Count)
	case machine.WaitWarp:
		return "the other lanes of its warp"
	case machine.WaitCluster:
		return "the cluster's barrier"
	case machine.WaitRegisters:
		return fmt.Sprintf("%d registers, of which the CTA's pool has %d", v.Need, v.Free)
	case machine.WaitGroup:
		if in := d.j.Program.Inst(v.PC); in != nil && in.Effect().Has(ptx.Warpgroup) {
			return "the other warps of its warpgroup, to issue the same wgmma"
		}
		return "its own asynchronous operations"
	case machine.WaitColumns:
		return fmt.Sprintf("%d columns of tensor memory, of which %d are free", v.Need, v.Free)
	case machine.WaitPair:
		return "the other CTA of its pair, to execute the same instruction with it"
	}
	return "nothing: a bounded wait has run out"
}

// cycle describes in short what each split waits for.
func (d *stuck) cycle() string {
	var parts []string
	said := map[string]bool{}
	for i := range d.all {
		v := &d.all[i]
		what := d.what(v)
		if v.Kind == machine.WaitMbar && len(v.Tests) == 1 {
			what = fmt.Sprintf("phase %d of %s", v.Tests[0].Phase, barName(v.Tests[0].Bar))
		}
		if said[what] || v.Kind == machine.WaitWarp {
			continue
		}
		said[what] = true
		parts = append(parts, fmt.Sprintf("warp %d of CTA %d at %s for %s", v.Warp, v.CTA, d.j.Program.Line(v.PC), what))
	}
	return few(parts)
}

// passedBy reports waits whose phase was completed and overtaken: the thread's
// last successful wait at the barrier was for a much earlier phase.
func (d *stuck) passedBy() []string {
	var notes []string
	for i := range d.all {
		v := &d.all[i]
		for _, t := range v.Tests {
			l := d.j.ledgerOf(t.Bar)
			if l == nil || !t.Parity {
				continue
			}
			last := int64(-1)
			if w := find(l.waited, v.CTA, v.Warp); w != nil {
				last = w.last
			}
			if t.Phase-last > 1 {
				notes = append(notes, fmt.Sprintf("warp %d of CTA %d waits for parity %d at %s, which is phase %d now; the last phase that it saw complete there is %d, so phase %d came and went unseen: its parity or its pace is wrong",
					v.Warp, v.CTA, t.Phase&1, barName(t.Bar), t.Phase, last, last+1))
			}
		}
	}
	if len(notes) > 4 {
		notes = notes[:4]
	}
	return notes
}

// owed names debtors and their places, those at one place together.
func (d *stuck) owed(list []debtor) string {
	type spot struct {
		left bool
		pc   int32
		cta  int32
		mask uint32
	}
	var spots []spot
	warps := map[spot][]string{}
	for _, o := range list {
		s := spot{o.left, o.pc, o.cta, o.mask}
		if warps[s] == nil {
			spots = append(spots, s)
		}
		warps[s] = append(warps[s], fmt.Sprint(o.warp))
	}
	var parts []string
	for _, s := range spots {
		does := "waits"
		who, plural := "warp ", ""
		if len(warps[s]) > 1 {
			who, plural, does = "warps ", "each ", "wait"
		}
		if s.left {
			does = "exited"
		}
		if bits.OnesCount32(s.mask) == 1 {
			who = fmt.Sprintf("lane %d of %s", lowestLane(s.mask), who)
		}
		parts = append(parts, fmt.Sprintf("%s%s of CTA %d should %sarrive and %s at %s", who, strings.Join(warps[s], ", "), s.cta, plural, does, d.j.Program.Line(s.pc)))
	}
	return few(parts)
}

// absent names the warps that use a named barrier and are not in the open
// generation.
func (d *stuck) absent(v *machine.WaitingSplit) string {
	b := &d.j.cta(v.CTA).named[v.Bar]
	var list []debtor
	for _, e := range b.usual {
		if find(b.who, e.cta, e.warp) == nil {
			list = append(list, d.whereabouts(e)...)
		}
	}
	if len(list) == 0 && v.Count == d.j.whole() {
		for w := range int32(d.j.Warps) {
			if find(b.who, v.CTA, w) == nil {
				list = append(list, d.whereabouts(lanes{cta: v.CTA, warp: w, mask: ^uint32(0)})...)
			}
		}
	}
	return d.owed(list)
}

// few joins the first few texts.
func few(parts []string) string {
	const most = 4
	if n := len(parts); n > most {
		return strings.Join(parts[:most], "; ") + fmt.Sprintf("; and %d more", n-most)
	}
	return strings.Join(parts, "; ")
}
