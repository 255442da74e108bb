package loops

import "testing"

func TestPeriodic(t *testing.T) {
	for _, x := range []struct {
		name string
		list []span
		by   int64
		want bool
	}{
		{"side by side", []span{{0, 64, true}, {64, 64, true}}, 128, true},
		{"backwards", []span{{0, 64, true}, {64, 64, true}}, -128, true},
		{"too long by a byte", []span{{0, 129, true}}, 128, false},
		{"columns of rows", []span{{0, 16, true}, {1024, 16, true}, {2048, 16, true}}, 16, false},
		{"columns that end with the row", []span{{0, 16, true}, {1024 + 16, 16, true}}, 64, true},
		{"what the next period writes", []span{{0, 16, true}, {128, 16, false}}, 128, false},
		{"what the next period reads", []span{{0, 16, false}, {128, 16, false}}, 128, true},
		{"across a multiple", []span{{120, 16, true}, {128, 8, false}}, 128, true},
		{"across a multiple, and met", []span{{120, 16, true}, {0, 8, false}}, 128, false},
	} {
		g := &group{list: x.list}
		if got := g.periodic(x.by); got != x.want {
			t.Errorf("%s: %t", x.name, got)
		}
	}
}

func TestSeparate(t *testing.T) {
	g := &group{list: []span{{1000, 8, true}}}
	h := &group{list: []span{{2000, 8, true}}}
	for _, x := range []struct {
		s, t shape
		most int64
		want bool
	}{
		{shape{"body", 8, 0}, shape{"after", 0, 8}, 1 << 30, true},
		{shape{"body", 8, 0}, shape{"after", 0, 0}, 1 << 30, false},
		{shape{"body", 8, 0}, shape{"after", 0, 0}, 100, true},
		{shape{"body", 8, 0}, shape{"after", 0, 0}, 123, true}, // 1000+8*124 = 1992, and 8 bytes
		{shape{"body", 8, 0}, shape{"after", 0, 0}, 124, false},
		{shape{"body", 0, 0}, shape{"body", 8, 0}, 1 << 30, true},
		{shape{"body", 0, 0}, shape{"body", -8, 0}, 1 << 30, false},
		{shape{"body", 1 << 40, 0}, shape{"after", 0, 1 << 40}, 1 << 40, false}, // too far to say
	} {
		if got := separate(x.s, g, x.t, h, 2, x.most); got != x.want {
			t.Errorf("%v %v up to %d: %t", x.s, x.t, x.most, got)
		}
	}
}
