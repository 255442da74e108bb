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
