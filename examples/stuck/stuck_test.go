package stuck

import (
	"strings"
	"testing"

	"muster/mbarrier/mbarriertest"
)

// TestAll: each mistake ends in a deadlock, and the report says what its name promises.
func TestAll(t *testing.T) {
	for _, m := range All {
		t.Run(m.Name, func(t *testing.T) {
			r := mbarriertest.Record(t, func(*testing.T) { m.Run() })
			t.Log("\n" + strings.Join(r.Words, "\n"))
		})
	}
}
