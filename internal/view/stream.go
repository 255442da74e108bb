// Package view shows a run on one page: as marks over time in a compact stream, and, for
// windows of steps, the registers and memory after each. The page's files lie in folder
// page; the encodings are described in docs/view.md.
package view

import (
	"encoding/binary"
	"errors"
	"strings"

	"muster/report"
)

// A stringTable is a table of texts, each once.
type stringTable struct {
	index map[string]uint64
	list  []string
	bytes int
}

// longest is the most bytes that a text of the table has; the rest is left out.
const longest = 4096

func clipped(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest-len("…")], "") + "…"
}

func (t *stringTable) of(text string) uint64 {
	text = clipped(text)
	if n, ok := t.index[text]; ok {
		return n
	}
	if t.index == nil {
		t.index = map[string]uint64{}
	}
	n := uint64(len(t.list))
	t.index[text] = n
	t.list = append(t.list, text)
	t.bytes += len(text) + 4
	return n
}

// A Track is a track of a run, as the page has it.
type Track struct {
	ID      uint64           `json:"id"`
	Parent  uint64           `json:"parent,omitempty"`
	Name    string           `json:"name"`
	Text    string           `json:"text,omitempty"`
	Counter bool             `json:"counter,omitempty"`
	Unit    string           `json:"unit,omitempty"`
	Rank    int              `json:"rank,omitempty"`
	Kind    report.TrackKind `json:"kind"`
}

// A Site is a step that is a place of the finding, and where it is shown.
type Site struct {
	Step  int    `json:"step"`
	Track uint64 `json:"track"`
	Role  string `json:"role"`
	Site  int    `json:"site"`
}

// A stream takes the marks of a run, as a report.Tracer, and encodes them.
type stream struct {
	text   stringTable
	tracks []Track
	data   []byte
	marks  int
	sites  []Site
	roles  []string
	most   int // bytes, of the marks and of the table
	err    error
	track  uint64 // of the mark before
	time   int64
}

var errTooLarge = errors.New("the run's events take more memory than the page can have")

func (s *stream) Err() error { return s.err }

func (s *stream) Track(t report.TraceTrack) {
	s.tracks = append(s.tracks, Track{t.ID, t.Parent, clipped(t.Name), clipped(t.Text), t.Counter, t.Unit, t.Rank, t.Kind})
}

// What a mark's kind is joined with.
const (
	hasArrows = 16
	hasArgs   = 32
	hasPlace  = 64
)

func (s *stream) Mark(m report.TraceMark) {
	if s.err != nil {
		return
	}
	kind := byte(m.Kind)
	if len(m.From)+len(m.To) > 0 {
		kind |= hasArrows
	}
	if len(m.Args) > 0 {
		kind |= hasArgs
	}
	if m.PTX != "" {
		kind |= hasPlace
	}
	b := append(s.data, kind)
	b = binary.AppendVarint(b, int64(m.Track-s.track))
	b = binary.AppendVarint(b, m.Time-s.time)
	s.track, s.time = m.Track, m.Time
	switch m.Kind {
	case report.TraceBegin, report.TraceInstant:
		b = binary.AppendUvarint(b, s.text.of(m.Name))
		b = binary.AppendUvarint(b, s.text.of(m.Category))
	case report.TraceValue:
		b = binary.AppendVarint(b, m.Value)
	}
	if kind&hasPlace != 0 {
		b = binary.AppendUvarint(b, s.text.of(m.PTX))
		b = binary.AppendUvarint(b, uint64(m.PTXLine))
	}
	if kind&hasArrows != 0 {
		for _, list := range [][]uint64{m.From, m.To} {
			b = binary.AppendUvarint(b, uint64(len(list)))
			for _, id := range list {
				b = binary.AppendUvarint(b, id)
			}
		}
	}
	if kind&hasArgs != 0 {
		b = binary.AppendUvarint(b, uint64(len(m.Args)))
		for i := range m.Args {
			b = s.arg(b, &m.Args[i])
		}
	}
	s.data = b
	s.marks++
	s.site(&m)
	if len(s.data)+s.text.bytes > s.most {
		s.err = errTooLarge
	}
}

func (s *stream) arg(b []byte, a *report.TraceArg) []byte {
	b = binary.AppendUvarint(b, s.text.of(a.Name))
	if a.Text == "" {
		return binary.AppendVarint(append(b, 0), a.Number)
	}
	return binary.AppendUvarint(b, 1+s.text.of(a.Text))
}

// site keeps a mark that is a place of the finding.
func (s *stream) site(m *report.TraceMark) {
	if m.Category != "finding" {
		return
	}
	at := Site{Track: m.Track}
	for _, a := range m.Args {
		switch a.Name {
		case "step":
			at.Step = int(a.Number)
		case "site":
			at.Site = int(a.Number)
		}
	}
	if at.Site < len(s.roles) {
		at.Role = s.roles[at.Site]
	}
	s.sites = append(s.sites, at)
}
