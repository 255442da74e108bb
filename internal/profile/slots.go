package profile

import (
	"muster/report"
)

// A slot is one of a ring, from its first filling on.
type slot struct {
	first int64 // when that began
	seen  bool
	lasts [3]int64 // filling, full, being read
}

// slot adds what a slot was for some time.
func (r *Recorder) slot(t *track, m *report.TraceMark, begin, end int64) {
	s := t.slot
	switch m.Name {
	case "filling":
		if !s.seen {
			s.seen, s.first = true, begin
		}
		s.lasts[0] += end - begin
	case "full":
		s.lasts[1] += end - begin
	case "being read":
		s.lasts[2] += end - begin
	default:
		r.slots.Early += end - begin
	}
}

// close adds the slots of a CTA, which ends.
func (c *cta) close(to *report.SlotsProfile, end int64) {
	for _, s := range c.slots {
		if !s.seen {
			continue
		}
		to.Slots++
		to.Filling += s.lasts[0]
		to.Full += s.lasts[1]
		to.Read += s.lasts[2]
		to.Empty += max(0, end-s.first-s.lasts[0]-s.lasts[1]-s.lasts[2])
	}
	c.slots = nil
}

// A flight adds up the bytes that CTAs have in flight.
type flight struct {
	of    map[uint64]int64
	now   int64
	since int64
	sum   report.FlightProfile
}

// set takes a value of a CTA's counter, which holds from a time on.
func (f *flight) set(track uint64, value, time int64) {
	if f.of == nil {
		f.of = map[uint64]int64{}
	}
	f.pass(time)
	f.now += value - f.of[track]
	f.of[track] = value
	if f.now > f.sum.Most {
		f.sum.Most, f.sum.After = f.now, time
	}
	if value == 0 {
		delete(f.of, track)
	}
}

func (f *flight) pass(time int64) {
	f.sum.ByteSteps += f.now * (time - f.since)
	f.since = time
}

func (f *flight) profile(end int64) report.FlightProfile {
	f.pass(end)
	return f.sum
}
