package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestProfileText: tables fit a terminal of any width, names in them are one line and command no
// terminal, and what is left out is counted.
func TestProfileText(t *testing.T) {
	place := Place{File: "dir/k\x1b[31m\n.ptx", Line: 7}
	p := &Profile{Schedule: strings.Repeat("r0.0.0*3,", 40) + "latest", Steps: 1 << 40, Instructions: 5, Cut: "it has more than 9 steps, which is all that the trace takes",
		Warps:      []WarpsProfile{{First: 0, Last: 3, Steps: 1234567890123, Instructions: 1234567890123, Waited: Waited{1234567, 1234567890, 9, 8}, Moved: Moved{1234567, 1 << 50}}},
		CTAs:       []CTAProfile{{Name: "CTA (0,0,0)"}, {Name: "a launch of a long name, CTA (65535,65535,65535)", Steps: 1 << 50}},
		Waits:      []WaitProfile{{For: "b\x07" + strings.Repeat("arrier", 9), Name: "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64", PTX: place}},
		Operations: []OperationProfile{{Kind: "bulk copy", Name: "cp.async.bulk", PTX: place, Source: &Place{File: "k.cu", Line: 3}}},
		Products:   ProductsProfile{10, 1 << 40, 3}, Slots: SlotsProfile{4, 1, 2, 3, 4, 5}, InFlight: FlightProfile{1 << 40, 3, 1 << 50},
	}
	for i := range 40 {
		p.Lines = append(p.Lines, InstructionProfile{Name: "add.f32", PTX: Place{File: "k.ptx", Line: i + 1}, Warps: "0-3,7", Instructions: int64(i + 1)})
	}
	for _, width := range []int{0, 1, 30, 47, 60, 80, 300} {
		var b strings.Builder
		if err := p.WriteText(&b, TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		most := TextOptions{Width: width}.width()
		for _, l := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(l); n > max(most, 34) {
				t.Errorf("%d columns: %d characters: %s", width, n, l)
			}
			if strings.ContainsAny(l, "\x1b\x07\r") {
				t.Errorf("%d columns: %q", width, l)
			}
		}
		flat := strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"and no time of a card", "1,234,567,890,123", "… and 24 instructions more (JSON has all)", "the profile ends before the run: it has more than 9 steps",
			"10 % filling, 20 % full, 30 % being read, 40 % empty; 5 steps read what a copy in flight writes"} {
			if !strings.Contains(flat, want) {
				t.Errorf("%d columns: no %q in\n%s", width, want, text)
			}
		}
	}
}

// TestProfilePlaces: what is at one line of the source by one name is one row, and lines of the file
// that most are of have no name before them.
func TestProfilePlaces(t *testing.T) {
	p := &Profile{Steps: 9}
	for i := range 3 {
		p.Lines = append(p.Lines, InstructionProfile{Name: "mul.f32", PTX: Place{File: "k.ptx", Line: 10 + i}, Source: &Place{File: "k.cu", Line: 5}, Warps: "0", Instructions: 4, Steps: 1})
	}
	p.Lines = append(p.Lines, InstructionProfile{Name: "add.f32", PTX: Place{File: "k.ptx", Line: 20}, Source: &Place{File: "h.h", Line: 6}, Warps: "0", Instructions: 1})
	var b strings.Builder
	if err := p.WriteText(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"places are lines of k.cu\n", "warps 0         3        12  :5  3 × mul.f32\n", "warps 0            0         1  h.h:6, PTX 20  add.f32\n"} {
		if !strings.Contains(b.String(), want) {
			t.Error(fmt.Sprintf("no %q in", want), b.String())
		}
	}
}
