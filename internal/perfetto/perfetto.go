// Package perfetto writes a run as a trace of Perfetto: packets of TrackEvent
// (protos/perfetto/trace/trace_packet.proto and track_event/*.proto of Perfetto, and
// https://perfetto.dev/docs/reference/synthetic-track-event), which ui.perfetto.dev shows and
// trace_processor queries.
//
// A Writer is a report.Tracer. It writes each packet as it comes. What it keeps is a bounded
// table of names that have been written once and go by a number after that.
package perfetto

import (
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/report"
)

// Step is the duration of a step of the schedule, in nanoseconds of the trace's clock.
const Step = 1000

// sequence is the number of the writer's sequence of packets.
const sequence = 1

// Fields of messages, by their names in Perfetto's .proto files.
const (
	tracePacket = 1 // Trace.packet

	packetTimestamp  = 8 // TracePacket
	packetSequence   = 10
	packetTrackEvent = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDescriptor = 60

	trackUUID        = 1 // TrackDescriptor
	trackName        = 2
	trackParent      = 5
	trackCounter     = 8
	trackOrdering    = 11
	trackRank        = 12
	trackDescription = 14

	counterUnit     = 3 // CounterDescriptor
	counterUnitName = 6

	eventCategory    = 3 // TrackEvent.category_iids
	eventAnnotations = 4
	eventType        = 9
	eventNameIID     = 10
	eventTrack       = 11
	eventName        = 23
	eventValue       = 30
	eventLocation    = 34 // source_location_iid
	eventFlows       = 47
	eventFlowsEnd    = 48

	annotationName   = 1 // DebugAnnotation.name_iid
	annotationInt    = 4
	annotationText   = 6
	annotationTextID = 17 // string_value_iid

	internCategories = 1 // InternedData
	internNames      = 2
	internKeys       = 3
	internLocations  = 4
	internTexts      = 29

	internID   = 1 // of all kinds of interned data
	internText = 2

	locationFile = 2 // SourceLocation
	locationLine = 4
)

// Values of enums.
const (
	flagCleared  = 1 // SEQ_INCREMENTAL_STATE_CLEARED
	flagInterned = 2 // SEQ_NEEDS_INCREMENTAL_STATE

	typeBegin   = 1 // TrackEvent.Type
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4

	orderExplicit = 3 // TrackDescriptor.ChildTracksOrdering
	unitCount     = 2 // CounterDescriptor.Unit
	unitBytes     = 3
)

// mostInterned bounds each table of names; what comes after is written out.
const mostInterned = 1 << 16

// A Writer writes one trace.
type Writer struct {
	w       io.Writer
	err     error
	begun   bool
	tables  map[protowire.Number]map[string]uint64
	packet  []byte
	event   []byte
	fresh   []byte // interned data that the packet brings
	scratch []byte
	out     []byte
}

// NewWriter returns a writer. It buffers nothing.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, tables: map[protowire.Number]map[string]uint64{}}
}

// Err is the error that kept a packet from being written.
func (w *Writer) Err() error { return w.err }

// Track writes a track's descriptor.
func (w *Writer) Track(t report.TraceTrack) {
	d := number(w.event[:0], trackUUID, t.ID)
	d = text(d, trackName, t.Name)
	if t.Parent != 0 {
		d = number(d, trackParent, t.Parent)
	}
	if t.Counter {
		unit := number(nil, counterUnit, unitCount)
		if t.Unit == "bytes" {
			unit = number(nil, counterUnit, unitBytes)
		} else if t.Unit != "" {
			unit = text(unit, counterUnitName, t.Unit)
		}
		d = message(d, trackCounter, unit)
	}
	d = number(d, trackOrdering, orderExplicit)
	d = number(d, trackRank, uint64(t.Rank))
	if t.Text != "" {
		d = text(d, trackDescription, t.Text)
	}
	w.event = d
	w.packet = message(w.packet[:0], packetDescriptor, d)
	w.write()
}

// Mark writes an event.
func (w *Writer) Mark(m report.TraceMark) {
	w.fresh = w.fresh[:0]
	e := number(w.event[:0], eventTrack, m.Track)
	e = number(e, eventType, [...]uint64{report.TraceBegin: typeBegin, report.TraceEnd: typeEnd, report.TraceInstant: typeInstant, report.TraceValue: typeCounter}[m.Kind])
	if m.Kind == report.TraceValue {
		e = number(e, eventValue, uint64(m.Value))
	}
	if m.Category != "" {
		if id := w.intern(internCategories, m.Category); id != 0 {
			e = number(e, eventCategory, id)
		}
	}
	if m.Name != "" {
		if id := w.intern(internNames, m.Name); id != 0 {
			e = number(e, eventNameIID, id)
		} else {
			e = text(e, eventName, m.Name)
		}
	}
	if m.File != "" {
		if id := w.location(m.File, m.Line); id != 0 {
			e = number(e, eventLocation, id)
		}
	}
	for _, a := range m.Args {
		e = w.annotation(e, a)
	}
	for _, f := range m.From {
		e = fixed(e, eventFlows, f)
	}
	for _, f := range m.To {
		e = fixed(e, eventFlowsEnd, f)
	}
	w.event = e
	w.packet = number(w.packet[:0], packetTimestamp, uint64(m.Time*Step))
	if len(w.fresh) > 0 {
		w.packet = message(w.packet, packetInterned, w.fresh)
	}
	w.packet = message(w.packet, packetTrackEvent, e)
	w.write()
}

// annotation appends a fact about a slice.
func (w *Writer) annotation(e []byte, a report.TraceArg) []byte {
	key := w.intern(internKeys, a.Name)
	if key == 0 {
		return e
	}
	s := number(w.scratch[:0], annotationName, key)
	switch id := uint64(0); {
	case a.Text == "":
		s = number(s, annotationInt, uint64(a.Number))
	default:
		if id = w.intern(internTexts, a.Text); id != 0 {
			s = number(s, annotationTextID, id)
		} else {
			s = text(s, annotationText, a.Text)
		}
	}
	w.scratch = s
	return message(e, eventAnnotations, s)
}

// intern returns the number of a text of one table, which the packet brings if it is new; 0
// if the table is full.
func (w *Writer) intern(table protowire.Number, s string) uint64 {
	return w.entry(table, s, func(d []byte) []byte { return text(d, internText, s) })
}

func (w *Writer) location(file string, line int) uint64 {
	key := string(protowire.AppendVarint([]byte(file+"\x00"), uint64(line)))
	return w.entry(internLocations, key, func(d []byte) []byte {
		return number(text(d, locationFile, file), locationLine, uint64(line))
	})
}

func (w *Writer) entry(table protowire.Number, key string, body func([]byte) []byte) uint64 {
	t := w.tables[table]
	if t == nil {
		t = map[string]uint64{}
		w.tables[table] = t
	}
	if id := t[key]; id != 0 {
		return id
	}
	if len(t) == mostInterned {
		return 0
	}
	id := uint64(len(t) + 1)
	t[key] = id
	w.fresh = message(w.fresh, table, body(number(nil, internID, id)))
	return id
}

// write writes the packet.
func (w *Writer) write() {
	if w.err != nil {
		return
	}
	flags := uint64(flagInterned)
	if !w.begun {
		flags |= flagCleared
		w.begun = true
	}
	w.packet = number(number(w.packet, packetSequence, sequence), packetFlags, flags)
	w.out = message(w.out[:0], tracePacket, w.packet)
	_, w.err = w.w.Write(w.out)
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func fixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}
