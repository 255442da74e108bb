package muster

import "muster/internal/explore"

// Length is how many choices a run under s takes, and how many switches between
// agents there are among them.
func Length(l *Launch, s Schedule) (choices, switches int) {
	run, _ := explore.Record(l.subject.Machine(nil, nil), s.of, nil)
	return len(run), explore.Switches(run)
}
