package muster

import (
	"fmt"
	"slices"

	"muster/internal/executions"
	"muster/internal/progress"
	"muster/internal/prove"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/ptx"
	"muster/report"
)

// The last block, as the CUDA Programming Guide has it in its section on memory fence functions
// (sum, with a volatile result). Each CTA writes its part, executes a
// fence, and draws a ticket; the one with the last ticket reads all parts by volatile loads. No
// fence stands behind the ticket, so that it begins no acquire pattern (ISA 8.8), and by the letter
// the loads may return what was there before (8.9.5, 8.10). On cards they do not: a thread goes on
// when its ticket is back, and a volatile load asks the level-2 cache.
//
// Where a fence behind each ticket is all that the launch lacks for a proof, and what lacks it are
// volatile loads alone, this is a warning: stale-value, contested.

// contestedText is what a finding says of it.
const contestedText = "contested: the atomic operation at %s has no fence behind it, and so begins no acquire pattern (ISA 8.8): by the letter the load may return what was overwritten (8.10). " +
	"The sum in the CUDA Programming Guide's section on memory fence functions is written so, on cards the ticket is back before the load is issued, and we know of no failure on one"

// An unfenced is a launch that lacks a fence behind its tickets, and nothing else.
type unfenced struct {
	tickets []int32
	loads   []int32 // that may return what was overwritten
	ticket  string  // where the first is drawn
	proof   prove.Proof
}

// lastBlock decides every schedule, if a fence behind each ticket is all that the launch lacks. An
// execution shows what the letter allows without.
func (c *checking) lastBlock() bool {
	if c.o.Mode != EverySchedule {
		return false
	}
	w := c.subject.Budget(c.subject.Within(c.ctx, 2))
	u := c.unfenced(w, c.unsettled)
	if u == nil {
		return false
	}
	f, ok := executions.Overtaken(w, c.subject, u.tickets, u.loads)
	if !ok || !c.contest(u, &f.Finding) {
		return false
	}
	for _, pc := range u.loads {
		if cta := f.Sites[len(f.Sites)-1].CTA; !executions.DrawsDecide(c.subject, u.tickets, rules.Site{PC: pc, CTA: cta}) {
			return false
		}
	}
	c.overtaken = &f
	c.proof, c.alike = c.proved(u.proof), trial.Parts{}
	c.contested = true
	c.sums(&u.proof)
	c.joint, c.summed, c.orders = u.proof.Joint, u.proof.Sums, true
	return true
}

// overtakes adds the execution.
func (c *checking) overtakes() error {
	c.Add(c.scheduleOf(c.overtaken.Schedule), &trial.Result{Findings: []rules.Finding{c.overtaken.Finding}})
	return nil
}

// contests makes warnings of stale values, if these are all that is wrong, and nothing is with a
// fence behind each ticket.
func (c *checking) contests() {
	var list []*rules.Finding
	for i := range c.Findings {
		switch f := &c.Findings[i]; {
		case rules.IsStale(f) && f.Severity == rules.Error && c.volatile(f.Sites[len(f.Sites)-1].PC):
			list = append(list, f)
		case f.Severity == rules.Error:
			return
		}
	}
	if len(list) == 0 {
		return
	}
	u := c.cleanFenced(list)
	if c.o.Mode == OnlySchedules && u == nil {
		p, _ := prove.Try(c.subject, c.budget, c.o.Jobs, c.skip)
		u = c.unfenced(c.budget, p.Unsettled)
	}
	if u == nil {
		return
	}
	for _, f := range list {
		c.contested = c.contest(u, f) || c.contested
	}
}

// cleanFenced checks the launch with a fence behind each ticket.
func (c *checking) cleanFenced(list []*rules.Finding) *unfenced {
	tickets := c.relaxedTickets()
	if len(tickets) == 0 || c.fencesTickets() {
		return nil
	}
	fenced, err := c.withFences(tickets)
	if err != nil {
		return nil
	}
	r, err := fenced.Check(progress.Hidden(c.ctx), CheckOptions{Jobs: c.o.Jobs, Explore: ExploreOptions{Schedules: c.o.Explore.Schedules, Steps: c.o.Explore.Steps}})
	if err != nil || r.Verdict != report.Clean {
		return nil
	}
	u := &unfenced{tickets: tickets, ticket: c.subject.Line(tickets[0])}
	for _, f := range list {
		u.loads = append(u.loads, f.Sites[len(f.Sites)-1].PC)
	}
	return u
}

// volatile reports whether an instruction is a load that says .volatile.
func (c *checking) volatile(pc int32) bool {
	in := c.subject.Program.Inst(pc)
	return in != nil && in.Sem() == ptx.Volatile && !in.Effect().Has(ptx.Writes)
}

// fencesTickets reports whether tickets have fences that the launch lacks, or are not looked at.
func (c *checking) fencesTickets() bool {
	return c.fencedTickets || c.handing != nil || len(c.sources) != 1 || c.subject.Highest || len(c.sizes) > 0
}

// unfenced looks for volatile loads of which nothing but a fence behind the tickets would settle
// what they return, and proves the launch with these fences.
func (c *checking) unfenced(w *trial.Budget, loads []int32) *unfenced {
	if len(loads) == 0 || c.fencesTickets() {
		return nil
	}
	tickets := c.relaxedTickets()
	if len(tickets) == 0 || slices.ContainsFunc(loads, func(pc int32) bool { return !c.volatile(pc) }) {
		return nil
	}
	fenced, err := c.withFences(tickets)
	if err != nil {
		return nil
	}
	p, r := prove.Try(fenced.subject, w, c.o.Jobs, c.skip)
	if r.Err != nil || !p.Holds || len(r.Findings) > 0 {
		return nil
	}
	return &unfenced{tickets, loads, c.subject.Line(tickets[0]), p}
}

// contest makes a warning of a stale value at one of the loads, if the tickets decide that it is
// executed.
func (c *checking) contest(u *unfenced, f *rules.Finding) bool {
	at := f.Sites[len(f.Sites)-1]
	if !rules.IsStale(f) || !slices.Contains(u.loads, at.PC) || !executions.DrawsDecide(c.subject, u.tickets, at) {
		return false
	}
	f.Severity = rules.Warning
	f.Notes = append(slices.Clip(f.Notes), fmt.Sprintf(contestedText, u.ticket))
	f.Fix = fmt.Sprintf("membar.gl, which is __threadfence(), directly behind the atomic operation at %s, in each thread that executes it", u.ticket)
	return true
}

// relaxedTickets lists the atomic operations without a word on their order whose results matter.
func (c *checking) relaxedTickets() (list []int32) {
	for _, pc := range prove.Tickets(c.subject) {
		if in := c.subject.Program.Inst(pc); !slices.ContainsFunc(in.Mods, func(m string) bool {
			return m == "relaxed" || m == "acquire" || m == "release" || m == "acq_rel"
		}) {
			list = append(list, pc)
		}
	}
	slices.Sort(list)
	return list
}

// withFences is the launch with a membar.gl behind some instructions.
func (l *Launch) withFences(at []int32) (*Launch, error) {
	behind := map[ptx.Pos]bool{}
	for _, pc := range at {
		behind[l.subject.Program.Pos(pc)] = true
	}
	h, src := *l, *l.sources[0]
	src.module = fenced(src.module, behind)
	h.sources, h.fencedTickets = []*source{&src}, true
	prog, err := h.decode()
	if err != nil {
		return nil, err
	}
	h.config.Program, h.resolver.Program = prog, prog
	return &h, h.makeSubject()
}

// fenced is a module with a membar.gl behind the instructions at some places.
func fenced(m *ptx.Module, at map[ptx.Pos]bool) *ptx.Module {
	out := *m
	out.Items = slices.Clone(m.Items)
	for i, it := range out.Items {
		if f, ok := it.(*ptx.Func); ok && f.Body != nil {
			g := *f
			g.Body, out.Items[i] = fencedBlock(f.Body, at), &g
		}
	}
	return &out
}

func fencedBlock(b *ptx.Block, at map[ptx.Pos]bool) *ptx.Block {
	c := *b
	c.Stmts = nil
	for _, s := range b.Stmts {
		if inner, ok := s.(*ptx.Block); ok {
			s = fencedBlock(inner, at)
		}
		c.Stmts = append(c.Stmts, s)
		if in, ok := s.(*ptx.Inst); ok && at[in.Pos] {
			f := &ptx.Inst{Op: "membar", Mods: []string{"gl"}, Pos: in.Pos}
			f.Form = ptx.Match(f)
			c.Stmts = append(c.Stmts, f)
		}
	}
	return &c
}
