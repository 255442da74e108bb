package muster_test

import (
	"slices"
	"testing"

	"muster"
)

// TestClassesAlone holds the attempt at a proof alone to the claims about classes of orders and
// about counters: a check may come upon the error before, and hide that the proof would not.
func TestClassesAlone(t *testing.T) {
	for _, c := range slices.Concat(readClaims(t, "testdata/claims/classes.ptx"), readClaims(t, "testdata/claims/counters.ptx")) {
		l, err := c.load()
		if err != nil {
			t.Fatal(err)
		}
		if p := muster.Attempt(l); p.All == c.unproven {
			t.Errorf("%s: proven is %v: %v", c.name, p.All, p.Reasons)
		}
	}
}
