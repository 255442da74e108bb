package muster

import (
	"context"

	"muster/internal/report"
)

// Attempt is what became of the attempt to prove a launch, also where a report has
// findings to speak of.
func Attempt(l *Launch) *report.Proof {
	p, _ := l.prove(context.Background(), CheckOptions{Jobs: 1}, false)
	return l.proved(p)
}
