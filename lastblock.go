package muster

import (
	"fmt"
	"slices"

	"muster/internal/executions"
	"muster/internal/prove"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/ptx"
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
	if !ok || !u.contests(&f.Finding) {
		return false
	}
	c.overtaken = &f
	c.proof, c.alike = c.proved(u.proof), trial.Parts{}
	c.proof.Unfenced = true
	c.sums(&u.proof)
	c.joint, c.summed, c.orders = u.proof.Joint, u.proof.Sums, true
	return true
}

// overtakes adds the execution.
func (c *checking) overtakes() error {
	c.Add(c.scheduleOf(c.overtaken.Schedule), &trial.Result{Findings: []rules.Finding{c.overtaken.Finding}})
	return nil
}

// contests makes warnings of the stale values of a schedule that was asked for, where they are in
// a check of all.
func (c *checking) contests() {
	var list []*rules.Finding
	for i := range c.Findings {
		if f := &c.Findings[i]; rules.IsStale(f) {
			list = append(list, f)
		}
	}
	if c.o.Mode != OnlySchedules || len(list) == 0 {
		return
	}
	p, _ := prove.Try(c.subject, c.budget, c.o.Jobs, c.skip)
	if u := c.unfenced(c.budget, p.Unsettled); u != nil {
		for _, f := range list {
			u.contests(f)
		}
	}
}

// unfenced looks for volatile loads of which nothing but a fence behind the tickets would settle
// what they return, and proves the launch with these fences.
func (c *checking) unfenced(w *trial.Budget, loads []int32) *unfenced {
	if len(loads) == 0 || c.handing != nil || len(c.sources) != 1 || c.subject.Highest || len(c.sizes) > 0 {
		return nil
	}
	tickets := c.relaxedTickets()
	if len(tickets) == 0 || slices.ContainsFunc(loads, func(pc int32) bool { return c.subject.Program.Inst(pc).Sem() != ptx.Volatile }) {
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

// contests makes a warning of a stale value at one of the loads.
func (u *unfenced) contests(f *rules.Finding) bool {
	if !rules.IsStale(f) || !slices.Contains(u.loads, f.Sites[len(f.Sites)-1].PC) {
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
	h.sources = []*source{&src}
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
