package rules

import "testing"

// TestEdition: a kind says whose section numbers it has. The tensor core's are those of 9.4,
// where 9.0 has video instructions.
func TestEdition(t *testing.T) {
	for name, want := range map[string]string{"proxy-raw": "9.0", "register-budget": "9.0", "tensor-order": "9.4", "collector-misuse": "9.4", "cancel-misuse": "9.4"} {
		if got := Lookup(name).Edition(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
