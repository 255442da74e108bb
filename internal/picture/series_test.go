package picture

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSeries: a series that has been widened has the sums of one that kept every step.
func TestSeries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		last := int64(1) << (1 + rng.IntN(16))
		each := make([]int64, last)
		var s series
		for range 200 {
			from := rng.Int64N(last)
			to := from + rng.Int64N(last-from) + 1
			v := rng.Int64N(5)
			s.add(from, to, v)
			for i := from; i < to; i++ {
				each[i] += v
			}
		}
		w := widthFor(last)
		s.over(w)
		if s.width != w || (last+w-1)/w > columns {
			t.Fatalf("%d steps: columns of %d, and %d are wanted", last, s.width, w)
		}
		sums := make([]int64, columns)
		for i, v := range each {
			sums[int64(i)/w] += v
		}
		for i := range sums {
			if sums[i] != s.sums[i] {
				t.Fatalf("%d steps: column %d is %d, want %d", last, i, s.sums[i], sums[i])
			}
		}
	}
}

// TestArea draws stairs back into cells: those below and above a path's edges are as they were
// asked for.
func TestArea(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const base = 20
	for range 300 {
		n := 1 + rng.IntN(12)
		lower, height := make([]int, n), make([]int, n)
		for i := range lower {
			lower[i], height[i] = rng.IntN(4), rng.IntN(4)
			if i > 0 && rng.IntN(2) == 0 {
				lower[i], height[i] = lower[i-1], height[i-1]
			}
		}
		path := area(lower, height, base)
		for x := range n {
			for y := range base {
				want := y >= base-lower[x]-height[x] && y < base-lower[x]
				if got := inside(t, path, x, y); got != want {
					t.Fatalf("%v above %v: cell %d %d is drawn: %t\n%s", height, lower, x, y, got, path)
				}
			}
		}
	}
}

// inside reports whether the middle of a cell is inside a path of M, V, H and z: by how many of its
// vertical edges lie to the left.
func inside(t *testing.T, path string, cx, cy int) bool {
	t.Helper()
	in := false
	for _, part := range strings.Split(path, "z") {
		if part == "" {
			continue
		}
		var x, y, x0, y0 int
		edge := func(x, from, to int) {
			if x <= cx && min(from, to) <= cy && cy < max(from, to) {
				in = !in
			}
		}
		if _, err := fmt.Sscanf(part, "M%d %d", &x, &y); err != nil {
			t.Fatal(path)
		}
		x0, y0 = x, y
		rest := part[strings.IndexAny(part, "VH"):]
		for rest != "" {
			var v int
			op := rest[0]
			if _, err := fmt.Sscanf(rest[1:], "%d", &v); err != nil {
				t.Fatal(path)
			}
			if op == 'V' {
				edge(x, y, v)
				y = v
			} else {
				x = v
			}
			i := strings.IndexAny(rest[1:], "VH")
			if i < 0 {
				break
			}
			rest = rest[1+i:]
		}
		if x != x0 {
			t.Fatalf("a part does not end below where it begins: %s", part)
		}
		edge(x, y, y0)
	}
	return in
}

// TestEscape: no text of a kernel is markup.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		`<script>"&'`: "&lt;script&gt;&#34;&amp;&#39;",
		"a\x00b\nc":   `a\x00b\nc`,
		"\xff":        "?",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
