package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"muster/internal/machine"
	"muster/report"
)

// This file makes tracks.

// Ranks of the tracks of a CTA: its warps by their numbers, its bytes in flight, its mbarriers
// by their addresses, its slots.
const (
	firstBarrier = 1 << 16
	firstSlot    = 1 << 25
)

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// track makes a track and returns its number.
func (r *Recorder) track(t report.TraceTrack) uint64 {
	r.ids++
	t.ID = r.ids
	r.out.Track(t)
	return t.ID
}

// slice shows a slice that lies on a track of its own or within another.
func (r *Recorder) slice(track uint64, from, to int64, mark report.TraceMark) {
	mark.Kind, mark.Track, mark.Time = report.TraceBegin, track, from
	r.out.Mark(mark)
	r.out.Mark(report.TraceMark{Kind: report.TraceEnd, Track: track, Time: to})
}

func (r *Recorder) cta(i int32) *cta {
	c := r.ctas[i]
	if c == nil {
		c = &cta{warps: map[int32]*warp{}}
		c.track = r.track(report.TraceTrack{Name: r.names.CTA(i), Rank: int(i) + 1, Kind: report.TrackCTA})
		r.ctas[i] = c
	}
	return c
}

func (r *Recorder) warp(i, k int32) *warp {
	c := r.cta(i)
	w := c.warps[k]
	if w == nil {
		w = &warp{rows: map[string][]*row{}}
		w.track = r.track(report.TraceTrack{Parent: c.track, Name: fmt.Sprintf("warp %d", k), Rank: int(k), Kind: report.TrackWarp})
		c.warps[k] = w
	}
	return w
}

// A row is one of the tracks of a name below a warp, of which there are so many that their
// slices do not overlap.
type row struct {
	track uint64
	busy  bool
	until int64
}

func (x *row) free(at int64) { x.busy, x.until = false, at }

// row returns a row of that name that is free from a time on.
func (r *Recorder) row(w *warp, kind report.TrackKind, name, text string, from int64) *row {
	for _, x := range w.rows[name] {
		if !x.busy && x.until <= from {
			x.busy = true
			return x
		}
	}
	x := &row{track: r.track(report.TraceTrack{Parent: w.track, Name: name, Text: text, Kind: kind}), busy: true}
	w.rows[name] = append(w.rows[name], x)
	return x
}

func (r *Recorder) place(pc int32) *place {
	p := r.code[pc]
	if p != nil {
		return p
	}
	p = &place{name: "step"}
	if in := r.res.Program.Inst(pc); in != nil {
		p.name = machine.Name(in)
		if src := r.res.Program.Source(pc); len(src) > 0 {
			p.file, p.line = src[len(src)-1].File, src[len(src)-1].Line
		} else if _, at := r.res.Where(pc); at != nil {
			p.file, p.line = at.File, at.Line
		}
		p.ptx, p.ptxLine = r.res.File(pc), int(r.res.Program.Pos(pc).Line)
	}
	r.code[pc] = p
	return p
}
