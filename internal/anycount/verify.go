package anycount

import (
	"context"
	"fmt"

	"muster/internal/machine"
)

// Verify proves the launch and those with other values of the argument, and checks
// what it predicts for the given values against their runs: each is proven by itself,
// and has as many events and phases of each barrier as predicted. It is for tests.
func (f *Family) Verify(ctx context.Context, values ...int64) (err error) {
	f.w, f.jobs = f.l.Budget(ctx), 1
	for _, h := range strategies {
		if err = f.verify(h, values); err == nil {
			return nil
		}
	}
	return err
}

func (f *Family) verify(h strategy, values []int64) error {
	p, no := f.plan(h)
	if no != nil {
		return fmt.Errorf("%s", no.Text)
	}
	for _, k := range values {
		if k-p.from < p.period || (k-p.from)%p.step != 0 {
			return fmt.Errorf("%d cannot be predicted: from %d, period %d, step %d", k, p.from, p.period, p.step)
		}
		from := p.from + (k-p.from)%p.period
		b, no := f.base(p, from)
		for ; no != nil && no.short && from+p.period < k; from += p.period {
			b, no = f.base(p, from+p.period)
		}
		if no != nil {
			return fmt.Errorf("with %d: %s", from, no.Text)
		}
		if err := f.registers(p, b, from, k); err != nil {
			return err
		}
		if no := f.proven(k); no != nil {
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
		rec.InTurns = p.inTurns
		c, no2 := rec.Check(p.of, p.ticks)
		if no2 != nil {
			return fmt.Errorf("with %d: %s", k, no2.Text)
		}
		more := (k - from) / p.period
		if want := b.core.Events + int(more)*b.core.Each; c.Events != want {
			return fmt.Errorf("with %d: %d events, predicted were %d + %d*%d", k, c.Events, b.core.Events, more, b.core.Each)
		}
		for bar, n := range b.core.Phases {
			if got, want := c.Phases[bar][0], n[0]+more*n[1]; got != want {
				return fmt.Errorf("with %d: %d phases of %v, predicted were %d", k, got, bar, want)
			}
		}
		if len(c.Phases) != len(b.core.Phases) {
			return fmt.Errorf("with %d: %d barriers, predicted were %d", k, len(c.Phases), len(b.core.Phases))
		}
	}
	return nil
}

// registers compares the registers of the launch with k, in its first period and in
// some later ones, with what the strides of a base predict.
func (f *Family) registers(p *plan, b *base, from, k int64) error {
	long, err := f.make(k)
	if err != nil {
		return err
	}
	for _, j := range []int64{0, 1, 2, (k-from)/p.period - 1} {
		list := append([]machine.LaneLoop(nil), b.list...)
		for i := range list {
			list[i].First += int32(j) * list[i].Period
		}
		r, no := f.follow(long, func(_ *machine.Machine, fo *machine.Follower) machine.Observer {
			fo.Loops = list
			return nil
		})
		if no != nil {
			return fmt.Errorf("with %d: %s", k, no.Text)
		}
		predicted, wrong := b.follow.Agree(r.follower, j, (k-from)/p.period)
		if predicted == 0 || wrong > 0 {
			return fmt.Errorf("with %d, in period %d, %d of %d registers are not what was predicted", k, j, wrong, predicted)
		}
	}
	return nil
}
