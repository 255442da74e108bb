package order_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"muster/internal/machine"
	"muster/internal/order"
)

// TestScripts runs testdata/*: events in, what is not ordered out. A script is run
// again on a clone made half-way, which must have the same result and leave the
// original as it was.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			cfg := order.Config{Shape: machine.Shape{CTAs: 1, Warps: 2, Cluster: 1}}
			for _, a := range d.CmdArgs {
				switch a.Key {
				case "ctas":
					cfg.CTAs = num(a.Vals[0])
				case "warps":
					cfg.Warps = num(a.Vals[0])
				case "cluster":
					cfg.Cluster = num(a.Vals[0])
				case "must":
					cfg.MustOnly = true
				}
			}
			for _, a := range d.CmdArgs {
				if a.Key == "scopes" {
					out, err := scopePairs(cfg, a.Vals[0], d.Input)
					if err != nil {
						d.Fatalf(t, "%v", err)
					}
					return out
				}
			}
			lines := strings.Split(d.Input, "\n")
			s := newScript(cfg)
			if err := s.play(lines, 0); err != nil {
				d.Fatalf(t, "%v", err)
			}
			want := s.report()
			s = newScript(cfg)
			half := len(lines) / 2
			if err := s.play(lines[:half], 0); err != nil {
				d.Fatalf(t, "%v", err)
			}
			original, before := s.tr, s.report()
			s.tr = s.tr.Clone()
			if err := s.play(lines[half:], half); err != nil {
				d.Fatalf(t, "%v", err)
			}
			if got := s.report(); got != want {
				d.Fatalf(t, "a clone differs:\n%s\nnot\n%s", got, want)
			}
			if after := (&script{tr: original}).report(); after != before {
				d.Fatalf(t, "running a clone changed the original:\n%s\nwas\n%s", after, before)
			}
			return want
		})
	})
}

func (s *script) play(lines []string, from int) error {
	for i, l := range lines {
		if err := s.line(from+i+1, l); err != nil {
			return fmt.Errorf("line %d: %w", from+i+1, err)
		}
	}
	return nil
}
