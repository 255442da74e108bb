package story

import (
	"testing"

	"muster/internal/resolve"
)

func TestSlices(t *testing.T) {
	for _, c := range []struct {
		text       string
		from, upto uint64
		bad        bool
	}{
		{text: "0:8]", from: 0, upto: 8}, {text: ":8]", upto: 8}, {text: "3:]", from: 3, upto: 10}, {text: "7]", from: 7, upto: 8}, {text: ":]", upto: 10},
		{text: "0:11]", bad: true}, {text: "10]", bad: true}, {text: "4:4]", bad: true}, {text: "-1:2]", bad: true}, {text: "a]", bad: true},
		{text: "1:2", bad: true}, {text: "99999999999999999999]", bad: true},
	} {
		r := &resolve.Resolver{Regions: []resolve.Region{{Name: "_ZZ1kE3buf", Shared: true, Size: 40, Elem: 4}, {Name: "in", Size: 10}}}
		shows, err := ParsePrints(r, []string{"memory:buf[" + c.text})
		if c.bad {
			if err == nil {
				t.Errorf("%s is taken as %+v", c.text, shows)
			}
			continue
		}
		if err != nil || shows[0].from != c.from || shows[0].upto != c.upto || shows[0].elem() != 4 {
			t.Errorf("%s: %+v, %v", c.text, shows, err)
		}
	}
}

func TestPrints(t *testing.T) {
	r := &resolve.Resolver{Regions: []resolve.Region{{Name: "buf", Shared: true, Size: 40, Elem: 4}, {Name: "in", Size: 1 << 20}}}
	for _, text := range []string{"barriers", "ops", "memory:buf", "memory:buf@3", "memory:buf@1[2:4]", "memory:in[0:1024]"} {
		if _, err := ParsePrints(r, []string{text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "barrier", "memory", "memory:", "memory:out", "memory:in", "memory:in@1", "memory:in[0:1025]", "memory:buf@-1", "memory:buf@x", "ops:1"} {
		if shows, err := ParsePrints(r, []string{text}); err == nil {
			t.Errorf("%q is taken as %+v", text, shows)
		}
	}
}

// TestEnds: the first and the last are told, each once.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		steps       []int
		first, last int
		want        int
	}{{nil, 2, 2, 0}, {[]int{1, 1, 2}, 2, 2, 2}, {[]int{1, 2, 3, 4, 5, 6}, 2, 1, 3}, {[]int{4, 5, 6}, 3, 3, 3}} {
		got := map[int]int{}
		addEnds(c.steps, c.first, c.last, func(step, _ int) { got[step]++ })
		n := 0
		for step, times := range got {
			if n++; times > 1 {
				t.Errorf("%v: step %d is told %d times", c.steps, step, times)
			}
		}
		if n != c.want {
			t.Errorf("%v: %d told, want %d", c.steps, n, c.want)
		}
	}
}
