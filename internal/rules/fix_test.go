package rules

import (
	"regexp"
	"strings"
	"testing"

	"muster/internal/explore"
)

// TestHalves: a fix asks for the fence of that side alone which lacks one.
func TestHalves(t *testing.T) {
	for _, c := range []struct {
		name, example   string
		missing, fix    string
		never           string // in neither
		change, change2 string // of the wrong kernel
	}{
		{"barrier.cluster.wait acquires", "relaxed-sync.5", `meet, and do not synchronize$`,
			`^leave \.relaxed out of barrier\.cluster\.arrive\.relaxed\S* at line \d+, or fence\.acq_rel\.\w+ directly before`, `directly after`, "", ""},
		{"a map that was released", "tensormap-stale.2", `^no acquire of the tensor-map proxy`,
			`^fence\.proxy\.tensormap::generic\.acquire`, `generic\.release`, "", ""},
		{"a map that was acquired", "tensormap-stale.2", `^no release of tensormap\.replace\S* at line \d+ to the tensor-map proxy`,
			`generic\.release\.cta in every thread`, `^no acquire`,
			"\tfence.proxy.tensormap::generic.release.cta;\n", "\tmov.u32 %r4, 0;\n\tfence.proxy.tensormap::generic.acquire.cta [%rd1], 128;\n"},
		{"a map with neither", "tensormap-stale.2", `^no release and acquire of the tensor-map proxy`,
			`generic\.release\.cta in every thread .*, and fence\.proxy\.tensormap::generic\.acquire`, `^no acquire`,
			"\tfence.proxy.tensormap::generic.release.cta;\n", "\tmov.u32 %r4, 0;\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := readExample(t, "testdata/"+c.example+".txtar")
			text := e.files["wrong.ptx"]
			if c.change != "" {
				text = strings.NewReplacer(c.change, "", "\tmov.u32 %r4, 0;\n", c.change2).Replace(text)
			}
			cfg := prepare(t, "wrong.ptx", text, e.launch("wrong"))
			found, _, _ := judge(t, cfg, explore.Handful(1)[0])
			n := 0
			for _, f := range found {
				if f.Kind != e.kind {
					continue
				}
				n++
				for _, m := range []struct{ re, text string }{{c.missing, f.Missing}, {c.fix, f.Fix}} {
					if !regexp.MustCompile(m.re).MatchString(m.text) || regexp.MustCompile(c.never).MatchString(m.text) {
						t.Errorf("%s\nwant %s, never %s", m.text, m.re, c.never)
					}
				}
			}
			if n == 0 {
				t.Errorf("no %s", e.kind)
			}
		})
	}
}
