package report

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r.Filled())
}

// Filled returns the report as it is written: with its version, and no nil lists.
func (r *Report) Filled() *Report {
	c := *r
	c.Version = Version
	c.Schedules = orEmpty(c.Schedules)
	c.Findings = orEmpty(c.Findings)
	c.Gaps = orEmpty(c.Gaps)
	c.Assumptions = orEmpty(c.Assumptions)
	c.Notices = orEmpty(c.Notices)
	return &c
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// A Failed is what is written in place of a report where there is none, as after bad input.
type Failed struct {
	Version int     `json:"version"`
	Verdict Verdict `json:"verdict"` // Error, or Incomplete where a limit ran out
	Error   Failure `json:"error"`
}

// WriteJSON writes what kept a report from being made.
func (f *Failed) WriteJSON(w io.Writer) error {
	c := *f
	c.Version = Version
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(&c)
}
