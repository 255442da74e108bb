package perfetto_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"muster"
	"muster/internal/perfetto"
	"muster/internal/yaml"
)

func load(t *testing.T, file string) *muster.Launch {
	t.Helper()
	f, err := yaml.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// record traces a run, twice, and decodes the trace.
func record(t *testing.T, l *muster.Launch, schedule string, o muster.TraceOptions) (*trace, muster.Traced, []byte) {
	t.Helper()
	s, err := muster.ParseSchedule(schedule)
	if err != nil {
		t.Fatal(err)
	}
	var data [2]bytes.Buffer
	var got muster.Traced
	for i := range data {
		if got, err = l.Trace(context.Background(), s, o, perfetto.NewWriter(&data[i])); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(data[0].Bytes(), data[1].Bytes()) {
		t.Error("two traces of one run differ")
	}
	return decode(t, data[0].Bytes()), got, data[0].Bytes()
}

// count counts slices of a category and a name; an empty name is any.
func (d *trace) count(cat, name string) (n int) {
	for _, s := range d.slices {
		if s.cat == cat && (name == "" || s.name == name) {
			n++
		}
	}
	return n
}

// The ring has 64 tiles of 1,024 bytes through 4 stages, to 4 warps. What a trace says of it
// agrees with itself: waits with the phases that they are for, phases with what completed
// them, counters with phases.
func TestRing(t *testing.T) {
	l := load(t, "examples/ring/ring.yaml")
	for _, schedule := range []string{"earliest", "latest", "round-robin", "random:3"} {
		d, got, _ := record(t, l, schedule, muster.TraceOptions{})
		if n := d.count("operation", "bulk copy"); n != 64 {
			t.Errorf("%s: %d bulk copies", schedule, n)
		}
		for _, stage := range []string{"source not read", "source read", "written, not signalled"} {
			if n := d.count("stage", stage); n != 64 {
				t.Errorf("%s: %d times %q", schedule, n, stage)
			}
		}
		ends := map[string]slice{}
		for _, s := range d.slices {
			if s.cat == "phase" {
				ends[s.args["barrier"]+" "+s.args["phase"]] = s
			}
		}
		// 16 phases and the open one of each of 4 full and 4 empty barriers.
		if len(ends) != 8*17 {
			t.Errorf("%s: %d phases", schedule, len(ends))
		}
		waits := 0
		for _, s := range d.slices {
			switch {
			case s.cat == "run" && s.name == "ring":
				if s.dur != int64(got.Steps)*perfetto.Step || s.args["schedule"] != schedule || s.args["end"] != "every CTA has ended" {
					t.Errorf("%s: %+v", schedule, s)
				}
			case s.cat == "wait" && s.args["barrier"] != "":
				waits++
				p, ok := ends[s.args["barrier"]+" "+s.args["phase"]]
				step, _ := strconv.ParseInt(s.args["completed_in_step"], 10, 64)
				if !ok || s.ts+s.dur < p.ts+p.dur || p.ts+p.dur != step*perfetto.Step || s.args["completed_by"] != p.args["ended_by"] {
					t.Errorf("%s: wait %+v of phase %+v", schedule, s, p)
				}
			case s.cat == "operation" && s.args["bytes"] != "1024":
				t.Errorf("%s: %+v", schedule, s)
			}
		}
		if waits == 0 || d.woken() < waits {
			t.Errorf("%s: %d waits at mbarriers, %d arrows to them", schedule, waits, d.woken())
		}
		d.ledger(t, ends)
	}
}

// woken counts the arrows that end at steps.
func (d *trace) woken() (n int) {
	for _, s := range d.slices {
		if s.cat == "step" {
			n += len(s.to)
		}
	}
	return n
}

// ledger checks the counters of a ring when its phases end: nothing is pending of the one
// that ended, so that the next one has all of its arrivals before it.
func (d *trace) ledger(t *testing.T, phases map[string]slice) {
	t.Helper()
	last := map[string]map[int64]int64{}
	for _, e := range d.events {
		if e.kind == "counter" {
			row := d.row(e.track)
			if last[row] == nil {
				last[row] = map[int64]int64{}
			}
			last[row][e.ts] = e.value
		}
	}
	for _, p := range phases {
		if strings.Contains(p.args["ended_by"], "end") { // of its CTA, or open at the end of the run
			continue
		}
		want := int64(1)
		if strings.HasPrefix(p.args["barrier"], "empty") {
			want = 4
		}
		at := p.ts + p.dur
		row := d.row(p.track)
		if n, ok := last[row+"/pending arrivals"][at]; !ok || n != want {
			t.Errorf("%s at %d: %d pending, %v", row, at, n, ok)
		}
		if n, ok := last[row+"/tx-count"][at]; !ok || n != 0 {
			t.Errorf("%s at %d: tx-count %d, %v", row, at, n, ok)
		}
	}
}

// Traces of all kinds of kernels are well formed, which decode checks.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		file     string
		cat, has string
	}{
		{"examples/cluster_exchange/cluster_exchange.yaml", "wait", "wait: barrier.cluster"},
		{"examples/named_barrier/named_barrier.yaml", "wait", "wait: barrier 1"},
		{"examples/ldgsts/ldgsts.yaml", "operation", "cp.async"},
		{"examples/gemm_ws_multicast/gemm_ws_multicast.yaml", "operation", "wgmma"},
		{"examples/blackwell/gemm_2cta.yaml", "operation", "tcgen05.mma"},
		{"examples/bulk_store/bulk_store.yaml", "wait", "wait: its asynchronous operations"},
	} {
		d, _, _ := record(t, load(t, c.file), "latest", muster.TraceOptions{})
		for _, s := range d.slices {
			if n, err := strconv.Atoi(s.args["group"]); s.cat == "operation" && s.name == "wgmma" && (err != nil || n < 1) {
				t.Errorf("%s: %+v is in no group", c.file, s)
			}
		}
		if d.count(c.cat, c.has) == 0 {
			t.Errorf("%s: no %s %q", c.file, c.cat, c.has)
		}
	}
}

// Both accesses of a race are marked: the warp's, and that of the operation.
func TestFinding(t *testing.T) {
	l := load(t, "examples/found/broken_bulk_store.yaml")
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f := &r.Findings[0]
	d, got, _ := record(t, l, f.Schedule, muster.TraceOptions{Finding: f.ID})
	marks := map[string]string{}
	for _, s := range d.slices {
		if s.cat == "finding" {
			marks[s.name] = d.row(s.track)
		}
	}
	if !got.Marked || len(marks) != 2 || !strings.HasSuffix(marks["proxy-raw: writes"], "/warp 0") || !strings.HasSuffix(marks["proxy-raw: bulk copy reads"], "/bulk copy") {
		t.Errorf("%+v, %q", got, marks)
	}
}

// A hang: what waits for ever does so to the end, and says so.
func TestHang(t *testing.T) {
	l := load(t, "examples/ring/broken_count.yaml")
	d, got, _ := record(t, l, "earliest", muster.TraceOptions{})
	n := 0
	for _, s := range d.slices {
		if s.cat == "wait" && s.args["ended"] == "for ever" {
			n++
			if s.ts+s.dur != int64(got.Steps)*perfetto.Step {
				t.Errorf("%+v does not last to the end, %d", s, got.Steps)
			}
		}
		if s.cat == "run" && s.name == l.Name() && s.args["end"] != "nothing can go on" {
			t.Errorf("%+v", s)
		}
	}
	if n == 0 {
		t.Error("nothing waits for ever")
	}
}

// A trace that ends before the run says so, and is whole.
func TestCut(t *testing.T) {
	d, got, _ := record(t, load(t, "examples/ring/ring.yaml"), "earliest", muster.TraceOptions{Steps: 500})
	if got.Steps != 500 || got.Cut != "it has more than 500 steps, which is all that the trace takes" {
		t.Errorf("%+v", got)
	}
	for _, s := range d.slices {
		if s.name == "ring" && s.args["end"] != "the trace ends before the run: "+got.Cut {
			t.Errorf("%+v", s)
		}
	}
}

// full is a disk that takes some bytes.
type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// A trace that cannot be written ends with the error, at whatever packet it comes.
func TestFull(t *testing.T) {
	l := load(t, "examples/ring/ring.yaml")
	for _, n := range []int{0, 1, 100, 10_000, 90_000} {
		_, err := l.Trace(context.Background(), muster.Schedule{}, muster.TraceOptions{}, perfetto.NewWriter(&full{n}))
		if !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// A finding that a launch has without a run leaves nothing to trace.
func TestNoRun(t *testing.T) {
	l := load(t, "internal/perfetto/testdata/not_resident.yaml")
	var none *muster.Untold
	var out bytes.Buffer
	_, err := l.Trace(context.Background(), muster.Schedule{}, muster.TraceOptions{}, perfetto.NewWriter(&out))
	if !errors.As(err, &none) || out.Len() > 0 {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}

// BenchmarkTrace traces the ring; its figure is bytes and packets a step.
func BenchmarkTrace(b *testing.B) {
	f, err := yaml.ReadFile("../../examples/ring/ring.yaml")
	if err != nil {
		b.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var out bytes.Buffer
		got, err := l.Trace(context.Background(), muster.Schedule{}, muster.TraceOptions{}, perfetto.NewWriter(&out))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(out.Len())/float64(got.Steps), "bytes/step")
	}
}
