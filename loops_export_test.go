package muster

import (
	"context"
	"fmt"
)

// Extrapolate proves the launch and those with other values of an argument, and
// holds what it says of the given values against runs of theirs: each is proven by
// itself, and has as many events and phases of each barrier as is foretold.
func Extrapolate(l *Launch, argument int, values ...int64) (err error) {
	f, err := l.family(context.Background(), argument)
	if err != nil {
		return err
	}
	p, no := f.plan()
	if no != nil {
		return fmt.Errorf("%s", no.Text)
	}
	for _, k := range values {
		if k-p.from < p.period || (k-p.from)%p.step != 0 {
			return fmt.Errorf("%d is none to foretell: from %d, period %d, step %d", k, p.from, p.period, p.step)
		}
		from := p.from + (k-p.from)%p.period
		b, no := f.base(p, from)
		for ; no != nil && no.short && from+p.period < k; from += p.period {
			b, no = f.base(p, from+p.period)
		}
		if no != nil {
			return fmt.Errorf("with %d: %s", from, no.Text)
		}
		if no := f.proven(CheckOptions{}, k); no != nil {
			return fmt.Errorf("with %d: %s", k, no.Text)
		}
		long, err := f.make(k)
		if err != nil {
			return err
		}
		_, rec, no2 := f.record(long, p.marks)
		if no2 != nil {
			return fmt.Errorf("with %d: %s", k, no2.Text)
		}
		c, no2 := rec.Check(p.of, p.ticks)
		if no2 != nil {
			return fmt.Errorf("with %d: %s", k, no2.Text)
		}
		more := (k - from) / p.period
		if want := b.core.Events + int(more)*b.core.Each; c.Events != want {
			return fmt.Errorf("with %d: %d events, foretold were %d + %d*%d", k, c.Events, b.core.Events, more, b.core.Each)
		}
		for bar, n := range b.core.Phases {
			if got, want := c.Phases[bar][0], n[0]+more*n[1]; got != want {
				return fmt.Errorf("with %d: %d phases of %v, foretold were %d", k, got, bar, want)
			}
		}
		if len(c.Phases) != len(b.core.Phases) {
			return fmt.Errorf("with %d: %d barriers, foretold were %d", k, len(c.Phases), len(b.core.Phases))
		}
	}
	return nil
}
