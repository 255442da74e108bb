package diag

import "testing"

func TestNearestSymbol(t *testing.T) {
	for got, want := range map[string]string{"scale": "_Z5scalePfi", "gemm": "_ZN2ns4gemmE", "ad": "add", "q": ""} {
		if near := NearestSymbol(got, []string{"_Z5scalePfi", "_ZN2ns4gemmE", "add"}); near != want {
			t.Errorf("%q: %q, want %q", got, near, want)
		}
	}
}

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
