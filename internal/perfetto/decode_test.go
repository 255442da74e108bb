package perfetto_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"muster/internal/timeline"
)

// A field is a line of testdata/fields.txt.
type field struct {
	message, name, kind string
	number              int32
	repeated            bool
}

// readFields reads testdata/fields.txt: fields, and values of enums by "Message.Enum VALUE".
func readFields(t *testing.T) (fields []field, enums map[string]int) {
	t.Helper()
	data, err := os.ReadFile("testdata/fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	enums = map[string]int{}
	for line := range strings.Lines(string(data)) {
		w := strings.Fields(line)
		if len(w) == 0 || w[0] == "#" {
			continue
		}
		if n, err := strconv.Atoi(w[2]); err == nil {
			enums[w[0]+" "+w[1]] = n
			continue
		}
		message, name, _ := strings.Cut(w[0], ".")
		n, err := strconv.Atoi(w[1])
		if err != nil {
			t.Fatal(line)
		}
		fields = append(fields, field{message, name, strings.TrimSuffix(w[2], "*"), int32(n), strings.HasSuffix(w[2], "*")})
	}
	return fields, enums
}

// traceType returns the descriptor of message Trace of Perfetto, with the fields of
// testdata/fields.txt alone.
func traceType(t *testing.T) protoreflect.MessageDescriptor {
	t.Helper()
	fields, _ := readFields(t)
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("trace.proto"), Package: proto.String("perfetto.protos"), Syntax: proto.String("proto2")}
	messages := map[string]*descriptorpb.DescriptorProto{}
	for _, f := range fields {
		m := messages[f.message]
		if m == nil {
			m = &descriptorpb.DescriptorProto{Name: proto.String(f.message)}
			messages[f.message] = m
			file.MessageType = append(file.MessageType, m)
		}
	}
	kinds := map[string]descriptorpb.FieldDescriptorProto_Type{
		"uint64": descriptorpb.FieldDescriptorProto_TYPE_UINT64, "uint32": descriptorpb.FieldDescriptorProto_TYPE_UINT32,
		"int64": descriptorpb.FieldDescriptorProto_TYPE_INT64, "int32": descriptorpb.FieldDescriptorProto_TYPE_INT32,
		"fixed64": descriptorpb.FieldDescriptorProto_TYPE_FIXED64, "string": descriptorpb.FieldDescriptorProto_TYPE_STRING,
		"bytes": descriptorpb.FieldDescriptorProto_TYPE_BYTES,
	}
	for _, f := range fields {
		d := &descriptorpb.FieldDescriptorProto{Name: proto.String(f.name), Number: proto.Int32(f.number), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		if f.repeated {
			d.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}
		switch kind, ok := kinds[f.kind]; {
		case ok:
			d.Type = kind.Enum()
		case messages[f.kind] != nil:
			d.Type, d.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String(".perfetto.protos."+f.kind)
		default: // an enum
			d.Type = descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()
		}
		messages[f.message].Field = append(messages[f.message].Field, d)
	}
	built, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return built.Messages().ByName("Trace")
}

// An event is a TrackEvent with its interned data put in.
type event struct {
	kind             string
	track            uint64
	ts               int64
	name, cat, where string
	value            int64
	from, to         []uint64
	args             map[string]string
}

// A slice is a slice of a track, as its events make it.
type slice struct {
	event
	dur   int64
	depth int
}

// A track is a TrackDescriptor.
type track struct {
	id, parent uint64
	name       string
	counter    bool
}

// A trace is a decoded one.
type trace struct {
	tracks map[uint64]track
	events []event
	slices []slice
}

// decode decodes a trace with the reflection of Google's protobuf module, and checks that it
// is well formed: no unknown field, nothing that is referred to before it is there, slices
// that nest.
func decode(t *testing.T, data []byte) *trace {
	t.Helper()
	m := dynamicpb.NewMessage(traceType(t))
	if err := proto.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	known(t, m)
	d := &decoder{t: t, trace: trace{tracks: map[uint64]track{}}, interned: map[string]map[uint64]string{}}
	list := get(m, "packet").List()
	for i := range list.Len() {
		d.packet(i, list.Get(i).Message())
	}
	d.nest()
	d.arrows()
	return &d.trace
}

func get(m protoreflect.Message, name string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

func has(m protoreflect.Message, name string) bool {
	return m.Has(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

func known(t *testing.T, m protoreflect.Message) {
	t.Helper()
	if len(m.GetUnknown()) > 0 {
		t.Fatalf("%s has fields that are not in testdata/fields.txt", m.Descriptor().Name())
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				known(t, v.List().Get(i).Message())
			}
		default:
			known(t, v.Message())
		}
		return true
	})
}

type decoder struct {
	trace
	t        *testing.T
	interned map[string]map[uint64]string
}

func (d *decoder) packet(i int, p protoreflect.Message) {
	flags := uint64(2)
	if i == 0 {
		flags = 3
	}
	if get(p, "trusted_packet_sequence_id").Uint() != 1 || get(p, "sequence_flags").Uint() != flags {
		d.t.Fatalf("packet %d: sequence %v, flags %v", i, get(p, "trusted_packet_sequence_id"), get(p, "sequence_flags"))
	}
	d.intern(get(p, "interned_data").Message())
	if has(p, "track_descriptor") {
		k := get(p, "track_descriptor").Message()
		tr := track{get(k, "uuid").Uint(), get(k, "parent_uuid").Uint(), get(k, "name").String(), has(k, "counter")}
		if _, again := d.tracks[tr.id]; again || tr.id == 0 || tr.name == "" {
			d.t.Fatalf("packet %d: track %+v", i, tr)
		}
		if _, ok := d.tracks[tr.parent]; tr.parent != 0 && !ok {
			d.t.Fatalf("packet %d: the parent of track %+v comes later", i, tr)
		}
		d.tracks[tr.id] = tr
		return
	}
	if !has(p, "track_event") || !has(p, "timestamp") {
		d.t.Fatalf("packet %d has neither track nor event", i)
	}
	d.event(int64(get(p, "timestamp").Uint()), get(p, "track_event").Message())
}

func (d *decoder) intern(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		table := d.interned[string(f.Name())]
		if table == nil {
			table = map[uint64]string{}
			d.interned[string(f.Name())] = table
		}
		for i := range v.List().Len() {
			e := v.List().Get(i).Message()
			text := ""
			switch {
			case has(e, "iid") && f.Name() == "source_locations":
				text = fmt.Sprintf("%s:%d", get(e, "file_name").String(), get(e, "line_number").Uint())
			case f.Name() == "debug_annotation_string_values":
				text = string(get(e, "str").Bytes())
			default:
				text = get(e, "name").String()
			}
			id := get(e, "iid").Uint()
			if _, again := table[id]; again || id == 0 {
				d.t.Fatalf("%s %d is there twice", f.Name(), id)
			}
			table[id] = text
		}
		return true
	})
}

func (d *decoder) text(table string, id uint64) string {
	s, ok := d.interned[table][id]
	if !ok {
		d.t.Fatalf("%s %d comes later", table, id)
	}
	return s
}

var kinds = map[int64]string{1: "begin", 2: "end", 3: "instant", 4: "counter"}

func (d *decoder) event(ts int64, m protoreflect.Message) {
	e := event{kind: kinds[get(m, "type").Int()], track: get(m, "track_uuid").Uint(), ts: ts, value: get(m, "counter_value").Int(), args: map[string]string{}}
	tr, ok := d.tracks[e.track]
	if !ok || e.kind == "" || tr.counter != (e.kind == "counter") {
		d.t.Fatalf("event %+v of track %+v", e, tr)
	}
	if has(m, "name_iid") {
		e.name = d.text("event_names", get(m, "name_iid").Uint())
	} else {
		e.name = get(m, "name").String()
	}
	if c := get(m, "category_iids").List(); c.Len() > 0 {
		e.cat = d.text("event_categories", c.Get(0).Uint())
	}
	if has(m, "source_location_iid") {
		e.where = d.text("source_locations", get(m, "source_location_iid").Uint())
	}
	for i, list := 0, get(m, "debug_annotations").List(); i < list.Len(); i++ {
		a := list.Get(i).Message()
		key, v := d.text("debug_annotation_names", get(a, "name_iid").Uint()), ""
		switch {
		case has(a, "string_value_iid"):
			v = d.text("debug_annotation_string_values", get(a, "string_value_iid").Uint())
		case has(a, "string_value"):
			v = get(a, "string_value").String()
		default:
			v = fmt.Sprint(get(a, "int_value").Int())
		}
		if _, again := e.args[key]; again {
			d.t.Fatalf("%s twice in %+v", key, e)
		}
		e.args[key] = v
	}
	for _, f := range []struct {
		name string
		to   *[]uint64
	}{{"flow_ids", &e.from}, {"terminating_flow_ids", &e.to}} {
		for i, list := 0, get(m, f.name).List(); i < list.Len(); i++ {
			*f.to = append(*f.to, list.Get(i).Uint())
		}
	}
	d.events = append(d.events, e)
}

// nest makes slices of events, in the order of their times as trace_processor takes them.
func (d *decoder) nest() {
	d.t.Helper()
	sorted := slices.Clone(d.events)
	slices.SortStableFunc(sorted, func(a, b event) int { return int(a.ts - b.ts) })
	open := map[uint64][]int{}
	for _, e := range sorted {
		stack := open[e.track]
		switch e.kind {
		case "begin":
			// Of a row, no two slices overlap; stages lie in their operation, and a read that comes
			// too early lies in what its slot is.
			early := e.name == timeline.SlotEarly && len(stack) == 1
			if want := map[bool]int{true: 1}[e.cat == "stage"]; len(stack) != want && !early {
				d.t.Fatalf("%+v lies in %d others of %s", e, len(stack), d.row(e.track))
			}
			open[e.track] = append(stack, len(d.slices))
			d.slices = append(d.slices, slice{event: e, dur: -1, depth: len(stack)})
		case "instant":
			d.slices = append(d.slices, slice{event: e, depth: len(stack)})
		case "end":
			if len(stack) == 0 {
				d.t.Fatalf("an end without a begin: %+v of %+v", e, d.tracks[e.track])
			}
			s := &d.slices[stack[len(stack)-1]]
			s.dur = e.ts - s.ts
			open[e.track] = stack[:len(stack)-1]
		}
	}
	for id, stack := range open {
		if len(stack) > 0 {
			d.t.Fatalf("track %+v: %+v has no end", d.tracks[id], d.slices[stack[0]])
		}
	}
}

// arrows checks that each arrow begins at one slice, and ends at none or at one that begins
// no earlier.
func (d *decoder) arrows() {
	d.t.Helper()
	from := map[uint64]slice{}
	for _, s := range d.slices {
		for _, f := range s.from {
			if _, again := from[f]; again {
				d.t.Fatalf("arrow %d begins twice", f)
			}
			from[f] = s
		}
	}
	ends := map[uint64]bool{}
	for _, s := range d.slices {
		for _, f := range s.to {
			if o, ok := from[f]; !ok || ends[f] || s.ts < o.ts {
				d.t.Fatalf("arrow %d ends at %+v, and begins at %+v", f, s, o)
			}
			ends[f] = true
		}
	}
}

// row names a track with those that it lies in.
func (d *trace) row(id uint64) string {
	tr := d.tracks[id]
	if tr.parent != 0 {
		return d.row(tr.parent) + "/" + tr.name
	}
	return tr.name
}
