package report

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	c := *r
	c.Version = Version
	c.Schedules = orEmpty(c.Schedules)
	c.Findings = orEmpty(c.Findings)
	c.Gaps = orEmpty(c.Gaps)
	c.Assumptions = orEmpty(c.Assumptions)
	c.Notices = orEmpty(c.Notices)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(&c)
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
