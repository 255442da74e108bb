package muster

import (
	"cmp"

	"muster/internal/machine"
	"muster/internal/predict"
	"muster/internal/prove"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/internal/undefined"
)

// Races on rows of A or B of tcgen05.mma are warnings where no result of these rows is used
// (internal/rules/unused_rows.go). A run that counts the bytes that race as undefined shows whether one
// is. Then all is judged again, by judges that know of bytes that no run uses: they are harmless
// in every schedule if a proof holds, since what lies there changes no event, and all schedules
// do what the run of the proof does. Where schedules are explored, each that shows such a race
// is followed for itself.

// A rowsSeen is what a check knows of such races.
type rowsSeen struct {
	raced    machine.OperandBytes // in the schedules that ran
	unused   machine.OperandBytes // what the judges know of: bytes of which no result is used
	used     string               // where results go, or why that is not known; empty: nowhere
	followed int                  // how many of the schedules were followed
}

// tries tries to decide every schedule by one run, in half of the time.
func (c *checking) tries() (prove.Proof, trial.Result) {
	w := c.subject.Budget(c.subject.Within(c.ctx, 2))
	of := *c.subject
	of.Hands = c.handing != nil
	p, r := prove.Try(&of, w, c.o.Jobs, c.skip)
	if r.Err != nil || p.Holds || !rules.OnRowsAlone(r.Findings) {
		return p, r
	}
	if used, open := undefined.Rows(c.subject, w, []trial.Schedule{trial.ProofSchedule}, r.Raced); used+open != "" {
		return p, r
	}
	again := of.Without(r.Raced)
	q, s := prove.Try(again, w, c.o.Jobs, c.skip)
	if !q.Decides() || q.Orders || q.Grants > 0 || s.Err != nil {
		return p, r // a proof by several runs: one of them was followed
	}
	q.Contents = true // which bits an instruction passes on depends on the others
	c.without(r.Raced)
	return q, s
}

// without goes on with judges that know of bytes of which no result is used.
func (c *checking) without(unused machine.OperandBytes) {
	l := *c.Launch
	l.subject = l.subject.Without(unused)
	l.predictor = predict.New(l.subject)
	c.Launch, c.rows.unused = &l, unused
}

// unusedRows reports whether all errors of the schedules that ran are on rows of which they use
// no result: then they are to be run again.
func (c *checking) unusedRows() bool {
	if !rules.OnRowsAlone(c.Findings) {
		return false
	}
	used, open := undefined.Rows(c.subject, c.budget, c.list, c.rows.raced)
	if c.rows.used = cmp.Or(used, open); c.rows.used != "" {
		return false
	}
	c.rows.followed = len(c.list)
	c.without(c.rows.raced.Clone())
	return true
}

// rowsUsed follows the schedules that were not followed, and notes of errors where results go.
func (c *checking) rowsUsed() error {
	used, open := "", ""
	proven := c.proof != nil && c.proof.All && !c.proof.Together
	if rules.HasUnusedRows(c.Findings) && !proven && c.rows.followed < len(c.list) {
		used, open = undefined.Rows(c.subject, c.budget, c.list[c.rows.followed:], c.rows.unused)
	}
	if used != "" {
		rules.RowsUsed(c.Findings, used)
	}
	for _, g := range rules.RowsOpen(c.Findings, open) {
		c.AddGap(g)
	}
	rules.NoteRows(c.Findings, cmp.Or(c.rows.used, "whether one is, is not followed where there are other errors"))
	return nil
}
