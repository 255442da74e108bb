package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster"
)

// TestMeasure: a right row has nothing outside, wrong references have; a row with D
// transposed has, too, and a row that does not fit is told.
func TestMeasure(t *testing.T) {
	of, err := filepath.Abs("../../../examples/blackwell/gemm_cancel.yaml")
	if err != nil {
		t.Fatal(err)
	}
	right := row{Name: "right", Launch: of, M: 256, N: 256, K: 128, A: matrix{Buffer: "a", Format: "f16"}, B: matrix{Buffer: "b", Format: "f16"}, D: matrix{Buffer: "c", Format: "f32"}}
	transposed, large, unnamed := right, right, right
	transposed.Name, transposed.D.Row, transposed.D.Column = "transposed", 1, 256
	large.Name, large.N = "large", 512
	unnamed.Name, unnamed.B.Buffer = "unnamed", "d"
	text, err := json.Marshal([]row{right, transposed, large, unnamed})
	if err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(t.TempDir(), "table.json")
	if err := os.WriteFile(table, text, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := muster.ParseSchedule("latest")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		bits       int
		ok         bool
	}{
		{"right", "right 256×256×128 cancelling 65536 0 0 1.000 0.00", 0, true},
		{"right", "right 256×256×128 cancelling 65536 0 65536", 26, false},
		{"transposed", "D[0, 1] is", 0, false},
		{"large", "element (511, 127) of b is at 131070, in a buffer of 65536 bytes", 0, false},
		{"unnamed", `no buffer is called "d"`, 0, false},
	} {
		var out bytes.Buffer
		o := &options{inputs: []string{"cancelling"}, schedule: s, planted: c.ok, bits: c.bits}
		ok, err := o.measure(&out, table, []string{c.name})
		if err != nil || ok != c.ok || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), c.want) {
			t.Errorf("%s: %t %v: %s", c.name, ok, err, &out)
		}
	}
}
