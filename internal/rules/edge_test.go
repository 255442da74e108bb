package rules

import "testing"

// TestEdges sees that each kind that is said to lack an order is one of the catalogue.
func TestEdges(t *testing.T) {
	for name, e := range edges {
		k := Lookup(name)
		if k == nil {
			t.Errorf("no kind is called %s", name)
		} else if k.Edge() != e {
			t.Errorf("%s: edge %d, want %d", name, k.Edge(), e)
		}
	}
	if e := Lookup("bytes-missing").Edge(); e != NoEdge {
		t.Errorf("bytes-missing lacks an order: %d", e)
	}
}
