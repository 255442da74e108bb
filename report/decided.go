package report

import (
	"fmt"
	"strings"

	"muster/internal/diag"
)

// A Decided says how much an incomplete check decided.
type Decided struct {
	// Pairs counts the pairs of instructions whose conflicting accesses meet: by different
	// threads or asynchronous operations, to one byte, one of them a write, with no other
	// write between. Ordered are those that are in order whenever they meet, by what does not
	// depend on the order in which a schedule takes strong accesses.
	Pairs   int `json:"pairs"`
	Ordered int `json:"ordered"`
	// EverySchedule: they are so in every schedule. Else in Schedules of those that ran.
	EverySchedule bool `json:"every_schedule"`
	Schedules     int  `json:"schedules"`
	// Cut: a limit, or what is not modelled, ended a run before its end.
	Cut bool `json:"cut,omitempty"`
	// Open are the others, the first of them.
	Open []Pair `json:"open"`
}

// A Pair is two instructions.
type Pair struct {
	First  *Place `json:"first,omitempty"`
	Second *Place `json:"second,omitempty"`
}

func (p Pair) String() string {
	of := func(at *Place) string {
		if at == nil {
			return "an instruction without a line"
		}
		return at.String()
	}
	return of(p.First) + " and " + of(p.Second)
}

// text says it in a sentence.
func (d *Decided) text() string {
	where := "in every schedule"
	switch {
	case !d.EverySchedule && d.Schedules == 1:
		where = "in the schedule that was watched"
	case !d.EverySchedule:
		where = fmt.Sprintf("in each of the %d schedules that were watched", d.Schedules)
	}
	switch {
	case d.Cut && d.Schedules > 1:
		where += ", as far as they ran"
	case d.Cut:
		where += ", as far as it ran"
	}
	if d.Pairs == 0 {
		where = strings.Replace(where, "in each of", "in any of", 1)
		return "no instructions of different threads have conflicting accesses " + where
	}
	open := d.Pairs - d.Ordered
	are := "are"
	if d.Pairs == 1 {
		are = "is"
	}
	text := fmt.Sprintf("%s of %s of conflicting instructions %s ordered %s", diag.Group(int64(d.Ordered)), diag.Plural(d.Pairs, "pair"), are, where)
	if open > 0 {
		text += fmt.Sprintf("; open: %s, first %v", diag.Group(int64(open)), d.Open[0])
	}
	return text
}
