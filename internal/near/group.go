package near

import (
	"fmt"
	"math/bits"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/internal/rules"
	"muster/ptx"
)

// groups follows the operations of the instruction First that its thread has not waited for.
type groups struct {
	open    []pending
	commits int
	// least is how many groups may stay open where the finding's threads touch what the
	// operations use: the least of all those places in the run; -1 if there was none.
	least int
}

// A pending is an operation that its thread has not waited for.
type pending struct {
	id    int64
	seq   uint32
	group int // which commit made it part of a group; 0: none yet
	spans []machine.Span
}

// mostOpen bounds the operations that are followed.
const mostOpen = 256

func (g *groups) issue(op *machine.Op) {
	if len(g.open) < mostOpen {
		spans := append(append([]machine.Span(nil), op.Reads...), op.Writes...)
		g.open = append(g.open, pending{id: op.ID, seq: op.Seq, spans: spans})
	}
}

// touch notes how many groups may be open where an event uses what operations use.
func (g *groups) touch(ev *machine.Event) {
	for i := range g.open {
		p := &g.open[i]
		if !p.used(ev) {
			continue
		}
		n := 0
		if p.group > 0 {
			n = g.commits - p.group
		}
		if g.least < 0 || n < g.least {
			g.least = n
		}
	}
}

func (p *pending) used(ev *machine.Event) bool {
	if ev.Kind == machine.EvRegister {
		return ev.Touch != nil && ev.Touch.By == p.id
	}
	for _, s := range p.spans {
		switch ev.Kind {
		case machine.EvAccess:
			if overlaps(ev, s.Mem, s.Addr, s.Len) {
				return true
			}
		case machine.EvIssue:
			for _, o := range append(append([]machine.Span(nil), ev.Op.Reads...), ev.Op.Writes...) {
				if ev.Op.ID != p.id && o.Mem == s.Mem && o.Addr < s.Addr+s.Len && s.Addr < o.Addr+o.Len {
					return true
				}
			}
		}
	}
	return false
}

// grouped follows a commit or a wait.
func (w *watch) grouped(a *act) {
	for i := range w.sought {
		s := &w.sought[i]
		if s.need.Lack != rules.LacksGroupWait || a.group != s.need.Group || !a.by(&s.need.First) {
			continue
		}
		g := &s.open
		if a.kind == machine.EvCommit {
			g.commits++
			for k := range g.open {
				if g.open[k].group == 0 {
					g.open[k].group = g.commits
				}
			}
			continue
		}
		keep := g.open[:0]
		for _, p := range g.open {
			if !s.covers(a, p.seq) {
				keep = append(keep, p)
			}
		}
		g.open = keep
	}
}

// covers reports whether a wait shows what the finding needs of an operation of First's thread.
func (s *sought) covers(a *act, seq uint32) bool {
	lane := bits.TrailingZeros32(s.need.First.Lanes) & 31
	return a.done[lane] >= seq && !(s.need.All && a.read)
}

// groupWait says what stands near a wait for an async-group that is missing.
func (w *watch) groupWait(s *sought) string {
	n := s.need
	isWait := func(a *act) bool { return a.kind == machine.EvGroupWait && a.group == n.Group }
	own := func(a *act) bool { return isWait(a) && a.by(&n.First) }
	good := func(a *act) bool { return own(a) && s.covers(a, s.seq) }
	end := len(w.log)
	idle, later := w.last(s.first, s.then, own), w.next(s.then, end, good)
	if !sameThreads(n) {
		if i := w.next(s.first, s.then, good); i >= 0 {
			return w.pathless(s, i)
		}
		// Where not even the issue is known, the number of groups is not what is wrong.
		if idle >= 0 && n.Known && w.next(idle, s.then, func(a *act) bool { return a.by(&n.First) && a.releases() }) >= 0 {
			return w.idle(s, idle)
		}
		if text := w.elsewhere(s, isWait); text != "" {
			return text
		}
		if later >= 0 && n.Known {
			return w.pathless(s, later)
		}
		return ""
	}
	switch {
	case later >= 0 && w.movable(s, later):
		return w.late(s, later)
	case idle >= 0:
		return w.idle(s, idle)
	}
	if text := w.elsewhere(s, isWait); text != "" {
		return text
	}
	if later >= 0 {
		return w.late(s, later)
	}
	if i := w.last(0, s.first, own); i >= 0 && !w.reaches(n.First.PC, w.log[i].pc) {
		return fmt.Sprintf("%s stands before %s in that thread, and waits for nothing that is issued after it", w.at(w.log[i].pc), w.at(n.First.PC))
	}
	return ""
}

// reaches reports whether control may come from behind one instruction to another.
func (w *watch) reaches(from, to int32) bool { return w.prog.Reach(from + 1)[to] }

// late says that the wait comes behind the second place, in its thread, and whether it would do
// before it.
func (w *watch) late(s *sought, i int) string {
	n := s.need
	text := fmt.Sprintf("%s covers it, but %s executes it only after %s", w.at(w.log[i].pc), rules.Who(n.First.CTA, n.First.Warp, n.First.Lanes), w.at(n.Then.PC))
	if n.Apart == order.OneThread && w.movable(s, i) {
		text += ": moved before that, it covers it in time"
	}
	return text
}

// movable reports whether a wait that comes after the second place would cover the operation
// before it, too: nothing of its group is issued or committed between.
func (w *watch) movable(s *sought, i int) bool {
	n := s.need
	changes := func(a *act) bool {
		return (a.kind == machine.EvIssue || a.kind == machine.EvCommit) && a.group == n.Group && a.by(&n.First)
	}
	commits := func(a *act) bool { return a.kind == machine.EvCommit && changes(a) }
	_, _, all, _, _ := w.prog.GroupWaitAt(w.log[i].pc)
	return w.next(s.then, i, changes) < 0 && (all || w.next(s.first, s.then, commits) >= 0)
}

// pathless says of a wait that covers the operation why the second place does not know of it.
func (w *watch) pathless(s *sought, i int) string {
	n := s.need
	a := &w.log[i]
	if !n.Known {
		return fmt.Sprintf("%s covers it, in the %s that issued it; what is missing is the way from there to %s", w.at(a.pc), issuer(n.Group), w.at(n.Then.PC))
	}
	text := fmt.Sprintf("%s covers it, but comes only after the synchronization that leads from %s to %s", w.at(a.pc), w.at(n.First.PC), w.at(n.Then.PC))
	if by := w.places(s.first, i, func(a *act) bool { return a.by(&n.First) && a.releases() }); len(by) == 1 {
		text += fmt.Sprintf(", %s", w.at(by[0]))
	}
	return text
}

func issuer(g machine.Group) string {
	if g == machine.GroupWgmma {
		return "warp"
	}
	return "thread"
}

// releases reports whether others may learn by an act of what came before it.
func (a *act) releases() bool {
	switch a.kind {
	case machine.EvBarArrive, machine.EvClusterArrive, machine.EvWarpSync:
		return true
	case machine.EvMbar:
		return arrives(a.op)
	case machine.EvAccess:
		return a.sem == machine.Release || a.sem == machine.AcqRel
	}
	return false
}

func arrives(op machine.MbarOp) bool {
	switch op {
	case machine.MbarArrive, machine.MbarArriveDrop, machine.MbarArriveExpectTx, machine.MbarArriveDropExpectTx:
		return true
	}
	return false
}

// idle says why a wait by the right thread, behind the operation, does not cover it.
func (w *watch) idle(s *sought, i int) string {
	n := s.need
	a := &w.log[i]
	_, leaves, all, _, _ := w.prog.GroupWaitAt(a.pc)
	if n.All && a.read || all {
		return "" // a note says so
	}
	commits := func(a *act) bool { return a.kind == machine.EvCommit && a.group == n.Group && a.by(&n.First) }
	own := w.next(s.first, i, commits)
	if own < 0 {
		text := fmt.Sprintf("%s comes behind %s, but before a commit_group makes that part of a group", w.at(a.pc), w.at(n.First.PC))
		if k := w.next(i, len(w.log), commits); k >= 0 {
			text += fmt.Sprintf(": the one at %s comes later", w.prog.Line(w.log[k].pc))
		}
		return text
	}
	behind := 0
	for k := own + 1; k < i; k++ {
		if commits(&w.log[k]) {
			behind++
		}
	}
	which := fmt.Sprintf("and that of %s is one of them", w.at(n.First.PC))
	if leaves == 1 {
		which = "which is that of " + w.at(n.First.PC)
	}
	most := fmt.Sprintf("no more than %d", behind)
	if behind == 0 {
		most = "none"
	}
	return fmt.Sprintf("%s comes behind %s, but leaves the latest %s open, %s: %s may stay open there", w.waitAt(a.pc), w.at(n.First.PC), plural(leaves, "group"), which, most)
}

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// leaves is how many groups a wait leaves open.
func (w *watch) leaves(pc int32) int {
	_, n, _, _, _ := w.prog.GroupWaitAt(pc)
	return n
}

// waitAt names a wait with its number of groups.
func (w *watch) waitAt(pc int32) string {
	g, n, all, read, _ := w.prog.GroupWaitAt(pc)
	if all {
		return fmt.Sprintf("%s at %s", machine.Name(w.prog.Inst(pc)), w.prog.Line(pc))
	}
	return fmt.Sprintf("%s %d at %s", rules.GroupWait(g, !read), n, w.prog.Line(pc))
}

// elsewhere says that a wait of the kind stands between the two places and others execute it,
// and which branch leads the right thread around it.
func (w *watch) elsewhere(s *sought, isWait func(*act) bool) string {
	n := s.need
	other := w.last(s.first, s.then, func(a *act) bool { return isWait(a) && !a.by(&n.First) && a.cta == n.First.CTA })
	pc := int32(-1)
	if other >= 0 {
		pc = w.log[other].pc
	}
	for p := range int32(w.prog.Len()) {
		if g, _, _, _, ok := w.prog.GroupWaitAt(p); pc < 0 && ok && g == n.Group && w.reaches(n.First.PC, p) && w.reaches(p, n.Then.PC) {
			pc = p
		}
	}
	if pc < 0 || w.next(s.first, len(w.log), func(a *act) bool { return a.pc == pc && isWait(a) && a.by(&n.First) }) >= 0 {
		return ""
	}
	around := w.around(n.First.PC, pc, n.Then.PC)
	who := rules.Who(n.First.CTA, n.First.Warp, n.First.Lanes)
	text := w.waitAt(pc) + " stands between, but "
	switch {
	case other >= 0:
		a := &w.log[other]
		text += fmt.Sprintf("%s executes it", rules.Who(a.cta, a.warp, a.mask))
		if w.next(0, other, func(b *act) bool {
			return b.kind == machine.EvIssue && b.group == n.Group && b.cta == a.cta && b.warp == a.warp && b.mask&a.mask != 0
		}) < 0 {
			text += ", which has issued nothing that it waits for,"
		}
		text += fmt.Sprintf(" and %s does not", who)
		if around != "" {
			text += ": " + around
		}
	case around != "":
		text += fmt.Sprintf("%s does not execute it: %s", who, around)
	default:
		return ""
	}
	if k := s.open.least; k > 0 && w.leaves(pc) > 0 && sameThreads(n) && !w.commitsBetween(n, pc) {
		text += fmt.Sprintf("; as many as %s may stay open there", plural2(k, "group"))
	}
	return text
}

// commitsBetween reports whether a group may be committed between an instruction and the second
// place.
func (w *watch) commitsBetween(n *rules.Need, pc int32) bool {
	first := w.prog.Inst(n.First.PC)
	behind := w.prog.ReachWithout(func(in *ptx.Inst) bool { return in == first }, pc+1)
	for _, c := range w.places(0, len(w.log), func(a *act) bool { return a.kind == machine.EvCommit && a.group == n.Group }) {
		if behind[c] && w.prog.ReachWithout(func(in *ptx.Inst) bool { return in == first }, c+1)[n.Then.PC] {
			return true
		}
	}
	return false
}

func plural2(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return plural(n, what)
}

// around says what decides that a way from one instruction to another does not go through by.
func (w *watch) around(from, by, to int32) string {
	if in := w.prog.Inst(by); in != nil && in.Guard != nil {
		return "its guard does not hold there"
	}
	switch list := w.prog.Deciders(from, by, to); len(list) {
	case 1:
		return fmt.Sprintf("the branch at %s leads around it", w.prog.Line(list[0]))
	}
	return ""
}

// at names an instruction and its line; waits and commits by their whole names.
func (w *watch) at(pc int32) string {
	if _, _, _, _, ok := w.prog.GroupWaitAt(pc); ok {
		return w.waitAt(pc)
	}
	return rules.At(w.prog, pc)
}
