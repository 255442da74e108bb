package report

import (
	"fmt"
	"strings"

	"muster/internal/diag"
)

// An AnyCount says for which other values of one integer argument a proof holds, and
// which loops then run longer; or why it holds for none (docs/loops.md).
type AnyCount struct {
	Argument int    `json:"argument"` // from 1
	Name     string `json:"name"`     // of the parameter
	Holds    bool   `json:"holds"`
	// It holds for every value from From to UpTo, Step by Step.
	From int64 `json:"from"`
	UpTo int64 `json:"up_to"`
	Step int64 `json:"step"`
	// Period is the increase of the argument after which the loops repeat.
	Period int64 `json:"period"`
	// Limit is what bounds UpTo; nil for the argument's own type.
	Limit *Reason `json:"limit,omitempty"`
	// Smaller counts the values below From, each checked by itself; Unproven lists those
	// that are not proven.
	Smaller  int            `json:"smaller"`
	Unproven []AnyException `json:"unproven"`
	Growth   []AnyGrowth    `json:"growth"`
	Reasons  []Reason       `json:"reasons"` // why it does not hold
}

// An AnyException is a small value that is not proven, and why.
type AnyException struct {
	Value int64  `json:"value"`
	Text  string `json:"text"`
}

// An AnyGrowth says by how much a buffer must grow with each Step of the argument: in
// bytes, or in elements along its tensor map's dimensions, outermost first.
type AnyGrowth struct {
	Buffer   string  `json:"buffer"`
	Bytes    int64   `json:"bytes"`
	Elements []int64 `json:"elements,omitempty"`
}

// text returns the part of the summary that names the values for which a proof holds.
func (a *AnyCount) text() string {
	if a == nil || !a.Holds {
		return ""
	}
	s := fmt.Sprintf(", for every %s (argument %d) of at least %s", a.Name, a.Argument, diag.Group(a.From))
	if a.Step > 1 {
		s += fmt.Sprintf(" by steps of %s", diag.Group(a.Step))
	}
	switch {
	case a.Smaller > 0 && len(a.Unproven) == 0:
		s += fmt.Sprintf(" (each of %s to %s checked by itself)", diag.Group(a.From-int64(a.Smaller)*a.Step), diag.Group(a.From-a.Step))
	case a.Smaller > 0:
		s += fmt.Sprintf(" (%d of the %d below it are not proven)", len(a.Unproven), a.Smaller)
	}
	s += " up to " + diag.Group(a.UpTo)
	var grow []string
	for _, g := range a.Growth {
		switch {
		case len(g.Elements) > 0:
			grow = append(grow, g.Buffer+" by "+along(g.Elements))
		default:
			grow = append(grow, fmt.Sprintf("%s by %s", g.Buffer, diag.Plural(int(g.Bytes), "byte")))
		}
	}
	if len(grow) > 0 {
		s += fmt.Sprintf(", while with each %s grows ", diag.Group(a.Step)) + strings.Join(grow, ", ")
	}
	return s
}

// along lists by how many elements each dimension grows.
func along(list []int64) string {
	var words []string
	for i, v := range list {
		if v != 0 {
			words = append(words, fmt.Sprintf("%s along dimension %d of %d", diag.Plural(int(v), "element"), i+1, len(list)))
		}
	}
	return strings.Join(words, " and ")
}

// anyCount prints the details that the summary leaves out.
func (p *printer) anyCount(r *Report) {
	if r.Proof == nil || r.Proof.Any == nil {
		return
	}
	a := r.Proof.Any
	what := fmt.Sprintf("%s (argument %d)", a.Name, a.Argument)
	for i, why := range a.Reasons {
		if i == maxReasons {
			break
		}
		p.row("unproven", bold, "any "+what+": "+why.sentence())
	}
	for i, u := range a.Unproven {
		if i == maxReasons {
			p.row("unproven", bold, fmt.Sprintf("and %d values of %s more", len(a.Unproven)-i, a.Name))
			break
		}
		p.row("unproven", bold, fmt.Sprintf("%s = %d: %s", a.Name, u.Value, u.Text))
	}
	if a.Limit != nil {
		p.row("limit:", bold, fmt.Sprintf("%s up to %s: %s", a.Name, diag.Group(a.UpTo), a.Limit.sentence()))
	}
}

// sentence returns a reason with its place.
func (r *Reason) sentence() string {
	if r.Place != nil {
		return fmt.Sprintf("at %v: %s", r.Place, r.Text)
	}
	return r.Text
}
