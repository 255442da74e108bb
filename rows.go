package muster

import (

	"muster/internal/predict"
	"muster/internal/prove"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/internal/undefined"
)

// Races on rows of A or B of tcgen05.mma are warnings where no result of these rows is used
// (internal/rules/rows.go). That is decided for every schedule: a proof that fails for such
// races alone is tried again with judges that know which bytes reach nothing, in a run of the
// schedule of the proof that counts them as undefined. By induction over the events of any
// schedule, what lies there changes no event, so that all do what this run does.

// onRowsAlone reports whether all errors are about a part of the operands of tcgen05.mma.
func onRowsAlone(fs []rules.Finding) bool {
	some := false
	for i := range fs {
		if fs[i].Severity == rules.Error {
			if !fs[i].Rows {
				return false
			}
			some = true
		}
	}
	return some
}

// tries tries to decide every schedule by one run, in half of the time.
func (c *checking) tries() (prove.Proof, trial.Result) {
	w := c.subject.Budget(c.subject.Within(c.ctx, 2))
	p, r := prove.Try(c.subject, w, c.o.Jobs, c.skip)
	if r.Err != nil || p.Holds || !onRowsAlone(r.Findings) {
		return p, r
	}
	if c.rowsUsed = undefined.Rows(c.subject, w, []trial.Schedule{trial.ProofSchedule}, r.Raced); c.rowsUsed != "" {
		return p, r
	}
	again := c.subject.Without(r.Raced)
	q, s := prove.Try(again, w, c.o.Jobs, c.skip)
	if !q.Holds && !q.Together || s.Err != nil {
		c.rowsUsed = "whether one is, was not followed in every schedule"
		return p, r
	}
	q.Contents = true // which bits pass an instruction depends on the others
	c.without(again)
	return q, s
}

// without goes on with a subject whose judges know of unused bytes.
func (c *checking) without(s *trial.Subject) {
	l := *c.Launch
	l.subject, l.predictor = s, predict.New(s)
	c.Launch = &l
}

// rowsOfRuns reports whether the schedules that were asked for have errors on rows alone, and
// none uses these rows: then they are run again.
func (c *checking) rowsOfRuns() bool {
	if c.o.Mode != OnlySchedules || !onRowsAlone(c.Findings) {
		return false
	}
	if c.rowsUsed = undefined.Rows(c.subject, c.budget, c.list, c.raced); c.rowsUsed != "" {
		return false
	}
	c.without(c.subject.Without(c.raced))
	return true
}

// rows notes of errors on rows what was found of their results.
func (c *checking) rows() error {
	for i := range c.Findings {
		if f := &c.Findings[i]; f.Rows && f.Severity == rules.Error {
			to := c.rowsUsed
			if to == "" {
				to = "whether one is, was not followed"
			}
			f.RowsUsed(to)
		}
	}
	return nil
}

