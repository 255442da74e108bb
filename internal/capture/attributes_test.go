package capture

import (
	"testing"

	"muster/launch"
)

// TestAttributes: a launch keeps both sizes of its clusters, and a launch file that it can be
// written to.
func TestAttributes(t *testing.T) {
	w := &writer{}
	var l launch.Launch
	w.attributes(&l, [][4]uint32{{attrCooperative, 1}, {attrCluster, 2, 1, 1}, {attrPreferredCluster, 4, 2, 1}})
	if !l.Cooperative || l.Cluster != [3]uint32{2, 1, 1} || l.Preferred != [3]uint32{4, 2, 1} || len(w.notes) > 0 {
		t.Errorf("%+v, notes %q", l, w.notes)
	}
}
