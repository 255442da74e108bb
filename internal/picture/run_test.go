package picture

import (
	"fmt"
	"strings"
	"testing"

	"muster/report"
)

// TestManySlots: rows have names that differ, and the chart of slots says of how many it is,
// where there are more than it draws.
func TestManySlots(t *testing.T) {
	for n, want := range map[int]string{3: ">How many slots<", mostSlots + 24: ">How many of these 16 slots<"} {
		r := New()
		r.Track(report.TraceTrack{ID: 1, Name: "CTA (0,0,0)", Kind: report.TrackCTA})
		for k := range n {
			id := uint64(k + 2)
			r.Track(report.TraceTrack{ID: id, Parent: 1, Name: fmt.Sprintf("slot of %s[%d]", strings.Repeat("stage", 9), k), Rank: k, Kind: report.TrackSlot})
			r.Mark(report.TraceMark{Kind: report.TraceBegin, Track: id, Name: stateNames[filling]})
			r.Mark(report.TraceMark{Kind: report.TraceEnd, Track: id, Time: 4})
		}
		var b strings.Builder
		if err := r.Write(&b, About{Kernel: "k", Schedule: "earliest", Steps: 8}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, part := range []string{want, "[0]</text>", "[2]</text>"} {
			if !strings.Contains(text, part) {
				t.Errorf("%d slots: no %q", n, part)
			}
		}
		if got := strings.Contains(text, ">24 rows more are not shown.<"); got != (n > mostSlots) {
			t.Errorf("%d slots: that rows are left out is said: %v", n, got)
		}
	}
}
