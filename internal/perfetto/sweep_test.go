package perfetto_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"path/filepath"
	"testing"

	"muster"
	"muster/internal/perfetto"
	"muster/internal/yaml"
)

var sweep = flag.Bool("sweep", false, "trace every example")

// TestSweep traces every launch file of the examples: decode checks that each trace is well
// formed.
func TestSweep(t *testing.T) {
	if !*sweep {
		t.Skip("needs -sweep")
	}
	n := 0
	err := filepath.WalkDir("../../examples", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".yaml" {
			return err
		}
		f, err := yaml.ReadFile(name)
		if err != nil || len(f.Launches) > 1 {
			return nil
		}
		l, err := muster.LoadFile(f, muster.Limits{})
		if err != nil {
			return nil
		}
		for _, text := range []string{"earliest", "round-robin", "random:5"} {
			s, err := muster.ParseSchedule(text)
			if err != nil {
				return err
			}
			var out bytes.Buffer
			_, err = l.Trace(context.Background(), s, muster.TraceOptions{Steps: 20_000}, perfetto.NewWriter(&out))
			var untold *muster.Untold
			if errors.As(err, &untold) {
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", name, text, err)
				continue
			}
			n++
			t.Run(name+" "+text, func(t *testing.T) { decode(t, out.Bytes()) })
		}
		return nil
	})
	if err != nil || n < 100 {
		t.Errorf("%d traces, %v", n, err)
	}
}
