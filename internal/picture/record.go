package picture

import (
	"muster/report"
)

// Bounds of what a picture shows of a run.
const (
	mostCTAs  = 64 // that are looked at
	mostSlots = 16
	mostWarps = 16
	mostSites = 9
)

// The states that a slot is drawn in, from the bottom up.
const (
	read = iota
	full
	filling
	early
	slotStates
)

var stateNames = [slotStates]string{"being read", "full", "filling", "read while a copy is in flight"}
var stateClasses = [slotStates]string{"read", "full", "fill", "early"}

// A Recorder takes a run as a report.Tracer, for a picture of it.
type Recorder struct {
	tracks map[uint64]*track
	ctas   []*cta
	count  int // of all CTAs
}

type track struct {
	kind  report.TrackKind
	cta   *cta
	row   *row
	count *counter
	open  []open
}

type open struct {
	name, category string
	begin          int64
}

// A cta is what is known of one CTA.
type cta struct {
	name  string
	rank  int
	slots []*row
	warps []*row
	more  int // slots and warps beyond
	bytes *counter
	sites []site
}

// A row is a slot, or a warp: how long it was what, by columns.
type row struct {
	name  string
	rank  int
	is    [slotStates]series
	total [slotStates]int64
}

func (r *row) add(state int, from, to int64) {
	r.is[state].add(from, to, 1)
	r.total[state] += to - from
}

// A counter is the number of bytes in flight.
type counter struct {
	series
	value, since, most, after int64
}

func (c *counter) set(value, time int64) {
	c.add(c.since, time, c.value)
	if c.value, c.since = value, time; value > c.most {
		c.most, c.after = value, time
	}
}

// A site is a place of the finding.
type site struct {
	name string
	time int64
	site int64
}

// New returns a recorder.
func New() *Recorder { return &Recorder{tracks: map[uint64]*track{}} }

// Err makes a Recorder a report.Tracer.
func (r *Recorder) Err() error { return nil }

// Track makes a Recorder a report.Tracer.
func (r *Recorder) Track(t report.TraceTrack) {
	x := &track{kind: t.Kind}
	if up := r.tracks[t.Parent]; up != nil {
		x.cta, x.row = up.cta, up.row
	}
	switch c := x.cta; {
	case t.Kind == report.TrackCTA:
		if len(r.ctas) < mostCTAs {
			x.cta = &cta{name: t.Name, rank: t.Rank}
			r.ctas = append(r.ctas, x.cta)
		}
		r.count++
	case c == nil:
		return // of a CTA that is not looked at
	case t.Kind == report.TrackSlot:
		x.row = c.row(&c.slots, t.Name, t.Rank, mostSlots)
	case t.Kind == report.TrackWarp:
		x.row = c.row(&c.warps, t.Name, t.Rank, mostWarps)
	case t.Counter && t.Name == "bytes in flight":
		c.bytes = &counter{}
		x.count = c.bytes
	}
	r.tracks[t.ID] = x
}

// row adds a row to some, unless they are too many.
func (c *cta) row(rows *[]*row, name string, rank, most int) *row {
	if len(*rows) >= most {
		c.more++
		return nil
	}
	x := &row{name: name, rank: rank}
	*rows = append(*rows, x)
	return x
}

// Mark makes a Recorder a report.Tracer.
func (r *Recorder) Mark(m report.TraceMark) {
	t := r.tracks[m.Track]
	if t == nil {
		return
	}
	switch m.Kind {
	case report.TraceBegin:
		t.open = append(t.open, open{m.Name, m.Category, m.Time})
	case report.TraceEnd:
		n := len(t.open) - 1
		o := t.open[n]
		if t.open = t.open[:n]; t.row != nil {
			t.slice(&o, m.Time)
		}
	case report.TraceValue:
		if t.count != nil {
			t.count.set(m.Value, m.Time)
		}
	case report.TraceInstant:
		if m.Category == "finding" && t.cta != nil && len(t.cta.sites) < mostSites {
			s := site{name: m.Name, time: m.Time}
			for _, a := range m.Args {
				if a.Name == "step" {
					s.site = a.Number
				}
			}
			t.cta.sites = append(t.cta.sites, s)
		}
	}
}

// slice adds a slice that is over to its row.
func (t *track) slice(o *open, end int64) {
	switch {
	case t.kind == report.TrackWait:
		t.row.add(full, o.begin, end)
	case t.kind == report.TrackWarp && o.category == "step":
		t.row.add(read, o.begin, end)
	case t.kind == report.TrackSlot:
		for k, name := range stateNames {
			if name == o.name {
				t.row.add(k, o.begin, end)
			}
		}
	}
}

// shown is the CTA that the picture is of: the first that has a place of the finding, or slots, or
// copies; or the first.
func (r *Recorder) shown() *cta {
	for _, has := range []func(*cta) bool{
		func(c *cta) bool { return len(c.sites) > 0 }, func(c *cta) bool { return len(c.slots) > 0 },
		func(c *cta) bool { return c.bytes != nil }, func(*cta) bool { return true },
	} {
		for _, c := range r.ctas {
			if has(c) {
				return c
			}
		}
	}
	return &cta{}
}
