package machine

import "testing"

// TestPickText: a choice of a version reads as it is written.
func TestPickText(t *testing.T) {
	for _, v := range []Version{Initial, version(0, 0, 0, 0), version(3, 2, 31, 7), version(70_000, 31, 5, 1<<turnBits-1)} {
		c := Choice{Kind: Pick, CTA: 4, Warp: 1, Lane: 9, Op: int64(v)}
		if got, err := ParseChoice(c.String()); err != nil || got != c {
			t.Errorf("%s: %v, %v", c, got, err)
		}
	}
	several := Choice{Kind: Pick, CTA: 1}.taking([]Version{version(0, 0, 0, 3), Initial, version(2, 1, 4, 9)})
	if got, err := ParseChoice(several.String()); err != nil || got != several || several.String() != "o1.0.0<0.0.0:3+i+2.1.4:9" {
		t.Errorf("%s: %v, %v", several, got, err)
	}
	for _, bad := range []string{"o1.0.0<i+", "o1.0.0<i+i+i+i+i+i+i+i+i", "o", "o1.0.0", "o1.0.0<", "o1.0.0<x", "o1.0.0<0.0.32:0", "o1.0.0<0.64.0:0", "o1.0.0<0.0.0:-1", "o1.0.0<0.0.0:0 "} {
		if c, err := ParseChoice(bad); err == nil {
			t.Errorf("%q is %v", bad, c)
		}
	}
}
