package diag

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"zeros", "ones", "race-generic", "f32", "128B"}
	for got, want := range map[string]string{
		"zero": "zeros", "onse": "ones", "RACE-GENERIC": "race-generic", "race_generic": "race-generic", "F32": "f32", "128b": "128B",
		"": "", "q": "", "frobnicate": "",
	} {
		if near := Nearest(got, known); near != want {
			t.Errorf("%q: %q, want %q", got, near, want)
		}
	}
}
