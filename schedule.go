package muster

import "muster/internal/explore"

// A Schedule says how a run chooses among the interleavings of a launch. The same
// schedule of the same launch gives the same run. The zero value is "earliest".
type Schedule struct{ of explore.Schedule }

// String returns the schedule in a report's notation, which ParseSchedule reads.
func (s Schedule) String() string { return s.of.String() }

// ParseSchedule reads a schedule as a report writes it: "earliest", "latest",
// "round-robin", "random:7", "delay:7", "pct:7:3:400", or a list of choices and then one of
// these, "r0.1.0,m3/earliest".
func ParseSchedule(text string) (Schedule, error) {
	s, err := explore.Parse(text)
	return Schedule{s}, err
}

// Handful returns the default schedules of a check: earliest, latest, round-robin, and
// the given number of random ones.
func Handful(random int) []Schedule {
	var list []Schedule
	for _, s := range explore.Handful(random) {
		list = append(list, Schedule{s})
	}
	return list
}

// inner converts a list to package explore's schedules.
func inner(list []Schedule) []explore.Schedule {
	var out []explore.Schedule
	for _, s := range list {
		out = append(out, s.of)
	}
	return out
}
