package muster_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"muster"
	"muster/report"
)

var profiled = []string{"ring/ring", "gemm_ws_multicast/gemm_ws_multicast", "flash_attention_fwd/flash_attention_fwd", "triton_softmax/triton_softmax",
	"gemm_mma_sync/gemm_mma_sync", "ldgsts/ldgsts", "named_barrier/named_barrier"}

func schedule(t *testing.T, text string) muster.Schedule {
	t.Helper()
	s, err := muster.ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestProfile: what a profile says of a run agrees with the run, and with itself.
func TestProfile(t *testing.T) {
	for _, name := range profiled {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			l := example(t, name)
			for _, text := range []string{"earliest", "round-robin"} {
				s := schedule(t, text)
				run, err := l.Run(context.Background(), muster.RunOptions{Schedule: s})
				if err != nil || run.Report != nil {
					t.Fatal(err, run)
				}
				p, err := l.Profile(context.Background(), s, muster.ProfileOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if p.Instructions != run.Warps {
					t.Errorf("%s: %d instructions, and the run has %d", text, p.Instructions, run.Warps)
				}
				again, err := l.Profile(context.Background(), s, muster.ProfileOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if a, b := jsonOf(t, p), jsonOf(t, again); a != b {
					t.Errorf("%s: two profiles of one run differ", text)
				}
				agrees(t, text, p, run.Launch.CTAs)
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// agrees checks that the tables of a profile have one sum.
func agrees(t *testing.T, name string, p *report.Profile, ctas int) {
	t.Helper()
	type sums struct {
		steps int64
		report.Waited
		report.Moved
	}
	var warps, by, waits, ops sums
	add := func(to *sums, steps int64, w report.Waited, m report.Moved) {
		to.steps += steps
		to.Waits, to.Stood, to.Failed, to.Longest = to.Waits+w.Waits, to.Stood+w.Stood, to.Failed+w.Failed, max(to.Longest, w.Longest)
		to.Operations, to.Bytes = to.Operations+m.Operations, to.Bytes+m.Bytes
	}
	instructions := int64(0)
	for _, w := range p.Warps {
		add(&warps, w.Steps, w.Waited, w.Moved)
		instructions += w.Instructions
	}
	for _, c := range p.CTAs {
		add(&by, c.Steps, c.Waited, c.Moved)
	}
	for _, w := range p.Waits {
		add(&waits, 0, w.Waited, report.Moved{})
	}
	for _, o := range p.Operations {
		add(&ops, 0, report.Waited{}, o.Moved)
	}
	if warps != by || warps.Waited != waits.Waited || warps.Moved != ops.Moved {
		t.Errorf("%s: by warps %+v, by CTAs %+v, by waits %+v, by operations %+v", name, warps, by, waits, ops)
	}
	lines, steps := int64(0), int64(0)
	for _, l := range p.Lines {
		lines, steps = lines+l.Instructions, steps+l.Steps
	}
	if lines != p.Instructions || instructions != p.Instructions || steps != warps.steps || steps > p.Steps {
		t.Errorf("%s: %d instructions, by lines %d, by warps %d; %d steps by lines, %d by warps, of %d", name, p.Instructions, lines, instructions, steps, warps.steps, p.Steps)
	}
	if len(p.CTAs) != ctas {
		t.Errorf("%s: %d CTAs of %d", name, len(p.CTAs), ctas)
	}
	if s := p.Slots; s.Early != 0 {
		t.Errorf("%s: %d reads of what a copy in flight writes, in a kernel that is right", name, s.Early)
	}
}

// TestProfileRing: 64 tiles of 1,024 bytes come through four slots, and warps 1 to 4 are one role.
func TestProfileRing(t *testing.T) {
	l := example(t, "ring/ring")
	for _, text := range []string{"earliest", "latest", "round-robin", "random:1"} {
		p, err := l.Profile(context.Background(), schedule(t, text), muster.ProfileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Warps) != 2 || p.Warps[0].Last != 0 || p.Warps[1].First != 1 || p.Warps[1].Last != 4 {
			t.Errorf("%s: roles %+v", text, p.Warps)
		}
		if len(p.Operations) != 1 || p.Operations[0].Operations != 64 || p.Operations[0].Bytes != 64<<10 || p.Warps[0].Bytes != 64<<10 {
			t.Errorf("%s: operations %+v", text, p.Operations)
		}
		if p.Slots.Slots != 4 || p.InFlight.Most < 1<<10 || p.InFlight.Most > 4<<10 {
			t.Errorf("%s: slots %+v, in flight %+v", text, p.Slots, p.InFlight)
		}
		// A byte is in flight for as long as its copy is.
		if want := p.Operations[0].InFlight << 10; p.InFlight.ByteSteps > want || p.InFlight.ByteSteps < want-64<<10 {
			t.Errorf("%s: %d bytes times steps, and copies are in flight for %d", text, p.InFlight.ByteSteps, want)
		}
	}
}

// TestProfileProducts: a GEMM of m, n and k has m·n·k multiply-adds, whatever makes them.
func TestProfileProducts(t *testing.T) {
	for name, want := range map[string]int64{
		"flash_attention_fwd/flash_attention_fwd": 16777216,
		"gemm_ws_multicast/gemm_ws_multicast":     256 * 256 * 512,
	} {
		p, err := example(t, name).Profile(context.Background(), schedule(t, "earliest"), muster.ProfileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Products.MultiplyAdds != want || p.Products.Unknown != 0 {
			t.Errorf("%s: %+v, want %d", name, p.Products, want)
		}
	}
}

// TestProfileCut: a longer run than is looked at is profiled as far as that goes, and says so.
func TestProfileCut(t *testing.T) {
	p, err := example(t, "ring/ring").Profile(context.Background(), schedule(t, "earliest"), muster.ProfileOptions{Steps: 100})
	if err != nil {
		t.Fatal(err)
	}
	if p.Steps != 100 || !strings.Contains(p.Cut, "100 steps") {
		t.Errorf("%d steps, cut %q", p.Steps, p.Cut)
	}
}

// A slotTrace takes the slots of a run.
type slotTrace struct {
	t        *testing.T
	tracks   map[uint64]report.TraceTrack
	open     map[uint64][]report.TraceMark
	slices   map[uint64][][2]int64 // of slots, as they close
	names    map[string]int
	counts   map[string]map[int64]int64 // by state: by time, by how much the number changes
	counters map[string][][2]int64
}

func (s *slotTrace) Err() error                { return nil }
func (s *slotTrace) Track(t report.TraceTrack) { s.tracks[t.ID] = t }
func (s *slotTrace) Mark(m report.TraceMark) {
	t := s.tracks[m.Track]
	switch {
	case t.Counter && strings.HasPrefix(t.Name, "slots "):
		name := strings.TrimPrefix(t.Name, "slots ")
		s.counters[name] = append(s.counters[name], [2]int64{m.Time, m.Value})
	case t.Kind != report.TrackSlot:
	case m.Kind == report.TraceBegin:
		s.open[m.Track] = append(s.open[m.Track], m)
	case m.Kind == report.TraceEnd:
		list := s.open[m.Track]
		b := list[len(list)-1]
		s.open[m.Track] = list[:len(list)-1]
		s.names[b.Name]++
		if b.Name == "read while a copy is in flight" {
			return
		}
		s.slices[m.Track] = append(s.slices[m.Track], [2]int64{b.Time, m.Time})
		if s.counts[b.Name] == nil {
			s.counts[b.Name] = map[int64]int64{}
		}
		s.counts[b.Name][b.Time]++
		s.counts[b.Name][m.Time]--
	}
}

func slotsOf(t *testing.T, name, text string) *slotTrace {
	t.Helper()
	s := &slotTrace{t: t, tracks: map[uint64]report.TraceTrack{}, open: map[uint64][]report.TraceMark{}, slices: map[uint64][][2]int64{}, names: map[string]int{},
		counts: map[string]map[int64]int64{}, counters: map[string][][2]int64{}}
	if _, err := example(t, name).Trace(context.Background(), schedule(t, text), muster.TraceOptions{}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSlots: each of 64 tiles fills a slot, makes it full and has it read, one after the other; and
// in no schedule are more than four slots anything.
func TestSlots(t *testing.T) {
	for _, text := range []string{"earliest", "latest", "round-robin", "random:1", "random:2"} {
		s := slotsOf(t, "ring/ring", text)
		for _, state := range []string{"filling", "full", "being read"} {
			if s.names[state] != 64 {
				t.Errorf("%s: %d times %s", text, s.names[state], state)
			}
			for i, c := range s.counters[state] {
				if c[1] < 0 || c[1] > 4 || i > 0 && c[0] < s.counters[state][i-1][0] {
					t.Errorf("%s: %s is %v", text, state, c)
				}
			}
		}
		if n := s.names["read while a copy is in flight"]; n != 0 {
			t.Errorf("%s: %d early reads in a ring that is right", text, n)
		}
		if len(s.slices) != 4 {
			t.Errorf("%s: %d slots", text, len(s.slices))
		}
		for _, list := range s.slices {
			for i := range list {
				if i > 0 && list[i][0] < list[i-1][1] {
					t.Fatalf("%s: a slot is two things: %v and %v", text, list[i-1], list[i])
				}
			}
		}
	}
}

// TestEarlyReads: where consumers do not wait, some schedule has them read what a copy in flight
// writes.
func TestEarlyReads(t *testing.T) {
	if s := slotsOf(t, "ring/broken_no_wait", "latest"); s.names["read while a copy is in flight"] == 0 {
		t.Error("no read of what a copy in flight writes")
	}
}

// BenchmarkProfile says how many times as long as a run a profile of it takes: it makes two runs,
// without the arithmetic of matrices that decides nothing.
func BenchmarkProfile(b *testing.B) {
	for _, name := range []string{"ring/ring", "gemm_ws_multicast/gemm_ws_multicast"} {
		b.Run(name, func(b *testing.B) {
			l := example(b, name)
			var s muster.Schedule
			var run, profile time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := l.Run(context.Background(), muster.RunOptions{Schedule: s, Jobs: 1}); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				if _, err := l.Profile(context.Background(), s, muster.ProfileOptions{}); err != nil {
					b.Fatal(err)
				}
				run, profile = run+between.Sub(start), profile+time.Since(between)
			}
			b.ReportMetric(float64(profile)/float64(run), "profile/run")
			b.ReportMetric(0, "ns/op")
		})
	}
}
